"""``pytorch_model.bin``: torch's zip and legacy formats, only ever unpickled with ``weights_only=True``, on the CPU.

torch's restricted unpickler builds tensors and plain containers.  For the classes of the program that wrote the file an empty
one stands in (:mod:`stand_ins`); a function that could run is an error and is not executed.
"""

from __future__ import annotations

import os
import struct
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentoken.models.convention.errors import ModelError, brief, some
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import SourceFile, TensorInfo, TensorStore
from eigentoken.models.formats.stand_ins import Inert, program, stand_ins, tensors_of

if TYPE_CHECKING:
    import torch

END_OF_ZIP = b"PK\x05\x06"


class TorchPickleStore(TensorStore):
    """One torch checkpoint file.  Zip files are memory-mapped and reopened after ``release``; legacy ones are kept."""

    format = "pytorch"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = str(path)
        try:
            self.files = (SourceFile(path, path.stat().st_size),)
            with path.open("rb") as stream:
                self.is_zip = stream.read(2) == b"PK"
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({brief(error)})") from None
        if self.is_zip:
            check_zip(path)
        self._tensors: dict[str, torch.Tensor] | None = self._load()
        self.infos = {name: TensorInfo(name, tuple(t.shape), _dtype(t)) for name, t in self._tensors.items()}
        if self.is_zip:
            self.release()

    def read(self, name: str) -> Array:
        """The tensor, copied."""
        if self._tensors is None:
            self._tensors = self._load()
        return numpy_copy(self._tensors[name], f"{self.where}: the tensor {name}")

    def release(self) -> None:
        """Unmap a zip checkpoint, so that pages of earlier layers do not stay resident."""
        if self.is_zip:
            self._tensors = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_tensors": None}

    def _load(self) -> dict[str, torch.Tensor]:
        import torch

        try:
            return _state_dict(self._loaded(), self.where)
        except ModelError:
            raise
        except Exception as error:  # perhaps a name that torch's unpickler does not know
            if self.is_zip and (what := program(self.path)):
                raise ModelError(f"{self.where}: {what}") from None
            known = stand_ins(self.path, is_zip=self.is_zip)
            if not known:
                raise self._not_plain(error) from None
        with torch.serialization.safe_globals(known):
            try:
                return _state_dict(self._loaded(), self.where)
            except ModelError:
                raise
            except Exception as error:
                raise self._not_plain(error) from None

    def _loaded(self) -> object:
        """What torch's unpickler makes of the file."""
        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.is_zip:
                return torch.load(self.path, map_location="cpu", weights_only=True, mmap=True)
            with self.path.open("rb") as stream:
                loaded = torch.load(stream, map_location="cpu", weights_only=True)
                left = os.fstat(stream.fileno()).st_size - stream.tell()
            if left:
                raise ModelError(f"{self.where}: {left} bytes follow the last tensor: the file is padded")
            return loaded

    def _not_plain(self, error: Exception) -> ModelError:
        return ModelError(
            f"{self.where}: not read as a torch checkpoint of plain tensors (weights_only=True, nothing was "
            f"executed): {_reason(error)}: save the weights alone, torch.save(model.state_dict(), FILE)"
        )


def check_zip(path: Path) -> None:
    """The archive begins and ends where its file does and names no member twice."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            stream.seek(max(0, size - 22))
            tail = stream.read()
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = [member.filename for member in members]
            begin = min((member.header_offset for member in members), default=0)
    except (OSError, zipfile.BadZipFile, struct.error, ValueError, NotImplementedError, EOFError) as error:
        raise ModelError(f"{path}: a damaged or truncated zip archive ({brief(error)})") from None
    if begin or len(tail) != 22 or not tail.startswith(END_OF_ZIP) or tail[20:] != b"\0\0":
        raise ModelError(f"{path}: bytes before or after the zip archive: the file is padded or damaged")
    if len(set(names)) != len(names):
        raise ModelError(f"{path}: the archive has two members of one name (duplicate tensors)")


def numpy_copy(tensor: torch.Tensor, where: str) -> Array:
    """A torch tensor as a fresh numpy array of the same values; bfloat16 as float32."""
    import torch

    try:
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_complex() or tensor.is_meta:
            raise ModelError(f"{where} is not a plain dense real tensor")
        plain = tensor.detach().cpu()
        if plain.dtype not in (torch.float16, torch.float32, torch.float64) and plain.is_floating_point():
            plain = plain.float()
        return np.array(plain.numpy())
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{where} cannot be read ({brief(error)})") from None


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


WRAPPERS = ("model_state_dict", "state_dict", "model", "module", "network", "net", "weights", "params", "ema")
"""Where training scripts keep the weights beside optimizer, epoch and loss; tried in this order, one inside another."""


def _state_dict(loaded: object, where: str) -> dict[str, torch.Tensor]:
    """The tensors by name: of the file itself, or of the state dict inside a training checkpoint."""
    import torch

    given = _with_weights(loaded)
    if not isinstance(given, Mapping):
        raise ModelError(f"{where}: expected a state dict (names to tensors), got {type(loaded).__name__}")
    path: list[str] = []
    inside: Mapping[Any, Any] = given
    for _ in range(4):
        named = [key for key in WRAPPERS if isinstance(_with_weights(inside.get(key)), Mapping) and inside[key]]
        if not named:
            break
        path.append(named[0])
        inside = _with_weights(inside[named[0]])
    tensors = {name: t for name, t in inside.items() if isinstance(name, str) and isinstance(t, torch.Tensor)}
    if not tensors:
        keys = some([str(key) for key in given]) if given else "nothing"
        place = f" under {'.'.join(path)}" if path else ""
        held = [str(key) for key, value in given.items() if isinstance(value, Mapping) and _has_tensors(value)]
        if held:
            raise ModelError(
                f"{where}: its weights stand under {some(held)}, a name that no program here is known by: say which, "
                f"torch.save(torch.load(FILE)[{held[0][:40]!r}], 'pytorch_model.bin')"
            )
        raise ModelError(
            f"{where}: no named tensors{place}; the file has {keys}: save the weights alone, "
            "torch.save(model.state_dict(), FILE)"
        )
    return tensors


def _has_tensors(found: Mapping[Any, Any]) -> bool:
    import torch

    return any(isinstance(name, str) and isinstance(value, torch.Tensor) for name, value in found.items())


def _with_weights(found: Any) -> Any:
    """The one member of a tuple that has tensors by name (weights, optimizer, options); of a pickled module its tensors."""
    if isinstance(found, Inert):
        return tensors_of(found) or found
    if isinstance(found, tuple | list):
        made = [_with_weights(each) for each in found if isinstance(each, Mapping | Inert)]
        whole = [each for each in made if isinstance(each, Mapping)]
        direct = [each for each in whole if _has_tensors(each)]
        return direct[0] if len(direct) == 1 else whole[0] if len(whole) == 1 else found
    return found


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    marker = "WeightsUnpickler error:"
    text = text[text.index(marker) :] if marker in text else text
    text = text.partition(" Check the documentation")[0].partition(" Please use")[0]
    return brief(ValueError(text or type(error).__name__), 200)
