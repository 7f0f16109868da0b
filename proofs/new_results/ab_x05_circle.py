"""AB-X5: at most four tokens on the circle: every critical point but consensus has a direction of positive curvature.

Own derivation; for more tokens the theorem of Criscitiello-et-al is cited.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import IsIdentity, Relation
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix, n
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Argument, Derivation, Identity, Inequality

P = matrix("P")
COS = sp.Symbol("c", real=True)


def bend(angles: Any) -> Any:
    """``H(theta) = e^c (1 - c - c^2)``, ``c = cos theta``."""
    c = np.cos(angles)
    return np.exp(c) * (1 - c - c * c)


def hessian(angles: Any) -> Any:
    """The Hessian of ``E = 1/2 sum e^{cos(theta_i - theta_j)}``."""
    found = -bend(angles[:, None] - angles[None])
    np.fill_diagonal(found, 0.0)
    return found - np.diag(found.sum(axis=1))


def largest() -> list[float]:
    """The largest eigenvalue at the antipodal pair, the regular triangle and the square."""
    return [float(np.linalg.eigvalsh(hessian(2 * np.pi * np.arange(m) / m))[-1]) for m in (2, 3, 4)]


def derive() -> Derivation:
    """The second derivative of a pair, its sign, and the sum of gaps."""
    root = sp.Symbol("q", positive=True)
    return Derivation(
        (
            Identity(
                name="curvature of a pair",
                says="Rotating a subset, each pair with one token in it contributes $\\frac{d^2}{d\\theta^2}e^{\\cos\\theta} = "
                "e^c(s^2 - c)$ with $s^2 = 1 - c^2$.",
                left=(1 - COS) * (1 + COS) - COS,
                right=1 - COS - COS**2,
            ),
            Inequality(
                name="its sign",
                says="$1 - c - c^2 \\ge 0$ for $-1 \\le c \\le \\frac{q - 1}2$, $q = \\sqrt5$, and $> 0$ below.",
                hypotheses=(sp.Eq(root**2, 5), COS >= -1, (root - 1) / 2 > COS),
                conclusion=1 - COS - COS**2 > 0,
                uses=("curvature of a pair",),
            ),
            Inequality(
                name="four gaps",
                says="If all gaps are below $180^{\\circ}$ and at most one is at least $51.83^{\\circ}$, four of them "
                "sum to less than "
                "$360^{\\circ}$: so two gaps are, and the cut between them has positive curvature.",
                hypotheses=tuple(
                    sp.Symbol(name, real=True) < limit
                    for name, limit in zip("wxyz", (180, *(sp.Rational(5183, 100),) * 3), strict=True)
                ),
                conclusion=sum(sp.Symbol(name, real=True) for name in "wxyz") < 360,
                uses=("its sign",),
            ),
            Argument(
                name="the rest",
                says="With a gap of at least a half circle a critical point is consensus or an antipodal split, whose "
                "cut has the curvature $1/e$ for each pair; null basins as in AB-X0.",
                uses=("four gaps",),
            ),
        )
    )


def positive_somewhere(source: np.random.Generator) -> Mapping[str, float]:
    """The Hessian is that of E (through its quadratic form along a cut), and two wide gaps give a positive cut."""
    count = int(source.integers(2, 5))
    angles = np.sort(source.uniform(0, 2 * np.pi, size=count))
    side = source.integers(0, 2, size=count).astype(float)
    form = float(side @ hessian(angles) @ side)
    cut = sum(float(bend(angles[i] - angles[j])) for i in range(count) for j in range(count) if side[i] > side[j])
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    wide = np.flatnonzero(gaps >= np.arccos((np.sqrt(5) - 1) / 2))
    found = {"a cut": gap(form, cut)}
    if len(wide) >= 2 and gaps.max() < np.pi:
        inside = ((np.arange(count) > wide[0]) & (np.arange(count) <= wide[1])).astype(float)
        found["two wide gaps"] = -float(inside @ hessian(angles) @ inside)
    return found


def _turning_angle() -> list[sp.Expr]:
    """``H = e^c (1 - c - c^2) = 0`` at ``c = (sqrt 5 - 1)/2``."""
    return [sp.acos((sp.sqrt(5) - 1) / 2) * 180 / sp.pi]


AB_X5 = register(
    Statement(
        id="AB-X5",
        kind=Kind.LEMMA,
        source=Source(HERE, "the circle without a special citation"),
        title="At most four tokens on the circle: strict saddles but for consensus",
        systems=("ellipsoid-flow",),
        conditions=(IsIdentity(P), Relation(sp.Eq(d, 2)), Relation(n <= 4)),
        claims=(AlmostEveryConverges(ConsensusSet()),),
        claims_from=(("the rest",),),
        text=r"Every critical point of $E = \frac12\sum_{ij}e^{\cos(\theta_i - \theta_j)}$ that is no consensus has a "
        r"direction of positive "
        r"second derivative; so almost every start reaches consensus.",
        depends=("AB-X0",),
        derive=derive,
        prose_from=("the rest",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "One gap of at least a half circle (then critical means consensus or an antipodal split) is settled by hand. For "
                "five tokens and more the theorem of Criscitiello, Rebjock, McRae and Boumal is needed.",
            ),
        ),
        vectors=(
            Vector("largest eigenvalues of the Hessian", largest, ("0.735758882343", "2.274489973922", "4")),
            Vector("the angle from which on H is not negative, in degrees", _turning_angle, ("51.8273",)),
        ),
        property_tests=(OnInstances(positive_somewhere),),
    )
)
