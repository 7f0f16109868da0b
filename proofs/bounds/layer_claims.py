"""What bounds say of one head and of one layer with a skip, in full: claims that random instances look at.

The head is ``f_i = B m_i``, ``m_i = sum_j a_ij x_j``, the velocity of the token flow; the layer is ``x_i^+ = x_i + alpha f_i``,
the residual map.  A norm of a linear map is said by forms: ``|A| <= c`` where ``z^T A w <= c |z| |w|`` for all z and w.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.head_map import TRANSPOSED, head, mean, row
from eigentoken.proofs.bounds.lemmas import Z
from eigentoken.proofs.bounds.rows import KEYS, QUERY, I, J, K, Row, for_all
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import Expression, Index, delta, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import ForAll, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor, VectorLetter
from eigentoken.theory.language.terms import SpectralNorm, matrix, n

__all__ = [
    "BALL",
    "BLOCKS",
    "BLOCK_NORMS",
    "COLUMNS",
    "FORMS",
    "MOST_SPREAD",
    "OWN",
    "PLAIN_ROWS",
    "ROOMS",
    "ROW_OPERATOR",
    "SPREADS",
    "WIDE_ROW",
    "block_norms",
    "form_of_row",
    "row_of_blocks",
    "spread_along",
    "wide_row",
]

VALUES, SCORES = SpectralNorm(matrix("B")), SpectralNorm(matrix("W"))
_W, _z = VectorLetter("w"), vector(Z.name)
_S, _SCORE = Index("token", "s"), product("W")
_R = sp.Symbol("R", nonnegative=True)


def _token(at: Index) -> Expression:
    return vector("x", at)


def _square(given: Expression) -> Expression:
    return dot(given, given)


# -- Jacobians --------------------------------------------------------------------------------------------------------------


def row_of_blocks() -> Expression:
    """``sum_l a_il z^T B (w_l + (x_l - m_i) q_i^T w_l)``, the derivative of ``z^T f_i`` without its diagonal term."""
    w, apart = vector("w", K), _token(K) - mean(I)
    along = dot(_z, w, product("B")) + dot(_z, apart, product("B")) * dot(_token(I), w, product("W"))
    return (row(I).weight(K) * along).summed(K)


def form_of_row() -> Expression:
    """``z^T B (I + |q_i|^2 C_i) B^T z``."""
    apart, back = dot(_z, _token(K) - mean(I), product("B")), _z.applied(product("B^T"))
    return _square(back) + _square(_token(I).applied(TRANSPOSED)) * (row(I).weight(K) * apart * apart).summed(K)


#: BD-J2, the row operator: ``(T_i w)^2 <= z^T B (I + |q_i|^2 C_i) B^T z sum_l a_il |w_l|^2``.
BLOCKS = for_all(
    sp.Le(
        Tensor(row_of_blocks()) ** 2,
        Tensor(form_of_row()) * Tensor((row(I).weight(K) * _square(vector("w", K))).summed(K)),
        evaluate=False,
    ),
    I,
    Z,
    _W,
)

OWN = VectorLetter("g")
ROOMS, MOST_SPREAD = sp.symbols("b c", nonnegative=True)


def _of_rows(at: Index) -> Expression:
    """``|g_i|^2``, which stands for ``t_i^2``."""
    return _square(vector(OWN.name, at))


def spread_along() -> Expression:
    """``C_i B^T z`` times ``W^T``, transposed: ``sum_s a_is (z^T B (x_s - m_i)) W x_s``, ``W C_i B^T z`` without its mean."""
    apart = dot(_z, _token(_S) - mean(I), product("B"))
    return (row(I).weight(_S) * apart * _token(_S).applied(_SCORE)).summed(_S)


FORMS = for_all(sp.Le(Tensor(form_of_row()), Tensor(_of_rows(I)) * Tensor(_square(_z)), evaluate=False), I, Z)
COLUMNS = for_all(sp.Le(Tensor((row(I).weight(J) * _of_rows(I)).summed(I)), ROOMS**2, evaluate=False), J)
SPREADS = for_all(sp.Le(Tensor(_square(spread_along())), MOST_SPREAD**2 * Tensor(_square(_z)), evaluate=False), I, Z)


def _pulled(at: Index, key: Index) -> Expression:
    """``(df_i/dx_l)^T g_i``, the transposed block l of the derivative of ``f_i``, applied to ``g_i``."""
    g, weight, apart = vector(OWN.name, at).applied(product("B^T")), row(at).weight(key), _token(key) - mean(at)
    spread = (row(at).weight(_S) * dot(g, _token(_S) - mean(at)) * _token(_S).applied(_SCORE)).summed(_S)
    return (g + _token(at).applied(TRANSPOSED) * dot(g, apart)) * weight + spread * delta(at, key)


def _of_blocks(at: Index, key: Index) -> sp.Expr:
    return Tensor(dot(_pulled(at, key), vector("w", key)))


#: BD-J3: ``g_i^T Df_i w = sum_l g_i^T (df_i/dx_l) w_l``, and each summand is at most ``|(df_i/dx_l)^T g_i| |w_l|``.
BLOCK_NORMS = (
    for_all(
        sp.Eq(
            Slope(dot(vector(OWN.name, I), head(I)), "w"),
            Tensor(dot(_pulled(I, K), vector("w", K)).summed(K)),
            evaluate=False,
        ),
        I,
        OWN,
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
        OWN,
        _W,
    ),
)


def block_norms(k: Kernel) -> Proved:
    """A proof of :data:`BLOCK_NORMS`: one normal form, and the inequality of Cauchy and Schwarz for each block."""
    g = vector(OWN.name, I)
    slope = k.slope(dot(g, head(I)), "w")
    whole = dot(_pulled(I, K), vector("w", K)).summed(K)
    same = k.reduction(slope.proposition.word.relation.rhs.expression, whole)
    equal = k.arithmetic([slope, same], sp.Eq(Slope(dot(g, head(I)), "w"), Tensor(whole), evaluate=False))
    small = k.textbook(EUCLIDEAN, y=_pulled(I, K), z=vector("w", K))
    for letter in (_W, OWN):
        equal, small = k.generalise(letter, equal), k.generalise(letter, small)
    return k.conjunction(k.generalise(I, equal), k.generalise(I, k.generalise(K, small)))


_IN_BALL = for_all(sp.Le(Tensor(_square(_token(J))), _R**2, evaluate=False), J)
_p = SCORES * _R**2
_ALL = Slope(dot(vector(Z.name, I), head(I)).summed(I), "w")
_SIZES = Tensor(_square(vector(Z.name, I)).summed(I)) * Tensor(_square(vector("w", I)).summed(I))


_WHOLE = sp.Le(_ALL**2, (ROOMS + MOST_SPREAD) ** 2 * _SIZES, evaluate=False)
#: BD-J2 in full: ``|Df| <= b + c`` where ``t_i^2 = |g_i|^2`` bounds the form of row i, ``sum_i a_il t_i^2 <= b^2`` for every key
#: l, and ``|B C_i W^T| <= c`` for every i.
ROW_OPERATOR = ForAll(OWN, FORMS, ForAll(ROOMS, COLUMNS, ForAll(MOST_SPREAD, SPREADS, for_all(_WHOLE, Z, _W))))
_VARIANCE = (row(I).weight(K) * dot(_z, _token(K) - mean(I)) * dot(_z, _token(K) - mean(I))).summed(K)
_VARIANCES = for_all(sp.Le(Tensor(_VARIANCE), MOST_SPREAD * Tensor(_square(_z)), evaluate=False), Z)
#: ``B_2 <= B_1``: ``t_i^2 <= |B|^2 (1 + |q_i|^2 c)`` for every c above the norm of ``C_i``.
PLAIN_ROWS = for_all(
    ForAll(
        MOST_SPREAD,
        _VARIANCES,
        for_all(
            sp.Le(
                Tensor(form_of_row()),
                VALUES**2 * (1 + Tensor(_square(_token(I).applied(TRANSPOSED))) * MOST_SPREAD) * Tensor(_square(_z)),
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

# -- rows ------------------------------------------------------------------------------------------------------------------

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
