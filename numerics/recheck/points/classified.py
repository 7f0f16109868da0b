"""Re-check of the claims of a classification: the point evaluated in balls of our own, exact zeros by sympy's arithmetic.

``moved``: an entry of ``f(x) - x`` (flow: of the velocity) is certainly not zero.  ``fixed``: the tokens that i sees are
grouped by their scores; where the pushed sum of each group is tangentially zero, the weighted one is, whatever the weights
(sufficient; all other cases are left unconfirmed).  ``cycle``: the same with ``1 + alpha c_i < 0`` for all i, so that f(x) = -x.
``inside`` and ``outside`` are about the spectrum at an equilibrium or 2-cycle, and ask for that first; the eigenvalues are
enclosed by :mod:`.clusters`.  A margin must not exceed what is found, and be no smaller by more than :data:`MARGIN_SLACK`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import flint

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import CertificateDocument, unconfirmed
from eigentoken.numerics.recheck.points.attention import POINTS, not_written
from eigentoken.numerics.recheck.points.clusters import Cluster, clusters, square_root
from eigentoken.numerics.recheck.points.point import PRECISION, Point, every, instance_digest, vanishes

__all__ = ["MARGIN_SLACK", "confirm_claim", "confirm_classification", "excesses", "margin_differs", "spectrum_at"]

arb = flint.arb
MARGIN_SLACK = 1e-9
CLAIMS = {
    ("equilibrium", "holds"): {"fixed"},
    ("equilibrium", "fails"): {"moved", "undefined"},
    ("linearly asymptotically stable", "holds"): {"inside", "discrete"},
    ("linearly asymptotically stable", "fails"): {"outside", "boundary", "moved", "undefined"},
}


def confirm_classification(document: CertificateDocument, inputs: object, until: float) -> str | None:
    """None if the claim about the instance is confirmed, else why not."""
    instance = inputs.get("instance", inputs) if isinstance(inputs, Mapping) else None
    if not isinstance(instance, Mapping):
        return unconfirmed("nothing: the instance was not given, only its hash is in the certificate")
    if set(document.inputs) != {"instance"} or document.inputs["instance"] != instance_digest(instance):
        return "the instance is not what was certified: its hash differs"
    if instance.get("system") not in POINTS:
        return unconfirmed(not_written(instance.get("system"), POINTS))
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        return confirm_claim(Point(instance), document.condition, document.verdict, document.data, until)
    finally:
        flint.ctx.prec = old


def confirm_claim(point: Point, condition: str, verdict: str, data: Mapping[str, Json], until: float) -> str | None:
    """None if a claim of a certificate is true of the point, else why not."""
    claim, cycle = str(data["claim"]), data["cycle"]
    if claim not in CLAIMS.get((condition, verdict), set()):
        return f"the claim {claim!r} does not support {condition} {verdict}"
    margin = None if data["at_least"] is None else float.fromhex(str(data["at_least"]))
    if claim in ("fixed", "boundary", "discrete", "undefined") and margin is not None:
        return f"the claim {claim!r} has no margin"
    if cycle and (not point.shape.is_map or claim in ("fixed", "undefined")):
        return "a flow has no 2-cycle" if not point.shape.is_map else f"a point on a 2-cycle is not {claim}"
    if claim in ("moved", "undefined"):
        why = _undefined(point) if claim == "undefined" else _moved(point, margin)
        return why if why is not None or not cycle else _cycle(point)
    why = _cycle(point) if cycle else _fixed(point)
    if why is not None or claim == "fixed":
        return why
    if claim == "discrete":
        return None if point.d == 1 and not point.shape.euclidean else "the state space is not discrete"
    if margin is None and claim != "boundary":
        return "a claim about the spectrum needs its margin"
    return _spectral_claim(point, claim, margin, until)


# -- the point --------------------------------------------------------------------------------------------------------


def margin_differs(margin: float, found: Any, what: str) -> str | None:
    """A stated lower bound against the ball of the number: not above it, not below by more than the slack."""
    if not arb(margin) <= found:
        return f"{what} is {found.str(12)}, less than {margin!r}" if arb(margin) > found else unconfirmed(what)
    if arb(margin) < found * (1 - arb(MARGIN_SLACK)):
        return f"{what} is {found.str(12)}, more than {margin!r} by more than the slack"
    return None


def _moved(point: Point, margin: float | None) -> str | None:
    found = point.residuals()
    if found is None:
        return unconfirmed("a step whose length may vanish")
    most = arb(0)
    for each in found:
        most = most.max(each)
    if not most > 0:
        return "the point does not move" if vanishes(most) else unconfirmed("that the point moves")
    return None if margin is None else margin_differs(margin, most, "the largest change")


def _undefined(point: Point) -> str | None:
    if not point.shape.is_map:
        return "a flow is defined everywhere"
    seen = [every([vanishes(entry) for entry in y.entries()]) for y in point.raw()]
    return unconfirmed("that a raw step vanishes exactly") if True in seen else "no raw step vanishes"


def _factors(point: Point) -> list[Any]:
    """``1 + alpha c_i``, where the push is ``u_i = c_i x_i``; nothing is divided by in Euclidean space."""
    if point.shape.euclidean:
        return [arb(1) for _ in point.x]
    return [point.pair(x, y) for x, y in zip(point.x, point.raw(), strict=True)]


def _fixed(point: Point) -> str | None:
    residuals = point.residuals()
    if residuals is not None and any(each > 0 for each in residuals):
        return "the point moves"
    if point.shape.is_map and not all(factor > 0 for factor in _factors(point)):
        return unconfirmed("that 1 + alpha c_i is positive")
    return None if _exactly_fixed(point) else unconfirmed("an exact zero of the velocity")


def _cycle(point: Point) -> str | None:
    """``f(f(x)) = x`` and ``f(x) != x``."""
    image = point.image()
    if image is None:
        return unconfirmed("a step whose length may vanish")
    back = point.again().image()
    if back is None:
        return unconfirmed("a second step whose length may vanish")
    if not any(each > 0 for each in point.residuals() or ()):
        return "the point does not move"
    entries = [a - b for x, y in zip(point.x, back, strict=True) for a, b in zip(x.entries(), y.entries(), strict=True)]
    if every([vanishes(each) for each in entries]) is False:
        return "two steps do not lead back"
    if all(factor < 0 for factor in _factors(point)) and _exactly_fixed(point):
        return None
    return unconfirmed("that two steps lead back exactly (they do to 120 digits)")


# -- the spectrum -----------------------------------------------------------------------------------------------------


def spectrum_at(point: Point, until: float, cycle: bool) -> list[Cluster] | None:
    """The eigenvalues on the tangent spaces; for a 2-cycle those of both steps together."""

    def matrix(bits: int) -> Any:
        here = Point(point.instance) if bits != PRECISION else point
        first = here.jacobian()
        if not cycle:
            return first
        return here.again().jacobian() * first

    return clusters(matrix, until)


def excesses(found: list[Cluster], is_map: bool, cycle: bool) -> list[Any]:
    """``|z| - 1`` per step, or ``Re z``: below zero inside, above it outside."""
    if not is_map:
        return [each.ball.real for each in found]
    moduli = [abs(each.ball) for each in found]
    return [(square_root(size) if cycle else size) - 1 for size in moduli]


def _spectral_claim(point: Point, claim: str, margin: float | None, until: float) -> str | None:
    cycle = point.shape.is_map and _is_cycle(point)
    found = spectrum_at(point, until, cycle)
    if found is None:
        return unconfirmed("where the spectrum lies")
    heights = excesses(found, point.shape.is_map, cycle)
    worst = heights[0]
    for each in heights[1:]:
        worst = worst.max(each)
    if claim == "boundary":
        if worst < 0:
            return "every eigenvalue is inside"
        return unconfirmed("an eigenvalue exactly on the boundary")
    if margin is None:
        return "a claim about the spectrum needs its margin"
    wrong = worst > 0 if claim == "inside" else worst < 0
    if wrong:
        return "an eigenvalue is outside" if claim == "inside" else "every eigenvalue is inside"
    if worst.contains(0):
        return "the spectrum reaches the boundary" if vanishes(worst) else unconfirmed("where the spectrum lies")
    return margin_differs(margin, abs(worst), "the distance from the boundary")


def _is_cycle(point: Point) -> bool:
    return any(each > 0 for each in point.residuals() or ())


# -- exact zeros ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _exact(text: str) -> Any:
    """The number that a text of the document writes; the same texts occur in all its parts."""
    import sympy as sp

    return sp.sympify(text)


def _exactly_fixed(point: Point) -> bool:
    """The tangential part of the push is zero, exactly, because it is so for each group of keys with one score.

    With a gain on the sphere that of ``G x_i``, too; a push that is normalised is never zero.
    """
    import sympy as sp

    if point.shape.second is not None:
        return False

    # every text was read by the parser of numbers before it comes here, so that no other name can occur in it
    def matrix(rows: Any) -> Any:
        return sp.Matrix([[_exact(str(entry)) for entry in row] for row in rows])

    X = [matrix([[entry] for entry in token]) for token in point.instance["tokens"]]
    shape = point.shape
    metric = sp.eye(point.d) if shape.metric is None else matrix(point.instance[shape.metric])
    gain = sp.eye(point.d) if shape.gain is None else matrix(point.instance[shape.gain])
    Y = [gain * (x / sp.sqrt((x.T * x)[0, 0]) if shape.before else x) for x in X]

    def zero(value: Any) -> bool:
        return bool(sp.expand(value) == 0 or sp.radsimp(sp.simplify(value)) == 0)

    def vanishing(x: Any, push: Any) -> bool:
        tangent = push if shape.euclidean else push - x * (x.T * metric * push)[0, 0]
        return all(zero(entry) for entry in tangent)

    pieces = [
        (
            sp.eye(point.d) if shape.value is None else matrix(head[shape.value]),
            sp.zeros(point.d) if shape.score is None else matrix(head[shape.score]),
        )
        for head in point.heads
    ]
    for i, x in enumerate(X):
        seen = [j for j in range(point.n) if point.mask[i][j]]
        whole = sp.zeros(point.d, 1)
        for value, score in pieces:
            groups: dict[Any, Any] = {}
            for j in seen:
                key = sp.expand((Y[i].T * score * Y[j])[0, 0])
                groups[key] = groups.get(key, sp.zeros(point.d, 1)) + Y[j]
            if all(Y[j] == Y[seen[0]] for j in seen):
                whole += value * Y[seen[0]]
            elif len(groups) == 1:
                whole += value * next(iter(groups.values())) / len(seen)
            elif not all(vanishing(x, value * total) for total in groups.values()):
                return False
        if not vanishing(x, whole):
            return False
        if shape.is_map and not shape.euclidean and not vanishing(x, gain * x):
            return False
    return True
