"""One page with every reproduced figure: what was claimed, what was found, and the numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from eigentoken.files.documents import DocumentError, parse_json
from eigentoken.files.writing import write_text
from eigentoken.pages import asset, filled, page
from eigentoken.statement_links import with_statements

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
    whole, named = with_statements(body)
    write_text(target, page("eigentoken gallery", whole, style=asset("gallery.css"), mathematics=named))
    return target


#: Pixels of the screen for a pixel of a picture: pictures are saved with 160 pixels to the inch, a screen has 96.
SCREEN = 96 / 160
GREEK = {"alpha": "α", "lambda": "λ", "mu": "μ", "theta": "θ", "tau": "τ", "delta": "δ", "pi": "π"}


def typeset(text: str) -> Markup:
    """The plain formulas of a text as letters of their own: Greek, indices, exponents.

    >>> typeset("|1 + lambda_k| of P_1(t), Q^T K in R^3, a < b")
    Markup('|1 + λ<sub>k</sub>| of P<sub>1</sub>(t), Q<sup>T</sup> K in R<sup>3</sup>, a &lt; b')
    >>> typeset("1 - y_i^T v, N(0, 0.02^2), largest -1.4184932229476948")
    Markup('1 - y<sub>i</sub><sup>T</sup> v, N(0, 0.02<sup>2</sup>), largest -1.41849')
    """
    text = re.sub(r"-?\d+\.\d{8,}(?![\d.e])", lambda number: f"{float(number[0]):.6g}", text)
    found = re.sub(rf"(?<![\w-])({'|'.join(GREEK)})(?![a-z-])", lambda word: GREEK[word[1]], str(escape(text)))
    found = re.sub(r"(?<![\w/.])([A-Za-zα-ω])_([A-Za-z0-9]{1,3})\b", r"\1<sub>\2</sub>", found)
    return Markup(re.sub(r"(?<=[A-Za-zα-ω\d>)])\^(T\b|-?\d+\b)", r"<sup>\1</sup>", found))


def _shown(outcome: Mapping[str, Any], root: Path) -> dict[str, object]:
    """An outcome with its picture and the words of its checks."""
    name, status = str(outcome["name"]), str(outcome["status"])
    return {
        "told": outcome,
        "title": typeset(str(outcome["title"])),
        "says": {key: typeset(str(outcome[key]).removesuffix(".")) for key in ("claim", "settings", "note", "reason")},
        "mark": status if status in ("agrees", "differs") else "cannot",
        "place": typeset(_place(str(outcome["paper"]), str(outcome["figure"]))),
        "figure": typeset(_capital(_figure(str(outcome["figure"])))),
        "image": _shown_size(root / f"{name}.png"),
        "printed": (root / f"{name}.pdf").exists(),
        "checks": [
            ("agrees" if check["agrees"] else "differs", typeset(check["claim"]), typeset(_said(check)))
            for check in outcome["checks"]
        ],
    }


def _shown_size(picture: Path) -> tuple[int, int] | None:
    """Width and height of a PNG in pixels of the screen, so that letters have one size in all figures; ``None`` without one."""
    if not picture.exists():
        return None
    with picture.open("rb") as file:
        head = file.read(24)
    width, height = (int.from_bytes(head[start : start + 4], "big") for start in (16, 20))
    return round(width * SCREEN), round(height * SCREEN)


def _place(paper: str, figure: str) -> str:
    return f"{paper}, {_figure(figure)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _figure(figure: str) -> str:
    return f"{'figure ' if figure[:1].isdigit() else ''}{figure}"


def _said(check: Mapping[str, Any]) -> str:
    because = str(check.get("because", "")).removeprefix("but ")
    return f"{check['evidence']}. It differs: {because}." if because else str(check["evidence"])
