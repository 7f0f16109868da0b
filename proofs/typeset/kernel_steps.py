"""The derivation of a statement that the kernel proves, read off the tree of its proof.

Steps of pure logic (instantiating, discharging, taking parts) are folded into the steps that they serve.  Each step is printed
with what it assumes beyond the conditions of the statement, and with the steps that it rests on: nothing is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from weakref import finalize

import sympy as sp

from eigentoken.proofs.bibliography import parse
from eigentoken.proofs.typeset.abbreviations import (
    WIDE,
    abbreviations,
    any_letters,
    claim_letters,
    clashing,
    defined,
    in_order,
    meanings,
    notation,
    one_head,
    relettered,
    sentence,
    shortened,
)
from eigentoken.proofs.typeset.obvious import (
    HOW,
    SHORT,
    Labels,
    cited,
    decimal,
    follows_at_once,
    is_evident,
    is_instance,
    is_square,
    is_truism,
    listed,
    rearranged,
    relations,
    same_equation,
    same_sides,
    shared,
    telling,
)
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
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import system

__all__ = ["KernelDerivation", "KernelStep", "kernel_steps", "notation", "steps_behind"]

#: A fact up to this many characters is said with its step, so many with one step; logic that joins so many steps is shown.
MANY, JOINS = 4, 3
#: Steps that are said together stand so close to each other.
NEAR = 8
#: Rules whose facts may be said with the step that they serve.
FACTS = frozenset(
    ("arithmetic", "identity", "reduction", "meaning", "modulus", "eigenvalue_order", "norm_of_symmetric", "positive")
)

#: Rules whose equations are not shown where they only put terms in another order.
COUNTED = frozenset(("arithmetic", "identity", "reduction"))
#: Rules whose short relations are said together.
JOINED = COUNTED | frozenset(("square", "positive", "increment", "slope", "velocity_at"))

#: Logic that is shown where it joins several steps.
LOGIC = {"iff": "both directions", "tautology": "together", "discharge": "together", "generalise": "together"}


@dataclass(frozen=True)
class KernelStep:
    """One printed step: its rule, how it is known, its formula in LaTeX, the numbers of the steps that it rests on.

    ``under``: what it assumes beyond the conditions; ``since``: facts that serve this step alone, each with how it is known;
    ``letters``: those for long terms that stand here for the first time.  The last step has no formula: it says from which
    steps the claims follow.
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
    letters: tuple[str, ...] = ()

    @property
    def defines(self) -> tuple[str, ...]:
        """The names of these letters."""
        return tuple(each.strip("$").partition(" = ")[0] for each in self.letters)

    @property
    def where(self) -> str:
        """The words after the formula."""
        return f"where {listed(self.letters)}." if self.letters else ""

    @property
    def says(self) -> str:
        """The words before the formula."""
        since = f"since {', '.join(self.since)}" if self.since else ""
        words = ", ".join(filter(None, (self.under, since)))
        return f"{self.caption} {words[:1].upper()}{words[1:]}{':' if words else ''}".strip()


@dataclass(frozen=True)
class KernelDerivation:
    """The printed steps for some systems, and what letters of the calculus stand for that the claims do not have."""

    systems: tuple[str, ...]
    notation: str
    steps: tuple[KernelStep, ...]


#: What was read off the proofs of a statement, as long as that statement is there: pages, summaries and counts ask for it.
_READ: dict[int, tuple[KernelDerivation, ...]] = {}


def kernel_steps(told: Statement) -> tuple[KernelDerivation, ...]:
    """The derivations, by systems: systems with the same derivation are printed together.

    Steps are numbered through: a number names one step of the document.
    """
    if id(told) in _READ:
        return _READ[id(told)]
    found: dict[KernelDerivation, list[str]] = {}
    for name, proved in told.proofs.items():
        found.setdefault(_derivation(told, proved, claim_letters(told)), []).append(name)
    read: tuple[KernelDerivation, ...] = ()
    for each, names in found.items():
        before = read[-1].steps[-1].number - 1 if read else 0
        read += (_numbered_on(_one_head(told, replace(each, systems=tuple(names))), before),)
    _READ[id(told)] = read
    finalize(told, _READ.pop, id(told), None)
    return read


