"""What the margin of a leader says of weights alone (BD-E1, BD-E2): certified, and beside it what the eigenvalues are.

``F = S + K`` with the two largest eigenvalues of S, their middle ``c_0`` and half distance ``g/2``, and ``kappa = |K v|`` at the
top eigenvector: ``sigma = sqrt(g^2/4 - kappa^2)``.

=========  ===============================================================================================  ============
``BD-E1``  the second largest real part of an eigenvalue (at least 0) over the leader:                      1
           ``(c_0 - sigma)/(c_0 + sigma)``; of F, and of U of each head (a fact about any matrix)
``BD-E2``  1 over the step below which principal consensus is stable, of a layer that it is about:
           ``(|F|^2 - mu_-^2)/(4 sigma)`` with ``mu_- = c_0 + sigma``
=========  ===============================================================================================  ============

Ends of intervals are exact numbers until the last division, which is rounded up.  sigma is made smaller by
:data:`~.token_bounds.ROOM`, so that another arithmetic can confirm what follows.  A head is read through its factors: C of
:class:`~.low_rank.LowRank` beside one zero has the two largest eigenvalues of its symmetric part, where the largest is positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from eigentoken.documents.check_document import LayerMargins
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.quantities import norm_of
from eigentoken.numerics.layers.skew_margin import skew_at_leader, symmetric_parts
from eigentoken.numerics.layers.symbol_values import Answers, Parts
from eigentoken.numerics.layers.token_bounds import ROOM, Bound
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.theory.statements.layer_systems import Difference, matches
from eigentoken.theory.statements.registry import statements

__all__ = [
    "MARGINS",
    "certified_margin",
    "inverse_step_above",
    "margin_bounds",
    "margins_of_layer",
    "second_over_first_above",
]

#: The statements whose bounds are read from weights, in the order in which they are shown.
MARGINS = ("BD-E1", "BD-E2")
#: Above the leader, in exact numbers, and below the others.
Margin = tuple[Fraction, Fraction]


def margins_of_layer(
    weights: LayerWeights, answers: Answers, asked: Sequence[str], discs: Sequence[Sequence[float]]
) -> LayerMargins:
    """The bounds of those of ``asked`` that are read from weights; ``discs``: the eigenvalues of F with radii, as found."""
    differs = _differences(weights) if "BD-E2" in asked else ()
    about = [name for name in MARGINS if name in asked and not (name == "BD-E2" and differs)]
    found = margin_bounds(weights, about, discs, answers)
    if "BD-E2" in about and not any(each.statement == "BD-E2" for each in found):
        differs = (Difference("matrices", _ASKS, _unformed(weights) or "no such margin is certified"),)
    refused = [{"statement": "BD-E2", "differs": [each.as_dict() for each in differs]}] if differs else []
    return {"bounds": [each.as_dict() for each in found], "not_about": refused}  # type: ignore[typeddict-item]


_ASKS = "2 |K v| < gap of sym(F) and a leader on the right of 0"


def _unformed(weights: LayerWeights) -> str:
    return "heads alone, F is not formed" if weights.heads_only else ""


def _differences(weights: LayerWeights) -> tuple[Difference, ...]:
    """Why BD-E2, which speaks of a map on tokens, is not about this layer."""
    statement = statements().get("BD-E2")
    found = matches(statement.systems, statement.covers, weights.system)
    if not found:
        return (Difference("system", "the multi-head attention map", weights.system.describe()),)
    return tuple(found[0].differences)


def margin_bounds(
    weights: LayerWeights,
    asked: Sequence[str],
    discs: Sequence[Sequence[float]] = (),
    answers: Answers | None = None,
) -> list[Bound]:
    """BD-E1 of F and of each of several heads, and BD-E2 of F where it has a margin on the right of 0."""
    known, found = answers or Answers(), []
    if not weights.heads_only and set(MARGINS) & set(asked) and weights.d > 1:
        whole = weights.value
        ends = known.once(("symmetric parts", whole), lambda: symmetric_parts(whole))
        skew = known.once(("skew at leader", whole), lambda: skew_at_leader(whole)) if _apart(ends) else None
        margin = certified_margin(ends, skew)
        values = np.array([complex(*each[:2]) for each in discs]) if len(discs) else _eigenvalues(whole)
        if "BD-E1" in asked:
            found.append(Bound("BD-E1", None, second_over_first_above(margin), _second_over_first(values), 1.0))
        if "BD-E2" in asked and margin is not None and margin[0] > 0:
            norm = known.once(("norm", whole), lambda: norm_of(whole))[1]
            found.append(Bound("BD-E2", None, inverse_step_above(margin, norm), _inverse_step(values)))
    if "BD-E1" in asked and len(weights.heads) > 1:
        found += [_of_head(index, head) for index, head in enumerate(weights.heads)]
    return found


def _of_head(index: int, head: HeadWeights) -> Bound:
    if head.width < head.d:
        small, zeros = head.low_rank("value").with_kernel, 1
        values = np.append(_eigenvalues(head.core), np.zeros(zeros))
    else:
        small = head.value
        values = _eigenvalues(small)
    ends = symmetric_parts(small)
    margin = certified_margin(ends, skew_at_leader(small) if _apart(ends) else None)
    return Bound("BD-E1", index, second_over_first_above(margin), _second_over_first(values), 1.0)


# -- certified ------------------------------------------------------------------------------------------------------------------


def _apart(ends: Parts | None) -> bool:
    return ends is not None and len(ends[0]) > 1 and ends[0][0] > ends[1][1]


def certified_margin(ends: Parts | None, skew: tuple[float, float] | None) -> Margin | None:
    """The leader is at least the first number, the real parts of the others at most the second; ``None``: no margin.

    ``ends``: lower and upper ends of the eigenvalues of the symmetric part from the top; ``skew``: the interval of ``kappa^2``.
    """
    if ends is None or skew is None or len(ends[0]) < 2:
        return None
    numbers = (ends[0][0], ends[0][1], ends[1][0], ends[1][1], skew[1])
    if not all(map(math.isfinite, numbers)):
        return None
    low, low_second, high, high_second, square = map(Fraction, numbers)
    gap = low - high_second
    room = gap**2 / 4 - square
    if gap <= 0 or room <= 0:
        return None
    sigma = _root_below(room) * (1 - Fraction(ROOM))
    least, most = (low + low_second) / 2 + sigma, (high + high_second) / 2 - sigma
    return (least, most) if least > most else None


def _root_below(value: Fraction) -> Fraction:
    """At most the square root, within 2^-60 of it."""
    bits = (value.denominator.bit_length() - value.numerator.bit_length()) // 2 + 64
    return Fraction(math.isqrt(math.floor(value * Fraction(4) ** bits))) / Fraction(2) ** bits


def _float_above(value: Fraction) -> float:
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def second_over_first_above(margin: Margin | None) -> float:
    """BD-E1: infinite where no leader with a margin is certified on the right of 0."""
    if margin is None or margin[0] <= 0:
        return math.inf
    return _float_above(max(Fraction(0), margin[1]) / margin[0])


def inverse_step_above(margin: Margin, norm: float) -> float:
    """BD-E2: ``(|F|^2 - mu_-^2)/(4 sigma)`` for a norm that is at most this."""
    if not math.isfinite(norm):
        return math.inf
    size = Fraction(norm) * (1 + Fraction(ROOM))
    return _float_above(max(Fraction(0), size**2 - margin[0] ** 2) / (2 * (margin[0] - margin[1])))


# -- measured -------------------------------------------------------------------------------------------------------------------


def _eigenvalues(enclosure: Enclosure) -> Any:
    return np.linalg.eigvals(np.ldexp(enclosure.center, enclosure.exponent))


def _second_over_first(values: Any) -> float:
    """1 where the largest real part is not positive: the statement says nothing of a leader there."""
    real = np.sort(values.real)
    return float(max(0.0, real[-2]) / real[-1]) if real[-1] > 0 else 1.0


def _inverse_step(values: Any) -> float:
    """1 over the largest step with ``|1 + alpha lambda| < 1 + alpha mu`` for all others; 0 where every step is as good."""
    order = np.argsort(values.real)
    leader, others = float(values[order[-1]].real), values[order[:-1]]
    return float(max(0.0, ((np.abs(others) ** 2 - leader**2) / (2 * (leader - others.real))).max()))
