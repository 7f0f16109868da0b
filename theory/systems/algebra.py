"""The arithmetic that a system is written in.

A system (:mod:`eigentoken.theory.systems.system`) is composed once, from the operations below on a state of n tokens.  The
first six are those of the papers; the others are for sublayers that another package writes (other weights, gates, biases).
Whoever implements them gets all systems: exact sympy numbers, mpmath, balls and dual numbers share the loops of
:class:`LoopAlgebra`; batched torch arrays and the dimension-free calculus bring their own (the calculus knows the six only).
A conformance test holds the twins together.

Parameters are values: numbers, vectors, matrices and lists of heads, taken from one arithmetic to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

__all__ = [
    "FUNCTIONS",
    "Algebra",
    "LoopAlgebra",
    "Mask",
    "MaskValue",
    "NoClosedForm",
    "Number",
    "OwnMask",
    "ParameterValue",
    "Parameters",
    "SixOperations",
    "State",
    "UnknownOrder",
    "Weights",
    "causal_mask",
    "checked_function",
    "full_mask",
    "mapped",
    "order_of",
]

#: What an arithmetic computes with.  Rings have no type in Python: that ``a + b`` is again a number of the ring of a is known to
#: the algebra that was chosen, and a type parameter on every sublayer, also those of other packages, would say no more.
Number = Any
"a number: exact (sympy, a field of ours), a ball (flint), a float, a dual number, a tensor of a batch"
State = Any
"n tokens of d numbers, as the arithmetic keeps them: tuples of tuples, an array, an expression for any n and d"
Weights = Any
"for each token i a number for each token j, kept likewise"
ParameterValue = Any
"of a parameter: a number, a vector, a matrix, a function of time or of two positions, a list of heads; ``None`` is left out"


class MaskArray(Protocol):
    """A mask as an array or a tensor; this room names no library of them."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __iter__(self) -> Iterator[Any]: ...


MaskValue: TypeAlias = str | Sequence[Sequence[int]] | MaskArray | None
"who attends to whom: rows of 0 and 1, an array, ``causal``, the name of a matrix; ``None`` is everybody to everybody"
OwnMask = Any
"a mask in the form that one algebra reads: each reads its own, and a parameter of a protocol cannot say so"
Parameters = Mapping[str, ParameterValue]

#: ``mask[i][j]`` is 1 where token i attends to token j, 0 elsewhere; ``None`` is full attention.
Mask = Sequence[Sequence[int]] | None


#: The functions of one number that every arithmetic has: each is a quotient of exponentials, with a derivative everywhere.
FUNCTIONS = ("exp", "sigmoid", "tanh")


def checked_function(name: str) -> str:
    """The name, if it is one of :data:`FUNCTIONS`."""
    if name not in FUNCTIONS:
        raise ValueError(f"function must be one of {', '.join(FUNCTIONS)}, got {name!r}: others have no exact twin")
    return name


class Algebra(Protocol):
    """Operations on a state ``x`` of n tokens, in any arithmetic.

    A ``score`` is a matrix M (scores ``x_i^T M x_j``), a function ``(i, j) -> matrix`` for scores that depend on the
    positions (rotary encoding), or ``None`` for uniform weights.  A ``metric`` is the symmetric positive definite W of
    ``|x|_W^2 = x^T W x``, or ``None`` for the identity.
    """

    def attention(self, x: State, score: ParameterValue, mask: OwnMask, over_root_d: bool) -> Weights:
        """``a_ij = exp(s_ij) / sum_l exp(s_il)`` over the unmasked j; divided by ``sqrt(d)`` if ``over_root_d``."""

    def average(self, weights: Weights, x: State) -> State:
        """``sum_j a_ij x_j`` for each i."""

    def apply(self, matrix: ParameterValue, x: State) -> State:
        """``F x_i`` for each i; ``None`` is the identity."""

    def add(self, x: State, u: State, step: Number = 1) -> State:
        """``x_i + step u_i`` for each i."""

    def normalise(self, y: State, metric: ParameterValue = None) -> State:
        """``y_i / |y_i|_W`` for each i: the retraction to the sphere or ellipsoid, undefined where ``y_i = 0``."""

    def tangent(self, x: State, u: State, metric: ParameterValue = None) -> State:
        """``u_i - (x_i^T W u_i) x_i`` for each i: the projection to the tangent space at a point of the ellipsoid."""

    def scores(self, x: State, matrix: ParameterValue) -> Weights:
        """``x_i^T M x_j`` for all i, j; ``None`` is the identity."""

    def function(self, name: str, values: State) -> State:
        """``exp``, ``sigmoid`` or ``tanh`` of each entry of scores or tokens."""

    def masked(self, weights: Weights, mask: OwnMask) -> Weights:
        """The weights with 0 where i does not attend to j."""

    def shares(self, weights: Weights) -> Weights:
        """``w_ij / sum_l w_il``: the weights of each token divided by their sum."""

    def hardest(self, scores: Weights, mask: OwnMask) -> Weights:
        """The limit of the softmax of ``beta s_ij`` as beta grows: equal shares of the largest scores among the unmasked j."""

    def product(self, a: State, b: State) -> State:
        """``a_ik b_ik``, entry by entry, of two states or of two sets of weights."""

    def scale(self, x: State, number: Number) -> State:
        """``number x_ik`` for a scalar parameter or a plain integer."""

    def shift(self, x: State, vector: ParameterValue) -> State:
        """``x_i + b`` for each i; ``None`` is 0."""


