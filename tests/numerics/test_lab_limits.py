"""Starts on arcs, captured trajectories, rotary flows, clusters and ellipsoids: certified twice, and wrong data is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
import torch

from eigentoken.numerics.instances.exact import draft
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.instances.states import place_state
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.bracketed_starts import Arc, ends_differ, holds_on_arc
from eigentoken.numerics.readings.starts_in_a_basin import SHARP, Capture, capture, enclosed_ends, is_caught
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH
from eigentoken.numerics.recheck.refutations.flows import Series, arc_is_opposed, interval_flow
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance, InstanceError, read_instance
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges, Diverges, ForwardInvariant, SpectrumIs
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    InHemisphere,
    IsIdentity,
    NoneOpposite,
    NotAllEqual,
    NotAllZero,
    Relation,
    Symmetric,
)
from eigentoken.theory.language.places import Clustering, ConsensusAt, ConsensusSet, Hemisphere
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, ell, matrix, n
from eigentoken.theory.systems.catalogue import system

load()
U, V, B, R = (matrix(name) for name in "UVBR")
EYE, ZERO = [[1, 0], [0, 1]], [[0, 0], [0, 0]]
THREE = Instance.of("causal-flow", [[1, 0], [0, 1], ["-4/5", "-3/5"]], U=EYE, P=ZERO)
DOMAIN = Conjecture(
    "AB-T5.1 domain",
    "causal-flow",
    [IsIdentity(U), BoundedInTime("P"), NoneOpposite(), Relation(d >= 2)],
    [Converges(ConsensusSet())],
)
TURNING = Instance.of("causal-flow", [["15/17", "8/17"], ["12/13", "-5/13"]], U=[[-4, 0], [0, -6]], P=ZERO)


def growing(instance: Instance) -> Instance:
    """The same tokens with U = diag(2, 1)."""
    return read_instance({**instance.as_dict(), "U": [[2, 0], [0, 1]]})


def test_the_printed_domain_of_causal_consensus_is_refuted() -> None:
    """Blind: the counterexample is a start on an arc that avoids the antipode, confirmed by the second integration."""
    document = json.loads(json.dumps(refute(DOMAIN, seconds=120, seed=2).as_dict()))
    (result,) = document["results"]
    assert (result["verdict"], result["found_by"]) == ("refuted", "arcs")
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
    found = result["counterexample"]
    claim = next(each for each in found["certificates"] if each["data"].get("kind") == "limit/bracketed-start")
    claim["data"]["data"]["m"] = 100000  # a tiny arc: its ends agree
    assert not all(verdict.is_holds for _, verdict in recheck_report(document))


def test_arcs_are_decided_by_both_integrations() -> None:
    wide, narrow, short = Arc(5, Fraction(5), 20), Arc(1000, Fraction(5), 20), Arc(5, Fraction(1, 10), 4)
    for arc, differ in ((wide, True), (narrow, False), (short, False)):
        assert ends_differ(THREE, arc) is differ
        assert arc_is_opposed(THREE, arc.m, str(arc.time), arc.steps) is differ
    other = growing(THREE)
    assert not arc_is_opposed(other, 5, "5", 20)  # the theorem about half circles is for U = I


def test_conditions_must_hold_on_the_whole_arc() -> None:
    near = Case(Instance.of("causal-flow", [[1, 0], [0, 1], ["-399/401", "-40/401"]], U=EYE, P=ZERO))
    assert holds_on_arc(NoneOpposite(), near, 2) is False
    assert holds_on_arc(NoneOpposite(), near, 1000) is True
    assert holds_on_arc(NotAllEqual(), near, 2) is True
    assert holds_on_arc(InHemisphere(), near, 1000) is None
    assert holds_on_arc(Symmetric(U), near, 2) is True


def test_the_second_integration_encloses_a_known_solution() -> None:
    """``x' = -x`` and ``x' = x^2``: 1/e and 1/(1 - t), inside and tight."""
    from mpmath import iv

    (decayed,) = interval_flow(lambda _, x: [-x[0]], [iv.mpf(1)], Fraction(1), 8)
    exact = iv.exp(iv.mpf(-1))
    assert decayed.a <= exact.a and exact.b <= decayed.b
    assert float(decayed.delta) < 1e-9
    (grown,) = interval_flow(lambda _, x: [x[0] * x[0]], [iv.mpf(1)], Fraction(1, 2), 16)
    assert 2 in grown
    square = Series(lambda k, _: iv.mpf(k + 1)).sqrt()
    assert all(0 in sum((square[j] * square[k - j] for j in range(k + 1)), iv.mpf(0)) - (k + 1) for k in range(5))


def test_a_start_is_followed_into_a_region_elsewhere() -> None:
    """A negative top eigenvalue: the second token turns to -v although both start in the hemisphere of v."""
    case = Case(TURNING)
    verdict = CERTIFIED(Converges(ConsensusAt(U, 1)), case)
    assert verdict.is_fails
    assert verdict.certificate.kind == "limit/captured-start"
    caught = capture(case)
    assert caught is not None
    assert is_caught(TURNING, caught)
    assert not is_caught(TURNING, Capture(caught.region, Fraction(1, 10), 4))
    fine = Case(growing(TURNING))
    assert CERTIFIED(Converges(ConsensusAt(U, 1)), fine).is_undecided  # a limit is never certified from one start


def test_few_steps_enclose_the_same_state_and_are_taken_where_they_are_sharp() -> None:
    ends = dict(enclosed_ends(TURNING, Fraction(1, 2), 60))
    assert len(ends) > 1 and max(ends) == 60
    few, many = ends[min(ends)], ends[60]
    assert all(a.overlaps(b) and float(a.rad()) < SHARP for a, b in zip(few, many, strict=True))
    assert [number for number, _ in enclosed_ends(TURNING, Fraction(8), 10)] in ([], [10])  # too long for few steps


@pytest.mark.slow
def test_a_captured_start_is_confirmed_by_the_second_integration() -> None:
    claim = Converges(ConsensusAt(U, 1))
    verdict = CERTIFIED(claim, Case(TURNING))
    data = {"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)}
    assert CLAIM_TRUTH(claim, IndependentInstance(TURNING, 1, 0), data) is False
    data["data"]["time"] = "1/10"
    assert CLAIM_TRUTH(claim, IndependentInstance(TURNING, 1, 0), data) is None


def test_a_map_is_followed_into_a_region_elsewhere() -> None:
    instance = Instance.of(
        "attention-map", [["3/5", "4/5"], ["-12/13", "5/13"]], V=[[1, 0], [0, "1/2"]], M=[[2, 0], [0, 2]], alpha="1/2"
    )
    claim = AlmostEveryConverges(ConsensusAt(V, 1))
    verdict = CERTIFIED(claim, Case(instance))
    assert verdict.is_fails
    data = {"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)}
    assert CLAIM_TRUTH(claim, IndependentInstance(instance, 1, 0), data) is False


def test_a_flow_that_leaves_a_hemisphere() -> None:
    claim = ForwardInvariant(Hemisphere(U))
    verdict = CERTIFIED(claim, Case(TURNING))
    assert verdict.is_fails
    data = {"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)}
    assert CLAIM_TRUTH(claim, IndependentInstance(TURNING, 1, 0), data) is False
    data["data"]["time"], data["data"]["steps"] = "1/100", 1
    assert CLAIM_TRUTH(claim, IndependentInstance(TURNING, 1, 0), data) is None
    stays = Case(growing(TURNING))
    assert CERTIFIED(claim, stays).is_undecided


def rotary(**changed: Any) -> Instance:
    given = {"B": [[-1, 0], [0, -1]], "Q": EYE, "K": EYE, "R": [[0, -1], [1, 0]], **changed}
    tokens = given.pop("tokens", [[1, 0], [0, 1], [-1, 0], [0, -1]])
    return Instance.of("rotary-flow", tokens, **given)


def test_rotary_rings_rest_and_consensus_decays() -> None:
    """PH-T7 (b) and (d), exactly."""
    assert classify(rotary()).equilibrium.is_holds
    assert IndependentInstance(rotary(), 1, 0).at_rest() is True
    still = rotary(R=EYE)
    assert classify(still).equilibrium.is_fails
    equal = rotary(tokens=[[1, 2], [1, 2]])
    assert CERTIFIED(Diverges(), Case(equal)).is_fails
    assert CLAIM_TRUTH(Diverges(), IndependentInstance(equal, 1, 0), {}) is False
    grows = rotary(tokens=[[1, 2], [1, 2]], B=EYE)
    assert CERTIFIED(Diverges(), Case(grows)).is_undecided
    assert CLAIM_TRUTH(Diverges(), IndependentInstance(grows, 1, 0), {}) is None
    with pytest.raises(InstanceError, match="orthogonal"):
        rotary(R=[[1, 1], [0, 1]])


def test_rotary_batches_agree_with_the_exact_system() -> None:
    from eigentoken.numerics.readings.batched_jacobians import jacobian_rows
    from eigentoken.numerics.readings.trajectories import problem_of
    from eigentoken.theory.systems.algebra import LoopAlgebra

    plan = plan_for("rotary-flow", [NotAllZero()]).sized((3,), (2, 3))
    for batch in sample(plan, 8, 1, cells_at_most=4).batches:
        turn = batch.parameters["R"]
        assert torch.allclose(turn @ turn.mT, torch.eye(batch.d).double().expand_as(turn), atol=1e-12)
        moved = problem_of(batch).advance(batch.tokens, 0.0)[0]
        import math

        given = {name: value[0].tolist() for name, value in batch.parameters.items()}
        loops = system("rotary-flow").advance(LoopAlgebra(math.exp, math.sqrt, 1.0), given, batch.tokens[0].tolist())
        assert torch.allclose(
            moved, torch.tensor(loops, dtype=torch.float64), atol=1e-8 * (1 + float(moved.abs().max()))
        )
        assert jacobian_rows(batch, range(3)).shape == (batch.count, 3, 3, batch.d, batch.d)


@pytest.mark.parametrize("seed", range(3))
def test_exact_points_of_ellipsoids_that_are_no_spheres(seed: int) -> None:
    plan = plan_for("ellipsoid-flow").sized((2, 3), (2, 3))
    seen = 0
    for batch in sample(plan, 6, seed, cells_at_most=6).batches:
        for denominator in (3, 8, 100):
            made = draft(plan, batch.take([0]), denominator)
            instance = None if made is None else made.instance()  # reading it checks that the tokens are on it exactly
            assert instance is not None
            assert all(entry.is_Rational for token in instance.tokens for entry in token)
            seen += sp.Matrix(instance.metric) != sp.eye(instance.d)
    assert seen > 3


def test_clusters_rest_and_their_rank_is_exact() -> None:
    """PM-L9: half of the clusters that are drawn have a singular attention matrix."""
    plan = plan_for("attention-map", [Symmetric(V)]).sized((3,), (2,)).at(Clustering())
    ranks = set()
    for batch in sample(plan, 24, 1, cells_at_most=6).batches[:6]:
        made = draft(plan, batch.take([0]), 8)
        instance = None if made is None else made.instance()
        if instance is not None:
            found = classify(instance)
            assert (found.kind, found.equilibrium.is_holds) == ("clustering", True)
            ranks.add(found.attention_rank[0])
    assert ranks == {2, 3}
    wrong = place_state(
        Clustering(), sample(plan_for("attention-map").sized((4,), (2,)), 2, 1).batches[0], torch.Generator()
    )
    assert bool(wrong.tokens.isnan().all())


def test_spectra_have_a_second_arithmetic() -> None:
    for name, extra in (("oja-flow", {}), ("oja-map", {"alpha": "1/4"})):
        instance = Instance.of(name, [[1, 0], [1, 0]], V=[[2, 0], [0, -1]], **extra)
        flow = name == "oja-flow"
        size = 1 if flow else 1 + alpha * Eigenvalue(V, 1)
        other = Eigenvalue(V, ell) - Eigenvalue(V, 1) if flow else (1 + alpha * Eigenvalue(V, ell)) / size
        inner = -Eigenvalue(V, 1) if flow else 1 / size
        right = SpectrumIs(ConsensusAt(V, 1), ((other, 1), (inner, (n - 1) * (d - 1))))
        wrong = SpectrumIs(ConsensusAt(V, 1), ((other, 1), (2 * inner, (n - 1) * (d - 1))))
        look = IndependentInstance(instance, 1, 2)
        assert CLAIM_TRUTH(right, look, {}) is True
        assert CLAIM_TRUTH(wrong, look, {}) is False
        assert CERTIFIED(right, Case(instance, 1, 2)).is_holds
        assert CERTIFIED(wrong, Case(instance, 1, 2)).is_fails


def test_complex_spectra_have_a_second_arithmetic() -> None:
    """One real eigenvalue ahead of a complex pair, and one behind it."""
    from eigentoken.theory.language.conditions import SimpleTop

    F = matrix("F")

    def look(top: str) -> IndependentInstance:
        heads = [{"F": [[top, 0, 0], [0, "9/10", -3], [0, 3, "9/10"]], "M": [[0] * 3] * 3}]
        return IndependentInstance(Instance.of("multihead-map", [[1, 0, 0]], heads=heads, alpha=1), 1, 1)

    assert CONDITION_TRUTH(SimpleTop(F), look("1"), {}) is True
    assert CONDITION_TRUTH(Relation(Eigenvalue(F, 1) > 0), look("1"), {}) is True
    assert CONDITION_TRUTH(Relation(Eigenvalue(F, 1) < 2), look("1"), {}) is True
    assert CONDITION_TRUTH(SimpleTop(F), look("1/2"), {}) is None
