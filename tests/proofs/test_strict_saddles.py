"""Textbook theorems about strict saddles: second variations against finite differences, means, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.abella.gradient import ROW, field
from eigentoken.proofs.abella.saddles import POTENTIAL, variation
from eigentoken.proofs.steps.strict_saddles import CIRCLE, MEAN_OF_FORM, SADDLES, mean_of_form, second_variation
from eigentoken.theory.calculus import Index, Letter, dot, exponential, one, vector
from eigentoken.theory.kernel.books import textbook
from eigentoken.theory.kernel.logic import assume
from eigentoken.theory.kernel.propositions import ForAlmostEvery
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.systems.catalogue import system

P = matrix("P")
V, FORM, I = VectorLetter("v"), (Letter("P"),), Index("token", "i")
FLOW = system("ellipsoid-flow")


def form(left: str, right: str, *at: Index) -> Any:
    return dot(vector(left), vector(right, *at), FORM)


def test_the_second_variation_of_a_form_is_that_of_the_curve_on_the_ellipsoid() -> None:
    """``V = sum_i (u^T P x_i)``: along the curve its second derivative is ``-sum_i (w_i^T P w_i)(u^T P x_i)``."""
    found = second_variation(form("u", "x", I).summed(I), P)
    way = vector("w", I)
    assert Tensor(found) == Tensor((dot(way, way, FORM) * form("u", "x", I) * -1).summed(I))
    square = form("u", "x", I) * form("u", "x", I)
    bent = form("u", "w", I) * form("u", "w", I) * 2 - dot(way, way, FORM) * square * 2
    assert Tensor(second_variation(square.summed(I), P)) == Tensor(bent.summed(I))


def test_the_mean_over_an_orthonormal_basis_contracts_pairs() -> None:
    first, second = form("v", "a"), form("v", "b")
    assert Tensor(mean_of_form(first * second, P, V)) == Tensor(
        form("a", "b") / sp.Symbol("d", integer=True, positive=True)
    )
    assert Tensor(mean_of_form(form("v", "v"), P, V)) == Tensor(one())
    assert Tensor(mean_of_form(first * first * form("a", "b"), P, V)) == Tensor(
        form("a", "a") * form("a", "b") / sp.Symbol("d", integer=True, positive=True)
    )


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a linear quantity": (lambda: mean_of_form(form("v", "a"), P, V), "quadratic"),
    "a constant": (lambda: mean_of_form(form("a", "a"), P, V), "quadratic"),
    "a quantity of fourth order": (lambda: mean_of_form(form("v", "v") * form("v", "v"), P, V), "quadratic"),
    "another metric": (lambda: mean_of_form(dot(vector("v"), vector("v"), (Letter("M"),)), P, V), "forms with P"),
    "no metric": (lambda: mean_of_form(dot(vector("v"), vector("v")), P, V), "forms with P"),
    "a quotient": (lambda: mean_of_form(form("v", "v") ** -1, P, V), "forms with P"),
    "an exponential": (lambda: mean_of_form(exponential(form("v", "v")), P, V), "forms with P"),
    "a basis vector that stands in the form": (
        lambda: MEAN_OF_FORM.of(q=form("v", "e") * form("v", "e"), A=P, v=V),
        "binds e",
    ),
    "a metric that is not known to be definite": (
        lambda: textbook(MEAN_OF_FORM, (), None, q=form("v", "v"), A=P, v=V),
        "needs",
    ),
    "a plane that may have another dimension": (lambda: without(CIRCLE, 2, A=P), "needs"),
    "a metric of the circle that is not symmetric": (lambda: without(CIRCLE, 0, A=P), "needs"),
    "tokens off the circle": (lambda: without(CIRCLE, 3, A=P), "needs"),
    "a map": (lambda: saddles(about=system("oja-map")), "is about a flow"),
    "saddles that are not known": (lambda: saddles(drop=-1), "needs"),
    "a potential that is not analytic": (lambda: saddles(V=form("u", "u") ** -1), "analytic"),
}


def without(theorem: Any, number: int, **objects: Any) -> Proved:
    needed, _ = theorem.of(**objects)
    given = [assume(each, FLOW) for place, each in enumerate(needed) if place != number % len(needed)]
    return textbook(theorem, tuple(given), FLOW, **objects)


def saddles(about: Any = FLOW, drop: int | None = None, **other: Any) -> Proved:
    objects = {"V": POTENTIAL, "weight": ROW, "f": field(), "A": P, **other}
    needed, _ = SADDLES.of(**objects)
    given = [assume(each, about) for place, each in enumerate(needed) if drop is None or place != drop % len(needed)]
    return textbook(SADDLES, tuple(given), about, **objects)


@pytest.mark.parametrize("name", WRONG)
def test_other_uses_are_refused(name: str) -> None:
    use, reason = WRONG[name]
    with pytest.raises(Refused, match=reason):
        use()


def test_the_conclusion_is_about_almost_every_start() -> None:
    _, conclusion = SADDLES.of(V=POTENTIAL, weight=ROW, f=field(), A=P)
    assert isinstance(conclusion, ForAlmostEvery)


@pytest.mark.parametrize(("c", "d"), [(sp.Rational(1, 3), 3), (sp.Rational(-1, 2), 4), (sp.Integer(-1), 2)])
def test_the_averaged_pair_is_that_of_exact_instances(c: sp.Rational, d: int) -> None:
    """Two unit vectors with product c: the mean of the form of one pair over the axes is ``2 (1 - c)(1 - (1 + c + c^2)/d)``."""
    first = [sp.Integer(1)] + [sp.Integer(0)] * (d - 1)
    second = [c, sp.sqrt(1 - c**2)] + [sp.Integer(0)] * (d - 2)
    total = sp.Integer(0)
    for a, b in zip(first, second, strict=True):
        total += (a + b) ** 2 * (1 - c) ** 2 + 2 - 2 * a**2 - 2 * b**2 + 2 * a * b * c - c * (2 - a**2 - b**2)
    assert sp.simplify(total / d - 2 * (1 - c) * (1 - (1 + c + c**2) / d)) == 0
    assert variation("v").terms
