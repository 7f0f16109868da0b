"""What to say about a name that is not known: the nearest known names, or all of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["meant", "nearest"]


def nearest(name: object, known: Iterable[str]) -> list[str]:
    """The known names that are a slip of the keyboard away, the likeliest first.

    >>> nearest("oja-mop", ["oja-map", "oja-flow", "token-flow"])
    ['oja-map']
    """
    listed = list(known)
    folded = {each.lower(): each for each in reversed(listed)}
    near = difflib.get_close_matches(str(name).lower(), list(folded), n=3, cutoff=0.6)
    ratios = {each: difflib.SequenceMatcher(None, str(name).lower(), each).ratio() for each in near}
    return [folded[each] for each in near if ratios[each] >= max(ratios.values()) - 0.1]


def meant(name: object, known: Iterable[str], otherwise: str = "") -> str:
    """``did you mean oja-map?``, or where nothing is near ``otherwise``, or the list of what was expected.

    >>> meant("bosch3", ["dopri5", "bosh3", "rk4"])
    'did you mean bosh3?'
    >>> meant("euler", ["dopri5", "bosh3", "rk4"])
    'expected one of dopri5, bosh3, rk4'
    """
    listed = list(known)
    near = nearest(name, listed)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return otherwise or f"expected one of {', '.join(listed)}"
