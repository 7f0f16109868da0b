"""Named matrices of the literature, larger than the random families: verdicts against exact elimination and known facts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import flint
import numpy as np
import pytest

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.recheck.matrices import rational


def hadamard(n: int) -> np.ndarray:
    h = np.ones((1, 1))
    while len(h) < n:
        h = np.block([[h, h], [h, -h]])
    return h


def rosser() -> np.ndarray:
    """Eigenvalues 10 sqrt(10405), 1020, 510 +- 100 sqrt 26, 1000 twice, 0, -10 sqrt(10405)."""
    return np.array(
        [
            [611, 196, -192, 407, -8, -52, -49, 29],
            [196, 899, 113, -192, -71, -43, -8, -44],
            [-192, 113, 899, 196, 61, 49, 8, 52],
            [407, -192, 196, 611, 8, 44, 59, -23],
            [-8, -71, 61, 8, 411, -599, 208, 208],
            [-52, -43, 49, 44, -599, 411, 208, 208],
            [-49, -8, 8, 59, 208, 208, 99, -911],
            [29, -44, 52, -23, 208, 208, -911, 99],
        ],
        dtype=float,
    )


SYMMETRIC: dict[str, Callable[[], np.ndarray]] = {
    "rosser": rosser,
    "pascal 16": lambda: np.array([[float(math.comb(i + j, i)) for j in range(16)] for i in range(16)]),
    "moler 20": lambda: np.array(
        [[float(min(i, j) - 1) if i != j else float(i + 1) for j in range(20)] for i in range(20)]
    ),
    "minij 30": lambda: np.array([[float(min(i, j) + 1) for j in range(30)] for i in range(30)]),
    "wilkinson 41": lambda: np.diag(np.abs(np.arange(41.0) - 20)) + np.eye(41, k=1) + np.eye(41, k=-1),
    "second difference 60": lambda: 2 * np.eye(60) - np.eye(60, k=1) - np.eye(60, k=-1),
    "path Laplacian 60": lambda: np.diag([1.0, *[2.0] * 58, 1.0]) - np.eye(60, k=1) - np.eye(60, k=-1),
    "hadamard 32": lambda: hadamard(32),
    "hilbert 25, rounded": lambda: np.array([[1.0 / (i + j + 1) for j in range(25)] for i in range(25)]),
    "lehmer 24, rounded": lambda: np.array([[min(i, j) / max(i, j) for j in range(1, 25)] for i in range(1, 25)]),
    "cauchy 12, rounded": lambda: np.array([[1.0 / (i + j) ** 3 for j in range(1, 13)] for i in range(1, 13)]),
    "arrow 40": lambda: np.eye(40) + np.outer(np.eye(40)[0], np.ones(40)) + np.outer(np.ones(40), np.eye(40)[0]),
    "ones 45": lambda: np.ones((45, 45)),
    "checkerboard 31": lambda: (-1.0) ** np.add.outer(np.arange(31), np.arange(31)),
    "gram of rank 7": lambda: (lambda v: v @ v.T)(np.arange(280.0).reshape(40, 7) % 11 - 5),
    "geometric 1e-300": lambda: np.diag(10.0 ** np.linspace(-300, 300, 30)),
    "anti-diagonal": lambda: np.fliplr(np.diag(2.0 ** np.arange(-500, 500, 50))),
}


def exact_inertia(matrix: np.ndarray) -> tuple[int, int, int]:
    n = matrix.shape[0]
    pairs = [float(v).as_integer_ratio() for v in (matrix + matrix.T).ravel()]
    scale = max(q for _, q in pairs)
    integers = flint.fmpz_mat(n, n, [p * (scale // q) for p, q in pairs])
    return rational.counts(integers, time.monotonic() + 300)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_inertia_of_named_matrices(name: str) -> None:
    matrix = SYMMETRIC[name]()
    p, q, z = exact_inertia(matrix)
    verdict = certify("inertia", matrix)
    assert verdict.is_holds and verdict.details["inertia"] == [p, q, z]
    n = len(matrix)
    truths = {"positive-definite": p == n, "positive-semidefinite": q == 0, "indefinite": p > 0 and q > 0}
    for condition, truth in truths.items():
        found = certify(condition, matrix)
        assert not found.is_undecided and found.is_holds == truth, condition
    assert certify("rank", matrix).details["rank"] == p + q


def kahan(n: int) -> np.ndarray:
    s, c = math.sin(1.2), math.cos(1.2)
    return np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


SPECTRA: dict[str, tuple[Callable[[], np.ndarray], dict[str, str]]] = {
    "rosser": (rosser, {"dominant-real-part": "holds", "dominant-modulus": "fails"}),  # +-10 sqrt(10405)
    "triangular ones 40": (lambda: np.triu(np.ones((40, 40))), {"dominant-real-part": "fails"}),
    "triangular 1..40": (
        lambda: np.triu(np.ones((40, 40)), 1) + np.diag(np.arange(1.0, 41.0)),
        {"dominant-real-part": "holds", "dominant-modulus": "holds"},
    ),
    "strongly nonnormal 30": (
        lambda: np.diag(np.arange(30.0)) + 100 * np.triu(np.ones((30, 30)), 1),
        {"dominant-real-part": "holds", "dominant-modulus": "holds"},
    ),
    "nilpotent 25": (
        lambda: np.triu(np.ones((25, 25)), 1),
        {"dominant-real-part": "fails", "dominant-modulus": "fails"},
    ),
    "kahan 20": (lambda: kahan(20), {"dominant-real-part": "holds"}),
    "cyclic shift 24": (
        lambda: np.roll(np.eye(24), 1, axis=1),
        {"dominant-real-part": "holds", "dominant-modulus": "fails"},
    ),
    "skew 10": (
        lambda: np.triu(np.ones((10, 10)), 1) - np.tril(np.ones((10, 10)), -1),
        {"dominant-real-part": "fails"},
    ),
    "grcar 30": (
        lambda: sum((np.eye(30, k=k) for k in range(4)), start=-np.eye(30, k=-1)),
        {"dominant-modulus": "fails"},
    ),
    "positive 50": (
        lambda: np.arange(1.0, 2501.0).reshape(50, 50) % 17 + 1,
        {"dominant-real-part": "holds", "dominant-modulus": "holds"},  # Perron and Frobenius
    ),
    "companion of (x-1)...(x-20)": (
        lambda: np.eye(20, k=-1) - np.outer(np.poly(range(1, 21))[1:], np.eye(20)[0]).T,
        {"dominant-modulus": "known by roots of the rounded polynomial"},
    ),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_leaders_of_named_matrices(name: str) -> None:
    make, truths = SPECTRA[name]
    matrix = make()
    for condition, word in truths.items():
        verdict = certify(condition, matrix)
        if word in ("holds", "fails"):
            assert str(verdict.answer) == word, (condition, verdict.reason)
        else:  # only consistency: the transposed matrix has the same spectrum
            other = certify(condition, matrix.T)
            assert verdict.is_undecided or other.is_undecided or verdict.answer is other.answer
