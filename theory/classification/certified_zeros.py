"""Certify an isolated equilibrium near a numerical one: Krawczyk's test in ball arithmetic.

Unknowns are the tokens and, on the sphere or ellipsoid, one multiplier c_i a token; the equations are
``u_i(x) = c_i x_i`` and ``x_i^T W x_i = 1`` (``u_i(x) = 0`` in Euclidean space).  If the Krawczyk operator maps a box
strictly into itself, the box has exactly one solution.  For a map the sign condition ``1 + alpha c_i > 0`` is then
checked on the box.  Equilibria that are not isolated cannot pass, and are left uncertified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import arb, arb_mat

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import ArithmeticSetting, Jet, ball_setting, sum_products
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.exactness.krawczyk import newton, zero_in_box
from eigentoken.theory.systems.algebra import LoopAlgebra, MaskValue, Number, Parameters
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["CertifiedZero", "certify_near", "rest_equations", "values_and_slopes"]

BITS = 192
RADIUS = -80
"the box has half-width 2^RADIUS around the Newton iterate"


@dataclass(frozen=True)
class CertifiedZero:
    """Balls around the tokens of a certified equilibrium; ``radius`` bounds its distance from their centres."""

    tokens: tuple[tuple[arb, ...], ...]
    multipliers: tuple[Any, ...]
    radius: float


def rest_equations(
    system: System,
    algebra: LoopAlgebra,
    parameters: Parameters,
    unknowns: Sequence[Number],
    n: int,
    d: int,
    mask: MaskValue,
) -> list[Number]:
    """``u_i - c_i x_i`` and ``x_i^T W x_i - 1``, or ``u_i`` in Euclidean space: zero at an equilibrium.

    The unknowns are the coordinates of the tokens, then the multipliers c_i.
    """
    tokens = tuple(tuple(unknowns[i * d : (i + 1) * d]) for i in range(n))
    push = system.influence(algebra, parameters, tokens, mask)
    if system.space is Space.EUCLIDEAN:
        return [entry for token in push for entry in token]
    metric = parameters[system.metric] if system.metric else None
    values = []
    for i, x in enumerate(tokens):
        values += [u - unknowns[n * d + i] * entry for u, entry in zip(push[i], x, strict=True)]
        turned = x if metric is None else [sum_products(row, x) for row in metric]
        values.append(sum_products(turned, x) - 1)
    return values


def values_and_slopes(rows: Sequence[Jet], size: int) -> tuple[list[arb], arb_mat]:
    """The values of jets, and the matrix of their derivatives by ``size`` variables."""
    return [row.value for row in rows], arb_mat([[row.slopes.get(c, arb(0)) for c in range(size)] for row in rows])


def _linearized(setting: ArithmeticSetting, unknowns: Sequence[Any]) -> tuple[list[Any], arb_mat]:
    instance = setting.instance
    jets = [Jet(value, {index: arb(1)}) for index, value in enumerate(unknowns)]
    rows = rest_equations(
        instance.system, setting.algebra(), setting.parameters, jets, instance.n, instance.d, instance.mask
    )
    return values_and_slopes(rows, len(unknowns))


def certify_near(instance: Instance, approximate: Sequence[Sequence[float]]) -> CertifiedZero | None:
    """The one equilibrium in a small box around a numerical one, or ``None`` where the test does not pass.

    Only the parameters and the mask of the instance are used, its tokens are not.  ``None`` for a system with a step of its
    own, whose equilibria are not the solutions of ``u_i = c_i x_i``.
    """
    if instance.system.writes_step:
        return None
    with precision(BITS):
        setting = ball_setting(instance, BITS)
        linearized = partial(_linearized, setting)
        centre = newton(linearized, _start(setting, approximate))
        if centre is None:
            return None
        centre = _symmetrised(instance, centre, approximate) if instance.system.standard else centre
        images = zero_in_box(linearized, centre, arb(2) ** RADIUS)
        return None if images is None else _checked(setting, images)


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


def _start(setting: ArithmeticSetting, approximate: Sequence[Sequence[float]]) -> list[Any]:
    """The tokens and, where there are multipliers, ``c_i = x_i^T W u_i``."""
    unknowns: list[Any] = [arb(float(entry)) for token in approximate for entry in token]
    if setting.instance.system.space is not Space.EUCLIDEAN:
        tokens = tuple(tuple(arb(float(entry)) for entry in token) for token in approximate)
        push = setting.influence(tokens)
        unknowns += [setting.pair(x, u).mid() for x, u in zip(tokens, push, strict=True)]
    return unknowns


def _checked(setting: ArithmeticSetting, images: list[Any]) -> CertifiedZero | None:
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
