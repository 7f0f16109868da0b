"""Beyond the papers: what feed-forward, biases and layer norm, switched on one by one, do to consensus and alignment.

All three papers leave these parts out of their theorems and ask what they change; the table measures it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, Table
from eigentoken.numerics.dynamics.observables import cosine_gap, effective_rank
from eigentoken.numerics.experiments.alignment import Directions, align, blocks_of, file_name, normal_tokens
from eigentoken.numerics.experiments.checkpoints import Workbench
from eigentoken.numerics.experiments.registry import CannotRun, Context, RecipeResult, check, recipe
from eigentoken.transformer_layer import ATTENTION_ONLY, Block, LayerParts

#: From the papers' layer to the trained one, one part at a time, then each part alone on the papers' layer.
STEPS: tuple[tuple[str, LayerParts], ...] = (
    ("attention only, l2", ATTENTION_ONLY),
    ("+ biases", LayerParts(feed_forward=False, biases=True, norm="l2")),
    ("+ feed-forward (no biases)", LayerParts(feed_forward=True, biases=False, norm="l2")),
    ("layer norm, no gains", LayerParts(feed_forward=False, biases=False, norm="plain")),
    ("layer norm with gains", LayerParts(feed_forward=False, biases=False, norm="affine")),
    ("gains and biases", LayerParts(feed_forward=False, biases=True, norm="affine")),
    ("as trained", LayerParts()),
)


def effect_table(
    model: Any,
    seed: int,
    prompts: int = 50,
    tokens: int = 10,
    work: Workbench = Workbench(),  # noqa: B008
) -> tuple[list[dict[str, Any]], list[Curve]]:
    """For each combination: E and effective rank after the last layer, mean correlation, increment, probability.

    Tokens are random and normal, on the sphere for the l2 layers and of norm sqrt(d) for the others.
    """
    blocks = blocks_of(model, torch.float32)
    unit = normal_tokens(prompts, tokens, model.d, seed).float()
    known: dict[int, Directions] = {}
    rows, curves = [], []
    for index, (name, parts) in enumerate(STEPS):
        x = unit if parts.norm == "l2" else unit * model.d**0.5
        found = work.part(f"{file_name(model)}-{index}", partial(_effects, blocks, x, parts, known))
        gaps = found.pop("gaps")
        rows.append({"parts": name, "E": float(gaps[-1]), **{key: float(value) for key, value in found.items()}})
        curves.append(Curve(np.arange(1, len(gaps) + 1), gaps, name))
    return rows, curves


def _effects(
    blocks: Iterable[Block[Tensor]], x: Tensor, parts: LayerParts, known: dict[int, Directions]
) -> dict[str, Any]:
    rows, final = [], x
    for row, after in align(blocks, x, parts, known):
        rows.append(row)
        final = after
    return {
        "gaps": [row.gap for row in rows],
        "effective rank": float(effective_rank(final.double()).mean()),
        "correlation": float(np.mean([row.rho for row in rows])),
        "increment": float(np.mean([row.increment for row in rows])),
        "probability": float(np.mean([row.probability for row in rows])),
    }


@recipe(
    "parts-of-layers",
    paper="beyond the papers",
    figure="the open question of all three",
    title="Feed-forward, biases and layer norm switched on one by one",
    settings="the samples and the user's own checkpoints; 50 prompts of 10 random tokens; E of eq. (25), eqs. (4), (5)",
    claim="attention alone drives tokens to consensus; the other parts change how much",
)
def parts_of_layers(context: Context) -> RecipeResult:
    sources = ["sample:rxnmapper", "sample:minilm", "sample:microformer", "sample:glassllm", *context.models]
    panels, tables, checks, missing = [], [], [], []
    numbers: dict[str, Any] = {}
    for source in sources:
        try:
            model = context.model(source)
        except CannotRun as reason:
            missing.append(str(reason))
            continue
        rows, curves = effect_table(model, context.seed, work=context.work)
        numbers[source] = rows
        start = float(cosine_gap(normal_tokens(50, 10, model.d, context.seed)).mean())
        panels.append(Curves(curves, "layer", "$E$", source))
        columns = list(rows[0])
        text = [[row["parts"], *(f"{round(row[name], 4) + 0.0:.4f}" for name in columns[1:])] for row in rows]
        tables.append(Table(columns, text, f"{source} ({model.n_layers} layers, d = {model.d})"))
        checks.append(
            check(
                f"{source}: attention alone brings tokens closer",
                curves[0].y[-1] < curves[0].y[0],
                f"E {curves[0].y[0]:.3f} to {abs(curves[0].y[-1]):.3f}",
            )
        )
        checks.append(
            check(
                f"{source}: the trained layers bring tokens closer, too",
                rows[-1]["E"] < start,
                f"E {start:.3f} at the start, {rows[-1]['E']:.3f} after the last layer (attention alone {rows[0]['E']:.3f})",
            )
        )
    if not panels:
        raise CannotRun("; ".join(missing))
    note = "a figure of ours: no paper draws it, all three leave these parts of a layer out and ask what they do"
    return RecipeResult(
        checks, numbers, Chart("Parts of a layer, one by one", panels, tables=tables), "; ".join([note, *missing])
    )
