"""CERTIFIED for conditions: a verdict about one exact instance, by exact arithmetic or by balls that exclude zero."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from eigentoken.numerics.certified.dominant_pairs import shared_pair
from eigentoken.numerics.certified.exact_matrices import ExactMatrix
from eigentoken.numerics.instances.exact_values import BITS, Case, NoValue, relation_truth, zero
from eigentoken.numerics.readings.exact_places import same_tokens
from eigentoken.theory.language import conditions
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.verdicts import Verdict, all_of, any_of, fails, holds, undecided

__all__ = ["negated", "verdict_of"]


def verdict_of(truth: bool | None, said: str) -> Verdict:
    """The verdict for an answer of exact or ball arithmetic."""
    if truth is None:
        return undecided(f"neither exact arithmetic nor {BITS[-1]} bits tell whether {said}")
    return (
        holds(f"{said}: exact or ball arithmetic")
        if truth
        else fails(f"not true that {said}: exact or ball arithmetic")
    )


@CERTIFIED.register(conditions.Symmetric)
def certified_symmetric(condition: conditions.Symmetric, case: Case) -> Verdict:
    return _guarded(lambda: verdict_of(case.is_symmetric(condition.term), f"{condition.term} is symmetric"))


def _definite(condition: Any, case: Case, sense: int, weak: bool, said: str) -> Verdict:
    """Signs of all eigenvalues of the symmetric part; ``weak`` admits zero, which only exact arithmetic can see."""
    half = (condition.term + condition.term.T) / 2
    listed = case.rational_eigenvalues(half)
    text = f"{condition.term} is {said} definite"
    if listed is not None:
        return verdict_of(all(sense * value > 0 or (weak and value == 0) for value in listed), text)
    minors = _minors(case.matrix(half) * sense)
    if not weak and minors is not None:
        return verdict_of(minors, text)
    for bits in BITS:
        values = [sense * each.real for each in case.eigenvalues(half, bits)]
        if all(value > 0 for value in values):
            return verdict_of(True, text)
        if any(value < 0 for value in values):
            return verdict_of(False, text)
    return verdict_of(None, text)


def _minors(value: sp.Matrix) -> bool | None:
    """Sylvester's criterion on exact rational entries."""
    if not all(entry.is_Rational for entry in value):
        return None
    return all(value[:size, :size].det() > 0 for size in range(1, value.rows + 1))


@CERTIFIED.register(conditions.PositiveDefinite)
def certified_positive_definite(condition: conditions.PositiveDefinite, case: Case) -> Verdict:
    return _guarded(lambda: _definite(condition, case, 1, False, "positive"))


@CERTIFIED.register(conditions.PositiveSemidefinite)
def certified_positive_semidefinite(condition: conditions.PositiveSemidefinite, case: Case) -> Verdict:
    return _guarded(lambda: _definite(condition, case, 1, True, "positive semi"))


@CERTIFIED.register(conditions.NegativeDefinite)
def certified_negative_definite(condition: conditions.NegativeDefinite, case: Case) -> Verdict:
    return _guarded(lambda: _definite(condition, case, -1, False, "negative"))


def _guarded(ask: Any) -> Verdict:
    try:
        found: Verdict = ask()
    except NoValue as problem:
        return undecided(str(problem))
    return found


@CERTIFIED.register(conditions.Nonsingular)
def certified_nonsingular(condition: conditions.Nonsingular, case: Case) -> Verdict:
    def ask() -> Verdict:
        found = zero(case.matrix(condition.term).det())
        return verdict_of(None if found is None else not found, f"{condition.term} is invertible")

    return _guarded(ask)


@CERTIFIED.register(conditions.SimpleTop)
def certified_simple_top(condition: conditions.SimpleTop, case: Case) -> Verdict:
    return _guarded(lambda: _top(condition.term, case, modulus=False))


@CERTIFIED.register(conditions.NonPrincipalModulusBelow)
def certified_non_principal_modulus_below(condition: conditions.NonPrincipalModulusBelow, case: Case) -> Verdict:
    return _guarded(lambda: _top(condition.term, case, modulus=True))


def _top(term: Any, case: Case, modulus: bool) -> Verdict:
    said = f"the top eigenvalue of {term} is real, simple and ahead" + (" in modulus" if modulus else "")
    listed = case.rational_eigenvalues(term)
    if listed is not None:
        top = max(listed)
        others = [value for value in listed if value != top]
        ahead = listed[top] == 1 and (not modulus or all(abs(value) < top for value in others))
        return verdict_of(ahead, said)
    for bits in BITS:
        values = case.eigenvalues(term, bits)
        for best, leader in enumerate(values):
            others = [value for i, value in enumerate(values) if i != best]
            if all((abs(value) if modulus else value.real) < leader.real for value in others):
                return verdict_of(True, said)  # separated from its conjugate, hence real and simple
            if not leader.imag.contains(0) and all(
                value.real < leader.real for value in others if value.imag.contains(0)
            ):
                return verdict_of(False, said)  # no real eigenvalue is at the top
        if modulus and any(all(abs(value) > other.real for other in values) for value in values):
            return verdict_of(False, said)
    exact = all(entry.is_Rational for entry in case.matrix(term))
    return verdict_of(False if exact and _repeated_top(term, case) else None, said)


