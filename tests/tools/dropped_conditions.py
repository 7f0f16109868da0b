"""Which conditions of a statement are needed: what the audit knows of each.

For every condition one of three things is said (:func:`rows`): an instance that fails without it is known, and shown by a
certified witness; it is known not to be needed; or the audit knows no failure.  Where the statement is in the language of
conditions and claims, a failure is also searched, by the tests: the other conditions, the negation of the dropped one and the
claim make a conjecture, which the lab tries to refute.  What is found there is certified in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from eigentoken.proofs.typeset.summary import without_code
from eigentoken.theory.language.claims import Claim, Iff, When
from eigentoken.theory.language.conditions import AllOf, Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.statements.statement import Statement

__all__ = ["Dropped", "Known", "Row", "places", "rows", "table"]


@dataclass(frozen=True)
class Known:
    """What the audit says of one condition.

    ``name`` is that of a variant of the statement (or ``shown`` that of a counterexample) whose witness shows the failure; a
    condition that is not needed has none.  ``place`` is where the condition stands in the statement (:func:`places`); a
    failure of a claim about limits is then looked for ``in_floats`` only.  ``search`` finds further instances for a
    statement in words.
    """

    name: str
    says: str
    needed: bool = True
    place: str = ""
    shown: str = ""
    search: Callable[[int], Verdict] | None = None
    in_floats: bool = False
    searched: bool = True
    "False where no search was made: the witness of the variant is all that is known."


@dataclass(frozen=True)
class Dropped:
    """A condition of a statement, and what is left of the statement without it."""

    condition: Condition
    others: tuple[Condition, ...]
    claims: tuple[Claim, ...]


def places(statement: Statement) -> dict[str, Dropped]:
    """All conditions: ``c0``, ``c1``, ... of the statement; ``=>1`` inside its claim 1, ``=>1.2`` part 2 of that condition."""
    found: dict[str, Dropped] = {}
    for index, condition in enumerate(statement.conditions):
        others = tuple(each for number, each in enumerate(statement.conditions) if number != index)
        found[f"c{index}"] = Dropped(condition, others, statement.claims)
    for index, claim in enumerate(statement.claims):
        if not isinstance(claim, Iff | When):
            continue
        inside = claim.condition
        found[f"=>{index}"] = Dropped(inside, statement.conditions, (claim.claim,))
        for part, each in enumerate(inside.parts if isinstance(inside, AllOf) else ()):
            rest = tuple(other for number, other in enumerate(inside.parts) if number != part)  # type: ignore[attr-defined]
            found[f"=>{index}.{part}"] = Dropped(each, (*statement.conditions, *rest), (claim.claim,))
    return found


@dataclass(frozen=True)
class Row:
    """One line of the table: a condition, what is known of it, how a failure is shown and by what it is searched."""

    id: str
    condition: str
    answer: str
    says: str
    shown: str = ""
    search: str = ""

    NEEDED = "fails without it"
    UNNEEDED = "not needed"
    UNKNOWN = "no failure known"


def rows(statement: Statement) -> Iterator[Row]:
    """The lines of one statement: what the audit knows first, then the conditions of which it knows nothing."""
    from .known_failures import KNOWN

    known = KNOWN.get(statement.id, ())
    for each in known:
        how = "certified" if each.search is not None or each.place else ""
        how = "in floats" if each.in_floats else how if each.needed else ""
        how = how if each.searched else ""
        shown = (each.shown or each.name) if each.needed else ""
        yield Row(statement.id, each.name, Row.NEEDED if each.needed else Row.UNNEEDED, each.says, shown, how)
    covered = {each.place for each in known}
    for place, dropped in places(statement).items():
        if place.startswith("c") and place not in covered:
            yield Row(
                statement.id, f"${LATEX(dropped.condition)}$", Row.UNKNOWN, "the audit knows no failure without it"
            )
    if not known and not statement.conditions:
        yield Row(statement.id, "-", Row.UNKNOWN, "no condition beyond the definitions, and the audit knows no failure")


def table(statements: Iterable[Statement]) -> str:
    """All lines as a table in Markdown."""
    head = [
        "| statement | id | condition | what is known | says | shown by | found by a search |",
        "|---|---|---|---|---|---|---|",
    ]
    lines = [
        f"| {_cell(plain_text(statement.title))} | {row.id} | {_cell(row.condition)} | {row.answer} "
        f"| {_cell(without_code(row.says))} | {_cell(_shown(row))} | {row.search} |"
        for statement in statements
        for row in rows(statement)
    ]
    return "\n".join([*head, *lines]) + "\n"


def _shown(row: Row) -> str:
    """The witness by its name; where that is the number of a test vector, by the condition that it fails."""
    return (without_code(row.shown) or row.condition) if row.shown else ""


def _cell(text: str) -> str:
    """A cell; bars would end it, but inside formulas a bar is written as a command."""
    return text.replace("|", r"\vert " if text.startswith("$") else r"\|")
