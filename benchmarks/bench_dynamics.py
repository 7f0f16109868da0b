"""Speed of the flows and maps, as ratios to a peer in one run.

``python benchmarks/bench_dynamics.py [--quick] [--json FILE]`` prints a table: what, ours, peer, ratio, target, met or
missed.  Times are processor seconds and depend on the machine; the ratios are what is claimed.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
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


def figure_5_workload(quick: bool, rounds: int = 4) -> list[dict[str, Any]]:
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

    names = ("float64", "float32", "scipy", "plain", "torchdiffeq")
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
    take("plain", lambda: follow(flow, x, end, rtol=RTOL, atol=ATOL, reduce=False).final)

    def against(what: str, ours: str, peer: str, target: float | None, copies: int) -> dict[str, Any]:
        mine, theirs = (np.array(times[name]) for name in (ours, peer))
        ratios = [
            [float(np.median(p)) * copies / m for m in column] for column, p in zip(mine.T, theirs.T, strict=True)
        ]
        note = (
            f"wall ratio {np.median(ratios[1]):.1f}; rounds {min(ratios[0]):.1f} to {max(ratios[0]):.1f}; "
            f"errors {max(errors[ours]):.1e}, peer {max(errors[peer]):.1e}"
        )
        return row(what, float(np.median(mine[:, 0])), float(np.median(theirs[:, 0])) * copies, target, note)

    rows = [
        against("figure 5 workload over scipy solve_ivp, float64", "float64", "scipy", 10.0, instances),
        against("the same in float32", "float32", "scipy", 10.0, instances),
        against("the same in float64, not reduced to the span", "plain", "scipy", None, instances),
    ]
    if odeint is None:
        return [*rows, {"what": "torchdiffeq dopri5 on the batch", "note": "torchdiffeq is not installed"}]
    rows.append(against("figure 5 workload over torchdiffeq dopri5, float64", "float64", "torchdiffeq", 1.5, 1))
    rows.append(against("the same, not reduced to the span", "plain", "torchdiffeq", None, 1))
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


def gpt2_pass(quick: bool) -> dict[str, Any]:
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
    return row("GPT-2-shaped pass over its bare matrix products", ours, bare, 1.3, "time ratio, at most", at_most=True)


def row(what: str, ours: float, peer: float, target: float | None, note: str, at_most: bool = False) -> dict[str, Any]:
    ratio = ours / peer if at_most else peer / ours
    met = None if target is None else (ratio <= target if at_most else ratio >= target)
    return {"what": what, "ours": ours, "peer": peer, "ratio": ratio, "target": target, "met": met, "note": note}


def exponent(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def scaling(quick: bool) -> list[dict[str, Any]]:
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
        {
            "what": f"cost exponent in {name}",
            "ratio": value,
            "target": 1.15,
            "met": value <= 1.15,
            "note": "linear is 1",
        }
        for name, value in fits.items()
    ]


def memory() -> list[dict[str, Any]]:
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
        rows.append(
            {
                "what": f"memory over trajectory size, nothing kept, {name}",
                "ratio": grown / trajectory,
                "target": 0.05,
                "met": grown / trajectory <= 0.05,
                "note": note,
            }
        )
    return rows


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: the targets are for the full ones")
    parser.add_argument("--threads", type=int, default=0, help="threads of torch and numpy (default: as set)")
    parser.add_argument("--json", default="", help="write the rows to this file")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    with torch.no_grad():
        rows = [*memory(), gpt2_pass(options.quick), *scaling(options.quick), *figure_5_workload(options.quick)]
    print(f"torch threads: {torch.get_num_threads()}, {'quick' if options.quick else 'full'} sizes")
    print(f"{'what':52} {'ours s':>9} {'peer s':>9} {'ratio':>8} {'target':>7}  result")
    for entry in rows:
        ours, peer = (f"{entry[k]:9.3f}" if k in entry else " " * 9 for k in ("ours", "peer"))
        ratio = f"{entry['ratio']:8.3f}" if "ratio" in entry else " " * 8
        target = f"{entry['target']:7.2f}" if entry.get("target") is not None else " " * 7
        word = {True: "met", False: "MISSED", None: ""}[entry.get("met")]
        print(f"{entry['what']:52} {ours} {peer} {ratio} {target}  {word:7}{entry['note']}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump({"schema": "eigentoken/benchmark/1", "rows": rows}, stream, indent=1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
