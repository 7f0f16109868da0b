"""Conditions read on weights: is the hypothesis of a theorem true of this layer, and how far is it from that?

The reading ``ON_WEIGHTS(condition, environment)`` gives a verdict, or ``None`` where the condition speaks of the tokens and
not of the weights.  What can be asked of the matrices of a layer or head is in
:mod:`eigentoken.numerics.layers.symbol_values`.

A condition asks nothing of weights that are finite and do not depend on time, or an inverse, or more; heads that share a
dominant pair and a norm (AB-X2) are read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from eigentoken.documents.check_document import AsksName
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.dominant_pairs import LARGEST, shared_pair
from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers import lab_words  # noqa: F401 - it enters its readings
from eigentoken.numerics.layers.quantities import ball
from eigentoken.numerics.layers.symbol_values import HeadSymbolValues, NotBound, SymbolValues, printed
from eigentoken.numerics.layers.wanted import positive_form
from eigentoken.numerics.layers.weights import HeadWeights, pair_of_outputs
from eigentoken.theory.language import conditions as words
from eigentoken.theory.language.conditions import IsIdentity, NonPrincipalModulusBelow, ShareDominantPair
from eigentoken.theory.language.eigenvalue_gap import EigenvalueGap
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.readings import ASKED, ON_WEIGHTS
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueModulus,
    MatrixNumber,
    ScoreAtEigenvector,
    SpectralNorm,
    Trace,
    alpha,
    d,
    matrix,
)
from eigentoken.theory.language.verdicts import Verdict, all_of, any_of, fails, holds, undecided
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.systems.system import System

__all__ = ["ON_WEIGHTS", "Asks", "asks", "first_alike", "letters_of", "on_weights_of_one_matrix", "ranges_meet"]


@ON_WEIGHTS.register(words.OfOneMatrix)
def on_weights_of_one_matrix(condition: words.OfOneMatrix, environment: SymbolValues) -> Verdict:
    return environment.answer(condition.called, condition.term)


@ON_WEIGHTS.register(IsIdentity)
def on_weights_is_identity(condition: IsIdentity, environment: SymbolValues) -> Verdict:
    """In a system of heads the parameter of every head is meant: the first that is certainly not the identity decides.

    A letter that the heads do not have, the metric of the space, is the layer's.
    """
    if not any(head.binds(condition.term) for head in environment.heads):
        return environment.answer(condition.called, condition.term)
    found = {
        f"head {index}": head.answer(condition.called, condition.term) for index, head in enumerate(environment.heads)
    }
    for name, verdict in found.items():
        if verdict.is_fails:
            return replace(verdict, reason=f"{name}: {verdict.reason}")
    return all_of(found)


@ON_WEIGHTS.register(words.NonPrincipalModulusBelow)
def on_weights_non_principal_modulus_below(
    condition: words.NonPrincipalModulusBelow, environment: SymbolValues
) -> Verdict:
    """The leader mu by modulus is real and simple, and positive: mu < 0 would be lambda_d, with lambda_1 < |mu| = -lambda_d,
    and mu > 0 is lambda_1, with lambda_d > -mu.  So its sign is that of lambda_1 + lambda_d (by real part).  Where d = 1 there
    is no other eigenvalue, and nothing is asked of the one."""
    ahead = environment.answer("dominant-modulus", condition.term)
    if environment.d == 1:
        return ahead
    ends = _decide(Eigenvalue(condition.term, 1) + Eigenvalue(condition.term, d) > 0, environment)
    positive = undecided("not bound to weights") if ends is None else ends
    return all_of({"a real eigenvalue leads by modulus": ahead, "it is positive (lambda_1 + lambda_d > 0)": positive})


@ON_WEIGHTS.register(words.BoundedInTime)
def on_weights_bounded_in_time(condition: words.BoundedInTime, environment: SymbolValues) -> Verdict:
    try:
        norms = [each.norm(matrix(condition.name)) for each in environment.heads or (environment,)]
    except NotBound as problem:
        return undecided(str(problem))
    low, high = max(ends[0] for ends in norms), max(ends[1] for ends in norms)
    return holds(f"the weights do not depend on time, and the norm is between {low:.6g} and {high:.6g}")


@ON_WEIGHTS.register(words.UniformlyContinuous)
def on_weights_uniformly_continuous(condition: words.UniformlyContinuous, environment: SymbolValues) -> Verdict:
    return holds("the weights do not depend on time")


@ON_WEIGHTS.register(words.InHemisphere, words.NotAllEqual, words.NoneOpposite, words.NotAllZero)
def on_weights_of_tokens(condition: words.Condition, environment: SymbolValues) -> None:
    return None


@ON_WEIGHTS.register(words.Commute)
def on_weights_commute(condition: words.Commute, environment: SymbolValues) -> Verdict:
    return undecided("commutation of two products of weights is not decided")


@ON_WEIGHTS.register(MultipleOf)
def on_weights_multiple_of(condition: MultipleOf, environment: SymbolValues) -> Verdict:
    """Entries of ``X - c Y`` that are certainly not zero, c from the largest entry of Y; where none is, in exact integers.

    Of matrices that are known through their factors a corner is looked at first: that of a multiple is one, too.
    """
    try:
        for part in (environment.corner, environment.whole):
            value = part(condition.term)
            of = None if condition.of == IDENTITY else part(condition.of)
            if value is not None and (apart := _no_multiple(condition, value, of)) is not None:
                return apart
        return _exactly_a_multiple(condition, environment.whole(condition.term), of)
    except NotBound as problem:
        return undecided(str(problem))


def _no_multiple(condition: MultipleOf, value: Enclosure, of: Enclosure | None) -> Verdict | None:
    """An entry that is certainly not that of a multiple, among those that are farthest from one."""
    unit = np.eye(value.shape[0]) if of is None else of.center
    place = np.unravel_index(int(np.abs(unit).argmax()), unit.shape)
    pivot = ball(*_entry(unit, place, 0.0 if of is None else of.radius))
    factor = ball(*_entry(value.center, place, value.radius)) / pivot
    apart_by = np.abs(value.center - float(factor.mid()) * unit)
    for _ in range(min(4, apart_by.size)):
        at = np.unravel_index(int(apart_by.argmax()), unit.shape)
        apart_by[at] = -1.0
        left = ball(*_entry(value.center, at, value.radius))
        apart = left - factor * ball(*_entry(unit, at, 0.0 if of is None else of.radius))
        if apart > 0 or apart < 0:
            return fails(f"entry {int(at[0]) + 1}, {int(at[1]) + 1} of {condition.term} is not that of a multiple")
    return None


def _exactly_a_multiple(condition: MultipleOf, value: Enclosure, of: Enclosure | None) -> Verdict:
    """``x_ij y_kl = x_kl y_ij`` for all i, j, with a y_kl that is not zero: denominators cancel."""
    X, known = value.exact, None if of is None else of.exact
    if X is None or value.slack or (of is not None and (known is None or of.slack)):
        return undecided("no entry is certainly other than that of a multiple, and the products are not known exactly")
    Y = known if known is not None else X.scaled(Fraction(0)).shifted(Fraction(1))
    place = next(((i, j) for i in range(Y.shape[0]) for j in range(Y.shape[1]) if Y.numerators[i, j] != 0), None)
    alike = X.is_zero() if place is None else X.numerators * Y.numerators[place] == Y.numerators * X.numerators[place]
    which = condition.term if of is None else f"{condition.term} and {condition.of}"
    said = f"{which}: every entry is that of a multiple" if alike else f"{which}: an entry is not that of a multiple"
    return (holds if alike else fails)(f"{said}, in exact integers")


def _entry(center: Any, at: Any, radius: float) -> tuple[float, float]:
    """An entry of a matrix that is known up to a spectral radius."""
    value = float(center[at])
    return float(np.nextafter(value - radius, -np.inf)), float(np.nextafter(value + radius, np.inf))


@ON_WEIGHTS.register(words.SharesTopEigenvector)
def on_weights_shares_top_eigenvector(condition: words.SharesTopEigenvector, environment: SymbolValues) -> Verdict:
    return undecided("a common eigenvector of the heads is not decided")


@ON_WEIGHTS.register(words.AllOf)
def on_weights_all_of(condition: words.AllOf, environment: SymbolValues) -> Verdict | None:
    return _combined(condition.parts, environment, all_of)


@ON_WEIGHTS.register(words.AnyOf)
def on_weights_any_of(condition: words.AnyOf, environment: SymbolValues) -> Verdict | None:
    return _combined(condition.parts, environment, any_of)


def _combined(parts: tuple[words.Condition, ...], environment: SymbolValues, join: Any) -> Verdict | None:
    found = {f"part {number}": ON_WEIGHTS(part, environment) for number, part in enumerate(parts, 1)}
    return None if None in found.values() else join(found)


@ON_WEIGHTS.register(words.Not)
def on_weights_not(condition: words.Not, environment: SymbolValues) -> Verdict | None:
    inner = ON_WEIGHTS(condition.part, environment)
    if inner is None or inner.is_undecided:
        return inner
    make = fails if inner.is_holds else holds
    return make(f"not: {inner.reason}", margin=inner.margin, unit=inner.unit)


@ON_WEIGHTS.register(words.Relation)
def on_weights_relation(condition: words.Relation, environment: SymbolValues) -> Verdict | None:
    return _decide(condition.relation, environment)


def _decide(relation: Any, environment: SymbolValues) -> Verdict | None:
    if isinstance(relation, sp.And | sp.Or):
        found = {str(part): _decide(part, environment) for part in relation.args}
        known = {name: verdict for name, verdict in found.items() if verdict is not None}
        if len(known) < len(found):
            return None
        return (all_of if isinstance(relation, sp.And) else any_of)(known)
    if not _numbers_of(relation):
        return _of_the_width(relation, environment)
    try:
        left, right = (_ball(side, environment) for side in relation.args)
    except _FreeChoiceError:
        return _for_every_index(relation, environment)
    except NotBound as problem:
        form = positive_form(relation)
        if form is not None and environment.answer("positive-definite", form).is_holds:
            return holds(f"sym({form}) is positive definite, so that its form is positive at every vector")
        return undecided(str(problem))
    return _compared(relation, left, right)


#: Conditions by what they say, and by their place in memory (each is kept, so that no other takes its place).
_FIRST: dict[words.Condition, words.Condition] = {}
_SEEN: dict[int, tuple[words.Condition, words.Condition]] = {}


def first_alike(condition: words.Condition) -> words.Condition:
    """The first of all equal conditions that was asked for: looked up under it, answers are found without comparing terms."""
    known = _SEEN.get(id(condition))
    if known is None:
        if len(_SEEN) > 8192:  # a search makes conditions of its own
            _SEEN.clear()
            _FIRST.clear()
        known = _SEEN[id(condition)] = condition, _FIRST.setdefault(condition, condition)
    return known[1]


@lru_cache(maxsize=1024)
def _numbers_of(relation: Any) -> frozenset[Any]:
    """The numbers of matrices that a relation speaks of, found once however many heads it is read on."""
    return frozenset(relation.atoms(MatrixNumber))


def _of_the_width(relation: Any, environment: SymbolValues) -> Verdict | None:
    """A relation about d alone is decided by the layer; one about n, p, q or the step speaks of the state or its use."""
    answer = _at_width(relation, environment.d)
    return None if answer is None else (holds if answer else fails)(f"d = {environment.d}")


@lru_cache(maxsize=1024)
def _at_width(relation: Any, width: int) -> bool | None:
    """What a relation says where d is this number; ``None`` where that does not decide it."""
    answer = relation.subs(d, width) if relation.free_symbols == {d} else None
    return bool(answer) if answer in (sp.true, sp.false) else None


class _FreeChoiceError(NotBound):
    """The expression depends on the state that the statement is applied to: on an index k, or on n, p, q."""


def _for_every_index(relation: Any, environment: SymbolValues) -> Verdict | None:
    """A relation about ``lambda_k`` where the statement is about the k-th eigenvector: decided if alike for every k.

    Otherwise, and where it counts tokens (n, p, q), it speaks of the state and not of the weights: ``None``.
    """
    terms = {quantity.args[0] for quantity in _numbers_of(relation) if isinstance(quantity, Eigenvalue)}
    parts = environment.parts(terms.pop()) if len(terms) == 1 else None
    if parts is None:
        return None
    found: list[Verdict] = []
    seen: set[tuple[float, float]] = set()
    for k, ends in enumerate(zip(*parts, strict=True), 1):
        if ends in seen:  # the kernel of a head: one eigenvalue, many times
            continue
        seen.add(ends)
        try:
            left, right = (_ball(side, environment, k) for side in relation.args)
        except NotBound:
            return None
        found.append(_compared(relation, left, right))
        if found[-1].is_undecided or found[-1].answer is not found[0].answer:
            return None
    weakest = min(found, key=lambda verdict: verdict.margin or 0.0)
    return replace(weakest, reason=f"for every k; closest: {weakest.reason}")


def _compared(relation: Any, left: arb, right: arb) -> Verdict:
    """A comparison of balls is true only where it is certain; so is its negation, and neither means undecided."""
    apart = left - right
    text = f"left side {left.str(8)}, right side {right.str(8)}"
    true, false = {
        sp.StrictGreaterThan: (apart > 0, apart <= 0),
        sp.GreaterThan: (apart >= 0, apart < 0),
        sp.StrictLessThan: (apart < 0, apart >= 0),
        sp.LessThan: (apart <= 0, apart > 0),
        sp.Equality: (apart == 0, apart > 0 or apart < 0),
        sp.Unequality: (apart > 0 or apart < 0, apart == 0),
    }[relation.func]
    if not (true or false):
        return undecided(f"the intervals overlap: {text}")
    margin = max(0.0, float(abs(apart).lower()) * (1 - 2.0**-50))
    return (holds if true else fails)(text, margin=margin, unit="difference of the sides")


def _ball(expression: Any, environment: SymbolValues, k: int | None = None) -> arb:
    """An Arb ball of a scalar expression over the quantities of the environment; ``k`` replaces a free index."""
    if expression.is_Rational:
        return arb(int(expression.p)) / arb(int(expression.q))
    if expression == alpha:
        return arb(environment.step.numerator) / arb(environment.step.denominator)
    if isinstance(expression, Eigenvalue):
        return _eigenvalue(expression, environment, k)
    if isinstance(expression, EigenvalueModulus):
        if not environment.answer("symmetric", expression.args[0]).is_holds:
            raise NotBound(
                f"{printed(expression)} is read where the matrix is symmetric, so that its eigenvalues are real"
            )
        return abs(_eigenvalue(Eigenvalue(*expression.args), environment, k))
    if isinstance(expression, EigenvalueGap):
        return _smallest_gap(expression, environment)
    if isinstance(expression, SpectralNorm):
        return ball(*environment.norm(expression.args[0]))
    if isinstance(expression, Trace):
        return ball(*environment.trace(expression.args[0]))
    if expression.is_Add or expression.is_Mul:
        parts = [_ball(part, environment, k) for part in expression.args]
        value = parts[0]
        for part in parts[1:]:
            value = value + part if expression.is_Add else value * part
        return value
    if isinstance(expression, sp.Abs):
        return abs(_ball(expression.args[0], environment, k))
    if isinstance(expression, ScoreAtEigenvector) and expression.args[2] == 1:
        return ball(*environment.form_at_leader(*expression.args[:2]))
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        return _ball(expression.base, environment, k) ** int(expression.exp)
    if isinstance(expression, sp.Pow) and expression.exp == sp.Rational(1, 2):
        return _ball(expression.base, environment, k).sqrt()
    if isinstance(expression, sp.Max | sp.Min):
        parts = [_ball(part, environment, k) for part in expression.args]
        value = parts[0]
        for part in parts[1:]:
            value = value.max(part) if isinstance(expression, sp.Max) else value.min(part)
        return value
    if expression.is_number:
        closed = evaluate(expression)
        if closed is not None and closed.imag == 0:
            return closed.real
    if expression.is_Symbol:
        raise _FreeChoiceError(f"{expression} is chosen with the state")
    raise NotBound(f"{printed(expression)} is not a number of the weights")


def _eigenvalue(quantity: Eigenvalue, environment: SymbolValues, k: int | None) -> arb:
    term, index = quantity.args
    parts = environment.parts(term)
    if parts is None:
        raise NotBound(f"no bound on the spectrum of {term}")
    size = len(parts[0])
    if index.is_Symbol and index != d and k is None:
        raise _FreeChoiceError(f"{printed(quantity)} depends on {index}, which the weights do not fix")
    rank = size if index == d else int(index) if index.is_Integer else k
    if rank is None or not 1 <= rank <= size:
        raise NotBound(f"{quantity} does not exist in R^{size}")
    return ball(parts[0][rank - 1], parts[1][rank - 1])


def _smallest_gap(quantity: EigenvalueGap, environment: SymbolValues) -> arb:
    """The smallest difference of neighbours in the order by real part, of a matrix whose eigenvalues are real."""
    (term,) = quantity.args
    parts = environment.parts(term) if environment.answer("symmetric", term).is_holds else None
    if parts is None or len(parts[0]) < 2:
        raise NotBound(f"{printed(quantity)} is read where the matrix is symmetric and has two eigenvalues or more")
    gaps = [ball(low, high) for low, high in zip(*parts, strict=True)]
    apart = [one - following for one, following in pairwise(gaps)]
    return ball(max(0.0, float(min(each.lower() for each in apart))), float(min(each.upper() for each in apart)))


class Asks(IntEnum):
    """In order: what asks more is not met by asking less."""

    NOTHING = 0
    INVERTIBLE = 1
    MORE = 2

    @property
    def text(self) -> AsksName:
        """As documents write it."""
        return "nothing" if self is Asks.NOTHING else "invertible" if self is Asks.INVERTIBLE else "more"


def asks(conditions: Sequence[words.Condition], listed: System) -> Asks:
    """The most that one of the conditions asks of the weights that play the letters of the system.

    A metric that is a parameter of its own is the identity for every layer: what is asked of it is not asked of weights.
    """
    weights = frozenset({listed.value, listed.score, *(listed.rotary or ()), "F"} - {None})
    return max((_asked(first_alike(each), weights) for each in conditions), default=Asks.NOTHING)


@lru_cache(maxsize=4096)
def _asked(condition: words.Condition, weights: frozenset[Any]) -> Asks:
    """What one condition asks, found once however many heads it is read on."""
    return Asks(ASKED(condition, weights))


@ASKED.register(words.Condition)
def asked_of_its_letters(condition: words.Condition, weights: frozenset[Any]) -> Asks:
    """More, if it speaks of a matrix of weights."""
    return Asks.MORE if letters_of(condition) & weights else Asks.NOTHING


@ASKED.register(
    words.InHemisphere,
    words.NotAllEqual,
    words.NoneOpposite,
    words.NotAllZero,
    words.BoundedInTime,
    words.UniformlyContinuous,
)
def asked_nothing(condition: words.Condition, weights: frozenset[Any]) -> Asks:
    """About the tokens, or true of every finite matrix that does not depend on time."""
    return Asks.NOTHING


@ASKED.register(words.AllOf)
def asked_all_of(condition: words.AllOf, weights: frozenset[Any]) -> Asks:
    return max((Asks(ASKED(part, weights)) for part in condition.parts), default=Asks.NOTHING)


@ASKED.register(words.AnyOf)
def asked_any_of(condition: words.AnyOf, weights: frozenset[Any]) -> Asks:
    return min((Asks(ASKED(part, weights)) for part in condition.parts), default=Asks.NOTHING)


@ASKED.register(words.Relation)
def asked_relation(condition: words.Relation, weights: frozenset[Any]) -> Asks:
    return asked_of_its_letters(condition, weights) if _numbers_of(condition.relation) else Asks.NOTHING


@ASKED.register(words.Nonsingular)
def asked_nonsingular(condition: words.Nonsingular, weights: frozenset[Any]) -> Asks:
    return min(Asks.INVERTIBLE, asked_of_its_letters(condition, weights))


@lru_cache(maxsize=4096)
def letters_of(condition: Any) -> frozenset[str]:
    """The names of the matrices that a condition speaks of."""
    found: set[str] = set()
    for each in fields(condition):
        value = getattr(condition, each.name)
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, words.Condition):
            found |= letters_of(value)
        elif isinstance(value, tuple):
            for part in value:
                found |= letters_of(part) if isinstance(part, words.Condition) else frozenset()
        elif isinstance(value, sp.Basic):
            found |= {symbol.name for symbol in value.atoms(sp.MatrixSymbol)}
    return frozenset(found)


@ON_WEIGHTS.register(ShareDominantPair)
def on_weights_share_dominant_pair(condition: ShareDominantPair, environment: SymbolValues) -> Verdict:
    letter = matrix(condition.name)
    heads = environment.heads or (environment,)
    for index, head in enumerate(heads):
        dominant = ON_WEIGHTS(NonPrincipalModulusBelow(letter), head)
        if dominant is not None and dominant.is_fails:
            return replace(dominant, reason=f"head {index} has no dominant positive eigenvalue: {dominant.reason}")
    narrow = [head.head for head in heads if isinstance(head, HeadSymbolValues)]
    if len(narrow) > 1:
        apart = ranges_meet(narrow[0], narrow[1])
        if apart.is_fails:
            return apart
    try:
        wholes = [head.whole(letter) for head in heads]
    except NotBound as problem:
        return undecided(str(problem))
    if wholes[0].shape[0] > LARGEST:
        return undecided(f"a common pair is looked for in exact arithmetic up to width {LARGEST}")
    values = [each.exact for each in wholes]
    known = [each for each in values if each is not None]
    return shared_pair(known) if len(known) == len(values) else undecided("the products are not known exactly")


def ranges_meet(first: HeadWeights, second: HeadWeights) -> Verdict:
    """``fails`` where the ranges of O_1 and O_2 are certified to meet only in zero: ``[O_1 O_2]`` has full column rank."""
    if first.width + second.width > first.d:
        return undecided("the ranges of two output matrices meet by their shapes")
    name, stacked = pair_of_outputs(first, second)
    z = as_enclosure(np.ascontiguousarray(stacked), name=name)
    full = certify("positive-definite", product(z, z.transpose))
    if not full.is_holds:
        return undecided(f"whether the ranges of two output matrices meet is not decided: {full.reason}")
    why = (
        f"no common v: the ranges of O of {first.prefix} and {second.prefix} meet only in 0, [O O] has full column rank"
    )
    return fails(why, margin=full.margin, unit=f"{full.unit} of the Gram matrix", details={"full_rank": full.as_dict()})
