"""Mixtures of experts, read by their attention: Mixtral, Qwen MoE, OLMoE, gpt-oss (sinks), DeepSeek (latent attention).

The feed-forward of these layers is a choice among experts, which is not read: attention is compared and checked, tokens are not
run through the layers, and a report says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.rotary import Array, Rotary, yarn_gain
from eigentoken.models.convention.rules import Latent, Rules
from eigentoken.models.families.decoders_rms import QK_NORMS, Olmo2, RmsDecoder
from eigentoken.models.families.family import Shape, register
from eigentoken.models.families.rotary_rules import rotary_of
from eigentoken.models.families.tabled import TensorNames

COUNTS = ("num_local_experts", "num_experts", "n_routed_experts")


class Mixture(RmsDecoder):
    """An :class:`RmsDecoder` whose feed-forward is a mixture; some layers may have a plain one."""

    def not_read(self, index: int) -> str:
        return "" if self.is_dense(index) else f"a mixture of {self.config.integer(*COUNTS)} experts"

    def is_dense(self, index: int) -> bool:
        """Has this layer a plain feed-forward?"""
        return False


@register
class Mixtral(Mixture):
    """LLaMA's attention."""

    name = "mixtral"
    model_types = ("mixtral",)
    architectures = {"Mixtral": "mixtral"}
    about = "LLaMA's attention, mixture of experts (not read)"
    period = -1
    defaults: Mapping[str, Json] = {
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "num_key_value_heads": 8,
        "num_local_experts": 8,
    }
    defaults = {**defaults, "rope_theta": 1e6}


@register
class QwenMoe(Mixture):
    """Qwen2's attention with biases, or Qwen3's with norms of queries and keys; some layers may be dense."""

    name = "qwen_moe"
    model_types = ("qwen2_moe", "qwen3_moe")
    architectures = {"Qwen2Moe": "qwen2_moe", "Qwen3Moe": "qwen3_moe"}
    about = "Qwen's attention (qwen3: norms of queries and keys), mixture of experts (not read)"
    defaults: Mapping[str, Json] = {**RmsDecoder.defaults, "decoder_sparse_step": 1, "sliding_window": 4096}

    def settings(self, config: Config) -> None:
        super().settings(config)
        old = self.kind == "qwen2_moe"
        usual = (
            {"num_key_value_heads": 16, "num_experts": 60} if old else {"num_key_value_heads": 4, "num_experts": 128}
        )
        for name, value in usual.items():
            if name not in config.values and not any(key in config.values for key in COUNTS if "experts" in name):
                config.values[name] = value
        if "num_key_value_heads" not in self.config.values:
            self.n_kv_heads = usual["num_key_value_heads"]
        if old:
            self.biases = "qkv" if config.flag("qkv_bias", default=True) else ""
        else:
            self.tables = (replace(TensorNames(), **QK_NORMS),)
        self.dense = [i for i in config.raw("mlp_only_layers") or [] if isinstance(i, int)]

    def is_dense(self, index: int) -> bool:
        step = self.config.integer("decoder_sparse_step")
        return index in self.dense or (index + 1) % step != 0

    def layer_kind(self, index: int) -> str:
        """Qwen3's mixture has the window in all layers or in none, whatever else its configuration says."""
        if self.kind == "qwen3_moe":
            return "sliding_attention" if self.config.flag("use_sliding_window") else "full_attention"
        if self.config.raw("layer_types") is not None:
            return super().layer_kind(index)
        late = index >= self.config.integer("max_window_layers", default=28, minimum=0)
        return "sliding_attention" if self.config.flag("use_sliding_window") and late else "full_attention"


@register
class Olmoe(Mixture):
    """OLMo 2's norms across all queries and keys, in a pre-norm layer."""

    name = "olmoe"
    model_types = ("olmoe",)
    architectures = {"Olmoe": "olmoe"}
    about = "norms across all queries and keys, mixture of experts (not read)"
    tables: tuple[TensorNames, ...] = (replace(TensorNames(), **QK_NORMS),)
    defaults: Mapping[str, Json] = {"rms_norm_eps": 1e-5, "hidden_act": "silu", "num_experts": 64}

    def settings(self, config: Config) -> None:
        super().settings(config)
        config.refuse("clip_qkv", (), "queries and keys would be cut after their norms, which is not read")

    def rules(self, index: int) -> Rules:
        return Olmo2.rules(self, index)  # type: ignore[arg-type]


