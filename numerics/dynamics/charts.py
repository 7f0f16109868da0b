"""What a figure shows, as data: curves, tokens on a sphere or ellipsoid, histograms, tables.

Numbers are made here and in the experiments; drawing them is left to :mod:`eigentoken.numerics.dynamics.drawing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Chart", "Curve", "Curves", "Histogram", "SpherePaths", "Table"]


@dataclass(frozen=True, eq=False)
class Curve:
    """One line: ``weight`` "strong", "plain" or "faint" says how it is drawn, ``spread`` is a band around it.

    ``interval``: the lower and the upper ends of an interval for each value, drawn as a band: of fractions of trials, or of the
    values of most tokens; the axis says which.
    """

    x: Any
    y: Any
    label: str = ""
    weight: str = "plain"
    spread: Any = None
    interval: tuple[Any, Any] | None = None


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines over one axis; ``level`` is a horizontal reference."""

    curves: Sequence[Curve]
    x_label: str
    y_label: str
    title: str = ""
    log_y: bool = False
    log_x: bool = False
    level: float | None = None
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class SpherePaths:
    """Paths (times, n, 3) on the ellipsoid ``x^T W x = 1`` (the sphere without a metric), or (times, n, 2) on the ellipse.

    Each token has a colour: a white dot where it starts, a full one where it ends.
    """

    paths: Any
    metric: Any = None
    title: str = ""
    directions: Sequence[tuple[str, Any]] = ()


@dataclass(frozen=True, eq=False)
class Histogram:
    """Distributions drawn as steps over common bins."""

    values: Sequence[tuple[str, Any]]
    x_label: str
    title: str = ""
    bins: int = 40
    x_range: tuple[float, float] | None = None
    log_y: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure of panels in a grid with the given number of columns, and tables printed beside it."""

    title: str
    panels: Sequence[Curves | SpherePaths | Histogram] = ()
    columns: int = 2
    tables: Sequence[Table] = field(default_factory=tuple)

    def arrays(self) -> dict[str, np.ndarray]:
        """Every number in the figure by name, for the data file beside it."""
        found: dict[str, np.ndarray] = {}
        for p, panel in enumerate(self.panels):
            if isinstance(panel, Curves):
                for c, curve in enumerate(panel.curves):
                    found[f"panel{p}_curve{c}_x"] = np.asarray(curve.x)
                    found[f"panel{p}_curve{c}_y"] = np.asarray(curve.y)
                    if curve.spread is not None:
                        found[f"panel{p}_curve{c}_spread"] = np.asarray(curve.spread)
                    if curve.interval is not None:
                        found[f"panel{p}_curve{c}_interval"] = np.stack([np.asarray(each) for each in curve.interval])
            elif isinstance(panel, SpherePaths):
                found[f"panel{p}_paths"] = np.asarray(panel.paths)
            else:
                for k, (_, values) in enumerate(panel.values):
                    found[f"panel{p}_values{k}"] = np.asarray(values)
        return found
