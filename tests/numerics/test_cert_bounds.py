"""The bounds themselves, against exact arithmetic, and the probe that refuses arithmetics which break them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.certified import lapack, probe
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.definiteness import (
    cholesky_bound,
    eigenvalue_intervals,
    equilibrated,
    rayleigh_above,
)
from eigentoken.numerics.certified.dominance import discs_of
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError, product
from eigentoken.numerics.certified.error_free_products import sliced_product, two_sum
from eigentoken.numerics.certified.exact_matrices import Deadline, DeadlinePassed, ExactMatrix
from eigentoken.numerics.certified.norms import float_norm, inverse_margin
from eigentoken.numerics.certified.rounding import (
    down,
    frobenius_above,
    gamma,
    inflate,
    scale_down,
    scale_up,
    spectral_norm_above,
    up,
)
from eigentoken.numerics.certified.spectra import eigenvalue_discs

from ..tools.adversarial_matrices import fraction_inertia


@pytest.mark.parametrize("seed", range(40))
def test_sliced_products_stay_within_their_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, m, n = int(rng.integers(1, 70)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    a = rng.standard_normal((m, k)) * np.exp2(rng.integers(-60, 60, (m, 1))) * np.exp2(rng.integers(-30, 1, (m, k)))
    b = rng.standard_normal((k, n)) * np.exp2(rng.integers(-60, 60, (1, n)))
    if seed % 3 == 0 and k > 1:  # cancellation
        half = k // 2
        b[half : 2 * half] = -b[:half]
        a[:, half : 2 * half] = a[:, :half] * (1 + 2.0**-50)
    truth = ExactMatrix.from_floats(a).times(ExactMatrix.from_floats(b)).fractions()
    sharpest = math.inf
    for count in (2, 3, 4, 5):
        found = sliced_product(a, b, count)
        for i in range(m):
            for j in range(n):
                error = abs(truth[i][j] - Fraction(float(found.high[i, j])) - Fraction(float(found.low[i, j])))
                assert error <= Fraction(float(found.error[i, j]))
        sharpest = min(sharpest, float((found.error / (np.abs(a).max(1)[:, None] * np.abs(b).max(0)[None, :])).max()))
    assert sharpest < 1e-25


def test_sliced_products_refuse_what_could_underflow() -> None:
    with pytest.raises(ValueError, match="2\\^"):
        sliced_product(np.array([[1e-300]]), np.array([[1.0]]))


def test_two_sum_is_exact() -> None:
    a, b = np.array([1.0, 1e16]), np.array([1e-20, 1.0])
    s, e = two_sum(a, b)
    for i in range(2):
        assert Fraction(float(s[i])) + Fraction(float(e[i])) == Fraction(float(a[i])) + Fraction(float(b[i]))


@pytest.mark.parametrize("seed", range(60))
def test_cholesky_bound_is_below_the_smallest_eigenvalue(seed: int) -> None:
    """``S - (rho + m) I`` is exactly positive semidefinite whenever m is returned."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    a = rng.standard_normal((n, n))
    s = a @ a.T + float(10.0 ** -rng.integers(0, 18)) * np.eye(n)
    s = 0.5 * (s + s.T)
    smallest = float(np.linalg.eigvalsh(s)[0])
    for rho in (0.0, max(smallest, 0.0) * 0.5):
        for extra in (None, max(smallest, 0.0) * 0.3, max(smallest, 1e-300) * 1.0000001):
            bound = cholesky_bound(s, rho, extra)
            if bound is None:
                continue
            exact = ExactMatrix.from_floats(s).shifted(-Fraction(rho) - Fraction(bound)).fractions()
            assert fraction_inertia(exact)[1] == 0


def test_cholesky_bound_sees_nan_and_inf() -> None:
    for bad in (np.nan, np.inf):
        s = 4 * np.eye(3)
        s[2, 1] = s[1, 2] = bad
        with np.errstate(all="ignore"):
            assert cholesky_bound(s, 0.0) is None


