"""Hypothesis strategies for attention dynamics, usable alone: matrices, families, heads, tokens, masks, steps.

All give numpy arrays of float64 and are made by construction: what they promise holds for every example, without
rejection.  Options are keywords; an impossible request is refused when the strategy is made, not when it is drawn.

>>> from hypothesis import given, settings
>>> @settings(max_examples=5, database=None)
... @given(spd_matrices(d=3, condition=10.0))
... def check(P): assert np.linalg.cond(P) <= 10.0 * (1 + 1e-9)
>>> check()
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.construction import construct
from eigentoken.numerics.instances.plans import Contradiction, Plan
from eigentoken.numerics.instances.sampling import branches, condition_violation
from eigentoken.numerics.instances.spectra import CORNERS

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

__all__ = [
    "causal_masks",
    "commuting_families",
    "hemisphere_tokens",
    "low_rank_heads",
    "masks",
    "orthogonal_matrices",
    "plan_instances",
    "spd_matrices",
    "sphere_tokens",
    "step_sizes",
    "symmetric_matrices",
]

Array = NDArray[np.float64]


def _size(name: str, value: int, least: int = 1) -> int:
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    return value


def _numbers(count: int, low: float = -3.0, high: float = 3.0) -> st.SearchStrategy[list[float]]:
    return st.lists(st.floats(low, high, allow_subnormal=False), min_size=count, max_size=count)


@st.composite
def _orthogonal(draw: Any, d: int, special: bool) -> Array:
    """A product of Householder reflections; the last one decides the determinant."""
    result = np.eye(d)
    flips = draw(st.integers(0, d))
    for _ in range(flips + (flips % 2 if special else 0)):
        vector = np.array(draw(_numbers(d, -1.0, 1.0)))
        length = float(np.linalg.norm(vector))
        unit = vector / length if length > 1e-3 else np.eye(d)[0]
        result = result - 2 * np.outer(result @ unit, unit)
    frame, triangle = np.linalg.qr(result)  # back to orthogonal to the last bit; the signs are kept
    made: Array = frame * np.sign(np.diag(triangle))
    return made


def orthogonal_matrices(*, d: int, special: bool = False) -> st.SearchStrategy[Array]:
    """Orthogonal d x d matrices; ``special`` asks for determinant 1.  They shrink to the identity."""
    return _orthogonal(_size("d", d), special)


@st.composite
def _symmetric(draw: Any, d: int, spectrum: Any, top_gap: float, top: float | None, basis: Any) -> Array:
    if spectrum is not None:
        values = sorted((float(value) for value in spectrum), reverse=True)
    else:
        values = sorted(draw(_numbers(d)), reverse=True)
        if top is not None:
            values = [top, *(value - max(0.0, values[0] - top) for value in values[1:])]
        if top_gap and d > 1:
            values = [values[0], *(min(value, values[0] - top_gap) for value in values[1:])]
    frame = draw(basis)
    made = (frame * np.array(values)) @ frame.T
    found: Array = (made + made.T) / 2
    return found


def symmetric_matrices(
    *, d: int, spectrum: Sequence[float] | None = None, top_gap: float = 0.0, top: float | None = None
) -> st.SearchStrategy[Array]:
    """Symmetric matrices ``Q diag(lambda) Q^T``: with this spectrum, or with ``lambda_1 = top`` and a gap below it."""
    size = _size("d", d)
    if spectrum is not None and len(spectrum) != size:
        raise ValueError(f"spectrum must have d = {size} numbers, got {len(spectrum)}")
    if spectrum is not None and (top_gap or top is not None):
        raise ValueError("give either a spectrum or a top and a gap, not both")
    if top_gap < 0 or not math.isfinite(top_gap):
        raise ValueError(f"top_gap must be a finite number >= 0, got {top_gap}")
    return _symmetric(size, spectrum, top_gap, top, orthogonal_matrices(d=size))


@st.composite
def _spd(draw: Any, d: int, condition: float, scale: float) -> Array:
    shares = draw(_numbers(d, 0.0, 1.0))
    values = [scale * condition ** (-share) for share in shares]
    values[0] = scale
    frame = draw(_orthogonal(d, False))
    made = (frame * np.array(values)) @ frame.T
    found: Array = (made + made.T) / 2
    return found


def spd_matrices(*, d: int, condition: float = 100.0, scale: float = 1.0) -> st.SearchStrategy[Array]:
    """Symmetric positive definite matrices with largest eigenvalue ``scale`` and condition number at most ``condition``."""
    if not condition >= 1 or not math.isfinite(condition):
        raise ValueError(f"condition must be a number >= 1, got {condition}: no matrix has a smaller one")
    if not scale > 0 or not math.isfinite(scale):
        raise ValueError(f"scale must be positive, got {scale}: a positive definite matrix has positive eigenvalues")
    return _spd(_size("d", d), condition, scale)


@st.composite
def _family(draw: Any, d: int, count: int) -> list[Array]:
    frame = draw(_orthogonal(d, False))
    made = []
    for _ in range(count):
        matrix = (frame * np.array(draw(_numbers(d)))) @ frame.T
        made.append((matrix + matrix.T) / 2)
    return made


def commuting_families(*, d: int, count: int = 2) -> st.SearchStrategy[list[Array]]:
    """Symmetric matrices with one eigenbasis: they commute pairwise."""
    return _family(_size("d", d), _size("count", count))


@st.composite
def _heads(draw: Any, d: int, rank: int, heads: int) -> list[dict[str, Array]]:
    made = []
    for _ in range(heads):
        factors = [np.array(draw(_numbers(d * rank, -1.0, 1.0))).reshape(d, rank) for _ in range(4)]
        made.append({"F": factors[0] @ factors[1].T, "M": factors[2] @ factors[3].T})
    return made


def low_rank_heads(*, d: int, rank: int, heads: int = 1) -> st.SearchStrategy[list[dict[str, Array]]]:
    """Heads ``F_h = O_h V_h`` and ``M_h = Q_h^T K_h`` of rank at most ``rank`` (the head dimension)."""
    size = _size("d", d)
    if not 1 <= rank <= size:
        raise ValueError(f"rank must be between 1 and d = {size}, got {rank}")
    return _heads(size, rank, _size("heads", heads))


@st.composite
def _tokens(draw: Any, n: int, d: int, normal: Array | None, outside: int) -> Array:
    x = np.array(draw(_numbers(n * d, -1.0, 1.0))).reshape(n, d)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    x = np.where(lengths > 1e-3, x / np.where(lengths > 1e-3, lengths, 1.0), np.eye(d)[0])
    if normal is None:
        return x
    height = x @ normal
    away = x - np.outer(height, normal)
    height = np.maximum(np.abs(height), draw(st.floats(1e-3, 0.2)))
    if outside:
        height[:outside] = -height[:outside]
    rest = np.linalg.norm(away, axis=1, keepdims=True)
    side = np.sqrt(np.clip(1 - height**2, 0, 1))[:, None]
    other = _perpendicular(normal)
    made: Array = height[:, None] * normal + side * np.where(
        rest > 1e-9, away / np.where(rest > 1e-9, rest, 1.0), other
    )
    return made


def _perpendicular(normal: Array) -> Array:
    axis = np.eye(len(normal))[int(np.argmin(np.abs(normal)))]
    made = axis - (axis @ normal) * normal
    length = float(np.linalg.norm(made))
    return made / length if length > 0 else made


def sphere_tokens(*, n: int, d: int) -> st.SearchStrategy[Array]:
    """Tokens ``(n, d)`` on the unit sphere."""
    return _tokens(_size("n", n), _size("d", d), None, 0)


def hemisphere_tokens(
    *, n: int, d: int, normal: Sequence[float] | None = None, outside: int = 0
) -> st.SearchStrategy[Array]:
    """Unit tokens with ``w^T x_i > 0`` for the unit ``normal`` w (the first axis); ``outside`` of them are just outside."""
    size, count = _size("d", d, 2), _size("n", n)
    if not 0 <= outside <= count:
        raise ValueError(f"outside must be between 0 and n = {count}, got {outside}")
    w = np.eye(size)[0] if normal is None else np.asarray(normal, dtype=np.float64)
    length = float(np.linalg.norm(w))
    if w.shape != (size,) or not math.isfinite(length) or length == 0:
        raise ValueError(f"normal must be a nonzero vector of d = {size} numbers, got {normal!r}")
    return _tokens(count, size, w / length, outside)


def causal_masks(*, n: int) -> st.SearchStrategy[Array]:
    """The causal mask: token i attends to tokens j <= i."""
    return st.just(np.tril(np.ones((_size("n", n), n))))


@st.composite
def _masks(draw: Any, n: int) -> Array:
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    made = np.array(bits, dtype=np.float64).reshape(n, n)
    return np.maximum(made, np.eye(n))


def masks(*, n: int) -> st.SearchStrategy[Array]:
    """0/1 masks in which every token attends at least to itself."""
    return _masks(_size("n", n))


def step_sizes(*, below: float | None = None, above: float | None = None) -> st.SearchStrategy[float]:
    """Positive steps strictly below (and above) a threshold, many of them within a per mille of it."""
    low = 0.0 if above is None else above
    if below is not None and not below > max(low, 0.0):
        raise ValueError(f"no step is above {low:g} and below {below:g}: swap the thresholds")
    if not math.isfinite(low) or low < 0:
        raise ValueError(f"above must be a number >= 0, got {above}")
    if below is None:
        far = st.floats(1e-3, 1e2).map(lambda value: low + value)
        near = st.floats(1e-6, 1e-3).map(lambda value: low * (1 + value) if low else value)
        return far | near
    width = below - low
    inside = st.floats(0.001, 0.999).map(lambda share: low + share * width)
    upper = st.floats(1e-6, 1e-3).map(lambda value: below - value * width)
    lower = st.floats(1e-6, 1e-3).map(lambda value: low + value * width)
    return inside | upper | lower


@st.composite
def plan_instances(draw: DrawFn, plan: Plan) -> Batch:
    """Single instances (a batch of one) of a plan, in all its shapes and corners."""
    choices = branches(plan)
    chosen = choices[draw(st.integers(0, len(choices) - 1))]
    shapes = chosen.shapes()
    shape = shapes[draw(st.integers(0, len(shapes) - 1))]
    corner = CORNERS[draw(st.integers(0, len(CORNERS) - 1))]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    try:
        batch = construct(chosen, shape, corner, 1, generator)
    except Contradiction:
        assume(False)
        raise
    if plan.is_map:
        factor = draw(st.floats(0.25, 4.0))
        scaled = batch.with_parameters({**batch.parameters, "alpha": batch.parameters["alpha"] * factor})
        batch = scaled if bool((condition_violation(chosen, scaled) < 0).all()) else batch
    assume(bool(batch.finite.all()) and bool((condition_violation(chosen, batch) < 0).all()))
    return batch
