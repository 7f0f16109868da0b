"""The site: documentation, API, atlas and evidence as static pages that fetch nothing from elsewhere.

python tools/site.py [-o out/site] [--no-atlas]     ``make site``

Pages are staged in build/site (README as the front page, links between files made links between pages) and built with
mkdocs-material and mkdocstrings; the atlas stands inside.  The folder of a version is out/site/VERSION, and versions.json
beside it lists all that are there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from html import escape, unescape
from pathlib import Path

from eigentoken.pages import asset
from eigentoken.version import __version__

ROOT = Path(__file__).resolve().parents[1]
STAGE = ROOT / "build" / "site"
FRONT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
ATLAS = """# Atlas

All statements with their derivations, counterexamples, the graph of what rests on what, and a sphere to play with:
[open the atlas](atlas/index.html).
"""


def repository() -> str:
    """The address of the project, from pyproject.toml: links to files that are no pages lead there."""
    found = re.search(r'^Homepage = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
    assert found is not None
    return found[1]


def staged_text(text: str, name: str, pages: set[str]) -> str:
    """The text of a file of the repository as a page: links to other files become links to pages, or to the repository.

    >>> staged_text("[a](docs/tour.md#x) [b](examples/a.py) ![c](docs/images/r.png)", "README.md", {"tour.md"})[:14]
    '[a](tour.md#x)'
    """
    folder = Path("docs") if name not in FRONT else Path()

    def replaced(match: re.Match[str]) -> str:
        target, _, anchor = match[2].partition("#")
        if not target or "://" in target:
            return match[0]
        place = str(_joined(folder / Path(name).parent if folder.parts else Path(), target))
        inside = place.removeprefix("docs/")
        anchor = f"#{anchor}" if anchor else ""
        if inside == "README.md":
            return f"{match[1]}{_up(name)}index.md{anchor})"
        if inside in pages or inside.startswith(("images/", "tables/")):
            return f"{match[1]}{_up(name)}{inside}{anchor})"
        return f"{match[1]}{repository()}/blob/main/{place}{anchor})"

    return re.sub(r"(\]\()([^)\s]+)\)", replaced, _fences(text))


def _fences(text: str) -> str:
    """``console norun`` and the like are words for the tests: the highlighter gets the language alone."""
    return re.sub(r"^(```\w+)[ \t][^\n]*$", r"\1", text, flags=re.M)


def _joined(folder: Path, target: str) -> Path:
    parts: list[str] = []
    for part in (folder / target).parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in (".", ".."):
            parts.append(part)
    return Path(*parts)


def _up(name: str) -> str:
    return "../" * (len(Path(name).parts) - 1)


def statements_for_the_search() -> str:
    """Every statement under a heading of its own, by paper: the search of the site finds it by title, condition and claim.

    What a statement says is HTML, which Markdown leaves as it is: no bracket of a formula becomes a link."""
    from itertools import groupby

    from eigentoken.atlas.graph import page_name
    from eigentoken.theory.language.readings import LATEX
    from eigentoken.theory.printing.plain_text import plain_text
    from eigentoken.theory.statements.registry import statements

    def says(mark: str, word: object) -> str:
        return f"{mark} {escape(plain_text(f'${LATEX(word)}$'), quote=False)}"

    parts = []
    for paper, told in groupby(
        sorted(statements(), key=lambda each: each.source.paper), lambda each: each.source.paper
    ):
        parts.append(f"\n## {paper}\n")
        for each in told:
            link = f'<a href="atlas/{page_name(each.id)}">{each.id}</a>, {escape(str(each.source), quote=False)}'
            lines = [says("if", word) for word in each.conditions] + [says("then", word) for word in each.claims]
            parts.append(f"\n### {each.title}\n\n<p>{BREAK.join([link, *lines])}</p>\n")
    return "".join(parts)


#: How much a page counts in the search: statements before what is generated from docstrings.
WEIGHTS = {name: f"---\nsearch:\n  boost: {boost}\n---\n\n" for name, boost in (("atlas.md", 4), ("reference.md", 0.2))}
#: What a server shows for an address that is no page, of any depth: it stands by itself, and finds the site from the address.
NOT_FOUND = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>eigentoken: not found</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><style>
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem; }
body { background: #fff; color: #1c2127; }
a { color: #1f4fb5; }
@media (prefers-color-scheme: dark) { body { background: #14181d; color: #e4e8ee; } a { color: #9fb4ff; } }
</style></head><body><main><h1>There is no such page</h1>
<p>It may be one of another version. <a href="/">The documentation of eigentoken</a> has a search over everything.</p></main>
<script>
const versioned = location.pathname.indexOf("/VERSION/");
if (versioned >= 0) document.querySelector("a").href = location.pathname.slice(0, versioned) + "/VERSION/index.html";
</script></body></html>
"""
#: The end of a line of HTML, with white space for the index of the search.
BREAK = "<br>\n"
#: Roles of reStructuredText in docstrings, which Markdown shows as they stand: ``:class:`` before a name in code.
ROLE = re.compile(r":(?:class|func|meth|data|attr|mod|exc):(?=(?:<|\\u003c)code)")


