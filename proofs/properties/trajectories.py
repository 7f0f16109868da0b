"""Trajectories for the book: enclosures that are theorems, and accurate numbers for regression vectors.

``enclose`` (:mod:`eigentoken.numerics.dynamics.enclosed_trajectories`) gives balls that contain the exact solution.
``integrate`` is a classical eighth-order integration in floats, good to about 1e-12, and ``extrapolated`` one in mpmath's
numbers to as many digits as are asked; both are used only where digits are compared, never for a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eigentoken.numerics.dynamics.enclosed_trajectories import Field, NoEnclosure, ball, enclose, precision
from eigentoken.theory.systems.algebra import Number

__all__ = ["Field", "NoEnclosure", "ball", "enclose", "extrapolated", "integrate", "precision"]

#: The solver's own choice (scipy 1.13) may ask for the field far beyond the last time, where it need not be defined.
FIRST_STEP = 0.01
#: Rows of an extrapolation: midpoint rules of 2, 4, ... 2 * ROWS parts of a step; a step that needs few of them is followed
#: by a longer one.
ROWS, FEW = 12, 9


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


def extrapolated(
    field: Callable[[Any, Sequence[Any]], Sequence[Any]], start: Sequence[Any], times: Sequence[Any], digits: int
) -> list[list[Any]]:
    """States at the given times (rising) from time 0, in mpmath: Gragg's midpoint rule, extrapolated in h^2 (Bulirsch, Stoer).

    A step is taken where the last two extrapolations agree to so many digits, and halved elsewhere.

    >>> import mpmath
    >>> mpmath.nstr(extrapolated(lambda t, x: [-x[0]], [1], [1], 20)[0][0], 20)
    '0.3678794411714423216'
    """
    import mpmath

    found = []
    with mpmath.workdps(digits + 8):
        t, x, step = mpmath.mpf(0), [mpmath.mpf(each) for each in start], mpmath.mpf(1) / 4
        for end in map(mpmath.mpf, times):
            while t < end:
                h = min(step, end - t)
                after, rows = _extrapolated_step(field, t, x, h, mpmath.mpf(10) ** -digits)
                if after is None:
                    step = h / 2
                    continue
                t, x = end if h == end - t else t + h, after
                step = max(step, 3 * h / 2) if rows <= FEW else step
            found.append(list(x))
    return found


def _extrapolated_step(
    field: Callable[[Any, Sequence[Any]], Sequence[Any]], t: Any, x: Sequence[Any], h: Any, tolerance: Any
) -> tuple[list[Any] | None, int]:
    """The state after a step and how many rows that took; ``None`` where the last two rows do not agree."""
    row: list[list[Any]] = []
    speed = field(t, x)
    for number in range(1, ROWS + 1):
        parts = 2 * number
        part = h / parts
        before, here = x, [each + part * rate for each, rate in zip(x, speed, strict=True)]
        for k in range(1, parts):
            rates = field(t + k * part, here)
            before, here = here, [each + 2 * part * rate for each, rate in zip(before, rates, strict=True)]
        above, row = row, [here]
        for k, earlier in enumerate(above, 1):
            weight = (number - k) ** 2
            row.append(
                [new + (new - old) * weight / (number**2 - weight) for new, old in zip(row[-1], earlier, strict=True)]
            )
        if above and all(
            abs(new - old) <= tolerance * (1 + abs(new)) for new, old in zip(row[-1], above[-1], strict=True)
        ):
            return row[-1], number
    return None, ROWS
