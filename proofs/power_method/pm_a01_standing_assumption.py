"""PM-A1: the standing assumption on the value matrix.  Reference: Li-Altafini, Assumption 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.properties.exact_points import decimals
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation, Inequality

#: The value matrix of the regression vectors TV13 and TV14.
GENERIC_V = [["1", "1/2"], ["1/2", "-1/3"]]


def derive() -> Derivation:
    """What the assumption gives in every use: a gap at the top, and a spectral norm of two candidates."""
    top, second, last, other = sp.symbols("lambda_1 lambda_2 lambda_d lambda_ell", real=True)
    return Derivation(
        (
            Inequality(
                name="gap",
                says="Every other eigenvalue is below the first.",
                hypotheses=(top > second, second >= other),
                conclusion=top > other,
            ),
            Inequality(
                name="norm",
                says="The spectral norm of a symmetric $V$ with $\\lambda_1 > 0$ is $\\max(\\lambda_1, |\\lambda_d|)$.",
                hypotheses=(top > 0, last <= other, other <= top),
                conclusion=sp.Abs(other) <= sp.Max(top, sp.Abs(last)),
            ),
        )
    )


def generic_eigenvalues() -> Sequence[Any]:
    """The eigenvalues of the generic V."""
    matrix = sp.Matrix([[sp.Rational(entry) for entry in row] for row in GENERIC_V])
    return sorted((value for value, count in matrix.eigenvals().items() for _ in range(count)), reverse=True)


def generated_satisfy_it(instances: int, seed: int) -> Verdict:
    """The value matrices that the book's own generator makes for the assumption satisfy it (eigenvalues in doubles)."""
    from eigentoken.proofs.properties.checks import look
    from eigentoken.proofs.properties.map_checks import generated_values, standing_assumption

    drawn = iter(generated_values(instances, seed))
    return look(lambda _: standing_assumption(next(drawn)), instances, seed)


PM_A1 = register(
    Statement(
        id="PM-A1",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "Assumption 1"),
        title="The standing assumption on the value matrix",
        systems=("oja-map", "attention-map"),
        conditions=ASSUMPTION_1,
        text=(
            r"$V = V^{\top}$ is nonsingular with eigenvalues $\lambda_1 > \lambda_2 \geq \dots \geq \lambda_d$, "
            r"$\lambda_1 > 0$, and unit eigenvectors $v_1, \dots, v_d$."
        ),
        derive=derive,
        prose_from=("gap", "norm"),
        vectors=(Vector("eigenvalues of V in TV13 and TV14", generic_eigenvalues, decimals("7/6", "-1/2")),),
        property_tests=(generated_satisfy_it,),
    )
)
