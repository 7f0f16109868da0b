"""CL-12: causal attention with the identity as value matrix: almost every start tends to the first token.

It is AB-T5.1.  Reference: Karagodin-Polyanskiy-Rigollet, from a formalisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eigentoken.proofs.abella.ab_t51_causal_first_token import AB_T51
from eigentoken.proofs.abella.causal_examples import discrete_sphere_stays, unbounded_causal_freezes
from eigentoken.proofs.clusters.needed import first_token_moves
from eigentoken.proofs.clusters.sources import CAUSAL, recorded
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.token_fields import precise, random_units, sphere, turning
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.conditions import BoundedInTime, IsIdentity, Relation
from eigentoken.theory.language.terms import d, matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector

U = matrix("U")
CLAIMS = AB_T51.claims[1:]


def proof(kernel: Kernel) -> Proved:
    """Two claims of AB-T5.1: the first token rests, and almost every start tends to it."""
    known = kernel.recall(AB_T51)
    return kernel.conjunction(*(kernel.part(known, proposition(each)) for each in CLAIMS))


def angles_at_five() -> list[Any]:
    """``P = I``, weights that sum to one, angles (0, pi/2, 5/2)."""
    import mpmath

    start = [mpmath.mpf(0), mpmath.pi / 2, mpmath.mpf(5) / 2]
    return precise(lambda t, theta: turning(theta, (1, 1), causal=True), start, 5, 18)


def bad_third_angle() -> list[float]:
    """The start of the third token that tends to the antipode, for theta_2 = pi/2.

    Token 2 is followed forward; token 3 is followed backward in time from the antipode, where the antipode attracts.
    """
    from scipy.integrate import solve_ivp

    end = 42.0
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}

    def second(t: float, y: Any) -> list[float]:
        return [float(-np.sin(y[0]) / (1 + np.exp(1 - np.cos(y[0]))))]

    path = solve_ivp(second, (0.0, end), [np.pi / 2], dense_output=True, **options).sol

    def third(t: float, y: Any) -> list[float]:
        other = path(t)[0]
        weights = np.exp(np.cos(y[0] - np.array([0.0, other])) - 1)
        return [float(weights @ np.sin(np.array([0.0, other]) - y[0]) / (1 + weights.sum()))]

    found = float(solve_ivp(third, (end, 0.0), [np.pi], **options).y[0, -1])
    return [found, found - np.pi]


def later_tokens_do_not_matter(source: np.random.Generator) -> Mapping[str, float]:
    """Token 1 rests, and a token does not see later ones."""
    n, size = int(source.integers(2, 6)), int(source.integers(2, 5))
    x, score = random_units(source, n, size), source.normal(size=(size, size))
    speed = sphere(x, np.eye(size), score, causal=True)
    other = x.copy()
    other[-1] = random_units(source, 1, size)[0]
    changed = sphere(other, np.eye(size), score, causal=True)
    return {
        "token 1 moves": float(np.abs(speed[0]).max()),
        "a later token is seen": float(np.abs((speed - changed)[:-1]).max()),
    }


CL_12 = register(
    Statement(
        id="CL-12",
        kind=Kind.THEOREM,
        source=recorded(CAUSAL, "the identity as value matrix"),
        title="Causal attention with the identity as value matrix: everything tends to the first token",
        systems=("causal-flow",),
        conditions=(IsIdentity(U), BoundedInTime("P"), Relation(d >= 2)),
        claims=CLAIMS,
        proof=proof,
        depends=("AB-T5.1",),
        notes=(
            Remark(
                RemarkKind.SOURCE,
                r"The record does not ask for $d \ge 2$; on $S^0$ the pair $(1, -1)$ rests. Its weights sum to one: another unit "
                r"of time, which the vectors use.",
            ),
        ),
        vectors=(
            Vector("angles at t = 5", angles_at_five, ("0", "0.259277034220636", "0.595054183625373")),
            Vector(
                "bad third angle, and how far it is beyond the antipode",
                bad_third_angle,
                ("3.525859256040", "0.384266602450"),
            ),
        ),
        variants=(
            Variant(
                'BoundedInTime("P")',
                "$P(t) = e^{2t}I$ on the circle: the second token freezes.",
                unbounded_causal_freezes,
            ),
            Variant("IsIdentity(U)", "$U = \\operatorname{diag}(2, 1)$: the first token moves.", first_token_moves),
            Variant("Relation(d >= 2)", "On $S^0$ no token moves.", discrete_sphere_stays),
        ),
        property_tests=(OnInstances(later_tokens_do_not_matter),),
    )
)
