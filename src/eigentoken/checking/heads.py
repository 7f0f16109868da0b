"""One head of a model and the states that its attention reads: what ``basin`` and its re-check ask a model for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentoken.models.convention.head_and_layer import Head, Layer
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model

__all__ = ["head_of", "layer_of", "states_read"]


def layer_of(model: Model, layer: int, fold: bool) -> Layer:
    """The layer of that index, with the gains of its norm folded in where that is asked for."""
    if not 0 <= layer < model.n_layers:
        raise ValueError(f"layer must be 0 to {model.n_layers - 1} for {model.source}, got {layer}")
    found = model.layer(layer)
    return found.fold_gains() if fold else found


def head_of(layer: Layer, head: int) -> Head:
    """The head of that index."""
    if not 0 <= head < len(layer.heads):
        raise ValueError(f"head must be 0 to {len(layer.heads) - 1} in layer {layer.index}, got {head}")
    return layer.heads[head]


def states_read(model: Model, layer: Layer, sequences: int, tokens: int, seed: int) -> Array | None:
    """States (sequences, n, d) of random token ids as the attention of this layer reads them; ``None`` if they are not finite.

    Before the norm of a pre-norm layer they are what enters it; it is applied, with the gains that are not folded.
    """
    from numpy import errstate, isfinite

    from eigentoken.checking.observe import starting_tokens, whole_layers
    from eigentoken.models.forward import first_states, run_layer

    if not whole_layers(model):
        return None
    with errstate(all="ignore"):
        x = first_states(model, starting_tokens(model, sequences, tokens, seed))
        for index in range(layer.index):
            x = run_layer(model.layer(index), x).output
        read = layer.attention_norm.apply(x) if layer.placement == "pre" else x
        return read if isfinite(read).all() else None
