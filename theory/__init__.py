"""eigentoken.theory: symbols and meaning."""
