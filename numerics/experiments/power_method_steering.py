"""Li and Altafini, the steered figures 2 and 9: a rank-one change of the last layer turns the tokens to a direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.certified.eigen import eig
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves
from eigentoken.numerics.experiments.alignment import Directions, alignments, blocks_of, file_name
from eigentoken.numerics.experiments.paper_models import FIGURE_2, FIGURE_7, whose
from eigentoken.numerics.experiments.power_method_layers import BANDS, SAMPLES, start_tokens, three_rows
from eigentoken.numerics.experiments.registry import Check, Context, RecipeResult, check, recipe
from eigentoken.theory.systems.catalogue import LI_ALTAFINI
from eigentoken.transformer_layer import ATTENTION_ONLY, Block, attention, run_block

#: How many times ``|lambda_1|`` of the last layer is added in the direction w; the figure shows the last of them.
FACTORS = (10.0, 100.0, 1000.0)


def steered(block: Block[Tensor], w: Tensor, mu: float, z: Tensor | None = None) -> Block[Tensor]:
    """PM-S1: the output matrix becomes ``U + mu w z^T V_cat^-1`` (z = w by default), so ``F`` is ``F + mu w z^T``."""
    values = block.qkv[2 * block.out.shape[1] :].double()
    row = torch.linalg.lstsq(values.mT, (w if z is None else z).unsqueeze(-1), driver="gelsd").solution.squeeze(-1)
    return replace(block, out=(block.out.double() + mu * torch.outer(w, row)).to(block.out.dtype))


def _direction(d: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 7)
    return torch.nn.functional.normalize(torch.randn(d, generator=generator, dtype=torch.float64), dim=0)


def _eigenpair(F: Tensor) -> tuple[Tensor, Tensor] | None:
    """The real eigenvalue with the largest real part: right eigenvector w of length 1, left one z with z^T w = 1."""
    values, right = eig(F)
    real = torch.where(values.imag == 0, values.real, -torch.inf)
    k = int(real.argmax())
    if real[k] == -torch.inf:
        return None
    w = torch.nn.functional.normalize(right[:, k].real, dim=0)
    z = torch.linalg.inv(right)[k].real
    return w, z / (z @ w)


def _steered_ends(model: Any, x: Tensor, w: Tensor) -> dict[str, Any]:
    """After the last layer, for each factor: mean and smallest ``|corr(x_i, w)|``, and how strong the push was.

    The push is the median over tokens of ``mu |z^T sum_j a_ij x_j|`` over the length of the rest of the token (PM-S3).
    "pair" is the mean with a real eigenpair (left and right) of the layer's own matrix in place of z and w.
    """
    blocks = blocks_of(model)
    for block in islice(blocks, len(blocks) - 1):
        x = run_block(block, x, ATTENTION_ONLY)
    last = blocks[len(blocks) - 1]
    values = Directions.of(last.layer_matrix()).values
    plain = attention(last, x, biases=False)[2]
    pair = _eigenpair(last.layer_matrix())
    found: dict[str, list[float]] = {"mean": [], "smallest": [], "push": [], "gap": [], "pair": []}
    for factor in FACTORS:
        edited = steered(last, w, factor * float(values[0].abs()))
        push = (attention(edited, x, biases=False)[2] - plain) @ w
        along = (run_block(edited, x, ATTENTION_ONLY) @ w).abs()
        top = Directions.of(edited.layer_matrix()).values
        found["mean"].append(float(along.mean()))
        found["smallest"].append(float(along.min()))
        found["push"].append(float((push.abs() / torch.linalg.vector_norm(x + plain, dim=-1)).median()))
        found["gap"].append(float(top[0].abs() / values[0].abs()))
        if pair is not None:
            own = steered(last, pair[0], factor * float(values[0].abs()), pair[1])
            found["pair"].append(float((run_block(own, x, ATTENTION_ONLY) @ pair[0]).abs().mean()))
    return found


def _steering(context: Context, models: list[Any], title: str, paper: Sequence[str]) -> RecipeResult:
    panels: list[Any] = []
    checks: list[Check] = []
    numbers: dict[str, Any] = {}
    for model in models:
        name, x, w = file_name(model), start_tokens(context, model.d), _direction(model.d, context.seed)
        ends = context.work.part(f"{name}-ends", partial(_steered_ends, model, x, w))
        blocks = blocks_of(model)
        top = float(Directions.of(blocks[len(blocks) - 1].layer_matrix()).values[0].abs())
        edited = chain(islice(blocks, len(blocks) - 1), [steered(blocks[len(blocks) - 1], w, FACTORS[-1] * top)])
        rows = alignments(context.work, f"{name}-rows", edited, x)
        panels.extend(three_rows(model, rows))
        panels.append(
            Curves(
                [Curve(FACTORS, ends["mean"], "mean"), Curve(FACTORS, ends["smallest"], "smallest")],
                "$\\mu / |\\lambda_1|$",
                "$|\\mathrm{corr}(x_i, w)|$ at the end",
                log_x=True,
                y_range=(-0.02, 1.02),
            )
        )
        said = ", ".join(f"{value:.3f}" for value in ends["mean"])
        checks.append(
            check(
                f"{model.source}: near-perfect alignment with w once the gap is large",
                ends["mean"][-1] > 0.95,
                f"mean |corr| for mu = 10, 100, 1000 |lambda_1|: {said} (near-perfect: above 0.95)",
            )
        )
        checks.append(
            check(
                f"{model.source}: a gap of an order of magnitude leads to a very high correlation",
                ends["mean"][0] > 0.9,
                f"mean |corr| {ends['mean'][0]:.3f} with the top eigenvalue {ends['gap'][0]:.1f} |lambda_1|: the push "
                f"is {ends['push'][0]:.2f} times the rest of the token (median), above 2 would be needed"
                + (f"; with an eigenpair of the layer as w and z: {ends['pair'][0]:.3f}" if len(ends["pair"]) else ""),
                "not the gap decides but the push mu |z^T x| against the rest of the token (PM-S3)",
            )
        )
        numbers[model.source] = {
            f"mu = {f:g} |lambda_1|": {k: v[i] for k, v in ends.items() if len(v)} for i, f in enumerate(FACTORS)
        }
    note = (
        f"{whose(models, paper)}; w is a random direction, z = w: what counts is mu |z^T x|, not the gap alone (PM-S3); "
        f"{BANDS}; the panel over mu is ours"
    )
    return RecipeResult(checks, numbers, Chart(title, panels), note)


@recipe(
    "li-altafini-2",
    paper=LI_ALTAFINI,
    figure="2 (steered)",
    title="Steering by a rank-one change of the last layer's output matrix",
    settings="U + mu w z^T V^-1 in the last layer, w a chosen direction, mu a multiple of |lambda_1|",
    claim="with a spectral gap of at least an order of magnitude, perfect alignment with w is achieved",
)
def figure_2_steered(context: Context) -> RecipeResult:
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
def figure_9(context: Context) -> RecipeResult:
    models = context.gather({"gpt2": SAMPLES["gpt2"], "albert": ("sample:rxnmapper",)}, FIGURE_7)
    return _steering(context, models, "Li and Altafini, figure 9", FIGURE_7)
