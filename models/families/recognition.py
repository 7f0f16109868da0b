"""What a file or folder is when it is not a checkpoint that can be read: named, with what to do about it.

A Git-LFS pointer, a web page saved under the name of a weight file, an adapter without its base model, one shard of several and
quantised integers all end in noise when they are read as what their name says.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from eigentoken.files.documents import DocumentError, read_json
from eigentoken.models.convention.errors import some
from eigentoken.models.convention.tensors import TensorInfo

SHARD = re.compile(r"(?P<stem>.+)-(?P<index>\d{3,6})-of-(?P<total>\d{3,6})(?P<suffix>\.safetensors|\.bin|\.gguf)", re.I)
LFS = b"version https://git-lfs.github.com/spec/"
UNFINISHED = (".incomplete", ".part", ".partial", ".crdownload", ".aria2", ".download")
#: how other kinds of files begin, and what to do with them
BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (
        b"\x89HDF",
        "an HDF5 file (Keras or TensorFlow): convert it with transformers below 5: from_pretrained(FOLDER, from_tf=True), then "
        "save_pretrained(FOLDER)",
    ),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"BZh", "a bzip2 archive: unpack it first"),
    (b"\xfd7zXZ", "an xz archive: unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive: unpack it first"),
    (b"\x93NUMPY", "one numpy array: a checkpoint has named tensors (.npz)"),
    (b"%PDF", "a PDF document: give a checkpoint"),
)
ONNX = "an ONNX graph, whose matrices have lost their names: take the PyTorch or safetensors weights that it was exported from"
#: weights of other programs, by how their names end, and what to do with them
OF_OTHERS = {
    ".h5": "a TensorFlow or Keras file: convert it with transformers below 5: from_pretrained(FOLDER, from_tf=True), then "
    "save_pretrained(FOLDER)",
    ".msgpack": "a Flax file: convert it with transformers below 5: from_pretrained(FOLDER, from_flax=True), then "
    "save_pretrained(FOLDER)",
    ".onnx": ONNX,
    ".distcp": "a part of a distributed checkpoint: join the parts first, "
    "python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER FILE.pt",
    ".index": "a TensorFlow checkpoint: convert it with the script of its model in transformers",
}
MERGE = "merge it first: PeftModel.from_pretrained(BASE, ADAPTER).merge_and_unload().save_pretrained(FOLDER), then check FOLDER"


#: Sequence models without self-attention, by what their layers do instead.
WITHOUT_ATTENTION = {
    "a state-space model": ("mamba", "mamba2", "falcon_mamba", "codestral_mamba"),
    "a recurrent model": ("rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm", "hgrn", "retnet"),
    "a model that mixes tokens by Fourier transforms": ("fnet",),
    "a convolutional model": (
        "resnet",
        "convnext",
        "convnextv2",
        "efficientnet",
        "mobilenet_v1",
        "mobilenet_v2",
        "regnet",
    ),
}
#: Layers of several kinds: only some of them attend.
HYBRIDS = (
    "jamba",
    "zamba",
    "zamba2",
    "bamba",
    "recurrent_gemma",
    "granitemoehybrid",
    "nemotron_h",
    "falcon_h1",
    "lfm2",
)


def no_self_attention(model_type: str) -> str | None:
    """Why a model of this type is about none of the statements, or is not read whole; None where it may attend in every layer."""
    for what, types in WITHOUT_ATTENTION.items():
        if model_type in types:
            return f"{model_type} is {what}: its layers have no self-attention, and every statement here is about self-attention"
    if model_type in HYBRIDS:
        return f"{model_type} is a hybrid: some of its layers are no self-attention, and a reading of the others is not there"
    return None


def nearest(model_type: object, known: Iterable[str]) -> str:
    """The supported types whose names are closest."""
    if not isinstance(model_type, str):
        return "a config.json has a model_type"
    found = difflib.get_close_matches(model_type, list(known), n=3, cutoff=0.5)
    return f"nearest by name: {', '.join(found)}" if found else "none is near by name"


def mistaken_file(path: Path) -> str | None:
    """What the file is instead of a checkpoint, with what to do; None where it may be one."""
    with path.open("rb") as stream:
        head = stream.read(1024)
    if not head:
        return "an empty file: download it again"
    if path.suffix.lower() in UNFINISHED:
        return "an unfinished download: let it finish, or start it again"
    if path.suffix.lower() == ".onnx":
        return ONNX
    if head.startswith(LFS):
        size = re.search(rb"^size (\d{1,18})$", head, re.M)
        true = f" (the file itself has {int(size[1])} bytes)" if size else ""
        return (
            f"a Git-LFS pointer, not the weights{true}: run `git lfs pull` in its folder, or download the file itself"
        )
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html", b"<head", b"<!-- ", b"<?xml")):
        return (
            "a web page saved under this name (often a login or an error page): download the file itself "
            "(on the hub the address has /resolve/, not /blob/)"
        )
    if text.startswith(b"{") and (b'"error"' in text or b'"message"' in text) and path.suffix.lower() != ".json":
        return "an error message of a server in JSON: download the file again, with the access that it needs"
    return next((what for begin, what in BEGINNINGS if head.startswith(begin)), None)


def mistaken_folder(folder: Path, names: Iterable[str]) -> str | None:
    """What the folder is instead of a checkpoint: an adapter, or shards without their index."""
    listed = set(names)
    if listed & {"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"}:
        return adapter(folder)
    shards = sorted(name for name in listed if SHARD.fullmatch(name))
    return unindexed(shards[0], listed) if shards else None


def elsewhere(folder: Path, names: Iterable[str]) -> str | None:
    """Where no checkpoint is: weights of another program, or folders below that have one."""
    listed = sorted(names)
    for name in listed:
        if what := OF_OTHERS.get(Path(name).suffix.lower()):
            return f"{name} is {what}"
    below = [
        name for name in listed if (folder / name).is_dir() and not name.startswith(".") and _has_weights(folder / name)
    ]
    return f"the weights are in a folder of it: name {some(below)}" if below else None


def _has_weights(folder: Path) -> bool:
    try:
        return any(
            entry.suffix.lower() in (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf")
            for entry in folder.iterdir()
        )
    except OSError:
        return False


def adapter(folder: Path) -> str:
    """A LoRA or PEFT adapter, with the name of its base model where it says one."""
    kind, base = "PEFT", ""
    try:
        said = read_json(folder / "adapter_config.json", largest=1 << 20)
        if isinstance(said, dict):
            kind = str(said.get("peft_type") or kind)[:20]
            name = said.get("base_model_name_or_path")
            base = f" of {name[:80]!r}" if isinstance(name, str) and name else ""
    except DocumentError:
        pass  # it is an adapter all the same
    return f"a {kind} adapter{base}, not a model: it has the difference to a base model only; {MERGE}"


def complete_shards(names: Iterable[str]) -> list[str]:
    """The shards of a checkpoint without its index, in order, where all of them are here and no others; else none.

    >>> complete_shards(["model-00002-of-00002.safetensors", "config.json", "model-00001-of-00002.safetensors"])
    ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
    >>> complete_shards(["model-00002-of-00002.safetensors"])
    []
    """
    found = sorted(name for name in names if SHARD.fullmatch(name) and not name.lower().endswith(".gguf"))
    parts = [match for name in found if (match := SHARD.fullmatch(name))]
    same = {(part["stem"], part["total"], part["suffix"]) for part in parts}
    whole = len(same) == 1 and [int(part["index"]) for part in parts] == list(range(1, int(parts[0]["total"]) + 1))
    return found if whole else []


def unindexed(name: str, beside: Iterable[str]) -> str | None:
    """A shard: which others are here, and which index is missing; None for a file that is no shard."""
    found = SHARD.fullmatch(name)
    if found is None:
        return None
    stem, total, suffix = found["stem"], int(found["total"]), found["suffix"]
    here = {
        int(other["index"])
        for each in beside
        if (other := SHARD.fullmatch(each)) and other["stem"] == stem and int(other["total"]) == total
    }
    if suffix.lower() == ".gguf":
        return f"one of {total} shards of a GGUF file: merge them first (llama-gguf-split --merge)"
    index = f"{stem}{suffix}.index.json"
    if index in set(beside):
        return f"one of {total} shards: name its folder, whose {index} says where each tensor is"
    lacking = [number for number in range(1, min(total, 1000) + 1) if number not in here]
    verb = f"shard {lacking[0]} is" if len(lacking) == 1 else f"shards {some(lacking)} are"
    state = f"{verb} missing too" if lacking else "all shards are here"
    return (
        f"one of {total} shards of a checkpoint without its index {index} ({state}): put the index and all shards in one "
        "folder and name the folder"
    )


def unmerged(names: Iterable[str]) -> str | None:
    """Tensors of an adapter inside a checkpoint: read without them, the layers would be other ones than the model's."""
    listed = list(names)
    parts = [
        name
        for name in listed
        if re.search(r"(^|\.)(lora_(A|B|E|embedding_A|magnitude_vector)|base_layer)(\.|$)", name)
    ]
    if not parts:
        return None
    whole = any(".base_layer." in name for name in parts) or len(parts) < len(listed)
    what = "an unmerged PEFT model" if whole else "a LoRA adapter without its base model"
    return f"{what} (tensors {some(sorted(parts), 2)}): {MERGE}"


