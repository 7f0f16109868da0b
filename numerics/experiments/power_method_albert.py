"""Li and Altafini, figures 2(a), 6(a)-(c) and 10: one layer applied again and again (ALBERT)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.basins import clopper_pearson
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, Histogram
from eigentoken.numerics.dynamics.observables import (
    cosine_gap,
    mean_distance,
    pairwise_distances,
    subspace_correlation,
    vector_correlation,
)
from eigentoken.numerics.experiments.alignment import Directions, LayerAlignment, alignments, blocks_of, normal_tokens
from eigentoken.numerics.experiments.paper_models import ALBERTS, stands_in, whose
from eigentoken.numerics.experiments.registry import Context, RecipeResult, check, recipe
from eigentoken.theory.systems.catalogue import LI_ALTAFINI
from eigentoken.transformer_layer import ATTENTION_ONLY, Block, LayerParts, run_block


def _alberts(context: Context) -> list[Any]:
    """The ALBERT sample, the user's own, and the paper's four where their weights are on the disk."""
    return context.gather({"albert": ("sample:rxnmapper",)}, ALBERTS)


def _case(directions: Directions) -> str:
    top = directions.values[0]
    if not directions.principal_is_real:
        return f"Case 2: complex principal pair {top.real:.3f} +- {abs(top.imag):.3f} i"
    return f"Case 1: real principal eigenvalue {top.real:.3f}, next {directions.values[1].real:.3f}"


def _orbit(block: Block[Tensor], x: Tensor, layers: int) -> Tensor:
    states = [x]
    for _ in range(layers):
        states.append(run_block(block, states[-1], ATTENTION_ONLY))
    return torch.stack(states)


@recipe(
    "li-altafini-2a",
    paper=LI_ALTAFINI,
    figure="2(a)",
    title="ALBERT: eigenvalues of the layer matrix, and alignment of the tokens after the last layer",
    settings="eq. (3), alpha = 1, no FFN, l2 normalization, 100 prompts of 10 normal tokens, layers of the model",
    claim="tokens end near the plane of the principal eigenvectors; bipartite consensus is never observed",
)
def figure_2a(context: Context) -> RecipeResult:
    panels: list[Any] = []
    checks, numbers, notes = [], {}, []
    models = _alberts(context)
    for model in models:
        block = blocks_of(model)[0]
        F = block.layer_matrix()
        directions = Directions.of(F)
        x = normal_tokens(context.pick(100, 400), 10, model.d, context.seed)
        final = _orbit(block, x, model.n_layers)[-1]
        along = vector_correlation(final, directions.first[:, 0]).flatten().numpy()
        plane = subspace_correlation(final, directions.principal_plane).flatten().numpy()
        corrected = subspace_correlation(final, directions.map_plane).flatten().numpy()
        prolonged = _orbit(block, final, 200)[-1]
        far = pairwise_distances(prolonged).amax((-2, -1))
        sign_split = ((vector_correlation(prolonged, prolonged[0, 0]) < -0.5).any(-1) & (far > 1)).sum()
        chance = float(subspace_correlation(x, directions.principal_plane).mean())
        panels.append(
            Histogram((("", directions.values.real.numpy()),), "real part of the eigenvalues of F", model.source)
        )
        panels.append(
            Histogram(
                (("with $v_1$", along), ("with S", plane), ("with S of $|1+\\lambda|$", corrected)),
                "correlation",
                f"tokens after {model.n_layers} layers ({x.shape[1]} of each prompt)",
            )
        )
        share = float((plane > 0.7).mean())
        never = clopper_pearson(int(sign_split), len(x))
        checks.append(
            check(
                f"{model.source}: high correlation with the plane S dominates",
                share > 0.5,
                f"{100 * share:.0f} % above 0.7, mean {plane.mean():.3f} (random tokens: {chance:.3f})",
                _why_not_s(model, directions),
            )
        )
        checks.append(
            check(
                f"{model.source}: S captures more than v_1 alone",
                plane.mean() >= np.abs(along).mean(),
                f"{plane.mean():.3f} against {np.abs(along).mean():.3f}",
            )
        )
        checks.append(
            check(f"{model.source}: no bipartite consensus", never.count == 0, f"{never} after 200 more layers")
        )
        checks.append(
            check(
                f"{model.source}: PM-N1, the plane of the largest |1 + lambda| is the one that attracts",
                corrected.mean() >= plane.mean(),
                f"mean correlation {corrected.mean():.3f} against {plane.mean():.3f} with the largest real part",
            )
        )
        numbers[model.source] = {
            "case": _case(directions),
            "principal": [complex(v).real for v in directions.values[:3]],
            "largest |1 + lambda| at": _map_principal(directions),
            "mean |corr v_1|": np.abs(along).mean(),
            "mean corr S": plane.mean(),
        }
        notes.append(f"{_case(directions)}; {_map_principal(directions)}")
    return RecipeResult(
        checks,
        numbers,
        Chart("Li and Altafini, figure 2(a)", panels),
        f"{whose(models, ALBERTS)}. The third histogram, with the plane of the largest |1 + lambda|, is ours. "
        + "; ".join(notes),
    )


def _why_not_s(model: Any, directions: Directions) -> str:
    """Why tokens need not end in the plane S of the largest real part: a map goes to the largest ``|1 + lambda|``."""
    if _map_principal(directions).endswith("not the same as the largest real part"):
        return (
            f"{model.source} has its largest |1 + lambda| elsewhere than its largest real part, and a map with a step "
            "of one follows the first (PM-N1)"
        )
    return stands_in(model, ALBERTS)


def _map_principal(directions: Directions) -> str:
    """For a map with alpha = 1 the principal eigenvalue is the one with the largest ``|1 + lambda|`` (DESIGN 4)."""
    values = directions.values
    top = int(torch.argmax((1 + values).abs()))
    same = "the same" if top < (1 if directions.principal_is_real else 2) else "not the same"
    size = float((1 + values[top]).abs())
    return f"largest |1 + lambda| = {size:.3f} at {complex(values[top]):.3f}, {same} as the largest real part"


@recipe(
    "li-altafini-6",
    paper=LI_ALTAFINI,
    figure="6(a), 6(b), 6(c)",
    title="ALBERT: distance between tokens, correlation by layer, and what more layers do",
    settings="eq. (3), 100 prompts of 10 tokens; 6(c) prolongs the model with identical layers",
    claim="consensus is reached very fast; extra identical layers improve the correlation with the principal direction",
)
def figure_6(context: Context) -> RecipeResult:
    model = _alberts(context)[-1]
    block = blocks_of(model)[0]
    directions = Directions.of(block.layer_matrix())
    layers, extra = model.n_layers, context.pick(300, 1000)
    x = normal_tokens(100, 10, model.d, context.seed)
    states = _orbit(block, x, layers)
    distance = mean_distance(states).numpy()
    along = vector_correlation(states, directions.first[:, 0]).abs().mean(-1).numpy()
    plane = subspace_correlation(states, directions.principal_plane).mean(-1).numpy()
    longer = _orbit(block, x[:10], extra)
    long_along = vector_correlation(longer, directions.first[:, 0]).abs().mean(-1).numpy()
    long_plane = subspace_correlation(longer, directions.principal_plane).mean(-1).numpy()
    long_map = subspace_correlation(longer, directions.map_plane).mean(-1).numpy()
    long_distance = mean_distance(longer).numpy()
    steps, many = np.arange(layers + 1), np.arange(extra + 1)

    def bundle(values: np.ndarray, grid: np.ndarray) -> list[Curve]:
        lines = [Curve(grid, values[:, k], "" if k else "each prompt", "faint") for k in range(values.shape[1])]
        return [*lines, Curve(grid, values.mean(1), "mean", "strong")]

    panels = (
        Curves(bundle(distance, steps), "layer", "mean $|x_i - x_j|$", "6(a) distance between tokens"),
        Curves(bundle(along, steps), "layer", "$|\\mathrm{corr}(x_i, v_1)|$", "6(b) with $v_1$", y_range=(0, 1.02)),
        Curves(
            bundle(plane, steps),
            "layer",
            "$\\mathrm{corr}(x_i, \\Pi_S x_i)$",
            "6(b) with the plane S",
            y_range=(0, 1.02),
        ),
        Curves(
            [
                Curve(many, long_along.mean(1), "with $v_1$"),
                Curve(many, long_plane.mean(1), "with S"),
                Curve(many, long_map.mean(1), "with S of $|1+\\lambda|$"),
            ],
            "layer",
            "correlation",
            "6(c) prolonged",
            y_range=(0, 1.02),
        ),
    )
    best = long_plane if not directions.principal_is_real else long_along
    return RecipeResult(
        [
            check(
                "consensus occurs within the model's layers",
                distance[-1].mean() < 0.1 * distance[0].mean(),
                f"mean distance {distance[0].mean():.3f} to {distance[-1].mean():.4f} in {layers} layers",
            ),
            check(
                "consensus is reached when prolonged",
                long_distance[-1].max() < 1e-3,
                f"largest mean distance after {extra} layers {long_distance[-1].max():.1e}",
            ),
            check(
                "prolonging improves the correlation with the principal direction",
                best[-1].mean() > best[layers].mean(),
                f"{best[layers].mean():.3f} to {best[-1].mean():.3f}",
                _why_not_s(model, directions),
            ),
            check(
                "PM-N1: prolonged, the tokens lie in the plane of the largest |1 + lambda|",
                long_map[-1].mean() > 0.99,
                f"mean correlation {long_map[layers].mean():.3f} after {layers} layers, {long_map[-1].mean():.6f} after {extra}",
            ),
        ],
        {
            "case": _case(directions),
            "distance": distance.mean(1),
            "correlation v_1": along.mean(1),
            "correlation S": plane.mean(1),
        },
        Chart("Li and Altafini, figure 6(a)-(c)", panels),
        f"{whose([model], ALBERTS)}. One model stands where the paper has four, 6(b) has two of its three panels, 6(c) the "
        f"mean of ten prompts where it has single ones, and the curve of the largest |1 + lambda| is ours; the mean is blue, "
        f"the paper's red. {_case(directions)}; {_map_principal(directions)}",
    )


@recipe(
    "li-altafini-10",
    paper=LI_ALTAFINI,
    figure="10",
    title="ALBERT as trained: embedding, biases, affine norm and FFN included",
    settings="the layer as trained, prompts of 10 random token ids; compared with the layer of eq. (3)",
    claim="correlations, increments and probabilities are degraded; consensus among tokens is preserved",
)
def figure_10(context: Context) -> RecipeResult:
    model = _alberts(context)[-1]
    blocks = blocks_of(model)
    ids = np.random.default_rng(context.seed).integers(0, len(model.embedding().token), (100, 10))
    embedded = torch.from_numpy(np.asarray(model.embedding().embed(ids, np.float64)))
    known: dict[int, Directions] = {}
    bare = alignments(context.work, "bare", blocks, normal_tokens(100, 10, model.d, context.seed), known=known)
    full = alignments(context.work, "trained", blocks, embedded, LayerParts(), known)
    same = alignments(context.work, "same-start", blocks, torch.nn.functional.normalize(embedded, dim=-1), known=known)
    longer = {name: _prolonged_gap(blocks[0], embedded[:10], parts) for name, parts in PROLONGED.items()}
    said = "applied 200 times to ten of the prompts: " + ", ".join(
        f"E {gap:.4f} {name}" for name, gap in longer.items()
    )
    apart = [name for name in ("feed-forward", "biases") if longer[f"without {name}"] < 0.01 < longer["as trained"]]
    why = f"the {' with its '.join(apart)} of {model.source} keeps the tokens apart" if apart else ""
    return compare_with_trained(
        model, bare, full, same, "Li and Altafini, figure 10", whose([model], ALBERTS), ALBERTS, said, why
    )


#: What is drawn beside the paper's three rows.
BESIDE = "the paper draws the trained layers alone: the two curves of eq. (3) and the panel of E are ours"
#: Which parts of the trained layer keep tokens apart.
PROLONGED = {
    "as trained": LayerParts(),
    "without feed-forward": LayerParts(feed_forward=False),
    "without biases": LayerParts(biases=False),
    "by eq. (3)": ATTENTION_ONLY,
}


def _prolonged_gap(block: Block[Tensor], x: Tensor, parts: LayerParts, layers: int = 200) -> float:
    for _ in range(layers):
        x = run_block(block, x, parts)
    return float(cosine_gap(x).mean())


def compare_with_trained(
    model: Any,
    bare: list[LayerAlignment],
    full: list[LayerAlignment],
    same: list[LayerAlignment],
    title: str,
    note: str,
    paper: Sequence[str],
    consensus: str = "",
    apart: str = "",
) -> RecipeResult:
    """Curves of rho, increment, probability and E for the bare and the trained layers, with their checks.

    ``bare`` starts from normal tokens, as in the paper; ``same`` is eq. (3) from the embedded tokens of ``full``, so
    that what the embedding does is told from what the layers do.  ``consensus`` and ``apart`` say more about the last
    claim, and why it may fail; ``paper`` are the paper's own models.
    """
    layers = np.arange(1, len(bare) + 1)

    def pair(name: str) -> list[Curve]:
        return [
            Curve(layers, [getattr(a, name) for a in bare], "eq. (3)"),
            Curve(layers, [getattr(a, name) for a in full], "as trained"),
            Curve(layers, [getattr(a, name) for a in same], "eq. (3), same start"),
        ]

    panels = (
        Curves(pair("rho"), "layer", "$\\rho_1$", "correlation with $v_1$"),
        Curves(pair("increment"), "layer", "$\\Delta\\rho_1$", "increment", level=0.0),
        Curves(pair("probability"), "layer", "$\\Pi_1$", "probability of increment", level=0.5, y_range=(-0.02, 1.02)),
        Curves(pair("gap"), "layer", r"$E = 1 - \mathrm{mean}_i\,\cos(x_1, x_i)$", "distance from consensus"),
    )

    def mean(rows: list[LayerAlignment], name: str) -> float:
        return float(np.mean([getattr(a, name) for a in rows]))

    return RecipeResult(
        [
            *(
                check(
                    f"the {word} is degraded",
                    mean(full, name) < mean(bare, name),
                    f"mean {mean(bare, name):.4f} to {mean(full, name):.4f} "
                    f"(eq. (3) from the same embedded tokens: {mean(same, name):.4f})",
                    "but it is when both start from the embedded tokens: the start differs, not the layers"
                    if mean(full, name) < mean(same, name)
                    else stands_in(model, paper),
                )
                for word, name in (("correlation", "rho"), ("increment", "increment"), ("probability", "probability"))
            ),
            check(
                "consensus is preserved",
                full[-1].gap < full[0].gap,
                f"E {full[0].gap:.3f} after the first layer, {full[-1].gap:.3f} after the last"
                + (f"; {consensus}" if consensus else ""),
                apart or stands_in(model, paper),
            ),
        ],
        {
            "bare": [a.rho for a in bare],
            "trained": [a.rho for a in full],
            "same start": [a.rho for a in same],
            "E trained": [a.gap for a in full],
        },
        Chart(f"{title}: {model.source}", panels),
        f"{note}{'; ' if note else ''}{BESIDE}",
    )
