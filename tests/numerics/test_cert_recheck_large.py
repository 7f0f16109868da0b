"""The re-check of large matrices: its float eigenbasis against exact numbers, and three answers, never a false one."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.spectra import eigenvalue_discs
from eigentoken.numerics.recheck import recheck
from eigentoken.numerics.recheck.matrices import floats
from eigentoken.numerics.recheck.matrices.bases import Basis, candidate_basis, float_discs, residual
from eigentoken.numerics.recheck.matrices.covering import components

from ..shares import others_slow

CONDITIONS = (
    "spectrum",
    "dominant-real-part",
    "dominant-modulus",
    "dominant-step",
    "dominant-complex-pair",
    "principal-eigenvector",
    "spectral-gap",
)


def matrices(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    general = rng.standard_normal((n, n)) / np.sqrt(n)
    turning = general.copy()
    turning[:2, :2] += np.array([[3.0, 2.0], [-2.0, 3.0]])
    gram = general @ general.T + np.eye(n)
    return {
        "dominant": general + 3.0 / n,
        "turning": turning,
        "symmetric": general + general.T,
        "definite": 0.5 * (gram + gram.T),
        "stored": rng.standard_normal((n, n)).astype(np.float32),
    }


def all_agree(n: int, name: str, radius: float) -> None:
    matrix = matrices(n)[name]
    decided = 0
    for condition in CONDITIONS:
        verdict = certify(condition, matrix, alpha=Fraction(1, 10), radius=radius)
        if verdict.certificate is not None:
            decided += 1
            again = recheck(verdict.certificate, matrix)
            assert again.is_holds, (condition, verdict.reason, again.reason)
            bare = recheck({"certificate": verdict.certificate.as_dict(), "verdict": str(verdict.answer)}, matrix)
            assert not bare.is_fails, (condition, bare.reason)  # without its arrays
    assert decided >= 5


@pytest.mark.parametrize(
    "name",
    others_slow(
        ["dominant", "turning", "symmetric", "definite", "stored"], lambda name: name not in {"turning", "stored"}
    ),
)
def test_whole_spectra_recheck_at_240(name: str) -> None:
    all_agree(240, name, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [384, 768, 1600])
@pytest.mark.parametrize("name", ["dominant", "turning", "symmetric", "definite", "stored"])
def test_whole_spectra_recheck_at_full_size(n: int, name: str) -> None:
    all_agree(n, name, 0.0)


def exact(matrix: Any) -> list[list[Fraction]]:
    return [[Fraction(float(v)) for v in row] for row in matrix]


def times(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in columns] for row in a]


@pytest.mark.parametrize("seed", range(8))
def test_the_residual_is_enclosed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    matrix = rng.standard_normal((n, n)) * np.ldexp(1.0, rng.integers(-40, 1, size=(n, n)))
    matrix, _, _ = floats.scaled(matrix)
    basis = candidate_basis(matrix)
    assert basis is not None
    found, error = residual(matrix, basis)
    blocks = np.diag(basis.re)
    for j in basis.first:
        blocks[j, j + 1], blocks[j + 1, j] = basis.im[j], -basis.im[j]
    x = exact(basis.columns)
    left, right = times(exact(matrix), x), times(x, exact(blocks))
    for i in range(n):
        for j in range(n):
            assert abs(left[i][j] - right[i][j] - Fraction(float(found[i, j]))) <= Fraction(float(error[i, j]))
    assert float(error.max()) < 1e-15


def known_spectrum(rng: np.random.Generator, n: int) -> tuple[np.ndarray, list[complex]]:
    """An integer matrix similar to 2 x 2 blocks by a unimodular one: its eigenvalues are known exactly."""
    values: list[complex] = []
    d = np.zeros((n, n), dtype=object)
    at = 0
    while at < n:
        a, b = int(rng.integers(-20, 21)), int(rng.integers(0, 3))
        if b and at + 1 < n:
            d[at, at], d[at, at + 1], d[at + 1, at], d[at + 1, at + 1] = a, b, -b, a
            values += [complex(a, b), complex(a, -b)]
            at += 2
        else:
            d[at, at] = a
            values.append(complex(a))
            at += 1
    u = np.array([[int(i == j) for j in range(n)] for i in range(n)], dtype=object)
    inverse = u.copy()
    for _ in range(2 * n):
        i, j = rng.choice(n, size=2, replace=False)
        c = int(rng.integers(-1, 2))
        u[i] = u[i] + c * u[j]
        inverse[:, j] = inverse[:, j] - c * inverse[:, i]
    return np.array((inverse @ d @ u).tolist(), dtype=np.float64), values


@pytest.mark.parametrize("seed", range(12))
def test_discs_of_any_basis_hold_the_spectrum(seed: int) -> None:
    """The candidate is not trusted: a spoiled basis may give no discs or large ones, never wrong ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    whole, values = known_spectrum(rng, n)
    matrix, e, _ = floats.scaled(whole)
    basis = candidate_basis(matrix)
    assert basis is not None
    for spoil in (0.0, 1e-12, 1e-6, 1e-2):
        noise = spoil * rng.standard_normal((n, n))
        other = Basis(basis.columns + noise, basis.re, basis.im, basis.first, basis.normal)
        found = float_discs(matrix, other, 0.0)
        if found is None:
            continue
        radii, re, im = (np.ldexp(part, e) for part in (found.radii, found.re, found.im))
        shown = [
            (Fraction(float(x)), Fraction(float(y)), Fraction(float(r))) for x, y, r in zip(re, im, radii, strict=True)
        ]
        label = components(shown)
        homes = []
        for value in values:
            x, y = Fraction(value.real), Fraction(value.imag)
            near = {int(label[k]) for k, (u, v, r) in enumerate(shown) if (x - u) ** 2 + (y - v) ** 2 <= r * r}
            assert len(near) == 1, (value, spoil)
            homes.append(near.pop())
        assert sorted(homes) == sorted(label.tolist())


