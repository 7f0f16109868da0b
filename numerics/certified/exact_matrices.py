"""Exact matrices: integers over one common positive denominator, and what integer arithmetic decides about them.

A float is a dyadic rational, so every finite float matrix is an exact matrix.  The signs of the eigenvalues of a
symmetric matrix are read off its integer characteristic polynomial ``det(x I - N)``: all roots are real, so Descartes'
rule is an equality, and the inertia is (sign changes of p(x), sign changes of p(-x), order of the zero root).
The arithmetic is FLINT's; there is no rounding anywhere.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import flint
import numpy as np

from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, frobenius_above, up

__all__ = ["Deadline", "DeadlinePassed", "ExactMatrix", "allow_charpoly", "sign_counts_of_polynomial"]


class DeadlinePassed(Exception):
    """The time limit does not allow the next exact step; the caller turns this into ``undecided``."""


@dataclass(frozen=True)
class Deadline:
    """A time limit shared by the rungs of one question."""

    limit: float
    start: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(float(seconds), time.monotonic())

    @property
    def left(self) -> float:
        return self.limit - (time.monotonic() - self.start)

    def allow(self, predicted: float, what: str) -> None:
        """Raise :class:`DeadlinePassed` unless ``predicted`` seconds are left (calls into FLINT cannot be interrupted)."""
        if predicted > self.left:
            raise DeadlinePassed(f"{what} would take about {predicted:.2g} s of the {max(self.left, 0.0):.2g} s left")


def allow_charpoly(n: int, deadline: Deadline, bits: int = 1) -> None:
    """Raise :class:`DeadlinePassed` unless the exact characteristic polynomial of such a matrix can be found in time.

    With one bit an entry, the least, a matrix that is too large is told before it is written in exact numbers.
    """
    at_least = "" if bits > 1 else ", of the smallest entries,"
    deadline.allow(1e-10 * n**4 * (bits + 8), f"the exact characteristic polynomial of order {n}{at_least}")


def sign_counts_of_polynomial(polynomial: flint.fmpz_poly) -> tuple[int, int, int]:
    """Numbers of positive, negative and zero roots of a polynomial **all of whose roots are real** (Descartes).

    >>> sign_counts_of_polynomial(flint.fmpz_poly([0, -2, -1, 1]))  # x (x - 2) (x + 1)
    (1, 1, 1)
    """
    signs = [(1 if c > 0 else -1) if c != 0 else 0 for c in polynomial.coeffs()]
    zero = next(k for k, s in enumerate(signs) if s)
    positive = _changes(signs)
    negative = _changes([s if k % 2 == 0 else -s for k, s in enumerate(signs)])
    if positive + negative + zero != polynomial.degree():
        raise ArithmeticError("Descartes' rule needs a polynomial with real roots only")
    return positive, negative, zero


def _changes(signs: Sequence[int]) -> int:
    seen = [s for s in signs if s]
    return sum(1 for a, b in pairwise(seen) if a != b)


@dataclass(frozen=True, eq=False)
class ExactMatrix:
    """``numerators / denominator`` with an integer matrix and a positive integer."""

    numerators: flint.fmpz_mat
    denominator: flint.fmpz

    @classmethod
    def from_floats(cls, array: Array) -> ExactMatrix:
        """The exact value of a finite float64 array."""
        rows, columns = array.shape
        mantissa, exponent = np.frexp(np.ascontiguousarray(array, dtype=np.float64))
        whole = np.ldexp(mantissa, 53).astype(np.int64).ravel()
        exponent = exponent.ravel().astype(np.int64) - 53
        nonzero = whole != 0
        if not nonzero.any():
            return cls(flint.fmpz_mat(rows, columns), flint.fmpz(1))
        lowest = np.where(nonzero, whole & -whole, 1)
        trailing = np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1
        whole, exponent = whole >> trailing, exponent + trailing
        least = int(exponent[nonzero].min())
        shifts = np.where(nonzero, exponent - least, 0)
        if int(shifts.max()) == 0:
            integers = whole.tolist()
        else:
            integers = [a << b for a, b in zip(whole.tolist(), shifts.tolist(), strict=True)]
        matrix = flint.fmpz_mat(rows, columns, integers)
        if least >= 0:
            return cls(matrix * flint.fmpz(1 << least), flint.fmpz(1))
        return cls(matrix, flint.fmpz(1 << -least))

    @classmethod
    def from_fractions(cls, rows: Sequence[Sequence[Fraction]]) -> ExactMatrix:
        """From nested lists of ints or ``Fraction``."""
        entries = [[Fraction(entry) for entry in row] for row in rows]
        rational = flint.fmpq_mat(
            len(entries),
            len(entries[0]) if entries else 0,
            [flint.fmpq(e.numerator, e.denominator) for r in entries for e in r],
        )
        numerators, denominator = rational.numer_denom()
        return cls(numerators, denominator)

    @property
    def shape(self) -> tuple[int, int]:
        return self.numerators.nrows(), self.numerators.ncols()

    @property
    def bits(self) -> int:
        """The length of the longest numerator (at least 1)."""
        entries = self.numerators.entries()
        return max(int(max(entries)).bit_length(), int(min(entries)).bit_length(), 1) if entries else 1

    def fractions(self) -> list[list[Fraction]]:
        q = int(self.denominator)
        return [[Fraction(int(e), q) for e in row] for row in self.numerators.tolist()]

    def digest(self) -> str:
        """sha256 of the shape and the reduced entries, written ``a/b``."""
        text = f"rational{self.shape}" + ",".join(str(e) for row in self.fractions() for e in row)
        return hashlib.sha256(text.encode()).hexdigest()

    def transpose(self) -> ExactMatrix:
        return ExactMatrix(self.numerators.transpose(), self.denominator)

    def times(self, other: ExactMatrix) -> ExactMatrix:
        return ExactMatrix(self.numerators * other.numerators, self.denominator * other.denominator)

    def plus(self, other: ExactMatrix) -> ExactMatrix:
        return ExactMatrix(
            self.numerators * other.denominator + other.numerators * self.denominator,
            self.denominator * other.denominator,
        )

    def scaled(self, factor: Fraction) -> ExactMatrix:
        return ExactMatrix(
            self.numerators * flint.fmpz(factor.numerator), self.denominator * flint.fmpz(factor.denominator)
        )

    def symmetric_part(self) -> ExactMatrix:
        """``(M + M^T) / 2``."""
        return ExactMatrix(self.numerators + self.numerators.transpose(), self.denominator * 2)

    def shifted(self, shift: Fraction) -> ExactMatrix:
        """``M + shift I``."""
        n = self.shape[0]
        identity = flint.fmpz_mat(n, n)
        for i in range(n):
            identity[i, i] = 1
        return self.plus(ExactMatrix(identity * flint.fmpz(shift.numerator), flint.fmpz(shift.denominator)))

    def is_symmetric(self) -> bool:
        return self.shape[0] == self.shape[1] and bool(self.numerators == self.numerators.transpose())

    def is_zero(self) -> bool:
        return not any(self.numerators.entries())

    def charpoly(self, deadline: Deadline) -> flint.fmpz_poly:
        """The characteristic polynomial of the **numerators** (measured: about 3e-11 n^4 bits seconds)."""
        allow_charpoly(self.shape[0], deadline)
        allow_charpoly(self.shape[0], deadline, self.bits)
        return self.numerators.charpoly()

    def inertia(self, deadline: Deadline) -> tuple[int, int, int]:
        """(positive, negative, zero) eigenvalues of a symmetric matrix, exactly."""
        return sign_counts_of_polynomial(self.charpoly(deadline))

    def rank(self, deadline: Deadline) -> int:
        """The rank, exactly (modular first, fraction-free elimination where it is deficient)."""
        rows, columns = self.shape
        small = min(rows, columns)
        deadline.allow(2e-10 * rows * columns * small * small * (self.bits + 8) / 20, "the exact rank")
        return int(self.numerators.rank())

    def as_floats(self) -> Array | None:
        """The matrix as floats, if every entry is one (int / int is correctly rounded)."""
        q = int(self.denominator)
        entries = [int(e) for e in self.numerators.entries()]
        try:
            values = [e / q for e in entries]
        except OverflowError:
            return None
        same = all(Fraction(v) * q == e for v, e in zip(values, entries, strict=True))
        return np.array(values, dtype=np.float64).reshape(self.shape) if same else None

    def nearest_floats(self) -> tuple[Array, float, int]:
        """``(center, radius, exponent)`` with ``|| M 2^-exponent - center ||_F <= radius``; no overflow."""
        rows, columns = self.shape
        q = int(self.denominator)
        largest = max((int(abs(e)) for e in self.numerators.entries()), default=0)
        exponent = 0
        if largest:
            size = largest.bit_length() - q.bit_length()
            exponent = 0 if abs(size) <= 100 else size
        top, bottom = (1, 1 << exponent) if exponent >= 0 else (1 << -exponent, 1)
        values = [int(e) * top / (q * bottom) for e in self.numerators.entries()]  # int / int is correctly rounded
        center = np.array(values, dtype=np.float64).reshape(rows, columns)
        exact = all(
            (int(e) * top) == Fraction(v) * (q * bottom) for e, v in zip(self.numerators.entries(), values, strict=True)
        )
        radius = 0.0 if exact else up(UNIT * frobenius_above(center) + rows * columns * TINY)
        return center, radius, exponent
