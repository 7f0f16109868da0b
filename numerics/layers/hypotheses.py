"""Conditions read on weights: is the hypothesis of a theorem true of this layer, and how far is it from that?

A further reading beside the five (:mod:`eigentoken.theory.readings`): ``ON_WEIGHTS(condition, environment)`` gives a
verdict, or ``None`` where the condition speaks of the tokens and not of the weights.  An environment binds the letters
of a system to enclosures; an inverse is never formed: ``sym(X Y^-1)`` is congruent to ``sym(Y^T X)``, and ``X Y^-1`` is
symmetric exactly when ``Y^T X`` is (Y invertible).  Margins are then those of ``Y^T X``, and the unit says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import arb

from eigentoken.numerics.certify import certify
from eigentoken.numerics.enclosures import Enclosure, product, total
from eigentoken.numerics.layers.quantities import ball, norm_of, real_parts
from eigentoken.theory import conditions as words
from eigentoken.theory.ball_evaluation import evaluate
from eigentoken.theory.readings import Reading
from eigentoken.theory.terms import Eigenvalue, MatrixNumber, SpectralNorm, alpha, d
from eigentoken.theory.verdicts import Verdict, all_of, any_of, fails, holds, undecided
from eigentoken.theory.words_flows import IsIdentity

__all__ = ["ON_WEIGHTS", "Environment"]

ON_WEIGHTS = Reading("on-weights", "is it true of these weights?")

#: Seconds for the exact rung of one question about a large matrix.
TIME_LIMIT = 1.0


class NotBound(ValueError):
    """A term uses a letter that the environment does not bind, or a form that is not evaluated."""


@dataclass(frozen=True, eq=False)
class Environment:
    """Letters bound to enclosures, for one system read on one layer or head.

    ``scales`` are positive numbers by which a matrix is divided in the theorem (the score scale).  ``step`` is alpha of
    a map.  The weights do not depend on time.  ``memory`` is shared by the environments of one layer, so that a
    question about one matrix is answered once, whatever letter it goes by.
    """

    where: str
    matrices: Mapping[str, Enclosure]
    scales: Mapping[str, float] = field(default_factory=dict)
    step: Fraction = Fraction(1)
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    def remembered(self, key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """Compute once; enclosures in the key count by identity (they are kept alive by the memory itself)."""
        if key not in self.memory:
            self.memory[key] = compute()
        return self.memory[key]

    def enclosure(self, term: Any) -> Enclosure:
        """The enclosure of a matrix term; scales are left out (they are positive, and asked for by norms alone)."""
        if isinstance(term, sp.MatrixSymbol):
            if term.name not in self.matrices:
                raise NotBound(f"{term.name} is not bound to weights")
            return self.matrices[term.name]
        if isinstance(term, sp.Transpose):
            inner = self.enclosure(term.arg)
            return self.remembered(("transpose", inner), lambda: inner.transpose)
        if isinstance(term, sp.MatMul):
            number, factors = term.as_coeff_matrices()
            if number != 1 or any(isinstance(each, sp.Inverse | sp.MatPow) for each in factors):
                raise NotBound(f"{term} is not evaluated")
            found = tuple(self.enclosure(each) for each in factors)
            return self.remembered(("product", *found), lambda: product(*found))
        if isinstance(term, sp.MatAdd):
            found = tuple(self.enclosure(each) for each in term.args)
            return self.remembered(("sum", *found), lambda: total(list(found)))
        raise NotBound(f"{term} is not evaluated")

    def congruent(self, term: Any) -> tuple[Enclosure, Enclosure | None]:
        """``(Y^T X, Y)`` for ``X Y^-1``, else ``(X, None)``: same definiteness, same symmetry, for invertible Y."""
        if isinstance(term, sp.MatMul) and isinstance(term.args[-1], sp.Inverse):
            right = self.enclosure(term.args[-1].arg)
            left = self.enclosure(sp.MatMul(*term.args[:-1]).doit())
            return self.remembered(("congruent", right, left), lambda: product(right.transpose, left)), right
        return self.enclosure(term), None

    def scale(self, term: Any) -> float:
        return self.scales.get(term.name, 1.0) if isinstance(term, sp.MatrixSymbol) else 1.0

    def parts(self, term: Any) -> tuple[list[float], list[float]] | None:
        """Ordered real parts of the spectrum."""
        found = self.enclosure(term)
        return self.remembered(("real parts", found), lambda: real_parts(found))

    def ask(self, name: str, enclosure: Enclosure, **options: Any) -> Verdict:
        """``certify``, answered once."""
        key = (name, enclosure, tuple(sorted(options.items())))
        return self.remembered(key, lambda: certify(name, enclosure, time_limit=TIME_LIMIT, **options))


def _ask(name: str, environment: Environment, term: Any) -> Verdict:
    try:
        found, inverted = environment.congruent(term)
    except NotBound as problem:
        return undecided(str(problem))
    answer = environment.ask(name, found)
    return answer if inverted is None else _of_congruent(name, answer, environment.ask("nonsingular", inverted))


def _of_congruent(name: str, answer: Verdict, regular: Verdict) -> Verdict:
    """The verdict about ``X Y^-1`` from the one about ``Y^T X``.  Definiteness of the latter makes Y invertible."""
    answer = replace(answer, reason=f"Y^T X for X Y^-1: {answer.reason}", unit=f"{answer.unit} of Y^T X")
    if answer.is_holds and name in {"positive-definite", "negative-definite"}:
        return answer
    if regular.is_holds:
        return answer
    if regular.is_fails:
        return fails(f"the inverse does not exist: {regular.reason}")
    return undecided(f"whether the inverse exists is undecided: {regular.reason}")


def _sign(name: str) -> Any:
    return lambda condition, environment: _ask(name, environment, condition.term)


ON_WEIGHTS.register(words.Symmetric)(_sign("symmetric"))
ON_WEIGHTS.register(words.PositiveDefinite)(_sign("positive-definite"))
ON_WEIGHTS.register(words.PositiveSemidefinite)(_sign("positive-semidefinite"))
ON_WEIGHTS.register(words.NegativeDefinite)(_sign("negative-definite"))
ON_WEIGHTS.register(words.Nonsingular)(_sign("nonsingular"))
ON_WEIGHTS.register(words.SimpleTop)(_sign("dominant-real-part"))
ON_WEIGHTS.register(IsIdentity)(_sign("identity"))


@ON_WEIGHTS.register(words.NonPrincipalModulusBelow)
def _(condition: words.NonPrincipalModulusBelow, environment: Environment) -> Verdict:
    ahead = _ask("dominant-modulus", environment, condition.term)
    first = _decide(Eigenvalue(condition.term, 1) > 0, environment)
    positive = undecided("not bound to weights") if first is None else first
    return all_of({"a real eigenvalue leads by modulus": ahead, "it is positive": positive})


@ON_WEIGHTS.register(words.BoundedInTime)
def _(condition: words.BoundedInTime, environment: Environment) -> Verdict:
    if condition.name not in environment.matrices:
        return undecided(f"{condition.name} is not bound to weights")
    low, high = norm_of(environment.matrices[condition.name], environment.scales.get(condition.name, 1.0))
    return holds(f"the weights do not depend on time, and the norm is between {low:.6g} and {high:.6g}")


@ON_WEIGHTS.register(words.UniformlyContinuous)
def _(condition: words.UniformlyContinuous, environment: Environment) -> Verdict:
    return holds("the weights do not depend on time")


@ON_WEIGHTS.register(words.InHemisphere, words.NotAllEqual)
def _(condition: words.Condition, environment: Environment) -> None:
    return None


@ON_WEIGHTS.register(words.Commute)
def _(condition: words.Commute, environment: Environment) -> Verdict:
    return undecided("commutation of two products of weights is not decided")


@ON_WEIGHTS.register(words.SharesTopEigenvector)
def _(condition: words.SharesTopEigenvector, environment: Environment) -> Verdict:
    return undecided("a common eigenvector of the heads is not decided")


@ON_WEIGHTS.register(words.AllOf)
def _(condition: words.AllOf, environment: Environment) -> Verdict | None:
    return _combined(condition.parts, environment, all_of)


@ON_WEIGHTS.register(words.AnyOf)
def _(condition: words.AnyOf, environment: Environment) -> Verdict | None:
    return _combined(condition.parts, environment, any_of)


def _combined(parts: tuple[words.Condition, ...], environment: Environment, join: Any) -> Verdict | None:
    found = {f"part {number}": ON_WEIGHTS(part, environment) for number, part in enumerate(parts, 1)}
    return None if None in found.values() else join(found)


@ON_WEIGHTS.register(words.Not)
def _(condition: words.Not, environment: Environment) -> Verdict | None:
    inner = ON_WEIGHTS(condition.part, environment)
    if inner is None or inner.is_undecided:
        return inner
    make = fails if inner.is_holds else holds
    return make(f"not: {inner.reason}", margin=inner.margin, unit=inner.unit)


@ON_WEIGHTS.register(words.Relation)
def _(condition: words.Relation, environment: Environment) -> Verdict | None:
    return _decide(condition.relation, environment)


def _decide(relation: Any, environment: Environment) -> Verdict | None:
    if isinstance(relation, sp.And | sp.Or):
        found = {str(part): _decide(part, environment) for part in relation.args}
        known = {name: verdict for name, verdict in found.items() if verdict is not None}
        if len(known) < len(found):
            return None
        return (all_of if isinstance(relation, sp.And) else any_of)(known)
    if not relation.atoms(MatrixNumber):
        return None
    try:
        left, right = (_ball(side, environment) for side in relation.args)
    except NotBound as problem:
        return undecided(str(problem))
    return _compared(relation, left, right)


def _compared(relation: Any, left: arb, right: arb) -> Verdict:
    above, below = left - right, right - left
    name = relation.func
    text = f"left side {left.str(8)}, right side {right.str(8)}"
    strict_up, strict_down = above > 0, below > 0
    gap = abs(above)
    margin = max(0.0, float(gap.lower()) * (1 - 2.0**-50))
    unit = "difference of the sides"
    if name in (sp.StrictGreaterThan, sp.GreaterThan, sp.StrictLessThan, sp.LessThan):
        wanted, other = (
            (strict_up, strict_down) if name in (sp.StrictGreaterThan, sp.GreaterThan) else (strict_down, strict_up)
        )
        if wanted:
            return holds(text, margin=margin, unit=unit)
        return fails(text, margin=margin, unit=unit) if other else undecided(f"the intervals overlap: {text}")
    apart = strict_up or strict_down
    if name is sp.Unequality and apart:
        return holds(text, margin=margin, unit=unit)
    if name is sp.Equality and apart:
        return fails(text, margin=margin, unit=unit)
    return undecided(f"the intervals overlap: {text}")


def _ball(expression: Any, environment: Environment) -> arb:
    """An Arb ball of a scalar expression over the quantities of the environment."""
    if expression.is_Rational:
        return arb(int(expression.p)) / arb(int(expression.q))
    if expression == alpha:
        return arb(environment.step.numerator) / arb(environment.step.denominator)
    if isinstance(expression, Eigenvalue):
        return _eigenvalue(expression, environment)
    if isinstance(expression, SpectralNorm):
        found, scale = environment.enclosure(expression.args[0]), environment.scale(expression.args[0])
        return ball(*environment.remembered(("norm", found, scale), lambda: norm_of(found, scale)))
    if expression.is_Add or expression.is_Mul:
        parts = [_ball(part, environment) for part in expression.args]
        value = parts[0]
        for part in parts[1:]:
            value = value + part if expression.is_Add else value * part
        return value
    if isinstance(expression, sp.Abs):
        return abs(_ball(expression.args[0], environment))
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        return _ball(expression.base, environment) ** int(expression.exp)
    if isinstance(expression, sp.Max | sp.Min):
        parts = [_ball(part, environment) for part in expression.args]
        value = parts[0]
        for part in parts[1:]:
            value = value.max(part) if isinstance(expression, sp.Max) else value.min(part)
        return value
    if expression.is_number:
        closed = evaluate(expression)
        if closed is not None and closed.imag == 0:
            return closed.real
    raise NotBound(f"{expression} is not a number of the weights")


def _eigenvalue(quantity: Eigenvalue, environment: Environment) -> arb:
    term, index = quantity.args
    parts = environment.parts(term)
    if parts is None:
        raise NotBound(f"no bound on the spectrum of {term}")
    size = len(parts[0])
    rank = size if index == d else int(index) if index.is_Integer else None
    if rank is None or not 1 <= rank <= size:
        raise NotBound(f"{quantity} depends on {index}, which the weights do not fix")
    return ball(parts[0][rank - 1], parts[1][rank - 1])
