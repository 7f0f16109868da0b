"""Rules of arithmetic: identities by normal form, real arithmetic by a decision procedure, each asked a second time elsewhere.

Quantities that are no numbers of a formula (eigenvalues, norms, inner products) are opaque reals here: what is proved holds for
all values that they could have.  What is concluded is proved to be defined; a premise says that of itself where it is a
conjunction of relations, and elsewhere (a case, a negation) it must follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from eigentoken.theory.kernel.closed import BITS, is_closed, sign
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    Implication,
    Negation,
    Proposition,
    children,
    conjuncts,
    proposition,
    relation_of,
    relations_in,
)
from eigentoken.theory.kernel.proved import Enclosed, Proved, Refused, SolverQuestion, joined, prove
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.terms import MatrixNumber
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.proving.real_arithmetic import integers_follow
from eigentoken.theory.proving.real_arithmetic import prove as decide

__all__ = ["arithmetic", "enclosure", "identity", "integers", "opaque", "scalar_form", "second_opinion"]


_BOOLEANS: dict[type, Any] = {
    Conjunction: sp.And,
    Disjunction: sp.Or,
    Negation: sp.Not,
    Implication: sp.Implies,
    Equivalence: sp.Equivalent,
}


def scalar_form(said: Proposition) -> Any:
    """A proposition without binders whose atoms are relations, as a sympy Boolean."""
    if isinstance(said, Atom) and isinstance(said.word, Relation):
        return said.word.relation
    if type(said) in _BOOLEANS:
        return _BOOLEANS[type(said)](*map(scalar_form, children(said)))
    raise Refused(f"arithmetic reads relations and connectives, got {said!r}: take it at a value, or unfold it, first")


def opaque(statements: Iterable[Any]) -> dict[Any, sp.Symbol]:
    """A real symbol for every quantity that occurs, to replace it by."""
    given = [sp.sympify(each) for each in statements]
    found: dict[Any, sp.Symbol] = {}
    for each in given:
        for quantity in sorted(each.atoms(MatrixNumber, Tensor, AppliedUndef), key=sp.default_sort_key):
            found.setdefault(quantity, sp.Symbol(f"q_{len(found)}", real=True))
    clash = {each.name for each in found.values()} & {symbol.name for each in given for symbol in each.free_symbols}
    if clash:
        raise Refused(f"the letters {sorted(clash)} are those of the solver: choose others")
    return found


def _defined(said: Proposition) -> frozenset[Any]:
    """Where every term of every relation in it has a value."""
    return frozenset().union(*map(where_defined, relations_in(said)))


def _decided(assumed: list[Any], goal: Any, seconds: float) -> Verdict:
    """Each conjunct of the goal by itself, those that say where it is defined first."""
    letters = {each for one in (*assumed, goal) for each in sp.sympify(one).free_symbols}
    unreal = sorted(str(each) for each in letters if each.is_real is False or not each.is_commutative)
    if unreal:
        raise Refused(f"real arithmetic is about real numbers, not {', '.join(unreal)}")
    known, verdict = list(assumed), holds("nothing is asked")
    try:
        for part in sorted(sp.And.make_args(goal), key=lambda each: not isinstance(each, sp.Ne)):
            verdict = decide(known, part, seconds=seconds, vacuous_allowed=True)
            if not verdict.is_holds:
                return verdict
            known += [part] if isinstance(part, sp.Ne) else []  # where the terms of the others are defined
    except (TypeError, ValueError) as problem:
        raise Refused(f"real arithmetic cannot read it: {problem}") from problem
    return verdict


def _read(statement: sp.Basic, table: dict[Any, sp.Symbol]) -> sp.Basic:
    """The statement with symbols for quantities; what its letters say of a relation, the solver finds."""
    if isinstance(statement, sp.core.relational.Relational):
        sides = [side.xreplace(table) for side in statement.args]
        if all(map(is_, sides, statement.args)):
            return statement
        return statement.func(*sides, evaluate=sides[0] == sides[1])
    return statement.func(*(_read(part, table) for part in statement.args)) if statement.args else statement


def _follows(
    given: Iterable[Proposition], wanted: Any, conditions: Iterable[Any], seconds: float = 90.0
) -> SolverQuestion:
    """The question whether ``wanted`` (a Boolean) and the conditions follow, answered with yes; or refused."""
    parts = [part for each in given for part in conjuncts(each)]
    plain = [each for each in parts if isinstance(each, Atom)]
    said = frozenset().union(*map(_defined, plain))
    unsure = frozenset().union(*map(_defined, parts)) - said
    known = sorted(said, key=sp.default_sort_key)  # one order in every process: the same question is asked again
    asserted, assumed = [*map(scalar_form, plain), *known], [*map(scalar_form, parts), *known]
    table = opaque([*assumed, *unsure, *conditions, wanted])

    def asked(hypotheses: Iterable[Any], conclusion: Any) -> SolverQuestion:
        read = [_read(sp.sympify(each), table) for each in (*hypotheses, conclusion)]
        verdict = _decided(read[:-1], read[-1], seconds)
        if not verdict.is_holds:
            raise Refused(f"it does not follow: {conclusion}: {verdict.reason}")
        return SolverQuestion(tuple(read[:-1]), read[-1])

    if unsure:  # in a case or a negation: nothing says that it is defined
        asked(asserted, sp.And(*sorted(unsure, key=sp.default_sort_key)))
    return asked(assumed, sp.And(wanted, *sorted(conditions, key=sp.default_sort_key)))


def check_defined(said: Atom, given: Iterable[Proposition]) -> None:
    """Refuses where the terms of the atom could be undefined although what is given holds."""
    needed = where_defined(said.word)
    if needed:
        _follows(given, sp.true, needed)


def arithmetic(premises: Iterable[Proved], said: Any, *, seconds: float = 90.0) -> Proved:
    """What follows over the reals: the negation has no solution (z3; cvc5 when asked again)."""
    given = tuple(premises)
    wanted = proposition(said)
    system, hypotheses = joined(given)
    question = _follows([each.proposition for each in given], scalar_form(wanted), _defined(wanted), seconds)
    return prove(wanted, "arithmetic", given, system, hypotheses, question)


def integers(premises: Iterable[Proved], said: Any) -> Proved:
    """What follows for integers: polynomial relations between integer letters (z3).

    >>> from eigentoken.theory.language.terms import ell
    >>> integers([], sp.Or(sp.Eq(ell, 1), sp.Ge(ell, 2))).rule
    'integers'
    """
    given, wanted = tuple(premises), proposition(said)
    system, hypotheses = joined(given)
    try:
        question = integers_follow([scalar_form(each.proposition) for each in given], scalar_form(wanted))
    except TypeError as problem:
        raise Refused(f"arithmetic of integers cannot read it: {problem}") from problem
    if question is None:
        raise Refused("it does not follow for integers")
    return prove(wanted, "integers", given, system, hypotheses, question)


def only_integers(said: Proposition) -> bool:
    """Is it a relation between integer letters?"""
    relation = relation_of(said)
    if relation is None or relation.atoms(MatrixNumber, Tensor):
        return False
    return all(each.is_integer for each in relation.free_symbols)


def enclosure(said: Any) -> Proved:
    """A relation between numbers without letters, decided in balls: ``exp(-6) < 1/400``.

    Refused are a false one, numbers that no precision tells apart (equal ones never are: see :func:`identity`), and a term that
    is not known to have a value.

    >>> enclosure(sp.Lt(sp.exp(-6), sp.Rational(1, 400), evaluate=False)).detail.left
    '0.00248'
    """
    wanted = proposition(said)
    relation = relation_of(wanted)
    if relation is None or isinstance(relation, sp.Eq) or not all(map(is_closed, relation.args)):
        raise Refused(f"balls decide inequalities of numbers without letters, got {wanted!r}")
    above = sign(sp.Add(relation.lhs, sp.Mul(-1, relation.rhs, evaluate=False), evaluate=False))
    if above is None:
        raise Refused(f"balls of {BITS[-1]} bits do not tell the two sides apart: {relation}")
    if not (isinstance(relation, sp.Ne) or isinstance(relation, sp.Lt | sp.Le) == (above < 0)):
        raise Refused(f"it is false: {relation}")
    return prove(wanted, "enclosure", (), None, (), Enclosed(relation))


def identity(left: Any, right: Any, *premises: Proved) -> Proved:
    """``left = right`` by normal form; where a side could be undefined, the premises must rule that out."""
    system, hypotheses = joined(premises)
    wanted = Atom(Relation(sp.Eq(left, right, evaluate=False)))
    table = opaque([left, right])
    one, other = sp.sympify(left).xreplace(table), sp.sympify(right).xreplace(table)
    verdict = identity_verdict(one, other)
    if not verdict.is_holds:
        raise Refused(f"the two sides are not the same: {verdict.reason}")
    check_defined(wanted, [each.proposition for each in premises])
    return prove(wanted, "identity", premises, system, hypotheses, SolverQuestion((one,), other, identity=True))


def second_opinion(proved: Proved) -> Verdict | None:
    """The same question to an arithmetic that shares no code with the first: FLINT, cvc5, intervals of mpmath."""
    question = proved.detail
    if isinstance(question, Enclosed):
        from eigentoken.theory.proving.real_arithmetic import truth_at

        truth = truth_at(question.relation, {})
        told = "the intervals of mpmath"
        return undecided(told) if truth is None else holds(told) if truth else fails(told)
    if not isinstance(question, SolverQuestion):
        return None
    if question.identity:
        from eigentoken.theory.proving.flint_identities import identity_by_flint

        return identity_by_flint(question.hypotheses[0], question.conclusion)
    from eigentoken.theory.proving.cvc5_process import guarded_inequality

    return guarded_inequality(question.hypotheses, question.conclusion)
