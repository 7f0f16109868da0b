"""CT-7: polygonal points of the attention flow need not be unstable.  Own derivation.

Half of the tokens at w and half at -w, with ``w^T M w = 0``, is a state with flat scores and sum zero.  With ``omega = P_w V w``,
``rho = P_w M w`` and ``rho' = P_w M^T w`` the linearisation is that of ``omega rho^T`` on differences within a half, of
``V + omega rho^T`` where both halves move together, and of ``omega (rho + rho')^T`` where they move against each other.
"""

from __future__ import annotations

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.flat_polygons import LINEARISED, RESTS, proof
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.point_checks import antipodal_points_of_the_flow
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, SourceKind, Statement, Vector

TV10_FLOW = instance(
    "attention-flow", [["1", "0"], ["-1", "0"]], V=[["2", "1"], ["1", "2"]], M=[["0", "0"], ["-3", "0"]]
)


CT_7 = register(
    Statement(
        id="CT-7",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemma 15"),
        title="Polygonal points of the attention flow",
        systems=("attention-flow",),
        claims=(Formula(RESTS), Formula(LINEARISED)),
        depends=("CT-1",),
        proof=proof,
        printed=Printed(
            text=r"All polygonal equilibria are unstable (Lemma 15, read for the flow).",
            wrong=r"False, for the same reason as for the map.",
            kind=SourceKind.FORMALISED,
            counterexamples=(
                Counterexample(
                    "TV10",
                    r"$V = \big(\begin{smallmatrix}2&1\\1&2\end{smallmatrix}\big)$, $M = "
                    r"\big(\begin{smallmatrix}0&0\\-3&0\end{smallmatrix}\big)$, $x = (e_1, -e_1)$: $\{-3, -1\}$.",
                    TV10_FLOW,
                    lambda: point_is(TV10_FLOW, "polygonal", stable="stable"),
                ),
            ),
        ),
        vectors=(Vector("TV10", lambda: multipliers(TV10_FLOW), decimals("-3", "-1")),),
        property_tests=(OnInstances(antipodal_points_of_the_flow),),
    )
)
