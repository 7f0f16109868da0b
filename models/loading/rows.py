"""Where the rows of query, key and value are in a file, found without a list of names: the reading itself says it.

A family is read once more from a store whose tensors hold, in place of their numbers, a number of its own for every entry.
What comes back as Q, K or V then names the entries of the file, however the family cuts, turns or repeats them.  A matrix that
is computed from the file (a product of two factors) names none, and cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import Layer
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorStore, WeightReader
from eigentoken.models.loading.model import Model

__all__ = ["Letter", "rows_of", "stacked", "tensors_of_rows", "with_rows"]

Letter = Literal["Q", "K", "V"]


class _Numbered(TensorStore):
    """Every entry of every tensor is its own number, from 1 on."""

    def __init__(self, store: TensorStore) -> None:
        self.format, self.where, self.files, self.infos = store.format, store.where, store.files, store.infos
        self.starts: dict[str, int] = {}
        free = 1
        for name, info in store.infos.items():
            self.starts[name] = free
            free += int(np.prod(info.shape, dtype=np.int64))

    def read(self, name: str) -> Array:
        shape = self.infos[name].shape
        size = int(np.prod(shape, dtype=np.int64))
        start = self.starts[name]
        return np.arange(start, start + size, dtype=np.float64).reshape(shape)


def stacked(layer: Layer, letter: Letter) -> Array:
    """The rows of all heads, one below the other (H d_head, d); a grouped head appears once for each query head."""
    return np.concatenate([getattr(head, letter) for head in layer.heads])


def rows_of(model: Model, index: int, letter: Letter) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Tensor name to the entries of the stacked rows that are in it, and their places in the flat tensor."""
    store = _Numbered(model.store)
    config = Config(dict(model.config), model.store.where)
    numbers = stacked(type(model.architecture)(config, WeightReader(store)).layer(index), letter)
    layer = model.layer(index)
    there = stacked(layer, letter)
    found: dict[str, tuple[NDArray[np.bool_], NDArray[np.intp]]] = {}
    covered = np.zeros(numbers.shape, dtype=bool)
    if np.array_equal(numbers, np.rint(numbers)):
        for name, start in store.starts.items():
            size = int(np.prod(store.infos[name].shape, dtype=np.int64))
            inside = (numbers >= start) & (numbers < start + size)
            if inside.any():
                places = (numbers[inside] - start).astype(np.intp)
                if np.array_equal(model.store.read(name).reshape(-1)[places], there[inside]):
                    found[name] = inside, places
                    covered |= inside
    model.store.release()
    if not covered.all():
        raise ModelError(
            f"layer {index}: the {WORDS[letter]} rows are computed from several tensors of {model.store.where}: "
            "they cannot be written"
        )
    return found


def tensors_of_rows(model: Model, index: int, letters: Iterable[Letter]) -> dict[str, NDArray[np.intp]]:
    """Tensor name to the places of these rows in it."""
    places: dict[str, list[NDArray[np.intp]]] = {}
    for letter in letters:
        for name, (_, at) in rows_of(model, index, letter).items():
            places.setdefault(name, []).append(at)
    return {name: np.unique(np.concatenate(each)) for name, each in places.items()}


def with_rows(model: Model, index: int, rows: Mapping[Letter, Array]) -> dict[str, Array]:
    """The whole tensors with other rows, in float64, not rounded; one head shared by several queries has one value."""
    edited: dict[str, Array] = {}
    for letter, wanted in rows.items():
        for name, (inside, places) in rows_of(model, index, letter).items():
            if name not in edited:
                edited[name] = np.array(model.store.read(name), dtype=np.float64)
            flat = edited[name].reshape(-1)
            flat[places] = wanted[inside]
            if not np.array_equal(flat[places], wanted[inside]):
                raise ModelError(
                    f"layer {index}: heads share their {WORDS[letter]} rows, and were given different ones"
                )
    model.store.release()
    return edited


WORDS: Mapping[Letter, str] = {"Q": "query", "K": "key", "V": "value"}
