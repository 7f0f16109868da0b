"""PM-P1: the kernel condition for fixed points, for the same x.  Reference: Li-Altafini, Proposition 1 (false as an iff)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import fixed_token
from eigentoken.proofs.power_method.pm_l10_attention_jacobian import TV13
from eigentoken.proofs.power_method.symbols import V
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import image
from eigentoken.proofs.properties.first_failures import FirstFailure, kernel_without_sign
from eigentoken.proofs.properties.point_checks import kernel_condition
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    dot,
    exponential,
    factor,
    matrix,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation


def _rows(vectors: str) -> tuple[Any, Any]:
    """``((A(x) x V) z)_i = sum_j a_ij V z_j``; with ``z_j = v`` for all j, V v = lambda_1 v."""
    i, j = Index("token", "i"), Index("token", "j")
    top = sp.Symbol("lambda_1", real=True)
    rules = Assumptions(eigen={("V", False, "v"): top})
    exponent = dot(vector("x", i), vector("x", j), (Letter("M"),))
    weight = exponential(exponent) * factor(row_sum(exponent, j), -1)
    other = vector("v") if vectors == "v" else vector("x", j)
    return (weight * other.applied(matrix("V"))).summed(j), rules


def _push() -> tuple[Any, Any]:
    """``u_i`` from the attention map."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions())
    push = system("attention-map").influence(algebra, {"V": Letter("V"), "M": Letter("M")}, vector("x", SLOT))
    return at(push, Index("token", "i")), algebra.assumptions


def _eigen() -> Any:
    return vector("v") * sp.Symbol("lambda_1", real=True)


def derive() -> Derivation:
    """One token as in PM-L1; the push as a row of A x V; and why singularity alone says nothing."""
    return Derivation(
        (
            *fixed_token(),
            tensor(
                "kernel",
                "The push is the $i$-th row of $(A(x) \\otimes V)\\,x$: with $c_i = x_i^{\\top}u_i$ the condition $u_i "
                "= c_ix_i$ for all $i$ reads $(A(x) \\otimes V - \\operatorname{diag}(c) \\otimes I)\\,x = 0$, for "
                "that same $x$.",
                _push,
                _rows("x")[0],
                r"u_i = \sum_ja_{ij}(x)\,Vx_j",
                uses=("fixed: sufficient",),
            ),
            tensor(
                "always singular",
                "For every state, $\\mathbf 1 \\otimes v_1$ is an eigenvector of $A(x) \\otimes V$ with eigenvalue "
                "$\\lambda_1$, because the rows of $A$ sum to 1: with $c_i = \\lambda_1$ the matrix is singular "
                "whatever $x$ is.",
                lambda: _rows("v"),
                _eigen(),
                r"\big((A(x) \otimes V)(\mathbf 1 \otimes v_1)\big)_i = \lambda_1v_1",
            ),
        )
    )


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
        conditions=(Symmetric(V),),
        text=(
            r"$x$ is a fixed point of the attention map iff $(A(x) \otimes V - \operatorname{diag}(c) \otimes I)\,x = "
            r"0$ for that same $x$, with $c_i = x_i^{\top}u_i > -1/\alpha$. The mere existence of scalars $c_i$ that "
            r"make the matrix singular says nothing: $c_i = \lambda_1$ does it for every $x$."
        ),
        depends=("PM-L8", "PM-L10"),
        derive=derive,
        prose_from=("kernel", "always singular"),
        printed=Printed(
            text=(
                r"The system has a clustering equilibrium iff there are scalars $c_1, \dots, c_n$ such that $A \otimes "
                r"V - \operatorname{diag}(c) \otimes I$ is singular."
            ),
            wrong=r"The \emph{if} is false: the kernel vector need not be the state that $A$ was computed at.",
            counterexamples=(
                Counterexample(
                    "TV13",
                    r"At the state of TV13, which is not fixed, $A \otimes V - \frac76I$ is singular.",
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
