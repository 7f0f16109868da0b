"""Certificates of a classification: what is claimed of one instance, named by its sha256, for another arithmetic to re-check.

Kind ``classification``.  ``claim`` is one of

- ``fixed``: the tokens are an equilibrium, exactly;
- ``moved``: they are not (``at_least``, where known, bounds the largest entry of ``f(x) - x`` or of the velocity from below);
- ``undefined``: some ``x_i + alpha u_i`` is zero, so that the map is not defined there;
- ``inside`` / ``outside``: the spectral radius (map) or abscissa (flow) is below / above its limit by ``at_least``;
- ``boundary``: some eigenvalue is exactly on the boundary, or not inside;
- ``discrete``: d = 1, there are no tangent directions.

The document carries the instance once, and both certificates name its hash: the re-check
(:mod:`eigentoken.numerics.recheck.points.classified`) evaluates the system at that point by itself.  Every claim about
a spectrum is about an equilibrium, or a 2-cycle where ``cycle`` says so: the re-check asks for that first.
"""

from __future__ import annotations

from dataclasses import replace

from eigentoken.theory.classification.classification import Classification
from eigentoken.theory.language.verdicts import Certificate, Verdict
from eigentoken.theory.systems.system import Space

__all__ = ["KIND", "certified"]

KIND = "classification"


def certified(found: Classification) -> Classification:
    """The classification with a certificate on each verdict that is not ``undecided``."""
    moved = "undefined" if "undefined" in found.equilibrium.reason else "moved"
    state = "fixed" if found.equilibrium.is_holds else moved
    equilibrium = _with_certificate(found, found.equilibrium, "equilibrium", state)
    if found.spectrum or found.kind == "2-cycle" or found.equilibrium.is_holds:
        words = {"stable": "inside", "unstable": "outside"}
        flat = found.instance.d == 1 and found.instance.system.space is not Space.EUCLIDEAN
        claim = "discrete" if flat else words.get(found.linearization or "", "boundary")
    else:
        claim = state
    stable = _with_certificate(found, found.stable, "linearly asymptotically stable", claim)
    return replace(found, equilibrium=equilibrium, stable=stable)


def _with_certificate(found: Classification, verdict: Verdict, condition: str, claim: str) -> Verdict:
    if verdict.is_undecided:
        return verdict
    data = {
        "claim": claim,
        "at_least": None if verdict.margin is None else float(verdict.margin).hex(),
        "cycle": found.kind == "2-cycle",
    }
    inputs = {"instance": found.instance.digest()}
    return replace(verdict, certificate=Certificate(KIND, condition, verdict.word, inputs, data))
