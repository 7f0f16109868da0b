"""Write docs/tables/bounds.md: the certified bounds at given tokens of every sample model, and what was measured beside them.

python benchmarks/table_bounds.py            run the samples, write the record (proofs/bounds_on_samples.json) and the page
python benchmarks/table_bounds.py --margins  only what is read from weights, the rest of the record as it is
python benchmarks/table_bounds.py --page     write the page from the record
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.checking.layers import weights_of
from eigentoken.checking.run import open_model
from eigentoken.checking.token_bounds import OF_WEIGHTS, QUANTITIES, bounds_at_tokens, layers_at_tokens, summaries
from eigentoken.models.loading.samples import SAMPLES
from eigentoken.numerics.certified.norms import float_norm
from eigentoken.numerics.certified.rounding import frobenius_above, gamma, inflate
from eigentoken.numerics.layers.bound_scope import AT_WEIGHTS, differences
from eigentoken.numerics.layers.certified_attention import exact, linear, scores_and_weights
from eigentoken.numerics.layers.head_jacobian import Tall, head_norms
from eigentoken.numerics.layers.margins import margin_bounds
from eigentoken.numerics.layers.token_bounds import ROOM, Bound, LayerAtTokens, centred
from eigentoken.proofs.on_samples import RECORD, OnSample, recorded, sentence
from eigentoken.theory.statements.layer_systems import LayerSystem
from eigentoken.theory.statements.registry import statements

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tables" / "bounds.md"
TOKENS, SEED = 32, 0
HEAD = """<!-- written by benchmarks/table_bounds.py: do not edit -->
# Bounds that say something about the sample models

One sequence of {tokens} random tokens through each model (seed {seed}), as `eigentoken check` shows it head by head. A cell says
in how many layers or heads the bound says more than what is true of every head, then the medians of bound, measurement and ratio.
Bounds are certified from the stored weights and the tokens, and `recheck` finds them again; measurements are in floating point,
that of a Jacobian by a power iteration, from below. An empty cell: the statement is not about these heads (mask or positions).
The {beside} rows before the last {margins} are of bounds that `check` does not show, because others say more: `recheck` does not
know them. The last {margins} ask for no tokens: medians over the layers and heads where the bound says something.

