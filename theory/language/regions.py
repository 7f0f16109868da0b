"""Regions of the state space, given by inequalities: what a start lies in, and what trajectories may stay in.

A region is the set of states at which its margins, functions of the state written once for every arithmetic, are not negative
(with ``strict``: positive).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sympy as sp

from eigentoken.theory.language.conditions import Condition, misplaced
from eigentoken.theory.language.observables import Observable, dot
from eigentoken.theory.language.observables_of_spread import (
    interaction_energy,
    mean_square,
    smallest_product,
    squared_diameter,
)
from eigentoken.theory.language.places import Place
from eigentoken.theory.language.readings import LATEX, SYMBOLIC, word
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.systems.algebra import LoopAlgebra, MaskValue, Number, Parameters
from eigentoken.theory.systems.system import System

__all__ = ["Acute", "Cap", "Orthant", "StartsIn", "StateRegion", "Subspace", "Where"]


class StateRegion(Place):
    """A set of states given by inequalities: all margins are at least zero, or positive where it is ``strict``."""

    strict: bool

    @abstractmethod
    def margins(
        self,
        scalars: LoopAlgebra,
        system: System,
        parameters: Parameters,
        x: Sequence[Sequence[Number]],
        mask: MaskValue,
    ) -> tuple[Number, ...]:
        """The numbers that are not negative in the region."""

    def dimension(self) -> int | None:
        """The dimension of a token that the region speaks of, ``None`` for any."""
        return None

    def closed(self) -> StateRegion:
        """The region with its boundary: what states that tend to it have as limits."""
        found = copy(self)
        object.__setattr__(found, "strict", False)
        return found

    def keeps_turned(self) -> bool:
        """Is a state inside whenever it is so after a rotation of all tokens that commutes with the weights?"""
        return False


@dataclass(frozen=True)
class Orthant(StateRegion):
    """``x_ia >= 0`` for all tokens and coordinates."""

    strict: bool = False

    def margins(
        self,
        scalars: LoopAlgebra,
        system: System,
        parameters: Parameters,
        x: Sequence[Sequence[Number]],
        mask: MaskValue,
    ) -> tuple[Number, ...]:
        return tuple(entry for token in x for entry in token)


@dataclass(frozen=True)
class Acute(StateRegion):
    """``cos(x_i, x_j) >= c`` for all pairs of tokens; ``Acute()`` has no obtuse angle, ``Acute(1 - eps)`` is a small ball."""

    cosine: sp.Expr | int | str = 0
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "cosine", _cosine(self, self.cosine))

    def margins(
        self,
        scalars: LoopAlgebra,
        system: System,
        parameters: Parameters,
        x: Sequence[Sequence[Number]],
        mask: MaskValue,
    ) -> tuple[Number, ...]:
        return tuple(_cosine_margin(scalars, self.cosine, a, b) for a, b in combinations(x, 2))

    def keeps_turned(self) -> bool:
        return True


@dataclass(frozen=True)
class Cap(StateRegion):
    """``cos(w, x_i) >= c`` for all tokens: the hemisphere of a vector w (c = 0), a cone or cap around it (c > 0).

    ``vector`` has d rational numbers; left out it is the first coordinate vector, for every d.
    """

    vector: tuple[sp.Expr | int | str, ...] = ()
    cosine: sp.Expr | int | str = 0
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "cosine", _cosine(self, self.cosine))
        object.__setattr__(self, "vector", tuple(_rational(self, "vector", each) for each in self.vector))

    def dimension(self) -> int | None:
        return len(self.vector) or None

    def margins(
        self,
        scalars: LoopAlgebra,
        system: System,
        parameters: Parameters,
        x: Sequence[Sequence[Number]],
        mask: MaskValue,
    ) -> tuple[Number, ...]:
        d = len(x[0])
        w = [_number(scalars, each) for each in self.vector or (1, *([0] * (d - 1)))]
        return tuple(_cosine_margin(scalars, self.cosine, w, token) for token in x)


@dataclass(frozen=True)
class Subspace(StateRegion):
    """Every token is in the span of the first ``size`` coordinate vectors."""

    size: int
    strict: bool = False

    def margins(
        self,
        scalars: LoopAlgebra,
        system: System,
        parameters: Parameters,
        x: Sequence[Sequence[Number]],
        mask: MaskValue,
    ) -> tuple[Number, ...]:
        outside = [entry for token in x for entry in token[self.size :]]
        return tuple(sign * entry for entry in outside for sign in (1, -1)) or (0 * scalars.one,)


#: Observables that rotations of all tokens do not change, where these commute with the weights.
_TURNED = (squared_diameter, smallest_product, mean_square, interaction_energy)


@dataclass(frozen=True)
class Where(StateRegion):
    """The states at which the observables are not negative: a region by inequalities of your own."""

    observables: tuple[Observable, ...]
    strict: bool = False

    def __post_init__(self) -> None:
        given = (self.observables,) if isinstance(self.observables, Observable) else tuple(self.observables)
        object.__setattr__(self, "observables", given)
        for each in given:
            if not isinstance(each, Observable):
                raise misplaced(self, "observables", each, "observables, such as smallest_product")

    def margins(
        self,
        scalars: LoopAlgebra,
        system: System,
        parameters: Parameters,
        x: Sequence[Sequence[Number]],
        mask: MaskValue,
    ) -> tuple[Number, ...]:
        return tuple(each(scalars, system, parameters, x, mask) for each in self.observables)

    def keeps_turned(self) -> bool:
        return all(any(each is known for known in _TURNED) for each in self.observables)


def _rational(word: Any, part: str, value: Any) -> sp.Rational:
    """An exact number; a float stands for its shortest decimal."""
    try:
        return sp.Rational(str(value))
    except (TypeError, ValueError):
        raise misplaced(word, part, value, "a rational number, such as 1, '3/5' or Rational(3, 5)") from None


def _cosine(word: Any, value: Any) -> sp.Rational:
    found = _rational(word, "cosine", value)
    if not -1 <= found <= 1:
        raise misplaced(word, "cosine", value, "a number from -1 to 1")
    return found


def _number(scalars: LoopAlgebra, value: Any) -> Any:
    exact = sp.Rational(value)
    return int(exact.p) * scalars.one / int(exact.q)


def _cosine_margin(scalars: LoopAlgebra, cosine: Any, a: Any, b: Any) -> Any:
    """``a^T b - c |a| |b|``, without a root where c = 0."""
    product = dot(a, b)
    if sp.sympify(cosine) == 0:
        return product
    return product - _number(scalars, cosine) * scalars.sqrt(dot(a, a) * dot(b, b))


@word
@dataclass(frozen=True)
class StartsIn(Condition):
    """The tokens start in the region."""

    region: StateRegion

    def __post_init__(self) -> None:
        given: object = self.region
        if not isinstance(given, StateRegion):
            expected = "a region, such as Orthant(), Acute() or Where(observable); a hemisphere is InHemisphere(V)"
            raise misplaced(self, "region", given, expected)


def _sign(region: Any) -> str:
    return ">" if region.strict else r"\geq"


@LATEX.register(Orthant)
def latex_orthant(region: Orthant) -> str:
    return rf"\{{x_{{ia}} {_sign(region)} 0 \text{{ for all }} i, a\}}"


@LATEX.register(Acute)
def latex_acute(region: Acute) -> str:
    bound = scalar_latex(sp.sympify(region.cosine))
    return rf"\{{\cos(x_i, x_j) {_sign(region)} {bound} \text{{ for all }} i \neq j\}}"


@LATEX.register(Cap)
def latex_cap(region: Cap) -> str:
    bound = scalar_latex(sp.sympify(region.cosine))
    vector = ", ".join(scalar_latex(sp.sympify(each)) for each in region.vector)
    w = f"({vector})" if vector else "e_1"
    return rf"\{{\cos({w}, x_i) {_sign(region)} {bound} \text{{ for all }} i\}}"


@LATEX.register(Subspace)
def latex_subspace(region: Subspace) -> str:
    return rf"\{{x_{{ia}} = 0 \text{{ for all }} i \text{{ and }} a > {region.size}\}}"


@LATEX.register(Where)
def latex_where(region: Where) -> str:
    said = r",\ ".join(f"{each.latex} {_sign(region)} 0" for each in region.observables)
    return rf"\{{{said}\}}"


@LATEX.register(StartsIn)
def latex_starts_in(condition: StartsIn) -> str:
    return rf"x(0) \in {LATEX(condition.region)}"


@SYMBOLIC.register(StartsIn)
def symbolic_starts_in(condition: StartsIn) -> sp.Symbol:
    return sp.Symbol(f"[{LATEX(condition)}]")
