"""PM-A1: the standing assumption on the value matrix.  Reference: Li-Altafini, Assumption 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.exact_points import decimals
from eigentoken.proofs.power_method.symbols import V, lam
from eigentoken.theory.conditions import Nonsingular, Relation, SimpleTop, Symmetric
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement, Vector
from eigentoken.theory.steps import Derivation, Inequality
from eigentoken.theory.verdicts import Verdict

#: V = V^T nonsingular, lambda_1 > lambda_2 >= ... >= lambda_d, lambda_1 > 0.
ASSUMPTION_1 = (Symmetric(V), Nonsingular(V), SimpleTop(V), Relation(lam(V, 1) > 0))

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
    from eigentoken.proofs.map_checks import generated_values, standing_assumption
    from eigentoken.proofs.property_checks import look

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
            r"$V = V^{\top}$ is nonsingular with eigenvalues "
            r"$\lambda_1 > \lambda_2 \geq \dots \geq \lambda_d$, $\lambda_1 > 0$, and unit eigenvectors $v_1, "
            r"\dots, v_d$."
        ),
        derive=derive,
        told_by=("gap", "norm"),
        vectors=(Vector("eigenvalues of V in TV13 and TV14", generic_eigenvalues, decimals("7/6", "-1/2")),),
        property_tests=(generated_satisfy_it,),
    )
)
