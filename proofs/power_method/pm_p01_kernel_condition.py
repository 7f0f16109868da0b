"""PM-P1: the kernel condition for fixed points, for the same x.  Reference: Li-Altafini, Proposition 1 (false as an iff)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e08_attention_map import push
from eigentoken.proofs.power_method.pm_l10_attention_jacobian import TV13
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image
from eigentoken.proofs.properties.first_failures import FirstFailure, kernel_without_sign
from eigentoken.proofs.properties.point_checks import kernel_condition
from eigentoken.proofs.steps.fixed_points import at_rest_iff, radial
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant


def proof(k: Kernel) -> Proved:
    """The push is radial, as for any map."""
    return radial(k, push())


def singular_and_moving() -> Verdict:
    """TV13: det(A x V - lambda_1 I) = 0 exactly (lambda_1 = 7/6), and the state is not fixed."""
    weights = sp.Matrix(2, 2, lambda i, j: sp.exp(_score(i, j)) / sum(sp.exp(_score(i, m)) for m in range(2)))
    value = sp.Matrix([[sp.Rational(each) for each in row] for row in TV13["V"]])
    big = sp.Matrix(4, 4, lambda r, c: weights[r // 2, c // 2] * value[r % 2, c % 2]) - sp.Rational(7, 6) * sp.eye(4)
    from eigentoken.theory.proving.normal_form import identity_verdict

    first = image(TV13)[0]
    moved = not first.overlaps(type(first)(3) / 5)
    return all_of(
        {
            "singular": identity_verdict(big.det(method="berkowitz"), 0),
            "not fixed": holds(f"3/5 goes to {first.str(8)}") if moved else fails("it does not move"),
        }
    )


def _score(i: int, j: int) -> Any:
    tokens = sp.Matrix([[sp.Rational(each) for each in token] for token in TV13["tokens"]])
    scores = sp.Matrix([[sp.Rational(each) for each in row] for row in TV13["M"]])
    return (tokens.row(i) * scores * tokens.row(j).T)[0, 0]


PM_P1 = register(
    Statement(
        id="PM-P1",
        kind=Kind.PROPOSITION,
        source=Source(LI_ALTAFINI, "Proposition 1"),
        title="The kernel condition for fixed points",
        systems=("attention-map",),
        claims=(at_rest_iff(push()),),
        depends=("PM-L8", "PM-L10"),
        proof=proof,
        printed=Printed(
            text=(
                r"The system has a clustering equilibrium iff there are scalars $c_1, \dots, c_n$ such that $A \otimes "
                r"V - \operatorname{diag}(c) \otimes I$ is singular."
            ),
            wrong=r"The \emph{if} is false: the kernel vector need not be the state that $A$ was computed at.",
            counterexamples=(
                Counterexample(
                    "TV13",
                    r"At this state, which is not fixed, $A \otimes V - \frac76I$ is singular.",
                    TV13,
                    singular_and_moving,
                ),
            ),
        ),
        property_tests=(OnInstances(kernel_condition),),
        variants=(
            Variant(
                "c_i > -1/alpha",
                "the kernel condition holds at consensus on v_k, which is sent to its negative",
                FirstFailure(kernel_without_sign),
            ),
        ),
    )
)
