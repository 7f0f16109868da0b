"""What of a room is reached from the doors: module-level code, registrations, the pages of the docs and the examples.

Over-approximate on purpose, so that what is listed as not reached is used by tests alone.  What stands at the level of a module
counts as reached when reached code of its own module uses the name, or reached code anywhere uses the name in a file that imports
it from there (or from a package that hands it on), or as an attribute of the module; a method, when its name is used anywhere in
reached code.  An import and ``__all__`` alone are no use.  A text that is one name counts as that name.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..commands import tool

__all__ = ["Definition", "unreached"]

house = tool("house")

ROOMS = ("theory", "numerics", "models", "proofs", "src/eigentoken")
#: Decorators that only change a definition; any other one registers it somewhere.
PASSIVE = {
    *(
        "abstractmethod",
        "cache",
        "cached_property",
        "classmethod",
        "contextmanager",
        "dataclass",
        "document",
        "lru_cache",
    ),
    *("overload", "property", "runtime_checkable", "setter", "staticmethod", "with_rules", "wraps"),
}
#: Methods that a library calls by their names: of ast, of enumerations, of sympy and its printers, of notebooks.
CALLED_BY_LIBRARIES = re.compile(
    r"__\w+__|visit_\w+|_print_\w+|_latex|_sympystr|_hashable_content|_as_ordered_terms|_missing_|_repr_\w+_|pytest_\w+"
)
#: What ``NAME = register(...)`` makes is reached through the registry, not by its name.
REGISTERING = {"register"}
NAME = re.compile(r"[A-Za-z_]\w*")
#: A text that names something: ``forward``, ``.transformer_layer``, ``list[Entry]``, ``Entry | None``.
WORD = re.compile(r"\.?[A-Za-z_][\w.\[\]| ,]*")


@dataclass(eq=False)
class Definition:
    """A function, class, method or constant with the names that it uses."""

    file: str
    name: str
    inside: Definition | None
    registered: bool
    uses: set[str] = field(default_factory=set)

    @property
    def path(self) -> str:
        return f"{self.inside.path}.{self.name}" if self.inside is not None else f"{self.file}: {self.name}"


def _names(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in house.parts(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and WORD.fullmatch(node.value):
            found.update(NAME.findall(node.value))
    return found


def _decorator(node: ast.expr) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _defined(file: str, node: ast.FunctionDef | ast.ClassDef, inside: Definition | None) -> Iterator[Definition]:
    decorators = {_decorator(each) for each in node.decorator_list}
    registered = bool(decorators - PASSIVE) or CALLED_BY_LIBRARIES.fullmatch(node.name) is not None
    found = Definition(file, node.name, inside, registered)
    for each in node.decorator_list:
        found.uses |= _names(each)
    if isinstance(node, ast.ClassDef):
        for each in (*node.bases, *node.keywords):
            found.uses |= _names(each)
    else:
        found.uses |= _names(node.args) | (set() if node.returns is None else _names(node.returns))
    for statement in node.body:
        if isinstance(node, ast.ClassDef) and isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield from _defined(file, statement, found)
        elif not _is_text(statement):
            found.uses |= _names(statement)
    yield found


def _constants(node: ast.stmt) -> Iterator[str]:
    """The names that an assignment makes, but for what is registered by it and for the names that Python reads."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    if isinstance(getattr(node, "value", None), ast.Call) and _decorator(node.value) in REGISTERING:  # type: ignore[attr-defined]
        return
    for target in targets:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and not each.id.startswith("__"):
                yield each.id


def _pages(root: Path) -> Iterator[str]:
    """The pages that people wrote, and the project file with its entry points."""
    yield (root / "pyproject.toml").read_text(encoding="utf-8")
    for page in (root / "README.md", *(root / "docs").glob("*.md")):
        if page.name not in {"reference.md", "glossary.md", "house.md"}:  # written from the code itself
            yield page.read_text(encoding="utf-8")


def _doors(root: Path, sources: _Sources) -> tuple[set[str], set[tuple[str, str]]]:
    """What pages (in code), the project file, examples, benchmarks and tools name, and the definitions which that means.

    A page means what it names in the modules that it names, and in those of ``import eigentoken`` and ``eigentoken.lab``.
    """
    names: set[str] = set()
    places: set[tuple[str, str]] = set()
    for text in _pages(root):
        code = re.findall(r"```.*?```|`[^`\n]+`", text, re.S) if not text.startswith("[build-system]") else [text]
        named = {name for part in code for name in NAME.findall(part)}
        dotted = {each.removeprefix("eigentoken").lstrip(".") for each in re.findall(r"\beigentoken(?:\.\w+)*", text)}
        opened = {module for each in (*dotted, "", "lab") for module in (each, each.rpartition(".")[0])}
        for module in opened & set(sources.files):
            places |= sources.used(sources.files[module], {*named, "load"} if module == "proofs" else named)
        names |= named
    for folder in ("examples", "benchmarks", "tools"):
        for path in (root / folder).rglob("*.py"):
            file = path.relative_to(root).as_posix()
            sources.imports(file, path)
            used = _names(house.parsed(path))
            names |= used
            places |= sources.used(file, used)
    return names, places


