"""What a command costs before it answers: processor time of a new process, beside the packages that it cannot do without.

    python benchmarks/bench_start.py [--rounds 5]

The ratio is to ``import numpy`` for ``certify`` and to ``import sympy`` for the others, in alternation; the target is in seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ratios import Row, command, report, run

POINT = {
    "system": "attention-map",
    "V": [["1", "0"], ["0", "1/4"]],
    "M": [["1", "0"], ["0", "1"]],
    "alpha": "1/2",
    "tokens": [["1", "0"], ["-1", "0"], ["1", "0"]],
}


def rows(folder: Path, rounds: int) -> Iterator[Row]:
    matrix, point = folder / "matrix.npy", folder / "point.json"
    values = np.random.default_rng(0).standard_normal((40, 40))
    np.save(matrix, values @ values.T / 40 + np.eye(40))
    point.write_text(json.dumps(POINT), encoding="utf-8")
    asked = (
        ("certify", "numpy", 0.5, command("certify", "positive-definite", str(matrix))),
        ("classify", "sympy", 0.9, command("classify", str(point))),
        ("show", "sympy", 0.9, command("show", "PM-L4")),
        ("derive", "sympy", 1.5, command("derive", "PM-L4")),
    )
    for name, package, limit, arguments in asked:
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for k, each in enumerate(([sys.executable, "-c", f"import {package}"], arguments)):
                found = run(each)
                if found.code:
                    raise SystemExit(f"{' '.join(each)} ended with {found.code}")
                best[k] = min(best[k], found.seconds)
        peer, ours = best
        yield Row(
            f"start-up of {name} / import {package}", "", peer, ours, ours / peer, f"<= {limit:g} s", ours <= limit
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report(rows(Path(folder), chosen.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
