"""Limits in sets: at most so many clusters, or a region by inequalities; certified twice, and wrong data is refused."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.contraction_regions import region_in_a_frame, state_at_rest
from eigentoken.numerics.readings.exact_places import at_place
from eigentoken.numerics.readings.region_places import region_avoids
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.condition_truths import EXACT_NUMBER
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.place_truths import NOT_AT
from eigentoken.numerics.recheck.refutations.regions import far
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language import terms
from eigentoken.theory.language.claims import AlmostEveryConverges, Converges
from eigentoken.theory.language.observables_of_spread import mean_square, smallest_entry
from eigentoken.theory.language.places import AtMostClusters
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.regions import Acute, Cap, Orthant, Where

load()
EYE = [[1, 0], [0, 1]]
#: A triangle attracts, as a family of rotated states.
NEARLY = Instance.of(
    "attention-flow", [[1, 0], ["-451/901", "780/901"], ["-451/901", "-780/901"]], V=EYE, M=[[-2, 0], [0, -2]]
)
RESTING = state_at_rest(NEARLY, [[1.0, 0.0], [-0.5, 0.8660254], [-0.5, -0.8660254]])
assert RESTING is not None
TRIANGLE = Instance.of("attention-flow", [[str(a) for a in x] for x in RESTING], V=EYE, M=[[-2, 0], [0, -2]])
PAIR = Instance.of("oja-flow", [[1, 0], [-1, 0]], V=EYE)


def both(claim: Any, instance: Instance) -> tuple[str, bool | None]:
    verdict = CERTIFIED(claim, Case(instance))
    own = verdict.certificate
    data = {} if own is None else {"kind": own.kind, "data": dict(own.data)}
    return str(verdict.answer), CLAIM_TRUTH(claim, IndependentInstance(instance, 1, 0), data)


def test_the_limit_of_a_triangle() -> None:
    """The region around it is away from a set for certain, or it is not: the same in both arithmetics."""
    region = region_in_a_frame(Case(TRIANGLE))
    assert region is not None
    look, data = IndependentInstance(TRIANGLE, 1, 0), region.as_data()
    asked = {
        AtMostClusters(2): True,
        AtMostClusters(3): False,
        Acute(): True,
        Acute(-1): False,
        Where(mean_square): False,
        Cap((-1, 0), 0): False,  # a rotated state may be in it
    }
    for place, away in asked.items():
        assert region_avoids(place, Case(TRIANGLE), region) is away
        assert far(look, place, data, framed=True) is away
    assert both(AlmostEveryConverges(AtMostClusters(2)), TRIANGLE) == ("fails", False)


def test_a_state_at_rest_outside() -> None:
    assert both(Converges(AtMostClusters(1)), PAIR) == ("fails", False)
    assert both(Converges(Where(smallest_entry)), PAIR) == ("fails", False)
    edge = Instance.of("oja-flow", [[1, 0], [1, 0]], V=EYE)  # on the boundary: it tends to the open orthant
    assert not NOT_AT(Orthant(strict=True), IndependentInstance(edge, 1, 0))
    assert at_place(Orthant(strict=True).closed(), Case(edge))


def test_clusters_are_counted() -> None:
    states = {1: [[1, 0]] * 3, 2: [[1, 0], [-1, 0], [1, 0]], 3: [[1, 0], [-1, 0], ["3/5", "4/5"]]}
    for count, tokens in states.items():
        case = Case(Instance.of("oja-flow", tokens, V=EYE))
        assert [at_place(AtMostClusters(k), case) for k in (1, 2, 3)] == [k >= count for k in (1, 2, 3)]
    with pytest.raises(TypeError, match="integer from 1"):
        AtMostClusters(0)


def test_numbers_of_complex_eigenvalues() -> None:
    V = terms.matrix("V")
    look = IndependentInstance(Instance.of("oja-flow", [[1, 0, 0]], V=[[0, -2, 0], [2, 0, 0], [0, 0, -1]]), 1, 0)
    asked = {
        terms.EigenvalueRealPart(V, 1): 0,
        terms.EigenvalueRealPart(V, 3): -1,
        terms.EigenvalueModulus(V, 1): 2,
        terms.RightCount(V): 0,
        terms.SpectralRadiusOff(V): None,  # the first eigenvalue is not ahead
    }
    for number, value in asked.items():
        found = EXACT_NUMBER(number, look, None)
        assert found is None if value is None else sp.simplify(found - value) == 0
