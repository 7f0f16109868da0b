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

from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.decided_arrays import DecidedArray, decided_array
from eigentoken.numerics.lab.decided_numbers import DecidedNumber, NotDecided, decided, enclosure
from eigentoken.numerics.lab.predicates import predicate_verdict
from eigentoken.numerics.lab.recheck import recheck_report
from eigentoken.numerics.readings.exact_values import Case
from eigentoken.theory.conditions import PositiveDefinite, Relation, Symmetric
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.instances import Instance
from eigentoken.theory.terms import matrix, n

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
def test_comparisons_of_roots_are_right_or_refused(a: int, b: int, sign: str) -> None:
    """sqrt(a) against sqrt(b), whose order is that of a and b; equal roots that are not rational are refused."""
    try:
        said = COMPARISONS[sign](decided(a).sqrt(), decided(b).sqrt())
    except NotDecided:
        assert a == b
        assert math.isqrt(a) ** 2 != a
    else:
        assert said is COMPARISONS[sign](a, b)


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
        int,
        math.sqrt,
        math.exp,
        lambda number: bool(number - number),
        lambda number: number == number,
        lambda number: number > number,
        lambda number: np.asarray(decided_array([number]), dtype=float),
        lambda number: decided_array([number]).astype(float),
        lambda number: np.float64(number),
        lambda number: number < float("inf"),
        lambda number: 1 / (number - number),
    ],
)
def test_nothing_is_guessed(escape: Callable[[Any], Any]) -> None:
    """Ways back into floats, ties of enclosures, and division by what may be zero are refused."""
    with pytest.raises(NotDecided):
        escape(decided(sp.sqrt(2)))


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
    assert decided(0.1) != sp.Rational(1, 10)  # a float is the binary fraction that it is
    assert decided(0.1) == 0.1


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
    return str(predicate_verdict(predicate, case()).word)


def swallowed(x: Any) -> bool:
    """Goes on after an error that only exact numbers raise."""
    try:
        return bool(np.isfinite(x.V.astype(float)).all())
    except Exception:
        return False


def rounded(x: Any) -> bool:
    """True, but for rounding: the rows sum to 1."""
    return all(float(sum(list(row))) == 1 for row in np.array(x.attention().tolist()) * 7 / 7)


def in_sympy(x: Any, answer: Callable[[Any], Any]) -> bool:
    """An answer that is only given on sympy numbers; false in floats."""
    if isinstance(x.V, DecidedArray):
        raise TypeError
    return bool(isinstance(x.V, sp.Matrix) and answer(x.V[0, 0]))


ANSWERS: list[tuple[str, Callable[[Any], Any], str]] = [
    ("plain numpy, true", lambda x: np.linalg.eigvalsh(x.V).max() < 3, "holds"),
    ("plain numpy, false", lambda x: np.linalg.eigvalsh(x.V).max() < 2, "fails"),
    ("the next state", lambda x: x.advance()[0, 0] > 0.9, "fails"),
    ("the weights", lambda x: np.allclose(x.attention().sum(axis=1), 1), "holds"),
    ("columns", lambda x: np.allclose(x.attention().sum(axis=0), 1), "fails"),
    ("sympy methods", lambda x: x.V.det() < 1 if isinstance(x.V, sp.Matrix) else np.linalg.det(x.V) < 1, "fails"),
    ("sympy only, true", lambda x: not hasattr(x.V, "eigenvals") or x.V.eigenvals() == {1: 1, 2: 1}, "holds"),
    ("through float()", lambda x: float(x.V[0, 0]) > 2, "undecided"),
    ("through evalf", lambda x: in_sympy(x, lambda entry: entry.evalf() > 2), "undecided"),
    ("in sympy, false", lambda x: in_sympy(x, lambda entry: entry > 2), "fails"),
    ("through sympy.N", lambda x: bool(sp.N(x.alpha) > 2), "undecided"),
    ("through math", lambda x: math.cos(x.alpha) > 2, "undecided"),
    ("form instead of value", lambda x: not isinstance(x.V, sp.Matrix) and sum(x.attention().tolist()[0]) < 2, "holds"),
    ("swallowed", swallowed, "undecided"),
    ("rounded", rounded, "undecided"),
    ("not an answer", lambda x: "yes", "undecided"),
    ("an array for an answer", lambda x: x.tokens > 0, "undecided"),
    ("raises on exact numbers", lambda x: np.linalg.svd(x.V)[1].max() < 1, "undecided"),
]


@pytest.mark.parametrize(("predicate", "expected"), [each[1:] for each in ANSWERS], ids=[each[0] for each in ANSWERS])
def test_predicates_on_exact_numbers(predicate: Callable[[Any], Any], expected: str) -> None:
    assert word(predicate) == expected


@pytest.mark.parametrize("tolerance", [1e-9, 0.0], ids=["floats know better", "floats round"])
@pytest.mark.parametrize("negated", [False, True])
def test_structural_equality_does_not_refute(tolerance: float, negated: bool) -> None:
    """The weights of a row sum to 1, but the sum is written otherwise; without a tolerance floats may fail by rounding."""

    def rows(x: Any) -> bool:
        weights = x.attention()
        if isinstance(weights, DecidedArray):
            raise TypeError
        if isinstance(weights, sp.Matrix):
            total = sum(weights.row(0))
            return not total != 1 if negated else bool(total == 1)  # noqa: SIM202 - the other operator
        return bool(tolerance) and bool(abs(weights[0].sum() - 1) < tolerance)

    verdict = predicate_verdict(rows, case())
    assert verdict.is_undecided
    assert "form of expressions" in verdict.reason


def test_equality_of_values_that_differ_counts() -> None:
    """Enclosures part the two sides, so the answer is one about values."""

    def first_weight(x: Any) -> bool:
        if isinstance(x.V, DecidedArray):
            raise TypeError
        return bool(x.attention()[0, 0] == sp.Rational(1, 2))

    assert predicate_verdict(first_weight, case()).is_fails


def test_sympy_is_as_it_was_after_a_predicate() -> None:
    names = ("__float__", "__complex__", "evalf", "n", "__eq__")
    before = [getattr(sp.Expr, name) for name in names] + [sp.Number.__float__]
    word(lambda x: float(x.V[0, 0]) > 2)
    assert before == [getattr(sp.Expr, name) for name in names] + [sp.Number.__float__]
    assert hash(sp.sqrt(2)) == hash(sp.sqrt(2))


HEAD = """
import numpy as np
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.conditions import Symmetric
from eigentoken.theory.terms import matrix
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
    assert all(verdict.is_holds for _, verdict in recheck_report(document, run_predicates=True))


def test_a_true_predicate_with_rounding_is_never_refuted() -> None:
    """Exact equality of floats fails by rounding: a candidate at most."""
    guess = Conjecture(
        "rows sum to one",
        "attention-map",
        [Symmetric(V), PositiveDefinite(V), Relation(n >= 2)],
        holds_if=lambda x: all(float(sum(row)) == 1.0 for row in x.attention().tolist()),
        d=[2],
    )
    (result,) = refute(guess, seconds=20, instances=4000, seed=0).results
    assert result.word in {"candidate", "survived"}
