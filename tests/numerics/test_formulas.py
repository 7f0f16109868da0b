"""Formulas of the kernel on random instances: true ones are not violated, wrong ones are seen to fail."""

from __future__ import annotations

import itertools
import math

import pytest
import sympy as sp
import torch
from sympy.core.symbol import Str

from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.quantities import BoundIndices, Quantities, heads_of
from eigentoken.proofs.properties.property import drawn_for
from eigentoken.theory.calculus import HEADS, TOKENS, Index, delta, dot, exponential, factor, matrix, vector
from eigentoken.theory.calculus.atoms import Norm
from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.instances import UnboundedFrom, VanishesFrom, VelocityIs, rows
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    ForAll,
    Implication,
    Negation,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.structure import increment
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.readings import GENERATED, LATEX, OBSERVED
from eigentoken.theory.language.terms import Eigenvalue, d, ell
from eigentoken.theory.language.terms import matrix as letter
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.systems.catalogue import system

I, J, K = Index("token", "i"), Index("token", "j"), Index("token", "k")
X, Y = vector("x", I), vector("x", J)
Z = vector("z")
V = letter("V")
T, WHOLE = sp.Symbol("t", real=True), sp.Symbol("m", integer=True)


def worst(said: Proposition, name: str) -> torch.Tensor:
    """The largest violation on 60 instances of a system, ``nan`` where nothing was seen."""
    load()
    claim = Formula(said)
    drawn = drawn_for(claim, GENERATED(claim, plan_for(name, (Symmetric(V),))), 60, 1)
    found = torch.cat([OBSERVED(claim, batch) for batch in drawn.batches])
    assert len(found) >= 60
    return found


def said(relation: sp.Basic, *letters: Index | VectorLetter | sp.Symbol) -> Proposition:
    inside = proposition(relation)
    for each in reversed(letters):
        inside = ForAll(each, TRUE, inside)
    return inside


UNIT = said(sp.Eq(Tensor(dot(X, X)), 1, evaluate=False), I)
CAUCHY = said(sp.Le(Tensor(dot(X, Y)), 1, evaluate=False), I, J)
TOP = said(sp.Le(Tensor(dot(X, X, matrix("V"))), Eigenvalue(V, 1), evaluate=False), I)
RAYLEIGH = said(
    sp.Le(Tensor(dot(Z, Z, matrix("V"))), Eigenvalue(V, 1) * Tensor(dot(Z, Z)), evaluate=False), VectorLetter("z")
)
SQUARE = ForAll(T, proposition(T > 1), proposition(T**2 > 1))
BELOW = ForAll(ell, proposition(sp.And(ell >= 1, ell <= d)), proposition(Eigenvalue(V, ell) <= Eigenvalue(V, 1)))
TRUE_ONES = {
    "unit tokens": UNIT,
    "Cauchy": CAUCHY,
    "top": TOP,
    "Rayleigh": RAYLEIGH,
    "square": SQUARE,
    "below": BELOW,
    "both": Conjunction((UNIT, CAUCHY)),
    "either": Disjunction((proposition(Eigenvalue(V, 1) < -100), UNIT)),
    "if": Implication(proposition(Eigenvalue(V, 1) > -1000), UNIT),
    "iff": Equivalence(proposition(Eigenvalue(V, 1) < 0), proposition(-Eigenvalue(V, 1) > 0)),
}
FALSE_ONES = {
    "half tokens": said(sp.Eq(Tensor(dot(X, X)), sp.Rational(1, 2), evaluate=False), I),
    "Cauchy with one half": said(sp.Le(Tensor(dot(X, Y)), sp.Rational(1, 2), evaluate=False), I, J),
    "bottom": said(sp.Ge(Tensor(dot(X, X, matrix("V"))), Eigenvalue(V, 1), evaluate=False), I),
    "Rayleigh turned": said(
        sp.Ge(Tensor(dot(Z, Z, matrix("V"))), Eigenvalue(V, 1) * Tensor(dot(Z, Z)), evaluate=False), VectorLetter("z")
    ),
    "square without its guard": ForAll(T, TRUE, proposition(T**2 > 1)),
    "above": ForAll(ell, proposition(sp.And(ell >= 1, ell <= d)), proposition(Eigenvalue(V, ell) > Eigenvalue(V, 1))),
    "integers have signs": ForAll(WHOLE, TRUE, proposition(WHOLE >= 0)),
    "not": Negation(TOP),
    "iff turned": Equivalence(proposition(Eigenvalue(V, 1) < 0), proposition(Eigenvalue(V, 1) > 0)),
}


@pytest.mark.parametrize("name", TRUE_ONES)
def test_what_is_true_is_not_seen_to_fail(name: str) -> None:
    found = worst(TRUE_ONES[name], "oja-map")
    assert not (found > 0).any()
    assert (found <= 0).sum() >= 50


