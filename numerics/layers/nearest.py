"""How far a layer is from meeting the conditions of a statement: a certified interval, and an explicit matrix at its upper end.

The distance is that of the layer matrix ``F = sum_h O_h V_h`` in the spectral norm to the nearest F' that meets every condition
on weights (for open conditions the infimum).  *Below*: to meet all conditions each failing one must be met, and a certified
``fails`` says how far F may move before it could hold; for ``F = F^T`` that is exactly ``|F - F^T| / 2``, attained at ``sym(F)``
(Fan and Hoffman 1955).  *Above*: a matrix F' is made in floats, every condition is certified on it as it stands, and ``|F - F'|``
is enclosed.  How F' was found does not matter, so it is found by floats:

- symmetric: ``sym(F)``;
- a real simple leader: the real Schur form has the leading pair as a block ``[[a, b], [c, a]]``, bc < 0; with the smaller of b
  and c gone the eigenvalue a is double and real, and a small shift of one diagonal entry parts the two; or the largest real
  eigenvalue is raised above all others along its eigenvectors: whichever is nearer;
- a positive leader: the same shift, larger; one that leads by modulus is raised above every modulus;
- a leader of ``sym(F)`` that the skew part does not move far (BD-E1, BD-E2: ``2 |K v| < gap``): the leader raised along
  ``v v^T``, or the skew part made smaller, whichever is nearer.

A condition ``U = I`` on each head asks for rank d; a head of width r < d has rank at most r: no weights of these shapes meet it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from eigentoken.documents.check_document import Interval as IntervalDocument
from eigentoken.numerics.certified.enclosures import Enclosure, total
from eigentoken.numerics.certified.rounding import Array
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS, letters_of
from eigentoken.numerics.layers.layer_readings import StatementOnLayer
from eigentoken.numerics.layers.quantities import Interval, as_json, norm_of
from eigentoken.numerics.layers.symbol_values import LayerSymbolValues
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.conditions import (
    Condition,
    IsIdentity,
    NonPrincipalModulusBelow,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.terms import MatrixNumber, ScoreAtEigenvector
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.statement import Statement

__all__ = [
    "Nearby",
    "StatementDistance",
    "distance_to_statement",
    "moved_by",
    "nearest_layer_matrix",
    "outputs_reaching",
]

#: Shifts that part two eigenvalues, as shares of the norm: the first that can be certified is taken.
SHIFTS = (1e-6, 1e-4, 1e-2)

#: Wider layer matrices get no explicit neighbour: one more spectrum would double the time of the layer.
WIDEST = 512


@dataclass(frozen=True, eq=False)
class Nearby:
    """A layer matrix that meets the conditions, certified as it stands in floats, and its distance to the stored one."""

    matrix: Array
    distance: Interval


@dataclass(frozen=True, eq=False)
class StatementDistance:
    """Enclosure of the distance (``None``: not known), what it is of, a sentence, and the neighbour at the upper end."""

    interval: Interval | None
    of: str
    says: str
    nearby: Nearby | None = None


def distance_to_statement(statement: Statement, reading: StatementOnLayer, weights: LayerWeights) -> StatementDistance:
    """The distance of a layer to the conditions on weights of a statement that is about it."""
    answer = str(reading.answer)
    if answer in ("holds", "asks nothing of the weights", "asks only invertibility"):
        return StatementDistance((0.0, 0.0), "F", "every condition on weights is certified here")
    if answer not in ("fails", "undecided"):
        return StatementDistance(None, "F", f"{answer}: there is no distance")
    low = max((_margin(each) for each in reading.conditions.values() if each.is_fails), default=0.0)
    narrow = [head.width for head in weights.heads if head.width < weights.d]
    if narrow and any(isinstance(each, IsIdentity) and "U" in letters_of(each) for each in statement.conditions):
        why = f"U = I has rank {weights.d} and a head of width {narrow[0]} no more than that: no weights of these shapes meet it"
        return StatementDistance((low, math.inf), "a head", why)
    if any(letters_of(each) - {"F", "V"} for each in statement.conditions if _on_weights(each)):
        return StatementDistance(None, "F", "it asks of more than the layer matrix F: no distance is computed")
    if weights.d > WIDEST:
        return StatementDistance((low, math.inf), "F", f"no neighbour is sought beyond d = {WIDEST}")
    found = nearest_layer_matrix(statement.conditions, weights)
    if found is None:
        return StatementDistance((low, math.inf), "F", "no neighbour was found that can be certified")
    says = "a matrix at the upper end meets every condition on weights, certified"
    return StatementDistance((min(low, found.distance[1]), found.distance[1]), "F", says, found)


def _on_weights(condition: Condition) -> bool:
    return not isinstance(condition, Relation) or bool(condition.relation.atoms(MatrixNumber))


def _margin(verdict: Verdict) -> float:
    """How far the matrix may move and the condition still fails, in the spectral norm; 0 where that is not known."""
    if verdict.unit != "spectral norm":
        return 0.0
    distance = verdict.details.get("distance")
    return float((distance[0] if distance else verdict.margin) or 0.0)


def nearest_layer_matrix(
    conditions: Sequence[Condition], weights: LayerWeights, shifts: Sequence[float] = SHIFTS
) -> Nearby | None:
    """The first of the candidates on which every condition on F is certified; ``None`` where there is none."""
    stored = weights.value
    with np.errstate(all="ignore"):
        floats = np.ldexp(stored.center, stored.exponent)
    if not np.isfinite(floats).all():
        return None
    for candidate in _candidates(floats, conditions, shifts):
        if _meets(conditions, Enclosure.from_floats(candidate)):
            return Nearby(candidate, norm_of(total([stored, Enclosure.from_floats(-candidate, name="minus")])))
    return None


def _meets(conditions: Sequence[Condition], moved: Enclosure) -> bool:
    """Is every condition on weights certified for F = V = this matrix?"""
    letters = LayerSymbolValues("nearest", {"F": moved, "V": moved})
    for condition in conditions:
        if ON_WEIGHTS.find(type(condition)) is None:
            return False
        verdict = ON_WEIGHTS(condition, letters)
        if verdict is not None and not verdict.is_holds:
            return False
    return True


def _candidates(F: Array, conditions: Sequence[Condition], shifts: Sequence[float]) -> Iterator[Array]:
    """Matrices near F, the nearest first, as far as floats can tell."""
    symmetric = any(isinstance(each, Symmetric) for each in conditions)
    leads = any(isinstance(each, SimpleTop | Relation) and _on_weights(each) for each in conditions)
    base = 0.5 * (F + F.T) if symmetric else F
    if symmetric or not leads:
        yield base
    if not leads:
        return
    size = float(np.linalg.norm(base, 2)) or 1.0
    parts = any(each.relation.atoms(ScoreAtEigenvector) for each in conditions if isinstance(each, Relation))
    modulus = any(isinstance(each, NonPrincipalModulusBelow) for each in conditions)
    for share in shifts:
        shift = share * size
        if symmetric:
            yield _raised_symmetric(base, shift)
            continue
        made: list[Array | None]
        if parts:
            made = list(_symmetric_part_leads(base, shift))
        elif modulus:
            made = [_raised(base, shift, modulus=True)]
        else:
            made = [_pair_parted(base, shift), _raised(base, shift)]
        yield from sorted((m for m in made if m is not None), key=lambda m: float(np.linalg.norm(m - base, 2)))


def _raised_symmetric(S: Array, shift: float) -> Array:
    """The largest eigenvalue raised until it is ``shift`` above the next and above 0."""
    values, vectors = np.linalg.eigh(S)
    top, below = float(values[-1]), float(values[-2]) if len(values) > 1 else -math.inf
    by = max(0.0, shift - (top - below), shift - top)
    made = S + by * np.outer(vectors[:, -1], vectors[:, -1])
    return np.asarray(0.5 * (made + made.T))


def _pair_parted(F: Array, shift: float) -> Array | None:
    """The leading complex pair made real and parted by ``shift``; ``None`` where a real eigenvalue leads."""
    T, Z = scipy.linalg.schur(F, output="real")
    blocks = [place for place in range(len(T) - 1) if T[place + 1, place] != 0]
    if not blocks:
        return None
    real = [T[place, place] for place in range(len(T)) if place not in blocks and place - 1 not in blocks]
    first = max(blocks, key=lambda place: T[place, place])
    if real and max(real) >= T[first, first]:
        return None
    upper, lower = abs(T[first, first + 1]), abs(T[first + 1, first])
    gone = (first, first + 1) if upper < lower else (first + 1, first)
    T[gone] = 0.0
    T[first, first] += max(shift, shift - T[first, first])
    return np.asarray(Z @ T @ Z.T)


def _symmetric_part_leads(F: Array, shift: float) -> Iterator[Array]:
    """Matrices whose symmetric part has a leader with ``2 |K v| < gap``, K the skew part: some raise the leader further."""
    S, K = 0.5 * (F + F.T), 0.5 * (F - F.T)
    values, vectors = np.linalg.eigh(S)
    v, gap = vectors[:, -1], float(values[-1] - values[-2]) if len(values) > 1 else math.inf
    turned = float(np.linalg.norm(K @ v))
    if not math.isfinite(gap):
        return
    lacking = max(0.0, 2 * turned - gap)
    if gap > shift:
        yield S + min(1.0, (gap - shift) / (2 * turned) if turned else 1.0) * K
    for times in (1.0, 1.5, 2.0, 4.0, 8.0):
        yield F + (times * lacking + shift) * np.outer(v, v)


def _raised(F: Array, shift: float, modulus: bool = False) -> Array | None:
    """The largest real eigenvalue raised above every real part (or modulus) along its eigenvectors; ``None`` without one."""
    values, left, right = scipy.linalg.eig(F, left=True, right=True)
    real = np.flatnonzero(values.imag == 0)
    if not len(real):
        return None
    place = real[np.argmax(values[real].real)]
    v, w = right[:, place].real, left[:, place].real
    others = np.delete(np.abs(values) if modulus else values.real, place)
    wanted = max(0.0, float(others.max(initial=-math.inf))) + shift
    with np.errstate(all="ignore"):
        made = F + max(0.0, wanted - float(values[place].real)) * np.outer(v, w) / (w @ v)
    return made if np.isfinite(made).all() else None


def outputs_reaching(wanted: Array, outputs: Array, values: Array) -> Array | None:
    """``O'`` near O with ``O' V = F'``: ``O + (F' - O V) V^+``; ``None`` where the rows of V do not span what it takes."""
    O, V = np.asarray(outputs, dtype=np.float64), np.asarray(values, dtype=np.float64)
    missing = wanted - O @ V
    change = np.linalg.lstsq(V.T, missing.T, rcond=None)[0].T
    if not np.linalg.norm(change @ V - missing) <= 1e-6 * (np.linalg.norm(missing) or 1.0):
        return None
    return np.asarray(O + change)


def moved_by(before: LayerWeights, after: LayerWeights) -> IntervalDocument:
    """The enclosure of ``|F' - F|`` of two layers."""
    minus = replace(after.value, center=-after.value.center, _exact=None)
    return as_json(norm_of(total([before.value, minus])))
