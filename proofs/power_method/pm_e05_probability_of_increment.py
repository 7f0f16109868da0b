"""PM-E5: the share of tokens whose alignment grows.  Reference: Li-Altafini, eq. (5)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.alignment import never_decreases
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.first_failures import FirstFailure, alignment_lost
from eigentoken.proofs.properties.map_checks import share_of_increments
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation, Inequality


def derive() -> Derivation:
    """A share lies in [0, 1]; for symmetric F and a common token it is 1 off the fixed points."""
    count, total = sp.symbols("k N", real=True)
    return Derivation(
        (
            Inequality(
                name="range",
                says="A share of $N$ tokens, $k$ of which align, lies in $[0, 1]$.",
                hypotheses=(count >= 0, count <= total, total > 0),
                conclusion=sp.And(count / total >= 0, count / total <= 1),
            ),
            *never_decreases(),
        )
    )


PM_E5 = register(
    Statement(
        id="PM-E5",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (5)"),
        title="The probability of an increment",
        systems=("multihead-map",),
        text=(
            r"$\Pi(\tau) = \frac1N\#\{i : |\operatorname{corr}(x_i(\tau+1), v_1(\tau))| > "
            r"|\operatorname{corr}(x_i(\tau), v_1(\tau))|\}$; alignment means $\Pi > \frac12$. Under the hypotheses "
            r"of PM-E4, with strict dominance, every token that is neither at $\pm v_1$ nor orthogonal to it aligns "
            r"further: $\Pi = 1$."
        ),
        depends=("PM-E4",),
        derive=derive,
        prose_from=("range", "strict"),
        property_tests=(OnInstances(share_of_increments),),
        variants=(
            Variant(
                "F symmetric",
                "for a triangular F the correlation with v_1 falls in one step, for every token",
                FirstFailure(alignment_lost),
            ),
        ),
    )
)
