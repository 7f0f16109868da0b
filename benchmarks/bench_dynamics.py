"""Speed of the flows and maps, as ratios to a peer in one run.

``python benchmarks/bench_dynamics.py [--quick]`` prints a table: what, ours, peer, ratio, target, met or missed.  Times are
processor seconds and depend on the machine; the ratios are what is claimed.  Peers of the figure-5 workload: scipy's
``solve_ivp`` one instance at a time, torchdiffeq's dopri5 and diffrax's Tsit5 (JAX, jit, float64) on the whole batch, all at the
same tolerance.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from ratios import Row, Times, at_least, at_most, report
from torch import Tensor

from eigentoken.numerics.dynamics.basins import random_tokens
from eigentoken.numerics.dynamics.flows import follow
from eigentoken.numerics.dynamics.maps import iterate
from eigentoken.numerics.dynamics.problem import Problem, problem
from eigentoken.numerics.experiments.abella_flows import causal_ensemble
from eigentoken.numerics.experiments.transformer import GPT2Shape, random_blocks
from eigentoken.transformer_layer import run_block

RTOL, ATOL = 1e-6, 1e-9


def best(function: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of a few runs, in processor seconds."""
    return min(timed(function)[0] for _ in range(repeats))


def numpy_field(flow: Problem, n: int, d: int) -> Callable[[float, np.ndarray], np.ndarray]:
    """The field of one instance in plain numpy, written as a careful user of scipy would."""
    heads = flow.parameters["heads"]
    mask = np.where(np.tril(np.ones((n, n), dtype=bool)), 0.0, -np.inf)

    def field(t: float, flat: np.ndarray) -> np.ndarray:
        y = flat.reshape(n, d)
        y = y / np.linalg.norm(y, axis=1, keepdims=True)
        push = np.zeros_like(y)
        for head in heads:
            score = head["P"](t)
            scores = (y * score.scale.numpy()) @ (y @ score.matrix.numpy().T).T + mask
            weights = np.exp(scores - scores.max(1, keepdims=True))
            weights /= weights.sum(1, keepdims=True) * math.sqrt(d)
            push += weights @ y
        return (push - (y * push).sum(1, keepdims=True) * y).ravel()

    return field


def diffrax_solver(flow: Problem, x: Tensor, end: float) -> Callable[[], Tensor] | None:
    """The batch by diffrax, compiled before it is timed; None where it is not installed."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    try:
        import diffrax
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    n, d = x.shape[-2:]
    mask = jnp.where(jnp.tril(jnp.ones((n, n), dtype=bool)), 0.0, -jnp.inf)
    waves = [[jnp.asarray(each.numpy()) for each in wave_of(head["P"])] for head in flow.parameters["heads"]]

    def field(t: Any, y: Any, _: Any) -> Any:
        y = y / jnp.linalg.norm(y, axis=-1, keepdims=True)
        push = jnp.zeros_like(y)
        for frequency, phase, square in waves:
            scale = jnp.abs(2 * jnp.sin(frequency * t + phase))
            scores = (y * scale) @ jnp.swapaxes(y @ square.T, -1, -2) + mask
            push += jax.nn.softmax(scores, axis=-1) @ y / math.sqrt(d)
        return push - (y * push).sum(-1, keepdims=True) * y

    @jax.jit
    def solve(start: Any) -> Any:
        control = diffrax.PIDController(rtol=RTOL, atol=ATOL)
        term = diffrax.ODETerm(field)
        return diffrax.diffeqsolve(
            term, diffrax.Tsit5(), 0.0, end, None, start, stepsize_controller=control, max_steps=100_000
        ).ys[-1]

    given = jnp.asarray(x.numpy())
    solve(given).block_until_ready()

    def run() -> Tensor:
        final = np.array(solve(given).block_until_ready())
        return torch.from_numpy(final / np.linalg.norm(final, axis=-1, keepdims=True))

    return run


def wave_of(score: Callable[[float], Any]) -> list[Tensor]:
    """Frequency, phase and square of a head's ``P(t)``, from the closure that the ensemble made."""
    made = score.function  # type: ignore[attr-defined]
    held = dict(zip(made.__code__.co_freevars, made.__closure__ or (), strict=True))
    return [held[name].cell_contents for name in ("frequency", "phase", "square")]


