"""Stability as conditions: from a derived spectrum to a closed form, with a checked proof that the two are equivalent.

A :class:`Criterion` says: under the hypotheses, the point is linearly asymptotically stable if and only if the
condition holds.  Its proof is a list of small lemmas; each is an identity (normal form of rational and hyperbolic
functions) or a statement of real arithmetic (z3), built from the entries of the derived spectrum, so that a wrong
spectrum or a wrong closed form makes a lemma fail.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import ALPHA, DIMENSION, TOKENS
from eigentoken.theory.linearization.consensus_spectra import (
    KAPPA,
    LAMBDA_K,
    LAMBDA_L,
    TOKEN,
    consensus_spectrum,
    tidy,
)
from eigentoken.theory.linearization.criterion import Criterion, Equality
from eigentoken.theory.linearization.spectrum import Entry, Spectrum
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.system import System, Time

__all__ = [
    "consensus_criterion",
    "consensus_set_criterion",
    "effective_step",
    "entry_is_stable",
    "euclidean_criterion",
    "instability_of_other_consensus",
    "nonsymmetric_criterion",
    "restored_step",
    "two_cycle_criterion",
]

#: Largest and smallest eigenvalue.
LAMBDA_1 = sp.Symbol("lambda_1", real=True)
LAMBDA_D = sp.Symbol("lambda_d", real=True)
#: The step that a map with weights of sum ``1/sqrt(d)`` really makes.
EFFECTIVE = sp.Symbol("gamma", positive=True)
#: Real and imaginary part of an eigenvalue.
A, B = sp.symbols("a b", real=True)

REAL = "the value matrix (of several heads: their sum) has real eigenvalues lambda_1 > lambda_2 >= ... >= lambda_d"
EVERY_TOKEN = "the condition is for every token i and every other eigenvalue lambda_ell"


def effective_step(system: System, spectrum: Spectrum) -> Spectrum:
    """The spectrum with ``alpha sqrt(d)`` for alpha, where the weights of the map sum to ``1/sqrt(d)``."""
    if spectrum.flow or not system.over_root_d:
        return spectrum
    scaled = tuple(replace(entry, value=tidy(_with_root(entry.value, ALPHA))) for entry in spectrum.entries)
    return replace(spectrum, entries=scaled)


def _with_root(value: sp.Expr, step: sp.Symbol) -> sp.Expr:
    """The value with ``step sqrt(d)`` for alpha; positive factors are taken out of absolute values."""
    found = value.subs(ALPHA, step * sp.sqrt(DIMENSION))
    return found.replace(sp.Abs, lambda inner: sp.Abs(sp.factor(inner)))


def restored_step(criterion: Criterion, spectrum: Spectrum) -> Criterion:
    """The criterion about the spectrum itself: alpha of the effective one is gamma, and that it is so is a lemma."""
    if criterion.spectrum is spectrum:
        return criterion

    def renamed(lemma: Lemma | Equality) -> Lemma | Equality:
        if isinstance(lemma, Equality):
            return replace(lemma, left=lemma.left.subs(ALPHA, EFFECTIVE), right=lemma.right.subs(ALPHA, EFFECTIVE))
        given = tuple(each.subs(ALPHA, EFFECTIVE) for each in lemma.hypotheses)
        return replace(lemma, hypotheses=given, conclusion=lemma.conclusion.subs(ALPHA, EFFECTIVE))

    meaning = ALPHA / sp.sqrt(DIMENSION)
    pairs = zip(spectrum.tangent, criterion.spectrum.tangent, strict=True)
    same = tuple(
        Equality(
            f"{entry.title} in the effective step",
            _with_root(entry.value, EFFECTIVE),
            scaled.value.subs(ALPHA, EFFECTIVE),
        )
        for entry, scaled in pairs
    )
    return replace(
        criterion,
        spectrum=spectrum,
        hypotheses=tuple(each.subs(ALPHA, EFFECTIVE) for each in criterion.hypotheses),
        condition=criterion.condition.subs(ALPHA, EFFECTIVE),
        proof=(*same, *map(renamed, criterion.proof)),
        letters=((EFFECTIVE, meaning),),
    )


def entry_is_stable(entry: Entry, flow: bool, **values: Any) -> sp.Basic:
    """The entry lies in the open unit disc (map) or left half plane (flow); symbols are replaced by name."""
    table = {symbol: values[symbol.name] for symbol in entry.value.free_symbols if symbol.name in values}
    value = entry.value.subs(table)
    return value < 0 if flow else sp.And(value < 1, value > -1)


def _consensus_entries(spectrum: Spectrum) -> tuple[Entry, Entry]:
    """The entries of the common motion and of disagreement."""
    common = next(entry for entry in spectrum.tangent if LAMBDA_L in entry.value.free_symbols)
    apart = next(entry for entry in spectrum.tangent if LAMBDA_L not in entry.value.free_symbols)
    return common, apart


def consensus_criterion(system: System, *, mask: str | None = None) -> Criterion:
    """Principal consensus (n >= 2, a value matrix with real eigenvalues, ``lambda_1`` simple).

    Map: stable iff ``lambda_1 > 0`` and ``alpha (|lambda_d| - lambda_1) < 2``.  Flow: iff ``lambda_1 > 0``.  The causal
    mask has the same criterion.  Weights of sum ``1/sqrt(d)`` make the step ``alpha/sqrt(d)``.
    """
    original = consensus_spectrum(system, mask=mask)
    spectrum = effective_step(system, original)
    if mask == "causal" or system.mask == "causal":
        return restored_step(_causal_criterion(system, spectrum), original)
    return restored_step(_full_criterion(system, spectrum), original)


def _full_criterion(system: System, spectrum: Spectrum) -> Criterion:
    common, apart = _consensus_entries(spectrum)
    other = sp.Symbol("lambda_ell", real=True)
    order = (other < LAMBDA_1, other >= LAMBDA_D, LAMBDA_D < LAMBDA_1)

    def stable(entry: Entry, l: sp.Symbol) -> sp.Basic:
        return entry_is_stable(entry, spectrum.flow, lambda_k=LAMBDA_1, lambda_ell=l)

    if system.time is Time.FLOW:
        proof: tuple[Lemma | Equality, ...] = (
            Lemma("common motion decays", order, stable(common, other), "lambda_1 is the largest"),
            Lemma("disagreement decays iff lambda_1 > 0", (), sp.Equivalent(stable(apart, other), LAMBDA_1 > 0)),
        )
        words = "The common motion always decays; disagreement (present since n >= 2) decays iff lambda_1 > 0."
        given = (REAL, "n >= 2")
        name = f"{system.name}: principal consensus"
        return Criterion(name, spectrum, order[2:], LAMBDA_1 > 0, proof, words, assumes=given)
    closed = ALPHA * (sp.Abs(LAMBDA_D) - LAMBDA_1) < 2
    defined = 1 + ALPHA * LAMBDA_1 > 0
    plain = ALPHA * (-LAMBDA_D - LAMBDA_1) < 2
    proof = (
        Lemma("disagreement decays iff lambda_1 > 0", (defined,), sp.Equivalent(stable(apart, other), LAMBDA_1 > 0)),
        Lemma(
            "the last eigenvalue decides",
            (LAMBDA_1 > 0, LAMBDA_D < LAMBDA_1),
            sp.Equivalent(stable(common, LAMBDA_D), plain),
        ),
        Lemma(
            "the others follow",
            (LAMBDA_1 > 0, *order, plain),
            stable(common, other),
            "1 + alpha lambda_ell lies between its values at lambda_d and lambda_1",
        ),
        Lemma("the absolute value", (LAMBDA_1 > 0, LAMBDA_D < LAMBDA_1), sp.Equivalent(plain, closed)),
        Equality(
            "at equality a multiplier is -1",
            common.value.subs({LAMBDA_K: LAMBDA_1, LAMBDA_L: LAMBDA_D}).subs(ALPHA, 2 / (-LAMBDA_D - LAMBDA_1)),
            sp.Integer(-1),
        ),
    )
    return Criterion(
        f"{system.name}: principal consensus",
        spectrum,
        (LAMBDA_D < LAMBDA_1, defined),
        sp.And(LAMBDA_1 > 0, closed),
        proof,
        "Disagreement (present since n >= 2) decays iff lambda_1 > 0; of the common motion the multiplier of lambda_d is "
        "the only one that can leave the unit disc, and it does so through -1.",
        assumes=(REAL, "n >= 2"),
    )


def _causal_criterion(system: System, spectrum: Spectrum) -> Criterion:
    (entry,) = spectrum.tangent
    other, i = sp.Symbol("lambda_ell", real=True), sp.Symbol("i", real=True)

    def stable(l: sp.Expr, token: sp.Expr) -> sp.Basic:
        value = entry.value.subs({LAMBDA_K: LAMBDA_1, LAMBDA_L: l, TOKEN: token})
        value = value.subs(sp.Symbol("d", integer=True, positive=True), sp.Symbol("d", positive=True))
        return value < 0 if spectrum.flow else sp.And(value < 1, value > -1)

    hypotheses = (other < LAMBDA_1, i >= 1)
    if spectrum.flow:
        proof: tuple[Lemma | Equality, ...] = (
            Lemma("token i", hypotheses, sp.Equivalent(stable(other, i), other < i * LAMBDA_1)),
            Lemma("positive lambda_1 suffices", (*hypotheses, LAMBDA_1 > 0), stable(other, i)),
        )
        return Criterion(
            f"{system.name}: principal consensus, causal",
            spectrum,
            hypotheses,
            other < i * LAMBDA_1,
            proof,
            "The linearization is triangular; token i is stable iff lambda_ell < i lambda_1 for every other eigenvalue.",
            assumes=(REAL, EVERY_TOKEN),
        )
    unmasked = system if system.mask == "full" else replace(system, name=f"{system.name}-unmasked", mask="full")
    step = _full_criterion(unmasked, effective_step(unmasked, consensus_spectrum(unmasked))).proof[1:4]
    closed = ALPHA * (-LAMBDA_D - LAMBDA_1) < 2
    defined = 1 + ALPHA * LAMBDA_1 > 0
    order = (other < LAMBDA_1, other >= LAMBDA_D, LAMBDA_D < LAMBDA_1)
    proof = (
        *step,
        Lemma(
            "token 1 is the full criterion",
            (LAMBDA_1 > 0, LAMBDA_D < LAMBDA_1),
            sp.Equivalent(stable(LAMBDA_D, 1), closed),
        ),
        Lemma("later tokens follow", (*order, i >= 1, LAMBDA_1 > 0, closed), stable(other, i)),
        Equality("the multiplier of direction 0", entry.value.subs(LAMBDA_L, 0), 1 / (1 + ALPHA * LAMBDA_K)),
    )
    return Criterion(
        f"{system.name}: principal consensus, causal",
        spectrum,
        (LAMBDA_1 > 0, LAMBDA_D < LAMBDA_1, defined),
        ALPHA * (sp.Abs(LAMBDA_D) - LAMBDA_1) < 2,
        proof,
        "Token 1 has the multipliers of the full criterion; those of token i lie between them and 1/(1 + alpha lambda_1).",
        assumes=(REAL,),
    )


def instability_of_other_consensus(system: System) -> Criterion:
    """A consensus fixed point at ``lambda_k < lambda_1`` is unstable for every step: a multiplier exceeds 1."""
    original = consensus_spectrum(system)
    spectrum = effective_step(system, original)
    common, _ = _consensus_entries(spectrum)
    value = common.value.subs(LAMBDA_L, LAMBDA_1)
    defined = () if spectrum.flow else (1 + ALPHA * LAMBDA_K > 0,)
    hypotheses = (LAMBDA_K < LAMBDA_1, *defined)
    grows = value > 0 if spectrum.flow else value > 1
    found = Criterion(
        f"{system.name}: other consensus points",
        spectrum,
        hypotheses,
        sp.false,
        (Lemma("the direction of lambda_1 grows", hypotheses, grows),),
        "Take the direction of lambda_1 in the common motion.",
        assumes=("lambda_1 is a real eigenvalue of the value matrix (of several heads: their sum)",),
        unstable=True,
    )
    return restored_step(found, original)


def two_cycle_criterion(system: System) -> Criterion:
    """The 2-cycle ``{v_k, -v_k}`` of a map, ``1 + alpha lambda_k < 0``: stable iff k is last, simple, and alpha is large.

    ``alpha (|lambda_d| - lambda_1) > 2``: exactly complementary to principal consensus.
    """
    if system.time is not Time.MAP:
        raise ValueError(f"{system.name} is a flow: a 2-cycle belongs to a map")
    original = consensus_spectrum(system, fixed_point=False)
    spectrum = effective_step(system, original)
    common, apart = _consensus_entries(spectrum)
    other = sp.Symbol("lambda_ell", real=True)
    cycle = 1 + ALPHA * LAMBDA_K < 0
    closed = ALPHA * (sp.Abs(LAMBDA_D) - LAMBDA_1) > 2

    def inside(entry: Entry, k: sp.Symbol, l: sp.Expr) -> sp.Basic:
        value = entry.value.subs({LAMBDA_K: k, LAMBDA_L: l})
        return sp.And(value < 1, value > -1)

    at_last = 1 + ALPHA * LAMBDA_D < 0
    proof = (
        Lemma(
            "an eigenvalue below lambda_k is fatal", (cycle, other <= LAMBDA_K), sp.Not(inside(common, LAMBDA_K, other))
        ),
        Lemma(
            "lambda_1 decides",
            (at_last, LAMBDA_D < LAMBDA_1, LAMBDA_1 > 0),
            sp.Equivalent(inside(common, LAMBDA_D, LAMBDA_1), closed),
        ),
        Lemma(
            "the others follow",
            (at_last, LAMBDA_1 > 0, closed, other > LAMBDA_D, other <= LAMBDA_1),
            inside(common, LAMBDA_D, other),
        ),
        Lemma("disagreement decays", (at_last, LAMBDA_1 > 0, closed), inside(apart, LAMBDA_D, other)),
    )
    found = Criterion(
        f"{system.name}: 2-cycles",
        spectrum,
        (at_last, LAMBDA_1 > 0, LAMBDA_D < LAMBDA_1),
        closed,
        proof,
        "f(v_k) = -v_k, and the multipliers of the cycle are squares of those of -f; an eigenvalue at or below lambda_k "
        "gives one of modulus at least 1, so that k is last and simple.",
        assumes=(
            "the value matrix (of several heads: their sum) has real eigenvalues lambda_1 >= ... > lambda_d",
            "the cycle is on the eigenvector of lambda_d",
        ),
    )
    return restored_step(found, original)


def nonsymmetric_criterion(system: System) -> Criterion:
    """Consensus at a real eigenvalue ``lambda_1 > 0`` of any layer matrix, the others ``a + i b`` with ``a < lambda_1``.

    Map: ``|1 + alpha lambda| < 1 + alpha lambda_1`` iff ``|lambda| <= lambda_1`` or
    ``alpha < 2 (lambda_1 - a) / (|lambda|^2 - lambda_1^2)``; the least of these bounds is alpha*.  Flow: always.
    """
    original = consensus_spectrum(system)
    spectrum = effective_step(system, original)
    common, apart = _consensus_entries(spectrum)
    a, b = A, B
    assumes = (
        "lambda_1 is a simple eigenvalue of the value matrix (of several heads: their sum)",
        "n >= 2, and the condition is for every other eigenvalue a + i b",
    )
    value = sp.together(common.value.subs({LAMBDA_K: LAMBDA_1}))
    plain_l = sp.Symbol("lambda_ell", real=True)
    top, bottom = sp.fraction(value.subs(plain_l, sp.Symbol("z")))
    polynomial = sp.Poly(top, sp.Symbol("z"))
    slope, constant = polynomial.coeff_monomial(sp.Symbol("z")), polynomial.coeff_monomial(1)
    hypotheses = (LAMBDA_1 > 0, a < LAMBDA_1)
    if spectrum.flow:
        real_part = (slope * a + constant) / bottom
        return Criterion(
            f"{system.name}: consensus, any layer matrix",
            spectrum,
            hypotheses,
            sp.true,
            (
                Lemma("real part of the common motion", hypotheses, real_part < 0),
                Lemma("disagreement", hypotheses, apart.value.subs(LAMBDA_K, LAMBDA_1) < 0),
            ),
            "In continuous time dominance of the real part is what counts.",
            assumes=assumes,
        )
    modulus = ((slope * a + constant) ** 2 + (slope * b) ** 2) / bottom**2
    size = a**2 + b**2
    closed = sp.Or(size <= LAMBDA_1**2, ALPHA * (size - LAMBDA_1**2) < 2 * (LAMBDA_1 - a))
    found = Criterion(
        f"{system.name}: consensus, any layer matrix",
        spectrum,
        hypotheses,
        closed,
        (
            Equality("the modulus", modulus * bottom**2, sp.expand((1 + ALPHA * a) ** 2 + (ALPHA * b) ** 2)),
            Lemma("one eigenvalue", hypotheses, sp.Equivalent(modulus < 1, closed)),
            Lemma("modulus dominance suffices", (*hypotheses, size < LAMBDA_1**2), modulus < 1),
            Lemma("disagreement", (LAMBDA_1 > 0,), entry_is_stable(apart, False, lambda_k=LAMBDA_1)),
        ),
        "The bounds of all eigenvalues with |lambda| > lambda_1 hold together iff alpha is below their minimum alpha*.",
        assumes=assumes,
    )
    return restored_step(found, original)


def consensus_set_criterion(system: System, *, mask: str | None = None) -> Criterion:
    """Where the value matrix is the identity every consensus state is an equilibrium: none attracts along the others.

    Transversally all of them attract: the other eigenvalues have negative real parts.
    """
    spectrum = consensus_spectrum(system, mask=mask)
    positive = sp.Symbol("d", positive=True)
    values = [entry.value.subs(DIMENSION, positive) for entry in spectrum.tangent]
    i = sp.Symbol("i", real=True)
    given: tuple[sp.Basic, ...] = ()
    if len(values) == 2:
        along, across = values
    elif TOKEN in values[0].free_symbols:
        along, across, given = values[0].subs(TOKEN, 1), values[0].subs(TOKEN, i), (i >= 2,)
    else:
        along, across, given = values[0].subs(KAPPA, 1), values[0].subs(KAPPA, A), (A < 1,)
    return Criterion(
        f"{system.name}: consensus",
        spectrum,
        (),
        sp.false,
        (
            Equality("motion along the set of consensus states", along, sp.Integer(0)),
            Lemma("all other motion decays", given, across < 0),
        ),
        "Every consensus state is an equilibrium, so that none of them attracts its neighbours on that set; real parts a < 1 "
        "belong to the other eigenvalues of a mask, i >= 2 to the later tokens.",
    )


def euclidean_criterion(system: System, spectrum: Spectrum) -> Criterion:
    """The unnormalised flow: with full attention disagreement is neutral, under a mask the eigenvalues of it decide."""
    if len(spectrum.tangent) == 2:
        apart = spectrum.tangent[1]
        n = sp.Symbol("n", real=True)
        dimension = sp.Symbol("d", real=True)
        count = apart.multiplicity.subs({TOKENS: n, DIMENSION: dimension})
        proof: tuple[Lemma | Equality, ...] = (
            Equality("disagreement is neutral", apart.value, sp.Integer(0)),
            Lemma("there is some", (n >= 2, dimension >= 1), count >= 1),
        )
        words = "The average of all tokens is the same for each of them, so that their differences do not move."
        return Criterion(f"{system.name}: {spectrum.point}", spectrum, (TOKENS >= 2,), sp.false, proof, words)
    (entry,) = spectrum.tangent
    i, l = sp.Symbol("i", real=True), LAMBDA_L
    given: tuple[sp.Basic, ...] = ()
    if TOKEN in entry.value.free_symbols:
        value, given, condition = entry.value.subs(TOKEN, i), (i >= 1,), l < 0
        assumes = ("the condition is for every eigenvalue lambda_ell of the value matrix, all of them real",)
    else:
        value, condition = entry.value.subs(KAPPA, A), l * A < 0
        assumes = (
            "the condition is for every eigenvalue lambda_ell of the value matrix, all of them real, and every eigenvalue "
            "kappa = a + i b of the mask",
        )
    proof = (Lemma("one eigenvalue", given, sp.Equivalent(value < 0, condition)),)
    name = f"{system.name}: {spectrum.point}"
    return Criterion(name, spectrum, (), condition, proof, "The real part is what counts.", assumes=assumes)
