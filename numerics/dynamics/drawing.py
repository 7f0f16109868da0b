"""From a chart to a matplotlib figure.

Figures are made without pyplot: the backend that a notebook or a script has chosen stays as it is.
"""

from __future__ import annotations

import io
import logging
import re
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from eigentoken.files.writing import write_bytes
from eigentoken.numerics.dynamics.charts import Chart, Curves, Histogram, SpherePaths
from eigentoken.numerics.dynamics.figure_styles import STYLES, FigureStyle
from eigentoken.numerics.dynamics.palette import COLOURS, DASHES
from eigentoken.numerics.dynamics.sphere_drawing import draw_paths
from eigentoken.numerics.dynamics.svg_fonts import with_fonts

__all__ = ["Drawing", "draw", "save"]


class Drawing(Figure):
    """A figure that shows itself in a notebook, whatever backend is chosen, and is listed by no pyplot."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


def draw(chart: Chart, style: FigureStyle = STYLES["page"]) -> Drawing:
    """The figure of a chart; panels fill the grid row by row, a third of two columns its whole row, and a legend that they
    share is drawn once."""
    with matplotlib.rc_context(style.settings()):
        count = max(1, len(chart.panels))
        columns = min(chart.columns, count, style.most_columns)
        rows = -(-count // columns)
        width = min(0.5 * STYLES["page"].width, style.width / columns)
        height = {1: 0.78, 2: 0.87}.get(columns, 1.1) * width
        figure = Drawing(figsize=(min(style.width, width * columns), height * rows + 0.4), layout="constrained")
        if style.title:
            figure.suptitle(_wrapped(chart.title, 46 * min(columns, 2)), fontsize=style.points + 2)
        shared = _shared_labels(chart)
        titles = _titles(chart, columns)
        for index, panel in enumerate(chart.panels):
            solid = isinstance(panel, SpherePaths) and np.shape(panel.paths)[-1] == 3
            fills = columns == 2 and index == count - 1 and not isinstance(panel, SpherePaths)
            last = rows * columns if fills else index + 1
            wide = width * (last - index)
            axes = figure.add_subplot(rows, columns, (index + 1, last), **({"projection": "3d"} if solid else {}))
            if isinstance(panel, SpherePaths):
                draw_paths(axes, panel)
            elif isinstance(panel, Curves):
                _curves(axes, panel, wide, legend=_labels(panel) != shared)
            else:
                _histogram(axes, panel, wide)
            axes.set_title(_wrapped(titles[index], round(12 * wide)))
        if shared:
            told = (axes.get_legend_handles_labels() for axes in figure.axes)
            handles, labels = next((lines, names) for lines, names in told if names == shared)
            fitting = [c for c in range(1, len(labels) + 1) if c == 1 or _legend_width(labels, c) <= width * columns]
            figure.legend(handles, labels, loc="outside lower center", ncol=max(fitting), frameon=False)
        figure.draw_without_rendering()  # a first layout: it can change which ticks there are, and so the room they need
        return figure


def _titles(chart: Chart, columns: int) -> list[str]:
    """The titles of the panels.  Where a title stands for its row and the rows are broken, every panel of the row has it."""
    titles = [panel.title for panel in chart.panels]
    if columns >= min(chart.columns, len(titles)):
        return titles
    return [next((each for each in reversed(titles[: place + 1]) if each), "") for place in range(len(titles))]


def _labels(panel: Curves) -> list[str]:
    return [curve.label for curve in panel.curves if curve.label]


def _shared_labels(chart: Chart) -> list[str]:
    """The labels that two or more panels of curves have alike (of several such, those of most): one legend is theirs."""
    named = [labels for panel in chart.panels if isinstance(panel, Curves) and (labels := _labels(panel))]
    alike = max(named, key=named.count, default=[])
    return alike if named.count(alike) > 1 else []


def save(chart: Chart, path: str | Path, style: FigureStyle = STYLES["page"]) -> Path:
    """Draw a chart to a ``.png``, ``.svg`` or ``.pdf`` file; the same chart gives the same bytes."""
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in {"png", "svg", "pdf"}:
        raise ValueError(f"a figure is saved as .png, .svg or .pdf, got {target.name!r}")
    with matplotlib.rc_context(style.settings()):
        metadata: dict[str, Any] = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[
            kind
        ]
        # the dates in a font that matplotlib ships are odd, and nothing that a reader of the figure should hear of
        logging.getLogger("fontTools.ttLib.tables._h_e_a_d").setLevel(logging.ERROR)
        picture = io.BytesIO()  # a full disk inside matplotlib would be an error of zlib
        draw(chart, style).savefig(picture, format=kind, metadata=metadata)
    made = picture.getvalue()
    write_bytes(target, with_fonts(made.decode()).encode() if kind == "svg" else made)
    return target


def _wrapped(text: str, width: int) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width)) or text


def _curves(axes: Any, panel: Curves, width: float, *, legend: bool) -> None:
    named = 0
    for curve in panel.curves:
        if curve.weight == "faint":
            style: dict[str, Any] = {
                "color": "#777777",
                "linewidth": 0.5,
                "alpha": 0.45,
                "zorder": 1.5,
            }  # under the others
        else:
            style = {"color": COLOURS[named % len(COLOURS)], "linestyle": DASHES[named % len(DASHES)]}
            style["linewidth"] = 2.0 if curve.weight == "strong" else 1.5
            named += 1
        x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
        if 0 < len(x) <= 14 and curve.weight != "faint":
            style |= {"marker": "o", "markersize": 3}
        axes.plot(x, y, label=curve.label or None, **style)
        if curve.spread is not None:
            spread = np.asarray(curve.spread, dtype=float)
            axes.fill_between(x, y - spread, y + spread, color=style["color"], alpha=0.15, linewidth=0)
        if curve.interval is not None:
            low, high = (np.asarray(each, dtype=float) for each in curve.interval)
            axes.fill_between(x, low, high, color=style["color"], alpha=0.18, linewidth=0)
    if panel.level is not None:
        axes.axhline(panel.level, color="#000000", linewidth=0.8, linestyle=":")
    if panel.log_y:
        axes.set_yscale("log")
    if panel.log_x:
        axes.set_xscale("log")
    if panel.y_range is not None:
        axes.set_ylim(*panel.y_range)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.x_label in {"layer", "model passes"} and not panel.log_x:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7 if width > 3 else 5))
    if legend:
        _legend(axes, _labels(panel), width)


def _legend(axes: Any, labels: list[str], width: float) -> None:
    """Below the axes, where it can hide no curve."""
    if labels:
        columns = max(c for c in range(1, min(len(labels), 3) + 1) if c == 1 or _legend_width(labels, c) <= width)
        below = -0.2 if width > 3 else -0.25
        axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, below), ncol=columns)


def _legend_width(labels: list[str], columns: int) -> float:
    """About how many inches a legend takes: in each column a sample line and its longest label (letters, not TeX)."""
    letters = [len(re.sub(r"[${}]", "", re.sub(r"\\\w+", "x", label))) for label in labels]
    return sum(0.47 + 0.062 * max(column) for column in np.array_split(letters, columns))


def _histogram(axes: Any, panel: Histogram, width: float) -> None:
    arrays = [np.asarray(values, dtype=float).ravel() for _, values in panel.values]
    low = min(float(a.min()) for a in arrays) if panel.x_range is None else panel.x_range[0]
    high = max(float(a.max()) for a in arrays) if panel.x_range is None else panel.x_range[1]
    if high <= low:
        high = low + 1e-9 + abs(low) * 1e-6
    edges = np.linspace(low, high, panel.bins + 1)
    for index, ((label, _), values) in enumerate(zip(panel.values, arrays, strict=True)):
        colour = COLOURS[index % len(COLOURS)]
        axes.hist(values, edges, histtype="stepfilled", color=colour, alpha=0.25)
        axes.hist(
            values,
            edges,
            histtype="step",
            color=colour,
            linestyle=DASHES[index % len(DASHES)],
            label=label,
            linewidth=1.3,
        )
    if panel.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel("count")
    _legend(axes, [label for label, _ in panel.values if label], width)
