"""``eigentoken basin``, its document, and ``recheck`` of it: files, exit codes, bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import eigentoken as et
from eigentoken.cli import app
from eigentoken.schemas import schema

from ..documents import validate

POINT: dict[str, Any] = {
    "system": "attention-map",
    "V": [["1", "0"], ["0", "1/2"]],
    "M": [["1", "2"], ["0", "1"]],
    "alpha": "1/3",
    "tokens": [["1", "0"], ["1", "0"]],
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    point, basin = tmp_path / "point.json", tmp_path / "basin.json"
    point.write_text(json.dumps(POINT))
    assert CliRunner().invoke(app, ["basin", str(point), "-o", str(basin)]).exit_code == 0
    return point, basin


def test_the_file_fits_its_schema_and_is_confirmed(files: tuple[Path, Path]) -> None:
    point, basin = files
    document = json.loads(basin.read_text())
    validate(document, schema("basin"))
    printed = CliRunner().invoke(app, ["basin", str(point), "--json"])
    assert json.loads(printed.stdout) == document
    again = CliRunner().invoke(app, ["recheck", str(basin), "--json"])
    assert again.exit_code == 0
    found = json.loads(again.stdout)
    assert found["verdict"] == "holds" and found["not_covered"] == []
    assert len(found["certificates"]) == len(document["regions"]) + 1


def test_a_forged_file_has_exit_code_1_and_an_unknown_field_2(files: tuple[Path, Path]) -> None:
    basin = files[1]
    document = json.loads(basin.read_text())
    document["regions"][0]["rates"][0]["rate"] = "0.5"
    basin.write_text(json.dumps(document))
    assert CliRunner().invoke(app, ["recheck", str(basin)]).exit_code == 1
    document["regions"][0]["probability"] = 1
    basin.write_text(json.dumps(document))
    assert et.basin(POINT).regions[0].as_dict() != document["regions"][0]
    with pytest.raises(ValueError, match="is not a document of eigentoken/basin/1"):
        et.recheck(basin)


def test_the_api_gives_the_same_regions_and_rechecks_them(files: tuple[Path, Path]) -> None:
    found = et.basin(POINT)
    assert isinstance(found, et.Basin) and found.as_dict() == json.loads(files[1].read_text())
    assert et.recheck(found) == "holds"
    assert repr(found).startswith("<Basin of attention-map, 2 tokens in R^2: 3 regions>")
    half = found.regions[0]
    assert half.distance([[-1, 0], [1, 0]]) == float("inf") and half.rate(1e9) is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"subject": {**POINT, "tokens": [["0", "1"], ["0", "1"]]}}, "stable equilibrium"),
        ({"subject": {**POINT, "tokens": [["3/5", "4/5"], ["1", "0"]]}}, "must be an equilibrium"),
        ({"subject": "oja-map", "layer": 1}, "layer and head name one head"),
        ({"subject": "oja-map", "layer": 1, "head": 0, "alpha": "0"}, "alpha must be positive"),
        ({"subject": "oja-map", "layer": 1, "head": 0, "alpha": "x"}, "alpha must be a positive number"),
    ],
)
def test_bad_input_is_one_line(call: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as problem:
        et.basin(**call)
    assert "\n" not in str(problem.value)


@pytest.mark.slow
def test_the_count_of_the_sheet_is_of_tokens_that_are_nearly_equal() -> None:
    """docs/basins.md: 6 of 23 heads of minilm with ids from 5 to 499, 0 of 23 with ids of the whole vocabulary."""
    from eigentoken import models
    from eigentoken.models.forward import run_tokens

    model = models.load("sample:minilm")
    leaders = {}
    for layer in model.layers():
        for index, head in enumerate(layer.heads):
            values, left = np.linalg.eig((head.V @ head.O).astype(float).T)
            first, second = np.argsort(-np.abs(values))[:2]
            if values[first].imag == 0 < values[first].real and abs(values[second]) < abs(values[first]):
                leaders[layer.index, index] = head.V.T @ left[:, first].real

    def entered(ids: np.ndarray) -> int:
        """Heads for which some sequence is whole on one side."""
        states = {each.index: each.input for each in run_tokens(model, ids, dtype=np.float64)}
        heights = [states[layer] @ u for (layer, _), u in leaders.items()]
        return sum(bool(((each > 0).all(-1) | (each < 0).all(-1)).any()) for each in heights)

    def cosine(rows: np.ndarray) -> float:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return float(((unit.sum(0) ** 2).sum() - len(unit)) / (len(unit) * (len(unit) - 1)))

    table = np.asarray(model.embedding().token, dtype=float)
    drawn = np.random.default_rng(0).integers(0, len(table), size=(8, 32))
    assert len(leaders) == 23
    assert entered(np.random.default_rng(1).integers(5, 500, size=(1, 32))) == 6
    assert entered(drawn) == 0
    assert round(cosine(table[5:500]), 2) == 0.81 and round(cosine(table[drawn.ravel()]), 2) == 0.02


def test_a_region_without_a_rate_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A tiny step: the region is certified, and no radius that is tried has a rate below 1."""
    from eigentoken.commands.basins import _say

    region = {"kind": "cone", "statement": "BD-H1", "says": "a cone", "unit": "per step", "rates": []}
    _say({"head": None, "regions": [region], "observed": None})  # type: ignore[typeddict-item]
    assert "no rate is certified" in capsys.readouterr().out
