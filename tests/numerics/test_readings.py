"""The numeric readings of the words: batched spectra, generated instances, certified verdicts."""

from __future__ import annotations

import math
from typing import Any

import pytest
import sympy as sp
import torch

from eigentoken.numerics.instances.batches import Batch, relation_violation
from eigentoken.numerics.instances.exact_values import Case, relation_truth
from eigentoken.numerics.instances.plans import Contradiction, Plan, plan_for
from eigentoken.numerics.instances.sampling import condition_violation, sample
from eigentoken.numerics.readings import load
from eigentoken.numerics.readings.batched_jacobians import jacobian_rows, spectrum
from eigentoken.numerics.readings.contraction_regions import contraction_region, is_contraction
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language import claims, conditions, terms
from eigentoken.theory.language import places as points
from eigentoken.theory.language.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, k, n, p, q
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum, consensus_spectrum
from eigentoken.theory.systems.catalogue import SYSTEMS, system

from ..shares import others_slow

load()
V, M, W, B, U = (terms.matrix(name) for name in "VMWBU")
SIMPLE = (conditions.Symmetric(V), conditions.SimpleTop(V), conditions.Relation(Eigenvalue(V, 1) > 0))


def draw(plan: Plan, count: int = 60, seed: int = 3) -> list[Batch]:
    return list(sample(plan, count, seed).batches)


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_batched_jacobian_is_the_derivative(name: str) -> None:
    """Closed-form blocks against forward differentiation through the system itself, at generic states."""
    for batch in draw(plan_for(name).sized((3,), (2, 3)), 12):
        rows = jacobian_rows(batch, range(batch.n))
        for b in range(batch.count):
            one = batch.take([b])
            problem = problem_of(one)
            full = torch.func.jacfwd(lambda x, problem=problem: problem.advance(x, 0.0))(one.tokens)
            wanted = full[0, :, :, 0].permute(0, 2, 1, 3)
            scale = 1 + wanted.abs().max()
            assert float((rows[b] - wanted).abs().max() / scale) < 1e-9


def _derived_classes(name: str, place: points.Place) -> tuple[tuple[Any, Any], ...]:
    """The spectrum that the engine derives for symbolic n and d, in the terms of the language."""
    chosen = system(name)
    found = consensus_spectrum(chosen) if isinstance(place, points.ConsensusAt) else bipartite_spectrum(chosen)
    letters = {"lambda_k": Eigenvalue(V, k), "lambda_ell": Eigenvalue(V, terms.ell)}
    letters["s"] = terms.ScoreAtEigenvector(M, V, k)
    put = {sp.Symbol(letter, real=True): term for letter, term in letters.items()}
    s = sp.Symbol("s", real=True)
    heights = {}
    for letter, meaning in found.abbreviations:  # the same numbers, in a form that large scores do not overflow
        if meaning.has(sp.exp):
            heights[letter] = sp.tanh(s + (terms.t_split if letter.name == "b_1" else -terms.t_split))
            assert sp.simplify(heights[letter].rewrite(sp.exp) - meaning) == 0
    alone = [(each.value, each.multiplicity) for each in found.tangent if each.block is None]
    blocks = {each.block for each in found.tangent if each.block is not None}
    for (a, b), (c, d_) in (block.tolist() for block in blocks):  # no difference of large numbers under the root
        root = sp.sqrt(((a - d_) / 2) ** 2 + b * c)
        alone += [((a + d_) / 2 + root, sp.Integer(1)), ((a + d_) / 2 - root, sp.Integer(1))]
    assert len(alone) == len(found.tangent)
    return tuple((found.expanded(value.subs(heights)).subs(put), count) for value, count in alone)


