"""How far weights are from meeting the conditions of a statement: a certified interval, and explicit weights at its upper end.

The distance is the largest change of a matrix, in the spectral norm, that leads to weights which meet every condition (for
open conditions the infimum).  The matrices are those that the statement speaks of: of a layer ``F = sum_h O_h V_h`` and the
scores ``S / scale`` as if it were one head, of a head ``U_h = O_h V_h`` and ``P_h = Q_h^T K_h / scale``.

*Below*: each failing condition must be met.  A certified ``fails`` says how far its matrix may move before it could hold; for
``X = X^T`` that is exactly ``|X - X^T| / 2`` (Fan and Hoffman 1955), for definiteness ``-lambda_min(sym X)``, for ``a |X| < b``
what is beyond ``b / a``.  A condition on ``W B^-1`` is read on ``B^T W``, which moves by at most ``|B| s + |W| s + s^2`` where
both move by s.

*Above*: weights are made in floats (:mod:`eigentoken.numerics.layers.neighbours`), every condition is certified of them as they
stand, and how far they are is enclosed; so how they were found does not matter.  True by construction are ``W' = X B`` with
``W' B^-1 = X``, ``M' = c V'``, and ``A D A^T`` of a head, which is symmetric.

A head of width r < d has matrices of rank at most r: what asks for rank d is met by no weights of these shapes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
import sympy as sp

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure, product, total
from eigentoken.numerics.certified.rounding import Array, down, up
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS, letters_of
from eigentoken.numerics.layers.neighbours import (
    Decompositions,
    factor,
    invertible_near,
    matrices_near,
    norm_about,
    quotients_near,
)
from eigentoken.numerics.layers.quantities import (
    Interval,
    norm_of,
    scaled_interval,
    symmetric_extremes,
)
from eigentoken.numerics.layers.symbol_values import Answers, LayerSymbolValues
from eigentoken.numerics.layers.wanted import (
    Wanted,
    is_double,
    is_zero,
    positive_form,
    slope_of_norm,
    trace_is_met,
    wanted_of,
    ways,
)
from eigentoken.theory.language.conditions import (
    Condition,
    IsIdentity,
    NegativeDefinite,
    OfOneMatrix,
    PositiveDefinite,
    PositiveSemidefinite,
    Relation,
)
from eigentoken.theory.language.matrix_words import IsZero
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict

__all__ = [
    "WIDEST_ALONE",
    "WIDEST_OF_ALL",
    "Letters",
    "Nearby",
    "WeightDistance",
    "layer_distance",
    "lower_end",
    "nearest_of_letters",
    "never_met",
]

#: Room in strict inequalities, as shares of the norm: the first that can be certified is taken.
SHIFTS = (1e-6, 1e-4, 1e-2)

#: Wider layer matrices get no explicit neighbour in a check of all statements: one more spectrum would double the time of the
#: layer.  Where one statement is asked for, the second limit holds.
WIDEST_OF_ALL, WIDEST_ALONE = 512, 2048

_DEFINITE = (PositiveDefinite, PositiveSemidefinite, NegativeDefinite)


@dataclass(frozen=True, eq=False)
class Letters:
    """The matrices that play the letters of a system: values, scores times their scale, others that are no weights."""

    value: tuple[str, ...]
    score: str | None
    matrices: Mapping[str, Enclosure]
    scale: float = 1.0
    made: Answers = field(default_factory=Answers)
    "What was found of neighbours, for other statements about the same matrices."

    @property
    def scales(self) -> dict[str, float]:
        return {} if self.score is None else {self.score: self.scale}

    def of(self, name: str) -> Enclosure:
        return self.matrices[name]

    def enclosed(self, neighbour: Array) -> Enclosure:
        """The neighbour as an enclosure, the same object for the same numbers."""
        alike = self.made.once(("neighbours", float(neighbour.flat[0]), float(neighbour.flat[-1])), _nothing_made)
        for array, made in alike:
            if array is neighbour or np.array_equal(array, neighbour):
                return made
        alike.append((neighbour, self._beside(Enclosure.from_floats(neighbour))))
        return alike[-1][1]

    def _beside(self, made: Enclosure) -> Enclosure:
        """Without a hash, for it is in no certificate; with the value matrix beside it, whose eigenvectors may be its own."""
        stored = self.of(self.value[0]) if self.value else None
        alike = stored is not None and stored.exponent == made.exponent and np.array_equal(stored.center, made.center)
        return replace(made, _inputs=None, same_center=stored if alike else None, near=stored)


def _nothing_made() -> list[tuple[Array, Enclosure]]:
    return []


@dataclass(frozen=True, eq=False)
class Nearby:
    """Matrices that meet the conditions, certified as they stand: values, scores times their scale, and how far they are.

    ``quotient``: X where the scores are ``X F`` times their scale by how they were made.
    """

    distance: Interval
    value: Array | None = None
    score: Array | None = None
    quotient: Array | None = None


@dataclass(frozen=True, eq=False)
class WeightDistance:
    """Enclosure of the distance (``None``: there is none), what it is of, a sentence, and the weights at the upper end."""

    interval: Interval | None
    of: str
    says: str
    nearby: Nearby | None = None


def layer_distance(
    conditions: Sequence[Condition],
    verdicts: Mapping[Condition, Verdict | None],
    letters: Letters,
    narrow: int | None,
    each_head: bool,
    widest: int = WIDEST_OF_ALL,
) -> WeightDistance:
    """The distance of the matrices of a layer; ``verdicts`` are those of the conditions on weights (``None``: on tokens).

    ``narrow``: the width of a head that is narrower than the layer; ``each_head``: what is asked of U is asked of every head;
    ``widest``: no neighbour is sought of wider matrices.
    """
    of = _of(conditions, letters)
    if all(each is None or each.is_holds for each in verdicts.values()):
        return WeightDistance((0.0, 0.0), of, "every condition on weights is certified here")
    low = lower_end(verdicts, letters)
    why = never_met(verdicts)
    asked = [each for each in verdicts if isinstance(each, IsIdentity) and letters_of(each) & set(letters.value)]
    if why is None and each_head and asked:
        if narrow is not None:
            d = next(iter(letters.matrices.values())).shape[0]
            rank = f"{asked[0].term} = I asks for rank {d} and a head of width {narrow} has {narrow} at most"
            why = f"{rank}: no weights of these shapes meet it"
        else:
            why = "it asks of every head: no neighbour is sought"
        of = "a head"
    if why is not None:
        return WeightDistance((low, math.inf), of, why)
    settled = frozenset(each for each, verdict in verdicts.items() if verdict is None or verdict.is_holds)
    if next(iter(letters.matrices.values())).shape[0] > widest:
        high = _to_projection(conditions, letters, settled)
        says = f"no neighbour is sought beyond d = {widest}"
        if high < math.inf:
            says += ", but a small multiple of a projection of rank one meets every condition on weights"
        return WeightDistance((min(low, high), high), of, says)
    found = nearest_of_letters(conditions, letters, settled=settled, refused=_refused(verdicts, letters))
    if found is None:
        return WeightDistance((low, math.inf), of, "no neighbour was found that can be certified")
    says = "a matrix at the upper end meets every condition on weights, certified"
    return WeightDistance((min(low, found.distance[1]), found.distance[1]), of, says, found)


def _refused(verdicts: Mapping[Condition, Verdict | None], letters: Letters) -> frozenset[Condition]:
    """Conditions that fail by far more than the floats of a matrix are off: they fail of its floats as well."""
    off = max((letters.of(name).unscaled_upper(letters.of(name).radius) for name in letters.value), default=math.inf)
    failing = ((each, verdict.margin) for each, verdict in verdicts.items() if verdict is not None and verdict.is_fails)
    return frozenset(each for each, margin in failing if margin is not None and margin > 2.0**20 * off)


#: What asks of the spectrum, the norm and the symmetry of a matrix alone: ``c e e^T`` has them in every dimension from 2 on.
_OF_PROJECTIONS = replace(
    Wanted(), symmetric=True, leads=True, by_modulus=True, positive=True, skew_small=True, low_end=True
)


def _to_projection(conditions: Sequence[Condition], letters: Letters, settled: frozenset[Condition]) -> float:
    """``|F|`` and a little, where ``c e e^T`` with a small c meets what is asked of F, certified of it in dimension 3.

    Its eigenvalues are c and zeros, its norm is c, it is symmetric: in every dimension from 2 on the same conditions hold of it.
    """
    if not letters.value or (size := norm_of(letters.of(letters.value[0]))[1]) in (0.0, math.inf):
        return math.inf
    for way in ways(conditions):
        asked = [each for each in way if letters_of(each) & set(letters.value)]
        wanted = _joined([wanted_of(asked, matrix(name)) for name in letters.value])
        allowed = replace(_OF_PROJECTIONS, below=wanted.below)
        others = [each for each in way if each not in asked and letters_of(each) and each not in settled]
        if others or any(
            getattr(wanted, each.name) not in (getattr(allowed, each.name), False, None) for each in fields(wanted)
        ):
            continue
        if any(letters.score in letters_of(each) for each in asked):
            continue
        c = min(size, 1.0 if wanted.below is None else wanted.below) * 2.0**-20
        small = dict.fromkeys(letters.value, Enclosure.from_floats(np.diag([c, 0.0, 0.0])))
        if _Candidate(Letters(letters.value, None, small), {}).meets(asked):
            return up(size + c)
    return math.inf


def _of(conditions: Sequence[Condition], letters: Letters) -> str:
    """Which matrices are asked of: ``F``, ``S``, or both."""
    asked = set().union(*(letters_of(each) for each in conditions)) if conditions else set()
    named = ["F"] if asked & set(letters.value) else []
    named += ["S"] if letters.score in asked else []
    return " and ".join(named) or "F"


def never_met(verdicts: Mapping[Condition, Verdict | None]) -> str | None:
    """A condition that fails and speaks of no matrix (``d = 2``), or of one that is no weight of attention: nothing mends it."""
    for each, verdict in verdicts.items():
        if verdict is not None and verdict.is_fails and not letters_of(each):
            return f"{verdict.reason}: no weights of this width meet it"
        if verdict is not None and verdict.is_fails and letters_of(each) == {"G"}:
            return f"{verdict.reason}: no weights of the attention mend it"
        if verdict is not None and verdict.reason.endswith("is not bound to weights"):
            return f"{verdict.reason} of the attention: whether it can be met is not decided"
    return None


def lower_end(verdicts: Mapping[Condition, Verdict | None], letters: Letters | None) -> float:
    """How far the weights are at least: what the condition that is farthest says."""
    failing = [(each, verdict) for each, verdict in verdicts.items() if verdict is not None and verdict.is_fails]
    return max((_least(each, verdict, letters) for each, verdict in failing), default=0.0)


def _least(condition: Condition, verdict: Verdict, letters: Letters | None) -> float:
    """How far the matrices may move, and the condition still fails; 0 where that is not known."""
    margin = float((verdict.details.get("distance") or [verdict.margin])[0] or 0.0)
    if isinstance(condition, Relation):
        slope = slope_of_norm(condition.relation)
        return 0.0 if slope is None or verdict.unit != "difference of the sides" else down(margin / slope)
    if letters is not None and isinstance(condition, _DEFINITE) and isinstance(condition.term, sp.MatrixSymbol):
        return max(margin if verdict.unit == "spectral norm" else 0.0, _to_definite(condition, letters))
    if verdict.unit == "spectral norm":
        return margin
    if verdict.unit.startswith("spectral norm of the scores times ") and letters is not None:
        return down(margin / letters.scale)
    if verdict.unit == "spectral norm of Y^T X" and letters is not None and letters.score is not None:
        score, value = norm_of(letters.of(letters.score)), norm_of(letters.of(letters.value[0]))
        linear = value[1] * letters.scale + score[1]
        root = math.sqrt(linear * linear + 4 * letters.scale * margin) + linear
        return down(2 * margin / root, 16) if root > 0 else 0.0
    return 0.0


def _to_definite(condition: OfOneMatrix, letters: Letters) -> float:
    name = condition.term.name
    known = name in letters.matrices and letters.of(name).shape[0] <= WIDEST_ALONE  # wider: what the verdict says
    ends = symmetric_extremes(letters.of(name)) if known else None
    if ends is None:
        return 0.0
    wrong = ends[1][0] if isinstance(condition, NegativeDefinite) else -ends[0][1]
    return down(max(0.0, wrong) / letters.scales.get(name, 1.0))


def nearest_of_letters(
    conditions: Sequence[Condition],
    letters: Letters,
    shifts: Sequence[float] = SHIFTS,
    settled: frozenset[Condition] = frozenset(),
    refused: frozenset[Condition] = frozenset(),
) -> Nearby | None:
    """The nearest of the candidates on which every condition is certified; ``None`` where there is none.

    A letter all of whose conditions are ``settled`` (certified of the stored weights) stays as it is.  The values as they are
    are no candidate where a condition on them alone is ``refused`` (it certainly fails).
    """
    found: list[Nearby] = []
    for way in ways(conditions):
        for share in shifts:
            made = next((each for each in _candidates(way, letters, share, settled, refused) if each.meets(way)), None)
            if made is not None:
                found.append(made.nearby(letters))
                break
    return min(found, key=lambda each: each.distance[1], default=None)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Other matrices for some letters; ``given``: conditions that hold by how they were made; ``quotient``: X of W' = X B."""

    letters: Letters
    changed: Mapping[str, Array | None]
    given: frozenset[Condition] = field(default_factory=frozenset)
    quotient: tuple[sp.MatrixExpr, Array] | None = None

    def meets(self, way: Sequence[Condition]) -> bool:
        environment = LayerSymbolValues(
            "nearest", self.letters.matrices, self.letters.scales, answers=self.letters.made
        )
        for condition in way:
            if condition in self.given:
                continue
            if ON_WEIGHTS.find(type(condition)) is None:
                return False
            verdict: Verdict | None
            if self.quotient is not None and getattr(condition, "term", None) == self.quotient[0]:
                verdict = self._of_quotient(condition)
            elif isinstance(condition, Relation) and (form := positive_form(condition.relation)) is not None:
                verdict = environment.answer("positive-definite", form)
            else:
                verdict = ON_WEIGHTS(condition, environment)
            if verdict is not None and not verdict.is_holds:
                return False
        return True

    def _of_quotient(self, condition: Condition) -> Verdict:
        """``W' B^-1 = X`` where B is invertible, so the condition is asked of X."""
        assert self.quotient is not None and isinstance(condition, OfOneMatrix)
        regular = certify("nonsingular", self.letters.of(self.letters.value[0]))
        return certify(condition.called, Enclosure.from_floats(self.quotient[1])) if regular.is_holds else regular

    def nearby(self, stored: Letters) -> Nearby:
        ends = [(0.0, 0.0)]
        for name in self.changed:
            here, there = stored.of(name), self.letters.of(name)
            minus = replace(there, center=-there.center, _exact=None)
            away = stored.made.once(("away", here, there), lambda: norm_of(total([here, minus])))  # noqa: B023 - at once
            ends.append(scaled_interval(away, stored.scales.get(name, 1.0)))
        interval = max(low for low, _ in ends), max(high for _, high in ends)
        value = next((self.changed[name] for name in stored.value if name in self.changed), None)
        quotient = None if self.quotient is None else self.quotient[1]
        return Nearby(interval, value, self.changed.get(stored.score) if stored.score else None, quotient)


