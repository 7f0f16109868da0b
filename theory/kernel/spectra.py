"""Rules about spectra: what the linearization engine derives at a place, for symbolic n and d, as a proposition.

A place is consensus on an eigenvector of the value matrix, or a split between it and its negative.  The engine reads the equation
of the system; nothing is typed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import TOKENS, Base, normal_form, vector, zero
from eigentoken.theory.calculus.derivative import Group, GroupPoint
from eigentoken.theory.kernel.arithmetic import check_defined
from eigentoken.theory.kernel.logic import check_sort
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Equivalence,
    Proposition,
    canonical,
    free_letters,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved, Refused, joined, prove
from eigentoken.theory.language.claims import AttentionRank, Equilibrium, SpectrumIs, TwoCycle
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt, Place
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, d, ell, k, matrix
from eigentoken.theory.linearization.consensus_spectra import (
    LAMBDA_K,
    LAMBDA_L,
    TOKEN,
    S,
    bipartite_spectrum,
    consensus_spectrum,
)
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.systems.system import Space, System, Time

__all__ = [
    "antipodal_rest",
    "attention_rank",
    "changes",
    "classes_of",
    "engine",
    "equilibrium",
    "grouped",
    "has_root",
    "heights",
    "in_words",
    "respelled",
    "spectrum",
    "two_cycle",
]


def spectrum(place: Place, system: System) -> Proved:
    """``SpectrumIs(place, ...)``, as the linearization engine derives it for symbolic n and d from the equation.

    Hypotheses: the value matrix is symmetric (so that its eigenvectors are a basis and its eigenvalues real), it has a k-th
    eigenvector, and what the formulas need to be valid (``1 + alpha lambda_k > 0`` for a map).
    """
    found, table = engine(place, system)
    values = (in_words(found.expanded(each), table) for each in _values(found))
    times = (in_words(entry.multiplicity, table) for entry in found.tangent)
    claim = Atom(SpectrumIs(place, tuple(zip(values, times, strict=True))))
    hypotheses = (*_there(place), *heights(found, table, sp.Gt))
    check_defined(claim, hypotheses[1:])
    return prove(claim, "spectrum", (), system, hypotheses, detail=found)


def equilibrium(place: Place, system: System) -> Proved:
    """A flow rests at the place; a map does iff every group has ``y = m x`` with a height ``m > 0``, as the engine derives it."""
    found, table = engine(place, system)
    rests: Proposition = Atom(Equilibrium(place))
    said = rests if system.time is Time.FLOW else Equivalence(rests, Conjunction(heights(found, table, sp.Gt)))
    return prove(said, "equilibrium", (), system, _there(place), detail=found)


def antipodal_rest(place: AntipodalAt, system: System) -> Proved:
    """Half of the tokens at w and half at -w, any w: the mean vanishes, so a system with equal weights rests there.

    The place has its states for even n alone (:class:`AntipodalAt`), so that ``n/2`` is a number of tokens.
    """
    if (
        system.space is not Space.SPHERE
        or system.score
        or system.rotary
        or system.mask != "full"
        or not system.standard
    ):
        raise Refused(f"{system.name} does not weigh all tokens equally, on the sphere")
    half = TOKENS / 2
    known = linearize(system, tangent=False)
    at = Base(place.name)
    rules = known.assumptions.extended(gram={(at, (), at): sp.Integer(1)}, sizes={"plus": half, "minus": half})
    point = GroupPoint((Group("plus", half, 1), Group("minus", half, -1)), rules, at=place.name)
    moved = known.step if system.time is Time.FLOW else next(iter(known.assumptions.definitions.values()))
    for group in point.groups:
        stays = vector(place.name) * group.sign if system.time is Time.MAP else zero()
        if normal_form(point.value(moved, group) - stays, rules).terms:
            raise Refused(f"the calculus does not show that {system.name} rests there")
    return prove(Atom(Equilibrium(place)), "antipodal_rest", (), system)


def two_cycle(place: Place, system: System) -> Proved:
    """A map sends the place to its negative, and back since it is odd, iff every height is negative."""
    found, table = engine(place, system)
    if system.time is not Time.MAP:
        raise Refused("a flow has no 2-cycles")
    said = Equivalence(Atom(TwoCycle(place)), Conjunction(heights(found, table, sp.Lt)))
    return prove(said, "two_cycle", (), system, _there(place), detail=found)


def attention_rank(place: Place, system: System) -> Proved:
    """The rank of the attention matrix where the tokens are at ``v_k``, or at ``v_k`` and ``-v_k`` (one at each, at least).

    Equal tokens have equal rows and columns, and a row is ``exp(x_i^T M x_j)`` over its positive sum: the rank is that of the
    matrix ``exp(sigma_a sigma_b s)`` of the groups, ``s = v_k^T M v_k``.
    """
    plain = system.space is Space.SPHERE and system.mask == "full" and system.standard
    if not plain or system.metric or system.multihead or system.rotary or system.score is None:
        raise Refused(f"{system.name} has no attention matrix of one head with scores on the sphere, or it is masked")
    if not isinstance(place, ConsensusAt | BipartiteAt) or place.term != matrix(system.value or ""):
        raise Refused(f"the place must be on an eigenvector of {system.value}, the value matrix of {system.name}")
    check_sort(k, place.index)
    said: Proposition = Atom(AttentionRank(place, 1))
    if isinstance(place, BipartiteAt):
        score = ScoreAtEigenvector(matrix(system.score), place.term, place.index)
        minor = sp.exp(2 * score) - sp.exp(-2 * score)  # of the 2 x 2 matrix: its entries are not zero
        two = Equivalence(Atom(AttentionRank(place, 2)), proposition(sp.Ne(minor, 0)))
        said = Conjunction((two, Equivalence(said, proposition(sp.Eq(minor, 0)))))
    return prove(said, "attention_rank", (), system, _there(place))


def engine(place: Place, system: System, *, masks: tuple[str, ...] = ("full",)) -> tuple[Spectrum, dict[Any, Any]]:
    """The spectrum at a place on an eigenvector of the value matrix, and what its letters are."""
    if system.metric or system.value is None or system.space is not Space.SPHERE or system.mask not in masks:
        raise Refused(f"no spectrum at a named place for {system.name}: it has no value matrix, a metric or a mask")
    if system.multihead and not isinstance(place, ConsensusAt):
        raise Refused(f"with several heads {system.name} has this spectrum at consensus only, where their sum decides")
    layer = (matrix(system.value), matrix("F"))  # the layer matrix of one head is its value matrix
    if not isinstance(place, ConsensusAt | BipartiteAt) or place.term not in layer:
        raise Refused(f"the place must be on an eigenvector of {system.value}, the value matrix of {system.name}")
    check_sort(k, place.index)
    found = consensus_spectrum(system) if isinstance(place, ConsensusAt) else bipartite_spectrum(system)
    rows = {TOKEN} if system.mask == "causal" else set()
    if place.index == ell or any(run.symbol not in {LAMBDA_L} | rows for entry in found.tangent for run in entry.runs):
        raise Refused(f"the classes of {system.name} at this place run over more than ell, or ell is taken")
    table = {LAMBDA_K: Eigenvalue(place.term, place.index), LAMBDA_L: Eigenvalue(place.term, ell)}
    if system.score is not None:
        table[S] = ScoreAtEigenvector(matrix(system.score), place.term, place.index)
    return found, table


def _there(place: Any) -> tuple[Proposition, ...]:
    """The value matrix is symmetric and has an eigenvector of that number."""
    return Atom(Symmetric(place.term)), proposition(sp.Le(place.index, d))


def heights(found: Spectrum, table: dict[Any, Any], relation: Any) -> tuple[Proposition, ...]:
    """``m > 0`` (or ``m < 0``) for every group of a map; nothing for a flow."""
    return tuple(
        proposition(relation(in_words(found.expanded(each.lhs - each.rhs), table), 0)) for each in found.conditions
    )


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


def in_words(term: Any, table: dict[Any, Any]) -> Any:
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
    for_each_ell(equations)
    system, hypotheses = joined((found, *equations))
    return prove(Atom(claim), "respelled", (found, *equations), system, hypotheses)


def changes(classes: tuple[tuple[Any, Any], ...], others: tuple[tuple[Any, Any], ...]) -> list[tuple[Any, Any]]:
    """The equations that make one list of classes the other, in the order in which they stand."""
    old, new = grouped(classes), grouped(others)
    shapes = [[(len(values), any(each.has(ell) for each in values)) for values, _ in one] for one in (old, new)]
    if shapes[0] != shapes[1]:
        raise Refused("not the same pairs of roots, or a class for each ell became a single one, or the other way")
    flat = [((*a, times), (*b, others_times)) for (a, times), (b, others_times) in zip(old, new, strict=True)]
    return [(x, y) for before, after in flat for x, y in zip(before, after, strict=True) if x != y]


def for_each_ell(premises: tuple[Proved, ...]) -> None:
    """The classes run over ell: what is used of a class may not rest on a hypothesis about one ell."""
    if any(ell in free_letters(each) for premise in premises for each in premise.hypotheses):
        raise Refused("a class of the spectrum runs over ell: the premise holds for some ell only")


def classes_of(proved: Proved) -> tuple[ConsensusAt | BipartiteAt, tuple[tuple[Any, Any], ...]]:
    """Place and classes of a proved spectrum."""
    word = getattr(proved.proposition, "word", None)
    if not isinstance(word, SpectrumIs) or not isinstance(word.place, ConsensusAt | BipartiteAt):
        raise Refused("a proved spectrum at a place on an eigenvector is needed")
    return word.place, word.classes
