"""The skew part of a matrix at the leading eigenvector of its symmetric part, as a certified interval (BD-E1).

With ``F = S + K`` and v the unit eigenvector of S for its largest eigenvalue.  An approximate v~ with the residual
``r = |S v~ - w v~|`` has ``sin(v, v~) <= r / (w - lambda_2)`` (Davis-Kahan, one vector), so that
``||K v| - |K v~|/|v~|| <= sqrt(2) |K| sin(v, v~)``.
"""

from __future__ import annotations

import math

import numpy as np

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.rounding import TINY, UNIT, down, frobenius_above, gamma, scale_down, scale_up, up
from eigentoken.numerics.layers.quantities import Interval

__all__ = ["skew_at_leader", "symmetric_parts"]

#: Below this sine the two vectors have an acute angle, so that ``|v - v~/|v~|| <= sqrt(2) sin``.
ACUTE = 0.5
ROOT_TWO = 1.4142135623730954  # above sqrt(2)


def symmetric_parts(enclosure: Enclosure) -> tuple[list[float], list[float]] | None:
    """Lower and upper ends of the eigenvalues of sym(M), from the top, in the units of the input."""
    found = enclosure.symmetric_spectrum
    if found is None:
        return None
    values, error, _ = found
    ends = [_shifted(float(each), error, enclosure.exponent) for each in values[::-1]]
    return [low for low, _ in ends], [high for _, high in ends]


def _shifted(value: float, error: float, exponent: int) -> Interval:
    low, high = math.nextafter(value - error, -math.inf), math.nextafter(value + error, math.inf)
    return (
        -scale_up(-low, exponent) if low < 0 else scale_down(low, exponent),
        -scale_down(-high, exponent) if high < 0 else scale_up(high, exponent),
    )


def skew_at_leader(enclosure: Enclosure) -> Interval | None:
    """The interval of ``|K v|^2``; ``None`` where the leader of the symmetric part is not certainly apart."""
    n = enclosure.shape[0]
    symmetric, rho = enclosure.symmetric_part
    found = enclosure.symmetric_spectrum
    if found is None or n < 2:
        return None
    values, error, vectors = found
    v, top = np.ascontiguousarray(vectors[:, -1]), float(values[-1])
    apart = math.nextafter(top - math.nextafter(float(values[-2]) + error, math.inf), -math.inf)
    long = frobenius_above(v[None])
    short = down(math.sqrt(down(float(v @ v) - up(gamma(n + 2) * long * long + n * TINY))), 4)
    if apart <= 0 or short <= 0:
        return None
    size = frobenius_above(symmetric)
    lost = up(gamma(n + 3) * (size + abs(top)) * long + rho * long + n * TINY, 8)
    residual = up(frobenius_above((symmetric @ v - top * v)[None]) + lost)
    sine = up(residual / down(apart * short))
    if not sine < ACUTE:
        return None
    skew = 0.5 * (enclosure.center - enclosure.center.T)
    reach = frobenius_above(skew)
    wrong = up(enclosure.radius + UNIT * reach + n * TINY, 4)
    image = skew @ v
    rounding = up((gamma(n + 2) * reach + wrong) * long + n * TINY, 8)
    turned = up(ROOT_TWO * up(reach + wrong) * sine, 8)
    high = up(up(frobenius_above(image[None]) + rounding) / short + turned, 4)
    plain = down(math.sqrt(down(float(image @ image), n + 2)), 4)
    low = max(0.0, math.nextafter(down(max(0.0, math.nextafter(plain - rounding, 0.0)) / long) - turned, -math.inf))
    twice = 2 * enclosure.exponent
    return scale_down(down(low * low), twice), scale_up(up(high * high), twice)
