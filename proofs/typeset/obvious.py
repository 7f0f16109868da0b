"""What a paper does not show as a step of its own, or says once: terms in another order, ``x > 0`` and therefore ``x != 0``,
``|v|^2 >= 0``; an assumption that many steps make, which stands in full where the first makes it, and then has a label.

Only print asks this: what is left out here was proved, and the steps that use it name what it rests on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from eigentoken.proofs.typeset.abbreviations import shortened
from eigentoken.theory.calculus import Expression, Index
from eigentoken.theory.kernel.formulas import latex, parts_latex
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    Conjunction,
    Disjunction,
    ForAll,
    Implication,
    Proposition,
    canonical,
    conjuncts,
    free_letters,
    put,
    relation_of,
)
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.printing.scalars import scalar_latex

__all__ = [
    "SHORT",
    "Labels",
    "follows_at_once",
    "is_instance",
    "is_square",
    "is_truism",
    "rearranged",
    "relations",
    "same_equation",
    "shared",
    "telling",
]

_PLAIN = re.compile(r"[\d.]+ (>|<|=|\\geq|\\leq) [\d.]+|(\w+|\w_\{\d+\}) \\leq \2")
_SQUARE = re.compile(r"(\|[^|]*\||\\left\|[^|]*\\right\|)\^\{2\} \\geq 0")


def is_square(said: Proposition) -> bool:
    r"""Is it ``|v|^2 >= 0``, for any vector?"""
    return _SQUARE.fullmatch(latex(said)) is not None


def follows_at_once(said: Proposition, before: Proposition) -> bool:
    """Is it the same comparison, said weaker: ``a >= b`` or ``a != b`` where ``a > b``, ``a >= b`` where ``a = b``?

    >>> from eigentoken.theory.kernel.propositions import proposition
    >>> x = sp.Symbol("x", real=True)
    >>> follows_at_once(proposition(sp.Ne(x, 0)), proposition(x > 0))
    True
    """
    weak, strong = relation_of(said), relation_of(before)
    if isinstance(strong, sp.Eq) and isinstance(weak, sp.Ge | sp.Le):
        return set(weak.args) == set(strong.args)
    if not isinstance(strong, sp.Gt | sp.Lt) or not isinstance(weak, sp.Ne | sp.Ge | sp.Le):
        return False
    same_way = isinstance(weak, sp.Ne) or isinstance(weak, sp.Ge) == isinstance(strong, sp.Gt)
    turned = isinstance(weak, sp.Ne) or isinstance(weak, sp.Ge) != isinstance(strong, sp.Gt)
    return (same_way and weak.args == strong.args) or (turned and weak.args == strong.args[::-1])


def rearranged(said: Proposition) -> bool:
    """Is it an equation whose sides are one sum, up to the order of the terms, brackets and factors before these?

    A square that is completed, or a product that is multiplied out, is no such thing: it is worth a line.

    >>> from eigentoken.theory.kernel.propositions import proposition
    >>> x, y, z = sp.symbols("x y z", real=True)
    >>> [rearranged(proposition(sp.Eq(x * (y + z), right, evaluate=False))) for right in (z * x + y * x, x * y)]
    [True, False]
    >>> rearranged(proposition(sp.Eq((x + y) ** 2, x**2 + 2 * x * y + y**2, evaluate=False)))
    False
    """
    relation = relation_of(said)
    if not isinstance(relation, sp.Eq) or not all(isinstance(side, sp.Expr) for side in relation.args):
        return False
    sides = [_in_terms(side) for side in relation.args]
    return all(map(_one_sum, sides)) and sp.expand_mul(sides[0] - sides[1]) == 0


def same_equation(one: Proposition, other: Proposition) -> bool:
    """Do two relations say the same of the same sides, up to the order of terms and brackets?

    >>> from eigentoken.theory.kernel.propositions import proposition
    >>> x, y, z = sp.symbols("x y z", real=True)
    >>> same_equation(proposition(sp.Eq(x, 2 * (y + z))), proposition(sp.Eq(x, 2 * z + 2 * y)))
    True
    >>> same_equation(proposition(sp.Eq(x, y)), proposition(sp.Eq(y, x)))
    False
    """
    if latex(one) == latex(other):
        return True
    first, second = relation_of(one), relation_of(other)
    if first is None or type(first) is not type(second) or isinstance(first, sp.And | sp.Or | sp.Not):
        return False
    if not all(isinstance(side, sp.Expr) for side in (*first.args, *second.args)):
        return False
    pairs = zip(first.args, second.args, strict=True)
    return all(sp.expand_mul(_in_terms(left) - _in_terms(right)) == 0 for left, right in pairs)


def relations(said: Proposition) -> bool:
    """Is it a relation, or some that hold together?"""
    return all(relation_of(each) is not None for each in conjuncts(said))


def telling(said: Proposition) -> Proposition:
    """Without the parts of a conjunction that say nothing, since what they ask for is false (``if l_1 < l_1, then ...``).

    >>> from eigentoken.theory.kernel.propositions import Conjunction, Implication, proposition
    >>> x = proposition(sp.Symbol("x", real=True) > 0)
    >>> telling(Conjunction((x, Implication(Conjunction((x, FALSE)), x)))) == x
    True
    """
    parts = conjuncts(said)
    kept = [each for each in parts if not (isinstance(each, Implication) and FALSE in conjuncts(each.left))]
    return said if not kept or len(kept) == len(parts) else kept[0] if len(kept) == 1 else Conjunction(tuple(kept))


def is_instance(said: Proposition, assumed: Iterable[Proposition]) -> bool:
    """Is it what an assumption says of every token or vector, said of one of these?"""
    if relation_of(said) is None:
        return False
    here = free_letters(said)
    for each in assumed:
        if (
            not isinstance(each, ForAll)
            or each.guard != TRUE
            or type(relation_of(each.body)) is not type(relation_of(said))
        ):
            continue
        own = [letter for letter in here if type(letter) is type(each.letter) and _kind(letter) == _kind(each.letter)]
        if any(canonical(put(each.body, {each.letter: letter})) == canonical(said) for letter in own):
            return True
    return False


def _kind(letter: Any) -> str:
    return letter.kind if isinstance(letter, Index) else ""


def _in_terms(side: sp.Expr) -> sp.Expr:
    """The quantities of the calculus term by term, each factor that stands for itself by itself."""
    found: sp.Expr = side.xreplace({each: _spread(each) for each in side.atoms(Tensor) if type(each) is Tensor})
    return found


def _spread(quantity: Tensor) -> sp.Expr:
    return sp.Add(*(scale * sp.Mul(*_factors(part, quantity.time)) for part, scale in quantity.key))


def _factors(part: Any, time: Any) -> list[sp.Expr]:
    if part.bound or part.arrow is not None:
        return [Tensor(Expression({part: sp.Integer(1)}), time)]
    single = [(type(part)((), ((atom, 1),), None), power) for atom, power in part.factors]
    return [Tensor(Expression({one: sp.Integer(1)}), time) ** power for one, power in single]


def _one_sum(side: sp.Expr) -> bool:
    """Is no sum in it multiplied by a sum?"""
    for node in sp.preorder_traversal(side):
        if isinstance(node, sp.Mul) and sum(isinstance(each, sp.Add) for each in node.args) > 1:
            return False
        if isinstance(node, sp.Pow) and isinstance(node.base, sp.Add) and node.exp.is_Integer and node.exp > 1:
            return False
    return True


def is_truism(said: Proposition) -> bool:
    """Numbers alone, ``1 > 0``, or a token that sees itself, ``i <= i``: printed, it would say nothing."""
    return _PLAIN.fullmatch(latex(said)) is not None


#: A text up to this many characters may stand where it is used, again and again.
SHORT = 140


def shared(
    assumed: Iterable[Iterable[Proposition]], letters: Mapping[sp.Symbol, sp.Expr]
) -> dict[Proposition, tuple[Proposition, str]]:
    """Assumptions that would be printed again and again have a label."""
    uses: Counter[Proposition] = Counter()
    first: dict[Proposition, Proposition] = {}
    for each in (one for some in assumed for one in some):
        uses[canonical(each)] += 1
        first.setdefault(canonical(each), each)
    long = [each for each, times in uses.items() if (times - 1) * len(latex(shortened(first[each], letters))) > SHORT]
    return {each: (first[each], f"(A{number})") for number, each in enumerate(long, 1)}


@dataclass
class Labels:
    """Assumptions in print: one that many steps make is labelled where the first makes it."""

    shared: Mapping[Proposition, tuple[Proposition, str]]
    letters: Mapping[sp.Symbol, sp.Expr]
    introduced: set[str] = field(default_factory=set)

    def under(self, assumed: Iterable[Proposition]) -> str:
        known, new, plain = [], [], []
        for each in assumed:
            label = self.shared[canonical(each)][1] if canonical(each) in self.shared else ""
            if label in self.introduced:
                known.append(label)
            elif label:
                new.append((each, label))
            elif not is_truism(each):
                plain.append(shortened(each, self.letters))
        self.introduced |= {label for _, label in new}
        plain = [each for each in plain if not any(follows_at_once(each, other) for other in plain)]
        alone = len(plain) == 1 and isinstance(plain[0], Disjunction)
        texts = [latex(plain[0])] if alone else parts_latex(Conjunction(tuple(plain)))
        parts = [f"${each}$" for each in texts]
        found = [f"under {_ranges(known)}"] if known else []
        found += [f"if {' and '.join(parts)}"] if parts else []
        labelled = "; ".join(f"{label} ${latex(shortened(each, self.letters))}$" for each, label in new)
        return ", ".join(found + ([f"assuming {labelled}"] if labelled else []))


def _ranges(labels: Iterable[str]) -> str:
    """Labels in their order.

    >>> _ranges(["(A4)", "(A1)", "(A2)", "(A3)", "(A7)"])
    '(A1) to (A4), (A7)'
    """
    runs: list[list[int]] = []
    for number in sorted(int(each.strip("()A")) for each in labels):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = []
    for run in runs:
        texts += [f"(A{run[0]}) to (A{run[-1]})"] if len(run) > 2 else [f"(A{each})" for each in run]
    return ", ".join(texts)


# -- words for steps, systems and numbers ----------------------------------------------------------------------------------------

#: How the key of a proof says that it is about the system under a causal mask.
CAUSAL = ", causal"


def is_evident(said: Proposition) -> bool:
    """Is it true as soon as its sides are evaluated: ``0 <= rho^2``?"""
    relation = relation_of(said)
    return relation is not None and relation.func(*(side.doit() for side in relation.args)) == sp.true


def same_sides(said: Proposition) -> bool:
    """Are both sides printed alike, now that long terms have letters?"""
    relation = relation_of(said)
    return relation is not None and scalar_latex(relation.lhs) == scalar_latex(relation.rhs)


def listed(texts: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, end = texts
    return f"{', '.join(most)} and {end}" if most else end


def step_list(numbers: Iterable[int]) -> str:
    """The steps by their numbers.

    >>> step_list([3]), step_list([1, 3]), step_list([1, 2, 5]), step_list([1, 3, 4, 5, 6])
    ('Step 3', 'Steps 1 and 3', 'Steps 1, 2 and 5', 'Steps 1 and 3 to 6')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    said = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    said = [part for each in said for part in each.split(", ")]
    return f"Step{'s' if len(said) > 1 or 'to' in said[0] else ''} {listed(said)}"


def systems_in_words(names: Iterable[str]) -> str:
    """The systems of a derivation: `` for `oja-map` and `attention-map`, with a causal mask``; empty where it has none.

    >>> systems_in_words(["oja-map, causal", "attention-map, causal"])
    ' for `oja-map` and `attention-map`, with a causal mask'
    """
    plain: list[str] = []
    masked: list[str] = []
    for name in filter(None, names):
        (masked if name.endswith(CAUSAL) else plain).append(f"`{name.removesuffix(CAUSAL)}`")
    said = [listed(plain)] if plain else []
    said += [f"{listed(masked)}, with a causal mask"] if masked else []
    return f" for {'; for '.join(said)}" if said else ""


def cited(key: str) -> str:
    return rf"\cite{{{key}}}"


def decimal(number: str) -> str:
    """``1.52e-6`` as a power of ten."""
    digits, _, power = number.partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


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
    "summed": "summed",
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
