"""Which arithmetic forms the large products: numpy's on this processor, or that of a device.

Every bound of this room asks one thing of a product with inner size k: ``|fl(A B) - A B| <= gamma_k |A| |B| + 2 k TINY``
entry by entry.  That holds **in any order of summation, with or without fused multiply-add, and where subnormal results
are flushed to zero** (Higham, section 3.5), so a product may be formed wherever the weights are.  Nothing else of a
device is believed: a factor that it gives is a guess, whose residual is bounded by a product (:func:`residual_above`);
eigenvectors come from this processor.  An arithmetic is taken only after its probe
(:mod:`eigentoken.numerics.certified.probe`), which TF32, half-precision sums and Strassen-like products fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol

import numpy as np

from eigentoken.numerics.certified.probe import BackendRefused, Probe, probe_arithmetic, probe_numpy
from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, frobenius_above, gamma, up

__all__ = [
    "NUMPY",
    "DeviceArithmetic",
    "Processor",
    "current",
    "factors_there",
    "multiply",
    "probe_device",
    "residual_above",
    "trusted",
    "using",
]

_SMALLEST_KEPT = 2.0**-1000  # an operand below it might be read as zero by a device: such products stay here


class DeviceArithmetic(Protocol):
    """Products and guesses of Cholesky factors of float64 arrays, computed somewhere."""

    @property
    def name(self) -> str: ...

    @property
    def least(self) -> int:
        """Products with fewer scalar multiplications than this are formed on the processor."""

    def product(self, a: Array, b: Array) -> Array:
        """``fl(A B)``."""

    @property
    def factors(self) -> bool:
        """Does :meth:`factor` give factors?  Else those of this processor are taken, which are bounded a priori."""

    def factor(self, matrix: Array) -> Array | None:
        """A lower triangular R with ``R R^T`` near the matrix, or None; nothing is claimed of it."""


class Processor:
    """numpy's products."""

    name: Final = "cpu"
    least: Final = 0
    factors: Final = False

    def product(self, a: Array, b: Array) -> Array:
        return np.asarray(a @ b)

    def factor(self, matrix: Array) -> Array | None:
        return None


NUMPY: Final = Processor()
_CURRENT: ContextVar[DeviceArithmetic] = ContextVar("arithmetic", default=NUMPY)
_PROBED: list[DeviceArithmetic] = [
    NUMPY
]  # numpy has its own probe (:func:`trusted`), which also asks for subnormal numbers


def current() -> DeviceArithmetic:
    """The arithmetic in force."""
    return _CURRENT.get()


def trusted() -> bool:
    """May float bounds be used: did the arithmetic of this processor pass its probe (a device passed to be in force)?"""
    return probe_numpy().passed


def probe_device(arithmetic: DeviceArithmetic) -> Probe:
    """The probe of a device; where small products stay here, a large one is probed, for which it may have another routine."""
    return probe_arithmetic(arithmetic.name, arithmetic.product, large=512 if arithmetic.least > 0 else 0)


@contextmanager
def using(arithmetic: DeviceArithmetic) -> Iterator[DeviceArithmetic]:
    """Form large products there, inside the ``with``; refused where its probe fails.

    >>> with using(NUMPY) as chosen:
    ...     chosen.name
    'cpu'
    """
    if not any(arithmetic is each for each in _PROBED):
        probe_device(arithmetic).require(subnormals=False)
        _PROBED.append(arithmetic)
    token = _CURRENT.set(arithmetic)
    try:
        yield arithmetic
    finally:
        _CURRENT.reset(token)


def multiply(a: Array, b: Array) -> Array:
    """``fl(A B)`` in the arithmetic in force; what is small, or has operands that a device might flush, stays here."""
    chosen = _CURRENT.get()
    if chosen is NUMPY:
        return np.asarray(a @ b)
    small = a.shape[0] * a.shape[-1] * b.shape[-1] < chosen.least
    if small or _may_be_flushed(a) or _may_be_flushed(b):
        return np.asarray(a @ b)
    found = chosen.product(a, b)
    if found.shape != (a.shape[0], b.shape[1]) or found.dtype != np.float64:
        raise BackendRefused(f"backend {chosen.name} gave a product of shape {found.shape} and type {found.dtype}")
    return found


def factors_there(n: int) -> bool:
    """Is a Cholesky factor of an n x n matrix asked of a device?"""
    chosen = _CURRENT.get()
    return chosen.factors and n**3 >= chosen.least


def _may_be_flushed(array: Array) -> bool:
    sizes = np.abs(array)
    return bool(((sizes > 0.0) & (sizes < _SMALLEST_KEPT)).any())


def residual_above(matrix: Array, factor: Array) -> float:
    """An upper bound on ``||S - R R^T||_2``, whoever made R: a product, its rounding, and the difference."""
    n = matrix.shape[0]
    rest = matrix - multiply(factor, np.ascontiguousarray(factor.T))
    size = frobenius_above(factor)
    return up(frobenius_above(rest) * (1 + 4 * UNIT) + gamma(n + 2) * up(size * size) + 2 * n**3 * TINY, 8)
