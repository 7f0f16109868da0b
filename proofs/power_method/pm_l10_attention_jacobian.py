"""PM-L10: the exact Jacobian of the attention map, at every state, with any number of heads.

Reference: Li-Altafini, Lemma 10, eqs. (15)-(17), there up to second order in alpha.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_a01_standing_assumption import GENERIC_V
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import GENERIC_TOKENS, W
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import DIGITS, image, instance, state_jacobian
from eigentoken.proofs.properties.jacobian_checks import attention_jacobian
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.slopes import OF_THE_MAP, STEP, quotient, value_of
from eigentoken.theory.calculus import (
    ALPHA,
    HEAD,
    Expression,
    Index,
    Letter,
    dot,
    exponential,
    factor,
    vector,
)
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Printed, Source, Statement, Vector

TV13 = instance("attention-map", GENERIC_TOKENS, V=GENERIC_V, M=[["1/2", "-1"], ["2", "1/4"]], alpha="1/3")
OTHER = Index("token", "j")
_VALUE, _SCORE = (Letter("F", False, (HEAD,)),), (Letter("M", False, (HEAD,)),)


def layer_push() -> Expression:
    """``u_i = sum_h F_h sum_j a^h_ij x_j``."""
    return (_weight(OTHER) * vector("x", OTHER)).summed(OTHER).applied(_VALUE).summed(HEAD)


def _weight(index: Index) -> Expression:
    """``a^h_ij``, the softmax of ``x_i^T M_h x_j`` written out."""
    exponent = dot(vector("x", TOKEN), vector("x", index), _SCORE)
    return exponential(exponent) * factor(row_sum(exponent, index), -1)


def push_slope() -> Expression:
    """``sum_h F_h [ sum_l a_il (w_l + (x_l - xbar_i) x_i^T M_h w_l) + C_i M_h^T w_i ]``."""
    l = Index("token", "l")
    x_i, w_i, x_l, w_l = vector("x", TOKEN), vector("w", TOKEN), vector("x", l), vector("w", l)
    mean = (_weight(OTHER) * vector("x", OTHER)).summed(OTHER)
    apart = x_l - mean
    own = _weight(l) * (w_l + dot(x_i, w_l, _SCORE) * apart)
    spread = _weight(l) * dot(w_i, apart, _SCORE) * apart
    return (own + spread).summed(l).applied(_VALUE).summed(HEAD)


_Z = vector(Z.name)
_PUSH = Slope(dot(_Z, layer_push()))
#: ``D[u_i](w)``, in the form of the paper.
OF_THE_PUSH = sp.Eq(_PUSH, Tensor(dot(_Z, push_slope())), evaluate=False)
#: ``D[y_i](w) = w_i + alpha D[u_i](w)``.
OF_THE_STEP = sp.Eq(STEP, Tensor(dot(_Z, vector("w", TOKEN))) + ALPHA * _PUSH, evaluate=False)


def proof(k: Kernel) -> Proved:
    """Each derivative by the dimension-free calculus, and one normal form."""
    push, step = k.slope(dot(_Z, layer_push())), k.slope(dot(_Z, RAW))
    first = k.arithmetic([push, k.reduction(value_of(push), dot(_Z, push_slope()))], OF_THE_PUSH)
    own, rest = dot(_Z, vector("w", TOKEN)), value_of(push) * ALPHA
    parts = (k.total(own, rest), k.scaling(value_of(push), ALPHA))
    second = k.arithmetic([step, push, k.reduction(value_of(step), own + rest), *parts], OF_THE_STEP)
    return k.conjunction(*(at_every_token(k, each, TOKEN, W, Z) for each in (first, second, quotient(k))))


def weights() -> list[Any]:
    """The attention matrix of TV13, row by row."""
    from flint import ctx

    from eigentoken.theory.classification.instances import read_instance
    from eigentoken.theory.classification.jacobians import ball_setting

    before = ctx.dps
    ctx.dps = DIGITS
    try:
        return [entry for row in ball_setting(read_instance(TV13), ctx.prec).attention()[0] for entry in row]
    finally:
        ctx.dps = before


PM_L10 = register(
    Statement(
        id="PM-L10",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 10, eqs. (15)-(17)"),
        title="The exact Jacobian of the attention map",
        systems=("multihead-map",),
        claims=tuple(Formula(for_every(each, TOKEN, W, Z)) for each in (OF_THE_PUSH, OF_THE_STEP, OF_THE_MAP)),
        proof=proof,
        printed=Printed(
            text=r"The Jacobian is given up to second order in $\alpha$.",
            wrong=r"As for PM-L2, the truncation has the wrong stability for $\alpha\lambda_1 \geq 1$; the exact form "
            r"is as short.",
            false=False,
        ),
        vectors=(
            Vector(
                "TV13, attention",
                weights,
                ("0.430453776060771", "0.569546223939229", "0.195200169355166", "0.804799830644834"),
            ),
            Vector(
                "TV13, image",
                lambda: image(TV13),
                ("0.629483284357403", "0.777014024786308", "0.478762999997917", "-0.877944183779923"),
            ),
            Vector(
                "TV13, Jacobian",
                lambda: state_jacobian(TV13),
                (
                    "0.583573049052",
                    "-0.336190795917",
                    "-0.05890346912835",
                    "0.1010261549943",
                    "-0.4727707195256",
                    "0.2723586442893",
                    "0.04771953661603",
                    "-0.08184443758182",
                    "0.009960627304347",
                    "-0.004986210095849",
                    "1.155177296746",
                    "0.5971690331937",
                    "0.005431757392091",
                    "-0.002719094161352",
                    "0.6299445435568",
                    "0.3256499024878",
                ),
            ),
        ),
        property_tests=(OnInstances(attention_jacobian),),
    )
)
