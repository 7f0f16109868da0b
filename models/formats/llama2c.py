"""llama2.c ``.bin`` files (Karpathy, 2023), float32 versions 0 and 1: a few integers, then tensors in a fixed order.

Version 0 has no magic number, so the size of the file must be exactly what its seven integers imply.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.errors import ModelError, brief
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import SourceFile, TensorInfo, TensorStore

MAGIC = 0x616B3432
HEADER_V1 = 256


class Llama2cStore(TensorStore):
    """float32 tensors at known places; names are those of the llama family."""

    format = "llama2.c"

    def __init__(self, path: Path, places: dict[str, tuple[int, tuple[int, ...]]], size: int) -> None:
        self.path = path
        self.where = str(path)
        self.places = places
        self.infos = {name: TensorInfo(name, shape, "float32") for name, (_, shape) in places.items()}
        self.files = (SourceFile(path, size),)

    def read(self, name: str) -> Array:
        """The tensor, copied out of a map that lives only during the copy."""
        offset, shape = self.places[name]
        try:
            mapped: Array = np.memmap(self.path, dtype="<f4", mode="r", offset=offset, shape=shape)
            return np.array(mapped)
        except (OSError, ValueError) as error:
            raise ModelError(f"{self.where}: the tensor {name} cannot be read ({brief(error)})") from None


def open_llama2c(path: Path) -> tuple[Llama2cStore, dict[str, Json]]:
    """The tensors and the configuration of a llama2.c file."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        head = stream.read(HEADER_V1)
    if len(head) < 28:
        raise ModelError(f"{path}: {size} bytes, too short for a llama2.c header")
    versioned = struct.unpack_from("<I", head)[0] == MAGIC
    if versioned:
        version = struct.unpack_from("<i", head, 4)[0]
        if version != 1 or len(head) < HEADER_V1:
            raise ModelError(
                f"{path}: llama2.c version {version} is not supported: export it as version 0 or 1 (float32)"
            )
        fields, shared = struct.unpack_from("<7i", head, 8), head[36] != 0
    else:
        fields = struct.unpack_from("<7i", head)
        shared = fields[5] > 0
    d, width, n_layers, n_heads, n_kv, vocabulary, length = fields
    vocabulary = abs(vocabulary)
    sizes = (d, width, n_layers, n_heads, n_kv, vocabulary, length)
    if (
        min(sizes) < 1
        or max(sizes) > 1 << 24
        or n_layers > 10_000
        or d % n_heads
        or n_heads % n_kv
        or (d // n_heads) % 2
    ):
        raise ModelError(f"{path}: not a llama2.c file or a damaged one: sizes {sizes}")
    order = _order_v1 if versioned else _order_v0
    begin = HEADER_V1 if versioned else 28
    places: dict[str, tuple[int, tuple[int, ...]]] = {}
    for name, shape in order(d, width, n_layers, d // n_heads * n_kv, vocabulary, length * (d // n_heads) // 2, shared):
        places[name] = (begin, shape)
        begin += 4 * math.prod(shape)
        if begin > size:
            break
    if begin != size:
        state = "truncated" if size < begin else "padded, or not a llama2.c file"
        raise ModelError(f"{path}: the header promises another size than the file's {size} bytes: {state}")
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "tie_word_embeddings": shared,
        "hidden_size": d,
        "intermediate_size": width,
        "num_hidden_layers": n_layers,
        "num_attention_heads": n_heads,
        "num_key_value_heads": n_kv,
        "vocab_size": vocabulary,
        "max_position_embeddings": length,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "eigentoken_rope_interleaved": True,
        "hidden_act": "silu",
    }
    kept = {name: place for name, place in places.items() if not name.startswith("rope_table")}
    return Llama2cStore(path, kept, size), config


Order = list[tuple[str, tuple[int, ...]]]


def _stack(n_layers: int, name: str, *shape: int) -> Order:
    return [(f"model.layers.{index}.{name}.weight", shape) for index in range(n_layers)]


def _attention(d: int, n_layers: int, kv: int) -> Order:
    q, k = _stack(n_layers, "self_attn.q_proj", d, d), _stack(n_layers, "self_attn.k_proj", kv, d)
    return q + k + _stack(n_layers, "self_attn.v_proj", kv, d) + _stack(n_layers, "self_attn.o_proj", d, d)


def _order_v0(d: int, width: int, n: int, kv: int, vocabulary: int, table: int, shared: bool) -> Order:
    order: Order = [("model.embed_tokens.weight", (vocabulary, d))]
    order += _stack(n, "input_layernorm", d) + _attention(d, n, kv) + _stack(n, "post_attention_layernorm", d)
    order += _stack(n, "mlp.gate_proj", width, d) + _stack(n, "mlp.down_proj", d, width)
    order += [*_stack(n, "mlp.up_proj", width, d), ("model.norm.weight", (d,))]
    order += [("rope_table.cos", (table,)), ("rope_table.sin", (table,))]
    return order if shared else [*order, ("lm_head.weight", (vocabulary, d))]


def _order_v1(d: int, width: int, n: int, kv: int, vocabulary: int, table: int, shared: bool) -> Order:
    order = _stack(n, "input_layernorm", d) + _stack(n, "post_attention_layernorm", d)
    order += [("model.norm.weight", (d,)), ("model.embed_tokens.weight", (vocabulary, d))]
    order += _attention(d, n, kv) + _stack(n, "mlp.gate_proj", width, d)
    order += _stack(n, "mlp.down_proj", d, width) + _stack(n, "mlp.up_proj", width, d)
    return order if shared else [*order, ("lm_head.weight", (vocabulary, d))]
