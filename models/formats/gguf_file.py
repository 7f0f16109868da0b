"""GGUF files of the architectures in the table, dequantised block by block as the ``gguf`` package specifies.

The llama architecture stores Q and K for rotary pairs (2k, 2k+1): the rows are kept as they are in the file and the
rotary encoding says ``interleaved``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.errors import ModelError, brief, some
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import SourceFile, TensorInfo, TensorStore
from eigentoken.models.formats.gguf_architectures import (
    ARCHITECTURES,
    CLIP_TOWER,
    MIXTRAL,
    OF_WHISPER,
    SIGLIP_TOWER,
    SOUND_TOWER,
    Architecture,
    why_not,
)
from eigentoken.models.formats.gguf_header import GgufTensor, read_gguf_header
from eigentoken.models.formats.gguf_names import swapped_tower_name
from eigentoken.models.formats.renamed import Made, Original, RenamedStore
from eigentoken.models.formats.safetensors_file import widen_bfloat16


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
        blocks = len(raw) // gguf.GGML_QUANT_SIZES[kind][1]
        with np.errstate(all="ignore"):
            values = gguf.quants.dequantize(np.asarray(raw).reshape(_pieces(blocks), -1), kind)
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


#: Blocks that are dequantised at once: the library goes on by sixteen rows, which is slow where rows are short.
TOGETHER = 32768


def _pieces(blocks: int) -> int:
    """Into how many equal rows the blocks of a tensor are laid out, sixteen of which have about :data:`TOGETHER` blocks.

    >>> _pieces(100), _pieces(2**20), _pieces(3 * 2**19)
    (1, 512, 768)
    """
    return next(count for count in range(max(1, 16 * blocks // TOGETHER), 0, -1) if blocks % count == 0)


def open_gguf(path: Path) -> tuple[TensorStore, dict[str, Json]]:
    """The file under the names of its family, with the configuration that its key-value pairs give."""
    store = GgufStore(path)
    values = store.values
    architecture = values.get("general.architecture")
    if not isinstance(architecture, str) or architecture not in (*ARCHITECTURES, TOWERS):
        reason = why_not(architecture) if isinstance(architecture, str) else None
        if reason is not None:
            raise ModelError(f"{path}: {reason}")
        raise ModelError(
            f"{path}: no supported family: found GGUF architecture {str(architecture)[:60]!r}, tensors "
            f"{some(sorted(store.infos), 3)}; supported in GGUF: {', '.join((*ARCHITECTURES, TOWERS))}"
        )
    parts = values.get("split.count")
    if isinstance(parts, int) and parts > 1:
        raise ModelError(f"{path}: one of {parts} parts of a split GGUF: merge them first (llama-gguf-split --merge)")
    known = _tower(path, store) if architecture == TOWERS else known_architecture(path, values, architecture)
    config = configuration(path, store, architecture, known)
    names = {
        new: Original(old, _is_transposed(old, known))
        for old in store.infos
        if (new := family_name(old, known, frozenset(store.infos)))
    }
    return RenamedStore(store, names, _latent_maps(store, known)), config


#: The architecture of ``mmproj`` files: a tower beside a language model that is in another file.
TOWERS = "clip"
#: Parts of towers that are neither CLIP's nor SigLIP's: fused or normed queries and keys, gates, gains of the updates.
OTHER_TOWERS = ("attn_qkv.weight", "attn_q_norm.weight", "ffn_gate.weight", "ls1.weight", "attn_post_norm.weight")


def _tower(path: Path, store: GgufStore) -> Architecture:
    """CLIP's or SigLIP's vision tower, or Whisper's encoder, by what the file has.

    The older order of the feed-forward of a vision tower is seen by its shapes.
    """
    sound = store.values.get("clip.projector_type") or store.values.get("clip.audio.projector_type")
    if "a.blk.0.attn_q.weight" in store.infos and not any(name.startswith("v.blk.") for name in store.infos):
        if sound in OF_WHISPER:
            return SOUND_TOWER
        raise ModelError(
            f"{path}: the file of a projector {str(sound)[:60]!r} has an encoder of sound that is not known to be Whisper's: "
            f"read are {', '.join(OF_WHISPER)}"
        )
    names, kind = store.infos, store.values.get("clip.projector_type") or store.values.get("clip.vision.projector_type")
    projector = f"the file of a projector {str(kind)[:60]!r}"
    if "v.blk.0.attn_q.weight" not in names and not any(name.startswith("v.blk.0.") for name in names):
        raise ModelError(f"{path}: {projector} has no vision tower (no v.blk tensors): expected CLIP's or SigLIP's")
    others = [part for part in OTHER_TOWERS if f"v.blk.0.{part}" in names]
    if others or "v.position_embd.weight" not in names:
        what = f"v.blk.0.{others[0]}" if others else "no v.position_embd"
        raise ModelError(
            f"{path}: {projector} has a tower that is neither CLIP's nor SigLIP's ({what}): not read in GGUF"
        )
    known = CLIP_TOWER if "v.class_embd" in names else SIGLIP_TOWER
    first = names.get("v.blk.0.ffn_down.weight")
    swapped = first is not None and first.shape[1] == store.values.get("clip.vision.embedding_length")
    return replace(known, rename=swapped_tower_name) if swapped else known


def known_architecture(path: Path, values: Mapping[str, object], name: str) -> Architecture:
    """The entry of the table; experts where none are expected are refused, and those of ``llama`` are Mixtral's."""
    known = ARCHITECTURES[name]
    experts = values.get(f"{name}.expert_count")
    if not isinstance(experts, int) or experts < 1 or known.mixture:
        return known
    if name == "llama":
        return MIXTRAL
    raise ModelError(f"{path}: a mixture of {experts} experts is not supported in {name}: expected dense layers")


