"""Textbook theorems about flows: what they refuse to be applied to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp
from sympy.core.symbol import Str

from eigentoken.proofs.steps.flow_theorems import COMPARISON, LARGEST, LASALLE, MONOTONE, RADIUS, RAY, TIME
from eigentoken.theory.calculus import SLOT, Index, dot, exponential, one, vector
from eigentoken.theory.kernel.books import textbook
from eigentoken.theory.kernel.instances import UnboundedFrom, VelocityIs, rows
from eigentoken.theory.kernel.logic import assume
from eigentoken.theory.kernel.propositions import same
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.systems.catalogue import system

I = Index("token", "i")
SIZE = dot(vector("x", I), vector("x", I))
HEIGHT = dot(vector("w"), vector("x", SLOT))
FLOW = system("token-flow")
WEIGHTS = tuple((Str(name), rows(((1,),))) for name in ("B", "W"))
RAY_OF = {"weights": WEIGHTS, "v": ((1,), (1,)), "g": sp.Lambda(RADIUS, 2 * RADIUS), "grows": True}


def ray(about: Any = FLOW, **other: Any) -> Proved:
    """The theorem of a ray with its hypotheses assumed."""
    objects = {**RAY_OF, **other}
    needed, _ = RAY.of(**objects)
    return textbook(RAY, tuple(assume(each, about) for each in needed), about, **objects)


def test_a_ray_on_which_everything_moves_outward_is_unbounded() -> None:
    found = ray().proposition
    assert isinstance(found.body.word, UnboundedFrom)
    needed, _ = RAY.of(**RAY_OF)
    assert isinstance(needed[0].body.word, VelocityIs)
    assert same(needed[0].body, needed[0].body)
    falling, _ = RAY.of(**{**RAY_OF, "grows": False})
    assert not same(needed[1], falling[1])


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a ray without a direction": (lambda: ray(v=((0,), (0,))), "not zero"),
    "a direction with letters": (lambda: ray(v=((TIME,), (1,))), "rational"),
    "a speed of any number": (lambda: ray(g=sp.Lambda(TIME, TIME)), "positive number"),
    "a ray of a map": (lambda: ray(system("oja-map")), "is about a flow"),
    "a ray whose speed is not known": (lambda: textbook(RAY, (), FLOW, **RAY_OF), "needs"),
    "a quantity that is no polynomial": (lambda: MONOTONE.of(v=exponential(SIZE)), "no polynomial"),
    "a quotient": (lambda: LASALLE.of(v=(one() / SIZE), w=SIZE), "no polynomial"),
    "a vector": (lambda: MONOTONE.of(v=vector("x", I)), "no polynomial"),
    "one quantity for all tokens": (lambda: LARGEST.of(h=SIZE.summed(I), c=sp.Integer(1)), "for each token"),
    "a rate that moves": (lambda: LARGEST.of(h=HEIGHT, c=Tensor(dot(vector("u"), vector("u")))), "a constant"),
    "a rate that depends on time": (lambda: LARGEST.of(h=HEIGHT, c=TIME), "binds t"),
    "a coefficient that moves": (lambda: COMPARISON.of(v=SIZE, a=Tensor(SIZE), b=sp.Integer(0)), "constants"),
    "a monotone quantity of a map": (
        lambda: textbook(MONOTONE, tuple(map(assume, MONOTONE.of(v=SIZE)[0])), system("oja-map"), v=SIZE),
        "is about a flow",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_theorem_is_not_applied_to(what: str) -> None:
    use, words = WRONG[what]
    with pytest.raises(Refused, match=words):
        use()


def test_theorems_about_flows_ask_for_matrices_that_do_not_move() -> None:
    assert all(each.autonomous for each in (LARGEST, LASALLE, MONOTONE, COMPARISON, RAY))