class NoClosedForm(ValueError):
    """A system for which the question has no answer in symbols; the message says what there is instead."""


class SixOperations:
    """For an algebra with the six operations of the papers alone: the others are refused, by name."""

    def _refused(self, operation: str) -> NoClosedForm:
        return NoClosedForm(
            f"the symbolic calculus (any n and d) has no rule for algebra.{operation}: "
            "classify a point with numbers instead, its Jacobian is differentiated exactly"
        )

    def scores(self, x: State, matrix: ParameterValue) -> Weights:
        raise self._refused("scores")

    def function(self, name: str, values: State) -> State:
        raise self._refused("function")

    def masked(self, weights: Weights, mask: OwnMask) -> Weights:
        raise self._refused("masked")

    def shares(self, weights: Weights) -> Weights:
        raise self._refused("shares")

    def hardest(self, scores: Weights, mask: OwnMask) -> Weights:
        raise self._refused("hardest")

    def product(self, a: State, b: State) -> State:
        raise self._refused("product")

    def scale(self, x: State, number: Number) -> State:
        raise self._refused("scale")

    def shift(self, x: State, vector: ParameterValue) -> State:
        raise self._refused("shift")


def full_mask(n: int) -> tuple[tuple[int, ...], ...]:
    """Every token attends to every token."""
    return tuple((1,) * n for _ in range(n))


def causal_mask(n: int) -> tuple[tuple[int, ...], ...]:
    """Token i attends to tokens j <= i."""
    return tuple(tuple(int(j <= i) for j in range(n)) for i in range(n))


Vector = tuple[Number, ...]
Matrix = Sequence[Sequence[Number]]


def _dot(x: Sequence[Number], y: Sequence[Number]) -> Number:
    total: Number = 0
    for a, b in zip(x, y, strict=True):
        total = total + a * b
    return total


def _times(matrix: Matrix, x: Sequence[Number]) -> Vector:
    return tuple(_dot(row, x) for row in matrix)


class UnknownOrder(ValueError):
    """Two numbers of which it is not known which is greater: balls that overlap, or exact numbers that were not decided."""


