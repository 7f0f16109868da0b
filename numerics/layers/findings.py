"""What is certified of one layer, whatever the theorem: spectrum, leaders, gap, step threshold, distances, inertia.

Everything here is about ``F = sum_h O_h V_h`` and ``S = sum_h Q_h^T K_h`` of one layer and its heads; a number is an
interval, an answer is a verdict.  Cases are those of Li and Altafini: 1, a real simple leader; 2, a simple complex pair;
3, neither; by real part (what the flow needs), by modulus, and by ``|1 + lambda|`` (what the layer with step 1 needs).
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eigentoken.documents.check_document import LayerMeasures
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.rounding import scale_up
from eigentoken.numerics.layers.head_findings import HeadFindings, examine_head
from eigentoken.numerics.layers.layer_readings import behind, read_head
from eigentoken.numerics.layers.quantities import (
    Interval,
    alpha_star,
    as_json,
    principal_basis,
    real_parts,
    scaled_interval,
    spectral_discs,
)
from eigentoken.numerics.layers.rotary_scores import RotaryPairs
from eigentoken.numerics.layers.symbol_values import HEADS_ONLY, Answers, LayerSymbolValues
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.verdicts import Verdict, undecided
from eigentoken.theory.statements.statement import Statement

__all__ = ["LayerFindings", "examine"]

CASES = {"simple-real": "1", "simple-pair": "2", "non-real": "2 or 3", "multiple-real": "3", "tie": "3", "unknown": "?"}

#: Leaders by real part that are two or more eigenvalues with one real part: the gap is zero exactly.
TOGETHER = ("simple-pair", "non-real", "multiple-pair", "multiple-real")


#: Of the time of :func:`examine`, about: what the heads take, and the heads and the spectrum together (for a progress bar).
HEADS_SHARE, SPECTRUM_SHARE = 0.62, 0.86


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
    norm: Interval | None
    to_symmetric: Interval | None
    to_identity: Interval | None
    score_to_symmetric: Interval | None
    score_inertia: Verdict
    value_inertia: Verdict
    scale: float
    discs: list[tuple[float, float, float]]
    heads: tuple[HeadFindings, ...]
    principal: list[list[float]] | None = None

    def verdicts(self) -> list[Verdict]:
        """Every verdict of the layer and its heads."""
        found = [*self.leaders.values(), self.score_inertia, self.value_inertia]
        return found + [verdict for head in self.heads for verdict in head.verdicts()]

    def as_dict(self) -> LayerMeasures:
        return {
            "layer": self.index,
            "d": self.d,
            "leaders": {name: verdict.as_dict() for name, verdict in self.leaders.items()},
            "cases": self.cases,
            "leading_eigenvalue": as_json(self.leading_eigenvalue),
            "gap": as_json(self.gap),
            "alpha_star": as_json(self.alpha_star),
            "norm": as_json(self.norm),
            "distance_to_symmetric": as_json(self.to_symmetric),
            "distance_to_identity": as_json(self.to_identity),
            "distance_to_positive_definite": as_json(_to_definite(self.value_inertia, 1.0)),
            "score_distance_to_symmetric": as_json(self.score_to_symmetric),
            "score_distance_to_positive_definite": as_json(_to_definite(self.score_inertia, self.scale)),
            "score_inertia": self.score_inertia.as_dict(),
            "value_inertia": self.value_inertia.as_dict(),
            "discs": [list(disc) for disc in self.discs],
            "heads": [head.as_dict() for head in self.heads],
        }


def _to_definite(inertia: Verdict, scale: float) -> Interval | None:
    """How far sym(M) is from the positive semidefinite matrices, ``max(0, -lambda_min)``, from what the inertia found."""
    found = inertia.details.get("eigenvalues_of_symmetric_part")
    if found is None:
        return None
    low, high = found["smallest"]
    if low is None or high is None:
        return None
    return scaled_interval((max(0.0, -high), max(0.0, -low)), scale)


def examine(
    weights: LayerWeights,
    *,
    answers: Answers | None = None,
    statements: Sequence[Statement] = (),
    pairs: RotaryPairs | None = None,
    watch: Callable[[float, str], None] = lambda _share, _now: None,
) -> LayerFindings:
    """All certified findings of one layer; ``answers`` are shared with the hypotheses, so that nothing is asked twice.

    ``statements`` about one head are read on each of several heads, as if it were alone; ``pairs`` are the rotary positions
    of the heads.  ``watch`` is told which share of this is done, and what begins.
    """
    kept = Answers() if answers is None else answers
    heads = []
    for index, head in enumerate(weights.heads):
        watch(HEADS_SHARE * index / len(weights.heads), f"head {index + 1} of {len(weights.heads)}")
        of_head = kept.of_head(index)
        read = [found for each in statements if (found := read_head(each, weights, index, of_head)) is not None]
        heads.append(examine_head(index, head, layer=weights.system, hypotheses=read, pairs=pairs))
        head.release()
        if weights.is_wide:
            give_back_memory()
    if weights.heads_only:
        return _of_heads_alone(weights, tuple(heads))
    watch(HEADS_SHARE, "the eigenvalues of its layer matrix")
    value = weights.value
    asked = LayerSymbolValues("", {}, light=weights.is_wide, grouped=behind(weights), answers=kept)
    leaders = {
        "real-part": asked.ask("dominant-real-part", value),
        "modulus": asked.ask("dominant-modulus", value),
        "step": asked.ask("dominant-step", value, alpha=1),
    }
    basis = principal_basis(value)
    parts = kept.once(("real parts", value), lambda: real_parts(value))
    spectrum = {
        "leading_eigenvalue": None if parts is None else (parts[0][0], parts[1][0]),
        "gap": (0.0, 0.0) if str(leaders["real-part"].details.get("kind")) in TOGETHER else _gap(parts),
        "alpha_star": alpha_star(value),
    }
    discs = _discs(value)
    watch(SPECTRUM_SHARE, "norms, distances and inertia")
    score = weights.score  # formed only now: one spectrum and one product at a time in memory
    return LayerFindings(
        index=weights.index,
        d=weights.d,
        leaders=leaders,
        cases={name: CASES.get(str(verdict.details.get("kind", "unknown")), "?") for name, verdict in leaders.items()},
        **spectrum,
        norm=asked.whole_norm(value),
        to_symmetric=asked.distance("symmetric", value),
        to_identity=asked.distance("identity", value),
        score_to_symmetric=scaled_interval(asked.distance("symmetric", score), weights.scale),
        score_inertia=asked.ask("inertia", score),
        value_inertia=asked.ask("inertia", value),
        scale=weights.scale,
        discs=discs,
        heads=tuple(heads),
        principal=None if basis is None else basis.tolist(),
    )


def _of_heads_alone(weights: LayerWeights, heads: tuple[HeadFindings, ...]) -> LayerFindings:
    """The findings of the heads; of ``F`` and ``S``, which are not formed, nothing."""
    nothing = undecided(f"F and S are not formed: {HEADS_ONLY}")
    orders = ("real-part", "modulus", "step")
    return LayerFindings(
        index=weights.index,
        d=weights.d,
        leaders=dict.fromkeys(orders, nothing),
        cases=dict.fromkeys(orders, "?"),
        leading_eigenvalue=None,
        gap=None,
        alpha_star=None,
        norm=None,
        to_symmetric=None,
        to_identity=None,
        score_to_symmetric=None,
        score_inertia=nothing,
        value_inertia=nothing,
        scale=weights.scale,
        discs=[],
        heads=heads,
    )


def give_back_memory() -> None:
    """Ask the allocator to return what is free (glibc keeps it otherwise); without such a call, nothing happens.

    The matrices of a head are in no cycle, so that they are free as soon as they are released: the collector, which would look
    at every object of the process for each head, is not asked.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is not None:
        trim(0)


def _gap(parts: tuple[list[float], list[float]] | None) -> Interval | None:
    """The interval of the difference between the two largest real parts (zero for a complex pair)."""
    if parts is None or len(parts[0]) < 2:
        return None
    (lows, highs) = parts
    return max(0.0, math.nextafter(lows[0] - highs[1], -math.inf)), math.nextafter(highs[0] - lows[1], math.inf)


def _discs(value: Enclosure) -> list[tuple[float, float, float]]:
    """Centers and radii in the units of the weights, for the plot of the certified spectrum."""
    found = spectral_discs(value)
    if found is None:
        return []
    discs, exponent = found
    with np.errstate(all="ignore"):
        centers = np.ldexp(discs.centers.real, exponent), np.ldexp(discs.centers.imag, exponent)
    radii = [scale_up(float(radius), exponent) for radius in discs.radii]
    if not (np.isfinite(centers).all() and np.isfinite(radii).all()):
        return []
    return [(float(re), float(im), radius) for re, im, radius in zip(*centers, radii, strict=True)]
