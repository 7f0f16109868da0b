"""Tasks over the cores of this machine or of a cluster: the one back end of ``check``, ``refute``, ``verify``, ``reproduce`` and
of the runs for soundness.

``loky`` (processes of this machine, through joblib) is the default; ``dask`` takes the address of a scheduler; ``slurm`` asks
SLURM for workers as there are tasks, at most ``jobs`` of them (dask-jobqueue, which reads queue, memory and time from its own
file). A task is a pure function of its arguments, so a lost worker loses nothing: dask runs the task again elsewhere, and for
loky a broken pool is replaced and the tasks that have not come back are run again, one by one, so that a task that kills its
worker each time is found out, comes back as :class:`Lost` with the reason (``Pool.lost``), and takes no other with it.

:meth:`Pool.map` has its tasks before it begins; :meth:`Pool.lanes` keeps tasks that share results in one process, and asks for
the others when there is room.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar, cast

from eigentoken.numerics.lanes import in_lanes, lost_workers

__all__ = ["BACKENDS", "ON_CLUSTER", "Lost", "Pool"]

BACKENDS = ("loky", "dask", "slurm", "sequential")
#: where tasks go to other machines
ON_CLUSTER = ("dask", "slurm")
#: of a SLURM worker, where dask-jobqueue's own file (``jobqueue: slurm: memory:``) says nothing
MEMORY = "8GB"
#: A task is given up when it has killed this many workers that did nothing else.
MOST_DEATHS = 2
#: what bounds the threads of a worker, as joblib does for its own
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

Task = tuple[object, ...]
Result = TypeVar("Result")
Unit = TypeVar("Unit", bound=Task)


@dataclass(frozen=True)
class Lost:
    """In place of the result of a task that killed each worker that tried it."""

    why: str


class Pool(AbstractContextManager["Pool"]):
    """Workers for tasks; used as a context so that connections are closed."""

    def __init__(self, jobs: int = 1, backend: str = "loky", address: str | None = None) -> None:
        if backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
        if backend == "dask" and not address:
            raise ValueError(
                "the dask backend needs the address of a scheduler, such as tcp://127.0.0.1:8786: give address"
            )
        if address and backend != "dask":
            raise ValueError(
                f"address is that of a dask scheduler: leave it out beside {backend}, or give backend dask"
            )
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        self.jobs, self.backend, self.address = jobs, backend, address
        self.lost: list[str] = []
        "What became of workers that were lost, and of their tasks."
        self._client: Any = None
        self._cluster: Any = None
        self._single: Any = None

    def __enter__(self) -> Pool:
        if self.backend == "dask":
            try:
                from distributed import Client
            except ImportError:
                raise ValueError("the dask backend needs the package distributed (pip install distributed)") from None
            try:
                self._client = Client(self.address, timeout=20)
            except (OSError, TimeoutError, ValueError) as problem:
                raise ValueError(
                    f"address: no dask scheduler answers at {self.address} ({type(problem).__name__}): start one with `dask "
                    "scheduler`"
                ) from None
        if self.backend == "slurm":
            self._cluster, self._client = _by_slurm(self.jobs)
        return self

    def __exit__(self, *problem: object) -> None:
        self._close_single()
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None

    @property
    def width(self) -> int:
        """How many tasks are worth sending at once."""
        if self._client is not None and self._cluster is None:
            return max(2, 2 * sum(self._client.nthreads().values()))
        return 1 if self.jobs == 1 and self._cluster is None else 2 * self.jobs

    @property
    def alone(self) -> bool:
        """Is the work done here, without other processes?"""
        return self.backend == "sequential" or (self.backend == "loky" and self.jobs == 1)

    def warm(self, prepare: Callable[[], object]) -> None:
        """Start the processes of this machine with a call that imports what the tasks need."""
        if not self.alone and self.backend == "loky":
            list(self._parallel(prepare, [(number,) for number in range(self.jobs)], ordered=True, bare=True))

    def map(
        self,
        function: Callable[..., Result],
        tasks: Sequence[Task],
        named: Callable[[Task], str],
        *,
        ordered: bool = True,
    ) -> Iterator[tuple[int, Result | Lost]]:
        """The place of each task with its result or :class:`Lost`, in the order of the tasks or, not ``ordered``, as they come.

        ``named`` says what a task is, for what is told of lost workers.
        """
        if self.alone:
            for place, task in enumerate(tasks):
                yield place, function(*task)
            return
        done: set[int] = set()
        try:
            for place, result in self._parallel(function, list(enumerate(tasks)), ordered=ordered):
                done.add(place)
                yield place, result
        except lost_workers() as problem:
            self._note(problem, "its units were run again")
            for place, task in enumerate(tasks):
                if place not in done:
                    yield place, self._alone(function, task, named(task))

    @property
    def processes(self) -> int:
        """How many tasks are worked on at the same time."""
        return 1 if self.alone else self.jobs if self._client is None else max(1, self.width // 2)

    def lanes(
        self,
        function: Callable[..., Result],
        lanes: Sequence[Sequence[Unit]],
        shared: Iterable[Unit],
        named: Callable[[Unit], str],
    ) -> Iterator[tuple[Unit, Result | Lost]]:
        """Each task with its result or :class:`Lost`, as they come.

        The tasks of a lane are done by one worker, in order, so that it has what it found for those before.  The ``shared``
        tasks go to whoever is free; where they are no sequence, each is asked for when there is room for it.
        """
        if self.alone:
            for task in chain(chain.from_iterable(lanes), shared):
                yield task, function(*task)
        elif self._client is None:
            work: Callable[[Unit], Result | Lost] = partial(_on, function)
            here: list[Sequence[Unit]] = [*lanes, *([] for _ in range(self.jobs - len(lanes)))]
            yield from in_lanes(here, shared, work, partial(self._died, named))
        else:
            yield from self._lanes_by_dask(function, lanes, shared, named)

    def _died(self, named: Callable[[Unit], str], problem: BaseException, task: Unit, deaths: int) -> Lost | None:
        """What stands in place of a result; nothing where the task is tried again."""
        last = deaths == MOST_DEATHS
        self._note(problem, f"{named(task)} was given up" if last else f"{named(task)} was run again")
        return Lost(self.lost[-1]) if last else None

    def _lanes_by_dask(
        self,
        function: Callable[..., Result],
        lanes: Sequence[Sequence[Unit]],
        shared: Iterable[Unit],
        named: Callable[[Unit], str],
    ) -> Iterator[tuple[Unit, Result | Lost]]:
        """A lane is one task of the cluster; one whose worker died each time is done again, task by task."""
        from distributed import as_completed

        sent: dict[str, tuple[Any, Sequence[Unit]]] = {}
        rest = iter(shared)

        def room() -> int | None:
            """How many shared tasks are sent now: all, where they are known, so that a cluster sees that it must grow."""
            return None if isinstance(shared, Sequence) else max(0, self.width - len(sent))

        def send(tasks: Sequence[Unit]) -> Any:
            future = self._client.submit(_row, function, tasks, pure=False)
            sent[future.key] = future, tasks
            return future

        running = as_completed([send(lane) for lane in lanes if lane])
        try:
            running.update([send([task]) for task in islice(rest, room())])
            for future in running:
                tasks = sent.pop(future.key)[1]
                try:
                    found: Iterable[tuple[Unit, Result | Lost]] = zip(tasks, future.result(), strict=True)
                except lost_workers() as problem:
                    self._note(problem, "what it did was run again, one by one")
                    found = ((task, self._alone(function, task, named(task))) for task in tasks)
                yield from found
                running.update([send([task]) for task in islice(rest, room())])
        finally:
            self._client.cancel([future for future, _ in sent.values()])

    def _alone(self, function: Callable[..., Result], task: Task, what: str) -> Result | Lost:
        """One task in a worker of its own."""
        for death in range(1, MOST_DEATHS + 1):
            try:
                found = self._by_one(function, task)
            except lost_workers() as problem:
                last = death == MOST_DEATHS
                self._note(problem, f"{what} was given up" if last else f"{what} was run again")
            else:
                return found
        return Lost(self.lost[-1])

    def _by_one(self, function: Callable[..., Result], task: Task) -> Result:
        """The task in one process of this machine, and not in as many as there are jobs; or wherever dask puts it."""
        if self.backend != "loky":
            ((_, found),) = self._parallel(function, [(0, task)], ordered=True)
            return cast(Result, found)
        if self._single is None:
            from joblib.externals.loky import ProcessPoolExecutor

            self._single = ProcessPoolExecutor(max_workers=1, env=dict.fromkeys(THREADS, "1"))
        try:
            return cast(Result, self._single.submit(function, *task).result())
        except lost_workers():
            self._close_single()
            raise

    def _close_single(self) -> None:
        if self._single is not None:
            self._single.shutdown(wait=True, kill_workers=True)
            self._single = None

    def _note(self, problem: BaseException, then: str) -> None:
        signals = re.findall(r"SIG[A-Z]+\(-?\d+\)", str(problem))
        how = f" ({', '.join(dict.fromkeys(signals))})" if signals else f" ({type(problem).__name__})"
        self.lost.append(f"a worker was lost{how}: {then}")

    def _parallel(
        self, function: Callable[..., Any], work: Sequence[tuple[Any, ...]], *, ordered: bool, bare: bool = False
    ) -> Iterator[Any]:
        if self._client is not None:
            yield from self._by_dask(function, work, ordered=ordered)
            return
        from joblib import Parallel, delayed, parallel_config

        calls = (delayed(function)() for _ in work) if bare else (delayed(_placed)(function, *each) for each in work)
        with parallel_config(backend=self.backend, n_jobs=self.jobs, inner_max_num_threads=1):
            yield from Parallel(return_as="generator" if ordered else "generator_unordered", batch_size=1)(calls)

    def _by_dask(
        self, function: Callable[..., Any], work: Sequence[tuple[Any, ...]], *, ordered: bool
    ) -> Iterator[Any]:
        """All tasks stand in the scheduler's queue at once, so that a cluster that grows sees how much there is to do.

        Not through joblib: it counts the workers at the beginning, and works here where it finds a single one.
        """
        from distributed import as_completed

        sent = [self._client.submit(_placed, function, *each, pure=False) for each in work]
        try:
            for future in sent if ordered else as_completed(sent):
                yield future.result()
        finally:
            self._client.cancel(sent)


def _by_slurm(jobs: int) -> tuple[Any, Any]:
    """A cluster whose workers are jobs of SLURM with one core each, none without tasks and at most so many; and its client."""
    try:
        import dask
        from dask_jobqueue.slurm import SLURMCluster
        from distributed import Client
    except ImportError:
        raise ValueError(
            "the slurm backend needs the package dask-jobqueue (pip install 'eigentoken[slurm]')"
        ) from None
    memory = dask.config.get("jobqueue.slurm.memory", None) or MEMORY
    before = [*dask.config.get("jobqueue.slurm.job-script-prologue", ()), *(f"export {name}=1" for name in THREADS)]
    try:
        free = {"dashboard_address": ":0"}  # of whatever number is free: older versions refuse a port that is taken
        cluster = SLURMCluster(cores=1, processes=1, memory=memory, job_script_prologue=before, scheduler_options=free)
    except (OSError, RuntimeError, TimeoutError, ValueError) as problem:
        raise ValueError(
            f"backend slurm: no scheduler could be started ({type(problem).__name__}: {problem})"
        ) from None
    if reason := _refused_by_slurm(cluster.job_script()):
        cluster.close()
        raise ValueError(f"backend slurm: no worker can be asked for: {reason}")
    cluster.adapt(minimum=0, maximum=jobs)
    return cluster, Client(cluster, timeout=20)


def _refused_by_slurm(script: str) -> str:
    """Why SLURM would not take this job, asked without sending it; empty where it would.  A refused job is waited for in vain."""
    try:
        asked = subprocess.run(["sbatch", "--test-only"], input=script, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        return "sbatch is not on the PATH: run this on a machine that submits to SLURM"
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"sbatch does not answer ({type(problem).__name__})"
    return "" if asked.returncode == 0 else (asked.stderr.strip().splitlines() or ["sbatch refuses the job"])[-1]


def _on(function: Callable[..., Result], task: Task) -> Result:
    return function(*task)


def _row(function: Callable[..., Result], tasks: Sequence[Task]) -> list[Result]:
    """The results of several tasks, by one worker."""
    return [function(*task) for task in tasks]


def _placed(function: Callable[..., Any], place: int, task: Task) -> tuple[int, Any]:
    """A result with its place."""
    return place, function(*task)
