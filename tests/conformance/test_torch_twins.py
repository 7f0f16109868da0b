"""Every system of theory, in torch: tangent, odd, equivariant, differentiable as claimed, and equal to the loops.

The systems of another package (tests/third_party) inherit the suite; oddness is asked of the papers' equation only.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.array_problem import array_problem
from eigentoken.numerics.dynamics.matrices import RotaryMatrix, RowScaled
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra, UniformWeights, mask_tensor
from eigentoken.numerics.instances.batches import Wave
from eigentoken.theory.systems import catalogue
from eigentoken.theory.systems.algebra import LoopAlgebra, causal_mask, full_mask
from eigentoken.theory.systems.catalogue import SYSTEMS
from eigentoken.theory.systems.hard_attention import HARD
from eigentoken.theory.systems.placements import PLACEMENTS
from eigentoken.theory.systems.system import Space, System, Time


def systems_of_others() -> Mapping[str, System]:
    """What the package in tests/third_party registers; nothing of it stays registered."""
    place = Path(__file__).resolve().parents[1] / "third_party" / "zoo_systems.py"
    spec = importlib.util.spec_from_file_location("zoo_systems", place)
    assert spec is not None
    assert spec.loader is not None
    before = dict(catalogue._ADDED)
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return {name: each for name, each in catalogue._ADDED.items() if name not in before}
    finally:
        catalogue._ADDED.clear()
        catalogue._ADDED.update(before)


TESTED = {**SYSTEMS, **PLACEMENTS, **HARD, **systems_of_others()}
ALL = sorted(TESTED)
N, D = 4, 3
MASKS: dict[str, Any] = {
    "full": None,
    "causal": "causal",
    "any": ((1, 0, 1, 0), (1, 1, 0, 0), (0, 0, 1, 1), (1, 1, 1, 1)),
}


def spd(generator: torch.Generator, d: int) -> Tensor:
    g = torch.randn(d, d, generator=generator, dtype=torch.float64)
    return g @ g.mT / d + 0.5 * torch.eye(d, dtype=torch.float64)


def instance(system: System, seed: int = 0, n: int = N, d: int = D, batch: tuple[int, ...] = ()) -> tuple[Any, Tensor]:
    """Random parameters and a state on the manifold of a system."""
    generator = torch.Generator().manual_seed(seed)

    def matrix() -> Tensor:
        return torch.randn(d, d, generator=generator, dtype=torch.float64)

    def drawn(kind: str) -> Any:
        if kind == "matrix":
            return matrix()
        numbers = torch.randn(d, generator=generator, dtype=torch.float64)
        return numbers if kind == "vector" else float(numbers[0])

    parameters: dict[str, Any] = {}
    if system.multihead:
        kinds = {each.name: each.kind for each in system.head_parameters}
        parameters["heads"] = [{name: drawn(kind) for name, kind in kinds.items()} for _ in range(2)]
    for each in system.parameters:
        if each.name != system.metric and each.kind not in {"heads", "step"}:
            parameters[each.name] = drawn(each.kind)
    if system.metric:
        parameters[system.metric] = spd(generator, d)
    if system.time is Time.MAP:
        parameters["alpha"] = 0.3
    x = torch.randn(*batch, n, d, generator=generator, dtype=torch.float64)
    return parameters, x if system.space is Space.EUCLIDEAN else TorchAlgebra().normalise(
        x, metric_of(system, parameters)
    )


def metric_of(system: System, parameters: Any) -> Tensor | None:
    return parameters[system.metric] if system.metric else None


def as_loops(parameters: Any, scalar: Any) -> Any:
    if isinstance(parameters, Tensor):
        return as_loops(parameters.tolist(), scalar)
    if isinstance(parameters, dict):
        return {name: as_loops(value, scalar) for name, value in parameters.items()}
    if isinstance(parameters, list):
        return [as_loops(value, scalar) for value in parameters]
    return scalar(parameters)


def loop_mask(name: str) -> Any:
    return {"full": full_mask(N), "causal": causal_mask(N), "any": MASKS["any"]}[name]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", ALL)
def test_equals_the_loops_in_float64_and_mpmath(name: str, mask: str) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=1)
    fast = system.advance(TorchAlgebra(), parameters, x, MASKS[mask])
    floats = system.advance(
        LoopAlgebra(math.exp, math.sqrt), as_loops(parameters, float), tuple(map(tuple, x.tolist())), loop_mask(mask)
    )
    assert torch.allclose(fast, torch.tensor(floats, dtype=torch.float64), rtol=1e-13, atol=1e-14)
    with mpmath.workdps(40):
        exact = system.advance(
            LoopAlgebra(mpmath.exp, mpmath.sqrt, mpmath.mpf(1)),
            as_loops(parameters, mpmath.mpf),
            tuple(tuple(map(mpmath.mpf, token)) for token in x.tolist()),
            loop_mask(mask),
        )
        error = max(
            abs(e - f)
            for row, fast_row in zip(exact, fast.tolist(), strict=True)
            for e, f in zip(row, fast_row, strict=True)
        )
    assert error < 1e-14


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", ALL)
def test_arrays_of_numpy_give_what_tensors_give(name: str, mask: str) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=3, batch=(3,))
    each = _for_each(parameters, 3)
    problem = Problem(system, each, MASKS[mask])
    arrays = array_problem(problem, N)
    assert np.allclose(arrays.advance(x.numpy()), problem.advance(x), rtol=1e-13, atol=1e-14)
    assert np.allclose(arrays.retract(2 * x.numpy()), problem.retract(2 * x), rtol=1e-13, atol=1e-14)


def _for_each(parameters: Any, count: int) -> Any:
    """Matrices, one for each instance: multiples of one."""
    if isinstance(parameters, dict):
        return {name: _for_each(value, count) for name, value in parameters.items()}
    if isinstance(parameters, list):
        return [_for_each(value, count) for value in parameters]
    if isinstance(parameters, Tensor) and parameters.ndim == 2:
        return torch.stack([parameters * (1 + k / 8) for k in range(count)])
    return parameters


def test_functions_of_time_have_the_values_of_each_instance_in_arrays() -> None:
    generator = torch.Generator().manual_seed(5)
    cosine, square = (torch.randn(3, D, D, generator=generator, dtype=torch.float64) for _ in range(2))
    wave = Wave(cosine, square, torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64))
    x = torch.nn.functional.normalize(torch.randn(3, N, D, generator=generator, dtype=torch.float64), dim=-1)
    times = torch.tensor([0.1, 2.0, 3.5], dtype=torch.float64)
    for time_dependent in (wave, lambda t: wave(t)):
        problem = Problem(TESTED["attention-flow"], {"V": cosine, "M": time_dependent}, "causal")
        arrays = array_problem(problem, N).at(times.numpy())
        assert np.allclose(arrays.advance(x.numpy()), problem.advance(x, times), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ALL)
def test_float32_and_batches_agree_with_float64_one_by_one(name: str) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=2, batch=(3, 2))
    whole = system.advance(TorchAlgebra(), parameters, x)
    for index in ((0, 0), (2, 1)):
        assert torch.allclose(
            whole[index], system.advance(TorchAlgebra(), parameters, x[index]), rtol=1e-13, atol=1e-14
        )
    half = {
        k: [{n: m.float() if isinstance(m, Tensor) else m for n, m in h.items()} for h in v]
        if k == "heads"
        else (v.float() if isinstance(v, Tensor) else v)
        for k, v in parameters.items()
    }
    single = system.advance(TorchAlgebra(), half, x.float())
    assert single.dtype is torch.float32
    assert torch.allclose(single.double(), whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in ALL if TESTED[name].space is not Space.EUCLIDEAN])
def test_stays_on_the_manifold(name: str) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=3, batch=(5,))
    moved = system.advance(TorchAlgebra(), parameters, x)
    metric = metric_of(system, parameters)
    weight = torch.eye(D, dtype=torch.float64) if metric is None else metric
    if system.time is Time.FLOW:
        assert ((x @ weight) * moved).sum(-1).abs().max() < 1e-13
    else:
        assert (((moved @ weight) * moved).sum(-1) - 1).abs().max() < 1e-13


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", [name for name in ALL if TESTED[name].standard])
def test_odd(name: str, mask: str) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=4)
    algebra = TorchAlgebra()
    assert torch.allclose(
        system.advance(algebra, parameters, -x, MASKS[mask]),
        -system.advance(algebra, parameters, x, MASKS[mask]),
        atol=1e-14,
    )


@pytest.mark.parametrize("name", ALL)
def test_permutation_equivariant_with_full_mask_only(name: str) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=5)
    order = torch.tensor([2, 0, 3, 1])
    algebra = TorchAlgebra()
    moved = system.advance(algebra, parameters, x)
    assert torch.allclose(system.advance(algebra, parameters, x[order]), moved[order], atol=1e-13)
    causal = system.advance(algebra, parameters, x, "causal")
    assert not torch.allclose(system.advance(algebra, parameters, x[order], "causal"), causal[order], atol=1e-3)


@pytest.mark.parametrize("name", ALL)
def test_jacobian_by_error_slope(name: str) -> None:
    """``|f(x + h v) - f(x) - h Df v| = O(h^2)``: the slope over a range of h is two."""
    system = TESTED[name]
    parameters, x = instance(system, seed=6)
    v = torch.randn(N, D, generator=torch.Generator().manual_seed(7), dtype=torch.float64)

    def advance(y: Tensor) -> Tensor:
        result: Tensor = system.advance(TorchAlgebra(), parameters, y)
        return result

    value, slope = torch.func.jvp(advance, (x,), (v,))
    steps = [2.0**-k for k in range(4, 12)]
    errors = [torch.linalg.vector_norm(advance(x + h * v) - value - h * slope).item() for h in steps]
    if name in HARD:  # affine where the largest scores are apart
        assert max(errors[-4:]) < 1e-14
        return
    order = (math.log(errors[2]) - math.log(errors[-1])) / (math.log(steps[2]) - math.log(steps[-1]))
    assert abs(order - 2) < 0.1


def test_parameters_may_depend_on_time() -> None:
    system = SYSTEMS["attention-flow"]
    parameters, x = instance(system, seed=8)
    moving = {"V": parameters["V"], "M": lambda t: math.cos(t) * parameters["M"]}
    expected = system.advance(TorchAlgebra(), {"V": parameters["V"], "M": math.cos(0.7) * parameters["M"]}, x)
    assert torch.equal(system.advance(TorchAlgebra(), moving, x, None, 0.7), expected)


def test_structured_matrices_equal_their_dense_form() -> None:
    generator = torch.Generator().manual_seed(9)
    scale, square = torch.randn(5, generator=generator, dtype=torch.float64), spd(generator, 5)
    x = torch.randn(2, 6, 5, generator=generator, dtype=torch.float64)
    basis = torch.linalg.qr(torch.randn(5, 3, generator=generator, dtype=torch.float64)).Q
    structured = RowScaled(scale, square)
    full = structured.dense()
    assert torch.allclose(structured.act(x), x @ full.mT, atol=1e-12)
    assert torch.allclose(structured.pair_scores(x), x @ full @ x.mT, atol=1e-12)
    assert torch.allclose(structured.compress(basis), basis.mT @ full @ basis, atol=1e-12)


def test_rotary_scores_equal_the_pairwise_matrices() -> None:
    generator = torch.Generator().manual_seed(10)
    query, key = (torch.randn(3, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    rotary = RotaryMatrix(query, key, torch.tensor([0.3, 0.05], dtype=torch.float64))
    x = torch.randn(N, D, generator=generator, dtype=torch.float64)
    by_pair = torch.tensor(
        [[(x[l] @ torch.tensor(rotary(l, i), dtype=torch.float64) @ x[i]).item() for i in range(N)] for l in range(N)],
        dtype=torch.float64,
    )
    assert torch.allclose(rotary.pair_scores(x), by_pair, atol=1e-12)
    system = SYSTEMS["token-flow"]
    parameters = {"B": torch.eye(D, dtype=torch.float64), "W": None, "pair_score": rotary}
    loops = system.advance(
        LoopAlgebra(math.exp, math.sqrt),
        as_loops({"B": parameters["B"]}, float) | {"pair_score": rotary},
        tuple(map(tuple, x.tolist())),
    )
    fast = system.advance(TorchAlgebra(), parameters, x)
    assert torch.allclose(fast, torch.tensor(loops, dtype=torch.float64), atol=1e-13)


def test_rotary_sheet_vector_pht7() -> None:
    """PH-T7, a = 2: W_21 and the velocity of token 1 at r = 0.6."""
    query = torch.diag(torch.tensor([2.0, 0.5], dtype=torch.float64))
    rotary = RotaryMatrix(query, torch.linalg.inv(query), torch.tensor([math.pi / 2], dtype=torch.float64))
    assert torch.allclose(torch.tensor(rotary(1, 0)), torch.tensor([[0.0, -4.0], [0.25, 0.0]]), atol=1e-12)
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64).unsqueeze(-1)
    x = signs * 0.6 / math.sqrt(2) * torch.ones(4, 2, dtype=torch.float64)
    velocity = SYSTEMS["token-flow"].advance(
        TorchAlgebra(), {"B": -torch.eye(2, dtype=torch.float64), "pair_score": rotary}, x
    )
    assert torch.allclose(velocity[0], torch.full((2,), 0.031531293916095, dtype=torch.float64), atol=1e-13)


def test_softmax_survives_huge_scores() -> None:
    system = SYSTEMS["attention-flow"]
    parameters, x = instance(system, seed=11)
    moved = system.advance(TorchAlgebra(), parameters | {"M": 1e6 * parameters["M"]}, x)
    assert torch.isfinite(moved).all()


def test_uniform_weights_build_no_square_array() -> None:
    x = torch.zeros(1, 200_000, 1)
    weights = TorchAlgebra().attention(x, None, "causal", False)
    assert isinstance(weights, UniformWeights)
    assert TorchAlgebra().average(weights, x).shape == x.shape


@pytest.mark.parametrize("bad", ["diagonal", [[1, 0]], [[1, 2], [0, 1]], [[1, 0], [0, 0]]])
def test_bad_masks_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="mask"):
        mask_tensor(bad, 2)


def test_a_wrong_twin_is_caught() -> None:
    """The comparison can fail: dividing by the key index instead of the query index is not the system."""

    class Wrong(TorchAlgebra):
        def attention(self, x: Tensor, score: Any, mask: Any, over_root_d: bool) -> Tensor:
            return torch.softmax(x @ score @ x.mT, dim=-2)

    system = SYSTEMS["attention-flow"]
    parameters, x = instance(system, seed=1)
    assert not torch.allclose(
        system.advance(Wrong(), parameters, x), system.advance(TorchAlgebra(), parameters, x), atol=1e-3
    )


@pytest.mark.parametrize("name", ALL)
def test_absolute_positions_added_in_every_layer(name: str) -> None:
    """PH-T6 (ii): positions are added to the tokens before anything else, in torch as in the loops."""
    system = TESTED[name]
    parameters, x = instance(system, seed=12)
    positions = torch.randn(N, D, generator=torch.Generator().manual_seed(13), dtype=torch.float64)
    fast = system.advance(TorchAlgebra(), parameters | {"positions": positions}, x)
    assert torch.allclose(fast, by_loops(system, parameters | {"positions": positions}, x), atol=1e-13)
    assert not torch.allclose(fast, system.advance(TorchAlgebra(), parameters, x), atol=1e-3)


def by_loops(system: System, parameters: Any, x: Tensor, mask: str = "full", t: Any = None) -> Tensor:
    """The loop-only oracle; functions of time stay functions, with loops inside."""
    moved = system.advance(
        LoopAlgebra(math.exp, math.sqrt), looped(parameters), tuple(map(tuple, x.tolist())), loop_mask(mask), t
    )
    return torch.tensor(moved, dtype=torch.float64)


def looped(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {name: value if name == "pair_score" else looped(value) for name, value in parameters.items()}
    if isinstance(parameters, list):
        return [looped(value) for value in parameters]
    return (lambda t: as_loops(parameters(t), float)) if callable(parameters) else as_loops(parameters, float)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", ALL)
def test_every_matrix_may_depend_on_time(name: str, mask: str) -> None:
    """P(t), U(t), W(t) of a flow, layer-varying weights of a map: each matrix of each head is its own function."""
    system = TESTED[name]
    parameters, x = instance(system, seed=14)

    def moving(matrix: Tensor, speed: float) -> Any:
        return lambda t: (1 + 0.3 * math.sin(speed * t)) * matrix

    def moved(group: Any, offset: int) -> Any:
        return {
            key: moving(value, offset + k) if isinstance(value, Tensor) else value
            for k, (key, value) in enumerate(group.items(), start=1)
        }

    varying = moved(parameters, 0)
    if system.multihead:
        varying["heads"] = [moved(head, 3 * h) for h, head in enumerate(parameters["heads"], start=1)]
    values = []
    for t in (0.0, 0.7, 2.0):
        point = x if system.space is Space.EUCLIDEAN else TorchAlgebra().normalise(x, metric_at(system, varying, t))
        fast = system.advance(TorchAlgebra(), varying, point, MASKS[mask], t)
        assert torch.allclose(fast, by_loops(system, varying, point, mask, t), rtol=1e-12, atol=1e-13)
        values.append(fast)
    if name in HARD:  # the largest score is where it was when all scores are multiplied by a positive number
        assert torch.equal(values[0], values[1])
        return
    assert not torch.allclose(values[0], values[1], atol=1e-4)


def metric_at(system: System, parameters: Any, t: float) -> Tensor | None:
    return parameters[system.metric](t) if system.metric else None


@pytest.mark.parametrize("heads", [1, 3, 5])
@pytest.mark.parametrize("name", [name for name in ALL if TESTED[name].multihead])
def test_any_number_of_heads(name: str, heads: int) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=15)
    parameters["heads"] = [instance(system, seed=20 + h)[0]["heads"][0] for h in range(heads)]
    fast = system.advance(TorchAlgebra(), parameters, x, "causal")
    assert torch.allclose(fast, by_loops(system, parameters, x, "causal"), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", [name for name in ALL if TESTED[name].score and not TESTED[name].writes_sublayer])
def test_rotary_positions_in_every_system(name: str, mask: str) -> None:
    system = TESTED[name]
    parameters, x = instance(system, seed=16)
    generator = torch.Generator().manual_seed(17)
    query, key = (torch.randn(D, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    rotary = RotaryMatrix(query, key, torch.tensor([0.9, 0.2], dtype=torch.float64))
    fast = system.advance(TorchAlgebra(), parameters | {"pair_score": rotary}, x, MASKS[mask])
    assert torch.allclose(fast, by_loops(system, parameters | {"pair_score": rotary}, x, mask), rtol=1e-12, atol=1e-13)
    still = RotaryMatrix(query, key, torch.zeros(2, dtype=torch.float64))
    unturned = system.advance(TorchAlgebra(), parameters | {"pair_score": still}, x, MASKS[mask])
    assert not torch.allclose(fast, unturned, atol=1e-4)


@pytest.mark.parametrize("name", ALL)
def test_equals_the_symbolic_definition(name: str) -> None:
    """The sympy twin at exact rational parameters, evaluated to 30 digits, for two tokens in the plane."""
    system = TESTED[name]
    parameters, _ = instance(system, seed=18, n=2, d=2)
    metric = sympy.Matrix([[2, 1], [1, 3]])
    exact = rational(parameters)
    tokens = ((sympy.Rational(3, 5), sympy.Rational(4, 5)), (sympy.Rational(-5, 13), sympy.Rational(12, 13)))
    if system.metric:
        exact[system.metric] = metric.tolist()
        lengths = [sympy.sqrt((sympy.Matrix([t]) * metric * sympy.Matrix([t]).T)[0]) for t in tokens]
        tokens = tuple((a / r, b / r) for (a, b), r in zip(tokens, lengths, strict=True))
    symbolic = system.advance(LoopAlgebra(sympy.exp, sympy.sqrt, sympy.Integer(1)), exact, tokens, causal_mask(2))
    x = torch.tensor([[float(entry) for entry in token] for token in tokens], dtype=torch.float64)
    fast = system.advance(TorchAlgebra(), floats(exact), x, "causal")
    error = max(
        abs(sympy.N(e, 30) - f)
        for row, own in zip(symbolic, fast.tolist(), strict=True)
        for e, f in zip(row, own, strict=True)
    )
    assert error < 1e-14


def rational(value: Any) -> Any:
    """Parameters rounded to fractions with denominator 8."""
    if isinstance(value, dict):
        return {name: rational(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [rational(entry) for entry in value]
    if isinstance(value, Tensor):
        return rational(value.tolist())
    return sympy.Rational(round(8 * value), 8)


def floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: floats(entry) for name, entry in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [floats(entry) for entry in value]
    if isinstance(value, list):
        return torch.stack([torch.as_tensor(floats(entry), dtype=torch.float64) for entry in value])
    return float(value)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", ALL)
def test_nothing_is_left_on_the_processor(name: str, mask: str) -> None:
    """On another device (here torch's device without data) no step of the twin meets a tensor of the processor."""
    system = TESTED[name]
    parameters, x = instance(system, seed=19, batch=(2,))
    away = {
        key: [{k: m.to("meta") if isinstance(m, Tensor) else m for k, m in head.items()} for head in value]
        if key == "heads"
        else (value.to("meta") if isinstance(value, Tensor) else value)
        for key, value in parameters.items()
    }
    moved = system.advance(TorchAlgebra(), away, x.to("meta"), MASKS[mask])
    assert (moved.device.type, moved.shape) == ("meta", x.shape)
