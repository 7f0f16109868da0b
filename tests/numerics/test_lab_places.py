"""Claims about places: read only where the tokens are there and rest, refused where they make no sense, confirmed twice."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from eigentoken.cli import main
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.states import place_state
from eigentoken.numerics.lab import Conjecture, ConjectureError, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.exact_places import at_place
from eigentoken.numerics.readings.trajectories import distance
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Converges,
    Decreases,
    Diverges,
    Equilibrium,
    ForwardInvariant,
    LyapunovStable,
    SpectrumIs,
    Stable,
    TwoCycle,
    Unstable,
)
from eigentoken.theory.language.conditions import InHemisphere, Symmetric
from eigentoken.theory.language.observables_attention import pair_form, token_energy
from eigentoken.theory.language.places import (
    AntipodalAt,
    BipartiteAt,
    ConsensusAt,
    ConsensusSet,
    Hemisphere,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.readings import LATEX, OBSERVED
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import statement

load()
V = matrix("V")
TURN = [[0, 1], [-1, 0]]


def one(tokens: Any, values: Any, system: str = "oja-map", **options: Any) -> Any:
    step = {"alpha": "1/2"} if system.endswith("map") else {}
    return batch_of(Instance.of(system, tokens, V=values, **step, **options), 1, 1)


# --- floats ----------------------------------------------------------------------------------------------------------


def test_stability_is_read_at_rest() -> None:
    """A token off the eigenvectors moves: not stable, and of instability and spectra nothing is said."""
    moving = one([["3/5", "4/5"]], [[2, 0], [0, 1]])
    assert float(OBSERVED(Stable(ConsensusAt(V, 1)), moving)[0]) > 0.01
    assert float(OBSERVED(LyapunovStable(ConsensusAt(V, 1)), moving)[0]) > 0.01
    assert bool(OBSERVED(Unstable(ConsensusAt(V, 1)), moving).isnan()[0])
    assert bool(OBSERVED(SpectrumIs(ConsensusAt(V, 1), ((1, 1),)), moving).isnan()[0])
    resting = one([[1, 0]], [[2, 0], [0, 1]])
    assert float(OBSERVED(Stable(ConsensusAt(V, 1)), resting)[0]) < -0.1
    assert float(OBSERVED(Unstable(ConsensusAt(V, 1)), resting)[0]) > 0.1


def test_a_turning_pair_is_judged_by_its_spectrum() -> None:
    """x -> -x for a long step: a 2-cycle, whose multipliers are those of the map."""
    cycle = batch_of(Instance.of("oja-map", [[1, 0]], V=[[-2, 0], [0, "-5/4"]], alpha="1"), 1, 1)
    assert float(OBSERVED(Stable(ConsensusAt(V, 1)), cycle)[0]) < 0


def test_complex_eigenvalues_have_no_real_eigenvector() -> None:
    turning = one([[1, 0]], TURN)
    assert bool(turning.eigenvector(V, 1).isnan().all())
    straight = one([[1, 0]], [[2, 1], [0, 1]])
    assert torch.allclose(straight.eigenvector(V, 1).abs(), torch.tensor([[1.0, 0.0]]).double())


@pytest.mark.parametrize("values", [TURN, [[1, 0], [0, 1]]], ids=["complex", "tied"])
def test_a_hemisphere_needs_its_eigenvector(values: Any) -> None:
    """Without a simple real eigenvalue at the top there is no hemisphere of v_1, so no token is known to be in it."""
    assert not float(OBSERVED(InHemisphere(V), one([[1, 0]], values))[0]) < 0
    assert float(OBSERVED(InHemisphere(V), one([[1, 0]], [[2, 0], [0, 1]]))[0]) < 0


@pytest.mark.parametrize(
    "claim",
    [Equilibrium(ConsensusAt(V, 1)), Equilibrium(BipartiteAt(V, 1))],
    ids=["consensus", "split"],
)
def test_eigenvectors_rest_under_a_flow_of_any_matrix(claim: Any) -> None:
    """True also for matrices that are not symmetric; where the eigenvalue is complex nothing is claimed."""
    (result,) = refute(Conjecture("rest", "oja-flow", (), claim), seconds=30, instances=4000).results
    assert result.answer == "survived"


# --- claims that make no sense ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "claim", "says"),
    [
        ("oja-map", Converges(Zero()), "no state of oja-map is at Zero"),
        ("oja-flow", TwoCycle(ConsensusAt(V, 1)), "is a flow"),
        ("oja-map", Equilibrium(SomeEquilibrium()), "only for limits"),
        ("attention-flow", Diverges(), "do not grow"),
        ("oja-map", Decreases(token_energy), r"token-energy \(with n = 1, d = \d\) raised KeyError"),
        ("oja-map", Decreases(pair_form), r"pair-form \(with n = 1, d = \d\) raised IndexError"),
    ],
)
def test_claims_that_make_no_sense_are_told(system: str, claim: Any, says: str) -> None:
    with pytest.raises(ConjectureError, match=says) as told:
        refute(Conjecture("odd", system, (), claim), seconds=5)
    assert told.value.line > 0


HEAD = """
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Decreases
from eigentoken.theory.language.observables import Observable
"""
RAISING = {
    "observable": """
def gap(scalars, system, parameters, x, mask):
    return x[0][0] - x[2][0]  # here
