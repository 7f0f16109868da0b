"""LayerNorm and RMSNorm as a checkpoint has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigentoken.display import with_shapes
from eigentoken.models.convention.rotary import Array
from eigentoken.transformer_layer import NormWeights


@dataclass(frozen=True, eq=False, repr=False)
class Normalization:
    """LayerNorm: gain * (x - mean)/sqrt(var + eps) + bias; RMSNorm: gain * x / sqrt(mean(x^2) + eps); ``none``: x itself.

    ``gain`` is what multiplies: 1 where nothing is stored, and 1 + w where the file stores w (Gemma).
    """

    __repr__ = with_shapes

    kind: Literal["layernorm", "rmsnorm", "none"]
    eps: float
    gain: Array
    bias: Array | None = None

    def apply(self, x: Array, *, with_bias: bool = True) -> Array:
        """The normalised rows, in the dtype of ``x``."""
        weights = self.weights()
        bias = weights.bias if with_bias else None
        return np.asarray(NormWeights(weights.gain, bias, weights.eps, weights.centred, weights.identity).apply(x))

    def weights(self) -> NormWeights[Array]:
        """The norm as the forward pass reads it."""
        return NormWeights(self.gain, self.bias, float(self.eps), self.kind == "layernorm", self.kind == "none")


def no_norm(width: int) -> Normalization:
    """The norm of a place where a layer has none."""
    return Normalization("none", 0.0, np.ones(width, dtype=np.float32))
