"""Lemmas for Coq from the identities and inequalities of derivations: statement, and a proof script to try.

The statement keeps the form of the book, with every denominator said to be different from zero where the book takes it
for granted (both sides of an identity, hypotheses); that the conclusion of an inequality is defined is proved.  Scripts
only name facts (signs of factors, cleared denominators); every one of them is proved by Coq's own tactics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from math import lcm
from typing import Any

import sympy as sp

from eigentoken.proofs.coq.hints import FACTS_ONLY, HINTS
from eigentoken.proofs.coq.terms import Names, NotExportable, condition, term
from eigentoken.theory.proving.cvc5_inequalities import inequality_by_cvc5
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.steps import Identity, Inequality, Step

__all__ = ["CoqLemma", "lemma_of", "lemmas_of"]

_HYPERBOLIC = (sp.sinh, sp.cosh, sp.tanh)


@dataclass(frozen=True)
class CoqLemma:
    """A lemma: where it comes from, its text, its proof script; or why it has none (``missing``)."""

    name: str
    source: str
    statement: str = ""
    proof: str = ""
    missing: str = ""
    further: Callable[[], list[str]] | None = field(default=None, compare=False, repr=False)
    "More scripts, made only where the first is refused."

    def others(self) -> list[str]:
        return [] if self.further is None else self.further()

    def text(self) -> str:
        return f"(* {self.source} *)\nLemma {self.name} : {self.statement}.\nProof.\n{self.proof}\nQed.\n"


def lemmas_of(told: Statement) -> list[CoqLemma]:
    """One lemma for each identity and inequality of the statement."""
    steps = [
        each for each in (told.derivation.steps if told.derivation else ()) if isinstance(each, Identity | Inequality)
    ]
    return [
        lemma_of(step, f"{_word(told.id)}_{index}_{_word(step.name)}", told.id) for index, step in enumerate(steps, 1)
    ]


def lemma_of(step: Step, name: str, origin: str = "") -> CoqLemma:
    """The lemma of one step."""
    source = f"{origin}, step {step.name!r}: {step.kind}".replace("(*", "( *").replace("*)", "* )")
    try:
        if isinstance(step, Identity):
            return CoqLemma(name, source, *_identity(*step.sides(), HINTS.get((origin, step.name), CLOSING)))
        if isinstance(step, Inequality):
            made = ScalarInequality(step.hypotheses, step.conclusion)
            facts = HINTS.get((origin, step.name))
            if facts is not None:
                first, second = made.by_hand(facts)
                if (origin, step.name) in FACTS_ONLY:
                    first, second = second, first
                return CoqLemma(name, source, made.statement(), first, further=lambda: [second])
            return CoqLemma(name, source, made.statement(), made.script(), further=lambda: [made.script(hints=True)])
    except NotExportable as problem:
        return CoqLemma(name, source, missing=str(problem))
    return CoqLemma(name, source, missing=f"a step of kind {step.kind} is no scalar lemma")


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text.replace("'", "_prime").replace("+", "plus")).strip("_")


def _bare(expressions: Iterable[Any]) -> tuple[dict[Any, Any], list[Any]]:
    """Symbols without stored assumptions, and those assumptions as relations."""
    symbols = sorted(set().union(*(each.free_symbols for each in expressions)), key=str)
    bare = {each: sp.Symbol(each.name, real=True) for each in symbols}
    facts: list[Any] = []
    for old, new in bare.items():
        if old.is_positive:
            facts.append(sp.Ge(new, 1) if old.is_integer else sp.Gt(new, 0))
        elif old.is_nonnegative:
            facts.append(sp.Ge(new, 0))
        elif old.is_negative:
            facts.append(sp.Lt(new, 0))
    return bare, facts


def _check_powers(expressions: Iterable[Any]) -> None:
    """``Rpower b e`` is the power only for a positive base."""
    for each in expressions:
        for node in sp.sympify(each).atoms(sp.Pow):
            if node.exp.free_symbols and not node.base.is_positive:
                raise NotExportable(f"a power of {node.base}, which is not said to be positive")


def _quantified(names: Names, premises: list[str], conclusion: str) -> str:
    variables = f"forall {' '.join(names.all())} : R,\n  " if names.all() else ""
    return variables + "".join(f"({each}) ->\n  " for each in premises) + conclusion


# -- identities ------------------------------------------------------------------------------------------------------


#: The end of the proof of an identity.
CLOSING = "first [reflexivity | ring | (field; nonzero) | (field_simplify_eq; [ring | nonzero])]."


def _identity(left: Any, right: Any, closing: str = CLOSING) -> tuple[str, str]:
    """Statement and script; ``closing`` proves the equation of the letters that stand for roots and exponentials."""
    left, right = (each.replace(lambda e: e.func in _HYPERBOLIC, lambda e: e.rewrite(sp.exp)) for each in (left, right))
    _check_powers([left, right])
    bare, facts = _bare([left, right])
    left, right = left.xreplace(bare), right.xreplace(bare)
    names = Names()
    conclusion = f"{term(left, names)} = {term(right, names)}"
    roots = [each for each in (left - right).atoms(sp.Pow) if each.exp.is_Rational and not each.exp.is_Integer]
    radicands = sorted({each.base for each in roots if not each.base.is_number}, key=str)
    if any(not each.is_Symbol for each in radicands):
        raise NotExportable("the root of an expression")
    nonzero = [f"{term(each, names)} <> 0" for each in _denominator_factors([left, right])]
    positive = [f"{term(each, names)} > 0" for each in radicands]
    premises = [*(condition(each, names) for each in facts), *positive, *nonzero]
    script = ["intros."]
    if nonzero:
        product = " * ".join(f"({each.removesuffix(' <> 0')})" for each in nonzero)
        script.append(f"assert (AllNonzero : {product} <> 0) by nonzero.")
    script += [
        f"assert (Root{i} : {term(each, names)} = (sqrt {term(each, names)}) ^ 2) by (symmetry; apply pow2_sqrt; lra)."
        for i, each in enumerate(radicands)
    ]
    script += [
        f"assert (Pos{i} : sqrt {term(each, names)} > 0) by (apply sqrt_lt_R0; lra)."
        for i, each in enumerate(radicands)
    ]
    script += [
        f"set (r{i} := sqrt {term(each, names)}) in *; clearbody r{i}; subst {term(each, names)}."
        for i, each in enumerate(radicands)
    ]
    exponentials = set().union(*(each.atoms(sp.exp) for each in (left, right, *_denominator_factors([left, right]))))
    script += _exponential_script(exponentials, names)
    script.append(closing.strip())
    return _quantified(names, premises, conclusion), "\n".join(script)


def _exponential_script(nodes: Iterable[Any], names: Names) -> list[str]:
    """Every exponential as a product of powers of ``exp (u / N)``, one generator for each unit u."""
    listed = sorted(nodes, key=str)
    shares = _shares(listed)
    lines = []
    letters = {unit: f"ex{index}" for index, unit in enumerate(shares)}
    for index, node in enumerate(listed):
        product = []
        for share, unit in _parts(node):
            power = int(share * shares[unit])
            generator = f"exp ({term(unit, names)} / {shares[unit]})"
            product.append(f"({generator}) ^ {power}" if power > 0 else f"/ (({generator}) ^ {-power})")
        lines.append(
            f"assert (Ex{index} : exp {term(node.args[0], names)} = {' * '.join(product)}) by exponents. "
            f"try rewrite Ex{index} in *."
        )
    for unit, share in shares.items():
        generator, letter = f"exp ({term(unit, names)} / {share})", letters[unit]
        lines.append(f"pose proof (exp_pos ({term(unit, names)} / {share})) as P{letter}.")
        lines.append(f"set ({letter} := {generator}) in *; clearbody {letter}.")
        lines.append(
            f"try (assert (With{letter} := Rmult_integral_contrapositive_currified _ _ AllNonzero "
            f"(Rgt_not_eq _ _ P{letter})); clear AllNonzero; rename With{letter} into AllNonzero)."
        )
    return lines


def _denominator_factors(expressions: Iterable[Any]) -> list[Any]:
    """The polynomials that must not vanish: irreducible factors of all denominators, also of quotients inside them."""
    found: dict[Any, None] = {}
    for expression in expressions:
        for node in sp.preorder_traversal(sp.sympify(expression)):
            if isinstance(node, sp.Pow) and node.exp.is_negative and not node.base.is_Rational:
                for factor in _factors_of(node.base):
                    found.setdefault(factor)
    return list(found)


def _factors_of(expression: Any) -> list[Any]:
    top, bottom = _fraction(expression)
    factors = []
    for part in (top, bottom):
        content = sp.Mul.make_args(part)
        factors += [each.base if isinstance(each, sp.Pow) and each.exp.is_Integer else each for each in content]
    return [each for each in factors if not each.is_number and not isinstance(each, sp.exp)]


def _fraction(expression: Any) -> tuple[Any, Any]:
    """Numerator and denominator, factored, with exponentials as powers of one generator for each unit."""
    generators: dict[Any, Any] = {}
    shares = _shares(expression.atoms(sp.exp))
    table = {}
    for node in expression.atoms(sp.exp):
        power = sp.Integer(1)
        for share, unit in _parts(node):
            letter = generators.setdefault(unit, sp.Dummy(positive=True))
            power *= letter ** int(share * shares[unit])
        table[node] = power
    back = {letter: sp.exp(unit / shares[unit]) for unit, letter in generators.items()}
    top, bottom = sp.fraction(sp.factor(sp.cancel(sp.together(expression.xreplace(table)))))
    return top.xreplace(back), bottom.xreplace(back)


def _parts(node: Any) -> list[tuple[Any, Any]]:
    return [each.as_coeff_Mul(rational=True) for each in sp.Add.make_args(sp.expand(node.args[0]))]


def _shares(nodes: Iterable[Any]) -> dict[Any, int]:
    """For each unit u the N for which every exponential is a power of ``exp (u / N)``."""
    shares: dict[Any, int] = {}
    for node in sorted(nodes, key=str):
        for share, unit in _parts(node):
            shares[unit] = lcm(shares.get(unit, 1), int(share.q))
    return shares


# -- inequalities ----------------------------------------------------------------------------------------------------


class ScalarInequality:
    """``hypotheses -> conclusion``: the statement, a plain script, and one with more hints."""

    def __init__(self, hypotheses: Iterable[Any], conclusion: Any, *, defined: bool = False) -> None:
        """``defined``: the hypotheses themselves say where their terms are."""
        parts = [part for each in hypotheses for part in _conjuncts(sp.sympify(each))]
        goal = sp.sympify(conclusion)
        _check_powers([*parts, goal])
        bare, facts = _bare([*parts, goal])
        self.given = [*facts, *(each.xreplace(bare) for each in parts if each is not sp.true)]
        self.goal = goal.xreplace(bare)
        self.names = Names()
        self._shown = condition(self.goal, self.names)
        factors = [] if defined else _denominator_factors(self.given)
        nonzero = [f"{term(each, self.names)} <> 0" for each in factors]
        self._premises = [*(condition(each, self.names) for each in self.given), *nonzero]

    def statement(self) -> str:
        return _quantified(self.names, self._premises, self._shown)

    def with_parts(self, given: list[Any], goal: Any) -> ScalarInequality:
        """The same lemma after its hypotheses and its goal were rewritten."""
        made = copy(self)
        made.given, made.goal = given, goal
        return made

    def opening(self) -> str:
        """The introduction of letters and hypotheses."""
        return self._opening()[0]

    def _opening(self) -> tuple[str, list[str]]:
        labels = [f"H{index}" for index in range(len(self._premises))]
        return (f"intros {' '.join([*self.names.all(), *labels])}." if labels or self.names.all() else ""), labels

    def by_hand(self, facts: str) -> tuple[str, str]:
        """Facts by hand (``{0}`` stands for hypothesis 0), closed by linear arithmetic, or by the general script."""
        opening, labels = self._opening()
        start = opening + "\n" + re.sub(r"\{(\d+)\}", lambda found: labels[int(found[1])], facts).strip()
        return (
            f"{start}\nall: first [lra | repeat split; lra].",
            f"{start}\n{self.script().removeprefix(opening).strip()}",
        )

    def script(self, *, hints: bool = False) -> str:
        names = self.names
        opening, labels = self._opening()
        script = [opening]
        signs = list(_signs(self.given, self.goal, names, everything=hints))
        script += [each.script for each in signs if each.denominator]
        script += [
            line for label, each in zip(labels, self.given, strict=False) for line in _cleared(label, each, names)
        ]
        script += _exponential_facts([*self.given, self.goal], names)
        script += [each.script for each in signs if not each.denominator]
        splits = "".join(f"by_signs {term(each, names)}; " for each in self._undetermined()) if hints else ""
        script.append(_goal_script(self.goal, names, splits))
        return "\n".join(line for line in script if line)

    def _undetermined(self) -> list[Any]:
        """At most three parts whose sign no hypothesis says outright: a proof by cases may need them."""
        said = {each.lhs for each in self.given if each.is_Relational and each.rhs.is_number and each.lhs.is_Symbol}
        said |= {each.rhs for each in self.given if each.is_Relational and each.lhs.is_number and each.rhs.is_Symbol}
        strict = [
            each
            for each in self.given
            if each.is_Relational and {each.lhs, each.rhs} & said and 0 in (each.lhs, each.rhs)
        ]
        known = {side for each in strict for side in (each.lhs, each.rhs)}
        ends = [each for each in _relations_of(self.goal) if each.is_Relational]
        factors = [factor for each in ends for factor in _factors_of(each.lhs - each.rhs)]
        symbols = sorted(set().union(*(each.free_symbols for each in (*self.given, self.goal))), key=str)
        return [
            each for each in dict.fromkeys([*(f for f in factors if len(str(f)) < 40), *symbols]) if each not in known
        ][:3]


def _conjuncts(statement: Any) -> list[Any]:
    return (
        [each for part in statement.args for each in _conjuncts(part)] if isinstance(statement, sp.And) else [statement]
    )


def _has_quotient(relation: Any) -> bool:
    return any(isinstance(each, sp.Pow) and each.exp.is_negative for each in sp.preorder_traversal(relation))


def _quotient(relation: Any) -> tuple[str, Any, Any, Any, Any]:
    """The rule's name, and l, r, n, d with ``l - r = n / d`` (a relation ``<`` is read from right to left)."""
    rule = {sp.Equality: "eq", sp.Unequality: "ne"}.get(relation.func)
    left, right = relation.lhs, relation.rhs
    if rule is None:
        rule = "gt" if isinstance(relation, sp.StrictGreaterThan | sp.StrictLessThan) else "ge"
        if isinstance(relation, sp.StrictLessThan | sp.LessThan):
            left, right = right, left
            rule = "le" if rule == "ge" else rule
    top, bottom = _fraction(left - right)
    return rule, left, right, top, bottom


