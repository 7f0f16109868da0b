"""PM-DIFF: for ``alpha |V| < 1/sqrt(2)`` the derivative of the Oja map has no kernel, at every state.  New here.

With ``g = alpha V wbar``: a tangent family w in the kernel has ``w_i + g = c_i y_i``, so that ``|w_i|^2 h_i^2 <= r_i^2 |g|^2``,
``h_i = x_i^T y_i``, and ``h_i^2 >= (1 - alpha^2 |V|^2) r_i^2``.  Summed over the tokens that leaves ``w = 0``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.power_method.symbols import V, alpha
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.jacobian_checks import local_diffeomorphism
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.saddle_theorems import INJECTIVE, STILL
from eigentoken.proofs.steps.slopes import ALONG, HALF_SQUARE, SHORT, quotient, value_of
from eigentoken.proofs.steps.step_lengths import push_sizes
from eigentoken.proofs.steps.theorems import EUCLIDEAN, OPERATOR_NORM
from eigentoken.theory.calculus import TOKENS, Index, Norm, dot, factor, matrix, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.multipliers import TANGENT
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement

_Z, _X, _W, _OTHER = vector(Z.name), vector("x", TOKEN), vector("w", TOKEN), Index("token", "j")
_LENGTH = factor(Norm("r", (TOKEN,)))
_MEAN = vector("w", _OTHER).summed(_OTHER) / TOKENS
#: ``g = alpha V wbar``, and ``D_i = w_i + g``, the derivative of the raw step.
_PUSHED = _MEAN.applied(matrix("V")) * alpha
_MOVED = _W + _PUSHED
_BOUND = alpha * SpectralNorm(V)
SHORT_STEP = 1 / sp.sqrt(2) > _BOUND


def _radial(k: Kernel) -> Proved:
    """``r_i^2 z^T D_i = (z^T y_i)(y_i^T D_i)`` for every z, from ``D[y_i / r_i](w) = 0``."""
    still = k.instantiate(k.instantiate(k.assume(STILL), TOKEN), Z)
    step, half = k.slope(dot(_Z, RAW)), k.slope(HALF_SQUARE)
    known = [
        still,
        quotient(k),
        step,
        half,
        k.reduction(value_of(step), dot(_Z, _MOVED)),
        k.reduction(value_of(half), dot(RAW, _MOVED)),
        k.positive(_LENGTH),
    ]
    split = [k.factors(SHORT), k.factors(ALONG)]
    known += [k.supply(each, *(k.arithmetic([known[-1]], part) for part in each.hypotheses)) for each in split]
    equal = sp.Eq(
        Tensor(_LENGTH) ** 2 * Tensor(dot(_Z, _MOVED)), Tensor(dot(_Z, RAW)) * Tensor(dot(RAW, _MOVED)), evaluate=False
    )
    return k.generalise(Z, k.arithmetic(known, equal))


def _oblique(k: Kernel) -> Proved:
    """``|w_i|^2 (x_i^T y_i)^2 <= r_i^2 |g|^2``."""
    radial = _radial(k)
    across = RAW - dot(_X, RAW) * _X  # the part of y_i at right angles to x_i
    height, length, size = Tensor(dot(_X, RAW)), Tensor(_LENGTH), Tensor(dot(_W, _W))
    along = k.arithmetic(
        [
            k.instantiate(k.assume(TANGENT), TOKEN),
            k.textbook(EUCLIDEAN, y=_W, z=across),
            expanded(k, dot(_W, across), (1, dot(_W, RAW)), (-1, dot(_X, RAW), dot(_X, _W))),
            expanded(k, dot(across, across), (1, _LENGTH, _LENGTH), (-1, dot(_X, RAW), dot(_X, RAW))),
        ],
        sp.Le(Tensor(dot(_W, RAW)) ** 2, size * (length**2 - height**2), evaluate=False),
    )
    known = [
        k.instantiate(radial, _W),
        k.instantiate(radial, _PUSHED),
        expanded(k, dot(_W, _MOVED), (1, dot(_W, _W)), (1, dot(_W, _PUSHED))),
        expanded(k, dot(_PUSHED, _MOVED), (1, dot(_W, _PUSHED)), (1, dot(_PUSHED, _PUSHED))),
        expanded(k, dot(RAW, _MOVED), (1, dot(_W, RAW)), (1, dot(_PUSHED, RAW))),
    ]
    # with c = y_i^T D_i / r_i^2: r_i^2 |g|^2 = (c r_i^2 - w_i^T y_i)^2 + r_i^2 |w_i|^2 - (w_i^T y_i)^2
    push = Tensor(dot(_PUSHED, _PUSHED))
    square = sp.Eq(
        length**2 * push,
        Tensor(dot(_PUSHED, RAW)) ** 2 + length**2 * size - Tensor(dot(_W, RAW)) ** 2,
        evaluate=False,
    )
    equal = k.arithmetic([*known, k.positive(_LENGTH)], square)
    return k.arithmetic([equal, along], sp.Le(size * height**2, length**2 * push, evaluate=False))


def _steep(k: Kernel) -> Proved:
    """``(x_i^T y_i)^2 >= (1 - alpha^2 |V|^2) r_i^2``."""
    height, length = Tensor(dot(_X, RAW)), Tensor(_LENGTH)
    push = influence()
    known = [
        *push_sizes(k, one() / TOKENS),
        expanded(k, dot(_X, RAW), (1,), (alpha, dot(_X, push))),
        expanded(k, dot(RAW, RAW), (1,), (2 * alpha, dot(_X, push)), (alpha**2, dot(push, push))),
        expanded(k, dot(RAW, RAW), (1, _LENGTH, _LENGTH)),
    ]
    return k.arithmetic(known, sp.Ge(height**2, (1 - _BOUND**2) * length**2, evaluate=False))


def proof(k: Kernel) -> Proved:
    """``(1 - c^2) sum_i |w_i|^2 <= n |g|^2 <= c^2 sum_i |w_i|^2`` with ``c = alpha |V|``, ``c^2 < 1/2``."""
    size, push = Tensor(dot(_W, _W)), Tensor(dot(_PUSHED, _PUSHED))
    known = [_oblique(k), _steep(k), k.positive(_LENGTH), k.square(_W)]
    each = k.arithmetic(known, sp.Le((1 - _BOUND**2) * size, push, evaluate=False))
    total, apart = dot(_W, _W).summed(TOKEN), _W - _MEAN
    pushed = _MEAN.applied(matrix("V"))
    bounded = k.textbook(OPERATOR_NORM, A=V, z=_MEAN)
    sums = [
        k.summed(k.generalise(TOKEN, each)),
        k.scaling(total, 1 - _BOUND**2),
        expanded(k, dot(_PUSHED, _PUSHED).summed(TOKEN), (alpha**2 * TOKENS, dot(pushed, pushed))),
        k.part(bounded, bounded.proposition.parts[0]),
        k.square(apart, TOKEN),
        expanded(k, dot(apart, apart).summed(TOKEN), (1, total), (-TOKENS, dot(_MEAN, _MEAN))),
        k.given(SHORT_STEP),
        k.part(bounded, bounded.proposition.parts[1]),
        k.square(_W, TOKEN),
    ]
    nothing = k.arithmetic(sums, sp.Eq(Tensor(total), 0, evaluate=False))
    least = k.summand(k.generalise(TOKEN, k.square(_W)), TOKEN)
    zero = k.arithmetic([nothing, least, k.square(_W)], sp.Eq(size, 0, evaluate=False))
    found = k.discharge(STILL, k.generalise(TOKEN, zero))
    return k.generalise(W, found, TANGENT)


PM_DIFF = register(
    Statement(
        id="PM-DIFF",
        kind=Kind.EXTENSION,
        source=Source(HERE, "needed for PM-T2"),
        title="The derivative of the Oja map is invertible for short steps",
        systems=("oja-map",),
        conditions=(Relation(SHORT_STEP),),
        claims=(Formula(INJECTIVE),),
        proof=proof,
        property_tests=(OnInstances(local_diffeomorphism),),
    )
)
