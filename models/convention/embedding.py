"""From token ids or pixels to the first hidden states, for running tokens through the actual layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eigentoken.display import with_shapes
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import Normalization
from eigentoken.models.convention.rotary import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


@dataclass(frozen=True, eq=False, repr=False)
class TokenEmbedding:
    """x_i = W (norm(token[id_i] + position[i] + segment[0])) + b, with the parts that the family has.

    ``position_offset``: the row of the position table that the first token takes.
    """

    __repr__ = with_shapes

    token: Array
    position: Array | None = None
    segment: Array | None = None
    norm: Normalization | None = None
    projection: Array | None = None
    projection_bias: Array | None = None
    position_offset: int = 0

    def embed(
        self, input_ids: ArrayLike, dtype: DTypeLike = np.float32, *, with_norm: bool = True, with_biases: bool = True
    ) -> Array:
        """Hidden states (..., n, d) of ids (..., n)."""
        ids = np.asarray(input_ids)
        if ids.dtype.kind not in "iu" or ids.ndim < 1 or ids.size == 0:
            raise ModelError(f"input_ids must be whole numbers of shape (..., n), got {ids.dtype} {ids.shape}")
        if ids.min() < 0 or ids.max() >= len(self.token):
            raise ModelError(f"input_ids must be in 0..{len(self.token) - 1}, got {ids.min()}..{ids.max()}")
        x = self.token[ids].astype(dtype)
        n = ids.shape[-1]
        if self.position is not None:
            room = len(self.position) - self.position_offset
            if n > room:
                raise ModelError(f"at most {room} tokens fit this model's positions, got {n}")
            x = x + self.position[self.position_offset : self.position_offset + n].astype(dtype)
        if self.segment is not None:
            x = x + self.segment[0].astype(dtype)
        if self.norm is not None and with_norm:
            x = self.norm.apply(x, with_bias=with_biases)
        if self.projection is not None:
            x = x @ self.projection.T.astype(dtype)
            if self.projection_bias is not None and with_biases:
                x = x + self.projection_bias.astype(dtype)
        return np.asarray(x)


@dataclass(frozen=True, eq=False, repr=False)
class PatchEmbedding:
    """x_0 = class token + position[0]; x_i = kernel . patch_i + bias + position[i] (Dosovitskiy et al., ViT, 2021)."""

    __repr__ = with_shapes

    kernel: Array
    class_token: Array
    position: Array
    bias: Array | None = None

    def embed(
        self, pixels: ArrayLike, dtype: DTypeLike = np.float32, *, with_norm: bool = True, with_biases: bool = True
    ) -> Array:
        """Hidden states (batch, 1 + patches, d) of images (batch, channels, height, width)."""
        image = np.asarray(pixels, dtype=dtype)
        d, channels, p, q = self.kernel.shape
        if image.ndim != 4 or image.shape[1] != channels or image.shape[2] % p or image.shape[3] % q:
            raise ModelError(
                f"pixels must have shape (batch, {channels}, multiple of {p}, multiple of {q}), got {image.shape}"
            )
        batch, rows, columns = len(image), image.shape[2] // p, image.shape[3] // q
        if rows * columns + 1 != len(self.position):
            raise ModelError(f"expected {len(self.position) - 1} patches of {p} x {q} pixels, got {rows * columns}")
        patches = image.reshape(batch, channels, rows, p, columns, q).transpose(0, 2, 4, 1, 3, 5)
        x = patches.reshape(batch, rows * columns, -1) @ self.kernel.reshape(d, -1).T.astype(dtype)
        if self.bias is not None and with_biases:
            x = x + self.bias.astype(dtype)
        first = np.broadcast_to(self.class_token.astype(dtype), (batch, 1, d))
        return np.asarray(np.concatenate([first, x], axis=1) + self.position.astype(dtype))


Embedding = TokenEmbedding | PatchEmbedding
