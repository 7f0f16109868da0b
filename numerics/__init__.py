"""eigentoken.numerics: numbers with error bounds."""
