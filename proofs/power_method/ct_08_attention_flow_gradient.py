"""CT-8: the gradient case M = cV of the attention flow.  Own derivation."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import instance, point_is
from eigentoken.proofs.properties.point_checks import energy_rate
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    differentiate,
    dot,
    exponential,
    factor,
    matrix,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Computation, Derivation

C = sp.Symbol("c", nonzero=True, real=True)


def _setting() -> tuple[Any, Any, Any]:
    """The flow with M = cV, its assumptions, and E = (1/2c) sum_ij exp(c x_i^T V x_j)."""
    from eigentoken.theory.systems.catalogue import system

    rules = Assumptions(symmetric=frozenset({"V"}), unit={"x": ()}, replaced={"M": (C, matrix("V"))})
    algebra = CalculusAlgebra(rules)
    flow = system("attention-flow").advance(algebra, {"V": Letter("V"), "M": Letter("M")}, vector("x", SLOT))
    i, j = Index("token", "i"), Index("token", "j")
    energy = exponential(dot(vector("x", i), vector("x", j), matrix("V")) * C).summed(i, j) / (2 * C)
    return flow, algebra.assumptions, energy


def _rate() -> tuple[Any, Any]:
    """dE/dt along the flow."""
    flow, rules, energy = _setting()
    return differentiate(energy, {"x": lambda index: at(flow, index)}, rules), rules


def _claimed() -> Any:
    """``sum_i Z_i |xdot_i|^2``, ``Z_i = sum_j exp(c x_i^T V x_j)``."""
    flow, _, _ = _setting()
    i, j = Index("token", "i"), Index("token", "j")
    exponent = dot(vector("x", i), vector("x", j), matrix("V")) * C
    speed = at(flow, i)
    return (factor(row_sum(exponent, j)) * dot(speed, speed)).summed(i)


def both_ends() -> Verdict:
    """M = V: k = 1 for V = diag(2, 1/4), and k = d for V = diag(1, -3), two tokens: both bipartite points are stable."""
    first = instance(
        "attention-flow", [["1", "0"], ["-1", "0"]], V=[["2", "0"], ["0", "1/4"]], M=[["2", "0"], ["0", "1/4"]]
    )
    last = instance(
        "attention-flow", [["0", "1"], ["0", "-1"]], V=[["1", "0"], ["0", "-3"]], M=[["1", "0"], ["0", "-3"]]
    )
    return all_of(
        {
            "k = 1": point_is(first, "bipartite", stable="stable"),
            "k = d": point_is(last, "bipartite", stable="stable"),
        }
    )


def derive() -> Derivation:
    """The energy never decreases; both ends of the spectrum can carry stable bipartite points."""
    return Derivation(
        (
            tensor(
                "energy",
                "For symmetric $V$ and $M = cV$, $E = \\frac{1}{2c}\\sum_{i,j}e^{cx_i^{\\top}Vx_j}$, for all $n$ and "
                "$d$: along the flow, with $Z_i = \\sum_je^{cx_i^{\\top}Vx_j} > 0$,",
                _rate,
                _claimed(),
                r"\dot E = \sum_iZ_i\,\lVert\dot x_i\rVert^2 \geq 0",
                establishes=("the energy does not decrease",),
            ),
            Computation(
                name="both ends",
                says="Here $s = c\\lambda_k$: for $c > 0$ the criterion of CT-6 allows $k = 1$ and, if $\\lambda_d < "
                "-\\lambda_1$, $k = d$.",
                run=both_ends,
                formula=r"M = V = \operatorname{diag}(2, \tfrac14)\ (k = 1), \qquad M = V = \operatorname{diag}(1, "
                r"-3)\ (k = 2)",
            ),
        )
    )


CT_8 = register(
    Statement(
        id="CT-8",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the gradient case"),
        title="The gradient case of the attention flow",
        systems=("attention-flow",),
        text=(
            r"Let $V$ be symmetric and $M = cV$, $c \neq 0$. Then $E = \frac{1}{2c}\sum_{i,j}e^{c\,x_i^{\top}Vx_j}$ "
            r"satisfies $\dot E = \sum_iZ_i\lVert\dot x_i\rVert^2 \geq 0$, $Z_i = \sum_je^{c\,x_i^{\top}Vx_j}$. Here "
            r"$s = c\lambda_k$, so for $c > 0$ bipartite points on $v_1$ and, if $\lambda_d < -\lambda_1$, on $v_d$ "
            r"can be stable (CT-6)."
        ),
        depends=("CT-1", "CT-6"),
        derive=derive,
        prose_from=("energy", "both ends"),
        property_tests=(OnInstances(energy_rate),),
    )
)