@dataclass
class _Sources:
    """Every file of the package with what it imports from which file of ours, also inside functions."""

    root: Path
    trees: dict[str, ast.Module] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    "module, without the name of the package -> file"
    given: dict[str, dict[str, set[tuple[str, str]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    "file -> name in it -> (file, name there); the name of a module itself is empty"

    def __post_init__(self) -> None:
        for room in ROOMS:
            for path in sorted((self.root / room).rglob("*.py")):
                file = path.relative_to(self.root).as_posix()
                if any((self.root / "src/eigentoken" / part).is_symlink() for part in Path(file).parts[2:3]):
                    continue  # a room seen through its link
                self.trees[file] = house.parsed(path)
                self.files[_module(file)] = file
        for file in self.trees:
            self.imports(file, self.root / file, _module(file))

    def imports(self, file: str, path: Path, module: str = "") -> None:
        """Note what a file imports from ours."""
        package = module.split(".") if file.endswith("__init__.py") else module.split(".")[:-1]
        for node in house.all_parts(path):
            if isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*above, *filter(None, [(node.module or "").removeprefix("eigentoken").lstrip(".")])])
                ours = node.level > 0 or (node.module or "").split(".")[0] == "eigentoken"
                for alias in node.names if ours else ():
                    inner = f"{source}.{alias.name}".lstrip(".")
                    if inner in self.files:
                        self.given[file][alias.asname or alias.name].add((self.files[inner], ""))
                    if source in self.files:
                        self.given[file][alias.asname or alias.name].add((self.files[source], alias.name))
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    inner = alias.name.removeprefix("eigentoken").lstrip(".") if alias.asname else ""
                    if alias.name.split(".")[0] == "eigentoken" and inner in self.files:
                        self.given[file][alias.asname or "eigentoken"].add((self.files[inner], ""))

    def meant(self, file: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> set[tuple[str, str]]:
        """Where a name of a file may be defined: here, or where it was imported from, through packages that hand it on."""
        found = {(file, name)}
        for place in self.given[file].get(name, set()) | self.given[file].get("*", set()):
            source, there = place[0], name if place[1] == "*" else place[1]
            if (source, there) not in seen:
                found |= self.meant(source, there, seen | {(source, there)}) if there else {(source, "")}
        return found

    def used(self, file: str, names: Iterable[str]) -> set[tuple[str, str]]:
        """Definitions that these names of a file may mean; with a module among them, all of them as its attributes."""
        listed = set(names)
        found = set().union(*(self.meant(file, name) for name in listed)) if listed else set()
        for module in [source for source, there in found if not there]:
            found |= set().union(*(self.meant(module, name) for name in listed))
        return found


def _module(file: str) -> str:
    """``theory/kernel/logic.py`` is ``theory.kernel.logic``; ``src/eigentoken/__init__.py`` is the package, empty."""
    parts = list(Path(file.removeprefix("src/eigentoken/")).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _listed(file: str, tree: ast.Module) -> Iterator[tuple[ast.stmt, list[Definition], set[str]]]:
    """Statement by statement: what it defines, and what it uses whenever the module is imported."""
    for node in tree.body:
        listed = isinstance(node, ast.Assign) and any(getattr(each, "id", "") == "__all__" for each in node.targets)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node, list(_defined(file, node, None)), set()
        elif isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            continue
        elif not listed or file == "src/eigentoken/__init__.py":
            made = set(_constants(node))
            held = set().union(*map(_names, ast.iter_child_nodes(node))) - made if made else _names(node)
            yield node, [Definition(file, name, None, registered=False) for name in sorted(made)], held


def unreached(root: Path) -> list[Definition]:
    """Definitions of the package that no door reaches; parts of an unreached class are not listed apart."""
    sources = _Sources(root)
    definitions: list[Definition] = []
    names, places = _doors(root, sources)
    for file, tree in sources.trees.items():
        for _, made, held in _listed(file, tree):
            definitions += made
            names |= held
            places |= sources.used(file, held)

    def reached_now(each: Definition) -> bool:
        return each.registered or (each.name in names if each.inside else (each.file, each.name) in places)

    reached: set[Definition] = set()
    while new := [
        each
        for each in definitions
        if each not in reached and (each.inside is None or each.inside in reached) and reached_now(each)
    ]:
        reached.update(new)
        for each in new:
            names |= each.uses
            places |= sources.used(each.file, each.uses)
    return [each for each in definitions if each not in reached and (each.inside is None or each.inside in reached)]
