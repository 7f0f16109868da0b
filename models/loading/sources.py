"""From what a user names to a model: a path, ``sample:NAME``, a Hugging Face id, or an object in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import MAX_JSON_BYTES, parse_json, read_json_object
from eigentoken.models.convention.errors import ModelError, brief, some
from eigentoken.models.convention.tensors import TensorStore
from eigentoken.models.families.recognition import (
    adapter,
    complete_shards,
    elsewhere,
    mistaken_file,
    mistaken_folder,
    quantised,
    torch_encoder,
    unindexed,
    unmerged,
)
from eigentoken.models.formats.hooked import is_bridge, runs_its_own_weights
from eigentoken.models.formats.safetensors_file import SafetensorsStore
from eigentoken.models.formats.sharded import ShardedStore, member
from eigentoken.models.formats.torch_pickle import TorchPickleStore
from eigentoken.models.loading import samples
from eigentoken.models.loading.model import Model, build_model

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
FOLDER_FILES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""What a folder is searched for, in this order; then a single .safetensors, .gguf, .npz or .bin file."""


def load(
    source: object, *, config: Mapping[str, Json] | None = None, revision: str | None = None, part: str | None = None
) -> Model:
    """The model that ``source`` names; layers are read later, one at a time.

    ``source``: the path of a folder or file; ``sample:NAME``; a Hugging Face id (``org/name``, needs the extra
    ``hub``); a ``transformers`` model; a ``torch.nn.Module``; a model of TransformerLens or nnsight.  ``config``
    replaces the configuration found beside the weights.  ``revision`` of a hub id: a branch, tag or commit, also written
    ``org/name@revision``.  ``part``: the stack of a model that has several (``encoder``, ``decoder``; ``text``, ``vision``),
    also written ``MODEL#decoder``.  Raises ModelError, one line, for whatever cannot be used.
    """
    if isinstance(source, str) and (revision or part):
        return load(named(source, revision, part), config=config)
    if revision or (part and isinstance(source, Model)):
        raise ModelError("revision and part are of a source that is named, not of a model in memory")
    if isinstance(source, Model):
        return source
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if not isinstance(text, str) or "\0" in text or not text:
            raise ModelError("source must be a path, sample:NAME, a Hugging Face id or a model in memory")
        if text.startswith("sample:"):
            return open_path(samples.fetch(text.removeprefix("sample:")), text, config)
        path = Path(text).expanduser()
        if path.exists() or isinstance(source, os.PathLike):
            return open_path(path, text, config, part)
        if "#" in text:
            bare, _, stack = text.rpartition("#")
            return _with_part(bare, stack, text, config)
        name, _, wanted = text.partition("@")
        if HUB_ID.fullmatch(name) and path.suffix.lower() not in (".bin", ".gguf", ".npz", ".safetensors"):
            from eigentoken.models.loading.hub import snapshot

            return open_path(snapshot(name, wanted or None), text, config, part)
        raise ModelError(f"{text}: no such file or folder, and not sample:NAME or a Hugging Face id")
    from eigentoken.models.formats.in_memory import open_module

    store, found = open_module(source)
    chosen = dict(config) if config is not None else found
    made = build_model(store.where, chosen | ({"eigentoken_part": part} if part else {}), store, store.where)
    if is_bridge(source):
        _refuse_other_weights(made, source)
    return made


def _refuse_other_weights(model: Model, bridge: object) -> None:
    """Refuse a bridge that runs other weights than those of the model that it wraps, in the first or the last layer."""
    from numpy import concatenate

    for layer in (model.layer(0), model.layer(-1)):
        queries = concatenate([head.Q for head in layer.heads])
        if not runs_its_own_weights(bridge, queries, layer.output_matrix(), layer.index):
            raise ModelError(
                f"{model.source}: it runs other weights than the model that it wraps (compatibility mode folds and centres "
                "them): load it before enable_compatibility_mode(), or give the transformers model"
            )


def named(source: str, revision: str | None = None, part: str | None = None) -> str:
    """The one text for a source, a revision and a part of it, which worker processes and reports carry.

    >>> named("org/name", "step1000", "decoder")
    'org/name@step1000#decoder'
    """
    if revision and Path(source).expanduser().exists():
        raise ModelError(
            f"{source}: a revision is of a hub id, and this is a file or folder: leave it out; `eigentoken compare` takes the "
            "saved steps of a training as files or folders"
        )
    return source + (f"@{revision}" if revision else "") + (f"#{part}" if part else "")


def _with_part(bare: str, part: str, text: str, config: Mapping[str, Json] | None) -> Model:
    """The stack of a model that has several."""
    path = Path(bare).expanduser()
    if path.exists():
        return open_path(path, text, config, part)
    name, _, wanted = bare.partition("@")
    if HUB_ID.fullmatch(name) and not bare.startswith("sample:"):
        from eigentoken.models.loading.hub import snapshot

        return open_path(snapshot(name, wanted or None), text, config, part)
    whole = load(bare, config=config)
    return build_model(text, dict(whole.config) | {"eigentoken_part": part}, whole.store, whole.store.where)