def quantised(infos: Mapping[str, TensorInfo]) -> str | None:
    """Weights as integers with scales beside them: which scheme, and how to get floats."""
    endings = {name.rpartition(".")[2] for name in infos}
    small = {
        name: info.dtype
        for name, info in infos.items()
        if len(info.shape) == 2 and info.dtype.startswith(("int8", "uint8", "int4", "float8"))
    }
    if {"qweight", "qzeros"} <= endings:
        scheme = f"{'GPTQ' if 'g_idx' in endings else 'AWQ or GPTQ'} (qweight, qzeros, scales)"
    elif any("quant_state" in name or name.endswith(("absmax", "quant_map")) for name in infos):
        scheme = "bitsandbytes, 4 bits (absmax, quant_map)"
    elif small and endings & {"SCB", "weight_format"}:
        scheme = "bitsandbytes, 8 bits (SCB)"
    elif small:
        first, kind = next(iter(small.items()))
        scales = sorted(ending for ending in endings if "scale" in ending)
        scheme = f"{len(small)} {kind} {'matrix' if len(small) == 1 else 'matrices'}, e.g. {first[:80]}"
        scheme += f", scales in {some(scales, 3)}" if scales else ""
    else:
        return None
    return (
        f"a quantised checkpoint: {scheme}; these numbers are not the weights: take the unquantised original or a GGUF file, "
        "or load it with transformers, call model.dequantize() and save_pretrained(FOLDER)"
    )


