"""What goes in: files, dtypes, layouts, exact numbers; what is refused, with one line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from eigentoken.numerics.certified.certify import certify, conditions
from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError, product, total
from eigentoken.numerics.certified.exact_matrices import ExactMatrix
from eigentoken.numerics.certified.matrices import as_enclosure, exact_number, read_matrix
from eigentoken.numerics.recheck import recheck


def test_json_numbers_are_exact(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text('[["1/3", 0.1], [123456789012345678901234567890, -2e-3]]')
    exact = read_matrix(str(file)).exact
    assert exact is not None
    assert exact.fractions() == [
        [Fraction(1, 3), Fraction(1, 10)],
        [Fraction(123456789012345678901234567890), Fraction(-1, 500)],
    ]


def test_integers_beyond_53_bits_decide(tmp_path: Path) -> None:
    """2^60 and 2^60 + 1 are the same float: the determinant -1 is seen only exactly."""
    file = tmp_path / "m.json"
    a = 2**60
    file.write_text(json.dumps({"matrix": [[a, a + 1], [a + 1, a + 2]]}))
    assert certify("positive-definite", str(file)).is_fails
    assert certify("inertia", str(file)).details["inertia"] == [1, 1, 0]
    assert certify("rank", np.array([[a, a], [a, a]], dtype=np.int64)).details["rank"] == 1
    assert certify("nonsingular", np.array([[a, a + 1], [a, a]], dtype=np.uint64)).is_holds


def test_npy_and_safetensors(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.diag([1.0, -1.0]).astype(np.float16))
    assert certify("indefinite", str(tmp_path / "m.npy")).is_holds
    weights = {"a": torch.eye(3, dtype=torch.bfloat16), "b": torch.ones(2, 2, dtype=torch.float32)}
    save_file(weights, str(tmp_path / "w.safetensors"))
    assert certify("identity", f"{tmp_path / 'w.safetensors'}::a").is_holds
    assert certify("rank", f"{tmp_path / 'w.safetensors'}::b").details["rank"] == 1


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("m.json", "[[1, 2], [3]]", "different lengths"),
        ("m.json", "[[1, NaN]]", "NaN"),
        ("m.json", "[[1, Infinity]]", "Infinity"),
        ("m.json", '[["1/0"]]', "not a number"),
        ("m.json", '[["one"]]', "not a number"),
        ("m.json", '[["1e999999999"]]', "exponent"),
        ("m.json", "[]", "empty"),
        ("m.json", "[[]]", "empty"),
        ("m.json", '{"rows": 1}', "matrix"),
        ("m.json", "{", "is not JSON"),
        ("m.txt", "1", "expected .npy"),
        ("m.npy", "junk", "cannot read"),
        ("m.safetensors", "junk", ""),
        ("m.json", "[" * 100000, ""),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, name: str, content: str, words: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(MatrixError) as caught:
        read_matrix(str(file))
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_missing_files_and_tensors(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="no such file"):
        read_matrix(str(tmp_path / "none.npy"))
    save_file({"a": torch.eye(2), "b": torch.eye(2)}, str(tmp_path / "w.safetensors"))
    with pytest.raises(MatrixError, match="name one tensor"):
        read_matrix(f"{tmp_path / 'w.safetensors'}::c")
    with pytest.raises(MatrixError, match="tensor names"):
        read_matrix("m.npy::a")


def test_a_pickle_is_not_executed(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(MatrixError):
        read_matrix(str(tmp_path / "m.npy"))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", [(0, 0), (0, 1), (1, 0)])
def test_nan_and_inf_are_refused_by_every_condition(bad: float, where: tuple[int, int]) -> None:
    matrix = np.eye(2)
    matrix[where] = bad
    for condition in conditions():
        with pytest.raises(MatrixError, match="NaN or infinite"):
            certify(condition, matrix, alpha=1)


def test_empty_nonsquare_complex_and_wrong_axes_are_refused() -> None:
    for matrix in (np.zeros((0, 0)), np.zeros((0, 3)), []):
        with pytest.raises(MatrixError, match="empty"):
            certify("positive-definite", matrix)
    with pytest.raises(MatrixError, match="square"):
        certify("positive-definite", np.zeros((2, 3)))
    for wrong in (np.eye(2) * 1j, torch.eye(2, dtype=torch.complex64), np.zeros(3), np.zeros((2, 2, 2)), "x", [["a"]]):
        with pytest.raises(MatrixError):
            certify("symmetric", wrong)
    with pytest.raises(MatrixError, match="unknown condition"):
        certify("positive", np.eye(2))
    with pytest.raises(MatrixError, match="alpha"):
        certify("dominant-step", np.eye(2))
    for radius in (-1, float("nan"), float("inf")):
        with pytest.raises(MatrixError):
            certify("positive-definite", np.eye(2), radius=radius)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int64])
def test_torch_types(kind: torch.dtype) -> None:
    verdict = certify("inertia", torch.tensor([[2, 0, 0], [0, -1, 0], [0, 0, 0]]).to(kind))
    assert verdict.details["inertia"] == [1, 1, 1]


def test_one_by_one() -> None:
    assert certify("positive-definite", [[5e-324]]).is_holds
    assert certify("positive-definite", [["1e-400"]]).is_holds
    assert certify("positive-semidefinite", [[0]]).is_holds
    assert certify("indefinite", [[0]]).is_fails
    for condition in ("dominant-real-part", "dominant-modulus", "dominant-step", "principal-eigenvector"):
        assert certify(condition, [[-3]], alpha=1).is_holds
    assert certify("dominant-complex-pair", [[1]]).is_fails


def test_huge_and_tiny_do_not_overflow() -> None:
    huge = np.array([[1.7e308, 1.6e308], [1.6e308, 1.7e308]])
    assert certify("positive-definite", huge).is_holds
    assert certify("dominant-modulus", huge).is_holds
    assert certify("norm-bound", huge, bound=1).is_fails
    assert certify("norm-bound", huge, bound="4e308").is_holds
    assert certify("positive-definite", huge, radius=1e308).is_undecided
    tiny = np.array([[5e-324, 0.0], [0.0, 5e-324]])
    assert certify("positive-definite", tiny).is_holds
    assert certify("positive-definite", tiny, radius=1e300).is_undecided
    assert certify("symmetric", tiny).is_holds


@pytest.mark.parametrize("seed", range(30))
def test_products_enclose_the_exact_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((3, 40)) * np.exp2(rng.integers(-20, 20, size=(3, 1)))
    b = rng.standard_normal((40, 2)).astype(np.float32).astype(np.float64)
    found = product(as_enclosure(a, name="a"), as_enclosure(b, name="b"))
    truth = ExactMatrix.from_floats(a).times(ExactMatrix.from_floats(b)).fractions()
    scale = Fraction(2) ** found.exponent
    square = sum((truth[i][j] / scale - Fraction(float(found.center[i, j]))) ** 2 for i in range(3) for j in range(2))
    assert 0 < square <= Fraction(found.radius) ** 2
    assert found.exact is not None and found.exact.fractions() == truth


def test_products_of_few_bits_are_exact() -> None:
    a = np.arange(12.0).reshape(3, 4)
    assert product(as_enclosure(a), as_enclosure(a.T.copy())).radius == 0.0
    halves = total([as_enclosure(a), as_enclosure(a)])
    assert halves.exact is not None and halves.exact.fractions() == [
        [Fraction(2 * v) for v in row] for row in a.tolist()
    ]


def test_radius_of_a_product_covers_the_factors() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    found = product(Enclosure.from_floats(a, 0.1, "a"), Enclosure.from_floats(b, 0.2, "b"))
    for _ in range(50):
        da, db = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
        da *= 0.1 / np.linalg.norm(da, 2)
        db *= 0.2 / np.linalg.norm(db, 2)
        assert np.linalg.norm((a + da) @ (b + db) - found.center, 2) <= found.radius


def test_exact_numbers() -> None:
    assert exact_number(np.float32(0.1)) == Fraction(float(np.float32(0.1)))
    assert exact_number(" 1/3 ") == Fraction(1, 3)
    for wrong in (None, "1//3", "", "nan", float("nan"), object()):
        with pytest.raises(MatrixError):
            exact_number(wrong)


def test_flushed_subnormals_and_masks_are_refused() -> None:
    tiny = np.array([[0.0, 5e-324], [0.0, 0.0]])
    if torch.set_flush_denormal(True):
        try:
            with pytest.raises(MatrixError, match="subnormal"):
                certify("symmetric", tiny)
            assert certify("symmetric", np.eye(2)).is_holds
        finally:
            torch.set_flush_denormal(False)
    assert certify("symmetric", tiny).is_fails
    with pytest.raises(MatrixError, match="masked"):
        certify("symmetric", np.ma.masked_equal(np.eye(2), 0.0))


@pytest.mark.parametrize(
    "rows",
    [
        [["18", str(-(2**200))], [str(-(2**200)), "12"]],
        [["1e300", "0"], ["0", str(Fraction(1, 2**1070))]],
        [[str(Fraction(2) ** -1074), "0"], ["0", "1"]],
        [[str(2**1023), "1"], ["1", str(2**1023 + 1)]],
        [[str(10**400), "1"], ["1", "2"]],
        [["1/3", "1"], ["1", "4"]],
    ],
    ids=["moderate and large", "both ends", "subnormal", "one not a float", "beyond floats", "a third"],
)
def test_one_content_has_one_hash_however_it_is_written(rows: list[list[str]]) -> None:
    """Rows of exact numbers, fractions, and the array of floats where they are floats: each re-checks the other."""
    fractions = [[Fraction(entry) for entry in row] for row in rows]
    spellings: list[Any] = [rows, fractions]
    try:
        array = np.array([[float(entry) for entry in row] for row in fractions])
    except OverflowError:
        array = None
    if array is not None and [[Fraction(v) for v in row] for row in array.tolist()] == fractions:
        spellings.append(array)
    for certified in spellings:
        for condition in ("inertia", "norm-bound", "rank", "dominant-modulus"):
            verdict = certify(condition, certified)
            assert verdict.certificate is not None
            for given in spellings:
                assert recheck(verdict.certificate, given).is_holds, (condition, certified, given)
