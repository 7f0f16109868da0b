"""Equalities and forms on weights, decided to the last bit: a multiple, minus the identity, a trace, a form at an eigenvector."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.nearest import Nearby
from eigentoken.numerics.layers.quantities import trace_of
from eigentoken.numerics.layers.reaching import StoredHeads, as_it_stands, near
from eigentoken.numerics.layers.symbol_values import LayerSymbolValues
from eigentoken.theory.language.conditions import Condition, IsIdentity, Relation
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import ScoreAtEigenvector, Trace, matrix

V, M = matrix("V"), matrix("M")


def read(condition: Condition, value: np.ndarray, score: np.ndarray, scale: float = 1.0) -> str:
    """Both as products of two stored matrices, as those of a head are."""
    d = len(value)
    made = {
        name: product(Enclosure.from_floats(np.eye(d), name=f"{name}1"), Enclosure.from_floats(each, name=f"{name}2"))
        for name, each in (("V", value), ("M", score))
    }
    verdict = ON_WEIGHTS(condition, LayerSymbolValues("test", made, {"M": scale}))
    assert verdict is not None
    return str(verdict.answer)


@pytest.mark.parametrize("seed", range(5))
def test_a_multiple_is_decided_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    value = rng.standard_normal((5, 5)).astype(np.float32).astype(float)
    factor = float(np.float32(rng.standard_normal()))  # 24 and 24 bits: the products are floats
    score = factor * value
    assert read(MultipleOf(M, V), value, score, scale=math.sqrt(5)) == "holds"
    i, j = rng.integers(0, 5, 2)
    score[i, j] = np.nextafter(score[i, j], 9.0)
    assert read(MultipleOf(M, V), value, score, scale=math.sqrt(5)) == "fails"
    assert read(MultipleOf(M, V), value, np.zeros((5, 5))) == "holds"
    assert read(MultipleOf(M, V), np.zeros((5, 5)), value) == "fails"
    assert read(MultipleOf(M, V), np.zeros((5, 5)), np.zeros((5, 5))) == "holds"


def test_a_multiple_of_the_identity() -> None:
    for made, answer in ((0.1 * np.eye(4), "holds"), (np.diag([0.1, 0.1, np.nextafter(0.1, 1.0), 0.1]), "fails")):
        assert read(MultipleOf(M), np.eye(4), made, scale=math.sqrt(3)) == answer
    off = 0.1 * np.eye(4)
    off[3, 0] = 5e-320
    assert read(MultipleOf(M), np.eye(4), off) == "fails"


def test_minus_the_identity() -> None:
    near_it = -np.eye(4)
    assert read(IsIdentity(-V), near_it, near_it) == "holds"
    assert read(IsIdentity(-V), np.eye(4), near_it) == "fails"
    near_it[2, 1] = 1e-300
    assert read(IsIdentity(-V), near_it, near_it) == "fails"


@pytest.mark.parametrize("seed", range(6))
def test_a_trace_is_enclosed(seed: int) -> None:
    """Against exact sums, of matrices whose traces are small beside them, and of huge and tiny ones."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.integers(-200, 200)
    value, score = rng.standard_normal((2, 6, 6)) * np.sqrt(size)
    exact = sum((Fraction(a) * Fraction(b) for a, b in zip(value.ravel(), score.T.ravel(), strict=True)), Fraction(0))
    both = product(Enclosure.from_floats(score, name="a"), Enclosure.from_floats(value, name="b"))
    low, high = trace_of(both)
    assert Fraction(low) <= exact <= Fraction(high) and high - low <= 1e-10 * float(abs(size) * 36)
    for sign in (1, -1):
        answer = read(Relation(Trace(M * V) > 0), value, sign * score, scale=2.0)
        assert answer == ("holds" if sign * exact > 0 else "fails")


def test_a_trace_of_zero_is_not_told_from_a_small_one() -> None:
    value, score = np.diag([1.0, -1.0]), np.eye(2)
    assert read(Relation(Trace(M * V) > 0), value, score) == "undecided"


