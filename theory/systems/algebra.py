"""The arithmetic that a system is written in.

A system (:mod:`eigentoken.theory.systems.catalogue`) is composed once, from the six operations below on a state of n tokens.
Whoever implements them gets all systems: exact sympy numbers, mpmath, balls and dual numbers share the loops of
:class:`LoopAlgebra`; batched torch arrays and the dimension-free calculus bring their own.  A conformance test holds
the twins together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Algebra", "LoopAlgebra", "Mask", "causal_mask", "full_mask"]

#: ``mask[i][j]`` is 1 where token i attends to token j, 0 elsewhere; ``None`` is full attention.
Mask = Sequence[Sequence[int]] | None


class Algebra(Protocol):
    """Six operations on a state ``x`` of n tokens, in any arithmetic.

    A ``score`` is a matrix M (scores ``x_i^T M x_j``), a function ``(i, j) -> matrix`` for scores that depend on the
    positions (rotary encoding), or ``None`` for uniform weights.  A ``metric`` is the symmetric positive definite W of
    ``|x|_W^2 = x^T W x``, or ``None`` for the identity.
    """

    def attention(self, x: Any, score: Any, mask: Any, over_root_d: bool) -> Any:
        """``a_ij = exp(s_ij) / sum_l exp(s_il)`` over the unmasked j; divided by ``sqrt(d)`` if ``over_root_d``."""

    def average(self, weights: Any, x: Any) -> Any:
        """``sum_j a_ij x_j`` for each i."""

    def apply(self, matrix: Any, x: Any) -> Any:
        """``F x_i`` for each i; ``None`` is the identity."""

    def add(self, x: Any, u: Any, step: Any = 1) -> Any:
        """``x_i + step u_i`` for each i."""

    def normalise(self, y: Any, metric: Any = None) -> Any:
        """``y_i / |y_i|_W`` for each i: the retraction to the sphere or ellipsoid, undefined where ``y_i = 0``."""

    def tangent(self, x: Any, u: Any, metric: Any = None) -> Any:
        """``u_i - (x_i^T W u_i) x_i`` for each i: the projection to the tangent space at a point of the ellipsoid."""


def full_mask(n: int) -> tuple[tuple[int, ...], ...]:
    """Every token attends to every token."""
    return tuple((1,) * n for _ in range(n))


def causal_mask(n: int) -> tuple[tuple[int, ...], ...]:
    """Token i attends to tokens j <= i."""
    return tuple(tuple(int(j <= i) for j in range(n)) for i in range(n))


Vector = tuple[Any, ...]
Matrix = Sequence[Sequence[Any]]


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    total: Any = 0
    for a, b in zip(x, y, strict=True):
        total = total + a * b
    return total


def _times(matrix: Matrix, x: Sequence[Any]) -> Vector:
    return tuple(_dot(row, x) for row in matrix)


@dataclass(frozen=True)
class LoopAlgebra:
    """The papers' formulas with plain loops, for any scalars with ``+ - * /`` and the two functions given.

    A state is a tuple of tokens, a token a tuple of d scalars, a matrix a sequence of rows.

    >>> import math
    >>> floats = LoopAlgebra(math.exp, math.sqrt)
    >>> floats.normalise(((3.0, 4.0),))
    ((0.6, 0.8),)
    >>> floats.attention(((1.0,), (2.0,)), None, None, False)
    ((0.5, 0.5), (0.5, 0.5))
    """

    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    one: Any = 1
    "a unit of the arithmetic, so that 1/2 is not rounded outside it"

    def attention(
        self, x: Sequence[Sequence[Any]], score: Any, mask: Mask, over_root_d: bool
    ) -> tuple[tuple[Any, ...], ...]:
        n, d = len(x), len(x[0])
        allowed = full_mask(n) if mask is None else mask
        rows = []
        for i in range(n):
            terms = []
            for j in range(n):
                if not allowed[i][j]:
                    terms.append(0 * self.one)
                elif score is None:
                    terms.append(self.one)
                else:
                    matrix = score(i, j) if callable(score) else score
                    terms.append(self.exp(_dot(x[i], _times(matrix, x[j]))))
            total: Any = 0
            for term in terms:
                total = total + term
            if over_root_d:
                total = total * self.sqrt(d * self.one)
            rows.append(tuple(term / total for term in terms))
        return tuple(rows)

    def average(self, weights: Matrix, x: Sequence[Sequence[Any]]) -> tuple[Vector, ...]:
        columns = list(zip(*x, strict=True))
        return tuple(tuple(_dot(row, column) for column in columns) for row in weights)

    def apply(self, matrix: Matrix | None, x: Sequence[Sequence[Any]]) -> tuple[Vector, ...]:
        return tuple(tuple(token) if matrix is None else _times(matrix, token) for token in x)

    def add(self, x: Sequence[Sequence[Any]], u: Sequence[Sequence[Any]], step: Any = 1) -> tuple[Vector, ...]:
        return tuple(tuple(a + step * b for a, b in zip(xi, ui, strict=True)) for xi, ui in zip(x, u, strict=True))

    def normalise(self, y: Sequence[Sequence[Any]], metric: Matrix | None = None) -> tuple[Vector, ...]:
        tokens = []
        for token in y:
            norm = self.sqrt(_dot(token, token if metric is None else _times(metric, token)))
            tokens.append(tuple(entry / norm for entry in token))
        return tuple(tokens)

    def tangent(
        self, x: Sequence[Sequence[Any]], u: Sequence[Sequence[Any]], metric: Matrix | None = None
    ) -> tuple[Vector, ...]:
        tokens = []
        for token, push in zip(x, u, strict=True):
            height = _dot(token, push if metric is None else _times(metric, push))
            tokens.append(tuple(b - height * a for a, b in zip(token, push, strict=True)))
        return tuple(tokens)
