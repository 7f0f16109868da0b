"""PM-L10: the exact Jacobian of the attention map, at every state, with any mask and any number of heads.

Reference: Li-Altafini, Lemma 10, eqs. (15)-(17), there up to second order in alpha.
"""

from __future__ import annotations

from typing import Any

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_a01_standing_assumption import GENERIC_V
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import GENERIC_TOKENS
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import DIGITS, image, instance, state_jacobian
from eigentoken.proofs.properties.jacobian_checks import attention_jacobian
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import (
    ALPHA,
    HEAD,
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    MaskEntry,
    Norm,
    differentiate,
    direction,
    dot,
    exponential,
    factor,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.statements.layer_systems import ANY, Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Printed, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation

TV13 = instance("attention-map", GENERIC_TOKENS, V=GENERIC_V, M=[["1/2", "-1"], ["2", "1/4"]], alpha="1/3")


def _parts(heads: bool, mask: str | None) -> tuple[Any, Any]:
    """The derivative of the push u_i along w, from the system."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions())
    x = vector("x", SLOT)
    if heads:
        parameters: dict[str, Any] = {"heads": [{"F": Letter("F", False, (HEAD,)), "M": Letter("M", False, (HEAD,))}]}
        push = system("multihead-map").influence(algebra, parameters, x, mask)
    else:
        push = system("attention-map").influence(algebra, {"V": Letter("V"), "M": Letter("M")}, x, mask)
    moved = differentiate(at(push, Index("token", "i")), direction("x", "w"), algebra.assumptions)
    return moved, algebra.assumptions


def _claimed(heads: bool, mask: str | None) -> Any:
    """``V [ sum_l a_il (w_l + (x_l - xbar_i) x_i^T M w_l) + C_i M^T w_i ]``."""
    i, l, j = (Index("token", name) for name in "ilj")
    value = (Letter("F", False, (HEAD,)),) if heads else (Letter("V"),)
    score = (Letter("M", False, (HEAD,)),) if heads else (Letter("M"),)

    def x(index: Any) -> Any:
        return vector("x", index)

    def weight(index: Any) -> Any:
        masks = () if mask is None else (MaskEntry(mask, i, index),)
        found = exponential(dot(x(i), x(index), score)) * factor(row_sum(dot(x(i), x(index), score), index, masks), -1)
        for each in masks:
            found = found * factor(each)
        return found

    mean = (weight(j) * x(j)).summed(j)
    w_l, w_i = vector("w", l), vector("w", i)
    own_score = dot(x(i), w_l, score)
    first = (weight(l) * (w_l + own_score * (x(l) - mean))).summed(l)
    height = dot(w_i, x(l) - mean, score)
    covariance = (weight(l) * height * (x(l) - mean)).summed(l)
    total = (first + covariance).applied(value)
    return total.summed(HEAD) if heads else total


def _whole() -> tuple[Any, Any]:
    """The derivative of the map at token i, with dy_i left as a named vector."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions())
    parameters = {"V": Letter("V"), "M": Letter("M"), "alpha": ALPHA}
    state = system("attention-map").advance(algebra, parameters, vector("x", SLOT))
    along = {"y": lambda *indices: vector("dy", *indices)}
    return differentiate(at(state, Index("token", "i")), along, algebra.assumptions), algebra.assumptions


def _normalised() -> Any:
    i = Index("token", "i")
    y, dy, r = vector("y", i), vector("dy", i), Norm("r", (i,))
    return factor(r, -1) * (dy - factor(r, -2) * dot(y, dy) * y)


def derive() -> Derivation:
    """The push with full attention, with a mask and with many heads; then the normalisation."""
    return Derivation(
        (
            tensor(
                "push",
                "The derivative of $u_i = V\\sum_j a_{ij}x_j$ along $w$, for all $n$ and $d$ and any $V$, $M$; $\\bar "
                "x_i^a = \\sum_j a_{ij}x_j$, $C_i = \\sum_j a_{ij}(x_j - \\bar x_i^a)(x_j - \\bar x_i^a)^{\\top}$.",
                lambda: _parts(False, None),
                _claimed(False, None),
                r"\mathrm{d}u_i(w) = V\Big[\sum_l a_{il}\big(I + (x_l - \bar x_i^a)x_i^{\top}M\big)w_l + "
                r"C_iM^{\top}w_i\Big]",
                establishes=("the derivative of the attention push",),
            ),
            tensor(
                "push, masked",
                "The same with any 0/1 mask, $A$ being the masked softmax.",
                lambda: _parts(False, "mask"),
                _claimed(False, "mask"),
                r"\mathrm{d}u_i(w) = V\Big[\sum_l a_{il}\big(I + (x_l - \bar x_i^a)x_i^{\top}M\big)w_l + "
                r"C_iM^{\top}w_i\Big]",
            ),
            tensor(
                "push, many heads",
                "And with any number of heads.",
                lambda: _parts(True, None),
                _claimed(True, None),
                r"\mathrm{d}u_i(w) = \sum_h F_h\Big[\sum_l a^h_{il}\big(I + (x_l - \bar x_i^{h})x_i^{\top}M_h\big)w_l "
                r"+ C^h_iM_h^{\top}w_i\Big]",
            ),
            tensor(
                "normalisation",
                "The derivative of $y_i/\\lVert y_i\\rVert$ in terms of that of $y_i = x_i + \\alpha u_i$.",
                _whole,
                _normalised(),
                r"\mathrm{d}f_i = \frac{1}{r_i}\,(I - \hat y_i\hat y_i^{\top})\,(w_i + \alpha\,\mathrm{d}u_i(w))",
                uses=("push",),
                establishes=("the exact Jacobian of the attention map",),
            ),
        )
    )


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
        systems=("attention-map", "multihead-map"),
        covers=Covers(masks=(ANY,)),
        text=(
            r"At every state with $y_i \neq 0$, for any $V$ and $M$: $\displaystyle \frac{\partial u_i}{\partial x_l} "
            r"= V\big[a_{il}\big(I + (x_l - \bar x_i^a)x_i^{\top}M\big) + \delta_{il}C_iM^{\top}\big]$ and "
            r"$\displaystyle \frac{\partial f_i}{\partial x_l} = \frac{1}{r_i}(I - \hat y_i\hat "
            r"y_i^{\top})\Big(\delta_{il}I + \alpha\frac{\partial u_i}{\partial x_l}\Big)$. With many heads "
            r"$V[\cdot]$ becomes $\sum_h F_h[\cdot]^h$; with a 0/1 mask $A$ is the masked softmax."
        ),
        derive=derive,
        prose_from=("push, masked", "push, many heads", "normalisation"),
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
