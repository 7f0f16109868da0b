"""Mutants of derivations: one small change at a time, to see that the checkers say no.

A mutant flips the sign of a term, drops a term or a factor, changes a number or an exponent, turns a relation around, makes
a strict relation weak or a weak one strict, drops a hypothesis, recalls a fact that was not proved, or takes away an
established fact that a step needs.
A mutant is *killed* when the changed step no longer holds.  One that still holds is not by itself a fault: the changed
statement may be true (a weaker conclusion, a hypothesis that was not needed).  Such a mutant counts as *true* only if
an arithmetic that shares no code with the checker proves it as well; every other survivor is reported as a survivor.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.statements.registry import Recalled
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Reduction, Step

__all__ = ["KillReport", "Mutant", "all_mutants", "changed_expressions", "kill_rate", "mutants", "refuting_point"]

_WEAKER = {sp.StrictGreaterThan: sp.GreaterThan, sp.StrictLessThan: sp.LessThan}
_STRICTER = {weak: strict for strict, weak in _WEAKER.items()}
_TURNED = {
    sp.StrictGreaterThan: sp.StrictLessThan,
    sp.StrictLessThan: sp.StrictGreaterThan,
    sp.GreaterThan: sp.LessThan,
    sp.LessThan: sp.GreaterThan,
    sp.Equality: sp.Unequality,
    sp.Unequality: sp.Equality,
}


def changed_expressions(expression: Any) -> Iterator[tuple[str, Any]]:
    """Every expression or relation that differs by one small change, with what was changed.

    >>> x, y = sp.symbols("x y")
    >>> sorted(str(changed) for _, changed in changed_expressions(x + y))
    ['-x + y', 'x', 'x - y', 'y']
    """
    whole = sp.sympify(expression)
    seen = {whole}
    for what, changed in _changes(whole):
        if changed not in seen:
            seen.add(changed)
            yield what, changed


def _changes(expression: Any) -> Iterator[tuple[str, Any]]:
    yield from _here(expression)
    for place, part in enumerate(expression.args):
        if isinstance(expression, sp.Pow) and place == 1:
            continue
        for what, changed in _changes(part):
            arguments = (*expression.args[:place], changed, *expression.args[place + 1 :])
            yield what, expression.func(*arguments)


def _here(expression: Any) -> Iterator[tuple[str, Any]]:
    """Changes at the root of the expression."""
    if expression.is_Number:
        yield f"number {expression} becomes {expression + 1}", expression + 1
    elif expression.is_Add:
        for place, term in enumerate(expression.args):
            rest = expression.args[:place] + expression.args[place + 1 :]
            yield f"sign of {term} flipped", expression.func(*rest, -term)
            yield f"term {term} dropped", expression.func(*rest)
    elif expression.is_Mul:
        for place, part in enumerate(expression.args):
            if not part.is_Number:
                rest = expression.args[:place] + expression.args[place + 1 :]
                yield f"factor {part} dropped", expression.func(*rest)
    elif isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        yield f"exponent of {expression} raised", expression.base ** (expression.exp + 1)
    elif expression.func in _TURNED:
        yield f"{expression} turned around", _TURNED[expression.func](*expression.args)
        if expression.func in _WEAKER:
            yield f"{expression} made weak", _WEAKER[expression.func](*expression.args)
        if expression.func in _STRICTER:
            yield f"{expression} made strict", _STRICTER[expression.func](*expression.args)


@dataclass(frozen=True)
class Mutant:
    """A derivation with one change, in the step at ``place``; ``facts`` are those of the statement, perhaps fewer."""

    statement: str
    description: str
    derivation: Derivation
    original: Derivation
    place: int
    facts: tuple[str, ...]

    @property
    def step(self) -> Step:
        return self.derivation.steps[self.place]


#: A system that no other one contains, and of which nothing is recalled.
_ELSEWHERE = "rotary-flow"


def all_mutants(statement: Statement) -> Iterator[Mutant]:
    """Every mutant of the derivation of a statement, in the order of the steps."""
    derivation = statement.derivation
    if derivation is None:
        return
    for place, step in enumerate(derivation.steps):
        for description, changed in _changed_steps(step):
            steps = (*derivation.steps[:place], changed, *derivation.steps[place + 1 :])
            yield Mutant(
                statement.id, f"{step.name}: {description}", Derivation(steps), derivation, place, statement.facts
            )
        for fact in dict.fromkeys(step.needed):
            yield _without(statement, derivation, place, fact)


def _changed_steps(step: Step) -> Iterator[tuple[str, Step]]:
    if isinstance(step, Identity):
        for side in ("left", "right"):
            for what, changed in changed_expressions(getattr(step, side)):
                yield f"{side}: {what}", replace(step, **{side: changed})
    elif isinstance(step, Inequality):
        for what, changed in changed_expressions(step.conclusion):
            yield f"conclusion: {what}", replace(step, conclusion=changed)
        for index, hypothesis in enumerate(step.hypotheses):
            others = step.hypotheses[:index], step.hypotheses[index + 1 :]
            yield f"hypothesis {hypothesis} dropped", replace(step, hypotheses=(*others[0], *others[1]))
            for what, changed in changed_expressions(hypothesis):
                yield f"hypothesis: {what}", replace(step, hypotheses=(*others[0], changed, *others[1]))
    elif isinstance(step, Reduction):
        for what, claim in _changed_claims(step.claimed):
            yield f"claim: {what}", replace(step, claimed=claim)
    elif isinstance(step, Citation):
        taken = step.theorem.of(**step.letters).conclusions
        for place, conclusion in enumerate(step.theorem.conclusions):
            if taken[place] not in step.establishes:  # nobody relies on it here
                continue
            others = step.theorem.conclusions[:place], step.theorem.conclusions[place + 1 :]
            swapped = replace(step.theorem, conclusions=(*others[0], f"it is not so that {conclusion}", *others[1]))
            yield f"conclusion {place + 1} of the theorem swapped", replace(step, theorem=swapped)
        yield "more is taken than the theorem gives", replace(step, establishes=(*step.establishes, "all is well"))
    elif isinstance(step, Recalled):
        yield "another fact is recalled", replace(step, fact=f"{step.fact}, and more", establishes=())
        if step.letters:
            yield "letters are left out", replace(step, letters={}, establishes=())
        for index in range(len(step.assuming)):
            fewer = (*step.assuming[:index], *step.assuming[index + 1 :])
            yield f"an assumption is left out, number {index + 1}", replace(step, assuming=fewer)
        if step.setting is not None and step.setting.systems:
            elsewhere = replace(step.setting, systems=(_ELSEWHERE,))
            yield "it is recalled for another system", replace(step, setting=elsewhere, about=())


def _changed_claims(claimed: Any) -> Iterator[tuple[str, Any]]:
    """Claims are tuples of expressions, expressions of the dimension-free calculus, or something else (left alone)."""
    if isinstance(claimed, tuple) and all(isinstance(each, sp.Basic) for each in claimed):
        for place, each in enumerate(claimed):
            for what, changed in changed_expressions(each):
                yield f"entry {place + 1}, {what}", (*claimed[:place], changed, *claimed[place + 1 :])
    elif hasattr(claimed, "terms") and hasattr(claimed, "mapped"):
        for index, (monomial, value) in enumerate(claimed.terms.items()):
            for word, factor in (("sign flipped", -1), ("doubled", 2)):
                terms = {**claimed.terms, monomial: factor * value}
                yield f"term {index + 1} {word}", type(claimed)(terms)
            yield f"term {index + 1} dropped", type(claimed)({k: v for k, v in claimed.terms.items() if k != monomial})


def _without(statement: Statement, derivation: Derivation, place: int, fact: str) -> Mutant:
    """The derivation in which nothing establishes the fact."""
    steps = tuple(_silent(step, fact) for step in derivation.steps[:place])
    facts = tuple(each for each in statement.facts if each != fact)
    changed = Derivation((*steps, *derivation.steps[place:]))
    name = derivation.steps[place].name
    return Mutant(statement.id, f"{name}: nothing establishes {fact!r}", changed, derivation, place, facts)


def _silent(step: Step, fact: str) -> Step:
    """The step without that fact."""
    return replace(step, establishes=tuple(each for each in step.establishes if each != fact))


def mutants(statement: Statement) -> Iterator[tuple[str, Derivation]]:
    """Descriptions and mutated derivations."""
    for mutant in all_mutants(statement):
        yield mutant.description, mutant.derivation


@dataclass(frozen=True)
class KillReport:
    """What became of a sample of mutants.

    ``true`` are changed inequalities that a second solver proves as well, and changed expressions that are equal to the
    original: not faults.  ``survivors`` are accepted mutants that nothing else confirms: each one is a hole.
    """

    killed: int = 0
    true: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Killed mutants among those that are wrong."""
        wrong = self.killed + len(self.survivors)
        return self.killed / wrong if wrong else 1.0


