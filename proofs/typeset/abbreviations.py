"""The letters of a printed derivation: one for a long term that it repeats (``theta_1 = ...``), and one meaning for each.

Only what is printed changes: a term is replaced by its letter inside a copy of the proposition, never in what was proved.  What
letters stand for is said: those of the calculus, and those that no step binds and that are no parameters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

import sympy as sp

from eigentoken.proofs.typeset.letters_in_terms import with_letter
from eigentoken.theory.calculus import Index, MaskEntry
from eigentoken.theory.calculus.latex import index_latex
from eigentoken.theory.kernel.kernel import STANDING
from eigentoken.theory.kernel.propositions import (
    AnyLetter,
    Atom,
    Binder,
    Proposition,
    bound_letters,
    free_letters,
    inside,
    named,
    proposition,
    put,
    quantities,
)
from eigentoken.theory.kernel.tensors import (
    STATE,
    Opposite,
    Rate,
    Slope,
    Tensor,
    VectorLetter,
    bases_of,
    is_defined,
    letters_in,
)
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import BoundedInTime, Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueModulus,
    EigenvalueRealPart,
    SpectralNorm,
    alpha,
    d,
    ell,
    n,
    p,
    q,
)
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Time

__all__ = [
    "WIDE",
    "abbreviations",
    "any_letters",
    "claim_letters",
    "clashing",
    "defined",
    "in_order",
    "meanings",
    "notation",
    "printed_claims",
    "relettered",
    "sentence",
    "shortened",
    "sort",
    "unbound",
]

#: A term of fewer parts is not worth a letter, nor one that saves fewer of them in all.
PARTS, SAVED, LETTERS = 7, 48, 40
#: What has a short name already.
_NAMED = Eigenvalue | EigenvalueModulus | EigenvalueRealPart | SpectralNorm
NAMES = (r"\theta", r"\chi", r"\upsilon", r"\vartheta")
#: A formula beyond this many characters has its long terms replaced by letters.
WIDE = 700

Thing = TypeVar("Thing")


def abbreviations(
    things: Iterable[Any], begun: Mapping[sp.Symbol, sp.Expr] = MappingProxyType({})
) -> dict[sp.Symbol, sp.Expr]:
    """Letters for the terms that save most, after those that have one already; each is written with those before it.

    A term in the index of a class of eigenvalues has it at its letter (``theta_{1,ell}``).  What speaks of a letter that a binder
    binds has no letter in a derivation (outside of the binder it would mean nothing), and in a claim the bound letters beside it.

    >>> x, y = sp.symbols("x y", real=True)
    >>> long = (x + 2) * (y + 3) / (x * y - 1)
    >>> list(abbreviations([long + k for k in range(9)]).values()) == [long]
    True
    """
    whole = [shortened(thing, begun) for thing in things]
    bound = frozenset().union(*(bound_letters(each) for each in whole if isinstance(each, Proposition))) - {ell}
    terms = [each for thing in whole for each in _terms(thing)]
    chosen: list[sp.Expr] = []
    while len(chosen) < LETTERS:
        counted: Counter[sp.Expr] = Counter()
        for term in terms:
            counted.update(part for part in _long_parts(term) if not bound & _letters(part))
        saved = {part: (times - 1) * _size(part) * _weight(part) for part, times in counted.items()}
        most = max(saved.values(), default=0)
        if most < SAVED:
            break
        best = min((part for part in saved if saved[part] == most), key=sp.default_sort_key)
        stand_in = sp.Dummy(f"{len(chosen)}", real=True)
        terms = [with_letter(term, best, stand_in) for term in terms]
        terms.append(best)  # it is printed once, where its letter is defined: what it repeats may have a letter, too
        chosen.append(best.xreplace({each: chosen[int(each.name)] for each in best.atoms(sp.Dummy)}))
    taken = {each.name for term in terms for each in term.free_symbols} - {each.name for each in begun}
    name = next(each for each in NAMES if not any(each.strip("\\") in one for one in taken))
    found = dict(begun)
    for term in sorted(chosen, key=lambda term: (_size(term), sp.default_sort_key(term))):
        mark = rf"{len(found) + 1},\ell" if term.has(ell) else f"{len(found) + 1}"
        given = sorted(_letters(term) & _bound_in(whole) - {ell}, key=lambda each: each.name)
        arguments = f"({', '.join(map(_shown, given))})" if given else ""
        found[sp.Symbol(rf"{name}_{{{mark}}}{arguments}", real=True)] = shortened(term, found)
    return found


def _bound_in(things: Iterable[Any]) -> frozenset[Any]:
    said = (each if isinstance(each, Proposition) else proposition(each) for each in things if _says(each))
    return frozenset().union(*map(bound_letters, said))


def _shown(letter: AnyLetter) -> str:
    return scalar_latex(letter) if isinstance(letter, sp.Basic) else letter.name


def _says(thing: Any) -> bool:
    return isinstance(thing, Proposition | Claim | Condition)


def defined(letters: Mapping[sp.Symbol, sp.Expr], texts: Iterable[str]) -> tuple[str, ...]:
    """``$theta_1 = ...$`` for the letters that the texts use, and those that these use."""
    text, found = " ".join(texts), []
    for letter, term in reversed([*letters.items()]):
        if letter.name in text:
            said = f"${letter.name} = {scalar_latex(term)}$"
            text += said
            found.append(said)
    return tuple(reversed(found))


def in_order(order: Iterable[str], begun: Iterable[sp.Symbol]) -> dict[str, str]:
    """The names of letters, and these names with the numbers in the order in which a reader meets them."""
    first = len(list(begun)) + 1
    return {name: re.sub(r"\d+", str(number), name, count=1) for number, name in enumerate(dict.fromkeys(order), first)}


def claim_letters(told: Statement) -> dict[sp.Symbol, sp.Expr]:
    """Letters for the long terms of the claims, where one of these is wide."""
    wide = max((len(LATEX(each)) for each in told.claims), default=0) > WIDE
    return abbreviations(told.claims) if wide else {}


def printed_claims(told: Statement) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The claims in LaTeX, and the letters for the long terms that they repeat."""
    letters = claim_letters(told)
    said = tuple(LATEX(shortened(each, letters)) for each in told.claims)
    return tuple(one_head(told, each) for each in said), tuple(one_head(told, each) for each in defined(letters, said))


