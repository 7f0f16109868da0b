"""Distances to a statement are enclosed, and what is written meets it after rounding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import eigentoken as et
from eigentoken.checking.sentences import sentence
from eigentoken.models import ModelError, load
from eigentoken.models.loading.write import tensors_that_differ
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
    document = {"schema": "eigentoken/nearest/3", **json.loads(json.dumps(found.as_dict()))}
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
    for name, says in (
        ("AB-X1c", "no neighbour that meets .* is known .U = I asks for rank"),
        ("PM-L4", "not about this model"),
    ):
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
    document = {"schema": "eigentoken/nearest/3", **json.loads(json.dumps(found.as_dict()))}
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
    assert "fails in layer 2; F is between 6.7e-05 and 0.0105 away" in sentence(report, report.statements[0])
    assert report.obstacles("PM-N1")[-1] == "F is between 6.7e-05 and 0.0105 away"


@pytest.fixture(scope="module")
def one_head(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """BERT with one head as wide as the layer (d = 4, scores over 2), random weights."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    options = {"hidden_size": 4, "num_attention_heads": 1, "num_hidden_layers": 2, "intermediate_size": 8}
    model = transformers.BertModel(transformers.BertConfig(**options, vocab_size=20, max_position_embeddings=16))
    for each in model.parameters():
        torch.nn.init.normal_(each, std=0.4)
    folder = tmp_path_factory.mktemp("one") / "model"
    model.save_pretrained(folder)
    return folder


def _score(layer: Any) -> np.ndarray:
    (head,) = layer.heads
    return np.asarray(head.P)


@pytest.mark.parametrize("name", ["CT-2", "PM-T1", "PM-A1", "AB-X1"])
def test_an_equality_survives_the_rounding(name: str, one_head: Path, tmp_path: Path) -> None:
    """F = F^T, and U = I: the neighbour itself is stored, so that rounding keeps it, entry by entry."""
    found = et.nearest(str(one_head), name, tmp_path / "near")
    written = found.document["written"]
    assert written is not None and written["words"] == ["holds", "holds"] and written["changed"] == ["OV", "OV"]
    before, after = load(one_head), load(tmp_path / "near")
    for index, (low, high) in enumerate(written["moved"]):
        old, new = before.layer(index), after.layer(index)
        F = new.output_matrix().astype(object) @ new.value_matrix().astype(
            object
        )  # exact for float32 entries of [I], F
        assert (F == F.T).all() and (name != "AB-X1" or (np.eye(4) == F).all())
        assert low * (1 - 1e-9) <= np.linalg.norm(new.F - old.F, 2) <= high * (1 + 1e-9)
        assert high <= found.layers[index]["distance"][1] * (
            1 + 1e-5
        )  # no farther than what was promised, but for rounding
        assert np.array_equal(old.heads[0].Q, new.heads[0].Q) and np.array_equal(old.heads[0].K, new.heads[0].K)
        assert written["scores_moved"][index] is None
    assert et.recheck(found) == "holds"


@pytest.mark.parametrize("name", ["PH-T1", "PH-T2", "PH-T3", "PH-T5"])
def test_scores_of_an_only_head_are_written(name: str, one_head: Path, tmp_path: Path) -> None:
    """W B^-1 symmetric is an equality of both: Q = X, K = V, O = I have W = X B with the numbers that are stored."""
    found = et.nearest(str(one_head), name, tmp_path / "near")
    written = found.document["written"]
    assert written is not None and written["words"] == ["holds", "holds"] and written["changed"] == ["OQKV", "OQKV"]
    before, after = load(one_head), load(tmp_path / "near")
    for index in (0, 1):
        old, new = before.layer(index), after.layer(index)
        quotient = _score(new) @ np.linalg.inv(new.F)
        assert np.abs(quotient - quotient.T).max() <= 1e-5 * np.abs(quotient).max()
        low, high = written["scores_moved"][index]
        assert low * (1 - 1e-9) <= np.linalg.norm(_score(new) - _score(old), 2) <= high * (1 + 1e-9)
        if name in ("PH-T2", "PH-T3"):
            assert (np.linalg.eigvalsh(_score(new) + _score(new).T) > 0).all()
            assert (np.sign(np.linalg.eigvalsh(quotient + quotient.T)) == (1 if name == "PH-T3" else -1)).all()
    assert any(
        "|P' - P|" in each and "by other output matrices, queries, keys and values" in each
        for each in found.sentences()
    )
    assert et.recheck(found) == "holds"
    document = {"schema": "eigentoken/nearest/3", **json.loads(json.dumps(found.as_dict()))}
    validate(document, schema("nearest"))
    for forge in (
        lambda d: d["written"].update(scores_moved=[None, None]),
        lambda d: d["written"].update(
            scores_moved=[[0.5 * end for end in each] for each in d["written"]["scores_moved"]]
        ),
        lambda d: d["written"].update(changed=["O", "OQKV"]),
        lambda d: d["written"].update(changed=["OQKV"]),
    ):
        forged = json.loads(json.dumps(document))
        forge(forged)
        (tmp_path / "forged.json").write_text(json.dumps(forged))
        assert et.recheck(str(tmp_path / "forged.json")) == "fails"


