"""Classifications carry certificates, and the second arithmetic confirms them or says what it cannot confirm."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from eigentoken.numerics.certified.certificates import schema
from eigentoken.numerics.recheck import recheck
from eigentoken.numerics.recheck.points.point import instance_digest
from eigentoken.rechecking.recheck import recheck_document
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.catalogue import SYSTEMS

from ..documents import validate


def diagonal(*entries: Any) -> list[list[Any]]:
    return [[entry if i == j else 0 for j in range(len(entries))] for i, entry in enumerate(entries)]


PAIR = [[1, 0], [-1, 0]]
ANSWERS = [
    # instance, claim about the point, claim about its stability
    (("oja-map", [[1, 0]] * 3, {"V": diagonal(2, -1), "alpha": "1/4"}), "fixed", "inside"),
    (("oja-map", [[0, 1]] * 3, {"V": diagonal("1/2", -1), "alpha": "4.1"}), "moved", "inside"),  # 2-cycle
    (("oja-map", [["3/5", "4/5"]] * 2, {"V": diagonal(2, -1), "alpha": "1/4"}), "moved", "moved"),
    (("attention-map", PAIR, {"V": diagonal(1, "1/2"), "M": diagonal("ln(3)", 0), "alpha": "1/2"}), "fixed", "inside"),
    (("attention-flow", PAIR, {"V": [[2, 1], [1, 2]], "M": [[0, 0], [-3, 0]]}), "fixed", "inside"),
    (("attention-flow", [[0, 1]] * 2, {"V": diagonal(9, 4), "M": diagonal(1, 1)}), "fixed", "outside"),
    (("attention-flow", [[1, 0]] * 2, {"V": diagonal(9, -4), "M": diagonal(1, 1)}), "fixed", "inside"),
    (("causal-flow", PAIR, {"U": diagonal(1, 0), "P": diagonal(1, 1)}), "fixed", "inside"),
    (("token-flow", [[0, 0]] * 2, {"B": diagonal(1, -1), "W": diagonal(1, 1)}), "fixed", "outside"),
    (("oja-flow", [[1]] * 2, {"V": [[-3]]}), "fixed", "discrete"),
]


@pytest.mark.parametrize(("given", "state", "claim"), ANSWERS)
def test_the_second_arithmetic_agrees(given: Any, state: str, claim: str) -> None:
    name, tokens, parameters = given
    found = json.loads(json.dumps(classify(Instance.of(name, tokens, **parameters)).as_dict()))
    for key, expected in (("equilibrium", state), ("stable", claim)):
        assert found[key]["certificate"]["data"]["claim"] == expected
        answer = recheck(found[key], found)
        assert answer.is_holds, answer.reason


@pytest.mark.parametrize(("given", "state", "claim"), ANSWERS)
def test_a_changed_claim_is_not_confirmed(given: Any, state: str, claim: str) -> None:
    """The other word, another claim, another point: never confirmed."""
    name, tokens, parameters = given
    found = classify(Instance.of(name, tokens, **parameters)).as_dict()
    for key in ("equilibrium", "stable"):
        turned = json.loads(json.dumps(found[key]))
        word = "fails" if turned["verdict"] == "holds" else "holds"
        turned["verdict"] = turned["certificate"]["verdict"] = word
        turned["certificate"].pop("digest", None)
        assert recheck(turned, found).is_fails
        other = {"fixed": "moved", "moved": "fixed", "inside": "outside", "outside": "inside", "discrete": "inside"}
        turned["certificate"]["data"]["claim"] = other[turned["certificate"]["data"]["claim"]]
        assert not recheck(turned, found).is_holds or claim == "discrete"
        moved = json.loads(json.dumps(found["instance"]))
        moved["tokens"][0][0] = "7"
        assert recheck(found[key], moved).is_fails


def test_an_overstated_margin_is_not_confirmed() -> None:
    for point in (
        Instance.of("oja-map", [[1, 0]] * 3, V=diagonal(2, -1), alpha="1/4"),
        Instance.of("attention-flow", [[1, 0]] * 2, V=diagonal(9, -4), M=diagonal(1, 1)),
    ):
        found = classify(point).as_dict()
        stable = found["stable"]
        stable["certificate"].pop("digest", None)
        stable["certificate"]["data"]["at_least"] = (stable["margin"] * 1.0009).hex()
        assert recheck(stable, found).is_fails


def test_what_balls_cannot_show_is_said() -> None:
    marginal = classify(Instance.of("oja-map", PAIR, V=diagonal(1, "-1/2"), alpha="1/4")).as_dict()
    answer = recheck(marginal["stable"], marginal)
    assert answer.is_undecided
    assert "exactly on the boundary" in answer.reason


def test_code_in_a_number_is_not_run() -> None:
    found = classify(Instance.of("oja-map", [[1, 0]] * 3, V=diagonal(2, -1), alpha="1/4")).as_dict()
    found["instance"]["V"][0][0] = "__import__('os').getcwd()"
    equilibrium = found["equilibrium"]
    equilibrium["certificate"].pop("digest", None)
    equilibrium["certificate"]["inputs"]["instance"] = instance_digest(found["instance"])
    assert recheck(equilibrium, found).is_fails


def test_the_document_is_a_certificate_of_the_schema(tmp_path: Path) -> None:
    found = classify(Instance.of("oja-map", [[1, 0]] * 3, V=diagonal(2, -1), alpha="1/4")).as_dict()
    for key in ("equilibrium", "stable"):
        validate(found[key]["certificate"], schema())
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(found))
    assert [each.agrees for each in recheck_document(path)] == ["holds", "holds", "holds"]


@pytest.mark.parametrize("name", [name for name in SYSTEMS if not SYSTEMS[name].multihead and name != "ellipsoid-flow"])
def test_random_points(name: str) -> None:
    """No certificate is refuted; all but exact boundaries are confirmed."""
    rng = random.Random(name)
    listed = SYSTEMS[name]
    confirmed = 0
    for _ in range(8):
        n, d = rng.choice([1, 2, 3]), rng.choice([2, 3])
        parameters: dict[str, Any] = {}
        for key in (listed.value, listed.score):
            if key:
                parameters[key] = diagonal(*[Fraction(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(d)])
        if listed.space.value == "euclidean":
            parameters[listed.value or ""][0][0] = 0
        if name.endswith("map"):
            parameters["alpha"] = rng.choice(["1/7", "1", "5"])
        tokens = [[rng.choice([1, -1]), *[0] * (d - 1)] for _ in range(n)]
        found = classify(Instance.of(name, tokens, **parameters)).as_dict()
        for key in ("equilibrium", "stable"):
            if found[key]["certificate"] is None:
                continue
            answer = recheck(found[key], found)
            assert not answer.is_fails, (found, answer.reason)
            exact = found[key]["certificate"]["data"]["claim"] in {"boundary", "undefined"}
            assert answer.is_holds or exact, (found, answer.reason)
            confirmed += answer.is_holds
    assert confirmed >= 6


TINY = Fraction(1, 2**60)
NEAR = {
    "two values that differ by 2^-60": {"system": "oja-flow", "V": diagonal(-3, -3 + TINY), "tokens": [[0, -1]]},
    "two multipliers that differ by 2^-60": {
        "system": "oja-map",
        "V": diagonal(3, 1, 1 + TINY),
        "alpha": "1/2",
        "tokens": [[1, 0, 0], [1, 0, 0]],
    },
    "a 2-cycle with a factor of -2^-60 / 3": {
        "system": "oja-map",
        "V": diagonal(-3, -3 - TINY),
        "alpha": "1/3",
        "tokens": [[0, -1]],
    },
    "a 2-cycle on the boundary": {"system": "oja-map", "V": diagonal(-2, 0), "alpha": 1, "tokens": [[-1, 0]] * 4},
    "one value twice": {"system": "oja-flow", "V": diagonal(2, 2, -1), "tokens": [[0, 0, 1], [0, 0, 1]]},
}


@pytest.mark.parametrize("name", NEAR)
def test_values_that_nearly_meet_are_told_apart(name: str, tmp_path: Path) -> None:
    """Found by ``make soundness``: honest documents that the re-check refused."""
    from eigentoken.schemas import schema as published

    given = json.loads(json.dumps(NEAR[name], default=str))
    found = classify(Instance.of(given.pop("system"), given.pop("tokens"), **given)).as_dict()
    document = {"schema": published("classification")["$id"], **{k: v for k, v in found.items() if k != "schema"}}
    (tmp_path / "c.json").write_text(json.dumps(document))
    answer = recheck_document(tmp_path / "c.json")
    assert answer.verdict != "fails", [each.reason for each in answer if each.agrees == "fails"]
    for entry in document["spectrum"]:
        entry["multiplicity"] += 1
        (tmp_path / "c.json").write_text(json.dumps(document))
        assert recheck_document(tmp_path / "c.json").verdict == "fails"
        entry["multiplicity"] -= 1
