"""Trajectories for the book: enclosures that are theorems, and accurate numbers for regression vectors.

``enclose`` (:mod:`eigentoken.numerics.dynamics.enclosed_trajectories`) gives balls that contain the exact solution.
``integrate`` is a classical eighth-order integration in floats, good to about 1e-12, used only where digits are compared,
never for a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigentoken.numerics.dynamics.enclosed_trajectories import Field, NoEnclosure, ball, enclose, precision

__all__ = ["Field", "NoEnclosure", "ball", "enclose", "integrate", "precision"]


def integrate(
    field: Field, start: Sequence[Any], times: Sequence[float], *, tolerance: float = 3e-14
) -> list[list[float]]:
    """States at the given times from time 0, in floats (DOP853, by default at its smallest tolerance)."""
    import numpy as np
    from scipy.integrate import solve_ivp

    def plain(t: float, x: Any) -> Any:
        return np.array(field(t, [float(each) for each in x]))

    found = solve_ivp(
        plain,
        (0.0, float(times[-1])),
        [float(each) for each in start],
        method="DOP853",
        t_eval=list(times),
        rtol=tolerance,
        atol=tolerance / 30,
    )
    return [[float(each) for each in state] for state in found.y.T]
