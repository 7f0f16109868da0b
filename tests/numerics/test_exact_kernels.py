"""Singular matrices beyond the reach of characteristic polynomials, and norms within rounding of their bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.exact_kernels import nullity
from eigentoken.numerics.certified.exact_matrices import ExactMatrix
from eigentoken.numerics.certified.norms import sharply_exceeds
from eigentoken.numerics.recheck import recheck


def path_laplacian(n: int) -> np.ndarray:
    laplacian = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    laplacian[0, 0] = laplacian[-1, -1] = 1
    return laplacian


def householder(n: int) -> np.ndarray:
    v = np.cos(np.arange(n) + 0.5)
    return np.asarray(np.eye(n) - 2 * np.outer(v, v) / (v @ v))


def test_a_norm_that_is_its_bound_is_confirmed_where_floats_say_nothing() -> None:
    """A symmetric matrix of order 14, nowhere from symmetric: zero is at most zero, and nothing is above it."""
    matrix = np.diag(np.arange(14) + 0.7) - np.ones((14, 14))
    verdict = certify("symmetric", matrix, within=Fraction(0))
    assert verdict == "holds"
    assert recheck(verdict.certificate, matrix) == "holds"
    asked = certify("norm-bound", 3 * np.eye(14), bound=Fraction(3))
    assert asked == "holds"
    assert recheck(asked.certificate, 3 * np.eye(14)) == "holds"
    data = {**asked.certificate.as_dict()["data"], "facts": {"norm_at_most": "2"}}
    forged = replace(asked.certificate, data=data)
    assert recheck(forged, 3 * np.eye(14)) == "fails"


def test_the_kernel_is_that_of_exact_elimination() -> None:
    rng = np.random.default_rng(1)
    seen = []
    for _ in range(40):
        rows, columns, rank = rng.integers(1, 9, 3)
        matrix = rng.integers(-3, 4, (rows, rank)) @ rng.integers(-3, 4, (rank, columns))
        exact = flint.fmpz_mat([[int(each) for each in row] for row in matrix])
        found = nullity(ExactMatrix.from_floats(matrix.astype(float)))
        assert found == columns - exact.rank()
        seen.append(found)
    assert len(set(seen)) > 3


def test_a_kernel_that_is_not_small_is_not_seen() -> None:
    wide = np.zeros((2, 40))
    assert nullity(ExactMatrix.from_floats(wide)) is None
    odd = ExactMatrix.from_fractions([[Fraction(2**45 + 1), Fraction(-(2**45) + 7)]])
    assert nullity(odd) in (
        None,
        1,
    )  # entries beyond the reconstruction: nothing is claimed that was not multiplied out


@pytest.mark.parametrize("size", [80, pytest.param(768, marks=pytest.mark.slow)])
def test_laplacians_are_decided_and_confirmed(size: int) -> None:
    laplacian = path_laplacian(size)
    asked = {"positive-definite": "fails", "positive-semidefinite": "holds", "nonsingular": "fails", "rank": "holds"}
    for matrix in (laplacian, laplacian @ laplacian.T):
        for condition, answer in asked.items():
            verdict = certify(condition, matrix, time_limit=0.5)
            assert verdict == answer, (condition, verdict)
            assert recheck(verdict.certificate, matrix) == "holds"
    lifted = laplacian.copy()
    lifted[0, 0] = 2.0  # definite, by 1/n^2 or so
    assert certify("positive-definite", lifted) == "holds"
    sunk = laplacian.copy()
    sunk[0, 0] = 1 - 2.0**-30
    verdict = certify("positive-semidefinite", sunk)
    assert verdict == "fails"


def test_a_forged_kernel_is_not_confirmed() -> None:
    laplacian = path_laplacian(50)
    verdict = certify("positive-semidefinite", laplacian)
    assert verdict.certificate is not None
    document = verdict.certificate.as_dict()
    other = path_laplacian(50)
    other[0, 0] = 2.0
    assert recheck(verdict.certificate, other) == "fails"
    facts = {**document["data"]["facts"], "zero": 2, "positive": 48}
    forged = {**document, "data": {**document["data"], "facts": facts}}
    forged.pop("digest", None)
    assert recheck(forged, laplacian, time_limit=5) != "holds"


@pytest.mark.parametrize("size", [70, pytest.param(768, marks=pytest.mark.slow)])
def test_a_norm_within_rounding_of_the_bound_is_decided(size: int) -> None:
    reflection = householder(size)
    above = certify("norm-bound", reflection, bound=1, time_limit=0.5)
    below = certify("norm-bound", reflection * (1 - 2.0**-50), bound=1, time_limit=0.5)
    assert (str(above.answer), str(below.answer)) == ("fails", "holds")
    assert recheck(above.certificate, reflection) == "holds"
    assert recheck(below.certificate, reflection * (1 - 2.0**-50)) == "holds"


def test_bounds_at_the_norm_itself_are_left_to_exact_arithmetic() -> None:
    permutation = np.roll(np.eye(70), 1, axis=0)
    assert sharply_exceeds(Enclosure.from_floats(permutation), Fraction(1)) is None
    assert sharply_exceeds(Enclosure.from_floats(permutation), Fraction(1) + Fraction(1, 2**60)) is False
    assert sharply_exceeds(Enclosure.from_floats(permutation), Fraction(1) - Fraction(1, 2**60)) is True
