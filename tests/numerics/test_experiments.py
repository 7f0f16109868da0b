"""Recipes: registry, resumption, transformer parts against theory and loops, and the papers' numbers at quick scale."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.models.convention.head_and_layer import FeedForward, Head, Layer, Mask
from eigentoken.models.convention.normalization import Normalization
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves
from eigentoken.numerics.dynamics.observables import cosine_gap
from eigentoken.numerics.dynamics.problem import problem
from eigentoken.numerics.experiments import registry
from eigentoken.numerics.experiments.abella_gpt2 import PROMPTS, embedded, passes, plain_norm, through, word_ids
from eigentoken.numerics.experiments.alignment import Directions, align, blocks_of, normal_tokens
from eigentoken.numerics.experiments.parts_of_layers import STEPS, effect_table
from eigentoken.numerics.experiments.power_method_steering import steered
from eigentoken.numerics.experiments.registry import CannotRun, Check, Context, Recipe, RecipeResult
from eigentoken.numerics.experiments.transformer import FreshWeights, GPT2Shape, random_blocks, resample
from eigentoken.transformer_layer import ATTENTION_ONLY, LayerParts, run_block

ISSUE = {
    *(f"abella-{k}" for k in range(1, 9)),
    "abella-table3",
    *(f"li-altafini-{k}" for k in ("2a", "2b", "2", "6", "6-spectra", "7", "8", "9", "10", "11", "13a", "13b")),
    "pham-regimes",
    "pham-depth",
    "pham-layers",
    "pham-lambda",
    "parts-of-layers",
}


def small_blocks(feed_forward: bool = True) -> list[Any]:
    generator = torch.Generator().manual_seed(0)
    return random_blocks(GPT2Shape(2, 2, 8), generator, deviation=0.4, feed_forward=feed_forward, dtype=torch.float64)


# registry


def test_every_figure_of_the_issue_has_a_recipe() -> None:
    listed = registry.recipes()
    assert {recipe.name for recipe in listed} >= ISSUE
    assert all(recipe.claim and recipe.settings and recipe.paper and recipe.figure for recipe in listed)
    names = [recipe.name for recipe in listed]
    assert names.index("li-altafini-9") < names.index("li-altafini-10")


def dummy(name: str, agrees: bool = True, fail: bool = False) -> Recipe:
    def run(context: Context) -> RecipeResult:
        if fail:
            raise CannotRun("the weights are not at hand")
        chart = Chart("t", (Curves([Curve([0, 1], [1.0, 2.0])], "x", "y"),))
        checks = [Check("one", True, "1"), Check("two", agrees, "2")]
        return RecipeResult(checks, {"value": np.float64(2.0), "bad": math.nan}, chart, "nothing differs")

    return Recipe(name, "p", "f", "t", "s", "c", run)


def test_status_is_decided_by_the_checks() -> None:
    context = Context()
    assert registry.run(dummy("a"), context).status == "agrees"
    against = registry.run(dummy("b", agrees=False), context)
    assert (against.status, against.reason) == ("differs", "two")
    stuck = registry.run(dummy("c", fail=True), context)
    assert (stuck.status, stuck.reason) == ("cannot run", "the weights are not at hand")


def test_an_interrupted_set_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def counted(name: str, fail: bool = False) -> Recipe:
        made = dummy(name, fail=fail)
        inner = made.function

        def function(context: Context) -> RecipeResult:
            runs.append(name)
            return inner(context)

        return replace(made, function=function)

    table = {name: counted(name, name == "z") for name in ("x", "y", "z")}
    monkeypatch.setattr(registry, "recipe_named", table.__getitem__)
    first = registry.run_set(["x", "y", "z"], Context(), tmp_path)
    next(first)
    with (tmp_path / "results.jsonl").open("a") as stream:
        stream.write('{"name": "y", "scale": "qui')  # the interruption
        stream.write("\n")
    outcomes = list(registry.run_set(["x", "y", "z"], Context(), tmp_path))
    assert runs == ["x", "y", "z"]
    assert [o.resumed for o in outcomes] == [True, False, False]
    again = list(registry.run_set(["x", "y", "z"], Context(), tmp_path))
    assert runs == ["x", "y", "z", "z"]  # what could not run is tried again
    assert [o.status for o in again] == ["agrees", "agrees", "cannot run"]
    list(registry.run_set(["x"], Context(seed=1), tmp_path))
    assert runs[-1] == "x"  # another seed is another run
    log = tmp_path / "results.jsonl"
    log.write_text(log.read_text().replace('"agrees"', '"differs"'))
    assert [o.status for o in registry.run_set(["y"], Context(), tmp_path)] == [
        "agrees"
    ]  # a changed line is not believed
    assert runs[-1] == "y"
    for line in (tmp_path / "results.jsonl").read_text().splitlines():
        if line.endswith("}"):
            json.loads(line, parse_constant=pytest.fail)
    assert np.load(tmp_path / "x.npz")["panel0_curve0_y"].tolist() == [1.0, 2.0]


def test_what_needs_a_model_says_so_without_a_loader() -> None:
    for name in ("li-altafini-2a", "abella-table3", "parts-of-layers", "pham-depth"):
        outcome = registry.run(registry.recipe_named(name), Context())
        assert outcome.status == "cannot run"
        assert "no loader" in outcome.reason

    def broken(source: str) -> Any:
        raise OSError("no\nnetwork")

    outcome = registry.run(registry.recipe_named("li-altafini-2b"), Context(load=broken))
    assert "cannot be opened: no network" in outcome.reason


def test_bad_names_and_scales_are_refused() -> None:
    assert registry.recipes()
    with pytest.raises(ValueError, match="defined twice"):
        registry.recipe("abella-1", paper="", figure="", title="", settings="", claim="")(dummy("abella-1").function)
    with pytest.raises(ValueError, match="unknown recipe"):
        registry.recipe_named("abella-99")
    with pytest.raises(ValueError, match="scale"):
        Context("huge")


# transformer layers


def test_the_l2_layer_is_the_multihead_map() -> None:
    """Attention, residual and l2 normalization is eq. (3) with alpha = 1, causal, P_h = Q_h^T K_h / scale."""
    block = small_blocks()[0]
    x = normal_tokens(3, 5, 8, 1)
    width, per_head = 8, 4
    heads = []
    for h in range(2):
        rows = slice(h * per_head, (h + 1) * per_head)
        q, k, v = (block.qkv[s * width : (s + 1) * width][rows] for s in range(3))
        heads.append({"F": block.out[:, rows] @ v, "M": q.mT @ k / block.scale})
    theory = problem("multihead-map", {"heads": heads, "alpha": 1.0}, "causal")
    assert torch.allclose(run_block(block, x, ATTENTION_ONLY), theory.advance(x), atol=1e-12)
    F = sum(head["F"] for head in heads)
    assert torch.allclose(block.layer_matrix(), F, atol=1e-12)


def test_parts_switch_what_they_say() -> None:
    generator = torch.Generator().manual_seed(3)
    norm = replace(small_blocks()[0].attention_norm, gain=torch.rand(8, generator=generator, dtype=torch.float64))
    bias = torch.randn(24, generator=generator, dtype=torch.float64)
    block = replace(small_blocks()[0], attention_norm=norm, qkv_bias=bias)
    x = torch.randn(2, 4, 8, generator=generator, dtype=torch.float64)
    outputs = [run_block(block, x, parts) for _, parts in STEPS]
    for i in range(len(outputs)):
        for j in range(i):
            assert not torch.allclose(outputs[i], outputs[j], atol=1e-6), (STEPS[i][0], STEPS[j][0])
    assert torch.allclose(torch.linalg.vector_norm(outputs[0], dim=-1), torch.ones(2, 4, dtype=torch.float64))
    with pytest.raises(ValueError, match="norm"):
        LayerParts(norm="batch")


def test_causal_tokens_ignore_the_future() -> None:
    block = small_blocks()[0]
    x = normal_tokens(1, 6, 8, 2)
    changed = x.clone()
    changed[:, 4:] += 1
    assert torch.allclose(run_block(block, x)[:, :4], run_block(block, changed)[:, :4], atol=1e-12)


def test_transformers_agrees_on_a_gpt2_layer() -> None:
    transformers = pytest.importorskip("transformers")
    shape = GPT2Shape(2, 4, 16, vocabulary=11, positions=8)
    config = transformers.GPT2Config(
        n_layer=2, n_head=4, n_embd=16, vocab_size=11, n_positions=8, attn_implementation="eager",
        resid_pdrop=0.0, attn_pdrop=0.0, embd_pdrop=0.0,
    )  # fmt: skip
    torch.manual_seed(0)
    peer = transformers.GPT2Model(config).eval()
    blocks = random_blocks(shape, torch.Generator().manual_seed(1), deviation=0.3)
    x = torch.randn(1, 5, 16)
    with torch.no_grad():
        for block, layer in zip(blocks, peer.h, strict=True):
            layer.attn.c_attn.weight.copy_(block.qkv.T)
            layer.attn.c_proj.weight.copy_(block.out.T)
            layer.mlp.c_fc.weight.copy_(block.up.T)
            layer.mlp.c_proj.weight.copy_(block.down.T)
            for part in (layer.attn.c_attn, layer.attn.c_proj, layer.mlp.c_fc, layer.mlp.c_proj):
                part.bias.zero_()
        y = x
        for block in blocks:
            y = run_block(block, y)
        peer.wpe.weight.zero_()
        theirs = peer(inputs_embeds=x).last_hidden_state
    assert torch.allclose(plain_norm(y), theirs, atol=1e-4)


def test_resampling_changes_the_weights_and_seeds_repeat() -> None:
    blocks = small_blocks()
    before = blocks[0].qkv.clone()
    assert torch.equal(before, small_blocks()[0].qkv)
    resample(blocks, torch.Generator().manual_seed(5))
    assert not torch.equal(before, blocks[0].qkv)


def test_weights_used_once_are_drawn_on_the_span_of_the_tokens() -> None:
    """W x has covariance ``s^2 x x^T`` (the factor R has the tokens' Gram matrix), for more tokens than d, too."""
    fresh = FreshWeights(GPT2Shape(1, 1, 6), torch.Generator().manual_seed(1), deviation=0.5)
    for n in (3, 9):
        x = torch.randn(2, n, 6, generator=torch.Generator().manual_seed(n), dtype=torch.float64)
        seen = fresh.times(x, 40_000)
        assert seen.shape == (2, n, 40_000)
        flat, tokens = seen.reshape(2 * n, -1), x.reshape(2 * n, 6)
        covariance, expected = flat @ flat.mT / 40_000, 0.25 * tokens @ tokens.mT
        spread = torch.sqrt((expected.square() + torch.outer(expected.diag(), expected.diag())) / 40_000)
        assert ((covariance - expected).abs() < 5 * spread).all()
        assert not torch.equal(seen, fresh.times(x, 40_000))  # never the same weights twice


def test_fresh_passes_have_the_law_of_resampled_ones() -> None:
    """E after two passes, sixty times with all weights drawn and sixty times on the span: one mean, one spread."""
    shape = GPT2Shape(2, 2, 16)
    x = embedded(["a cat and a dog and a bird"], shape, torch.Generator().manual_seed(2))
    drawn: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(60):
        for way, values in drawn.items():
            generator = torch.Generator().manual_seed(1000 * way + seed)
            fresh, blocks = FreshWeights(shape, generator, deviation=0.3), random_blocks(shape, generator)
            y = x
            for _ in range(2):
                resample(blocks, generator, 0.3)
                y = plain_norm(fresh.run(y) if way else through(blocks)(y))
            values.append(float(cosine_gap(y.double())))
    one, other = (np.array(values) for values in drawn.values())
    error = math.sqrt((one.var() + other.var()) / 60)
    assert abs(one.mean() - other.mean()) < 4 * error
    assert 0.5 < one.std() / other.std() < 2
    assert one.std() > 0.01  # a constant would pass the two lines above


def test_prompts_become_tokens() -> None:
    known: dict[str, int] = {}
    assert word_ids("A cat, a dog.", known) == [1, 2, 3, 1, 4, 5]
    x = embedded(PROMPTS, GPT2Shape(1, 1, 8), torch.Generator().manual_seed(0))
    assert x.shape[0] == 5
    run = passes(through([]), x, 3, plain_norm, stop=0.0, read=lambda y: y[:, 0, 0], read_after=(1, 3))
    assert run.gaps.shape == (4, 5)
    assert sorted(run.read) == [1, 3]


# alignment


def test_directions_follow_eigenvectors() -> None:
    F = torch.block_diag(torch.tensor([[0.9, -3.0], [3.0, 0.9]]), torch.tensor([[1.0]])).double()
    found = Directions.of(F)
    assert found.principal_is_real
    assert found.gap == pytest.approx(0.1)
    pair = torch.tensor([[0.6, 0.8, 0.0]])
    assert found.correlations(pair)[0].tolist() == pytest.approx([0.0, 1.0], abs=1e-12)
    # PM-N1: for the map with step one the complex pair dominates
    plane = torch.linalg.qr(found.map_plane).Q
    assert float(plane[2].abs().max()) < 1e-12


def test_alignment_increment_of_a_power_step() -> None:
    """For a symmetric layer matrix and equal tokens one step never lowers the correlation with v_1 (PM-E4, fact a)."""
    block = small_blocks(False)[0]
    values = torch.eye(8, dtype=torch.float64)
    symmetric = torch.diag(torch.arange(8, dtype=torch.float64) / 8)
    qkv = torch.cat((torch.zeros(16, 8, dtype=torch.float64), values))
    block = replace(block, qkv=qkv, out=symmetric)
    x = normal_tokens(20, 1, 8, 3).expand(20, 4, 8)
    row, _ = next(iter(align([block], x)))
    assert row.increment > 0
    assert (row.probability, row.probability_interval) == (1.0, (1.0, 1.0))
    assert 0 <= row.rho_range[0] < row.rho < row.rho_range[1] <= 1
    assert row.increment_range[0] < row.increment < row.increment_range[1]


def test_steering_adds_the_rank_one_term() -> None:
    block = small_blocks(False)[0]
    w = torch.nn.functional.normalize(torch.arange(1, 9, dtype=torch.float64), dim=0)
    edited = steered(block, w, 7.0)
    assert torch.allclose(edited.layer_matrix(), block.layer_matrix() + 7 * torch.outer(w, w), atol=1e-9)


def fake_model() -> Any:
    rng = np.random.default_rng(0)
    d, h = 8, 4
    norm = Normalization("layernorm", 1e-5, np.ones(d), np.zeros(d))
    inner = FeedForward(rng.normal(size=(16, d)), rng.normal(size=(d, 16)), "gelu")
    Q, K, V = (rng.normal(size=(h, d)) for _ in range(3))
    head = Head(0, Q, K, V, rng.normal(size=(d, h)), 2.0)
    layer = Layer(0, (head, head), Mask("full"), "post", norm, norm, "none", lambda: inner)
    return SimpleNamespace(layers=lambda: iter([layer, layer]), d=d, n_layers=2, source="fake", family="bert")


def test_effects_of_parts_on_any_checkpoint() -> None:
    assert len(blocks_of(fake_model())) == 2
    rows, curves = effect_table(fake_model(), 0, prompts=4, tokens=5)
    assert [row["parts"] for row in rows] == [name for name, _ in STEPS]
    assert all(math.isfinite(row[name]) for row in rows for name in ("E", "effective rank", "correlation", "increment"))
    assert len(curves) == len(STEPS)


# the papers' numbers, quick


@pytest.mark.parametrize("name", ["abella-1", "abella-2", "abella-3", "abella-4", "li-altafini-13a"])
def test_recipes_that_agree(name: str) -> None:
    outcome = registry.run(registry.recipe_named(name), Context())
    assert outcome.status == "agrees", outcome.reason
    assert outcome.chart is not None


def test_lambda_identity_matches_the_sheet() -> None:
    outcome = registry.run(registry.recipe_named("pham-lambda"), Context())
    assert outcome.status == "differs"
    found = outcome.numbers["|x_1|(8)"]
    assert found["0"] == pytest.approx(75.9, abs=0.05)
    assert [found[key] for key in ("0.3", "0.5", "1")] == pytest.approx([0.448, 0.336, 0.239], abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["abella-5", "abella-7", "abella-8", "li-altafini-13b", "pham-regimes"])
def test_longer_recipes(name: str) -> None:
    outcome = registry.run(registry.recipe_named(name), Context())
    assert outcome.status == ("differs" if name == "li-altafini-13b" else "agrees"), outcome.reason
