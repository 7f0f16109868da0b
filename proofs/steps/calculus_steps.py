"""Reduction steps over the dimension-free calculus: for every number of tokens, every dimension, every number of heads.

A step compares what is *derived* from the registered system (its field, differentiated by the calculus) with what is
*claimed*; it holds when the normal form of the difference is empty.  The display is the normal form of the claimed expression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

import sympy as sp

from eigentoken.proofs.steps.reductions import Relations, relations_in
from eigentoken.theory.calculus import (
    DIMENSION,
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Expression,
    Index,
    Letter,
    differentiate,
    dot,
    exponential,
    factor,
    instance,
    normal_form,
    vector,
)
from eigentoken.theory.calculus.atoms import Delta, Dot, Exp, MaskEntry, SumExp
from eigentoken.theory.calculus.expressions import row_sum, thawed
from eigentoken.theory.calculus.latex import expression_latex
from eigentoken.theory.language.verdicts import Verdict, holds, undecided
from eigentoken.theory.statements.steps import Reduction
from eigentoken.theory.systems.algebra import MaskValue, ParameterValue
from eigentoken.theory.systems.catalogue import system

__all__ = [
    "HEAD",
    "TOKEN_I",
    "TOKEN_J",
    "TOKEN_K",
    "CalculusClaim",
    "along_flow",
    "analytic_step",
    "attention_sum",
    "field_of",
    "tensor_step",
    "token",
]

TOKEN_I, TOKEN_J, TOKEN_K = (Index("token", name) for name in "ijk")
HEAD = Index("head", "h")


def token(index: Index, name: str = "y") -> Expression:
    """The token ``y_i``."""
    return vector(name, index)


def field_of(
    name: str, parameters: dict[str, ParameterValue], rules: Assumptions, state: str = "y", mask: MaskValue = None
) -> Expression:
    """The velocity ``dy_i/dt`` of the registered flow, in the slot index, for symbolic n and d."""
    chosen = system(name)
    seen = mask if mask is not None else ("c" if chosen.mask == "causal" else None)
    result: Expression = chosen.advance(CalculusAlgebra(rules), parameters, vector(state, SLOT), seen)
    return result


def along_flow(what: Expression, field: Expression, rules: Assumptions, state: str = "y") -> Expression:
    """The derivative of an expression along the flow."""
    return differentiate(what, {state: lambda index: instance(field, index)}, rules)


def attention_sum(score: Letter, index: Index, state: str = "y", *, over_root_d: bool = True) -> Expression:
    """``Z_i = sqrt(d) sum_k exp(y_i^T P y_k)`` (without the root where it is not asked for)."""
    scores = dot(vector(state, index), vector(state, TOKEN_K), (score,))
    return factor(row_sum(scores, TOKEN_K)) * (sp.sqrt(DIMENSION) if over_root_d else sp.Integer(1))


def pair_exponential(score: Letter, first: Index, second: Index, state: str = "y") -> Expression:
    """``exp(y_i^T P y_j)``."""
    return exponential(dot(vector(state, first), vector(state, second), (score,)))


class CalculusClaim(Relations):
    """What a step over the calculus compares, under which rules, and how the step stands in its derivation."""

    derive: Callable[[], Expression]
    claimed: Expression
    rules: Assumptions
    left: str


def tensor_step(name: str, says: str, **claim: Unpack[CalculusClaim]) -> Reduction:
    """``left = claimed``, where ``left`` names what ``derive`` computes from the system; the claim is kept in normal form."""
    rules, left = claim["rules"], claim["left"]

    def agrees(derived: Expression, wanted: Expression) -> Verdict:
        rest = normal_form(derived - wanted, rules)
        if rest.terms:
            return undecided(f"the normal form of the difference is not empty: {rest}")
        return holds("dimension-free calculus: the normal form of the difference is empty, for symbolic n and d")

    return Reduction(
        name=name,
        says=says,
        derive=claim["derive"],
        claimed=normal_form(claim["claimed"], rules),
        agrees=agrees,
        shows=lambda wanted: f"{left} = {expression_latex(wanted)}",
        **relations_in(claim),
    )


def not_analytic(expression: Expression) -> list[str]:
    """Factors of the expression that are not analytic functions of the tokens on the whole space.

    Inner products and exponentials of analytic expressions are analytic; quotients are where the denominator has no
    zero, which is known here of exponentials and of attention normalisers (nonempty sums of exponentials).

    >>> not_analytic(dot(token(TOKEN_I), token(TOKEN_J)))
    []
    >>> len(not_analytic(dot(token(TOKEN_I), token(TOKEN_J)) ** -1))
    1
    """
    found = []
    for monomial in expression.terms:
        for atom, power in monomial.factors:
            if isinstance(atom, Exp | SumExp):
                found += not_analytic(thawed(atom.exponent))
            elif not isinstance(atom, Dot | Delta | MaskEntry) or power < 0:
                found.append(f"{atom} to the power {power}")
    return found


def analytic_step(name: str, says: str, **claim: Unpack[CalculusClaim]) -> Reduction:
    """``left = claimed`` as in :func:`tensor_step`, and every factor of the claim is an analytic function of the tokens."""
    plain = tensor_step(name, says, **claim)

    def agrees(derived: Expression, wanted: Expression) -> Verdict:
        bad = not_analytic(wanted)
        if bad:
            return undecided(f"not known to be analytic: {bad[0]}")
        verdict = plain.agrees(derived, wanted)
        return holds(f"{verdict.reason}; all its factors are analytic") if verdict.is_holds else verdict

    return replace(plain, agrees=agrees)
