"""What is assumed about the letters: the relations that the normal form uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from eigentoken.theory.calculus.atoms import Base, Letters
from eigentoken.theory.calculus.expressions import Expression

__all__ = ["ALPHA", "DIMENSION", "HEADS", "TOKENS", "Assumptions"]

#: The symbols of the papers: n tokens, dimension d, H heads, step size alpha.
TOKENS = sp.Symbol("n", integer=True, positive=True)
DIMENSION = sp.Symbol("d", integer=True, positive=True)
HEADS = sp.Symbol("H", integer=True, positive=True)
ALPHA = sp.Symbol("alpha", positive=True)


def _nothing() -> Any:
    return field(default_factory=dict)


@dataclass(frozen=True)
class Assumptions:
    """Relations between letters, each one an oriented rewriting rule.

    ``sizes``        how many values an index of each kind has
    ``symmetric``    matrices S with ``S^T = S``
    ``unit``         families with ``x_i^T W x_i = 1``, W the product of the given letters
    ``tangent``      pairs ``(x, w)`` with ``x_i^T W w_i = 0``
    ``orthogonal``   pairs ``(v, w)`` with ``v^T W w_i = 0`` for every i
    ``norms``        norm name -> (vector name, W): ``y_i^T W y_i = r_i^2``
    ``definitions``  vector name -> its expression in the slot index
    ``eigen``        ``(matrix, transposed, vector) -> value``: the matrix applied to the vector is value times it
    ``gram``         ``(vector, letters, vector) -> value`` for vectors without indices
    ``products``     ``(A, B) -> letters``: the product AB of two untransposed matrices
    ``replaced``     matrix -> (factor, letters or None for zero): ``M = c V``
    ``zero_sums``    families with ``sum_j x_j = 0``
    ``zero_averages`` families with ``sum_j a_ij x_j = 0`` for every i and every row of weights that is used
    ``means``        family -> name of its mean: ``sum_j w_j = size * mean``
    ``totals``       matrix with a head index -> the name of its sum over the heads
    ``signs``        named scalars with square 1
    ``unit_in_norm`` norm name -> family whose unit length is put into the norm (its own motion is then left out)
    """

    sizes: Mapping[str, sp.Expr] = field(default_factory=lambda: {"token": TOKENS, "head": HEADS})
    symmetric: frozenset[str] = frozenset()
    unit: Mapping[str, Letters] = _nothing()
    tangent: Mapping[tuple[str, str], Letters] = _nothing()
    orthogonal: Mapping[tuple[str, str], Letters] = _nothing()
    norms: Mapping[str, tuple[str, Letters]] = _nothing()
    definitions: Mapping[str, Expression] = _nothing()
    eigen: Mapping[tuple[str, bool, str], sp.Expr] = _nothing()
    gram: Mapping[tuple[Base, Letters, Base], sp.Expr] = _nothing()
    products: Mapping[tuple[str, str], Letters] = _nothing()
    replaced: Mapping[str, tuple[sp.Expr, Letters | None]] = _nothing()
    zero_sums: frozenset[str] = frozenset()
    zero_averages: frozenset[str] = frozenset()
    means: Mapping[str, str] = _nothing()
    totals: Mapping[str, str] = _nothing()
    signs: frozenset[str] = frozenset()
    unit_in_norm: Mapping[str, str] = _nothing()

    def extended(self, **changes: Any) -> Assumptions:
        """These assumptions and more: mappings and sets are joined, not replaced."""
        joined: dict[str, Any] = {}
        for name, value in changes.items():
            old = getattr(self, name)
            joined[name] = old | value if isinstance(old, frozenset) else {**old, **value}
        return replace(self, **joined)
