"""Statements: conditions => claims, where they come from, how they are derived, and what is known of them.

A *conjecture* is a statement with no derivation.  A statement that is false as printed keeps its printed form beside
the corrected one, with the certified counterexample.  How that form came to us is part of it (:class:`SourceKind`):
only what was read in the paper itself can be an erratum of the paper.  The status is a ladder that never climbs by
itself: it is computed from recorded evidence (:class:`Evidence`) that belongs to exactly this text of the statement.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex

from eigentoken.display import brief
from eigentoken.documents.statement_document import EvidenceRecord, PrintedFinding
from eigentoken.files.documents import Json
from eigentoken.theory.kernel.kernel import Kernel, accepted
from eigentoken.theory.kernel.propositions import Proposition, children, proposition, quantities, relation_of
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.language.claims import Claim, When
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.steps import Derivation, Setting, Step
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import System

if TYPE_CHECKING:
    import sympy as sp
    from flint import arb

__all__ = [
    "Counterexample",
    "Evidence",
    "Kind",
    "Printed",
    "Remark",
    "RemarkKind",
    "Source",
    "SourceKind",
    "Statement",
    "Status",
    "Variant",
    "Vector",
]


class Kind(StrEnum):
    LEMMA = "lemma"
    THEOREM = "theorem"
    PROPOSITION = "proposition"
    REMARK = "remark"
    DEFINITION = "definition"
    EXTENSION = "extension"
    COUNTEREXAMPLE = "counterexample"
    CONJECTURE = "conjecture"


class Status(StrEnum):
    """The ladder.  ``refuted`` and ``corrected`` speak of a printed form that was read in the paper.

    ``argued`` is a derivation of which at least one step, here or in a statement that is recalled, is an argument in
    words that no machine checked; a correction that is only argued leaves the printed form at ``refuted``.  ``stepwise``: every
    step is checked, and they are put together by names.  ``derived``: the kernel proves exactly the claims.  ``formal``: that
    derivation, whole, is accepted by Coq.
    """

    STATED = "stated"
    TESTED = "tested"
    ARGUED = "argued"
    STEPWISE = "stepwise"
    DERIVED = "derived"
    FORMAL = "formal"
    REFUTED = "refuted"
    CORRECTED = "corrected"


class SourceKind(StrEnum):
    """How a source, or the form that a statement is compared with, came to us.

    ``read``: the sentence stands in the paper, and was read there.  ``summarised``: it stands in a summary or an abstract
    by others; what the paper itself says is not known here, so the form is no erratum of the paper.  ``recorded``: it stands
    in the records of a formalisation by others, who read the paper; no erratum of the paper either.  ``formalised``: the
    paper has no such sentence, or only an informal one (an observation, another system); the form is our reading of it.
    """

    READ = "read"
    SUMMARISED = "summarised"
    RECORDED = "recorded"
    FORMALISED = "formalised"


#: What stands behind the place in a paper that was not read itself.
_NOT_READ = {SourceKind.SUMMARISED: " (from a summary)", SourceKind.RECORDED: " (from a formalisation)"}


@dataclass(frozen=True)
class Source:
    """A paper (key into the bibliography), the place in it, and whether it was read there.

    >>> str(Source("Some-paper", "Theorem 1", SourceKind.RECORDED))
    'Some-paper, Theorem 1 (from a formalisation)'
    """

    paper: str
    place: str
    reading: SourceKind = SourceKind.READ

    def __str__(self) -> str:
        where = f"{self.paper}, {self.place}" if self.place else self.paper
        return where + _NOT_READ.get(self.reading, "")


@dataclass(frozen=True)
class Counterexample:
    """An exact instance that satisfies the hypotheses of the other form and violates its conclusion.

    ``check`` recomputes, in exact or ball arithmetic, that the conditions hold and the claim fails: ``holds`` means
    that the counterexample stands.  ``instance`` is JSON-able and exact.
    """

    name: str
    says: str
    instance: dict[str, Json]
    check: Callable[[], Verdict] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Printed:
    """Another form of the statement, from the paper or about it, where it differs: text, what is wrong, counterexamples.

    >>> Printed("all are", "some are", kind=SourceKind.SUMMARISED).finding
    'summary imprecise'
    """

    text: str
    wrong: str
    counterexamples: tuple[Counterexample, ...] = ()
    false: bool = True
    "False where the form is only imprecise or its proof has a gap."
    kind: SourceKind = SourceKind.READ

    @property
    def erratum(self) -> bool:
        """True where the form was read in the paper: only then is what is wrong with it an erratum of the paper."""
        return self.kind is SourceKind.READ

    @property
    def finding(self) -> PrintedFinding:
        """What is said of the form, in two to four words."""
        if self.kind is SourceKind.SUMMARISED:
            return "summary imprecise"
        if self.erratum:
            return "false as printed" if self.false else "imprecise as printed"
        if self.kind is SourceKind.RECORDED:
            return "false as recorded" if self.false else "imprecise as recorded"
        return "false as formalised here" if self.false else "imprecise as formalised here"


@dataclass(frozen=True)
class Vector:
    """A regression vector: what is computed, and the digits that the audit printed."""

    name: str
    compute: Callable[[], Sequence[sp.Expr | arb]] = field(compare=False, repr=False)
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Variant:
    """A statement with one condition dropped, where an instance is known (or is to be found) that fails."""

    dropped: str
    says: str
    witness: Callable[[], Verdict] = field(compare=False, repr=False)


class RemarkKind(StrEnum):
    """What a remark is; none of them asserts mathematics: what is asserted is a claim."""

    OPEN = "Not proved here"
    CONVENTION = "Notation"
    SOURCE = "On the source"


@dataclass(frozen=True)
class Remark:
    """A sentence beside a statement that no claim carries, under the word that says so."""

    kind: RemarkKind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class Evidence:
    """What was run for exactly this text of a statement: recorded by ``eigentoken verify --record``."""

    digest: str
    checked: int = 0
    cited: int = 0
    second: int = 0
    tested: int = 0
    unseen: int = 0
    "Claims that the kernel does not prove and that no random instance looked at: tests of their own, if any, say less."
    vectors: int = 0
    counterexamples: int = 0
    scopes: tuple[str, ...] = ()
    argued: int = 0
    "Steps that rest on an argument in words."
    proved: int = 0
    "Systems for which the kernel proves exactly the claims."
    formal: int = 0
    "Systems for which Coq accepts that derivation, whole: all of them, or none is counted."
    complete: bool = False
    "True when every step, vector and counterexample held in that run."

    def as_dict(self) -> EvidenceRecord:
        return {
            "digest": self.digest,
            "checked": self.checked,
            "cited": self.cited,
            "second": self.second,
            "tested": self.tested,
            "unseen": self.unseen,
            "vectors": self.vectors,
            "counterexamples": self.counterexamples,
            "scopes": list(self.scopes),
            "argued": self.argued,
            "proved": self.proved,
            "formal": self.formal,
            "complete": self.complete,
        }


def _concluded(what: str, named: tuple[str, ...], accepted: Collection[str]) -> Verdict:
    missing = [each for each in named if each not in accepted]
    if not named:
        return fails(f"no step is named that concludes {what}")
    if missing:
        return fails(f"{what} is to be concluded by {', '.join(missing)}, which no accepted step is")
    return holds(f"{what} is concluded by {', '.join(named)}")


def _parts(said: Proposition) -> Iterator[Proposition]:
    yield said
    for each in children(said):
        yield from _parts(each)


def _says_nothing(said: Proposition) -> bool:
    """An equation whose two sides a reader cannot tell apart."""
    relation = relation_of(said)
    return relation is not None and relation.rel_op == "==" and len({scalar_latex(side) for side in relation.args}) == 1


def _check_recalled(name: str, proved: Proved) -> None:
    """What is recalled is the registered statement of that id, by the proof that the kernel made of it in this process."""
    from eigentoken.theory.statements.registry import statements

    for step in proved.rests_on("recall"):
        other, whole = step.detail[0], step.detail[1]
        known = statements().registered(other)
        if known is None:
            raise Refused(f"{name}: {other} is recalled, and no such statement is registered")
        if not any(each is whole for each in known.proofs.values()):
            raise Refused(f"{name}: what is recalled as {other} is not what the kernel proved of it here")


@dataclass(frozen=True)
class Statement:
    """``conditions => claims`` for the systems named, with everything that is known about it.

    ``derive`` builds the derivation when asked (deriving is work; listing is not).  ``facts`` are the names under which
    the conditions may be used as hypotheses of cited theorems.
    """

    id: str
    kind: Kind
    source: Source
    title: str
    systems: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    claims: tuple[Claim, ...] = ()
    covers: Covers = field(default_factory=Covers)
    "What the derivation covers beyond the systems: further masks, positions in the scores, several heads."
    text: str = ""
    "The statement in words (LaTeX), for what the language has no word for; printed under the conditions."
    depends: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    derive: Callable[[], Derivation] | None = field(default=None, compare=False, repr=False)
    proof: Callable[[Kernel], Proved] | None = field(default=None, compare=False, repr=False)
    "The derivation in the kernel: what it proves is exactly the claims, or the statement is not derived."
    printed: Printed | None = None
    vectors: tuple[Vector, ...] = ()
    variants: tuple[Variant, ...] = ()
    notes: tuple[Remark, ...] = ()
    claims_from: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)
    "For each claim, in order, the names of the steps that conclude it."
    prose_from: tuple[str, ...] = field(default=(), compare=False, repr=False)
    "The names of the steps that conclude what the text says, and of remarks that are printed with it."
    property_tests: tuple[Callable[[int, int], Verdict], ...] = field(default=(), compare=False, repr=False)
    "Further property tests ``(instances, seed) -> verdict`` for claims that the language has no word for."

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        """A registered statement is saved as its id and the digest of its text, any other one as its fields.

        Derivations are functions of the file that states them: they are not saved, the id leads back to them.
        """
        from eigentoken.theory.statements.registry import pickled, restored

        key = pickled(self)
        if key is not None:
            return restored, key
        for each in fields(self):
            try:
                pickle.dumps(getattr(self, each.name), protocol=protocol.__index__())
            except Exception:
                raise pickle.PicklingError(
                    f"statement {self.id} is not registered and its {each.name} is a function that cannot be pickled: "
                    "register it (et.register) and save its id"
                ) from None
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    def __copy__(self) -> Statement:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Statement:
        return self

    @cached_property
    def derivation(self) -> Derivation | None:
        return None if self.derive is None else self.derive().within(Setting(self.systems, self.conditions))

    @cached_property
    def proofs(self) -> Mapping[str, Proved]:
        """What the kernel proves, by system (``""`` for a statement about no system): the claims, and nothing else.

        Raises :class:`~eigentoken.theory.kernel.proved.Refused` where a rule refuses, or where the end is not the claims.
        """
        if self.proof is None:
            return {}
        given, claimed = tuple(map(proposition, self.conditions)), tuple(map(proposition, self.claims))
        empty = [each for each in claimed if any(map(_says_nothing, _parts(each)))]
        if empty:
            raise Refused(f"{self.id}: both sides of an equation of a claim are printed alike: it says nothing")
        found: dict[str, Proved] = {}
        for about in self._proved_about():
            proved = self.proof(Kernel(about, given))
            verdict = accepted(proved, given, claimed, about)
            if not verdict.is_holds:
                raise Refused(f"{self.id}: {verdict.reason}")
            _check_recalled(self.id, proved)
            found["" if about is None else about.name] = proved
        return found

    def _proved_about(self) -> Iterator[System | None]:
        """The systems that the statement names, and those that it covers: each is proved by itself."""
        covered = self.covers
        if covered.heads is not None or covered.positions or not set(covered.masks) <= {"causal"}:
            raise Refused(
                f"{self.id}: the kernel does not prove what is covered beyond a causal mask: name the systems"
            )
        if covered.masks and any(True for claim in self.claims for _ in quantities(proposition(claim))):
            raise Refused(f"{self.id}: a claim in full says nothing of the mask")
        for name in self.systems:
            yield system(name)
            for mask in covered.masks:
                yield replace(system(name), name=f"{name}, {mask}", mask=mask)
        if not self.systems:
            yield None

    def reached(self, good: Collection[str]) -> Iterator[tuple[str, Verdict]]:
        """Does the derivation come to what is claimed?  A verdict for each claim, for the text, and for idle steps.

        A claim is reached when the steps that are named for it are there and are accepted.  A step is idle when nothing
        that concludes a claim or the text leads back to it: then it could be dropped and nobody would notice.
        """
        if self.derivation is None or not (self.claims or self.text):
            return
        if self.proof is not None and not (self.claims_from or self.prose_from):
            return  # the kernel proves the claims: the steps are an account for readers
        for number, claim in enumerate(self.claims, 1):
            named = self.claims_from[number - 1] if number <= len(self.claims_from) else ()
            concluded = _concluded(type(claim).__name__, named, good)
            yield f"claim {number}", self._under(claim, named) if concluded.is_holds else concluded
        if self.prose_from or (self.text and not self.claims):
            yield "text", _concluded("the text", self.prose_from, good)
        if len(self.claims_from) > len(self.claims):
            yield "claims", fails(f"steps are named for {len(self.claims_from)} claims, of {len(self.claims)}")
        ends = {name for named in (*self.claims_from, self.prose_from) for name in named}
        idle = [step.name for step in self.derivation.steps if step.name not in self.derivation.behind(ends)]
        if idle:
            yield "idle steps", fails(f"they lead to no claim: {', '.join(idle)}")

    def _steps(self, named: Collection[str]) -> list[Step]:
        return [step for step in self.derivation.steps if step.name in named] if self.derivation else []

    def _under(self, claim: Claim, named: tuple[str, ...]) -> Verdict:
        """A claim that rests on steps read under further conditions must say them: ``When`` of something that implies."""
        from eigentoken.theory.statements.implied_conditions import unmet

        further = (claim.condition,) if isinstance(claim, When) else ()
        assumed = () if self.derivation is None else self.derivation.assumed(named)
        missing = unmet(assumed, (*self.conditions, *further), self.systems)
        elsewhere = [
            each.name for each in self._steps(named) if each.about and not set(self.systems) <= set(each.about)
        ]
        if elsewhere:
            return fails(f"{', '.join(elsewhere)} is about another system than the statement")
        if missing:
            told = "; ".join(LATEX(each) for each in missing)
            return fails(f"{type(claim).__name__} rests on steps that assume {told}, which the claim does not say")
        return holds(f"{type(claim).__name__} is concluded by {', '.join(named)}")

    def status(self, evidence: Evidence | None) -> Status:
        """The rung that the evidence supports; without evidence of a complete run the statement is only ``stated``."""
        if evidence is None or not evidence.complete:
            return Status.STATED
        if self.printed is not None and self.printed.erratum and self.printed.false and evidence.counterexamples:
            shown = evidence.checked or evidence.proved
            return Status.CORRECTED if shown and not evidence.argued else Status.REFUTED
        if evidence.argued:
            return Status.ARGUED
        if evidence.proved:
            return Status.FORMAL if evidence.formal else Status.DERIVED
        if evidence.checked:
            return Status.STEPWISE
        return Status.TESTED if evidence.tested or evidence.vectors else Status.STATED

    @property
    def called(self) -> str:
        """What a reader meets: the title, with the id beside it."""
        return f"{self.title} ({self.id})"

    def text_of_fields(self) -> str:
        """Every field that is compared, as text: what a digest is taken of where the statement stands in no file."""
        told = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return f"{type(self).__qualname__}({told})"

    def __repr__(self) -> str:
        return f"<{brief(self.title, 160)} ({self.id}), {self.kind!s}, {self.source!s}>"

    @property
    def latex(self) -> str:
        """The conditions and what they imply; the derivation is ``eigentoken.derive(id).latex``."""
        given = r",\ ".join(LATEX(each) for each in self.conditions)
        then = r";\ ".join(LATEX(each) for each in self.claims)
        return rf"{given} \implies {then}" if given else then

    def _repr_latex_(self) -> str:
        return rf"$\textbf{{{self.id}}}:\ {self.latex}$"

    def _repr_markdown_(self) -> str:
        """What a notebook shows: a line for each condition and claim, since a formula of one line is cut off at its edge."""
        lines = [f"**{self.title}** ({self.id})"]
        for word, said in (("if", self.conditions), ("then", self.claims)):
            if said:
                lines += [word, "\n".join(f"- ${LATEX(each)}$" for each in said)]
        return "\n\n".join(lines if self.claims else [*lines, self.text])
