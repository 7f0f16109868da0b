"""What a layer does beside softmax attention of a bilinear form is said in a verdict, and never dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import eigentoken as et
from eigentoken.checking.layers import weights_of
from eigentoken.models import ModelError, load
from eigentoken.theory.statements.layer_systems import matches
from eigentoken.theory.statements.registry import statements

from ..models import reference_models as tiny


@pytest.fixture(scope="module")
def model() -> Any:
    """``model(key)``: the tiny model of a family, read from memory."""
    pytest.importorskip("transformers")
    made: dict[str, Any] = {}

    def get(key: str) -> Any:
        if key not in made:
            made[key] = load(tiny.make(key))
        return made[key]

    return get


SAID = {
    "qwen3": {"scores": "norms of queries and keys"},
    "olmo": {"scores": "queries and keys cut to a range", "values": "values cut to a range"},
    "olmo2": {"scores": "norms of queries and keys", "normalisation": "a norm of the update"},
    "gemma2": {"scores": "scores capped at 2", "normalisation": "a norm of the update"},
    "granite": {"normalisation": "a gain of the update"},
    "bloom": {"positions": "ALiBi positions in the scores"},
}


@pytest.mark.parametrize("key", SAID)
def test_every_statement_says_in_which_part_the_layer_is_another_system(key: str, model: Any) -> None:
    system = weights_of(model(key).layer(0)).system
    for statement in statements():
        found = matches(statement.systems, statement.covers, system)
        for match in found:
            told = {each.part: each.layer for each in match.differences}
            for part, words in SAID[key].items():
                if part == "positions" and {match.system.positions, *statement.covers.positions} & {"any", "ALiBi"}:
                    continue
                assert told[part] == words, (statement.id, told)


def test_a_plain_layer_has_no_such_part(model: Any) -> None:
    system = weights_of(model("gpt_neox").layer(0)).system
    assert (system.scores, system.weights, system.values, system.update) == ("", "", "", "")
    assert system.positions == "rotary" and "norms" not in system.describe()


def test_no_statement_holds_for_a_layer_with_norms_of_queries_and_keys(model: Any) -> None:
    report = et.check(model("qwen3"), statements=["PM-N1", "PM-L4", "PH-T7"], sequences=2, tokens=4)
    words = {word for each in report.document["statements"] for word in each["layers"]}
    assert words == {"not about this model"}
    assert "norms of queries and keys" in report.document["layers"][0]["convention"]
    assert "norms of queries and keys" in report.document["layers"][0]["system"]["says"]
    assert report.document["layers"][0]["alpha_star"] is None


def test_steer_refuses_what_its_guarantee_is_not_about(model: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"norms of queries and keys.*A one-layer guarantee for steering \(PM-S3\)"):
        et.steer(model("qwen3"), "random", tmp_path / "new")
    assert not (tmp_path / "new").exists()
