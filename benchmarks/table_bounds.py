"""Write docs/tables/bounds.md: the certified bounds at given tokens of every sample model, and what was measured beside them.

python benchmarks/table_bounds.py            run the samples, write the record (proofs/bounds_on_samples.json) and the page
python benchmarks/table_bounds.py --page     write the page from the record
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from eigentoken.checking.run import open_model
from eigentoken.checking.token_bounds import QUANTITIES, bounds_at_tokens, summaries
from eigentoken.models.loading.samples import SAMPLES
from eigentoken.proofs.on_samples import RECORD, OnSample, recorded, sentence
from eigentoken.theory.statements.registry import statements

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tables" / "bounds.md"
TOKENS, SEED = 32, 0
HEAD = f"""<!-- written by benchmarks/table_bounds.py: do not edit -->
# Bounds that say something about the sample models

One sequence of {TOKENS} random tokens through each model (seed {SEED}), as `eigentoken check` shows it head by head. A cell says
in how many layers or heads the bound says more than what is true of every head, then the medians of bound, measurement and ratio.
Bounds are certified from the stored weights and the tokens, and `recheck` finds them again; measurements are in floating point,
that of a Jacobian by a power iteration, from below. An empty cell: the statement is not about these heads (mask or positions).

"""


def of_sample(name: str) -> dict[str, OnSample]:
    """What is said of one sample, by statement."""
    found = summaries(bounds_at_tokens(open_model(f"sample:{name}"), TOKENS, SEED, tuple(QUANTITIES)))
    return {
        each.statement: {
            "places": each.places,
            "telling": each.telling,
            "bound": each.bound,
            "measured": each.measured,
            "ratio": each.ratio,
        }
        for each in found
    }


def page(found: Mapping[str, Mapping[str, OnSample]]) -> str:
    """The page, a column a sample."""
    names = [each.name for each in SAMPLES]
    lines = [
        "| statement | what is bounded | " + " | ".join(names) + " |",
        "| --- | --- |" + " --- |" * len(names),
    ]
    for name, quantity in QUANTITIES.items():
        cells = [sentence(found[name][each]) if each in found.get(name, {}) else "" for each in names]
        lines.append(f"| {statements().get(name).title} ({name}) | {quantity} | " + " | ".join(cells) + " |")
    return HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Run and record, or only the page."""
    if "--page" not in arguments:
        samples = {each.name: of_sample(each.name) for each in SAMPLES}
        record = {name: {sample: said[name] for sample, said in samples.items() if name in said} for name in QUANTITIES}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        recorded.cache_clear()
    PAGE.write_text(page(recorded()), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
