"""Systems evaluated on groups of equal tokens whose sizes are symbols: derivations for every n and d at once.

A state of the papers' special points has few different tokens, each repeated p, q, n - 1, ... times.  The algebra below
keeps one representative a group and counts it with its symbolic size, so that ``System.advance`` (the definition of the
dynamics, written once) is evaluated for every n.  A derivative is taken with jets (``a + b e``, ``e^2 = 0``).  For every d: a
computation that involves only the vectors x, Vx, xi, V xi, ... takes place in their span, and all systems here
are equivariant under orthogonal changes of basis, so coordinates in that span (three or four) lose nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from eigentoken.theory.classification.jacobians import Jet
from eigentoken.theory.proving.normal_form import numerator_polynomial
from eigentoken.theory.systems.algebra import LoopAlgebra, MaskValue, Number, ParameterValue, State, Weights
from eigentoken.theory.systems.catalogue import SYSTEMS

__all__ = [
    "GroupAlgebra",
    "Unresolved",
    "advance_groups",
    "known_root",
    "push_groups",
    "slopes",
    "step_slopes",
]


class Unresolved(ValueError):
    """A square root is taken of something that is not the square of any of the numbers named positive."""


@dataclass(frozen=True)
class GroupAlgebra(LoopAlgebra):
    """The loops of the papers over groups: token g of the state stands for ``counts[g]`` equal tokens."""

    counts: tuple[sp.Expr, ...] = ()

    def average(self, weights: Weights, x: State) -> tuple[tuple[Number, ...], ...]:
        """The loops' average, with every coordinate brought to lowest terms."""
        return tuple(tuple(_tidy(entry) for entry in token) for token in LoopAlgebra.average(self, weights, x))

    def attention(
        self, x: Sequence[Sequence[Number]], score: ParameterValue, mask: MaskValue, over_root_d: bool
    ) -> tuple[tuple[Number, ...], ...]:
        """Weights toward whole groups: ``counts[h] e^{s_gh} / sum_h counts[h] e^{s_gh}``; full attention only."""
        if mask is not None:
            raise ValueError("mask must be None: groups of equal tokens need full attention")
        rows = []
        for token in x:
            terms = []
            for other, count in zip(x, self.counts, strict=True):
                weight = self.one if score is None else self.exp(_form(token, score, other))
                terms.append(count * weight)
            total = sum(terms[1:], terms[0])
            if over_root_d:
                total = total * self.sqrt(len(token) * self.one)
            rows.append(tuple(_tidy(term / total) for term in terms))
        return tuple(rows)


def _tidy(number: Any) -> Any:
    """The number in lowest terms (sums stay short that way); nothing else changes."""
    if isinstance(number, Jet):
        return Jet(_cancelled(number.value), {key: _cancelled(slope) for key, slope in number.slopes.items()})
    return _cancelled(number)


@lru_cache(maxsize=4096, typed=True)  # both routes and every step about one point meet the same sums
def _cancelled(number: Any) -> sp.Expr:
    return sp.cancel(number)


def _form(x: Sequence[Any], matrix: Sequence[Sequence[Any]], y: Sequence[Any]) -> Any:
    total: Any = 0
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            total = total + a * matrix[i][j] * b
    return total


def known_root(positive: Sequence[sp.Expr]) -> Callable[[sp.Expr], sp.Expr]:
    """The square root of squares of the expressions given, which the hypotheses make positive; nothing else.

    The root is a sympy number, never a Python one: a quotient of two Python integers would be a float.

    >>> known_root((1, 2))(sp.Integer(4)) / 4
    1/2
    """
    candidates = tuple(sp.sympify(each) for each in positive)

    def root(value: Any) -> Any:
        for candidate in candidates:
            if numerator_polynomial(value - candidate**2) == 0:
                return candidate
        raise Unresolved(f"{sp.factor(value)} is not the square of {', '.join(map(str, positive))}")

    return root


def slopes(
    name: str,
    parameters: Mapping[str, ParameterValue],
    groups: Sequence[tuple[sp.Expr, Sequence[sp.Expr], Sequence[sp.Expr]]],
    positive: Sequence[sp.Expr] = (1,),
) -> list[tuple[sp.Expr, ...]]:
    """The derivative of one step (map) or of the velocity (flow), one vector a group.

    ``groups`` lists ``(count, token, direction)``: that many equal tokens, all moved along the same direction.
    ``positive`` are the lengths that may occur under a root.
    """
    algebra = GroupAlgebra(
        _jet_exp, _jet_root(known_root(positive)), sp.Integer(1), tuple(count for count, _, _ in groups)
    )
    state = tuple(
        tuple(Jet(sp.sympify(a), {0: sp.sympify(b)}) for a, b in zip(token, move, strict=True))
        for _, token, move in groups
    )
    after = SYSTEMS[name].advance(algebra, parameters, state)
    return [tuple(entry.slopes.get(0, sp.Integer(0)) for entry in token) for token in after]


def step_slopes(name: str, parameters: Mapping[str, ParameterValue], token: Sequence[sp.Expr]) -> tuple[sp.Expr, ...]:
    """The derivative of a map in its step size at 0, for a single token of length 1."""
    algebra = GroupAlgebra(_jet_exp, _jet_root(known_root((1,))), sp.Integer(1), (sp.Integer(1),))
    state = (tuple(Jet(sp.sympify(entry), {}) for entry in token),)
    step = Jet(sp.Integer(0), {0: sp.Integer(1)})
    (after,) = SYSTEMS[name].advance(algebra, {**parameters, "alpha": step}, state)
    return tuple(entry.slopes.get(0, sp.Integer(0)) for entry in after)


def _jet_exp(number: Any) -> Jet:
    value = sp.exp(number.value)
    return Jet(value, {key: value * slope for key, slope in number.slopes.items()})


def _jet_root(root: Callable[[Any], Any]) -> Callable[[Any], Jet]:
    def function(number: Any) -> Jet:
        value = root(number.value)
        return Jet(value, {key: slope / (2 * value) for key, slope in number.slopes.items()})

    return function


def advance_groups(
    name: str,
    parameters: Mapping[str, ParameterValue],
    groups: Sequence[tuple[sp.Expr, Sequence[sp.Expr]]],
    positive: Sequence[sp.Expr] = (1,),
) -> tuple[tuple[sp.Expr, ...], ...]:
    """One step (map) or the velocity (flow) at groups of equal tokens."""
    algebra = _exact(groups, positive)
    return SYSTEMS[name].advance(algebra, parameters, _state(groups))


def push_groups(
    name: str, parameters: Mapping[str, ParameterValue], groups: Sequence[tuple[sp.Expr, Sequence[sp.Expr]]]
) -> tuple[tuple[sp.Expr, ...], ...]:
    """The influence ``u_i`` at groups of equal tokens."""
    return SYSTEMS[name].influence(_exact(groups, (1,)), parameters, _state(groups))


def _exact(groups: Sequence[tuple[Any, Sequence[Any]]], positive: Sequence[Any]) -> GroupAlgebra:
    return GroupAlgebra(sp.exp, known_root(positive), sp.Integer(1), tuple(count for count, _ in groups))


def _state(groups: Sequence[tuple[Any, Sequence[Any]]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(sp.sympify(entry) for entry in token) for _, token in groups)
