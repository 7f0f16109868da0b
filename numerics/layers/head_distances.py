"""How far one head is from the conditions of a statement, by other factors of the same shapes.

``U = O V`` and ``P = Q^T K / scale`` have rank at most r < d.  Symmetric neighbours are ``A D A^T`` with the r eigenvalues of
``sym`` that are largest in modulus, moved as little as is asked; a leader is made in the core ``C = V O`` (r x r, whose
eigenvalues are those of U but for zeros): ``V' = V + (C' - C) O^+``.  Each condition is certified of the new factors, and the
distance is that of the products in the spectral norm, enclosed without forming them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import sympy as sp

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.rounding import Array
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS, letters_of
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.nearest import SHIFTS, WeightDistance, lower_end, never_met
from eigentoken.numerics.layers.neighbours import matrices_near, moved_eigenvalues
from eigentoken.numerics.layers.quantities import Interval, scaled_interval
from eigentoken.numerics.layers.symbol_values import HeadSymbolValues
from eigentoken.numerics.layers.wanted import Wanted, is_double, is_zero, trace_is_met, wanted_of, ways
from eigentoken.numerics.layers.weights import HeadWeights
from eigentoken.theory.language.conditions import Condition, OfOneMatrix, PositiveSemidefinite, Symmetric
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict

__all__ = ["head_distance"]

Role = Literal["value", "score"]


def head_distance(
    verdicts: Mapping[Condition, Verdict | None], head: HeadWeights, roles: Mapping[str, Role]
) -> WeightDistance:
    """The distance of a head that is narrower than the layer; ``verdicts``: of its conditions (``None``: on tokens)."""
    of = " and ".join(
        name
        for name, role in (("U", "value"), ("P", "score"))
        if any(letters_of(each) & {letter for letter, found in roles.items() if found == role} for each in verdicts)
    )
    if all(each is None or each.is_holds for each in verdicts.values()):
        return WeightDistance((0.0, 0.0), of, "every condition on weights is certified here")
    low = max(lower_end(verdicts, None), _scores_below(verdicts, head))
    settled = frozenset(each for each, verdict in verdicts.items() if verdict is None or verdict.is_holds)
    why = never_met(verdicts)
    if why is not None:
        return WeightDistance((low, math.inf), of, why)
    possible = [way for way in ways(list(verdicts)) if not _asks_rank(way, roles)]
    if not possible:
        shapes = f"it asks for rank {head.d}, and a head of width {head.width} has no more than that"
        return WeightDistance((low, math.inf), of, f"{shapes}: no weights of these shapes meet it")
    found = [made for way in possible if (made := _nearest(way, head, roles, settled)) is not None]
    if not found:
        return WeightDistance((low, math.inf), of, "no neighbour was found that can be certified")
    high = min(each[1] for each in found)
    return WeightDistance(
        (min(low, high), high), of, "factors at the upper end meet every condition on weights, certified"
    )


def _scores_below(verdicts: Mapping[Condition, Verdict | None], head: HeadWeights) -> float:
    """What failing conditions on ``Q^T K`` say, divided by the scale."""
    margins = [
        float((each.details.get("distance") or [each.margin])[0] or 0.0)
        for each in verdicts.values()
        if each is not None and each.is_fails and each.unit.startswith("spectral norm of the scores times ")
    ]
    return scaled_interval((max(margins, default=0.0), math.inf), head.scale)[0]


def _asks_rank(way: Sequence[Condition], roles: Mapping[str, Role]) -> bool:
    """Does it ask for a matrix without a kernel, or for eigenvalues that are all different?"""
    if any(isinstance(each, OfOneMatrix) and each.term.has(sp.Inverse) for each in way):
        return True
    wanted = [wanted_of(way, matrix(name)) for name in roles]
    return any(each.full_rank or each.distinct for each in wanted)


def _nearest(
    way: Sequence[Condition], head: HeadWeights, roles: Mapping[str, Role], settled: frozenset[Condition]
) -> Interval | None:
    for share in SHIFTS:
        found = sorted(_candidates(way, head, roles, settled, share), key=lambda made: made.moved(head))
        nearest = next((made for made in found if made.meets(way, roles)), None)
        if nearest is not None:
            return nearest.distance(head)
    return None


@dataclass(frozen=True, eq=False)
class _Made:
    """Other factors; ``given``: conditions that hold by how they were made."""

    head: HeadWeights
    changed: tuple[Role, ...] = ()
    given: frozenset[Condition] = field(default_factory=frozenset)

    def meets(self, way: Sequence[Condition], roles: Mapping[str, Role]) -> bool:
        environment = HeadSymbolValues(self.head, roles)
        for condition in way:
            if condition in self.given:
                continue
            if ON_WEIGHTS.find(type(condition)) is None:
                return False
            verdict = ON_WEIGHTS(condition, environment)
            if verdict is not None and not verdict.is_holds:
                return False
        return True

    def moved(self, stored: HeadWeights) -> float:
        """The distance in floats, to order candidates by."""
        found = [0.0]
        for role in self.changed:
            (A, B), (C, D) = _factors(self.head, role), _factors(stored, role)
            left, right = np.linalg.qr(np.hstack([A, -C]))[1], np.linalg.qr(np.vstack([B, D]).T)[1]
            scale = stored.scale if role == "score" else 1.0
            found.append(float(np.linalg.norm(left @ right.T, 2)) / scale)
        return max(found)

    def distance(self, stored: HeadWeights) -> Interval:
        ends = [(0.0, 0.0)]
        for role in self.changed:
            scale = stored.scale if role == "score" else 1.0
            ends.append(scaled_interval(_apart(_factors(self.head, role), _factors(stored, role)), scale))
        return max(low for low, _ in ends), max(high for _, high in ends)


def _factors(head: HeadWeights, role: Role) -> tuple[Array, Array]:
    """``(O, V)`` or ``(Q^T, K)``, in float64."""
    first, second = (head.O, head.V) if role == "value" else (np.asarray(head.Q).T, head.K)
    return np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)


def _apart(one: tuple[Array, Array], other: tuple[Array, Array]) -> Interval:
    """``|A B - A' B'|`` as the norm of ``[A, -A'] [B; B']``."""
    first = Enclosure.from_floats(np.hstack([one[0], -other[0]]))
    second = Enclosure.from_floats(np.vstack([one[1], other[1]]))
    return LowRank(first, second).norm


def _candidates(
    way: Sequence[Condition], head: HeadWeights, roles: Mapping[str, Role], settled: frozenset[Condition], share: float
) -> Iterator[_Made]:
    of_value = {name for name, role in roles.items() if role == "value"}
    of_score = {name for name, role in roles.items() if role == "score"}
    values = [each for each in way if letters_of(each) & of_value and not letters_of(each) & of_score]
    scores = [each for each in way if letters_of(each) & of_score]
    first: list[_Made] = [_Made(head)]
    if values and not settled.issuperset(values):
        first = [_with(_Made(head), "value", *made) for made in _products(values, head, "value", of_value, share)]
    coupled = [each for each in scores if letters_of(each) & of_value]
    for made in first:
        if not scores or (settled.issuperset(scores) and not (made.changed and coupled)):
            yield made
            continue
        for other in _products(scores, head, "score", of_score, share, made.head):
            yield _with(made, "score", *other)


def _with(made: _Made, role: Role, first: Array, second: Array, given: frozenset[Condition]) -> _Made:
    if role == "value":
        head = replace(made.head, O=first, V=second, prefix="nearest")
    else:
        head = replace(made.head, Q=np.ascontiguousarray(first.T), K=second, prefix="nearest")
    return _Made(head, (*made.changed, role), made.given | given)


def _products(
    way: Sequence[Condition],
    head: HeadWeights,
    role: Role,
    names: set[str],
    share: float,
    beside: HeadWeights | None = None,
) -> Iterator[tuple[Array, Array, frozenset[Condition]]]:
    """Factors near those of a head, with the conditions that hold by how they were made; ``beside``: has the values."""
    first, second = _factors(head, role)
    scale = head.scale if role == "score" else 1.0
    for name in sorted(names):
        wanted = wanted_of(way, matrix(name))
        if not wanted.anything:
            continue
        if wanted.zero or wanted.multiple_of == IDENTITY:  # of rank r < d only 0 is a multiple of the identity
            given = frozenset(
                each
                for each in way
                if is_zero(each) or isinstance(each, MultipleOf) or trace_is_met(each, matrix(name), IDENTITY, False)
            )
            yield np.zeros_like(first), np.zeros_like(second), given
        elif wanted.multiple_of is not None and beside is not None:
            yield from _multiples(way, (matrix(name), wanted.multiple_of), (first, second), beside, share)
        elif wanted.double:
            given = frozenset(each for each in way if isinstance(each, Symmetric) or is_double(each))
            yield *_double(first, second, scale), given
        else:
            for left, right in _symmetric_products(first, second, wanted, share, scale):
                words = (Symmetric, PositiveSemidefinite) if np.array_equal(left.T, right) else (Symmetric,)
                yield left, right, frozenset(each for each in way if isinstance(each, words))
            if wanted.symmetric or wanted.sign or wanted.skew_small:
                continue
            yield from ((*made, frozenset()) for made in _by_the_core(first, second, wanted, share, scale))


def _double(first: Array, second: Array, scale: float) -> tuple[Array, Array]:
    """``c (e_i e_i^T + e_j e_j^T)``: the positive eigenvalue c is double by how it is made."""
    places = np.argsort(-np.einsum("ik,ki->i", first, second), kind="stable")[:2]
    size = float(np.linalg.norm(np.linalg.qr(first)[1] @ np.linalg.qr(second.T)[1].T, 2)) or scale
    left, right = np.zeros_like(first), np.zeros_like(second)
    left[places, [0, 1]], right[[0, 1], places] = 0.5 * size, 1.0
    return left, right


def _multiples(
    way: Sequence[Condition],
    terms: tuple[sp.MatrixExpr, sp.MatrixExpr],
    stored: tuple[Array, Array],
    beside: HeadWeights,
    share: float,
) -> Iterator[tuple[Array, Array, frozenset[Condition]]]:
    """``P' = c U'`` with the nearest c; traces are those of ``c U'^2``, positive where U' is symmetric and not zero."""
    O, V = _factors(beside, "value")
    inner = float(np.sum((stored[0].T @ O) * (stored[1] @ V.T)))  # of Q^T K and O V, entry by entry
    near = inner / (float(np.sum((O.T @ O) * (V @ V.T))) or 1.0)
    given = frozenset(each for each in way if isinstance(each, MultipleOf))
    for c in (near, max(near, share)):
        positive = c > 0 and _is_symmetric(O, V)
        traces = frozenset(each for each in way if positive and trace_is_met(each, *terms, True))
        yield c * O, V, given | traces


def _is_symmetric(first: Array, second: Array) -> bool:
    """Is the product ``A D A^T`` with signs D, by its factors?"""
    signs = np.where(np.sum(first.T * second, axis=1) < 0, -1.0, 1.0)
    return bool(first.any()) and np.array_equal(first.T * signs[:, None], second)


def _symmetric_products(
    first: Array, second: Array, wanted: Wanted, share: float, scale: float
) -> Iterator[tuple[Array, Array]]:
    """``A D A^T`` of rank r from the eigenvalues of ``sym(first second)``, found in the space of both factors."""
    r = first.shape[1]
    basis = np.linalg.qr(np.hstack([first, second.T]))[0]
    small = (basis.T @ first) @ (second @ basis)
    values, vectors = np.linalg.eigh(0.5 * (small + small.T))
    size = float(np.abs(values).max()) or 1.0
    keys = values if wanted.sign > 0 else -values if wanted.sign < 0 else np.abs(values)
    kept = np.argsort(-keys, kind="stable")[:r]
    top = int(np.argmax(values))
    if top not in kept:
        kept[-1] = top
    kept = kept[np.argsort(-values[kept])]
    for moved in moved_eigenvalues(values[kept] / scale, wanted, share * size / scale):
        A = (basis @ vectors[:, kept]) * np.sqrt(np.abs(moved) * scale)
        signs = np.where(moved < 0, -1.0, 1.0)
        yield A, np.ascontiguousarray(A.T * signs[:, None])


def _by_the_core(
    first: Array, second: Array, wanted: Wanted, share: float, scale: float
) -> Iterator[tuple[Array, Array]]:
    """``V' = V + (C' - C) O^+`` for cores ``C'`` near ``C = V O``; all smaller where a norm is asked for."""
    core = second @ first
    cores = matrices_near(core, replace(wanted, below=None), share) if _of_the_spectrum(wanted) else [core]
    for made in cores:
        change = np.linalg.lstsq(first.T, (made - core).T, rcond=None)[0].T
        moved = second + change
        if wanted.below is not None:
            size = float(np.linalg.norm(np.linalg.qr(first)[1] @ moved, 2)) / scale
            moved = moved * min(1.0, wanted.below * (1 - share) / size) if size else moved
        if np.isfinite(moved).all():
            yield first, moved


def _of_the_spectrum(wanted: Wanted) -> bool:
    return wanted.leads or wanted.by_modulus or wanted.positive or wanted.least is not None
