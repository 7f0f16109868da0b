"""The site: every link between its pages resolves, nothing is fetched from elsewhere, and the search finds."""

from __future__ import annotations

import http.server
import importlib.util
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from eigentoken.version import __version__
from tests.face.test_browser import browser, chromium

__all__ = ["browser", "chromium"]
ROOT = Path(__file__).resolve().parents[2]


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("eigentoken_tools_site", ROOT / "tools" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_between_files_become_links_between_pages() -> None:
    staged = tool().staged_text
    pages = {"tour.md", "tables/statements.md"}
    assert staged("[a](docs/tour.md#x)", "README.md", pages) == "[a](tour.md#x)"
    assert staged("[a](../README.md)", "tour.md", pages) == "[a](index.md)"
    assert staged("[a](../tour.md)", "tables/statements.md", pages) == "[a](../tour.md)"
    assert staged("[a](../examples/a.py)", "tour.md", pages).endswith("/blob/main/examples/a.py)")
    assert staged("[a](https://x.y/z)", "tour.md", pages) == "[a](https://x.y/z)"
    assert staged("```console norun\n$ x", "tour.md", pages) == "```console\n$ x"


def test_the_page_of_the_api_has_public_names_only_and_every_command() -> None:
    import eigentoken as et

    shown = re.findall(r"^::: eigentoken\.([\w.]+)\.(\w+)$", (ROOT / "docs" / "site" / "api.md").read_text(), re.M)
    assert all(et._HOMES[name] == home for home, name in shown)
    commands = {
        "load",
        "check",
        "certify",
        "classify",
        "spectrum",
        "equilibria",
        "derive",
        "verify",
        "simulate",
        "refute",
    }
    assert commands | {"recheck", "steer", "reproduce", "statements", "statement"} <= {name for _, name in shown}


def test_the_examples_of_the_api_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Top to bottom, in the folder of the repository, as the page says; every section has one."""
    text = (ROOT / "docs" / "site" / "api.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) == text.count("\n## ") + 1  # and the import
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)


def test_roles_of_docstrings_are_taken_out(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    for name in ("api.html", "search/search_index.json"):
        (tmp_path / name).write_text("a loaded :class:<code>Model</code>, at :meta: and <code>:class:</code>")
    tool().finish(tmp_path, atlas=False)
    for name in ("api.html", "search/search_index.json"):
        assert (tmp_path / name).read_text() == "a loaded <code>Model</code>, at :meta: and <code>:class:</code>"


def test_every_id_of_a_page_leads_to_the_atlas_and_the_atlas_back(tmp_path: Path) -> None:
    for folder in ("search", "tables", "atlas"):
        (tmp_path / folder).mkdir()
    (tmp_path / "search" / "search_index.json").write_text("{}")
    for name in ("check.html", "tables/bounds.html"):
        (tmp_path / name).write_text(
            "<nav>PM-L4</nav><article><td>PM-L4</td><code>PM-L4</code>\nConsensus of the flows (CT-2)</article>"
        )
    (tmp_path / "atlas" / "PM-L4.html").write_text('<nav aria-label="pages"></nav><article>PM-L4</article>')
    tool().finish(tmp_path, atlas=True)
    for name, folder in (("check.html", "atlas"), ("tables/bounds.html", "../atlas")):
        told = (tmp_path / name).read_text()
        lemma = f"{folder}/PM-L4.html"
        assert re.findall('href="([^"]*)"', told) == [lemma, f"{folder}/CT-2.html", lemma]
        ending = '<p class="named-here">Statements named here: '  # the title that the text says is not said twice
        assert told.endswith(
            f'{ending}<a href="{lemma}">Stability of consensus for the Oja map</a> (PM-L4).</p></article>'
        )
    assert re.findall('href="([^"]*)"', (tmp_path / "atlas" / "PM-L4.html").read_text()) == ["../index.html"]


@pytest.mark.slow
def test_brackets_of_a_formula_are_no_link() -> None:
    """The search page is Markdown; ``D[(x)](w)`` stands in it as HTML."""
    text = tool().statements_for_the_search()
    lines = text.splitlines()
    bracketed = [line for line in lines if "](" in line]
    assert bracketed
    assert all(line.startswith(("if ", "then ")) for line in bracketed)
    assert text.count("<p>") == text.count("</p>") == text.count("\n### ")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Strict: a link to a page that is not there is an error."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, ROOT / "tools" / "site.py", "--no-atlas", "-o", folder], check=True, timeout=600)
    return folder


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The site on loopback."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.needs_browser
def test_the_site_is_searched_and_fetches_nothing_from_elsewhere(browser: Any, site: Path, served: str) -> None:
    assert json.loads((site / "versions.json").read_text()) == [
        {"version": __version__, "title": __version__, "aliases": []}
    ]
    page = browser.new_page()
    fetched: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(f"{served}/index.html")
    page.wait_for_url(f"**/{__version__}/index.html")
    page.get_by_role("textbox", name="Search").fill("hemisphere")
    found = page.locator(".md-search-result__item")
    found.first.wait_for(timeout=60_000)
    assert found.count() > 1
    assert found.locator("a[href*='atlas.html']").count() > 0  # a statement, by the words of its title or claims
    first = page.locator(".md-search-result__item a").first
    assert "atlas.html" in (first.get_attribute("href") or "")  # before the reference of internals
    page.goto(f"{served}/{__version__}/404.html")
    assert page.get_by_role("link").get_attribute("href") == f"/{__version__}/index.html"
    assert page.locator("h1").inner_text() == "There is no such page"
    page.goto(f"{served}/{__version__}/api.html")
    assert page.locator("h3", has_text="certify").count() == 1
    page.goto(f"{served}/{__version__}/check.html")
    page.wait_for_selector(".arithmatex .katex")
    assert page.locator(".arithmatex .katex").count() == page.locator(".arithmatex").count() > 30
    assert page.locator(".katex-error").count() == 0
    raw = "document.querySelectorAll('.katex, code').forEach(each => each.remove()); return document.body.innerText"
    assert "\\" not in page.evaluate(f"() => {{ {raw} }}")
    assert [url for url in fetched if not url.startswith((served, "data:", "blob:"))] == []
    assert problems == []


@pytest.mark.slow
@pytest.mark.needs_browser
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_the_site(browser: Any, served: str, colours: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install 'eigentoken[browser]'")
    few = """() => { const but = (n, all) => [...all].slice(n).forEach(each => each.remove());
        document.querySelectorAll('table').forEach(each => but(4, each.querySelectorAll('tr')));
        but(40, (document.querySelector('article') ?? document.body).children);
        document.querySelectorAll('.md-nav__list').forEach(each => but(8, each.children)); }"""
    for name in ("index", "check", "api", "atlas", "gallery", "tables/statements", "404"):
        page = browser.new_page(color_scheme=colours)
        page.goto(f"{served}/{__version__}/{name}.html")
        page.wait_for_timeout(500)
        page.evaluate(few)
        found = axe.Axe().run(page).response["violations"]
        assert {each["id"]: [node["html"][:90] for node in each["nodes"][:2]] for each in found} == {}, name
        page.close()


@pytest.mark.slow
@pytest.mark.needs_browser
def test_the_site_in_the_dark_on_paper_and_on_a_phone(browser: Any, served: str) -> None:
    dark, paper = browser.new_page(color_scheme="dark"), browser.new_page()
    phone = browser.new_page(viewport={"width": 360, "height": 780})
    paper.emulate_media(media="print")
    paper.set_viewport_size({"width": 760, "height": 1000})
    cells = "[...document.querySelectorAll('article :is(td, th)')]"
    cut = f"{cells}.filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.innerText)"
    for name in (
        "index",
        "check",
        "atlas",
        "reference",
        "404",
        "tables/statements",
        "tables/dropped",
        "tables/textbook",
        "tables/bench_check",
    ):
        for page in (dark, paper, phone):
            page.goto(f"{served}/{__version__}/{name}.html")
        shade = "getComputedStyle(document.querySelector('[data-md-color-scheme] .md-main, html')).backgroundColor"
        if name != "404":
            assert dark.evaluate("document.body.dataset.mdColorScheme") == "slate", (name, dark.evaluate(shade))
            assert not paper.locator(".md-header").is_visible()
            paper.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert paper.evaluate(cut) == [], name  # paper does not scroll: every column is on it
        assert phone.evaluate("document.documentElement.scrollWidth") <= 360, name
