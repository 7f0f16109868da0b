"""Tests of few draws: corrected apart, by both arithmetics, and never told as chance where they lie beyond all of their draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eigentoken.nulls.against_chance import AgainstChance
from eigentoken.nulls.correction import FEW, correct, families
from eigentoken.nulls.sentences import sentences
from eigentoken.numerics.layers.chance import benjamini_hochberg
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.layers.chance_documents import corrections


def _tests(p: list[float], draws: int, *, z: float = 9.0, head: int | None = None) -> list[dict[str, Any]]:
    same = {"head": head, "part": "scores", "statistic": "asymmetry", "null": "random bases", "value": 1.0, "mean": 0.0}
    return [
        {**same, "layer": n, "deviation": 1.0, "z": z, "p": each, "q": 1.0, "draws": draws} for n, each in enumerate(p)
    ]


def _told(tests: list[dict[str, Any]], *, layers: bool = True) -> str:
    correct(tests)
    found: Any = {"options": {"level": 0.05}, "shares": [], "tests": tests, "tokens": None}
    return sentences(AgainstChance(found))[3 if layers else 1]


def test_few_draws_do_not_hide_what_many_show() -> None:
    """Six layers beyond all of 108 draws are named, though there are fifty tests of 39 draws beside them, that cannot be."""
    many, few = _tests([2 / 109] * 6, 108), _tests([0.5] * 50, 39)
    correct([*few, *many])
    assert {each["q"] for each in many} == {2 / 109} and {each["q"] for each in few} == {0.5}
    assert benjamini_hochberg(np.array([each["p"] for each in (*few, *many)])).min() > 0.05
    assert "most layers look random, these 6 of 50 do not: 0 (asymmetry of the scores 9.0 deviations above)" in _told(
        [*few, *many]
    )


def test_families_part_nulls_layers_and_few_draws_alone() -> None:
    tests = [*_tests([0.2], FEW), *_tests([0.2], 2000), *_tests([0.2], FEW - 1), *_tests([0.2], 2000, head=0)]
    other = _tests([0.2], 2000)
    other[0]["null"] = "gaussian factors"
    assert [len(each) for each in families([*tests, *other])] == [2, 1, 1, 1]


@pytest.mark.parametrize("slip", [0.0, 1e-6])
def test_the_second_arithmetic_asks_for_the_same_families(slip: float) -> None:
    tests = [*_tests([2 / 109] * 6, 108), *_tests([0.5] * 50, 39)]
    correct(tests)
    tests[0]["q"] += slip
    shown = Shown({"tests": tests})
    corrections(shown, ("tests",), tests)
    assert bool(shown.found) == bool(slip)


def test_q_values_of_one_family_are_refused() -> None:
    tests = [*_tests([2 / 109] * 6, 108), *_tests([0.5] * 50, 39)]
    together = benjamini_hochberg(np.array([each["p"] for each in tests]))
    for each, q in zip(tests, together, strict=True):
        each["q"] = float(q)
    shown = Shown({"tests": tests})
    corrections(shown, ("tests",), tests)
    assert shown.found


def test_what_lies_beyond_all_draws_is_not_told_as_random() -> None:
    said = _told([*_tests([2 / 40] * 3, 39, z=-127.5), *_tests([0.4] * 9, 39, z=0.1)])
    assert (
        "none of the 9 layers is named at this level, but 3 of 12 tests lie beyond all draws, where 0.6 would at random"
        in said
    )
    assert said.endswith("furthest: 0 (asymmetry of the scores 127.5 deviations below)")
    assert _told(_tests([0.4] * 12, 39, z=0.1)).endswith("all 12 layers look random")
    assert _told(_tests([2 / 201, *[0.4] * 299], 200)).endswith(
        "all 300 layers look random"
    )  # three are expected at random
    heads = _told(_tests([0.4] * 12, 10, z=0.1, head=0), layers=False)
    assert "(in 12 of 12 tests the draws are too few for any to differ)" in heads
