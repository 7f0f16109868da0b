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
from eigentoken.numerics.experiments.transformer import GPT2Shape, random_blocks, run_block

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


def figure_5_workload(quick: bool) -> list[dict[str, Any]]:
    """100 instances, 50 tokens, d = 500, 2 heads, causal: ours against scipy one by one, and torchdiffeq on the batch.

    The error of each against a reference at tolerance 1e-8 is printed: the same tolerance must mean the same accuracy.
    """
    from scipy.integrate import solve_ivp

    instances, n, d, end = (20, 20, 200, 4.0) if quick else (100, 50, 500, 4.0)
    sampled = 2
    flow, x = causal_ensemble(n, d, instances, 0)
    single, x32 = causal_ensemble(n, d, instances, 0, torch.float32)
    reference = follow(flow, x[:sampled], end, rtol=1e-8, atol=1e-10).final

    def error(final: Tensor) -> float:
        return float(torch.linalg.vector_norm(final[:sampled].double() - reference, dim=-1).max())

    ours, run = timed(lambda: follow(flow, x, end, rtol=RTOL, atol=ATOL))
    half, low = timed(lambda: follow(single, x32, end, rtol=RTOL, atol=ATOL))
    plain, _ = timed(lambda: follow(flow, x, end, rtol=RTOL, atol=ATOL, reduce=False))
    field = numpy_field(flow, n, d)
    starts = [x[k].flatten().numpy() for k in range(sampled)]
    peer, finals = timed(lambda: [solve_ivp(field, (0, end), start, rtol=RTOL, atol=ATOL).y[:, -1] for start in starts])
    peer = peer * instances / sampled
    gap = error(torch.from_numpy(np.stack(finals)).reshape(sampled, n, d))
    rows = [
        row(
            "figure 5 workload over scipy solve_ivp, float64",
            ours,
            peer,
            10.0,
            f"errors {error(run.final):.1e}, scipy {gap:.1e}",
        ),
        row("the same in float32", half, peer, 10.0, f"error {error(low.final):.1e}"),
        row("the same in float64, not reduced to the span", plain, peer, None, "for information"),
    ]
    try:
        from torchdiffeq import odeint
    except ImportError:
        return [*rows, {"what": "torchdiffeq dopri5 on the batch", "note": "torchdiffeq is not installed"}]

    def torch_field(t: Tensor, y: Tensor) -> Tensor:
        return flow.advance(flow.retract(y), float(t))

    grid = torch.tensor([0.0, end], dtype=torch.float64)
    batch, states = timed(lambda: odeint(torch_field, x, grid, rtol=RTOL, atol=ATOL, method="dopri5"))
    rows.append(
        row(
            "figure 5 workload over torchdiffeq dopri5, float64", ours, batch, 1.5, f"its error {error(states[-1]):.1e}"
        )
    )
    rows.append(row("the same, not reduced to the span", plain, batch, None, "for information"))
    return rows


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of one call (all threads), and its result: a busy machine does not disturb the ratio."""
    begin = time.process_time()
    result = function()
    return time.process_time() - begin, result


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


def memory() -> dict[str, Any]:
    """Peak memory of a long run that keeps nothing, against the size of its trajectory."""
    step = problem("oja-map", {"V": torch.eye(64, dtype=torch.float64), "alpha": 0.1})
    x = random_tokens(64, 64, 64, seed=1)
    iterate(step, x, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    layers = 1000
    iterate(step, x, layers)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (1 if sys.platform == "darwin" else 1024)
    trajectory = layers * x.numel() * 8
    share = grown / trajectory
    note = f"{grown / 2**20:.0f} MB grown, trajectory {trajectory / 2**20:.0f} MB"
    return {
        "what": "memory over trajectory size, nothing kept",
        "ratio": share,
        "target": 0.05,
        "met": share <= 0.05,
        "note": note,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: the targets are for the full ones")
    parser.add_argument("--threads", type=int, default=0, help="threads of torch and numpy (default: as set)")
    parser.add_argument("--json", default="", help="write the rows to this file")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    with torch.no_grad():
        rows = [memory(), gpt2_pass(options.quick), *scaling(options.quick), *figure_5_workload(options.quick)]
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
