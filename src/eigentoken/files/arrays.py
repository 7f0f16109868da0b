"""Array files: written with errors that the command line knows, read only after the header was held against the file's size.

A header of 128 bytes can claim any shape; a reader that allocates first asks for the memory before it finds out.
"""

from __future__ import annotations

import errno
import math
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ArrayFileError", "read_npy", "read_npz", "write_npz", "write_safetensors"]

#: bytes of the header of a .npy file, and arrays in a .npz file
LARGEST_HEADER = 10_000
MOST_MEMBERS = 100_000
#: bytes of one array (a file may be as large as it claims and have no more than a hole in it)
LARGEST_ARRAY = 1 << 32


class ArrayFileError(ValueError):
    """An array file that is damaged or claims more than it holds: one line."""


def read_npy(path: str | os.PathLike[str], where: str = "") -> NDArray[np.generic]:
    """The array of a ``.npy`` file, in memory; nothing is unpickled.  ``where`` names it in messages."""
    size = Path(path).stat().st_size
    with Path(path).open("rb") as stream:
        return _read_array(stream, size, where or str(path))


def read_npz(path: str | os.PathLike[str]) -> dict[str, NDArray[np.generic]]:
    """The arrays of a ``.npz`` file by name; a member that claims to be larger than it is, is refused before it is read."""
    try:
        with Path(path).open("rb") as whole, zipfile.ZipFile(whole) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise ArrayFileError(f"{path} has {len(members)} members: expected at most {MOST_MEMBERS}")
            found = {}
            for member in members:
                with archive.open(member) as stream:
                    where = f"{path}, {member.filename[:80]}"
                    found[member.filename.removesuffix(".npy")] = _read_array(stream, member.file_size, where)
            return found
    except ArrayFileError:
        raise
    except Exception as problem:  # zipfile, zlib and struct have errors of their own
        if isinstance(problem, OSError) and problem.errno != errno.EINVAL:  # a seek to where a damaged directory points
            raise
        raise ArrayFileError(f"{path} is not a whole .npz file ({_line(problem)})") from None


def _read_array(stream: IO[bytes], size: int, where: str) -> Any:
    """One array, where ``size`` is the number of bytes that there are for header and entries."""
    import numpy as np

    try:
        version = np.lib.format.read_magic(stream)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if reader is None:
            raise ArrayFileError(f"{where}: version {version} of the .npy format is not read: save it with numpy.save")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of Python 2
            shape, fortran, dtype = reader(stream, max_header_size=LARGEST_HEADER)
        if dtype.hasobject:
            raise ArrayFileError(f"{where} holds Python objects, which are not unpickled: save numbers")
        wanted = math.prod(shape) * dtype.itemsize
        left = size - stream.tell()
        if min(shape, default=0) < 0 or wanted > left:
            raise ArrayFileError(
                f"{where} claims {' x '.join(map(str, shape))} entries of {dtype} ({wanted} bytes) and holds {left}: "
                "the file is cut off or damaged"
            )
        if wanted > LARGEST_ARRAY:
            raise ArrayFileError(f"{where} has {wanted} bytes: an array of at most {LARGEST_ARRAY} bytes is read")
        data = bytearray(wanted)
        view = memoryview(data)
        at = 0
        while at < wanted:
            got = stream.readinto(view[at:])  # type: ignore[attr-defined]
            if not got:
                raise ArrayFileError(f"{where} ends after {at} of {wanted} bytes: the file is cut off")
            at += got
        flat = np.frombuffer(data, dtype=dtype)
        return flat.reshape(shape, order="F" if fortran else "C")
    except ArrayFileError:
        raise
    except OSError:
        raise
    except Exception as problem:  # tokenize, struct and zlib have errors of their own
        raise ArrayFileError(f"{where} is not a .npy file ({_line(problem)})") from None


def write_npz(place: Path, arrays: Mapping[str, NDArray[np.generic]], *, compressed: bool = True) -> None:
    """Write arrays to a place given by :mod:`eigentoken.files.writing`."""
    import numpy as np

    save: Callable[..., None] = np.savez_compressed if compressed else np.savez
    with place.open("wb") as stream:
        save(stream, **arrays)


def write_safetensors(place: Path, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write arrays to a place given by :mod:`eigentoken.files.writing`; a full disk is an error of the operating system."""
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, str(place))
    except SafetensorError as problem:
        number = re.search(r"(?:os error |Os \{ code: )(\d+)", str(problem))  # the second before safetensors 0.6
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(place)) from None


def _line(problem: BaseException) -> str:
    text = " ".join(str(problem).split()) or type(problem).__name__
    return text if len(text) <= 160 else text[:157] + "..."
