"""The registry of statements: by decorator-like call, by entry point, with the graph of who depends on whom."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.display import frame, html_table, listing
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.suggestions import meant

if TYPE_CHECKING:
    import networkx as nx
    from pandas import DataFrame

__all__ = ["ENTRY_POINT_GROUP", "Registry", "UnknownStatement", "register", "statement", "statements"]

ENTRY_POINT_GROUP = "eigentoken.statements"
OWN = "eigentoken"


class UnknownStatement(ValueError):
    """No statement has that id; the message suggests the nearest ones."""


def _natural(name: str) -> list[tuple[int, str]]:
    """Ids in the order of a reader: PM-L2 before PM-L10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module.partition(".")[0]


def _own(entry: EntryPoint) -> bool:
    return _package(entry) == OWN


class Registry:
    """Statements by id, in the order of a reader whatever was imported first."""

    def __init__(self) -> None:
        self._statements: dict[str, Statement] = {}
        self._origins: dict[str, str] = {}
        self._loaded = False
        self._entries: set[EntryPoint] = set()

    def register(self, statement: Statement, origin: str = "") -> Statement:
        """Enter a statement; an id can be taken once.  ``origin`` is the file that states it."""
        if not isinstance(statement, Statement):
            raise TypeError(f"a Statement is registered, got {statement!r}: make one with Statement(...)")
        if statement.id in self._statements:
            raise ValueError(f"statement id {statement.id!r} is taken: choose another")
        self._statements[statement.id] = statement
        self._origins[statement.id] = origin
        return statement

    def digest(self, statement: Statement) -> str:
        """sha256 of the id and of the file that states it: recorded evidence belongs to exactly this text."""
        origin = self._origins.get(statement.id, "")
        text = Path(origin).read_bytes() if origin and Path(origin).is_file() else statement.text_of_fields().encode()
        return hashlib.sha256(statement.id.encode() + b"\n" + text).hexdigest()

    def load(self) -> Registry:
        """Load every entry point of the group ``eigentoken.statements`` (a module whose ``load()`` registers).

        Our own come first.  Whatever another package raises is one :class:`ValueError` that names the package.
        """
        if not self._loaded:
            self._loaded = True
            for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda each: (not _own(each), each.name)):
                if entry not in self._entries:
                    self._entries.add(entry)
                    self._load_entry(entry)
        return self

    def _load_entry(self, entry: EntryPoint) -> None:
        before = set(self._statements)
        try:
            module: Any = entry.load()
            module.load()
        except Exception as problem:
            self._loaded = False
            self._entries.discard(entry)
            if _own(entry):
                raise
            for name in set(self._statements) - before:  # all of a package or nothing of it
                del self._statements[name], self._origins[name]
            said = " ".join(f"{type(problem).__name__}: {problem}".split())
            package = _package(entry)
            raise ValueError(
                f"entry point {entry.name} ({package}): {said}; uninstall {package} or repair it"
            ) from problem

    def origin(self, statement: Statement) -> Path | None:
        """The file that states it, if it was registered from a file."""
        origin = self._origins.get(statement.id, "")
        return Path(origin) if origin else None

    def __iter__(self) -> Iterator[Statement]:
        return iter(sorted(self._statements.values(), key=lambda each: _natural(each.id)))

    def __len__(self) -> int:
        return len(self._statements)

    def __contains__(self, name: str) -> bool:
        return name in self._statements

    def __getitem__(self, name: str) -> Statement:
        return self.get(name)

    def __repr__(self) -> str:
        return listing(f"<{len(self)} statements>", [f"{each.id}: {each.title}" for each in self])

    def _repr_html_(self) -> str:
        rows = [(each.id, each.kind, each.source, each.title) for each in self]
        return html_table(("id", "kind", "source", "title"), rows, f"{len(self)} statements")

    def to_frame(self) -> DataFrame:
        """One row a statement: kind, source, title, systems, what it depends on (pandas)."""
        rows = (
            {
                "id": each.id,
                "kind": str(each.kind),
                "source": str(each.source),
                "title": each.title,
                "systems": ", ".join(each.systems),
                "depends": ", ".join(each.depends),
            }
            for each in self
        )
        return frame(rows, "id")

    def get(self, name: str) -> Statement:
        """The statement of that id, whatever the case of the letters."""
        if not isinstance(name, str):
            raise TypeError(f"a statement is asked for by its id, such as 'PM-L4', got {name!r}")
        for each in (name, name.upper()):
            if each in self._statements:
                return self._statements[each]
        hint = meant(name, self._statements, "`eigentoken statements` lists them")
        raise UnknownStatement(f"unknown statement {name!r}: {hint}")

    def graph(self) -> nx.DiGraph[str]:
        """An edge from each statement to each that it depends on; a cycle or a dangling name is an error."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self._statements)
        for statement in self:
            for name in statement.depends:
                if name not in self._statements:
                    raise ValueError(f"{statement.id} depends on {name!r}, which is not registered")
                graph.add_edge(statement.id, name)
        if not nx.is_directed_acyclic_graph(graph):
            raise ValueError(f"the dependencies run in a circle: {nx.find_cycle(graph)}")
        return graph


#: The one registry of the process.
_REGISTRY = Registry()


def register(statement: Statement) -> Statement:
    """Enter a statement into the registry of the process; the calling file is its origin."""
    return _REGISTRY.register(statement, str(sys._getframe(1).f_globals.get("__file__", "")))


def statement(name: str) -> Statement:
    """The statement of that id.

    >>> statement("PM-L4").title
    'Stability of consensus for the Oja map'
    """
    return statements().get(name)


def statements() -> Registry:
    """The registry, with every entry point loaded."""
    return _REGISTRY.load()


def pickled(statement: Statement) -> tuple[str, str] | None:
    """Id and digest of a statement that is registered; ``None`` for any other one."""
    known = statement.id in _REGISTRY and _REGISTRY.get(statement.id) is statement
    return (statement.id, _REGISTRY.digest(statement)) if known else None


def restored(name: str, digest: str) -> Statement:
    """The registered statement of that id, if its text is still the one that was saved."""
    found = statement(name)
    if statements().digest(found) != digest:
        raise ValueError(
            f"statement {name} was pickled from another text than the one that is registered: pickle it again"
        )
    return found
