"""The re-check's own tables of what a condition, and a quantity, is on one exact instance: by sympy, Fractions and intervals.

``CONDITION_TRUTH(condition, look, data)`` is True, False, or None where there is no method.  ``data`` is that of the certificate,
and not trusted.  Nothing of the issuer's readings (``CERTIFIED``, ``EXACT``, ``ENCLOSURE``) is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import counts_outside, interval
from eigentoken.numerics.recheck.refutations.region_truths import inside
from eigentoken.theory.language import conditions, matrix_words, regions, terms
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.readings import Reading
from eigentoken.theory.systems.system import Time

__all__ = ["CONDITION_TRUTH", "EXACT_NUMBER"]

Data = Mapping[str, Any]

CONDITION_TRUTH: Reading[bool | None] = Reading("truth", "is it true of this instance, by the second arithmetic?")
EXACT_NUMBER: Reading[Any] = Reading("number", "what is it on this instance, by the second arithmetic?")


@CONDITION_TRUTH.register(conditions.Condition)
def truth_unknown(word: conditions.Condition, look: IndependentInstance, data: Data) -> None:
    """No method."""
    return


@CONDITION_TRUTH.register(conditions.Symmetric)
def truth_symmetric(word: conditions.Symmetric, look: IndependentInstance, data: Data) -> bool:
    value = look.matrix(word.term)
    return bool(value == value.T)


def _ends_of_symmetric_part(term: Any, look: IndependentInstance) -> tuple[Any, Any] | None:
    """The largest and the smallest eigenvalue of ``(X + X^T) / 2``."""
    value = look.matrix(term)
    roots = look.roots((value + value.T) / 2)
    return None if roots is None else (roots[0], roots[-1])


@CONDITION_TRUTH.register(conditions.PositiveDefinite)
def truth_positive_definite(word: conditions.PositiveDefinite, look: IndependentInstance, data: Data) -> bool | None:
    ends = _ends_of_symmetric_part(word.term, look)
    return None if ends is None else bool(ends[1] > 0)


@CONDITION_TRUTH.register(conditions.PositiveSemidefinite)
def truth_positive_semidefinite(
    word: conditions.PositiveSemidefinite, look: IndependentInstance, data: Data
) -> bool | None:
    ends = _ends_of_symmetric_part(word.term, look)
    return None if ends is None else bool(ends[1] >= 0)


@CONDITION_TRUTH.register(conditions.NegativeDefinite)
def truth_negative_definite(word: conditions.NegativeDefinite, look: IndependentInstance, data: Data) -> bool | None:
    ends = _ends_of_symmetric_part(word.term, look)
    return None if ends is None else bool(ends[0] < 0)


@CONDITION_TRUTH.register(conditions.Nonsingular)
def truth_nonsingular(word: conditions.Nonsingular, look: IndependentInstance, data: Data) -> bool:
    return bool(look.matrix(word.term).det() != 0)


@CONDITION_TRUTH.register(conditions.SimpleTop)
def truth_simple_top(word: conditions.SimpleTop, look: IndependentInstance, data: Data) -> bool | None:
    value = look.matrix(word.term)
    roots = look.roots(value)
    if roots is None:
        return True if look.simple_top(value) is not None else None
    return len(roots) == 1 or bool(roots[0] > roots[1])


@CONDITION_TRUTH.register(conditions.NonPrincipalModulusBelow)
def truth_non_principal_modulus_below(
    word: conditions.NonPrincipalModulusBelow, look: IndependentInstance, data: Data
) -> bool | None:
    roots = look.roots(look.matrix(word.term))
    return None if roots is None else all(bool(sp.Abs(root) < roots[0]) for root in roots[1:])


@CONDITION_TRUTH.register(conditions.AllOf)
def truth_all_of(word: conditions.AllOf, look: IndependentInstance, data: Data) -> bool | None:
    parts = [CONDITION_TRUTH(part, look, {}) for part in word.parts]
    return None if any(part is None for part in parts) else all(parts)


@CONDITION_TRUTH.register(conditions.AnyOf)
def truth_any_of(word: conditions.AnyOf, look: IndependentInstance, data: Data) -> bool | None:
    parts = [CONDITION_TRUTH(part, look, {}) for part in word.parts]
    return None if any(part is None for part in parts) else any(parts)


@CONDITION_TRUTH.register(conditions.Not)
def truth_not(word: conditions.Not, look: IndependentInstance, data: Data) -> bool | None:
    inner = CONDITION_TRUTH(word.part, look, {})
    return None if inner is None else not inner


@CONDITION_TRUTH.register(conditions.Commute)
def truth_commute(word: conditions.Commute, look: IndependentInstance, data: Data) -> bool:
    first, second = look.matrix(word.first), look.matrix(word.second)
    return bool(first * second == second * first)


@CONDITION_TRUTH.register(conditions.NotAllEqual)
def truth_not_all_equal(word: conditions.NotAllEqual, look: IndependentInstance, data: Data) -> bool | None:
    fixed = look.instance.tokens if look.arc is None else look.instance.tokens[:-1]
    return True if len(set(fixed)) > 1 else None if look.arc else False


@CONDITION_TRUTH.register(conditions.NotAllZero)
def truth_not_all_zero(word: conditions.NotAllZero, look: IndependentInstance, data: Data) -> bool | None:
    return None if look.arc else any(entry != 0 for token in look.instance.tokens for entry in token)


@CONDITION_TRUTH.register(conditions.NoneOpposite)
def truth_none_opposite(word: conditions.NoneOpposite, look: IndependentInstance, data: Data) -> bool | None:
    """Exact; on an arc, minus the first token is outside: the cosine of the angle is below that of the half width."""
    first, *others = (sp.Matrix(token) for token in look.instance.tokens)
    if any(sp.simplify(token + first) == sp.zeros(look.instance.d, 1) for token in others):
        return False
    if look.arc is None or not others:
        return True
    cosine = -(first.T * others[-1])[0, 0]
    return True if cosine < sp.Rational(look.arc**2 - 1, look.arc**2 + 1) else None


@CONDITION_TRUTH.register(conditions.BoundedInTime, conditions.UniformlyContinuous)
def truth_of_a_constant(word: conditions.Condition, look: IndependentInstance, data: Data) -> bool:
    """The parameters of an instance do not depend on time."""
    return True


@CONDITION_TRUTH.register(conditions.IsIdentity)
def truth_is_identity(word: conditions.IsIdentity, look: IndependentInstance, data: Data) -> bool:
    unit = sp.eye(look.instance.d)
    if not isinstance(word.term, sp.MatrixSymbol):
        return bool(look.matrix(word.term) == unit)
    heads = look.instance.parameters.get("heads", (look.instance.parameters,))
    return all(sp.Matrix(head[word.term.name]) == unit for head in heads)


@CONDITION_TRUTH.register(MultipleOf)
def truth_multiple_of(word: MultipleOf, look: IndependentInstance, data: Data) -> bool | None:
    """The rank of the two matrices, written as columns, is at most one, or X = 0; rational entries only."""
    value = look.matrix(word.term)
    of = sp.eye(look.instance.d) if word.of == IDENTITY else look.matrix(word.of)
    if not all(entry.is_Rational for entry in (*value, *of)):
        return None
    if value == sp.zeros(*value.shape):
        return True
    return bool(of != sp.zeros(*of.shape) and sp.Matrix([list(value), list(of)]).rank() == 1)


@CONDITION_TRUTH.register(conditions.SharesTopEigenvector)
def truth_shares_top_eigenvector(
    word: conditions.SharesTopEigenvector, look: IndependentInstance, data: Data
) -> bool | None:
    """Each head is symmetric, and the first of them has a top eigenvector that is simple, positive, and top for all."""
    heads = look.instance.parameters.get("heads", (look.instance.parameters,))
    values = [sp.Matrix(head[word.name]) for head in heads]
    if any(value != value.T for value in values):
        return False
    roots = [look.roots(value) for value in values]
    vector = look.eigenvector(values[0], 1)
    if vector is None or any(each is None for each in roots):
        return None
    for value, listed in zip(values, roots, strict=True):
        assert listed is not None
        if not listed[0] > 0 or (len(listed) > 1 and not listed[0] > listed[1]):
            return False
        if value * vector != listed[0] * vector:
            return False
    return True


@CONDITION_TRUTH.register(conditions.InHemisphere)
def truth_in_hemisphere(word: conditions.InHemisphere, look: IndependentInstance, data: Data) -> bool | None:
    if look.arc is not None:
        return None
    if word.normal is None:  # the vector of the certificate, or the sum of the tokens
        tokens = [[interval(entry) for entry in token] for token in look.instance.tokens]
        given = [sp.Rational(str(entry)) for entry in data.get("data", {}).get("vector", ())]
        proposals = [[interval(entry) for entry in given]] if len(given) == look.instance.d else []
        proposals.append([sum(column[1:], column[0]) for column in zip(*tokens, strict=True)])
        up = [all(sum((a * b for a, b in zip(w, x, strict=True)), iv.mpf(0)).a > 0 for x in tokens) for w in proposals]
        return True if any(up) else None
    value = look.matrix(word.normal)
    vector = look.eigenvector(value.T if word.left else value, 1)
    if vector is None:
        return None
    heights = [(sp.Matrix(token).T * vector)[0, 0] for token in look.instance.tokens]
    return all(bool(h > 0) for h in heights) or all(bool(h < 0) for h in heights)


@CONDITION_TRUTH.register(matrix_words.IsZero)
def truth_is_zero(word: matrix_words.IsZero, look: IndependentInstance, data: Data) -> bool | None:
    value = look.matrix(word.term)
    return bool(value == sp.zeros(*value.shape)) if all(entry.is_Rational for entry in value) else None


@CONDITION_TRUTH.register(matrix_words.Stochastic)
def truth_stochastic(word: matrix_words.Stochastic, look: IndependentInstance, data: Data) -> bool | None:
    """``X 1 = 1`` (and ``X^T 1 = 1``) with no negative entry, rational entries only."""
    value = look.matrix(word.term)
    if not all(entry.is_Rational for entry in value):
        return None
    ones = sp.ones(value.rows, 1)
    sides = (value, value.T) if word.doubly else (value,)
    return min(value) >= 0 and all(side * ones == ones for side in sides)


@CONDITION_TRUTH.register(matrix_words.EachHead)
def truth_each_head(word: matrix_words.EachHead, look: IndependentInstance, data: Data) -> bool | None:
    parts = [CONDITION_TRUTH(word.part, each, {}) for each in look.heads_alone()]
    return None if any(part is None for part in parts) else all(parts)


@CONDITION_TRUTH.register(regions.StartsIn)
def truth_starts_in(word: regions.StartsIn, look: IndependentInstance, data: Data) -> bool | None:
    return None if look.arc is not None else inside(word.region, look)


# --- relations of quantities -----------------------------------------------------------------------------------------


@CONDITION_TRUTH.register(conditions.Relation)
def truth_relation(word: conditions.Relation, look: IndependentInstance, data: Data) -> bool | None:
    relation = word.relation
    top = _below(relation, look)
    if top is not None:
        return top
    answers = []
    for ell in look.indices(relation):
        values = {number: EXACT_NUMBER(number, look, ell) for number in relation.atoms(terms.MatrixNumber)}
        if any(value is None for value in values.values()):
            return None
        answer = relation.xreplace(values).subs(look.sizes(ell))
        answer = answer if answer in (sp.true, sp.false) else sp.simplify(answer)
        if answer not in (sp.true, sp.false):
            return None
        answers.append(bool(answer))
    return all(answers)


def _below(relation: Any, look: IndependentInstance) -> bool | None:
    """``lambda_1(X) < c`` for a number c: no eigenvalue is right of the line ``Re = c``; ``None`` where not told so."""
    if not isinstance(relation, sp.StrictLessThan) or not isinstance(relation.lhs, terms.Eigenvalue):
        return None
    term, index = relation.lhs.args
    if index != 1 or not relation.rhs.is_Rational or look.roots(look.matrix(term)) is not None:
        return None
    value = look.matrix(term)
    if not all(entry.is_Rational for entry in value):
        return None
    rows = [
        [interval(entry - (relation.rhs if i == j else 0)) for j, entry in enumerate(value.row(i))]
        for i in range(value.rows)
    ]
    return True if counts_outside(rows, Time.FLOW, 0.0) == 0 else None


@EXACT_NUMBER.register(terms.MatrixNumber)
def number_unknown(number: terms.MatrixNumber, look: IndependentInstance, ell: int | None) -> None:
    """No method."""
    return


@EXACT_NUMBER.register(terms.Eigenvalue)
def number_eigenvalue(number: terms.Eigenvalue, look: IndependentInstance, ell: int | None) -> Any:
    value = look.matrix(number.args[0])
    roots = look.roots(value)
    index = number.args[1].subs(look.sizes(ell))
    if roots is None and index == 1:
        return look.simple_top(value)
    return None if roots is None or not 1 <= index <= len(roots) else roots[int(index) - 1]


@EXACT_NUMBER.register(terms.SpectralNorm)
def number_spectral_norm(number: terms.SpectralNorm, look: IndependentInstance, ell: int | None) -> Any:
    value = look.matrix(number.args[0])
    if value != value.T:
        roots = look.roots(value.T * value)
        return None if roots is None else sp.sqrt(roots[0])
    roots = look.roots(value)
    return None if roots is None else sp.Max(*(sp.Abs(root) for root in roots))


@EXACT_NUMBER.register(terms.ScoreAtEigenvector)
def number_score_at_eigenvector(number: terms.ScoreAtEigenvector, look: IndependentInstance, ell: int | None) -> Any:
    vector = look.eigenvector(look.matrix(number.args[1]), int(number.args[2].subs(look.sizes(ell))))
    if vector is None:
        return None
    return (vector.T * look.matrix(number.args[0]) * vector)[0, 0] / (vector.T * vector)[0, 0]


@EXACT_NUMBER.register(EigenvalueGap)
def number_eigenvalue_gap(number: EigenvalueGap, look: IndependentInstance, ell: int | None) -> Any:
    """The least difference of neighbours in the list of all roots; a root that is repeated has none."""
    roots = look.roots(look.matrix(number.args[0]))
    if roots is None or len(roots) < 2:
        return None
    return sp.Min(*(high - low for high, low in pairwise(roots)))


def _rational_matrix(number: terms.MatrixNumber, look: IndependentInstance) -> sp.Matrix | None:
    value = look.matrix(number.args[0])
    return value if all(entry.is_Rational for entry in value) else None


@EXACT_NUMBER.register(terms.Trace)
def number_trace(number: terms.Trace, look: IndependentInstance, ell: int | None) -> Any:
    value = _rational_matrix(number, look)
    return None if value is None else value.trace()


@EXACT_NUMBER.register(terms.Determinant)
def number_determinant(number: terms.Determinant, look: IndependentInstance, ell: int | None) -> Any:
    """The characteristic polynomial at 0, with the sign of the size."""
    value = _rational_matrix(number, look)
    z = sp.Symbol("z")
    return None if value is None else (-1) ** value.rows * value.charpoly(z).as_expr().subs(z, 0)


@EXACT_NUMBER.register(terms.Rank)
def number_rank(number: terms.Rank, look: IndependentInstance, ell: int | None) -> Any:
    value = _rational_matrix(number, look)
    return None if value is None else sp.Integer(value.cols - len(value.nullspace()))


@EXACT_NUMBER.register(terms.SmallestEntry, terms.LargestEntry)
def number_extreme_entry(number: terms.MatrixNumber, look: IndependentInstance, ell: int | None) -> Any:
    value = _rational_matrix(number, look)
    ordered = None if value is None else sorted(value)
    return None if ordered is None else ordered[0 if isinstance(number, terms.SmallestEntry) else -1]


@EXACT_NUMBER.register(terms.HeadCount)
def number_head_count(number: terms.HeadCount, look: IndependentInstance, ell: int | None) -> Any:
    """The values of the heads added up by their scores, as texts: how many sums are not zero."""
    system = look.instance.system
    sums: dict[Any, Any] = {}
    for head in look.instance.parameters.get("heads", (look.instance.parameters,)):
        parts = [head.get(name) if name else None for name in (system.value, system.score)]
        value, score = (None if part is None else sp.ImmutableMatrix(part) for part in parts)
        if any(part is not None and not all(entry.is_Rational for entry in part) for part in (value, score)):
            return None
        unit = sp.ImmutableMatrix(sp.eye(look.instance.d)) if value is None else value
        sums[score] = sums[score] + unit if score in sums else unit
    return sp.Integer(sum(any(entry != 0 for entry in total) for total in sums.values()))
