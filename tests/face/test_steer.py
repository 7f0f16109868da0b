"""``eigentoken steer``: a new checkpoint that loads, the original as it was, a certified eigenpair, bad directions refused."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

from eigentoken.checking.observe import starting_tokens
from eigentoken.checking.steer import read_direction, steer
from eigentoken.cli import app
from eigentoken.models import load
from eigentoken.models.forward import first_states, run_layer
from eigentoken.schemas import schema
from eigentoken.transformer_layer import attention


def _digests(model: Any) -> dict[str, str]:
    return {file.path.name: hashlib.sha256(file.path.read_bytes()).hexdigest() for file in model.files}


@pytest.mark.parametrize("name", ["rxnmapper", "glassllm"])
def test_a_steered_copy_is_certified_and_the_original_untouched(name: str, tmp_path: Path) -> None:
    """rxnmapper: every layer shares the matrix; glassllm: grouped values and float16, so V has a kernel."""
    model = load(f"sample:{name}")
    before = _digests(model)
    w = np.random.default_rng(1).standard_normal(model.d)
    report = steer(model, w, tmp_path / "new", strength=40.0, sequences=2, tokens=8).as_dict()
    assert _digests(load(f"sample:{name}")) == before
    copy = load(str(tmp_path / "new"))
    assert copy.n_layers == model.n_layers
    assert copy.format.startswith("safetensors")
    F = copy.layer(-1).F
    values, vectors = np.linalg.eig(F)
    first = int(np.argmax(values.real))
    found = report["leading_eigenvalue"]
    assert abs(values[first].real - found["re"]) <= found["radius"] + 1e-6
    assert found["re"] > 30.0
    assert {verdict["verdict"] for verdict in report["verdicts"].values()} == {"holds"}
    true = abs(float(np.real(vectors[:, first]) @ (w / np.linalg.norm(w))))
    assert report["cosine_at_least"] <= true + 1e-9
    assert report["cosine_at_least"] > 0.9
    assert report["tokens"]["after"]["mean"] > report["tokens"]["before"]["mean"]
    told = report["tokens"]["guaranteed"]
    assert told["tokens"] == len(told["each"]) == 16
    assert [each["verdict"] for each in told["each"]].count("holds") == told["holds"] > 0
    _agrees_with_the_forward_pass(model, copy, w / np.linalg.norm(w), told["each"])


def _agrees_with_the_forward_pass(model: Any, copy: Any, w: Any, each: list[dict[str, Any]]) -> None:
    """The certified |cos| of every token encloses what the forward pass of the new layer computes (float32)."""
    x = first_states(model, starting_tokens(model, 2, 8, 0))
    for layer in model.layers(0, model.n_layers - 1):
        x = run_layer(layer, x).output
    last = replace(copy.layer(-1), index=model.n_layers - 1)
    seen = last.attention_norm.apply(x) if last.placement == "pre" else x
    after = (x + attention(last.block(False), seen)[2]).reshape(-1, model.d).astype(np.float64)
    cosines = np.abs(after @ w) / np.linalg.norm(after, axis=1)
    for cosine, told in zip(cosines, each, strict=True):
        assert told["cosine"][0] - 1e-4 <= cosine <= told["cosine"][1] + 1e-4
        if told["verdict"] == "holds":
            assert 1 / np.hypot(1, told["tangent_at_most"]) <= cosine + 1e-4


def test_unusual_directions(tmp_path: Path) -> None:
    model = load("sample:glassllm")
    path = tmp_path / "w.npy"
    np.save(path, np.ones((1, model.d), dtype=np.float32))  # a row, single precision
    assert steer(model, str(path), tmp_path / "row", sequences=1, tokens=4).document["strength"] == 20.0
    np.save(path, np.arange(model.d))  # whole numbers
    assert read_direction(str(path), model).dtype.kind == "i"
    assert read_direction("token:3", model).shape == (model.d,)


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        ("token:99999999", "vocabulary"),
        ("token:-1", "vocabulary"),
        ("somewhere", "must be a .npy file"),
        ("missing.npy", "missing.npy"),
        ("short.npy", "entries"),
        ("zero.npy", "not zero"),
        ("nan.npy", "finite"),
        ("pickled.npy", "nothing was unpickled"),
        ("text.npy", "nothing was unpickled"),
        ("complex.npy", "real numbers"),
    ],
)
def test_bad_directions_are_one_line_and_exit_2(direction: str, said: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("short.npy", np.ones(3))
    np.save("zero.npy", np.zeros(128))
    np.save("nan.npy", np.full(128, np.nan))
    np.save("pickled.npy", np.array([object()]), allow_pickle=True)
    np.save("complex.npy", np.ones(128, dtype=complex))
    Path("text.npy").write_text("hello")
    ran = CliRunner().invoke(app, ["steer", "sample:glassllm", "--direction", direction, "-o", "out"])
    assert ran.exit_code != 0
    text = str(ran.exception) if ran.exception is not None else ran.output
    assert said in text + ran.output
    assert not Path("out").exists()


def test_the_document_has_a_schema_and_the_folder_must_be_new(tmp_path: Path) -> None:
    arguments = ["steer", "sample:glassllm", "--direction", "random", "-o", str(tmp_path / "out"), "--json"]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    document = json.loads(ran.stdout)
    assert document["schema"] == "eigentoken/steer/1"
    checker = jsonschema.Draft202012Validator(schema("steer"))
    checker.validate(document)
    for name in ("leading_eigenvalue", "cosine_at_least", "tokens"):
        assert not checker.is_valid({key: value for key, value in document.items() if key != name})
    document["tokens"]["guaranteed"]["each"][0]["verdict"] = "probably"
    assert not checker.is_valid(document)
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code != 0
    assert "exists already" in str(again.exception) + again.output
