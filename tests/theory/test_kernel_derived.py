"""Terms in quantities have the value of the expression that the calculus makes of them: exact states of several sizes.

The reduction and the sums over an index read terms (``structure.quantity_of``): sums, products, powers and exponentials of
quantities.  Here such terms are drawn at random, and both readings are evaluated.
"""

from __future__ import annotations

import random

import pytest
import sympy as sp

from eigentoken.theory.calculus import TOKENS, Expression, Index, delta, dot, exponential, one, vector
from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import logic, quantities, structure
from eigentoken.theory.kernel.propositions import for_every, relation_of
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.kernel.tensors import Tensor

I, J = Index("token", "i"), Index("token", "j")
Z, C = vector("z"), sp.Symbol("c", real=True)
HEIGHT, PAIR, SQUARE = dot(Z, vector("x", I)), dot(vector("x", I), vector("x", J)), dot(Z, Z)
PIECES = (HEIGHT, PAIR, SQUARE, HEIGHT.summed(I), PAIR.summed(J), delta(I, J), HEIGHT * PAIR - SQUARE)


def state(source: random.Random, n: int, d: int) -> Numbers:
    draw = lambda size: [[sp.Rational(source.randint(-5, 5), 3) for _ in range(d)] for _ in range(size)]  # noqa: E731
    return Numbers(
        sizes={"token": n},
        scalars={TOKENS: sp.Integer(n), C: sp.Rational(7, 5)},
        matrices={},
        vectors={"x": draw(n), "z": draw(1)[0]},
        exp=sp.exp,
        sqrt=sp.sqrt,
        convert=sp.sympify,
    )


def term(source: random.Random, depth: int) -> sp.Expr:
    if depth == 0 or source.random() < 0.2:
        return source.choice([*map(Tensor, PIECES), C, sp.Integer(3)])
    parts = [term(source, depth - 1) for _ in range(2)]
    kind = source.choice("+*^-e")
    if kind == "^":
        return parts[0] ** 2
    if kind == "e":
        return sp.exp(Tensor(source.choice((HEIGHT, PAIR, SQUARE)))) * parts[0]
    return parts[0] + parts[1] if kind == "+" else parts[0] * parts[1] if kind == "*" else parts[0] - parts[1]


def value(said: sp.Expr, at: Numbers, places: dict[Index, int]) -> sp.Expr:
    table = {each: at.scalar(each.expression, places) for each in said.atoms(Tensor)}
    return sp.expand(said.xreplace(table).subs({C: at.scalars[C], TOKENS: at.scalars[TOKENS]}))


@pytest.mark.parametrize("seed", range(25))
def test_a_term_and_its_expression_have_one_value(seed: int) -> None:
    source = random.Random(seed)
    said = term(source, 3)
    found = structure.quantity_of(said)
    for n, d in ((1, 1), (2, 1), (3, 2)):
        at = state(source, n, d)
        for places in ({I: 0, J: n - 1}, {I: n - 1, J: n - 1}):
            assert sp.expand(at.scalar(found, places) - value(said, at, places)) == 0
    proved = structure.reduction(found, said, None)
    assert relation_of(proved.proposition).rhs == said
    with pytest.raises(Refused, match="remain"):
        structure.reduction(found + one(), said, None)


@pytest.mark.parametrize("seed", range(12))
def test_a_sum_over_an_index_is_the_sum_of_the_values(seed: int) -> None:
    source = random.Random(100 + seed)
    said = term(source, 2)
    found = structure.sum_over(I, said)
    for n, d in ((1, 1), (3, 2)):
        at = state(source, n, d)
        whole = sum(value(said, at, {I: place, J: 0}) for place in range(n))
        assert sp.expand(at.scalar(found.expression, {J: 0}) - whole) == 0


def test_squares_are_summed() -> None:
    """``(z^T x_i)^2 <= 1`` for every token gives ``sum_i (z^T x_i)^2 <= n``: products of quantities are quantities."""
    found = structure.summed(logic.assume(for_every(sp.Le(Tensor(HEIGHT) ** 2, 1, evaluate=False), I)))
    assert relation_of(found.proposition) == sp.Le(
        Tensor((HEIGHT**2).summed(I)), Tensor(one() * TOKENS), evaluate=False
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (one(), sp.Mul(Tensor(HEIGHT), sp.Pow(Tensor(HEIGHT), -1), evaluate=False)),
        (one(), sp.Mul(C, sp.Pow(C, -1), evaluate=False)),
        (HEIGHT * (1 / C), Tensor(HEIGHT) / C),
        (HEIGHT**-1, 1 / Tensor(HEIGHT)),
        (one() * C, sp.Pow(sp.sqrt(C), 2, evaluate=False)),
    ],
)
def test_what_is_divided_by_or_has_a_root_stays_a_hypothesis(left: Expression, right: sp.Expr) -> None:
    assert structure.reduction(left, right, None).hypotheses


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (HEIGHT, Tensor(HEIGHT, sp.Integer(0))),
        (HEIGHT, sp.sqrt(Tensor(HEIGHT) ** 2)),
        (HEIGHT, sp.Abs(Tensor(HEIGHT))),
        (HEIGHT.summed(I) ** 2, Tensor((HEIGHT**2).summed(I))),
        (exponential(HEIGHT), sp.exp(Tensor(HEIGHT)) ** 2),
        (PAIR, Tensor(PAIR) * Tensor(delta(I, J))),
    ],
)
def test_another_value_is_refused(left: Expression, right: sp.Expr) -> None:
    with pytest.raises(Refused, match=r"remain|not made of"):
        structure.reduction(left, right, None)


def test_the_programs_say_what_they_are_named_for() -> None:
    """Each signs with its own name, for print, and rests on nothing."""
    made = {
        "total": quantities.total(HEIGHT, PAIR),
        "scaling": quantities.scaling(HEIGHT, C),
        "product": quantities.product(HEIGHT, PAIR),
        "factors": quantities.factors(HEIGHT * PAIR - SQUARE),
        "exponential_of": quantities.exponential_of(HEIGHT),
    }
    assert set(made) == set(structure.REDUCTIONS) - {"reduction"}
    for name, found in made.items():
        assert (found.rule, found.premises, found.hypotheses, found.system) == (name, (), (), None)


@pytest.mark.parametrize(
    ("left", "right"), [("log(-2) + 1", "log(-2)"), ("zoo", "0"), ("oo", "1"), ("nan", "0"), ("acos(2) + 1", "acos(2)")]
)
@pytest.mark.parametrize("kind", [sp.Gt, sp.Lt, sp.Ne])
def test_what_has_no_value_is_not_enclosed(left: str, right: str, kind: type) -> None:
    """The sides are not subtracted before they have values: ``log(-2) + 1 > log(-2)`` is not ``1 > 0``."""
    with pytest.raises((Refused, TypeError)):
        numbers.enclosure(kind(sp.sympify(left), sp.sympify(right), evaluate=False))
