"""The page of bounds on samples is what the script writes, the record is what a sample gives, and statements quote the record."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

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
    assert set(found) == {name for name, said in record.items() if "glassllm" in said}
    for name, said in found.items():
        assert said == pytest.approx(record[name]["glassllm"], rel=1e-4)


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
