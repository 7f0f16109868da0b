"""Conditions on the whole spectrum: discs, dominance, gaps, the principal eigenvector, stability of a matrix.

``dominant-real-part``: the eigenvalue of largest real part is real, simple, and strictly ahead of all others (in
continuous time this is the principal eigenvalue).  ``dominant-modulus`` and ``dominant-step`` order by ``|lambda|`` and
by ``|1 + alpha lambda|``; the sign of the eigenvalue is in the details.  ``dominant-complex-pair``: exactly one simple
non-real pair is strictly ahead.  Margins: within that spectral norm the *same kind* of leader stays ahead.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.documents.certificate import Facts, LeadBy
from eigentoken.documents.verdict_document import Disc
from eigentoken.documents.verdict_object import VerdictDetails
from eigentoken.numerics.certified.dominance import (
    Dominance,
    discs_of,
    dominance,
    eigenvector_angle,
    lyapunov_certificate,
    scores,
)
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.exact_matrices import DeadlinePassed
from eigentoken.numerics.certified.exact_spectra import exact_roots, leading_eigenvalue, score_of, score_polynomial
from eigentoken.numerics.certified.exact_vectors import LARGEST, exact_eigenvector
from eigentoken.numerics.certified.questions import Question, answer, give_up, reported_margin
from eigentoken.numerics.certified.rounding import Array, frobenius_above, inflate, scale_down, scale_up, up
from eigentoken.numerics.certified.spectra import Discs
from eigentoken.theory.language.reasons import angle_reason, discs_reason, gap_reason, leader_reason
from eigentoken.theory.language.verdicts import Verdict, VerdictAnswer

__all__ = [
    "decide_complex_pair",
    "decide_dominance",
    "decide_eigenvector",
    "decide_gap",
    "decide_spectrum",
    "leader_facts",
]

HOLDS, FAILS = VerdictAnswer.HOLDS, VerdictAnswer.FAILS
_ORDER: dict[str, LeadBy] = {"dominant-real-part": "real-part", "dominant-modulus": "modulus", "dominant-step": "step"}


def decide_dominance(question: Question) -> Verdict:
    """``dominant-real-part``, ``dominant-modulus`` or ``dominant-step``."""
    question.need_square()
    by = _ORDER[question.condition]
    return _leader_verdict(
        question, dominance(question.enclosure, by, question.alpha, question.deadline), "simple-real"
    )


def decide_complex_pair(question: Question) -> Verdict:
    """``dominant-complex-pair``, by real part unless ``by`` says otherwise."""
    question.need_square()
    if question.by == "step" and question.alpha == 0:
        return give_up(question, ("every score is 1: with alpha = 0 nobody is ahead by step",))
    found = dominance(question.enclosure, question.by, question.alpha, question.deadline)
    if found.kind == "non-real" and found.exact is None:
        found = _exact_leader(question, found)
    if found.kind in ("unknown", "tie") and _only_real_ahead(question, found):
        return _leader_verdict(question, replace(found, kind="all-real", rung="exact characteristic polynomial"), "")
    if found.kind in ("non-real", "tie"):  # neither says that one simple pair is, or is not, strictly ahead
        return give_up(question, (*found.tried, "whether one simple pair is ahead of all others is not certified"))
    return _leader_verdict(question, found, "simple-pair")


def _exact_leader(question: Question, found: Dominance) -> Dominance:
    """Discs that show a non-real leader do not show how many there are: the exact roots may."""
    enclosure = question.enclosure
    if enclosure.slack > 0 or not enclosure.has_exact or enclosure.exact is None:
        return found
    alpha = question.alpha if found.by == "step" else None
    leader = leading_eigenvalue(enclosure.exact, found.by, alpha, question.deadline)
    rung = "exact characteristic polynomial"
    tried = (*found.tried, rung + (f" ({leader.why})" if leader.why else ""))
    if leader.kind not in ("simple-pair", "multiple-pair"):
        return replace(found, tried=tried)
    return Dominance(leader.kind, found.by, exact=leader, rung=rung, tried=tried)


def _only_real_ahead(question: Question, found: Dominance) -> bool:
    """Are all eigenvalues that may lead real, and certainly ahead of every other one?"""
    if found.exact is None or not found.exact.roots or not all(root.real for root in found.exact.roots):
        return False
    low, rest = _exact_ends(found, question.alpha)
    return rest is None or low > rest


def _leader_verdict(question: Question, found: Dominance, wanted: str, *, light: bool = False) -> Verdict:
    """``light``: no matrix is stored for a re-check, so that none is looked for."""
    details = _leader_details(question.enclosure, found)
    if found.kind == "unknown":
        return give_up(question, found.tried, details)
    decided = HOLDS if found.kind == wanted else FAILS
    stored = None
    if found.discs is not None and not light:
        stored = lyapunov_certificate(question.enclosure, found, question.alpha)
    arrays: dict[str, Any] = {}
    if stored is not None:
        found = replace(found, margin=min(found.margin, stored.margin))
        arrays = {"lyapunov": stored.matrix, "vector": stored.vector, "row": stored.row}
    margin = math.inf if math.isinf(found.margin) else reported_margin(question.enclosure, found.margin)
    return answer(
        question,
        decided,
        leader_reason(found.kind, found.by, found.rung),
        kind="leader",
        facts=leader_facts(question.enclosure, found, question.alpha),
        margin=margin,
        details=details,
        arrays=arrays,
    )


def leader_facts(enclosure: Enclosure, found: Dominance, alpha: Fraction | None) -> Facts:
    """The kind of the leaders, and a score that separates them from everybody else (exact, units of the input)."""
    if found.kind == "unknown":
        raise ValueError("nothing is known of the leaders: there are no facts to state")
    facts: Facts = {"kind": found.kind, "by": found.by, "size": enclosure.shape[0]}
    if found.by == "step":
        facts["alpha"] = str(alpha)
    beta = _separating_score(enclosure, found, alpha)
    if beta is not None:
        facts["beta"] = str(beta)
    return facts


def _separating_score(enclosure: Enclosure, found: Dominance, alpha: Fraction | None) -> Fraction | None:
    if found.score is not None:
        middle = Fraction(found.score)
        scale = Fraction(1) if found.by == "step" else Fraction(2) ** enclosure.exponent
        return middle * scale
    if found.exact is None or not found.exact.roots:
        return None
    low, rest = _exact_ends(found, alpha)
    if rest is None:
        return low - 1 if found.by == "real-part" or low <= 0 else low / 2
    return (low + rest) / 2


def _exact_ends(found: Dominance, alpha: Fraction | None) -> tuple[Fraction, Fraction | None]:
    """The lowest score that a leader may have, and the highest one of all others (None without any)."""
    if found.exact is None:
        raise ValueError("scores of exact roots need exact roots")
    old, flint.ctx.prec = flint.ctx.prec, 4200
    try:
        low = min(_fraction(score_of(r.ball, found.by, alpha).lower()) for r in found.exact.roots)
        rest = [_fraction(score_of(r.ball, found.by, alpha).upper()) for r in found.exact.others]
    finally:
        flint.ctx.prec = old
    return low, max(rest, default=None)


def _fraction(value: Any) -> Fraction:
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _leader_details(enclosure: Enclosure, found: Dominance) -> VerdictDetails:
    details: VerdictDetails = {"kind": found.kind, "by": found.by, "rung": found.rung}
    if found.leader is not None and found.kind != "unknown":
        center, radius = found.leader
        details["eigenvalue"] = {
            "re": _unscaled(center.real, enclosure.exponent),
            "im": _unscaled(center.imag, enclosure.exponent),
            "radius": _finite(scale_up(radius * (1 + 2.0**-40), enclosure.exponent)),
        }
    elif found.exact is not None and found.exact.roots and found.kind != "unknown":
        root = found.exact.roots[0]
        details["eigenvalue"] = {
            "re": _finite(float(root.ball.real.mid())),
            "im": _finite(float(root.ball.imag.mid())),
            "radius": _finite(_radius(root.ball)),
        }
    return details


def _unscaled(value: float, exponent: int) -> float | None:
    try:
        return _finite(math.ldexp(value, exponent))
    except OverflowError:
        return None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def decide_gap(question: Question) -> Verdict:
    """Is the largest real part attained by one simple real eigenvalue, and how far is the next real part behind?"""
    question.need_square()
    found = dominance(question.enclosure, "real-part", None, question.deadline)
    verdict = _leader_verdict(question, found, "simple-real")
    if verdict.answer is not HOLDS:
        return verdict
    gap = _gap_interval(question.enclosure, found)
    details: VerdictDetails = {**verdict.details, "gap": gap}
    certificate = verdict.certificate
    if gap is None or certificate is None:
        return replace(verdict, details=details)
    ends = [None if end is None else float(end).hex() for end in gap]
    facts: Facts = {**leader_facts(question.enclosure, found, None), "gap": ends}
    data = {**certificate.data, "facts": facts}
    return replace(
        verdict, reason=gap_reason(gap, verdict.reason), details=details, certificate=replace(certificate, data=data)
    )


def _gap_interval(enclosure: Enclosure, found: Dominance) -> list[float | None] | None:
    if found.discs is not None and found.separation is not None:
        middle, spread, _ = scores(found.discs, "real-part")
        i = found.index
        others = np.flatnonzero(np.arange(found.discs.size) != i)
        if others.size == 0:
            return None
        runner = int(others[np.argmax(middle[others])])
        component = found.discs.component(runner)
        low = float(middle[i] - inflate(spread[i], 2)) - float((middle[others] + inflate(spread[others], 2)).max())
        high = float(middle[i] + inflate(spread[i], 2)) - float(
            (middle[component] - inflate(spread[component], 2)).min()
        )
        slop = 8 * 2.0**-53 * float(np.abs(middle).max() + found.discs.radii.max())
        return [
            scale_down(max(low - slop, 0.0), enclosure.exponent),
            _finite(scale_up(high + slop, enclosure.exponent)),
        ]
    if found.exact is not None and found.exact.others:
        old, flint.ctx.prec = flint.ctx.prec, 4200
        try:
            top = found.exact.roots[0].ball.real
            runner_up = [r.ball.real for r in found.exact.others]
            below = max(_fraction(r.upper()) for r in runner_up)
            at_least = max(_fraction(r.lower()) for r in runner_up)
            low_exact, high_exact = _fraction(top.lower()) - below, _fraction(top.upper()) - at_least
        finally:
            flint.ctx.prec = old
        from eigentoken.numerics.certified.inertia import float_below

        try:
            upper = math.nextafter(high_exact.numerator / high_exact.denominator, math.inf)
        except OverflowError:
            upper = math.inf
        return [float_below(low_exact), _finite(upper)]
    return None


def decide_eigenvector(question: Question) -> Verdict:
    """The principal eigenvector within a certified angle (``within``: the sine that is asked for, if any)."""
    question.need_square()
    found = dominance(question.enclosure, "real-part", None, question.deadline)
    verdict = _leader_verdict(question, found, "simple-real")
    if verdict.answer is not HOLDS:
        return verdict
    n = question.enclosure.shape[0]
    angle = (np.ones(1), 0.0) if n == 1 else eigenvector_angle(found)
    wanted = Fraction(1) if question.within is None else min(question.within, Fraction(1))
    if angle is None or not angle[1] < 1.0 or Fraction(angle[1]) > wanted:
        angle = _exact_angle(question, found) or angle
    if angle is None or not angle[1] < 1.0:
        return give_up(question, (*found.tried, "no certified eigenvector bound"), verdict.details)
    vector, sine = angle
    if question.within is not None and Fraction(sine) > question.within:
        return give_up(question, (*found.tried, f"an angle with sine at most {sine:.3g} only"), verdict.details)
    details: VerdictDetails = {**verdict.details, "sine_of_angle": sine, "vector": [float(v) for v in vector]}
    facts = leader_facts(question.enclosure, found, None)
    facts["sine"] = float(sine).hex()
    arrays: dict[str, Any] = {"vector": np.ascontiguousarray(vector, dtype=np.float64)}
    if n <= 48:
        facts["vector"], arrays = [float(v).hex() for v in vector], {}
    return answer(
        question,
        HOLDS,
        angle_reason(sine, found.rung),
        kind="eigenvector",
        facts=facts,
        details=details,
        arrays=arrays,
    )


def _exact_angle(question: Question, found: Dominance) -> tuple[Array, float] | None:
    """The eigenvector in balls, where the matrix is small and known exactly."""
    enclosure = question.enclosure
    if enclosure.slack > 0 or enclosure.shape[0] > LARGEST or enclosure.exact is None:
        return None
    leader = found.exact or leading_eigenvalue(enclosure.exact, "real-part", None, question.deadline)
    if leader.kind != "simple-real":
        return None
    return exact_eigenvector(enclosure.exact, leader.roots[0].ball.real, question.deadline)


def decide_spectrum(question: Question) -> Verdict:
    """All eigenvalues as discs: every eigenvalue is in one, and a component of k discs holds exactly k."""
    question.need_square()
    enclosure = question.enclosure
    discs = discs_of(enclosure)
    tried: tuple[str, ...] = ("discs",)
    if discs is not None:
        discs = _no_worse_than_norm(enclosure, discs)
        centers, radii = _in_units(enclosure, discs)
        if np.isfinite(radii).all() and np.isfinite(centers).all():
            return _spectrum_answer(question, centers, radii, discs.method)
    if enclosure.slack == 0 and enclosure.exact is not None:
        try:
            roots = exact_roots(score_polynomial(enclosure.exact, None, question.deadline), question.deadline, 128)
        except DeadlinePassed as late:
            return give_up(question, (*tried, str(late)))
        pairs = [(complex(r.ball), _radius(r.ball)) for r in roots for _ in range(r.multiplicity)]
        if all(math.isfinite(abs(c)) and math.isfinite(r) for c, r in pairs):
            centers = np.array([c for c, _ in pairs], dtype=np.complex128)
            radii = np.array([r for _, r in pairs], dtype=np.float64)
            return _spectrum_answer(question, centers, radii, "exact characteristic polynomial")
        tried = (*tried, "exact roots beyond the range of floats")
    return give_up(question, tried)


def _no_worse_than_norm(enclosure: Enclosure, discs: Discs) -> Discs:
    """Where a disc is larger than ``||M||_F``, the disc about zero of that radius says more: n times the same."""
    whole = up(up(frobenius_above(enclosure.center) * (1 + 2.0**-30)) + 2 * enclosure.radius)
    if float(discs.radii.max()) <= whole:
        return discs
    n = discs.size
    return Discs(np.zeros(n, dtype=np.complex128), np.full(n, whole), discs.growth, "Frobenius norm")


def _radius(ball: Any) -> float:
    """An upper bound on the distance from the float nearest to the ball's middle to any point of the ball."""
    spread = float(ball.real.rad().upper()) + float(ball.imag.rad().upper())
    return (spread + abs(complex(ball)) * 2.0**-51) * (1 + 2.0**-40) + 2.0**-1040


