"""Reports in the formats that other programs read: SARIF, JUnit, in-toto, Markdown for a model card."""
