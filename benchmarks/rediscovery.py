"""Are the false statements refuted?  Every conjecture of ``benchmarks/blind`` that is expected to fall is attacked.

``python benchmarks/rediscovery.py RESULTS.jsonl --seconds 120 --jobs 2`` appends one line for each as it ends, goes on where an
earlier run was stopped, and prints the table: time to the certified refutation, CPU time of this process (all of it with one
job) and load of the machine, the method, and how many of its certificates the second arithmetic confirms.  Exit code 1 if one
is not refuted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from eigentoken.numerics.lab import load, refute
from eigentoken.numerics.lab.rerun import Rerun
from eigentoken.numerics.recheck.refutations.report import recheck_report

BLIND = Path(__file__).parent / "blind"


def run(file: Path, seconds: float, jobs: int, seed: int, only: str) -> None:
    """Attack what has no line with this time and seed yet."""
    done = {(line["name"], line["asked"], line["seed"]) for line in recorded(file)}
    for source in sorted(BLIND.glob("*.py")):
        for conjecture in load(source):
            if conjecture.expect != "refuted" or only not in conjecture.name:
                continue
            if (conjecture.name, seconds, seed) in done:
                continue
            begun = time.process_time()
            report = json.loads(json.dumps(refute(conjecture, seconds=seconds, seed=seed, jobs=jobs).as_dict()))
            used = time.process_time() - begun
            (result,) = report["results"]
            words = [str(verdict.answer) for _, verdict in recheck_report(report, authors_code=Rerun())]
            found = result["counterexample"]
            line = {
                "name": conjecture.name,
                "file": source.name,
                "asked": seconds,
                "seed": seed,
                "verdict": result["verdict"],
                "jobs": jobs,
                "seconds": result["seconds"],
                "cpu": round(used, 1),
                "load": round(os.getloadavg()[0], 1),
                "found_by": result["found_by"],
                "instance": None if found is None else found["instance"],
                "confirmed": f"{words.count('holds')} of {len(words)}",
            }
            with file.open("a") as stream:
                stream.write(json.dumps(line) + "\n")


def recorded(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of results."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def show(lines: list[dict[str, Any]]) -> bool:
    """The table; true where every line is a refutation."""
    print("| statement | file | verdict | seconds | CPU | load | found by | confirmed |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for line in lines:
        print("|", " | ".join(str(line[key]) for key in ("name", "file", "verdict")), end=" | ")
        print(
            f"{line['seconds']:.1f} | {line['cpu']:.1f} | {line['load']:.1f} | {line['found_by']} | {line['confirmed']} |"
        )
    return all(line["verdict"] == "refuted" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    run(given.file, given.seconds, given.jobs, given.seed, given.only)
    sys.exit(0 if show(recorded(given.file)) else 1)
