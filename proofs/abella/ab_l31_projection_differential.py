"""AB-L3.1: ``T pi_P`` is the g-orthogonal projection onto the tangent space of the product of ellipsoids.

Reference: Lemma 3.1.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.steps.tensor_reductions import applied
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation, Identity

P = matrix("P")


def derive() -> Derivation:
    """The residual is a multiple of ``y_i``, which is orthogonal to every tangent vector."""
    X, y = sp.symbols("X_i y_i", real=True)
    m, c, s = sp.symbols("m c s", real=True)
    Z = sp.Symbol("Z_i", positive=True)
    image = X - m * y
    again = sp.Symbol("m'", real=True)
    return Derivation(
        (
            applied(
                "image is tangent",
                "On $\\mathcal{E}_P$ the differential is $X_i - m\\,y_i$ with $m = y_i^{\\top}PX_i$ (AB-E3). Apply "
                "$y_i^{\\top}P$: $X_i \\mapsto m$, $y_i \\mapsto 1$.",
                image,
                {X: m, y: sp.Integer(1)},
                sp.Integer(0),
                by="(Py_i)^{\\top}",
                establishes=("the image is tangent",),
            ),
            Identity(
                name="idempotent",
                says="Applied twice: the second coefficient is $m' = y_i^{\\top}P(X_i - m\\,y_i) = m - m$, so nothing "
                "is subtracted again.",
                left=image - again * y,
                right=image,
                where={again: m - m * s, s: sp.Integer(1)},
                uses=("image is tangent",),
            ),
            applied(
                "residual is orthogonal",
                "The residual $X_i - (X_i - m\\,y_i) = m\\,y_i$, paired with a tangent vector $Y_i$ in the metric $g$ "
                "($y_i^{\\top}PY_i = c = 0$), gives $Z_i\\,m\\,c$.",
                Z * m * y,
                {y: c, c: sp.Integer(0)},
                sp.Integer(0),
                uses=("image is tangent",),
                establishes=("the residual is orthogonal to the tangent space",),
            ),
        )
    )


def orthogonality_on_instances(instances: int, seed: int) -> Verdict:
    """``g(X - T pi X, Y) = 0`` for random rational data and tangent Y, exactly."""
    source = random.Random(seed)

    def number() -> Any:
        return sp.Rational(source.randint(-9, 9), source.randint(1, 7))

    for _ in range(instances):
        d = source.choice((2, 3))
        root = [[number() + (5 if a == b else 0) for b in range(d)] for a in range(d)]
        spd = [[sum(root[a][k] * root[b][k] for k in range(d)) for b in range(d)] for a in range(d)]
        y, X, Y = ([number() + sp.Rational(1, 11) for _ in range(d)] for _ in range(3))
        size = dot(y, apply_matrix(spd, y))
        mixed, along = dot(y, apply_matrix(spd, X)), dot(y, apply_matrix(spd, Y))
        tangent = [b - along / size * a for a, b in zip(y, Y, strict=True)]
        residual = [mixed / size * a for a in y]  # X - T pi X at y / |y|_P
        if dot(residual, apply_matrix(spd, tangent)) != 0:
            return fails(f"the residual is not orthogonal at P = {spd}, y = {y}")
    return holds(f"{instances} exact instances, none violates the orthogonality")


AB_L31 = register(
    Statement(
        id="AB-L3.1",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 3.1"),
        title="The differential of the projection is orthogonal",
        systems=("ellipsoid-flow",),
        conditions=(Symmetric(P), PositiveDefinite(P)),
        text="On $(\\mathcal{E}_P)^{\\ell}$ the map $X \\mapsto T\\pi_P X$ is the $g$-orthogonal projection onto "
        "$T(\\mathcal{E}_P)^{\\ell}$.",
        depends=("AB-E3", "AB-E9"),
        derive=derive,
        prose_from=("idempotent", "residual is orthogonal"),
        property_tests=(orthogonality_on_instances,),
    )
)
