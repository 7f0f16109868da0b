"""Verify statements: re-run every step, vector, counterexample, variant and property, and say what held.

``eigentoken verify`` prints what this module returns; ``--record`` stores it as evidence (``proofs/ledger.json``; for a
statement of another package ``eigentoken-ledger.json`` beside its file), tied to the digest of exactly the text that was
verified, and the status of a statement is read from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eigentoken.display import frame, html_table, listing
from eigentoken.documents.verify_document import Line as LineDocument
from eigentoken.documents.verify_document import LineAnswer
from eigentoken.documents.verify_document import Statement as VerifiedDocument
from eigentoken.files.documents import read_json
from eigentoken.files.writing import write_text
from eigentoken.theory.kernel.arithmetic import second_opinion
from eigentoken.theory.kernel.proved import Enclosed, SolverQuestion
from eigentoken.theory.language.claims import InFull
from eigentoken.theory.language.verdicts import Verdict, VerdictAnswer
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Evidence, Statement, Status, Vector
from eigentoken.theory.statements.steps import ALL_SIZES, StepOutcome

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "LEDGER",
    "Line",
    "Verified",
    "evidence_of",
    "ledger_of",
    "proof_lines",
    "property_lines",
    "record",
    "record_formal",
    "status_of",
    "vector_line",
    "verify",
]

ROOM = Path(__file__).resolve().parent
LEDGER = Path(__file__).with_name("ledger.json")
OTHER_LEDGER = "eigentoken-ledger.json"
PROPERTY_INSTANCES = 200
CHECKED = ("identity", "inequality", "reduction", "computation", "recalled")
ARGUED: Final = "argued"
PROVED: Final = "proved"


@dataclass(frozen=True)
class Line:
    """One thing that was checked: a step, a vector, a counterexample, a dropped condition, a property."""

    what: str
    name: str
    answer: LineAnswer
    reason: str
    second: str = ""
    scope: str = ""
    argued: bool = False
    "True where the line rests on an argument in words, here or in a statement that it recalls."

    @property
    def good(self) -> bool:
        return (self.answer == "holds" or (self.answer == ARGUED and self.argued)) and self.second != "fails"

    def as_dict(self) -> LineDocument:
        return {
            "what": self.what,
            "name": self.name,
            "word": self.answer,
            "reason": self.reason,
            "second": self.second,
            "scope": self.scope,
            "argued": self.argued,
        }


@dataclass(frozen=True, repr=False)
class Verified:
    """All lines of one statement, and the evidence that they amount to."""

    id: str
    digest: str
    lines: tuple[Line, ...]
    tested: int = 0
    unseen: int = 0
    "Claims that the kernel does not prove and that no random instance looked at."

    @property
    def good(self) -> bool:
        return all(line.good for line in self.lines)

    @property
    def answer(self) -> VerdictAnswer:
        """``holds`` where every line is good, else ``fails``."""
        return VerdictAnswer.HOLDS if self.good else VerdictAnswer.FAILS

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.answer == other
        if not isinstance(other, Verified):
            return NotImplemented
        return (self.id, self.digest, self.lines, self.tested, self.unseen) == (
            other.id, other.digest, other.lines, other.tested, other.unseen
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash(self.answer)

    def __bool__(self) -> bool:
        raise TypeError(
            "a verified statement holds or fails, it is not true or false: ask .good or compare it with 'holds'"
        )

    def __repr__(self) -> str:
        lines = [f"{line.what}: {line.name}: {line.answer}" for line in self.lines]
        bad = [f"{line.what}: {line.name}: {line.answer}: {line.reason}" for line in self.lines if not line.good]
        return listing(f"<{self.id} {self.answer!s}: {len(lines)} lines, {self.tested} instances tested>", bad or lines)

    def _repr_html_(self) -> str:
        rows = [(line.what, line.name, line.answer, line.reason) for line in self.lines]
        return html_table(("what", "name", "answer", "reason"), rows, f"{self.id}: {self.answer!s}")

    def to_frame(self) -> DataFrame:
        """One row a line that was checked (pandas)."""
        return frame(asdict(line) for line in self.lines)

    def count(self, *kinds: str) -> int:
        return sum(line.good for line in self.lines if line.what in kinds)

    def evidence(self) -> Evidence:
        scopes = sorted({line.scope for line in self.lines if line.scope and line.scope != ALL_SIZES})
        return Evidence(
            digest=self.digest,
            checked=self.count(*CHECKED),
            cited=self.count("citation"),
            second=sum(line.second == "holds" for line in self.lines),
            tested=self.tested,
            unseen=self.unseen,
            vectors=self.count("vector"),
            counterexamples=self.count("counterexample"),
            scopes=tuple(scopes),
            argued=sum(line.argued for line in self.lines),
            proved=self.count(PROVED),
            complete=self.good and bool(self.lines),
        )

    def status(self) -> Status:
        """The rung that this run alone supports."""
        return statements().get(self.id).status(self.evidence())

    def as_dict(self) -> VerifiedDocument:
        return {
            "id": self.id,
            "verdict": "holds" if self.good else "fails",
            "status": str(self.status()),
            "evidence": self.evidence().as_dict(),
            "lines": [line.as_dict() for line in self.lines],
        }


def verify(
    statement: Statement | str,
    *,
    instances: int = PROPERTY_INSTANCES,
    second: bool = True,
    seed: int = 0,
    printed: bool = False,
) -> Verified:
    """Check everything that the statement (or the one of this id) carries.

    ``instances``: random instances for each property; ``second`` re-checks with the second arithmetic.  An exception
    inside a checker is a failed line, not a crash.  ``printed``: only what printing needs (see
    :func:`eigentoken.proofs.verify_many.verify_many`).
    """
    if not isinstance(statement, Statement):
        statement = statements().get(statement)
    tested, unseen, found = property_lines(statement, instances, seed) if instances else (0, 0, [])
    lines = (*proof_lines(statement, second, printed), *found)
    return Verified(statement.id, statements().digest(statement), lines, tested, unseen)


def proof_lines(statement: Statement, second: bool, printed: bool) -> list[Line]:
    """What does not depend on random instances: steps, proofs, vectors, counterexamples, dropped conditions."""
    lines: list[Line] = []
    second = second and not (printed and _agreed_before(statement))
    if not (printed and statement.proof is not None) and statement.derivation is not None:
        outcomes = statement.derivation.check(statement.facts, second=second)
        lines += [_step_line(outcome) for outcome in outcomes]
        reached = statement.reached({outcome.step.name for outcome in outcomes if outcome.accepted})
        lines += [Line("conclusion", name, verdict.answer.text, verdict.reason) for name, verdict in reached]
    if statement.proof is not None:
        lines += _kernel_lines(statement, second)
        if statement.text:
            lines.append(
                Line("conclusion", "text", "fails", "no claim carries the text: say it as a claim, or not at all")
            )
    lines += [vector_line(vector) for vector in statement.vectors]
    if statement.printed is not None:
        for example in statement.printed.counterexamples:
            lines.append(_verdict_line("counterexample", example.name, example.check))
    for variant in statement.variants:
        lines.append(_verdict_line("dropped", variant.dropped, variant.witness))
    return lines


def _agreed_before(statement: Statement) -> bool:
    """Is it recorded that everything of exactly this text was good, its second opinions among it?"""
    known = evidence_of(statement)
    return known is not None and known.complete and known.second > 0


def _kernel_lines(statement: Statement, second: bool) -> list[Line]:
    """What the kernel proves, by system: the claims, or why not; and the second opinion on every question to a solver."""
    try:
        proofs = statement.proofs
    except Exception as problem:
        return [Line(PROVED, "the claims", "fails", f"{type(problem).__name__}: {problem}")]
    lines = []
    for name, proved in proofs.items():
        nodes = tuple(proved.tree())
        asked = [node for node in nodes if isinstance(node.detail, SolverQuestion | Enclosed)] if second else []
        opinions = [str(opinion.answer) for node in asked if (opinion := second_opinion(node)) is not None]
        against = opinions.count("fails")
        reason = f"{len(nodes)} steps; asked again: {opinions.count('holds')} of {len(asked)} hold"
        answer: LineAnswer = "fails" if against else "holds"
        agreed = "holds" if opinions and not against else ""
        lines.append(
            Line(PROVED, name or "no system", answer, reason, agreed, "; ".join(proved.scope()), proved.argued)
        )
    return lines


def _step_line(outcome: StepOutcome) -> Line:
    second = "" if outcome.second is None else str(outcome.second.answer)
    step = outcome.step
    answer: LineAnswer = outcome.verdict.answer.text if outcome.verdict.is_holds or not outcome.accepted else ARGUED
    return Line(step.kind, step.name, answer, outcome.verdict.reason, second, step.sizes(), step.argued)


def _verdict_line(what: str, name: str, ask: Callable[[], Verdict]) -> Line:
    try:
        with _precision_kept():
            verdict = ask()
    except Exception as problem:
        return Line(what, name, "fails", f"raised {type(problem).__name__}: {problem}")
    return Line(what, name, verdict.answer.text, verdict.reason)


@contextmanager
def _precision_kept() -> Iterator[None]:
    """What a checker raises the digits of mpmath to is not what the caller's session goes on with."""
    import mpmath

    with mpmath.workprec(mpmath.mp.prec):
        yield


