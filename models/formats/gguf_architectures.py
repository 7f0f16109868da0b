"""What llama.cpp's architectures call their tensors, and what its converter did to them, by the family that reads them.

The converter (``conversion/*.py`` of llama.cpp) transposes GPT-2's matrices, puts fused projections in the order [Q; K; V], turns
rotary pairs of LLaMA and Granite into neighbours, and stores 1 + w for Gemma's w; nothing else is done to the architectures here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from eigentoken.files.documents import Json

LLAMA = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
QK_NORMS = {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}
OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
GPT = {
    "attn_norm": "ln_1",
    "ffn_norm": "ln_2",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_up": "mlp.c_fc",
    "ffn_down": "mlp.c_proj",
}
GPT_OUTER = {"token_embd": "wte", "position_embd": "wpe", "output_norm": "ln_f", "output": "lm_head"}
BLOOM = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_qkv": "self_attention.query_key_value",
    "attn_output": "self_attention.dense",
    "ffn_up": "mlp.dense_h_to_4h",
    "ffn_down": "mlp.dense_4h_to_h",
}
BLOOM_OUTER = {
    "token_embd": "word_embeddings",
    "token_embd_norm": "word_embeddings_layernorm",
    "output_norm": "ln_f",
    "output": "lm_head",
}


@dataclass(frozen=True)
class Architecture:
    """One architecture: the model type whose family reads it, names, and what was done to the numbers.

    ``interleaved``: rotary pairs are neighbours (2k, 2k + 1), ``None``: as the family has them.  ``transposed``: GGUF's names of
    matrices that the family stores the other way round.  ``config``: entries of the configuration, and ``more`` those that come
    from the file's key-value pairs and names.
    """

    model_type: str
    block: Mapping[str, str] = field(default_factory=lambda: LLAMA)
    outer: Mapping[str, str] = field(default_factory=lambda: OUTER)
    layer: str = "model.layers."
    interleaved: bool | None = None
    transposed: tuple[str, ...] = ()
    config: Mapping[str, Json] = field(default_factory=dict)
    more: Callable[[Callable[[str], Json], frozenset[str]], dict[str, Json]] = lambda get, names: {}


def _granite(get: Callable[[str], Json], names: frozenset[str]) -> dict[str, Json]:
    keys = {"attention_multiplier": "attention.scale", "embedding_multiplier": "embedding_scale"}
    keys |= {"residual_multiplier": "residual_scale"}
    return {name: get(key) for name, key in keys.items()}


def _falcon(get: Callable[[str], Json], names: frozenset[str]) -> dict[str, Json]:
    heads, groups = get("attention.head_count"), get("attention.head_count_kv") or 1
    wide = "blk.0.attn_norm_2.weight" in names
    return {"num_kv_heads": groups, "multi_query": groups != heads, "new_decoder_architecture": wide}


def _residual(get: Callable[[str], Json], names: frozenset[str]) -> dict[str, Json]:
    return {"use_parallel_residual": get("use_parallel_residual")}


def _biases(*letters: str) -> Callable[[Callable[[str], Json], frozenset[str]], dict[str, Json]]:
    """Flags that are true where the file has the bias of the query."""

    def found(get: Callable[[str], Json], names: frozenset[str]) -> dict[str, Json]:
        return dict.fromkeys(letters, "blk.0.attn_q.bias" in names)

    return found


STACKED = {"eigentoken_cut": "stacked"}
ARCHITECTURES: dict[str, Architecture] = {
    "llama": Architecture("llama", interleaved=True),
    "qwen2": Architecture("qwen2", interleaved=False),
    "qwen3": Architecture("qwen3", {**LLAMA, **QK_NORMS}),
    "olmo2": Architecture(
        "olmo2",
        {
            **LLAMA,
            **QK_NORMS,
            "post_attention_norm": "post_attention_layernorm",
            "post_ffw_norm": "post_feedforward_layernorm",
        },
    ),
    "gemma": Architecture("gemma", config={"eigentoken_plain_gains": True}),
    "granite": Architecture("granite", interleaved=True, more=_granite),
    "phi3": Architecture("phi3", {**LLAMA, "attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}),
    "starcoder2": Architecture(
        "starcoder2", {**LLAMA, "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}, more=_biases("use_bias")
    ),
    "stablelm": Architecture("stablelm", more=_biases("use_qkv_bias")),
    "command-r": Architecture("cohere"),
    "gpt2": Architecture("gpt2", GPT, GPT_OUTER, "h.", transposed=("attn_qkv", "attn_output", "ffn_up", "ffn_down")),
    "starcoder": Architecture("gpt_bigcode", GPT, GPT_OUTER, "h."),
    "gptneox": Architecture(
        "gpt_neox",
        {
            **BLOOM,
            "attn_qkv": "attention.query_key_value",
            "attn_output": "attention.dense",
        },
        {"token_embd": "embed_in", "output_norm": "final_layer_norm", "output": "embed_out"},
        "layers.",
        config=STACKED,
        more=_residual,
    ),
    "bloom": Architecture("bloom", BLOOM, BLOOM_OUTER, "h.", config=STACKED),
    "falcon": Architecture(
        "falcon", {**BLOOM, "attn_norm_2": "ln_attn"}, BLOOM_OUTER, "h.", config=STACKED, more=_falcon
    ),
}
