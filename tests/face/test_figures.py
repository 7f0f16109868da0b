"""Figures and gallery: what is drawn, that legends hide no curve, and the two functions behind the command line."""

from __future__ import annotations

import ast
import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from eigentoken.figures import gallery_page, list_recipes, run_recipes, run_simulation, simulation_options
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, Histogram, SpherePaths
from eigentoken.numerics.dynamics.drawing import draw, save
from eigentoken.numerics.dynamics.figure_styles import STYLES, style_named
from eigentoken.numerics.dynamics.palette import COLOURS, DASHES
from eigentoken.numerics.dynamics.sphere_drawing import near_side
from eigentoken.numerics.dynamics.svg_fonts import with_fonts
from eigentoken.numerics.experiments.registry import Context, recipe_named, run

from ..shares import others_slow


def chart(labels: int = 7) -> Chart:
    x = np.linspace(0, 1, 30)
    path = np.stack((np.cos(3 * x), np.sin(3 * x), np.zeros(30)), -1)[:, None, :]
    return Chart(
        "a title",
        (
            Curves(
                [Curve(x, np.sin(9 * x + k), f"curve {k}", spread=0.1 + 0 * x) for k in range(labels)],
                "layer",
                "y",
                level=0.5,
            ),
            SpherePaths(path, np.diag([1.0, 2.0, 3.0]), "sphere", (("v", np.array([1.0, 0, 0])),)),
            Histogram((("a", np.arange(9)), ("b", np.arange(5))), "x"),
        ),
    )


def test_every_panel_is_drawn_and_nothing_overlaps() -> None:
    figure = draw(chart())
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    first, sphere, histogram = figure.axes
    assert len(first.lines) == 8  # seven curves and the level
    assert len(sphere.lines) == 4  # one token on the near and the far side, one direction with both signs
    assert histogram.patches
    renderer = canvas.get_renderer()
    for axes in (first, histogram):
        legend = axes.get_legend().get_window_extent(renderer)
        assert not legend.overlaps(axes.get_window_extent(renderer))
        assert not legend.overlaps(axes.xaxis.label.get_window_extent(renderer))
    titles = figure.get_suptitle()
    assert titles == "a title"


