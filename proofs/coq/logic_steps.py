"""Proof scripts of the rules of logic: explicit terms where premises have the text that is wanted, else a change of spelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from eigentoken.proofs.coq.speech import Env, Speech
from eigentoken.proofs.coq.terms import NotExportable
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Binder,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    Implication,
    Negation,
    Proposition,
    canonical,
    put,
)

__all__ = ["Spelling", "built", "parts_of"]

Facts = Mapping[Proposition, str]


def parts_of(said: Proposition, term: str) -> dict[Proposition, str]:
    """A proved proposition and its conjuncts (canonical), each with a term of Coq that proves it."""
    whole = canonical(said)
    found = {whole: term}
    if isinstance(whole, Conjunction):
        rest = term
        for part in whole.parts[:-1]:
            found.setdefault(part, f"(proj1 {rest})")
            rest = f"(proj2 {rest})"
        if whole.parts:
            found.setdefault(whole.parts[-1], rest)
    return found


def built(said: Proposition, facts: Facts) -> str:
    """A term that proves the proposition, from what is known of its parts."""
    wanted = canonical(said)
    if wanted in facts:
        return facts[wanted]
    if wanted == canonical(TRUE):
        return "I"
    if isinstance(wanted, Conjunction):
        terms = [built(each, facts) for each in wanted.parts]
        text = terms[-1]
        for each in reversed(terms[:-1]):
            text = f"(conj {each} {text})"
        return text
    raise NotExportable(f"no premise gives {said!r:.200}")


class Spelling(NamedTuple):
    """How the letters of a proposition are spelt: replaced in the kernel (``put_in``), and in Coq (``env``)."""

    put_in: Mapping[Any, Any]
    env: Env

    def of(self, said: Proposition) -> Proposition:
        return canonical(put(said, self.put_in))

    def with_letter(self, letter: Any, other: Any, text: str) -> Spelling:
        table = {key: value for key, value in self.put_in.items() if key != letter}
        return Spelling({**table, letter: other}, {**self.env, other: text})


@dataclass
class Carrier:
    """Makes, from ``H : [[P]]`` in one spelling, a script that proves ``[[P]]`` in another."""

    speech: Speech
    fresh: Iterator[int] = field(default_factory=count)

    def name(self, stem: str) -> str:
        return f"{stem}{next(self.fresh)}_"

    def text(self, said: Proposition, spelling: Spelling) -> str:
        return self.speech.text(spelling.of(said), spelling.env)

    def carry(self, said: Proposition, source: Spelling, target: Spelling, proof: str) -> str:
        if self.text(said, source) == self.text(said, target):
            return f"exact {proof}."
        if isinstance(said, Conjunction):
            return self._conjunction(said, source, target, proof)
        if isinstance(said, Disjunction):
            return self._disjunction(said, source, target, proof)
        if isinstance(said, Implication):
            name = self.name("given")
            inner = self.step(said.left, target, source, name)
            return f"intro {name}. {inner[1]} {self.then(said.right, source, target, f'({proof} {inner[0]})')}"
        if isinstance(said, Equivalence):
            return self._equivalence(said, source, target, proof)
        if isinstance(said, Negation):
            name = self.name("given")
            inner = self.step(said.part, target, source, name)
            return f"intro {name}. {inner[1]} exact ({proof} {inner[0]})."
        if isinstance(said, Binder):
            change = self._exists if isinstance(said, Exists) else self._for_all
            return change(said, source, target, proof)
        if isinstance(said, Atom):
            name = self.name("atom")
            return f"assert ({name} := {proof}). same_atom {name}."
        raise NotExportable(f"{type(said).__name__} in another spelling")

    def step(self, said: Proposition, source: Spelling, target: Spelling, proof: str) -> tuple[str, str]:
        """A name for what is proved in the other spelling, and the script that makes it."""
        name = self.name("here")
        script = self.carry(said, source, target, proof)
        return name, f"assert ({name} : {self.text(said, target)}). {{ {script} }}"

    def then(self, said: Proposition, source: Spelling, target: Spelling, proof: str) -> str:
        name = self.name("then")
        return f"assert ({name} := {proof}). {self.carry(said, source, target, name)}"

    def _conjunction(self, said: Conjunction, source: Spelling, target: Spelling, proof: str) -> str:
        known = parts_of(source.of(said), proof)
        lines: list[str] = []
        facts: dict[Proposition, str] = {}
        for part in said.parts:
            name, script = self.step(part, source, target, built(source.of(part), known))
            lines.append(script)
            facts |= parts_of(target.of(part), name)
        return " ".join([*lines, f"exact {built(target.of(said), facts)}."])

    def _disjunction(self, said: Disjunction, source: Spelling, target: Spelling, proof: str) -> str:
        alternatives = _disjuncts(source.of(said))
        lines, names = [], [self.name("case") for _ in alternatives]
        for each, name in zip(alternatives, names, strict=True):
            part = next(one for one in said.parts if each in _disjuncts(source.of(one)))
            inner, whole = self.name("inner"), source.of(part)
            opening = f"assert ({inner} : {self.speech.text(whole, source.env)}). {{ {injected(each, whole, name)} }}"
            made, script = self.step(part, source, target, inner)
            lines.append(f"{{ {opening} {script} {injected(target.of(part), target.of(said), made)} }}")
        return f"destruct {proof} as {_pattern(names)}. " + " ".join(lines)

    def _equivalence(self, said: Equivalence, source: Spelling, target: Spelling, proof: str) -> str:
        lines = []
        terms = {}
        for left, right in ((said.left, said.right), (said.right, said.left)):
            way = Implication(left, right)
            name, script = self.step(way, source, target, one_way(source.of(said), source.of(left), proof))
            lines.append(script)
            terms[target.of(left)] = name
        whole = target.of(said)
        return " ".join([*lines, f"exact (conj {terms[whole.left]} {terms[whole.right]})."])

    def _binders(self, said: Binder, source: Spelling, target: Spelling, variable: str) -> tuple[Any, Any, Any, Any]:
        """The canonical binders of both spellings, and the spellings inside."""
        one, other = source.of(said), target.of(said)
        inside = source.with_letter(said.letter, one.letter, variable)
        outside = target.with_letter(said.letter, other.letter, variable)
        return one, other, inside, outside

    def _for_all(self, said: Binder, source: Spelling, target: Spelling, proof: str) -> str:
        variable = self.name("v")
        _, other, inside, outside = self._binders(said, source, target, variable)
        facts = [self.name("sort") for _ in self.speech.facts(other.letter)]
        text = f"intros {' '.join([variable, *facts])}. "
        applied = " ".join([proof, variable, *facts])
        if said.guard != TRUE:
            guard = self.name("guard")
            name, script = self.step(said.guard, outside, inside, guard)
            text += f"intro {guard}. {script} "
            applied += f" {name}"
        return text + self.then(said.body, inside, outside, f"({applied})")

    def _exists(self, said: Binder, source: Spelling, target: Spelling, proof: str) -> str:
        variable, body = self.name("v"), self.name("body")
        _, other, inside, outside = self._binders(said, source, target, variable)
        facts = [self.name("sort") for _ in self.speech.facts(other.letter)]
        guards = [self.name("guard")] if said.guard != TRUE else []
        pattern = (
            "["
            + variable
            + "".join(f" [{each}" for each in (*facts, *guards))
            + f" {body}"
            + "]" * (1 + len(facts) + len(guards))
        )
        lines = [f"destruct {proof} as {pattern}. exists {variable}."]
        proofs = list(facts)
        for name in guards:
            made, script = self.step(said.guard, inside, outside, name)
            lines.append(script)
            proofs.append(made)
        made, script = self.step(said.body, inside, outside, body)
        term = made
        for each in reversed(proofs):
            term = f"(conj {each} {term})"
        return " ".join([*lines, script, f"exact {term}."])


def one_way(both: Proposition, left: Proposition, proof: str) -> str:
    """The direction of an equivalence (canonical) that starts from ``left``."""
    whole = canonical(both)
    return f"({'proj1' if whole.left == canonical(left) else 'proj2'} {proof})"


def _disjuncts(said: Proposition) -> tuple[Proposition, ...]:
    return said.parts if isinstance(said, Disjunction) else (said,)


def _pattern(names: list[str]) -> str:
    text = names[-1]
    for each in reversed(names[:-1]):
        text = f"[{each}|{text}]"
    return text if len(names) > 1 else f"{text}"


def injected(part: Proposition, whole: Proposition, proof: str) -> str:
    """The script that gives a disjunction from one of its parts."""
    if part == whole:
        return f"exact {proof}."
    alternatives = _disjuncts(whole)
    if part not in alternatives:
        inner = _disjuncts(part)
        if len(inner) < 2 or not set(inner) <= set(alternatives):
            return f"assert (inject_ := {proof}). clear - inject_. tauto."
        names = [f"inject{number}_" for number, _ in enumerate(inner)]
        cases = (injected(each, whole, name) for each, name in zip(inner, names, strict=True))
        return f"destruct {proof} as {_pattern(names)}. " + " ".join(f"{{ {each} }}" for each in cases)
    place = alternatives.index(part)
    moves = "right; " * place + ("left; " if place < len(alternatives) - 1 else "")
    return f"{moves}exact {proof}."