@pytest.mark.parametrize(
    "name", others_slow(["oja-map", "oja-flow", "attention-map", "attention-flow"], lambda name: "attention" in name)
)
@pytest.mark.parametrize("place", [points.ConsensusAt(V, k), points.BipartiteAt(V, k)])
def test_groups_give_the_whole_spectrum(name: str, place: Any) -> None:
    """The quotient and the difference blocks against the full Jacobian, and against the closed forms."""
    claim = claims.SpectrumIs(place, _derived_classes(name, place))
    plan = GENERATED(claim, plan_for(name, SIMPLE).sized((2, 3, 4), (2, 3)))
    seen = 0
    for batch in draw(plan, 80):
        from dataclasses import replace

        grouped, full = spectrum(batch).all(), spectrum(replace(batch, groups=None, _memory={})).all()
        assert grouped.shape == full.shape == (batch.count, batch.n * (batch.d - 1))
        good = torch.isfinite(full.real).all(-1) & (full.abs().amax(-1) < 1e4)
        order = [values[good].real.sort(-1).values for values in (grouped, full)]
        assert float((order[0] - order[1]).abs().max()) < 1e-5 * (1 + float(order[1].abs().max()))
        if SYSTEMS[name].time.value == "flow":
            assert float(OBSERVED(claim, batch).max()) < 1e-5
            seen += batch.count
    assert seen or SYSTEMS[name].time.value == "map"


def test_a_wrong_spectrum_is_seen() -> None:
    place = points.ConsensusAt(V, 1)
    wrong = claims.SpectrumIs(place, ((Eigenvalue(V, terms.ell), 1), (-Eigenvalue(V, 1), (n - 1) * (d - 1))))
    for batch in draw(GENERATED(wrong, plan_for("oja-flow", SIMPLE).sized((3,), (3,))), 20):
        assert float(OBSERVED(wrong, batch).min()) > 0


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("oja-map", SIMPLE),
        ("oja-map", (*SIMPLE, conditions.Relation(alpha * terms.SpectralNorm(V) < 1))),
        ("oja-map", (*SIMPLE, conditions.Relation(Eigenvalue(V, 2) < 0), conditions.Relation(n >= 3))),
        ("oja-map", (conditions.Symmetric(V), conditions.Relation(sp.Abs(Eigenvalue(V, d)) > Eigenvalue(V, 1)))),
        ("attention-map", (*SIMPLE, conditions.Relation(terms.ScoreAtEigenvector(M, V, k) < 0))),
        ("attention-map", (conditions.PositiveDefinite(V), conditions.Commute(V, M), conditions.Symmetric(V))),
        ("attention-map", (conditions.NonPrincipalModulusBelow(V),)),
        ("token-flow", (conditions.Symmetric(W * B.I), conditions.NegativeDefinite(W * B.I))),
        ("token-flow", (conditions.PositiveDefinite(W), conditions.Nonsingular(B))),
        ("causal-flow", (conditions.Symmetric(U), conditions.SimpleTop(U), conditions.InHemisphere(U))),
        ("multihead-flow", (conditions.SharesTopEigenvector("F"), conditions.BoundedInTime("M"))),
        ("oja-map", (conditions.AnyOf((conditions.PositiveDefinite(V), conditions.NegativeDefinite(V))),)),
        ("oja-map", (conditions.Not(conditions.PositiveSemidefinite(V)), conditions.Symmetric(V))),
        ("token-flow", (conditions.NotAllEqual(),)),
    ],
)
def test_instances_satisfy_their_conditions(name: str, asked: tuple[Any, ...]) -> None:
    """Everything that is drawn satisfies every condition, and most of what is constructed is kept."""
    plan = plan_for(name, asked)
    drawn = sample(plan, 150, 5)
    assert drawn.count >= 150
    assert drawn.constructed <= 20 * drawn.count
    for batch in drawn.batches:
        assert float(condition_violation(plan, batch).max()) < 0


@pytest.mark.parametrize(
    "condition",
    [
        conditions.Symmetric(V),
        conditions.PositiveDefinite(V),
        conditions.NegativeDefinite(V),
        conditions.SimpleTop(V),
        conditions.Nonsingular(V),
        conditions.Relation(alpha * terms.SpectralNorm(V) < 1),
        conditions.InHemisphere(V),
        conditions.NotAllEqual(),
    ],
)
def test_near_misses_miss(condition: Any) -> None:
    """Near misses of a condition violate it, and satisfy the others."""
    others = () if isinstance(condition, conditions.Symmetric) else (conditions.Symmetric(V),)
    plan = GENERATED(condition, plan_for("oja-map", others), False)
    drawn = sample(plan, 60, 2)
    assert drawn.count >= 60
    for batch in drawn.batches:
        assert float(OBSERVED(condition, batch).min()) > 0
        for other in others:
            assert float(OBSERVED(other, batch).max()) < 0


