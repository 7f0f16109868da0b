"""Re-check of ``eigentoken/chance``: statistics of whole matrices, and the draws of a null made again from the seed.

Of a matrix with random bases of rank r, symmetric parts and distances to I are found for all draws up to w = min(2r, d) of 64
(heads) and 256 (layers), eigenvalues up to w = r of 32 and 128; beyond it for the first ``N (w_0 / w)^3`` draws, no fewer than 99
and 39; frames are made of the first 16,000,000 / r^2 draws.  What is wider than 768 (eigenvalues, frames) or 1024 (symmetric
matrices) is not taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.recheck.layers.chance_turns import largest_square

__all__ = [
    "WIDEST",
    "WIDEST_SYMMETRIC",
    "DrawsAgain",
    "again_eigenvalues",
    "growths",
    "leads_growth",
    "real_leads",
    "statistics",
]

Floats = NDArray[np.float64]
WIDEST, WIDEST_SYMMETRIC = 768, 1024


def shares_of(rank: int, d: int, whole: bool, draws: int) -> tuple[int, int, int]:
    """How many draws have frames, symmetric parts, eigenvalues with random bases."""
    least = 39 if whole else 99
    wanted = []
    for width, all_up_to in ((min(d, rank + rank), 256 if whole else 64), (rank, 128 if whole else 32)):
        wanted.append(draws if width <= all_up_to else min(draws, max(least, all_up_to**3 * draws // width**3)))
    return min(draws, max(*wanted, 16_000_000 // (rank * rank))), wanted[0], wanted[1]


def _small(left: Floats, right: Floats) -> Floats:
    """The smaller of ``R L^T`` and ``L^T R``, turned: the same nonzero eigenvalues."""
    wide = left.shape[-2] > left.shape[-1]
    return right.swapaxes(-1, -2) @ left if wide else left @ right.swapaxes(-1, -2)


def again_eigenvalues(left: Floats, right: Floats) -> NDArray[np.complex128]:
    return np.asarray(np.linalg.eigvals(_small(left, right)), dtype=np.complex128)


def statistics(left: Floats, right: Floats) -> dict[str, Floats]:
    """Of ``M = L^T R`` for a batch of factors (N, r, d), from traces of products of Gram matrices.

    ``|M|_F^2 = tr(L L^T R R^T)``, ``tr M = tr(L R^T)``, ``|M - M^T|_F^2 = 2 (|M|_F^2 - tr M^2)``.
    """
    rank = min(left.shape[-2:])
    cross = left @ right.swapaxes(-1, -2)
    grams = [each @ each.swapaxes(-1, -2) for each in (left, right)]
    squares = np.einsum("nij,nij->n", *grams)
    skew = 2 * (squares - np.einsum("nij,nji->n", cross, cross))
    largest = largest_square(*grams)
    with np.errstate(all="ignore"):
        found = {
            "trace": np.trace(cross, axis1=-2, axis2=-1) / np.sqrt(rank * squares),
            "asymmetry": np.sqrt(np.maximum(skew, 0.0) / (4 * squares)),
            "stable rank": squares / (rank * largest),
        }
        if min(left.shape[-1], 2 * left.shape[-2]) <= WIDEST_SYMMETRIC:
            found |= _symmetric(left, right, np.sqrt(largest))
        sizes = np.trace(grams[0], axis1=-2, axis2=-1) * np.trace(grams[1], axis1=-2, axis2=-1)
        found["norm"] = left.shape[-2] * np.sqrt(largest / sizes)
        if rank <= WIDEST:
            found |= of_values(again_eigenvalues(left, right), np.sqrt(largest), left.shape[-1])
    return found


def of_values(values: NDArray[np.complex128], norms: Floats, d: int) -> dict[str, Floats]:
    """Leader, gap and alpha* of d x d matrices with these eigenvalues and zeros.

    ``alpha* = min 2 (l - Re z) / (|z|^2 - l^2)`` over the eigenvalues z with ``|z| > l``, l the leader, real and positive.
    """
    real, kernel = values.real, np.zeros((len(values), d - values.shape[-1]))
    down = -np.sort(-np.hstack([real, kernel]), axis=-1)
    top = down[:, :1]
    with np.errstate(all="ignore"):
        excess = values.real**2 + values.imag**2 - top**2
        steps = np.where(excess > 0, 2 * (top - real) / excess, np.inf).min(axis=-1) * norms
        share = np.where(np.isinf(steps), 1.0, steps / (1 + steps))
        return {
            "leader": real.max(axis=-1) / np.abs(values).max(axis=-1),
            "gap": (down[:, 0] - down[:, 1]) / norms if d > 1 else np.full(len(values), np.nan),
            "alpha*": np.where(real_leads(values)[:, 0] & (down[:, 0] > 0), share, np.nan),
        }


def _symmetric(left: Floats, right: Floats, norms: Floats) -> dict[str, Floats]:
    """Ends of ``(M + M^T) / 2`` over the norm, and where it is no low-rank matrix the share of positive eigenvalues.

    ``M + M^T = Z^T J Z`` for ``Z = [L; R]``, J exchanging the halves: the eigenvalues of ``X^T J X`` where ``X X^T = Z Z^T``; of
    few columns ``((L + R)^T (L + R) - (L - R)^T (L - R)) / 2``.
    """
    rows, d = left.shape[-2:]
    if d < 2 * rows:
        both, apart = left + right, left - right
        values = np.linalg.eigvalsh(both.swapaxes(-1, -2) @ both - apart.swapaxes(-1, -2) @ apart) / 4
        return {"positive share": _positive(values)} | _at_ends(values, norms, d)
    stacked = np.concatenate([left, right], axis=-2)
    return _at_ends(_exchanged(stacked @ stacked.swapaxes(-1, -2)), norms, d)


def _exchanged(gram: Floats) -> Floats:
    """Eigenvalues of ``X^T J X / 2`` for ``X X^T`` the Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    half = gram.shape[-1] // 2
    swapped = np.concatenate([root[..., half:, :], root[..., :half, :]], axis=-2)
    made = root.swapaxes(-1, -2) @ swapped
    return np.asarray(np.linalg.eigvalsh(made + made.swapaxes(-1, -2)) / 4)


