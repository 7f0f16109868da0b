"""All eigenvalues of a real matrix as discs.

From ``geev`` in real block form: ``A X = X D + R`` with D block diagonal (1 x 1, and ``[[a, b], [-b, a]]`` for a pair),
``Y ~ X^-1``, ``G = Y X - I``.  If every row sum of ``|G|`` is below 1 then X is nonsingular and

    ``X^-1 A X = D + (I + G)^-1 Y R,   |row i of (I + G)^-1 F|_1 <= f_i + g_i max f / (1 - max g) =: p_i``

with ``f_i``, ``g_i`` the row sums of ``|F| = |Y R|`` and ``|G|``.  Diagonalizing the 2 x 2 blocks by the unitary
``[[1, 1], [i, -i]] / sqrt 2`` multiplies a real row by at most sqrt 2 and adds the two rows of a pair, so Gershgorin's
theorem gives discs of radius ``sqrt 2 p_i`` (``p_i`` without pairs) and ``p_i + p_{i+1}``; a connected component of k
discs holds exactly k eigenvalues (Varga, *Gersgorin and His Circles*, Thms 1.1, 1.6; the approach of Rump,
*Computational error bounds for multiple or nearly multiple eigenvalues*, LAA 324, 2001).  A matrix within rho of A adds
``Y E X`` to F: ``f_i`` grows by ``rho sqrt n ||y_i||_2 ||X||_2``.  Rounding:
``|fl(A X - X D) - R| <= gamma_{n+3} (|A||X| + |X||D|)`` and so on, summed over rows by matrix-vector products only.  The
computed R is so much smaller than that bound (a hundredth at n = 384) that ``|Y| |R|`` replaces ``|Y R|`` where it is below
a sixteenth of it, so that the cost is one inverse and two products beside ``geev``.

A symmetric center takes ``eigh`` instead, where every matrix within rho (symmetric or not) has its eigenvalues in discs
of radius ``e + rho`` about the intervals' centers (Bauer and Fike for a normal matrix, same count per component).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.certified.arithmetic import multiply
from eigentoken.numerics.certified.definiteness import eigenvalue_intervals
from eigentoken.numerics.certified.error_free_products import sliced_product
from eigentoken.numerics.certified.lapack import dgeev, dgeev_lwork, dgetrf, dgetri, dgetri_lwork
from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, gamma, inflate, spectral_norm_above

__all__ = ["Discs", "eigenvalue_discs", "symmetric_discs"]

Complex = NDArray[np.complex128]
_SMALL_SHARE = 1 / 16  # of the rounding bound: below it the row sums of |Y| |R| stand for those of |Y R|


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
        return Discs(self.centers, radii, self.growth, self.method, self.vectors, self.inverse)

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


def _inverse(matrix: Array) -> Array | None:
    lu, pivots, info = dgetrf(matrix)
    if info != 0:
        return None
    size, _ = dgetri_lwork(matrix.shape[0])
    inverse, info = dgetri(lu, pivots, lwork=int(size), overwrite_lu=1)
    if info != 0 or not np.isfinite(inverse).all():
        return None
    return np.asarray(inverse)


def _eigenbasis(matrix: Array, basis: Discs | None) -> tuple[Array, Array, Array, Array] | None:
    """Real and imaginary parts of eigenvalues, vectors in real block form, and their inverse: floats, nothing is claimed."""
    if basis is not None and basis.vectors is not None and basis.inverse is not None:
        return basis.centers.real.copy(), basis.centers.imag.copy(), basis.vectors, basis.inverse
    eigen = _geev(matrix)
    inverse = None if eigen is None else _inverse(eigen[2])
    return None if eigen is None or inverse is None else (*eigen, inverse)


def _general(matrix: Array, rho: float, *, sliced: bool, basis: Discs | None = None) -> Discs | None:
    n = matrix.shape[0]
    eigen = _eigenbasis(matrix, basis)
    if eigen is None:
        return None
    wr, wi, x, y = eigen
    first = np.flatnonzero(wi > 0)  # pairs are (j, j + 1) with positive imaginary part first
    if not np.array_equal(np.flatnonzero(wi < 0), first + 1) or not (
        np.array_equal(wr[first], wr[first + 1]) and np.array_equal(wi[first], -wi[first + 1])
    ):
        return None
    absolute = np.abs(x)
    x_sums = inflate(absolute.sum(axis=1), n)
    x_weighted = inflate(absolute @ inflate(np.abs(wr) + np.abs(wi), 1), n + 1)
    del absolute
    g = _rows_of_defect(x, y, x_sums, sliced=sliced)
    if not float(g.max()) < 0.9:
        return None
    residual, residual_error = _residual(matrix, x, wr, wi, first, x_sums, x_weighted, sliced=sliced)
    residual_sums = inflate(np.abs(residual).sum(axis=1), n)
    absolute = np.abs(y)
    rounding = inflate(absolute @ inflate(residual_error + gamma(n + 1) * residual_sums, 4), n + 2)
    f = inflate(absolute @ residual_sums, n + 1)  # |Y R| <= |Y| |R|
    if sliced or not bool((f <= _SMALL_SHARE * rounding).all()):  # only there a product would sharpen the radii
        product = multiply(y, residual)
        f = inflate(np.abs(product, out=product).sum(axis=1), n)
        del product
    del residual
    f = inflate(f + rounding + 2 * n * n * TINY, 2)
    row_norms = inflate(np.sqrt(inflate(np.square(absolute, out=absolute).sum(axis=1), n + 1)), 2)
    del absolute
    spread = inflate(row_norms * spectral_norm_above(x) * math.sqrt(n), 6)
    room = 1.0 - float(g.max()) * (1 + 4 * UNIT)
    p = inflate(f + g * float(f.max()) / room, 6)
    q = inflate(spread + g * float(spread.max()) / room, 6)
    centers = wr + 1j * wi
    radii, growth = _disc_radii(p, first), _disc_radii(q, first)
    if rho > 0:
        radii = inflate(radii + growth * rho, 3)
    if not (np.isfinite(radii).all() and np.isfinite(growth).all()):
        return None
    return Discs(centers, radii, growth, "sliced discs" if sliced else "discs", x, y)


def _disc_radii(rows: Array, first: NDArray[np.intp]) -> Array:
    """Real rows times sqrt 2 (where there are pairs), the sum of the two rows of each pair."""
    result = rows * (math.sqrt(2.0) * (1 + 4 * UNIT)) if first.size else rows.copy()
    both = inflate(rows[first] + rows[first + 1], 1)
    result[first], result[first + 1] = both, both
    return np.asarray(inflate(result, 2))


def _rows_of_defect(x: Array, y: Array, x_sums: Array, *, sliced: bool) -> Array:
    """Upper bounds on the row sums of ``|Y X - I|``."""
    n = x.shape[0]
    if sliced:
        exact = sliced_product(np.ascontiguousarray(y), np.ascontiguousarray(x), 3)
        high = exact.high
        high.flat[:: n + 1] -= 1.0
        total = np.abs(high) + np.abs(exact.low) + exact.error + 2.0**-52 * np.abs(high)
        return np.asarray(inflate(total.sum(axis=1), n + 4))
    defect = multiply(y, x)
    defect.T.flat[:: n + 1] -= 1.0
    sums = inflate(np.abs(defect, out=defect).sum(axis=1), n)
    del defect
    rounding = inflate(np.abs(y) @ x_sums, n + 1) + 1.0
    return np.asarray(inflate(sums + gamma(n + 2) * rounding + 2 * n * n * TINY, 4))


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
    residual = multiply(matrix, x)
    residual -= x * wr
    if first.size:
        residual[:, first] += x[:, first + 1] * wi[first]
        residual[:, first + 1] -= x[:, first] * wi[first]
    error = inflate(np.abs(matrix) @ x_sums, n + 1) + x_weighted
    return residual, np.asarray(inflate(gamma(n + 4) * error + 2 * n * (n + 4) * TINY, 4))
