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
    """Two tables (booktabs): the layers, and the statements."""
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
    lines += [r"\bottomrule", r"\end{tabular}", "", r"\begin{tabular}{lll}", r"\toprule"]
    lines += [r"statement & conditions on weights & first obstacle \\", r"\midrule"]
    for each in report.statements:
        obstacle = f"${each['obstacles'][0]['condition']}$" if each["obstacles"] else ""
        lines.append(rf"{escape(each['id'])} & {each['applies']} & {obstacle} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"