def with_links(page: str, atlas: str) -> str:
    """The page with a link at every id of a statement in its text, to the statement's page in the folder of the atlas.

    A title that the text does not say is pointed at by the mouse alone: it stands at the end, for paper and for a finger, too.

    >>> with_links("<nav>PM-L4</nav><article>PM-L4</article>", "../atlas/")  # doctest: +ELLIPSIS
    '<nav>PM-L4</nav><article><span class="named"><a href="../atlas/PM-L4.html" title="...">PM-L4</a></span><p...
    """
    from eigentoken.atlas.graph import page_name
    from eigentoken.statement_links import linked
    from eigentoken.theory.statements.registry import statements

    def article(found: re.Match[str]) -> str:
        text, names = linked(found[0], lambda name: atlas + page_name(name), titles=False)
        said = unescape(re.sub(r"<[^>]*>", "", found[0]))
        told = [statements().get(name) for name in names]
        legend = "; ".join(
            f'<a href="{atlas}{page_name(each.id)}">{escape(each.title, quote=False)}</a> ({each.id})'
            for each in told
            if each.title not in said
        )
        end = f'<p class="named-here">Statements named here: {legend}.</p></article>' if legend else "</article>"
        return text.removesuffix("</article>") + end

    return re.sub(r"<article.*?</article>", article, page, flags=re.S)


def finish(target: Path, *, atlas: bool) -> None:
    """Take the roles out of what docstrings say, and lead from the documentation to the pages of the atlas and back."""
    for path in [*target.glob("*.html"), target / "search" / "search_index.json"]:
        text = path.read_text(encoding="utf-8")
        if ROLE.search(text):
            path.write_text(ROLE.sub("", text), encoding="utf-8")
    if not atlas:
        return
    for path in sorted({*target.rglob("*.html")} - {*(target / "atlas").iterdir()}):
        up = "../" * (len(path.relative_to(target).parts) - 1)
        path.write_text(with_links(path.read_text(encoding="utf-8"), f"{up}atlas/"), encoding="utf-8")
    opening = '<nav aria-label="pages">'
    for path in (target / "atlas").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace(opening, f'{opening}<a href="../index.html">Documentation</a> · ', 1), encoding="utf-8"
        )


def stage(folder: Path = STAGE) -> Path:
    """Write all pages into ``folder``; returns the configuration to build them with."""
    shutil.rmtree(folder, ignore_errors=True)
    docs = ROOT / "docs"
    sources = {str(path.relative_to(docs)): path for path in [*docs.glob("*.md"), *docs.glob("tables/*.md")]}
    sources |= {name: ROOT / name for name in FRONT} | {"api.md": docs / "site" / "api.md"}
    pages = set(sources) | {"atlas.md"}
    for name, path in sources.items():
        target = folder / "pages" / ("index.md" if name == "README.md" else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = staged_text(path.read_text(encoding="utf-8"), name, pages)
        target.write_text(WEIGHTS.get(name, "") + text, encoding="utf-8")
    atlas = WEIGHTS["atlas.md"] + ATLAS + statements_for_the_search()
    (folder / "pages" / "atlas.md").write_text(atlas, encoding="utf-8")
    shutil.copytree(docs / "images", folder / "pages" / "images")
    for name in ("extra.css", "extra.js"):
        shutil.copy(docs / "site" / name, folder / "pages" / name)
    for name in ("katex.js", "katex.css"):  # the KaTeX of the other pages, with its fonts inside
        (folder / "pages" / name).write_text(asset(name), encoding="utf-8")
    configuration = (docs / "site" / "mkdocs.yml").read_text(encoding="utf-8").replace("SOURCE", str(ROOT / "src"))
    made = folder / "mkdocs.yml"
    made.write_text(f"docs_dir: pages\n{configuration}", encoding="utf-8")
    return made


def build(output: Path, *, atlas: bool) -> Path:
    """Build the site of this version into ``output/VERSION``; returns its front page."""
    target = output / __version__
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--quiet",
        "--strict",
        "-f",
        str(stage()),
        "-d",
        str(target.resolve()),
    ]
    subprocess.run(command, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if atlas:
        from eigentoken.atlas import build as build_atlas

        build_atlas(target / "atlas")
    finish(target, atlas=atlas)
    versions = sorted((path.name for path in output.iterdir() if (path / "index.html").exists()), reverse=True)
    for folder in (target, output):
        (folder / "404.html").write_text(NOT_FOUND.replace("VERSION", __version__), encoding="utf-8")
    listed = [{"version": name, "title": name, "aliases": []} for name in versions]
    (output / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    (output / "index.html").write_text(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>eigentoken</title>'
        f'<link rel="icon" href="data:,">'
        f'<meta http-equiv="refresh" content="0; url={__version__}/index.html"></head>'
        f'<body><a href="{__version__}/index.html">eigentoken {__version__}</a></body></html>\n',
        encoding="utf-8",
    )
    return target / "index.html"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "site")
    parser.add_argument("--no-atlas", action="store_true", help="leave the atlas out, which takes minutes")
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    build(chosen.output, atlas=not chosen.no_atlas)
    print(f"wrote {chosen.output}; look at it with: python -m http.server --bind 127.0.0.1 -d {chosen.output}")


if __name__ == "__main__":
    main()
