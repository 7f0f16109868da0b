"""Steps of a derivation, each with a checker that can say no, and printed from what was checked.

A step has a name, words, the earlier steps it uses, and the *facts* it establishes.  Facts are what a citation of a
textbook theorem needs: a citation whose hypotheses are not all established by earlier steps, or by the conditions of
the statement, fails, and so does one that establishes anything but conclusions of its theorem.  A step that was
checked only for listed sizes says so (``scope``), in the status and in print.  A step that is only argued in words is
an :class:`Argument`: it is never called checked or cited, and a statement that has one, or recalls a fact from one that
has, does not stand on the rung ``derived``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any

import sympy as sp

from eigentoken.display import listing
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.statements.assumptions import assumed_latex, unprinted_assumptions

__all__ = [
    "ALL_SIZES",
    "Argument",
    "Citation",
    "Computation",
    "Derivation",
    "Identity",
    "Inequality",
    "Reduction",
    "Setting",
    "Step",
    "StepOutcome",
    "Theorem",
]

ALL_SIZES = "all sizes"


@dataclass(frozen=True)
class Setting:
    """The statement that a step stands in: its systems and its conditions.  A recalled fact is judged against them."""

    systems: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class StepOutcome:
    """What checking one step gave: the verdict, and the second opinion of an arithmetic that shares no code."""

    step: Step
    verdict: Verdict
    second: Verdict | None = None
    complete: bool = True
    "False where a step that this one uses is not established."

    @property
    def cited(self) -> bool:
        return isinstance(self.step, Citation)

    @property
    def accepted(self) -> bool:
        """The step holds; or it is argued in words, and what it leans on is established."""
        return self.verdict.is_holds or (
            isinstance(self.step, Argument) and self.verdict.is_undecided and self.complete
        )


@dataclass(frozen=True, kw_only=True)
class Step(ABC):
    """One step: ``says`` is the justification in words, printed as it stands (LaTeX allowed).

    ``uses`` are names of earlier steps, ``needs`` are facts: the step counts only where all of them are established.
    ``assuming`` are conditions beyond those of the statement: what rests on the step holds under them, and must say so,
    up to a step that ``discharges`` them (it shows them, or its facts speak of them).  ``about`` names the systems that the
    facts of the step are about where these are not those of the statement.
    """

    name: str
    says: str
    uses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    establishes: tuple[str, ...] = ()
    scope: str = ALL_SIZES
    assuming: tuple[Condition, ...] = ()
    discharges: tuple[Condition, ...] = ()
    about: tuple[str, ...] = ()

    kind = "step"

    @abstractmethod
    def check(self, facts: frozenset[str]) -> Verdict:
        """Check the step, given the facts that the conditions and the earlier steps established."""

    @abstractmethod
    def display(self) -> str:
        """The formula of the step, as LaTeX for a display, made from the objects that ``check`` reads."""

    def assumptions(self) -> tuple[sp.Basic, ...]:
        """What the checker knows of the symbols from their declarations and no hypothesis says: printed first."""
        return ()

    def second_opinion(self) -> Verdict | None:
        """The same question to an arithmetic that shares no code with ``check``; ``None`` where there is none."""
        return None

    def twice(self, facts: frozenset[str]) -> tuple[Verdict, Verdict | None]:
        """The check and the second opinion; a kind whose work is shared does it once."""
        return self.check(facts), self.second_opinion()

    def within(self, setting: Setting) -> Step:
        """The step as it stands in a statement; most kinds ask nothing of the statement."""
        return self

    @property
    def needed(self) -> tuple[str, ...]:
        """All facts that the step rests on."""
        return self.needs

    def sizes(self) -> str:
        """For which sizes the step holds; a recalled fact is limited where the steps behind it are."""
        return self.scope

    @property
    def argued(self) -> bool:
        """True where the step rests on an argument in words, here or in a statement that it recalls."""
        return False


@dataclass(frozen=True, kw_only=True)
class Identity(Step):
    """``left = right`` for all values of the symbols, by normal form.

    ``where`` are definitions that are substituted first (and printed); symbols are free otherwise.
    """

    left: sp.Expr
    right: sp.Expr
    where: Mapping[sp.Basic, sp.Basic] = field(default_factory=dict)

    kind = "identity"

    def sides(self) -> tuple[sp.Expr, sp.Expr]:
        """Both sides with the definitions put in, innermost last."""
        left, right = sp.sympify(self.left), sp.sympify(self.right)
        for _ in range(len(self.where) + 1 if self.where else 0):
            left, right = left.subs(dict(self.where)), right.subs(dict(self.where))
        return left, right

    def check(self, facts: frozenset[str]) -> Verdict:
        return identity_verdict(*self.sides())

    def second_opinion(self) -> Verdict | None:
        from eigentoken.theory.proving.flint_identities import identity_by_flint

        return identity_by_flint(*self.sides())

    def assumptions(self) -> tuple[sp.Basic, ...]:
        """The signs of the symbols, where a root, an absolute value or a logarithm is read with them."""
        sides = self.sides()
        read = any(
            side.has(sp.Abs, sp.log) or any(not power.exp.is_integer for power in side.atoms(sp.Pow)) for side in sides
        )
        return unprinted_assumptions(sides) if read else ()

    def display(self) -> str:
        text = f"{assumed_latex(self.assumptions())}{scalar_latex(self.left)} = {scalar_latex(self.right)}"
        if self.where:
            given = r",\quad ".join(
                f"{scalar_latex(name)} = {scalar_latex(value)}" for name, value in self.where.items()
            )
            text += rf",\qquad \text{{where }} {given}"
        return text


@dataclass(frozen=True, kw_only=True)
class Inequality(Step):
    """``hypotheses => conclusion`` over the reals, by a decision procedure (the negation has no solution)."""

    hypotheses: tuple[sp.Basic, ...]
    conclusion: sp.Basic

    kind = "inequality"

    def check(self, facts: frozenset[str]) -> Verdict:
        from eigentoken.theory.proving.real_arithmetic import prove

        return prove(self.hypotheses, self.conclusion)

    def second_opinion(self) -> Verdict | None:
        from eigentoken.theory.proving.cvc5_process import guarded_inequality

        return guarded_inequality(self.hypotheses, self.conclusion)

    def assumptions(self) -> tuple[sp.Basic, ...]:
        return unprinted_assumptions((*self.hypotheses, self.conclusion), self.hypotheses)

    def display(self) -> str:
        said = (
            each for each in self.hypotheses if each not in (True, sp.true)
        )  # what a declaration says is printed first
        given = r",\ ".join(scalar_latex(each) for each in said)
        text = rf"{given} \implies {scalar_latex(self.conclusion)}" if given else scalar_latex(self.conclusion)
        return assumed_latex(self.assumptions()) + text


@dataclass(frozen=True, kw_only=True)
class Reduction(Step):
    """A structural computation (block structure, symmetry, normal form of tensors) compared with what is claimed.

    ``derive`` computes an object from the system; ``agrees`` compares it with the ``claimed`` object and gives the
    verdict; ``shows`` prints the claimed object.  The claim is data, the derivation is code: neither sees the other.
    ``entrywise`` says that both are lists of scalar expressions, compared one by one: FLINT then compares them again.
    """

    derive: Callable[[], Any]
    claimed: Any
    agrees: Callable[[Any, Any], Verdict]
    shows: Callable[[Any], str]
    entrywise: bool = False

    kind = "reduction"

    def check(self, facts: frozenset[str]) -> Verdict:
        return self.agrees(self.derive(), self.claimed)

    def second_opinion(self) -> Verdict | None:
        return self._second(tuple(self.derive())) if self.entrywise else None

    def twice(self, facts: frozenset[str]) -> tuple[Verdict, Verdict | None]:
        derived = tuple(self.derive()) if self.entrywise else self.derive()
        return self.agrees(derived, self.claimed), self._second(derived) if self.entrywise else None

    def _second(self, derived: tuple[Any, ...]) -> Verdict:
        """FLINT on scalar expressions; tensors of symbolic size have no second arithmetic."""
        from eigentoken.theory.proving.flint_identities import identities_by_flint

        return identities_by_flint(derived, tuple(self.claimed))

    def display(self) -> str:
        return self.shows(self.claimed)


@dataclass(frozen=True, kw_only=True)
class Computation(Step):
    """A certified computation on exact numbers: ``run`` returns a verdict that rests on exact or ball arithmetic."""

    run: Callable[[], Verdict]
    formula: str
    again: Callable[[], Verdict] | None = None

    kind = "computation"

    def check(self, facts: frozenset[str]) -> Verdict:
        return self.run()

    def second_opinion(self) -> Verdict | None:
        return None if self.again is None else self.again()

    def display(self) -> str:
        return self.formula


@dataclass(frozen=True)
class Theorem:
    """A textbook theorem: hypotheses and conclusions are facts in which letters in braces, ``{f}``, stand for objects.

    >>> square = Theorem("s", "the square", ("{x} is real",), ("the square of {x} is not negative",), "a book")
    >>> square.letters, square.of(x="t").conclusions
    (('x',), ('the square of t is not negative',))
    """

    key: str
    name: str
    hypotheses: tuple[str, ...]
    conclusions: tuple[str, ...]
    reference: str
    bibtex: str = ""

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the theorem, in alphabetical order."""
        parsed = (Formatter().parse(each) for each in (*self.hypotheses, *self.conclusions))
        return tuple(sorted({letter for each in parsed for _, letter, _, _ in each if letter}))

    def of(self, **letters: str) -> Theorem:
        """The same theorem, spoken of the objects that the letters stand for: all of them, and no others."""
        if tuple(sorted(letters)) != self.letters:
            raise ValueError(
                f"letters of {self.name} must be {list(self.letters)}, got {sorted(letters)}: bind each one"
            )
        hypotheses = tuple(each.format(**letters) for each in self.hypotheses)
        return replace(
            self, hypotheses=hypotheses, conclusions=tuple(each.format(**letters) for each in self.conclusions)
        )


