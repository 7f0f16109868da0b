"""Rotary positions from a configuration: ``rope_parameters`` (new), or ``rope_theta`` with ``rope_scaling`` (old, and first).

A configuration may have one rule for each kind of layer (``sliding_attention``, ``full_attention``).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.rotary import (
    Rotary,
    linear_rotary,
    llama3_rotary,
    standard_rotary,
    yarn_gain,
    yarn_rotary,
)

KINDS = ("sliding_attention", "full_attention")


def rotary_of(
    config: Config,
    d_head: int,
    default_theta: float,
    *,
    kind: str = "",
    share: float | None = None,
    interleaved: bool = False,
) -> Rotary:
    """The rotary encoding of layers of a kind.

    ``share``: which part of a head's coordinates is turned where the configuration does not say (``partial_rotary_factor``);
    ``None``: all of them, whatever it says, as LLaMA-like models do with the default rule.
    """
    rope = config.section("rope_scaling") or config.section("rope_parameters") or Config({}, config.where)
    _refuse_two_answers(rope, kind)
    if kind and isinstance(rope.values.get(kind), dict):
        rope = rope.section(kind) or rope
    theta = rope.number("rope_theta", default=config.number("rope_theta", default=default_theta))
    rule = rope.text("rope_type", "type", default="default")
    said = rope.number("partial_rotary_factor", default=config.number("partial_rotary_factor", default=share or 1.0))
    if share is None and rule != "default" and said != 1.0:
        raise ModelError(
            f"{config.where}: partial_rotary_factor={said:g} with rope_type {rule[:40]!r} is not supported: "
            "LLaMA-like models turn all coordinates of a head"
        )
    turned = d_head if share is None else int(d_head * said)
    dims = config.integer("eigentoken_rope_dims", default=turned, minimum=0)
    interleaved = config.flag("eigentoken_rope_interleaved", default=interleaved)
    if rule in ("default", "dynamic"):
        plain = standard_rotary(theta=theta, d_head=d_head, dims=dims, interleaved=interleaved)
        if rule == "default":
            return plain
        longest = config.integer("max_position_embeddings", default=0, minimum=0)
        return replace(plain, rule="dynamic, as within the trained length", within=longest)
    if rule == "linear":
        factor = rope.number("factor")
        return linear_rotary(theta=theta, d_head=d_head, dims=dims, factor=factor, interleaved=interleaved)
    if rule == "llama3":
        return llama3_rotary(
            theta=theta,
            d_head=d_head,
            dims=dims,
            factor=rope.number("factor"),
            low=rope.number("low_freq_factor"),
            high=rope.number("high_freq_factor"),
            original_length=_trained_length(config, rope),
            interleaved=interleaved,
        )
    if rule == "yarn":
        return _yarn(config, rope, theta, d_head, dims, interleaved)
    plain = standard_rotary(theta=theta, d_head=d_head, dims=dims, interleaved=interleaved)
    if rule == "divisors":
        return _divided(plain, config.raw("eigentoken_rope_divisors"), f"{config.where}: rope_freqs", "stored divisors")
    if rule in ("longrope", "su"):
        return _longrope(config, rope, plain)
    raise ModelError(
        f"{config.where}: rope_type {rule[:40]!r} is not supported: expected default, linear, dynamic, llama3, yarn or longrope"
    )


def refuse_one_for_all(config: Config) -> None:
    """Refuse ``rope_parameters`` without kinds of layers where each kind has a rule of its own."""
    said = config.raw("rope_parameters")
    if isinstance(said, dict) and said and not any(kind in said for kind in KINDS):
        raise ModelError(
            f"{config.where}: rope_parameters must have a rule for each kind of layer ({' and '.join(KINDS)}) in a model of this "
            "type, got one for all"
        )


def _refuse_two_answers(rope: Config, kind: str) -> None:
    """Refuse a rule for all layers beside rules for kinds of layers: types take the one or the others, in silence.

    Where each kind has its rule, a default type whose ``rope_theta`` is null is no second one: transformers 5.10 writes it.
    """
    inside = [each for each in KINDS if isinstance(rope.values.get(each), dict)]
    beside = {key: value for key, value in rope.values.items() if key not in inside and value is not None}
    typed = beside.keys() & {"rope_type", "type"}
    silent = beside.keys() == typed and all(beside[key] == "default" for key in typed) and "rope_theta" in rope.values
    if inside and typed and not (silent and kind and len(inside) == len(KINDS)):
        raise ModelError(
            f"{rope.where}: a rule for all layers and rules for {' and '.join(inside)} stand beside one another: keep what the "
            "model was trained with"
        )


def _trained_length(config: Config, rope: Config) -> float:
    """The length that the rotary rule counts from: beside the rope parameters, in them, or the model's own."""
    beside = config.number("original_max_position_embeddings", default=0.0)
    own = config.number("max_position_embeddings", default=2048.0)
    return beside or rope.number("original_max_position_embeddings", default=own)


def _yarn(config: Config, rope: Config, theta: float, d_head: int, dims: int, interleaved: bool) -> Rotary:
    length = _trained_length(config, rope)
    factor = rope.number("factor", default=config.number("max_position_embeddings", default=2048.0) / (length or 1.0))
    some, all_dim = rope.number("mscale", default=0.0), rope.number("mscale_all_dim", default=0.0)
    ratio = yarn_gain(factor, some) / yarn_gain(factor, all_dim) if some and all_dim else yarn_gain(factor)
    return yarn_rotary(
        theta=theta,
        d_head=d_head,
        dims=dims,
        factor=factor,
        original_length=length,
        fast=rope.number("beta_fast", default=32.0) or 32.0,
        slow=rope.number("beta_slow", default=1.0) or 1.0,
        truncate=rope.flag("truncate", default=True),
        gain=rope.number("attention_factor", default=ratio),
        interleaved=interleaved,
    )


def _longrope(config: Config, rope: Config, plain: Rotary) -> Rotary:
    """LongRoPE (Ding et al., 2024) as within the trained length: each frequency divided by its short factor."""
    length = _trained_length(config, rope)
    longest = config.number("max_position_embeddings", default=2048.0)
    factor = rope.number("factor", default=longest / length if length else 1.0)
    gain = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(length))
    said = rope.number("attention_factor", default=gain)
    where = f"{config.where}: rope short_factor"
    divided = _divided(plain, rope.raw("short_factor"), where, "longrope, as within the trained length")
    return replace(divided, gain=said, within=int(length))


def _divided(plain: Rotary, divisors: Any, where: str, rule: str) -> Rotary:
    """A divisor for each frequency, as GGUF stores them (``rope_freqs.weight``) and LongRoPE lists them."""
    fits = isinstance(divisors, list) and len(divisors) == len(plain.frequencies)
    if not fits or not all(isinstance(v, float | int) and math.isfinite(v) and v > 0 for v in divisors):
        raise ModelError(f"{where} must have {len(plain.frequencies)} positive finite entries")
    return replace(plain, frequencies=tuple(w / v for w, v in zip(plain.frequencies, divisors, strict=True)), rule=rule)
