"""Steps that many chapters share: the largest of finitely many functions falls, or decays, by its slope where it is attained.

For functions that are differentiable at all times Danskin's theorem turns the slope at the maximisers into a bound of the upper
Dini derivative, and the comparison lemma that bound into one of the function itself.  Where a parameter is only measurable in
time the functions are absolutely continuous, and the same two steps are made for almost every time.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from eigentoken.proofs.steps.textbook import (
    ALMOST_EVERYWHERE_GRONWALL,
    ALMOST_EVERYWHERE_LARGEST,
    ALMOST_EVERYWHERE_MONOTONE,
    DANSKIN,
    GRONWALL,
)
from eigentoken.theory.statements.steps import Citation, Theorem

__all__ = ["bound_almost_everywhere", "bound_by_slope"]


class Told(TypedDict):
    """The two steps in words: their names, what they say, their formulas, and what the first one uses."""

    names: tuple[str, str]
    says: tuple[str, str]
    formulas: tuple[str, str]
    uses: tuple[str, ...]


def _cited(theorem: Theorem, part: int, told: Told, **letters: str) -> Citation:
    """The theorem, of these objects, for all that it concludes; the second step uses the first."""
    return Citation(
        name=told["names"][part],
        says=told["says"][part],
        theorem=theorem,
        letters=letters,
        uses=(told["names"][0],) if part else told["uses"],
        formula=told["formulas"][part],
        establishes=theorem.of(**letters).conclusions,
    )


def bound_by_slope(largest: str, rate: str, **told: Unpack[Told]) -> tuple[Citation, Citation]:
    """``D+ M <= k M`` and ``M(t) <= e^{kt} M(0)`` with the ``rate`` k.

    Needed are the facts that ``largest`` is the largest of finitely many differentiable functions of time, and that where
    it is attained the derivative is at most that.

    >>> steps = bound_by_slope("the spread", "-2c", names=("a", "b"), says=("", ""), formulas=("", ""), uses=())
    >>> steps[1].establishes
    ('the spread at time t is at most exp(-2c t) times the spread at the start',)
    """
    return (
        _cited(DANSKIN, 0, told, M=largest, rate=f"{rate} times {largest}"),
        _cited(GRONWALL, 1, told, u=largest, k=rate),
    )


def bound_almost_everywhere(largest: str, rate: str = "", **told: Unpack[Told]) -> tuple[Citation, Citation]:
    """As :func:`bound_by_slope` for absolutely continuous functions, whose slopes are known for almost every time.

    Without a rate, ``M' <= 0`` for almost every time, and M does not increase.

    >>> steps = bound_almost_everywhere("the spread", names=("a", "b"), says=("", ""), formulas=("", ""), uses=())
    >>> steps[1].establishes
    ('the spread does not increase',)
    """
    slope = f"{rate} times {largest}" if rate else "zero"
    first = _cited(ALMOST_EVERYWHERE_LARGEST, 0, told, M=largest, rate=slope)
    if rate:
        return first, _cited(ALMOST_EVERYWHERE_GRONWALL, 1, told, u=largest, k=rate)
    return first, _cited(ALMOST_EVERYWHERE_MONOTONE, 1, told, u=largest)
