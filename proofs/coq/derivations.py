"""A derivation of the kernel, whole, as one file of Coq: every step a lemma, the statement its theorem.

A step ``H |- P`` is the lemma ``forall letters, H -> P``; its proof is made of the lemmas of its premises by the tactic of its
rule.  What no rule here proves (textbook theorems, results of the linearization engine, facts about eigenvalues) stands as a
hypothesis of the theorem, for exactly the instance that is used: ``premises -> conclusion``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from eigentoken.proofs.coq import rules
from eigentoken.proofs.coq.quantities import arities_of, of_a_map
from eigentoken.proofs.coq.scalar_steps import ScalarStep
from eigentoken.proofs.coq.speech import Speech
from eigentoken.proofs.coq.terms import NotExportable
from eigentoken.theory.calculus import SLOT, TOKENS, Assumptions, Index, normal_form, vector
from eigentoken.theory.calculus import matrix as calculus_matrix
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.logic import tied
from eigentoken.theory.kernel.propositions import (
    TRUE,
    ForAll,
    Implication,
    Proposition,
    bound_letters,
    canonical,
    conjuncts,
    free_letters,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.structure import equation_of
from eigentoken.theory.kernel.tensors import STATE, VectorLetter
from eigentoken.theory.language.terms import alpha, d, matrix, n
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.systems.system import Space

__all__ = ["Assumed", "WholeDerivation", "derivation"]

HEADS = sp.Symbol("H", integer=True, positive=True)


@dataclass(frozen=True)
class Assumed:
    """A hypothesis of the theorem beyond the conditions: the rule, what it says in Coq and in words."""

    name: str
    rule: str
    statement: str
    told: str


@dataclass
class WholeDerivation:
    """The parts of the file: what is declared, what is assumed, the scalar lemmas, the steps, the theorem."""

    theorem: str
    speech: Speech
    variables: list[tuple[str, str]] = field(default_factory=list)
    sorts: list[tuple[str, str]] = field(default_factory=list)
    assumed: list[Assumed] = field(default_factory=list)
    scalars: list[ScalarStep] = field(default_factory=list)
    steps: list[tuple[str, str, str]] = field(default_factory=list)
    claim_text: str = ""
    last: str = ""
    proved: int = 0
    claims: int = 0
    given: int = 0
    "Claims that an assumed step says outright (a spectrum of the engine, beside the claims that use it)."


_INVERSE = Assumed(
    "assumed_inverse",
    "what an inverse is",
    "forall M : mat, Nonsingular d M -> equal_mat d (mat_product d (inverse M) M) mat_identity",
    "B⁻¹ B = I for a nonsingular matrix B",
)


def derivation(name: str, root: Proved) -> WholeDerivation:
    """The file of a ``Proved``, or :class:`NotExportable` with what has no translation."""
    return _Walk(name, root).walk()


class _Walk:
    """Goes through the tree, premises first."""

    def __init__(self, name: str, root: Proved) -> None:
        self.root, self.nodes = root, _distinct(root)
        said = [each for node in self.nodes for each in (node.proposition, *node.hypotheses)]
        bound = {node.proposition.letter for node in self.nodes if node.rule == "generalise"}
        bound |= {node.premises[0].proposition.letter for node in self.nodes if node.rule == "exists_elimination"}
        shown = frozenset().union(*map(free_letters, (root.proposition, *root.hypotheses)))
        numbers = {each for each in shown - bound if isinstance(each, sp.Symbol | sp.MatrixSymbol)}
        numbers |= set() if _of_every_state(self.nodes) else {VectorLetter(STATE)}
        speech = Speech(arities_of(said), frozenset(numbers | {n, d, HEADS}))
        speech.state = _state(root, speech)
        if of_a_map(said):
            speech.raw = _raw_step(root, speech)
            defined = " ".join(speech.raw[0].format(x="{x}", i="i") for _ in range(2))
            speech.state += (f"(forall i, within n i -> 0 < dot d {defined})",)
        self.made = WholeDerivation(name, speech)
        self.speech = speech
        self.lemmas: dict[int, rules.StepLemma] = {}

    def walk(self) -> WholeDerivation:
        for number, node in enumerate(self.nodes):
            self.lemmas[id(node)] = self._step(node, number)
        self._refuse_empty()
        if "inverse" in self.speech.functions:
            self.made.assumed.insert(0, _INVERSE)
        made, speech = self.made, self.speech
        last = self.lemmas[id(self.root)]
        made.last, made.claim_text = last.name, last.statement
        fixed = sorted(self.used | {n, d}, key=lambda each: (not isinstance(each, sp.Symbol), str(each)))
        made.variables = [(speech.name(each), speech.sort(each)) for each in fixed]
        made.sorts = [(f"is_{speech.name(each)}", fact) for each in fixed for fact in speech.facts(each)]
        made.variables += list(speech.functions.items())
        return made

    @property
    def used(self) -> set[Any]:
        """The fixed letters that occur."""
        found = {
            each for node in self.nodes for said in (node.proposition, *node.hypotheses) for each in free_letters(said)
        }
        heads = {HEADS} if self.speech.heads else set()
        return {each for each in found if each in self.speech.rigid} | heads

    def _step(self, node: Proved, number: int) -> rules.StepLemma:
        known = [self.lemmas[id(each)] for each in node.premises]
        lemma = rules.lemma_of(f"step_{number}", node, self.speech, known)
        if node.rule in rules.ASSUMED:
            self._assume(node, lemma, known, number)
            return lemma
        script, scalar = rules.script_of(node, lemma, known, self.speech, number)
        if scalar is not None:
            self.made.scalars.append(scalar)
        self.made.steps.append((lemma.name, lemma.statement, script))
        self.made.proved += 1
        return lemma

    def _assume(self, node: Proved, lemma: rules.StepLemma, known: list[rules.StepLemma], number: int) -> None:
        """The instance of the rule: what its premises say, and what it asks for itself, give its conclusion."""
        self._refuse_hidden(node)
        name = f"assumed_{number}"
        statement, script = rules.assumed_step(name, node, lemma, known, self.speech)
        same = next((each for each in self.made.assumed if each.statement == statement), None)
        if same is None:
            told = plain_text(latex(node.proposition))
            cited = node.detail[0].name if node.rule == "textbook" else node.rule.replace("_", " ")
            same = Assumed(name, cited, statement, told)
            self.made.assumed.append(same)
        self.made.steps.append((lemma.name, lemma.statement, script.replace(name, same.name)))

    def _refuse_hidden(self, node: Proved) -> None:
        """A word that depends on a letter without showing it must not be assumed for all values of that letter."""
        said = [*node.hypotheses, node.proposition, *(each.proposition for each in node.premises)]
        hidden = frozenset().union(*(tied(each, node.system) for each in said))
        for letter in frozenset().union(*map(free_letters, said)) - self.speech.rigid:
            if not isinstance(letter, Index | VectorLetter) and letter.name in hidden:
                raise NotExportable(f"{node.rule} speaks of {letter.name} without showing it")

    def _refuse_empty(self) -> None:
        """What is claimed may not be what assumed steps say on the ground of nothing that is proved here."""
        worked: dict[int, bool] = {}
        for node in self.nodes:
            own = node.rule not in rules.ASSUMED and node.rule not in rules.LOGIC
            below = any(worked[id(each)] for each in node.premises)
            worked[id(node)] = own or (below and (node.rule in rules.LOGIC or node.rule in rules.CONCLUDING))
        bare = {_core(node.proposition) for node in self.nodes if node.rule in rules.ASSUMED and not worked[id(node)]}
        claims = conjuncts(self.root.proposition)
        if any(_core(canonical(each)) == canonical(TRUE) for each in claims):
            raise NotExportable("a claim is an equation of one term with itself: it says nothing in Coq")
        left = [each for each in claims if _core(each) not in bare]
        self.made.claims, self.made.given = len(claims), len(claims) - len(left)
        if not left:
            raise NotExportable("what is claimed is assumed, not proved: " + plain_text(latex(self.root.proposition)))


def _core(said: Proposition) -> Proposition:
    """What is said under guards and conditions."""
    while isinstance(said, ForAll | Implication):
        said = said.body if isinstance(said, ForAll) else said.right
    return canonical(said)


def _distinct(root: Proved) -> list[Proved]:
    return list(root.tree())


def _of_every_state(nodes: list[Proved]) -> bool:
    """Is something concluded from what holds at every state?  Else the theorem is about one state, any one."""
    return any(
        node.rule in rules.EVERY_STATE or VectorLetter(STATE) in bound_letters(node.proposition) for node in nodes
    )


def _state(root: Proved, speech: Speech) -> tuple[str, ...]:
    """What a state of the system is: tokens on the sphere, on an ellipsoid, or any vectors."""
    system = root.system
    if system is None or system.space is Space.EUCLIDEAN:
        return ()
    if system.space is Space.SPHERE:
        return ("(forall i, within n i -> dot d ({x} i) ({x} i) = 1)",)
    if system.metric:
        name = speech.name(matrix(system.metric))
        return ("(forall i, within n i -> dot d ({x} i) (image d " + name + " ({x} i)) = 1)",)
    return ("(State {x})",)


def _raw_step(root: Proved, speech: Speech) -> tuple[str, str]:
    """``y_i = x_i + (alpha/n) sum_k V x_k`` and ``r_i = |y_i|``, if these are what the equation of the system defines.

    A state is then one where the map is defined: ``y_i`` is not zero.
    """
    rules = equation_of(root.system).assumptions if root.system is not None else Assumptions()
    k = Index("token", "k")
    pushed = vector("x", SLOT) + vector("x", k).applied(calculus_matrix("V")).summed(k) * (alpha / TOKENS)
    if set(rules.definitions) != {"y"} or rules.norms != {"r": ("y", ())}:
        raise NotExportable("the equation of the map, with y and r, has no form in Coq here")
    if normal_form(rules.definitions["y"] - pushed, Assumptions()).terms or not {alpha, matrix("V")} <= speech.rigid:
        raise NotExportable("the equation of the map, with y and r, has no form in Coq here")
    given = f"n d {speech.name(matrix('V'))} {speech.name(alpha)} {{x}} {{i}}"
    return f"(pushed {given})", f"(pushed_norm {given})"
