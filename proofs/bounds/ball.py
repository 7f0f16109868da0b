"""BD-L1 in the kernel: both bounds on the derivative of a head whose tokens lie in a ball of radius R.

For one row, ``y = B^T z`` and ``u_j = y^T x_j``, so that ``|u_j| <= R |y|``: a weight a of the row and the variance of u satisfy
``a Var(u) <= 16/27 R^2 |y|^2``, because ``sum_j a_j u_j^2 <= a u^2 + (1 - a) R^2 |y|^2`` and the mean is within
``(1 - a) R |y|`` of ``a u``.  The rows are put together as in BD-J2.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.ball_numbers import atom, cancelled, sum_of_two
from eigentoken.proofs.bounds.head_map import TRANSPOSED, head, mean, row
from eigentoken.proofs.bounds.layer_claims import BALL, SCORES, VALUES, form_of_row, row_of_blocks, spread_along
from eigentoken.proofs.bounds.lemmas import LARGEST as LARGEST_WEIGHT
from eigentoken.proofs.bounds.lemmas import WIDTH, Z, weight_range, within_width
from eigentoken.proofs.bounds.row_operator import at_family, discriminant, form_in, one_row, quadratic, weighted_cauchy
from eigentoken.proofs.bounds.rows import KEYS, QUERY, I, J, K, Row
from eigentoken.proofs.bounds.rows import I as _ROW_KEY
from eigentoken.proofs.steps.theorems import CAUCHY_OF_FAMILIES, EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import Expression, Index, dot, matrix, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language import terms

__all__ = ["ball"]

_R = sp.Symbol("R", nonnegative=True)
_FREE = VectorLetter("e")
_S, _P, _T = sp.Symbol("r", real=True), SCORES * _R**2, sp.Symbol("t", real=True)
_L = Index("token", "b")
_OWN, _WEIGHT = vector(Z.name, I), row(I).weight(K)
_BACK = _OWN.applied(matrix("B^T"))


def _square(given: Expression) -> Expression:
    return dot(given, given)


def _value(at: Index) -> Expression:
    """``u_j = z_i^T B x_j``."""
    return dot(_OWN, vector("x", at), matrix("B"))


_LENGTH = _square(_BACK)
_SQUARES, _MEAN = (_WEIGHT * _value(K) * _value(K)).summed(K), (_WEIGHT * _value(K)).summed(K)
_APART = dot(_OWN, vector("x", K) - mean(I), matrix("B"))
_VARIANCE = (_WEIGHT * _APART * _APART).summed(K)
_KNOWN = proposition(sp.Eq(_S**2, Tensor(_LENGTH) * _R**2, evaluate=False))
_POSITIVE = proposition(sp.Ge(_S, 0, evaluate=False))


def _inside(k: Kernel, at: Index) -> Proved:
    """``|x_j|^2 <= R^2``."""
    return k.instantiate(k.assume(BALL[0].guard), at)


def _small(k: Kernel, at: Index) -> Proved:
    """``u_j^2 <= r^2``."""
    token = vector("x", at)
    along = k.reduction(dot(_BACK, token), _value(at))
    parts = [k.textbook(EUCLIDEAN, y=_BACK, z=token), along, _inside(k, at), k.square(_BACK), k.assume(_KNOWN)]
    return k.arithmetic(parts, sp.Le(Tensor(_value(at)) ** 2, _S**2, evaluate=False))


def _shares(k: Kernel) -> list[Proved]:
    """``r^2 - q >= a (r^2 - u^2)`` and ``r -+ m >= a (r -+ u)`` at the token l, from sums of terms that are not negative."""
    found: list[Proved] = []
    small = _small(k, K)
    square, plain = one() * _S**2, one() * _S
    for whole, part, total, at_l in (
        (square, _value(K) * _value(K), _SQUARES, _value(_L) * _value(_L)),
        (plain, _value(K), _MEAN, _value(_L)),
        (plain, -_value(K), -_MEAN, -_value(_L)),
    ):
        gap = whole - part
        scale = _S**2 if whole is square else _S
        known = [small, k.assume(_POSITIVE), k.total(whole, -part), k.scaling(one(), scale), k.factors(one())]
        known += [k.product(_value(K), _value(K)), k.scaling(part, -1), k.scaling(_value(K), -1)]
        known += [k.positive(_WEIGHT), k.product(_WEIGHT, gap)]
        term = k.arithmetic(known, sp.Ge(Tensor(_WEIGHT * gap), 0, evaluate=False))
        kept = k.summand(k.generalise(K, term), _L)
        here = whole - at_l
        sums = [kept, k.reduction((_WEIGHT * gap).summed(K), whole - total), k.total(whole, -total)]
        sums += [k.product(row(I).weight(_L), here), k.total(whole, -at_l), k.scaling(one(), scale), k.factors(one())]
        sums += [k.scaling(each, -1) for each in (total, at_l, _MEAN, _value(_L))]
        sums.append(k.product(_value(_L), _value(_L)))
        weight, value = Tensor(row(I).weight(_L)), Tensor(_value(_L))
        left, right = {
            0: (_S**2 - Tensor(_SQUARES), _S**2 - value**2),
            1: (_S - Tensor(_MEAN), _S - value),
            2: (_S + Tensor(_MEAN), _S + value),
        }[len(found)]
        found.append(k.arithmetic(sums, sp.Ge(left, weight * right, evaluate=False)))
    return found


def _variance(k: Kernel) -> Proved:
    """``V = q - m^2``, and it is not negative and at most ``r^2``."""
    known = [k.reduction(_VARIANCE, _SQUARES - _MEAN * _MEAN), k.total(_SQUARES, -(_MEAN * _MEAN))]
    known += [k.scaling(_MEAN * _MEAN, -1), k.product(_MEAN, _MEAN)]
    equal = sp.Eq(Tensor(_VARIANCE), Tensor(_SQUARES) - Tensor(_MEAN) ** 2, evaluate=False)
    term = [k.positive(_WEIGHT), k.product(_WEIGHT, _APART * _APART), k.product(_APART, _APART)]
    positive = k.arithmetic(term, sp.Ge(Tensor(_WEIGHT * _APART * _APART), 0, evaluate=False))
    whole = [k.summed(k.generalise(K, positive)), k.scaling(one(), 0)]
    below = k.arithmetic(whole, sp.Ge(Tensor(_VARIANCE), 0, evaluate=False))
    parts = [_small(k, K), k.positive(_WEIGHT), k.product(_WEIGHT, _value(K) * _value(K))]
    parts += [k.product(_value(K), _value(K)), k.scaling(_WEIGHT, _S**2)]
    each = k.arithmetic(parts, sp.Le(Tensor(_WEIGHT * _value(K) * _value(K)), Tensor(_WEIGHT * _S**2), evaluate=False))
    most = [k.summed(k.generalise(K, each)), k.reduction((_WEIGHT * _S**2).summed(K), one() * _S**2)]
    most += [k.scaling(one(), _S**2), k.factors(one())]
    exact = k.arithmetic(known, equal)
    above = k.arithmetic([*most, exact], sp.Le(Tensor(_VARIANCE), _S**2, evaluate=False))
    return k.conjunction(exact, below, above)


def _weight_below_one(k: Kernel) -> Proved:
    """``0 < a_il <= 1``: the weights sum to one."""
    kept = k.summand(
        k.generalise(K, k.arithmetic([k.positive(_WEIGHT)], sp.Ge(Tensor(_WEIGHT), 0, evaluate=False))), _L
    )
    known = [kept, k.reduction(_WEIGHT.summed(K), one()), k.factors(one()), k.positive(row(I).weight(_L))]
    weight = Tensor(row(I).weight(_L))
    return k.arithmetic(known, sp.And(weight > 0, sp.Le(weight, 1, evaluate=False)))


def _heavy(k: Kernel) -> Proved:
    """``a_il Var(u) <= 16/27 R^2 |y|^2`` and ``0 <= Var(u) <= R^2 |y|^2``, with r eliminated."""
    lemma, variance, weight = atom(k), _variance(k), Tensor(row(I).weight(_L))
    values = (weight, Tensor(_value(_L)), Tensor(_MEAN), Tensor(_SQUARES), _S)
    for value in values:
        lemma = k.instantiate(lemma, value)
    known = [_weight_below_one(k), k.assume(_POSITIVE), _small(k, _L), *_shares(k)]
    asked = (k.arithmetic(known, each) for each in conjuncts(lemma.proposition.left))
    bound = k.modus_ponens(lemma, k.conjunction(*asked))
    length = Tensor(_LENGTH) * _R**2
    facts = [bound, variance, k.assume(_KNOWN)]
    said = [
        sp.Le(weight * Tensor(_VARIANCE), sp.Rational(16, 27) * length, evaluate=False),
        sp.Ge(Tensor(_VARIANCE), 0, evaluate=False),
        sp.Le(Tensor(_VARIANCE), length, evaluate=False),
    ]
    found = k.conjunction(*(k.arithmetic(facts, each) for each in said))
    guard = Conjunction((_POSITIVE, _KNOWN))
    found = k.generalise(_S, found, guard)
    size, root = k.square(_BACK), _R * sp.sqrt(Tensor(_LENGTH))
    size = k.arithmetic([size], sp.Ge(Tensor(_LENGTH), 0, evaluate=False))
    named = k.conjunction(
        k.arithmetic([size], sp.Ge(root, 0, evaluate=False)),
        k.arithmetic([size], sp.Eq(root**2, length, evaluate=False)),
    )
    return k.instantiate(found, root, named, size)


_SIZE_OF_W = dot(vector("w", J), vector("w", J)).summed(J)
_FORM, _TURNED = at_family(form_of_row()), at_family(row_of_blocks())
_OWN_LENGTH, _QUERY = _square(_OWN), _square(vector("x", I).applied(TRANSPOSED))


def _image(k: Kernel, name: str, given: Expression) -> Proved:
    """``|A^T y|^2 <= |A|^2 |y|^2``."""
    back, size = given.applied(matrix(f"{name}^T")), terms.SpectralNorm(terms.matrix(name))
    forth = back.applied(matrix(name))
    known = [
        k.textbook(EUCLIDEAN, y=given, z=forth),
        k.reduction(dot(given, forth), _square(back)),
        k.textbook(OPERATOR_NORM, A=terms.matrix(name), z=back),
        *map(k.square, (back, given, forth)),
    ]
    return k.arithmetic(known, sp.Le(Tensor(_square(back)), size**2 * Tensor(_square(given)), evaluate=False))


def _sizes(k: Kernel) -> list[Proved]:
    """``0 <= |q_i|^2 <= |W|^2 R^2``, ``0 <= |B^T z_i|^2 <= |B|^2 |z_i|^2``, and that norms are not negative."""
    token = vector("x", I)
    query = k.arithmetic(
        [_image(k, "W", token), _inside(k, I), k.square(token)],
        sp.Le(Tensor(_QUERY), SCORES**2 * _R**2, evaluate=False),
    )
    norms = [k.part(each, each.proposition.parts[1]) for each in (_norm(k, "B"), _norm(k, "W"))]
    squares = [k.square(token.applied(TRANSPOSED)), k.square(_BACK), k.square(_OWN)]
    return [query, _image(k, "B", _OWN), *norms, *squares]


def _norm(k: Kernel, name: str) -> Proved:
    return k.textbook(OPERATOR_NORM, A=terms.matrix(name), z=vector("x", I))


def _split(k: Kernel) -> list[Proved]:
    """``t^2 = |y|^2 + |q|^2 V``."""
    pieces = (_LENGTH, _QUERY * _VARIANCE)
    return [k.reduction(_FORM, pieces[0] + pieces[1]), k.total(*pieces), k.product(_QUERY, _VARIANCE)]


def _first(k: Kernel, heavy: Proved) -> tuple[sp.Expr, Proved]:
    """``T_i^2 <= C |z_i|^2 S_w`` with ``C = |B|^2 (1 + 16/27 p^2)``: a bound on each ``a_il t_i^2``."""
    part = sp.Rational(16, 27)
    constant = VALUES**2 * (1 + part * _P**2)
    sizes, light = _sizes(k), _weight_below_one(k)
    weight, length = Tensor(row(I).weight(_L)), Tensor(_LENGTH)
    query, variance = Tensor(_QUERY), Tensor(_VARIANCE)
    spread = sp.Le(query * (weight * variance), SCORES**2 * _R**2 * (part * length * _R**2), evaluate=False)
    known = [
        k.arithmetic([*sizes, heavy, light], spread),
        k.arithmetic([light, *sizes], sp.Le(weight * length, length, evaluate=False)),
        *_split(k),
    ]
    below = k.arithmetic(known, sp.Le(weight * Tensor(_FORM), length * (1 + part * _P**2), evaluate=False))
    most = k.arithmetic([below, *sizes], sp.Le(weight * Tensor(_FORM), constant * Tensor(_OWN_LENGTH), evaluate=False))
    size = _square(vector("w", _L))
    left, right = _FORM * row(I).weight(_L) * size, _OWN_LENGTH * size
    parts = [most, k.square(vector("w", _L)), k.product(_FORM * row(I).weight(_L), size)]
    parts += [k.product(_FORM, row(I).weight(_L)), k.product(_OWN_LENGTH, size), k.scaling(right, constant)]
    each = k.arithmetic(parts, sp.Le(Tensor(left), Tensor(right * constant), evaluate=False))
    weighed = (_WEIGHT * _square(vector("w", K))).summed(K)
    total = [k.summed(k.generalise(_L, each)), k.reduction(left.summed(_L), _FORM * weighed)]
    total += [k.reduction((right * constant).summed(_L), _OWN_LENGTH * _SIZE_OF_W * constant)]
    total += [k.scaling(_OWN_LENGTH * _SIZE_OF_W, constant), k.product(_OWN_LENGTH, _SIZE_OF_W)]
    total += [k.product(_FORM, weighed), k.instantiate(k.generalise(Z, one_row(k)), _OWN)]
    said = sp.Le(Tensor(_TURNED) ** 2, constant * Tensor(_OWN_LENGTH) * Tensor(_SIZE_OF_W), evaluate=False)
    return constant, k.arithmetic(total, said)


def _rows(k: Kernel, constant: sp.Expr, each: Proved, positive: Proved) -> Proved:
    """``(sum_i T_i)^2 <= n C S_z S_w``."""
    values = (Tensor(_OWN_LENGTH), Tensor(_TURNED), constant * Tensor(_SIZE_OF_W), _T)
    lengths = [k.square(_OWN), k.square(vector("w", J), J), positive]
    lemma, defined = quadratic(k), _nonzero(k)
    for value in values:
        lemma = k.instantiate(lemma, value, defined)
    asked = (k.arithmetic([each, *lengths], part) for part in conjuncts(lemma.proposition.left))
    least = k.modus_ponens(lemma, k.conjunction(*asked))
    pieces = (_OWN_LENGTH * _T**2, _TURNED * (-2 * _T), _SIZE_OF_W * constant)
    split = [least, k.total(*pieces), k.scaling(_OWN_LENGTH, _T**2), k.scaling(_TURNED, -2 * _T)]
    split.append(k.scaling(_SIZE_OF_W, constant))
    one_of = k.arithmetic(split, sp.Ge(Tensor(pieces[0] + pieces[1] + pieces[2]), 0, evaluate=False))
    number = terms.n * constant
    sums = (_OWN_LENGTH.summed(I), _TURNED.summed(I), _SIZE_OF_W)
    parts = (sums[0] * _T**2, sums[1] * (-2 * _T), sums[2] * number)
    whole = [k.summed(k.generalise(I, one_of)), k.scaling(one(), 0), k.total(*parts)]
    whole += [k.reduction((pieces[0] + pieces[1] + pieces[2]).summed(I), parts[0] + parts[1] + parts[2])]
    whole += [k.scaling(sums[0], _T**2), k.scaling(sums[1], -2 * _T), k.scaling(sums[2], number)]
    ends = (Tensor(sums[0]), Tensor(sums[1]), number * Tensor(sums[2]))
    letters = dict(zip(sp.symbols("A R C", real=True), ends, strict=True))
    every = k.generalise(_T, k.arithmetic(whole, form_in(_T).xreplace(letters)))
    many = k.arithmetic([k.positive(one() * terms.n), k.factors(one()), k.scaling(one(), terms.n)], terms.n > 0)
    signs = [k.square(_OWN, I), k.square(vector("w", J), J), positive, many]
    found = discriminant(k)
    for value in ends:
        found = k.instantiate(found, value, defined)
    return k.modus_ponens(
        found,
        k.conjunction(every, *(k.arithmetic(signs, sp.Ge(each_, 0, evaluate=False)) for each_ in (ends[0], ends[2]))),
    )


_TOP = sp.exp(2 * _P)


def _weight_above(k: Kernel) -> Proved:
    """``a_il <= e^{2p}/(e^{2p} + n - 1)``: BD-S3 for the row of token i, whose scores lie within 2p of each other."""
    found = weight_range(k)
    token, other = vector("x", I), VectorLetter("x")
    sizes = _sizes(k)
    near = []
    for at in (J, K):
        image = vector("x", at).applied(matrix("W"))
        known = [
            k.textbook(EUCLIDEAN, y=token, z=image),
            k.textbook(OPERATOR_NORM, A=terms.matrix("W"), z=vector("x", at)),
        ]
        known += [_inside(k, I), _inside(k, at), *map(k.square, (token, image, vector("x", at))), *sizes]
        score = Tensor(dot(token, vector("x", at), matrix("W")))
        image_below = k.arithmetic(known, sp.Le(Tensor(_square(image)), SCORES**2 * _R**2, evaluate=False))
        square = k.arithmetic([*known, image_below], sp.Le(score**2, _P**2, evaluate=False))
        near.append(k.arithmetic([square, *sizes], sp.And(sp.Le(score, _P), sp.Ge(score, -_P))))
    every = k.part(found, LARGEST_WEIGHT)
    every = k.generalise(_ROW_KEY, every)
    every = k.discharge(within_width(Row()), every)
    for letter in (WIDTH, KEYS, QUERY):
        every = k.generalise(letter, every)
    here = k.instantiate(k.instantiate(every, token.applied(TRANSPOSED)), other)
    said = sp.Le(Tensor(row(I).weight(_L)), _TOP / (_TOP + terms.n - 1), evaluate=False)
    many = k.arithmetic([k.positive(one() * terms.n), k.factors(one()), k.scaling(one(), terms.n)], terms.n > 0)
    ways = []
    for value, case in ((2 * _P, sp.Gt(2 * _P, 0, evaluate=False)), (sp.Integer(0), sp.Eq(2 * _P, 0, evaluate=False))):
        given = k.assume(case)
        there = k.instantiate(here, value, given)
        guard = there.proposition.left
        gap = k.arithmetic([*near, given], guard.body.body)
        bound = k.instantiate(k.modus_ponens(there, k.generalise(J, k.generalise(K, gap))), _L)
        ways.append((case, k.arithmetic([bound, given, many], said)))
    return k.by_cases(k.arithmetic(sizes, sp.Or(*(case for case, _ in ways))), *ways)


def _nonzero(k: Kernel) -> Proved:
    """``e^{2p} + n - 1`` is not zero."""
    many = k.arithmetic([k.positive(one() * terms.n), k.factors(one()), k.scaling(one(), terms.n)], sp.Ge(terms.n, 1))
    return k.arithmetic([many], sp.Ne(_TOP + terms.n - 1, 0))


def _second(k: Kernel, heavy: Proved) -> tuple[sp.Expr, Proved]:
    """``T_i^2 <= C |z_i|^2 S_w`` with ``C = |B|^2 (1 + p^2) e^{2p}/(e^{2p} + n - 1)``: t_i^2 and the largest weight."""
    share = _TOP / (_TOP + terms.n - 1)
    constant = VALUES**2 * (1 + _P**2) * share
    sizes = _sizes(k)
    query, variance, length = Tensor(_QUERY), Tensor(_VARIANCE), Tensor(_LENGTH)
    spread = sp.Le(query * variance, SCORES**2 * _R**2 * (length * _R**2), evaluate=False)
    known = [k.arithmetic([*sizes, heavy], spread), *_split(k)]
    below = k.arithmetic(known, sp.Le(Tensor(_FORM), length * (1 + _P**2), evaluate=False))
    own = VALUES**2 * (1 + _P**2)
    most = k.arithmetic([below, *sizes], sp.Le(Tensor(_FORM), own * Tensor(_OWN_LENGTH), evaluate=False))
    size = _square(vector("w", _L))
    parts = [_weight_above(k), k.square(vector("w", _L)), k.product(row(I).weight(_L), size), k.scaling(size, share)]
    each = k.arithmetic(parts, sp.Le(Tensor(row(I).weight(_L) * size), Tensor(size * share), evaluate=False))
    weighed = (_WEIGHT * _square(vector("w", K))).summed(K)
    total = [k.summed(k.generalise(_L, each)), k.reduction((size * share).summed(_L), _SIZE_OF_W * share)]
    total += [k.reduction((row(I).weight(_L) * size).summed(_L), weighed), k.scaling(_SIZE_OF_W, share)]
    mass = k.arithmetic(total, sp.Le(Tensor(weighed), share * Tensor(_SIZE_OF_W), evaluate=False))
    block = k.instantiate(k.generalise(Z, one_row(k)), _OWN)
    term = [k.positive(_WEIGHT), k.square(vector("w", K)), k.product(_WEIGHT, _square(vector("w", K)))]
    sign = k.arithmetic(term, sp.Ge(Tensor(_WEIGHT * _square(vector("w", K))), 0, evaluate=False))
    low = k.arithmetic(
        [k.summed(k.generalise(K, sign)), k.scaling(weighed, 0)], sp.Ge(Tensor(weighed), 0, evaluate=False)
    )
    first = k.arithmetic(
        [block, most, low], sp.Le(Tensor(_TURNED) ** 2, own * Tensor(_OWN_LENGTH) * Tensor(weighed), evaluate=False)
    )
    positive = k.arithmetic(sizes, sp.Ge(own * Tensor(_OWN_LENGTH), 0, evaluate=False))
    said = sp.Le(Tensor(_TURNED) ** 2, own * Tensor(_OWN_LENGTH) * (share * Tensor(_SIZE_OF_W)), evaluate=False)
    found = k.arithmetic([first, mass, positive], said)
    end = sp.Le(Tensor(_TURNED) ** 2, constant * Tensor(_OWN_LENGTH) * Tensor(_SIZE_OF_W), evaluate=False)
    many = k.arithmetic([k.positive(one() * terms.n), k.factors(one()), k.scaling(one(), terms.n)], terms.n > 0)
    return constant, k.arithmetic([found, many], end)


def _diagonal(k: Kernel, heavy: Proved) -> Proved:
    """``(sum_i z_i^T B C_i W^T w_i)^2 <= (|B| p)^2 S_z S_w``: for ``v = sum_s a_s (y^T (x_s - m)) x_s``,
    ``|v|^4 <= Var(u) |v|^2 R^2``, and ``|W v|^2 <= |W|^2 |v|^2``."""
    pulled = (_WEIGHT * _APART * vector("x", K)).summed(K)
    token, inside = vector("x", K), [_inside(k, K), k.positive(_WEIGHT), k.scaling(_WEIGHT, _R**2)]
    inside.append(k.product(_WEIGHT, _square(token)))
    each = k.arithmetic(inside, sp.Le(Tensor(_WEIGHT * _square(token)), Tensor(_WEIGHT * _R**2), evaluate=False))
    tokens = (_WEIGHT * _square(token)).summed(K)
    total = [k.summed(k.generalise(K, each)), k.reduction((_WEIGHT * _R**2).summed(K), one() * _R**2)]
    total += [k.scaling(one(), _R**2), k.factors(one())]
    mass = k.arithmetic(total, sp.Le(Tensor(tokens), _R**2, evaluate=False))
    free = vector(_FREE.name)
    cauchy = weighted_cauchy(k, _WEIGHT, free * _APART, token, K)
    cross, first = ((_WEIGHT * dot(free * _APART, each)).summed(K) for each in (token, free * _APART))
    known = [cauchy, k.reduction(cross, dot(free, pulled)), k.reduction(first, _square(free) * _VARIANCE)]
    known.append(k.product(_square(free), _VARIANCE))
    bound = Tensor(_square(free)) * Tensor(_VARIANCE) * Tensor(tokens)
    along = k.arithmetic(known, sp.Le(Tensor(dot(free, pulled)) ** 2, bound, evaluate=False))
    length = _square(pulled)
    known = [k.instantiate(k.generalise(_FREE, along), pulled), mass, k.square(pulled), heavy]
    lemma = cancelled(k)
    for value in (Tensor(length), Tensor(_VARIANCE), _R**2, Tensor(tokens)):
        lemma = k.instantiate(lemma, value)
    asked = (k.arithmetic(known, part) for part in conjuncts(lemma.proposition.left))
    short = k.modus_ponens(lemma, k.conjunction(*asked))
    spread, sizes = at_family(spread_along()), _sizes(k)
    norm = k.textbook(OPERATOR_NORM, A=terms.matrix("W"), z=pulled)
    image = k.reduction(_square(spread), _square(pulled.applied(matrix("W"))))
    small = [short, norm, image, heavy, *sizes, k.square(pulled)]
    constant = (VALUES * _P) ** 2
    squares = k.arithmetic(
        [short, heavy, *sizes], sp.Le(Tensor(length), _R**2 * (Tensor(_LENGTH) * _R**2), evaluate=False)
    )
    most = k.arithmetic(
        [squares, *small], sp.Le(Tensor(_square(spread)), SCORES**2 * _R**4 * Tensor(_LENGTH), evaluate=False)
    )
    below = k.arithmetic(
        [most, *sizes, k.scaling(_OWN_LENGTH, constant)],
        sp.Le(Tensor(_square(spread)), Tensor(_OWN_LENGTH * constant), evaluate=False),
    )
    moved = vector("w", I)
    sums = [k.summed(k.generalise(I, below)), k.scaling(_OWN_LENGTH.summed(I), constant)]
    product_of = k.textbook(CAUCHY_OF_FAMILIES, y=spread, z=moved)
    said = sp.Le(
        Tensor(dot(spread, moved).summed(I)) ** 2,
        constant * Tensor(_OWN_LENGTH.summed(I)) * Tensor(_square(moved).summed(I)),
        evaluate=False,
    )
    return k.arithmetic([*sums, product_of, k.square(moved, I)], said)


def _whole(k: Kernel, claim: ForAll, constant: sp.Expr, each: Proved, bound: sp.Expr, diagonal: Proved) -> Proved:
    """The derivative is the sum of both parts; ``bound`` is b with ``b^2 = n C``."""
    sizes = _sizes(k)
    many = k.arithmetic([k.positive(one() * terms.n), k.factors(one()), k.scaling(one(), terms.n)], sp.Ge(terms.n, 1))
    positive = k.arithmetic([*sizes, many], sp.Ge(constant, 0, evaluate=False))
    slope = k.slope(dot(_OWN, head(I)).summed(I), "w")
    first = _TURNED.summed(I)
    second = dot(at_family(spread_along()), vector("w", I)).summed(I)
    same = k.reduction(slope.proposition.word.relation.rhs.expression, first + second)
    lengths = [_square(every).summed(I) for every in (_OWN, vector("w", I))]
    both = Tensor(lengths[0]) * Tensor(lengths[1])
    squares = [k.square(_OWN, I), k.square(vector("w", I), I)]
    room = k.arithmetic(squares, sp.Ge(both, 0, evaluate=False))
    facts = [_rows(k, constant, each, positive), diagonal, room, *sizes, many, positive]
    lemma = sum_of_two(k)
    for value in (bound, VALUES * _P, Tensor(first), Tensor(second), sp.sqrt(both)):
        lemma = k.instantiate(lemma, value, room, _nonzero(k), *_defined(k, bound, [*sizes, many]))
    asked = (k.arithmetic(facts, part) for part in conjuncts(lemma.proposition.left))
    found = k.modus_ponens(lemma, k.conjunction(*asked))
    said = claim.body
    letters = []
    while isinstance(said, ForAll):
        letters.append(said.letter)
        said = said.body
    end = k.arithmetic([found, slope, same, k.total(first, second), room], said)
    for letter in reversed(letters):
        end = k.generalise(letter, end)
    for known in (_nonzero(k), *_defined(k, bound, [*sizes, many])):
        end = k.supply(end, known)
    return k.generalise(claim.letter, end, claim.guard)


def _defined(k: Kernel, bound: sp.Expr, known: list[Proved]) -> list[Proved]:
    """The root in the bound is that of a number that is not negative."""
    roots = [each.base for each in bound.atoms(sp.Pow) if each.exp == sp.Rational(1, 2)]
    return [k.arithmetic(known, sp.Ge(each, 0, evaluate=False)) for each in roots]


def ball(k: Kernel) -> Proved:
    """A proof of :data:`~.layer_claims.BALL`."""
    bounds = [
        VALUES * sp.sqrt(terms.n * (1 + sp.Rational(16, 27) * _P**2)),
        VALUES * sp.sqrt(terms.n * _TOP / (_TOP + terms.n - 1) * (1 + _P**2)),
    ]
    heavy = _heavy(k)
    diagonal, ends = _diagonal(k, heavy), []
    for claim, make, bound in zip(BALL, (_first, _second), bounds, strict=True):
        assert isinstance(claim, ForAll)
        constant, each = make(k, heavy)
        ends.append(_whole(k, claim, constant, each, bound, diagonal))
    return k.conjunction(*ends)
