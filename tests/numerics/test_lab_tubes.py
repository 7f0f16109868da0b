"""Periodic orbits that no symmetry makes: tubes that trajectories do not leave, certified twice, and wrong data is refused."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.periodic_tubes import holds_state, is_tube
from eigentoken.numerics.readings.tube_proposals import _rate, _shapes, closed_orbit, periodic_tube
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import Commute, Not
from eigentoken.theory.language.places import ConsensusSet, SomeEquilibrium
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import matrix, sym

load()
REST, AGREE = AlmostEveryConverges(SomeEquilibrium()), AlmostEveryConverges(ConsensusSet())
#: Complex eigenvalues, not normal: no rotation commutes with it.
TURNING = [[1, -2], [1, 0]]
#: Nearly equal tokens (of equal ones more is known: test_lab_turning).
NEAR = [[1, 0], ["999999/1000001", "2000/1000001"]]


@cache
def turning() -> tuple[Instance, Any]:
    instance = Instance.of("oja-flow", NEAR, V=TURNING)
    tube = periodic_tube(Case(instance))
    assert tube is not None
    return instance, tube


@cache
def certificate() -> dict[str, Any]:
    verdict = CERTIFIED(REST, Case(turning()[0]))
    assert verdict.is_fails and verdict.certificate is not None
    found: dict[str, Any] = json.loads(
        json.dumps({"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)})
    )
    return found


def rechecked(data: dict[str, Any], instance: Instance | None = None, claim: Any = REST) -> bool | None:
    return CLAIM_TRUTH(claim, IndependentInstance(instance or turning()[0], 1, 0), data)


def test_two_tokens_turn_together_for_ever() -> None:
    """Both arithmetics confirm it; that tokens agree is not refuted, since on the orbit they do."""
    data = certificate()
    assert data["kind"] == "limit/periodic-tube"
    assert rechecked(data) is False
    assert rechecked(data, claim=AGREE) is None
    assert CERTIFIED(AGREE, Case(turning()[0])).is_undecided


def test_the_period_is_that_of_the_angle() -> None:
    """Equal tokens turn like ``e^{tV} x``, whose direction has the period ``2 pi / (2 Im)``: times two for the whole circle."""
    instance, tube = turning()
    orbit = closed_orbit(instance, 0.0)
    assert orbit is not None
    assert orbit.period == pytest.approx(2 * 3.14159265358979 / (7**0.5 / 2), rel=1e-6)
    assert float(tube.period) == pytest.approx(orbit.period, rel=1e-9)
    assert set(tube.windings) in ({1}, {-1})


@pytest.mark.parametrize(
    "values",
    [
        [[3, 1], [1, 2]],  # symmetric: tokens come to rest
        [[-1, -2], [1, -1]],  # tokens at opposite places rest
    ],
)
def test_no_tube_where_tokens_rest(values: Any) -> None:
    case = Case(Instance.of("oja-flow", [["3/5", "4/5"], ["3/5", "-4/5"]], V=values))
    assert periodic_tube(case) is None


def changed(**entries: Any) -> Any:
    instance, tube = turning()
    return is_tube(instance, replace(tube, **entries))


@pytest.mark.parametrize("slopes", [np.diag([-1e4, -1.0]), np.array([[-1.0, 1e12], [0.0, -2.0]]), np.diag([1e6, -1.0])])
def test_what_floats_cannot_show_makes_no_proposal(slopes: np.ndarray) -> None:
    """A multiplier that is zero in floats, a form without a factor, a product beyond the floats: no tube, and no crash."""
    assert _shapes([slopes] * 8, 1.0) is None and _rate([slopes] * 8, 1.0) is None
    assert _shapes([np.diag([-1.0, -2.0])] * 8, 0.1) is not None


def test_the_first_arithmetic_refuses_what_is_no_tube() -> None:
    instance, tube = turning()
    assert is_tube(instance, tube)
    assert not changed(rate=4 * tube.rate)  # it does not fall so fast
    assert not changed(step=tube.step * Fraction(101, 100))  # another pace
    assert not changed(eps=tube.eps * 100)
    assert not changed(eps=tube.eps / 10**6)  # the curve is no orbit: its residual counts
    assert not changed(windings=tuple(-each for each in tube.windings))
    assert not changed(knots=tube.knots[::-1])
    flat = tuple(replace(knot, hold=Fraction(0)) for knot in tube.knots)
    assert not changed(knots=flat)  # nothing holds the neutral direction back
    slower = Instance.of("oja-flow", NEAR, V=[[1, -2], [1, "1/10"]])
    assert not is_tube(slower, tube)
    away = Instance.of("oja-flow", [[1, 0], [0, 1]], V=TURNING)
    assert not holds_state(away, tube)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate", "1/2"),
        ("rate", "-1/8"),
        ("eps", "1"),
        ("eps", "1/1000000000"),
        ("step", "1/100"),
        ("start", "1"),
        ("start", "-1"),
        ("windings", [0, 0]),
        ("windings", [1.0, 1.0]),
        ("knots", []),
    ],
)
def test_forged_data_is_refused(name: str, value: Any) -> None:
    forged = copy.deepcopy(certificate())
    assert json.dumps(forged["data"][name]) != json.dumps(value)
    forged["data"][name] = value
    assert rechecked(forged) is None


@pytest.mark.parametrize("part", ["centre", "velocity", "shape", "hold"])
def test_a_forged_knot_is_refused(part: str) -> None:
    forged = copy.deepcopy(certificate())
    knot = forged["data"]["knots"][-5]
    if part == "hold":
        knot["hold"] = "20"
    elif part == "shape":
        knot["shape"][0][0] = str(4 * Fraction(knot["shape"][0][0]))
    else:
        knot[part][0] = str(Fraction(knot[part][0]) + Fraction(1, 5))
    assert rechecked(forged) is None


def test_another_instance_is_refused() -> None:
    data = certificate()
    for values, tokens in (
        ([[1, -2], [1, "1/10"]], NEAR),
        (TURNING, [[1, 0], [-1, 0]]),
        (TURNING, [["3/5", "4/5"], ["3/5", "4/5"]]),
    ):
        assert rechecked(data, Instance.of("oja-flow", tokens, V=values)) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    [
        Instance.of("attention-flow", [[-1, 0]] * 2, V=[[3, -1], [2, 2]], M=[[-1, 1], [-2, -2]], mask=[[1, 0], [1, 1]]),
        Instance.of("oja-flow", [[1, 0, 0], [1, 0, 0]], V=[[1, -1, 0], [1, "1/2", 0], [0, 0, -1]]),
    ],
    ids=["causal pair", "sphere"],
)
def test_a_causal_pair_and_a_plane_of_the_sphere(instance: Instance) -> None:
    verdict = CERTIFIED(REST, Case(instance))
    assert verdict.is_fails and verdict.certificate is not None
    data = json.loads(json.dumps({"kind": verdict.certificate.kind, "data": dict(verdict.certificate.data)}))
    assert data["kind"] == "limit/periodic-tube"
    assert rechecked(data, instance) is False


@pytest.mark.slow
def test_the_kind_falls() -> None:
    """ "Almost every causal pair comes to rest": no rotation commutes with the values, and the attention is not full."""
    V = matrix("V")
    asked = Conjecture(
        "causal pairs rest", "attention-flow", [Not(Commute(V, sym(V)))], [REST], n=[2], d=[2], mask="causal"
    )
    document = json.loads(json.dumps(refute(asked, seconds=120).as_dict()))
    assert document["results"][0]["verdict"] == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
