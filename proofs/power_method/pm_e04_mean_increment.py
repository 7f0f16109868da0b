"""PM-E4: the mean increment of the correlation with the principal eigenvector.  Reference: Li-Altafini, eq. (4)."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.alignment import (
    AFTER,
    BEFORE,
    LAST,
    LENGTH,
    NOTATION,
    PLACE,
    TOP,
    F,
    V,
    heights,
    non_normal,
)
from eigentoken.proofs.power_method.pm_cm_consensus_manifold import B
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.first_failures import FirstFailure, alignment_lost
from eigentoken.proofs.properties.map_checks import mean_increment
from eigentoken.proofs.steps.equations import TOKEN, at_every_token, for_every
from eigentoken.proofs.steps.theorems import BETWEEN, RAYLEIGH_ABOVE
from eigentoken.theory.calculus import ALPHA, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

#: ``-(1 + alpha lambda_d) <= 1 + alpha lambda_1``: then ``|1 + alpha lambda_ell| <= 1 + alpha lambda_1`` for every ell.
DOMINANT = Relation(sp.Ge(2 + ALPHA * (TOP + LAST), 0, evaluate=False))
KEPT = sp.Ge(AFTER, BEFORE, evaluate=False)


def proof(k: Kernel) -> Proved:
    """``|(I + alpha F) b| <= (1 + alpha lambda_1) |b|``, by the bounds of the spectrum."""
    b, symmetric = vector(B.name), k.given(Symmetric(F))
    square, form = (k.textbook(each, symmetric, A=F, z=b) for each in (BETWEEN, RAYLEIGH_ABOVE))
    made = heights(k, k.assume(PLACE))
    unit = k.part(made[0], made[0].proposition.parts[0])
    pushed = b.applied(matrix("F"))
    low, high = Tensor(dot(b, pushed)), Tensor(dot(pushed, pushed))
    gap = ALPHA * (2 + ALPHA * (TOP + LAST)) * (TOP - low)
    missed = k.arithmetic([form, unit, k.given(DOMINANT)], sp.Ge(gap, 0, evaluate=False))
    least = k.arithmetic([square, unit], ALPHA**2 * high <= ALPHA**2 * (low * (TOP + LAST) - TOP * LAST))
    stretched = k.arithmetic([made[0], missed, least], LENGTH <= (1 + ALPHA * TOP) ** 2)
    kept = k.generalise(TOKEN, k.arithmetic([*made, stretched], KEPT))
    return at_every_token(k, k.discharge(PLACE, kept), B, V)


PM_E4 = register(
    Statement(
        id="PM-E4",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "eq. (4)"),
        title="The mean increment of the alignment",
        systems=("multihead-map",),
        conditions=(Symmetric(F), DOMINANT),
        claims=(Formula(for_every(Implication(PLACE, for_every(KEPT, TOKEN)), B, V)),),
        depends=("PM-E3", "PM-CM"),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                NOTATION + r"The mean increment over $N$ sampled tokens is $\Delta\rho(\tau) = \frac1N\sum_i\big("
                r"|\operatorname{corr}(x_i(\tau+1), v_1(\tau))| - |\operatorname{corr}(x_i(\tau), v_1(\tau))|\big)$; "
                r"alignment means $\Delta\rho > 0$.",
            ),
        ),
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
