"""Half spaces across the leading eigenvector of a layer matrix, certified at given tokens."""

from __future__ import annotations

import json

import numpy as np
import pytest

import eigentoken as et
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers.token_conditions import Leaders, asks_of_tokens, conditions_at, verdict_at
from eigentoken.theory.language.conditions import InHemisphere
from eigentoken.theory.language.terms import matrix

F = as_enclosure(np.array([[2.0, 1.0], [0.0, 1.0]]), name="F")  # leading eigenvectors: (1, 0), on the left (1, 1)


@pytest.mark.parametrize(
    ("tokens", "right", "left"),
    [
        ([[1.0, 5.0], [2.0, -1.0]], "holds", "holds"),
        ([[-1.0, 5.0], [-2.0, -3.0]], "holds", "fails"),
        ([[1.0, -2.0], [1.0, 3.0]], "holds", "fails"),
        ([[1.0, 0.0], [-1.0, 3.0]], "fails", "holds"),
        ([[0.0, 1.0], [1.0, 0.0]], "undecided", "holds"),
    ],
)
def test_one_side_is_decided_or_left_open(tokens: list[list[float]], right: str, left: str) -> None:
    leaders = Leaders.of(F)
    x = np.array(tokens)
    assert leaders.one_side(x, left=False).answer.text == right
    assert leaders.one_side(x, left=True).answer.text == left
    asked = InHemisphere(matrix("B"), left=True)
    assert asks_of_tokens(asked) and not asks_of_tokens(InHemisphere(matrix("W")))
    assert verdict_at(asked, x, conditions_at(x), leaders).answer.text == left


def test_a_pair_that_leads_has_no_half_space() -> None:
    turned = as_enclosure(np.array([[1.0, 1.0], [-1.0, 1.0]]), name="F")
    assert Leaders.of(turned).one_side(np.eye(2), left=False).answer.text == "undecided"


def test_the_report_has_the_half_space_of_each_layer() -> None:
    model, prompts = "examples/byte_lm/step03000.safetensors", ["To be, or not to be", "def read(self):"]
    report = et.check(model, statements=["PH-T4c", "AB-T6.1"], prompts=prompts)
    by_layer = {(each["prompt"], each["layer"]): each for each in report.document["states"]["conditions"]}
    words = [set(by_layer[0, layer]["asked"].values()) for layer in range(4)]
    assert words == [{"fails"}, {"holds", "fails"}, {"undecided"}, {"fails"}]  # the leader of layer 2 is a pair
    for each in by_layer.values():
        share, word = each["measured_on_one_side"], next(w for text, w in each["asked"].items() if "U" in text)
        assert share is None or (share == 1.0) == (word == "holds"), json.dumps(each["asked"])
