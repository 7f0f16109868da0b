"""The report as JSON, HTML and LaTeX files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from eigentoken.checking.report import Report
from eigentoken.checking.terminal import interval

__all__ = ["arrays_beside", "save_arrays", "to_html", "to_json", "to_latex", "write_report"]


def arrays_beside(path: Path) -> Path:
    """Where the arrays of a JSON report are kept."""
    return path.with_suffix(".arrays.safetensors")


def save_arrays(report: Report, path: Path) -> None:
    """Write the arrays that the certificates name, by digest, beside the JSON report."""
    from safetensors.numpy import save_file

    save_file(report.arrays(), arrays_beside(path))


def write_report(report: Report, paths: Mapping[str, Path], arrays: bool = False) -> list[Path]:
    """Write the formats named, each to its path; with ``arrays``, what the certificates need beside the JSON."""
    from eigentoken.interchange.intoto import to_intoto
    from eigentoken.interchange.model_card import to_model_card
    from eigentoken.interchange.sarif import to_sarif

    makers: dict[str, Callable[[Report], str]] = {
        "json": to_json,
        "html": to_html,
        "latex": to_latex,
        "sarif": to_sarif,
        "intoto": to_intoto,
        "model-card": to_model_card,
    }
    written = []
    for form, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(makers[form](report), encoding="utf-8")
        written.append(path)
        if form == "json" and arrays:
            save_arrays(report, path)
            written.append(arrays_beside(path))
    return written


def to_json(report: Report) -> str:
    """The document with its schema."""
    return json.dumps({"schema": "eigentoken/check/1", **report.as_dict()}, indent=1, allow_nan=False) + "\n"


def to_html(report: Report) -> str:
    """A self-contained page."""
    from eigentoken.checking.html import report_html

    return report_html(report)


def to_latex(report: Report) -> str:
    """Three tables (booktabs): the layers, the heads, and the statements."""
    from eigentoken.proofs.typeset.latex import escape

    lines = [r"% needs \usepackage{booktabs}", r"\begin{tabular}{lllllll}", r"\toprule"]
    lines += [
        r"layer & case & $\operatorname{Re}\lambda_1$ & $\|F\|$ & $\alpha^*$ & to symmetric & regime \\",
        r"\midrule",
    ]
    for layer in report.layers:
        cases = "/".join(layer["cases"][key] for key in ("real-part", "modulus", "step"))
        cells = [str(layer["layer"]), cases, interval(layer["leading_eigenvalue"]), interval(layer["norm"])]
        cells += [
            interval(layer["alpha_star"], 3),
            interval(layer["distance_to_symmetric"], 3),
            layer["regime"]["regime"],
        ]
        lines.append(" & ".join(cells).replace("inf", r"$\infty$") + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", "", *_heads_table(report), "", r"\begin{tabular}{llrl}", r"\toprule"]
    lines += [r"statement & in every layer & heads & first obstacle \\", r"\midrule"]
    for each in report.statements:
        if each["applies"] == "no condition on weights":
            continue
        obstacle = f"${each['obstacles'][0]['condition']}$" if each["obstacles"] else ""
        heads = "" if each["heads"] is None else f"{each['heads']['holds']}/{sum(each['heads'].values())}"
        lines.append(rf"{escape(each['id'])} & {each['applies']} & {heads} & {obstacle} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _heads_table(report: Report) -> list[str]:
    """Each head of the distinct layers: norms, distances, leader, regime."""
    lines = [r"\begin{tabular}{rrlllllll}", r"\toprule"]
    names = (r"$\|P\|$", r"$\|U\|$", r"$P$ to symmetric", r"$\operatorname{sym}P$ to $\succ 0$", r"$U$ to symmetric")
    lines += [f"layer & head & {' & '.join(names)} & leader of $U$ & regime " + r"\\", r"\midrule"]
    for layer in report.layers:
        if layer["layer"] != layer["weights_of"]:
            continue
        for head in layer["heads"]:
            P, U = head["score"], head["value"]
            sizes = (P["norm"], U["norm"], P["distance_to_symmetric"], P["distance_to_positive_definite"])
            cells = [interval(ends, 3) for ends in (*sizes, U["distance_to_symmetric"])]
            words = (head["value_leader"]["verdict"], head["regime"]["regime"])
            lines.append(" & ".join([str(layer["layer"]), str(head["head"]), *cells, *words]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]
