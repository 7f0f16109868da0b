"""Every kind of page that is written: in the dark, printed, on a phone, alone; and for axe-core where no other file asks it.

The site as a whole, which is served and searched, is in test_site.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.face.test_browser import RAW, Visit, browser, chromium
from tests.face.test_report_page import pages

__all__ = ["browser", "chromium", "pages"]
pytestmark = pytest.mark.needs_browser
ROOT = Path(__file__).resolve().parents[2]

#: Asked by axe-core in test_report_page.py and test_playground.py.
ASKED = ("report", "refutation", "gallery", "compare", "atlas", "statement", "errata")
#: Asked here: a derivation and the errata as documents, moving tokens, what a notebook shows.
OTHERS = ("derivation", "errata document", "animation", "answers")


def answers(folder: Path) -> str:
    """What a notebook shows for answers of many kinds, under one another."""
    import eigentoken as et

    model = et.load(str(ROOT / "examples" / "byte_lm" / "step03000.safetensors"))
    opposite = {"system": "oja-map", "V": [[2, 0], [0, 1]], "alpha": "1/2", "tokens": [[1, 0], [-1, 0]]}
    shown = (
        et.check(model, statements="PM-N1", sequences=0, work=folder),
        model,
        model.layers[0],
        model.layers[0].heads[0],
        et.certify([[2, 1], [1, 2]], "positive-definite"),
        et.classify(opposite),
        et.statements(),
        et.verify("PM-A1"),
        et.simulate("oja-flow", n=3, d=2, samples=5),
        et.systems(),
    )
    parts = "".join(f"<section><h2>{n}</h2>{each._repr_html_()}</section>" for n, each in enumerate(shown))
    return f'<!doctype html><html lang="en"><head><title>answers</title></head><body><main><h1>x</h1>{parts}</main></body></html>'


@pytest.fixture(scope="module")
def places(pages: Path, atlas: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of every kind."""
    from eigentoken.figures import run_simulation
    from eigentoken.output import render
    from eigentoken.proofs.typeset.document import of_statement
    from eigentoken.theory.statements.registry import statements

    folder = tmp_path_factory.mktemp("others")
    found = {
        "report": pages / "report.html",
        "refutation": pages / "refutation.html",
        "gallery": pages / "gallery" / "index.html",
        "compare": pages / "compare.html",
        "atlas": atlas / "index.html",
        "statement": atlas / "PM-L15.html",
        "errata": atlas / "errata.html",
        **{name: folder / f"{name.replace(' ', '-')}.html" for name in OTHERS},
    }
    found["derivation"].write_text(render(of_statement(statements().get("PM-L15")), "html"), encoding="utf-8")
    command = ("-m", "eigentoken", "-q", "derive", "--errata", "--format", "html", "-o", found["errata document"])
    subprocess.run([sys.executable, *command], check=True, timeout=600)
    run_simulation("oja-flow", animation=found["animation"], n=3, d=2, samples=5)
    found["answers"].write_text(answers(folder), encoding="utf-8")
    return found


def opened(browser: Any, path: Path, **options: Any) -> Visit:
    """The page with everything on it unfolded."""
    visit = Visit(browser, path, **options)
    visit.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    return visit


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", OTHERS)
def test_no_violation_of_accessibility(browser: Any, places: dict[str, Path], name: str, colours: Any) -> None:
    visit = opened(browser, places[name], color_scheme=colours)
    assert visit.violations() == {}
    visit.check()


#: Formulas, tables, listings and pictures that reach beyond the paper, or stand in a box that hides their end.
CUT = """() => [...document.querySelectorAll('.katex .base, table, pre, img, svg, canvas, figure, h1, h2')].filter(each => {
    const { right, width, height } = each.getBoundingClientRect();
    return width && height && !each.closest('svg svg, .graph') && right > window.innerWidth + 1;
    }).map(each => each.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("name", [*ASKED, *OTHERS])
def test_a_print_has_all_its_formulas_and_cuts_nothing_off(browser: Any, places: dict[str, Path], name: str) -> None:
    visit = opened(browser, places[name], viewport={"width": 720, "height": 1000})  # A4 between margins
    visit.page.emulate_media(media="print")
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert visit.page.evaluate(CUT) == []
    assert visit.page.evaluate(RAW) == 0
    visit.check()


@pytest.mark.parametrize("name", [each for each in (*ASKED, *OTHERS) if each != "answers"])
def test_in_the_dark_every_page_is_dark_and_on_a_phone_as_wide_as_it(
    browser: Any, places: dict[str, Path], name: str
) -> None:
    visit = opened(browser, places[name], color_scheme="dark", viewport={"width": 360, "height": 780})
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360
    visit.check()
