"""Checkpoints in several files: an index maps each tensor to one shard in the same folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eigentoken.models.convention.configuration import read_json_object
from eigentoken.models.convention.errors import ModelError, some
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorStore
from eigentoken.models.formats.safetensors_file import SafetensorsStore
from eigentoken.models.formats.torch_pickle import TorchPickleStore


class ShardedStore(TensorStore):
    """The shards of an index as one store.  Only headers are open; each tensor is read from its own shard.

    ``names``: those of all files of a checkpoint that has lost its index; every tensor is then in the file that has it.
    """

    def __init__(self, index: Path, names: Sequence[str] = ()) -> None:
        self.where = str(index.parent if names else index)
        opener = SafetensorsStore if ".safetensors" in index.name else TorchPickleStore
        shards: dict[str, TensorStore] = {name: opener(member(index.parent, name, str(index))) for name in names}
        weight_map: object = {tensor: name for name, store in shards.items() for tensor in store.infos}
        if not names:
            weight_map = read_json_object(index).get("weight_map")
        if not isinstance(weight_map, dict) or not weight_map:
            raise ModelError(f"{index}: expected an object weight_map (tensor name to shard file)")
        for name in weight_map.values():
            if not isinstance(name, str):
                raise ModelError(f"{index}: shard names must be strings, got {type(name).__name__}")
            if name not in shards:
                shards[name] = opener(member(index.parent, name, str(index)))
        self._no_duplicates(shards)
        for tensor, shard in weight_map.items():
            if tensor not in shards[shard].infos:
                raise ModelError(f"{index}: the tensor {tensor} is not in its shard {shard}")
        self.shards = shards
        self.home = {tensor: shards[shard] for tensor, shard in weight_map.items()}
        self.format = f"{opener.format}, {len(shards)} shards"
        self.infos = {tensor: self.home[tensor].infos[tensor] for tensor in weight_map}
        self.files = tuple(file for store in shards.values() for file in store.files)

    def read(self, name: str) -> Array:
        """The tensor, from its shard."""
        return self.home[name].read(name)

    def release(self) -> None:
        """Release every shard."""
        for store in self.shards.values():
            store.release()

    def _no_duplicates(self, shards: dict[str, TensorStore]) -> None:
        seen: dict[str, str] = {}
        for shard, store in shards.items():
            twice = [name for name in store.infos if name in seen]
            if twice:
                raise ModelError(
                    f"{self.where}: {some(twice)} in both {seen[twice[0]]} and {shard} (duplicate tensors)"
                )
            seen.update(dict.fromkeys(store.infos, shard))


def member(folder: Path, name: str, where: str) -> Path:
    """The file ``name`` of a checkpoint folder; names and links that lead out of the folder are refused.

    Links into the ``blobs`` of the same Hugging Face cache entry are followed: that is how the cache is laid out.
    """
    plain = name and name not in (".", "..") and not any(mark in name for mark in ("/", "\\", "\0", ":"))
    if not plain:
        raise ModelError(f"{where}: the file name {name[:80]!r} points outside the folder: expected a plain file name")
    try:
        home, path = folder.resolve(), (folder / name).resolve()
        exists = path.is_file()
    except (OSError, RuntimeError) as error:
        raise ModelError(f"{where}: {name[:80]!r} cannot be resolved ({type(error).__name__})") from None
    blobs = home.parent.parent / "blobs"
    in_cache = home.parent.name == "snapshots" and path.parent == blobs
    if path.parent != home and not in_cache:
        raise ModelError(f"{where}: {name!r} is a link that leads outside the folder: copy the file into it")
    if not exists:
        raise ModelError(f"{where}: the file {name!r} is missing from {folder}")
    return folder / name
