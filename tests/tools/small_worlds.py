"""Small worlds for textbook theorems: matrices, vectors and curves in one or two dimensions, where propositions are true or not.

A world gives each free letter a value; bound letters run over finitely many values (:meth:`World.values`).  So "for every" may be
taken for true where it is not, and "there is" for false: a theorem that fails here has to be looked at.  Numbers are floats of
small integers: what differs differs by more than :data:`NEAR`.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.theory.calculus import DIMENSION, TOKENS, Index
from eigentoken.theory.calculus.atoms import Base, Dot, Exp
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Disjunction,
    Exists,
    ForAll,
    Implication,
    Negation,
    Proposition,
    free_letters,
    relation_of,
)
from eigentoken.theory.kernel.tensors import STATE, Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language import conditions, terms

__all__ = ["NEAR", "Silent", "World", "worlds"]

NEAR = 1e-9
_TIMES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0, 1.5, 2.0, 5.0, 16.0)
#: Values of bound letters for numbers, and of free ones.
_NUMBERS = (-3.0, -1.0, 0.0, 0.01, 0.5, 0.9, 1.0, 1.5, 2.0, 3.0, 40.0)
_FREE = (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0)
#: A number at a time, and its derivative; zero for ever, never, or at a time of the list.
_CURVES: tuple[tuple[Callable[[float], float], Callable[[float], float]], ...] = (
    (lambda t: 1.0, lambda t: 0.0),
    (lambda t: 0.0, lambda t: 0.0),
    (lambda t: t, lambda t: 1.0),
    (lambda t: -t, lambda t: -1.0),
    (math.exp, math.exp),
    (lambda t: -math.exp(t), lambda t: -math.exp(t)),
    (lambda t: math.exp(-t), lambda t: -math.exp(-t)),
    (lambda t: -math.exp(-t), lambda t: math.exp(-t)),
    (lambda t: 1 / (1 + t), lambda t: -1 / (1 + t) ** 2),
    (lambda t: math.exp(-2 * t), lambda t: -2 * math.exp(-2 * t)),
    (lambda t: 0.5 - 1 / (1 + t), lambda t: 1 / (1 + t) ** 2),
    (lambda t: 2 - 4 / (1 + t), lambda t: 4 / (1 + t) ** 2),
)
_MATRICES = {
    1: [[[a]] for a in (-2, -1, 0, 1, 2)],
    2: [
        *([[a, 0], [0, b]] for a, b in itertools.product((-2, -1, 0, 1, 2), repeat=2)),
        *(
            [[a, b], [c, a]]
            for a, b, c in ((0, 1, 1), (0, 1, -1), (1, 1, 1), (2, 1, 1), (1, 2, 0), (1, 4, 0), (0, 1, 0), (3, 1, -1))
        ),
        [[2, 1], [0, 1]],
        [[2, 4], [0, 1]],
        [[3, 4], [0, -1]],
        [[1, 3], [0, 2]],
        [[-1, 4], [0, -1]],
    ],
}
_NORMS = {1: [[[1]]], 2: [[[1, 0], [0, 1]], [[1, 0], [0, 100]], [[100, 0], [0, 1]], [[2, 1], [1, 2]]]}


class Silent(Exception):
    """A world says nothing about it: a word that no finite world decides, an eigenvalue that is not real."""


@dataclass(frozen=True)
class World:
    """Values of letters, and the curve of each token: a direction times a number that moves."""

    size: int
    tokens: int
    table: dict[Any, Any]
    curves: tuple[tuple[int, Any], ...]
    families: frozenset[str] = frozenset()

    def with_(self, letter: Any, value: Any) -> World:
        return replace(self, table={**self.table, letter: value})

    # -- numbers -----------------------------------------------------------------------------------------------------------

    def matrix(self, term: Any) -> Any:
        """The matrix that a term stands for."""
        if isinstance(term, sp.MatrixSymbol):
            return self.table[term.name]
        if isinstance(term, sp.Transpose):
            return self.matrix(term.arg).T
        if isinstance(term, sp.MatAdd):
            return sum(map(self.matrix, term.args))
        if isinstance(term, sp.MatMul):
            parts = [self.matrix(each) if each.is_Matrix else self.number(each) for each in term.args]
            return reduce(lambda left, right: left @ right if np.ndim(left) and np.ndim(right) else left * right, parts)
        raise Silent(f"no value of {term}")

    def number(self, term: Any) -> float:
        """The value of a scalar term."""
        if term.is_Number or term.is_NumberSymbol:
            return float(term)
        if isinstance(term, Tensor):
            return self.tensor(term)
        if term in (terms.d, DIMENSION):
            return float(self.size)
        if term in (terms.n, TOKENS):
            return float(self.tokens)
        if term.is_Symbol:
            return float(self.table[term])
        if isinstance(term, terms.MatrixNumber):
            return self.of_matrix(term)
        if term.is_Add:
            return math.fsum(map(self.number, term.args))
        if term.is_Mul:
            return math.prod(map(self.number, term.args))
        if isinstance(term, sp.exp):
            return math.exp(min(self.number(term.args[0]), 300.0))
        if term.is_Pow and term.exp.is_Integer:
            return self.number(term.base) ** int(term.exp)
        if isinstance(term, sp.Abs):
            return abs(self.number(term.args[0]))
        raise Silent(f"no value of {term}")

    def of_matrix(self, term: Any) -> float:
        if isinstance(term, terms.Eigenvalue):
            found = sorted(np.linalg.eigvals(self.matrix(term.args[0])), key=lambda each: -each.real)
            place = int(self.number(term.args[1]))
            if place > self.size or abs(found[place - 1].imag) > NEAR:
                raise Silent(f"{term} is no real number")
            return float(found[place - 1].real)
        if isinstance(term, terms.SpectralNorm):
            return float(np.linalg.norm(self.matrix(term.args[0]), 2))
        if isinstance(term, terms.RightCount):
            return float(sum(np.linalg.eigvals(self.matrix(term.args[0])).real > NEAR))
        raise Silent(f"no value of {term}")

    def base(self, each: Base, time: float | None) -> Any:
        if each.name == STATE and time is not None:
            shape, way = self.curves[self.table[each.indices[0]]]
            return _CURVES[shape][0](time) * way
        found = self.table[each.name]
        return found if not each.indices else found[self.table[each.indices[0]]]

    def tensor(self, term: Tensor) -> float:
        time = None if term.time is None else self.number(term.time)
        if isinstance(term, Rate):
            return self.rate(term, time)
        return self.polynomial(term.key, time)

    def rate(self, term: Rate, time: float | None) -> float:
        """Of what is linear in the state alone, along the curves."""
        total = 0.0
        if isinstance(term, Slope) or time is None:
            raise Silent("rates are those along the curves")
        for monomial, scale in term.key:
            moved = [each for atom, power in monomial.factors for each in _states(atom) * abs(power)]
            if len(moved) != 1 or monomial.bound or monomial.arrow is not None:
                raise Silent("a rate of what is not linear in the state")
            shape, _ = self.curves[self.table[moved[0].indices[0]]]
            speed = _CURVES[shape][1](time)
            still = replace(self, curves=tuple((0, way) for _, way in self.curves))
            total += speed * still.polynomial(((monomial, scale),), time)
        return total

    def polynomial(self, key: Any, time: float | None) -> float:
        total = 0.0
        for monomial, scale in key:
            if monomial.arrow is not None:
                raise Silent("a vector")
            for places in itertools.product(range(self.tokens), repeat=len(monomial.bound)):
                here = self
                for index, place in zip(monomial.bound, places, strict=True):
                    here = here.with_(index, place)
                total += here.number(scale) * math.prod(
                    here.factor(atom, time) ** power for atom, power in monomial.factors
                )
        return total

    def factor(self, atom: Any, time: float | None) -> float:
        if isinstance(atom, Exp):
            return math.exp(self.polynomial(atom.exponent, time))
        if not isinstance(atom, Dot):
            raise Silent(f"no value of {atom}")
        found = self.base(atom.right, time)
        for letter in reversed(atom.letters):
            matrix = self.table[letter.name]
            found = (matrix.T if letter.transposed else matrix) @ found
        return float(self.base(atom.left, time) @ found)

    # -- propositions ------------------------------------------------------------------------------------------------------

    def holds(self, said: Proposition) -> bool:
        """Is it true here?"""
        if isinstance(said, Atom):
            relation = relation_of(said)
            return self.word(said.word) if relation is None else self.relation(relation)
        if isinstance(said, Conjunction):
            return all(map(self.holds, said.parts))
        if isinstance(said, Disjunction):
            return any(map(self.holds, said.parts))
        if isinstance(said, Negation):
            return not self.holds(said.part)
        if isinstance(said, Implication):
            return not self.holds(said.left) or self.holds(said.right)
        if isinstance(said, ForAll):
            return all(not each.holds(said.guard) or each.holds(said.body) for each in self.values(said.letter))
        if isinstance(said, Exists):
            return any(each.holds(said.guard) and each.holds(said.body) for each in self.values(said.letter))
        raise Silent(f"no finite world decides {type(said).__name__}")

    def relation(self, relation: Any) -> bool:
        if relation in (sp.true, sp.false):
            return bool(relation)
        if isinstance(relation, sp.And):
            return all(map(self.relation, relation.args))
        gap = self.number(relation.lhs) - self.number(relation.rhs)
        near = NEAR * (1 + abs(self.number(relation.lhs)))
        found = {sp.Eq: abs(gap) <= near, sp.Ne: abs(gap) > near, sp.Le: gap <= near, sp.Ge: gap >= -near}
        strict = {sp.Lt: gap < -near, sp.Gt: gap > near}
        return bool({**found, **strict}[type(relation)])

    def word(self, word: Any) -> bool:
        if not isinstance(word, conditions.OfOneMatrix | conditions.NonPrincipalModulusBelow):
            raise Silent(f"no finite world decides {word}")
        matrix = self.matrix(word.term)
        roots = sorted(np.linalg.eigvals(matrix), key=lambda each: -each.real)
        first, rest = roots[0], roots[1:]
        found: dict[type, Callable[[], Any]] = {
            conditions.Symmetric: lambda: np.array_equal(matrix, matrix.T),
            conditions.PositiveDefinite: lambda: min(np.linalg.eigvalsh(matrix + matrix.T)) > NEAR,
            conditions.Nonsingular: lambda: abs(np.linalg.det(matrix)) > NEAR,
            conditions.SimpleTop: lambda: (
                abs(first.imag) <= NEAR and all(each.real < first.real - 1e-6 for each in rest)
            ),
            conditions.NonPrincipalModulusBelow: lambda: (
                abs(first.imag) <= NEAR and all(abs(each) < first.real - 1e-6 for each in rest)
            ),
        }
        if type(word) not in found:
            raise Silent(f"no finite world decides {word}")
        return bool(found[type(word)]())

    def values(self, letter: Any) -> Iterator[World]:
        """The world with each of the values that a bound letter takes."""
        if isinstance(letter, Index):
            choices: Any = range(self.tokens)
        elif isinstance(letter, VectorLetter):
            if letter.name == STATE:
                raise Silent("no finite list of states")
            family = letter.name in self.families
            choices = itertools.product(self.grid(), repeat=self.tokens) if family else self.vectors()
        elif isinstance(letter, sp.MatrixSymbol):
            choices = [np.array(each, float) for each in _NORMS[self.size]]
        elif letter.name in ("t", "s", "T"):
            choices = _TIMES
        else:
            signs = (letter.is_positive, letter.is_nonnegative)
            roots = {round(float(each.real), 12) for one in self.square() for each in np.linalg.eigvals(one)}
            choices = [
                each
                for each in sorted({*_NUMBERS, *roots})
                if not (signs[0] and each <= 0) and not (signs[1] and each < 0)
            ]
        for each in choices:
            yield self.with_(letter.name if isinstance(letter, VectorLetter | sp.MatrixSymbol) else letter, each)

    def grid(self) -> list[Any]:
        return [np.array(each, float) for each in itertools.product((-1, 0, 1), repeat=self.size)]

    def square(self) -> list[Any]:
        """The matrices."""
        return [each for each in self.table.values() if isinstance(each, np.ndarray) and each.ndim == 2]

    def vectors(self) -> list[Any]:
        """A grid, its unit vectors, and the real eigenvectors of the matrices."""
        grid = self.grid()
        unit = [each / np.linalg.norm(each) for each in grid if each.any()]
        square = self.square()
        own = [way.real for each in square for way in np.linalg.eig(each)[1].T if abs(way.imag).max() <= NEAR]
        own += [way.real for each in square for way in np.linalg.eig(each.T)[1].T if abs(way.imag).max() <= NEAR]
        return [*grid, *unit, *own, *(-each for each in own)]


def _states(atom: Any) -> list[Base]:
    sides = (atom.left, atom.right) if isinstance(atom, Dot) else ()
    return [each for each in sides if each.name == STATE]


def worlds(said: tuple[Proposition, ...], vectors: frozenset[Base], seed: int, count: int) -> Iterator[World]:
    """Worlds for the free letters of these propositions, drawn at random: always the same for one seed."""
    named = {VectorLetter(each.name) for each in vectors}
    letters = sorted(frozenset().union(named, *map(free_letters, said)), key=str)
    families = frozenset(each.name for each in vectors if each.indices)
    drawn = random.Random(seed)
    for _ in range(count):
        size, tokens = drawn.choice((1, 2, 2)), drawn.choice((1, 2))
        grid = [np.array(each, float) for each in itertools.product((-1, 0, 1), repeat=size)]
        table: dict[Any, Any] = {}
        for each in (one for one in letters if isinstance(one, sp.MatrixSymbol)):
            table[each.name] = np.array(drawn.choice(_MATRICES[size]), float)
        here = World(size, tokens, dict(table), ())
        for each in letters:
            if isinstance(each, VectorLetter):
                pool = here.vectors() if drawn.random() < 0.5 else grid
                family = each.name in families
                table[each.name] = [drawn.choice(pool) for _ in range(tokens)] if family else drawn.choice(pool)
            elif isinstance(each, Index):
                table[each] = drawn.randrange(tokens)
            elif isinstance(each, sp.Symbol):
                table[each] = drawn.choice(_FREE)
        curves = tuple((drawn.randrange(len(_CURVES)), drawn.choice(grid)) for _ in range(tokens))
        yield World(size, tokens, table, curves, families)