def overlapping_texts(figure: Any) -> list[tuple[str, str]]:
    """Pairs of words in a figure that lie on one another, or on its edge: titles, labels, tick labels, legends."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    words = [figure._suptitle]
    for axes in figure.axes:
        words += [axes.title, *(axes.get_legend().get_texts() if axes.get_legend() else ())]
        if axes.name == "3d":
            continue  # its ticks turn with the view
        words += [axes.xaxis.label, axes.yaxis.label]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            words += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [(text.get_text(), text.get_window_extent(renderer).padded(-0.5)) for text in words if text.get_text()]
    page = figure.bbox
    cut = [(text, "the edge") for text, box in boxes if not (page.x0 <= box.x0 and box.x1 <= page.x1)]
    return cut + [(a, b) for k, (a, one) in enumerate(boxes) for b, other in boxes[:k] if one.overlaps(other)]


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_no_word_lies_on_another_and_no_figure_is_wider_than_a_page(columns: int) -> None:
    x = np.arange(1, 13)
    panel = Curves(
        [
            Curve(x, 1e-3 * x, "mean over all"),
            Curve(x, 2e-3 * x, "$\\Delta\\rho_1$"),
            Curve(x, x, "eq. (3), same start"),
        ],
        "layer",
        "share of positive eigenvalues",
        "sample:microformer: the probability of an increment by layer",
    )
    bars = Histogram((("with $v_1$", x), ("with S of $|1+\\lambda|$", x / 2)), "correlation", "tokens after 12 layers")
    figure = draw(
        Chart("Li and Altafini, a figure with a long title, on samples", (panel, bars, panel, panel), columns)
    )
    assert overlapping_texts(figure) == []
    assert figure.get_size_inches()[0] <= 7.7
    legends = [*figure.legends, *(found for axes in figure.axes if (found := axes.get_legend()) is not None)]
    assert len(legends) == 2  # that of the curves, and that of the histogram
    smallest = min(text.get_fontsize() for each in legends for text in each.get_texts())
    assert smallest >= 7.5  # points, on paper


def test_long_names_in_a_legend_are_not_cut_off() -> None:
    lines = [
        Curve([0, 1], [k, 1], name)
        for k, name in enumerate(("random weights", "trained: sample:microformer", "x" * 26))
    ]
    assert overlapping_texts(draw(Chart("t", (Curves(lines, "x", "y"),), 1))) == []
    figure = draw(Chart("t", (Curves(lines, "x", "y"),), 1))
    figure.set_layout_engine("none")
    figure.axes[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=3)
    assert any("the edge" in pair for pair in overlapping_texts(figure))


def test_the_search_for_overlaps_finds_one() -> None:
    figure = draw(Chart("a title", (Curves([Curve([0, 1], [0, 1], "a")], "x", "y", "panel"),)))
    figure.axes[0].title.set_position((0.5, -0.12))
    figure.axes[0].title.set_verticalalignment("top")
    figure.axes[0]._autotitlepos = False
    assert any("panel" in pair for pair in overlapping_texts(figure))


@pytest.mark.parametrize(
    "name",
    others_slow(["abella-1", "abella-2", "abella-3", "abella-4", "li-altafini-13a"], lambda name: name < "abella-3"),
)
def test_no_word_of_a_reproduced_figure_lies_on_another(name: str) -> None:
    outcome = run(recipe_named(name), Context())
    assert outcome.chart is not None
    assert overlapping_texts(draw(outcome.chart)) == []


def test_colours_are_told_apart_by_deuteranopes() -> None:
    """Distances after a standard simulation of deuteranopia (Vienot et al., 1999) in linear RGB."""
    matrix = np.array([[0.29275, 0.70725, -0.02978], [0.29275, 0.70725, -0.02978], [-0.02233, 0.02233, 1.0]])
    points = []
    for colour in COLOURS:
        rgb = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        points.append(matrix @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4))
    gaps = [float(np.linalg.norm(a - b)) for i, a in enumerate(points) for b in points[:i]]
    assert min(gaps) > 0.04
    assert len(DASHES) >= len(COLOURS)  # and without any colour, by their dashes


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_saving_is_repeatable(tmp_path: Path, kind: str) -> None:
    one, two = (save(chart(2), tmp_path / f"{name}.{kind}").read_bytes() for name in ("a", "b"))
    assert len(one) > 5000
    assert one == two
    with pytest.raises(ValueError, match=r"\.png"):
        save(chart(2), tmp_path / "a.gif")


@pytest.mark.parametrize("style", others_slow(STYLES, lambda style: style in {"page", "neurips"}))
def test_a_style_has_the_width_of_its_page_and_fonts_that_can_be_edited(tmp_path: Path, style: str) -> None:
    chosen = style_named(style)
    assert draw(chart(2), chosen).get_size_inches()[0] <= chosen.width + 1e-9
    printed = save(chart(2), tmp_path / "f.pdf", chosen).read_bytes()
    assert b"/Type3" not in printed
    assert b"/CIDFontType2" in printed
    assert (b"STIXGeneral" in printed) == chosen.serif
    drawn = save(chart(2), tmp_path / "f.svg", chosen).read_text()
    assert "curve 1</text>" in drawn
    with pytest.raises(ValueError, match="did you mean neurips"):
        style_named("nurips")


@pytest.mark.parametrize("style", STYLES)
def test_the_formulas_of_an_svg_are_unicode(tmp_path: Path, style: str) -> None:
    """The reader's own fonts draw them: a letter at a place of Computer Modern's own would be another letter there."""
    labels = ("$|P_1(t)|_F$", "$\\Delta\\rho_1$", "$\\Pi_1 - 1$", "$\\mu / |\\lambda_1|$")
    curves = [Curve([0, 1], [0, 1], label) for label in labels]
    drawn = save(
        Chart("", (Curves(curves, "t", "$V_P$"),), columns=1), tmp_path / "f.svg", style_named(style)
    ).read_text()
    text = re.sub(r"<[^>]*>", "", drawn)
    assert all(letter in text for letter in "ρμλPVΔΠ")
    assert not set("½¢¡¸¹") & set(text)


def test_an_svg_brings_the_letters_that_it_uses(tmp_path: Path) -> None:
    """A viewer without the font would draw the letters of a formula, which are placed one by one, over each other."""
    from fontTools.ttLib import TTFont

    curves = [Curve([0, 1], [0, 1], "$\\lambda_k$ of a run")]
    panel = Curves(curves, "t", "$x$")
    drawn = save(Chart("", (panel,)), tmp_path / "f.svg", style_named("neurips")).read_text()
    rule = r"@font-face\{font-family:'STIXGeneral';font-style:(\w+);font-weight:normal;src:url\(data:font/woff;base64,([^)]*)\)\}"
    faces = {style: TTFont(io.BytesIO(base64.b64decode(data))) for style, data in re.findall(rule, drawn)}
    assert {style: set(map(chr, font.getBestCmap())) >= set(used) for style, font, used in (
        ("normal", faces["normal"], "ofarunt01"), ("italic", faces["italic"], "λkx"),
    )} == {"normal": True, "italic": True}  # fmt: skip
    assert "Z" not in map(chr, faces["normal"].getBestCmap())  # and no others
    assert with_fonts("<svg><text style=\"font-family: 'No Such Font'\">a</text></svg>").count("@font-face") == 0


def test_the_far_side_is_behind_the_edge_of_the_sphere_and_of_an_ellipsoid() -> None:
    from eigentoken.numerics.dynamics.sphere_drawing import AZIMUTH, ELEVATION

    azimuth, elevation = np.deg2rad(AZIMUTH), np.deg2rad(ELEVATION)
    eye = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    assert near_side(np.stack((eye, -eye)), np.eye(3)).tolist() == [True, False]
    metric = np.diag([25.0, 1.0, 1.0])  # flat in x: a point a little towards the reader is on the near side
    rim = np.cross(eye, [0.0, 0.0, 1.0])
    seen = near_side(np.stack((rim + 0.01 * eye, rim - 0.01 * eye)), np.eye(3))
    assert seen.tolist() == [True, False]
    assert near_side(np.array([0.15, 0.66, 0.0]), metric) != near_side(np.array([0.15, 0.66, 0.0]), np.eye(3))


def test_fractions_of_trials_are_drawn_with_their_intervals() -> None:
    low, high = [0.0, 0.2], [0.4, 0.9]
    curve = Curve([1, 2], [0.1, 0.5], "returns", interval=(low, high))
    chart = Chart("t", (Curves([curve], "x", "y"),))
    assert chart.arrays()["panel0_curve0_interval"].tolist() == [low, high]
    (band,) = draw(chart).axes[0].collections
    corners = {(float(x), float(y)) for x, y in band.get_paths()[0].vertices}
    assert {(1.0, 0.0), (1.0, 0.4), (2.0, 0.2), (2.0, 0.9)} <= corners
    assert not draw(Chart("t", (Curves([Curve([1, 2], [0.1, 0.5])], "x", "y"),))).axes[0].collections


def test_faint_lines_lie_under_the_others() -> None:
    curves = [Curve([1, 2], [1, 2], "mean"), Curve([1, 2], [2, 1], "", "faint")]
    strong, faint = draw(Chart("t", (Curves(curves, "x", "y"),))).axes[0].lines
    assert faint.get_zorder() < strong.get_zorder()


def test_tokens_in_the_plane_are_drawn_on_a_circle() -> None:
    angles = np.linspace(0, 1, 9)
    paths = np.stack((np.cos(angles), np.sin(angles)), -1)[:, None, :]
    (axes,) = draw(Chart("t", (SpherePaths(paths),))).axes
    assert axes.name == "rectilinear"
    assert len(axes.lines) == 2  # the circle and one token


def test_a_legend_that_panels_share_is_drawn_once() -> None:
    panel = Curves([Curve([0, 1], [0, 1], "a"), Curve([0, 1], [1, 0], "b")], "x", "y")
    other = Curves([Curve([0, 1], [0, 1], "c")], "x", "y")
    shared = draw(Chart("t", (panel, panel, panel), 3))
    assert len(shared.legends) == 1
    assert all(axes.get_legend() is None for axes in shared.axes)
    some = draw(Chart("t", (panel, other, panel), 3))
    assert [text.get_text() for text in some.legends[0].get_texts()] == ["a", "b"]
    assert [axes.get_legend() is None for axes in some.axes] == [True, False, True]
    apart = draw(Chart("t", (panel, other), 2))
    assert apart.legends == []
    assert all(axes.get_legend() is not None for axes in apart.axes)


def test_a_title_of_a_row_goes_with_the_row_where_it_is_broken() -> None:
    """Three panels a model are two columns on narrow paper: each says then whose it is."""
    rows = [Curves([Curve([0, 1], [0, 1], "a")], "x", "y", title) for title in ("first", "", "", "second", "", "")]
    wide, narrow = (draw(Chart("t", rows, columns=3), STYLES[style]) for style in ("page", "neurips"))
    assert [axes.get_title() for axes in wide.axes] == ["first", "", "", "second", "", ""]
    assert [axes.get_title() for axes in narrow.axes] == ["first"] * 3 + ["second"] * 3


def test_an_animation_moves_from_the_start_to_the_end(tmp_path: Path) -> None:
    from PIL import Image

    summary = run_simulation("oja-map", n=3, d=2, end=6, seed=3, animation=tmp_path / "a.gif")
    with Image.open(summary["files"]["animation"]) as film:
        assert film.n_frames == 7
    page = Path(run_simulation("oja-map", n=3, end=2, animation=tmp_path / "a.html")["files"]["animation"]).read_text()
    assert page.count("data:image/png;base64,") == 3
    assert "http" not in page.replace("http://www.w3.org", "")
    with pytest.raises(ValueError, match=r"\.gif or \.html, got 'a.mp4'"):
        run_simulation("oja-map", n=3, end=2, animation=tmp_path / "a.mp4")


@pytest.mark.parametrize(("system", "d"), [("oja-map", 5), ("oja-map", 1), ("token-flow", 3)])
def test_what_has_no_sphere_to_move_on_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, d: int
) -> None:
    from eigentoken.numerics.dynamics import simulate

    monkeypatch.setattr(simulate, "_run", lambda *_: pytest.fail("it was run"))
    with pytest.raises(ValueError, match=rf"d = 2 or 3.*{system} has d = {d}"):
        run_simulation(system, n=3, d=d, animation=tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_simulation_writes_figure_data_and_summary(tmp_path: Path) -> None:
    summary = run_simulation("oja-flow", n=4, end=5.0, seed=3, figure=tmp_path / "f.png", data=tmp_path / "d.npz")
    assert summary["schema"] == "eigentoken/simulation/2"
    assert Path(summary["files"]["figure"]).stat().st_size > 5000
    assert np.load(summary["files"]["data"])["states"].shape[2:] == (4, 3)
    json.dumps(summary)
    with pytest.raises(ValueError, match="npz"):
        run_simulation("oja-flow", n=4, end=1.0, data=tmp_path / "d.csv")
    assert {option["name"] for option in simulation_options()} >= {"n", "d", "seed", "certify"}


def test_recipes_are_listed_and_run_to_a_gallery(tmp_path: Path) -> None:
    listed = list_recipes()
    assert {"name", "paper", "figure", "title", "settings", "claim"} == set(listed["recipes"][0])

    def nothing(source: str) -> Any:
        raise OSError("not here")

    seen: list[str] = []
    result = run_recipes(
        ["abella-2", "li-altafini-13a", "li-altafini-2a"], scale="quick", folder=tmp_path, load=nothing,
        finished=lambda outcome: seen.append(outcome["status"]),
    )  # fmt: skip
    assert seen == ["agrees", "agrees", "cannot run"]
    page = Path(result["gallery"]).read_text()
    assert "abella-2.png" in page
    assert "not here" in page
    assert (tmp_path / "abella-2.png").exists()
    again = run_recipes(["abella-2"], scale="quick", folder=tmp_path, load=nothing)
    assert again["outcomes"][0]["resumed"]


def test_the_gallery_escapes_what_it_prints(tmp_path: Path) -> None:
    outcome = {
        "name": "x", "paper": "<b>", "figure": "1", "title": "<script>", "settings": "", "claim": "a < b", "status": "differs",
        "reason": "", "seconds": 1, "scale": "quick", "seed": 0, "note": "", "numbers": {},
        "checks": [{"claim": "<i>", "agrees": False, "evidence": "&"}],
        "tables": [{"title": "t", "columns": ["<"], "rows": [[">"]]}],
    }  # fmt: skip
    (tmp_path / "results.jsonl").write_text(json.dumps(outcome) + "\n{broken\n")
    page = gallery_page(tmp_path).read_text()
    assert "<script>" not in page
    assert "<i>" not in page
    assert "a &lt; b" in page


def test_a_recipe_asked_for_by_name_shows_its_evidence(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from eigentoken.cli import app

    shown = CliRunner().invoke(app, ["reproduce", "abella-2", "--quick", "-o", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "the period is 1" in shown.output
    printed = CliRunner().invoke(app, ["reproduce", "abella-2", "--quick", "-o", str(tmp_path), "--json"])
    document = json.loads(printed.output)
    assert document["outcomes"][0]["resumed"]
    assert document["outcomes"][0]["models"] == []


@pytest.mark.slow
def test_a_recipe_with_a_model_shows_its_evidence(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from eigentoken.cli import app

    shown = CliRunner().invoke(app, ["reproduce", "abella-2", "pham-layers", "--quick", "-o", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "the period is 1" in shown.output
    assert "swings 0.470" in shown.output


def test_no_note_of_a_recipe_prints_the_name_of_a_constant() -> None:
    """A part of a note without its ``f`` was printed as ``{BANDS}`` in two captions."""
    folder = Path(__file__).resolve().parents[2] / "numerics" / "experiments"
    read = 0
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        filled = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in filled:
                assert not re.search(r"\{[A-Z_]{3,}\}", node.value), (path.name, node.lineno)
                read += 1
    assert read > 100


def test_a_recipe_that_does_not_tell_its_difference_is_refused() -> None:
    from eigentoken.numerics.dynamics.charts import Chart
    from eigentoken.numerics.experiments.registry import RecipeResult

    for note in ("", "  ", "none."):
        with pytest.raises(ValueError, match="how the run differs"):
            RecipeResult([], {}, Chart("a figure", ()), note)
    assert RecipeResult([], {}, Chart("a figure", ()), "with another seed").note


def test_the_last_panel_fills_its_row() -> None:
    from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves
    from eigentoken.numerics.dynamics.drawing import draw
    from eigentoken.numerics.dynamics.figure_styles import STYLES

    panels = [Curves([Curve([0, 1], [0, 1], f"curve {number}")], "t", "y", f"panel {number}") for number in range(3)]
    figure = draw(Chart("three", panels, columns=3), STYLES["neurips"])
    boxes = [axes.get_position() for axes in figure.axes]
    assert boxes[0].x1 < boxes[1].x0 and boxes[2].y1 < boxes[0].y0  # two columns, and a second row
    assert boxes[2].x0 <= boxes[0].x0 + 0.05 and boxes[2].x1 >= boxes[1].x1 - 0.05
