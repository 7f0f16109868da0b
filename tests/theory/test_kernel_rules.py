"""Each rule of the kernel: what it gives, and what it refuses.  The tree is read for rules that are not listed here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from eigentoken.theory.calculus import Index, Letter, Norm, dot, factor, one, vector
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import books, dynamics, forms, instances, logic, spectra, structure, sums, words
from eigentoken.theory.kernel.kernel import accepted
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Negation,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import ALL_SIZES, Proved, Refused
from eigentoken.theory.kernel.sameness import same
from eigentoken.theory.kernel.tensors import AtTime, Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Converges,
    Decreases,
    Equilibrium,
    ForwardInvariant,
    SpectrumIs,
    Stable,
    TwoCycle,
    Unstable,
)
from eigentoken.theory.language.conditions import (
    BoundedInTime,
    Commute,
    InHemisphere,
    IsIdentity,
    NegativeDefinite,
    Nonsingular,
    PositiveDefinite,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.observables import Observable, oja_potential
from eigentoken.theory.language.observables_attention import pair_form, token_energy
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt, ConsensusSet, Hemisphere
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueModulus,
    EigenvalueRealPart,
    SpectralNorm,
    alpha,
    d,
    ell,
    k,
    matrix,
    n,
)
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Time
from tests.theory import (
    kernel_rules_of_matrices,
    kernel_rules_of_order,
    kernel_rules_of_places,
    kernel_rules_of_sums,
)

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "theory" / "kernel"

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

#: Rule -> a use of it, and what that must prove.
GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
    "assume": (lambda: assume(P), P),
    "discharge": (lambda: logic.discharge(P, assume(P)), Implication(P, P)),
    "modus_ponens": (lambda: logic.modus_ponens(assume(Implication(P, Q)), assume(P)), Q),
    "supply": (lambda: logic.supply(assume(P), logic.part(assume(Conjunction((P, Q))), P)), P),
    "conjunction": (lambda: logic.conjunction(assume(P), assume(Q)), Conjunction((P, Q))),
    "part": (lambda: logic.part(assume(Conjunction((P, Q, R))), Conjunction((R, P))), Conjunction((P, R))),
    "cases": (
        lambda: logic.cases(assume(Disjunction((P, Q))), assume(Implication(P, R)), assume(Implication(Q, R))),
        R,
    ),
    "iff": (lambda: logic.iff(assume(Implication(P, Q)), assume(Implication(Q, P))), Equivalence(P, Q)),
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
    "arithmetic": (lambda: numbers.arithmetic([assume(x > 1)], x**2 > x), x**2 > x),
    "integers": (lambda: numbers.integers([assume(m > 1)], m >= 2), m >= 2),
    "identity": (lambda: numbers.identity((x**2 - 1) / (x - 1), x + 1, assume(x > 1)), eq((x**2 - 1) / (x - 1), x + 1)),
    "reduction": (
        lambda: structure.reduction(unit_product("x", "x"), one(), OJA),
        eq(Tensor(unit_product("x", "x")), Tensor(one())),
    ),
    "increment": (
        lambda: structure.increment(unit_product("a", "b"), FLOW),
        eq(Rate(unit_product("a", "b")), Tensor(one() * 0)),
    ),
    "slope": (
        lambda: structure.slope(unit_product("x", "a"), OJA),
        eq(Slope(unit_product("x", "a")), Tensor(unit_product("w", "a"))),
    ),
    "summed": (
        lambda: structure.summed(assume(every(i, Tensor(unit_product("a", "b")) <= 3))),
        Tensor(unit_product("a", "b").summed(i)) <= Tensor(one() * 3 * n),
    ),
    "induction": (
        lambda: structure.induction(m, assume(put(claim_of(POWER), {m: sp.Integer(1)})), power_step(), 1),
        every(m, POWER, ge(m, 1)),
    ),
    "spectrum": (
        spectrum,
        SpectrumIs(
            ConsensusAt(V, 1),
            (
                (sp.factor((1 + alpha * Eigenvalue(V, ell)) / (1 + alpha * Eigenvalue(V, 1))), 1),
                (1 / (1 + alpha * Eigenvalue(V, 1)), (n - 1) * (d - 1)),
            ),
        ),
    ),
    "equilibrium": (
        lambda: spectra.equilibrium(ConsensusAt(V, 1), OJA),
        Equivalence(Atom(Equilibrium(ConsensusAt(V, 1))), claim_of(FIXED)),
    ),
    "two_cycle": (
        lambda: spectra.two_cycle(ConsensusAt(V, 1), OJA),
        Equivalence(Atom(TwoCycle(ConsensusAt(V, 1))), claim_of(1 + alpha * Eigenvalue(V, 1) < 0)),
    ),
    "respelled": (
        lambda: spectra.respelled(
            assume(SpectrumIs(ConsensusAt(V, 1), ((x + x * y, 1),)), OJA),
            SpectrumIs(ConsensusAt(V, 1), ((x * (1 + y), 1),)),
            numbers.identity(x + x * y, x * (1 + y)),
        ),
        SpectrumIs(ConsensusAt(V, 1), ((x * (1 + y), 1),)),
    ),
    "modulus": (
        lambda: words.modulus(V),
        ForAll(
            ell, words.index_range(ell), proposition(sp.Abs(EigenvalueRealPart(V, ell)) <= EigenvalueModulus(V, ell))
        ),
    ),
    "stability_of_any": (
        lambda: dynamics.stability_of_any(ConsensusAt(V, 1), FLOW),
        Equivalence(
            Atom(Stable(ConsensusAt(V, 1))),
            Conjunction(
                (
                    ForAll(
                        ell,
                        words.index_range(ell, 2),
                        proposition(EigenvalueRealPart(V, ell) - Eigenvalue(V, 1) < 0),
                    ),
                    Implication(claim_of((d - 1) * (n - 1) > 0), claim_of(-Eigenvalue(V, 1) < 0)),
                )
            ),
        ),
    ),
    "linear_stability": (
        lambda: dynamics.linear_stability(assume(SpectrumIs(ConsensusAt(V, 1), ((x, n - 1), (y, 1))), FLOW)),
        Equivalence(
            Atom(Stable(ConsensusAt(V, 1))),
            Conjunction((Implication(claim_of(n - 1 > 0), claim_of(x < 0)), claim_of(y < 0))),
        ),
    ),
    "linear_instability": (
        lambda: dynamics.linear_instability(assume(SpectrumIs(ConsensusAt(V, 1), ((x, n - 1), (y, 1))), OJA)),
        Equivalence(
            Atom(Unstable(ConsensusAt(V, 1))),
            Disjunction((Conjunction((claim_of(n - 1 > 0), claim_of(sp.Abs(x) > 1))), claim_of(sp.Abs(y) > 1))),
        ),
    ),
    "first_exit": (lambda: dynamics.first_exit(*exits()), every(t, every(i, height(t) > 0), ge(t, 0))),
    "monotone": (
        lambda: dynamics.monotone(ENERGY, books.argued(RATE <= 0, "let it be so", FLOW)),
        Decreases(ENERGY),
    ),
    "scaling": (
        lambda: structure.scaling(unit_product("a", "b"), x),
        eq(Tensor(unit_product("a", "b") * x), x * Tensor(unit_product("a", "b"))),
    ),
    "dissipates": (
        lambda: dynamics.dissipates(ENERGY, 2, books.argued(LOSS, "let it be so", FLOW)),
        Decreases(ENERGY, strict=True),
    ),
    "total": (
        lambda: structure.total(unit_product("a", "b"), unit_product("a", "w")),
        eq(
            Tensor(unit_product("a", "b") + unit_product("a", "w")),
            Tensor(unit_product("a", "b")) + Tensor(unit_product("a", "w")),
        ),
    ),
    "square": (
        lambda: structure.square(vector("x", i), i),
        ge(Tensor(dot(vector("x", i), vector("x", i)).summed(i)), 0),
    ),
    "antipodal_rest": (lambda: spectra.antipodal_rest(AntipodalAt("w"), OJA), Equilibrium(AntipodalAt("w"))),
    "meaning": (
        lambda: words.meaning(AlmostEveryConverges(ConsensusSet())),
        Equivalence(Atom(AlmostEveryConverges(ConsensusSet())), ForAlmostEvery(GOES)),
    ),
    "eigenvalue_order": (
        lambda: logic.instantiate(
            logic.instantiate(words.eigenvalue_order(V), sp.Integer(1), assume(sp.And(ge(1, 1), ge(d, 1)))),
            d,
            assume(sp.And(ge(d, 1), ge(d, d))),
        ),
        Eigenvalue(V, d) <= Eigenvalue(V, 1),
    ),
    "norm_of_symmetric": (
        lambda: logic.part(
            words.norm_of_symmetric(V), eq(SpectralNorm(V), sp.Max(sp.Abs(Eigenvalue(V, 1)), sp.Abs(Eigenvalue(V, d))))
        ),
        eq(SpectralNorm(V), sp.Max(sp.Abs(Eigenvalue(V, 1)), sp.Abs(Eigenvalue(V, d)))),
    ),
    "equal_indices": (
        lambda: words.equal_indices(assume(eq(k, 1)), Eigenvalue(V, k)),
        eq(Eigenvalue(V, k), Eigenvalue(V, 1)),
    ),
    "textbook": (lambda: books.textbook(THEOREM, (assume(Conjunction((P, Q))),), None, X=V), R),
    "recall": (
        lambda: recall(numbers.arithmetic([assume(x > 0)], x + 1 > 1), None, {x: 2 * y}, assume(2 * y > 0)),
        2 * y + 1 > 1,
    ),
    "argued": (lambda: books.argued(P, "it is seen", None, assume(Q)), P),
}

#: Rule -> uses that must be refused, and what the answer says.
REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "assume": {"no proposition": (lambda: assume(sp.Symbol("x")), "made of words")},
    "discharge": {"what is no proposition": (lambda: logic.discharge(x + 1, assume(P)), "made of words")},
    "modus_ponens": {
        "another premise": (lambda: logic.modus_ponens(assume(Implication(P, Q)), assume(R)), "not what"),
        "backwards": (lambda: logic.modus_ponens(assume(Implication(P, Q)), assume(Q)), "not what"),
        "no implication": (lambda: logic.modus_ponens(assume(P), assume(P)), "needs an implication"),
        "another system": (
            lambda: logic.modus_ponens(assume(Implication(P, Q), OJA), assume(P, FLOW)),
            "cannot be used",
        ),
    },
    "supply": {"another system": (lambda: logic.supply(assume(P, OJA), assume(P, FLOW)), "cannot be used")},
    "conjunction": {"another system": (lambda: logic.conjunction(assume(P, OJA), assume(Q, FLOW)), "cannot be used")},
    "part": {
        "no part": (lambda: logic.part(assume(Conjunction((P, Q))), R), "no part"),
        "one of them is none": (lambda: logic.part(assume(Conjunction((P, Q))), Conjunction((P, R))), "no part"),
        "a part of a disjunction": (lambda: logic.part(assume(Disjunction((P, Q))), P), "no part"),
    },
    "cases": {
        "a case without a branch": (
            lambda: logic.cases(assume(Disjunction((P, Q))), assume(Implication(P, R))),
            "1 of 2 cases",
        ),
        "branches that differ": (
            lambda: logic.cases(assume(Disjunction((P, Q))), assume(Implication(P, R)), assume(Implication(Q, P))),
            "same",
        ),
        "no disjunction": (lambda: logic.cases(assume(P), assume(Implication(P, R))), "disjunction"),
        "a branch that is none": (lambda: logic.cases(assume(Disjunction((P,))), assume(R)), "implication"),
    },
    "iff": {
        "not the converse": (lambda: logic.iff(assume(Implication(P, Q)), assume(Implication(R, P))), "converse"),
        "no implication": (lambda: logic.iff(assume(Implication(P, Q)), assume(P)), "two implications"),
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
        "too much": (
            lambda: logic.tautology([], Disjunction(tuple(claim_of(x > each) for each in range(15)))),
            "too many",
        ),
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
                assume(some(x, x < y)), logic.modus_ponens(assume(Implication(claim_of(x > 3), P)), assume(x > 3))
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
    "reduction": {
        "the sum of the heads is not the identity": (
            lambda: structure.reduction(
                dot(vector("z"), vector("z"), (Letter("U"),)),
                dot(vector("z"), vector("z")),
                system("ellipsoid-multihead-flow"),
                assume(IsIdentity(matrix("U"))),
            ),
            "sum of the heads",
        ),
        "what differs": (lambda: structure.reduction(unit_product("x", "a"), one(), OJA), "remain"),
        "unit tokens without a system": (lambda: structure.reduction(unit_product("x", "x"), one(), None), "remain"),
        "unit tokens in Euclidean space": (
            lambda: structure.reduction(unit_product("x", "x"), one(), system("token-flow")),
            "remain",
        ),
        "symmetry that is not proved": (
            lambda: structure.reduction(
                dot(vector("a"), vector("b"), (Letter("V"),)), dot(vector("b"), vector("a"), (Letter("V"),)), None
            ),
            "remain",
        ),
        "another premise": (lambda: structure.reduction(one(), one(), None, assume(Q)), "symmetry"),
        "another multiple": (
            lambda: structure.reduction(W_FORM, V_FORM * (2 * x), None, assume(eq(W, x * V))),
            "remain",
        ),
        "a multiple that is not proved": (lambda: structure.reduction(W_FORM, V_FORM * x, None), "remain"),
        "a multiple of the sum of the heads": (
            lambda: structure.reduction(one(), one(), system("multihead-map"), assume(eq(W, x * matrix("F")))),
            "each head",
        ),
        "a multiple of a matrix that is one of it": (
            lambda: structure.reduction(W_FORM, V_FORM, None, assume(eq(W, x * V)), assume(eq(V, y * W))),
            "already",
        ),
        "a chain of multiples": (
            lambda: structure.reduction(W_FORM, V_FORM, None, assume(eq(V, y * matrix("M"))), assume(eq(W, x * V))),
            "already",
        ),
        "a multiple by what may be imaginary": (
            lambda: structure.reduction(W_FORM, V_FORM, None, assume(eq(W, sp.Symbol("c") * V))),
            "symmetry|real",
        ),
    },
    "increment": {
        "a vector of the map": (lambda: structure.increment(unit_product("y", "a"), OJA), "functions of the state"),
        "an equation of its own": (
            lambda: structure.increment(unit_product("x", "a"), system("rotary-flow")),
            "not linearized",
        ),
    },
    "slope": {
        "a vector of another map": (lambda: structure.slope(unit_product("y2", "a"), OJA), "does not define"),
        "a flow has no vectors of its own": (lambda: structure.slope(unit_product("y", "a"), FLOW), "does not define"),
        "the direction in the quantity": (lambda: structure.slope(unit_product("x", "w"), OJA), "another letter"),
        "along the state": (lambda: structure.slope(unit_product("x", "a"), OJA, "x"), "no direction"),
        "at another state": (
            lambda: put(
                structure.slope(unit_product("x", "a"), OJA).proposition, {VectorLetter("x"): VectorLetter("b")}
            ),
            "has its own",
        ),
        "along what moves": (
            lambda: put(structure.slope(unit_product("x", "a"), OJA).proposition, {VectorLetter("w"): vector("x", i)}),
            "another letter only",
        ),
        "a constant that becomes the state": (
            lambda: put(
                structure.slope(unit_product("x", "a"), OJA).proposition, {VectorLetter("a"): VectorLetter("x")}
            ),
            "constant",
        ),
    },
    "summed": {
        "a strict inequality": (lambda: structure.summed(assume(every(i, HEIGHT < 1))), "not strict"),
        "a guard": (lambda: structure.summed(assume(every(i, HEIGHT <= 1, x > 0))), "without a guard"),
        "one token": (lambda: structure.summed(assume(HEIGHT <= 1)), "every index"),
        "a product": (lambda: structure.summed(assume(every(i, HEIGHT**2 <= 1))), "not linear"),
        "a time": (lambda: structure.summed(assume(every(i, height(t) <= 1))), "not linear"),
        "a quotient": (lambda: structure.summed(assume(every(i, 1 / HEIGHT <= 1))), "not linear"),
        "a number": (lambda: structure.summed(assume(every(x, x <= 1))), "every index"),
    },
    "induction": {
        "another base": (
            lambda: structure.induction(m, assume(put(claim_of(POWER), {m: sp.Integer(2)})), power_step(), 1),
            "base",
        ),
        "another start": (
            lambda: structure.induction(m, assume(put(claim_of(POWER), {m: sp.Integer(2)})), power_step(), 2),
            "guard",
        ),
        "two steps at once": (
            lambda: structure.induction(
                m,
                assume(put(claim_of(POWER), {m: sp.Integer(1)})),
                assume(every(m, Implication(claim_of(POWER), put(claim_of(POWER), {m: m + 2})), ge(m, 1))),
                1,
            ),
            "does not lead",
        ),
        "a real letter": (
            lambda: structure.induction(x, assume(TRUE), assume(every(x, Implication(TRUE, TRUE), ge(x, 0))), 0),
            "integer letter",
        ),
    },
    "spectrum": {
        "another matrix": (lambda: spectra.spectrum(ConsensusAt(W, 1), OJA), "value matrix"),
        "another place": (lambda: spectra.spectrum(AntipodalAt(), OJA), "value matrix"),
        "another space": (lambda: spectra.spectrum(ConsensusAt(matrix("B"), 1), system("token-flow")), "no spectrum"),
        "several heads, two groups": (
            lambda: spectra.spectrum(BipartiteAt(matrix("F"), 1), system("multihead-map")),
            "several heads",
        ),
        "the letter of the classes": (lambda: spectra.spectrum(ConsensusAt(V, ell), OJA), "ell"),
    },
    "equilibrium": {"another matrix": (lambda: spectra.equilibrium(ConsensusAt(W, 1), OJA), "value matrix")},
    "two_cycle": {"a flow": (lambda: spectra.two_cycle(ConsensusAt(V, 1), FLOW), "no 2-cycles")},
    "respelled": {
        "an equation is missing": (
            lambda: spectra.respelled(spectrum(), SpectrumIs(ConsensusAt(V, 1), ((x, 1), (y, 1)))),
            "ell|not proved",
        ),
        "another place": (
            lambda: spectra.respelled(spectrum(), SpectrumIs(ConsensusAt(V, 2), spectrum().proposition.word.classes)),
            "another place",
        ),
        "another number": (
            lambda: spectra.respelled(
                spectrum(), SpectrumIs(ConsensusAt(V, 1), spectrum().proposition.word.classes[:1])
            ),
            "number of classes",
        ),
        "another multiplicity": (
            lambda: spectra.respelled(
                assume(SpectrumIs(ConsensusAt(V, 1), ((x, n),)), OJA), SpectrumIs(ConsensusAt(V, 1), ((x, n - 1),))
            ),
            "not proved",
        ),
        "no spectrum": (lambda: spectra.respelled(assume(P), SpectrumIs(ConsensusAt(V, 1), ())), "proved spectrum"),
    },
    "modulus": {"no square matrix": (lambda: words.modulus(sp.Symbol("a")), "d x d matrix")},
    "stability_of_any": {
        "another eigenvector": (lambda: dynamics.stability_of_any(ConsensusAt(V, 2), OJA), "first eigenvector"),
        "a split": (lambda: dynamics.stability_of_any(BipartiteAt(V, 1), OJA), "first eigenvector"),
        "a matrix of no system": (lambda: dynamics.stability_of_any(ConsensusAt(matrix("B"), 1), OJA), "value matrix"),
        "a mask that is not causal": (
            lambda: dynamics.stability_of_any(
                ConsensusAt(V, 1), replace(system("attention-map"), name="windowed", mask="window")
            ),
            "no spectrum",
        ),
    },
    "linear_stability": {
        "a root that could be complex": (
            lambda: dynamics.linear_stability(assume(SpectrumIs(ConsensusAt(V, 1), ((sp.sqrt(x), 1),)), OJA)),
            "complex",
        ),
        "no system": (lambda: dynamics.linear_stability(assume(SpectrumIs(ConsensusAt(V, 1), ((x, 1),)))), "system"),
        "no spectrum": (lambda: dynamics.linear_stability(assume(P, OJA)), "proved spectrum"),
    },
    "linear_instability": {
        "a root that could be complex": (
            lambda: dynamics.linear_instability(assume(SpectrumIs(ConsensusAt(V, 1), ((sp.sqrt(x), 1),)), OJA)),
            "complex",
        ),
        "no spectrum": (lambda: dynamics.linear_instability(assume(P, OJA)), "proved spectrum"),
    },
    "first_exit": {
        "another start": (lambda: dynamics.first_exit(*exits(at_start=claim_of(HEIGHT > 0))), "same P"),
        "not strict": (lambda: dynamics.first_exit(*exits(claim=every(i, height(t) >= 0))), "strict"),
        "no step": (lambda: dynamics.first_exit(assume(P, FLOW), assume(Q, FLOW)), "step must be"),
    },
    "monotone": {
        "another rate": (
            lambda: dynamics.monotone(ENERGY, books.argued(Rate(unit_product("x", "a")) <= 0, "so", FLOW)),
            "sign of the rate",
        ),
        "a hypothesis about the state": (
            lambda: dynamics.monotone(ENERGY, assume(RATE <= 0, FLOW)),
            "hypothesis about the state",
        ),
        "no system": (
            lambda: dynamics.monotone(ENERGY, books.argued(RATE <= 0, "so", None)),
            "of a system",
        ),
        "no expression": (
            lambda: dynamics.monotone(Observable("E", "E", lambda *_: 0), assume(P, FLOW)),
            "no expression",
        ),
    },
    "scaling": {"a scale that is no number": (lambda: structure.scaling(one(), HEIGHT), "must be a number")},
    "dissipates": {
        "another scale": (lambda: dynamics.dissipates(ENERGY, 3, books.argued(LOSS, "so", FLOW)), "not bounded"),
        "a scale with a sign": (lambda: dynamics.dissipates(ENERGY, x, books.argued(LOSS, "so", FLOW)), "positive"),
        "another number is positive": (
            lambda: dynamics.dissipates(ENERGY, x, books.argued(LOSS, "so", FLOW), assume(y > 0)),
            "positive",
        ),
        "a scale that depends on the state": (
            lambda: dynamics.dissipates(ENERGY, HEIGHT, books.argued(LOSS, "so", FLOW), assume(HEIGHT > 0)),
            "one number",
        ),
        "a hypothesis about the state": (lambda: dynamics.dissipates(ENERGY, 2, assume(LOSS, FLOW)), "at every state"),
        "the speed of another system": (
            lambda: dynamics.dissipates(ENERGY, 2, books.argued(LOSS, "so", system("attention-flow"))),
            "not bounded",
        ),
        "no system": (lambda: dynamics.dissipates(ENERGY, 2, books.argued(LOSS, "so", None)), "of a system"),
    },
    "total": {"one part": (lambda: structure.total(unit_product("a", "b")), "two parts")},
    "square": {
        "a scalar": (lambda: structure.square(unit_product("a", "b"), i), "a vector has a square"),
        "an imaginary vector": (lambda: structure.square(vector("a") * sp.I), "not known to be real"),
        "an unknown number": (lambda: structure.square(vector("a") * sp.Symbol("z")), "not known to be real"),
    },
    "antipodal_rest": {
        "weights that are not equal": (
            lambda: spectra.antipodal_rest(AntipodalAt("w"), system("attention-map")),
            "does not weigh all tokens equally",
        ),
        "a mask": (lambda: spectra.antipodal_rest(AntipodalAt("w"), system("causal-flow")), "does not weigh"),
    },
    "meaning": {
        "a word without one": (lambda: words.meaning(Commute(V, W)), "no meaning"),
        "a flow's word for a map": (lambda: words.meaning(Converges(ConsensusSet()), OJA), "of a flow"),
        "another place": (lambda: words.meaning(Converges(ConsensusAt(V, 2)), FLOW), "no meaning"),
        "another region": (lambda: words.meaning(ForwardInvariant(ConsensusSet()), FLOW), "no meaning"),
        "the eigenvector of a sum": (lambda: words.meaning(InHemisphere(V + W), FLOW), "must be a letter"),
    },
    "eigenvalue_order": {"another size": (lambda: words.eigenvalue_order(sp.MatrixSymbol("A", 2, 2)), "d x d")},
    "norm_of_symmetric": {"another size": (lambda: words.norm_of_symmetric(sp.MatrixSymbol("A", 2, 2)), "d x d")},
    "equal_indices": {
        "another index": (lambda: words.equal_indices(assume(eq(m, 1)), Eigenvalue(V, k)), "left one"),
        "no equation": (lambda: words.equal_indices(assume(k < 1 + m), Eigenvalue(V, k)), "equation"),
    },
    "textbook": {
        "a hypothesis is missing": (lambda: books.textbook(THEOREM, (assume(P),), None, X=V), "needs"),
        "a theorem about flows, for a map": (
            lambda: books.textbook(replace(THEOREM, time=Time.FLOW), (assume(P), assume(Q)), OJA, X=V),
            "about a flow",
        ),
        "a theorem about trajectories, at one state": (
            lambda: books.textbook(
                replace(THEOREM, time=Time.FLOW),
                (logic.modus_ponens(assume(Implication(claim_of(HEIGHT > 0), P)), assume(HEIGHT > 0)), assume(Q)),
                FLOW,
                X=V,
            ),
            "at every state",
        ),
        "a theorem about flows, for nothing": (
            lambda: books.textbook(replace(THEOREM, time=Time.FLOW), (assume(P), assume(Q)), None, X=V),
            "about a flow",
        ),
        "of another matrix": (lambda: books.textbook(THEOREM, (assume(P), assume(Q)), None, X=W), "needs"),
        "a letter of another kind": (lambda: books.textbook(THEOREM, (assume(P), assume(Q)), None, X=x), "must be"),
        "a letter too many": (
            lambda: books.textbook(THEOREM, (assume(P), assume(Q)), None, X=V, Y=W),
            "has the letters",
        ),
        "two systems": (
            lambda: books.textbook(THEOREM, (assume(P, OJA), assume(Q, FLOW)), None, X=V),
            "cannot be used",
        ),
    },
    "recall": {
        "a condition is missing": (lambda: recall(assume(P), None, {}), "needs"),
        "another system": (lambda: recall(logic.discharge(P, assume(P, OJA)), FLOW, {}), "does not contain"),
        "the larger system": (lambda: recall(logic.discharge(P, assume(P, OJA)), ATTENTION, {}), "does not contain"),
        "no system here": (lambda: recall(logic.discharge(P, assume(P, OJA)), None, {}), "no system"),
        "no proof": (lambda: books.recall(stated(assume(P)), {}, OJA, {}), "no proof"),
        "a parameter renamed": (
            lambda: recall(logic.discharge(GOES, assume(GOES, OJA)), OJA, {V: W}),
            "belongs to the system",
        ),
    },
    "argued": {"no words": (lambda: books.argued(P, "  ", None), "words")},
}


for _room in (kernel_rules_of_sums, kernel_rules_of_matrices, kernel_rules_of_order, kernel_rules_of_places):
    GIVES |= _room.GIVES
    REFUSES |= _room.REFUSES
for _rule, _uses in kernel_rules_of_matrices.FURTHER.items():
    REFUSES[_rule] = REFUSES[_rule] | _uses


@pytest.mark.parametrize("rule", GIVES)
def test_a_rule_gives_what_it_should(rule: str) -> None:
    use, expected = GIVES[rule]
    proved = use()
    assert same(proved.proposition, proposition(expected))
    assert any(each.rule == rule for each in proved.tree())
    assert proved.sizes == ALL_SIZES


@pytest.mark.parametrize(("rule", "what"), [(rule, what) for rule, uses in REFUSES.items() for what in uses])
def test_a_rule_refuses(rule: str, what: str) -> None:
    use, words_ = REFUSES[rule][what]
    with pytest.raises((Refused, TypeError, ValueError), match=words_):
        use()


def test_a_matrix_that_is_a_multiple_of_another_is_written_in_it() -> None:
    found = structure.reduction(W_FORM, V_FORM * x, None, assume(eq(W, x * V)))
    assert same(found.proposition, claim_of(eq(Tensor(W_FORM), Tensor(V_FORM * x))))
    assert found.hypotheses


def test_hypotheses_are_kept_and_dropped_as_they_should() -> None:
    assert logic.discharge(P, logic.conjunction(assume(P), assume(Q))).hypotheses == (Q,)
    assert logic.discharge(Conjunction((P, Q)), logic.conjunction(assume(P), assume(Q))).hypotheses == ()
    assert logic.conjunction(assume(Conjunction((P, Q)))).hypotheses == (P, Q)
    given = logic.modus_ponens(assume(Implication(R, P)), assume(R))
    assert set(logic.supply(logic.conjunction(assume(P), assume(Q)), given).hypotheses) == {Q, R, Implication(R, P)}
    assert logic.generalise(x, assume(x > 1), x > 1).hypotheses == ()
    assert set(spectrum(index=k).hypotheses) == {P, claim_of(k <= d), claim_of(1 + alpha * Eigenvalue(V, k) > 0)}
    assert logic.conjunction(assume(P), assume(Q, OJA)).system == OJA


def test_an_observable_with_a_letter_of_its_own_keeps_its_definition() -> None:
    tokens = system("token-flow")
    falls = dynamics.monotone(token_energy, books.argued(Rate(expression_of(token_energy)) <= 0, "so", tokens))
    quotient = eq(matrix("A") * matrix("B"), matrix("W"))
    assert {claim_of(quotient), claim_of(Nonsingular(matrix("B")))} <= set(falls.hypotheses)
    rises = dynamics.monotone(pair_form, books.argued(ge(Rate(expression_of(pair_form)), 0), "so", tokens))
    assert claim_of(ge(n, 2)) in rises.hypotheses


def test_an_exact_matrix_has_a_word_or_its_negation() -> None:
    turn = sp.ImmutableMatrix([[1, 2], [-2, 1]])
    saddle = sp.ImmutableMatrix([[1, sp.sqrt(3)], [sp.sqrt(3), 1]])
    not_symmetric = instances.exact_matrix(Symmetric(turn)).proposition
    assert same(not_symmetric, Negation(Atom(Symmetric(turn))))
    assert same(instances.exact_matrix(Symmetric(saddle)).proposition, Atom(Symmetric(saddle)))
    for word in (PositiveDefinite(saddle), NegativeDefinite(saddle)):
        assert same(instances.exact_matrix(word).proposition, Negation(Atom(word)))
    product = eq(sp.MatMul(turn, turn, evaluate=False), sp.ImmutableMatrix(turn * turn))
    assert same(instances.exact_matrix(product).proposition, claim_of(product))
    wrong = eq(sp.MatMul(turn, turn, evaluate=False), turn)
    assert same(instances.exact_matrix(wrong).proposition, Negation(claim_of(wrong)))


def test_nonsingular_says_that_nothing_is_sent_to_zero() -> None:
    z = vector("z")
    image = sp.Gt(Tensor(dot(z.applied((Letter("V"),)), z.applied((Letter("V"),)))), 0, evaluate=False)
    guard = sp.Gt(Tensor(dot(z, z)), 0, evaluate=False)
    found = forms.as_form(Nonsingular(V)).proposition
    assert same(found, Equivalence(Atom(Nonsingular(V)), every(VectorLetter("z"), image, guard)))


def test_a_half_space_is_that_of_a_simple_top_eigenvalue() -> None:
    found = words.half_space(ForwardInvariant(Hemisphere(V)), FLOW)
    assert found.hypotheses == (R,)
    assert isinstance(found.proposition.right, ForAll)
    other = words.half_space(InHemisphere(V))
    assert not same(other.proposition.right, words.half_space(InHemisphere(V, left=True)).proposition.right)


def test_quotients_and_inverses_that_are_known_to_exist_are_values() -> None:
    taken = logic.instantiate(assume(every(x, x**2 > -1)), 1 / y, assume(sp.Ne(y, 0)))
    assert claim_of(sp.Ne(y, 0)) in taken.hypotheses
    inverse = logic.instantiate(assume(every(V, Symmetric(V))), W.inv(), assume(Nonsingular(W)))
    assert same(inverse.proposition, Atom(Symmetric(W.inv())))


def test_a_theorem_about_matrices_that_do_not_move_is_not_used_where_they_do() -> None:
    found = books.textbook(kernel_rules_of_matrices.AUTONOMOUS, (), FLOW, X=W)
    assert accepted(found, (), (found.proposition,), FLOW).is_holds
    assert accepted(found, (claim_of(BoundedInTime("V")),), (found.proposition,), FLOW).is_fails


def test_a_family_that_is_not_the_state_is_replaced_beside_norms() -> None:
    length, family = factor(Norm("r", (i,))), vector("w", i)
    given = kernel_rules_of_sums.consensus("w")
    found = sums.congruent((length * dot(family, family)).summed(i), "w", vector("b"), i, given)
    expected = (length * dot(vector("b"), vector("b"))).summed(i)
    assert found.proposition.word.relation.rhs == Tensor(expected)


def test_a_quantity_is_no_function_of_the_state_where_a_matrix_moves() -> None:
    found = kernel_rules_of_sums.GIVES["same_state"][0]()
    given = found.hypotheses
    assert accepted(found, given, [found.proposition], found.system).is_holds
    moving = (*given, claim_of(BoundedInTime("V")))
    assert "depends on time" in accepted(found, moving, [found.proposition], found.system).reason


def test_a_bound_letter_is_renamed_before_it_captures() -> None:
    taken = logic.instantiate(assume(every(x, some(y, y > x))), y)
    assert same(taken.proposition, some(t, t > y))
    assert not same(taken.proposition, some(y, sp.Gt(y, y, evaluate=False)))
    kept = logic.rewrite(assume(eq(x, 1)), assume(every(x, x > y)))
    assert same(kept.proposition, every(x, x > y))
    into = logic.rewrite(assume(eq(y, x)), assume(every(x, x**2 + y > 0)))
    assert same(into.proposition, every(x, x**2 + y > 0))


def test_words_print_and_carry_nothing() -> None:
    told = assume(P).said("V is symmetric")
    assert (told.proposition, told.hypotheses, told.caption) == (P, (P,), "V is symmetric")


# -- the tree of the project -----------------------------------------------------------------------------------------------


def files() -> Iterator[Path]:
    for room in ("theory", "numerics", "models", "proofs", "src", "tests", "tools", "benchmarks", "examples", "docs"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                yield path


def calls(tree: ast.AST) -> set[str]:
    """The functions (``Class.name`` for methods) in which ``prove`` is called."""
    found: set[str] = set()

    def walk(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            here = f"{inside}.{child.name}".strip(".") if named else inside  # type: ignore[attr-defined]
            if isinstance(child, ast.Call) and getattr(child.func, "id", getattr(child.func, "attr", "")) == "prove":
                found.add(inside)
            walk(child, here)

    walk(tree, "")
    return found


def test_every_function_that_proves_is_a_rule_of_the_list() -> None:
    found: dict[str, str] = {}
    for path in sorted(KERNEL.glob("*.py")):
        for name in calls(ast.parse(path.read_text(encoding="utf-8"))):
            found[name] = path.name
    assert found.pop("Proved.said") == "proved.py"
    assert set(found) == set(GIVES) == set(REFUSES)
    assert all(REFUSES.values())


def test_a_rule_signs_with_its_own_name() -> None:
    for path in sorted(KERNEL.glob("*.py")):
        for function in (
            each for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(each, ast.FunctionDef)
        ):
            for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
                if getattr(call.func, "id", "") == "prove" and function.name != "said":
                    assert isinstance(call.args[1], ast.Constant)
                    assert call.args[1].value == function.name


def reached(tree: ast.AST) -> set[str]:
    """What a module takes of the private part of the kernel."""
    private, modules, found = {"prove", "_KEY"}, set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("eigentoken.theory.kernel"):
            found |= {each.name for each in node.names} & private
            modules |= {each.asname or each.name for each in node.names}
        if isinstance(node, ast.Import):
            modules |= {each.asname for each in node.names if each.asname and "theory.kernel" in each.name}
            found |= {each.name for each in node.names if "theory.kernel" in each.name and not each.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in private:
            inner = node.value
            if node.attr == "_KEY" or (isinstance(inner, ast.Name) and inner.id in modules):
                found.add(node.attr)
        if isinstance(node, ast.Name) and node.id == "_KEY":
            found.add(node.id)
        if isinstance(node, ast.Constant) and node.value in ("_KEY", "eigentoken.theory.kernel.proved"):
            found.add(str(node.value))
    return found


def test_nothing_outside_the_kernel_proves() -> None:
    looked = [path for path in files() if KERNEL not in path.parents and path != Path(__file__).resolve()]
    assert len(looked) > 500
    for path in looked:
        text = path.read_text(encoding="utf-8")
        if "_KEY" in text or "theory.kernel" in text:
            assert not reached(ast.parse(text)), path.relative_to(ROOT)


@pytest.mark.parametrize(
    "text",
    [
        "from eigentoken.theory.kernel.proved import prove",
        "from eigentoken.theory.kernel.logic import prove as p",
        "from eigentoken.theory.kernel import logic as l\nl.prove(1)",
        "import eigentoken.theory.kernel.proved",
        "import eigentoken.theory.kernel.proved as p\np.prove(1)",
        "from eigentoken.theory.kernel import proved\nkey = proved._KEY",
        "getattr(proved, '_KEY')",
        "importlib.import_module('eigentoken.theory.kernel.proved')",
    ],
)
def test_the_reader_of_the_tree_sees_it(text: str) -> None:
    assert reached(ast.parse(text))
