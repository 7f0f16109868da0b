"""The theorems about maps ask for all that they need."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sympy as sp

from eigentoken.proofs.power_method.pm_r03_oja_convergence import PM_R3
from eigentoken.proofs.steps.map_theorems import DESCENT, LIMIT_AT_REST, SPEED, STABLE_MINIMA
from eigentoken.proofs.steps.perturbation_theorems import INVARIANT_LINE
from eigentoken.proofs.steps.saddle_theorems import (
    FAMILY,
    RAYLEIGH_SECOND,
    SELF_ADJOINT,
    STRICT_SADDLES,
    TWO_EIGENVECTORS,
)
from eigentoken.theory.calculus import Expression, Index, dot, exponential, one, vector
from eigentoken.theory.kernel.books import Textbook, textbook
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import proposition
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import statements
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
    "a limit of what the map defines": (
        lambda: LIMIT_AT_REST.of(q=dot(vector("y", I), vector("y", I)).summed(I), a=VectorLetter("a"), bound=C),
        "no polynomial",
    ),
    "a limit for each token": (
        lambda: LIMIT_AT_REST.of(q=dot(vector("x", I), vector("x", I)), a=VectorLetter("a"), bound=C),
        "one number",
    ),
    "a ball around the state itself": (
        lambda: LIMIT_AT_REST.of(q=dot(vector("x", I), vector("x", I)).summed(I), a=VectorLetter("x"), bound=C),
        "does not move",
    ),
    "a ball that depends on the time": (
        lambda: LIMIT_AT_REST.of(
            q=dot(vector("x", I), vector("x", I)).summed(I), a=VectorLetter("a"), bound=sp.Symbol("t", integer=True)
        ),
        "on the time",
    ),
    "a ball that depends on the state": (
        lambda: LIMIT_AT_REST.of(
            q=dot(vector("x", I), vector("x", I)).summed(I), a=VectorLetter("a"), bound=C * Tensor(SPEED)
        ),
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


# -- stability of minima, strict saddles, self-adjoint maps -----------------------------------------------------------------


def _uses(name: str, theorem: Textbook) -> Proved:
    """The step of a proof that applies the theorem."""
    (whole,) = statements().get(name).proofs.values()
    return next(each for each in whole.rests_on("textbook") if each.detail[0] is theorem)


@pytest.mark.parametrize(
    ("name", "theorem"),
    [
        ("PM-CX1", STABLE_MINIMA),
        ("PM-CX1", LIMIT_AT_REST),
        ("PM-T2", STRICT_SADDLES),
        ("PM-L6", SELF_ADJOINT),
        ("PM-L6", TWO_EIGENVECTORS),
        ("PM-CX1", RAYLEIGH_SECOND),
        ("PM-S1", INVARIANT_LINE),
    ],
    ids=lambda each: getattr(each, "key", each),
)
def test_each_hypothesis_is_needed(name: str, theorem: Textbook) -> None:
    step = _uses(name, theorem)
    _, objects = step.detail
    assert len(step.premises) == len(theorem.of(**objects)[0])
    for place in range(len(step.premises)):
        kept = (*step.premises[:place], *step.premises[place + 1 :])
        with pytest.raises(Refused, match="which no premise proves"):
            textbook(theorem, kept, step.system, **objects)


@pytest.mark.parametrize(
    "theorem",
    [("PM-CX1", STABLE_MINIMA), ("PM-CX1", LIMIT_AT_REST), ("PM-T2", STRICT_SADDLES)],
    ids=lambda each: each[1].key,
)
def test_they_are_about_maps_on_the_sphere(theorem: tuple[str, Textbook]) -> None:
    name, schema = theorem
    step = _uses(name, schema)
    _, objects = step.detail
    for about, told in (("oja-flow", "about a map"), ("ellipsoid-map", "on the sphere")):
        k = Kernel(system(about), ())
        with pytest.raises(Refused, match=told):
            k.textbook(schema, *(k.assume(each) for each in schema.of(**objects)[0]), **objects)


A, ONE = Index("token", "a"), one()
FAMILY_A = vector(FAMILY.name, A)
NOT_LINEAR: dict[str, tuple[Expression, Expression]] = {
    "a constant": (vector("x", A), ONE),
    "a square": (dot(FAMILY_A, FAMILY_A) * FAMILY_A, ONE),
    "a quotient": (dot(FAMILY_A, vector("x", A)) ** -1 * vector("x", A), ONE),
    "an exponential": (exponential(dot(FAMILY_A, vector("x", A))) * vector("x", A), ONE),
    "a number": (dot(FAMILY_A, vector("x", A)), ONE),
    "one vector for all": (vector(FAMILY.name, A).summed(A), ONE),
    "a weight that depends on the family": (FAMILY_A, dot(FAMILY_A, vector("x", A))),
    "a vector for a weight": (FAMILY_A, vector("x", A)),
    "a weight of another token": (FAMILY_A, dot(vector("x", I), vector("v"))),
}


@pytest.mark.parametrize("what", NOT_LINEAR)
def test_a_self_adjoint_map_is_linear(what: str) -> None:
    image, weight = NOT_LINEAR[what]
    with pytest.raises(Refused, match=r"linear in the family|number for each token"):
        SELF_ADJOINT.of(image=image, weight=weight)
    assert SELF_ADJOINT.of(image=FAMILY_A, weight=ONE)


@pytest.mark.parametrize("letter", ["x", "w", "z", "y"])
def test_the_fixed_point_has_a_letter_of_its_own(letter: str) -> None:
    v = dot(vector("x", I), vector("x", I)).summed(I)
    with pytest.raises(Refused, match=r"taken|defined"):
        STABLE_MINIMA.of(v=v, c=C, C=C, rho=C, a=VectorLetter(letter))


@pytest.mark.parametrize("letter", ["a", "f"])
def test_the_direction_of_an_invariant_line_is_no_letter_of_the_theorem(letter: str) -> None:
    with pytest.raises(Refused, match="no letter of the theorem"):
        INVARIANT_LINE.of(A=matrix("G"), w=VectorLetter(letter), below=C, beside=C, gap=C)
    with pytest.raises(Refused, match="the bounds are numbers"):
        INVARIANT_LINE.of(A=matrix("G"), w=VectorLetter("w"), below=Tensor(SPEED), beside=C, gap=C)
