"""What a search gives: refuted (certified), candidate (seen, not certified), survived or not tested, and what each means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, Protocol, TypeVar

from eigentoken.display import frame, html_table, listing
from eigentoken.documents.refutation_document import Conjecture as ConjectureDocument
from eigentoken.documents.refutation_document import Dropped, RefutationAnswer, RefutationDocument, RefutationStatus
from eigentoken.documents.refutation_document import Result as ResultDocument
from eigentoken.numerics.lab.certify import Certified

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["INTERRUPTED", "DroppedLine", "Progress", "RefutationReport", "RefutationResult", "ResultsByName"]


@dataclass(frozen=True)
class Progress:
    """How far a search is: for a progress line."""

    conjecture: str
    method: str
    tried: int
    rate: float
    best: float
    seconds: float
    left: float
    "Seconds until the time for this conjecture is over."

    def __str__(self) -> str:
        best = "none yet" if self.best == float("-inf") else f"{self.best:.3g}"
        tried = f"{self.tried} instances, {self.rate:.0f}/s, best violation {best} ({self.method})"
        return f"{self.conjecture}: {tried}, {max(0.0, self.left):.0f} s left"


@dataclass(frozen=True)
class DroppedLine:
    """The conjecture without one condition."""

    condition: str
    needed: bool | None
    says: str
    counterexample: Certified | None = None

    def as_dict(self) -> Dropped:
        return {
            "condition": self.condition,
            "needed": self.needed,
            "says": self.says,
            "counterexample": None if self.counterexample is None else self.counterexample.as_dict(),
        }


#: Why a search ended that was broken off from outside.
INTERRUPTED = "interrupted"
#: What may be said of a conjecture.
ANSWERS = ("refuted", "candidate", "survived", "not tested")


@dataclass(frozen=True)
class RefutationResult:
    """One conjecture: ``refuted``, ``candidate``, ``survived``, or ``not tested`` where no instance was judged."""

    name: str
    system: str
    place: str
    answer: RefutationAnswer
    seed: int
    tried: int
    units: int
    seconds: float
    best: float
    stopped: str
    methods: dict[str, int] = field(default_factory=dict)
    corners: dict[str, int] = field(default_factory=dict)
    volume: dict[str, tuple[float, float]] = field(default_factory=dict)
    unsettled: int = 0
    found_by: str = ""
    counterexample: Certified | None = None
    candidate: dict[str, object] | None = None
    dropped: tuple[DroppedLine, ...] = ()
    expect: str = "open"
    lost: tuple[str, ...] = ()
    "Workers that were lost on the way, and what became of their units."
    conjecture: ConjectureDocument = field(kw_only=True)
    "What was attacked, in words that can be read back: conditions, claims, and the digest that the certificates name."
    untested: str = ""
    "Why a claim was not tested, where none of its instances was judged."

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            if other not in ANSWERS:
                raise ValueError(
                    f"a conjecture is one of {', '.join(ANSWERS)}, got {other!r}: compare it with one of these"
                )
            return self.answer == other
        if not isinstance(other, RefutationResult):
            return NotImplemented
        return all(getattr(self, each.name) == getattr(other, each.name) for each in fields(self))

    def __hash__(self) -> int:
        return hash(self.answer)

    def __repr__(self) -> str:
        found = self.counterexample
        lines = [self.meaning]
        if found is not None:
            lines += [f"{name} = {value}" for name, value in found.case.instance.as_dict().items()]
        return listing(f"<{self.name}: {self.answer}>", lines, width=400)

    def _repr_html_(self) -> str:
        found = "" if self.counterexample is None else self.counterexample._repr_html_()
        return f"<p><b>{escape(self.name)}: {self.answer}</b></p><p>{escape(self.meaning)}</p>{found}"

    @property
    def status(self) -> RefutationStatus:
        """The rung of the ladder: a search never proves."""
        return self.answer if self.answer == "refuted" or self.answer == "not tested" else "tested"

    @property
    def meaning(self) -> str:
        """What the outcome means, in words."""
        rate = self.tried / self.seconds if self.seconds > 0 else 0.0
        looked = f"{self.tried} instances ({rate:.0f}/s, seed {self.seed}, {self.units} units)"
        if self.stopped == INTERRUPTED:
            looked += ", where the search was interrupted"
        if self.answer == "refuted" and self.counterexample is not None:
            return f"refuted by an exact counterexample, found by {self.found_by}: {self.counterexample.verdict.reason}"
        if self.answer == "candidate":
            return (
                f"a violation of {self.best:.3g} was seen in floating point after {looked}, and none was certified: this is "
                "a candidate, not a refutation"
            )
        if self.answer == "not tested":
            return f"nothing is said for or against it: {self.untested}"
        corners = f"; corners reached: {', '.join(self.corners)}" if self.corners else ""
        if self.volume:
            ranges = (f"{name} in [{low:.3g}, {high:.3g}]" for name, (low, high) in self.volume.items())
            corners += f"; search volume: {', '.join(ranges)}"
        said = "instances were not judged: their trajectories did not settle, or their states have no image"
        open_ones = f"; {self.unsettled} {said}" if self.unsettled else ""
        open_ones += "".join(f"; {each}" for each in self.lost)
        return f"no counterexample among {looked}{corners}{open_ones}; this is no proof: the status stays tested"

    def as_dict(self) -> ResultDocument:
        return {
            "name": self.name,
            "system": self.system,
            "place": self.place,
            "verdict": self.answer,
            "status": self.status,
            "meaning": self.meaning,
            "expect": self.expect,
            "conjecture": self.conjecture,
            "seed": self.seed,
            "tried": self.tried,
            "units": self.units,
            "seconds": round(self.seconds, 3),
            "best_violation": None if self.best in (float("-inf"), float("inf")) else self.best,
            "stopped": self.stopped,
            "methods": self.methods,
            "corners": self.corners,
            "volume": {name: list(ends) for name, ends in self.volume.items()},
            "unsettled": self.unsettled,
            "found_by": self.found_by,
            "counterexample": None if self.counterexample is None else self.counterexample.as_dict(),
            "candidate": self.candidate,
            "dropped": [line.as_dict() for line in self.dropped],
            "lost_workers": list(self.lost),
        }


class HasName(Protocol):
    """What can be found by its name."""

    @property
    def name(self) -> str: ...


One = TypeVar("One", bound=HasName)


class ResultsByName(Generic[One]):
    """Results of the conjectures of a file: in their order, by number or by name."""

    results: tuple[One, ...]

    def __iter__(self) -> Iterator[One]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, which: int | str) -> One:
        """By number, or by the name of the conjecture."""
        if isinstance(which, int):
            return self.results[which]
        for result in self.results:
            if result.name == which:
                return result
        raise KeyError(f"no conjecture is called {which!r}: {'; '.join(result.name for result in self.results)}")


@dataclass(frozen=True)
class RefutationReport(ResultsByName[RefutationResult]):
    """The results of all conjectures of a file; ``refuted`` decides the exit code."""

    results: tuple[RefutationResult, ...]
    file: str = ""
    file_sha256: str | None = None
    "That of the text that was searched; ``None`` for conjectures that come from no file."

    SCHEMA: ClassVar[Literal["eigentoken/refutation/3"]] = "eigentoken/refutation/3"

    @property
    def refuted(self) -> bool:
        return any(result.answer == "refuted" for result in self.results)

    @property
    def counterexample(self) -> Certified | None:
        """The first one that was found."""
        return next((each.counterexample for each in self.results if each.counterexample is not None), None)

    @property
    def interrupted(self) -> bool:
        """Was the search broken off?  Then the conjectures after the last one here were not searched."""
        return any(result.stopped == INTERRUPTED for result in self.results)

    @property
    def untested(self) -> bool:
        """Was a conjecture not tested?"""
        return any(result.answer == "not tested" for result in self.results)

    def __repr__(self) -> str:
        if len(self.results) == 1:
            return repr(self.results[0])
        return listing(f"<{len(self.results)} conjectures>", [f"{each.name}: {each.answer}" for each in self.results])

    def _repr_html_(self) -> str:
        """One result as it is; several as a table, with the counterexamples under it."""
        if len(self.results) == 1:
            return self.results[0]._repr_html_()
        rows = [(each.name, each.answer, each.meaning) for each in self.results]
        found = [each._repr_html_() for each in self.results if each.counterexample is not None]
        return html_table(("conjecture", "answer", "meaning"), rows) + "".join(found)

    def to_frame(self) -> DataFrame:
        """One row a conjecture (pandas)."""
        return frame(
            {
                "name": each.name,
                "system": each.system,
                "answer": each.answer,
                "tried": each.tried,
                "meaning": each.meaning,
            }
            for each in self.results
        )

    def as_dict(self) -> RefutationDocument:
        return {
            "schema": self.SCHEMA,
            "file": self.file,
            "file_sha256": self.file_sha256,
            "results": [result.as_dict() for result in self.results],
        }

    def summary(self) -> str:
        """One line a conjecture."""
        return "\n".join(f"{result.name}: {result.answer}; {result.meaning}" for result in self.results)
