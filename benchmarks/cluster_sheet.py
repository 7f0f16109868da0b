"""``strengthen`` and ``attempt`` over the statements about clusters, as one table.

    python benchmarks/cluster_sheet.py --instances 200         every CL statement that has claims, system by system
    python benchmarks/cluster_sheet.py --only CL-12 -o DIR    one of them; -o writes the tables that recheck reads

A row of ``strengthen`` that survives is a proposal, no theorem; ``attempt`` runs without the statements of the book.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

from eigentoken.numerics.lab.conjectures import Conjecture
from eigentoken.numerics.lab.strengthen import strengthen
from eigentoken.proofs.attempts.attempt import attempt
from eigentoken.theory.statements.registry import statements


def sheet(only: str) -> Iterator[Conjecture]:
    """The statements of the sheet with claims, for each of their systems."""
    for statement in statements():
        if not statement.id.startswith("CL-") or not statement.claims or only not in statement.id:
            continue
        for system in statement.systems:
            yield Conjecture(f"{statement.id} {system}", system, statement.conditions, statement.claims)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=200, help="instances of each search of strengthen")
    parser.add_argument("--seconds", type=float, default=60.0, help="most time for each search")
    parser.add_argument("--only", default="", help="part of an id")
    parser.add_argument("-o", "--output", type=Path, help="folder of the tables")
    asked = parser.parse_args()
    for conjecture in sheet(asked.only):
        begun = time.process_time()
        made = strengthen(conjecture, seconds=asked.seconds, instances=asked.instances)
        (found,) = made.results
        print(f"{conjecture.name}: {found.whole.answer}", flush=True)
        for row in found.rows:
            print(f"    {row.change}: {row.says}", flush=True)
        if asked.output is not None:
            asked.output.mkdir(parents=True, exist_ok=True)
            (asked.output / f"{conjecture.name.replace(' ', '_')}.json").write_text(
                json.dumps(made.as_dict(), default=str)
            )
        tried = attempt(conjecture, recall=False)
        print(
            f"    attempt: {tried[conjecture.name].answer}  ({time.process_time() - begun:.0f} s of processor time)",
            flush=True,
        )


if __name__ == "__main__":
    main()
