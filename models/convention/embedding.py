"""From token ids or pixels to the first hidden states, for running tokens through the actual layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eigentoken.display import with_shapes
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Array
from eigentoken.transformer_layer import linear

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


@dataclass(frozen=True, eq=False, repr=False)
class TokenEmbedding:
    """x_i = W (norm(c token[id_i] + position[i] + segment[0])) + b, with the parts that the family has.

    ``position_offset``: the row of the position table that the first token takes.  ``multiplier``: c.  ``project_first``: W is
    applied to the token's row, before the rest is added.
    """

    __repr__ = with_shapes

    token: Array
    position: Array | None = None
    segment: Array | None = None
    norm: Normalization | None = None
    projection: Array | None = None
    projection_bias: Array | None = None
    position_offset: int = 0
    multiplier: float = 1.0
    project_first: bool = False

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
        x = x if self.multiplier == 1.0 else x * x.dtype.type(self.multiplier)
        x = self._projected(x, with_biases) if self.project_first else x
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
        return np.asarray(x if self.project_first else self._projected(x, with_biases))

    def _projected(self, x: Array, with_biases: bool) -> Array:
        return (
            x if self.projection is None else linear(x, self.projection, self.projection_bias if with_biases else None)
        )


@dataclass(frozen=True, eq=False, repr=False)
class PatchEmbedding:
    """x_0 = class token + position[0]; x_i = kernel . patch_i + bias + position[i] (Dosovitskiy et al., ViT, 2021).

    ``class_token`` (d), several of them (k, d) or none; without ``position`` nothing is added.  ``registers`` (k, d) come between
    the class token and the patches, and have no position (Darcet et al., 2024).  ``norm`` is applied last.
    """

    __repr__ = with_shapes

    kernel: Array
    class_token: Array | None
    position: Array | None
    bias: Array | None = None
    norm: Normalization | None = None
    registers: Array | None = None

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
        first = np.zeros((0, d)) if self.class_token is None else self.class_token.reshape(-1, d)
        if self.position is not None and rows * columns + len(first) != len(self.position):
            wanted = len(self.position) - len(first)
            raise ModelError(f"expected {wanted} patches of {p} x {q} pixels, got {rows * columns}")
        patches = image.reshape(batch, channels, rows, p, columns, q).transpose(0, 2, 4, 1, 3, 5)
        x = patches.reshape(batch, rows * columns, -1) @ self.kernel.reshape(d, -1).T.astype(dtype)
        if self.bias is not None and with_biases:
            x = x + self.bias.astype(dtype)
        x = np.concatenate([np.broadcast_to(first.astype(dtype), (batch, *first.shape)), x], axis=1)
        if self.position is not None:
            x = x + self.position.astype(dtype)
        if self.registers is not None:
            more = np.broadcast_to(self.registers.astype(dtype), (batch, *self.registers.shape))
            x = np.concatenate([x[:, : len(first)], more, x[:, len(first) :]], axis=1)
        if self.norm is not None and with_norm:
            x = self.norm.apply(x, with_bias=with_biases)
        return np.asarray(x)


Embedding = TokenEmbedding | PatchEmbedding
