"""Tiny models of every family beyond the first ones, as ``transformers`` makes them: what is compared, and what is not.

``Case``: the class prefix and its options, how the name of the module ends whose output is the attention update, and in which way
the comparison is less than the whole layer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

VOCABULARY, LENGTH = 31, 24
COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_attention_heads": 4,
    "intermediate_size": 24,
}
TWO: dict[str, Any] = {"num_hidden_layers": 2, "max_position_embeddings": LENGTH, "pad_token_id": 0}
GROUPED = COMMON | {
    "num_hidden_layers": 3,
    "num_key_value_heads": 2,
    "max_position_embeddings": LENGTH,
    "pad_token_id": 0,
}
GPT = {"vocab_size": VOCABULARY, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": LENGTH}
OPT = {"vocab_size": VOCABULARY, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 24}
OPT |= {"max_position_embeddings": LENGTH, "pad_token_id": 1}
FALCON = {"vocab_size": VOCABULARY, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}


@dataclass(frozen=True)
class Case:
    """One tiny model.  ``up_to_rows``: scores are compared up to a constant of each query (softmax does not see it).

    ``slow``: a variant of a family that another case covers.  ``attention_only``: the feed-forward is not read here.
    """

    prefix: str
    options: dict[str, Any]
    projection: str = "self_attn.o_proj"
    up_to_rows: bool = False
    slow: bool = False
    attention_only: bool = False
    part: str = ""
    implementation: str = "eager"
    head: str = ""
    first_id: int = 2
    also: tuple[str, ...] = field(default=())
    """Further model types with the same reading that no case of their own covers."""


def variant(*args: Any, **more: Any) -> Case:
    """A case of the slow suite."""
    return Case(*args, slow=True, **more)


YARN = {"rope_type": "yarn", "rope_theta": 50.0, "factor": 4.0, "original_max_position_embeddings": 12}
LONG = {"rope_type": "longrope", "rope_theta": 100.0, "short_factor": [1.5, 2.0], "long_factor": [3.0, 4.0]}
LONG |= {"original_max_position_embeddings": 12, "factor": 2.0}

DECODERS: dict[str, Case] = {
    "gpt_neox": Case("GPTNeoX", COMMON | TWO | {"rotary_pct": 0.5}, "attention.dense"),
    "gpt_neox-sequential": variant(
        "GPTNeoX", COMMON | TWO | {"use_parallel_residual": False, "rotary_pct": 1.0}, "attention.dense"
    ),
    "gpt_neox-linear": variant(
        "GPTNeoX",
        COMMON
        | TWO
        | {"rope_parameters": {"rope_type": "linear", "factor": 2.5, "rope_theta": 50.0, "partial_rotary_factor": 0.5}},
        "attention.dense",
    ),
    "olmo": Case("Olmo", GROUPED | {"clip_qkv": 0.7}),
    "olmo-not-cut": variant("Olmo", GROUPED),
    "olmo2": Case("Olmo2", GROUPED),
    "olmo3": Case("Olmo3", GROUPED | {"num_hidden_layers": 4, "sliding_window": 3}),
    "qwen3": Case("Qwen3", GROUPED | {"head_dim": 6}),
    "qwen3-windows": variant(
        "Qwen3", GROUPED | {"head_dim": 6, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}
    ),
    "qwen3-biases": variant("Qwen3", GROUPED | {"head_dim": 6, "attention_bias": True}),
    "gemma": Case("Gemma", GROUPED | {"head_dim": 6}),
    "gemma2": Case(
        "Gemma2",
        GROUPED | {"head_dim": 6, "sliding_window": 3, "query_pre_attn_scalar": 10, "attn_logit_softcapping": 2.0},
    ),
    "gemma3_text": Case(
        "Gemma3Text",
        GROUPED | {"head_dim": 6, "sliding_window": 3, "query_pre_attn_scalar": 10, "num_hidden_layers": 6},
    ),
    "phi": Case("Phi", COMMON | TWO | {"partial_rotary_factor": 0.5}, "self_attn.dense"),
    "phi-norms": variant(
        "Phi",
        COMMON | TWO | {"partial_rotary_factor": 0.5, "qk_layernorm": True, "num_key_value_heads": 2},
        "self_attn.dense",
    ),
    "phi3": Case("Phi3", GROUPED | {"sliding_window": 3}),
    "phi3-longrope": variant("Phi3", GROUPED | {"rope_parameters": LONG, "original_max_position_embeddings": 12}),
    "opt": Case("OPT", OPT, "self_attn.out_proj"),
    "opt-350m": variant(
        "OPT", OPT | {"word_embed_proj_dim": 8, "do_layer_norm_before": False}, "self_attn.out_proj", head="project_out"
    ),
    "falcon": Case("Falcon", FALCON, "self_attention.dense"),
    "falcon-40b": variant(
        "Falcon", FALCON | {"num_kv_heads": 2, "new_decoder_architecture": True}, "self_attention.dense"
    ),
    "falcon-rw": variant(
        "Falcon",
        FALCON | {"alibi": True, "multi_query": False, "parallel_attn": False, "bias": True},
        "self_attention.dense",
        implementation="sdpa",
    ),
    "bloom": Case(
        "Bloom", {"vocab_size": VOCABULARY, "hidden_size": 18, "n_layer": 2, "n_head": 6}, "self_attention.dense", True
    ),
    "stablelm": Case("StableLm", GROUPED | {"partial_rotary_factor": 0.5, "use_qkv_bias": True}),
    "stablelm-2": variant(
        "StableLm", GROUPED | {"partial_rotary_factor": 0.5, "qk_layernorm": True, "use_parallel_residual": True}
    ),
    "granite": Case(
        "Granite",
        GROUPED | {"attention_multiplier": 0.3, "residual_multiplier": 0.7, "embedding_multiplier": 2.5},
    ),
    "cohere": Case("Cohere", GROUPED | {"use_qk_norm": True}),
    "cohere-without-norms": variant("Cohere", GROUPED),
    "cohere2": Case("Cohere2", GROUPED | {"num_hidden_layers": 4, "sliding_window": 3}),
    "gptj": Case("GPTJ", GPT | {"n_head": 2, "rotary_dim": 4}, "attn.out_proj"),
    "codegen": Case("CodeGen", GPT | {"rotary_dim": 4}, "attn.out_proj"),
    "gpt_bigcode": Case("GPTBigCode", GPT, "attn.c_proj"),
    "gpt_bigcode-heads": variant("GPTBigCode", GPT | {"multi_query": False}, "attn.c_proj"),
    "openai-gpt": Case("OpenAIGPT", GPT, "attn.c_proj"),
    "starcoder2": Case("Starcoder2", GROUPED | {"sliding_window": 3}),
    "mpt": Case(
        "Mpt",
        {"vocab_size": VOCABULARY, "d_model": 16, "n_layers": 2, "n_heads": 4, "max_seq_len": LENGTH},
        "attn.out_proj",
        True,
    ),
    "biogpt": Case("BioGpt", COMMON | TWO, "self_attn.out_proj"),
    "glm": Case("Glm", GROUPED | {"head_dim": 4}),
    "glm4": Case("Glm4", GROUPED | {"head_dim": 4}),
    "nemotron": Case("Nemotron", GROUPED | {"partial_rotary_factor": 0.5}),
    "helium": Case("Helium", GROUPED | {"head_dim": 4}),
    "arcee": Case("Arcee", GROUPED | {"head_dim": 4}),
    "arcee-yarn": variant("Arcee", GROUPED | {"head_dim": 8, "rope_parameters": YARN}),
    "exaone4": Case("Exaone4", GROUPED | {"num_hidden_layers": 4, "sliding_window": 3, "sliding_window_pattern": 4}),
    "seed_oss": Case("SeedOss", GROUPED | {"head_dim": 4}),
}

BERT = COMMON | TWO
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}
ENCODERS: dict[str, Case] = {
    "distilbert": Case(
        "DistilBert",
        {"vocab_size": VOCABULARY, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 24}
        | {"max_position_embeddings": LENGTH},
        "attention.out_lin",
    ),
    "electra": Case("Electra", BERT | {"embedding_size": 8}, "attention.output.dense"),
    "electra-wide": variant("Electra", BERT | {"embedding_size": 16}, "attention.output.dense"),
    "mpnet": Case("MPNet", BERT | {"max_position_embeddings": LENGTH + 2, "pad_token_id": 1}, "attention.attn.o"),
    "deberta": Case("Deberta", BERT | RELATIVE, "attention.output.dense"),
    "deberta-absolute": variant("Deberta", BERT | {"type_vocab_size": 2}, "attention.output.dense"),
    "deberta-v2": Case(
        "DebertaV2",
        BERT | RELATIVE | {"position_buckets": 6, "norm_rel_ebd": "layer_norm", "share_att_key": True},
        "attention.output.dense",
    ),
    "deberta-v2-own-maps": variant(
        "DebertaV2", BERT | RELATIVE | {"max_relative_positions": 5, "type_vocab_size": 2}, "attention.output.dense"
    ),
    "deberta-v2-one-way": variant(
        "DebertaV2", BERT | RELATIVE | {"pos_att_type": ["p2c"], "position_buckets": 4}, "attention.output.dense"
    ),
    "modernbert": Case(
        "ModernBert",
        COMMON
        | {"num_hidden_layers": 4, "max_position_embeddings": LENGTH, "pad_token_id": 0, "local_attention": 4}
        | {"global_attn_every_n_layers": 3},
        "attn.Wo",
    ),
    "nomic_bert": Case("NomicBert", BERT | {"head_dim": 4}, "self_attn.o_proj"),
    "esm": Case(
        "Esm",
        BERT | {"position_embedding_type": "rotary", "pad_token_id": 1, "mask_token_id": 30, "token_dropout": True},
        "attention.output.dense",
    ),
    "esm-absolute": variant(
        "Esm", BERT | {"pad_token_id": 1, "mask_token_id": 30, "emb_layer_norm_before": True}, "attention.output.dense"
    ),
    "clip_text_model": Case("CLIPText", BERT | {"eos_token_id": 2}, "self_attn.out_proj"),
    "siglip_text_model": Case("SiglipText", BERT, "self_attn.out_proj"),
}

PIXELS: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
PIXELS |= {"image_size": 12, "patch_size": 4}
VISION: dict[str, Case] = {
    "deit": Case("DeiT", PIXELS, "attention.o_proj"),
    "ijepa": Case("IJepa", PIXELS, "attention.o_proj"),
    "dinov2": Case("Dinov2", PIXELS | {"mlp_ratio": 2, "layerscale_value": 0.5}, "attention.o_proj"),
    "dinov2-giant": variant("Dinov2", PIXELS | {"mlp_ratio": 2, "use_swiglu_ffn": True}, "attention.o_proj"),
    "dinov2_with_registers": Case("Dinov2WithRegisters", PIXELS | {"mlp_ratio": 2}, "attention.o_proj"),
    "beit": Case(
        "Beit", PIXELS | {"layer_scale_init_value": 0.3, "use_relative_position_bias": True}, "attention.o_proj"
    ),
    "beit-shared": variant(
        "Beit",
        PIXELS
        | {"use_shared_relative_position_bias": True, "use_absolute_position_embeddings": True}
        | {"use_mean_pooling": False, "layer_scale_init_value": 0.0},
        "attention.o_proj",
    ),
    "clip_vision_model": Case("CLIPVision", PIXELS, "self_attn.out_proj"),
    "siglip_vision_model": Case("SiglipVision", PIXELS, "self_attn.out_proj"),
}

T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "d_kv": 6,
    "d_ff": 24,
    "num_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
}
T5 |= {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 10, "decoder_start_token_id": 0}
BART = {"vocab_size": VOCABULARY, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 24}
BART |= {"encoder_attention_heads": 4, "decoder_attention_heads": 2, "decoder_ffn_dim": 20}
POSITIONS = {"max_position_embeddings": LENGTH}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 0}
SOUND = {"num_mel_bins": 5, "max_source_positions": 12, "max_target_positions": LENGTH, "begin_suppress_tokens": None}
TWO_STACKS: dict[str, Case] = {
    "t5": Case("T5", T5, "layer.0.SelfAttention.o", part="encoder"),
    "t5-decoder": Case("T5", T5 | {"num_decoder_layers": 3}, "layer.0.SelfAttention.o", part="decoder"),
    "t5-v1.1": variant("T5", T5 | {"feed_forward_proj": "gated-gelu"}, "layer.0.SelfAttention.o", part="encoder"),
    "mt5": variant("MT5", T5, "layer.0.SelfAttention.o", part="decoder"),
    "umt5": variant("UMT5", T5, "layer.0.SelfAttention.o", part="encoder"),
    "bart": Case("Bart", BART | POSITIONS, "self_attn.out_proj", part="encoder"),
    "bart-decoder": Case("Bart", BART | POSITIONS, "self_attn.out_proj", part="decoder"),
    "mbart": Case("MBart", BART | POSITIONS | {"scale_embedding": True}, "self_attn.out_proj", part="encoder"),
    "mbart-decoder": variant("MBart", BART | POSITIONS, "self_attn.out_proj", part="decoder"),
    "marian": Case(
        "Marian", BART | POSITIONS | TOKENS | {"forced_eos_token_id": 1}, "self_attn.out_proj", part="encoder"
    ),
    "marian-decoder": variant(
        "Marian", BART | POSITIONS | TOKENS | {"forced_eos_token_id": 1}, "self_attn.out_proj", part="decoder"
    ),
    "whisper": Case("Whisper", BART | SOUND | TOKENS, "self_attn.out_proj", part="encoder"),
    "whisper-decoder": Case("Whisper", BART | SOUND | TOKENS, "self_attn.out_proj", part="decoder"),
}

EXPERTS = {"moe_intermediate_size": 8, "num_experts": 4, "num_experts_per_tok": 2}
LATENT = {"kv_lora_rank": 8, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 5, "first_k_dense_replace": 1}
LATENT |= {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "n_group": 2, "topk_group": 1}
MSCALE = YARN | {"mscale": 0.7, "mscale_all_dim": 0.7}
MIXTURES: dict[str, Case] = {
    "mixtral": Case("Mixtral", GROUPED | {"num_local_experts": 4}, attention_only=True),
    "mixtral-window": variant("Mixtral", GROUPED | {"num_local_experts": 4, "sliding_window": 3}, attention_only=True),
    "qwen2_moe": Case("Qwen2Moe", GROUPED | EXPERTS | {"shared_expert_intermediate_size": 12}, attention_only=True),
    "qwen3_moe": Case("Qwen3Moe", GROUPED | EXPERTS | {"head_dim": 6, "mlp_only_layers": [1]}, attention_only=True),
    "olmoe": Case("Olmoe", GROUPED | {"num_experts": 4, "num_experts_per_tok": 2}, attention_only=True),
    "gpt_oss": Case(
        "GptOss",
        GROUPED | {"num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 6, "sliding_window": 3},
        up_to_rows=True,
        attention_only=True,
    ),
    "deepseek_v2": Case(
        "DeepseekV2", BERT | LATENT | {"q_lora_rank": None, "topk_method": "greedy"}, attention_only=True
    ),
    "deepseek_v3": Case(
        "DeepseekV3", BERT | LATENT | {"q_lora_rank": 10, "num_key_value_heads": 4}, attention_only=True
    ),
    "deepseek_v3-yarn": variant(
        "DeepseekV3",
        BERT
        | LATENT
        | {"q_lora_rank": 10, "num_key_value_heads": 4, "rope_interleave": False, "rope_parameters": MSCALE},
        attention_only=True,
    ),
}

CASES: dict[str, Case] = {**DECODERS, **ENCODERS, **VISION, **TWO_STACKS, **MIXTURES}


def make(key: str, **other: Any) -> Any:
    """The reference of a case, with other options where they are given."""
    return built(CASES[key], sum(map(ord, key)), **other)


def built(case: Case, seed: int, **other: Any) -> Any:
    """The reference with every parameter moved off its start: gains are not 1, biases are not 0."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    config = getattr(transformers, f"{case.prefix}Config")(**case.options | other)
    config._attn_implementation = case.implementation
    torch.manual_seed(seed)
    model = getattr(transformers, f"{case.prefix}Model")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def tokens(key: str) -> Any:
    """Token ids, or pixels, for a batch of two."""
    rng = np.random.default_rng(7)
    options = CASES[key].options
    if "num_mel_bins" in options and CASES[key].part == "encoder":
        return rng.standard_normal((2, options["num_mel_bins"], 2 * options["max_source_positions"])).astype(np.float32)
    if "image_size" in options:
        size = options["image_size"]
        return rng.standard_normal((2, 3, size, size)).astype(np.float32)
    return rng.integers(CASES[key].first_id, VOCABULARY - 1, size=(2, 11))
