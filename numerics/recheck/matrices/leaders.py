"""Re-check of who is ahead: exact counts of roots, signs, a stored Lyapunov or Stein matrix, discs in floats or balls.

Each way can only confirm, or show the facts false; where none does either, the answer is that they are unconfirmed.
Shown false: every disc of the matrix itself lies on one side of a score, and the number beyond it is not the number that
the facts state.  The change ``-+ t I`` moves the score of a real leader by t, and all real parts by t, so the numbers beyond
``beta + t`` (and by real part ``beta - t``) must be the same for facts that are to hold within t.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np

from eigentoken.numerics.recheck.documents.reading import (
    UNCONFIRMED,
    CertificateDocument,
    Exact,
    fraction_of,
    unconfirmed,
)
from eigentoken.numerics.recheck.matrices import balls, floats, rational
from eigentoken.numerics.recheck.matrices.bases import Basis, candidate_basis, float_discs
from eigentoken.numerics.recheck.matrices.exact_leaders import confirm_exactly
from eigentoken.numerics.recheck.matrices.locating import BallPlaces, FloatPlaces, Places, Score
from eigentoken.numerics.recheck.matrices.signs import FLOATS_FROM, at_least

__all__ = ["COARSE_FROM", "EXACT_SIZE", "balls_fit", "confirm_leader", "places"]

EXACT_SIZE = 40
#: From this size on coarse discs are tried first.
COARSE_FROM = 128
BALL_SECONDS = 5e-6  # measured on a loaded machine: balls take at most about this times n^3
KINDS = ("simple-real", "simple-pair", "non-real")


@dataclass(frozen=True)
class LeaderClaim:
    """The leaders are of this kind, beyond this score, for every matrix within ``reach``."""

    kind: str
    score: Score
    beta: Fraction
    reach: Fraction


def balls_fit(n: int, until: float) -> bool:
    return n <= EXACT_SIZE or BALL_SECONDS * n**3 < until - time.monotonic()


def confirm_leader(document: CertificateDocument, matrix: Exact, reach: Fraction, until: float) -> str | None:
    """None if the facts are confirmed, else why not."""
    facts = document.data["facts"]
    n = matrix.shape[0]
    kind, by = facts.get("kind"), facts.get("by")
    if facts.get("size") != n:
        return "the size in the certificate is not the size of the matrix"
    if n == 1:
        return None if kind == "simple-real" else "a 1 x 1 matrix has one simple real eigenvalue"
    if by not in ("real-part", "modulus", "step"):
        return f"unknown order {by!r}"
    alpha = fraction_of(facts.get("alpha")) if by == "step" else None
    only_pairs = kind == "non-real" or (kind == "simple-pair" and n == 2)
    if only_pairs and reach > 0 and n <= EXACT_SIZE and _no_real_eigenvalue(matrix, reach):
        return None
    if "beta" not in facts:
        return "no separating score is given"
    claim = LeaderClaim(str(kind), Score(str(by), alpha), fraction_of(facts["beta"]), reach)
    if kind in ("tie", "all-real", "multiple-real", "multiple-pair"):
        if reach != 0:
            return "an exact tie has no margin"
        return _exactly(matrix, claim, until)
    if kind not in KINDS:
        return f"unknown kind {kind!r}"
    return _climb(document, matrix, claim, until)


def _climb(document: CertificateDocument, matrix: Exact, claim: LeaderClaim, until: float) -> str | None:
    n = matrix.shape[0]
    tried: list[str] = []
    symmetric = claim.kind == "simple-real" and _may_be_symmetric(matrix)
    if symmetric and n <= EXACT_SIZE and _confirm_symmetric(*_stepped(matrix, claim), claim, until) is None:
        return None
    if claim.reach == 0 and n <= EXACT_SIZE:
        return _exactly(matrix, claim, until)
    if claim.kind == "simple-real" and n > 64 and "lyapunov" in document.arrays:
        why = _confirm_lyapunov(document, matrix, claim)
        if why is None or not why.startswith(UNCONFIRMED):
            return why
        tried.append("the stored matrix")
    for name, found in places(matrix, claim.reach, until, coarse=True):
        tried.append(name)
        if found is not None and _separated(found, claim):
            return None
    false = _shown_false(matrix, claim, until)
    if false is not None:
        return false
    if symmetric and n > EXACT_SIZE:
        tried.append("signs of M -+ beta I")
        if _confirm_symmetric(*_stepped(matrix, claim), claim, until) is None:
            return None
    return unconfirmed(*tried)


def places(
    matrix: Exact, reach: Fraction, until: float, *, coarse: bool = False
) -> Iterator[tuple[str, Places | None]]:
    """Discs of every matrix within reach: floats where they are worth it, then balls as long as they fit the time.

    ``coarse``: wider discs first, where they cost much less.
    """
    n = matrix.shape[0]
    if n >= FLOATS_FROM:
        yield from _float_places(matrix, reach, coarse=coarse and n >= COARSE_FROM)
    if balls_fit(n, until):
        for attempt in balls.ATTEMPTS if n <= EXACT_SIZE else balls.ATTEMPTS[:1]:
            found = balls.discs(matrix.numerators, matrix.denominator, reach, attempt=attempt)
            yield f"discs in balls ({attempt})", None if found is None else BallPlaces(found)


def _float_places(matrix: Exact, reach: Fraction, *, coarse: bool) -> Iterator[tuple[str, Places | None]]:
    values, e, rho = matrix.rounded
    if "basis" not in matrix.guesses:
        matrix.guesses["basis"] = candidate_basis(values)
    basis = matrix.guesses["basis"]
    spread = floats.scaled_above(reach, e)
    if not isinstance(basis, Basis) or not math.isfinite(spread):
        yield "discs in floats", None
        return
    if coarse and (wide := float_discs(values, basis, rho + spread, coarse=True)) is not None:
        yield "coarse discs in floats", FloatPlaces(wide, e)
    found = float_discs(values, basis, rho + spread)
    yield "discs in floats", None if found is None else FloatPlaces(found, e)


def _no_real_eigenvalue(matrix: Exact, reach: Fraction) -> bool:
    """Then a non-real one is ahead by every order."""
    found = balls.discs(matrix.numerators, matrix.denominator, reach)
    return found is not None and bool(BallPlaces(found).off_axis().all())


def _may_be_symmetric(matrix: Exact) -> bool:
    given = matrix.approximate
    return given is None or bool(np.abs(given[0] - given[0].T).max() <= 2 * given[1])


def _stepped(matrix: Exact, claim: LeaderClaim) -> tuple[Exact, Fraction]:
    """``I + alpha M`` and the reach there, if the order is by step."""
    alpha = claim.score.alpha
    if alpha is None:
        return matrix, claim.reach
    p, q = flint.fmpz(alpha.numerator), flint.fmpz(alpha.denominator)

    def build() -> tuple[flint.fmpz_mat, flint.fmpz]:
        return rational.shifted(matrix.numerators * p, matrix.denominator * q, Fraction(1))

    near = None
    if matrix.floats is not None and matrix.shape[0] > 64:
        step = float(alpha)
        values = step * matrix.floats + np.eye(matrix.shape[0])
        error = 2.0**-50 * (abs(step) * float(np.linalg.norm(matrix.floats)) + matrix.shape[0])
        near = (values, error) if np.isfinite(values).all() else None
    return Exact(build, None, "", matrix.shape, near), claim.reach * abs(alpha)


def _order(claim: LeaderClaim) -> str:
    return "real-part" if claim.score.by == "real-part" else "modulus"


def _exactly(matrix: Exact, claim: LeaderClaim, until: float) -> str | None:
    return confirm_exactly(_stepped(matrix, claim)[0], _order(claim), claim.beta, claim.kind, until)


def _confirm_symmetric(matrix: Exact, reach: Fraction, claim: LeaderClaim, until: float) -> str | None:
    """Exactly one eigenvalue beyond beta: one above ``beta + reach`` and n - 1 below ``beta - reach``, and mirrored."""
    n, beta = matrix.shape[0], claim.beta
    if matrix.floats is None and not bool(matrix.numerators == matrix.numerators.transpose()):
        return "not symmetric"
    above = at_least(matrix, -beta, 1, n - 1, 0, reach, until, None)
    if _order(claim) == "real-part":
        return above
    if beta <= 0:
        return "a modulus bound must be positive"
    # the leader beyond +beta, everybody else inside (-beta, beta); or the mirror image
    if above is None and at_least(matrix, beta, n, 0, 0, reach, until, None) is None:
        return None
    below = at_least(matrix, beta, n - 1, 1, 0, reach, until, None)
    if below is None and at_least(matrix, -beta, 0, n, 0, reach, until, None) is None:
        return None
    return "the moduli do not separate at the given score"


def _separated(found: Places, claim: LeaderClaim) -> bool:
    """Do the discs (of every matrix within reach) imply the claim?"""
    beyond, inside = found.sides(claim.score, claim.beta)
    off_axis = found.off_axis()
    if claim.kind == "non-real":
        # every disc that touches the axis is inside beta, and a whole component is beyond it
        if not bool(off_axis[~inside].all()):
            return False
        return any(bool(beyond[found.component(int(k))].all()) for k in np.flatnonzero(beyond))
    if not bool((beyond | inside).all()):
        return False
    if claim.kind == "simple-real":
        return int(beyond.sum()) == 1
    return int(beyond.sum()) == 2 and bool(off_axis[beyond].all())


def _shown_false(matrix: Exact, claim: LeaderClaim, until: float) -> str | None:
    """A reason if the numbers of eigenvalues beyond some scores contradict the claim."""
    if claim.kind == "non-real":
        return None
    expected = 1 if claim.kind == "simple-real" else 2
    shift = claim.reach * (1 if claim.score.alpha is None else abs(claim.score.alpha))
    scores = [claim.beta]
    if claim.kind == "simple-real" or claim.score.by == "real-part":
        scores.append(claim.beta + shift)
    if claim.score.by == "real-part":
        scores.append(claim.beta - shift)
    for _, found in places(matrix, Fraction(0), until):
        if found is None:
            continue
        for score in scores:
            beyond, inside = found.sides(claim.score, score)
            if bool((beyond | inside).all()) and int(beyond.sum()) != expected:
                return f"{int(beyond.sum())} eigenvalues are beyond a score within the margin, not {expected}"
    return None


def _confirm_lyapunov(document: CertificateDocument, matrix: Exact, claim: LeaderClaim) -> str | None:
    stepped, reach = _stepped(matrix, claim)
    a, e, lost = stepped.rounded
    if abs(e) > 900:
        return unconfirmed("a stored matrix, with entries beyond the range of the float verifier")
    scale = Fraction(2) ** -e
    exact_beta = claim.beta * scale
    bound, spread = floats.nearest_float(exact_beta), floats.scaled_above(reach, e)
    if not math.isfinite(bound) or Fraction(bound) != exact_beta:
        return unconfirmed("a stored matrix, with a score that is not a float")
    p, x, r = (document.arrays.get(name) for name in ("lyapunov", "vector", "row"))
    if p is None or x is None or r is None:
        return "the stored certificate is incomplete"
    check = floats.beyond_real_part if _order(claim) == "real-part" else floats.beyond_modulus
    with np.errstate(all="ignore"):
        answer = check(a, lost, bound, spread, p, x, r)
    if answer is None:
        return unconfirmed("the stored matrix")
    return None if answer else "the stored matrix is not a certificate"
