"""The theorem on descent sequences asks for all that it needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from eigentoken.proofs.power_method.pm_r03_oja_convergence import PM_R3
from eigentoken.proofs.steps.map_theorems import DESCENT, SPEED
from eigentoken.theory.calculus import Index, dot, vector
from eigentoken.theory.kernel.books import textbook
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import proposition
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.systems.catalogue import system

I = Index("token", "i")
C = sp.Symbol("c", positive=True)


@pytest.fixture(scope="module")
def applied() -> Proved:
    (whole,) = PM_R3.proofs.values()
    assert whole.rule == "textbook" and whole.detail[0] is DESCENT
    return whole


@pytest.mark.parametrize("left_out", range(5))
def test_no_hypothesis_can_be_left_out(applied: Proved, left_out: int) -> None:
    _, objects = applied.detail
    kept = [each for place, each in enumerate(applied.premises) if place != left_out]
    with pytest.raises(Refused, match="which no premise proves"):
        textbook(DESCENT, tuple(kept), applied.system, **objects)
    assert textbook(DESCENT, applied.premises, applied.system, **objects).proposition == applied.proposition


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a function that is no polynomial": (
        lambda: DESCENT.of(v=dot(vector("y", I), vector("y", I)).summed(I), c=C, C=C, rho=C),
        "no polynomial",
    ),
    "a vector": (lambda: DESCENT.of(v=vector("x", I), c=C, C=C, rho=C), "no polynomial"),
    "a bound that moves": (
        lambda: DESCENT.of(v=dot(vector("x", I), vector("x", I)).summed(I), c=C * Tensor(SPEED), C=C, rho=C),
        "do not depend on the state",
    ),
    "a flow": (lambda: _about("oja-flow"), "about a map"),
    "an ellipsoid": (lambda: _about("ellipsoid-map"), "on the sphere"),
}


def _about(name: str) -> Proved:
    k = Kernel(system(name), ())
    v = dot(vector("x", I), vector("x", I)).summed(I)
    needed, _ = DESCENT.of(v=v, c=C, C=C, rho=C)
    return k.textbook(DESCENT, *(k.assume(each) for each in map(proposition, needed)), v=v, c=C, C=C, rho=C)


@pytest.mark.parametrize("what", WRONG)
def test_it_refuses_what_it_is_not_about(what: str) -> None:
    make, told = WRONG[what]
    with pytest.raises(Refused, match=told):
        make()
