"""Figures 6 to 8 and table 3 of Rodriguez Abella, Silvestre, Tabuada: tokens fed again and again through GPT-2 shapes.

The output of the last layer (after the final layer norm) is the input of the next pass; positions are added once, at
the first pass.  Random weights are N(0, 0.02^2).  There is no GPT-2 vocabulary here: a prompt is cut into words and
signs, equal words get equal random embeddings, which is all that matters when the embeddings are random.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, Table
from eigentoken.numerics.dynamics.observables import cosine_gap
from eigentoken.numerics.experiments.checkpoints import Checkpoint
from eigentoken.numerics.experiments.paper_models import GPT2_XL, stands_in, whose
from eigentoken.numerics.experiments.registry import Context, RecipeResult, check, recipe
from eigentoken.numerics.experiments.transformer import FreshWeights, GPT2Shape, block_of, random_blocks
from eigentoken.theory.systems.catalogue import ABELLA
from eigentoken.transformer_layer import Block, run_block

CITY = (
    "Describe a futuristic city where humans and robots live together. "
    "Talk about what the city looks like and what daily life is like there."
)
#: Table 2 of the paper.
PROMPTS = (
    "A few colleagues and I amused ourselves at a previous IEEE conference on Decision and Control (CDC) with having "
    "ChatGPT try to handle all sorts of things, including a failed attempt at having it find Lyapunov function.",
    'The instructions that we gave to ChatGPT were, "Write a presidential column for the Control Systems Magazine '
    'on the future of control," and the resulting column is given verbatim here:',
    "Spearheaded by (CSS) Vice-President for Conference Activities Carolyn Beck and Prof. Philip E. Paré, we arrived "
    "at a temporary policy, for now, large-scale language models are not allowed as coauthors.",
    'Imagine the absurdity of having to agree that "By uploading this manuscript, I certify that the computations '
    'in this submission are made by hand and no calculator was used to perform any of the computations."',
    "I have no doubt that our warning message will seem as quaint and obsolete as this statement about calculators "
    "within a few years.",
)


def word_ids(text: str, known: dict[str, int]) -> list[int]:
    """The words and signs of a text as numbers; equal words get equal numbers, 0 is kept for padding."""
    return [known.setdefault(word.lower(), len(known) + 1) for word in re.findall(r"\w+|[^\w\s]", text)]


def shape_for(context: Context) -> tuple[GPT2Shape, str]:
    """The model shape of a scale, and what to say about it."""
    if context.scale == "quick":
        return GPT2Shape(4, 8, 512), "GPT-2 shape with 4 layers, 8 heads, d = 512 instead of XL (48, 25, 1600)"
    if context.scale == "full":
        return GPT2Shape.named("small"), "GPT-2 small shape (12 layers, d = 768) instead of XL; scale paper runs XL"
    return GPT2Shape.named("xl"), "GPT-2 XL shape, as in the paper"


def embedded(prompts: Sequence[str], shape: GPT2Shape, generator: torch.Generator) -> Tensor:
    """Random embeddings N(0, 0.02^2) of words plus random positions, padded with token 0 to one length."""
    known: dict[str, int] = {}
    rows = [word_ids(prompt, known) for prompt in prompts]
    length = max(map(len, rows))
    ids = torch.tensor([row + [0] * (length - len(row)) for row in rows])
    words = 0.02 * torch.randn(len(known) + 1, shape.d, generator=generator)
    return words[ids] + 0.02 * torch.randn(length, shape.d, generator=generator)


@dataclass(frozen=True, eq=False)
class Passes:
    """E of eq. (25) before and after each pass, (passes + 1, batch), and what was read off after some of them."""

    gaps: np.ndarray
    read: Mapping[int, np.ndarray]


def through(blocks: Sequence[Block[Tensor]]) -> Callable[[Tensor], Tensor]:
    """One pass through the layers."""

    def run(x: Tensor) -> Tensor:
        for block in blocks:
            x = run_block(block, x)
        return x

    return run


def passes(
    run: Callable[[Tensor], Tensor],
    x: Tensor,
    count: int,
    final: Callable[[Tensor], Tensor],
    *,
    generator: torch.Generator | None = None,
    read: Callable[[Tensor], Tensor] | None = None,
    read_after: Sequence[int] = (),
    stop: float = 1e-6,
    kept: Checkpoint = Checkpoint(None),  # noqa: B008
) -> Passes:
    """Feed tokens through the model (``run``) ``count`` times; stops once E is below ``stop``.

    ``kept`` saves tokens, E, readings and the state of the ``generator`` that ``run`` draws from as the passes go, so
    that an interrupted run goes on with the same numbers.
    """
    gaps, readings, begin = [cosine_gap(x.double()).numpy()], {}, 0
    found = kept.load()
    if found is not None:
        x, gaps, begin = torch.from_numpy(found["tokens"]), list(found["gaps"]), int(found["pass"])
        readings = {int(name.removeprefix("after")): value for name, value in found.items() if name.startswith("after")}
        if generator is not None:
            generator.set_state(torch.from_numpy(found["generator"]))
    for k in range(begin, count):
        if stop and float(np.abs(gaps[-1]).max()) < stop:
            break
        x = final(run(x))
        gaps.append(cosine_gap(x.double()).numpy())
        if read is not None and k + 1 in read_after:
            readings[k + 1] = read(x).numpy()
        kept.save(partial(_state, x, gaps, k + 1, readings, generator), now=k + 1 == count)
    return Passes(np.array(gaps), readings)


def _state(
    x: Tensor, gaps: list[np.ndarray], done: int, readings: Mapping[int, np.ndarray], generator: torch.Generator | None
) -> dict[str, Any]:
    state = {"tokens": x.numpy(), "gaps": np.array(gaps), "pass": done}
    state |= {f"after{k}": value for k, value in readings.items()}
    return state if generator is None else state | {"generator": generator.get_state().numpy()}


def plain_norm(x: Tensor) -> Tensor:
    """GPT-2's final layer norm at its start values."""
    return functional.layer_norm(x, x.shape[-1:])


