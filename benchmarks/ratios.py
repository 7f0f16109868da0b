"""Rows of a benchmark's table: our time beside a peer's in one run, the ratio, the target and whether it is met.

Processor time decides (a busy machine favours neither side); peer and ours alternate, and the best of several rounds of
each is compared.  ``tools/benchmarks.py --compare`` reads the tables that :func:`report` prints.

A process of its own finds the byte code of the package written, as an installation leaves it, and as it finds that of its peers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["Row", "Run", "Times", "alternate", "at_least", "at_most", "command", "report", "run", "shown"]

HEADER = "| what | size | peer | ours | ratio | target | | note |\n| --- | --- | --- | --- | --- | --- | --- | --- |"


@dataclass(frozen=True)
class Row:
    """One comparison; ``ratio`` is ours over the peer's, and the other way round where the target is "at least"."""

    what: str
    size: str
    peer: float | None
    ours: float | None
    ratio: float
    target: str = ""
    met: bool | None = None
    note: str = ""

    def markdown(self) -> str:
        word = {True: "met", False: "**missed**", None: ""}[self.met]
        cells = (
            self.what,
            self.size,
            shown(self.peer),
            shown(self.ours),
            f"{self.ratio:.3g}",
            self.target,
            word,
            self.note,
        )
        return "| " + " | ".join(cells) + " |"


def shown(seconds: float | None) -> str:
    """Seconds as a text."""
    return "" if seconds is None else f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


@dataclass(frozen=True)
class Times:
    """Best processor seconds of the peer and of ours."""

    peer: float
    ours: float


def alternate(peer: Callable[[], object], ours: Callable[[], object], rounds: int) -> Times:
    """Best times of both, in alternation."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for k, each in enumerate((peer, ours)):
            start = time.process_time()
            each()
            best[k] = min(best[k], time.process_time() - start)
    return Times(*best)


def at_most(what: str, size: str, times: Times, limit: float | None, note: str = "") -> Row:
    ratio = times.ours / times.peer
    target = "" if limit is None else f"<= {limit:g}"
    return Row(what, size, times.peer, times.ours, ratio, target, None if limit is None else ratio <= limit, note)


def at_least(what: str, size: str, times: Times, limit: float | None, note: str = "") -> Row:
    ratio = times.peer / times.ours
    target = "times faster" if limit is None else f">= {limit:g} times faster"
    return Row(what, size, times.peer, times.ours, ratio, target, None if limit is None else ratio >= limit, note)


def report(rows: Iterable[Row]) -> list[Row]:
    """Print the table as its rows come, and what missed its target."""
    print(HEADER, flush=True)
    found = []
    for row in rows:
        found.append(row)
        print(row.markdown(), flush=True)
    missed = [f"{row.what}{f' at {row.size}' if row.size else ''}" for row in found if row.met is False]
    print(f"\nMissed: {'; '.join(missed) if missed else 'none'}.", flush=True)
    return found


@dataclass(frozen=True)
class Run:
    """One process, with its workers: processor and wall seconds, its largest resident memory in bytes."""

    seconds: float
    wall: float
    memory: int
    code: int


@lru_cache(maxsize=1)
def environment() -> dict[str, str]:
    """One BLAS thread, and the byte code of the package written once (its rooms are links in a checkout)."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | threads
    spec = find_spec("eigentoken")
    package = Path(next(iter(spec.submodule_search_locations or ()))) if spec else Path(__file__).parent
    rooms = [package, *(each.resolve() for each in package.iterdir() if each.is_symlink())]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *map(str, rooms)], env=found, check=False)
    return found


def run(arguments: Sequence[str], *, quiet: bool = True) -> Run:
    """A new process with one BLAS thread."""
    found = environment()
    start = time.perf_counter()
    gone = subprocess.DEVNULL if quiet else None
    process = subprocess.Popen(arguments, env=found, stdout=gone, stderr=gone)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss * unit, process.returncode)


def command(*arguments: str) -> list[str]:
    """``eigentoken ...`` in this Python."""
    return [sys.executable, "-m", "eigentoken", *arguments]
