"""Decoders that follow GPT: the first one, GPT-J, CodeGen and GPT-BigCode (SantaCoder, StarCoder), one table each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.rotary import Rotary, standard_rotary
from eigentoken.models.families.family import register
from eigentoken.models.families.tabled import ALL, Tabled, TensorNames

GPT = TensorNames(
    layer="h.{}.",
    q="attn.q_proj",
    k="attn.k_proj",
    v="attn.v_proj",
    o="attn.out_proj",
    attention_norm="ln_1",
    feed_forward_norm="ln_1",
    gate="",
    up="mlp.fc_in",
    down="mlp.fc_out",
    final_norm="ln_f",
    token="wte",
)


@register
class GptJ(Tabled):
    """One norm for both sublayers, which see the same state; the first coordinates of a head turned in neighbouring pairs."""

    name = "gptj"
    model_types = ("gptj",)
    architectures = {"GPTJ": "gptj"}
    about = "pre-LayerNorm, parallel feed-forward, partial interleaved rotary positions, causal"
    turned = "interleaved"
    parallel = True
    biases = "ud"
    tables: tuple[TensorNames, ...] = (GPT,)
    defaults: Mapping[str, Json] = {"activation_function": "gelu_new", "rotary_dim": 64}

    def rotary_at(self, index: int) -> Rotary:
        dims = self.config.integer("rotary_dim", maximum=self.d_head)
        return standard_rotary(theta=10000.0, d_head=self.d_head, dims=dims, interleaved=True)


@register
class CodeGen(GptJ):
    """GPT-J with one tensor for query, value and key, in four blocks."""

    name = "codegen"
    model_types = ("codegen",)
    architectures = {"CodeGen": "codegen"}
    about = "GPT-J with a fused projection in four blocks of query, value, key"
    tables: tuple[TensorNames, ...] = (replace(GPT, fused="attn.qkv_proj"),)

    def cuts(self) -> list[Any]:
        place = np.arange(3 * self.d).reshape(4, 3, self.d // 4)
        return [place[:, part].ravel() for part in (0, 2, 1)]


@register
class GptBigCode(Tabled):
    """GPT-2 with linear layers instead of Conv1D and one key-value head."""

    name = "gpt_bigcode"
    model_types = ("gpt_bigcode",)
    architectures = {"GPTBigCode": "gpt_bigcode"}
    about = "SantaCoder, StarCoder: GPT-2 with one key-value head"
    biases = ALL
    has_positions = True
    tables: tuple[TensorNames, ...] = (
        replace(
            GPT,
            fused="attn.c_attn",
            o="attn.c_proj",
            feed_forward_norm="ln_2",
            up="mlp.c_fc",
            down="mlp.c_proj",
            position="wpe",
        ),
    )
    defaults: Mapping[str, Json] = {
        "activation_function": "gelu_pytorch_tanh",
        "multi_query": True,
        "scale_attn_weights": True,
    }

    def settings(self, config: Config) -> None:
        one = config.flag("multi_query")
        self.n_kv_heads, self.cut = (1, "stacked") if one else (self.n_heads, "heads")
        config.refuse("add_cross_attention", (False,), "cross-attention is not one sequence's dynamics")

    def scale(self, index: int) -> float:
        return super().scale(index) if self.config.flag("scale_attn_weights") else 1.0


@register
class OpenAiGpt(Tabled):
    """The first GPT: GPT-2's tensors with the norms after each sublayer."""

    name = "openai-gpt"
    model_types = ("openai-gpt",)
    architectures = {"OpenAIGPT": "openai-gpt"}
    about = "GPT: post-LayerNorm, fused Conv1D, absolute positions, causal"
    pre = False
    conv1d = True
    biases = ALL
    has_positions = True
    tables: tuple[TensorNames, ...] = (
        replace(GptBigCode.tables[0], final_norm="", token="tokens_embed", position="positions_embed"),
    )
    defaults: Mapping[str, Json] = {"afn": "gelu"}

    def settings(self, config: Config) -> None:
        name = config.text("afn")
        self.activation = "gelu_new" if name == "gelu" else name
