"""Re-check of certified equilibria: a Krawczyk test and a Lyapunov or Stein inequality, in balls of our own.

Unknowns are the tokens and multipliers: ``u_i(x) = c_i x_i`` and ``x_i^T W x_i = 1`` (Euclidean: ``u_i = 0``).  If
``z - C g(z) + (I - C G(box)) (box - z)`` lies inside the box, it holds exactly one solution (Krawczyk, Moore).  At a solution
the retraction is the identity, so with ``Q_i = I - x_i (W x_i)^T`` and ``D_ik = d u_i / d x_k`` the linearization is

    flow: ``Q_i D_ik Q_k - [i = k] (c_i Q_i + x_i (W x_i)^T)``,
    map: ``Q_i ([i = k] I + alpha D_ik) Q_k / |1 + alpha c_i|``,

where directions normal to the space decay (flow: -1, map: 0).  ``S > 0`` with ``-(J^T S + S J) > 0`` (map:
``S - J^T S J > 0``) is asymptotic stability; the same with ``v^T S v < 0`` for one v is an unstable eigenvalue (Ostrowski
and Schneider; Taussky).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import flint
import numpy as np

from eigentoken.numerics.recheck.documents.reading import CertificateDocument, RecheckError, unconfirmed
from eigentoken.numerics.recheck.points.attention import SHAPES, Attention, not_written, read_attention

__all__ = ["confirm_equilibrium"]

arb, arb_mat = flint.arb, flint.arb_mat
PRECISION = 192


def confirm_equilibrium(document: CertificateDocument) -> str | None:
    """None if the box holds one equilibrium (and the form decides its stability), else why not."""
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        base = document.data if document.kind == "equilibrium-krawczyk" else document.data.get("equilibrium")
        if not isinstance(base, Mapping):
            return unconfirmed("nothing: the certificate of stability does not carry its equilibrium")
        if base.get("system") not in SHAPES:
            return unconfirmed(not_written(base.get("system")))
        if document.kind == "equilibrium-krawczyk":
            return _exists(document, base)
        why = _exists(document, base, answer=None)
        return why if why is not None else _stable(document, base)
    finally:
        flint.ctx.prec = old


class _Box:
    def __init__(self, data: Mapping[str, Any]) -> None:
        self.system: Attention = read_attention(data)
        n, d = self.system.n, self.system.d
        self.size = n * d + (0 if self.system.shape.euclidean else n)
        centre = [arb(str(text)).mid() for text in data["centre"]]
        radius = arb(str(data["radius"]))
        if len(centre) != self.size or not radius > 0 or not all(c.is_finite() for c in centre):
            raise RecheckError("the box does not fit the system")
        self.centre = centre
        self.box = [c + arb(0, radius.upper()) for c in centre]

    def tokens(self, z: list[Any]) -> list[Any]:
        d = self.system.d
        return [arb_mat(d, 1, z[i * d : (i + 1) * d]) for i in range(self.system.n)]

    def equations(self, z: list[Any]) -> tuple[list[Any], Any]:
        """Values and Jacobian of the square system."""
        system = self.system
        n, d = system.n, system.d
        x = self.tokens(z)
        u, slopes = system.push(x)
        jacobian = [[arb(0)] * self.size for _ in range(self.size)]
        for i in range(n):
            for k in range(n):
                for a in range(d):
                    jacobian[i * d + a][k * d : (k + 1) * d] = [slopes[i][k][a, b] for b in range(d)]
        if system.shape.euclidean:
            return [u[i][a, 0] for i in range(n) for a in range(d)], arb_mat(jacobian)
        values, norms = [], []
        for i in range(n):
            c, weighed = z[n * d + i], system.weigh(x[i])
            for a in range(d):
                values.append(u[i][a, 0] - c * x[i][a, 0])
                jacobian[i * d + a][i * d + a] -= c
                jacobian[i * d + a][n * d + i] = -x[i][a, 0]
                jacobian[n * d + i][i * d + a] = 2 * weighed[a, 0]
            norms.append((x[i].transpose() * weighed)[0, 0] - 1)
        return values + norms, arb_mat(jacobian)


def _exists(document: CertificateDocument, data: Mapping[str, Any], answer: str | None = "holds") -> str | None:
    if answer is not None:
        what = "2-cycle" if data["cycle"] else "equilibrium"
        if document.verdict != answer or document.condition != f"exactly one {what} in the box":
            return "a Krawczyk test supports that a box holds exactly one equilibrium"
    box = _Box(data)
    n, d = box.system.n, box.system.d
    values, _ = box.equations(box.centre)
    _, slopes = box.equations(box.box)
    inverse = _float_inverse(slopes)
    if inverse is None:
        return unconfirmed("a Krawczyk test, with a singular derivative")
    step = inverse * arb_mat(box.size, 1, values)
    left = (
        arb_mat(box.size, box.size, [int(r == c) for r in range(box.size) for c in range(box.size)]) - inverse * slopes
    )
    spread = left * arb_mat(box.size, 1, [b - c for b, c in zip(box.box, box.centre, strict=True)])
    for k in range(box.size):
        image = box.centre[k] - step[k, 0] + spread[k, 0]
        if not box.box[k].contains_interior(image):
            moved = abs(step[k, 0]) > 2 * abs(box.box[k] - box.centre[k]) + abs(spread[k, 0])
            return "the box is not mapped into itself" if moved else unconfirmed("a Krawczyk test on the box")
    if not box.system.shape.is_map:
        return None if data["cycle"] is False else "a flow has no 2-cycle of signs"
    factors = [1 + box.system.alpha * box.box[n * d + i] for i in range(n)]
    fine = all(f < 0 for f in factors) if data["cycle"] else all(f > 0 for f in factors)
    return None if fine else "the signs of 1 + alpha c_i are not those of the certificate"


def _float_inverse(matrix: Any) -> Any:
    size = matrix.nrows()
    middle = np.array([[float(matrix[r, c].mid()) for c in range(size)] for r in range(size)])
    try:
        inverse = np.linalg.inv(middle)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None
    return arb_mat(size, size, [float(v) for v in inverse.ravel()])


def _linearization(box: _Box) -> Any:
    system = box.system
    n, d = system.n, system.d
    x = box.tokens(box.box)
    _, slopes = system.push(x)
    size = n * d
    rows = [[arb(0)] * size for _ in range(size)]
    one = arb_mat(d, d, [int(r == c) for r in range(d) for c in range(d)])
    normal = [arb_mat(d, d) if system.shape.euclidean else x[i] * system.weigh(x[i]).transpose() for i in range(n)]
    for i in range(n):
        for k in range(n):
            block = slopes[i][k]
            if system.shape.is_map:
                block = block * system.alpha + (one if i == k else arb_mat(d, d))
            block = (one - normal[i]) * block * (one - normal[k])
            if system.shape.is_map:
                block = block * (1 / abs(1 + system.alpha * box.box[n * d + i]))
            elif i == k and not system.shape.euclidean:
                block = block - (one - normal[i]) * box.box[n * d + i] - normal[i]
            for a in range(d):
                rows[i * d + a][k * d : (k + 1) * d] = [block[a, b] for b in range(d)]
    return arb_mat(rows)


def _stable(document: CertificateDocument, base: Mapping[str, Any]) -> str | None:
    data = document.data
    if document.condition != "asymptotically stable" or document.verdict not in ("holds", "fails"):
        return "a form supports that an equilibrium is, or is not, asymptotically stable"
    box = _Box(base)
    if data.get("kind") != ("map" if box.system.shape.is_map else "flow"):
        return "the form is about another kind of time"
    size = box.system.n * box.system.d
    entries = [[float(v) for v in row] for row in data["form"]]
    if len(entries) != size or any(len(row) != size for row in entries) or not np.isfinite(entries).all():
        return "the form does not fit the system"
    if any(entries[r][c] != entries[c][r] for r in range(size) for c in range(r)):
        return "the form is not symmetric"
    form = arb_mat(entries)
    J = _linearization(box)
    decrease = form - J.transpose() * form * J if box.system.shape.is_map else -(J.transpose() * form + form * J)
    found = _definite(decrease)
    if found is not True:
        return unconfirmed("the decrease of the form") if found is None else "the form does not decrease"
    if document.verdict == "holds":
        found = _definite(form)
        if found is not True:
            return unconfirmed("the sign of the form") if found is None else "the form is not positive definite"
        return None
    v = arb_mat(size, 1, [float(entry) for entry in data["direction"]])
    value = (v.transpose() * form * v)[0, 0]
    if value < 0:
        return None
    return "the form is not negative in the direction" if value >= 0 else unconfirmed("the sign of the form")


def _definite(matrix: Any) -> bool | None:
    """Positive definite by elimination in balls: True, shown not to be (a pivot below zero), or None."""
    size = matrix.nrows()
    rows = [[(matrix[r, c] + matrix[c, r]) / 2 for c in range(size)] for r in range(size)]
    for k in range(size):
        pivot = rows[k][k]
        if not pivot > 0:
            return False if pivot < 0 else None
        for r in range(k + 1, size):
            factor = rows[r][k] / pivot
            for c in range(k + 1, size):
                rows[r][c] = rows[r][c] - factor * rows[k][c]
    return True
