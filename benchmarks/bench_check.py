"""Cost of the certified part of ``eigentoken check`` as a ratio to ``numpy.linalg.eigvals`` on the same matrices.

    python benchmarks/bench_check.py [--samples glassllm,rxnmapper,minilm] [--rounds 3] [--slow]

For one layer of each sample: everything certified of it (findings of the layer and of each head, every statement of the
registry on the layer and on each head, regimes), against plain ``eigvals`` of

* the **layer** matrices ``F = sum O_h V_h`` and ``S = sum Q_h^T K_h`` (d x d), and
* **all** matrices that something is certified of, each once: those, ``U_h`` and ``P_h`` (d x d) of every head, and with
  rotary positions ``P_h(delta)`` and ``Delta W_h(delta)`` for the three offsets of the report.

One BLAS thread; peer and certified code alternate, and the best processor time of several rounds is compared.  The target
of 2 is about all matrices; the stricter ratio to the layer matrices alone is in the note.

Then what a user runs, each in a new process: ``check`` with its defaults and an empty folder of results, beside a process that
reads the same checkpoint and finds spectra and norms alone in numpy floats, which is what the target is about, and beside one
that finds all that the report has numbers of (``floats_of_model.py --reported``; no target); and ``recheck`` of the report
beside the check.  ``--slow`` adds SmolLM2 (some minutes).
"""

# ruff: noqa: E402 - the number of threads must be set before numpy is loaded

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ratios import Row, Times, at_most, command, report, run

from eigentoken.checking.layers import rotary_pairs, weights_of
from eigentoken.models import load
from eigentoken.numerics.certified.dominance import forget_discs
from eigentoken.numerics.layers.findings import examine
from eigentoken.numerics.layers.layer_readings import read_layer
from eigentoken.numerics.layers.regimes import regime
from eigentoken.numerics.layers.rotary_scores import OFFSETS
from eigentoken.numerics.layers.symbol_values import Answers
from eigentoken.theory.statements.registry import statements

RATIO = 2.0
PEER = Path(__file__).resolve().parent / "floats_of_model.py"


def certified(layer: Any) -> None:
    """What ``check`` certifies of one layer, from the stored weights."""
    forget_discs()
    weights, answers = weights_of(layer), Answers()
    chosen = list(statements())
    examine(weights, answers=answers, statements=chosen, pairs=rotary_pairs(layer))
    for each in chosen:
        read_layer(each, weights, answers)
    regime(weights, answers)


def layer_matrices(layer: Any) -> list[Any]:
    scores = sum(head.Q.astype(np.float64).T @ head.K.astype(np.float64) for head in layer.heads)
    return [layer.F, scores]


def head_matrices(layer: Any) -> list[Any]:
    found = [matrix for head in layer.heads for matrix in (head.U, head.P)]
    if layer.rotary is not None:
        turned = [(head, offset) for head in layer.heads for offset in OFFSETS]
        found += [matrix for head, at in turned for matrix in (head.score_matrix(at), head.rotary_change(at))]
    return found


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def layer(name: str, rounds: int) -> Row:
    """The certificates of one layer beside ``eigvals`` of its matrices."""
    first = load(f"sample:{name}").layer(0)
    certified(first)  # imports, printed formulas and probes once
    best = [float("inf")] * 3
    for _ in range(rounds):
        whole, heads = layer_matrices(first), head_matrices(first)
        times = (
            seconds(lambda: [np.linalg.eigvals(matrix) for matrix in whole]),  # noqa: B023 - called at once
            seconds(lambda: [np.linalg.eigvals(matrix) for matrix in heads]),  # noqa: B023
            seconds(lambda: certified(first)),
        )
        best = [min(pair) for pair in zip(best, times, strict=True)]
    of_layer, of_heads, ours = best
    note = f"{len(whole) + len(heads)} matrices; {ours / of_layer:.3g} times F and S alone"
    what = f"certificates of layer 0 of {name} / eigvals of all its matrices"
    return at_most(what, f"d = {first.d}, {len(first.heads)} heads", Times(of_layer + of_heads, ours), RATIO, note)


def model(name: str, limit: float | None, recheck_limit: float | None) -> Iterator[Row]:
    """``check`` beside numpy floats, and ``recheck`` beside ``check``, as processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        report_file = str(Path(folder) / "report.json")
        spectra = run([sys.executable, str(PEER), f"sample:{name}"])
        floats = run([sys.executable, str(PEER), f"sample:{name}", "--reported"])
        checked = run(command("check", f"sample:{name}", "--work", folder, "--quiet", "--jobs", "1", "-o", report_file))
        if floats.code or spectra.code or checked.code:
            raise SystemExit(
                f"check of sample:{name} ended with {checked.code}, its peers with {floats.code}, {spectra.code}"
            )
        note = f"{checked.wall:.3g} s on the clock, {checked.memory / 2**20:.0f} MB"
        what = f"check of {name} / numpy floats for spectra and norms alone"
        yield at_most(what, "", Times(spectra.seconds, checked.seconds), limit, note)
        what = f"check of {name} / numpy floats for all that it reports"
        yield at_most(what, "", Times(floats.seconds, checked.seconds), None)
        if recheck_limit is not None:
            again = run(command("recheck", report_file))
            if again.code:
                raise SystemExit(f"recheck of sample:{name} ended with {again.code}")
            times = Times(checked.seconds, again.seconds)
            yield at_most(f"recheck of the report of {name} / check", "", times, recheck_limit)


def rows(names: list[str], rounds: int, slow: bool) -> Iterator[Row]:
    for name in names:
        yield layer(name, rounds)
    for name in names:
        yield from model(name, 2.5 if name in {"minilm", "rxnmapper"} else None, 2.0)
    if slow:
        yield from model("smollm2", 2.5, None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", default="glassllm,rxnmapper,minilm")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow", action="store_true", help="also smollm2 (93 MB, some minutes)")
    chosen = parser.parse_args()
    report(rows(chosen.samples.split(","), chosen.rounds, chosen.slow))
    return 0


if __name__ == "__main__":
    sys.exit(main())
