"""Decoders with RMSNorm, rotary positions and a gated feed-forward: what came after LLaMA, one table each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Array, Rotary
from eigentoken.models.convention.rules import Rules
from eigentoken.models.families.family import register
from eigentoken.models.families.rotary_rules import refuse_one_for_all, rotary_of
from eigentoken.models.families.tabled import Tabled, TensorNames, Turned

LLAMA = TensorNames()
QK_NORMS = {"query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm"}
AFTER = {
    "attention_norm": "",
    "feed_forward_norm": "",
    "attention_update_norm": "post_attention_layernorm",
    "feed_forward_update_norm": "post_feedforward_layernorm",
}


class RmsDecoder(Tabled):
    """Pre-RMSNorm, rotary halves, gate, causal; biases by ``attention_bias`` and ``mlp_bias``."""

    rms = True
    turned: ClassVar[Turned] = "half"
    defaults: Mapping[str, Json] = {"rms_norm_eps": 1e-6, "hidden_act": "silu"}

    def settings(self, config: Config) -> None:
        self.biases = ("qkvo" if config.flag("attention_bias") else "") + ("gud" if config.flag("mlp_bias") else "")


@register
class Qwen3(RmsDecoder):
    """Norms of queries and keys, a head each."""

    name = "qwen3"
    model_types = ("qwen3",)
    architectures = {"Qwen3": "qwen3"}
    about = "LLaMA-like with norms of queries and keys"
    tables: tuple[TensorNames, ...] = (replace(LLAMA, **QK_NORMS),)
    defaults: Mapping[str, Json] = {
        **RmsDecoder.defaults,
        "head_dim": 128,
        "num_key_value_heads": 32,
        "sliding_window": 4096,
    }

    def layer_kind(self, index: int) -> str:
        if self.config.raw("layer_types") is not None:
            return super().layer_kind(index)
        late = index >= self.config.integer("max_window_layers", default=28, minimum=0)
        return "sliding_attention" if self.config.flag("use_sliding_window") and late else "full_attention"


@register
class Olmo(RmsDecoder):
    """LayerNorm without gain and bias; queries, keys and values may be cut to a range."""

    name = "olmo"
    model_types = ("olmo",)
    architectures = {"Olmo": "olmo"}
    about = "LLaMA-like with LayerNorm that has no weights; queries, keys and values cut to a range"
    rms = False
    tables: tuple[TensorNames, ...] = (replace(LLAMA, attention_norm="-", feed_forward_norm="-", final_norm="-"),)

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.clip = config.number("clip_qkv") if config.raw("clip_qkv") is not None else None

    def norm(self, name: str, width: int | None = None) -> Normalization:
        return Normalization("layernorm", 1e-5, np.ones(self.d, dtype=np.float32))


@register
class Olmo2(RmsDecoder):
    """Each update is normed before it is added, nothing before the sublayer; norms of all queries, and all keys, together."""

    name = "olmo2"
    model_types = ("olmo2", "olmo3")
    architectures = {"Olmo2": "olmo2", "Olmo3": "olmo3"}
    about = (
        "norms of the updates (none before), norms across all queries and keys; olmo3: windows in three of four layers"
    )
    tables: tuple[TensorNames, ...] = (replace(LLAMA, **AFTER, **QK_NORMS),)
    defaults: Mapping[str, Json] = {**RmsDecoder.defaults, "rms_norm_eps": 1e-5, "sliding_window": 4096}

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.period = 4 if self.kind == "olmo3" else 0
        self.theta = 500000.0 if self.kind == "olmo3" else 10000.0
        if self.kind == "olmo3":
            refuse_one_for_all(config)

    def rotary_at(self, index: int) -> Rotary:
        """A scaling rule beside ``rope_theta`` is about the layers without a window."""
        kind, config = self.layer_kind(index), self.config
        if self.kind == "olmo3" and kind == "sliding_attention" and config.raw("rope_scaling") is not None:
            config = Config({k: v for k, v in config.values.items() if k != "rope_scaling"}, config.where)
        return rotary_of(config, self.d_head, self.theta, kind=kind)

    def rules(self, index: int) -> Rules:
        each = self.n_heads // self.n_kv_heads

        def across(part: str, heads: int, times: int) -> Normalization:
            norm = self.norm(self.at(index, part), heads * self.d_head)
            return replace(norm, gain=np.repeat(norm.gain.reshape(heads, self.d_head), times, axis=0).ravel())

        query, key = across("query_norm", self.n_heads, 1), across("key_norm", self.n_kv_heads, each)
        return Rules(query, key, across=True, clip=self.clip)


@register
class Gemma(RmsDecoder):
    """Gains 1 + w; tokens enter multiplied by sqrt(d)."""

    name = "gemma"
    model_types = ("gemma",)
    architectures = {"Gemma": "gemma"}
    about = "LLaMA-like with gains 1 + w and embeddings times sqrt(d)"
    one_plus = True
    defaults: Mapping[str, Json] = {"rms_norm_eps": 1e-6, "head_dim": 256, "num_key_value_heads": 16}

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.multiplier = math.sqrt(self.d)
        self.activation = self.said(config)
        config.refuse("use_bidirectional_attention", (False,), "the mask would depend on the use of the model")

    def said(self, config: Config) -> str:
        """The activation: the first Gemma has two names for it, and its oldest files say "gelu" and mean the tanh form."""
        usual = "gelu_pytorch_tanh"
        if config.raw("hidden_activation") is not None or self.kind != "gemma":
            return config.text("hidden_activation", default=usual)
        told = config.text("hidden_act", default=usual)
        return usual if told == "gelu" else told


@register
class Gemma2(Gemma):
    """Norms before and after each sublayer, capped scores, every second layer with a window."""

    name = "gemma2"
    model_types = ("gemma2",)
    architectures = {"Gemma2": "gemma2"}
    about = "Gemma with norms before and after each sublayer, capped scores, windows in every second layer"
    period = 2
    tables: tuple[TensorNames, ...] = (
        replace(
            LLAMA,
            feed_forward_norm="pre_feedforward_layernorm",
            attention_update_norm="post_attention_layernorm",
            feed_forward_update_norm="post_feedforward_layernorm",
        ),
    )
    defaults: Mapping[str, Json] = {
        "rms_norm_eps": 1e-6,
        "head_dim": 256,
        "num_key_value_heads": 4,
        "query_pre_attn_scalar": 256,
        "sliding_window": 4096,
        "attn_logit_softcapping": 50.0,
    }

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.cap = config.number("attn_logit_softcapping") if config.raw("attn_logit_softcapping") else None

    def scale(self, index: int) -> float:
        return math.sqrt(self.config.number("query_pre_attn_scalar"))


@register
class Gemma3(Gemma2):
    """Norms of queries and keys instead of the cap; five of six layers with a window and frequencies of their own."""

    name = "gemma3"
    model_types = ("gemma3_text",)
    architectures = {"Gemma3Text": "gemma3_text"}
    about = "Gemma 2 with norms of queries and keys instead of the cap, windows in five of six layers"
    period = 6
    tables: tuple[TensorNames, ...] = (replace(Gemma2.tables[0], **QK_NORMS),)
    defaults: Mapping[str, Json] = {**Gemma2.defaults, "attn_logit_softcapping": None}

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.period = config.integer("sliding_window_pattern", "_sliding_window_pattern", default=6)
        refuse_one_for_all(config)
        self.cap = None  # the reference keeps the entry of Gemma 2 and does not use it

    def rotary_at(self, index: int) -> Rotary:
        kind, config = self.layer_kind(index), self.config
        if kind != "sliding_attention":
            return rotary_of(config, self.d_head, 1_000_000.0, kind=kind)
        theta = config.number("rope_local_base_freq", default=10000.0)
        old = Config({k: v for k, v in config.values.items() if k not in ("rope_scaling", "rope_theta")}, config.where)
        return rotary_of(old, self.d_head, theta, kind=kind)


@register
class Phi3(RmsDecoder):
    """Fused query, key, value and fused gate; part of a head's coordinates may be turned."""

    name = "phi3"
    model_types = ("phi3",)
    architectures = {"Phi3": "phi3"}
    about = "LLaMA-like with fused projections and LongRoPE"
    share = 1.0
    period = -1
    tables: tuple[TensorNames, ...] = (replace(LLAMA, fused="self_attn.qkv_proj", gate_up="mlp.gate_up_proj"),)
    defaults: Mapping[str, Json] = {
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "original_max_position_embeddings": 4096,
    }

    def settings(self, config: Config) -> None:
        """Its oldest files say "yarn" and mean LongRoPE, with a factor for each frequency."""
        super().settings(config)
        for key in ("rope_scaling", "rope_parameters"):
            rope = config.raw(key)
            if (
                isinstance(rope, dict)
                and "short_factor" in rope
                and "yarn" in (rope.get("rope_type"), rope.get("type"))
            ):
                config.values[key] = {**rope, "rope_type": "longrope"}


