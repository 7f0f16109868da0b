"""Li and Altafini, figures 2(b), 6 (spectra), 7, 8 and 11: layers that differ (BERT, GPT-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.basins import layer_exponents
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, Table
from eigentoken.numerics.experiments.alignment import (
    Directions,
    LayerAlignment,
    alignments,
    blocks_of,
    file_name,
    normal_tokens,
)
from eigentoken.numerics.experiments.paper_models import FIGURE_2, FIGURE_7, stands_in, whose
from eigentoken.numerics.experiments.power_method_albert import BESIDE, compare_with_trained
from eigentoken.numerics.experiments.registry import Check, Context, RecipeResult, check, recipe
from eigentoken.theory.systems.catalogue import LI_ALTAFINI
from eigentoken.transformer_layer import ATTENTION_ONLY, LayerParts, run_block

#: How the bands differ from the paper's.
BANDS = (
    "bands are where the middle eight of ten tokens are (correlation, increment) and 95 % intervals (probability); the paper's "
    "are standard deviations over tokens"
)
#: What stands beside, or in for, the paper's models.
SAMPLES = {"bert": ("sample:minilm",), "gpt2": ("sample:microformer",)}


def start_tokens(context: Context, d: int) -> Tensor:
    return normal_tokens(context.pick(100, 200), 10, d, context.seed)


def three_rows(model: Any, rows: list[LayerAlignment]) -> list[Curves]:
    layers = np.arange(1, len(rows) + 1)

    def values(name: str) -> list[float]:
        return [getattr(row, name) for row in rows]

    def ends(name: str) -> tuple[list[float], list[float]]:
        return [getattr(row, name)[0] for row in rows], [getattr(row, name)[1] for row in rows]

    return [
        Curves(
            [
                Curve(layers, values("rho"), "principal direction", interval=ends("rho_range")),
                Curve(layers, values("rho_mean"), "mean over all"),
            ],
            "layer",
            "correlation, 80 % of tokens",
            model.source,
        ),
        Curves(
            [
                Curve(layers, values("increment"), "principal direction", interval=ends("increment_range")),
                Curve(layers, values("increment_mean"), "mean over all"),
            ],
            "layer",
            "increment, 80 % of tokens",
            level=0.0,
        ),
        Curves(
            [
                Curve(layers, values("probability"), "principal direction", interval=ends("probability_interval")),
                Curve(layers, values("probability_mean"), "mean over all"),
            ],
            "layer",
            "probability, 95 % interval",
            level=0.5,
            y_range=(-0.02, 1.02),
        ),
    ]


def _alignment_checks(model: Any, rows: list[LayerAlignment]) -> list[Check]:
    positive = sum(row.increment > 0 for row in rows)
    larger = sum(row.increment > row.increment_mean for row in rows)
    likely = sum(row.probability > 0.5 for row in rows)
    trend, chance = upward_trend([row.rho for row in rows])
    most = min(len(rows) - 1, 0.9 * len(rows))
    rule = "almost all: nine of ten, or all but one"
    why = stands_in(model, FIGURE_2 + FIGURE_7)
    return [
        check(
            f"{model.source}: the increment is almost always positive",
            positive >= most,
            f"{positive} of {len(rows)} layers ({rule})",
            why,
        ),
        check(
            f"{model.source}: it is larger than the mean over all eigenvectors",
            larger >= most,
            f"{larger} of {len(rows)} layers",
            why,
        ),
        check(
            f"{model.source}: the probability is above 1/2 for almost all layers",
            likely >= most,
            f"{likely} of {len(rows)} layers",
            why,
        ),
        check(
            f"{model.source}: the correlation remains low",
            max(row.rho for row in rows) < 0.5,
            f"largest mean {max(row.rho for row in rows):.3f}: more than 60 degrees from v_1 (low: below 0.5)",
            why,
        ),
        check(
            f"{model.source}: the correlation does not grow with the layer index",
            chance >= 0.05,
            f"Kendall's tau {trend:+.2f}, chance of as much from no trend {chance:.2f} (grows: below 0.05)",
            why,
        ),
    ]


def upward_trend(values: Sequence[float]) -> tuple[float, float]:
    """Kendall's tau of the values against their order, and the exact chance of at least as much without a trend.

    >>> tau, chance = upward_trend([1.0, 2.0, 3.0, 4.0])
    >>> print(round(tau, 6), round(chance * 24, 6))
    1.0 1.0
    """
    from scipy.stats import kendalltau

    found = kendalltau(range(len(values)), values, alternative="greater", method="exact")
    return float(found.statistic), float(found.pvalue)


def _by_layer(context: Context, models: list[Any], title: str, paper: Sequence[str]) -> RecipeResult:
    panels: list[Any] = []
    checks: list[Check] = []
    numbers: dict[str, Any] = {}
    for model in models:
        rows = alignments(context.work, file_name(model), blocks_of(model), start_tokens(context, model.d))
        panels.extend(three_rows(model, rows))
        checks.extend(_alignment_checks(model, rows))
        numbers[model.source] = {
            name: [getattr(row, name) for row in rows] for name in ("rho", "increment", "probability")
        }
    return RecipeResult(checks, numbers, Chart(title, panels, columns=3), f"{whose(models, paper)}; {BANDS}")


@recipe(
    "li-altafini-2b",
    paper=LI_ALTAFINI,
    figure="2(b)",
    title="Layer-varying models: correlation, increment and probability by layer",
    settings="eq. (3) with the weights of each layer, no FFN, l2 normalization, 1000 normal tokens in prompts of 10",
    claim="increments are almost always positive and above the mean, probabilities above 1/2; correlations stay low",
)
def figure_2b(context: Context) -> RecipeResult:
    return _by_layer(context, context.gather(SAMPLES, FIGURE_2), "Li and Altafini, figure 2(b)", FIGURE_2)


@recipe(
    "li-altafini-7",
    paper=LI_ALTAFINI,
    figure="7",
    title="Further models: correlation, increment and probability by layer",
    settings="as 2(b); further models: rotary positions and grouped queries, which the paper does not treat",
    claim="increments are almost always positive and above the mean, probabilities above 1/2; correlations stay low",
)
def figure_7(context: Context) -> RecipeResult:
    sources = ["sample:glassllm"] if context.scale == "quick" else ["sample:glassllm", "sample:smollm2"]
    models = context.gather({"llama": sources}, FIGURE_7)
    result = _by_layer(context, models, "Li and Altafini, figure 7", FIGURE_7)
    return replace(result, note=result.note + "; the samples have another family than the six models of the figure")


@recipe(
    "li-altafini-6-spectra",
    paper=LI_ALTAFINI,
    figure="6 (spectra)",
    title="Real parts of the first five eigenvalues of the layer matrices",
    settings="F = sum_h U_h V_h of each layer",
    claim="in the vast majority of layers the spectral gap is small",
)
def figure_6_spectra(context: Context) -> RecipeResult:
    models = context.gather(SAMPLES, FIGURE_2 + FIGURE_7)
    panels, checks, numbers = [], [], {}
    for model in models:
        found = context.work.part(file_name(model), partial(_spectra, model))
        tops, relative = found["tops"], found["relative"]
        layers = np.arange(1, len(tops) + 1)
        small = int((relative < 0.25).sum())
        panels.append(
            Curves(
                [Curve(layers, tops[:, k], f"$\\mathrm{{Re}}\\,\\lambda_{k + 1}$") for k in range(5)],
                "layer",
                "real part",
                model.source,
            )
        )
        checks.append(
            check(
                f"{model.source}: the spectral gap is small in most layers",
                small > len(tops) / 2,
                f"below a quarter of |lambda_1| in {small} of {len(tops)} layers",
                stands_in(model, FIGURE_2 + FIGURE_7),
            )
        )
        numbers[model.source] = {"relative gaps": relative, "real parts": tops}
    return RecipeResult(
        checks,
        numbers,
        Chart("Li and Altafini, figure 6 (spectra)", panels),
        whose(models, FIGURE_2 + FIGURE_7),
    )


def _spectra(model: Any) -> dict[str, Any]:
    """Real parts of the first five eigenvalues, and the gap relative to ``|lambda_1|``, by layer."""
    found = [Directions.of(block.layer_matrix()) for block in blocks_of(model)]
    return {
        "tops": [[float(value.real) for value in d.values[:5]] for d in found],
        "relative": [d.gap / float(d.values[0].abs()) for d in found],
    }


@recipe(
    "li-altafini-8",
    paper=LI_ALTAFINI,
    figure="8",
    title="Correlation with the principal eigenvector of the cumulative product of layer matrices",
    settings="products F_k ... F_1, tokens of eq. (3)",
    claim="no clear trend in the majority of models, no growth with depth: no direction of alignment accumulates",
)
def figure_8(context: Context) -> RecipeResult:
    llamas = context.pick(("sample:glassllm",), ("sample:glassllm", "sample:smollm2"))
    models = context.gather({**SAMPLES, "llama": llamas}, FIGURE_2 + FIGURE_7)
    panels, numbers, rows, trends = [], {}, [], []
    for model in models:
        found = context.work.part(file_name(model), partial(_along_products, model, start_tokens(context, model.d)))
        principal, average, exponents = (found[name] for name in ("principal", "average", "exponents"))
        layers = np.arange(1, len(principal) + 1)
        trends.append((model.source, *upward_trend((principal - average).tolist())))
        panels.append(
            Curves(
                [Curve(layers, principal, "principal of the product"), Curve(layers, average, "mean over all")],
                "layer",
                "correlation",
                model.source,
            )
        )
        numbers[model.source] = {"principal": principal, "mean": average, "exponents": exponents}
        rows.append([model.source, *(f"{value:.3f}" for value in exponents.tolist())])
    without = sum(chance >= 0.05 for _, _, chance in trends)
    said = "; ".join(f"{source} tau {trend:+.2f}, chance {chance:.2f}" for source, trend, chance in trends)
    checks = [
        check(
            "no clear trend in the majority of models, compared with the mean over all directions",
            without > len(trends) / 2,
            f"no growth in {without} of {len(trends)} (Kendall, growth: chance below 0.05): {said}",
            ""
            if all(not stands_in(m, FIGURE_2 + FIGURE_7) for m in models)
            else "but samples stand in for most of the paper's nine models, whose weights are not on the disk",
        )
    ]
    table = Table(["model", "first", "second", "third"], rows, "Lyapunov exponents of the layer products (per layer)")
    return RecipeResult(
        checks,
        numbers,
        Chart("Li and Altafini, figure 8", panels, tables=(table,)),
        whose(models, FIGURE_2 + FIGURE_7),
    )


def _along_products(model: Any, x: Tensor) -> dict[str, Any]:
    """Correlation of the tokens with the principal direction of ``F_k ... F_1`` and with all of them, by layer."""
    blocks = blocks_of(model)
    product = torch.eye(model.d, dtype=torch.float64)
    principal, average = [], []
    for block in blocks:
        product = block.layer_matrix() @ product
        product = product / torch.linalg.norm(product)
        x = run_block(block, x, ATTENTION_ONLY)
        correlations = Directions.of(product).correlations(x)
        principal.append(float(correlations[:, 0].mean()))
        average.append(float(correlations.mean()))
    exponents, _ = layer_exponents((block.layer_matrix() for block in blocks), 3)
    return {"principal": principal, "average": average, "exponents": exponents.numpy()}


@recipe(
    "li-altafini-11",
    paper=LI_ALTAFINI,
    figure="11",
    title="Layer-varying models as trained: embedding, biases, affine norm and FFN included",
    settings="the layers as trained, prompts of 10 random token ids; compared with eq. (3)",
    claim="correlations, increments and probabilities are degraded; consensus among tokens is preserved",
)
def figure_11(context: Context) -> RecipeResult:
    paper = FIGURE_2 + FIGURE_7
    models = context.gather(SAMPLES, paper)
    checks: list[Check] = []
    numbers: dict[str, Any] = {}
    panels: list[Any] = []
    for model in models:
        ids = np.random.default_rng(context.seed).integers(0, len(model.embedding().token), (100, 10))
        embedded = torch.from_numpy(np.asarray(model.embedding().embed(ids, np.float64)))
        blocks, known = blocks_of(model), dict[int, Directions]()
        name = file_name(model)
        bare = alignments(context.work, f"{name}-bare", blocks, start_tokens(context, model.d), known=known)
        full = alignments(context.work, f"{name}-trained", blocks, embedded, LayerParts(), known)
        unit = torch.nn.functional.normalize(embedded, dim=-1)
        same = alignments(context.work, f"{name}-same-start", blocks, unit, known=known)
        result = compare_with_trained(model, bare, full, same, model.source, "", paper)
        checks.extend(replace(c, claim=f"{model.source}: {c.claim}") for c in result.checks)
        named = [panel for panel in result.chart.panels if isinstance(panel, Curves)]
        panels.extend(replace(panel, title=f"{model.source}: {panel.title}") for panel in named)
        numbers[model.source] = result.numbers
    return RecipeResult(
        checks, numbers, Chart("Li and Altafini, figure 11", panels), f"{whose(models, paper)}; {BESIDE}"
    )
