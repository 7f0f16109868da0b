"""The report as JSON, HTML and LaTeX files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eigentoken.checking.intervals import interval
from eigentoken.checking.report import Report
from eigentoken.checking.summary import difference_text, met_of, regime_heading
from eigentoken.files.arrays import write_safetensors
from eigentoken.files.indented import indented
from eigentoken.files.writing import Replacement, write_text

__all__ = ["arrays_beside", "to_html", "to_json", "to_latex", "write_report"]


def arrays_beside(path: Path) -> Path:
    """Where the arrays of a JSON report are kept."""
    return path.with_suffix(".arrays.safetensors")


def write_report(report: Report, paths: Mapping[str, Path], arrays: bool = False) -> list[Path]:
    """Write the formats named, each to its path; with ``arrays``, what the certificates need beside the JSON.

    The JSON and its arrays change together: a full disk leaves the previous pair.
    """
    from eigentoken.checking.intoto import to_intoto
    from eigentoken.checking.model_card import to_model_card
    from eigentoken.checking.sarif import to_sarif

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
        written.append(path)
        if form == "json" and arrays:
            with Replacement() as files:
                files.place(path).write_text(makers[form](report), encoding="utf-8")
                write_safetensors(files.place(arrays_beside(path)), report.arrays())
            written.append(arrays_beside(path))
        else:
            write_text(path, makers[form](report))
    return written


def to_json(report: Report) -> str:
    """The document with its schema."""
    from eigentoken.schemas import schema

    return indented({"schema": schema("check")["$id"], **report.as_dict()}) + "\n"


def to_html(report: Report) -> str:
    """A self-contained page."""
    from eigentoken.checking.html import report_html

    return report_html(report)


def to_latex(report: Report) -> str:
    """Three tables (booktabs, broken over pages by longtable): the layers, the heads, and the statements."""
    from eigentoken.proofs.typeset.latex import escape
    from eigentoken.theory.printing.plain_text import characters_in_latex

    names = (r"$\operatorname{Re}\lambda_1$", r"$\|F\|$", r"$\alpha^*$", "to symmetric")
    layers = [
        [
            str(layer["layer"]),
            "/".join(layer["cases"][key] for key in ("real-part", "modulus", "step")),
            interval(layer["leading_eigenvalue"]),
            interval(layer["norm"]),
            interval(layer["alpha_star"], 3),
            interval(layer["distance_to_symmetric"], 3),
            layer["regime"]["regime"],
        ]
        for layer in report.layers
    ]
    statements = []
    for each in report.statements:
        if each["word"] == "no condition on weights":
            continue
        why = characters_in_latex(escape(difference_text(each, len(report.layers)))) if each["differs"] else ""
        obstacle = f"${each['obstacles'][0]['condition']}$" if each["obstacles"] else ""
        met = met_of(each["as_one_head"]["heads"]) if each["as_one_head"] else ""
        statements.append([escape(each["id"]), each["word"], why or obstacle, met])
    lines = [r"% needs \usepackage{amsmath,amssymb,booktabs,longtable}"]
    lines += _table("lllllll", ["layer", "case", *names, regime_heading(report)], layers)
    lines += ["", *_heads_table(report), ""]
    lines += _table(
        r"llp{8cm}r",
        ["statement", "in every layer", "what differs, or the first obstacle", "met by heads alone"],
        statements,
    )
    return "\n".join(lines) + "\n"


def _table(columns: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    head = [rf"\begin{{longtable}}{{{columns}}}", r"\toprule", " & ".join(names) + r" \\", r"\midrule", r"\endhead"]
    body = [" & ".join(row).replace("∞", r"$\infty$") + r" \\" for row in rows]
    return [*head, r"\bottomrule", r"\endfoot", *body, r"\end{longtable}"]


def _heads_table(report: Report) -> list[str]:
    """Each head of the distinct layers: norms, distances, leader, regime."""
    names = (r"$\|P\|$", r"$\|U\|$", r"$P$ to symmetric", r"$\operatorname{sym}P$ to $\succ 0$", r"$U$ to symmetric")
    rows = []
    for layer in report.layers:
        if layer["layer"] != layer["weights_of"]:
            continue
        for head in layer["heads"]:
            P, U = head["score"], head["value"]
            sizes = (P["norm"], U["norm"], P["distance_to_symmetric"], P["distance_to_positive_definite"])
            cells = [interval(ends, 3) for ends in (*sizes, U["distance_to_symmetric"])]
            words = (head["value_leader"]["verdict"], head["regime"]["regime"])
            rows.append([str(layer["layer"]), str(head["head"]), *cells, *words])
    return _table("rrlllllll", ["layer", "head", *names, "real leader of $U$", "regime, alone"], rows)
