"""PM-C2: a dominant complex pair: a circle of consensus states that rotates.  New here; Li-Altafini, section 2.1.2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import alpha, any_score, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import rotating_consensus
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.textbook_maps import NORMALLY_HYPERBOLIC_CIRCLE
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality

A, B, R = sp.Symbol("a", real=True), sp.Symbol("b", real=True), sp.Symbol("r", positive=True)
TAU = sp.Symbol("tau", real=True)


def _rotated() -> list[Any]:
    """One step from consensus at (1, 0) for F = [[a, b], [-b, a]] in an orthonormal basis of the plane."""
    from eigentoken.proofs.steps.token_groups import advance_groups

    cos, sin = (1 - TAU**2) / (1 + TAU**2), 2 * TAU / (1 + TAU**2)
    first, second = (R * cos - 1) / alpha, R * sin / alpha
    heads = [{"F": [[first, -second], [second, first]], "M": any_score(2)}]
    return list(advance_groups("multihead-map", {"heads": heads, "alpha": alpha}, [(n, (1, 0))], (R,))[0])


def derive() -> Derivation:
    """I + alpha F on the plane is a scaled rotation; the other directions and the disagreements contract."""
    low, high, grown, before, after, square = sp.symbols("c C g q q_T Y", real=True)
    bound, ratio, power, count = sp.symbols("K a p T", real=True)
    cos, sin = (1 - TAU**2) / (1 + TAU**2), 2 * TAU / (1 + TAU**2)
    x, y = sp.symbols("x_1 x_2", real=True)
    return Derivation(
        (
            recalled(
                "PM-CM",
                "on the consensus manifold the map is the power method of I + alpha F",
                "On consensus states the map is the power method of $I + \\alpha F$ (PM-CM).",
                r"z^+ = (I + \alpha F)z/\lVert(I + \alpha F)z\rVert",
            ),
            Identity(
                name="scaled rotation",
                says="In the basis $\\operatorname{Re}v_1, \\operatorname{Im}v_1$ of the plane, $F$ acts as "
                "$\\big(\\begin{smallmatrix}a & b\\\\ -b & a\\end{smallmatrix}\\big)$, $\\lambda_1 = a + \\mathrm "
                "ib$, and $I + \\alpha F$ multiplies the quadratic form $x_1^2 + x_2^2$ of the coordinates by $|1 + "
                "\\alpha\\lambda_1|^2$: it is a rotation by $\\arg(1 + \\alpha\\lambda_1)$ times $|1 + "
                "\\alpha\\lambda_1|$.",
                left=((1 + alpha * A) * x + alpha * B * y) ** 2 + (-alpha * B * x + (1 + alpha * A) * y) ** 2,
                right=((1 + alpha * A) ** 2 + (alpha * B) ** 2) * (x**2 + y**2),
                uses=("from PM-CM",),
            ),
            grouped(
                "one step",
                "In an orthonormal plane with $1 + \\alpha\\lambda_1 = r\\mathrm e^{\\mathrm i\\theta}$, $\\tau = "
                "\\tan\\frac\\theta2$: one step of the map, any scores, turns consensus by $\\theta$.",
                _rotated,
                (cos, sin),
                r"(1, 0) \mapsto \Big(<1>,\ <2>\Big)",
                uses=("scaled rotation",),
                establishes=("the circle is invariant and the map on it is conjugate to a rotation",),
            ),
            Inequality(
                name="growth on the plane",
                says="The form $q = x_1^2 + x_2^2$ lies between $c\\lVert z\\rVert^2$ and $C\\lVert z\\rVert^2$, $0 < "
                "c \\leq C$. $T$ steps multiply it by $g = \\sigma^{2T}$, $\\sigma = |1 + \\alpha\\lambda_1|$: so the "
                "squared norm $Y$ of $(I + \\alpha F)^Tz$, the square of the product of the $r(\\tau)$, is $g$ for a "
                "unit $z$, up to a bounded factor.",
                hypotheses=(
                    low > 0,
                    low <= high,
                    grown > 0,
                    sp.Eq(after, grown * before),
                    low <= before,
                    before <= high,
                    low * square <= after,
                    after <= high * square,
                ),
                conclusion=sp.And(square >= low / high * grown, square <= high / low * grown),
                uses=("scaled rotation",),
            ),
            Inequality(
                name="normal directions",
                says="After $T$ steps disagreements are divided by that product (PM-CM), so multiplied by at most "
                "$K\\sigma^{-T}$ with $K = \\sqrt{C/c}$; consensus perturbations across the plane are multiplied by "
                "at most $K'(\\rho/\\sigma)^T$ for a $\\rho < \\sigma$ above all other $|1 + \\alpha\\lambda_\\ell|$. "
                "Either is $K/p$ with $p = a^T$, $a > 1$, and $p \\geq 1 + T(a - 1)$: it is below 1 for a large $T$, "
                "the same for all starts on the circle.",
                hypotheses=(bound >= 0, ratio > 1, power >= 1 + count * (ratio - 1), count * (ratio - 1) >= bound),
                conclusion=bound / power < 1,
                uses=("from PM-CM", "growth on the plane"),
                establishes=("perturbations normal to the circle are contracted on average over an orbit",),
            ),
            Citation(
                name="attraction",
                says="So a power of the map contracts normal to the circle.",
                theorem=NORMALLY_HYPERBOLIC_CIRCLE,
                establishes=("the circle attracts a neighbourhood",),
                formula=r"\operatorname{dist}\big(x(\tau),\ \{x_1 = \dots = x_n \in "
                r"\operatorname{span}(\operatorname{Re}v_1, \operatorname{Im}v_1)\}\big) \to 0",
                uses=("one step", "normal directions"),
            ),
        )
    )


def rotation() -> Sequence[Any]:
    """The angle per layer for lambda = 1 +- 2i, alpha = 3/10: arg(1.3 + 0.6 i), from one step of the map."""
    from eigentoken.proofs.properties.exact_points import image, instance

    document = instance(
        "multihead-map",
        [["1", "0"]] * 2,
        heads=[{"F": [["1", "-2"], ["2", "1"]], "M": [["1", "0"], ["0", "1"]]}],
        alpha="3/10",
    )
    x, y, *_ = image(document)
    return [(y / x).atan()]


PM_C2 = register(
    Statement(
        id="PM-C2",
        kind=Kind.EXTENSION,
        source=Source(HERE, "Case 2 of Li-Altafini, section 2.1.2"),
        title="A dominant complex pair makes consensus rotate",
        systems=("multihead-map",),
        text=(
            r"If a complex pair $\lambda_{1,2}$ of $F$ maximises $|1 + \alpha\lambda|$ strictly and $|1 + "
            r"\alpha\lambda_1| > 1$, the circle of consensus states in $S^{d-1} \cap "
            r"\operatorname{span}(\operatorname{Re}v_1, \operatorname{Im}v_1)$ attracts a neighbourhood, and the "
            r"motion on it is conjugate to a rotation by $\arg(1 + \alpha\lambda_1)$ per layer."
        ),
        depends=("PM-CM",),
        derive=derive,
        prose_from=("attraction",),
        vectors=(Vector("angle per layer", rotation, ("0.432407775571",)),),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "That consensus perturbations across the plane are multiplied by at most a constant times "
                "$(\\rho/\\sigma)^T$ is said in words.",
            ),
        ),
        property_tests=(OnInstances(rotating_consensus),),
    )
)
