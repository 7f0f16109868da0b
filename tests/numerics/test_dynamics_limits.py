"""Observables, hemispheres, basins, limits and certified equilibria against the sheets and against wrong input."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from eigentoken.numerics.dynamics import hemisphere
from eigentoken.numerics.dynamics import observables as measure
from eigentoken.numerics.dynamics.basins import basin_fractions, clopper_pearson, layer_exponents, random_tokens
from eigentoken.numerics.dynamics.equilibria import certify_equilibrium
from eigentoken.numerics.dynamics.flows import follow
from eigentoken.numerics.dynamics.limits import LimitClass, name_limit, name_limits
from eigentoken.numerics.dynamics.maps import iterate
from eigentoken.numerics.dynamics.problem import Problem, problem
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.exactness.krawczyk import positive_definite

from ..tools import functions_of_theorems as functions

LN3 = math.log(3)


def tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def det_tokens(l: int, d: int) -> Tensor:
    return tensor([[math.sin(1.3 * i + 0.7 * a * a + 0.9 * i * a) for a in range(1, d + 1)] for i in range(1, l + 1)])


# observables


def test_function_25_signed_and_with_bars() -> None:
    x = det_tokens(5, 3)
    assert float(measure.cosine_gap(x)) == pytest.approx(0.928344160118396, abs=1e-13)
    assert float(measure.cosine_gap(x, absolute=True)) == pytest.approx(0.327172181830025, abs=1e-13)
    pair = tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert float(measure.cosine_gap(pair)) == pytest.approx(1.0)
    assert float(measure.cosine_gap(pair, absolute=True)) == pytest.approx(0.0)


def test_oja_potential_vector() -> None:
    x = tensor([[3 / 5, 4 / 5], [5 / 13, -12 / 13]])
    V = tensor([[1, 0.5], [0.5, -1 / 3]])
    step = problem("oja-map", {"V": V, "alpha": 1 / 3})
    assert float(measure.oja_potential(x, V)) == pytest.approx(-0.105404339250493, abs=1e-14)
    assert float(measure.oja_potential(step.advance(x), V)) == pytest.approx(-0.164979616751330, abs=1e-14)


def test_pham_energy_and_pair_form() -> None:
    x, A = det_tokens(4, 2), -torch.diag(tensor([1.0, 2.0]))
    W = tensor([[1, 0.5], [-0.5, 1]])
    flow = problem("token-flow", {"B": torch.linalg.solve(A, W), "W": W})
    assert float(measure.energy(x, A)) == pytest.approx(1.570023535341501, abs=1e-13)
    late = follow(flow, x, 10.0, rtol=1e-11, atol=1e-13).final
    assert float(measure.energy(late, A)) == pytest.approx(0.215186377970416, abs=1e-9)
    velocity = flow.advance(x)
    slope = 2 * (x[0] - x[1]) @ A @ (velocity[0] - velocity[1])
    assert float(slope) == pytest.approx(2.229526060811999, abs=1e-12)
    assert bool((measure.pair_form(late, A) - measure.pair_form(x, A) >= -1e-12).all())


def test_distances_ranks_and_correlations() -> None:
    same = tensor([[0.6, 0.8]] * 3)
    assert float(measure.diameter(same)) == 0
    assert float(measure.mean_distance(tensor([[0.0], [3.0]]))) == pytest.approx(3.0)
    assert float(measure.effective_rank(same)) == pytest.approx(1.0)
    assert float(measure.effective_rank(torch.eye(4, dtype=torch.float64))) == pytest.approx(4.0)
    S = tensor([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    x = tensor([[1.0, 2.0, 2.0]])
    assert float(measure.subspace_correlation(x, S)) == pytest.approx(math.sqrt(5) / 3)
    assert float(measure.vector_correlation(x, tensor([0.0, 0.0, 5.0]))) == pytest.approx(2 / 3)
    gain, share = measure.alignment_increment(tensor([0.1, -0.5]), tensor([-0.3, 0.4]))
    assert (float(gain), float(share)) == pytest.approx((0.05, 0.5))


def test_hemisphere_lyapunov_functions() -> None:
    """AB-T4.1 point 1: without the metric, (13) is negative on an ellipsoid; with it, it lies in [0, 2]."""
    W, v = torch.diag(tensor([0.25, 1.0])), tensor([2.0, 0.0])
    y = tensor([[2 * math.cos(0.3), math.sin(0.3)], [2 * math.cos(0.3), -math.sin(0.3)]])
    assert float(measure.height_deficit(y, v)) == pytest.approx(-2.821345956502, abs=1e-11)
    assert 0 <= float(measure.height_deficit(y, v, W)) <= 2
    assert float(functions.logistic_potential(tensor(0.3))) == pytest.approx(0.375666666666667)


def theorem_functions() -> dict[str, tuple[Problem, Tensor, Callable[[Tensor], Tensor], int]]:
    """For each theorem: a flow that meets its assumptions, a start, its function, and whether that falls or rises."""
    spread = random_tokens(1, 5, 3, seed=41)[0]
    v = tensor([0.0, 0.0, 1.0])
    above = spread * torch.sign(spread @ v).unsqueeze(-1)
    spd = tensor([[2.0, 0.4, 0.1], [0.4, 1.0, -0.2], [0.1, -0.2, 0.7]])
    V = torch.diag(tensor([1.0, 0.3, -0.4]))
    M = tensor([[0.5, -1.0, 0.2], [0.7, 0.1, 0.0], [-0.3, 0.4, 1.0]])
    ellipsoid, causal = problem("ellipsoid-flow", {"P": spd}), problem("causal-flow", {"P": M})
    heads = problem("ellipsoid-multihead-flow", {"heads": [{"P": M}, {"P": M.mT}], "W": None})
    A, W = -spd, tensor([[1.0, 0.3, -0.5], [-0.3, 1.5, 0.2], [0.5, -0.2, 0.8]])  # A < 0, W > 0, B = A^-1 W
    tokens = problem("token-flow", {"B": torch.linalg.solve(A, W), "W": W})
    return {
        "V_P of (10), AB-T3.1": (ellipsoid, ellipsoid.retract(spread), lambda x: measure.ellipsoid_potential(x, spd), -1),
        "(13), AB-T4.1": (heads, above, lambda x: measure.height_deficit(x, v), -1),
        "central diameter, AB-X1": (heads, above, lambda x: functions.central_diameter(x, v), -1),
        "(17), AB-L5.1": (causal, spread, lambda x: functions.logistic_potential(x[..., 1, :] @ spread[0]), -1),
        "W, PM-L7": (problem("oja-flow", {"V": V}), spread, lambda x: measure.oja_potential(x, V), -1),
        "E for c > 0, CT-8": (
            problem("attention-flow", {"V": V, "M": 2 * V}), spread, lambda x: functions.attention_potential(x, V, 2.0), 1
        ),
        "E for c < 0, CT-8": (
            problem("attention-flow", {"V": V, "M": -2 * V}), spread, lambda x: functions.attention_potential(x, V, -2.0), 1
        ),
        "energy, PH-T2": (tokens, spread, lambda x: measure.energy(x, A), -1),
        "pair form, PH-T1": (tokens, spread, lambda x: measure.pair_form(x, A).flatten(-2), 1),
    }  # fmt: skip


@pytest.mark.parametrize("name", theorem_functions())
def test_the_function_of_each_theorem_is_monotone_along_its_flow(name: str) -> None:
    flow, start, function, sign = theorem_functions()[name]
    run = follow(flow, start, 4.0, at=[0.05 * k for k in range(81)], rtol=1e-11, atol=1e-13)
    assert run.states is not None
    values = function(run.states)
    steps = sign * values.diff(dim=0)
    assert float(steps.min()) > -1e-9
    assert float((sign * (values[-1] - values[0])).max()) > 1e-2  # it does not just stand still


# hemispheres


def test_every_answer_rechecks_and_false_certificates_do_not() -> None:
    words = set()
    for x in random_tokens(40, 5, 3, seed=2):
        verdict = hemisphere.in_open_hemisphere(x)
        assert verdict.certificate is not None
        assert recheck(verdict.certificate).is_holds
        words.add(verdict.answer.value)
        key = "vector" if verdict.is_holds else "weights"
        spoiled = [str(-Fraction(entry)) for entry in verdict.certificate.data[key]]
        changed = replace(verdict.certificate, data={**verdict.certificate.data, key: spoiled})
        assert recheck(changed).is_fails
    assert words == {"holds", "fails"}


@pytest.mark.parametrize(
    ("tokens", "word"),
    [
        ([[1, 0], [-1, 0], [0, 1]], "fails"),
        ([[1, 0, 0], [0, 1, 0], [-1, -1, 0], [0, 0, 1]], "fails"),
        ([[1, 0], [1, 0], [-1, 0], [-1, 0]], "fails"),
        ([[1, 1], [1, 1], [2, 2]], "holds"),
        ([[1, 0], [-1, Fraction(1, 10**30)]], "holds"),
        ([[1, 0], [-1, -Fraction(1, 10**30)], [0, 1]], "fails"),
        ([[0, 0], [1, 0]], "fails"),
    ],
)
def test_degenerate_tokens(tokens: Any, word: str) -> None:
    verdict = hemisphere.in_open_hemisphere(tokens)
    assert verdict.answer.value == word
    assert verdict.certificate is not None
    assert recheck(verdict.certificate).is_holds


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=6))
def test_exact_simplex_agrees_with_the_answer(rows: list[list[int]]) -> None:
    verdict = hemisphere.in_open_hemisphere(rows)
    exact = [[Fraction(entry) for entry in row] for row in rows]
    v, w = hemisphere._exact_simplex(exact)
    assert (v is not None) == verdict.is_holds
    if v is not None:
        assert min(hemisphere._heights(exact, v)) > 0
    else:
        assert w is not None
        assert min(w) >= 0
        assert any(w)
        assert not any(sum(c * row[k] for c, row in zip(w, exact, strict=True)) for k in range(3))


def test_wendel_against_sampling() -> None:
    for n, d in ((5, 3), (8, 4), (10, 3)):
        starts = random_tokens(250, n, d, seed=n)
        count = sum(hemisphere.in_open_hemisphere(x).is_holds for x in starts)
        assert clopper_pearson(count, 250, 0.999).contains(float(functions.wendel_probability(n, d)))
    assert float(functions.wendel_probability(10, 3)) == 0.08984375


# intervals, basins, exponents


def test_intervals_cover_as_promised() -> None:
    """Exact coverage, summed over the binomial law: Clopper-Pearson never below 95 percent."""
    for p in (0.02, 0.3, 0.9):
        law = [math.comb(40, k) * p**k * (1 - p) ** (40 - k) for k in range(41)]
        exact = sum(weight for k, weight in enumerate(law) if clopper_pearson(k, 40).contains(p))
        assert exact >= 0.95
    with pytest.raises(ValueError, match="count"):
        clopper_pearson(5, 4)


def name_runs(p: Problem, layers: int) -> Any:
    def run(x: Tensor) -> Sequence[str]:
        orbit = iterate(p, x, layers, stop_distance=1e-12)
        return [limit.kind.value for limit in name_limits(p, orbit.final, tolerance=1e-3)]

    return run


def test_basin_of_the_antipodal_pairs_cx1() -> None:
    """PM-CX1: the map's fraction of starts that end antipodal is near the closed form of the flow, 0.1268."""
    p = problem("oja-map", {"V": torch.diag(tensor([1.0, -0.5])), "alpha": 0.05})
    found = basin_fractions(name_runs(p, 6000), random_tokens(1500, 2, 2, seed=3), confidence=0.999)
    assert found["polygonal"].contains(0.126799980287)
    assert not found["polygonal"].contains(0.0)


