"""Arrays as they are given (numpy, torch, pandas): dense, without a gradient, in the byte order of the machine; or refused.

Neither torch nor pandas is imported for this: a tensor is told by the module of its type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ArrayError", "dense_array", "rows_of"]


class ArrayError(ValueError):
    """An array that holds no plain numbers: one line that names the argument and what to do."""


def dense_array(where: str, value: Any) -> Any:
    """A tensor dense and without its gradient (its dtype and device kept), a table as an array; anything else as it is.

    >>> dense_array("V", np.array([[1.0]], dtype=">f8")).dtype.isnative
    True
    >>> dense_array("V", "1/3")
    '1/3'
    """
    if type(value).__module__.partition(".")[0] == "torch" or _is_tensor(value):
        return _dense_tensor(where, value)
    if not isinstance(value, np.ndarray) and hasattr(value, "to_numpy"):  # a table of pandas
        value = value.to_numpy()
    if isinstance(value, np.ma.MaskedArray):
        raise ArrayError(f"{where} is a masked array: fill it first, nothing is known about masked entries")
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    return value


def rows_of(where: str, value: Any) -> Any:
    """The entries of an array as nested lists; what is no array as it is."""
    found = dense_array(where, value)
    return found.tolist() if hasattr(found, "tolist") else found


def _is_tensor(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("is_quantized", "layout", "device", "detach"))


def _dense_tensor(where: str, value: Any) -> Any:
    if not _is_tensor(value):
        return value
    if value.device.type == "meta":
        raise ArrayError(f"{where} is on the meta device and has no numbers: load it on a real device first")
    if value.is_quantized:
        raise ArrayError(f"{where} is quantized ({value.dtype}): dequantize it first")
    plain = value.detach()
    if str(plain.layout) != "torch.strided":
        plain = plain.to_dense()
    return plain.resolve_conj().resolve_neg()
