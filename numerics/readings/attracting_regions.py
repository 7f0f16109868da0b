"""Certified limits elsewhere: what refutes "every (almost every) trajectory converges to the place".

* an exact start that does not move, or moves in a 2-cycle, away from the place (refutes *every*);
* a *contraction region*: an ellipsoid ``{|x - c|_P <= eps}`` in the ambient space on which the map has
  ``|J(x)|_P <= q < 1`` and ``|F(c) - c|_P <= (1 - q) eps`` (Banach: every start in it converges to one fixed point in it;
  for a flow, the logarithmic norm ``-c`` and ``|f(c)|_P <= c eps``), with J enclosed over a box that holds the
  ellipsoid.  This is an open set of starts, and the centre need not be an equilibrium: nothing is assumed exact;
* a manifold of equilibria ``(w, -w)`` whose boundary multipliers are exactly as many as its dimension, all others inside:
  it is normally attracting (cited: Aulbach, Continuous and Discrete Dynamics near Manifolds of Equilibria, 1984), so an
  open set of starts tends to it;
* an exact start whose trajectory is enclosed until it is in such a region
  (:mod:`eigentoken.numerics.readings.starts_in_a_basin`);
* two starts on the circle that reach consensus from opposite sides: some start between them reaches none
  (:mod:`eigentoken.numerics.readings.bracketed_starts`);
* consensus starts of the Euclidean flow, where ``x' = B x`` exactly, with every eigenvalue of B in the open right half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, arb_mat, fmpq, fmpq_mat

from eigentoken.numerics.instances.exact_values import BITS, Case, zero
from eigentoken.numerics.readings.bracketed_starts import bracketing_arc, turn
from eigentoken.numerics.readings.exact_places import at_place, same_tokens
from eigentoken.numerics.readings.starts_in_a_basin import capture
from eigentoken.theory.classification.jacobians import ball_setting, jacobian
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.exactness.krawczyk import positive_definite
from eigentoken.theory.language import claims, terms
from eigentoken.theory.language.places import (
    AntipodalAt,
    BipartiteAt,
    ConsensusAt,
    ConsensusSet,
    Place,
    Polygonal,
    Zero,
)
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["Region", "contraction_region", "is_contraction", "limit_verdict", "region_avoids"]

#: Radii that are tried in turn, large first: a larger region is reached sooner.
RADII = ("1/3", "1/5", "1/10", "1/20", "1/50", "1/100", "1/300", "1/1000", "1/10000", "1/100000", "1/10000000")
#: Pulls back to the sphere that are tried, beyond what the state itself needs.
PULLS = (1.0, 0.25)
#: The certified rate is this share of the one of the linearization: what is left is room for a larger region.
SHARE = 1 / 16
BITS_HERE = 192
#: The box of a region is wider than needed by this.
WIDER = 1.04


@dataclass(frozen=True)
class Region:
    """``{|x - centre|_P <= eps}`` with the rate q (map) or c (flow); everything rational."""

    centre: tuple[tuple[Fraction, ...], ...]
    shape: tuple[tuple[Fraction, ...], ...]
    eps: Fraction
    rate: Fraction
    pull: Fraction

    def as_data(self) -> dict[str, Any]:
        return {
            "centre": [[str(a) for a in token] for token in self.centre],
            "shape": [[str(a) for a in row] for row in self.shape],
            "eps": str(self.eps),
            "rate": str(self.rate),
            "pull": str(self.pull),
        }

    def half_widths(self) -> list[float]:
        """Upper bounds of ``eps sqrt((P^-1)_aa)``, by the exact inverse; a box of these holds the ellipsoid.

        ``|delta_a| <= |delta|_P sqrt((P^-1)_aa)``.  Wider than needed, so that the box of the second arithmetic is inside.
        """
        rows = [[fmpq(a.numerator, a.denominator) for a in row] for row in self.shape]
        inverse = fmpq_mat(rows).inv()
        eps = arb(self.eps.numerator) / arb(self.eps.denominator)
        found = []
        for index in range(len(rows)):
            entry = inverse[index, index]
            bound = (eps * (arb(entry.p) / arb(entry.q)).sqrt()).upper()
            found.append(float(bound) * WIDER)
        return found


def _rational(value: float, digits: int = 20) -> Fraction:
    return Fraction(round(value * 2**digits), 2**digits)


def contraction_region(case: Case) -> Region | None:
    """An ellipsoid around the tokens of the case that the dynamics contracts, or ``None``."""
    instance = case.instance
    with precision(BITS_HERE):
        setting = ball_setting(instance, BITS_HERE)
        full = np.array([[float(entry.mid()) for entry in row] for row in jacobian(setting)])
        if not np.isfinite(full).all():
            return None
        heights = [
            float(sum(a * b for a, b in zip(x, u, strict=True)).mid())
            for x, u in zip(setting.tokens, setting.influence(), strict=True)
        ]
    centre = tuple(tuple(_to_fraction(a) for a in token) for token in instance.tokens)
    found = [_largest(case, centre, *each) for each in _shapes(instance, full, max(abs(height) for height in heights))]
    return max((each for each in found if each is not None), key=lambda region: region.eps, default=None)


def _shapes(instance: Any, full: np.ndarray, height: float) -> Iterator[tuple[np.ndarray, Fraction, Fraction]]:
    """Lyapunov shapes of the linearization, each with the rate to be certified and the pull back to the sphere."""
    size = len(full)
    if instance.system.time is Time.MAP:
        radius = float(np.abs(np.linalg.eigvals(full)).max())
        if radius < 1 - 1e-9:
            from scipy.linalg import solve_discrete_lyapunov

            rate = (1 + radius) / 2
            bound = _rational(1 - SHARE * (1 - radius), 30)
            yield solve_discrete_lyapunov((full / rate).T, np.eye(size)), bound, Fraction(0)
        return
    from scipy.linalg import solve_continuous_lyapunov

    flat = instance.system.space is Space.EUCLIDEAN
    for further in (0.0,) if flat else PULLS:
        pull = Fraction(0) if flat else _rational(further + height, 10)
        pulled = full if flat else full + _pull_matrix(instance, float(pull))
        growth = float(np.linalg.eigvals(pulled).real.max())
        if growth < -1e-9:
            shape = solve_continuous_lyapunov((pulled - growth / 2 * np.eye(size)).T, -np.eye(size))
            yield shape, _rational(-SHARE * growth, 30), pull


def _largest(case: Case, centre: Any, shape: np.ndarray, rate: Fraction, pull: Fraction) -> Region | None:
    """The largest region of this shape that is certified."""
    shape = (shape + shape.T) / 2
    scale, size = float(np.abs(shape).max()), len(shape)
    rows = tuple(
        tuple(_rational(float(shape[min(i, j), max(i, j)]) / scale, 40) for j in range(size)) for i in range(size)
    )
    regions = (Region(centre, rows, Fraction(text), rate, pull) for text in RADII)
    return next((region for region in regions if is_contraction(case, region)), None)


def _to_fraction(value: Any) -> Fraction:
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    return Fraction(round(sp.N(value, 40) * 10**30), 10**30)


def _pull_matrix(instance: Any, pull: float) -> np.ndarray:
    n, d = instance.n, instance.d
    metric = np.eye(d) if instance.metric is None else np.array([[float(a) for a in row] for row in instance.metric])
    found = np.zeros((n * d, n * d))
    for i, token in enumerate(instance.tokens):
        x = np.array([float(a) for a in token])
        found[i * d : (i + 1) * d, i * d : (i + 1) * d] = -2 * pull * np.outer(x, x @ metric)
    return found


def _ball(value: Fraction, radius: Any = 0) -> arb:
    middle = arb(fmpq(value.numerator, value.denominator))
    return middle + arb(0, radius) if radius else middle


def is_contraction(case: Case, region: Region) -> bool:
    """Check the region in ball arithmetic: the definition in the head of this module, nothing else."""
    with precision(BITS_HERE):
        shape = [[_ball(a) for a in row] for row in region.shape]
        if not positive_definite(arb_mat(shape)):
            return False
        widths = region.half_widths()
        if not _box_holds_ellipsoid(region, shape, widths):
            return False
        moved, full = _dynamics(case, region, widths)
        discrete = case.instance.system.time is Time.MAP
        rate, eps = _ball(region.rate), _ball(region.eps)
        size = len(shape)
        if any(not entry.is_finite() for row in full for entry in row) or any(not a.is_finite() for a in moved):
            return False
        if discrete:
            if not (rate > 0 and rate < 1):
                return False
            image = [
                [sum((shape[i][k] * full[k][j] for k in range(size)), arb(0)) for j in range(size)] for i in range(size)
            ]
            gap = [
                [
                    rate * rate * shape[i][j] - sum((full[k][i] * image[k][j] for k in range(size)), arb(0))
                    for j in range(size)
                ]
                for i in range(size)
            ]
            room = (1 - rate) * eps
        else:
            if not rate > 0:
                return False
            product = [
                [sum((shape[i][k] * full[k][j] for k in range(size)), arb(0)) for j in range(size)] for i in range(size)
            ]
            gap = [
                [-(product[i][j] + product[j][i]) - 2 * rate * shape[i][j] for j in range(size)] for i in range(size)
            ]
            room = rate * eps
        symmetric = [[(gap[i][j] + gap[j][i]) / 2 for j in range(size)] for i in range(size)]
        if not positive_definite(arb_mat(symmetric)):
            return False
        square = sum((moved[i] * shape[i][j] * moved[j] for i in range(size) for j in range(size)), arb(0))
        return bool(square < room * room)


def _box_holds_ellipsoid(region: Region, shape: list[list[Any]], widths: list[float]) -> bool:
    """``delta_a^2 <= eps^2 (P^-1)_aa <= w_a^2``: checked by ``[[P, e_a], [e_a^T, (w_a/eps)^2]]`` positive definite."""
    size = len(shape)
    eps = _ball(region.eps)
    for a in range(size):
        corner = (arb(widths[a]) / eps) ** 2
        bordered = [[*row, arb(int(i == a))] for i, row in enumerate(shape)]
        bordered.append([*(arb(int(i == a)) for i in range(size)), corner])
        if not positive_definite(arb_mat(bordered)):
            return False
    return True


def _dynamics(case: Case, region: Region, widths: list[float]) -> tuple[list[Any], list[list[Any]]]:
    """``F(c) - c`` (or the velocity) at the centre, and the Jacobian enclosed over the box; flows with their pull."""
    instance = case.instance
    setting = ball_setting(instance, BITS_HERE)
    d = instance.d
    centre = tuple(tuple(_ball(a) for a in token) for token in region.centre)
    box = tuple(
        tuple(_ball(a, arb(widths[i * d + j]).upper()) for j, a in enumerate(token))
        for i, token in enumerate(region.centre)
    )
    image = setting.advance(centre)
    full = jacobian(setting, box)
    if instance.system.time is Time.MAP:
        return [b - a for x, y in zip(centre, image, strict=True) for a, b in zip(x, y, strict=True)], full
    moved = [a for token in image for a in token]
    if region.pull:
        pull = _ball(region.pull)
        metric = setting.metric
        for i, (mid, token) in enumerate(zip(centre, box, strict=True)):
            lowered = [
                token[a] if metric is None else sum((metric[a][b] * token[b] for b in range(d)), arb(0))
                for a in range(d)
            ]
            low_mid = [
                mid[a] if metric is None else sum((metric[a][b] * mid[b] for b in range(d)), arb(0)) for a in range(d)
            ]
            excess = 1 - sum((a * b for a, b in zip(token, lowered, strict=True)), arb(0))
            at_mid = 1 - sum((a * b for a, b in zip(mid, low_mid, strict=True)), arb(0))
            for a in range(d):
                moved[i * d + a] = moved[i * d + a] + pull * at_mid * mid[a]
                for b in range(d):
                    change = pull * (-2 * token[a] * lowered[b])
                    if a == b:
                        change = change + pull * excess
                    full[i * d + a][i * d + b] = full[i * d + a][i * d + b] + change
    return moved, full


def region_avoids(place: Place, case: Case, region: Region) -> bool:
    """Does no state of the region (its box) belong to the place?  ``False`` where that is not certain."""
    with precision(BITS_HERE):
        widths = region.half_widths()
        d = case.d
        box = [
            [_ball(a, arb(widths[i * d + j]).upper()) for j, a in enumerate(token)]
            for i, token in enumerate(region.centre)
        ]
        if isinstance(place, Zero):
            return any(any(abs(a) > 0 for a in token) for token in box)
        for i, first in enumerate(box):
            for second in box[:i]:
                product = sum((a * b for a, b in zip(first, second, strict=True)), arb(0))
                norms = [sum((a * a for a in token), arb(0)) for token in (first, second)]
                apart = product * product < norms[0] * norms[1]
                opposite = product < 0
                if isinstance(place, ConsensusAt | ConsensusSet) and (apart or opposite):
                    return True
                if isinstance(place, BipartiteAt | AntipodalAt) and apart:
                    return True
        if isinstance(place, ConsensusAt):
            return _off_eigenvector(place, case, box)
    return False


def _off_eigenvector(place: ConsensusAt, case: Case, box: list[list[Any]]) -> bool:
    """Some token of the box is certainly not along the k-th eigenvector: their cosine is below 1 in modulus."""
    try:
        vector = case.eigenvector(place.term, case.integer(place.index))
    except Exception:
        return False
    from eigentoken.theory.exactness.balls import expression_ball

    v = [expression_ball(entry, BITS_HERE) for entry in vector]
    length = sum((a * a for a in v), arb(0))
    for token in box:
        product = sum((a * b for a, b in zip(token, v, strict=True)), arb(0))
        norm = sum((a * a for a in token), arb(0))
        if product * product < norm * length:
            return True
    return False


# --- the verdict -----------------------------------------------------------------------------------------------------


def limit_verdict(claim: Any, case: Case) -> Verdict:
    """Refute a limit claim at this case, or leave it open: a limit is never certified from one instance."""
    from eigentoken.numerics.readings.certified_claims import classified

    place = claim.place
    every = isinstance(claim, claims.Converges)
    if case.instance.system.space is Space.EUCLIDEAN:
        growing = _growing_consensus(place, case)
        if growing is not None and every:
            return growing
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
    if outside and found.equilibrium.is_holds:
        manifold = _attracting_manifold(case, found)
        if manifold is not None:
            return _refuted(case, "attracting-manifold", manifold, {"dimension": case.d - 1})
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
    """The antipodal states ``(w, ..., -w)``, all of them equilibria, normally attracting at this one."""
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
