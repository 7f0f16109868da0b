"""PM-S3: a one-layer guarantee for steering with real attention.  New here.

A layer whose heads are edited along one direction w, ``F_h = G_h + mu w z_h^T``, has the raw step ``y_i = x_i + alpha u_i +
alpha mu kappa_i w``; where ``alpha |mu kappa_i|`` exceeds ``1 + alpha |u_i|`` the step is near ``+- w``, on the side of its sign.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import decimals
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import unsteered_token
from eigentoken.proofs.properties.steering_checks import steered_layer
from eigentoken.proofs.steps.equations import RAW, TOKEN, for_every
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import ALPHA, HEAD, Expression, Index, Letter, dot, exponential, factor, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector

MU, KAPPA = sp.symbols("mu kappa", real=True)
#: At least the length of the push without the edit.
LENGTH = sp.Symbol("N", nonnegative=True)
_A, _B, _W, _U = (VectorLetter(name) for name in "abwu")
_a, _b, _w, _u, _x = vector("a"), vector("b"), vector("w"), vector("u"), vector("x", TOKEN)
_OTHER = Index("token", "j")
_PLAIN, _EDITED = (Letter("G", False, (HEAD,)),), (Letter("F", False, (HEAD,)),)
_DIRECTION = vector("z", HEAD)


def _mean() -> Expression:
    """``m_hi = sum_j a^h_ij x_j``."""
    exponent = dot(_x, vector("x", _OTHER), (Letter("M", False, (HEAD,)),))
    weight = exponential(exponent) * factor(row_sum(exponent, _OTHER), -1)
    return (weight * vector("x", _OTHER)).summed(_OTHER)


_FORM = Tensor(dot(_a, _b, _PLAIN)) + MU * Tensor(dot(_a, _w)) * Tensor(dot(_DIRECTION, _b))
#: ``F_h = G_h + mu w z_h^T`` for every head.
EDITED = for_every(sp.Eq(Tensor(dot(_a, _b, _EDITED)), _FORM, evaluate=False), HEAD, _A, _B)
_PUSH, _PULL = dot(_a, _mean(), _PLAIN).summed(HEAD), dot(_DIRECTION, _mean()).summed(HEAD)
_STEP = Tensor(dot(_a, _x)) + ALPHA * Tensor(_PUSH) + ALPHA * MU * Tensor(_PULL) * Tensor(dot(_a, _w))
#: ``y_i = x_i + alpha u_i + alpha mu kappa_i w`` with ``u_i = sum_h G_h m_hi`` and ``kappa_i = sum_h z_h^T m_hi``.
STEP = Implication(EDITED, for_every(sp.Eq(Tensor(dot(_a, RAW)), _STEP, evaluate=False), TOKEN, _A))

_MOVED = Tensor(dot(_a, _x)) + ALPHA * Tensor(dot(_a, _u)) + ALPHA * MU * KAPPA * Tensor(dot(_a, _w))
_REACH, _STRONG = 1 + ALPHA * LENGTH, ALPHA * sp.Abs(MU * KAPPA)
GUARDS = Conjunction(
    (
        for_every(sp.Eq(Tensor(dot(_a, RAW)), _MOVED, evaluate=False), _A),
        proposition(sp.Eq(Tensor(dot(_w, _w)), 1, evaluate=False)),
        proposition(sp.Le(Tensor(dot(_u, _u)), LENGTH**2, evaluate=False)),
        proposition(sp.Gt(_STRONG, _REACH, evaluate=False)),
    )
)
_ALONG, _SIZE = Tensor(dot(_w, RAW)), Tensor(dot(RAW, RAW))
#: The square of the tangent of the angle to ``+- w``, and the side.
NEAR = sp.Le((_SIZE - _ALONG**2) * (_STRONG - _REACH) ** 2, _REACH**2 * _ALONG**2, evaluate=False)
SIDE = sp.Gt(MU * KAPPA * _ALONG, 0, evaluate=False)
_LETTERS = (_W, _U, MU, KAPPA, LENGTH, TOKEN)


def _steered() -> ForAll:
    found = Implication(GUARDS, Conjunction((proposition(NEAR), proposition(SIDE))))
    whole = for_every(found, *_LETTERS)
    if not isinstance(whole, ForAll):
        raise TypeError("it is said for every vector")
    return whole


STEERED = _steered()


def _step(k: Kernel) -> Proved:
    """The edit at the mean of each head, summed over the heads."""
    edit = k.instantiate(k.assume(EDITED), HEAD)
    mean = _mean()
    here = k.instantiate(k.instantiate(edit, _A), mean)
    along = dot(_DIRECTION, mean) * dot(_a, _w)
    whole = dot(_a, mean, _PLAIN) + along * MU
    parts = (
        k.product(dot(_DIRECTION, mean), dot(_a, _w)),
        k.scaling(along, MU),
        k.total(dot(_a, mean, _PLAIN), along * MU),
    )
    one_head = k.arithmetic([here, *parts], sp.Eq(Tensor(dot(_a, mean, _EDITED)), Tensor(whole), evaluate=False))
    summed = k.summed(k.generalise(HEAD, one_head))
    known = [
        summed,
        expanded(k, whole.summed(HEAD), (1, _PUSH), (MU, _PULL, dot(_a, _w))),
        expanded(k, dot(_a, RAW), (1, dot(_a, _x)), (ALPHA, dot(_a, mean, _EDITED).summed(HEAD))),
    ]
    found = k.arithmetic(known, STEP.right.body.body)
    return k.discharge(EDITED, k.generalise(TOKEN, k.generalise(_A, found)))


def _sizes(k: Kernel) -> Proved:
    """``w^T y = e + alpha mu kappa`` and ``|y|^2 - (w^T y)^2 = |x + alpha u|^2 - e^2``, ``e = w^T (x + alpha u)``."""
    moved, unit, small, _ = (k.part(k.assume(GUARDS), each) for each in GUARDS.parts)
    base = _x + _u * ALPHA
    along = k.instantiate(moved, _w)
    known = [
        *(k.instantiate(moved, each) for each in (RAW, _x, _u)),
        *(along, unit),
        expanded(k, dot(base, base), (1,), (2 * ALPHA, dot(_x, _u)), (ALPHA**2, dot(_u, _u))),
        expanded(k, dot(_w, base), (1, dot(_w, _x)), (ALPHA, dot(_w, _u))),
        expanded(k, dot(_x, _x), (1,)),
    ]
    pull, height = ALPHA * MU * KAPPA, Tensor(dot(_w, base))
    across = k.arithmetic(known, sp.Eq(_SIZE - _ALONG**2, Tensor(dot(base, base)) - height**2, evaluate=False))
    level = k.arithmetic([along, unit, known[6]], sp.Eq(_ALONG, height + pull, evaluate=False))
    bounds = [
        k.textbook(EUCLIDEAN, y=_w, z=base),
        k.textbook(EUCLIDEAN, y=_x, z=_u),
        *(unit, small, known[5], known[7]),
    ]
    below = k.arithmetic(bounds, sp.And(sp.Le(Tensor(dot(base, base)), _REACH**2), sp.Abs(height) <= _REACH))
    return k.conjunction(across, level, below)


def proof(k: Kernel) -> Proved:
    """The step of the edited layer; its parts along and across w."""
    sizes, strong = _sizes(k), k.part(k.assume(GUARDS), GUARDS.parts[3])
    side = k.arithmetic([sizes, strong], SIDE)
    far = k.arithmetic([sizes, strong], sp.Ge(_ALONG**2, (_STRONG - _REACH) ** 2, evaluate=False))
    across = k.arithmetic([sizes], sp.Le(_SIZE - _ALONG**2, _REACH**2, evaluate=False))
    between = _REACH**2 * (_STRONG - _REACH) ** 2
    near = [k.arithmetic([across], NEAR.lhs <= between), k.arithmetic([far], between <= NEAR.rhs)]
    found = k.conjunction(k.arithmetic(near, NEAR), side)
    found = k.discharge(GUARDS, found)
    for letter in reversed(_LETTERS):
        found = k.generalise(letter, found)
    step = _step(k)
    for each in (MU, _W, VectorLetter("z"), matrix("G")):
        step = k.generalise(each, step)
    return k.conjunction(step, found)


def short_direction() -> tuple[Any, Any]:
    """The tangent of the angle of ``y = x + alpha mu kappa w`` to w, and the bound with |w| left out (K7)."""
    w, x = sp.Matrix([sp.Rational(1, 10), 0]), sp.Matrix([0, 1])
    y = x + 3 * w
    along = (y.T * w)[0] / sp.sqrt((w.T * w)[0])
    return sp.sqrt((y.T * y)[0] - along**2) / along, sp.Rational(1, 3 - 1)


def short_direction_breaks_it() -> Verdict:
    """The bound of the statement, read for a w that is not a unit vector, is false."""
    tangent, bound = short_direction()
    return holds(f"tangent {tangent}, bound {bound}") if tangent > bound else fails(f"{tangent} <= {bound}")


PM_S3 = register(
    Statement(
        id="PM-S3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "sharpens Li-Altafini, section 2.3"),
        title="A one-layer guarantee for steering",
        systems=("multihead-map",),
        claims=(Formula(for_every(STEP, matrix("G"), VectorLetter("z"), _W, MU)), Formula(STEERED)),
        proof=proof,
        property_tests=(OnInstances(steered_layer),),
        vectors=(
            Vector("a short w: the tangent and the bound for a unit w", short_direction, decimals("10/3", "1/2")),
        ),
        variants=(
            Variant(
                "|w| = 1",
                "d = 2, x = e_2, u = 0, w = e_1/10, alpha = 1, mu = 3, kappa = 1: the tangent is 10/3, the bound 1/2",
                short_direction_breaks_it,
            ),
            Variant(
                "kappa_i != 0",
                "a token with kappa_i = 0 has the same next state for every mu",
                FirstFailure(unsteered_token),
            ),
        ),
    )
)
