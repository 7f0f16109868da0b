"""Do the true statements survive?  Every statement that has claims in the language is attacked as a conjecture of its own.

``python benchmarks/survival.py RESULTS.jsonl --seconds 120 --jobs 2`` appends one line for each statement and system as it
ends, and goes on where an earlier run was stopped; ``--only PM-L4`` takes those whose name contains the text, and
``--show`` prints the table of what was recorded.  A ``refuted`` true statement, or a ``candidate``, is a bug: exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigentoken.numerics.lab import Conjecture, load, refute
from eigentoken.theory.statements.registry import statements

BLIND = Path(__file__).parent / "blind"


def true_conjectures() -> Iterator[tuple[str, Conjecture]]:
    """The corrected statements of the registry, one for each system, and the true conjectures of ``benchmarks/blind``."""
    for statement in statements():
        for system in statement.systems if statement.claims else ():
            name = f"{statement.id} {system}"
            yield name, Conjecture(name, system, statement.conditions, statement.claims, expect="survives")
    for file in sorted(BLIND.glob("*.py")):
        for conjecture in load(file):
            if conjecture.expect == "survives":
                yield conjecture.name, conjecture


def recorded(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of results."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def run(file: Path, seconds: float, jobs: int, seed: int, only: str) -> None:
    """Attack what has no line with this time and seed yet."""
    done = {(line["name"], line["asked"], line["seed"]) for line in recorded(file)}
    for name, conjecture in true_conjectures():
        if only not in name or (name, seconds, seed) in done:
            continue
        begun = time.process_time()
        (result,) = refute(conjecture, seconds=seconds, seed=seed, jobs=jobs).results
        used = time.process_time() - begun
        document = result.as_dict()
        line = {
            "name": name,
            "asked": seconds,
            "seed": seed,
            "jobs": jobs,
            "cpu": round(used, 1),
            "load": round(os.getloadavg()[0], 1),
            **{key: document[key] for key in ("verdict", "seconds", "tried", "units", "unsettled", "best_violation")},
        }
        if result.answer != "survived":
            line |= {"counterexample": document["counterexample"], "candidate": document["candidate"]}
        with file.open("a") as stream:
            stream.write(json.dumps(line, default=str) + "\n")
        print(f"{name}: {result.answer}, {result.tried} instances in {result.seconds:.0f} s", flush=True)


def show(lines: list[dict[str, Any]]) -> bool:
    """The table; true where every line survived."""
    print("| statement | seconds | instances | verdict |")
    print("| --- | --- | --- | --- |")
    for line in lines:
        print(f"| {line['name']} | {line['seconds']:.0f} | {line['tried']} | {line['verdict']} |")
    return all(line["verdict"] == "survived" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        run(given.file, given.seconds, given.jobs, given.seed, given.only)
    sys.exit(0 if show(recorded(given.file)) else 1)
