"""Re-check of stored discs: small discs of our own inside them, with the right number in each component.

If each small disc lies inside one stored disc, small discs of different stored components are disjoint; so those of one
stored component are a union of components of small discs, and hold exactly as many eigenvalues as there are of them.
Shown false: the numbers differ, or a component of small discs touches no stored disc.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, overload

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.recheck.documents.reading import CertificateDocument, Exact, fraction_of, unconfirmed
from eigentoken.numerics.recheck.matrices import rational
from eigentoken.numerics.recheck.matrices.floats import nearest_float
from eigentoken.numerics.recheck.matrices.leaders import COARSE_FROM, EXACT_SIZE, places
from eigentoken.numerics.recheck.matrices.locating import SLIP, BallPlaces, FloatPlaces, arb_of

__all__ = ["ROOT_BITS", "components", "confirm_discs", "exact_roots"]

ROOT_BITS = 2048
NOT_ONE_EACH: Final = "there must be one disc for each eigenvalue"
Indices = NDArray[np.intp]
Disc = tuple[Fraction, Fraction, Fraction]
Discs = Sequence[Disc]


class DiscsOfFloats(Sequence[Disc]):
    """Discs whose numbers are the floats of an array (n, 3); exact where one is asked for."""

    def __init__(self, columns: NDArray[np.float64]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> Disc: ...
    @overload
    def __getitem__(self, index: slice) -> DiscsOfFloats: ...
    def __getitem__(self, index: int | slice) -> Disc | DiscsOfFloats:
        if isinstance(index, slice):
            return DiscsOfFloats(self.columns[index])
        x, y, r = self.columns[index].tolist()
        return Fraction(x), Fraction(y), Fraction(r)


@dataclass(frozen=True)
class Filled:
    """For each small disc the stored component it lies in (-1: not shown), and whether it is shown to touch none.

    ``joined(i)``: the small discs that may be connected with disc i, of which one holds an eigenvalue.
    """

    home: Indices
    far: NDArray[np.bool_]
    joined: Callable[[int], NDArray[np.bool_]]

    def one_is_outside(self) -> bool:
        """Is a whole component of small discs away from all stored discs?"""
        return any(bool(self.far[self.joined(int(i))].all()) for i in np.flatnonzero(self.far))


def confirm_discs(document: CertificateDocument, matrix: Exact, reach: Fraction, until: float) -> str | None:
    """None if the stored discs hold the spectrum of every matrix within reach, with their counts; else why not."""
    facts = document.data["facts"]
    n = matrix.shape[0]
    if "discs" in facts:
        exact = [tuple(fraction_of(v) for v in disc) for disc in facts["discs"]]
        if any(len(disc) != 3 or disc[2] < 0 for disc in exact):
            return NOT_ONE_EACH
        stored: Discs = [(disc[0], disc[1], disc[2]) for disc in exact]
    else:
        names = ("centers_re", "centers_im", "radii")
        if any(name not in document.arrays for name in names):
            return unconfirmed("nothing: the arrays of the discs were not given")
        columns = [document.arrays[name] for name in names]
        if any(c.shape != (n,) or c.dtype != np.float64 or not np.isfinite(c).all() for c in columns):
            return "the arrays of the discs do not fit"
        if bool((columns[2] < 0).any()):
            return NOT_ONE_EACH
        stored = DiscsOfFloats(np.stack(columns, axis=1))
    if len(stored) != n or facts.get("size") != n:
        return NOT_ONE_EACH
    labels = components(stored)
    tried = []
    for name, filled, about_all in _attempts(matrix, reach, stored, labels, until):
        tried.append(name)
        if filled is None:
            continue
        whole = bool((filled.home >= 0).all())
        if whole and np.array_equal(np.bincount(filled.home, minlength=n), np.bincount(labels, minlength=n)):
            return None
        if whole and about_all:
            return "the numbers of eigenvalues in the components are not those of the stored discs"
        if about_all and filled.one_is_outside():
            return "an eigenvalue lies outside all stored discs"
    return unconfirmed(*tried)


def _attempts(
    matrix: Exact, reach: Fraction, stored: Discs, labels: Indices, until: float
) -> Iterator[tuple[str, Filled | None, bool]]:
    """Ways to fill the discs; the last entry says that the small discs are about all eigenvalues, one each."""
    n = matrix.shape[0]
    if n < COARSE_FROM:
        yield _by_frobenius(matrix, reach, stored, labels)
    for name, found in places(matrix, reach, until, coarse=True):
        if isinstance(found, FloatPlaces):
            yield name, _fill_floats(found, stored, labels), True
        elif isinstance(found, BallPlaces):
            small = list(zip(found.discs.centers, found.discs.radii, strict=True))
            yield name, _fill_balls(small, stored, labels, found.component), True
        else:
            yield name, None, False
    if n >= COARSE_FROM:
        yield _by_frobenius(matrix, reach, stored, labels)
    if reach == 0 and n <= 64:
        roots = list(exact_roots(matrix, until))
        yield "exact roots", _fill_balls(roots, stored, labels, lambda i: np.arange(n) == i), True


def _by_frobenius(matrix: Exact, reach: Fraction, stored: Discs, labels: Indices) -> tuple[str, Filled, bool]:
    n = matrix.shape[0]
    whole = [(flint.acb(0), _frobenius(matrix, reach))] * n
    return "the Frobenius norm", _fill_balls(whole, stored, labels, lambda _: np.ones(n, dtype=bool)), False


def _frobenius(matrix: Exact, reach: Fraction) -> Any:
    """``|lambda| <= ||M||_F + reach``."""
    old, flint.ctx.prec = flint.ctx.prec, 256
    try:
        if matrix.shape[0] <= EXACT_SIZE:
            squares = sum((e * e for e in matrix.numerators.entries()), flint.fmpz(0))
            return flint.arb(squares).sqrt() / flint.arb(matrix.denominator) + arb_of(reach)
        values, e, rho = matrix.rounded
        size = float(np.linalg.norm(values)) * (1 + values.size * 2.0**-52) + rho * (1 + 2.0**-40)
        return flint.arb(size) * flint.arb(2) ** e + arb_of(reach)
    finally:
        flint.ctx.prec = old


def exact_roots(matrix: Exact, until: float) -> Iterator[tuple[Any, Any]]:
    """Centers and radii that hold one root of the characteristic polynomial each, as often as its multiplicity."""
    p = rational.characteristic(matrix.numerators, matrix.denominator, until).numer()
    old = flint.ctx.prec
    try:
        for factor, multiplicity in p.factor()[1] if p.degree() <= 30 else p.factor_squarefree()[1]:
            centered, mean = _centered(factor)
            flint.ctx.prec = centered.height_bits() + 64
            try:  # a bounded attempt first: complex_roots has no limit
                flint.acb_poly(centered).roots(maxprec=12000 if factor.degree() <= 12 else 2000)
            except ValueError:
                raise rational.LateError("distinct roots are too close to isolate them") from None
            flint.ctx.prec = ROOT_BITS
            for root, _ in centered.complex_roots():
                ball = flint.acb(root) + flint.arb(mean)
                for _ in range(multiplicity):
                    yield ball.mid(), flint.arb(abs(ball - ball.mid()).upper())
    finally:
        flint.ctx.prec = old


def _centered(p: flint.fmpz_poly) -> tuple[flint.fmpz_poly, flint.fmpq]:
    """``p(x + m)`` times an integer, with m the mean of the roots: a cluster of roots is spread out by it."""
    n = p.degree()
    mean = flint.fmpq(-p[n - 1], p[n] * n)
    return flint.fmpq_poly(p)(flint.fmpq_poly([mean, 1])).numer(), mean


def components(stored: Discs) -> Indices:
    """The component of each disc; touching counts.  Floats decide where they can, exact numbers the rest."""
    n = len(stored)
    x, y, r, slip = _float_columns(stored)
    label = list(range(n))

    def root(k: int) -> int:
        while label[k] != k:
            label[k] = label[label[k]]
            k = label[k]
        return k

    with np.errstate(all="ignore"):
        for i, near in _neighbours(x, r, slip):
            distance, reach = np.hypot(x[near] - x[i], y[near] - y[i]), r[near] + r[i]
            slack = SLIP * (distance + reach) + 4 * slip
            for k in np.flatnonzero(~(distance > reach + slack)):  # NaN and Inf are decided exactly
                j = int(near[k])
                sure = bool(distance[k] < reach[k] - slack[k])
                if sure or _touch(stored[i], stored[j]):
                    label[root(i)] = root(j)
    return np.array([root(k) for k in range(n)], dtype=np.intp)


def _neighbours(x: Any, r: Any, slip: float) -> Iterator[tuple[int, Indices]]:
    """Each disc with those after it whose shadows on the real axis may touch its own: all that can touch it."""
    wide = r * (1 + 8 * SLIP) + 16 * slip
    low, high = x - wide, x + wide
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        yield from ((i, np.arange(i)) for i in range(1, len(x)))
        return
    order = np.argsort(low, kind="stable")
    ends = np.searchsorted(low[order], high[order], side="right")
    for k in np.flatnonzero(ends > np.arange(1, len(x) + 1)):
        yield int(order[k]), order[k + 1 : ends[k]]


def _touch(a: Any, b: Any) -> bool:
    return bool((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 <= (a[2] + b[2]) ** 2)


def _float_columns(stored: Discs) -> tuple[Any, Any, Any, float]:
    """Centers and radii as floats in units of the largest number, and a bound on the error of each."""
    columns = _nearest(stored)
    largest = float(np.abs(columns).max(initial=0.0))
    if (
        2.0**-900 < largest < 2.0**900
    ):  # to the nearest float, then exactly by a power of two, or off by the last of all
        columns = np.ldexp(columns, -math.frexp(largest)[1])
    else:
        top = max((abs(v) for disc in stored for v in disc), default=Fraction(0)) or Fraction(1)
        columns = np.array([[float(v / top) for v in disc] for disc in stored], dtype=np.float64)
    return columns[:, 0], columns[:, 1], columns[:, 2], 2.0**-53


def _nearest(stored: Discs, exponent: int = 0) -> NDArray[np.float64]:
    """The floats nearest to the numbers times ``2^-exponent``, a row for each disc."""
    floats = isinstance(stored, DiscsOfFloats)
    near = (
        stored.columns
        if isinstance(stored, DiscsOfFloats)
        else np.array([[nearest_float(v) for v in disc] for disc in stored], dtype=np.float64)
    )
    if exponent == 0:
        return near
    size = np.abs(near)
    sure = ((size > 2.0**-400) & (size < 2.0**400)) | (floats & (size == 0))  # there a power of two loses nothing
    found = np.ldexp(near, -exponent)
    for i, k in np.argwhere(~sure if abs(exponent) < 400 else np.ones_like(sure)):
        found[i, k] = nearest_float(stored[int(i)][int(k)] / Fraction(2) ** exponent)
    return np.asarray(found)


def _fill_floats(found: FloatPlaces, stored: Discs, labels: Indices) -> Filled:
    """Small discs in floats.  Both sides in units of ``2^exponent``; a stored number is rounded by at most u of it."""
    n = len(stored)
    x, y, r = _nearest(stored, found.exponent).T.copy()
    home = np.full(n, -1, dtype=np.intp)
    outside = np.zeros(n, dtype=bool)
    mine = found.discs
    with np.errstate(all="ignore"):
        left, right = (
            np.lexsort((mine.im, mine.re)),
            np.lexsort((y, x)),
        )  # most often the same eigenvalues in this order
        apart = np.hypot(x[right] - mine.re[left], y[right] - mine.im[left])
        room = SLIP * (np.abs(x[right]) + np.abs(y[right]) + r[right] + apart + mine.radii[left]) + 2.0**-1000
        own = apart + mine.radii[left] + room <= r[right]
        home[left[own]] = labels[right[own]]
        for i in left[~own]:
            distance = np.hypot(x - mine.re[i], y - mine.im[i])
            slack = SLIP * (np.abs(x) + np.abs(y) + r + distance + mine.radii[i]) + 2.0**-1000
            inside = np.flatnonzero(distance + mine.radii[i] + slack <= r)
            if inside.size:
                home[i] = labels[inside[0]]
            outside[i] = bool((distance > r + mine.radii[i] + slack).all())
    return Filled(home, outside, found.component)


def _fill_balls(small: list[Any], stored: Discs, labels: Indices, joined: Callable[[int], NDArray[np.bool_]]) -> Filled:
    old, flint.ctx.prec = flint.ctx.prec, 512
    try:
        middles = [(flint.acb(arb_of(x), arb_of(y)), arb_of(r)) for x, y, r in stored]
        home = np.full(len(small), -1, dtype=np.intp)
        outside = np.zeros(len(small), dtype=bool)
        for i, (center, radius) in enumerate(small):
            if i and small[i - 1] is small[i]:
                home[i], outside[i] = home[i - 1], outside[i - 1]
                continue
            distances = [abs(center - middle) for middle, _ in middles]
            near = next((k for k, (_, r) in enumerate(middles) if distances[k] + radius <= r), None)
            home[i] = -1 if near is None else labels[near]
            outside[i] = near is None and all(d > r + radius for d, (_, r) in zip(distances, middles, strict=True))
        return Filled(home, outside, joined)
    finally:
        flint.ctx.prec = old
