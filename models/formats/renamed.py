"""A store under other names: formats with names of their own are read by the family whose shape they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorInfo, TensorStore


@dataclass(frozen=True)
class Original:
    """The name in the file, and whether the file holds the transpose of the matrix."""

    name: str
    transposed: bool = False


class RenamedStore(TensorStore):
    """``names`` maps the family's names to the file's; a transposed matrix is turned, its numbers unchanged."""

    def __init__(self, store: TensorStore, names: Mapping[str, Original]) -> None:
        self.store = store
        self.names = dict(names)
        self.format = store.format
        self.where = store.where
        self.files = store.files
        self.infos = {name: self._info(name, original) for name, original in self.names.items()}

    def read(self, name: str) -> Array:
        """The tensor under its new name."""
        original = self.names[name]
        array = self.store.read(original.name)
        return array.T if original.transposed else array

    def release(self) -> None:
        """Release the store underneath."""
        self.store.release()

    def _info(self, name: str, original: Original) -> TensorInfo:
        info = self.store.infos[original.name]
        return TensorInfo(name, info.shape[::-1] if original.transposed else info.shape, info.dtype)
