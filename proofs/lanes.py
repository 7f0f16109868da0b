"""Work in several processes, of which each keeps what it found: tasks that share results go to one process, in order.

A proof recalls others, and a process proves what it recalls: what hangs together is proved once where it stays together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

__all__ = ["in_lanes", "lanes_of"]

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


def in_lanes(lanes: Sequence[Sequence[Task]], shared: Iterable[Task], work: Callable[[Task], Found]) -> Iterator[Found]:
    """What the work finds for each task, as it is found; a process a lane.

    A process that has done its lane takes shared tasks, and then the last ones of the longest lane that is left.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    own, rest = [deque(lane) for lane in lanes], deque(shared)

    def following(place: int) -> deque[Task]:
        return own[place] or rest or max(own, key=len)

    pools = [ProcessPoolExecutor(max_workers=1, env=ENVIRONMENT, initializer=keep_what_was_found) for _ in lanes]
    running: dict[Future[Found], int] = {}
    try:
        for place, pool in enumerate(pools):
            if tasks := following(place):
                running[pool.submit(work, _taken(tasks, tasks is own[place] or tasks is rest))] = place
        while running:
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                place = running.pop(done)
                if tasks := following(place):
                    running[pools[place].submit(work, _taken(tasks, tasks is own[place] or tasks is rest))] = place
                yield done.result()
    finally:
        for pool in pools:
            pool.shutdown(wait=True, kill_workers=True)


def keep_what_was_found() -> None:
    """In a process of a lane: what it found stays, though it grows.  loky would take 300 MB more for a leak, and begin anew.

    So the collector need not look for what is lost after every 700 objects.
    """
    import gc

    from joblib.externals.loky import process_executor

    process_executor._MEMORY_LEAK_CHECK_DELAY = float("inf")
    gc.set_threshold(50_000, 20, 20)


def _taken(tasks: deque[Task], first: bool) -> Task:
    return tasks.popleft() if first else tasks.pop()
