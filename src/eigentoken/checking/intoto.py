"""An in-toto statement (v1) that binds a check report to the sha256 of the weights it was made from."""

from __future__ import annotations

import hashlib
import json

from eigentoken.checking.formats import to_json
from eigentoken.checking.report import Report
from eigentoken.schemas import schema

__all__ = ["PREDICATE_TYPE", "to_intoto"]

PREDICATE_TYPE = "https://eigentoken.dev/check/v2"


def to_intoto(report: Report) -> str:
    """Subjects are the weight files; the predicate is the verdict of every statement and the digest of the report."""
    model = report.document["model"]
    subjects = [{"name": file["name"], "digest": {"sha256": file["sha256"]}} for file in model["files"]]
    predicate = {
        "tool": {"name": "eigentoken", "version": report.document["version"]},
        "report": {"schema": schema("check")["$id"], "sha256": hashlib.sha256(to_json(report).encode()).hexdigest()},
        "statements": {each["id"]: each["word"] for each in report.statements},
    }
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects or [{"name": model["source"], "digest": {"sha256": model["fingerprint"]}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }
    return json.dumps(statement, indent=1) + "\n"
