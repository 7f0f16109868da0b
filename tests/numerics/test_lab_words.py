"""What a conjecture may say, told at its line; fixed values that are constructed; and what was not tested is not survival."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch
from typer.testing import CliRunner

from eigentoken.cli import app
from eigentoken.numerics.instances.exact import _rational_rotation
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.lab import Conjecture, ConjectureError, load, refute
from eigentoken.numerics.lab.predicates import predicate_violation
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.schemas import schema
from eigentoken.theory.language.claims import (
    Converges,
    Equilibrium,
    ForwardInvariant,
    Iff,
    LyapunovStable,
    Stable,
    Unstable,
    When,
)
from eigentoken.theory.language.conditions import (
    AllOf,
    InHemisphere,
    IsIdentity,
    Not,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.places import (
    AntipodalAt,
    BipartiteAt,
    Clustering,
    ConsensusAt,
    ConsensusSet,
    Hemisphere,
    Polygonal,
    Zero,
)
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, d, k, matrix, n

from ..commands import pytest_here

V, B, F, W = (matrix(name) for name in "VBFW")
HEAD = """
import sympy as sp
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import *
from eigentoken.theory.language.conditions import *
from eigentoken.theory.language.places import *
from eigentoken.theory.language.terms import *
from eigentoken.theory.language.conditions import IsIdentity
V, B = matrix("V"), matrix("B")
"""


def written(tmp_path: Path, line: str) -> Path:
    file = tmp_path / "guess.py"
    file.write_text(HEAD + line + "\n")
    return file


# --- told at the line ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "[Symmetric(V)], [Iff(Stable(ConsensusAt(V, 1)), Unstable(ConsensusAt(V, 1)))]",
            "condition must be a condition",
        ),
        ("[Symmetric(V)], [Iff(Symmetric(V), Symmetric(V))]", "claim must be a claim"),
        (
            "[Symmetric(V)], [When(Stable(ConsensusAt(V, 1)), Stable(ConsensusAt(V, 1)))]",
            "condition must be a condition",
        ),
        ("[Stable(ConsensusAt(V, 1))], [Stable(ConsensusAt(V, 1))]", "is not a condition"),
        ("[Not(Stable(ConsensusAt(V, 1)))], [Stable(ConsensusAt(V, 1))]", "part must be a condition"),
        ("[AllOf((alpha > 1,))], [Stable(ConsensusAt(V, 1))]", "part must be a condition"),
        ("[Symmetric(V)], [Symmetric(V)]", "is not a claim"),
        ("[Symmetric(V)], [ForwardInvariant('orthant')]", "region must be a place"),
        ("[Symmetric(V)], [Stable(V)]", "place must be a place"),
        ("[Symmetric(V)], [Decreases(lambda x: x)]", "observable must be an Observable"),
        ("[Relation(Eigenvalue(V, 1))], [Stable(ConsensusAt(V, 1))]", "relation must be a comparison"),
        ("[Relation(sp.Trace(V) > 0)], [Stable(ConsensusAt(V, 1))]", "Trace\\(V\\) has no value"),
        ("[Relation(sp.Determinant(V) > 0)], [Stable(ConsensusAt(V, 1))]", "Determinant\\(V\\) has no value"),
        ("[Relation(sp.Eq(V[0, 0], 1))], [Stable(ConsensusAt(V, 1))]", "V\\[0, 0\\] has no value"),
        ("[Symmetric(V)], [When(Relation(sp.Trace(V) > 0), Stable(ConsensusAt(V, 1)))]", "has no value"),
        ("[Relation(sp.Symbol('beta') > 0)], [Stable(ConsensusAt(V, 1))]", "beta has no value"),
        ("[Symmetric(V)], [Stable(ConsensusSet())]", "speaks of a set"),
        ("[Symmetric(V)], [Iff(Stable(ConsensusSet()), Relation(alpha < 1))]", "speaks of a set"),
    ],
)
def test_a_misplaced_word_is_told_with_file_and_line(tmp_path: Path, body: str, says: str) -> None:
    file = written(tmp_path, f"guess = Conjecture('g', 'oja-map', {body})")
    with pytest.raises(ConjectureError, match=rf"guess.py:{len(HEAD.splitlines()) + 1}: .*{says}"):
        load(file)


@pytest.mark.parametrize("place", [ConsensusSet(), Hemisphere(V), AntipodalAt(), Polygonal(), Clustering()])
def test_asymptotic_stability_is_that_of_a_point(place: Any) -> None:
    with pytest.raises(ConjectureError, match="speaks of a set"):
        Conjecture("g", "oja-map", [Symmetric(V)], [Stable(place)])


@pytest.mark.parametrize("word", [Unstable, LyapunovStable])
def test_instability_may_be_asked_of_each_member_of_a_family(word: Any) -> None:
    for place in (AntipodalAt(), Polygonal()):
        assert Conjecture("g", "oja-map", [Symmetric(V)], [word(place)]).claims
    for place in (ConsensusSet(), Hemisphere(V)):
        with pytest.raises(ConjectureError, match="speaks of a set"):
            Conjecture("g", "oja-map", [Symmetric(V)], [word(place)])


def test_points_and_pointwise_claims_stay() -> None:
    listed = (Stable(ConsensusAt(V, 1)), Stable(BipartiteAt(V, k)), Equilibrium(ConsensusSet()))
    assert all(Conjecture("g", "oja-map", [Symmetric(V)], [each]).claims == (each,) for each in listed)
    assert Conjecture("g", "token-flow", (), [Stable(Zero())]).claims
    assert Iff(Stable(ConsensusAt(V, 1)), Relation(alpha < 1)).condition
    assert When(AllOf((Symmetric(V), Not(SimpleTop(V)))), Stable(ConsensusAt(V, 1))).claim


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("None", "None (is a return missing?)"),
        ("x.tokens > 2", "an array of shape"),
        ("x.alpha + 1j", "a complex"),
        ("'yes'", "a str"),
        ("1", "a int"),
    ],
)
def test_a_predicate_that_answers_no_question_is_told(tmp_path: Path, body: str, says: str) -> None:
    file = written(tmp_path, f"def check(x):\n    return {body}\nguess = Conjecture('g', 'oja-map', holds_if=check)")
    with pytest.raises(ConjectureError) as told:
        refute(file, seconds=5, instances=10)
    assert says in str(told.value)
    assert f"guess.py:{len(HEAD.splitlines()) + 1}:" in str(told.value)


def test_a_state_without_an_image_is_not_judged() -> None:
    """V = diag(-1/2, -2), alpha = 2, x = e1: y = 0.  Whatever the predicate makes of the error, nothing is judged."""

    def kept(x: Any) -> bool:
        return bool(abs((x.advance() ** 2).sum() - x.n) < 1e-6)

    def swallowed(x: Any) -> bool:
        try:
            return kept(x)
        except Exception:
            return False

    for predicate in (kept, swallowed, lambda x: not x.is_equilibrium()):
        guess = Conjecture("kept", "oja-map", [Symmetric(V)], holds_if=predicate, n=[1], d=[2])
        batch = sample(targets(guess)[0].plan, 1, 0).batches[0].take([0])
        value = torch.tensor([[[-0.5, 0.0], [0.0, -2.0]]], dtype=torch.float64)
        state = torch.tensor([[[1.0, 0.0]]], dtype=torch.float64)
        lost = batch.with_parameters({"V": value, "alpha": torch.tensor([2.0], dtype=torch.float64)}, state)
        assert predicate_violation(guess, lost).isnan().all()
        there = batch.with_parameters({"V": value, "alpha": torch.tensor([1.0], dtype=torch.float64)}, state)
        assert not predicate_violation(guess, there).isnan().any()


# --- fixed values are constructed --------------------------------------------------------------------------------------------

FIXED: list[tuple[str, str, tuple[Any, ...]]] = [
    ("a step", "oja-map", (Symmetric(V), Relation(sp.Eq(alpha, 1)))),
    ("a step, turned round", "oja-map", (Relation(sp.Eq(sp.Rational(1, 3), alpha)),)),
    ("a step by an eigenvalue", "oja-map", (Symmetric(V), SimpleTop(V), Relation(sp.Eq(alpha * Eigenvalue(V, 1), 1)))),
    ("a step by a norm", "oja-map", (Relation(sp.Eq(2 * alpha * SpectralNorm(V), 1)),)),
    ("an eigenvalue", "oja-map", (Symmetric(V), Relation(sp.Eq(Eigenvalue(V, 1), 1)))),
    ("the last eigenvalue", "oja-map", (Symmetric(V), Relation(sp.Eq(Eigenvalue(V, d), 0)))),
    (
        "two eigenvalues",
        "oja-map",
        (Symmetric(V), Relation(sp.Eq(Eigenvalue(V, 1), 2)), Relation(sp.Eq(Eigenvalue(V, 2), -1))),
    ),
    ("a norm", "oja-map", (Relation(sp.Eq(SpectralNorm(V), 2)),)),
    ("sizes", "oja-map", (Relation(sp.Eq(n, 3)), Relation(sp.Eq(d, 2)))),
    ("-B = I", "token-flow", (IsIdentity(-B),)),
    ("2 B^T = I", "token-flow", (IsIdentity(2 * B.T),)),
    ("orthogonal", "oja-map", (IsIdentity(V * V.T),)),
    ("orthogonal, turned round", "oja-map", (IsIdentity(V.T * V),)),
    ("orthogonal and symmetric", "oja-map", (IsIdentity(V * V.T), Symmetric(V))),
    ("involution", "oja-map", (IsIdentity(V * V),)),
    ("inverse of each other", "token-flow", (IsIdentity(W * B),)),
]


@pytest.mark.parametrize(("system", "conditions"), [each[1:] for each in FIXED], ids=[each[0] for each in FIXED])
def test_fixed_values_have_instances_and_exact_ones(system: str, conditions: tuple[Any, ...]) -> None:
    """They are tried, and a predicate that is false falls by an exact instance that satisfies them."""
    guess = Conjecture("g", system, conditions, holds_if=lambda x: x.n < 0)
    (result,) = refute(guess, seconds=30, instances=500, seed=0).results
    assert result.answer == "refuted", result.meaning
    assert result.tried > 0
    document = json.loads(json.dumps({"results": [result.as_dict()]}))
    assert all(not verdict.is_fails for _, verdict in recheck_report(document))


def test_a_rounded_rotation_is_orthogonal() -> None:
    generator = torch.Generator().manual_seed(0)
    for size in (1, 2, 3):
        for sign in (1.0, -1.0):
            frame = torch.linalg.qr(torch.randn(size, size, generator=generator, dtype=torch.float64)).Q
            rows = sp.Matrix(_rational_rotation(sign * frame, 50))
            assert rows * rows.T == sp.eye(size)
            assert all(
                abs(float(rows[i, j]) - sign * float(frame[i, j])) < 0.1 for i in range(size) for j in range(size)
            )


# --- not tested ------------------------------------------------------------------------------------------------------------


def test_without_an_instance_it_is_not_tested() -> None:
    """The generator has no construction for V^3 + V = I: that is said, and it is no survival."""
    guess = Conjecture("g", "oja-map", [IsIdentity(V**3 + V)], holds_if=lambda x: True)
    (result,) = refute(guess, seconds=5, seed=0).results
    assert (result.answer, result.status, result.tried) == ("not tested", "not tested", 0)
    assert "no instance of oja-map was found" in result.meaning
    assert result.as_dict()["verdict"] == "not tested"


def test_without_time_it_is_not_tested() -> None:
    guess = Conjecture("g", "oja-map", [Symmetric(V)], holds_if=lambda x: True)
    (result,) = refute(guess, seconds=1e-9, seed=0).results
    assert result.answer == "not tested"
    assert "the time was over" in result.meaning


def test_each_claim_must_be_tested() -> None:
    """One claim survives, the other has no instance: the conjecture is not tested."""
    hopeless = When(IsIdentity(V**3 + V), Equilibrium(ConsensusSet()))
    guess = Conjecture("g", "oja-map", [Symmetric(V)], [hopeless], holds_if=lambda x: x.alpha > 0)
    (result,) = refute(guess, seconds=20, instances=200, seed=0).results
    assert result.answer == "not tested"
    assert result.tried > 0


def test_states_that_are_all_left_open_are_no_test() -> None:
    """Every state has no image: V = -I, alpha = 1."""
    conditions = [IsIdentity(-V), Relation(sp.Eq(alpha, 1))]
    guess = Conjecture("g", "oja-map", conditions, holds_if=lambda x: (x.advance() == 7).all(), n=[1])
    (result,) = refute(guess, seconds=10, instances=200, seed=0).results
    assert result.answer == "not tested"
    assert "left open" in result.meaning


def test_the_command_and_the_plugin_do_not_pass_it(tmp_path: Path) -> None:
    file = tmp_path / "conjecture_g.py"
    file.write_text(
        HEAD + "g = Conjecture('g', 'oja-map', [IsIdentity(V**3 + V)], holds_if=lambda x: True, expect='survives')\n"
    )
    done = CliRunner().invoke(
        app, ["refute", str(file), "--seconds", "2", "--jobs", "1", "-o", str(tmp_path / "r.json")]
    )
    assert done.exit_code == 1
    assert "g: not tested" in done.stdout
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["schema"] == schema("refutation")["$id"] == "eigentoken/refutation/3"
    assert document["results"][0]["verdict"] == "not tested"
    assert recheck_report(document) == []
    line = file.read_text().removeprefix(HEAD)
    expected = ("survives", "open", "refuted")
    file.write_text(
        HEAD
        + "".join(
            line.replace("survives", each).replace("g = Conjecture('g'", f"{each} = Conjecture('{each}'")
            for each in expected
        )
    )
    code, printed = pytest_here(tmp_path, "--conjecture-seconds", 1, file)
    assert code == 1
    assert "3 failed" in printed
    assert printed.count("not tested") >= 3


# --- heads -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["multihead-map", pytest.param("multihead-flow", marks=pytest.mark.slow)])
def test_heads_whose_sum_is_symmetric_up_to_rounding(system: str) -> None:
    """ "PD heads keep the top hemisphere": the basis of a counterexample is that of the symmetric sum (it was complex)."""
    conditions = [Symmetric(F), PositiveDefinite(F), InHemisphere(F)]
    guess = Conjecture("heads", system, conditions, [ForwardInvariant(Hemisphere(F))])
    (result,) = refute(guess, seconds=30, instances=1500, seed=0).results
    assert result.answer in {"refuted", "candidate"}
    limits = Conjecture("limits", system, [Symmetric(F), PositiveDefinite(F)], [Converges(ConsensusSet())])
    (result,) = refute(limits, seconds=30, instances=1500, seed=0).results
    assert result.answer in {"refuted", "candidate"}


def test_a_relation_is_a_condition_as_it_stands() -> None:
    bare = [Symmetric(V), Eigenvalue(V, 1) > 0]
    told = Conjecture("bare", "oja-map", bare, Stable(ConsensusAt(V, 1)))
    assert told.conditions == (Symmetric(V), Relation(Eigenvalue(V, 1) > 0))
    assert Conjecture("one", "oja-map", Eigenvalue(V, 1) > 0, told.claims).conditions == told.conditions[1:]
    with pytest.raises(ConjectureError, match="True is not a condition: give a word"):
        Conjecture("nothing", "oja-map", [sp.true], told.claims)