@dataclass(frozen=True, kw_only=True)
class Citation(Step):
    """A textbook theorem, applied to the objects that ``letters`` name.

    Every hypothesis must be a fact that is already established, and ``establishes`` says which of the theorem's
    conclusions are taken from it: at least one, and nothing else.  What follows from them is a step of its own.
    """

    theorem: Theorem
    letters: Mapping[str, str] = field(default_factory=dict)
    formula: str = ""

    kind = "citation"

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """The hypotheses of the theorem, of these objects."""
        return self.theorem.of(**self.letters).hypotheses

    @property
    def needed(self) -> tuple[str, ...]:
        return (*self.needs, *self.hypotheses)

    def check(self, facts: frozenset[str]) -> Verdict:
        if not (self.theorem.reference and self.theorem.bibtex):
            return fails(f"{self.theorem.name} has no published reference: what is argued here is an Argument step")
        if tuple(sorted(self.letters)) != self.theorem.letters:
            return fails(
                f"{self.theorem.name} has the letters {list(self.theorem.letters)}, got {sorted(self.letters)}"
            )
        spoken = self.theorem.of(**self.letters)
        missing = [each for each in spoken.hypotheses if each not in facts]
        if missing:
            return fails(f"{self.theorem.name} needs {'; '.join(missing)}, which no earlier step establishes")
        beyond = [each for each in self.establishes if each not in spoken.conclusions]
        if beyond:
            return fails(f"{self.theorem.name} does not conclude {'; '.join(beyond)}: give what follows its own step")
        if not self.establishes:
            return fails(f"{self.theorem.name} is cited for nothing: say which conclusion is taken")
        return holds(f"cited: {self.theorem.name}; all {len(spoken.hypotheses)} hypotheses are established")

    def display(self) -> str:
        return self.formula


