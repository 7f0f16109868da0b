"""Exact numbers: the parser takes numbers and nothing else, zero and sign decisions are right."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentoken.theory.exactness import (
    Field,
    Generator,
    NumberError,
    ball,
    exact_number,
    in_smallest_field,
    is_zero,
    sign,
)
from eigentoken.theory.exactness.polynomials import (
    characteristic_polynomial,
    closed_form,
    factors,
    gcd,
    multiply,
    roots,
)


def value_of(text: str) -> tuple[int | None, float]:
    def decide(field: Field) -> tuple[int | None, float]:
        element = field.number(exact_number(text))
        return sign(element), float(ball(element, 128).mid())

    return in_smallest_field(decide)


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(2)*sqrt(3)-sqrt(6)",
        "exp(ln(3)/2)-sqrt(3)",
        "exp((1/2)*ln(3/2)) - sqrt(3/2)",
        "1/(1+sqrt(2))-sqrt(2)+1",
        "sqrt(3+2*sqrt(2))-1-sqrt(2)",
        "exp(2*ln(cosh(3/2)))-cosh(3/2)^2",
        "cosh(3/2)^2-sinh(3/2)^2-1",
        "ln(6)-ln(2)-ln(3)",
        "ln(8/9) - 3*ln(2) + 2*ln(3)",
        "sqrt((5+sqrt(5))/10)*sqrt((5-sqrt(5))/10)-1/sqrt(5)",
        "exp(1/2)*exp(1/3)-exp(5/6)",
        "2^(1/3)*4^(1/3)-2",
        "(1+e)/(1-e^2)-1/(1-e)",
        "exp(sqrt(2)*ln(3))*exp(-sqrt(2)*ln(3)) - 1",
        "cos(2*pi/5) - (sqrt(5)-1)/4",
        "tanh(ln(3)) - 4/5",
        "(pi+1)^2 - pi^2 - 2*pi - 1",
        "sqrt(2+sqrt(2))*sqrt(2-sqrt(2)) - sqrt(2)",
    ],
)
def test_hidden_zeros_are_found(text: str) -> None:
    assert value_of(text)[0] == 0


@pytest.mark.parametrize(
    "text", ["sqrt(2) - 1.41421356237309504880168872420969807857", "ln(2) - 0.693147180559945309417"]
)
def test_near_zeros_are_told_from_zero(text: str) -> None:
    assert value_of(text)[0] in {-1, 1}


def test_an_unknown_zero_stays_open() -> None:
    """ln(1+sqrt(2)) + ln(sqrt(2)-1) = 0, by a relation between logarithms that the field does not know."""
    assert value_of("ln(1+sqrt(2)) + ln(sqrt(2)-1)")[0] is None


@pytest.mark.parametrize(
    "text",
    ["", "x", "1 2", "1+", "sqrt 2", "sqrt(2", "2)", "__import__('os')", "1;2", "lambda: 0", "sin(1)", "1e9999", "0^0",
     "0^(-1)", "(-2)^(1/2)", "ln(-1)", "1/(sqrt(2)*sqrt(3)-sqrt(6))", "nan", "inf", "1__0", "0x10", "(" * 300],
)  # fmt: skip
def test_texts_that_are_not_numbers(text: str) -> None:
    with pytest.raises(NumberError):
        exact_number(text)


NUMBERS = st.recursive(
    st.one_of(
        st.integers(-9, 9).map(str),
        st.fractions(-5, 5, max_denominator=7).map(lambda q: f"({q})"),
        st.sampled_from(["sqrt(2)", "sqrt(3)", "ln(2)", "ln(3)", "2^(1/3)", "exp(1/2)", "1.25", "sqrt(2+sqrt(3))"]),
    ),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(NUMBERS)
def test_elements_agree_with_sympy(text: str) -> None:
    try:
        expression = exact_number(text)
    except NumberError:
        return
    found, value = value_of(text)
    with mpmath.workdps(40):
        reference = mpmath.mpf(sympy.N(expression, 40))
        assert abs(value - reference) <= 1e-12 * max(1, abs(reference))
        if found is not None and abs(reference) > mpmath.mpf(10) ** -25:
            assert found == mpmath.sign(reference)


def spectrum(rows: list[list[str]]) -> list[tuple[Any, complex, int]]:
    def compute(field: Field) -> list[tuple[Any, complex, int]]:
        matrix = [[field.number(exact_number(entry)) for entry in row] for row in rows]
        found = []
        for factor, count in factors(field, characteristic_polynomial(field, matrix)):
            found += [(closed_form(field, root), root.value, count) for root in roots(factor)]
        return found

    return in_smallest_field(compute)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["sqrt(2)", "1"], ["1", "sqrt(2)"]], {sympy.sqrt(2) + 1: 1, sympy.sqrt(2) - 1: 1}),
        ([["ln(3)", "1"], ["2", "ln(3)"]], {sympy.log(3) + sympy.sqrt(2): 1, sympy.log(3) - sympy.sqrt(2): 1}),
        ([["e", "0", "1"], ["0", "e", "0"], ["0", "0", "e"]], {sympy.E: 3}),
        ([["0", "-1"], ["1", "0"]], {sympy.I: 1, -sympy.I: 1}),
        ([["1", "sqrt(5)"], ["0", "1"]], {sympy.Integer(1): 2}),
    ],
)
def test_closed_forms(rows: list[list[str]], expected: dict[sympy.Expr, int]) -> None:
    assert {form: count for form, _, count in spectrum(rows)} == expected


def test_factors_over_a_quadratic_field() -> None:
    def compute(field: Field) -> list[int]:
        root = field.number(sympy.sqrt(2))
        one = field.one
        left, right = [-root, one], [root - 3, 0 * one, one]
        product = multiply(multiply(left, left), right)
        shared = gcd(product, left)
        assert all(is_zero(a - b) for a, b in zip(shared, left, strict=True))
        return sorted(count for _, count in factors(field, product))

    assert in_smallest_field(compute) == [1, 2]


def test_a_generator_is_refined() -> None:
    field = Field().extended(Generator("root", sympy.Integer(2), sympy.Rational(1, 2)))
    finer = field.extended(Generator("root", sympy.Integer(2), sympy.Rational(1, 3)))
    assert [generator.step for generator in finer.generators] == [sympy.Rational(1, 6)]
    assert finer.number(sympy.sqrt(2)) * finer.number(sympy.cbrt(2)) == finer.number(2 ** sympy.Rational(5, 6))


def test_decimals_are_rationals() -> None:
    assert exact_number(0.1) == sympy.Rational(1, 10)
    assert exact_number("1e-3") == sympy.Rational(1, 1000)
    assert exact_number(Fraction(2, 3)) == sympy.Rational(2, 3)
