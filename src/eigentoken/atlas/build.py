"""Build the site: an index with the graph, one page a statement, an errata page, and the shared files beside them."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from eigentoken.atlas.graph import colours_html, graph_svg, page_name
from eigentoken.atlas.playground import playground
from eigentoken.files.writing import write_text
from eigentoken.pages import RENDER, asset

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from eigentoken.theory.statements.registry import Registry
    from eigentoken.theory.statements.statement import Statement

__all__ = ["build"]

PAPERS = {
    "Li-Altafini": "https://arxiv.org/abs/2605.25619",
    "Abella-Silvestre-Tabuada": "https://arxiv.org/abs/2412.02682",
    "Pham-et-al": "https://arxiv.org/abs/2512.03058",
}
SHARED = (
    "katex.js",
    "katex.css",
    "page.css",
    "atlas.css",
    "sphere.js",
    "playground.js",
    "graph.js",
    "katex-LICENSE.md",
)


def build(folder: Path, ids: Collection[str] = ()) -> list[Path]:
    """Write the site into ``folder`` (made if needed): the index, the errata, a page for each statement (or those named).

    Returns the pages."""
    from eigentoken.proofs.typeset.book import of_errata
    from eigentoken.proofs.typeset.html import to_html_body
    from eigentoken.proofs.verify import status_of
    from eigentoken.theory.statements.registry import statements

    registry = statements()
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHARED:
        write_text(folder / name, asset(name))
    write_text(folder / "render.js", RENDER)
    words = {each.id: str(status_of(each)) for each in registry}
    pages = {"index.html": ("Atlas of statements", _index(registry, words))}
    pages["errata.html"] = (
        "Errata",
        f"{_navigation()}<main>{_with_links(to_html_body(of_errata(registry)), registry)}</main>",
    )
    wanted = {registry.get(name).id for name in ids}
    order = list(registry)
    for index, each in enumerate(order):
        if wanted and each.id not in wanted:
            continue
        beside = (order[index - 1] if index else None, order[index + 1] if index + 1 < len(order) else None)
        pages[page_name(each.id)] = (f"{each.title} ({each.id})", _statement(each, registry, words, beside))
    written = []
    for name, (title, body) in pages.items():
        path = folder / name
        write_text(path, _page(title, body))
        written.append(path)
    return written


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        '<link rel="stylesheet" href="katex.css"><link rel="stylesheet" href="page.css">'
        '<link rel="stylesheet" href="atlas.css"><link rel="icon" href="data:,">'
        '<script src="katex.js"></script></head>\n<body>\n'
        f'{body}\n<script src="render.js"></script><script src="sphere.js"></script><script src="playground.js"></script>'
        '<script src="graph.js"></script>\n</body></html>\n'
    )


def _navigation(before: Statement | None = None, after: Statement | None = None) -> str:
    """The links at the top of a page; of a statement also to its neighbours in the registry."""
    links = ['<a href="index.html">Atlas</a>', '<a href="errata.html">Errata</a>']
    for told, relation, label in ((before, "prev", "previous"), (after, "next", "next")):
        if told is not None:
            links.append(
                f'{label}: <a rel="{relation}" href="{page_name(told.id)}">{escape(told.title)} ({told.id})</a>'
            )
    return f'<nav aria-label="pages">{" · ".join(links)}</nav>'


def _index(registry: Registry, words: dict[str, str]) -> str:
    titles = {each.id: each.title for each in registry}
    papers = {each.id: each.source.paper for each in registry}
    counts = ", ".join(f"{list(words.values()).count(word)} {word}" for word in sorted(set(words.values())))
    rows = "".join(
        f'<tr data-id="{escape(each.id)}" data-text="{escape(_text(each), quote=True)}">'
        f'<td><a href="{page_name(each.id)}">{escape(each.title)}</a></td><td class="id">{escape(each.id)}</td>'
        f'<td>{escape(str(each.kind))}</td><td class="{words[each.id]}">{words[each.id]}</td>'
        f"<td>{escape(str(each.source))}</td></tr>"
        for each in registry
    )
    return (
        f"{_navigation()}<main><h1>Atlas of statements</h1><p>{len(words)} statements: {counts}. An arrow goes from what is used "
        "to what uses it; point at a box to see what it rests on and what rests on it, click it for the statement, its "
        "derivation, and a sphere to play with.</p>"
        f"{colours_html()}"
        f'<div class="scroll" tabindex="0">{graph_svg(registry.graph(), words, titles, papers)}</div>'
        '<h2>All statements</h2><p class="no-print"><label>search in titles, conditions and claims: '
        '<input type="search" id="find" autocomplete="off"></label> '
        '<span id="found" aria-live="polite"></span></p>'
        '<div class="display"><table id="all"><tr><th>statement</th><th>id</th><th>kind</th><th>status</th>'
        f"<th>source</th></tr>{rows}</table></div></main>"
    )


def _text(told: Statement) -> str:
    """Conditions and claims as plain text, for the search."""
    from eigentoken.theory.language.readings import LATEX
    from eigentoken.theory.printing.plain_text import plain_text

    return " ".join(plain_text(f"${LATEX(each)}$") for each in (*told.conditions, *told.claims))


def _statement(
    told: Statement,
    registry: Registry,
    words: dict[str, str],
    beside: tuple[Statement | None, Statement | None],
) -> str:
    from eigentoken.proofs.typeset.document import of_statement
    from eigentoken.proofs.typeset.html import to_html_body
    from eigentoken.proofs.verify import evidence_of

    used_by = [each.id for each in registry if told.id in each.depends]
    paper = PAPERS.get(told.source.paper)
    source = f'<a href="{paper}" rel="noopener">{escape(str(told.source))}</a>' if paper else escape(str(told.source))
    lines = [f'<p>Status: <span class="{words[told.id]}">{words[told.id]}</span>. Source: {source}.</p>']
    if told.depends:
        lines.append(f"<p>Depends on {_links(told.depends, registry)}.</p>")
    if used_by:
        lines.append(f"<p>Used by {_links(used_by, registry)}.</p>")
    evidence = evidence_of(told)
    if evidence is not None:
        lines.append(
            f"<p>{evidence.checked} steps checked, {evidence.cited} cited, {evidence.argued} argued in words, "
            f"{evidence.second} with a second opinion, "
            f"{evidence.vectors} vectors, {evidence.counterexamples} counterexamples, {evidence.tested} random instances.</p>"
        )
    document = of_statement(told)
    body = to_html_body(document).replace('<pre class="bibtex">', COPY + '<pre class="bibtex">', 1)
    play = playground(told)
    head, _, rest = body.partition("</h1>")
    told_first = f"{_navigation(*beside)}<main>{head}</h1>"
    if play is None:
        return f"{told_first}{rest}{''.join(lines)}</main>"
    sphere = SPHERE.replace("DATA", escape(json.dumps(play), quote=True))
    return (
        f'{told_first}<div class="beside"><div class="told">{rest}{"".join(lines)}</div>'
        f'<aside aria-label="playground">{sphere}</aside></div></main>'
    )


def _with_links(body: str, registry: Registry) -> str:
    """The row of each erratum, which begins with its id, links to the statement's page."""
    for each in registry:
        name = escape(each.id, quote=False)
        link = f'<td id="{escape(each.id)}"><a href="{page_name(each.id)}">{name}</a>, '
        body = body.replace(f"<td>{name}, ", link, 1)
    return body


COPY = '<p class="no-print"><button type="button" class="copy">copy BibTeX</button></p>'
SPHERE = asset("playground.html")


def _links(names: Iterable[str], registry: Registry) -> str:
    return ", ".join(
        f'<a href="{page_name(name)}">{escape(registry.get(name).title)} ({escape(name)})</a>' for name in names
    )
