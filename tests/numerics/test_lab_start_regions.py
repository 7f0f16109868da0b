"""Regions by inequalities: starts are made in them, membership is exact, what leaves them is certified and re-checked."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.instances.regions import margin_of
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.lab import Conjecture, ConjectureError, refute
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.certified_claims import observable_sign, rate_sign
from eigentoken.numerics.readings.observed_claims import observe
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Decreases, ForwardInvariant, Increases
from eigentoken.theory.language.conditions import Condition, PositiveDefinite, Symmetric
from eigentoken.theory.language.documents import decode, encode
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.observables_of_spread import (
    interaction_energy,
    mean_square,
    smallest_entry,
    smallest_product,
    squared_diameter,
)
from eigentoken.theory.language.readings import CERTIFIED, LATEX
from eigentoken.theory.language.regions import Acute, Cap, Orthant, StartsIn, StateRegion, Subspace, Where
from eigentoken.theory.language.terms import matrix

load()
V = matrix("V")
SOME = [
    Orthant(), Orthant(strict=True), Acute(), Acute("9/10"), Cap(), Cap((0, 1, 1)), Cap((3, 4), "4/5"), Subspace(1),
    Where((smallest_product,)),
]  # fmt: skip


@pytest.mark.parametrize("region", SOME, ids=str)
def test_starts_are_made_in_the_region(region: StateRegion) -> None:
    word = StartsIn(region)
    assert decode(encode(word)) == word
    assert LATEX(word)
    for system in ("oja-map", "attention-flow", "token-flow"):
        drawn = sample(plan_for(system, [word]), 40, 0, cells_at_most=5)
        share = (
            5 if isinstance(region, Where) else 2
        )  # inequalities of an author are climbed, and some starts do not arrive
        assert drawn.constructed <= share * drawn.count, "made, not drawn until it fits"
        for batch in drawn.batches:
            assert bool((margin_of(region, batch, batch.tokens) >= -1e-9).all())


@pytest.mark.parametrize(
    ("region", "inside", "outside"),
    [
        (Orthant(), [[1, 0], ["3/5", "4/5"]], [[1, 0], ["3/5", "-4/5"]]),
        (Orthant(strict=True), [["3/5", "4/5"]], [[1, 0]]),
        (Acute(), [[1, 0], [0, 1]], [[1, 0], ["-3/5", "4/5"]]),
        (Acute("3/5"), [[1, 0], ["3/5", "4/5"]], [[1, 0], ["5/13", "12/13"]]),
        (Cap(), [[0, 1]], [["-3/5", "4/5"]]),
        (Cap((3, 4), "24/25"), [["4/5", "3/5"]], [[1, 0]]),
        (Subspace(1), [[1, 0], [-1, 0]], [["3/5", "4/5"], [1, 0]]),
        (Where((smallest_product,)), [[1, 0], ["3/5", "4/5"]], [[1, 0], [-1, 0]]),
    ],
)
def test_membership_is_exact_and_so_is_the_second_one(region: StateRegion, inside: Any, outside: Any) -> None:
    for tokens, truth in ((inside, True), (outside, False)):
        case = Case(Instance.of("oja-map", tokens, V=[[1, 0], [0, 1]], alpha=1))
        assert CERTIFIED(StartsIn(region), case).is_holds is truth
        assert CONDITION_TRUTH(StartsIn(region), IndependentInstance(case.instance, 1, 0), {}) is truth


def _refuted(system: str, given: list[Condition], region: StateRegion, **more: Any) -> Any:
    conjecture = Conjecture("stays", system, given, [ForwardInvariant(region)], **more)
    report = refute(conjecture, instances=300, jobs=1)
    assert report.results[0].answer == "refuted", report.results[0]
    return report.as_dict()


def test_a_region_that_is_left_is_seen_certified_and_confirmed() -> None:
    flow = _refuted("oja-flow", [Symmetric(V), PositiveDefinite(V)], Orthant(), n=[1], d=[2])
    assert all(verdict.is_holds for _, verdict in recheck_report(flow))
    late = copy.deepcopy(flow)
    late["results"][0]["counterexample"]["certificates"][-1]["data"]["data"]["time"] = "1/1000000"
    assert not all(verdict.is_holds for _, verdict in recheck_report(late)), "another time, at which it is still inside"
    own = _refuted("oja-map", [Symmetric(V)], Where((smallest_product,)), n=[2], d=[2])
    assert all(verdict.is_holds for _, verdict in recheck_report(own))


def test_a_state_outside_refutes_nothing() -> None:
    outside = Case(Instance.of("oja-map", [["3/5", "-4/5"]], V=[[1, -1], [-1, 2]], alpha=1))
    assert CERTIFIED(ForwardInvariant(Orthant()), outside).is_undecided
    look = IndependentInstance(outside.instance, 1, 0)
    assert CLAIM_TRUTH(ForwardInvariant(Orthant()), look, {"data": {}}) is None
    stays = Case(Instance.of("oja-map", [["3/5", "4/5"]], V=[[1, 1], [1, 2]], alpha=1))
    assert CERTIFIED(ForwardInvariant(Orthant()), stays).is_holds
    assert CLAIM_TRUTH(ForwardInvariant(Orthant()), IndependentInstance(stays.instance, 1, 0), {"data": {}}) is None


@pytest.mark.parametrize(
    "observable",
    [squared_diameter, smallest_product, smallest_entry, mean_square, interaction_energy],
    ids=lambda o: o.name,
)
def test_extremes_have_one_meaning_in_every_arithmetic(observable: Observable) -> None:
    """Three tokens with a tie of the extreme: values and derivatives agree in floats, balls and intervals."""
    tokens = [[1, 0], ["3/5", "4/5"], ["3/5", "-4/5"]]
    instance = Instance.of("attention-flow", tokens, V=[[2, 1], [0, 1]], M=[[1, 0], [1, 1]])
    case, batch = Case(instance), batch_of(instance, 1, 0)
    value = float(observe(observable, batch, batch.tokens)[0])
    sign, _ = observable_sign(observable, case)
    assert sign == (0 if abs(value) < 1e-12 else 1 if value > 0 else -1)
    nudged = []
    for step in (0.0, 1e-6):
        velocity = instance.system.advance(*_floats(batch))
        nudged.append(float(observe(observable, batch, batch.tokens + step * velocity)[0]))
    slope = (nudged[1] - nudged[0]) / 1e-6
    sign, shown = rate_sign(observable, case)
    assert sign is None or sign == (1 if slope > 0 else -1), shown
    for claim, wrong in ((Increases(observable), slope < 0), (Decreases(observable), slope > 0)):
        truth = CLAIM_TRUTH(claim, IndependentInstance(instance, 1, 0), {})
        assert truth is None or truth is not wrong
        assert CERTIFIED(claim, case).is_fails <= wrong


def _floats(batch: Any) -> Any:
    from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra

    return TorchAlgebra(), batch.parameters, batch.tokens, None


def _greatest(scalars: Any, system: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return max(entry for token in x for entry in token)


def test_what_cannot_be_said_is_told_with_its_line() -> None:
    conjecture = Conjecture("own", "oja-map", [Symmetric(V)], [Decreases(Observable("greatest", "g", _greatest))])
    aim = targets(conjecture)[0]
    with pytest.raises(ConjectureError, match=r"\.py:\d+: own: .*use largest\(scalars, values\)"):
        aim.violation(sample(aim.plan, 8, 0, cells_at_most=2).batches[0])
    with pytest.raises(TypeError, match="StartsIn: region must be a region"):
        StartsIn(V)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Where: observables must be"):
        Where((V,))  # type: ignore[arg-type]
    assert torch.is_grad_enabled()
