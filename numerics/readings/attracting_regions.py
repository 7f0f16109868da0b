"""Certified limits elsewhere: what refutes "every (almost every) trajectory converges to the place".

* an exact start that does not move, or moves in a 2-cycle, away from the place (refutes *every*);
* a contraction region (:mod:`eigentoken.numerics.readings.contraction_regions`): an open set of starts with one limit;
* the same in a moving frame: an open set of starts that approach a family of rotated states, turn for ever, or go round a
  cycle;
* a tube around a closed curve that no trajectory leaves (:mod:`eigentoken.numerics.readings.periodic_tubes`): a periodic orbit;
* equal tokens on the circle that turn for ever and attract (:mod:`eigentoken.numerics.readings.turning_consensus`);
* a manifold of equilibria (states ``(w, -w)``, rotated states, states of equal weights without push) whose boundary multipliers
  are exactly as many as its dimension, all others inside: it is normally attracting (cited: Aulbach, Continuous and Discrete
  Dynamics near Manifolds of Equilibria, 1984), so an open set of starts tends to equilibria as near to this one as one likes:
  they are off a closed place where it is;
* an exact start whose trajectory is enclosed until it is in such a region
  (:mod:`eigentoken.numerics.readings.starts_in_a_basin`);
* two starts on the circle that reach consensus from opposite sides: some start between them reaches none
  (:mod:`eigentoken.numerics.readings.bracketed_starts`);
* a start of the Euclidean flow in a cone that is kept and in which tokens grow (:mod:`eigentoken.numerics.readings.escapes`);
* starts of the Euclidean flow from which all tokens go out along one direction (:mod:`eigentoken.numerics.readings.outward`);
* starts of the Euclidean flow whose trajectories are known exactly (:mod:`eigentoken.numerics.readings.euclidean_orbits`);
* consensus starts of the Euclidean flow, where ``x' = B x`` exactly, with every eigenvalue of B in the open right half.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from eigentoken.numerics.instances.exact_values import BITS, Case, zero
from eigentoken.numerics.readings.bracketed_starts import bracketing_arc, turn
from eigentoken.numerics.readings.contraction_regions import Region, contraction_region, region_in_a_frame
from eigentoken.numerics.readings.escapes import Escape, escape
from eigentoken.numerics.readings.euclidean_orbits import known_orbit
from eigentoken.numerics.readings.exact_places import at_place, same_tokens
from eigentoken.numerics.readings.outward import outward
from eigentoken.numerics.readings.periodic_tubes import Tube, start_box
from eigentoken.numerics.readings.region_places import box_avoids, region_avoids, region_moves
from eigentoken.numerics.readings.silent_linearizations import manifold_of_rest
from eigentoken.numerics.readings.starts_in_a_basin import capture
from eigentoken.numerics.readings.tube_proposals import periodic_tube
from eigentoken.numerics.readings.turning_consensus import turning_consensus
from eigentoken.theory.language import claims, terms
from eigentoken.theory.language.places import (
    AntipodalAt,
    Clustering,
    ConsensusAt,
    Place,
    Polygonal,
    SomeEquilibrium,
    Zero,
)
from eigentoken.theory.language.regions import StateRegion
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["limit_verdict"]


def limit_verdict(claim: Any, case: Case) -> Verdict:
    """Refute a limit claim at this case, or leave it open: a limit is never certified from one instance."""
    from eigentoken.numerics.readings.certified_claims import classified

    place = claim.place.closed() if isinstance(claim.place, StateRegion) else claim.place
    every = isinstance(claim, claims.Converges)
    if case.instance.system.space is Space.EUCLIDEAN:
        growing = _growing_consensus(place, case)
        if growing is not None and every:
            return growing
        orbit = known_orbit(case) if every else None
        reached = None if orbit is None else {Zero: orbit.vanishes, SomeEquilibrium: orbit.rests}.get(type(place))
        if orbit is not None and reached is False:
            return _refuted(case, "known-orbit", f"{orbit.told}: it does not come to the place (exact)", {})
        cone = escape(case) if isinstance(place, Zero | SomeEquilibrium) else None
        if cone is not None and (every or cone.symmetry is None):
            return _refuted(case, "escape", _escape_told(cone), cone.as_data())
        out = outward(case) if isinstance(place, Zero | SomeEquilibrium) else None
        if out is not None:
            return _refuted(case, "outward", out.told, out.as_data())
    elif every and isinstance(place, SomeEquilibrium | ConsensusAt):
        orbit = known_orbit(case)
        if orbit is not None and orbit.rests is False:
            return _refuted(case, "known-orbit", f"{orbit.told}: it never comes to rest (exact)", {})
    drawn = turning_consensus(case) if isinstance(place, SomeEquilibrium | ConsensusAt) else None
    if drawn is not None:
        return _refuted(case, "turning-consensus", drawn, {})
    found = classified(case)
    outside = at_place(place, case) is False
    if outside and every and (found.equilibrium.is_holds or found.kind == "2-cycle"):
        what = "an equilibrium" if found.equilibrium.is_holds else "on a 2-cycle"
        return _refuted(case, "exact-start", f"the start is {what}, not at the place (exact)", {"kind": found.kind})
    if outside and found.kind == "2-cycle" and found.stable.is_holds:
        return _refuted(
            case, "stable-cycle", f"a 2-cycle elsewhere is stable: {found.stable.reason}", {"kind": found.kind}
        )
    region = contraction_region(case)
    if region is not None and (region_avoids(place, case, region)):
        reason = f"every start within {region.eps} (in the norm of P) of the centre converges to a point off the place"
        return _refuted(case, "contraction", reason, region.as_data())
    framed = region_in_a_frame(case) if region is None else None
    if framed is not None and region_avoids(place, case, framed):
        return _refuted(case, "moving-frame", _told(case, framed), framed.as_data())
    tube = None
    if region is None and framed is None and not found.equilibrium.is_holds:
        tube = periodic_tube(case, lambda each: box_avoids(place, case, start_box(case.instance, each)))
    if tube is not None:
        return _refuted(case, "periodic-tube", _tube_told(tube), tube.as_data())
    if outside and found.equilibrium.is_holds and not isinstance(place, Clustering):  # every other place is closed
        manifold = _attracting_manifold(case, found)
        if manifold is not None:
            return _refuted(case, "attracting-manifold", manifold, {})
    arc = bracketing_arc(place, case) if every else None
    if arc is not None:
        ends = [[str(a) for a in turn(case.instance.tokens[-1], arc.m, sign)] for sign in (-1, 1)]
        reason = (
            f"with the other tokens as given, some last token on the short arc from ({', '.join(ends[0])}) to "
            f"({', '.join(ends[1])}) reaches no consensus: its ends do, from opposite sides (validated integration to "
            f"t = {arc.time})"
        )
        return _refuted(case, "bracketed-start", reason, {**arc.as_data(), "ends": ends})
    caught = capture(case, place) if not found.equilibrium.is_holds else None
    if caught is not None and region_avoids(place, case, caught.region):
        reason = (
            f"the trajectory from this start enters, {_when(case, caught.time)}, a region in which everything converges to "
            "a point off the place (validated arithmetic)"
        )
        return _refuted(case, "captured-start", reason, caught.as_data())
    return undecided("no attracting set away from the place was certified at this state")


def _escape_told(cone: Escape) -> str:
    """Where the start is, and how it grows."""
    where = "a cone of states" if cone.symmetry is None else "a cone of rings, which a symmetry keeps"
    return f"the start is in {where}; in it H(x) grows at least like exp({2 * cone.growth} t), and the tokens escape"


def _tube_told(tube: Tube) -> str:
    """What happens to the starts in the ellipsoid of a tube."""
    return (
        f"every start within {tube.eps} (in the norm of P) of a closed curve comes back to where it was for ever, after about "
        f"{float(tube.period):.3g}: a periodic orbit keeps an open set of starts off the place (validated)"
    )


def _told(case: Case, region: Region) -> str:
    """What happens to the starts of a region in a moving frame."""
    frame = region.frame
    moves = region_moves(case, region)
    to = "a state that turns for ever" if frame.turns and moves else "a family of rotated states"
    if not frame.turns:
        to = "a 2-cycle x, -x" if frame.period == 1 else f"a cycle of {frame.period} layers"
    through = ", with rotations that commute with the weights taken off" if frame.turns else ""
    return f"every start within {region.eps} (in the norm of P) of the centre approaches {to} off the place{through}"


def _when(case: Case, time: Fraction) -> str:
    return f"after {time} layers" if case.instance.system.time is Time.MAP else f"at t = {time}"


def _refuted(case: Case, kind: str, reason: str, data: dict[str, Any]) -> Verdict:
    certificate = Certificate(
        kind=f"limit/{kind}",
        condition="trajectories converge to the place",
        verdict=VerdictAnswer.FAILS,
        data={"instance": case.instance.as_dict(), "k": case.k, "p": case.p, **data},
    )
    return fails(reason, certificate=certificate)


def _attracting_manifold(case: Case, found: Any) -> str | None:
    """Equilibria around this one that attract an open set of starts: antipodal states, or another manifold that is known."""
    rest = manifold_of_rest(case, found)
    if rest is not None:
        return f"{rest}: the manifold attracts an open set of starts"
    if not case.instance.system.standard or found.linearization != "marginal":
        return None
    if at_place(AntipodalAt(), case) is not True:
        return None
    if not _all_antipodal_are_equilibria(case):
        return None
    limit = 1 if case.instance.system.time is Time.MAP else 0
    boundary = [
        entry for entry in found.spectrum if entry.exact is None or _on_boundary(entry.exact, limit) is not False
    ]
    count = sum(entry.multiplicity for entry in boundary)
    if count != case.d - 1 or any(entry.exact is None or zero(entry.exact - limit) is not True for entry in boundary):
        return None
    return (
        f"the states (w, -w) are equilibria for every w, a manifold of dimension {case.d - 1}; here exactly {count} "
        "multipliers are on the boundary and all others inside, so the manifold attracts an open set of starts"
    )


def _on_boundary(value: Any, limit: int) -> bool | None:
    if limit == 0:
        return zero(sp.re(value))
    return zero(value * sp.conjugate(value) - 1)


def _all_antipodal_are_equilibria(case: Case) -> bool:
    """True for uniform weights, and for scores with ``w^T M w = 0`` for every w (skew M)."""
    name = case.instance.system.score
    if name is None:
        return True
    heads = case.instance.parameters.get("heads", (case.instance.parameters,))
    for head in heads:
        matrix = sp.Matrix([list(row) for row in head[name]])
        if not all(zero(entry) is True for entry in matrix + matrix.T):
            return False
    return case.instance.mask is None


def _growing_consensus(place: Place, case: Case) -> Verdict | None:
    """Equal tokens move by ``x' = B x``: with B in the open right half plane their norm grows without bound."""
    system = case.instance.system
    tokens = case.instance.tokens
    if not isinstance(place, Zero | Polygonal) or system.value is None or system.multihead or not system.standard:
        return None
    if any(same_tokens(token, tokens[0]) is not True for token in tokens):
        return None
    if not any(zero(entry) is False for entry in tokens[0]):
        return None
    for bits in BITS:
        values = case.eigenvalues(terms.matrix(system.value), bits)
        if all(value.real > 0 for value in values):
            reason = "equal tokens move by x' = B x, and every eigenvalue of B has a positive real part (balls)"
            return _refuted(case, "growing-consensus", reason, {"value": system.value})
    return None
