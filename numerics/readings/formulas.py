"""A formula of the kernel on instances: how far it is from holding, at their states and with drawn values of its letters.

Indices of tokens and heads run over all of their values, bound integers over their guard, other bound letters (numbers, vectors)
are drawn until the guard holds: a formula that holds for the values drawn is not proved, one that fails for them is seen to fail.
Where no value that was drawn satisfies the guards, or an instance does not meet a condition, nothing was looked at (``nan``); nor
are quantities at later times, quantifiers over starts and ``there is``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import sympy as sp
import torch

from eigentoken.numerics.dynamics.torch_algebra import derivative_along
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.plans import Plan
from eigentoken.numerics.readings.exact_runs import ROUNDING, ExactRuns
from eigentoken.numerics.readings.quantities import BoundIndices, Quantities, heads_of
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.calculus import HEADS, TOKENS, Expression, Index, dot, vector
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
    free_letters,
    proposition,
    quantities,
    relation_of,
)
from eigentoken.theory.kernel.tensors import STATE, Opposite, Rate, Slope, Tensor, VectorLetter, bases_of
from eigentoken.theory.kernel.words import equiangular
from eigentoken.theory.language.places import Equiangular
from eigentoken.theory.language.readings import CERTIFIED, GENERATED, OBSERVED, Reading
from eigentoken.theory.language.verdicts import Verdict, undecided
from eigentoken.theory.systems.system import Time

__all__ = ["observed_formula"]

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
    parts = set(_parts(claim.said))
    if _ON_A_LINE in parts:
        return replace(plan, on_a_line=True)
    return next((plan.at(place) for place, said in _IN_FULL.items() if said in parts), plan)


_TOKEN, _LINE, _ANY = Index("token", "i"), vector("v"), VectorLetter("z")
_COORDINATE = dot(_LINE, vector(STATE, _TOKEN))
#: ``x_i = (v^T x_i) v`` for every token.
_ON_A_LINE = ForAll(
    _TOKEN,
    TRUE,
    ForAll(
        _ANY,
        TRUE,
        proposition(
            sp.Eq(
                Tensor(dot(vector(_ANY.name), vector(STATE, _TOKEN))),
                Tensor(dot(vector(_ANY.name), _COORDINATE * _LINE)),
                evaluate=False,
            )
        ),
    ),
)
#: Places that a formula speaks of in full: states at random would not be there.
_IN_FULL = {Equiangular(cosine): equiangular(cosine) for cosine in (None, 0)}


def _parts(said: Proposition) -> Iterator[Proposition]:
    yield said
    for part in children(said):
        yield from _parts(part)


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
    return _looked_at(_Seen(batch, source).violation(claim.said)).expand(batch.count)


def _looked_at(found: torch.Tensor) -> torch.Tensor:
    """``nan`` where guards failed for all values (:data:`VACUOUS`): nothing was seen."""
    return torch.where(found == VACUOUS, torch.nan, found)


#: How far a proposition is from holding, with the values that its bound letters have.
SEEN: Reading[torch.Tensor] = Reading("seen", "how far is it from holding, with these values of its letters?")


@dataclass(frozen=True)
class _Seen:
    """Instances, with values of the bound letters.

    What is found has the shape of the places around it (one axis for each bound index), the instances last, or less where it is
    the same for all places.  ``known`` keeps what depends on no letter that was drawn.
    """

    batch: Batch
    source: torch.Generator
    places: BoundIndices = field(default_factory=BoundIndices)
    numbers: Mapping[sp.Symbol, Any] = field(default_factory=dict)
    vectors: Mapping[str, torch.Tensor] = field(default_factory=dict)
    guard: bool = False
    known: dict[Any, Any] = field(default_factory=dict)

    def violation(self, said: Proposition) -> torch.Tensor:
        """How far it is from holding; ``nan`` where nothing is looked at."""
        return SEEN(said, self) if SEEN.find(type(said)) else self._unseen()

    def _unseen(self) -> torch.Tensor:
        return torch.full((self.batch.count,), torch.nan, dtype=torch.float64)

    def of_atom(self, said: Atom) -> torch.Tensor:
        relation = relation_of(said)
        if isinstance(said.word, VelocityIs | UnboundedFrom | VanishesFrom):
            return self._exact(said.word)
        if relation is None:
            return self._once(said.word, lambda: OBSERVED(said.word, self.batch))
        if getattr(relation.lhs, "is_Matrix", False):
            if relation.free_symbols & set(self.numbers):  # of a bound scale: no instance is drawn to satisfy it
                return self._unseen()
            sides = [self.batch.matrix(side) for side in relation.args]
            sizes = [torch.linalg.matrix_norm(side) for side in (sides[0] - sides[1], *sides)]
            return sizes[0] - ROUNDING * (1 + sizes[1] + sizes[2])
        left, right = map(self.scalar, relation.args)
        room = ROUNDING * (1 + left.abs() + right.abs())
        if isinstance(relation, sp.Eq):
            return (left - right).abs() - room
        if isinstance(relation, sp.Ne):
            apart = (left - right).abs()
            return torch.where(apart < room, torch.nan, -apart)
        over = left - right if isinstance(relation, sp.Le | sp.Lt) else right - left
        if isinstance(relation, sp.Lt | sp.Gt):
            unseen = torch.where(over.abs() < room, torch.nan, over)
            return (
                torch.where(over == 0, room, unseen) if self.guard else unseen
            )  # a token is at no distance from itself
        return over - room

    def _once(self, key: Any, find: Callable[[], torch.Tensor]) -> torch.Tensor:
        """What is the same for all values of the letters is found once."""
        if key not in self.known:
            self.known[key] = find()
        found: torch.Tensor = self.known[key]
        return found

    def of_conjunction(self, said: Conjunction) -> torch.Tensor:
        return self._worst([self.violation(part) for part in said.parts])

    def _worst(self, found: list[torch.Tensor]) -> torch.Tensor:
        """The largest; one that is seen to fail counts, also beside others of which nothing is seen."""
        if not found:
            return torch.full((self.batch.count,), -1.0, dtype=torch.float64)
        return _largest(torch.stack(torch.broadcast_tensors(*found)))

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
        if bool(((guard > 0) | guard.isnan()).all()):  # nothing is said of any of them
            return torch.where(guard.isnan(), guard, torch.full_like(guard, VACUOUS))
        inside = self.violation(body)
        return torch.where(guard.isnan(), guard, torch.where(guard > 0, VACUOUS, inside))

    def of_every(self, said: ForAll) -> torch.Tensor:
        letter = said.letter
        if isinstance(letter, Index):
            sizes = {"token": self.batch.n, "head": heads_of(self.batch)}
            if letter.kind not in sizes:
                return self._unseen()
            return self._along(letter, sizes[letter.kind])._everywhere(said)
        if isinstance(letter, sp.Symbol) and letter.is_integer:
            whole = [self._with_number(letter, value) for value in self._integers(letter)]
            return self._worst([one._given(one.within(said.guard), said.body) for one in whole])
        if isinstance(letter, sp.Symbol):  # what was drawn stands along an axis, too
            values = torch.stack(self._met(said, self._numbers(letter), KEPT))
            there = self._with_number(letter, values)._along(Index("draw", letter.name), KEPT)
            return _looked_at(there._everywhere(said))
        if isinstance(letter, VectorLetter):
            if letter.name == STATE:
                return _looked_at(self._given(self.within(said.guard), said.body))
            tries = (
                DRAWS if said.guard != TRUE else 2 + self.batch.d
            )  # what is only implied is met by a special one, if at all
            drawn = self._met(replace(said, guard=_asked(said)), self._families(said), 1, tries)
            each = [self._with_vectors(letter.name, values) for values in drawn]
        else:
            each = self._quotient(said)
            if not each:
                return self._unseen()
        found = _looked_at(self._worst([one._given(one.within(said.guard), said.body) for one in each]))
        if self.guard and _inequality(said.body):  # for all vectors, as a hypothesis: draws can only show that it fails
            return torch.where(found > 0, found, torch.nan)
        return found

    def _along(self, index: Index, size: int) -> _Seen:
        """With an axis for one more index."""
        return replace(self, places=self.places.bound(index, size))

    def _everywhere(self, said: ForAll) -> torch.Tensor:
        """At all places along the last axis."""
        found = self._given(self.within(said.guard), said.body)
        return _largest(found) if found.ndim > self.places.depth else found

    def _exact(self, claim: VelocityIs | UnboundedFrom | VanishesFrom) -> torch.Tensor:
        """What an exact instance is seen to do, for each value of its letters that was drawn."""
        drawn = {letter: torch.as_tensor(_as_float(each)) for letter, each in self.numbers.items()}
        shape = torch.broadcast_shapes((self.batch.count,), *(each.shape for each in drawn.values()))
        lanes = {letter: each.to(torch.float64).expand(shape).flatten() for letter, each in drawn.items()}
        count = math.prod(shape) if lanes else 1
        return ExactRuns(self.batch.system, claim, lanes, count).violation().expand(math.prod(shape)).reshape(shape)

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
                    return [replace(self, batch=replace(self.batch, extra=extra, _memory={}), known={})]
        return []

    def _integers(self, letter: sp.Symbol) -> list[sp.Integer]:
        top = max(self.batch.n, self.batch.d) + 1
        first = 1 if letter.is_positive else 0 if letter.is_nonnegative else -top
        return [sp.Integer(value) for value in range(first, top + 1)]

    def _numbers(self, letter: sp.Symbol) -> Iterator[torch.Tensor]:
        """Numbers of the sign of the letter, others for each place."""
        while True:
            drawn = torch.randn(self.places.shape(self.batch.count), generator=self.source, dtype=torch.float64) * 2
            yield drawn.abs() if letter.is_nonnegative else drawn

    def _families(self, said: ForAll) -> Iterator[torch.Tensor]:
        """Vectors, or one for each token or pair: as many indices as the letter has where it stands."""
        name = said.letter.name
        ranks = {
            len(base.indices) for term in quantities(said.body) for base in bases_of(term.key) if base.name == name
        }
        directions = {term.along for term in quantities(said.body) if isinstance(term, Slope)}
        rank = 1 if name in directions else max(ranks, default=0)
        shape = (*self.places.shape(self.batch.count), *(self.batch.n,) * rank, self.batch.d)
        yield torch.randn(shape, generator=self.source, dtype=torch.float64)
        for special in self._special_vectors() if rank == 0 else ():
            yield special.expand(shape)
        while True:
            yield torch.randn(shape, generator=self.source, dtype=torch.float64)

    def _special_vectors(self) -> Iterator[torch.Tensor]:
        """The direction of the first token, and unit eigenvectors of the value matrix: what guards ask for most."""
        first = self.batch.tokens[:, 0]
        yield first / torch.linalg.vector_norm(first, dim=-1, keepdim=True).clamp_min(1e-300)
        name = self.batch.system.value
        value = None if name is None or self.batch.system.multihead else self.batch.named(name)
        if isinstance(value, torch.Tensor):
            yield from torch.linalg.eigh((value + value.mT) / 2).eigenvectors.unbind(-1)

    def _with_vectors(self, name: str, values: torch.Tensor) -> _Seen:
        return replace(self, vectors={**self.vectors, name: values})

    def _with_number(self, letter: sp.Symbol, values: Any) -> _Seen:
        return replace(self, numbers={**self.numbers, letter: values})

    def _met(self, said: ForAll, draws: Iterator[torch.Tensor], kept: int, tries: int = DRAWS) -> list[torch.Tensor]:
        """So many values of the letter; each instance has those that meet its guard first, as far as some were drawn."""
        found = [next(draws) for _ in range(kept)]
        if said.guard == TRUE:
            return found
        letter = said.letter
        shape = self.places.shape(self.batch.count)

        def meets(values: torch.Tensor) -> torch.Tensor:
            named = isinstance(letter, VectorLetter)
            there = self._with_vectors(letter.name, values) if named else self._with_number(letter, values)
            return (there.within(said.guard) <= 0).expand(shape)

        good = [meets(values) for values in found]
        for values in itertools.islice(draws, tries - kept):
            if all(bool(each.all()) for each in good):
                break
            free = meets(values)
            for slot in range(kept):
                takes = free & ~good[slot]
                wide = takes.reshape(*shape, *[1] * (values.ndim - len(shape)))
                found[slot], good[slot] = torch.where(wide, values, found[slot]), good[slot] | takes
                free = free & ~takes
        return found

    # -- terms ------------------------------------------------------------------------------------------------------------

    def scalar(self, expression: sp.Expr) -> torch.Tensor:
        """The value of a scalar term."""
        whole = {letter: value for letter, value in self.numbers.items() if isinstance(value, sp.Integer)}
        sizes = {TOKENS: sp.Integer(self.batch.n), HEADS: sp.Integer(heads_of(self.batch)), **whole}
        plain, inside = _apart(sp.sympify(expression), tuple(sizes.items()))
        given = {letter: value for letter, value in self.numbers.items() if letter not in whole}
        for letter, term in inside:
            given[letter] = self.quantity(term)
        return self.batch.scalar(plain, given=given)

    def quantity(self, term: Tensor) -> torch.Tensor:
        """An inner product, a sum over tokens, an attention weight: at the state of the instance."""
        drawn = {*self.numbers, *map(VectorLetter, self.vectors)}
        if drawn.isdisjoint(_letters_of(term)):
            return self._once((term, *self._axes(term)), lambda: self._quantity(term))
        return self._quantity(term)

    def _axes(self, term: Tensor) -> tuple[int, ...]:
        """Where the indices of the term are: the axes of what is found."""
        return tuple(self.places.axes[each] for each in sorted(_letters_of(term) & set(self.places.axes)))

    def _quantity(self, term: Tensor) -> torch.Tensor:
        if term.time is not None or (isinstance(term, Slope) and term.along not in self.vectors):
            return self._unseen()
        tokens, expression = self.batch.tokens, term.expression
        if isinstance(term, Slope):
            return self._derivative(expression, self.vectors[term.along])
        if isinstance(term, Opposite):
            return self._at(-tokens, expression)
        if not isinstance(term, Rate):
            return self._at(tokens, expression)
        moved = self._once("moved", lambda: problem_of(self.batch).advance(tokens, 0.0))
        if self.batch.system.time is Time.MAP:
            return self._at(moved, expression) - self._at(tokens, expression)
        return self._derivative(expression, moved)

    def _derivative(self, expression: Expression, along: torch.Tensor) -> torch.Tensor:
        """Of a quantity, where the tokens move so (of the state alone)."""
        tokens = self.batch.tokens.expand_as(along).clone()
        return derivative_along(lambda x: self._at(x, expression), tokens, along)

    def _at(self, tokens: torch.Tensor, expression: Expression) -> torch.Tensor:
        return Quantities(self.batch, {STATE: tokens, **self.vectors}, self.scalar).scalar(expression, self.places)


def _asked(said: ForAll) -> Proposition:
    """What values of a letter are chosen by: its guard, or what the implications behind it ask of it alone."""
    inner, bound = said.body, set[Any]()
    while isinstance(inner, ForAll) and inner.guard == TRUE:
        bound.add(inner.letter)
        inner = inner.body
    if said.guard != TRUE or not isinstance(inner, Implication):
        return said.guard
    return Conjunction(tuple(part for part in conjuncts(inner.left) if not bound & free_letters(part)))


def _inequality(said: Proposition) -> bool:
    """Does it compare, behind its quantifiers?  An equation that holds for a vector that was drawn holds for almost all."""
    if isinstance(said, ForAll):
        return _inequality(said.body)
    if isinstance(said, Conjunction):
        return any(map(_inequality, said.parts))
    relation = relation_of(said)
    return relation is not None and not isinstance(relation, sp.Eq)


def _largest(found: torch.Tensor) -> torch.Tensor:
    """Along the first axis; ``nan`` where nothing is seen to fail and of some nothing is seen."""
    unseen = found.isnan()
    worst = torch.where(unseen, VACUOUS, found).amax(0)
    return torch.where(unseen.any(0) & ~(worst > 0), torch.nan, worst)


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, sp.Integer) else value


@lru_cache(maxsize=4096)
def _letters_of(term: Tensor) -> frozenset[Any]:
    return frozenset(term.letters())


@lru_cache(maxsize=4096)
def _apart(
    expression: sp.Expr, sizes: tuple[tuple[sp.Symbol, sp.Integer], ...]
) -> tuple[sp.Expr, tuple[tuple[sp.Symbol, Tensor], ...]]:
    """The term with a letter for each quantity of the calculus and whole numbers for its sizes; and what the letters are."""
    inside = sorted(expression.atoms(Tensor), key=str)
    table = {term: sp.Symbol(f"quantity_{number}_of_the_calculus", real=True) for number, term in enumerate(inside)}
    plain = _numbers(expression.xreplace(table).xreplace(dict(sizes)))
    return plain, tuple((letter, term) for term, letter in table.items())


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


def _numbers(term: sp.Expr) -> sp.Expr:
    """The term with functions of numbers evaluated: ``exp(5/4)``, ``sqrt(3)``."""
    closed = {each for each in sp.preorder_traversal(term) if each.is_number and not each.is_Rational and each.args}
    return term.xreplace({each: each.evalf(17) for each in closed})
