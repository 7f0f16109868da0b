"""Uses of the rules of dynamics, of words and of books: what they give, and what they refuse (see ``test_kernel_rules``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import dot, one, vector
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import books, dynamics, kernel, logic, quantities, spectra, structure, words
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    ForAll,
    ForAlmostEvery,
    Implication,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    Converges,
    Decreases,
    Equilibrium,
    ForwardInvariant,
    SpectrumIs,
    Stable,
    Unstable,
)
from eigentoken.theory.language.conditions import (
    Commute,
    InHemisphere,
)
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt, ConsensusSet
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueModulus,
    EigenvalueRealPart,
    SpectralNorm,
    d,
    ell,
    k,
    matrix,
    n,
)
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Time
from tests.theory.kernel_rules_objects import (
    ATTENTION,
    ENERGY,
    FLOW,
    GOES,
    HEIGHT,
    LOSS,
    OJA,
    RATE,
    THEOREM,
    P,
    Q,
    R,
    V,
    W,
    assume,
    claim_of,
    eq,
    every,
    exits,
    ge,
    height,
    i,
    m,
    recall,
    stated,
    t,
    unit_product,
    x,
    y,
)

GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
    "modulus": (
        lambda: words.modulus(V),
        ForAll(
            ell, words.index_range(ell), proposition(sp.Abs(EigenvalueRealPart(V, ell)) <= EigenvalueModulus(V, ell))
        ),
    ),
    "real_parts_below": (
        lambda: words.real_parts_below(V),
        ForAll(ell, words.index_range(ell, 2), proposition(EigenvalueRealPart(V, ell) < Eigenvalue(V, 1))),
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
        lambda: quantities.scaling(unit_product("a", "b"), x),
        eq(Tensor(unit_product("a", "b") * x), x * Tensor(unit_product("a", "b"))),
    ),
    "dissipates": (
        lambda: dynamics.dissipates(ENERGY, 2, books.argued(LOSS, "let it be so", FLOW)),
        Decreases(ENERGY, strict=True),
    ),
    "total": (
        lambda: quantities.total(unit_product("a", "b"), unit_product("a", "w")),
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
        lambda: kernel.part(
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

REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
    "modulus": {"no square matrix": (lambda: words.modulus(sp.Symbol("a")), "d x d matrix")},
    "real_parts_below": {
        "no square matrix": (lambda: words.real_parts_below(sp.Symbol("a")), "d x d matrix"),
        "the letter of the index": (lambda: words.real_parts_below(ell * V), "does not speak"),
    },
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
    "scaling": {"a scale that is no number": (lambda: quantities.scaling(one(), HEIGHT), "must be a number")},
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
    "total": {"one part": (lambda: quantities.total(unit_product("a", "b")), "two parts")},
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
        "a multiple of another matrix": (lambda: words.meaning(MultipleOf(V, W)), "no meaning"),
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
                (kernel.modus_ponens(assume(Implication(claim_of(HEIGHT > 0), P)), assume(HEIGHT > 0)), assume(Q)),
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
        "a proof kept under the name of another system": (
            lambda: books.recall(stated(assume(P)), {"oja-map": logic.discharge(P, assume(P, FLOW))}, OJA, {}),
            "is about",
        ),
        "a proof about a system, kept as one about none": (
            lambda: books.recall(stated(assume(P)), {"": logic.discharge(P, assume(P, FLOW))}, OJA, {}),
            "is about",
        ),
        "a proof about another system of the same name": (
            lambda: recall(logic.discharge(P, assume(P, replace(FLOW, name=OJA.name))), OJA, {}),
            "is about",
        ),
        "here another system of the same name": (
            lambda: recall(logic.discharge(P, assume(P, OJA)), replace(FLOW, name=OJA.name), {}),
            "another one",
        ),
        "no proof": (lambda: books.recall(stated(assume(P)), {}, OJA, {}), "no proof"),
        "a parameter renamed": (
            lambda: recall(logic.discharge(GOES, assume(GOES, OJA)), OJA, {V: W}),
            "belongs to the system",
        ),
    },
    "argued": {"no words": (lambda: books.argued(P, "  ", None), "words")},
}
