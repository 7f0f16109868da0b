"""The house as a graph: modules, the rooms they are in, and who imports whom (inside functions too).

    python tools/house.py            the rooms in layers, with sizes and edges

A room is a sub-package two levels deep (``theory/language``), three in ``numerics/recheck``; a module that stands in the
open (``proofs/verify.py``) is a room of its own.  Imports for type checkers only count like all others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("theory", "numerics", "models", "proofs")
#: where sub-rooms have sub-rooms
DEEPER = ("numerics.recheck",)


@dataclass(frozen=True)
class House:
    """Modules by name, and the edges between them."""

    files: dict[str, Path]
    imports: nx.DiGraph

    def rooms(self) -> nx.DiGraph:
        """Rooms and the edges between them; ``modules`` and ``lines`` on nodes, ``because`` (pairs of modules) on edges."""
        graph = nx.DiGraph()
        for name, path in self.files.items():
            room = room_of(name, path)
            graph.add_node(room)
            node = graph.nodes[room]
            node["modules"] = node.get("modules", 0) + 1
            node["lines"] = node.get("lines", 0) + len(path.read_text(encoding="utf-8").splitlines())
        for one, other in self.imports.edges:
            left, right = room_of(one, self.files[one]), room_of(other, self.files[other])
            if left != right:
                graph.add_edge(left, right)
                graph.edges[left, right].setdefault("because", []).append((one, other))
        return graph


def room_of(name: str, path: Path) -> str:
    """The room of a module: ``eigentoken.theory.language.terms`` is in ``theory.language``."""
    parts = name.split(".")[1:]
    home = parts if path.name == "__init__.py" else parts[:-1]
    if parts[:1] and parts[0] in PARTS:
        depth = 3 if ".".join(parts[:2]) in DEEPER else 2
        return ".".join(home[:depth] if len(home) > 1 else parts[:2]) or parts[0]
    return "face." + (home[0] if home else parts[0] if parts else "api")


def house(root: Path = ROOT) -> House:
    """All modules of the package in a tree."""
    files: dict[str, Path] = {}
    bases = [(f"eigentoken.{part}", root / part) for part in PARTS] + [("eigentoken", root / "src" / "eigentoken")]
    for prefix, base in bases:
        for path in sorted(base.rglob("*.py")):
            inner = path.relative_to(base).with_suffix("").parts
            files[".".join((prefix, *(inner[:-1] if inner[-1] == "__init__" else inner)))] = path
    graph = nx.DiGraph()
    graph.add_nodes_from(files)
    for name, path in files.items():
        graph.add_edges_from((name, other) for other in imported(name, path, set(files)) if other != name)
    return House(files, graph)


def imported(name: str, path: Path, known: set[str]) -> Iterator[str]:
    """The modules of ours that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
                base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
            for alias in node.names:
                found = f"{base}.{alias.name}"
                if found in known:
                    yield found
                elif base in known:
                    yield base


def cycles(graph: nx.DiGraph) -> list[tuple[list[str], list[tuple[str, str]]]]:
    """Rooms that import each other in a circle, with the pairs of modules that close it."""
    found = []
    for part in nx.strongly_connected_components(graph):
        if len(part) > 1:
            inner = graph.subgraph(part)
            found.append((sorted(part), [pair for *_, why in inner.edges(data="because") for pair in why]))
    return found


def layers(graph: nx.DiGraph) -> list[list[str]]:
    """Rooms from the ground up: each imports only rooms of the layers before its own."""
    return [sorted(layer) for layer in nx.topological_generations(graph.reverse())]


def main() -> None:
    graph = house().rooms()
    for number, layer in enumerate(layers(graph)):
        for room in layer:
            below = ", ".join(sorted(graph.successors(room))) or "nothing"
            size = graph.nodes[room]
            print(f"{number:2}  {room:28} {size['modules']:3} modules {size['lines']:6} lines  <- {below}")


if __name__ == "__main__":
    main()
