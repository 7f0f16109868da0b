"""The rules of logic.  Each takes what is proved and gives what follows, or refuses with what is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from eigentoken.theory.calculus import Expression, Index
from eigentoken.theory.kernel.closed import exchange, irrational, is_closed, sign
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.propositions import (
    TRUE,
    AnyLetter,
    Atom,
    Binder,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Negation,
    Proposition,
    canonical,
    children,
    conjuncts,
    exchanged,
    free_letters,
    inside,
    keep_sizes,
    keep_time,
    proposition,
    put,
    relation_of,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused, joined, lacking, parts_of, prove, without
from eigentoken.theory.kernel.tensors import STATE, AtTime, Tensor, VectorLetter, is_reserved, real_where_defined
from eigentoken.theory.language import claims, conditions
from eigentoken.theory.language.places import SomeEquilibrium
from eigentoken.theory.language.terms import Angle
from eigentoken.theory.systems.system import System

__all__ = [
    "almost_everywhere",
    "assume",
    "bound_but_tied",
    "discharge",
    "exists_elimination",
    "generalise",
    "instantiate",
    "rewrite",
    "speaks_of_start",
    "supply",
    "tautology",
    "witness",
]

#: Words that speak of the matrices named in them and of nothing else; every other word could speak of the system.
ABOUT_MATRICES = (
    conditions.OfOneMatrix,
    conditions.NonPrincipalModulusBelow,
    conditions.Commute,
    conditions.BoundedInTime,
    conditions.UniformlyContinuous,
    conditions.SharesTopEigenvector,
    conditions.ShareDominantPair,
)
#: Words that speak of parameters and places only; every other word could speak of the start.
ABOUT_WEIGHTS = (*ABOUT_MATRICES, claims.SpectrumIs, claims.Stable, claims.Unstable, claims.Equilibrium)
#: The names of steps by connectives alone, for print.
CONNECTIVES = ("tautology", "modus_ponens", "conjunction", "part", "cases", "iff")


def assume(said: Any, system: System | None = None) -> Proved:
    """``P |- P``."""
    wanted = proposition(said)
    return prove(wanted, "assume", (), system, (wanted,))


def discharge(said: Any, proved: Proved) -> Proved:
    """``H, P |- Q`` gives ``H |- P => Q``."""
    wanted = proposition(said)
    left = without(proved.hypotheses, [wanted])
    return prove(Implication(wanted, proved.proposition), "discharge", (proved,), proved.system, left)


def supply(proved: Proved, *given: Proved) -> Proved:
    """Hypotheses that are proved elsewhere are dropped: ``H |- P`` and ``K, P |- Q`` give ``H, K |- Q``."""
    system, _ = joined((proved, *given))
    known = [part for each in given for part in conjuncts(each.proposition)]
    left = without(proved.hypotheses, known)
    added = [hypothesis for each in given for hypothesis in each.hypotheses]
    return prove(proved.proposition, "supply", (proved, *given), system, (*left, *added))


def tautology(premises: Iterable[Proved], said: Any, rule: str = "tautology") -> Proved:
    """What follows by connectives alone: every atom and every quantified part is opaque.  By a truth table, read row by row.

    ``rule`` is the name under which the step is printed, one of :data:`CONNECTIVES`.
    """
    given, wanted = tuple(premises), proposition(said)
    system, hypotheses = joined(given)
    if rule not in CONNECTIVES:
        raise Refused(f"{rule} is no name of a step by connectives")
    if not _follows([canonical(each.proposition) for each in given], canonical(wanted), {}):
        raise Refused("it does not follow by connectives alone")
    return prove(wanted, rule, given, system, hypotheses)


def _follows(given: Sequence[Proposition], wanted: Proposition, row: dict[Proposition, bool]) -> bool:
    """In every row of the truth table that goes on from this one: what is decided is not split any more."""
    said = (*given, wanted)
    values = [_value(each, row) for each in said]
    if False in values[:-1] or values[-1]:
        return True
    unsure = (each for each, value in zip(said, values, strict=True) if value is None)
    split = next((each for one in unsure for each in _opaque(one) if each not in row), None)
    return split is not None and all(_follows(given, wanted, {**row, split: value}) for value in (False, True))


def _opaque(said: Proposition) -> Iterator[Proposition]:
    if isinstance(said, Conjunction | Disjunction | Negation | Implication | Equivalence):
        for each in children(said):
            yield from _opaque(each)
    else:
        yield said


def _value(said: Proposition, row: Mapping[Proposition, bool]) -> bool | None:
    """True or false, or nothing where the row does not decide."""
    if isinstance(said, Implication):
        return _value(Disjunction((Negation(said.left), said.right)), row)
    if isinstance(said, Negation | Equivalence):
        values = [_value(each, row) for each in children(said)]
        return None if None in values else values == [False] if len(values) == 1 else values[0] is values[1]
    if isinstance(said, Conjunction | Disjunction):
        found, deciding = {_value(each, row) for each in said.parts}, isinstance(said, Disjunction)
        return deciding if deciding in found else None if None in found else not deciding
    return row.get(said)


# -- binders --------------------------------------------------------------------------------------------------------------


def tied(said: Proposition, system: System | None) -> frozenset[str]:
    """Letters that it speaks of without showing them: sizes, the parameters of its system, and F, the matrix of its layer.

    ``Stable(place)`` depends on the step ``alpha``, a sum over tokens on ``n``, a word about a d x d matrix on ``d``: one cannot
    put another for them.
    """
    if isinstance(said, Atom):
        relation = relation_of(said)
        about = not isinstance(said.word, ABOUT_MATRICES) if relation is None else relation.has(Tensor, Angle)
        declared = () if system is None else (*system.parameters, *system.head_parameters)
        shapes = (each.shape for each in free_letters(said) if isinstance(each, sp.MatrixSymbol))
        sizes = {size.name for shape in shapes for size in shape if isinstance(size, sp.Symbol)}
        return frozenset({"n", "d", "p", "q", "H", "F", *(each.name for each in declared)} if about else ()) | sizes
    return frozenset().union(*(tied(part, system) for part in children(said)))


def bound_but_tied(said: Proposition, system: System | None) -> frozenset[str]:
    """Letters that it binds where its words speak of them without showing them: it would read as said of all their values.

    ``for every alpha: Stable(place)`` says no more than ``Stable(place)``, for the step of the system.
    """
    here: frozenset[str] = frozenset()
    if isinstance(said, Binder) and isinstance(said.letter, sp.Symbol | sp.MatrixSymbol):
        hidden = (tied(part, system) for part in (said.guard, said.body))
        here = frozenset({said.letter.name}).intersection(frozenset().union(*hidden))
    return here.union(*(bound_but_tied(part, system) for part in children(said)))


def _arbitrary(
    letter: AnyLetter, system: System | None, said: Iterable[Proposition], rest: Iterable[Proposition]
) -> None:
    """The letter stands for anything: the ``rest`` does not speak of it, and what is ``said`` shows it where it speaks of it."""
    here, there = tuple(said), tuple(rest)
    shown = frozenset().union(*map(free_letters, there))
    others = (shown | frozenset().union(*map(free_letters, here))) - {letter}
    if isinstance(letter, sp.MatrixSymbol):  # under d = 2, the d x d matrix V and the 2 x 2 matrix V are one
        shown |= {letter for each in others if isinstance(each, sp.MatrixSymbol) and each.name == letter.name}
    if letter in shown:
        raise Refused(f"{letter.name} is spoken of outside: it is no arbitrary letter here")
    hidden = frozenset().union(*(tied(each, system) for each in (*here, *there)))
    if letter.name in hidden and not isinstance(letter, Index):
        raise Refused(f"{letter.name} belongs to the system: it is no arbitrary letter here")


def generalise(letter: AnyLetter, proved: Proved, guard: Any = TRUE) -> Proved:
    """``H, guard |- P`` gives ``H |- for all letters with guard: P``, where H does not speak of the letter."""
    said = ForAll(letter, proposition(guard), proved.proposition)
    left = without(proved.hypotheses, [said.guard])
    _arbitrary(letter, proved.system, (said.guard, said.body), left)
    return prove(said, "generalise", (proved,), proved.system, left)


def instantiate(proved: Proved, value: Any, *guards: Proved) -> Proved:
    """``for all letters with guard: P`` and ``guard(value)`` give ``P(value)``, for a value of the letter's sort."""
    said = proved.proposition
    if not isinstance(said, ForAll):
        raise Refused("only what holds for all values of a letter can be taken at one")
    system, hypotheses = joined((proved, *guards))
    missing = _lacking_at(said, value, guards, said.guard)
    if missing:
        raise Refused(f"the guard is not proved at this value: {missing}")
    table = {said.letter: value}
    return prove(put(said.body, table), "instantiate", (proved, *guards), system, hypotheses, detail=table)


