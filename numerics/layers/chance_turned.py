"""What rotary positions change of the scores of random factors: the null of what they change of a head's.

``|Q^T (R - I) K| / |Q^T K|`` for the turn R of an offset is free of scale; with Gaussian Q and K it is drawn once for a shape and
the turns.  Singular values of ``Q^T K`` do not say what a turn between Q and K changes, so that there is no null of random bases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO
from zipfile import BadZipFile

import numpy as np

from eigentoken.numerics.layers.chance import HeldAgainst, held_to
from eigentoken.numerics.layers.chance_statistics import Floats
from eigentoken.numerics.layers.rotary_scores import OFFSETS

__all__ = ["draw_turned", "held_turned", "read_turned", "rotary_changes", "write_turned"]


def draw_turned(width: int, d: int, draws: int, seed: int, turns: Sequence[Floats]) -> dict[str, Floats]:
    """:func:`rotary_changes` of the draws of :func:`draw_null`."""
    chance = np.random.default_rng([seed, width, d])
    batch = max(1, min(draws, 4_000_000 // (width * d)))
    found: dict[str, list[Floats]] = {}
    for made in range(0, draws, batch):
        left, right = chance.standard_normal((2, min(batch, draws - made), width, d))
        for name, values in rotary_changes(left, right, turns).items():
            found.setdefault(name, []).append(values)
    return {name: np.concatenate(each) for name, each in found.items()}


def rotary_changes(left: Floats, right: Floats, turns: Sequence[Floats]) -> dict[str, Floats]:
    """``|Q^T (R - I) K| / |Q^T K|`` for the turns R of the offsets, through the triangular factors of Q^T and K^T."""
    first, second = (np.asarray(np.linalg.qr(each.swapaxes(-1, -2), mode="r")) for each in (left, right))
    norms = []
    for middle in (np.eye(left.shape[-2]), *(turn - np.eye(len(turn)) for turn in turns)):
        norms.append(np.linalg.svd(first @ middle @ second.swapaxes(-1, -2), compute_uv=False)[..., 0])
    with np.errstate(all="ignore"):
        return {f"rotary change at {k}": norm / norms[0] for k, norm in zip(OFFSETS, norms[1:], strict=True)}


def held_turned(left: Floats, right: Floats, turns: Sequence[Floats], draws: Mapping[str, Floats]) -> list[HeldAgainst]:
    """What the turns change of the scores of a head, against what they change of the draws."""
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return []
    found = {name: float(value) for name, value in rotary_changes(left, right, turns).items() if np.isfinite(value)}
    held = [held_to(name, "gaussian factors", value, draws[name]) for name, value in found.items()]
    return [each for each in held if each is not None]


def write_turned(found: Mapping[str, Floats], stream: IO[bytes]) -> None:
    """Draws of :func:`draw_turned`, as an ``.npz``."""
    np.savez(stream, **found)  # type: ignore[arg-type]


def read_turned(path: Path) -> dict[str, Floats] | None:
    """Draws of :func:`draw_turned` that were stored; ``None`` where there is no such file, or it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = {name: np.asarray(stored[name], dtype=np.float64) for name in stored.files}
    except (OSError, ValueError, KeyError, BadZipFile):
        return None
    return found if list(found) == [f"rotary change at {offset}" for offset in OFFSETS] else None