@pytest.mark.parametrize("name", FALSE_ONES)
def test_what_is_false_is_seen_to_fail(name: str) -> None:
    assert (worst(FALSE_ONES[name], "oja-map") > 1e-6).any()


@pytest.mark.parametrize("name", ["oja-map", "oja-flow", "attention-map", "attention-flow"])
def test_rates_are_those_of_the_equation(name: str) -> None:
    """What the calculus derives of the system, against the system run in floats; and a sign turned."""
    quantity = dot(vector("x", I), vector("x", J), matrix("V")).summed(I, J)
    found = increment(quantity, system(name)).proposition
    assert (worst(found, name) <= 0).all()
    relation = found.word.relation
    turned = proposition(sp.Eq(relation.lhs, -relation.rhs, evaluate=False))
    assert (worst(turned, name) > 1e-6).any()


def test_what_is_not_looked_at_is_nan() -> None:
    later = said(sp.Eq(Tensor(dot(X, X), T), 1, evaluate=False), I)
    for each in (Exists(T, TRUE, proposition(T > 0)), ForAll(T, TRUE, later)):
        assert worst(each, "oja-map").isnan().all()


def test_where_no_guard_is_met_nothing_is_seen() -> None:
    """A false formula behind a guard that no draw meets is not called unviolated; one that some draws meet is seen to fail."""
    never = ForAll(T, proposition(sp.Eq(T, 7)), proposition(T > 8))
    tangent = proposition(sp.Eq(Tensor(dot(X, vector("z"))), 0, evaluate=False))
    orthogonal = ForAll(VectorLetter("z"), ForAll(I, TRUE, tangent), Negation(UNIT))
    unmet = Implication(proposition(Eigenvalue(V, 1) < -100), Negation(UNIT))
    for each in (never, orthogonal, unmet):
        assert worst(each, "oja-map").isnan().all()
    rarely = ForAll(T, proposition(T > 3), proposition(T < 2))
    found = worst(rarely, "oja-map")
    assert (found > 0.5).sum() >= 30 and not (found <= 0).any()


def test_a_hypothesis_for_all_vectors_is_not_met_by_draws() -> None:
    """``z^T V z <= c |z|^2`` for the vectors drawn does not bound the norm: nothing is seen, in the place of a violation."""
    bound = sp.Symbol("c", nonnegative=True)
    small = sp.Le(Tensor(dot(Z, Z, matrix("V"))), bound * Tensor(dot(Z, Z)), evaluate=False)
    guard = said(small, VectorLetter("z"))
    top = sp.Le(Eigenvalue(V, 1), bound, evaluate=False)
    assert bool(worst(ForAll(bound, guard, proposition(top)), "oja-map").isnan().all())
    equal = said(sp.Eq(Tensor(dot(Z, X)), Tensor(dot(Z, Y)), evaluate=False), VectorLetter("z"))
    alike = sp.Eq(Tensor(dot(X, X)), Tensor(dot(Y, Y)), evaluate=False)
    seen = worst(said(Implication(equal, proposition(alike)), I, J), "oja-map")
    assert bool((seen[~seen.isnan()] <= 0).all())
    assert not bool(seen.isnan().all())


def test_formulas_are_printed_with_their_binders() -> None:
    assert LATEX(Formula(CAUCHY)) == r"\text{for all } \text{tokens } i, j\text{: } x_{i}^{\top} x_{j} \leq 1"
    assert LATEX(Formula(SQUARE)) == r"\text{for every } \text{real } t > 1\text{: } t^{2} > 1"
    with pytest.raises(TypeError, match="a proposition of the kernel"):
        Formula(sp.true)


def test_a_quotient_of_matrices_is_computed_and_not_drawn() -> None:
    form, quotient = letter("A"), letter("W") * letter("B").inv()
    gap = vector("x", I) - vector("x", J)
    known = proposition(sp.Eq(form * letter("B"), letter("W"), evaluate=False))
    rate = Rate(dot(gap, gap, matrix("A")))

    def seen(relation: type, *, symmetric: bool) -> torch.Tensor:
        load()
        guard = Conjunction((known, proposition(Symmetric(form)))) if symmetric else known
        body = said(relation(rate, 0, evaluate=False), I, J)
        claim = Formula(ForAll(form, guard, body))
        conditions = (Symmetric(quotient),) if symmetric else ()
        drawn = drawn_for(claim, GENERATED(claim, plan_for("token-flow", conditions)), 60, 1)
        return torch.cat([OBSERVED(claim, batch) for batch in drawn.batches])

    rises = seen(sp.Ge, symmetric=True)
    assert not (rises > 0).any() and (rises <= 0).sum() >= 40
    assert (seen(sp.Le, symmetric=True) > 0).any()
    assert (seen(sp.Ge, symmetric=False) > 0).any()


