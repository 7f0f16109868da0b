"""PH-T9: the LDL parametrisation fixes the inertia; two ways in which definiteness is lost on the way to the layer.

``S = L diag(eps * softplus(theta)) L^T`` with L unit lower triangular: the inertia of S is that of the signs eps (Sylvester).
Reference: Pham-et-al, LDL parametrisation; derived here.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.parametrisations import CLAIMS, proof
from eigentoken.proofs.properties.deterministic_data import as_numbers, numbers, symmetric_eigenpairs
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.textbook import SYLVESTER
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate, sign
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Kind,
    Remark,
    RemarkKind,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Citation, Computation, Derivation, Inequality


def derive() -> Derivation:
    """Positive pivots, congruence, inertia."""
    e, soft, pivot = sp.symbols("E s epsilon", real=True)
    lower = sp.Matrix(3, 3, lambda i, j: 1 if i == j else (sp.Symbol(f"l_{i + 1}{j + 1}", real=True) if i > j else 0))
    return Derivation(
        (
            Inequality(
                name="pivots",
                says="$s = \\operatorname{softplus}(\\theta) = \\ln(1 + E)$, $E = e^{\\theta} > 0$, is positive.",
                hypotheses=(e > 0, sp.Eq(sp.exp(soft), 1 + e)),
                conclusion=soft > 0,
            ),
            grouped(
                "unit triangular",
                "A unit lower triangular matrix has determinant 1, so $S = L\\,\\operatorname{diag}(\\epsilon\\odot "
                "s)\\,L^{\\top}$ is congruent to $\\operatorname{diag}(\\epsilon\\odot s)$ (written for $D = 3$; in "
                "general the determinant of a triangular matrix is the product of its diagonal).",
                lambda: [lower.det()],
                [sp.Integer(1)],
                "\\det L = <1>",
                scope="d = 3",
                establishes=("S and the diagonal are symmetric and congruent by an invertible matrix",),
            ),
            Citation(
                name="inertia",
                says="So $S$ has the inertia of the diagonal.",
                theorem=SYLVESTER,
                letters={"S": "S", "T": "the diagonal"},
                uses=("unit triangular",),
                formula="\\operatorname{inertia}(S) = \\operatorname{inertia}(\\operatorname{diag}(\\epsilon\\odot s))",
                establishes=("S and the diagonal have the same inertia",),
            ),
            Inequality(
                name="signs",
                says="The diagonal entry $\\epsilon s$, $s > 0$, has the sign of $\\epsilon$.",
                hypotheses=(soft > 0,),
                conclusion=sp.And(sp.Implies(pivot > 0, pivot * soft > 0), sp.Implies(pivot < 0, pivot * soft < 0)),
                uses=("pivots", "inertia"),
                needs=("S and the diagonal have the same inertia",),
                establishes=("S has the inertia of the signs",),
            ),
            Computation(
                name="linear layers",
                says="A score matrix $W$ with $\\operatorname{sym} W \\succ 0$ that is written as $K = "
                "(Q^{-1}W)^{\\top}$ and used through linear layers, $q = Qx$ and $k = Kx$, acts as $Q^{\\top}K = "
                "Q^{\\top}W^{\\top}Q^{-\\top}$, which is similar and not congruent to $W^{\\top}$: for $W = "
                "\\begin{pmatrix}1&1\\\\-1&1\\end{pmatrix}$ and $Q = \\operatorname{diag}(1, 10)$ the symmetric part "
                "is indefinite.",
                scope="the given instance",
                run=linear_layers_lose_definiteness,
                formula="\\operatorname{sym} W = I, \\qquad \\lambda_{\\min}(\\operatorname{sym}(Q^{\\top}K)) < 0 < "
                "\\lambda_{\\max}(\\operatorname{sym}(Q^{\\top}K))",
                uses=("signs",),
            ),
            Computation(
                name="swapped value matrix",
                says="With $V = (W^{-1}A)^{\\top}$ in the place of $(A^{-1}W)^{\\top}$, used as a linear layer ($B = "
                "V$), the matrix $WB^{-1}$ is not $A$: for $A = -\\operatorname{diag}(1, 9)$ and $W = "
                "\\begin{pmatrix}1&0.9\\\\0.9&1\\end{pmatrix}$ its symmetric part is indefinite.",
                scope="the given instance",
                run=swapped_value_loses_definiteness,
                formula="\\lambda_{\\min}(\\operatorname{sym}(WB^{-1})) < 0 < \\lambda_{\\max}(\\operatorname{sym}(WB^{-1}))",
            ),
        )
    )


def ldl_example() -> list[Any]:
    """Eigenvalues for the printed L, theta = (0, 1, -1), eps = (-, +, +)."""
    import mpmath

    scalars = numbers()
    lower = as_numbers(((1, 0, 0), ("0.5", 1, 0), ("-0.3", "0.2", 1)))
    pivots = [sign_ * mpmath.log(1 + scalars.exp(theta * scalars.one)) for sign_, theta in ((-1, 0), (1, 1), (1, -1))]
    rows = tuple(
        tuple(sum(lower[i][k] * pivots[k] * lower[j][k] for k in range(3)) for j in range(3)) for i in range(3)
    )
    return symmetric_eigenpairs(rows)[0]


def _eigenvalues_2x2(matrix: sp.Matrix) -> tuple[Any, Any]:
    symmetric = (matrix + matrix.T) / 2
    spread = sp.sqrt(symmetric.trace() ** 2 - 4 * symmetric.det())
    return (symmetric.trace() - spread) / 2, (symmetric.trace() + spread) / 2


def linear_layers() -> tuple[Any, Any]:
    """Eigenvalues of sym(Q^T K) with K = (Q^{-1} W)^T, W = [[1, 1], [-1, 1]], Q = diag(1, 10)."""
    score, query = sp.Matrix([[1, 1], [-1, 1]]), sp.diag(1, 10)
    key = (query.inv() * score).T
    return _eigenvalues_2x2(query.T * key)


def swapped_value() -> tuple[Any, Any]:
    """Eigenvalues of sym(W B^{-1}) for the stored V = (W^{-1} A)^T used as a linear layer (B = V), A = -diag(1, 9)."""
    score = sp.Matrix([[1, sp.Rational(9, 10)], [sp.Rational(9, 10), 1]])
    form = -sp.diag(1, 9)
    value = (score.inv() * form).T
    return _eigenvalues_2x2(score * value.inv())


def linear_layers_lose_definiteness() -> Verdict:
    """sym W = I, but the effective score matrix of the code is indefinite."""
    low, high = linear_layers()
    if sign(low) == -1 and sign(high) == 1:
        return holds("sym W = I exactly, and sym(Q^T K) has eigenvalues of both signs")
    return fails("sym(Q^T K) is definite")


def swapped_value_loses_definiteness() -> Verdict:
    """A = -diag(1, 9) is negative definite, but W B^{-1} of the code is not."""
    low, high = swapped_value()
    if sign(low) == -1 and sign(high) == 1:
        return holds("the matrix W B^{-1} has a symmetric part with eigenvalues of both signs")
    return fails("sym(W B^{-1}) is definite")


def inertia_on_instances(instances: int, seed: int) -> Verdict:
    """Random rational unit lower triangular L and nonzero pivots: inertia by Descartes' rule, exactly."""
    source = random.Random(seed)
    x = sp.Symbol("x")
    for _ in range(instances):
        d = source.choice((2, 3, 4))
        lower = sp.Matrix(d, d, lambda i, j: 1 if i == j else (sp.Rational(source.randint(-9, 9), 5) if i > j else 0))
        pivots = [sp.Rational(source.choice((-1, 1)) * source.randint(1, 30), 7) for _ in range(d)]
        coefficients = [
            each
            for each in sp.Poly((lower * sp.diag(*pivots) * lower.T).charpoly(x).as_expr(), x).all_coeffs()
            if each != 0
        ]
        positive = sum(bool((p > 0) != (q > 0)) for p, q in pairwise(coefficients))
        if positive != sum(bool(pivot > 0) for pivot in pivots):
            return fails(f"L = {lower.tolist()}, pivots {pivots}: {positive} positive eigenvalues")
    return holds(f"{instances} exact instances have the inertia of their signs")


