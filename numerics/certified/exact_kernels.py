"""The kernel of an exact matrix, where it has a basis of small rational vectors.

The reduced echelon form modulo a 61-bit prime gives candidates: the rational reconstruction of each basis vector (Wang, *A p-adic
algorithm for univariate partial fractions*, 1981), which integer arithmetic then multiplies by the matrix.  Since the rank modulo
a prime is never above the rank, k confirmed independent vectors and a modular rank of n - k make the rank exactly n - k.
"""

from __future__ import annotations

import math

import flint

from eigentoken.numerics.certified.exact_matrices import ExactMatrix

__all__ = ["PRIME", "nullity"]

PRIME = (1 << 61) - 1
MOST = 16  # a larger kernel is left to exact elimination
_REACH = math.isqrt(PRIME // 2)


def nullity(exact: ExactMatrix) -> int | None:
    """The dimension of the right kernel, or None where it is not seen in this way.

    >>> nullity(ExactMatrix.from_fractions([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]))
    1
    """
    rows, columns = exact.shape
    reduced, rank = flint.nmod_mat(exact.numerators, PRIME).rref()
    if rank == columns:
        return 0
    if columns - rank > MOST:
        return None
    pivots: list[int] = []
    column = 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        pivots.append(column)
    free = sorted(set(range(columns)) - set(pivots))
    basis = [_vector(reduced, pivots, each, columns) for each in free]
    if any(vector is None for vector in basis):
        return None
    candidates = flint.fmpz_mat(columns, len(free), [vector[i] for i in range(columns) for vector in basis if vector])
    if exact.numerators * candidates != flint.fmpz_mat(rows, len(free)):
        return None
    return len(free)  # independent: each has a coordinate of its own


def _vector(reduced: flint.nmod_mat, pivots: list[int], free: int, columns: int) -> list[int] | None:
    """The basis vector of one free column, as integers."""
    entries: dict[int, tuple[int, int]] = {free: (1, 1)}
    for row, column in enumerate(pivots):
        found = _rational(-int(reduced[row, free]) % PRIME)
        if found is None:
            return None
        entries[column] = found
    common = math.lcm(*(q for _, q in entries.values()))
    return [p * (common // q) for p, q in (entries.get(i, (0, 1)) for i in range(columns))]


def _rational(residue: int) -> tuple[int, int] | None:
    """``p / q`` with ``p = q residue`` modulo the prime and both small, if there is one."""
    old, new = (PRIME, 0), (residue, 1)
    while new[0] > _REACH:
        quotient = old[0] // new[0]
        old, new = new, (old[0] - quotient * new[0], old[1] - quotient * new[1])
    p, q = new if new[1] > 0 else (-new[0], -new[1])
    return (p, q) if 0 < q <= _REACH and math.gcd(p, q) == 1 else None
