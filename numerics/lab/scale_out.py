"""Units of a search over many cores and clusters: the pool of :mod:`eigentoken.numerics.pool`, results in the order of the units.

A unit is a pure function of the conjecture and its seed; one that kills its worker each time is left out and named in the report
(``Workers.lost``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import cast

from eigentoken.numerics.lab.gathering import Unit, UnitResult
from eigentoken.numerics.lab.search import run_unit
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.pool import BACKENDS, Lost, Pool, Task
from eigentoken.numerics.readings import load as readings

__all__ = ["BACKENDS", "Workers"]


class Workers(AbstractContextManager["Workers"]):
    """Workers for units; used as a context so that connections are closed."""

    def __init__(self, jobs: int = 1, backend: str = "loky", address: str | None = None) -> None:
        self._pool = Pool(jobs, backend, address)

    def __enter__(self) -> Workers:
        self._pool.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._pool.__exit__(*problem)

    @property
    def lost(self) -> list[str]:
        """What became of workers that were lost, and of their units."""
        return self._pool.lost

    @property
    def width(self) -> int:
        """How many units are worth sending at once."""
        return self._pool.width

    @property
    def alone(self) -> bool:
        """Is the work done here, without other processes?"""
        return self._pool.alone

    def warm(self) -> None:
        """Start the processes of this machine, so that their imports take no time of a search."""
        self._pool.warm(readings)

    def run(self, work: Sequence[tuple[Target, Unit]], end: float | None = None) -> Iterator[UnitResult]:
        """The results of the units, in their order; ``end`` is the time of the clock at which each of them stops."""
        tasks = [(*each, end) for each in work]
        for place, found in self._pool.map(run_unit, tasks, _named):
            unit = work[place][1]
            yield UnitResult(unit, 0, float("-inf"), error=found.why) if isinstance(found, Lost) else found


def _named(task: Task) -> str:
    unit = cast(Unit, task[1])
    return f"unit {unit.method} with seed {unit.seed}"
