"""Is there an equilibrium near the state that a run reached, and is it stable?  Answered with proof, or not at all.

The unknowns are the tokens and the multipliers: ``u_i(x) = c_i x_i`` and ``x_i^T W x_i = 1``.  A Krawczyk operator in
ball arithmetic (python-flint) shows that a small box around the floating-point state holds exactly one solution; a
quadratic form proposed in floating point and checked in balls then decides stability (Lyapunov or Stein, with the
inertia theorem for instability).  Parameters are taken as exact binary numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from flint import arb, arb_mat, ctx
from torch import Tensor

from eigentoken.documents.certificate import Box, Form
from eigentoken.documents.simulation_document import EquilibriumNear
from eigentoken.numerics.dynamics.matrices import dense
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.dynamics.torch_algebra import mask_tensor
from eigentoken.theory.classification.certified_zeros import rest_equations, values_and_slopes
from eigentoken.theory.classification.jacobians import Jet, jet_algebra
from eigentoken.theory.exactness.krawczyk import box_around, newton, positive_definite, zero_in_box
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictAnswer, fails, holds, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["CertifiedEquilibrium", "certify_equilibrium"]

JETS = jet_algebra(arb.exp, arb.sqrt, arb(1))
DRIFT = 0.01
"how far a certified equilibrium may be from the state that was given"


@dataclass(frozen=True)
class CertifiedEquilibrium:
    """``exists``: one equilibrium (one 2-cycle x -> -x if ``cycle``) in the box ``centre +- radius``; is it stable?"""

    exists: Verdict
    stable: Verdict
    centre: list[list[float]]
    radius: float
    cycle: bool = False

    def as_dict(self) -> EquilibriumNear:
        return {
            "exists": self.exists.as_dict(),
            "stable": self.stable.as_dict(),
            "centre": self.centre,
            "radius": self.radius,
            "two_cycle": self.cycle,
        }


def certify_equilibrium(
    problem: Problem, x: Tensor, *, bits: int = 128, radius: float | None = None, largest: int = 160
) -> CertifiedEquilibrium:
    """Certify the equilibrium of a flow, the fixed point of a map, or the sign-flipping 2-cycle of a map, near ``x``.

    Equilibria that are not isolated (consensus when the values are the identity, marginal polygons) are ``undecided``.
    """
    if not problem.autonomous:
        raise ValueError(f"{problem.system.name}: parameters depend on time, so there is no equilibrium to certify")
    if "pair_score" in problem.parameters:
        raise ValueError(f"{problem.system.name}: rotary scores are not certified; leave pair_score out")
    n, d = x.shape
    centre = [[float(entry) for entry in row] for row in x.tolist()]
    if problem.system.writes_step:
        nothing = undecided(
            f"{problem.system.name} has a step of its own: its equilibria are not those of u_i = c_i x_i"
        )
        return CertifiedEquilibrium(nothing, nothing, centre, 0.0)
    if n * (d + 1) > largest:
        nothing = undecided(f"{n} tokens in R^{d} give {n * (d + 1)} unknowns, above the limit of {largest}")
        return CertifiedEquilibrium(nothing, nothing, centre, 0.0)
    old = ctx.prec
    ctx.prec = bits
    try:
        return _certify(_BallSystem(problem, n, d), x, centre, radius)
    finally:
        ctx.prec = old


class _BallSystem:
    """The equations of an equilibrium in balls, with derivatives."""

    def __init__(self, problem: Problem, n: int, d: int) -> None:
        self.problem, self.n, self.d = problem, n, d
        self.euclidean = problem.system.space is Space.EUCLIDEAN
        self.is_map = problem.system.time is Time.MAP
        self.size = n * d if self.euclidean else n * (d + 1)
        allowed = mask_tensor(problem.mask, n)
        self.mask = None if allowed is None else [[int(entry) for entry in row] for row in allowed.tolist()]
        self.parameters = _as_balls(problem.parameters)
        metric = problem.metric()
        self.metric = None if metric is None else _as_balls(metric)

    def linearized(self, z: Sequence[arb]) -> tuple[list[arb], arb_mat]:
        """Values and Jacobian of ``u_i = c_i x_i``, ``x_i^T W x_i = 1`` at the balls ``z``."""
        jets = [Jet(value, {index: arb(1)}) for index, value in enumerate(z)]
        rows = rest_equations(self.problem.system, JETS, self.parameters, jets, self.n, self.d, self.mask)
        return values_and_slopes(rows, self.size)

    def linearization(self, z: Sequence[arb]) -> arb_mat:
        """The ambient Jacobian of ``f(pi(x))`` at the balls ``z``: its tangent block is the intrinsic one.

        Normal directions are sent to 0 by a map; for a flow ``x_i x_i^T W`` is subtracted, so that they decay: in both
        cases they do not touch the stability of the tangent block (the ambient matrix is block triangular).
        """
        width = self.n * self.d
        jets = [Jet(value, {index: arb(1)}) for index, value in enumerate(z[:width])]
        x = tuple(tuple(jets[i * self.d : (i + 1) * self.d]) for i in range(self.n))
        on = x if self.euclidean else JETS.normalise(x, self.metric)
        moved = self.problem.system.advance(JETS, self.parameters, on, self.mask)
        _, J = values_and_slopes([entry for token in moved for entry in token], width)
        if self.euclidean or self.is_map:
            return J
        for i in range(self.n):
            block = list(z[i * self.d : (i + 1) * self.d])
            weighted = [
                sum((self.metric[a][b] * block[b] for b in range(self.d)), arb(0)) if self.metric else block[a]
                for a in range(self.d)
            ]
            for a in range(self.d):
                for b in range(self.d):
                    J[i * self.d + a, i * self.d + b] = J[i * self.d + a, i * self.d + b] - block[a] * weighted[b]
        return J


def _certify(balls: _BallSystem, x: Tensor, centre: list[list[float]], radius: float | None) -> CertifiedEquilibrium:
    z = _settled(balls, x)
    if z is None:
        nothing = undecided("Newton's iteration did not settle: no isolated equilibrium nearby, or a singular one")
        return CertifiedEquilibrium(nothing, undecided(nothing.reason), centre, 0.0)
    for size in [radius] if radius is not None else [1e-25, 1e-18, 1e-12, 1e-8]:
        if zero_in_box(balls.linearized, z, size) is not None:
            return _conclude(balls, box_around(z, size), size)
    nothing = undecided("the Krawczyk operator does not map a box into itself: the equilibrium may not be isolated")
    return CertifiedEquilibrium(nothing, undecided(nothing.reason), centre, 0.0)


def _settled(balls: _BallSystem, x: Tensor) -> list[arb] | None:
    """Newton's iterate from the state, where it stays near it."""
    start = [arb(float(entry)) for entry in x.flatten().tolist()]
    if not balls.euclidean:
        push = balls.problem.influence(x)
        weighted = x if balls.problem.metric() is None else x @ dense(balls.problem.metric(), x).mT
        start += [arb(float(c)) for c in (weighted * push).sum(-1).tolist()]
    z = newton(balls.linearized, start)
    near = z is not None and all(abs(z[k] - start[k]) < DRIFT for k in range(balls.n * balls.d))
    return z if near else None


