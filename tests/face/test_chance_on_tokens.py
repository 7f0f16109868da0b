"""Against chance on tokens: the draws have the law of whole redrawn matrices, random heads look random, trained ones do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigentoken as et
from eigentoken.models import load
from eigentoken.models.forward import run_layer
from eigentoken.models.loading.model import Model
from eigentoken.numerics.layers.head_jacobian import jacobian_norms
from eigentoken.numerics.layers.heads_on_tokens import HeadsAtTokens, plain_scores
from eigentoken.numerics.layers.layers_on_tokens import LayerAtStates, draw_leaders
from eigentoken.numerics.layers.observe import observe_layer, principal_subspace
from eigentoken.schemas import schema

from ..commands import here
from ..documents import validate

SAVED = Path(__file__).resolve().parents[2] / "examples" / "byte_lm"
NULLS = ("gaussian factors", "random bases")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EIGENTOKEN_CACHE", str(tmp_path / "cache"))


def llama(seed: int = 0, **options: Any) -> Model:
    """Two layers with rotary positions and shared keys, weights large enough for scores to matter."""
    import torch

    transformers = pytest.importorskip("transformers")
    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(
        **{**sizes, "intermediate_size": 16, "vocab_size": 40, "attention_bias": True, **options}
    )
    model = transformers.LlamaModel(config).eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "self_attn" in name:
                value.normal_(std=0.4)
            if "norm" in name:
                value.uniform_(0.5, 1.5)
    return load(model)


def turned(source: np.random.Generator, d: int) -> np.ndarray:
    base, triangle = np.linalg.qr(source.standard_normal((d, d)))
    return np.asarray(base * np.sign(np.diag(triangle)))


def redrawn(layer: Any, null: str, source: np.random.Generator) -> Any:
    """The layer with whole matrices redrawn, head by head: keys and values of a group are the same."""
    Q, K, V, O = (np.array([getattr(h, n) for h in layer.heads], dtype=np.float64) for n in "QKVO")
    if null == "random bases":
        R = [turned(source, layer.d) for _ in range(4)]
        new = [Q @ R[0], K @ R[1], V @ R[2], R[3] @ O]
    else:
        new = [np.sqrt((each**2).mean()) * source.standard_normal(each.shape) for each in (Q, K, V, O)]
        groups = [head.kv_index for head in layer.heads]
        for which in (1, 2):
            new[which] = new[which][[groups.index(group) for group in groups]]
    heads = tuple(
        replace(head, **{name: each[place] for name, each in zip("QKVO", new, strict=True)})
        for place, head in enumerate(layer.heads)
    )
    return replace(layer, heads=heads)


def states(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(4).standard_normal((n, d)) + 0.5


@pytest.mark.parametrize("n", [5, 20])
@pytest.mark.parametrize("null", NULLS)
def test_draws_of_a_head_have_the_law_of_whole_matrices(null: str, n: int) -> None:
    """Fewer and more tokens than coordinates; the columns that are drawn are not those of the matrices."""
    stats = pytest.importorskip("scipy.stats")
    layer, source = llama().layer(1), np.random.default_rng(1)
    at = HeadsAtTokens.of(layer.block(), states(n, layer.d))
    drawn = at.against(1500, 0, 0)[null]  # type: ignore[index]
    found: dict[str, list[float]] = {"contraction": [], "spread": []}
    head = replace(layer, heads=layer.heads[:1])
    own = {name: np.linalg.norm(getattr(layer.heads[0], name)) / np.sqrt(4 * 16) for name in "QKVO"}
    for _ in range(600):
        new = redrawn(head, null, source).heads[0]
        if null == "gaussian factors":
            new = replace(
                new, **{name: own[name] * source.standard_normal(getattr(new, name).shape) for name in "QKVO"}
            )
        weights = run_layer(replace(layer, heads=(new,)), states(n, layer.d)).weights[0]
        values = at.x @ new.V.T + new.v_bias
        rows = [each @ new.O.T for each in (values, weights @ values)]
        sizes = [np.linalg.norm(each[:, None] - each[None], axis=-1).max() for each in (*rows, at.x)]
        found["contraction"].append(sizes[1] / sizes[0])
        found["spread"].append(sizes[1] / sizes[2])
    for name, each in found.items():
        assert stats.ks_2samp(drawn[name][:, 0], each).pvalue > 1e-3, name
    assert stats.ks_2samp(1.2 * drawn["spread"][:, 0], found["spread"]).pvalue < 1e-3


@pytest.mark.parametrize("null", NULLS)
def test_draws_of_a_jacobian_have_the_law_of_whole_matrices(null: str) -> None:
    stats = pytest.importorskip("scipy.stats")
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        hidden_size=12,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=8,
        vocab_size=30,
        initializer_range=0.5,
    )
    layer, source = load(transformers.BertModel(config).eval()).layer(0), np.random.default_rng(1)
    at = HeadsAtTokens.of(layer.block(), states(4, 12))
    assert plain_scores(at.block) and not plain_scores(llama().layer(0).block())
    drawn = at.against(300, 0, 300)[null]["Jacobian"][:, 2]  # type: ignore[index]
    found = []
    sizes = {name: np.linalg.norm(getattr(layer.heads[2], name)) / 6 for name in "QKVO"}
    for _ in range(300):
        if null == "random bases":
            new = redrawn(replace(layer, heads=(layer.heads[2],)), null, source).heads[0]
        else:
            new = replace(
                layer.heads[2],
                **{
                    name: size * source.standard_normal((12, 3) if name == "O" else (3, 12))
                    for name, size in sizes.items()
                },
            )
        weights = run_layer(replace(layer, heads=(new,)), states(4, 12)).weights
        found += jacobian_norms(
            [{name: getattr(new, name) for name in (*"QKVO", "scale", "q_bias")}], at.x, list(weights)
        )
    assert stats.ks_2samp(drawn, found).pvalue > 1e-3
    assert stats.ks_2samp(1.4 * drawn, found).pvalue < 1e-3


@pytest.mark.parametrize("n", [5, 20])
@pytest.mark.parametrize("null", NULLS)
def test_draws_of_a_layer_have_the_law_of_whole_matrices(null: str, n: int) -> None:
    """Through the whole layer, as ``check`` observes it: the groups of keys, the feed-forward, the leader of F."""
    stats = pytest.importorskip("scipy.stats")
    layer, source, x = llama().layer(1), np.random.default_rng(2), states(n, 16)
    at = LayerAtStates(layer.block(), x, tuple(head.kv_index for head in layer.heads))
    drawn = at.against(500, 0, draw_leaders(at, 500, 0))[null]  # type: ignore[index]
    found: dict[str, list[float]] = {name: [] for name in drawn}

    def measured(one: Any) -> Iterator[tuple[str, float]]:
        ran, basis = run_layer(one, x), principal_subspace(one.F)
        seen = observe_layer(0, x, ran.output, basis)
        spread = [np.linalg.norm(each - each.mean(axis=0)) for each in (ran.attention_output, x)]
        wide = [np.linalg.norm(each[:, None] - each[None], axis=-1).max() for each in (x + ran.attention_output, x)]
        unit = ran.output / np.linalg.norm(ran.output, axis=-1, keepdims=True)
        yield "update", float(np.linalg.norm(ran.attention_update) / np.linalg.norm(x))
        yield "diversity", float(spread[0] / spread[1])
        yield "diameter", float(wide[0] / wide[1])
        yield "mean distance", seen.mean_distance[1] - seen.mean_distance[0]
        yield "E", seen.E[1] - seen.E[0]
        yield "smallest cosine", float((unit @ unit.T).min())
        yield "delta rho", seen.delta_rho
        yield "probability", seen.probability
        if basis.shape[1] == 1:
            heights = x @ basis[:, 0]
            yield "one side", max((heights > 0).sum(), (heights < 0).sum()) / n

    own = dict(measured(layer))
    assert at.measured() == pytest.approx(own, abs=1e-6)
    for _ in range(400):
        for name, value in measured(redrawn(layer, null, source)):
            found[name].append(value)
    for name, each in found.items():
        assert len(each) > 100 and stats.ks_2samp(drawn[name], each).pvalue > 1e-3, name
    assert stats.ks_2samp(1.3 * drawn["update"], found["update"]).pvalue < 1e-3


def test_random_weights_look_random_and_trained_ones_do_not() -> None:
    new, trained = (
        et.against_chance(str(SAVED / f"{name}.safetensors"), draws=400) for name in ("step00000", "step03000")
    )
    for null in NULLS:
        assert len(new.not_random(null, tokens=True)) <= 1  # type: ignore[arg-type]
    assert len(trained.not_random("gaussian factors", tokens=True)) > 8
    p = [each["p"] for each in new.token_tests if each["head"] is not None and each["quantity"] == "contraction"]
    assert len(p) == 32 and 0.1 < np.mean(p) < 0.9
    assert any(text.startswith("on tokens, against random Gaussian") for text in trained.sentences())
    document = {"schema": "eigentoken/chance/6", **json.loads(json.dumps(trained.as_dict()))}
    validate(document, schema("chance"))
    again = et.against_chance(str(SAVED / "step03000.safetensors"), draws=400)
    assert again.as_dict() == trained.as_dict()
    assert len(trained.tokens_to_frame()) == len(trained.token_tests)


def test_what_was_drawn_is_kept_for_these_weights_and_tokens_alone(tmp_path: Path) -> None:
    path, kept = str(SAVED / "step03000.safetensors"), tmp_path / "cache" / "nulls"
    first = et.against_chance(path, draws=100)
    count = len(list(kept.glob("tokens-*.npz")))
    assert count == 8  # four layers, their heads and themselves
    for each in kept.glob("tokens-*.npz"):
        each.write_bytes(b"damaged")
    assert et.against_chance(path, draws=100).as_dict() == first.as_dict()
    assert len(list(kept.glob("tokens-*.npz"))) == count
    other = et.against_chance(path, draws=100, tokens=7)
    assert len(list(kept.glob("tokens-*.npz"))) == 2 * count
    assert other.document["tokens"] is not None and other.document["tokens"]["tokens"] == 7


def test_given_tokens(tmp_path: Path) -> None:
    """Prompts as ``check`` reads them, states by layer; what is not taken says why."""
    path = str(SAVED / "step03000.safetensors")
    told = et.against_chance(path, draws=100, prompts=["To be, or not to be", "def"], tokens=8).document["tokens"]
    assert told is not None and told["ids"] == list(b"To be, o") and told["source"] == "list" and told["tokens"] == 8
    given = np.random.default_rng(0).standard_normal((4, 9, 64)).astype(np.float32)
    by_layer = et.against_chance(path, draws=100, states=given).document["tokens"]
    assert by_layer is not None and by_layer["tokens"] == 9 and by_layer["ids"] is None
    report = et.check(path, statements="PM-N1", states=given)
    for layer in range(4):
        value = next(
            each["value"]
            for each in by_layer["tests"]
            if (each["layer"], each["head"], each["quantity"]) == (layer, None, "delta rho")
        )
        assert value == pytest.approx(report.document["observed"][layer]["delta_rho"], abs=1e-5)
    assert et.against_chance(path, draws=100, tokens=0).document["tokens"] is None
    rotary = et.against_chance(llama(), draws=100).document["tokens"]
    assert rotary is not None and "Jacobian" in {each["quantity"] for each in rotary["not_taken"]}
    assert "Jacobian" not in {each["quantity"] for each in rotary["tests"]}


def test_wrong_tokens_are_refused() -> None:
    path = str(SAVED / "step00000.safetensors")
    for options, says in (
        ({"tokens": 1}, "tokens must be"),
        ({"tokens": True}, "tokens must be"),
        ({"tokens": 0, "prompts": ["abc"]}, "leave out tokens=0"),
        ({"states": np.ones((3, 64)), "prompts": ["abc"]}, "give one of them"),
        ({"states": np.ones((3, 5))}, "width 64"),
    ):
        with pytest.raises(ValueError, match=says):
            et.against_chance(path, draws=100, **options)
    ran = here("chance", path, "--tokens", "1")
    assert ran.returncode == 2 and len(ran.stderr.strip().splitlines()) == 1
