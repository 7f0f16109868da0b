"""Second opinions: the same scalar questions, put to arithmetic that shares no code with the first checker.

Identities were proved by sympy's polynomials; here both sides are quotients of FLINT's multivariate polynomials.
Inequalities were proved by z3; :mod:`eigentoken.theory.proving.cvc5_inequalities` translates them afresh and asks cvc5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import lcm
from typing import Any

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly_ctx

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.proving.cvc5_inequalities import inequality_by_cvc5

__all__ = ["identities_by_flint", "identity_by_flint", "inequality_by_cvc5"]


_AS_EXPONENTIALS = {
    sp.sinh: lambda u: (sp.exp(u) - sp.exp(-u)) / 2,
    sp.cosh: lambda u: (sp.exp(u) + sp.exp(-u)) / 2,
    sp.tanh: lambda u: (sp.exp(2 * u) - 1) / (sp.exp(2 * u) + 1),
}


def identity_by_flint(left: sp.Expr, right: sp.Expr) -> Verdict:
    """``left - right`` as a quotient of FLINT polynomials over generators that only true relations connect.

    A power ``b^(c u)``, c rational, is a power of the one generator ``b^(u/N)`` (``e^u`` and roots among them), and a
    root satisfies ``(b^(1/N))^N = b``.  Other functions are opaque.  A difference that is not zero refutes only where
    the expression is a rational function of symbols; otherwise it is undecided.

    >>> a, b, n = sp.symbols("a b n", positive=True)
    >>> identity_by_flint((a + b) ** 2, a**2 + 2 * a * b + b**2).answer.value
    'holds'
    >>> identity_by_flint((a + b) ** 2, a**2 + b**2).answer.value
    'fails'
    >>> identity_by_flint(a / sp.sqrt(a) - 2**n, sp.sqrt(a) - 2 * 2 ** (n - 1)).answer.value
    'holds'
    """
    difference = sp.sympify(left) - sp.sympify(right)
    for each in [node for node in sp.preorder_traversal(difference) if node.func in _AS_EXPONENTIALS]:
        difference = difference.xreplace({each: _AS_EXPONENTIALS[each.func](each.args[0])})
    field = _Field(difference)
    top, bottom = field.quotient(difference)
    if field.reduced(bottom) == 0:
        return undecided("FLINT: a denominator is identically zero")
    if field.reduced(top) == 0:
        return holds("FLINT multivariate polynomials: the numerator is zero")
    if field.rational:
        return fails("FLINT multivariate polynomials: the numerator is not zero")
    return undecided("FLINT: not zero over opaque generators")


def identities_by_flint(derived: Sequence[sp.Expr], claimed: Sequence[sp.Expr]) -> Verdict:
    """Every derived expression equals the claimed one; one that differs fails, one that is not decided decides nothing.

    >>> a = sp.Symbol("a", real=True)
    >>> identities_by_flint([a + a, a * a], [2 * a, a**2]).answer.value
    'holds'
    >>> identities_by_flint([a + a], [2 * a, a]).answer.value
    'fails'
    """
    if len(derived) != len(claimed):
        return fails(f"{len(derived)} expressions were derived, {len(claimed)} are claimed")
    found = [identity_by_flint(*pair) for pair in dict.fromkeys(zip(derived, claimed, strict=True))]
    for each in found:
        if each.is_fails:
            return each
    open_ones = [each for each in found if each.is_undecided]
    return open_ones[0] if open_ones else holds(f"FLINT: {len(claimed)} derived expressions agree with the claim")


class _Field:
    """The generators of one expression: symbols, opaque functions, and powers ``b^(u/N)`` with one N for each (b, u)."""

    def __init__(self, expression: Any) -> None:
        self.shares: dict[tuple[Any, Any], int] = {}
        self.atoms: list[Any] = []
        self._collect(expression)
        # outer roots come first: in the lexicographic order they are divided out first, inner ones after
        keys = [*reversed(self.shares), *self.atoms]
        names = tuple(f"g{index}" for index in range(max(1, len(keys))))
        self.context = fmpq_mpoly_ctx.get(names, Ordering.lex)
        self.generators = dict(zip(keys, self.context.gens(), strict=False))
        self.one = self.context.constant(1)
        self.rational = not self.shares and all(each.is_Symbol for each in self.atoms)
        self.relations = list(self._relations())

    def _collect(self, node: Any) -> None:
        if node.is_Rational:
            return
        if node.is_Add or node.is_Mul:
            for part in node.args:
                self._collect(part)
        elif _is_power(node):
            base, exponent = node.as_base_exp()
            if base is not sp.E:
                self._collect(base)
            for share, unit in _parts(exponent):
                if not (unit == 1 and exponent.is_Integer):
                    self.shares[base, unit] = lcm(self.shares.get((base, unit), 1), int(share.q))
        elif node not in self.atoms:
            self.atoms.append(node)

    def _relations(self) -> Iterator[Any]:
        """``g^N = b`` for the generator g of ``b^(1/N)``, where b is a polynomial."""
        for (base, unit), share in reversed(self.shares.items()):
            if unit == 1 and base is not sp.E:
                top, bottom = self.quotient(base)
                if bottom.is_constant():
                    yield bottom * self.generators[base, unit] ** share - top

    def reduced(self, polynomial: Any) -> Any:
        """The remainder modulo the relations of the roots."""
        for relation in self.relations:
            polynomial = divmod(polynomial, relation)[1]
        return polynomial

    def quotient(self, node: Any) -> tuple[Any, Any]:
        """Numerator and denominator."""
        if node.is_Rational:
            return self.one * fmpq(int(node.p), int(node.q)), self.one
        if node.is_Add or node.is_Mul:
            top, bottom = self.quotient(node.args[0])
            for part in node.args[1:]:
                up, down = self.quotient(part)
                top, bottom = (top * down + up * bottom, bottom * down) if node.is_Add else (top * up, bottom * down)
            return top, bottom
        if not _is_power(node):
            return self.generators[node], self.one
        base, exponent = node.as_base_exp()
        top, bottom = self.one, self.one
        for share, unit in _parts(exponent):
            if unit == 1 and exponent.is_Integer:
                up, down, power = *self.quotient(base), int(exponent)
            else:
                up, down, power = self.generators[base, unit], self.one, int(share * self.shares[base, unit])
            up, down = (up, down) if power > 0 else (down, up)
            top, bottom = top * up ** abs(power), bottom * down ** abs(power)
        return top, bottom


def _is_power(node: Any) -> bool:
    return isinstance(node, sp.Pow | sp.exp)


def _parts(exponent: Any) -> list[tuple[Any, Any]]:
    """``exponent = sum of share * unit`` with rational shares."""
    return [term.as_coeff_Mul(rational=True) for term in sp.Add.make_args(sp.expand(exponent))]
