"""Re-check of the spectral gap: how far the largest real part is ahead of the next, for every matrix within the slack.

With discs that hold the spectrum, the leading one apart: from below ``(c - r) - max_j (c_j + r_j)`` (real parts); from above
``(c + r)`` less the lowest point of a whole component of the other discs, which holds an eigenvalue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import Exact, fraction_of, unconfirmed
from eigentoken.numerics.recheck.matrices.balls import BallDiscs
from eigentoken.numerics.recheck.matrices.covering import ROOT_BITS, exact_roots
from eigentoken.numerics.recheck.matrices.leaders import places
from eigentoken.numerics.recheck.matrices.locating import BallPlaces, Places

__all__ = ["confirm_gap"]


def confirm_gap(facts: Mapping[str, Json], matrix: Exact, slack: Fraction, until: float) -> str | None:
    """None if the gap of every matrix within the slack lies in ``facts["gap"]`` (null: no upper end), else why not."""
    low, high = (None if end is None else fraction_of(end) for end in facts["gap"])
    if low is None or low < 0 or (high is not None and high < low):
        return "a gap is an interval of numbers that are not negative"
    tried = []
    for name, found in _attempts(matrix, slack, until):
        tried.append(name)
        bounds = None if found is None else _gap(found)
        if bounds is None:
            continue
        if bounds[0] >= low and (high is None or bounds[1] <= high):
            return None
        if bounds[1] < low or (high is not None and bounds[0] > high):
            return "the gap is not in the stated interval"
    return unconfirmed(*(f"the gap from {name}" for name in tried))


def _attempts(matrix: Exact, slack: Fraction, until: float) -> Iterator[tuple[str, Places | None]]:
    yield from places(matrix, slack, until)
    if slack == 0 and matrix.shape[0] <= 64:
        roots = list(exact_roots(matrix, until))
        yield "exact roots", BallPlaces(BallDiscs([c for c, _ in roots], [r for _, r in roots], None, None, ROOT_BITS))


def _gap(found: Places) -> tuple[Fraction, Fraction] | None:
    """(certainly at least, certainly at most), or None if the leading disc is not apart."""
    low, high = found.real_parts()
    lead = max(range(len(low)), key=lambda k: low[k])
    others = [k for k in range(len(low)) if k != lead]
    if not others or low[lead] <= max(high[k] for k in others):
        return None
    runner = max(others, key=lambda k: low[k])
    behind = min(low[int(k)] for k in np.flatnonzero(found.component(runner)))
    return low[lead] - max(high[k] for k in others), high[lead] - behind
