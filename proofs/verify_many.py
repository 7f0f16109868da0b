"""Many statements verified in parallel: what recalls each other by one worker, the random instances by whoever is free.

With a folder each half of a statement is kept there as it comes, in a line that carries a sha256 of itself, of the text of the
statement, of the code and of the options: an interruption, a lost worker or a full disk costs what had not come, and two runs in
one folder add their lines beside each other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from eigentoken.files.installed import text_digest
from eigentoken.files.writing import append_line, opened, sealed
from eigentoken.numerics.lanes import lanes_of
from eigentoken.numerics.pool import Lost, Pool
from eigentoken.proofs.verify import (
    PROPERTY_INSTANCES,
    Line,
    Verified,
    evidence_of,
    proof_lines,
    property_lines,
)
from eigentoken.theory.statements.registry import statements

__all__ = ["How", "verify_many"]

LIBRARIES = ("sympy", "mpmath", "numpy", "scipy", "torch", "python-flint", "z3-solver", "cvc5")


class How(NamedTuple):
    """What :func:`verify` is asked with."""

    instances: int
    second: bool
    seed: int
    printed: bool


#: Of a statement the proof (true) or the random instances.
Task = tuple[str, bool, How]


def verify_many(
    ids: Sequence[str] = (),
    *,
    instances: int = PROPERTY_INSTANCES,
    second: bool = True,
    seed: int = 0,
    jobs: int = 1,
    printed: bool = False,
    backend: str = "loky",
    address: str | None = None,
    work: str | Path | None = None,
    done: Callable[[], None] = lambda: None,
    watch: Callable[[Verified], None] = lambda _: None,
) -> list[Verified]:
    """Verify the statements of these ids (all, if none is given), in parallel processes, in the order asked.

    ``printed``: only what printing needs, without the derivation by hand that a statement may have beside its proof, and
    without the second opinions where evidence of exactly this text, of the kernel and of the solvers records that they agree.
    ``backend="dask"`` with the ``address`` of a scheduler, or ``"slurm"``: by the workers of a cluster
    (:class:`~eigentoken.numerics.pool.Pool`), which must have the same text of each statement.  ``work`` is a folder in which
    each half of a statement is kept as it comes: what is there for exactly this text and these options is not done again.
    ``watch`` is told each result as it comes, before ``done`` is called.
    """
    how = How(instances, second, seed, printed)
    registry = statements()
    chosen = [registry.get(each).id for each in ids] or [each.id for each in registry]
    kept = None if work is None else VerifiedBefore(Path(work), how, chosen)
    found: dict[str, dict[bool, Verified]] = {}
    for name, proof, part in _halves(chosen, how, Pool(jobs, backend, address), kept):
        found.setdefault(name, {})[proof] = part
        if len(found[name]) == 2:
            watch(_together(found[name][True], found[name][False]))
            for _ in range(chosen.count(name)):
                done()
    return [_together(found[each][True], found[each][False]) for each in chosen]


def _together(proof: Verified, properties: Verified) -> Verified:
    return replace(proof, lines=proof.lines + properties.lines, tested=properties.tested, unseen=properties.unseen)


#: Of a statement the proof (true) or the random instances, and what was found.
_Half = tuple[str, bool, Verified]


def _halves(chosen: Sequence[str], how: How, pool: Pool, kept: VerifiedBefore | None) -> Iterator[_Half]:
    """The halves of the statements as they come, those that are kept first.

    The proofs that recall each other are a lane of the pool, the random instances are for whoever is free.  What killed its
    worker each time is a line that is not good, and is not kept.
    """
    different = list(dict.fromkeys(chosen))
    before: Mapping[tuple[str, bool], Verified] = {} if kept is None else kept.halves
    yield from ((name, proof, half) for (name, proof), half in before.items())
    proofs, draws = ([name for name in different if (name, proof) not in before] for proof in (True, False))
    if not (proofs or draws):
        return
    with pool:
        if pool.alone:
            lanes: list[list[Task]] = [
                [(name, proof, how) for name in different for proof in (True, False) if (name, proof) not in before]
            ]
            shared: list[Task] = []
        else:
            rests_on = {name: statements().get(name).depends for name in different}
            cut = lanes_of(proofs, rests_on, _questions, pool.processes)
            lanes = [[(name, True, how) for name in lane] for lane in cut]
            longest = sorted(draws, key=lambda name: (_runs(name), _questions(name)), reverse=True)
            shared = [(name, False, how) for name in longest]
        for (name, proof, _), found in pool.lanes(_part, lanes, shared, _named):
            if isinstance(found, Lost):
                line = Line("worker", "proofs" if proof else "random instances", "undecided", found.why)
                yield name, proof, Verified(name, _digest(name), (line,))
                continue
            if found.digest != _digest(name):
                raise ValueError(
                    f"{pool.backend}: a worker has another text of {name}: install the same version there, and again"
                )
            if kept is not None:
                kept.keep(name, proof, found)
            yield name, proof, found


class VerifiedBefore:
    """The halves of statements that a folder has for exactly their text and these options."""

    def __init__(self, folder: Path, how: How, chosen: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.how = folder / "verified.jsonl", how
        self.halves: dict[tuple[str, bool], Verified] = {}
        wanted = {name: self._binding(name) for name in chosen}
        for line in self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else ():
            for name in wanted if line.endswith(b"\n") else ():
                if f'"id": "{name}"'.encode() in line and (entry := opened(line, wanted[name])) is not None:
                    self.halves[name, bool(entry["proof"])] = _half_of(name, entry)

    def _binding(self, name: str) -> str:
        return json.dumps([_code(), *self.how, _digest(name)])

    def keep(self, name: str, proof: bool, half: Verified) -> None:
        lines = [line.as_dict() for line in half.lines]
        document = {"id": name, "proof": proof, "lines": lines, "tested": half.tested, "unseen": half.unseen}
        append_line(self.path, sealed(document, self._binding(name)))


@lru_cache(maxsize=1)
def _code() -> str:
    """sha256 of the code that proves and draws, and of the libraries that it asks."""
    import eigentoken.numerics
    import eigentoken.proofs
    import eigentoken.theory

    return text_digest((eigentoken.theory, eigentoken.numerics, eigentoken.proofs), LIBRARIES)


def _half_of(name: str, entry: Mapping[str, Any]) -> Verified:
    lines = tuple(
        Line(**{"answer" if part == "word" else part: each for part, each in line.items()}) for line in entry["lines"]
    )
    return Verified(name, _digest(name), lines, entry["tested"], entry["unseen"])


def _named(task: Task) -> str:
    return f"{task[0]}, {'proofs' if task[1] else 'random instances'},"


def _questions(name: str) -> int:
    """How long a proof is, told by the questions to solvers that are recorded."""
    known = evidence_of(statements().get(name))
    return 1 + known.second if known else 1


def _digest(name: str) -> str:
    return statements().digest(statements().get(name))


def _runs(name: str) -> int:
    """How many times trajectories are followed for its claims, so that the longest work is not begun last."""
    from eigentoken.proofs.properties.property import follows_trajectories

    told = statements().get(name)
    return sum(map(follows_trajectories, told.claims)) * len(told.systems)


def _part(name: str, proof: bool, how: How) -> Verified:
    """One half of :func:`verify`: of a statement the proof, or the random instances."""
    statement = statements().get(name)
    digest = statements().digest(statement)
    if proof:
        return Verified(name, digest, tuple(proof_lines(statement, how.second, how.printed)))
    tested, unseen, lines = property_lines(statement, how.instances, how.seed) if how.instances else (0, 0, [])
    return Verified(name, digest, tuple(lines), tested, unseen)
