"""What is certified of one layer, whatever the theorem: spectrum, leaders, gap, step threshold, distances, inertia.

Everything here is about ``F = sum_h O_h V_h`` and ``S = sum_h Q_h^T K_h`` of one layer and its heads; a number is an
interval, a word is a verdict.  Cases are those of Li and Altafini: 1, a real simple leader; 2, a simple complex pair;
3, neither; by real part (what the flow needs), by modulus, and by ``|1 + lambda|`` (what the layer with step 1 needs).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigentoken.numerics.certify import certify
from eigentoken.numerics.enclosures import Enclosure, product
from eigentoken.numerics.layers.hypotheses import Environment
from eigentoken.numerics.layers.quantities import alpha_star, eigenvalue_interval, norm_of, real_parts, spectral_discs
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.numerics.matrices import as_enclosure
from eigentoken.numerics.norms import distance_to_identity, distance_to_symmetric
from eigentoken.numerics.rounding import scale_down, scale_up
from eigentoken.theory.verdicts import Verdict, undecided

__all__ = ["HeadFindings", "LayerFindings", "examine", "examine_head"]

Interval = tuple[float, float]
TIME_LIMIT = 1.0
CASES = {"simple-real": "1", "simple-pair": "2", "non-real": "2 or 3", "multiple-real": "3", "tie": "3", "unknown": "?"}


@dataclass(frozen=True, eq=False)
class HeadFindings:
    """One head: inertia of sym(P_h) and sym(U_h) as (positive, negative, zero), the leader of U_h, the score bound."""

    index: int
    score_inertia: Verdict
    value_inertia: Verdict
    value_leader: Verdict
    score_norm: Interval

    def as_dict(self) -> dict[str, Any]:
        return {
            "head": self.index,
            "score_inertia": self.score_inertia.as_dict(),
            "value_inertia": self.value_inertia.as_dict(),
            "value_leader": self.value_leader.as_dict(),
            "score_norm": list(self.score_norm),
        }


@dataclass(frozen=True, eq=False)
class LayerFindings:
    """One layer."""

    index: int
    d: int
    leaders: dict[str, Verdict]
    cases: dict[str, str]
    leading_eigenvalue: Interval | None
    gap: Interval | None
    alpha_star: Interval | None
    norm: Interval
    to_symmetric: Interval
    to_identity: Interval
    score_to_symmetric: Interval
    score_inertia: Verdict
    discs: list[tuple[float, float, float]]
    heads: tuple[HeadFindings, ...]

    def verdicts(self) -> list[Verdict]:
        """Every verdict of the layer and its heads."""
        found = [*self.leaders.values(), self.score_inertia]
        for head in self.heads:
            found += [head.score_inertia, head.value_inertia, head.value_leader]
        return found

    def as_dict(self) -> dict[str, Any]:
        return {
            "layer": self.index,
            "d": self.d,
            "leaders": {name: verdict.as_dict() for name, verdict in self.leaders.items()},
            "cases": self.cases,
            "leading_eigenvalue": _json(self.leading_eigenvalue),
            "gap": _json(self.gap),
            "alpha_star": _json(self.alpha_star),
            "norm": _json(self.norm),
            "distance_to_symmetric": _json(self.to_symmetric),
            "distance_to_identity": _json(self.to_identity),
            "score_distance_to_symmetric": _json(self.score_to_symmetric),
            "score_inertia": self.score_inertia.as_dict(),
            "discs": [list(disc) for disc in self.discs],
            "heads": [head.as_dict() for head in self.heads],
        }


def _json(interval: Interval | None) -> list[float | str] | None:
    """Infinite ends as text: JSON has no infinity."""
    if interval is None:
        return None
    return [value if math.isfinite(value) else ("inf" if value > 0 else "-inf") for value in interval]


def examine(weights: LayerWeights, *, memory: dict[Any, Any] | None = None) -> LayerFindings:
    """All certified findings of one layer; ``memory`` is shared with the hypotheses, so that nothing is asked twice."""
    value, score = weights.value, weights.score
    asked = Environment("", {}, memory={} if memory is None else memory)
    leaders = {
        "real-part": asked.ask("dominant-real-part", value),
        "modulus": asked.ask("dominant-modulus", value),
        "step": asked.ask("dominant-step", value, alpha=1),
    }
    return LayerFindings(
        index=weights.index,
        d=weights.d,
        leaders=leaders,
        cases={name: CASES.get(str(verdict.details.get("kind", "unknown")), "?") for name, verdict in leaders.items()},
        leading_eigenvalue=eigenvalue_interval(value, 1),
        gap=_gap(value),
        alpha_star=alpha_star(value),
        norm=norm_of(value),
        to_symmetric=_in_units(value, distance_to_symmetric(value)),
        to_identity=_in_units(value, distance_to_identity(value)),
        score_to_symmetric=_divided(_in_units(score, distance_to_symmetric(score)), weights.scale),
        score_inertia=asked.ask("inertia", score),
        discs=_discs(value),
        heads=tuple(examine_head(index, head) for index, head in enumerate(weights.heads)),
    )


def _gap(value: Enclosure) -> Interval | None:
    """The interval of the difference between the two largest real parts (zero for a complex pair)."""
    parts = real_parts(value)
    if parts is None or len(parts[0]) < 2:
        return None
    (lows, highs) = parts
    return max(0.0, math.nextafter(lows[0] - highs[1], -math.inf)), math.nextafter(highs[0] - lows[1], math.inf)


def _in_units(enclosure: Enclosure, interval: Interval) -> Interval:
    return scale_down(interval[0], enclosure.exponent), scale_up(interval[1], enclosure.exponent)


def _divided(interval: Interval, scale: float) -> Interval:
    return math.nextafter(interval[0] / scale, 0.0), math.nextafter(interval[1] / scale, math.inf)


def _discs(value: Enclosure) -> list[tuple[float, float, float]]:
    """Centers and radii in the units of the weights, for the plot of the certified spectrum."""
    found = spectral_discs(value)
    if found is None:
        return []
    discs, exponent = found
    centers = np.ldexp(discs.centers.real, exponent), np.ldexp(discs.centers.imag, exponent)
    radii = [scale_up(float(radius), exponent) for radius in discs.radii]
    return [(float(re), float(im), radius) for re, im, radius in zip(*centers, radii, strict=True)]


def examine_head(index: int, head: HeadWeights, time_limit: float = TIME_LIMIT) -> HeadFindings:
    """Inertia through the low-rank factors: no d x d matrix of a single head is ever formed."""
    core = head.core
    leader = certify("dominant-real-part", core, time_limit=time_limit)
    first = eigenvalue_interval(core, 1)
    if head.V.shape[1] > head.width and (first is None or not first[0] > 0):
        leader = undecided(
            f"the leading real part of V O is not certified positive, and U has the eigenvalue 0: {first}"
        )
    score_low, score_high = _low_rank_norm(head)
    return HeadFindings(
        index=index,
        score_inertia=low_rank_inertia(head.score_factors(), f"{head.prefix}.QK", time_limit),
        value_inertia=low_rank_inertia(head.value_factors(), f"{head.prefix}.OV", time_limit),
        value_leader=leader,
        score_norm=(score_low, score_high),
    )


def low_rank_inertia(factors: Any, name: str, time_limit: float = TIME_LIMIT) -> Verdict:
    """Inertia of ``sym(L^T R)`` for ``Z = [L; R]`` of shape (2r, d): (r, r, d - 2r) when Z has full row rank.

    ``sym(L^T R) = Z^T J Z / 2`` with ``J = [[0, I], [I, 0]]`` of inertia (r, r, 0), and a congruence by a Z of full row
    rank adds d - 2r zeros (Sylvester).  Full rank is certified by the definiteness of ``Z Z^T``, which is the
    certificate of the verdict.
    """
    stacked = np.asarray(factors, dtype=np.float64)
    r, d = stacked.shape[0] // 2, stacked.shape[1]
    if 2 * r <= d:
        z = as_enclosure(stacked, name=name)
        full = certify("positive-definite", product(z, z.transpose), time_limit=time_limit)
        if full.is_holds:
            text = f"inertia ({r}, {r}, {d - 2 * r}): [L; R] has full row rank, so sym(L^T R) is congruent to J + 0"
            details = {"inertia": [r, r, d - 2 * r], "certified": "full row rank of [L; R]"}
            return replace(full, reason=text, details=details)
    left, right = as_enclosure(stacked[:r], name=f"{name}.first"), as_enclosure(stacked[r:], name=f"{name}.second")
    return certify("inertia", product(left.transpose, right), time_limit=time_limit)


def _low_rank_norm(head: HeadWeights) -> Interval:
    """``|Q^T K| / scale`` between certified ends."""
    return norm_of(head.score, head.scale)
