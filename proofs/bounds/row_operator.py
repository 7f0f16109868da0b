"""BD-J2 in the kernel: the row operator for one row and for all of them, and the plain form of its bound."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.head_map import head, mean, row
from eigentoken.proofs.bounds.layer_claims import (
    COLUMNS,
    FORMS,
    MOST_SPREAD,
    OWN,
    PLAIN_ROWS,
    ROOMS,
    ROW_OPERATOR,
    SPREADS,
    form_of_row,
    row_of_blocks,
    spread_along,
)
from eigentoken.proofs.bounds.lemmas import Z
from eigentoken.proofs.bounds.rows import I, J, K
from eigentoken.proofs.steps.theorems import CAUCHY_OF_FAMILIES, EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import Expression, Index, dot, matrix, substitute, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language import terms

__all__ = ["at_family", "discriminant", "form_in", "local_bound", "one_row", "quadratic", "weighted_cauchy"]

_T = sp.Symbol("t", real=True)
_A, _R, _C = sp.symbols("A R C", real=True)
_W, _z = VectorLetter("w"), vector(Z.name)


def form_in(scale: sp.Expr) -> sp.Basic:
    return sp.Ge(scale**2 * _A - 2 * scale * _R + _C, 0, evaluate=False)


def discriminant(k: Kernel) -> Proved:
    """``t^2 A - 2 t R + C >= 0`` for all t gives ``R^2 <= A C``: at t = R/A, or where A = 0 at a t that makes it negative."""
    every = ForAll(_T, TRUE, proposition(form_in(_T)))
    signs = (proposition(sp.Ge(_A, 0, evaluate=False)), proposition(sp.Ge(_C, 0, evaluate=False)))
    given = Conjunction((every, *signs))
    known = k.assume(given)
    forms, low, high = (k.part(known, each) for each in given.parts)
    said = sp.Le(_R**2, _A * _C, evaluate=False)
    ways = (sp.Gt(_A, 0, evaluate=False), sp.Eq(_R, 0, evaluate=False))
    rest = sp.And(sp.Eq(_A, 0, evaluate=False), sp.Ne(_R, 0, evaluate=False))
    here = k.assume(ways[0])
    first = k.arithmetic([here, k.instantiate(forms, _R / _A, k.arithmetic([here], sp.Ne(_A, 0)))], said)
    second = k.arithmetic([k.assume(ways[1]), low, high], said)
    flat = k.assume(rest)
    there = k.instantiate(forms, (_C + 1) / (2 * _R), k.arithmetic([flat], sp.Ne(_R, 0)))
    third = k.arithmetic([flat, there, high], said)
    either = k.arithmetic([low], sp.Or(*ways, rest))
    found = k.by_cases(either, *zip((*ways, rest), (first, second, third), strict=True))
    found = k.discharge(given, found)
    for letter in (_C, _R, _A):
        found = k.generalise(letter, found)
    return found


def weighted_cauchy(k: Kernel, weight: Expression, left: Expression, right: Expression, at: Index) -> Proved:
    """``(sum_j w_j u_j^T v_j)^2 <= (sum_j w_j |u_j|^2) (sum_j w_j |v_j|^2)`` for positive weights."""
    apart = left * _T - right
    size = dot(apart, apart)
    known = [k.positive(weight), k.square(apart), k.product(weight, size)]
    term = k.arithmetic(known, sp.Ge(Tensor(weight * size), 0, evaluate=False))
    first, cross, second = ((weight * dot(*pair)).summed(at) for pair in ((left, left), (left, right), (right, right)))
    pieces = (first * _T**2, cross * (-2 * _T), second)
    split = [
        k.summed(k.generalise(at, term)),
        k.scaling(first, 0),
        k.reduction((weight * size).summed(at), pieces[0] + pieces[1] + pieces[2]),
        k.total(*pieces),
        k.scaling(first, _T**2),
        k.scaling(cross, -2 * _T),
    ]
    values = [Tensor(each) for each in (first, cross, second)]
    form = form_in(_T).xreplace(dict(zip((_A, _R, _C), values, strict=True)))
    every = k.generalise(_T, k.arithmetic(split, form))
    signs = []
    for each, value in ((left, values[0]), (right, values[2])):
        parts = [k.positive(weight), k.square(each), k.product(weight, dot(each, each))]
        one_of = k.arithmetic(parts, sp.Ge(Tensor(weight * dot(each, each)), 0, evaluate=False))
        whole = [k.summed(k.generalise(at, one_of)), k.scaling(first, 0)]
        signs.append(k.arithmetic(whole, sp.Ge(value, 0, evaluate=False)))
    lemma = discriminant(k)
    for value in values:
        lemma = k.instantiate(lemma, value)
    return k.modus_ponens(lemma, k.conjunction(every, *signs))


def one_row(k: Kernel) -> Proved:
    """:data:`.layer_claims.BLOCKS` for the letters i, z and w."""
    weight, moved = row(I).weight(K), vector("w", K)
    left = _z.applied(matrix("B^T")) + vector("x", I).applied(matrix("W^T")) * dot(
        _z, vector("x", K) - mean(I), matrix("B")
    )
    found = weighted_cauchy(k, weight, left, moved, K)
    cross, size = (weight * dot(left, moved)).summed(K), (weight * dot(left, left)).summed(K)
    same = [k.reduction(cross, row_of_blocks()), k.reduction(size, form_of_row())]
    lengths = (weight * dot(moved, moved)).summed(K)
    said = sp.Le(Tensor(row_of_blocks()) ** 2, Tensor(form_of_row()) * Tensor(lengths), evaluate=False)
    return k.arithmetic([found, *same], said)


def _plain_rows(k: Kernel) -> Proved:
    """``|B^T z| <= |B| |z|``, and the variances at ``B^T z``."""
    inner = PLAIN_ROWS.body
    variances, said = inner.guard, inner.body.body
    back, query = _z.applied(matrix("B^T")), vector("x", I).applied(matrix("W^T"))
    there = k.instantiate(k.assume(variances), back)
    norm = k.textbook(OPERATOR_NORM, A=terms.matrix("B"), z=back)
    along = dot(_z, back.applied(matrix("B")))
    squares = [k.textbook(EUCLIDEAN, y=_z, z=back.applied(matrix("B"))), k.reduction(along, dot(back, back))]
    squares += [norm, k.square(back), k.square(_z), k.square(back.applied(matrix("B")))]
    size = terms.SpectralNorm(terms.matrix("B")) ** 2 * Tensor(dot(_z, _z))
    short = k.arithmetic(squares, sp.Le(Tensor(dot(back, back)), size, evaluate=False))
    spread = relation_of_spread(there)
    pieces = (dot(back, back), dot(query, query) * spread.expression)
    known = [
        there,
        short,
        k.reduction(form_of_row(), pieces[0] + pieces[1]),
        k.total(*pieces),
        k.product(dot(query, query), spread.expression),
        k.square(query),
        k.square(back),
        k.square(_z),
    ]
    found = k.generalise(Z, k.arithmetic(known, said))
    return k.generalise(I, k.generalise(MOST_SPREAD, found, variances))


def relation_of_spread(found: Proved) -> Tensor:
    """The left side of an inequality."""
    left = found.proposition.word.relation.lhs
    assert isinstance(left, Tensor)
    return left


_I_Z = vector(Z.name, I)


def at_family(given: Expression) -> Expression:
    """With ``z_i`` in the place of z."""
    return substitute(given, {Z.name: lambda *indices: _I_Z})


def _rows(k: Kernel) -> Proved:
    """``(sum_i T_i)^2 <= b^2 S_z S_w``: ``t^2 |z_i|^2 - 2 t T_i + |g_i|^2 W_i >= 0`` for every t, summed over i."""
    blocks = k.generalise(Z, one_row(k))
    here = k.instantiate(blocks, _I_Z)
    form = k.instantiate(k.instantiate(k.assume(FORMS), I), _I_Z)
    own, moved, gain = _I_Z, vector("w", K), vector(OWN.name, I)
    turned = here.proposition.word.relation.lhs.base.expression
    weighed = (row(I).weight(K) * dot(moved, moved)).summed(K)
    length, gains = dot(own, own), dot(gain, gain)
    positive = [k.positive(row(I).weight(K)), k.square(moved), k.product(row(I).weight(K), dot(moved, moved))]
    one_of = k.arithmetic(positive, sp.Ge(Tensor(row(I).weight(K) * dot(moved, moved)), 0, evaluate=False))
    total = k.arithmetic(
        [k.summed(k.generalise(K, one_of)), k.scaling(weighed, 0)], sp.Ge(Tensor(weighed), 0, evaluate=False)
    )
    share = gains * weighed
    known = [here, form, total, k.square(own), k.square(gain), k.product(gains, weighed)]
    below = k.arithmetic(known, sp.Le(Tensor(turned) ** 2, Tensor(length) * Tensor(share), evaluate=False))
    signs = k.arithmetic(
        known, sp.And(sp.Ge(Tensor(length), 0, evaluate=False), sp.Ge(Tensor(share), 0, evaluate=False))
    )
    lemma = quadratic(k)
    for value in (Tensor(length), Tensor(turned), Tensor(share), _T):
        lemma = k.instantiate(lemma, value)
    least = k.modus_ponens(lemma, k.conjunction(below, *(k.part(signs, each) for each in conjuncts(signs.proposition))))
    pieces = (length * _T**2, turned * (-2 * _T), share)
    split = [least, k.total(*pieces), k.scaling(length, _T**2), k.scaling(turned, -2 * _T)]
    each = k.arithmetic(split, sp.Ge(Tensor(pieces[0] + pieces[1] + pieces[2]), 0, evaluate=False))
    sums = [piece.summed(I) for piece in (length, turned, share)]
    parts = (sums[0] * _T**2, sums[1] * (-2 * _T), sums[2])
    column = _columns(k, sums[2])
    room = ROOMS**2 * Tensor(dot(vector("w", J), vector("w", J)).summed(J))
    whole = [k.summed(k.generalise(I, each)), k.scaling(sums[0], 0), k.total(*parts), column]
    whole += [k.scaling(sums[0], _T**2), k.scaling(sums[1], -2 * _T)]
    values = (Tensor(sums[0]), Tensor(sums[1]), room)
    said = form_in(_T).xreplace(dict(zip((_A, _R, _C), values, strict=True)))
    every = k.generalise(_T, k.arithmetic(whole, said))
    lengths = [k.square(_I_Z, I), k.square(vector("w", J), J)]
    ends = [k.arithmetic(lengths, sp.Ge(value, 0, evaluate=False)) for value in (values[0], room)]
    found = discriminant(k)
    for value in values:
        found = k.instantiate(found, value)
    return k.modus_ponens(found, k.conjunction(every, *ends))


def quadratic(k: Kernel) -> Proved:
    """``R^2 <= A C`` with A and C not negative gives ``t^2 A - 2 t R + C >= 0``."""
    given = [sp.Le(_R**2, _A * _C, evaluate=False), sp.Ge(_A, 0, evaluate=False), sp.Ge(_C, 0, evaluate=False)]
    known, said = [k.assume(each) for each in given], form_in(_T)
    ways = (sp.Gt(_A, 0, evaluate=False), sp.Eq(_A, 0, evaluate=False))
    square = k.arithmetic([], sp.Ge((_T * _A - _R) ** 2, 0, evaluate=False))
    scaled = k.arithmetic([*known, square], sp.Ge(_A * (_T**2 * _A - 2 * _T * _R + _C), 0, evaluate=False))
    branches = [k.arithmetic([k.assume(ways[0]), scaled], said), k.arithmetic([k.assume(ways[1]), *known], said)]
    found = k.by_cases(k.arithmetic(known, sp.Or(*ways)), *zip(ways, branches, strict=True))
    found = k.discharge(Conjunction(tuple(map(proposition, given))), found)
    for letter in (_T, _C, _R, _A):
        found = k.generalise(letter, found)
    return found


def _columns(k: Kernel, shares: Expression) -> Proved:
    """``sum_i |g_i|^2 sum_l a_il |w_l|^2 <= b^2 sum_l |w_l|^2``: the sums are exchanged."""
    gain, moved = vector(OWN.name, I), vector("w", J)
    column = (row(I).weight(J) * dot(gain, gain)).summed(I)
    size = dot(moved, moved)
    known = [k.instantiate(k.assume(COLUMNS), J), k.square(moved), k.product(column, size), k.scaling(size, ROOMS**2)]
    each = k.arithmetic(known, sp.Le(Tensor(column * size), Tensor(size * ROOMS**2), evaluate=False))
    total = [k.summed(k.generalise(J, each)), k.reduction(shares, (column * size).summed(J))]
    total.append(k.scaling(size.summed(J), ROOMS**2))
    said = sp.Le(Tensor(shares), ROOMS**2 * Tensor(size.summed(J)), evaluate=False)
    return k.arithmetic(total, said)


def _diagonal(k: Kernel) -> Proved:
    """``(sum_i z_i^T B C_i W^T w_i)^2 <= c^2 S_z S_w``."""
    spread, own, moved = at_family(spread_along()), _I_Z, vector("w", I)
    each = k.instantiate(k.instantiate(k.assume(SPREADS), I), _I_Z)
    size = dot(own, own)
    known = [each, k.scaling(size, MOST_SPREAD**2)]
    below = k.arithmetic(known, sp.Le(Tensor(dot(spread, spread)), Tensor(size * MOST_SPREAD**2), evaluate=False))
    total = [k.summed(k.generalise(I, below)), k.scaling(size.summed(I), MOST_SPREAD**2)]
    product_of = k.textbook(CAUCHY_OF_FAMILIES, y=spread, z=moved)
    cross, lengths = dot(spread, moved).summed(I), dot(moved, moved).summed(I)
    said = sp.Le(Tensor(cross) ** 2, MOST_SPREAD**2 * Tensor(size.summed(I)) * Tensor(lengths), evaluate=False)
    return k.arithmetic([*total, product_of, k.square(moved, I)], said)


def _whole(k: Kernel) -> Proved:
    """The derivative is the sum of both parts, and ``(P + Q)^2 <= (b + c)^2 s`` where ``P^2 <= b^2 s`` and ``Q^2 <= c^2 s``."""
    slope = k.slope(dot(_I_Z, head(I)).summed(I), "w")
    first = at_family(row_of_blocks()).summed(I)
    second = dot(at_family(spread_along()), vector("w", I)).summed(I)
    same = k.reduction(slope.proposition.word.relation.rhs.expression, first + second)
    lengths = [dot(each, each).summed(I) for each in (_I_Z, vector("w", I))]
    both = Tensor(lengths[0]) * Tensor(lengths[1])
    squares = [k.square(_I_Z, I), k.square(vector("w", I), I)]
    values = (Tensor(first), Tensor(second), sp.sqrt(both))
    letters = p, q, s = sp.symbols("p q s", real=True)
    given = [
        sp.Ge(s, 0),
        sp.Le(p**2, ROOMS**2 * s**2, evaluate=False),
        sp.Le(q**2, MOST_SPREAD**2 * s**2, evaluate=False),
    ]
    known = [k.assume(each) for each in given]
    ends = []
    for each, most in ((p, ROOMS), (q, MOST_SPREAD)):
        said = sp.And(sp.Le(each, most * s, evaluate=False), sp.Ge(each, -most * s, evaluate=False))
        ends.append(k.arithmetic(known, said))
    end = k.arithmetic([*ends, known[0]], sp.Le((p + q) ** 2, (ROOMS + MOST_SPREAD) ** 2 * s**2, evaluate=False))
    lemma = k.discharge(Conjunction(tuple(map(proposition, given))), end)
    for letter in reversed(letters):
        lemma = k.generalise(letter, lemma)
    positive = k.arithmetic(squares, sp.Ge(both, 0, evaluate=False))
    for value in values:
        lemma = k.instantiate(lemma, value, positive)
    facts = [_rows(k), _diagonal(k), positive]
    asked = (k.arithmetic(facts, each) for each in conjuncts(lemma.proposition.left))
    found = k.modus_ponens(lemma, k.conjunction(*asked))
    total = k.total(first, second)
    said = ROW_OPERATOR.body.body.body
    while isinstance(said, ForAll):
        said = said.body
    end = k.arithmetic([found, slope, same, total, positive], said)
    end = k.generalise(Z, k.generalise(_W, end))
    for letter, guard in ((MOST_SPREAD, SPREADS), (ROOMS, COLUMNS), (OWN, FORMS)):
        end = k.generalise(letter, end, guard)
    return end


def local_bound(k: Kernel) -> Proved:
    """A proof of the three claims of BD-J2."""
    single = one_row(k)
    for letter in (_W, Z, I):
        single = k.generalise(letter, single)
    return k.conjunction(single, _whole(k), _plain_rows(k))