def _candidates(
    way: Sequence[Condition],
    stored: Letters,
    share: float,
    settled: frozenset[Condition],
    refused: frozenset[Condition] = frozenset(),
) -> Iterator[_Candidate]:
    """Every value matrix of the candidates with every score matrix, the nearest values first."""
    value, score = stored.value[0] if stored.value else None, stored.score
    of_value = [each for each in way if letters_of(each) & set(stored.value) and score not in letters_of(each)]
    values: list[Array | None] = [None]
    if value is not None and of_value and not settled.issuperset(of_value):
        wanted = _joined([wanted_of(of_value, matrix(name)) for name in stored.value])
        near = stored.made.once("near", lambda: Decompositions.of(stored.of(value)))
        values = [*stored.made.once(("near", wanted, share), lambda: matrices_near(near, wanted, share))]
        if not refused.isdisjoint(of_value):
            values = [each for each in values if each is not near.matrix]
    for F in values:
        matrices = dict(stored.matrices)
        changed: dict[str, Array | None] = {}
        given: frozenset[Condition] = frozenset()
        if F is not None:
            moved = stored.enclosed(F)
            matrices |= dict.fromkeys(stored.value, moved)
            changed[value or ""] = F
            given = _given_of_value(of_value, F)
        base = _Candidate(replace(stored, matrices=matrices), changed, given)
        of_score = [each for each in way if score in letters_of(each)]
        coupled = [each for each in of_score if letters_of(each) & set(stored.value)]
        if score is None or not of_score or (settled.issuperset(of_score) and (F is None or not coupled)):
            yield base
        else:
            yield from _with_scores(of_score, base, stored, share)


