"""What is certified of one head, whatever the theorem: rank, inertia, leader, norms, distances, extremes, regime.

``U = O V`` and ``P = Q^T K / scale`` are singular on R^d for d_h < d; everything here goes through their factors
(:mod:`eigentoken.numerics.layers.low_rank`), so that no d x d matrix of a single head is formed.

The inertia of a head's ``sym(L^T R)`` from the stacked factors ``Z = [L; R]`` of shape (2r, d), without forming d x d.

``sym(L^T R) = Z^T J Z / 2`` with ``J = [[0, I], [I, 0]]`` of inertia (r, r, 0).  Where Z has full row rank 2r <= d, a congruence
by Z adds d - 2r zeros (Sylvester): ``(r, r, d - 2r)``, certified by the definiteness of ``Z Z^T``.  Where rows are dependent, the
nonzero eigenvalues of ``Z^T J Z`` are those of the core ``J Z Z^T``, an integer matrix of order 2r; all are real, so
Descartes' rule counts them exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import flint
import numpy as np

from eigentoken.documents.certificate import MatrixFacts
from eigentoken.documents.check_document import Head as HeadDocument
from eigentoken.documents.check_document import HeadReading
from eigentoken.documents.check_document import Interval as IntervalDocument
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.certified.exact_matrices import (
    Deadline,
    DeadlinePassed,
    ExactMatrix,
    sign_counts_of_polynomial,
)
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.certified.norms import distance_to_identity, distance_to_symmetric
from eigentoken.numerics.certified.rounding import Array
from eigentoken.numerics.layers.layer_readings import AsIf
from eigentoken.numerics.layers.quantities import (
    Interval,
    as_json,
    in_units,
    norm_of,
    scaled_interval,
    symmetric_extremes,
)
from eigentoken.numerics.layers.regimes import HeadRegime, head_regime
from eigentoken.numerics.layers.rotary_scores import RotaryChange, RotaryPairs, rotary_change
from eigentoken.numerics.layers.weights import HeadWeights
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, undecided
from eigentoken.theory.statements.layer_systems import LayerSystem

__all__ = ["HeadFindings", "MatrixSizes", "examine_head", "head_inertia"]

TIME_LIMIT = 1.0


@dataclass(frozen=True)
class MatrixSizes:
    """Certified intervals of a matrix M: norm, distances (spectral), and the extreme eigenvalues of sym(M)."""

    norm: Interval
    to_symmetric: Interval
    to_identity: Interval | None
    extremes: tuple[Interval, Interval] | None

    @property
    def to_positive_definite(self) -> Interval | None:
        """How far sym(M) is from the positive semidefinite matrices: ``max(0, -lambda_min)``."""
        if self.extremes is None:
            return None
        low, high = self.extremes[0]
        return max(0.0, -high), max(0.0, -low)

    @property
    def to_negative_definite(self) -> Interval | None:
        """How far sym(M) is from the negative semidefinite matrices: ``max(0, lambda_max)``."""
        if self.extremes is None:
            return None
        low, high = self.extremes[1]
        return max(0.0, low), max(0.0, high)

    def divided(self, scale: float) -> MatrixSizes:
        """Of ``M / scale`` (the distance to the identity is left out: it does not scale)."""
        extremes = None
        if self.extremes is not None:
            smallest, largest = (scaled_interval(each, scale) for each in self.extremes)
            extremes = (smallest, largest)
        norm, skew = scaled_interval(self.norm, scale), scaled_interval(self.to_symmetric, scale)
        return MatrixSizes(norm, skew, None, extremes)

    @classmethod
    def of(cls, enclosure: Enclosure) -> MatrixSizes:
        """Of a whole matrix."""
        return cls(
            norm_of(enclosure),
            in_units(enclosure, distance_to_symmetric(enclosure)),
            in_units(enclosure, distance_to_identity(enclosure)),
            symmetric_extremes(enclosure),
        )

    def as_dict(self) -> dict[str, IntervalDocument]:
        found = {
            "norm": self.norm,
            "distance_to_symmetric": self.to_symmetric,
            "distance_to_identity": self.to_identity,
            "distance_to_positive_definite": self.to_positive_definite,
            "distance_to_negative_definite": self.to_negative_definite,
        }
        return {name: as_json(ends) for name, ends in found.items()}


@dataclass(frozen=True, eq=False)
class HeadFindings:
    """One head: U_h and P_h with inertia as (positive, negative, zero), the leader of U_h, sizes, regime, and the statements
    about one head as if it were alone."""

    index: int
    score_inertia: Verdict
    value_inertia: Verdict
    value_leader: Verdict
    score: MatrixSizes
    value: MatrixSizes
    regime: HeadRegime
    hypotheses: tuple[AsIf, ...] = ()
    rotary: tuple[RotaryChange, ...] = field(default=())

    @property
    def score_norm(self) -> Interval:
        return self.score.norm

    def verdicts(self) -> list[Verdict]:
        """Every verdict about the head."""
        found = [self.score_inertia, self.value_inertia, self.value_leader, self.regime.rank]
        found += self.regime.inside.verdicts.values()
        return found + [verdict for each in self.hypotheses for verdict in each.conditions.values()]

    def as_dict(self) -> HeadDocument:
        """JSON-able.  Equal verdicts are listed once in ``verdicts``; a statement's conditions name them."""
        listed: dict[str, Verdict] = {}
        hypotheses: list[HeadReading] = []
        for each in self.hypotheses:
            conditions = {text: _listed_as(verdict, text, listed) for text, verdict in each.conditions.items()}
            hypotheses.append({"statement": each.statement, "word": str(each.answer), "conditions": conditions})
        record: HeadDocument = {
            "head": self.index,
            "score_inertia": self.score_inertia.as_dict(),
            "value_inertia": self.value_inertia.as_dict(),
            "value_leader": self.value_leader.as_dict(),
            "score_norm": as_json(self.score_norm),
            "score": self.score.as_dict(),
            "value": self.value.as_dict(),
            "regime": self.regime.as_dict(),
            "verdicts": {name: verdict.as_dict() for name, verdict in listed.items()},
            "hypotheses": hypotheses,
        }
        if self.rotary:
            record["rotary"] = [each.as_dict() for each in self.rotary]
        return record


