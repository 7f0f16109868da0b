"""Where a term has a value: no zero denominator, no root of a negative number, no logarithm of what is not positive.

What holds in this room: *a relation, and a word, says of every term in it that it has a value*.  So ``1/x > 0`` is false at
``x = 0``, its negation is true there, and logic stays classical.  A rule that concludes a relation must know that it is defined;
a rule that replaces letters must not lose the condition (``x/y = 1`` at ``x := y`` is ``1 = 1 and y != 0``).

The inverse of a matrix is read otherwise: in a relation ``X^-1`` is the inverse where there is one, and else some matrix, one for
each X, of which nothing is known.  So a relation says nothing of X having an inverse, and none follows from it.  A word about
``X^-1`` (:func:`~.forms.invertible`) does say so; it is assumed, or follows from words that do: what a word means is said under
words about the same matrix, no theorem that takes any matrix concludes one, and a letter becomes ``X^-1`` only where X is known
to be nonsingular.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.symbol import Str
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import Boolean

from eigentoken.theory.calculus import SLOT, Expression, Index, dot, instance, vector
from eigentoken.theory.kernel.closed import settled
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.terms import MatrixNumber

__all__ = ["where_defined"]

#: Terms that have a value wherever their parts have one.
_TOTAL = (
    *(sp.Add, sp.Mul, sp.Number, sp.NumberSymbol, sp.Symbol, sp.Tuple, Boolean, Str, ExprCondPair, sp.Piecewise),
    *(sp.exp, sp.sinh, sp.cosh, sp.tanh, sp.sech, sp.sin, sp.cos, sp.atan, sp.Abs, sp.Max, sp.Min, sp.sign, sp.floor),
    *(sp.MatrixExpr, MatrixNumber, Tensor, AppliedUndef),
)
_NO_NUMBERS = tuple(map(type, (sp.zoo, sp.nan, sp.oo, -sp.oo, sp.I)))


def where_defined(thing: Any) -> frozenset[Any]:
    """The conditions (relations, or ``false``) under which every term in a relation, a word, a term or a vector has a value.

    A vector with a coefficient that is not known to be real is refused: its square could be negative.

    >>> x = sp.Symbol("x", real=True)
    >>> where_defined(1 / x > 0)
    frozenset({Ne(x, 0)})
    """
    if isinstance(thing, sp.Basic):
        return _of_term(thing)
    if isinstance(thing, Expression):
        return _of_term(Tensor(dot(_member(thing), vector("#")) if thing.is_vector else thing))
    if isinstance(thing, tuple | list):
        return frozenset().union(*map(where_defined, thing))
    if isinstance(thing, SpectrumIs):  # a root there may be a complex number
        return frozenset(each for each in where_defined(thing.classes) if not isinstance(each, sp.Ge))
    if is_dataclass(thing) and not isinstance(thing, type):
        return frozenset().union(*(where_defined(getattr(thing, each.name)) for each in fields(thing)))
    return frozenset()


def _member(vectors: Expression) -> Expression:
    """A vector; of a family in the slot index, that of one token."""
    return instance(vectors, Index("token", "#")) if SLOT in vectors.free_indices else vectors


@lru_cache(maxsize=20_000)
def _of_term(term: sp.Basic) -> frozenset[Any]:
    return frozenset(each for node in sp.preorder_traversal(term) for each in _of_node(node) if each != sp.true)


def _of_node(node: Any) -> list[Any]:
    if isinstance(node, _NO_NUMBERS):
        return [sp.false]
    if isinstance(node, sp.Float):
        raise Refused(f"{node} is a rounded number: write it as an exact Rational")
    if isinstance(node, Tensor):
        return [each for part in node.divisors() for each in (settled(sp.Ne, part), *where_defined(part))] + [
            each for part in (*node.coefficients(), node.time) for each in where_defined(part)
        ]
    if isinstance(node, sp.Pow):
        return _of_power(*node.args)
    if isinstance(node, sp.Piecewise):  # a value in one of its cases
        if any(map(where_defined, node.args)):  # in the other cases nobody asks for that
            raise Refused(f"a case of {node} has no value everywhere: say the cases as a disjunction")
        return [sp.Or(*(case.cond for case in node.args))]
    if isinstance(node, sp.log):
        return [settled(sp.Gt, node.args[0])]
    if isinstance(node, sp.coth | sp.csch):
        return [settled(sp.Ne, node.args[0])]
    if not isinstance(node, _TOTAL):
        raise Refused(f"{node} ({type(node).__name__}) is no term of the kernel: where it is defined is not known")
    return []


def _of_power(base: Any, exponent: Any) -> list[Any]:
    """Of an integer, what is said depends on its value, not on how it is written: it may become a number."""
    if exponent.is_integer:
        return [sp.Or(settled(sp.Ne, base), settled(sp.Ge, exponent))]
    if exponent.is_Rational:
        return [settled(sp.Ge, base), *([settled(sp.Ne, base)] if exponent.is_negative else [])]
    return [settled(sp.Gt, base)]
