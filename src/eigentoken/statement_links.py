"""Statements in pages: every id that stands in a text is a link, to a page of the atlas or to the statement's text below.

A reader meets the title; the id stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape, unescape

from markupsafe import Markup

from eigentoken.pages import filled
from eigentoken.theory.statements.statement import Statement

__all__ = ["Text", "linked", "named_statements", "text_of", "with_statements"]

#: Tags, and what is no text of a reader's or is a link already.
APART = re.compile(
    r"<(script|style|svg|pre|code|a|button|summary|option|h1|textarea)\b.*?</\1>|<(\w+)[^>]*class=\"id\"[^>]*>.*?</\2>|<[^>]*>",
    re.S,
)


@dataclass(frozen=True)
class Text:
    """A statement as its registry has it: mathematics in LaTeX, sentences with ``$...$``."""

    source: str
    systems: tuple[str, ...]
    conditions: tuple[str, ...]
    claims: tuple[str, ...]
    sentence: str


#: statements whose formulas were printed, with their texts
_TEXTS: dict[str, tuple[Statement, Text]] = {}


def text_of(name: str) -> Text | None:
    """The text of a statement in the registry; of one that is not registered here, none."""
    from eigentoken.theory.language.readings import LATEX
    from eigentoken.theory.statements.registry import statements

    if name not in statements():
        return None
    told = statements().get(name)
    if name not in _TEXTS or _TEXTS[name][0] is not told:
        text = Text(
            str(told.source),
            told.systems,
            tuple(LATEX(each) for each in told.conditions),
            tuple(LATEX(each) for each in told.claims),
            "" if told.claims else told.text,
        )
        _TEXTS[name] = told, text
    return _TEXTS[name][1]


def linked(
    body: str, address: Callable[[str], str] = "#s-{}".format, *, titles: bool = True, but: Iterable[str] = ()
) -> tuple[str, list[str]]:
    """The body with a link at every id of a statement, and the ids; ``titles`` puts the title before an id that stands alone.

    >>> linked("<p>see PM-L4.</p>", titles=False)[1]
    ['PM-L4']
    >>> linked("<b>PM-L4</b><code>PM-L3</code>", "{}.html".format)[0]  # doctest: +ELLIPSIS
    '<b><span class="named"><a href="PM-L4.html">Stability of ...</a> <span class="id">PM-L4</span></span></b><code>PM-L3</code>'
    """
    from eigentoken.proofs.typeset.summary import ID
    from eigentoken.theory.statements.registry import statements

    left = set(but)
    found: dict[str, None] = {}
    done: list[str] = []

    def link(match: re.Match[str]) -> str:
        name = match[0].replace("&#x27;", "'")
        if name in left or name not in statements():
            return match[0]
        found[name] = None
        title, place = escape(statements().get(name).title), escape(address(name))
        before = "".join(done[-2:]) + match.string[: match.start()]
        if titles and title not in before[-len(title) - 3 :]:
            return f'<span class="named"><a href="{place}">{title}</a> <span class="id">{match[0]}</span></span>'
        return f'<span class="named"><a href="{place}" title="{title}">{match[0]}</a></span>'

    end = 0
    for apart in APART.finditer(body):
        done += [ID.sub(link, body[end : apart.start()]), apart[0]]
        end = apart.end()
    done.append(ID.sub(link, body[end:]))
    return "".join(done), list(found)


def named_statements(names: Iterable[str]) -> Markup:
    """The texts of statements, for the end of a page that names them."""
    from eigentoken.proofs.typeset.html import inline
    from eigentoken.theory.statements.registry import statements

    told = [(statements().get(name), text_of(name)) for name in names]
    return filled("named_statements.html", told=told, inline=lambda text: Markup(inline(text))) if told else Markup()


def with_statements(body: str, but: Iterable[str] = ()) -> tuple[str, bool]:
    """The body with its ids as links to the statements, and whether there are any (they need mathematics).

    A statement stands in the body (in a book under its own heading), or its text is put at the end."""
    places = map(unescape, re.findall(r'id="((?:s-)?[A-Z]{2}-[^"]+)"', body))
    there = {place.removeprefix("s-"): f"#{place}" for place in places}
    whole, names = linked(body, lambda name: there.get(name, f"#s-{name}"), but=but)
    texts = named_statements(name for name in names if name not in there)
    return whole.replace("</main>", f"{texts}</main>", 1) if "</main>" in whole else whole + texts, bool(names)