def torch_encoder(infos: Mapping[str, TensorInfo]) -> str | None:
    """What to write where the tensors are those of a ``torch.nn.TransformerEncoder``: sizes that can be seen, and the rest."""
    places = sorted(name for name in infos if name.endswith(".self_attn.in_proj_weight"))
    stems = sorted({re.sub(r"layers\.\d+\.$", "", name.removesuffix("self_attn.in_proj_weight")) for name in places})
    for stem in stems:
        layers = [name for name in places if re.fullmatch(re.escape(stem) + r"(layers\.\d+\.)?self_attn.*", name)]
        first = layers[0].removesuffix("self_attn.in_proj_weight")
        inner = infos.get(f"{first}linear1.weight")
        if inner is None or len(infos[layers[0]].shape) != 2:
            continue
        known = {"model_type": "torch-encoder", "hidden_size": infos[layers[0]].shape[1]}
        known |= {"num_hidden_layers": len(layers), "intermediate_size": inner.shape[0]}
        known |= {"prefix": stem} if len(stems) > 1 else {}
        text = (
            json.dumps(known)[:-1]
            + ', "num_attention_heads": HEADS, "norm_first": false, "hidden_act": "relu", "causal": false}'
        )
        return (
            f"the names are those of torch.nn.TransformerEncoder: put the file into a folder with this config.json, with what "
            f"the program says that made it (heads, norm_first, relu or gelu, a causal mask): {text}"
        )
    return fairseq_roberta(infos)


def fairseq_roberta(infos: Mapping[str, TensorInfo]) -> str | None:
    """What to write where the tensors are those of fairseq's RoBERTa: the sizes that can be seen, and the heads."""
    stems = [
        name.removesuffix("layers.0.fc1.weight")
        for name in infos
        if name.endswith(".sentence_encoder.layers.0.fc1.weight")
    ]
    if len(stems) != 1 or f"{stems[0]}embed_tokens.weight" not in infos:
        return None
    (inner, width), (rows, _) = (
        infos[f"{stems[0]}layers.0.fc1.weight"].shape,
        infos[f"{stems[0]}embed_tokens.weight"].shape,
    )
    layers = sum(1 for name in infos if name.startswith(f"{stems[0]}layers.") and name.endswith(".fc1.weight"))
    known = {"model_type": "fairseq-roberta", "hidden_size": width, "num_hidden_layers": layers}
    text = json.dumps(known | {"intermediate_size": inner, "vocab_size": rows})[:-1] + ', "num_attention_heads": HEADS}'
    return (
        "the names are those of RoBERTa in fairseq: put the file into a folder with this config.json, with the heads that it was "
        f"trained with (encoder_attention_heads): {text}"
    )
