"""Does every method have its turn, does the search end in time, and does it try enough?  Over all conjectures of the blind lists.

    python benchmarks/search_turns.py --seconds 6             all of them, with what is beyond the limits
    python benchmarks/search_turns.py --only PM-L4            those with this in their name

Of each conjecture it prints the instances for a minute of the search (the time of certificates is not counted), how long it
took, and when the last method had its first unit.  The limits are those of docs/refute.md: first units in
two seconds, a tenth of the time, and 1,000 instances in 60 seconds of one processor.  Exit code 1 where one is passed.  On a
machine that gave this process less than BUSY of the time the clock is printed, and not judged.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blind_runs import listed

from eigentoken.numerics.lab import Conjecture
from eigentoken.numerics.lab.gathering import Unit, UnitResult
from eigentoken.numerics.lab.refutation import prepared, refute_conjecture
from eigentoken.numerics.lab.scale_out import Workers
from eigentoken.numerics.lab.targets import Target

#: Seconds to the end of the last first unit, the share of the time beyond it, and instances in a minute.
FIRST, LATE, ENOUGH = 2.0, 0.10, 1000
#: Less than this part of the time on the processor: the clock says nothing of the search.
BUSY = 0.8


class Timed(Workers):
    """One worker, here, that notes when each unit began and ended."""

    def __init__(self) -> None:
        super().__init__(1)
        self.start = time.time()
        self.notes: list[tuple[int, Unit, float, float, float, int]] = []

    def run(self, work: Sequence[tuple[Target, Unit]], end: float | None = None) -> Iterator[UnitResult]:
        for aim, unit in work:
            begun, used = time.time(), time.process_time()
            for result in super().run([(aim, unit)], end):
                self.notes.append(
                    (
                        id(aim),
                        unit,
                        begun - self.start,
                        time.time() - self.start,
                        time.process_time() - used,
                        result.tried,
                    )
                )
                yield result


def measured(conjecture: Conjecture, seconds: float) -> dict[str, Any]:
    """One search: its rate, its lateness and its first units."""
    begun = time.time()
    aims, missing = prepared(conjecture, 0)
    ready = time.time() - begun
    with Timed() as workers:
        workers.start, used = time.time(), time.process_time()
        result = refute_conjecture(conjecture, aims, workers, seconds, None, 0, missing=missing)
        took, used = time.time() - workers.start, time.process_time() - used
    first: dict[tuple[int, str], float] = {}
    spent: dict[str, list[float]] = {}
    for aim, unit, start, end, cpu, tried in workers.notes:
        first.setdefault((aim, unit.method), end)
        each = spent.setdefault(unit.method, [0.0, 0.0, 0])
        each[0], each[1], each[2] = each[0] + end - start, each[1] + cpu, each[2] + tried
    searched = sum(each[1] for each in spent.values())
    return {
        "name": conjecture.name,
        "system": conjecture.system,
        "answer": result.answer,
        "asked": seconds,
        "prepared": round(ready, 2),
        "took": round(took, 2),
        "cpu": round(used, 2),
        "late": round(took / seconds - 1, 3),
        "first": round(max(first.values(), default=0.0), 2),
        "tried": result.tried,
        "searched": round(searched, 2),
        "in_a_minute": round(60 * result.tried / max(searched, 1e-3)),
        "methods": {name: [round(each[0], 2), round(each[1], 2), int(each[2])] for name, each in spent.items()},
        "load": round(os.getloadavg()[0], 1),
    }


def beyond(line: dict[str, Any]) -> list[str]:
    """The limits that this search passed; a search that ended by a counterexample had no need of its turns."""
    ended, busy = line["answer"] == "refuted", line["cpu"] < BUSY * line["took"]
    said = []
    if line["late"] > LATE and not busy:
        said.append(f"{line['took']:.2f} s of {line['asked']:g}")
    if line["first"] > FIRST and not busy:
        said.append(f"first units until {line['first']:.2f} s")
    if line["in_a_minute"] < ENOUGH and not ended:
        said.append(f"{line['in_a_minute']} instances in a minute")
    return said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--only", default="", help="names with this text")
    parser.add_argument("--each", type=int, default=1, help="every so many-th conjecture")
    parser.add_argument("--output", type=Path, help="a line of JSON for each")
    asked = parser.parse_args()
    lines = []
    every = [each for kind in ("true", "false") for each in listed(kind) if asked.only in each.name]
    for conjecture in every[:: asked.each]:
        line = measured(conjecture, asked.seconds)
        lines.append(line)
        wrong = "; ".join(beyond(line)) or "good"
        told = f"{line['took']:.2f} s ({line['cpu']:.2f} on the processor), first units until {line['first']:.2f} s"
        print(f"{line['name']}: {line['answer']}, {line['in_a_minute']} in a minute, {told}: {wrong}", flush=True)
        if asked.output is not None:
            with asked.output.open("a") as file:
                file.write(json.dumps(line) + "\n")
    bad = sum(bool(beyond(each)) for each in lines)
    print(f"{len(lines)} conjectures, {bad} beyond a limit")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
