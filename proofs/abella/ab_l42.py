"""AB-L4.2: heights have bounded, uniformly continuous derivatives when P is bounded and uniformly continuous.

A composition argument; AB-X1 does not need it.  Reference: Lemma 4.2.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.flow_properties import speed_is_bounded
from eigentoken.proofs.tensor_reductions import applied
from eigentoken.proofs.textbook import UNIFORMLY_CONTINUOUS_COMPOSITION, words
from eigentoken.theory.conditions import BoundedInTime, PositiveDefinite, Symmetric, UniformlyContinuous
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement
from eigentoken.theory.steps import Citation, Derivation, Inequality
from eigentoken.theory.terms import matrix
from eigentoken.theory.words_flows import IsIdentity

W, U = matrix("W"), matrix("U")


def derive() -> Derivation:
    """The speed of a token is at most ``h / sqrt d`` in the W norm; the rest is composition."""
    y_i, y_j = sp.symbols("y_i y_j", real=True)
    s, weight, norm = sp.symbols("s a v", real=True)
    moved = y_j - s * y_i
    return Derivation(
        (
            applied(
                "orthogonal part",
                "Let $s = y_i^{\\top}Wy_j$. The vector $v_j = y_j - s\\,y_i$ is $W$-orthogonal to $y_i$: apply "
                "$y_i^{\\top}W$.",
                moved,
                {y_i: sp.Integer(1), y_j: s},
                sp.Integer(0),
            ),
            applied(
                "its length",
                "Apply $y_j^{\\top}W$ to $v_j$: since $v_j \\perp y_i$ this is $|v_j|_W^2 = 1 - s^2$.",
                moved,
                {y_i: s, y_j: sp.Integer(1)},
                1 - s**2,
                uses=("orthogonal part",),
            ),
            Inequality(
                name="speed",
                says="So $|v_j|_W \\le 1$, and a token moves at most with speed $A = \\sum_{\\eta, "
                "j}\\alpha^{\\eta}_{ij} = h/\\sqrt d$: each "
                "summand with weight $a \\ge 0$ contributes at most $a$.",
                hypotheses=(weight >= 0, norm >= 0, sp.Eq(norm**2, 1 - s**2)),
                conclusion=weight * norm <= weight,
                uses=("its length",),
                establishes=("tokens move with bounded speed",),
            ),
            words(
                "factors",
                "Tokens are bounded and move with bounded speed, so $v^{\\top}y_j$ and $y_i^{\\top}Wy_j$ are bounded "
                "and Lipschitz in "
                "time; $y_i^{\\top}P_{\\eta}(t)y_j$ is bounded and uniformly continuous because $P_{\\eta}$ is.",
                ("tokens move with bounded speed", "P is bounded in time", "P is uniformly continuous in time"),
                "the factors are bounded and uniformly continuous",
                uses=("speed",),
            ),
            words(
                "compact range",
                "The scores stay in $[-K^2b, K^2b]$ (AB-L4.1), where $\\exp$ and the quotient by the normaliser, "
                "which is bounded "
                "away from zero, are continuous.",
                ("AB-L4.1: scores and weights are bounded",),
                "the composition is continuous on a compact set",
            ),
            Citation(
                name="composition",
                says="Sums, products and continuous functions on compact sets keep uniform continuity.",
                theorem=UNIFORMLY_CONTINUOUS_COMPOSITION,
                uses=("factors", "compact range"),
                formula="f_i(t) = \\sum_{\\eta,j}\\alpha^{\\eta}_{ij}\\bigl(v^{\\top}y_j - "
                "(y_i^{\\top}Wy_j)\\,v^{\\top}y_i\\bigr)",
            ),
        )
    )


AB_L42 = register(
    Statement(
        id="AB-L4.2",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 4.2"),
        title="Heights have uniformly continuous derivatives",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W), IsIdentity(U), BoundedInTime("P"), UniformlyContinuous("P")),
        text="Along a solution of (11) the functions "
        "$f_i(t) = \\sum_{\\eta,j}\\alpha^{\\eta}_{ij}\\bigl(v^{\\top}y_j - (y_i^{\\top}Wy_j)\\,v^{\\top}y_i\\bigr)$ "
        "are bounded and "
        "uniformly continuous.",
        depends=("AB-L4.1",),
        facts=(
            "P is bounded in time",
            "P is uniformly continuous in time",
            "AB-L4.1: scores and weights are bounded",
        ),
        derive=derive,
        property_tests=(speed_is_bounded,),
    )
)
