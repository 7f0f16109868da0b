"""Hemispheres that are left or kept, ties, and what the second arithmetic says of stability, ranks and manifolds."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.gathering import Unit, on_the_edge
from eigentoken.numerics.lab.refutation import _Tally
from eigentoken.numerics.lab.search import run_unit
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.invariance import left_normal
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    AttentionRank,
    Converges,
    Decreases,
    ForwardInvariant,
    LyapunovStable,
    Stable,
    Unstable,
)
from eigentoken.theory.language.conditions import (
    InHemisphere,
    IsIdentity,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt, ConsensusSet, Hemisphere
from eigentoken.theory.language.readings import CERTIFIED, OBSERVED
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, SpectralNorm, alpha, matrix, n, p, q

load()
U, V, M = (matrix(name) for name in "UVM")
ZERO = [[0, 0], [0, 0]]
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
#: Its right top eigenvector is (1, 0), its left one (1, 5).
TURNED = [[2, 5], [0, 1]]
#: On one side of (1, 5), on two sides of (1, 0).
LEFT_SIDE = [["1", "0"], ["-3/5", "4/5"]]


def document_of(conjecture: Conjecture, **options: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(refute(conjecture, **{"seconds": 60, **options}).as_dict()))
    return made


def confirmed(conjecture: Conjecture, **options: Any) -> dict[str, Any]:
    """The counterexample of a refuted conjecture, each certificate of which the second arithmetic confirms."""
    document = document_of(conjecture, **options)
    (result,) = document["results"]
    assert result["verdict"] == "refuted"
    listed = recheck_report(document)
    assert len(listed) == len(conjecture.conditions) + 1
    assert [str(verdict.answer) for _, verdict in listed] == ["holds"] * len(listed)
    found: dict[str, Any] = result["counterexample"]
    return found


# --- hemispheres -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "name", "extra"), [("causal-flow", "U", {"P": ZERO}), ("oja-map", "V", {"alpha": "1/10"})]
)
def test_the_left_hemisphere_is_judged_by_the_left_eigenvector(system: str, name: str, extra: Any) -> None:
    """The hemisphere of a left eigenvector is kept; by the right eigenvector this state would be outside already."""
    case = Case(Instance.of(system, LEFT_SIDE, **{name: TURNED}, **extra))
    said = CERTIFIED(ForwardInvariant(Hemisphere(matrix(name), left=True)), case)
    assert not said.is_fails
    assert CERTIFIED(ForwardInvariant(Hemisphere(matrix(name))), case).is_undecided  # not in that region


def test_the_right_hemisphere_of_a_turned_matrix_is_left() -> None:
    claim = ForwardInvariant(Hemisphere(V))
    pushed_in = Case(Instance.of("oja-map", [["12/13", "-5/13"], ["4/5", "-3/5"]], V=[[2, -9], [0, 1]], alpha="1"))
    staying = Case(Instance.of("oja-map", [["12/13", "5/13"], ["4/5", "3/5"]], V=[[2, 9], [0, 1]], alpha="1"))
    assert CERTIFIED(claim, staying).is_holds
    assert CERTIFIED(claim, pushed_in).is_holds
    outward = Case(Instance.of("oja-map", [["5/13", "12/13"], ["3/5", "4/5"]], V=[[2, -9], [0, 1]], alpha="1"))
    assert CERTIFIED(claim, outward).is_fails


def test_stiff_flows_are_followed_with_small_steps() -> None:
    """|B| = 90: a step of 0.05 would throw the tokens to the other side, and to infinity; the hemisphere is kept."""
    B = matrix("B")
    instance = Instance.of("token-flow", [[1, 0], ["1/2", "1/5"]], B=[[40, 60], [0, -90]], W=[[1, 0], [0, 1]])
    seen = OBSERVED(ForwardInvariant(Hemisphere(B, left=True)), batch_of(instance, 1, 1))
    assert float(seen[0]) < 0


@pytest.mark.parametrize("system", ["oja-map", "attention-flow"])
def test_a_hemisphere_without_a_name_is_left(system: str) -> None:
    conjecture = Conjecture("every hemisphere stays", system, (*TOP, InHemisphere()), ForwardInvariant(Hemisphere()))
    document = document_of(conjecture)
    found = document["results"][0]["counterexample"]
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
    normal = found["certificates"][-1]["data"]["data"]["normal"]
    tokens = found["instance"]["tokens"]
    assert all(sum(sp.Rational(a) * sp.sympify(b) for a, b in zip(normal, token, strict=True)) > 0 for token in tokens)
    for changed in ([f"-{each}" for each in normal], ["0"] * len(normal), [*normal, "1"]):
        tampered = copy.deepcopy(document)
        tampered["results"][0]["counterexample"]["certificates"][-1]["data"]["data"]["normal"] = changed
        assert not all(verdict.is_holds for _, verdict in recheck_report(tampered))


def test_a_kept_hemisphere_has_no_leaving_normal() -> None:
    """V = I: the cone of the tokens is kept, so no hemisphere that holds them is left."""
    case = Case(Instance.of("attention-flow", [[1, 0], ["3/5", "4/5"]], V=[[1, 0], [0, 1]], M=ZERO))
    assert left_normal(case) is None
    assert CERTIFIED(ForwardInvariant(Hemisphere()), case).is_undecided


def test_a_condition_with_a_certificate_of_its_own_is_re_checked() -> None:
    """Some hemisphere holds the tokens: the vector is part of the certificate, and another one is refused."""
    conjecture = Conjecture("W decreases in a hemisphere", "oja-map", (InHemisphere(),), Decreases(oja_potential))
    document = document_of(conjecture)
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
    found = document["results"][0]["counterexample"]
    assert found["certificates"][0]["data"]["kind"]
    found["certificates"][0]["data"]["data"]["vector"] = ["1", "1"]
    assert any(verdict.is_fails for _, verdict in recheck_report(document))


# --- ties ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("instances", [1500, pytest.param(6000, marks=pytest.mark.slow)])
def test_a_tie_is_no_candidate(instances: int) -> None:
    """True: with a negative score at v_1 an even split is unstable; near a tie of eigenvalues floats see a multiplier of 1."""
    conjecture = Conjecture(
        "a negative score leaves no stable even split",
        "attention-map",
        (*TOP, Relation(alpha * SpectralNorm(V) < 1), Relation(sp.Eq(p, q)), Relation(ScoreAtEigenvector(M, V, 1) < 0)),
        Unstable(BipartiteAt(V, 1)),
    )
    (result,) = refute(conjecture, seconds=60, instances=instances).results
    assert result.answer == "survived"
    assert result.best <= 0


def test_ties_are_still_sent_to_the_exact_check() -> None:
    """Opposite tokens of the Oja flow with V = 0 rest on the boundary of stability: floats see nothing, exactness does."""
    conjecture = Conjecture("opposite tokens are unstable", "oja-flow", (), Unstable(AntipodalAt()), n=[2], d=[2])
    (aim,) = targets(conjecture)
    result = run_unit(aim, Unit("enumeration", 0, 600))
    ties = tuple(each for each in result.findings if each.hint)
    assert ties
    tally = _Tally(float("inf"))
    tally.note(replace(result, findings=ties), aim)
    assert tally.candidate is None
    confirmed(conjecture)


@pytest.mark.parametrize(("smallest", "edge"), [("-1/1000000000000000", True), ("-1/10", False)])
def test_an_eigenvalue_of_nearly_zero_is_on_the_edge(smallest: str, edge: bool) -> None:
    """lambda_1(B) < 0 within rounding: the token decays, and seems to rest for ever; that is no candidate."""
    B = matrix("B")
    plan = plan_for("token-flow", [Relation(Eigenvalue(B, 1) < 0)])
    instance = Instance.of("token-flow", [[0, 1]], B=[[-1, 0], [0, smallest]], W=ZERO)
    assert on_the_edge(plan, batch_of(instance, 1, 1)) is edge
    weak = plan_for("token-flow", [Relation(Eigenvalue(B, 1) <= 0)])  # equality is meant: nothing is on an edge
    assert on_the_edge(weak, batch_of(instance, 1, 1)) is False


# --- the second arithmetic -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "conjecture",
    [
        Conjecture("every step", "oja-map", (*TOP, Relation(n >= 2)), LyapunovStable(ConsensusAt(V, 1))),
        Conjecture("pairs", "oja-flow", (Symmetric(V), PositiveDefinite(V)), LyapunovStable(AntipodalAt())),
        Conjecture("almost every start", "oja-flow", TOP, AlmostEveryConverges(ConsensusAt(V, 1))),
        Conjecture("masked rank", "attention-map", TOP, AttentionRank(ConsensusAt(V, 1), 1), mask="causal"),
        Conjecture("rest", "attention-flow", (IsIdentity(V),), Converges(ConsensusSet()), n=[2]),
    ],
    ids=lambda conjecture: conjecture.name,
)
def test_refutations_are_confirmed(conjecture: Conjecture) -> None:
    confirmed(conjecture)


def test_the_second_arithmetic_denies_what_is_not_so() -> None:
    """Stable consensus is Lyapunov stable; the rank of a causal mask at consensus is n; a saddle manifold does not attract."""
    stable = IndependentInstance(Instance.of("oja-map", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]], alpha="1/4"), 1, 2)
    assert CLAIM_TRUTH(LyapunovStable(ConsensusAt(V, 1)), stable, {}) is True
    assert CLAIM_TRUTH(Stable(ConsensusAt(V, 1)), stable, {}) is True
    masked = Instance.of("attention-map", [[1, 0], [1, 0]], V=[[2, 0], [0, 1]], M=ZERO, alpha="1/4", mask="causal")
    assert CLAIM_TRUTH(AttentionRank(ConsensusAt(V, 1), 2), IndependentInstance(masked, 1, 2), {}) is True
    assert CLAIM_TRUTH(AttentionRank(ConsensusAt(V, 1), 1), IndependentInstance(masked, 1, 2), {}) is False
    for values, attracts in (([[1, 0], [0, 1]], False), ([[1, 0], [0, -1]], True)):
        pair = IndependentInstance(Instance.of("oja-flow", [[1, 0], [-1, 0]], V=values), 1, 1)
        said = CLAIM_TRUTH(
            AlmostEveryConverges(ConsensusAt(V, 1)), pair, {"kind": "limit/attracting-manifold", "data": {}}
        )
        assert said is (False if attracts else None)