def pretrained(
    context: Context, tokens: int, prompts: int = 1
) -> tuple[Any, list[Block[Tensor]], Tensor, Callable[[Tensor], Tensor]]:
    """GPT-2 XL if its weights are on the disk, else the user's own GPT-2, else the sample.

    Returns the model, its blocks, embedded random token ids (one prompt for GPT-2 XL) and the final norm.
    """
    own = context.paper(GPT2_XL)
    model = own[0] if own else context.family("gpt2", "sample:microformer")[-1]
    blocks = [block_of(layer) for layer in model.layers()]
    table = model.embedding()
    if table.position is not None:
        tokens = min(tokens, len(table.position) - table.position_offset)
    ids = np.random.default_rng(context.seed).integers(0, len(table.token), (1 if own else prompts, tokens))
    norm = model.final_norm()
    gain, bias = torch.tensor(norm.gain).float(), None if norm.bias is None else torch.tensor(norm.bias).float()
    x = torch.from_numpy(table.embed(ids, np.float32))
    return model, blocks, x, lambda y: functional.layer_norm(y, y.shape[-1:], gain, bias, float(norm.eps))


#: The paper's figures 6 to 8 read E off a linear axis up to 0.7: below this it cannot be told from 0 there.
TO_ZERO = 0.01


def _rises(gaps: np.ndarray) -> dict[int, int]:
    """For each pass with an increase of E beyond rounding: in how many prompts (columns)."""
    up = (np.diff(gaps, axis=0) > 1e-7).sum(1)
    return {k + 1: int(count) for k, count in enumerate(up) if count}


def _passes_below(gaps: np.ndarray, level: float) -> str:
    """After how many passes every prompt (column) is below a level."""
    below = (gaps < level).all(1)
    return str(int(np.argmax(below))) if below.any() else f"more than {len(gaps) - 1}"


def _said(gaps: np.ndarray) -> str:
    prompts, rises = gaps.shape[1], _rises(gaps)
    if not rises:
        return f"E falls in every pass for {prompts} of {prompts} prompts"
    return "E rises " + ", ".join(f"in pass {k} for {count} of {prompts} prompts" for k, count in rises.items())


