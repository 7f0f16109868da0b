"""The papers' experiments as named recipes: settings, numbers, a chart, and a checked comparison with the claim."""
