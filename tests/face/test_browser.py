"""Reports and atlas in a real headless Chromium: mathematics renders, links resolve, things move, nothing is fetched."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
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
def chromium() -> Iterator[Any]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'eigentoken[browser]'")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """The browser; the pages that a test opens are closed after it, so that none of them goes on moving."""
    yield chromium
    for context in chromium.contexts:
        context.close()


#: Of each group two statements stay, of a table three rows, of the formulas the first four, of the graph eight statements.
FEW = """() => { const but = (number, all) => [...all].slice(number).forEach(each => each.remove());
    document.querySelectorAll('ol.rows').forEach(list => but(2, list.children));
    document.querySelectorAll('table').forEach(table => but(4, table.querySelectorAll('tr')));
    but(8, document.querySelectorAll('svg.graph a')); but(4, document.querySelectorAll('.katex-display'));
    but(4, [...document.querySelectorAll('.katex')].filter(each => !each.closest('.katex-display'))); }"""


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

    def violations(self) -> dict[str, list[str]]:
        """What axe-core objects to, on a page that has every kind of thing: of many alike a few stay.

        Over two hundred formulas it takes half a minute.
        """
        axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install 'eigentoken[browser]'")
        self.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        self.page.evaluate(FEW)
        self.page.evaluate("document.fonts.ready")
        found = axe.Axe().run(self.page).response["violations"]
        return {each["id"]: [node["html"][:90] for node in each["nodes"][:2]] for each in found}

    def check(self) -> None:
        assert not self.problems
        assert not [url for url in self.requests if not url.startswith(("file:", "data:"))]
        assert self.page.locator(".katex-error").count() == 0


def test_a_wide_claim_is_set_smaller_and_does_not_scroll(browser: Any, tmp_path: Path) -> None:
    from eigentoken.atlas import build

    build(tmp_path, ["BD-E2"])
    visit = Visit(browser, tmp_path / "BD-E2.html")
    visit.page.set_viewport_size({"width": 1280, "height": 900})
    lists = "[...document.querySelectorAll('section.statement ul')]"
    assert visit.page.evaluate(f"{lists}.filter(each => each.scrollWidth > each.clientWidth + 1).length") == 0
    sizes = visit.page.evaluate(
        f"{lists}.flatMap(e => [...e.querySelectorAll('.katex')]).map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert 12 <= min(sizes) < max(sizes)
    visit.check()


def test_the_graph_leads_to_every_statement(browser: Any, atlas: Path) -> None:
    from eigentoken.atlas.graph import page_name
    from eigentoken.theory.statements.registry import statements

    visit = Visit(browser, atlas / "index.html")
    visit.check()
    links = visit.page.eval_on_selector_all("svg.graph a", "nodes => nodes.map(n => n.getAttribute('href'))")
    assert sorted(links) == sorted(page_name(each.id) for each in statements())
    outside = """nodes => nodes.filter(n => { const box = n.querySelector('rect').getBBox();
        return [...n.querySelectorAll('text')].some(t => t.getBBox().x + t.getBBox().width > box.x + box.width); })
        .map(n => n.dataset.id)"""
    assert visit.page.eval_on_selector_all("svg.graph a", outside) == []  # whole titles, inside their boxes
    visit.page.locator("svg.graph a", has_text="PM-L4").first.click()
    assert visit.page.locator("h1").inner_text().endswith("(PM-L4)")
    visit.check()


def test_pointing_at_a_statement_shows_what_it_rests_on_and_what_uses_it(browser: Any, atlas: Path) -> None:
    import networkx as nx

    from eigentoken.theory.statements.registry import statements

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
@pytest.mark.whole_book
def test_every_page_renders_its_mathematics_and_its_links_resolve(browser: Any, tmp_path: Path) -> None:
    from eigentoken.atlas import build
    from eigentoken.theory.statements.registry import statements

    assert len(build(tmp_path)) == len(statements()) + 2  # with the index and the errata
    atlas = tmp_path
    for path in sorted(atlas.glob("*.html")):
        visit = Visit(browser, path)
        visit.check()
        for href in visit.page.eval_on_selector_all("a[href]", "nodes => nodes.map(n => n.getAttribute('href'))"):
            assert href.startswith("https://arxiv.org/") or (atlas / href.split("#")[0]).exists(), (path.name, href)
        visit.page.close()


def test_the_sphere_moves_and_a_token_can_be_dragged(browser: Any, atlas: Path) -> None:
    visit = Visit(browser, atlas / "PM-L4.html")
    state = lambda: json.loads(visit.page.locator("figure.play").get_attribute("data-state"))  # noqa: E731
    first, still = state(), visit.page.locator("figure.play").get_attribute("data-state")
    visit.page.locator("figure.play .run").click()
    visit.page.wait_for_function("first => document.querySelector('figure.play').dataset.state !== first", arg=still)
    visit.page.locator("figure.play .run").click()
    moved = state()
    assert moved != first
    assert all(math.isclose(sum(v * v for v in token), 1, rel_tol=1e-9) for token in moved)
    box = visit.page.locator("figure.play .ball").bounding_box()
    before = state()
    place = visit.page.evaluate(
        """() => { const t = JSON.parse(document.querySelector('figure.play').dataset.state)[0];
        const [a, b] = [0.6, 0.35], x = Math.cos(a) * t[0] - Math.sin(a) * t[1], y = Math.sin(a) * t[0] + Math.cos(a) * t[1];
        return [210 + 150 * x, 210 - 150 * (Math.cos(b) * t[2] - Math.sin(b) * y)]; }"""
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
    from eigentoken.theory.systems.algebra import LoopAlgebra, causal_mask
    from eigentoken.theory.systems.catalogue import system

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


def test_a_large_report_is_interactive_and_reachable_by_keyboard(browser: Any, large_report: Path) -> None:
    visit = Visit(browser, large_report)
    visit.check()
    assert visit.page.locator("#heat button").count() == 48 * 26
    visit.page.locator("#heat button").first.focus()
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector("#detail h3")
    assert "layer 1, head 1" in visit.page.locator("#detail h3").inner_text()
    visit.page.wait_for_function("document.querySelectorAll('#cloud circle').length >= 1600")
    visit.page.select_option("#colour", index=2)
    assert "holds" in visit.page.locator("#legend").inner_text()
    visit.check()


#: The block of the layer that was chosen first, unpacked once more: by then the page has it, too.
UNPACKED = """async () => { const packed = document.getElementById('layer-1').textContent;
    const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
    await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
    await new Promise(seen => requestAnimationFrame(() => setTimeout(seen))); }"""


def test_the_last_of_two_quick_choices_is_shown(browser: Any, large_report: Path) -> None:
    """Layers are unpacked while the reader goes on; an answer that comes late does not replace a newer one."""
    visit = Visit(browser, large_report)
    visit.page.evaluate(
        "() => { const all = document.querySelectorAll('#heat button'); all[30].click(); all[1].click(); }"
    )
    visit.page.evaluate(UNPACKED)
    visit.page.wait_for_selector("#detail h3")
    assert "layer 0, head 1" in visit.page.locator("#detail h3").inner_text()
    assert visit.page.locator("#detail h3").count() == 1
    visit.check()


def test_a_browser_that_cannot_unpack_is_told_so(browser: Any, large_report: Path) -> None:
    visit = Visit(browser, large_report)
    visit.page.evaluate(
        "() => { delete window.DecompressionStream; document.querySelectorAll('#heat button')[100].click(); }"
    )
    visit.page.wait_for_function("document.getElementById('detail').innerText.includes('too old')")


RAW = "() => [...document.querySelectorAll('p, li, td, h2')].filter(n => n.innerText.includes('\\\\(')).length"


def test_formulas_of_a_long_report_are_rendered_as_the_reader_comes_to_them(browser: Any, small_report: Path) -> None:
    visit = Visit(browser, small_report)
    visit.page.wait_for_function("document.querySelectorAll('ul.answer .katex').length > 0")
    visit.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    rows = visit.page.locator("li.row")
    for number in (rows.count() // 2, rows.count() - 1):
        row = rows.nth(number)
        assert "\\(" in row.inner_text()  # it waits
        row.scroll_into_view_if_needed()
        visit.page.wait_for_function("row => !row.innerText.includes('\\\\(')", arg=row.element_handle())
    assert visit.page.evaluate(RAW) > 0  # those between still wait
    visit.check()


def test_a_printed_report_has_all_its_formulas_and_its_picture_and_cuts_nothing_off(
    browser: Any, large_report: Path
) -> None:
    visit = Visit(browser, large_report, viewport={"width": 720, "height": 1000})  # A4 between margins
    visit.page.emulate_media(media="print")
    visit.page.evaluate(UNPACKED)  # the first layer is unpacked as soon as the page is there
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.locator("#cloud circle").count() >= 1600
    assert visit.page.evaluate(RAW) == 0
    cut = """() => [...document.querySelectorAll('.display, #heat, p, ul')]
        .filter(n => n.offsetParent && n.getBoundingClientRect().left + n.scrollWidth > window.innerWidth + 1).length"""
    assert visit.page.evaluate(cut) == 0
    visit.check()


def test_a_report_in_the_dark_is_dark(browser: Any, small_report: Path) -> None:
    visit = Visit(browser, small_report, color_scheme="dark")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


FITS = "document.documentElement.scrollWidth <= window.innerWidth"
NARROW = {"viewport": {"width": 500, "height": 800}}


def test_a_narrow_window_scrolls_wide_things_not_the_page(
    browser: Any, atlas: Path, small_report: Path, tmp_path: Path
) -> None:
    from eigentoken.output import render
    from eigentoken.proofs.typeset.document import of_statement
    from eigentoken.theory.statements.registry import statements

    derived = tmp_path / "derived.html"
    derived.write_text(render(of_statement(statements().get("PM-L15")), "html"), encoding="utf-8")
    for path in (small_report, atlas / "PM-L15.html", atlas / "index.html", atlas / "errata.html", derived):
        visit = Visit(browser, path, **NARROW)
        visit.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        if path == small_report:
            visit.page.locator("#heat button").first.click()
            visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert visit.page.locator(".katex").count() > 0 or path.name == "index.html"
        assert visit.page.evaluate(FITS), path.name
        visit.check()
        visit.page.close()


def test_the_heat_map_names_its_columns_and_home_and_end_reach_the_ends(browser: Any, large_report: Path) -> None:
    visit = Visit(browser, large_report)
    names = visit.page.locator("#heat [role=columnheader]").all_inner_texts()
    assert names == ["head", *map(str, range(25)), "layer"]
    visit.page.locator("#heat button").first.focus()
    place = "[document.activeElement.dataset.row, document.activeElement.dataset.column].map(Number)"
    for key, expected in (("End", [0, 25]), ("Control+End", [47, 25]), ("Home", [47, 0]), ("Control+Home", [0, 0])):
        visit.page.keyboard.press(key)
        assert visit.page.evaluate(place) == expected
    visit.page.select_option("#colour", label="statements met as if the head were alone")
    assert "." not in visit.page.locator("#legend").inner_text()  # a count is a whole number
    visit.check()


def test_a_word_of_the_answer_leads_to_its_meaning_and_no_reason_scrolls_in_its_row(
    browser: Any, small_report: Path
) -> None:
    visit = Visit(browser, small_report)
    visit.page.locator("a[href='#word-case']").click()
    assert (
        visit.page.locator("#word-case").is_visible() and visit.page.locator("#words").get_attribute("open") is not None
    )
    assert visit.page.locator("#word-regime").count() == visit.page.locator("a[href='#word-regime']").count() == 1
    for width in (1280, 1000):
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.evaluate("document.querySelectorAll('details.group').forEach(each => each.open = true)")
        for row in visit.page.locator(".row .why:visible").all():
            row.scroll_into_view_if_needed()
        visit.page.wait_for_timeout(300)
        cut = "e => e.clientWidth && e.scrollWidth > e.clientWidth + 1"
        assert (
            visit.page.evaluate(f"[...document.querySelectorAll('.row .why')].filter({cut}).map(e => e.innerText)")
            == []
        )
    visit.check()


def test_the_legend_of_a_report_renders_when_opened(browser: Any, small_report: Path) -> None:
    from eigentoken.checking.glossary import GLOSSARY

    visit = Visit(browser, small_report)
    visit.page.locator("#words summary").click()
    assert visit.page.locator("#words tr").count() == len(GLOSSARY)
    visit.page.locator("#words tr").last.scroll_into_view_if_needed()
    visit.page.wait_for_function("!document.querySelector('#words').innerText.includes('\\\\(')")
    assert visit.page.locator("#words .katex").count() > len(GLOSSARY) / 2
    visit.check()


def test_depth_curves_begin_at_the_input_and_the_circle_is_whole(browser: Any, large_report: Path) -> None:
    visit = Visit(browser, large_report)
    points = "nodes => nodes.map(n => n.getAttribute('d').split(/[ML]/).length - 1)"
    assert visit.page.eval_on_selector_all("#curves [data-mark=line] path", points) == [49, 49, 49, 48, 48]
    assert visit.page.locator("#curves [data-mark=area]").count() == 5  # each has its interval
    visit.page.locator("#heat button").first.click()
    inside = """n => { const box = n.getBBox(), all = n.ownerSVGElement.viewBox.baseVal;
        return box.x >= 0 && box.x + box.width <= all.width && box.y >= 0 && box.y + box.height <= all.height; }"""
    circle = visit.page.locator("#cloud [data-mark=line] path")
    circle.wait_for()
    assert circle.count() == 1
    assert circle.evaluate(inside)


def test_the_table_of_the_atlas_can_be_searched_from_the_keyboard(browser: Any, atlas: Path) -> None:
    from eigentoken.theory.statements.registry import statements

    visit = Visit(browser, atlas / "index.html")
    shown = "nodes => nodes.filter(n => n.offsetParent !== null).map(n => n.dataset.id)"
    rows = lambda: visit.page.eval_on_selector_all("#all tr[data-id]", shown)  # noqa: E731
    assert len(rows()) == len(statements())
    visit.page.locator("#find").focus()
    visit.page.keyboard.type("pm-n3 closed form")
    assert rows() == ["PM-N3"]
    assert visit.page.locator("#found").inner_text() == f"1 of {len(statements())}"
    assert visit.page.locator("svg.graph.chosen .node.near").count() == 1  # the graph shows what was found
    assert visit.page.locator("#hits a").get_attribute("href") == "PM-N3.html"
    visit.page.locator("#find").fill("no such statement")
    assert rows() == []
    visit.page.locator("#find").fill("")
    assert visit.page.locator("svg.graph.chosen").count() == 0
    assert len(rows()) == len(statements())
    visit.check()


def test_the_graph_has_arrow_heads_and_says_what_its_colours_mean(browser: Any, atlas: Path) -> None:
    from eigentoken.theory.statements.statement import Status

    visit = Visit(browser, atlas / "index.html")
    assert visit.page.locator("svg.graph marker").count() == 1
    ends = visit.page.eval_on_selector_all("svg.graph .edge", "nodes => nodes.map(n => n.getAttribute('marker-end'))")
    assert ends
    assert set(ends) == {"url(#arrow)"}
    told = visit.page.locator(".colours [data-status]")
    assert told.evaluate_all("nodes => nodes.map(n => n.dataset.status)") == list(map(str, reversed(Status)))
    fills = told.evaluate_all("nodes => nodes.map(n => getComputedStyle(n.querySelector('rect')).fill)")
    assert len(set(fills)) == len(fills)


def test_every_erratum_leads_to_its_statement(browser: Any, atlas: Path) -> None:
    from eigentoken.atlas.graph import page_name
    from eigentoken.theory.statements.registry import statements
    from eigentoken.theory.statements.statement import SourceKind

    visit = Visit(browser, atlas / "errata.html")
    links = visit.page.eval_on_selector_all("td > a", "nodes => nodes.map(n => n.getAttribute('href'))")
    listed = [each for each in statements() if each.printed is not None]
    assert sorted(links) == sorted(page_name(each.id) for each in listed)
    read = [page_name(each.id) for each in listed if each.printed.kind is SourceKind.READ]
    assert links[: len(read)] == read  # what was read stands first
    visit.check()


def test_the_number_of_a_formula_stands_beside_it_on_a_phone(browser: Any, atlas: Path) -> None:
    visit = Visit(browser, atlas / "PM-L15.html", viewport={"width": 390, "height": 800})
    visit.page.wait_for_selector(".tag")
    upon = """() => [...document.querySelectorAll('.katex-display .katex-html > .tag')].map(tag => {
        const ends = [...tag.parentNode.querySelectorAll(':scope > .base')].map(each => each.getBoundingClientRect().right);
        return tag.getBoundingClientRect().left - Math.max(...ends); })"""
    gaps = visit.page.evaluate(upon)
    assert len(gaps) > 20 and min(gaps) >= 0
    visit.check()


def test_no_line_begins_with_the_mark_after_a_formula(browser: Any, atlas: Path) -> None:
    visit = Visit(browser, atlas / "errata.html")
    visit.page.wait_for_selector(".katex .after")
    parted = """() => [...document.querySelectorAll('.katex')].map(each => each.parentNode.nextSibling)
        .filter(node => node?.nodeType === Node.TEXT_NODE && /^[.,:;)]/.test(node.data)).length"""
    assert visit.page.evaluate(parted) == 0
    assert visit.page.locator(".katex .after").count() > 50
    visit.check()


def test_the_errata_are_not_cut_and_a_page_tells_its_neighbours_before_its_derivation(
    browser: Any, atlas: Path
) -> None:
    visit = Visit(browser, atlas / "errata.html")
    cut = "boxes => boxes.filter(each => each.scrollHeight > each.clientHeight + 1).length"
    assert visit.page.eval_on_selector_all(".scroll", cut) == 0
    visit = Visit(browser, atlas / "PM-L15.html")
    top = lambda text: visit.page.get_by_text(text).first.bounding_box()["y"]  # noqa: E731
    assert visit.page.locator(".lies .corrected").inner_text() == "corrected"
    assert visit.page.locator("section.statement").first.bounding_box()["y"] < 300
    assert top("Depends on") < top("Used by") < top("Derivation for") < top("Conditions that are needed")
    assert "0 cited" not in visit.page.locator("main").inner_text()
    visit.check()
