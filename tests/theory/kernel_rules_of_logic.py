"""Uses of the rules of logic and arithmetic: what they give, and what they refuse (see ``test_kernel_rules``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Index
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import books, kernel, logic
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    ForAlmostEvery,
    Implication,
    Negation,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import (
    Stable,
)
from eigentoken.theory.language.conditions import (
    InHemisphere,
)
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import (
    Eigenvalue,
    k,
)
from tests.theory.kernel_rules_objects import (
    FLOW,
    GOES,
    HEIGHT,
    OJA,
    P,
    Q,
    R,
    V,
    assume,
    claim_of,
    eq,
    every,
    ge,
    i,
    m,
    some,
    t,
    x,
    y,
)

TENTH = sp.Rational(1, 10)
#: Zero, as sympy does not see it.
NOTHING = sp.sqrt(2) + sp.sqrt(3) - sp.sqrt(5 + 2 * sp.sqrt(6))


def below(left: Any, right: Any) -> Any:
    return sp.Le(left, right, evaluate=False)


GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
    "assume": (lambda: assume(P), P),
    "discharge": (lambda: logic.discharge(P, assume(P)), Implication(P, P)),
    "modus_ponens": (lambda: kernel.modus_ponens(assume(Implication(P, Q)), assume(P)), Q),
    "supply": (lambda: logic.supply(assume(P), kernel.part(assume(Conjunction((P, Q))), P)), P),
    "conjunction": (lambda: kernel.conjunction(assume(P), assume(Q)), Conjunction((P, Q))),
    "part": (lambda: kernel.part(assume(Conjunction((P, Q, R))), Conjunction((R, P))), Conjunction((P, R))),
    "cases": (
        lambda: kernel.cases(assume(Disjunction((P, Q))), assume(Implication(P, R)), assume(Implication(Q, R))),
        R,
    ),
    "iff": (lambda: kernel.iff(assume(Implication(P, Q)), assume(Implication(Q, P))), Equivalence(P, Q)),
    "tautology": (
        lambda: logic.tautology([assume(Implication(P, Q))], Disjunction((Negation(P), Q))),
        Disjunction((Q, Negation(P))),
    ),
    "generalise": (
        lambda: logic.generalise(x, numbers.arithmetic([assume(x > 1)], x**2 > 1), x > 1),
        every(y, y**2 > 1, y > 1),
    ),
    "instantiate": (
        lambda: logic.instantiate(assume(every(x, x**2 > 1, x > 1)), sp.Integer(2) + y**2, assume(y**2 + 2 > 1)),
        (y**2 + 2) ** 2 > 1,
    ),
    "witness": (
        lambda: logic.witness(some(x, x < y), y - 1, numbers.arithmetic([], sp.Lt(y - 1, y, evaluate=False))),
        some(x, x < y),
    ),
    "exists_elimination": (
        lambda: logic.exists_elimination(assume(some(x, x**2 < y)), numbers.arithmetic([assume(x**2 < y)], y > 0)),
        y > 0,
    ),
    "rewrite": (lambda: logic.rewrite(assume(eq(k, 1)), assume(Eigenvalue(V, k) > 0)), Eigenvalue(V, 1) > 0),
    "almost_everywhere": (
        lambda: logic.almost_everywhere(
            [assume(ForAlmostEvery(GOES)), assume(P), logic.discharge(Conjunction((GOES,)), assume(GOES))][::2], GOES
        ),
        ForAlmostEvery(GOES),
    ),
    "enclosure": (
        lambda: numbers.enclosure(below(sp.exp(5 - 5 * sp.sqrt(5)), TENTH)),
        below(sp.exp(5 - 5 * sp.sqrt(5)), TENTH),
    ),
    "arithmetic": (lambda: numbers.arithmetic([assume(x > 1)], x**2 > x), x**2 > x),
    "integers": (lambda: numbers.integers([assume(m > 1)], m >= 2), m >= 2),
    "identity": (lambda: numbers.identity((x**2 - 1) / (x - 1), x + 1, assume(x > 1)), eq((x**2 - 1) / (x - 1), x + 1)),
}

REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "assume": {"no proposition": (lambda: assume(sp.Symbol("x")), "made of words")},
    "discharge": {"what is no proposition": (lambda: logic.discharge(x + 1, assume(P)), "made of words")},
    "modus_ponens": {
        "another premise": (lambda: kernel.modus_ponens(assume(Implication(P, Q)), assume(R)), "not what"),
        "backwards": (lambda: kernel.modus_ponens(assume(Implication(P, Q)), assume(Q)), "not what"),
        "no implication": (lambda: kernel.modus_ponens(assume(P), assume(P)), "needs an implication"),
        "another system": (
            lambda: kernel.modus_ponens(assume(Implication(P, Q), OJA), assume(P, FLOW)),
            "cannot be used",
        ),
    },
    "supply": {"another system": (lambda: logic.supply(assume(P, OJA), assume(P, FLOW)), "cannot be used")},
    "conjunction": {"another system": (lambda: kernel.conjunction(assume(P, OJA), assume(Q, FLOW)), "cannot be used")},
    "part": {
        "no part": (lambda: kernel.part(assume(Conjunction((P, Q))), R), "no part"),
        "one of them is none": (lambda: kernel.part(assume(Conjunction((P, Q))), Conjunction((P, R))), "no part"),
        "a part of a disjunction": (lambda: kernel.part(assume(Disjunction((P, Q))), P), "no part"),
    },
    "cases": {
        "a case without a branch": (
            lambda: kernel.cases(assume(Disjunction((P, Q))), assume(Implication(P, R))),
            "1 of 2 cases",
        ),
        "branches that differ": (
            lambda: kernel.cases(assume(Disjunction((P, Q))), assume(Implication(P, R)), assume(Implication(Q, P))),
            "same",
        ),
        "no disjunction": (lambda: kernel.cases(assume(P), assume(Implication(P, R))), "disjunction"),
        "a branch that is none": (lambda: kernel.cases(assume(Disjunction((P,))), assume(R)), "implication"),
    },
    "iff": {
        "not the converse": (lambda: kernel.iff(assume(Implication(P, Q)), assume(Implication(R, P))), "converse"),
        "no implication": (lambda: kernel.iff(assume(Implication(P, Q)), assume(P)), "two implications"),
    },
    "tautology": {
        "what does not follow": (
            lambda: logic.tautology([assume(Implication(P, Q))], Implication(Q, P)),
            "connectives",
        ),
        "what needs arithmetic": (
            lambda: logic.tautology([], Disjunction((claim_of(x > y), claim_of(x <= y)))),
            "connectives",
        ),
        "one of very many cases": (
            lambda: logic.tautology([], Disjunction(tuple(claim_of(x > each) for each in range(15)))),
            "connectives",
        ),
        "a name of another rule": (lambda: logic.tautology([assume(P)], P, "recall"), "no name of a step"),
    },
    "generalise": {
        "a hypothesis about the letter": (lambda: logic.generalise(x, assume(x > 1)), "outside"),
        "another guard": (lambda: logic.generalise(x, assume(x > 1), x > 2), "outside"),
        "a parameter of the system": (
            lambda: logic.generalise(V, assume(Stable(ConsensusAt(V, 1)), OJA), Atom(Stable(ConsensusAt(V, 1)))),
            "system",
        ),
        "no letter": (lambda: logic.generalise(x + 1, assume(TRUE)), "no letter"),
    },
    "instantiate": {
        "no guard": (lambda: logic.instantiate(assume(every(x, x**2 > 1, x > 1)), sp.Integer(2) + y), "guard"),
        "the guard elsewhere": (
            lambda: logic.instantiate(assume(every(x, x**2 > 1, x > 1)), y, assume(x > 1)),
            "guard",
        ),
        "another sort": (lambda: logic.instantiate(assume(every(m, m > -1)), sp.Rational(1, 2)), "sort"),
        "an index of another kind": (
            lambda: logic.instantiate(assume(every(i, HEIGHT > 0)), Index("head", "h")),
            "sort",
        ),
        "no binder": (lambda: logic.instantiate(assume(P), x), "for all"),
        "another system": (
            lambda: logic.instantiate(assume(every(x, x > 0, x > 1), OJA), y, assume(y > 1, FLOW)),
            "cannot be used",
        ),
    },
    "witness": {
        "not satisfied": (lambda: logic.witness(some(x, x < y), y, assume(y - 1 < y)), "not shown"),
        "the guard is missing": (lambda: logic.witness(some(x, x < y, x > 0), t, assume(t < y)), "not shown"),
        "another sort": (lambda: logic.witness(some(m, m < y), t, assume(t < y)), "sort"),
    },
    "exists_elimination": {
        "the conclusion speaks of it": (
            lambda: logic.exists_elimination(assume(some(x, x < y)), assume(x < y)),
            "outside",
        ),
        "a hypothesis speaks of it": (
            lambda: logic.exists_elimination(
                assume(some(x, x < y)), kernel.modus_ponens(assume(Implication(claim_of(x > 3), P)), assume(x > 3))
            ),
            "outside",
        ),
        "nothing exists": (lambda: logic.exists_elimination(assume(P), assume(P)), "exists"),
    },
    "rewrite": {
        "no equation": (lambda: logic.rewrite(assume(x < y), assume(x > 0)), "equation"),
        "an equivalence": (lambda: logic.rewrite(assume(Equivalence(P, Q)), assume(P)), "equation"),
        "another system": (lambda: logic.rewrite(assume(eq(x, y), OJA), assume(x > 0, FLOW)), "cannot be used"),
    },
    "almost_everywhere": {
        "a hypothesis about the start": (
            lambda: logic.almost_everywhere(
                [assume(ForAlmostEvery(GOES)), books.argued(Implication(GOES, P), "so", None, assume(InHemisphere(V)))],
                P,
            ),
            "about the start",
        ),
        "another implication": (
            lambda: logic.almost_everywhere([assume(ForAlmostEvery(GOES)), logic.tautology([], Implication(P, P))], P),
            "does not lead",
        ),
        "every start is not asked": (
            lambda: logic.almost_everywhere([assume(GOES), logic.tautology([], Implication(GOES, GOES))], GOES),
            "comes first",
        ),
    },
    "enclosure": {
        "a false one": (lambda: numbers.enclosure(below(sp.sqrt(2), TENTH)), "it is false"),
        "a false one, the other way": (lambda: numbers.enclosure(sp.Ge(TENTH, sp.pi, evaluate=False)), "it is false"),
        "equal numbers": (
            lambda: numbers.enclosure(below(sp.sqrt(2) * sp.sqrt(3 - 2 * sp.sqrt(2)), 2 - sp.sqrt(2))),
            "apart",
        ),
        "numbers that are equal as they stand": (lambda: numbers.enclosure(below(sp.pi, sp.pi)), "apart"),
        "an equation": (lambda: numbers.enclosure(eq(sp.sqrt(2), sp.pi)), "balls decide inequalities"),
        "numbers nearer than the balls": (
            lambda: numbers.enclosure(below(sp.pi, sp.pi + sp.Rational(1, 10**700))),
            "apart",
        ),
        "a letter": (lambda: numbers.enclosure(below(-sp.exp(x), TENTH)), "without letters"),
        "a quantity": (lambda: numbers.enclosure(below(Eigenvalue(V, 1) - 1, TENTH)), "without letters"),
        "the logarithm of a negative number": (
            lambda: numbers.enclosure(below(sp.log(1 - sp.sqrt(2)), TENTH)),
            "apart",
        ),
        "the root of a negative number": (
            lambda: numbers.enclosure(below(sp.sqrt(1 - sp.sqrt(2)) * sp.I, TENTH)),
            "apart",
        ),
        "a quotient by zero": (lambda: numbers.enclosure(below(TENTH, 1 / (sp.exp(1) * NOTHING))), "apart"),
        "zero by zero": (lambda: numbers.enclosure(below(NOTHING / NOTHING**3, TENTH)), "apart"),
        "no number": (lambda: numbers.enclosure(below(TENTH, sp.oo)), "apart|without letters"),
        "a word": (lambda: numbers.enclosure(P), "balls decide inequalities"),
    },
    "arithmetic": {
        "what is false": (lambda: numbers.arithmetic([assume(x > 0)], x**2 > x), "does not follow"),
        "a missing hypothesis": (lambda: numbers.arithmetic([], x * y > 0), "does not follow"),
        "what needs integers": (lambda: numbers.arithmetic([assume(m > 1)], m >= 2), "does not follow"),
        "a binder": (lambda: numbers.arithmetic([assume(every(x, x > 0))], y > 0), "unfold"),
        "a word": (lambda: numbers.arithmetic([assume(P)], x**2 >= x**2 - 1), "unfold"),
    },
    "integers": {
        "what is false": (lambda: numbers.integers([assume(m > 1)], m >= 3), "does not follow"),
        "real letters": (lambda: numbers.integers([], sp.Or(x <= 0, x >= 1)), "integers"),
        "a fraction": (lambda: numbers.integers([], ge(m / 2, 0)), "polynomial"),
        "an eigenvalue": (lambda: numbers.integers([], ge(Eigenvalue(V, m), 0)), "integers"),
    },
    "identity": {
        "what differs": (lambda: numbers.identity(x**2, x), "not the same"),
        "what could be undefined": (lambda: numbers.identity((x**2 - 1) / (x - 1), x + 1), "does not follow"),
        "a root": (lambda: numbers.identity(2 * sp.sqrt(x), sp.sqrt(4 * x)), "does not follow"),
        "square and root": (lambda: numbers.identity(sp.sqrt(x**2), x), "not the same"),
    },
}
