"""The normal form never changes a value: random expressions, evaluated before and after on an instance of the relations."""

from __future__ import annotations

import random

import pytest
import sympy as sp
from mpmath import MPContext

from eigentoken.theory.calculus import (
    ALPHA,
    SLOT,
    TOKENS,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    MaskEntry,
    Norm,
    delta,
    differentiate,
    direction,
    dot,
    exponential,
    factor,
    matrix,
    normal_form,
    row_sum,
    vector,
)
from eigentoken.theory.calculus.derivative import COLUMN
from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.calculus.expressions import Expression
from eigentoken.theory.kernel.tensors import Tensor

mp = MPContext()
mp.dps = 40
N, D = 3, 3
FREE = [Index("token", "i"), Index("token", "l")]


def rows(values):
    return [[values[a, b] for b in range(D)] for a in range(D)]


@pytest.fixture(scope="module")
def setting():
    """Unit tokens, tangent w, symmetric S, A B = C, a named raw step y with norm r, a causal mask, an eigenvector v of E."""
    draw = random.Random(11)

    def random_square():
        return mp.matrix([[mp.mpf(draw.randint(-9, 9)) / 7 for _ in range(D)] for _ in range(D)])

    matrices = {name: random_square() for name in ("M", "A", "B", "E")}
    matrices["S"] = random_square()
    matrices["S"] = matrices["S"] + matrices["S"].T
    matrices["C"] = matrices["A"] * matrices["B"]
    v = mp.matrix([1, 2, 2]) / 3
    matrices["E"] = matrices["E"] + (mp.mpf(5) / 3 * v - matrices["E"] * v) * v.T
    tokens, perturbations = [], []
    for _ in range(N):
        token = mp.matrix([draw.randint(-9, 9) + mp.mpf(1) / 3 for _ in range(D)])
        token = token / mp.norm(token)
        push = mp.matrix([mp.mpf(draw.randint(-9, 9)) / 5 for _ in range(D)])
        push = push - (token.T * push)[0] * token
        tokens.append(list(token))
        perturbations.append(list(push))
    algebra = CalculusAlgebra(
        Assumptions(
            symmetric=frozenset({"S"}),
            unit={"x": ()},
            tangent={("x", "w"): ()},
            products={("A", "B"): matrix("C")},
            eigen={("E", False, "v"): sp.Rational(5, 3)},
            gram={(vector_base("v"), (), vector_base("v")): sp.Integer(1)},
        )
    )
    raw = vector("x", SLOT) + algebra.average(
        algebra.attention(vector("x", SLOT), Letter("M"), None, False), vector("x", SLOT)
    )
    step = algebra.normalise(raw)
    numbers = Numbers(
        sizes={"token": N},
        scalars={ALPHA: sp.Rational(2, 7), TOKENS: N},
        matrices={name: rows(value) for name, value in matrices.items()},
        vectors={"x": tokens, "w": perturbations, "v": list(v)},
        exp=mp.exp,
        sqrt=mp.sqrt,
        convert=lambda value: mp.mpf(str(sp.N(value, 45))),
        masks={"mask": [[1, 0, 0], [1, 1, 0], [0, 1, 1]]},
        assumptions=algebra.assumptions,
    )
    return algebra.assumptions, numbers, step


def vector_base(name):
    (monomial,) = vector(name).terms
    return monomial.arrow[1]


