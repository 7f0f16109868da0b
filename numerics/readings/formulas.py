"""A formula of the kernel on instances: how far it is from holding, at their states and with drawn values of its letters.

Indices of tokens and heads run over all of their values, bound integers over their guard, other bound letters (numbers, vectors)
are drawn until the guard holds: a formula that holds for the values drawn is not proved, one that fails for them is seen to fail.
Where no value that was drawn satisfies the guards, or an instance does not meet a condition, nothing was looked at (``nan``); nor
are quantities at later times, quantifiers over starts and ``there is``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import sympy as sp
import torch

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.calculus import HEADS, TOKENS, Assumptions, Expression, Index
from eigentoken.theory.calculus.evaluation import Numbers
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.instances import UnboundedFrom, VanishesFrom, VelocityIs
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    ForAll,
    Implication,
    Negation,
    Proposition,
    children,
    conjuncts,
    quantities,
    relation_of,
)
from eigentoken.theory.kernel.tensors import STATE, Rate, Slope, Tensor, VectorLetter, bases_of
from eigentoken.theory.language.readings import CERTIFIED, GENERATED, OBSERVED, Reading
from eigentoken.theory.language.verdicts import Verdict, undecided
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.system import System, Time

__all__ = ["observed_formula"]

#: Differences of this size, relative to the sides, are rounding.
ROUNDING = 1e-9
#: The violation of what is true because its guard fails.
VACUOUS = -math.inf
#: So many values are drawn for a letter until its guard holds; so many numbers are kept.
DRAWS, KEPT = 24, 3


@GENERATED.register(Formula)
def generated_formula(claim: Formula, plan: Plan, satisfy: bool = True) -> Plan:
    """Any state will do, or one at the place that a word in it speaks of."""
    for word in _words(claim.said):
        if hasattr(word, "place"):
            made: Plan = GENERATED(word, plan)
            return made
    return plan


def _words(said: Proposition) -> Iterator[Any]:
    """The words of the language in a proposition, relations apart."""
    if isinstance(said, Atom) and relation_of(said) is None:
        yield said.word
    for part in children(said):
        yield from _words(part)


@CERTIFIED.register(Formula)
def certified_formula(claim: Formula, case: Case) -> Verdict:
    """Formulas are proved, or seen to fail in floats: no certificate is made of one."""
    return undecided("a formula is looked at in floats: no certificate is made of it")


@OBSERVED.register(Formula)
def observed_formula(claim: Formula, batch: Batch) -> torch.Tensor:
    """The violation for each instance; ``nan`` where nothing can be seen."""
    source = torch.Generator().manual_seed(batch.n * 1000 + batch.d)
    return _looked_at(_Seen(batch, source).violation(claim.said))


def _looked_at(found: torch.Tensor) -> torch.Tensor:
    """``nan`` where guards failed for all values (:data:`VACUOUS`): nothing was seen."""
    return torch.where(found == VACUOUS, torch.full_like(found, torch.nan), found)


#: How far a proposition is from holding, with the values that its bound letters have.
SEEN: Reading[torch.Tensor] = Reading("seen", "how far is it from holding, with these values of its letters?")


@dataclass(frozen=True)
class _Seen:
    """Instances, with values of the bound letters."""

    batch: Batch
    source: torch.Generator
    indices: Mapping[Index, int] = field(default_factory=dict)
    numbers: Mapping[sp.Symbol, Any] = field(default_factory=dict)
    vectors: Mapping[str, Any] = field(default_factory=dict)
    guard: bool = False

    @property
    def _heads(self) -> sp.Integer:
        return sp.Integer(len(self.batch.parameters.get("heads", ())) or 1)

    def violation(self, said: Proposition) -> torch.Tensor:
        """How far it is from holding; ``nan`` where nothing is looked at."""
        if not SEEN.find(type(said)):
            return torch.full((self.batch.count,), torch.nan, dtype=torch.float64)
        return SEEN(said, self)

    def of_atom(self, said: Atom) -> torch.Tensor:
        relation = relation_of(said)
        if isinstance(said.word, VelocityIs | UnboundedFrom | VanishesFrom):
            return self._exact(said.word)
        if relation is None:
            found: torch.Tensor = OBSERVED(said.word, self.batch)
            return found
        if getattr(relation.lhs, "is_Matrix", False):
            if relation.free_symbols & set(self.numbers):  # of a bound scale: no instance is drawn to satisfy it
                return torch.full((self.batch.count,), torch.nan, dtype=torch.float64)
            sides = [self.batch.matrix(side) for side in relation.args]
            sizes = [torch.linalg.matrix_norm(side) for side in (sides[0] - sides[1], *sides)]
            return sizes[0] - ROUNDING * (1 + sizes[1] + sizes[2])
        left, right = map(self.scalar, relation.args)
        room = ROUNDING * (1 + left.abs() + right.abs())
        if isinstance(relation, sp.Eq):
            return (left - right).abs() - room
        if isinstance(relation, sp.Ne):
            return torch.where((left - right).abs() < room, torch.full_like(left, torch.nan), -(left - right).abs())
        over = left - right if isinstance(relation, sp.Le | sp.Lt) else right - left
        if isinstance(relation, sp.Lt | sp.Gt):
            unseen = torch.where(over.abs() < room, torch.full_like(over, torch.nan), over)
            return (
                torch.where(over == 0, room, unseen) if self.guard else unseen
            )  # a token is at no distance from itself
        return over - room

    def of_conjunction(self, said: Conjunction) -> torch.Tensor:
        return self._worst([self.violation(part) for part in said.parts])

    def _worst(self, found: list[torch.Tensor]) -> torch.Tensor:
        """The largest; one that is seen to fail counts, also beside others of which nothing is seen."""
        if not found:
            return torch.full((self.batch.count,), -1.0, dtype=torch.float64)
        stacked = torch.stack(found)
        open_ = stacked.isnan().any(0)
        worst = torch.where(stacked.isnan(), VACUOUS, stacked).amax(0)
        return torch.where(open_ & ~(worst > 0), torch.full_like(worst, torch.nan), worst)

    def of_disjunction(self, said: Disjunction) -> torch.Tensor:
        return -self._worst([-self.violation(part) for part in said.parts])

    def of_negation(self, said: Negation) -> torch.Tensor:
        return -self.violation(said.part)

    def of_implication(self, said: Implication) -> torch.Tensor:
        return self._given(self.violation(said.left), said.right)

    def of_equivalence(self, said: Equivalence) -> torch.Tensor:
        left, right = self.violation(said.left), self.violation(said.right)
        agree = (left > 0) == (right > 0)
        size = torch.minimum(left.abs(), right.abs())
        return torch.where(left.isnan() | right.isnan(), torch.nan, torch.where(agree, -size, size))

    def within(self, guard: Proposition) -> torch.Tensor:
        """The violation of a guard: a strict inequality between equal numbers is not satisfied."""
        return replace(self, guard=True).violation(guard)

    def _given(self, guard: torch.Tensor, body: Proposition) -> torch.Tensor:
        """Where the guard fails the rest says nothing, and is true."""
        if bool((guard > 0).all()):
            return torch.full_like(guard, VACUOUS)
        inside = self.violation(body)
        return torch.where(guard.isnan(), guard, torch.where(guard > 0, torch.full_like(inside, VACUOUS), inside))

    def of_every(self, said: ForAll) -> torch.Tensor:
        letter, drawn = said.letter, True
        if isinstance(letter, Index):
            drawn = False
            sizes = {"token": self.batch.n, "head": int(self._heads)}
            if letter.kind not in sizes:
                return torch.full((self.batch.count,), torch.nan, dtype=torch.float64)
            each = [replace(self, indices={**self.indices, letter: place}) for place in range(sizes[letter.kind])]
        elif isinstance(letter, VectorLetter):
            if letter.name == STATE:
                return _looked_at(self._given(self.within(said.guard), said.body))
            each = [self._with_vectors(letter.name, values) for values in self._met(said, self._families(said), 1)]
        elif isinstance(letter, sp.Symbol) and letter.is_integer:
            drawn = False
            each = [replace(self, numbers={**self.numbers, letter: value}) for value in self._integers(letter)]
        elif isinstance(letter, sp.Symbol):
            each = [self._with_number(letter, values) for values in self._met(said, self._numbers(letter), KEPT)]
        else:
            each = self._quotient(said)
            if not each:
                return torch.full((self.batch.count,), torch.nan, dtype=torch.float64)
        worst = self._worst([one._given(one.within(said.guard), said.body) for one in each])
        return _looked_at(worst) if drawn else worst

    def _exact(self, claim: VelocityIs | UnboundedFrom | VanishesFrom) -> torch.Tensor:
        """What an exact instance is seen to do, for each value of its letters that was drawn."""
        count = self.batch.count if self.numbers else 1
        found = []
        for place in range(count):
            values = {letter: _value(each, place) for letter, each in self.numbers.items()}
            try:
                found.append(_Run(self.batch.system, claim, values).violation())
            except OverflowError:  # the exponential of a score that was drawn too large
                found.append(math.nan)
        return torch.tensor(found, dtype=torch.float64).expand(self.batch.count).clone()

    def _quotient(self, said: ForAll) -> list[_Seen]:
        """A matrix A with ``A B = W``: where B is invertible there is one, ``W B^{-1}``; nothing is drawn."""
        for part in conjuncts(said.guard):
            relation = relation_of(part)
            if (
                isinstance(relation, sp.Eq)
                and isinstance(relation.lhs, sp.MatMul)
                and relation.lhs.args[0] == said.letter
            ):
                divisor = sp.MatMul(*relation.lhs.args[1:])
                if said.letter not in divisor.free_symbols | relation.rhs.free_symbols:
                    value = self.batch.matrix(relation.rhs * divisor.doit().inv())
                    extra = {**self.batch.extra, said.letter.name: value}
                    return [replace(self, batch=replace(self.batch, extra=extra, _memory={}))]
        return []

    def _integers(self, letter: sp.Symbol) -> list[sp.Integer]:
        top = max(self.batch.n, self.batch.d) + 1
        first = 1 if letter.is_positive else 0 if letter.is_nonnegative else -top
        return [sp.Integer(value) for value in range(first, top + 1)]

    def _numbers(self, letter: sp.Symbol) -> Iterator[torch.Tensor]:
        """Numbers of the sign of the letter."""
        while True:
            drawn = torch.randn(self.batch.count, generator=self.source, dtype=torch.float64) * 2
            yield drawn.abs() if letter.is_nonnegative else drawn

    def _families(self, said: ForAll) -> Iterator[torch.Tensor]:
        """Vectors, or one for each token or pair: as many indices as the letter has where it stands."""
        name = said.letter.name
        ranks = {
            len(base.indices) for term in quantities(said.body) for base in bases_of(term.key) if base.name == name
        }
        directions = {term.along for term in quantities(said.body) if isinstance(term, Slope)}
        rank = 1 if name in directions else max(ranks, default=0)
        shape = (self.batch.count, *(self.batch.n,) * rank, self.batch.d)
        while True:
            yield torch.randn(shape, generator=self.source, dtype=torch.float64)

    def _with_vectors(self, name: str, values: torch.Tensor) -> _Seen:
        return replace(self, vectors={**self.vectors, name: _listed(values)})

    def _with_number(self, letter: sp.Symbol, values: torch.Tensor) -> _Seen:
        return replace(self, numbers={**self.numbers, letter: values})

    def _met(self, said: ForAll, draws: Iterator[torch.Tensor], kept: int) -> list[torch.Tensor]:
        """So many values of the letter; each instance has those that meet its guard first, as far as some were drawn."""
        found = [next(draws) for _ in range(kept)]
        if said.guard == TRUE:
            return found
        letter = said.letter

        def meets(values: torch.Tensor) -> torch.Tensor:
            named = isinstance(letter, VectorLetter)
            there = self._with_vectors(letter.name, values) if named else self._with_number(letter, values)
            return there.within(said.guard) <= 0

        good = [meets(values) for values in found]
        for values in itertools.islice(draws, DRAWS - kept):
            if all(bool(each.all()) for each in good):
                break
            free = meets(values)
            for slot in range(kept):
                takes = free & ~good[slot]
                wide = takes.reshape(-1, *[1] * (values.ndim - 1))
                found[slot], good[slot] = torch.where(wide, values, found[slot]), good[slot] | takes
                free = free & ~takes
        return found

    # -- terms ------------------------------------------------------------------------------------------------------------

    def scalar(self, expression: sp.Expr) -> torch.Tensor:
        """The value of a scalar term."""
        whole = {letter: value for letter, value in self.numbers.items() if isinstance(value, sp.Integer)}
        whole[HEADS] = self._heads
        expression = sp.sympify(expression).xreplace(whole)
        found: dict[sp.Symbol, torch.Tensor] = {}
        table = {}
        for number, term in enumerate(sorted(expression.atoms(Tensor), key=str)):
            letter = sp.Symbol(f"quantity_{number}", real=True)
            table[term], found[letter] = letter, self.quantity(term)
        bound = {**{each: value for each, value in self.numbers.items() if each not in whole}, **found}
        named = {letter: sp.Symbol(f"bound_{i}", real=True) for i, letter in enumerate(bound)}
        plain = _numbers(expression.xreplace(table).xreplace(named))
        extra = {**self.batch.extra, **{named[letter].name: value for letter, value in bound.items()}}
        return replace(self.batch, extra=extra, _memory={}).scalar(plain)

    def quantity(self, term: Tensor) -> torch.Tensor:
        """An inner product, a sum over tokens, an attention weight: at the state of the instance."""
        if term.time is not None:
            return torch.full((self.batch.count,), torch.nan, dtype=torch.float64)
        if isinstance(term, Slope):
            return self._slope(term)
        if isinstance(term, Rate):
            return self._rate(term.expression)
        return self._at(self.batch.tokens, term.expression)

    def _rate(self, expression: Expression) -> torch.Tensor:
        """The increment under the map, or the derivative along the flow (of the state alone)."""
        moved = problem_of(self.batch).advance(self.batch.tokens, 0.0)
        if self.batch.system.time is Time.MAP:
            return self._at(moved, expression) - self._at(self.batch.tokens, expression)
        found: torch.Tensor = torch.func.jvp(lambda x: self._at(x, expression), (self.batch.tokens,), (moved,))[1]
        return found

    def _slope(self, term: Slope) -> torch.Tensor:
        """The derivative along the vectors that were drawn for the direction."""
        if term.along not in self.vectors:
            return torch.full((self.batch.count,), torch.nan, dtype=torch.float64)
        along = torch.stack([torch.stack(each, -1) for each in self.vectors[term.along]], 1)
        found: torch.Tensor = torch.func.jvp(lambda x: self._at(x, term.expression), (self.batch.tokens,), (along,))[1]
        return found

    def _at(self, tokens: torch.Tensor, expression: Expression) -> torch.Tensor:
        batch = self.batch
        value = Numbers(
            sizes={"token": batch.n, "head": int(self._heads)},
            scalars={TOKENS: sp.Integer(batch.n), HEADS: self._heads},
            matrices=_Matrices(batch),
            vectors={STATE: _listed(tokens), **self.vectors},
            exp=torch.exp,
            sqrt=torch.sqrt,
            convert=self.scalar,
            masks={"causal": [[int(j <= i) for j in range(batch.n)] for i in range(batch.n)]},
            assumptions=_assumptions(batch.system),
        ).scalar(expression, dict(self.indices))
        return (
            value if isinstance(value, torch.Tensor) else torch.full((batch.count,), float(value), dtype=torch.float64)
        )


@SEEN.register(Atom)
def seen_atom(said: Atom, seen: _Seen) -> torch.Tensor:
    return seen.of_atom(said)


@SEEN.register(Conjunction)
def seen_conjunction(said: Conjunction, seen: _Seen) -> torch.Tensor:
    return seen.of_conjunction(said)


@SEEN.register(Disjunction)
def seen_disjunction(said: Disjunction, seen: _Seen) -> torch.Tensor:
    return seen.of_disjunction(said)


@SEEN.register(Negation)
def seen_negation(said: Negation, seen: _Seen) -> torch.Tensor:
    return seen.of_negation(said)


@SEEN.register(Implication)
def seen_implication(said: Implication, seen: _Seen) -> torch.Tensor:
    return seen.of_implication(said)


@SEEN.register(Equivalence)
def seen_equivalence(said: Equivalence, seen: _Seen) -> torch.Tensor:
    return seen.of_equivalence(said)


@SEEN.register(ForAll)
def seen_every(said: ForAll, seen: _Seen) -> torch.Tensor:
    return seen.of_every(said)


@lru_cache(maxsize=64)
def _assumptions(about: System) -> Assumptions:
    """The names that the equation of a system introduces."""
    return linearize(about, tangent=False).assumptions


def _value(number: Any, place: int) -> float:
    """What was drawn for an instance; an integer is the same for all."""
    return float(number[place]) if isinstance(number, torch.Tensor) and number.ndim else float(number)


@lru_cache(maxsize=200)
def _compiled(rows: Any, letters: tuple[sp.Symbol, ...]) -> Any:
    """Exact entries as a function of their letters, in floats."""
    return sp.lambdify(letters, rows, modules="math")


@dataclass(frozen=True)
class _Run:
    """An exact instance in floats, with a value for each letter."""

    system: System
    claim: VelocityIs | UnboundedFrom | VanishesFrom
    values: Mapping[sp.Symbol, float]

    def violation(self) -> float:
        if isinstance(self.claim, VelocityIs):
            pairs = self.pairs(1.0, self.claim.velocity)
            return max(abs(a - b) - ROUNDING * (1 + abs(a) + abs(b)) for a, b in pairs)
        return self.end(isinstance(self.claim, UnboundedFrom))

    def floats(self, rows: Any) -> tuple[tuple[float, ...], ...]:
        entries = _compiled(rows, tuple(self.values))(*self.values.values())
        return tuple(tuple(map(float, row)) for row in entries)

    def pairs(self, size: float, other: Any = None) -> list[tuple[float, float]]:
        """The entries of the velocity at the tokens times a number, each with that of another list (the tokens)."""
        weights = {name.name: self.floats(value) for name, value in self.claim.weights}
        tokens = tuple(tuple(size * entry for entry in row) for row in self.floats(self.claim.tokens))
        found = self.system.advance(LoopAlgebra(math.exp, math.sqrt, 1.0), weights, tokens)
        against = tokens if other is None else self.floats(other)
        return [pair for one in zip(found, against, strict=True) for pair in zip(*one, strict=True)]

    def end(self, away: bool) -> float:
        """Along a ray: outward from the tokens on, or inward up to them; of other starts nothing is seen."""
        speeds = []
        for size in (0.5, 0.75, 1.0, 1.5, 2.0):
            pairs = self.pairs(size)
            speed = sum(a * b for a, b in pairs) / sum(b * b for _, b in pairs)
            if any(abs(a - speed * b) > ROUNDING * (1 + abs(a)) for a, b in pairs) or abs(speed) < ROUNDING:
                return math.nan
            speeds.append(speed)
        outward, inward = min(speeds[2:]) > 0, max(speeds[:3]) < 0
        return math.nan if outward == inward else -1.0 if outward == away else 1.0


def _numbers(term: sp.Expr) -> sp.Expr:
    """The term with functions of numbers evaluated: ``exp(5/4)``, ``sqrt(3)``."""
    closed = {each for each in sp.preorder_traversal(term) if each.is_number and not each.is_Rational and each.args}
    return term.xreplace({each: each.evalf(17) for each in closed})


def _listed(values: torch.Tensor) -> Any:
    """``(B, ..., d)`` as nested lists of numbers ``(B,)``."""
    if values.ndim == 1:
        return values
    return [_listed(part) for part in values.unbind(1)]


class _Matrices(Mapping[str, Any]):
    """The matrices of a batch by name, as rows of numbers ``(B,)``; of a system with heads by the number of the head."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def __getitem__(self, name: str) -> Any:
        heads = self.batch.parameters.get("heads", ())
        if heads and name in heads[0]:
            return lambda head: _listed(_now(heads[head][name]))
        return _listed(_now(self.batch.named(name)))

    def __iter__(self) -> Any:
        return iter(self.batch.parameters)

    def __len__(self) -> int:
        return len(self.batch.parameters)


def _now(value: Any) -> torch.Tensor:
    """A matrix that depends on time, at time 0."""
    found: torch.Tensor = value(0.0) if callable(value) else value
    return found
