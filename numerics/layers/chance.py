"""What random weights of the same shapes look like: the null that a head or a layer is held against.

A head has ``M = L^T R`` twice: the scores ``P`` (``L = Q``, ``R = K``) and the values ``U`` (``L = O^T``, ``R = V``), L and R
of shape (r, d); a layer has ``F = sum_h O_h V_h``, with all heads stacked.  Every statistic below is free of scale: it is the
same for ``c M``.

Two nulls.  *Gaussian factors*: the entries of L and R independent and normal; by freedom of scale their variances do not matter,
so that one set of draws serves every head of a shape.  *Random bases*: ``M = A diag(s) B^T`` with the singular values s of the
head itself and orthonormal frames A, B of R^d, uniform and independent; only ``B^T A`` enters, so that one set of frames
serves every head of a shape, whatever its spectrum.

The norm of ``L^T R`` is measured by the sizes of L and R, so that random weights of the same scales are what it is held against;
the singular values fix it, so that random bases say nothing of it.  alpha* is defined where a positive real eigenvalue leads: it
is held against those draws where one does.  The distance to I and the growth depend on the scale: the draws get that of the
head, ``|L|_F |R|_F``.  The frames of Gaussian factors are independent of their singular values, so that those kept beside the
frames make Gaussian matrices again.  What rotary positions change of the scores, ``|Q^T (R - I) K| / |Q^T K|`` for the turn R of
an offset, is held against Gaussian factors that are turned alike; singular values do not say what a turn changes.

A p-value is ``(1 + #{draws at least as far out}) / (N + 1)``, doubled for two sides (Phipson and Smyth 2010): valid whatever the
distribution is, and never zero.  Many of them are corrected by Benjamini and Hochberg (1995), whose bound on the expected share
of false discoveries is for independent or positively dependent tests.  These are statistics in floats: nothing is certified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeAlias
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from eigentoken.documents.chance_document import NullName
from eigentoken.numerics.layers.rotary_scores import OFFSETS

__all__ = [
    "STATISTICS",
    "Floats",
    "HeldAgainst",
    "Null",
    "benjamini_hochberg",
    "draw_null",
    "frames_between",
    "held_against",
    "held_to",
    "p_values",
    "read_null",
    "real_leaders",
    "scale_of",
    "share_p_value",
    "shares_p_value",
    "singular_values",
    "spectral_statistics",
    "too_wide",
    "write_null",
]

Floats: TypeAlias = NDArray[np.float64]
Complex: TypeAlias = NDArray[np.complex128]

#: Up to this width eigenvalues of every draw are taken.
WIDEST_SPECTRUM = 384
#: For random bases, which every matrix has of its own, up to these ranks (a head, a layer with its fewer draws): eigenvalues,
#: and those of symmetric matrices twice as wide.
WIDEST_OF_BASES, WIDEST_TURNED = {False: 32, True: 64}, {False: 32, True: 256}
#: A statistic that is not defined for every draw needs this many draws where it is; those of values are not asked of scores.
FEWEST, OF_VALUES = 10, ("gap", "alpha*", "distance to I", "growth")
#: Up to this d those of symmetric parts are; a part that is smaller than this share of the largest counts as zero.
WIDEST_SYMMETRIC, ZERO = 640, 1e-9

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


def _core_statistics(core: Floats, squares: Floats, rank: int) -> dict[str, Floats]:
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
    eigenvalues = _eigenvalues(_core(left[None], right[None]))
    made = {name: float(values[0]) for name, values in _of_factors(left[None], right[None], eigenvalues).items()}
    return {name: value for name, value in made.items() if np.isfinite(value)}


def real_leaders(left: Floats, right: Floats) -> tuple[bool, bool, bool] | None:
    """Is the eigenvalue of the core ``R L^T`` that leads real, by real part, by modulus, by ``|1 + lambda|``?

    ``None`` where it is too wide.
    """
    values = _eigenvalues(_core(left, right))
    if values is None:
        return None
    return bool(_leads(values)), bool(_leads_by_modulus(values)), bool(_leads_by_growth(values))


def scale_of(left: Floats, right: Floats) -> Floats:
    """``|L|_F |R|_F`` over the number of rows: the norm of a multiple of a projection with such factors."""
    sizes = [np.sqrt(np.einsum("...ij,...ij->...", each, each)) for each in (left, right)]
    return np.asarray(sizes[0] * sizes[1] / left.shape[-2])


def _scaled_statistics(left: Floats, right: Floats, whole: bool) -> dict[str, float]:
    """What depends on the scale, of ``M = L^T R`` (d x d): ``|M - I|`` and the growth, up to the widths of their nulls."""
    rows, d = left.shape
    found = {}
    if min(rows, d) <= WIDEST_TURNED[whole]:
        if d < 2 * rows:
            found["distance to I"] = float(np.linalg.norm(left.T @ right - np.eye(d), 2))
        else:
            T = np.asarray(np.linalg.qr(np.concatenate([left, right]).T, mode="r"))
            inside = float(np.linalg.norm(T[:, :rows] @ T[:, rows:].T - np.eye(2 * rows), 2))
            found["distance to I"] = max(inside, 1.0 if 2 * rows < d else 0.0)
    values = _eigenvalues(_core(left, right))
    if values is not None:
        found["growth"] = float(_growth(values, d))
    return found


def _growth(values: Complex, d: int) -> Floats:
    """The largest ``|1 + lambda|``; a kernel has 1."""
    found = np.abs(1 + values).max(axis=-1)
    return np.asarray(np.maximum(found, 1.0) if values.shape[-1] < d else found)


def _eigenvalues(core: Floats) -> Complex | None:
    """``None`` beyond the width where they are taken."""
    if core.shape[-1] > WIDEST_SPECTRUM:
        return None
    return np.asarray(np.linalg.eigvals(core), dtype=np.complex128)


def _leads(values: Complex) -> NDArray[np.bool_]:
    """For each row of eigenvalues: the largest real part is that of a real one."""
    first = np.take_along_axis(values, np.argmax(values.real, axis=-1)[..., None], axis=-1)[..., 0]
    return np.asarray(np.abs(first.imag) <= 1e-12 * np.abs(values).max(axis=-1))


def _leads_by_modulus(values: Complex) -> NDArray[np.bool_]:
    """For each row of eigenvalues: the largest modulus is that of a real one."""
    sizes = np.abs(values)
    first = np.take_along_axis(values, np.argmax(sizes, axis=-1)[..., None], axis=-1)[..., 0]
    return np.asarray(np.abs(first.imag) <= 1e-12 * sizes.max(axis=-1))


def _leads_by_growth(values: Complex) -> NDArray[np.bool_]:
    """For each row of eigenvalues: the largest ``|1 + lambda|`` is that of a real one."""
    first = np.take_along_axis(values, np.argmax(np.abs(1 + values), axis=-1)[..., None], axis=-1)[..., 0]
    return np.asarray(np.abs(first.imag) <= 1e-12 * np.abs(values).max(axis=-1))


def _of_eigenvalues(values: Complex, norm: Floats, zeros: int) -> dict[str, Floats]:
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
        led = _leads(values) & (top > 0)
        return {
            "leader": values.real.max(axis=-1) / np.abs(values).max(axis=-1),
            "gap": (top - next_one) / norm,
            "alpha*": np.where(led, 1 / (1 + held_back), np.nan),
        }


def _of_factors(left: Floats, right: Floats, values: Complex | None) -> dict[str, Floats]:
    """Of a batch of factors (N, r, d) and the eigenvalues of their cores, where these are taken."""
    core, singular = _core(left, right), singular_values(left, right)
    squares = np.einsum("...i,...i->...", singular, singular)
    rank, d = singular.shape[-1], left.shape[-1]
    found = _core_statistics(core, squares, rank)
    with np.errstate(all="ignore"):
        found["stable rank"] = squares / (singular[..., 0] ** 2 * rank)
        parts = _symmetric_parts(left, right)
        if parts is not None and d < 2 * left.shape[-2]:  # a smaller rank r has r of each sign, whatever it is
            found["positive share"] = _positive_share(parts)
        if parts is not None:
            found |= _ends(parts, singular[..., 0], d)
        sizes = (np.sqrt(np.einsum("...ij,...ij->...", each, each)) for each in (left, right))
        found["norm"] = left.shape[-2] * singular[..., 0] / np.prod(list(sizes), axis=0)
        if values is not None:
            found |= _of_eigenvalues(values, singular[..., 0], d - core.shape[-1])
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


def _ends(parts: Floats, norm: Floats, d: int) -> dict[str, Floats]:
    """The largest and the smallest eigenvalue of a symmetric part over the norm; where there is a kernel, zero is one too."""
    top, bottom = parts[..., -1], parts[..., 0]
    if parts.shape[-1] < d:
        top, bottom = np.maximum(top, 0.0), np.minimum(bottom, 0.0)
    return {"top of sym": top / norm, "bottom of sym": bottom / norm}


def _positive_share(values: Floats) -> Floats:
    """How many of the eigenvalues of the symmetric part that are not zero are positive."""
    least = ZERO * np.abs(values).max(axis=-1, keepdims=True)
    return np.asarray((values > least).sum(axis=-1) / (np.abs(values) > least).sum(axis=-1))


def _core(left: Floats, right: Floats) -> Floats:
    """The smaller of ``R L^T`` and ``L^T R``, which have the same nonzero eigenvalues and traces of powers."""
    wide = left.shape[-2] > left.shape[-1]
    return left.swapaxes(-1, -2) @ right if wide else right @ left.swapaxes(-1, -2)


def singular_values(left: Floats, right: Floats) -> Floats:
    """Of ``L^T R``, through the triangular factors of L^T and R^T; from the largest down."""
    first, second = (np.asarray(np.linalg.qr(each.swapaxes(-1, -2), mode="r")) for each in (left, right))
    return np.asarray(np.linalg.svd(first @ second.swapaxes(-1, -2), compute_uv=False))


def frames_between(left: Floats, right: Floats) -> Floats:
    """``B^T A`` of the orthonormal frames A, B that Gram and Schmidt make of the columns of L^T and R^T.

    With Gaussian entries the frames are uniform, if the triangular factors have a positive diagonal (Mezzadri 2007).
    """
    frames = []
    for each in (left, right):
        base, triangle = np.linalg.qr(each.swapaxes(-1, -2))
        signs = np.sign(np.diagonal(triangle, axis1=-2, axis2=-1))
        frames.append(base * signs[..., None, :])
    return np.asarray(frames[1].swapaxes(-1, -2) @ frames[0])


@dataclass(frozen=True, eq=False)
class Null:
    """Draws for factors of shape (r, d): statistics under Gaussian factors, whether a real eigenvalue leads by real part and
    by modulus (two columns), and ``B^T A``.  Of Gaussian draws over their :func:`scale_of` also the eigenvalues and, where there
    are frames, the singular values.  ``whole``: of a layer."""

    d: int
    whole: bool
    gaussian: Mapping[str, Floats]
    real_leaders: NDArray[np.bool_]
    frames: Floats
    eigenvalues: Complex
    sizes: Floats

    def with_bases(self, singular_values: Floats, d: int, spectra: bool = True) -> dict[str, Floats]:
        """Trace, asymmetry and ends of sym of ``A diag(s) B^T`` (d x d) over the frames; ``spectra``: leader, gap, alpha*, the
        distance to I and the growth.  What is too wide is left out."""
        s = np.asarray(singular_values, dtype=np.float64)[: self.frames.shape[-1]]
        core = self.frames * s[:, None]  # B^T A diag(s) up to a cyclic shift: the same traces and eigenvalues
        found = _core_statistics(core, np.full(len(core), float(s @ s)), len(s))
        if len(s) <= WIDEST_TURNED[self.whole]:
            found |= self._ends(s)
        values = _eigenvalues(core) if spectra and len(s) <= WIDEST_OF_BASES[self.whole] else None
        if values is not None:
            found |= _of_eigenvalues(values, np.full(len(core), s[0]), d - len(s))
        if spectra and len(s) <= WIDEST_TURNED[self.whole]:
            found["distance to I"] = self._to_identity(np.broadcast_to(s, (len(core), len(s))))
        return found if values is None else found | {"growth": _growth(values, d)}

    def of_scale(self, scale: float) -> dict[str, Floats]:
        """Distance to I and growth of Gaussian draws of this :func:`scale_of`."""
        found = {}
        if len(self.frames) and self.frames.shape[-1] <= WIDEST_TURNED[self.whole]:
            found["distance to I"] = self._to_identity(scale * self.sizes)
        return found | ({"growth": _growth(scale * self.eigenvalues, self.d)} if len(self.eigenvalues) else {})

    def led_by_growth(self, scale: float) -> NDArray[np.bool_]:
        """Of Gaussian draws of this scale: does a real eigenvalue lead by ``|1 + lambda|``?"""
        return _leads_by_growth(scale * self.eigenvalues)

    @cached_property
    def _beyond(self) -> Floats:
        """``H^T`` with ``B = A G^T + C H`` for ``G = B^T A`` and C orthonormal beside A: ``H^T H = I - G G^T``, of rank d - r."""
        rank = self.frames.shape[-1]
        squares, vectors = np.linalg.eigh(np.eye(rank) - self.frames @ self.frames.swapaxes(-1, -2))
        kept = slice(rank - min(rank, self.d - rank), None)
        return np.asarray(vectors[..., kept] * np.sqrt(np.maximum(squares[:, None, kept], 0.0)))

    def _ends(self, s: Floats) -> dict[str, Floats]:
        """Of ``A diag(s) B^T``: in the basis [A, C] it is ``[[diag(s) G, diag(s) H^T], [0, 0]]``."""
        core = self.frames * s[:, None]
        parts = np.linalg.eigvalsh(_bordered(core + core.swapaxes(-1, -2), self._beyond * s[:, None])) / 2
        return _ends(parts, s[:1], self.d)

    def _to_identity(self, s: Floats) -> Floats:
        """``|I - M|`` of ``M = A diag(s) B^T``, s by draw: ``(I - M)(I - M)^T = I - M - M^T + A diag(s)^2 A^T``."""
        core = -self.frames * s[..., None]
        corner = core + core.swapaxes(-1, -2)
        place = np.arange(s.shape[-1])
        corner[:, place, place] += s**2
        top = np.linalg.eigvalsh(_bordered(corner, -self._beyond * s[..., None]))[..., -1]
        return np.sqrt(1 + top)


def _bordered(corner: Floats, side: Floats) -> Floats:
    """``[[corner, side], [side^T, 0]]``."""
    zero = np.zeros((*side.shape[:-2], side.shape[-1], side.shape[-1]))
    below = np.concatenate([side.swapaxes(-1, -2), zero], axis=-1)
    return np.concatenate([np.concatenate([corner, side], axis=-1), below], axis=-2)


def draw_null(
    width: int, d: int, draws: int, seed: int, whole: bool = False, done: Callable[[], None] = lambda: None
) -> Null:
    """Draws for factors of shape (width, d), the same for the same arguments; of a ``whole`` layer that is wide, no frames."""
    framed = not whole or min(width, d) <= WIDEST_TURNED[whole]
    chance = np.random.default_rng([seed, width, d])
    batch = max(1, min(draws, 4_000_000 // (width * d)))
    found: dict[str, list[Floats]] = {}
    leads: list[NDArray[np.bool_]] = []
    turned: list[Floats] = []
    spectra: list[Complex] = []
    sizes: list[Floats] = []
    made = 0
    while made < draws:
        count = min(batch, draws - made)
        left, right = chance.standard_normal((2, count, width, d))
        eigenvalues = _eigenvalues(_core(left, right))
        for name, values in _of_factors(left, right, eigenvalues).items():
            found.setdefault(name, []).append(values)
        if eigenvalues is not None:
            leads.append(np.stack([_leads(eigenvalues), _leads_by_modulus(eigenvalues)], axis=-1))
            spectra.append(eigenvalues / scale_of(left, right)[:, None])
        if framed:
            turned.append(frames_between(left[:, :d], right[:, :d]))
            sizes.append(singular_values(left, right) / scale_of(left, right)[:, None])
        made += count
        done()
    rank = min(width, d)
    return Null(
        d,
        whole,
        {name: np.concatenate(each) for name, each in found.items()},
        np.concatenate(leads) if leads else np.zeros((0, 2), dtype=bool),
        np.concatenate(turned).astype(np.float32).astype(np.float64) if turned else np.zeros((0, rank, rank)),
        np.concatenate(spectra) if spectra else np.zeros((0, rank), dtype=np.complex128),
        np.concatenate(sizes) if sizes else np.zeros((0, rank)),
    )


def too_wide(width: int, d: int, whole: bool) -> list[tuple[str, str]]:
    """Statistics of factors of shape (width, d) that are left out for what their draws would cost, and from which width on.

    >>> too_wide(64, 576, False)[0]
    ('distance to I', 'rank 64, taken up to 32')
    """
    rank, of = min(width, d), "taken up to"
    found = []
    if rank > WIDEST_SPECTRUM:
        found.append(("leader, gap, alpha*, growth", f"rank {rank}, {of} {WIDEST_SPECTRUM}"))
    if min(d, 2 * width) > WIDEST_SYMMETRIC:
        found.append(("positive share and the ends of sym", f"width {min(d, 2 * width)}, {of} {WIDEST_SYMMETRIC}"))
    if rank > WIDEST_TURNED[whole]:
        limit = f"rank {rank}, {of} {WIDEST_TURNED[whole]}"
        every = "every statistic against random bases" if whole else "the ends of sym against random bases"
        found += [("distance to I", limit), (every, limit)]
    if WIDEST_OF_BASES[whole] < rank <= (WIDEST_TURNED[whole] if whole else rank):
        limit = f"rank {rank}, {of} {WIDEST_OF_BASES[whole]}: each matrix has draws of its own"
        found.append(("leader, gap, alpha*, growth against random bases", limit))
    return found


@dataclass(frozen=True)
class HeldAgainst:
    """One statistic of one matrix against one null."""

    statistic: str
    null: NullName
    value: float
    mean: float
    deviation: float
    p: float

    @property
    def z(self) -> float:
        """How many deviations of the null the value is from its mean (0 where the null does not vary)."""
        return (self.value - self.mean) / self.deviation if self.deviation > 0 else 0.0


def held_against(left: Floats, right: Floats, null: Null, *, scores: bool = False) -> list[HeldAgainst]:
    """Every statistic of ``L^T R`` against the Gaussian draws, and against the frames where the null has them.

    Zero weights have no statistic: the list is empty.  Of ``scores`` no gap and no alpha* is asked.
    """
    value = {
        name: each for name, each in spectral_statistics(left, right).items() if not (scores and name in OF_VALUES)
    }
    if not value:
        return []
    gaussian = dict(null.gaussian)
    if not scores:
        value |= _scaled_statistics(left, right, null.whole)
        gaussian |= null.of_scale(float(scale_of(left, right)))
    held = [held_to(name, "gaussian factors", value[name], gaussian[name]) for name in value]
    if len(null.frames):
        draws = null.with_bases(singular_values(left, right), left.shape[1], spectra=not scores)
        held += [held_to(name, "random bases", value[name], draws[name]) for name in draws if name in value]
    return [each for each in held if each is not None]


def held_to(name: str, null: NullName, value: float, draws: Floats) -> HeldAgainst | None:
    """Against the draws where it is defined; ``None`` where these are too few."""
    draws = draws[np.isfinite(draws)]
    if len(draws) < FEWEST:
        return None
    return HeldAgainst(name, null, value, float(draws.mean()), float(draws.std()), p_values(value, draws))


def write_null(null: Null, stream: IO[bytes]) -> None:
    """As an ``.npz``; the frames in single precision."""
    kept: dict[str, NDArray[Any]] = {f"gaussian {name}": values for name, values in null.gaussian.items()}
    kept |= {"real_leaders": null.real_leaders, "frames": null.frames.astype(np.float32), "sizes": null.sizes}
    kept |= {"eigenvalues": null.eigenvalues, "d": np.asarray(null.d), "whole": np.asarray(null.whole)}
    np.savez(stream, **kept)  # type: ignore[arg-type]


def read_null(path: Path) -> Null | None:
    """What :func:`write_null` wrote; ``None`` where there is no such file, or it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            kept = {name: stored[name] for name in stored.files}
        of = {name.removeprefix("gaussian "): values for name, values in kept.items() if name.startswith("gaussian ")}
        frames = kept["frames"].astype(np.float64)
        shape = int(kept["d"]), bool(kept["whole"])
        return Null(*shape, of, kept["real_leaders"], frames, kept["eigenvalues"], kept["sizes"])
    except (OSError, ValueError, KeyError, BadZipFile):
        return None