class Grower:
    """Random expressions over the letters of the setting."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.fresh = 0

    def index(self, pool):
        return self.draw.choice(pool)

    def base(self, pool):
        name = self.draw.choice(["x", "x", "x", "w", "y", "v"])
        return vector("v") if name == "v" else vector(name, self.index(pool))

    def letters(self):
        letters = ["S", "M", "M^T", "A", "B", "E", "S^T", "B^T", "A^T"]
        return self.draw.choice(
            [(), (), matrix("A", "B"), matrix("B^T", "A^T"), matrix(self.draw.choice(letters)), matrix("S", "E")]
        )

    def scalar(self, pool):
        kind = self.draw.randrange(8)
        i, j = self.index(pool), self.index(pool)
        score = dot(vector("x", i), vector("x", j), matrix(self.draw.choice(["M", "S"])))
        if kind == 0:
            return exponential(score)
        if kind == 1:
            return factor(row_sum(score, j), -1) if i != j else factor(Norm("r", (i,)), -1)
        if kind == 2:
            return delta(i, j)
        if kind == 3:
            return factor(MaskEntry("mask", i, j))
        if kind == 4:
            return factor(Norm("r", (i,)), self.draw.choice([-1, 1, 2]))
        if kind == 5:
            return dot(self.base(pool), self.base(pool), self.letters()) + sp.Rational(1, 3)
        return dot(self.base(pool), self.base(pool), self.letters())

    def expression(self, is_vector):
        bound = [Index("token", f"s{place}") for place in range(self.draw.randint(0, 2))]
        pool = FREE + bound
        value = Expression(dot(vector("v"), vector("v")).terms) * sp.Rational(self.draw.randint(1, 5), 2)
        for _ in range(self.draw.randint(1, 3)):
            value = value * self.scalar(pool)
        if is_vector:
            value = value * self.base(pool).applied(self.letters())
        return value.summed(*bound) if bound else value


@pytest.mark.parametrize("block", range(6))
def test_values_are_kept(setting, block):
    rules, numbers, _ = setting
    place = {FREE[0]: 0, FREE[1]: 2}
    for seed in range(50 * block, 50 * block + 50):
        grower = Grower(seed)
        expression = grower.expression(is_vector=False) + grower.expression(is_vector=False)
        reduced = normal_form(expression, rules)
        before, after = numbers.scalar(expression, place), numbers.scalar(reduced, place)
        assert abs(before - after) < mp.mpf(10) ** -30 * (1 + abs(before)), (seed, expression, reduced)
        again = normal_form(reduced, rules)
        assert repr(again) == repr(reduced)


def test_values_of_vectors_are_kept(setting):
    rules, numbers, _ = setting
    place = {FREE[0]: 1, FREE[1]: 1}
    for seed in range(1000, 1060):
        expression = Grower(seed).expression(is_vector=True)
        if not normal_form(expression, rules).terms:
            continue
        before, after = numbers.vector(expression, place), numbers.vector(normal_form(expression, rules), place)
        assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < mp.mpf(10) ** -30 * (
            1 + max(map(abs, before))
        )


def test_derivatives_are_differences(setting):
    """d/deps of random scalars along x_i + eps w_i, by central differences of the evaluation."""
    rules, numbers, _ = setting
    place = {FREE[0]: 0, FREE[1]: 1}
    h = mp.mpf(10) ** -12
    free = Assumptions(norms=rules.norms, definitions=rules.definitions)

    def moved(step):
        tokens = [
            [a + step * b for a, b in zip(token, push, strict=True)]
            for token, push in zip(numbers.vectors["x"], numbers.vectors["w"], strict=True)
        ]
        return Numbers(
            **{
                name: getattr(numbers, name)
                for name in ("sizes", "scalars", "matrices", "exp", "sqrt", "convert", "masks", "assumptions")
            },
            vectors={**numbers.vectors, "x": tokens},
        )

    up, down = moved(h), moved(-h)
    for seed in range(2000, 2050):
        expression = Grower(seed).expression(is_vector=False)
        slope = differentiate(expression, direction("x", "w"), free)
        difference = (up.scalar(expression, place) - down.scalar(expression, place)) / (2 * h)
        value = numbers.scalar(slope, place)
        assert abs(difference - value) < mp.mpf(10) ** -18 * (1 + abs(value)), (seed, expression)


def test_a_wrong_rule_would_be_seen(setting):
    """The comparison has teeth: a false relation changes values."""
    rules, numbers, _ = setting
    wrong = rules.extended(symmetric=frozenset({"M"}))
    place = {FREE[0]: 0, FREE[1]: 2}
    changed = 0
    for seed in range(60):
        expression = Grower(seed).expression(is_vector=False)
        before, after = numbers.scalar(expression, place), numbers.scalar(normal_form(expression, wrong), place)
        changed += bool(abs(before - after) > mp.mpf(10) ** -20)
    assert changed > 3


def test_the_weights_sum_to_one(setting):
    rules, numbers, _ = setting
    weights = CalculusAlgebra(rules).attention(vector("x", SLOT), Letter("M"), "mask", False)
    total = weights.at((SLOT, FREE[0])).summed(COLUMN)
    assert abs(numbers.scalar(total, {FREE[0]: 2}) - 1) < mp.mpf(10) ** -35


def test_terms_that_become_equal_are_added() -> None:
    """``x_i - x_j`` at ``j = i`` is zero, and ``exp(x_i + x_j)`` is ``exp(2 x_i)``: no term is lost where two become one."""
    i, j, k = (Index("token", name) for name in "ijk")
    first, second = (dot(vector("x", at), vector("v")) for at in (i, j))
    rate, other = sp.symbols("c e", real=True)
    pair = dot(vector("x", i), vector("x", k)) + dot(vector("x", j), vector("x", k))
    assert not (first - second).at((j, i)).terms
    assert Tensor(first - second).put({j: i}) == Tensor(first * 0)
    assert Tensor((first + second).at((j, i))) == Tensor(first * 2)
    assert Tensor(exponential(first + second)).put({j: i}) == Tensor(exponential(first * 2))
    twice = row_sum(dot(vector("x", i), vector("x", k)) * 2, k)
    assert Tensor(factor(row_sum(pair, k)).at((j, i))) == Tensor(factor(twice))
    grown = exponential(first * rate) - exponential(first * other)
    assert Tensor(grown).put({rate: other}) == Tensor(first * 0)
    assert str(Tensor(exponential(first + second)).put({j: i})) == "Tensor(exp(2 <v|x_i>))"
