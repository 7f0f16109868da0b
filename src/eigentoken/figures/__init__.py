"""Figures of recipes and runs, the gallery, the graph of statements; charts are drawn by ``numerics.dynamics.drawing``.

``run_recipes`` is behind ``eigentoken reproduce``, ``run_simulation`` behind ``eigentoken simulate``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigentoken.figures.gallery import gallery_page
    from eigentoken.figures.runs import list_recipes, run_recipes, run_simulation, simulation_options

_HOME = {
    "gallery_page": "gallery",
    "list_recipes": "runs",
    "run_recipes": "runs",
    "run_simulation": "runs",
    "simulation_options": "runs",
}

__all__ = ["gallery_page", "list_recipes", "run_recipes", "run_simulation", "simulation_options"]


def __getattr__(name: str) -> Any:
    """Names are imported on first use: matplotlib and torch are slow to load."""
    import importlib

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
