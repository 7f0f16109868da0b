"""Eigenvalues of exact matrices: rational ones exactly, others in balls that hold one each; and which balls hold a real root."""

from __future__ import annotations

from collections.abc import Sequence

from flint import acb, acb_mat, fmpq, fmpq_mat

__all__ = ["enclosed_eigenvalues", "exact_eigenvalues", "real_or_not"]


def exact_eigenvalues(matrix: fmpq_mat) -> list[tuple[fmpq | acb, int]]:
    """The distinct eigenvalues with their multiplicities, by the irreducible factors of the characteristic polynomial.

    Those of degree one give rational numbers; the roots of the others are isolated in balls at the current precision.

    >>> exact_eigenvalues(fmpq_mat([[2, 0, 0], [0, 2, 0], [0, 1, 5]]))
    [(5, 1), (2, 2)]
    """
    found: list[tuple[fmpq | acb, int]] = []
    for factor, multiplicity in matrix.charpoly().factor()[1]:
        if factor.degree() == 1:
            found.append((-factor[0] / factor[1], int(multiplicity)))
        else:
            found += [(root, int(multiplicity)) for root, _ in factor.complex_roots()]
    return found


def enclosed_eigenvalues(matrix: acb_mat) -> list[acb] | None:
    """Balls around all eigenvalues of every matrix in the balls, in no order; ``None`` where they were not enclosed."""
    try:
        return list(matrix.eig(multiple=True))
    except (ValueError, ArithmeticError):
        return None


def real_or_not(isolating: Sequence[acb]) -> list[tuple[acb, bool]]:
    """For balls that hold one root each of a real polynomial: the ball, with imaginary part 0 where its root is real.

    The mirror image of a root is a root.  Where the mirrored ball meets its own ball and no other, the root is its own
    mirror image: real.
    """
    found = []
    for ball in isolating:
        mirrored = ball.conjugate()
        met = [other for other in isolating if other.overlaps(mirrored)]
        real = len(met) == 1 and met[0] is ball
        found.append((acb(ball.real) if real else ball, real))
    return found
