"""The registry of statements: by decorator-like call, by entry point, with the graph of who depends on whom; recalled facts.

A fact of a registered statement may be used where the whole derivation of that statement checks, and applies. It is
neither checked again nor cited from a book: the derivation of the statement that it names is run, and must establish
exactly this fact. What that statement only argues in words is argued here too. A fact is about the system and under the
conditions of its own statement, so both are compared with those of the statement that recalls it:

* each of our systems must be one of its systems, or of those that its step names (``about``), or a declared special
  case of one (:data:`~.systems.SPECIAL_CASES`); what is about no system (about numbers or matrices) holds anywhere;
* the letters that differ are declared (``letters``) and must be those of the special case; its conditions are read in
  our letters;
* each of its conditions, and each condition under which its derivation reaches the fact, must be given by ours
  (:mod:`eigentoken.theory.statements.implied_conditions`) or be named in ``assuming``.  What is assumed is printed, and
  every claim that rests on the step must say it (:meth:`~.statements.Statement.reached`).
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp

from eigentoken.display import frame, html_table, listing
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import d, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.implied_conditions import translated, unmet
from eigentoken.theory.statements.searched import as_row, has_words
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.steps import ALL_SIZES, Setting, Step
from eigentoken.theory.systems.catalogue import special_case
from eigentoken.theory.systems.suggestions import nearest

if TYPE_CHECKING:
    import networkx as nx
    from pandas import DataFrame

__all__ = [
    "ENTRY_POINT_GROUP",
    "Recalled",
    "Registry",
    "UnknownStatement",
    "about",
    "established",
    "recalled",
    "register",
    "sizes_behind",
    "statement",
    "statements",
    "under",
]

ENTRY_POINT_GROUP = "eigentoken.statements"
OWN = "eigentoken"
#: What a proof of the kernel rests on: its rules, and the solvers that they ask.
TRUSTED = tuple(Path(__file__).resolve().parents[1] / room for room in ("kernel", "proving"))


class UnknownStatement(ValueError):
    """No statement has that id; the message suggests the nearest ones."""


def _natural(name: str) -> list[tuple[int, str]]:
    """Ids in the order of a reader: PM-L2 before PM-L10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module.partition(".")[0]


def _own(entry: EntryPoint) -> bool:
    return _package(entry) == OWN


_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([\w.]+))", re.MULTILINE)


def _room(path: Path) -> Path:
    """The outermost package that holds the file: ``proofs``, or the package of another."""
    room = path.parent
    while (room.parent / "__init__.py").is_file():
        room = room.parent
    return room


@lru_cache(maxsize=1024)
def _imports(path: Path) -> tuple[Path, ...]:
    """The modules of the same room that a file imports, at the top or in a function."""
    room = _room(path)
    found: set[Path] = set()
    for first, names, second in _IMPORT.findall(path.read_text(encoding="utf-8")):
        parts = (first or second).split(".")
        if room.name not in parts:
            continue
        base = room.joinpath(*parts[parts.index(room.name) + 1 :])
        for each in (base, *(base / name.split(" as ")[0].strip() for name in names.strip("()").split(","))):
            found |= {file for file in (each.with_suffix(".py"), each / "__init__.py") if file.is_file()}
    return tuple(sorted(found))


@lru_cache(maxsize=1024)
def _imported(path: Path) -> tuple[Path, ...]:
    """The file, and everything that it imports of its room, directly or not: the file first, then by name."""
    found, left = {path}, [path]
    while left:
        for each in _imports(left.pop()):
            if each not in found:
                found.add(each)
                left.append(each)
    return (path, *sorted(found - {path}))


@lru_cache(maxsize=64)
def _modules(room: Path, changed: int) -> tuple[Path, ...]:
    """The files of a room that was last changed then: a file more or less changes the time of its folder."""
    return tuple(sorted(room.glob("*.py")))


@lru_cache(maxsize=1024)
def _bytes(file: Path, written: tuple[int, int]) -> bytes:
    return file.read_bytes()


@lru_cache(maxsize=1024)
def _digest_of(name: str, files: tuple[Path, ...], written: tuple[tuple[int, int], ...]) -> str:
    """sha256 of an id and the texts of files that were written then, with so many bytes: read once until one is written anew."""
    text = b"\n".join(map(_bytes, files, written))
    return hashlib.sha256(name.encode() + b"\n" + text).hexdigest()


