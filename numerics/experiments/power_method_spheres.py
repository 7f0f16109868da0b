"""Li and Altafini, figure 13: tokens on the sphere of R^3, consensus, a stable bipartite point, its basin."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch
from torch import Tensor

from eigentoken.numerics.dynamics import observables as measure
from eigentoken.numerics.dynamics.basins import Fraction95, basin_fractions, clopper_pearson, random_tokens
from eigentoken.numerics.dynamics.charts import Chart, Curve, Curves, SpherePaths, Table
from eigentoken.numerics.dynamics.equilibria import certify_equilibrium
from eigentoken.numerics.dynamics.limits import LimitClass, name_limit, name_limits
from eigentoken.numerics.dynamics.maps import iterate
from eigentoken.numerics.dynamics.problem import Problem, problem
from eigentoken.numerics.experiments.registry import Context, RecipeResult, check, recipe
from eigentoken.theory.systems.catalogue import LI_ALTAFINI

#: Heads of the multi-head map, as in the paper.
HEADS = 5


def _gaussian(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@recipe(
    "li-altafini-13a",
    paper=LI_ALTAFINI,
    figure="13(a)",
    title="Single-head and multi-head maps on the sphere reach consensus on the principal eigenvector",
    settings="eqs. (8) and (21) with five heads, d = 3, n = 10, alpha = 1/4, symmetric V and F, random Q^T K",
    claim="both trajectories converge to consensus, aligned with the principal eigenvector",
)
def figure_13a(context: Context) -> RecipeResult:
    generator = torch.Generator().manual_seed(context.seed)
    basis = torch.linalg.qr(_gaussian(generator, 3, 3)).Q
    V = basis @ torch.diag(torch.tensor([1.0, 0.4, -0.3], dtype=torch.float64)) @ basis.mT
    parts = 0.3 * _gaussian(generator, HEADS, 3, 3)
    parts = parts - parts.mean(0)  # what the heads add to their share of V cancels in the sum
    heads = [{"F": V / HEADS + part, "M": 0.3 * _gaussian(generator, 3, 3)} for part in parts]
    single = problem("attention-map", {"V": V, "M": 0.3 * _gaussian(generator, 3, 3), "alpha": 0.25})
    multi = problem("multihead-map", {"heads": heads, "alpha": 0.25})
    start = random_tokens(1, 10, 3, seed=context.seed + 1)[0]
    v = basis[:, 0]
    checks, numbers = [], {}
    panels: list[SpherePaths | Curves] = []
    for name, system in (("single-head", single), ("multi-head", multi)):
        orbit = iterate(system, start, 200, every=1)
        assert orbit.states is not None
        along = measure.vector_correlation(orbit.states, v).abs().numpy()
        limit = name_limit(system, orbit.final)
        checks.append(
            check(f"{name}: consensus", limit.kind is LimitClass.CONSENSUS, f"limit named {limit.kind.value}")
        )
        checks.append(
            check(f"{name}: aligned with v_1", along[-1].min() > 1 - 1e-6, f"smallest |corr| {along[-1].min():.9f}")
        )
        numbers[f"{name} smallest |corr|"] = along[-1].min()
        panels.append(SpherePaths(orbit.states.numpy(), None, name, (("$v_1$", v.numpy()),)))
        lines = [Curve(orbit.times[:81], along[:81, i], "" if i else "each token", "faint") for i in range(10)]
        lines.append(Curve(orbit.times[:81], along[:81].mean(1), "mean", "strong"))
        panels.append(
            Curves(lines, "layer", "$|\\mathrm{corr}(x_i, v_1)|$", f"{name}: alignment", y_range=(-0.02, 1.02))
        )
    return RecipeResult(
        checks,
        numbers,
        Chart("Li and Altafini, figure 13(a)", panels, columns=2),
        "matrices, step and start are ours: the paper prints none; both systems have the same layer matrix and start here, and a "
        "token keeps its colour on the sphere",
    )


def bipartite_example() -> Problem:
    """TV4 of the sheet: V = diag(1, 1/4, 1/8), M = ln 3 I, alpha = 1/2: the 8 + 2 split on v_1 is stable."""
    V = torch.diag(torch.tensor([1, 1 / 4, 1 / 8], dtype=torch.float64))
    return problem("attention-map", {"V": V, "M": math.log(3) * torch.eye(3, dtype=torch.float64), "alpha": 0.5})


@recipe(
    "li-altafini-13b",
    paper=LI_ALTAFINI,
    figure="13(b)",
    title="A stable bipartite consensus: small perturbations are absorbed, larger ones lead to consensus",
    settings="eq. (8), V = diag(1, 1/4, 1/8), Q^T K = ln 3 I, alpha = 1/2, 8 tokens at v_1 and 2 at -v_1",
    claim="the bipartite point is locally asymptotically stable; its basin is very small",
)
def figure_13b(context: Context) -> RecipeResult:
    system = bipartite_example()
    point = torch.zeros(10, 3, dtype=torch.float64)
    point[:8, 0], point[8:, 0] = 1.0, -1.0
    certified = certify_equilibrium(system, point)
    trials = context.pick(100, 400)
    sizes = [0.05, 0.1, 0.2, 0.4, 0.6, 0.9]
    rows, returned, reached, elsewhere = [], [], [], []
    for size in sizes:
        noise = size * torch.randn(
            trials, 10, 3, generator=torch.Generator().manual_seed(context.seed), dtype=torch.float64
        )
        final = iterate(system, system.retract(point + noise), 3000, stop_distance=1e-12).final
        back = (torch.linalg.vector_norm(final - point, dim=-1).amax(-1) < 1e-3).sum().item()
        kinds = [limit.kind for limit in name_limits(system, final, tolerance=1e-3)]
        returned.append(clopper_pearson(int(back), trials))
        reached.append(clopper_pearson(kinds.count(LimitClass.CONSENSUS), trials))
        elsewhere.append(clopper_pearson(trials - returned[-1].count - reached[-1].count, trials))
        rows.append([f"{size:g}", *(_told(each[-1]) for each in (returned, reached, elsewhere))])
    small = _escape(system, point, 0.1, context.seed)
    large = _consensus_run(system, point, context.seed)
    eye = torch.eye(3, dtype=torch.float64)
    uniform = []
    for factor in (1.0, 3.0, 10.0):
        sharper = problem("attention-map", {"V": system.parameters["V"], "M": factor * eye, "alpha": 0.5})
        starts = random_tokens(context.pick(150, 400), 10, 3, seed=context.seed + 5)
        fractions = basin_fractions(partial(_kinds, sharper), starts)
        uniform.append((factor, fractions.get("bipartite", clopper_pearson(0, context.pick(150, 400)))))
        rows.append([f"uniform, Q^T K = {factor:g} I", f"bipartite {_told(uniform[-1][1])}", "", ""])
    sharp = uniform[-1][1]
    principal = (("$v_1$", eye[0].numpy()),)
    panels = (
        SpherePaths(small, None, "perturbation 0.1: reabsorbed", principal),
        SpherePaths(large, None, "perturbation 0.6: consensus", principal),
        Curves(
            [
                _fractions(sizes, returned, "returns"),
                _fractions(sizes, reached, "consensus"),
                _fractions(sizes, elsewhere, "elsewhere"),
            ],
            "perturbation",
            "fraction, 95 % interval",
            f"{trials} trials each",
            y_range=(-0.03, 1.03),
        ),
    )
    return RecipeResult(
        [
            check(
                "the bipartite point exists and is asymptotically stable",
                certified.exists.is_holds and certified.stable.is_holds,
                f"certified: {certified.stable.reason}",
            ),
            check("a small perturbation is reabsorbed", returned[0].value == 1, str(returned[0])),
            check(
                "a larger perturbation leads to consensus",
                reached[-2].count > 0 or reached[-1].count > 0,
                f"{reached[-1].value:.2f} of the trials at 0.9",
            ),
            check(
                "the basin of bipartite points is very small",
                sharp.high < 0.05,
                f"with Q^T K = 10 I, {sharp} of uniform starts end bipartite",
                "sharp attention makes bipartite points attract most starts (PM-N6)",
            ),
        ],
        {
            "returned": [f.value for f in returned],
            "bipartite from uniform starts": {f"{k:g} I": f.value for k, f in uniform},
        },
        Chart(
            "Li and Altafini, figure 13(b)",
            panels,
            columns=3,
            tables=(Table(["start", "returns [95 %]", "consensus [95 %]", "elsewhere [95 %]"], rows, "Basins"),),
        ),
        "the matrices are ours (the paper prints none); the paper reports the last claim "
        "as a constant of its simulations; the panel of fractions is ours",
    )


def _told(found: Fraction95) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _fractions(sizes: list[float], found: list[Fraction95], name: str) -> Curve:
    """A curve of fractions of trials, with their intervals."""
    ends = ([each.low for each in found], [each.high for each in found])
    return Curve(sizes, [each.value for each in found], name, interval=ends)


def _kinds(system: Problem, x: Tensor) -> list[str]:
    final = iterate(system, x, 4000, stop_distance=1e-12).final
    return [limit.kind.value for limit in name_limits(system, final, tolerance=1e-3)]


def _escape(system: Problem, point: Tensor, size: float, seed: int) -> np.ndarray:
    noise = size * torch.randn(10, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    orbit = iterate(system, system.retract(point + noise), 120, every=1)
    assert orbit.states is not None
    return orbit.states.numpy()


def _consensus_run(system: Problem, point: Tensor, seed: int) -> np.ndarray:
    """The first perturbed start (size 0.6) that ends in consensus."""
    shown = _escape(system, point, 0.6, seed)
    for attempt in range(200):
        noise = 0.6 * torch.randn(10, 3, generator=torch.Generator().manual_seed(seed + attempt), dtype=torch.float64)
        orbit = iterate(system, system.retract(point + noise), 400, every=1)
        assert orbit.states is not None
        if float(measure.diameter(orbit.final)) < 1e-3:
            return orbit.states.numpy()
    return shown
