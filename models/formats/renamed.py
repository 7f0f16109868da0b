"""A store under other names: formats with names of their own are read by the family whose shape they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorInfo, TensorStore


@dataclass(frozen=True)
class Original:
    """The name in the file, and whether the file holds the transpose of the matrix."""

    name: str
    transposed: bool = False


@dataclass(frozen=True)
class Made:
    """A tensor that the file has in pieces: their names, what it is, and how it is put together (numbers unchanged)."""

    pieces: tuple[str, ...]
    info: TensorInfo
    together: Callable[..., Array]


class RenamedStore(TensorStore):
    """``names`` maps the family's names to the file's; a transposed matrix is turned, its numbers unchanged.

    ``made``: tensors that are put together from several of the file.
    """

    def __init__(
        self, store: TensorStore, names: Mapping[str, Original], made: Mapping[str, Made] | None = None
    ) -> None:
        self.store = store
        self.names = dict(names)
        self.made = dict(made or {})
        self.format = store.format
        self.where = store.where
        self.files = store.files
        self.infos = {name: self._info(name, original) for name, original in self.names.items()}
        self.infos |= {name: made.info for name, made in self.made.items()}

    def read(self, name: str) -> Array:
        """The tensor under its new name."""
        if name in self.made:
            return self.made[name].together(*(self.store.read(piece) for piece in self.made[name].pieces))
        original = self.names[name]
        array = self.store.read(original.name)
        return array.T if original.transposed else array

    def release(self) -> None:
        """Release the store underneath."""
        self.store.release()

    def _info(self, name: str, original: Original) -> TensorInfo:
        info = self.store.infos[original.name]
        return TensorInfo(name, info.shape[::-1] if original.transposed else info.shape, info.dtype)
