"""Uses of the rules about many tokens and about spectra: what they give, and what they refuse (see ``test_kernel_rules``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Letter, dot, one, vector
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import spectra, structure
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Equivalence,
    Implication,
    put,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.claims import (
    Equilibrium,
    SpectrumIs,
    TwoCycle,
)
from eigentoken.theory.language.conditions import (
    IsIdentity,
)
from eigentoken.theory.language.places import AntipodalAt, BipartiteAt, ConsensusAt
from eigentoken.theory.language.terms import (
    Eigenvalue,
    alpha,
    d,
    ell,
    matrix,
    n,
)
from eigentoken.theory.systems.catalogue import system
from tests.theory.kernel_rules_objects import (
    FIXED,
    FLOW,
    HEIGHT,
    OJA,
    POWER,
    V_FORM,
    W_FORM,
    P,
    Q,
    V,
    W,
    assume,
    claim_of,
    eq,
    every,
    ge,
    height,
    i,
    m,
    power_step,
    spectrum,
    t,
    unit_product,
    x,
    y,
)

GIVES: dict[str, tuple[Callable[[], Proved], Any]] = {
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
}

REFUSES: dict[str, dict[str, tuple[Callable[[], Any], str]]] = {
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
        "a root": (lambda: structure.summed(assume(every(i, sp.sqrt(HEIGHT) <= 1))), "not made of quantities"),
        "a time": (lambda: structure.summed(assume(every(i, height(t) <= 1))), "not made of quantities"),
        "a quotient": (lambda: structure.summed(assume(every(i, 1 / HEIGHT <= 1))), "name the quotient"),
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
}