def test_basins_of_bipartite_points_n6() -> None:
    """PM-N6: for M = 10 I every start ends bipartite; for M = I about half do (185 of 400 there)."""
    V = torch.diag(tensor([1, 1 / 4, 1 / 8]))
    starts = random_tokens(120, 10, 3, seed=4)
    eye = torch.eye(3, dtype=torch.float64)
    sharp = basin_fractions(name_runs(problem("attention-map", {"V": V, "M": 10 * eye, "alpha": 0.5}), 3000), starts)
    assert sharp["bipartite"].count == 120
    soft = basin_fractions(
        name_runs(problem("attention-map", {"V": V, "M": eye, "alpha": 0.5}), 3000), starts, confidence=0.999
    )
    assert soft["bipartite"].contains(185 / 400)


def test_seeds_repeat_runs() -> None:
    assert torch.equal(random_tokens(2, 3, 4, seed=9), random_tokens(2, 3, 4, seed=9))
    assert not torch.equal(random_tokens(2, 3, 4, seed=9), random_tokens(2, 3, 4, seed=10))


def test_exponents_of_a_constant_and_of_a_random_product() -> None:
    F = tensor([[2.0, 1.0], [0.0, 0.5]])
    exponents, running = layer_exponents([F] * 400)
    assert torch.allclose(exponents, tensor([math.log(2), -math.log(2)]), atol=0.02)
    assert running.shape == (400, 2)
    generator = torch.Generator().manual_seed(0)
    random = [torch.randn(3, 3, generator=generator, dtype=torch.float64) for _ in range(3000)]
    top = float(layer_exponents(random, 1)[0])
    # Gaussian products: 2 * top = log 2 + digamma(d/2)
    digamma = float(torch.digamma(tensor(1.5)))
    assert top == pytest.approx((math.log(2) + digamma) / 2, abs=0.05)