def vector_line(vector: Vector) -> Line:
    """Compare to all printed digits: at most one unit in the last place of each, for all of an enclosure."""
    try:
        with _precision_kept():
            computed = [(_decimal(value), _width(value)) for value in vector.compute()]
    except Exception as problem:
        return Line("vector", vector.name, "fails", f"raised {type(problem).__name__}: {problem}")
    if len(computed) != len(vector.expected):
        return Line("vector", vector.name, "fails", f"{len(computed)} numbers, expected {len(vector.expected)}")
    for index, ((value, width), printed) in enumerate(zip(computed, vector.expected, strict=True)):
        target = Decimal(printed)
        exponent = target.as_tuple().exponent
        unit = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
        if not value.is_finite() or not width.is_finite() or abs(value - target) + width > unit:
            return Line("vector", vector.name, "fails", f"entry {index}: computed {value:.18g}, printed {printed}")
    return Line("vector", vector.name, "holds", f"{len(computed)} numbers agree to all printed digits")


def _decimal(value: Any) -> Decimal:
    """Any real number as a decimal of 30 digits: sympy, mpmath, flint, float, Fraction, int."""
    import sympy as sp

    if hasattr(value, "mid"):
        return Decimal(value.mid().str(30, radius=False))
    if hasattr(value, "_mpf_"):
        from mpmath import nstr

        return Decimal(nstr(value, 30))
    return Decimal(str(sp.N(sp.sympify(value), 30)))