def _joined(parts: Sequence[Wanted]) -> Wanted:
    """A system may call its values by two letters."""
    first, *others = parts
    for each in others:
        first = each if each.anything else first
    return first


def _given_of_value(conditions: Sequence[Condition], F: Array) -> frozenset[Condition]:
    """What ``c I`` is by how it was made: ``lambda_1 = lambda_2``, and the (negative) identity that was wanted."""
    if not np.array_equal(F, F[0, 0] * np.eye(len(F))):
        return frozenset()
    return frozenset(
        each
        for each in conditions
        if is_double(each)
        or (isinstance(each, IsIdentity) and F[0, 0] == (1.0 if isinstance(each.term, sp.MatrixSymbol) else -1.0))
    )


def _with_scores(way: Sequence[Condition], base: _Candidate, stored: Letters, share: float) -> Iterator[_Candidate]:
    """The candidate with other scores, in the units of what is stored (times the scale)."""
    name, scale = stored.score or "", stored.scale
    W, term = _floats(stored.of(name)) / scale, matrix(name)
    quotient = next((each.term for each in way if isinstance(each, OfOneMatrix) and each.term.has(sp.Inverse)), None)
    wanted = wanted_of(way, term)
    if quotient is not None:
        yield from _with_quotient(way, quotient, base, W, scale, share)
    elif wanted.multiple_of is not None:
        yield from _with_multiple(way, wanted, base, W, scale, share)
    elif any(isinstance(each, IsZero) and isinstance(each.term, sp.MatAdd) for each in way):
        yield from _with_opposite(way, base, W, scale, share)
    else:
        for made in matrices_near(W, wanted, share):
            moved = Enclosure.from_floats(made * scale)
            given: frozenset[Condition] = frozenset(
                each
                for each in way
                if (wanted.identity and isinstance(each, IsIdentity)) or (is_zero(each) and not made.any())
            )
            yield _changed(base, name, moved, made * scale, given)


