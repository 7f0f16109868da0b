"""Integrators: order on every state space, dense output, known solutions, sheet vectors, the reduction to the span."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.basins import random_tokens
from eigentoken.numerics.dynamics.compressed_scores import CompressedScore, cheapest_plan
from eigentoken.numerics.dynamics.flows import follow, parts, tableau
from eigentoken.numerics.dynamics.maps import CHUNK, iterate
from eigentoken.numerics.dynamics.matrices import RowScaled
from eigentoken.numerics.dynamics.observables import ellipsoid_potential
from eigentoken.numerics.dynamics.problem import Problem, problem
from eigentoken.numerics.dynamics.products import WIDE, exponentials, product, whole_floats
from eigentoken.theory.systems.system import Space

from ..tools.functions_of_theorems import planar_first_integral


def tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def det_tokens(l: int, d: int) -> Tensor:
    """The deterministic tokens of the sheet, section 0."""
    return tensor([[math.sin(1.3 * i + 0.7 * a * a + 0.9 * i * a) for a in range(1, d + 1)] for i in range(1, l + 1)])


def det_matrix(d: int) -> Tensor:
    return tensor([[math.cos(0.5 * a + 1.7 * b + 0.3 * a * b * b) for b in range(1, d + 1)] for a in range(1, d + 1)])


def det_spd(d: int) -> Tensor:
    return det_matrix(d) @ det_matrix(d).mT / d + 0.5 * torch.eye(d, dtype=torch.float64)


def sphere() -> Problem:
    return problem("attention-flow", {"V": det_spd(3), "M": det_matrix(3)})


def ellipsoid() -> Problem:
    return problem("ellipsoid-flow", {"P": det_spd(3)})


def euclidean() -> Problem:
    return problem("token-flow", {"B": -0.5 * det_spd(3), "W": det_matrix(3)})


def moving() -> Problem:
    return problem("causal-flow", {"U": det_spd(3), "P": lambda t: math.cos(t) * det_matrix(3)})


def reduced() -> Problem:
    """Two modulated heads in a space larger than the tokens' span: the fused pass, with interpolated matrices."""
    angle = tensor([0.1 * k for k in range(9)])
    heads = [
        {"P": lambda t: RowScaled(2 * torch.sin(angle * t + angle), 2 * det_matrix(9))},
        {"P": lambda t: RowScaled(3 * torch.cos(angle * t), det_matrix(9).mT.contiguous())},
    ]
    return problem("ellipsoid-multihead-flow", {"heads": heads, "W": None}, "causal")


def tokens_of(make: Any) -> Tensor:
    flow = make()
    x: Tensor = flow.retract(det_tokens(4, 9 if make is reduced else 3))
    assert (flow.span_reduction(x) is not None) == (make is reduced)
    return x


@cache
def accurate_end(make: Any) -> Tensor:
    """What the runs of every method are held to at time 2."""
    return follow(make(), tokens_of(make), 2.0, rtol=1e-13, atol=1e-14, reduce=False).final


