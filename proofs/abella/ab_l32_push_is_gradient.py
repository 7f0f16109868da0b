"""AB-L3.2: ``grad_g V = -X_P`` with ``X_P(x)_i = sum_j alpha_ij(x) x_j``, off the ellipsoid too.

Reference: Abella-Silvestre-Tabuada, Lemma 3.2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.gradient import GRADIENT, gradient
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.flow_properties import gradient_identity
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, TOKEN_J, attention_sum, pair_exponential, tensor_step
from eigentoken.proofs.steps.tensor_reductions import EXACT
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Letter,
    differentiate,
    direction,
    instance,
    vector,
)
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Derivation

P = matrix("P")


def derive() -> Derivation:
    """``dV(x) X = g(-X_P, X)`` for every X: symbolic n and d."""
    from eigentoken.theory.calculus import dot
    from eigentoken.theory.systems.catalogue import system

    letter = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}))
    push = system("ellipsoid-flow").influence(CalculusAlgebra(rules), {"P": letter}, vector("x", SLOT))
    potential = (pair_exponential(letter, TOKEN_I, TOKEN_J, "x") * sp.Rational(-1, 2)).summed(TOKEN_I, TOKEN_J)
    inner = dot(instance(push, TOKEN_I), vector("X", TOKEN_I), (letter,))
    claimed = -(attention_sum(letter, TOKEN_I, "x") * inner).summed(TOKEN_I)
    return Derivation(
        (
            tensor_step(
                "gradient",
                "The differential of $V$ along an arbitrary $X$, against $g(-X_P, X) = -\\sum_i "
                "Z_i\\,(X_P)_i^{\\top}PX_i$ with $X_P$ the push of the registered system before projection: the "
                "normalisers cancel.",
                derive=lambda: differentiate(potential, direction("x", "X"), rules),
                claimed=claimed,
                rules=rules,
                left="dV(x)\\,X",
                establishes=("the gradient of the potential is minus the push",),
            ),
        )
    )


def nonsymmetric_fails() -> Verdict:
    """``P = [[1, 1], [-1, 1]]``, sym P = I: the differential and the metric disagree."""
    eps = sp.Symbol("epsilon", real=True)
    score = ((sp.Integer(1), sp.Integer(1)), (sp.Integer(-1), sp.Integer(1)))
    tokens: Any = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    along: Any = ((sp.Integer(0), sp.Integer(1)), (sp.Integer(0), sp.Integer(0)))
    moved = tuple(tuple(a + eps * b for a, b in zip(x, X, strict=True)) for x, X in zip(tokens, along, strict=True))
    value = -sum(EXACT.exp(dot(x, apply_matrix(score, y))) for x in moved for y in moved) / 2
    differential = sp.diff(value, eps).subs(eps, 0)
    weights = EXACT.attention(tokens, score, None, True)
    push = EXACT.average(weights, tokens)
    total: Any = 0
    for i, token in enumerate(tokens):
        z = sp.sqrt(2) * sum(EXACT.exp(dot(token, apply_matrix(score, other))) for other in tokens)
        total -= z * dot(push[i], apply_matrix(score, along[i]))
    gap = sp.simplify(differential - total)
    if sign(gap) in (1, -1):
        return holds(f"two tokens e_1, e_2, X = (e_2, 0): dV X - g(-X_P, X) = {gap}, which is not zero")
    return fails("the identity holds at this instance")


AB_L32 = register(
    Statement(
        id="AB-L3.2",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 3.2"),
        title="The push is a gradient",
        systems=("ellipsoid-flow",),
        conditions=(Symmetric(P), PositiveDefinite(P)),
        depends=("AB-E9", "AB-E10"),
        claims=(GRADIENT,),
        derive=derive,
        proof=gradient,
        variants=(
            Variant(
                "Symmetric(P)",
                "$P = \\begin{pmatrix}1&1\\\\-1&1\\end{pmatrix}$ has symmetric part $I$, and the identity fails.",
                nonsymmetric_fails,
            ),
        ),
        property_tests=(gradient_identity,),
    )
)
