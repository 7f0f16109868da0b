"""llama.cpp's architectures: which family reads them, what its converter did to the numbers, what the file does not say.

The converter (``conversion/*.py`` of llama.cpp) transposes GPT-2's matrices, puts fused projections in the order [Q; K; V], turns
rotary pairs of LLaMA-like models into neighbours, stores 1 + w for the w of Gemma and Nemotron, cuts RoBERTa's table of positions
to the rows that are used, and takes DeepSeek's map of keys and values apart; nothing else is done to the architectures here.
Where the file leaves out what a model needs (which layers have a window, the scale of Gemma's scores), llama.cpp has the
number in its own code, and it is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from eigentoken.files.documents import Json
from eigentoken.models.formats import gguf_names as names_of

Get = Callable[[str], Json]
More = Callable[[Get, frozenset[str]], dict[str, Json]]


@dataclass(frozen=True)
class Architecture:
    """One architecture: the model type whose family reads it, names, and what was done to the numbers.

    ``interleaved``: rotary pairs are neighbours (2k, 2k + 1), ``None``: as the family has them.  ``transposed``: GGUF's names of
    matrices that the family stores the other way round; ``bare``: of tensors that have no ending ``.weight`` there.  ``config``:
    entries of the configuration, ``more`` those that come from the file's key-value pairs and names, ``absent`` those that are
    *not* the family's default where the file has none.  ``rename`` takes the place of the tables.  ``mixture``: experts are
    expected.
    """

    model_type: str
    block: Mapping[str, str] = field(default_factory=lambda: names_of.LLAMA)
    outer: Mapping[str, str] = field(default_factory=lambda: names_of.OUTER)
    layer: str = "model.layers."
    interleaved: bool | None = None
    transposed: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    config: Mapping[str, Json] = field(default_factory=dict)
    more: More = lambda get, names: {}
    absent: tuple[str, ...] = ()
    rename: Callable[[str, frozenset[str]], str | None] | None = None
    mixture: bool = False


def _granite(get: Get, names: frozenset[str]) -> dict[str, Json]:
    keys = {"attention_multiplier": "attention.scale", "embedding_multiplier": "embedding_scale"}
    keys |= {"residual_multiplier": "residual_scale"}
    return {name: get(key) for name, key in keys.items()}


def _falcon(get: Get, names: frozenset[str]) -> dict[str, Json]:
    heads, groups = get("attention.head_count"), get("attention.head_count_kv") or 1
    wide = "blk.0.attn_norm_2.weight" in names
    return {"num_kv_heads": groups, "multi_query": groups != heads, "new_decoder_architecture": wide}


def _residual(get: Get, names: frozenset[str]) -> dict[str, Json]:
    return {"use_parallel_residual": get("use_parallel_residual")}


def _biases(*letters: str) -> More:
    """Flags that are true where the file has the bias of the query."""

    def found(get: Get, names: frozenset[str]) -> dict[str, Json]:
        return dict.fromkeys(letters, "blk.0.attn_q.bias" in names)

    return found


def _llama_biases(get: Get, names: frozenset[str]) -> dict[str, Json]:
    """The flags of a LLaMA-like configuration, from the tensors that are there."""
    inner = "blk.0.ffn_up.bias" in names
    return {"attention_bias": "blk.0.attn_q.bias" in names, "mlp_bias": inner}


def _cut(get: Get, names: frozenset[str]) -> dict[str, Json]:
    return _llama_biases(get, names) | {"clip_qkv": get("attention.clamp_kqv")}


def _layer_types(get: Get) -> list[Json] | None:
    """The kinds of the layers where the file lists them (true: a window)."""
    listed = get("attention.sliding_window_pattern")
    if not isinstance(listed, list):
        return None
    return ["sliding_attention" if each else "full_attention" for each in listed]


def _olmo2(get: Get, names: frozenset[str]) -> dict[str, Json]:
    """OLMo 3 is written as OLMo 2 with a window and the kinds of its layers."""
    if not get("attention.sliding_window"):
        return {}
    return {"model_type": "olmo3", "layer_types": _layer_types(get)}


def _exaone4(get: Get, names: frozenset[str]) -> dict[str, Json]:
    return {"layer_types": _layer_types(get)}


def _gemma(big: int, get: Get) -> dict[str, Json]:
    """The scale of the scores: by the width of a head, but of the largest model (told by its layers) by d / heads."""
    d, heads, width = get("embedding_length"), get("attention.head_count"), get("attention.key_length")
    if get("block_count") == big and isinstance(d, int) and isinstance(heads, int):
        return {"query_pre_attn_scalar": d // heads}
    return {"query_pre_attn_scalar": width}


def _gemma2(get: Get, names: frozenset[str]) -> dict[str, Json]:
    return _gemma(46, get) | {"attn_logit_softcapping": get("attn_logit_softcapping")}


def _gemma3(get: Get, names: frozenset[str]) -> dict[str, Json]:
    return _gemma(62, get) | {"rope_local_base_freq": get("rope.freq_base_swa") or 10000.0}


def _mpt(get: Get, names: frozenset[str]) -> dict[str, Json]:
    slopes = get("attention.max_alibi_bias")
    slopes = int(slopes) if isinstance(slopes, float) and slopes.is_integer() else slopes
    attention = {"clip_qkv": get("attention.clamp_kqv"), "alibi": bool(slopes), "alibi_bias_max": slopes}
    return {"attn_config": {key: value for key, value in attention.items() if value is not None}}


def _modern_bert(get: Get, names: frozenset[str]) -> dict[str, Json]:
    every = get("attention.sliding_window_pattern")
    return {
        "norm_eps": get("attention.layer_norm_epsilon"),
        "local_attention": get("attention.sliding_window"),
        "global_attn_every_n_layers": every if isinstance(every, int) and not isinstance(every, bool) else 3,
        "layer_types": _layer_types(get),
        "global_rope_theta": get("rope.freq_base") or 160000.0,
        "local_rope_theta": get("rope.freq_base_swa") or 10000.0,
        "rope_theta": None,
        "hidden_activation": get("hidden_activation"),
    }


def _t5(get: Get, names: frozenset[str]) -> dict[str, Json]:
    gated = "enc.blk.0.ffn_gate.weight" in names
    own = "enc.blk.1.attn_rel_b.weight" in names  # of UMT5 every layer has biases of its own
    return {
        "model_type": "umt5" if own else "t5",
        "d_kv": get("attention.key_length"),
        "num_layers": get("block_count"),
        "num_decoder_layers": get("decoder_block_count"),
        "relative_attention_num_buckets": get("attention.relative_buckets_count"),
        "feed_forward_proj": "gated-gelu" if gated else "relu",
    }


def _experts(key: str) -> More:
    def found(get: Get, names: frozenset[str]) -> dict[str, Json]:
        blocks = get("block_count")
        plain = [
            index
            for index in range(blocks if isinstance(blocks, int) else 0)
            if f"blk.{index}.ffn_gate_inp.weight" not in names and f"blk.{index}.ffn_gate.weight" in names
        ]
        bias = "blk.0.attn_q.bias" in names
        listed: list[Json] = list(plain)
        return {key: get("expert_count"), "mlp_only_layers": listed, "attention_bias": bias, "qkv_bias": bias}

    return found


def _gpt_oss(get: Get, names: frozenset[str]) -> dict[str, Json]:
    """YaRN without rounding to whole pairs, as the model was trained (the file has no key for that)."""
    found: dict[str, Json] = {"num_local_experts": get("expert_count"), "attention_bias": True}
    factor, length = get("rope.scaling.factor"), get("rope.scaling.original_context_length")
    if factor and length:
        rule: dict[str, Json] = {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": length}
        found["rope_scaling"] = rule | {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
    return found


def _deepseek(get: Get, names: frozenset[str]) -> dict[str, Json]:
    """Widths of the heads before their keys and values were put into the latent space, where the file has them so."""
    turned = get("rope.dimension_count")
    whole = get("attention.key_length_mla") or get("attention.key_length")
    found: dict[str, Json] = {
        "q_lora_rank": get("attention.q_lora_rank"),
        "kv_lora_rank": get("attention.kv_lora_rank"),
        "qk_rope_head_dim": turned,
        "qk_nope_head_dim": whole - turned if isinstance(whole, int) and isinstance(turned, int) else None,
        "v_head_dim": get("attention.value_length_mla") or get("attention.value_length"),
        "first_k_dense_replace": get("leading_dense_block_count"),
        "n_routed_experts": get("expert_count") or 1,
    }
    mscale = get("rope.scaling.yarn_log_multiplier")
    if get("rope.scaling.type") == "yarn" and isinstance(mscale, int | float):
        rule: dict[str, Json] = {"rope_type": "yarn", "factor": get("rope.scaling.factor")}
        rule |= {"original_max_position_embeddings": get("rope.scaling.original_context_length")}
        found["rope_scaling"] = rule | {"mscale": 10 * mscale, "mscale_all_dim": 10 * mscale}
    return found


STACKED = {"eigentoken_cut": "stacked"}
PLAIN_GAINS = {"eigentoken_plain_gains": True}
ARCHITECTURES: dict[str, Architecture] = {
    "llama": Architecture("llama", interleaved=True),
    "qwen2": Architecture("qwen2", interleaved=False),
    "qwen3": Architecture("qwen3", {**names_of.LLAMA, **names_of.QK_NORMS}),
    "smollm3": Architecture("smollm3", interleaved=True),
    "arcee": Architecture("arcee", interleaved=True, more=_llama_biases),
    "seed_oss": Architecture(
        "seed_oss", {**names_of.LLAMA, **names_of.NORM_BETWEEN}, interleaved=False, more=_llama_biases
    ),
    "olmo": Architecture("olmo", interleaved=True, more=_cut),
    "olmo2": Architecture("olmo2", {**names_of.LLAMA, **names_of.QK_NORMS, **names_of.UPDATE_NORMS}, more=_olmo2),
    "exaone4": Architecture(
        "exaone4",
        {**names_of.LLAMA, **names_of.QK_NORMS, **names_of.UPDATE_NORMS},
        more=_exaone4,
        absent=("sliding_window",),
    ),
    "gemma": Architecture("gemma", config=PLAIN_GAINS),
    "gemma2": Architecture(
        "gemma2",
        {**names_of.LLAMA, **names_of.FOUR_NORMS},
        config=PLAIN_GAINS,
        more=_gemma2,
        absent=("attn_logit_softcapping",),
    ),
    "gemma3": Architecture(
        "gemma3_text",
        {**names_of.LLAMA, **names_of.QK_NORMS, **names_of.FOUR_NORMS},
        config=PLAIN_GAINS,
        more=_gemma3,
    ),
    "granite": Architecture("granite", interleaved=True, more=_granite),
    "phi2": Architecture("phi", {**names_of.LLAMA, **names_of.FUSED, **names_of.PHI}, names_of.PHI_OUTER),
    "phi3": Architecture("phi3", {**names_of.LLAMA, **names_of.FUSED, "ffn_up": "mlp.gate_up_proj"}),
    "chatglm": Architecture(
        "glm", {**names_of.LLAMA, **names_of.FUSED, "ffn_up": "mlp.gate_up_proj"}, more=_biases("attention_bias")
    ),
    "glm4": Architecture(
        "glm4",
        {
            **names_of.LLAMA,
            **names_of.FUSED,
            "ffn_up": "mlp.gate_up_proj",
            "post_attention_norm": "post_self_attn_layernorm",
            "post_ffw_norm": "post_mlp_layernorm",
        },
        more=_biases("attention_bias"),
    ),
    "starcoder2": Architecture(
        "starcoder2", {**names_of.LLAMA, "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}, more=_biases("use_bias")
    ),
    "stablelm": Architecture("stablelm", more=_biases("use_qkv_bias")),
    "nemotron": Architecture("nemotron", config=PLAIN_GAINS, more=_llama_biases),
    "command-r": Architecture("cohere"),
    "cohere2": Architecture("cohere2"),
    "gpt2": Architecture(
        "gpt2",
        names_of.GPT,
        names_of.GPT_OUTER,
        "h.",
        transposed=("attn_qkv", "attn_output", "ffn_up", "ffn_down"),
    ),
    "starcoder": Architecture("gpt_bigcode", names_of.GPT, names_of.GPT_OUTER, "h."),
    "gptneox": Architecture(
        "gpt_neox",
        {
            **names_of.BLOOM,
            "attn_qkv": "attention.query_key_value",
            "attn_output": "attention.dense",
        },
        {"token_embd": "embed_in", "output_norm": "final_layer_norm", "output": "embed_out"},
        "layers.",
        config=STACKED,
        more=_residual,
    ),
    "bloom": Architecture("bloom", names_of.BLOOM, names_of.BLOOM_OUTER, "h.", config=STACKED),
    "falcon": Architecture(
        "falcon", {**names_of.BLOOM, "attn_norm_2": "ln_attn"}, names_of.BLOOM_OUTER, "h.", config=STACKED, more=_falcon
    ),
    "mpt": Architecture("mpt", names_of.MPT, names_of.MPT_OUTER, "blocks.", more=_mpt),
    "bert": Architecture("bert", names_of.BERT, names_of.BERT_OUTER, "encoder.layer."),
    "nomic-bert": Architecture("nomic_bert", names_of.NOMIC, names_of.NOMIC_OUTER, "encoder.layers."),
    "modern-bert": Architecture("modernbert", names_of.MODERN, names_of.MODERN_OUTER, "layers.", more=_modern_bert),
    "t5": Architecture("t5", rename=names_of.t5_name, more=_t5),
    "t5encoder": Architecture("t5", rename=names_of.t5_name, more=_t5),
    "qwen2moe": Architecture("qwen2_moe", more=_experts("num_experts"), mixture=True),
    "qwen3moe": Architecture(
        "qwen3_moe", {**names_of.LLAMA, **names_of.QK_NORMS}, more=_experts("num_experts"), mixture=True
    ),
    "olmoe": Architecture("olmoe", {**names_of.LLAMA, **names_of.QK_NORMS}, more=_experts("num_experts"), mixture=True),
    "gpt-oss": Architecture(
        "gpt_oss",
        {**names_of.LLAMA, **names_of.NORM_BETWEEN, "attn_sinks": "self_attn.sinks"},
        bare=("attn_sinks",),
        more=_gpt_oss,
        mixture=True,
    ),
    "deepseek2": Architecture(
        "deepseek_v3",
        {**names_of.LLAMA, **names_of.LATENT},
        interleaved=True,
        more=_deepseek,
        absent=("q_lora_rank",),
        mixture=True,
    ),
}
MIXTRAL = Architecture("mixtral", interleaved=True, more=_experts("num_local_experts"), mixture=True)
"""What a file of the architecture ``llama`` is that has experts."""


def _tower(get: Get, names: frozenset[str]) -> dict[str, Json]:
    """Sizes of pixels, and the activation: ``use_gelu``, ``use_silu``, else CLIP's quick one."""
    gelu = "gelu" if "v.class_embd" in names else "gelu_pytorch_tanh"
    act = gelu if get("use_gelu") else "silu" if get("use_silu") else "quick_gelu"
    return {"image_size": get("image_size"), "patch_size": get("patch_size"), "hidden_act": act}


