"""The recorded runs of ``rediscovery.py`` and ``survival.py`` as one page: docs/tables/blind.md.

``python benchmarks/table_blind.py REDISCOVERED.jsonl SURVIVED.jsonl --write``
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "tables" / "blind.md"


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def page(false: list[dict[str, Any]], true: list[dict[str, Any]]) -> str:
    """Both tables; what is not as expected comes first and is marked."""
    wrong = [each["name"] for each in false if each["verdict"] != "refuted"]
    wrong += [each["name"] for each in true if each["verdict"] != "survived"]
    slowest = max(false, key=lambda each: float(each["seconds"]))
    asked = sorted({float(each["asked"]) for each in true})
    text = [
        "# Blind rediscovery and survival, as recorded",
        "",
        "Written by `benchmarks/table_blind.py` from runs of `benchmarks/rediscovery.py` and `benchmarks/survival.py`,",
        "two workers on two cores; seconds are on the wall. False ones are stated without the numbers of any counterexample.",
        "",
        f"{len(false)} false conjectures, {sum(each['verdict'] == 'refuted' for each in false)} refuted with a certificate; the "
        f"slowest took {float(slowest['seconds']):.0f} s ({slowest['name']}). {len(true)} true ones, "
        f"{sum(each['verdict'] == 'survived' for each in true)} survived {' or '.join(f'{each:g}' for each in asked)} s.",
        "",
        "Not as expected: " + ("; ".join(wrong) if wrong else "none") + ".",
        "",
        "| false conjecture | verdict | seconds | found by | certificates confirmed |",
        "| --- | --- | --- | --- | --- |",
    ]
    text += [
        f"| {each['name']} | {each['verdict']} | {float(each['seconds']):.1f} | {each['found_by']} | {each['confirmed']} |"
        for each in false
    ]
    text += ["", "| true conjecture | verdict | seconds | instances |", "| --- | --- | --- | --- |"]
    text += [
        f"| {each['name']} | {each['verdict']} | {float(each['seconds']):.0f} | {each['tried']} |" for each in true
    ]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rediscovered", type=Path)
    parser.add_argument("survived", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    made = page(lines(given.rediscovered), lines(given.survived))
    if given.write:
        PAGE.write_text(made, encoding="utf-8")
    else:
        print(made)
