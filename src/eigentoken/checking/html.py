"""The HTML report: one self-contained file that opens offline.  What applies and how far the rest is comes first.

Words, order and links are those of the templates ``report.html`` and ``layer_table.html``; here is what they are given.
"""

from __future__ import annotations

from collections import Counter
from html import escape

from markupsafe import Markup

from eigentoken.checking.glossary import legend_html
from eigentoken.checking.intervals import interval
from eigentoken.checking.own_states import COLUMNS, rows_of_states, says_of_states, tokens_are
from eigentoken.checking.page_data import data_scripts
from eigentoken.checking.report import Report, rotary_shares, size_text
from eigentoken.checking.rows_of_statements import ABOUT, GROUPS, bunches, grouped
from eigentoken.checking.summary import (
    Groups,
    groups,
    heads_of,
    met_as_one_head,
    regime_heading,
    systems_of,
)
from eigentoken.checking.token_bounds import bounds_html
from eigentoken.documents.check_document import AsIfCounts
from eigentoken.pages import asset, filled, page
from eigentoken.statement_links import with_statements

__all__ = ["report_html", "summary_html"]

#: Column and key of what is measured beside the theory.
LEFT_OUT = (
    ("attention update / state", "attention_to_state"),
    ("step of the map", "own_step"),
    ("spread of lengths / mean", "length_spread"),
    ("change of F by subtracting the mean / F", "centring"),
    ("change by the norm / state", "norm_change"),
    ("feed-forward / attention update", "feed_forward"),
    ("biases / attention update", "biases"),
    ("uneven norm gains / attention update", "gains"),
    ("largest minus smallest gain", "gain_spread"),
)


def report_html(report: Report) -> str:
    """The whole page."""
    body = filled("report.html", **_answer(report), **_statements(report), **_measured(report), **_provenance(report))
    scripts = (asset("plot.js"), asset("report.js"), asset("statements.js"))
    title = f"eigentoken: {report.document['model']['source']}"
    whole, _ = with_statements(body)
    return page(title, whole, style=asset("report.css"), scripts=scripts, long=True)


def _answer(report: Report) -> dict[str, object]:
    """What is said before the tables."""
    found = groups(report)
    seen = report.document["observed"]
    several = any(layer["system"]["acting"] > 1 for layer in report.layers)
    heads = heads_of(report)
    return {
        "model": report.document["model"],
        "layers": len(report.layers),
        "systems": systems_of(report),
        "warnings": report.document["warnings"],
        "found": found,
        "nearest": _most_often(found),
        "parts": found.parts_text(),
        "heads": len(heads),
        "heads_met": met_as_one_head(report, "heads") if several else None,
        "head_regimes": sorted({head["regime"]["regime"] for head in heads}),
        "cases": sorted({layer["cases"]["step"] for layer in report.layers}),
        "regime_heading": regime_heading(report),
        "regimes": sorted({layer["regime"]["regime"] for layer in report.layers}),
        "rotary": [f"{low:.2g} to {high:.2g} at offset {k}" for k, (low, high) in rotary_shares(report).items()],
        "seen": {
            "E": (seen[0]["E"][0], seen[-1]["E"][1]),
            "distance": (seen[0]["mean_distance"][0], seen[-1]["mean_distance"][1]),
            "grew": sum(each["delta_rho_interval"][0] > 0 for each in seen),
            "layers": len(seen),
        }
        if seen
        else None,
    }


def _most_often(found: Groups) -> list[tuple[str, int]]:
    """The conditions that stand in the way of most statements about these layers."""
    counted = Counter(item["condition"] for each in (*found.fails, *found.undecided) for item in each["obstacles"])
    return sorted(counted.items(), key=lambda pair: (-pair[1], len(pair[0]), pair[0]))[:3]


def _statements(report: Report) -> dict[str, object]:
    from eigentoken.proofs.typeset.html import inline

    rows = grouped(report)
    shown = [
        {
            "name": name,
            "heading": heading,
            "says": says,
            "rows": rows[name],
            "bunches": bunches(name, rows[name]),
            "open": name in ABOUT,
            "tile": name in ("applies", "nearly", "far", "other") or (name == "undecided" and rows[name]),
        }
        for name, heading, says in GROUPS
    ]
    places = {told["id"]: place for place, told in enumerate(report.statements)}
    return {"groups": shown, "places": places, "as_if": _as_if(report), "inline": lambda text: Markup(inline(text))}