@register
class Granite(RmsDecoder):
    """Scores, embeddings and updates have multipliers of their own."""

    name = "granite"
    model_types = ("granite",)
    architectures = {"Granite": "granite"}
    about = "LLaMA-like with multipliers of scores, embeddings and updates"
    defaults: Mapping[str, Json] = {**RmsDecoder.defaults, "attention_multiplier": 1.0, "residual_multiplier": 1.0}

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.multiplier = config.number("embedding_multiplier", default=1.0)
        self.times = config.number("residual_multiplier")

    def scale(self, index: int) -> float:
        return 1.0 / self.config.number("attention_multiplier", minimum=1e-30)

    def update_gain(self, index: int, part: str) -> Array | None:
        return None if self.times == 1.0 else np.full(self.d, self.times)


@register
class Arcee(RmsDecoder):
    """relu^2 without a gate."""

    name = "arcee"
    model_types = ("arcee",)
    architectures = {"Arcee": "arcee"}
    about = "LLaMA-like with relu^2 and no gate"
    tables: tuple[TensorNames, ...] = (replace(LLAMA, gate=""),)
    defaults: Mapping[str, Json] = {"rms_norm_eps": 1e-5, "hidden_act": "relu2"}


@register
class Glm(RmsDecoder):
    """Half of each head turned in neighbouring pairs, fused gate; glm4 norms its updates too."""

    name = "glm"
    model_types = ("glm", "glm4")
    architectures = {"Glm": "glm", "Glm4": "glm4"}
    about = "LLaMA-like with interleaved partial rotary positions and a fused gate; glm4: norms of the updates"
    turned = "interleaved"
    share = 0.5
    tables: tuple[TensorNames, ...] = (replace(LLAMA, gate_up="mlp.gate_up_proj"),)
    defaults: Mapping[str, Json] = {
        "rms_norm_eps": 0.00000015625,
        "hidden_act": "silu",
        "head_dim": 128,
        "num_key_value_heads": 2,
        "attention_bias": True,
    }

    def settings(self, config: Config) -> None:
        self.biases = "qkv" if config.flag("attention_bias") else ""
        if self.kind == "glm4":
            after = {
                "attention_update_norm": "post_self_attn_layernorm",
                "feed_forward_update_norm": "post_mlp_layernorm",
            }
            self.tables = (replace(self.tables[0], **after),)
        self.tables = (self.tables[0], replace(self.tables[0], fused="self_attn.qkv_proj"))  # fused in GGUF of ChatGLM