@pytest.mark.parametrize(
    "clashing",
    [
        (conditions.PositiveDefinite(V), conditions.NegativeDefinite(V)),
        (conditions.Symmetric(V), conditions.Not(conditions.Symmetric(V))),
        (conditions.Relation(n >= 3), conditions.Relation(n < 3)),
        (conditions.Symmetric(V), conditions.Relation(Eigenvalue(V, 1) < 0), conditions.Relation(Eigenvalue(V, d) > 0)),
        (conditions.Symmetric(V), conditions.Relation(alpha < 1), conditions.Relation(alpha > 2)),
    ],
)
def test_contradictions_are_said(clashing: tuple[Any, ...]) -> None:
    with pytest.raises(Contradiction) as raised:
        sample(plan_for("oja-map", clashing), 20, 0)
    assert "\n" not in str(raised.value)


def test_samples_are_repeatable() -> None:
    plan = GENERATED(claims.Stable(points.ConsensusAt(V, 1)), plan_for("oja-map", SIMPLE))
    first, second, other = sample(plan, 100, 7), sample(plan, 100, 7), sample(plan, 100, 8)
    pairs = list(zip(first.batches, second.batches, strict=True))
    assert all(torch.equal(a.parameters["V"], b.parameters["V"]) for a, b in pairs)
    assert not torch.equal(first.batches[0].parameters["V"], other.batches[0].parameters["V"])


def test_relation_violation_reads_indices_and_quantifiers() -> None:
    value = torch.diag(torch.tensor([3.0, 1.0, -2.0], dtype=torch.float64)).unsqueeze(0)
    batch = Batch(system("oja-flow"), {"V": value}, torch.zeros(1, 2, 3, dtype=torch.float64))
    assert float(relation_violation(batch, Eigenvalue(V, d) < 0)) == -2.0
    assert float(relation_violation(batch, Eigenvalue(V, terms.ell) < Eigenvalue(V, 1))) == -2.0
    assert float(relation_violation(batch, terms.SpectralNorm(V) > 4)) == 1.0
    assert math.isinf(float(relation_violation(batch, Eigenvalue(V, 4) > 0)))


def instance(**changes: Any) -> Instance:
    given = {"V": [[1, 0], [0, "-1/2"]], "alpha": "1/4", **changes}
    return Instance.of("oja-map", [[1, 0], [-1, 0]], **given)


def test_certified_conditions_decide_ties_exactly() -> None:
    """Where a float comparison would guess, exact arithmetic decides."""
    tie = Case(instance(V=[[1, 0], [0, 1]]), 1, 1)
    assert CERTIFIED(conditions.SimpleTop(V), tie).is_fails
    near = Case(instance(V=[[1, 0], [0, "999999999999999999/1000000000000000000"]]), 1, 1)
    assert CERTIFIED(conditions.SimpleTop(V), near).is_holds
    half = conditions.Relation(alpha * terms.SpectralNorm(V) < sp.Rational(1, 4))
    assert CERTIFIED(half, Case(instance(), 1, 1)).is_fails
    assert CERTIFIED(conditions.Not(half), Case(instance(), 1, 1)).is_holds
    assert CERTIFIED(conditions.PositiveSemidefinite(V), Case(instance(V=[[1, 1], [1, 1]]), 1, 1)).is_holds
    assert CERTIFIED(conditions.PositiveDefinite(V), Case(instance(V=[[1, 1], [1, 1]]), 1, 1)).is_fails
    assert CERTIFIED(conditions.Nonsingular(V), Case(instance(V=[[1, 1], [1, 1]]), 1, 1)).is_fails
    assert relation_truth(near, Eigenvalue(V, 1) > Eigenvalue(V, 2)) is True
    irrational = Case(instance(V=[[2, 1], [1, 1]]), 1, 1)
    assert CERTIFIED(conditions.Relation(Eigenvalue(V, 1) > sp.sqrt(5)), irrational).is_holds
    assert CERTIFIED(conditions.Relation(Eigenvalue(V, 2) > sp.Rational(2, 5)), irrational).is_fails


