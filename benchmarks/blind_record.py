"""What was attacked, for how long, from which seed, on which text of the lab: the record of the blind lists, kept over sessions.

A line belongs to the text that it was run on.  ``code_digest`` is the sha256 of the syntax trees, without docstrings, of the
rooms that a search runs (:data:`ROOMS`), and ``conjecture_digest`` that of the conjecture; a line counts where both are the
present ones, so that a run of hours can be made in parts, and a change of the lab, of a word or of a conjecture takes back what
rested on it.  Print, the kernel and the statements of the book are no part: no search asks them for its answer.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from eigentoken.numerics.lab import Conjecture
from eigentoken.numerics.lab.certify import conjecture_document

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks" / "blind" / "record"
#: verdicts that more time would not change
DECIDED = ("refuted", "candidate")
#: the rooms whose text decides what a search finds and what its re-check confirms
ROOMS = (
    "numerics/lab", "numerics/instances", "numerics/readings", "numerics/dynamics", "numerics/author_code", "numerics/certified",
    "numerics/recheck", "theory/language", "theory/systems", "theory/classification", "theory/exactness",
)  # fmt: skip

Line = dict[str, Any]


@cache
def text_of_code(source: str) -> str:
    """A syntax tree without docstrings, as text: neither layout nor comments are part of it.

    >>> text_of_code("x = 1  # one") == text_of_code("x   = 1")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return ast.dump(tree)


@cache
def code_digest(root: Path = ROOT) -> str:
    """The digest of the rooms of :data:`ROOMS` below a folder."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            digest.update(
                f"{file.relative_to(root).as_posix()}\0{text_of_code(file.read_text(encoding='utf-8'))}\0".encode()
            )
    return digest.hexdigest()


def belongs_to(conjecture: Conjecture) -> dict[str, str]:
    """What a line of this conjecture carries: the digests of the code and of the conjecture."""
    return {"code": code_digest(), "conjecture": str(conjecture_document(conjecture)["digest"])}


def lines(file: Path) -> list[Line]:
    """The lines of a record; a last line that was cut off by an interruption is left out."""
    if not file.exists():
        return []
    found: list[Line] = []
    for text in file.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return found


def add(file: Path, line: Mapping[str, object]) -> None:
    """One more line; one that was cut off before it stays a line of its own."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.exists() and not file.read_bytes().endswith(b"\n") and file.stat().st_size > 0
    with file.open("a", encoding="utf-8") as stream:
        stream.write(("\n" if begun else "") + json.dumps(line, default=str) + "\n")


def is_present(line: Mapping[str, object], conjecture: Conjecture) -> bool:
    """Was this line run on the present text of the lab and of the conjecture?"""
    return all(line.get(name) == digest for name, digest in belongs_to(conjecture).items())


def is_done(recorded: list[Line], conjecture: Conjecture, seconds: float, seed: int) -> bool:
    """Is there a line of the present text with this seed and at least this time, or one that decided before the time was over?"""
    return any(
        is_present(each, conjecture)
        and each["seed"] == seed
        and (each["asked"] >= seconds or each["verdict"] in DECIDED)
        for each in recorded
    )
