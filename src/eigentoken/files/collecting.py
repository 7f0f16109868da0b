"""Python's collector of cycles, kept from looking at all of a book's formulas and modules again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["COLLECTED_AFTER", "seldom_collected"]

#: New objects before the collector looks for cycles: what a command makes, modules and formulas, lives as long as the command.
COLLECTED_AFTER = 200_000


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Inside the ``with`` cycles are looked for seldom; afterwards as before.

    >>> before = gc.get_threshold()
    >>> with seldom_collected():
    ...     gc.get_threshold()[0] >= COLLECTED_AFTER
    True
    >>> gc.get_threshold() == before
    True
    """
    before = gc.get_threshold()
    if before[0]:  # 0: the caller has switched the collector off
        gc.set_threshold(max(before[0], COLLECTED_AFTER), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