def test_certified_claims_at_the_antipodal_pair() -> None:
    """PM-CX1: the spectral radius is exactly 1, the manifold of antipodal pairs attracts an open set."""
    case = Case(instance(), 1, 1)
    assert CERTIFIED(claims.Unstable(points.BipartiteAt(V, 1)), case).is_fails
    assert CERTIFIED(claims.Stable(points.BipartiteAt(V, 1)), case).is_fails
    assert CERTIFIED(claims.Equilibrium(points.BipartiteAt(V, 1)), case).is_holds
    assert CERTIFIED(claims.Unstable(points.BipartiteAt(V, 2)), case).is_undecided
    limit = CERTIFIED(claims.AlmostEveryConverges(points.ConsensusAt(V, 1)), case)
    assert limit.is_fails
    assert limit.certificate.kind == "limit/attracting-manifold"
    positive = Case(instance(V=[[1, 0], [0, "1/2"]]), 1, 1)
    assert CERTIFIED(claims.AlmostEveryConverges(points.ConsensusAt(V, 1)), positive).is_undecided


def test_contraction_regions_are_checked() -> None:
    """TV10: a stable antipodal point off the eigenvectors; a region that is too large or too quick is refused."""
    point = Instance.of("attention-map", [[1, 0], [-1, 0]], V=[[2, 1], [1, 2]], M=[[0, 0], [-3, 0]], alpha="1/10")
    case = Case(point, 1, 1)
    region = contraction_region(case)
    assert region is not None
    assert is_contraction(case, region)
    from dataclasses import replace

    assert not is_contraction(case, replace(region, eps=region.eps * 1000))
    assert not is_contraction(case, replace(region, rate=region.rate / 2))
    moved = ((region.centre[0][0], region.centre[0][1] + region.eps), region.centre[1])
    assert not is_contraction(case, replace(region, centre=moved))


def test_observables_agree_in_both_arithmetics() -> None:
    from eigentoken.theory.language.observables import oja_potential

    claim = claims.Decreases(oja_potential)
    point = Instance.of("oja-map", [["3/5", "4/5"], ["5/13", "-12/13"]], V=[[1, "1/2"], ["1/2", "-1/3"]], alpha="1/3")
    assert CERTIFIED(claim, Case(point)).is_holds
    rising = Instance.of(
        "oja-map",
        [["0", "sqrt(1/2)", "sqrt(1/2)"]],
        V=[[1, 0, 0], [0, "-20/21", 0], [0, 0, -1]],
        alpha="21/20",
    )
    assert CERTIFIED(claim, Case(rising)).is_fails
    value = torch.diag(torch.tensor([1.0, -20 / 21, -1.0], dtype=torch.float64)).unsqueeze(0)
    tokens = torch.tensor([[[0.0, 0.5**0.5, 0.5**0.5]]], dtype=torch.float64)
    batch = Batch(system("oja-map"), {"V": value, "alpha": torch.tensor([1.05], dtype=torch.float64)}, tokens)
    assert float(OBSERVED(claim, batch)) == pytest.approx(0.5 - 41 / 84, abs=1e-11)


def test_splits_are_drawn_on_both_sides() -> None:
    plan = GENERATED(claims.Unstable(points.BipartiteAt(V, 1)), plan_for("oja-map", SIMPLE))
    drawn = sample(plan, 200, 1)
    splits = {(batch.n, batch.p) for batch in drawn.batches}
    assert any(2 * split == size for size, split in splits)
    assert any(2 * split != size for size, split in splits)
    assert {"p = q", "n = 2", "even n", "negative second"} <= set(drawn.corners)
    only = GENERATED(conditions.Relation(sp.Ne(p, q)), plan)
    assert all(2 * batch.p != batch.n for batch in sample(only, 50, 1).batches)
