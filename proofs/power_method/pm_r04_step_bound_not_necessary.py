"""PM-R4: the step bound of Theorem 2 is sufficient, not necessary.  Reference: Li-Altafini, Remark 4."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l04_consensus_stability import PM_L4, STEP_BELOW
from eigentoken.proofs.power_method.symbols import V, alpha, lam, n
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers
from eigentoken.proofs.properties.point_checks import step_bound
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Atom, Equivalence, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Stable, When
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import SpectralNorm, d
from eigentoken.theory.language.terms import k as index
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector

LARGE = instance("oja-map", [["1", "0"]] * 3, V=[["1", "0"], ["0", "-1/2"]], alpha="10")


PRINCIPAL = Stable(ConsensusAt(V, 1))
#: The bound of Theorem 2; no eigenvalue below ``-lambda_1``; one there.
BOUND = Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))
NONE_BELOW = Relation(sp.Abs(lam(V, d)) <= lam(V, 1))
SOME_BELOW = sp.Abs(lam(V, d)) > lam(V, 1)
THRESHOLD = alpha < 2 / (sp.Abs(lam(V, d)) - lam(V, 1))
BEYOND = Implication(proposition(SOME_BELOW), Equivalence(Atom(PRINCIPAL), proposition(THRESHOLD)))


def proof(k: Kernel) -> Proved:
    """The bound, or the lack of an eigenvalue below ``-lambda_1``, implies the threshold of PM-L4."""
    criterion = k.part(
        k.recall(PM_L4, letters={index: sp.Integer(1)}), Equivalence(Atom(PRINCIPAL), proposition(STEP_BELOW))
    )
    positive = k.given(lam(V, 1) > 0)
    extreme = k.part(k.norm_of_symmetric(V), k.norm_of_symmetric(V).proposition.parts[0])

    def stable(given: object, *known: Proved) -> Proved:
        below = k.arithmetic([k.assume(given), positive, *known], proposition(STEP_BELOW))
        return k.discharge(proposition(given), k.tautology([criterion, below], Atom(PRINCIPAL)))

    some = k.assume(SOME_BELOW)
    same: Proposition = Equivalence(proposition(STEP_BELOW), proposition(THRESHOLD))
    exact = k.tautology([criterion, k.arithmetic([some], same)], BEYOND.right)
    return k.conjunction(stable(BOUND, extreme), stable(NONE_BELOW), k.discharge(BEYOND.left, exact))


PM_R4 = register(
    Statement(
        id="PM-R4",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 4"),
        title="The step bound of Theorem 2 is not necessary",
        systems=("oja-map",),
        conditions=(Symmetric(V), SimpleTop(V), Relation(lam(V, 1) > 0), Relation(n >= 2)),
        claims=(When(BOUND, PRINCIPAL), When(NONE_BELOW, PRINCIPAL), Formula(BEYOND)),
        depends=("PM-L4", "PM-T2"),
        proof=proof,
        vectors=(Vector("alpha = 10", lambda: multipliers(LARGE), decimals("-4/11", "1/11 * 2")),),
        property_tests=(OnInstances(step_bound),),
    )
)
