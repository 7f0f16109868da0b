"""What a paper does not show as a step of its own: terms in another order, ``x > 0`` and therefore ``x != 0``, ``|v|^2 >= 0``.

Only print asks this: what is left out here was proved, and the steps that use it name what it rests on.
"""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Expression
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.propositions import Proposition, relation_of
from eigentoken.theory.kernel.tensors import Tensor

__all__ = ["follows_at_once", "is_square", "is_truism", "rearranged"]

_PLAIN = re.compile(r"[\d.]+ (>|<|=|\\geq|\\leq) [\d.]+|(\w+|\w_\{\d+\}) \\leq \2")
_SQUARE = re.compile(r"(\|[^|]*\||\\left\|[^|]*\\right\|)\^\{2\} \\geq 0")


def is_square(said: Proposition) -> bool:
    r"""Is it ``|v|^2 >= 0``, for any vector?"""
    return _SQUARE.fullmatch(latex(said)) is not None


def follows_at_once(said: Proposition, before: Proposition) -> bool:
    """Is it the same comparison, said weaker: ``a >= b`` or ``a != b`` where ``a > b``?

    >>> from eigentoken.theory.kernel.propositions import proposition
    >>> x = sp.Symbol("x", real=True)
    >>> follows_at_once(proposition(sp.Ne(x, 0)), proposition(x > 0))
    True
    """
    weak, strong = relation_of(said), relation_of(before)
    if not isinstance(strong, sp.Gt | sp.Lt) or not isinstance(weak, sp.Ne | sp.Ge | sp.Le):
        return False
    same_way = isinstance(weak, sp.Ne) or isinstance(weak, sp.Ge) == isinstance(strong, sp.Gt)
    turned = isinstance(weak, sp.Ne) or isinstance(weak, sp.Ge) != isinstance(strong, sp.Gt)
    return (same_way and weak.args == strong.args) or (turned and weak.args == strong.args[::-1])


def rearranged(said: Proposition) -> bool:
    """Is it an equation whose sides are one sum, up to the order of the terms, brackets and factors before these?

    A square that is completed, or a product that is multiplied out, is no such thing: it is worth a line.

    >>> from eigentoken.theory.kernel.propositions import proposition
    >>> x, y, z = sp.symbols("x y z", real=True)
    >>> [rearranged(proposition(sp.Eq(x * (y + z), right, evaluate=False))) for right in (z * x + y * x, x * y)]
    [True, False]
    >>> rearranged(proposition(sp.Eq((x + y) ** 2, x**2 + 2 * x * y + y**2, evaluate=False)))
    False
    """
    relation = relation_of(said)
    if not isinstance(relation, sp.Eq) or not all(isinstance(side, sp.Expr) for side in relation.args):
        return False
    sides = [_in_terms(side) for side in relation.args]
    return all(map(_one_sum, sides)) and sp.expand_mul(sides[0] - sides[1]) == 0


def _in_terms(side: sp.Expr) -> sp.Expr:
    """The quantities of the calculus term by term, each factor that stands for itself by itself."""
    found: sp.Expr = side.xreplace({each: _spread(each) for each in side.atoms(Tensor) if type(each) is Tensor})
    return found


def _spread(quantity: Tensor) -> sp.Expr:
    return sp.Add(*(scale * sp.Mul(*_factors(part, quantity.time)) for part, scale in quantity.key))


def _factors(part: Any, time: Any) -> list[sp.Expr]:
    if part.bound or part.arrow is not None:
        return [Tensor(Expression({part: sp.Integer(1)}), time)]
    single = [(type(part)((), ((atom, 1),), None), power) for atom, power in part.factors]
    return [Tensor(Expression({one: sp.Integer(1)}), time) ** power for one, power in single]


def _one_sum(side: sp.Expr) -> bool:
    """Is no sum in it multiplied by a sum?"""
    for node in sp.preorder_traversal(side):
        if isinstance(node, sp.Mul) and sum(isinstance(each, sp.Add) for each in node.args) > 1:
            return False
        if isinstance(node, sp.Pow) and isinstance(node.base, sp.Add) and node.exp.is_Integer and node.exp > 1:
            return False
    return True


def is_truism(said: Proposition) -> bool:
    """Numbers alone, ``1 > 0``, or a token that sees itself, ``i <= i``: printed, it would say nothing."""
    return _PLAIN.fullmatch(latex(said)) is not None
