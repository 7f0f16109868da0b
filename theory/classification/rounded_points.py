"""A point that is no equilibrium only because its numbers were rounded: the certified equilibrium beside it."""

from __future__ import annotations

from typing import Any

from flint import arb

from eigentoken.theory.classification.ball_spectra import ball_spectrum
from eigentoken.theory.classification.certified_zeros import certify_near
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobian_spectrum import groups_at
from eigentoken.theory.exactness.balls import expression_ball, precision

__all__ = ["nearby_equilibrium"]

NEAR = 1e-3


def nearby_equilibrium(instance: Instance) -> dict[str, Any] | None:
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
        "linearization": "undecided" if spectrum is None else str(spectrum[1]),
    }
