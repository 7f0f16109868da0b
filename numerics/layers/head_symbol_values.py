"""The letters of a system read on one head: ``U = O V`` and ``P = Q^T K / scale`` through their factors.

A single head is singular on R^d whenever d_h < d.  Conditions that need an inverse or definiteness then fail, and the
verdict says by how much; symmetry, leaders, norms and real parts are decided through the factors
(:mod:`eigentoken.numerics.layers.low_rank`).  A head of full width is read like a layer of one head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.answers import Answers
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.quantities import scaled_interval
from eigentoken.numerics.layers.symbol_values import Letters, NotBound, Parts, in_scaled_units, scaled_parts
from eigentoken.numerics.layers.weights import HeadWeights
from eigentoken.theory.language.verdicts import Verdict, fails, undecided

__all__ = ["HeadLetters"]

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class HeadLetters(Letters):
    """``roles`` says which letter is ``value`` (U) and which is ``score`` (P); ``answers`` are shared by the systems."""

    head: HeadWeights
    roles: Mapping[str, str]
    step: Fraction = Fraction(1)
    heads: tuple[Letters, ...] = ()
    answers: Answers = field(default_factory=Answers, repr=False)

    @property
    def d(self) -> int:
        return self.head.d

    def _role(self, term: Any) -> str:
        if not isinstance(term, sp.MatrixSymbol) or term.name not in self.roles:
            raise NotBound(f"{term} is not a matrix of one head")
        return self.roles[term.name]

    def _once(self, key: tuple[str, str], compute: Callable[[LowRank], Found]) -> Found:
        return self.answers.once(key, lambda: compute(self.head.low_rank(key[1])))

    def answer(self, name: str, term: Any) -> Verdict:
        inverted = isinstance(term, sp.MatMul) and isinstance(term.args[-1], sp.Inverse)
        try:
            role = self._role(term.args[-1].arg if inverted else term)
        except NotBound as problem:
            return undecided(str(problem))
        if inverted:
            why = self._once(("deficient", role), lambda found: found.deficient)
            return fails(f"the inverse does not exist: {why}", margin=0.0, unit="spectral norm")
        verdict = self._once((name, role), lambda found: found.certify(name))
        return in_scaled_units(verdict, self.head.scale) if role == "score" else verdict

    def whole(self, term: Any) -> Enclosure:
        return self.head.value if self._role(term) == "value" else self.head.score

    def norm(self, term: Any) -> tuple[float, float]:
        role = self._role(term)
        interval = self._once(("norm", role), lambda found: found.norm)
        low, high = scaled_interval(interval, self.head.scale if role == "score" else 1.0)
        return max(low, 0.0), high

    def parts(self, term: Any) -> Parts | None:
        role = self._role(term)
        ends = self._once(("real parts", role), lambda found: found.parts())
        return scaled_parts(ends, self.head.scale) if role == "score" else ends
