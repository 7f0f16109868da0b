"""A start that is known to lie on an arc: between two starts of the last token that reach consensus from opposite sides.

On the circle (d = 2) with U = I, tokens that are in an open half circle at some time go to consensus inside their cone
(AB-X1, full or causal attention), so their lifted angles have limits that differ by multiples of 2 pi: the *sheets*.  Starts
with the same sheets form an open set.  If the last token is moved along an arc whose ends have different sheets, the arc is
connected and some start on it reaches no consensus.  The two ends are followed by validated integration.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from eigentoken.numerics.dynamics.enclosed_trajectories import NoEnclosure, ball, enclose
from eigentoken.numerics.dynamics.enclosed_trajectories import precision as digits_of
from eigentoken.numerics.instances.exact_values import Case, zero
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language import conditions, terms
from eigentoken.theory.language.matrix_words import IsZero, Stochastic
from eigentoken.theory.language.places import ConsensusSet, Place
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.readings import ON_ARC
from eigentoken.theory.systems.system import Space, Time

__all__ = ["Arc", "bracketing_arc", "holds_on_arc", "is_circle_flow", "lifted_angles", "turn"]

#: Half widths that are tried, wide ones first: the last token turns by ``+- 2 atan(1/m)``.
TURNS = (2, 3, 5, 8, 20, 60, 200, 1000)
DIGITS = 40
LONGEST = 24.0


@dataclass(frozen=True)
class Arc:
    """The last token turned by at most ``2 atan(1/m)``; at ``time`` both ends have tokens in a half circle, other sheets."""

    m: int
    time: Fraction
    steps: int

    def as_data(self) -> dict[str, Any]:
        return {"m": self.m, "time": str(self.time), "steps": self.steps}


def turn(token: Any, m: int, sign: int) -> tuple[Any, Any]:
    """The point of the circle turned by ``sign 2 atan(1/m)``: rational where the token is."""
    c, s = sp.Rational(m * m - 1, m * m + 1), sign * sp.Rational(2 * m, m * m + 1)
    x, y = token
    return c * x - s * y, s * x + c * y


def is_circle_flow(instance: Instance) -> bool:
    """A flow on the circle with U = I (every head), full or causal attention."""
    system = instance.system
    if system.space is not Space.SPHERE or system.time is not Time.FLOW or instance.d != 2 or instance.n < 2:
        return False
    if not system.standard:
        return False
    if instance.mask is not None and instance.mask_name != "causal":
        return False
    if system.value is None:
        return True
    heads = instance.parameters.get("heads", (instance.parameters,))
    eye = sp.eye(2)
    return all(all(zero(e) is True for e in sp.Matrix(head[system.value]) - eye) for head in heads)


def _heads(instance: Instance) -> list[tuple[Any, Any]]:
    """Value and score matrices of the heads; ``None`` for the identity and for equal weights."""
    system = instance.system
    groups = instance.parameters.get("heads", (instance.parameters,))
    values = [None if system.value is None else group[system.value] for group in groups]
    scores = [None if system.score is None else group[system.score] for group in groups]
    eye = ((1, 0), (0, 1))
    return [
        (
            None if value is None or all(value[a][b] == eye[a][b] for a in range(2) for b in range(2)) else value,
            None if score is None or all(entry == 0 for row in score for entry in row) else score,
        )
        for value, score in zip(values, scores, strict=True)
    ]


def angular_field(instance: Instance, number: Any, root: Any, functions: Any) -> Any:
    """``theta_i' = sum_h sum_j a_ij t_i^T U_h x_j`` on the circle, ``t_i = (-sin theta_i, cos theta_i)``, in the given numbers.

    ``functions`` gives exp, and the pair of cos and sin; for U = I the products are ``sin(theta_j - theta_i)``.  The weights
    are taken relative to that of the first token that i sees.
    """
    exp, place_of = functions

    def rows_of(matrix: Any) -> Any:
        if matrix is None:
            return None
        return [[None if entry == 0 else number(entry) for entry in row] for row in matrix]

    heads = [(rows_of(value), rows_of(score)) for value, score in _heads(instance)]
    mask = instance.mask
    n = instance.n

    def moved(rows: Any, x: Any) -> Any:
        if rows is None:
            return x
        parts = [[a * c for a, c in zip(x, row, strict=True) if c is not None] for row in rows]
        return tuple(sum(each[1:], each[0]) if each else 0 * x[0] for each in parts)

    def field(_: Any, angles: Any) -> list[Any]:
        places = [place_of(a) for a in angles]
        keys = [[moved(score, place) for place in places] for _, score in heads]
        pulls = [[moved(value, place) for place in places] for value, _ in heads]
        speeds = []
        for i in range(n):
            total: Any = 0 * angles[i]
            x, y = places[i]
            for scored, valued, (value, score) in zip(keys, pulls, heads, strict=True):
                pushed: Any = None
                mass: Any = 0
                first: Any = None
                for j in range(n):
                    if mask is not None and not mask[i][j]:
                        continue
                    u, v = scored[j]
                    same = score is None or first is None  # as the first one: a weight of one
                    first = (u, v) if first is None else first
                    weight = 1 if same else exp(x * (u - first[0]) + y * (v - first[1]))
                    mass = mass + weight
                    if j == i and value is None:
                        continue
                    u, v = valued[j]
                    part = x * v - y * u if same else weight * (x * v - y * u)
                    pushed = part if pushed is None else pushed + part
                if pushed is not None:
                    total = total + pushed / mass
            speeds.append(total / root)
        return speeds

    return field


def lifted_angles(instance: Instance, m: int, sign: int, angle: Any) -> list[Any]:
    """The angles of the tokens, the last one turned by ``sign 2 atan(1/m)`` along the arc; ``angle(y, x)`` is atan2."""
    angles = [angle(token[1], token[0]) for token in instance.tokens]
    small = angle(sp.Integer(1), sp.Integer(m))
    angles[-1] = angles[-1] + 2 * sign * small
    return angles


def _arb_angle(y: Any, x: Any) -> Any:
    from eigentoken.theory.exactness.balls import expression_ball

    return arb.atan2(expression_ball(sp.sympify(y), 160), expression_ball(sp.sympify(x), 160))


def _float_angle(y: Any, x: Any) -> float:
    return float(np.arctan2(float(y), float(x)))


def _sheets(angles: list[Any]) -> tuple[int, ...] | None:
    """Multiples of 2 pi by which the tokens are away from a half circle with the first; ``None`` where they are in none."""
    whole = 2 * arb.pi()
    sheets = [round(float((a - angles[0]).mid()) / (2 * np.pi)) for a in angles]
    reduced = [a - angles[0] - k * whole for a, k in zip(angles, sheets, strict=True)]
    if all(a - b < arb.pi() for a in reduced for b in reduced):
        return tuple(sheets)
    return None


def _float_run(instance: Instance, starts: list[list[float]]) -> tuple[float, bool]:
    """A time at which both starts are well inside half circles, and whether their sheets then differ (floats: a proposal)."""
    root = float(np.sqrt(2.0)) if instance.system.over_root_d else 1.0
    field = angular_field(instance, float, root, (np.exp, lambda a: (np.cos(a), np.sin(a))))
    h, t = 0.05, 0.0
    states = [np.array(start) for start in starts]

    def inside(x: Any) -> bool:
        rest = x - x[0] - 2 * np.pi * np.round((x - x[0]) / (2 * np.pi))
        return bool(rest.max() - rest.min() < np.pi - 0.2)

    while t < LONGEST:
        for index, x in enumerate(states):
            one = np.array(field(t, list(x)))
            two = np.array(field(t, list(x + h / 2 * one)))
            three = np.array(field(t, list(x + h / 2 * two)))
            states[index] = x + h / 6 * (one + 2 * two + 2 * three + np.array(field(t, list(x + h * three))))
        t += h
        if all(inside(x) for x in states):
            break
    else:
        return t, False
    sheets = [np.round((x - x[0]) / (2 * np.pi)) for x in states]
    return t, bool((sheets[0] != sheets[1]).any())


def bracketing_arc(place: Place, case: Case) -> Arc | None:
    """An arc of starts of the last token, around the one of the case, some of which reach no consensus."""
    instance = case.instance
    if not isinstance(place, ConsensusSet) or not is_circle_flow(instance):
        return None
    for m in TURNS:
        if holds_on_arc(conditions.NoneOpposite(), case, m) is not True:
            continue  # an arc that holds the antipode of the first token shows nothing new
        starts = [lifted_angles(instance, m, sign, _float_angle) for sign in (1, -1)]
        time, differ = _float_run(instance, starts)
        if differ:
            arc = Arc(m, Fraction(round(time * 10 + 1), 10), max(8, int(3 * time) + 4))
            return arc if ends_differ(instance, arc) else None
    return None


def ends_differ(instance: Instance, arc: Arc) -> bool:
    """Both ends of the arc, enclosed at the time of the arc, are in half circles with different sheets."""
    found = []
    for sign in (1, -1):
        with digits_of(DIGITS):
            root = arb(2).sqrt() if instance.system.over_root_d else arb(1)
            functions = (lambda a: a.exp(), lambda a: a.sin_cos()[::-1])
            field = angular_field(
                instance, lambda e: ball(sp.Rational(e)) if e.is_Rational else _scored(e), root, functions
            )
            start = lifted_angles(instance, arc.m, sign, _arb_angle)
            try:
                end = enclose(field, start, arc.time, steps=arc.steps, order=12, digits=DIGITS)
            except NoEnclosure:
                return False
            found.append(_sheets(end))
    return None not in found and found[0] != found[1]


def _scored(value: Any) -> Any:
    from eigentoken.theory.exactness.balls import expression_ball

    return expression_ball(value, 160)


def holds_on_arc(condition: conditions.Condition, case: Case, m: int) -> bool | None:
    """Is a condition that holds at the case true for every last token of the arc?  ``None``: not known."""
    return ON_ARC(condition, case, m)


@ON_ARC.register(conditions.Condition)
def on_arc_unknown(condition: conditions.Condition, case: Case, m: int) -> None:
    """Words about the tokens that have no method here."""
    return


@ON_ARC.register(
    conditions.OfOneMatrix,
    conditions.NonPrincipalModulusBelow,
    conditions.BoundedInTime,
    conditions.UniformlyContinuous,
    conditions.Commute,
    conditions.SharesTopEigenvector,
    conditions.ShareDominantPair,
    MultipleOf,
    IsZero,
    Stochastic,
)
def on_arc_of_parameters(condition: conditions.Condition, case: Case, m: int) -> bool:
    """Conditions on the parameters do not see the arc."""
    return True


@ON_ARC.register(conditions.Relation)
def on_arc_relation(condition: conditions.Relation, case: Case, m: int) -> bool | None:
    return None if condition.relation.atoms(terms.Angle) else True


@ON_ARC.register(conditions.NoneOpposite)
def on_arc_none_opposite(condition: conditions.NoneOpposite, case: Case, m: int) -> bool | None:
    tokens = case.tokens()
    product = (tokens[0].T * tokens[-1])[0, 0]
    reach = sp.Rational(m * m - 1, m * m + 1)  # the cosine of the half width
    return bool(-product < reach) if product.is_Rational else None


@ON_ARC.register(conditions.NotAllEqual)
def on_arc_not_all_equal(condition: conditions.NotAllEqual, case: Case, m: int) -> bool | None:
    tokens = case.tokens()
    return True if any(token != tokens[0] for token in tokens[1:-1]) else None


@ON_ARC.register(conditions.AllOf)
def on_arc_all_of(condition: conditions.AllOf, case: Case, m: int) -> bool | None:
    return True if all(ON_ARC(part, case, m) for part in condition.parts) else None
