"""What of a room is reached, by name, from the doors: module-level code, registrations, the pages of the docs and the examples.

Over-approximate on purpose: a definition counts as reached when its name is used anywhere in reached code, so what is listed as
not reached is used by tests alone.  Imports and ``__all__`` are no use.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Definition", "unreached"]

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
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
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


def _doors(root: Path) -> set[str]:
    """Names on the pages (in code), in the examples, the benchmarks, the tools and the project file."""
    found = set(NAME.findall((root / "pyproject.toml").read_text(encoding="utf-8")))
    for page in (root / "README.md", *(root / "docs").glob("*.md")):
        if page.name not in {"reference.md", "glossary.md", "house.md"}:  # written from the code itself
            for code in re.findall(r"```.*?```|`[^`\n]+`", page.read_text(encoding="utf-8"), re.S):
                found |= set(NAME.findall(code))
    for folder in ("examples", "benchmarks", "tools"):
        for path in (root / folder).rglob("*.py"):
            found |= _names(ast.parse(path.read_text(encoding="utf-8")))
    return found


def unreached(root: Path) -> list[Definition]:
    """Definitions of the package that no door reaches; parts of an unreached class are not listed apart."""
    definitions: list[Definition] = []
    used = _doors(root)
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            file = path.relative_to(root).as_posix()
            if any((root / "src/eigentoken" / part).is_symlink() for part in path.relative_to(root).parts[2:3]):
                continue  # a room seen through its link
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                listed = isinstance(node, ast.Assign) and any(
                    getattr(each, "id", "") == "__all__" for each in node.targets
                )
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    definitions += _defined(file, node, None)
                elif isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
                    continue
                elif not listed or file == "src/eigentoken/__init__.py":
                    made = set(_constants(node))
                    definitions += [Definition(file, name, None, registered=False) for name in sorted(made)]
                    used |= set().union(*map(_names, ast.iter_child_nodes(node))) - made if made else _names(node)
    reached: set[Definition] = set()
    while new := [
        each
        for each in definitions
        if each not in reached and (each.inside is None or each.inside in reached)
        if each.registered or each.name in used
    ]:
        reached.update(new)
        for each in new:
            used |= each.uses
    return [each for each in definitions if each not in reached and (each.inside is None or each.inside in reached)]
