"""Trajectories for the book: enclosures that are theorems, and accurate numbers for regression vectors.

``enclose`` (:mod:`eigentoken.numerics.dynamics.enclosed_trajectories`) gives balls that contain the exact solution.
``integrate`` is a classical eighth-order integration in floats, good to about 1e-12, used only where digits are compared,
never for a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigentoken.numerics.dynamics.enclosed_trajectories import Field, NoEnclosure, ball, enclose, precision
from eigentoken.theory.systems.algebra import Number

__all__ = ["Field", "NoEnclosure", "ball", "enclose", "integrate", "precision"]

#: The solver's own choice (scipy 1.13) may ask for the field far beyond the last time, where it need not be defined.
FIRST_STEP = 0.01


def integrate(
    field: Field, start: Sequence[Number], times: Sequence[float], *, tolerance: float = 3e-14
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
        first_step=min(FIRST_STEP, float(times[-1])),
    )
    return [[float(each) for each in state] for state in found.y.T]
