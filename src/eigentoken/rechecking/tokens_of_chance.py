"""What ``chance`` measures on tokens, found again: layers as the second arithmetic reads them, and what it cannot read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.recheck.documents.shown import Shown
    from eigentoken.numerics.recheck.layers.chance_layers import PlainLayer
    from eigentoken.transformer_layer import NormWeights

__all__ = ["tokens_of_chance"]

OF_HEADS = ("Q", "K", "V", "O", "scale", "q_bias", "k_bias", "v_bias")
INNER = ("up", "down", "gate", "up_bias", "down_bias", "gate_bias", "activation")
NORMS = ("attention_norm", "feed_forward_norm", "attention_update_norm", "feed_forward_update_norm")
BESIDE = ("out_bias", "attention_gain", "feed_forward_gain", "pre_norm", "parallel")


def tokens_of_chance(shown: Shown, document: dict[str, Any], model: Model, states: object) -> list[int]:
    """The same tokens run again, nothing of a cache; not covered where they are not here.

    The layers that the issuer's code made again, for what the second arithmetic has no formula for.
    """
    from numpy import asarray, float64

    from eigentoken.checking.observe import layers_run
    from eigentoken.checking.own_states import own_states, states_of_prompts
    from eigentoken.checking.prompts import read_prompts
    from eigentoken.nulls.on_tokens import HEAD_SHARE, LAYER_SHARE, on_tokens
    from eigentoken.numerics.recheck.layers.chance_documents import corrections
    from eigentoken.numerics.recheck.layers.chance_on_tokens import HeldOnTokens, held_heads, recheck_tokens

    stated, options = document["tokens"], document["options"]
    if stated is None:
        if states is not None:
            raise ValueError("this document is about no tokens: leave states out")
        shown.cover(("tokens",))
        return []
    given = None
    if states is not None and (stated["ids"] is not None or stated["source"] == "random tokens"):
        raise ValueError(f"the tokens of this document are {stated['source']}, which it says itself: leave states out")
    if stated["ids"] is not None:
        given = replace(states_of_prompts(read_prompts([stated["ids"]], model), model), source=stated["source"])
    elif stated["source"] != "random tokens":
        if states is None:
            return []
        given = replace(own_states(states, model), source=stated["source"])
    if stated["draws"] != options["draws"] // HEAD_SHARE or stated["layer_draws"] != options["draws"] // LAYER_SHARE:
        shown.fails(("tokens", "draws"), "heads get half of the draws, layers a tenth")
        return []
    count = max(2, stated["tokens"])
    if given is not None:
        given = replace(given, array=given.array[..., :count, :], others=())
    seed, many, few = options["seed"], stated["draws"], stated["layer_draws"]
    second: dict[int, list[HeldOnTokens]] = {}
    for layer, state in layers_run(model, 1, count, seed, given):
        plain = _plain(layer, asarray(state.input[0], dtype=float64))
        if plain is not None:
            of_heads = held_heads(layer.index, plain.plain, many, few, seed)
            second[layer.index] = [*of_heads, *plain.held(layer.index, few, seed)]
    fresh = on_tokens(model, draws=options["draws"], seed=seed, tokens=count, own=given, keep=False, skip=second.keys())
    again: dict[int, list[HeldOnTokens]] = {}
    for test in fresh["tests"]:
        again.setdefault(test["layer"], []).append(HeldOnTokens.again(test))
    both = second | again
    recheck_tokens(shown, stated, fresh, [held for layer in sorted(both) for held in both[layer]])
    corrections(shown, ("tokens", "tests"), stated["tests"])
    return sorted(again)


def _plain(layer: Layer, state: Any) -> PlainLayer | None:
    """The layer at these tokens, if its heads are plain and its activation is one of the second arithmetic."""
    from eigentoken.checking.layers import rotary_pairs
    from eigentoken.nulls.on_tokens import shared_values
    from eigentoken.numerics.recheck.layers.chance_layers import ACTIVATIONS, PlainLayer
    from eigentoken.numerics.recheck.layers.chance_on_tokens import PlainHeads

    rules = layer.rules
    if rules.scores() or rules.weights() or rules.values() or rules.terms is not None or rules.latent is not None:
        return None
    block = layer.block()
    if block.up is not None and block.activation not in ACTIVATIONS:
        return None
    pairs = rotary_pairs(layer)
    turned = None if pairs is None else (list(pairs.first), list(pairs.second), pairs.frequencies)
    heads = [{"turned": turned, **{name: getattr(head, name) for name in OF_HEADS}} for head in layer.heads]
    parts = {name: getattr(block, name) for name in (*INNER, *BESIDE)}
    parts |= {name: _norm(getattr(block, name)) for name in NORMS}
    seen = PlainHeads(heads, state, layer.mask.allowed(len(state)))
    whole = PlainLayer(seen, state, shared_values(layer), parts)
    return replace(whole, plain=replace(seen, x=whole.read()))


def _norm(norm: NormWeights[Any] | None) -> dict[str, Any] | None:
    """Its numbers; none where nothing is normed."""
    if norm is None or norm.identity:
        return None
    return {"gain": norm.gain, "bias": norm.bias, "eps": norm.eps, "centred": norm.centred}