def _conclude(balls: _BallSystem, box: list[arb], size: float) -> CertifiedEquilibrium:
    n, d = balls.n, balls.d
    centre = [[float(box[i * d + k].mid()) for k in range(d)] for i in range(n)]
    cycle = False
    if balls.is_map and not balls.euclidean:
        alpha = _as_balls(balls.problem.parameters["alpha"])
        factors = [1 + alpha * box[n * d + i] for i in range(n)]
        if all(factor < 0 for factor in factors) and balls.problem.system.standard:
            cycle = True
        elif not all(factor > 0 for factor in factors):
            how = "are all negative" if all(factor < 0 for factor in factors) else "differ"
            reason = (
                f"u_i = c_i x_i has a solution here, but the signs of 1 + alpha c_i {how}: not a fixed point of the map"
            )
            mixed = undecided(reason) if any(factor.contains(0) for factor in factors) else fails(reason)
            return CertifiedEquilibrium(mixed, undecided(reason), centre, size)
    data: Box = {
        "system": balls.problem.system.name,
        "n": n,
        "d": d,
        "parameters": _hexadecimal(balls.problem.parameters),
        "mask": balls.mask,
        "centre": [box[k].mid().str(40, radius=False) for k in range(balls.size)],
        "radius": repr(size),
        "cycle": cycle,
    }
    what = "2-cycle" if cycle else "equilibrium"
    certificate = Certificate("equilibrium-krawczyk", f"exactly one {what} in the box", VerdictAnswer.HOLDS, data=data)
    exists = holds(f"the box of radius {size:.0e} holds exactly one {what} (Krawczyk)", certificate=certificate)
    return CertifiedEquilibrium(exists, _stability(balls, box, data), centre, size, cycle)


