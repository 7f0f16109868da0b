"""PM-L12: the Jacobian of the attention map at a bipartite point; only s = v_k^T M v_k of M enters.

Reference: Li-Altafini, Lemma 12, eqs. (18)-(19).
"""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.bipartite import one_moved
from eigentoken.proofs.power_method.symbols import G2, G3, M1, M2, Z1, Z2, E, V, alpha
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.jacobian_checks import bipartite_jacobian
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation

FORMULA = (
    r"J_{ii}\xi = \left(<1>,\ <2>,\ <3>\right),\quad J_{ji}\xi = \left(<4>,\ <5>,\ <6>\right)\ (\text{same "
    r"side}),\quad J_{ji}\xi = \left(<7>,\ <8>,\ <9>\right)\ (\text{other side})"
)


def derive() -> Derivation:
    """One token moved along any tangent vector, with an arbitrary score matrix."""
    near, far = alpha * E / Z1 / M1, alpha / E / Z2 / M2
    back_near, back_far = alpha * E / Z2 / M2, alpha / E / Z1 / M1
    words = (
        "is moved along a unit tangent $\\xi$, $V\\xi = g_2\\xi + g_3\\xi'$, with every entry of $M$ an independent "
        "symbol ($E = e^s$, $m_i > 0$). All entries of $M$ but $s$ drop out: the result is "
        "$\\frac{1}{m_i}(\\delta_{il}\\xi + \\alpha a_{il} V\\xi)$ with the weights of PM-L9."
    )
    return Derivation(
        (
            grouped(
                "first side",
                f"A token at $v_k$ {words}",
                one_moved("attention-map", (M1, M2), 1),
                (0, 1 / M1 + near * G2, near * G3, 0, near * G2, near * G3, 0, far * G2, far * G3),
                FORMULA,
            ),
            grouped(
                "second side",
                f"A token at $-v_k$ {words}",
                one_moved("attention-map", (M1, M2), -1),
                (
                    0,
                    1 / M2 + back_near * G2,
                    back_near * G3,
                    0,
                    back_near * G2,
                    back_near * G3,
                    0,
                    back_far * G2,
                    back_far * G3,
                ),
                FORMULA,
                establishes=("the Jacobian at a bipartite point depends on M only through s",),
            ),
        )
    )


PM_L12 = register(
    Statement(
        id="PM-L12",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 12, eqs. (18)-(19)"),
        title="The Jacobian of the attention map at a bipartite point",
        systems=("attention-map",),
        conditions=(Symmetric(V),),
        text=(
            r"At $x_i = \sigma_i v_k$ with $m_i = 1 + \alpha\lambda_k b_i \in \{m_1, m_2\}$, $m_i > 0$, the blocks on "
            r"the tangent space are $J_{il} = \frac{1}{m_i} P_{v_k}(\delta_{il} I + \alpha a_{il} V)$. The "
            r"derivatives of the attention weights are all along $v_k$ and drop out, so the stability of a bipartite "
            r"point depends on $M$ only through the number $s = v_k^{\top} M v_k$. (For $m_i < 0$ put $|m_i|$: "
            r"PM-N4'.)"
        ),
        depends=("PM-L9",),
        derive=derive,
        prose_from=("first side", "second side"),
        property_tests=(OnInstances(bipartite_jacobian),),
    )
)
