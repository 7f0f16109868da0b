"""What tokens do in the actual layers: distances, E of (25), correlation with the principal direction, with intervals.

These are measurements in floating point of sampled tokens, not verdicts.  ``E = 1 - mean_i cos(x_1, x_i)`` (signed; the
printed absolute value vanishes at antipodal pairs too, AB-E25).  ``delta_rho`` is the mean change of ``|corr(x_i, v)|``
over the layer, ``probability`` the fraction of tokens whose correlation grew (Li and Altafini, eqs. 4 and 5); for a
complex leading pair the correlation is with the plane of its real and imaginary parts (eqs. 6 and 7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentoken.documents.check_document import Observed

__all__ = [
    "LayerObservation",
    "mean_cosine_gap",
    "mean_distances",
    "observe_layer",
    "principal_subspace",
    "relative_size",
    "spread_of_lengths",
]

Array = np.ndarray[Any, np.dtype[Any]]
#: two-sided 95 % quantile of the normal distribution
Z = 1.959963984540054
Bounds = tuple[float, float]


@dataclass(frozen=True)
class LayerObservation:
    """Measurements across one layer; an interval is a 95 % confidence interval.

    Those of ``mean_distance``, ``E`` and ``correlation`` are over the sequences, whose tokens hang together (Student's; none
    for one sequence), before and after the layer; the other two over the sampled tokens (normal, Wilson's).
    """

    layer: int
    tokens: int
    mean_distance: tuple[float, float]
    mean_distance_intervals: tuple[Bounds, Bounds] | None
    E: tuple[float, float]
    E_intervals: tuple[Bounds, Bounds] | None
    correlation: tuple[float, float]
    correlation_intervals: tuple[Bounds, Bounds] | None
    delta_rho: float
    delta_rho_interval: tuple[float, float]
    probability: float
    probability_interval: tuple[float, float]
    subspace: int
    update_ratios: dict[str, float | None]

    def as_dict(self) -> Observed:
        return {
            "layer": self.layer,
            "tokens": self.tokens,
            "mean_distance": list(self.mean_distance),
            "mean_distance_intervals": _listed(self.mean_distance_intervals),
            "E": list(self.E),
            "E_intervals": _listed(self.E_intervals),
            "correlation": list(self.correlation),
            "correlation_intervals": _listed(self.correlation_intervals),
            "delta_rho": self.delta_rho,
            "delta_rho_interval": list(self.delta_rho_interval),
            "probability": self.probability,
            "probability_interval": list(self.probability_interval),
            "subspace_dimension": self.subspace,
            "left_out": self.update_ratios,
        }


def _listed(bounds: tuple[Bounds, Bounds] | None) -> list[list[float]] | None:
    return None if bounds is None else [list(each) for each in bounds]


def principal_subspace(F: Array) -> Array:
    """An orthonormal basis (d, 1) of the leading eigenvector by real part, or (d, 2) of a complex pair's plane."""
    values, vectors = np.linalg.eig(np.asarray(F, dtype=np.float64))
    first = int(np.argmax(values.real))
    vector = vectors[:, first]
    if abs(values[first].imag) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        real = np.real(vector)
        return np.asarray((real / np.linalg.norm(real))[:, None])
    return np.asarray(np.linalg.qr(np.stack([vector.real, vector.imag], axis=1))[0])


def _unit(x: Array) -> Array:
    norms = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(norms == 0, 1.0, norms))


def mean_distances(x: Array) -> Array:
    """Of each sequence: the mean distance between the directions of two of its tokens."""
    unit = _unit(x.astype(np.float64))
    n = unit.shape[-2]
    if n < 2:
        return np.zeros(unit.shape[:-2])
    cosines = np.clip(unit @ np.swapaxes(unit, -1, -2), -1.0, 1.0)
    upper = np.triu_indices(n, 1)
    return np.asarray(np.sqrt(np.maximum(0.0, 2 - 2 * cosines[..., upper[0], upper[1]])).mean(-1))


def mean_cosine_gap(x: Array) -> Array:
    """E of each sequence."""
    unit = _unit(x.astype(np.float64))
    return np.asarray(1 - (unit @ unit[..., :1, :].swapaxes(-1, -2)).mean((-1, -2)))


def _correlation(x: Array, basis: Array) -> Array:
    return np.linalg.norm(_unit(x.astype(np.float64)) @ basis, axis=-1)


def mean_interval(values: Array) -> Bounds | None:
    """Student's 95 % interval of the mean of a sample; of one value there is none.

    >>> [round(each, 3) for each in mean_interval(np.array([1.0, 2.0, 3.0]))]
    [-0.484, 4.484]
    """
    if values.size < 2:
        return None
    from scipy.special import stdtrit

    error = float(stdtrit(values.size - 1, 0.975)) * float(values.std(ddof=1)) / math.sqrt(values.size)
    mean = float(values.mean())
    return mean - error, mean + error


def _intervals(before: Array, after: Array) -> tuple[Bounds, Bounds] | None:
    first, second = (mean_interval(each) for each in (before, after))
    return None if first is None or second is None else (first, second)


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a proportion."""
    if total == 0:
        return 0.0, 1.0
    share = count / total
    spread = Z * math.sqrt(share * (1 - share) / total + Z * Z / (4 * total * total))
    centre, scale = share + Z * Z / (2 * total), 1 + Z * Z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def observe_layer(
    layer: int, before: Array, after: Array, basis: Array, update_ratios: dict[str, float | None] | None = None
) -> LayerObservation:
    """Measurements of the tokens ``before`` and ``after`` (..., n, d) one layer with this basis of its principal subspace.

    ``basis``: (d, 1) or (d, 2), orthonormal columns; see :func:`principal_subspace`.
    """
    old, new = _correlation(before, basis), _correlation(after, basis)
    change = (new - old).ravel()
    grown = int((change > 0).sum())
    error = float(change.std(ddof=1) / math.sqrt(change.size)) if change.size > 1 else math.inf
    mean = float(change.mean())
    apart, gaps = (mean_distances(before), mean_distances(after)), (mean_cosine_gap(before), mean_cosine_gap(after))
    return LayerObservation(
        layer=layer,
        tokens=int(change.size),
        mean_distance=(float(apart[0].mean()), float(apart[1].mean())),
        mean_distance_intervals=_intervals(*apart),
        E=(float(gaps[0].mean()), float(gaps[1].mean())),
        E_intervals=_intervals(*gaps),
        correlation=(float(old.mean()), float(new.mean())),
        correlation_intervals=_intervals(old.mean(-1), new.mean(-1)),
        delta_rho=mean,
        delta_rho_interval=(mean - Z * error, mean + Z * error),
        probability=grown / change.size,
        probability_interval=wilson_interval(grown, change.size),
        subspace=int(basis.shape[1]),
        update_ratios=dict(update_ratios or {}),
    )


def spread_of_lengths(x: Array) -> float | None:
    """Standard deviation over mean of the tokens' lengths: 0 on a sphere; ``None`` where all tokens are zero."""
    lengths = np.linalg.norm(x.astype(np.float64), axis=-1)
    return float(lengths.std() / lengths.mean()) if lengths.any() else None


def relative_size(part: Array, whole: Array) -> float | None:
    """``|part| / |whole|`` in the Frobenius norm; ``None`` where the whole vanishes and the part does not."""
    size, other = (float(np.linalg.norm(each.astype(np.float64))) for each in (part, whole))
    return size / other if other else (0.0 if size == 0 else None)
