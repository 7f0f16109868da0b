"""The HTML report of a search: each conjecture, what was found, what was tried, what not finding means."""

from __future__ import annotations

import json
from html import escape

from eigentoken.documents.refutation_document import RefutationDocument, Result
from eigentoken.pages import page

__all__ = ["NEEDED", "refutation_html"]

#: What a search without a condition says about it.
NEEDED = {True: "needed", False: "not needed in this search", None: "undecided"}

STYLES = {"refuted": "fails", "candidate": "undecided", "survived": "holds", "not tested": "undecided"}


def refutation_html(document: RefutationDocument) -> str:
    """One self-contained page."""
    parts = [
        f"<h1>Conjectures of {escape(str(document['file']))}</h1>",
        *(_result(each) for each in document["results"]),
    ]
    return page("eigentoken: refute", "\n".join(parts))


def _result(result: Result) -> str:
    found = result["counterexample"]
    parts = [
        f"<h2>{escape(result['name'])}</h2>",
        f'<p><span class="{STYLES[result["verdict"]]}">{result["verdict"]}</span>: {escape(result["meaning"])}</p>',
    ]
    if found is not None:
        instance = json.dumps(found["instance"], indent=1, ensure_ascii=False, default=str)
        parts.append(f'<section class="statement"><p>Counterexample, exact:</p><pre>{escape(instance)}</pre></section>')
        certificates = json.dumps(found.get("certificates", []), indent=1, default=str)
        parts.append(f"<details><summary>certificates</summary><pre>{escape(certificates)}</pre></details>")
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{count}</td></tr>" for name, count in result["methods"].items())
    parts.append(f"<table><tr><th>method</th><th>instances</th></tr>{rows}</table>")
    corners = "".join(f"<li>{escape(name)}: {count}</li>" for name, count in result["corners"].items())
    if corners:
        parts.append(f"<details><summary>corners that were reached</summary><ul>{corners}</ul></details>")
    lost = "".join(f"<li>{escape(each)}</li>" for each in result["lost_workers"])
    if lost:
        parts.append(f"<ul>{lost}</ul>")
    dropped = "".join(
        f"<tr><td>\\({escape(each['condition'])}\\)</td><td>{NEEDED[each['needed']]}; {escape(each['says'])}</td></tr>"
        for each in result["dropped"]
    )
    if dropped:
        parts.append(f"<table><tr><th>without</th><th>then</th></tr>{dropped}</table>")
    return "\n".join(parts)