def _lacking_at(said: Binder, value: Any, given: tuple[Proved, ...], *wanted: Proposition) -> str:
    """What is not given of the parts wanted at a value of the letter, which must be of its sort."""
    keep_time(Conjunction((said.guard, said.body)), {said.letter: value})
    known = parts_of(given)
    check_sort(said.letter, value, known)
    return lacking([put(each, {said.letter: value}) for each in wanted], known)


def check_sort(letter: AnyLetter, value: Any, known: Collection[Proposition] = ()) -> None:
    """Is the value known to be of the sort of the letter?  A state is the state at a time, and nothing else.

    An integer is also known to be positive where ``value >= 1`` is among what is known, any real number where ``value > 0`` is;
    a value is known to be defined where that is among it, and the inverse of a matrix where it is known that the matrix is
    nonsingular.
    """
    if isinstance(letter, Index):
        good = isinstance(value, Index) and value.kind == letter.kind and not is_reserved(value)
    elif letter == VectorLetter(STATE):
        good = value == letter or (isinstance(value, AtTime) and _has_value(value.time, known))
    elif isinstance(letter, VectorLetter):
        good = isinstance(value, VectorLetter) or (isinstance(value, Expression) and _has_value(value, known))
    elif isinstance(letter, sp.MatrixSymbol):
        good = isinstance(value, sp.MatrixExpr) and value.shape == letter.shape and _is_real(value, known)
    else:
        term = sp.sympify(value)
        term = _of_its_sort(letter, term, known) if isinstance(term, sp.Expr) else term
        good = isinstance(term, sp.Expr) and bool(term.is_real) and not where_defined(term) and _declared(letter, term)
    if not good:
        raise Refused(f"{value} is not known to be of the sort of {letter.name}")


