"""The derivation of a statement that the kernel proves, read off the tree of its proof.

Steps of pure logic (instantiating, discharging, taking parts) are folded into the steps that they serve.  Each step is printed
with what it assumes beyond the conditions of the statement, and with the steps that it rests on: nothing is written by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import sympy as sp

from eigentoken.proofs.bibliography import parse
from eigentoken.proofs.typeset.abbreviations import (
    WIDE,
    abbreviations,
    claim_letters,
    clashing,
    defined,
    one_head,
    relettered,
    shortened,
)
from eigentoken.theory.calculus import MaskEntry
from eigentoken.theory.kernel.closed import compared
from eigentoken.theory.kernel.formulas import SIGNS, latex, parts_latex
from eigentoken.theory.kernel.kernel import STANDING
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    Conjunction,
    Proposition,
    canonical,
    conjuncts,
    proposition,
    quantities,
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Opposite, Rate, Slope, bases_of, is_defined
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Time

__all__ = ["KernelDerivation", "KernelStep", "kernel_steps", "notation"]

#: How a step is known, by rule.  Rules that are not listed are logic, and are folded.
HOW = {
    "spectrum": "the spectrum, derived from the equation of the system",
    "equilibrium": "derived from the equation of the system",
    "antipodal_rest": "derived from the equation of the system",
    "two_cycle": "derived from the equation of the system",
    "respelled": "the same spectrum in other formulas",
    "linear_stability": "linear stability, read off the spectrum",
    "linear_instability": "linear instability, read off the spectrum",
    "stability_of_any": "from the spectrum, whose eigenvalues may be complex",
    "modulus": "a real part is at most the modulus",
    "real_parts_below": "the first eigenvalue is simple",
    "positive": "a sum of positive numbers",
    "increment": "from the equation of the system",
    "slope": "differentiated, from the equation of the system",
    "opposite": "at the opposite state, from the equation of the system",
    "same_state": "a function of the state, with weights that do not depend on time",
    "reduction": "expanded and compared, for every number of tokens and dimension",
    "identity": "expanded and compared",
    "arithmetic": "real arithmetic",
    "summed": "summed over the tokens",
    "square": "a sum of squares",
    "cases": "in every case",
    "induction": "by induction",
    "same_token": "only a token itself is neither before nor after it",
    "first_token": "there is a first token",
    "falling_weights": "powers of one number, in the order of the tokens",
    "token_induction": "by induction over the tokens, in their order",
    "almost_every_token": "finitely many sets of measure zero",
    "latest": "the latest of finitely many times",
    "first_exit": "by the first time at which it could fail",
    "dissipates": "the quantity falls at least as fast as the squared speed",
    "monotone": "by the sign of the rate",
    "meaning": "by definition",
    "half_space": "by definition, for a simple top eigenvalue",
    "as_form": "definiteness, by the quadratic form",
    "invertible": "the inverse in a condition exists",
    "velocity_at": "evaluated, from the equation of the system",
    "exact_matrix": "by the minors, exactly",
    "eigenvalue_order": "eigenvalues are numbered from the top",
    "norm_of_symmetric": "the norm of a symmetric matrix",
    "almost_everywhere": "for almost every start",
}

#: A fact up to this many characters is said with its step, so many with one step; logic that joins so many steps is shown.
SHORT, MANY, JOINS = 140, 4, 3
#: Rules whose facts may be said with the step that they serve.
FACTS = frozenset(
    ("arithmetic", "identity", "reduction", "meaning", "modulus", "eigenvalue_order", "norm_of_symmetric", "positive")
)

#: Logic that is shown where it joins several steps.
LOGIC = {"iff": "both directions", "tautology": "together", "discharge": "together", "generalise": "together"}


@dataclass(frozen=True)
class KernelStep:
    """One printed step: its rule, how it is known, its formula in LaTeX, the numbers of the steps that it rests on.

    ``under``: what it assumes beyond the conditions; ``since``: facts that serve this step alone, each with how it is known.
    The last step has no formula: it says from which steps the claims follow.
    """

    number: int
    rule: str
    how: str
    caption: str
    formula: str
    uses: tuple[int, ...]
    argued: bool = False
    since: tuple[str, ...] = ()
    under: str = ""

    @property
    def says(self) -> str:
        """The words before the formula."""
        since = f"since {', '.join(self.since)}" if self.since else ""
        words = ", ".join(filter(None, (self.under, since)))
        return f"{self.caption} {words[:1].upper()}{words[1:]}{':' if words else ''}".strip()


@dataclass(frozen=True)
class KernelDerivation:
    """The printed steps for some systems, the letters for long terms, and the assumptions that several steps share."""

    systems: tuple[str, ...]
    letters: tuple[str, ...]
    assumptions: tuple[str, ...]
    steps: tuple[KernelStep, ...]

    @property
    def preamble(self) -> str:
        """What is said before the first step; empty where there is nothing to say."""
        found = [f"Write {', '.join(self.letters)}."] if self.letters else []
        if self.assumptions:
            found.append(f"Steps may assume {'; '.join(self.assumptions)}.")
        return " ".join(found)


def notation(told: Statement) -> str:
    """What the letters of the calculus in the claims stand for, in one sentence; empty where there are none."""
    terms = {term for claim in told.claims for term in quantities(proposition(claim))}
    flow = any(system(name).time is Time.FLOW for name in told.systems)
    found = []
    if any(type(term) is Rate for term in terms):
        what = "derivative of $q$ along the flow" if flow else "increment of $q$ under one step of the map"
        found.append(rf"$\Delta[q]$ is the {what}")
    if any(isinstance(term, Slope) for term in terms):
        found.append(r"$\mathrm{D}[q](w)$ is the derivative of $q$ along $x_i \mapsto x_i + \varepsilon w_i$")
    if any(isinstance(term, Opposite) for term in terms):
        found.append("$[q](-x)$ is the value of $q$ at the opposite state")
    if any(isinstance(atom, MaskEntry) for term in terms for part, _ in term.key for atom, _ in part.factors):
        found.append(
            r"tokens are numbered, token $i$ sees the tokens $j \le i$, and $\mathrm{causal}_{ij}$ is $1$ for these and else $0$"
        )
    if any(is_defined(base.name) for term in terms for base in bases_of(term.key)):
        found.append("$y_i$ is what the map divides by its norm $r_i$")
    return f"Here {', '.join(found)}." if found else ""


def kernel_steps(told: Statement) -> tuple[KernelDerivation, ...]:
    """The derivations, by systems: systems with the same derivation are printed together."""
    found: dict[KernelDerivation, list[str]] = {}
    given = {canonical(part) for each in (*map(proposition, told.conditions), *STANDING) for part in conjuncts(each)}
    for name, proved in told.proofs.items():
        found.setdefault(_derivation(proved, given, claim_letters(told)), []).append(name)
    return tuple(_one_head(told, replace(each, systems=tuple(names))) for each, names in found.items())


def _one_head(told: Statement, found: KernelDerivation) -> KernelDerivation:
    """With norms of matrices where there is one head."""

    def plain(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(one_head(told, each) for each in texts)

    steps = tuple(
        replace(each, formula=one_head(told, each.formula), since=plain(each.since), under=one_head(told, each.under))
        for each in found.steps
    )
    return replace(found, letters=plain(found.letters), assumptions=plain(found.assumptions), steps=steps)


@dataclass
class _Draft:
    """A step before it is printed."""

    node: Proved
    how: str
    said: Proposition
    assumed: tuple[Proposition, ...]
    uses: frozenset[int]
    users: int = 0
    since: list[int] = field(default_factory=list)


def _derivation(proved: Proved, given: set[Proposition], begun: Mapping[sp.Symbol, sp.Expr]) -> KernelDerivation:
    drafts, last = _drafts(proved, given)
    if not last:  # nothing but equations of this kind
        drafts, last = _drafts(proved, given, plain=True)
    others = clashing(
        (said for draft in drafts.values() for said in (draft.said, *draft.assumed)), conjuncts(proved.proposition)
    )
    for draft in drafts.values():
        draft.said = relettered(draft.said, others)
        draft.assumed = tuple(relettered(each, others) for each in draft.assumed)
    _fold(drafts, last)
    things = [thing for draft in drafts.values() for thing in (draft.said, *draft.assumed)]
    wide = bool(begun) or any(len(latex(draft.said)) > WIDE for draft in drafts.values())
    letters = abbreviations(things, begun) if wide else {}
    shared = _shared(drafts.values(), letters)
    folded = {number for draft in drafts.values() for number in draft.since}
    numbers = {old: new for new, old in enumerate((each for each in drafts if each not in folded), 1)}
    steps = [
        KernelStep(
            numbers[old],
            draft.node.rule,
            draft.how,
            draft.node.caption,
            latex(shortened(draft.said, letters)),
            tuple(sorted(numbers[use] for use in draft.uses - set(draft.since))),
            draft.node.rule == "argued",
            tuple(
                _fact(drafts[each], letters) for each in draft.since if latex(drafts[each].said) != latex(draft.said)
            ),
            _under(draft, letters, shared),
        )
        for old, draft in drafts.items()
        if old not in folded
    ]
    steps.append(KernelStep(len(steps) + 1, "claims", "together", "", "", tuple(sorted(numbers[use] for use in last))))
    assumptions = tuple(f"{label} ${latex(shortened(each, letters))}$" for each, label in shared.values())
    texts = (*assumptions, *(each.formula for each in steps), *(each.says for each in steps))
    new = {letter: term for letter, term in letters.items() if letter not in begun}
    return KernelDerivation((), defined(new, texts), assumptions, tuple(steps))


def _drafts(
    proved: Proved, given: set[Proposition], *, plain: bool = False
) -> tuple[dict[int, _Draft], frozenset[int]]:
    """The steps that are shown, by number, and those from which the claims follow."""
    numbers: dict[int, frozenset[int]] = {}
    known: dict[tuple[Proposition, frozenset[Proposition]], int] = {}
    drafts: dict[int, _Draft] = {}
    for node in _walk(proved, set()):
        behind = frozenset().union(*(numbers[id(each)] for each in _shown_premises(node)))
        how = _how(node) or (LOGIC.get(node.rule, "") if len(behind) >= JOINS else "")
        assumed = tuple(each for each in node.hypotheses if canonical(each) not in given) if how else ()
        if (
            not how
            or node.proposition == FALSE
            or canonical(node.proposition) in given
            or canonical(node.proposition) in set(map(canonical, assumed))
            or any(_said_by(drafts[use], node, assumed) for use in behind)
            or (_says_nothing(node) and not plain)
        ):
            numbers[id(node)] = behind
            continue
        key = (canonical(node.proposition), frozenset(map(canonical, assumed)))
        if key not in known:
            known[key] = len(known) + 1
            drafts[known[key]] = _Draft(node, how, node.proposition, assumed, behind)
            for use in behind:
                drafts[use].users += 1
        numbers[id(node)] = frozenset({known[key]})
    for use in numbers[id(proved)]:
        drafts[use].users += 1
    return drafts, numbers[id(proved)]


def _said_by(draft: _Draft, node: Proved, assumed: tuple[Proposition, ...]) -> bool:
    """Is the step printed already, under no more than is assumed here?"""
    return set(draft.assumed) <= set(assumed) and latex(draft.said) == latex(node.proposition)


def _says_nothing(node: Proved) -> bool:
    """Both sides of the equation are printed alike, or it is true as it stands (``1 > 0``): nobody asks for a reason."""
    relation = relation_of(node.proposition)
    if node.proposition == TRUE or _truism(node.proposition):
        return True
    if isinstance(relation, sp.Eq) and scalar_latex(relation.lhs) == scalar_latex(relation.rhs):
        return True
    short = relation is not None and node.rule == "arithmetic" and len(latex(node.proposition)) <= SHORT
    return short and compared(relation.func, *relation.args) == sp.true


def _truism(said: Proposition) -> bool:
    """Numbers alone, ``1 > 0``, or a token that sees itself, ``i <= i``: printed, it would say nothing."""
    return _PLAIN.fullmatch(latex(said)) is not None


_PLAIN = re.compile(r"[\d.]+ (>|<|=|\\geq|\\leq) [\d.]+|(\w+|\w_\{\d+\}) \\leq \2")


def _fold(drafts: dict[int, _Draft], last: frozenset[int]) -> None:
    """A short fact that rests on no other step and serves one step of arithmetic is said with that step."""
    for draft in drafts.values():
        if draft.node.rule != "arithmetic":
            continue
        for use in sorted(draft.uses - last):
            fact = drafts[use]
            ours = set(map(canonical, draft.assumed))
            if (
                fact.users == 1
                and not fact.uses
                and fact.node.rule in FACTS
                and not fact.node.caption
                and {canonical(each) for each in fact.assumed} <= ours
                and len(latex(fact.said)) <= SHORT
                and len(draft.since) < MANY
            ):
                draft.since.append(use)


def _shared(
    drafts: Iterable[_Draft], letters: Mapping[sp.Symbol, sp.Expr]
) -> dict[Proposition, tuple[Proposition, str]]:
    """Assumptions that would be printed again and again have a label."""
    uses: Counter[Proposition] = Counter()
    first: dict[Proposition, Proposition] = {}
    for draft in drafts:
        for each in draft.assumed:
            uses[canonical(each)] += 1
            first.setdefault(canonical(each), each)
    long = [each for each, times in uses.items() if (times - 1) * len(latex(shortened(first[each], letters))) > SHORT]
    return {each: (first[each], f"(A{number})") for number, each in enumerate(long, 1)}


def _under(
    draft: _Draft, letters: Mapping[sp.Symbol, sp.Expr], shared: Mapping[Proposition, tuple[Proposition, str]]
) -> str:
    labels = [shared[canonical(each)][1] for each in draft.assumed if canonical(each) in shared]
    plain = tuple(
        shortened(each, letters) for each in draft.assumed if canonical(each) not in shared and not _truism(each)
    )
    found = [f"under {', '.join(labels)}"] if labels else []
    parts = parts_latex(Conjunction(plain))
    return ", ".join(found + ([f"if {' and '.join(f'${each}$' for each in parts)}"] if parts else []))


def _fact(draft: _Draft, letters: Mapping[sp.Symbol, sp.Expr]) -> str:
    how = "" if draft.node.rule in ("arithmetic", "identity", "reduction") else f" ({draft.how})"
    return f"${latex(shortened(draft.said, letters))}${how}"


def _walk(node: Proved, seen: set[int]) -> Iterator[Proved]:
    """Each step once, premises first."""
    if id(node) not in seen:
        seen.add(id(node))
        for each in _shown_premises(node):
            yield from _walk(each, seen)
        yield node


def _shown_premises(node: Proved) -> tuple[Proved, ...]:
    """Of a statement that is recalled, the premises are ours; its own proof stands where it is stated."""
    return node.premises[1:] if node.rule == "recall" else node.premises


def _how(node: Proved) -> str:
    if node.rule == "textbook":
        theorem, _ = node.detail
        return rf"{theorem.name}: {theorem.reference} \cite{{{parse(theorem.bibtex).key}}}"
    if node.rule == "recall":
        return f"proved in {statements().get(node.detail[0]).called}"
    if node.rule == "enclosure":
        sign = SIGNS[type(node.detail.relation)]
        return f"by ball arithmetic: ${_decimal(node.detail.left)} {sign} {_decimal(node.detail.right)}$, to the digits shown"
    if node.rule == "argued":
        return f"argued in words, not machine-checked: {node.detail}"
    return HOW.get(node.rule, "")


def _decimal(number: str) -> str:
    """``1.52e-6`` as a power of ten."""
    digits, _, power = number.partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits
