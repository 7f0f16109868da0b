"""PH-T2 and PH-T3 in the kernel: with the energy of :mod:`.energy_rates`, LaSalle's principle leaves one of two ends.

A trajectory is unbounded or tends to zero.  For ``A < 0`` the energy bounds the tokens; for ``A > 0`` it is negative at the start
and does not rise, so that the tokens stay away from zero.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.pham.energy_rates import (
    ENERGY,
    NOT_ZERO,
    RATE,
    SIZE,
    at_time,
    bounded_above,
    bounded_below,
    falls,
    own_size,
    stays_below,
)
from eigentoken.proofs.pham.softmax_sums import FORM, known_form, without_form
from eigentoken.proofs.pham.token_threshold import THRESHOLD, threshold
from eigentoken.proofs.steps.flow_theorems import LASALLE, TIME, later
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Atom, Disjunction, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import Claim, Converges, Decreases, Diverges
from eigentoken.theory.language.conditions import NegativeDefinite, NotAllZero, PositiveDefinite, Symmetric
from eigentoken.theory.language.observables_attention import token_energy
from eigentoken.theory.language.places import Zero
from eigentoken.theory.language.terms import Eigenvalue, d

__all__ = ["CONVERGENCE", "DIVERGENCE", "converges", "diverges"]

#: The energy falls strictly wherever some token is not zero.
STRICTLY = ForAll(
    FORM, known_form(Symmetric(FORM)), ForAll(VectorLetter("x"), NOT_ZERO, proposition(sp.Lt(RATE, 0, evaluate=False)))
)
CONVERGENCE: tuple[Claim, ...] = (Decreases(token_energy), Formula(STRICTLY), Converges(Zero()))
DIVERGENCE: tuple[Claim, ...] = (Formula(STRICTLY), Diverges(), Formula(THRESHOLD))

START = later(Tensor(ENERGY), 0)


def _ends(kernel: Kernel, falling: Proved, strictly: Proved) -> Proved:
    """Unbounded, or to zero."""
    state = VectorLetter("x")
    rates = kernel.generalise(state, falling), kernel.generalise(state, strictly, NOT_ZERO)
    ends = kernel.textbook(LASALLE, *rates, v=ENERGY, w=SIZE)
    goes = Converges(Zero())
    return kernel.tautology([ends, kernel.meaning(goes)], Disjunction((Atom(Diverges()), Atom(goes))))


def _at(kernel: Kernel, stays: Proved, lower: Proved) -> tuple[Proved, list[Proved]]:
    """At a time ``t >= 0``: the energy is at most that at the start, and at least a multiple of the squared norms."""
    after = kernel.assume(sp.Ge(TIME, 0, evaluate=False))
    return after, [kernel.instantiate(stays, TIME, after), at_time(kernel, lower)]


def _bounded(kernel: Kernel, stays: Proved) -> Proved:
    """For ``A < 0`` no token is unbounded."""
    top = Eigenvalue(FORM, 1)
    negative = kernel.unfold(kernel.assume(NegativeDefinite(FORM)))
    some = kernel.unfold(kernel.assume(Diverges()))
    _, facts = _at(kernel, stays, bounded_below(kernel))
    not_zero = kernel.arithmetic([negative], sp.Ne(top, 0))
    late = kernel.instantiate(kernel.assume(some.proposition.body), -2 * START / top, not_zero)
    beyond = kernel.assume(late.proposition.body)
    absurd = kernel.arithmetic([beyond, *facts, at_time(kernel, own_size(kernel)), negative], False)
    for found in (late, some):
        absurd = kernel.exists_elimination(found, absurd)
    return kernel.discharge(Diverges(), absurd)


def converges(kernel: Kernel) -> Proved:
    """The claims of PH-T2."""
    falling, strictly = falls(kernel)
    stays = stays_below(kernel, falling)
    ends = kernel.tautology([_ends(kernel, falling, strictly), _bounded(kernel, stays)], Converges(Zero()))
    words = (Symmetric(FORM), NegativeDefinite(FORM))
    everywhere = kernel.generalise(VectorLetter("x"), strictly, NOT_ZERO)
    return kernel.conjunction(
        without_form(kernel, kernel.monotone(token_energy, falling), *words),
        kernel.generalise(FORM, everywhere, known_form(Symmetric(FORM))),
        without_form(kernel, ends, *words),
    )


def _away_from_zero(kernel: Kernel, stays: Proved) -> Proved:
    """For ``A > 0`` a trajectory that does not start at zero does not tend to it."""
    top = Eigenvalue(FORM, 1)
    positive = kernel.unfold(kernel.assume(PositiveDefinite(FORM)))
    order = kernel.at(kernel.at(kernel.eigenvalue_order(FORM), sp.Integer(1)), d)
    above = kernel.arithmetic([positive, order], top > 0)
    at_start = kernel.unfold(kernel.given(NotAllZero()))
    begins = [at_time(kernel, bounded_above(kernel), sp.Integer(0)), positive, at_start]
    below = kernel.arithmetic(begins, sp.Lt(START, 0, evaluate=False))
    goes = kernel.unfold(kernel.assume(Converges(Zero())))
    small = -2 * START / top
    not_zero = kernel.arithmetic([above], sp.Ne(top, 0))
    room = kernel.arithmetic([above, below], sp.Gt(small, 0, evaluate=False))
    late = kernel.instantiate(goes, small, not_zero, room)
    first = late.proposition.letter
    since = kernel.assume(late.proposition.guard)
    same = kernel.arithmetic([], sp.Ge(first, first, evaluate=False))
    then = kernel.instantiate(kernel.assume(late.proposition.body), first, same)
    facts = [kernel.instantiate(stays, first, since), at_time(kernel, bounded_below(kernel), first)]
    absurd = kernel.exists_elimination(late, kernel.arithmetic([then, *facts, above, below], False))
    return kernel.discharge(Converges(Zero()), absurd)


def diverges(kernel: Kernel) -> Proved:
    """The claims of PH-T3."""
    falling, strictly = falls(kernel)
    stays = stays_below(kernel, falling)
    ends = kernel.tautology([_ends(kernel, falling, strictly), _away_from_zero(kernel, stays)], Diverges())
    everywhere = kernel.generalise(VectorLetter("x"), strictly, NOT_ZERO)
    return kernel.conjunction(
        kernel.generalise(FORM, everywhere, known_form(Symmetric(FORM))),
        without_form(kernel, ends, Symmetric(FORM), PositiveDefinite(FORM)),
        threshold(kernel),
    )
