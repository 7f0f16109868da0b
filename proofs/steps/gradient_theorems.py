"""Lojasiewicz's theorem on gradient flows as a proposition: what it asks of the potential, the metric and the velocity."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.proofs.steps.equations import for_every
from eigentoken.theory.calculus import Expression, Index, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.calculus.atoms import Dot, Exp, SumExp
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import Implication, proposition
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.places import SomeEquilibrium
from eigentoken.theory.systems.system import Time

__all__ = ["GRADIENT_FLOWS_CONVERGE"]

_AT, _ALONG, _Z = Index("token", "a"), VectorLetter("Y"), VectorLetter("z")


def _analytic(quantity: Expression) -> bool:
    """Made of inner products and exponentials; divided at most by exponentials and sums of them, which have no zero."""
    return all(
        isinstance(atom, Exp | SumExp) or (isinstance(atom, Dot) and power > 0)
        for monomial in quantity.terms
        for atom, power in monomial.factors
    )


def _gradient(V: Expression, weight: Expression, f: Expression, A: sp.MatrixSymbol) -> tuple[tuple[Any, ...], Any]:
    free = {index for each in (weight, f) for index in each.free_indices}
    if len(free) != 1 or V.free_indices or V.is_vector or weight.is_vector or not f.is_vector:
        raise Refused("the potential is a number, the weight and the velocity are those of one token")
    if not all(map(_analytic, (V, weight))):
        raise Refused("the potential and the weights must be analytic")
    (index,) = free
    weight, f, metric = weight.at((index, _AT)), f.at((index, _AT)), product(A.name)
    x, y = vector(STATE, _AT), vector(_ALONG.name, _AT)
    on = sp.Eq(Tensor(dot(x, x, metric)), 1, evaluate=False)
    moves = sp.Eq(Rate(dot(vector(_Z.name), x)), Tensor(dot(vector(_Z.name), f)), evaluate=False)
    tangent = for_every(sp.Eq(Tensor(dot(x, y, metric)), 0, evaluate=False), _AT)
    down = sp.Eq(Slope(V, _ALONG.name), -Tensor((weight * dot(f, y, metric)).summed(_AT)), evaluate=False)
    hypotheses = (
        Symmetric(A),
        PositiveDefinite(A),
        for_every(on, _AT),
        for_every(moves, _AT, _Z),
        for_every(sp.Gt(Tensor(weight), 0, evaluate=False), _AT),
        for_every(Implication(tangent, proposition(down)), _ALONG),
    )
    return hypotheses, Converges(SomeEquilibrium())


#: Tokens on the ellipsoids of A, ``dx_i/dt = f_i`` minus the gradient of an analytic V in the analytic metric ``sum_i weight_i
#: X_i^T A Y_i``: every trajectory converges to one equilibrium (the product of ellipsoids is a compact analytic manifold).
GRADIENT_FLOWS_CONVERGE = Textbook(
    key="Lojasiewicz-gradient-flow",
    name="Lojasiewicz's gradient theorem",
    letters={"V": Expression, "weight": Expression, "f": Expression, "A": sp.MatrixSymbol},
    says=_gradient,
    reference="Lojasiewicz, Sur les trajectoires du gradient d'une fonction analytique (1984)",
    bibtex=bibtex("Lojasiewicz"),
    time=Time.FLOW,
    autonomous=True,
)