@pytest.mark.parametrize("make", [sphere, ellipsoid, euclidean, moving, reduced])
@pytest.mark.parametrize("method", ["rk4", "dopri5", "bosh3"])
def test_order_by_error_slope(make: Any, method: str) -> None:
    flow, x = make(), tokens_of(make)
    exact = accurate_end(make)
    steps = [0.5, 0.25, 0.125, 0.0625]
    errors = [float((follow(flow, x, 2.0, method=method, step=h).final - exact).abs().max()) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert tableau(method).order - 0.35 < slope < tableau(method).order + 1.2


@pytest.mark.parametrize("make", [sphere, ellipsoid, moving])
def test_every_output_is_on_the_manifold(make: Any) -> None:
    flow = make()
    run = follow(flow, flow.retract(det_tokens(4, 3)), 3.0, at=[0.0, 0.7, 1.31, 3.0])
    assert run.times == [0.0, 0.7, 1.31, 3.0]
    assert run.states is not None
    weight = torch.eye(3, dtype=torch.float64) if flow.metric() is None else flow.metric()
    assert ((run.states @ weight * run.states).sum(-1) - 1).abs().max() < 1e-14


#: The order of the dense output: scipy's quartic and cubic interpolants, the cubic of Hermite for rk4.
DENSE_ORDER = {"dopri5": 4, "bosh3": 3, "rk4": 4}
DENSE_STEPS = (0.5, 0.25, 0.125, 0.0625)


def dense_times(h: float) -> list[float]:
    """Three places of each of the first two steps: an interpolant can be better at some places."""
    return [k * h + place * h for k in range(2) for place in (0.22, 0.5, 0.74)]


@cache
def accurate_states(make: Any) -> dict[float, Tensor]:
    """What the dense output of every method is held to, by the time."""
    times = sorted(t for h in DENSE_STEPS for t in dense_times(h))
    exact = follow(make(), tokens_of(make), 1.0, at=times, method="dopri5", step=1 / 512, reduce=False)
    assert exact.states is not None
    return dict(zip(times, exact.states[: len(times)], strict=True))


@pytest.mark.parametrize("make", [sphere, ellipsoid, euclidean, moving, reduced])
@pytest.mark.parametrize("method", DENSE_ORDER)
def test_dense_output_has_its_order_and_does_not_disturb_the_steps(make: Any, method: str) -> None:
    flow, x = make(), tokens_of(make)
    errors = []
    for h in DENSE_STEPS:
        mine = dense_times(h)
        run = follow(flow, x, 1.0, at=mine, method=method, step=h)
        assert run.states is not None
        true = torch.stack([accurate_states(make)[t] for t in mine])
        errors.append(float((run.states[: len(mine)] - true).abs().max()))
        assert torch.equal(run.final, follow(flow, x, 1.0, method=method, step=h).final)
    slope = np.polyfit(np.log(DENSE_STEPS), np.log(errors), 1)[0]
    assert DENSE_ORDER[method] - 0.35 < slope < DENSE_ORDER[method] + 1.6


def kinked(seed: int = 31, d: int = 40) -> tuple[Any, Tensor]:
    """A modulated score whose scales are smooth in most coordinates and have kinks in the others, and tokens."""
    generator = torch.Generator().manual_seed(seed)
    square, frequency, phase = (torch.rand(*shape, generator=generator).double() for shape in ((d, d), (d,), (d,)))
    square -= 0.5

    def head(t: float) -> RowScaled:
        return RowScaled(torch.sin(frequency * t + 3 * phase).abs() + 0.5, square)

    return head, problem("causal-flow", {"P": head}).retract(random_tokens(32, 20, d, seed=seed + 1))


@cache
def accurate_kinked() -> Tensor:
    """What the runs at every tolerance are held to at time 2."""
    head, x = kinked()
    return follow(problem("causal-flow", {"P": head}), x, 2.0, rtol=1e-12, atol=1e-13, reduce=False).final


def scores_of(head: Any, x: Tensor) -> CompressedScore:
    reduction = problem("causal-flow", {"P": head}).span_reduction(x)
    assert reduction is not None
    assert reduction.problem.fused is not None
    (score,) = reduction.problem.fused.scores
    return score


STEPS = [[start + 0.1 * c for c in (0.2, 0.3, 0.8, 8 / 9, 1.0)] for start in (0.0, 0.1, 0.2, 0.3, 0.4)]


@pytest.mark.parametrize("within", [1e-3, 1e-6, 1e-9, 0.0])
def test_interpolated_scores_are_within_what_was_asked_for(within: float) -> None:
    """``|G - G_exact|`` is at most the largest scale left out times ``|Q|^T |M' Q|``; tolerance 0 interpolates nothing."""
    head, x = kinked()
    fast, slow = scores_of(head, x), scores_of(head, x)
    most = float((fast.basis.abs().mT @ (head(0.0).matrix @ fast.basis).abs()).max())
    worst = 0.0
    for times in STEPS:
        fast.prepare(times, within)
        for t in times:
            worst = max(worst, float((fast.at(t) - slow.at(t)).abs().max()))
    assert worst <= 1.5 * within * most + 1e-14 * most
    assert worst > 1e-12 or within < 1e-6  # it is really used
    assert worst == 0 or within > 0


def test_kinks_are_multiplied_and_smooth_columns_are_not() -> None:
    times, known = [0.55, 0.6, 0.7], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]

    def scales(t: float) -> np.ndarray:
        return np.array([1 + t, t**2, math.sin(t), abs(t - 0.58), 2.0] * 80)

    rows = np.stack([scales(t) for t in times])
    plan = cheapest_plan(times, {t: scales(t) for t in known}, rows, 1e-5)
    assert set(plan.columns) == {k for k in range(400) if k % 5 == 3}
    assert plan.whole == [0.7]
    assert plan.others == [0.55, 0.6]
    for k, t in enumerate(plan.others):
        read = sum(w * scales(node) for w, node in zip(plan.weights[k], plan.nodes, strict=True))
        read[plan.columns] += plan.rest[k]
        assert np.abs(read - scales(t)).max() <= 1e-5
    assert cheapest_plan(times, {}, rows, 0.0).whole == times
    noise = np.random.default_rng(3).normal(size=(3, 400))
    assert cheapest_plan(times, {t: scales(t) for t in known}, noise, 1e-5).others == []  # nothing to be had


def test_far_nodes_with_large_weights_are_not_used() -> None:
    known = {0.0: np.zeros(40), 1e-3: np.zeros(40), 2e-3: np.zeros(40)}
    plan = cheapest_plan([1.0, 2.0], known, np.zeros((2, 40)), 1e-6)
    assert all(abs(each).sum() <= 30 for each in plan.weights)


