"""``attempt``: try to prove a conjecture by the linearization engine, real arithmetic and the statements of the book.

What is derived is a statement whose proof the kernel accepts: its claims are proved under its conditions and nothing else, as
for every statement of the book; each question to a solver is asked again of another one.  A failed attempt proves nothing,
neither that the conjecture is false nor that it has no proof.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from eigentoken.display import html_table, listing
from eigentoken.documents.attempt_document import AttemptAnswer, AttemptDocument
from eigentoken.documents.attempt_document import AttemptResult as AttemptResultDocument
from eigentoken.numerics.deadline import OutOfTime, limited
from eigentoken.numerics.lab.certify import conjecture_document
from eigentoken.numerics.lab.conjectures import Conjecture
from eigentoken.numerics.lab.refutation import stated_in
from eigentoken.numerics.lab.report import ResultsByName
from eigentoken.proofs.attempts.prover import Means, Prover
from eigentoken.proofs.typeset.summary import Summary
from eigentoken.theory.kernel.arithmetic import second_opinion
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved, Refused, SolverQuestion
from eigentoken.theory.language.conditions import Condition, Relation
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import d, n
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Kind, Source, SourceKind, Statement, Status

__all__ = ["AttemptReport", "AttemptedProof", "attempt"]

#: Letters of a stopped means that are shown.
LONGEST = 300


@dataclass(frozen=True, repr=False)
class AttemptedProof:
    """One conjecture: the statement that was derived, or what was tried."""

    conjecture: Conjecture
    answer: AttemptAnswer
    says: str
    statement: Statement | None = None
    tried: tuple[Means, ...] = ()
    asked: int = 0
    agreed: int = 0

    @property
    def name(self) -> str:
        return self.conjecture.name

    @property
    def proved(self) -> Proved | None:
        """What the kernel proved."""
        return None if self.statement is None else self.statement.proofs[self.conjecture.system]

    @property
    def recalled(self) -> tuple[str, ...]:
        """The statements of the book that the derivation rests on, by id."""
        steps = () if self.proved is None else self.proved.rests_on("recall")
        return tuple(dict.fromkeys(str(step.detail[0]) for step in steps))

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """What was derived and how, as headings with paragraphs; empty where nothing was."""
        if self.statement is None:
            return
        for heading, lines in Summary(self.statement, str(Status.DERIVED), None).sections():
            if heading.startswith(("Statement", "Derivation")):
                yield heading, lines

    def __repr__(self) -> str:
        lines = [f"{each.name}: {each.stopped or 'done'}" for each in self.tried]
        return listing(f"<{self.name}: {self.answer}>", [self.says, *lines], width=400)

    def as_dict(self) -> AttemptResultDocument:
        told = self.statement
        return {
            "name": self.name,
            "system": self.conjecture.system,
            "verdict": self.answer,
            "says": self.says,
            "conjecture": conjecture_document(self.conjecture),
            "conditions": [] if told is None else [str(LATEX(each)) for each in told.conditions],
            "steps": [] if told is None else Summary(told, str(Status.DERIVED), None).as_dict()["steps"],
            "recalled": list(self.recalled),
            "second_opinion": {"asked": self.asked, "agreed": self.agreed},
            "tried": [{"goal": each.goal, "means": each.name, "stopped": each.stopped} for each in self.tried],
        }


@dataclass(frozen=True)
class AttemptReport(ResultsByName[AttemptedProof]):
    """The attempts at the conjectures of a file."""

    results: tuple[AttemptedProof, ...]
    file: str = ""

    SCHEMA: ClassVar[Literal["eigentoken/attempt/1"]] = "eigentoken/attempt/1"

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.results))

    def _repr_html_(self) -> str:
        return html_table(
            ("conjecture", "answer", "what"), [(each.name, each.answer, each.says) for each in self.results]
        )

    def as_dict(self) -> AttemptDocument:
        return {"schema": self.SCHEMA, "file": self.file, "results": [each.as_dict() for each in self.results]}


def attempt(
    subject: str | Path | Conjecture | Sequence[Conjecture],
    *,
    seconds: float = 60.0,
    recall: bool = True,
    watch: Callable[[str], None] = lambda _now: None,
) -> AttemptReport:
    """Try to prove the conjectures of a file (or one conjecture, or several).

    ``seconds`` for each, at most (a question that a solver has begun is waited for); without ``recall`` no statement of the book
    is used.  ``watch`` is called with what begins.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be a number above 0, got {seconds}")
    listed, file = stated_in(subject)
    watch("reading the book")
    book = tuple(each for each in statements() if each.proof is not None) if recall else ()
    made = []
    for number, each in enumerate(listed, 1):
        watch(f"{each.name} ({number} of {len(listed)}), at most {seconds:g} s")
        made.append(_attempted(each, book, seconds))
    return AttemptReport(tuple(made), file)


