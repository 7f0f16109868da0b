"""PM-R8: extrinsic eigenvalues at bipartite points.  Reference: Li-Altafini, Remark 8."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_r02_extrinsic_at_consensus import bipartite
from eigentoken.proofs.power_method.symbols import M1, M2, p, q
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.point_checks import extrinsic_at_bipartite
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation


def derive() -> Derivation:
    """One token of a side moved along itself: the radial parts of all images."""
    first, second = [(1, 1, 1), (p - 1, 1, 0), (q, -1, 0)], [(1, -1, 1), (q - 1, -1, 0), (p, 1, 0)]
    return Derivation(
        (
            grouped(
                "homogeneous",
                "Extension $y_i/\\lVert y_i\\rVert$: moving one token radially has no radial effect at all, on any "
                "token.",
                bipartite("homogeneous", first),
                (0, 0, 0),
                r"<1>,\ <2>,\ <3>",
            ),
            grouped(
                "first side",
                "With $\\lVert x_i\\rVert = 1$ put in and $m_i > 0$, $E = e^s$: the changes of the scores and of the "
                "means drop out, and the radial block is diagonal; on the first side",
                bipartite("unit", first),
                (1 / M1**2, 0, 0),
                r"<1>,\ <2>,\ <3>",
            ),
            grouped(
                "second side",
                "Likewise on the second side.",
                bipartite("unit", second),
                (1 / M2**2, 0, 0),
                r"<1>,\ <2>,\ <3>",
            ),
        )
    )


PM_R8 = register(
    Statement(
        id="PM-R8",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 8"),
        title="Extrinsic eigenvalues at bipartite points",
        systems=("attention-map",),
        text=(
            r"At a bipartite point with $m_1, m_2 > 0$ the extrinsic class is $0$, $n$ times, for the extension "
            r"$y_i/\lVert y_i\rVert$, and $1/m_1^2$ ($p$ times), $1/m_2^2$ ($q$ times) with $\lVert x_i\rVert = 1$ "
            r"put in. Neither matters for stability."
        ),
        depends=("PM-R2", "PM-L12"),
        derive=derive,
        prose_from=("homogeneous", "first side", "second side"),
        property_tests=(OnInstances(extrinsic_at_bipartite),),
    )
)