_OVER_HEADS = re.compile(r"\\max_h\\lVert (\w+)_h \\rVert")


def one_head(told: Statement, text: str) -> str:
    """The norm of a matrix, where every system of the statement has one head: the largest over the heads is that."""
    single = bool(told.systems) and not any(system(name).multihead for name in told.systems)
    return _OVER_HEADS.sub(r"\\lVert \1 \\rVert", text) if single else text


def shortened(thing: Thing, letters: Mapping[sp.Symbol, sp.Expr]) -> Thing:
    """A copy with terms replaced by their letters: of a term, a word, a proposition, or several."""
    changed: Any = _shortened(thing, letters) if letters else thing
    return changed


def _shortened(thing: Any, letters: Mapping[sp.Symbol, sp.Expr]) -> Any:
    if isinstance(thing, sp.core.relational.Relational):
        return thing.func(*(_shortened(side, letters) for side in thing.args), evaluate=False)
    if isinstance(thing, sp.Expr) and not isinstance(thing, sp.MatrixExpr):
        for letter, term in letters.items():
            thing = with_letter(thing, term, letter)
        return thing
    if isinstance(thing, tuple) and type(thing) is tuple:
        return tuple(_shortened(each, letters) for each in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        kept = {each.name: getattr(thing, each.name) for each in fields(thing) if each.init}
        return replace(thing, **{name: _shortened(value, letters) for name, value in kept.items()})
    return thing


def _terms(thing: Any) -> Iterator[sp.Expr]:
    """The outermost terms inside."""
    if isinstance(thing, sp.core.relational.Relational):
        yield from thing.args
    elif isinstance(thing, sp.Expr) and not isinstance(thing, sp.MatrixExpr):
        yield thing
    elif isinstance(thing, tuple):
        for each in thing:
            yield from _terms(each)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for each in fields(thing):
            yield from _terms(getattr(thing, each.name))


@lru_cache(maxsize=20_000)
def _letters(term: sp.Expr) -> frozenset[Any]:
    return free_letters(term)


@lru_cache(maxsize=20_000)
def _long_parts(term: sp.Expr) -> tuple[sp.Expr, ...]:
    return tuple(_parts(term))


def _parts(term: sp.Expr) -> Iterator[sp.Expr]:
    """Every scalar part that is long enough."""
    if (
        term.args
        and isinstance(term, sp.Expr)
        and not isinstance(term, sp.MatrixExpr | Tensor | sp.Abs | _NAMED)
        and _size(term) * _weight(term) >= PARTS
    ):
        below = (
            isinstance(term, sp.Pow) and term.exp.is_negative
        )  # what stands below the line has a letter, not 1 over it
        if not below and (_weight(term) > 1 or not term.is_polynomial(*term.free_symbols)):  # (d-1)(q-1) is what it is
            yield term.primitive()[1] if isinstance(term, sp.Add | sp.Mul) else term
        for each in term.args:
            yield from _parts(each)


def _weight(term: sp.Basic) -> int:
    """A function of a longer term is what a reader would give a letter first."""
    return 2 if isinstance(term, sp.Function) and bool(term.args[0].args) and not isinstance(term, sp.Abs) else 1


@lru_cache(maxsize=100_000)
def _size(term: sp.Basic) -> int:
    if isinstance(term, Tensor):
        return 6
    return 3 if isinstance(term, _NAMED) else 1 + sum(map(_size, term.args))


#: Names for tokens that may not be called a.
TOKENS = ("k", "l", "g", "b", "c", "s", "r", "f", "k0", "l0", "g0", "b0", "c0", "s0")
#: Names for vectors, and others, that may not be called e.
VECTORS = ("f", "h", "u", "w", "g", "f0", "h0", "u0", "w0")
# -- one letter, one meaning ---------------------------------------------------------------------------------------------------


def sort(letter: AnyLetter) -> str:
    """What a letter stands for.

    >>> sort(sp.Symbol("x", real=True)), sort(Index("token", "i"))
    ('number', 'token')
    """
    if isinstance(letter, Index):
        return letter.kind
    if isinstance(letter, VectorLetter):
        return "vector"
    if isinstance(letter, sp.MatrixSymbol):
        return "matrix"
    sign = "positive " if letter.is_positive else "nonnegative " if letter.is_nonnegative else ""
    return "integer" if letter.is_integer else f"{sign}number"


def clashing(
    said: Iterable[Proposition], claims: Iterable[Proposition] = (), *, weights: bool = False
) -> dict[AnyLetter, AnyLetter]:
    """Other letters for those whose name another sort keeps: the sort of the claims, or the one that is there most.

    With ``weights`` no token is called a: ``a_{ij}`` is the weight of token j for token i, and nothing is called e, its base.
    """
    first = {each for claim in claims for each in free_letters(claim) | bound_letters(claim)}
    seen: Counter[AnyLetter] = Counter({VectorLetter(STATE): 10**9})  # x is the state
    seen.update(dict.fromkeys(KNOWN, 10**5))  # n, d, p, q and alpha are what the chapter on notation says
    for each in said:
        seen.update(free_letters(each) | bound_letters(each))
    sorts: dict[str, Counter[str]] = {}
    for letter, times in seen.items():
        sorts.setdefault(letter.name, Counter())[sort(letter)] += times + (10**6 if letter in first else 0)
    found: dict[AnyLetter, AnyLetter] = {}
    for letter in sorted(seen, key=lambda each: (each.name, sort(each))):
        kept = sorts[letter.name].most_common(1)[0][0]
        if sort(letter) != kept:
            mark = sorted(set(sorts[letter.name]) - {kept}).index(sort(letter)) + 1
            found[letter] = named(letter, letter.name + "'" * mark)
    for letter in seen:  # sums run over l
        if isinstance(letter, sp.Symbol) and letter.name == "l" and not letter.is_integer and letter not in first:
            found[letter] = named(letter, "l'")
    free = iter(name for name in TOKENS if name not in sorts)
    for letter in sorted(seen, key=lambda each: each.name) if weights else ():
        if isinstance(letter, Index) and letter not in first and re.fullmatch(r"a\d*", letter.name):
            found[letter] = named(letter, next(free))
    others = iter(name for name in VECTORS if name not in sorts)
    for letter in sorted(seen, key=sort) if weights else ():
        if re.fullmatch(r"e_?\d*", letter.name) and letter not in first:
            found[letter] = named(letter, next(others))
    return found


def relettered(said: Proposition, letters: Mapping[AnyLetter, AnyLetter]) -> Proposition:
    """A copy with other letters, bound or not."""
    if not letters:
        return said
    if not isinstance(said, Atom):
        if isinstance(said, Binder) and said.letter in letters:
            new = letters[said.letter]
            said = type(said)(new, put(said.guard, {said.letter: new}), put(said.body, {said.letter: new}))
        return inside(said, lambda part: relettered(part, letters))
    return put(said, {old: new for old, new in letters.items() if old in free_letters(said)})


#: The sorts in the order in which they are said, with the words for several of them.
SORTS = (
    *("tokens", "heads", "vectors", "families of vectors", "matrices", "families of matrices"),
    *("integers", "positive numbers", "nonnegative numbers", "numbers"),
)
#: What the chapter on notation and the systems give a meaning.
KNOWN = frozenset((alpha, d, n, p, q))


def notation(told: Statement) -> str:
    """What the letters of the calculus in the claims stand for, in one sentence; empty where there are none."""
    return sentence(meanings(told, map(proposition, told.claims), " ".join(map(LATEX, told.claims))))


def sentence(meanings: Iterable[str]) -> str:
    found = list(meanings)
    return f"Here {', '.join(found)}." if found else ""


#: ``a_{ij}``, of a head or not, as the printer of the calculus writes it; no other letter has two indices there.
_WEIGHT = re.compile(r"(?<![A-Za-z\\])a(\^\{[hg]\})?_\{[a-z](_\{\d\})?[a-z]")


def meanings(told: Statement, said: Iterable[Proposition], text: str) -> list[str]:
    terms = {term for each in said for term in quantities(each)}
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
        letter = r", and $\mathrm{causal}_{ij}$ is $1$ for these and else $0$" if "causal" in text else ""
        found.append(rf"tokens are numbered, token $i$ sees the tokens $j \le i${letter}")
    if any(is_defined(base.name) for term in terms for base in bases_of(term.key)):
        found.append("$y_i$ is what the map divides by its norm $r_i$")
    heads = any(system(name).multihead for name in told.systems)
    mark, one = ("^{h}", "of head $h$ ") if heads else ("", "")
    if _WEIGHT.search(text):
        found.append(rf"$a{mark}_{{ij}}$ is the weight {one}that token $i$ gives to token $j$")
    if re.search(r"\\bar x(?!\^\{h\}|_)", text):
        found.append(r"$\bar x$ is the mean of the tokens")
    if re.search(r"\\bar x(\^\{h\})?_", text):
        found.append(rf"$\bar x{mark}_i$ is the mean of the tokens with the attention weights {one}of token $i$")
    if r"\delta_{" in text:
        found.append(r"$\delta_{ij}$ is $1$ where $i = j$ and else $0$")
    return found


def unbound(told: Statement, said: Iterable[Proposition]) -> frozenset[AnyLetter]:
    """The letters that stand free in what is said, without parameters of the statement and of its systems."""
    given = [proposition(each) for each in (*told.conditions, *told.claims)]
    known = KNOWN.union(*map(free_letters, (*given, *STANDING)))
    names = {each.name for each in known} | {each.name for name in told.systems for each in system(name).parameters}
    names |= {each for made in map(system, told.systems) for each in (made.value, made.score, made.metric) if each}
    names |= (
        {"b"} if any(isinstance(each, BoundedInTime) for each in told.conditions) else set()
    )  # the bound that it names
    return frozenset(each for one in said for each in free_letters(one) if not _is_known(each, names))


def _is_known(letter: AnyLetter, names: set[str]) -> bool:
    if isinstance(letter, VectorLetter):
        return letter.name == STATE or is_defined(letter.name)
    return letter.name in names if not isinstance(letter, Index) else False


def any_letters(told: Statement, said: Iterable[Proposition]) -> str:
    """The sentence that introduces them; empty where there are none."""
    things = list(said)
    found = unbound(told, things)
    families = {name for each in things for name in _families(each) & {letter.name for letter in free_letters(each)}}
    by_sort: dict[str, list[str]] = {}
    for letter in found:
        by_sort.setdefault(_sort_of(letter, families), []).append(f"${_name(letter)}$")
    said_of = list(_listed(by_sort))
    if not said_of:
        return ""
    most, end = said_of[:-1], said_of[-1]
    whole = f"{', '.join(most)} and {end}" if most else end
    return f"A step holds for all {whole} that meet what it assumes."


def _families(said: Proposition) -> set[str]:
    """The names of vectors and matrices of which there is one for each token or head in it."""
    keys = [term.key for term in quantities(said)]
    vectors = {each.name for key in keys for each in bases_of(key) if each.indices}
    return vectors | {each.name for key in keys for each in letters_in(key) if each.indices}


def _listed(by_sort: dict[str, list[str]]) -> Iterator[str]:
    for each in SORTS:
        if each in by_sort:
            yield f"{each} {', '.join(sorted(by_sort[each], key=lambda name: (name.lower(), name)))}"


def _sort_of(letter: AnyLetter, families: set[str]) -> str:
    if isinstance(letter, Index):
        return f"{letter.kind}s"
    if isinstance(letter, VectorLetter):
        return "families of vectors" if letter.name in families else "vectors"
    if isinstance(letter, sp.MatrixSymbol):
        return "families of matrices" if letter.name in families else "matrices"
    return {"integer": "integers"}.get(sort(letter), f"{sort(letter)}s")


def _name(letter: AnyLetter) -> str:
    if isinstance(letter, Index):
        return index_latex(letter.name)
    return letter.name if isinstance(letter, VectorLetter) else str(sp.latex(letter))
