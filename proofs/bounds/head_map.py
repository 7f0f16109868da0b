"""The head map ``f_i = B sum_j a_ij x_j`` in the kernel: it is the velocity of the token flow, at any tokens."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds import lemmas
from eigentoken.proofs.bounds.lemmas import CENTRE, MIDDLE, QUARTER, RADIUS, Z, close, in_the_ball, in_the_hull
from eigentoken.proofs.bounds.rows import I, J, K, Row, for_all
from eigentoken.theory.calculus import SLOT, TOKENS, Expression, Index, dot, matrix, one, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Slope, Tensor, VectorLetter

__all__ = [
    "COLLAPSE",
    "HULL",
    "JACOBIAN",
    "SPREAD",
    "collapse",
    "head",
    "hull",
    "jacobian",
    "mean",
    "row",
    "spread",
    "two_tokens",
]

VALUE, SCORE, TRANSPOSED = matrix("B"), matrix("W"), matrix("W^T")
OTHER = Index("token", "k")
_z = vector(Z.name)


def row(at: Index) -> Row:
    """The weights of token i: its query is ``W^T x_i``, the keys are the tokens."""
    return Row(vector("x", at).applied(TRANSPOSED), "x")


def mean(at: Index) -> Expression:
    """``m_i = sum_j a_ij x_j``."""
    return row(at).mean(vector("x", K), K)


def head(at: Index) -> Expression:
    """``f_i = B m_i``."""
    return mean(at).applied(VALUE)


# -- the Jacobian ---------------------------------------------------------------------------------------------------------

_W = VectorLetter("w")


def _blocks() -> Expression:
    """``sum_l a_il z^T B (w_l + (x_l - m_i) (q_i^T w_l + w_i^T W x_l))`` with ``q_i = W^T x_i``."""
    x, w, apart = vector("x", K), vector("w", K), vector("x", K) - mean(I)
    along = dot(_z, w, VALUE)
    stretch = dot(_z, apart, VALUE) * (dot(vector("x", I), w, SCORE) + dot(vector("w", I), x, SCORE))
    return (row(I).weight(K) * (along + stretch)).summed(K)


#: The derivative of ``z^T f_i`` along w, in blocks.
JACOBIAN = for_all(sp.Eq(Slope(dot(_z, head(I)), "w"), Tensor(_blocks()), evaluate=False), I, Z, _W)


def velocity(k: Kernel) -> Proved:
    """``z^T dx_i/dt = z^T f_i``."""
    rate = k.increment(dot(_z, vector("x", I)))
    return k.arithmetic([rate], sp.Eq(Rate(dot(_z, vector("x", I))), Tensor(dot(_z, head(I))), evaluate=False))


def jacobian(k: Kernel) -> Proved:
    """A proof of :data:`JACOBIAN`: the derivative by the calculus, then one normal form."""
    slope = k.slope(dot(_z, head(I)), "w")
    found = slope.proposition.word.relation.rhs.expression
    same = k.reduction(found, _blocks())
    equal = k.arithmetic([slope, same], sp.Eq(Slope(dot(_z, head(I)), "w"), Tensor(_blocks()), evaluate=False))
    for letter in (_W, Z, I):
        equal = k.generalise(letter, equal)
    return equal


# -- two tokens ---------------------------------------------------------------------------------------------------------------


def _value(at: Index) -> Expression:
    return dot(_z, vector("x", at), VALUE)


def _change(at: Index) -> Expression:
    """``(x_i - x_k)^T W x_j``: all biases would cancel here."""
    return dot(vector("x", I) - vector("x", OTHER), vector("x", at), SCORE)


_NEAR = Conjunction((close(_change, MIDDLE, 2 * QUARTER), close(_value, CENTRE, RADIUS)))
_GAP = Rate(dot(_z, vector("x", I))) - Rate(dot(_z, vector("x", OTHER)))
_TWO = (I, OTHER, Z, MIDDLE, QUARTER, CENTRE, RADIUS)
#: ``z^T (f_i - f_k) <= 2 r tanh(h)``, where ``(x_i - x_k)^T W x_j`` lies within 2h of a number and ``z^T B x_j`` within r of one.
COLLAPSE = for_all(Implication(_NEAR, proposition(sp.Le(_GAP, 2 * RADIUS * sp.tanh(QUARTER), evaluate=False))), *_TWO)


_APART = Tensor(dot(_z, head(I))) - Tensor(dot(_z, head(OTHER)))


def two_tokens(k: Kernel) -> Proved:
    """A proof of :data:`COLLAPSE` for the head map, at one state, from two rows of attention (BD-S2)."""
    found = k.settled(lemmas.two_rows(k))
    queries = [vector("x", at).applied(TRANSPOSED) for at in (I, OTHER)]
    for value in (*queries, VectorLetter("x"), vector("x", SLOT).applied(VALUE), _z):
        found = k.instantiate(found, value)
    for value in (MIDDLE, QUARTER, CENTRE, RADIUS):
        found = k.instantiate(found, value)
    here = k.modus_ponens(found, k.assume(_NEAR))
    first, second = head(I), head(OTHER)
    split = [k.total(dot(_z, first), -dot(_z, second)), k.scaling(dot(_z, second), -1)]
    end = k.arithmetic([here, *split], sp.Le(_APART, 2 * RADIUS * sp.tanh(QUARTER), evaluate=False))
    end = k.discharge(_NEAR, end)
    for letter in reversed(_TWO):
        end = k.generalise(letter, end)
    return end


def collapse(k: Kernel) -> Proved:
    """A proof of :data:`COLLAPSE`: the head map is the velocity."""
    found = two_tokens(k)
    for letter in _TWO:
        found = k.instantiate(found, _z if letter == Z else letter)
    here = k.modus_ponens(found, k.assume(_NEAR))
    rates = [velocity(k), k.instantiate(k.generalise(I, velocity(k)), OTHER)]
    end = k.arithmetic([here, *rates], sp.Le(_GAP, 2 * RADIUS * sp.tanh(QUARTER), evaluate=False))
    end = k.discharge(_NEAR, end)
    for letter in reversed(_TWO):
        end = k.generalise(letter, end)
    return end


# -- hulls ----------------------------------------------------------------------------------------------------------------

_MOST = sp.Symbol("c", real=True)
_BELOW = for_all(sp.Le(Tensor(_value(J)), _MOST, evaluate=False), J)
#: ``z^T B x_j <= c`` for every j gives ``z^T f_i <= c``: no weight leads out of the hull of the values.
HULL = for_all(Implication(_BELOW, for_all(sp.Le(Rate(dot(_z, vector("x", I))), _MOST, evaluate=False), I)), Z, _MOST)


def hull(k: Kernel) -> Proved:
    """A proof of :data:`HULL`."""
    inside = in_the_hull(k, row(I), _value, _MOST, k.assume(_BELOW))
    said = sp.Le(Rate(dot(_z, vector("x", I))), _MOST, evaluate=False)
    found = k.generalise(I, k.arithmetic([inside, velocity(k)], said))
    found = k.discharge(_BELOW, found)
    for letter in (_MOST, Z):
        found = k.generalise(letter, found)
    return found


_C = VectorLetter("c_0")


def _apart(at: Index) -> Expression:
    return vector("x", at).applied(VALUE) - vector(_C.name)


_IN_BALL = for_all(sp.Le(Tensor(dot(_apart(J), _apart(J))), RADIUS**2, evaluate=False), J)


def _diversity() -> Expression:
    """``sum_i |f_i - f|^2`` with the mean f of the f_i."""
    average = head(K_OUT).summed(K_OUT) / TOKENS
    gap = head(I) - average
    return dot(gap, gap).summed(I)


K_OUT = Index("token", "t")
#: Values within r of a point: ``sum_i |f_i - mean f|^2 <= n r^2``, whatever the weights.
SPREAD: Proposition = for_all(
    Implication(
        _IN_BALL,
        proposition(sp.Le(Tensor(_diversity()), TOKENS * RADIUS**2, evaluate=False)),
    ),
    _C,
    RADIUS,
)


def spread(k: Kernel) -> Proved:
    """A proof of :data:`SPREAD`: each f_i is in the ball; the mean is the nearest point on average."""
    inside = in_the_ball(k, row(I), _apart, k.assume(_IN_BALL))
    centre = vector(_C.name)
    own = head(I) - centre
    square = dot(own, own)
    mean_of = (row(I).weight(K) * _apart(K)).summed(K)
    each = k.arithmetic(
        [inside, k.reduction(square, dot(mean_of, mean_of)), k.scaling(one(), RADIUS**2), k.factors(one())],
        sp.Le(Tensor(square), Tensor(one() * RADIUS**2), evaluate=False),
    )
    total = k.summed(k.generalise(I, each))
    average = head(K_OUT).summed(K_OUT) / TOKENS
    rest = average - centre
    far = dot(rest, rest)
    known = [
        total,
        k.reduction(square.summed(I), _diversity() + far * TOKENS),
        k.total(_diversity(), far * TOKENS),
        k.scaling(far, TOKENS),
        k.square(rest),
        k.scaling(one(), TOKENS * RADIUS**2),
        k.factors(one()),
    ]
    found = k.arithmetic(known, sp.Le(Tensor(_diversity()), TOKENS * RADIUS**2, evaluate=False))
    found = k.discharge(_IN_BALL, found)
    for letter in (RADIUS, _C):
        found = k.generalise(letter, found)
    return found
