"""Tokens through the layers of a checkpoint, part by part, by the one forward pass (:mod:`eigentoken.transformer_layer`).

It is the reading of the convention that tests compare with ``transformers``, and lets biases, norms and the
feed-forward be switched off to see what the theory leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import Layer
from eigentoken.models.convention.rotary import Array
from eigentoken.models.loading.model import Model
from eigentoken.transformer_layer import LayerParts, LayerState, run_parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike


def run_layer(
    layer: Layer, x: Array, *, with_feed_forward: bool = True, with_biases: bool = True, with_norm: bool = True
) -> LayerState[Array]:
    """One layer on rows ``x`` (..., n, d): pre-norm x + f(norm(x)) twice, or post-norm norm(x + f(x)) twice."""
    if x.ndim < 2 or x.shape[-1] != layer.d or x.dtype.kind != "f":
        raise ModelError(f"hidden states must be floating point of shape (..., n, {layer.d}), got {x.dtype} {x.shape}")
    parts = LayerParts(with_feed_forward, with_biases, "affine" if with_norm else "none")
    return replace(run_parts(layer.block(with_feed_forward), x, parts), index=layer.index)


def run_tokens(
    model: Model,
    tokens: ArrayLike,
    *,
    with_feed_forward: bool = True,
    with_biases: bool = True,
    with_norm: bool = True,
    dtype: DTypeLike = np.float32,
    layers: int | None = None,
) -> Iterator[LayerState[Array]]:
    """Run tokens through the layers, one ``LayerState`` a layer, weights streamed.

    ``tokens``: whole numbers (..., n) are token ids; floating point (..., n, d) are hidden states; for a ViT, floating
    point of four dimensions (batch, channels, height, width) are pixels.
    """
    x = first_states(model, tokens, dtype=dtype, with_norm=with_norm, with_biases=with_biases)
    for layer in model.layers(0, layers):
        state = run_layer(layer, x, with_feed_forward=with_feed_forward, with_biases=with_biases, with_norm=with_norm)
        yield state
        x = state.output


def first_states(
    model: Model, tokens: ArrayLike, *, dtype: DTypeLike = np.float32, with_norm: bool = True, with_biases: bool = True
) -> Array:
    """The states before layer 0: ids or pixels are embedded, hidden states (..., n, d) are taken as they are."""
    given = np.asarray(tokens)
    if given.dtype.kind in "iu" or (given.dtype.kind == "f" and given.ndim == 4 and model.architecture.takes_pixels):
        return model.embedding().embed(given, dtype, with_norm=with_norm, with_biases=with_biases)
    if given.dtype.kind == "f" and given.ndim >= 2 and given.shape[-1] == model.d:
        return given.astype(dtype)
    raise ModelError(
        f"tokens must be ids (whole numbers, (..., n)) or hidden states (floats, (..., n, {model.d})), "
        f"got {given.dtype} {given.shape}"
    )
