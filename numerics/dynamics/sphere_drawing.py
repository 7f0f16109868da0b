"""Paths of tokens on a sphere, an ellipsoid or a circle: a colour for each token, the far side faded.

The surface is ``{x : x^T W x = 1}``.  A point x of it is on the near side when its outward normal W x looks at the reader.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigentoken.numerics.dynamics.charts import SpherePaths
from eigentoken.numerics.dynamics.palette import COLOURS, DASHES

__all__ = ["draw_paths", "near_side"]

AZIMUTH, ELEVATION = -55.0, 24.0
DIRECTION = "#5b5b5b"


def draw_paths(axes: Any, panel: SpherePaths) -> None:
    """Draw a panel on ``axes``: of three dimensions where the tokens have three, of the plane where they have two."""
    paths = np.asarray(panel.paths, dtype=float)
    flat = paths.shape[-1] == 2
    metric = np.eye(paths.shape[-1]) if panel.metric is None else np.asarray(panel.metric, dtype=float)
    surface = _circle(metric) if flat else _ellipsoid(metric)
    reach = float(np.abs(surface).max()) * (1.22 if panel.directions else 1.03)
    if flat:
        axes.plot(*surface.T, color="#999999", linewidth=0.8)
        axes.set_aspect("equal")
    else:
        axes.view_init(elev=ELEVATION, azim=AZIMUTH)
        axes.plot_surface(*np.moveaxis(surface, -1, 0), color="#bbbbbb", alpha=0.10, linewidth=0, antialiased=True)
        axes.plot_wireframe(
            *np.moveaxis(surface, -1, 0), color="#999999", alpha=0.22, linewidth=0.35, rcount=10, ccount=18
        )
        axes.set_zlim(-reach, reach)
        axes.set_box_aspect((1, 1, 1), zoom=1.5)
    axes.set_axis_off()
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    for name, direction in panel.directions:
        _direction(axes, name, np.asarray(direction, dtype=float), surface)
    for i in range(paths.shape[1]):
        _path(axes, paths[:, i], metric, i)


def near_side(points: Any, metric: Any) -> np.ndarray:
    """For points (..., 3) of the surface: does the outward normal look at the reader?"""
    azimuth, elevation = np.deg2rad(AZIMUTH), np.deg2rad(ELEVATION)
    eye = np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], dtype=float
    )
    return np.asarray(points, dtype=float) @ np.asarray(metric, dtype=float) @ eye >= 0


def _path(axes: Any, path: np.ndarray, metric: np.ndarray, index: int) -> None:
    """One token: its path, a white dot where it starts, a full one where it ends; thin and pale on the far side."""
    colour = COLOURS[index % len(COLOURS)]
    dashes = DASHES[(index // len(COLOURS)) % len(DASHES)]
    near = np.ones(len(path), dtype=bool) if path.shape[-1] == 2 else near_side(path, metric)
    crossing = near[1:] != near[:-1]
    for side, alpha, width in ((~near, 0.3, 0.8), (near, 1.0, 1.3)):
        drawn = side.copy()
        drawn[1:] |= side[:-1] & crossing  # the segment that crosses the edge belongs to both, so that no gap is seen
        if drawn.any():
            visible = np.where(drawn[:, None], path, np.nan)
            axes.plot(*visible.T, color=colour, linestyle=dashes, linewidth=width, alpha=alpha)
    style: dict[str, Any] = {"edgecolor": colour, "linewidth": 1.1}
    if path.shape[-1] == 3:
        style["depthshade"] = False
    axes.scatter(*path[:1].T, s=20, facecolor="white", alpha=1.0 if near[0] else 0.45, zorder=3, **style)
    axes.scatter(*path[-1:].T, s=24, facecolor=colour, alpha=1.0 if near[-1] else 0.45, zorder=4, **style)


def _direction(axes: Any, name: str, direction: np.ndarray, surface: np.ndarray) -> None:
    """Both ends of an eigenvector: plus drawn through, minus dashed."""
    length = 1.22 * float(np.abs(surface).max())
    unit = direction / float(np.linalg.norm(direction))
    for sign, style in ((1, "-"), (-1, "--")):
        tip = sign * length * unit
        axes.plot(*np.stack((np.zeros(len(unit)), tip)).T, color=DIRECTION, linewidth=1.2, linestyle=style)
        behind = {
            "facecolor": "white",
            "edgecolor": "none",
            "pad": 0.6,
            "alpha": 0.85,
        }  # the line does not cross its name
        axes.text(*(tip * 1.1), _signed(name, sign), color=DIRECTION, ha="center", va="center", bbox=behind, zorder=20)


def _signed(name: str, sign: int) -> str:
    bare = name.strip("$")
    mark = "+" if sign > 0 else "-"
    return f"${mark}{bare}$"


def _ellipsoid(metric: np.ndarray) -> np.ndarray:
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(0, np.pi, 19))
    return np.stack((np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)), axis=-1) @ _root(metric)


def _circle(metric: np.ndarray) -> np.ndarray:
    u = np.linspace(0, 2 * np.pi, 181)
    return np.stack((np.cos(u), np.sin(u)), axis=-1) @ _root(metric)


def _root(metric: np.ndarray) -> np.ndarray:
    """W^(-1/2), which takes the unit sphere to the surface."""
    values, vectors = np.linalg.eigh(metric)
    return (vectors / np.sqrt(values)) @ vectors.T
