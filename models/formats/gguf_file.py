"""GGUF files of the llama and qwen2 architectures, dequantised block by block as the ``gguf`` package specifies.

The llama architecture stores Q and K for rotary pairs (2k, 2k+1): the rows are kept as they are in the file and the
rotary encoding says ``interleaved``.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.errors import ModelError, brief, some
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import SourceFile, TensorInfo, TensorStore
from eigentoken.models.formats.gguf_header import GgufTensor, read_gguf_header
from eigentoken.models.formats.renamed import Original, RenamedStore
from eigentoken.models.formats.safetensors_file import widen_bfloat16

INTERLEAVED = {"llama": True, "qwen2": False}
"""Supported architectures, and whether llama.cpp turns neighbouring coordinates."""

BLOCK_NAMES = {
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
OUTER_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


class GgufStore(TensorStore):
    """The tensors of a GGUF file: float types as they are, quantised types as the float32 of their blocks."""

    format = "GGUF"

    def __init__(self, path: Path) -> None:
        gguf = _package(path)
        self.path = path
        self.where = str(path)
        self.values, self.tensors, alignment = read_gguf_header(path)
        size = path.stat().st_size
        self.files = (SourceFile(path, size),)
        self.infos, end = {}, 0
        for name, tensor in self.tensors.items():
            kind = self._kind(gguf, tensor)
            self.infos[name] = TensorInfo(name, tensor.shape, _label(kind.name))
            end = max(end, tensor.offset + self._bytes(gguf, tensor))
        if not self.tensors:
            raise ModelError(f"{path}: the file has no tensors")
        if not end <= size <= -(-end // alignment) * alignment:
            state = "truncated" if size < end else "padded with bytes that belong to no tensor"
            raise ModelError(f"{path}: the header promises {end} bytes, the file has {size}: {state}")

    def read(self, name: str) -> Array:
        """The tensor; a float16 or float32 one as stored, others as float32."""
        gguf = _package(self.path)
        tensor = self.tensors[name]
        size = self._bytes(gguf, tensor)
        if size == 0:
            return np.zeros(tensor.shape, dtype=np.float32)
        try:
            raw: Array = np.memmap(self.path, dtype=np.uint8, mode="r", offset=tensor.offset, shape=(size,))
            return self._decode(gguf, tensor, raw)
        except Exception as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"{self.where}: the tensor {name} cannot be dequantised ({brief(error)})") from None

    def _decode(self, gguf: Any, tensor: GgufTensor, raw: Array) -> Array:
        kind = self._kind(gguf, tensor)
        plain = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
        if kind.name in plain:
            return np.array(raw.view(plain[kind.name])).reshape(tensor.shape)
        if kind.name == "BF16":
            return widen_bfloat16(raw.view("<u2")).reshape(tensor.shape)
        rows = math.prod(tensor.shape[:-1])
        with np.errstate(all="ignore"):
            values = gguf.quants.dequantize(np.asarray(raw).reshape(rows, -1), kind)
        return np.ascontiguousarray(values, dtype=np.float32).reshape(tensor.shape)

    def _kind(self, gguf: Any, tensor: GgufTensor) -> Any:
        try:
            return gguf.GGMLQuantizationType(tensor.kind)
        except ValueError:
            raise ModelError(f"{self.where}: the tensor {tensor.name[:80]!r} has unknown type {tensor.kind}") from None

    def _bytes(self, gguf: Any, tensor: GgufTensor) -> int:
        block, size = gguf.GGML_QUANT_SIZES[self._kind(gguf, tensor)]
        if not tensor.shape or tensor.shape[-1] % block:
            raise ModelError(
                f"{self.where}: rows of {tensor.name[:80]!r} do not hold whole blocks of {block}: damaged file"
            )
        return math.prod(tensor.shape) // int(block) * int(size)


def open_gguf(path: Path) -> tuple[TensorStore, dict[str, Json]]:
    """The file under the names of the llama family, with the configuration that its key-value pairs give."""
    store = GgufStore(path)
    values = store.values
    architecture = values.get("general.architecture")
    if not isinstance(architecture, str) or architecture not in INTERLEAVED:
        raise ModelError(
            f"{path}: no supported family: found GGUF architecture {str(architecture)[:60]!r}, tensors "
            f"{some(sorted(store.infos), 3)}; supported in GGUF: {', '.join(INTERLEAVED)}"
        )

    def get(key: str) -> Any:
        return values.get(f"{architecture}.{key}")

    parts = values.get("split.count")
    if isinstance(parts, int) and parts > 1:
        raise ModelError(f"{path}: one of {parts} parts of a split GGUF: merge them first (llama-gguf-split --merge)")
    if isinstance(get("expert_count"), int) and get("expert_count") > 0:
        raise ModelError(f"{path}: a mixture of {get('expert_count')} experts is not supported: expected dense layers")
    scaling = get("rope.scaling.type")
    tied = "output.weight" not in store.infos
    config: dict[str, Any] = {
        "model_type": architecture,
        "architectures": ["LlamaForCausalLM" if architecture == "llama" else "Qwen2ForCausalLM"],
        "tie_word_embeddings": tied,
        "hidden_size": get("embedding_length"),
        "num_hidden_layers": get("block_count"),
        "num_attention_heads": get("attention.head_count"),
        "num_key_value_heads": get("attention.head_count_kv") or get("attention.head_count"),
        "head_dim": get("attention.key_length"),
        "intermediate_size": get("feed_forward_length"),
        "rms_norm_eps": get("attention.layer_norm_rms_epsilon"),
        "max_position_embeddings": get("context_length"),
        "rope_theta": get("rope.freq_base"),
        "eigentoken_rope_dims": get("rope.dimension_count"),
        "eigentoken_rope_interleaved": INTERLEAVED[architecture],
        "hidden_act": "silu",
    }
    if "token_embd.weight" in store.infos:
        config["vocab_size"] = store.infos["token_embd.weight"].shape[0]
    if scaling not in (None, "none"):
        length = get("rope.scaling.original_context_length")
        config["rope_scaling"] = {"rope_type": scaling, "factor": get("rope.scaling.factor")}
        config["rope_scaling"] |= {} if length is None else {"original_max_position_embeddings": length}
        if scaling == "yarn" and get("rope.scaling.attn_factor") not in (None, 1.0):
            raise ModelError(f"{path}: rope.scaling.attn_factor beside yarn is not supported")
    if "rope_freqs.weight" in store.infos:
        divisors = np.asarray(store.read("rope_freqs.weight"), dtype=np.float64).ravel()
        config |= {"rope_scaling": {"rope_type": "divisors"}, "eigentoken_rope_divisors": divisors.tolist()}
    known = {key: value for key, value in config.items() if value is not None}
    names = {new: Original(old) for old in store.infos if (new := family_name(old))}
    return RenamedStore(store, names), known


def family_name(name: str) -> str | None:
    """The name in the llama family of a GGUF tensor, or None.

    >>> family_name("blk.3.attn_q.weight")
    'model.layers.3.self_attn.q_proj.weight'
    """
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name)
    if block and block[2] in BLOCK_NAMES:
        return f"model.layers.{block[1]}.{BLOCK_NAMES[block[2]]}.{block[3]}"
    stem, _, kind = name.rpartition(".")
    return f"{OUTER_NAMES[stem]}.{kind}" if stem in OUTER_NAMES else None


def _label(name: str) -> str:
    return {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}.get(name, name)


def _package(path: Path) -> Any:
    try:
        import gguf
    except ImportError:
        raise ModelError(f"{path}: reading GGUF needs the package gguf: pip install 'eigentoken[gguf]'") from None
    return gguf
