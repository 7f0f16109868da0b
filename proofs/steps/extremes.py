"""Steps that many chapters share: the largest of finitely many functions falls, or decays, by its slope where it is attained.

For functions that are differentiable at all times Danskin's theorem turns the slope at the maximisers into a bound of the upper
Dini derivative, and the comparison lemma that bound into one of the function itself.  Where a parameter is only measurable in
time the functions are absolutely continuous, and the same two steps are made for almost every time.
"""

from __future__ import annotations

from eigentoken.proofs.steps.textbook import (
    ALMOST_EVERYWHERE_GRONWALL,
    ALMOST_EVERYWHERE_LARGEST,
    ALMOST_EVERYWHERE_MONOTONE,
    DANSKIN,
    GRONWALL,
)
from eigentoken.theory.statements.steps import Citation

__all__ = ["bound_almost_everywhere", "bound_by_slope"]


def bound_by_slope(
    largest: str,
    rate: str,
    *,
    names: tuple[str, str],
    says: tuple[str, str],
    formulas: tuple[str, str],
    uses: tuple[str, ...],
) -> tuple[Citation, Citation]:
    """``D+ M <= k M`` and ``M(t) <= e^{kt} M(0)`` with the ``rate`` k.

    Needed are the facts that ``largest`` is the largest of finitely many differentiable functions of time, and that where
    it is attained the derivative is at most that.

    >>> steps = bound_by_slope("the spread", "-2c", names=("a", "b"), says=("", ""), formulas=("", ""), uses=())
    >>> steps[1].establishes
    ('the spread at time t is at most exp(-2c t) times the spread at the start',)
    """
    slope = f"{rate} times {largest}"
    danskin = Citation(
        name=names[0],
        says=says[0],
        theorem=DANSKIN,
        letters={"M": largest, "rate": slope},
        uses=uses,
        formula=formulas[0],
        establishes=(f"the upper Dini derivative of {largest} is at most {slope}",),
    )
    comparison = Citation(
        name=names[1],
        says=says[1],
        theorem=GRONWALL,
        letters={"u": largest, "k": rate},
        uses=(names[0],),
        formula=formulas[1],
        establishes=(f"{largest} at time t is at most exp({rate} t) times {largest} at the start",),
    )
    return danskin, comparison


def bound_almost_everywhere(
    largest: str,
    rate: str = "",
    *,
    names: tuple[str, str],
    says: tuple[str, str],
    formulas: tuple[str, str],
    uses: tuple[str, ...],
) -> tuple[Citation, Citation]:
    """As :func:`bound_by_slope` for absolutely continuous functions, whose slopes are known for almost every time.

    Without a rate, ``M' <= 0`` for almost every time, and M does not increase.

    >>> steps = bound_almost_everywhere("the spread", names=("a", "b"), says=("", ""), formulas=("", ""), uses=())
    >>> steps[1].establishes
    ('the spread does not increase',)
    """
    slope = f"{rate} times {largest}" if rate else "zero"
    largest_step = Citation(
        name=names[0],
        says=says[0],
        theorem=ALMOST_EVERYWHERE_LARGEST,
        letters={"M": largest, "rate": slope},
        uses=uses,
        formula=formulas[0],
        establishes=(f"{largest} is absolutely continuous, with a derivative of at most {slope} almost everywhere",),
    )
    bound = f"{largest} at time t is at most exp({rate} t) times {largest} at the start"
    comparison = Citation(
        name=names[1],
        says=says[1],
        theorem=ALMOST_EVERYWHERE_GRONWALL if rate else ALMOST_EVERYWHERE_MONOTONE,
        letters={"u": largest, "k": rate} if rate else {"u": largest},
        uses=(names[0],),
        formula=formulas[1],
        establishes=(bound if rate else f"{largest} does not increase",),
    )
    return largest_step, comparison
