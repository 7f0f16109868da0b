"""Vector identities as scalar ones, and the systems themselves as the source of the formulas.

*Coordinatewise.*  A vector identity that is linear in the vectors ``y_i, y_j, X, ...`` holds for every d exactly when it
holds in each coordinate; there the vectors are numbers.  So vectors enter the derivations as scalar symbols, inner products
as further symbols, and a linear functional ``X -> u^T X`` as the substitution of each vector by its product with u
(:func:`functional` refuses what is not linear).  *Summand by summand.*  An identity between sums over j that holds for
each summand holds for every number of tokens.

*From the system.*  ``velocity`` evaluates the registered systems on symbols, so that a changed sign there breaks
the derivations; these reductions are for listed sizes and say so, unless the dimension-free calculus carries them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import sympy as sp

from eigentoken.proofs.steps.reductions import Relations, grouped
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.statements.steps import Identity, Reduction
from eigentoken.theory.systems.algebra import LoopAlgebra, MaskValue, Number, ParameterValue, State, causal_mask
from eigentoken.theory.systems.catalogue import system

__all__ = [
    "EXACT",
    "applied",
    "functional",
    "matrix_of_symbols",
    "slope",
    "tokens_of_symbols",
    "velocity",
]

#: The loops over sympy expressions.
EXACT = LoopAlgebra(lambda u: sp.exp(sp.expand(u)), sp.sqrt, sp.Integer(1))


@dataclass(frozen=True, kw_only=True)
class Functional(Identity):
    """An identity ``u^T (expression) = right``: the products of u with the vectors are substituted, and printed as such.

    ``by`` is the functional, as LaTeX.
    """

    by: str = ""

    def display(self) -> str:
        if not self.by:
            return super().display()
        text = rf"{self.by}\bigl[{scalar_latex(self.left)}\bigr] = {scalar_latex(self.right)}"
        given = r",\quad ".join(
            rf"{self.by}\bigl[{scalar_latex(name)}\bigr] = {scalar_latex(value)}" for name, value in self.where.items()
        )
        return rf"{text},\qquad \text{{where }} {given}"


def functional(expression: sp.Expr, products: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """``u^T (expression)``: each vector symbol is replaced by its product with u; the expression must be linear in them.

    >>> y, X, m, q = sp.symbols("y X m q")
    >>> functional(X - m * y / q, {X: m, y: q})
    0
    """
    vectors = list(products)
    scaling = sp.Dummy("scale")
    scaled = sp.expand(expression.subs({each: scaling * each for each in vectors}, simultaneous=True))
    if sp.expand(scaled - scaling * expression) != 0:
        raise ValueError(f"{expression} is not linear in {', '.join(map(str, vectors))}: a functional needs it to be")
    return expression.subs(dict(products), simultaneous=True)


def tokens_of_symbols(count: int, d: int, letter: str = "y") -> tuple[tuple[sp.Symbol, ...], ...]:
    """Tokens whose coordinates are real symbols."""
    return tuple(tuple(sp.Symbol(f"{letter}_{i + 1}{a + 1}", real=True) for a in range(d)) for i in range(count))


def matrix_of_symbols(d: int, letter: str, *, symmetric: bool = False) -> tuple[tuple[sp.Symbol, ...], ...]:
    """A matrix of real symbols."""

    def entry(a: int, b: int) -> Any:
        low, high = (min(a, b), max(a, b)) if symmetric else (a, b)
        return sp.Symbol(f"{letter}_{low + 1}{high + 1}", real=True)

    return tuple(tuple(entry(a, b) for b in range(d)) for a in range(d))


def velocity(
    name: str, parameters: Mapping[str, ParameterValue], x: Sequence[Sequence[Number]], mask: MaskValue = None
) -> State:
    """The velocity of the registered flow at x, in exact expressions; a causal system brings its own mask."""
    chosen = system(name)
    if mask is None and chosen.mask == "causal":
        mask = causal_mask(len(x))
    return chosen.advance(EXACT, parameters, tuple(tuple(token) for token in x), mask)


def applied(
    name: str,
    says: str,
    expression: sp.Expr,
    products: Mapping[sp.Expr, sp.Expr],
    right: sp.Expr,
    *,
    by: str = "",
    **relations: Unpack[Relations],
) -> Identity:
    """``u^T (expression) = right``, where ``products`` gives the product of u with each vector: an identity for every d.

    ``by`` names the functional (``u^{\\top}``) in print.
    """
    functional(expression, products)  # refuses what is not linear in the vectors
    return Functional(by=by, name=name, says=says, left=expression, right=right, where=dict(products), **relations)


def slope(
    name: str,
    says: str,
    of: sp.Expr,
    by: sp.Expr,
    claimed: sp.Expr,
    *,
    at: sp.Expr = None,
    order: int = 1,
    **relations: Unpack[Relations],
) -> Reduction:
    """``d/ds (of) = claimed`` (at ``s = at``, where given): the derivative is computed, the claim is data, both are printed."""

    def derived() -> list[Any]:
        found = sp.diff(of, by, order)
        return [found if at is None else found.subs(by, at)]

    mark = f"d^{order}" if order > 1 else "d"
    below = f"d{scalar_latex(by)}" + (f"^{order}" if order > 1 else "")
    where = "" if at is None else rf"\bigg|_{{{scalar_latex(by)} = {scalar_latex(at)}}}"
    text = rf"\frac{{{mark}}}{{{below}}}\left[{scalar_latex(of)}\right]{where} = <1>"
    return grouped(name, says, derived, [claimed], text, **relations)
