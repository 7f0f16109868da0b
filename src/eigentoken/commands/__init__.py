"""One module a family of commands; each has ``add_to(app)``."""