class Registry:
    """Statements by id, in the order of a reader whatever was imported first.

    One that is asked for by its id is loaded alone; a list, a count or a search loads them all.  ``complete``: nothing is
    loaded, what was registered is all there is.
    """

    def __init__(self, complete: bool = True) -> None:
        self._statements: dict[str, Statement] = {}
        self._origins: dict[str, str] = {}
        self._loaded = complete
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
        """sha256 of the id, of the file that states it, of what that imports of its room, and of what proves it: kernel, solvers.

        Recorded evidence belongs to exactly this text.
        """
        origin = self._origins.get(statement.id, "")
        if not origin or not Path(origin).is_file():
            return hashlib.sha256(f"{statement.id}\n{statement.text_of_fields()}".encode()).hexdigest()
        rooms = TRUSTED if statement.proof is not None else ()
        kernel = [file for room in rooms for file in _modules(room, room.stat().st_mtime_ns)]
        files = (*_imported(Path(origin).resolve()), *kernel)
        seen = [each.stat() for each in files]
        return _digest_of(statement.id, files, tuple((each.st_mtime_ns, each.st_size) for each in seen))

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

    def _loaded_alone(self, name: str) -> Statement | None:
        """A statement of our own book, by the ``find`` of its entry point, which imports only the file that states it."""
        if not self._loaded and name not in self._statements:
            for entry in entry_points(group=ENTRY_POINT_GROUP):
                if _own(entry):
                    entry.load().find(name)
        return self._statements.get(name)

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
        return iter(sorted(self.load()._statements.values(), key=lambda each: _natural(each.id)))

    def __len__(self) -> int:
        return len(self.load()._statements)

    def __contains__(self, name: str) -> bool:
        return name in self._statements or name in self.load()._statements

    def __getitem__(self, name: str) -> Statement:
        return self.get(name)

    def keys(self) -> list[str]:
        return [each.id for each in self]

    def search(self, words: str) -> list[Statement]:
        """The statements whose title, systems, conditions and claims, in plain text, have all the words."""
        return [each for each in self if has_words(each, words)]

    def having(self, words: str) -> Registry:
        """Of these statements those that :meth:`search` finds."""
        found = Registry()
        for each in self.search(words):
            found.register(each, self._origins[each.id])
        return found

    def __repr__(self) -> str:
        return listing(f"<{len(self)} statements>", [each.called for each in self])

    def _repr_html_(self) -> str:
        rows = [(each.id, each.kind, each.source, each.title) for each in self]
        return html_table(("id", "kind", "source", "title"), rows, f"{len(self)} statements")

    def to_frame(self) -> DataFrame:
        """One row a statement: kind, source, title, systems, what it depends on (pandas)."""
        return frame(map(as_row, self), "id")

    def get(self, name: str) -> Statement:
        """The statement of that id, or of that title, whatever the case of the letters."""
        if not isinstance(name, str):
            raise TypeError(f"a statement is asked for by its id, such as 'PM-L4', got {name!r}")
        for find in (self._loaded_alone, lambda each: self.load()._statements.get(each)):
            for each in (name, name.upper()):
                found = find(each)
                if found is not None:
                    return found
        titled = [each for each in self if each.title.lower() == name.lower()]
        if len(titled) == 1:
            return titled[0]
        raise UnknownStatement(f"unknown statement {name!r}: {self._meant(name)}")

    def registered(self, name: str) -> Statement | None:
        """The statement that is registered under exactly this id, loaded or to be loaded; ``None`` where there is none."""
        return self._loaded_alone(name) or self.load()._statements.get(name)

    def _meant(self, name: str) -> str:
        """Which statements may be meant, with their titles: by the id, or by words of the title."""
        near, words = nearest(name, self._statements), name.lower().split()
        titled = [each.id for each in self if all(word in each.title.lower() for word in words)] if words else []
        shown = near or titled[:3]
        if not shown:
            return "`eigentoken statements` lists them"
        meant = f"did you mean {' or '.join(self._statements[each].called for each in shown)}?"
        return meant if near else f"{meant} `eigentoken statements --search {shlex.quote(name)}` lists all"

    def graph(self) -> nx.DiGraph[str]:
        """An edge from each statement to each that it depends on; a cycle or a dangling name is an error."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.load()._statements)
        for statement in self:
            for name in statement.depends:
                if name not in self._statements:
                    raise ValueError(f"{statement.id} depends on {name!r}, which is not registered")
                graph.add_edge(statement.id, name)
        if not nx.is_directed_acyclic_graph(graph):
            raise ValueError(f"the dependencies run in a circle: {nx.find_cycle(graph)}")
        return graph


#: The one registry of the process.
_REGISTRY = Registry(complete=False)


def register(statement: Statement) -> Statement:
    """Enter a statement into the registry of the process; the calling file is its origin."""
    return _REGISTRY.register(statement, str(sys._getframe(1).f_globals.get("__file__", "")))


def statement(name: str) -> Statement:
    """The statement of that id.

    >>> statement("PM-L4").title
    'Stability of consensus for the Oja map'
    """
    return statements().get(name)


def statements(words: str = "") -> Registry:
    """The registry, or those of it that have all the words; entry points are loaded where more is asked than ids."""
    if not isinstance(words, str):
        raise TypeError(f"statements are searched by words, such as 'consensus causal', got {words!r}")
    return _REGISTRY.having(words) if words.split() else _REGISTRY


def pickled(statement: Statement) -> tuple[str, str] | None:
    """Id and digest of a statement that is registered; ``None`` for any other one."""
    known = _REGISTRY._statements.get(statement.id) is statement
    return (statement.id, _REGISTRY.digest(statement)) if known else None


def restored(name: str, digest: str) -> Statement:
    """The registered statement of that id, if its text is still the one that was saved."""
    found = statement(name)
    if statements().digest(found) != digest:
        raise ValueError(
            f"statement {name} was pickled from another text than the one that is registered: pickle it again"
        )
    return found


#: Letters that a statement speaks of for all values: an index, and the sizes of the two sides.
INDICES = ("k", "ell", "p", "q")


@cache
def established(statement_id: str) -> frozenset[str]:
    """The facts that the derivation of another statement establishes, when all of its steps are accepted."""
    statement = statements().get(statement_id)
    if statement.derivation is None:
        return frozenset()
    outcomes = statement.derivation.check(statement.facts)
    if not all(outcome.accepted for outcome in outcomes):
        return frozenset()
    return frozenset(fact for outcome in outcomes for fact in outcome.step.establishes)


def sizes_behind(statement_id: str, fact: str) -> tuple[str, ...]:
    """The listed sizes of the steps on which a fact of another statement rests, directly or through earlier steps."""
    derivation = statements().get(statement_id).derivation
    if derivation is None:
        return ()
    behind = derivation.behind(step.name for step in derivation.steps if fact in step.establishes)
    return tuple(sorted({step.sizes() for step in derivation.steps if step.name in behind} - {ALL_SIZES}))


def under(statement_id: str, fact: str) -> tuple[Condition, ...]:
    """The conditions under which a statement establishes a fact: its own, and those its derivation assumes on the way."""
    statement = statements().get(statement_id)
    if statement.derivation is None:
        return statement.conditions
    ends = [step.name for step in statement.derivation.steps if fact in step.establishes]
    return (*statement.conditions, *statement.derivation.assumed(ends))


def about(statement_id: str, fact: str) -> tuple[str, ...]:
    """The systems that a fact of a statement is about: those of its step where it names them, else the statement's."""
    statement = statements().get(statement_id)
    steps = () if statement.derivation is None else statement.derivation.steps
    named = [step.about for step in steps if fact in step.establishes and step.about]
    return tuple(dict.fromkeys(each for systems in named for each in systems)) or statement.systems


