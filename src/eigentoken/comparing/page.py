"""A comparison on a terminal, as JSON, as a figure and as one page with lines over the models."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from eigentoken.checking.intervals import interval
from eigentoken.checking.plots import middle_and_half
from eigentoken.comparing.compare import Comparison, step_numbers
from eigentoken.comparing.sentences import number_named, words_named
from eigentoken.output import say, say_hanging, table
from eigentoken.pages import asset, filled, page
from eigentoken.statement_links import with_statements

if TYPE_CHECKING:
    from eigentoken.documents.check_document import Interval
    from eigentoken.documents.compare_document import ComparedNumber
    from eigentoken.numerics.dynamics.charts import Chart, Curves

#: What the letters of the sentences and tables are.
LETTERS = (
    "F: the values of all heads of a layer together, Σ O_h V_h; λ₁: its eigenvalue of largest real part; gap: to the next; "
    "to sym.: |F - Fᵀ|/2; P = QᵀK/scale and U = OV of one head; case: 1, λ₁ is real and alone, 2, a complex pair, 3, neither"
)

__all__ = ["comparison_chart", "comparison_html", "comparison_json", "show_comparison"]

ARROWS = {"rises": "↑", "falls": "↓", "not parted": "·"}
NUMBERS = (
    ("leading eigenvalue", "Re λ₁"),
    ("gap", "gap"),
    ("norm", "|F|"),
    ("distance to symmetric over norm", "to sym./|F|"),
)


def comparison_json(found: Comparison) -> str:
    """The document with its schema."""
    document = {"schema": "eigentoken/compare/2", **found.as_dict()}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _from_to(number: ComparedNumber) -> str:
    """The first and the last value, in three digits, or in as many as tell them apart where they are."""
    first, last = number["values"][0], number["values"][-1]
    told = [(interval(first, digits), interval(last, digits)) for digits in range(3, 9)]
    apart = [pair for pair in told if pair[0] != pair[1]] if ARROWS[number["overall"]] != "·" else []
    return f"{' → '.join((apart or told)[0])} {ARROWS[number['overall']]}"


def _rows(found: Comparison) -> list[tuple[str, ...]]:
    rows = []
    for layer in found.document["layers"]:
        shared = len(layer["used_by"])
        name = f"{layer['layer']}{f' (x{shared})' if shared > 1 else ''}"
        cells = [_from_to(number_named(layer["numbers"], quantity)) for quantity, _ in NUMBERS]
        rows.append((name, " ".join(words_named(layer, "case by real-part")), *cells))
    return rows


def show_comparison(found: Comparison) -> None:
    """One table and the sentences."""
    say(f"{len(found.labels)} models: {', '.join(found.labels)}", "bold")
    columns = ("layer", "case", *(text for _, text in NUMBERS))
    table("layers, from the first model to the last", columns, _rows(found), wrap=columns[1:])
    say("↑ rises, ↓ falls: certified, the intervals part; · they meet; case by real part, a model each", "dim")
    say(LETTERS, "dim")
    for number, text in enumerate(found.sentences()):
        say_hanging(f"- {text}" if number else text, "  " if number else "")


def comparison_chart(found: Comparison) -> Chart:
    """Lines over the models: a line a layer for the numbers of F, faint lines for the heads under their median."""
    from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves

    steps = step_numbers(found.labels)
    x = [number + 1 for number in steps] if steps else list(range(len(found.labels)))
    x_label = "training step + 1" if steps else "model"

    def of_layers(quantity: str, title: str) -> Curves:
        curves = []
        for layer in found.document["layers"]:
            known = [middle_and_half(each) for each in number_named(layer["numbers"], quantity)["values"]]
            band = [half for _, half in known]
            curves.append(Curve(x, [middle for middle, _ in known], f"layer {layer['layer']}", spread=band))
        return Curves(curves, x_label, "", title, log_x=steps is not None)

    def of_heads(quantity: str, title: str) -> Curves:
        heads = [head for layer in found.document["layers"] for head in layer["heads"]]
        lines = [_middles(number_named(head["numbers"], quantity)["values"]) for head in heads]
        curves = [Curve(x, line, "", "faint") for line in lines]
        medians = [_median([line[place] for line in lines]) for place in range(len(x))]
        curves.append(Curve(x, medians, "a median head", "strong"))
        return Curves(curves, x_label, "", title, log_x=steps is not None)

    panels = [
        of_layers("leading eigenvalue", "largest real part of an eigenvalue of F"),
        of_layers("norm", "norm of F"),
        of_layers("distance to symmetric over norm", "distance of F to symmetric / norm"),
        of_heads("score norm", "norm of the scores P of each head"),
    ]
    return Chart(f"{found.labels[0]} to {found.labels[-1]}", panels)


def _median(values: list[float]) -> float:
    """The upper median of what is known; not a number where nothing is."""
    known = sorted(value for value in values if not math.isnan(value))
    return known[len(known) // 2] if known else math.nan


def _middles(values: list[Interval]) -> list[float]:
    return [middle_and_half(each)[0] for each in values]


def comparison_html(found: Comparison) -> str:
    """One self-contained page: the sentences, the lines, the tables, the statements that are named."""
    from eigentoken.numerics.dynamics.charts import Curves

    _, *said = found.sentences()
    layers = ("layer", "case by real part, a model each", *(text for _, text in NUMBERS))
    heads = ("layer", "head", "a real simple eigenvalue leads U", *_HEAD_NAMES)
    body = filled(
        "compare.html",
        labels=found.labels,
        letters=LETTERS,
        said=said,
        panels=[_panel(each) for each in comparison_chart(found).panels if isinstance(each, Curves)],
        tables=[
            ("Layers, from the first model to the last", layers, _rows(found)),
            ("Heads, from the first model to the last", heads, _head_rows(found)),
        ],
        models=found.document["models"],
    )
    whole, named = with_statements(body)
    scripts = (asset("plot.js"), asset("lines.js"))
    return page("eigentoken: compare", whole, style=asset("compare.css"), scripts=scripts, mathematics=named)


def _panel(panel: Curves) -> dict[str, object]:
    """A panel as the script of the page draws it; what is not a number is null."""

    def numbers(values: object) -> list[float | None]:
        return [float(each) if math.isfinite(each) else None for each in values]  # type: ignore[attr-defined]

    lines = []
    for curve in panel.curves:
        half = curve.spread if curve.spread is not None else [0.0] * len(curve.y)
        low = [middle - each for middle, each in zip(curve.y, half, strict=True)]
        high = [middle + each for middle, each in zip(curve.y, half, strict=True)]
        ends = {"low": numbers(low), "high": numbers(high)}
        faint = curve.weight == "faint"
        lines.append({"name": curve.label, "faint": faint, "x": numbers(curve.x), "y": numbers(curve.y), **ends})
    return {"title": panel.title, "x": panel.x_label, "log": panel.log_x, "lines": lines}


_HEAD_NAMES = {
    "|P|": "score norm",
    "P to sym./|P|": "score distance to symmetric over norm",
    "|U|": "value norm",
    "U to sym./|U|": "value distance to symmetric over norm",
}


def _head_rows(found: Comparison) -> list[tuple[str, ...]]:
    rows = []
    for layer in found.document["layers"]:
        for head in layer["heads"]:
            words = words_named(head, "a real simple eigenvalue leads")
            cells = [_from_to(number_named(head["numbers"], name)) for name in _HEAD_NAMES.values()]
            rows.append((str(layer["layer"]), str(head["head"]), f"{words[0]} → {words[-1]}", *cells))
    return rows
