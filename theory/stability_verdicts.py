"""What a spectrum says about linear asymptotic stability, in one of three words and one line."""

from __future__ import annotations

from typing import Any

from eigentoken.theory.point_spectra import Linearization, StabilityWord
from eigentoken.theory.systems import Time
from eigentoken.theory.verdicts import Verdict, fails, holds, undecided

__all__ = ["spectrum_notes", "stability", "stability_verdict"]


def stability(found: Linearization, time: Time) -> Verdict:
    """The verdict of an exact linearization."""
    return stability_verdict(found.word, found.gap, time, found.eigenvalues, found.not_inside, "exact spectrum")


def stability_verdict(
    word: StabilityWord, gap: float, time: Time, eigenvalues: Any, not_inside: bool, how: str
) -> Verdict:
    """``holds`` inside, ``fails`` outside and on the boundary, ``undecided`` where neither is certain; with the reason."""
    bound = "spectral radius" if time is Time.MAP else "spectral abscissa"
    limit = "1" if time is Time.MAP else "0"
    if not eigenvalues:
        return holds("the state space is discrete: there are no tangent directions")
    if word is StabilityWord.STABLE:
        reason = f"linearly asymptotically stable: {bound} below {limit} by at least {gap:.6g} ({how})"
        return holds(reason, margin=gap, unit=bound)
    if word is StabilityWord.UNSTABLE:
        reason = f"linearly unstable: {bound} above {limit} by at least {gap:.6g} ({how})"
        return fails(reason, margin=gap, unit=bound)
    if word is StabilityWord.MARGINAL:
        return fails(
            f"not linearly asymptotically stable: {bound} exactly {limit} ({how}); the linearization is silent about "
            "Lyapunov stability and nonlinear instability"
        )
    if not_inside:
        return fails(
            f"not linearly asymptotically stable: some eigenvalue is not inside, {bound} at least {limit} ({how}); "
            "whether it is above was not decided"
        )
    return undecided(f"the {bound} was not told apart from {limit} ({how})")


def spectrum_notes(found: Linearization) -> tuple[str, ...]:
    """What a reader of the spectrum should know."""
    notes = []
    if found.word is StabilityWord.MARGINAL:
        total = sum(count for _, count in found.boundary)
        notes.append(f"{total} of the eigenvalues are exactly on the boundary of the stability region")
    if any(not root.is_real for root, _ in found.eigenvalues):
        notes.append("a complex eigenvalue has its float as a pair [re, im]")
    return tuple(notes)
