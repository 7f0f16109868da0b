"""Many cores and clusters, through joblib: independent seeded units, results in the order of the units.

``loky`` (processes of this machine) is the default; ``dask`` takes the address of a scheduler.  A unit is a pure function of
the conjecture and its seed, so a lost worker loses nothing: dask runs the unit again elsewhere, and for loky a broken pool
is replaced and the units that have not come back are run again, one by one, so that a unit that kills its worker each time is
found out, left out and named in the report (``Workers.lost``), and takes no other with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from eigentoken.numerics.lab.search import Unit, UnitResult, run_unit
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.readings import load as readings

__all__ = ["BACKENDS", "Workers"]

BACKENDS = ("loky", "dask", "sequential")
#: A unit is given up when it has killed this many workers that did nothing else.
MOST_DEATHS = 2
#: what bounds the threads of a worker, as joblib does for its own
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Workers(AbstractContextManager["Workers"]):
    """Workers for units; used as a context so that connections are closed."""

    def __init__(self, jobs: int = 1, backend: str = "loky", address: str | None = None) -> None:
        if backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
        if backend == "dask" and not address:
            raise ValueError(
                "the dask backend needs the address of a scheduler, such as tcp://127.0.0.1:8786: give address"
            )
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        self.jobs, self.backend, self.address = jobs, backend, address
        self.lost: list[str] = []
        "What became of workers that were lost, and of their units."
        self._client: Any = None
        self._single: Any = None

    def __enter__(self) -> Workers:
        if self.backend == "dask":
            from distributed import Client

            self._client = Client(self.address)
        return self

    def __exit__(self, *problem: object) -> None:
        self._close_single()
        if self._client is not None:
            self._client.close()
            self._client = None

    @property
    def width(self) -> int:
        """How many units are worth sending at once."""
        if self._client is not None:
            return max(2, 2 * sum(self._client.nthreads().values()))
        return 1 if self.jobs == 1 else 2 * self.jobs

    @property
    def alone(self) -> bool:
        """Is the work done here, without other processes?"""
        return self.backend == "sequential" or (self.backend == "loky" and self.jobs == 1)

    def warm(self) -> None:
        """Start the processes of this machine, so that their imports take no time of a search."""
        if not self.alone and self.backend == "loky":
            list(self._parallel(readings, [()] * self.jobs))

    def run(self, work: Sequence[tuple[Target, Unit]], end: float | None = None) -> Iterator[UnitResult]:
        """The results of the units, in their order; ``end`` is the time of the clock at which each of them stops."""
        if self.alone:
            for target, unit in work:
                yield run_unit(target, unit, end)
            return
        done = 0
        try:
            for result in self._parallel(run_unit, [(*each, end) for each in work]):
                done += 1
                yield result
        except _lost_workers() as problem:
            self._note(problem, "its units were run again")
            for target, unit in work[done:]:
                yield self._alone(target, unit, end)

    def _alone(self, target: Target, unit: Unit, end: float | None) -> UnitResult:
        """One unit in a worker of its own; empty, with the reason, where it kills each worker that tries it."""
        for death in range(1, MOST_DEATHS + 1):
            try:
                found = self._by_one(target, unit, end)
            except _lost_workers() as problem:
                last = death == MOST_DEATHS
                what = f"unit {unit.method} with seed {unit.seed}"
                self._note(problem, f"{what} was given up" if last else f"{what} was run again")
            else:
                return found
        return UnitResult(unit, 0, float("-inf"), error=self.lost[-1])

    def _by_one(self, target: Target, unit: Unit, end: float | None) -> UnitResult:
        """The unit in one process of this machine, and not in as many as there are jobs; or wherever dask puts it."""
        found: UnitResult
        if self.backend != "loky":
            (found,) = self._parallel(run_unit, [(target, unit, end)])
            return found
        if self._single is None:
            from joblib.externals.loky import ProcessPoolExecutor

            self._single = ProcessPoolExecutor(max_workers=1, env=dict.fromkeys(THREADS, "1"))
        try:
            found = self._single.submit(run_unit, target, unit, end).result()
        except _lost_workers():
            self._close_single()
            raise
        return found

    def _close_single(self) -> None:
        if self._single is not None:
            self._single.shutdown(wait=True, kill_workers=True)
            self._single = None

    def _note(self, problem: BaseException, then: str) -> None:
        signals = re.findall(r"SIG[A-Z]+\(-?\d+\)", str(problem))
        how = f" ({', '.join(dict.fromkeys(signals))})" if signals else f" ({type(problem).__name__})"
        self.lost.append(f"a worker was lost{how}: {then}")

    def _parallel(self, function: Any, work: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        from joblib import Parallel, delayed, parallel_config

        settings: dict[str, Any] = {"backend": self.backend}
        if self.backend == "loky":
            settings |= {"n_jobs": self.jobs, "inner_max_num_threads": 1}
        context: Any = parallel_config(**settings) if settings else nullcontext()
        with context:
            yield from Parallel(return_as="generator", batch_size=1)(delayed(function)(*each) for each in work)


def _lost_workers() -> tuple[type[BaseException], ...]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    kinds: list[type[BaseException]] = [TerminatedWorkerError]
    try:
        from distributed.scheduler import KilledWorker

        kinds.append(KilledWorker)
    except ImportError:
        pass
    return tuple(kinds)
