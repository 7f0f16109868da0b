"""The page of bounds on samples is what the script writes, the record is what a sample gives, and statements quote the record."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers.margins import certified_margin, second_over_first_above
from eigentoken.numerics.layers.skew_margin import skew_at_leader, symmetric_parts
from eigentoken.numerics.layers.token_bounds import ROOM
from eigentoken.proofs import on_samples
from eigentoken.proofs.typeset.summary import summary
from eigentoken.theory.statements.registry import statements

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def table() -> Any:
    spec = importlib.util.spec_from_file_location("table_bounds", ROOT / "benchmarks" / "table_bounds.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_script_writes(table: Any) -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page(on_samples.recorded()), "run benchmarks/table_bounds.py"


def test_a_sample_gives_what_is_recorded(table: Any) -> None:
    found = table.of_sample("glassllm")
    record = on_samples.recorded()
    assert set(found) | set(table.MARGINS) == {name for name, said in record.items() if "glassllm" in said}
    found |= table.margins_of_sample("glassllm")
    for name, said in found.items():
        stored = record[name]["glassllm"]
        assert {each for each in said if said[each] is None} == {each for each in stored if stored[each] is None}
        numbers = {each: value for each, value in said.items() if value is not None}
        assert numbers == pytest.approx({each: stored[each] for each in numbers}, rel=1e-4)


def _margin_above(matrix: Any) -> float:
    whole = as_enclosure(matrix, name="F")
    return second_over_first_above(certified_margin(symmetric_parts(whole), skew_at_leader(whole)))


@pytest.mark.parametrize("seed", range(20))
def test_a_margin_is_at_least_what_the_eigenvalues_say(seed: int) -> None:
    """BD-E1 on matrices near a rank-one leader; equality, but for the room of another arithmetic, in the plane."""
    source = np.random.default_rng(seed)
    d = int(source.integers(2, 8))
    v = source.normal(size=d)
    matrix = 4 * np.outer(v, v) / (v @ v) + 0.3 * source.normal(size=(d, d))
    bound = _margin_above(matrix)
    values = np.sort(np.linalg.eigvals(matrix).real)
    assert bound == math.inf or bound >= values[-2] / values[-1] - 1e-12
    turned = np.linalg.qr(source.normal(size=(2, 2)))[0]
    plane, exact = turned @ np.array([[3.0, -0.5], [0.5, 1.0]]) @ turned.T, (4 - 3**0.5) / (4 + 3**0.5)
    assert exact * (1 - 1e-12) <= _margin_above(plane) <= exact * (1 + 2 * ROOM)
    assert _margin_above(np.array([[1.0, -0.75], [0.75, 0.0]])) == math.inf
    assert _margin_above(-np.diag([1.0, 3.0])) == math.inf


def test_six_statements_say_something_of_a_trained_model() -> None:
    record = on_samples.recorded()
    assert sum(any(each["telling"] for each in said.values()) for said in record.values()) >= 6
    jacobian = [each["ratio"] for each in record["BD-J2"].values()]
    assert jacobian and all(ratio is not None and 1 <= ratio <= 5 for ratio in jacobian)


def test_a_statement_says_what_was_recorded_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sections = dict(summary(statements().get("BD-D3")).sections())
    assert sections["On the sample models"] == on_samples.on_samples("BD-D3")
    assert any(line.startswith("Vacuous on rxnmapper") for line in sections["On the sample models"])
    assert "On the sample models" not in dict(summary(statements().get("BD-S1")).sections())
    nothing = {"places": 3, "telling": 0, "bound": 2.0, "measured": 0.5, "ratio": 4.0}
    monkeypatch.setattr(on_samples, "recorded", lambda: {"BD-D3": {"rxnmapper": nothing}})
    assert on_samples.on_samples("BD-D3") == ["Vacuous on every sample model that it is about (rxnmapper)."]
