"""Print derivations from what was checked: one document, four formats."""
