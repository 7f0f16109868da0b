"""What a re-check found: lines, and the fields that it does not cover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, overload

from eigentoken.display import frame, html_table, listing
from eigentoken.documents.recheck_document import Certificate as RecheckedDocument
from eigentoken.documents.recheck_document import RecheckDocument
from eigentoken.theory.language.verdicts import VerdictAnswer

if TYPE_CHECKING:
    from pandas import DataFrame

    from eigentoken.numerics.recheck.documents.shown import Shown

__all__ = ["AGAIN", "HASHES", "SECOND", "Parts", "Recheck", "Rechecked", "lines_of", "same_weights"]

#: for each part of a document, by its path: the condition and the verdict that it states
Parts: TypeAlias = Mapping[tuple[str, ...], tuple[str, str]]
SECOND, AGAIN, HASHES = "the second arithmetic", "the issuer's code again", "content hashes"


@dataclass(frozen=True)
class Rechecked:
    """One line: where it stands, what it asserts, whether it agrees, why, and by what that was found."""

    where: str
    condition: str
    verdict: str
    agrees: str
    reason: str
    by: str = SECOND

    def as_dict(self) -> RecheckedDocument:
        return {
            "where": self.where,
            "condition": self.condition,
            "verdict": self.verdict,
            "agrees": self.agrees,
            "reason": self.reason,
            "by": self.by,
        }


@dataclass(frozen=True, repr=False)
class Recheck(Sequence[Rechecked]):
    """The lines of a re-check, and the fields of the document that it does not cover."""

    lines: list[Rechecked]
    not_covered: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    @overload
    def __getitem__(self, index: int) -> Rechecked: ...
    @overload
    def __getitem__(self, index: slice) -> list[Rechecked]: ...
    def __getitem__(self, index: int | slice) -> Rechecked | list[Rechecked]:
        return self.lines[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.verdict == other
        if not isinstance(other, Recheck):
            return NotImplemented
        return (self.lines, self.not_covered) == (other.lines, other.not_covered)

    def __bool__(self) -> bool:
        raise TypeError("a re-check holds, fails or is undecided, it is not true or false: compare it with 'holds'")

    def __repr__(self) -> str:
        agree = sum(each.agrees == "holds" for each in self.lines)
        open_ones = [f"{each.where}: {each.agrees}: {each.reason}" for each in self.lines if each.agrees != "holds"]
        open_ones += [f"not covered: {', '.join(self.not_covered)}"] if self.not_covered else []
        return listing(f"<Re-check {self.verdict}: {agree} of {len(self.lines)} agree>", open_ones)

    def _repr_html_(self) -> str:
        rows = [(each.where, each.condition, each.agrees, each.reason) for each in self.lines]
        return html_table(("where", "condition", "agrees", "why"), rows, f"re-check: {self.verdict}")

    def as_dict(self) -> RecheckDocument:
        """The document ``eigentoken/recheck/2``."""
        return {
            "schema": "eigentoken/recheck/2",
            "verdict": self.verdict.text,
            "certificates": [each.as_dict() for each in self.lines],
            "not_covered": self.not_covered,
        }

    def to_frame(self) -> DataFrame:
        """One row a part that was re-checked (pandas)."""
        return frame(each.as_dict() for each in self.lines)

    @property
    def verdict(self) -> VerdictAnswer:
        """``fails`` if one line fails, ``undecided`` if one is or there is none, else ``holds``."""
        words = {each.agrees for each in self.lines}
        return VerdictAnswer(
            "fails" if "fails" in words else "undecided" if "undecided" in words or not words else "holds"
        )


def lines_of(shown: Shown, parts: Parts) -> Iterator[Rechecked]:
    """A line for each thing that was found wrong or open, and one for each part where nothing was."""
    for each in shown.found:
        yield Rechecked(each.where, "as displayed", "holds", each.answer, each.why)
    for path, (condition, verdict) in parts.items():
        named = ".".join(path)
        if not shown.covers(path):
            yield Rechecked(named, condition, verdict, "undecided", "not covered: nothing of it was found again")
        elif not any(each.where == named or each.where.startswith(f"{named}.") for each in shown.found):
            yield Rechecked(named, condition, verdict, "holds", "found again and compared")
    if not shown.found:
        yield Rechecked("document", "as displayed", "holds", "holds", "every other part that is covered")


def same_weights(where: str, stated: str, found: str) -> Rechecked:
    """The line about the hash of the weights that were read again."""
    reason = "fingerprint of the weights" if stated == found else "the weights are not those of the document"
    return Rechecked(where, "content hashes", "holds", "holds" if stated == found else "fails", reason, HASHES)
