"""Propositions of the kernel as propositions of Coq.

*One spelling.*  What is translated is the canonical form of a proposition: what is the same for the kernel (bound letters, order
of parts, direction of an inequality) is the same text here.

*Undefined terms.*  For the kernel a relation says of its terms that they have values, so ``1/x > 0`` is false at 0;
in Coq ``/ 0`` is some number.  A relation is therefore translated with the conditions under which its terms are defined
beside it: ``0 < / x /\\ x <> 0``.  It is true in Coq exactly where it is true for the kernel, inside a negation and a case, too.

*Letters.*  Integers are integers of Coq, numbers are reals with the sign that they are declared to have, a token is a number
below n.  Numbers that are computed from matrices (eigenvalues, norms, counts) are values of functions of which nothing is
known but what the theorem lists; words that Coq has no definition for are propositions of which the same is true.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import permutations
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.matrices.expressions.inverse import Inverse

from eigentoken.proofs.coq.quantities import Arities, Env, arities_of, matrix_text, tensor_text, vector_text
from eigentoken.proofs.coq.terms import RESERVED, Names, NotExportable, term
from eigentoken.theory.calculus import Expression, Index
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.propositions import (
    Atom,
    Binder,
    Conjunction,
    Disjunction,
    Equivalence,
    Exists,
    ForAlmostEvery,
    Implication,
    Negation,
    Proposition,
    canonical,
    free_letters,
)
from eigentoken.theory.kernel.tensors import STATE, Rate, Tensor, VectorLetter
from eigentoken.theory.language import conditions
from eigentoken.theory.language.terms import MatrixNumber
from eigentoken.theory.printing.plain_text import plain_text

__all__ = ["Env", "Speech", "turned"]

#: Words with a definition in the library, all about one matrix.
DEFINED = ("Symmetric", "PositiveDefinite", "PositiveSemidefinite", "NegativeDefinite", "Nonsingular")
_AND = r" /\ "
_SIGNS = {"=": "=", "!=": "<>", "<": "<", "<=": "<="}


def turned(word: Any) -> tuple[str, Any, Any] | None:
    """The sign and the sides of a relation in canonical form; ``None`` of another word."""
    relation = getattr(word, "relation", None)
    return relation if isinstance(relation, tuple) else None


@dataclass
class Speech:
    """The names of one theorem: letters, functions of matrices, words.  ``rigid`` letters stand for one thing in all of it."""

    arities: Arities
    rigid: frozenset[Any]
    state: tuple[str, ...] = ()
    "What is known of a state: propositions with {x} for it."
    raw: tuple[str, str] | None = None
    "The step of a map before it is scaled, and its norm, as functions of the state and the token: with {x} and {i}."
    heads: bool = False
    "Is there an index that runs over heads?"
    functions: dict[str, str] = field(default_factory=dict)
    "Functions without definition: name -> type."
    words: dict[Any, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    "Words without definition: (name, the other letters that they speak of)."
    told: dict[str, str] = field(default_factory=dict)
    "What such a name stands for, in plain text."
    quantities: dict[sp.Symbol, Any] = field(default_factory=dict)
    "What a placeholder stands for."
    _names: dict[Any, str] = field(default_factory=dict)
    _placeholders: dict[Any, sp.Symbol] = field(default_factory=dict)
    _values: dict[Any, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    "Quantities without definition: the name of the function, and the letters that it depends on."

    # -- letters ------------------------------------------------------------------------------------------------------

    def name(self, letter: Any) -> str:
        if letter not in self._names:
            stem = str(letter.name).replace("#", "b").replace("'", "_prime")
            stem = re.sub(r"\W+", "_", stem).strip("_") or "v"
            stem = stem if stem.isascii() and stem[0].isalpha() else f"v_{stem}"
            stem = f"{stem}_" if stem in RESERVED or re.fullmatch(r"[a-z]+\d+", stem) else stem
            stem = f"{stem}_" if stem.startswith("q_") else stem
            while stem in self._names.values():
                stem += "_"
            self._names[letter] = stem
        return self._names[letter]

    def sort(self, letter: Any) -> str:
        """The type of a letter in Coq."""
        if isinstance(letter, Index):
            return "nat"
        if isinstance(letter, VectorLetter):
            return "nat -> vec" if self.arities.vectors.get(letter.name) else "vec"
        if isinstance(letter, sp.MatrixSymbol):
            return "nat -> mat" if letter.name in self.arities.families else "mat"
        if letter.is_real is not True:
            raise NotExportable(f"{letter} is not known to be real")
        return "Z" if letter.is_integer else "R"

    def facts(self, letter: Any, env: Env | None = None) -> list[str]:
        """What the letter is declared to be, as propositions of Coq."""
        here = self.shown(letter, env or {})
        if isinstance(letter, Index):
            return [f"within {self.range(letter.kind)} {here}"]
        if letter == VectorLetter(STATE):
            return [each.format(x=here) for each in self.state]
        if not isinstance(letter, sp.Symbol):
            return []
        if letter.is_integer:
            least = 1 if letter.is_positive else 0 if letter.is_nonnegative else None
            return [] if least is None else [f"({least} <= {here})%Z"]
        if letter.is_positive:
            return [f"0 < {here}"]
        if letter.is_negative:
            return [f"{here} < 0"]
        return [f"0 <= {here}"] if letter.is_nonnegative else []

    def range(self, kind: str) -> str:
        sizes = {"token": "n", "head": "H"}
        if kind not in sizes:
            raise NotExportable(f"an index of kind {kind} has no range here")
        self.heads = self.heads or kind == "head"
        return sizes[kind]

    def shown(self, letter: Any, env: Env) -> str:
        return env.get(letter) or self.name(letter)

    # -- terms ------------------------------------------------------------------------------------------------------------

    def placeholder(self, quantity: Any) -> sp.Symbol:
        """A symbol that stands for a quantity in a term, the same wherever it occurs."""
        made = self._placeholders.setdefault(quantity, sp.Symbol(f"q_{len(self._placeholders)}_", real=True))
        self.quantities[made] = quantity
        return made

    def bare(self, thing: Any) -> Any:
        """The term with placeholders for its quantities, and for its letters symbols without a sort: one order for all."""
        found = sorted(sp.sympify(thing).atoms(MatrixNumber, Tensor, AppliedUndef), key=sp.default_sort_key)
        left = sp.sympify(thing).xreplace({each: self.placeholder(each) for each in found})
        letters = {each: self.plain(each) for each in left.free_symbols if each not in self.quantities}
        return left.xreplace(letters)

    def plain(self, letter: sp.Symbol) -> sp.Symbol:
        """A letter for a number as a real symbol, with the name that it has in Coq."""
        if letter.is_real is not True:
            raise NotExportable(f"{letter} is not known to be real")
        made = sp.Symbol(self.name(letter), real=True)
        self.quantities[made] = letter
        return made

    def real(self, thing: Any, env: Env) -> str:
        """A term as a real number of Coq."""
        return term(self.bare(thing), _Printed(self, env))

    def integer(self, thing: Any, env: Env) -> str:
        """A polynomial in integer letters, as an integer of Coq."""
        if isinstance(thing, sp.Integer):
            return str(thing) if thing >= 0 else f"({thing})"
        if isinstance(thing, sp.Symbol) and thing.is_integer:
            return self.shown(thing, env)
        if isinstance(thing, sp.Add | sp.Mul):
            sign = " + " if isinstance(thing, sp.Add) else " * "
            return f"({sign.join(self.integer(each, env) for each in thing.args)})"
        if isinstance(thing, sp.Pow) and isinstance(thing.exp, sp.Integer) and thing.exp > 0:
            return f"({self.integer(thing.base, env)} ^ {thing.exp})"
        raise NotExportable(f"{thing} is no integer here")

    def quantity(self, thing: Any, env: Env) -> str:
        """A number that is computed from matrices, tokens or a function of time."""
        if isinstance(thing, Tensor) and not isinstance(thing, Rate) and thing.time is None:
            return tensor_text(thing.key, self, env)
        if isinstance(thing, MatrixNumber):
            given = [self.argument(each, env) for each in thing.args]
            name = re.sub(r"(?<!^)([A-Z])", r"_\1", type(thing).__name__).lower()
            self._declare(name, " -> ".join([*(sort for _, sort in given), "R"]), f"{type(thing).__doc__}")
            return f"({' '.join([name, *(text for text, _ in given)])})"
        name, letters = self._function(thing)
        here = " ".join([name, *(self.shown(each, env) for each in letters)])
        return f"({here})" if letters else here

    def _function(self, thing: Any) -> tuple[str, tuple[Any, ...]]:
        """The function of its letters that a quantity without definition is; with other letters it is the same function."""
        letters = tuple(sorted((each for each in free_letters(thing) if each not in self.rigid), key=str))
        for known, (name, own) in self._values.items():
            if type(known) is not type(thing) or sorted(map(self.sort, own)) != sorted(map(self.sort, letters)):
                continue
            for order in permutations(letters):
                table = {old: new for old, new in zip(own, order, strict=True) if old != new}
                if all(self.sort(one) == self.sort(two) for one, two in zip(own, order, strict=True)) and (
                    known == thing if not table else hasattr(known, "put") and known.put(table) == thing
                ):
                    return name, order
        name = f"quantity_{self.placeholder(thing).name.strip('q_')}"
        self._values[thing] = (name, letters)
        sorts = [f"({self.sort(each)})" for each in letters]
        self._declare(name, " -> ".join([*sorts, "R"]), plain_text(sp.latex(thing)))
        return name, letters

    def argument(self, thing: Any, env: Env) -> tuple[str, str]:
        if getattr(thing, "is_Matrix", False):
            family = isinstance(thing, sp.MatrixSymbol) and thing.name in self.arities.families
            return (self.shown(thing, env), "(nat -> mat)") if family else (self.matrix(thing, env), "mat")
        return f"{self.integer(thing, env)}%Z", "Z"

    def matrix(self, thing: Any, env: Env) -> str:
        if thing.atoms(Inverse):
            self._declare("inverse", "mat -> mat", "the inverse of a nonsingular matrix")
        return matrix_text(thing, self, env)

    def value(self, letter: Any, value: Any, env: Env) -> str:
        """What a letter is replaced by, as a term of the type of the letter."""
        if isinstance(letter, Index):
            return self.shown(value, env)
        if isinstance(letter, VectorLetter):
            if isinstance(value, VectorLetter):
                return self.shown(value, env)
            if isinstance(value, Expression) and self.sort(letter) == "vec":
                return vector_text(value, self, env)
            raise NotExportable(f"{value} for the vector {letter.name}")
        if isinstance(letter, sp.MatrixSymbol):
            return self.matrix(value, env)
        return f"{self.integer(sp.sympify(value), env)}%Z" if letter.is_integer else self.real(value, env)

    def _declare(self, name: str, sort: str, what: str) -> None:
        if self.functions.setdefault(name, sort) != sort:
            raise NotExportable(f"{name} has two types, {self.functions[name]} and {sort}")
        self.told.setdefault(name, what.split("\n")[0])

    # -- propositions -------------------------------------------------------------------------------------------------------

    def said(self, what: Proposition, env: Env | None = None) -> str:
        """The canonical form of a proposition, in Coq."""
        return self.text(canonical(what), env or {})

    def text(self, what: Proposition, env: Env) -> str:
        """A proposition that is in canonical form already."""
        if isinstance(what, Atom):
            return self._atom(what, env)
        if isinstance(what, Conjunction | Disjunction):
            if not what.parts:
                return "True" if isinstance(what, Conjunction) else "False"
            sign = r" /\ " if isinstance(what, Conjunction) else r" \/ "
            return f"({sign.join(self.text(each, env) for each in what.parts)})"
        if isinstance(what, Implication):
            return f"({self.text(what.left, env)} -> {self.text(what.right, env)})"
        if isinstance(what, Equivalence):
            return f"({self.text(what.left, env)} <-> {self.text(what.right, env)})"
        if isinstance(what, Negation):
            return f"(~ {self.text(what.part, env)})"
        if isinstance(what, Binder):
            inner = {key: text for key, text in env.items() if key != what.letter}
            return self._binder(what, inner)
        kind = "for almost every start" if isinstance(what, ForAlmostEvery) else type(what).__name__
        raise NotExportable(f"{kind} has no form in Coq here")

    def _binder(self, what: Binder, env: Env) -> str:
        name, facts, sort = self.name(what.letter), self.facts(what.letter, env), self._sort_bound(what)
        guard = [] if what.guard == Conjunction(()) else [self.text(what.guard, env)]
        body = self.text(what.body, env)
        if isinstance(what, Exists):
            return f"(exists {name} : {sort}, {_AND.join([*facts, *guard, body])})"
        return f"(forall {name} : {sort}, {' -> '.join([*facts, *guard, body])})"

    def _sort_bound(self, what: Binder) -> str:
        """The type of a bound letter: one name may stand for a vector here and for a family of vectors there."""
        if not isinstance(what.letter, VectorLetter):
            return self.sort(what.letter)
        inside = arities_of([what.guard, what.body]).vectors
        return "nat -> vec" if inside.get(what.letter.name) else "vec"

    def _atom(self, what: Atom, env: Env) -> str:
        relation = turned(what.word)
        inverses = self._inverses(what.word, env)
        if relation is not None:
            said = [self._relation(*relation, env), *self._defined(what.word, env), *inverses]
        elif type(what.word).__name__ in DEFINED:
            said = [*inverses, f"{type(what.word).__name__} d {self.matrix(what.word.term, env)}"]
        else:
            said = [self._word(what, env)]
        return said[0] if len(said) == 1 and relation is None else f"({_AND.join(said)})"

    def defining(self, what: Atom) -> list[Any]:
        """The conditions beside a relation, sympy relations in a fixed order."""
        return sorted(where_defined(what.word), key=sp.default_sort_key)

    def _defined(self, word: Any, env: Env) -> list[str]:
        found = [turned(canonical(Atom(conditions.Relation(each))).word) for each in self.defining(Atom(word))]
        return [self._relation(*each, env) for each in found if each is not None]

    def _inverses(self, word: Any, env: Env) -> list[str]:
        """A word about an inverse, and a number of one, says that there is one."""
        relation = turned(word)
        terms = relation[1:] if relation is not None else (getattr(word, "term", None),)
        found: set[Any] = set()
        for each in terms:
            found |= each.atoms(Inverse) if isinstance(each, sp.Basic) else set()
        return [f"Nonsingular d {self.matrix(each.arg, env)}" for each in sorted(found, key=sp.default_sort_key)]

    def _relation(self, sign: str, left: Any, right: Any, env: Env) -> str:
        if getattr(left, "is_Matrix", False):
            if sign != "=":
                raise NotExportable("matrices are compared for equality only")
            return f"equal_mat d {self.matrix(left, env)} {self.matrix(right, env)}"
        if self.whole_numbers(left, right):
            return f"({self.integer(left, env)} {_SIGNS[sign]} {self.integer(right, env)})%Z"
        return f"{self.real(left, env)} {_SIGNS[sign]} {self.real(right, env)}"

    def whole_numbers(self, *sides: Any) -> bool:
        """Polynomials in integer letters with integer coefficients, and at least one letter: said over the integers."""
        letters = set().union(*(each.free_symbols for each in sides))
        try:
            return bool(letters) and all(bool(self.integer(each, {})) for each in sides)
        except NotExportable:
            return False

    def _word(self, what: Atom, env: Env) -> str:
        shape = _shape(what.word)
        if shape is not None:  # Stable(ConsensusAt(V, k)) is Stable_ConsensusAt of V and k
            given = [self.argument(each, env) for each in shape[1]]
            self._declare(shape[0], " -> ".join([*(sort for _, sort in given), "Prop"]), shape[2])
            return f"({' '.join([shape[0], *(text for text, _ in given)])})" if given else shape[0]
        if what.word not in self.words:
            letters = tuple(sorted((each for each in free_letters(what) if each not in self.rigid), key=str))
            name = f"{type(what.word).__name__}_{1 + len(self.words)}"
            self.words[what.word] = (name, letters)
            sorts = [f"({self.sort(each)})" for each in letters]
            self._declare(name, " -> ".join([*sorts, "Prop"]), plain_text(latex(what)))
        name, letters = self.words[what.word]
        return " ".join([f"({name}", *(self.shown(each, env) for each in letters)]) + ")" if letters else name


def _shape(word: Any) -> tuple[str, list[Any], str] | None:
    """A word by its name and the matrices and indices that it speaks of; ``None`` where it speaks of more."""
    names, given = [type(word).__name__], []
    for each in fields(word):
        value = getattr(word, each.name)
        if isinstance(value, sp.MatrixExpr) or (isinstance(value, sp.Expr) and value.is_integer):
            given.append(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            given.append(sp.Integer(value))
        elif is_dataclass(value) and not isinstance(value, type):
            inner = _shape(value)
            if inner is None:
                return None
            names.append(inner[0])
            given += inner[1]
        elif isinstance(value, bool | str):
            names.append(re.sub(r"\W+", "_", str(value)))
        elif value is not None:
            return None
    return "_".join(names), given, type(word).__doc__ or type(word).__name__


class _Printed(Names):
    """Names for the printer of terms: letters, and what placeholders stand for."""

    def __init__(self, speech: Speech, env: Env) -> None:
        super().__init__()
        self.speech, self.env = speech, env

    def of(self, symbol: sp.Symbol) -> str:
        found = self.speech.quantities[symbol]
        if not isinstance(found, sp.Symbol):
            return self.speech.quantity(found, self.env)
        here = self.speech.shown(found, self.env)
        return f"(IZR {here})" if found.is_integer else here
