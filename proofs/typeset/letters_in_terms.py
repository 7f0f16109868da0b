"""A letter for a term, also where the term stands times a number or a factor, or as halves that are written out.

sympy keeps ``(a + b)/2`` as ``a/2 + b/2`` and ``-(a/b)`` as one product: a reader sees the term there, and so does this.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import sympy as sp

__all__ = ["all_parts", "with_letter"]


@lru_cache(maxsize=20_000)
def all_parts(term: sp.Expr) -> frozenset[sp.Basic]:
    """The term and everything inside of it."""
    return frozenset(sp.preorder_traversal(term))


def with_letter(whole: sp.Expr, term: sp.Expr, letter: sp.Symbol) -> sp.Expr:
    """The whole with the letter for the term, wherever the term can be seen; written out again it is what it was.

    >>> a, b, c, z = sp.symbols("a b c z")
    >>> with_letter(a / 2 + b / 2 + c, a + b, z), with_letter(-3 * a * b * c, a * b, z), with_letter(a + c, a + b, z)
    (c + z/2, -3*c*z, a + c)
    """
    plain: sp.Expr = whole.xreplace({term: letter}) if term in all_parts(whole) else whole
    marks = _marks(term)
    if not marks or not marks <= all_parts(plain):
        return plain
    found: sp.Expr = _inside(plain, term, letter)
    return found if found.xreplace({letter: term}) == whole else plain


@lru_cache(maxsize=20_000)
def _marks(term: sp.Expr) -> frozenset[sp.Basic]:
    """Parts that stand in every multiple of the term."""
    if isinstance(term, sp.Mul):
        return frozenset(term.as_coeff_mul()[1])
    if isinstance(term, sp.Add):
        return frozenset(factor for each in term.args for factor in each.as_coeff_mul()[1])
    return frozenset()


def _inside(node: sp.Basic, term: sp.Expr, letter: sp.Symbol) -> sp.Basic:
    if not node.args or not _marks(term) <= all_parts(node):
        return node
    args = [_inside(each, term, letter) for each in node.args]
    changed = node.func(*args) if any(new is not old for new, old in zip(args, node.args, strict=True)) else node
    if isinstance(term, sp.Mul) and isinstance(changed, sp.Mul):
        return _product(changed, term, letter)
    if isinstance(term, sp.Add) and isinstance(changed, sp.Add):
        return _sum(changed, term, letter)
    return changed


def _product(node: sp.Mul, term: sp.Mul, letter: sp.Symbol) -> sp.Expr:
    """The other factors, the quotient of the numbers, and the letter."""
    scale, factors = node.as_coeff_mul()
    own, wanted = term.as_coeff_mul()
    left = Counter(factors)
    left.subtract(Counter(wanted))
    if min(left.values()) < 0:
        return node
    made: sp.Expr = sp.Mul(scale / own, letter, *left.elements())
    return made


def _sum(node: sp.Add, term: sp.Add, letter: sp.Symbol) -> sp.Expr:
    """The other terms, and a number times the letter."""
    first, *_ = (each for each in term.args if not each.is_number)
    own, rest = first.as_coeff_Mul()
    for each in node.args:
        scale, other = each.as_coeff_Mul()
        if other != rest or not scale.is_Rational:
            continue
        times = scale / own
        wanted = {times * part for part in term.args}
        if wanted <= set(node.args):
            made: sp.Expr = sp.Add(times * letter, *(part for part in node.args if part not in wanted))
            return made
    return node