def _width(value: Any) -> Decimal:
    """How far an enclosure reaches to either side of its middle; other numbers are points."""
    return Decimal(value.rad().str(10, radius=False)) * Decimal("1.001") if hasattr(value, "rad") else Decimal(0)


def property_lines(statement: Statement, instances: int, seed: int) -> tuple[int, int, list[Line]]:
    """How many instances were looked at, how many claims they left out, and the lines."""
    lines: list[Line] = []
    tested = unseen = 0
    for index, test in enumerate(statement.property_tests):
        line = _verdict_line("property", f"property {index + 1}", partial(test, instances, seed))
        lines.append(line)
        tested += instances if line.good else 0
    if statement.claims:
        from eigentoken.proofs.properties.property import inner_claim, test_statement

        report = test_statement(statement, instances, seed)
        tested += report.seen
        unseen = report.unseen if statement.proof is None else 0
        words = [each for each in statement.claims if not isinstance(inner_claim(each), InFull)]
        enough = report.least >= instances or not words  # nothing seen is not nothing found
        answer: LineAnswer = "fails" if report.violations else "holds" if enough else "undecided"
        if words or report.seen or report.violations:  # formulas that no draw looked at are told by ``unseen``
            lines.append(Line("property", "conditions => claims", answer, report.summary()))
    return tested, unseen, lines


def ledger_of(statement: Statement) -> Path | None:
    """Where its evidence is kept: our ledger for a file of this room, else one beside the file that states it."""
    origin = statements().origin(statement)
    if origin is None:
        return None
    return LEDGER if ROOM in origin.resolve().parents else origin.with_name(OTHER_LEDGER)


def record(results: Sequence[Verified], ledger: Path | None = None) -> list[Path]:
    """Store the evidence of these runs, each in its ledger (or all in the one given); other entries stay as they are.

    Returns the files that were written.
    """
    found: dict[Path, dict[str, Any]] = {}
    for each in results:
        path = ledger or ledger_of(statements().get(each.id))
        if path is None:
            raise ValueError(f"{each.id} is stated in no file: evidence belongs to a text, so state it in a module")
        found.setdefault(path, {})[each.id] = asdict(each.evidence())
    for path, new in found.items():
        entries = read_json(path) if path.exists() else {}
        for name, entry in new.items():  # what Coq accepted stands as long as the text does
            before = entries.get(name, {})
            entry["formal"] = before.get("formal", 0) if before.get("digest") == entry["digest"] else 0
        write_text(path, json.dumps(dict(sorted({**entries, **new}.items())), indent=1) + "\n")
    _ledger.cache_clear()
    return list(found)


def record_formal(counts: Mapping[str, int], ledger: Path | None = None) -> list[Path]:
    """Store for how many systems Coq accepts the whole derivation, beside evidence that is recorded for exactly this text."""
    found: dict[Path, dict[str, int]] = {}
    for name, count in counts.items():
        statement = statements().get(name)
        path = ledger or ledger_of(statement)
        entry = None if path is None or not path.exists() else read_json(path).get(name)
        if path is None or entry is None or entry["digest"] != statements().digest(statement):
            raise ValueError(
                f"no evidence is recorded for this text of {name}: `eigentoken verify {name} --record` comes first"
            )
        found.setdefault(path, {})[name] = count
    for path, new in found.items():
        entries = read_json(path)
        for name, count in new.items():
            entries[name]["formal"] = count
        write_text(path, json.dumps(entries, indent=1) + "\n")
    _ledger.cache_clear()
    return list(found)


@lru_cache
def _ledger(path: Path) -> dict[str, Any]:
    return dict(read_json(path)) if path.exists() else {}


def evidence_of(statement: Statement) -> Evidence | None:
    """The recorded evidence of this statement, if it is of exactly this text."""
    ledger = ledger_of(statement)
    entry = None if ledger is None else _ledger(ledger).get(statement.id)
    if entry is None or entry["digest"] != statements().digest(statement):
        return None
    return Evidence(**{**entry, "scopes": tuple(entry["scopes"])})


def status_of(statement: Statement) -> Status:
    """The status that the recorded evidence supports."""
    return statement.status(evidence_of(statement))
