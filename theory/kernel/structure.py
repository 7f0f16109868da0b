"""Rules about many tokens: identities for symbolic n and d, spectra from the linearization, sums, induction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    Assumptions,
    Expression,
    Index,
    differentiate,
    instance,
    normal_form,
    one,
    substitute,
)
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    ForAll,
    Implication,
    canonical,
    proposition,
    put,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused, joined, prove
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, Place
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, ell, matrix
from eigentoken.theory.linearization.consensus_spectra import (
    LAMBDA_K,
    LAMBDA_L,
    S,
    bipartite_spectrum,
    consensus_spectrum,
)
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["changes", "grouped", "has_root", "increment", "induction", "reduction", "respelled", "spectrum", "summed"]


def _known(system: System | None, premises: tuple[Proved, ...]) -> Assumptions:
    """What the normal form may use: unit tokens of the system, its definitions, and symmetry that is proved."""
    rules = Assumptions() if system is None else linearize(system, tangent=False).assumptions
    names = set()
    for each in premises:
        word = getattr(each.proposition, "word", None)
        if not isinstance(word, Symmetric) or not isinstance(word.term, sp.MatrixSymbol):
            raise Refused(f"a reduction uses the system and the symmetry of letters, got {each.proposition!r}")
        names.add(word.term.name)
    return rules.extended(symmetric=frozenset(names)) if names else rules


def reduction(left: Expression, right: Expression, system: System | None, *premises: Proved) -> Proved:
    """``left = right`` for all n and d, by the normal form of the calculus, at every state of the system."""
    joint, hypotheses = joined(premises, system)
    rest = normal_form(left - right, _known(joint, premises))
    if rest.terms:
        raise Refused(f"{len(rest.terms)} terms of the difference remain: {rest!s:.200}")
    wanted = proposition(sp.Eq(Tensor(left), Tensor(right), evaluate=False))
    return prove(wanted, "reduction", premises, joint, hypotheses)


def increment(quantity: Expression, system: System) -> Proved:
    """The derivative of a quantity along the flow, or its increment under the map, from the equation of the system."""
    found = linearize(system, tangent=False)

    def moved(*indices: Index) -> Expression:
        return instance(found.step, *indices)

    if system.time is Time.FLOW:
        value = differentiate(quantity, {STATE: moved}, found.assumptions)
    else:
        value = substitute(quantity, {STATE: moved}) - quantity
    wanted = proposition(sp.Eq(Rate(quantity), Tensor(value), evaluate=False))
    return prove(wanted, "increment", (), system, ())


def summed(proved: Proved) -> Proved:
    """``a_i <= b_i`` for every token i gives ``sum_i a_i <= sum_i b_i``; also for ``=``.  Scales must not depend on i."""
    said = proved.proposition
    if not isinstance(said, ForAll) or not isinstance(said.letter, Index) or said.guard != Conjunction(()):
        raise Refused("what is summed must hold for every index, without a guard")
    relation = getattr(getattr(said.body, "word", None), "relation", None)
    if not isinstance(relation, sp.Le | sp.Ge | sp.Eq):
        raise Refused("what is summed must be an equation or an inequality that is not strict")
    sides = [_as_expression(side).summed(said.letter) for side in relation.args]
    wanted = proposition(relation.func(Tensor(sides[0]), Tensor(sides[1]), evaluate=False))
    return prove(wanted, "summed", (proved,), proved.system, proved.hypotheses)


def _as_expression(term: Any) -> Expression:
    """A linear combination of tensors with coefficients that are free of tensors, as one expression."""
    total = one() * 0
    for piece in sp.Add.make_args(sp.expand(term)):
        tensors = [each for each in sp.Mul.make_args(piece) if isinstance(each, Tensor)]
        if len(tensors) > 1 or any(isinstance(each, Rate) or each.time is not None for each in tensors):
            raise Refused(f"{piece} is not linear in one quantity at the state")
        scale = sp.Mul(*(each for each in sp.Mul.make_args(piece) if not isinstance(each, Tensor)))
        if scale.atoms(Tensor):
            raise Refused(f"{piece} is not linear in the quantities")
        total = total + (tensors[0].expression if tensors else one()) * scale
    return total


def induction(letter: sp.Symbol, base: Proved, step: Proved, first: int) -> Proved:
    """``P(first)`` and ``for all m >= first: P(m) => P(m+1)`` give ``P(m)`` for all integers ``m >= first``."""
    system, hypotheses = joined((base, step))
    said = step.proposition
    if not (letter.is_integer and isinstance(said, ForAll) and said.letter == letter):
        raise Refused("the step must be for all values of the integer letter")
    guard = proposition(sp.Ge(letter, first, evaluate=False))
    if not same(said.guard, guard) or not isinstance(said.body, Implication):
        raise Refused(f"the step must be an implication under the guard {letter} >= {first}")
    claim = said.body.left
    if not same(said.body.right, put(claim, {letter: letter + 1})):
        raise Refused("the step does not lead from P(m) to P(m + 1)")
    if not same(base.proposition, put(claim, {letter: sp.Integer(first)})):
        raise Refused(f"the base is not the claim at {first}")
    return prove(ForAll(letter, guard, claim), "induction", (base, step), system, hypotheses)


# -- spectra --------------------------------------------------------------------------------------------------------------


def spectrum(place: Place, system: System) -> Proved:
    """``SpectrumIs(place, ...)``, as the linearization engine derives it for symbolic n and d from the equation.

    Hypotheses: the value matrix is symmetric (so that its eigenvectors are a basis and its eigenvalues real), and what the
    formulas need to be valid (``1 + alpha lambda_k > 0`` for a map).
    """
    if system.metric or system.value is None or system.space is not Space.SPHERE or system.mask != "full":
        raise Refused(f"no spectrum at a named place for {system.name}: it has no value matrix, a metric or a mask")
    if system.multihead and not isinstance(place, ConsensusAt):
        raise Refused(f"with several heads {system.name} has this spectrum at consensus only, where their sum decides")
    if not isinstance(place, ConsensusAt | BipartiteAt) or place.term != matrix(system.value):
        raise Refused(f"the place must be on an eigenvector of {system.value}, the value matrix of {system.name}")
    found = consensus_spectrum(system) if isinstance(place, ConsensusAt) else bipartite_spectrum(system)
    table = _letters(place, system, found)
    classes = tuple(
        (_in_words(found.expanded(e.value), table), _in_words(e.multiplicity, table)) for e in found.tangent
    )
    valid = [proposition(_in_words(found.expanded(each), table)) for each in found.conditions]
    claim = Atom(SpectrumIs(place, classes))
    return prove(claim, "spectrum", (), system, (Atom(Symmetric(place.term)), *valid), detail=found)


def _values(found: Spectrum) -> Iterator[Any]:
    """The values of the tangent classes; the two roots of a block by its trace and determinant."""
    sign = 1
    for entry in found.tangent:
        if entry.block is None:
            yield entry.value
            continue
        if entry.block.shape != (2, 2):
            raise Refused("a block of more than two groups has no closed form here")
        trace, det = sp.factor(entry.block.trace()), sp.factor(entry.block.det())
        yield trace / 2 + sign * sp.sqrt(trace**2 - 4 * det) / 2
        sign = -sign


def _letters(place: Any, system: System, found: Spectrum) -> dict[Any, Any]:
    table = {LAMBDA_K: Eigenvalue(place.term, place.index), LAMBDA_L: Eigenvalue(place.term, ell)}
    if system.score is not None:
        table[S] = ScoreAtEigenvector(matrix(system.score), place.term, place.index)
    return table


def _in_words(term: Any, table: dict[Any, Any]) -> Any:
    return sp.sympify(term).xreplace(table)


def has_root(term: Any) -> bool:
    """Does a root occur in it?"""
    return any(each.exp.is_number and not each.exp.is_integer for each in sp.sympify(term).atoms(sp.Pow))


def grouped(classes: tuple[tuple[Any, Any], ...]) -> list[tuple[tuple[Any, ...], Any]]:
    """The classes as single values and pairs: ``((value,), m)``, or ``((T, D), m)`` for the two roots of ``z^2 - T z + D``.

    Two classes with roots are a pair where their sum and the square of their difference have none: then ``T = a + b`` and
    ``D = (T^2 - (a - b)^2)/4`` hold for complex roots as well.
    """
    found: list[tuple[tuple[Any, ...], Any]] = []
    waiting = [(sp.sympify(value), sp.sympify(times)) for value, times in classes]
    while waiting:
        value, times = waiting.pop(0)
        if not has_root(value):
            found.append(((value,), times))
            continue
        for other in waiting:
            total, square = value + other[0], (value - other[0]) ** 2
            if other[1] == times and not has_root(total) and not has_root(square):
                waiting.remove(other)
                found.append(((total, (total**2 - square) / 4), times))
                break
        else:
            found.append(((value,), times))
    return found


def respelled(found: Proved, claim: SpectrumIs, *equations: Proved) -> Proved:
    """The same spectrum in other formulas: what changes is changed by a proved equation (of a pair: its sum and product)."""
    place, classes = classes_of(found)
    if claim.place != place or len(claim.classes) != len(classes):
        raise Refused("the claim is about another place, or has another number of classes")
    known = {canonical(each.proposition) for each in equations}
    for one_term, other in changes(classes, claim.classes):
        if canonical(proposition(sp.Eq(one_term, other, evaluate=False))) not in known:
            raise Refused(f"{one_term} = {other} is not proved")
    system, hypotheses = joined((found, *equations))
    return prove(Atom(claim), "respelled", (found, *equations), system, hypotheses)


def changes(classes: tuple[tuple[Any, Any], ...], others: tuple[tuple[Any, Any], ...]) -> list[tuple[Any, Any]]:
    """The equations that make one list of classes the other, in the order in which they stand."""
    old, new = grouped(classes), grouped(others)
    if [len(values) for values, _ in old] != [len(values) for values, _ in new]:
        raise Refused("the two lists do not have the same pairs of roots")
    flat = [((*a, m), (*b, k)) for (a, m), (b, k) in zip(old, new, strict=True)]
    return [(x, y) for before, after in flat for x, y in zip(before, after, strict=True) if x != y]


def classes_of(proved: Proved) -> tuple[ConsensusAt | BipartiteAt, tuple[tuple[Any, Any], ...]]:
    """Place and classes of a proved spectrum."""
    word = getattr(proved.proposition, "word", None)
    if not isinstance(word, SpectrumIs) or not isinstance(word.place, ConsensusAt | BipartiteAt):
        raise Refused("a proved spectrum at a place on an eigenvector is needed")
    return word.place, word.classes
