"""Rules about tokens in their order: what a causal mask is, induction over tokens, and times that serve all tokens.

``c_ij`` is the causal mask, 1 where token i sees token j (``j <= i``), else 0: token j comes before token i where ``c_ji = 0``.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.calculus import TOKENS, Expression, Index, MaskEntry, delta, dot, factor, vector
from eigentoken.theory.kernel.logic import speaks_of_start
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Proposition,
    free_letters,
    proposition,
    put,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused, prove
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter

__all__ = [
    "almost_every_token",
    "before",
    "causal_order",
    "falling_weights",
    "first_token",
    "is_real_letter",
    "latest",
    "same_token",
    "sees",
    "token_induction",
]


def sees(query: Index, key: Index) -> Expression:
    """``c_ij``: 1 where token i sees token j, that is ``j <= i``, else 0."""
    return factor(MaskEntry("causal", query, key))


def _is(value: int, query: Index, key: Index) -> Proposition:
    return proposition(sp.Eq(Tensor(sees(query, key)), value, evaluate=False))


def before(earlier: Index, later: Index) -> Proposition:
    """Token j comes before token i: ``c_ji = 0``, it does not see it."""
    return _is(0, earlier, later)


def _tokens(*indices: Index) -> None:
    if any(each.kind != "token" for each in indices):
        raise Refused(f"an order is that of tokens, got {', '.join(each.kind for each in indices)}")


def causal_order(i: Index, j: Index) -> Proved:
    """``c_ij`` is 0 or 1, and ``c_ij`` or ``c_ji`` is 1: of two tokens one sees the other, and a token sees itself."""
    _tokens(i, j)
    values = Disjunction((_is(0, i, j), _is(1, i, j)))
    return prove(Conjunction((values, Disjunction((_is(1, i, j), _is(1, j, i))))), "causal_order", ())


def same_token(i: Index, j: Index) -> Proved:
    """``delta_ij = c_ij c_ji``: tokens that see each other are one token."""
    _tokens(i, j)
    both = Tensor(sees(i, j)) * Tensor(sees(j, i))
    return prove(proposition(sp.Eq(Tensor(delta(i, j)), both, evaluate=False)), "same_token", ())


def first_token(k: Index, j: Index) -> Proved:
    """There is a token k that every token j sees."""
    _tokens(k, j)
    if k == j:
        raise Refused("two letters are needed: the first token, and any token")
    return prove(Exists(k, TRUE, ForAll(j, TRUE, _is(1, j, k))), "first_token", ())


def falling_weights(ratio: sp.Symbol, name: str) -> Proved:
    """There are vectors ``a_i`` with ``|a_i|^2 <= r |a_j|^2`` for j before i, and ``r^n <= |a_i|^2 <= 1``, where ``r <= 1``.

    One for each token: ``|a_i|^2 = r^i``, i the number of the token.
    """
    if ratio.assumptions0 != sp.Symbol("r", positive=True).assumptions0 or ratio == TOKENS:
        raise Refused(f"{ratio} must be a letter for a positive number")
    if name == STATE:
        raise Refused(f"{name} is the state: choose another letter for the weights")
    i, j = Index("token", "i"), Index("token", "j")
    here, earlier = (Tensor(dot(vector(name, each), vector(name, each))) for each in (i, j))
    within = [sp.Ge(here, ratio**TOKENS, evaluate=False), sp.Le(here, 1, evaluate=False)]
    falls = ForAll(j, before(j, i), proposition(sp.Le(here, ratio * earlier, evaluate=False)))
    every = ForAll(i, TRUE, Conjunction((*map(proposition, within), falls)))
    small = proposition(sp.Le(ratio, 1, evaluate=False))
    return prove(Exists(VectorLetter(name), TRUE, every), "falling_weights", (), None, (small,))


def token_induction(step: Proved) -> Proved:
    """``P(j)`` for every token j before i gives ``P(i)``, for every i: then ``P(i)`` for every token i.

    The first token has none before it, and there are finitely many.
    """
    said = step.proposition
    if not isinstance(said, ForAll) or not isinstance(said.letter, Index) or said.guard != TRUE:
        raise Refused("the step must be for every token i, without a guard")
    _tokens(said.letter)
    if not isinstance(said.body, Implication) or not isinstance(said.body.left, ForAll):
        raise Refused("the step must be an implication from P(j) for every j before i")
    i, earlier, claim = said.letter, said.body.left, said.body.right
    j = earlier.letter
    if not isinstance(j, Index) or j.kind != "token" or j == i or j in free_letters(claim):
        raise Refused("the earlier tokens need a letter of their own")
    if not same(earlier.guard, before(j, i)) or not same(earlier.body, put(claim, {i: j})):
        raise Refused("the step must lead from P(j) for every j before i to P(i)")
    return prove(ForAll(i, TRUE, claim), "token_induction", (step,), step.system, step.hypotheses)


def latest(proved: Proved) -> Proved:
    """``for every token i: P(i, t) from some time T on`` gives ``from some time T on: P(i, t) for every token i``.

    There are finitely many tokens: the latest of the times serves all.  A guard on i stays with it.
    """
    said = proved.proposition
    if not isinstance(said, ForAll) or not isinstance(said.letter, Index) or said.letter.kind != "token":
        raise Refused("there must be a time for every token")
    some = said.body
    if not isinstance(some, Exists) or not isinstance(some.body, ForAll) or not is_real_letter(some.letter):
        raise Refused("it must be said: there is a real T such that for every t >= T")
    late, after = some.letter, some.body
    if not is_real_letter(after.letter) or not same(
        after.guard, proposition(sp.Ge(after.letter, late, evaluate=False))
    ):
        raise Refused(f"it must be said for every real t with t >= {late}")
    if late in free_letters(after.body) | free_letters(said.guard) or some.guard != TRUE:
        raise Refused(f"what holds from {late} on must not speak of {late}")
    if after.letter in free_letters(said.guard):
        raise Refused(f"the guard must not speak of {after.letter}")
    always = ForAll(after.letter, after.guard, ForAll(said.letter, said.guard, after.body))
    return prove(Exists(late, TRUE, always), "latest", (proved,), proved.system, proved.hypotheses)


def is_real_letter(letter: Any) -> bool:
    """A real letter, of any sign: the larger of two values is a value."""
    sorts = [sp.Symbol("t", **{sign: True}).assumptions0 for sign in ("real", "nonnegative", "positive")]
    return isinstance(letter, sp.Symbol) and letter.assumptions0 in sorts


def almost_every_token(proved: Proved) -> Proved:
    """``for every token i: P(i) for almost every start`` gives ``for almost every start: P(i) for every token i``.

    Finitely many sets of measure zero have a union of measure zero.
    """
    said = proved.proposition
    if not isinstance(said, ForAll) or not isinstance(said.letter, Index) or said.letter.kind != "token":
        raise Refused("it must be said of every token")
    if not isinstance(said.body, ForAlmostEvery) or speaks_of_start(said.guard):
        raise Refused("it must be said for almost every start, under a guard that does not speak of the start")
    wanted = ForAlmostEvery(ForAll(said.letter, said.guard, said.body.body))
    return prove(wanted, "almost_every_token", (proved,), proved.system, proved.hypotheses)
