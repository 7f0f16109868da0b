"""Write docs/tables/bounds.md: the certified bounds at given tokens of every sample model, and what was measured beside them.

python benchmarks/table_bounds.py            run the samples, write the record (proofs/bounds_on_samples.json) and the page
python benchmarks/table_bounds.py --margins  only what is read from weights, the rest of the record as it is
python benchmarks/table_bounds.py --page     write the page from the record
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path

from eigentoken.checking.layers import weights_of
from eigentoken.checking.run import open_model
from eigentoken.checking.token_bounds import OF_WEIGHTS, QUANTITIES, bounds_at_tokens, summaries
from eigentoken.models.loading.samples import SAMPLES
from eigentoken.numerics.layers.margins import margin_bounds
from eigentoken.numerics.layers.token_bounds import Bound
from eigentoken.proofs.on_samples import RECORD, OnSample, recorded, sentence
from eigentoken.theory.statements.registry import statements

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tables" / "bounds.md"
TOKENS, SEED = 32, 0
HEAD = """<!-- written by benchmarks/table_bounds.py: do not edit -->
# Bounds that say something about the sample models

One sequence of {tokens} random tokens through each model (seed {seed}), as `eigentoken check` shows it head by head. A cell says
in how many layers or heads the bound says more than what is true of every head, then the medians of bound, measurement and ratio.
Bounds are certified from the stored weights and the tokens, and `recheck` finds them again; measurements are in floating point,
that of a Jacobian by a power iteration, from below. An empty cell: the statement is not about these heads (mask or positions).
BD-D2b, BD-L1 and BD-T3 are from norms and lengths alone: other rows say more. BD-H2 is along the mean token. The last {margins}
ask for no tokens: medians over the layers and heads where the bound says something.

"""
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
    return {
        each.statement: {
            "places": each.places,
            "telling": each.telling,
            "bound": each.bound,
            "measured": each.measured,
            "ratio": each.ratio,
        }
        for each in summaries(layers)
    }


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


def page(found: Mapping[str, Mapping[str, OnSample]]) -> str:
    """The page, a column a sample."""
    names = [each.name for each in SAMPLES]
    lines = [
        "| statement | what is bounded | " + " | ".join(names) + " |",
        "| --- | --- |" + " --- |" * len(names),
    ]
    for name, quantity in {**QUANTITIES, **MARGINS}.items():
        cells = [sentence(found[name][each]) if each in found.get(name, {}) else "" for each in names]
        lines.append(f"| {statements().get(name).title} ({name}) | {quantity} | " + " | ".join(cells) + " |")
    return HEAD.format(tokens=TOKENS, seed=SEED, margins=len(MARGINS)) + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Run and record, or only the page."""
    if "--page" not in arguments:
        margins = {each.name: margins_of_sample(each.name) for each in SAMPLES}
        samples = {} if "--margins" in arguments else {each.name: of_sample(each.name) for each in SAMPLES}
        record = {
            name: {sample: said[name] for sample, said in samples.items() if name in said} or recorded()[name]
            for name in QUANTITIES
        }
        record |= {name: {sample: said[name] for sample, said in margins.items()} for name in MARGINS}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        recorded.cache_clear()
    PAGE.write_text(page(recorded()), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
