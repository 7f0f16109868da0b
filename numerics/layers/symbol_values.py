"""Letters bound to weights: what a condition may ask of the matrices of one layer or one head.

A condition of a theorem speaks of letters (V, M, P, U, W, B) and of terms in them.  :class:`SymbolValues` is what a reading
needs to know of such a term: a verdict about it, its norm, its real parts.  :class:`LayerSymbolValues` answers for whole
matrices (a layer, or a head of full width); :class:`~eigentoken.numerics.layers.symbol_values.HeadLetters` answers for
one head through its low-rank factors.  An inverse is never formed: ``sym(X Y^-1)`` is congruent to ``sym(Y^T X)``, and
``X Y^-1`` is symmetric exactly when ``Y^T X`` is (Y invertible).

Each question about a layer is answered once (:class:`Answers`); one head is read through its factors
(:class:`HeadSymbolValues`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np
import sympy as sp

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure, product, total
from eigentoken.numerics.certified.rounding import Array, down, up
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.quantities import (
    distance_interval,
    norm_of,
    real_parts,
    scaled_interval,
    trace_of,
    without_factors,
)
from eigentoken.numerics.layers.score_at_leader import form_at_leader_of, score_at_leader
from eigentoken.numerics.layers.skew_margin import skew_at_leader, symmetric_parts
from eigentoken.numerics.layers.weights import HeadWeights
from eigentoken.numerics.layers.wide import certify_wide
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.terms import skew, sym
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.systems.system import System

__all__ = [
    "HEADS_ONLY",
    "Answers",
    "HeadSymbolValues",
    "LayerSymbolValues",
    "NotBound",
    "SymbolValues",
    "in_scaled_units",
    "printed",
    "scaled_parts",
]

Found = TypeVar("Found")


@dataclass(eq=False)
class Answers:
    """The answers about one layer, or about one of its heads (:meth:`of_head`)."""

    _found: dict[Hashable, object] = field(default_factory=dict, repr=False)
    _heads: dict[int, Answers] = field(default_factory=dict, repr=False)
    _conditions: dict[Hashable, dict[Condition, Verdict | None]] = field(default_factory=dict, repr=False)

    def once(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """Compute it once; enclosures in the key count by identity (they are kept alive by the key itself)."""
        if key not in self._found:
            self._found[key] = compute()
        return cast(Found, self._found[key])

    def of_head(self, index: int) -> Answers:
        """The answers about one head."""
        return self._heads.setdefault(index, Answers())

    def conditions(self, listed: System) -> dict[Condition, Verdict | None]:
        """The conditions that were read on the letters of a system, for any statement; ``None``: they speak of tokens."""
        key = (listed.value, listed.score, listed.metric, listed.multihead)
        return self._conditions.setdefault(key, {})

    def verdicts(self) -> Iterator[Verdict]:
        """Every verdict among the answers about the layer itself."""
        yield from (each for each in self._found.values() if isinstance(each, Verdict))


#: Seconds for the exact rung of one question about a large matrix.
TIME_LIMIT = 1.0
#: Up to this width the spectrum of a symmetric part is kept between questions.
KEPT_SPECTRA = 1024

Parts = tuple[list[float], list[float]]

#: Why a matrix of a layer is not formed.
HEADS_ONLY = "heads alone are examined, through their factors"


class NotBound(ValueError):
    """A term uses a letter that is not bound to weights, or a form that is not evaluated."""


class SymbolValues(ABC):
    """What can be asked of the letters of one system, read on one layer or head."""

    @property
    @abstractmethod
    def step(self) -> Fraction:
        """alpha of a map."""

    @property
    @abstractmethod
    def heads(self) -> tuple[SymbolValues, ...]:
        """The heads one by one, for a system of several heads (empty otherwise)."""

    @property
    @abstractmethod
    def d(self) -> int:
        """The width of the layer: its tokens are in R^d."""

    @abstractmethod
    def binds(self, term: sp.MatrixExpr) -> bool:
        """Is this the letter of a matrix that is known here?  The metric of a layer is no matrix of its heads."""

    @abstractmethod
    def answer(self, name: str, term: sp.MatrixExpr) -> Verdict:
        """The condition of that name (see :func:`eigentoken.numerics.certified.certify.conditions`) on the value of a term."""

    @abstractmethod
    def whole(self, term: sp.MatrixExpr) -> Enclosure:
        """The whole d x d matrix that a letter stands for; for small layers."""

    def corner(self, term: sp.MatrixExpr) -> Enclosure | None:
        """The first rows and columns of what a letter stands for, where they cost less than the whole; ``None`` where not."""
        return None

    @abstractmethod
    def norm(self, term: sp.MatrixExpr) -> tuple[float, float]:
        """The interval of the spectral norm of a term, divided by the scale of the scores where it is one."""

    @abstractmethod
    def parts(self, term: sp.MatrixExpr) -> Parts | None:
        """Lower and upper ends of the ordered real parts of the spectrum."""

    def trace(self, term: sp.MatrixExpr) -> tuple[float, float]:
        """The interval of the trace of a term; where no method is known, none."""
        raise NotBound(f"the trace of {printed(term)} is not enclosed")

    def form_at_leader(self, form: sp.MatrixExpr, term: sp.MatrixExpr) -> tuple[float, float]:
        """The interval of ``v^T M v`` with v the leading unit eigenvector of a term; where no method is known, none."""
        raise NotBound(f"the value of {printed(form)} at the leading eigenvector of {printed(term)} is not enclosed")


@dataclass(frozen=True, eq=False)
class LayerSymbolValues(SymbolValues):
    """Letters bound to enclosures of whole matrices.

    ``scales`` are positive numbers by which a matrix is divided in the theorem (the score scale).  ``gains``: diagonal matrices
    by their entries, which are exact: the gain of a norm.  ``answers`` are shared
    by the environments of one layer, so that a question about one matrix is answered once, whatever letter it goes by.
    ``light``: keep the verdicts but none of the large arrays that they were reached with (what a re-check of a large
    matrix could use as hints), nor factors of products.  ``grouped``: fewer rows behind a matrix whose rank is bounded by
    its shapes (grouped queries), which settle singularity and inertia without exact elimination.
    """

    where: str
    matrices: Mapping[str, Enclosure]
    scales: Mapping[str, float] = field(default_factory=dict)
    step: Fraction = Fraction(1)
    gains: Mapping[str, Array] = field(default_factory=dict)
    heads: tuple[SymbolValues, ...] = ()
    light: bool = False
    grouped: Mapping[Enclosure, LowRank] = field(default_factory=dict, repr=False)
    answers: Answers = field(default_factory=Answers, repr=False)
    unformed: int | None = None
    "The width of a layer whose matrices are not formed (heads only): every question about them is undecided."

    @property
    def d(self) -> int:
        return int(next(iter(self.matrices.values())).shape[0]) if self.unformed is None else self.unformed

    def binds(self, term: sp.MatrixExpr) -> bool:
        return self.unformed is not None or (isinstance(term, sp.MatrixSymbol) and term.name in self.matrices)

    def enclosure(self, term: sp.MatrixExpr) -> Enclosure:
        """The enclosure of a matrix term; scales are left out (they are positive, and asked for by norms alone)."""
        if isinstance(term, sp.MatrixSymbol):
            if self.unformed is not None:
                raise NotBound(f"{term.name} is not formed: {HEADS_ONLY}")
            if term.name not in self.matrices:
                raise NotBound(f"{term.name} is not bound to weights")
            return self.matrices[term.name]
        if isinstance(term, sp.Transpose):
            inner = self.enclosure(term.arg)
            return self.answers.once(("transpose", inner), lambda: inner.transpose)
        if isinstance(term, sp.MatMul):
            number, factors = term.as_coeff_matrices()
            if number != 1 or any(isinstance(each, sp.Inverse | sp.MatPow) for each in factors):
                raise NotBound(f"{term} is not evaluated")
            found = tuple(self.enclosure(each) for each in factors)
            return self.answers.once(("product", *found), lambda: product(*found))
        if isinstance(term, sp.MatAdd):
            scale = self.scale(term)  # what is stored times less is multiplied by the rest: by a float, which is exact
            found = tuple(self._times(self.enclosure(each), scale / self.scale(each)) for each in term.args)
            return self.answers.once(("sum", *found), lambda: total(list(found)))
        raise NotBound(f"{term} is not evaluated")

    def _times(self, enclosure: Enclosure, factor: float) -> Enclosure:
        if factor == 1.0:
            return enclosure
        multiple = Enclosure.from_floats(factor * np.eye(enclosure.shape[0]))
        return self.answers.once(("times", factor, enclosure), lambda: product(multiple, enclosure))

    def scale(self, term: sp.MatrixExpr) -> float:
        """The positive number by which :meth:`enclosure` of the term is divided in the theorem."""
        if isinstance(term, sp.MatMul):
            exact = math.prod((Fraction(self.scale(each)) for each in term.args), start=Fraction(1))
            if Fraction(float(exact)) != exact:
                raise NotBound(f"the scale of {term} is not a float")
            return float(exact)
        if isinstance(term, sp.MatAdd):
            found = {self.scale(each) for each in term.args}
            if len(found - {1.0}) > 1:
                raise NotBound(f"{term} adds matrices that are stored times different scales")
            return found.pop() if len(found) == 1 else (found - {1.0}).pop()
        inner = term.arg if isinstance(term, sp.Transpose | sp.Inverse) else term
        return self.scales.get(inner.name, 1.0) if isinstance(inner, sp.MatrixSymbol) else 1.0

    def congruent(self, left: Enclosure, right: Enclosure) -> Enclosure:
        """``Y^T X`` for ``X Y^-1``: same definiteness, same symmetry, for invertible Y."""

        def form() -> Enclosure:
            found = product(right.transpose, left)
            return without_factors(found) if self.light else found

        return self.answers.once(("congruent", right, left), form)

    def answer(self, name: str, term: sp.MatrixExpr) -> Verdict:
        try:
            if isinstance(term, sp.MatMul) and isinstance(term.args[-1], sp.Inverse):
                right = self.enclosure(term.args[-1].arg)
                regular = self.ask("nonsingular", right)
                if regular.is_fails:
                    return fails(f"the inverse does not exist: {regular.reason}")
                left = self.enclosure(sp.MatMul(*term.args[:-1]).doit())
                return _of_congruent(name, self.ask(name, self.congruent(left, right)), regular)
            scale = self.scale(term)
            if name == "identity" and isinstance(term, sp.MatMul) and term.args[0] == -1:
                inner = sp.MatMul(*term.args[1:]).doit()
                return _is_multiple_of_identity(self.enclosure(inner), -self.scale(inner))
            if name == "identity" and isinstance(term, sp.MatrixSymbol) and term.name in self.gains:
                return _is_gain_of_ones(self.gains[term.name])
            if name == "identity" and scale != 1.0:
                return _is_multiple_of_identity(self.enclosure(term), scale)
            return in_scaled_units(self.ask(name, self.enclosure(term)), scale)
        except NotBound as problem:
            return undecided(str(problem))

    def whole(self, term: sp.MatrixExpr) -> Enclosure:
        return self.enclosure(term)

    def norm(self, term: sp.MatrixExpr) -> tuple[float, float]:
        low, high = scaled_interval(self.whole_norm(self.enclosure(term)), self.scale(term))
        return max(low, 0.0), high

    def whole_norm(self, enclosure: Enclosure) -> tuple[float, float]:
        """The interval of the spectral norm, found once."""
        return self.answers.once(("norm", enclosure), lambda: norm_of(enclosure))

    def distance(self, name: str, enclosure: Enclosure) -> tuple[float, float]:
        """The spectral distance to the matrices that satisfy an equality (``symmetric``, ``identity``), found once."""
        return distance_interval(self.ask(name, enclosure))

    def parts(self, term: sp.MatrixExpr) -> Parts | None:
        base = symmetric_base(term)
        kind, find = ("real parts", real_parts) if base is None else ("symmetric parts", symmetric_parts)
        whole, scale = self.enclosure(term if base is None else base), self.scale(term if base is None else base)
        ends = self.answers.once((kind, whole), lambda: find(whole))
        return self.answers.once((kind, whole, scale), lambda: scaled_parts(ends, scale))

    def trace(self, term: sp.MatrixExpr) -> tuple[float, float]:
        whole = self.enclosure(term)
        return scaled_interval(self.answers.once(("trace", whole), lambda: trace_of(whole)), self.scale(term))

    def form_at_leader(self, form: sp.MatrixExpr, term: sp.MatrixExpr) -> tuple[float, float]:
        """``|K v|^2`` for the skew part K of a matrix and the leading eigenvector v of its symmetric part; the form of a letter
        at the leading eigenvector of another."""
        if isinstance(form, sp.MatrixSymbol) and isinstance(term, sp.MatrixSymbol):
            return self._letter_at_leader(form, term)
        base = symmetric_base(term)
        if base is None or form != _squared_skew(base) or self.scale(base) != 1.0:
            return super().form_at_leader(form, term)
        whole = self.enclosure(base)
        found = self.answers.once(("skew at leader", whole), lambda: skew_at_leader(whole))
        if found is None:
            raise NotBound(f"the leading eigenvalue of {term} is not certainly apart from the others")
        return found

    def _letter_at_leader(self, form: sp.MatrixSymbol, term: sp.MatrixSymbol) -> tuple[float, float]:
        value, letter = self.enclosure(term), self.enclosure(form)
        if not self.ask(
            "dominant-modulus", value
        ).is_holds:  # a real leader in both orders, where its sign is asked for too
            raise NotBound(f"no real eigenvalue of {term} is certainly larger than all others in modulus")
        key = ("form at leader", value, letter)
        found = self.answers.once(key, lambda: form_at_leader_of(value, letter))
        if found is None:
            raise NotBound(f"the leading eigenvector of {term} is not enclosed")
        return scaled_interval(found, self.scale(form))

    def ask(self, name: str, enclosure: Enclosure, **options: Any) -> Verdict:
        """``certify``, answered once."""
        key = (name, enclosure, tuple(sorted(options.items())))
        return self.answers.once(key, lambda: self._certified(name, enclosure, options))

    def _certified(self, name: str, enclosure: Enclosure, options: dict[str, Any]) -> Verdict:
        behind = self.grouped.get(enclosure)
        if behind is not None and name == "nonsingular":
            return behind.certify(name)
        if behind is not None and name == "inertia" and (known := behind.inertia()).is_holds:
            return known
        if not self.light:
            return certify(name, enclosure, time_limit=TIME_LIMIT, **options)
        verdict = certify_wide(name, enclosure, options, self.answers.once)
        if enclosure.shape[0] > KEPT_SPECTRA:
            for made in ("symmetric_part", "symmetric_spectrum"):  # again when asked for
                enclosure.__dict__.pop(made, None)
        if verdict.certificate is None:
            return verdict
        return replace(verdict, certificate=replace(verdict.certificate, arrays={}))


def _is_multiple_of_identity(whole: Enclosure, factor: float) -> Verdict:
    """Is it ``factor I``?  Exactly, where it is near; by its distance, where it is not; margins are those of ``M / |factor|``."""
    said = {1.0: "the identity", -1.0: "minus the identity"}.get(factor, f"the identity times {factor:.6g}")
    multiple = Enclosure.from_floats(-factor * np.eye(whole.shape[0]))
    low, high = scaled_interval(norm_of(total([whole, multiple])), abs(factor))
    if low > 0:
        return fails(f"at spectral distance at least {low:.6g}", margin=low, unit="spectral norm")
    exact = whole.exact
    if exact is None or whole.slack:
        return undecided(f"at spectral distance at most {high:.6g}")
    if exact.shifted(-Fraction(factor)).is_zero():
        return holds(f"M is {said}, entry by entry")
    return fails(f"M is not {said}, entry by entry", margin=0.0, unit="spectral norm")


def _is_gain_of_ones(gain: Array) -> Verdict:
    """A gain of a norm beside 1, entry by entry: stored numbers, and 1 + w where w is stored."""
    apart = np.abs(np.asarray(gain, dtype=np.float64) - 1.0)
    worst = int(apart.argmax())
    if apart[worst] == 0.0:
        return holds("every gain of the norm is 1")
    margin = math.nextafter(float(apart[worst]), 0.0)
    return fails(f"gain {worst + 1} of the norm is {float(gain[worst]):.6g}", margin=margin, unit="spectral norm")


@lru_cache(maxsize=256)
def symmetric_base(term: sp.MatrixExpr) -> sp.MatrixSymbol | None:
    """X where the term is ``(X + X^T)/2`` of a letter X."""
    letters = term.atoms(sp.MatrixSymbol) if isinstance(term, sp.MatAdd) else set()
    return next((each for each in letters if term == sym(each)), None)


def scaled_parts(ends: Parts | None, scale: float) -> Parts | None:
    """Real parts divided by a positive scale, rounded outwards."""
    if ends is None or scale == 1.0:
        return ends
    both = [scaled_interval(each, scale) for each in zip(*ends, strict=True)]
    return [low for low, _ in both], [high for _, high in both]


def in_scaled_units(verdict: Verdict, scale: float) -> Verdict:
    """The verdict was reached for the scores times their scale: the unit of its margin says so."""
    if scale == 1.0 or not verdict.unit:
        return verdict
    return replace(verdict, unit=f"{verdict.unit} of the scores times {scale:.6g}")


def _of_congruent(name: str, answer: Verdict, regular: Verdict) -> Verdict:
    """The verdict about ``X Y^-1`` from the one about ``Y^T X``.  Definiteness of the latter makes Y invertible."""
    answer = replace(answer, reason=f"Y^T X for X Y^-1: {answer.reason}", unit=f"{answer.unit} of Y^T X")
    if answer.is_holds and name in {"positive-definite", "negative-definite"}:
        return answer
    if regular.is_holds:
        return answer
    return undecided(f"whether the inverse exists is undecided: {regular.reason}")


@lru_cache(maxsize=256)
def _squared_skew(base: sp.MatrixSymbol) -> sp.MatrixExpr:
    return skew(base).T * skew(base)


@lru_cache(maxsize=256)
def printed(term: sp.Basic) -> str:
    """The term as text, printed once however many heads it is asked of."""
    return str(term)


@dataclass(frozen=True, eq=False)
class HeadSymbolValues(SymbolValues):
    """``roles`` says which letter is ``value`` (U) and which is ``score`` (P); ``answers`` are shared by the systems."""

    head: HeadWeights
    roles: Mapping[str, str]
    step: Fraction = Fraction(1)
    gains: Mapping[str, Array] = field(default_factory=dict)
    heads: tuple[SymbolValues, ...] = ()
    answers: Answers = field(default_factory=Answers, repr=False)

    @property
    def d(self) -> int:
        return self.head.d

    def binds(self, term: sp.MatrixExpr) -> bool:
        return isinstance(term, sp.MatrixSymbol) and term.name in self.roles

    def _role(self, term: Any) -> str:
        if not isinstance(term, sp.MatrixSymbol) or term.name not in self.roles:
            raise NotBound(f"{printed(term)} is not a matrix of one head")
        return self.roles[term.name]

    def _once(self, key: tuple[str, str], compute: Callable[[LowRank], Found]) -> Found:
        return self.answers.once(key, lambda: compute(self.head.low_rank(key[1])))

    def answer(self, name: str, term: sp.MatrixExpr) -> Verdict:
        inverted = isinstance(term, sp.MatMul) and isinstance(term.args[-1], sp.Inverse)
        if name == "identity" and isinstance(term, sp.MatrixSymbol) and term.name in self.gains:
            return _is_gain_of_ones(self.gains[term.name])
        if name == "identity" and isinstance(term, sp.MatMul) and len(term.args) == 2 and term.args[0] == -1:
            return self._minus_identity(term.args[1])
        try:
            role = self._role(term.args[-1].arg if inverted else term)
        except NotBound as problem:
            return undecided(str(problem))
        if inverted:
            why = self._once(("deficient", role), lambda found: found.deficient)
            return fails(f"the inverse does not exist: {why}", margin=0.0, unit="spectral norm")
        verdict = self._once((name, role), lambda found: found.certify(name))
        return in_scaled_units(verdict, self.head.scale) if role == "score" else verdict

    def _minus_identity(self, term: sp.MatrixExpr) -> Verdict:
        """A matrix with a kernel moves a unit vector of it by 1 from its negative."""
        try:
            self._role(term)
        except NotBound as problem:
            return undecided(str(problem))
        said = (
            f"{term} = -I asks for rank {self.d}, and a head of width {self.head.width} has {self.head.width} at most"
        )
        return fails(said, margin=1.0, unit="spectral norm")

    def trace(self, term: sp.MatrixExpr) -> tuple[float, float]:
        """``tr(O V)`` as that of the core, ``tr(P U) = tr(K O V Q^T) / scale``."""
        factors = term.args if isinstance(term, sp.MatMul) else (term,)
        roles = sorted(self._role(each) for each in factors)
        if roles not in (["value"], ["score"], ["score", "value"]):
            return super().trace(term)
        scale = self.head.scale if "score" in roles else 1.0
        if len(roles) == 1:
            return scaled_interval(self._once(("trace", roles[0]), lambda found: trace_of(found.core)), scale)
        Q, K, V, O = (self.head.named(letter) for letter in "QKVO")
        small = self.answers.once("trace of both", lambda: trace_of(product(product(K, O), product(V, Q.transpose))))
        return scaled_interval(small, scale)

    def corner(self, term: sp.MatrixExpr) -> Enclosure:
        role = self._role(term)
        return self.answers.once(("corner", role), lambda: self.head.corner(role))

    def whole(self, term: sp.MatrixExpr) -> Enclosure:
        role = self._role(term)
        if not self.head.dense:
            raise NotBound(f"{term} is not formed: {HEADS_ONLY}")
        return self.head.value if role == "value" else self.head.score

    def norm(self, term: sp.MatrixExpr) -> tuple[float, float]:
        if isinstance(term, sp.MatAdd) and len(term.args) == 2:  # by the triangle inequality, no sum is formed
            (low, high), (low_other, high_other) = (self.norm(each) for each in term.args)
            return max(0.0, down(low - high_other, 2), down(low_other - high, 2)), up(high + high_other, 2)
        role = self._role(term)
        interval = self._once(("norm", role), lambda found: found.norm)
        low, high = scaled_interval(interval, self.head.scale if role == "score" else 1.0)
        return max(low, 0.0), high

    def parts(self, term: sp.MatrixExpr) -> Parts | None:
        role = self._role(term)
        ends = self._once(("real parts", role), lambda found: found.parts())
        if role != "score":
            return ends
        return self._once(("scaled parts", role), lambda _: scaled_parts(ends, self.head.scale))

    def form_at_leader(self, form: sp.MatrixExpr, term: sp.MatrixExpr) -> tuple[float, float]:
        """``v^T P v`` at the leading eigenvector v of U, through the factors."""
        if (self._role(form), self._role(term)) != ("score", "value"):
            return super().form_at_leader(form, term)
        found = self.answers.once("score at leader", lambda: score_at_leader(self.head))
        if found is None:
            raise NotBound(f"the leading eigenvector of {term} is not enclosed")
        return scaled_interval(found, self.head.scale)
