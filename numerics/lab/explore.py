"""``explore``: conjectures about a system, put together from words, filtered by instances and ranked.

For each claim of the topics, sets of conditions are tried from the fewest words up.  One instance at which the claim is seen to
fail ends a set, and is kept: it ends every other set that it satisfies.  The claims have equal times.  A set all of whose
instances satisfy another set with the claim is not listed beside it.  What is left is attacked as ``refute`` attacks it, and
ranked by

    score = surprise * distance,

with ``surprise = -log2 p`` for p the largest share of instances at which the claim holds with one word of the conditions less (so
every word matters, and counts by what it changes), and ``distance = 1 - max J`` over the statements of the registry about the
system, J the share of common words among all words of both (conditions and claim).  A statement with this claim whose conditions
all instances satisfy states the conjecture: it is ``known``, and comes last.  Nothing here is proved.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path

import sympy as sp
import torch

from eigentoken.display import html_table, listing
from eigentoken.documents.explore_document import ExploreDocument
from eigentoken.documents.explore_document import Proposal as ProposalDocument
from eigentoken.files.writing import write_text
from eigentoken.numerics.deadline import OutOfTime, limited
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.joining import joined
from eigentoken.numerics.instances.plans import Contradiction, plan_for
from eigentoken.numerics.instances.sampling import condition_violation, sample
from eigentoken.numerics.lab.conjectures import Conjecture, ConjectureError
from eigentoken.numerics.lab.gathering import SEEN, on_the_edge
from eigentoken.numerics.lab.refutation import refute
from eigentoken.numerics.lab.targets import Target, targets
from eigentoken.numerics.lab.vocabulary import TOPICS, claims_about, condition_sets, is_trivial, source_of
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system as find_system

__all__ = ["ExploreReport", "Proposal", "explore"]

#: Instances of a first look, and for a claim about limits; cells of shapes and corners that they are drawn from.
LOOK, LIMIT_LOOK, CELLS = 160, 48, 16
#: Share of the time for first looks; the rest attacks what is left, for at most so many seconds each.
FIRST, ATTACK = 0.6, 6.0
#: Counterexamples that are kept for each claim.
KEPT = 64
#: Of the instances so many must be judged: a claim about limits says nothing where trajectories do not settle.
JUDGED = 0.8

Words = tuple[Condition, ...]


@dataclass(frozen=True)
class Proposal:
    """A conjecture that stands: what was tried, how surprising it is, and how far from what the registry states."""

    conjecture: Conjecture
    tried: int
    surprise: float
    distance: float
    nearest: str
    known: bool

    @property
    def score(self) -> float:
        return 0.0 if self.known else self.surprise * self.distance

    @property
    def said(self) -> str:
        given = "; ".join(plain_text(str(LATEX(each))) for each in self.conjecture.conditions) or "always"
        return f"{given}: {plain_text(str(LATEX(self.conjecture.claims[0])))}"

    @property
    def near(self) -> str:
        """The nearest statement by its title and id; empty where nothing is near."""
        return statements().get(self.nearest).called if self.nearest else ""

    def source(self) -> str:
        """A conjecture file, ready to edit."""
        letters = sorted({each.name for word in _words(self.conjecture) for each in _letters(word)})
        given = "".join(f"        {source_of(each)},\n" for each in self.conjecture.conditions)
        named = "".join(f'{letter} = matrix("{letter}")\n' for letter in letters)
        near = f"states it: {self.near}" if self.known else f"nearest in the registry: {self.near or 'nothing'}"
        return (
            f'"""Found by explore: {self.tried} instances, none failed; this is no proof.\n\n'
            f"Surprise {self.surprise:.2f} bits, distance {self.distance:.2f}; {near}.\n"
            f'"""\n\nfrom eigentoken.lab import *\n\n{named}\n'
            f"found = Conjecture(\n    name={self.conjecture.name!r},\n    system={self.conjecture.system!r},\n"
            f"    conditions=[\n{given}    ],\n    claims=[{source_of(self.conjecture.claims[0])}],\n)\n"
        )

    def as_dict(self) -> ProposalDocument:
        return {
            "name": self.conjecture.name,
            "conditions": [str(LATEX(each)) for each in self.conjecture.conditions],
            "claim": str(LATEX(self.conjecture.claims[0])),
            "tried": self.tried,
            "surprise": round(self.surprise, 4),
            "distance": round(self.distance, 4),
            "score": round(self.score, 4),
            "nearest": self.nearest,
            "known": self.known,
            "source": self.source(),
        }


