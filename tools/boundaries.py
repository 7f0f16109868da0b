"""What passes between rooms without a type: ``Any`` in the signature of something public that another room uses.

    python tools/boundaries.py       each place, by room

A function or a type alias counts if a module of another room imports it; a method or a field of a public class if a module
of another room names it (an attribute of that name, or a keyword); ``__init__`` and ``__call__`` of a class count as its name.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def _house() -> ModuleType:
    name = "eigentoken_tools_house"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("house.py"))
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@dataclass
class Uses:
    """Which rooms use what: whole names of definitions, and plain names of attributes and keywords."""

    names: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    attributes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def untyped(root: Path = ROOT) -> list[str]:
    """``module: name`` or ``module: Class.member`` of every public thing that another room uses and that mentions ``Any``."""
    tool = _house()
    files: dict[str, Path] = tool.house(root).files
    trees = {name: tool.parsed(path) for name, path in files.items()}
    rooms = {name: tool.room_of(name, path) for name, path in files.items()}
    exported = {name: dict(_imports(name, path, tool.all_parts(path))) for name, path in files.items()}
    uses = Uses()
    known = set(files)
    for name, path in files.items():
        _note_uses(uses, rooms[name], tool.all_parts(path), exported, exported[name], known)
    found = []
    for name, tree in trees.items():
        for what, whole in _mentions(tree):
            owner, _, member = what.partition(".")
            called = f"{name}.{owner}"
            if not member or member in ("__init__", "__call__"):
                elsewhere = uses.names[called] - {rooms[name]}
            else:
                elsewhere = uses.attributes[member] - {rooms[name]}
            if elsewhere:
                found.append(f"{name.removeprefix('eigentoken.')}: {what}{whole and f'({whole})'}")
    return found


def _imports(name: str, path: Path, parts: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Each local name that a file imports from ours, and the whole name it stands for."""
    for node in parts:
        if not isinstance(node, ast.ImportFrom):
            continue
        base = node.module or ""
        if node.level:
            package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
            base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
        if base.split(".")[0] == "eigentoken":
            yield from ((alias.asname or alias.name, f"{base}.{alias.name}") for alias in node.names)


def _note_uses(
    uses: Uses,
    room: str,
    parts: list[ast.AST],
    exported: dict[str, dict[str, str]],
    own: dict[str, str],
    known: set[str],
) -> None:
    for whole in own.values():
        uses.names[_resolved(whole, exported, known)].add(room)
    for node in parts:
        if isinstance(node, ast.Attribute):
            uses.attributes[node.attr].add(room)
            if isinstance(node.value, ast.Name) and own.get(node.value.id) in known:
                uses.names[_resolved(f"{own[node.value.id]}.{node.attr}", exported, known)].add(room)
        elif isinstance(node, ast.keyword) and node.arg:
            uses.attributes[node.arg].add(room)


def _resolved(whole: str, exported: dict[str, dict[str, str]], known: set[str]) -> str:
    """Through the ``__init__`` of a room that hands the name on."""
    for _ in range(5):
        module, _, name = whole.rpartition(".")
        if whole in known or module not in exported or name not in exported[module]:
            break
        whole = exported[module][name]
    return whole


def _mentions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Public definitions that say ``Any``: the name, and which parameters (or ``->``) do."""
    public = _public(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in public:
            if said := _in_signature(node):
                yield node.name, said
        elif isinstance(node, ast.ClassDef) and node.name in public:
            yield from _in_class(node)
        elif isinstance(node, ast.Assign) and _says_any(node.value):
            yield from ((each.id, "") for each in node.targets if isinstance(each, ast.Name) and each.id in public)
        elif isinstance(node, ast.AnnAssign) and _says_any(node.annotation):
            yield from ((each.id, "") for each in (node.target,) if isinstance(each, ast.Name) and each.id in public)


def _public(tree: ast.Module) -> set[str]:
    """What a module names in ``__all__``, and whatever does not begin with an underscore: both can be imported."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return {name for name in found if not name.startswith("_")}


def _in_class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and (
            not each.name.startswith("_") or each.name in ("__init__", "__call__")
        ):
            if said := _in_signature(each):
                yield f"{node.name}.{each.name}", said
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and _says_any(each.annotation):
            yield from [(f"{node.name}.{each.target.id}", "")] if each.target.id[0] != "_" else []


def _in_signature(node: ast.FunctionDef) -> str:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    said = [each.arg for each in every if each is not None and each.annotation and _says_any(each.annotation)]
    if node.returns and _says_any(node.returns):
        said.append("->")
    return ", ".join(said)


def _says_any(node: ast.expr) -> bool:
    texts = (each for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))
    named = any(isinstance(each, ast.Name) and each.id == "Any" for each in ast.walk(node))
    return named or any(
        "Any" in str(each.value).replace("[", " ").replace("]", " ").replace(",", " ").split() for each in texts
    )


def main() -> None:
    found = untyped()
    for line in found:
        print(line)
    print(len(found), "places")


if __name__ == "__main__":
    main()