@dataclass
class _Judge:
    """Checks the changed step of a mutant; what a reduction derives is computed once."""

    seconds: float
    derived: dict[tuple[str, int], Any] = field(default_factory=dict)

    def verdict(self, mutant: Mutant) -> Verdict:
        """The checker's word on the changed step; a checker that raises has not accepted it."""
        try:
            return self._asked(mutant)
        except (ArithmeticError, TypeError, ValueError) as problem:
            return undecided(f"the checker raised {type(problem).__name__}: {problem}")

    def _asked(self, mutant: Mutant) -> Verdict:
        step = mutant.step
        missing = [each for each in step.needs if each not in set(_facts_before(mutant))]
        if missing:
            return fails(f"needs {'; '.join(missing)}, which no earlier step establishes")
        if isinstance(step, Inequality):
            from eigentoken.theory.proving.real_arithmetic import prove

            point = refuting_point(step)
            if point is not None:
                return fails(f"false at {point}")
            return prove(step.hypotheses, step.conclusion, seconds=self.seconds)
        if isinstance(step, Reduction):
            key = (mutant.statement, mutant.place)
            if key not in self.derived:
                self.derived[key] = step.derive()
            return step.agrees(self.derived[key], step.claimed)
        if isinstance(step, Citation):
            return step.check(frozenset(_facts_before(mutant)))
        return step.check(frozenset())

    def still_true(self, mutant: Mutant) -> Verdict:
        """Is the changed statement true, by other means than the checker that accepted it?"""
        step, original = mutant.step, mutant.original.steps[mutant.place]
        if isinstance(step, Inequality) and isinstance(original, Inequality):
            verdict = step.second_opinion()
            if verdict is not None and not verdict.is_undecided:
                return verdict
            return _stronger(original, step) if step.conclusion == original.conclusion else _weaker(original, step)
        if isinstance(step, Identity) and isinstance(original, Identity):
            sides = zip(original.sides(), step.sides(), strict=True)
            same = all(identity_verdict(old, new).is_holds for old, new in sides)
            return holds("equal to the original") if same else fails("it differs from the original")
        if isinstance(step, Reduction) and isinstance(original, Reduction) and isinstance(step.claimed, tuple):
            pairs = zip(original.claimed, step.claimed, strict=True)
            same = all(identity_verdict(old, new).is_holds for old, new in pairs)
            return holds("equal to the original") if same else fails("it differs from the original")
        if isinstance(step, Reduction) and isinstance(original, Reduction) and hasattr(step.claimed, "terms"):
            from eigentoken.theory.calculus import normal_form

            apart = normal_form(step.claimed - original.claimed, original.derive()[1])  # a term that vanishes, doubled
            return fails("it differs from the original") if apart.terms else holds("equal to the original")
        return fails("nothing confirms it")


