"""Named tensors of a checkpoint, read one at a time, and the checks that every weight passes."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from eigentoken.models.convention.errors import ModelError, some
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Array


@dataclass(frozen=True)
class TensorInfo:
    """What the header says of a tensor: its shape, and its dtype as stored (``float16``, ``bfloat16``, ``Q4_1``...)."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class SourceFile:
    """A file that weights came from; the hash is computed when asked for, in 1 MiB pieces."""

    path: Path
    size: int

    @cached_property
    def sha256(self) -> str:
        """sha256 of the whole file, as hexadecimal."""
        return file_sha256(self.path)


def file_sha256(path: Path) -> str:
    """sha256 of a file, read again where its time, its size or its place on the disk is another than before."""
    stat = path.stat()
    return _sha256(path, (stat.st_mtime_ns, stat.st_size, stat.st_dev, stat.st_ino))


@lru_cache(maxsize=256)
def _sha256(path: Path, _stamp: tuple[int, ...]) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class TensorStore(ABC):
    """Tensors by name.  ``infos`` comes from headers; ``read`` brings one tensor into memory, exactly as stored."""

    format: str
    where: str
    infos: Mapping[str, TensorInfo]
    files: tuple[SourceFile, ...]

    @abstractmethod
    def read(self, name: str) -> Array:
        """A fresh array of the named tensor; bfloat16 and quantised blocks come as float32 of the same value."""

    def release(self) -> None:  # noqa: B027  (most stores hold nothing between reads)
        """Let go of what is kept between reads; called after each layer."""


class WeightReader:
    """Reads tensors of a store and refuses wrong shapes, integers, NaN and Inf, with the name in the message."""

    def __init__(self, store: TensorStore, prefix: str = "") -> None:
        self.store = store
        self.prefix = prefix

    def under(self, anchor: str) -> WeightReader:
        """The same store, with the prefix (``bert.``, ``transformer.``...) before the name that ends in ``anchor``."""
        found = [
            name[: -len(anchor)]
            for name in self.store.infos
            if name.endswith(anchor) and (len(name) == len(anchor) or name[-len(anchor) - 1] == ".")
        ]
        if len(found) != 1:
            if found:
                raise ModelError(
                    f"{self.store.where}: the tensor {anchor} is there under several prefixes ({some(sorted(found))}): several "
                    "models in one file; keep the tensors of one of them in a file of their own"
                )
            raise ModelError(
                f"{self.store.where}: the tensor {anchor} is missing; found {some(sorted(self.store.infos))}: "
                "is the configuration that of this checkpoint?"
            )
        return WeightReader(self.store, found[0])

    def has(self, name: str) -> bool:
        """Whether the tensor is in the store."""
        return self.prefix + name in self.store.infos

    def first(self, names: Iterable[str]) -> str:
        """The first of the alternative names that the store has, else the first."""
        listed = list(names)
        return next((name for name in listed if self.has(name)), listed[0])

    def dtype(self, name: str) -> str:
        """The dtype as stored."""
        return self._info(name).dtype

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape as stored."""
        return self._info(name).shape

    def expect(self, name: str, shape: tuple[int, ...]) -> None:
        """Raise unless the header promises this shape."""
        got = self._info(name).shape
        if got != shape:
            raise ModelError(
                f"{self.store.where}: the tensor {self.prefix + name} must have shape {shape} by the configuration, "
                f"got {got}: the configuration and the weights are not of the same model"
            )

    def read(self, name: str, shape: tuple[int, ...]) -> Array:
        """The tensor, read-only, finite, of the given shape."""
        self.expect(name, shape)
        array = self.store.read(self.prefix + name)
        if array.dtype.kind != "f":
            raise ModelError(
                f"{self.store.where}: the tensor {self.prefix + name} is stored as {self.dtype(name)}: expected "
                "floating point weights (dequantise the checkpoint first, or use GGUF)"
            )
        if array.shape != shape:
            raise ModelError(
                f"{self.store.where}: the tensor {self.prefix + name} has shape {array.shape}, not {shape}"
            )
        if not np.isfinite(array).all():
            kind = "NaN" if np.isnan(array).any() else "infinite"
            raise ModelError(
                f"{self.store.where}: the tensor {self.prefix + name} has {kind} entries: the file is damaged"
            )
        array.setflags(write=False)
        return array

    def optional(self, name: str, shape: tuple[int, ...]) -> Array | None:
        """The tensor if it is there."""
        return self.read(name, shape) if self.has(name) else None

    def norm(
        self, name: str, width: int, *, eps: float, rms: bool = False, bias: bool = True, one_plus: bool = False
    ) -> Normalization:
        """A normalization; the gain is ``name.weight`` or, in conversions from TensorFlow, ``name.gamma``.

        ``one_plus``: the file stores w of a gain 1 + w (Gemma).
        """
        gain = self.read(self.first([f"{name}.weight", f"{name}.gamma"]), (width,))
        gain = 1.0 + gain.astype(np.float64) if one_plus else gain
        if rms:
            return Normalization("rmsnorm", eps, gain)
        shift = self.read(self.first([f"{name}.bias", f"{name}.beta"]), (width,)) if bias else None
        return Normalization("layernorm", eps, gain, shift)

    def _info(self, name: str) -> TensorInfo:
        info = self.store.infos.get(self.prefix + name)
        if info is None:
            stem = (self.prefix + name).rsplit(".", 2)[0]
            near = sorted(n for n in self.store.infos if n.startswith(stem)) or sorted(self.store.infos)
            raise ModelError(f"{self.store.where}: the tensor {self.prefix + name} is missing; found {some(near)}")
        return info