def test_a_matrix_that_moves_with_its_scales_is_not_taken_for_a_fixed_one() -> None:
    """``diag(s(t)) M(t)`` with M changing between the stages of a step: each time has its own matrix."""
    scale, square = torch.rand(7).double(), torch.rand(7, 7).double()
    flow = problem("causal-flow", {"P": lambda t: RowScaled((1 + t) * scale, math.cos(t) * square)})
    x = flow.retract(random_tokens(2, 3, 7, seed=32))
    reduction = flow.span_reduction(x)
    assert reduction is not None
    assert reduction.problem.fused is not None
    reduction.problem.fused.prepare([0.1, 0.5, 0.9], 1e-3)
    for t in (0.1, 0.5, 0.9, 1.3):
        fast = reduction.lift(reduction.problem.advance(reduction.coordinates, t))
        assert torch.allclose(fast, flow.advance(x, t), atol=1e-12), t


@pytest.mark.parametrize(
    ("rtol", "factor"), [(1e-5, 1.01), (1e-7, 1.01), pytest.param(1e-9, 3.0, marks=pytest.mark.slow)]
)
def test_the_reduced_run_is_as_accurate_as_the_whole_one(rtol: float, factor: float) -> None:
    """Kinks and all: against a much tighter run the error with interpolated scores is that without them.

    At the tightest tolerance rounding decides which attempts at a kink are accepted, and the errors scatter.
    """
    head, x = kinked()
    flow = problem("causal-flow", {"P": head})
    errors = [
        float((follow(flow, x, 2.0, rtol=rtol, atol=1e-3 * rtol, reduce=way).final - accurate_kinked()).abs().max())
        for way in (True, False)
    ]
    assert errors[0] <= factor * errors[1]


def test_exponentials_do_not_overflow_whatever_is_hidden() -> None:
    """A hidden token with a huge score must not decide the scale of the others."""
    scores = torch.tensor([[[-900.0, 5000.0], [800.0, 799.0]]], dtype=torch.float64)
    found = exponentials(scores.clone(), torch.tensor([[1.0, 0.0], [1.0, 1.0]], dtype=torch.float64))
    shares = found / found.sum(-1, keepdim=True)
    assert torch.allclose(shares, torch.tensor([[[1.0, 0.0], [0.7310585786300049, 0.2689414213699951]]]).double())


def test_euler_inside_rk4_would_be_noticed() -> None:
    """The mistake of mixing stages (STYLE) drops the slope to one: the slope test above would reject it."""
    flow = sphere()
    x = flow.retract(det_tokens(4, 3))
    exact = follow(flow, x, 1.0, rtol=1e-13, atol=1e-14).final
    errors = []
    for steps in (8, 16, 32):
        y = x
        for _ in range(steps):
            y = flow.retract(y + flow.advance(y) / steps)
        errors.append(float((y - exact).abs().max()))
    assert math.log2(errors[1] / errors[2]) < 1.3


def test_logistic_solution_of_the_two_token_causal_flow() -> None:
    """``a' = c (1 - a^2)`` and, for P = 0, c = 1/(2 sqrt d): a = tanh(artanh a0 + c t)."""
    a0 = 0.3
    x = tensor([[1.0, 0.0, 0.0], [a0, math.sqrt(1 - a0 * a0), 0.0]])
    flow = problem("causal-flow", {"P": torch.zeros(3, 3)})
    times = [0.5, 2.0, 7.0]
    run = follow(flow, x, 7.0, at=times, rtol=1e-11, atol=1e-13)
    assert run.states is not None
    for t, state in zip(times, run.states, strict=True):
        expected = math.tanh(math.atanh(a0) + t / (2 * math.sqrt(3)))
        assert float(state[0] @ state[1]) == pytest.approx(expected, abs=1e-10)
    # sheet AB-L5.1: a0 = 0.3 and unit integral of the weight
    one = follow(flow, x, 2 * math.sqrt(3), rtol=1e-11, atol=1e-13).final
    assert float(one[0] @ one[1]) == pytest.approx(0.864153808773191, abs=1e-10)


def test_first_integral_of_the_two_token_planar_oja_flow() -> None:
    flow = problem("oja-flow", {"V": torch.diag(tensor([1.0, -0.5]))})
    angles = tensor([[0.3, 1.1], [2.0, 2.9], [-1.0, 0.4]])
    x = torch.stack((angles.cos(), angles.sin()), dim=-1)
    before = planar_first_integral(x, 1.0, -0.5)
    run = follow(flow, x, 3.0, rtol=1e-11, atol=1e-13, at=[1.0, 2.0, 3.0])
    assert run.states is not None
    for state in run.states:
        assert torch.allclose(planar_first_integral(state, 1.0, -0.5), before, rtol=1e-8)
    wrong = planar_first_integral(run.states[-1], 1.0, -0.4)
    assert not torch.allclose(wrong, planar_first_integral(x, 1.0, -0.4), rtol=1e-3)