def test_components_are_exact() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = int(rng.integers(1, 30))
        whole = [[Fraction(int(v)) for v in row] for row in rng.integers(0, 30, size=(n, 3))]
        stored = [(x, y, r / 8) for x, y, r in whole]  # many of them touch exactly
        label = list(range(n))
        for i in range(n):
            for j in range(i):
                gap = (stored[i][0] - stored[j][0]) ** 2 + (stored[i][1] - stored[j][1]) ** 2
                if gap <= (stored[i][2] + stored[j][2]) ** 2:
                    label = [label[j] if k == label[i] else k for k in label]
        found = components(stored).tolist()
        assert {(i, j) for i in range(n) for j in range(n) if label[i] == label[j]} == {
            (i, j) for i in range(n) for j in range(n) if found[i] == found[j]
        }


def test_a_quick_norm_bounds_the_norm() -> None:
    rng = np.random.default_rng(2)
    for shape in ((3, 3), (40, 7), (60, 60)):
        matrix = rng.standard_normal(shape)
        true = float(np.linalg.norm(matrix, 2))
        assert true * (1 - 1e-12) <= floats.quick_spectral_above(matrix) <= 1.3 * true


def test_discs_that_were_moved_or_shrunk_are_not_confirmed() -> None:
    matrix = matrices(100)["dominant"]
    certificate = certify("spectrum", matrix).certificate
    assert certificate is not None and recheck(certificate, matrix).is_holds
    arrays = certificate.arrays
    moved = {**arrays, "centers_re": arrays["centers_re"] + np.eye(100)[0] * 1e-3}
    assert recheck(replace(certificate, arrays=moved), matrix).is_fails
    shrunk = {**arrays, "radii": arrays["radii"] * 1e-9}
    assert not recheck(replace(certificate, arrays=shrunk), matrix).is_holds
    doubled = {name: np.concatenate([values[:-1], values[:1]]) for name, values in arrays.items()}
    assert recheck(replace(certificate, arrays=doubled), matrix).is_fails


def test_what_cannot_be_confirmed_is_undecided_and_says_what_was_tried() -> None:
    rng = np.random.default_rng(3)
    factor = rng.integers(-3, 4, size=(70, 69)).astype(np.float64)
    singular = factor @ factor.T
    certificate = certify("positive-semidefinite", singular, time_limit=60).certificate
    assert certificate is not None
    late = recheck(certificate, singular, time_limit=0.0)
    assert late.is_undecided and "time limit" in late.reason
    missing = certify("spectrum", matrices(60)["dominant"]).certificate
    assert missing is not None
    again = recheck(replace(missing, arrays={}), matrices(60)["dominant"])
    assert again.is_undecided and "tried" in again.reason


@pytest.mark.parametrize("n", [100, 300])
def test_six_arrays_are_enough_for_the_spectrum(n: int) -> None:
    matrix = np.random.default_rng(n).standard_normal((n, n))
    eigenvalue_discs(matrix, 0.0, symmetric=False)
    tracemalloc.start()
    try:
        assert eigenvalue_discs(matrix, 0.0, symmetric=False) is not None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # the matrix itself, and at most five more (vectors of length n are not counted)
    assert peak / (8 * n * n) + 1 <= 6 + 64 / n