def _stability(balls: _BallSystem, box: list[arb], found: Box) -> Verdict:
    """Lyapunov (flow) or Stein (map): S with ``-(J^T S + S J) > 0``, resp. ``S - J^T S J > 0``, and the inertia of S.

    For a 2-cycle x -> -x oddness makes x a fixed point of -f, and the sign of J does not matter.  ``found`` is the data
    of the certificate of the equilibrium, which the certificate of stability carries along.
    """
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    J = balls.linearization(box)
    size = J.nrows()
    middle = np.array([[float(J[r, c].mid()) for c in range(size)] for r in range(size)])
    try:
        if balls.is_map:
            S = solve_discrete_lyapunov(middle.T, np.eye(size))
        else:
            S = solve_continuous_lyapunov(middle.T, -np.eye(size))
    except (np.linalg.LinAlgError, ValueError):
        return undecided("the Lyapunov equation is singular: an eigenvalue may lie on the boundary")
    S = (S + S.T) / 2
    if not np.isfinite(S).all():
        return undecided("the Lyapunov equation has no finite solution: an eigenvalue may lie on the boundary")
    form = arb_mat(size, size, [arb(float(S[r, c])) for r in range(size) for c in range(size)])
    decrease = form - J.transpose() * form * J if balls.is_map else -(J.transpose() * form + form * J)
    if not positive_definite(decrease):
        return undecided("the proposed Lyapunov form does not decrease on the whole box")
    kind: Literal["map", "flow"] = "map" if balls.is_map else "flow"
    if positive_definite(form):
        data: Form = {"form": S.tolist(), "kind": kind, "equilibrium": found}
        certificate = Certificate("equilibrium-lyapunov", "asymptotically stable", VerdictAnswer.HOLDS, data=data)
        return holds("a positive definite form decreases under the linearization", certificate=certificate)
    _, vectors = np.linalg.eigh(S)
    v = arb_mat(size, 1, [arb(float(entry)) for entry in vectors[:, 0]])
    if (v.transpose() * form * v)[0, 0] < 0:
        data = {"form": S.tolist(), "direction": vectors[:, 0].tolist(), "kind": kind, "equilibrium": found}
        certificate = Certificate("equilibrium-lyapunov", "asymptotically stable", VerdictAnswer.FAILS, data=data)
        return fails(
            "an indefinite form decreases: some eigenvalue is unstable (inertia theorem)", certificate=certificate
        )
    return undecided("the sign of the proposed Lyapunov form is not certain")


def _hexadecimal(value: Any) -> Any:
    """Parameters as exact text: every float in hexadecimal."""
    if isinstance(value, Tensor):
        return _hexadecimal(value.tolist())
    if hasattr(value, "dense"):
        return _hexadecimal(value.dense())
    if isinstance(value, dict):
        return {name: _hexadecimal(entry) for name, entry in value.items() if name != "pair_score"}
    if isinstance(value, list | tuple):
        return [_hexadecimal(entry) for entry in value]
    return None if value is None else float(value).hex()


def _as_balls(value: Any) -> Any:
    if isinstance(value, Tensor):
        return _as_balls(value.tolist()) if value.ndim else arb(float(value))
    if hasattr(value, "dense"):
        return _as_balls(value.dense())
    if isinstance(value, dict):
        return {name: _as_balls(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_as_balls(entry) for entry in value]
    if callable(value) or value is None:
        return value
    return arb(float(value))
