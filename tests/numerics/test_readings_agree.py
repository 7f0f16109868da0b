"""The certified and the observed readings never contradict each other: thousands of words on exact instances."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

import eigentoken as et
from eigentoken.numerics.instances.exact import batch_of, draft
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import Plan, plan_for
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.readings import load
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.theory.language import claims, conditions, terms
from eigentoken.theory.language import places as points
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, SpectralNorm, alpha, d, k

load()
V, M, U, W, B = (terms.matrix(name) for name in "VMUWB")

CONDITIONS = {
    "attention-map": (
        conditions.Symmetric(V),
        conditions.PositiveDefinite(V),
        conditions.PositiveSemidefinite(V),
        conditions.NegativeDefinite(M),
        conditions.SimpleTop(V),
        conditions.SimpleTop(M),
        conditions.Nonsingular(V),
        conditions.NonPrincipalModulusBelow(V),
        conditions.Commute(V, M),
        conditions.NotAllEqual(),
        conditions.InHemisphere(),
        conditions.InHemisphere(V),
        conditions.Relation(alpha * SpectralNorm(V) < 1),
        conditions.Relation(Eigenvalue(V, 1) + 2 * Eigenvalue(V, d) > 0),
        conditions.Relation(sp.Abs(Eigenvalue(V, d)) > Eigenvalue(V, 1)),
        conditions.Relation(ScoreAtEigenvector(M, V, 1) > sp.Rational(1, 2)),
        conditions.Relation(sp.Max(Eigenvalue(V, 1), -Eigenvalue(V, d)) > 1),
        conditions.Relation(Eigenvalue(V, terms.ell) < Eigenvalue(V, 1)),
        conditions.Not(conditions.Relation(terms.SpectralRadiusOff(V) < 1)),
    ),
    "token-flow": (
        conditions.Symmetric(W * B.I),
        conditions.NegativeDefinite(W * B.I),
        conditions.PositiveDefinite(W),
        conditions.Relation(SpectralNorm(B) < 2),
    ),
}
CLAIMS: dict[str, tuple[str, Any]] = {
    "stable consensus": ("attention-map", claims.Stable(points.ConsensusAt(V, k))),
    "unstable split": ("attention-map", claims.Unstable(points.BipartiteAt(V, k))),
    "stable split of a flow": ("attention-flow", claims.Stable(points.BipartiteAt(V, k))),
    "consensus rests": ("oja-map", claims.Equilibrium(points.ConsensusAt(V, k))),
    "consensus turns": ("oja-map", claims.TwoCycle(points.ConsensusAt(V, k))),
    "causal consensus": ("causal-flow", claims.Stable(points.ConsensusAt(U, 1))),
    "antipodal": ("attention-map", claims.Unstable(points.AntipodalAt())),
    "potential": ("oja-map", claims.Decreases(oja_potential)),
    "potential of a flow": ("oja-flow", claims.Increases(oja_potential)),
    "rank": ("attention-map", claims.AttentionRank(points.BipartiteAt(V, 1), 2)),
}


SLOW = ("rank", "stable split of a flow", "potential of a flow", "consensus turns")


def cases(plan: Plan, count: int, denominator: int) -> list[tuple[Case, Any]]:
    made = []
    for batch in sample(plan, count, 4, cells_at_most=count).batches:
        for index in range(min(batch.count, 2)):
            drafted = draft(plan, batch.take([index]), denominator)
            instance = None if drafted is None else drafted.instance()
            if drafted is not None and instance is not None:
                groups = tuple(instance.tokens.index(token) for token in instance.tokens)
                made.append((Case(instance, drafted.k, drafted.p), batch_of(instance, drafted.k, drafted.p, groups)))
    return made


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("denominator", [1, pytest.param(50, marks=pytest.mark.slow)])
def test_conditions_agree(name: str, denominator: int) -> None:
    symmetric = [conditions.Symmetric(V)] if name == "attention-map" else []
    seen = {"holds": 0, "fails": 0}
    every, line = plan_for(name), plan_for(name).sized((2,), (1,))  # on a line there is no other eigenvalue
    for plan in (every.sized((1, 2, 3), (2, 3)), plan_for(name, symmetric).sized((1, 2, 3), (2, 3)), line):
        for case, batch in cases(plan, 28, denominator):
            look = IndependentInstance(case.instance, case.k, case.p)
            for condition in CONDITIONS[name]:
                verdict = CERTIFIED(condition, case)
                if verdict.is_undecided or bool(batch.undefined.any()):
                    continue
                violation = float(OBSERVED(condition, batch)[0])
                seen[verdict.answer.value] += 1
                if abs(violation) > 1e-6:
                    assert verdict.is_holds == (violation < 0), (condition, case.instance.as_dict(), violation)
                second = CONDITION_TRUTH(condition, look, {})
                assert second is None or second == verdict.is_holds, (condition, case.instance.as_dict())
    assert min(seen.values()) > 30


@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_is_read_on_weights_agrees(size: int) -> None:
    """A word about one matrix, read on the matrix alone, says what it says of an exact instance."""
    seen = {"holds": 0, "fails": 0}
    words = [each for each in CONDITIONS["attention-map"] if getattr(each, "term", None) == V]
    for case, _ in cases(plan_for("attention-map").sized((2,), (size,)), 24, 1):
        entries = [[float(entry) for entry in row] for row in case.instance.parameters["V"]]
        for condition in words:
            exact, read = CERTIFIED(condition, case), et.certify(condition, entries)
            if not exact.is_undecided and read != "undecided":
                assert read == exact.answer.value, (condition, entries)
                seen[exact.answer.value] += 1
    assert min(seen.values()) > 5


@pytest.mark.parametrize(
    "name", [each if each not in SLOW else pytest.param(each, marks=pytest.mark.slow) for each in CLAIMS]
)
def test_claims_agree(name: str) -> None:
    system, claim = CLAIMS[name]
    value = terms.matrix("U" if system == "causal-flow" else "V")
    plan = GENERATED(claim, plan_for(system, [conditions.Symmetric(value)]).sized((1, 2, 3, 4), (2, 3)))
    decided = 0
    for case, batch in cases(plan, 16, 4):
        verdict = CERTIFIED(claim, case)
        if verdict.is_undecided:
            continue
        violation = float(OBSERVED(claim, batch)[0])
        rests = float(OBSERVED(claims.Equilibrium(points.ConsensusSet()), batch)[0]) < 0
        if abs(violation) > 1e-6 and (rests or not isinstance(claim, claims.Stable | claims.Unstable)):
            assert verdict.is_holds == (violation < 0), (claim, case.instance.as_dict(), violation)
            decided += 1
            second = CLAIM_TRUTH(claim, IndependentInstance(case.instance, case.k, case.p), {})
            assert second is None or second == verdict.is_holds, (claim, case.instance.as_dict())
    assert decided >= 4