def _listed_as(verdict: Verdict, text: str, listed: dict[str, Verdict]) -> str:
    """The name of an equal verdict in the list, else a new entry under the condition's own text."""
    for name, other in listed.items():
        if other.reason == verdict.reason and other == verdict:
            return name
    name = text if text not in listed else f"{text} ({len(listed)})"
    listed[name] = verdict
    return name


def examine_head(
    index: int,
    head: HeadWeights,
    *,
    layer: LayerSystem | None = None,
    hypotheses: Sequence[AsIf] = (),
    pairs: RotaryPairs | None = None,
    time_limit: float = TIME_LIMIT,
) -> HeadFindings:
    """All certified findings of one head of a layer (of a layer of one head unless it is given), with what was read on it."""
    if head.width < head.d:
        value, score = head.low_rank("value"), head.low_rank("score")
        leader = value.certify("dominant-real-part")
        sizes = [
            MatrixSizes(each.norm, each.to_symmetric, each.to_identity, each.symmetric_extremes)
            for each in (score, value)
        ]
    else:
        leader = certify("dominant-real-part", head.value, time_limit=time_limit)
        sizes = [MatrixSizes.of(each) for each in (head.score, head.value)]
    return HeadFindings(
        index=index,
        score_inertia=head_inertia(head.score_factors(), f"{head.prefix}.QK", time_limit, dense=head.dense),
        value_inertia=head_inertia(head.value_factors(), f"{head.prefix}.OV", time_limit, dense=head.dense),
        value_leader=leader,
        score=sizes[0].divided(head.scale),
        value=sizes[1],
        regime=head_regime(head, layer),
        hypotheses=tuple(hypotheses),
        rotary=tuple(rotary_change(head, pairs)) if pairs is not None else (),
    )


UNIT: Final = "spectral norm"


def head_inertia(factors: Array, name: str, time_limit: float = TIME_LIMIT, *, dense: bool = True) -> Verdict:
    """The inertia of ``sym(L^T R)``, with a certificate about ``Z`` (full rank) or about its halves L and R (the core).

    Where neither decides, ``L^T R`` is formed, if it may be (``dense``).
    """
    stacked = np.asarray(factors, dtype=np.float64)
    r, d = stacked.shape[0] // 2, stacked.shape[1]
    left, right = as_enclosure(stacked[:r], name=f"{name}.first"), as_enclosure(stacked[r:], name=f"{name}.second")
    if 2 * r <= d:
        z = as_enclosure(stacked, name=name)
        full = certify("positive-definite", product(z, z.transpose), time_limit=time_limit)
        if full.is_holds:
            text = f"{r} positive, {r} negative, {d - 2 * r} zero eigenvalues: the rows of both factors are independent"
            details: VerdictDetails = {"inertia": [r, r, d - 2 * r], "certified": "full row rank of [L; R]"}
            return replace(full, reason=text, details=details)
        try:
            counts = _core_counts(stacked, Deadline.after(time_limit))
        except DeadlinePassed:
            pass
        else:
            return _of_the_core(counts, {**left.inputs, **right.inputs}, name)
    if not dense and r < d:
        return undecided(
            "the factors do not settle the inertia, and no d x d matrix is formed: heads alone are examined"
        )
    return certify("inertia", product(left.transpose, right), time_limit=time_limit)


def _core_counts(stacked: Array, deadline: Deadline) -> tuple[int, int, int]:
    """Signs of the eigenvalues of ``Z^T J Z``: those of ``J Z Z^T``, and zeros."""
    r, d = stacked.shape[0] // 2, stacked.shape[1]
    z = ExactMatrix.from_floats(np.ascontiguousarray(stacked))
    rows = (z.numerators * z.numerators.transpose()).tolist()
    swapped = ExactMatrix(flint.fmpz_mat(rows[r:] + rows[:r]), flint.fmpz(1))
    positive, negative, _ = sign_counts_of_polynomial(swapped.charpoly(deadline))
    return positive, negative, d - positive - negative


def _of_the_core(counts: tuple[int, int, int], inputs: dict[str, str], name: str) -> Verdict:
    d = sum(counts)
    data: MatrixFacts = {
        "shape": [d, d],
        "terms": [[[f"{name}.first", True], [f"{name}.second", False]]],
        "slack": "0",
        "margin": (0.0).hex(),
        "unit": UNIT,
        "options": {},
        "facts": {"positive": counts[0], "negative": counts[1], "zero": counts[2]},
    }
    certificate = Certificate("core-inertia", "inertia", VerdictAnswer.HOLDS, inputs, data)
    reason = "inertia ({}, {}, {}): the signs of the core J Z Z^T of Z = [L; R], counted exactly".format(*counts)
    details: VerdictDetails = {"inertia": list(counts), "certified": "exact characteristic polynomial of the core"}
    return Verdict(VerdictAnswer.HOLDS, reason, 0.0, UNIT, certificate, details)
