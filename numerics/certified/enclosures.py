"""Enclosures: a matrix as the set of all matrices it may be.

An :class:`Enclosure` is the set ``{2^exponent (T + E) : ||E||_2 <= slack}`` around one exact matrix T, together with a
float ``center`` for which ``||T + E - center||_2 <= radius`` for every such E.  Stored weights (float16, bfloat16,
float32, float64, integers, rationals) are exact: slack 0.  A product carries the rounding of its float center
(``||fl(Q K) - Q K||_F <= gamma_k ||Q||_F ||K||_F``, Higham, section 3.5; zero when all partial sums fit 53 bits) and
remembers its factors, so that exact arithmetic can still be asked.  A verdict about an enclosure is about *every*
matrix in the set.

The power of two keeps the entries of the center between 2^-100 and 2^100 in modulus where it matters, so that no norm
overflows; entries that become subnormal on the way lose at most TINY each, which the radius pays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.certified.arithmetic import multiply, trusted
from eigentoken.numerics.certified.definiteness import eigenvalue_intervals
from eigentoken.numerics.certified.exact_matrices import ExactMatrix
from eigentoken.numerics.certified.rounding import (
    TINY,
    UNIT,
    Array,
    frobenius_above,
    gamma,
    scale_down,
    scale_up,
    spectral_norm_above,
    up,
)
from eigentoken.theory.language.verdicts import array_digest

# a sum of products of named inputs, each possibly transposed: what a re-check has to form again
Terms = tuple[tuple[tuple[str, bool], ...], ...]

__all__ = ["Enclosure", "MatrixError", "equals_transpose", "product", "total"]


class MatrixError(ValueError):
    """A matrix that cannot be read or does not fit the question: one line, with what to do."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """A set of matrices around an exact one; build it with :meth:`from_floats`, :meth:`from_exact` or a product."""

    center: Array
    radius: float = 0.0
    slack: float = 0.0
    exponent: int = 0
    _exact: Callable[[], ExactMatrix] | None = field(default=None, repr=False)
    _inputs: Callable[[], Mapping[str, str]] | None = field(default=None, repr=False)
    terms: Terms = ((("matrix", False),),)
    given_slack: Fraction | None = None  # in the units of the input; the scaled float may have overflowed
    square_factors: tuple[Enclosure, Enclosure] | None = field(default=None, repr=False)
    "Of which exact matrices it is the product, where both are square."
    same_center: Enclosure | None = field(default=None, repr=False)
    "An enclosure with the very same center: what was found of its floats (an eigenbasis) serves here as well."
    plain: bool = False
    "Is it one named matrix of floats, which are the center, unscaled?"
    near: Enclosure | None = field(default=None, repr=False)
    "An enclosure that this one was made from: its symmetric part may have the same eigenvectors, which is tried first."

    @classmethod
    def from_floats(cls, array: Array, radius: float = 0.0, name: str = "matrix") -> Enclosure:
        """The exact value of a finite float64 matrix, and everything within ``radius`` in the spectral norm."""
        values = np.ascontiguousarray(array, dtype=np.float64)
        if values.ndim != 2:
            raise MatrixError(f"{name} must be a matrix (two axes), got {values.ndim} axes of shape {values.shape}")
        if values.size == 0:
            raise MatrixError(f"{name} is empty, shape {values.shape}: a condition needs at least one row and column")
        _refuse_flushed(values, name)
        slack = _checked_radius(radius)
        largest = float(max(-values.min(), values.max()))  # NaN propagates through both
        if not math.isfinite(largest):
            raise MatrixError(f"{name} has NaN or infinite entries: nothing can be certified about it")
        center, lost, exponent = _normalised(values, largest)
        scaled = scale_up(slack, -exponent)
        return cls(
            center,
            up(scaled + lost) if lost else scaled,
            scaled,
            exponent,
            lambda: ExactMatrix.from_floats(values),
            lambda: {name: array_digest(values)},
            (((name, False),),),
            Fraction(slack),
            plain=center is values,
        )

    @classmethod
    def from_exact(cls, exact: ExactMatrix, radius: float = 0.0, name: str = "matrix") -> Enclosure:
        """An exact rational matrix, and everything within ``radius`` of it in the spectral norm."""
        if 0 in exact.shape:
            raise MatrixError(f"{name} is empty, shape {exact.shape}: a condition needs at least one row and column")
        floats = exact.as_floats()
        if floats is not None:  # the same content has the same hash, however it was written
            return cls.from_floats(floats, radius, name)
        center, lost, exponent = exact.nearest_floats()
        slack = _checked_radius(radius)
        scaled = scale_up(slack, -exponent)
        return cls(
            center,
            up(scaled + lost),
            scaled,
            exponent,
            lambda: exact,
            lambda: {name: exact.digest()},
            (((name, False),),),
            Fraction(slack),
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.center.shape[0], self.center.shape[1]

    @property
    def is_square(self) -> bool:
        return self.shape[0] == self.shape[1]

    @property
    def has_exact(self) -> bool:
        """Is the exact matrix known (without computing it)?"""
        return self._exact is not None

    @cached_property
    def exact(self) -> ExactMatrix | None:
        """The exact matrix T 2^exponent, or None when only the ball is known."""
        return self._exact() if self._exact is not None else None

    @cached_property
    def inputs(self) -> Mapping[str, str]:
        """Name and sha256 of each input."""
        return dict(self._inputs()) if self._inputs is not None else {}

    @cached_property
    def center_is_its_transpose(self) -> bool:
        """Has the float center the very bits of its transpose?  (A zero and a minus zero are equal, and two contents.)"""
        return self.is_square and equals_transpose(self.center.view(np.int64))

    @cached_property
    def center_is_symmetric(self) -> bool:
        """Is the float center equal to its transpose, entry by entry?"""
        return self.center_is_its_transpose or (self.is_square and equals_transpose(self.center))

    @cached_property
    def symmetric_part(self) -> tuple[Array, float]:
        """``(S, rho)`` with S exactly symmetric and ``||sym(M) - S||_2 <= rho`` for every M of the (scaled) set.

        ``fl((a + b) / 2)`` errs by at most ``u |a + b| / 2`` (halving is exact or loses TINY), and
        ``||sym(E)||_2 <= ||E||_2``.
        """
        if self.center_is_symmetric:
            return self.center, self.radius
        half = 0.5 * (self.center + self.center.T)
        n = half.shape[0]
        return half, up(self.radius + up(UNIT * frobenius_above(half) + n * TINY))

    @cached_property
    def symmetric_spectrum(self) -> tuple[Array, float, Array] | None:
        """Enclosed eigenvalues of the symmetric part, and vectors near: asked for by many conditions, found once."""
        known = None if self.near is None else self.near.symmetric_spectrum
        return eigenvalue_intervals(*self.symmetric_part, None if known is None else known[2])

    @property
    def slack_above(self) -> Fraction:
        """The slack in the units of the input, as an exact number that is not smaller."""
        if self.given_slack is not None:
            return self.given_slack
        return Fraction(self.slack) * Fraction(2) ** self.exponent

    def unscaled_lower(self, value: float) -> float:
        """A certified lower bound in the units of the input."""
        return scale_down(value, self.exponent)

    def unscaled_upper(self, value: float) -> float:
        return scale_up(value, self.exponent)

    @property
    def transpose(self) -> Enclosure:
        exact = self._exact
        flipped = tuple(tuple((name, not turned) for name, turned in reversed(term)) for term in self.terms)
        return Enclosure(
            np.ascontiguousarray(self.center.T),
            self.radius,
            self.slack,
            self.exponent,
            None if exact is None else lambda: exact().transpose(),
            self._inputs,
            flipped,
            self.given_slack,
        )


def equals_transpose(matrix: Array | NDArray[np.int64], tile: int = 96) -> bool:
    """Is a square matrix equal to its transpose?  Tile by tile, so that both sides stay in the cache.

    >>> equals_transpose(np.array([[1.0, 2.0], [2.0, 0.0]])), equals_transpose(np.array([[0.0, 1.0], [2.0, 0.0]]))
    (True, False)
    """
    starts = range(0, matrix.shape[0], tile)
    return all(
        np.array_equal(matrix[i : i + tile, j : j + tile], matrix[j : j + tile, i : i + tile].T)
        for i in starts
        for j in starts
        if j <= i
    )


def _refuse_flushed(values: Array, name: str) -> None:
    """Where the process treats subnormal numbers as zero, a matrix that has some cannot be read as what it is."""
    tiny = np.full(1, 5e-324)
    if bool((tiny == 0.0).any()) or bool((tiny * 1.0 == 0.0).any()):
        bits = values.view(np.int64) & 0x7FFFFFFFFFFFFFFF
        if bool(((bits > 0) & (bits < 0x0010000000000000)).any()):
            raise MatrixError(f"{name} has subnormal entries and this process flushes them to zero: switch that off")


def _checked_radius(radius: float) -> float:
    value = float(radius)
    if not (math.isfinite(value) and value >= 0):
        raise MatrixError(f"radius must be a finite number >= 0, got {radius!r}")
    if Fraction(value) < Fraction(radius):  # a rational radius that float() rounded down
        value = math.nextafter(value, math.inf)
    return value


def _normalised(values: Array, largest: float) -> tuple[Array, float, int]:
    """``values 2^-exponent`` up to a Frobenius error that is returned."""
    if largest == 0.0 or 2.0**-100 <= largest <= 2.0**100:
        return values, 0.0, 0
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(values, -exponent)
    lossy = exponent > 0 and bool((np.abs(values) < 2.0 ** (exponent - 960)).any())
    return scaled, (values.size * TINY if lossy else 0.0), exponent


def _unit(array: Array) -> float:
    """The largest power of two that divides every entry (0 for the zero matrix).

    That of a few entries is tried on all; where some are no multiples of it, that of these.
    """
    flat = array.ravel(order="K")
    unit = _unit_of(flat[:64])
    for _ in range(8):
        if unit < 2.0**-400:  # no few entries say enough, or sums of so small a unit are not looked at
            break
        scaled = flat * (1.0 / unit)
        off = scaled != np.rint(scaled)
        if not off.any():
            return unit
        unit = min(unit, _unit_of(flat[off][:64]))
    return _unit_of(flat)


def _unit_of(array: Array) -> float:
    mantissa, exponent = np.frexp(array)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    nonzero = whole != 0
    if not nonzero.any():
        return 0.0
    low = np.frexp((whole[nonzero] & -whole[nonzero]).astype(np.float64))[1] - 1
    return math.ldexp(1.0, int((exponent[nonzero] - 53 + low).min()))


def _product_is_exact(a: Array, b: Array) -> bool:
    """Do all partial sums of ``a @ b`` fit 53 bits?  (units multiply; moduli of the sums are at most k max max)

    A few entries are looked at first: the unit of all is at most theirs, so where these do not fit, all do not.
    """
    sizes = float(np.abs(a).max()), float(np.abs(b).max())
    few = _unit(a.ravel()[:64]), _unit(b.ravel()[:64])
    if 0.0 not in few and not _fits(sizes, few, a.shape[1]):
        return False
    units = _unit(a), _unit(b)
    return 0.0 in units or _fits(sizes, units, a.shape[1])


def _fits(sizes: tuple[float, float], units: tuple[float, float], k: int) -> bool:
    if min(units) < 2.0**-400:
        return False
    return math.log2(sizes[0] / units[0]) + math.log2(sizes[1] / units[1]) + math.log2(k) < 52.9


def product(*factors: Enclosure) -> Enclosure:
    """The product of enclosures as an enclosure that remembers its factors.

    >>> q = Enclosure.from_floats(np.array([[1.0, 2.0]]), name="Q")
    >>> product(q.transpose, q).radius
    0.0
    """
    if not factors:
        raise MatrixError("a product needs at least one factor")
    result = factors[0]
    for factor in factors[1:]:
        result = _product_of_two(result, factor)
    return result


def _product_of_two(a: Enclosure, b: Enclosure) -> Enclosure:
    if a.shape[1] != b.shape[0]:
        raise MatrixError(f"the factors have shapes {a.shape} and {b.shape}: the inner sizes must agree")
    k = a.shape[1]
    raw = multiply(a.center, b.center)
    norm_a, norm_b = frobenius_above(a.center), frobenius_above(b.center)
    rounding = 0.0
    if not _product_is_exact(a.center, b.center):
        # a backend that failed its probe says nothing about the product: only the exact factors do
        rounding = up(gamma(k) * norm_a * norm_b + 2 * k * raw.size * TINY, 8) if trusted() else math.inf
    radius = slack = 0.0
    if a.radius or b.radius:
        two_a, two_b = spectral_norm_above(a.center), spectral_norm_above(b.center)
        radius = up(a.radius * two_b + two_a * b.radius + a.radius * b.radius, 8)
        if a.slack or b.slack:
            two_a, two_b = up(two_a + a.radius), up(two_b + b.radius)
            slack = up(a.slack * two_b + two_a * b.slack + a.slack * b.slack, 8)
    if not math.isfinite(radius):
        raise MatrixError("the radius of a factor is too large for a product")
    center, lost, shift = _normalised(raw, float(np.abs(raw).max()))
    whole = scale_up(up(rounding + radius) if rounding else radius, -shift)
    source_a, source_b = a._exact, b._exact
    exact: Callable[[], ExactMatrix] | None = None
    if source_a is not None and source_b is not None:
        exact = lambda: source_a().times(source_b())  # noqa: E731
    return Enclosure(
        center,
        up(whole + lost) if lost else whole,
        scale_up(slack, -shift),
        a.exponent + b.exponent + shift,
        exact,
        lambda: {**a.inputs, **b.inputs},
        tuple(left + right for left in a.terms for right in b.terms),
        square_factors=(a, b) if a.is_square and b.is_square and not (a.slack or b.slack) else None,
    )


def total(parts: Sequence[Enclosure]) -> Enclosure:
    """The sum of enclosures of one shape: ``|fl(sum) - sum| <= gamma_{m-1} sum |C_i|`` and the radii add."""
    if not parts:
        raise MatrixError("a sum needs at least one part")
    if len({part.shape for part in parts}) != 1:
        raise MatrixError(f"the parts have shapes {[part.shape for part in parts]}: they must agree")
    exponent = max(part.exponent for part in parts)
    center = np.zeros(parts[0].shape)
    radius = slack = size = 0.0
    for part in parts:
        shifted = np.ldexp(part.center, part.exponent - exponent)
        lost = part.center.size * TINY if part.exponent != exponent else 0.0
        center = center + shifted
        size = up(size + frobenius_above(shifted))
        radius = up(radius + scale_up(part.radius, part.exponent - exponent) + lost) if part.radius or lost else radius
        slack = up(slack + scale_up(part.slack, part.exponent - exponent)) if part.slack else slack
    rounding = up(gamma(len(parts)) * size + center.size * TINY) if len(parts) > 1 else 0.0
    sources = [part._exact for part in parts]

    def exact() -> ExactMatrix:
        result = None
        for source in sources:
            value = source()  # type: ignore[misc]
            result = value if result is None else result.plus(value)
        return result  # type: ignore[return-value]

    known = all(source is not None for source in sources)
    names: dict[str, str] = {}

    def inputs() -> Mapping[str, str]:
        for part in parts:
            names.update(part.inputs)
        return names

    terms = tuple(term for part in parts for term in part.terms)
    return Enclosure(
        center, up(radius + rounding) if rounding else radius, slack, exponent, exact if known else None, inputs, terms
    )
