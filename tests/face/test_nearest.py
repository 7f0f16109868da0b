"""Distances to a statement are enclosed, and what is written meets it after rounding."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import eigentoken as et
from eigentoken.checking.sentences import sentence
from eigentoken.models import ModelError, load
from eigentoken.numerics.recheck.layers.nearest_documents import recheck_nearest as recheck_by_second
from eigentoken.rechecking.of_models import _heads
from eigentoken.schemas import schema

from ..commands import here
from ..documents import validate

SAVED = Path(__file__).resolve().parents[2] / "examples" / "byte_lm"
FIRST = str(SAVED / "step00000.safetensors")


def test_the_nearest_weights_are_written_and_certified(tmp_path: Path) -> None:
    """Layers 0 and 2 of the first saved step are led by a complex pair; after the edit a positive real eigenvalue leads."""
    found = et.nearest(FIRST, "PM-N1", tmp_path / "near")
    assert [each["word"] for each in found.layers] == ["fails", "holds", "fails", "holds"]
    written = found.document["written"]
    assert written is not None
    assert written["words"] == ["holds"] * 4 and written["layers_changed"] == [0, 2]
    assert et.check(str(tmp_path / "near"), statements="PM-N1", sequences=0).satisfies("PM-N1")
    before, after = load(FIRST), load(str(tmp_path / "near"))
    for index, moved in zip((0, 2), written["moved"], strict=True):
        low, high = found.layers[index]["distance"]
        assert 0 <= low <= high < found.layers[index]["norm"][0] / 2
        assert low <= moved[1]  # no weights that meet it can be nearer
        old, new = before.layer(index), after.layer(index)
        assert moved[0] * (1 - 1e-9) <= np.linalg.norm(new.F - old.F, 2) <= moved[1] * (1 + 1e-9)
        assert new.stored_dtype == "float16" and np.array_equal(new.heads[0].Q, old.heads[0].Q)
        values = np.linalg.eigvals(new.F)
        leader = values[np.argmax(values.real)]
        assert leader.imag == 0 and leader.real > 0 and np.sort(values.real)[-2] < leader.real
        assert np.linalg.eigvals(old.F)[np.argmax(np.linalg.eigvals(old.F).real)].imag != 0
    for index in (1, 3):
        assert found.layers[index]["distance"] == [0.0, 0.0]
        assert np.array_equal(before.layer(index).F, after.layer(index).F)
    document = {"schema": "eigentoken/nearest/2", **json.loads(json.dumps(found.as_dict()))}
    validate(document, schema("nearest"))
    document["layers"][0]["word"] = "nearly"
    with pytest.raises(jsonschema.ValidationError):
        validate(document, schema("nearest"))


def test_the_distance_to_symmetric_is_exact() -> None:
    """CT-2 asks F = F^T: the distance is |F - F^T| / 2, and PM-T1, which asks a simple leader too, is no nearer."""
    import torch

    torch.manual_seed(3)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    F = load(layer).layer(0).F
    skew = np.linalg.norm(F - F.T, 2) / 2
    (row,) = et.nearest(layer, "CT-2").layers
    assert row["word"] == "fails" and row["of"] == "F"
    assert row["distance"][0] * (1 - 1e-9) <= skew <= row["distance"][1] * (1 + 1e-9)
    assert row["distance"][1] - row["distance"][0] < 1e-6
    (both,) = et.nearest(layer, "PM-T1").layers
    assert both["distance"][0] <= skew * (1 + 1e-9) and both["distance"][1] >= skew * (1 - 1e-9)
    with pytest.raises(ValueError, match="an equality such as"):
        et.nearest(layer, "CT-2", "nowhere")
    assert not Path("nowhere").exists()


def test_a_leader_of_the_symmetric_part_has_a_neighbour(tmp_path: Path) -> None:
    """BD-E1 asks 2 |K v| < gap of the parts of F: false before, true of the written weights, which are as near as is said."""

    def lacks(F: np.ndarray) -> float:
        values, vectors = np.linalg.eigh((F + F.T) / 2)
        return float(np.linalg.norm((F - F.T) @ vectors[:, -1]) - (values[-1] - values[-2]))

    found = et.nearest(FIRST, "BD-E1", tmp_path / "near")
    before, after = load(FIRST), load(str(tmp_path / "near"))
    for row in found.layers:
        old, new = before.layer(row["layer"]).F, after.layer(row["layer"]).F
        assert row["word"] == "fails" and lacks(old) > 0 > lacks(new)
        assert 0 < row["distance"][1] < row["norm"][0]
        assert np.linalg.norm(new - old, 2) <= 1.02 * row["distance"][1]


def test_what_cannot_be_met_is_said(tmp_path: Path) -> None:
    found = et.nearest(FIRST, "AB-X1c")
    for each in found.layers:
        assert each["distance"][1] == "inf" and "no weights of these shapes meet it" in each["says"]
    for name, says in (("AB-X1c", "no neighbour that meets"), ("PM-L4", "not about this model")):
        with pytest.raises(ValueError, match=says):
            et.nearest(FIRST, name, tmp_path / "near")
    with pytest.raises(ValueError, match="nothing to write"):
        et.nearest(str(SAVED / "step00100.safetensors"), "PM-N1", tmp_path / "near")
    (tmp_path / "there").mkdir()
    with pytest.raises(ModelError, match="exists already"):
        et.nearest(FIRST, "PM-N1", tmp_path / "there")
    assert not (tmp_path / "near").exists()
    ran = here("nearest", FIRST, "PM-N999")
    assert ran.returncode == 2 and "did you mean" in ran.stderr
    told = here("nearest", FIRST, "PM-N1")
    assert told.returncode == 0 and "layer 0: fails; F is" in " ".join(told.stdout.split())


def test_heads_and_scores_have_distances(tmp_path: Path) -> None:
    """AB-L5.1 asks U = I, which no head of width 16 < 64 meets; AB-L6.1 a symmetric U with a leader, which may be near."""
    last = str(SAVED / "step03000.safetensors")
    found = et.nearest(last, "AB-L6.1")
    model = load(last)
    for row in found.layers:
        assert row["word"] == "not about this model" and row["distance"] is None and row["as_one_head"] is not None
        F = model.layer(row["layer"]).F
        low, high = row["as_one_head"]["distance"]
        assert low <= np.linalg.norm(F - F.T, 2) / 2 * (1 + 1e-9) and high >= np.linalg.norm(F - F.T, 2) / 2 * (
            1 - 1e-9
        )
        for head, of in zip(row["heads"], model.layer(row["layer"]).heads, strict=True):
            U = of.O.astype(float) @ of.V.astype(float)
            skew = np.linalg.norm(U - U.T, 2) / 2
            assert head["distance"][0] <= skew * (1 + 1e-6) and skew * (1 - 1e-6) <= head["distance"][1] < 1.2 * skew
            assert head["norm"][0] <= np.linalg.norm(U, 2) * (1 + 1e-9)
    assert len(found.to_frame()) == 4 + 16
    never = et.nearest(last, "AB-L5.1")
    assert all(head["distance"][1] == "inf" for row in never.layers for head in row["heads"])
    assert any("no weights of these shapes meet it (head 0, 1, 2, 3)" in each for each in never.sentences())
    document = {"schema": "eigentoken/nearest/2", **json.loads(json.dumps(found.as_dict()))}
    validate(document, schema("nearest"))
    assert et.recheck(found) == "holds"
    second = recheck_by_second(document, lambda index: _heads(model.layer(index)), None, 5.0)
    assert not second.found
    for name, share in (("norm", 0.9), ("score_norm", 1.1), ("distance", 0.5)):
        forged = json.loads(json.dumps(document))
        row = forged["layers"][1]["heads"][2]
        row[name] = [end * share for end in row[name]]
        assert recheck_by_second(forged, lambda index: _heads(model.layer(index)), None, 5.0).found, name
    del forged["layers"][1]["heads"][3]
    assert recheck_by_second(forged, lambda index: _heads(model.layer(index)), None, 5.0).found
    document["layers"][1]["heads"][2]["distance"][1] /= 2
    (tmp_path / "forged.json").write_text(json.dumps(document))
    refused = here("recheck", str(tmp_path / "forged.json"))
    assert refused.returncode == 1


def test_check_tells_both_ends() -> None:
    report = et.check(str(SAVED / "step03000.safetensors"), statements=["PM-N1", "AB-X1c"], sequences=0)
    told = {each["statement"]: each for each in report.layers[2]["hypotheses"]}
    near = et.nearest(str(SAVED / "step03000.safetensors"), "PM-N1").layers[2]["distance"]
    assert told["PM-N1"]["word"] == "fails" and told["PM-N1"]["distance"] == near
    assert told["AB-X1c"]["distance"][1] == "inf" and "no weights of these shapes" in told["AB-X1c"]["distance_says"]
    assert report.layers[0]["hypotheses"][0]["distance"] is None  # it holds there
    assert "fails in layer 2; F is [6.7e-05, 0.0105] away" in sentence(report, report.statements[0])
    assert report.obstacles("PM-N1")[-1] == "F is [6.7e-05, 0.0105] away"