def _attempted(conjecture: Conjecture, book: tuple[Statement, ...], seconds: float) -> AttemptedProof:
    why_not = _unreadable(conjecture)
    if why_not:
        return AttemptedProof(conjecture, "not attempted", why_not)
    tried: list[Means] = []
    conditions = (*conjecture.conditions, *_sizes(conjecture))

    def proof(kernel: Kernel) -> Proved:
        return Prover(kernel, book, tried).claims(conjecture.claims)

    statement = Statement(
        id="conjecture",
        kind=Kind.CONJECTURE,
        source=Source("a conjecture file", "", SourceKind.FORMALISED),
        title=conjecture.name,
        systems=(conjecture.system,),
        conditions=conditions,
        claims=tuple(conjecture.claims),
        proof=proof,
    )
    try:
        with limited(time.time() + seconds):
            (proved,) = statement.proofs.values()  # only what the kernel accepts as a proof of these claims
    except OutOfTime:
        return AttemptedProof(conjecture, "not derived", f"the {seconds:g} seconds were over", tried=_shortened(tried))
    except Refused as refused:
        stopped = " ".join(str(refused).removeprefix("conjecture: ").split())[:LONGEST]
        return AttemptedProof(conjecture, "not derived", stopped, tried=_shortened(tried))
    questions = [each for each in proved.tree() if isinstance(each.detail, SolverQuestion)]
    opinions = [str(found.answer) for each in questions if (found := second_opinion(each)) is not None]
    if "fails" in opinions:
        said = "a second solver contradicts a step: nothing is derived"
        return AttemptedProof(conjecture, "not derived", said, tried=_shortened(tried))
    agreed = opinions.count("holds")
    said = f"derived by the kernel in {len(tuple(proved.tree()))} steps; "
    said += f"a second solver confirms {agreed} of {len(questions)} questions of arithmetic"
    if proved.argued:
        said = f"it rests on an argument in words, which no machine checked; {said}"
    answer: AttemptAnswer = "argued" if proved.argued else "derived"
    return AttemptedProof(conjecture, answer, said, statement, _shortened(tried), len(questions), agreed)


def _unreadable(conjecture: Conjecture) -> str:
    """Why the kernel cannot read it; empty where it can."""
    if conjecture.holds_if is not None:
        return "a free predicate is code, which the kernel does not read: state it in words"
    if conjecture.mask is not None:
        return "the kernel reads the mask of a system, and none of a conjecture: name a system that has it"
    return ""


def _sizes(conjecture: Conjecture) -> Iterator[Condition]:
    """The smallest sizes that are spoken of; larger ones than those that are listed are proved as well."""
    for letter, part in ((n, "n"), (d, "d")):
        listed = conjecture.sizes(part)
        if listed is not None and min(listed) > 1:
            yield Relation(letter >= min(listed))


def _shortened(tried: Sequence[Means]) -> tuple[Means, ...]:
    found = dict.fromkeys(Means(each.goal, each.name, each.stopped[:LONGEST]) for each in tried)
    return tuple(found)