guess = Conjecture("g", "oja-map", (), Decreases(Observable("gap", "g", gap)))
""",
    "predicate": """
def known(x):
    if x.n == 4:
        raise RuntimeError("four")  # here
    return True
guess = Conjecture("g", "oja-map", (), holds_if=known)
""",
}


@pytest.mark.parametrize("kind", sorted(RAISING))
@pytest.mark.parametrize("jobs", [1, 2])
def test_code_that_raises_ends_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str, jobs: int
) -> None:
    """At once or later, here or in a worker: one message with the line, exit code 2, no report."""
    file, report = tmp_path / "guess.py", tmp_path / "report.json"
    file.write_text(HEAD + RAISING[kind])
    line = next(i for i, text in enumerate(file.read_text().splitlines(), 1) if text.endswith("# here"))
    arguments = ["refute", str(file), "--seconds", "20", "--jobs", str(jobs), "-o", str(report)]
    monkeypatch.setattr(sys, "argv", ["eigentoken", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert end.value.code == 2
    assert f"guess.py:{line}: " in said.err
    assert "Traceback" not in said.err
    assert not report.exists()


# --- the second arithmetic -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "conjecture",
    [
        Conjecture("to opposite tokens", "oja-map", (), Converges(AntipodalAt())),
        pytest.param(Conjecture("to a split", "oja-map", (), Converges(BipartiteAt(V, 1))), marks=pytest.mark.slow),
        pytest.param(Conjecture("to a polygon", "attention-map", (), Converges(Polygonal())), marks=pytest.mark.slow),
        Conjecture("splits", "oja-map", (), Unstable(BipartiteAt(V, 1))),
        Conjecture("left", "oja-map", (InHemisphere(V, left=True),), ForwardInvariant(Hemisphere(V, left=True))),
    ],
    ids=lambda conjecture: conjecture.name,
)
def test_refutations_are_confirmed(conjecture: Conjecture) -> None:
    document = json.loads(json.dumps(refute(conjecture, seconds=60).as_dict()))
    assert document["results"][0]["verdict"] == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(document))


def test_a_start_at_the_place_is_not_confirmed() -> None:
    """An exact start refutes "every" only where it is not at the place."""
    data = {"kind": "limit/exact-start", "data": {}}
    pair = IndependentInstance(Instance.of("oja-map", [[1, 0], [-1, 0]], V=[[2, 0], [0, 1]], alpha="1/4"), 1, 1)
    for place in (AntipodalAt(), BipartiteAt(V, 1), Polygonal()):
        assert CLAIM_TRUTH(Converges(place), pair, data) is None
    assert CLAIM_TRUTH(Converges(ConsensusSet()), pair, data) is False
    both = IndependentInstance(Instance.of("oja-map", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]], alpha="1/4"), 1, 2)
    assert CLAIM_TRUTH(Converges(AntipodalAt()), both, data) is False
    assert CLAIM_TRUTH(Converges(Polygonal()), both, data) is False
    assert CLAIM_TRUTH(Converges(ConsensusSet()), both, data) is None
    assert CLAIM_TRUTH(AlmostEveryConverges(ConsensusSet()), both, data) is None


# --- half and half needs an even number of tokens -----------------------------------------------------------------------


def test_the_word_for_half_and_half_carries_that_n_is_even() -> None:
    assert [n for n in range(1, 7) if AntipodalAt().has_states(n)] == [2, 4, 6]
    assert r"(n \text{ even})" in str(LATEX(AntipodalAt("w")))
    for name in ("PM-L1", "PM-L6"):
        assert any(r"n \text{ even}" in str(LATEX(claim)) for claim in statement(name).claims)


@pytest.mark.parametrize("claim", [Unstable(AntipodalAt()), Equilibrium(AntipodalAt())])
def test_half_and_half_of_odd_numbers_is_refused(claim: Any) -> None:
    with pytest.raises(ValueError, match="AntipodalAt has no states for such n"):
        refute(Conjecture("odd", "oja-map", [Symmetric(V)], [claim], n=[3, 5], d=[2]), seconds=5)


def test_three_and_one_is_not_half_and_half() -> None:
    """Neither in floats nor exactly, though every token is on the line; nor is any state of an odd number of tokens."""
    w, opposite = [[1, 0]], [[-1, 0]]
    states = {"half": w * 2 + opposite * 2, "three": w * 3 + opposite, "odd": w * 2 + opposite}
    found = {}
    for name, tokens in states.items():
        made = one(tokens, [[2, 0], [0, 1]])
        found[name] = float(distance(AntipodalAt(), made, made.tokens))
        exact = Instance.of("oja-map", tokens, V=[[2, 0], [0, 1]], alpha="1/4")
        assert at_place(AntipodalAt(), Case(exact)) is (name == "half")
    assert found == {"half": 0.0, "three": 2.0, "odd": math.inf}


@pytest.mark.parametrize("n", [3, 4])
def test_no_state_is_placed_half_and_half_of_an_odd_number(n: int) -> None:
    batch = one([[1, 0]] * n, [[2, 0], [0, 1]])
    placed = place_state(AntipodalAt(), batch, torch.Generator().manual_seed(1))
    assert bool(torch.isfinite(placed.tokens).all()) is (n % 2 == 0)
