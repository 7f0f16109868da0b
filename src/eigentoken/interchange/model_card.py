"""A section for a model card, in Markdown."""

from __future__ import annotations

from eigentoken.checking.report import Report
from eigentoken.checking.terminal import interval

__all__ = ["to_model_card"]


def to_model_card(report: Report) -> str:
    """What is certified of the attention layers, in a few lines and one table."""
    model = report.document["model"]
    held = [each["id"] for each in report.statements if each["applies"] == "holds"]
    lines = [
        "## Attention as a dynamical system",
        "",
        f"Checked with eigentoken {report.document['version']} ({model['description']}). Verdicts are certified on the "
        "weights as stored; biases, norms and feed-forward are outside the theorems.",
        "",
        f"Statements whose conditions on weights hold in every layer: {', '.join(held) if held else 'none'}.",
        "",
        "| layer | case (Re / modulus / step) | Re λ₁ | ‖F‖ | α* | distance to symmetric | regime |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for layer in report.layers:
        if layer["weights_of"] != layer["layer"]:
            continue
        cases = " / ".join(layer["cases"][key] for key in ("real-part", "modulus", "step"))
        keys = ("leading_eigenvalue", "norm", "alpha_star", "distance_to_symmetric")
        numbers = " | ".join(interval(layer[key]) for key in keys)
        lines.append(f"| {layer['layer']} | {cases} | {numbers} | {layer['regime']['regime']} |")
    files = ", ".join(f"`{file['name']}` {file['sha256'][:16]}…" for file in model["files"])
    return "\n".join([*lines, "", f"Weights: {files or model['fingerprint']}", ""])
