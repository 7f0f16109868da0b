"""What a rule answers to what does not follow."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(ValueError):
    """A rule was asked for what does not follow; the message says what is missing."""
