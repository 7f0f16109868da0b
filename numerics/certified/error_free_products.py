"""Sliced products: float64 matrix products whose error is about u^2, by error-free splitting.

A is cut row by row, and B column by column, into slices ``A = sum_s A_s + A_rest``: slice s holds ``w`` bits of every
entry relative to the largest entry of its row, cut by adding and subtracting a power of two (exact: Sterbenz).
With ``2 w + ceil(log2 k) <= 52`` every partial sum of ``A_s B_t`` is an integer below 2^53 times a power of two, so
the BLAS product is **exact in any order of summation**, with or without FMA (Ozaki, Ogita, Oishi, Rump, *Error-free
transformations of matrix multiplication*, Numer. Algorithms 59, 2012).  The exact pieces are added in double-double
arithmetic by TwoSum (Knuth), each addition with relative error at most ``2^-104`` of the running modulus.

The result ``high + low`` comes with an entrywise bound: what the dropped slices can hold,
``k (2^-w_total |row max| |col max|)`` and the additions.  Nothing underflows if row and column maxima are within
2^+-200; rows outside are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eigentoken.numerics.certified.arithmetic import multiply
from eigentoken.numerics.certified.rounding import TINY, Array, inflate

__all__ = ["SlicedProduct", "sliced_product", "two_sum"]

_RANGE = 2.0**200


@dataclass(frozen=True)
class SlicedProduct:
    """``|A B - (high + low)| <= error`` entry by entry; ``low`` is at most an ulp of ``high``."""

    high: Array
    low: Array
    error: Array


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b = s + e`` exactly, with ``s = fl(a + b)`` (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def _slices(matrix: Array, width: int, count: int, axis: int) -> tuple[list[Array], Array]:
    """``count`` slices of ``width`` bits along rows (axis 1) or columns (axis 0), and a bound on what is left."""
    rest = np.array(matrix, dtype=np.float64)
    largest = np.abs(rest).max(axis=axis, keepdims=True)
    if bool(((largest > _RANGE) | ((largest < 1 / _RANGE) & (largest > 0))).any()):
        raise ValueError("rows and columns must have maxima within 2^+-200 for a sliced product")
    exponent = np.frexp(largest)[1]  # |entry| < 2^exponent
    slices = []
    for s in range(count):
        # numbers around 3/4 2^(q + 53) are multiples of 2^q: adding it rounds to multiples of 2^q
        anchor = np.ldexp(0.75, exponent - width * (s + 1) + 53)
        piece = (rest + anchor) - anchor
        slices.append(piece)
        rest = rest - piece
    left = np.ldexp(1.0, exponent - width * count)  # half a unit of the last slice, with room
    return slices, np.where(largest > 0, left, 0.0)


def sliced_product(a: Array, b: Array, count: int = 3) -> SlicedProduct:
    """``A B`` to about ``count * w`` bits (w = 21 at inner size 768), in ``count (count + 1) / 2`` BLAS products.

    >>> a, b = np.array([[1.0, 1e-17, -1.0]]), np.array([[1.0], [1.0], [1.0]])
    >>> product = sliced_product(a, b, count=4)
    >>> abs(float((product.high + product.low)[0, 0]) / 1e-17 - 1) < 1e-12
    True
    """
    inner = a.shape[1]
    width = (52 - math.ceil(math.log2(max(inner, 2)))) // 2
    left, rest_a = _slices(a, width, count, axis=1)
    right, rest_b = _slices(b, width, count, axis=0)
    shape = (a.shape[0], b.shape[1])
    high, low, grown = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    additions = 0
    for level in range(count - 1, -1, -1):  # smallest pieces first
        for s in range(level + 1):
            high, error = two_sum(high, multiply(left[s], right[level - s]))
            low = low + error
            grown += np.abs(low)
            additions += 1
    high, low = two_sum(high, low)
    # rounding: every addition to `low` errs by at most u |low| (accumulated in `grown`)
    rounding = inflate(grown, additions + 4) * 2.0**-52
    # dropped products A_s B_t with s + t >= count, and everything that meets a rest: each entry of slice s is at most
    # 2^(e - w s) in modulus (s = 0, 1, ...), so a dropped pair is at most k 2^(ea + eb - w count); there are at most
    # count^2 of them; the rests meet whole entries: k (rest_a 2^eb + 2^ea rest_b + rest_a rest_b).
    top_b = rest_b * 2.0 ** (width * count)
    pairs = count * count + 3
    dropped = inflate(inner * pairs * (rest_a * top_b), 8)
    return SlicedProduct(high, low, rounding + dropped * (1 + 2.0**-40) + (inner + 4) * pairs * TINY)
