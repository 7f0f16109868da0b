"""PM-DIFF: for ``alpha |V| < 1/sqrt(2)`` the Oja map is a local diffeomorphism.  New here."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import V, alpha
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.jacobian_checks import local_diffeomorphism
from eigentoken.proofs.steps.textbook_maps import INVERSE_FUNCTION
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality


def derive() -> Derivation:
    """A kernel vector is a fixed point of a contraction."""
    g, w, c, tan = sp.symbols("g omega c T", real=True)
    z1, z2, z3 = sp.symbols("z_1 z_2 z_3", real=True)
    mean, factor = sp.symbols("D f", real=True)
    height = sp.Symbol("h", real=True)
    return Derivation(
        (
            recalled(
                "PM-L2",
                "the exact Jacobian of the Oja map",
                "A tangent vector $\\delta$ is in the kernel iff $(I - \\hat y_i\\hat y_i^{\\top})(\\delta_i + \\alpha "
                "V\\delta\\bar x) = 0$ for all $i$, that is $\\delta_i = -\\alpha V\\delta\\bar x + c_iy_i$.",
                r"\mathrm{d}f_i = \frac{1}{r_i}(I - \hat y_i\hat y_i^{\top})(\delta_i + \alpha V\delta\bar x)",
            ),
            recalled(
                "PM-DOM",
                "the map is defined and analytic everywhere",
                "In particular the map is continuously differentiable.",
                r"r_i \geq 1 - \alpha\lVert V\rVert > 0",
            ),
            Identity(
                name="oblique projection",
                says="Since $x_i^{\\top}\\delta_i = 0$, $\\delta_i = -\\Pi_i\\alpha V\\delta\\bar x$ with $\\Pi_i = I "
                "- y_ix_i^{\\top}/(x_i^{\\top}y_i)$. In a basis with $x_i = (1,0,0)$, $y_i \\propto (1, T, 0)$: "
                "$\\Pi_i(z_1,z_2,z_3) = (0, z_2 - Tz_1, z_3)$, and",
                left=(1 + tan**2) * (z1**2 + z2**2 + z3**2) - ((z2 - tan * z1) ** 2 + z3**2),
                right=(z1 + tan * z2) ** 2 + tan**2 * z3**2,
                establishes=("the oblique projection has norm 1/cos",),
            ),
            Inequality(
                name="norm of the projection",
                says="So $\\lVert\\Pi_iz\\rVert^2 \\leq (1 + T^2)\\lVert z\\rVert^2$, $1 + T^2 = 1/\\cos^2\\angle(x_i, "
                "y_i)$.",
                hypotheses=(),
                conclusion=(z2 - tan * z1) ** 2 + z3**2 <= (1 + tan**2) * (z1**2 + z2**2 + z3**2),
                uses=("oblique projection",),
            ),
            Inequality(
                name="angle",
                says="With $\\alpha u = (g, \\omega)$, $g^2 + \\omega^2 \\leq c^2$, $c = \\alpha\\lVert V\\rVert < 1$: "
                "$\\cos^2\\angle(x_i, y_i) \\geq 1 - c^2$.",
                hypotheses=(g**2 + w**2 <= c**2, c >= 0, c < 1),
                conclusion=(1 + g) ** 2 >= (1 - c**2) * ((1 + g) ** 2 + w**2),
            ),
            Inequality(
                name="contraction",
                says="So $D = \\lVert\\delta\\bar x\\rVert$ satisfies $D \\leq fD$ with $f = c/\\sqrt{1-c^2}$; for "
                "$c^2 < \\frac12$ this forces $D = 0$.",
                hypotheses=(
                    c >= 0,
                    c**2 < sp.Rational(1, 2),
                    factor >= 0,
                    sp.Eq(factor**2 * (1 - c**2), c**2),
                    mean >= 0,
                    mean <= factor * mean,
                ),
                conclusion=sp.Eq(mean, 0),
                uses=("norm of the projection", "angle"),
            ),
            Inequality(
                name="no kernel",
                says="Then $\\delta_i = -\\Pi_i\\alpha V\\delta\\bar x = 0$ for every $i$: its norm $h$ is at most $fD "
                "= 0$.",
                hypotheses=(height >= 0, height <= factor * mean, sp.Eq(mean, 0)),
                conclusion=sp.Eq(height, 0),
                uses=("contraction", "from PM-L2"),
                establishes=("the derivative has no kernel",),
            ),
            Citation(
                name="local diffeomorphism",
                says="The map is analytic by PM-DOM.",
                theorem=INVERSE_FUNCTION,
                establishes=("the map is a local diffeomorphism",),
                formula=r"\alpha\lVert V\rVert < \tfrac{1}{\sqrt2} \implies f \text{ is a local diffeomorphism of } "
                r"(S^{d-1})^n",
                uses=("no kernel", "from PM-DOM"),
            ),
        )
    )


PM_DIFF = register(
    Statement(
        id="PM-DIFF",
        kind=Kind.EXTENSION,
        source=Source(HERE, "needed for PM-T2"),
        title="The Oja map is a local diffeomorphism for small steps",
        systems=("oja-map",),
        conditions=(Relation(alpha * SpectralNorm(V) < 1 / sp.sqrt(2)),),
        text=r"If $\alpha\lVert V\rVert < 1/\sqrt2$, the Oja map is a local diffeomorphism of $(S^{d-1})^n$.",
        depends=("PM-L2", "PM-DOM"),
        derive=derive,
        prose_from=("local diffeomorphism",),
        property_tests=(OnInstances(local_diffeomorphism),),
    )
)
