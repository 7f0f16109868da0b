"""The derivation of a statement that the kernel proves, read off the tree of its proof.

Steps of pure logic (instantiating, discharging, taking parts) are folded into the steps that they serve.  Each step is printed
with what it assumes beyond the conditions of the statement, and with the steps that it rests on: nothing is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eigentoken.proofs.bibliography import parse
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.kernel import STANDING
from eigentoken.theory.kernel.propositions import FALSE, Conjunction, Proposition, conjuncts, proposition, quantities
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.sameness import canonical
from eigentoken.theory.kernel.tensors import Rate, Slope, bases_of, is_defined
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Time

__all__ = ["KernelStep", "kernel_steps", "notation"]

#: How a step is known, by rule.  Rules that are not listed are logic, and are folded.
HOW = {
    "spectrum": "the spectrum, derived from the equation of the system",
    "equilibrium": "derived from the equation of the system",
    "antipodal_rest": "derived from the equation of the system",
    "two_cycle": "derived from the equation of the system",
    "respelled": "the same spectrum in other formulas",
    "linear_stability": "a point is linearly stable when its spectrum is inside",
    "linear_instability": "a point is linearly unstable when an eigenvalue is outside",
    "stability_of_any": "from the spectrum, whose eigenvalues may be complex",
    "modulus": "a real part is at most the modulus",
    "positive": "a sum of positive numbers",
    "increment": "from the equation of the system",
    "slope": "differentiated, from the equation of the system",
    "reduction": "by normal form, for all sizes",
    "identity": "identity, by normal form",
    "arithmetic": "by a decision procedure for real arithmetic",
    "summed": "summed over the tokens",
    "square": "a sum of squares",
    "cases": "in every case",
    "induction": "by induction",
    "first_exit": "by the first time at which it could fail",
    "dissipates": "the quantity falls at least as fast as the squared speed",
    "monotone": "by the sign of the rate",
    "meaning": "in other words",
    "half_space": "in other words, for a simple top eigenvalue",
    "as_form": "what it says of all vectors",
    "invertible": "a word about an inverse says that there is one",
    "velocity_at": "evaluated, from the equation of the system",
    "exact_matrix": "by the minors, exactly",
    "eigenvalue_order": "eigenvalues are numbered from the top",
    "norm_of_symmetric": "the norm of a symmetric matrix",
    "almost_everywhere": "for almost every start",
}


@dataclass(frozen=True)
class KernelStep:
    """One printed step: its rule, how it is known, its formula in LaTeX, the numbers of the steps that it rests on.

    The last one has no formula: it says from which steps the claims follow.
    """

    number: int
    rule: str
    how: str
    caption: str
    formula: str
    uses: tuple[int, ...]
    argued: bool = False


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
    if any(is_defined(base.name) for term in terms for base in bases_of(term.key)):
        found.append("$y_i$ is what the map divides by its norm $r_i$")
    return f"Here {', '.join(found)}." if found else ""


def kernel_steps(told: Statement) -> tuple[tuple[tuple[str, ...], tuple[KernelStep, ...]], ...]:
    """The printed steps, by systems: systems with the same derivation are printed together."""
    found: dict[tuple[KernelStep, ...], list[str]] = {}
    given = {canonical(part) for each in (*map(proposition, told.conditions), *STANDING) for part in conjuncts(each)}
    for name, proved in told.proofs.items():
        found.setdefault(tuple(_steps(proved, given)), []).append(name)
    return tuple((tuple(names), steps) for steps, names in found.items())


def _steps(proved: Proved, given: set[Proposition]) -> Iterator[KernelStep]:
    numbers: dict[int, frozenset[int]] = {}
    printed: dict[tuple[Proposition, frozenset[Proposition]], int] = {}
    for node in _walk(proved, set()):
        behind = frozenset().union(*(numbers[id(each)] for each in _shown_premises(node)))
        how = _how(node)
        if not how or node.proposition == FALSE:
            numbers[id(node)] = behind
            continue
        assumed = [each for each in node.hypotheses if canonical(each) not in given]
        key = (canonical(node.proposition), frozenset(map(canonical, assumed)))
        if key not in printed:
            printed[key] = len(printed) + 1
            formula = latex(node.proposition)
            if assumed:
                formula = rf"\text{{if }} {latex(Conjunction(tuple(assumed)))}\text{{: }} {formula}"
            yield KernelStep(
                printed[key], node.rule, how, node.caption, formula, tuple(sorted(behind)), node.rule == "argued"
            )
        numbers[id(node)] = frozenset({printed[key]})
    yield KernelStep(len(printed) + 1, "claims", "together", "", "", tuple(sorted(numbers[id(proved)])))


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
        return f"proved in {node.detail[0]}"
    if node.rule == "argued":
        return f"argued in words, not machine-checked: {node.detail}"
    return HOW.get(node.rule, "")