@dataclass(frozen=True)
class ExploreReport:
    """What ``explore`` found for a system, best first."""

    system: str
    about: tuple[str, ...]
    proposals: tuple[Proposal, ...]
    looked: int
    "Conjectures that were put together and looked at."
    fallen: int
    implied: int
    seed: int

    def __iter__(self) -> Iterator[Proposal]:
        return iter(self.proposals)

    def __len__(self) -> int:
        return len(self.proposals)

    def __getitem__(self, index: int) -> Proposal:
        return self.proposals[index]

    def __repr__(self) -> str:
        lines = [f"{each.score:.2f}  {each.said}" for each in self.proposals]
        return listing(f"<ExploreReport on {self.system}: {len(self)} of {self.looked} conjectures stand>", lines)

    def _repr_html_(self) -> str:
        rows = [
            (f"{each.score:.2f}", f"{each.surprise:.2f}", f"{each.distance:.2f}", each.near, each.said)
            for each in self.proposals
        ]
        return html_table(("score", "surprise", "distance", "nearest", "conjecture"), rows)

    def write(self, folder: str | Path) -> list[Path]:
        """One conjecture file for each, in the order of the ranking; files of that name are written over.

        Where nothing stands no folder is made."""
        home = Path(folder)
        if self.proposals:
            home.mkdir(parents=True, exist_ok=True)
        made = []
        for number, each in enumerate(self.proposals, 1):
            made.append(home / f"conjecture_{number:02d}.py")
            write_text(made[-1], each.source())
        return made

    def as_dict(self) -> ExploreDocument:
        return {
            "schema": "eigentoken/explore/1",
            "system": self.system,
            "about": list(self.about),
            "looked": self.looked,
            "fallen": self.fallen,
            "implied": self.implied,
            "seed": self.seed,
            "proposals": [each.as_dict() for each in self.proposals],
        }


def _words(conjecture: Conjecture) -> tuple[Condition | Claim, ...]:
    return (*conjecture.conditions, *conjecture.claims)


def _letters(word: object) -> set[sp.MatrixSymbol]:
    """The matrices that a word names."""
    if isinstance(word, sp.Basic):
        return set(word.atoms(sp.MatrixSymbol))
    parts = [getattr(word, each.name) for each in fields(word)] if is_dataclass(word) else []
    return {
        letter for part in parts for each in (part if isinstance(part, tuple) else (part,)) for letter in _letters(each)
    }


