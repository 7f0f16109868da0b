"""Conjecture files: bad ones give one message with the place and no partial report; the same file runs under pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from eigentoken.numerics.lab import Conjecture, ConjectureError, load, new, refute

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
