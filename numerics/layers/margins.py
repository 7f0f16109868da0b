"""What the margin theorems say of weights alone (BD-E1, BD-E2, BD-H1): certified, and beside it what the eigenvalues are.

``F = S + K`` with the two largest eigenvalues of S, their middle ``c_0`` and half distance ``g/2``, and ``kappa = |K v|`` at the
top eigenvector: ``sigma = sqrt(g^2/4 - kappa^2)``.

=========  =================================================================================================  ==
``BD-E1``  the second largest real part of an eigenvalue (at least 0) over the leader:                        1
           ``(c_0 - sigma)/(c_0 + sigma)``; of F, and of U of each head (a fact about any matrix)
``BD-E2``  1 over the step below which principal consensus is stable, of a layer that it is about:
           ``(|F|^2 - mu_-^2)/(4 sigma)`` with ``mu_- = c_0 + sigma``
``BD-H1``  the factor of (b) near consensus, where all heights agree, at the step 1, of a head alone (or    1
           a layer of one head): ``(1 + lambda q)/(1 + lambda)`` for every q above ``m/lambda``, with
           m the largest modulus of another eigenvalue: ``(1 + m)/(1 + lambda)``
=========  =================================================================================================  ==

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

from eigentoken.documents.check_document import LayerMargins, NotBounded
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.layer_readings import system_of_head
from eigentoken.numerics.layers.quantities import norm_of, spectral_discs
from eigentoken.numerics.layers.skew_margin import skew_at_leader, symmetric_parts
from eigentoken.numerics.layers.symbol_values import Answers, Parts
from eigentoken.numerics.layers.token_bounds import ROOM, Bound
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.theory.statements.layer_systems import Difference, matches
from eigentoken.theory.statements.registry import statements

__all__ = [
    "MARGINS",
    "certified_margin",
    "factor_above",
    "inverse_step_above",
    "margin_bounds",
    "margins_of_layer",
    "second_over_first_above",
]

#: The statements whose bounds are read from weights, in the order in which they are shown.
MARGINS = ("BD-E1", "BD-E2", "BD-H1")
#: Above the leader, in exact numbers, and below the others.
Margin = tuple[Fraction, Fraction]


def margins_of_layer(
    weights: LayerWeights, answers: Answers, asked: Sequence[str], discs: Sequence[Sequence[float]]
) -> LayerMargins:
    """The bounds of those of ``asked`` that are read from weights; ``discs``: the eigenvalues of F with radii, as found."""
    apart = {name: _differences(name, weights) for name in ("BD-E2", "BD-H1") if name in asked}
    about = [name for name in MARGINS if name in asked and (name == "BD-H1" or not apart.get(name))]
    found = margin_bounds(weights, about, discs, answers)
    told = {each.statement for each in found}
    if "BD-E2" in about and "BD-E2" not in told:
        why = "heads alone, F is not formed" if weights.heads_only else "no such margin is certified"
        apart["BD-E2"] = (Difference("matrices", _ASKS, why),)
    refused: list[NotBounded] = [
        {"statement": name, "differs": [each.as_dict() for each in differs]}
        for name, differs in apart.items()
        if differs and name not in told
    ]
    return {"bounds": [each.as_dict() for each in found], "not_about": refused}


_ASKS = "2 |K v| < gap of sym(F) and a leader on the right of 0"


def _differences(name: str, weights: LayerWeights) -> tuple[Difference, ...]:
    """Why a statement that speaks of a map on tokens is not about this layer."""
    statement = statements().get(name)
    found = matches(statement.systems, statement.covers, weights.system)
    if not found:
        return (Difference("system", "an attention map", weights.system.describe()),)
    return tuple(found[0].differences)


def margin_bounds(
    weights: LayerWeights,
    asked: Sequence[str],
    discs: Sequence[Sequence[float]] = (),
    answers: Answers | None = None,
) -> list[Bound]:
    """BD-E1 of F and of each of several heads; BD-E2 of F where it has a margin on the right of 0; BD-H1 of single heads."""
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
    found += _half_spaces(weights, known) if "BD-H1" in asked else []
    return [each for each in found if math.isfinite(each.measured)]  # not where floats of the weights' size overflow


def _half_spaces(weights: LayerWeights, answers: Answers) -> list[Bound]:
    """BD-H1 of a layer of one head, or of each of several heads as if it were alone."""
    statement = statements().get("BD-H1")
    found = matches(statement.systems, statement.covers, weights.system)
    if found and not (found[0].differences or found[0].needs):
        if weights.heads_only or weights.d < 2:
            return []
        return [_half_space(None, weights.value, 0)]
    return [
        _half_space(index, *((head.core, 1) if head.width < head.d else (head.value, 0)))
        for index, head in enumerate(weights.heads)
        if system_of_head(statement, weights, index, answers.of_head(index)) is not None
    ]


def _half_space(head: int | None, matrix: Enclosure, zeros: int) -> Bound:
    values = np.append(_eigenvalues(matrix), np.zeros(zeros))
    return Bound("BD-H1", head, factor_above(matrix), _factor(values), 1.0)


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


def factor_above(matrix: Enclosure) -> float:
    """BD-H1: ``(1 + m)/(1 + lambda)``; infinite where no positive leader by modulus is certified.

    An eigenvalue that is alone in its disc and larger than all others is real: it and its conjugate are of one modulus.
    """
    found = spectral_discs(matrix)
    if found is None:
        return math.inf
    discs, exponent = found
    lead = int(np.argmax(discs.centers.real))
    if len(discs.component(lead)) > 1:
        return math.inf
    leader = Fraction(float(discs.centers[lead].real)) - Fraction(float(discs.radii[lead]))
    others = np.delete(np.nextafter(np.abs(discs.centers) * (1 + 2.0**-50) + discs.radii, np.inf), lead)
    most = Fraction(float(others.max(initial=0.0))) * (1 + Fraction(2) ** -50)
    if not leader > most:
        return math.inf
    unit = Fraction(2) ** exponent
    return _float_above((1 + most * unit) / (1 + leader * unit) * (1 + Fraction(ROOM)))


# -- measured -------------------------------------------------------------------------------------------------------------------


def _eigenvalues(enclosure: Enclosure) -> Any:
    values = np.linalg.eigvals(enclosure.center)
    with np.errstate(all="ignore"):
        return np.ldexp(values.real, enclosure.exponent) + 1j * np.ldexp(values.imag, enclosure.exponent)


def _second_over_first(values: Any) -> float:
    """1 where the largest real part is not positive: the statement says nothing of a leader there."""
    real = np.sort(values.real)
    with np.errstate(all="ignore"):
        return float(np.maximum(0.0, real[-2]) / real[-1]) if real[-1] > 0 else 1.0


def _inverse_step(values: Any) -> float:
    """1 over the largest step with ``|1 + alpha lambda| < 1 + alpha mu`` for all others; 0 where every step is as good."""
    order = np.argsort(values.real)
    leader, others = float(values[order[-1]].real), values[order[:-1]]
    with np.errstate(all="ignore"):
        slopes = (np.abs(others) + leader) * (np.abs(others) - leader) / (2 * (leader - others.real))
    return float(np.maximum(0.0, slopes.max()))


def _factor(values: Any) -> float:
    """At equal tokens with even weights: the largest ``|1 + lambda|`` of another eigenvalue, at least 1, over ``1 + lambda``.

    1 where the largest real part is not positive.
    """
    order = np.argsort(values.real)
    leader, others = values[order[-1]], values[order[:-1]]
    if leader.real <= 0:
        return 1.0
    with np.errstate(all="ignore"):
        return float(np.abs(1 + others).max(initial=1.0) / np.abs(1 + leader))
