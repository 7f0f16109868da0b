"""Assumptions in print: one that many steps make has a label, and stands in full where the first step makes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import sympy as sp

from eigentoken.proofs.typeset.abbreviations import shortened
from eigentoken.proofs.typeset.obvious import is_truism
from eigentoken.theory.kernel.formulas import latex, parts_latex
from eigentoken.theory.kernel.propositions import Conjunction, Proposition, canonical

__all__ = ["SHORT", "Labels", "shared"]

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
        parts = [f"${each}$" for each in parts_latex(Conjunction(tuple(plain)))]
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
