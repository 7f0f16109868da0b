"""Matrices outside the families of the suite, each with an exact truth of its own; and every certificate re-checks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product as pairs_of
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.numerics.certified.certify import certify, conditions
from eigentoken.numerics.certified.enclosures import MatrixError
from eigentoken.numerics.recheck import recheck

from ..tools.adversarial_matrices import exact_kinds, fraction_inertia

ALPHA = Fraction(1, 3)
ORDERS = {"real-part": "dominant-real-part", "modulus": "dominant-modulus", "step": "dominant-step"}
Eigenvalues = list[tuple[Fraction, Fraction, int]]


def exact_rows(matrix: Any) -> list[list[Fraction]]:
    return [[Fraction(v) if isinstance(v, str | int) else Fraction(float(v)) for v in row] for row in matrix]


def symmetric_part(matrix: Any) -> list[list[Fraction]]:
    rows = exact_rows(matrix)
    return [[(rows[i][j] + rows[j][i]) / 2 for j in range(len(rows))] for i in range(len(rows))]


def fraction_rank(rows: list[list[Fraction]]) -> int:
    rows = [list(row) for row in rows]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def companion(roots: list[int]) -> np.ndarray:
    """The companion matrix of ``prod (x - r)``."""
    coefficients = [1]
    for root in roots:
        coefficients = [a - root * b for a, b in zip([*coefficients, 0], [0, *coefficients], strict=True)]
    n = len(roots)
    matrix = np.zeros((n, n))
    matrix[0] = [-c for c in coefficients[1:]]
    matrix[np.arange(1, n), np.arange(n - 1)] = 1.0
    return matrix


def listed(roots: list[int]) -> Eigenvalues:
    return [(Fraction(root), Fraction(0), roots.count(root)) for root in sorted(set(roots))]


def spectral_cases() -> Iterator[tuple[str, Any, Eigenvalues]]:
    for roots in ([1, 2, 3], [5, -5, 1], [2, 2, 1], [-7, 3, 3, 3], [1, -1, 2, -2], [10, 9, 8, 7, 6, 5], [0, 0, 1], [4]):
        yield f"companion {roots}", companion(roots), listed(roots)
    for k in (1, 10, 25, 26, 27, 60, 300):
        e, s = math.ldexp(1.0, -2 * k), Fraction(1, 2**k)
        a = Fraction(1)
        split = [(a + s, Fraction(0), 1), (a - s, Fraction(0), 1)]
        yield f"nearly defective, 2^-{k}", np.array([[1.0, 1.0], [e, 1.0]]), split
        yield f"nearly defective pair, 2^-{k}", np.array([[1.0, 1.0], [-e, 1.0]]), [(a, s, 1)]
        third = np.diag([1.0, 1.0, 0.5])
        third[0, 1], third[1, 0], third[0, 2] = 1.0, e, 7.0
        yield f"nearly defective of three, 2^-{k}", third, [*split, (Fraction(1, 2), Fraction(0), 1)]
    for big, small in pairs_of((0, 200, 500), (0, -200, -500)):
        d = [math.ldexp(3.0, big), math.ldexp(-3.0, small), math.ldexp(1.0, small)]
        m = np.diag(d)
        m[0, 1] = math.ldexp(1.0, (big + small) // 2)
        yield f"mixed scales 2^{big}, 2^{small}", m, [(Fraction(v), Fraction(0), 1) for v in d]
    for n in (2, 3, 4, 5):
        yield f"nilpotent {n}", np.diag(np.ones(n - 1), 1) * 1e5, [(Fraction(0), Fraction(0), n)]
        yield f"ones {n}", np.ones((n, n)), [(Fraction(n), Fraction(0), 1), (Fraction(0), Fraction(0), n - 1)]
    yield "zero", np.zeros((3, 3)), [(Fraction(0), Fraction(0), 3)]
    yield "quarter turn", np.array([[0.0, -1.0], [1.0, 0.0]]), [(Fraction(0), Fraction(1), 1)]
    skew = np.zeros((4, 4))
    skew[0, 1], skew[1, 0], skew[2, 3], skew[3, 2] = 3.0, -3.0, 2.0, -2.0
    yield "skew", skew, [(Fraction(0), Fraction(3), 1), (Fraction(0), Fraction(2), 1)]
    swap = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    yield (
        "cyclic 4",
        swap,
        [(Fraction(1), Fraction(0), 1), (Fraction(-1), Fraction(0), 1), (Fraction(0), Fraction(1), 1)],
    )
    block = np.kron(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[2.0, 1.0], [-1.0, 2.0]]))
    yield "defective pair", block, [(Fraction(2), Fraction(1), 2)]
    double = np.zeros((4, 4))
    double[0, 0] = double[1, 1] = 0.25
    double[0, 1] = double[2, 3] = 1.0
    quarter = (Fraction(1, 4), Fraction(0), 2)
    yield "zero and a quarter, both defective", double, [quarter, (Fraction(0), Fraction(0), 2)]
    yield (
        "the same, smaller",
        np.ldexp(double, -300),
        [(Fraction(1, 2**302), Fraction(0), 2), (Fraction(0), Fraction(0), 2)],
    )
    tiny = np.array([[3.0, 1.0, 0.0], [0.0, 3.0, 1.0], [0.0, -5e-324, 3.0]])
    yield (
        "three, and a pair at 2^-537 from it",
        tiny,
        [(Fraction(3), Fraction(0), 1), (Fraction(3), Fraction(1, 2**537), 1)],
    )
    rounded = np.nextafter(1.0, 2.0)
    yield "one ulp apart", np.array([[1.0, 1e8], [0.0, rounded]]), listed_floats(1.0, rounded)
    yield "subnormal apart", np.diag([5e-324, 1e-323, -5e-324]), listed_floats(5e-324, 1e-323, -5e-324)


def listed_floats(*values: float) -> Eigenvalues:
    return [(Fraction(v), Fraction(0), 1) for v in values]


@pytest.mark.parametrize("case", list(spectral_cases()), ids=lambda case: case[0])
def test_no_false_leader(case: tuple[str, Any, Eigenvalues]) -> None:
    name, matrix, eigenvalues = case
    kinds = exact_kinds(eigenvalues, ALPHA)
    for order, condition in ORDERS.items():
        for claimed, verdict in (
            ("simple-real", certify(condition, matrix, alpha=ALPHA)),
            ("simple-pair", certify("dominant-complex-pair", matrix, alpha=ALPHA, by=order)),
        ):
            if verdict.is_undecided:
                assert verdict.certificate is None
                continue
            assert verdict.is_holds == (kinds[order] == claimed), (name, order, claimed, verdict.reason)
            again = recheck(verdict.certificate, matrix)
            assert again.is_holds, (name, order, claimed, again.reason)
    verdict = certify("spectrum", matrix)
    if verdict.is_holds:
        assert_discs_hold(verdict.details["discs"], eigenvalues)
        assert recheck(verdict.certificate, matrix).is_holds


def assert_discs_hold(discs: list[dict[str, float]], eigenvalues: Eigenvalues) -> None:
    """Every eigenvalue is in a disc, and a component of k discs holds k of them (exact arithmetic)."""
    points = [(re, sign * im) for re, im, m in eigenvalues for sign in ((1, -1) if im else (1,)) for _ in range(m)]
    shown = [(Fraction(d["re"]), Fraction(d["im"]), Fraction(d["radius"])) for d in discs]
    assert len(points) == len(shown)
    label = list(range(len(shown)))
    for i, (x, y, r) in enumerate(shown):
        for j, (u, v, s) in enumerate(shown[:i]):
            if (x - u) ** 2 + (y - v) ** 2 <= (r + s) ** 2:
                label = [label[j] if k == label[i] else k for k in label]
    found = []
    for re, im in points:
        homes = {label[k] for k, (x, y, r) in enumerate(shown) if (x - re) ** 2 + (y - im) ** 2 <= r * r}
        assert len(homes) == 1
        found.append(homes.pop())
    assert sorted(found) == sorted(label)


def sign_cases() -> Iterator[tuple[str, Any]]:
    for n in (4, 8, 14):
        pascal = [[math.comb(i + j, i) for j in range(n)] for i in range(n)]
        yield f"Pascal {n}", np.array(pascal, dtype=np.float64)
        lowered = np.array(pascal, dtype=np.float64)
        lowered[-1, -1] -= 1.0  # determinant one minus a unit minor: exactly singular
        yield f"Pascal {n}, singular", lowered
        rng = np.random.default_rng(n)
        u = np.triu(rng.integers(-9, 10, size=(n, n)), 1) + np.eye(n)
        yield f"unimodular Gram {n}", u.T @ u
        yield f"unimodular Gram {n}, less an ulp", np.nextafter(u.T @ u, -np.inf)
        yield f"hollow {n}", np.ones((n, n)) - np.eye(n)
        yield f"Lauchli {n}", np.vstack([np.ones(n), 1e-9 * np.eye(n)]).T @ np.vstack([np.ones(n), 1e-9 * np.eye(n)])
        yield f"minij {n}", np.minimum.outer(np.arange(1.0, n + 1), np.arange(1.0, n + 1))
        yield f"graded rank one {n}", np.outer(10.0 ** -np.arange(n), 10.0 ** -np.arange(n))
    yield "huge and subnormal", np.diag([1e308, 5e-324, -5e-324])
    yield "negative zero", np.diag([1.0, -0.0])
    yield "rational", [["1/3", "1/7"], ["1/7", "3/49"]]
    yield "rational, a little more", [["1/3", "1/7"], ["1/7", "3000000000000000000000001/49000000000000000000000000"]]


@pytest.mark.parametrize("case", list(sign_cases()), ids=lambda case: case[0])
def test_no_false_sign_rank_or_norm(case: tuple[str, Any]) -> None:
    name, matrix = case
    p, q, z = fraction_inertia(symmetric_part(matrix))
    n = p + q + z
    rows = exact_rows(matrix)
    rank = fraction_rank(rows)
    symmetric = all(rows[i][j] == rows[j][i] for i in range(n) for j in range(i))
    truths = {
        "positive-definite": p == n,
        "negative-definite": q == n,
        "positive-semidefinite": q == 0,
        "negative-semidefinite": p == 0,
        "indefinite": p > 0 and q > 0,
        "nonsingular": rank == n,
        "symmetric": symmetric,
        "identity": False,
    }
    for condition, truth in truths.items():
        verdict = certify(condition, matrix)
        assert verdict.is_undecided or verdict.is_holds == truth, (name, condition, verdict.reason)
        assert verdict.certificate is None or recheck(verdict.certificate, matrix).is_holds, (name, condition)
    for condition, details, truth in (("inertia", "inertia", [p, q, z]), ("rank", "rank", rank)):
        verdict = certify(condition, matrix)
        assert verdict.is_undecided or verdict.details[details] == truth, (name, condition)
        assert verdict.certificate is None or recheck(verdict.certificate, matrix).is_holds, (name, condition)


DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.bool_, np.float16, np.float32, np.longdouble]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_every_real_dtype_means_its_exact_value(dtype: Any) -> None:
    matrix = np.array([[1, 1], [1, 0]]).astype(dtype)
    for layout in (matrix, np.asfortranarray(matrix), np.repeat(np.repeat(matrix, 2, 0), 3, 1)[::2, ::3], matrix.T.T):
        verdict = certify("inertia", layout)
        assert verdict.details["inertia"] == [1, 1, 0]
        assert recheck(verdict.certificate, layout).is_holds
        assert recheck(verdict.certificate, np.array([[1.0, 1.0], [1.0, 0.0]])).is_holds  # the content, not the type


def test_integers_that_no_float_holds() -> None:
    big = 2**63 - 1
    matrix = np.array([[big, big], [big, big]], dtype=np.int64)
    assert certify("positive-definite", matrix).is_fails
    matrix[1, 1] -= 1
    verdict = certify("indefinite", matrix)
    assert verdict.is_holds and recheck(verdict.certificate, matrix).is_holds
    top = np.array([[2**64 - 1, 0], [0, 2**64 - 2]], dtype=np.uint64)
    assert certify("dominant-real-part", top).is_holds


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.int64, torch.bool])
def test_tensors_of_every_kind(kind: torch.dtype) -> None:
    tensor = torch.tensor([[1.0, 1.0], [1.0, 0.0]]).to(kind)[:, [1, 0]][:, [1, 0]]
    verdict = certify("indefinite", tensor.t().t())
    assert verdict.is_holds and recheck(verdict.certificate, tensor).is_holds


REFUSED: list[Any] = [
    np.eye(2) * 1j,
    torch.eye(2, dtype=torch.complex64),
    np.zeros((0, 0)),
    np.zeros((0, 3)),
    np.zeros((2, 2, 2)),
    np.zeros(4),
    np.array([["a", "b"], ["c", "d"]]),
    np.array([["2020-01-01"]], dtype="datetime64[D]"),
    np.array([[1.0, np.nan], [0.0, 1.0]]),
    [[1, 2], [3]],
    [],
    [[]],
    "no such file.npy",
    None,
    3.0,
    [[None]],
    [[1j]],
]


@pytest.mark.parametrize("matrix", REFUSED, ids=repr)
def test_what_is_not_a_real_matrix_is_refused_in_one_line(matrix: Any) -> None:
    for condition in conditions():
        with pytest.raises(MatrixError) as error:
            certify(condition, matrix, alpha=ALPHA)
        assert "\n" not in str(error.value) and str(error.value)


@pytest.mark.parametrize("condition", sorted(set(conditions()) - {"rank", "norm-bound"}))
def test_a_matrix_that_is_not_square_is_refused(condition: str) -> None:
    with pytest.raises(MatrixError, match="square"):
        certify(condition, np.ones((2, 3)), alpha=ALPHA)


@pytest.mark.parametrize("seed", range(12))
def test_a_radius_means_every_matrix_within_it(seed: int) -> None:
    """Perturbations of full norm, among them the worst ones: none contradicts a decided word."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    base = rng.integers(-3, 4, size=(n, n)).astype(np.float64)
    matrix = base + base.T if seed % 2 else base
    radius = float(rng.choice([0.0625, 0.25, 0.5]))
    names = ("positive-definite", "indefinite", "nonsingular", "dominant-real-part", "dominant-modulus", "norm-bound")
    for condition in names:
        options = {"bound": 6} if condition == "norm-bound" else {}
        verdict = certify(condition, matrix, radius=radius, **options)
        if verdict.is_undecided:
            continue
        assert recheck(verdict.certificate, matrix).is_holds
        for change in changes(matrix, radius, rng):
            again = certify(condition, matrix + change, **options)
            assert again.is_undecided or again.answer is verdict.answer, (condition, matrix.tolist(), change.tolist())


