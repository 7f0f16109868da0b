"""Wendel's theorem as a proposition: the recursion of the probability that random points lie in one open hemisphere."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import Conjunction, ForAll, Proposition, proposition
from eigentoken.theory.language.terms import HemisphereShare

__all__ = ["COUNT", "SIZE", "WENDEL", "counts"]

#: The number of points, and the dimension of the space.
COUNT, SIZE = sp.symbols("l m", integer=True)


def _from(letter: sp.Symbol, first: int, body: Any) -> ForAll:
    return ForAll(letter, proposition(sp.Ge(letter, first, evaluate=False)), proposition(body))


def counts() -> Conjunction:
    """``P_{1,m} = 1``, ``2 P_{l+1,m} = P_{l,m} + P_{l,m-1}``, ``2 P_{l+1,1} = P_{l,1}``, and ``0 <= P <= 1``."""
    share = HemisphereShare
    more = sp.Eq(2 * share(COUNT + 1, SIZE), share(COUNT, SIZE) + share(COUNT, SIZE - 1), evaluate=False)
    line = sp.Eq(2 * share(COUNT + 1, 1), share(COUNT, 1), evaluate=False)
    here = share(COUNT, SIZE)
    chance = sp.And(sp.Ge(here, 0, evaluate=False), sp.Le(here, 1, evaluate=False))
    parts: tuple[Proposition, ...] = (
        _from(SIZE, 1, sp.Eq(share(1, SIZE), 1, evaluate=False)),
        _from(COUNT, 1, _from(SIZE, 2, more)),
        _from(COUNT, 1, line),
        _from(COUNT, 1, _from(SIZE, 1, chance)),
    )
    return Conjunction(parts)


def _wendel() -> tuple[tuple[Any, ...], Any]:
    return (), counts()


#: Of l points in general position in R^m, ``2^l P_{l,m}`` of the ``2^l`` choices of signs lie in an open half space; a new point
#: adds those of the projection along it.
WENDEL = Textbook(
    key="Wendel-recursion",
    name="Wendel's theorem, as a recursion",
    letters={},
    says=_wendel,
    reference="Wendel, A problem in geometric probability, Math. Scand. 11 (1962)",
    bibtex=bibtex("Wendel"),
)
