"""PM-E6: correlation with a plane.  Reference: Li-Altafini, eq. (6)."""

from __future__ import annotations

from eigentoken.proofs.power_method.projection import plane_correlation
from eigentoken.proofs.properties.map_checks import complex_plane
from eigentoken.theory.statements.registry import register

PM_E6 = register(
    plane_correlation(
        "PM-E6",
        "eq. (6)",
        "Correlation with the plane of a complex pair",
        r"$S = [\operatorname{Re}v_1\ \operatorname{Im}v_1]$ (Case 2, a complex pair)",
        complex_plane,
    )
)