def _weaker(original: Inequality, step: Inequality) -> Verdict:
    """Does the changed conclusion follow from the original one, both by the second solver: less is claimed?"""
    from eigentoken.theory.proving.cvc5_process import guarded_inequality

    old, new = original.conclusion, step.conclusion
    signs = {sp.StrictGreaterThan: 1, sp.GreaterThan: 1, sp.StrictLessThan: -1, sp.LessThan: -1}
    if step.hypotheses != original.hypotheses or old.func not in signs or new.func is not old.func:
        return fails("no second opinion")
    room = sp.factor(sp.cancel(sp.together((new.lhs - new.rhs) - (old.lhs - old.rhs))))
    given = original.second_opinion()
    if (
        given is not None
        and given.is_holds
        and guarded_inequality(step.hypotheses, signs[old.func] * room >= 0).is_holds
    ):
        return holds("it follows from the original conclusion")
    return fails("no second opinion")


def _stronger(original: Inequality, step: Inequality) -> Verdict:
    """Do the hypotheses that were kept suffice, or the changed ones imply the original ones, by the second solver?"""
    from eigentoken.theory.proving.cvc5_process import guarded_inequality

    kept = tuple(each for each in step.hypotheses if each in original.hypotheses)
    fewer = [tuple(each for each in kept if each != other) for other in kept]  # less can be easier for a solver
    if any(guarded_inequality(some, step.conclusion, 5.0).is_holds for some in (kept, *fewer)):
        return holds("the hypotheses that were not changed suffice")
    lost = [each for each in original.hypotheses if each not in step.hypotheses]
    given = original.second_opinion()
    if (
        given is not None
        and given.is_holds
        and all(guarded_inequality(step.hypotheses, each).is_holds for each in lost)
    ):
        return holds("its hypotheses imply the original ones")
    return fails("no second opinion")


