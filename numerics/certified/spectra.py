"""All eigenvalues of a real matrix as discs.

From ``geev`` in real block form: ``A X = X D + R`` with D block diagonal (1 x 1, and ``[[a, b], [-b, a]]`` for a pair),
``Y ~ X^-1``, ``G = Y X - I``.  If every row sum of ``|G|`` is below 1 then X is nonsingular and

    ``X^-1 A X = D + (I + G)^-1 Y R,   |row i of (I + G)^-1 F|_1 <= f_i + h_i + g_i max h / (1 - max g) =: p_i``

with ``f_i``, ``g_i`` the row sums of ``|F| = |Y R|`` and ``|G|``, and ``h = |G| f`` (Neumann's series after its second term).
Diagonalizing the 2 x 2 blocks by the unitary
``[[1, 1], [i, -i]] / sqrt 2`` multiplies a real row by at most sqrt 2 and adds the two rows of a pair, so Gershgorin's
theorem gives discs of radius ``sqrt 2 p_i`` (``p_i`` without pairs) and ``p_i + p_{i+1}``; a connected component of k
discs holds exactly k eigenvalues (Varga, *Gersgorin and His Circles*, Thms 1.1, 1.6; the approach of Rump,
*Computational error bounds for multiple or nearly multiple eigenvalues*, LAA 324, 2001).  A matrix within rho of A adds
``Y E X`` to F: ``f_i`` grows by ``rho sqrt n ||y_i||_2 ||X||_2``.  Rounding:
``|fl(A X - X D) - R| <= gamma_{n+3} (|A||X| + |X||D|)`` and so on, summed over rows by matrix-vector products only.  The
computed R is so much smaller than that bound (a hundredth at n = 384) that ``|Y| |R|`` replaces ``|Y R|`` where it is below
a sixteenth of it, so that the cost is one inverse and two products beside ``geev``.  Y need not be a good inverse: where one in
single precision, at half the price, widens no row by more than a sixteenth, it is taken.

A symmetric center takes ``eigh`` instead, where every matrix within rho (symmetric or not) has its eigenvalues in discs
of radius ``e + rho`` about the intervals' centers (Bauer and Fike for a normal matrix, same count per component).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.certified.arithmetic import multiply
from eigentoken.numerics.certified.definiteness import eigenvalue_intervals
from eigentoken.numerics.certified.error_free_products import sliced_product
from eigentoken.numerics.certified.lapack import (
    dgeev,
    dgeev_lwork,
    dgetrf,
    dgetri,
    dgetri_lwork,
    sgetrf,
    sgetri,
    sgetri_lwork,
)
from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, gamma, inflate, spectral_norm_above

__all__ = ["Discs", "eigenvalue_discs", "symmetric_discs"]

Complex = NDArray[np.complex128]
_SMALL_SHARE = 1 / 16  # of the rounding bound: below it the row sums of |Y| |R| stand for those of |Y R|
_STRIP = 64
_SINGLE_FROM = 128  # from this size on an inverse in single precision is tried


@dataclass(frozen=True)
class Discs:
    """Every matrix of the enclosure has its eigenvalues in the union; a component of k discs holds exactly k of them.

    ``growth[i]``: by how much the radius of disc i grows per unit of a further perturbation, in the spectral norm.
    ``vectors`` (columns, real block form) and ``inverse`` are approximate; ``rows`` bounds the off-diagonal row sums in
    the complex eigenbasis, which is what the eigenvector bound needs.
    """

    centers: Complex
    radii: Array
    growth: Array
    method: str
    vectors: Array | None = field(default=None, repr=False)
    inverse: Array | None = field(default=None, repr=False)
    single: bool = False
    "Was the inverse found in single precision?"

    @property
    def size(self) -> int:
        return int(self.centers.shape[0])

    @property
    def on_axis(self) -> NDArray[np.bool_]:
        """Centers that are real (such a disc is its own mirror image)."""
        return np.asarray(self.centers.imag == 0.0)

    def grown(self, rho: float) -> Discs:
        """The discs of everything within a further rho."""
        radii = np.nextafter(self.radii + inflate(self.growth * rho, 2), np.inf)
        return replace(self, radii=radii)

    def refined_inverse(self) -> Array | None:
        """The inverse, in double precision: after a step of Newton's method where it was found in single precision."""
        if not self.single or self.vectors is None or self.inverse is None:
            return self.inverse
        return np.asarray(2.0 * self.inverse - multiply(multiply(self.inverse, self.vectors), self.inverse))

    def component(self, index: int) -> NDArray[np.intp]:
        """The discs connected with disc ``index`` (overlaps decided generously)."""
        inside = np.zeros(self.size, dtype=bool)
        inside[index] = True
        frontier = [index]
        while frontier:
            i = frontier.pop()
            distance = np.abs(self.centers - self.centers[i]) * (1 - 8 * UNIT)
            near = (distance <= (self.radii + self.radii[i]) * (1 + 8 * UNIT)) & ~inside
            inside |= near
            frontier.extend(np.flatnonzero(near).tolist())
        return np.flatnonzero(inside)


