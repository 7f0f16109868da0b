"""PM-E7: correlation with a plane.  Reference: Li-Altafini, eq. (7)."""

from __future__ import annotations

from eigentoken.proofs.power_method.projection import plane_correlation
from eigentoken.proofs.properties.map_checks import eigenvector_plane
from eigentoken.theory.statements.registry import register

PM_E7 = register(
    plane_correlation(
        "PM-E7",
        "eq. (7)",
        "Correlation with the plane of two eigenvectors",
        r"$S = [v_1\ v_2]$ (Case 3, two nearly equal eigenvalues)",
        eigenvector_plane,
    )
)
