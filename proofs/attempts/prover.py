"""Goal by goal: connectives and binders are taken apart, relations go to arithmetic, words to what concludes them.

What concludes a word: an assumption or condition; the linearization at its place (``Stable``, ``Unstable``, ``Equilibrium``); and
the claims of statements of the book, whose conditions must follow from ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sympy as sp

from eigentoken.proofs.attempts.scalar_facts import Facts
from eigentoken.theory.kernel import books
from eigentoken.theory.kernel.arithmetic import scalar_form
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.kernel import STANDING, Kernel
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    ForAll,
    Implication,
    Negation,
    Proposition,
    canonical,
    children,
    conjuncts,
    free_letters,
    proposition,
    put,
)
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.language.claims import Claim, Equilibrium, Stable, Unstable
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import d, k, n
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.statements.statement import Statement

__all__ = ["Means", "Prover"]


@dataclass(frozen=True)
class Means:
    """One means that was tried on one goal, and where it stopped (empty where it succeeded)."""

    goal: str
    name: str
    stopped: str = ""


@dataclass
class Prover:
    """Proves goals in the context of one statement; ``book`` are statements that may be recalled."""

    kernel: Kernel
    book: tuple[Statement, ...] = ()
    tried: list[Means] = field(default_factory=list)

    def claims(self, said: Iterable[Claim]) -> Proved:
        """The conjunction of all claims."""
        wanted = tuple(map(proposition, said))
        spoken = frozenset().union(*map(free_letters, (*self.kernel.conditions, *wanted))) - {n, d}
        standing = [each for each in STANDING if spoken & free_letters(each)]
        facts = Facts(self.kernel, tuple(self.kernel.given(each) for each in (*self.kernel.conditions, *standing)))
        return self.kernel.conjunction(*(self.goal(each, facts) for each in wanted))

    def goal(self, said: Proposition, facts: Facts) -> Proved:
        """The proposition under what is known, or :class:`Refused`."""
        kernel = self.kernel
        if isinstance(said, Conjunction):
            return kernel.conjunction(*(self.goal(each, facts) for each in said.parts))
        if isinstance(said, Implication):
            return self._implied(said.left, said.right, facts)
        if isinstance(said, Equivalence):
            whole = self._by_means(said, facts, list(self._recalled(said, facts)))
            if whole is not None:
                return whole
            return kernel.iff(self._implied(said.left, said.right, facts), self._implied(said.right, said.left, facts))
        if isinstance(said, ForAll):
            here = [kernel.assume(each) for each in conjuncts(said.guard)]
            return kernel.generalise(said.letter, self.goal(said.body, facts.under(*here)), said.guard)
        if isinstance(said, Exists):
            return self._some(said, facts)
        if _is_scalar(said):
            try:
                return facts.shown(said)
            except Refused as refused:
                self.tried.append(Means(_told(said), "real arithmetic", " ".join(str(refused).split())))
                raise
        if isinstance(said, Disjunction):
            return self._either(said, facts)
        known = next((each for each in facts.known() if canonical(each.proposition) == canonical(said)), None)
        if known is not None:
            return known
        if isinstance(said, Negation) or not isinstance(said, Atom):
            raise Refused(f"no means here concludes {_told(said)}")
        return self._word(said, facts)

    def _implied(self, left: Proposition, right: Proposition, facts: Facts) -> Proved:
        given = self.kernel.assume(left)
        more = [given, *self._consequences(left, given, facts)]
        return self.kernel.discharge(left, self.goal(right, facts.under(*more)))

    def _consequences(self, left: Proposition, given: Proved, facts: Facts) -> Iterator[Proved]:
        """What a word that is assumed says of the spectrum."""
        for part in conjuncts(left):
            if isinstance(part, Atom) and isinstance(part.word, Stable | Unstable):
                for _, test in self._linearized(part, facts):
                    try:
                        yield self.kernel.modus_ponens(self._supplied(test(), facts), self.kernel.part(given, part))
                    except Refused:
                        continue

    def _either(self, said: Disjunction, facts: Facts) -> Proved:
        stopped = []
        for part in said.parts:
            try:
                return self.kernel.tautology([self.goal(part, facts)], said)
            except Refused as refused:
                stopped.append(str(refused))
        raise Refused("; ".join(stopped))

    def _some(self, said: Exists, facts: Facts) -> Proved:
        """A witness among the indices 1, 2 and d."""
        for value in (sp.Integer(1), d, sp.Integer(2)):
            try:
                guards = [self.goal(each, facts) for each in conjuncts(put(said.guard, {said.letter: value}))]
                return self.kernel.witness(said, value, *guards, self.goal(put(said.body, {said.letter: value}), facts))
            except Refused:
                continue
        raise Refused(f"no index 1, 2 or d is seen to be one for {_told(said)}")

    # -- words ------------------------------------------------------------------------------------------------------------

    def _word(self, said: Atom, facts: Facts) -> Proved:
        ways = [*self._linearized(said, facts), *self._recalled(said, facts)]
        found = self._by_means(said, facts, ways)
        if found is None:
            raise Refused(f"no means here concludes {_told(said)}")
        return found

    def _by_means(self, said: Proposition, facts: Facts, ways: list[tuple[str, Callable[[], Proved]]]) -> Proved | None:
        """The first way that leads to what is said; what stops the others is kept."""
        for name, way in ways:
            try:
                found = self._concluded(said, way(), facts)
            except Refused as refused:
                self.tried.append(Means(_told(said), name, " ".join(str(refused).split())))
                continue
            self.tried.append(Means(_told(said), name))
            return found
        return None

    def _concluded(self, said: Proposition, rule: Proved, facts: Facts) -> Proved:
        """What is said from a rule: the rule itself, one of its parts, or the end of an implication whose start is proved."""
        rule = self._supplied(rule, facts)
        stopped = "it says nothing of this"
        for part in conjuncts(rule.proposition):
            whole = rule if part == rule.proposition else self.kernel.part(rule, part)
            if canonical(part) == canonical(said):
                return whole
            if not isinstance(part, Implication | Equivalence):
                continue
            for start, end in ((part.left, part.right), (part.right, part.left)):
                if isinstance(part, Implication) and start is part.right:
                    continue
                try:
                    if canonical(end) == canonical(said):
                        return self.kernel.modus_ponens(whole, self.goal(start, facts))
                    if any(canonical(each) == canonical(said) for each in conjuncts(end)):
                        return self.kernel.part(self.kernel.modus_ponens(whole, self.goal(start, facts)), said)
                    if isinstance(end, Equivalence | Implication):
                        return self._concluded(said, self.kernel.modus_ponens(whole, self.goal(start, facts)), facts)
                except Refused as refused:
                    stopped = str(refused)
        raise Refused(stopped)

    def _supplied(self, rule: Proved, facts: Facts) -> Proved:
        """Hypotheses of a rule that are no conditions of ours, proved."""
        known = {canonical(each.proposition) for each in facts.known()}
        missing = [each for each in rule.hypotheses if canonical(each) not in known]
        return self.kernel.supply(rule, *(self.goal(each, facts) for each in missing)) if missing else rule

    def _linearized(self, said: Atom, facts: Facts) -> list[tuple[str, Callable[[], Proved]]]:
        """Rules that the linearization engine gives for a word about a place."""
        word, kernel = said.word, self.kernel
        place = getattr(word, "place", None)
        if place is None or kernel.system is None:
            return []
        if isinstance(word, Equilibrium):
            return [("linearization", lambda: kernel.equilibrium(place))]
        if not isinstance(word, Stable | Unstable):
            return []
        test = kernel.linear_stability if isinstance(word, Stable) else kernel.linear_instability
        ways: list[tuple[str, Callable[[], Proved]]] = []
        known = [each.proposition.word for each in facts.known() if isinstance(each.proposition, Atom)]
        if Symmetric(getattr(place, "term", None)) in known:
            ways.append(("linearization", lambda: test(self._supplied(kernel.spectrum(place), facts))))
        if isinstance(word, Stable) and isinstance(place, ConsensusAt):
            ways.append(("linearization of any value matrix", lambda: kernel.stability_of_any(place)))
        return ways

    # -- the book -----------------------------------------------------------------------------------------------------------

    def _recalled(self, said: Proposition, facts: Facts) -> Iterator[tuple[str, Callable[[], Proved]]]:
        """Statements that speak of a word of the goal, recalled for our system."""
        for statement in self.book:
            letters = self._letters(statement, said)
            if letters is not None:
                named = f"{statement.title} ({statement.id})"
                yield named, partial(self._recall, statement, letters, facts)

    def _recall(self, statement: Statement, letters: dict[Any, Any], facts: Facts) -> Proved:
        wanted = books.needed(statement, statement.proofs, self.kernel.system, letters)
        known = {canonical(each.proposition): each for each in facts.known()}
        shown = []
        for each in wanted:
            try:
                shown.append(known.get(canonical(each)) or self.goal(each, facts))
            except Refused:
                raise Refused(f"it needs {_told(each)}, which is not seen to follow") from None
        return books.recall(statement, statement.proofs, self.kernel.system, letters, *shown)

    def _letters(self, statement: Statement, said: Proposition) -> dict[Any, Any] | None:
        """What stands here for k in a statement that speaks of a word of the goal; ``None`` where it speaks of none.

        Where nothing here speaks of k, the part of the statement that does is taken at 1: it is not used.
        """
        spoken = frozenset().union(*map(free_letters, (*self.kernel.conditions, said)))
        wanted = {canonical(each) for each in _words(said)}
        theirs = [each for claim in statement.claims for each in _words(proposition(claim))]
        if wanted & {canonical(each) for each in theirs}:
            return {} if k in spoken else {k: sp.Integer(1)}
        for index in {getattr(getattr(each.word, "place", None), "index", k) for each in _words(said)} - {k}:
            if wanted & {canonical(put(each, {k: sp.sympify(index)})) for each in theirs}:
                return {k: sp.sympify(index)}
        return None


def _words(said: Proposition) -> Iterator[Atom]:
    """The words in it that are no relations."""
    if isinstance(said, Atom):
        if not _is_scalar(said):
            yield said
        return
    for each in children(said):
        yield from _words(each)


def _is_scalar(said: Proposition) -> bool:
    try:
        scalar_form(said)
    except Refused:
        return False
    return True


def _told(said: Proposition) -> str:
    return plain_text(latex(said))
