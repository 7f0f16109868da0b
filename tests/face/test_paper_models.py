"""The papers' own models are found in the Hugging Face cache when they are there, and only then."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from eigentoken.figures import run_recipes
from eigentoken.models import load
from eigentoken.models.loading.hub import cached
from eigentoken.numerics.experiments.alignment import LayerBlocks, blocks_of
from eigentoken.numerics.experiments.paper_models import FIGURE_2, FIGURE_7, PAPER_MODELS, whose

transformers = pytest.importorskip("transformers")
pytest.importorskip("huggingface_hub")


def tiny(family: str) -> Any:
    if family == "gpt2":
        config = transformers.GPT2Config(n_layer=3, n_head=2, n_embd=16, vocab_size=40, n_positions=32)
        return transformers.GPT2Model(config)
    config = transformers.AlbertConfig(
        hidden_size=16, num_attention_heads=2, num_hidden_layers=3, intermediate_size=32, vocab_size=40,
        embedding_size=8, max_position_embeddings=32,
    )  # fmt: skip
    return transformers.AlbertModel(config)


@pytest.fixture(scope="module")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny weights under the names of GPT-2 medium (new name), GPT-2 XL (old name) and ALBERT-base."""
    root = tmp_path_factory.mktemp("tiny") / "hub"
    for name, family in (
        ("openai-community/gpt2-medium", "gpt2"),
        ("gpt2-xl", "gpt2"),
        ("albert/albert-base-v2", "albert"),
    ):
        entry = root / f"models--{name.replace('/', '--')}"
        tiny(family).save_pretrained(entry / "snapshots" / "abc")
        (entry / "refs").mkdir()
        (entry / "refs" / "main").write_text("abc")
    return root


@pytest.fixture
def cache(tiny_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of these models, which a test may spoil."""
    root = shutil.copytree(tiny_models, tmp_path / "hub")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(root))
    return root


def without_samples(source: str) -> Any:
    if source.startswith("sample:"):
        raise OSError("no samples in this test")
    return load(source)


@pytest.mark.parametrize(
    ("recipe", "model"),
    [
        ("li-altafini-2b", "openai-community/gpt2-medium"),
        pytest.param("li-altafini-7", "gpt2-xl", marks=pytest.mark.slow),
        pytest.param("li-altafini-11", "gpt2-xl", marks=pytest.mark.slow),
        pytest.param("li-altafini-2a", "albert/albert-base-v2", marks=pytest.mark.slow),
        pytest.param("li-altafini-10", "albert/albert-base-v2", marks=pytest.mark.slow),
        pytest.param("abella-table3", "gpt2-xl", marks=pytest.mark.slow),
    ],
)
def test_the_papers_models_are_taken_from_the_cache(cache: Path, tmp_path: Path, recipe: str, model: str) -> None:
    done = run_recipes([recipe], scale="full", folder=tmp_path / "out", load=without_samples)
    outcome = done["outcomes"][0]
    assert outcome["status"] in {"agrees", "differs"}, outcome["reason"]
    assert outcome["note"].startswith("the paper's own models:")
    assert model in outcome["note"]


def test_quick_runs_and_an_empty_cache_do_without(cache: Path, tmp_path: Path) -> None:
    quick = run_recipes(["li-altafini-2b"], scale="quick", folder=None, load=without_samples)
    assert quick["outcomes"][0]["status"] == "cannot run"
    shutil.rmtree(cache)
    full = run_recipes(["li-altafini-2b"], scale="full", folder=None, load=without_samples)
    assert full["outcomes"][0]["status"] == "cannot run"
    assert "no samples in this test" in full["outcomes"][0]["reason"]


def test_a_snapshot_without_weights_is_not_a_model(cache: Path) -> None:
    assert cached("gpt2-xl") is not None
    (cache / "models--gpt2-xl" / "snapshots" / "abc" / "model.safetensors").unlink()
    assert cached("gpt2-xl") is None
    assert cached("openai-community/gpt2-large") is None


def test_what_stands_in_is_said(cache: Path) -> None:
    own, other = load("gpt2-xl"), load("openai-community/gpt2-medium")
    assert whose([other], FIGURE_7).startswith("the paper's BERT-large")
    assert "beside them" in whose([own, other], FIGURE_7)
    assert "beside them" not in whose([other], FIGURE_2)
    assert set(FIGURE_2) | set(FIGURE_7) <= set(PAPER_MODELS)


def test_large_models_are_read_layer_by_layer(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = blocks_of(load("albert/albert-base-v2"))
    assert shared[0] is shared[2]
    model = load("gpt2-xl")
    kept = blocks_of(model)
    assert kept[0] is kept[0]
    monkeypatch.setattr("eigentoken.numerics.experiments.alignment.KEEP_BYTES", 0)
    streamed = LayerBlocks(model, kept.dtype)
    assert streamed[0] is not streamed[0]
    assert [block.qkv.tolist() for block in streamed] == [block.qkv.tolist() for block in kept]
    assert streamed[-1].out.tolist() == kept[2].out.tolist()
    assert len(streamed[1:]) == 2