def _of_its_sort(letter: sp.Symbol, term: sp.Expr, known: Collection[Proposition]) -> sp.Expr:
    """A letter of the sort that is known of the term, where that is more than the term shows, or is not for sympy to say.

    The sign of a number without letters is decided in balls; of a term with such a number in it, its sign must be known.
    """
    if term.is_integer and letter.is_integer and canonical(proposition(sp.Ge(term, 1, evaluate=False))) in known:
        return sp.Symbol("m", integer=True, positive=True)
    if canonical(proposition(sp.Gt(term, 0, evaluate=False))) in known:
        return sp.Symbol("m", positive=True)
    strange = irrational(term)
    found = sign(term) if strange and is_closed(term) else None
    if found is not None:
        return sp.Symbol("m", positive=True) if found > 0 else sp.Symbol("m", negative=True)
    real = real_where_defined(term) and all(canonical(proposition(each)) in known for each in where_defined(term))
    if strange and not real:
        raise Refused(f"{term} is not known to be a real number")
    return sp.Symbol("m", real=True) if real and (strange or where_defined(term)) else term


def _has_value(value: Any, known: Collection[Proposition]) -> bool:
    """Is it known to be defined?"""
    return all(canonical(proposition(each)) in known for each in where_defined(value))


def _declared(letter: sp.Symbol, term: sp.Expr) -> bool:
    return all(getattr(term, f"is_{name}") is value for name, value in letter.assumptions0.items())


def _is_real(term: sp.MatrixExpr, known: Collection[Proposition] = ()) -> bool:
    """A matrix of real numbers that exists: sums and products of letters with real scales, and inverses that are known to."""
    if isinstance(term, sp.MatAdd | sp.MatMul | sp.Transpose):
        return all(_is_real(each, known) if each.is_Matrix else _is_number(each) for each in term.args)
    if isinstance(term, sp.Inverse):
        return _is_real(term.arg, known) and canonical(Atom(conditions.Nonsingular(term.arg))) in known
    return isinstance(term, sp.MatrixSymbol | sp.Identity | sp.ZeroMatrix)


def _is_number(scale: sp.Expr) -> bool:
    return real_where_defined(scale) and not where_defined(scale)


