"""Queries, keys and values are written back where the file has them: fused, transposed, shared by heads, in shards, in GGUF."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from eigentoken.models import ModelError, load
from eigentoken.models.loading.rows import rows_of, stacked
from eigentoken.models.loading.write import save_edited, tensors_that_differ

from ..shares import others_slow
from . import reference_models as tiny
from .test_gguf_families import reference, write

transformers = pytest.importorskip("transformers")

QUICK = ("gpt_neox", "falcon-40b", "phi3", "t5", "gpt_bigcode", "bloom", "gptj", "olmo2", "mpt", "qwen3")
LATENT = [key for key in tiny.CASES if key.startswith("deepseek")]
WRITTEN = [key for key, case in tiny.CASES.items() if case.implementation == "eager" and key not in LATENT]


def _rewritten(source: str | Path, folder: Path) -> None:
    """Twice every row of V, and minus those of K, of layer 0; the rest stays, number by number."""
    model = load(source)
    layer = model.layer(0)
    wanted = {"V": 2.0 * stacked(layer, "V"), "K": -1.0 * stacked(layer, "K")}
    places = {name for letter in wanted for name in rows_of(model, 0, letter)}
    edited = save_edited(model, folder, {}, {0: wanted})
    part = str(source).partition("#")[2]
    copy = load(f"{folder}#{part}" if part else folder)
    for old, new in zip(layer.heads, copy.layer(0).heads, strict=True):
        assert np.array_equal(new.V, 2 * old.V) and np.array_equal(new.K, -old.K)
        assert np.array_equal(new.Q, old.Q) and np.array_equal(new.O, old.O)
    assert set(edited.tensors) == places
    assert set(tensors_that_differ(model, copy)) <= places
    for index in range(1, model.n_layers):
        if model.architecture.weights_of(index) == index:
            for old, new in zip(model.layer(index).heads, copy.layer(index).heads, strict=True):
                assert all(np.array_equal(getattr(old, letter), getattr(new, letter)) for letter in "QKVO")


@pytest.mark.parametrize("key", others_slow(WRITTEN, QUICK.__contains__))
def test_rows_are_written_where_they_are(key: str, tmp_path: Path) -> None:
    case = tiny.CASES[key]
    tiny.built(case, 5).save_pretrained(tmp_path / "model")
    _rewritten(f"{tmp_path / 'model'}#{case.part}" if case.part else tmp_path / "model", tmp_path / "copy")


@pytest.mark.parametrize("architecture", ["gemma2", "falcon+40b", "gptneox", "stablelm"])
def test_rows_of_a_gguf_are_written_as_the_family_stores_them(architecture: str, tmp_path: Path) -> None:
    """The keys of turned pairs are in another order there: the copy is compared by the scores that it gives."""
    write(tmp_path / "model.gguf", architecture, reference(architecture))
    model = load(tmp_path / "model.gguf")
    layer = model.layer(0)
    save_edited(model, tmp_path / "copy", {}, {0: {"V": 2.0 * stacked(layer, "V"), "K": -1.0 * stacked(layer, "K")}})
    for old, new in zip(layer.heads, load(tmp_path / "copy").layer(0).heads, strict=True):
        assert np.array_equal(new.V, 2 * old.V)
        for delta in (0, 3):
            assert np.allclose(new.score_matrix(delta), -old.score_matrix(delta), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("key", LATENT)
def test_products_cannot_be_written(key: str, tmp_path: Path) -> None:
    tiny.built(tiny.CASES[key], 5).save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="are computed from several tensors"):
        rows_of(load(tmp_path / "model"), 0, "V")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """Two values of one shared head, a wrong shape, an overflow: and no folder is left."""
    config = transformers.LlamaConfig(
        hidden_size=8,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_hidden_layers=1,
        intermediate_size=8,
        vocab_size=9,
    )
    transformers.LlamaModel(config).half().save_pretrained(tmp_path / "model")
    model = load(tmp_path / "model")
    rows = stacked(model.layer(0), "V").astype(np.float64)
    apart = rows.copy()
    apart[0] += 1  # of head 0, which has its values with head 1
    for wanted, says in (
        (apart, "share their value rows"),
        (rows[:-1], "must be finite floats of shape"),
        (rows * 1e9, "overflow float16"),
        (rows * np.nan, "must be finite"),
    ):
        with pytest.raises(ModelError, match=says):
            save_edited(model, tmp_path / "copy", {}, {0: {"V": wanted}})
        assert not (tmp_path / "copy").exists()


def test_shards_keep_their_files(tmp_path: Path) -> None:
    config = transformers.GPT2Config(
        n_embd=32, n_head=2, n_layer=2, vocab_size=300, n_positions=16, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "model", max_shard_size="40KB")
    names = set(json.loads((tmp_path / "model" / "model.safetensors.index.json").read_text())["weight_map"].values())
    assert len(names) > 1
    _rewritten(tmp_path / "model", tmp_path / "copy")
    assert {path.name for path in (tmp_path / "copy").glob("*.safetensors")} == names
