"""Free predicates are certified only by proved comparisons: numbers that decide or refuse, and predicates that cheat."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import acb, arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.numerics.author_code.decided_arrays import DecidedArray, decided_array
from eigentoken.numerics.author_code.decided_numbers import REFUSALS, DecidedNumber, NotDecided, decided, enclosure
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.predicates import predicate_verdict
from eigentoken.numerics.lab.rerun import Rerun
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language.conditions import PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.terms import matrix, n

V = matrix("V")
fractions = st.fractions(min_value=-20, max_value=20, max_denominator=30)
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def as_fraction(number: DecidedNumber) -> Fraction:
    assert isinstance(number.value, fmpq)
    return Fraction(int(number.value.p), int(number.value.q))


def holds_value(number: Any, value: float, slack: float = 1e-9) -> bool:
    """Is the float near the enclosure, and the enclosure narrow?"""
    ball = enclosure(number)
    middle = complex(ball) if isinstance(ball, acb) else float(ball.mid())
    assert float(ball.rad()) < slack
    return abs(middle - value) < slack


# --- numbers ---------------------------------------------------------------------------------------------------------


@given(fractions, fractions, st.sampled_from(sorted(OPERATORS)), st.sampled_from(["both", "left", "right"]))
def test_rational_arithmetic_is_exact(a: Fraction, b: Fraction, sign: str, wrapped: str) -> None:
    if sign == "/" and b == 0:
        with pytest.raises(NotDecided, match="zero"):
            decided(a) / decided(b)
        return
    left = decided(a) if wrapped != "right" else a
    right = decided(b) if wrapped != "left" else b
    assert as_fraction(OPERATORS[sign](left, right)) == OPERATORS[sign](a, b)


@given(fractions, fractions, st.sampled_from(sorted(COMPARISONS)))
def test_rational_comparisons_are_right(a: Fraction, b: Fraction, sign: str) -> None:
    assert COMPARISONS[sign](decided(a), decided(b)) is COMPARISONS[sign](a, b)
    assert COMPARISONS[sign](decided(a), b) is COMPARISONS[sign](a, b)
    assert COMPARISONS[sign](a, decided(b)) is COMPARISONS[sign](a, b)


@given(st.integers(1, 300), st.integers(1, 300), st.sampled_from(sorted(COMPARISONS)))
def test_comparisons_of_roots_are_right(a: int, b: int, sign: str) -> None:
    """sqrt(a) against sqrt(b), whose order is that of a and b; equal roots are found equal by algebra."""
    assert COMPARISONS[sign](decided(a).sqrt(), decided(b).sqrt()) is COMPARISONS[sign](a, b)


def test_a_difference_below_the_precision_is_refused_and_found_with_more_bits() -> None:
    def differs() -> bool:
        return bool(decided(sp.sqrt(2)) + sp.Rational(1, 2**200) > decided(sp.sqrt(2)))

    with precision(128), pytest.raises(NotDecided, match="larger"):
        differs()
    with precision(512):
        assert differs()


@pytest.mark.parametrize(
    "escape",
    [
        float,
        complex,
        math.sqrt,
        math.exp,
        hash,
        lambda number: {number},
        lambda number: np.asarray(decided_array([number]), dtype=float),
        lambda number: decided_array([number]).astype(float),
        lambda number: decided_array([number]).astype(int),
        lambda number: np.float64(number),
        lambda number: number * float("inf"),
        lambda number: number < float("nan"),
        lambda number: 1 / (number - number),
        lambda number: np.sin(number) == np.sin(number),
        lambda number: np.sin(number) > np.sin(number),
        lambda number: bool(np.sin(number) - np.sin(number)),
        lambda number: number > 2**0.5,  # the float next to it
        lambda number: (np.sin(number) - np.sin(number)).floor(),
        lambda number: np.log(-number),
        lambda number: np.sqrt(-number),
    ],
)
def test_nothing_is_guessed(escape: Callable[[Any], Any]) -> None:
    """Ways back into floats, ties of enclosures, and division by what may be zero are refused, and noted."""
    before = len(REFUSALS)
    with pytest.raises(NotDecided):
        escape(decided(sp.sqrt(2)))
    assert len(REFUSALS) > before


@pytest.mark.parametrize("show", [str, repr, "{:.3f}".format, lambda each: str(decided_array([each]))])
def test_a_text_of_an_exact_number_is_noted(show: Callable[[Any], Any]) -> None:
    before = len(REFUSALS)
    show(decided(sp.sqrt(2)))
    assert len(REFUSALS) > before


def test_equal_numbers_of_another_form_are_equal() -> None:
    """Decided by algebra: roots, and exponentials of rational numbers."""
    root = decided(2).sqrt()
    assert root == decided(8).sqrt() / 2
    assert not root > decided(8).sqrt() / 2
    assert root <= decided(8).sqrt() / 2
    weights = [decided(Fraction(each, 7)).exp() for each in range(4)]
    total = sum(weights[1:], weights[0])
    assert sum((each / total for each in weights), decided(0)) == 1
    assert root < float("inf")
    assert root > -np.inf
    assert root != float("inf")


def test_whole_numbers_are_decided_or_refused() -> None:
    half = decided(Fraction(-5, 2))
    assert [math.floor(half), math.ceil(half), int(half), round(half), round(-half)] == [-3, -2, -2, -2, 2]
    assert (half // 2, half % 2, 7 // decided(2), -7 % decided(3)) == (-2, Fraction(3, 2), 3, 2)
    assert (int(decided(2).sqrt()), round(decided(2).sqrt() * 2), round(decided(Fraction(1, 3)), 2)) == (
        1,
        3,
        Fraction(33, 100),
    )
    with pytest.raises(NotDecided):
        int(np.sin(decided(1)) ** 2 + np.cos(decided(1)) ** 2)


@pytest.mark.parametrize("scalar", [2, 2.0, np.float64(2.0), np.int64(2), Fraction(2), sp.Integer(2)])
def test_scalars_of_all_kinds_mix(scalar: Any) -> None:
    number = decided(sp.Rational(1, 3))
    for found in (scalar * number, number * scalar):
        assert isinstance(found, DecidedNumber)
        assert as_fraction(found) == Fraction(2, 3)
    assert (scalar * decided_array([1, 2]))[1] == 4
    assert (np.array([1.0, 2.0]) * decided_array([1, 2]))[1] == 4
    assert number < scalar


def test_sympy_floats_are_no_exact_numbers() -> None:
    with pytest.raises(NotDecided):
        decided(sp.Float(0.1) * sp.sqrt(2))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, sp.Rational(1, 10)),
        (1 / 3, sp.Rational(1, 3)),
        (math.pi, sp.pi),
        (2 * math.pi, 2 * sp.pi),
        (-math.pi, -sp.pi),
        (math.e, sp.E),
        (math.sqrt(2) / 3, sp.sqrt(2) / 3),
        (math.log(2), sp.log(2)),
        (sum([0.1] * 10), 1),
        (float(np.linspace(0, 1, 4)[1]), sp.Rational(1, 3)),
        (float(np.cos(np.pi / 2)), 0),
    ],
)
def test_a_float_is_what_its_author_may_have_meant(written: float, meant: Any) -> None:
    """Neither equal nor different is decided, and a difference that is larger than rounding is."""
    number = decided(written)
    for sign in ("<", ">", "==", "!=", "<=", ">="):
        if number.made is None and not isinstance(number.value, fmpq):
            with pytest.raises(NotDecided):
                COMPARISONS[sign](number, meant)
    assert number < decided(meant) + Fraction(1, 10**9)
    assert number > decided(meant) - Fraction(1, 10**9)


def test_short_floats_are_exact() -> None:
    assert decided(0.5) == Fraction(1, 2)
    assert decided(-1023.0) == -1023
    with pytest.raises(NotDecided):
        decided(1e-9) == Fraction(1, 10**9)  # noqa: B015 - the comparison itself is refused
    with pytest.raises(NotDecided):
        decided(np.float32(0.1))


@given(st.fractions(min_value=-3, max_value=3, max_denominator=9))
def test_functions_hold_the_value(x: Fraction) -> None:
    number = decided(x)
    for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan"):
        assert holds_value(getattr(np, name)(number), float(getattr(np, name)(float(x))), 1e-8), name
    if x > 0:
        assert holds_value(np.log(number), math.log(x))
        assert holds_value(number**0.5, math.sqrt(x))
        assert holds_value(number**-1.5, float(x) ** -1.5, 1e-6 * float(x) ** -1.5 + 1e-9)
        assert holds_value(2**number, 2 ** float(x), 1e-8)
    assert as_fraction(abs(number)) == abs(x)
    assert as_fraction(number**3) == x**3


# --- arrays ----------------------------------------------------------------------------------------------------------

matrices = st.integers(1, 4).flatmap(
    lambda size: st.lists(st.lists(st.integers(-6, 6), min_size=size, max_size=size), min_size=size, max_size=size)
)


@given(matrices, st.booleans())
def test_linear_algebra_agrees_with_floats(rows: list[list[int]], irrational: bool) -> None:
    """Each certified function of ``numpy.linalg`` against the float one, on rational matrices and on balls."""
    floats = np.array(rows, dtype=float)
    exact: Any = decided_array(rows)
    if irrational:
        exact, floats = exact * decided(sp.sqrt(2)), floats * math.sqrt(2)
    symmetric, plain = exact + exact.T, floats + floats.T
    assert isinstance(exact @ exact, DecidedArray)
    for found, value in zip(np.linalg.eigvalsh(symmetric), np.linalg.eigvalsh(plain), strict=True):
        assert holds_value(found, value, 1e-7)
    assert holds_value(np.linalg.det(exact), float(np.linalg.det(floats)), 1e-6)
    for order in (None, "fro", 1, 2, np.inf):
        assert holds_value(np.asarray(np.linalg.norm(exact, order)).item(), float(np.linalg.norm(floats, order)), 1e-7)
    for order in (None, 1, 2, np.inf):
        for axis in (0, 1):
            for found, value in zip(
                np.linalg.norm(exact, order, axis=axis), np.linalg.norm(floats, order, axis=axis), strict=True
            ):
                assert holds_value(found, float(value), 1e-7)
    if abs(np.linalg.det(floats)) > 0.5:
        inverse = np.linalg.inv(exact)
        assert np.allclose(inverse @ exact, np.eye(len(rows)))
        solved = np.linalg.solve(exact, np.ones(len(rows)))
        assert np.allclose(exact @ solved, np.ones(len(rows)))
    if not irrational:
        assert np.linalg.matrix_rank(exact) == np.linalg.matrix_rank(floats)


@given(matrices)
def test_general_eigenvalues_agree_with_exact_ones(rows: list[list[int]]) -> None:
    """Sum and product of the eigenvalues are trace and determinant; the largest real part is that of the float spectrum."""
    exact = decided_array(rows)
    spectrum = np.linalg.eigvals(exact)
    assert len(spectrum) == len(rows)
    total = sum(spectrum[1:], spectrum[0])
    gap = enclosure(
        total - np.trace(exact).item() if isinstance(np.trace(exact), np.ndarray) else total - np.trace(exact)
    )
    assert gap.contains(0) if isinstance(gap, acb | arb) else gap == 0
    floats = np.linalg.eigvals(np.array(rows, dtype=float))
    tops = sorted(float(enclosure(each).mid()) for each in spectrum.real)
    assert np.allclose(tops, sorted(floats.real), atol=1e-2)  # defective ones are far off in floats
    sizes = sorted(float(enclosure(each).mid()) for each in abs(spectrum))
    assert np.allclose(sizes, sorted(abs(floats)), atol=1e-2)


def test_eigenvalues_are_listed_as_numpy_lists_them() -> None:
    """So that a predicate which takes the first one speaks of the same number in the search and in the certificate."""
    generator = np.random.default_rng(0)
    for size in (2, 3, 4):
        for _ in range(20):
            rows = generator.integers(-9, 10, (size, size))
            floats = np.linalg.eigvals(rows.astype(float))
            for found, value in zip(np.linalg.eigvals(decided_array(rows)), floats, strict=True):
                assert holds_value(found, value, 1e-5)


def test_singular_matrices_are_said_or_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(decided_array([[1, 2], [2, 4]]))
    with pytest.raises(NotDecided):
        np.linalg.inv(decided_array([[1, 2], [2, 4]]) * decided(sp.sqrt(2)))
    with pytest.raises(NotDecided):
        np.linalg.matrix_rank(decided_array([[1, 2], [2, 4]]) * decided(sp.sqrt(2)))
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.det(decided_array([[1, 2]]))


@pytest.mark.parametrize("name", ["eigh", "eig", "svd", "qr", "cholesky", "cond", "pinv", "slogdet"])
def test_what_has_no_certified_version_is_refused(name: str) -> None:
    with pytest.raises(NotDecided, match="no certified version"):
        getattr(np.linalg, name)(decided_array([[2, 1], [1, 2]]))


def test_a_repeated_eigenvalue_is_not_taken_for_two() -> None:
    """On balls nothing separates two equal eigenvalues, so their order is refused; on rationals they are equal."""
    assert np.linalg.eigvalsh(decided_array(np.eye(3)))[0] == 1
    close = np.linalg.eigvalsh(decided_array(np.eye(3)) * decided(sp.sqrt(2)))
    with pytest.raises(NotDecided):
        close[0] < close[1]  # noqa: B015 - the comparison itself is refused
    assert close[2] < 1.42


def test_the_norm_of_what_is_nearly_zero_is_small() -> None:
    """An enclosure of zero has squares that reach below zero; their root is still enclosed."""
    gap = decided_array([sp.sqrt(2), sp.sqrt(3)]) - decided_array([sp.sqrt(2), sp.sqrt(3)])
    assert np.linalg.norm(gap) < 1e-9
    assert np.linalg.norm(np.array([gap, gap]).view(DecidedArray), axis=1)[1] < 1e-9
    with pytest.raises(NotDecided):
        np.linalg.norm(gap) > 0  # noqa: B015 - the comparison itself is refused


def test_largest_and_smallest_of_ties() -> None:
    """Of two equal enclosures neither is known to be larger, and yet the larger one is enclosed; along axes as in numpy."""
    roots = decided_array([[2, 3], [3, 2]]) ** 0.5
    floats = np.sqrt([[2.0, 3.0], [3.0, 2.0]])
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            for name in ("max", "min"):
                found = getattr(np, name)(roots, axis=axis, keepdims=keepdims)
                expected = np.asarray(getattr(floats, name)(axis=axis, keepdims=keepdims))
                assert np.shape(found) == expected.shape
                for a, b in zip(np.ravel(found), np.ravel(expected), strict=True):
                    assert holds_value(a, float(b))
    assert decided_array([1, 3, 2]).max() == 3
    with pytest.raises(NotDecided):
        np.linalg.eigvals(decided_array([[0, 1], [-1, 0]])).max()


def test_closeness_is_numpys() -> None:
    a, b = decided_array([1, 2]), decided_array([1 + 1e-9, 2])
    assert np.allclose(a, b) is True
    assert np.allclose(a, b, rtol=0, atol=0) is False
    assert np.isclose(a, b, rtol=0, atol=0).tolist() == [False, True]
    assert np.isclose(a[0], 1)
    assert not np.isclose(1.1, a[0])
    assert np.allclose(a[0], 1)
    assert np.array_equal(a, [1, 2]) is True
    assert np.array_equal(a, [1, 2, 3]) is False


# --- predicates ------------------------------------------------------------------------------------------------------


def case() -> Case:
    tokens = [["3/5", "4/5"], ["0", "1"]]
    return Case(Instance.of("attention-map", tokens, V=[[1, 0], [0, 2]], M=[[0, 1], [1, 1]], alpha="1/3"))


def word(predicate: Callable[[Any], Any]) -> str:
    return str(predicate_verdict(predicate, case()).answer)


def swallowed(x: Any) -> bool:
    """Goes on after an error that only exact numbers raise."""
    try:
        return bool(np.isfinite(x.V.astype(float)).all())
    except Exception:
        return False


def rounded(x: Any) -> bool:
    """True, but for rounding: the rows sum to 1."""
    return all(float(sum(list(row))) == 1 for row in np.array(x.attention().tolist()) * 7 / 7)


ANSWERS: list[tuple[str, Callable[[Any], Any], str]] = [
    ("plain numpy, true", lambda x: np.linalg.eigvalsh(x.V).max() < 3, "holds"),
    ("plain numpy, false", lambda x: np.linalg.eigvalsh(x.V).max() < 2, "fails"),
    ("the next state", lambda x: x.advance()[0, 0] > 0.9, "fails"),
    ("the weights", lambda x: np.allclose(x.attention().sum(axis=1), 1), "holds"),
    ("columns", lambda x: np.allclose(x.attention().sum(axis=0), 1), "fails"),
    ("through float()", lambda x: float(x.V[0, 0]) > 2, "undecided"),
    ("through sympy.N", lambda x: bool(sp.N(x.alpha) > 2), "undecided"),
    ("swallowed", swallowed, "undecided"),
    ("rounded", rounded, "undecided"),
    ("not an answer", lambda x: "yes", "undecided"),
    ("an array for an answer", lambda x: x.tokens > 0, "undecided"),
    ("raises on exact numbers", lambda x: np.linalg.svd(x.V)[1].max() < 1, "undecided"),
]


@pytest.mark.parametrize(("predicate", "expected"), [each[1:] for each in ANSWERS], ids=[each[0] for each in ANSWERS])
def test_predicates_on_exact_numbers(predicate: Callable[[Any], Any], expected: str) -> None:
    assert word(predicate) == expected


HEAD = """
import numpy as np
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.terms import matrix
V = matrix("V")
"""


@pytest.mark.parametrize(
    "body",
    [
        "np.linalg.eigvalsh(x.V).max() >= x.V.max()",
        "np.linalg.norm(x.V, 2) <= abs(np.trace(x.V))",
        "(np.linalg.eigvals(x.V).real <= 1).all()",
        "np.linalg.norm(x.advance() - x.tokens) < 1",
        "np.exp(x.V).sum() < 10",
    ],
)
def test_a_numpy_predicate_is_refuted_and_run_again(tmp_path: Path, body: str) -> None:
    """A predicate that knows nothing of exact numbers: refuted with a certificate, and confirmed by the re-check."""
    file = tmp_path / "guess.py"
    file.write_text(HEAD + f"guess = Conjecture('g', 'oja-map', [Symmetric(V)], holds_if=lambda x: {body}, d=[2])\n")
    document = json.loads(json.dumps(refute(file, seconds=60, seed=1).as_dict()))
    assert document["results"][0]["verdict"] == "refuted"
    assert "every comparison proved" in document["results"][0]["counterexample"]["claim"]["reason"]
    assert all(verdict.is_holds for _, verdict in recheck_report(document, authors_code=Rerun()))


@pytest.mark.parametrize("instances", [800, pytest.param(4000, marks=pytest.mark.slow)])
def test_a_true_predicate_with_rounding_is_never_refuted(instances: int) -> None:
    """Exact equality of floats fails by rounding: a candidate at most."""
    guess = Conjecture(
        "rows sum to one",
        "attention-map",
        [Symmetric(V), PositiveDefinite(V), Relation(n >= 2)],
        holds_if=lambda x: all(float(sum(row)) == 1.0 for row in x.attention().tolist()),
        d=[2],
    )
    (result,) = refute(guess, seconds=20, instances=instances, seed=0).results
    assert result.answer in {"candidate", "survived"}