def figure_5_workload(quick: bool, rounds: int = 4) -> list[Row]:
    """100 instances, 50 tokens, d = 500, 2 heads, causal: ours against scipy one by one, and torchdiffeq on the batch.

    The contestants take turns; a ratio is the median over the rounds, in processor time.  The error of each against a
    reference at tolerance 1e-9 is printed: the same tolerance must mean a comparable accuracy.
    """
    from scipy.integrate import solve_ivp

    instances, n, d, end = (20, 20, 200, 4.0) if quick else (100, 50, 500, 4.0)
    flow, x = causal_ensemble(n, d, instances, 0)
    single, x32 = causal_ensemble(n, d, instances, 0, torch.float32)
    reference = follow(flow, x[:rounds], end, rtol=1e-9, atol=1e-11).final
    field = numpy_field(flow, n, d)

    def error(final: Tensor, which: slice = slice(None)) -> float:
        gap = final[: len(reference[which])].double() - reference[which]
        return float(torch.linalg.vector_norm(gap, dim=-1).max())

    def scipy_alone(k: int) -> Tensor:
        final = solve_ivp(field, (0, end), x[k].flatten().numpy(), rtol=RTOL, atol=ATOL).y[:, -1]
        return torch.from_numpy(final).reshape(1, n, d)

    names = ("float64", "float32", "scipy", "plain", "torchdiffeq", "diffrax")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    errors: dict[str, list[float]] = {name: [] for name in names}

    def take(name: str, function: Callable[[], Tensor], which: slice = slice(None)) -> None:
        processor, wall, final = timed_twice(function)
        times[name].append((processor, wall))
        errors[name].append(error(final, which))

    for k in range(rounds):
        take("float64", lambda: follow(flow, x, end, rtol=RTOL, atol=ATOL).final)
        take("scipy", lambda k=k: scipy_alone(k), slice(k, k + 1))  # type: ignore[misc]
        take("float32", lambda: follow(single, x32, end, rtol=RTOL, atol=ATOL).final)
    try:
        from torchdiffeq import odeint
    except ImportError:
        odeint = None
    if odeint is not None:
        grid = torch.tensor([0.0, end], dtype=torch.float64)

        def torch_field(t: Tensor, y: Tensor) -> Tensor:
            return flow.advance(flow.retract(y), float(t))

        take("torchdiffeq", lambda: odeint(torch_field, x, grid, rtol=RTOL, atol=ATOL, method="dopri5")[-1])
    compiled = diffrax_solver(flow, x, end)
    if compiled is not None:
        for _ in range(2):
            take("diffrax", compiled)
    take("plain", lambda: follow(flow, x, end, rtol=RTOL, atol=ATOL, reduce=False).final)

    def against(what: str, ours: str, peer: str, target: float | None, copies: int) -> Row:
        mine, theirs = (np.array(times[name]) for name in (ours, peer))
        ratios = [
            [float(np.median(p)) * copies / m for m in column] for column, p in zip(mine.T, theirs.T, strict=True)
        ]
        note = (
            f"rounds {min(ratios[0]):.1f} to {max(ratios[0]):.1f}; errors {max(errors[ours]):.1e}, peer "
            f"{max(errors[peer]):.1e}"
        )
        spent = Times(float(np.median(theirs[:, 0])) * copies, float(np.median(mine[:, 0])))
        return at_least(what, "100 x 50 tokens, d = 500" if not quick else "quick", spent, target, note)

    rows = [
        against(
            "figure 5 workload: solve_ivp / ours, float64, reduced to the span", "float64", "scipy", 12.0, instances
        ),
        against(
            "figure 5 workload: solve_ivp / ours, float32, reduced to the span", "float32", "scipy", None, instances
        ),
        against("figure 5 workload: solve_ivp / ours, float64, not reduced", "plain", "scipy", 2.5, instances),
    ]
    if odeint is not None:
        rows.append(
            against(
                "figure 5 workload: torchdiffeq / ours, float64, reduced to the span", "float64", "torchdiffeq", 15.0, 1
            )
        )
        rows.append(
            against("figure 5 workload: torchdiffeq / ours, float64, not reduced", "plain", "torchdiffeq", None, 1)
        )
    if compiled is not None:
        rows.append(
            against("figure 5 workload: diffrax / ours, float64, reduced to the span", "float64", "diffrax", 8.0, 1)
        )
        rows.append(against("figure 5 workload: diffrax / ours, float64, not reduced", "plain", "diffrax", 1.5, 1))
    return rows


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of one call (all threads), and its result: a busy machine does not disturb the ratio."""
    processor, _, result = timed_twice(function)
    return processor, result


def timed_twice(function: Callable[[], Any]) -> tuple[float, float, Any]:
    """Processor seconds (all threads) and wall seconds of one call, and its result."""
    begin, clock = time.process_time(), time.perf_counter()
    result = function()
    return time.process_time() - begin, time.perf_counter() - clock, result


def gpt2_pass(quick: bool) -> Row:
    """All layers of a GPT-2-shaped model against the bare matrix products of those layers."""
    shape = GPT2Shape(4, 12, 768) if quick else GPT2Shape.named("small")
    blocks = random_blocks(shape, torch.Generator().manual_seed(0))
    x = torch.randn(4, 64, shape.d, generator=torch.Generator().manual_seed(1))

    def whole() -> Tensor:
        y = x
        for block in blocks:
            y = run_block(block, y)
        return y

    def products() -> Tensor:
        flat = x.reshape(-1, shape.d)
        y = flat
        for block in blocks:
            assert block.up is not None and block.down is not None
            mixed = y @ block.qkv.T
            y = mixed[:, : shape.d] @ block.out.T
            y = (y @ block.up.T) @ block.down.T
        return y

    whole(), products()
    pairs = [(best(whole, 1), best(products, 1)) for _ in range(5)]
    ours, bare = min(a for a, _ in pairs), min(b for _, b in pairs)
    size = f"{shape.layers} layers, d = {shape.d}"
    return at_most("GPT-2-shaped pass / its bare matrix products", size, Times(bare, ours), 1.3)


def exponent(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def scaling(quick: bool) -> list[Row]:
    """Fitted exponents of the cost in instances, layers and steps: linear is 1."""
    generator = torch.Generator().manual_seed(0)
    V = torch.randn(16, 16, generator=generator, dtype=torch.float64) / 4
    M = torch.randn(16, 16, generator=generator, dtype=torch.float64) / 4
    step = problem("attention-map", {"V": V, "M": M, "alpha": 0.1})
    flow = problem("attention-flow", {"V": V, "M": M})
    factor = 1 if quick else 4
    instances = [256 * factor, 512 * factor, 1024 * factor, 2048 * factor]
    layers = [100 * factor, 200 * factor, 400 * factor, 800 * factor]
    batches = [random_tokens(count, 16, 16, seed=1) for count in instances]
    one = random_tokens(8, 16, 16, seed=1)
    fits = {
        "instances": exponent(instances, [best(lambda x=x: iterate(step, x, 10)) for x in batches]),  # type: ignore[misc]
        "layers": exponent(layers, [best(lambda k=k: iterate(step, one, k)) for k in layers]),  # type: ignore[misc]
        "steps": exponent(
            layers, [best(lambda k=k: follow(flow, one, 1.0, method="rk4", step=1.0 / k)) for k in layers]
        ),  # type: ignore[misc]
    }
    return [
        Row(f"simulate: cost exponent in {name}", "", None, None, value, "<= 1.15", value <= 1.15, "linear is 1")
        for name, value in fits.items()
    ]


def memory() -> list[Row]:
    """Peak memory of long runs that keep nothing, against the size of their trajectories: a map and a flow."""
    x = random_tokens(64, 64, 64, seed=1)
    V = torch.eye(64, dtype=torch.float64)
    step, flow = problem("oja-map", {"V": V, "alpha": 0.1}), problem("oja-flow", {"V": V})
    runs: dict[str, Callable[[int], Any]] = {
        "a map": lambda count: iterate(step, x, count),
        "a flow": lambda count: follow(flow, x, 1.0, method="rk4", step=1.0 / count),
    }
    rows = []
    for name, run in runs.items():
        run(2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run(500)
        unit = 1 if sys.platform == "darwin" else 1024
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
        trajectory = 500 * x.numel() * 8
        note = f"{grown / 2**20:.0f} MB grown, trajectory {trajectory / 2**20:.0f} MB, state {x.numel() * 8 / 2**20:.0f} MB"
        what, ratio = f"memory / trajectory size, nothing kept, {name}", grown / trajectory
        rows.append(Row(what, "", None, None, ratio, "<= 0.05", ratio <= 0.05, note))
    return rows


def rows(quick: bool) -> Iterator[Row]:
    with torch.no_grad():
        yield from memory()
        yield gpt2_pass(quick)
        yield from scaling(quick)
        yield from figure_5_workload(quick)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: the targets are for the full ones")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    report(rows(options.quick))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
