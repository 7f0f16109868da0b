"""Families of rotated states, waves that run round and cycles of layers: certified twice, and wrong data is refused."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import pytest
import torch

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.follow_up import followed_up, restless
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.contraction_regions import state_at_rest
from eigentoken.numerics.readings.moving_frames import generators
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance, read_instance
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.places import AntipodalAt, ConsensusSet, SomeEquilibrium
from eigentoken.theory.language.readings import CERTIFIED, OBSERVED
from eigentoken.theory.language.terms import matrix

load()
V = matrix("V")
EYE, ZERO, TURN = [[1, 0], [0, 1]], [[0, 0], [0, 0]], [[1, -1], [1, 1]]
AGREE, REST = AlmostEveryConverges(ConsensusSet()), AlmostEveryConverges(SomeEquilibrium())
TRIANGLE = [[1, 0], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]
RING = [[int(j == (i + 1) % 5) for j in range(5)] for i in range(5)]


def triangle(name: str, score: int = -2, **further: Any) -> Instance:
    return Instance.of(name, TRIANGLE, V=EYE, M=[[score, 0], [0, score]], **further)


def certified(claim: Any, instance: Instance) -> dict[str, Any]:
    verdict = CERTIFIED(claim, Case(instance))
    assert verdict.is_fails
    return {"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)}


@pytest.mark.parametrize(("name", "further"), [("attention-flow", {}), ("attention-map", {"alpha": "1/2"})])
def test_a_triangle_attracts_as_a_rotated_family(name: str, further: Any) -> None:
    """M = -2 I on the circle: three tokens in a triangle, irrational and moved by every rotation, attract an open set."""
    instance = triangle(name, **further)
    data = certified(AGREE, instance)
    assert data["kind"] == "limit/moving-frame"
    look = IndependentInstance(instance, 1, 0)
    assert CLAIM_TRUTH(AGREE, look, data) is False
    assert CLAIM_TRUTH(REST, look, data) is None  # they rest there
    assert CERTIFIED(REST, Case(instance)).is_undecided
    apart = triangle(name, 2, **further)  # positive scores: tokens agree
    assert CERTIFIED(AGREE, Case(apart)).is_undecided
    assert CLAIM_TRUTH(AGREE, IndependentInstance(apart, 1, 0), data) is None


@cache
def _triangle_data() -> str:
    return json.dumps(certified(AGREE, triangle("attention-flow")))


def triangle_data() -> dict[str, Any]:
    """A fresh copy of the certificate of the triangle of the flow."""
    found: dict[str, Any] = json.loads(_triangle_data())
    return found


FORGED: dict[str, Any] = {
    "eps": "1/2",
    "rate": "30",
    "turns": [],
    "period": 2,
    "sign": -1,
    "centre": [["0", "1"], ["0", "1"], ["0", "1"]],
    "shape": [["-1" if i == j == 5 else str(int(i == j)) for j in range(6)] for i in range(6)],
}


@pytest.mark.parametrize("field", FORGED)
def test_a_changed_frame_is_refused(field: str) -> None:
    instance = triangle("attention-flow")
    data = triangle_data()
    data["data"][field] = FORGED[field]
    assert CLAIM_TRUTH(AGREE, IndependentInstance(instance, 1, 0), data) is None


@pytest.mark.parametrize("field", ["generator", "speed", "hold"])
def test_a_changed_turn_is_refused(field: str) -> None:
    """Another speed, a hold of the wrong sign, a matrix that does not commute with the weights."""
    instance = triangle("attention-flow")
    data = triangle_data()
    turn = {"generator": [["1", "0"], ["0", "-1"]], "speed": "1", "hold": "-1/3"}
    data["data"]["turns"] = [{**data["data"]["turns"][0], field: turn[field]}]
    assert CLAIM_TRUTH(AGREE, IndependentInstance(instance, 1, 0), data) is None
    stretched = Instance.of("attention-flow", TRIANGLE, V=EYE, M=[[-2, 0], [0, -1]])
    assert generators(stretched) == []
    whole = triangle_data()
    assert CLAIM_TRUTH(AGREE, IndependentInstance(stretched, 1, 0), whole) is None


def test_a_region_elsewhere_says_nothing_of_this_start() -> None:
    """A region off the manifold, or around other tokens, holds no start of the instance."""
    instance = triangle("attention-flow")
    data = triangle_data()
    moved = read_instance({**instance.as_dict(), "tokens": [[0, 1], ["3/5", "4/5"], ["4/5", "3/5"]]})
    assert CLAIM_TRUTH(AGREE, IndependentInstance(moved, 1, 0), data) is None


@pytest.mark.parametrize(("name", "further"), [("attention-flow", {}), ("attention-map", {"alpha": 1})])
def test_equal_tokens_turn_for_ever(name: str, further: Any) -> None:
    """V = I + J: consensus goes round, from an open set of starts."""
    instance = Instance.of(name, [[1, 0], [1, 0]], V=TURN, M=EYE, **further)
    data = certified(REST, instance)
    look = IndependentInstance(instance, 1, 0)
    assert CLAIM_TRUTH(REST, look, data) is False
    assert CLAIM_TRUTH(AlmostEveryConverges(AntipodalAt()), look, data) is None  # one line holds them
    still = Instance.of(name, [[1, 0], [1, 0]], V=EYE, M=EYE, **further)
    assert CERTIFIED(REST, Case(still)).is_undecided
    assert CLAIM_TRUTH(REST, IndependentInstance(still, 1, 0), data) is None


def test_tokens_that_chase_each_other_are_followed_up() -> None:
    """Five tokens on a ring, each seeing the next: the wave is seen as one that comes to no rest, and then certified."""
    angles = torch.arange(5, dtype=torch.float64) * (2 * torch.pi / 5 + 0.03)
    tokens = torch.stack([torch.cos(angles), torch.sin(angles)], -1).unsqueeze(0)
    conjecture = Conjecture(
        "a ring agrees", "attention-flow", [IsIdentity(V)], [AGREE], n=[5], d=[2], mask=RING, expect="refuted"
    )
    (aim,) = targets(conjecture)
    start = batch_of(Instance.of("attention-flow", [[1, 0]] * 5, V=EYE, M=ZERO, mask=RING), 1, 0).at(tokens)
    seen = OBSERVED(AGREE, start)
    assert bool(seen.isnan().all())
    going = restless(AGREE, start, seen)
    assert going is not None and going.count == 1
    made = next(followed_up(aim.plan, going)).instance()
    assert made is not None
    data = certified(AGREE, made)
    assert "turns for ever" in CERTIFIED(AGREE, Case(made)).reason
    assert CLAIM_TRUTH(AGREE, IndependentInstance(made, 1, 0), data) is False
    full = read_instance({name: each for name, each in made.as_dict().items() if name != "mask"})
    assert CLAIM_TRUTH(AGREE, IndependentInstance(full, 1, 0), data) is None
    resting = batch_of(Instance.of("attention-flow", [[1, 0]] * 5, V=EYE, M=ZERO, mask=RING), 1, 0)
    assert restless(AGREE, resting, torch.tensor([torch.nan])) is None


def test_a_cycle_of_irrational_tokens() -> None:
    """``1 + lambda < -1`` at an irrational eigenvector of the Oja map: equal tokens change sign with every layer."""
    plain = Instance.of("oja-map", [[1, 0], [1, 0]], V=[[-5, 1], [1, -3]], alpha=1)
    tokens = state_at_rest(plain, [[-0.9, 0.4], [-0.9, 0.4]])
    assert tokens is not None
    instance = read_instance({**plain.as_dict(), "tokens": [[str(entry) for entry in token] for token in tokens]})
    data = certified(REST, instance)
    assert (data["data"]["period"], data["data"]["sign"], data["data"]["turns"]) == (1, -1, [])
    look = IndependentInstance(instance, 1, 0)
    assert CLAIM_TRUTH(REST, look, data) is False
    assert CLAIM_TRUTH(AGREE, look, data) is None
    for field, value in (("sign", 1), ("sign", -2), ("sign", "-1"), ("period", 0), ("period", 1.0)):
        assert CLAIM_TRUTH(REST, look, {**data, "data": {**data["data"], field: value}}) is None


@pytest.mark.slow
def test_a_ring_is_refuted_from_the_file_to_the_second_arithmetic() -> None:
    conjecture = Conjecture("a ring agrees", "attention-flow", [IsIdentity(V)], [AGREE], n=[5], d=[2], mask=RING)
    document = json.loads(json.dumps(refute(conjecture, seconds=120).as_dict()))
    assert document["results"][0]["verdict"] == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
    forged = copy.deepcopy(document)
    forged["results"][0]["counterexample"]["certificates"][-1]["data"]["data"]["eps"] = "1"
    assert not all(verdict.is_holds for _, verdict in recheck_report(forged))
