"""The report, the refutation page and the gallery in Chromium: controls, links, zoom, and no violation of accessibility."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.face.test_browser import Visit, browser, chromium

__all__ = ["browser", "chromium"]
pytestmark = pytest.mark.needs_browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, small_report: Path) -> Path:
    """The four pages, small: a report of three layers, a refuted conjecture, one figure, two layers beside each other."""
    import torch

    from eigentoken.comparing.compare import compare
    from eigentoken.figures import run_recipes
    from eigentoken.lab_page import refutation_html
    from eigentoken.numerics.lab import refute

    folder = tmp_path_factory.mktemp("pages")
    (folder / "report.html").write_bytes(small_report.read_bytes())
    conjecture = Path(__file__).resolve().parents[2] / "examples" / "conjectures" / "polygonal_instability.py"
    found = refute(conjecture, instances=1, seconds=60.0, jobs=1).as_dict()
    (folder / "refutation.html").write_text(refutation_html(found), encoding="utf-8")
    run_recipes(["abella-2"], scale="quick", folder=folder / "gallery")
    torch.manual_seed(0)
    two = [torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True) for _ in range(2)]
    compare(two, statements="PM-N1", work=folder / "work").save(folder / "compare.html")
    return folder


NAMES = ("report.html", "refutation.html", "gallery/index.html", "compare.html")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_violation_of_accessibility(browser: Any, pages: Path, name: str, colours: Any) -> None:
    visit = Visit(browser, pages / name, color_scheme=colours)
    if name == "report.html":
        visit.page.locator("#heat button").first.click()
        visit.page.wait_for_selector("#detail h3")
        visit.page.wait_for_selector("#cloud svg")
    assert visit.violations() == {}
    visit.check()


@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_wide_things_scroll_and_not_the_page(browser: Any, pages: Path, name: str) -> None:
    visit = Visit(browser, pages / name, viewport={"width": 360, "height": 780})
    visit.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    widest = "Math.max(...[document.documentElement, document.body].map(each => each.scrollWidth))"
    assert visit.page.evaluate(widest) <= 360
    visit.check()


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere_and_names_are_given_once(browser: Any, pages: Path, name: str) -> None:
    visit = Visit(browser, pages / name)
    lost = """() => [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))
        .filter(href => href.startsWith('#') && !document.getElementById(href.slice(1)))"""
    assert visit.page.evaluate(lost) == []
    others = "nodes => nodes.map(n => n.getAttribute('href')).filter(href => !href.startsWith('#'))"
    assert all(((pages / name).parent / href).is_file() for href in visit.page.eval_on_selector_all("a[href]", others))
    twice = "() => { const all = [...document.querySelectorAll('[id]')].map(n => n.id); return all.length - new Set(all).size; }"
    assert visit.page.evaluate(twice) == 0
    visit.check()


#: Ids in text that a reader sees, outside links and commands, and not beside the link of their title.
BARE = r"""() => { const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), bare = [];
    while (walk.nextNode()) { const node = walk.currentNode;
      if (/(^|[^\w#.-])[A-Z]{2}-[A-Z]{0,3}\d/.test(node.textContent)
          && !node.parentElement.closest('a, .id, code, pre, script, style, summary, h1'))
        bare.push(node.textContent.trim().slice(0, 80)); }
    return bare; }"""


@pytest.mark.parametrize("name", NAMES)
def test_every_id_is_a_link_or_stands_beside_its_title(browser: Any, pages: Path, name: str) -> None:
    visit = Visit(browser, pages / name)
    assert [text for text in visit.page.evaluate(BARE) if not text.startswith("sha256")] == []


def test_an_id_in_a_text_gets_its_title_and_the_text_of_its_statement() -> None:
    from eigentoken.statement_links import linked, with_statements

    whole, mathematics = with_statements(
        "<main><p>no, see AB-E25; not AB-E2599.</p><svg><text>PM-L4</text></svg></main>"
    )
    assert mathematics
    assert whole.count('href="#s-AB-E25"') == whole.count('id="s-AB-E25"') == 1
    assert "AB-E2599.</p><svg><text>PM-L4</text></svg>" in whole
    assert with_statements("<main><p>nothing</p></main>") == ("<main><p>nothing</p></main>", False)
    title = "Stability of consensus for the Oja map"
    assert linked(f"<p>{title} (PM-L4)</p>")[0].count(title) == 2  # in the text, and as the title of the link
    assert linked("<p>PM-L4</p>", but=["PM-L4"]) == ("<p>PM-L4</p>", [])
    book = with_statements('<main><h2 id="PM-T2+">of the book</h2><p>by PM-T2+ and PM-T2</p></main>')[0]
    assert 'href="#PM-T2+"' in book  # under its own heading
    assert "#s-PM-T2+" not in book
    assert book.count('href="#s-PM-T2"') == book.count('id="s-PM-T2"') == 1  # at the end


def test_every_id_looks_like_one() -> None:
    from eigentoken.proofs.typeset.summary import ID
    from eigentoken.theory.statements.registry import statements

    assert [each.id for each in statements() if ID.findall(f"as in {each.id}, or") != [each.id]] == []


def test_the_lines_of_a_comparison_are_drawn_by_the_page(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "compare.html")
    drawn = visit.page.locator(".lines figure svg[role=img]")
    assert drawn.count() == 4
    assert "layer 0 ends at" in drawn.first.get_attribute("aria-label")
    assert visit.page.locator(".lines [data-mark='x-axis tick label'] text").count() >= 4
    visit.check()


def shown(visit: Visit) -> list[str]:
    return list(
        visit.page.eval_on_selector_all("li.row", "rows => rows.filter(r => !r.hidden).map(r => r.id.slice(2))")
    )


def test_statements_are_found_sorted_and_shown_by_group(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "report.html")
    every = shown(visit)
    visit.page.locator("#find").fill("hemisphere causal")
    some = shown(visit)
    assert 0 < len(some) < len(every)
    assert "AB-X1c" in some
    assert visit.page.locator("#found").inner_text() == f"{len(some)} of {len(every)}"
    assert visit.page.locator("[id='s-AB-X1c']").is_visible()
    visit.page.locator("#find").fill("nowhere-in-the-book")
    assert shown(visit) == []
    visit.page.locator("#find").fill("")
    assert shown(visit) == every
    tile = visit.page.locator(".tile.other")
    tile.click()
    assert tile.get_attribute("aria-pressed") == "true"
    assert len(shown(visit)) == int(tile.locator("b").inner_text()) < len(every)
    visit.page.locator("#all-groups").click()
    assert shown(visit) == every
    titles = lambda: visit.page.eval_on_selector_all(".group.other li.row", "rows => rows.map(r => r.dataset.text)")  # noqa: E731
    first = titles()
    visit.page.select_option("#sort", "title")
    by_title = visit.page.evaluate("all => [...all].sort((a, b) => a.localeCompare(b))", first)
    assert titles() == by_title != first
    assert by_title[0].startswith("a")
    shared = visit.page.locator("li.bunch")
    assert not [each for each in shared.all() if each.is_visible()]  # each stands alone, with its own reason
    visit.page.select_option("#sort", "book")
    assert titles() not in (by_title, first)
    visit.page.select_option("#sort", "reason")
    assert titles() == first


def test_a_reason_that_statements_share_is_told_once(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "report.html")
    visit.page.locator(".tile.other").click()
    bunch = visit.page.locator(".group.other li.bunch").first
    rows, said = bunch.locator("li.row"), bunch.locator(".shared")
    assert said.inner_text().startswith(f"{rows.count()} statements: ")
    told = {row.locator(".why").text_content().split() == said.text_content().split()[2:] for row in rows.all()}
    assert rows.count() > 1 and told == {True}  # the same reason, of each of them
    assert not [row for row in rows.all() if row.locator(".why").is_visible()]
    reasons = [each.text_content() for each in visit.page.locator(".group.other li.bunch .shared").all()]
    assert len(set(reasons)) == len(reasons) > 1
    visit.page.select_option("#sort", "title")
    row = visit.page.locator(".group.other li.row").first
    assert row.locator(".why").is_visible() and not visit.page.locator(".group.other li.bunch").first.is_visible()
    visit.page.select_option("#sort", "reason")
    visit.page.locator("#find").fill(rows.first.get_attribute("id")[2:])
    assert rows.first.is_visible() and said.is_visible()
    visit.page.locator("#find").fill("nowhere-in-the-book")
    assert not said.is_visible()
    visit.check()


def test_a_link_to_a_statement_opens_its_text(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "report.html")
    row = visit.page.locator("[id='s-PM-L8']")
    assert not row.is_visible()  # not about this model: its group is closed
    visit.page.evaluate("location.hash = 's-PM-L8'")
    row.locator("details.text[open]").wait_for()
    row.locator(".katex").first.wait_for()
    assert "then" in row.inner_text()
    visit.check()


def test_the_eigenvalues_can_be_zoomed_and_the_leader_is_marked(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "report.html")
    visit.page.locator("#spectrum").scroll_into_view_if_needed()
    picture = visit.page.locator("#cloud svg[data-view]")
    picture.wait_for()
    view = lambda: json.loads(picture.get_attribute("data-view"))  # noqa: E731
    (left, right), (low, high) = whole = view()
    assert visit.page.locator("#cloud text", has_text="leader").count() == 1
    assert visit.page.locator("#cloud [data-mark='x-axis tick label'] text").count() >= 4
    visit.page.locator("#closer").click()
    (a, b), (c, d) = view()
    assert b - a == pytest.approx((right - left) / 2, rel=1e-9)
    assert "leader" in picture.get_attribute("aria-label")
    visit.page.locator("#wider").click()
    assert view()[0][1] - view()[0][0] == pytest.approx(right - left, rel=1e-9)
    visit.page.locator("#whole").click()
    assert view() == whole
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    visit.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"], steps=3)
    visit.page.mouse.up()
    (a, b), (c, d) = view()
    assert left < a < b < right
    assert low < c < d < high
    picture.dblclick()
    assert view() == whole
    visit.check()


def test_one_outlier_leaves_the_other_heads_their_colours(browser: Any, pages: Path, tmp_path: Path) -> None:
    text = (pages / "report.html").read_text(encoding="utf-8")
    head, tail = text.split('<script type="application/json" id="data">')
    data, rest = tail.split("</script>", 1)
    told = json.loads(data)
    for number, layer in enumerate(told["layers"]):
        for place, values in enumerate(layer["heads"]):
            values[0] = 1 + number + place / 10
    told["layers"][0]["heads"][0][0] = 1e6
    page = tmp_path / "outlier.html"
    page.write_text(
        f'{head}<script type="application/json" id="data">{json.dumps(told)}</script>{rest}', encoding="utf-8"
    )
    visit = Visit(browser, page)
    colours = "cells => new Set(cells.map(c => c.style.background)).size"
    cells = "#heat button:not(.whole)"
    assert visit.page.eval_on_selector_all(cells, colours) == 6
    assert visit.page.locator("#legend figcaption").first.inner_text().endswith("by quantiles")
    visit.page.select_option("#scale", "linear")
    assert visit.page.eval_on_selector_all(cells, colours) == 2
    visit.check()


def test_what_applies_comes_first_and_the_details_after_three_screens(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "report.html", viewport={"width": 1400, "height": 1000})
    top = lambda name: visit.page.locator(name).bounding_box()["y"]  # noqa: E731
    assert top(".tiles") < top("#statements") < top("#heads") < top("#depth") < top("#layers")
    assert top("#statements") < 1000
    assert top("#layers") < 3000


def test_a_counterexample_is_shown_as_matrices(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "refutation.html")
    visit.page.wait_for_selector(".display .katex-display")
    assert visit.page.locator(".katex-display .mtable").count() >= 3
    assert "refuted" in visit.page.locator(".tiles").inner_text()
    visit.check()


def test_the_gallery_shows_its_figure(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "gallery" / "index.html")
    visit.page.wait_for_function("document.querySelector('article img').naturalWidth > 100")
    assert visit.page.locator("article td.agrees").count() == 3
    width = visit.page.evaluate("(image => [image.naturalWidth, image.width])(document.querySelector('article img'))")
    assert abs(width[1] - 0.6 * width[0]) < 12  # an inch of the figure is an inch of the screen
    figure, claim = (visit.page.locator(name).first.bounding_box() for name in ("article figure", "article dl"))
    assert (
        claim["x"] > figure["x"] + figure["width"] and claim["y"] < figure["y"] + 20
    )  # beside it, not half a page below
    assert visit.page.locator("article dt").all_inner_texts() == [
        "the paper says",
        "settings",
        "how it differs from the paper's",
    ]
    visit.check()


@pytest.mark.parametrize("name", ["report.html", "compare.html"])
def test_no_number_of_an_axis_is_cut(browser: Any, pages: Path, name: str) -> None:
    """A minus sign beyond the left edge of its picture makes a negative number a positive one."""
    visit = Visit(browser, pages / name)
    if name == "report.html":
        visit.page.locator("#heat button").first.click()
        visit.page.wait_for_selector("#cloud svg")
    cut = """() => { const labels = [...document.querySelectorAll("svg [data-mark$='tick label'] text")];
        return [labels.length, labels.filter(text => {
            const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
            return own.left < all.left - 0.5 || own.right > all.right + 0.5; }).map(text => text.textContent)]; }"""
    count, outside = visit.page.evaluate(cut)
    assert count > 20
    assert outside == []


def test_the_first_head_is_shown_before_one_is_chosen(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "report.html")
    visit.page.locator("#cloud").scroll_into_view_if_needed()
    visit.page.wait_for_selector("#detail[data-unasked] h3")
    assert visit.page.locator("#detail h3").inner_text() == "layer 0, head 0"
    assert visit.page.evaluate("document.activeElement === document.body")  # nothing takes the reader's place
    visit.page.emulate_media(media="print")
    assert not visit.page.locator("#detail").is_visible()
    visit.page.emulate_media(media="screen")
    visit.page.locator("#heat button").nth(1).click()
    visit.page.wait_for_function("document.querySelector('#detail h3').innerText === 'layer 0, head 1'")
    assert visit.page.locator("#detail[data-unasked]").count() == 0
    visit.check()


def test_the_conventions_are_typeset(browser: Any, pages: Path) -> None:
    text = (
        (pages / "report.html")
        .read_text(encoding="utf-8")
        .partition("Conventions and provenance")[2]
        .partition("<ul>")[0]
    )
    assert (
        r"\sum_h" in text
        and "sum_h " not in text.replace(r"\sum_h ", "")
        and "_h^T" not in text
        and "alpha =" not in text
    )


def test_a_column_of_a_phone_has_more_than_a_word_a_line(browser: Any, pages: Path) -> None:
    visit = Visit(browser, pages / "refutation.html", viewport={"width": 360, "height": 780})
    heights = "rows => rows.map(row => row.getBoundingClientRect().height)"
    assert max(visit.page.eval_on_selector_all(".display tr", heights)) < 160
    assert "refuted by an exact counterexample" in visit.page.locator("article > p").first.inner_text()
    assert "refuted: refuted" not in visit.page.locator("article").first.inner_text()
