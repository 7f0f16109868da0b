"""What bounds say of one head and of one layer with a skip, in full: claims that random instances look at.

The head is ``f_i = B m_i``, ``m_i = sum_j a_ij x_j``, the velocity of the token flow; the layer is ``x_i^+ = x_i + alpha f_i``,
the residual map.  A norm of a linear map is said by forms: ``|A| <= c`` where ``z^T A w <= c |z| |w|`` for all z and w.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.head_map import TRANSPOSED, head, mean, row
from eigentoken.proofs.bounds.lemmas import CENTRE, RADIUS, Z, close
from eigentoken.proofs.bounds.rows import KEYS, QUERY, I, J, K, Row, for_all
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import Expression, Index, MaskEntry, delta, dot, exponential, factor, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.terms import SpectralNorm, alpha, d, matrix, n

__all__ = [
    "BALL",
    "BLOCKS",
    "BLOCK_NORMS",
    "CENTRED_NORM_DERIVATIVE",
    "CHAIN",
    "CONTRACTED",
    "DEPTH",
    "NORM_DERIVATIVE",
    "PLAIN_ROWS",
    "RADIUS_OF_A_CENTRED_NORM",
    "RADIUS_OF_A_NORM",
    "ROW_OPERATOR",
    "SINK",
    "SKIP",
    "WIDE_ROW",
    "wide_row",
]

VALUES, SCORES = SpectralNorm(matrix("B")), SpectralNorm(matrix("W"))
OTHER = Index("token", "k")
_W, _z = VectorLetter("w"), vector(Z.name)
_S, _SCORE = Index("token", "s"), product("W")
_D, _R = sp.Symbol("D", nonnegative=True), sp.Symbol("R", nonnegative=True)


def _token(at: Index) -> Expression:
    return vector("x", at)


def _square(given: Expression) -> Expression:
    return dot(given, given)


# -- diversity, diameters and one direction across a layer -----------------------------------------------------------------


def _after(before: Expression) -> sp.Expr:
    """The value of a quantity after the step."""
    return Tensor(before) + Rate(before)


def _between(after: sp.Expr, before: sp.Expr, change: sp.Expr) -> tuple[Proposition, Proposition]:
    return (
        proposition(sp.Le(sp.sqrt(after), sp.sqrt(before) + change, evaluate=False)),
        proposition(sp.Ge(sp.sqrt(after), sp.sqrt(before) - change, evaluate=False)),
    )


_APART = _square(_token(I) - _token(OTHER))
_IN_DIAMETER = for_all(sp.Le(Tensor(_square(_token(J) - _token(K))), _D**2, evaluate=False), J, K)
_MOST = alpha * VALUES * _D * sp.tanh(SCORES * _D**2 / 4)
#: BD-R4 for one head: a distance changes by at most ``alpha |B| D tanh(|W| D^2/4)`` where all distances are at most D.
SKIP = tuple(
    ForAll(_D, _IN_DIAMETER, for_all(each, I, OTHER)) for each in _between(_after(_APART), Tensor(_APART), _MOST)
)

_APART_AFTER = Tensor(_square(head(I) - head(OTHER)))
_FROM_NORMS = VALUES * _D * sp.tanh(SCORES * _D**2 / 4)
#: BD-R1b: ``|f_i - f_k| <= |B| D tanh(|W| D^2/4)`` where all distances are at most D.
CONTRACTED = tuple(
    ForAll(_D, _IN_DIAMETER, for_all(sp.Le(sp.sqrt(_APART_AFTER), bound, evaluate=False), I, OTHER))
    for bound in (_FROM_NORMS, VALUES * SCORES * _D**3 / 4)
)

# -- Jacobians --------------------------------------------------------------------------------------------------------------


def _row_of_blocks() -> Expression:
    """``sum_l a_il z^T B (w_l + (x_l - m_i) q_i^T w_l)``, the derivative of ``z^T f_i`` without its diagonal term."""
    w, apart = vector("w", K), _token(K) - mean(I)
    along = dot(_z, w, product("B")) + dot(_z, apart, product("B")) * dot(_token(I), w, product("W"))
    return (row(I).weight(K) * along).summed(K)


def _form() -> Expression:
    """``z^T B (I + |q_i|^2 C_i) B^T z``."""
    apart, back = dot(_z, _token(K) - mean(I), product("B")), _z.applied(product("B^T"))
    return _square(back) + _square(_token(I).applied(TRANSPOSED)) * (row(I).weight(K) * apart * apart).summed(K)


#: BD-J2, the row operator: ``(T_i w)^2 <= z^T B (I + |q_i|^2 C_i) B^T z sum_l a_il |w_l|^2``.
BLOCKS = for_all(
    sp.Le(
        Tensor(_row_of_blocks()) ** 2,
        Tensor(_form()) * Tensor((row(I).weight(K) * _square(vector("w", K))).summed(K)),
        evaluate=False,
    ),
    I,
    Z,
    _W,
)

_OWN = VectorLetter("g")
_ROOMS, _MOST_SPREAD = sp.symbols("b c", nonnegative=True)


def _of_rows(at: Index) -> Expression:
    """``|g_i|^2``, which stands for ``t_i^2``."""
    return _square(vector(_OWN.name, at))


def _spread_along() -> Expression:
    """``C_i B^T z`` times ``W^T``, transposed: ``sum_s a_is (z^T B (x_s - m_i)) W x_s``, ``W C_i B^T z`` without its mean."""
    apart = dot(_z, _token(_S) - mean(I), product("B"))
    return (row(I).weight(_S) * apart * _token(_S).applied(_SCORE)).summed(_S)


_FORMS = for_all(sp.Le(Tensor(_form()), Tensor(_of_rows(I)) * Tensor(_square(_z)), evaluate=False), I, Z)
_COLUMNS = for_all(sp.Le(Tensor((row(I).weight(J) * _of_rows(I)).summed(I)), _ROOMS**2, evaluate=False), J)
_SPREADS = for_all(sp.Le(Tensor(_square(_spread_along())), _MOST_SPREAD**2 * Tensor(_square(_z)), evaluate=False), I, Z)


def _pulled(at: Index, key: Index) -> Expression:
    """``(df_i/dx_l)^T g_i``, the transposed block l of the derivative of ``f_i``, applied to ``g_i``."""
    g, weight, apart = vector(_OWN.name, at).applied(product("B^T")), row(at).weight(key), _token(key) - mean(at)
    spread = (row(at).weight(_S) * dot(g, _token(_S) - mean(at)) * _token(_S).applied(_SCORE)).summed(_S)
    return (g + _token(at).applied(TRANSPOSED) * dot(g, apart)) * weight + spread * delta(at, key)


def _of_blocks(at: Index, key: Index) -> sp.Expr:
    return Tensor(dot(_pulled(at, key), vector("w", key)))


#: BD-J3: ``g_i^T Df_i w = sum_l g_i^T (df_i/dx_l) w_l``, and each summand is at most ``|(df_i/dx_l)^T g_i| |w_l|``.
BLOCK_NORMS = (
    for_all(
        sp.Eq(
            Slope(dot(vector(_OWN.name, I), head(I)), "w"),
            Tensor(dot(_pulled(I, K), vector("w", K)).summed(K)),
            evaluate=False,
        ),
        I,
        _OWN,
        _W,
    ),
    for_all(
        sp.Le(
            _of_blocks(I, K) ** 2,
            Tensor(_square(_pulled(I, K))) * Tensor(_square(vector("w", K))),
            evaluate=False,
        ),
        I,
        K,
        _OWN,
        _W,
    ),
)

_IN_BALL = for_all(sp.Le(Tensor(_square(_token(J))), _R**2, evaluate=False), J)
_p = SCORES * _R**2
_ALL = Slope(dot(vector(Z.name, I), head(I)).summed(I), "w")
_SIZES = Tensor(_square(vector(Z.name, I)).summed(I)) * Tensor(_square(vector("w", I)).summed(I))


_WHOLE = sp.Le(_ALL**2, (_ROOMS + _MOST_SPREAD) ** 2 * _SIZES, evaluate=False)
#: BD-J2 in full: ``|Df| <= b + c`` where ``t_i^2 = |g_i|^2`` bounds the form of row i, ``sum_i a_il t_i^2 <= b^2`` for every key
#: l, and ``|B C_i W^T| <= c`` for every i.
ROW_OPERATOR = ForAll(_OWN, _FORMS, ForAll(_ROOMS, _COLUMNS, ForAll(_MOST_SPREAD, _SPREADS, for_all(_WHOLE, Z, _W))))
_VARIANCE = (row(I).weight(K) * dot(_z, _token(K) - mean(I)) * dot(_z, _token(K) - mean(I))).summed(K)
_VARIANCES = for_all(sp.Le(Tensor(_VARIANCE), _MOST_SPREAD * Tensor(_square(_z)), evaluate=False), Z)
#: ``B_2 <= B_1``: ``t_i^2 <= |B|^2 (1 + |q_i|^2 c)`` for every c above the norm of ``C_i``.
PLAIN_ROWS = for_all(
    ForAll(
        _MOST_SPREAD,
        _VARIANCES,
        for_all(
            sp.Le(
                Tensor(_form()),
                VALUES**2 * (1 + Tensor(_square(_token(I).applied(TRANSPOSED))) * _MOST_SPREAD) * Tensor(_square(_z)),
                evaluate=False,
            ),
            Z,
        ),
    ),
    I,
)


def _lipschitz(bound: sp.Expr) -> Proposition:
    small = sp.Le(_ALL**2, VALUES**2 * bound**2 * _SIZES, evaluate=False)
    return ForAll(_R, _IN_BALL, for_all(small, Z, _W))


_COLUMN = n * sp.exp(2 * _p) / (sp.exp(2 * _p) + n - 1)
#: BD-L1: both bounds on the derivative in a ball, as a form of any direction and any functional.
BALL = (
    _lipschitz(sp.sqrt(n * (1 + sp.Rational(16, 27) * _p**2)) + _p),
    _lipschitz(sp.sqrt(_COLUMN * (1 + _p**2)) + _p),
)

# -- masks, rows, norms, depth ---------------------------------------------------------------------------------------------


def _seen(at: Index, key: Index) -> Expression:
    return factor(MaskEntry("causal", at, key))


_FIRST = Index("token", "f")


def _causal_weight(at: Index, key: Index) -> Expression:
    """``a_ij`` under the causal mask."""
    whole = row_sum(dot(_token(at), _token(_S), _SCORE), _S, (MaskEntry("causal", at, _S),))
    return _seen(at, key) * exponential(dot(_token(at), _token(key), _SCORE)) * factor(whole) ** -1


def _causal_push(at: Index) -> Expression:
    return (_causal_weight(at, K) * dot(_z, _token(K), product("B"))).summed(K)


_EPS = sp.Symbol("epsilon", nonnegative=True)
_ALL_SEE = for_all(sp.Eq(Tensor(_seen(J, _FIRST)), 1, evaluate=False), J)
_AT_LEAST = for_all(sp.Ge(Tensor(_causal_weight(J, _FIRST)), _EPS, evaluate=False), J)
_NEAR = close(lambda at: dot(_z, _token(at), product("B")), CENTRE, RADIUS)
_SHARED = sp.Le(Tensor(_causal_push(I)) - Tensor(_causal_push(OTHER)), 2 * RADIUS * (1 - _EPS), evaluate=False)
_WIDTH = sp.Symbol("w", nonnegative=True)
_GAP = Tensor(dot(_token(J), _token(K), _SCORE)) - Tensor(dot(_token(J), _token(OTHER), _SCORE))
_NARROW = for_all(sp.Le(_GAP, _WIDTH, evaluate=False), J, K, OTHER)
_TO_THE_FIRST = sp.Ge(Tensor(_causal_weight(J, _FIRST)), 1 / (1 + (n - 1) * sp.exp(_WIDTH)), evaluate=False)
#: BD-M1: a token f that all see with weight at least epsilon: ``z^T (f_i - f_k) <= 2 r (1 - epsilon)``; the least epsilon.
SINK = (
    ForAll(
        _FIRST,
        _ALL_SEE,
        for_all(ForAll(RADIUS, _NEAR, ForAll(_EPS, _AT_LEAST, for_all(_SHARED, I, OTHER))), Z, CENTRE),
    ),
    ForAll(_WIDTH, _NARROW, ForAll(_FIRST, _ALL_SEE, for_all(_TO_THE_FIRST, J))),
)

_LATER = VectorLetter("u")


def _through(at: Index) -> Expression:
    """``(A' A)_ic``: what a row of a later layer and the rows of this one give to the token c."""
    return (Row(vector(_LATER.name, at)).weight(K) * row(K).weight(_FIRST)).summed(K)


def _push_through(at: Index) -> Expression:
    """``z^T B sum_j (A' A)_ij x_j``."""
    inner = (row(K).weight(_S) * dot(_z, _token(_S), product("B"))).summed(_S)
    return (Row(vector(_LATER.name, at)).weight(K) * inner).summed(K)


_LATER_ROW = Row(vector(_LATER.name, I))
_ONE_MORE = sp.Ge(Tensor(_through(I)), Tensor(_LATER_ROW.weight(J)) * Tensor(row(J).weight(_FIRST)), evaluate=False)
_SHARE = sp.Min(Tensor(_through(I)), Tensor(_through(OTHER)))
_MIXED = sp.Le(Tensor(_push_through(I)) - Tensor(_push_through(OTHER)), 2 * RADIUS * (1 - _SHARE), evaluate=False)
#: BD-M2: a layer more gives to the root f at least what one token that is seen has on it, times the weight of that token; and
#: what two rows average differs by ``1 - eta`` of the spread at most, eta the weight that both have on the root.
CHAIN = (
    for_all(_ONE_MORE, KEYS, _LATER, _FIRST, I, J),
    for_all(ForAll(RADIUS, _NEAR, for_all(_MIXED, I, OTHER)), KEYS, _LATER, _FIRST, Z, CENTRE),
)

_ROW, _Q = Row(), sp.Symbol("Q", nonnegative=True)
KEYS_IN_BALL = for_all(sp.Le(Tensor(_square(vector(KEYS.name, J))), _R**2, evaluate=False), J)
SHORT_QUERY = proposition(sp.Le(Tensor(_square(vector(QUERY.name))), _Q**2, evaluate=False))
NARROW_ROW = sp.Le(Tensor(_ROW.score(J)) - Tensor(_ROW.score(K)), 2 * _R * _Q, evaluate=False)
#: BD-T3: keys in a ball of radius R and a query of length at most Q have scores within ``2 R Q`` of each other.
WIDE_ROW = for_all(ForAll(_R, KEYS_IN_BALL, ForAll(_Q, SHORT_QUERY, for_all(NARROW_ROW, J, K))), QUERY, KEYS)


def wide_row(k: Kernel) -> Proved:
    """A proof of :data:`WIDE_ROW`: the inequality of Cauchy and Schwarz, twice."""
    query, short, inside = vector(QUERY.name), k.assume(SHORT_QUERY), k.assume(KEYS_IN_BALL)
    ends = []
    for at in (J, K):
        score, key = Tensor(_ROW.score(at)), vector(KEYS.name, at)
        known = [
            k.textbook(EUCLIDEAN, y=query, z=key),
            short,
            k.instantiate(inside, at),
            k.square(key),
            k.square(query),
        ]
        square = k.arithmetic(known, sp.Le(score**2, (_R * _Q) ** 2, evaluate=False))
        ends.append(k.arithmetic([square], sp.And(sp.Le(score, _R * _Q), sp.Ge(score, -_R * _Q))))
    found = k.generalise(J, k.generalise(K, k.arithmetic(ends, NARROW_ROW)))
    found = k.generalise(_R, k.generalise(_Q, found, SHORT_QUERY), KEYS_IN_BALL)
    return k.generalise(QUERY, k.generalise(KEYS, found))


_SCALE, _GAIN, _b = sp.Symbol("s", nonnegative=True), SpectralNorm(matrix("G")), vector("b")
_SCALED = _square(vector("w").applied(product("G")) * _SCALE + _b)
#: BD-N1: ``|s G w + b| <= sqrt(d) |G| + |b|`` for every scale up to ``sqrt(d)/|w|``, that of an RMS norm with any epsilon.
RADIUS_OF_A_NORM = for_all(
    ForAll(
        _SCALE,
        proposition(sp.Le(_SCALE**2 * Tensor(_square(vector("w"))), d, evaluate=False)),
        proposition(sp.Le(sp.sqrt(Tensor(_SCALED)), sp.sqrt(d) * _GAIN + sp.sqrt(Tensor(_square(_b))), evaluate=False)),
    ),
    _W,
    VectorLetter("b"),
)

_ENTRY, _LENGTH = dot(_z, _token(I), product("G")), _square(_token(I))
_MOVED, _TURN = Tensor(dot(_z, vector("w", I), product("G"))), Tensor(dot(_token(I), vector("w", I)))
#: BD-N2 without epsilon, for the square of an entry ``z^T G x/|x|`` of the norm: its derivative along w is
#: ``2 (z^T G x/|x|) (z^T G (I - x x^T/|x|^2) w)/|x|``.
NORM_DERIVATIVE = for_all(
    sp.Eq(
        Slope(_ENTRY * _ENTRY * _LENGTH**-1, "w"),
        2 * Tensor(_ENTRY) * (_MOVED - Tensor(_ENTRY) * _TURN / Tensor(_LENGTH)) / Tensor(_LENGTH),
        evaluate=False,
    ),
    I,
    Z,
    _W,
)

_ONES, _WIDEST = VectorLetter("e"), sp.Symbol("c", nonnegative=True)
_e = vector(_ONES.name)
_LEVEL = proposition(sp.Eq(Tensor(dot(_e, _z)), 0, evaluate=False))
_STRETCH = sp.Le(Tensor(_square(_z.applied(product("G")))), _WIDEST**2 * Tensor(_square(_z)), evaluate=False)
_ON_LEVEL = ForAll(Z, _LEVEL, proposition(_STRETCH))
_SHORT = proposition(sp.Le(_SCALE**2 * Tensor(_square(vector("w"))), d, evaluate=False))
_WITHIN = sp.Le(sp.sqrt(Tensor(_SCALED)), sp.sqrt(d) * _WIDEST + sp.sqrt(Tensor(_square(_b))), evaluate=False)
#: BD-N1 for a norm that takes the mean out: w is orthogonal to e (all entries alike), and c bounds G there alone.
RADIUS_OF_A_CENTRED_NORM = for_all(
    ForAll(
        _WIDEST,
        _ON_LEVEL,
        for_all(
            ForAll(
                _W,
                proposition(sp.Eq(Tensor(dot(_e, vector("w"))), 0, evaluate=False)),
                ForAll(_SCALE, _SHORT, proposition(_WITHIN)),
            ),
            VectorLetter("b"),
        ),
    ),
    _ONES,
)


def _level(given: Expression) -> Expression:
    """``y - (e^T y/|e|^2) e``."""
    return given - dot(_e, given) * _square(_e) ** -1 * _e


_HERE, _WAY = _level(_token(I)), _level(vector("w", I))
_CENTRED = dot(_z, _HERE, product("G"))
#: BD-N2 for a norm that takes the mean out, ``z^T G y/|y|`` with y the part of x across e: the derivatives of both parts of the
#: quotient along w.
CENTRED_NORM_DERIVATIVE = for_all(
    Conjunction(
        (
            proposition(sp.Eq(Slope(_CENTRED, "w"), Tensor(dot(_z, _WAY, product("G"))), evaluate=False)),
            proposition(sp.Eq(Slope(_square(_HERE), "w"), 2 * Tensor(dot(_HERE, _WAY)), evaluate=False)),
        )
    ),
    _ONES,
    I,
    Z,
    _W,
)

_U, _P, _START = sp.symbols("U P D_0", positive=True)
_NEXT = _U * _START * sp.tanh(_P * _START**2 / 4)
_EDGE = 4 * sp.atanh(1 / _U) / _P


def _depth(norm: sp.Basic, start: sp.Basic, said: sp.Basic) -> Proposition:
    inside = ForAll(_START, proposition(start), proposition(said))
    return ForAll(_U, proposition(norm), for_all(inside, _P))


_FALLS, _RISES = sp.Lt(_NEXT, _START, evaluate=False), sp.Gt(_NEXT, _START, evaluate=False)
#: BD-R2: one layer of the recursion for ``|U| <= 1``, below the edge, above it; and the cubic bound.
DEPTH = (
    ForAll(_U, proposition(_U <= 1), for_all(_FALLS, _P, _START)),
    _depth(_U > 1, sp.Lt(_START**2, _EDGE, evaluate=False), _FALLS),
    _depth(_U > 1, sp.Gt(_START**2, _EDGE, evaluate=False), _RISES),
    for_all(sp.Le(_NEXT, _U * _P * _START**3 / 4, evaluate=False), _U, _P, _START),
)