def eigenvalue_discs(
    matrix: Array, rho: float, *, symmetric: bool, sliced: bool = False, basis: Discs | None = None
) -> Discs | None:
    """Discs for every matrix within rho of the float matrix, or None where the eigenvectors are too ill-conditioned.

    ``basis``: earlier discs whose approximate eigenvalues, eigenvectors and inverse are taken as they are, and bounded anew.
    """
    with np.errstate(all="ignore"):
        if symmetric:
            return symmetric_discs(eigenvalue_intervals(matrix, rho))
        try:
            return _general(matrix, rho, sliced=sliced, basis=basis)
        except ValueError:  # of slices: a row or column is too small or too large beside the others
            if not sliced:
                raise
            return None


def symmetric_discs(found: tuple[Array, float, Array] | None) -> Discs | None:
    """Discs from the intervals ``(w, e, X)`` of every symmetric matrix within rho: e is at least that of the matrix, and rho."""
    if found is None:
        return None
    w, e, x = found
    n = w.shape[0]
    return Discs(w.astype(np.complex128), np.full(n, e), np.ones(n), "symmetric intervals", x, x.T)


def _geev(matrix: Array) -> tuple[Array, Array, Array] | None:
    n = matrix.shape[0]
    work, _ = dgeev_lwork(n, compute_vl=0, compute_vr=1)
    wr, wi, _, vr, info = dgeev(np.array(matrix, order="F"), compute_vl=0, compute_vr=1, lwork=int(work), overwrite_a=1)
    if info != 0 or not (np.isfinite(wr).all() and np.isfinite(wi).all() and np.isfinite(vr).all()):
        return None
    return wr, wi, vr


def _inverse(matrix: Array, *, single: bool = False) -> Array | None:
    kind = np.float32 if single else np.float64
    factor, invert, room = (sgetrf, sgetri, sgetri_lwork) if single else (dgetrf, dgetri, dgetri_lwork)
    lu, pivots, info = factor(np.array(matrix, dtype=kind, order="F"), overwrite_a=1)
    if info != 0:
        return None
    size, _ = room(matrix.shape[0])
    inverse, info = invert(lu, pivots, lwork=int(size), overwrite_lu=1)
    if info != 0 or not np.isfinite(inverse).all():
        return None
    return np.asarray(inverse, dtype=np.float64)


def _eigenbasis(matrix: Array, basis: Discs | None) -> tuple[Array, Array, Array] | None:
    """Real and imaginary parts of eigenvalues, vectors in real block form: floats, nothing is claimed."""
    if basis is not None and basis.vectors is not None:
        return basis.centers.real.copy(), basis.centers.imag.copy(), basis.vectors
    return _geev(matrix)


