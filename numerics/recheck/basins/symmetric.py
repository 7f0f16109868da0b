"""The half space and the ball of a symmetric value matrix, in mpmath intervals.

The formulas are those of PM-X1 and PM-X2 (maps), CT-12 and CT-13 (flows): see :func:`rate_of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval, is_definite
from eigentoken.theory.systems.system import Time

__all__ = ["OPEN", "STATEMENTS", "confirm_symmetric", "number"]

#: The start of a reason why nothing was decided.
OPEN = "open: "
SYSTEMS = ("oja-map", "oja-flow", "attention-map", "attention-flow")
#: The statement of a kind of region, for maps and for flows.
STATEMENTS = {
    ("half-space", True): "PM-X1",
    ("half-space", False): "CT-12",
    ("ball", True): "PM-X2",
    ("ball", False): "CT-13",
    ("cone", True): "BD-H1",
}


def number(text: str) -> Any:
    """An interval around an exact decimal or fraction."""
    value = Fraction(text)
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


def confirm_symmetric(look: IndependentInstance, region: Mapping[str, Any]) -> str | None:
    """``None`` where facts and rates are confirmed; else what is wrong, or what is open."""
    instance, facts = look.instance, region["facts"]
    if instance.system.name not in SYSTEMS:
        return f"{region['kind']} is a region of attention and Oja systems, not of {instance.system.name}"
    if region["kind"] == "ball" and instance.mask is not None:
        return "the ball is certified without a mask only"
    if len(set(instance.tokens)) != 1 or instance.d < 2:
        return "the tokens are not one point of a sphere"
    V = look.named(str(instance.system.value))
    for i in range(instance.d):
        for j in range(i):
            if sp.simplify(V[i, j] - V[j, i]) != 0:
                return "the value matrix is not symmetric"
    w = [interval(entry) for entry in instance.tokens[0]]
    rows = [[interval(entry) for entry in V.row(i)] for i in range(instance.d)]
    leader = _sum(w[i] * rows[i][j] * w[j] for i in range(instance.d) for j in range(instance.d))
    low, high = (number(each) for each in facts["leader"])
    if leader.a > high.b or leader.b < low.a:
        return "the eigenvalue of the equilibrium is another"
    if not (low.b <= leader.a and leader.b <= high.a):
        return f"{OPEN}the bounds of the eigenvalue of the equilibrium are too narrow for the intervals"
    why = _others(rows, w, leader, facts) or _scores(look, facts)
    if why is not None:
        return why
    return next((bad for each in region["rates"] for bad in [_rate(look, region, leader, each)] if bad), None)


def _sum(values: Any) -> Any:
    total: Any = iv.mpf(0)
    for value in values:
        total = total + value
    return total


def _others(rows: Any, w: Any, leader: Any, facts: Mapping[str, Any]) -> str | None:
    """All other eigenvalues are between the stated bounds: two definite matrices."""
    size = len(w)
    for sign, text in ((-1, facts["others"][0]), (1, facts["others"][1])):
        bound = number(text)
        lift = abs(bound) + 1
        gap = [
            [
                sign * ((bound if i == j else 0) - rows[i][j] + leader * w[i] * w[j]) + lift * w[i] * w[j]
                for j in range(size)
            ]
            for i in range(size)
        ]
        if not is_definite(gap):
            return (
                f"an eigenvalue beside the leading one is not confirmed to be {'below' if sign > 0 else 'above'} {text}"
            )
    return None


def _scores(look: IndependentInstance, facts: Mapping[str, Any]) -> str | None:
    name, bound = look.instance.system.score, number(facts["scores"])
    if name is None:
        return None if bound.a >= 0 else "a norm is not below zero"
    M = look.named(name)
    if all(entry == 0 for entry in M):
        return None if bound.a >= 0 else "a norm is not below zero"
    rows = [[interval(entry) for entry in M.row(i)] for i in range(M.rows)]
    size = len(rows)
    gap = [
        [(bound * bound if i == j else 0) - _sum(rows[k][i] * rows[k][j] for k in range(size)) for j in range(size)]
        for i in range(size)
    ]
    return None if bound.a > 0 and is_definite(gap) else "the norm of the scores is not confirmed to be below its bound"


def _rate(look: IndependentInstance, region: Mapping[str, Any], leader: Any, stated: Mapping[str, str]) -> str | None:
    discrete = look.instance.system.time is Time.MAP
    radius, rate = number(stated["radius"]), number(stated["rate"])
    if not radius.a > 0 or not rate.a > 0 or (discrete and not rate.b < 1):
        return f"radius {stated['radius']} and rate {stated['rate']} say nothing"
    step = interval(look.instance.parameters["alpha"]) if discrete else None
    found = rate_of(region["kind"], leader, region["facts"], radius, step)
    if found is None:
        return f"no rate follows for the radius {stated['radius']}"
    if discrete:
        false, sure = found.a > rate.b, found.b <= rate.a
    else:
        false, sure = found.b < rate.a, found.a >= rate.b
    if false:
        return f"the rate {stated['rate']} does not follow for the radius {stated['radius']}: {iv.nstr(found, 9)} does"
    return None if sure else f"{OPEN}the rate {stated['rate']} is too near to what follows"


def rate_of(kind: str, leader: Any, facts: Mapping[str, Any], radius: Any, step: Any) -> Any:
    """The rate that follows for a radius; ``None`` where the theorem says nothing."""
    low, high = (number(each) for each in facts["others"])
    rho, size = _larger(abs(low), abs(high)), iv.sqrt(1 + radius * radius)
    if kind == "half-space":
        return (leader - rho) / size if step is None else (size + step * rho) / (size + step * leader)
    eta = iv.exp(2 * number(facts["scores"]) * radius) * size - 1
    if not leader.a > 0:
        return None
    if step is None:
        return leader - _larger(high, iv.mpf(0)) - (leader + rho) * eta
    below = 1 + step * leader - step * leader * eta
    slow = _larger(iv.mpf(1), _larger(abs(1 + step * low), abs(1 + step * high)))
    return (slow + step * rho * eta) / below if below.a > 0 else None


def _larger(x: Any, y: Any) -> Any:
    return iv.mpf([max(x.a, y.a), max(x.b, y.b)])
