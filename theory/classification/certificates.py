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

The verdict on linear asymptotic stability is one of three words and one line.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eigentoken.documents.classification_document import ClassifiedData, PointClaim
from eigentoken.theory.classification.classification import Classification
from eigentoken.theory.classification.jacobian_spectrum import PointLinearization, StabilityAnswer
from eigentoken.theory.classification.sentences import BOUNDARY_NOTE, PAIR_NOTE, stability_reason, stability_unit
from eigentoken.theory.language.verdicts import Certificate, Verdict, fails, holds, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["KIND", "certified", "spectrum_notes", "stability", "stability_verdict"]

KIND = "classification"


def certified(found: Classification) -> Classification:
    """The classification with a certificate on each verdict that is not ``undecided``."""
    moved: PointClaim = "undefined" if "undefined" in found.equilibrium.reason else "moved"
    state: PointClaim = "fixed" if found.equilibrium.is_holds else moved
    equilibrium = _with_certificate(found, found.equilibrium, "equilibrium", state)
    if found.spectrum or found.kind == "2-cycle" or found.equilibrium.is_holds:
        words: dict[str, PointClaim] = {"stable": "inside", "unstable": "outside"}
        flat = found.instance.d == 1 and found.instance.system.space is not Space.EUCLIDEAN
        claim: PointClaim = "discrete" if flat else words.get(found.linearization or "", "boundary")
    else:
        claim = state
    stable = _with_certificate(found, found.stable, "linearly asymptotically stable", claim)
    return replace(found, equilibrium=equilibrium, stable=stable)


def _with_certificate(found: Classification, verdict: Verdict, condition: str, claim: PointClaim) -> Verdict:
    if verdict.is_undecided:
        return verdict
    data: ClassifiedData = {
        "claim": claim,
        "at_least": None if verdict.margin is None else float(verdict.margin).hex(),
        "cycle": found.kind == "2-cycle",
    }
    inputs = {"instance": found.instance.digest()}
    return replace(verdict, certificate=Certificate(KIND, condition, verdict.answer, inputs, data))


def stability(found: PointLinearization, time: Time) -> Verdict:
    """The verdict of an exact linearization."""
    return stability_verdict(found.answer, found.gap, time, found.eigenvalues, found.not_inside, "exact spectrum")


def stability_verdict(
    answer: StabilityAnswer, gap: float, time: Time, eigenvalues: Any, not_inside: bool, how: str
) -> Verdict:
    """``holds`` inside, ``fails`` outside and on the boundary, ``undecided`` where neither is certain; with the reason."""
    is_map = time is Time.MAP
    unit = stability_unit(is_map)
    if not eigenvalues:
        return holds(stability_reason(str(answer), is_map, gap, how, empty=True))
    if answer is StabilityAnswer.STABLE:
        return holds(stability_reason("stable", is_map, gap, how), margin=gap, unit=unit)
    if answer is StabilityAnswer.UNSTABLE:
        return fails(stability_reason("unstable", is_map, gap, how), margin=gap, unit=unit)
    if answer is StabilityAnswer.MARGINAL:
        return fails(stability_reason("marginal", is_map, gap, how))
    if not_inside:
        return fails(stability_reason("not inside", is_map, gap, how))
    return undecided(stability_reason("undecided", is_map, gap, how))


def spectrum_notes(found: PointLinearization) -> tuple[str, ...]:
    """What a reader of the spectrum should know."""
    notes = []
    if found.answer is StabilityAnswer.MARGINAL:
        total = sum(count for _, count in found.boundary)
        notes.append(f"{total} {BOUNDARY_NOTE}")
    if any(not root.is_real for root, _ in found.eigenvalues):
        notes.append(PAIR_NOTE)
    return tuple(notes)
