"""CL-11: the circle: an increasing convex interaction with a stable regular pentagon.

The positive results (almost every start synchronises for ``0 <= beta <= 1`` and for ``beta >= -0.16``) are cited from abstracts.
Reference: Polyanskiy-Rigollet-Yao, and Criscitiello-et-al; the pentagon is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.pentagon import PENTAGON, XI, pentagon, second_variation
from eigentoken.proofs.clusters.sources import CIRCLE, abstract
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    SourceKind,
    Statement,
    Vector,
)


def curvature(angle: Any, steep: Any, numbers: Any = mpmath) -> Any:
    """``h''(theta) = phi'' sin^2 - phi' cos`` for ``phi' = 1/(1 + e^{-kc})``."""
    c, s = numbers.cos(angle), numbers.sin(angle)
    first = 1 / (1 + numbers.exp(-steep * c))
    return steep * first * (1 - first) * s**2 - first * c


def mode(m: int, steep: Any) -> Any:
    """The eigenvalue of the Hessian of E at the regular pentagon in Fourier mode m."""
    turn = 2 * mpmath.pi / 5
    return mpmath.fsum(curvature(turn * j, steep) * (1 - mpmath.cos(m * turn * j)) for j in range(1, 5))


def modes() -> list[Any]:
    """Modes 1 and 2 for k = 20; the k at which mode 1 changes sign; mode 1 for k = 10."""
    with mpmath.workdps(30):
        return [mode(1, 20), mode(2, 20), mpmath.findroot(lambda steep: mode(1, steep), 11), mode(1, 10)]


def pentagon_is_a_maximum() -> Verdict:
    """In balls: the modes 1 and 2 (and 4 and 3) are negative for k = 20."""
    from flint import arb, ctx

    before, ctx.prec = ctx.prec, 128
    try:
        turn = 2 * arb.pi() / 5
        found = []
        for m in (1, 2):
            total = arb(0)
            for j in range(1, 5):
                c, s = (turn * j).cos(), (turn * j).sin()
                first = 1 / (1 + (-20 * c).exp())
                total += (20 * first * (1 - first) * s * s - first * c) * (1 - (m * turn * j).cos())
            found.append(total)
    finally:
        ctx.prec = before
    if all(bool(each < 0) for each in found):
        return holds(f"modes 1 and 2 are negative: {found[0].str(6, radius=False)}, {found[1].str(6, radius=False)}")
    return fails(f"modes {found}")


def against_differences(source: np.random.Generator) -> Mapping[str, float]:
    """``h''`` is the derivative of ``h' = -phi' sin`` (a central difference of order four), and the modes sum to 0 with m = 0."""
    angle, steep = float(source.uniform(-3, 3)), float(source.uniform(0.5, 20))

    def first(theta: float) -> float:
        return float(-np.sin(theta) / (1 + np.exp(-steep * np.cos(theta))))

    step = 1e-3
    slope = (8 * (first(angle + step) - first(angle - step)) - first(angle + 2 * step) + first(angle - 2 * step)) / (
        12 * step
    )
    stated = float(curvature(angle, steep, np))
    return {"second derivative": max(0.0, abs(slope - stated) / (1 + steep**5) - 1e-9)}


def energy(theta: Any, steep: float) -> float:
    """``sum_{i<j} phi(cos(theta_i - theta_j))``, ``phi(c) = ln(1 + e^{kc})/k``."""
    pairs = np.cos(theta[:, None] - theta[None])[np.triu_indices(len(theta), 1)]
    return float(np.logaddexp(0, steep * pairs).sum() / steep)


@cache
def _stated(steep: int) -> Any:
    return sp.lambdify(XI, second_variation(steep), "numpy")


def second_derivative(source: np.random.Generator) -> Mapping[str, float]:
    """The form of the claims is the second derivative of the energy at the pentagon, by differences of order four."""
    along, step = source.normal(size=5), 2e-3
    for steep in (10, 20):
        values = [energy(2 * np.pi * np.arange(5) / 5 + m * step * along, steep) for m in (-2, -1, 0, 1, 2)]
        bent = np.dot([-1, 16, -30, 16, -1], values) / (12 * step**2)
        stated = float(_stated(steep)(*along))
        if abs(bent - stated) > 1e-4 * float(along @ along):
            return {"second derivative": abs(bent - stated)}
    return {"second derivative": 0.0}


CL_11 = register(
    Statement(
        id="CL-11",
        kind=Kind.COUNTEREXAMPLE,
        source=abstract(CIRCLE, "synchronisation on the circle"),
        title="On the circle an increasing convex interaction need not synchronise",
        claims=tuple(map(Formula, PENTAGON)),
        proof=pentagon,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$E = \sum_{i < j}\phi(\cos(\theta_i - \theta_j))$ on the circle, $\phi'(c) = 1/(1 + e^{-kc})$: $\phi$ is "
                r"analytic, strictly increasing and strictly convex. The first claim has the second derivative of $E$ along "
                r"$\xi$ at the regular pentagon for $k = 20$, the second for $k = 10$, the last that at a square with $a = "
                r"\phi''(0)$ and $b = \phi'(-1)$.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"So for $k = 20$ the pentagon is a strict local maximum of $E$ modulo rotation, and attracts an open set of "
                r"starts. The sign of the first mode changes at $k = 11.2129\ldots$",
            ),
            Remark(
                RemarkKind.SOURCE,
                r"Cited from abstracts, neither read nor proved here: with $M = \beta I$ almost every start on the circle "
                r"synchronises for $0 \le \beta \le 1$ (Criscitiello et al.) and for all $\beta \ge -0.16$ (Polyanskiy, "
                r"Rigollet, Yao). Below a threshold there is no synchronisation only for $n \ge 3$: two tokens synchronise for "
                r"every $\beta$ (CL-9).",
            ),
        ),
        printed=Printed(
            text="An increasing convex interaction synchronises on the circle, as it does on spheres.",
            wrong="Not on the circle, even for the complete graph: the condition there is on the Taylor coefficients.",
            kind=SourceKind.FORMALISED,
            counterexamples=(
                Counterexample(
                    "softplus and the pentagon",
                    r"$\phi'(c) = 1/(1 + e^{-20c})$: the modes are $-0.3746$ and $-0.9808$.",
                    {"interaction": "softplus", "k": "20", "tokens": "regular pentagon"},
                    pentagon_is_a_maximum,
                ),
            ),
        ),
        vectors=(
            Vector(
                "modes 1, 2 for k = 20, threshold, mode 1 for k = 10",
                modes,
                ("-0.374636725024167", "-0.980817547379258", "11.2129018526564", "0.1165"),
            ),
        ),
        property_tests=(OnInstances(against_differences), OnInstances(second_derivative)),
    )
)
