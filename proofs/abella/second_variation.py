"""The second variation of the potential of a pair of tokens on the sphere, and its mean over directions (for AB-X0)."""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.theory.language.terms import d
from eigentoken.theory.language.verdicts import Verdict, fails, holds

__all__ = ["AVERAGE", "antipodal_pair_hessian", "average_on_instances", "second_variation"]

c = sp.Symbol("c", real=True)
a_i, a_j, eps = sp.symbols("a_i a_j epsilon", real=True)

#: Inner product of the tokens i, j after pushing all tokens along a common v, with a_i = z_i^T v.
PUSHED = (c + eps * (a_i + a_j) + eps**2) / sp.sqrt((1 + 2 * eps * a_i + eps**2) * (1 + 2 * eps * a_j + eps**2))
#: The second variation of a pair, divided by e^c, averaged over v.
AVERAGE = 2 * (1 - c) ** 2 * (1 + c) / d + 2 * (1 - c) * (1 - (2 + c) / d)


def second_variation() -> Any:
    """``e^{-c} d^2/d eps^2 e^{c(eps)}`` at 0, a polynomial in a_i, a_j."""
    first = sp.diff(PUSHED, eps).subs(eps, 0)
    second = sp.diff(PUSHED, eps, 2).subs(eps, 0)
    return sp.expand(first**2 + second)


def antipodal_pair_hessian() -> list[Any]:
    """The smallest Hessian eigenvalue of V at an antipodal pair on the circle: -2/e."""
    theta = sp.Symbol("theta", real=True)
    return [sp.diff(-sp.exp(sp.cos(theta)) - sp.E, theta, 2).subs(theta, sp.pi) * 2]


def _rational_sphere_point(source: random.Random, size: int) -> list[Any]:
    flat = [sp.Rational(source.randint(-9, 9), 10) for _ in range(size - 1)]
    square = sum(each * each for each in flat)
    return [*(2 * each / (1 + square) for each in flat), (1 - square) / (1 + square)]


def average_on_instances(instances: int, seed: int) -> Verdict:
    """The averaged formula, exactly, at random rational points of the sphere: the d axes average quadratics as v
    does."""
    source = random.Random(seed)
    value, formula = sp.Poly(second_variation(), a_i, a_j, c), sp.lambdify((c, d), AVERAGE)
    for _ in range(instances):
        size = source.choice((2, 3, 4))
        first, second = (_rational_sphere_point(source, size) for _ in range(2))
        pair = sum(x * y for x, y in zip(first, second, strict=True))
        mean = sum(value(first[k], second[k], pair) for k in range(size)) / size
        claimed = formula(pair, sp.Integer(size))
        if mean != claimed:
            return fails(f"the average is {mean}, the formula gives {claimed} at {first}, {second}")
        if size >= 3 and pair != 1 and not claimed > 0:
            return fails(f"the average {claimed} is not positive at {first}, {second}")
    return holds(f"{instances} exact instances agree, with the right sign for d >= 3")