def _cleared(label: str, relation: Any, names: Names) -> Iterator[str]:
    """A hypothesis with quotients, without them."""
    if not relation.is_Relational or not _has_quotient(relation):
        return
    rule, left, right, top, bottom = _quotient(relation)
    parts = " ".join(f"({term(each, names)})" for each in (left, right, top, bottom))
    yield f"assert (K{label} := quot_{rule}_inv {parts} ltac:(field; nonzero) ltac:(nonzero) {label})."


@dataclass(frozen=True)
class _Sign:
    script: str
    denominator: bool


def _signs(given: list[Any], goal: Any, names: Names, *, everything: bool = False) -> Iterator[_Sign]:
    """Signs of the factors that occur, where cvc5 finds that the hypotheses fix them; Coq proves each anew."""
    every = [each for each in (*given, *_relations_of(goal)) if each.is_Relational]
    relations = [each for each in every if everything or _has_quotient(each)]
    below = _denominator_factors(relations)
    above = [factor for each in relations for factor in _factors_of(each.lhs - each.rhs)]
    if everything:
        above += [factor for each in every for side in (each.lhs, each.rhs) for factor in _factors_of(side)]
        symbols = sorted(set().union(*(each.free_symbols for each in every)), key=str)
        if len(symbols) <= 6:
            above += [one * two for index, one in enumerate(symbols) for two in symbols[:index]]
    for index, factor in enumerate(dict.fromkeys([*below, *above])):
        for sign, relation in zip((">", "<", ">=", "<="), _four(factor), strict=True):
            if inequality_by_cvc5(given, relation, seconds=2).is_holds:
                text = f"try (assert (S{index} : {term(factor, names)} {sign} 0) by polynomial)."
                yield _Sign(text, factor in below)
                break


