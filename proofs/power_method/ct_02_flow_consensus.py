"""CT-2: consensus of the flows.  Own derivation."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import (
    G2,
    G3,
    LK,
    LL,
    V,
    any_score,
    consensus_value,
    d,
    ell,
    k,
    lam,
    n,
    symmetric_value,
)
from eigentoken.proofs.properties.exact_points import instance, point_is
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import conjuncts
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, SpectrumIs, Stable
from eigentoken.theory.language.conditions import AllOf, Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality

_AT, _MOVE, _BACK, _STILL = (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 0)


def _slopes(groups: list[Any], value: Any) -> Any:
    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import slopes

        first = any_score(3, letter="a")
        second = [[value[i][j] - first[i][j] for j in range(3)] for i in range(3)]
        heads = [{"F": first, "M": any_score(3)}, {"F": second, "M": any_score(3, letter="e")}]
        return [entry for token in slopes("multihead-flow", {"heads": heads}, groups) for entry in token]

    return run


def derive() -> Derivation:
    """Blocks, common and zero-sum moves; then the signs."""
    eigen = symmetric_value(LK, LL, sp.Integer(0))
    top = sp.Symbol("lambda_1", real=True)
    return Derivation(
        (
            grouped(
                "blocks",
                "Two heads with any values and scores, $F = F_1 + F_2$, $Fv_k = \\lambda_kv_k$, $F\\xi = f_1v_k + "
                "g_2\\xi + g_3\\xi'$: one token moved along $\\xi$ gives $J_{ij}\\xi = -\\lambda_k\\delta_{ij}\\xi + "
                "\\frac1nG\\xi$.",
                _slopes([(1, _AT, _MOVE), (n - 1, _AT, _STILL)], consensus_value()),
                (0, -LK + G2 / n, G3 / n, 0, G2 / n, G3 / n),
                r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right), \qquad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)",
            ),
            grouped(
                "common",
                "All tokens along $v_\\ell$ (symmetric $F$; for any $F$ the eigenvalues of $G$ are the other "
                "eigenvalues of $F$).",
                _slopes([(n, _AT, _MOVE)], eigen),
                (0, LL - LK, 0),
                r"\lambda_\ell - \lambda_k = <2>",
            ),
            grouped(
                "zero sum",
                "Two tokens against each other.",
                _slopes([(1, _AT, _MOVE), (1, _AT, _BACK), (n - 2, _AT, _STILL)], consensus_value()),
                (0, -LK, 0, 0, LK, 0, 0, 0, 0),
                r"<2>",
            ),
            Identity(
                name="count",
                says="These are all.",
                left=(d - 1) + (n - 1) * (d - 1),
                right=n * (d - 1),
                uses=("common", "zero sum"),
            ),
            Inequality(
                name="stable",
                says="For $n \\geq 2$ all are negative iff $\\lambda_k > 0$ and $\\lambda_\\ell < \\lambda_k$ for all "
                "$\\ell \\neq k$: $k = 1$, $\\lambda_1 > 0$ simple.",
                hypotheses=(-LK < 0, LL - LK < 0),
                conclusion=sp.And(LK > 0, LL < LK),
                uses=("count",),
            ),
            Inequality(
                name="others",
                says="On $v_k$ with $\\lambda_k < \\lambda_1$ the direction $v_1$ expands.",
                hypotheses=(top > LK,),
                conclusion=top - LK > 0,
                uses=("common",),
            ),
        )
    )


SPECTRUM = SpectrumIs(ConsensusAt(V, k), ((lam(V, ell) - lam(V, k), 1), (-lam(V, k), (n - 1) * (d - 1))))
SIMPLE_POSITIVE = AllOf((Relation(lam(V, 1) > 0), Relation(lam(V, 1) > lam(V, 2))))


def proof(kernel: Kernel) -> Proved:
    """The spectrum of the flow at consensus, and when all of it is negative."""
    spectrum = kernel.respelled(kernel.spectrum(ConsensusAt(V, k)), SPECTRUM)
    test = kernel.linear_stability(kernel.spectrum(ConsensusAt(V, 1)))
    common, apart = test.proposition.right.parts
    many, wide = kernel.given(n >= 2), kernel.given(d >= 2)
    there = kernel.arithmetic([many, wide], apart.left)
    positive, gap = kernel.assume(lam(V, 1) > 0), kernel.assume(lam(V, 1) > lam(V, 2))
    here = [kernel.assume(each) for each in conjuncts(common.guard)]
    second = kernel.at(kernel.at(kernel.eigenvalue_order(V), sp.Integer(2), wide), ell, wide, *here)
    decays = kernel.generalise(ell, kernel.arithmetic([second, gap], common.body), common.guard)
    enough = kernel.conjunction(decays, kernel.discharge(apart.left, kernel.arithmetic([positive], apart.right)))
    inside = kernel.assume(test.proposition.right)
    first = kernel.arithmetic([kernel.modus_ponens(kernel.part(inside, apart), there)], lam(V, 1) > 0)
    larger = kernel.arithmetic([kernel.at(kernel.part(inside, common), sp.Integer(2), wide)], lam(V, 1) > lam(V, 2))
    criterion = kernel.iff(
        kernel.discharge(SIMPLE_POSITIVE, enough),
        kernel.discharge(inside.proposition, kernel.conjunction(first, larger)),
    )
    stable = kernel.tautology([test, criterion], Iff(Stable(ConsensusAt(V, 1)), SIMPLE_POSITIVE))
    return kernel.conjunction(spectrum, stable)


CT_2 = register(
    Statement(
        id="CT-2",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemmas 3, 4, 11 and Theorem 1"),
        title="Consensus of the flows",
        systems=("oja-flow", "attention-flow"),
        covers=Covers(heads=()),
        conditions=(Symmetric(V), Relation(n >= 2), Relation(d >= 2)),
        claims=(
            SPECTRUM,
            Iff(Stable(ConsensusAt(V, 1)), SIMPLE_POSITIVE),
        ),
        derive=derive,
        proof=proof,
        variants=(
            Variant(
                "lambda_1 > 0",
                "V = diag(-1, -2), n = 2: disagreements grow",
                lambda: point_is(
                    instance("oja-flow", [["1", "0"]] * 2, V=[["-1", "0"], ["0", "-2"]]), "consensus", stable="unstable"
                ),
            ),
            Variant(
                "n >= 2",
                "one token, V = diag(-1, -2): stable although lambda_1 < 0",
                lambda: point_is(
                    instance("oja-flow", [["1", "0"]], V=[["-1", "0"], ["0", "-2"]]), "consensus", stable="stable"
                ),
            ),
        ),
    )
)
