"""Figures 1 to 5 of Rodriguez Abella, Silvestre, Tabuada: the flows on ellipsoids and spheres (sheet AB-S7)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics import observables as measure
from eigentoken.numerics.dynamics.basins import random_tokens
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, SpherePaths
from eigentoken.numerics.dynamics.flows import follow
from eigentoken.numerics.dynamics.hemisphere import in_open_hemisphere
from eigentoken.numerics.dynamics.matrices import RowScaled
from eigentoken.numerics.dynamics.problem import Problem, problem
from eigentoken.numerics.experiments.registry import Context, RecipeResult, check, recipe
from eigentoken.theory.systems.catalogue import ABELLA

#: How the spheres differ from the paper's, whose text says: white circles, gray ends, blue paths.
DRAWN = "the paper's paths are all blue with gray ends, here each token has its colour and the far side is faded"


def _matrix(rows: Any) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


#: As printed in section 7.1.
P_71 = _matrix([[0.9432, 0.0587, -0.1813], [0.0587, 0.8450, -0.1013], [-0.1813, -0.1013, 0.5519]])
#: As printed in section 7.2.
P1_72 = _matrix([[0.0805, -0.1929, 0.1991], [-0.2312, 0.3131, -0.2335], [0.1788, -0.1732, -0.1594]])
P2_72 = _matrix([[-0.3067, 0.0349, 0.1107], [0.0572, -0.0557, 0.1343], [0.1375, 0.1083, 0.1018]])
#: As printed in section 7.3.
P_73 = _matrix([[0.3598, 0.4150, 0.1319], [0.0971, -0.0668, -0.2046], [0.1548, -0.2102, 0.1220]])
U_73 = _matrix([[-0.2590, 0.4965, 0.5609], [0.4965, -0.7174, -0.5003], [0.5609, -0.5003, -0.0247]])


def D1(t: float) -> Tensor:
    """``2 diag(cos 10 pi t, sin 10 pi t, cos 6 pi t)``: the diagonal."""
    return _matrix([2 * math.cos(10 * math.pi * t), 2 * math.sin(10 * math.pi * t), 2 * math.cos(6 * math.pi * t)])


def D2(t: float) -> Tensor:
    """``2 diag(cos 6 pi t, sin 6 pi t, cos 4 pi t)``: the diagonal."""
    return _matrix([2 * math.cos(6 * math.pi * t), 2 * math.sin(6 * math.pi * t), 2 * math.cos(4 * math.pi * t)])


@recipe(
    "abella-1",
    paper=ABELLA,
    figure="1",
    title="Consensus on an ellipsoid, and the potential V_P",
    settings="eq. (8), P as printed in 7.1, W = P, 10 tokens in R^3, random start",
    claim="all tokens converge to one point; the dynamics is a gradient field, so V_P decreases",
)
def figure_1(context: Context) -> RecipeResult:
    flow = problem("ellipsoid-flow", {"P": P_71})
    start = flow.retract(random_tokens(1, 10, 3, seed=context.seed, distribution="cube"))[0]
    run = follow(flow, start, 60.0, at=np.linspace(0, 60, 601).tolist(), rtol=1e-10, atol=1e-12)
    assert run.states is not None
    potential = measure.ellipsoid_potential(run.states, P_71).numpy()
    gap = float(measure.diameter(run.final))
    rise = float(np.diff(potential).max())
    limit = -0.5 * 100 * math.e
    times = np.asarray(run.times)
    shown = times <= 30
    panels = (
        SpherePaths(run.states[:401].numpy(), P_71.numpy(), "tokens on the ellipsoid"),
        Curves([Curve(times[shown], potential[shown], weight="strong")], "t", "$V_P$", "potential", level=limit),
    )
    return RecipeResult(
        [
            check("all tokens converge to a consensus equilibrium", gap < 1e-4, f"diameter {gap:.1e} at t = 60"),
            check("V_P decreases along the trajectory", rise <= 1e-9, f"largest increase between samples {rise:.1e}"),
            check("V_P tends to its consensus value -50 e", abs(potential[-1] - limit) < 1e-3, f"{potential[-1]:.6f}"),
        ],
        {"V_P start": potential[0], "V_P end": potential[-1], "diameter end": gap},
        Chart("Abella et al., figure 1", panels),
        f"the start is a random one of ours, the matrix is as printed; {DRAWN}",
    )


@recipe(
    "abella-2",
    paper=ABELLA,
    figure="2",
    title="Frobenius norms of P_1(t) and P_2(t)",
    settings="P_1 = D_1(t) P_1', P_2 = D_2(t) P_2' as printed in 7.2",
    claim="the score matrices vary in time (bounded, so theorem 4.1 applies)",
)
def figure_2(context: Context) -> RecipeResult:
    times = np.linspace(0, 2, 801)
    norms = [[float(torch.linalg.norm(D(t).unsqueeze(-1) * P)) for t in times] for D, P in ((D1, P1_72), (D2, P2_72))]
    bounds = [2 * float(torch.linalg.norm(P)) for P in (P1_72, P2_72)]
    swing = [max(values) - min(values) for values in norms]
    curves = [Curve(times, values, f"$|P_{k}(t)|_F$") for k, values in enumerate(norms, start=1)]
    return RecipeResult(
        [
            check(
                "both norms are bounded by 2 |P'|",
                all(max(v) <= b for v, b in zip(norms, bounds, strict=True)),
                f"bounds {bounds[0]:.3f}, {bounds[1]:.3f}; largest {max(norms[0]):.3f}, {max(norms[1]):.3f}",
            ),
            check("both norms vary in time", min(swing) > 0.1, f"swings {swing[0]:.3f}, {swing[1]:.3f}"),
            check("the period is 1", abs(norms[0][0] - norms[0][400]) < 1e-9, "values at t = 0 and t = 1 are equal"),
        ],
        {"largest norms": [max(v) for v in norms], "bounds": bounds},
        Chart("Abella et al., figure 2", (Curves(curves, "t", "Frobenius norm"),), columns=1),
        "nothing is drawn at random: the matrices are as printed, over the times that are shown",
    )


@recipe(
    "abella-3",
    paper=ABELLA,
    figure="3",
    title="Consensus from a hemisphere with two time-varying heads",
    settings="eq. (11) on S^2, h = 2, matrices of 7.2, 10 tokens in the hemisphere of v = (1, 0, 0)",
    claim="tokens stay in the hemisphere, (13) decreases, all tokens reach consensus",
)
def figure_3(context: Context) -> RecipeResult:
    heads = [{"P": lambda t: RowScaled(D1(t), P1_72)}, {"P": lambda t: RowScaled(D2(t), P2_72)}]
    flow = problem("ellipsoid-multihead-flow", {"heads": heads, "W": None})
    v = _matrix([1.0, 0.0, 0.0])
    start = random_tokens(1, 10, 3, seed=context.seed)[0]
    start = start * torch.sign(start @ v).unsqueeze(-1)
    run = follow(flow, start, 20.0, at=np.linspace(0, 20, 801).tolist(), rtol=1e-9, atol=1e-11)
    assert run.states is not None
    deficit = measure.height_deficit(run.states, v).numpy()
    lowest = float((run.states @ v).min())
    gap = float(measure.diameter(run.final))
    rise = float(np.diff(deficit).max())
    member = in_open_hemisphere(start)
    panels = (
        SpherePaths(run.states.numpy(), None, "tokens on the sphere", (("v", v.numpy()),)),
        Curves([Curve(run.times, deficit, weight="strong")], "t", "eq. (13)", "$\\max_i (1 - v^T y_i)$"),
    )
    return RecipeResult(
        [
            check("the start lies in an open hemisphere", member.is_holds, f"decided exactly: {member.reason}"),
            check("the tokens stay in the hemisphere", lowest > 0, f"smallest v^T y_i over the run {lowest:.4f}"),
            check("(13) never increases", rise <= 1e-9, f"largest increase between samples {rise:.1e}"),
            check("all tokens reach consensus", gap < 1e-3, f"diameter {gap:.1e} at t = 20"),
        ],
        {"(13) start": deficit[0], "(13) end": deficit[-1], "diameter end": gap},
        Chart("Abella et al., figure 3", panels),
        "the start is a random one of ours; (13) does not tend to 0: its limit is 1 - v^T y* at the consensus point y* (AB-T4.1, "
        f"point 2); {DRAWN}",
    )


@recipe(
    "abella-4",
    paper=ABELLA,
    figure="4",
    title="Causal attention with a symmetric value matrix",
    settings="eq. (21), P = D(t) P' and U as printed in 7.3, 10 tokens with v^T y > 0",
    claim="all tokens converge to the eigenvector v of the largest eigenvalue; V_1 decreases, V_2 need not",
)
def figure_4(context: Context) -> RecipeResult:
    values, vectors = torch.linalg.eigh(U_73)
    v = vectors[:, -1] * torch.sign(vectors[0, -1])
    flow = problem("causal-flow", {"U": U_73, "P": lambda t: RowScaled(D1(t), P_73)})
    start = random_tokens(1, 10, 3, seed=context.seed)[0]
    start = start * torch.sign(start @ v).unsqueeze(-1)
    run = follow(flow, start, 60.0, at=np.linspace(0, 60, 1201).tolist(), rtol=1e-8, atol=1e-11)
    assert run.states is not None
    distance = (1 - run.states @ v).numpy()
    end = float(np.abs(distance[-1]).max())
    rise = float(np.diff(distance[:, 0]).max())
    shown = np.asarray(run.times) <= 40
    curves = [
        Curve(np.asarray(run.times)[shown], distance[shown, k], f"$V_{k + 1} = 1 - y_{k + 1}^T v$") for k in range(2)
    ]
    panels = (
        SpherePaths(run.states.numpy(), None, "tokens on the sphere", (("v", v.numpy()),)),
        Curves(curves, "t", "distance to $v$", "first two tokens"),
    )
    return RecipeResult(
        [
            check(
                "the largest eigenvalue of U is positive and simple",
                values[-1] > 0 and values[-1] > values[-2],
                f"{values.tolist()}",
            ),
            check("all tokens converge to v", end < 1e-4, f"largest 1 - y_i^T v at t = 60: {end:.1e}"),
            check("V_1 decreases", rise <= 1e-9, f"largest increase between samples {rise:.1e}"),
        ],
        {
            "eigenvalues": values.tolist(),
            "v": v.tolist(),
            "largest 1 - y_i.v": end,
            "largest rise of V_2": float(np.diff(distance[:, 1]).max()),
        },
        Chart("Abella et al., figure 4", panels),
        f"the start is a random one of ours; {DRAWN}"
        + ("" if float(np.diff(distance[:, 1]).max()) > 1e-9 else "; in this run V_2 decreases as well"),
    )


@recipe(
    "abella-5",
    paper=ABELLA,
    figure="5",
    title="E along many trajectories of causal attention in high dimension",
    settings="eq. (15), 50 tokens of dimension 500, h = 2, P_h = D_h(t) P_h', D_h = |2 sin(w t + f)|, 100 starts",
    claim="E converges to zero along all trajectories",
    heavy=True,
)
def figure_5(context: Context) -> RecipeResult:
    n, d, starts, end = context.pick((20, 100, 20, 150.0), (50, 500, 100, 200.0))
    flow, x = causal_ensemble(n, d, starts, context.seed)
    times = np.linspace(0, end, 101)
    size = context.pick(10, 20)
    done = [
        context.work.part(f"starts-{begin}", partial(_gaps_along, flow, x[begin : begin + size], times))
        for begin in range(0, starts, size)
    ]
    gaps, bars = (np.concatenate([part[name] for part in done], axis=1) for name in ("E", "bars"))
    evaluations = sum(int(part["evaluations"]) for part in done)
    worst = float(gaps[-1].max())
    lines = [Curve(times, gaps[:, k], "" if k else "each start", "faint") for k in range(starts)]
    lines.append(Curve(times, gaps.mean(1), "mean", "strong"))
    log = [Curve(times, np.maximum(gaps[:, k], 1e-16), "" if k else "each start", "faint") for k in range(starts)]
    log.append(Curve(times, np.maximum(gaps.mean(1), 1e-16), "mean", "strong"))
    panels = (
        Curves(lines, "t", "$E$", f"{starts} trajectories, {n} tokens, d = {d}"),
        Curves(log, "t", "$E$", "the same, logarithmic", log_y=True),
    )
    return RecipeResult(
        [
            check("E tends to zero along all trajectories", worst < 1e-2, f"largest E at t = {end:g}: {worst:.1e}"),
            check(
                "E starts near 1 and decreases",
                gaps[0].min() > 0.5 and (gaps[-1] < gaps[0] / 50).all(),
                f"mean E: {gaps[0].mean():.3f} to {gaps[-1].mean():.1e}",
            ),
        ],
        {
            "mean E at start": gaps[0].mean(),
            "largest E at end": worst,
            "largest |.| form at end": bars[-1].max(),
            "evaluations": evaluations,
        },
        Chart("Abella et al., figure 5", panels),
        "E is the signed form; with the bars that the paper prints, E also vanishes at antipodal states (AB-E25). "
        + ("Scaled down from 50 tokens, d = 500, 100 starts. " if context.scale == "quick" else "")
        + "Frequencies and phases are drawn for each head and coordinate, which the paper's text leaves open; the logarithmic "
        "panel is ours",
    )


def _gaps_along(flow: Problem, x: Tensor, times: np.ndarray) -> dict[str, Any]:
    """E, signed and with the bars, at the times, (times, starts), and how often the field was evaluated."""
    run = follow(
        flow,
        x,
        float(times[-1]),
        at=times.tolist(),
        keep=False,
        observe=lambda t, y: {"E": measure.cosine_gap(y).numpy(), "bars": measure.cosine_gap(y, absolute=True).numpy()},
        rtol=1e-5,
        atol=1e-8,
    )
    return {**{name: np.array(values) for name, values in run.observed.items()}, "evaluations": run.evaluations}


def causal_ensemble(n: int, d: int, starts: int, seed: int, dtype: torch.dtype = torch.float64) -> tuple[Any, Tensor]:
    """The system and starts of figure 5 (section 7.4)."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    def head() -> dict[str, Any]:
        frequency, phase = uniform(d).to(dtype), (2 * math.pi * uniform(d)).to(dtype)
        square = (uniform(d, d) - 0.5).to(dtype)
        return {"P": lambda t: RowScaled((2 * torch.sin(frequency * t + phase)).abs(), square)}

    flow = problem("ellipsoid-multihead-flow", {"heads": [head(), head()], "W": None}, "causal", dtype=dtype)
    x = random_tokens(starts, n, d, seed=seed + 1, distribution="cube", dtype=dtype)
    return flow, flow.retract(x)
