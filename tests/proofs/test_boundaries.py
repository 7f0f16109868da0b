"""The boundary of the bipartite criterion (PM-X6, PM-X7) and slow collapse (PH-X3): groups against tokens, verified, mutated."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from eigentoken.proofs.new_results import pm_x05_boundaries as boundary
from eigentoken.proofs.verify import verify
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.catalogue import system


@pytest.mark.parametrize("step", [None, "1/3"])
def test_groups_move_as_their_tokens_do(step: str | None) -> None:
    """The motion of whole groups is that of the registered systems, token by token."""
    with mp.workdps(30):
        groups = [(3, mp.mpf("0.2")), (2, mp.pi - mp.mpf("0.3"))]
        score = ((mp.mpf("0.7"), mp.mpf("0.1")), (mp.mpf("-0.4"), mp.mpf("1.5")))
        second, alpha = mp.mpf("-0.5"), None if step is None else mp.mpf(1) / 3
        found = boundary.motion(second, score, groups, alpha)
        tokens = tuple((mp.cos(angle), mp.sin(angle)) for many, angle in groups for _ in range(many))
        given = {"V": ((mp.mpf(1), mp.mpf(0)), (mp.mpf(0), second)), "M": score}
        name = "attention-flow" if alpha is None else "attention-map"
        whole = given if alpha is None else given | {"alpha": alpha}
        moved = system(name).advance(LoopAlgebra(mp.exp, mp.sqrt, mp.mpf(1)), whole, tokens)
        for place, (first, found_here) in enumerate(zip((0, 3), found, strict=True)):
            c, y = tokens[first]
            across, along = c * moved[first][1] - y * moved[first][0], c * moved[first][0] + y * moved[first][1]
            stated = across if alpha is None else mp.atan2(across, along)
            assert abs(stated - found_here) < mp.mpf(10) ** -25, place


def test_another_coefficient_is_seen_to_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    right = boundary.boundary_coefficient(np.random.default_rng(3))
    assert max(right.values()) < 1e-8
    exact = boundary.cubic
    monkeypatch.setattr(boundary, "cubic", lambda s, m, b1, b2: exact(s, m, b1, b2) * mp.mpf("1.001"))
    assert boundary.boundary_coefficient(np.random.default_rng(3))["cubic"] > 1e-8


@pytest.mark.parametrize("name", ["PM-X5", "PM-X6", "PM-X7", "CT-14", "CT-15", "PH-X3"])
def test_they_are_claimed_in_the_language_and_tested(name: str) -> None:
    told = statements().get(name)
    assert told.claims and told.conditions
    assert bool(told.variants) == (name not in {"PM-X6", "PM-X7"})  # shown along the flow
    found = verify(name, instances=4)
    assert found.good, [line for line in found.lines if not line.good]
    assert found.status() == "tested"
