"""A statement with one of its conditions dropped: instances that fail without it are looked for, in floats and certified."""

from __future__ import annotations

from typing import Any

from eigentoken.numerics.instances.plans import Contradiction, plan_for
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.readings import load
from eigentoken.proofs.properties.property import TOLERANCE, described, drawn_for
from eigentoken.theory.language.conditions import Condition, Not
from eigentoken.theory.language.readings import GENERATED, LATEX, OBSERVED
from eigentoken.theory.language.verdicts import Verdict, holds, undecided
from eigentoken.theory.statements.statement import Statement

from .dropped_conditions import places

__all__ = ["find_failure_without", "search_without"]


def search_without(statement: Statement, place: str, *, seconds: float, instances: int = 20000) -> Verdict:
    """Look for an instance with all conditions but the one at ``place``, which it violates, where a claim fails for certain."""
    dropped = places(statement)[place]
    tried = 0
    for system in statement.systems:
        conjecture = Conjecture(
            f"{statement.id} without {LATEX(dropped.condition)}",
            system,
            (*dropped.others, Not(dropped.condition)),
            dropped.claims,
        )
        result = refute(conjecture, seconds=seconds, instances=instances, seed=0).results[0]
        tried += result.tried
        if result.counterexample is not None:
            document = result.counterexample.as_dict()["instance"]
            shown = ", ".join(f"{name} = {value}" for name, value in document.items())
            return holds(f"found by {result.found_by} after {result.tried} instances, certified: {shown}")
    return undecided(f"no certified failure among {tried} instances")


def find_failure_without(statement: Statement, dropped: Condition, instances: int = 2000) -> dict[str, Any] | None:
    """An instance that satisfies all conditions but one, misses that one, and violates a claim; ``None`` if not found."""
    load()
    others = [condition for condition in statement.conditions if condition != dropped]
    if len(others) == len(statement.conditions):
        raise ValueError(f"{dropped} is not a condition of {statement.id}: name one of its conditions")
    for number, system in enumerate(statement.systems):
        for claim in statement.claims:
            try:
                plan = GENERATED(claim, GENERATED(dropped, plan_for(system, others), False))
                drawn = drawn_for(claim, plan, instances, number)
            except Contradiction:
                continue
            for batch in drawn.batches:
                seen = OBSERVED(claim, batch)
                bad = (seen > TOLERANCE) & ~seen.isnan()
                if bool(bad.any()):
                    return described(batch.take(bad.nonzero().flatten()[:1]), claim)
    return None