def _in_units(enclosure: Enclosure, discs: Discs) -> tuple[Any, Array]:
    with np.errstate(all="ignore"):
        real = np.ldexp(discs.centers.real, enclosure.exponent)
        imag = np.ldexp(discs.centers.imag, enclosure.exponent)
        radii = np.ldexp(discs.radii, enclosure.exponent)
    if enclosure.exponent != 0:
        radii = np.nextafter(radii * (1 + 2.0**-50), np.inf) + 2.0**-1022
    return real + 1j * imag, radii


def _spectrum_answer(question: Question, centers: Any, radii: Array, rung: str) -> Verdict:
    order = np.lexsort((centers.imag, -centers.real))
    centers, radii = centers[order], radii[order]
    n = centers.shape[0]
    details: VerdictDetails = {"rung": rung, "largest_radius": float(radii.max())}
    discs: list[Disc] = [
        {"re": float(c.real), "im": float(c.imag), "radius": float(r)} for c, r in zip(centers, radii, strict=True)
    ]
    details["discs"] = discs
    arrays = {
        "centers_re": np.ascontiguousarray(centers.real),
        "centers_im": np.ascontiguousarray(centers.imag),
        "radii": np.ascontiguousarray(radii),
    }
    facts: Facts = {"size": n}
    if n <= 48:
        facts["discs"] = [
            [float(c.real).hex(), float(c.imag).hex(), float(r).hex()] for c, r in zip(centers, radii, strict=True)
        ]
        arrays = {}
    reason = discs_reason(n, float(radii.max()), rung)
    return answer(question, HOLDS, reason, kind="discs", facts=facts, details=details, arrays=arrays)
