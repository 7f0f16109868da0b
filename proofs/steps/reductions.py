"""Reduction steps: what a system gives, compared with what a statement claims, by normal form.

Two sources of derived objects, both for symbolic n and d: groups of equal tokens (:mod:`eigentoken.proofs.steps.token_groups`)
give lists of scalar expressions, the dimension-free calculus (:mod:`eigentoken.theory.calculus`) gives expressions over
sums of any length.  The claim is data that is written in the statement's file; neither side sees the other.

Multipliers from the Jacobian that the calculus derives for symbolic n and d: the first route to a spectrum.

The statements take the formulas from here; the reductions on groups of equal tokens
(:mod:`eigentoken.proofs.steps.token_groups`) are the second route.  The two share the equation of the system and nothing
else, and a step holds where they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast

import sympy as sp

from eigentoken.theory.calculus import TOKENS
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.linearization.consensus_spectra import LAMBDA_L, P, Q, bipartite_spectrum, consensus_spectrum
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.statements.steps import Reduction
from eigentoken.theory.systems.catalogue import system

__all__ = [
    "Relations",
    "all_agree",
    "bipartite_block",
    "claimed_spectrum",
    "consensus_multipliers",
    "group_multipliers",
    "grouped",
    "relations_in",
    "tensor",
]


class Relations(TypedDict, total=False):
    """How a step stands in a derivation: the fields of :class:`~eigentoken.theory.statements.steps.Step` beside its words.

    Every builder of steps takes them by keyword and hands them on.
    """

    uses: tuple[str, ...]
    needs: tuple[str, ...]
    establishes: tuple[str, ...]
    scope: str
    assuming: tuple[Condition, ...]
    discharges: tuple[Condition, ...]
    about: tuple[str, ...]


def relations_in(told: Relations) -> Relations:
    """Only these fields, of the keywords of a builder that has others beside them."""
    return cast(Relations, {key: value for key, value in told.items() if key in Relations.__optional_keys__})


def all_agree(derived: Iterable[sp.Expr], claimed: Iterable[sp.Expr]) -> Verdict:
    """Every derived expression equals the claimed one, by normal form; the first that does not decides."""
    left, right = list(derived), list(claimed)
    if not right or len(left) != len(right):
        return fails(f"{len(left)} expressions were derived, {len(right)} are claimed")
    seen: set[tuple[Any, Any]] = set()
    for index, pair in enumerate(zip(left, right, strict=True)):
        if pair in seen:
            continue
        seen.add(pair)
        if any(sp.sympify(each).has(sp.Float) for each in pair):
            return fails(f"entry {index + 1} holds a floating-point number: a derivation is exact")
        verdict = identity_verdict(*pair)
        if not verdict.is_holds:
            return Verdict(verdict.answer, f"entry {index + 1}: {verdict.reason}")
    return holds(f"{len(right)} derived expressions agree with the claim by normal form")


def grouped(
    name: str,
    says: str,
    derive: Callable[[], Iterable[sp.Expr]],
    claimed: Sequence[sp.Expr],
    formula: str,
    **relations: Unpack[Relations],
) -> Reduction:
    """Compare scalar expressions.  ``formula`` holds ``<1>``, ``<2>``, ... where the claimed expressions are printed."""

    def shows(expressions: Sequence[Any]) -> str:
        text = formula
        for index, each in enumerate(expressions):
            text = text.replace(f"<{index + 1}>", scalar_latex(each))
        return text

    return Reduction(
        name=name,
        says=says,
        derive=lambda: tuple(derive()),
        claimed=tuple(sp.sympify(each) for each in claimed),
        agrees=all_agree,
        entrywise=True,
        shows=shows,
        **relations,
    )


def tensor(
    name: str,
    says: str,
    derive: Callable[[], tuple[Any, Any]],
    claimed: Any,
    formula: str,
    **relations: Unpack[Relations],
) -> Reduction:
    """Compare expressions of the dimension-free calculus: ``derive`` gives the expression and the assumptions.

    The claim holds when the normal form of the difference is zero, which proves it for all n and d.  A difference that
    does not reduce to zero is reported as a failure of the step with the terms that remain.
    """

    def agrees(found: tuple[Any, Any], wanted: Any) -> Verdict:
        from eigentoken.theory.calculus import normal_form

        expression, assumptions = found
        rest = normal_form(expression - wanted, assumptions)
        if not rest.terms:
            return holds("dimension-free normal form: the difference has no terms left, for all n and d")
        return fails(f"{len(rest.terms)} terms of the difference remain: {rest!s:.200}")

    return Reduction(
        name=name, says=says, derive=derive, claimed=claimed, agrees=agrees, shows=lambda _: formula, **relations
    )


def consensus_multipliers(name: str, sign: int = 1) -> tuple[sp.Expr, sp.Expr]:
    """The multipliers of common and of zero-sum perturbations at consensus; ``sign`` is that of ``1 + alpha lambda_k``.

    >>> consensus_multipliers("oja-map")
    ((alpha*lambda_ell + 1)/(alpha*lambda_k + 1), 1/(alpha*lambda_k + 1))
    """
    found = consensus_spectrum(system(name), fixed_point=sign > 0)
    common, apart = (entry.value for entry in found.tangent)
    return (common, apart) if sign > 0 else (_turned(common), _turned(apart))


def _turned(value: sp.Expr) -> sp.Expr:
    """``|m|`` as ``-m``, for negative m."""
    return sp.factor(value.replace(sp.Abs, lambda inner: -inner))


def bipartite_block(name: str, letters: Mapping[sp.Basic, sp.Basic] | None = None) -> sp.ImmutableMatrix:
    """The 2 x 2 block of the group means, in the letters ``lambda_ell, b_1, b_2`` (and of a map ``m_1, m_2``).

    Each entry is written ``(c_0 + c_1 lambda_ell)/m``, as in the papers; ``letters`` are put in before.
    """
    found = bipartite_spectrum(system(name))
    block = next(entry.block for entry in found.tangent if entry.block is not None)
    return sp.ImmutableMatrix(block.applyfunc(lambda value: _written(_renamed(value, found).subs(letters or {}))))


def _renamed(value: sp.Expr, found: Spectrum) -> sp.Expr:
    """The letters ``b_i`` and ``m_i`` as the chapter has them: real, nothing else known."""
    return value.subs({letter: sp.Symbol(letter.name, real=True) for letter, _ in found.abbreviations})


def _written(value: sp.Expr) -> sp.Expr:
    top, bottom = sp.fraction(sp.cancel(value))
    lengths = [factor for factor in sp.Mul.make_args(bottom) if factor.free_symbols]
    number = sp.Mul(*(factor for factor in sp.Mul.make_args(bottom) if not factor.free_symbols))
    polynomial = sp.Poly(top, LAMBDA_L)
    if polynomial.degree() > 1:
        raise ValueError(f"an entry of a block is linear in lambda_ell, got {value}")
    slope, constant = sp.factor(polynomial.coeff_monomial(LAMBDA_L) / number), polynomial.coeff_monomial(1) / number
    return (constant + LAMBDA_L * _without_minus(slope)) / sp.Mul(*lengths)


def _without_minus(value: sp.Expr) -> sp.Expr:
    """``-a (b - 1)`` as ``a (1 - b)``."""
    number, factors = value.as_coeff_mul()
    for place, each in enumerate(factors):
        if number.is_negative and each.is_Add:
            return sp.Mul(-number, *factors[:place], sp.Add(*(-term for term in each.args)), *factors[place + 1 :])
    return value


def group_multipliers(name: str, table: Mapping[sp.Basic, sp.Basic]) -> tuple[sp.Expr, sp.Expr]:
    """The multipliers of zero-sum perturbations in the two groups, in the letters that ``table`` gives to ``m_i`` and ``b_i``."""
    found = bipartite_spectrum(system(name))
    first, second = (_renamed(entry.value, found).subs(table) for entry in found.tangent[:2])
    return first, second


def claimed_spectrum(
    claim: SpectrumIs, name: str, letters: Mapping[sp.Basic, sp.Basic], formula: str, **relations: Unpack[Relations]
) -> Reduction:
    """The classes of the claim are those of the Jacobian: values, multiplicities, of two roots the sum and the product.

    ``letters`` gives the plain symbols of the terms in the claim (eigenvalues, scores).  ``formula`` is printed with ``<1>``,
    ``<2>``, ... as in :func:`~eigentoken.proofs.steps.reductions.grouped`.
    """
    at_consensus = len(claim.classes) == 2
    total = {} if at_consensus else {TOKENS: P + Q}

    def put(classes: Iterable[tuple[Any, Any]], table: Mapping[Any, Any]) -> list[sp.Expr]:
        return _numbers([tuple(sp.sympify(each).subs(table).subs(total) for each in pair) for pair in classes])

    def derive() -> list[sp.Expr]:
        found = consensus_spectrum(system(name)) if at_consensus else bipartite_spectrum(system(name))
        return put([(found.expanded(entry.value), entry.multiplicity) for entry in found.tangent], {})

    says = (
        "A second route: the Jacobian, derived for symbolic $n$ and $d$ from the equation of the system alone, has these "
        "eigenvalues on the tangent space, with these multiplicities."
    )
    return grouped("second route", says, derive, put(claim.classes, letters), formula, **relations)


def _numbers(classes: list[tuple[sp.Expr, ...]]) -> list[sp.Expr]:
    """What is compared: every value and multiplicity, two roots of one block as their sum and product."""
    if len(classes) == 2:
        return [each for pair in classes for each in pair]
    (first, p_times), (second, q_times), (upper, once), (lower, again) = classes
    total, apart = upper + lower, upper - lower  # the root cancels in the first and stands alone in the second
    return [first, p_times, second, q_times, total, (total**2 - apart**2) / 4, once, again]