def _at_ends(values: Floats, norms: Floats, d: int) -> dict[str, Floats]:
    """The largest and the smallest, with the zeros of a kernel."""
    zero = [np.zeros((*values.shape[:-1], 1))] if values.shape[-1] < d else []
    every = np.concatenate([values, *zero], axis=-1)
    with np.errstate(all="ignore"):
        return {"top of sym": every.max(axis=-1) / norms, "bottom of sym": every.min(axis=-1) / norms}


def _positive(values: Floats) -> Floats:
    """The share of positive eigenvalues among those that are not zero."""
    least = 1e-9 * np.abs(values).max(axis=-1, keepdims=True)
    up, down = (values > least).sum(axis=-1), (values < -least).sum(axis=-1)
    return np.asarray(up / (up + down))


def real_leads(values: NDArray[np.complex128]) -> NDArray[np.bool_]:
    """For each row of eigenvalues: by real part, by modulus."""
    rows, sizes = np.arange(len(values)), np.abs(values)
    firsts = [values[rows, np.argmax(by, axis=-1)] for by in (values.real, sizes)]
    return np.stack([np.abs(first.imag) <= 1e-12 * sizes.max(axis=-1) for first in firsts], axis=-1)


def leads_growth(values: NDArray[np.complex128]) -> NDArray[np.bool_]:
    """For each row of eigenvalues: by ``|1 + lambda|``."""
    sizes = (1 + values.real) ** 2 + values.imag**2
    first = values[np.arange(len(values)), np.argmax(sizes, axis=-1)]
    return np.asarray(np.abs(first.imag) <= 1e-12 * np.abs(values).max(axis=-1))


def growths(values: NDArray[np.complex128], d: int) -> Floats:
    """The largest ``|1 + lambda|`` of d x d matrices with these eigenvalues and zeros."""
    found = np.sqrt(((1 + values.real) ** 2 + values.imag**2).max(axis=-1))
    return np.asarray(found if values.shape[-1] == d else np.maximum(found, 1.0))


