"""SARIF 2.1.0 of a check: a rule a statement, a result a layer; holds is pass, fails is fail, undecided is open; what is not
about the layer, or asks nothing of it, is not applicable."""

from __future__ import annotations

import json
from typing import Any

from eigentoken.checking.report import Report

__all__ = ["to_sarif"]

KINDS = {"holds": "pass", "fails": "fail", "undecided": "open"}


def to_sarif(report: Report) -> str:
    """The SARIF log, one run."""
    rules = [{"id": each["id"], "shortDescription": {"text": each["title"]}} for each in report.statements]
    results: list[dict[str, Any]] = []
    for number, each in enumerate(report.statements):
        for layer, answer in enumerate(each["layers"]):
            results.append(
                {
                    "ruleId": each["id"],
                    "ruleIndex": number,
                    "kind": KINDS.get(answer, "notApplicable"),
                    "level": "warning" if answer == "fails" else "none",
                    "message": {"text": f"layer {layer}: {answer}{_why(report, each['id'], layer)}"},
                    "locations": [{"logicalLocations": [{"name": f"layer {layer}", "kind": "module"}]}],
                }
            )
    model = report.document["model"]
    driver = {"name": "eigentoken", "version": report.document["version"], "rules": rules}
    artifacts = [{"location": {"uri": file["name"]}, "hashes": {"sha-256": file["sha256"]}} for file in model["files"]]
    run = {"tool": {"driver": driver}, "artifacts": artifacts, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"version": "2.1.0", "$schema": schema, "runs": [run]}, indent=1) + "\n"


def _why(report: Report, name: str, layer: int) -> str:
    found = next(each for each in report.layers[layer]["hypotheses"] if each["statement"] == name)
    reasons = [f"{each['statement']}; this layer has {each['layer']}" for each in found["differs"]]
    reasons += [verdict["reason"] for verdict in found["conditions"].values() if verdict["verdict"] != "holds"]
    return f" ({reasons[0]})" if reasons else ""