def test_sheet_vectors() -> None:
    flow = ellipsoid()
    x = flow.retract(det_tokens(4, 3))
    assert float(ellipsoid_potential(x, det_spd(3))) == pytest.approx(-11.037455826366, abs=1e-11)
    late = follow(flow, x, 10.0, rtol=1e-11, atol=1e-13).final
    assert float(ellipsoid_potential(late, det_spd(3))) == pytest.approx(-21.553193064631, abs=1e-9)
    # AB-T5.1: angles (0, pi/2, 2.5), P = 0, causal, t = 10
    angles = tensor([0.0, math.pi / 2, 2.5])
    causal = problem("causal-flow", {"P": torch.zeros(2, 2)})
    end = follow(causal, torch.stack((angles.cos(), angles.sin()), -1), 10.0, rtol=1e-11, atol=1e-13).final
    assert torch.allclose(
        torch.atan2(end[:, 1], end[:, 0]), tensor([0, 0.058269893251061, 0.122405313752801]), atol=1e-10
    )
    # PH-T3: tokens 1, 2 with W = B = 1
    line = problem("token-flow", {"B": [[1.0]], "W": [[1.0]]})
    pair = follow(line, tensor([[1.0], [2.0]]), 1.0, rtol=1e-12, atol=1e-12).final.flatten()
    assert torch.allclose(pair, tensor([4.277052270387, 5.345525517893]), atol=1e-9)


def test_backwards_returns_to_the_start() -> None:
    flow = sphere()
    x = flow.retract(det_tokens(4, 3))
    there = follow(flow, x, 1.0, rtol=1e-11, atol=1e-13).final
    assert torch.allclose(follow(flow, there, 0.0, start=1.0, rtol=1e-11, atol=1e-13).final, x, atol=1e-9)


def test_the_span_reduction_changes_nothing_but_the_cost() -> None:
    d, n = 40, 5
    generator = torch.Generator().manual_seed(3)
    square = torch.randn(d, d, generator=generator, dtype=torch.float64) / math.sqrt(d)
    phase = torch.rand(d, generator=generator, dtype=torch.float64)
    heads = [
        {"P": lambda t, s=square: RowScaled((2 * torch.sin(phase * t + phase)).abs(), s)},
        {"P": square.mT.clone()},
    ]
    flow = problem("ellipsoid-multihead-flow", {"heads": heads, "W": None}, "causal")
    x = random_tokens(3, n, d, seed=4)
    reduction = flow.span_reduction(x)
    assert reduction is not None
    assert reduction.coordinates.shape == (3, n, n)
    whole = follow(flow, x, 4.0, rtol=1e-10, atol=1e-12, reduce=False).final
    assert torch.allclose(follow(flow, x, 4.0, rtol=1e-10, atol=1e-12).final, whole, atol=1e-7)
    assert problem("causal-flow", {"U": square, "P": square}).span_reduction(x) is None


def test_batch_members_agree_with_single_runs() -> None:
    flow = sphere()
    x = random_tokens(4, 5, 3, seed=5)
    whole = follow(flow, x, 2.0, rtol=1e-10, atol=1e-12).final
    assert torch.allclose(whole[2], follow(flow, x[2], 2.0, rtol=1e-10, atol=1e-12).final, atol=1e-8)


def test_scipy_agrees() -> None:
    from scipy.integrate import solve_ivp

    flow = sphere()
    x = flow.retract(det_tokens(4, 3))

    def field(t: float, y: np.ndarray) -> np.ndarray:
        return flow.advance(flow.retract(torch.from_numpy(y.copy()).reshape(4, 3))).flatten().numpy()

    peer = solve_ivp(field, (0, 3), x.flatten().numpy(), rtol=1e-10, atol=1e-12).y[:, -1]
    assert np.abs(peer - follow(flow, x, 3.0, rtol=1e-10, atol=1e-12).final.flatten().numpy()).max() < 1e-8


def test_stops_at_convergence_and_observes_without_keeping() -> None:
    flow = ellipsoid()
    run = follow(
        flow, flow.retract(det_tokens(4, 3)), 1e4, at=[0, 1, 2, 5e3], keep=False, stop_speed=1e-8, rtol=1e-10,
        observe=lambda t, y: {"V": float(ellipsoid_potential(y, det_spd(3)))},
    )  # fmt: skip
    assert bool(run.settled)
    assert run.end < 1e3
    assert run.states is None
    assert run.observed["V"][-1] == pytest.approx(-8 * math.e, abs=1e-6)
    assert sorted(run.observed["V"], reverse=True) == run.observed["V"]


def test_layer_varying_weights_are_functions_of_the_layer() -> None:
    matrices = [det_spd(3), 2 * det_spd(3)]
    varying = problem("oja-map", {"V": lambda layer: matrices[int(layer) % 2], "alpha": 0.1})
    x = varying.retract(det_tokens(4, 3))
    by_hand = x
    for k in range(5):
        by_hand = problem("oja-map", {"V": matrices[k % 2], "alpha": 0.1}).advance(by_hand)
    assert torch.allclose(iterate(varying, x, 5).final, by_hand, rtol=0, atol=1e-14)


def test_maps_flow_and_bad_input_are_told_apart() -> None:
    flow = sphere()
    with pytest.raises(ValueError, match="is a map"):
        follow(problem("oja-map", {"V": det_spd(3), "alpha": 0.1}), det_tokens(4, 3), 1.0)
    with pytest.raises(ValueError, match="is a flow"):
        iterate(flow, det_tokens(4, 3), 3)
    with pytest.raises(ValueError, match="fixed step"):
        follow(flow, det_tokens(4, 3), 1.0, method="rk4")
    with pytest.raises(ValueError, match="alpha is missing"):
        problem("oja-map", {"V": det_spd(3)})
    with pytest.raises(ValueError, match="finite"):
        follow(flow, torch.full((2, 3), math.nan), 1.0)
    assert flow.system.space is Space.SPHERE