@pytest.mark.parametrize("seed", range(30))
def test_intervals_discs_and_norms_contain_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    a = rng.standard_normal((n, n)) * np.exp2(rng.integers(-6, 7, size=(n, 1)))
    s = a + a.T
    exact = ExactMatrix.from_floats(s)
    found = eigenvalue_intervals(s, 0.0)
    assert found is not None
    w, e, _ = found
    for i in range(n):  # at least i + 1 eigenvalues are <= w_i + e, at least n - i are >= w_i - e
        above = fraction_inertia(exact.shifted(-Fraction(float(w[i])) - Fraction(e)).fractions())
        below = fraction_inertia(exact.shifted(-Fraction(float(w[i])) + Fraction(e)).fractions())
        assert above[1] + above[2] >= i + 1 and below[0] + below[2] >= n - i
    low, high = float_norm(a)
    gram = ExactMatrix.from_floats(a).transpose().times(ExactMatrix.from_floats(a))
    assert fraction_inertia(gram.shifted(-(Fraction(high) ** 2)).fractions())[0] == 0
    assert fraction_inertia(gram.shifted(-(Fraction(low) ** 2)).fractions())[0] >= 1 and low > 0.999 * high
    discs = eigenvalue_discs(a, 0.0, symmetric=False)
    sharper = eigenvalue_discs(a, 0.0, symmetric=False, sliced=True)
    assert discs is not None and sharper is not None
    roots = [complex(r) for r in ExactMatrix.from_floats(a).numerators.charpoly().complex_roots() for r in [r[0]]]
    q = float(ExactMatrix.from_floats(a).denominator)
    for given in (discs, sharper):
        for root in roots:
            assert (np.abs(given.centers - root / q) <= given.radii + 1e-13 * np.abs(a).max()).any()


@pytest.mark.parametrize("seed", range(20))
def test_rayleigh_and_inverse_margins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    a = rng.standard_normal((n, n))
    s, x = a + a.T, rng.standard_normal(n)
    rows = ExactMatrix.from_floats(s).fractions()
    v = [Fraction(float(c)) for c in x]
    value = sum(v[i] * rows[i][j] * v[j] for i in range(n) for j in range(n)) / sum(c * c for c in v)
    assert value <= Fraction(rayleigh_above(s, 0.0, x))
    margin = inverse_margin(a, 0.0)
    assert margin is not None
    smallest = float(np.linalg.svd(a)[1][-1])
    assert 0.5 * smallest < margin <= smallest * (1 + 1e-12)
    assert inverse_margin(np.ones((n, n)), 0.0) is None
    assert inverse_margin(a, 2 * smallest) is None


def test_equilibration_is_an_exact_congruence() -> None:
    s = np.array([[1e200, 3.0], [3.0, 1e-150]])
    found = equilibrated(s, 0.0)
    assert found is not None
    scaled, rho, e = found
    assert rho == 0.0 and 0.2 < np.abs(scaled).max() < 5
    assert [[math.ldexp(s[i, j], int(e[i] + e[j])) for j in range(2)] for i in range(2)] == scaled.tolist()
    assert equilibrated(np.eye(3), 0.0) is None


def test_directed_scalars() -> None:
    assert up(1.0) > 1.0 > down(1.0) > 0 and up(-1.0) > -1.0 and down(-1.0) < -1.0 and down(0.0) == 0.0
    assert scale_down(1.0, 5000) == math.nextafter(math.inf, 0) and scale_up(1.0, 5000) == math.inf
    assert scale_down(1.0, -5000) == 0.0 and scale_up(1.0, -5000) > 0.0
    assert scale_down(3.0, -1074) <= 3 * 2.0**-1074 and scale_up(1.0, 3) == 8.0
    assert gamma(10) >= 10 * 2.0**-53 and inflate(1.0, 3) > 1.0
    with pytest.raises(ValueError, match="1/100"):
        gamma(10**15)
    a = np.array([[3.0, 4.0]])
    assert 5.0 <= frobenius_above(a) < 5.0000001 and 5.0 <= spectral_norm_above(a) < 5.0000001