def witness(said: Proposition, value: Any, *proofs: Proved) -> Proved:
    """``guard(value)`` and ``P(value)`` give ``there is a letter with guard: P``."""
    if not isinstance(said, Exists):
        raise Refused("a witness is one for what exists")
    system, hypotheses = joined(proofs)
    missing = _lacking_at(said, value, proofs, said.guard, said.body)
    if missing:
        raise Refused(f"the witness is not shown to satisfy {missing}")
    return prove(said, "witness", proofs, system, hypotheses, detail={said.letter: value})


def exists_elimination(some: Proved, proved: Proved) -> Proved:
    """``there is a letter with guard: P`` and ``H, guard, P |- Q`` give ``H |- Q``, where H and Q do not speak of it."""
    said = some.proposition
    if not isinstance(said, Exists):
        raise Refused("the first premise must say that something exists")
    system, _ = joined((some, proved))
    left = without(proved.hypotheses, [said.guard, said.body])
    _arbitrary(said.letter, proved.system, (said.guard, said.body), (*left, proved.proposition))
    return prove(proved.proposition, "exists_elimination", (some, proved), system, (*left, *some.hypotheses))


def rewrite(equation: Proved, proved: Proved) -> Proved:
    """Equals for equals in the relations of a proposition, from left to right, outside of binders of its letters.

    Exponents stay: ``x^2`` has a value for every x, and ``x^k``, for a real k, for positive x alone.  Inverses stay, too: a
    relation with ``X^-1`` does not say that there is one, so that nothing may cancel it.
    """
    system, hypotheses = joined((equation, proved))
    relation = relation_of(equation.proposition)
    if not isinstance(relation, sp.Eq):
        raise Refused("only an equation rewrites")
    bound = free_letters(relation.lhs) | free_letters(relation.rhs)
    of_start = speaks_of_start(equation.proposition)

    def change(term: Any) -> Any:
        keep_sizes(term, {relation.lhs: relation.rhs})
        if any(each.exp.has(relation.lhs) for each in term.atoms(sp.Pow)):
            raise Refused(f"{relation.lhs} stands in an exponent of {term}: where that has a value would change")
        if relation.lhs.is_Matrix and (relation.has(sp.Inverse) or term.has(sp.Inverse)):
            raise Refused(
                f"{relation} would be put beside an inverse, which a relation does not say to exist: instantiate"
            )
        return exchange(term, {relation.lhs: relation.rhs})

    def rewritten(said: Proposition) -> Proposition:
        if isinstance(said, Atom):
            return said if relation_of(said) is None else exchanged(said, change)
        if (isinstance(said, ForAll | Exists) and said.letter in bound) or (
            isinstance(said, ForAlmostEvery) and of_start
        ):
            return said
        return inside(said, rewritten)

    return prove(rewritten(proved.proposition), "rewrite", (equation, proved), system, hypotheses)


def almost_everywhere(premises: Iterable[Proved], said: Any) -> Proved:
    """``P_1, ..., P_m`` for almost every start, and ``P_1 and ... and P_m => Q`` for every start, give Q for almost every start.

    The last premise is the implication; it must not rest on a hypothesis about the start.
    """
    *parts, rule = premises
    system, hypotheses = joined((*parts, rule))
    if not parts or not all(isinstance(each.proposition, ForAlmostEvery) for each in parts):
        raise Refused("what holds for almost every start comes first, the implication last")
    spoken = [each for each in rule.hypotheses if speaks_of_start(each)]
    if spoken:
        raise Refused("the implication rests on a hypothesis about the start")
    wanted = proposition(said)
    given = Conjunction(tuple(each.proposition.body for each in parts))
    if not same(rule.proposition, Implication(given, wanted)):
        raise Refused("the implication does not lead from what holds almost everywhere to what is wanted")
    return prove(ForAlmostEvery(wanted), "almost_everywhere", (*parts, rule), system, hypotheses)


def speaks_of_start(said: Proposition) -> bool:
    """Does it speak of the trajectory, or of where it starts?"""
    if isinstance(said, ForAlmostEvery):
        return False
    if isinstance(said, Atom):
        relation = relation_of(said)
        if relation is None:
            somewhere = isinstance(getattr(said.word, "place", None), SomeEquilibrium)
            return somewhere or not isinstance(said.word, ABOUT_WEIGHTS)
        return relation.has(Angle, AppliedUndef) or any(each.time is not None for each in relation.atoms(Tensor))
    return any(map(speaks_of_start, children(said)))
