"""Exact Jacobians of the systems at an instance, by forward differentiation through the one definition of a system.

A :class:`Jet` is a value with its first derivatives; the loops of :class:`~eigentoken.theory.systems.algebra.LoopAlgebra` run
on jets as on numbers.  On the sphere and the ellipsoid the Jacobian is then restricted to the tangent spaces
``{w : x_i^T W w = 0}`` in the basis ``e_a - (W x)_a/(W x)_b e_b`` (a != b) for a pivot b with ``(W x)_b != 0``, so that
no root is needed.

At points with many equal tokens everything is computed for one token of each group, counted with its size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import arb
from sympy import Rational

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.elements import Element, ExactnessLimit
from eigentoken.theory.exactness.fields import Field
from eigentoken.theory.exactness.numbers import ball, is_zero
from eigentoken.theory.systems.algebra import (
    LoopAlgebra,
    Mask,
    Number,
    ParameterValue,
    UnknownOrder,
    Weights,
    mapped,
    order_of,
)
from eigentoken.theory.systems.system import Normalisation, Space

__all__ = [
    "ArithmeticSetting",
    "CountedAlgebra",
    "Jet",
    "ball_setting",
    "distinct",
    "exact_setting",
    "grouped_blocks",
    "intrinsic_jacobian",
    "jacobian",
    "jet_algebra",
    "zero_sum_and_quotient",
]

Matrix = list[list[Any]]


@dataclass(frozen=True)
class CountedAlgebra(LoopAlgebra):
    """The loops with token j standing for ``counts[j]`` equal tokens; the weights are those of whole groups."""

    counts: tuple[int, ...] = ()

    def attention(
        self, x: Sequence[Sequence[Number]], score: ParameterValue, mask: Mask, over_root_d: bool
    ) -> tuple[tuple[Number, ...], ...]:
        """``c_j e^{s_ij} / sum_l c_l e^{s_il}``; full attention only."""
        if mask is not None:
            raise ValueError("mask must be None: counted tokens need full attention")
        rows = []
        for i in range(len(x)):
            terms = []
            for j, count in enumerate(self.counts):
                weight = self.one
                if score is not None:
                    pushed = [sum_of(a * b for a, b in zip(row, x[j], strict=True)) for row in score]
                    weight = self.exp(sum_of(a * b for a, b in zip(x[i], pushed, strict=True)))
                terms.append(weight * (count * self.one))
            total = sum_of(terms)
            if over_root_d:
                total = total * self.sqrt(len(x[0]) * self.one)
            rows.append(tuple(term / total for term in terms))
        return tuple(rows)


def sum_of(values: Any) -> Any:
    """The sum in any arithmetic."""
    total: Any = 0
    for value in values:
        total = total + value
    return total


def distinct(tokens: Sequence[Sequence[Any]]) -> tuple[list[Sequence[Any]], list[int]]:
    """The tokens without repetitions (equal in normal form), and for each token its place among them."""
    kept: list[Sequence[Any]] = []
    places = []
    for token in tokens:
        for place, known in enumerate(kept):
            if all(a == b for a, b in zip(token, known, strict=True)):
                places.append(place)
                break
        else:
            places.append(len(kept))
            kept.append(token)
    return kept, places


def zero_sum_and_quotient(matrix: Matrix, counts: Sequence[int], width: int) -> list[tuple[Matrix, int]]:
    """Blocks with multiplicities, from the Jacobian at split groups.

    ``counts`` are the sizes of the groups; a group of one token has one place in the matrix, a larger one two: one token, and
    the others together.
    """
    places: list[tuple[int, int | None]] = []
    at = 0
    for count in counts:
        places.append((at, at + 1 if count > 1 else None))
        at += 1 if count == 1 else 2

    def part(i: int, j: int) -> Matrix:
        return [row[j * width : (j + 1) * width] for row in matrix[i * width : (i + 1) * width]]

    blocks: list[tuple[Matrix, int]] = []
    quotient: Matrix = []
    for (one, others), count in zip(places, counts, strict=True):
        if others is not None:
            own, shared = part(one, one), part(one, others)
            difference = [
                [a - b / (count - 1) for a, b in zip(x, y, strict=True)] for x, y in zip(own, shared, strict=True)
            ]
            blocks.append((difference, count - 1))
        rows: Matrix = [[] for _ in range(width)]
        for first, rest in places:
            both = part(one, first)
            if rest is not None:
                both = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(both, part(one, rest), strict=True)]
            for row, more in zip(rows, both, strict=True):
                row.extend(more)
        quotient += rows
    return [*blocks, (quotient, 1)]


State = tuple[tuple[Any, ...], ...]


class Jet:
    """``value + sum_k slope_k eps_k`` with ``eps_k eps_l = 0``; zero slopes are left out."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Number, slopes: dict[int, Number]) -> None:
        self.value = value
        self.slopes = slopes

    def __add__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.slopes)
        slopes = dict(self.slopes)
        for key, slope in other.slopes.items():
            slopes[key] = slopes[key] + slope if key in slopes else slope
        return Jet(self.value + other.value, slopes)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return Jet(-self.value, {key: -slope for key, slope in self.slopes.items()})

    def __sub__(self, other: Any) -> Jet:
        return self + (-other)

    def __rsub__(self, other: Any) -> Jet:
        return (-self) + other

    def _scaled(self, factor: Any) -> dict[int, Any]:
        return {} if factor == 0 else {key: slope * factor for key, slope in self.slopes.items() if slope != 0}

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, self._scaled(other))
        slopes = self._scaled(other.value)
        for key, slope in other._scaled(self.value).items():
            slopes[key] = slopes[key] + slope if key in slopes else slope
        return Jet(self.value * other.value, slopes)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self * (1 / other)
        inverse = 1 / other.value
        return self * Jet(inverse, other._scaled(-inverse * inverse))

    def __rtruediv__(self, other: Any) -> Jet:
        inverse = 1 / self.value
        return Jet(other * inverse, self._scaled(-other * inverse * inverse))


