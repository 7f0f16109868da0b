"""Krawczyk's test in ball arithmetic: a box around an approximate zero of a square system holds exactly one zero.

For ``g: R^m -> R^m``, a centre z, a box Z around it and any matrix C: if

    ``z - C g(z) + (I - C G(Z)) (Z - z)``   (G an enclosure of the Jacobian on Z)

lies in the interior of Z, then Z holds exactly one zero of g, and it lies in that image (Krawczyk 1969, Moore 1977).  C is an
approximate inverse of the Jacobian at z; nothing is assumed of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import arb, arb_mat

__all__ = ["Linearized", "box_around", "newton", "positive_definite", "zero_in_box"]

#: The values of the system at balls, and an enclosure of its Jacobian there.
Linearized = Callable[[Sequence[arb]], tuple[list[arb], arb_mat]]

NEWTON_STEPS = 12
SMALL = -100
"Newton's iteration ends where its step is below 2^SMALL"
NO_INVERSE = (ZeroDivisionError, ValueError, ArithmeticError)


def newton(linearized: Linearized, start: Sequence[arb]) -> list[arb] | None:
    """The midpoints after a few steps of Newton's iteration; ``None`` where a Jacobian has no certain inverse.

    A proposal: whether there is a zero nearby is for :func:`zero_in_box` to say.
    """
    z = list(start)
    try:
        for _ in range(NEWTON_STEPS):
            values, slopes = linearized(z)
            step = slopes.solve(arb_mat([[value] for value in values]))
            z = [(x - step[i, 0]).mid() for i, x in enumerate(z)]
            if all(abs(step[i, 0]) < arb(2) ** SMALL for i in range(len(z))):
                break
    except NO_INVERSE:
        return None
    return z


def box_around(centre: Sequence[arb], radius: arb | float) -> list[arb]:
    """The balls of this radius around the midpoints."""
    return [arb(value.mid(), radius) for value in centre]


def zero_in_box(linearized: Linearized, centre: Sequence[arb], radius: arb | float) -> list[arb] | None:
    """Balls inside the box of this radius that hold its only zero, or ``None`` where the test does not pass."""
    z, box = box_around(centre, 0), box_around(centre, radius)
    size = len(box)
    try:
        values, at_centre = linearized(z)
        _, slopes = linearized(box)
        inverse = arb_mat([[entry.mid() for entry in row] for row in at_centre.inv().tolist()])
    except NO_INVERSE:
        return None
    unit = arb_mat([[int(i == j) for j in range(size)] for i in range(size)])
    shift = inverse * arb_mat([[value] for value in values])
    spread = (unit - inverse * slopes) * arb_mat([[ball - mid] for ball, mid in zip(box, z, strict=True)])
    images = [z[i] - shift[i, 0] + spread[i, 0] for i in range(size)]
    return images if all(box[i].contains_interior(images[i]) for i in range(size)) else None


def positive_definite(matrix: arb_mat) -> bool:
    """True only if every symmetric matrix in the ball matrix is positive definite (LDL^T with positive pivots).

    The matrix must be symmetric up to its balls.
    """
    size = matrix.nrows()
    rows = [[(matrix[r, c] + matrix[c, r]) / 2 for c in range(size)] for r in range(size)]
    for k in range(size):
        pivot = rows[k][k]
        if not pivot > 0:
            return False
        for r in range(k + 1, size):
            factor = rows[r][k] / pivot
            for c in range(k + 1, r + 1):
                rows[r][c] = rows[r][c] - factor * rows[c][k]
    return True