PH_T9 = register(
    Statement(
        id="PH-T9",
        kind=Kind.THEOREM,
        source=Source(PHAM, "LDL parametrisation; derived here", SourceKind.SUMMARISED),
        title="LDL parametrisation, and two ways to lose what it fixes",
        systems=("token-flow",),
        claims=CLAIMS,
        proof=proof,
        depends=("PH-M", "PH-T2"),
        derive=derive,
        notes=(
            Remark(
                RemarkKind.SOURCE,
                "Why these two ways: on a static reading of the authors' public repository (not run here, and not part "
                "of any proof) $W = S_W + (T_W - T_W^{\\top})$ and $A = S_A + (T_A - T_A^{\\top})$, so that $A$ has a free "
                "antisymmetric part and need not satisfy the hypothesis $A = A^{\\top}$ of PH-T2; weights are used as linear "
                "layers; one script stores $(W^{-1}A)^{\\top}$; definiteness is imposed on the sum over heads. No sentence of "
                "the paper is compared here: the paper was not at hand.",
            ),
        ),
        variants=(
            Variant(
                "Q orthogonal", "the symmetric part of $Q^{\\top}K$ is indefinite", linear_layers_lose_definiteness
            ),
            Variant("$V = A^{-1}W$", "$WB^{-1}$ is not negative definite", swapped_value_loses_definiteness),
        ),
        vectors=(
            Vector(
                "eigenvalues of S for eps = (-, +, +)",
                ldl_example,
                ("-0.824446946545845", "0.263862666823715", "1.310820900308979"),
            ),
            Vector(
                "sym(Q^T K) as linear layers",
                lambda: [evaluate(each).real for each in linear_layers()],
                ("-3.95", "5.95"),
            ),
            Vector(
                "sym(W B^{-1}) with V = (W^{-1} A)^T",
                lambda: [evaluate(each).real for each in swapped_value()],
                ("-2.28896152", "0.27785041"),
            ),
        ),
        property_tests=(inertia_on_instances,),
    )
)