def strassen(a: Any, b: Any) -> Any:
    """One that breaks the entrywise bound on graded matrices (three levels: to the bottom it would take a minute)."""
    size = 1
    while size < max(*a.shape, *b.shape):
        size *= 2
    x, y = np.zeros((size, size)), np.zeros((size, size))
    x[: a.shape[0], : a.shape[1]], y[: b.shape[0], : b.shape[1]] = a, b

    def multiply(p: Any, q: Any) -> Any:
        if len(p) <= max(2, size // 8):
            return p @ q
        h = len(p) // 2
        p11, p12, p21, p22 = p[:h, :h], p[:h, h:], p[h:, :h], p[h:, h:]
        q11, q12, q21, q22 = q[:h, :h], q[:h, h:], q[h:, :h], q[h:, h:]
        m1, m2 = multiply(p11 + p22, q11 + q22), multiply(p21 + p22, q11)
        m3, m4 = multiply(p11, q12 - q22), multiply(p22, q21 - q11)
        m5, m6 = multiply(p11 + p12, q22), multiply(p21 - p11, q11 + q12)
        m7 = multiply(p12 - p22, q21 + q22)
        return np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])

    return multiply(x, y)[: a.shape[0], : b.shape[1]]


def test_the_probe_accepts_numpy() -> None:
    assert probe.probe_numpy().require().passed


def test_the_probe_refuses_bad_arithmetic() -> None:
    single = probe.probe_arithmetic("single", lambda a, b: (a.astype(np.float32) @ b.astype(np.float32)).astype(float))
    assert not single.passed
    fast = probe.probe_arithmetic("strassen", strassen)
    assert fast.product_ratio > 1
    rounded = probe.probe_arithmetic("rounded", lambda a, b: (a @ b) * (1 + 2.0**-40))
    assert rounded.product_ratio > 1
    flushed = probe.probe_arithmetic("flushed", lambda a, b: np.where(np.abs(a @ b) < 2.0**-1022, 0.0, a @ b))
    assert not flushed.subnormals
    loose = probe.probe_arithmetic("loose", np.matmul, lambda m: np.linalg.cholesky(m) * (1 + 2.0**-30))
    assert loose.factor_ratio > 1
    for bad in (single, fast, rounded, flushed, loose):
        with pytest.raises(probe.BackendRefused, match="may not issue"):
            bad.require()


def test_without_a_probed_backend_only_exact_arithmetic_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = probe.Probe("numpy", 2.0, 0.1, True)
    monkeypatch.setitem(probe._CACHE, "numpy", refused)
    verdict = certify("positive-definite", np.eye(3))
    assert verdict.is_holds and "exact" in verdict.reason
    assert certify("positive-definite", np.eye(3), radius=0.1).is_holds
    assert certify("dominant-real-part", np.diag([1.0, 2.0])).is_holds
    assert certify("positive-definite", np.eye(3), time_limit=-1.0).is_undecided
    assert certify("spectrum", np.eye(3), time_limit=-1.0).is_undecided


