"""CT-7: polygonal points of the attention flow need not be unstable.  Own derivation."""

from __future__ import annotations

from typing import Any

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.antipodal import AGAINST, OMEGA2, OMEGA3, PAIR, TOGETHER, G, antipodal_slopes
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.point_checks import antipodal_points_of_the_flow
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, SourceKind, Statement, Vector
from eigentoken.theory.statements.steps import Computation, Derivation

TV10_FLOW = instance(
    "attention-flow", [["1", "0"], ["-1", "0"]], V=[["2", "1"], ["1", "2"]], M=[["0", "0"], ["-3", "0"]]
)


def derive() -> Derivation:
    """The three kinds of moves at antipodal polygonal points, without the identity of the map."""
    import sympy as sp

    row, column = sp.Symbol("c_21", real=True), sp.Symbol("c_12", real=True)
    own: tuple[Any, ...] = (0, OMEGA2 * row, OMEGA3 * row, 0)
    together = (0, G[0] + OMEGA2 * row, G[1] + OMEGA3 * row, G[2])
    against = (0, OMEGA2 * (row + column), OMEGA3 * (row + column), 0)
    return Derivation(
        (
            grouped(
                "pairs",
                "As in PM-L15, with $c_{21} = \\rho^{\\top}\\xi$, $c_{12} = \\rho'^{\\top}\\xi$: two tokens of a half "
                "against each other.",
                antipodal_slopes("attention-flow", PAIR),
                (*own, *(-each for each in own), *(0,) * 8),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right) = \omega\rho^{\top}\xi",
            ),
            grouped(
                "together",
                "Both halves are moved together.",
                antipodal_slopes("attention-flow", TOGETHER),
                (*together, *together),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right) = (V|_{w^\perp} + \omega\rho^{\top})\xi",
            ),
            grouped(
                "against",
                "The halves are moved against each other.",
                antipodal_slopes("attention-flow", AGAINST),
                (*against, *(-each for each in against)),
                r"\xi \mapsto \left(<1>,\ <2>,\ <3>,\ <4>\right) = \omega(\rho + \rho')^{\top}\xi",
            ),
            Computation(
                name="TV10",
                says="The instance of PM-L15, as a flow.",
                run=lambda: point_is(TV10_FLOW, "polygonal", stable="stable"),
                formula=r"\{-3,\ -1\}",
                uses=("together", "against"),
            ),
        )
    )


CT_7 = register(
    Statement(
        id="CT-7",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemma 15"),
        title="Polygonal points of the attention flow",
        systems=("attention-flow",),
        text=(
            r"At antipodal polygonal points of the attention flow the spectrum is that of $\omega\rho^{\top}$ ($n-2$ "
            r"times), $V|_{w^\perp} + \omega\rho^{\top}$ and $\omega(\rho + \rho')^{\top}$ on $w^\perp$ (notation of "
            r"PM-L15). They are not always unstable: TV10 has the spectrum $\{-3, -1\}$."
        ),
        depends=("PM-L15", "CT-1"),
        derive=derive,
        prose_from=("pairs", "TV10"),
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
