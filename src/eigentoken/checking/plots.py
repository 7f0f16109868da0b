"""The figure of a report: certified numbers of layers and heads over depth.  A band is a certified interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves

if TYPE_CHECKING:
    from eigentoken.checking.report import Report
    from eigentoken.documents.check_document import Head, Interval, Layer

__all__ = ["middle_and_half", "report_chart"]


def middle_and_half(ends: Interval) -> tuple[float, float]:
    """The middle of an interval and half its width, for a line with a band; not a number where an end is open."""
    low, high = (math.nan, math.nan) if ends is None else (float(end) for end in ends)
    if not (math.isfinite(low) and math.isfinite(high)):
        return math.nan, math.nan
    return (low + high) / 2, (high - low) / 2


def _line(layers: Sequence[Layer], of: Callable[[Layer], Interval], label: str) -> Curve:
    found = [middle_and_half(of(layer)) for layer in layers]
    return Curve([layer["layer"] for layer in layers], [y for y, _ in found], label, spread=[half for _, half in found])


def _over_heads(layers: Sequence[Layer], of: Callable[[Head], Interval], title: str) -> Curves:
    """Smallest, median and largest over the heads of each layer."""
    columns: list[list[float]] = []
    for layer in layers:
        known = sorted(y for head in layer["heads"] if not math.isnan(y := middle_and_half(of(head))[0]))
        columns.append([known[0], known[len(known) // 2], known[-1]] if known else [math.nan] * 3)
    where = [layer["layer"] for layer in layers]
    names = ("smallest of the heads", "a median head", "largest of the heads")
    curves = [Curve(where, [each[place] for each in columns], name) for place, name in enumerate(names)]
    return Curves(curves, "layer", "", title)


def report_chart(report: Report) -> Chart:
    """Four panels: spectrum of F, sizes of F, scores and values of the heads."""
    layers = report.layers
    spectrum = [_line(layers, lambda layer: layer["leading_eigenvalue"], "largest real part")]
    spectrum += [_line(layers, lambda layer: layer["gap"], "gap to the next")]
    sizes = [
        _line(layers, lambda layer: layer["norm"], "norm"),
        _line(layers, lambda layer: layer.get("distance_to_symmetric"), "distance to symmetric"),
    ]
    panels = [
        Curves(spectrum, "layer", "", "eigenvalues of F", level=0.0),
        Curves(sizes, "layer", "", "size of F"),
        _over_heads(layers, lambda head: head["score_norm"], "norm of the scores P"),
        _over_heads(layers, lambda head: head["value"]["norm"], "norm of the values U"),
    ]
    return Chart(report.document["model"]["description"], panels)