@pytest.mark.parametrize(("factor", "holds"), [(1, True), (2, False)])
def test_the_velocity_at_an_exact_instance_is_looked_at(factor: int, holds: bool) -> None:
    load()
    at = sp.Symbol("a", real=True)
    weights = (("B", ((2,),)), ("W", ((1,),)))
    moved = VelocityIs(
        tuple((Str(name), rows(value)) for name, value in weights),
        rows(((at,), (at,))),
        rows(((2 * factor * at,),) * 2),
    )
    claim = Formula(ForAll(at, TRUE, proposition(moved)))
    drawn = drawn_for(claim, GENERATED(claim, plan_for("token-flow", ())), 20, 1)
    found = torch.cat([OBSERVED(claim, batch) for batch in drawn.batches])
    assert (found <= 0).all() if holds else (found > 0).all()


def test_a_matrix_with_given_entries_has_its_value() -> None:
    load()
    saddle = sp.ImmutableMatrix([[1, 0], [0, -1]])
    for word, violated in ((Symmetric(saddle), False), (PositiveDefinite(saddle), True)):
        claim = Formula(proposition(word))
        drawn = drawn_for(claim, GENERATED(claim, plan_for("token-flow", ())), 20, 1)
        found = torch.cat([OBSERVED(claim, batch) for batch in drawn.batches])
        assert bool((found > 0).all()) is violated


@pytest.mark.parametrize(("value", "unbounded"), [(1, True), (-1, False)])
def test_the_end_of_a_trajectory_along_a_ray_is_looked_at(value: int, unbounded: bool) -> None:
    load()
    weights = tuple((Str(name), rows(each)) for name, each in (("B", ((value,),)), ("W", ((1,),))))
    for word, holds in ((UnboundedFrom, unbounded), (VanishesFrom, not unbounded)):
        claim = Formula(proposition(word(weights, rows(((1,), (1,))))))
        drawn = drawn_for(claim, GENERATED(claim, plan_for("token-flow", ())), 20, 1)
        found = torch.cat([OBSERVED(claim, batch) for batch in drawn.batches])
        assert (found < 0).all() if holds else (found > 0).all()


@pytest.mark.parametrize("name", ["oja-map", "attention-map", "multihead-map"])
def test_all_places_at_once_are_the_places_one_by_one(name: str) -> None:
    """Along axes, with a family drawn for every place, against the plain loops of the calculus."""
    known = linearize(system(name), tangent=False).assumptions
    (step,) = [each for each in known.definitions if each == "y"]
    radius = factor(Norm(next(iter(known.norms)), (I,)), -2)
    y_i, y_j, w = vector(step, I), vector(step, J), vector("w", I, J)
    expressions = [
        dot(X, Y) * delta(I, J) + dot(y_i, w) * sp.Rational(1, 3),
        radius * dot(y_i, y_j) * dot(w, X) - TOKENS * dot(Z, w),
        dot(y_j, vector("x", K)).summed(K) * dot(w, w) + sp.Integer(2),
        exponential(dot(X, Y)) * dot(Z, Y).summed(J),
    ]
    drawn = drawn_for(Formula(UNIT), plan_for(name, ()), 60, 3).batches
    batch = next(each for each in drawn if each.count >= 2 and each.n >= 2 and each.d >= 2).take([0, 1])
    source = torch.Generator().manual_seed(5)
    z = torch.randn(batch.n, batch.n, 2, batch.d, generator=source, dtype=torch.float64)  # another at every place
    family = torch.randn(2, batch.n, batch.n, batch.d, generator=source, dtype=torch.float64)
    places = BoundIndices().bound(I, batch.n).bound(J, batch.n)
    here = {TOKENS: sp.Integer(batch.n), HEADS: sp.Integer(heads_of(batch))}
    at_once = Quantities(
        batch, {"x": batch.tokens, "z": z, "w": family}, lambda value: batch.scalar(value.xreplace(here))
    )
    heads = batch.parameters.get("heads", ())
    for expression in expressions:
        found = at_once.scalar(expression, places).expand(batch.n, batch.n, 2)
        for i, j, b in itertools.product(range(batch.n), range(batch.n), range(2)):
            one = batch.take([b])
            numbers = Numbers(
                sizes={"token": batch.n, "head": heads_of(batch)},
                scalars=here,
                matrices={
                    **{each: batch.parameters[each][b].tolist() for each in ("V", "M") if each in batch.parameters},
                    **{
                        each: lambda h, each=each, b=b: heads[h][each][b].tolist()
                        for each in (heads[0] if heads else ())
                    },
                },
                vectors={"x": batch.tokens[b].tolist(), "z": z[j, i, b].tolist(), "w": family[b].tolist()},
                exp=math.exp,
                sqrt=math.sqrt,
                convert=lambda value, one=one: float(one.scalar(value)[0]),
                assumptions=known,
            )
            assert float(found[j, i, b]) == pytest.approx(numbers.scalar(expression, {I: i, J: j}), rel=1e-9)
