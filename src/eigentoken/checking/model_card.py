"""A section for a model card, in Markdown."""

from __future__ import annotations

from eigentoken.checking.intervals import interval
from eigentoken.checking.report import Report, size_text
from eigentoken.checking.summary import groups, in_words, regime_heading, systems_of

__all__ = ["to_model_card"]


def to_model_card(report: Report) -> str:
    """What is certified of the attention layers, in a few lines and one table."""
    model = report.document["model"]
    found = groups(report)
    left_out = "; ".join(f"{each['name']}, {size_text(each)}" for each in report.document["idealisations"])
    lines = [
        "## Attention as a dynamical system",
        "",
        f"Checked with eigentoken {report.document['version']} ({model['description']}). Verdicts are certified on the "
        "weights as stored.",
        "",
        f"Each layer: {'; '.join(systems_of(report))}.",
        "",
        f"Statements about these layers whose conditions on weights hold in every layer: {in_words(found.holds)}. "
        f"Not about this model: {len(found.not_about)} statements"
        f"{f' (what differs: {found.parts_text()})' if found.not_about else ''}.",
        "",
        f"Idealisations beside the verdicts: {left_out or 'none'}.",
        "",
        f"| layer | case (Re / modulus / step) | Re λ₁ | ‖F‖ | α* | distance to symmetric | {regime_heading(report)} |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for layer in report.layers:
        if layer["weights_of"] != layer["layer"]:
            continue
        cases = " / ".join(layer["cases"][key] for key in ("real-part", "modulus", "step"))
        sizes = (layer["leading_eigenvalue"], layer["norm"], layer["alpha_star"], layer["distance_to_symmetric"])
        numbers = " | ".join(interval(each) for each in sizes)
        lines.append(f"| {layer['layer']} | {cases} | {numbers} | {layer['regime']['regime']} |")
    files = ", ".join(f"`{file['name']}` {file['sha256'][:16]}…" for file in model["files"])
    return "\n".join([*lines, "", f"Weights: {files or model['fingerprint']}", ""])