def _repeated_top(term: Any, case: Case) -> bool:
    """A repeated root of the characteristic polynomial, exactly, at the top of a symmetric matrix."""
    if case.is_symmetric(term) is not True:
        return False
    z = sp.Symbol("z")
    polynomial = case.matrix(term).charpoly(z).as_expr()
    roots = sp.Poly(polynomial, z).real_roots()  # in ascending order, repeated by multiplicity, exact
    return len(roots) > 1 and bool(roots[-1] == roots[-2])


@CERTIFIED.register(conditions.Relation)
def certified_relation(condition: conditions.Relation, case: Case) -> Verdict:
    return _guarded(lambda: verdict_of(relation_truth(case, condition.relation), str(condition.relation)))


@CERTIFIED.register(conditions.InHemisphere)
def certified_in_hemisphere(condition: conditions.InHemisphere, case: Case) -> Verdict:
    normal = condition.normal
    if normal is None:
        return _some_hemisphere(case)

    def ask() -> Verdict:
        term = normal.T if condition.left else normal
        vector = case.eigenvector(term, 1)
        heights = [relation_truth(case, sp.Gt((vector.T * token)[0, 0], 0, evaluate=False)) for token in case.tokens()]
        depths = [relation_truth(case, sp.Lt((vector.T * token)[0, 0], 0, evaluate=False)) for token in case.tokens()]
        said = f"all tokens are on one side of the top eigenvector of {condition.normal}"
        if all(heights) or all(depths):
            return verdict_of(True, said)
        decided = all(each is not None for each in (*heights, *depths))
        return verdict_of(False if decided else None, said)

    return _guarded(ask)


def _some_hemisphere(case: Case) -> Verdict:
    from eigentoken.numerics.dynamics.hemisphere import in_open_hemisphere

    rows = [list(token) for token in case.instance.tokens]
    if all(entry.is_Rational for row in rows for entry in row):
        return in_open_hemisphere([[str(entry) for entry in row] for row in rows])
    approximate = in_open_hemisphere(
        [[str(sp.Rational(round(float(e) * 10**12), 10**12)) for e in row] for row in rows]
    )
    if approximate.is_holds and approximate.certificate is not None:
        shown = approximate.certificate.data["vector"]
        assert isinstance(shown, list)
        vector = [sp.Rational(entry) for entry in shown]
        heights = [sp.Gt(sum(a * b for a, b in zip(vector, row, strict=True)), 0, evaluate=False) for row in rows]
        if all(relation_truth(case, each) is True for each in heights):
            return holds(f"all tokens have a positive product with {tuple(map(str, vector))}")
    exact_opposite = any(
        all(zero(a + b) is True for a, b in zip(first, second, strict=True))
        for i, first in enumerate(rows)
        for second in rows[:i]
    )
    if exact_opposite:
        return fails("two tokens are opposite: no open hemisphere holds both")
    return undecided("tokens that are not rational: no separating vector was confirmed")


@CERTIFIED.register(conditions.NotAllEqual)
def certified_not_all_equal(condition: conditions.NotAllEqual, case: Case) -> Verdict:
    first = case.instance.tokens[0]
    answers = [zero(a - b) for token in case.instance.tokens[1:] for a, b in zip(token, first, strict=True)]
    truth = True if any(each is False for each in answers) else (False if all(answers) else None)
    return verdict_of(truth, "the tokens are not all equal")


@CERTIFIED.register(conditions.BoundedInTime, conditions.UniformlyContinuous)
def certified_bounded_in_time_or_uniformly_continuous(condition: Any, case: Case) -> Verdict:
    """An exact instance has constant parameters, which are bounded and uniformly continuous."""
    case.named(condition.name)
    return holds(f"{condition.name} is constant in an exact instance")


@CERTIFIED.register(conditions.Commute)
def certified_commute(condition: conditions.Commute, case: Case) -> Verdict:
    def ask() -> Verdict:
        first, second = case.matrix(condition.first), case.matrix(condition.second)
        answers = [zero(entry) for entry in first * second - second * first]
        truth = False if any(each is False for each in answers) else (True if all(answers) else None)
        return verdict_of(truth, f"{condition.first} and {condition.second} commute")

    return _guarded(ask)


