"""Rotary position encoding: R_m turns the pairs of coordinates of a query or key at position m.

With q_i = R_i Q x_i and k_j = R_j K x_j the score is x_i^T Q^T R_i^T R_j K x_j, and R_i^T R_j = R_{j-i}; so
P(delta) = Q^T R_delta K / scale with **delta = j - i, key position minus query position** (Su et al., RoFormer, 2021).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentoken.models.convention.errors import ModelError
from eigentoken.transformer_layer import turned

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Rotary:
    """Angles ``m * frequencies[k]`` for the k-th coordinate pair of the first ``dims`` coordinates.

    ``interleaved``: pair k is (2k, 2k+1) (llama2.c, GGUF of the llama architecture); otherwise it is (k, k + dims/2)
    (transformers).  ``rule`` says how the frequencies follow from ``theta``.  ``gain`` multiplies turned queries and keys
    (YaRN): the score scale of a layer is divided by its square, R itself stays orthogonal.  ``start``: the first coordinate that
    is turned.  ``within``: how many tokens these frequencies are for, where longer sequences have others (dynamic, LongRoPE);
    0 where there is no such number.
    """

    theta: float
    dims: int
    d_head: int
    interleaved: bool
    frequencies: tuple[float, ...]
    rule: str = "default"
    gain: float = 1.0
    start: int = 0
    within: int = 0

    def pairs(self) -> tuple[Array, Array]:
        """The coordinates (first, second) of each turned pair."""
        k = np.arange(self.dims // 2)
        first, second = (2 * k, 2 * k + 1) if self.interleaved else (k, k + self.dims // 2)
        return first + self.start, second + self.start

    def rotation(self, delta: float) -> Array:
        """R_delta as a (d_head, d_head) float64 matrix acting on columns from the left.

        >>> standard_rotary(theta=10000.0, d_head=2).rotation(1.0) @ [1.0, 0.0]
        array([0.54030231, 0.84147098])
        """
        R = np.eye(self.d_head)
        first, second = self.pairs()
        angle = delta * np.asarray(self.frequencies)
        R[first, first] = R[second, second] = np.cos(angle)
        R[first, second] = -np.sin(angle)
        R[second, first] = np.sin(angle)
        return R

    def rotate(self, x: Any, positions: Any = None) -> Any:
        """R_m x for rows x of shape (..., n, d_head) at the n positions m (by default 0, 1, ...)."""
        last = x.shape[-2] if positions is None else int(np.max(np.asarray(positions), initial=-1)) + 1
        if 0 < self.within < last:
            raise ModelError(
                f"{last} tokens: beyond the {self.within} of the trained length this model has other rotary frequencies "
                f"(rule {self.rule}), which are not read"
            )
        return turned(x, self.pairs(), self.frequencies, positions)

    def describe(self) -> str:
        """One line for reports."""
        pairs = "interleaved pairs (2k, 2k+1)" if self.interleaved else f"half-split pairs (k, k+{self.dims // 2})"
        return f"rotary, theta={self.theta:g}, {self.dims} of {self.d_head} coordinates, {pairs}, rule {self.rule}"


def standard_rotary(*, theta: float, d_head: int, dims: int | None = None, interleaved: bool = False) -> Rotary:
    """Frequencies theta^(-2k/dims), k = 0 .. dims/2 - 1."""
    return _rotary(theta, d_head, d_head if dims is None else dims, interleaved, lambda w: w, "default")


def linear_rotary(*, theta: float, d_head: int, dims: int, factor: float, interleaved: bool = False) -> Rotary:
    """Position interpolation: every frequency is divided by ``factor``."""
    _positive("rope factor", factor)
    return _rotary(theta, d_head, dims, interleaved, lambda w: w / factor, f"linear, factor {factor:g}")


def llama3_rotary(
    *,
    theta: float,
    d_head: int,
    dims: int,
    factor: float,
    low: float,
    high: float,
    original_length: float,
    interleaved: bool = False,
) -> Rotary:
    """LLaMA 3.1: long wavelengths are divided by ``factor``, short ones kept, those between blended linearly."""
    for name, value in (("factor", factor), ("low_freq_factor", low), ("high_freq_factor", high)):
        _positive(f"rope {name}", value)
    _positive("rope original_max_position_embeddings", original_length)
    if not low < high:
        raise ModelError(f"rope low_freq_factor must be below high_freq_factor, got {low:g} and {high:g}")

    def rule(w: float) -> float:
        turns = original_length * w / (2 * math.pi)
        if turns < low:
            return w / factor
        if turns > high:
            return w
        blend = (turns - low) / (high - low)
        return (1 - blend) * w / factor + blend * w

    return _rotary(theta, d_head, dims, interleaved, rule, f"llama3, factor {factor:g}")


def yarn_rotary(
    *,
    theta: float,
    d_head: int,
    dims: int,
    factor: float,
    original_length: float,
    fast: float = 32.0,
    slow: float = 1.0,
    truncate: bool = True,
    gain: float | None = None,
    interleaved: bool = False,
) -> Rotary:
    """YaRN (Peng et al., 2023): pairs with few turns over the trained length are divided by ``factor``, fast ones kept.

    The ramp between them is linear in the index of the pair.  Turned vectors are multiplied by ``gain``,
    ``0.1 ln(factor) + 1`` unless given.
    """
    for name, value in (("factor", factor), ("beta_fast", fast), ("beta_slow", slow)):
        _positive(f"rope {name}", value)
    _positive("rope original_max_position_embeddings", original_length)
    _positive("rope theta", theta)
    if theta == 1.0:
        raise ModelError("rope theta must not be 1 for yarn: every pair would turn alike")

    def place(turns: float) -> float:
        return dims * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(theta))

    low, high = place(fast), place(slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dims - 1)
    width = (high - low) or 0.001
    plain = standard_rotary(theta=theta, d_head=d_head, dims=dims, interleaved=interleaved)
    slowed = [min(max((k - low) / width, 0.0), 1.0) for k in range(len(plain.frequencies))]
    frequencies = tuple(w * (1 - share + share / factor) for w, share in zip(plain.frequencies, slowed, strict=True))
    size = yarn_gain(factor) if gain is None else gain
    if not 2.0**-100 < size < 2.0**100:
        raise ModelError(f"rope attention_factor must be a positive finite number, got {size!r}")
    return Rotary(plain.theta, dims, d_head, interleaved, frequencies, f"yarn, factor {factor:g}, gain {size:g}", size)


def yarn_gain(factor: float, mscale: float = 1.0) -> float:
    """``0.1 mscale ln(factor) + 1`` for a factor above 1.

    >>> yarn_gain(1.0), round(yarn_gain(4.0), 6)
    (1.0, 1.138629)
    """
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ModelError(f"{name} must be a positive finite number, got {value!r}")


def _rotary(theta: float, d_head: int, dims: int, interleaved: bool, change: Any, rule: str) -> Rotary:
    _positive("rope theta", theta)
    if dims < 2 or dims % 2 or dims > d_head:
        raise ModelError(f"rotary dimensions must be even, in 2..{d_head} (the head dimension), got {dims}")
    frequencies = tuple(float(change(theta ** (-2 * k / dims))) for k in range(dims // 2))
    return Rotary(
        theta=float(theta), dims=dims, d_head=d_head, interleaved=interleaved, frequencies=frequencies, rule=rule
    )
