"""Uses of the rules about two tokens and about multipliers at a place: what they give, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import TOKENS, Index, dot, vector
from eigentoken.theory.kernel import logic, multipliers, spectra, structure
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Equivalence,
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import AttentionRank, Unstable
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt
from eigentoken.theory.language.terms import ScoreAtEigenvector, matrix
from eigentoken.theory.systems.catalogue import system

i, j = Index("token", "i"), Index("token", "j")
TWO = sp.Eq(TOKENS, 2, evaluate=False)
STATE, Z = VectorLetter("x"), VectorLetter("z")


def _sum_of_two(name: str) -> Proposition:
    z = vector("z")
    whole = Tensor(dot(z, vector(name, i)).summed(i))
    both = Tensor(dot(z, vector(name, i))) + Tensor(dot(z, vector(name, j)))
    equal = ForAll(Z, TRUE, proposition(sp.Eq(whole, both, evaluate=False)))
    return ForAll(i, TRUE, Exists(j, TRUE, equal))


def stretched(where: Proposition = multipliers.HALF_AND_HALF, about: str = "oja-map", letter: Any = STATE) -> Proved:
    """A multiplier above 1 at every state of a kind, assumed."""
    said = Implication(where, multipliers.MULTIPLIER)
    return logic.assume(said if letter is None else ForAll(letter, TRUE, said), system(about))


def _factor(above: Any) -> Exists:
    """The multiplier with another bound."""
    said = multipliers.MULTIPLIER
    return Exists(said.letter, proposition(above), said.body)


V, k = matrix("V"), sp.Symbol("k", integer=True, positive=True)
_SCORE = ScoreAtEigenvector(matrix("M"), V, k)
_MINOR = sp.exp(2 * _SCORE) - sp.exp(-2 * _SCORE)


def rank(place: Any, about: str = "attention-map") -> Proved:
    return spectra.attention_rank(place, system(about))


def _split_ranks() -> Conjunction:
    place = BipartiteAt(V, k)
    two = Equivalence(proposition(AttentionRank(place, 2)), proposition(sp.Ne(_MINOR, 0)))
    return Conjunction((two, Equivalence(proposition(AttentionRank(place, 1)), proposition(sp.Eq(_MINOR, 0)))))


GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
    "attention_rank": (lambda: rank(BipartiteAt(V, k)), _split_ranks()),
    "pair": (lambda: structure.pair(logic.assume(TWO), "a"), _sum_of_two("a")),
    "unstable": (lambda: multipliers.unstable(AntipodalAt("w"), stretched()), proposition(Unstable(AntipodalAt("w")))),
}

REFUSES: dict[str, dict[str, tuple[Callable[[], object], str]]] = {
    "attention_rank": {
        "no scores": (lambda: rank(ConsensusAt(V, k), "oja-map"), "no attention matrix"),
        "several heads": (lambda: rank(ConsensusAt(matrix("F"), k), "multihead-map"), "no attention matrix"),
        "a mask": (lambda: rank(ConsensusAt(V, k), "causal-flow"), "no attention matrix"),
        "an ellipsoid": (lambda: rank(ConsensusAt(matrix("U"), k), "ellipsoid-map"), "no attention matrix"),
        "another matrix": (lambda: rank(ConsensusAt(matrix("M"), k)), "value matrix"),
        "any direction": (lambda: rank(AntipodalAt("w")), "value matrix"),
        "the eigenvector 0": (lambda: rank(ConsensusAt(V, 0)), "not known to be of the sort"),
    },
    "pair": {
        "three tokens": (lambda: structure.pair(logic.assume(sp.Eq(TOKENS, 3))), "two tokens"),
        "at least two tokens": (lambda: structure.pair(logic.assume(sp.Ge(TOKENS, 2))), "two tokens"),
        "at most two tokens": (lambda: structure.pair(logic.assume(sp.Le(TOKENS, 2))), "two tokens"),
        "a family z": (lambda: structure.pair(logic.assume(TWO), "z"), "another letter"),
    },
    "unstable": {
        "a split of unequal sides": (
            lambda: multipliers.unstable(BipartiteAt(matrix("V"), 1), stretched()),
            "each side",
        ),
        "at one state": (lambda: multipliers.unstable(AntipodalAt("w"), stretched(letter=None)), "every such state"),
        "only where a condition holds": (
            lambda: multipliers.unstable(
                AntipodalAt("w"), stretched(Conjunction((multipliers.HALF_AND_HALF, proposition(TWO))))
            ),
            "every such state",
        ),
        "a flow": (lambda: multipliers.unstable(AntipodalAt("w"), stretched(about="oja-flow")), "map on the sphere"),
        "no system": (
            lambda: multipliers.unstable(
                AntipodalAt("w"),
                logic.assume(ForAll(STATE, TRUE, Implication(multipliers.HALF_AND_HALF, multipliers.MULTIPLIER))),
            ),
            "map on the sphere",
        ),
        "a multiplier that may be 1": (
            lambda: multipliers.unstable(
                AntipodalAt("w"),
                logic.assume(
                    ForAll(STATE, TRUE, Implication(multipliers.HALF_AND_HALF, _factor(multipliers.FACTOR >= 1))),
                    system("oja-map"),
                ),
            ),
            "every such state",
        ),
    },
}
