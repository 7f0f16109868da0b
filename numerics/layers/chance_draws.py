"""Draws of random weights of a shape, made once, and how many of them a matrix with a spectrum of its own is held against.

Only ``B^T A`` of the frames A, B enters a matrix ``A diag(s) B^T`` of rank r: its eigenvalues are those of an (r, r) core, its
symmetric part and its distance to I those of a (2r, 2r) one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.layers.chance_statistics import (
    WIDEST_SPECTRUM,
    WIDEST_SYMMETRIC,
    Complex,
    Floats,
    core_eigenvalues,
    core_statistics,
    largest_growth,
    leads_by_growth,
    leads_by_modulus,
    leads_by_real_part,
    of_eigenvalues,
    of_factors,
    scale_of,
    singular_values,
    small_core,
)

__all__ = ["Null", "draw_null", "draws_of_bases", "frames_between", "read_null", "too_wide", "write_null"]

#: Up to this width of a core (heads, layers) eigenvalues of every draw are taken, and up to the other those of symmetric ones;
#: beyond it as many draws as cost the same, by the cube of the width, but no fewer than these.
ALL_SPECTRA, ALL_SYMMETRIC, FEWEST_DRAWS = (32, 128), (64, 256), (99, 39)
#: Numbers in all frames of a null, and in a batch of matrices.
FRAMES, BATCH = 16_000_000, 4_000_000


def draws_of_bases(rank: int, d: int, whole: bool, draws: int) -> tuple[int, int, int]:
    """How many of the draws are made with random bases: in all, for symmetric parts and distances to I, for eigenvalues.

    >>> draws_of_bases(64, 576, False, 2000), draws_of_bases(192, 576, True, 200)
    ((2000, 250, 250), (200, 59, 59))
    """
    symmetric, spectra = (
        min(draws, max(FEWEST_DRAWS[whole], draws * first[whole] ** 3 // width**3))
        for first, width in ((ALL_SYMMETRIC, min(2 * rank, d)), (ALL_SPECTRA, rank))
    )
    return min(draws, max(symmetric, spectra, FRAMES // rank**2)), symmetric, spectra


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

    @property
    def rank(self) -> int:
        return int(self.frames.shape[-1])

    @property
    def counts(self) -> tuple[int, int, int]:
        """:func:`draws_of_bases` of these draws."""
        return draws_of_bases(self.rank, self.d, self.whole, len(self.gaussian["trace"]))

    @property
    def bordered(self) -> bool:
        """Are symmetric parts and distances to I taken of draws with random bases?"""
        return len(self.frames) > 0 and min(2 * self.rank, self.d) <= WIDEST_SYMMETRIC

    def with_bases(self, singular_values: Floats, d: int, spectra: bool = True) -> dict[str, Floats]:
        """Trace, asymmetry and ends of sym of ``A diag(s) B^T`` (d x d) over the frames; ``spectra``: leader, gap, alpha*, the
        distance to I and the growth.  What is too wide is left out."""
        s = np.asarray(singular_values, dtype=np.float64)[: self.rank]
        square = float(s @ s)
        parts = [
            core_statistics(self.frames[some] * s[:, None], np.full(some.stop - some.start, square), len(s))
            for some in _batches(len(self.frames), self.rank)
        ]
        found = {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}
        if self.bordered:
            found |= self._ends(s)
        values = None
        if spectra:
            # B^T A diag(s) up to a cyclic shift: the same traces and eigenvalues
            values = core_eigenvalues(self.frames[: self.counts[2]] * s[:, None])
        if values is not None:
            found |= of_eigenvalues(values, np.full(len(values), s[0]), d - len(s))
        if spectra and self.bordered:
            found["distance to I"] = self._to_identity(np.broadcast_to(s, (self.counts[1], len(s))))
        return found if values is None else found | {"growth": largest_growth(values, d)}

    def of_scale(self, scale: float) -> dict[str, Floats]:
        """Distance to I and growth of Gaussian draws of this :func:`scale_of`."""
        found = {}
        if self.bordered:
            found["distance to I"] = self._to_identity(scale * self.sizes[: self.counts[1]])
        return found | ({"growth": largest_growth(scale * self.eigenvalues, self.d)} if len(self.eigenvalues) else {})

    def led_by_growth(self, scale: float) -> NDArray[np.bool_]:
        """Of Gaussian draws of this scale: does a real eigenvalue lead by ``|1 + lambda|``?"""
        return leads_by_growth(scale * self.eigenvalues)

    @cached_property
    def _beyond(self) -> Floats:
        """``H^T`` with ``B = A G^T + C H`` for ``G = B^T A`` and C orthonormal beside A: ``H^T H = I - G G^T``, of rank d - r."""
        rank, frames = self.rank, self.frames[: self.counts[1]]
        if self.d == rank:
            return np.zeros((len(frames), rank, 0))
        squares, vectors = np.linalg.eigh(np.eye(rank) - frames @ frames.swapaxes(-1, -2))
        kept = slice(rank - min(rank, self.d - rank), None)
        return np.asarray(vectors[..., kept] * np.sqrt(np.maximum(squares[:, None, kept], 0.0)))

    def _ends(self, s: Floats) -> dict[str, Floats]:
        """Of ``A diag(s) B^T``: in the basis [A, C] it is ``[[diag(s) G, diag(s) H^T], [0, 0]]``."""

        def parts(some: slice) -> Floats:
            core = self.frames[some] * s[:, None]
            return np.asarray(
                np.linalg.eigvalsh(_bordered(core + core.swapaxes(-1, -2), self._beyond[some] * s[:, None]))
            )

        values = np.concatenate([parts(some)[:, [0, -1]] for some in self._of_symmetric()]) / 2
        top, bottom = values[:, 1], values[:, 0]
        if len(s) + self._beyond.shape[-1] < self.d:
            top, bottom = np.maximum(top, 0.0), np.minimum(bottom, 0.0)
        return {"top of sym": top / s[0], "bottom of sym": bottom / s[0]}

    def _of_symmetric(self) -> Iterator[slice]:
        return _batches(self.counts[1], 2 * self.rank)

    def _to_identity(self, s: Floats) -> Floats:
        """``|I - M|`` of ``M = A diag(s) B^T``, s by draw: ``(I - M)(I - M)^T = I - M - M^T + A diag(s)^2 A^T``."""
        place = np.arange(s.shape[-1])
        found = []
        for some in self._of_symmetric():
            core = -self.frames[some] * s[some, :, None]
            corner = core + core.swapaxes(-1, -2)
            corner[:, place, place] += s[some] ** 2
            found.append(np.linalg.eigvalsh(_bordered(corner, -self._beyond[some] * s[some, :, None]))[..., -1])
        return np.asarray(np.sqrt(1 + np.concatenate(found)))


def _batches(count: int, width: int) -> Iterator[slice]:
    """Slices of so many matrices that their numbers fit in memory."""
    step = max(1, BATCH // width**2)
    for start in range(0, count, step):
        yield slice(start, min(count, start + step))


def _bordered(corner: Floats, side: Floats) -> Floats:
    """``[[corner, side], [side^T, 0]]``."""
    rank, more = side.shape[-2:]
    found = np.zeros((len(corner), rank + more, rank + more))
    found[:, :rank, :rank], found[:, :rank, rank:], found[:, rank:, :rank] = corner, side, side.swapaxes(-1, -2)
    return found


def draw_null(
    width: int, d: int, draws: int, seed: int, whole: bool = False, done: Callable[[], None] = lambda: None
) -> Null:
    """Draws for factors of shape (width, d), the same for the same arguments; of what is too wide, no frames."""
    rank = min(width, d)
    framed = draws_of_bases(rank, d, whole, draws)[0] if rank <= WIDEST_SPECTRUM else 0
    chance = np.random.default_rng([seed, width, d])
    batch = max(1, min(draws, BATCH // (width * d)))
    found: dict[str, list[Floats]] = {}
    leads: list[NDArray[np.bool_]] = []
    turned: list[Floats] = []
    spectra: list[Complex] = []
    sizes: list[Floats] = []
    for made in range(0, draws, batch):
        left, right = chance.standard_normal((2, min(batch, draws - made), width, d))
        eigenvalues = core_eigenvalues(small_core(left, right))
        for name, values in of_factors(left, right, eigenvalues).items():
            found.setdefault(name, []).append(values)
        if eigenvalues is not None:
            leads.append(np.stack([leads_by_real_part(eigenvalues), leads_by_modulus(eigenvalues)], axis=-1))
            spectra.append(eigenvalues / scale_of(left, right)[:, None])
        some = slice(0, max(0, framed - made))
        if made < framed:
            turned.append(frames_between(left[some, :d], right[some, :d]).astype(np.float32))
            sizes.append(singular_values(left[some], right[some]) / scale_of(left[some], right[some])[:, None])
        done()
    return Null(
        d,
        whole,
        {name: np.concatenate(each) for name, each in found.items()},
        np.concatenate(leads) if leads else np.zeros((0, 2), dtype=bool),
        np.concatenate(turned).astype(np.float64) if turned else np.zeros((0, rank, rank)),
        np.concatenate(spectra) if spectra else np.zeros((0, rank), dtype=np.complex128),
        np.concatenate(sizes) if sizes else np.zeros((0, rank)),
    )


def too_wide(width: int, d: int, whole: bool) -> list[tuple[str, str]]:
    """Statistics of factors of shape (width, d) that are left out for what their draws would cost, and from which width on.

    >>> too_wide(64, 576, False), too_wide(1024, 1024, True)[0]
    ([], ('leader, gap, alpha*, growth', 'rank 1024, taken up to 768'))
    """
    rank, of = min(width, d), "taken up to"
    found = []
    if rank > WIDEST_SPECTRUM:
        found.append(("leader, gap, alpha*, growth", f"rank {rank}, {of} {WIDEST_SPECTRUM}"))
    if min(d, 2 * width) > WIDEST_SYMMETRIC:
        limit = f"width {min(d, 2 * width)}, {of} {WIDEST_SYMMETRIC}"
        found += [("positive share and the ends of sym", limit), ("distance to I", limit)]
    elif rank > WIDEST_SPECTRUM:
        found.append(("distance to I", f"rank {rank}, {of} {WIDEST_SPECTRUM}"))
    if rank > WIDEST_SPECTRUM:
        found.append(("every statistic against random bases", f"rank {rank}, {of} {WIDEST_SPECTRUM}"))
    return found


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
