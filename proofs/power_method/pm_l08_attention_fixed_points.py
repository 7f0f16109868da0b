"""PM-L8: the fixed points of the attention map.  Reference: Li-Altafini, Lemma 8."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.attention_classes import ANTIPODAL, POLYGONAL, antipodal, polygonal
from eigentoken.proofs.power_method.pm_e08_attention_map import push
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import fixed_token
from eigentoken.proofs.power_method.pm_l13_small_steps_fix_bipartite import LARGE_STEP
from eigentoken.proofs.power_method.symbols import B1, B2, LK, E, V, alpha, any_score, k, lam, n, p, q, score
from eigentoken.proofs.properties.exact_points import agree, image
from eigentoken.proofs.properties.first_failures import (
    FirstFailure,
    antipodal_scored,
    antipodal_uneven,
    kernel_without_sign,
)
from eigentoken.proofs.steps.fixed_points import at_rest_iff, radial
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Equilibrium, Iff
from eigentoken.theory.language.conditions import AllOf, Relation
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.terms import t_split
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Inequality


def attention_push(groups: list[Any], value: Any) -> Any:
    """The influence of the attention map at groups of equal tokens, with arbitrary scores and e^s = E."""

    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import push_groups

        size = len(groups[0][1])
        parameters = {"V": value, "M": any_score(size, sp.log(E)), "alpha": alpha}
        return [entry for token in push_groups("attention-map", parameters, groups) for entry in token]

    return run


def derive() -> Derivation:
    """One token; consensus; two antipodal groups; which antipodal states are fixed off the eigenvectors."""
    w1, w2, free = sp.symbols("nu omega nu'", real=True)
    generic = [[w1, w2], [w2, free]]
    size = sp.Symbol("E", positive=True)
    heights = sp.And(sp.Eq((p * size**2 - q) / (p * size**2 + q), 0), sp.Eq((q * size**2 - p) / (q * size**2 + p), 0))
    return Derivation(
        (
            *fixed_token(),
            grouped(
                "consensus push",
                "At $x_i = v_k$, whatever the scores, $u_i = \\lambda_kv_k$: fixed iff $1 + \\alpha\\lambda_k > 0$.",
                attention_push([(n, (1, 0))], [[LK, 0], [0, free]]),
                (LK, 0),
                r"u_i = <1>\,v_k",
                uses=("fixed: sufficient",),
            ),
            grouped(
                "two groups",
                "At $x_i = \\pm w$, $Vw = \\nu w + \\omega e$, $E = e^{w^{\\top}Mw}$: the pushes on the two sides are "
                "$b_1Vw$ and $-b_2Vw$ with the heights of PM-L9.",
                attention_push([(p, (1, 0)), (q, (-1, 0))], generic),
                (B1 * w1, B1 * w2, -B2 * w1, -B2 * w2),
                r"u_i = \left(<1>\right)w + \left(<2>\right)e, \qquad u_j = \left(<3>\right)w + \left(<4>\right)e",
                uses=("fixed: sufficient",),
            ),
            Inequality(
                name="off the eigenvectors",
                says="If $\\omega \\neq 0$, the tangential parts vanish iff $b_1 = b_2 = 0$, and this forces $E = 1$ "
                "and $p = q$: $w^{\\top}Mw = 0$.",
                hypotheses=(heights,),
                conclusion=sp.And(sp.Eq(size, 1), sp.Eq(p, q)),
                uses=("two groups",),
            ),
            Inequality(
                name="off the eigenvectors, converse",
                says="Conversely, for $p = q$ and $w^{\\top}Mw = 0$ both heights vanish and the point is polygonal.",
                hypotheses=(sp.Eq(size, 1), sp.Eq(p, q)),
                conclusion=heights,
            ),
        )
    )


_B1, _B2 = sp.tanh(score(k) + t_split), sp.tanh(score(k) - t_split)
CLAIMS = (
    Iff(Equilibrium(ConsensusAt(V, k)), Relation(1 + alpha * lam(V, k) > 0)),
    Iff(
        Equilibrium(BipartiteAt(V, k)),
        AllOf((Relation(1 + alpha * lam(V, k) * _B1 > 0), Relation(1 + alpha * lam(V, k) * _B2 > 0))),
    ),
    at_rest_iff(push()),
    Formula(POLYGONAL),
    Formula(ANTIPODAL),
)


def proof(kernel: Kernel) -> Proved:
    """The heights that the engine derives, and their signs in the letters of the claim."""
    return kernel.conjunction(
        kernel.restated(kernel.equilibrium(ConsensusAt(V, k)), CLAIMS[0]),
        kernel.restated(kernel.equilibrium(BipartiteAt(V, k)), CLAIMS[1]),
        radial(kernel, push()),
        polygonal(kernel),
        antipodal(kernel),
    )


PM_L8 = register(
    Statement(
        id="PM-L8",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 8"),
        title="Fixed points of the attention map",
        systems=("attention-map",),
        conditions=ASSUMPTION_1,
        claims=CLAIMS,
        depends=("PM-A1", "PM-L1", "PM-L9"),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=(
                r"The equilibria are consensus and bipartite consensus on any $v_k$, polygonal points, and clustering "
                r"points $u_i = c_ix_i$ for some scalars $c_i$."
            ),
            wrong=r"The sign conditions $c_i > -1/\alpha$ are missing: with them violated the tokens flip.",
            counterexamples=(
                Counterexample(
                    "flip",
                    r"$V = \operatorname{diag}(\frac1{10}, -1)$, $M = \operatorname{diag}(0, \ln 3)$, $\alpha = 3$: "
                    r"$f(e_2, -e_2) = (-e_2, e_2)$.",
                    LARGE_STEP,
                    lambda: agree(image(LARGE_STEP), ("0", "-1", "0", "1")),
                ),
            ),
        ),
        variants=(
            Variant(
                "m_i > 0",
                "alpha = 3, V = diag(1/10, -1): the bipartite point on e_2 is sent to its negative",
                lambda: agree(image(LARGE_STEP), ("0", "-1", "0", "1")),
            ),
            Variant(
                "1 + alpha lambda_k > 0",
                "consensus on v_k is sent to its negative",
                FirstFailure(kernel_without_sign),
            ),
            Variant(
                "p = q",
                "an antipodal state off the eigenvectors with p != q is not fixed",
                FirstFailure(antipodal_uneven),
            ),
            Variant(
                "w^T M w = 0",
                "an antipodal state off the eigenvectors with a score is not fixed",
                FirstFailure(antipodal_scored),
            ),
        ),
    )
)
