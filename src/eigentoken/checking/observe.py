"""Run random or given tokens through the actual layers and measure what the theorems predict, and what they leave out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigentoken.checking.own_states import OwnStates
    from eigentoken.documents.check_document import Observed
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model
    from eigentoken.transformer_layer import LayerState

__all__ = ["layers_run", "observe", "reads_ids", "starting_tokens", "whole_layers"]


def observe(
    model: Model,
    sequences: int,
    tokens: int,
    seed: int,
    principal: Mapping[int, Sequence[Sequence[float]] | None] | None = None,
    own: OwnStates | None = None,
) -> list[Observed]:
    """One record a layer: distances, E, correlation with the principal direction, sizes of what is left out.

    ``principal``: rows that span the principal subspace, by the layer that has the weights, where it is known already.
    ``own``: states to take in place of random tokens.
    """
    from numpy import errstate

    from eigentoken.models.forward import run_layer

    found: list[Observed] = []
    with errstate(all="ignore"):
        for layer, state in layers_run(model, sequences, tokens, seed, own):
            bare = run_layer(layer, state.input, with_feed_forward=False, with_biases=False)
            even = run_layer(with_even_gain(layer), state.input, with_feed_forward=False)
            found.append(_observed(layer, state, bare, even, principal))
    return found


def layers_run(
    model: Model, sequences: int, tokens: int, seed: int, own: OwnStates | None = None
) -> Iterator[tuple[Layer, LayerState[Array]]]:
    """Each layer with what it did to random tokens, or to the states that are given; ends where they overflow."""
    from numpy import errstate, isfinite

    from eigentoken.models.forward import first_states, run_layer

    if not whole_layers(model):
        return
    x = own.entering(0) if own else None
    if x is None:
        with errstate(all="ignore"):
            x = first_states(model, starting_tokens(model, sequences, tokens, seed))
    for layer in model.layers():
        given = own.entering(layer.index) if own else None
        with errstate(all="ignore"):  # a state that overflows ends the observation, it is not an error of the check
            state = run_layer(layer, x if given is None else given)
        if not isfinite(state.output).all():
            return
        yield layer, state
        x = state.output


def whole_layers(model: Model) -> bool:
    """Is every layer read with its feed-forward?  Only then do tokens pass through the model's own layers."""
    return not any(model.architecture.not_read(index) for index in range(model.n_layers))


def with_even_gain(layer: Layer) -> Layer:
    """The layer whose attention norm has one gain for all coordinates, the mean of the stored ones: a change of length only."""
    from dataclasses import replace

    from numpy import full_like

    norm = layer.attention_norm
    return replace(layer, attention_norm=replace(norm, gain=full_like(norm.gain, norm.gain.mean())))


def _normed(layer: Layer, x: Array) -> Array:
    """The rows normalised, without gain and bias."""
    from dataclasses import replace

    from numpy import ones_like

    norm = layer.attention_norm
    return replace(norm, gain=ones_like(norm.gain), bias=None).apply(x)


def _own_step(layer: Layer, x: Array) -> float | None:
    """``|norm(x)| / |x|``, gains included and the bias not, where the norm stands before the attention, else 1."""
    from dataclasses import replace

    from eigentoken.numerics.layers.observe import relative_size

    return relative_size(replace(layer.attention_norm, bias=None).apply(x), x) if layer.placement == "pre" else 1.0


def _centred_away(layer: Layer) -> float | None:
    """``|F - Pi F Pi| / |F|`` with ``Pi = I - 1 1^T / d`` where the norm subtracts the mean, else 0."""
    from numpy import asarray, float64

    from eigentoken.numerics.layers.observe import relative_size

    if layer.attention_norm.kind != "layernorm":
        return 0.0
    F = asarray(layer.F, dtype=float64)
    right = F - F.mean(axis=1, keepdims=True)
    return relative_size(F - (right - right.mean(axis=0, keepdims=True)), F)


def _observed(
    layer: Any, state: Any, bare: Any, even: Any, principal: Mapping[int, Sequence[Sequence[float]] | None] | None
) -> Observed:
    """What one layer did to the tokens, and the sizes of its parts that the theory leaves out.

    ``gains``: how far the state after attention moves when the norm's gains are replaced by their mean (:func:`with_even_gain`).
    ``own_step``: alpha of ``x + alpha F sum_j a_ij x_j``; ``|norm(x)| / |x|`` where attention is of
    normed tokens.
    ``centring``: a LayerNorm takes the part along (1, ..., 1) away from what enters and what leaves, so that of F only
    ``Pi F Pi`` is left; a projection to the sphere keeps it.
    ``norm_change``: what the norm, without gain and bias, changes of the state where it acts.
    """
    from numpy import asarray

    from eigentoken.numerics.layers.observe import observe_layer, principal_subspace, relative_size, spread_of_lengths

    entering = state.input if layer.placement == "pre" else state.input + state.attention_update
    attention, second, gain = state.attention_update, state.feed_forward_update, layer.attention_norm.gain
    left_out = {
        "biases": relative_size(attention - bare.attention_update, attention),
        "gains": relative_size(state.after_attention - even.after_attention, attention),
        "feed_forward": 0.0 if second is None else relative_size(second, attention),
        "attention_to_state": relative_size(attention, state.input),
        "own_step": _own_step(layer, state.input),
        "gain_spread": float(gain.max()) - float(gain.min()),
        "length_spread": spread_of_lengths(state.input),
        "centring": _centred_away(layer),
        "norm_change": relative_size(_normed(layer, entering) - entering, entering),
    }
    rows = (principal or {}).get(layer.weights_of)
    basis = principal_subspace(layer.F) if rows is None else asarray(rows).T
    return observe_layer(layer.index, state.input, state.output, basis, left_out).as_dict()


def reads_ids(model: Model) -> bool:
    """Does the model turn token ids into states?  Not one that takes pixels, nor layers without an embedding."""
    return bool(model.architecture.has_embedding and not model.architecture.takes_pixels)


def starting_tokens(model: Model, sequences: int, tokens: int, seed: int) -> Array:
    """Random token ids where the model has a vocabulary, random hidden states of unit variance otherwise."""
    import numpy as np

    source = np.random.default_rng(seed)
    embedding = model.embedding() if reads_ids(model) else None
    table = getattr(embedding, "token", None)
    if table is None:
        return source.standard_normal((sequences, tokens, model.d)).astype(np.float32)
    position = getattr(embedding, "position", None)
    room = tokens if position is None else len(position) - embedding.position_offset  # type: ignore[union-attr]
    return source.integers(0, len(table), size=(sequences, min(tokens, room)))
