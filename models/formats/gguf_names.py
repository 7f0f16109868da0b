"""What GGUF calls the tensors of a layer, by the family that reads them: the tables of :mod:`gguf_architectures`."""

from __future__ import annotations

import re

#: LLaMA and what has its names
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
OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
QK_NORMS = {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}
FUSED = {"attn_qkv": "self_attn.qkv_proj"}
UPDATE_NORMS = {"post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}
FOUR_NORMS = UPDATE_NORMS | {"ffn_norm": "pre_feedforward_layernorm"}
#: gpt-oss and Seed write the norm before the feed-forward under another name
NORM_BETWEEN = {"post_attention_norm": "post_attention_layernorm"}
LATENT = {
    "attn_q_a": "self_attn.q_a_proj",
    "attn_q_b": "self_attn.q_b_proj",
    "attn_q_a_norm": "self_attn.q_a_layernorm",
    "attn_kv_a_mqa": "self_attn.kv_a_proj_with_mqa",
    "attn_kv_a_norm": "self_attn.kv_a_layernorm",
    "attn_kv_b": "self_attn.kv_b_proj",
}
PHI = {"attn_output": "self_attn.dense", "ffn_up": "mlp.fc1", "ffn_down": "mlp.fc2"}
PHI_OUTER = OUTER | {"output_norm": "model.final_layernorm"}

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
MPT = {
    "attn_norm": "norm_1",
    "ffn_norm": "norm_2",
    "attn_qkv": "attn.Wqkv",
    "attn_output": "attn.out_proj",
    "ffn_up": "ffn.up_proj",
    "ffn_down": "ffn.down_proj",
}
MPT_OUTER = {"token_embd": "wte", "output_norm": "norm_f", "output": "lm_head"}

BERT = {
    "attn_q": "attention.self.query",
    "attn_k": "attention.self.key",
    "attn_v": "attention.self.value",
    "attn_output": "attention.output.dense",
    "attn_output_norm": "attention.output.LayerNorm",
    "ffn_up": "intermediate.dense",
    "ffn_down": "output.dense",
    "layer_output_norm": "output.LayerNorm",
}
BERT_OUTER = {
    "token_embd": "embeddings.word_embeddings",
    "position_embd": "embeddings.position_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "token_embd_norm": "embeddings.LayerNorm",
}
NOMIC = {
    "attn_qkv": "attn.Wqkv",
    "attn_output": "attn.out_proj",
    "attn_output_norm": "norm1",
    "ffn_up": "mlp.fc11",
    "ffn_gate": "mlp.fc12",
    "ffn_down": "mlp.fc2",
    "layer_output_norm": "norm2",
}
NOMIC_OUTER = {
    "token_embd": "embeddings.word_embeddings",
    "token_types": "embeddings.token_type_embeddings",
    "token_embd_norm": "emb_ln",
}
MODERN = {
    "attn_norm": "attn_norm",
    "attn_qkv": "attn.Wqkv",
    "attn_output": "attn.Wo",
    "ffn_norm": "mlp_norm",
    "ffn_up": "mlp.Wi",
    "ffn_down": "mlp.Wo",
}
MODERN_OUTER = {
    "token_embd": "embeddings.tok_embeddings",
    "token_embd_norm": "embeddings.norm",
    "output_norm": "final_norm",
}

T5_STACKS = {"enc": "encoder", "dec": "decoder"}
T5_OUTER = {
    "token_embd": "shared",
    "output": "lm_head",
    "enc.output_norm": "encoder.final_layer_norm",
    "dec.output_norm": "decoder.final_layer_norm",
}


def t5_name(name: str, names: frozenset[str]) -> str | None:
    """The name in T5 of a GGUF tensor; a stack with a gate calls its second matrix ``wi_1``.

    >>> t5_name("enc.blk.1.ffn_up.weight", frozenset())
    'encoder.block.1.layer.1.DenseReluDense.wi.weight'
    >>> t5_name("dec.blk.0.cross_attn_o.weight", frozenset())
    'decoder.block.0.layer.1.EncDecAttention.o.weight'
    """
    stem, _, kind = name.rpartition(".")
    if stem in T5_OUTER:
        return f"{T5_OUTER[stem]}.{kind}"
    found = re.fullmatch(r"(enc|dec)\.blk\.(\d+)\.(\w+)", stem)
    if found is None:
        return None
    side, number, part = found.groups()
    second = "1" if side == "enc" else "2"
    up = "wi_1" if f"{side}.blk.{number}.ffn_gate.weight" in names else "wi"
    inner = {"ffn_gate": "wi_0", "ffn_up": up, "ffn_down": "wo"}
    parts = {"attn_norm": "layer.0.layer_norm", "ffn_norm": f"layer.{second}.layer_norm"}
    parts |= {f"attn_{letter}": f"layer.0.SelfAttention.{letter}" for letter in "qkvo"}
    parts |= {"attn_rel_b": "layer.0.SelfAttention.relative_attention_bias", "cross_attn_norm": "layer.1.layer_norm"}
    parts |= {f"cross_attn_{letter}": f"layer.1.EncDecAttention.{letter}" for letter in "qkvo"}
    parts |= {each: f"layer.{second}.DenseReluDense.{there}" for each, there in inner.items()}
    return f"{T5_STACKS[side]}.block.{number}.{parts[part]}.{kind}" if part in parts else None


TOWER = {
    "ln1": "layer_norm1",
    "ln2": "layer_norm2",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.out_proj",
    "ffn_up": "mlp.fc1",
    "ffn_down": "mlp.fc2",
}
TOWER_OUTER = {
    "v.class_embd": "embeddings.class_embedding",
    "v.patch_embd.weight": "embeddings.patch_embedding.weight",
    "v.patch_embd.bias": "embeddings.patch_embedding.bias",
    "v.position_embd.weight": "embeddings.position_embedding.weight",
    "v.pre_ln.weight": "pre_layrnorm.weight",
    "v.pre_ln.bias": "pre_layrnorm.bias",
    "v.post_ln.weight": "post_layernorm.weight",
    "v.post_ln.bias": "post_layernorm.bias",
}


def tower_name(name: str, names: frozenset[str]) -> str | None:
    """The name in the vision tower of CLIP or SigLIP of a tensor of an ``mmproj`` file; the projector is not read.

    >>> tower_name("v.blk.2.attn_out.bias", frozenset()), tower_name("mm.0.weight", frozenset())
    ('vision_model.encoder.layers.2.self_attn.out_proj.bias', None)
    """
    if name in TOWER_OUTER:
        return f"vision_model.{TOWER_OUTER[name]}"
    found = re.fullmatch(r"v\.blk\.(\d+)\.(\w+)\.(weight|bias)", name)
    if found is None or found[2] not in TOWER:
        return None
    return f"vision_model.encoder.layers.{found[1]}.{TOWER[found[2]]}.{found[3]}"


SOUND = {
    "ln1": "self_attn_layer_norm",
    "ln2": "final_layer_norm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_out": "self_attn.out_proj",
    "ffn_up": "fc1",
    "ffn_down": "fc2",
}
SOUND_OUTER = {"a.position_embd": "embed_positions", "a.post_ln": "layer_norm"}


def sound_name(name: str, names: frozenset[str]) -> str | None:
    """The name in Whisper's encoder of a tensor of an ``mmproj`` file for sound; convolutions and the projector are not read.

    >>> sound_name("a.blk.2.ln1.bias", frozenset()), sound_name("mm.a.mlp.1.weight", frozenset())
    ('encoder.layers.2.self_attn_layer_norm.bias', None)
    """
    stem, _, kind = name.rpartition(".")
    if stem in SOUND_OUTER:
        return f"encoder.{SOUND_OUTER[stem]}.{kind}"
    found = re.fullmatch(r"a\.blk\.(\d+)\.(\w+)", stem)
    return f"encoder.layers.{found[1]}.{SOUND[found[2]]}.{kind}" if found and found[2] in SOUND else None


def swapped_tower_name(name: str, names: frozenset[str]) -> str | None:
    """The same for files of older converters, which call the first matrix of the feed-forward ``ffn_down``."""
    turned = {"ffn_up": "ffn_down", "ffn_down": "ffn_up"}
    found = re.fullmatch(r"(v\.blk\.\d+\.)(ffn_up|ffn_down)(\.\w+)", name)
    return tower_name(name if found is None else f"{found[1]}{turned[found[2]]}{found[3]}", names)
