"""PM-L12: the Jacobian of the attention map where all tokens are on the line of an eigenvector; only s = v^T M v of M enters.

Reference: Li-Altafini, Lemma 12, eqs. (18)-(19).
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e08_attention_map import OTHER, attention_weight
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import W
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.jacobian_checks import bipartite_jacobian
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.slopes import SHORT, quotient, value_of
from eigentoken.theory.calculus import ALPHA, Expression, Index, Letter, Norm, dot, exponential, factor, matrix, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor, VectorLetter
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement

LINE = VectorLetter("v")
HEIGHT = sp.Symbol("lambda", real=True)
_Z, _V, _L = vector(Z.name), vector(LINE.name), Index("token", "l")
_SCORE = dot(_V, _V, (Letter("M"),))


def sigma(token: Index) -> Expression:
    """``v^T x_i``."""
    return dot(_V, vector("x", token))


def _there(token: Index) -> Expression:
    """``(v^T x_i) v``."""
    return sigma(token) * _V


#: ``x_i = (v^T x_i) v`` for every token: all are on the line of v.
ON_THE_LINE = for_every(
    sp.Eq(Tensor(dot(_Z, vector("x", TOKEN))), Tensor(dot(_Z, _there(TOKEN))), evaluate=False), TOKEN, Z
)
#: ``V v = lambda v``.
EIGENVECTOR = for_every(
    sp.Eq(Tensor(dot(_Z, _V.applied(matrix("V")))), HEIGHT * Tensor(dot(_Z, _V)), evaluate=False), Z
)
PLACE = Conjunction((ON_THE_LINE, EIGENVECTOR))


def weight_there() -> Expression:
    """``exp(s sigma_i sigma_j) / sum_l exp(s sigma_i sigma_l)`` with ``s = v^T M v``."""
    exponent = _SCORE * sigma(TOKEN) * sigma(OTHER)
    return exponential(exponent) * factor(row_sum(exponent, OTHER), -1)


def _moved() -> Expression:
    """``w_i + alpha sum_j a_ij V w_j``."""
    pushed = attention_weight() * vector("w", OTHER).applied(matrix("V"))
    return vector("w", TOKEN) + pushed.summed(OTHER) * ALPHA


def _everywhere(said: Proposition) -> Proposition:
    """For every v and lambda: if the tokens are on the line of an eigenvector, this."""
    return ForAll(LINE, TRUE, ForAll(HEIGHT, TRUE, Implication(PLACE, said)))


#: ``a_ij`` depends on M through s alone.
WEIGHTS = for_every(sp.Eq(Tensor(attention_weight()), Tensor(weight_there()), evaluate=False), TOKEN, OTHER)
#: ``y_i = (sigma_i + alpha lambda sum_j a_ij sigma_j) v``.
RADIAL = sp.Eq(
    Tensor(dot(_Z, RAW)),
    (Tensor(sigma(TOKEN)) + ALPHA * HEIGHT * Tensor((attention_weight() * sigma(OTHER)).summed(OTHER)))
    * Tensor(dot(_Z, _V)),
    evaluate=False,
)
#: ``D[y_i / r_i](w) = (1/r_i)(w_i + alpha sum_j a_ij V w_j)`` at right angles to v.
BLOCK = sp.Eq(Slope(dot(_Z, RAW) * SHORT), Tensor(dot(_Z, SHORT * _moved())), evaluate=False)
_ACROSS = proposition(sp.Eq(Tensor(dot(_Z, _V)), 0, evaluate=False))
ACROSS = ForAll(TOKEN, TRUE, ForAll(W, TRUE, ForAll(Z, _ACROSS, proposition(BLOCK))))


def _radial(k: Kernel, line: Proved, eigen: Proved) -> Proved:
    """The raw step is along v, for every z."""
    turned = _Z.applied((Letter("V", True),))
    own, pushed = dot(_Z, vector("x", TOKEN)), dot(_Z, vector("x", OTHER).applied(matrix("V")))
    form = dot(_Z, _V.applied(matrix("V")))
    there = k.instantiate(k.instantiate(line, OTHER), turned)  # z^T V x_j = sigma_j z^T V v
    along = k.instantiate(eigen, Z)
    each = attention_weight() * sigma(OTHER) * dot(_Z, _V)
    parts = (
        k.product(sigma(OTHER), form),
        k.product(attention_weight(), pushed),
        k.product(attention_weight() * sigma(OTHER), dot(_Z, _V)),
        k.product(attention_weight(), sigma(OTHER)),
    )
    equal = sp.Eq(Tensor(attention_weight() * pushed), HEIGHT * Tensor(each), evaluate=False)
    summed = k.summed(k.generalise(OTHER, k.arithmetic([there, along, *parts], equal)))
    total = (attention_weight() * pushed).summed(OTHER)
    mean = (attention_weight() * sigma(OTHER)).summed(OTHER)
    pieces = (
        k.reduction(dot(_Z, RAW), own + total * ALPHA),
        k.total(own, total * ALPHA),
        k.scaling(total, ALPHA),
        k.scaling(mean * dot(_Z, _V), HEIGHT),
        k.product(mean, dot(_Z, _V)),
        k.instantiate(k.instantiate(line, TOKEN), Z),
        k.product(sigma(TOKEN), dot(_Z, _V)),
    )
    return k.arithmetic([summed, *pieces], RADIAL)


def _rest() -> Expression:
    """What the derivatives of the weights give, divided by ``alpha z^T V v``."""

    def mean(of: Expression, index: Index) -> Expression:
        return (weight_there().at((OTHER, index)) * of).summed(index)

    w_i, w_l = vector("w", TOKEN), vector("w", _L)
    height, middle = sigma(_L) - mean(sigma(OTHER), OTHER), mean(_there(OTHER), OTHER)
    own = dot(_there(TOKEN), w_l, (Letter("M"),)) * height
    spread = dot(w_i, _there(_L) - middle, (Letter("M"),)) * height
    return mean(own + spread, _L)


def _block(k: Kernel, line: Proved, eigen: Proved, radial: Proved) -> Proved:
    """At right angles to v both ``z^T y_i`` and the derivatives of the weights vanish."""
    across = k.assume(_ACROSS)
    step = k.slope(dot(_Z, RAW))
    there = k.congruent(value_of(step), "x", _there(TOKEN), TOKEN, line)
    form = dot(_Z, _V.applied(matrix("V")))
    linear = dot(_Z, _moved())
    linear_there = k.congruent(linear, "x", _there(TOKEN), TOKEN, line)
    lost = form * _rest() * ALPHA
    pieces = (
        k.reduction(value_of(there), value_of(linear_there) + lost),
        k.total(value_of(linear_there), lost),
        k.product(form, _rest() * ALPHA),
        k.instantiate(eigen, Z),
    )
    of_step = k.arithmetic([step, there, linear_there, across, *pieces], sp.Eq(Slope(dot(_Z, RAW)), Tensor(linear)))
    ends = (k.product(dot(_Z, RAW), factor(Norm("r", (TOKEN,)), -3)), k.product(SHORT, linear))
    return k.arithmetic([quotient(k), of_step, radial, across, *ends], BLOCK)


def proof(k: Kernel) -> Proved:
    """Equals for equals on the line; what is left of the derivatives of the weights is along v."""
    place = k.assume(PLACE)
    line, eigen = k.part(place, ON_THE_LINE), k.part(place, EIGENVECTOR)
    weights = k.congruent(attention_weight(), "x", _there(TOKEN), TOKEN, line)
    shown = k.arithmetic([weights], WEIGHTS.body.body)
    radial = _radial(k, line, eigen)
    block = k.generalise(Z, _block(k, line, eigen, radial), _ACROSS)
    found = (
        at_every_token(k, shown, TOKEN, OTHER),
        at_every_token(k, radial, TOKEN, Z),
        at_every_token(k, block, TOKEN, W),
    )
    return k.conjunction(*(at_every_token(k, k.discharge(PLACE, each), LINE, HEIGHT) for each in found))


PM_L12 = register(
    Statement(
        id="PM-L12",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 12, eqs. (18)-(19)"),
        title="The Jacobian of the attention map at a bipartite point",
        systems=("attention-map",),
        claims=tuple(Formula(_everywhere(each)) for each in (WEIGHTS, for_every(RADIAL, TOKEN, Z), ACROSS)),
        proof=proof,
        property_tests=(OnInstances(bipartite_jacobian),),
    )
)
