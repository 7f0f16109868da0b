"""The HTML report: one self-contained file that opens offline; summary, heat map, spectra, depth curves, details."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any

from eigentoken.checking.glossary import legend_html
from eigentoken.checking.page_data import data_scripts
from eigentoken.checking.report import Report, rotary_shares
from eigentoken.checking.terminal import by_kind, interval
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
    "<tr><th>layer</th><th>feed-forward / attention update</th><th>biases / attention update</th>"
    "<th>uneven norm gains / attention update</th><th>largest minus smallest gain</th></tr>"
)
LEFT_OUT_KEYS = ("feed_forward", "biases", "gains", "gain_spread")
STATEMENTS = (
    "<tr>"
    + "".join(
        f"<th>{name}</th>"
        for name in ("id", "title", "in the layers", "in single heads", "in the way", "asked of tokens")
    )
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
            '<h2 id="statements">Statements</h2>',
            _statement_table(report),
            '<h2 id="about">Conventions and provenance</h2>',
            _about(report),
            data_scripts(report),
        )
    )
    return page(f"eigentoken: {model['source']}", body, style=asset("report.css"), script=asset("report.js"), long=True)


def _summary(report: Report) -> str:
    claims, definitions = by_kind(report)
    words = [each["applies"] for each in claims]
    held, defined = ([each["id"] for each in found if each["applies"] == "holds"] for found in (claims, definitions))
    lines = [
        f"<li>Statements with all conditions on weights certified in every layer: <b>{words.count('holds')}</b>"
        f"{' (' + _links(held) + ')' if held else ''}.</li>",
        f"<li>With a condition that certifiably fails in some layer: <b>{words.count('fails')}</b>; undecided: "
        f"<b>{words.count('undecided')}</b>.</li>",
    ]
    if defined:
        lines.append(f"<li>Definitions, which claim nothing, whose conditions hold: {_links(defined)}.</li>")
    total = len(report.layers)
    partly = [(each["id"], each["layers"].count("holds")) for each in claims if each["applies"] != "holds"]
    shown = ", ".join(f"{_link(name)} ({count} of {total})" for name, count in partly if count)
    if shown:
        lines.append(f"<li>In some layers: {shown}.</li>")
    cases = sorted({layer["cases"]["step"] for layer in report.layers})
    lines.append(
        f"<li>Case of the layers by \\(|1+\\lambda|\\), the notion a layer with step 1 needs: {', '.join(cases)}.</li>"
    )
    regimes = sorted({layer["regime"]["regime"] for layer in report.layers})
    lines.append(f"<li>Regime in the sense of Pham et al., all heads together: {', '.join(regimes)}.</li>")
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
    return f'<h2 id="summary">Summary</h2><ul>{"".join(lines)}</ul>'


def _heads_line(report: Report) -> str:
    heads = [head for layer in report.layers if layer["layer"] == layer["weights_of"] for head in layer["heads"]]
    counted = [(each["id"], each["heads"]["holds"]) for each in by_kind(report)[0] if each["heads"]]
    held = ", ".join(f"{_link(name)} ({count})" for name, count in counted if count)
    names = sorted({head["regime"]["regime"] for head in heads})
    return (
        f"<li>Statements about one head, read on each of {len(heads)} heads: {held or 'none holds'}. Regime of the heads, on "
        f"the range of \\(O_h\\): {', '.join(names)}.</li>"
    )


def summary_html(report: Report) -> str:
    """The summary and the layer table, for a notebook."""
    return f"<h3>{escape(report.document['model']['description'])}</h3>{_summary(report)}{_layer_table(report)}"


def _link(name: str) -> str:
    return f'<a href="#s-{escape(name)}">{escape(name)}</a>'


def _links(names: list[str]) -> str:
    return ", ".join(map(_link, names))


def _layer_table(report: Report) -> str:
    head = (
        "<tr><th>layer</th><th>case: Re / | | / |1+λ|</th><th>Re λ₁</th><th>gap</th><th>‖F‖</th><th>α*</th>"
        "<th>to symmetric</th><th>to I</th><th>regime</th></tr>"
    )
    rows = []
    for layer in report.layers:
        if layer["weights_of"] != layer["layer"]:
            continue
        shared = [other["layer"] for other in report.layers if other["weights_of"] == layer["layer"]]
        name = f"{shared[0]}–{shared[-1]}" if len(shared) > 1 else str(layer["layer"])
        cases = "/".join(layer["cases"][key] for key in ("real-part", "modulus", "step"))
        keys = ("leading_eigenvalue", "gap", "norm", "alpha_star", "distance_to_symmetric", "distance_to_identity")
        cells = "".join(f"<td>{interval(layer[key])}</td>" for key in keys)
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


def _statement_table(report: Report) -> str:
    """The claims, then the definitions; what has no condition on weights in one line."""
    free = [each["id"] for each in report.statements if each["applies"] == "no condition on weights"]
    rest = f"<p>No condition on weights: {escape(', '.join(free))}.</p>" if free else ""
    in_heads = _head_obstacles(report)
    parts = []
    for title, found in zip(("", "<h3>Definitions (they claim nothing)</h3>"), by_kind(report), strict=True):
        rows = [_statement_row(each, in_heads) for each in found if each["id"] not in free]
        if rows:
            parts.append(f'{title}<div class="display"><table>{STATEMENTS}{"".join(rows)}</table></div>')
    return "".join(parts) + rest


def _statement_row(told: dict[str, Any], in_heads: dict[str, Counter[str]]) -> str:
    word = told["applies"]
    style = word if word in {"holds", "fails", "undecided"} else ""
    blocked = [_blocked(item["condition"], f"{item['layers']} layers") for item in told["obstacles"][:4]]
    already = {item["condition"] for item in told["obstacles"]}
    more = [(text, count) for text, count in in_heads.get(told["id"], Counter()).most_common() if text not in already]
    blocked += [_blocked(text, f"{count} heads") for text, count in more[: 4 - len(blocked)]]
    tokens = "<br>".join(f"\\({escape(text)}\\)" for text in told["about_tokens"])
    counts = told["heads"]
    heads = "" if counts is None else ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    return (
        f'<tr id="s-{escape(told["id"])}"><th scope="row" class="id">{escape(told["id"])}</th>'
        f'<td>{escape(told["title"])}</td><td class="{style}">{word}</td><td>{heads}</td>'
        f"<td>{'<br>'.join(blocked)}</td><td>{tokens}</td></tr>"
    )


def _blocked(condition: str, where: str) -> str:
    return f"\\({escape(condition)}\\) ({where.removesuffix('s') if where.startswith('1 ') else where})"


def _head_obstacles(report: Report) -> dict[str, Counter[str]]:
    """For each statement about one head: in how many heads each of its conditions does not hold."""
    found: dict[str, Counter[str]] = {}
    for layer in report.layers:
        for head in layer["heads"] if layer["layer"] == layer["weights_of"] else ():
            for each in head["hypotheses"]:
                texts = [
                    text for text, key in each["conditions"].items() if head["verdicts"][key]["verdict"] != "holds"
                ]
                found.setdefault(each["statement"], Counter()).update(texts)
    return found


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
