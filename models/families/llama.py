"""LLaMA-like models: RMSNorm before each half, rotary positions, grouped queries, gated feed-forward.

LLaMA (Touvron et al., 2023), Mistral (Jiang et al., 2023, sliding window), Qwen2 (biases), SmolLM, and what GGUF,
llama2.c and glassllm files of that shape hold (there with interleaved rotary pairs).
"""

from __future__ import annotations

import math
from typing import Any

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, Normalization, StoredMatrix
from eigentoken.models.convention.rotary import (
    Rotary,
    linear_rotary,
    llama3_rotary,
    standard_rotary,
    yarn_gain,
    yarn_rotary,
)
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register

DEFAULT_KV_HEADS = {"mistral": 8, "qwen2": 32, "smollm3": 4}
DEFAULT_WINDOW = {"mistral": 4096}
DEFAULT_THETA = {"smollm3": 2_000_000.0}
DEFAULT_EPS = 1e-6


@register
class Llama(Family):
    """Head h uses key-value head h // (n_heads / n_kv_heads); scale sqrt(d_head)."""

    name = "llama"
    model_types = ("llama", "mistral", "qwen2", "smollm3")
    architectures = {"Llama": "llama", "Mistral": "mistral", "Qwen2": "qwen2", "SmolLM3": "smollm3"}
    about = "LLaMA, Mistral, Qwen2, SmolLM: pre-RMSNorm, rotary positions, grouped queries, causal (sliding window)"

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.config = config
        self.kind = config.text("model_type", default="llama")
        self.d = config.integer("hidden_size")
        self.n_layers = config.layers("num_hidden_layers")
        self.n_heads = config.integer("num_attention_heads")
        missing = (
            "num_key_value_heads" not in config.values
        )  # null means one for each head, no entry the class's default
        self.n_kv_heads = config.integer(
            "num_key_value_heads",
            default=DEFAULT_KV_HEADS.get(self.kind, self.n_heads) if missing else self.n_heads,
            maximum=self.n_heads,
        )
        if self.n_heads % self.n_kv_heads:
            raise ModelError(
                f"{config.where}: num_key_value_heads must divide num_attention_heads={self.n_heads}, "
                f"got {self.n_kv_heads}"
            )
        if config.raw("head_dim") is None:
            config.heads(self.d, "num_attention_heads")
        self.d_head = config.integer("head_dim", default=self.d // self.n_heads)
        self.width = config.integer("intermediate_size")
        self.eps = config.number("rms_norm_eps", default=DEFAULT_EPS)
        self.activation = config.text("hidden_act", default="silu")
        self.rotary = rotary_of(config, self.d_head, DEFAULT_THETA.get(self.kind, 10000.0))
        self._weights = weights.under("layers.0.self_attn.q_proj.weight")
        self.check_biases()

    @property
    def weights(self) -> WeightReader:
        return self._weights

    def check_biases(self) -> None:
        """The configuration and the file must agree on the attention biases; qwen2 has them on query, key and value."""
        stored = self.weights.has("layers.0.self_attn.q_proj.bias")
        said = True if self.kind == "qwen2" else self.config.raw("attention_bias")
        if said is not None and bool(said) != stored:
            raise ModelError(
                f"{self.config.where}: attention biases are {'stored' if stored else 'missing'} but the configuration "
                f"({self.kind}, attention_bias={self.config.raw('attention_bias')}) says otherwise"
            )

    def mask(self, index: int) -> Mask:
        """Causal, or a sliding window where the configuration says so."""
        window = self.config.values.get("sliding_window", DEFAULT_WINDOW.get(self.kind))
        kinds = self.config.raw("layer_types")
        if isinstance(kinds, list) and len(kinds) == self.n_layers:
            slides = kinds[index] == "sliding_attention"
        elif self.kind in ("qwen2", "smollm3"):
            slides = self.config.flag("use_sliding_window") and index >= self.config.integer(
                "max_window_layers", default=28, minimum=0
            )
        else:
            slides = self.kind == "mistral"
        if not slides or window is None:
            return Mask("causal")
        return Mask("local", self.config.integer("sliding_window", default=DEFAULT_WINDOW.get(self.kind)))

    def rotary_at(self, index: int) -> Rotary | None:
        """SmolLM3 leaves rotary positions out of some layers (``no_rope_layers`` entry 0)."""
        if self.kind != "smollm3":
            return self.rotary
        uses: Any = self.config.raw("no_rope_layers")
        if uses is None:
            every = self.config.integer("no_rope_layer_interval", default=4)
            return self.rotary if (index + 1) % every else None
        if not isinstance(uses, list) or len(uses) != self.n_layers:
            raise ModelError(
                f"{self.config.where}: no_rope_layers must have one entry for each of {self.n_layers} layers"
            )
        return self.rotary if uses[index] else None

    def shapes(self, index: int) -> dict[str, Shape]:
        base, d, m = f"layers.{index}.", self.d, self.width
        q, kv = self.n_heads * self.d_head, self.n_kv_heads * self.d_head
        needed: dict[str, Shape] = {
            f"{base}self_attn.q_proj.weight": (q, d),
            f"{base}self_attn.k_proj.weight": (kv, d),
            f"{base}self_attn.v_proj.weight": (kv, d),
            f"{base}self_attn.o_proj.weight": (d, q),
            f"{base}input_layernorm.weight": (d,),
            f"{base}post_attention_layernorm.weight": (d,),
        }
        return needed | {
            f"{base}mlp.gate_proj.weight": (m, d),
            f"{base}mlp.up_proj.weight": (m, d),
            f"{base}mlp.down_proj.weight": (d, m),
        }

    def layer(self, index: int) -> Layer:
        base, w, shapes = f"layers.{index}.", self.weights, self.shapes(index)
        parts = [f"{base}self_attn.{part}_proj" for part in "qkvo"]
        W_Q, W_K, W_V, W_O = (w.read(f"{part}.weight", shapes[f"{part}.weight"]) for part in parts)
        b_Q, b_K, b_V, b_O = (w.optional(f"{part}.bias", shapes[f"{part}.weight"][:1]) for part in parts)
        stored = StoredMatrix(f"{w.prefix}{parts[3]}.weight", transposed=False)
        dtype = self.dtypes(*(f"{part}.weight" for part in parts))
        rotary = self.rotary_at(index)
        return self.build(
            index,
            Projections(W_Q, W_K, W_V, W_O, stored, dtype, b_Q, b_K, b_V, b_O),
            scale=math.sqrt(self.d_head) / (1.0 if rotary is None else rotary.gain**2),
            mask=self.mask(index),
            placement="pre",
            attention_norm=w.norm(f"{base}input_layernorm", self.d, eps=self.eps, rms=True),
            feed_forward_norm=w.norm(f"{base}post_attention_layernorm", self.d, eps=self.eps, rms=True),
            positions="none" if rotary is None else "rotary",
            rotary=rotary,
        )

    def feed_forward(self, index: int) -> FeedForward:
        base, w, d, m = f"layers.{index}.mlp.", self.weights, self.d, self.width
        return FeedForward(
            gate=w.read(f"{base}gate_proj.weight", (m, d)),
            up=w.read(f"{base}up_proj.weight", (m, d)),
            down=w.read(f"{base}down_proj.weight", (d, m)),
            activation=self.activation,
            gate_bias=w.optional(f"{base}gate_proj.bias", (m,)),
            up_bias=w.optional(f"{base}up_proj.bias", (m,)),
            down_bias=w.optional(f"{base}down_proj.bias", (d,)),
            stored_dtype=self.dtypes(*(f"{base}{part}_proj.weight" for part in ("gate", "up", "down"))),
        )

    def embedding(self) -> TokenEmbedding:
        vocabulary = self.config.integer("vocab_size")
        return TokenEmbedding(token=self.weights.read("embed_tokens.weight", (vocabulary, self.d)))

    def final_norm(self) -> Normalization:
        return self.weights.norm("norm", self.d, eps=self.eps, rms=True)


def rotary_of(config: Config, d_head: int, default_theta: float) -> Rotary:
    """The rotary encoding from ``rope_parameters`` (new), or ``rope_theta`` with ``rope_scaling`` (old, and first)."""
    rope = config.section("rope_scaling") or config.section("rope_parameters") or Config({}, config.where)
    theta = rope.number("rope_theta", default=config.number("rope_theta", default=default_theta))
    dims = config.integer("eigentoken_rope_dims", default=d_head, minimum=0)
    interleaved = config.flag("eigentoken_rope_interleaved")
    rule = rope.text("rope_type", "type", default="default")
    share = rope.number("partial_rotary_factor", default=config.number("partial_rotary_factor", default=1.0))
    if rule != "default" and share != 1.0:  # with the default rule, models of this family turn all coordinates anyway
        raise ModelError(
            f"{config.where}: partial_rotary_factor={share:g} with rope_type {rule[:40]!r} is not supported: "
            "LLaMA-like models turn all coordinates of a head"
        )
    if rule in ("default", "dynamic"):
        plain = standard_rotary(theta=theta, d_head=d_head, dims=dims, interleaved=interleaved)
        return plain if rule == "default" else _renamed(plain, "dynamic, as within the trained length")
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
    if rule == "divisors":
        return _divided(config, standard_rotary(theta=theta, d_head=d_head, dims=dims, interleaved=interleaved))
    raise ModelError(
        f"{config.where}: rope_type {rule[:40]!r} is not supported: expected default, linear, dynamic, llama3 or yarn"
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


def _renamed(rotary: Rotary, rule: str) -> Rotary:
    return Rotary(rotary.theta, rotary.dims, rotary.d_head, rotary.interleaved, rotary.frequencies, rule)


def _divided(config: Config, plain: Rotary) -> Rotary:
    """GGUF stores a divisor for each frequency (``rope_freqs.weight``)."""
    divisors: Any = config.raw("eigentoken_rope_divisors")
    fits = isinstance(divisors, list) and len(divisors) == len(plain.frequencies)
    if not fits or not all(isinstance(v, float) and math.isfinite(v) and v > 0 for v in divisors):
        raise ModelError(f"{config.where}: rope_freqs must have {len(plain.frequencies)} positive finite entries")
    frequencies = tuple(w / v for w, v in zip(plain.frequencies, divisors, strict=True))
    return Rotary(plain.theta, plain.dims, plain.d_head, plain.interleaved, frequencies, "stored divisors")