def steps_behind(told: Statement, proved: Proved) -> Callable[[Proved], tuple[int, ...]]:
    """The numbers of the printed steps that a step of the tree is, or rests on; none where it rests on conditions alone.

    A step of a statement that is recalled is printed there, and has none here.
    """
    drafts, _, numbers = _folded(told, proved)
    printed = _numbers(drafts)
    names = {name for name, each in told.proofs.items() if each is proved}
    before = next((each.steps[0].number - 1 for each in kernel_steps(told) if names & {*each.systems}), 0)
    return lambda node: tuple(sorted({before + printed[each] for each in numbers.get(id(node), ()) if each in printed}))


def _numbered_on(found: KernelDerivation, before: int) -> KernelDerivation:
    """With the numbers after those of the derivations before it."""
    steps = (
        replace(each, number=before + each.number, uses=tuple(before + use for use in each.uses))
        for each in found.steps
    )
    return replace(found, steps=tuple(steps)) if before else found


def _one_head(told: Statement, found: KernelDerivation) -> KernelDerivation:
    """With norms of matrices where there is one head."""
    return replace(found, steps=tuple(_each_text(each, lambda text: one_head(told, text)) for each in found.steps))


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
    beside: list[int] = field(default_factory=list)


def _folded(told: Statement, proved: Proved) -> tuple[dict[int, _Draft], frozenset[int], Mapping[int, frozenset[int]]]:
    """The drafts, short ones said with those that they serve; those from which the claims follow; those behind each node."""
    given = {canonical(part) for each in (*map(proposition, told.conditions), *STANDING) for part in conjuncts(each)}
    drafts, last, numbers = _drafts(proved, given)
    if not last:  # nothing but equations of this kind
        drafts, last, numbers = _drafts(proved, given, plain=True)
    others = clashing(
        (said for draft in drafts.values() for said in (draft.said, *draft.assumed)),
        conjuncts(proved.proposition),
        weights=any(system(name).score for name in told.systems),
    )
    for draft in drafts.values():
        draft.said = relettered(telling(draft.said), others)
        draft.assumed = tuple(relettered(each, others) for each in draft.assumed)
    _absorb(drafts, last)
    _fold(drafts, last)
    _join(drafts)
    return drafts, last, numbers


def _derivation(told: Statement, proved: Proved, begun: Mapping[sp.Symbol, sp.Expr]) -> KernelDerivation:
    drafts, last, _ = _folded(told, proved)
    things = [thing for draft in drafts.values() for thing in (draft.said, *draft.assumed)]
    wide = bool(begun) or any(len(latex(draft.said)) > WIDE for draft in drafts.values())
    letters = abbreviations(things, begun) if wide else {}
    steps = _printed(drafts, last, letters, begun)
    names = in_order((name for step in steps for name in step.defines), begun)
    steps = tuple(_each_text(step, lambda text: _renamed(text, names)) for step in steps)
    said = set(meanings(told, map(proposition, told.claims), " ".join(map(LATEX, told.claims))))
    text = " ".join((*(each.formula for each in steps), *(each.says for each in steps)))
    new = [each for each in meanings(told, things, text) if each not in said]
    return KernelDerivation((), " ".join(filter(None, (sentence(new), any_letters(told, things)))), steps)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """Letters with their numbers in order, in what is printed alone: a function may turn its sign with the name of a letter."""
    whole = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(whole, lambda found: names[found.group()], text) if whole else text


def _each_text(step: KernelStep, change: Callable[[str], str]) -> KernelStep:
    """The step with its formulas changed."""
    return replace(
        step,
        formula=change(step.formula),
        since=tuple(map(change, step.since)),
        under=change(step.under),
        letters=tuple(map(change, step.letters)),
    )