def _latent_maps(store: GgufStore, known: Architecture) -> dict[str, Made]:
    """DeepSeek's map of the latent to keys and values, put together again where the file has it in two.

    The file has the keys' part turned, (head, rank, width), and the values' part as it was, (head, width, rank).
    """
    made = {}
    for name, info in store.infos.items():
        found = re.fullmatch(r"blk\.(\d+)\.attn_k_b\.weight", name)
        other = store.infos.get(f"blk.{found[1]}.attn_v_b.weight") if found else None
        if not found or other is None or "attn_kv_b" not in known.block or len(info.shape) != 3:
            continue
        heads, rank, wide = info.shape
        if len(other.shape) != 3 or (other.shape[0], other.shape[2]) != (heads, rank):
            raise ModelError(f"{store.where}: {name} is {info.shape} and {other.name} {other.shape}: damaged file")
        new = f"{known.layer}{found[1]}.{known.block['attn_kv_b']}.weight"
        shape = (heads * (wide + other.shape[1]), rank)
        made[new] = Made((name, other.name), TensorInfo(new, shape, info.dtype), _keys_and_values)
    return made


def _keys_and_values(keys: Array, values: Array) -> Array:
    whole: Array = np.concatenate([keys.swapaxes(1, 2), values], axis=1)
    return whole.reshape(-1, whole.shape[-1])


def configuration(path: Path, store: GgufStore, architecture: str, known: Architecture) -> dict[str, Json]:
    """What the key-value pairs say, under the names of a ``config.json``."""

    def get(key: str) -> Any:
        sense = "audio" if known is SOUND_TOWER else "vision"
        found = store.values.get(f"{architecture}.{sense}.{key}") if architecture == TOWERS else None
        return store.values.get(f"{architecture}.{key}") if found is None else found

    config: dict[str, Any] = {
        "model_type": known.model_type,
        "architectures": [ARCHITECTURE_CLASSES.get(architecture)],
        "tie_word_embeddings": "output.weight" not in store.infos,
        "hidden_size": get("embedding_length"),
        "num_hidden_layers": get("block_count"),
        "num_attention_heads": get("attention.head_count"),
        "num_key_value_heads": get("attention.head_count_kv") or get("attention.head_count"),
        "head_dim": get("attention.key_length"),
        "intermediate_size": get("feed_forward_length"),
        "rms_norm_eps": get("attention.layer_norm_rms_epsilon"),
        "layer_norm_eps": get("attention.layer_norm_epsilon"),
        "layer_norm_epsilon": get("attention.layer_norm_epsilon"),
        "max_position_embeddings": get("context_length"),
        "sliding_window": get("attention.sliding_window"),
        "rope_theta": get("rope.freq_base"),
        "eigentoken_rope_dims": get("rope.dimension_count"),
        "eigentoken_rope_interleaved": known.interleaved,
        "hidden_act": "silu" if architecture in ARCHITECTURE_CLASSES else None,
        **known.config,
    }
    for name, key in {"token_embd": "vocab_size", "token_types": "type_vocab_size"}.items():
        if f"{name}.weight" in store.infos:
            config[key] = store.infos[f"{name}.weight"].shape[0]
    if "position_embd.weight" in store.infos:
        config["max_position_embeddings"] = store.infos["position_embd.weight"].shape[0]
    scaling = get("rope.scaling.type")
    if scaling not in (None, "none"):
        length = get("rope.scaling.original_context_length")
        config["rope_scaling"] = {"rope_type": scaling, "factor": get("rope.scaling.factor")}
        config["rope_scaling"] |= {} if length is None else {"original_max_position_embeddings": length}
        if scaling == "yarn" and get("rope.scaling.attn_factor") not in (None, 1.0):
            raise ModelError(f"{path}: rope.scaling.attn_factor beside yarn is not supported")
    if "rope_freqs.weight" in store.infos:
        divisors = np.asarray(store.read("rope_freqs.weight"), dtype=np.float64).ravel()
        config |= {"rope_scaling": {"rope_type": "divisors"}, "eigentoken_rope_divisors": divisors.tolist()}
    config |= known.more(get, frozenset(store.infos))
    said = {key: value for key, value in config.items() if value not in (None, [None])}
    return dict.fromkeys(("head_dim", *known.absent)) | said  # a head without a width of its own has d / heads


ARCHITECTURE_CLASSES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}
"""Written to the configuration of an edited copy, so that transformers loads it."""


def family_name(
    name: str, known: Architecture = ARCHITECTURES["llama"], names: frozenset[str] = frozenset()
) -> str | None:
    """The name in its family of a GGUF tensor, or None.

    >>> family_name("blk.3.attn_q.weight")
    'model.layers.3.self_attn.q_proj.weight'
    """
    if known.rename is not None:
        return known.rename(name, names)
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name)
    if block and block[2] in known.block:
        two_norms = block[2] == "attn_norm" and f"blk.{block[1]}.attn_norm_2.weight" in names
        part = "ln_mlp" if two_norms else known.block[block[2]]  # of Falcon's two norms this is the feed-forward's
        return f"{known.layer}{block[1]}.{part}" + ("" if block[2] in known.bare else f".{block[3]}")
    stem, _, kind = name.rpartition(".")
    return f"{known.outer[stem]}.{kind}" if stem in known.outer else None


def _is_transposed(name: str, known: Architecture) -> bool:
    return name.endswith(".weight") and any(f".{part}." in name for part in known.transposed)


def _label(name: str) -> str:
    return {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}.get(name, name)


def _package(path: Path) -> Any:
    try:
        import gguf
    except ImportError:
        raise ModelError(f"{path}: reading GGUF needs the package gguf: pip install 'eigentoken[gguf]'") from None
    return gguf
