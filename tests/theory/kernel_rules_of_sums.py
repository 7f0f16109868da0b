"""Uses of the rules about products, sums and norms: what they give, and what they refuse (see ``test_kernel_rules``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import sympy as sp

from eigentoken.theory.calculus import (
    HEAD,
    TOKENS,
    Index,
    Letter,
    MaskEntry,
    Named,
    Norm,
    dot,
    exponential,
    factor,
    one,
    vector,
)
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.kernel import logic, quantities, structure, sums, words
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import AtTime, Opposite, Tensor, VectorLetter
from eigentoken.theory.language.terms import HeadNorm, matrix
from eigentoken.theory.systems.catalogue import system

i, j = Index("token", "i"), Index("token", "j")
c = sp.Symbol("c", positive=True)
b = sp.Symbol("b", nonnegative=True)
y = sp.Symbol("y", real=True)
FIRST, SECOND = dot(vector("a", i), vector("b")), dot(vector("b"), vector("w"))
SCORE = dot(vector("x", i), vector("x", j), (Letter("M"),))
P = matrix("P")
s, t = sp.symbols("s t", integer=True, nonnegative=True)
ATTENTION = system("attention-map")
MASKED = factor(row_sum(SCORE, j, (MaskEntry("causal", i, j),)))


def eq(left: Any, right: Any) -> Any:
    return sp.Eq(left, right, evaluate=False)


def every(letter: Any, body: Any) -> ForAll:
    return ForAll(letter, TRUE, proposition(body))


def above(relation: Any = sp.Gt) -> Proved:
    """``a_i . b > 0`` for every token, or another relation, assumed."""
    return logic.assume(every(i, relation(Tensor(FIRST), 0, evaluate=False)))


def _forms() -> Conjunction:
    u, w = vector("u"), vector("w")
    form = Tensor(dot(u, w, (Letter("P", False, (HEAD,)),)))
    bound = HeadNorm(P) ** 2 * Tensor(dot(u, u)) * Tensor(dot(w, w))
    said: Any = sp.Le(form**2, bound, evaluate=False)
    for letter in (VectorLetter("w"), VectorLetter("u"), HEAD):
        said = every(letter, said)
    return Conjunction((said, proposition(HeadNorm(P) >= 0)))


def consensus(letter: str = "x", relation: Any = sp.Eq, at: Index = i) -> Proved:
    """All members of a family are the vector b, assumed."""
    z = vector("z")
    said = relation(Tensor(dot(z, vector(letter, at))), Tensor(dot(z, vector("b"))), evaluate=False)
    return logic.assume(every(at, every(VectorLetter("z"), said)))


def at_times(name: str = "x", relation: Any = sp.Eq) -> Proved:
    """The state is the same at s and at t, assumed."""
    own = dot(vector("z"), vector(name, i))
    said = relation(Tensor(own, s), Tensor(own, t), evaluate=False)
    return logic.assume(every(i, every(VectorLetter("z"), said)), ATTENTION)


def _even() -> Proved:
    """The Oja map with a step that is not odd: the definition of its vector is changed."""
    known = structure.equation_of(system("oja-map"))
    even = known.assumptions.definitions["y"] + vector("w")
    changed = replace(known, assumptions=known.assumptions.extended(definitions={"y": even}))
    with patch.object(structure, "equation_of", lambda _: changed):
        return structure.opposite(SCORE, system("oja-map"))


ROW = exponential(SCORE) * factor(row_sum(SCORE, j), -1)

GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
    "product": (lambda: quantities.product(FIRST, SECOND), eq(Tensor(FIRST * SECOND), Tensor(FIRST) * Tensor(SECOND))),
    "factors": (
        lambda: quantities.factors(FIRST * 2 - SECOND**-1),
        eq(Tensor(FIRST * 2 - SECOND**-1), 2 * Tensor(FIRST) - 1 / Tensor(SECOND)),
    ),
    "exponential_of": (
        lambda: quantities.exponential_of(SCORE),
        eq(Tensor(exponential(SCORE)), sp.exp(Tensor(SCORE))),
    ),
    "positive": (lambda: sums.positive(exponential(SCORE) * MASKED**-1), Tensor(exponential(SCORE) * MASKED**-1) > 0),
    "congruent": (
        lambda: sums.congruent((ROW * dot(vector("x", j), vector("w", j))).summed(j), "x", vector("b"), i, consensus()),
        eq(
            Tensor((ROW * dot(vector("x", j), vector("w", j))).summed(j)),
            Tensor(dot(vector("b"), vector("w", j)).summed(j) / TOKENS),
        ),
    ),
    "same_state": (
        lambda: sums.same_state(ROW, s, t, at_times(), ATTENTION),
        eq(Tensor(ROW, s), Tensor(ROW, t)),
    ),
    "opposite": (
        lambda: structure.opposite(dot(vector("y", i), vector("w")) * factor(Norm("r", (i,))) + SCORE, ATTENTION),
        eq(
            Opposite(dot(vector("y", i), vector("w")) * factor(Norm("r", (i,))) + SCORE),
            Tensor(SCORE - dot(vector("y", i), vector("w")) * factor(Norm("r", (i,)))),
        ),
    ),
    "summand": (
        lambda: sums.summand(above(sp.Ge), j),
        sp.Ge(Tensor(FIRST.summed(i)), Tensor(FIRST.at((i, j))), evaluate=False),
    ),
    "least": (
        lambda: sums.least(above(), c),
        Exists(c, TRUE, every(i, sp.Ge(Tensor(FIRST), c, evaluate=False))),
    ),
    "bounded_forms": (lambda: words.bounded_forms("P", system("ellipsoid-multihead-flow")), _forms()),
    "bounded_norm": (lambda: words.bounded_norm("P", b), Exists(b, TRUE, proposition(HeadNorm(P) <= b))),
}

REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "same_state": {
        "other times": (lambda: sums.same_state(ROW, s, 2 * t, at_times(), ATTENTION), "not proved"),
        "another family": (lambda: sums.same_state(ROW, s, t, at_times("w"), ATTENTION), "not proved"),
        "what is larger": (lambda: sums.same_state(ROW, s, t, at_times(relation=sp.Ge), ATTENTION), "not proved"),
        "one token": (
            lambda: sums.same_state(ROW, s, t, logic.instantiate(at_times(), i), ATTENTION),
            "not proved",
        ),
        "another system": (lambda: sums.same_state(ROW, s, t, at_times(), system("oja-map")), "cannot be used"),
        "a state that is no trajectory": (
            lambda: sums.same_state(ROW, s, t, consensus(), ATTENTION),
            "not proved",
        ),
    },
    "opposite": {
        "a vector of another system": (
            lambda: structure.opposite(dot(vector("y", i), vector("w")), system("attention-flow")),
            "does not define",
        ),
        "a norm of another system": (
            lambda: structure.opposite(factor(Norm("r", (i,))), system("attention-flow")),
            "does not define",
        ),
        "a scalar by its name": (lambda: structure.opposite(factor(Named("q", (i,))), ATTENTION), "does not define"),
        "another state": (
            lambda: logic.instantiate(
                logic.generalise(VectorLetter("x"), structure.opposite(SCORE, ATTENTION)), AtTime(t)
            ),
            "opposite of the state",
        ),
        "what moves with the state": (
            lambda: logic.instantiate(
                logic.generalise(VectorLetter("w"), structure.opposite(dot(vector("x", i), vector("w")), ATTENTION)),
                vector("x", j),
            ),
            "cannot become what moves",
        ),
        "an equation that is not odd": (_even, "is odd"),
    },
    "congruent": {
        "another family": (lambda: sums.congruent(SCORE, "x", vector("b"), i, consensus("w")), "not proved"),
        "a vector that the map defines": (
            lambda: sums.congruent(dot(vector("y", i), vector("w")), "y", vector("b"), i, consensus("y")),
            "names for functions of the state",
        ),
        "another vector": (lambda: sums.congruent(SCORE, "x", vector("a"), i, consensus()), "not proved"),
        "what is larger": (lambda: sums.congruent(SCORE, "x", vector("b"), i, consensus(relation=sp.Ge)), "not proved"),
        "one token": (
            lambda: sums.congruent(SCORE, "x", vector("b"), i, logic.instantiate(consensus(), i)),
            "not proved",
        ),
        "one direction": (
            lambda: sums.congruent(
                SCORE, "x", vector("b"), i, logic.assume(every(i, consensus().proposition.body.body))
            ),
            "not proved",
        ),
        "a guard": (
            lambda: sums.congruent(
                SCORE, "x", vector("b"), i, logic.assume(ForAll(i, proposition(y > 0), consensus().proposition.body))
            ),
            "not proved",
        ),
        "the letter of every vector": (lambda: sums.congruent(SCORE, "x", vector("z"), i, consensus()), "the letter z"),
        "a number": (lambda: sums.congruent(SCORE, "x", FIRST, i, consensus()), "a member is a vector"),
        "the raw step of a map, which depends on the state": (
            lambda: sums.congruent(dot(vector("y", i), vector("x", i)), "x", vector("b"), i, consensus()),
            "functions of the state",
        ),
        "its norm": (
            lambda: sums.congruent(factor(Norm("r", (i,))), "x", vector("b"), i, consensus()),
            "functions of the state",
        ),
        "one vector of that name": (
            lambda: sums.congruent(dot(vector("x"), vector("w")), "x", vector("b"), i, consensus()),
            "one member for each token",
        ),
        "a family of heads": (
            lambda: sums.congruent(dot(vector("x", HEAD), vector("w")), "x", vector("b"), i, consensus()),
            "one member for each token",
        ),
    },
    "product": {"a vector": (lambda: quantities.product(vector("a"), FIRST), "a term must be a scalar")},
    "factors": {"a vector": (lambda: quantities.factors(vector("a")), "no number")},
    "exponential_of": {"a sum in the exponent": (lambda: quantities.exponential_of(FIRST.summed(i)), "without sums")},
    "positive": {
        "an inner product": (lambda: sums.positive(FIRST), "no sum of products"),
        "a negative scale": (lambda: sums.positive(exponential(SCORE) * -1), "no sum of products"),
        "a scale with a sign": (lambda: sums.positive(exponential(SCORE) * y), "no sum of products"),
        "an entry of a mask, which may be zero": (
            lambda: sums.positive(factor(MaskEntry("causal", i, j))),
            "no sum of products",
        ),
        "a row under a mask that may be empty": (
            lambda: sums.positive(factor(row_sum(SCORE, j, (MaskEntry("c", i, j),)))),
            "no sum of products",
        ),
        "nothing": (lambda: sums.positive(one() * 0), "empty"),
    },
    "summand": {
        "a term that may be negative": (
            lambda: sums.summand(logic.assume(every(i, sp.Ge(Tensor(FIRST), -1, evaluate=False))), j),
            "at least zero",
        ),
        "terms that are at most zero": (lambda: sums.summand(above(sp.Le), j), "at least zero"),
        "a guard": (
            lambda: sums.summand(logic.assume(ForAll(i, proposition(y > 0), above(sp.Ge).proposition.body)), j),
            "without a guard",
        ),
        "a head for a token": (lambda: sums.summand(above(sp.Ge), HEAD), "not known to be of the sort"),
    },
    "least": {
        "numbers that may be zero": (lambda: sums.least(above(sp.Ge), c), "above zero"),
        "negative numbers": (lambda: sums.least(above(sp.Lt), c), "above zero"),
        "a real letter": (lambda: sums.least(above(), y), "positive number"),
        "not for every token": (lambda: sums.least(logic.assume(Tensor(FIRST) > 0), c), "every index"),
        "every real number instead of finitely many": (
            lambda: sums.least(logic.assume(every(y, y**2 + 1 > 0)), c),
            "every index",
        ),
        "a letter that is taken": (
            lambda: sums.least(logic.assume(every(i, Tensor(FIRST) - c > 0)), c),
            "above zero|new letter",
        ),
    },
    "bounded_forms": {"what is no matrix": (lambda: words.bounded_forms("", system("oja-flow")), "name")},
    "bounded_norm": {"a letter that may be negative": (lambda: words.bounded_norm("P", y), "not negative")},
}