@pytest.mark.parametrize("seed", range(4))
def test_a_definite_score_is_positive_at_every_vector(seed: int) -> None:
    """A definite M needs no eigenvector; an indefinite one is read where a real eigenvalue of V is the largest in modulus."""
    rng = np.random.default_rng(seed)
    value, skew = rng.standard_normal((2, 5, 5))
    condition = Relation(sp.StrictGreaterThan(ScoreAtEigenvector(M, V, 1), 0))
    definite = 0.1 * np.eye(5) + skew - skew.T
    assert read(condition, value, definite) == "holds"
    values, vectors = np.linalg.eig(value)
    lead = int(np.abs(values).argmax())
    u = vectors[:, lead].real
    known = values[lead].imag == 0 and values[lead].real > 0
    decided = "holds" if u @ np.diag([1.0, 1, 1, 1, -1]) @ u > 0 else "fails"
    assert read(condition, value, np.diag([1.0, 1, 1, 1, -1])) == (decided if known else "undecided")


def stored(seed: int, heads: int, groups: int, d: int = 6, rows: int = 6, turned: bool = False) -> StoredHeads:
    rng = np.random.default_rng(seed)
    width = rows // heads
    values = rng.standard_normal((groups, width, d))
    of = [head // (heads // groups) for head in range(heads)]
    V = np.concatenate([values[each] for each in of])
    O, Q, K = rng.standard_normal((d, rows)), rng.standard_normal((rows, d)), rng.standard_normal((rows, d))
    return StoredHeads(O, Q, K, V, 2.0, of, turned)


def test_factors_have_the_neighbour_as_their_products() -> None:
    rng = np.random.default_rng(1)
    F, S = rng.standard_normal((2, 6, 6))
    X = rng.standard_normal((6, 6))
    for heads, groups, rows in ((1, 1, 6), (2, 2, 6), (3, 3, 9), (4, 2, 24)):
        there = stored(heads, heads, groups, rows=rows)
        for way in (near, as_it_stands):
            made = way(Nearby((0.0, 1.0), F), there)
            assert made is not None
            assert np.abs(made["O"] @ made.get("V", there.V) - F).max() < 1e-9
            if "V" in made:  # what heads share they still share
                blocks = made["V"].reshape(heads, -1, 6)
                assert all(np.array_equal(blocks[h], blocks[g]) for h in range(heads) for g in range(heads)
                           if there.values_of[h] == there.values_of[g])  # fmt: skip
    only = stored(5, 1, 1)
    made = near(Nearby((0.0, 1.0), None, S), only)
    assert made is not None and set(made) == {"K"} and np.abs(only.Q.T @ made["K"] - S).max() < 1e-9
    made = as_it_stands(Nearby((0.0, 1.0), None, S), only)
    assert made is not None and set(made) == {"Q", "K"} and np.array_equal(made["Q"].T @ made["K"], S)
    made = as_it_stands(Nearby((0.0, 1.0), F, X @ F * 2.0, X + X.T), only)
    assert made is not None and np.array_equal(made["Q"], (X + X.T) * 2.0) and np.array_equal(made["K"], F)
    made = as_it_stands(Nearby((0.0, 1.0), None, S, X + X.T), only)
    assert made is not None and set(made) == {"O", "Q", "K", "V"}
    assert np.abs(made["O"] @ made["V"] - only.O @ only.V).max() < 1e-12


def test_what_factors_cannot_reach() -> None:
    """Too few rows of values; the scores of several heads, or of turned ones, or of a narrow head."""
    F, S = np.random.default_rng(1).standard_normal((2, 6, 6))
    for few in (stored(1, 4, 2, rows=8), stored(1, 1, 1, rows=4)):
        assert near(Nearby((0.0, 1.0), F), few) is None and as_it_stands(Nearby((0.0, 1.0), F), few) is None
    for other in (stored(1, 2, 2), stored(1, 1, 1, turned=True), stored(1, 1, 1, rows=4)):
        scores = Nearby((0.0, 1.0), None, S)
        assert near(scores, other) is None and as_it_stands(scores, other) is None
