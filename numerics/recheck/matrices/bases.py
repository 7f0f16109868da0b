"""Discs for large matrices: one float eigenbasis whose residual is summed in exact integer pieces.

For a float matrix A (largest entry near 1), a candidate basis X (real eigenvectors; real and imaginary parts of a pair),
``Y ~ X^-1`` and D block diagonal (``[[a, b], [-b, a]]`` for a pair a + ib) put ``R = A X - X D``, ``G = Y X - I``.  Nothing
is trusted but matrix products (:mod:`.floats`).  If every row sum of ``|G|`` is below 1 then ``X^-1 A X = D + P`` with
``|P| <= |Y R| + |G| |P|``, so row i of ``|P|`` sums to at most ``f_i + h_i + g_i max h / (1 - max g)`` with ``h = |G| f``: any Y
serves for which that is not much above ``f_i``, and one in single precision costs half.

* R is small, so its products are cut: rows of A and columns of X become integers of b bits a piece,
  ``2 b + log2 n + 2 <= 53``, whose product has no rounding in any order of summation, nor has the sum of up to four of them
  (all partial sums are integers below 2^53).  Three pieces a side, six products, added level by level; what is dropped is at
  most ``2 n 2^(-3 b)`` of row and column scale.  The levels are added by Knuth's TwoSum.
* An error E of the matrix adds ``Y E X`` to ``Y R``: at most ``||E|| sqrt n ||y_i|| ||X||_2`` to the sum of row i.
* The unitary ``[[1, 1], [i, -i]] / sqrt 2`` on each pair diagonalizes D.  It multiplies the sum of a real row by at most
  sqrt 2 (1 without pairs), and a row of a pair gets at most the sum of both.  Gershgorin's theorem on the result: the
  spectrum lies in the discs, k of them in a component hold k eigenvalues (Varga, *Gersgorin and His Circles*, Thm 1.6).
* For a symmetric A an error E adds ``||E||`` to every radius (Bauer and Fike), without the basis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetri, sgetrf, sgetri

from eigentoken.numerics.recheck.matrices.floats import FLOOR, Floats, U, plain_spectral_above, quick_spectral_above

__all__ = ["Basis", "FloatDiscs", "candidate_basis", "float_discs", "residual", "with_column"]

PIECES = 3
#: Below it a radius is what subnormal numbers lost: nothing was claimed of a neighbourhood.
NO_REACH = 2.0**-400
#: A coarse residual is summed in at most so many parts.
BLOCKS = 4
#: Moduli are summed so many rows at a time: whole arrays of them would cost more than the sums.
STRIP = 64


@dataclass(frozen=True)
class Basis:
    """Columns of X and the blocks of D: eigenvalue j is ``re[j] + i im[j]``, a pair stands at ``first`` and the next."""

    columns: Floats = field(repr=False)
    re: Floats
    im: Floats
    first: NDArray[np.intp]
    normal: bool

    @cached_property
    def left(self) -> Left | None:
        """Y near the inverse of X with ``|Y X - I|``; None where Y is no inverse."""
        return self._left(single=False)

    @cached_property
    def quick_left(self) -> Left | None:
        """The same by an inverse in single precision, which is no worse for discs that are far inside what is claimed."""
        return self.left if self.normal else self._left(single=True)

    def _left(self, *, single: bool) -> Left | None:
        x = self.columns
        if self.normal:
            return _left(x, np.ascontiguousarray(x.T), 0.5)
        factor, invert = (sgetrf, sgetri) if single else (dgetrf, dgetri)
        # the transpose is what lies in memory as LAPACK reads it
        transposed = np.array(x.T, dtype=np.float32 if single else np.float64, order="F")
        lu, places, singular = factor(transposed, overwrite_a=1)
        if singular:
            return None
        y, failed = invert(lu, places, lwork=64 * len(x), overwrite_lu=1)
        if failed or not np.isfinite(y).all():
            return None
        return _left(x, np.asarray(y.T, dtype=np.float64), 0.25 if single else 0.5)


@dataclass(frozen=True)
class Left:
    """Y, ``|fl(Y X) - I|``, what row sums of ``|Y X - I|`` may exceed those of it by, and upper bounds on the former."""

    y: Floats = field(repr=False)
    defect: Floats = field(repr=False)
    slip: Floats
    sums: Floats

    def widened(self, f: Floats) -> Floats:
        """Upper bounds on the row sums of ``|P|``, from those of ``|Y R|``."""
        n = len(f)
        h = _over(_over(self.defect @ f, n) + self.slip * float(f.max()), 2)
        return _over(f + h + self.sums * (float(h.max()) / (1.0 - float(self.sums.max())) * (1 + 8 * U)), 8)


def _left(x: Floats, y: Floats, most: float) -> Left | None:
    n = len(x)
    defect = y @ x
    defect.flat[:: n + 1] -= 1.0
    np.abs(defect, out=defect)
    (size,) = _absolute(y, _absolute(x, np.ones(n))[0])
    slip = _over((n + 2) * U * (size + 1.0), 4)
    sums = _over(defect.sum(axis=1) + slip, 2 * n)
    return Left(y, defect, slip, sums) if float(sums.max()) < most else None


def _absolute(matrix: Floats, *weights: Floats) -> list[Floats]:
    """Upper bounds on ``|M| w`` for each w >= 0, some rows (or columns, as they lie) at a time."""
    by_rows = matrix.flags.c_contiguous
    found = [np.zeros(len(matrix)) for _ in weights]
    for start in range(0, matrix.shape[0 if by_rows else 1], STRIP):
        part = slice(start, start + STRIP)
        size = np.abs(matrix[part] if by_rows else matrix[:, part])
        for total, weight in zip(found, weights, strict=True):
            if by_rows:
                total[part] = size @ weight
            else:
                total += size @ weight[part]
    return [_over(total, matrix.shape[1] + 1) for total in found]


@dataclass(frozen=True)
class FloatDiscs:
    """Disc j has the center ``re + i im`` and the radius ``radii`` (for every matrix of the set)."""

    re: Floats
    im: Floats
    radii: Floats
    basis: Basis = field(repr=False)

    def column_norms(self) -> Floats:
        """Upper bounds on the norms of the columns in which D is diagonal (a pair shares the larger one)."""
        x, first = self.basis.columns, self.basis.first
        norms = np.sqrt(_over(np.einsum("ij,ij->j", x, x), x.shape[0])) * (1 + 4 * U)
        largest = np.maximum(norms[first], norms[first + 1])
        norms[first], norms[first + 1] = largest, largest
        return np.asarray(norms)


def _over(values: Floats, roundings: int) -> Floats:
    """Not below the exact value of a non-negative sum that was computed with that many roundings on a path."""
    return np.asarray(values * (1 + (2 * roundings + 16) * U) + FLOOR)


def candidate_basis(matrix: Floats) -> Basis | None:
    """From LAPACK, untrusted; columns have length one, those of a pair together."""
    n = matrix.shape[0]
    normal = bool(np.array_equal(matrix, matrix.T))
    try:
        if normal:
            w, q = np.linalg.eigh(matrix)
            return Basis(np.asarray(q), w, np.zeros(n), np.zeros(0, dtype=np.intp), True)
        values, vectors = np.linalg.eig(matrix)
    except np.linalg.LinAlgError:
        return None
    re, im = np.ascontiguousarray(values.real), np.ascontiguousarray(values.imag)
    first = np.flatnonzero(im > 0)
    paired = np.array_equal(np.flatnonzero(im < 0), first + 1)
    if not (paired and np.array_equal(re[first], re[first + 1]) and np.array_equal(im[first], -im[first + 1])):
        return None
    columns = np.array(vectors.real, dtype=np.float64)
    if first.size:
        columns[:, first + 1] = vectors.imag[:, first]
    if not (np.isfinite(columns).all() and np.isfinite(re).all()):
        return None
    return Basis(columns, re, im, first, False)


def with_column(basis: Basis, lead: int, column: Floats) -> Basis:
    """The same basis with another column for a real eigenvalue."""
    columns = basis.columns.copy()
    columns[:, lead] = column
    return Basis(columns, basis.re, basis.im, basis.first, basis.normal)


def _pieces(matrix: Floats, bits: int, axis: int) -> tuple[list[Floats], Floats]:
    """Integers ``p_s`` and powers of two c with ``matrix = c sum_s p_s 2^(-bits (s+1))`` up to ``c 2^(-PIECES bits)``."""
    exponents = np.frexp(np.abs(matrix).max(axis=axis, keepdims=True))[1]
    rest = matrix * np.ldexp(1.0, -exponents)
    found = []
    for s in range(1, PIECES + 1):
        piece = np.rint(rest * 2.0 ** (bits * s))
        found.append(piece)
        if s < PIECES:
            rest -= piece * 2.0 ** (-bits * s)  # exact: what is left of the same digits
    return found, np.ldexp(1.0, exponents)


class _Sum:
    """``high + low`` by TwoSum; ``slip`` collects what the additions to ``low`` may have lost, over u."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.high, self.low, self.slip = np.zeros(shape), np.zeros(shape), np.zeros(shape)

    def add(self, term: Floats) -> None:
        total = self.high + term
        back = total - self.high
        self.low += (self.high - (total - back)) + (term - back)
        self.high = total
        self.slip += np.abs(self.low)


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """26 leading bits and the rest (Veltkamp)."""
    scaled = values * 134217729.0
    high = scaled - (scaled - values)
    return high, values - high


