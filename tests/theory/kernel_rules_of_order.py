"""Uses of the rules about tokens in their order: what they give, and what they refuse (see ``test_kernel_rules``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import HEAD, TOKENS, Index, delta, dot, vector
from eigentoken.theory.kernel import logic, order
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter

i, j, k = (Index("token", name) for name in "ijk")
t, s = sp.symbols("t s", real=True)
late = sp.Symbol("T", nonnegative=True)
steps = sp.Symbol("m", integer=True, nonnegative=True)


def said(relation: Any, left: Any, right: Any) -> Proposition:
    return proposition(relation(left, right, evaluate=False))


def value(at: Index, time: Any = None) -> Tensor:
    return Tensor(dot(vector("x", at), vector("w")), time)


def near(at: Index) -> Proposition:
    return said(sp.Ge, value(at, sp.Integer(1)), sp.Integer(0))


def step(earlier: Proposition | None = None, claim: Proposition | None = None, guard: Proposition = TRUE) -> Proved:
    """From P(j) for every j before i to P(i), assumed."""
    before = ForAll(j, order.before(j, i), near(j)) if earlier is None else earlier
    return logic.assume(ForAll(i, guard, Implication(before, near(i) if claim is None else claim)))


def sometime(
    body: Proposition | None = None, letter: Any = late, index: Index = i, guard: Proposition = TRUE, since: Any = None
) -> Proved:
    """For every token: P(i, t) from some time on, assumed."""
    inner = said(sp.Ge, value(i, t), sp.Integer(0)) if body is None else body
    after = said(sp.Ge, t, letter if since is None else since)
    return logic.assume(ForAll(index, guard, Exists(letter, TRUE, ForAll(t, after, inner))))


def always(guard: Proposition = TRUE) -> Exists:
    inner = ForAll(i, guard, said(sp.Ge, value(i, t), sp.Integer(0)))
    return Exists(late, TRUE, ForAll(t, said(sp.Ge, t, late), inner))


def is_one(query: Index, key: Index) -> Proposition:
    return said(sp.Eq, Tensor(order.sees(query, key)), sp.Integer(1))


GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
    "causal_order": (
        lambda: order.causal_order(i, j),
        Conjunction(
            (Disjunction((order.before(i, j), is_one(i, j))), Disjunction((is_one(i, j), is_one(j, i)))),
        ),
    ),
    "same_token": (
        lambda: order.same_token(i, j),
        said(sp.Eq, Tensor(delta(i, j)), Tensor(order.sees(i, j)) * Tensor(order.sees(j, i))),
    ),
    "first_token": (lambda: order.first_token(k, j), Exists(k, TRUE, ForAll(j, TRUE, is_one(j, k)))),
    "token_induction": (lambda: order.token_induction(step()), ForAll(i, TRUE, near(i))),
    "latest": (lambda: order.latest(sometime(guard=order.before(i, k))), always(order.before(i, k))),
}

GIVES["almost_every_token"] = (
    lambda: order.almost_every_token(logic.assume(ForAll(i, order.before(i, k), ForAlmostEvery(near(i))))),
    ForAlmostEvery(ForAll(i, order.before(i, k), near(i))),
)

ratio = sp.Symbol("r", positive=True)


def weights() -> Exists:
    """``|a_i|^2 <= r |a_j|^2`` for j before i, and ``r^n <= |a_i|^2 <= 1``."""
    here, earlier = (Tensor(dot(vector("a", at), vector("a", at))) for at in (i, j))
    falls = ForAll(j, order.before(j, i), said(sp.Le, here, ratio * earlier))
    within = said(sp.Ge, here, ratio**TOKENS), said(sp.Le, here, sp.Integer(1))
    return Exists(VectorLetter("a"), TRUE, ForAll(i, TRUE, Conjunction((*within, falls))))


GIVES["falling_weights"] = (
    lambda: logic.discharge(said(sp.Le, ratio, sp.Integer(1)), order.falling_weights(ratio, "a")),
    Implication(said(sp.Le, ratio, sp.Integer(1)), weights()),
)

REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "causal_order": {"heads": (lambda: order.causal_order(i, HEAD), "of tokens")},
    "same_token": {"heads": (lambda: order.same_token(i, HEAD), "of tokens")},
    "first_token": {
        "one letter": (lambda: order.first_token(k, k), "two letters"),
        "heads": (lambda: order.first_token(HEAD, j), "of tokens"),
    },
    "falling_weights": {
        "a ratio that could be negative": (lambda: order.falling_weights(sp.Symbol("r", real=True), "a"), "positive"),
        "a quantity of a token": (lambda: order.falling_weights(sp.exp(value(i)), "a"), "positive number"),
        "the number of tokens": (lambda: order.falling_weights(TOKENS, "a"), "positive number"),
        "the state": (lambda: order.falling_weights(ratio, "x"), "another letter"),
        "the raw step of a map": (lambda: order.falling_weights(ratio, "y"), "no letter"),
    },
    "token_induction": {
        "from later tokens": (lambda: order.token_induction(step(ForAll(j, order.before(i, j), near(j)))), "before i"),
        "from all tokens": (lambda: order.token_induction(step(ForAll(j, TRUE, near(j)))), "before i"),
        "from tokens that are not later": (
            lambda: order.token_induction(step(ForAll(j, is_one(i, j), near(j)))),
            "before i",
        ),
        "from another claim": (
            lambda: order.token_induction(step(ForAll(j, order.before(j, i), said(sp.Ge, value(j), sp.Integer(0))))),
            "before i",
        ),
        "a claim about the earlier token": (lambda: order.token_induction(step(claim=near(j))), "letter of their own"),
        "under a guard": (lambda: order.token_induction(step(guard=is_one(i, k))), "without a guard"),
        "without earlier tokens": (lambda: order.token_induction(step(TRUE)), "every j before i"),
        "over real numbers": (
            lambda: order.token_induction(logic.assume(ForAll(t, TRUE, Implication(near(i), near(i))))),
            "every token",
        ),
    },
    "almost_every_token": {
        "of one token": (lambda: order.almost_every_token(logic.assume(ForAlmostEvery(near(i)))), "every token"),
        "of every number": (
            lambda: order.almost_every_token(logic.assume(ForAll(t, TRUE, ForAlmostEvery(near(i))))),
            "every token",
        ),
        "of every start": (lambda: order.almost_every_token(logic.assume(ForAll(i, TRUE, near(i)))), "almost every"),
        "a guard about the start": (
            lambda: order.almost_every_token(logic.assume(ForAll(i, near(i), ForAlmostEvery(near(i))))),
            "does not speak",
        ),
    },
    "latest": {
        "what speaks of the time T": (lambda: order.latest(sometime(said(sp.Ge, t, 2 * late))), "must not speak"),
        "a guard that speaks of the time": (
            lambda: order.latest(sometime(guard=said(sp.Ge, t, sp.Integer(0)))),
            "must not speak",
        ),
        "a guard that speaks of T": (
            lambda: order.latest(sometime(guard=said(sp.Ge, late, sp.Integer(0)))),
            "must not speak",
        ),
        "from another time on": (lambda: order.latest(sometime(since=2 * late)), "t >="),
        "before T": (lambda: order.latest(sometime(since=late + t)), "t >="),
        "an integer": (lambda: order.latest(sometime(letter=steps)), "real T"),
        "infinitely many": (
            lambda: order.latest(logic.assume(ForAll(s, TRUE, sometime().proposition.body))),
            "every token",
        ),
    },
}
