"""Statistics of ``M = L^T R``, a head or a layer, that are free of scale: of one pair of factors and of batches of draws.

What they are held against: :mod:`eigentoken.numerics.layers.chance`.  Measured in floats.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.layers.rotary_scores import OFFSETS

__all__ = [
    "STATISTICS",
    "WIDEST_SPECTRUM",
    "WIDEST_SYMMETRIC",
    "Complex",
    "Floats",
    "core_eigenvalues",
    "core_statistics",
    "largest_growth",
    "leads_by_growth",
    "leads_by_modulus",
    "leads_by_real_part",
    "of_eigenvalues",
    "of_factors",
    "real_leaders",
    "scale_of",
    "scaled_statistics",
    "singular_values",
    "small_core",
    "spectral_statistics",
    "symmetric_ends",
]

Floats: TypeAlias = NDArray[np.float64]
Complex: TypeAlias = NDArray[np.complex128]

#: Eigenvalues of draws and of symmetric parts are taken up to these widths; a part that is smaller than the share of the
#: largest counts as zero.
WIDEST_SPECTRUM, WIDEST_SYMMETRIC, ZERO = 768, 1024, 1e-9

STATISTICS = {
    "trace": "trace / (root of the rank times the Frobenius norm): 1 for a multiple of a projection, 0 on average at random",
    "asymmetry": "norm of the skew part over the norm (Frobenius): 0 for symmetric, 1 for skew, about 0.71 at random",
    "stable rank": "squared Frobenius norm over squared spectral norm, over the rank: 1 where all singular values are equal",
    "positive share": "share of positive eigenvalues of the symmetric part, zeros left out: one half on average at random",
    "top of sym": "largest eigenvalue of the symmetric part over the spectral norm",
    "bottom of sym": "smallest eigenvalue of the symmetric part over the spectral norm; below zero it is the "
    "distance to the semidefinite matrices, over the norm",
    "norm": "rank times spectral norm over the Frobenius norms of both factors: 1 for a multiple of a projection",
    "leader": "largest real part of an eigenvalue over the largest modulus: 1 where a positive eigenvalue is the largest",
    "gap": "largest real part of an eigenvalue less the next (0 for a pair that is not real), over the spectral norm",
    "alpha*": "x / (1 + x) with x = alpha* times the spectral norm, where a positive eigenvalue leads, against draws where one "
    "does; alpha*: the step below which consensus on its eigenvector is stable (PM-N1); 1 where every step is below it",
    "distance to I": "spectral norm of M - I, against random weights of the same scale",
    "growth": "largest |1 + lambda| of an eigenvalue, by which the map x + M x grows, against random weights of the same scale",
}
STATISTICS |= {
    f"rotary change at {offset}": f"|P({offset}) - P(0)| / |P(0)|, spectral norms: what the turn of {offset} position"
    f"{'s' if offset > 1 else ''} changes of the scores, against Gaussian factors with the same turn"
    for offset in OFFSETS
}


def core_statistics(core: Floats, squares: Floats, rank: int) -> dict[str, Floats]:
    """Trace and asymmetry from ``X = R L^T`` (trace M = trace X, trace M^2 = trace X^2) and ``|M|_F^2``; any leading axes.

    ``|M - M^T|_F^2 / 4 = (|M|_F^2 - trace M^2) / 2``.
    """
    trace = np.trace(core, axis1=-2, axis2=-1)
    square = np.einsum("...ij,...ji->...", core, core)
    with np.errstate(all="ignore"):
        return {
            "trace": trace / np.sqrt(rank * squares),
            "asymmetry": np.sqrt(np.maximum(0.0, (1 - square / squares) / 2)),
        }


def spectral_statistics(left: Floats, right: Floats) -> dict[str, float]:
    """The statistics of ``M = L^T R`` with factors of shape (r, d); those that are not defined (zero weights) are left out."""
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return {}
    eigenvalues = core_eigenvalues(small_core(left[None], right[None]))
    made = {name: float(values[0]) for name, values in of_factors(left[None], right[None], eigenvalues).items()}
    return {name: value for name, value in made.items() if np.isfinite(value)}


def real_leaders(left: Floats, right: Floats) -> tuple[bool, bool, bool] | None:
    """Is the eigenvalue of the core ``R L^T`` that leads real, by real part, by modulus, by ``|1 + lambda|``?

    ``None`` where it is too wide.
    """
    values = core_eigenvalues(small_core(left, right))
    if values is None:
        return None
    return bool(leads_by_real_part(values)), bool(leads_by_modulus(values)), bool(leads_by_growth(values))


def scale_of(left: Floats, right: Floats) -> Floats:
    """``|L|_F |R|_F`` over the number of rows: the norm of a multiple of a projection with such factors."""
    sizes = [np.sqrt(np.einsum("...ij,...ij->...", each, each)) for each in (left, right)]
    return np.asarray(sizes[0] * sizes[1] / left.shape[-2])


def scaled_statistics(left: Floats, right: Floats) -> dict[str, float]:
    """What depends on the scale, of ``M = L^T R`` (d x d): ``|M - I|`` and the growth, up to the widths of their nulls."""
    rows, d = left.shape
    found = {}
    if min(d, 2 * rows) <= WIDEST_SYMMETRIC and min(d, rows) <= WIDEST_SPECTRUM:
        if d < 2 * rows:
            found["distance to I"] = float(np.linalg.norm(left.T @ right - np.eye(d), 2))
        else:
            T = np.asarray(np.linalg.qr(np.concatenate([left, right]).T, mode="r"))
            inside = float(np.linalg.norm(T[:, :rows] @ T[:, rows:].T - np.eye(2 * rows), 2))
            found["distance to I"] = max(inside, 1.0 if 2 * rows < d else 0.0)
    values = core_eigenvalues(small_core(left, right))
    if values is not None:
        found["growth"] = float(largest_growth(values, d))
    return found


def largest_growth(values: Complex, d: int) -> Floats:
    """The largest ``|1 + lambda|``; a kernel has 1."""
    found = np.abs(1 + values).max(axis=-1)
    return np.asarray(np.maximum(found, 1.0) if values.shape[-1] < d else found)


def core_eigenvalues(core: Floats) -> Complex | None:
    """``None`` beyond the width where they are taken."""
    if core.shape[-1] > WIDEST_SPECTRUM:
        return None
    return np.asarray(np.linalg.eigvals(core), dtype=np.complex128)


def leads_by_real_part(values: Complex) -> NDArray[np.bool_]:
    """For each row of eigenvalues: the largest real part is that of a real one."""
    first = np.take_along_axis(values, np.argmax(values.real, axis=-1)[..., None], axis=-1)[..., 0]
    return np.asarray(np.abs(first.imag) <= 1e-12 * np.abs(values).max(axis=-1))


def leads_by_modulus(values: Complex) -> NDArray[np.bool_]:
    """For each row of eigenvalues: the largest modulus is that of a real one."""
    sizes = np.abs(values)
    first = np.take_along_axis(values, np.argmax(sizes, axis=-1)[..., None], axis=-1)[..., 0]
    return np.asarray(np.abs(first.imag) <= 1e-12 * sizes.max(axis=-1))


def leads_by_growth(values: Complex) -> NDArray[np.bool_]:
    """For each row of eigenvalues: the largest ``|1 + lambda|`` is that of a real one."""
    first = np.take_along_axis(values, np.argmax(np.abs(1 + values), axis=-1)[..., None], axis=-1)[..., 0]
    return np.asarray(np.abs(first.imag) <= 1e-12 * np.abs(values).max(axis=-1))


def of_eigenvalues(values: Complex, norm: Floats, zeros: int) -> dict[str, Floats]:
    """Leader, gap and alpha* of matrices with these eigenvalues and ``zeros`` more that are 0.

    ``1 / alpha* = max over |lambda| > lambda_1 of (|lambda|^2 - lambda_1^2) / (2 (lambda_1 - Re lambda))``, NaN where no positive
    real eigenvalue leads.
    """
    kernel = np.zeros((*values.shape[:-1], min(zeros, 2)))
    ordered = np.sort(np.concatenate([values.real, kernel], axis=-1), axis=-1)
    top, next_one = ordered[..., -1], ordered[..., -2] if ordered.shape[-1] > 1 else np.full(ordered.shape[:-1], np.nan)
    with np.errstate(all="ignore"):
        beyond = np.abs(values) ** 2 - top[..., None] ** 2
        held_back = np.where(beyond > 0, beyond / (2 * (top[..., None] - values.real)), 0.0).max(axis=-1) / norm
        led = leads_by_real_part(values) & (top > 0)
        return {
            "leader": values.real.max(axis=-1) / np.abs(values).max(axis=-1),
            "gap": (top - next_one) / norm,
            "alpha*": np.where(led, 1 / (1 + held_back), np.nan),
        }


def of_factors(left: Floats, right: Floats, values: Complex | None) -> dict[str, Floats]:
    """Of a batch of factors (N, r, d) and the eigenvalues of their cores, where these are taken."""
    core, singular = small_core(left, right), singular_values(left, right)
    squares = np.einsum("...i,...i->...", singular, singular)
    rank, d = singular.shape[-1], left.shape[-1]
    found = core_statistics(core, squares, rank)
    with np.errstate(all="ignore"):
        found["stable rank"] = squares / (singular[..., 0] ** 2 * rank)
        parts = _symmetric_parts(left, right)
        if parts is not None and d < 2 * left.shape[-2]:  # a smaller rank r has r of each sign, whatever it is
            found["positive share"] = _positive_share(parts)
        if parts is not None:
            found |= symmetric_ends(parts, singular[..., 0], d)
        sizes = (np.sqrt(np.einsum("...ij,...ij->...", each, each)) for each in (left, right))
        found["norm"] = left.shape[-2] * singular[..., 0] / np.prod(list(sizes), axis=0)
        if values is not None:
            found |= of_eigenvalues(values, singular[..., 0], d - core.shape[-1])
    return found


def _symmetric_parts(left: Floats, right: Floats) -> Floats | None:
    """The eigenvalues of ``(M + M^T) / 2``, from below; those of a kernel are left out.  ``None`` where that is too wide.

    ``M + M^T = Z^T J Z`` for ``Z = [L; R]`` and the exchange J of both halves; ``Z^T = Q T`` has orthonormal Q.
    """
    rows, d = left.shape[-2:]
    if min(d, 2 * rows) > WIDEST_SYMMETRIC:
        return None
    if d < 2 * rows:
        M = left.swapaxes(-1, -2) @ right
        return np.asarray(np.linalg.eigvalsh(M + M.swapaxes(-1, -2)) / 2)
    T = np.asarray(np.linalg.qr(np.concatenate([left, right], axis=-2).swapaxes(-1, -2), mode="r"))
    turned = T[..., :rows] @ T[..., rows:].swapaxes(-1, -2)
    return np.asarray(np.linalg.eigvalsh(turned + turned.swapaxes(-1, -2)) / 2)


def symmetric_ends(parts: Floats, norm: Floats, d: int) -> dict[str, Floats]:
    """The largest and the smallest eigenvalue of a symmetric part over the norm; where there is a kernel, zero is one too."""
    top, bottom = parts[..., -1], parts[..., 0]
    if parts.shape[-1] < d:
        top, bottom = np.maximum(top, 0.0), np.minimum(bottom, 0.0)
    return {"top of sym": top / norm, "bottom of sym": bottom / norm}


def _positive_share(values: Floats) -> Floats:
    """How many of the eigenvalues of the symmetric part that are not zero are positive."""
    least = ZERO * np.abs(values).max(axis=-1, keepdims=True)
    return np.asarray((values > least).sum(axis=-1) / (np.abs(values) > least).sum(axis=-1))


def small_core(left: Floats, right: Floats) -> Floats:
    """The smaller of ``R L^T`` and ``L^T R``, which have the same nonzero eigenvalues and traces of powers."""
    wide = left.shape[-2] > left.shape[-1]
    return left.swapaxes(-1, -2) @ right if wide else right @ left.swapaxes(-1, -2)


def singular_values(left: Floats, right: Floats) -> Floats:
    """Of ``L^T R``, through the triangular factors of L^T and R^T; from the largest down."""
    first, second = (np.asarray(np.linalg.qr(each.swapaxes(-1, -2), mode="r")) for each in (left, right))
    return np.asarray(np.linalg.svd(first @ second.swapaxes(-1, -2), compute_uv=False))
