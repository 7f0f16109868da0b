"""The HTML report: one self-contained file that opens offline; summary, heat map, spectra, depth curves, details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from eigentoken.checking.glossary import legend_html
from eigentoken.checking.intervals import interval
from eigentoken.checking.page_data import data_scripts
from eigentoken.checking.report import Report, rotary_shares, size_text
from eigentoken.checking.summary import (
    difference_text,
    groups,
    heads_of,
    met_as_one_head,
    regime_heading,
    systems_of,
)
from eigentoken.checking.token_bounds import bounds_html
from eigentoken.documents.check_document import AsIfCounts, Statement
from eigentoken.pages import asset, page

__all__ = ["report_html", "summary_html"]


HEADS = (
    "<p>Each cell is one head. Choose what the colour shows; click a cell, or move with the arrow keys, Home and End "
    "(with Ctrl: first and last layer) and press Enter, for its verdicts, margins and certificates. The framed column "
    "after the gap is the whole layer, coloured on a scale of its own.</p>"
)
CLOUD = (
    "<p>Certified discs of all eigenvalues of \\(F=\\sum_h O_hV_h\\). The dashed circle around \\(-1\\) goes through the "
    "leader by \\(|1+\\lambda|\\), the order that decides for a layer with step 1.</p>"
)
DEPTH = (
    '<h2 id="depth">By depth</h2><p>Measured on random tokens run through the actual layers, with biases, norms and '
    "feed-forward; 95 % intervals. Not certified.</p>"
)
LEFT_OUT = (
    "<tr><th>layer</th><th>attention update / state</th><th>step of the map</th><th>spread of lengths / mean</th>"
    "<th>change of F by subtracting the mean / F</th><th>change by the norm / state</th>"
    "<th>feed-forward / attention update</th><th>biases / attention update</th>"
    "<th>uneven norm gains / attention update</th><th>largest minus smallest gain</th></tr>"
)
LEFT_OUT_KEYS = (
    "attention_to_state",
    "own_step",
    "length_spread",
    "centring",
    "norm_change",
    "feed_forward",
    "biases",
    "gains",
    "gain_spread",
)
STATEMENTS = (
    "<tr>"
    + "".join(
        f"<th>{name}</th>"
        for name in ("id", "title", "in the layers", "what differs, or is in the way", "asked of tokens", "left out")
    )
    + "</tr>"
)
AS_IF = (
    '<h3 id="as-if">As if a layer were one head</h3><p>These statements are about one head, and several heads act in these '
    "layers. Their conditions are read on the sums \\(F\\) and \\(S\\), and on each head alone. No theorem says anything of "
    "the layers here.</p>"
)
AS_IF_HEAD = (
    "<tr>"
    + "".join(f"<th>{name}</th>" for name in ("id", "title", "by the sum of the heads", "by heads alone", "in the way"))
    + "</tr>"
)


def report_html(report: Report) -> str:
    """The whole page."""
    model = report.document["model"]
    body = "\n".join(
        (
            f"<header><h1>{escape(model['source'])}</h1><p>{escape(model['description'])}</p></header>",
            _summary(report),
            legend_html(),
            '<h2 id="layers">Layers</h2>',
            _layer_table(report),
            '<h2 id="heads">Heads</h2>',
            HEADS,
            '<p class="no-print"><label>colour: <select id="colour"></select></label></p>',
            '<div id="heat" role="grid" aria-label="layers by heads" tabindex="0"></div><p id="legend"></p>',
            '<section id="detail" class="statement" aria-live="polite"><p>Nothing chosen yet.</p></section>',
            '<h2 id="spectrum">Eigenvalues of the layer matrix</h2>',
            CLOUD,
            '<p class="no-print"><label>layer: <select id="which"></select></label></p><div id="cloud"></div>',
            DEPTH,
            '<div id="curves"></div>',
            _left_out(report),
            bounds_html(report),
            '<h2 id="statements">Statements</h2>',
            _statement_table(report),
            '<h2 id="about">Conventions and provenance</h2>',
            _about(report),
            data_scripts(report),
        )
    )
    return page(f"eigentoken: {model['source']}", body, style=asset("report.css"), script=asset("report.js"), long=True)


def _summary(report: Report) -> str:
    found, total = groups(report), len(report.layers)
    lines = [f"<li>Each layer: {escape(each)}.</li>" for each in systems_of(report)]
    lines += [
        f'<li class="warning"><strong>Warning:</strong> {escape(text)}.</li>' for text in report.document["warnings"]
    ]
    lines.append(
        "<li>Statements about these layers with all conditions on weights certified in every layer: "
        f"<b>{len(found.holds)}</b>{' (' + _links(found.holds) + ')' if found.holds else ''}.</li>"
    )
    lines.append(
        f"<li>About these layers, with a condition that certifiably fails in some layer: <b>{len(found.fails)}</b>"
        f"{' (' + _links(found.fails) + ')' if found.fails else ''}; undecided: <b>{len(found.undecided)}</b>"
        f"{' (' + _links(found.undecided) + ')' if found.undecided else ''}.</li>"
    )
    parts = found.parts_text()
    lines.append(
        f"<li>Not about this model: <b>{len(found.not_about)}</b>{f' (what differs: {escape(parts)})' if parts else ''}.</li>"
    )
    for says, listed in (
        ("Ask nothing of the weights beyond being finite", found.asks_nothing),
        ("Ask only that a matrix is invertible, and it is", found.asks_invertible),
    ):
        if listed:
            lines.append(f"<li>{says}: {_links(listed)}.</li>")
    shown = ", ".join(f"{_link(each['id'])} ({count} of {total})" for each, count in found.partly)
    if shown:
        lines.append(f"<li>Hold in some layers: {shown}.</li>")
    cases = sorted({layer["cases"]["step"] for layer in report.layers})
    lines.append(
        f"<li>Case of the layers by \\(|1+\\lambda|\\), the notion a layer with step 1 needs: {', '.join(cases)}.</li>"
    )
    regimes = sorted({layer["regime"]["regime"] for layer in report.layers})
    lines.append(f"<li>{regime_heading(report).capitalize()} in the sense of Pham et al.: {', '.join(regimes)}.</li>")
    lines.append(_heads_line(report))
    shares = [f"{low:.2g} to {high:.2g} at offset {offset}" for offset, (low, high) in rotary_shares(report).items()]
    if shares:
        lines.append(
            "<li>Rotary positions change the score matrix of a head by \\(\\|\\Delta W(\\delta)\\| / \\|P(0)\\|\\): "
            f"{', '.join(shares)} (over the heads).</li>"
        )
    seen = report.document["observed"]
    if seen:
        first, last = seen[0], seen[-1]
        grew = sum(each["delta_rho_interval"][0] > 0 for each in seen)
        lines.append(
            f"<li>Seen anyway: \\(E\\) goes from {first['E'][0]:.3f} to {last['E'][1]:.3f}, the mean distance of token "
            f"directions from {first['mean_distance'][0]:.3f} to {last['mean_distance'][1]:.3f}; the correlation with "
            f"the principal direction grows, beyond its interval, in {grew} of {len(seen)} layers.</li>"
        )
    return f'<h2 id="summary">Summary</h2><ul>{"".join(lines)}</ul>{_idealisations(report)}'


def _idealisations(report: Report) -> str:
    """What stands between the verdicts and the layers, with its size."""
    rows = "".join(
        f'<tr><th scope="row">{escape(each["name"])}</th><td>{escape(each["says"])}</td><td>{escape(size_text(each))}</td></tr>'
        for each in report.document["idealisations"]
    )
    if not rows:
        return ""
    return (
        '<h3 id="idealisations">Idealisations beside the verdicts</h3><p>Heads, mask, positions and shared matrices must match; '
        "these need not, and this is how large they are in these layers (measured on random tokens, not certified, unless it "
        f'says so).</p><div class="display"><table><tr><th>name</th><th>what it is</th><th>size over the layers</th></tr>{rows}'
        "</table></div>"
    )


def _heads_line(report: Report) -> str:
    if not any(layer["system"]["acting"] > 1 for layer in report.layers):
        return ""
    heads = heads_of(report)
    met = ", ".join(f"{_link(each['id'])} ({count})" for each, count in met_as_one_head(report, "heads"))
    names = sorted({head["regime"]["regime"] for head in heads})
    return (
        f'<li><a href="#as-if">As if a head were alone</a>, no verdict on these layers, conditions are met in so many of '
        f"{len(heads)} heads: {met or 'none'}. Regime of the heads, on the range of \\(O_h\\): {', '.join(names)}.</li>"
    )


def summary_html(report: Report) -> str:
    """The summary and the layer table, for a notebook."""
    return f"<h3>{escape(report.document['model']['description'])}</h3>{_summary(report)}{_layer_table(report)}"


def _link(name: str) -> str:
    return f'<a href="#s-{escape(name)}">{escape(name)}</a>'


def _links(found: Sequence[Mapping[str, Any]]) -> str:
    """Each statement with its title."""
    return ", ".join(f"{_link(each['id'])} {escape(each['title'])}" for each in found)


def _layer_table(report: Report) -> str:
    head = (
        "<tr><th>layer</th><th>case: Re / | | / |1+λ|</th><th>Re λ₁</th><th>gap</th><th>‖F‖</th><th>α*</th>"
        f"<th>to symmetric</th><th>to I</th><th>{regime_heading(report)}</th></tr>"
    )
    rows = []
    for layer in report.layers:
        if layer["weights_of"] != layer["layer"]:
            continue
        shared = [other["layer"] for other in report.layers if other["weights_of"] == layer["layer"]]
        name = f"{shared[0]}–{shared[-1]}" if len(shared) > 1 else str(layer["layer"])
        cases = "/".join(layer["cases"][key] for key in ("real-part", "modulus", "step"))
        numbers = (layer["leading_eigenvalue"], layer["gap"], layer["norm"], layer["alpha_star"])
        apart = (layer["distance_to_symmetric"], layer["distance_to_identity"])
        cells = "".join(f"<td>{interval(each)}</td>" for each in (*numbers, *apart))
        why = escape(layer["regime"]["reason"])
        rows.append(
            f'<tr><td>{name}</td><td>{cases}</td>{cells}<td title="{why}">{layer["regime"]["regime"]}</td></tr>'
        )
    return f'<div class="display"><table>{head}{"".join(rows)}</table></div>'


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _left_out(report: Report) -> str:
    seen = report.document["observed"]
    if not seen:
        return "<p>No tokens were run.</p>"
    rows = "".join(
        f"<tr><td>{each['layer']}</td>"
        + "".join(f"<td>{_number(each['left_out'][key])}</td>" for key in LEFT_OUT_KEYS)
        + "</tr>"
        for each in seen
    )
    return (
        "<details><summary>What the theory leaves out, measured</summary>"
        f'<div class="display"><table>{LEFT_OUT}{rows}</table></div></details>'
    )


#: The tables of statements, in this order: heading, and the group of :func:`groups`.
TABLES = (
    ("Hold in every layer", "holds"),
    ("Fail in some layer", "fails"),
    ("Undecided", "undecided"),
    ("Ask only that a matrix is invertible, and it is", "asks_invertible"),
    ("Ask nothing of the weights beyond being finite", "asks_nothing"),
    ("Not about this model", "not_about"),
    ("Definitions (they claim nothing)", "definitions"),
)


def _statement_table(report: Report) -> str:
    """The claims by what is said of them, then the definitions; what has no condition on weights in one line."""
    found, parts = groups(report), []
    for title, name in TABLES:
        rows = "".join(_statement_row(each, len(report.layers)) for each in getattr(found, name))
        if rows:
            parts.append(f'<h3>{title}</h3><div class="display"><table>{STATEMENTS}{rows}</table></div>')
    free = "".join(f'<span id="s-{escape(each["id"])}">{escape(each["id"])}</span> ' for each in found.no_condition)
    rest = f"<p>About these layers, with no condition on weights that is read: {free.strip()}.</p>" if free else ""
    return "".join(parts) + rest + _as_if_table(report)


def _statement_row(told: Statement, layers: int) -> str:
    word = told["word"]
    style = word if word in {"holds", "fails", "undecided"} else ""
    blocked = [_blocked(item["condition"], item["layers"], "layer") for item in told["obstacles"][:4]]
    why = escape(difference_text(told, layers)) if told["differs"] else "<br>".join(blocked)
    tokens = "<br>".join(f"\\({escape(text)}\\)" for text in told["about_tokens"])
    return (
        f'<tr id="s-{escape(told["id"])}"><th scope="row" class="id">{escape(told["id"])}</th>'
        f'<td>{escape(told["title"])}</td><td class="{style}">{word}</td><td>{why}</td><td>{tokens}</td>'
        f"<td>{escape(', '.join(told['idealisations']))}</td></tr>"
    )


def _as_if_table(report: Report) -> str:
    rows = []
    for each in report.statements:
        read = each["as_one_head"]
        if read is None:
            continue
        blocked = [_blocked(item["condition"], item["layers"], "layer") for item in read["obstacles"][:4]]
        already = {item["condition"] for item in read["obstacles"]}
        more = [item for item in read["obstacles_in_heads"] if item["condition"] not in already]
        blocked += [_blocked(item["condition"], item["heads"], "head") for item in more[: 4 - len(blocked)]]
        cells = (_met(read["layers"]), _met(read["heads"]), "<br>".join(blocked))
        rows.append(
            f'<tr><th scope="row" class="id">{_link(each["id"])}</th><td>{escape(each["title"])}</td>'
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>"
        )
    return f'{AS_IF}<div class="display"><table>{AS_IF_HEAD}{"".join(rows)}</table></div>' if rows else ""


def _met(counts: AsIfCounts) -> str:
    return ", ".join(f"{name.removesuffix(' as if one head')} {count}" for name, count in counts.items() if count)


def _blocked(condition: str, count: int, what: str) -> str:
    return f"\\({escape(condition)}\\) ({count} {what}{'' if count == 1 else 's'})"


def _about(report: Report) -> str:
    model = report.document["model"]
    stamps = sorted({layer["convention"] for layer in report.layers})
    stamped = "".join(f"<li>{escape(stamp)}</li>" for stamp in stamps)
    files = "".join(f"<li><code>{escape(file['name'])}</code> sha256 {file['sha256']}</li>" for file in model["files"])
    return (
        f"<p>{escape(report.document['conventions'])}</p><ul>{stamped}</ul>"
        f"<p>Weights:</p><ul>{files}</ul><p>eigentoken {escape(report.document['version'])}; "
        f"<code>eigentoken recheck REPORT.json</code> re-verifies the certificates.</p>"
    )
