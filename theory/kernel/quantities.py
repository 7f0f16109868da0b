"""A quantity and what it is made of: sums, multiples, products, factors, exponentials.  That both are one, the calculus says.

Programs: what they give is proved by a rule that checks it, and they make no ``Proved`` themselves.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Expression, exponential, factor
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.kernel.structure import reduction
from eigentoken.theory.kernel.tensors import Tensor

__all__ = ["exponential_of", "factors", "product", "scaling", "total"]


def total(*expressions: Expression) -> Proved:
    """``[a + b + ...] = [a] + [b] + ...``."""
    if len(expressions) < 2:
        raise Refused("a sum has at least two parts")
    whole = expressions[0]
    for each in expressions[1:]:
        whole = whole + each
    return reduction(whole, sp.Add(*map(Tensor, expressions)), None, rule="total")


def scaling(expression: Expression, scale: Any) -> Proved:
    """``[c e] = c [e]`` for a number c, where both have a value."""
    number = sp.sympify(scale)
    if number.has(Tensor):
        raise Refused(f"the scale must be a number, got {scale}")
    return reduction(expression * number, number * Tensor(expression), None, rule="scaling")


def product(left: Expression, right: Expression) -> Proved:
    """``[a b] = [a] [b]``, where all three have a value."""
    return reduction(left * right, Tensor(left) * Tensor(right), None, rule="product")


def factors(quantity: Expression) -> Proved:
    """``[sum c a b^-1 ...] = sum c [a] [b]^-1 ...``: a quantity is made of its factors; sums over indices are left whole."""
    if quantity.is_vector:
        raise Refused(f"a vector is no number: {quantity!r}")
    pieces = []
    for monomial, scale in quantity.terms.items():
        if monomial.bound:
            pieces.append(scale * Tensor(Expression({monomial: sp.Integer(1)})))
        else:
            pieces.append(sp.Mul(scale, *(Tensor(factor(atom)) ** power for atom, power in monomial.factors)))
    return reduction(quantity, sp.Add(*pieces), None, rule="factors")


def exponential_of(exponent: Expression) -> Proved:
    """``[exp a] = exp [a]``."""
    return reduction(exponential(exponent), sp.exp(Tensor(exponent)), None, rule="exponential_of")