def _four(factor: Any) -> tuple[Any, Any, Any, Any]:
    return sp.Gt(factor, 0), sp.Lt(factor, 0), sp.Ge(factor, 0), sp.Le(factor, 0)


def _relations_of(goal: Any) -> list[Any]:
    return [each for each in sp.preorder_traversal(goal) if getattr(each, "is_Relational", False)]


def _exponential_facts(statements: list[Any], names: Names) -> list[str]:
    """Theorems about exp: it is positive, above its tangent, and increasing (compared with 0 and in pairs)."""
    arguments = sorted({each.args[0] for part in statements for each in part.atoms(sp.exp)}, key=str)
    shown = [term(each, names) for each in arguments]
    parts = [f"pose proof (exp_pos {u}); pose proof (exp_ineq1_le {u})" for u in shown]
    pairs = [("0", u) for u in shown] + [(v, u) for index, u in enumerate(shown) for v in shown[:index]]
    for number, (one, two) in enumerate(pairs[:4]):
        t = f"T{number}"
        parts.append(
            f"(destruct (Rtotal_order {one} {two}) as [{t}|[{t}|{t}]]; [pose proof (exp_rising {one} {two} {t}) "
            f"| pose proof (f_equal exp {t}) | pose proof (exp_rising {two} {one} {t})])"
        )
    return ["; ".join([*parts, "rewrite ?exp_0 in *"]) + "."] if parts else []


def _goal_script(goal: Any, names: Names, splits: str = "") -> str:
    if goal is sp.false:
        return f"all: exfalso; {splits}cases; polynomial."
    if isinstance(goal, sp.And):
        parts = _in_coq_order(goal)
        return (
            "\n".join(
                f"assert (G{i} : {condition(part, names)}). {{ {_goal_script(part, names, splits)} }}"
                for i, part in enumerate(parts)
            )
            + "\nall: repeat split; assumption."
        )
    if isinstance(goal, sp.Implies):
        return f"intro; hypotheses. {_goal_script(goal.args[1], names, splits)}"
    if goal.is_Relational and _has_quotient(goal):
        rule, left, right, top, bottom = _quotient(goal)
        quotient = " ".join(f"({term(each, names)})" for each in (left, right, top, bottom))
        return f"apply (quot_{rule} {quotient}); [field; nonzero | nonzero | {splits}cases; polynomial]."
    return f"all: {splits}cases; polynomial."


def _in_coq_order(goal: Any) -> list[Any]:
    return [each for part in goal.args for each in (_in_coq_order(part) if isinstance(part, sp.And) else [part])]
