"""Whole derivations in Coq: what is translated is what the kernel says, and nothing else than a proof is accepted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.coq import formal
from eigentoken.proofs.coq.derivations import WholeDerivation, derivation
from eigentoken.proofs.coq.quantities import Arities
from eigentoken.proofs.coq.speech import Speech
from eigentoken.proofs.coq.terms import NotExportable
from eigentoken.proofs.coq.whole import statement_text, whole_text
from eigentoken.theory.calculus import Index, one
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    Conjunction,
    Exists,
    ForAll,
    Implication,
    Negation,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system

x, y = sp.symbols("x y", real=True)
a = sp.Symbol("a", positive=True)
m = sp.Symbol("m", integer=True, positive=True)


def said(what: Any) -> str:
    return Speech(Arities(), frozenset({x, y, a, m})).said(proposition(what))


def test_a_relation_says_that_its_terms_are_defined() -> None:
    assert said(1 / x > 0) == r"(0 < (1 / x) /\ 0 <> x)"
    assert said(Negation(proposition(1 / x > 0))) == r"(~ (0 < (1 / x) /\ 0 <> x))"
    assert said(sp.sqrt(y) > 1) == r"(1 < (sqrt y) /\ 0 <= y)"


def test_letters_have_their_sorts() -> None:
    assert said(ForAll(a, proposition(a < 1), proposition(a**2 < 1))).count("0 < b") == 1
    assert said(ForAll(m, proposition(m >= 2), proposition(m >= 1))).startswith("(forall b0_ : Z, (1 <= b0_)%Z -> ")
    assert said(Exists(a, proposition(a < 1), proposition(a < 2))).startswith("(exists b0_ : R, 0 < b0_ /\\ ")
    with pytest.raises(NotExportable, match="not known to be real"):
        said(ForAll(sp.Symbol("z"), proposition(x > 0), proposition(sp.Eq(sp.Symbol("z"), 1))))


@pytest.mark.parametrize("name", ["CT-1", "CT-5"])
def test_what_is_assumed_is_no_theorem(name: str) -> None:
    (proved, *_) = statements().get(name).proofs.values()
    with pytest.raises(NotExportable, match="assumed, not proved"):
        derivation("it", proved)


def test_a_claim_that_says_nothing_is_refused() -> None:
    kernel = Kernel(system("ellipsoid-map"), ())
    proved = kernel.generalise(Index("token", "i"), kernel.reduction(one() * 2, one() * 2))
    with pytest.raises(NotExportable, match="says nothing"):
        derivation("it", proved)


def test_a_hypothesis_that_is_a_conjunction_stays_whole() -> None:
    text = written(made_of("AB-L4.1"))
    (stated,) = [line for line in text.splitlines() if line.startswith("Hypothesis assumed_4 :")]
    assert stated.startswith("Hypothesis assumed_4 : Given ((0 <= (head_norm P)) /\\ ")
    assert text.count("Hypothesis assumed_12 : Symmetric d W -> ") == 1


def test_the_hypotheses_stand_in_the_theorem() -> None:
    made = made_of("PM-L4")
    text = statement_text(made)
    assert (made.proved, len(made.assumed), made.given) == (63, 6, 0)
    assert all(each.statement in text for each in made.assumed)
    assert [each.rule for each in made.assumed if each.statement.endswith("SpectrumIs_1")] == ["spectrum"]


def test_the_map_is_written_out() -> None:
    """PM-L7: y and r are defined in the library, and a state is one where the map is defined."""
    made = made_of("PM-L7")
    text = statement_text(made)
    assert (made.claims, made.given, made.proved) == (3, 0, 202)
    assert [each.rule for each in made.assumed].count("increment") == 2
    assert "(forall i, within n i -> 0 < dot d (pushed n d V alpha x i) (pushed n d V alpha x i))" in text
    assert "(forall b0__ : nat -> vec, " in made.claim_text  # a family of vectors, one for each token
    assert re.findall(r"quantity_\d+ : .*", text) == [
        "quantity_1 : (nat -> vec) -> R)",
        "quantity_19 : (nat) -> (vec) -> (nat -> vec) -> R)",
    ]


def test_another_map_is_not_taken_for_this_one() -> None:
    (root,) = statements().get("PM-L7").proofs.values()
    for name in ("attention-map", "multihead-map", None):
        other = changed(root, lambda node, values, here=name: {**values, "system": system(here) if here else None})
        with pytest.raises(NotExportable, match="equation of the map"):
            derivation("it", other)


def test_axioms_are_read_from_what_coq_prints() -> None:
    printed = "Axioms:\nA.sig_forall_dec : forall P, P\nB.classic\n  : forall P : Prop, P \\/ ~ P\n"
    assert formal.axioms_of(printed) == ("A.sig_forall_dec", "B.classic")
    assert formal.axioms_of("Closed under the global context") == ()
    assert formal.axioms_of("") == ("an answer that is not understood",)


def test_without_coq_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="coqc and coqchk are needed"), formal.toolbox():
        pass


def made_of(name: str) -> WholeDerivation:
    (proved, *_) = statements().get(name).proofs.values()
    return derivation("it", proved)


def written(made: WholeDerivation) -> str:
    scripts, missing = formal.scripts_for(made)
    assert not missing
    return whole_text(made, scripts)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with formal.toolbox() as found:
        yield found


@pytest.mark.needs_coq
def test_a_derivation_is_accepted_whole(folder: Path) -> None:
    found = formal.check(statements().get("PM-A1"), folder)
    assert [each.theorem for each in found] == ["PM_A1_oja_map", "PM_A1_attention_map"]
    for each in found:
        assert each.accepted, each.refused
        assert set(each.axioms) <= formal.ALLOWED
        assert each.proved + len(each.assumed) == len(list(statements().get("PM-A1").proofs[each.system].tree()))


@pytest.mark.needs_coq
def test_forged_files_are_refused(folder: Path) -> None:
    made = made_of("PM-A1")
    text, statement = written(made), statement_text(made)
    assert not formal.checked(folder, "it", text, statement).refused
    last = text.rindex("Proof. exact whole. Qed.")
    forged = {
        "Admitted": text[:last] + "Admitted.\n",
        "Axiom": "Axiom wrong : False.\n" + text[:last] + "Proof. destruct wrong. Qed.\n",
        "no axiom of the reals": "Section S. End S. Hypothesis wrong : False.\n"
        + text[:last]
        + "Proof. destruct wrong. Qed.\n",
        "not the statement": "Theorem it : True. Proof. exact I. Qed.\n",
        "coqc": text.replace("exact (conj", "exact (proj1", 1),
    }
    for reason, forgery in forged.items():
        assert forgery != text
        assert reason in formal.checked(folder, "it", forgery, statement).refused, reason
    renamed = "Definition Symmetric (d : Z) (M : mat) := True.\n" + text
    assert formal.checked(folder, "it", renamed, statement).refused


def changed(node: Proved, change: Any) -> Proved:
    """The tree with every step changed as told: a forgery, which only a test makes."""
    made: dict[int, Proved] = {}
    for each in node.tree():
        values = {key: getattr(each, key) for key in Proved.__dataclass_fields__}
        values["premises"] = tuple(made[id(one)] for one in each.premises)
        forged = object.__new__(Proved)
        for key, value in change(each, values).items():
            object.__setattr__(forged, key, value)
        made[id(each)] = forged
    return made[id(node)]


def _flipped(said: Proposition) -> Proposition:
    """The conclusion of the last implication, turned round."""
    if isinstance(said, Conjunction):
        return Conjunction((*said.parts[:-1], _flipped(said.parts[-1])))
    return Implication(said.left, _flipped(said.right)) if isinstance(said, Implication) else Negation(said)


def _flip_claim(node: Proved, values: dict[str, Any]) -> dict[str, Any]:
    whole = node.rule == "conjunction" and any(isinstance(each, Implication) for each in node.proposition.parts[-1:])
    return {**values, "proposition": _flipped(node.proposition)} if whole else values


def _drop_hypothesis(node: Proved, values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "hypotheses": node.hypotheses[1:]} if node.rule == "modus_ponens" else values


def _other_guard(node: Proved, values: dict[str, Any]) -> dict[str, Any]:
    if node.rule != "generalise":
        return values
    said = node.proposition
    return {**values, "proposition": ForAll(said.letter, Conjunction(said.guard.parts[1:]), said.body)}


def _flip_arithmetic(node: Proved, values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "proposition": Negation(node.proposition)} if node.rule == "arithmetic" else values


@pytest.mark.needs_coq
@pytest.mark.parametrize("change", [_flip_claim, _drop_hypothesis, _other_guard, _flip_arithmetic])
def test_a_changed_tree_is_refused(change: Any, folder: Path) -> None:
    (proved,) = statements().get("PM-L4").proofs.values()
    kept, _ = formal.scripts_for(derivation("it", proved))
    try:
        made = derivation("it", changed(proved, change))
    except NotExportable:  # a premise does not give what the step needs
        return
    scripts = {lemma.statement: next(iter(kept.values())) for step in made.scalars for lemma in step.lemmas} | kept
    answer = formal.checked(folder, "it", whole_text(made, scripts), statement_text(made))
    assert answer.refused.startswith("coqc"), answer


CHANGED_THEOREMS: dict[str, Callable[[WholeDerivation], WholeDerivation]] = {
    "a sign": lambda made: replace(
        made, claim_text=made.claim_text.replace("(0 < (eigenvalue V 1", "(0 > (eigenvalue V 1", 1)
    ),
    "a strict order": lambda made: replace(made, claim_text=_last(made.claim_text, " < ", " > ")),
    "a condition": lambda made: replace(made, claim_text=made.claim_text.removeprefix("Symmetric d V -> ")),
    "a guard": lambda made: replace(made, claim_text=_last(made.claim_text, r" /\ ((2 <= b0_)%Z)", "")),
    "an assumption": lambda made: replace(made, assumed=made.assumed[:-1]),
}


def _last(text: str, old: str, new: str) -> str:
    place = text.rindex(old)
    return text[:place] + new + text[place + len(old) :]


@pytest.mark.needs_coq
@pytest.mark.parametrize("what", CHANGED_THEOREMS)
def test_a_changed_theorem_is_refused(what: str, folder: Path) -> None:
    made = made_of("PM-A1")
    other = CHANGED_THEOREMS[what](made)
    assert statement_text(other) != statement_text(made)
    assert formal.checked(folder, "it", written(other), statement_text(other)).refused.startswith("coqc")


def _wrong_last(root: Proved, rule: str) -> Proved:
    """The tree in which the last step of a rule says the contrary."""
    last = [each for each in root.tree() if each.rule == rule][-1]
    return changed(
        root,
        lambda node, values: {**values, "proposition": Negation(node.proposition)} if node is last else values,
    )


LARGE = [
    *(("PM-L7", rule) for rule in ("summed", "congruent", "reduction", "square", "product", "arithmetic", "total")),
    *((name, rule) for name in ("PM-N3", "PM-R10", "CT-3") for rule in ("arithmetic", "instantiate")),
]


@pytest.mark.needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(("name", "rule"), LARGE)
def test_a_wrong_step_is_refused(name: str, rule: str, folder: Path) -> None:
    (proved,) = statements().get(name).proofs.values()
    kept, missing = formal.scripts_for(derivation("it", proved))
    assert not missing
    try:
        made = derivation("it", _wrong_last(proved, rule))
    except NotExportable:  # a premise does not give what the step needs
        return
    scripts = {lemma.statement: next(iter(kept.values())) for step in made.scalars for lemma in step.lemmas} | kept
    answer = formal.checked(folder, "it", whole_text(made, scripts), statement_text(made))
    assert answer.refused.startswith("coqc"), answer


@pytest.mark.needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("number", [9, 17, 19, 43, 44, 107, 122, 190])
def test_a_wrong_coefficient_of_a_sum_is_refused(number: int, folder: Path) -> None:
    """Steps of PM-L7: reductions, squares, sums, a family with a name."""
    made = made_of("PM-L7")
    text = written(made)
    name, statement, _ = made.steps[number]
    assert name == f"step_{number}"
    conclusion = statement.rindex("(x i)) -> ") if "(x i)) -> " in statement else 0
    place = statement.index("(-1)" if number in (9, 122) else "(-2)", conclusion)
    wrong = statement[:place] + "(-3)" + statement[place + 4 :]
    assert text.count(f"Lemma {name} : {statement}.") == 1
    forged = text.replace(f"Lemma {name} : {statement}.", f"Lemma {name} : {wrong}.")
    refused = formal.checked(folder, "it", forged, statement_text(made)).refused
    lines = (formal.HEAD + forged).split("\n")
    (place,) = [index for index, line in enumerate(lines, 1) if line.startswith(f"Lemma {name} : ")]
    assert refused.startswith("coqc")
    assert f"line {place + 1}, " in refused  # that step, no later one


@pytest.mark.needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("name", ["PM-L7", "PM-N3", "PM-R10", "CT-3"])
@pytest.mark.parametrize("what", ["a claim", "a condition", "an assumption"])
def test_a_changed_large_theorem_is_refused(name: str, what: str, folder: Path) -> None:
    made = made_of(name)
    old, new = (" < ", " > ") if name in ("CT-3", "PM-N3") else (" <= ", " >= ")
    other = {
        "a claim": replace(made, claim_text=_last(made.claim_text, old, new)),
        "a condition": replace(made, claim_text=made.claim_text.replace("Symmetric d V -> ", "", 1)),
        "an assumption": replace(made, assumed=made.assumed[:-1]),
    }[what]
    assert statement_text(other) != statement_text(made)
    assert formal.checked(folder, "it", written(other), statement_text(other)).refused.startswith("coqc")


@pytest.mark.needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("name", formal.FORMAL)
def test_every_derivation_is_accepted(name: str, folder: Path) -> None:
    for found in formal.check(statements().get(name), folder):
        assert found.accepted, found.refused
        assert set(found.axioms) <= formal.ALLOWED
