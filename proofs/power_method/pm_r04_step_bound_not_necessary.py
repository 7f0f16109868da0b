"""PM-R4: the step bound of Theorem 2 is sufficient, not necessary.  Reference: Li-Altafini, Remark 4."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.symbols import alpha
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.point_checks import step_bound
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Computation, Derivation, Inequality

LARGE = instance("oja-map", [["1", "0"]] * 3, V=[["1", "0"], ["0", "-1/2"]], alpha="10")


def derive() -> Derivation:
    """The bound implies the threshold; a step twenty times larger that is stable all the same."""
    top, last, norm = sp.symbols("lambda_1 lambda_d N", real=True)
    return Derivation(
        (
            Inequality(
                name="sufficient",
                says="The bound of Theorem 2, $N = \\lVert V\\rVert$, implies the threshold of PM-L4.",
                hypotheses=(top > 0, top <= norm, sp.Abs(last) <= norm, alpha * norm < sp.Rational(1, 2)),
                conclusion=alpha * (sp.Abs(last) - top) < 2,
            ),
            Inequality(
                name="no bound needed",
                says="If $|\\lambda_d| \\leq \\lambda_1$ there is no threshold at all.",
                hypotheses=(top > 0, sp.Abs(last) <= top),
                conclusion=alpha * (sp.Abs(last) - top) < 2,
            ),
            Computation(
                name="large step",
                says="For $V = \\operatorname{diag}(1, -\\frac12)$ consensus on $v_1$ is stable at $\\alpha = 10 = 20 "
                "\\cdot \\frac{1}{2\\lVert V\\rVert}$.",
                run=lambda: point_is(LARGE, "consensus", stable="stable"),
                formula=r"\Big\{-\tfrac{4}{11},\ \tfrac{1}{11},\ \tfrac{1}{11}\Big\}",
                uses=("no bound needed",),
            ),
        )
    )


PM_R4 = register(
    Statement(
        id="PM-R4",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 4"),
        title="The step bound of Theorem 2 is not necessary",
        systems=("oja-map",),
        text=(
            r"The bound $\alpha < \frac{1}{2\lVert V\rVert}$ is sufficient for the local part of Theorem 2, not "
            r"necessary: by PM-L4 a condition on $\alpha$ is needed only when $|\lambda_d| > \lambda_1$, and then it "
            r"is $\alpha < 2/(|\lambda_d| - \lambda_1)$."
        ),
        depends=("PM-L4", "PM-T2"),
        derive=derive,
        prose_from=("sufficient", "large step"),
        vectors=(Vector("alpha = 10", lambda: multipliers(LARGE), decimals("-4/11", "1/11 * 2")),),
        property_tests=(OnInstances(step_bound),),
    )
)
