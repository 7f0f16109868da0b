"""Spectra by ball arithmetic, where the exact computation would grow too large: enclosures without closed forms.

A point that is no equilibrium only because its numbers were rounded has a certified equilibrium beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flint import acb, acb_mat, arb

from eigentoken.documents.classification_document import Nearby
from eigentoken.theory.classification.certified_zeros import certify_near
from eigentoken.theory.classification.classification import ExactEigenvalue
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobian_spectrum import StabilityAnswer, groups_at, symmetric_blocks
from eigentoken.theory.classification.jacobians import State, ball_setting, intrinsic_jacobian, jacobian, tangent_pivots
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.systems.system import Space, Time

__all__ = ["ball_spectrum", "nearby_equilibrium"]

TRIED = (256, 512, 1024)


def ball_spectrum(
    instance: Instance, groups: Sequence[Sequence[int]], tokens: State | None = None
) -> tuple[tuple[ExactEigenvalue, ...], StabilityAnswer, float] | None:
    """Enclosures of all eigenvalues at a point that is known to be an equilibrium, and what they decide.

    ``groups`` are interchangeable tokens; ``tokens`` are balls that contain the equilibrium, if it is not the point of
    the instance.  ``None`` where no precision gave enclosures.
    """
    for bits in TRIED:
        with precision(bits):
            found = _enclosures(instance, groups, bits, tokens)
            if found is None:
                continue
            answer, gap = _decision(found, instance.system.time)
            if answer is StabilityAnswer.UNDECIDED and bits != TRIED[-1]:
                continue
            return _entries(found), answer, gap
    return None


def _enclosures(
    instance: Instance, groups: Sequence[Sequence[int]], bits: int, tokens: State | None
) -> list[tuple[Any, int]] | None:
    setting = ball_setting(instance, bits)
    if tokens is not None:
        setting = replace(setting, tokens=tokens)
    matrix = jacobian(setting)
    width = instance.d
    if instance.system.space is not Space.EUCLIDEAN:
        pivots = tangent_pivots(setting)
        matrix = intrinsic_jacobian(setting, matrix, pivots, pivots)
        width -= 1
    listed: list[tuple[Any, int]] = []
    for block, count in symmetric_blocks(matrix, groups, width):
        if len(block) == 1:
            listed.append((acb(block[0][0]), count))
            continue
        try:
            values = acb_mat([[acb(entry) for entry in row] for row in block]).eig(multiple=True)
        except (ValueError, ArithmeticError):
            return None
        listed += [(value, count) for value in values]
    if any(not value.is_finite() for value, _ in listed):
        return None
    return listed


def _decision(found: list[tuple[Any, int]], time: Time) -> tuple[StabilityAnswer, float]:
    excesses = [abs(value) - 1 if time is Time.MAP else value.real for value, _ in found]
    outside = [excess for excess in excesses if excess > 0]
    if outside:
        return StabilityAnswer.UNSTABLE, max(_below(excess) for excess in outside)
    if all(excess < 0 for excess in excesses):
        return StabilityAnswer.STABLE, min((_below(-excess) for excess in excesses), default=1.0)
    return StabilityAnswer.UNDECIDED, 0.0


def _below(positive: Any) -> float:
    """A double below a positive ball: the conversion may round up by half a unit in the last place."""
    return float(positive.lower()) * (1 - 2.0**-50)


def _entries(found: list[tuple[Any, int]]) -> tuple[ExactEigenvalue, ...]:
    grouped: list[list[Any]] = []
    for value, count in found:
        for entry in grouped:
            if entry[0].overlaps(value):
                entry[0], entry[1] = entry[0].union(value), entry[1] + count
                break
        else:
            grouped.append([value, count])
    entries = []
    for value, count in grouped:
        real, imaginary = (0.0 if part.contains(0) else float(part.mid()) for part in (value.real, value.imag))
        entries.append(ExactEigenvalue(None, complex(real, imaginary), count, None, value.str(18), value))
    return tuple(sorted(entries, key=lambda entry: (entry.value.real, entry.value.imag)))


NEAR = 1e-3


def nearby_equilibrium(instance: Instance) -> Nearby | None:
    """The isolated equilibrium that Newton's method reaches from the point, if Krawczyk's test certifies it.

    ``distance`` bounds the largest difference of entries from above; the spectrum is in certified enclosures.  The
    parameters are the given ones: an equilibrium of rounded parameters is not one of the numbers meant.
    """
    approximate = [[float(expression_ball(entry, 96).mid()) for entry in token] for token in instance.tokens]
    found = certify_near(instance, approximate)
    if found is None:
        return None
    with precision(192):
        gaps = [
            abs(entry - expression_ball(given, 192))
            for token, row in zip(found.tokens, instance.tokens, strict=True)
            for entry, given in zip(token, row, strict=True)
        ]
        largest = gaps[0]
        for gap in gaps[1:]:
            largest = arb.max(largest, gap)
        distance = float(largest.upper()) * (1 + 2.0**-50)
    if distance > NEAR:
        return None
    clusters = [approximate.index(token) for token in approximate]
    spectrum = ball_spectrum(instance, groups_at(instance, clusters), found.tokens)
    return {
        "distance": distance,
        "reason": "certified by Krawczyk's test: exactly one equilibrium this near, for the parameters as given",
        "spectrum": [] if spectrum is None else [entry.as_dict() for entry in spectrum[0]],
        "linearization": "undecided" if spectrum is None else spectrum[1].text,
    }
