"""Propositions as claims, and how they are printed: binders with sort and guard, connectives in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import Expression, Index, MaskEntry
from eigentoken.theory.calculus.atoms import Dot, transpose
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.calculus.latex import expression_latex, index_latex
from eigentoken.theory.kernel.propositions import (
    FALSE,
    TRUE,
    AnyLetter,
    Atom,
    Binder,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    ForAll,
    ForAlmostEvery,
    Implication,
    Negation,
    Proposition,
    bound_letters,
    conjuncts,
    free_letters,
    quantities,
    relation_of,
)
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import (
    STATE,
    Opposite,
    Rate,
    Slope,
    Tensor,
    VectorLetter,
    bases_of,
    in_brackets,
    letters_in,
)
from eigentoken.theory.language.claims import InFull
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.scalars import scalar_latex

__all__ = ["SIGNS", "Formula", "latex", "parts_latex"]


@dataclass(frozen=True)
class Formula(InFull):
    """A proposition as a claim: what no word of the language says, said in full.

    Letters that it does not bind are the parameters of the system, and ``x`` is any state of it.
    """

    said: Proposition

    def __post_init__(self) -> None:
        if not isinstance(self.said, Proposition):
            raise TypeError(f"a formula is made of a proposition of the kernel, got {self.said!r}")
        letters = free_letters(self.said) | bound_letters(self.said)
        numbers = [each.name for each in letters if isinstance(each, sp.Symbol)]
        twice = sorted({name for name in numbers if numbers.count(name) > 1})
        if twice:
            raise Refused(f"{', '.join(twice)} would stand for two numbers in print: give one of them another name")


_KINDS = {"token": r"\text{token }", "head": r"\text{head }"}


@lru_cache(maxsize=100_000)
def latex(said: Proposition) -> str:
    r"""A proposition in LaTeX, for math mode.

    >>> x = sp.Symbol("x", real=True)
    >>> from eigentoken.theory.kernel.propositions import proposition
    >>> print(latex(ForAll(x, proposition(x > 1), proposition(x**2 > 1))))
    \text{for every } \text{real } x > 1\text{: } x^{2} > 1
    """
    return LATEX(said)


@LATEX.register(Atom)
def latex_atom(said: Atom) -> str:
    relation = relation_of(said)
    order = _order(relation)
    if order:
        return order
    if relation is None:
        return LATEX(said.word)
    taken = _taken(relation)
    if not any(map(_alone, relation.args)):
        return scalar_latex(relation, taken) if taken else LATEX(said.word)
    left, right = (side.plain_latex(taken) if _alone(side) else scalar_latex(side, taken) for side in relation.args)
    return f"{left} {SIGNS[type(relation)]} {right}"


def _taken(relation: sp.Basic) -> tuple[str, ...]:
    """The indices that stand free in it: no sum in it runs over one of these letters."""
    terms = relation.atoms(Tensor)
    if not any(monomial.bound for each in terms for monomial, _ in each.key):
        return ()
    return tuple(
        sorted({index_latex(each.name) for term in terms for each in term.letters() if isinstance(each, Index)})
    )


def _order(relation: Any) -> str:
    """Entries of the causal mask, in the order of the tokens: token i sees token j where ``j <= i``."""
    if not isinstance(relation, sp.Eq) or relation.rhs not in (0, 1) or not isinstance(relation.lhs, Tensor):
        return ""
    terms = list(relation.lhs.expression.terms.items()) if type(relation.lhs) is Tensor else []
    if len(terms) != 1 or terms[0][1] != 1 or len(terms[0][0].factors) != 1 or terms[0][0].bound:
        return ""
    entry, power = terms[0][0].factors[0]
    if not isinstance(entry, MaskEntry) or entry.name != "causal" or power != 1:
        return ""
    query, key = index_latex(entry.query.name), index_latex(entry.key.name)
    return f"{query} < {key}" if relation.rhs == 0 else rf"{key} \leq {query}"


def _alone(side: sp.Basic) -> bool:
    return isinstance(side, Tensor) and (side.time is None or side.made_of_tokens())


_BELOW = {sp.Ge: r"\leq", sp.Gt: "<"}
SIGNS = {sp.Eq: "=", sp.Ne: r"\neq", sp.Le: r"\leq", sp.Ge: r"\geq", sp.Lt: "<", sp.Gt: ">"}


def _side(said: Proposition) -> str:
    """Beside ``if``, ``then`` or an equivalence, which bind weaker than ``and`` and ``or``: no parentheses around these."""
    if isinstance(said, Conjunction | Disjunction):
        return latex(said)
    return _inner(said)


def _inner(said: Proposition) -> str:
    """Inside another connective: what is more than an atom stands in parentheses."""
    text = latex(said)
    plain = (
        isinstance(said, Atom)
        or said in (TRUE, FALSE)
        or (isinstance(said, Negation) and bool(_is_not(said.part)))
        or (isinstance(said, ForAll) and bool(_vector_equation(said)))
    )
    return text if plain else rf"\bigl({text}\bigr)"


@LATEX.register(Conjunction)
def latex_conjunction(said: Conjunction) -> str:
    r"""Bounds of one term from both sides are one chain.

    >>> x = sp.Symbol("x", real=True)
    >>> from eigentoken.theory.kernel.propositions import proposition
    >>> print(latex(Conjunction((proposition(x >= 1), proposition(sp.Ne(x, 3)), proposition(x < 5)))))
    1 \leq x < 5\text{ and }x \neq 3
    """
    return r"\text{ and }".join(parts_latex(said)) or r"\text{true}"


def parts_latex(said: Proposition) -> list[str]:
    """What is said together, one text a part; two bounds of one term are one part."""
    parts = list(conjuncts(said))
    texts: list[str] = []
    while parts:
        first = parts.pop(0)
        chained = next((each for each in parts if _chain(first, each)), None)
        texts.append(_inner(first) if chained is None else _chain(first, chained))
        if chained is not None:
            parts.remove(chained)
    return texts


def _chain(one: Proposition, other: Proposition) -> str:
    """``a <= x <= b``, where one bounds a term from below by a term and the other bounds it from above; else nothing."""
    first, second = relation_of(one), relation_of(other)
    kinds = (sp.Ge | sp.Gt, sp.Le | sp.Lt)
    for lower, upper in ((first, second), (second, first)):
        if isinstance(lower, kinds[0]) and isinstance(upper, kinds[1]) and lower.args[0] == upper.args[0]:
            middle, last = (side.plain_latex() if _alone(side) else scalar_latex(side) for side in upper.args)
            least = lower.args[1]
            least_said = least.plain_latex() if _alone(least) else scalar_latex(least)
            return f"{least_said} {_BELOW[type(lower)]} {middle} {SIGNS[type(upper)]} {last}"
    return ""


@LATEX.register(Disjunction)
def latex_disjunction(said: Disjunction) -> str:
    return r"\text{ or }".join(map(_inner, said.parts)) if said.parts else r"\text{false}"


@LATEX.register(Negation)
def latex_negation(said: Negation) -> str:
    return _is_not(said.part) or rf"\text{{not }} {_inner(said.part)}"


def _is_not(said: Proposition) -> str:
    """A word that says what something is, as what it is not; empty for all else."""
    text = latex(said) if isinstance(said, Atom) else ""
    return text.replace(_IS, r"\text{ is not ") if text.count(_IS) == 1 else ""


_IS = r"\text{ is "


@LATEX.register(Implication)
def latex_implication(said: Implication) -> str:
    if said.right == FALSE:
        return latex(Negation(said.left))
    first = latex(said.left) if isinstance(said.left, Binder) else _side(said.left)
    last = latex(said.right) if isinstance(said.right, Binder | Implication) else _side(said.right)
    return rf"\text{{if }} {first},\text{{ then }} {last}"


@LATEX.register(Equivalence)
def latex_equivalence(said: Equivalence) -> str:
    return rf"{_side(said.left)} \iff {_side(said.right)}"


@LATEX.register(ForAlmostEvery)
def latex_almost_every(said: ForAlmostEvery) -> str:
    return rf"\text{{for almost every start: }} {latex(said.body)}"


def _vector_equation(said: Binder) -> str:
    """``for every z: z^T a = z^T b`` is ``a = b``, and is printed so; nothing of any other shape."""
    relation = relation_of(said.body)
    if not (isinstance(said, ForAll) and isinstance(said.letter, VectorLetter) and said.guard == TRUE):
        return ""
    if not isinstance(relation, sp.Eq):
        return ""
    places = {base for side in relation.args for each in side.atoms(Tensor) for base in bases_of(each.key)}
    if len({base for base in places if base.name == said.letter.name}) != 1:  # one vector, not two of a family
        return ""
    taken = _taken(relation)
    sides = [_vector_latex(side, said.letter.name, taken) for side in relation.args]
    return " = ".join(sides) if all(sides) else ""


def _vector_latex(side: sp.Basic, name: str, taken: tuple[str, ...] = ()) -> str:
    if side == 0:
        return "0"
    if isinstance(side, sp.Mul):
        quantities = [each for each in side.args if isinstance(each, Tensor)]
        scale = sp.Mul(*(each for each in side.args if not isinstance(each, Tensor)))
        text = _vector_latex(quantities[0], name, taken) if len(quantities) == 1 and not scale.has(Tensor) else ""
        wide = len(quantities[0].key) > 1 if quantities else False
        number = rf"\left({scalar_latex(scale)}\right)" if isinstance(scale, sp.Add) else scalar_latex(scale)
        return text and f"{number} " + (rf"\left({text}\right)" if wide else text)
    if not isinstance(side, Tensor) or side.time is not None or getattr(side, "along", "") == name:
        return ""
    terms: dict[Monomial, sp.Expr] = {}
    for monomial, coefficient in side.expression.terms.items():
        with_it = [each for each in monomial.factors if any(base.name == name for base in bases_of(each))]
        if len(with_it) != 1 or not isinstance(with_it[0][0], Dot) or with_it[0][1] != 1:
            return ""
        product = with_it[0][0]
        own = product.left if product.left.name == name else product.right
        if product.left.name == product.right.name or set(own.indices) & set(monomial.bound):
            return ""
        arrow = (
            (product.letters, product.right)
            if product.left.name == name
            else (transpose(product.letters), product.left)
        )
        rest = tuple(each for each in monomial.factors if each is not with_it[0])
        terms[Monomial(monomial.bound, rest, arrow)] = coefficient
    text = expression_latex(Expression(terms), weights=True, taken=taken)
    if isinstance(side, Slope):
        return rf"\mathrm{{D}}{in_brackets(text)}({side.along})"
    if isinstance(side, Opposite):
        return rf"{in_brackets(text)}(-{STATE})"
    return rf"\Delta{in_brackets(text)}" if isinstance(side, Rate) else text


@LATEX.register(Binder)
def latex_binder(said: Binder) -> str:
    plain = _vector_equation(said)
    if plain:
        return plain
    bound, rest = _bound(said)
    guard = "" if rest == TRUE else rf" \text{{ with }} {_guard(rest)}"
    if isinstance(said, Exists):
        text = latex(said.body)
        if not guard and isinstance(said.body, Exists) and text.startswith(_THERE_IS):
            return rf"{_there_is(bound)}\text{{ and {text.removeprefix(_THERE_IS)}"
        such = "" if said.body == TRUE else rf" \text{{ such that }} {text}"
        return f"{_there_is(bound)}{guard}{such}"
    inner = said.body
    if isinstance(inner, ForAll) and not guard and not _vector_equation(inner):
        more, sort = latex(inner), _sort(said.letter, bound)
        for before in (rf"\text{{for every }} {sort}", rf"\text{{for all }} {_several(sort)}"):
            if sort and sort == _sort(inner.letter, _bound(inner)[0]) and more.startswith(before):
                tail, alone = more.removeprefix(before), rf"{_named(inner.letter)}\text{{, }} "
                if (
                    before.startswith(_FOR_EVERY)
                    and tail.startswith(alone)
                    and not tail.startswith(rf"{alone}\text{{all }}")
                ):
                    tail = rf"{alone}\text{{every }} {tail.removeprefix(alone)}"
                return rf"\text{{for all }} {_several(sort)}{_named(said.letter)}, {tail}"
        other = rf"\text{{all }} {more.removeprefix(_FOR_ALL)}" if more.startswith(_FOR_ALL) else more
        return rf"\text{{for every }} {bound}\text{{, }} {other.removeprefix(_FOR_EVERY)}"
    return rf"\text{{for every }} {bound}{guard}\text{{: }} {latex(said.body)}"


def _guard(said: Proposition) -> str:
    """What ends at the colon stands as it is; another binder or an implication, with a colon of its own, in parentheses."""
    return latex(said) if isinstance(said, Conjunction) else _inner(said)


def _sort(letter: AnyLetter, bound: str) -> str:
    """The words before a letter that stands alone: ``real`` of ``real x``, nothing of ``real t >= 0``."""
    named = bound.endswith(f" {_named(letter)}")
    return bound.removesuffix(_named(letter)) if named and bound.startswith(r"\text{") else ""


_FOR_EVERY, _FOR_ALL = r"\text{for every } ", r"\text{for all } "
#: The words for several letters of a sort, where they are not the word for one.
_PLURALS = {"family of": "families of", "matrix": "matrices", "index": "indices"}
_COUNTED = ("token", "head", "vector", "state", "integer")


def _several(sort: str) -> str:
    r"""The words before letters of one sort.

    >>> _several(r"\text{token } "), _several(r"\text{real } "), _several(r"\text{family of vectors } ")
    ('\\text{tokens } ', '\\text{real } ', '\\text{families of vectors } ')
    """
    for one, more in (*_PLURALS.items(), *((each, f"{each}s") for each in _COUNTED)):
        if sort.startswith(r"\text{" + one + " ") or sort.endswith(f" {one} }} "):
            return sort.replace(one, more, 1)
    return sort


_THERE_IS = r"\text{there is "


def _there_is(bound: str) -> str:
    """``there is a vector z``, ``there is an integer m``, ``there is t >= 0``."""
    if not bound.startswith(r"\text{"):
        return rf"\text{{there is }} {bound}"
    article = "an" if bound.startswith((r"\text{i", r"\text{e")) else "a"
    return rf"\text{{there is {article} }} {bound}"


def _bound(said: Binder) -> tuple[str, Proposition]:
    """The letter of a binder with its sort and its bounds, and what else the guard says of it.

    Vectors and matrices of which there is one for each token or head are a family.
    """
    letter = said.letter
    if isinstance(letter, sp.Symbol):
        return _number(letter, said.guard)
    terms = [each for part in (said.guard, said.body) for each in quantities(part)]
    if isinstance(letter, VectorLetter) and letter.name != STATE:
        bases = {base for each in terms for base in bases_of(each.key)}
        if any(base.name == letter.name and base.indices for base in bases):
            return rf"\text{{family of vectors }} {letter.name}", said.guard
    if isinstance(letter, sp.MatrixSymbol):
        used = {each for term in terms for each in letters_in(term.key)}
        kind = "family of matrices" if any(each.name == letter.name and each.indices for each in used) else "matrix"
        return rf"\text{{{kind} }} {_named(letter)}", said.guard
    return _letter(letter), said.guard


def _named(letter: AnyLetter) -> str:
    if isinstance(letter, Index):
        return index_latex(letter.name)
    return letter.name if isinstance(letter, VectorLetter) else str(sp.latex(letter))


def _letter(letter: AnyLetter) -> str:
    """A letter with its sort."""
    if isinstance(letter, Index):
        return _KINDS.get(letter.kind, r"\text{index }") + " " + _named(letter)
    kind = "state" if letter.name == STATE else "vector"
    return rf"\text{{{kind} }} {_named(letter)}"


def _number(letter: sp.Symbol, guard: Proposition) -> tuple[str, Proposition]:
    """A number with the bounds that its guard gives it, or its sign: ``real t >= 0``, ``eps > 0``; what is left of the guard."""
    parts = list(conjuncts(guard))
    lower, upper = (next((each for each in parts if _bounds(each, letter, kind)), None) for kind in _BOUNDS)
    found = tuple(each for each in (lower, upper) if each is not None)
    sign = "positive" if letter.is_positive else "nonnegative" if letter.is_nonnegative else ""
    if lower is not None and _says_sign(relation_of(lower), letter):
        sign = ""
    kind, text = "integer" if letter.is_integer else "real", latex(Conjunction(found)) if found else _named(letter)
    if sign and not found:
        text, kind = f"{text} > 0" if letter.is_positive else rf"{text} \geq 0", kind.removeprefix("real")
    elif sign:
        kind = f"{sign} {kind}"
    rest = [each for each in parts if each not in found]
    return rf"\text{{{kind} }} {text}" if kind else text, rest[0] if len(rest) == 1 else Conjunction(tuple(rest))


_BOUNDS = (sp.Ge | sp.Gt, sp.Le | sp.Lt)


def _bounds(said: Proposition, letter: sp.Symbol, kind: Any) -> bool:
    """Is it a bound of that kind of the letter, by a term without it?"""
    relation = relation_of(said)
    return isinstance(relation, kind) and relation.args[0] == letter and letter not in free_letters(relation.args[1])


def _says_sign(lower: Any, letter: sp.Symbol) -> bool:
    """Does a lower bound say the sign that the letter has: ``t >= 1`` or ``t > 0`` of a positive one?"""
    least = lower.args[1]
    strict = bool(least.is_positive or (least.is_nonnegative and isinstance(lower, sp.Gt)))
    return strict or bool(least.is_nonnegative and not letter.is_positive)


@LATEX.register(Formula)
def latex_formula(claim: Formula) -> str:
    return latex(claim.said)
