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
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, StoredMatrix
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Rotary
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register
from eigentoken.models.families.rotary_rules import rotary_of

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
