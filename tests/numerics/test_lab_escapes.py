"""Escape to infinity in Euclidean flows: certified twice, on rings and on open cones, and wrong data is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.rings import growing_rings, has_rings
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.escapes import escape
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance, read_instance
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.conditions import IsIdentity, NegativeDefinite, PositiveDefinite, Relation
from eigentoken.theory.language.places import ConsensusSet, SomeEquilibrium, Zero
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import Eigenvalue, matrix

from .forging import set_at

load()
B, W = matrix("B"), matrix("W")
DECAYS, ALMOST = Converges(Zero()), AlmostEveryConverges(Zero())
MINUS = [[-1, 0], [0, -1]]
#: sym W is positive definite, and W turns by more than 60 degrees in its metric (N5).
RING = Instance.of("token-flow", [[3, 0], [0, 3], [-3, -3]], B=MINUS, W=[[2, -6], [4, 2]])
OPEN = Instance.of("token-flow", [[100, 0], [-50, 86], [-50, -86]], B=[[-1, "-1/2"], ["1/2", -1]], W=[[1, -3], [3, 1]])


def certified(claim: Any, instance: Instance) -> dict[str, Any]:
    verdict = CERTIFIED(claim, Case(instance))
    assert verdict.is_fails
    return {"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)}


def truth(claim: Any, instance: Instance, data: Any) -> bool | None:
    return CLAIM_TRUTH(claim, IndependentInstance(instance, 1, 0), data)


def changed(instance: Instance, **further: Any) -> Instance:
    return read_instance({**instance.as_dict(), **further})


def test_a_ring_of_three_escapes() -> None:
    """N5: sym A < 0, sym W > 0 and B = -I; the ring is one start, so nothing is said of almost every start."""
    data = certified(DECAYS, RING)
    assert data["kind"] == "limit/escape"
    assert truth(DECAYS, RING, data) is False
    assert truth(Converges(SomeEquilibrium()), RING, data) is False
    assert CERTIFIED(ALMOST, Case(RING)).is_undecided
    assert truth(ALMOST, RING, data) is None
    assert truth(Converges(ConsensusSet()), RING, data) is None


def test_a_cone_of_states_escapes() -> None:
    data = certified(ALMOST, OPEN)
    assert data["data"]["symmetry"] is None
    assert truth(ALMOST, OPEN, data) is False


def test_rings_that_decay_are_not_refuted() -> None:
    """Below 60 degrees, at 60 degrees, small rings, and rings that are bent."""
    for other in (
        {"W": [[2, -3], [1, 2]]},
        {"W": [[2, -4], [2, 2]]},
        {"tokens": [["1/4", 0], [0, "1/4"], ["-1/4", "-1/4"]]},
    ):
        assert CERTIFIED(DECAYS, Case(changed(RING, **other))).is_undecided
    assert escape(Case(changed(RING, tokens=[[3, 0], [0, 3], [-3, -2]]))) is None
    assert escape(Case(changed(RING, mask="causal"))) is None


def forged_numbers() -> dict[str, Any]:
    return {"growth": "2", "gain": "10", "gap": "5", "size": "1/100", "multiplier": "-1", "targets": [0, 1, 2]}


@pytest.mark.parametrize("field", forged_numbers())
@pytest.mark.parametrize("instance", [RING, OPEN], ids=["ring", "cone"])
def test_a_changed_cone_is_refused(instance: Instance, field: str) -> None:
    data = copy.deepcopy(certified(DECAYS, instance))
    data["data"][field] = forged_numbers()[field]
    assert truth(DECAYS, instance, data) is None


def test_a_cone_of_another_instance_is_refused() -> None:
    data = certified(DECAYS, RING)
    for other in (
        {"W": [[2, -3], [1, 2]]},
        {"B": [[-1, 0], [0, -2]]},
        {"B": [[1, 0], [0, 1]]},
        {"tokens": [[3, 0], [0, 3], [-3, -2]]},
        {"tokens": [["1/4", 0], [0, "1/4"], ["-1/4", "-1/4"]]},
        {"mask": "causal"},
    ):
        assert truth(DECAYS, changed(RING, **other), data) is None
    wrong = copy.deepcopy(data)
    wrong["data"]["symmetry"] = None  # the rings are not all states
    assert truth(DECAYS, RING, wrong) is None
    for symmetry in (
        {"matrix": [["0", "-1"], ["1", "0"]], "permutation": [2, 0, 1]},
        {"matrix": [["1", "0"], ["0", "1"]], "permutation": [0, 1, 2]},
        {"matrix": data["data"]["symmetry"]["matrix"], "permutation": [2, 2, 2]},
    ):
        wrong["data"]["symmetry"] = symmetry
        assert truth(DECAYS, RING, wrong) is None


def test_rings_are_proposed_and_grow_in_floats() -> None:
    plan = plan_for("token-flow", [IsIdentity(-B), PositiveDefinite(W)])
    assert has_rings(plan)
    assert not has_rings(plan_for("attention-flow"))
    grown = 0
    for batch, growth in growing_rings(plan, 60, 1):
        for index in (growth > 0.1).nonzero().flatten().tolist()[:3]:
            ring = batch.take([index])
            moved = problem_of(ring).advance(ring.tokens, 0.0)
            size = batch_of(RING, 1, 0).tokens.new_tensor([[2.0, -1.0], [-1.0, 2.0]]) if batch.n == 3 else torch.eye(2)
            speed = torch.einsum("bni,ij,bnj->bn", ring.tokens, size.double(), moved)
            grown += int(bool((speed > 0).all()))
    assert grown > 0


def test_almost_every_start_is_refuted_from_far_out() -> None:
    """Near 0 the cones are not certified; the search looks where each token attends to one alone."""
    conjecture = Conjecture("decay on a line", "token-flow", NegativeDefinite(B), ALMOST, n=[2], d=[1])
    document = refute(conjecture, instances=4000).as_dict()
    assert document["results"][0]["verdict"] == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(document))


@pytest.mark.slow
def test_the_printed_domain_of_decay_is_refuted() -> None:
    """From the words to the second arithmetic, with the digests made anew after a change."""
    conjecture = Conjecture(
        "tokens decay",
        "token-flow",
        [IsIdentity(-B), PositiveDefinite(W), Relation(Eigenvalue(B, 1) < 0)],
        [DECAYS],
        n=[3],
        d=[2],
    )
    document = refute(conjecture, seconds=60).as_dict()
    assert document["results"][0]["verdict"] == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
    path = ("results", 0, "counterexample", "certificates", -1, "data", "data", "gap")
    assert not all(verdict.is_holds for _, verdict in recheck_report(set_at(document, path, "7")))
