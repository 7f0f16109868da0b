"""Write docs/tables/samples.md: what ``eigentoken check`` says of every sample model, from one run of each.

python benchmarks/table_samples.py [NAME ...]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from eigentoken.checking import check
from eigentoken.checking.report import size_text
from eigentoken.checking.summary import groups, heads_of, met_as_one_head, systems_of
from eigentoken.models.loading.samples import SAMPLES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tables" / "samples.md"
COLUMNS = (
    "sample",
    "each layer",
    "hold in every layer",
    "hold in some layers",
    "fail in some layer",
    "undecided",
    "not about this model",
    "ask nothing, or only an inverse",
    "met as if one head, by F",
    "met by single heads",
    "left out",
)


def row(name: str) -> list[str]:
    """One sample."""
    report = check(f"sample:{name}")
    found, layers = groups(report), len(report.layers)

    def ids(listed: Any) -> str:
        return ", ".join(each["id"] for each in listed) or "none"

    def counted(listed: Any, of: int) -> str:
        return ", ".join(f"{each['id']} ({count} of {of})" for each, count in listed) or "none"

    distinct = sum(layer["layer"] == layer["weights_of"] for layer in report.layers)
    left_out = "; ".join(f"{each['name']} {size_text(each)}" for each in report.document["idealisations"])
    return [
        f"{name}, {layers} layers",
        "; ".join(systems_of(report)),
        ids(found.holds),
        counted(found.partly, layers),
        ids(found.fails),
        ids(found.undecided),
        str(len(found.not_about)),
        ids((*found.asks_nothing, *found.asks_invertible)),
        counted(met_as_one_head(report, "layers"), distinct),
        counted(met_as_one_head(report, "heads"), len(heads_of(report))),
        left_out or "no verdict to stand beside",
    ]


def main(names: list[str]) -> None:
    """The page, a column a sample: the rows are what is said."""
    chosen = names or [each.name for each in SAMPLES]
    found = [row(name) for name in chosen]
    lines = [
        "<!-- written by benchmarks/table_samples.py: do not edit -->",
        "# What `check` says of the sample models",
        "",
        "One run of `eigentoken check sample:NAME` each. Definitions and statements without a condition on weights are not",
        "counted. What is met *as if one head* is no verdict about the layers. What is left out is measured on random tokens,",
        "smallest to largest over the layers.",
        "",
        "| | " + " | ".join(each[0] for each in found) + " |",
        "| --- |" + " --- |" * len(found),
    ]
    lines += [
        f"| {COLUMNS[place]} | " + " | ".join(each[place].replace("|F|", "norm of F") for each in found) + " |"
        for place in range(1, len(COLUMNS))
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
