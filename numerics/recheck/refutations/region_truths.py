"""Regions by inequalities in the second arithmetic: margins by sympy at the exact state, and in intervals at another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.systems.algebra import LoopAlgebra

__all__ = ["greater_interval", "inside", "interval_numbers", "outside"]


def greater_interval(a: Any, b: Any) -> Any:
    """An interval that holds the greater of two numbers."""
    first, second = iv.convert(a), iv.convert(b)
    return iv.mpf([max(first.a, second.a), max(first.b, second.b)])


def interval_numbers(value: Any) -> Any:
    """Exact parameters as intervals."""
    if isinstance(value, tuple) and value and isinstance(value[0], Mapping):
        return [{name: interval_numbers(each) for name, each in head.items()} for head in value]
    if isinstance(value, tuple):
        return [interval_numbers(each) for each in value]
    return None if value is None else interval(value)


def inside(region: StateRegion, look: IndependentInstance) -> bool | None:
    """Every margin has its sign at the exact state; ``None`` where sympy does not tell."""
    loops = LoopAlgebra(sp.exp, sp.sqrt, sp.Integer(1), greater=sp.Max)
    instance = look.instance
    answers = []
    for margin in region.margins(loops, instance.system, instance.parameters, instance.tokens, instance.mask):
        sign = sp.simplify(margin)
        found = sign > 0 if region.strict else sign >= 0
        answers.append(None if found not in (sp.true, sp.false) else bool(found))
    return False if False in answers else None if None in answers else True


def outside(region: StateRegion, look: IndependentInstance, state: list[Any]) -> bool:
    """Is a margin certainly negative at a state given by intervals, one after the other?"""
    loops = LoopAlgebra(iv.exp, iv.sqrt, iv.mpf(1), greater=greater_interval)
    instance, d = look.instance, look.instance.d
    tokens = [state[i * d : (i + 1) * d] for i in range(instance.n)]
    parameters = {name: interval_numbers(value) for name, value in instance.parameters.items()}
    margins = region.margins(loops, instance.system, parameters, tokens, instance.mask)
    return any(iv.convert(each).b < 0 for each in margins)
