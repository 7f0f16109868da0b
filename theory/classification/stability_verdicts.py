"""What a spectrum says about linear asymptotic stability, in one of three words and one line."""

from __future__ import annotations

from typing import Any

from eigentoken.theory.classification.jacobian_spectrum import PointLinearization, StabilityWord
from eigentoken.theory.classification.sentences import BOUNDARY_NOTE, PAIR_NOTE, stability_reason, stability_unit
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.systems.system import Time

__all__ = ["spectrum_notes", "stability", "stability_verdict"]


def stability(found: PointLinearization, time: Time) -> Verdict:
    """The verdict of an exact linearization."""
    return stability_verdict(found.word, found.gap, time, found.eigenvalues, found.not_inside, "exact spectrum")


def stability_verdict(
    word: StabilityWord, gap: float, time: Time, eigenvalues: Any, not_inside: bool, how: str
) -> Verdict:
    """``holds`` inside, ``fails`` outside and on the boundary, ``undecided`` where neither is certain; with the reason."""
    is_map = time is Time.MAP
    unit = stability_unit(is_map)
    if not eigenvalues:
        return holds(stability_reason(str(word), is_map, gap, how, empty=True))
    if word is StabilityWord.STABLE:
        return holds(stability_reason("stable", is_map, gap, how), margin=gap, unit=unit)
    if word is StabilityWord.UNSTABLE:
        return fails(stability_reason("unstable", is_map, gap, how), margin=gap, unit=unit)
    if word is StabilityWord.MARGINAL:
        return fails(stability_reason("marginal", is_map, gap, how))
    if not_inside:
        return fails(stability_reason("not inside", is_map, gap, how))
    return undecided(stability_reason("undecided", is_map, gap, how))


def spectrum_notes(found: PointLinearization) -> tuple[str, ...]:
    """What a reader of the spectrum should know."""
    notes = []
    if found.word is StabilityWord.MARGINAL:
        total = sum(count for _, count in found.boundary)
        notes.append(f"{total} {BOUNDARY_NOTE}")
    if any(not root.is_real for root, _ in found.eigenvalues):
        notes.append(PAIR_NOTE)
    return tuple(notes)
