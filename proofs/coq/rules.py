"""The lemma of a step, and its proof from the lemmas of its premises by the tactic of its rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from eigentoken.proofs.coq.algebra_steps import ALGEBRA
from eigentoken.proofs.coq.logic_steps import Carrier, Spelling, built, injected, one_way, parts_of
from eigentoken.proofs.coq.scalar_steps import ScalarStep, scalar_step
from eigentoken.proofs.coq.speech import Speech
from eigentoken.proofs.coq.terms import NotExportable
from eigentoken.theory.calculus import Index
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Disjunction,
    Equivalence,
    Proposition,
    canonical,
    conjuncts,
    free_letters,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, VectorLetter

__all__ = ["ASSUMED", "CONCLUDING", "EVERY_STATE", "LOGIC", "StepLemma", "assumed_step", "lemma_of", "script_of"]

#: What may stand as a hypothesis of the theorem: books, the linearization engine, what words and eigenvalues are.
ASSUMED = {
    "textbook": "a theorem of a book",
    "spectrum": "the linearization engine",
    "respelled": "the linearization engine",
    "equilibrium": "the linearization engine",
    "two_cycle": "the linearization engine",
    "antipodal_rest": "the linearization engine",
    "increment": "the equation of the system",
    "slope": "the equation of the system",
    "linear_stability": "what stability is, by the spectrum",
    "linear_instability": "what stability is, by the spectrum",
    "stability_of_any": "what stability is, by the spectrum",
    "dissipates": "what a decreasing quantity is",
    "monotone": "what a decreasing quantity is",
    "meaning": "what a word means",
    "half_space": "what a word means",
    "eigenvalue_order": "what eigenvalues are",
    "norm_of_symmetric": "what eigenvalues are",
    "modulus": "what eigenvalues are",
    "real_parts_below": "what eigenvalues are",
    "bounded_forms": "what a norm is",
}
#: Among these, what may end a derivation, where what it is applied to is proved: the others give the claim away.
CONCLUDING = frozenset(("textbook", "dissipates", "monotone"))
#: What concludes from what holds at every state.
EVERY_STATE = frozenset(("dissipates", "monotone"))
LOGIC = frozenset(
    ("assume", "discharge", "modus_ponens", "supply", "conjunction", "part", "cases", "iff", "tautology", "generalise",
     "instantiate", "witness", "exists_elimination", "recall")
)  # fmt: skip


@dataclass(frozen=True)
class StepLemma:
    """``forall letters, sorts -> hypotheses -> conclusion``."""

    name: str
    said: Proposition
    given: tuple[Proposition, ...]
    letters: tuple[Any, ...]
    sorts: tuple[str, ...]
    hypotheses: tuple[str, ...]
    conclusion: str
    statement: str


def _letters(said: list[Proposition], speech: Speech) -> tuple[Any, ...]:
    found = frozenset().union(*map(free_letters, said)) - speech.rigid
    return tuple(sorted(found, key=lambda each: (type(each).__name__, str(each))))


def _quantified(letters: tuple[Any, ...], premises: list[str], conclusion: str, speech: Speech) -> str:
    bound = "".join(f" ({speech.name(each)} : {speech.sort(each)})" for each in letters)
    return (f"forall{bound}, " if letters else "") + "".join(f"{each} -> " for each in premises) + conclusion


def lemma_of(name: str, node: Proved, speech: Speech, known: Sequence[StepLemma] = ()) -> StepLemma:
    """What the step says in Coq; at the state that its premises are about, also where it does not speak of one."""
    letters = _letters([node.proposition, *node.hypotheses], speech)
    state = VectorLetter(STATE)
    binds = node.rule in EVERY_STATE or (node.rule == "generalise" and node.proposition.letter == state)
    if state not in letters and not binds and any(state in each.letters for each in known):
        letters = (*letters, state)
    sorts = [fact for each in letters for fact in speech.facts(each)]
    hypotheses = [speech.said(each) for each in node.hypotheses]
    conclusion = speech.said(node.proposition)
    statement = _quantified(letters, [*sorts, *hypotheses], conclusion, speech)
    return StepLemma(
        name, node.proposition, node.hypotheses, letters, tuple(sorts), tuple(hypotheses), conclusion, statement
    )


class _Context:
    """Inside a lemma, after its introduction: the letters in scope and what is known."""

    def __init__(self, lemma: StepLemma, speech: Speech) -> None:
        self.lemma, self.speech = lemma, speech
        self.scope: dict[Any, list[str]] = {}
        names = []
        for each in lemma.letters:
            self.scope[each] = [f"sort_{speech.name(each)}_{i}" for i, _ in enumerate(speech.facts(each))]
        for each in lemma.letters:
            names += self.scope[each]
        self.facts: dict[Proposition, str] = {}
        given = []
        for i, each in enumerate(lemma.given):
            given.append(f"h{i}")
            self.facts |= parts_of(each, f"h{i}")
        listed = [*map(speech.name, lemma.letters), *names, *given]
        self.opening = f"intros {' '.join(listed)}. " if listed else ""

    def of(
        self,
        premise: StepLemma,
        facts: Mapping[Proposition, str] | None = None,
        more: Mapping[Any, list[str]] | None = None,
    ) -> str:
        """The premise, applied to the letters in scope and to what is known."""
        known = {**self.facts, **(facts or {})}
        scope = {**self.scope, **(more or {})}
        values, proofs = [], []
        for each in premise.letters:
            if each in scope:
                values.append(self.speech.name(each))
                proofs += scope[each]
            else:
                value, shown = self.any_of(each)
                values.append(value)
                proofs += shown
        proofs += [built(each, known) for each in premise.given]
        listed = [*values, *proofs]
        return f"({' '.join([premise.name, *listed])})" if listed else premise.name

    def any_of(self, letter: Any) -> tuple[str, list[str]]:
        """A letter that does not occur in the conclusion: any value of its sort."""
        if letter == VectorLetter(STATE):
            raise NotExportable("a step about a state that its conclusion does not speak of")
        if isinstance(letter, Index):
            return "0%nat", ["ltac:(apply within_first; assumption)"]
        sort = self.speech.sort(letter)
        value = {"Z": "1%Z", "R": "1", "vec": "(fun _ => 0)", "mat": "mat_zero"}.get(sort)
        if value is None or (isinstance(letter, sp.Symbol) and letter.is_negative):
            raise NotExportable(f"{letter.name} does not occur in the conclusion")
        return value, ["ltac:(first [lia | lra])" for _ in self.speech.facts(letter)]


def assumed_step(name: str, node: Proved, lemma: StepLemma, known: list[StepLemma], speech: Speech) -> tuple[str, str]:
    """The hypothesis of the theorem for a step that is assumed, and the proof of the step from it."""
    before = {canonical(each) for one in node.premises for each in one.hypotheses}
    own = [each for each in node.hypotheses if canonical(each) not in before]
    states = [VectorLetter(STATE)] if node.rule in EVERY_STATE else []
    said = [node.proposition, *own, *(each.proposition for each in node.premises)]
    letters = tuple(each for each in _letters(said, speech) if each not in states)
    sorts = [fact for each in letters for fact in speech.facts(each)]
    inner = []
    for each in node.premises:
        bound = tuple(one for one in _letters([each.proposition], speech) if one in states)
        facts = [fact for one in bound for fact in speech.facts(one)]
        inner.append(f"({_quantified(bound, facts, speech.said(each.proposition), speech)})")
    statement = _quantified(letters, [*sorts, *map(speech.said, own), *inner], speech.said(node.proposition), speech)
    here = _Context(lemma, speech)
    values = [speech.name(each) if each in here.scope else here.any_of(each)[0] for each in letters]
    proofs = [one for each in letters for one in (here.scope[each] if each in here.scope else here.any_of(each)[1])]
    proofs += [built(each, here.facts) for each in own]
    for premise in known:
        here_bound = [one for one in premise.letters if one in states]
        more = {one: [f"at_{speech.name(one)}_{i}" for i, _ in enumerate(speech.facts(one))] for one in here_bound}
        binders = " ".join(x for one in here_bound for x in (speech.name(one), *more[one]))
        applied = here.of(premise, more=more)
        proofs.append(f"(fun {binders} => {applied})" if here_bound else applied)
    listed = [*values, *proofs]
    term = f"({' '.join([name, *listed])})" if listed else name
    return statement, f"{here.opening}exact {term}."


Scripted = tuple[str, ScalarStep | None]


def script_of(node: Proved, lemma: StepLemma, known: list[StepLemma], speech: Speech, number: int) -> Scripted:
    """The proof of a step; for arithmetic, with its scalar lemma."""
    here = _Context(lemma, speech)
    if node.rule == "arithmetic" or node.rule == "identity":
        return _arithmetic(node, here, known, f"scalar_{number}")
    if node.rule in _SCRIPTS:
        return here.opening + _SCRIPTS[node.rule](node, here, known), None
    if node.rule in ALGEBRA:
        premises = " ".join(f"pose proof {here.of(each)}." for each in known)
        return f"{here.opening}{premises} {ALGEBRA[node.rule](node, speech)}", None
    raise NotExportable(f"the rule {node.rule} has no translation")


def _arithmetic(node: Proved, here: _Context, known: list[StepLemma], name: str) -> Scripted:
    unseen = {letter: here.any_of(letter)[0] for each in known for letter in each.letters if letter not in here.scope}
    made = scalar_step(name, [each.proposition for each in node.premises], node.proposition, here.speech, unseen)
    lines = [f"pose proof {here.of(each)}." for each in known]
    lines.append("parts.")
    lines += [f"assert (need_{i} : {text}) by given." for i, text in enumerate(made.needed)]
    applied = " ".join([name, *made.values, *(f"need_{i}" for i, _ in enumerate(made.needed))])
    lines.append(f"assert (found := {applied}). closing.")
    return here.opening + "\n  ".join(lines), made


# -- the rules of logic -----------------------------------------------------------------------------------------------------


def _assume(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    return f"exact {built(node.proposition, here.facts)}."


def _discharge(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    inner = parts_of(node.proposition.left, "left_")
    return f"exact (fun left_ => {here.of(known[0], inner)})."


def _modus_ponens(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    rule, given = known
    applied = here.of(rule)
    if isinstance(rule.said, Equivalence):
        applied = one_way(rule.said, given.said, applied)
    return f"exact ({applied} {here.of(given)})."


def _together(here: _Context, known: list[StepLemma]) -> dict[Proposition, str]:
    facts: dict[Proposition, str] = {}
    for each in known:
        facts |= parts_of(each.said, here.of(each))
    return facts


def _supply(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    return f"exact {here.of(known[0], _together(here, known[1:]))}."


def _conjunction(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    return f"exact {built(node.proposition, _together(here, known))}."


def _cases(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    either, *branches = known
    whole = canonical(either.said)
    alternatives = whole.parts if isinstance(whole, Disjunction) else (whole,)
    lines = []
    for each in alternatives:
        branch = next(one for one in branches if each == canonical(one.said.left) or each in _parts(one.said.left))
        left = canonical(branch.said.left)
        lines.append(
            f"{{ assert (left_ : {here.speech.text(left, {})}). {{ {injected(each, left, 'case_')} }} "
            f"exact ({here.of(branch)} left_). }}"
        )
    pattern = "case_"
    for _ in alternatives[1:]:
        pattern = f"[case_|{pattern}]"
    return f"destruct {here.of(either)} as {pattern}. {' '.join(lines)}"


def _parts(said: Proposition) -> tuple[Proposition, ...]:
    whole = canonical(said)
    return whole.parts if isinstance(whole, Disjunction) else (whole,)


def _iff(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    whole = canonical(node.proposition)
    if not isinstance(whole, Equivalence):
        raise NotExportable("an equivalence of one thing with itself")
    forth = next(each for each in known if canonical(each.said.left) == whole.left)
    back = next(each for each in known if canonical(each.said.left) == whole.right)
    return f"exact (conj {here.of(forth)} {here.of(back)})."


def _tautology(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    return " ".join([*(f"pose proof {here.of(each)}." for each in known), "connectives."])


def _generalise(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    letter = node.proposition.letter
    name = here.speech.name(letter)
    facts = [f"sort_{name}_{i}" for i, _ in enumerate(here.speech.facts(letter))]
    guards = [] if canonical(node.proposition.guard) == canonical(TRUE) else ["guard_"]
    inner = parts_of(node.proposition.guard, "guard_") if guards else {}
    carrier = Carrier(here.speech)
    whole = canonical(node.proposition)
    source = Spelling({}, {})
    target = Spelling({letter: whole.letter}, {whole.letter: name})
    lines = [f"intros {' '.join([name, *facts, *guards])}."]
    if guards:
        made, script = carrier.step(node.proposition.guard, target, source, "guard_")
        lines.append(script)
        inner = parts_of(node.proposition.guard, made)
    applied = here.of(known[0], inner, {letter: facts})
    lines.append(carrier.then(node.proposition.body, source, target, applied))
    return " ".join(lines)


def _instantiate(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    said, speech = known[0].said, here.speech
    value = node.detail[said.letter]
    whole = canonical(said)
    text = speech.value(said.letter, value, {})
    source = Spelling({said.letter: whole.letter}, {whole.letter: text})
    target = Spelling({said.letter: value}, {})
    carrier = Carrier(speech)
    lines = [f"pose proof {here.of(each)} as known{i}_." for i, each in enumerate(known[1:])]
    sorts = speech.facts(whole.letter, {whole.letter: text})
    lines += [f"assert (sort{i}_ : {fact}) by sorted." for i, fact in enumerate(sorts)]
    applied = " ".join([here.of(known[0]), text, *(f"sort{i}_" for i, _ in enumerate(sorts))])
    if whole.guard != canonical(TRUE):
        facts: dict[Proposition, str] = {}
        for i, each in enumerate(known[1:]):
            facts |= parts_of(each.said, f"known{i}_")
        lines.append(f"assert (guard_ : {speech.text(whole.guard, source.env)}).")
        lines.append(f"{{ {_guard(said.guard, carrier, source, target, facts)} }}")
        applied += " guard_"
    lines.append(carrier.then(said.body, source, target, f"({applied})"))
    return " ".join(lines)


def _guard(
    guard: Proposition, carrier: Carrier, source: Spelling, target: Spelling, facts: Mapping[Proposition, str]
) -> str:
    """The guard, with the value put in by Coq, from the premises that prove it with the value put in by the kernel."""
    lines: list[str] = []
    made: dict[Proposition, str] = {}
    for part in conjuncts(guard):
        shown = target.of(part)
        name = carrier.name("shown")
        lines.append(f"assert ({name} : {carrier.speech.text(shown, target.env)}).")
        lines.append(f"{{ exact {built(shown, facts)}. }}" if _known(shown, facts) else "{ sorted. }")
        other, script = carrier.step(part, target, source, name)
        lines.append(script)
        made |= parts_of(source.of(part), other)
    return " ".join([*lines, f"exact {built(source.of(guard), made)}."])


def _known(said: Proposition, facts: Mapping[Proposition, str]) -> bool:
    return all(canonical(part) in facts for part in conjuncts(canonical(said)))


def _witness(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    said, speech = node.proposition, here.speech
    value = node.detail[said.letter]
    whole = canonical(said)
    text = speech.value(said.letter, value, {})
    source = Spelling({said.letter: value}, {})
    target = Spelling({said.letter: whole.letter}, {whole.letter: text})
    carrier = Carrier(speech)
    lines = [f"pose proof {here.of(each)} as known{i}_." for i, each in enumerate(known)]
    facts: dict[Proposition, str] = {}
    for i, each in enumerate(known):
        facts |= parts_of(each.said, f"known{i}_")
    sorts = speech.facts(whole.letter, {whole.letter: text})
    lines += [f"assert (sort{i}_ : {fact}) by sorted." for i, fact in enumerate(sorts)]
    proofs = [f"sort{i}_" for i, _ in enumerate(sorts)]
    if whole.guard != canonical(TRUE):
        lines.append(f"assert (guard_ : {speech.text(whole.guard, target.env)}).")
        lines.append(f"{{ {_guard(said.guard, carrier, target, source, facts)} }}")
        proofs.append("guard_")
    body, script = carrier.step(said.body, source, target, built(source.of(said.body), facts))
    lines.append(script)
    term = body
    for one in reversed(proofs):
        term = f"(conj {one} {term})"
    return " ".join([*lines, f"exists {text}. exact {term}."])


def _exists_elimination(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    said, speech = known[0].said, here.speech
    name = speech.name(said.letter)
    whole = canonical(said)
    source = Spelling({said.letter: whole.letter}, {whole.letter: name})
    target = Spelling({}, {})
    facts = [f"sort_{name}_{i}" for i, _ in enumerate(speech.facts(said.letter))]
    guards = ["guard_"] if whole.guard != canonical(TRUE) else []
    names = [*facts, *guards, "body_"]
    pattern = f"[{name} " + "".join(f"[{each} " for each in names[:-1]) + names[-1] + "]" * len(names)
    carrier = Carrier(speech)
    lines = [f"destruct {here.of(known[0])} as {pattern}."]
    inner: dict[Proposition, str] = {}
    for part, proof in ((said.guard, "guard_"), (said.body, "body_")):
        if proof in names:
            made, script = carrier.step(part, source, target, proof)
            lines.append(script)
            inner |= parts_of(target.of(part), made)
    return " ".join([*lines, f"exact {here.of(known[1], inner, {said.letter: facts})}."])


def _integers(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    return " ".join([*(f"pose proof {here.of(each)}." for each in known), "integers."])


def _equal_indices(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    return f"pose proof {here.of(known[0])}. parts. subst_indices."


def _recall(node: Proved, here: _Context, known: list[StepLemma]) -> str:
    """Another statement, at values of its letters: its proof is part of this file."""
    whole, *given = known
    table, speech = node.detail[3], here.speech
    if any(letter in speech.rigid for letter in table):
        raise NotExportable("a statement that is recalled for other values of the letters of this one")
    values = {letter: speech.value(letter, value, {}) for letter, value in table.items()}
    source, target = Spelling({}, values), Spelling(table, {})
    carrier, facts = Carrier(speech), {**here.facts, **_together(here, given)}
    lines, proofs, letters = [], [], []
    for letter in whole.letters:
        letters.append(values.get(letter, speech.name(letter)))
        for number, fact in enumerate(speech.facts(letter, values)):
            name = f"sort_of_{speech.name(letter)}_{number}_"
            lines.append(f"assert ({name} : {fact}) by sorted.")
            proofs.append(name)
    for each in whole.given:
        name, script = carrier.step(each, target, source, built(target.of(each), facts))
        lines.append(script)
        proofs.append(name)
    applied = " ".join([whole.name, *letters, *proofs])
    return " ".join([*lines, carrier.then(whole.said, source, target, f"({applied})")])


_SCRIPTS: dict[str, Callable[[Proved, _Context, list[StepLemma]], str]] = {
    "assume": _assume,
    "discharge": _discharge,
    "modus_ponens": _modus_ponens,
    "supply": _supply,
    "conjunction": _conjunction,
    "part": _conjunction,
    "cases": _cases,
    "iff": _iff,
    "tautology": _tautology,
    "generalise": _generalise,
    "instantiate": _instantiate,
    "witness": _witness,
    "exists_elimination": _exists_elimination,
    "integers": _integers,
    "equal_indices": _equal_indices,
    "recall": _recall,
}
