"""Conditions on ``A = W B^-1`` as ``check`` reads them (without an inverse), and the inertia of heads, against exact answers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers.head_findings import head_inertia
from eigentoken.numerics.layers.symbol_values import LayerSymbolValues
from eigentoken.theory.language.terms import matrix

from . import exact
from .exact import Rows
from .judging import Case, Domain, judge
from .signs import sign_truth

PAIR_CONDITIONS = (
    "symmetric",
    "positive-definite",
    "negative-definite",
    "positive-semidefinite",
    "negative-semidefinite",
    "indefinite",
    "nonsingular",
)
QUOTIENT = sp.MatMul(matrix("W"), sp.Inverse(matrix("B")))


def _ask(rng: Any, w: Rows, b: Rows) -> Iterator[Case]:
    inverse = exact.inverse(b)
    a = None if inverse is None else exact.times(w, inverse)
    counts = None if a is None else exact.inertia(exact.symmetric_part(a))
    letters = {"W": as_enclosure(exact.given(rng, w), name="W"), "B": as_enclosure(exact.given(rng, b), name="B")}
    environment = LayerSymbolValues("pair", letters)
    for condition in PAIR_CONDITIONS:
        if a is None or counts is None:
            truth = False  # A is not defined: nothing holds of it
        elif condition == "symmetric":
            truth = a == exact.transpose(a)
        elif condition == "nonsingular":
            truth = exact.rank(a) == len(a)
        else:
            truth = sign_truth(condition, counts)
        yield judge(environment.answer(condition, QUOTIENT), truth, f"{condition} of W = {w}, B = {b}")


def small_integers(rng: Any) -> Iterator[Case]:
    """Small integers: B is singular now and then."""
    n = int(rng.integers(1, 5))
    yield from _ask(rng, exact.fractions(rng.integers(-3, 4, (n, n))), exact.fractions(rng.integers(-3, 4, (n, n))))


def built(rng: Any) -> Iterator[Case]:
    """``W = A B`` with a known A: definite, semidefinite, symmetric, or off by 2^-k."""
    n = int(rng.integers(1, 5))
    t, _ = exact.unimodular(rng, n)
    values = [Fraction(int(x)) for x in rng.integers(0, 3, n)]
    values[0] += Fraction(int(rng.integers(-1, 2)), 2 ** int(rng.choice([3, 20, 40, 60])))
    d = [[values[i] if i == j else Fraction(0) for j in range(n)] for i in range(n)]
    a = exact.times(exact.times(exact.transpose(t), d), t)
    if rng.random() < 0.4:
        skew = rng.integers(-2, 3, (n, n))
        a = exact.plus(a, exact.fractions(skew - skew.T))
    b = exact.fractions(rng.integers(-3, 4, (n, n)))
    yield from _ask(rng, exact.times(exact.scaled(a, int(rng.choice([-1, 1]))), b), b)


def heads(rng: Any) -> Iterator[Case]:
    """The inertia of sym(Q^T K) for eight heads, some with dependent rows."""
    batch, rows, d = 8, int(rng.integers(1, 4)), int(rng.integers(2, 8))
    q = rng.integers(-2, 3, (batch, rows, d)).astype(np.float64)
    k = rng.integers(-2, 3, (batch, rows, d)).astype(np.float64)
    if rng.random() < 0.5:
        k[::2] = q[::2] * rng.choice([-1.0, 1.0, 2.0**-50])
    if rng.random() < 0.3:
        k += rng.standard_normal(k.shape) * 2.0**-30
    for left, right in zip(q, k, strict=True):
        found = head_inertia(np.vstack([left, right]), "head")
        w = exact.times(exact.transpose(exact.fractions(left)), exact.fractions(right))
        true = exact.inertia(exact.symmetric_part(w))
        told = found.details["inertia"] if found.is_holds else None
        word = "undecided" if told is None else "holds"
        yield Case(
            word,
            f"head Q = {left}, K = {right}: {told}, but it is {true}"
            if told is not None and tuple(told) != true
            else "",
        )


DOMAIN = Domain(
    "pairs",
    "W B^-1 without an inverse; inertia of heads",
    120_000,
    {"small integers": small_integers, "built (2^-60)": built, "heads": heads},
)
