"""The house as a graph: modules, the rooms they are in, and who imports whom (inside functions too).

    python tools/house.py            the rooms in layers, with sizes and edges
    python tools/house.py --picture  draws docs/images/house.svg

A room is a sub-package two levels deep (``theory/language``), three in ``numerics/recheck``; a module that stands in the
open (``proofs/verify.py``) is a room of its own.  Imports for type checkers only count like all others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "house.svg"
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


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a source file, read once in a process."""
    return ast.parse(path.read_text(encoding="utf-8"))


def parts(tree: ast.AST) -> list[ast.AST]:
    """A tree with everything below it, level by level, as ``ast.walk`` gives it but for load, store and delete."""
    found = [tree]
    for node in found:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and name != "ctx":
                found.append(value)
    return found


@cache
def all_parts(path: Path) -> list[ast.AST]:
    """The parts of the tree of a file."""
    return parts(parsed(path))


@cache
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
    for node in all_parts(path):
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


def said_of(room: str, files: dict[str, Path]) -> str:
    """The first sentence of a room, or of the module that stands alone."""
    name = f"eigentoken.{room.removeprefix('face.')}" if room != "face.api" else "eigentoken"
    text = ast.get_docstring(parsed(files[name])) or ""
    return " ".join(text.split("\n\n")[0].split())


def table(found: House) -> Iterator[str]:
    """The rooms from the ground up: what each is for, its size, and the rooms it imports that no other of these does."""
    graph = found.rooms()
    direct = nx.transitive_reduction(graph)
    yield "| layer | room | what it is for | modules | hundred lines | stands on |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for number, layer in enumerate(layers(graph)):
        for room in layer:
            size = graph.nodes[room]
            below = ", ".join(f"`{each}`" for each in sorted(direct.successors(room)))
            said = said_of(room, found.files).replace("|", "\\|")
            yield f"| {number} | `{room}` | {said} | {size['modules']} | {round(size['lines'] / 100)} | {below} |"


COLOURS = {"theory": "#dbe9f6", "numerics": "#e5f2dc", "models": "#fbeccf", "proofs": "#f0e0ef", "face": "#eeeeee"}
WIDTH, HEIGHT, GAP, ROW = 182, 34, 14, 84


def picture(found: House) -> str:
    """The rooms as boxes, layer on layer, and what each stands on (edges that follow from others are left out), as SVG."""
    graph = found.rooms()
    rows = _rows(graph)
    direct = nx.transitive_reduction(graph)
    wide = max(len(row) for row in rows) * (WIDTH + GAP) + GAP
    high = len(rows) * ROW + GAP
    place: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        left = (wide - len(row) * (WIDTH + GAP) + GAP) / 2
        for index, room in enumerate(row):
            place[room] = (left + index * (WIDTH + GAP), high - (number + 1) * ROW + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="12">',
        f'<rect width="{wide}" height="{high}" fill="white"/>',
    ]
    for one, other in sorted(direct.edges):
        if one not in place or other not in place:
            continue
        (x, y), (u, v) = place[one], place[other]
        x, y, u = x + WIDTH / 2, y + HEIGHT, u + WIDTH / 2
        middle = (y + v) / 2
        parts.append(
            f'<path d="M{x:g} {y:g}C{x:g} {middle:g} {u:g} {middle:g} {u:g} {v:g}" fill="none" stroke="#999"/>'
        )
    for room, (x, y) in place.items():
        colour = COLOURS[room.split(".")[0]]
        parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{colour}" stroke="#666"/>'
        )
        size = graph.nodes[room]["modules"]
        for text, down, style in (
            (room, 15, ""),
            (f"{size} modules" if size > 1 else "1 module", 28, ' fill="#555" font-size="10"'),
        ):
            parts.append(f'<text x="{x + WIDTH / 2:g}" y="{y + down:g}" text-anchor="middle"{style}>{text}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _rows(graph: nx.DiGraph) -> list[list[str]]:
    """The layers without the packages that only hold others, each ordered by the places of what it stands on."""
    shown = [[room for room in layer if "." in room and room != "face.__main__"] for layer in layers(graph)]
    rows: list[list[str]] = []
    middle: dict[str, float] = {}
    for layer in shown:
        below = {room: [middle[each] for each in graph.successors(room) if each in middle] for room in layer}
        row = sorted(layer, key=lambda room: (sum(below[room]) / len(below[room]) if below[room] else 0.5, room))
        middle |= {room: (index + 0.5) / len(row) for index, room in enumerate(row)}
        rows.append(row)
    return [row for row in rows if row]


def main() -> None:
    graph = house().rooms()
    if "--picture" in sys.argv:
        PICTURE.write_text(picture(house()), encoding="utf-8")
        print(f"drew {PICTURE.relative_to(ROOT)}")
        return
    for number, layer in enumerate(layers(graph)):
        for room in layer:
            below = ", ".join(sorted(graph.successors(room))) or "nothing"
            size = graph.nodes[room]
            print(f"{number:2}  {room:28} {size['modules']:3} modules {size['lines']:6} lines  <- {below}")


if __name__ == "__main__":
    main()