@dataclass(frozen=True, kw_only=True)
class Argument(Step):
    """An argument in words that no machine checked.  The verdict is ``undecided``, and it is counted by itself.

    Its facts can be used by later steps only where everything it ``needs`` is established; whatever rests on it is argued.
    """

    formula: str = ""

    kind = "argument"

    @property
    def argued(self) -> bool:
        return True

    def check(self, facts: frozenset[str]) -> Verdict:
        return undecided("argued in words, not machine-checked")

    def display(self) -> str:
        return self.formula


@dataclass(frozen=True)
class Derivation:
    """Steps in order.  Names are unique, ``uses`` points backwards, and every step must hold."""

    steps: tuple[Step, ...]

    def __repr__(self) -> str:
        lines = [f"{step.kind}: {step.name}: {step.says}" for step in self.steps]
        return listing(f"<Derivation in {len(self.steps)} steps>", lines)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for step in self.steps:
            if step.name in seen:
                raise ValueError(f"step {step.name!r} stands twice: give each step its own name")
            late = [each for each in step.uses if each not in seen]
            if late:
                raise ValueError(f"step {step.name!r} uses {late}, which do not come before it")
            seen.add(step.name)

    def check(self, conditions: Iterable[str] = (), *, second: bool = False) -> list[StepOutcome]:
        """Run every checker in order; a step's facts count only if it and every step it uses hold."""
        facts = frozenset(conditions)
        outcomes: list[StepOutcome] = []
        good: set[str] = set()
        for step in self.steps:
            broken = [each for each in step.uses if each not in good]
            missing = [each for each in step.needs if each not in facts]
            opinion: Verdict | None = None
            if broken:
                verdict = undecided(f"uses {', '.join(broken)}, not established")
            elif missing:
                verdict = fails(f"needs {'; '.join(missing)}, which no earlier step establishes")
            elif second:
                verdict, opinion = step.twice(facts)
            else:
                verdict = step.check(facts)
            outcome = StepOutcome(step, verdict, opinion, complete=not broken)
            outcomes.append(outcome)
            if outcome.accepted:
                good.add(step.name)
                facts = facts | set(step.establishes)
        return outcomes

    def behind(self, ends: Iterable[str], *, stop: Any = None) -> frozenset[str]:
        """The names of all steps that these steps rest on, directly or not, and their own: by use, or by a fact.

        With ``stop`` the way back ends at the steps that discharge this condition.
        """
        wanted = set(ends)
        waiting = [step for step in self.steps if step.name in wanted]
        found: set[str] = set()
        while waiting:
            step = waiting.pop()
            if step.name not in found:
                found.add(step.name)
                if stop is None or stop not in step.discharges:
                    needed = set(step.needed)
                    waiting += [each for each in self.steps if each.name in step.uses or needed & set(each.establishes)]
        return frozenset(found)

    def within(self, setting: Setting) -> Derivation:
        """The same steps as they stand in a statement."""
        return Derivation(tuple(step.within(setting) for step in self.steps))

    def assumed(self, ends: Iterable[str]) -> tuple[Condition, ...]:
        """The conditions beyond those of the statement under which these steps, and all behind them, are read."""
        last = tuple(ends)
        every = dict.fromkeys(each for step in self.steps for each in step.assuming)
        reached = {each: self.behind(last, stop=each) for each in every}
        return tuple(c for c in every if any(s.name in reached[c] and c in s.assuming for s in self.steps))

    @property
    def argued(self) -> tuple[str, ...]:
        """Names of the steps that rest on an argument in words."""
        return tuple(step.name for step in self.steps if step.argued)
