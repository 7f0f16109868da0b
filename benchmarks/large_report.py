"""A report of many layers and heads, made from one layer's records: for the browser tests and for ``bench_pages.py``."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["page"]


def _layer(index: int, heads: int, eigenvalues: int) -> dict[str, Any]:
    verdict: dict[str, Any] = {"verdict": "holds", "margin": 0.5, "unit": "spectral norm", "reason": "because"}
    verdict |= {"certificate": None, "details": {"eigenvalue": {"re": 1.0, "im": 0.0, "radius": 1e-9}}}
    head = {"score_norm": [1.0, 2.0], "score_inertia": verdict, "value_inertia": verdict, "value_leader": verdict}
    spiral = [1 - k / (eigenvalues + 100) for k in range(eigenvalues)]
    return {
        "layer": index,
        "weights_of": index,
        "discs": [[math.cos(k) * radius, math.sin(k) * radius, 1e-8] for k, radius in enumerate(spiral)],
        "leaders": dict.fromkeys(("real-part", "modulus", "step"), verdict),
        "cases": {"real-part": "1", "modulus": "1", "step": "1"},
        "regime": {"regime": "none", "reason": "why"},
        "norm": [1.0, 1.0],
        "score_inertia": verdict,
        "heads": [{"head": number, **head} for number in range(heads)],
        "convention": "as stored",
        **{key: [1.0, 1.0] for key in ("leading_eigenvalue", "gap", "alpha_star")},
        **{key: [1.0, 1.0] for key in ("distance_to_symmetric", "distance_to_identity")},
    }


def page(layers: int, heads: int, eigenvalues: int = 1600) -> str:
    """The HTML of a report with so many layers, heads and eigenvalues a layer."""
    from eigentoken.checking.html import report_html
    from eigentoken.checking.report import Report

    model = {"source": "synthetic", "description": f"{layers} layers, {heads} heads", "files": []}
    records = [_layer(index, heads, eigenvalues) for index in range(layers)]
    document = {"model": model, "layers": records, "statements": [], "observed": [], "conventions": "", "version": "0"}
    return report_html(Report(document))