def test_divergence_is_reported_not_hidden() -> None:
    line = problem("token-flow", {"B": [[1.0]], "W": [[1.0]]})
    run = follow(line, tensor([[1.0], [2.0]]), 1e4, max_steps=1500)
    assert not bool(run.finite) or float(run.final.abs().max()) > 1e100


def test_large_batches_are_cut_without_changing_anything() -> None:
    step = problem("attention-map", {"V": det_spd(3), "M": det_matrix(3), "alpha": 0.3})
    x = random_tokens(CHUNK // 4, 4, 3, seed=6)
    assert x.numel() > 2 * CHUNK
    whole, part = iterate(step, x, 7), iterate(step, x[5000:5003], 7)
    assert torch.allclose(whole.final[5000:5003], part.final, atol=1e-14)
    assert torch.allclose(whole.previous[5000:5003], part.previous, atol=1e-14)
    each = det_spd(3).expand(len(x), 3, 3) * torch.linspace(0.5, 2, len(x), dtype=torch.float64).reshape(-1, 1, 1)
    own = iterate(problem("oja-map", {"V": each, "alpha": 0.3}), x, 3)
    alone = iterate(problem("oja-map", {"V": each[77], "alpha": 0.3}), x[77], 3)
    assert torch.allclose(own.final[77], alone.final, atol=1e-14)


def fused_cases() -> dict[str, tuple[str, Any, Any]]:
    generator = torch.Generator().manual_seed(11)

    def square() -> Tensor:
        return torch.randn(7, 7, generator=generator, dtype=torch.float64)

    first, second, third = square(), square(), square()
    scale = torch.rand(7, generator=generator, dtype=torch.float64)
    each = torch.stack([square() for _ in range(3)])
    moving = {"P": lambda t: RowScaled((1 + t) * scale, first)}
    other = {"P": lambda t: RowScaled(math.cos(t) * scale, second)}
    metric = square()
    return {
        "two modulated heads": ("ellipsoid-multihead-flow", {"heads": [moving, other], "W": None}, "causal"),
        "modulated, moving and constant": (
            "ellipsoid-multihead-flow",
            {"heads": [moving, {"P": lambda t: math.sin(t) * third}, {"P": third}], "W": metric @ metric.mT},
            "full",
        ),
        "one matrix an instance": ("causal-flow", {"P": each}, "causal"),
        "any mask": ("causal-flow", {"P": first}, [[1, 0, 0], [1, 1, 0], [1, 0, 1]]),
        "modulated an instance": (
            "causal-flow",
            {"P": lambda t: RowScaled(torch.stack([scale, 2 * scale, t * scale]), first)},
            "causal",
        ),
    }


@pytest.mark.parametrize("name", fused_cases())
def test_fused_heads_are_the_heads_one_by_one(name: str) -> None:
    """The kernel of the reduced flow against the system's own definition, at several times and in any order of them."""
    system, parameters, mask = fused_cases()[name]
    flow = problem(system, parameters, mask)
    x = flow.retract(random_tokens(3, 3, 7, seed=12), 0.0)
    reduction = flow.span_reduction(x)
    assert reduction is not None
    assert reduction.problem.fused is not None
    for t in (0.3, 0.3, 1.1, 0.3):
        fast = reduction.lift(reduction.problem.advance(reduction.coordinates, t))
        assert torch.allclose(fast, flow.advance(x, t), atol=1e-12), t
    reduction.problem.fused.prepare([0.2, 0.7, 0.2, 1.1])
    for t in (1.1, 0.7, 0.2, 0.5):
        fast = reduction.lift(reduction.problem.advance(reduction.coordinates, t))
        assert torch.allclose(fast, flow.advance(x, t), atol=1e-12), t
    slow = Problem(flow.system, reduction.problem.parameters, flow.mask, reduction.problem.algebra)
    assert torch.allclose(
        slow.advance(reduction.coordinates, 1.1), reduction.problem.advance(reduction.coordinates, 1.1)
    )


def test_large_products_of_floats_keep_all_their_bits_and_fill_the_place_that_is_given() -> None:
    """oneDNN where it is there: sums of 300 products as near as float32 sums are, from strided factors and into a part."""
    generator = torch.Generator().manual_seed(52)
    a, b = (torch.randn(300, 300, generator=generator) for _ in range(2))
    assert a.numel() * b.shape[1] >= WIDE
    for left, right in ((a, b), (a, b.mT), (a.mT, b), (a[::2, 1:], b[1:])):
        exact, bound = left.double() @ right.double(), left.double().abs() @ right.double().abs()
        place = torch.zeros(2, *exact.shape)
        for made in (product(left, right), product(left, right, place[1])):
            assert made.dtype is torch.float32
            assert float(((made.double() - exact).abs() / bound).max()) < 2e-6  # factors of 8 bits: 1e-3
        assert torch.equal(place[1], product(left, right)) and not place[0].any()


@pytest.mark.parametrize("asked", ["medium", "of one backend"])
def test_a_lower_precision_that_the_user_asks_torch_for_is_not_taken(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> str:
        if asked == "medium":
            return asked
        raise RuntimeError("mix of the legacy and new APIs")

    monkeypatch.setattr(torch, "get_float32_matmul_precision", told)
    assert not whole_floats()
    a = torch.randn(300, 300, generator=torch.Generator().manual_seed(53))
    assert torch.equal(product(a, a), torch.from_numpy(a.numpy() @ a.numpy()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_small_products_are_products_in_every_arithmetic_and_with_gradients(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(51)
    a, b = (torch.randn(3, 4, 5, generator=generator).to(dtype) for _ in range(2))
    for left, right in ((a, b.mT), (a[:, 1:, :3], b[:, :2, :3].mT), (a.mT, b)):
        assert torch.allclose(product(left, right).double(), (left @ right).double(), rtol=1e-5)
        assert product(left, right).dtype is dtype
    needed = a.clone().requires_grad_()
    product(needed, b.mT).sum().backward()
    assert needed.grad is not None
    assert torch.allclose(needed.grad, b.sum(-2, keepdim=True).expand_as(a), rtol=1e-2)


@pytest.mark.parametrize("n", [24, 50])
def test_causal_blocks_leave_out_only_zeros(n: int) -> None:
    """Enough tokens for several blocks, some of them dependent: the pushes and whole runs agree with the definition."""
    d = n + 10
    generator = torch.Generator().manual_seed(21)
    square = torch.randn(d, d, generator=generator, dtype=torch.float64) / 3
    scale = torch.rand(d, generator=generator, dtype=torch.float64)
    heads = [{"P": lambda t: RowScaled((1 + t) * scale, square)}, {"P": square.mT.contiguous()}]
    flow = problem("ellipsoid-multihead-flow", {"heads": heads, "W": None}, "causal")
    x = random_tokens(2, n, d, seed=22)
    x[:, 5] = x[:, 3]
    x[:, 20] = -x[:, 4]
    reduction = flow.span_reduction(x)
    assert reduction is not None
    assert reduction.problem.fused is not None
    assert reduction.problem.fused.triangular
    assert torch.allclose(reduction.lift(reduction.coordinates), x, atol=1e-13)
    fast = reduction.problem.advance(reduction.coordinates, 0.4)
    assert torch.equal(fast, fast.tril())
    assert torch.allclose(reduction.lift(fast), flow.advance(x, 0.4), atol=1e-12)
    whole = follow(flow, x, 2.0, rtol=1e-9, atol=1e-11, reduce=False).final
    assert torch.allclose(follow(flow, x, 2.0, rtol=1e-9, atol=1e-11).final, whole, atol=1e-6)
    full = problem("ellipsoid-multihead-flow", {"heads": heads, "W": None}).span_reduction(x)
    assert full is not None
    assert full.problem.fused is not None
    assert not full.problem.fused.triangular


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few instances at a time, on any number of threads."""
    monkeypatch.setattr("eigentoken.numerics.dynamics.flows.CHUNK", 4000 // torch.get_num_threads())


def large_batch(values: bool = False) -> tuple[Problem, Tensor]:
    """40 instances of 30 tokens in R^40, causal, two heads, one modulated; or one head with a value matrix."""
    d, generator = 40, torch.Generator().manual_seed(61)
    first, second, value = (torch.randn(d, d, generator=generator, dtype=torch.float64) / 6 for _ in range(3))
    scale = torch.rand(d, generator=generator, dtype=torch.float64)
    listed = [{"P": lambda t: RowScaled(torch.cos(t * scale), first)}, {"P": second}]
    if values:
        flow = problem("causal-flow", {"U": value, "P": lambda t: RowScaled(torch.cos(t * scale), first)})
    else:
        flow = problem("ellipsoid-multihead-flow", {"heads": listed, "W": None}, "causal")
    return flow, random_tokens(40, 30, d, seed=62)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("values", [False, True])
def test_a_batch_is_stepped_in_parts_and_every_part_is_the_definition(values: bool) -> None:
    flow, x = large_batch(values=values)
    assert len(parts(flow.at(0.0, x), x)) > 1
    assert flow.at(0.3, x).whole is not None
    assert torch.allclose(flow.at(0.3, x).advance(x, 0.3), flow.advance(x, 0.3), rtol=0, atol=1e-13)
    at = [0.0, 0.11, 0.4, 0.5]
    run = follow(flow, x, 0.5, at=at, step=0.125, reduce=False)
    assert run.states is not None
    for k in (0, 21, 39):
        alone = follow(flow, x[k], 0.5, at=at, step=0.125, reduce=False)
        assert alone.states is not None
        assert torch.allclose(run.states[:, k], alone.states, rtol=0, atol=1e-12)
    assert run.evaluations == alone.evaluations


def test_work_in_place_is_for_many_plain_numbers_alone() -> None:
    flow, x = large_batch(values=True)
    assert flow.at(0.0, x).whole is not None
    assert flow.at(0.0, x[:1]).whole is None
    assert flow.at(0.0, x.to(torch.bfloat16)).whole is None
    assert flow.at(0.0, x.clone().requires_grad_()).whole is None
    learned = problem("attention-flow", {"V": torch.eye(40).double().requires_grad_(), "M": torch.eye(40).double()})
    assert learned.at(0.0, x).whole is None
    own = problem("attention-flow", {"V": torch.eye(40).double().expand(40, 40, 40), "M": torch.eye(40).double()})
    assert own.at(0.0, x).whole is None
    assert parts(own.at(0.0, x), x) == [slice(None)]


@pytest.mark.usefixtures("small_parts")
def test_a_function_is_called_once_for_all_parts_and_may_give_each_instance_its_own_matrix() -> None:
    x = large_batch()[1]
    square = torch.randn(40, 40, generator=torch.Generator().manual_seed(63), dtype=torch.float64) / 6
    called: list[float] = []

    def score(t: float) -> Tensor:
        called.append(t)
        return square if t < 0.3 else square.expand(len(x), 40, 40)

    def still(t: float) -> Tensor:
        return square

    own, shared = (
        problem("ellipsoid-multihead-flow", {"heads": [{"P": each}], "W": None}, "causal") for each in (score, still)
    )
    assert len(parts(own.at(0.0, x), x)) > 1
    assert own.at(0.5, x).batched
    called.clear()
    split = follow(own, x, 0.5, step=0.25, reduce=False)
    assert torch.allclose(split.final, follow(shared, x, 0.5, step=0.25, reduce=False).final, rtol=0, atol=1e-12)
    assert len(called) == len(set(called))


@pytest.mark.usefixtures("small_parts")
def test_adaptive_steps_take_the_worst_part() -> None:
    """One instance of the last part is fast: the step of the whole batch is its step."""
    flow, x = large_batch()
    x[-1] = torch.randn(30, 40, generator=torch.Generator().manual_seed(64), dtype=torch.float64)
    x[:-1] = x[0, :1]
    x = flow.retract(x)
    whole, alone = (follow(flow, each, 4.0, rtol=1e-10, atol=1e-12, reduce=False) for each in (x, x[-1]))
    assert (whole.steps, whole.rejected) == (alone.steps, alone.rejected)
    assert torch.allclose(whole.final[-1], alone.final, rtol=0, atol=1e-12)
    calm = follow(flow, x[:-1], 4.0, rtol=1e-10, atol=1e-12, reduce=False)
    assert calm.steps < whole.steps


def _many(size: float, sharp: float, values: bool) -> tuple[Problem, Tensor]:
    """Enough unit tokens for scores in float32; ``sharp`` is the size of the scores, ``size`` that of the values."""
    source = torch.Generator().manual_seed(5)
    draw = lambda: torch.randn(64, 64, generator=source, dtype=torch.float64) / 8  # noqa: E731
    V = size * draw() if values else torch.eye(64, dtype=torch.float64)
    return problem("attention-flow", {"V": V, "M": sharp * draw()}), random_tokens(32, 32, 64, seed=2)


@pytest.mark.parametrize("sharp", [1.0, 10.0, 100.0, 300.0])
@pytest.mark.parametrize("values", [False, True])
def test_scores_in_single_precision_change_a_run_by_less_than_its_tolerance(
    sharp: float, values: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many steps, the same error against a sharp reference, unit tokens to the last bits: also where scores are large."""
    flow, x = _many(2.0, sharp, values)
    end = 1.0 if sharp < 100 else 0.3
    exact = follow(flow, x, end, rtol=1e-9, atol=1e-11, reduce=False).final
    single = follow(flow, x, end, reduce=False)
    monkeypatch.setattr("eigentoken.numerics.dynamics.flows.SINGLE", -1.0)
    double = follow(flow, x, end, reduce=False)
    if sharp != 10.0:  # float32 was there, or was left at once
        assert torch.equal(single.final, double.final) == (sharp > 1.0)
    assert (single.steps, single.rejected) == (double.steps, double.rejected)
    errors = [float((each.final - exact).norm(dim=-1).max()) for each in (single, double)]
    assert errors[0] <= 1.1 * errors[1]
    assert float((single.final.norm(dim=-1) - 1).abs().max()) < 1e-15


def test_single_precision_ends_where_it_would_show() -> None:
    """At a sharp tolerance float32 is left before the first step, and the first velocity is found again."""
    flow, x = _many(2.0, 1.0, True)
    seen: list[int] = []

    class Seen(Problem):
        def at(self, t: Any, like: Tensor, single: bool = False) -> Problem:
            now = super().at(t, like, single)
            seen.append(int(now.whole is not None and now.whole.singles is not None))
            return now

    watched = Seen(flow.system, flow.parameters, flow.mask)
    follow(watched, x, 0.05, reduce=False)
    assert seen and all(seen)
    seen.clear()
    sharp = follow(watched, x, 0.05, rtol=1e-10, atol=1e-13, reduce=False)
    assert seen == [1, 0]
    fixed = follow(flow, x, 0.05, step=0.01, reduce=False)
    assert torch.allclose(sharp.final, fixed.final, rtol=0, atol=1e-9)


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("values", [False, True])
def test_what_single_precision_changes_is_measured_at_tokens(values: bool, mask: str) -> None:
    """The probe against whole pushes in both arithmetics: no more than the worst token, and not much less."""
    flow, x = _many(2.0, 30.0, values)
    made = problem("attention-flow", dict(flow.parameters), mask)
    single, double = (made.at(0.0, x, each).whole for each in (True, False))
    assert single is not None and double is not None and single.singles and not double.singles
    moved = single(x.float())
    assert moved.dtype is torch.float32 and torch.equal(single(x), double(x))
    worst = float((moved - double(x)).norm(dim=-1).max())
    assert 0 < single.rounding(x) <= 1.5 * worst
    assert single.rounding(x) >= worst / 20


def test_single_precision_is_for_many_unit_doubles_alone() -> None:
    """Not with fixed steps, in Euclidean space, on an ellipsoid, for few tokens, or where a run waits for a small speed."""
    used: list[bool] = []

    class Seen(Problem):
        def at(self, t: Any, like: Tensor, single: bool = False) -> Problem:
            now = super().at(t, like, single)
            used.append(now.whole is not None and now.whole.singles is not None)
            return now

    flow, x = _many(1.0, 1.0, True)

    def asked(given: Problem = flow, start: Tensor = x, **options: Any) -> bool:
        used.clear()
        follow(Seen(given.system, given.parameters, given.mask), start, 0.01, reduce=False, **options)
        assert len(set(used)) == 1
        return used[0]

    assert asked()
    assert not asked(step=0.005) and not asked(stop_speed=1e-12)
    assert not asked(start=x.float()) and not asked(start=x[:8])
    euclidean = problem("token-flow", {"B": flow.parameters["V"], "W": flow.parameters["M"]})
    assert not asked(euclidean)
    metric = problem("ellipsoid-flow", {"P": 2 * torch.eye(64, dtype=torch.float64)})
    assert not asked(metric, metric.retract(x))


@pytest.mark.parametrize("later", ["a matrix for each instance", "entries without a place in float32"])
def test_single_precision_ends_where_later_matrices_have_none(later: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a run; the steps before are as they were, and the rest is in the arithmetic of the tokens."""
    flow, x = _many(2.0, 1.0, True)
    M = flow.parameters["M"]
    other = M.expand(len(x), -1, -1).contiguous()
    if later.startswith("entries"):
        most = float(flow.parameters["V"].abs().max())
        monkeypatch.setattr("eigentoken.numerics.dynamics.whole_heads.SINGLE_RANGE", 1.01 * most)
        other = M.clone()
        other[0, 0] = 1.02 * most
    moving = problem("attention-flow", {"V": flow.parameters["V"], "M": lambda t: other if t > 0.5 else M})
    used: list[bool] = []

    class Seen(Problem):
        def at(self, t: Any, like: Tensor, single: bool = False) -> Problem:
            now = super().at(t, like, single)
            used.append(now.whole is not None and now.whole.singles is not None)
            return now

    run = follow(Seen(moving.system, moving.parameters, moving.mask), x, 1.0, reduce=False)
    assert used[0] and not used[-1] and run.end == 1.0
    monkeypatch.setattr("eigentoken.numerics.dynamics.flows.SINGLE", -1.0)
    double = follow(moving, x, 1.0, reduce=False)
    assert (run.steps, run.rejected) == (double.steps, double.rejected)
    exact = follow(moving, x, 1.0, rtol=1e-9, atol=1e-11, reduce=False).final
    errors = [float((each.final - exact).norm(dim=-1).max()) for each in (run, double)]
    assert errors[0] <= 1.1 * errors[1] and not torch.equal(run.final, double.final)


def test_scores_too_large_for_single_precision_stay_double() -> None:
    _, x = _many(1.0, 1.0, True)
    one = torch.eye(64, dtype=torch.float64)
    for V, M in ((1.0, 1e30), (1e30, 1.0)):
        whole = problem("attention-flow", {"V": V * one, "M": M * one}).at(0.0, x, single=True).whole
        assert whole is not None and whole.singles is None
        assert torch.isfinite(whole(x)).all()


def test_a_gradient_passes_through_an_integration_that_is_not_reduced() -> None:
    start = random_tokens(1, 4, 3, seed=65)[0]
    V, M = (torch.eye(3, dtype=torch.float64) * k for k in (0.5, 2.0))

    def end(matrix: Tensor) -> Tensor:
        return follow(problem("attention-flow", {"V": V, "M": matrix}), start, 0.5, step=0.25).final.sum()

    needed = M.clone().requires_grad_()
    end(needed).backward()
    assert needed.grad is not None
    step = torch.zeros_like(M)
    step[0, 1] = 1e-6
    slope = float(end(M + step) - end(M - step)) / 2e-6
    assert float(needed.grad[0, 1]) == pytest.approx(slope, abs=1e-7)
