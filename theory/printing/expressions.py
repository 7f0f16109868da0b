"""LaTeX for the expressions of the calculus: attention weights, means and dyads as in the papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    SLOT,
    Base,
    Expression,
    Index,
    Letter,
)
from eigentoken.theory.calculus.atoms import Delta, Dot, Exp, Mask, Norm, SumExp, indices_of, map_indices, transpose
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.printing.formulas import formula

__all__ = ["expression_latex"]

_BOUND = ("j", "m", "l'", "k'", "j'")
_GREEK = {"xi": r"\xi", "eta": r"\eta", "ybar": r"\bar y", "xbar": r"\bar x", "wbar": r"\bar w"}


@dataclass
class _Term:
    """One term taken apart for printing: weights ``a_ij`` are recognized, averages folded into means."""

    coefficient: sp.Expr
    bound: list[Index]
    weights: list[tuple[Index, Index, Letter]] = field(default_factory=list)
    factors: list[tuple[Any, int]] = field(default_factory=list)
    arrow: tuple[tuple[Letter, ...], Base] | None = None


def expression_latex(expression: Expression, operator: str | None = None, line_width: int = 0) -> str:
    """The expression as a sum of terms; with ``operator`` the vector of that name is left out: a matrix is printed.

    ``line_width`` breaks the sum into lines of an ``aligned`` block after about so many characters.
    """
    terms = [_taken_apart(monomial, value) for monomial, value in expression.terms.items()]
    shown = sorted((_term_latex(term, operator) for term in terms), key=lambda pair: (pair[0], len(pair[1]), pair[1]))
    text = ""
    width = 0
    for place, (negative, body) in enumerate(shown):
        sign = "-" if negative else ("" if place == 0 else "+")
        if line_width and place and width + len(body) > line_width:
            text += r" \\ &\qquad "
            width = 0
        elif place:
            text += " "
        text += sign + body
        width += len(body)
    return text or "0"


def _taken_apart(monomial: Monomial, value: sp.Expr) -> _Term:
    for atom, _ in monomial.factors:
        if isinstance(atom, Delta) and SLOT in (atom.first, atom.second):
            other = atom.second if atom.first == SLOT else atom.first
            rest = map_indices(tuple(pair for pair in monomial.factors if pair[0] != atom), {other: SLOT})
            kept = ((Delta(SLOT, other), 1), *rest)
            monomial = Monomial(monomial.bound, kept, map_indices(monomial.arrow, {other: SLOT}))
    term = _Term(value, list(monomial.bound), arrow=monomial.arrow)
    sums: dict[tuple[Index, Letter], int] = {}
    scores: list[tuple[Index, Index, Letter]] = []
    for atom, power in monomial.factors:
        if isinstance(atom, SumExp) and _score(atom.exponent) is not None:
            left, _, letter = _score(atom.exponent)  # type: ignore[misc]
            sums[left, letter] = -power
        elif isinstance(atom, Exp) and power == 1 and all(_score((part,)) is not None for part in atom.exponent):
            scores += [_score((part,)) for part in atom.exponent]  # type: ignore[misc]
        elif not isinstance(atom, Mask):
            term.factors.append((atom, power))
    counted: dict[tuple[Index, Letter], int] = {}
    for left, _, letter in scores:
        counted[left, letter] = counted.get((left, letter), 0) + 1
    if counted == sums:
        term.weights = scores
    else:
        term.factors += [pair for pair in monomial.factors if isinstance(pair[0], (Exp, SumExp))]
    for index in list(term.bound):
        _fold(term, index)
    return term


def _score(exponent: Any) -> tuple[Index, Index, Letter] | None:
    """(i, j, M) of an exponent ``x_i^T M x_j`` with the query first."""
    if len(exponent) != 1 or exponent[0][1] != 1 or len(exponent[0][0].factors) != 1:
        return None
    atom, power = exponent[0][0].factors[0]
    if (
        power != 1
        or not isinstance(atom, Dot)
        or len(atom.word) != 1
        or not atom.left.indices
        or not atom.right.indices
    ):
        return None
    first, second = atom.left.indices[0], atom.right.indices[0]
    turned = atom.word[0].transposed or second == SLOT
    letter = Letter(atom.word[0].name, False, atom.word[0].indices)
    return (second, first, letter) if turned else (first, second, letter)


def _fold(term: _Term, index: Index) -> None:
    """``sum_j a_ij x_j`` with j nowhere else becomes the mean ``xbar_i``."""
    rows = [weight for weight in term.weights if weight[1] == index]
    places = [atom for atom, _ in term.factors if index in indices_of(atom)]
    in_arrow = term.arrow is not None and index in indices_of(term.arrow)
    if len(rows) != 1 or any(weight[0] == index for weight in term.weights) or len(places) + in_arrow != 1:
        return
    old = Base("x", (index,))
    new = Base("xbar", (rows[0][0], *rows[0][2].indices))
    if in_arrow and term.arrow is not None and term.arrow[1] == old and index not in indices_of(term.arrow[0]):
        term.arrow = (term.arrow[0], new)
    elif (
        places
        and isinstance(places[0], Dot)
        and old in (places[0].left, places[0].right)
        and places[0].left != places[0].right
    ):
        atom = places[0]
        swapped = Dot(new if atom.left == old else atom.left, atom.word, new if atom.right == old else atom.right)
        term.factors = [(swapped if each == atom else each, power) for each, power in term.factors]
    else:
        return
    term.weights.remove(rows[0])
    term.bound.remove(index)


def _names(term: _Term) -> dict[Index, str]:
    table = {SLOT: "i"}
    tokens = [index for index in term.bound if index.kind != "head"]
    table |= {index: _BOUND[place] for place, index in enumerate(tokens)}
    table |= {index: "h" for index in term.bound if index.kind == "head"}
    return table


def _term_latex(term: _Term, operator: str | None) -> tuple[bool, str]:
    table = _names(term)
    negative = bool(term.coefficient.could_extract_minus_sign())
    coefficient = -term.coefficient if negative else term.coefficient
    parts = [] if coefficient == 1 else [formula(coefficient)]
    parts += [
        rf"\delta_{{{_index(atom.first, table)}{_index(atom.second, table)}}}"
        for atom, _ in term.factors
        if isinstance(atom, Delta)
    ]
    heads = [index for index in term.bound if index.kind == "head"]
    parts += [r"\sum_h" for _ in heads]
    parts += [rf"\sum_{{{table[index]}}}" for index in term.bound if index.kind != "head"]
    covector = ""
    for atom, power in term.factors:
        if isinstance(atom, Delta):
            continue
        if isinstance(atom, Dot) and operator is not None and operator in (atom.left.name, atom.right.name):
            other, word = (atom.left, atom.word) if atom.right.name == operator else (atom.right, transpose(atom.word))
            covector = f"{_row(other, table)}{_word(word, table)}".rstrip()
        else:
            parts.append(_atom(atom, power, table))
    parts += [_weight(weight, table) for weight in term.weights]
    if term.arrow is not None:
        word, base = term.arrow
        if operator is not None and base.name == operator:
            parts.append(_word(word, table) or "I")
        else:
            parts.append(_word(word, table) + _base(base, table))
    if covector:
        parts.append(covector)
    return negative, r"\,".join(part for part in parts if part)


def _index(index: Index, table: dict[Index, str]) -> str:
    return table.get(index, index.name)


def _weight(weight: tuple[Index, Index, Letter], table: dict[Index, str]) -> str:
    query, key, letter = weight
    head = "^h" if letter.indices else ""
    return rf"a{head}_{{{_index(query, table)}{_index(key, table)}}}"


def _word(word: Sequence[Letter], table: dict[Index, str]) -> str:
    shown = ""
    for letter in word:
        index = f"_{{{''.join(_index(each, table) for each in letter.indices)}}}" if letter.indices else ""
        shown += f"{letter.name}{index}" + (r"^\top " if letter.transposed else "")
    return shown


def _base(base: Base, table: dict[Index, str]) -> str:
    name = _GREEK.get(base.name, base.name)
    tokens = "".join(_index(each, table) for each in base.indices if each.kind != "head")
    head = "^h" if any(each.kind == "head" for each in base.indices) else ""
    return f"{name}{head}" + (f"_{{{tokens}}}" if tokens else "")


def _row(base: Base, table: dict[Index, str]) -> str:
    shown = _base(base, table)
    return rf"({shown})^\top " if "^" in shown else rf"{shown}^\top "


def _atom(atom: Any, power: int, table: dict[Index, str]) -> str:
    if isinstance(atom, Dot):
        inner = f"{_row(atom.left, table)}{_word(atom.word, table)}{_base(atom.right, table)}"
        return f"({inner})" + (f"^{{{power}}}" if power != 1 else "")
    if isinstance(atom, Norm):
        return rf"r_{{{_index(atom.indices[0], table)}}}" + (f"^{{{power}}}" if power != 1 else "")
    if isinstance(atom, Exp):
        return rf"\exp\bigl({expression_latex(Expression(dict(atom.exponent)))}\bigr)"
    if isinstance(atom, SumExp):
        return rf"Z^{{{power}}}"
    return str(atom)
