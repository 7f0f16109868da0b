"""An edited copy of a GGUF is what ``transformers`` reads as the model: what the converter did to the numbers is undone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from eigentoken.models import ModelError, load
from eigentoken.models.loading.write import save_edited, tensors_that_differ

from ..shares import others_slow
from .test_gguf_families import CASES, MIXTURES, reference, write

transformers = pytest.importorskip("transformers")
gguf = pytest.importorskip("gguf")

#: one of each kind of change: gains, fused rows, part of a head turned, neighbours, a width of heads of its own, two stacks
QUICK = ("gemma2", "nemotron", "gptneox", "falcon+40b", "stablelm", "arcee", "t5")
#: with a tiny vocabulary their default padding token does not exist: transformers refuses to build them
NOT_BUILT = ("smollm3", "phi3", "chatglm", "glm4", "modern-bert")
WHOLE = [name for name in CASES if name not in (*MIXTURES, *NOT_BUILT) and not name.startswith("deepseek2")]


@pytest.mark.parametrize("architecture", others_slow(WHOLE, QUICK.__contains__))
def test_transformers_reads_the_copy_as_the_model(tmp_path: Path, architecture: str) -> None:
    model = reference(architecture)
    write(tmp_path / "model.gguf", architecture, model)
    found = load(tmp_path / "model.gguf")
    save_edited(found, tmp_path / "copy", {0: found.layer(0).output_matrix()})
    config = json.loads((tmp_path / "copy" / "config.json").read_text())
    assert not [key for key in config if key.startswith("eigentoken")]
    copy = load(tmp_path / "copy")
    assert tensors_that_differ(found, copy) == []
    ids = torch.arange(2, 11)[None]
    again = transformers.AutoModel.from_pretrained(tmp_path / "copy").eval()
    with torch.no_grad():
        one, other = (
            (each.encoder if architecture.startswith("t5") else each)(ids, output_hidden_states=True).hidden_states
            for each in (model, again)
        )
    for first, second in zip(one, other, strict=True):
        assert float((first - second).abs().max()) <= 2e-5 * float(first.abs().max())


@pytest.mark.parametrize("architecture", ["deepseek2", "deepseek2+lite"])
def test_the_attention_of_a_copy_is_that_of_the_model(tmp_path: Path, architecture: str) -> None:
    """DeepSeek's turned pairs are neighbours in both; with the experts in the file a copy is refused."""
    write(tmp_path / "model.gguf", architecture, reference(architecture))
    found = load(tmp_path / "model.gguf")
    save_edited(found, tmp_path / "copy", {0: found.layer(0).output_matrix()})
    copy = load(tmp_path / "copy")
    for index in range(found.n_layers):
        for old, new in zip(found.layer(index).heads, copy.layer(index).heads, strict=True):
            assert np.array_equal(old.Q, new.Q) and np.array_equal(old.K, new.K) and np.array_equal(old.V, new.V)


def test_a_copy_without_the_experts_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from . import test_gguf_families as families

    tensors = families.converted
    experts = {"blk.0.ffn_up_exps.weight": np.zeros((4, 3, 16), dtype=np.float32)}
    monkeypatch.setattr(families, "converted", lambda *given: tensors(*given) | experts)
    write(tmp_path / "model.gguf", "llama+mixtral", reference("llama+mixtral"))
    found = load(tmp_path / "model.gguf")
    with pytest.raises(ModelError, match="a copy would lack the experts"):
        save_edited(found, tmp_path / "copy", {0: found.layer(0).output_matrix()})
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("gain", [0.25, 1.0, 3.0])
def test_a_gain_less_one_is_exact(tmp_path: Path, gain: float) -> None:
    """``g - 1`` of a small g is too long for float32: it is written in float64."""
    model = reference("gemma2")
    odd = np.float32(gain) * np.float32(1.0000001)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("norm.weight"):
                value.fill_(0.0)
    write(tmp_path / "model.gguf", "gemma2", model)
    found = load(tmp_path / "model.gguf")
    read = found.store.read
    found.store.read = lambda name: np.full_like(read(name), odd) if name.endswith("norm.weight") else read(name)  # type: ignore[method-assign]
    save_edited(found, tmp_path / "copy", {0: found.layer(0).output_matrix()})
    kept = load(tmp_path / "copy").store.read("model.norm.weight")
    assert np.array_equal(kept.astype(np.float64), np.full(kept.shape, np.float64(odd) - 1.0))
    assert (kept.dtype == np.float64) == (np.float32(np.float64(odd) - 1.0) != np.float64(odd) - 1.0)
