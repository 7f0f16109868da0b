"""Li and Altafini, figures 2(b), 6 (spectra), 7, 8, 11 and the steered 2 and 9: layers that differ (BERT, GPT-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
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
from eigentoken.numerics.experiments.paper_models import FIGURE_2, FIGURE_7, whose
from eigentoken.numerics.experiments.power_method_albert import compare_with_trained
from eigentoken.numerics.experiments.registry import Check, Context, Result, check, recipe
from eigentoken.numerics.experiments.transformer import ATTENTION_ONLY, Block, Parts, run_block
from eigentoken.theory.systems import LI_ALTAFINI

#: What stands beside, or in for, the paper's models.
SAMPLES = {"bert": ("sample:minilm",), "gpt2": ("sample:microformer",)}


def _tokens(context: Context, d: int) -> Tensor:
    return normal_tokens(context.pick(100, 200), 10, d, context.seed)


def _three_rows(model: Any, rows: list[LayerAlignment]) -> list[Curves]:
    layers = np.arange(1, len(rows) + 1)

    def values(name: str) -> list[float]:
        return [getattr(row, name) for row in rows]

    return [
        Curves(
            [
                Curve(layers, values("rho"), "$\\rho_1$", spread=values("rho_spread")),
                Curve(layers, values("rho_mean"), "mean over all"),
            ],
            "layer",
            "correlation",
            model.source,
        ),
        Curves(
            [
                Curve(layers, values("increment"), "$\\Delta\\rho_1$", spread=values("increment_spread")),
                Curve(layers, values("increment_mean"), "mean over all"),
            ],
            "layer",
            "increment",
            level=0.0,
        ),
        Curves(
            [
                Curve(layers, values("probability"), "$\\Pi_1$"),
                Curve(layers, values("probability_mean"), "mean over all"),
            ],
            "layer",
            "probability",
            level=0.5,
            y_range=(-0.02, 1.02),
        ),
    ]


def _alignment_checks(model: Any, rows: list[LayerAlignment]) -> list[Check]:
    positive = sum(row.increment > 0 for row in rows)
    larger = sum(row.increment > row.increment_mean for row in rows)
    likely = sum(row.probability > 0.5 for row in rows)
    half = len(rows) // 2
    growth = float(np.mean([row.rho for row in rows[half:]]) - np.mean([row.rho for row in rows[:half]]))
    most = 0.75 * len(rows)
    return [
        check(
            f"{model.source}: the increment is almost always positive",
            positive >= most,
            f"{positive} of {len(rows)} layers",
        ),
        check(
            f"{model.source}: it is larger than the mean over all eigenvectors",
            larger >= most,
            f"{larger} of {len(rows)} layers",
        ),
        check(
            f"{model.source}: the probability is above 1/2 for almost all layers",
            likely >= most,
            f"{likely} of {len(rows)} layers",
        ),
        check(
            f"{model.source}: the correlation stays low and does not grow with depth",
            rows[-1].rho < 0.5 and growth < 0.2,
            f"last layer {rows[-1].rho:.3f}, second half minus first {growth:+.3f}",
        ),
    ]


def _by_layer(context: Context, models: list[Any], title: str, paper: Sequence[str]) -> Result:
    panels: list[Any] = []
    checks: list[Check] = []
    numbers: dict[str, Any] = {}
    for model in models:
        rows = alignments(context.work, file_name(model), blocks_of(model), _tokens(context, model.d))
        panels.extend(_three_rows(model, rows))
        checks.extend(_alignment_checks(model, rows))
        numbers[model.source] = {
            name: [getattr(row, name) for row in rows] for name in ("rho", "increment", "probability")
        }
    return Result(checks, numbers, Chart(title, panels, columns=3), whose(models, paper))


@recipe(
    "li-altafini-2b",
    paper=LI_ALTAFINI,
    figure="2(b)",
    title="Layer-varying models: correlation, increment and probability by layer",
    settings="eq. (3) with the weights of each layer, no FFN, l2 normalization, 1000 normal tokens in prompts of 10",
    claim="increments are almost always positive and above the mean, probabilities above 1/2; correlations stay low",
)
def figure_2b(context: Context) -> Result:
    return _by_layer(context, context.gather(SAMPLES, FIGURE_2), "Li and Altafini, figure 2(b)", FIGURE_2)


@recipe(
    "li-altafini-7",
    paper=LI_ALTAFINI,
    figure="7",
    title="The same for further models",
    settings="as 2(b); further models: rotary positions and grouped queries, which the paper does not treat",
    claim="increments are almost always positive and above the mean, probabilities above 1/2; correlations stay low",
)
def figure_7(context: Context) -> Result:
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
def figure_6_spectra(context: Context) -> Result:
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
            )
        )
        numbers[model.source] = {"relative gaps": relative, "real parts": tops}
    return Result(
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
    claim="no clear trend, no growth with depth: no direction of alignment accumulates",
)
def figure_8(context: Context) -> Result:
    models = context.gather(SAMPLES, FIGURE_2 + FIGURE_7)
    panels, checks, numbers, rows = [], [], {}, []
    for model in models:
        found = context.work.part(file_name(model), partial(_along_products, model, _tokens(context, model.d)))
        principal, average, exponents = (found[name] for name in ("principal", "average", "exponents"))
        layers = np.arange(1, len(principal) + 1)
        half = len(principal) // 2
        growth = float(np.mean(principal[half:]) - np.mean(principal[:half]))
        panels.append(
            Curves(
                [Curve(layers, principal, "principal of the product"), Curve(layers, average, "mean over all")],
                "layer",
                "correlation",
                model.source,
            )
        )
        checks.append(
            check(f"{model.source}: no growth with depth", growth < 0.1, f"second half minus first half {growth:+.3f}")
        )
        numbers[model.source] = {"principal": principal, "mean": average, "exponents": exponents}
        rows.append([model.source, *(f"{value:.3f}" for value in exponents.tolist())])
    table = Table(["model", "first", "second", "third"], rows, "Lyapunov exponents of the layer products (per layer)")
    return Result(
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
def figure_11(context: Context) -> Result:
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
        bare = alignments(context.work, f"{name}-bare", blocks, _tokens(context, model.d), known=known)
        full = alignments(context.work, f"{name}-trained", blocks, embedded, Parts(), known)
        result = compare_with_trained(model, bare, full, model.source, "")
        checks.extend(replace(c, claim=f"{model.source}: {c.claim}") for c in result.checks)
        named = [panel for panel in result.chart.panels if isinstance(panel, Curves)]
        panels.extend(replace(panel, title=f"{model.source}: {panel.title}") for panel in named)
        numbers[model.source] = result.numbers
    return Result(checks, numbers, Chart("Li and Altafini, figure 11", panels, columns=4), whose(models, paper))


def steered(block: Block, w: Tensor, mu: float) -> Block:
    """PM-S1: the output matrix becomes ``U + mu w z^T V_cat^-1`` with z = w, so that ``F`` becomes ``F + mu w w^T``."""
    values = block.qkv[2 * block.out.shape[1] :].double()
    row = torch.linalg.lstsq(values.mT, w.unsqueeze(-1), driver="gelsd").solution.squeeze(-1)
    return replace(block, out=(block.out.double() + mu * torch.outer(w, row)).to(block.out.dtype))


#: How many times ``|lambda_1|`` of the last layer is added in the direction w.
FACTORS = (10.0, 100.0, 1000.0)


def _steered_paths(model: Any, x: Tensor, seed: int) -> dict[str, Any]:
    """Mean ``|corr(x_i, w)|`` by layer for each factor, (factors, layers), and the smallest after the last layer."""
    blocks = blocks_of(model)
    generator = torch.Generator().manual_seed(seed + 7)
    w = torch.nn.functional.normalize(torch.randn(model.d, generator=generator, dtype=torch.float64), dim=0)
    track = []
    for block in islice(blocks, len(blocks) - 1):
        x = run_block(block, x, ATTENTION_ONLY)
        track.append(float((x @ w).abs().mean()))
    last = blocks[len(blocks) - 1]
    top = float(Directions.of(last.layer_matrix()).values[0].abs())
    finals = [(run_block(steered(last, w, factor * top), x, ATTENTION_ONLY) @ w).abs() for factor in FACTORS]
    return {
        "paths": [[*track, float(final.mean())] for final in finals],
        "smallest": [float(final.min()) for final in finals],
    }


def _steering(context: Context, models: list[Any], title: str, paper: Sequence[str]) -> Result:
    panels: list[Any] = []
    checks: list[Check] = []
    numbers: dict[str, Any] = {}
    for model in models:
        found = context.work.part(
            file_name(model), partial(_steered_paths, model, _tokens(context, model.d), context.seed)
        )
        paths = found["paths"]
        curves = [
            Curve(np.arange(1, paths.shape[1] + 1), path, f"$\\mu = {factor:g}\\,|\\lambda_1|$")
            for factor, path in zip(FACTORS, paths, strict=True)
        ]
        table = dict(zip(FACTORS, zip(paths[:, -1], found["smallest"], strict=True), strict=True))
        panels.append(Curves(curves, "layer", "mean $|corr(x_i, w)|$", model.source, y_range=(-0.02, 1.02)))
        checks.append(
            check(
                f"{model.source}: near-perfect alignment with w once the gap is large",
                table[1000.0][0] > 0.95,
                "mean |corr| for mu = 10, 100, 1000 |lambda_1|: " + ", ".join(f"{v[0]:.3f}" for v in table.values()),
            )
        )
        checks.append(
            check(
                f"{model.source}: a gap of one order of magnitude suffices",
                table[10.0][0] > 0.9,
                f"mean |corr| {table[10.0][0]:.3f} with mu = 10 |lambda_1|",
            )
        )
        numbers[model.source] = {f"mu = {k:g} |lambda_1|": {"mean": v[0], "smallest": v[1]} for k, v in table.items()}
    note = (
        whose(models, paper) + "; w is a random direction, z = w. PM-S3: what counts is mu |z^T x|, not the gap alone"
    )
    return Result(checks, numbers, Chart(title, panels), note)


@recipe(
    "li-altafini-2",
    paper=LI_ALTAFINI,
    figure="2 (steered)",
    title="Steering by a rank-one change of the last layer's output matrix",
    settings="U + mu w z^T V^-1 in the last layer, w a chosen direction, mu a multiple of |lambda_1|",
    claim="with a spectral gap of at least an order of magnitude, perfect alignment with w is achieved",
)
def figure_2_steered(context: Context) -> Result:
    models = context.gather({"bert": SAMPLES["bert"]}, FIGURE_2)
    return _steering(context, models, "Li and Altafini, figure 2 (steered)", FIGURE_2)


@recipe(
    "li-altafini-9",
    paper=LI_ALTAFINI,
    figure="9",
    title="Steering the other models",
    settings="as figure 2 (steered)",
    claim="perfect alignment with w is achieved in all transformers",
)
def figure_9(context: Context) -> Result:
    models = context.gather({"gpt2": SAMPLES["gpt2"], "albert": ("sample:rxnmapper",)}, FIGURE_7)
    return _steering(context, models, "Li and Altafini, figure 9", FIGURE_7)