@dataclass(frozen=True, kw_only=True)
class Recalled(Step):
    """One fact of another statement, under the name that its derivation gives it, read in our letters."""

    statement: str
    fact: str
    formula: str = ""
    letters: Mapping[str, sp.Basic] = field(default_factory=dict)
    setting: Setting | None = field(default=None, repr=False)

    kind = "recalled"

    def __post_init__(self) -> None:
        if not set(self.establishes) <= {_spoken(self.fact, self.letters)}:
            raise ValueError(f"step {self.name!r} recalls {self.fact!r} and can establish nothing else")

    def within(self, setting: Setting) -> Recalled:
        return replace(self, setting=setting)

    @property
    def source(self) -> str:
        """The statement, by its title, and what its letters are here: ``... (PM-L3) with k = 1``."""
        told = statements().get(self.statement).called
        return f"{told} with {_told(self.letters)}" if self.letters else told

    def sizes(self) -> str:
        return "; ".join(sizes_behind(self.statement, self.fact)) or self.scope

    @property
    def argued(self) -> bool:
        derivation = statements().get(self.statement).derivation
        return derivation is not None and bool(derivation.argued)

    def check(self, facts: frozenset[str]) -> Verdict:
        if self.fact not in established(self.statement):
            return fails(f"the derivation of {self.statement} does not establish: {self.fact}")
        applies = self._applies()
        if not applies.is_holds:
            return applies
        return holds(f"the derivation of {self.statement} checks and establishes: {self.fact}; {applies.reason}")

    def _applies(self) -> Verdict:
        """Is our system one of theirs, and are their conditions given here?"""
        if self.setting is None:
            return fails("a recalled fact is judged in the statement that recalls it: ask the statement's derivation")
        theirs = statements().get(self.statement)
        needed, where = under(self.statement, self.fact), about(self.statement, self.fact)
        here = self.about or self.setting.systems
        if where and not here:
            return fails(f"{self.statement} is about {', '.join(where)}; the statement here is about no system")
        for ours in here if where else ("",):
            if where and all(special_case(ours, each) is None for each in where):
                return fails(f"{self.statement} proves this for {', '.join(where)}, which does not contain {ours}")
            values = _values(ours, theirs, self.letters)
            renamed = {name: value for name, value in values.items() if str(value) != name}
            if not _same(renamed, self.letters):
                return fails(
                    f"the letters of {self.statement} are here {_told(renamed)}, declared: {_told(self.letters)}"
                )
            wanted = [translated(each, _terms(values)) for each in needed]
            missing = unmet(wanted, (*self.setting.conditions, *self.assuming), (ours,) if ours else ())
            if missing:
                told = "; ".join(LATEX(each) for each in missing)
                return fails(f"{self.statement} needs {told}, which the conditions here do not give")
        return holds(f"its {len(needed)} conditions are given here")

    def display(self) -> str:
        return self.formula


