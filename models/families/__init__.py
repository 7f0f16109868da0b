"""One family a file; each registers itself (see ``eigentoken.models.family``)."""
