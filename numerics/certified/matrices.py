"""Matrices in: arrays, tensors, nested lists and files, with their exact values.

A float, an integer, a ``Fraction``, ``"1/3"`` and the JSON decimal ``0.1`` (which is one tenth) all keep their exact
value.  Files: ``name.npy``, ``name.json`` (nested lists, or an object with the key ``matrix``) and
``name.safetensors::tensor``.  Nothing is unpickled.  What cannot be read raises :class:`MatrixError` with one line.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eigentoken.files.arrays import read_npy
from eigentoken.files.documents import parse_json
from eigentoken.files.given_arrays import ArrayError, dense_array
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError
from eigentoken.numerics.certified.exact_matrices import ExactMatrix

__all__ = ["MatrixError", "as_enclosure", "exact_number", "read_matrix"]

_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE]([+-]?\d+))?\s*$|\s*[+-]?\d+\s*/\s*\d+\s*$")
_LARGEST_EXPONENT = 1000
_MOST_CHARACTERS = 1200
_MOST_BITS = 7400  # of numerator and denominator: sums and products of a few still have a decimal text in Python


def exact_number(value: object) -> Fraction:
    """The exact value of an int, float, ``Fraction``, numpy scalar, or a string such as ``-1.5e-3`` or ``1/3``.

    >>> exact_number("0.1"), exact_number("2/6")
    (Fraction(1, 10), Fraction(1, 3))
    """
    found = _exact_number(value)
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > _MOST_BITS:
        raise MatrixError(f"a number of more than {_MOST_BITS} bits: write a shorter one")
    return found


def _exact_number(value: Any) -> Fraction:
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a number of numpy or torch
        value = value.item()
    if isinstance(value, bool | np.bool_):
        return Fraction(int(value))
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, str):
        if len(value) > _MOST_CHARACTERS:
            raise MatrixError(
                f"not a number: {value[:40]!r} ... ({len(value)} characters): write it with at most {_MOST_CHARACTERS}"
            )
        found = _NUMBER.match(value)
        if not found:
            raise MatrixError(f"not a number: {value[:40]!r}; write an integer, a decimal or a fraction such as 1/3")
        if found.group(4) and abs(int(found.group(4)[:8])) > _LARGEST_EXPONENT:
            raise MatrixError(f"exponent beyond {_LARGEST_EXPONENT}: {value[:40]!r}")
        try:
            return Fraction(value.replace(" ", ""))
        except ZeroDivisionError:
            raise MatrixError(f"not a number: {value[:40]!r} (division by zero)") from None
        except ValueError as error:
            raise MatrixError(f"not a number: {value[:40]!r} ({error})") from None
    ratio = getattr(value, "as_integer_ratio", None)
    if ratio is not None:
        try:
            return Fraction(*ratio())
        except (OverflowError, ValueError):
            raise MatrixError(f"NaN or infinite entry {value!r}: nothing can be certified about it") from None
    numerator, denominator = getattr(value, "p", None), getattr(value, "q", None)
    if numerator is not None and denominator is not None:  # sympy and flint rationals
        return Fraction(int(numerator), int(denominator))
    raise MatrixError(f"not an exact number: {value!r} of type {type(value).__name__}")


def as_enclosure(matrix: object, radius: object = 0.0, name: str = "matrix") -> Enclosure:
    """Anything that is a matrix, as an enclosure of its exact value and everything within ``radius``."""
    if isinstance(matrix, Enclosure):
        if radius:
            raise MatrixError("give the radius when the enclosure is made, not twice")
        return matrix
    bound = exact_number(radius)
    try:
        matrix = dense_array(name, matrix)
    except ArrayError as problem:
        raise MatrixError(str(problem)) from None
    if isinstance(matrix, ExactMatrix):
        return Enclosure.from_exact(matrix, _radius_above(bound), name)
    if type(matrix).__module__.partition(".")[0] == "torch":
        matrix = _from_torch(matrix, name)
    if type(matrix).__module__.partition(".")[0] == "flint":
        rational = [[Fraction(int(e.p), int(e.q)) for e in row] for row in _flint_rows(matrix)]
        return Enclosure.from_exact(_exact(rational, name), _radius_above(bound), name)
    if isinstance(matrix, np.ndarray):
        return _from_numpy(matrix, _radius_above(bound), name)
    if hasattr(matrix, "tolist"):
        matrix = matrix.tolist()
    return Enclosure.from_exact(_exact(matrix, name), _radius_above(bound), name)


def _radius_above(bound: Fraction) -> float:
    if bound < 0:
        raise MatrixError(f"radius must be >= 0, got {bound}")
    try:
        value = float(bound)
    except OverflowError:
        raise MatrixError("radius must be a finite number of float range") from None
    return value if Fraction(value) >= bound else float(np.nextafter(value, np.inf))


def _flint_rows(matrix: Any) -> list[list[Any]]:
    import flint

    return [[flint.fmpq(e) for e in row] for row in matrix.tolist()]


def _from_torch(tensor: Any, name: str) -> Any:
    import torch

    if tensor.is_complex():
        raise MatrixError(f"{name} is complex ({tensor.dtype}): the conditions are about real matrices")
    plain = tensor.detach().to("cpu")
    if plain.is_floating_point():
        return plain.to(torch.float64).numpy()  # exact for every torch float type
    return plain.numpy()


def _from_numpy(array: np.ndarray[Any, Any], radius: float, name: str) -> Enclosure:
    if array.ndim != 2:
        raise MatrixError(f"{name} must be a matrix (two axes), got shape {array.shape}")
    kind = array.dtype
    if kind.kind == "f" and kind.itemsize <= 8:
        return Enclosure.from_floats(array.astype(np.float64, copy=False), radius, name)
    if kind.kind == "b" or (kind.kind in "iu" and kind.itemsize <= 4):
        return Enclosure.from_floats(array.astype(np.float64), radius, name)
    if kind.kind in "iuOf":
        return Enclosure.from_exact(
            _exact(array.tolist() if kind.kind != "f" else list(map(list, array)), name), radius, name
        )
    if kind.kind == "V" and kind.name == "bfloat16":
        return Enclosure.from_floats(array.astype(np.float64), radius, name)
    raise MatrixError(f"{name} has dtype {kind}: give real floats, integers or exact rationals")


def _exact(rows: Any, name: str) -> ExactMatrix:
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise MatrixError(f"{name} must be a list of rows, each a list of numbers, got {type(rows).__name__}")
    widths = {len(row) for row in rows}
    if not rows or widths == {0}:
        raise MatrixError(f"{name} is empty: a condition needs at least one row and column")
    if len(widths) != 1:
        raise MatrixError(f"{name} has rows of different lengths {sorted(widths)}: give every row as many entries")
    return ExactMatrix.from_fractions([[exact_number(entry) for entry in row] for row in rows])


def read_matrix(text: str, radius: object = 0.0) -> Enclosure:
    """Read ``FILE.npy``, ``FILE.json`` or ``FILE.safetensors::TENSOR`` as an enclosure of its exact value."""
    path, separator, tensor = str(text).partition("::")
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (".npy", ".json", ".safetensors"):
        raise MatrixError(f"cannot read {path!r}: expected .npy, .json or .safetensors::name")
    if separator and suffix != ".safetensors":
        raise MatrixError(f"only a .safetensors file has tensor names, got {text!r}")
    if not file.is_file():
        raise MatrixError(f"no such file: {path}; give the path of a .npy, .json or .safetensors file")
    try:
        if suffix == ".npy":
            return as_enclosure(read_npy(file, "the file"), radius)
        if suffix == ".json":
            return as_enclosure(_read_json(file), radius)
        return as_enclosure(_read_safetensors(file, tensor), radius)
    except MatrixError as error:
        raise MatrixError(f"{text}: {error}") from None
    except RecursionError:
        raise MatrixError(f"cannot read {path}: nested too deeply") from None
    except (OSError, ValueError, KeyError, EOFError, UnicodeError) as error:
        raise MatrixError(f"cannot read {path}: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def _read_json(file: Path) -> Any:
    document = parse_json(
        file.read_bytes(), "the file", error=MatrixError, parse_float=exact_number, parse_int=exact_number
    )
    if isinstance(document, dict):
        if "matrix" not in document:
            raise MatrixError("expected a list of rows, or an object with the key 'matrix'")
        document = document["matrix"]
    return document


def _read_safetensors(file: Path, tensor: str) -> Any:
    import safetensors

    try:
        with safetensors.safe_open(str(file), framework="np") as handle:
            names = list(handle.keys())
            if not tensor and len(names) == 1:
                tensor = names[0]
            if tensor not in names:
                shown = ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
                raise MatrixError(f"name one tensor after '::'; the file has {shown}")
            if handle.get_slice(tensor).get_dtype() in ("F64", "F32", "F16", "I64", "I32", "I16", "I8", "U8", "BOOL"):
                return handle.get_tensor(tensor)
    except safetensors.SafetensorError as error:
        said = _one_line(error).rpartition("header: ")[2]
        raise MatrixError(f"the file is damaged or no safetensors ({said}): save it again") from None
    with safetensors.safe_open(str(file), framework="pt") as handle:
        return handle.get_tensor(tensor)
