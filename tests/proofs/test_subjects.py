"""What a statement speaks of that is no system: each has a subject, and a layer is told in which part it is another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.layers.layer_readings import read_layer
from eigentoken.numerics.layers.symbol_values import Answers
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.proofs.subjects import SUBJECTS
from eigentoken.theory.statements.layer_systems import LayerAnswer
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.subjects import Subject, declare, subject_of


def layer(heads: int = 1, **around: str) -> LayerWeights:
    source = np.random.default_rng(0)
    made = [
        {name: source.normal(size=(2, 4)) for name in "QKV"} | {"O": source.normal(size=(4, 2)), "scale": 2.0}
        for _ in range(heads)
    ]
    return LayerWeights.from_arrays(0, made, **around)


def test_every_statement_names_a_system_or_has_a_subject() -> None:
    assert not [each.id for each in statements() if not each.systems and subject_of(each.id) is None]
    assert set(SUBJECTS) <= {each.id for each in statements()}


def test_a_subject_is_declared_once() -> None:
    known = subject_of("BD-J2")
    assert known is not None
    declare("BD-J2", known)
    with pytest.raises(ValueError, match="declared already"):
        declare("BD-J2", Subject("something else"))


@pytest.mark.parametrize(
    ("name", "around", "answer", "parts"),
    [
        ("BD-S1", {"scores": "scores capped at 50", "positions": "ALiBi"}, LayerAnswer.NO_CONDITION, []),
        ("BD-S1", {"weights": "softmax with a sink"}, LayerAnswer.NOT_ABOUT, ["attention"]),
        ("BD-J2", {}, LayerAnswer.NO_CONDITION, []),
        ("BD-J2", {"positions": "rotary"}, LayerAnswer.NOT_ABOUT, ["positions"]),
        ("BD-R1", {"mask": "causal"}, LayerAnswer.NOT_ABOUT, ["mask"]),
        ("BD-R4", {"placement": "pre"}, LayerAnswer.NOT_ABOUT, ["normalisation"]),
        ("BD-L1", {}, LayerAnswer.NO_CONDITION, []),
        ("BD-K1", {}, LayerAnswer.NOT_ABOUT, ["matrices"]),
        ("BD-P2", {}, LayerAnswer.NOT_ABOUT, ["values"]),
        ("BD-E1", {}, LayerAnswer.FAILS, []),
        ("BD-H1", {"heads": 2}, LayerAnswer.NOT_ABOUT, ["heads"]),
        ("CL-16", {}, LayerAnswer.NOT_ABOUT, ["values", "attention"]),
    ],
)
def test_what_is_said_of_a_layer(name: str, around: dict[str, Any], answer: LayerAnswer, parts: list[str]) -> None:
    weights = layer(**around)
    found = read_layer(statements().get(name), weights, Answers())
    assert found.answer is answer
    assert [each.part for each in found.differs] == parts
    if name == "BD-E1":
        assert all("words" not in each.reason for each in found.conditions.values())
    if name == "BD-L1":
        assert found.about_tokens == (r"\lvert x_i\rvert \le R",)
