"""The score of a head at the leading eigenvector of its value matrix, as a certified interval (the sign in a good triple, CL-2).

``U = O V`` has the nonzero spectrum of the core ``V O``, and ``V O psi = lambda psi`` gives ``U phi = lambda phi``,
``phi = O psi``.  For a float vector u with ``|psi/|psi| - u/|u|| <= delta`` (certified by the core) the number
``phi^T Q^T K phi / |phi|^2`` is that at u within ``(2 delta + delta^2) |Q O| |K O|``, and ``|phi|`` within ``delta |O|``.

Of whole matrices: ``v^T M v`` at the leading eigenvector v of B is that at u within ``(2 delta + delta^2) |M|``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, down, frobenius_above, gamma, up
from eigentoken.numerics.layers.quantities import Interval, signed_in_units
from eigentoken.numerics.layers.skew_margin import ACUTE, ROOT_TWO
from eigentoken.numerics.layers.weights import HeadWeights

__all__ = ["form_at_leader_of", "score_at_leader"]


def _leader(matrix: Enclosure) -> tuple[Array, float] | None:
    """Floats u and a delta with ``|v - u| <= delta`` for the unit eigenvector v of the largest real part, real and simple."""
    found = certify("principal-eigenvector", matrix)
    vector, sine = found.details.get("vector"), found.details.get("sine_of_angle")
    if not found.is_holds or vector is None or sine is None or not 0 <= sine < ACUTE:
        return None
    u = np.asarray(vector, dtype=np.float64)
    long = frobenius_above(u[None])
    short = down(long * (1 - (4 * u.size + 64) * UNIT), 2)
    if not short > 0:
        return None
    lost = up(2 * UNIT + (long - short) / short, 4)  # |u / long| is 1 within this
    return u / long, up(ROOT_TWO * float(sine) + 2 * lost, 4)


def form_at_leader_of(value: Enclosure, form: Enclosure) -> Interval | None:
    """The interval of ``v^T M v`` at the leading eigenvector v of B; ``None`` where v is not certainly enclosed."""
    leader = _leader(value)
    if leader is None:
        return None
    u, delta = leader
    size = float(u @ (form.center @ u))
    spread = float(np.abs(u) @ (np.abs(form.center) @ np.abs(u)))
    rounding = up(gamma(2 * u.size + 8) * spread + u.size * u.size * TINY, 8)
    turned = up((2 * delta + delta * delta) * frobenius_above(form.center), 6)
    off = up(up(rounding + turned) + form.radius, 2)
    return signed_in_units((size - off, size + off), form.exponent) if math.isfinite(off) else None


def score_at_leader(head: HeadWeights) -> Interval | None:
    """The interval of ``v^T Q^T K v`` (the scale of the scores is left out); ``None`` where v is not certainly enclosed."""
    behind = head.low_rank("value")
    ends = behind.core_parts
    if (
        ends is None or not ends[0][0] > 0
    ):  # the other eigenvalues of U are 0: a leader of the core leads there only above it
        return None
    leader = _leader(behind.core)
    if leader is None:
        return None
    u, delta = leader
    Q, K, O = (np.asarray(each, dtype=np.float64) for each in (head.Q, head.K, head.O))
    phi = _product(O, u, np.zeros(u.size))
    query, key = (_product(each, *phi) for each in (Q, K))
    size = float(query[0] @ key[0])
    spread = np.abs(query[0]) @ np.abs(key[0])
    wrong = float(np.abs(query[0]) @ key[1] + np.abs(key[0]) @ query[1] + query[1] @ key[1])
    rounding = up(gamma(u.size + 4) * float(spread) + wrong + u.size * TINY, 2 * u.size + 8)
    reach = up(frobenius_above(Q) * frobenius_above(O), 2) * up(frobenius_above(K) * frobenius_above(O), 2)
    off = up(rounding + up((2 * delta + delta * delta) * reach, 6), 2)
    high = up(frobenius_above(phi[0][None]) + frobenius_above(phi[1][None]) + delta * frobenius_above(O), 6)
    least = frobenius_above(phi[0][None]) * (1 - (4 * phi[0].size + 64) * UNIT)
    low = down(least - up(frobenius_above(phi[1][None]) + delta * frobenius_above(O), 6), 4)
    if not low > 0 or not math.isfinite(off):
        return None
    quotients = [end / divisor for end in (size - off, size + off) for divisor in (low * low, high * high)]
    return down(min(quotients), 8), up(max(quotients), 8)


def _product(matrix: Array, vector: Array, error: Array) -> tuple[Any, Any]:
    """``A x`` in floats for every x within ``error`` of the vector, entry by entry, and how far it can be off."""
    sizes = np.abs(matrix)
    lost = sizes @ (gamma(vector.size + 4) * np.abs(vector) + error) + vector.size * TINY
    return matrix @ vector, lost * (1 + (2 * vector.size + 16) * UNIT)
