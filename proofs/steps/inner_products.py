"""A quantity as a sum of products of others, each with a scale: one normal form, and what a sum and a product are."""

from __future__ import annotations

from typing import TypeAlias

import sympy as sp

from eigentoken.theory.calculus import Expression, one
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor

__all__ = ["expanded"]


#: A number and the quantities that it is multiplied by.
Piece: TypeAlias = "tuple[sp.Expr | int] | tuple[sp.Expr | int, *tuple[Expression, ...]]"


def _piece(
    k: Kernel, scale: sp.Expr | int, factors: tuple[Expression, ...]
) -> tuple[Expression, sp.Expr, list[Proved]]:
    """``c a b ...``: the quantity, what it is made of, and the steps that say so."""
    whole, known = one(), []
    for number, each in enumerate(factors):
        if number:
            known.append(k.product(whole, each))
        whole = whole * each if number else each
    if not factors:
        known.append(k.factors(one()))
    if scale != 1:
        known.append(k.scaling(whole, scale))
    return whole * scale, scale * sp.Mul(*map(Tensor, factors)), known


def expanded(k: Kernel, quantity: Expression, *pieces: Piece, premises: tuple[Proved, ...] = ()) -> Proved:
    """``[q] = c [a] [b] + ...`` for pieces ``(c, a, b, ...)``, c a number and a, b, ... quantities."""
    parts = [_piece(k, each[0], each[1:]) for each in pieces]
    total = parts[0][0]
    for whole, _, _ in parts[1:]:
        total = total + whole
    known = [k.reduction(quantity, total, *premises), *(step for _, _, steps in parts for step in steps)]
    if len(parts) > 1:
        known.append(k.total(*(whole for whole, _, _ in parts)))
    return k.arithmetic(known, sp.Eq(Tensor(quantity), sp.Add(*(value for _, value, _ in parts)), evaluate=False))
