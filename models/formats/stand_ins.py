"""Objects of other programs in a torch file: an empty class stands for each, so that the tensors beside them can be read.

Training programs pickle their options (``argparse.Namespace``), their configuration, or the module itself beside the
weights.  torch's restricted unpickler refuses a class that it does not know; here every such name becomes a class of ours
that takes whatever it is given and does nothing with it.  The module of that name is never imported.  What could be meant to
run (a name of the standard library that is no plain data) is refused all the same.
"""

from __future__ import annotations

import pickle
import pickletools
import sys
import zipfile
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from eigentoken.models.convention.errors import ModelError

if TYPE_CHECKING:
    import torch

#: A legacy file is five pickles: a number, the protocol, the machine, the object, the names of its storages.
LEGACY_PICKLES = 5
#: Modules of the standard library whose classes hold data.
DATA = {"argparse", "pathlib", "datetime", "collections", "types", "enum", "uuid", "decimal", "fractions"}
REFUSED = set(sys.stdlib_module_names) - DATA | {"__builtin__", "copy_reg", "commands", "nt"}
#: Modules that are followed, and the length of a name: a file may have modules inside themselves.
MOST, LONGEST = 100_000, 2000


class Inert:
    """What the file calls by another class's name: it takes any arguments, and its state is kept as it was stored."""

    def __init__(self, *_given: object, **_named: object) -> None:
        pass

    def __new__(cls, *_given: object, **_named: object) -> Inert:
        return super().__new__(cls)

    def __setstate__(self, state: object) -> None:
        if isinstance(state, Mapping):
            self.__dict__.update({key: value for key, value in state.items() if isinstance(key, str)})


def stand_ins(path: Path, *, is_zip: bool) -> list[Callable[..., Any] | tuple[Callable[..., Any], str]]:
    """A class of ours for every name of the file that torch's unpickler does not know; ModelError for one that may run."""
    from torch._weights_only_unpickler import _get_allowed_globals

    known = _get_allowed_globals()
    made: list[Callable[..., Any] | tuple[Callable[..., Any], str]] = []
    for name in sorted(_named(path, is_zip)):
        if name in known:
            continue
        if name.partition(".")[0] in REFUSED:
            raise ModelError(
                f"{path}: it asks to run {name[:80]}: refused, and nothing was executed (weights_only=True)"
            )
        made.append((type(name.rpartition(".")[2], (Inert,), {}), name))
    return made


def _named(path: Path, is_zip: bool) -> set[str]:
    """Every class or function that the pickles of the file name, as far as they can be read."""
    try:
        if not is_zip:
            with path.open("rb") as stream:
                return {name for _ in range(LEGACY_PICKLES) for name in _in_one(stream)}
        with zipfile.ZipFile(path) as archive:
            found = [name for name in archive.namelist() if name.endswith("/data.pkl") or name == "data.pkl"]
            return {name for each in found for name in _in_one(archive.open(each))}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, RuntimeError, pickle.UnpicklingError):
        return set()  # torch's own unpickler says what is wrong with it


def _in_one(stream: IO[bytes]) -> Iterator[str]:
    for opcode, argument, _ in pickletools.genops(stream):
        if opcode.name == "GLOBAL" and isinstance(argument, str):
            module, _, name = argument.partition(" ")  # protocol 2 has the names of Python 2
            module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
            yield f"{module}.{name}"


def program(path: Path) -> str | None:
    """What to do with an archive that is a program, of ``torch.package`` (which may hold TorchScript) or of TorchScript."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(name.endswith("/.data/extern_modules") for name in names):
        return (
            "a program of torch.package, which is not run here: where you trust it, keep its weights alone, "
            "torch.save(torch.package.PackageImporter(FILE).load_pickle(PACKAGE, RESOURCE).state_dict(), 'pytorch_model.bin')"
        )
    if any("/code/" in name for name in names) and any(name.endswith("/constants.pkl") for name in names):
        return (
            "a TorchScript program, which is not run here: where you trust it, keep its weights alone, "
            "torch.save(torch.jit.load(FILE).state_dict(), 'pytorch_model.bin')"
        )
    return None


def tensors_of(module: Inert) -> dict[str, torch.Tensor]:
    """The parameters and buffers of a pickled ``torch.nn.Module``, named as its ``state_dict()`` names them."""
    import torch

    found: dict[str, torch.Tensor] = {}
    to_do = [("", module)]
    for _ in range(MOST):
        if not to_do:
            return found
        prefix, each = to_do.pop()
        if len(prefix) > LONGEST:
            break
        inside = vars(each)
        unkept = inside.get("_non_persistent_buffers_set", ())
        for kind, without in (("_parameters", ()), ("_buffers", unkept)):
            held = _named_in(inside.get(kind))
            found |= {prefix + name: v for name, v in held if isinstance(v, torch.Tensor) and name not in without}
        below = [(f"{prefix}{name}.", v) for name, v in _named_in(inside.get("_modules")) if isinstance(v, Inert)]
        to_do += reversed(below)
    raise ModelError(
        f"a pickled module has modules without end inside one another (more than {MOST}, or too long a name)"
    )


def _named_in(held: object) -> list[tuple[str, Any]]:
    return [(name, each) for name, each in held.items() if isinstance(name, str)] if isinstance(held, Mapping) else []
