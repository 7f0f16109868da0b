"""One page with every reproduced figure: what was claimed, what was found, and the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eigentoken.files.documents import DocumentError, parse_json
from eigentoken.files.writing import write_text
from eigentoken.pages import asset, filled, page

__all__ = ["gallery_page"]

#: How the counts are told.
NAMED = {"agrees": "agree", "differs": "differ", "cannot run": "could not be run"}


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
    body = filled(
        "gallery.html",
        counts={word: sum(each["status"] == word for each in outcomes.values()) for word in NAMED},
        named=NAMED,
        outcomes=[_shown(each, root) for each in outcomes.values()],
    )
    target = root / "index.html"
    write_text(target, page("eigentoken gallery", body, style=asset("gallery.css"), mathematics=False))
    return target


def _shown(outcome: Mapping[str, Any], root: Path) -> dict[str, object]:
    """An outcome with its picture and the words of its checks."""
    name, status = str(outcome["name"]), str(outcome["status"])
    return {
        "told": outcome,
        "mark": status if status in ("agrees", "differs") else "cannot",
        "place": _place(str(outcome["paper"]), str(outcome["figure"])),
        "image": (root / f"{name}.png").exists(),
        "printed": (root / f"{name}.pdf").exists(),
        "checks": [
            ("agrees" if check["agrees"] else "differs", check["claim"], _said(check)) for check in outcome["checks"]
        ],
    }


def _place(paper: str, figure: str) -> str:
    return f"{paper}, {'figure ' if figure[:1].isdigit() else ''}{figure}"


def _said(check: Mapping[str, Any]) -> str:
    because = str(check.get("because", "")).removeprefix("but ")
    return f"{check['evidence']}. It differs: {because}." if because else str(check["evidence"])