def _inverses(x: Array, basis: Discs | None, *, sliced: bool) -> Iterator[tuple[Array, bool]]:
    """Approximate inverses, the cheap ones first, and whether a better one is to be had."""
    if basis is not None and basis.inverse is not None:
        yield basis.inverse, sliced
    elif x.shape[0] >= _SINGLE_FROM and not sliced and (quick := _inverse(x, single=True)) is not None:
        yield quick, True
    if (slow := _inverse(x)) is not None:
        yield slow, False


def _general(matrix: Array, rho: float, *, sliced: bool, basis: Discs | None = None) -> Discs | None:
    n = matrix.shape[0]
    eigen = _eigenbasis(matrix, basis)
    if eigen is None:
        return None
    wr, wi, x = eigen
    first = np.flatnonzero(wi > 0)  # pairs are (j, j + 1) with positive imaginary part first
    if not np.array_equal(np.flatnonzero(wi < 0), first + 1) or not (
        np.array_equal(wr[first], wr[first + 1]) and np.array_equal(wi[first], -wi[first + 1])
    ):
        return None
    x_sums, x_weighted = _sizes(x, np.ones(n), inflate(np.abs(wr) + np.abs(wi), 1))
    residual, residual_error = _residual(matrix, x, wr, wi, first, x_sums, x_weighted, sliced=sliced)
    for y, better in _inverses(x, basis, sliced=sliced):
        found = _rows(x, y, x_sums, residual, residual_error, sliced=sliced)
        if found is not None and not (better and found.widened):
            break
    else:
        return None
    centers = wr + 1j * wi
    radii, growth = _disc_radii(found.rows, first), _disc_radii(found.growth, first)
    if rho > 0:
        radii = inflate(radii + growth * rho, 3)
    if not (np.isfinite(radii).all() and np.isfinite(growth).all()):
        return None
    single = better if basis is None or basis.inverse is not y else basis.single
    return Discs(centers, radii, growth, "sliced discs" if sliced else "discs", x, y, single)


@dataclass(frozen=True)
class _Rows:
    """The bounds ``p_i``, by how much they grow, and whether a better inverse would make one smaller by a sixteenth."""

    rows: Array
    growth: Array
    widened: bool


def _rows(x: Array, y: Array, x_sums: Array, residual: Array, residual_error: Array, *, sliced: bool) -> _Rows | None:
    n = x.shape[0]
    (residual_sums,) = _sizes(residual, np.ones(n))
    slips = inflate(residual_error + gamma(n + 1) * residual_sums, 4)
    rounding, f, y_sums = _sizes(y, slips, residual_sums, x_sums)  # |Y R| <= |Y| |R|
    row_norms = inflate(np.sqrt(inflate(np.einsum("ij,ij->i", y, y), n + 1)), 2)
    if sliced or not bool((f <= _SMALL_SHARE * rounding).all()):  # only there a product would sharpen the radii
        product = multiply(y, residual)
        f = inflate(np.abs(product, out=product).sum(axis=1), n)
        del product
    f = inflate(f + rounding + 2 * n * n * TINY, 2)
    spread = inflate(row_norms * spectral_norm_above(x) * math.sqrt(n), 6)
    defect = _defect(x, y, y_sums, sliced=sliced)
    if not float(defect[1].max()) < 0.9:
        return None
    p, q = (inflate(each + _beyond(*defect, each), 2) for each in (f, spread))
    return _Rows(p, q, not bool((p <= (1 + _SMALL_SHARE) * f).all()))


def _beyond(size: Array, g: Array, slip: Array, f: Array) -> Array:
    """Upper bounds on the sum of ``|G|^k f`` from k = 1 on, with ``|G| <= size`` up to row sums ``slip``."""
    n = len(f)
    h = inflate(inflate(size @ f, n + 1) + slip * float(f.max()), 2)
    room = 1.0 - float(g.max()) * (1 + 4 * UNIT)
    return np.asarray(inflate(h + g * float(h.max()) / room, 6))