def residual(matrix: Floats, basis: Basis) -> tuple[Floats, Floats]:
    """``(H, E)`` with ``|A X - X D - H| <= E`` entry by entry.

    The few products of X D are exact as ``fl(x d) + e`` (Dekker).
    """
    x = basis.columns
    n = matrix.shape[0]
    bits = (51 - max(1, math.ceil(math.log2(n)))) // 2
    rows, row_scale = _pieces(matrix, bits, axis=1)
    columns, column_scale = _pieces(x, bits, axis=0)
    total = _Sum(x.shape)
    for level in range(PIECES):
        whole = rows[0] @ columns[level]
        for s in range(1, level + 1):
            whole += rows[s] @ columns[level - s]
        whole *= row_scale * 2.0 ** (-bits * (level + 2))
        whole *= column_scale
        total.add(whole)
    del rows, columns
    x_high, x_low = _halves(x)
    for factor, source in _blocks(basis.re, basis.im, basis.first):
        high, low = _halves(-factor)
        product = x[:, source] * -factor
        left = x_high[:, source]
        error = left * high - product
        error += left * low
        left = x_low[:, source]
        error += left * high
        error += left * low
        total.add(product)
        total.add(error)
    slip = np.abs(total.low)
    slip += U * total.slip
    slip += (row_scale * (2.0 * n * 2.0 ** (-PIECES * bits))) * column_scale
    return total.high, _over(slip, 4) + n * FLOOR


