"""The activation functions of the supported families, by the names that configurations use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from eigentoken.models.convention.errors import ModelError

Array = np.ndarray[Any, np.dtype[Any]]


def gelu(x: Array) -> Array:
    """x Phi(x), exact (Hendrycks and Gimpel, 2016)."""
    from scipy.special import erf

    return np.asarray(x * x.dtype.type(0.5) * (1 + erf(x / x.dtype.type(math.sqrt(2)))), dtype=x.dtype)


def gelu_tanh(x: Array) -> Array:
    """The tanh approximation of GELU that GPT-2 was trained with."""
    inner = x.dtype.type(math.sqrt(2 / math.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return np.asarray(x * x.dtype.type(0.5) * (1 + np.tanh(inner)), dtype=x.dtype)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow."""
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + e), e / (1 + e)), dtype=x.dtype)


def silu(x: Array) -> Array:
    """x sigmoid(x)."""
    return np.asarray(x * sigmoid(x), dtype=x.dtype)


def quick_gelu(x: Array) -> Array:
    """x sigmoid(1.702 x)."""
    return np.asarray(x * sigmoid(x.dtype.type(1.702) * x), dtype=x.dtype)


def relu(x: Array) -> Array:
    """max(x, 0).

    >>> relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    return np.maximum(x, x.dtype.type(0))


def mish(x: Array) -> Array:
    """x tanh(ln(1 + e^x))."""
    return np.asarray(x * np.tanh(np.logaddexp(x, x.dtype.type(0))), dtype=x.dtype)


def leaky_relu(x: Array) -> Array:
    """x for x > 0, else x / 100."""
    return np.asarray(np.where(x > 0, x, x.dtype.type(0.01) * x), dtype=x.dtype)


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "gelu": gelu,
    "gelu_python": gelu,
    "gelu_10": lambda x: np.clip(gelu(x), x.dtype.type(-10), x.dtype.type(10)),
    "gelu_accurate": gelu_tanh,
    "gelu_python_tanh": gelu_tanh,
    "gelu_new": gelu_tanh,
    "gelu_fast": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "quick_gelu": quick_gelu,
    "leaky_relu": leaky_relu,
    "linear": lambda x: x,
    "mish": mish,
    "relu": relu,
    "relu2": lambda x: np.square(relu(x)),
    "relu6": lambda x: np.minimum(relu(x), x.dtype.type(6)),
    "sigmoid": sigmoid,
    "silu": silu,
    "swish": silu,
    "tanh": np.tanh,
}


def activation(name: str) -> Callable[[Array], Array]:
    """The function of a configuration's activation name."""
    if name not in ACTIVATIONS:
        raise ModelError(f"activation {name[:60]!r} is not known: expected one of {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[name]
