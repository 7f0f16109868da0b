"""A claim of strict stability is broken by a multiplier of exactly 1, which floats see as a violation of zero."""

from __future__ import annotations

from pathlib import Path

import pytest

from eigentoken.numerics.lab import refute

FILE = """
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import PositiveSemidefinite, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, matrix, n

V = matrix("V")
about = Conjecture(
    name="about",
    system="oja-map",
    conditions=[{conditions}, Relation(n >= 2)],
    claims=[Stable(ConsensusAt(V, 1))],
)
"""


@pytest.mark.parametrize(
    ("conditions", "verdict"),
    [
        ("Symmetric(V), PositiveSemidefinite(V)", "refuted"),
        ("Symmetric(V), PositiveSemidefinite(V), SimpleTop(V)", "survived"),
    ],
)
def test_a_tie_at_the_top_refutes_and_nothing_else_is_a_candidate(
    tmp_path: Path, conditions: str, verdict: str
) -> None:
    path = tmp_path / "conjecture.py"
    path.write_text(FILE.format(conditions=conditions), encoding="utf-8")
    (result,) = refute(path, seconds=60, instances=1000).as_dict()["results"]
    assert result["verdict"] == verdict
    if verdict == "refuted":
        assert "exactly 1" in result["meaning"]
        assert result["counterexample"]["certificates"]