# names of limits


@pytest.mark.parametrize(
    ("p", "x", "kind"),
    [
        (problem("oja-map", {"V": [[2, 0], [0, 1]], "alpha": 0.2}), [[1, 0], [1, 0]], LimitClass.CONSENSUS),
        (problem("oja-map", {"V": [[2, 0], [0, 1]], "alpha": 0.2}), [[1, 0], [1, 0], [-1, 0]], LimitClass.BIPARTITE),
        (problem("oja-map", {"V": [[2, 0], [0, 1]], "alpha": 0.2}), [[0.6, 0.8], [-0.6, -0.8]], LimitClass.POLYGONAL),
        (problem("oja-map", {"V": [[0.5, 0], [0, -1]], "alpha": 4.1}), [[0, 1], [0, 1]], LimitClass.TWO_CYCLE),
        (problem("oja-map", {"V": [[1, -2], [2, 1]], "alpha": 0.3}), [[0, 1], [0, 1]], LimitClass.ROTATING),
        (problem("oja-flow", {"V": [[1, -2], [2, 1]]}), [[0, 1], [0, 1]], LimitClass.ROTATING),
        (problem("oja-map", {"V": [[2, 0], [0, 1]], "alpha": 0.2}), [[0.6, 0.8], [1, 0]], LimitClass.UNSETTLED),
        (problem("token-flow", {"B": [[1]], "W": [[1]]}), [[1e9], [2e9]], LimitClass.DIVERGING),
        (problem("token-flow", {"B": [[-1]], "W": [[1]]}), [[1e-6], [2e-6]], LimitClass.VANISHING),
    ],
)
def test_names(p: Problem, x: Any, kind: LimitClass) -> None:
    assert name_limit(p, tensor(x)).kind is kind


