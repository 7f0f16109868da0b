"""Pham et al.: token norms and distances by depth, regimes by layer, rotary positions and the lambda I modification.

Only summaries of the paper are at hand (sheet part B): the claims below are those of the summaries, the exact
statements are PH-T1 to PH-T9 of the sheet.  A caption says what the summary has of a figure, and what is drawn here.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics import observables as measure
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, Table
from eigentoken.numerics.dynamics.flows import follow
from eigentoken.numerics.dynamics.matrices import RotaryMatrix
from eigentoken.numerics.dynamics.problem import problem
from eigentoken.numerics.experiments.alignment import blocks_of, normal_tokens
from eigentoken.numerics.experiments.registry import Context, RecipeResult, check, recipe
from eigentoken.theory.systems.catalogue import PHAM
from eigentoken.transformer_layer import LayerParts, run_block

#: What every caption here begins with.
UNSEEN = "the paper's figures were not at hand, a summary of the paper was"


def ldl(signs: Tensor, generator: torch.Generator) -> Tensor:
    """``L diag(signs softplus(theta)) L^T`` with L unit lower triangular: the inertia is that of the signs (PH-T9)."""
    d = len(signs)
    lower = torch.randn(d, d, generator=generator, dtype=torch.float64).tril(-1) * 0.2 + torch.eye(
        d, dtype=torch.float64
    )
    size = torch.nn.functional.softplus(torch.randn(d, generator=generator, dtype=torch.float64))
    return lower @ torch.diag(signs * size) @ lower.mT


def scenario(name: str, d: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """A (symmetric), W, B = A^-1 W of a regime: divergence (A > 0), intermediate (half and half), convergence (A < 0)."""
    generator = torch.Generator().manual_seed(seed)
    negative = {"divergence": 0, "intermediate": d // 2, "convergence": d}[name]
    signs = torch.ones(d, dtype=torch.float64)
    signs[:negative] = -1
    A = ldl(signs, generator)
    W = ldl(torch.ones(d, dtype=torch.float64), generator)
    skew = 0.3 * torch.randn(d, d, generator=generator, dtype=torch.float64)
    W = W + skew - skew.mT
    return A, W, torch.linalg.solve(A, W)


@recipe(
    "pham-regimes",
    paper=PHAM,
    figure="regimes (theory)",
    title="Token norms and distances in the three regimes",
    settings="x_l' = sum_i p_li B x_i, D = 6, L = 8, A = W B^-1 with 0, half or all signs negative, W_sym > 0",
    claim="(a summary of the paper) A < 0 and W > 0: tokens converge to zero; A > 0: they diverge; distances follow A",
)
def regimes(context: Context) -> RecipeResult:
    checks, norm_curves, distance_curves = [], [], []
    numbers: dict[str, Any] = {}
    d, tokens, end = 6, 8, 6.0
    x = 0.7 * torch.randn(tokens, d, generator=torch.Generator().manual_seed(context.seed + 1), dtype=torch.float64)
    for name in ("convergence", "intermediate", "divergence"):
        A, W, B = scenario(name, d, context.seed + 3)
        flow = problem("token-flow", {"B": B, "W": W})
        run = follow(flow, x, end, at=np.linspace(0, end, 121).tolist(), rtol=1e-9, atol=1e-11)
        assert run.states is not None
        size, spread = measure.norms(run.states).mean(-1).numpy(), measure.mean_distance(run.states).numpy()
        form = measure.pair_form(run.states, A)
        scale = form.abs().amax((1, 2)).clamp_min(1e-300)
        fall = float(((form[1:] - form[:-1]).amin((1, 2)) / scale[1:]).min())
        norm_curves.append(Curve(run.times, size, name))
        distance_curves.append(Curve(run.times, np.maximum(spread, 1e-12), name))
        numbers[name] = {"norm": [size[0], size[-1]], "distance": [spread[0], spread[-1]]}
        checks.append(
            check(
                f"{name}: (x_l - x_k)^T A (x_l - x_k) never decreases (PH-T1)",
                fall > -1e-7,
                f"largest relative decrease {max(0.0, -fall):.1e}",
            )
        )
        if name == "convergence":
            late = follow(flow, x, 400.0, rtol=1e-7, atol=1e-9).final
            energy = measure.energy(run.states, A).numpy()
            far = float(measure.norms(late).mean())
            checks.append(
                check(
                    "convergence: norms tend to zero",
                    far < 0.2 * size[0],
                    f"mean norm {size[0]:.3f} to {far:.3f} at t = 400 (decay like t^-1/2)",
                )
            )
            checks.append(
                check(
                    "convergence: the energy decreases (PH-T2)",
                    np.diff(energy).max() <= 1e-9,
                    f"{energy[0]:.3f} to {energy[-1]:.3f}",
                )
            )
        if name == "divergence":
            checks.append(
                check(
                    "divergence: norms grow without bound",
                    size[-1] > 20 * size[0],
                    f"mean norm {size[0]:.3f} to {size[-1]:.2e}",
                )
            )
    panels = (
        Curves(norm_curves, "t", "mean $|x_l|$", "token norms", log_y=True),
        Curves(distance_curves, "t", "mean $|x_l - x_k|$", "pairwise distances", log_y=True),
    )
    return RecipeResult(
        checks,
        numbers,
        Chart("Pham et al., regimes", panels),
        f"{UNSEEN}; it tells of models trained in each regime (WikiText-103, EnWik8, ImageNet-1K), here is one random system "
        "of 8 tokens a regime and no training. The signs of A and W are those of the published scripts, but A is symmetric, "
        "as the theorem needs (PH-C2), where these leave it a free skew part. Divergence is said to keep tokens apart: norms "
        "grow without bound here, and distances come to rest, which no theorem excludes (PH-T3)",
    )


@recipe(
    "pham-depth",
    paper=PHAM,
    figure="norms and distances by depth",
    title="Token norms and pairwise distances by depth in trained models",
    settings="trained layers with and without layer norm and feed-forward, 50 prompts of 10 normal tokens",
    claim="(a summary of the paper) trained models avoid the convergence regime: norms and distances do not collapse to zero",
)
def depth(context: Context) -> RecipeResult:
    panels: list[Any] = []
    checks, numbers = [], {}
    models = [*context.family("gpt2", "sample:microformer"), *context.family("llama", "sample:glassllm")]
    for model in models:
        blocks = blocks_of(model, torch.float32)
        start = normal_tokens(50, 10, model.d, context.seed).float()
        sizes, spreads = [], []
        for name, parts in (
            ("as trained", LayerParts()),
            ("attention, norm", LayerParts(feed_forward=False)),
            ("attention alone", LayerParts(False, False, "none")),
        ):
            x = start
            size, spread = [float(measure.norms(x).mean())], [float(measure.mean_distance(x).mean())]
            for block in blocks:
                x = run_block(block, x, parts)
                size.append(float(measure.norms(x).mean()))
                spread.append(float(measure.mean_distance(x).mean()))
            layers = np.arange(len(size))
            sizes.append(Curve(layers, size, name))
            spreads.append(Curve(layers, spread, name))
            numbers[f"{model.source}, {name}"] = {"norm": [size[0], size[-1]], "distance": [spread[0], spread[-1]]}
            if name == "as trained":
                checks.append(
                    check(
                        f"{model.source}: norms do not tend to zero",
                        size[-1] > size[0],
                        f"mean norm {size[0]:.2f} to {size[-1]:.2f}",
                    )
                )
                checks.append(
                    check(
                        f"{model.source}: distances do not tend to zero",
                        spread[-1] > 0.5 * spread[0],
                        f"mean distance {spread[0]:.2f} to {spread[-1]:.2f}",
                    )
                )
        panels.append(Curves(sizes, "layer", "mean $|x_l|$", f"{model.source}: norms", log_y=True))
        panels.append(Curves(spreads, "layer", "mean $|x_l - x_k|$", f"{model.source}: distances", log_y=True))
    note = (
        f"{UNSEEN}; it tells of the mean norm and mean distance of tokens against depth, which are drawn here, of "
        + " and ".join(model.describe() for model in models)
        + " in place of the paper's models, with normal tokens in place of a batch of text. The curves without feed-forward and "
        "norm are ours. Faster growth with rotary positions is said of models that differ in nothing else: these two differ "
        "in everything, and their growth is not compared"
    )
    return RecipeResult(checks, numbers, Chart("Pham et al., by depth", panels), note)


@recipe(
    "pham-layers",
    paper=PHAM,
    figure="regimes by layer",
    title="Which regime is each layer of a trained model in?",
    settings="W = Q^T K of all heads together, V^T = F = sum_h O_h V_h, A = W F^-1, signs of the symmetric parts (float64)",
    claim="(a summary of the paper) practical models avoid the convergence regime (A < 0 and W > 0)",
)
def by_layer(context: Context) -> RecipeResult:
    rows, checks, panels = [], [], []
    numbers: dict[str, Any] = {}
    models = [
        *context.family("gpt2", "sample:microformer"),
        *context.family("bert", "sample:minilm"),
        *context.family("albert", "sample:rxnmapper"),
    ]
    for model in models:
        shares: dict[str, list[float]] = {"W": [], "A": []}
        convergent = 0
        for block in blocks_of(model):
            width = block.out.shape[1]
            W = block.qkv[:width].mT @ block.qkv[width : 2 * width] / block.scale
            A = torch.linalg.lstsq(block.layer_matrix().mT, W.mT, driver="gelsd").solution.mT
            spectra = {name: torch.linalg.eigvalsh((M + M.mT) / 2) for name, M in (("W", W), ("A", A))}
            for name, values in spectra.items():
                shares[name].append(float((values > 0).double().mean()))
            convergent += int(shares["A"][-1] == 0 and shares["W"][-1] == 1)
        layers = np.arange(1, len(shares["W"]) + 1)
        panels.append(
            Curves(
                [Curve(layers, shares["W"], "sym W"), Curve(layers, shares["A"], "sym A")],
                "layer",
                "share of positive eigenvalues",
                model.source,
                level=0.5,
                y_range=(-0.02, 1.02),
            )
        )
        checks.append(
            check(
                f"{model.source}: no layer is in the convergence regime",
                convergent == 0,
                f"{convergent} of {len(layers)} layers",
            )
        )
        numbers[model.source] = shares
        rows.append(
            [
                model.source,
                f"{min(shares['W']):.2f} .. {max(shares['W']):.2f}",
                f"{min(shares['A']):.2f} .. {max(shares['A']):.2f}",
                str(convergent),
            ]
        )
    table = Table(
        ["model", "positive share of W_sym", "positive share of A_sym", "layers with A < 0 < W"], rows, "Regimes"
    )
    return RecipeResult(
        checks,
        numbers,
        Chart("Pham et al., regimes by layer", panels, columns=3, tables=(table,)),
        f"{UNSEEN}; it tells of the eigenvalues of sym W and sym A of each layer. Here it is the share of them that is positive, "
        "of all heads together (the matrices of one head are singular, and never definite), with A by least squares, of samples "
        "in place of the paper's models; the signs are those of float64 eigenvalues: `eigentoken check` gives certified verdicts",
    )


def rotary_example(a: float, shift: float) -> tuple[Any, Tensor]:
    """PH-T7(c): L = 4, D = 2, theta = pi/2, Q = diag(a, 1/a) = K^-1, B = -I, scores shifted by ``shift`` I."""
    query = torch.diag(torch.tensor([a, 1 / a], dtype=torch.float64))
    rotary = RotaryMatrix(query, torch.linalg.inv(query), torch.tensor([math.pi / 2], dtype=torch.float64))

    @cache  # four tokens, and every stage of every step asks for all pairs
    def pair(l: int, i: int) -> Tensor:
        return torch.tensor(rotary(l, i), dtype=torch.float64) + shift * torch.eye(2, dtype=torch.float64)

    flow = problem(
        "token-flow", {"B": -torch.eye(2, dtype=torch.float64), "W": None, "pair_score": rotary if shift == 0 else pair}
    )
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64).unsqueeze(-1)
    return flow, signs * 0.6 / math.sqrt(2) * torch.ones(4, 2, dtype=torch.float64)


@recipe(
    "pham-lambda",
    paper=PHAM,
    figure="the lambda I modification, rotary positions",
    title="Rotary positions and adding lambda I to the scores",
    settings="PH-T7(c): L = 4, D = 2, B = -I, W = I, angle pi/2, a = 2, start r = 0.6; lambda I added to every score",
    claim="(a summary of the paper) rotary positions force divergence; lambda I with lambda < 0 promotes divergence",
)
def lambda_identity(context: Context) -> RecipeResult:
    curves = []
    ends: dict[float, float] = {}
    for shift in (-0.5, 0.0, 0.3, 0.5, 1.0):
        flow, x = rotary_example(2.0, shift)
        run = follow(flow, x, 8.0, at=np.linspace(0, 8, 81).tolist(), rtol=1e-8, atol=1e-10)
        assert run.states is not None
        ends[shift] = float(torch.linalg.vector_norm(run.states[-1][0]))
        curves.append(
            Curve(run.times, torch.linalg.vector_norm(run.states[:, 0], dim=-1).numpy(), f"$\\lambda = {shift:g}$")
        )
    plain = problem("token-flow", {"B": -torch.eye(2, dtype=torch.float64), "W": torch.eye(2, dtype=torch.float64)})
    start = rotary_example(2.0, 0.0)[1]
    without = follow(plain, start, 8.0, at=np.linspace(0, 8, 81).tolist())
    assert without.states is not None
    curves.append(Curve(without.times, torch.linalg.vector_norm(without.states[:, 0], dim=-1).numpy(), "no rotary"))
    flow, _ = rotary_example(2.0, 0.0)
    together = torch.full((4, 2), 0.4, dtype=torch.float64)
    agreed = follow(flow, together, 8.0).final
    decayed = float(torch.linalg.vector_norm(agreed[0])) / float(torch.linalg.vector_norm(together[0]))
    return RecipeResult(
        [
            check(
                "rotary positions can turn convergence into divergence",
                ends[0.0] > 10 and float(torch.linalg.vector_norm(without.states[-1][0])) < 0.6,
                f"|x_1|(8) = {ends[0.0]:.1f} with, {float(torch.linalg.vector_norm(without.states[-1][0])):.3f} without",
            ),
            check(
                "lambda < 0 promotes divergence here (V = -I)",
                ends[-0.5] > ends[0.0],
                f"|x_1|(8): {ends[-0.5]:.1f} for -0.5, {ends[0.0]:.1f} for 0",
            ),
            check(
                "lambda > 0 (the published code adds softplus > 0) promotes divergence",
                ends[0.5] > ends[0.0],
                f"|x_1|(8) = {ends[0.3]:.3f}, {ends[0.5]:.3f}, {ends[1.0]:.3f} for 0.3, 0.5, 1: contracts",
                "the sign that promotes divergence depends on V; for V = -I it is lambda < 0 (PH-T8)",
            ),
            check(
                "rotary positions force divergence from every start",
                decayed > 1,
                f"a consensus start decays by {decayed:.1e} in 8 units of time",
                "consensus states move as without rotary positions, here towards 0 (PH-T7)",
            ),
        ],
        {"|x_1|(8)": {f"{k:g}": v for k, v in ends.items()}},
        Chart(
            "Pham et al., rotary positions and $\\lambda I$", (Curves(curves, "t", "$|x_1|$", log_y=True),), columns=1
        ),
        f"{UNSEEN}; it tells of the perplexity of models trained with and without lambda I, which need GPUs and are not trained "
        "here. Drawn is an example that is solved exactly (PH-T7), one for which rotary positions turn convergence into "
        "divergence, with lambda I of either sign: the summary has lambda < 0, the published code adds what is positive",
    )