def _as_if(report: Report) -> list[dict[str, object]]:
    """What is read on the sum of the heads, or on a head alone."""
    found: list[dict[str, object]] = []
    for each in report.statements:
        read = each["as_one_head"]
        if read is None:
            continue
        blocked = [(item["condition"], item["layers"], "layer") for item in read["obstacles"][:4]]
        already = {item["condition"] for item in read["obstacles"]}
        more = [item for item in read["obstacles_in_heads"] if item["condition"] not in already]
        blocked += [(item["condition"], item["heads"], "head") for item in more[: 4 - len(blocked)]]
        counts = {"layers": _met(read["layers"]), "heads": _met(read["heads"])}
        found.append({"told": each, "blocked": blocked, **counts})
    return found


def _met(counts: AsIfCounts) -> str:
    return ", ".join(f"{name.removesuffix(' as if one head')} {count}" for name, count in counts.items() if count)


def _measured(report: Report) -> dict[str, object]:
    listed = report.document["idealisations"]
    return {
        "observed": report.document["observed"],
        "one_sequence": report.document["options"]["sequences"] == 1,
        "left_out_names": ("layer", *(name for name, _ in LEFT_OUT)),
        "left_out_keys": [key for _, key in LEFT_OUT],
        "layer_table": _layer_table(report),
        "bounds": Markup(bounds_html(report)),
        "tokens_are": tokens_are(report),
        "states_says": says_of_states(report),
        "state_columns": COLUMNS,
        "states": rows_of_states(report),
        "idealisations": [(each["name"], each["says"], size_text(each)) for each in listed],
    }


def _provenance(report: Report) -> dict[str, object]:
    return {
        "legend": Markup(legend_html()),
        "conventions": _typeset(report.document["conventions"]),
        "stamps": sorted({layer["convention"] for layer in report.layers}),
        "version": report.document["version"],
        "data": Markup(data_scripts(report)),
    }


#: Formulas of the conventions, which a document has as plain text.
FORMULAS = {
    "F = sum_h O_h V_h": r"\(F=\sum_hO_hV_h\)",
    "S = sum_h Q_h^T K_h": r"\(S=\sum_hQ_h^{\top}K_h\)",
    "U_h = O_h V_h": r"\(U_h=O_hV_h\)",
    "P_h = Q_h^T K_h / scale": r"\(P_h=Q_h^{\top}K_h/\text{scale}\)",
    "alpha = 1": r"\(\alpha=1\)",
}


def _typeset(conventions: str) -> str:
    for plain, formula in FORMULAS.items():
        conventions = conventions.replace(plain, formula)
    return conventions


def summary_html(report: Report) -> str:
    """What applies and the layer table, for a notebook: no script, no style of its own."""
    rows = grouped(report)
    lines = [f"Each layer: {escape(each)}." for each in systems_of(report)]
    lines += [f"<b>Warning:</b> {escape(text)}." for text in report.document["warnings"]]
    for name, heading, says in GROUPS:
        listed = rows[name]
        if name in ABOUT and (listed or name == "applies"):
            names = ", ".join(_called(each.told["title"], each.told["id"]) for each in listed)
            lines.append(f"{heading} (<small>{escape(says)}</small>): <b>{len(listed)}</b>{names and ': '}{names}.")
    lines.append(f"Not about this model: <b>{len(rows['other'])}</b>.")
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f"<h3>{escape(report.document['model']['description'])}</h3><ul>{items}</ul>{_layer_table(report)}"


def _called(title: str, name: str) -> str:
    return f"{escape(title)} <small>{escape(name)}</small>"


def _layer_table(report: Report) -> Markup:
    rows: list[dict[str, object]] = []
    for layer in report.layers:
        if layer["weights_of"] != layer["layer"]:
            continue
        shared = [other["layer"] for other in report.layers if other["weights_of"] == layer["layer"]]
        numbers = (layer["leading_eigenvalue"], layer["gap"], layer["norm"], layer["alpha_star"])
        apart = (layer["distance_to_symmetric"], layer["distance_to_identity"])
        rows.append(
            {
                "name": f"{shared[0]}–{shared[-1]}" if len(shared) > 1 else str(layer["layer"]),
                "cases": "/".join(layer["cases"][key] for key in ("real-part", "modulus", "step")),
                "numbers": [interval(each) for each in (*numbers, *apart)],
                "regime": layer["regime"]["regime"],
                "why": layer["regime"]["reason"],
            }
        )
    return filled("layer_table.html", rows=rows, regime_heading=regime_heading(report))
