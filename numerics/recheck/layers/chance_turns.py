"""Re-check of ``eigentoken/chance``: what rotary positions change of scores, pair by pair, and of draws made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Turned", "TurnedDraws", "changes", "largest_square"]

Floats = NDArray[np.float64]
#: The first and the second coordinates that are turned, and their frequencies.
Turned: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], Sequence[float]]
Shape: TypeAlias = tuple[int, int, tuple[tuple[float, ...], ...]]
OFFSETS = (1, 8, 64)


def largest_square(first: Floats, second: Floats) -> Floats:
    """``|M|^2``, the largest eigenvalue of ``A^(1/2) B A^(1/2)`` for the Gram matrices A, B of the factors."""
    values, vectors = np.linalg.eigh(first)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return np.asarray(np.linalg.eigvalsh(root.swapaxes(-1, -2) @ second @ root)[..., -1])


def changes(left: Floats, right: Floats, turned: Turned) -> dict[str, Floats]:
    """``|Q^T (R - I) K| / |Q^T K|``, pair by pair: ``R k = (c k_1 - s k_2, s k_1 + c k_2)``; norms by Gram matrices."""
    first, second, frequencies = turned
    grams, found = left @ left.swapaxes(-1, -2), {}
    whole = largest_square(grams, right @ right.swapaxes(-1, -2))
    for offset in OFFSETS:
        angles = offset * np.asarray(frequencies, dtype=np.float64)[:, None]
        moved = np.zeros_like(right)
        one, two = right[..., first, :], right[..., second, :]
        moved[..., first, :] = (np.cos(angles) - 1) * one - np.sin(angles) * two
        moved[..., second, :] = np.sin(angles) * one + (np.cos(angles) - 1) * two
        change = largest_square(grams, moved @ moved.swapaxes(-1, -2))
        with np.errstate(all="ignore"):
            found[f"rotary change at {offset}"] = np.sqrt(np.maximum(change, 0.0) / whole)
    return found


@dataclass(frozen=True)
class TurnedDraws:
    """What the turns of rotary positions change of random scores, by shape and frequencies."""

    made: dict[Shape, dict[str, Floats]]

    def of(self, width: int, d: int, turned: Turned | None, seed: int, draws: int) -> dict[str, Floats] | None:
        if turned is None:
            return None
        key = width, d, tuple(tuple(np.asarray(each).tolist()) for each in turned)
        if key not in self.made:
            source = np.random.default_rng([seed, width, d])
            batch = max(1, min(draws, 4_000_000 // (width * d)))
            found: dict[str, list[Floats]] = {}
            for start in range(0, draws, batch):
                left, right = source.standard_normal((2, min(batch, draws - start), width, d))
                for name, values in changes(left, right, turned).items():
                    found.setdefault(name, []).append(values)
            self.made[key] = {name: np.concatenate(each) for name, each in found.items()}
        return self.made[key]
