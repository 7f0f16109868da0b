"""Reports and atlas in a real headless Chromium: mathematics renders, links resolve, things move, nothing is fetched."""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.needs_browser

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed (Debian: chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'eigentoken[browser]'")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


def _large_report() -> ModuleType:
    place = Path(__file__).resolve().parents[2] / "benchmarks" / "large_report.py"
    spec = importlib.util.spec_from_file_location("eigentoken_benchmarks_large_report", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Visit:
    """A page with what went wrong on it."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def check(self) -> None:
        assert not self.problems
        assert not [url for url in self.requests if not url.startswith(("file:", "data:"))]
        assert self.page.locator(".katex-error").count() == 0


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from eigentoken.atlas import build

    folder = tmp_path_factory.mktemp("atlas")
    build(folder)
    return folder


def test_the_graph_leads_to_every_statement(browser: Any, atlas: Path) -> None:
    from eigentoken.theory.registry import statements

    visit = Visit(browser, atlas / "index.html")
    visit.check()
    links = visit.page.eval_on_selector_all("svg.graph a", "nodes => nodes.map(n => n.getAttribute('href'))")
    assert len(links) == len(statements())
    assert all((atlas / link).is_file() for link in links)
    visit.page.locator("svg.graph a", has_text="PM-L4").first.click()
    assert visit.page.locator("h1").inner_text().startswith("PM-L4")
    visit.check()


def test_pointing_at_a_statement_shows_what_it_rests_on_and_what_uses_it(browser: Any, atlas: Path) -> None:
    import networkx as nx

    from eigentoken.theory.registry import statements

    visit = Visit(browser, atlas / "index.html")
    node = visit.page.locator("svg.graph a[data-id='PM-N3']")
    node.focus()
    shown = visit.page.eval_on_selector_all("svg.graph .node.near", "nodes => nodes.map(n => n.dataset.id)")
    graph = statements().graph()
    assert set(shown) == {"PM-N3"} | nx.ancestors(graph, "PM-N3") | nx.descendants(graph, "PM-N3")
    assert len(shown) < len(statements())
    node.blur()
    assert visit.page.locator("svg.graph .near").count() == 0
    fits = "document.documentElement.scrollWidth <= window.innerWidth"
    assert visit.page.evaluate(fits)
    visit.check()


@pytest.mark.slow
def test_every_page_renders_its_mathematics_and_its_links_resolve(browser: Any, atlas: Path) -> None:
    for path in sorted(atlas.glob("*.html")):
        visit = Visit(browser, path)
        visit.check()
        for href in visit.page.eval_on_selector_all("a[href]", "nodes => nodes.map(n => n.getAttribute('href'))"):
            assert href.startswith("https://arxiv.org/") or (atlas / href.split("#")[0]).exists(), (path.name, href)
        visit.page.close()


def test_the_sphere_moves_and_a_token_can_be_dragged(browser: Any, atlas: Path) -> None:
    visit = Visit(browser, atlas / "PM-L4.html")
    state = lambda: json.loads(visit.page.locator("figure.play").get_attribute("data-state"))  # noqa: E731
    first = state()
    visit.page.locator("figure.play .run").click()
    visit.page.wait_for_timeout(1500)
    visit.page.locator("figure.play .run").click()
    moved = state()
    assert moved != first
    assert all(math.isclose(sum(v * v for v in token), 1, rel_tol=1e-9) for token in moved)
    box = visit.page.locator("figure.play canvas").bounding_box()
    before = state()
    place = visit.page.evaluate(
        """() => { const t = JSON.parse(document.querySelector('figure.play').dataset.state)[0];
        const [a, b] = [0.6, 0.35], x = Math.cos(a) * t[0] - Math.sin(a) * t[1], y = Math.sin(a) * t[0] + Math.cos(a) * t[1];
        return [210 + 165 * x, 210 - 165 * (Math.cos(b) * t[2] - Math.sin(b) * y)]; }"""
    )
    visit.page.mouse.move(box["x"] + place[0], box["y"] + place[1])
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 210, box["y"] + 120, steps=4)
    visit.page.mouse.up()
    assert state() != before
    visit.check()


@pytest.mark.parametrize("name", ["oja-map", "attention-map", "attention-flow", "causal-flow", "ellipsoid-flow"])
def test_the_script_computes_what_the_loops_compute(browser: Any, atlas: Path, name: str) -> None:
    from eigentoken.atlas.playground import _default
    from eigentoken.theory.algebra import LoopAlgebra, causal_mask
    from eigentoken.theory.systems import system

    listed = system(name)
    play = _default(listed)
    floats = LoopAlgebra(math.exp, math.sqrt, 1.0)
    tokens = floats.normalise(((1.0, 0.2, -0.3), (-0.4, 0.9, 0.1), (0.3, -0.2, 0.8)), play["metric"])
    head = play["heads"][0]
    parameters = {listed.value: head["F"], listed.score: head["M"], "alpha": play["alpha"]}
    mask = causal_mask(3) if listed.mask == "causal" else None
    expected = listed.advance(floats, {key: value for key, value in parameters.items() if key}, tokens, mask)
    visit = Visit(browser, atlas / "PM-L4.html")
    computed = visit.page.evaluate(
        "([system, x]) => Sphere.advance(system, x)", [play, [list(token) for token in tokens]]
    )
    for token, other in zip(expected, computed, strict=True):
        assert token == pytest.approx(other, abs=1e-14)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 48 layers with 25 heads, the one that the benchmark opens too."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(_large_report().page(layers=48, heads=25), encoding="utf-8")
    return path


def test_a_large_report_is_interactive_and_reachable_by_keyboard(browser: Any, report: Path) -> None:
    visit = Visit(browser, report)
    visit.check()
    assert visit.page.locator("#heat button").count() == 48 * 26
    visit.page.locator("#heat button").first.focus()
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("Enter")
    assert "layer 1, head 1" in visit.page.locator("#detail h3").inner_text()
    assert visit.page.locator("#cloud circle").count() >= 1600
    visit.page.select_option("#colour", index=2)
    assert "holds" in visit.page.locator("#legend").inner_text()
    visit.check()


RAW = "() => [...document.querySelectorAll('p, li, td, h2')].filter(n => n.innerText.includes('\\\\(')).length"


def test_formulas_of_a_long_report_are_rendered_as_the_reader_comes_to_them(browser: Any, report: Path) -> None:
    visit = Visit(browser, report)
    visit.page.wait_for_function("document.querySelectorAll('#summary + ul .katex').length > 0")
    assert visit.page.evaluate(RAW) > 0  # the statements at the end wait
    height = visit.page.evaluate("document.body.scrollHeight")
    for place in range(0, height + 600, 600):
        visit.page.evaluate("place => window.scrollTo(0, place)", place)
        visit.page.wait_for_timeout(40)
    visit.page.wait_for_function(f"({RAW})() === 0")
    visit.check()


def test_a_printed_report_has_all_its_formulas(browser: Any, report: Path) -> None:
    visit = Visit(browser, report)
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.evaluate(RAW) == 0
    visit.check()


def test_a_report_in_the_dark_is_dark(browser: Any, report: Path) -> None:
    visit = Visit(browser, report, color_scheme="dark")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
