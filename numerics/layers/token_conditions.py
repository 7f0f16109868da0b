"""What statements ask of tokens, certified at given ones: an open hemisphere, lengths, angles.

Tokens are rows of exact floats.  The hemisphere is decided in rationals (:mod:`eigentoken.numerics.dynamics.hemisphere`);
lengths ``|x_i|`` and cosines ``x_i^T x_j / (|x_i| |x_j|)``, i < j, are enclosed with the rounding bounds of
:mod:`eigentoken.numerics.certified.rounding`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, inflate
from eigentoken.numerics.dynamics.hemisphere import in_open_hemisphere
from eigentoken.numerics.layers.certified_attention import exact, linear, times
from eigentoken.theory.language.conditions import (
    Condition,
    InHemisphere,
    NoneOpposite,
    NotAllEqual,
    NotAllZero,
    Relation,
)
from eigentoken.theory.language.terms import n
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["Leaders", "TokenConditions", "asks_of_tokens", "conditions_at", "share_on_one_side", "verdict_at"]

Ends = tuple[float, float]
#: Entries of all tokens together, up to which the hemisphere is decided; and the width, where there are more tokens than that.
MOST_ENTRIES, WIDEST = 1 << 18, 128
#: The letters that the layer matrix F plays in the systems whose half spaces are asked about.
VALUES = frozenset({"V", "U", "B", "F"})
#: The widest layer matrix whose leading eigenvectors are enclosed for them.
WIDEST_LEADER = 1024
#: Entries up to which the exact simplex is tried.
EXACT_LIMIT = 400


@dataclass(frozen=True)
class TokenConditions:
    """The verdict and enclosures of the shortest and longest length, the smallest and largest cosine of two tokens.

    ``None``: the length overflows, or a token may be zero and has no direction.
    """

    hemisphere: Verdict
    shortest: Ends | None
    longest: Ends | None
    smallest_cosine: Ends | None
    largest_cosine: Ends | None


def conditions_at(tokens: Array) -> TokenConditions:
    """The conditions at the rows of ``tokens`` (n, d), n at least 2, finite floats of at most 64 bits.

    >>> found = conditions_at(np.array([[3.0, 4.0], [5.0, 0.0]]))
    >>> found.hemisphere.answer.value, found.longest[0] <= 5 <= found.longest[1]
    ('holds', True)
    """
    x = np.asarray(tokens, dtype=np.float64)
    with np.errstate(all="ignore"):
        low, high = exact(x).lengths()
        known = bool(np.isfinite(high).all())
        small, large = _cosines(x, low, high) if known and low.all() else (None, None)
    return TokenConditions(
        _hemisphere(x),
        (float(low.min()), float(high.min())) if known else None,
        (float(low.max()), float(high.max())) if known else None,
        small,
        large,
    )


def asks_of_tokens(condition: Condition) -> bool:
    """Is it a condition on the tokens alone, which :func:`verdict_at` decides?"""
    if isinstance(condition, InHemisphere):
        return condition.normal is None or str(condition.normal) in VALUES
    if isinstance(condition, Relation):
        return condition.relation.free_symbols == {n}
    return isinstance(condition, NotAllEqual | NoneOpposite | NotAllZero)


@dataclass(frozen=True)
class Leaders:
    """The leading eigenvectors of a layer matrix F by real part, right and left (of F^T): verdicts with a vector and an angle."""

    right: Verdict
    left: Verdict

    @classmethod
    def of(cls, F: Enclosure) -> Leaders:
        """Certified, up to the width at which a spectrum more is cheap."""
        if F.shape[0] > WIDEST_LEADER:
            nothing = undecided(f"no eigenvector is enclosed beyond d = {WIDEST_LEADER}")
            return cls(nothing, nothing)
        return cls(certify("principal-eigenvector", F), certify("principal-eigenvector", F.transpose))

    def one_side(self, tokens: Array, *, left: bool) -> Verdict:
        """Do all tokens lie on one side of the hyperplane across the eigenvector w, ``w^T x_i > 0`` for one sign of w?

        The vector u of the verdict is within an angle phi of the line of w, ``sin phi <= s``, so that, both of length 1,
        ``|w^T x - u^T x| <= 2 sin(phi/2) |x| <= 2^(1/2) s |x|`` for a sign of w.
        """
        leader = self.left if left else self.right
        vector, sine = leader.details.get("vector"), leader.details.get("sine_of_angle")
        if not leader.is_holds or vector is None or sine is None or not 0 <= sine < 0.5:
            return undecided(f"the leading eigenvector is not enclosed: {leader.reason}")
        x, u = exact(np.asarray(tokens, dtype=np.float64)), np.asarray(vector, dtype=np.float64)
        with np.errstate(all="ignore"):
            heights, sizes = linear(x, u[None, :]), x.lengths()[1]
            u_size = exact(u[None]).lengths()[1][0]
            off = inflate(heights.radius[:, 0] + 1.4142135623731 * float(sine) * sizes * u_size + TINY, 8)
            above, below = heights.center[:, 0] > off, heights.center[:, 0] < -off
        if above.all() or below.all():
            return holds(f"all {len(above)} tokens are on one side")
        if above.any() and below.any():
            return fails(f"{int(above.sum())} tokens are on one side, {int(below.sum())} on the other")
        return undecided("a token is too near to the hyperplane")


def verdict_at(condition: Condition, tokens: Array, found: TokenConditions, leaders: Leaders | None = None) -> Verdict:
    """One such condition at these tokens; ``found`` is what is certified of them, ``leaders`` those of the layer they enter.

    >>> x = np.array([[3.0, 4.0], [5.0, 0.0]])
    >>> verdict_at(NotAllEqual(), x, conditions_at(x)).answer.value
    'holds'
    """
    x = np.asarray(tokens, dtype=np.float64)
    if isinstance(condition, InHemisphere) and condition.normal is not None:
        return undecided("no layer") if leaders is None else leaders.one_side(x, left=condition.left)
    if isinstance(condition, InHemisphere):
        return found.hemisphere
    if isinstance(condition, Relation):
        true = bool(condition.relation.subs(n, len(x)))
        return holds(f"n = {len(x)}") if true else fails(f"n = {len(x)}")
    if isinstance(condition, NotAllEqual):
        return holds("two tokens differ") if (x != x[0]).any() else fails("all tokens are equal")
    if isinstance(condition, NotAllZero):
        return holds("a token is not zero") if x.any() else fails("all tokens are zero")
    if (x[1:] == -x[0]).all(axis=1).any():
        return fails("a token is opposite to the first")
    if found.smallest_cosine is not None and found.smallest_cosine[0] > -1:
        return holds("no two tokens are opposite")
    return undecided("a token may be opposite to the first")


def share_on_one_side(tokens: Array, direction: Array) -> float:
    """The share of tokens with ``v^T x_i`` of the sign that most have: measured in floats, with a v that is known in floats.

    >>> share_on_one_side(np.array([[1.0, 2.0], [3.0, 0.0], [-1.0, 5.0]]), np.array([1.0, 0.0]))
    0.6666666666666666
    """
    heights = np.asarray(tokens, dtype=np.float64) @ np.asarray(direction, dtype=np.float64)
    return max(int((heights > 0).sum()), int((heights < 0).sum())) / len(heights)


def _hemisphere(x: Array) -> Verdict:
    count, d = x.shape
    if x.size > MOST_ENTRIES or (count > d and d > WIDEST):
        return undecided(f"{count} tokens of width {d} are more than are decided exactly")
    return in_open_hemisphere(x, exact_limit=EXACT_LIMIT)


def _cosines(x: Array, low: Array, high: Array) -> tuple[Ends | None, Ends | None]:
    """Enclosures of the smallest and the largest cosine of two tokens; ``None`` where products overflow or vanish."""
    products = times(exact(x), exact(x.T))
    first, second = np.triu_indices(len(x), 1)
    center, radius = products.center[first, second], products.radius[first, second]
    slip = inflate(4 * UNIT * (np.abs(center) + radius) + TINY, 2)
    least, most = center - radius - slip, center + radius + slip
    above, below = inflate(high[first] * high[second], 1), low[first] * low[second] * (1 - 8 * UNIT)
    lower = np.where(least >= 0, least / above * (1 - 8 * UNIT), -inflate(-least / below, 3)) - TINY
    upper = np.where(most >= 0, inflate(most / below, 3), most / above * (1 - 8 * UNIT)) + TINY
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (below > 2 * TINY).all()):
        return None, None
    lower, upper = np.maximum(lower, -1.0), np.minimum(upper, 1.0)
    return (float(lower.min()), float(upper.min())), (float(lower.max()), float(upper.max()))