def open_path(path: Path, source: str, config: Mapping[str, Any] | None = None, part: str | None = None) -> Model:
    """The model in a folder or file."""
    shards: list[str] = []
    try:
        if path.is_dir():
            path = _checkpoint_in(path)
            shards = complete_shards(entry.name for entry in path.parent.iterdir())
        elif not path.is_file():
            raise ModelError(f"{path}: no such file or folder")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({brief(error)})") from None
    store, found = (ShardedStore(path, shards), None) if path.name in shards else _open_file(path)
    where = str(path)
    if config is None and found is None:
        beside = path.parent / "config.json"
        if not os.path.lexists(beside):
            raise ModelError(_without_config(path, store))
        where = str(beside)
        config_file = member(path.parent, "config.json", str(path.parent))
        if what := mistaken_file(config_file):
            raise ModelError(f"{config_file}: {what}")
        found = read_json_object(config_file)
    chosen = dict(config) if config is not None else found or {}
    return build_model(source, chosen | ({"eigentoken_part": part} if part else {}), store, where)


def _without_config(path: Path, store: TensorStore) -> str:
    """Why there is no configuration: what the file is, where that can be seen, else what is missing."""
    beside = {entry.name for entry in path.parent.iterdir()}
    if "adapter_config.json" in beside and path.name.startswith("adapter_model"):
        return f"{path.parent}: {adapter(path.parent)}"
    what = unmerged(store.infos) or unindexed(path.name, beside) or quantised(store.infos)
    if what:
        return f"{path}: {what}"
    told = torch_encoder(store.infos) or (
        f"found tensors {some(sorted(store.infos), 3)}; write one with model_type (`eigentoken models` lists them) and the "
        "sizes, or add the family in thirty lines: docs/families.md"
    )
    return f"{path.parent}: config.json is missing: it says the family and sizes of {path.name}; {told}"


def _checkpoint_in(folder: Path) -> Path:
    for name in FOLDER_FILES:
        if os.path.lexists(folder / name):
            return member(folder, name, str(folder))
    names = sorted(entry.name for entry in folder.iterdir())
    if shards := complete_shards(names):
        return member(folder, shards[0], str(folder))
    if what := mistaken_folder(folder, names):
        raise ModelError(f"{folder}: {what}")
    if "modules.json" in names and (inner := _transformer_module(folder)) is not None:
        return _checkpoint_in(inner)
    for suffix in (".safetensors", ".gguf", ".npz", ".bin", ".pt", ".pth", ".ckpt"):
        fitting = [name for name in names if name.lower().endswith(suffix)]
        if len(fitting) == 1:
            return member(folder, fitting[0], str(folder))
        if fitting:
            raise ModelError(
                f"{folder}: several checkpoints ({some(fitting)}): name one of the files (`eigentoken compare` takes several)"
            )
    if what := elsewhere(folder, names):
        raise ModelError(f"{folder}: {what}")
    inside = some(names) if names else "nothing: the folder is empty"
    raise ModelError(
        f"{folder}: no checkpoint found; expected {', '.join(FOLDER_FILES)}, .gguf, .npz, .bin, .pt or .ckpt; "
        f"found {inside}"
    )


def _transformer_module(folder: Path) -> Path | None:
    """Older sentence-transformers keep the network in a subfolder, which modules.json names (``0_Transformer``)."""
    where = str(folder / "modules.json")
    listed = parse_json(member(folder, "modules.json", str(folder)).read_bytes()[:MAX_JSON_BYTES], where)
    for module in listed if isinstance(listed, list) else []:
        path, kind = (module.get(key) for key in ("path", "type")) if isinstance(module, dict) else (None, None)
        if isinstance(path, str) and isinstance(kind, str) and kind.endswith(".Transformer") and path:
            if path in (".", "..") or any(mark in path for mark in ("/", "\\", "\0", ":")):
                raise ModelError(f"{where}: the module path {path[:80]!r} points outside the folder")
            inner = folder / path
            if inner.is_symlink() or not inner.is_dir():
                raise ModelError(f"{where}: the folder {path[:80]!r} of the network is missing")
            if (inner / "modules.json").exists():
                raise ModelError(f"{where}: {path[:80]!r} has modules of its own: name the folder with the weights")
            return inner
    return None


def _open_file(path: Path) -> tuple[TensorStore, dict[str, Any] | None]:
    """The tensors of a file, and the configuration if the format carries one."""
    name = path.name.lower()
    if what := mistaken_file(path):
        raise ModelError(f"{path}: {what}")
    if name.endswith(".index.json"):
        return ShardedStore(path), None
    if name.endswith(".safetensors"):
        return SafetensorsStore(path), None
    with path.open("rb") as stream:
        head = stream.read(4)
    if name.endswith(".gguf") or head == b"GGUF":
        from eigentoken.models.formats.gguf_file import open_gguf

        return open_gguf(path)
    if name.endswith(".npz"):
        from eigentoken.models.formats.npz import open_npz

        return open_npz(path)
    if head[:2] == b"PK" or head[:1] == b"\x80":
        return TorchPickleStore(path), None
    if name.endswith(".bin"):
        from eigentoken.models.formats.llama2c import open_llama2c

        return open_llama2c(path)
    raise ModelError(f"{path}: not a known checkpoint format (safetensors, torch .bin, GGUF, llama2.c .bin, .npz)")
