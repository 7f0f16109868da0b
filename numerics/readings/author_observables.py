"""Observables of an author's own file: their lines are run on decided numbers, as a predicate's are.

In balls ``a > b`` is false where it is not proved, and a float is the binary fraction that is stored: right for the toolkit's own
observables, which compare nothing and have no floats, and a trap for anyone else's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from eigentoken.numerics.instances.exact_values import BITS, Case
from eigentoken.theory.classification.jacobians import Jet, ball_setting
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.systems.system import Time

__all__ = ["author_decay", "author_sign", "author_sign_at", "is_authors"]


def is_authors(observable: Observable) -> bool:
    """Is the observable code of a conjecture's file?"""
    return not str(getattr(observable.function, "__module__", "")).startswith("eigentoken.")


def author_sign(observable: Observable, case: Case, rate: bool) -> tuple[int | None, str]:
    """The proved sign of the observable, or of its change; ``None`` with the reason where there is none."""
    return _proved_sign(observable, lambda function, bits: _value(function, case, bits, rate), BITS[:3])


def author_sign_at(observable: Observable, case: Case, state: Any, bits: int) -> tuple[int | None, str]:
    """The proved sign of the observable at another state, given by balls of this precision."""
    return _proved_sign(observable, lambda function, _: _asked(function, case, bits)(_raised(state)), (bits,))


def author_decay(observable: Observable, case: Case, rate: sp.Expr) -> tuple[int | None, str]:
    """The proved sign of the change of the observable plus the rate times its value."""
    from eigentoken.numerics.author_code.decided_numbers import decided

    def total(function: Any, bits: int) -> Any:
        return _value(function, case, bits, True) + decided(rate) * _value(function, case, bits, False)

    return _proved_sign(observable, total, BITS[:3])


def _proved_sign(observable: Observable, ask: Any, precisions: Sequence[int]) -> tuple[int | None, str]:
    from eigentoken.numerics.author_code.decided_numbers import REFUSALS, NotDecided, decided, enclosure
    from eigentoken.numerics.author_code.source import NoSource, exact_version

    reason = ""
    for bits in precisions:
        del REFUSALS[:]
        try:
            with precision(bits):
                value = decided(ask(exact_version(observable.function), bits))
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


def _raised(value: Any) -> Any:
    """Numbers in tuples and mappings as decided ones."""
    from eigentoken.numerics.author_code.decided_numbers import decided

    if isinstance(value, dict):
        return {name: _raised(each) for name, each in value.items()}
    return tuple(_raised(each) for each in value) if isinstance(value, tuple | list) else decided(value)


def _asked(function: Any, case: Case, bits: int) -> Callable[[Any], Any]:
    """The function as one of the state alone."""
    from eigentoken.numerics.author_code.decided_numbers import decided

    extra = {name: tuple(decided(sp.sympify(entry)) for entry in vector) for name, vector in case.extra.items()}
    numbers = {"exp": lambda y: decided(y).exp(), "sqrt": lambda y: decided(y).sqrt(), "one": decided(1)}
    algebra = replace(ball_setting(case.instance, bits), **numbers).algebra()
    parameters = {**{name: _raised(value) for name, value in case.instance.parameters.items()}, **extra}
    return lambda x: function(algebra, case.instance.system, parameters, x, case.instance.mask)


def _value(function: Any, case: Case, bits: int, rate: bool) -> Any:
    from eigentoken.numerics.author_code.decided_numbers import decided

    ask, tokens = _asked(function, case, bits), _raised(case.instance.tokens)
    if not rate:
        return ask(tokens)
    moved = _raised(ball_setting(case.instance, bits).advance())
    if case.instance.system.time is Time.MAP:
        return ask(moved) - ask(tokens)
    jets = tuple(
        tuple(Jet(a, {0: b}) for a, b in zip(token, velocity, strict=True))
        for token, velocity in zip(tokens, moved, strict=True)
    )
    found = ask(jets)
    return found.slopes.get(0, decided(0)) if isinstance(found, Jet) else decided(0)
