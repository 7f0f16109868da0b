"""PM-E7: correlation with a plane.  Reference: Li-Altafini, eq. (7)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.projection import projection_steps
from eigentoken.proofs.property_checks import OnInstances
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement
from eigentoken.theory.steps import Derivation

PM_E7 = register(
    Statement(
        id="PM-E7",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (7)"),
        title="Correlation with the plane of two eigenvectors",
        systems=("multihead-map",),
        text=(
            r"$S = [v_1\ v_2]$ (Case 3, two nearly equal eigenvalues): $\Pi_S = S(S^{\top}S)^{-1}S^{\top}$ and "
            r"$\operatorname{corr}(x_i, \Pi_Sx_i) = \lVert\Pi_Sx_i\rVert/\lVert x_i\rVert \in [0, 1]$."
        ),
        depends=("PM-E3",),
        derive=lambda: Derivation(projection_steps()),
        property_tests=(OnInstances("map_checks", "eigenvector_plane"),),
    )
)