"""
#: Bounds that are weaker than one that ``check`` shows, with what is bounded.
BESIDE = {
    "BD-D2b": "the same from norms: diversity of the update over that of the tokens",
    "BD-L1": "norm of a head's Jacobian, from norms and the largest length of a token",
    "BD-T3": "largest weight of a row that sees all tokens, from the lengths of queries and keys",
}


#: Bounds of weights, which ask for no tokens; of BD-E2, which is about a layer with full attention, no sample has one.
MARGINS = {name: OF_WEIGHTS[name] for name in ("BD-E1", "BD-H1")}


def margins_of_sample(name: str) -> dict[str, OnSample]:
    """The bounds of weights of one sample, as ``check`` shows them, beside what the eigenvalues are."""
    model = open_model(f"sample:{name}")
    known: dict[int, list[Bound]] = {}
    for index in range(model.n_layers):
        origin = model.architecture.weights_of(index)
        if origin not in known:
            known[origin] = margin_bounds(weights_of(model.layer(origin)), tuple(MARGINS))
    bounds = [each for index in range(model.n_layers) for each in known[model.architecture.weights_of(index)]]
    found = {}
    for statement in MARGINS:
        places = [each for each in bounds if each.statement == statement]
        telling = [each for each in places if not each.vacuous]
        found[statement] = {**_in_short(telling or places), "places": len(places), "telling": len(telling)}
    return found


def of_sample(name: str) -> dict[str, OnSample]:
    """What is said of one sample, by statement."""
    model = open_model(f"sample:{name}")
    layers = bounds_at_tokens(model, TOKENS, SEED, tuple(QUANTITIES))
    found: dict[str, OnSample] = {
        each.statement: {
            "places": each.places,
            "telling": each.telling,
            "bound": each.bound,
            "measured": each.measured,
            "ratio": each.ratio,
        }
        for each in summaries(layers)
    }
    beside: dict[str, list[Bound]] = {}
    for (layer, given), told in zip(layers_at_tokens(model, TOKENS, SEED), layers, strict=True):
        around = LayerSystem(len(layer.heads), len(layer.heads), **vars(weights_of(layer).surroundings))
        if AT_WEIGHTS.differences(around):
            continue
        measured = {(each["statement"], each["head"]): each["measured"] for each in told["bounds"]}
        for bound in _beside(given, [each for each in BESIDE if not differences(each, around)], measured):
            beside.setdefault(bound.statement, []).append(bound)
    return found | {name: _in_short(each) for name, each in beside.items()}


def _in_short(bounds: list[Bound]) -> OnSample:
    known = sorted(each.bound for each in bounds if math.isfinite(each.bound))
    ratios = sorted(each.bound / each.measured for each in bounds if math.isfinite(each.bound) and each.measured > 0)
    return {
        "places": len(bounds),
        "telling": sum(not each.vacuous for each in bounds),
        "bound": known[len(known) // 2] if known else None,
        "measured": sorted(each.measured for each in bounds)[len(bounds) // 2],
        "ratio": ratios[len(ratios) // 2] if ratios else None,
    }


def _beside(layer: LayerAtTokens, asked: list[str], measured: Mapping[Any, float]) -> Iterator[Bound]:
    """The bounds of :data:`BESIDE`, each at least the value of the formula of its statement."""
    x, mask = exact(layer.seen), np.asarray(layer.allowed, dtype=bool)
    rows = [scores_and_weights(head, x, mask, layer.pairs) for head in layer.heads]
    if "BD-D2b" in asked:
        yield Bound("BD-D2b", None, _diversity_from_norms(layer, rows), measured["BD-D2", None], 1.0)
    radius, n = float(x.lengths()[1].max()), len(layer.seen)
    for index, (head, (_, weights)) in enumerate(zip(layer.heads, rows, strict=True)):
        if "BD-L1" in asked:
            U, P = head_norms(head, Tall.of(head))
            p = P * radius**2
            with_bias = p + radius * _bias_of_queries(head)
            bound = inflate(U * (math.sqrt(n * (1 + 16 * with_bias**2 / 27)) + p), 40)
            yield Bound("BD-L1", index, float(bound), measured["BD-J2", index])
        if "BD-T3" in asked:
            lengths = [linear(x, head[each], head.get(f"{each.lower()}_bias")).lengths()[1].max() for each in "QK"]
            width = float(inflate(2 * lengths[0] * lengths[1] / float(head["scale"]), 6))  # type: ignore[arg-type]
            most = min(1.0, float(inflate((1 + ROOM) / (1 + (n - 1) * math.exp(-width)), 8)))
            whole = weights.center[mask.all(1)]
            yield Bound("BD-T3", index, most, float(whole.max()), 1.0)


def _bias_of_queries(head: Mapping[str, Any]) -> float:
    """At least ``|K^T b_Q| / scale``."""
    if head.get("q_bias") is None:
        return 0.0
    K, bias = (np.asarray(head[name], dtype=np.float64) for name in ("K", "q_bias"))
    off = gamma(len(bias)) * np.abs(K).T @ np.abs(bias)
    return float(inflate((frobenius_above((K.T @ bias)[None]) + frobenius_above(off[None])) / float(head["scale"]), 6))


def _diversity_from_norms(layer: LayerAtTokens, rows: list[Any]) -> float:
    """BD-D2 (b): ``|O| |V| max_h |Pi A_h Pi| |Pi X_*|_F / |Pi X|_F``."""
    middles = [centred(weights) for _, weights in rows]  # Pi A = Pi A Pi, as A 1 = 1
    sizes = [float_norm(each.center)[1] + frobenius_above(each.radius) for each in middles]
    O, V = (
        np.concatenate([np.asarray(head[name], dtype=np.float64) for head in layer.heads], axis=axis)
        for name, axis in (("O", 1), ("V", 0))
    )
    seen = frobenius_above(centred(exact(layer.seen)).lengths()[1][None])
    before = centred(exact(np.asarray(layer.state, dtype=np.float64))).lengths()[0]
    least = math.sqrt(float((before**2).sum())) * (1 - 1e-12)
    return float(inflate(float_norm(O)[1] * float_norm(V)[1] * max(sizes) * seen / least, 8)) if least else math.inf


def page(found: Mapping[str, Mapping[str, OnSample]]) -> str:
    """The page, a column a sample."""
    names = [each.name for each in SAMPLES]
    lines = [
        "| statement | what is bounded | " + " | ".join(names) + " |",
        "| --- | --- |" + " --- |" * len(names),
    ]
    for name, quantity in {**QUANTITIES, **BESIDE, **MARGINS}.items():
        cells = [sentence(found[name][each]) if each in found.get(name, {}) else "" for each in names]
        lines.append(f"| {statements().get(name).title} ({name}) | {quantity} | " + " | ".join(cells) + " |")
    return HEAD.format(tokens=TOKENS, seed=SEED, beside=len(BESIDE), margins=len(MARGINS)) + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Run and record, or only the page."""
    if "--page" not in arguments:
        margins = {each.name: margins_of_sample(each.name) for each in SAMPLES}
        samples = {} if "--margins" in arguments else {each.name: of_sample(each.name) for each in SAMPLES}
        record = {
            name: {sample: said[name] for sample, said in samples.items() if name in said} or recorded()[name]
            for name in (*QUANTITIES, *BESIDE)
        }
        record |= {name: {sample: said[name] for sample, said in margins.items()} for name in MARGINS}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        recorded.cache_clear()
    PAGE.write_text(page(recorded()), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