@register
class Helium(RmsDecoder):
    """Neighbouring pairs turned."""

    name = "helium"
    model_types = ("helium",)
    architectures = {"Helium": "helium"}
    about = "LLaMA-like with interleaved rotary positions"
    turned = "interleaved"
    defaults: Mapping[str, Json] = {
        "rms_norm_eps": 1e-8,
        "hidden_act": "silu",
        "head_dim": 128,
        "num_key_value_heads": 20,
        "rope_theta": 1e5,
    }


@register
class Exaone4(RmsDecoder):
    """OLMo 2's norms of updates with norms of queries and keys a head each; global layers without positions."""

    name = "exaone4"
    model_types = ("exaone4",)
    architectures = {"Exaone4": "exaone4"}
    about = "norms of the updates, norms of queries and keys; layers without a window have no positions"
    tables: tuple[TensorNames, ...] = Olmo2.tables
    defaults: Mapping[str, Json] = Olmo2.defaults

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.period = config.integer("sliding_window_pattern", default=4) if config.raw("sliding_window") else 0

    def rotary_at(self, index: int) -> Rotary | None:
        hybrid = self.config.raw("sliding_window") is not None
        return None if hybrid and self.layer_kind(index) == "full_attention" else super().rotary_at(index)


@register
class SeedOss(RmsDecoder):
    """Biases of query, key and value, and by a flag of the output."""

    name = "seed_oss"
    model_types = ("seed_oss",)
    architectures = {"SeedOss": "seed_oss"}
    about = "LLaMA-like with biases of query, key and value"
    defaults: Mapping[str, Json] = {
        **RmsDecoder.defaults,
        "head_dim": 128,
        "num_key_value_heads": 8,
        "attention_bias": True,
    }

    def settings(self, config: Config) -> None:
        super().settings(config)
        attention = ("qkv" if config.flag("attention_bias") else "") + (
            "o" if config.flag("attention_out_bias") else ""
        )
        self.biases = attention + ("gud" if config.flag("mlp_bias") else "")