def _blocks(re: Floats, im: Floats, first: NDArray[np.intp]) -> list[tuple[Floats, NDArray[np.intp]]]:
    """``X D`` as sums of columns times numbers: ``(factor_j, source_j)``, twice where there are pairs."""
    order = np.arange(re.shape[0])
    parts = [(re, order)]
    if first.size:
        partner = order.copy()
        partner[first], partner[first + 1] = first + 1, first
        crossed = np.zeros_like(re)
        crossed[first], crossed[first + 1] = -im[first], im[first]
        parts.append((crossed, partner))
    return parts


def _residual_in_blocks(matrix: Floats, basis: Basis) -> Floats:
    """Upper bounds on the row sums of ``|A X - X D|``: half to a quarter of the inner length at a time, a product of floats each.

    A product of inner length b errs by ``gamma_b |A| |X|``, the sum of m of them and of the two terms of X D by m + 6 roundings:
    ``(b + m + 8) u (|A| |X| + |X| |D|)`` is above both, where one product of length n is trusted up to ``gamma_n`` only.
    """
    x, n = basis.columns, matrix.shape[0]
    blocks = max(2, min(BLOCKS, n // 192))
    block = -(-n // blocks)
    turned = matrix.T  # the columns of X and of the residual as rows, each in one piece of memory
    columns = np.ascontiguousarray(x.T)
    total = columns[:, :block] @ turned[:block]
    part = np.empty_like(total)
    for start in range(block, n, block):
        total += np.matmul(columns[:, start : start + block], turned[start : start + block], out=part)
    for start in range(0, n, STRIP):
        rows = slice(start, start + STRIP)
        total[rows] -= columns[rows] * basis.re[rows, None]
        pairs = basis.first[rows]
        turn = basis.im[pairs, None]
        total[pairs] += columns[pairs + 1] * turn
        total[pairs + 1] -= columns[pairs] * turn
    sums, weighted = _absolute(x, np.ones(n), np.abs(basis.re) + np.abs(basis.im))
    (sizes,) = _absolute(matrix, sums)
    error = _over((block + blocks + 8) * U * _over(sizes + weighted, 2), 4) + n * (n + 8) * FLOOR
    return _over(_absolute(total.T, np.ones(n))[0] + error, n)


def float_discs(matrix: Floats, basis: Basis, rho: float, *, coarse: bool = False) -> FloatDiscs | None:
    """Discs of every matrix within rho of the float matrix, or None where X is too close to singular.

    ``coarse``: a product of floats in blocks stands for the residual, and ``|Y| |R|`` for ``|Y R|``: a third of the work.
    """
    n = matrix.shape[0]
    x = basis.columns
    with np.errstate(all="ignore"):
        left = (basis.quick_left if coarse and rho < NO_REACH else None) or basis.left
        if left is None:
            return None
        y = left.y
        if coarse:
            f = _over(_absolute(y, _residual_in_blocks(matrix, basis))[0], n + 2) + n * n * FLOOR
        else:
            high, error = residual(matrix, basis)
            sums = _over(np.abs(high).sum(axis=1), n)
            slips = _over(error.sum(axis=1), n)
            f = np.abs(y @ high).sum(axis=1) + _absolute(y, (n + 2) * U * sums + slips)[0]
            f = _over(f, 3 * n) + n * n * FLOOR
        if rho > 0 and not basis.normal:
            lengths = np.sqrt(_over(np.einsum("ij,ij->i", y, y), n))
            size = plain_spectral_above(x) if coarse else quick_spectral_above(x)
            f = _over(f + lengths * (rho * math.sqrt(n) * (1 + 8 * U) * size), 8)
        p = left.widened(f)
        radii = p * (math.sqrt(2.0) * (1 + 8 * U)) if basis.first.size else p.copy()
        both = p[basis.first] + p[basis.first + 1]
        radii[basis.first], radii[basis.first + 1] = both, both
        radii = _over(radii + (rho if basis.normal else 0.0), 4)
        if not np.isfinite(radii).all():
            return None
    return FloatDiscs(basis.re, basis.im, radii, basis)
