"""The rules, gathered for one statement: its system and its conditions stand once, a derivation calls methods.

A derivation is a function ``proof(k)`` that returns a ``Proved``; :func:`accepted` says whether that is what the statement
claims: its hypotheses are conditions of the statement (or what its letters are declared to be), its proposition is the
conjunction of the claims, and its system is that of the statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Expression
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import (
    books,
    dynamics,
    forms,
    formulas,
    instances,
    logic,
    multipliers,
    order,
    quantities,
    spectra,
    structure,
    sums,
    words,
)
from eigentoken.theory.kernel.books import steps_that_hold
from eigentoken.theory.kernel.eigenvalues import unknown_eigenvalues
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Equivalence,
    ForAll,
    Implication,
    Proposition,
    canonical,
    conjuncts,
    free_letters,
    proposition,
    put,
    same,
)
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.places import AntipodalAt, Place
from eigentoken.theory.language.terms import d, ell, k, n, p, q
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.systems.system import System

__all__ = ["STANDING", "Kernel", "accepted", "cases", "conjunction", "iff", "modus_ponens", "part"]

#: What the letters of the book are declared to be, beyond what their symbols say: indices run to d, a split has n tokens.
STANDING = tuple(
    proposition(each) for each in (sp.Le(k, d), sp.Ge(k, 1, evaluate=False), sp.Le(ell, d), sp.Eq(n, p + q))
)


# -- steps by connectives alone: that they follow, the truth table of the rules says -------------------------------------------


def modus_ponens(rule: Proved, given: Proved) -> Proved:
    """``P => Q`` (or ``P <=> Q``, either way) and ``P`` give ``Q``."""
    said = rule.proposition
    if not isinstance(said, Implication | Equivalence):
        raise Refused("modus ponens needs an implication or an equivalence first")
    if same(said.left, given.proposition):
        return logic.tautology((rule, given), said.right, "modus_ponens")
    if isinstance(said, Equivalence) and same(said.right, given.proposition):
        return logic.tautology((rule, given), said.left, "modus_ponens")
    raise Refused("what is given is not what the implication asks for")


def conjunction(*proved: Proved) -> Proved:
    """``P`` and ``Q`` give ``P and Q``."""
    return logic.tautology(proved, Conjunction(tuple(each.proposition for each in proved)), "conjunction")


def part(proved: Proved, said: Any) -> Proved:
    """One conjunct, or several."""
    wanted = proposition(said)
    known = {canonical(each) for each in conjuncts(proved.proposition)}
    if any(canonical(each) not in known for each in conjuncts(wanted)):
        raise Refused("that is no part of the conjunction")
    return logic.tautology((proved,), wanted, "part")


def cases(either: Proved, *branches: Proved) -> Proved:
    """``P or Q``, ``P => R`` and ``Q => R`` give ``R``: every case is there, and each branch proves the same."""
    if not isinstance(either.proposition, Disjunction) or not branches:
        raise Refused("a case distinction starts from a disjunction and has branches")
    if not all(isinstance(each.proposition, Implication) for each in branches):
        raise Refused("each branch is an implication from its case")
    results = {canonical(each.proposition.right) for each in branches}
    if len(results) != 1:
        raise Refused("the branches do not prove the same")
    covered = {canonical(each.proposition.left) for each in branches}
    missing = [each for each in either.proposition.parts if canonical(each) not in covered]
    if missing:
        raise Refused(f"{len(missing)} of {len(either.proposition.parts)} cases have no branch")
    return logic.tautology((either, *branches), branches[0].proposition.right, "cases")


def iff(forth: Proved, back: Proved) -> Proved:
    """``P => Q`` and ``Q => P`` give ``P <=> Q``."""
    one, other = forth.proposition, back.proposition
    if not (isinstance(one, Implication) and isinstance(other, Implication)):
        raise Refused("an equivalence is made of two implications")
    if not (same(one.left, other.right) and same(one.right, other.left)):
        raise Refused("the second implication is not the converse of the first")
    return logic.tautology((forth, back), Equivalence(one.left, one.right), "iff")


@dataclass(frozen=True)
class Kernel:
    """The rules in the context of one statement."""

    system: System | None
    conditions: tuple[Proposition, ...]

    # -- where a derivation starts --------------------------------------------------------------------------------------

    def given(self, said: Any) -> Proved:
        """A condition of the statement, or a part of one, or what its letters are declared to be."""
        wanted = proposition(said)
        if not self.is_given(wanted):
            raise Refused(f"that is no condition of the statement: {plain_text(formulas.latex(wanted))}")
        return logic.assume(wanted, self.system)

    def is_given(self, said: Proposition) -> bool:
        known = {canonical(part) for each in (*self.conditions, *STANDING) for part in conjuncts(each)}
        return canonical(said) in known

    def assume(self, said: Any) -> Proved:
        return logic.assume(said, self.system)

    # -- logic ------------------------------------------------------------------------------------------------------------

    discharge = staticmethod(logic.discharge)
    conjunction = staticmethod(conjunction)
    modus_ponens = staticmethod(modus_ponens)
    supply = staticmethod(logic.supply)
    part = staticmethod(part)
    cases = staticmethod(cases)
    iff = staticmethod(iff)
    tautology = staticmethod(logic.tautology)
    generalise = staticmethod(logic.generalise)
    instantiate = staticmethod(logic.instantiate)
    witness = staticmethod(logic.witness)
    exists_elimination = staticmethod(logic.exists_elimination)
    rewrite = staticmethod(logic.rewrite)
    almost_everywhere = staticmethod(logic.almost_everywhere)

    def meaning(self, word: Any) -> Proved:
        """What a word means, its hypothesis of symmetry taken from the conditions."""
        return self.settled(words.meaning(word, self.system))

    def unfold(self, proved: Proved) -> Proved:
        """The meaning of a proved word."""
        return modus_ponens(self.meaning(getattr(proved.proposition, "word", None)), proved)

    def half_space(self, word: Any) -> Proved:
        return words.half_space(word, self.system)

    def settled(self, proved: Proved) -> Proved:
        """The same for our system: hypotheses stay, and must be conditions in the end."""
        if self.system is None or proved.system is not None:
            return proved
        return part(conjunction(proved, logic.tautology((self.assume(TRUE),), TRUE)), proved.proposition)

    def by_cases(self, said: Any, *ways: tuple[Any, Proved]) -> Proved:
        """``cases`` with the branches as ``(case, what is proved under it)``."""
        either = said if isinstance(said, Proved) else self.given(said)
        return cases(either, *(logic.discharge(case, proved) for case, proved in ways))

    def at(self, proved: Proved, value: Any, *known: Proved) -> Proved:
        """What holds for all letters, at a value; the guard follows by arithmetic from what is known."""
        said = proved.proposition
        if not isinstance(said, ForAll):
            raise Refused("only what holds for all values of a letter can be taken at one")
        guards = conjuncts(put(said.guard, {said.letter: value}))
        return logic.instantiate(proved, value, *(self.follows(known, each) for each in guards))

    def follows(self, known: Iterable[Proved], said: Proposition) -> Proved:
        """A guard: for integers where its letters are, else over the reals."""
        about = numbers.scalar_form(said).free_symbols
        if about and all(each.is_integer for each in about):
            return numbers.integers([each for each in known if numbers.only_integers(each.proposition)], said)
        return self.arithmetic(known, said)

    # -- arithmetic, structure, dynamics, books -------------------------------------------------------------------------

    def arithmetic(self, premises: Iterable[Proved], said: Any) -> Proved:
        return numbers.arithmetic(tuple(premises), said)

    def lemma(self, hypotheses: Iterable[Any], said: Any, *letters: sp.Symbol) -> Proved:
        """``for all letters: hypotheses => conclusion``, over the reals."""
        given = [logic.assume(each) for each in hypotheses]
        found = numbers.arithmetic(given, said)
        if given:
            found = logic.discharge(Conjunction(tuple(each.proposition for each in given)), found)
        for letter in reversed(letters):
            found = logic.generalise(letter, found)
        return found

    def apply(self, lemma: Proved, values: Iterable[Any], *premises: Proved) -> Proved:
        """A lemma at values of its letters, its hypotheses taken from the premises."""
        for value in values:
            lemma = logic.instantiate(lemma, value)
        if not isinstance(lemma.proposition, Implication):
            return lemma
        known = {canonical(part): each for each in premises for part in conjuncts(each.proposition)}
        parts = conjuncts(lemma.proposition.left)
        missing = [each for each in parts if canonical(each) not in known]
        if missing:
            raise Refused(f"the lemma needs {'; '.join(map(repr, missing))}")
        given = conjunction(*(part(known[canonical(each)], each) for each in parts))
        return modus_ponens(lemma, given)

    enclosure = staticmethod(numbers.enclosure)
    identity = staticmethod(numbers.identity)
    integers = staticmethod(numbers.integers)
    equal_indices = staticmethod(words.equal_indices)

    def reduction(self, left: Expression, right: Expression, *premises: Proved) -> Proved:
        return structure.reduction(left, right, self.system, *premises)

    def increment(self, quantity: Expression) -> Proved:
        return structure.increment(quantity, self._system())

    def slope(self, quantity: Expression, along: str = "w") -> Proved:
        return structure.slope(quantity, self._system(), along)

    def opposite(self, quantity: Expression) -> Proved:
        return structure.opposite(quantity, self._system())

    summed = staticmethod(structure.summed)
    scaling = staticmethod(quantities.scaling)
    total = staticmethod(quantities.total)
    pair = staticmethod(structure.pair)
    induction = staticmethod(structure.induction)
    causal_order = staticmethod(order.causal_order)
    same_token = staticmethod(order.same_token)
    first_token = staticmethod(order.first_token)
    token_induction = staticmethod(order.token_induction)
    falling_weights = staticmethod(order.falling_weights)
    latest = staticmethod(order.latest)
    almost_every_token = staticmethod(order.almost_every_token)
    factors = staticmethod(quantities.factors)
    product = staticmethod(quantities.product)
    exponential_of = staticmethod(quantities.exponential_of)
    positive = staticmethod(sums.positive)
    congruent = staticmethod(sums.congruent)

    def same_state(self, quantity: Expression, one: Any, other: Any, proved: Proved) -> Proved:
        return sums.same_state(quantity, one, other, proved, self._system())

    summand = staticmethod(sums.summand)
    least = staticmethod(sums.least)
    as_form = staticmethod(forms.as_form)
    invertible = staticmethod(forms.invertible)
    exact_matrix = staticmethod(instances.exact_matrix)

    def velocity_at(self, claim: instances.VelocityIs) -> Proved:
        return instances.velocity_at(claim, self._system())

    def spectrum(self, place: Place) -> Proved:
        return spectra.spectrum(place, self._system())

    def equilibrium(self, place: Place) -> Proved:
        if isinstance(place, AntipodalAt):
            return spectra.antipodal_rest(place, self._system())
        return spectra.equilibrium(place, self._system())

    def attention_rank(self, place: Place) -> Proved:
        return spectra.attention_rank(place, self._system())

    def two_cycle(self, place: Place) -> Proved:
        return spectra.two_cycle(place, self._system())

    def respelled(self, found: Proved, claim: SpectrumIs, *premises: Proved) -> Proved:
        """The spectrum in the formulas of the claim; the equations are identities, the premises say where they are defined."""
        _, classes = spectra.classes_of(found)
        pairs = spectra.changes(classes, claim.classes)
        equations = [self._equal(old, new, premises) for old, new in pairs]
        return spectra.respelled(found, claim, *equations)

    def restated(self, found: Proved, said: Any, *premises: Proved) -> Proved:
        """``P <=> Q`` as ``P <=> R``, where Q and R are relations that real arithmetic shows to be equivalent."""
        wanted = proposition(said)
        if not isinstance(found.proposition, Equivalence) or not isinstance(wanted, Equivalence):
            raise Refused("an equivalence is restated as an equivalence")
        equivalent = self.arithmetic(premises, Equivalence(found.proposition.right, wanted.right))
        return logic.tautology([found, equivalent], wanted)

    def _equal(self, old: Any, new: Any, premises: tuple[Proved, ...]) -> Proved:
        """An identity; or, where it needs an equation among the premises (``n = p + q``), what follows from that."""
        try:
            return numbers.identity(old, new, *premises)
        except Refused:
            return self.arithmetic(premises, sp.Eq(old, new, evaluate=False))

    first_exit = staticmethod(dynamics.first_exit)
    linear_stability = staticmethod(dynamics.linear_stability)
    linear_instability = staticmethod(dynamics.linear_instability)
    modulus = staticmethod(words.modulus)
    real_parts_below = staticmethod(words.real_parts_below)
    unstable = staticmethod(multipliers.unstable)

    def stability_of_any(self, place: Place) -> Proved:
        return dynamics.stability_of_any(place, self._system())

    dissipates = staticmethod(dynamics.dissipates)

    def squared_speed(self, *, weighted: bool = False) -> Expression:
        return structure.squared_speed(self._system(), weighted)

    square = staticmethod(structure.square)

    def monotone(self, observable: Observable, proved: Proved) -> Proved:
        return dynamics.monotone(observable, proved)

    def bounded_forms(self, name: str) -> Proved:
        return words.bounded_forms(name, self._system())

    bounded_norm = staticmethod(words.bounded_norm)

    eigenvalue_order = staticmethod(words.eigenvalue_order)
    norm_of_symmetric = staticmethod(words.norm_of_symmetric)

    def textbook(self, theorem: books.Textbook, *premises: Proved, **objects: Any) -> Proved:
        return books.textbook(theorem, premises, self.system, **objects)

    def recall(self, statement: books.Stated, *premises: Proved, letters: Mapping[Any, Any] | None = None) -> Proved:
        """The claims of another statement; conditions of ours that it asks for are supplied."""
        table = letters or {}
        ours = (*premises, *(self.given(each) for each in self.conditions))
        needed = books.needed(statement, statement.proofs, self.system, table)
        known = {canonical(part) for each in ours for part in conjuncts(each.proposition)}
        open_ = [each for each in needed if canonical(each) not in known]
        shown = [self.given(each) if self.is_given(each) else self._from(ours, each) for each in open_]
        return books.recall(statement, statement.proofs, self.system, table, *ours, *shown)

    def _from(self, ours: Iterable[Proved], said: Proposition) -> Proved:
        """A condition of another statement that is a relation, from relations of ours."""
        scalar = []
        for each in ours:
            try:
                numbers.scalar_form(each.proposition)
            except Refused:
                continue
            scalar.append(each)
        return self.follows(scalar, said)

    def argued(self, said: Any, text: str, *premises: Proved) -> Proved:
        return books.argued(said, text, self.system, *premises)

    def _system(self) -> System:
        if self.system is None:
            raise Refused("the statement is about no system")
        return self.system


def accepted(
    proved: Proved, conditions: Iterable[Proposition], claims: Iterable[Proposition], system: System | None
) -> Verdict:
    """Is this a proof of the claims, for the system, under the conditions and nothing else?"""
    if type(proved) is not Proved:
        return fails(f"a derivation returns what a rule proved, got {type(proved).__name__}")
    said, wanted = tuple(conditions), tuple(claims)
    if not wanted:
        return fails("nothing is claimed")
    letters = frozenset().union(*map(free_letters, (*said, *wanted))) - {n, d}
    used = [each for each in STANDING if letters & free_letters(each)]  # n = p + q where it speaks of two groups
    given = {canonical(part) for each in (*said, *used) for part in conjuncts(each)}
    beyond = [each for each in proved.hypotheses if canonical(each) not in given]
    if beyond:
        told = "; ".join(plain_text(formulas.latex(each)) for each in beyond)
        return fails(f"it rests on what is no condition: {told}")
    known = frozenset(part for each in (*said, *used) for part in conjuncts(each))
    unknown = [each for claim in wanted for each in unknown_eigenvalues(claim, known)]
    if unknown:
        told = ", ".join(dict.fromkeys(plain_text(scalar_latex(each)) for each in unknown))
        return fails(f"{told} is not known to exist and to be a real number: say of which matrix, or for which d")
    bound = sorted(frozenset().union(*(logic.bound_but_tied(each, system) for each in (*said, *wanted))))
    if bound:
        return fails(
            f"{', '.join(bound)} belongs to the system, or is a size: what is said there is not said for others"
        )
    moving = books.moving(said)
    frozen = steps_that_hold(proved, moving)
    if frozen:
        return fails(f"{', '.join(frozen)} holds a matrix fixed that depends on time by the conditions")
    if not same(proved.proposition, Conjunction(wanted)):
        return fails("what is proved is not what is claimed")
    if proved.system is not None and proved.system != system:
        return fails(f"it is about {proved.system.name}")
    return holds("what is proved is what is claimed, under the conditions alone")
