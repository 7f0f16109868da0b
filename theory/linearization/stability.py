"""Stability as conditions: from a derived spectrum to a closed form, with a checked proof that the two are equivalent.

A :class:`Criterion` says: under the hypotheses, the point is linearly asymptotically stable if and only if the
condition holds.  Its proof is a list of small lemmas; each is an identity (normal form of rational and hyperbolic
functions) or a statement of real arithmetic (z3), built from the entries of the derived spectrum, so that a wrong
spectrum or a wrong closed form makes a lemma fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import ALPHA
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.linearization.consensus_spectra import LAMBDA_K, LAMBDA_L, TOKEN, consensus_spectrum
from eigentoken.theory.linearization.spectrum import Entry, Spectrum
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.catalogue import System, Time

__all__ = [
    "Criterion",
    "Equality",
    "alpha_star",
    "consensus_criterion",
    "entry_is_stable",
    "instability_of_other_consensus",
    "nonsymmetric_criterion",
    "two_cycle_criterion",
]

#: Largest, second and smallest eigenvalue.
LAMBDA_1 = sp.Symbol("lambda_1", real=True)
LAMBDA_2 = sp.Symbol("lambda_2", real=True)
LAMBDA_D = sp.Symbol("lambda_d", real=True)


@dataclass(frozen=True)
class Equality:
    """A lemma that is an identity: ``left = right`` wherever both are defined."""

    name: str
    left: sp.Expr
    right: sp.Expr
    because: str = ""
    shown: str = ""
    "LaTeX name of the left side, where its formula is long"

    def check(self) -> Verdict:
        """By the normal form of rational, exponential and hyperbolic functions."""
        return identity_verdict(self.left, self.right)


@dataclass(frozen=True)
class Criterion:
    """Under the hypotheses, the point of the spectrum is stable iff ``condition``; ``proof`` is checked step by step.

    ``words`` says how the lemmas make the proof; without ``exact`` the condition is sufficient only.
    """

    name: str
    spectrum: Spectrum
    hypotheses: tuple[sp.Basic, ...]
    condition: sp.Basic
    proof: tuple[Lemma | Equality, ...]
    words: str
    exact: bool = True

    def check(self) -> Verdict:
        """All lemmas; ``holds`` only when each of them does."""
        return all_of(self.verdicts())

    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict on each lemma."""
        return {lemma.name: lemma.check() for lemma in self.proof}

    def _repr_latex_(self) -> str:
        from eigentoken.theory.linearization.latex import criterion_latex

        return criterion_latex(self)


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
    """Principal consensus (n >= 2, symmetric value matrix, ``lambda_1`` simple).

    Map: stable iff ``lambda_1 > 0`` and ``alpha (|lambda_d| - lambda_1) < 2``.  Flow: iff ``lambda_1 > 0``.  The causal
    mask has the same criterion.
    """
    spectrum = consensus_spectrum(system, mask=mask)
    if mask == "causal" or system.mask == "causal":
        return _causal_criterion(system, spectrum)
    common, apart = _consensus_entries(spectrum)
    other = sp.Symbol("lambda_l", real=True)
    order = (other < LAMBDA_1, other >= LAMBDA_D, LAMBDA_D < LAMBDA_1)

    def stable(entry: Entry, l: sp.Symbol) -> sp.Basic:
        return entry_is_stable(entry, spectrum.flow, lambda_k=LAMBDA_1, lambda_l=l)

    if system.time is Time.FLOW:
        proof: tuple[Lemma | Equality, ...] = (
            Lemma("common motion decays", order, stable(common, other), "lambda_1 is the largest"),
            Lemma("disagreement decays iff lambda_1 > 0", (), sp.Equivalent(stable(apart, other), LAMBDA_1 > 0)),
        )
        words = "The common motion always decays; disagreement (present since n >= 2) decays iff lambda_1 > 0."
        return Criterion(f"{system.name}: principal consensus", spectrum, order[2:], LAMBDA_1 > 0, proof, words)
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
            "1 + alpha lambda_l lies between its values at lambda_d and lambda_1",
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
    )


def _causal_criterion(system: System, spectrum: Spectrum) -> Criterion:
    (entry,) = spectrum.tangent
    other, i = sp.Symbol("lambda_l", real=True), sp.Symbol("i", real=True)

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
            "The linearization is triangular; token i is stable iff lambda_l < i lambda_1 for every other eigenvalue.",
        )
    full = consensus_criterion(system)
    step = full.proof[1:4]
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
    )


