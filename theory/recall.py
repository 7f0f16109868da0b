"""Facts taken from other statements: usable only where the whole derivation of the other statement checks.

A recalled fact is neither checked again nor cited from a book: the derivation of the statement that it names is run, and
must establish exactly this fact.  What that statement only argues in words is argued here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from eigentoken.theory.registry import statements
from eigentoken.theory.steps import ALL_SIZES, Step
from eigentoken.theory.verdicts import Verdict, fails, holds

__all__ = ["Recalled", "established", "recalled", "sizes_behind"]


@cache
def established(statement_id: str) -> frozenset[str]:
    """The facts that the derivation of another statement establishes, when all of its steps are accepted."""
    statement = statements().get(statement_id)
    if statement.derivation is None:
        return frozenset()
    outcomes = statement.derivation.check(statement.facts)
    if not all(outcome.accepted for outcome in outcomes):
        return frozenset()
    return frozenset(fact for outcome in outcomes for fact in outcome.step.establishes)


def sizes_behind(statement_id: str, fact: str) -> tuple[str, ...]:
    """The listed sizes of the steps on which a fact of another statement rests, directly or through earlier steps."""
    derivation = statements().get(statement_id).derivation
    if derivation is None:
        return ()
    behind = derivation.behind(step.name for step in derivation.steps if fact in step.establishes)
    return tuple(sorted({step.sizes() for step in derivation.steps if step.name in behind} - {ALL_SIZES}))


@dataclass(frozen=True, kw_only=True)
class Recalled(Step):
    """One fact of another statement, under the name that its derivation gives it."""

    statement: str
    fact: str
    formula: str = ""

    kind = "recalled"

    def __post_init__(self) -> None:
        if not set(self.establishes) <= {self.fact}:
            raise ValueError(f"step {self.name!r} recalls {self.fact!r} and can establish nothing else")

    def sizes(self) -> str:
        return "; ".join(sizes_behind(self.statement, self.fact)) or self.scope

    @property
    def argued(self) -> bool:
        derivation = statements().get(self.statement).derivation
        return derivation is not None and bool(derivation.argued)

    def check(self, facts: frozenset[str]) -> Verdict:
        if self.fact in established(self.statement):
            return holds(f"the derivation of {self.statement} checks and establishes: {self.fact}")
        return fails(f"the derivation of {self.statement} does not establish: {self.fact}")

    def display(self) -> str:
        return self.formula


def recalled(
    statement_id: str, fact: str, says: str, formula: str = "", *, name: str = "", uses: tuple[str, ...] = ()
) -> Recalled:
    """A fact taken from another statement: its whole derivation is checked, and must establish exactly this fact."""
    return Recalled(
        name=name or f"from {statement_id}",
        says=says,
        uses=uses,
        establishes=(fact,),
        statement=statement_id,
        fact=fact,
        formula=formula,
    )
