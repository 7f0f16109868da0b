"""CL-6: minus the identity as value matrix: collapse to the origin, for every symmetric positive definite score matrix.

It is PH-T2 with ``A = W B^{-1} = -W``.  Reference: Geshkovski-et-al-clusters, from a formalisation, where ``W = I``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.needed import growing_ring, values_that_move_a_lone_token
from eigentoken.proofs.clusters.sources import EUCLIDEAN_CLUSTERS, recorded
from eigentoken.proofs.pham.late_mean import scaled_means
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.deterministic_data import as_floats, det_tokens
from eigentoken.proofs.properties.token_fields import Array, euclidean, precise, run
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import Zero
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector

B, W = matrix("B"), matrix("W")
SCORE = np.array([[2, 0.5], [0.5, 1]])


def _runs(times: list[float]) -> list[Array]:
    start: Array = np.array(as_floats(det_tokens(4, 2)))
    return [start, *run(lambda t, x: -euclidean(x, np.eye(2), SCORE), start, times)]


def first_token() -> list[float]:
    """``x_1`` at t = 1 and t = 100."""
    _, one, late = _runs([1.0, 100.0])
    return [float(each) for each in (*one[0], *late[0])]


def late_mean() -> list[float]:
    """The mean at t = 100, which is not exponentially small."""
    return [float(each) for each in _runs([100.0])[1].mean(axis=0)]


def energies() -> list[float]:
    """``1/2 sum x_i^T P x_i`` at 0, 1, 10, 100."""
    return [float(np.sum(x @ SCORE * x)) / 2 for x in _runs([1.0, 10.0, 100.0])]


def growing_pair() -> list[Any]:
    """``P = -1``, tokens +-1 at t = 3: ``x' = x tanh x^2``."""
    import mpmath

    return precise(lambda t, x: [x[0] * mpmath.tanh(x[0] ** 2)], [1], 3)


def negative_scores_diverge() -> Verdict:
    """``B = W = -1``, tokens +-x: the velocity of x is ``x tanh x^2 > 0``."""
    x = sp.Symbol("x", positive=True)
    minus = ((sp.Integer(-1),),)
    speed = velocity("token-flow", {"B": minus, "W": minus}, ((x,), (-x,)))[0][0]
    if sp.simplify((speed - x * sp.tanh(x**2)).rewrite(sp.exp)) == 0:
        return holds("two tokens +-x move apart with x tanh x^2")
    return fails(f"the velocity is {speed}")


def energy_falls(source: np.random.Generator) -> Mapping[str, float]:
    """``1/2 sum x_i^T P x_i`` does not grow."""
    n, d = int(source.integers(1, 6)), int(source.integers(1, 5))
    root, x = source.normal(size=(d, d)), source.normal(size=(n, d)) * 2
    score = root @ root.T + 0.1 * np.eye(d)
    return {
        "energy grows": float(np.sum(-euclidean(x, np.eye(d), score) @ score * x))
        / max(1.0, float(np.sum(x @ score * x)))
    }


CL_6 = register(
    Statement(
        id="CL-6",
        kind=Kind.EXTENSION,
        source=recorded(EUCLIDEAN_CLUSTERS, "minus the identity as value matrix"),
        title="Value matrix minus the identity: collapse to the origin",
        systems=("token-flow",),
        conditions=(IsIdentity(-B), Symmetric(W), PositiveDefinite(W)),
        claims=(Converges(Zero()),),
        text=r"The attention matrix tends to $\frac1n\mathbf 1\mathbf 1^{\top}$.",
        depends=("PH-T2",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Unless all tokens coincide the deviations decay like $t^{-1/2}$ and the mean, for three or more tokens in "
                r"general, like $t^{-5/2}$: no exponential rate can be fitted (see PH-T2 and the vectors).",
            ),
            Remark(
                RemarkKind.SOURCE,
                r"The recorded form has the identity for scores; any symmetric positive definite matrix will do, and for two "
                r"tokens "
                r"and more among symmetric ones no other (PH-T2).",
            ),
        ),
        vectors=(
            Vector(
                "x_1 at t = 1 and t = 100",
                first_token,
                ("0.137756908739", "-0.324657263068", "0.014002862342", "-0.084771314553"),
            ),
            Vector(
                "energy at t = 0, 1, 10, 100",
                energies,
                ("1.572486589569", "0.725932060165", "0.149747593425", "0.019174079103"),
            ),
            Vector(
                "d = 1, P = 1, tokens -1, 0.3, 1.2: t^{5/2} times the mean at t = 100, 1000, 3000",
                lambda: scaled_means(("-1", "0.3", "1.2"), (1e2, 1e3, 3e3)),
                ("0.01361", "0.01352", "0.01352"),
            ),
            Vector("the mean at t = 100", late_mean, ("1.55E-7", "-3.25E-7")),
            Vector("P = -1, tokens +-1 at t = 3", growing_pair, ("19.0471539891588",)),
        ),
        variants=(
            Variant("IsIdentity(-B)", "$B = I$: equal tokens grow.", values_that_move_a_lone_token),
            Variant(
                "Symmetric(W)",
                "$W$ a rotation with cosine $\\frac5{13}$, three tokens on a ring of radius 2: the ring grows.",
                growing_ring,
            ),
            Variant("PositiveDefinite(W)", "$W = B = -1$, tokens $\\pm x$: they move apart.", negative_scores_diverge),
        ),
        property_tests=(OnInstances(energy_falls),),
    )
)