def p_values(value: float, draws: Floats) -> float:
    """Two-sided: twice the smaller of ``(1 + #{draws <= value}) / (N + 1)`` and the same with >=, at most 1."""
    below, above = np.count_nonzero(draws <= value), np.count_nonzero(draws >= value)
    return min(1.0, 2 * (1 + min(int(below), int(above))) / (len(draws) + 1))


def share_p_value(met: int, of: int, draws: NDArray[np.bool_]) -> float:
    """Two-sided exact binomial p-value of ``met`` of ``of`` heads, the chance of each taken from the draws."""
    from scipy.stats import binomtest

    chance = (1 + np.count_nonzero(draws)) / (len(draws) + 2)
    return float(binomtest(met, of, chance).pvalue)


def shares_p_value(met: int, chances: Sequence[float]) -> float:
    """The same where each has a chance of its own: all counts that are no likelier than ``met`` (Poisson's binomial law)."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    return min(1.0, float(law[law <= law[met] * (1 + 1e-7)].sum()))


def benjamini_hochberg(p: Floats) -> Floats:
    """The adjusted p-values (q-values) of Benjamini and Hochberg, in the order given.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5])).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    p = np.asarray(p, dtype=np.float64)
    if p.size and not ((p > 0) & (p <= 1)).all():
        raise ValueError("p must be numbers above 0 and at most 1")
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    found = np.empty_like(p)
    found[order] = np.minimum(adjusted, 1.0)
    return found
