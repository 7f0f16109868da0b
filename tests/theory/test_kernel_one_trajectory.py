"""What is said of one trajectory, or of one vector, is not said of all: falsehoods that rules once gave, and refuse."""

from __future__ import annotations

import pytest
import sympy as sp

from eigentoken.proofs.steps.saddle_theorems import STRICT_SADDLES
from eigentoken.proofs.steps.strict_saddles import MEAN_OF_FORM
from eigentoken.theory.calculus import Index, Letter, dot, vector
from eigentoken.theory.kernel.kernel import Kernel, accepted
from eigentoken.theory.kernel.logic import speaks_of_start
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Exists,
    ForAll,
    ForAlmostEvery,
    Proposition,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.kernel.tensors import STATE, AtTime, Tensor, VectorLetter
from eigentoken.theory.kernel.words import stays_near
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import BoundedInTime
from eigentoken.theory.language.places import ConsensusAt, SomeEquilibrium
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.systems.catalogue import system

I, J, Z = Index("token", "i"), Index("token", "j"), VectorLetter("z")
T, C = sp.Symbol("t", nonnegative=True), sp.Symbol("c", real=True)
FLOW = Kernel(system("causal-flow"), ())
OWN = dot(vector(Z.name), vector(STATE, I))


def _said(kind: type, left: object, right: object) -> Proposition:
    return proposition(kind(left, right, evaluate=False))


#: Token i rests: every vector has the same inner product with it at the times t and 0.
RESTING = ForAll(Z, TRUE, _said(sp.Eq, Tensor(OWN, T), Tensor(OWN, 0)))
#: For every vector there is a time from which on the product is small, another one for another vector.
SLOW = ForAll(Z, TRUE, Exists(C, TRUE, ForAll(T, _said(sp.Ge, T, C), _said(sp.Le, Tensor(OWN, T), 0))))
#: The vector stands at the time t, and at no time.
MIXED = ForAll(Z, TRUE, _said(sp.Le, Tensor(OWN, T), Tensor(dot(vector("z"), vector("z")))))
#: The same of two times, the first of them in the guard.
GUARDED = ForAll(Z, _said(sp.Eq, Tensor(OWN, 0), 1), _said(sp.Eq, Tensor(OWN, T), 1))
SAID = {"two times": RESTING, "a bound time": SLOW, "a time and none": MIXED, "a guard": GUARDED}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("value", [vector(STATE, J), vector("y", J), VectorLetter(STATE)], ids=["x", "y", "family"])
def test_a_vector_at_several_times_does_not_become_the_state(said: ForAll, value: object) -> None:
    with pytest.raises(Refused, match="one vector at several times"):
        FLOW.instantiate(FLOW.assume(said), value)
    fixed = {Z: vector("u", J)}
    guard = [] if said.guard == TRUE else [FLOW.assume(put(said.guard, fixed))]
    assert FLOW.instantiate(FLOW.assume(said), fixed[Z], *guard).proposition == put(said.body, fixed)


def test_a_vector_at_one_time_becomes_the_state_at_that_time() -> None:
    bound = FLOW.assume(ForAll(Z, TRUE, _said(sp.Le, Tensor(OWN, T), 0)))
    found = FLOW.instantiate(bound, vector(STATE, J)).proposition
    assert found == _said(sp.Le, Tensor(dot(vector(STATE, J), vector(STATE, I)), T), 0)


@pytest.mark.parametrize("some", [Exists(Z, TRUE, RESTING.body), Exists(Z, GUARDED.guard, GUARDED.body)], ids=str)
def test_a_vector_that_moves_is_no_witness_for_one_that_rests(some: Exists) -> None:
    moved = dot(vector(STATE, J), vector(STATE, I))
    known = _said(sp.Eq, Tensor(moved, T), Tensor(moved, 0)), *(_said(sp.Eq, Tensor(moved, t), 1) for t in (0, T))
    with pytest.raises(Refused, match="one vector at several times"):
        FLOW.witness(some, vector(STATE, J), *map(FLOW.assume, known))


def test_one_delta_serves_all_starts() -> None:
    """With a delta for each start, every state would be stable: the distance from it serves."""
    k = Kernel(system("oja-map"), ())
    some = stays_near("a").body
    gap = vector(STATE, J) - vector("a", J)
    distance = Tensor(dot(gap, gap), 0)
    apart = k.assume(_said(sp.Gt, distance, 0))
    with pytest.raises(Refused, match="not about the value of one trajectory"):
        k.witness(some, distance, apart)
    assert not speaks_of_start(stays_near("a"))


@pytest.mark.parametrize("value", [Tensor(dot(vector(STATE, I), vector(STATE, J)), 0), AtTime(sp.Integer(0))], ids=str)
def test_the_value_of_one_trajectory_is_not_put_under_almost_every_start(value: object) -> None:
    different = _said(sp.Ne, Tensor(dot(vector(STATE, I), vector(STATE, J))), C)
    letter = VectorLetter(STATE) if isinstance(value, AtTime) else C
    with pytest.raises(Refused, match="not about the value of one trajectory"):
        put(ForAlmostEvery(different), {letter: value})
    assert put(ForAlmostEvery(different), {C: sp.Integer(1)})


def test_that_one_trajectory_converges_says_nothing_of_almost_every_one() -> None:
    k = Kernel(system("oja-map"), ())
    rho = sp.Symbol("rho", positive=True)
    needed = STRICT_SADDLES.of(A=matrix("V"), rho=rho)[0]
    assert proposition(Converges(SomeEquilibrium())) in needed
    with pytest.raises(Refused, match="what one of them does"):
        k.textbook(STRICT_SADDLES, *map(k.assume, needed), A=matrix("V"), rho=rho)


def test_a_linearisation_is_that_of_a_system_whose_matrices_rest() -> None:
    flow = system("attention-flow")
    found = Kernel(flow, ()).stability_of_any(ConsensusAt(matrix("V"), 1))
    conditions = found.hypotheses
    assert accepted(found, conditions, (found.proposition,), flow).is_holds
    moving = accepted(found, (*conditions, proposition(BoundedInTime("V"))), (found.proposition,), flow)
    assert moving.is_fails and "depends on time" in moving.reason


def test_the_mean_of_a_form_is_that_of_one_matrix_not_of_its_heads() -> None:
    head = Index("head", "h")
    v, u = vector("v"), vector("u")
    each = dot(v, u, (Letter("V", False, (head,)),)) * dot(v, u, (Letter("V"),))
    with pytest.raises(Refused, match="in forms with V alone"):
        MEAN_OF_FORM.of(q=each.summed(head), A=matrix("V"), v=VectorLetter("v"))
    assert MEAN_OF_FORM.of(q=dot(v, u, (Letter("V"),)) ** 2, A=matrix("V"), v=VectorLetter("v"))
