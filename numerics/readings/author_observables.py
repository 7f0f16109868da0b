"""Observables of an author's own file: their lines are run on decided numbers, as a predicate's are.

In balls ``a > b`` is false where it is not proved, and a float is the binary fraction that is stored: right for the toolkit's own
observables, which compare nothing and have no floats, and a trap for anyone else's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from eigentoken.numerics.instances.exact_values import BITS, Case
from eigentoken.theory.classification.jacobians import Jet, ball_setting
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.systems.system import Time

__all__ = ["author_sign", "is_authors"]


def is_authors(observable: Observable) -> bool:
    """Is the observable code of a conjecture's file?"""
    return not str(getattr(observable.function, "__module__", "")).startswith("eigentoken.")


def author_sign(observable: Observable, case: Case, rate: bool) -> tuple[int | None, str]:
    """The proved sign of the observable, or of its change; ``None`` with the reason where there is none."""
    from eigentoken.numerics.author_code.decided_numbers import REFUSALS, NotDecided, decided, enclosure
    from eigentoken.numerics.author_code.source import NoSource, exact_version

    reason = ""
    for bits in BITS[:3]:
        del REFUSALS[:]
        try:
            with precision(bits):
                value = decided(_value(exact_version(observable.function), case, bits, rate))
                sign = 0 if value == 0 else 1 if value > 0 else -1
                shown = "0" if sign == 0 else enclosure(value).str(12)
        except NotDecided as problem:
            reason = str(problem)
            continue
        except NoSource as problem:
            return None, str(problem)
        except Exception as problem:
            return None, f"it raises {type(problem).__name__} on exact numbers: {problem}"[:300]
        if not REFUSALS:
            return sign, shown
        reason = REFUSALS[0]
    return None, reason


def _value(function: Any, case: Case, bits: int, rate: bool) -> Any:
    from eigentoken.numerics.author_code.decided_numbers import decided

    def raised(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: raised(each) for name, each in value.items()}
        return tuple(raised(each) for each in value) if isinstance(value, tuple | list) else decided(value)

    system, mask = case.instance.system, case.instance.mask
    balls = ball_setting(case.instance, bits)
    extra = {name: tuple(decided(sp.sympify(entry)) for entry in vector) for name, vector in case.extra.items()}
    numbers = {"exp": lambda y: decided(y).exp(), "sqrt": lambda y: decided(y).sqrt(), "one": decided(1)}
    algebra = replace(balls, **numbers).algebra()
    parameters = {**{name: raised(value) for name, value in case.instance.parameters.items()}, **extra}
    tokens = raised(case.instance.tokens)

    def ask(x: Any) -> Any:
        return function(algebra, system, parameters, x, mask)

    if not rate:
        return ask(tokens)
    moved = raised(balls.advance())
    if system.time is Time.MAP:
        return ask(moved) - ask(tokens)
    jets = tuple(
        tuple(Jet(a, {0: b}) for a, b in zip(token, velocity, strict=True))
        for token, velocity in zip(tokens, moved, strict=True)
    )
    found = ask(jets)
    return found.slopes.get(0, decided(0)) if isinstance(found, Jet) else decided(0)
