"""Discs of a matrix of known eigenvalues, with whatever stands for the inverse of the eigenvectors: good, single or forged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.certified import spectra
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.spectra import eigenvalue_discs
from eigentoken.numerics.recheck import recheck
from eigentoken.numerics.recheck.matrices import bases
from eigentoken.numerics.recheck.matrices.bases import Left, candidate_basis, float_discs


def known(n: int, seed: int, shears: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """An integer matrix similar by integer shears to a diagonal with pairs, and its eigenvalues: both exact."""
    rng = np.random.default_rng(seed)
    a = np.zeros((n, n), dtype=np.int64)
    values: list[complex] = []
    k = 0
    while k < n:
        re = int(rng.integers(-50, 51))
        if k + 1 < n and rng.random() < 0.4:
            im = int(rng.integers(1, 20))
            a[k : k + 2, k : k + 2] = [[re, im], [-im, re]]
            values += [complex(re, im), complex(re, -im)]
            k += 2
        else:
            a[k, k] = re
            values.append(complex(re))
            k += 1
    for _ in range(shears * n):
        i, j = rng.choice(n, 2, replace=False)
        factor = int(rng.integers(-1, 2))
        a[i] += factor * a[j]  # S A S^-1 with S = I + factor e_i e_j^T
        a[:, j] -= factor * a[:, i]
    assert np.abs(a).max() < 2**53
    return a.astype(np.float64), np.array(values)


def hold(centers: np.ndarray, radii: np.ndarray, values: np.ndarray) -> bool:
    """Does each component of discs hold as many of the eigenvalues as it has discs?"""
    n = len(centers)
    label = np.arange(n)
    near = np.abs(centers[:, None] - centers[None]) <= radii[:, None] + radii[None]
    for _ in range(n):
        joined = np.where(near, label[None], n).min(axis=1)
        if np.array_equal(joined, label):
            break
        label = joined
    inside = np.abs(values[:, None] - centers[None]) <= radii[None] * (1 + 1e-12)
    if not inside.any(axis=1).all():
        return False
    home = label[inside.argmax(axis=1)]
    return bool(np.array_equal(np.bincount(home, minlength=n), np.bincount(label, minlength=n)))


FORGED: list[Callable[[np.ndarray], np.ndarray | None]] = [
    lambda y: y * (1 + 1e-3),
    lambda y: y * 0.2,
    lambda y: np.roll(y, 1, axis=0),
    lambda y: np.zeros_like(y),
    lambda y: y + 1e-4 * np.abs(y).max() * np.random.default_rng(0).standard_normal(y.shape),
    lambda y: np.where(np.eye(len(y)) > 0, np.nan, y),
    lambda y: y * 1e300,
    lambda y: None,
]


def test_this_test_can_fail() -> None:
    _, values = known(20, 1)
    assert hold(values, np.full(20, 1e-9), values)
    assert not hold(values, np.full(20, 1e-9), values + 1e-6)
    moved = values.copy()
    moved[values == values.real] = values.real[values == values.real][0]
    assert not hold(values, np.full(20, 1e-9), moved)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [128, 150])
def test_discs_with_an_inverse_in_single_precision_hold_the_eigenvalues(
    seed: int, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    truth = spectra._inverse
    monkeypatch.setattr(
        spectra, "_inverse", lambda x, *, single=False: (asked.append(single), truth(x, single=single))[1]
    )
    a, values = known(n, seed, shears=1)
    found = eigenvalue_discs(a, 0.0, symmetric=False)
    assert asked[0]
    assert found is not None and hold(found.centers, found.radii, values)
    double = eigenvalue_discs(a, 0.0, symmetric=False, sliced=True)
    assert double is not None and hold(double.centers, double.radii, values)


@pytest.mark.parametrize("forge", FORGED, ids=range(len(FORGED)))
def test_a_forged_inverse_makes_no_false_disc(forge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    a, values = known(140, 7, shears=1)
    honest = eigenvalue_discs(a, 0.0, symmetric=False)
    assert honest is not None and hold(honest.centers, honest.radii, values)
    truth = spectra._inverse
    for only_single in (False, True):

        def forged(x: np.ndarray, *, single: bool = False, only_single: bool = only_single) -> np.ndarray | None:
            y = truth(x, single=single)
            return y if y is None or (only_single and not single) else forge(y)

        monkeypatch.setattr(spectra, "_inverse", forged)
        found = eigenvalue_discs(a, 0.0, symmetric=False)
        assert found is None or hold(found.centers, found.radii, values)
        if only_single:  # the inverse in double precision is taken where the other one is bad
            assert found is not None
            assert float((found.radii / honest.radii).max()) < 1.2


@pytest.mark.parametrize("forge", FORGED, ids=range(len(FORGED)))
def test_a_forged_inverse_of_the_recheck_makes_no_false_disc(forge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    a, values = known(140, 9, shears=1)
    truth = bases._left

    def forged(x: np.ndarray, y: np.ndarray, most: float) -> Left | None:
        other = forge(y)
        return None if other is None or not np.isfinite(other).all() else truth(x, other, most)

    for coarse in (True, False):
        honest = float_discs(a, candidate_basis(a) or pytest.fail("no basis"), 0.0, coarse=coarse)
        assert honest is not None and hold(honest.re + 1j * honest.im, honest.radii, values)
    monkeypatch.setattr(bases, "_left", forged)
    for coarse in (True, False):
        basis = candidate_basis(a)
        assert basis is not None
        found = float_discs(a, basis, 0.0, coarse=coarse)
        assert found is None or hold(found.re + 1j * found.im, found.radii, values)


@pytest.mark.parametrize("n", [128, 160])
def test_documents_of_such_discs_are_confirmed_and_forged_ones_are_not(n: int) -> None:
    a, _ = known(n, n, shears=1)
    verdict = certify("spectrum", a)
    assert verdict == "holds" and verdict.certificate is not None
    assert recheck(verdict.certificate, {"matrix": a}) == "holds"
    moved = a.copy()
    moved[0, 0] += 1.0
    assert recheck(verdict.certificate, {"matrix": moved}) != "holds"
    arrays = {name: array.copy() for name, array in verdict.certificate.arrays.items()}
    for name, change in (("radii", 0.0), ("centers_re", 1.0)):
        spoiled = {**arrays, name: arrays[name] * (0.0 if name == "radii" else 1.0) + change}
        certificate = type(verdict.certificate)(
            verdict.certificate.kind,
            verdict.certificate.condition,
            verdict.certificate.verdict,
            verdict.certificate.inputs,
            verdict.certificate.data,
            spoiled,
        )
        assert recheck(certificate, {"matrix": a}) != "holds"
    for kind in (np.float32, np.longdouble):
        certificate = type(verdict.certificate)(
            verdict.certificate.kind,
            verdict.certificate.condition,
            verdict.certificate.verdict,
            verdict.certificate.inputs,
            verdict.certificate.data,
            {**arrays, "radii": arrays["radii"].astype(kind)},
        )
        assert recheck(certificate, {"matrix": a}) != "holds"


def test_leaders_that_are_nearly_tied_keep_a_stored_certificate() -> None:
    """The matrix that is stored is made of the inverse: one in single precision is refined where the gap is small."""
    n = 200
    rng = np.random.default_rng(n)
    q = rng.standard_normal((n, n))
    a = q @ np.diag(np.concatenate([[1.0 + 1e-6, 1.0], rng.uniform(-0.9, 0.9, n - 2)])) @ np.linalg.inv(q)
    found = eigenvalue_discs(a, 0.0, symmetric=False)
    assert found is not None and found.single and found.vectors is not None and found.inverse is not None
    better = found.refined_inverse()
    assert better is not None
    errors = [float(np.abs(y @ found.vectors - np.eye(n)).max()) for y in (found.inverse, better)]
    assert errors[1] < 1e-3 * errors[0]
    verdict = certify("dominant-real-part", a)
    assert verdict == "holds" and verdict.certificate is not None
    assert "lyapunov" in verdict.certificate.arrays
    assert recheck(verdict.certificate, {"matrix": a}) == "holds"
