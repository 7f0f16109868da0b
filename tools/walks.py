"""The walk of a datum through the three jobs: which modules run, room by room, and which calls go upwards.

    python tools/walks.py [check|derive|refute ...] [--write docs/tables/walks.json]

A module is passed when one of its functions is called after the imports.  A call goes upwards when the room of the callee
imports the room of the caller: that happens where a table of readings, filled from above, is asked from below.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import networkx as nx

sys.path.insert(0, str(Path(__file__).resolve().parent))
from house import ROOT, House, house, room_of

JOBS = {
    "check": ["check", "sample:rxnmapper", "--json", "--fresh", "--jobs", "1", "--work", "work"],
    "derive": ["derive", "PM-L4", "--format", "tex"],
    "refute": ["refute", str(ROOT / "examples" / "conjectures" / "any_step.py"), "--json", "--jobs", "1"],
}
#: modules passed before the rooms were built (commit fd39ebe), as an audit counted them, and by this measure
AUDITED = {"check": 97, "derive": 67, "refute": 80}
BEFORE = {"check": 74, "derive": 57, "refute": 67}
#: modules for what the jobs could not do then: certified bounds at tokens, distances to statements, good triples, sentences with
#: titles, an estimate in advance, devices, files of 8-bit integers, several stacks, other places of the normalisation,
#: words of the field's theorems; premises, waves that are followed up, a search that goes on; of a derivation the engine that it
#: passed by, and the kernel that now proves it
SINCE = (
    "checking.token_bounds", "numerics.layers.token_bounds", "numerics.layers.bound_scope", "numerics.layers.head_jacobian",
    "numerics.layers.certified_attention", "numerics.layers.skew_margin", "numerics.certified.arithmetic",
    "numerics.certified.devices", "models.formats.scaled", "numerics.layers.nearest", "numerics.layers.neighbours",
    "numerics.layers.statement_distances", "numerics.layers.wanted", "numerics.layers.score_at_leader", "checking.rows",
    "checking.estimate", "numerics.layers.costs", "models.loading.several_stacks", "models.convention.rules",
    "models.convention.normalization", "numerics.layers.lab_words", "theory.language.matrix_words", "theory.language.proportion",
    "numerics.lab.premises", "numerics.lab.follow_up",
    "commands.resuming", "theory.calculus.", "theory.linearization.", "theory.kernel.",
)  # fmt: skip


class Walk:
    """A profiler that counts calls between modules of ours."""

    def __init__(self, found: House) -> None:
        self.modules = {str(path.resolve()): name for name, path in found.files.items()}
        self.rooms = {name: room_of(name, path) for name, path in found.files.items()}
        self.calls: Counter[tuple[str, str]] = Counter()
        self.order: dict[str, None] = {}
        self._seen: dict[str, str | None] = {}

    def module(self, frame: FrameType) -> str | None:
        file = frame.f_code.co_filename
        if file not in self._seen:
            self._seen[file] = self.modules.get(os.path.realpath(file))
        return self._seen[file]

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        here = self.module(frame)
        if here is None:
            return
        back, caller = frame.f_back, None
        while back is not None:
            found = self.module(back)
            if found is not None and back.f_code.co_name == "<module>":
                return  # while a module is imported
            caller = caller or found
            back = back.f_back
        self.order.setdefault(here)
        if caller is not None and caller != here:
            self.calls[caller, here] += 1


def walk(job: str) -> dict[str, Any]:
    """Run a job under the profiler: rooms in the order in which they are entered, and the calls upwards."""
    from typer.testing import CliRunner

    from eigentoken.cli import app

    found = house()
    rooms = found.rooms()
    above = nx.transitive_closure_dag(rooms)
    seen = Walk(found)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        sys.setprofile(seen)
        result = CliRunner().invoke(app, JOBS[job])
        sys.setprofile(None)
        os.chdir(ROOT)
    if result.exit_code not in (0, 1):
        raise SystemExit(f"{job}: exit {result.exit_code}: {result.output[-300:]}")
    entered = Counter(seen.rooms[name] for name in seen.order)
    upward: Counter[str] = Counter()
    for (caller, callee), count in seen.calls.items():
        one, other = seen.rooms[caller], seen.rooms[callee]
        if above.has_edge(other, one):
            upward[f"{caller.removeprefix('eigentoken.')} -> {other}"] += count
    order = list(dict.fromkeys(seen.rooms[name] for name in seen.order))
    return {
        "modules": len(seen.order),
        "since": sum(name.removeprefix("eigentoken.").startswith(SINCE) for name in seen.order),
        "rooms": {room: entered[room] for room in order},
        "upward": dict(sorted(upward.items())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", default=[])
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    if len(given.jobs) == 1 and given.write is None:
        print(json.dumps(walk(given.jobs[0]), indent=1))
        return
    results = {}
    for job in given.jobs or JOBS:  # each in a process of its own: what one has imported another would not pass
        ran = subprocess.run([sys.executable, __file__, job], capture_output=True, text=True, cwd=ROOT)
        if ran.returncode:
            raise SystemExit(ran.stderr)
        results[job] = json.loads(ran.stdout)
    text = json.dumps(results, indent=1) + "\n"
    if given.write is not None:
        given.write.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
