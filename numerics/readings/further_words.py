"""Numeric readings of the words that the chapters of the book add (``theory/words_*.py``)."""

from __future__ import annotations

__all__: list[str] = []
