"""Does a relation between integers follow from others?  Polynomials with integer coefficients, asked of z3."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from eigentoken.theory.proving.polynomial_form import assumed_of
from eigentoken.theory.proving.real_arithmetic import ToZ3

__all__ = ["integers_follow"]


def integers_follow(given: Iterable[sp.Basic], goal: sp.Basic, *, seconds: float = 20.0) -> str | None:
    """The question in SMT-LIB, where z3 answers that the goal holds for all integers that the relations given hold for.

    >>> m = sp.Symbol("m", integer=True)
    >>> integers_follow([m > 1], m >= 2) is None, integers_follow([m > 1], m >= 3) is None
    (False, True)
    """
    import z3

    known = [sp.sympify(each) for each in given]
    letters = sorted(set().union(*(each.free_symbols for each in (*known, sp.sympify(goal)))), key=str)
    if any(each.is_integer is not True for each in letters) or len({each.name for each in letters}) != len(letters):
        raise TypeError(f"the letters must be different integers, got {', '.join(map(str, letters))}")
    reading, solver = ToZ3(integers=True), z3.Solver()
    solver.set("timeout", int(1000 * seconds))
    solver.add(*(reading.as_clause(fact) for each in letters for fact in assumed_of(each)))
    solver.add(*map(reading.as_clause, known), z3.Not(reading.as_clause(sp.sympify(goal))))
    return str(solver.to_smt2()) if solver.check() == z3.unsat else None
