"""The dependency graph of the book as a picture for its PDF: what a statement leans on stands left of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from eigentoken.files.writing import write_bytes

if TYPE_CHECKING:
    import networkx as nx

    from eigentoken.theory.statements.registry import Registry

__all__ = ["draw_dependencies"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#8a5fa8", "#666666")


def draw_dependencies(registry: Registry, target: Path) -> Path:
    """Draw the graph of all statements that depend on, or are needed by, another; colour is the source."""
    import matplotlib
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    graph = registry.graph().copy()
    graph.remove_nodes_from([name for name in list(graph) if graph.degree(name) == 0])
    at, rows = _places(graph)
    columns = 1 + round(max(x for x, _ in at.values()))
    papers = sorted({registry.get(name).source.paper for name in graph})
    colour = dict(zip(papers, COLOURS * (1 + len(papers) // len(COLOURS)), strict=False))
    with matplotlib.rc_context({"pdf.fonttype": 42, "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(7.2, max(3.0, min(9.6, 0.235 * rows + 0.8))))
        FigureCanvasPdf(figure)
        axes = figure.add_axes((0.01, 0.01, 0.98, 0.95))
        axes.set_axis_off()
        for name in graph:
            for other in graph.successors(name):
                start, end = at[other], at[name]
                axes.annotate(
                    "",
                    xy=(end[0] - 0.27, end[1]),
                    xytext=(start[0] + 0.27, start[1]),
                    arrowprops={"arrowstyle": "-|>", "lw": 0.45, "color": "#9a9a9a", "mutation_scale": 4},
                )
        for name, (x, y) in at.items():
            shade = colour[registry.get(name).source.paper]
            box = {"boxstyle": "round,pad=0.25", "fc": "white", "ec": shade, "lw": 0.8}
            axes.text(x, y, name, ha="center", va="center", fontsize=6, color=shade, bbox=box)
        for index, paper in enumerate(papers):
            axes.text(0.02 + 0.25 * index, 1.0, paper, transform=axes.transAxes, fontsize=7, color=colour[paper])
        axes.set_xlim(-0.45, columns - 0.55)
        axes.set_ylim(rows, -1)
        picture = io.BytesIO()
        figure.savefig(picture, format="pdf", metadata={"CreationDate": None})
    write_bytes(target, picture.getvalue())
    return target


def _places(graph: nx.DiGraph) -> tuple[dict[str, tuple[float, float]], float]:
    """Where each node stands: one component under the other, each laid out in columns by depth."""
    import networkx as nx

    from eigentoken.atlas.graph import layout

    at: dict[str, tuple[float, float]] = {}
    top = 0.0
    for component in sorted(nx.weakly_connected_components(graph), key=lambda each: (-len(each), min(each))):
        places = layout(graph.subgraph(component))
        heights: dict[int, int] = {}
        for column, _ in places.values():
            heights[column] = heights.get(column, 0) + 1
        tallest = max(heights.values())
        for name, (column, row) in places.items():
            at[name] = (float(column), top + (tallest - heights[column]) / 2 + row + 0.25 * (column % 2))
        top += tallest + 0.8
    return at, top