def _printed(
    drafts: dict[int, _Draft],
    last: frozenset[int],
    letters: Mapping[sp.Symbol, sp.Expr],
    begun: Mapping[sp.Symbol, sp.Expr],
) -> tuple[KernelStep, ...]:
    """The steps with their numbers; a letter is defined, an assumption labelled, a book named in full where it first stands."""
    labels = Labels(shared((draft.assumed for draft in drafts.values()), letters), letters)
    numbers = _numbers(drafts)
    told_with = {each for draft in drafts.values() for each in (*draft.since, *draft.beside)}
    named: set[str] = set()
    steps: list[KernelStep] = []
    for old in (each for each in drafts if each not in told_with):
        draft = drafts[old]
        here = [draft, *(drafts[each] for each in draft.beside)]
        here = [each for each in here if not same_sides(shortened(each.said, letters))] or here[:1]
        formula = r",\qquad ".join(parts_latex(Conjunction(tuple(shortened(each.said, letters) for each in here))))
        same = [each for each in draft.since if same_equation(drafts[each].said, draft.said)]
        since = tuple(_fact(drafts[each], letters) for each in draft.since if each not in same)
        under = labels.under(draft.assumed)
        own = {old, *draft.since, *draft.beside}
        step = KernelStep(
            numbers[old],
            draft.node.rule,
            drafts[same[0]].how if same else _in_short(draft, named),
            draft.node.caption,
            latex(shortened(here[0].said, letters)) if len(here) == 1 else formula,
            tuple(sorted({numbers[use] for each in here for use in each.uses - own})),
            draft.node.rule == "argued",
            since,
            under,
        )
        steps.append(replace(step, letters=_first_seen(letters, begun, step, steps)))
    return (
        *steps,
        KernelStep(len(steps) + 1, "claims", "together", "", "", tuple(sorted({numbers[each] for each in last}))),
    )


def _numbers(drafts: Mapping[int, _Draft]) -> dict[int, int]:
    """The printed number of each draft; of one that is said with another, that of the other."""
    told_with = {each: old for old, draft in drafts.items() for each in (*draft.since, *draft.beside)}
    numbers = {old: new for new, old in enumerate((each for each in drafts if each not in told_with), 1)}
    return numbers | {each: numbers[old] for each, old in told_with.items() if old in numbers}


def _first_seen(
    letters: Mapping[sp.Symbol, sp.Expr],
    begun: Mapping[sp.Symbol, sp.Expr],
    step: KernelStep,
    before: Iterable[KernelStep],
) -> tuple[str, ...]:
    """The definitions of the letters of a step that no step before it has."""
    known = {text for each in before for text in each.letters}
    new = {letter: term for letter, term in letters.items() if letter not in begun}
    return tuple(each for each in defined(new, (step.formula, step.says)) if each not in known)


def _in_short(draft: _Draft, named: set[str]) -> str:
    """How it is known; a theorem that was cited before is named without its chapter."""
    if draft.node.rule != "textbook":
        return draft.how
    theorem = draft.node.detail[0]
    again = theorem.key in named
    named.add(theorem.key)
    return rf"{theorem.name} \cite{{{parse(theorem.bibtex).key}}}" if again else draft.how


def _drafts(
    proved: Proved, given: set[Proposition], *, plain: bool = False
) -> tuple[dict[int, _Draft], frozenset[int], dict[int, frozenset[int]]]:
    """The steps that are shown, by number, those from which the claims follow, and those behind each node of the tree."""
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
            or is_instance(node.proposition, assumed)
            or any(_said_by(drafts[use], node, assumed) for use in behind)
            or (not plain and _says_nothing(node))
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
    return drafts, numbers[id(proved)], numbers


def _said_by(draft: _Draft, node: Proved, assumed: tuple[Proposition, ...]) -> bool:
    """Is the step printed already, or something stronger, under no more than is assumed here?"""
    if not set(draft.assumed) <= set(assumed):
        return False
    parts = {canonical(part) for part in conjuncts(draft.said)}
    return (
        all(canonical(part) in parts for part in conjuncts(node.proposition))
        or latex(draft.said) == latex(node.proposition)
        or follows_at_once(node.proposition, draft.said)
    )


