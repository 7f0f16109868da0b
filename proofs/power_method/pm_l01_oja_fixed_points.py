"""PM-L1: the fixed points of the Oja map, with the positivity conditions that the paper leaves out.

x is fixed iff ``P_i u = 0`` and ``1 + alpha x_i^T u > 0`` for all i.  Reference: Li-Altafini, Lemma 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.oja_classes import CLASSES, POLYGONAL, classes, polygonal
from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.symbols import LK, V, alpha, delta, k, lam, n, p, q
from eigentoken.proofs.properties.exact_points import agree, image, instance, point_is
from eigentoken.proofs.steps.fixed_points import at_rest_iff, radial
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Equilibrium, Iff
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Inequality

#: Height c = x_i^T u and length omega = |P_i u| of the push on one token, r its new length.
C, OMEGA, R = sp.symbols("c omega r", real=True)
LENGTH = (R > 0, sp.Eq(R**2, (1 + alpha * C) ** 2 + alpha**2 * OMEGA**2), OMEGA >= 0)


def fixed_token() -> tuple[Inequality, Inequality]:
    """``y/|y| = x`` iff the push has no tangential part and the new height is positive: for one token, any push."""
    stays = sp.And(sp.Eq(1 + alpha * C, R), sp.Eq(alpha * OMEGA, 0))
    return (
        Inequality(
            name="fixed: necessary",
            says="Write $u_i = c\\,x_i + \\omega\\,e$ with a unit $e \\perp x_i$, $\\omega \\geq 0$, so that $y_i = "
            "(1+\\alpha c)x_i + \\alpha\\omega e$ has length $r$. If $y_i = r x_i$, the tangential part vanishes and "
            "the height is positive.",
            hypotheses=(*LENGTH, stays),
            conclusion=sp.And(sp.Eq(OMEGA, 0), 1 + alpha * C > 0),
        ),
        Inequality(
            name="fixed: sufficient",
            says="Conversely, these two conditions give $y_i = r x_i$.",
            hypotheses=(*LENGTH, sp.Eq(OMEGA, 0), 1 + alpha * C > 0),
            conclusion=stays,
            uses=("fixed: necessary",),
            establishes=("fixed iff the push is radial with positive height",),
        ),
    )


def _push(name: str, groups: list[Any], value: Any) -> Any:
    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import push_groups

        found = push_groups(name, {"V": value, "alpha": alpha}, groups)
        return [entry for token in found for entry in token]

    return run


def derive() -> Derivation:
    """One token; then consensus, two antipodal groups, and everything else."""
    w1, w2 = sp.symbols("nu omega", real=True)
    generic = [[w1, w2], [w2, sp.Symbol("nu'", real=True)]]
    on_axis = [[LK, 0], [0, sp.Symbol("nu'", real=True)]]
    norm, height = sp.symbols("U c", real=True)
    balance = sp.Symbol("delta", real=True)
    return Derivation(
        (
            *fixed_token(),
            grouped(
                "consensus push",
                "At $x_i = v_k$ the push is $\\lambda_k v_k$: the height is $\\lambda_k$ and the point is fixed iff $1 "
                "+ \\alpha\\lambda_k > 0$.",
                _push("oja-map", [(n, (1, 0))], on_axis),
                (LK, 0),
                r"u = <1>\, v_k",
                uses=("fixed: sufficient",),
            ),
            grouped(
                "two groups",
                "At $x_i = \\pm w$ ($p$ and $q$ tokens) with $V w = \\nu w + \\omega e$, $e \\perp w$, the push is "
                "$\\delta\\,V w$, $\\delta = (p-q)/n$: its part along $e$ vanishes iff $p = q$ or $w$ is an "
                "eigenvector.",
                _push("oja-map", [(p, (1, 0)), (q, (-1, 0))], generic),
                (delta * w1, delta * w2, delta * w1, delta * w2),
                r"u = <1>\, w + <2>\, e",
                uses=("fixed: sufficient",),
            ),
            Inequality(
                name="both sides",
                says="On $\\pm v_k$ the heights are $\\pm\\lambda_k\\delta$; both are above $-1/\\alpha$ iff "
                "$\\alpha|\\lambda_k\\delta| < 1$.",
                hypotheses=(1 + alpha * LK * balance > 0, 1 - alpha * LK * balance > 0),
                conclusion=alpha * sp.Abs(LK * balance) < 1,
                uses=("two groups",),
            ),
            Inequality(
                name="both sides, converse",
                says="And conversely.",
                hypotheses=(alpha * sp.Abs(LK * balance) < 1,),
                conclusion=sp.And(1 + alpha * LK * balance > 0, 1 - alpha * LK * balance > 0),
            ),
            Inequality(
                name="no others",
                says="If $u \\neq 0$, $U = \\lVert u\\rVert^2$, a token with $\\lVert P_i u\\rVert^2 = U - c^2 = 0$ "
                "satisfies $\\lVert x_i - (c/U) u\\rVert^2 = 1 - c^2/U = 0$: every token is $\\pm u/\\lVert "
                "u\\rVert$, which is the case of two groups. If $u = V\\bar x = 0$, then $\\bar x = 0$ since $V$ is "
                "nonsingular: the polygonal class.",
                hypotheses=(norm > 0, sp.Eq(norm - height**2, 0)),
                conclusion=sp.Eq(1 - height**2 / norm, 0),
                uses=("two groups",),
                needs=("fixed iff the push is radial with positive height",),
                establishes=("every fixed point is a consensus, bipartite with p != q, or polygonal",),
            ),
        )
    )


FLIPPED = instance("oja-map", [["0", "1"]] * 2, V=[["1/2", "0"], ["0", "-1"]], alpha="41/10")
ONE_GROUP_FLIPS = instance(
    "oja-map",
    [["1", "0", "0"], ["1", "0", "0"], ["-1", "0", "0"]],
    V=[["2", "0", "0"], ["0", "1/2", "0"], ["0", "0", "-1"]],
    alpha="2",
)
HALF_HALF = instance("oja-map", [["3/5", "4/5"], ["-3/5", "-4/5"]], V=[["1", "0"], ["0", "1/2"]], alpha="1/4")


def flipped() -> Verdict:
    """f(v_2) = -v_2: consensus on v_2 is no fixed point when 1 + alpha lambda_2 < 0."""
    return agree(image(FLIPPED), ("0", "-1", "0", "-1"))


def one_group_flips() -> Verdict:
    """Two tokens at v_1, one at -v_1, alpha lambda_1 delta = 4/3 > 1: one step leads to consensus."""
    return agree(image(ONE_GROUP_FLIPS), ("1", "0", "0") * 3)


CLAIMS = (
    Iff(Equilibrium(ConsensusAt(V, k)), Relation(1 + alpha * lam(V, k) > 0)),
    Iff(Equilibrium(BipartiteAt(V, k)), Relation(alpha * sp.Abs(lam(V, k) * (p - q) / n) < 1)),
    Equilibrium(AntipodalAt("w")),
    at_rest_iff(influence()),
    Formula(CLASSES),
    Formula(POLYGONAL),
)


def proof(kernel: Kernel) -> Proved:
    """The heights that the engine derives, and their signs in the letters of the claims; half and half has no push."""
    return kernel.conjunction(
        kernel.restated(kernel.equilibrium(ConsensusAt(V, k)), CLAIMS[0]),
        kernel.restated(kernel.equilibrium(BipartiteAt(V, k)), CLAIMS[1], kernel.given(sp.Eq(n, p + q))),
        kernel.equilibrium(AntipodalAt("w")),
        radial(kernel, influence()),
        classes(kernel),
        polygonal(kernel),
    )


PM_L1 = register(
    Statement(
        id="PM-L1",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 1"),
        title="Fixed points of the Oja map",
        systems=("oja-map",),
        conditions=ASSUMPTION_1,
        claims=CLAIMS,
        depends=("PM-A1",),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=(
                r"The equilibria are consensus and bipartite consensus on any eigenvector $v_k$, $2^n$ of them for "
                r"each $k$, and polygonal points; bipartite consensus must be collinear with an eigenvector."
            ),
            wrong=(
                r"The sign of $1 + \alpha x_i^{\top}u$ is not considered: for $1 + \alpha\lambda_k < 0$ consensus on "
                r"$v_k$ is a 2-cycle, for $\alpha|\lambda_k\delta| > 1$ one group flips. And for $p = q$ every "
                r"direction is allowed."
            ),
            counterexamples=(
                Counterexample(
                    "2-cycle",
                    r"$V = \operatorname{diag}(\frac12, -1)$, $\alpha = 4.1$: $f(v_2, v_2) = (-v_2, -v_2)$.",
                    FLIPPED,
                    flipped,
                ),
                Counterexample(
                    "one group flips",
                    r"$V = \operatorname{diag}(2, \frac12, -1)$, $n = 3$, $p = 2$, $q = 1$, $\alpha = 2$: $f(v_1, v_1, "
                    r"-v_1) = (v_1, v_1, v_1)$.",
                    ONE_GROUP_FLIPS,
                    one_group_flips,
                ),
                Counterexample(
                    "half and half off the eigenvectors",
                    r"$V = \operatorname{diag}(1, \frac12)$, $w = (\frac35, \frac45)$ is no eigenvector, and $(w, -w)$ "
                    r"is fixed.",
                    HALF_HALF,
                    lambda: point_is(HALF_HALF, "polygonal"),
                ),
            ),
        ),
        variants=(
            Variant("1 + alpha lambda_k > 0", "without it consensus on v_k is not fixed", flipped),
            Variant("alpha |lambda_k delta| < 1", "without it one group flips", one_group_flips),
        ),
    )
)
