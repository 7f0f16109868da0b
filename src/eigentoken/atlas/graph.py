"""The dependency graph as SVG: columns by depth, ordered to keep edges short; every node is a link."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["colours_html", "graph_svg", "layout", "page_name"]

COLUMN, ROW, WIDTH, HEIGHT, HEADING = 270, 68, 234, 58, 34
#: Letters of a line of a title, and how many lines there are; the id stands below.
LETTERS, LINES = 32, 4
ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto" '
    'markerUnits="userSpaceOnUse"><path class="tip" d="M0,0.5 L8,4 L0,7.5 z"/></marker></defs>'
)
#: What a status says (:class:`eigentoken.theory.statements.statement.Status`).
MEANING = {
    "corrected": "false as printed in a paper that was read; the corrected form is derived",
    "refuted": "false as printed in a paper that was read, by an exact counterexample; no correction is derived",
    "formal": "the kernel proves exactly the claims, and Coq accepts that derivation, whole",
    "derived": "the kernel proves exactly the claims; what it rests on is listed",
    "stepwise": "every step of the derivation is checked by machine or cited; they are put together by names",
    "argued": "derived, with at least one step that is an argument in words only",
    "tested": "no derivation; random instances found no violation",
    "stated": "no verification is recorded for it as it stands now",
}


def colours_html() -> str:
    """The legend of the graph: one swatch for each status."""
    box = '<rect width="26" height="16" rx="4"/>'
    swatch = f'<svg class="graph" width="26" height="16" aria-hidden="true"><g class="{{0}}">{box}</g></svg>'
    items = "".join(
        f'<li data-status="{word}">{swatch.format(word)} <span class="{word}">{word}</span>: {meaning}</li>'
        for word, meaning in MEANING.items()
    )
    return f'<ul class="colours" aria-label="colours of the graph">{items}</ul>'


def layout(graph: nx.DiGraph) -> dict[str, tuple[int, int]]:
    """(column, row) of each node: what depends on nothing stands left; rows follow the mean row of what it needs."""
    import networkx as nx

    places: dict[str, tuple[int, int]] = {}
    for column, names in enumerate(nx.topological_generations(graph.reverse())):

        def wish(name: str) -> tuple[float, str]:
            needed = [places[other][1] for other in graph.successors(name) if other in places]
            return (sum(needed) / len(needed) if needed else 0.0, name)

        for row, name in enumerate(sorted(names, key=wish)):
            places[name] = (column, row)
    return places


def graph_svg(graph: nx.DiGraph, words: Mapping[str, str], titles: Mapping[str, str], papers: Mapping[str, str]) -> str:
    """The graph with links to ``ID.html``, one block a paper; ``words`` are the statuses, shown by colour and tooltip."""
    places, headings, rows = clustered(graph, papers)
    columns = 1 + max((column for column, _ in places.values()), default=0)
    parts = [f'<text class="paper" x="8" y="{_top(row) - 10}">{escape(paper)}</text>' for paper, row in headings]
    for name in graph:
        for other in graph.successors(name):
            parts.append(_edge(places[other], places[name], f'data-from="{escape(other)}" data-to="{escape(name)}"'))
    for name, place in places.items():
        x, y = _corner(place)
        title = titles[name]
        lines = wrap(title, LETTERS, max_lines=LINES, placeholder="…")
        shown = "".join(
            f'<tspan x="{x + 6}" y="{y + 14 + 13 * k}">{escape(line)}</tspan>' for k, line in enumerate(lines)
        )
        parts.append(
            f'<a href="{page_name(name)}" class="node {escape(words[name])}" data-id="{escape(name)}">'
            f"<title>{escape(f'{title} ({name}, {words[name]})')}</title>"
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
            f'<text class="title">{shown}</text>'
            f'<text class="id" x="{x + WIDTH - 6}" y="{y + HEIGHT - 6}">{escape(name)}</text></a>'
        )
    size = f'viewBox="0 0 {columns * COLUMN} {rows * ROW + 20}" width="{columns * COLUMN}"'
    return f'<svg class="graph" {size} role="group" aria-label="which statement depends on which">{ARROW}{"".join(parts)}</svg>'


def clustered(
    graph: nx.DiGraph, papers: Mapping[str, str]
) -> tuple[dict[str, tuple[int, float]], list[tuple[str, float]], float]:
    """(column, row) of each node, the row of each paper's heading, and the number of rows: papers one under the other.

    Inside a block the columns are the depths among the statements of that paper; a long column goes on in the next free
    place of the columns to its right where these end above it.
    """
    places: dict[str, tuple[int, float]] = {}
    headings: list[tuple[str, float]] = []
    top = 0.0
    for paper in dict.fromkeys(papers[name] for name in graph):
        block = graph.subgraph([name for name in graph if papers[name] == paper])
        headings.append((paper, top))
        inside = layout(block)
        for name, (column, row) in inside.items():
            places[name] = (column, top + row + HEADING / ROW)
        top += 1 + max(row for _, row in inside.values()) + HEADING / ROW + 0.4
    return places, headings, top


def page_name(name: str) -> str:
    """The file of a statement's page (a prime in an id is no letter for a file)."""
    return name.replace("'", "-prime") + ".html"


def _corner(place: tuple[int, float]) -> tuple[float, float]:
    return place[0] * COLUMN + 8, round(place[1] * ROW + 10, 1)


def _top(row: float) -> float:
    return round(row * ROW + 10 + HEADING, 1)


def _edge(start: tuple[int, float], end: tuple[int, float], names: str) -> str:
    (x1, y1), (x2, y2) = _corner(start), _corner(end)
    x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT / 2, y2 + HEIGHT / 2
    bend = (x2 - x1) / 2
    return f'<path class="edge" marker-end="url(#arrow)" {names} d="M{x1},{y1} C{x1 + bend},{y1} {x2 - bend},{y2} {x2},{y2}"/>'
