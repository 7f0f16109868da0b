"""Conjecture files: bad ones give one message with the place and no partial report; the same file runs under pytest."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.numerics.lab import Conjecture, ConjectureError, load, new, refute
from eigentoken.numerics.lab.pictures import spectrum_svg, tokens_svg
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import matrix, n

from ..commands import pytest_here

EXAMPLES = Path(__file__).parents[2] / "examples" / "conjectures"
HEAD = """
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, alpha, matrix
V = matrix("V")
good = Conjecture("good", "oja-map", [Symmetric(V)], [Stable(ConsensusAt(V, 1))])
"""


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("x = (1,\n", 1, "syntax error"),
        (HEAD + "bad = Conjecture('b', 'oja-map', [V], [Stable(ConsensusAt(V, 1))])\n", 9, "is not a condition"),
        (HEAD + "bad = Conjecture('b', 'oja-mop', [], [Stable(ConsensusAt(V, 1))])\n", 9, "did you mean oja-map"),
        (HEAD + "bad = Conjecture('b', 'oja-map', [Symmetric(V)])\n", 9, "nothing is claimed"),
        (HEAD + "bad = Conjecture('good', 'oja-map', [], [Stable(ConsensusAt(V, 1))])\n", 9, "two conjectures"),
        (HEAD + "bad = 1 / 0\n", 9, "ZeroDivisionError"),
        (
            HEAD + "bad = Conjecture('b', 'oja-map', [PositiveDefinite(V), NegativeDefinite(V)], "
            "[Stable(ConsensusAt(V, 1))])\n",
            9,
            "cannot be both",
        ),
        (
            HEAD + "bad = Conjecture('b', 'oja-map', [Symmetric(V), Relation(alpha < 1), Relation(alpha > 2)], "
            "[Stable(ConsensusAt(V, 1))])\n",
            9,
            "contradict each other",
        ),
        (
            HEAD + "bad = Conjecture('b', 'oja-map', [Symmetric(V)], holds_if=lambda x: x.nothing)\n",
            9,
            "holds_if raised",
        ),
        (
            HEAD + "W = matrix('W')\nbad = Conjecture('b', 'oja-map', [Symmetric(W)], [Stable(ConsensusAt(V, 1))])\n",
            10,
            "no matrix W",
        ),
        ("x = 1\n", 0, "states no conjecture"),
    ],
)
def test_bad_files_give_one_message_with_the_place(tmp_path: Path, text: str, line: int, says: str) -> None:
    file = tmp_path / "guess.py"
    file.write_text(text)
    with pytest.raises(ConjectureError) as raised:
        refute(file, seconds=5)
    message = str(raised.value)
    assert says in message
    assert "\n" not in message
    assert message.startswith(f"{file}:{line}: " if line else f"{file}: ")


def test_missing_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConjectureError, match="cannot be read"):
        load(tmp_path / "none.py")


def test_a_new_file_can_be_run(tmp_path: Path) -> None:
    file = new(tmp_path / "mine.py", "my guess")
    (guess,) = load(file)
    assert isinstance(guess, Conjecture)
    assert guess.name == "my guess"
    assert refute(file, seconds=30, seed=1).refuted
    with pytest.raises(ConjectureError, match="exists already"):
        new(file)
    with pytest.raises(ConjectureError, match=r"ends in \.py"):
        new(tmp_path / "mine.txt")


def test_examples_are_short_and_load() -> None:
    files = sorted(EXAMPLES.glob("*.py"))
    assert len(files) >= 5
    expected = set()
    for file in files:
        assert len(file.read_text().splitlines()) < 30
        expected |= {each.expect for each in load(file)}
    assert expected == {"survives", "refuted", "open"}


def test_files_run_under_pytest(tmp_path: Path) -> None:
    """One conjecture as its author expects, one not, one bad file: passed, failed and error."""
    (tmp_path / "conjecture_good.py").write_text(
        HEAD.replace("[Symmetric(V)]", "[Symmetric(V), Relation(Eigenvalue(V, 1) < -1)]").replace(
            "[Stable(", "[Stable("
        )
    )
    (tmp_path / "conjecture_false.py").write_text((EXAMPLES / "any_step.py").read_text())
    (tmp_path / "conjecture_bad.py").write_text("x = (\n")
    _, printed = pytest_here(tmp_path, "--conjecture-seconds", 30, "--continue-on-collection-errors", tmp_path)
    assert "1 passed" in printed
    assert "1 failed" in printed
    assert "1 error" in printed
    assert "conjecture_bad.py:1: syntax error" in printed
    assert "expected survived or candidate, got refuted" in printed


def test_a_new_file_without_a_name_is_one_that_pytest_collects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CliRunner().invoke(app, ["conjecture", "new", "--name", "Tokens never meet: a guess"])
    assert ran.exit_code == 0, ran.output
    (made,) = tmp_path.glob("conjecture_*.py")
    assert made.name == "conjecture_tokens_never_meet_a_guess.py"
    assert load(made)[0].name == "Tokens never meet: a guess"


def test_a_counterexample_shows_itself_typeset_and_drawn() -> None:
    flow = Instance.of("oja-flow", [[1, 0], ["3/5", "4/5"], [0, -1]], V=[[2, 1], [1, 1]])
    drawn = tokens_svg(flow)
    assert drawn.count('fill="#246"') == 3
    assert drawn.count("<line") >= 2
    resting = Instance.of("oja-flow", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]])
    assert "<line" not in tokens_svg(resting)
    assert tokens_svg(Instance.of("oja-map", [[1, 0]], V=[[-1, 0], [0, 1]], alpha=1)) == "", (
        "no image: no arrow to draw"
    )
    conjecture = Conjecture(
        "x", "oja-map", [Symmetric(matrix("V"))], [Stable(ConsensusAt(matrix("V"), 1))], n=[2], d=[2]
    )
    shown = refute(conjecture, instances=200, jobs=1).results[0]._repr_html_()
    assert r"\begin{pmatrix}" in shown
    assert "<svg" in shown
    assert "refuted" in shown


def test_a_report_shows_its_counterexample_with_motion_and_spectrum() -> None:
    moving = Instance.of("oja-flow", [["3/5", "4/5"], ["4/5", "-3/5"]], V=[[1, 0], [0, -1]])
    drawn = ElementTree.fromstring(tokens_svg(moving))
    animated = [each for each in drawn.iter() if each.tag.endswith("animate")]
    assert len(animated) == 4 and spectrum_svg(moving) == ""  # two tokens, two coordinates; it does not rest
    resting = Instance.of("oja-map", [[1, 0], [1, 0]], V=[["1/2", 0], [0, -2]], alpha=2)
    dots = [each for each in ElementTree.fromstring(spectrum_svg(resting)).iter() if each.get("r") == "3"]
    assert "animate" not in tokens_svg(resting) and sorted(each.get("fill") for each in dots) == ["#246", "#c33"]
    V = matrix("V")
    stated = Conjecture("any step", "oja-map", [Symmetric(V), Relation(n >= 2)], [Stable(ConsensusAt(V, 1))])
    report = refute(stated, instances=2000)
    shown = report._repr_html_()
    assert "$$" in shown and "eigenvalues of the linearization" in shown and stated.name in shown
    two = refute(
        [stated, Conjecture("again", "oja-map", stated.conditions, stated.claims)], instances=2000
    )._repr_html_()
    assert "<table" in two and two.count("$$") == 4
