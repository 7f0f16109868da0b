"""PM-E6: correlation with a plane.  Reference: Li-Altafini, eq. (6)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.projection import projection_steps
from eigentoken.proofs.property_checks import OnInstances
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement
from eigentoken.theory.steps import Derivation

PM_E6 = register(
    Statement(
        id="PM-E6",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (6)"),
        title="Correlation with the plane of a complex pair",
        systems=("multihead-map",),
        text=(
            r"$S = [\operatorname{Re}v_1\ \operatorname{Im}v_1]$ (Case 2, a complex pair): $\Pi_S = "
            r"S(S^{\top}S)^{-1}S^{\top}$ and "
            r"$\operatorname{corr}(x_i, \Pi_Sx_i) = \lVert\Pi_Sx_i\rVert/\lVert x_i\rVert \in [0, 1]$."
        ),
        depends=("PM-E3",),
        derive=lambda: Derivation(projection_steps()),
        property_tests=(OnInstances("map_checks", "complex_plane"),),
    )
)
