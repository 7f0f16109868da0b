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

CASES: dict[str, Case] = {**DECODERS}


def make(key: str) -> Any:
    """The reference with every parameter moved off its start: gains are not 1, biases are not 0."""
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    case = CASES[key]
    config = getattr(transformers, f"{case.prefix}Config")(**case.options)
    config._attn_implementation = case.implementation
    torch.manual_seed(sum(map(ord, key)))
    model = getattr(transformers, f"{case.prefix}Model")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def tokens(key: str) -> Any:
    """Token ids, or pixels, for a batch of two."""
    rng = np.random.default_rng(7)
    options = CASES[key].options
    if "image_size" in options:
        size = options["image_size"]
        return rng.standard_normal((2, 3, size, size)).astype(np.float32)
    return rng.integers(CASES[key].first_id, VOCABULARY - 1, size=(2, 11))
