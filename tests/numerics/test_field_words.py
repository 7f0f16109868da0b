"""Multiples of a matrix, equiangular families, tokens at plus or minus an eigenvector: all readings, and near misses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
import torch

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.instances.exact import draft
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.instances.states import place_state
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.symbol_values import LayerSymbolValues
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.exact_places import at_place
from eigentoken.numerics.readings.trajectories import distance
from eigentoken.numerics.recheck.refutations.condition_truths import CONDITION_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.place_truths import NOT_AT
from eigentoken.proofs.properties.property import test_statement as look_at
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.documents import decode, encode
from eigentoken.theory.language.places import EachAt, Equiangular
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.readings import CERTIFIED, OBSERVED
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import statements

load()
V, M = matrix("V"), matrix("M")
TURNED = (("3/5", "4/5"), ("-4/5", "3/5"))


def _read(condition: MultipleOf, **parameters: Any) -> tuple[str, bool | None]:
    instance = Instance.of("attention-flow", TURNED, **parameters)
    case, look = Case(instance, 1, 2), IndependentInstance(instance, 1, 2)
    return str(CERTIFIED(condition, case).answer), CONDITION_TRUTH(condition, look, {})


@pytest.mark.parametrize(
    ("condition", "score", "truth"),
    [
        (MultipleOf(M, V), (("-3/2", "3"), ("0", "3/2")), True),
        (MultipleOf(M, V), (("0", "0"), ("0", "0")), True),
        (MultipleOf(M, V), (("-3/2", "3"), ("1/1000", "3/2")), False),
        (MultipleOf(M), (("7/3", "0"), ("0", "7/3")), True),
        (MultipleOf(M), (("7/3", "0"), ("0", "7/4")), False),
        (MultipleOf(V, M), (("0", "0"), ("0", "0")), False),
    ],
)
def test_a_multiple_is_decided_twice(condition: MultipleOf, score: Any, truth: bool) -> None:
    assert _read(condition, V=(("1", "-2"), ("0", "-1")), M=score) == ("holds" if truth else "fails", truth)
    assert decode(encode(condition)) == condition


@pytest.mark.parametrize("condition", [MultipleOf(M, V), MultipleOf(M)])
def test_multiples_are_drawn_in_floats_and_exactly(condition: MultipleOf) -> None:
    plan = plan_for("attention-flow", [Symmetric(V), condition]).sized((2,), (2, 3))
    factors = []
    for batch in sample(plan, 24, 1).batches:
        assert bool((OBSERVED(condition, batch) <= 0).all())
        of = torch.eye(batch.d, dtype=torch.float64) if condition.of == IDENTITY else batch.parameters["V"]
        factors += (batch.parameters["M"] * of).sum((-2, -1)).sign().tolist()
        drafted = draft(plan, batch.take([0]), 4)
        instance = None if drafted is None else drafted.instance()
        assert instance is not None and CERTIFIED(condition, Case(instance, 1, 2)).is_holds
        moved = batch.parameters["M"] + batch.tokens[:, :1].mT
        missed = batch.with_parameters({**batch.parameters, "M": moved})
        assert bool((OBSERVED(condition, missed) > 0).any())
    assert {-1.0, 1.0} <= set(factors)


def test_weights_that_are_no_multiple_are_told() -> None:
    source = np.random.default_rng(0)
    value, score = source.normal(size=(2, 6, 6))
    letters = {"V": Enclosure.from_floats(value), "M": Enclosure.from_floats(score)}
    for condition in (MultipleOf(M, V), MultipleOf(M)):
        assert ON_WEIGHTS(condition, LayerSymbolValues("test", letters)).is_fails
    twice = LayerSymbolValues("test", {"V": Enclosure.from_floats(value), "M": Enclosure.from_floats(-2 * value)})
    assert ON_WEIGHTS(MultipleOf(M, V), twice).is_holds  # every entry, in exact integers
    within = LayerSymbolValues("test", {"V": Enclosure.from_floats(value), "M": Enclosure.from_floats(score, radius=9)})
    assert ON_WEIGHTS(MultipleOf(M, V), within).is_undecided


def _state(system: str, tokens: Any, **parameters: Any) -> tuple[Case, IndependentInstance]:
    instance = Instance.of(system, tokens, **parameters)
    return Case(instance, 1, 1), IndependentInstance(instance, 1, 1)


def test_equiangular_states_are_known_and_others_are_not() -> None:
    unit = (("1", "0", "0"), ("0", "1", "0"), ("0", "0", "1"))
    orthogonal, equal = unit, (unit[0],) * 3
    apart = (unit[0], unit[1], ("3/5", "4/5", "0"))
    for tokens, cosine, there in [
        (orthogonal, None, True),
        (orthogonal, 0, True),
        (orthogonal, sp.Rational(1, 2), False),
        (equal, None, True),
        (equal, 0, False),
        (apart, None, False),
    ]:
        case, look = _state("attention-flow", tokens, V=unit, M=unit)
        assert at_place(Equiangular(cosine), case) is there
        assert NOT_AT(Equiangular(cosine), look) is not there
    longer, look = _state("token-flow", (("2", "0"), ("0", "1")), B=TURNED, W=TURNED)
    assert at_place(Equiangular(), longer) is False and NOT_AT(Equiangular(), look)


@pytest.mark.parametrize("system", ["attention-flow", "token-flow"])
@pytest.mark.parametrize("place", [Equiangular(), Equiangular(0)])
def test_equiangular_states_are_drawn(system: str, place: Equiangular) -> None:
    batch = sample(plan_for(system).sized((3,), (4,)), 8, 0, cells_at_most=1).batches[0]
    made = place_state(place, batch, torch.Generator().manual_seed(1))
    assert bool((distance(place, made, made.tokens) < 1e-12).all())
    assert bool((distance(place, made, batch.tokens) > 1e-3).all())
    gram = made.tokens @ made.tokens.mT
    cosines = gram[:, 0, 1] / gram[:, 0, 0]
    assert len({round(float(each), 6) for each in cosines}) == (batch.count if place.cosine is None else 1)
    few = replace(batch, tokens=batch.tokens[..., :2], parameters={})
    assert few.n > few.d and not bool(place_state(Equiangular(), few, torch.Generator()).tokens.isnan().any())


def test_each_token_has_a_sign_of_its_own() -> None:
    axis, other = ("1", "0"), ("-1", "0")
    weights = {"V": (("2", "0"), ("0", "1")), "M": (("1", "0"), ("0", "1"))}
    for tokens, there in [((axis, other, axis), True), ((axis, axis), True), ((axis, ("3/5", "4/5")), False)]:
        case, look = _state("attention-flow", tokens, **weights)
        assert at_place(EachAt(V, 1), case) is there and NOT_AT(EachAt(V, 1), look) is not there
    case, look = _state("attention-flow", (("0", "1"), ("0", "-1")), **weights)
    assert at_place(EachAt(V, 1), case) is False and NOT_AT(EachAt(V, 1), look)
    batch = sample(plan_for("attention-flow", [Symmetric(V)]).sized((5,), (3,)), 8, 0).batches[0]
    made = place_state(EachAt(V, 1), batch, torch.Generator().manual_seed(0))
    assert bool((distance(EachAt(V, 1), made, made.tokens) < 1e-9).all())
    assert not bool((made.tokens[:, :1] == made.tokens).all())


def test_no_certificate_says_that_an_equiangular_family_is_left() -> None:
    """The region has no normal: the reading says that it has no method."""
    case, _ = _state("attention-flow", (("1", "0"), ("0", "1")), V=TURNED, M=TURNED)
    assert CERTIFIED(ForwardInvariant(Equiangular()), case).is_undecided


@pytest.mark.parametrize(
    ("name", "dropped"),
    [
        ("BD-P4", 3),
        ("PM-X4", 3),
        ("BD-P5", -1),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("BD-P2", -1), ("BD-P3", -1))),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("CL-9", 0), ("BD-T1", 0), ("BD-T1", 1))),
    ],
)
def test_a_dropped_condition_is_seen(name: str, dropped: int) -> None:
    """The claims hold under the conditions, and are seen to fail without the one that is named."""
    statement = statements().get(name)
    assert look_at(statement, 40, 0).violations == 0
    kept = list(statement.conditions)
    del kept[dropped]
    claims = tuple(each for each in statement.claims if not isinstance(each, ForwardInvariant))
    assert look_at(replace(statement, conditions=tuple(kept), claims=claims), 120, 1).violations > 0