def _sound(get: Get, names: frozenset[str]) -> dict[str, Json]:
    """Sizes under the names of Whisper's configuration: the decoder is another file's."""
    sizes = {"d_model": "embedding_length", "encoder_layers": "block_count", "encoder_ffn_dim": "feed_forward_length"}
    sizes |= {"encoder_attention_heads": "attention.head_count", "num_mel_bins": "num_mel_bins"}
    found = {name: get(key) for name, key in sizes.items()}
    return found | {"eigentoken_part": "encoder", "activation_function": "gelu"}


CLIP_TOWER = Architecture("clip_vision_model", rename=names_of.tower_name, more=_tower)
SIGLIP_TOWER = Architecture("siglip_vision_model", rename=names_of.tower_name, more=_tower)
"""The vision towers of ``mmproj`` files, whose architecture is ``clip``, with and without a class token."""
SOUND_TOWER = Architecture("whisper", rename=names_of.sound_name, more=_sound)
"""The encoder of sound of ``mmproj`` files whose projector is one of :data:`OF_WHISPER`."""
#: Projectors that stand behind Whisper's encoder as it is (GLM-ASR turns its queries and keys, others are conformers).
OF_WHISPER = ("qwen2a", "ultravox", "voxtral", "musicflamingo", "meralion")
#: Why a file of an architecture is not read, where the reason is known.
NOT_ATTENTION = {
    "a state-space model": ("mamba", "mamba2"),
    "a recurrent model": ("rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"),
    "a convolutional model": ("wavtokenizer-dec",),
}
HYBRIDS: tuple[str, ...] = (
    "jamba",
    "falcon-h1",
    "nemotron_h",
    "nemotron_h_moe",
    "granitehybrid",
    "lfm2",
    "lfm2moe",
    "plamo2",
)
HYBRIDS += ("qwen3next", "qwen35", "qwen35moe", "kimi-linear")


def why_not(architecture: str) -> str | None:
    """Why no layer, or not every one, of this architecture is read; ``None`` where it may attend in all of them.

    >>> why_not("rwkv7")
    'rwkv7 is a recurrent model: its layers have no self-attention, and every statement here is about self-attention'
    """
    for what, names in NOT_ATTENTION.items():
        if architecture in names:
            about = "every statement here is about self-attention"
            return f"{architecture} is {what}: its layers have no self-attention, and {about}"
    if architecture in HYBRIDS:
        return f"{architecture} is a hybrid: some of its layers are no self-attention, and a reading of the others is not there"
    return None
