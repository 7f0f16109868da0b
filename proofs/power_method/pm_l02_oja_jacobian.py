"""PM-L2: the exact Jacobian of the Oja map, at every state.

``d f_i / d x_j = (1/r_i)(I - yhat_i yhat_i^T)(delta_ij I + (alpha/n) V)``.  The paper keeps terms up to alpha^2.
Reference: Li-Altafini, Lemma 2, eq. (11).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_a01_standing_assumption import GENERIC_V
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image, instance, state_jacobian
from eigentoken.proofs.properties.jacobian_checks import oja_jacobian
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import (
    ALPHA,
    SLOT,
    TOKENS,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    Norm,
    differentiate,
    direction,
    dot,
    factor,
    matrix,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Slope, Tensor, VectorLetter
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation

GENERIC_TOKENS = [["3/5", "4/5"], ["5/13", "-12/13"]]
TV14 = instance("oja-map", GENERIC_TOKENS, V=GENERIC_V, alpha="1/3")


def _jacobian() -> tuple[Any, Any]:
    """The derivative of the Oja map at token i along w = (w_1, ..., w_n)."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions())
    state = system("oja-map").advance(algebra, {"V": Letter("V"), "alpha": ALPHA}, vector("x", SLOT))
    moved = differentiate(at(state, Index("token", "i")), direction("x", "w"), algebra.assumptions)
    return moved, algebra.assumptions


def _claimed() -> Any:
    """``(1/r_i)(I - yhat_i yhat_i^T)(w_i + (alpha/n) V sum_j w_j)``."""
    i, j = Index("token", "i"), Index("token", "j")
    push = vector("w", i) + vector("w", j).applied(matrix("V")).summed(j) * (ALPHA / TOKENS)
    y, r = vector("y", i), Norm("r", (i,))
    return factor(r, -1) * (push - factor(r, -2) * dot(y, push) * y)


W = VectorLetter("w")
_STEP = sp.Symbol("a", positive=True)
#: With ``a = alpha lambda_1 >= 1`` the true multiplier of zero-sum perturbations is below 1, its truncation is not.
TRUNCATED = ForAll(
    _STEP, proposition(_STEP >= 1), proposition(sp.And(1 / (1 + _STEP) < 1, sp.Ge(1 - _STEP + _STEP**2, 1)))
)


def _slope(k: Kernel) -> Proved:
    """The derivative by the dimension-free calculus, in the form of the paper."""
    z = vector(Z.name)
    found = k.slope(dot(z, RAW) * factor(Norm("r", (TOKEN,)), -1))
    left, value = found.proposition.word.relation.args
    claimed = dot(z, _claimed())
    same = k.reduction(value.expression, claimed)
    return at_every_token(k, k.arithmetic([found, same], sp.Eq(left, Tensor(claimed), evaluate=False)), TOKEN, W, Z)


def proof(k: Kernel) -> Proved:
    large = k.assume(_STEP >= 1)
    return k.conjunction(_slope(k), k.generalise(_STEP, k.arithmetic([large], TRUNCATED.body), TRUNCATED.guard))


def jacobian() -> Formula:
    """``D[y_i / r_i](w) = (1/r_i)(I - yhat_i yhat_i^T)(w_i + (alpha/n) V sum_j w_j)``."""
    z = vector(Z.name)
    moved = Slope(dot(z, RAW) * factor(Norm("r", (TOKEN,)), -1))
    return Formula(for_every(sp.Eq(moved, Tensor(dot(z, _claimed())), evaluate=False), TOKEN, W, Z))


def derive() -> Derivation:
    """The derivative by the dimension-free calculus."""
    return Derivation(
        (
            tensor(
                "jacobian",
                "Differentiating $x_i \\mapsto y_i/\\lVert y_i\\rVert$, $y_i = x_i + \\frac{\\alpha}{n}\\sum_j V x_j$, "
                "along $w = (w_1, \\dots, w_n)$, for all $n$ and $d$.",
                _jacobian,
                _claimed(),
                r"\mathrm{d} f_i(w) = \frac{1}{r_i}\Big(I - \frac{y_i y_i^{\top}}{r_i^2}\Big)\Big(w_i + "
                r"\frac{\alpha}{n} \sum_j V w_j\Big)",
                establishes=("the exact Jacobian of the Oja map",),
            ),
        )
    )


def truncation_misleads() -> Verdict:
    """At V = diag(1, 1/2), alpha = 3/2, n = 2 the true multipliers are inside, the truncated one is 7/4."""
    from eigentoken.proofs.properties.exact_points import stable_point
    from eigentoken.theory.language.verdicts import fails, holds

    a = sp.Rational(3, 2)
    truncated = 1 - a + a**2
    shown = holds(f"the truncated multiplier is {truncated}") if truncated > 1 else fails(f"it is {truncated}")
    return all_of({"true spectrum": stable_point(TRUNCATION, "consensus"), "truncated": shown})


TRUNCATION = instance("oja-map", [["1", "0"], ["1", "0"]], V=[["1", "0"], ["0", "1/2"]], alpha="3/2")

PM_L2 = register(
    Statement(
        id="PM-L2",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 2, eq. (11)"),
        title="The exact Jacobian of the Oja map",
        systems=("oja-map",),
        claims=(jacobian(), Formula(TRUNCATED)),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=(
                r"The Jacobian is given up to second order in $\alpha$, from $1/r_i = 1 - \alpha c_i + "
                r"\frac{\alpha^2}{2}(3c_i^2 - \lVert u\rVert^2) + O(\alpha^3)$, $c_i = x_i^{\top}u$."
            ),
            wrong=(
                r"The truncation is not harmless for large steps: at principal consensus the multiplier "
                r"$1/(1+\alpha\lambda_1)$ becomes $1 - \alpha\lambda_1 + \alpha^2\lambda_1^2$, which is at least 1 as "
                r"soon as $\alpha\lambda_1 \geq 1$."
            ),
            counterexamples=(
                Counterexample(
                    "truncation",
                    r"$V = \operatorname{diag}(1, \frac12)$, $\alpha = \frac32$: the consensus point is stable, the "
                    r"truncated Jacobian has the eigenvalue $\frac74$.",
                    TRUNCATION,
                    truncation_misleads,
                ),
            ),
        ),
        vectors=(
            Vector(
                "TV14, image",
                lambda: image(TV14),
                ("0.646796544678355", "0.762662592364501", "0.542322929504641", "-0.840170125708778"),
            ),
            Vector(
                "TV14, Jacobian",
                lambda: state_jacobian(TV14),
                (
                    "0.5469629036733",
                    "-0.3581371373957",
                    "0.04790624057616",
                    "0.06510130188479",
                    "-0.4638666163845",
                    "0.3037278415221",
                    "-0.04062817710401",
                    "-0.05521091179076",
                    "0.1567338939681",
                    "0.03375059839128",
                    "0.8676817507284",
                    "0.4926616124886",
                    "0.1011704438524",
                    "0.02178573461732",
                    "0.5600814579497",
                    "0.3180090326514",
                ),
            ),
        ),
        property_tests=(OnInstances(oja_jacobian),),
    )
)
