"""Times of the symbolic room, as its commands: one spectrum (3 s), the longest proof (20 s), ``classify`` (3 s).

Each measurement is a fresh process, so that nothing is cached and start-up counts.  Process time is what is compared (the wall
clock is printed beside it: on a busy machine it says more about the neighbours).  Exit code 1 where a limit is missed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VECTOR = {
    "system": "attention-map",
    "V": [["1", "0", "0"], ["0", "1/4", "0"], ["0", "0", "1/8"]],
    "M": [["ln(3)", "0", "0"], ["0", "ln(3)", "0"], ["0", "0", "ln(3)"]],
    "alpha": "1/2",
    "tokens": [["1", "0", "0"]] * 8 + [["-1", "0", "0"]] * 2,
}


def measured(arguments: list[str]) -> tuple[float, float]:
    """Process and wall-clock seconds of one run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(arguments, check=True, env=environment, stdout=subprocess.DEVNULL)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        point = Path(folder) / "tv4.json"
        point.write_text(json.dumps(VECTOR))
        start = [sys.executable, "-m", "eigentoken"]
        for name, limit, arguments in (
            ("spectrum attention-map (consensus, with its proof)", 3.0, ["spectrum", "attention-map", "--json"]),
            (
                "spectrum attention-map --at bipartite (three criteria, 66 lemmas)",
                20.0,
                ["spectrum", "attention-map", "--at", "bipartite", "--json"],
            ),
            (
                "spectrum multihead-map --at bipartite --heads 2",
                6.0,
                ["spectrum", "multihead-map", "--at", "bipartite", "--heads", "2", "--json"],
            ),
            ("classify TV4 (n = 10)", 3.0, ["classify", str(point), "--json"]),
        ):
            seconds, wall = measured([*start, *arguments])
            missed |= seconds > limit
            print(f"{name}: {seconds:.2f} s of process time ({wall:.2f} s by the clock), limit {limit:.0f} s")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
