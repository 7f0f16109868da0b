"""One spelling for each term: the direction of inner products, and the names of bound indices."""

from __future__ import annotations

import itertools
from typing import Any

from eigentoken.theory.calculus.assumptions import Assumptions
from eigentoken.theory.calculus.atoms import Dot, Exp, Index, Letter, SumExp, map_indices, transpose
from eigentoken.theory.calculus.expressions import Monomial

__all__ = ["least_spelling", "oriented"]


def oriented(atom: Dot, rules: Assumptions) -> Dot:
    """``a^T W b`` or ``b^T W^T a``: fewer transposes first, then the order of the names."""
    flipped_word = tuple(
        Letter(each.name, False, each.indices) if each.name in rules.symmetric else each
        for each in transpose(atom.word)
    )
    flipped = Dot(atom.right, flipped_word, atom.left)
    return min(atom, flipped, key=lambda each: (sum(part.transposed for part in each.word), repr(each)))


def least_spelling(monomial: Monomial, rules: Assumptions) -> Monomial:
    """The monomial with its bound indices named 1, 2, ... so that its text is the least one."""
    kinds: dict[str, list[Index]] = {}
    for index in monomial.bound:
        kinds.setdefault(index.kind, []).append(index)
    names = {kind: [Index(kind, str(place + 1)) for place in range(len(found))] for kind, found in kinds.items()}
    spellings = []
    for orders in itertools.product(*(itertools.permutations(found) for found in kinds.values())):
        table: dict[Index, Index] = {}
        for kind, order in zip(kinds, orders, strict=True):
            table.update(zip(order, names[kind], strict=True))
        renamed = map_indices(monomial, table)
        factors = tuple(sorted(((_respelled(each, rules), power) for each, power in renamed.factors), key=repr))
        spellings.append(Monomial(tuple(sorted(renamed.bound)), factors, renamed.arrow))
    return min(spellings, key=repr)


def _respelled(atom: Any, rules: Assumptions) -> Any:
    """The factor with its inner products in the preferred direction, after a change of names."""
    if isinstance(atom, Dot):
        return oriented(atom, rules)
    if isinstance(atom, Exp):
        return Exp(_respelled_terms(atom.exponent, rules))
    if isinstance(atom, SumExp):
        return SumExp(atom.bound, _respelled_terms(atom.exponent, rules), tuple(sorted(atom.masks)))
    return atom


def _respelled_terms(terms: Any, rules: Assumptions) -> Any:
    changed = []
    for monomial, value in terms:
        factors = tuple(sorted(((_respelled(each, rules), power) for each, power in monomial.factors), key=repr))
        changed.append((Monomial(monomial.bound, factors, monomial.arrow), value))
    return tuple(sorted(changed, key=repr))
