"""A loaded model: layers on demand, one in memory at a time, with the files that they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.display import table
from eigentoken.models.convention.embedding import Embedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import Layer
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.tensors import SourceFile, TensorStore, WeightReader
from eigentoken.models.families.family import Family, family_of
from eigentoken.models.formats.scaled import with_scales
from eigentoken.models.loading.several_stacks import one_stack

if TYPE_CHECKING:
    from eigentoken.models.loading.left_out import LeftOut


@dataclass(frozen=True, eq=False)
class Layers(Sequence[Layer]):
    """The layers of a model, read when asked for and not kept."""

    model: Model

    def __len__(self) -> int:
        return self.model.n_layers

    @overload
    def __getitem__(self, index: int) -> Layer: ...

    @overload
    def __getitem__(self, index: slice) -> list[Layer]: ...

    def __getitem__(self, index: int | slice) -> Layer | list[Layer]:
        if isinstance(index, slice):
            return [self.model.layer(each) for each in range(len(self))[index]]
        if not -len(self) <= index < len(self):
            raise IndexError(f"layer must be in 0..{len(self) - 1}, got {index}")
        return self.model.layer(index)

    def __iter__(self) -> Iterator[Layer]:
        return self()

    def __call__(self, start: int = 0, stop: int | None = None) -> Iterator[Layer]:
        """The layers from ``start`` to before ``stop``; weights that the last one had are not read again."""
        model = self.model
        last: Layer | None = None
        for index in range(start, len(self) if stop is None else min(stop, len(self))):
            if last is not None and model.architecture.weights_of(index) == last.weights_of:
                heads = tuple(replace(head, layer=index) for head in last.heads)
                last = replace(last, index=index, heads=heads)
            else:
                last = None
                last = model.layer(index)
            yield last

    def __repr__(self) -> str:
        return f"<{len(self)} layers of {self.model.source}, each read when asked for>"


@dataclass(frozen=True, eq=False)
class Model:
    """A checkpoint in the convention of this room.  Build it with ``eigentoken.models.load``."""

    source: str
    family: str
    config: Mapping[str, Json] = field(repr=False)
    store: TensorStore = field(repr=False)
    architecture: Family = field(repr=False)

    @property
    def n_layers(self) -> int:
        """How many layers a token passes."""
        return self.architecture.n_layers

    @property
    def n_heads(self) -> int:
        """Query heads per layer."""
        return self.architecture.n_heads

    @property
    def n_kv_heads(self) -> int:
        """Key-value heads per layer."""
        return self.architecture.n_kv_heads

    @property
    def d(self) -> int:
        """The width of a token."""
        return self.architecture.d

    @property
    def d_head(self) -> int:
        """The width of a head."""
        return self.architecture.d_head

    @property
    def format(self) -> str:
        """The file format."""
        return self.store.format

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The files with the weights; ``file.sha256`` is computed when asked for."""
        return self.store.files

    def fingerprint(self) -> str:
        """sha256 over the sha256 of the weight files in order (or over the tensors of a model in memory)."""
        digest = hashlib.sha256()
        if self.files:
            for file in self.files:
                digest.update(file.sha256.encode())
        else:
            for name in sorted(self.store.infos):
                digest.update(name.encode() + self.store.read(name).tobytes())
        return digest.hexdigest()

    def layer(self, index: int) -> Layer:
        """Layer ``index`` (negative counts from the end), read now."""
        if not -self.n_layers <= index < self.n_layers:
            raise ModelError(f"layer must be in 0..{self.n_layers - 1}, got {index}")
        try:
            return self.architecture.layer(index % self.n_layers)
        finally:
            self.store.release()

    @property
    def layers(self) -> Layers:
        """The layers in order, each read when it is reached: ``model.layers[0]``, ``for layer in model.layers``."""
        return Layers(self)

    def __len__(self) -> int:
        """As many as there are layers."""
        return self.n_layers

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, index: int) -> Layer: ...

    @overload
    def __getitem__(self, index: slice) -> list[Layer]: ...

    def __getitem__(self, index: int | slice) -> Layer | list[Layer]:
        """``model[0]`` is ``model.layers[0]``."""
        return self.layers[index]

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    @cached_property
    def left_out(self) -> LeftOut:
        """Tensors of the file that no layer uses; no weight is read to find them."""
        from eigentoken.models.loading.left_out import left_out

        return left_out(self.architecture, self.config, self.store.where)

    def embedding(self) -> Embedding:
        """What turns token ids (or pixels) into the first hidden states."""
        try:
            return self.architecture.embedding()
        finally:
            self.store.release()

    def final_norm(self) -> Normalization | None:
        """The normalization after the last layer, if there is one."""
        return self.architecture.final_norm()

    def describe(self) -> str:
        """One line for reports."""
        kv = f" ({self.n_kv_heads} key-value)" if self.n_kv_heads != self.n_heads else ""
        return (
            f"{self.source}: {self.family}, {self.n_layers} layers, {self.n_heads}{kv} heads, d={self.d}, "
            f"d_head={self.d_head}, {self.format}"
        )

    def __repr__(self) -> str:
        return f"<Model {self.describe()}>"

    def _repr_html_(self) -> str:
        files = ", ".join(f"{file.path.name} ({file.size} bytes)" for file in self.files) or "in memory"
        rows: list[tuple[str, object]] = [
            ("family", self.family),
            ("layers", self.n_layers),
            ("heads", f"{self.n_heads} query, {self.n_kv_heads} key-value, d_head={self.d_head}"),
            ("width d", self.d),
            ("format", self.format),
            ("files", files),
        ]
        return table(self.source, rows)


def build_model(source: str, config: Mapping[str, Any], store: TensorStore, where: str) -> Model:
    """A model from a configuration and named tensors."""
    chosen, store = one_stack(config, with_scales(store), where)
    reading = family_of(Config(chosen, where), WeightReader(store))
    return Model(source, reading.name, chosen, store, reading)
