"""Run random tokens through the actual layers and measure what the theorems predict, and what they leave out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["observe", "starting_tokens"]


def observe(
    model: Any, sequences: int, tokens: int, seed: int, principal: Mapping[int, Any] | None = None
) -> list[dict[str, Any]]:
    """One record a layer: distances, E, correlation with the principal direction, sizes of what is left out.

    ``principal``: rows that span the principal subspace, by the layer that has the weights, where it is known already.
    """
    from numpy import asarray

    from eigentoken.models.forward import first_states, run_layer
    from eigentoken.numerics.layers.observe import observe_layer, principal_subspace, relative_size

    found = []
    x = first_states(model, starting_tokens(model, sequences, tokens, seed))
    for layer in model.layers():
        state = run_layer(layer, x)
        attention, second = state.attention_output, state.feed_forward_output
        bare = run_layer(layer, x, with_feed_forward=False, with_biases=False).attention_output
        gain = layer.attention_norm.gain
        left_out = {
            "biases": relative_size(attention - bare, attention),
            "feed_forward": 0.0 if second is None else relative_size(second, attention),
            "attention_to_state": relative_size(attention, x),
            "gain_spread": float(gain.max()) - float(gain.min()),
        }
        rows = (principal or {}).get(layer.weights_of)
        basis = principal_subspace(layer.update_matrix()) if rows is None else asarray(rows).T
        found.append(observe_layer(layer.index, x, state.output, basis, left_out).as_dict())
        x = state.output
    return found


def starting_tokens(model: Any, sequences: int, tokens: int, seed: int) -> Any:
    """Random token ids where the model has a vocabulary, random hidden states of unit variance otherwise."""
    import numpy as np

    source = np.random.default_rng(seed)
    embedding = None if model.reading.takes_pixels else model.embedding()
    table = getattr(embedding, "token", None)
    if table is None:
        return source.standard_normal((sequences, tokens, model.d)).astype(np.float32)
    position = getattr(embedding, "position", None)
    room = tokens if position is None else len(position) - embedding.position_offset  # type: ignore[union-attr]
    return source.integers(0, len(table), size=(sequences, min(tokens, room)))
