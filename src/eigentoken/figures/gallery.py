"""One page with every reproduced figure: what was claimed, what was found, and the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from eigentoken.files.documents import DocumentError, parse_json
from eigentoken.files.writing import write_text

__all__ = ["gallery_page"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
body { color: #1a1a1a; background: #fff; }
article { border-top: 1px solid #ccc; padding: 1rem 0; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: .5rem 0; font-size: .9rem; display: block; overflow-x: auto; }
th, td { border: 1px solid #ccc; padding: .2rem .5rem; text-align: left; vertical-align: top; }
.agrees::before { content: "\\2713\\00a0"; } .differs::before { content: "\\2260\\00a0"; }
.cannot::before { content: "\\2013\\00a0"; }
.status { font-weight: 600; } .agrees { color: #00603f; } .differs { color: #a33c00; } .cannot { color: #555; }
nav { display: flex; flex-wrap: wrap; gap: .1rem .8rem; } nav a { white-space: nowrap; }
dt { font-weight: 600; } dd { margin: 0 0 .4rem 1rem; }
@media (prefers-color-scheme: dark) { body { background: #151515; color: #eee; } img { background: #fff; }
 .agrees { color: #6fcf97; } .differs { color: #ffa45c; } .cannot { color: #bbb; } a { color: #8ab4f8; } }
"""


def gallery_page(folder: str | Path) -> Path:
    """Write ``index.html`` in ``folder`` from its ``results.jsonl`` (the last line of each recipe) and figures."""
    root = Path(folder)
    outcomes: dict[str, Mapping[str, Any]] = {}
    for line in (root / "results.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            document = parse_json(line, str(root / "results.jsonl"))
        except DocumentError:
            continue
        outcomes[document["name"]] = document
    counts = {word: sum(o["status"] == word for o in outcomes.values()) for word in ("agrees", "differs", "cannot run")}
    links = "".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in outcomes)
    body = "".join(_article(outcome, root) for outcome in outcomes.values())
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>eigentoken gallery</title>'
        f"<style>{_STYLE}</style></head><body><h1>The papers' experiments, run again</h1>"
        f"<p>{counts['agrees']} agree, {counts['differs']} differ, {counts['cannot run']} could not be run. "
        "Agreement of a run is evidence, not proof.</p>"
        f"<nav>{links}</nav>{body}</body></html>\n"
    )
    target = root / "index.html"
    write_text(target, page)
    return target


def _article(outcome: Mapping[str, Any], root: Path) -> str:
    name = str(outcome["name"])
    status = str(outcome["status"])
    mark = {"agrees": "agrees", "differs": "differs"}.get(status, "cannot")
    image = ""
    if (root / f"{name}.png").exists():
        printed = f' <a href="{escape(name)}.pdf">PDF</a>' if (root / f"{name}.pdf").exists() else ""
        image = f'<p><img src="{escape(name)}.png" alt="{escape(str(outcome["title"]))}" loading="lazy">{printed}</p>'
    rows = [[("agrees" if check["agrees"] else "differs"), check["claim"], _said(check)] for check in outcome["checks"]]
    checks = _table(["", "claim", "evidence"], rows) if rows else f"<p>{escape(str(outcome['reason']))}</p>"
    tables = "".join(f"<h3>{escape(t['title'])}</h3>{_table(t['columns'], t['rows'])}" for t in outcome["tables"])
    note = f"<p>{escape(str(outcome['note']))}</p>" if outcome["note"] else ""
    return (
        f'<article id="{escape(name)}"><h2>{escape(str(outcome["title"]))}</h2>'
        f"<p>{escape(_place(str(outcome['paper']), str(outcome['figure'])))}. "
        f'<span class="status {mark}">{escape(status)}</span> '
        f"({escape(str(outcome['scale']))} scale, seed {escape(str(outcome['seed']))}, {outcome['seconds']} s)</p>"
        f"<dl><dt>settings</dt><dd>{escape(str(outcome['settings']))}</dd>"
        f"<dt>claim</dt><dd>{escape(str(outcome['claim']))}</dd></dl>{image}{checks}{tables}{note}</article>"
    )


def _place(paper: str, figure: str) -> str:
    return f"{paper}, {'figure ' if figure[:1].isdigit() else ''}{figure}"


def _said(check: Mapping[str, Any]) -> str:
    because = str(check.get("because", "")).removeprefix("but ")
    return f"{check['evidence']}. It differs: {because}." if because else str(check["evidence"])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(str(c))}</th>" for c in columns)
    lines = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
