"""Uses of the rules that are refused for where they stand: premises of two systems, another system, another time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import HEAD, Letter, dot, vector
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import books, dynamics, kernel, logic, spectra, structure, words
from eigentoken.theory.kernel.propositions import TRUE, Disjunction, ForAll, ForAlmostEvery, Implication
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.claims import LyapunovStable
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import ell
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Space, Time
from tests.theory.kernel_rules_objects import (
    ENERGY,
    FLOW,
    GOES,
    HEIGHT,
    LOSS,
    OJA,
    V_FORM,
    P,
    Q,
    V,
    W,
    assume,
    claim_of,
    eq,
    exits,
    ge,
    m,
    recall,
    some,
    spectrum,
    t,
    x,
    y,
)

__all__ = ["FURTHER"]

CLASH = "cannot be used"
HERE, THERE = assume(P, OJA), assume(Q, FLOW)
COUNT = sp.Symbol("m", integer=True, positive=True)
#: A theorem about trajectories of a flow, and one about tokens on the sphere.
ALONG = books.Textbook("along", "a theorem", {}, lambda: ((), P), "Author, Title", "@book{}", time=Time.FLOW)
ON_SPHERE = books.Textbook("sphere", "a theorem", {}, lambda: ((), P), "Author, Title", "@book{}", space=Space.SPHERE)
ALMOST_ALWAYS = books.Textbook(
    "almost", "a theorem", {}, lambda: ((), ForAlmostEvery(GOES)), "Author, Title", "@book{}"
)
WITHOUT_VALUE = books.Textbook(
    "quotients", "a theorem", {}, lambda: ((), ForAll(x, TRUE, claim_of(ge(1 / x**2, 0)))), "Author, Title", "@book{}"
)
AT_A_STATE = assume(sp.Gt(HEIGHT, 0, evaluate=False))
A_POWER = assume(eq(x, 2)), assume(sp.Gt(sp.Pow(y, x, evaluate=False), 1, evaluate=False))
OF_A_HEAD = dot(vector("a"), vector("b"), (Letter("W", False, (HEAD,)),))

FURTHER: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "almost_everywhere": {
        "another system": (
            lambda: logic.almost_everywhere(
                [assume(ForAlmostEvery(GOES), OJA), assume(Implication(GOES, GOES), FLOW)], GOES
            ),
            CLASH,
        )
    },
    "argued": {"another system": (lambda: books.argued(P, "so it is", FLOW, HERE), CLASH)},
    "arithmetic": {"another system": (lambda: numbers.arithmetic([HERE, THERE], x**2 >= 0), CLASH)},
    "cases": {
        "another system": (
            lambda: kernel.cases(
                assume(Disjunction((P, Q)), OJA), *(assume(Implication(each, P), FLOW) for each in (P, Q))
            ),
            CLASH,
        )
    },
    "dissipates": {
        "another system": (lambda: dynamics.dissipates(ENERGY, sp.Integer(2), assume(LOSS, FLOW), HERE), CLASH)
    },
    "exists_elimination": {
        "another system": (lambda: logic.exists_elimination(assume(some(x, x > 0), OJA), THERE), CLASH)
    },
    "first_exit": {
        "another system": (lambda: dynamics.first_exit(HERE, exits()[1]), CLASH),
        "times of another sort": (
            lambda: dynamics.first_exit(*exits(letter=sp.Symbol("t", integer=True))),
            "real times of a flow",
        ),
        "a step that begins later": (
            lambda: dynamics.first_exit(
                exits()[0],
                assume(type(exits()[1].proposition)(t, claim_of(ge(t, 1)), exits()[1].proposition.body), FLOW),
            ),
            "for all t >= 0",
        ),
    },
    "identity": {"another system": (lambda: numbers.identity(x, x, HERE, THERE), CLASH)},
    "iff": {
        "another system": (
            lambda: kernel.iff(assume(Implication(P, Q), OJA), assume(Implication(Q, P), FLOW)),
            CLASH,
        )
    },
    "induction": {
        "premises of two systems": (lambda: structure.induction(m, HERE, THERE, 1), CLASH),
        "from a number of another sort": (
            lambda: structure.induction(COUNT, assume(P), assume(ForAll(COUNT, TRUE, Implication(P, P))), 0),
            "sort of",
        ),
    },
    "integers": {"another system": (lambda: numbers.integers([HERE, THERE], m >= 0), CLASH)},
    "linear_stability": {"another system": (lambda: dynamics.linear_stability(spectrum(), THERE), CLASH)},
    "linear_instability": {"another system": (lambda: dynamics.linear_instability(spectrum(), THERE), CLASH)},
    "meaning": {
        "of a flow": (lambda: words.meaning(LyapunovStable(BipartiteAt(V, 1)), FLOW), "that of a map"),
        "under a mask": (lambda: words.meaning(LyapunovStable(BipartiteAt(V, 1))), "that of a map"),
    },
    "recall": {"premises of another system": (lambda: recall(assume(P), OJA, {}, THERE), CLASH)},
    "reduction": {
        "a name of another rule": (
            lambda: structure.reduction(V_FORM, V_FORM, None, rule="increment"),
            "no name of a reduction",
        ),
        "a quantity at a time": (
            lambda: structure.reduction(V_FORM, 2 * Tensor(V_FORM, sp.Integer(0)), None),
            "not made of quantities",
        ),
        "another sum": (lambda: structure.reduction(2 * V_FORM, 3 * Tensor(V_FORM), None), "remain"),
        "another product": (lambda: structure.reduction(V_FORM * V_FORM, Tensor(V_FORM) ** 3, None), "remain"),
        "premises of another system": (lambda: structure.reduction(V_FORM, V_FORM, OJA, THERE), CLASH),
        "a matrix of one head": (
            lambda: structure.reduction(OF_A_HEAD, OF_A_HEAD, None, assume(Symmetric(W))),
            "heads",
        ),
    },
    "respelled": {
        "equations of another system": (
            lambda: spectra.respelled(spectrum(), spectrum().proposition.word, THERE),
            CLASH,
        ),
        "an equation about one index": (
            lambda: spectra.respelled(spectrum(), spectrum().proposition.word, assume(ge(ell, 3))),
            "for some ell only",
        ),
    },
    "rewrite": {
        "in an exponent": (lambda: logic.rewrite(*A_POWER), "exponent"),
        "beside an inverse": (
            lambda: logic.rewrite(assume(eq(V, W.I)), assume(eq(V * W, V))),
            "beside an inverse",
        ),
    },
    "tautology": {"another system": (lambda: logic.tautology([HERE, THERE], P), CLASH)},
    "textbook": {
        "tokens elsewhere": (lambda: books.textbook(ON_SPHERE, (), system("token-flow")), "tokens on the"),
        "what it needs rests on one start": (
            lambda: books.textbook(ALMOST_ALWAYS, (assume(GOES, FLOW),)),
            "must not rest on what one of them does",
        ),
        "what it binds could have no value": (lambda: books.textbook(WITHOUT_VALUE, ()), "would have no value"),
        "what it needs holds at one state": (lambda: books.textbook(ALONG, (AT_A_STATE,), FLOW), "at every state"),
    },
    "witness": {
        "of what does not exist": (lambda: logic.witness(claim_of(x > 0), sp.Integer(1)), "what exists"),
        "another system": (lambda: logic.witness(some(x, x > 0), sp.Integer(1), HERE, THERE), CLASH),
    },
}
