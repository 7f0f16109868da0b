"""``eigentoken check``: all statements against a checkpoint.  The face only carries results; the rooms find them."""

from eigentoken.checking.run import check

__all__ = ["check"]