@CERTIFIED.register(conditions.SharesTopEigenvector)
def certified_shares_top_eigenvector(condition: conditions.SharesTopEigenvector, case: Case) -> Verdict:
    def ask() -> Verdict:
        said = f"all {condition.name}_h are symmetric with one simple positive top eigenvector"
        heads = case.instance.parameters.get("heads", (case.instance.parameters,))
        vector = None
        for head in heads:
            value = sp.Matrix([list(row) for row in head[condition.name]])
            one = Case(case.instance, case.k, case.p, _memory={_OWN: value})
            listed = one.rational_eigenvalues(_OWN)
            if one.is_symmetric(_OWN) is not True or listed is None:
                return verdict_of(one.is_symmetric(_OWN) and None, said)
            if listed[max(listed)] != 1 or max(listed) <= 0:
                return verdict_of(False, said)
            own = one.eigenvector(_OWN, 1)
            vector = own if vector is None else vector
            if sp.Matrix.hstack(vector, own).rank() != 1:
                return verdict_of(False, said)
        return verdict_of(True, said)

    return _guarded(ask)


_OWN = sp.MatrixSymbol("own", 1, 1)


@CERTIFIED.register(conditions.AllOf)
def certified_all_of(condition: conditions.AllOf, case: Case) -> Verdict:
    return all_of({f"part {index + 1}": CERTIFIED(part, case) for index, part in enumerate(condition.parts)})


@CERTIFIED.register(conditions.AnyOf)
def certified_any_of(condition: conditions.AnyOf, case: Case) -> Verdict:
    return any_of({f"part {index + 1}": CERTIFIED(part, case) for index, part in enumerate(condition.parts)})


@CERTIFIED.register(conditions.Not)
def certified_not(condition: conditions.Not, case: Case) -> Verdict:
    return negated(CERTIFIED(condition.part, case))


def negated(verdict: Verdict) -> Verdict:
    """The verdict about the opposite."""
    if verdict.is_undecided:
        return verdict
    return fails(verdict.reason) if verdict.is_holds else holds(verdict.reason)


@CERTIFIED.register(conditions.IsIdentity)
def certified_is_identity(condition: conditions.IsIdentity, case: Case) -> Verdict:
    name = getattr(condition.term, "name", "")
    heads = case.instance.parameters.get("heads", ())
    values = [sp.Matrix([list(row) for row in head[name]]) for head in heads if name in head]
    answers = [zero(entry) for value in values or [case.matrix(condition.term)] for entry in value - sp.eye(case.d)]
    truth = False if any(each is False for each in answers) else (True if all(answers) else None)
    return verdict_of(truth, f"{condition.term} is the identity")


@CERTIFIED.register(MultipleOf)
def certified_multiple_of(condition: MultipleOf, case: Case) -> Verdict:
    """All ``2 x 2`` minors of the entries with one entry of Y that is not zero vanish; where Y = 0, X = 0."""
    value = case.matrix(condition.term)
    of = sp.eye(case.d) if condition.of == IDENTITY else case.matrix(condition.of)
    said = f"{condition.term} is a multiple of {condition.of}"
    empty = [zero(entry) for entry in of]
    if any(each is None for each in empty):
        return verdict_of(None, said)
    pivot = next((place for place, each in enumerate(empty) if each is False), None)
    minors = (
        list(value) if pivot is None else [a * of[pivot] - value[pivot] * b for a, b in zip(value, of, strict=True)]
    )
    answers = [zero(entry) for entry in minors]
    return verdict_of(False if any(each is False for each in answers) else all(answers) or None, said)


@CERTIFIED.register(conditions.ShareDominantPair)
def certified_share_dominant_pair(condition: conditions.ShareDominantPair, case: Case) -> Verdict:
    heads = case.instance.parameters.get("heads", (case.instance.parameters,))
    rows = [[list(map(sp.sympify, row)) for row in head[condition.name]] for head in heads]
    if any(not entry.is_Rational for value in rows for row in value for entry in row):
        return undecided("a common pair is looked for in rational matrices")
    exact = [
        ExactMatrix.from_fractions([[Fraction(int(e.p), int(e.q)) for e in row] for row in value]) for value in rows
    ]
    dominant = [conditions.NonPrincipalModulusBelow(_OWN) for _ in exact]
    for index, (value, asked) in enumerate(zip(rows, dominant, strict=True)):
        own = CERTIFIED(asked, Case(case.instance, case.k, case.p, _memory={_OWN: sp.Matrix(value)}))
        if own.is_fails:
            return replace(own, reason=f"head {index} has no dominant positive eigenvalue: {own.reason}")
    return shared_pair(exact)


_OWN = sp.MatrixSymbol("own", 1, 1)


@CERTIFIED.register(conditions.NoneOpposite)
def certified_none_opposite(condition: conditions.NoneOpposite, case: Case) -> Verdict:
    first, *others = case.instance.tokens
    answers = [same_tokens(token, first, -1) for token in others]
    truth = False if any(each is True for each in answers) else None if any(each is None for each in answers) else True
    return verdict_of(truth, "no token is opposite to the first")


@CERTIFIED.register(conditions.NotAllZero)
def certified_not_all_zero(condition: conditions.NotAllZero, case: Case) -> Verdict:
    answers = [zero(entry) for token in case.instance.tokens for entry in token]
    truth = True if any(each is False for each in answers) else (False if all(answers) else None)
    return verdict_of(truth, "some token is not zero")