_SMALL = tuple(Fraction(top, bottom) for bottom in (1, 2, 5) for top in range(-7, 8))


def refuting_point(step: Inequality, tries: int = 600) -> dict[str, str] | None:
    """An exact rational point where every hypothesis is true and the conclusion is false, if a short search finds one.

    Only rational expressions with ``Abs``, ``Max``, ``Min`` are evaluated, in exact fractions.

    >>> x = sp.Symbol("x", real=True)
    >>> refuting_point(Inequality(name="a", says="", hypotheses=(x > 0,), conclusion=x < 0)) is None
    False
    """
    whole = sp.And(sp.And(*step.hypotheses), sp.Not(step.conclusion))
    if whole in (sp.true, sp.false) or not _is_rational(whole):
        return None
    symbols = sorted(whole.free_symbols, key=str)
    constants = {each: sp.Dummy() for each in whole.atoms(sp.Rational) if not each.is_Integer}
    fixed = [Fraction(int(each.p), int(each.q)) for each in constants]
    functions = {"Abs": abs, "Max": max, "Min": min}
    ask = sp.lambdify([*symbols, *constants.values()], whole.xreplace(constants), [functions])
    source = random.Random(len(str(whole)))
    for _ in range(tries):
        values = [_allowed(source, symbol) for symbol in symbols]
        try:
            if ask(*values, *fixed):
                return {str(symbol): str(value) for symbol, value in zip(symbols, values, strict=True)}
        except ZeroDivisionError:
            continue
    return None


def _is_rational(statement: Any) -> bool:
    functions = {type(each) for each in statement.atoms(sp.Function)}
    powers = statement.atoms(sp.Pow)
    return functions <= {sp.Abs, sp.Max, sp.Min} and all(each.exp.is_Integer for each in powers)


def _allowed(source: random.Random, symbol: Any) -> Fraction:
    """A small number that respects the assumptions of the symbol."""
    value = Fraction(source.randint(1, 9)) if symbol.is_integer else source.choice(_SMALL)
    if symbol.is_positive or symbol.is_nonnegative:
        value = abs(value) or Fraction(1, 3)
    return value


def _facts_before(mutant: Mutant) -> Iterator[str]:
    """The facts at the changed step, taking every earlier step as good."""
    yield from mutant.facts
    for step in mutant.derivation.steps[: mutant.place]:
        yield from step.establishes


def kill_rate(
    statements: Iterable[Statement],
    count: int,
    seed: int,
    *,
    seconds: float = 5.0,
    progress: Callable[[Mutant, str], None] | None = None,
) -> KillReport:
    """Sample mutants of the statements, one statement after the other, and see which are killed.

    Undecided counts as killed: the derivation is then not accepted.
    """
    source = random.Random(seed)
    pools = [(list(all_mutants(each))) for each in statements]
    pools = [pool for pool in pools if pool]
    sample: list[Mutant] = []
    while pools and len(sample) < count:
        for pool in list(pools):
            if len(sample) < count:
                sample.append(pool.pop(source.randrange(len(pool))))
            if not pool:
                pools.remove(pool)
    judge = _Judge(seconds)
    killed, true, survivors = 0, [], []
    for mutant in sample:
        text = f"{mutant.statement}, {mutant.description}"
        if not judge.verdict(mutant).is_holds:
            killed, word = killed + 1, "killed"
        elif judge.still_true(mutant).is_holds:
            true.append(text)
            word = "true"
        else:
            survivors.append(text)
            word = "survived"
        if progress is not None:
            progress(mutant, word)
    return KillReport(killed, tuple(true), tuple(survivors))
