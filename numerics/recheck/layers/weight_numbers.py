"""The numbers and words that a document states of one layer's weights, judged one by one by the second arithmetic.

The tables are the re-check's own: which matrix a name speaks of, and what it says of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED
from eigentoken.numerics.recheck.layers.numbers import (
    Ends,
    Near,
    SpectrumDiscs,
    exact_sum,
    factors_of,
    interval_differs,
    near_sum,
    norm_ends,
    quotient,
    spectra,
)

__all__ = ["WeightNumbers"]

#: Words that claim nothing.
OPEN = ("?", "undecided")
#: A quotient of two numbers and a step have no size of their own: they are held to that share of themselves.
RELATIVE = ("over norm", "alpha star")


class _Kept:
    """Discs of a spectrum, coarse ones first, found when they are asked for and kept."""

    def __init__(self, found: Iterator[SpectrumDiscs]) -> None:
        self.coming, self.known = found, list[SpectrumDiscs]()

    def __iter__(self) -> Iterator[SpectrumDiscs]:
        yield from self.known
        for each in self.coming:
            self.known.append(each)
            yield each


class WeightNumbers:
    """``heads``: ``Q, K, V, O, scale`` of each head, as stored."""

    def __init__(self, heads: Sequence[Mapping[str, ArrayLike]], seconds: float) -> None:
        self.heads, self.seconds = heads, seconds
        self.d = int(np.shape(heads[0]["V"])[1])
        self.norms: dict[tuple[int | None, str, bool], Ends | None] = {}
        self.cores: dict[int, _Kept] = {}

    def matrix(self, head: int | None, role: str) -> Near:
        """The values or the scores of one head, or of all together (scores over the scale)."""
        found = near_sum(factors_of(self.heads if head is None else [self.heads[head]], role))
        scale = float(np.asarray(self.heads[head or 0]["scale"]))
        return found.divided(scale) if role == "scores" else found

    def _norm(self, head: int | None, role: str, skew: bool) -> Ends | None:
        key = (head, role, skew)
        if key not in self.norms:
            whole = self.matrix(head, role)
            self.norms[key] = norm_ends(whole.skew if skew else whole)
        return self.norms[key]

    def norm(self, head: int | None, role: str) -> Ends | None:
        return self._norm(head, role, False)

    def to_symmetric(self, head: int | None, role: str) -> Ends | None:
        return self._norm(head, role, True)

    @cached_property
    def spectrum(self) -> _Kept:
        """Of the layer matrix."""
        return _Kept(spectra(exact_sum(factors_of(self.heads, "values")), time.monotonic() + self.seconds))

    def head_spectrum(self, head: int) -> _Kept:
        """Of ``U = O V``: that of ``V O``, and zeros."""
        if head not in self.cores:
            V, O = self.heads[head]["V"], self.heads[head]["O"]
            rest = self.d - int(np.shape(V)[0])
            found = spectra(exact_sum([(V, O) if rest > 0 else (O, V)]), time.monotonic() + self.seconds)
            self.cores[head] = _Kept(each.with_zeros(max(rest, 0)) for each in found)
        return self.cores[head]

    # -- what is stated ---------------------------------------------------------------------------------------------------------

    def number_differs(self, head: int | None, quantity: str, stated: Any) -> str | None:
        """An interval of a quantity of the layer (``head`` None) or of a head."""
        if stated is None:
            return None  # nothing is stated
        table = LAYER_NUMBERS if head is None else HEAD_NUMBERS
        if quantity not in table:
            return f"{UNCONFIRMED}nothing is known here of {quantity!r}"
        size = abs(float(stated[0])) if quantity.endswith(RELATIVE) else self.matrix(head, _role(quantity)).size
        why: str | None = f"{UNCONFIRMED}the number was not found again"
        for found in table[quantity](self, head):
            why = interval_differs(stated, found, size)
            if why is None or not why.startswith(UNCONFIRMED):
                break
        return why

    def word_differs(self, head: int | None, quantity: str, stated: str) -> str | None:
        """The case of a layer by an order, or whether a real simple eigenvalue leads a head."""
        if stated in OPEN:
            return None  # nothing is stated
        by = LAYER_WORDS.get(quantity) if head is None else "real-part" if quantity == REAL_LEADS else None
        if by is None:
            return f"{UNCONFIRMED}nothing is known here of {quantity!r}"
        for discs in self.spectrum if head is None else self.head_spectrum(head):
            found = discs.leader(by)
            if head is not None and found is not None:
                found = "holds" if found == "1" else "fails"
            elif head is not None and discs.zero_leads():
                found = "fails"
            if found is not None:
                return None if _means(stated, found) else f"{stated} is stated, the weights give {found}"
        return f"{UNCONFIRMED}the leader was not told apart"


REAL_LEADS = "a real simple eigenvalue leads"
LAYER_WORDS = {"case by real-part": "real-part", "case by modulus": "modulus", "case by step": "step"}


def _means(stated: str, found: str) -> bool:
    return stated == found or (stated == "2 or 3" and found == "2")


def _role(quantity: str) -> str:
    return "scores" if quantity.startswith("score") else "values"


def _norm_of(role: str) -> Callable[[WeightNumbers, int | None], Iterator[Ends | None]]:
    return lambda of, head: iter([of.norm(head, role)])


def _skew_of(role: str) -> Callable[[WeightNumbers, int | None], Iterator[Ends | None]]:
    return lambda of, head: iter([of.to_symmetric(head, role)])


def _ratio_of(role: str) -> Callable[[WeightNumbers, int | None], Iterator[Ends | None]]:
    return lambda of, head: iter([quotient(of.to_symmetric(head, role), of.norm(head, role))])


LAYER_NUMBERS: dict[str, Callable[[WeightNumbers, int | None], Iterator[Ends | None]]] = {
    "leading eigenvalue": lambda of, _: (each.largest_real_part() for each in of.spectrum),
    "gap": lambda of, _: (each.gap() for each in of.spectrum),
    "alpha star": lambda of, _: (each.alpha_star() for each in of.spectrum),
    "norm": _norm_of("values"),
    "distance to symmetric": _skew_of("values"),
    "distance to symmetric over norm": _ratio_of("values"),
    "score distance to symmetric": _skew_of("scores"),
}
HEAD_NUMBERS: dict[str, Callable[[WeightNumbers, int | None], Iterator[Ends | None]]] = {
    "leading eigenvalue": lambda of, head: (each.largest_real_part() for each in of.head_spectrum(head or 0)),
    "score norm": _norm_of("scores"),
    "score distance to symmetric over norm": _ratio_of("scores"),
    "value norm": _norm_of("values"),
    "value distance to symmetric over norm": _ratio_of("values"),
}
