"""A plain forward pass from our heads and layers, part by part: what the checkpoint does to tokens.

It is the reading of the convention that tests compare with ``transformers``, and lets biases, norms and the
feed-forward be switched off to see what the theory leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentoken.display import with_shapes
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import Head, Layer
from eigentoken.models.convention.rotary import Array
from eigentoken.models.loading.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class LayerState:
    """What one layer did.  Rows are tokens; H is the number of heads.

    ``scores`` (..., H, n, n) before the mask, ``weights`` (..., H, n, n) after softmax, ``attention_output``
    (..., n, d) the update sum_h O_h V_h(...) + b_O before residual and norm, ``after_attention`` the state between
    the two halves, ``feed_forward_output`` the second update (None when off), ``output`` the state after the layer.
    """

    __repr__ = with_shapes

    index: int
    input: Array
    scores: Array
    weights: Array
    attention_output: Array
    after_attention: Array
    feed_forward_output: Array | None
    output: Array


def head_scores(head: Head, x: Array, *, with_biases: bool = True, positions: Array | None = None) -> Array:
    """score_ij = (Q x_i + b_Q)^T R_{j-i} (K x_j + b_K) / scale, shape (..., n, n), without the mask."""
    q = _linear(x, head.Q, head.q_bias if with_biases else None)
    k = _linear(x, head.K, head.k_bias if with_biases else None)
    if head.rotary is not None:
        where = np.arange(x.shape[-2]) if positions is None else positions
        q, k = head.rotary.rotate(q, where), head.rotary.rotate(k, where)
    return np.asarray(q @ np.swapaxes(k, -1, -2) / x.dtype.type(head.scale))


def masked_softmax(scores: Array, allowed: Array) -> Array:
    """softmax over the allowed keys of each query; the others get weight 0.

    >>> masked_softmax(np.zeros((2, 2)), np.array([[True, False], [True, True]]))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    hidden = np.where(allowed, scores, -np.inf)
    e = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def attention(layer: Layer, x: Array, *, with_biases: bool = True) -> tuple[Array, Array, Array]:
    """Scores, weights and the attention update of the (already normalised) rows ``x``."""
    allowed = layer.mask.allowed(x.shape[-2])
    all_scores, all_weights = [], []
    update = np.zeros_like(x)
    for head in layer.heads:
        scores = head_scores(head, x, with_biases=with_biases)
        weights = masked_softmax(scores, allowed)
        mixed = weights @ _linear(x, head.V, head.v_bias if with_biases else None)
        update += _linear(mixed, head.O, None)
        all_scores.append(scores)
        all_weights.append(weights)
    if with_biases and layer.output_bias is not None:
        update = update + layer.output_bias.astype(x.dtype)
    return np.stack(all_scores, axis=-3), np.stack(all_weights, axis=-3), update


def run_layer(
    layer: Layer, x: Array, *, with_feed_forward: bool = True, with_biases: bool = True, with_norm: bool = True
) -> LayerState:
    """One layer on rows ``x`` (..., n, d): pre-norm x + f(norm(x)) twice, or post-norm norm(x + f(x)) twice."""
    if x.ndim < 2 or x.shape[-1] != layer.d or x.dtype.kind != "f":
        raise ModelError(f"hidden states must be floating point of shape (..., n, {layer.d}), got {x.dtype} {x.shape}")
    pre = layer.placement == "pre"

    def norm(which: Any, y: Array) -> Array:
        return np.asarray(which.apply(y, with_bias=with_biases)) if with_norm else y

    seen = norm(layer.attention_norm, x) if pre else x
    scores, weights, update = attention(layer, seen, with_biases=with_biases)
    middle = x + update if pre else norm(layer.attention_norm, x + update)
    second = None
    output = middle
    if with_feed_forward:
        seen = norm(layer.feed_forward_norm, middle) if pre else middle
        second = layer.feed_forward.apply(seen, with_biases=with_biases)
        output = middle + second if pre else norm(layer.feed_forward_norm, middle + second)
    return LayerState(layer.index, x, scores, weights, update, middle, second, output)


def run_tokens(
    model: Model,
    tokens: Any,
    *,
    with_feed_forward: bool = True,
    with_biases: bool = True,
    with_norm: bool = True,
    dtype: Any = np.float32,
    layers: int | None = None,
) -> Iterator[LayerState]:
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
    model: Model, tokens: Any, *, dtype: Any = np.float32, with_norm: bool = True, with_biases: bool = True
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


def _linear(x: Array, W: Array, b: Array | None) -> Array:
    y = x @ W.T.astype(x.dtype, copy=False)
    return np.asarray(y if b is None else y + b.astype(x.dtype, copy=False))