def order_of(a: Number, b: Number) -> int:
    """1, 0 or -1 as ``a > b``, ``a = b`` or ``a < b``; refused where neither is known.

    >>> order_of(2, 1), order_of(1, 1), order_of(0.5, 1)
    (1, 0, -1)
    """
    try:
        for sign, known in ((1, a > b), (-1, b > a), (0, (a - b) == 0)):
            if known is not None and bool(known):
                return sign
    except TypeError:  # a relation of symbols has no truth value
        pass
    raise UnknownOrder(f"hard attention must know which of {a} and {b} is greater: give exact or more precise numbers")


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

    exp: Callable[[Number], Number]
    sqrt: Callable[[Number], Number]
    one: Number = 1
    "a unit of the arithmetic, so that 1/2 is not rounded outside it"
    greater: Callable[[Number, Number], Number] = field(default=max, kw_only=True)
    "the greater of two numbers; in enclosures, one that holds it"
    order: Callable[[Number, Number], int] = field(default=order_of, kw_only=True)
    "1, 0 or -1 as a number is greater than another, equal or smaller; refused where it is not known"

    def attention(
        self, x: Sequence[Sequence[Number]], score: ParameterValue, mask: Mask, over_root_d: bool
    ) -> tuple[tuple[Number, ...], ...]:
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
            total: Number = 0
            for term in terms:
                total = total + term
            if over_root_d:
                total = total * self.sqrt(d * self.one)
            rows.append(tuple(term / total for term in terms))
        return tuple(rows)

    def average(self, weights: Matrix, x: Sequence[Sequence[Number]]) -> tuple[Vector, ...]:
        columns = list(zip(*x, strict=True))
        return tuple(tuple(_dot(row, column) for column in columns) for row in weights)

    def apply(self, matrix: Matrix | None, x: Sequence[Sequence[Number]]) -> tuple[Vector, ...]:
        return tuple(tuple(token) if matrix is None else _times(matrix, token) for token in x)

    def add(self, x: Sequence[Sequence[Number]], u: Sequence[Sequence[Number]], step: Number = 1) -> tuple[Vector, ...]:
        return tuple(tuple(a + step * b for a, b in zip(xi, ui, strict=True)) for xi, ui in zip(x, u, strict=True))

    def normalise(self, y: Sequence[Sequence[Number]], metric: Matrix | None = None) -> tuple[Vector, ...]:
        tokens = []
        for token in y:
            norm = self.sqrt(_dot(token, token if metric is None else _times(metric, token)))
            tokens.append(tuple(entry / norm for entry in token))
        return tuple(tokens)

    def tangent(
        self, x: Sequence[Sequence[Number]], u: Sequence[Sequence[Number]], metric: Matrix | None = None
    ) -> tuple[Vector, ...]:
        tokens = []
        for token, push in zip(x, u, strict=True):
            height = _dot(token, push if metric is None else _times(metric, push))
            tokens.append(tuple(b - height * a for a, b in zip(token, push, strict=True)))
        return tuple(tokens)

    def scores(self, x: Sequence[Sequence[Number]], matrix: Matrix | None) -> tuple[Vector, ...]:
        seen = self.apply(matrix, x)
        return tuple(tuple(_dot(token, other) for other in seen) for token in x)

    def function(self, name: str, values: Sequence[Sequence[Number]]) -> tuple[Vector, ...]:
        """``sigmoid(s) = e^s/(e^s + 1)`` and ``tanh(s) = (e^2s - 1)/(e^2s + 1)``: one exponential each."""

        def value(entry: Number) -> Number:
            grown = self.exp(entry * 2 if name == "tanh" else entry)
            if name == "exp":
                return grown
            return (grown if name == "sigmoid" else grown - self.one) / (grown + self.one)

        checked_function(name)
        return tuple(tuple(value(entry) for entry in row) for row in values)

    def masked(self, weights: Sequence[Sequence[Number]], mask: Mask) -> tuple[Vector, ...]:
        if mask is None:
            return tuple(tuple(row) for row in weights)
        nothing = 0 * self.one
        return tuple(
            tuple(weight if seen else nothing for weight, seen in zip(row, allowed, strict=True))
            for row, allowed in zip(weights, mask, strict=True)
        )

    def shares(self, weights: Sequence[Sequence[Number]]) -> tuple[Vector, ...]:
        rows = []
        for row in weights:
            total: Number = 0
            for weight in row:
                total = total + weight
            rows.append(tuple(weight / total for weight in row))
        return tuple(rows)

    def hardest(self, scores: Sequence[Sequence[Number]], mask: Mask) -> tuple[Vector, ...]:
        rows = []
        for row, allowed in zip(scores, full_mask(len(scores)) if mask is None else mask, strict=True):
            best: list[int] = []
            for j, score in enumerate(row):
                if allowed[j]:
                    sign = self.order(score, row[best[0]]) if best else 1
                    best = [j] if sign > 0 else [*best, j] if sign == 0 else best
            share = self.one / len(best)
            rows.append(tuple(share if j in best else 0 * self.one for j in range(len(row))))
        return tuple(rows)

    def product(self, a: Sequence[Sequence[Number]], b: Sequence[Sequence[Number]]) -> tuple[Vector, ...]:
        return tuple(tuple(x * y for x, y in zip(p, q, strict=True)) for p, q in zip(a, b, strict=True))

    def scale(self, x: Sequence[Sequence[Number]], number: Number) -> tuple[Vector, ...]:
        return tuple(tuple(number * entry for entry in row) for row in x)

    def shift(self, x: Sequence[Sequence[Number]], vector: Sequence[Number] | None) -> tuple[Vector, ...]:
        if vector is None:
            return tuple(tuple(token) for token in x)
        return tuple(tuple(a + b for a, b in zip(token, vector, strict=True)) for token in x)


def mapped(parameters: Parameters, number: Callable[[Number], Number]) -> dict[str, ParameterValue]:
    """The parameters with ``number`` applied to each of their numbers; what is left out (``None``) stays so.

    >>> mapped({"alpha": 1, "b": (1, 2), "V": ((1, 0), (0, 3)), "heads": ({"F": ((4,),)},)}, float)
    {'alpha': 1.0, 'b': (1.0, 2.0), 'V': ((1.0, 0.0), (0.0, 3.0)), 'heads': [{'F': ((4.0,),)}]}
    """

    def value(given: Number) -> Number:
        if given is None:
            return None
        return tuple(value(entry) for entry in given) if isinstance(given, tuple | list) else number(given)

    return {
        name: [mapped(head, number) for head in given] if name == "heads" else value(given)
        for name, given in parameters.items()
    }