def test_norms_and_products_of_a_refused_backend_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that are still given come from exact arithmetic, or from bounds that need no product."""
    monkeypatch.setitem(probe._CACHE, "numpy", probe.Probe("numpy", 2.0, 0.1, True))
    monkeypatch.setattr("eigentoken.numerics.certified.norms.cholesky_bound", None)  # calling it would be an error
    matrix = np.array([[3.0, 1.0], [1.0, 3.0]])  # norm 4
    assert certify("norm-bound", matrix, bound=4).is_holds and certify("norm-bound", matrix, bound="3.99").is_fails
    low, high = certify("norm-bound", matrix).details["norm"]
    assert low <= 4 <= high
    near = certify("identity", np.diag([1.0, 1.5]), within="1/2")
    assert (
        near.is_holds and near.details["distance"][1] > 0.9
    )  # the interval is crude: the word came from exact arithmetic
    assert certify("identity", np.diag([1.0, 1.5]), within="3/4", radius="1/100").is_undecided
    factor = Enclosure.from_floats(np.array([[1.0 + 2.0**-40, 2.0**-30]]), name="Q")
    gram = product(factor.transpose, factor)
    assert gram.radius == math.inf
    assert certify("positive-semidefinite", gram).is_holds and certify("symmetric", gram).is_holds
    assert certify("rank", gram).details["rank"] == 1
    with pytest.raises(MatrixError, match="too large for a product"):
        product(gram, gram)


def test_the_probe_factors_with_the_routine_that_the_bounds_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def sloppy(a: np.ndarray, **options: int) -> tuple[np.ndarray, int]:
        return np.linalg.cholesky(a) * (1 + 2.0**-30), 0

    monkeypatch.setattr(probe, "_CACHE", {})
    monkeypatch.setattr("eigentoken.numerics.certified.lapack.dpotrf", sloppy)
    assert probe.probe_numpy().factor_ratio > 1


def test_the_routines_of_lapack_are_those_of_scipy() -> None:
    """They are taken from scipy's extension module without the rest of scipy.linalg."""
    import scipy.linalg.lapack

    for name in ("dgeev", "dgetrf", "dgetri", "dpotrf", "dtrtrs", "sgetrf", "sgetri", "spotrf", "strtrs"):
        assert getattr(lapack, name) is getattr(scipy.linalg.lapack, name)
    matrix = np.diag([3.0, 1.0, 2.0])
    assert [int(np.argmax(np.abs(lapack.eigenvector(matrix, place)))) for place in range(3)] == [1, 2, 0]
    assert lapack.eigenvector(np.full((3, 3), np.nan), 0) is None


def test_the_time_limit_is_honest() -> None:
    with pytest.raises(DeadlinePassed, match="would take"):
        Deadline.after(0.0).allow(1.0, "a step")
    verdict = certify("inertia", np.ones((60, 60)), time_limit=0.0)
    assert verdict.is_undecided and "exact characteristic polynomial" in verdict.reason


@pytest.mark.parametrize("seed", range(3))
def test_discs_from_a_basis_that_is_there_hold_whatever_it_is(seed: int) -> None:
    """Sliced discs in the basis of the plain ones; a basis of another matrix gives wide discs or none, never wrong ones."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((24, 24))
    exact = np.linalg.eigvals(a)
    plain = eigenvalue_discs(a, 0.0, symmetric=False)
    assert plain is not None
    sharp = eigenvalue_discs(a, 0.0, symmetric=False, sliced=True, basis=plain)
    alone = eigenvalue_discs(a, 0.0, symmetric=False, sliced=True)
    assert sharp is not None and alone is not None
    assert np.array_equal(sharp.radii, alone.radii)
    for moved in (1e-12, 1e-6, 1e-2, 1.0):
        elsewhere = eigenvalue_discs(a + moved * rng.standard_normal(a.shape), 0.0, symmetric=False)
        other = eigenvalue_discs(a, 0.0, symmetric=False, basis=elsewhere)
        assert other is not None
        assert other.radii.max() > moved / 10
        assert (np.abs(exact[:, None] - other.centers) <= other.radii + 1e-12).any(axis=1).all()


def test_an_enclosure_with_the_same_center_has_the_same_basis_and_bounds_of_its_own() -> None:
    rng = np.random.default_rng(8)
    wide = Enclosure.from_floats(rng.standard_normal((30, 30)), 1e-6)
    beside = replace(Enclosure.from_floats(wide.center), same_center=wide)
    ours, alone = discs_of(beside), discs_of(Enclosure.from_floats(wide.center))
    assert ours is not None and alone is not None
    assert ours.vectors is discs_of(wide).vectors  # type: ignore[union-attr]
    assert np.array_equal(ours.radii, alone.radii)
    assert (ours.radii < discs_of(wide).radii).all()  # type: ignore[union-attr]
