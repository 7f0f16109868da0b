"""PM-E21: l2 normalisation and step size, restated.  Reference: Li-Altafini, eq. (21)."""

from __future__ import annotations

from dataclasses import replace

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e03_multihead_map import PM_E3
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Source

PM_E21 = register(
    replace(
        PM_E3,
        id="PM-E21",
        source=Source(LI_ALTAFINI, "eq. (21)"),
        title="The multi-head map with step size, restated",
        depends=("PM-E3",),
    )
)