def _changed(
    base: _Candidate, name: str, moved: Enclosure, floats: Array | None, given: frozenset[Condition]
) -> _Candidate:
    letters = replace(base.letters, matrices={**base.letters.matrices, name: moved})
    return replace(base, letters=letters, changed={**base.changed, name: floats}, given=base.given | given)


def _with_multiple(
    way: Sequence[Condition], wanted: Wanted, base: _Candidate, W: Array, scale: float, share: float
) -> Iterator[_Candidate]:
    """``W' = c I`` or ``c V'``: the nearest c, and the nearest that is positive, or as large as is asked."""
    of = wanted.multiple_of
    assert of is not None
    to = np.eye(len(W)) if of == IDENTITY else _floats(base.letters.of(base.letters.value[0]))
    near = factor(W) if of == IDENTITY else float((W * to).sum() / ((to * to).sum() or 1.0))
    small = share * (norm_about(W) or 1.0) / (norm_about(to) or 1.0)
    least = 0.0 if wanted.least is None else wanted.least
    for c in [0.0] if wanted.zero else [near, max(near, small), max(near, least)]:
        given: frozenset[Condition] = frozenset(each for each in way if isinstance(each, MultipleOf))
        # tr(c I) = c d, and tr(c V V) = c |V|_F^2 where V is symmetric
        symmetric = of == IDENTITY or certify("symmetric", base.letters.of(base.letters.value[0])).is_holds
        if c >= 0 and symmetric and to.any():
            given |= {each for each in way if trace_is_met(each, matrix(base.letters.score or ""), of, c > 0)}
        if of == IDENTITY:
            moved = Enclosure.from_floats(c * scale * to)
        else:
            moved = product(Enclosure.from_floats(c * scale * np.eye(len(W))), base.letters.of(base.letters.value[0]))
        made = _changed(base, base.letters.score or "", moved, c * scale * to, given)
        yield made if of == IDENTITY else replace(made, quotient=(IDENTITY, c * np.eye(len(W))))


