"""Quantities of a matrix whose eigenvalues may be complex, by the second arithmetic: exact roots of factors of degree 1 and 2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.numerics.recheck.refutations.condition_truths import EXACT_NUMBER
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.theory.language import terms

__all__ = ["ordered_roots"]

z = sp.Symbol("z")


def ordered_roots(value: sp.Matrix) -> list[sp.Expr] | None:
    """All eigenvalues, largest real part first; ``None`` where one has no form with square roots alone, or the order is open."""
    if not all(entry.is_Rational for entry in value):
        return None
    found: list[sp.Expr] = []
    for factor, times in sp.Poly(value.charpoly(z).as_expr(), z, domain="QQ").factor_list()[1]:
        if factor.degree() > 2:
            return None
        found += [root for root in sp.roots(factor) for _ in range(times)]
    for at in range(1, len(found)):  # insertion, by comparisons that sympy decides
        while at > 0:
            gap = sp.simplify(sp.re(found[at]) - sp.re(found[at - 1]))
            if gap.is_positive is None and not gap.is_zero:
                return None
            if not gap.is_positive:
                break
            found[at], found[at - 1] = found[at - 1], found[at]
            at -= 1
    return found


def _root(number: terms.MatrixNumber, look: IndependentInstance, ell: int | None) -> sp.Expr | None:
    roots, index = ordered_roots(look.matrix(number.args[0])), number.args[1].subs(look.sizes(ell))
    return None if roots is None or not 1 <= index <= len(roots) else roots[int(index) - 1]


@EXACT_NUMBER.register(terms.EigenvalueRealPart)
def number_real_part(number: terms.EigenvalueRealPart, look: IndependentInstance, ell: int | None) -> Any:
    root = _root(number, look, ell)
    return None if root is None else sp.simplify(sp.re(root))


@EXACT_NUMBER.register(terms.EigenvalueModulus)
def number_modulus(number: terms.EigenvalueModulus, look: IndependentInstance, ell: int | None) -> Any:
    """Only where no other eigenvalue with the same real part has another modulus: their order is no one's choice."""
    root, roots = _root(number, look, ell), ordered_roots(look.matrix(number.args[0]))
    if root is None or roots is None:
        return None
    alike = [other for other in roots if sp.simplify(sp.re(other) - sp.re(root)) == 0]
    sizes = {sp.simplify(sp.Abs(other)) for other in alike}
    return sizes.pop() if len(sizes) == 1 else None


@EXACT_NUMBER.register(terms.SpectralRadiusOff)
def number_radius_off(number: terms.SpectralRadiusOff, look: IndependentInstance, ell: int | None) -> Any:
    """The first eigenvalue must be ahead of the others in real part."""
    roots = ordered_roots(look.matrix(number.args[0]))
    if roots is None or (len(roots) > 1 and sp.simplify(sp.re(roots[0]) - sp.re(roots[1])) == 0):
        return None
    return sp.Max(0, *(sp.simplify(sp.Abs(root)) for root in roots[1:]))


@EXACT_NUMBER.register(terms.RightCount)
def number_right_count(number: terms.RightCount, look: IndependentInstance, ell: int | None) -> Any:
    roots = ordered_roots(look.matrix(number.args[0]))
    if roots is None:
        return None
    signs = [sp.simplify(sp.re(root)) for root in roots]
    return None if any(s.is_positive is None for s in signs) else sp.Integer(sum(bool(s.is_positive) for s in signs))


@EXACT_NUMBER.register(terms.HeadNorm)
def number_head_norm(number: terms.HeadNorm, look: IndependentInstance, ell: int | None) -> Any:
    norms = [EXACT_NUMBER(terms.SpectralNorm(number.args[0]), each, ell) for each in look.heads_alone()]
    return None if any(norm is None for norm in norms) else sp.Max(*norms)
