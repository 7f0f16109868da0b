"""PM-CM: on the consensus manifold attention is invisible and the dynamics is the power method of I + alpha F.

New here: it holds at every state x_1 = ... = x_n = z, not only at equilibria, for any heads.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import alpha, any_score, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.jacobian_checks import consensus_manifold
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def two_heads() -> tuple[list[dict[str, Any]], list[list[Any]], list[Any]]:
    """Two heads with arbitrary values and scores on the span of z, Fz, xi, F xi; their sum F; and y = z + alpha F z.

    The basis begins with z; ``y = r (cos, sin, 0, 0)`` in the plane of z and Fz, with the circle parametrised rationally,
    so that F z is any vector; xi lies in the span of e_2, e_3 and F xi anywhere in the four-space.
    """
    r, tau = sp.Symbol("r", positive=True), sp.Symbol("tau", real=True)
    y = [r * (1 - tau**2) / (1 + tau**2), r * 2 * tau / (1 + tau**2), sp.Integer(0), sp.Integer(0)]
    first, total = any_score(4, letter="a"), any_score(4, letter="f")
    for row, entry in enumerate(y):
        total[row][0] = (entry - (1 if row == 0 else 0)) / alpha
    second = [[total[i][j] - first[i][j] for j in range(4)] for i in range(4)]
    heads = [{"F": first, "M": any_score(4, letter="c")}, {"F": second, "M": any_score(4, letter="d")}]
    return heads, total, y


def projected(push: list[Any], y: list[Any], r: Any) -> list[Any]:
    """``(1/r)(I - y y^T / r^2) push``."""
    inner = sum(a * b for a, b in zip(y, push, strict=True))
    return [(each - inner * entry / r**2) / r for each, entry in zip(push, y, strict=True)]


def _slopes(groups: list[Any]) -> list[Any]:
    from eigentoken.proofs.steps.token_groups import slopes

    heads, _, _ = two_heads()
    found = slopes("multihead-map", {"heads": heads, "alpha": alpha}, groups, (sp.Symbol("r", positive=True),))
    return [entry for token in found for entry in token]


def derive() -> Derivation:
    """The image of a consensus state, one token moved, and a zero-sum move."""
    heads, total, y = two_heads()
    r = sp.Symbol("r", positive=True)
    x2, x3 = sp.symbols("xi_2 xi_3", real=True)
    z, xi, still, minus = (1, 0, 0, 0), (0, x2, x3, 0), (0, 0, 0, 0), (0, -x2, -x3, 0)
    image = [sum(total[i][j] * xi[j] for j in range(4)) for i in range(4)]
    own = projected([xi[i] + alpha / n * image[i] for i in range(4)], y, r)
    others = projected([alpha / n * image[i] for i in range(4)], y, r)
    radial = projected(list(map(sp.sympify, xi)), y, r)

    def next_state() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import advance_groups

        return list(advance_groups("multihead-map", {"heads": heads, "alpha": alpha}, [(n, z)], (r,))[0])

    return Derivation(
        (
            grouped(
                "power method",
                "At $x_1 = \\dots = x_n = z$, in coordinates of the plane of $z$ and $y = (I + \\alpha F)z = "
                "r(\\cos\\theta, \\sin\\theta)$, $\\tau = \\tan\\frac{\\theta}{2}$: one step is $y/r$, whatever the "
                "scores of the heads.",
                next_state,
                tuple(entry / r for entry in y),
                r"z^+ = \frac{(I + \alpha F)z}{r} = \Big(<1>,\ <2>,\ <3>,\ <4>\Big)",
                establishes=("on the consensus manifold the map is the power method of I + alpha F",),
            ),
            grouped(
                "one token moved",
                "One token is moved along a tangent vector $\\xi$; $F\\xi$ is any vector; two heads with arbitrary "
                "values and scores, $F$ their sum. All terms from the attention weights cancel, and the images of the "
                "token and of the others are those of $J_{ij}$. The push is a sum over the heads, so the same holds "
                "for any number of them.",
                lambda: _slopes([(1, z, xi), (n - 1, z, still)]),
                (*own, *others),
                r"J_{ij}\,\xi = \frac{1}{r}\,(I - \hat y\hat y^{\top})\Big(\delta_{ij}I + \frac{\alpha}{n}F\Big)\xi",
                establishes=("the Jacobian on the consensus manifold",),
            ),
            grouped(
                "disagreement",
                "A zero-sum move: disagreements are projected and divided by $r$, so along an orbit they are bounded "
                "by $\\prod_\\tau r(\\tau)^{-1}$ to first order.",
                lambda: _slopes([(1, z, xi), (1, z, minus), (n - 2, z, still)])[:4],
                tuple(radial),
                r"\delta x_i^+ = \frac{1}{r}\,(I - \hat y\hat y^{\top})\,\delta x_i",
                uses=("one token moved",),
            ),
        )
    )


PM_CM = register(
    Statement(
        id="PM-CM",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the consensus manifold"),
        title="On the consensus manifold attention is the power method",
        systems=("multihead-map", "attention-map", "oja-map"),
        text=(
            r"For any heads with $F = \sum_h F_h$, at every state $x_1 = \dots = x_n = z$ with $r = \lVert(I + \alpha "
            r"F)z\rVert > 0$ all derivatives of the attention weights drop out: $J = \frac1r\big(I_n \otimes P + "
            r"\frac{\alpha}{n}\mathbf 1\mathbf 1^{\top} \otimes PF\big)$ with $P = I - \hat y\hat y^{\top}$, $y = (I "
            r"+ \alpha F)z$. The restricted dynamics is the power method $z^+ = (I + \alpha F)z/\lVert\cdot\rVert$, "
            r"and disagreements ($\sum_i\delta x_i = 0$) obey $\delta x_i^+ = \frac1rP\delta x_i$."
        ),
        derive=derive,
        prose_from=("power method", "disagreement"),
        property_tests=(OnInstances(consensus_manifold),),
        notes="The steps are checked for two heads; that more heads merge two at a time, because the push is a sum "
        "over the heads, is argued in words (the random instances have one to three heads).",
    )
)
