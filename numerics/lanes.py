"""Work in several processes, of which each keeps what it found: tasks that share results go to one process, in order.

A proof recalls others, and a process proves what it recalls: what hangs together is proved once where it stays together.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache
from typing import TypeVar

__all__ = ["in_lanes", "lanes_of", "lost_workers"]

Task = TypeVar("Task")
Found = TypeVar("Found")
#: One thread a process: there are as many processes as cores; and room for what sympy found before.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ENVIRONMENT = {**dict.fromkeys(THREADS, "1"), "SYMPY_CACHE_SIZE": "20000"}


def lanes_of(
    names: Sequence[str], rests_on: Mapping[str, Iterable[str]], cost: Callable[[str], float], count: int
) -> list[list[str]]:
    """The names in so many lanes: what hangs together is in one, in the order given, and the lanes are about equally long.

    >>> lanes_of(["a", "b", "c", "d"], {"d": ["a"]}, lambda name: 1.0, 2)
    [['a', 'd'], ['b', 'c']]
    """
    group = {name: {name} for name in names}
    for name in names:
        for other in rests_on.get(name, ()):
            if other in group and group[other] is not group[name]:
                group[name] |= group[other]
                for member in group[name]:
                    group[member] = group[name]
    different = {id(each): each for each in group.values()}.values()
    lanes: list[set[str]] = [set() for _ in range(count)]
    for each in sorted(different, key=lambda some: (-sum(map(cost, some)), min(some))):
        min(lanes, key=lambda lane: sum(map(cost, lane))).update(each)
    return [[name for name in names if name in lane] for lane in lanes]


@cache
def lost_workers() -> tuple[type[BaseException], ...]:
    """What is raised where a worker died."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    kinds: list[type[BaseException]] = [TerminatedWorkerError]
    try:
        from distributed.scheduler import KilledWorker

        kinds.append(KilledWorker)
    except ImportError:
        pass
    return tuple(kinds)


def in_lanes(
    lanes: Sequence[Sequence[Task]],
    shared: Iterable[Task],
    work: Callable[[Task], Found],
    died: Callable[[BaseException, Task, int], Found | None],
) -> Iterator[tuple[Task, Found]]:
    """Each task with what the work finds for it, as it is found; a process a lane.

    A process that has done its lane takes shared tasks, and then the last ones of the longest lane that is left.  One that
    dies is replaced; ``died`` is told of it, with the task and how often that has ended a process, and says what stands in
    place of the result, or ``None``: then the task is tried again.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    own, rest = [deque(lane) for lane in lanes], iter(shared)
    pools = [ProcessPoolExecutor(1, env=ENVIRONMENT, initializer=keep_what_was_found) for _ in lanes]
    running: dict[Future[Found], tuple[int, Task, int]] = {}

    def following(place: int) -> list[Task]:
        """The next task of a process, or none."""
        if own[place]:
            return [own[place].popleft()]
        for task in rest:
            return [task]
        longest = max(own, key=len)
        return [longest.pop()] if longest else []

    def begin(place: int, task: Task, deaths: int = 0) -> None:
        running[pools[place].submit(work, task)] = place, task, deaths

    try:
        for place in range(len(pools)):
            for task in following(place):
                begin(place, task)
        while running:
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                place, task, deaths = running.pop(done)
                try:
                    found = done.result()
                except lost_workers() as problem:
                    pools[place].shutdown(wait=True, kill_workers=True)
                    pools[place] = ProcessPoolExecutor(1, env=ENVIRONMENT, initializer=keep_what_was_found)
                    instead = died(problem, task, deaths + 1)
                    if instead is None:
                        begin(place, task, deaths + 1)
                        continue
                    found = instead
                yield task, found
                for after in following(place):
                    begin(place, after)
    finally:
        for pool in pools:
            pool.shutdown(wait=True, kill_workers=True)


def keep_what_was_found() -> None:
    """In a process of a lane: what it found stays, though it grows.  loky would take 300 MB more for a leak, and begin anew.

    So the collector need not look for what is lost after every 700 objects.  An interruption of the user is for the process that
    gives the work out: it ends this one.
    """
    import gc

    from joblib.externals.loky import process_executor

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process_executor._MEMORY_LEAK_CHECK_DELAY = float("inf")
    gc.set_threshold(50_000, 20, 20)
