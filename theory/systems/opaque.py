"""Tokens and parameters that can only be handed to the operations of an algebra: is an equation written in these alone?

Every arithmetic of the house reads the one equation of a system, so an equation must not depend on how tokens are stored: the
number of rows of a tuple is the number of tokens, that of a batch of arrays is not; a float constant is a number in one
arithmetic and none in another.  Here the tokens have no rows and no length, and a number is a whole number or a parameter: an
equation that looks inside fails at once, in a line that says where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eigentoken.theory.systems.algebra import LoopAlgebra, MaskValue, Number, ParameterValue, State, Weights

__all__ = ["LooksInside", "Opaque", "OpaqueAlgebra", "hidden", "shown"]


class LooksInside(TypeError):
    """An equation does something with tokens, weights or parameters that is no operation of the algebra."""


class _Hidden:
    """A value that says what it is and nothing else."""

    __slots__ = ("_inside", "_what")

    def __init__(self, inside: Any, what: str) -> None:
        self._inside, self._what = inside, what

    def _refused(self, *_: object) -> Any:
        raise LooksInside(f"{self._what} can only be handed to an operation of the algebra")

    __len__ = __iter__ = __getitem__ = __bool__ = __float__ = __int__ = __array__ = __contains__ = _refused
    __matmul__ = __rmatmul__ = __pow__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _refused

    def __repr__(self) -> str:
        return f"<{self._what}>"


class Opaque(_Hidden):
    """Tokens, weights, matrices and vectors: nothing can be computed with them outside the operations."""

    __slots__ = ()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = (
        _Hidden._refused
    )


class OpaqueNumber(_Hidden):
    """A scalar parameter: whole numbers may be added to it and multiplied with it, in every arithmetic."""

    __slots__ = ()

    def _with(self, other: object, operation: Callable[[Any, Any], Any]) -> OpaqueNumber:
        if isinstance(other, OpaqueNumber):
            return OpaqueNumber(operation(self._inside, other._inside), self._what)
        return OpaqueNumber(operation(self._inside, _whole(other, f"{self._what} and")), self._what)

    def __add__(self, other: object) -> OpaqueNumber:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: object) -> OpaqueNumber:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: object) -> OpaqueNumber:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: object) -> OpaqueNumber:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: object) -> OpaqueNumber:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: object) -> OpaqueNumber:
        return self._with(other, lambda a, b: b / a)

    def __neg__(self) -> OpaqueNumber:
        return self * -1

    __radd__, __rmul__ = __add__, __mul__


def _whole(value: object, where: str) -> int:
    if type(value) is not int:
        raise LooksInside(
            f"{where} {value!r} ({type(value).__name__}): a number is a whole number or a parameter; make a constant a "
            "parameter with a default"
        )
    return value


def hidden(value: Any, kind: str, name: str) -> Any:
    """A parameter of that kind, opaque; what is left out (``None``) stays so."""
    if value is None:
        return None
    what = f"parameter {name}"
    return OpaqueNumber(value, what) if kind in {"scalar", "step"} else Opaque(value, what)


def shown(value: object) -> Any:
    """What an opaque value holds."""
    if not isinstance(value, _Hidden):
        raise LooksInside(f"the equation gives a {type(value).__name__} that no operation of the algebra made")
    return value._inside


class OpaqueAlgebra:
    """The operations of :class:`~eigentoken.theory.systems.algebra.Algebra` on opaque values, computed by ``inside``.

    >>> import math
    >>> algebra = OpaqueAlgebra(LoopAlgebra(math.exp, math.sqrt))
    >>> x = Opaque(((3.0, 4.0),), "x")
    >>> algebra.normalise(x), shown(algebra.normalise(x))
    (<tokens>, ((0.6, 0.8),))
    >>> algebra.scale(x, 0.5)
    Traceback (most recent call last):
    eigentoken.theory.systems.opaque.LooksInside: algebra.scale with 0.5 (float): a number is a whole number or a parameter; \
make a constant a parameter with a default
    """

    def __init__(self, inside: LoopAlgebra) -> None:
        self._inside = inside

    def _given(self, operation: str, value: object) -> Any:
        if value is None:
            return None
        if not isinstance(value, _Hidden):
            raise LooksInside(f"algebra.{operation} is given a {type(value).__name__} that no operation made")
        return value._inside

    def _number(self, operation: str, value: object) -> Any:
        return value._inside if isinstance(value, OpaqueNumber) else _whole(value, f"algebra.{operation} with")

    def _made(self, operation: str, *values: object, what: str = "tokens") -> Opaque:
        return Opaque(getattr(self._inside, operation)(*(self._given(operation, each) for each in values)), what)

    def attention(self, x: State, score: ParameterValue, mask: MaskValue, over_root_d: bool) -> Opaque:
        state, matrix, seen = (self._given("attention", each) for each in (x, score, mask))
        return Opaque(self._inside.attention(state, matrix, seen, bool(over_root_d)), "weights")

    def average(self, weights: Weights, x: State) -> Opaque:
        return self._made("average", weights, x)

    def apply(self, matrix: ParameterValue, x: State) -> Opaque:
        return self._made("apply", matrix, x)

    def add(self, x: State, u: State, step: Number = 1) -> Opaque:
        made = self._inside.add(self._given("add", x), self._given("add", u), self._number("add", step))
        return Opaque(made, "tokens")

    def normalise(self, y: State, metric: ParameterValue = None) -> Opaque:
        return self._made("normalise", y, metric)

    def tangent(self, x: State, u: State, metric: ParameterValue = None) -> Opaque:
        return self._made("tangent", x, u, metric)

    def scores(self, x: State, matrix: ParameterValue) -> Opaque:
        return self._made("scores", x, matrix, what="weights")

    def function(self, name: str, values: State) -> Opaque:
        return Opaque(self._inside.function(name, self._given("function", values)), "values")

    def masked(self, weights: Weights, mask: MaskValue) -> Opaque:
        return self._made("masked", weights, mask, what="weights")

    def shares(self, weights: Weights) -> Opaque:
        return self._made("shares", weights, what="weights")

    def hardest(self, scores: Weights, mask: MaskValue) -> Opaque:
        return self._made("hardest", scores, mask, what="weights")

    def product(self, a: State, b: State) -> Opaque:
        return self._made("product", a, b)

    def scale(self, x: State, number: Number) -> Opaque:
        return Opaque(self._inside.scale(self._given("scale", x), self._number("scale", number)), "tokens")

    def shift(self, x: State, vector: ParameterValue) -> Opaque:
        return self._made("shift", x, vector)
