"""``.npz`` archives: one ``.npy`` member a tensor, never unpickled; ``__config__`` may hold the JSON configuration.

The layout of the package glassllm (weights stored (in, out), interleaved rotary pairs) is read by the llama family.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import parse_json
from eigentoken.models.convention.errors import ModelError, brief
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import SourceFile, TensorInfo, TensorStore
from eigentoken.models.formats.renamed import Original, RenamedStore
from eigentoken.models.formats.safetensors_file import widen_bfloat16
from eigentoken.models.formats.torch_pickle import check_zip

CONFIG = "__config__"
MAX_CONFIG = 1 << 20
ERRORS = (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, MemoryError, RuntimeError)

GLASS_NAMES = {
    "norm1.gamma": "input_layernorm.weight",
    "norm2.gamma": "post_attention_layernorm.weight",
    "attn.W_Q": "self_attn.q_proj.weight",
    "attn.W_K": "self_attn.k_proj.weight",
    "attn.W_V": "self_attn.v_proj.weight",
    "attn.W_O": "self_attn.o_proj.weight",
    "ffn.W1": "mlp.gate_proj.weight",
    "ffn.W3": "mlp.up_proj.weight",
    "ffn.W2": "mlp.down_proj.weight",
}


class NpzStore(TensorStore):
    """The members of an archive; shapes come from the member headers, and each must have the size they imply."""

    format = "npz"

    def __init__(self, path: Path) -> None:
        check_zip(path)
        self.path = path
        self.where = str(path)
        self.files = (SourceFile(path, path.stat().st_size),)
        self.infos = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for item in archive.infolist():
                    name = item.filename.removesuffix(".npy")
                    with archive.open(item) as stream:
                        shape, dtype = _member_header(stream, item.file_size, f"{path}: {name[:80]!r}")
                    self.infos[name] = TensorInfo(name, shape, "bfloat16" if _is_bfloat16(dtype) else dtype.name)
        except ModelError:
            raise
        except ERRORS as error:
            raise ModelError(f"{path}: cannot be read as .npz ({brief(error)})") from None

    def read(self, name: str) -> Array:
        """The tensor, decompressed; its checksum is verified by the archive."""
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(f"{name}.npy") as stream:
                array = npy.read_array(stream, allow_pickle=False)
                if stream.read(1):
                    raise ModelError(f"{self.where}: bytes follow the tensor {name}: the file is damaged")
            return widen_bfloat16(array.view(np.uint16)) if _is_bfloat16(array.dtype) else np.array(array)
        except ModelError:
            raise
        except (*ERRORS, KeyError) as error:
            raise ModelError(f"{self.where}: the tensor {name} cannot be read ({brief(error)})") from None


def open_npz(path: Path) -> tuple[TensorStore, dict[str, Json] | None]:
    """The archive, and its configuration if it has one (else config.json beside it is used)."""
    store = NpzStore(path)
    config = _config(store)
    if config is not None and "model_type" not in config and {"rope_base", "n_kv_heads"} <= config.keys():
        return _glass(store, config)
    return store, config


def _is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Two bytes without a type: so numpy stores the bfloat16 of JAX (ml_dtypes), and no other number of two bytes."""
    return dtype.kind == "V" and dtype.itemsize == 2 and dtype.names is None


def _member_header(stream: IO[bytes], size: int, where: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ModelError(f"{where}: .npy version {version} is not supported")
    shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(stream)
    if dtype.hasobject:
        raise ModelError(f"{where} is a pickled object: expected plain numbers (nothing was executed)")
    count = 1
    for length in shape:
        count *= int(length)
    if count * dtype.itemsize + stream.tell() != size or min(shape, default=0) < 0:
        raise ModelError(f"{where}: {size} bytes do not fit shape {shape} of {dtype.name}: the file is damaged")
    return tuple(int(length) for length in shape), dtype


def _config(store: NpzStore) -> dict[str, Any] | None:
    info = store.infos.get(CONFIG)
    if info is None:
        return None
    array = store.read(CONFIG)
    if array.shape != () or array.dtype.kind not in "US" or array.nbytes > MAX_CONFIG:
        raise ModelError(f"{store.where}: {CONFIG} must be one string of JSON")
    value = array.item()
    config = parse_json(value, f"{store.where}: {CONFIG}")
    if not isinstance(config, dict):
        raise ModelError(f"{store.where}: {CONFIG} must be a JSON object, got {type(config).__name__}")
    return config


def _glass(store: NpzStore, config: dict[str, Any]) -> tuple[TensorStore, dict[str, Any]]:
    names = {}
    for old, info in store.infos.items():
        block = re.fullmatch(r"blocks\.(\d+)\.(.+)", old)
        if block and block[2] in GLASS_NAMES:
            new = f"model.layers.{block[1]}.{GLASS_NAMES[block[2]]}"
            names[new] = Original(old, transposed=len(info.shape) == 2)
    outer = {"E": "model.embed_tokens.weight", "norm_f.gamma": "model.norm.weight"}
    names |= {new: Original(old) for old, new in outer.items() if old in store.infos}
    gate = store.infos.get("blocks.0.ffn.W1")
    llama = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "tie_word_embeddings": True,
        "hidden_size": config.get("d_model"),
        "num_hidden_layers": config.get("n_layers"),
        "num_attention_heads": config.get("n_heads"),
        "num_key_value_heads": config.get("n_kv_heads"),
        "intermediate_size": gate.shape[-1] if gate is not None and gate.shape else None,
        "vocab_size": config.get("vocab_size"),
        "max_position_embeddings": config.get("max_len"),
        "rms_norm_eps": config.get("eps"),
        "rope_theta": config.get("rope_base"),
        "eigentoken_rope_interleaved": True,
        "hidden_act": "silu",
    }
    return RenamedStore(store, names), llama
