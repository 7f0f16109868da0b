"""Files that pages are made of: style, scripts, KaTeX with its licence."""
