"""How a linearization acts at a point with groups of equal tokens: numbers read off the normal form.

Let every token sit on the line through a vector v, and test the derivative with a covector u for which ``u^T v`` and
``u^T (value matrix)`` are known.  By the symmetry of the point the result only contains ``eta_i = u^T w_i``, the means of
eta over the groups, and averages of eta over a mask; a term of any other shape is an error, never dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Assumptions, Base, Expression, dot, normal_form, vector
from eigentoken.theory.calculus.atoms import Dot, Letters, MaskEntry, SumExp
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.calculus.groups import Group, GroupPoint, with_norms
from eigentoken.theory.linearization.linearize import PERTURBATION, Linearization
from eigentoken.theory.systems.system import Time

__all__ = ["MEAN", "Response", "height", "norm_symbol", "raw_symbol", "read_response"]

MEAN = "wbar"
ZERO = sp.Integer(0)


@dataclass(frozen=True)
class Response:
    """``eta_i -> own * eta_i + sum_g from_mean[g] * mean_g(eta) + over_mask * sum_j a_ij eta_j``.

    The numbers may contain the symbols for m and r = |m| of their group.  ``a_ij`` is 1/(number of tokens that i sees)
    where i sees j, else 0.
    """

    own: sp.Expr
    from_mean: dict[str, sp.Expr]
    over_mask: sp.Expr = ZERO

    def entry(self, group: str, other: str) -> sp.Expr:
        """The matrix that acts on the means of the groups."""
        return (self.own if group == other else ZERO) + self.from_mean.get(other, ZERO)


def height(found: Linearization, point: GroupPoint, group: Group) -> sp.Expr:
    """``m`` of ``y_i = m x_i`` for a map at the point, before normalization: its sign decides whether x is fixed."""
    if found.system.time is not Time.MAP:
        raise ValueError("only a map has a step before normalization")
    (definition,) = found.assumptions.definitions.values()
    return point.height(definition, group)


def read_response(
    found: Linearization, point: GroupPoint, group: Group, test: str, metric: Letters, rules: Assumptions
) -> Response:
    """The derivative in one group, tested with ``test^T metric``, under the relations of the point."""
    local = replace(point, assumptions=rules)
    names = {(name, each.kind): norm_symbol(each.kind) for name in rules.norms for each in point.groups}
    heights = {group.kind: raw_symbol(group.kind)} if names else {}
    local = replace(local, heights={(of, group.kind): raw_symbol(group.kind) for of, _ in rules.norms.values()})
    value = with_norms(local.value(found.derivative, group), names)
    tested = normal_form(dot(vector(test), value, metric), rules)
    own, over_mask = ZERO, ZERO
    from_mean: dict[str, sp.Expr] = {}
    for monomial, unreduced in tested.terms.items():
        coefficient = _with_heights(unreduced, heights)
        if coefficient == 0:
            continue
        shape, where = _shape(monomial, test, metric)
        if shape == "own":
            own += coefficient
        elif shape == "mean":
            from_mean[where] = from_mean.get(where, ZERO) + coefficient
        else:
            over_mask += coefficient
    return Response(own, from_mean, over_mask)


def _shape(monomial: Monomial, test: str, metric: Letters) -> tuple[str, str]:
    dots = [atom for atom, power in monomial.factors if isinstance(atom, Dot) and power == 1]
    others = [(atom, power) for atom, power in monomial.factors if not isinstance(atom, Dot)]
    if len(dots) == 1 and dots[0].letters == metric and monomial.arrow is None:
        bases = [base for base in (dots[0].left, dots[0].right) if base.name in (PERTURBATION, MEAN)]
        if len(bases) == 1 and test in (dots[0].left.name, dots[0].right.name):
            (base,) = bases
            if not others and not monomial.bound:
                is_mean = base.name == MEAN
                return ("mean", base.indices[0].name) if is_mean else ("own", base.indices[0].kind)
            if base == Base(PERTURBATION, monomial.bound) and _is_uniform_row(others):
                return "mask", base.indices[0].kind
    term = Expression({monomial: sp.Integer(1)})
    raise ValueError(f"the term {term!r} is not explained by the symmetry of the point")


def _is_uniform_row(factors: list[tuple[Any, int]]) -> bool:
    masks = [atom for atom, power in factors if isinstance(atom, MaskEntry) and power == 1]
    sums = [atom for atom, power in factors if isinstance(atom, SumExp) and power == -1]
    return len(masks) == len(sums) == 1 and len(factors) == 2 and not sums[0].exponent


def _with_heights(value: sp.Expr, heights: Mapping[str, sp.Expr]) -> sp.Expr:
    """Powers of the norms ``r_g = |m_g|`` reduced by ``r_g^2 = m_g^2`` to ``1/r_g`` at most; ``r_g`` stays a symbol."""
    reduced = sp.together(value)
    for kind, number in heights.items():
        r = norm_symbol(kind)
        numerator, denominator = sp.fraction(sp.cancel(reduced))
        even_top, odd_top = _modulo_square(numerator, r, number)
        even_bottom, odd_bottom = _modulo_square(denominator, r, number)
        scale = even_bottom**2 - (odd_bottom * number) ** 2
        even = sp.cancel((even_top * even_bottom - odd_top * odd_bottom * number**2) / scale)
        odd = sp.cancel((odd_top * even_bottom - even_top * odd_bottom) / scale)
        reduced = even + sp.cancel(odd * number**2) / r
    return reduced


def _modulo_square(value: sp.Expr, r: sp.Symbol, number: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """``a + b r`` modulo ``r^2 = number^2``."""
    parts = [ZERO, ZERO]
    for (power,), coefficient in sp.Poly(value, r).terms():
        parts[power % 2] += coefficient * number ** (power - power % 2)
    return parts[0], parts[1]


def raw_symbol(kind: str) -> sp.Symbol:
    """``m`` of ``y_i = m x_i``, kept as a symbol; :func:`height` says what it stands for."""
    return sp.Symbol(f"m_{kind}", real=True)


def norm_symbol(kind: str) -> sp.Symbol:
    """The norm ``r`` of the raw step of a token of the group, kept as a symbol."""
    return sp.Symbol(f"r_{kind}", positive=True)
