"""Write an edited copy of a checkpoint: a new folder with safetensors and config.json; the original is never touched.

Tensors that are not edited keep their bytes.  An edited one is rounded once to its stored dtype, and the rounded
matrix is returned, so that whatever is claimed of the edit is claimed of the numbers in the file.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.files.writing import sync_tree
from eigentoken.models.convention.errors import ModelError, brief
from eigentoken.models.convention.head_and_layer import Layer
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorStore
from eigentoken.models.formats.renamed import RenamedStore
from eigentoken.models.formats.safetensors_file import DTYPES, SafetensorsStore, widen_bfloat16
from eigentoken.models.formats.scaled import LABEL
from eigentoken.models.formats.sharded import ShardedStore
from eigentoken.models.loading.model import Model
from eigentoken.models.loading.rows import Letter, stacked, with_rows
from eigentoken.models.loading.undone import Change, as_stored, check_whole, configuration_of_copy

MAX_COMPANION = 64 << 20
CODES = {label: code for code, (label, _, _) in DTYPES.items()}


@dataclass(frozen=True, eq=False)
class EditedCheckpoint:
    """Where the copy is, what was changed, and the output matrices [O_1 ... O_H] as they now stand in the file.

    A layer whose rows alone were changed has its output matrix as it was.
    """

    folder: Path
    tensors: tuple[str, ...]
    layers: tuple[int, ...]
    output_matrices: Mapping[int, Array]


def new_folder(destination: str | os.PathLike[str]) -> Path:
    """The folder of an edited checkpoint, which is not there yet: asked before the work as well as before the writing."""
    folder = Path(destination)
    if os.path.lexists(folder):
        raise ModelError(f"{folder}: exists already: an edited checkpoint goes to a new folder, never over another")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent)).rmdir()
    except OSError as error:
        raise ModelError(f"{folder}: cannot be created ({brief(error)})") from None
    return folder


def save_edited(
    model: Model,
    destination: str | os.PathLike[str],
    outputs: Mapping[int, Array],
    rows: Mapping[int, Mapping[Letter, Array]] | None = None,
) -> EditedCheckpoint:
    """A copy of ``model`` in the new folder ``destination`` with other output matrices.

    ``outputs``: layer index to the whole output matrix W_O = [O_1 ... O_H], shape (d, H d_head), in our convention;
    ``rows``: to other queries, keys or values, those of all heads below one another (:mod:`.rows`).
    Layers that share the stored tensor (ALBERT) change together; ``layers`` of the result lists all of them.
    The folder appears only when it is complete.
    """
    folder = new_folder(destination)
    check_whole(model)
    edits, written = _edits(model, outputs)
    for index, letters in (rows or {}).items():
        edits |= _edited_rows(model, index, letters, edits)
        written.setdefault(model.architecture.weights_of(index), model.layer(index).output_matrix())
    first = {model.architecture.weights_of(index) for index in written}
    changed = tuple(index for index in range(model.n_layers) if model.architecture.weights_of(index) in first)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise ModelError(f"{folder}: cannot be created ({brief(error)})") from None
    try:
        _write_all(model, work, edits)
        work.chmod(0o755)
        sync_tree(work)
        work.rename(folder)
    except OSError as error:
        raise ModelError(f"{folder}: cannot be written ({brief(error)})") from None
    finally:
        if work.exists():
            shutil.rmtree(work, ignore_errors=True)
    return EditedCheckpoint(folder, tuple(edits), changed, written)


def source_of_copy(model: Model, folder: str | os.PathLike[str]) -> str:
    """What an edited copy is opened by: the stack that was edited, where the model has several.

    The configuration of a copy is that of the whole model; without its part the first stack would be read.
    """
    part = model.config.get("eigentoken_part")
    return f"{os.fspath(folder)}#{part}" if part else os.fspath(folder)


def tensors_that_differ(model: Model, copy: Model) -> list[str]:
    """The names of the tensors of an edited copy that are not, number by number, those of the model; missing ones, too."""
    undo, found = as_stored(model), []
    for name in model.store.infos:
        if _code(model.store, name) is None:
            continue  # such a tensor is not written
        if name not in copy.store.infos:
            found.append(name)
            continue
        array = model.store.read(name)
        other = copy.store.read(name)
        if not np.array_equal(undo(name, array), other, equal_nan=True):
            found.append(name)
        model.store.release()
        copy.store.release()
    return sorted([*found, *(set(copy.store.infos) - set(model.store.infos))])


def round_to_stored(values: Array, dtype: str) -> Array:
    """``values`` rounded to nearest in the stored dtype; bfloat16 comes back as float32 of the rounded value.

    >>> round_to_stored(np.array([1.00390626]), "bfloat16")
    array([1.0078125], dtype=float32)
    """
    if dtype == "bfloat16":
        return widen_bfloat16(_bfloat16_bits(values))
    if dtype.startswith(LABEL):  # a copy has the products, in float64
        return np.asarray(values, dtype=np.float64)
    target = {"float16": np.float16, "float32": np.float32, "float64": np.float64}.get(dtype, np.float32)
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(target)


def _bfloat16_bits(values: Array) -> Array:
    """Round to nearest even, from float64 in one step: the float32 between is made sticky (round to odd)."""
    x = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        near = x.astype(np.float32)
    bits = near.view(np.uint32).astype(np.int64)
    exact = near.astype(np.float64) == x
    too_big = np.abs(near.astype(np.float64)) > np.abs(x)
    odd = np.where(exact, bits, np.where(too_big, bits - 1, bits) | 1)
    rounded = (odd + 0x7FFF + ((odd >> 16) & 1)) >> 16
    return np.asarray(rounded.astype(np.uint16))


def _edits(model: Model, outputs: Mapping[int, Array]) -> tuple[dict[str, Array], dict[int, Array]]:
    edits: dict[str, Array] = {}
    written: dict[int, Array] = {}
    for index, W_O in outputs.items():
        layer: Layer = model.layer(index)
        old = layer.output_matrix()
        new = np.asarray(W_O)
        if new.shape != old.shape or new.dtype.kind != "f" or not np.isfinite(new).all():
            raise ModelError(
                f"the output matrix of layer {index} must be finite floats of shape {old.shape}, "
                f"got {new.dtype} {new.shape}"
            )
        name = layer.output_stored.name
        if name in edits:
            raise ModelError(f"layer {index} shares its output matrix with another edited layer: edit one of them")
        stored = round_to_stored(new, model.store.infos[name].dtype)
        if not np.isfinite(stored).all():
            raise ModelError(
                f"the output matrix of layer {index} overflows {model.store.infos[name].dtype}: scale the edit"
            )
        edits[name] = stored.T if layer.output_stored.transposed else stored
        written[layer.index] = stored
    return edits, written


def _edited_rows(
    model: Model, index: int, letters: Mapping[Letter, Array], edits: Mapping[str, Array]
) -> dict[str, Array]:
    """The tensors that hold these rows, with other numbers there, rounded to what is stored."""
    for letter, wanted in letters.items():
        shape = stacked(model.layer(index), letter).shape
        if np.shape(wanted) != shape or not np.isfinite(wanted).all():
            raise ModelError(
                f"the rows of layer {index} must be finite floats of shape {shape}, got {np.shape(wanted)}"
            )
    made: dict[str, Array] = {}
    for name, array in with_rows(model, index, letters).items():
        if name in edits:
            raise ModelError(f"layer {index} shares the tensor {name} with another edited layer: edit one of them")
        made[name] = round_to_stored(array, model.store.infos[name].dtype)
        if not np.isfinite(made[name]).all():
            raise ModelError(f"the rows of layer {index} overflow {model.store.infos[name].dtype}: scale the edit")
    return made


def _write_all(model: Model, folder: Path, edits: Mapping[str, Array]) -> None:
    store = model.store
    if isinstance(store, ShardedStore) and all(isinstance(s, SafetensorsStore) for s in store.shards.values()):
        for shard, part in store.shards.items():
            _write_safetensors(folder / shard, part, {n: a for n, a in edits.items() if n in part.infos}, None)
        index = {"metadata": {}, "weight_map": {n: s for s, part in store.shards.items() for n in part.infos}}
        _write_json(folder / "model.safetensors.index.json", index)
    else:
        undo = as_stored(model)
        _write_safetensors(folder / "model.safetensors", store, edits, undo)
    _write_json(folder / "config.json", configuration_of_copy(model))
    _copy_companions(model, folder)


def _write_safetensors(path: Path, store: TensorStore, edits: Mapping[str, Array], undo: Change | None) -> None:
    """One safetensors file with the tensors of ``store``, streamed one at a time; ``undo`` changes them on the way."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    names = [name for name in store.infos if name in edits or _code(store, name) is not None]
    for name in names:
        code = "F64" if _widened(store, name, undo) else _code(store, name) or "F32"
        size = int(np.prod(store.infos[name].shape, dtype=np.int64)) * DTYPES[code][1]
        header[name] = {"dtype": code, "shape": list(store.infos[name].shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as out:
        out.write(len(text).to_bytes(8, "little"))
        out.write(text)
        for name in names:
            for piece in _pieces(store, name, edits, undo):
                out.write(piece)


def _pieces(store: TensorStore, name: str, edits: Mapping[str, Array], undo: Change | None) -> Iterator[Any]:
    """The bytes of one tensor as the new file holds them."""
    if name not in edits and isinstance(store, SafetensorsStore):
        span = store.spans[name]
        with store.path.open("rb") as stream:
            stream.seek(span.start)
            left = span.stop - span.start
            while left:
                piece = stream.read(min(left, 1 << 24))
                if not piece:
                    raise ModelError(f"{store.where}: ended while it was copied")
                left -= len(piece)
                yield piece
        return
    array = edits[name] if name in edits else store.read(name)
    store.release()
    wide = _widened(store, name, undo)
    array = array if undo is None else undo(name, array)
    if wide:
        array = array.astype(np.float64)
    elif store.infos[name].dtype == "bfloat16":
        array = _bfloat16_bits(array)
    yield np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _widened(store: TensorStore, name: str, undo: Change | None) -> bool:
    """Are the numbers of a vector others once ``undo`` has changed them, and too long for its type?"""
    if undo is None or len(store.infos[name].shape) != 1:
        return False
    array = store.read(name)
    changed = undo(name, array)
    return changed.dtype == np.float64 != array.dtype or (
        store.infos[name].dtype == "bfloat16" and not np.array_equal(changed, array)
    )


def _code(store: TensorStore, name: str) -> str | None:
    """The safetensors dtype for a tensor; dequantised blocks become float32, None is left out."""
    dtype = store.infos[name].dtype
    if dtype in CODES:
        return CODES[dtype]
    if dtype.startswith(LABEL):
        return "F64"  # the product of an integer and its scale has no room in less
    return "F32" if isinstance(store, RenamedStore) else None


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True, default=str) + "\n", encoding="utf-8")


def _copy_companions(model: Model, folder: Path) -> None:
    """Small plain files beside the original (tokenizer, vocabulary), never weights, links or code."""
    if not model.files:
        return
    for entry in sorted(model.files[0].path.parent.iterdir()):
        text = entry.suffix in (".json", ".txt", ".model") and not entry.name.endswith(".index.json")
        plain = text and entry.name != "config.json" and entry.is_file() and not entry.is_symlink()
        if plain and entry.stat().st_size <= MAX_COMPANION:
            shutil.copyfile(entry, folder / entry.name)
