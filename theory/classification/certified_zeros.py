"""Certify an isolated equilibrium near a numerical one: Krawczyk's test in ball arithmetic.

Unknowns are the tokens and, on the sphere or ellipsoid, one multiplier c_i a token; the equations are
``u_i(x) = c_i x_i`` and ``x_i^T W x_i = 1`` (``u_i(x) = 0`` in Euclidean space).  If the Krawczyk operator maps a box
strictly into itself, the box has exactly one solution.  For a map the sign condition ``1 + alpha c_i > 0`` is then
checked on the box.  Equilibria that are not isolated cannot pass, and are left uncertified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import Jet, Setting, ball_setting
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.systems.system import Space, Time

__all__ = ["CertifiedZero", "certify_near"]

BITS = 192
NEWTON_STEPS = 12
RADIUS = -80
"the box has half-width 2^RADIUS around the Newton iterate"


@dataclass(frozen=True)
class CertifiedZero:
    """Balls around the tokens of a certified equilibrium; ``radius`` bounds its distance from their centres."""

    tokens: tuple[tuple[Any, ...], ...]
    multipliers: tuple[Any, ...]
    radius: float


def _equations(setting: Setting, unknowns: Sequence[Any]) -> list[Any]:
    instance = setting.instance
    n, d = instance.n, instance.d
    tokens = tuple(tuple(unknowns[i * d : (i + 1) * d]) for i in range(n))
    push = instance.system.influence(setting.algebra(), setting.parameters, tokens, instance.mask)
    if instance.system.space is Space.EUCLIDEAN:
        return [entry for token in push for entry in token]
    values = []
    for i in range(n):
        values += [u - unknowns[n * d + i] * x for u, x in zip(push[i], tokens[i], strict=True)]
        values.append(setting.pair(tokens[i], tokens[i]) - 1)
    return values


def _linearized(setting: Setting, unknowns: Sequence[Any]) -> tuple[list[Any], arb_mat]:
    jets = [Jet(value, {index: arb(1)}) for index, value in enumerate(unknowns)]
    values = _equations(setting, jets)
    size = len(unknowns)
    return [v.value for v in values], arb_mat([[v.slopes.get(c, arb(0)) for c in range(size)] for v in values])


def certify_near(instance: Instance, approximate: Sequence[Sequence[float]]) -> CertifiedZero | None:
    """The one equilibrium in a small box around a numerical one, or ``None`` where the test does not pass.

    Only the parameters and the mask of the instance are used, its tokens are not.  ``None`` for a system with a step of its
    own, whose equilibria are not the solutions of ``u_i = c_i x_i``.
    """
    if instance.system.writes_step:
        return None
    with precision(BITS):
        setting = ball_setting(instance, BITS)
        try:
            centre = _newton(setting, approximate)
            if centre is None:
                return None
            centre = _symmetrised(instance, centre, approximate) if instance.system.standard else centre
            width = arb(0, arb(2) ** RADIUS)
            box = [value + width for value in centre]
            values, _ = _linearized(setting, centre)
            _, slopes = _linearized(setting, box)
            inverse = arb_mat([[e.mid() for e in row] for row in _linearized(setting, centre)[1].inv().tolist()])
        except (ZeroDivisionError, ValueError, ArithmeticError):
            return None
        size = len(centre)
        unit = arb_mat([[int(i == j) for j in range(size)] for i in range(size)])
        shift = inverse * arb_mat([[value] for value in values])
        spread = (unit - inverse * slopes) * arb_mat([[width] for _ in range(size)])
        images = [centre[i] - shift[i, 0] + spread[i, 0] for i in range(size)]
        if not all(box[i].contains_interior(images[i]) for i in range(size)):
            return None
        return _checked(setting, images)


def _symmetrised(instance: Instance, centre: list[Any], approximate: Sequence[Sequence[float]]) -> list[Any]:
    """The same centre for tokens that are given equal: then the box is invariant under their swaps.

    So its one solution has equal tokens there too, wherever the mask allows the swap.
    """
    n, d = instance.n, instance.d
    first: dict[tuple[float, ...], int] = {}
    result = list(centre)
    for i, token in enumerate(approximate):
        source = first.setdefault(tuple(token), i)
        result[i * d : (i + 1) * d] = result[source * d : (source + 1) * d]
        if len(centre) > n * d:
            result[n * d + i] = result[n * d + source]
    return result


def _newton(setting: Setting, approximate: Sequence[Sequence[float]]) -> list[Any] | None:
    unknowns: list[Any] = [arb(float(entry)) for token in approximate for entry in token]
    if setting.instance.system.space is not Space.EUCLIDEAN:
        tokens = tuple(tuple(arb(float(entry)) for entry in token) for token in approximate)
        push = setting.influence(tokens)
        unknowns += [setting.pair(x, u).mid() for x, u in zip(tokens, push, strict=True)]
    for _ in range(NEWTON_STEPS):
        values, slopes = _linearized(setting, unknowns)
        correction = slopes.solve(arb_mat([[value] for value in values]))
        unknowns = [(x - correction[i, 0]).mid() for i, x in enumerate(unknowns)]
        if all(abs(correction[i, 0]) < arb(2) ** (RADIUS - 20) for i in range(len(unknowns))):
            return unknowns
    return None


def _checked(setting: Setting, images: list[Any]) -> CertifiedZero | None:
    instance = setting.instance
    n, d = instance.n, instance.d
    tokens = tuple(tuple(images[i * d : (i + 1) * d]) for i in range(n))
    multipliers = tuple(images[n * d :])
    if instance.system.time is Time.MAP:
        alpha = setting.parameters["alpha"]
        if not all(1 + alpha * c > 0 for c in multipliers):
            return None
    radius = max(float(entry.rad()) for token in tokens for entry in token)
    return CertifiedZero(tokens, multipliers, radius)
