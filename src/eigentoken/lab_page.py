"""The HTML report of a search: each conjecture, what was found, what was tried, what not finding means."""

from __future__ import annotations

import json
from collections import Counter

from eigentoken.documents.refutation_document import RefutationDocument, Result
from eigentoken.pages import filled, page
from eigentoken.statement_links import with_statements

__all__ = ["NEEDED", "refutation_html"]

#: What a search without a condition says about it.
NEEDED = {True: "needed", False: "not needed in this search", None: "undecided"}

STYLES = {"refuted": "fails", "candidate": "undecided", "survived": "holds", "not tested": "undecided"}


def refutation_html(document: RefutationDocument) -> str:
    """One self-contained page, filled in from ``refutation.html``."""
    body = filled(
        "refutation.html",
        file=document["file"],
        counts=Counter(each["verdict"] for each in document["results"]),
        results=[_result(each) for each in document["results"]],
        needed=NEEDED,
    )
    return page("eigentoken: refute", with_statements(body)[0])


def _result(result: Result) -> dict[str, object]:
    """A result with its counterexample as matrices, and as the JSON that runs it again."""
    from eigentoken.theory.classification.instances import read_instance

    found = result["counterexample"]
    shown: dict[str, object] = {"told": result, "style": STYLES[result["verdict"]], "latex": ""}
    if found is not None:
        shown["latex"] = read_instance(dict(found["instance"])).latex
        shown["instance"] = json.dumps(found["instance"], indent=1, ensure_ascii=False, default=str)
        shown["certificates"] = json.dumps(found["certificates"], indent=1, default=str)
    return shown