def _values(ours: str, theirs: Statement, letters: Mapping[str, Any]) -> dict[str, Any]:
    """What their letters are here: of the special case, and of the indices; of no system, as declared."""
    indices = {name: value for name, value in letters.items() if name in INDICES}
    for name in sorted(theirs.systems, key=lambda each: each != ours):  # itself first, where both are named
        values = special_case(ours, name, masked=True)
        if values is not None:
            return {**values, **indices}
    return dict(letters)


def _terms(values: Mapping[str, Any]) -> dict[str, Any]:
    """The letters as terms of conditions: matrices by name, ``0`` and ``I``, numbers as they stand."""
    constants = {"0": sp.ZeroMatrix(d, d), "I": sp.Identity(d)}
    return {
        name: sp.sympify(value) if name in INDICES else constants.get(str(value), matrix(str(value)))
        for name, value in values.items()
    }


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return {name: str(value) for name, value in one.items()} == {name: str(value) for name, value in other.items()}


def _told(letters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(letters.items())) or "the same"


def _spoken(fact: str, letters: Mapping[str, Any]) -> str:
    """The fact in our letters, all replaced at once."""
    if not letters:
        return fact
    names = "|".join(re.escape(name) for name in letters)
    return re.sub(rf"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])", lambda found: str(letters[found.group()]), fact)


def recalled(
    statement_id: str,
    fact: str,
    says: str,
    formula: str = "",
    *,
    name: str = "",
    uses: tuple[str, ...] = (),
    letters: Mapping[str, sp.Basic] | None = None,
    assuming: tuple[Condition, ...] = (),
    about: tuple[str, ...] = (),
) -> Recalled:
    """A fact taken from another statement: its whole derivation is checked, must establish this fact, and apply here."""
    spoken = dict(letters or {})
    return Recalled(
        name=name or f"from {statement_id}",
        says=says,
        uses=uses,
        establishes=(_spoken(fact, spoken),),
        statement=statement_id,
        fact=fact,
        formula=formula,
        letters=spoken,
        assuming=assuming,
        about=about,
    )