def test_clustering_of_tv15() -> None:
    m11 = -4 * math.log(math.cosh(1.5))
    p = problem(
        "attention-map",
        {"V": torch.diag(tensor([1, 1.30443453232016])), "M": torch.diag(tensor([m11, 2.0])), "alpha": 0.1},
    )
    x = tensor([[1, 0], [0.5, math.sqrt(3) / 2], [0.5, -math.sqrt(3) / 2]])
    limit = name_limit(p, x)
    assert (limit.kind, limit.clusters) == (LimitClass.CLUSTERING, 3)


# certified equilibria


def near(p: Problem, x: Any) -> Tensor:
    noise = 1e-5 * torch.randn(len(x), len(x[0]), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return p.retract(tensor(x) + noise)


EYE = [[LN3, 0], [0, LN3]]


@pytest.mark.parametrize(
    ("p", "x", "stable"),
    [
        (problem("attention-map", {"V": [[1, 0], [0, 0.5]], "M": EYE, "alpha": 0.5}), [[1, 0], [-1, 0]], "holds"),
        (problem("attention-flow", {"V": [[1, 0], [0, 0.5]], "M": EYE}), [[1, 0], [-1, 0]], "holds"),
        (problem("attention-flow", {"V": [[1, 0], [0, 0.9]], "M": EYE}), [[1, 0], [-1, 0]], "fails"),
        (
            problem("attention-map", {"V": [[2, 1], [1, 2]], "M": [[0, 0], [-3, 0]], "alpha": 0.1}),
            [[1, 0], [-1, 0]],
            "holds",
        ),
        (problem("oja-map", {"V": [[2, 0, 0], [0, 0.5, 0], [0, 0, -1]], "alpha": 0.25}), [[1, 0, 0]] * 3, "holds"),
        (problem("oja-map", {"V": [[2, 0, 0], [0, 0.5, 0], [0, 0, -1]], "alpha": 0.25}), [[0, 1, 0]] * 3, "fails"),
        (problem("causal-flow", {"U": [[1, 0], [0, 0]], "P": [[1, 0], [0, 1]]}), [[1, 0], [-1, 0]], "holds"),
    ],
)
def test_certified_equilibria_of_the_sheets(p: Problem, x: Any, stable: str) -> None:
    found = certify_equilibrium(p, near(p, x))
    assert found.exists.is_holds
    assert found.stable.answer.value == stable
    assert np.abs(np.array(found.centre) - np.array(x)).max() < 1e-12
    assert found.exists.certificate is not None
    assert found.stable.certificate is not None
    assert recheck(found.exists.certificate).is_holds
    assert recheck(found.stable.certificate).is_holds


def test_the_second_opinion_says_no_to_changed_certificates() -> None:
    p = problem("attention-map", {"V": [[1, 0], [0, 0.5]], "M": EYE, "alpha": 0.5})
    found = certify_equilibrium(p, near(p, [[1, 0], [-1, 0]]))
    exists, stable = found.exists.certificate, found.stable.certificate
    assert exists is not None
    assert stable is not None
    data = dict(exists.data)
    moved = [str(float(data["centre"][0]) + 1e-3), *data["centre"][1:]]
    weaker = {**data["parameters"], "V": [["0x1p+0", "0x0p+0"], ["0x0p+0", (0.9).hex()]]}
    assert not recheck(replace(exists, data={**data, "centre": moved})).is_holds
    assert not recheck(replace(exists, data={**data, "cycle": True})).is_holds
    assert not recheck(replace(stable, data={**stable.data, "equilibrium": {**data, "parameters": weaker}})).is_holds
    flipped = [[-entry for entry in row] for row in stable.data["form"]]
    assert not recheck(replace(stable, data={**stable.data, "form": flipped})).is_holds


def test_two_cycle_and_what_cannot_be_decided() -> None:
    p = problem("oja-map", {"V": [[0.5, 0], [0, -1]], "alpha": 4.1})
    found = certify_equilibrium(p, near(p, [[0, 1]] * 3))
    assert found.cycle
    assert found.exists.is_holds
    assert found.stable.is_holds
    marginal = problem("oja-map", {"V": [[1, 0], [0, -0.5]], "alpha": 0.25})
    assert certify_equilibrium(marginal, tensor([[1, 0], [-1, 0]])).exists.is_undecided
    assert certify_equilibrium(marginal, tensor([[0.6, 0.8], [1, 0]])).exists.is_undecided
    with pytest.raises(ValueError, match="depend on time"):
        certify_equilibrium(problem("causal-flow", {"P": lambda t: torch.eye(2)}), tensor([[1, 0], [1, 0]]))


def test_positive_definite_rejects() -> None:
    from flint import arb, arb_mat

    assert positive_definite(arb_mat(2, 2, [2, 1, 1, 2]))
    assert not positive_definite(arb_mat(2, 2, [1, 2, 2, 1]))
    assert not positive_definite(arb_mat(1, 1, [arb(1, 2)]))