@register
class GptOss(Mixture):
    """Sinks: each head has one more key, of a learned score and without a value; windows in every second layer."""

    name = "gpt_oss"
    model_types = ("gpt_oss",)
    architectures = {"GptOss": "gpt_oss"}
    about = "attention with sinks, windows in every second layer, mixture of experts (not read)"
    period = 2
    defaults: Mapping[str, Json] = {
        "rms_norm_eps": 1e-5,
        "hidden_act": "silu",
        "head_dim": 64,
        "num_key_value_heads": 8,
    }
    defaults = {**defaults, "attention_bias": True, "sliding_window": 128, "num_local_experts": 128}
    yarn = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
    yarn |= {"original_max_position_embeddings": 4096}

    def settings(self, config: Config) -> None:
        super().settings(config)
        if config.raw("rope_scaling", "rope_parameters") is None:
            config.values["rope_parameters"] = self.yarn

    def rotary_at(self, index: int) -> Rotary:
        return rotary_of(self.config, self.d_head, 150000.0, kind=self.layer_kind(index))

    def rules(self, index: int) -> Rules:
        name = f"{self.names.layer.format(index)}self_attn.sinks"
        return Rules(sinks=self.weights.read(name, (self.n_heads,)))


@register
class DeepSeek(Mixture):
    """Multi-head latent attention: queries, keys and values are maps of normed low-rank projections of the token.

    Q, K and V of a head are given as products of the stored factors, ``B A`` without the norm between them, rounded to float64:
    the shape of the head, not its function.  No statement is about such a layer, and ``check`` says so; the forward pass uses the
    factors with their norms.
    """

    name = "deepseek"
    model_types = ("deepseek_v2", "deepseek_v3")
    architectures = {"DeepseekV2": "deepseek_v2", "DeepseekV3": "deepseek_v3"}
    about = "multi-head latent attention as low-rank heads, mixture of experts (not read)"
    defaults: Mapping[str, Json] = {
        **RmsDecoder.defaults,
        "kv_lora_rank": 512,
        "q_lora_rank": 1536,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128,
        "v_head_dim": 128,
        "rope_interleave": True,
    }
    tables: tuple[TensorNames, ...] = (replace(TensorNames(), q="self_attn.kv_a_proj_with_mqa"),)

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.rope = config.integer("qk_rope_head_dim")
        told = config.integer("head_dim", default=self.rope)
        if told < self.rope and self.kind == "deepseek_v3":
            raise ModelError(f"{config.where}: head_dim={told} below qk_rope_head_dim={self.rope} is not supported")
        self.nope = config.integer("qk_nope_head_dim")
        self.value_width, self.rank = config.integer("v_head_dim"), config.integer("kv_lora_rank")
        self.q_rank = None if config.raw("q_lora_rank") is None else config.integer("q_lora_rank")
        self.d_head = self.nope + self.rope
        self.n_kv_heads = self.n_heads
        three = self.kind == "deepseek_v3"
        if not any(key in config.values for key in COUNTS):
            config.values["n_routed_experts"] = 256 if three else 64
        self.first_dense = config.integer("first_k_dense_replace", default=3 if three else 0, minimum=0)
        config.refuse("attention_bias", (False,), "biases inside latent attention are not read")

    def is_dense(self, index: int) -> bool:
        return index < self.first_dense

    def projections(self) -> dict[str, tuple[str, Shape]]:
        return {"o": ("o", (self.d, self.n_heads * self.value_width))} | self.inner()

    def factors(self, index: int) -> dict[str, Shape]:
        """The stored factors of a layer's attention, behind ``self_attn.``"""
        d, H = self.d, self.n_heads
        found: dict[str, Shape] = {
            "kv_a_proj_with_mqa": (self.rank + self.rope, d),
            "kv_b_proj": (H * (self.nope + self.value_width), self.rank),
        }
        if self.q_rank is None:
            return found | {"q_proj": (H * self.d_head, d)}
        return found | {"q_a_proj": (self.q_rank, d), "q_b_proj": (H * self.d_head, self.q_rank)}

    def shapes(self, index: int) -> dict[str, Shape]:
        base = f"{self.names.layer.format(index)}self_attn."
        return {f"{base}{name}.weight": shape for name, shape in self.factors(index).items()} | super().shapes(index)

    def letters(self) -> str:
        return "o"

    def dtypes(self, *names: str) -> str:
        return (
            f"{super().dtypes(*names)} (Q, K and V as rounded products of the stored factors, without the norm inside)"
        )

    def latent(self, index: int) -> Latent:
        """The factors, with the rows of all queries, keys and values on the latent ``[q; kv; shared key]``."""
        base, w, H = f"{self.names.layer.format(index)}self_attn.", self.weights, self.n_heads
        read = {name: w.read(f"{base}{name}.weight", shape) for name, shape in self.factors(index).items()}
        down, up = read["kv_a_proj_with_mqa"], read["kv_b_proj"].reshape(H, self.nope + self.value_width, self.rank)
        queries = read["q_proj"] if self.q_rank is None else read["q_b_proj"]
        first, wide = queries.shape[1], queries.shape[1] + self.rank + self.rope
        Q = np.zeros((H * self.d_head, wide), queries.dtype)
        Q[:, :first] = queries
        K = np.zeros((H, self.d_head, wide), up.dtype)
        K[:, : self.nope, first : first + self.rank] = up[:, : self.nope]
        K[:, self.nope :, first + self.rank :] = np.eye(self.rope)
        V = np.zeros((H, self.value_width, wide), up.dtype)
        V[:, :, first : first + self.rank] = up[:, self.nope :]
        low = self.q_rank is not None
        eps = 1e-6  # the class's own, whatever the configuration says
        return Latent(
            kv_down=down[: self.rank],
            kv_norm=w.norm(f"{base}kv_a_layernorm", self.rank, eps=eps, rms=True),
            shared_key=down[self.rank :],
            qkv=np.concatenate([Q, K.reshape(-1, wide), V.reshape(-1, wide)]),
            q_down=read["q_a_proj"] if low else None,
            q_norm=w.norm(f"{base}q_a_layernorm", self.q_rank or 1, eps=eps, rms=True) if low else None,
        )

    def qkv(self, index: int) -> list[tuple[Array, Array | None]]:
        latent, H = self.latent(index), self.n_heads
        first = np.eye(self.d) if latent.q_down is None else latent.q_down
        whole = latent.qkv.astype(np.float64) @ np.concatenate([first, latent.kv_down, latent.shared_key]).astype(
            np.float64
        )
        cut = H * self.d_head
        return [(whole[:cut], None), (whole[cut : 2 * cut], None), (whole[2 * cut :], None)]

    def rules(self, index: int) -> Rules:
        return Rules(latent=self.latent(index))

    def scale(self, index: int) -> float:
        """sqrt(d_head), divided by the square of YaRN's ``mscale_all_dim`` gain."""
        rope = self.config.section("rope_scaling") or self.config.section("rope_parameters") or Config({}, "")
        all_dim = rope.number("mscale_all_dim", default=0.0)
        yarn = rope.text("rope_type", "type", default="default") != "default" and all_dim
        return math.sqrt(self.d_head) / (yarn_gain(rope.number("factor"), all_dim) ** 2 if yarn else 1.0)

    def rotary_at(self, index: int) -> Rotary:
        pairs = self.kind == "deepseek_v2" or self.config.flag("rope_interleave")
        theta = self.config.number("rope_theta", default=10000.0)
        whole = rotary_of(self.config, self.rope, theta, interleaved=pairs)
        return replace(whole, d_head=self.d_head, start=self.nope)
