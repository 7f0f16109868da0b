"""What was run: counts by domain, generator and commit, in a file that is replaced as a whole after each piece of work."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from eigentoken.files.documents import read_json
from eigentoken.files.writing import write_text

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("holds", "fails", "undecided", "other")


@dataclass
class Count:
    """One generator at one commit: seeds ``first .. next - 1`` are done; ``other`` are words such as "not about this model"."""

    domain: str
    generator: str
    commit: str
    first: int
    next: int
    holds: int = 0
    fails: int = 0
    undecided: int = 0
    other: int = 0
    false: int = 0
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return self.holds + self.fails + self.undecided + self.other


@dataclass
class State:
    """All counts, and the false cases that were found (the first hundred, in words)."""

    counts: list[Count] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> State:
        if not path.exists():
            return cls()
        stored = read_json(path)
        if not isinstance(stored, dict) or stored.get("schema") != "eigentoken/soundness/1":
            raise ValueError(f"{path} is not a state of this harness: give another --state, or remove it")
        return cls([Count(**each) for each in stored["counts"]], list(stored["wrong"]))

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "schema": "eigentoken/soundness/1",
            "counts": [asdict(each) for each in self.counts],
            "wrong": self.wrong,
        }
        write_text(path, json.dumps(document, indent=1) + "\n")

    def next_seed(self, domain: str, generator: str) -> int:
        """Seeds are never run twice, whatever the commit."""
        done = [each.next for each in self.counts if (each.domain, each.generator) == (domain, generator)]
        return max(done, default=0)

    def cases(self, domain: str | None = None) -> int:
        return sum(each.cases for each in self.counts if domain in (None, each.domain))

    def add(self, piece: Count, wrong: list[str]) -> None:
        """Count a piece of work in."""
        self.wrong = [*self.wrong, *wrong][:100]
        for each in self.counts:
            if (each.domain, each.generator, each.commit) == (piece.domain, piece.generator, piece.commit):
                each.next = max(each.next, piece.next)
                for name in (*WORDS, "false", "seconds"):
                    setattr(each, name, getattr(each, name) + getattr(piece, name))
                return
        self.counts.append(piece)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Sums over commits, by domain and generator, in the order of their first run."""
        merged: dict[tuple[str, str], dict[str, Any]] = {}
        for each in self.counts:
            row = merged.setdefault((each.domain, each.generator), {"domain": each.domain, "generator": each.generator})
            for name in (*WORDS, "false", "seconds", "cases"):
                row[name] = row.get(name, 0) + getattr(each, name)
        yield from merged.values()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Only this run writes the state: two would count the same seeds, and the last would forget what the other counted.

    The system gives the lock back when a process ends, however it ends.
    """
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another run counts into {path}: wait for it, or give another --state") from None
        yield
    finally:
        os.close(handle)


def commit() -> str:
    """The commit of the tree, with ``+`` where tracked files were changed; ``unknown`` outside a clone."""
    try:
        found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return "unknown"
    return found.stdout.strip() + ("+" if changed.stdout.strip() else "") if found.returncode == 0 else "unknown"
