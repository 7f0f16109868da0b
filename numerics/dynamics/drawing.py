"""From a chart to a matplotlib figure.

Figures are made without pyplot: the backend that a notebook or a script has chosen stays as it is.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from eigentoken.files.writing import write_bytes
from eigentoken.numerics.dynamics.charts import Chart, Curves, Histogram, SpherePaths

__all__ = ["COLOURS", "Drawing", "draw", "save"]

#: Okabe and Ito's palette: told apart by all common kinds of colour vision; without colour, the dashes do it.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))

#: Inches that the panels of a row share: no figure is wider than a printed page, so its letters keep their size there.
PAGE, PANEL = 7.4, 3.7

STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "svg.hashsalt": "eigentoken",
    "mathtext.fontset": "cm",
}


class Drawing(Figure):
    """A figure that shows itself in a notebook, whatever backend is chosen, and is listed by no pyplot."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


def draw(chart: Chart) -> Drawing:
    """The figure of a chart; panels fill the grid row by row."""
    with matplotlib.rc_context(STYLE):
        count = max(1, len(chart.panels))
        columns = min(chart.columns, count)
        rows = -(-count // columns)
        width = min(PANEL, PAGE / columns)
        height = 3.3 if columns < 3 else 2.7
        figure = Drawing(figsize=(width * columns + 0.2, height * rows + 0.4), layout="constrained")
        figure.suptitle(_wrapped(chart.title, 46 * min(columns, 2)), fontsize=11)
        for index, panel in enumerate(chart.panels):
            if isinstance(panel, SpherePaths):
                _sphere(figure.add_subplot(rows, columns, index + 1, projection="3d"), panel, width)
            elif isinstance(panel, Curves):
                _curves(figure.add_subplot(rows, columns, index + 1), panel, width)
            else:
                _histogram(figure.add_subplot(rows, columns, index + 1), panel, width)
        figure.draw_without_rendering()  # a first layout: it can change which ticks there are, and so the room they need
        return figure


def save(chart: Chart, path: str | Path) -> Path:
    """Draw a chart to a ``.png``, ``.svg`` or ``.pdf`` file; the same chart gives the same bytes."""
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in {"png", "svg", "pdf"}:
        raise ValueError(f"a figure is saved as .png, .svg or .pdf, got {target.name!r}")
    with matplotlib.rc_context(STYLE):
        metadata: dict[str, Any] = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[
            kind
        ]
        picture = io.BytesIO()  # a full disk inside matplotlib would be an error of zlib
        draw(chart).savefig(picture, format=kind, metadata=metadata)
    write_bytes(target, picture.getvalue())
    return target


def _wrapped(text: str, width: int) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width)) or text


def _curves(axes: Any, panel: Curves, width: float) -> None:
    named = 0
    for curve in panel.curves:
        if curve.weight == "faint":
            style: dict[str, Any] = {"color": "#777777", "linewidth": 0.5, "alpha": 0.45}
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
    axes.set_title(_wrapped(panel.title, round(12 * width)))
    if panel.x_label in {"layer", "model passes"} and not panel.log_x:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7 if width > 3 else 5))
    _legend(axes, [curve.label for curve in panel.curves if curve.label], width)


def _legend(axes: Any, labels: list[str], width: float) -> None:
    """Below the axes, where it can hide no curve."""
    if labels:
        columns = max(c for c in range(1, min(len(labels), 3) + 1) if c == 1 or _legend_width(labels, c) <= width)
        below = -0.2 if width > 3 else -0.25
        axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, below), ncol=columns)


def _legend_width(labels: list[str], columns: int) -> float:
    """About how many inches a legend takes: in each column a sample line and its longest label (letters, not TeX)."""
    letters = [len(re.sub(r"[${}]", "", re.sub(r"\\\w+", "x", label))) for label in labels]
    return sum(0.42 + 0.058 * max(column) for column in np.array_split(letters, columns))


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
    axes.set_title(_wrapped(panel.title, round(12 * width)))
    _legend(axes, [label for label, _ in panel.values if label], width)


def _sphere(axes: Any, panel: SpherePaths, width: float) -> None:
    metric = np.eye(3) if panel.metric is None else np.asarray(panel.metric, dtype=float)
    values, vectors = np.linalg.eigh(metric)
    half = (vectors / np.sqrt(values)) @ vectors.T
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(0, np.pi, 19))
    ball = np.stack((np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)), axis=-1) @ half.T
    axes.plot_surface(*np.moveaxis(ball, -1, 0), color="#bbbbbb", alpha=0.12, linewidth=0, antialiased=True)
    axes.plot_wireframe(*np.moveaxis(ball, -1, 0), color="#999999", alpha=0.25, linewidth=0.4, rcount=10, ccount=18)
    paths = np.asarray(panel.paths, dtype=float)
    for i in range(paths.shape[1]):
        axes.plot(*paths[:, i].T, color=COLOURS[0], linewidth=1.1)
    axes.scatter(*paths[0].T, s=22, facecolor="white", edgecolor="black", depthshade=False, label="start")
    axes.scatter(*paths[-1].T, s=26, facecolor="#777777", edgecolor="black", depthshade=False, label="end")
    for name, direction in panel.directions:
        tip = np.asarray(direction, dtype=float) * 1.25
        axes.plot(*np.stack((np.zeros(3), tip)).T, color=COLOURS[1], linewidth=1.6)
        axes.text(*(tip * 1.2), name, color=COLOURS[1], fontsize=9)
    reach = float(np.abs(ball).max()) * (1.3 if panel.directions else 1.05)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_zlim(-reach, reach)
    axes.set_box_aspect((1, 1, 1), zoom=1.3 if panel.directions else 1.15)
    ticks = [-round(reach / 2, 1), 0, round(reach / 2, 1)]
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.set_zticks(ticks)
    axes.tick_params(labelsize=7, pad=-2)
    axes.set_title(_wrapped(panel.title, round(11 * width)))
    axes.legend(loc="upper left", bbox_to_anchor=(-0.1, 1.0), frameon=False, fontsize=7.5)
