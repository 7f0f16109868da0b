"""Pieces of work: some seeds of one generator, by the pool that check, refute, verify and reproduce have, too."""

from __future__ import annotations

import time
import traceback
import warnings
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.numerics.pool import Lost, Pool

from .judging import Domain
from .state import WORDS, Count, State
from .state import commit as commit_here


@cache
def domains() -> tuple[Domain, ...]:
    """Every domain, in the order of the table."""
    from . import documents, lab, layers, pairs, points, signs, spectra

    return tuple(module.DOMAIN for module in (signs, spectra, pairs, points, layers, lab, documents))


def run_seeds(domain: str, generator: str, first: int, count: int, commit: str) -> tuple[Count, list[str]]:
    """The cases of ``count`` seeds.  An exception of the toolkit is a false case too: it is no answer."""
    chosen = next(each for each in domains() if each.name == domain)
    make = chosen.generators[generator]
    piece = Count(domain, generator, commit, first, first + count)
    wrong = []
    start = time.process_time()
    for seed in range(first, first + count):
        rng = np.random.default_rng([zlib.crc32(f"{domain}/{generator}".encode()), seed])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                for case in make(rng):
                    name = case.answer if case.answer in WORDS else "other"
                    setattr(piece, name, getattr(piece, name) + 1)
                    if case.false:
                        piece.false += 1
                        wrong.append(f"{domain} / {generator} / seed {seed}: {case.false}")
        except Exception as problem:
            piece.other += 1
            piece.false += 1
            place = traceback.extract_tb(problem.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            wrong.append(f"{domain} / {generator} / seed {seed}: {type(problem).__name__}: {problem} ({where})")
    piece.seconds = time.process_time() - start
    return piece, wrong


#: A domain, one of its generators, the first of some seeds, how many there are, and the commit.
Piece = tuple[str, str, int, int, str]


class Plan:
    """Which piece is next: the domain that is farthest behind its share, its generators in turn."""

    def __init__(self, chosen: Sequence[Domain], state: State, cases: int) -> None:
        self.chosen, self.state = chosen, state
        whole = sum(domain.share for domain in chosen)
        self.wanted = {domain.name: cases * domain.share / whole for domain in chosen}
        self.seeds = {(d.name, g): state.next_seed(d.name, g) for d in chosen for g in d.generators}
        self.expected = {d.name: float(state.cases(d.name)) for d in chosen}
        self.done = {(d.name, g): 0.0 for d in chosen for g in d.generators}
        for each in state.counts:
            if (each.domain, each.generator) in self.done:
                self.done[each.domain, each.generator] += each.cases

    def next(self, commit: str) -> Piece | None:
        """The next piece, or None when every share is reached."""
        open_ones = [d for d in self.chosen if self.expected[d.name] < self.wanted[d.name]]
        if not open_ones:
            return None
        domain = min(open_ones, key=lambda d: self.expected[d.name] / self.wanted[d.name])
        generator = min(domain.generators, key=lambda g: self.done[domain.name, g] / domain.weights.get(g, 1.0))
        first = self.seeds[domain.name, generator]
        left = self.wanted[domain.name] - self.expected[domain.name]
        per_seed = max(1.0, self.done[domain.name, generator] / first) if first else 1.0
        count = int(max(1, min(domain.seeds_at_once, left / per_seed)))
        self.seeds[domain.name, generator] = first + count
        self.expected[domain.name] += count * per_seed
        self.done[domain.name, generator] += count * per_seed
        return domain.name, generator, first, count, commit

    def came(self, piece: Count) -> None:
        """Correct the estimate by what the piece had."""
        running = self.expected[piece.domain] - self.state.cases(piece.domain)
        self.expected[piece.domain] = self.state.cases(piece.domain) + max(0.0, running - piece.cases)
        own = [
            each.cases for each in self.state.counts if (each.domain, each.generator) == (piece.domain, piece.generator)
        ]
        self.done[piece.domain, piece.generator] = float(sum(own))


def run(
    chosen: Sequence[Domain],
    state: State,
    path: Path | None,
    *,
    cases: int,
    until: float,
    commit: str,
    advance: Any,
    pool: Pool,
) -> bool:
    """Work until the cases are reached, the time is over or the user interrupts; True if the cases were reached.

    Pieces are counted in the order in which they were given out, so that no seed is left behind that did not come: what an
    interruption cuts off is run again.
    """
    plan = Plan(chosen, state, cases)
    order: deque[Piece] = deque()
    came: dict[Piece, tuple[Count, list[str]]] = {}

    def pieces() -> Iterator[Piece]:
        while time.time() < until and (piece := plan.next(commit)) is not None:
            order.append(piece)
            yield piece

    with pool:
        while time.time() < until:
            given = 0
            try:
                for piece, found in pool.lanes(_in_worker, [], pieces(), lambda task: f"{task[0]}: {task[1]}"):
                    if isinstance(found, Lost):
                        raise ValueError(f"{piece[0]}, {piece[1]}: it ended each worker ({found.why})")
                    came[piece] = found
                    given += 1
                    while order and order[0] in came:
                        _count_in(plan, state, path, *came.pop(order.popleft()), advance)
            except KeyboardInterrupt:
                return False
            if not given:  # all that was planned has come, and no share is behind
                return time.time() < until
    return False


@cache
def _commit_of_worker() -> str:
    return commit_here()


def _in_worker(domain: str, generator: str, first: int, count: int, commit: str) -> tuple[Count, list[str]]:
    """A piece by a worker, where the same commit must lie."""
    if _commit_of_worker() != commit:
        raise ValueError(
            f"a worker has another commit ({_commit_of_worker()}) than this run ({commit}): check out the same there"
        )
    return run_seeds(domain, generator, first, count, commit)


def _count_in(plan: Plan, state: State, path: Path | None, piece: Count, wrong: list[str], advance: Any) -> None:
    state.add(piece, wrong)
    plan.came(piece)
    if path is not None:
        state.save(path)
    advance(piece.cases, f"{piece.domain}: {piece.generator}")
