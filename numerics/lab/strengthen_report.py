"""What ``strengthen`` gives: a row for each change that was tried, with the searches behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from eigentoken.display import frame, html_table, listing
from eigentoken.documents.strengthen_document import Row as RowDocument
from eigentoken.documents.strengthen_document import RowKind, StrengthenDocument
from eigentoken.documents.strengthen_document import Strengthened as StrengthenedDocument
from eigentoken.documents.strengthen_document import Trial as TrialDocument
from eigentoken.numerics.lab.certify import Certified
from eigentoken.numerics.lab.report import INTERRUPTED, RefutationResult, ResultsByName
from eigentoken.numerics.lab.variants import Part
from eigentoken.theory.language.trial_sentences import TriedChange, outcome_of, sentence_of
from eigentoken.theory.printing.plain_text import plain_text

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["StrengthenReport", "StrengthenRow", "Strengthened", "Trial"]


@dataclass(frozen=True)
class Trial:
    """The conjecture with one change: what stands there instead, and the result of the attack or why there was none."""

    to: str
    result: RefutationResult | None
    why_not: str = ""

    @property
    def interrupted(self) -> bool:
        return self.result is not None and self.result.stopped == INTERRUPTED

    def told(self) -> TriedChange:
        if self.result is None:
            return TriedChange(self.to, "not tried", 0, self.why_not)
        return TriedChange(self.to, self.result.answer, self.result.tried, self.result.untested)

    def as_dict(self) -> TrialDocument:
        why = self.why_not if self.result is None else self.result.untested
        return {"to": self.to, "result": None if self.result is None else self.result.as_dict(), "why_not": why}


@dataclass(frozen=True)
class StrengthenRow:
    """One word, or one constant in it, with what it was changed to."""

    kind: RowKind
    part: Part
    number: int
    word: str
    "As LaTeX."
    constant: str | None
    trials: tuple[Trial, ...]

    @property
    def outcome(self) -> str:
        return outcome_of(self.kind, self.constant, [each.told() for each in self.trials])

    @property
    def says(self) -> str:
        return sentence_of(self.kind, self.constant, [each.told() for each in self.trials])

    @property
    def change(self) -> str:
        """What was changed, in plain text."""
        word = plain_text(self.word)
        if self.kind == "drop":
            return f"without {word}"
        if self.kind == "constant":
            return f"{self.constant} in {word}"
        if self.kind == "converse":
            return f"also necessary: {word}"
        return f"{word} to {plain_text(self.trials[-1].to)}"

    @property
    def witnesses(self) -> list[Certified]:
        """The counterexamples of its trials, the last one first."""
        found = [each.result.counterexample for each in reversed(self.trials) if each.result is not None]
        return [each for each in found if each is not None]

    def as_dict(self) -> RowDocument:
        return {
            "kind": self.kind,
            "part": self.part,
            "number": self.number,
            "word": self.word,
            "constant": self.constant,
            "trials": [each.as_dict() for each in self.trials],
            "outcome": self.outcome,
            "says": self.says,
        }


@dataclass(frozen=True)
class Strengthened:
    """One conjecture: the attack on it as it stands, and the rows, which are there where it survives."""

    whole: RefutationResult
    rows: tuple[StrengthenRow, ...]

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def interrupted(self) -> bool:
        return self.whole.stopped == INTERRUPTED or any(trial.interrupted for row in self.rows for trial in row.trials)

    def __repr__(self) -> str:
        lines = [f"{row.change}: {row.outcome}" for row in self.rows]
        return listing(f"<{self.name}: {self.whole.answer}>", lines or [self.whole.meaning], width=400)

    def as_dict(self) -> StrengthenedDocument:
        return {"whole": self.whole.as_dict(), "rows": [row.as_dict() for row in self.rows]}


@dataclass(frozen=True)
class StrengthenReport(ResultsByName[Strengthened]):
    """What could be said beyond the conjectures of a file."""

    results: tuple[Strengthened, ...]
    file: str = ""

    SCHEMA: ClassVar[Literal["eigentoken/strengthen/1"]] = "eigentoken/strengthen/1"

    @property
    def refuted(self) -> bool:
        """Did a conjecture fall as it stands?"""
        return any(each.whole.answer == "refuted" for each in self.results)

    @property
    def interrupted(self) -> bool:
        return any(each.interrupted for each in self.results)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.results))

    def _repr_html_(self) -> str:
        rows = [(each.name, row.change, row.outcome, row.says) for each in self.results for row in each.rows]
        return html_table(("conjecture", "change", "outcome", "evidence"), rows)

    def to_frame(self) -> DataFrame:
        """One row a change that was tried (pandas)."""
        return frame(
            {"name": each.name, "change": row.change, "outcome": row.outcome, "evidence": row.says}
            for each in self.results
            for row in each.rows
        )

    def as_dict(self) -> StrengthenDocument:
        return {"schema": self.SCHEMA, "file": self.file, "results": [each.as_dict() for each in self.results]}
