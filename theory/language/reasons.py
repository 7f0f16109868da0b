"""The sentences of ``certify``: each says what its arguments are, the same for the issuer and for the re-check.

``rung`` names the method that the issuer used; it is the only part of a reason that a re-check does not find again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

__all__ = [
    "LEADERS",
    "RATE_UNITS",
    "angle_reason",
    "basin_reason",
    "discs_reason",
    "distance_reason",
    "equal_reason",
    "formula_reason",
    "gap_reason",
    "inertia_reason",
    "invertible_reason",
    "leader_reason",
    "norm_reason",
    "partial_inertia_reason",
    "rank_reason",
    "samples_reason",
    "sign_reason",
    "too_high_rank_reason",
    "undercut_reason",
]

LEADERS: Mapping[str, str] = {
    "simple-real": "one real simple eigenvalue is strictly ahead",
    "simple-pair": "one simple non-real pair is strictly ahead",
    "non-real": "a non-real eigenvalue is ahead of every real one",
    "multiple-real": "the leading real eigenvalue is multiple",
    "multiple-pair": "the leading non-real pair is multiple",
    "tie": "the leading real eigenvalue is exactly tied with another",
    "all-real": "every leading eigenvalue is real",
}

#: What the rate of a basin is: of a map (true), of a flow (false).
RATE_UNITS: Mapping[bool, Literal["factor of one layer", "exponent in time"]] = {
    True: "factor of one layer",
    False: "exponent in time",
}

_REGIONS: Mapping[str, str] = {
    "half-space": "every start with all tokens on the side of the equilibrium; the measure is the largest tangent of the angle "
    "between a token and the equilibrium",
    "ball": "starts on the side of the equilibrium within the radius; the measure is the root of the summed squares of the "
    "tangents of the angles between tokens and equilibrium",
    "cone": "every start with all tokens on the side u^T x > 0, for any attention; the measure is the largest H-norm of "
    "x/(u^T x) - w, with u and w the left and right leading eigenvectors, |u| = 1, u^T w = 1, and H = I + V^T G V",
    "ellipsoid": "starts within the radius of the centre in the norm of the shape; the measure is the distance to the "
    "equilibrium in that norm",
}


def basin_reason(kind: str) -> str:
    """The region of a basin and what shrinks in it."""
    return _REGIONS[kind]


def sign_reason(condition: str, holds: bool, counts: Sequence[int], rung: str) -> str:
    """``counts``: so many eigenvalues of sym(M) were shown to be positive, negative and zero."""
    positive, negative = counts[0], counts[1]
    own, other = ("positive", "negative") if condition.startswith("positive") else ("negative", "positive")
    if condition == "indefinite":
        missing = "negative" if negative == 0 else "positive"
        said = "sym(M) has eigenvalues of both signs" if holds else f"no eigenvalue of sym(M) is {missing}"
    elif holds:
        definite = condition.endswith("-definite")
        said = f"all eigenvalues of sym(M) are {own}" if definite else f"no eigenvalue of sym(M) is {other}"
    else:
        against = negative if own == "positive" else positive
        said = f"sym(M) has a {other} eigenvalue" if against else "sym(M) is exactly singular"
    return f"{said} ({rung})"


def inertia_reason(counts: Sequence[int], rung: str) -> str:
    return f"sym(M) has {counts[0]} positive, {counts[1]} negative, {counts[2]} zero eigenvalues ({rung})"


def partial_inertia_reason(counts: Sequence[int], expected: Sequence[int]) -> str:
    return f"at least {tuple(counts)} positive, negative, zero eigenvalues, expected {tuple(expected)}"


def leader_reason(kind: str, by: str, rung: str) -> str:
    return f"{LEADERS[kind]} by {by} ({rung})"


def gap_reason(gap: Sequence[float | None], leader: str) -> str:
    return f"the gap lies in [{gap[0]!r}, {gap[1]!r}]; {leader}"


def angle_reason(sine: float, rung: str) -> str:
    return f"the principal eigenvector is within an angle of sine {sine:.3g} of the vector given ({rung})"


def discs_reason(count: int, radius: float, rung: str) -> str:
    return f"{count} eigenvalues in discs of radius at most {radius:.3g} ({rung})"


def equal_reason(condition: str) -> str:
    words = {"symmetric": "M equals its transpose", "identity": "M is the identity"}
    return f"{words[condition]}, entry by entry"


def _shown(value: Any) -> str:
    return "a number beyond the range of floats" if value is None else f"{value:.6g}"


def distance_reason(holds: bool, end: float | None) -> str:
    return f"at spectral distance at {'most' if holds else 'least'} {_shown(end)}"


def norm_reason(ends: Sequence[float | None], holds: bool | None) -> str:
    """Without a bound (``holds`` is None) the interval, else the end that decides."""
    if holds is None:
        return f"the spectral norm lies in [{ends[0]!r}, {ends[1]!r}]"
    return f"the spectral norm is at {'most' if holds else 'least'} {_shown(ends[1] if holds else ends[0])}"


def undercut_reason(condition: str, holds: bool) -> str:
    """Decided exactly, where the interval contains the bound."""
    if condition == "norm-bound":
        return "the norm does not exceed the bound" if holds else "the spectral norm exceeds the bound"
    return "not farther than asked" if holds else "farther than asked"


def rank_reason(rank: int, rung: str) -> str:
    return f"the rank is {rank} ({rung})"


def too_high_rank_reason(low: int, expected: int) -> str:
    return f"the rank is at least {low}, expected {expected}"


def invertible_reason(rank: int, size: int, rung: str) -> str:
    return f"M is invertible ({rung})" if rank == size else f"M has rank {rank} of {size} ({rung})"


def formula_reason(condition: str, low: str, high: str, pieces: int) -> str:
    """What is said of a formula in t where the condition holds on every piece of the interval."""
    return f"{condition} at all times of [{low}, {high}], on {pieces} piece{'' if pieces == 1 else 's'}"


def samples_reason(condition: str, low: str, high: str, samples: int) -> str:
    """What is said of samples with a Lipschitz constant where the condition holds on the whole interval."""
    return f"{condition} at all times of [{low}, {high}], from {samples} sample{'' if samples == 1 else 's'}"