def _with_opposite(
    way: Sequence[Condition], base: _Candidate, W: Array, scale: float, share: float
) -> Iterator[_Candidate]:
    """``W' = -B'``: both go to the middle of W and -B, or to the nearest matrix there that meets what else is asked of W."""
    name, value = base.letters.score or "", base.letters.value[0]
    opposite = [
        each for each in way if isinstance(each, IsZero) and set(each.term.args) == {matrix(name), matrix(value)}
    ]
    middle = 0.5 * (W - _floats(base.letters.of(value)))
    for made in matrices_near(middle, wanted_of(way, matrix(name)), share) if opposite else ():
        moved = Enclosure.from_floats(-made)
        matrices = {**base.letters.matrices, **dict.fromkeys(base.letters.value, moved)}
        other = replace(base, letters=replace(base.letters, matrices=matrices), changed={**base.changed, value: -made})
        scores = product(Enclosure.from_floats(-scale * np.eye(len(made))), moved)
        given: frozenset[Condition] = frozenset(opposite)
        yield replace(_changed(other, name, scores, made * scale, given), quotient=(IDENTITY, -np.eye(len(made))))


def _with_quotient(
    way: Sequence[Condition], quotient: sp.MatrixExpr, base: _Candidate, W: Array, scale: float, share: float
) -> Iterator[_Candidate]:
    """``W' = X B'`` with X symmetric near ``W B^-1``, or such that ``B^T W'`` is near ``B^T W``.

    Where sym(W') is to be definite, too, X is moved along the solution of ``X B' + B'^T X = +-I``, and B' is B shifted until
    that solution has the sign that X is to have (Lyapunov); in the end W' is small, and then it is near enough.
    """
    wanted, sign = wanted_of(way, quotient), wanted_of(way, matrix(base.letters.score or "")).sign
    stored = _floats(base.letters.of(base.letters.value[0]))
    found: list[tuple[float, Array, Array]] = []
    for B in invertible_near(stored, wanted.sign * sign, share):
        for X in quotients_near(W, B, wanted, sign, share):
            if np.isfinite(X).all():
                moved = max(norm_about(B - stored), norm_about(X @ B - W))
                found.append((moved, B, 0.5 * (X + X.T) if wanted.symmetric else X))
    for _, B, X in sorted(found, key=lambda each: each[0]):
        made = base
        if B is not stored:
            matrices = {**base.letters.matrices, **dict.fromkeys(base.letters.value, Enclosure.from_floats(B))}
            changed = {**base.changed, base.letters.value[0]: B}
            made = replace(base, letters=replace(base.letters, matrices=matrices), changed=changed)
        moved_scores = product(Enclosure.from_floats(X * scale), made.letters.of(base.letters.value[0]))
        made = _changed(made, base.letters.score or "", moved_scores, X @ B * scale, frozenset())
        yield replace(made, quotient=(quotient, X))


def _floats(stored: Enclosure) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(np.ldexp(stored.center, stored.exponent))