def _lifted(function: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function on numbers as a function on jets; ``slope`` maps the function's value to its derivative."""

    def lifted(argument: Any) -> Any:
        if not isinstance(argument, Jet):
            return function(argument)
        value = function(argument.value)
        return Jet(value, argument._scaled(slope(value)))

    return lifted


def greater_jet(a: Any, b: Any) -> Any:
    """The greater of two numbers or jets.

    Where they are equal, or balls that overlap, the slope is an enclosure of both slopes, or the greater one: forward in time
    the derivative of a maximum is the greatest derivative among the terms that attain it.
    """
    if not isinstance(a, Jet) and not isinstance(b, Jet):
        return a.max(b) if isinstance(a, arb) and isinstance(b, arb) else max(a, b)
    first, second = (each if isinstance(each, Jet) else Jet(each, {}) for each in (a, b))
    if first.value > second.value:
        return first
    if second.value > first.value:
        return second
    value = greater_jet(first.value, second.value)
    nothing = 0 * value
    pairs = {
        key: (first.slopes.get(key, nothing), second.slopes.get(key, nothing))
        for key in {*first.slopes, *second.slopes}
    }
    if isinstance(value, arb):
        return Jet(value, {key: arb(one).union(arb(other)) for key, (one, other) in pairs.items()})
    return Jet(value, {key: max(one, other) for key, (one, other) in pairs.items()})


def order_of_jets(a: Any, b: Any) -> int:
    """The order of two numbers or jets by their values; at a tie of jets hard attention has no derivative."""
    jets = isinstance(a, Jet) or isinstance(b, Jet)
    sign = order_of(*(each.value if isinstance(each, Jet) else each for each in (a, b)))
    if jets and not sign:
        raise UnknownOrder("hard attention has no derivative where two tokens have the largest score: move one of them")
    return sign


def jet_algebra(exp: Callable[[Number], Number], sqrt: Callable[[Number], Number], one: Number) -> LoopAlgebra:
    """The loop algebra on numbers and jets of one arithmetic."""
    lifted = _lifted(exp, lambda value: value), _lifted(sqrt, lambda value: 1 / (2 * value))
    return LoopAlgebra(*lifted, one, greater=greater_jet, order=order_of_jets)


@dataclass(frozen=True)
class ArithmeticSetting:
    """An instance in one arithmetic: parameters, tokens and the algebra of its system."""

    instance: Instance
    parameters: Mapping[str, ParameterValue]
    tokens: State
    exp: Callable[[Number], Number]
    sqrt: Callable[[Number], Number]
    one: Number
    field: Field | None = None
    counts: tuple[int, ...] = ()
    "how many equal tokens each token stands for (full attention only); empty: one each"

    @property
    def metric(self) -> ParameterValue:
        """W in this arithmetic, or ``None``."""
        name = self.instance.system.metric
        return self.parameters[name] if name else None

    def algebra(self, norms: Sequence[Number] = ()) -> LoopAlgebra:
        """The loop algebra on numbers and jets; square roots of the squares of ``norms`` (positive) are known."""

        def root(value: Any) -> Any:
            for norm in norms:
                if norm * norm == value:
                    return norm
            return self.sqrt(value)

        functions = _lifted(self.exp, lambda value: value), _lifted(root, lambda value: 1 / (2 * value))
        if self.counts:
            return CountedAlgebra(*functions, self.one, self.counts, greater=greater_jet, order=order_of_jets)
        return LoopAlgebra(*functions, self.one, greater=greater_jet, order=order_of_jets)

    def grouped(self, at: State) -> tuple[ArithmeticSetting, list[int]] | None:
        """The setting with one token for all equal ones and the place of each token, where that saves anything."""
        instance = self.instance
        alike = instance.system.standard and instance.system.positions == "none"
        if self.counts or instance.mask is not None or not alike or isinstance(at[0][0], Jet):
            return None
        kept, places = distinct(at)
        if 2 * len(kept) >= len(at):
            return None
        counts = tuple(places.count(place) for place in range(len(kept)))
        return replace(self, tokens=tuple(tuple(token) for token in kept), counts=counts), places

    def influence(self, tokens: State | None = None) -> State:
        """``u_i`` at the tokens of the instance, or at others."""
        return self._call("influence", tokens)

    def raw_step(self, tokens: State | None = None) -> State:
        """``y_i = x_i + alpha u_i``."""
        return self._call("raw_step", tokens)

    def _call(self, name: str, tokens: State | None) -> State:
        at = self.tokens if tokens is None else tokens
        fewer = self.grouped(at)
        if fewer is not None:
            few = fewer[0]._call(name, None)
            return tuple(few[place] for place in fewer[1])
        state: State = getattr(self.instance.system, name)(self.algebra(), self.parameters, at, self.instance.mask)
        return state

    def advance(self, tokens: State | None = None, norms: Sequence[Number] = ()) -> State:
        """The next state of a map or the velocity of a flow."""
        at = self.tokens if tokens is None else tokens
        fewer = self.grouped(at)
        if fewer is not None:
            few = fewer[0].advance(norms=norms)
            return tuple(few[place] for place in fewer[1])
        state: State = self.instance.system.advance(self.algebra(norms), self.parameters, at, self.instance.mask)
        return state

    def attention(self) -> list[Weights]:
        """The attention matrix of each head, or of the same rank: weights of whole groups, where tokens are repeated.

        None where the class writes its sublayer anew: its weights are its own.
        """
        if self.instance.system.writes_sublayer:
            return []
        fewer = self.grouped(self.tokens)
        if fewer is not None:
            return fewer[0].attention()
        system = self.instance.system
        algebra = self.algebra()
        before = system.normalisation is Normalisation.BEFORE
        tokens = algebra.normalise(self.tokens) if before else self.tokens
        heads = system.heads(self.parameters)
        return [algebra.attention(tokens, score, self.instance.mask, system.over_root_d) for _, score in heads]

    def pair(self, left: Sequence[Number], right: Sequence[Number]) -> Number:
        """``left^T W right``."""
        turned = left if self.metric is None else [sum_products(row, left) for row in self.metric]
        return sum_products(turned, right)


def sum_products(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """``sum_a left_a right_a``."""
    total: Any = 0
    for a, b in zip(left, right, strict=True):
        total = total + a * b
    return total


def exact_setting(instance: Instance, field: Field) -> ArithmeticSetting:
    """The instance in its field; raises ``MissingGenerator`` where the field is too small."""
    tokens = tuple(tuple(field.number(entry) for entry in token) for token in instance.tokens)

    def root(value: Any) -> Any:
        expression = field.expression(value)
        if not expression.is_Rational:
            raise ExactnessLimit("a norm is not a number of the field")
        return field.root(expression, Rational(1, 2))

    return ArithmeticSetting(
        instance, mapped(instance.parameters, field.number), tokens, field.exp, root, field.one, field
    )


def ball_setting(instance: Instance, bits: int) -> ArithmeticSetting:
    """The instance in ball arithmetic; the caller keeps the same precision while computing."""
    from flint import arb

    from eigentoken.theory.exactness.balls import expression_ball

    def number(value: Any) -> Any:
        return expression_ball(value, bits)

    tokens = tuple(tuple(number(entry) for entry in token) for token in instance.tokens)
    return ArithmeticSetting(instance, mapped(instance.parameters, number), tokens, arb.exp, arb.sqrt, arb(1))


def jacobian(setting: ArithmeticSetting, tokens: State | None = None, norms: Sequence[Number] = ()) -> Matrix:
    """The nd x nd matrix ``d advance_i / d x_j``, tokens and coordinates in order, of the homogeneous extension."""
    at = setting.tokens if tokens is None else tokens
    d = len(at[0])
    jets = tuple(
        tuple(Jet(entry, {i * d + a: setting.one}) for a, entry in enumerate(token)) for i, token in enumerate(at)
    )
    zero = 0 * setting.one
    image = setting.advance(jets, norms)
    return [[entry.slopes.get(column, zero) for column in range(len(at) * d)] for token in image for entry in token]


def tangent_pivots(setting: ArithmeticSetting, tokens: State | None = None) -> list[int]:
    """For each token a coordinate b with ``(W x)_b != 0``, the largest; equal tokens have equal pivots."""
    pivots = []
    for token in setting.tokens if tokens is None else tokens:
        normal = token if setting.metric is None else [sum_products(row, token) for row in setting.metric]
        sizes = [abs(float(ball(entry, 64).mid())) if _is_exact(entry) else abs(float(entry.mid())) for entry in normal]
        best = max(range(len(normal)), key=lambda b: (sizes[b], -b))
        if _is_exact(normal[best]) and is_zero(normal[best]) is not False:
            raise ExactnessLimit("a tangent space has no certain pivot")
        pivots.append(best)
    return pivots


def _is_exact(value: Any) -> bool:
    return isinstance(value, Element) or type(value).__name__ in {"fmpq", "int", "fmpz"}


def intrinsic_jacobian(
    setting: ArithmeticSetting,
    full: Matrix,
    pivots: Sequence[int],
    image_pivots: Sequence[int],
    tokens: State | None = None,
) -> Matrix:
    """The Jacobian from the tangent spaces at ``tokens`` to those at their images: n(d-1) rows and columns.

    Coordinates of a tangent vector at a token are its entries a != b, b the pivot of the token (rows: of its image).
    """
    at = setting.tokens if tokens is None else tokens
    d = len(at[0])
    normals = [
        token if setting.metric is None else [sum_products(row, token) for row in setting.metric] for token in at
    ]
    kept = [(j, c) for j in range(len(at)) for c in range(d) if c != pivots[j]]
    ratios = {(j, c): normals[j][c] / normals[j][pivots[j]] for j, c in kept}
    rows = []
    for i in range(len(at)):
        for a in range(d):
            if a != image_pivots[i]:
                source = full[i * d + a]
                rows.append([source[j * d + c] - ratios[j, c] * source[j * d + pivots[j]] for j, c in kept])
    return rows


def grouped_blocks(
    setting: ArithmeticSetting, groups: Sequence[Sequence[int]], norms: Sequence[Any]
) -> list[tuple[Matrix, int]] | None:
    """Blocks of the tangent Jacobian from two representatives of each group of equal tokens (full attention).

    ``None`` where the mask is not full or the groups are too small for that to save anything.
    """
    instance = setting.instance
    counts = [len(group) for group in groups]
    placed = instance.mask is not None or instance.system.positions != "none" or not instance.system.standard
    if placed or instance.d == 1 or 2 * sum(min(count, 2) for count in counts) > instance.n:
        return None
    tokens: list[tuple[Any, ...]] = []
    sizes: list[int] = []
    for group, count in zip(groups, counts, strict=True):
        parts = [1] if count == 1 else [1, count - 1]
        tokens += [tuple(setting.tokens[group[0]])] * len(parts)
        sizes += parts
    few = replace(setting, tokens=tuple(tokens), counts=tuple(sizes))
    matrix, width = jacobian(few, norms=norms), instance.d
    if instance.system.space is not Space.EUCLIDEAN:
        pivots = tangent_pivots(few)
        matrix, width = intrinsic_jacobian(few, matrix, pivots, pivots), instance.d - 1
    return zero_sum_and_quotient(matrix, counts, width)
