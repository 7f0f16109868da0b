"""Edited copies: a new safetensors checkpoint, every other byte as it was, the original untouched."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from eigentoken.models import ModelError, load, run_tokens, save_edited
from eigentoken.models.loading.write import round_to_stored

from . import conftest as tiny


def digest(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def rank_one(model: Any, index: int = -1) -> Any:
    """W_O + u v^T in float64."""
    W = model.layer(index).output_matrix().astype(np.float64)
    rng = np.random.default_rng(0)
    return W + np.outer(rng.standard_normal(W.shape[0]), rng.standard_normal(W.shape[1]))


@pytest.mark.parametrize("key", ["albert", "bert", "gpt2", "gpt-neo", "llama", "vit"])
def test_an_edited_copy_of_each_family(key: str, saved: Any, tmp_path: Path) -> None:
    _, folder = saved(key)
    before = digest(folder)
    model = load(folder)
    W = rank_one(model)
    done = save_edited(model, tmp_path / "edited", {model.n_layers - 1: W})
    assert digest(folder) == before
    copy = load(tmp_path / "edited")
    expected = W.astype(np.float32)
    assert np.array_equal(copy.layer(-1).output_matrix(), expected)
    (written,) = done.output_matrices.values()
    assert np.array_equal(written, expected)
    old, new = load_file(folder / "model.safetensors"), load_file(tmp_path / "edited" / "model.safetensors")
    assert old.keys() == new.keys()
    changed = [name for name in old if old[name].tobytes() != new[name].tobytes()]
    assert tuple(changed) == done.tensors and len(changed) == 1
    assert done.layers == (tuple(range(model.n_layers)) if key == "albert" else (model.n_layers - 1,))


def test_transformers_reads_the_edited_copy(saved: Any, tmp_path: Path) -> None:
    import torch
    import transformers

    model = load(saved("gpt2")[1])
    save_edited(model, tmp_path / "edited", {0: rank_one(model, 0)})
    reference = transformers.GPT2Model.from_pretrained(tmp_path / "edited", attn_implementation="eager").eval()
    ids = tiny.make_input("gpt2")
    with torch.no_grad():
        theirs = reference(torch.from_numpy(ids), output_hidden_states=True).hidden_states[1].numpy()
    ours = next(run_tokens(load(tmp_path / "edited"), ids)).output
    assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max()


def test_shards_stay_shards(saved: Any, tmp_path: Path) -> None:
    reference, _ = saved("llama")
    reference.save_pretrained(tmp_path / "sharded", max_shard_size="4KB")
    model = load(tmp_path / "sharded")
    save_edited(model, tmp_path / "edited", {1: rank_one(model, 1)})
    old, new = digest(tmp_path / "sharded"), digest(tmp_path / "edited")
    assert {name for name in new if name.endswith(".safetensors")} == {n for n in old if n.endswith(".safetensors")}
    copy = load(tmp_path / "edited")
    assert np.array_equal(copy.layer(1).output_matrix(), rank_one(model, 1).astype(np.float32))
    assert np.array_equal(copy.layer(0).output_matrix(), model.layer(0).output_matrix())
    assert (tmp_path / "edited" / "model.safetensors.index.json").exists()


def test_interleaved_rotary_files_become_ordinary_llama_checkpoints(tmp_path: Path) -> None:
    """glassllm's npz, edited by nothing, written as transformers' layout: the same scores and states."""
    model = load("sample:glassllm")
    W = model.layer(0).output_matrix()
    done = save_edited(model, tmp_path / "hf", {0: W})
    copy = load(done.folder)
    assert copy.layer(0).stored_dtype == "float16" and not copy.layer(0).rotary.interleaved  # type: ignore[union-attr]
    assert np.array_equal(copy.layer(0).output_matrix(), W)
    for a, b in zip(copy.layer(2).heads, model.layer(2).heads, strict=True):
        assert np.abs(a.score_matrix(5) - b.score_matrix(5)).max() < 1e-12
    ids = np.arange(20)
    for x, y in zip(run_tokens(copy, ids), run_tokens(model, ids), strict=True):
        assert np.abs(x.output - y.output).max() < 1e-5 * np.abs(y.output).max()
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    reference = transformers.LlamaModel.from_pretrained(done.folder, dtype=torch.float32).eval()
    with torch.no_grad():
        theirs = reference(torch.from_numpy(ids[None])).last_hidden_state.numpy()[0]
    ours = model.final_norm().apply(y.output)  # type: ignore[union-attr]
    assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max()


def test_a_torch_checkpoint_is_written_as_safetensors(tmp_path: Path) -> None:
    model = load("sample:rxnmapper")
    before = model.files[0].sha256
    done = save_edited(model, tmp_path / "edited", {11: rank_one(model)})
    assert sorted(p.name for p in done.folder.iterdir()) == ["config.json", "model.safetensors", "vocab.txt"]
    copy = load(done.folder)
    assert done.layers == tuple(range(12))
    assert np.array_equal(copy.layer(0).heads[2].Q, model.layer(0).heads[2].Q)
    assert hashlib.sha256(model.files[0].path.read_bytes()).hexdigest() == before


def test_bfloat16_is_rounded_once_to_nearest_even(tmp_path: Path) -> None:
    import torch

    rng = np.random.default_rng(1)
    x = np.concatenate([rng.standard_normal(20000) * 10.0 ** rng.integers(-30, 30, 20000), [0.0, -0.0, 1.0]])
    tie = 1 + 2.0**-8
    x = np.concatenate([x, [tie, tie + 2.0**-40, tie - 2.0**-40, 1 + 3 * 2.0**-8]])
    ours = round_to_stored(x, "bfloat16").astype(np.float64)
    assert list(ours[-4:]) == [1.0, 1 + 2.0**-7, 1.0, 1 + 2.0**-6]
    around = torch.from_numpy(x).to(torch.float32).to(torch.bfloat16).double().numpy()
    assert (np.abs(ours - x) <= np.abs(around - x)).all()
    reference = tiny.make_reference("llama").to(torch.bfloat16)
    reference.save_pretrained(tmp_path / "bf16")
    model = load(tmp_path / "bf16")
    W = rank_one(model)
    done = save_edited(model, tmp_path / "edited", {2: W})
    copy = load(done.folder).layer(2)
    assert copy.stored_dtype == "bfloat16"
    assert np.array_equal(copy.output_matrix(), round_to_stored(W, "bfloat16"))
    assert np.array_equal(copy.output_matrix(), done.output_matrices[2])


def test_nothing_is_written_over_or_left_behind(saved: Any, tmp_path: Path) -> None:
    _, folder = saved("gpt2")
    model = load(folder)
    W = rank_one(model)
    before = digest(folder)
    with pytest.raises(ModelError, match="exists already"):
        save_edited(model, folder, {2: W})
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ModelError, match="exists already"):
        save_edited(model, tmp_path / "link", {2: W})
    wrong: list[tuple[Any, str]] = [
        ({2: W[:, :3]}, "shape"),
        ({2: W * np.nan}, "finite"),
        ({2: W.astype(int)}, "finite floats"),
        ({2: W * 1e300}, "overflows"),
        ({7: W}, "layer must be"),
    ]
    for outputs, word in wrong:
        with pytest.raises(ModelError, match=word):
            save_edited(model, tmp_path / "new", outputs)
    albert = load(saved("albert")[1])
    with pytest.raises(ModelError, match="shares its output matrix"):
        save_edited(albert, tmp_path / "new", {0: albert.layer(0).output_matrix(), 1: albert.layer(1).output_matrix()})
    assert [p.name for p in tmp_path.iterdir()] == ["link"] and digest(folder) == before
