"""The eigenvector of one simple real eigenvalue of an exact matrix, where float discs do not separate it.

Let lambda be a simple eigenvalue that is known to lie in a ball, and b, c any vectors.  If the bordered matrix

    ``B(l) = [[A - l I, b], [c^T, 0]]``

is nonsingular for every l of the ball (FLINT's solver shows that, or gives up), then for the eigenvalue itself the solution of
``B (v, s) = (0, 1)`` has ``s = 0``: with a left null vector w of ``A - lambda I`` one has ``s w^T b = 0``, and ``w^T b = 0``
would make ``(w, 0)`` a left null vector of B.  So ``A v = lambda v`` and ``c^T v = 1``: the solution in balls encloses the
eigenvector.  The sine of its angle with a float vector x is ``||v - x (x^T v) / (x^T x)|| / ||v||``, evaluated in balls.
(Bordered systems: Govaerts, *Numerical Methods for Bifurcations of Dynamical Equilibria*, SIAM 2000, section 3.2.)
"""

from __future__ import annotations

import math
from typing import Any

import flint
import numpy as np

from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, ExactMatrix
from eigentoken.numerics.certified.rounding import Array

__all__ = ["LARGEST", "exact_eigenvector"]

LARGEST = 40  # the order up to which balls are asked
_PRECISIONS = (320, 1200, 4200)
_ROOM = (1 + 2.0**-20, 2.0**-60)  # a re-check has to confirm the sine with balls of its own


def exact_eigenvector(exact: ExactMatrix, eigenvalue: Any, deadline: Deadline) -> tuple[Array, float] | None:
    """A float vector and a bound on the sine of its angle with the eigenvector, or None.

    ``eigenvalue``: a real ball that holds exactly one eigenvalue of the matrix, which is simple.
    """
    n = exact.shape[0]
    if n > LARGEST:
        return None
    old = flint.ctx.prec
    try:
        for precision in _PRECISIONS:
            deadline.allow(2e-9 * n**3 * precision, "the eigenvector in balls")
            flint.ctx.prec = precision
            found = _angle(_solution(exact, eigenvalue))
            if found is not None:
                return found
    except DeadlinePassed:
        return None
    finally:
        flint.ctx.prec = old
    return None


def _solution(exact: ExactMatrix, eigenvalue: Any) -> list[Any] | None:
    n = exact.shape[0]
    matrix = flint.arb_mat(exact.numerators) * (1 / flint.arb(exact.denominator))
    border = [(k * k) % 7 + 1 for k in range(n)], [(3 * k) % 5 + 1 for k in range(n)]
    rows = [[matrix[i, j] - (eigenvalue if i == j else 0) for j in range(n)] + [border[0][i]] for i in range(n)]
    rows.append([*border[1], 0])
    try:
        solved = flint.arb_mat(rows).solve(flint.arb_mat(n + 1, 1, [0] * n + [1]))
    except ZeroDivisionError:  # not shown to be nonsingular
        return None
    return [solved[i, 0] for i in range(n)]


def _angle(eigenvector: list[Any] | None) -> tuple[Array, float] | None:
    if eigenvector is None or not all(entry.is_finite() for entry in eigenvector):
        return None
    size = max(abs(entry).mid() for entry in eigenvector)
    if not size > 0:
        return None
    scaled = [entry / size for entry in eigenvector]
    x: Array = np.array([float(entry.mid()) for entry in scaled], dtype=np.float64)
    given = [flint.arb(float(entry)) for entry in x]
    along = sum((g * v for g, v in zip(given, scaled, strict=True)), flint.arb(0))
    along /= sum((g * g for g in given), flint.arb(0))
    apart = [v - g * along for g, v in zip(given, scaled, strict=True)]
    off = sum((a * a for a in apart), flint.arb(0))
    length = sum((v * v for v in scaled), flint.arb(0))
    square = flint.arb(abs(off / length).upper())
    sine = float(square.sqrt().upper()) * _ROOM[0] + _ROOM[1]
    return (x, sine) if math.isfinite(sine) and sine < 2.0**-40 else None
