"""Facts about numbers that conditions give: the order of eigenvalues, norms, what words say of a symmetric matrix.

Each is made by a rule of the kernel; what cannot be made is left out, which is sound: fewer facts prove less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Any

import sympy as sp

from eigentoken.theory.kernel.arithmetic import arithmetic, only_integers, scalar_form
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Atom, ForAll, Proposition, conjuncts
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueModulus,
    EigenvalueRealPart,
    SpectralNorm,
    d,
)

__all__ = ["Facts"]

#: Seconds for one question to real arithmetic.
SECONDS = 10.0
_INDEXED = (Eigenvalue, EigenvalueRealPart, EigenvalueModulus)


class Facts:
    """What is known in one context: the conditions of a statement, and what is assumed on the way."""

    def __init__(self, kernel: Kernel, given: tuple[Proved, ...]) -> None:
        self.kernel, self.given = kernel, given

    def under(self, *more: Proved) -> Facts:
        return Facts(self.kernel, (*self.given, *more))

    def known(self) -> Iterator[Proved]:
        """The conditions and assumptions, part by part."""
        for each in self.given:
            for part in conjuncts(each.proposition):
                yield each if part == each.proposition else self.kernel.part(each, part)

    def shown(self, said: Proposition) -> Proved:
        """A relation, or relations in connectives, by integers or over the reals; ``d = 1`` is a case of its own if need be."""
        scalar_form(said)
        if only_integers(said):
            return self.kernel.integers(self._integers(), said)
        try:
            return self._real(said, ())
        except Refused:
            if not any(each.args[-1] == d for each in self._numbers(said)):
                raise
        one, several = self.kernel.assume(sp.Eq(d, 1)), self.kernel.assume(d >= 2)
        either = self.kernel.integers([], sp.Or(sp.Eq(d, 1), d >= 2))
        ways = [(each.proposition, self.under(each)._real(said, (each,))) for each in (one, several)]
        return self.kernel.by_cases(either, *ways)

    def _integers(self) -> list[Proved]:
        return [each for each in self.known() if only_integers(each.proposition)]

    def _numbers(self, *said: Proposition) -> set[Any]:
        found: set[Any] = set()
        for each in (*said, *(known.proposition for known in self.known())):
            try:
                found |= scalar_form(each).atoms(*_INDEXED, SpectralNorm)
            except Refused:
                continue
        return found

    def _real(self, said: Proposition, cases: tuple[Proved, ...]) -> Proved:
        premises = [*self._scalar(self.known()), *self._scalar(self._of_matrices(said)), *self._same(said, cases)]
        return arithmetic(premises, said, seconds=SECONDS)

    def _scalar(self, facts: Iterable[Proved]) -> Iterator[Proved]:
        for each in facts:
            try:
                scalar_form(each.proposition)
            except Refused:
                continue
            yield each

    def _same(self, said: Proposition, cases: tuple[Proved, ...]) -> Iterator[Proved]:
        """``d = 1`` makes the last eigenvalue the first."""
        for case in cases:
            for number in self._numbers(said):
                if case.proposition == self.kernel.assume(sp.Eq(d, 1)).proposition and d in number.args:
                    yield self.kernel.equal_indices(case, number)

    def _of_matrices(self, said: Proposition) -> Iterator[Proved]:
        numbers = self._numbers(said)
        words = [each.proposition.word for each in self.known() if isinstance(each.proposition, Atom)]
        for term in dict.fromkeys(each.args[0] for each in numbers):
            indices = {each.args[1] for each in numbers if each.args[0] == term and isinstance(each, _INDEXED)}
            symmetric = Symmetric(term) in words
            if symmetric:
                indices |= {sp.Integer(1), d}
                yield from self._at(self.kernel.eigenvalue_order(term), indices, 2)
                if SpectralNorm(term) in numbers:
                    whole = self.kernel.norm_of_symmetric(term)
                    for part in conjuncts(whole.proposition):
                        yield from self._at(self.kernel.part(whole, part), indices, 1)
            else:
                yield from self._at(self.kernel.modulus(term), indices, 1)
                if SimpleTop(term) in words:
                    yield from self._at(self.kernel.real_parts_below(term), indices, 1)
        for known in self.known():
            word = getattr(known.proposition, "word", None)
            if symmetric_term(word) in [each.term for each in words if isinstance(each, Symmetric)]:
                yield from self._at(self.kernel.unfold(known), {each.args[-1] for each in numbers}, 1)
            elif isinstance(known.proposition, ForAll):
                yield from self._at(known, {sp.Integer(1), d, *(each.args[-1] for each in numbers)}, 1)

    def _at(self, fact: Proved, indices: Iterable[Any], letters: int) -> Iterator[Proved]:
        """The fact at all indices at which its guards are seen to hold."""
        if not isinstance(fact.proposition, ForAll):
            yield fact
            return
        known = self._integers()
        usable = [each for each in indices if each == d or each.is_Integer or isinstance(each, sp.Symbol)]
        for chosen in permutations(sorted(usable, key=str), letters):
            at = fact
            try:
                for value in chosen:
                    at = self.kernel.at(at, value, *known)
            except Refused:
                continue
            yield at


def symmetric_term(word: Any) -> Any:
    """The matrix of a word that says something of eigenvalues where it is symmetric, or ``None``."""
    from eigentoken.theory.kernel.words import OF_SYMMETRIC

    return word.term if word is not None and OF_SYMMETRIC.find(type(word)) else None
