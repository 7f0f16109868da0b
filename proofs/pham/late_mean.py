"""PH-X3 and CL-6: the mean of tokens on the line that tend to zero, at late times (``W = 1``, ``B = -1``).

Until t = 100 the mean is integrated beside the deviations in mpmath (:mod:`.slow_decay`).  From there on in doubles, in the
logarithm of time and in ``sqrt(t) y_i`` and ``t^{5/2} xbar``, which change slowly, by an implicit method (the mean follows the
deviations at the rate 1).  The push on the mean is a difference of numbers that agree to many digits; here it is written
without them: with ``theta_i = xbar + y_i``, ``g(z) = e^z - 1 - z`` and ``sum_j y_j = 0``

    sum_j y_j e^{theta_i y_j} = theta_i sum_j y_j^2 + sum_j y_j g(theta_i y_j),
    sum_j e^{theta_i y_j} = n + sum_j g(theta_i y_j).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np

from eigentoken.proofs.pham.slow_decay import velocity_of_the_mean
from eigentoken.proofs.properties.trajectories import extrapolated

__all__ = ["late_means", "scaled_means", "slaved_means"]

Array = np.ndarray[Any, np.dtype[np.float64]]
#: From here on in doubles.
LATE = 100.0


def _rest(z: Array) -> Array:
    """``e^z - 1 - z`` for small z, without cancellation."""
    found, term = np.zeros_like(z), z * z / 2
    for power in range(3, 16):
        found = found + term
        term = term * z / power
    return found


def _speeds(mean: float, apart: Array) -> tuple[float, Array]:
    """Of the mean and of the deviations ``y_i``."""
    theta, second, n = mean + apart, float(apart @ apart), len(apart)
    rest = _rest(np.outer(theta, apart))
    pulled = theta * second + rest @ apart
    lost = rest.sum(1) / (n + rest.sum(1))
    push = float(mean * second + (rest @ apart).mean() - (pulled * lost).mean()) / n
    return -mean - push, push - pulled * (1 - lost) / n


@lru_cache(maxsize=8)
def late_means(start: tuple[str, ...], times: tuple[float, ...]) -> tuple[tuple[float, float, float], ...]:
    """At times from 100 on: the mean, and the second and third central moment."""
    from scipy.integrate import solve_ivp

    with mpmath.workdps(26):
        tokens = [mpmath.mpf(each) for each in start]
        mean = mpmath.fsum(tokens) / len(tokens)
        state = [mean, *(each - mean for each in tokens[:-1])]
        middle, *few = extrapolated(velocity_of_the_mean, state, [LATE], 18)[0]
        apart = np.array([float(each) for each in (*few, -mpmath.fsum(few))])

    def field(log: float, scaled: Array) -> Array:
        t = float(np.exp(log))
        moved, spread = _speeds(float(scaled[0]) * t**-2.5, scaled[1:] / np.sqrt(t))
        return np.append(t**3.5 * moved + 2.5 * scaled[0], t**1.5 * spread + scaled[1:] / 2)

    first = np.append(float(middle) * LATE**2.5, apart * np.sqrt(LATE))
    logs = np.log(np.array(times))
    options = {"method": "Radau", "rtol": 1e-12, "atol": 1e-14}
    states = [first] if times[0] == LATE else []
    if len(states) < len(times):
        states += list(solve_ivp(field, (np.log(LATE), logs[-1]), first, t_eval=logs[len(states) :], **options).y.T)
    found = []
    for t, scaled in zip(times, states, strict=True):
        spread = scaled[1:] / np.sqrt(t)
        found.append((float(scaled[0]) * t**-2.5, float((spread**2).mean()), float((spread**3).mean())))
    return tuple(found)


def slaved_means(start: tuple[str, ...], times: tuple[float, ...]) -> list[float]:
    """The mean over ``-kappa_2 kappa_3 / 2``, which tends to 1."""
    return [-2 * mean / (second * third) for mean, second, third in late_means(start, times)]


def scaled_means(start: tuple[str, ...], times: Sequence[float]) -> list[float]:
    """``t^{5/2}`` times the mean, which tends to a number."""
    return [t**2.5 * mean for t, (mean, *_) in zip(times, late_means(start, tuple(times)), strict=True)]
