"""Matrices, letters, propositions and proofs that the uses of the rules are made of (see ``test_kernel_rules``)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Index, Letter, dot, vector
from eigentoken.theory.kernel import books, logic, spectra, structure
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Exists,
    ForAll,
    Implication,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import (
    Converges,
)
from eigentoken.theory.language.conditions import (
    PositiveDefinite,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.places import ConsensusAt, ConsensusSet
from eigentoken.theory.language.terms import (
    Eigenvalue,
    alpha,
    matrix,
)
from eigentoken.theory.systems.catalogue import system

OJA, FLOW, ATTENTION = system("oja-map"), system("oja-flow"), system("attention-map")
V, W = matrix("V"), matrix("W")
x, y, t, s = sp.symbols("x y t s", real=True)
m = sp.Symbol("m", integer=True, nonnegative=True)
i, j = Index("token", "i"), Index("token", "j")
STATE = VectorLetter("x")
P, Q, R = (Atom(word) for word in (Symmetric(V), PositiveDefinite(V), SimpleTop(V)))
GOES = Atom(Converges(ConsensusSet()))
assume, claim_of = logic.assume, proposition


def ge(left: Any, right: Any) -> Any:
    return sp.Ge(left, right, evaluate=False)


def eq(left: Any, right: Any) -> Any:
    return sp.Eq(left, right, evaluate=False)


def every(letter: Any, body: Any, guard: Any = TRUE) -> ForAll:
    return ForAll(letter, proposition(guard), proposition(body))


def some(letter: Any, body: Any, guard: Any = TRUE) -> Exists:
    return Exists(letter, proposition(guard), proposition(body))


W_FORM, V_FORM = (dot(vector("a"), vector("b"), (Letter(name),)) for name in "WV")


def unit_product(first: str, second: str, at: Index = i) -> Any:
    return dot(vector(first, at), vector(second, at))


HEIGHT = Tensor(dot(vector("x", i), vector("w")))


def height(at: Any) -> Tensor:
    return HEIGHT.put({STATE: AtTime(at)})


def exits(at_start: Any = None, letter: sp.Symbol = t, claim: Any = None) -> tuple[Proved, Proved]:
    """Start and step of a first exit of the heights, assumed."""
    said = every(i, height(t) > 0) if claim is None else claim
    until = Conjunction((proposition(ge(s, 0)), proposition(s < t)))
    step = every(letter, Implication(ForAll(s, until, put(said, {t: s})), said), ge(letter, 0))
    start = put(said, {t: sp.Integer(0)}) if at_start is None else at_start
    return assume(start, FLOW), assume(step, FLOW)


POWER = sp.Ge(sp.Function("f")(m), m, evaluate=False)


def power_step() -> Proved:
    """``f(m) >= m => f(m+1) >= m + 1`` as a hypothesis: only the shape matters to the rule."""
    return assume(every(m, Implication(claim_of(POWER), put(claim_of(POWER), {m: m + 1})), ge(m, 1)))


THEOREM = books.Textbook(
    "test",
    "a theorem",
    {"X": sp.MatrixSymbol},
    lambda X: ((Symmetric(X), PositiveDefinite(X)), SimpleTop(X)),
    "Author, Title, chapter",
    "@book{}",
)


def stated(proved: Proved) -> Any:
    name = proved.system.name if proved.system else ""
    return SimpleNamespace(id="X", systems=(name,), conditions=(), claims=(), proofs={name: proved})


def recall(proved: Proved, about: Any, letters: Any, *premises: Proved) -> Proved:
    statement = stated(proved)
    return books.recall(statement, statement.proofs, about, letters, *premises)


def spectrum(about: Any = OJA, index: Any = 1) -> Proved:
    return spectra.spectrum(ConsensusAt(V, index), about)


ENERGY = oja_potential
RATE = Rate(expression_of(ENERGY))
LOSS = sp.Le(RATE, -2 * Tensor(structure.squared_speed(FLOW)), evaluate=False)
FIXED = 1 + alpha * Eigenvalue(V, 1) > 0
