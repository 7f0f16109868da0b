"""eigentoken.proofs: the book of statements."""
