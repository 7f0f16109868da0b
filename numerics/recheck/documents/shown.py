"""What a reader sees in a document, leaf by leaf, and what became of each leaf in the re-check.

A leaf is a number, a text, a truth value, a null or an empty list or object.  Every leaf begins as *not covered*; a check marks
what it has recomputed and compared, or built again from what it has.  A field that nobody knows how to check is listed under
its name, never passed over: that is the guarantee, and it does not depend on which fields there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eigentoken.files.documents import Json

__all__ = ["Finding", "Shown", "leaves"]

Path = tuple[str | int, ...]
MISSING = object()


def leaves(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of a document with its path.

    >>> list(leaves({"a": [1, {"b": None}], "c": []}))
    [(('a', 0), 1), (('a', 1, 'b'), None), (('c',), [])]
    """
    if isinstance(node, dict) and node:
        for name, child in node.items():
            yield from leaves(child, (*path, name))
    elif isinstance(node, list | tuple) and node:
        for index, child in enumerate(node):
            yield from leaves(child, (*path, index))
    else:
        yield path, node


def written(path: Path) -> str:
    """``results[0].claim.margin``."""
    return re.sub(r"\.\[", "[", ".".join(f"[{part}]" if isinstance(part, int) else part for part in path))


@dataclass(frozen=True)
class Finding:
    """One thing that does not agree (``fails``) or could not be confirmed (``undecided``)."""

    where: str
    answer: str
    why: str


@dataclass
class Shown:
    """A document, the leaves that a check covered, and what was found wrong or left open on the way."""

    document: Json
    covered: set[Path] = field(default_factory=set)
    excepted: set[Path] = field(default_factory=set)
    found: list[Finding] = field(default_factory=list)

    def at(self, path: Path) -> Json:
        """What stands at a path; :data:`MISSING` if nothing does."""
        node = self.document
        for part in path:
            try:
                node = node[part]
            except (KeyError, IndexError, TypeError):
                return MISSING
        return node

    def cover(self, *paths: Path) -> None:
        """These parts, with all that is below them, were recomputed and compared."""
        self.covered.update(paths)

    def uncover(self, *paths: Path) -> None:
        """These parts are not covered, though what they are in is."""
        self.excepted.update(paths)

    def same(self, path: Path, value: object, why: str = "") -> bool:
        """What stands there must be exactly this."""
        stated = self.at(path)
        self.cover(path)
        if stated is not MISSING and _same(stated, value):
            return True
        shown = "nothing" if stated is MISSING else _short(stated)
        self.fails(path, why or f"{shown} is stated, {_short(value)} is found")
        return False

    def judge(self, path: Path, why: str | None, unconfirmed: str) -> None:
        """Covered; ``why`` is None where it agrees, begins with ``unconfirmed`` where that is open, else what is wrong."""
        self.cover(path)
        if why is None:
            return
        if why.startswith(unconfirmed):
            self.undecided(path, why.removeprefix(unconfirmed))
        else:
            self.fails(path, why)

    def fails(self, path: Path, why: str) -> None:
        self.found.append(Finding(written(path), "fails", why))

    def undecided(self, path: Path, why: str) -> None:
        self.found.append(Finding(written(path), "undecided", why))

    def _walk(self, node: Any, path: Path, covered: bool, excepted: bool) -> Iterator[tuple[Path, bool]]:
        """Every leaf, and whether a check covered it or what it is in."""
        covered, excepted = covered or path in self.covered, excepted or path in self.excepted
        if isinstance(node, dict) and node:
            for name, child in node.items():
                yield from self._walk(child, (*path, name), covered, excepted)
        elif isinstance(node, list | tuple) and node:
            for index, child in enumerate(node):
                yield from self._walk(child, (*path, index), covered, excepted)
        else:
            yield path, covered and not excepted

    def covers(self, path: Path) -> bool:
        """Was anything at this path, or below it, found again and compared?"""
        stated = self.at(path)
        return stated is not MISSING and any(self._is_covered(leaf) for leaf, _ in leaves(stated, path))

    def _is_covered(self, path: Path) -> bool:
        parts = [path[:length] for length in range(len(path) + 1)]
        return any(part in self.covered for part in parts) and not any(part in self.excepted for part in parts)

    def not_covered(self) -> list[str]:
        """The same in short: a part without any covered leaf by its own name, entries of a list under one name."""
        touched: set[Path] = {()}
        open_leaves: list[Path] = []
        for path, covered in self._walk(self.document, (), False, False):
            if not covered:
                open_leaves.append(path)
                continue
            while path not in touched:  # what is above one that was touched was touched, too
                touched.add(path)
                path = path[:-1]
        found = []
        for path in open_leaves:
            length = next(length for length in range(len(path) + 1) if path[:length] not in touched)
            found.append(re.sub(r"\[\d+\]", "[]", written(path[:length])))
        return list(dict.fromkeys(found))


def _same(left: Any, right: Any) -> bool:
    """Equal with equal types: 1 is not true, and 1 is not 1.0 where a count is stated."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list | tuple) and isinstance(right, Sequence) and not isinstance(right, str):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return type(left) is type(right) and bool(left == right)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
