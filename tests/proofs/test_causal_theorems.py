"""Textbook theorems for tokens that follow earlier ones: what they ask for, and what they refuse to be applied to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.abella.causal_almost_every import moves
from eigentoken.proofs.abella.equations import causal_weight
from eigentoken.proofs.steps.causal_theorems import LATE, RAYLEIGH_GAP, TIME, TRAPPED
from eigentoken.proofs.steps.fibre_theorems import PUSHED_APART, own_slope
from eigentoken.theory.calculus import Index, Letter, MaskEntry, dot, exponential, factor, one, row_sum, vector
from eigentoken.theory.kernel.books import textbook
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.logic import assume
from eigentoken.theory.kernel.propositions import ForAlmostEvery, Negation, proposition
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.conditions import IsIdentity, Symmetric
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.systems.catalogue import system

FLOW = system("causal-flow")
I = Index("token", "i")
HEIGHT = dot(vector("v"), vector("x", I))
LEVELS = {"f": HEIGHT, "low": sp.Integer(0), "high": sp.Rational(1, 2), "m": sp.Integer(1), "s": sp.Integer(0)}


def trapped(about: Any = FLOW, without: int | None = None, **other: Any) -> Proved:
    """The theorem with its hypotheses assumed, or all but one."""
    objects = {**LEVELS, **other}
    needed, _ = TRAPPED.of(**objects)
    given = [assume(each, about) for number, each in enumerate(needed) if number != without]
    return textbook(TRAPPED, tuple(given), about, **objects)


def test_a_quantity_that_rises_between_two_levels_stays_below_or_arrives() -> None:
    below, above = trapped().proposition.parts
    assert (below.letter, above.letter) == (TIME, LATE)
    assert below.body.word.relation == sp.Le(Tensor(HEIGHT, TIME), 0, evaluate=False)
    assert above.body.body.word.relation == sp.Ge(Tensor(HEIGHT, TIME), sp.Rational(1, 2), evaluate=False)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a quantity that is no polynomial": (lambda: trapped(f=exponential(HEIGHT)), "no polynomial"),
    "a quotient": (lambda: trapped(f=one() / HEIGHT), "no polynomial"),
    "a matrix, which may depend on time": (
        lambda: trapped(f=dot(vector("v"), vector("x", I), (Letter("P"),))),
        "no poly",
    ),
    "a vector": (lambda: trapped(f=vector("x", I)), "no polynomial"),
    "a level that moves": (lambda: trapped(high=Tensor(HEIGHT)), "numbers"),
    "a slope that moves": (lambda: trapped(m=Tensor(HEIGHT)), "numbers"),
    "a level that depends on time": (lambda: trapped(low=TIME), "binds t"),
    "a start that is the end": (lambda: trapped(s=LATE), "binds T"),
    "a map": (lambda: trapped(system("oja-map")), "is about a flow"),
    "a start before zero that is not ruled out": (lambda: trapped(without=0), "needs"),
    "levels in the wrong order": (lambda: trapped(without=1), "needs"),
    "a slope that may be zero": (lambda: trapped(without=2), "needs"),
    "a quantity that need not rise": (lambda: trapped(without=3), "needs"),
    "a gap of a vector that is no eigenvector": (
        lambda: textbook(RAYLEIGH_GAP, (), None, A=matrix("U"), v=VectorLetter("v")),
        "needs",
    ),
    "a gap for the vector that is bound": (
        lambda: textbook(RAYLEIGH_GAP, (), None, A=matrix("U"), v=VectorLetter("z")),
        "binds z",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_theorems_do_not_say_is_refused(name: str) -> None:
    use, reason = WRONG[name]
    with pytest.raises(Refused, match=reason):
        use()


def test_what_is_known_of_one_state_is_not_known_of_a_trajectory() -> None:
    """A hypothesis about the trajectory at a time is one about the trajectory; one about a state x is not."""
    needed, _ = TRAPPED.of(**LEVELS)
    for time, good in ((None, False), (sp.Integer(0), True)):
        extra = assume(sp.Gt(Tensor(HEIGHT, time), 0, evaluate=False), FLOW)
        given = (*(assume(each, FLOW) for each in needed), extra)
        if good:
            assert extra.proposition in textbook(TRAPPED, given, FLOW, **LEVELS).hypotheses
        else:
            with pytest.raises(Refused, match="at every state"):
                textbook(TRAPPED, given, FLOW, **LEVELS)


J, K = Index("token", "j"), Index("token", "k")


def x(at: Index) -> Any:
    return vector("x", at)


VELOCITY = (causal_weight(I, J) * (x(J) - dot(x(I), x(J)) * x(I))).summed(J)
FAR = proposition(sp.Le(Tensor(dot(x(K), x(I))), sp.Rational(-1, 2), evaluate=False))
FIBRE = {"f": VELOCITY, "i": I, "R": FAR, "m": sp.Integer(1)}


def pushed(about: Any = FLOW, without: int | None = None, **other: Any) -> Proved:
    objects = {**FIBRE, **other}
    needed, _ = PUSHED_APART.of(**objects)
    given = [assume(each, about) for each in needed]
    if about == FLOW:  # what holds at every state
        given[2:4] = moves(Kernel(FLOW, (proposition(IsIdentity(matrix("U"))),)))
    premises = tuple(each for number, each in enumerate(given) if number != without)
    return textbook(PUSHED_APART, premises, about, **objects)


def test_the_slope_of_a_velocity_where_one_token_moves() -> None:
    """``f_i = x_i`` has the form ``|z|^2``; of a sum over the tokens that are seen, the own one alone counts."""
    z = vector("z")
    assert Tensor(own_slope(x(I), I)) == Tensor(dot(z, z))
    half = own_slope((factor(MaskEntry("causal", I, J)) * x(J)).summed(J), I)
    assert Tensor(half) == Tensor(factor(MaskEntry("causal", I, I)) * dot(z, z))


def test_almost_no_start_stays_where_neighbours_are_pushed_apart() -> None:
    found = pushed().proposition
    assert isinstance(found, ForAlmostEvery)
    assert isinstance(found.body, Negation)


STRICT = proposition(sp.Lt(Tensor(dot(x(K), x(I))), 0, evaluate=False))
NOT_MASKED = (x(J) - dot(x(I), x(J)) * x(I)).summed(J)
FULL_ROW = exponential(dot(x(I), x(J))) * factor(row_sum(dot(x(I), x(K)), K), -1)
WRONG_FIBRES: dict[str, tuple[Callable[[], Any], str]] = {
    "a token that sees later ones": (lambda: pushed(f=NOT_MASKED), "tokens that it sees"),
    "a row over all tokens": (
        lambda: pushed(f=(factor(MaskEntry("causal", I, J)) * FULL_ROW * x(J)).summed(J)),
        "tokens that it sees",
    ),
    "a mask of another token": (
        lambda: pushed(f=(factor(MaskEntry("causal", K, J)) * x(J)).summed(J)),
        "tokens that it sees",
    ),
    "a mask that is not causal": (
        lambda: pushed(f=(factor(MaskEntry("other", I, J)) * x(J)).summed(J)),
        "tokens that it sees",
    ),
    "another token": (lambda: pushed(f=x(K)), "tokens that it sees"),
    "a quotient": (lambda: pushed(f=(one() / dot(x(I), x(I))) * x(I)), "tokens that it sees"),
    "a number": (lambda: pushed(f=dot(x(I), x(I))), "tokens that it sees"),
    "an open region": (lambda: pushed(R=STRICT), "not strict"),
    "a region with a matrix in it": (
        lambda: pushed(R=proposition(sp.Le(Tensor(dot(x(K), x(I), (Letter("P"),))), 0, evaluate=False))),
        "not strict",
    ),
    "a region at a time": (
        lambda: pushed(R=proposition(sp.Le(Tensor(dot(x(K), x(I)), 1), 0, evaluate=False))),
        "not strict",
    ),
    "a region that is a word": (lambda: pushed(R=proposition(Symmetric(matrix("P")))), "not strict"),
    "a negated region": (lambda: pushed(R=Negation(FAR)), "not strict"),
    "a rate that moves": (lambda: pushed(m=Tensor(dot(x(I), x(K)))), "a number"),
    "a region that speaks of t": (lambda: pushed(R=proposition(sp.Le(Tensor(dot(x(K), x(I))), TIME))), "binds t"),
    "a map": (lambda: pushed(system("oja-map")), "is about a flow"),
    "tokens in space": (lambda: pushed(system("token-flow")), "on the sphere"),
    "a sphere of two points": (lambda: pushed(without=0), "needs"),
    "a rate that may be zero": (lambda: pushed(without=1), "needs"),
    "another velocity": (lambda: pushed(without=2), "needs"),
    "tokens that are no unit vectors": (lambda: pushed(without=3), "needs"),
    "a push that is not known": (lambda: pushed(without=4), "needs"),
}


@pytest.mark.parametrize("name", WRONG_FIBRES)
def test_other_velocities_and_regions_are_refused(name: str) -> None:
    use, reason = WRONG_FIBRES[name]
    with pytest.raises(Refused, match=reason):
        use()
