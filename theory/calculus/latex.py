"""LaTeX of the expressions of the calculus: sums over tokens and heads, inner products, attention, dyads.

``weights`` writes rows of attention as ``a_ij`` and averages as means, as the papers do for a Jacobian; without it the
exponentials are written out, as the proofs need them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import sympy as sp

from eigentoken.theory.calculus.atoms import (
    Base,
    Delta,
    Dot,
    Exp,
    Index,
    Letter,
    Letters,
    MaskEntry,
    Named,
    Norm,
    SumExp,
    indices_of,
    map_indices,
    transpose,
)
from eigentoken.theory.calculus.derivative import SLOT
from eigentoken.theory.calculus.expressions import Assumptions, Expression, Monomial, thawed
from eigentoken.theory.calculus.normal_form import least_spelling
from eigentoken.theory.printing.scalars import scalar_latex

__all__ = ["expression_latex", "index_latex"]

_BOUND_NAMES = "jklmpqr"
_VECTORS = {"xi": r"\xi", "eta": r"\eta", "ybar": r"\bar y", "xbar": r"\bar x", "wbar": r"\bar w"}

Names = Mapping[Index, str]
#: the letter of weights that no score decides
_NO_SCORE = Letter("")


@dataclass(frozen=True)
class _Weight:
    """``a_ij``, of the head that the letter belongs to."""

    query: Index
    key: Index
    letter: Letter


class _Square(NamedTuple):
    """``(a - b)^T W (a - b)``, which stands for four inner products."""

    first: Base
    letters: Letters
    second: Base


@dataclass
class _Term:
    """One term taken apart for print."""

    coefficient: sp.Expr
    bound: list[Index]
    factors: list[tuple[Any, int]] = field(default_factory=list)
    arrow: tuple[Letters, Base] | None = None


#: The time at which the state ``x`` is written, while an expression is printed.
_TIME: ContextVar[str] = ContextVar("time", default="")


def expression_latex(
    expression: Expression,
    *,
    weights: bool = False,
    operator: str | None = None,
    line_width: int = 0,
    time: str = "",
    taken: tuple[str, ...] = (),
) -> str:
    """The sum of terms; bound indices are named j, k, l, ..., none like a vector or an index that is free in any term.

    With ``operator`` the vector of that name is left out: a matrix is printed.  ``line_width`` breaks the sum into lines of an
    ``aligned`` block after about so many characters.  With ``time`` the tokens are those at this time, ``x_i(t)``.  Names
    that are ``taken`` stand for something beside the expression.
    """
    if time:
        token = _TIME.set(time)
        try:
            return expression_latex(expression, weights=weights, operator=operator, line_width=line_width, taken=taken)
        finally:
            _TIME.reset(token)
    if weights:
        terms = [_with_weights(monomial, value) for monomial, value in expression.terms.items()]
    else:
        spelled = [(least_spelling(monomial, Assumptions()), value) for monomial, value in expression.terms.items()]
        terms = [_Term(value, list(m.bound), list(m.factors), m.arrow) for m, value in sorted(spelled, key=repr)]
    free = {_index(index, {}) for index in expression.free_indices}.union(taken, *map(_vectors, expression.terms))
    shown = [_term(term, free, operator) for term in (terms if operator else _squares(terms))]
    if weights:
        shown.sort(key=lambda text: (text.startswith("-"), len(text), text))
    return _sum(shown, line_width)


def _sum(shown: list[str], line_width: int) -> str:
    text, width = "", 0
    for term in shown:
        joined = term if not text else f" - {term[1:].lstrip()}" if term.startswith("-") else f" + {term}"
        if line_width and text and width + len(term) > line_width:
            text, width = rf"{text} \\ &\qquad ", 0
        text, width = text + joined, width + len(term)
    return text or "0"


@lru_cache(maxsize=10_000)
def _vectors(thing: Any) -> frozenset[str]:
    """The names of the vectors that occur, also in exponents."""
    if isinstance(thing, Base):
        return frozenset((thing.name,))
    return frozenset().union(*map(_vectors, thing)) if isinstance(thing, tuple) else frozenset()


def _squares(terms: list[_Term]) -> list[_Term]:
    """``a^T W a + b^T W b - a^T W b - b^T W a``, times one thing, as ``(a - b)^T W (a - b)``, for any W."""
    while len(terms) > 2:
        beside: dict[Any, dict[Dot, _Term]] = {}
        for term in terms:
            for place, (atom, power) in enumerate(term.factors):
                if power == 1 and isinstance(atom, Dot):
                    rest = tuple(sorted(term.factors[:place] + term.factors[place + 1 :], key=repr))
                    beside.setdefault((tuple(term.bound), term.arrow, rest), {})[atom] = term
        found = next(filter(None, (_square(*each) for each in beside.items())), None)
        if found is None:
            break
        made, used = found
        terms = [made, *(each for each in terms if not any(each is other for other in used))]
    return terms


def _square(place: Any, terms: Mapping[Dot, _Term]) -> tuple[_Term, list[_Term]] | None:
    """One such square among inner products that stand beside the same, and the terms that it takes the place of."""
    own = [atom for atom in terms if atom.left == atom.right]
    for number, one in enumerate(own):
        for two in own[number + 1 :]:
            scale = terms[one].coefficient
            if one.letters != two.letters or terms[two].coefficient != scale:
                continue
            mixed = _mixed(terms, one, two, scale)
            if mixed:
                bound, arrow, rest = place
                first, second = sorted((one.left, two.left), key=repr)
                factors = sorted([(_Square(first, one.letters, second), 1), *rest], key=_square_first)
                made = _Term(scale, list(bound), factors, arrow)
                return made, [terms[each] for each in (one, two, *mixed)]
    return None


def _square_first(factor: tuple[Any, int]) -> tuple[bool, str]:
    return not isinstance(factor[0], _Square), repr(factor)


def _mixed(terms: Mapping[Dot, _Term], one: Dot, two: Dot, scale: sp.Expr) -> list[Dot]:
    """The inner products of a with b, either way round, where they are ``- a^T W b - b^T W a``; else none."""
    ways = [(one.left, one.letters, two.left), (two.left, one.letters, one.left)]
    if not one.letters:
        found = [Dot(*each) for each in ways if Dot(*each) in terms]
        return found if sum(terms[each].coefficient for each in found) == -2 * scale else []
    found = []
    for left, letters, right in ways:
        spelled = {Dot(left, letters, right), Dot(right, transpose(letters), left)}.intersection(terms)
        if len(spelled) != 1 or terms[(only := spelled.pop())].coefficient != -scale or only in found:
            return []
        found.append(only)
    return found


# -- rows of attention ------------------------------------------------------------------------------------------------


def _with_weights(monomial: Monomial, value: sp.Expr) -> _Term:
    """Exponentials over their sums as weights, and averages folded into means."""
    for atom, _ in monomial.factors:
        if isinstance(atom, Delta) and SLOT in (atom.first, atom.second):
            other = atom.second if atom.first == SLOT else atom.first
            rest = map_indices(tuple(pair for pair in monomial.factors if pair[0] != atom), {other: SLOT})
            kept = ((Delta(SLOT, other), 1), *rest)
            monomial = Monomial(monomial.bound, kept, map_indices(monomial.arrow, {other: SLOT}))
    term = _Term(value, list(monomial.bound), arrow=monomial.arrow)
    sums: dict[tuple[Index, Letter], int] = {}
    found = _even_weights(monomial)
    sums |= {(each.query, each.letter): 1 for each in found}
    even = {each.query for each in found}
    for atom, power in monomial.factors:
        if isinstance(atom, SumExp) and not atom.exponent and atom.masks and atom.masks[0].query in even:
            continue
        score = _score(atom.exponent) if isinstance(atom, SumExp) else None
        parts = [_score((part,)) for part in atom.exponent] if isinstance(atom, Exp) and power == 1 else [None]
        if score is not None:
            sums[score.query, score.letter] = -power
        elif None not in parts:
            found += [part for part in parts if part is not None]
        elif not isinstance(atom, MaskEntry):
            term.factors.append((atom, power))
    counted: dict[tuple[Index, Letter], int] = {}
    for each in found:
        counted[each.query, each.letter] = counted.get((each.query, each.letter), 0) + 1
    masked = {atom.query for atom, _ in monomial.factors if isinstance(atom, MaskEntry)}
    if counted != sums or masked - {query for query, _ in sums}:
        return _Term(value, list(monomial.bound), list(monomial.factors), monomial.arrow)
    for index in list(term.bound):
        _fold(term, found, index)
    term.factors += [(each, 1) for each in found]
    return term


def _even_weights(monomial: Monomial) -> list[_Weight]:
    """``m_ij / sum_l m_il``: the weights of a mask without scores, each with one entry and one sum over its row."""
    masks = [atom for atom, power in monomial.factors if isinstance(atom, MaskEntry) and power == 1]
    rows = [
        atom.masks[0].query
        for atom, power in monomial.factors
        if isinstance(atom, SumExp) and not atom.exponent and power == -1 and len(atom.masks) == 1
    ]
    found = [_Weight(each.query, each.key, _NO_SCORE) for each in masks if rows.count(each.query) == 1]
    return found if len({each.query for each in found}) == len(found) == len(rows) else []


def _score(exponent: Any) -> _Weight | None:
    """The row of an exponent ``x_i^T M x_j``, the query first."""
    if len(exponent) != 1 or exponent[0][1] != 1 or len(exponent[0][0].factors) != 1:
        return None
    atom, power = exponent[0][0].factors[0]
    if power != 1 or not isinstance(atom, Dot) or len(atom.letters) != 1:
        return None
    if not atom.left.indices or not atom.right.indices:
        return None
    first, second = atom.left.indices[0], atom.right.indices[0]
    turned = atom.letters[0].transposed or second == SLOT
    letter = Letter(atom.letters[0].name, False, atom.letters[0].indices)
    return _Weight(second, first, letter) if turned else _Weight(first, second, letter)


def _fold(term: _Term, found: list[_Weight], index: Index) -> None:
    """``sum_j a_ij x_j`` with j nowhere else becomes the mean ``xbar_i``; a mean of squares is no square of a mean."""
    rows = [weight for weight in found if weight.key == index]
    places = [atom for atom, _ in term.factors if index in indices_of(atom)]
    if any(power != 1 for atom, power in term.factors if atom in places):
        return
    in_arrow = term.arrow is not None and index in indices_of(term.arrow)
    if len(rows) != 1 or any(weight.query == index for weight in found) or len(places) + in_arrow != 1:
        return
    old = Base("x", (index,))
    new = Base("xbar", (rows[0].query, *rows[0].letter.indices))
    if in_arrow and term.arrow is not None and term.arrow[1] == old and index not in indices_of(term.arrow[0]):
        term.arrow = (term.arrow[0], new)
    elif places and isinstance(places[0], Dot) and (places[0].left == old) != (places[0].right == old):
        atom = places[0]
        swapped = Dot(new if atom.left == old else atom.left, atom.letters, new if atom.right == old else atom.right)
        term.factors = [(swapped if each == atom else each, power) for each, power in term.factors]
    else:
        return
    found.remove(rows[0])
    term.bound.remove(index)


# -- terms and atoms --------------------------------------------------------------------------------------------------


def _term(term: _Term, free: set[str], operator: str | None) -> str:
    fresh = iter(each for each in _BOUND_NAMES if each not in free)
    heads = iter(("h", "g"))
    names = {index: next(heads) if index.kind == "head" else next(fresh) for index in term.bound}
    summed = _squared_sum(term)
    sums = _sums([names[index] for index in term.bound if index not in summed])
    covector, factors = "", []
    for atom, power in term.factors:
        if isinstance(atom, Dot) and operator is not None and operator in (atom.left.name, atom.right.name):
            other, letters = (
                (atom.left, atom.letters) if atom.right.name == operator else (atom.right, transpose(atom.letters))
            )
            covector = " ".join([_row(other, names), *(_letter(each, names) for each in letters)])
        else:
            factors.append((atom, power))
    if summed:
        whole = next(each for each in factors if set(summed) & set(indices_of(each[0])))
        factors.remove(whole)
    alone = term.arrow is None and not covector and not summed
    below = any(power < 0 for _, power in factors)
    top = _product([(atom, power) for atom, power in factors if power > 0], names, alone=alone or below)
    if summed:
        total = (
            rf"\left|\sum_{{{names[summed[0]]}}} {_base(Base(whole[0].left.name, (summed[0],)), names)}\right|^{{2}}"
        )
        top = f"{total} {top}".strip()
    bottom = _product([(atom, -power) for atom, power in factors if power < 0], names, alone=True, below=True)
    body = rf"\frac{{{top or 1}}}{{{bottom}}}" if bottom else top
    arrow = ""
    if term.arrow is not None:
        matrices, base = term.arrow
        shown = [_letter(each, names) for each in matrices]
        arrow = " ".join(shown or ["I"]) if base.name == operator else " ".join([*shown, _base(base, names)])
    scale = "" if term.coefficient == 1 else "-" if term.coefficient == -1 else scalar_latex(term.coefficient)
    if isinstance(term.coefficient, sp.Add) and (sums or body or arrow or covector):
        scale = rf"\left({scale}\right)"
    parts = " ".join(part for part in (scale, sums, body, arrow, covector) if part)
    return parts if (body or arrow or covector or scale not in ("", "-")) else f"{parts}1"


def _squared_sum(term: _Term) -> tuple[Index, ...]:
    """The two indices of ``sum_jk x_j^T x_k``, which is ``|sum_j x_j|^2``; else none."""
    for atom, power in term.factors:
        if not isinstance(atom, Dot) or power != 1 or atom.letters or atom.left.name != atom.right.name:
            continue
        pair = (*atom.left.indices, *atom.right.indices)
        others = [each for each, _ in term.factors if each is not atom]
        alone = not any(set(pair) & set(indices_of(each)) for each in (*others, term.arrow))
        if len(set(pair)) == 2 and set(pair) <= set(term.bound) and alone and len(atom.left.indices) == 1:
            return pair
    return ()


def _sums(letters: list[str]) -> str:
    """One sign of summation for letters that run over the same tokens or heads, or for all of them."""
    return rf"\sum_{{{', '.join(letters)}}} " if letters else ""


def _product(factors: list[tuple[Any, int]], names: Names, *, alone: bool, below: bool = False) -> str:
    """The factors; an inner product that stands alone has no parentheses around it, nor a row that stands below a line."""
    if alone and len(factors) == 1 and factors[0][1] == 1 and _bracketed(factors[0][0]):
        return _factor(factors[0][0], 1, names)[1:-1]
    if below and len(factors) == 1 and factors[0][1] == 1 and isinstance(factors[0][0], SumExp):
        return _factor(factors[0][0], 1, names).removeprefix(r"\Big(").removesuffix(r"\Big)")
    return " ".join(_factor(atom, power, names) for atom, power in factors)


def _bracketed(atom: Any) -> bool:
    """``|x|^2`` has no parentheses, ``(x^T y)`` has."""
    return isinstance(atom, Dot) and (atom.left != atom.right or bool(atom.letters))


def _factor(atom: Any, power: int, names: Names) -> str:
    """An atom to a power; ``(z^T z)^k`` is ``|z|^{2k}``."""
    if isinstance(atom, Dot) and atom.left == atom.right and not atom.letters:
        return rf"|{_base(atom.left, names)}|^{{{2 * power}}}"
    return _power(_atom(atom, names), power)


#: A letter, with or without an index below it.
_ONE_LETTER = re.compile(r"\\?[A-Za-z]+(_\{\w+\})?")


def _power(text: str, power: int) -> str:
    if power == 1:
        return text
    plain = text.startswith("(") or _ONE_LETTER.fullmatch(text)
    return rf"{text}^{{{power}}}" if plain else rf"\left({text}\right)^{{{power}}}"


def _index(index: Index, names: Names) -> str:
    return names.get(index, {"*": "m", "slot": "i"}.get(index.name, index_latex(index.name)))


def index_latex(name: str) -> str:
    """``a0`` is ``a`` with the mark 0.

    >>> index_latex("a0"), index_latex("i")
    ('a_{0}', 'i')
    """
    return re.sub(r"^([a-z])(\d+)$", r"\1_{\2}", name)


def _indices(indices: tuple[Index, ...], names: Names) -> str:
    return rf"_{{{''.join(_index(each, names) for each in indices)}}}" if indices else ""


def _letter(letter: Letter, names: Names) -> str:
    mark = r"^{\top}" if letter.transposed else ""
    return f"{letter.name}{_indices(letter.indices, names)}{mark}"


def _base(base: Base, names: Names) -> str:
    """A vector; the head of a mean is written above."""
    heads = [each for each in base.indices if each.kind == "head"] if base.name in _VECTORS else []
    above = f"^{{{''.join(_index(each, names) for each in heads)}}}" if heads else ""
    tokens = tuple(each for each in base.indices if each not in heads)
    moment = f"({_TIME.get()})" if base.name == "x" and _TIME.get() else ""
    letter = _VECTORS.get(base.name, base.name)
    name = rf"\mathrm{{{letter}}}" if len(letter) > 1 and letter.isalpha() else letter
    return f"{name}{above}{_indices(tokens, names)}{moment}"


def _row(base: Base, names: Names) -> str:
    shown = _base(base, names)
    if "'" in shown:  # a prime is a superscript, and after an index there is no second one
        return rf"{{{shown}}}^{{\top}}"
    return rf"({shown})^{{\top}}" if "^" in shown else rf"{shown}^{{\top}}"


def _atom(atom: Any, names: Names) -> str:
    if isinstance(atom, _Square):
        apart = f"{_base(atom.first, names)} - {_base(atom.second, names)}"
        if not atom.letters:
            return rf"\left|{apart}\right|^{{2}}"
        middle = " ".join(_letter(each, names) for each in atom.letters)
        return rf"({apart})^{{\top}} {middle} ({apart})"
    if isinstance(atom, Dot):
        middle = "".join(f"{_letter(each, names)} " for each in atom.letters)
        return rf"({_row(atom.left, names)} {middle}{_base(atom.right, names)})"
    if isinstance(atom, _Weight):
        head = f"^{{{''.join(_index(each, names) for each in atom.letter.indices)}}}" if atom.letter.indices else ""
        return rf"a{head}{_indices((atom.query, atom.key), names)}"
    if isinstance(atom, Exp):
        return rf"e^{{{_inner(atom.exponent, names)}}}"
    if isinstance(atom, SumExp):
        inner = {**names, atom.bound: "m"}
        masks = "".join(rf"{_mask(each)}{_indices((each.query, each.key), inner)} " for each in atom.masks)
        return rf"\Big(\sum_{{m}} {masks}e^{{{_inner(atom.exponent, inner)}}}\Big)"
    if isinstance(atom, Norm | Named):
        return f"{atom.name}{_indices(atom.indices, names)}"
    if isinstance(atom, Delta):
        return rf"\delta{_indices((atom.first, atom.second), names)}"
    if isinstance(atom, MaskEntry):
        return rf"{_mask(atom)}{_indices((atom.query, atom.key), names)}"
    raise TypeError(f"no LaTeX for {type(atom).__name__}: teach expression_latex")


def _mask(entry: MaskEntry) -> str:
    """The name of a mask, upright where it is a word."""
    return entry.name if len(entry.name) == 1 else rf"\mathrm{{{entry.name}}}"


def _inner(frozen: Any, names: Names) -> str:
    parts = []
    for monomial, value in thawed(frozen).terms.items():
        factors = _product(list(monomial.factors), names, alone=True)
        parts.append(factors if value == 1 else f"{scalar_latex(value)} {factors}")
    return " + ".join(parts) or "0"