def changes(matrix: np.ndarray, radius: float, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Multiples of the identity, of the nearest singular direction and of random rank one, inside the radius."""
    n, inside = matrix.shape[0], radius * (1 - 1e-9)
    yield inside * np.eye(n)
    yield -inside * np.eye(n)
    u, _, vt = np.linalg.svd(matrix)
    for k in (0, n - 1):
        yield inside * np.outer(u[:, k], vt[k])
        yield -inside * np.outer(u[:, k], vt[k])
    for _ in range(4):
        a, b = rng.standard_normal(n), rng.standard_normal(n)
        yield inside * np.outer(a / np.linalg.norm(a), b / np.linalg.norm(b))


@pytest.mark.parametrize("small", [5e-324, 1e-200])
def test_a_tiny_column_beside_the_bound_is_an_answer_and_no_error(small: float) -> None:
    """Slices have no room for such a column: of the diagonal matrix the norm is 3, of the other just above it."""
    assert certify("norm-bound", np.diag([3.0, small]), bound=3).is_holds
    beside = np.array([[3.0, small], [0.0, small]])
    assert not certify("norm-bound", beside, bound=3).is_holds


def test_the_eigenvector_is_that_of_the_leader_and_not_of_the_largest_float() -> None:
    """Eigenvalues 1, 1 - 2^-54 (twice, defective): the float center has 1 three times, and its own order of them.

    Found by ``make soundness``: the vector of another eigenvalue was given with a sine of 1e-14.
    """
    tiny = Fraction(1, 2**54)
    matrix = [["1", "0", "0"], ["0", str(-1 - tiny), "-2"], ["0", "4", str(3 - tiny)]]
    verdict = certify("principal-eigenvector", matrix)
    if verdict.is_holds:
        x = [Fraction(entry) for entry in verdict.details["vector"]]
        length = sum(entry * entry for entry in x)
        assert length - x[0] ** 2 <= Fraction(verdict.details["sine_of_angle"]) ** 2 * length
    assert not verdict.is_fails