def test_opposite_scores_and_the_metric_of_the_space(one_head: Path, tmp_path: Path) -> None:
    """PH-X3 asks B + W = 0 with a definite W: the least that both move is half of |B + W|.  CL-8 asks W = I of the metric of
    the sphere, which a layer has, and U = I of its head."""
    found = et.nearest(one_head, "PH-X3", tmp_path / "opposite")
    layer = load(one_head).layer(0)
    apart = np.linalg.norm(layer.heads[0].U + layer.heads[0].P, 2) / 2
    low, high = found.layers[0]["distance"]
    assert apart * (1 - 1e-6) <= low <= high < np.inf
    assert et.check(str(tmp_path / "opposite"), statements="PH-X3", sequences=0).answer("PH-X3") == "holds"
    written = load(tmp_path / "opposite").layer(0).heads[0]
    assert np.array_equal(written.U, -written.P) and np.linalg.eigvalsh(written.P + written.P.T).min() > 0
    report = et.check(str(one_head), statements="CL-8", sequences=0)
    conditions = report.layers[0]["hypotheses"][0]["conditions"]
    assert conditions["W = I"]["verdict"] == "holds" and conditions["U = I"]["verdict"] == "fails"
    et.nearest(one_head, "CL-8", tmp_path / "identity")
    again = et.check(str(tmp_path / "identity"), statements="CL-8", sequences=0)
    assert again.answer("CL-8") == "holds" and et.recheck(again) == "holds"


def test_a_trained_model_of_several_heads_is_made_symmetric(tmp_path: Path) -> None:
    """CT-2 and PM-T1 are about layers of any number of heads; shared weights are written once."""
    found = et.nearest("sample:rxnmapper", "PM-T1", tmp_path / "near")
    assert found.document["written"]["words"] == ["holds"] * 12
    before, after = load("sample:rxnmapper").layer(3), load(tmp_path / "near").layer(3)
    assert np.array_equal(after.F, after.F.T)
    skew = np.linalg.norm(before.F - before.F.T, 2) / 2
    assert np.linalg.norm(after.F - before.F, 2) <= skew * (1 + 1e-6)
    assert "divide F' anew among the heads" in found.sentences()[-1]
    report = et.check(str(tmp_path / "near"), statements=["PM-T1", "CT-2", "PM-N1"], sequences=0)
    assert all(report.satisfies(each) for each in ("PM-T1", "CT-2", "PM-N1"))


def test_a_copy_of_scaled_integers_is_whole(tmp_path: Path) -> None:
    """The million-parameter sample is stored as 8-bit integers: an edited copy has the products, in float64."""
    first = SAVED.with_name("byte_lm_million") / "step00000.safetensors"
    found = et.nearest(str(first), "PM-N1", tmp_path / "near")
    assert found.document["written"]["words"] == ["holds"] * 5
    before, after = load(first), load(tmp_path / "near")
    outputs = {f"transformer.h.{index}.attn.c_proj.weight" for index in found.document["written"]["layers_changed"]}
    assert set(tensors_that_differ(before, after)) == outputs


def test_other_numbers_in_a_tensor_that_was_edited_in_part_are_found(tmp_path: Path) -> None:
    """GPT-2 has queries, keys and values in one tensor: where the values alone were changed, the queries are held."""
    from safetensors.numpy import load_file, save_file

    transformers = pytest.importorskip("transformers")
    model = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(n_embd=4, n_head=1, n_layer=1, vocab_size=20, n_positions=16)
    )
    model.save_pretrained(tmp_path / "model")
    found = et.nearest(str(tmp_path / "model"), "AB-X1c", tmp_path / "near")
    assert found.document["written"]["changed"] == ["OV"] and et.recheck(found) == "holds"
    tensors = load_file(tmp_path / "near" / "model.safetensors")
    name = next(each for each in tensors if each.endswith("c_attn.weight"))
    tensors[name][0, 0] += 1  # of a query
    save_file(tensors, tmp_path / "near" / "model.safetensors", metadata={"format": "pt"})
    assert et.recheck(found) == "fails"


def test_values_of_too_small_a_rank_are_told(tmp_path: Path) -> None:
    """Two heads share their values: F has rank 4 of 8, and none of its neighbours that were made has less than 8."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    options = {"n_embd": 8, "n_head": 2, "n_layer": 1, "n_inner": 8, "vocab_size": 20, "n_positions": 20}
    model = transformers.GPTBigCodeModel(
        transformers.GPTBigCodeConfig(**options, multi_query=True, bos_token_id=0, eos_token_id=0)
    )
    for each in model.parameters():
        torch.nn.init.normal_(each, std=0.4)
    model.save_pretrained(tmp_path / "model")
    with pytest.raises(
        ValueError, match=r"F cannot be written by matrices of these shapes: the values have too small a rank$"
    ):
        et.nearest(str(tmp_path / "model"), "BD-E1", tmp_path / "near")
    assert not (tmp_path / "near").exists()
