"""Moduli of quotients in a scalar lemma: taken away where the hypotheses fix the sign of the denominator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.proofs.coq.lemmas import ScalarInequality
from eigentoken.proofs.coq.terms import term
from eigentoken.theory.proving.cvc5_inequalities import inequality_by_cvc5

__all__ = ["without_moduli"]


@dataclass(frozen=True)
class Lighter:
    """The scripts of a lemma in which moduli were rewritten first."""

    script: Callable[..., str]


def without_moduli(made: ScalarInequality) -> Lighter:
    """``|u / v| = |u| / v`` where v > 0, ``|v| = v`` where v >= 0; the rest of the script speaks of what is left."""

    def script(*, hints: bool = False) -> str:
        lines, given, goal = [], list(made.given), made.goal
        for number, node in enumerate(_moduli([*given, goal])):
            rewritten = _rewritten(node, given)
            if rewritten is None:
                continue
            other, fact, rule = rewritten
            before, after, known = term(node, made.names), term(other, made.names), term(fact[0], made.names)
            lines.append(
                f"assert (Den{number} : {known} {fact[1]} 0) by (first [linear | polynomial]). "
                f"assert (Abs{number} : {before} = {after}) by ({rule}; lra). rewrite ?Abs{number} in *."
            )
            given, goal = [each.xreplace({node: other}) for each in given], goal.xreplace({node: other})
        opening = made.opening()
        rest = made.with_parts(given, goal).script(hints=hints).removeprefix(opening)
        return "\n".join([opening, *lines, rest.strip()])

    return Lighter(script)


def _moduli(statements: list[Any]) -> list[Any]:
    """Every modulus, the inner ones first."""
    found = {each for said in statements for each in sp.sympify(said).atoms(sp.Abs)}
    return sorted(found, key=lambda each: (each.count_ops(), str(each)))


def _rewritten(node: Any, given: list[Any]) -> tuple[Any, tuple[Any, str], str] | None:
    """What the modulus is, the sign that is needed, and the tactic that shows it."""
    inside = node.args[0]
    top, bottom = sp.fraction(inside, exact=True)
    if bottom != 1 and not bottom.is_number:
        for relation, sign, value, rule in (
            (sp.Gt(bottom, 0), ">", sp.Abs(top) / bottom, "apply abs_over_pos"),
            (sp.Lt(bottom, 0), "<", sp.Abs(top) / (-bottom), "apply abs_over_neg"),
        ):
            if inequality_by_cvc5(given, relation, seconds=3).is_holds:
                return value, (bottom, sign), rule
        return None
    for relation, sign, value, rule in (
        (sp.Ge(inside, 0), ">=", inside, "apply Rabs_right"),
        (sp.Le(inside, 0), "<=", -inside, "apply Rabs_left1"),
    ):
        if inequality_by_cvc5(given, relation, seconds=3).is_holds:
            return value, (inside, sign), rule
    return None
