"""PM-E4: the mean increment of the correlation with the principal eigenvector.  Reference: Li-Altafini, eq. (4)."""

from __future__ import annotations

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.alignment import never_decreases, non_normal
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.first_failures import FirstFailure, alignment_lost
from eigentoken.proofs.properties.map_checks import mean_increment
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation

PM_E4 = register(
    Statement(
        id="PM-E4",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (4)"),
        title="The mean increment of the alignment",
        systems=("multihead-map",),
        text=(
            r"With $\operatorname{corr}(x, v) = \frac{x^{\top}v}{\lVert x\rVert\lVert v\rVert}$ and $N$ sampled "
            r"tokens, $\Delta\rho(\tau) = \frac1N\sum_i\big(|\operatorname{corr}(x_i(\tau+1), v_1(\tau))| - "
            r"|\operatorname{corr}(x_i(\tau), v_1(\tau))|\big)$; alignment means $\Delta\rho > 0$. For symmetric $F$, "
            r"tokens at a common value and $\max_\ell|1 + \alpha\lambda_\ell| \leq 1 + \alpha\lambda_1$, one step "
            r"never decreases $|\operatorname{corr}(x, v_1)|$; for non-normal $F$ it can."
        ),
        depends=("PM-E3",),
        derive=lambda: Derivation(never_decreases()),
        prose_from=("strict",),
        vectors=(Vector("F = [[1, 5], [0, 0]], x ~ (1, -0.4)", non_normal, ("0.928477", "0.000000")),),
        property_tests=(OnInstances(mean_increment),),
        variants=(
            Variant(
                "F symmetric",
                "for a triangular F the correlation with v_1 falls in one step",
                FirstFailure(alignment_lost),
            ),
        ),
    )
)
