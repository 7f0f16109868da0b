"""Reduction steps: what a system gives, compared with what a statement claims, by normal form.

Two sources of derived objects, both for symbolic n and d: groups of equal tokens (:mod:`eigentoken.proofs.steps.token_groups`)
give lists of scalar expressions, the dimension-free calculus (:mod:`eigentoken.theory.calculus`) gives expressions over
sums of any length.  The claim is data that is written in the statement's file; neither side sees the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypedDict, Unpack, cast

import sympy as sp

from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.statements.steps import Reduction

__all__ = ["Relations", "all_agree", "grouped", "relations_in", "tensor"]


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


def all_agree(derived: Iterable[Any], claimed: Iterable[Any]) -> Verdict:
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
    derive: Callable[[], Iterable[Any]],
    claimed: Sequence[Any],
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
