"""What to say about a name that is not known: the nearest known names, or all of them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

__all__ = ["meant", "nearest"]


def nearest(name: object, known: Iterable[str]) -> list[str]:
    """The known names that are a slip of the keyboard away, the likeliest first.

    >>> nearest("oja-mop", ["oja-map", "oja-flow", "token-flow"])
    ['oja-map']

    Where there is none, those that it may be short for:

    >>> nearest("posdef", ["positive-definite", "positive-semidefinite", "negative-definite"])
    ['positive-definite']

    One word of a name stands for the names that have it, and a space for a hyphen:

    >>> nearest("definite", ["indefinite", "positive-definite", "negative-definite"])
    ['positive-definite', 'negative-definite', 'indefinite']
    >>> nearest("positive definite", ["positive-definite", "positive-semidefinite"])
    ['positive-definite']
    """
    folded = {each.lower(): each for each in reversed(list(known))}
    asked = re.sub(r"[\s_]+", "-", str(name).strip().lower())
    if asked in folded:
        return [folded[asked]]
    worded = [folded[each] for each in reversed(folded) if asked in each.split("-")]
    near = difflib.get_close_matches(asked, list(folded), n=3, cutoff=0.6)
    ratios = {each: difflib.SequenceMatcher(None, asked, each).ratio() for each in near}
    likely = [folded[each] for each in near if ratios[each] >= max(ratios.values()) - 0.1]
    if worded or likely:
        return list(dict.fromkeys(worded + likely))[:3]
    short = [each for each in sorted(folded, key=len) if _shortened(asked, each)]
    begun = [each for each in short if _begun(asked, each.split("-"))]
    return [folded[each] for each in begun or short][:3]


def _shortened(asked: str, name: str) -> bool:
    """Do the letters asked for stand in the name, in order and from its first on?  Two letters are too few to tell."""
    rest = iter(name)
    return len(asked) > 2 and asked[0] == name[0] and all(letter in rest for letter in asked)


def _begun(asked: str, words: list[str]) -> bool:
    """Is it made of beginnings of all the words, one after the other?  ``posdef`` is, of positive-definite."""
    if not words:
        return not asked
    return any(
        words[0].startswith(asked[:size]) and _begun(asked[size:].lstrip("-"), words[1:])
        for size in range(1, len(asked) + 1)
    )


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