def _says_nothing(node: Proved) -> bool:
    """Both sides of the equation are printed alike, or it is true as it stands (``1 > 0``): nobody asks for a reason."""
    relation = relation_of(node.proposition)
    if node.proposition == TRUE or is_truism(node.proposition):
        return True
    if isinstance(relation, sp.Eq) and scalar_latex(relation.lhs) == scalar_latex(relation.rhs):
        return True
    if node.rule == "arithmetic" and all(map(is_evident, conjuncts(node.proposition))):
        return True
    if (node.rule == "square" and is_square(node.proposition)) or (
        node.rule in COUNTED and rearranged(node.proposition)
    ):
        return True
    short = relation is not None and node.rule == "arithmetic" and len(latex(node.proposition)) <= SHORT
    return short and compared(relation.func, *relation.args) == sp.true


def _absorb(drafts: dict[int, _Draft], last: frozenset[int]) -> None:
    """A spectrum that is only written in other formulas is printed once, in these: with it go the equations that compare them."""
    for draft in [each for each in drafts.values() if each.node.rule == "respelled"]:
        inside = [use for use in draft.uses - last if _serves(drafts[use])]
        if not any(drafts[use].node.rule == "spectrum" for use in inside):
            continue
        draft.how = f"{HOW['spectrum']}, in formulas that were compared with those of its Jacobian"
        draft.uses = draft.uses.difference(inside).union(*(drafts[use].uses for use in inside))
        for use in inside:
            for earlier in drafts[use].uses:
                drafts[earlier].users += 1
            del drafts[use]


def _serves(draft: _Draft) -> bool:
    """Is it the spectrum, or an equation of its formulas, and used nowhere else?"""
    if draft.users != 1 or draft.node.caption:
        return False
    return draft.node.rule == "spectrum" or (draft.node.rule in COUNTED and isinstance(relation_of(draft.said), sp.Eq))


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


def _join(drafts: dict[int, _Draft]) -> None:
    """Short relations that are known in the same way from the same steps are one step, if they are close to each other."""
    folded = {number for draft in drafts.values() for number in draft.since}
    begun: list[tuple[_Draft, int, int]] = []
    for place, (number, draft) in enumerate(each for each in drafts.items() if each[0] not in folded):
        long = len(latex(draft.said))
        if draft.node.rule not in JOINED or not relations(draft.said) or long > SHORT:
            continue
        begun = [each for each in begun if place - each[2] <= NEAR]
        found = next((each for each in begun if each[1] + long <= 3 * SHORT and _alike(each[0], draft)), None)
        if found is None:
            begun.append((draft, long, place))
            continue
        first, size, since = found
        first.beside.append(number)
        first.since += [each for each in draft.since if each not in first.since]
        begun[begun.index(found)] = (first, size + long, since)


def _alike(first: _Draft, other: _Draft) -> bool:
    """May the second be said with the first?  It rests on no other step, and has no words of its own."""
    return (
        first.how == other.how
        and other.node.rule in JOINED
        and relations(other.said)
        and set(map(canonical, first.assumed)) == set(map(canonical, other.assumed))
        and not (first.node.caption or other.node.caption)
        and other.uses - set(other.since) == first.uses - set(first.since)
        and len({*first.since, *other.since}) <= MANY
    )


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
    if node.rule == "summed":
        return f"summed over the {node.premises[0].proposition.letter.kind}s"
    if node.rule == "recall":
        told = statements().get(node.detail[0])
        keys = dict.fromkeys(parse(each.detail[0].bibtex).key for each in node.premises[0].rests_on("textbook"))
        return f"proved in {told.called}" + (f", with {' '.join(map(cited, keys))}" if keys else "")
    if node.rule == "enclosure":
        sign = SIGNS[type(node.detail.relation)]
        return f"by ball arithmetic: ${decimal(node.detail.left)} {sign} {decimal(node.detail.right)}$, to the digits shown"
    if node.rule == "argued":
        return f"argued in words, not machine-checked: {node.detail}"
    return HOW.get(node.rule, "")