@dataclass(frozen=True)
class DrawsAgain:
    """What random weights of one shape give: eigenvalues and singular values are of draws of scale 1."""

    shape: tuple[int, int, bool]
    draws: int
    gaussian: dict[str, Floats]
    real: NDArray[np.bool_]
    frames: Floats
    spectra: NDArray[np.complex128]
    sizes: Floats

    @classmethod
    def made(cls, width: int, d: int, whole: bool, draws: int, seed: int) -> DrawsAgain:
        source = np.random.default_rng([seed, width, d])
        batch = max(1, min(draws, 4_000_000 // (width * d)))
        found: dict[str, list[Floats]] = {}
        real, frames, spectra, sizes = [], [], [], []
        rank = min(width, d)
        framed = shares_of(rank, d, whole, draws)[0] if rank <= WIDEST else 0
        for start in range(0, draws, batch):
            left, right = source.standard_normal((2, min(batch, draws - start), width, d))
            for name, values in statistics(left, right).items():
                found.setdefault(name, []).append(values)
            scales = np.linalg.norm(left, axis=(1, 2)) * np.linalg.norm(right, axis=(1, 2)) / width
            if rank <= WIDEST:
                roots = again_eigenvalues(left, right)
                real.append(real_leads(roots))
                spectra.append(roots / scales[:, None])
            if start < framed:
                kept = slice(framed - start)
                frames.append(_between(left[kept, :d], right[kept, :d]))
                sizes.append(_singular(left[kept], right[kept]) / scales[kept, None])
        return cls(
            (width, d, whole),
            draws,
            {name: np.concatenate(each) for name, each in found.items()},
            np.concatenate(real) if real else np.zeros((0, 2), dtype=bool),
            np.concatenate(frames).astype(np.float32).astype(np.float64) if frames else np.zeros((0, rank, rank)),
            np.concatenate(spectra) if spectra else np.zeros((0, rank), dtype=np.complex128),
            np.concatenate(sizes) if sizes else np.zeros((0, rank)),
        )

    @property
    def symmetric(self) -> int:
        """Of how many draws symmetric parts and distances to I are found: none of what is too wide."""
        rank = self.frames.shape[-1]
        few = len(self.frames) == 0 or min(2 * rank, self.shape[1]) > WIDEST_SYMMETRIC
        return 0 if few else shares_of(rank, *self.shape[1:], self.draws)[1]

    def of_scale(self, scale: float) -> dict[str, Floats]:
        """Distance to I and growth of Gaussian draws of this scale."""
        found = {}
        if self.symmetric:
            found["distance to I"] = self._from_identity(scale * self.sizes[: self.symmetric])
        return found | ({"growth": growths(scale * self.spectra, self.shape[1])} if len(self.spectra) else {})

    def _whole(self, s: Floats, some: slice) -> Floats:
        """``A diag(s) B^T`` in the basis [B, C] of both frames: ``A = B G + C H`` with ``H^T H = I - G^T G``, H of its rank."""
        rank, d = self.frames.shape[-1], self.shape[1]
        more, frames = min(rank, d - rank), self.frames[some]
        left = np.zeros((len(frames), rank + more, rank))
        left[:, :rank] = frames
        if more:  # H by the singular values c of G: (1 - c^2)^(1/2) W^T on the least of them
            _left, cosines, right = np.linalg.svd(frames)
            kept = slice(rank - more, None)
            left[:, rank:] = np.sqrt(np.maximum(0.0, 1 - cosines[:, kept] ** 2))[..., None] * right[:, kept]
        found = np.zeros((len(left), rank + more, rank + more))
        found[..., :rank] = left * s[..., None, :]
        return found

    def _slices(self) -> Iterator[slice]:
        step = max(1, 1_000_000 // self.frames.shape[-1] ** 2)
        for start in range(0, self.symmetric, step):
            yield slice(start, min(self.symmetric, start + step))

    def _from_identity(self, s: Floats) -> Floats:
        """``|I - M|``, the root of the largest eigenvalue of ``(I - M)^T (I - M)``; 1 where there are more coordinates."""
        found = []
        for some in self._slices():
            apart = -self._whole(s if s.ndim == 1 else s[some], some)
            size = apart.shape[-1]
            apart += np.eye(size)
            found.append(np.sqrt(np.linalg.eigvalsh(apart.swapaxes(-1, -2) @ apart)[..., -1]))
        values = np.concatenate(found)
        return np.asarray(values if size == self.shape[1] else np.maximum(values, 1.0))

    def with_bases(self, s: Floats, d: int, spectra: bool) -> dict[str, Floats]:
        """Trace and asymmetry of ``A diag(s) B^T``: sums over the entries of ``B^T A``; spectra of ``diag(s) B^T A`` turned."""
        total = float(s @ s)
        trace = np.einsum("nii,i->n", self.frames, s) / math.sqrt(len(s) * total)
        square = np.array([s @ (frame * frame.T) @ s for frame in self.frames])
        found = {"trace": trace, "asymmetry": np.sqrt(np.maximum(0.0, (1 - square / total) / 2))}
        if self.symmetric:
            ends = []
            for some in self._slices():
                made = self._whole(s, some)
                ends.append(np.linalg.eigvalsh(made + made.swapaxes(-1, -2)) / 2)
            found |= _at_ends(np.concatenate(ends), np.full(self.symmetric, s[0]), d)
        if not spectra:
            return found
        first = self.frames[: shares_of(len(s), *self.shape[1:], self.draws)[2]]
        values = np.asarray(np.linalg.eigvals(first.swapaxes(-1, -2) * s), dtype=np.complex128)
        found |= of_values(values, np.full(len(first), s[0]), d)
        if self.symmetric:
            found["distance to I"] = self._from_identity(s)
        return found | {"growth": growths(values, d)}


def _singular(left: Floats, right: Floats) -> Floats:
    """Of ``L^T R``, from above."""
    if left.shape[-2] >= left.shape[-1]:
        return np.asarray(np.linalg.svd(left.swapaxes(-1, -2) @ right, compute_uv=False))
    roots = [np.linalg.cholesky(each @ each.swapaxes(-1, -2)) for each in (left, right)]
    return np.asarray(np.linalg.svd(roots[0].swapaxes(-1, -2) @ roots[1], compute_uv=False))


def _between(left: Floats, right: Floats) -> Floats:
    """``B^T A`` of the frames that Gram and Schmidt make of the rows: ``A = L^T C^-T`` with ``C C^T = L L^T``."""
    lower = [np.linalg.cholesky(each @ each.swapaxes(-1, -2)) for each in (left, right)]
    half = np.linalg.solve(lower[1], right @ left.swapaxes(-1, -2))
    return np.asarray(np.linalg.solve(lower[0], half.swapaxes(-1, -2)).swapaxes(-1, -2))