@recipe(
    "abella-6",
    paper=ABELLA,
    figure="6",
    title="E after each pass through GPT-2, trained and random weights",
    settings="GPT-2 XL, tokens fed back for 2000 passes, prompt of section 7.5, trained and random weights (periodic)",
    claim="E decreases with each pass for both configurations: tokens converge to consensus",
    heavy=True,
)
def figure_6(context: Context) -> RecipeResult:
    shape, said = shape_for(context)
    count = context.pick(60, 2000)
    generator = torch.Generator().manual_seed(context.seed)
    blocks = random_blocks(shape, generator)
    kept = context.work.checkpoint("random")
    random = passes(through(blocks), embedded([CITY], shape, generator), count, plain_norm, kept=kept).gaps[:, 0]
    model, layers, x, final = pretrained(context, 30, 20)
    kept, early = context.work.checkpoint("trained"), range(1, 11)
    run = passes(
        through(layers),
        x,
        context.pick(200, 2000),
        final,
        kept=kept,
        read=partial(cosine_gap, absolute=True),
        read_after=early,
    )
    trained = run.gaps
    bars = np.array([cosine_gap(x, absolute=True).numpy(), *(run.read[k] for k in early if k in run.read)])
    curves = [
        Curve(range(len(random)), random, "random weights"),
        Curve(range(len(trained)), trained[:, 0], f"trained: {model.source}"),
        *(
            Curve(range(len(trained)), trained[:, k], "" if k > 1 else "trained: the other prompts", "faint")
            for k in range(1, trained.shape[1])
        ),
    ]
    return RecipeResult(
        [
            check(
                "random weights: E tends to zero",
                random[-1] < TO_ZERO,
                f"E: {random[0]:.3f} to {random[-1]:.1e} in {len(random) - 1} passes",
            ),
            check("random weights: E decreases with each pass", not _rises(random[:, None]), _said(random[:, None])),
            check(
                f"trained weights: E tends to zero for {trained.shape[1]} prompts",
                trained[-1].max() < TO_ZERO,
                f"mean E: {trained[0].mean():.3f} to {trained[-1].mean():.1e} in {len(trained) - 1} passes",
            ),
            check(
                "trained weights: E decreases with each pass",
                not _rises(trained),
                f"{_said(trained)}; with the bars that the paper prints: {_said(bars)}",
                stands_in(model, [GPT2_XL]),
            ),
        ],
        {"random": random[:: max(1, len(random) // 20)], "trained": trained[:: max(1, len(trained) // 20), 0]},
        Chart("Abella et al., figure 6", (Curves(curves, "model passes", "$E$"),), columns=1),
        f"{said}; {whose([model], [GPT2_XL])}, with random token ids, and more prompts than the paper's one; a run ends once E "
        "is below 1e-6, the paper's axis at 2000 passes",
    )


@recipe(
    "abella-7",
    paper=ABELLA,
    figure="7",
    title="E with weights drawn anew at each pass, with and without feed-forward",
    settings="GPT-2 XL, weights N(0, 0.02^2) resampled after each pass, feed-forward (with norm and skip) removed",
    claim="convergence towards consensus still occurs, with and without feed-forward",
    heavy=True,
)
def figure_7(context: Context) -> RecipeResult:
    shape, said = shape_for(context)
    count = context.pick(600, 2000)
    found = {}
    for name, inner in (("original architecture", True), ("no feed-forward", False)):
        generator = torch.Generator().manual_seed(context.seed)
        x, fresh = embedded([CITY], shape, generator), FreshWeights(shape, generator, inner)
        kept = context.work.checkpoint(name.replace(" ", "-"))
        found[name] = passes(fresh.run, x, count, plain_norm, generator=generator, kept=kept).gaps[:, 0]
    curves = [Curve(range(len(values)), values, name) for name, values in found.items()]
    return RecipeResult(
        [
            check(
                f"{name}: E tends to zero",
                values[-1] < TO_ZERO,
                f"E: {values[0]:.3f} to {values[-1]:.1e} in {len(values) - 1} passes",
            )
            for name, values in found.items()
        ],
        {name: values[:: max(1, len(values) // 20)] for name, values in found.items()},
        Chart("Abella et al., figure 7", (Curves(curves, "model passes", "$E$"),), columns=1),
        f"{said}; weights that are used once are drawn only on the span of the tokens, which has the same law; a run ends once "
        "E is below 1e-6, the paper's axis at 2000 passes",
    )


@recipe(
    "abella-8",
    paper=ABELLA,
    figure="8",
    title="E for five prompts",
    settings="GPT-2 XL, random periodic weights N(0, 0.02^2), the five prompts of table 2 padded to one length",
    claim="all tokens tend to a consensus equilibrium for all the tested inputs",
    heavy=True,
)
def figure_8(context: Context) -> RecipeResult:
    shape, said = shape_for(context)
    generator = torch.Generator().manual_seed(context.seed)
    blocks = random_blocks(shape, generator)
    x, kept = embedded(PROMPTS, shape, generator), context.work.checkpoint("passes")
    gaps = passes(through(blocks), x, context.pick(60, 2000), plain_norm, kept=kept).gaps
    curves = [Curve(range(len(gaps)), gaps[:, k], f"prompt {k + 1}") for k in range(5)]
    return RecipeResult(
        [
            check(
                f"prompt {k + 1}: E tends to zero", gaps[-1, k] < TO_ZERO, f"E: {gaps[0, k]:.3f} to {gaps[-1, k]:.1e}"
            )
            for k in range(5)
        ],
        {"E": gaps[:: max(1, len(gaps) // 20)]},
        Chart("Abella et al., figure 8", (Curves(curves, "model passes", "$E$"),), columns=1),
        f"{said}; words of our own splitting instead of GPT-2's tokens; the paper's axis ends at 2000 passes, and its smallest "
        f"tick is E = 0.1, where all prompts here are below after {_passes_below(gaps, 0.1)} passes",
    )


@recipe(
    "abella-table3",
    paper=ABELLA,
    figure="table 3",
    title="Decoded output after many passes",
    settings="GPT-2 XL with trained weights, greedy decoding after 1, 5, 10, 100 and 1000 passes",
    claim="as the number of passes increases, the decoded words become increasingly repetitive",
    heavy=True,
)
def table_3(context: Context) -> RecipeResult:
    model, blocks, x, final = pretrained(context, 60)
    head = torch.tensor(model.embedding().token).float()
    wanted = context.pick((1, 5, 10, 100), (1, 5, 10, 100, 1000))
    run = passes(
        through(blocks), x, max(wanted), final, stop=0.0, kept=context.work.checkpoint("passes"),
        read=lambda y: (y[0] @ head.mT).argmax(-1), read_after=wanted,
    )  # fmt: skip
    decoded = {k: run.read[k].tolist() for k in wanted}
    distinct = [(k, len(set(ids))) for k, ids in decoded.items()]
    rows = [[str(k), str(len(set(ids))), " ".join(map(str, ids[:24])) + " ..."] for k, ids in decoded.items()]
    counts = [c for _, c in distinct]
    length = len(decoded[wanted[0]])
    table = Table(["passes", f"distinct of {length}", "decoded token ids"], rows, "Decoded output")
    curve = Curves(
        [Curve([k for k, _ in distinct], counts, weight="strong")], "model passes", "distinct tokens", log_x=True
    )
    return RecipeResult(
        [
            check(
                "the output becomes more repetitive",
                counts[-1] < counts[0],
                f"distinct tokens of {length}: {dict(distinct)}",
            ),
            check(
                "the output collapses to a few tokens",
                counts[-1] <= 6,
                f"{counts[-1]} distinct tokens after {max(wanted)} passes",
            ),
        ],
        {"distinct": dict(distinct)},
        Chart("Abella et al., table 3", (curve,), columns=1, tables=(table,)),
        f"{whose([model], [GPT2_XL])}; its vocabulary is not at hand: random token ids, "
        "decoded with the embedding matrix (tied head)",
    )