def explore(
    system: str,
    about: str | Sequence[str] = (),
    *,
    seconds: float = 60.0,
    most: int = 10,
    seed: int = 0,
    watch: Callable[[str], None] = lambda text: None,
) -> ExploreReport:
    """Conjectures about a system that no instance was seen to break, ranked by surprise and by distance from the registry.

    ``about`` names topics (a text with commas, or several); none means all.  ``most`` is the number of proposals.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be a number above 0, got {seconds}")
    if most < 1:
        raise ValueError(f"most must be at least 1, got {most}")
    given = about.split(",") if isinstance(about, str) else about
    topics = tuple(dict.fromkeys(each.strip() for each in given if each.strip()))
    listed = find_system(system)
    search = _Exploration(system, seed, time.time() + FIRST * seconds)
    waiting = {claim: iter(condition_sets(listed)) for claim in claims_about(listed, topics)}
    spent = dict.fromkeys(waiting, 0.0)
    while waiting and time.time() < search.end:
        claim = min(waiting, key=lambda each: spent[each])
        conditions = next(waiting[claim], None)
        if conditions is None:
            del waiting[claim]
            continue
        watch(f"{len(search.standing)} stand, {search.fallen} fell")
        start = time.time()
        search.look(conditions, claim)
        spent[claim] += time.time() - start
    ranked = sorted(search.proposals(), key=lambda each: (each.known, -each.score, -each.surprise))
    kept: list[Proposal] = []
    end = time.time() + (1 - FIRST) * seconds
    for each in ranked:
        if len(kept) == most or (time.time() > end and kept):
            break
        watch(f"attacked: {each.said}")
        share = max(1.0, min(ATTACK, (end - time.time()) / (most - len(kept))))
        result = refute(each.conjecture, seconds=share, seed=seed).results[0]
        if result.answer == "survived" and result.unsettled <= (1 - JUDGED) * result.tried:
            kept.append(replace(each, tried=each.tried + result.tried))
        else:
            search.fallen += 1
    return ExploreReport(
        system, topics or tuple(TOPICS), tuple(kept), search.looked, search.fallen, search.implied, seed
    )


@dataclass(frozen=True)
class _Look:
    """A conjecture that was looked at: its target, the instances, how many were judged, and at how many the claim holds."""

    aim: Target
    batches: tuple[Batch, ...]
    judged: int
    held: int
    killer: Batch | None

    @property
    def drawn(self) -> int:
        return sum(each.count for each in self.batches)

    def all_satisfy(self, conditions: Words) -> bool:
        """Do all instances satisfy these conditions?"""
        plan = plan_for(self.aim.plan.system, conditions)
        return all(bool((condition_violation(plan, each) < 0).all()) for each in self.batches)


@dataclass
class _Exploration:
    """First looks at conjectures about one system, with the counterexamples that were met."""

    system: str
    seed: int
    end: float
    looked: int = 0
    fallen: int = 0
    implied: int = 0
    shares: dict[tuple[Words, Claim], float] = field(default_factory=dict)
    "Of the instances that were judged, the share at which the claim holds."
    standing: dict[tuple[Words, Claim], _Look] = field(default_factory=dict)
    killers: dict[Claim, list[Batch]] = field(default_factory=dict)

    def look(self, conditions: Words, claim: Claim) -> None:
        """Draw instances, unless the conjecture follows from one that stands or falls by an instance that is known."""
        if any(other == claim and set(words) <= set(conditions) for words, other in self.standing):
            self.implied += 1
            return
        if is_trivial(conditions, claim):
            return
        try:
            (aim,) = targets(Conjecture(_name(conditions, claim), self.system, conditions, [claim]))
        except (ConjectureError, Contradiction):
            return
        if self._fell_before(aim):
            self.looked += 1
            self.fallen += 1
            return
        try:
            with limited(max(self.end, time.time() + 1.0)):
                found = _looked_at(aim, self.seed)
        except (Contradiction, ConjectureError, OutOfTime, ValueError):
            return
        self.looked += 1
        if found.judged:
            self.shares[conditions, claim] = found.held / found.judged
        if found.killer is not None:
            self.fallen += 1
            self.killers.setdefault(claim, []).append(found.killer)
        elif found.judged >= JUDGED * found.drawn:
            self.standing[conditions, claim] = found

    def _fell_before(self, aim: Target) -> bool:
        assert aim.claim is not None
        known = self.killers.get(aim.claim, [])[-KEPT:]
        return any(bool((condition_violation(aim.plan, each) < 0).any()) for each in known)

    def proposals(self) -> Iterator[Proposal]:
        """What stands and does not follow from another that does, with its rank."""
        book = _book(self.system)
        gone: set[tuple[Words, Claim]] = set()
        for own, found in self.standing.items():
            others = [each for each in self.standing if each[1] == own[1] and each != own and each not in gone]
            if any(found.all_satisfy(words) for words, _ in others):
                gone.add(own)
                self.implied += 1
                continue
            distance, nearest, known = _from_registry(*own, found, book)
            yield Proposal(found.aim.conjecture, found.judged, self._surprise(*own), distance, nearest, known)

    def _surprise(self, conditions: Words, claim: Claim) -> float:
        fewer = [tuple(each for each in conditions if each is not left) for left in conditions]
        shares = [self.shares[each, claim] for each in fewer if (each, claim) in self.shares]
        share = max(shares, default=self.shares.get(((), claim), 1.0))
        return max(0.0, -math.log2(max(share, 1e-3)))


def _looked_at(aim: Target, seed: int) -> _Look:
    """Instances of a conjecture, and one at which its claim is seen to fail."""
    count, cells = (LIMIT_LOOK, 4) if aim.about_limits else (LOOK, CELLS)
    drawn = sample(aim.plan, count, seed, cells_at_most=cells).batches
    batches = tuple(joined(drawn)) if aim.about_limits else drawn
    judged = held = 0
    killer: Batch | None = None
    for batch in batches:
        values = aim.violation(batch).detach()
        known = ~values.isnan()
        failed = known & (values > SEEN)
        judged, held = judged + int(known.sum()), held + int((known & ~failed).sum())
        if bool(failed.any()) and killer is None:
            worst = batch.take([int(torch.where(failed, values, -torch.inf).argmax())])
            killer = None if on_the_edge(aim.plan, worst) else worst
    return _Look(aim, batches, judged, held, killer)


def _name(conditions: Words, claim: Claim) -> str:
    given = " and ".join(plain_text(str(LATEX(each))) for each in conditions)
    return f"{plain_text(str(LATEX(claim)))}{f', if {given}' if given else ''}"


# --- the registry ----------------------------------------------------------------------------------------------------


def _book(system: str) -> Mapping[str, tuple[Words, tuple[Claim, ...]]]:
    """The statements about the system, by their ids."""
    return {each.id: (tuple(each.conditions), tuple(each.claims)) for each in statements() if system in each.systems}


def _from_registry(
    conditions: Words, claim: Claim, found: _Look, book: Mapping[str, tuple[Words, tuple[Claim, ...]]]
) -> tuple[float, str, bool]:
    """The distance to the registry, the nearest statement, and whether it states the conjecture."""
    own = {str(LATEX(each)) for each in (*conditions, claim)}
    best, nearest = 0.0, ""
    for name, (theirs, claims) in book.items():
        said = {str(LATEX(each)) for each in claims}
        asked = {str(LATEX(each)) for each in theirs}
        if str(LATEX(claim)) in said and (asked <= own or found.all_satisfy(theirs)):
            return 0.0, name, True
        for each in said:
            words = asked | {each}
            share = len(own & words) / len(own | words)
            if share > best:
                best, nearest = share, name
    return 1.0 - best, nearest, False