def instability_of_other_consensus(system: System) -> Criterion:
    """A consensus fixed point at ``lambda_k < lambda_1`` is unstable for every step: a multiplier exceeds 1."""
    spectrum = consensus_spectrum(system)
    common, _ = _consensus_entries(spectrum)
    value = common.value.subs(LAMBDA_L, LAMBDA_1)
    defined = () if spectrum.flow else (1 + ALPHA * LAMBDA_K > 0,)
    hypotheses = (LAMBDA_K < LAMBDA_1, *defined)
    grows = value > 0 if spectrum.flow else value > 1
    return Criterion(
        f"{system.name}: other consensus points",
        spectrum,
        hypotheses,
        sp.false,
        (Lemma("the direction of lambda_1 grows", hypotheses, grows),),
        "Take the direction of lambda_1 in the common motion.",
    )


def two_cycle_criterion(system: System) -> Criterion:
    """The 2-cycle ``{v_k, -v_k}`` of a map, ``1 + alpha lambda_k < 0``: stable iff k is last, simple, and alpha is large.

    ``alpha (|lambda_d| - lambda_1) > 2``: exactly complementary to principal consensus.
    """
    spectrum = consensus_spectrum(system, fixed_point=False)
    common, apart = _consensus_entries(spectrum)
    other = sp.Symbol("lambda_l", real=True)
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
    return Criterion(
        f"{system.name}: 2-cycles",
        spectrum,
        (at_last, LAMBDA_1 > 0, LAMBDA_D < LAMBDA_1),
        closed,
        proof,
        "f(v_k) = -v_k, and the multipliers of the cycle are squares of those of -f; an eigenvalue at or below lambda_k "
        "gives one of modulus at least 1, so that k is last and simple.",
    )


def alpha_star(lambda_1: Any, others: Iterable[Any]) -> sp.Expr:
    """``min 2 (lambda_1 - Re lambda) / (|lambda|^2 - lambda_1^2)`` over the other eigenvalues with ``|lambda| > lambda_1``.

    Principal consensus of a map is stable iff ``alpha < alpha*`` (``lambda_1 > 0`` of largest real part, simple); the
    equivalence for each eigenvalue is proved in :func:`nonsymmetric_criterion`.  Without such an eigenvalue it is infinite.

    >>> alpha_star(1, [sp.Rational(9, 10) + 3 * sp.I, sp.Rational(9, 10) - 3 * sp.I])
    20/881
    >>> alpha_star(2, [1, sp.Rational(-3, 2)])
    oo
    """
    top = sp.sympify(lambda_1)
    if top.is_positive is not True:
        raise ValueError(f"lambda_1 must be positive, got {lambda_1}: no step makes consensus stable otherwise")
    bounds = [sp.oo]
    for each in others:
        real, imaginary = sp.sympify(each).as_real_imag()
        if (top - real).is_positive is not True:
            raise ValueError(f"lambda_1 = {lambda_1} must have the largest real part, got the eigenvalue {each}")
        excess = sp.expand(real**2 + imaginary**2 - top**2)
        if excess.is_positive:
            bounds.append(2 * (top - real) / excess)
        elif excess.is_positive is None:
            raise ValueError(f"cannot decide whether |{each}| exceeds {lambda_1}: give exact numbers")
    return sp.Min(*bounds)


def nonsymmetric_criterion(system: System) -> Criterion:
    """Consensus at a real eigenvalue ``lambda_1 > 0`` of any layer matrix, the others ``a + i b`` with ``a < lambda_1``.

    Map: ``|1 + alpha lambda| < 1 + alpha lambda_1`` iff ``|lambda| <= lambda_1`` or
    ``alpha < 2 (lambda_1 - a) / (|lambda|^2 - lambda_1^2)``; the least of these bounds is alpha*.  Flow: always.
    """
    spectrum = consensus_spectrum(system)
    common, apart = _consensus_entries(spectrum)
    a, b = sp.symbols("a b", real=True)
    value = sp.together(common.value.subs({LAMBDA_K: LAMBDA_1}))
    plain_l = sp.Symbol("lambda_l", real=True)
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
        )
    modulus = ((slope * a + constant) ** 2 + (slope * b) ** 2) / bottom**2
    size = a**2 + b**2
    closed = sp.Or(size <= LAMBDA_1**2, ALPHA * (size - LAMBDA_1**2) < 2 * (LAMBDA_1 - a))
    return Criterion(
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
    )
