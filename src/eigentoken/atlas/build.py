"""Build the site: an index with the graph, one page a statement, an errata page, and the shared files beside them."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from eigentoken.atlas.graph import colours_html, graph_svg, page_name
from eigentoken.atlas.playground import playground
from eigentoken.files.writing import write_text
from eigentoken.pages import RENDER, asset, filled, page
from eigentoken.statement_links import linked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from eigentoken.theory.statements.registry import Registry
    from eigentoken.theory.statements.statement import Statement

__all__ = ["build", "text_for_search"]

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
    "plot.js",
    "sphere.js",
    "playground.js",
    "graph.js",
    "katex-LICENSE.md",
    "plot-LICENSE.md",
)


def build(folder: Path, ids: Collection[str] = (), watch: Callable[[str], None] = lambda _title: None) -> list[Path]:
    """Write the site into ``folder`` (made if needed): the index, the errata, a page for each statement (or those named).

    ``watch`` is called with the title of each page that begins.  Returns the pages."""
    from eigentoken.proofs.verify import status_of
    from eigentoken.theory.statements.registry import statements

    registry = statements()
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHARED:
        write_text(folder / name, asset(name))
    write_text(folder / "render.js", RENDER)
    words = {each.id: str(status_of(each)) for each in registry}
    pages = {"index.html": ("Atlas of statements", _index(registry, words))}
    pages["errata.html"] = ("Errata", _errata(registry))
    wanted = {registry.get(name).id for name in ids}
    order = list(registry)
    for index, each in enumerate(order):
        if wanted and each.id not in wanted:
            continue
        watch(each.title)
        beside = (order[index - 1] if index else None, order[index + 1] if index + 1 < len(order) else None)
        pages[page_name(each.id)] = (each.called, _statement(each, registry, words, beside))
    written = []
    for name, (title, body) in pages.items():
        path = folder / name
        write_text(path, page(title, body, scripts=SCRIPTS, linked=True))
        written.append(path)
    return written


#: What every page of the atlas runs.
SCRIPTS = ("render.js", "plot.js", "sphere.js", "playground.js", "graph.js")


def _beside(before: Statement | None, after: Statement | None) -> list[tuple[str, str, Statement, str]]:
    """The neighbours of a statement in the registry: relation, label, statement, page."""
    found = (("prev", "previous", before), ("next", "next", after))
    return [(relation, label, told, page_name(told.id)) for relation, label, told in found if told is not None]


def _errata(registry: Registry) -> str:
    from eigentoken.proofs.typeset.book import of_errata
    from eigentoken.proofs.typeset.html import to_html_body

    listed = Markup(_with_ids(_with_links(to_html_body(of_errata(registry)), registry)))
    return filled("atlas_navigation.html", beside=()) + Markup("<main>{}</main>").format(listed)


def _index(registry: Registry, words: dict[str, str]) -> str:
    titles = {each.id: each.title for each in registry}
    papers = {each.id: each.source.paper for each in registry}
    return filled(
        "atlas_index.html",
        beside=(),
        counts=", ".join(f"{list(words.values()).count(word)} {word}" for word in sorted(set(words.values()))),
        colours=Markup(colours_html()),
        graph=Markup(graph_svg(registry.graph(), words, titles, papers)),
        rows=[
            {"told": each, "text": text_for_search(each), "page": page_name(each.id), "word": words[each.id]}
            for each in registry
        ],
    )


def text_for_search(told: Statement) -> str:
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

    body = to_html_body(of_statement(told)).replace('<pre class="bibtex">', COPY + '<pre class="bibtex">', 1)
    heading, _, rest = body.removeprefix("<h1>").partition("</h1>")
    play = playground(told)
    statement, mark, derivation = _with_ids(rest, told.id).partition("<h2>Derivation")
    return filled(
        "atlas_statement.html",
        beside=_beside(*beside),
        told=told,
        heading=Markup(heading),
        statement=Markup(statement),
        derivation=Markup(mark + derivation),
        word=words[told.id],
        paper=PAPERS.get(told.source.paper),
        depends=_pages(told.depends, registry),
        used_by=_pages([each.id for each in registry if told.id in each.depends], registry),
        play=None if play is None else json.dumps(play),
    )


def _with_ids(body: str, own: str = "") -> str:
    """Every other statement that the text names is a link to its page, by its title."""
    return linked(body, page_name, but=(own,))[0]


def _with_links(body: str, registry: Registry) -> str:
    """The row of each erratum begins with the title of the statement, which links to its page."""
    for each in registry:
        title, name = escape(each.title, quote=False), escape(each.id, quote=False)
        link = f'<td id="{escape(each.id)}"><a href="{page_name(each.id)}">{title}</a> <span class="id">{name}</span>, '
        body = body.replace(f"<td>{title} ({name}), ", link, 1)
    return body


COPY = '<p class="no-print"><button type="button" class="copy">copy BibTeX</button></p>'


def _pages(names: Iterable[str], registry: Registry) -> list[tuple[Statement, str]]:
    return [(registry.get(name), page_name(name)) for name in names]