def _sizes(matrix: Array, *weights: Array) -> list[Array]:
    """Upper bounds on ``|M| w`` for each w >= 0, a strip of M at a time: ``|M|`` as a whole would cost more than its use."""
    n = len(matrix)
    found = [np.zeros(n) for _ in weights]
    lying = matrix.flags.c_contiguous
    for start in range(0, n, _STRIP):
        part = slice(start, start + _STRIP)
        strip = np.abs(matrix[part] if lying else matrix[:, part])
        for total, weight in zip(found, weights, strict=True):
            if lying:
                total[part] = strip @ weight
            else:
                total += strip @ weight[part]
    return [np.asarray(inflate(total, n + 1)) for total in found]


def _disc_radii(rows: Array, first: NDArray[np.intp]) -> Array:
    """Real rows times sqrt 2 (where there are pairs), the sum of the two rows of each pair."""
    result = rows * (math.sqrt(2.0) * (1 + 4 * UNIT)) if first.size else rows.copy()
    both = inflate(rows[first] + rows[first + 1], 1)
    result[first], result[first + 1] = both, both
    return np.asarray(inflate(result, 2))


def _defect(x: Array, y: Array, sizes: Array, *, sliced: bool) -> tuple[Array, Array, Array]:
    """``(S, g, slip)``: ``|Y X - I|`` is at most S and something of row sums ``slip``; g bounds its row sums.

    ``sizes``: upper bounds on the row sums of ``|Y| |X|``.
    """
    n = x.shape[0]
    if sliced:
        exact = sliced_product(np.ascontiguousarray(y), np.ascontiguousarray(x), 3)
        high = exact.high
        high.flat[:: n + 1] -= 1.0
        total = inflate(np.abs(high) + np.abs(exact.low) + exact.error + 2.0**-52 * np.abs(high), 4)
        return total, np.asarray(inflate(total.sum(axis=1), n)), np.zeros(n)
    defect = multiply(y, x)
    defect.T.flat[:: n + 1] -= 1.0
    sums = inflate(np.abs(defect, out=defect).sum(axis=1), n)
    slip = np.asarray(inflate(gamma(n + 2) * (sizes + 1.0) + 2 * n * n * TINY, 4))
    return defect, np.asarray(inflate(sums + slip, 2)), slip


def _residual(
    matrix: Array,
    x: Array,
    wr: Array,
    wi: Array,
    first: NDArray[np.intp],
    x_sums: Array,
    x_weighted: Array,
    *,
    sliced: bool,
) -> tuple[Array, Array]:
    """``fl(A X - X D)`` and an upper bound on the row sums of its error."""
    n = matrix.shape[0]
    if sliced:
        blocks = np.diag(wr)
        blocks[first, first + 1], blocks[first + 1, first] = wi[first], -wi[first]
        left = np.hstack([matrix, np.ascontiguousarray(x)])
        right = np.vstack([np.ascontiguousarray(x), -blocks])
        exact = sliced_product(left, right, 3)
        error = np.abs(exact.low) + exact.error
        return exact.high, np.asarray(inflate(error.sum(axis=1), n + 4))
    columns = x.T  # vectors and their images as rows, each in one piece of memory
    images = multiply(columns, matrix.T)
    for start in range(0, n, _STRIP):
        rows = slice(start, start + _STRIP)
        images[rows] -= columns[rows] * wr[rows, None]
        pairs = first[rows]
        images[pairs] += columns[pairs + 1] * wi[pairs, None]
        images[pairs + 1] -= columns[pairs] * wi[pairs, None]
    residual = images.T
    (sizes,) = _sizes(matrix, x_sums)
    error = sizes + x_weighted
    return residual, np.asarray(inflate(gamma(n + 4) * error + 2 * n * (n + 4) * TINY, 4))
