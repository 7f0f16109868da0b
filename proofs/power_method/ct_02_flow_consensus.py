"""CT-2: consensus of the flows.  Own derivation."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import (
    F,
    d,
    ell,
    k,
    lam,
    n,
)
from eigentoken.proofs.properties.exact_points import instance, point_is
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import conjuncts
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, SpectrumIs, Stable
from eigentoken.theory.language.conditions import AllOf, Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant

SPECTRUM = SpectrumIs(ConsensusAt(F, k), ((lam(F, ell) - lam(F, k), 1), (-lam(F, k), (n - 1) * (d - 1))))
SIMPLE_POSITIVE = AllOf((Relation(lam(F, 1) > 0), Relation(lam(F, 1) > lam(F, 2))))


def proof(kernel: Kernel) -> Proved:
    """The spectrum of the flow at consensus, and when all of it is negative."""
    spectrum = kernel.respelled(kernel.spectrum(ConsensusAt(F, k)), SPECTRUM)
    test = kernel.linear_stability(kernel.spectrum(ConsensusAt(F, 1)))
    common, apart = test.proposition.right.parts
    many, wide = kernel.given(n >= 2), kernel.given(d >= 2)
    there = kernel.arithmetic([many, wide], apart.left)
    positive, gap = kernel.assume(lam(F, 1) > 0), kernel.assume(lam(F, 1) > lam(F, 2))
    here = [kernel.assume(each) for each in conjuncts(common.guard)]
    second = kernel.at(kernel.at(kernel.eigenvalue_order(F), sp.Integer(2), wide), ell, wide, *here)
    decays = kernel.generalise(ell, kernel.arithmetic([second, gap], common.body), common.guard)
    enough = kernel.conjunction(decays, kernel.discharge(apart.left, kernel.arithmetic([positive], apart.right)))
    inside = kernel.assume(test.proposition.right)
    first = kernel.arithmetic([kernel.modus_ponens(kernel.part(inside, apart), there)], lam(F, 1) > 0)
    larger = kernel.arithmetic([kernel.at(kernel.part(inside, common), sp.Integer(2), wide)], lam(F, 1) > lam(F, 2))
    criterion = kernel.iff(
        kernel.discharge(SIMPLE_POSITIVE, enough),
        kernel.discharge(inside.proposition, kernel.conjunction(first, larger)),
    )
    stable = kernel.tautology([test, criterion], Iff(Stable(ConsensusAt(F, 1)), SIMPLE_POSITIVE))
    return kernel.conjunction(spectrum, stable)


CT_2 = register(
    Statement(
        id="CT-2",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemmas 3, 4, 11 and Theorem 1"),
        title="Consensus of the flows",
        systems=("oja-flow", "attention-flow", "multihead-flow"),
        conditions=(Symmetric(F), Relation(n >= 2), Relation(d >= 2)),
        claims=(
            SPECTRUM,
            Iff(Stable(ConsensusAt(F, 1)), SIMPLE_POSITIVE),
        ),
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
