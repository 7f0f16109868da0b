"""Matrices with exact ground truth: the families on which a false verdict would show.

Truth never comes from the certified code.  Symmetric families: congruences ``U^T D U`` with unimodular integer U (inertia
of D, Sylvester), or elimination over Python fractions.  Spectral families: similarities ``U^-1 D U`` with unimodular U
and integer blocks (eigenvalues known exactly, compared as integers), or the roots of the exact characteristic polynomial
to 60 digits by mpmath, used only where they are separated by more than 1e-20 of their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar

import mpmath
import numpy as np
import sympy as sp

__all__ = ["SIGN_FAMILIES", "SPECTRAL_FAMILIES", "SignCase", "SpectralCase", "in_turn", "sign_cases", "spectral_cases"]

Rows = list[list[Fraction]]
Generator = np.random.Generator
Case = TypeVar("Case")


@dataclass(frozen=True)
class SignCase:
    """A matrix (array, or exact rows as strings) and the exact inertia of its symmetric part."""

    family: str
    matrix: Any
    inertia: tuple[int, int, int]


@dataclass(frozen=True)
class SpectralCase:
    """A matrix and, for each order, the exact kind of its leader (None where the truth is not known).

    ``eigenvalues``: all of them as (re, im >= 0, multiplicity), a pair once, where they are rational; else empty.
    """

    family: str
    matrix: Any
    alpha: Fraction
    kinds: dict[str, str | None]
    eigenvalues: tuple[tuple[Fraction, Fraction, int], ...] = ()

    def points(self) -> list[tuple[Fraction, Fraction]]:
        """Every eigenvalue as often as its multiplicity, both of a pair."""
        return [
            (re, sign * im) for re, im, m in self.eigenvalues for sign in ((1, -1) if im else (1,)) for _ in range(m)
        ]


def fraction_inertia(rows: Rows) -> tuple[int, int, int]:
    """Inertia of a symmetric matrix by elimination over Python fractions (the first nonzero diagonal is the pivot)."""
    a = [list(row) for row in rows]
    n = len(a)
    active = list(range(n))
    counts = [0, 0]
    while active:
        pivot = next((i for i in active if a[i][i] != 0), None)
        if pivot is None:
            pair = next(((i, j) for i in active for j in active if i < j and a[i][j] != 0), None)
            if pair is None:
                break
            i, j = pair  # x_i -> x_i + x_j makes the diagonal nonzero: a congruence
            for k in range(n):
                a[i][k] += a[j][k]
            for k in range(n):
                a[k][i] += a[k][j]
            continue
        counts[0 if a[pivot][pivot] > 0 else 1] += 1
        active.remove(pivot)
        for i in active:
            factor = a[i][pivot] / a[pivot][pivot]
            for j in active:
                a[i][j] -= factor * a[pivot][j]
    return counts[0], counts[1], n - sum(counts)


def _symmetric_rows(matrix: Any) -> Rows:
    exact = [[Fraction(v) if isinstance(v, str) else Fraction(float(v)) for v in row] for row in matrix]
    return [[(exact[i][j] + exact[j][i]) / 2 for j in range(len(exact))] for i in range(len(exact))]


def _unimodular(rng: Generator, n: int, steps: int = 12) -> tuple[Any, Any]:
    """An integer matrix of determinant one and its inverse, as arrays of Python integers."""
    u = np.array([[int(i == j) for j in range(n)] for i in range(n)], dtype=object)
    inverse = u.copy()
    for _ in range(steps if n > 1 else 0):
        i, j = rng.choice(n, size=2, replace=False)
        c = int(rng.integers(-2, 3))
        u[i] = u[i] + c * u[j]
        inverse[:, j] = inverse[:, j] - c * inverse[:, i]
    return u, inverse


def _as_floats(matrix: Any) -> Any:
    return np.array(matrix.tolist(), dtype=np.float64)


def _congruent(rng: Generator) -> SignCase:
    n = int(rng.integers(1, 8))
    d = rng.integers(-2, 3, size=n) if rng.random() < 0.6 else rng.integers(1, 5, size=n)
    u, _ = _unimodular(rng, n)
    s = u.T @ np.diag([int(v) for v in d]).astype(object) @ u
    return SignCase("congruent integers", _as_floats(s), (int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum())))


def _skewed(rng: Generator) -> SignCase:
    case = _congruent(rng)
    n = case.matrix.shape[0]
    k = rng.integers(-9, 10, size=(n, n)).astype(np.float64)
    return SignCase("nonsymmetric integers", case.matrix + k - k.T, case.inertia)


def _graded(rng: Generator) -> SignCase:
    case = _congruent(rng)
    n = case.matrix.shape[0]
    e = rng.integers(-480, 481, size=n)
    largest = int(np.abs(case.matrix).max())
    e = np.minimum(e, 500 - largest.bit_length() // 2)
    return SignCase("graded 1e-300..1e300", np.ldexp(case.matrix, e[:, None] + e[None, :]), case.inertia)


def _subnormal(rng: Generator) -> SignCase:
    case = _congruent(rng)
    shift = int(rng.integers(-1074, -1030))
    return SignCase("subnormal", np.ldexp(case.matrix, shift), case.inertia)


def _one_ulp(rng: Generator) -> SignCase:
    n = int(rng.integers(2, 7))
    v = rng.integers(-3, 4, size=(n, n - 1)).astype(np.float64)
    s = v @ v.T
    if rng.random() < 0.5:
        s = s * float(rng.random() + 0.5)
        s = 0.5 * (s + s.T)
    i = int(rng.integers(0, n))
    s[i, i] = np.nextafter(s[i, i], np.inf if rng.random() < 0.5 else -np.inf)
    return SignCase("singular, one ulp off", s, fraction_inertia(_symmetric_rows(s)))


def _singular(rng: Generator) -> SignCase:
    n = int(rng.integers(1, 9))
    r = int(rng.integers(0, n))
    v = rng.integers(-4, 5, size=(n, r)).astype(np.float64)
    s = v @ v.T if rng.random() < 0.5 else -(v @ v.T)
    return SignCase("exactly singular", s, fraction_inertia(_symmetric_rows(s)))


def _hilbert(rng: Generator) -> SignCase:
    n = int(rng.integers(2, 13))
    rows = [[f"1/{i + j + 1}" for j in range(n)] for i in range(n)]
    if rng.random() < 0.5:
        return SignCase("Hilbert, exact", rows, (n, 0, 0))
    floats = np.array([[1.0 / (i + j + 1) for j in range(n)] for i in range(n)])
    return SignCase("Hilbert, rounded", floats, fraction_inertia(_symmetric_rows(floats)))


def _wilkinson(rng: Generator) -> SignCase:
    n = 2 * int(rng.integers(1, 8)) + 1
    diagonal = np.abs(np.arange(n) - n // 2).astype(np.float64)
    s = np.diag(diagonal) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    s[n // 2, n // 2] += float(rng.integers(-1, 2)) * 2.0 ** -int(rng.integers(0, 60))
    return SignCase("Wilkinson", s, fraction_inertia(_symmetric_rows(s)))


def _low_precision(rng: Generator) -> SignCase:
    n = int(rng.integers(1, 6))
    kind = [np.float16, np.float32, np.float64][int(rng.integers(0, 3))]
    a = rng.standard_normal((n, n)).astype(kind)
    s = (a + a.T).astype(kind)
    return SignCase("random, stored types", s, fraction_inertia(_symmetric_rows(s)))


def _layouts(rng: Generator) -> SignCase:
    case = _skewed(rng)
    n = case.matrix.shape[0]
    big = np.full((2 * n, 3 * n), np.nan)
    big[::2, ::3] = case.matrix
    views = [np.asfortranarray(case.matrix), big[::2, ::3], case.matrix[::-1][::-1], case.matrix.T[:, :].T]
    return SignCase("layouts", views[int(rng.integers(0, 4))], case.inertia)


SIGN_FAMILIES: dict[str, Callable[[Generator], SignCase]] = {
    "congruent": _congruent,
    "skewed": _skewed,
    "graded": _graded,
    "subnormal": _subnormal,
    "one-ulp": _one_ulp,
    "singular": _singular,
    "hilbert": _hilbert,
    "wilkinson": _wilkinson,
    "low-precision": _low_precision,
    "layouts": _layouts,
}


def in_turn(families: Mapping[str, Callable[[Generator], Case]], count: int, seed: int) -> Iterator[Case]:
    """``count`` matrices, the families in turn."""
    rng = np.random.default_rng(seed)
    makers = list(families.values())
    for k in range(count):
        yield makers[k % len(makers)](rng)


def sign_cases(count: int, seed: int = 0) -> Iterator[SignCase]:
    """``count`` matrices with a known inertia."""
    return in_turn(SIGN_FAMILIES, count, seed)


# spectra: eigenvalues as (re, im >= 0, multiplicity) with rational parts; a pair counts once


def _kind(scores: list[tuple[Any, bool, int]]) -> str:
    """The kind of leader from exact scores: (score, real, multiplicity)."""
    best = max(score for score, _, _ in scores)
    top = [(real, multiplicity) for score, real, multiplicity in scores if score == best]
    if len(top) == 1:
        real, multiplicity = top[0]
        return ("simple" if multiplicity == 1 else "multiple") + ("-real" if real else "-pair")
    return "tie" if any(real for real, _ in top) else "non-real"


def exact_kinds(eigenvalues: list[tuple[Fraction, Fraction, int]], alpha: Fraction) -> dict[str, str | None]:
    """Kinds for each order from exact eigenvalues (distinct entries, imaginary parts >= 0)."""
    merged: dict[tuple[Fraction, Fraction], int] = {}
    for re, im, multiplicity in eigenvalues:
        merged[(re, im)] = merged.get((re, im), 0) + multiplicity
    items = list(merged.items())
    return {
        "real-part": _kind([(re, im == 0, m) for (re, im), m in items]),
        "modulus": _kind([(re * re + im * im, im == 0, m) for (re, im), m in items]),
        "step": _kind([((1 + alpha * re) ** 2 + (alpha * im) ** 2, im == 0, m) for (re, im), m in items]),
    }


def _blocks(rng: Generator, *, jordan: bool) -> tuple[Any, list[tuple[Fraction, Fraction, int]]]:
    eigenvalues: list[tuple[Fraction, Fraction, int]] = []
    parts: list[Any] = []
    for _ in range(int(rng.integers(1, 4))):
        a, b = int(rng.integers(-4, 5)), int(rng.integers(0, 4))
        size = int(rng.integers(1, 4)) if jordan else 1
        if b == 0:
            part = np.diag([a] * size) + np.diag([1] * (size - 1), 1)
            eigenvalues.append((Fraction(a), Fraction(0), size))
        else:
            part = np.array([[a, b], [-b, a]])
            eigenvalues.append((Fraction(a), Fraction(b), 1))
        parts.append(part)
    n = sum(part.shape[0] for part in parts)
    d = np.zeros((n, n), dtype=object)
    at = 0
    for part in parts:
        m = part.shape[0]
        d[at : at + m, at : at + m] = part.astype(object)
        at += m
    return d, eigenvalues


def _alpha(rng: Generator) -> Fraction:
    return Fraction(int(rng.integers(-3, 8)), int(rng.integers(1, 8)))


def _similar(rng: Generator, *, jordan: bool = False, name: str = "similar integers") -> SpectralCase:
    d, eigenvalues = _blocks(rng, jordan=jordan)
    u, inverse = _unimodular(rng, d.shape[0], 6)
    alpha = _alpha(rng)
    kinds = exact_kinds(eigenvalues, alpha)
    return SpectralCase(name, _as_floats(inverse @ d @ u), alpha, kinds, tuple(eigenvalues))


def _jordan(rng: Generator) -> SpectralCase:
    return _similar(rng, jordan=True, name="Jordan blocks")


def _graded_spectrum(rng: Generator) -> SpectralCase:
    case = _similar(rng)
    e = rng.integers(-90, 91, size=case.matrix.shape[0])
    scaled = np.ldexp(case.matrix, e[:, None] - e[None, :])
    return SpectralCase("graded similarity", scaled, case.alpha, case.kinds, case.eigenvalues)


def _cyclic(rng: Generator) -> SpectralCase:
    n, c = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    p = np.zeros((n, n))
    p[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    p[n - 1, 0] = float(c)
    # eigenvalues c^(1/n) times the roots of unity: one modulus; the largest real part is the positive real one, simple
    kinds: dict[str, str | None] = {"real-part": "simple-real", "modulus": "tie", "step": None}
    return SpectralCase("cyclic", p, Fraction(1, 2), kinds)


def _scaled(rng: Generator) -> SpectralCase:
    case = _similar(rng)
    shift = int(rng.integers(-1060, 900))
    kinds = {**case.kinds, "step": None}
    unit = Fraction(2) ** shift
    moved = tuple((re * unit, im * unit, m) for re, im, m in case.eigenvalues)
    scaled = np.ldexp(case.matrix, shift)
    exact = np.array_equal(np.ldexp(scaled, -shift), case.matrix)  # nothing became zero or was rounded
    return SpectralCase("scaled to the ends", scaled, case.alpha, kinds, moved if exact else ())


def characteristic_fractions(matrix: Any) -> list[Fraction]:
    """Coefficients of ``det(x I - M)``, leading first, over Python fractions (Faddeev and LeVerrier)."""
    a = [[Fraction(float(v)) for v in row] for row in matrix]
    n = len(a)
    coefficients = [Fraction(1)]
    work = [[Fraction(0)] * n for _ in range(n)]
    for k in range(1, n + 1):
        work = [[sum((a[i][m] * work[m][j] for m in range(n)), Fraction(0)) for j in range(n)] for i in range(n)]
        for i in range(n):
            work[i][i] += coefficients[-1]
        trace = sum((a[i][m] * work[m][i] for i in range(n) for m in range(n)), Fraction(0))
        coefficients.append(-trace / k)
    return coefficients


@cache  # the named matrices of each size come again and again
def _roots(rows: tuple[tuple[float, ...], ...]) -> tuple[Any, ...] | None:
    """Eigenvalues to 60 digits, as often as they occur, or ``None`` where the iteration does not end.

    Roots are taken of the factors without multiple ones, at which the iteration would crawl.
    """
    exact = [sp.Rational(c.numerator, c.denominator) for c in characteristic_fractions(rows)]
    found: list[Any] = []
    with mpmath.workdps(60):
        for factor, multiplicity in sp.Poly(exact, sp.Symbol("x")).sqf_list()[1]:
            coefficients = [mpmath.mpf(int(c.p)) / int(c.q) for c in factor.all_coeffs()]
            try:
                found += multiplicity * mpmath.polyroots(coefficients, maxsteps=200, extraprec=600)
            except mpmath.libmp.libhyper.NoConvergence:
                return None
    return tuple(found)


def measured_kinds(matrix: Any, alpha: Fraction) -> dict[str, str | None]:
    """Kinds from roots to 60 digits; None where scores are closer than 1e-20 of their size (a tie cannot be seen)."""
    roots = _roots(tuple(tuple(float(entry) for entry in row) for row in matrix))
    if roots is None:
        return dict.fromkeys(("real-part", "modulus", "step"))
    with mpmath.workdps(60):
        a = mpmath.mpf(alpha.numerator) / alpha.denominator
        size = max(mpmath.fabs(r) for r in roots) + mpmath.mpf(10) ** -300
        found: dict[str, str | None] = {}
        for order, score in (
            ("real-part", mpmath.re),
            ("modulus", mpmath.fabs),
            ("step", lambda r: mpmath.fabs(1 + a * r)),
        ):
            ranked = sorted(((score(r), r) for r in roots), key=lambda pair: -pair[0])
            near = size * mpmath.mpf(10) ** -20 * (1 if order != "step" else 1 + abs(a))
            top = [r for s, r in ranked if ranked[0][0] - s < near]
            imaginary = [abs(mpmath.im(r)) for r in top]
            if len(top) == 1 and imaginary[0] < size * mpmath.mpf(10) ** -25:
                found[order] = "simple-real"
            elif len(top) == 2 and all(im > size * mpmath.mpf(10) ** -20 for im in imaginary):
                found[order] = "simple-pair"
            else:
                found[order] = None
    return found


def _measured(rng: Generator) -> SpectralCase:
    which = int(rng.integers(0, 4))
    n = int(rng.integers(3, 6))
    if which == 0:
        name, m = "Frank", np.array([[float(n - max(i, j)) if j >= i - 1 else 0.0 for j in range(n)] for i in range(n)])
    elif which == 1:
        name = "Grcar"
        m = sum((np.diag(np.ones(n - k), k) for k in range(4) if k < n), start=np.zeros((n, n)))
        m = m - np.diag(np.ones(n - 1), -1)
    elif which == 2:
        name = "Jordan, one ulp off"
        m = np.eye(n) * float(rng.integers(1, 4)) + np.diag(np.ones(n - 1), 1)
        i, j = rng.integers(0, n, size=2)
        m[i, j] = np.nextafter(m[i, j], np.inf if rng.random() < 0.5 else -np.inf)
    else:
        name, m = "random floats", rng.standard_normal((n, n))
    alpha = _alpha(rng)
    return SpectralCase(name, m, alpha, measured_kinds(m, alpha))


SPECTRAL_FAMILIES: dict[str, Callable[[Generator], SpectralCase]] = {
    "similar": _similar,
    "jordan": _jordan,
    "graded": _graded_spectrum,
    "cyclic": _cyclic,
    "scaled": _scaled,
    "measured": _measured,
}


def spectral_cases(count: int, seed: int = 0) -> Iterator[SpectralCase]:
    """``count`` matrices with known leaders."""
    return in_turn(SPECTRAL_FAMILIES, count, seed)
