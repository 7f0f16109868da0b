"""Steering by a rank-one edit of a layer's output matrix (PM-S1, PM-S2, PM-S3).

With ``O = [O_1 ... O_H]``, ``V = [V_1; ...; V_H]`` and a row r with ``r^T V = z^T``, ``O' = O + mu w r^T`` gives
``F' = O' V = F + mu w z^T``; with ``z^T w = 1`` its leading eigenvalue is about ``mu + z^T F w`` and the eigenvector is within
``|P_w F w| / mu`` of w.  For a square invertible V, ``r^T = z^T V^-1`` for any z (PM-S1).  Where heads share their values
(grouped queries) V has a kernel, and z must lie in its row space: the projection of w is taken.

What is *claimed* is claimed of the matrix as it is stored after rounding: its leader and the angle of the leading
eigenvector to w are certified there.  For one token (PM-S3), with ``u_i`` the update beside the edit and
``kappa_i = r^T o_i``:

    tan angle(x_i^+, +-w) <= (|x_i| + |u_i|) / (|mu kappa_i| |w| - |x_i| - |u_i|)   where the denominator is positive,

each length with its error bound (:mod:`eigentoken.numerics.layers.certified_attention`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from eigentoken.documents.steer_document import Guarantee, Side
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.rounding import TINY, UNIT, inflate
from eigentoken.numerics.layers.certified_attention import Balls, exact, linear
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "Edit",
    "TokenGuarantee",
    "certify_edit",
    "cosine_below",
    "edit_output",
    "needed_strengths",
    "token_guarantees",
]

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Edit:
    """The edit: the new output matrix (float64, before it is stored), and its parts ``O + strength direction row^T``."""

    output: Array
    direction: Array
    left: Array
    row: Array
    strength: float
    value_condition: float


def edit_output(
    O: ArrayLike, V: ArrayLike, direction: ArrayLike, strength: float, left: ArrayLike | None = None
) -> Edit:
    """``O + mu w r^T`` with ``r^T V = z^T``, ``z^T w = 1``; w is normalised, z is w (or its part that V sees) unless given."""
    output, value = np.asarray(O, dtype=np.float64), np.asarray(V, dtype=np.float64)
    if output.shape != value.shape[::-1]:
        raise ValueError(f"O and V must have shapes (d, m) and (m, d), got {output.shape} and {value.shape}")
    w = np.asarray(direction, dtype=np.float64).ravel()
    if w.shape != (value.shape[1],):
        raise ValueError(f"direction must have {value.shape[1]} entries, got {w.size}: it is a vector in token space")
    size = float(np.linalg.norm(w))
    if not np.isfinite(size) or size == 0:
        raise ValueError("direction must be a finite vector that is not zero")
    if not (np.isfinite(strength) and strength > 0):
        raise ValueError(f"strength must be a positive number, got {strength}")
    w = w / size
    u, sizes, rows = np.linalg.svd(value, full_matrices=False)
    rank = int((sizes > sizes[0] * max(value.shape) * 2.0**-52).sum())
    seen = rows[:rank]
    z = seen.T @ (seen @ (w if left is None else np.asarray(left, dtype=np.float64).ravel()))
    if left is not None and np.linalg.norm(z - np.asarray(left)) > 1e-8 * np.linalg.norm(np.asarray(left)):
        raise ValueError("the left vector must lie in the row space of V: r^T V = z^T is needed (PM-S1)")
    overlap = float(z @ w)
    if abs(overlap) < 1e-8 * float(np.linalg.norm(z)) or overlap == 0:
        raise ValueError("the left vector must not be orthogonal to the direction: z^T w = 1 is needed (PM-S1)")
    z = z / overlap
    row = u[:, :rank] @ ((seen @ z) / sizes[:rank])
    return Edit(output + strength * np.outer(w, row), w, z, row, strength, float(sizes[0] / sizes[rank - 1]))


def certify_edit(weights: LayerWeights, direction: Array) -> dict[str, Verdict]:
    """Of the layer as stored: its leader by real part, by |1 + lambda|, and the certified leading eigenvector."""
    value = weights.value
    return {
        "leader by real part": certify("dominant-real-part", value),
        "leader by |1 + lambda|": certify("dominant-step", value, alpha=1),
        "leading eigenvector": certify("principal-eigenvector", value),
    }


def cosine_below(eigenvector: Verdict, direction: Array) -> float | None:
    """A certified lower bound on ``|cos|`` between the true leading eigenvector and w.

    The verdict holds a vector x within an angle phi of the eigenvector, ``sin phi <= s``: the angle to w is at most
    ``angle(x, w) + phi``, and ``cos(a + phi) = cos a sqrt(1 - s^2) - sin a s`` where the sum is below a right angle.
    """
    vector, sine = eigenvector.details.get("vector"), eigenvector.details.get("sine_of_angle")
    if not eigenvector.is_holds or vector is None or sine is None:
        return None
    x, w = ([arb(float(value)) for value in each] for each in (vector, direction))
    dot, xx, ww = (sum((a * b for a, b in zip(*pair, strict=True)), arb(0)) for pair in ((x, w), (x, x), (w, w)))
    cosine, s = abs(dot) / (xx * ww).sqrt(), arb(float(sine))
    bound = cosine * (1 - s * s).sqrt() - (arb(1) - cosine * cosine).max(arb(0)).sqrt() * s
    low = float(bound.lower())
    return math.nextafter(low, -math.inf) if low > 0 else None


@dataclass(frozen=True)
class TokenGuarantee:
    """PM-S3 for one token: is ``|mu kappa_i| |w|`` longer than ``|x_i| + |u_i|``, and how far can it end from w's line?

    ``tangent_at_most`` is the bound of PM-S3 where its hypothesis holds; ``cosine`` encloses the ``|cos|`` that this
    token has after the edited attention, whatever PM-S3 says.  All numbers are certified.
    """

    verdict: Verdict
    kappa: tuple[float, float]
    tangent_at_most: float | None
    cosine: tuple[float, float] | None

    @property
    def side(self) -> Side | None:
        """Where the guarantee holds: the side of w on which the token ends, certified by the sign of kappa (mu is positive)."""
        if not self.verdict.is_holds:
            return None
        return "+w" if self.kappa[0] > 0 else "-w" if self.kappa[1] < 0 else None

    def as_dict(self) -> Guarantee:
        return {
            "verdict": self.verdict.answer.text,
            "margin": self.verdict.margin,
            "unit": self.verdict.unit,
            "reason": self.verdict.reason,
            "kappa": [value if math.isfinite(value) else None for value in self.kappa],
            "tangent_at_most": self.tangent_at_most,
            "side": self.side,
            "cosine": None if self.cosine is None else list(self.cosine),
        }


def token_guarantees(
    x: ArrayLike, mixed: Balls, stored: ArrayLike, edit: Edit, bias: ArrayLike | None = None
) -> list[TokenGuarantee]:
    """PM-S3 of the matrix O' **as stored**, for exact tokens x (m, d) with mixed values o (m, H d_head).

    With ``kappa_i = r^T o_i`` and ``u_i = (O' - mu w r^T) o_i + b`` (what the stored matrix does beside the edit, rounding of
    the edit and bias included) the state after attention is ``y_i = x_i + u_i + mu kappa_i w``, exactly.
    """
    with np.errstate(all="ignore"):
        kappa = linear(mixed, edit.row[None, :])
        pull = _along(kappa, edit.strength, edit.direction)
        push = linear(mixed, stored, bias).minus(pull)
        token = exact(x)
        reach = inflate(token.lengths()[1] + push.lengths()[1], 2)
        least_reach = (token.lengths()[0] + push.lengths()[0]) * (1 - 4 * UNIT)
        lowest, highest = pull.lengths()
        cosines = _cosines(token.plus(push).plus(pull), edit.direction)
    ends = kappa.center[:, 0] - kappa.radius[:, 0], kappa.center[:, 0] + kappa.radius[:, 0]
    found = []
    for i in range(len(reach)):
        verdict, tangent = _longer((lowest[i], highest[i]), (least_reach[i], reach[i]))
        interval = float(np.nextafter(ends[0][i], -np.inf)), float(np.nextafter(ends[1][i], np.inf))
        found.append(TokenGuarantee(verdict, interval, tangent, cosines[i]))
    return found


def needed_strengths(x: ArrayLike, mixed: Balls, before: ArrayLike, edit: Edit, bias: ArrayLike | None = None) -> Array:
    """For each token the strength above which PM-S3 holds: ``(|x_i| + |u_i|) / |kappa_i|``, u_i by the matrix before the edit.

    In floats, and without the rounding of the stored edit: a suggestion, which the guarantee of the stored matrix confirms.
    Infinite where kappa vanishes.
    """
    states, values = np.asarray(x, dtype=np.float64), mixed.center
    update = values @ np.asarray(before, dtype=np.float64).T
    update = update if bias is None else update + np.asarray(bias, dtype=np.float64)
    with np.errstate(all="ignore"):
        reach = np.linalg.norm(states, axis=1) + np.linalg.norm(update, axis=1)
        return np.asarray(reach / np.abs(values @ edit.row))


def _along(kappa: Balls, strength: float, w: Array) -> Balls:
    """``mu kappa_i w`` (m, d) for exact mu and w."""
    scaled = strength * w
    center = kappa.center * scaled
    return Balls(center, inflate(kappa.radius * inflate(np.abs(scaled), 2) + 4 * UNIT * np.abs(center) + 2 * TINY, 4))


def _longer(pull: tuple[float, float], reach: tuple[float, float]) -> tuple[Verdict, float | None]:
    """The hypothesis of PM-S3 from certified lengths, and its bound on the tangent."""
    text = f"|mu kappa| |w| in [{pull[0]:.6g}, {pull[1]:.6g}], |x| + |u| in [{reach[0]:.6g}, {reach[1]:.6g}]"
    if pull[0] > reach[1]:
        room = (pull[0] - reach[1]) * (1 - 4 * UNIT)
        tangent = float(np.nextafter(reach[1] / room * (1 + 4 * UNIT), np.inf))
        return holds(text, margin=float(room), unit="length of a token"), tangent
    if pull[1] <= reach[0]:
        room = (reach[0] - pull[1]) * (1 - 4 * UNIT)
        return fails(text, margin=max(0.0, float(room)), unit="length of a token"), None
    return undecided(f"the intervals overlap: {text}"), None


def _cosines(states: Balls, w: Array) -> list[tuple[float, float] | None]:
    """Intervals of ``|cos|`` between the rows and w."""
    along = linear(states, w[None, :])
    middle, off = np.abs(along.center[:, 0]), along.radius[:, 0]
    low, high = np.maximum(middle - off, 0.0) * (1 - 4 * UNIT), inflate(middle + off, 2)
    (shortest, longest), (w_low, w_high) = states.lengths(), exact(w).lengths()
    bottom, top = low / longest / w_high * (1 - 8 * UNIT), np.minimum(inflate(high / shortest / w_low, 4), 1.0)
    known = np.isfinite(bottom) & np.isfinite(top)
    return [(float(a), float(b)) if fine else None for a, b, fine in zip(bottom, top, known, strict=True)]
