"""AB-L3.1: ``T pi_P`` is the g-orthogonal projection onto the tangent space of the product of ellipsoids.

The differential is that of the calculus's own normalisation; X and Y are vectors of every token, n and d are symbols.
Reference: Abella-Silvestre-Tabuada, Lemma 3.1.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e02_projection import at_unit_norm
from eigentoken.proofs.abella.ab_e02_projection import differential as projection_differential
from eigentoken.proofs.abella.gradient import IMAGE, KEPT, ORTHOGONAL, projection
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, attention_sum, tensor_step
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    Expression,
    Letter,
    dot,
    instance,
    vector,
    zero,
)
from eigentoken.theory.calculus.derivative import substitute
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix
from eigentoken.theory.language.observables import dot as inner
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation

P = matrix("P")
LETTER = Letter("P")


def differential() -> Expression:
    """``T_x pi_P X`` at a state x on the ellipsoids (AB-E3)."""
    return at_unit_norm(projection_differential(LETTER))


def derive() -> Derivation:
    """Into the tangent space, the identity on it, and a residual that is orthogonal to it: for symbolic n and d."""
    on_the_ellipsoid = Assumptions(symmetric=frozenset({"P"}), unit={"x": (LETTER,)})
    tangent = on_the_ellipsoid.extended(tangent={("x", "Y"): (LETTER,)})
    x, any_vector, tangent_vector = (vector(name, SLOT) for name in ("x", "X", "Y"))

    def paired() -> Expression:
        residual = instance(any_vector - differential(), TOKEN_I)
        pairing = dot(residual, vector("Y", TOKEN_I), (LETTER,))
        return (attention_sum(LETTER, TOKEN_I, "x") * pairing).summed(TOKEN_I)

    return Derivation(
        (
            tensor_step(
                "differential",
                "The projection $\\pi_P(x)_i = x_i/\\lvert x_i\\rvert_P$, differentiated along $X$, at a state of "
                "$(\\mathcal{E}_P)^{\\ell}$, where the norms are one (AB-E3).",
                derive=differential,
                claimed=any_vector - dot(x, any_vector, (LETTER,)) * x,
                rules=on_the_ellipsoid,
                left="(T\\pi_PX)_i",
            ),
            tensor_step(
                "image is tangent",
                "The image of every $X$ is in the tangent space $\\{Y : x_i^{\\top}PY_i = 0\\}$.",
                derive=lambda: dot(x, differential(), (LETTER,)),
                claimed=zero(),
                rules=on_the_ellipsoid,
                left="x_i^{\\top}P\\,(T\\pi_PX)_i",
                uses=("differential",),
                establishes=("the image is tangent",),
            ),
            tensor_step(
                "tangent vectors are fixed",
                "On the tangent space, $x_i^{\\top}PY_i = 0$ for all $i$, it is the identity. So it is a projection, "
                "and its image is the whole tangent space.",
                derive=lambda: substitute(differential(), {"X": lambda *at: vector("Y", *at)}),
                claimed=tangent_vector,
                rules=tangent,
                left="(T\\pi_PY)_i",
                uses=("differential",),
                establishes=("tangent vectors are fixed",),
            ),
            tensor_step(
                "residual is orthogonal",
                "The residual of every $X$ is orthogonal to every tangent $Y$ in the metric $g_x(X, Y) = \\sum_i "
                "Z_i\\,X_i^{\\top}PY_i$ (AB-E9), with the normalisers $Z_i$ of the registered flow.",
                derive=paired,
                claimed=zero(),
                rules=tangent,
                left="g_x(X - T\\pi_PX,\\ Y)",
                uses=("image is tangent", "tangent vectors are fixed"),
                establishes=("the residual is orthogonal to the tangent space",),
            ),
        )
    )


def projection_on_instances(instances: int, seed: int) -> Verdict:
    """Image, tangent vectors and residual, coordinate by coordinate, for random rational data, exactly.

    At ``y = x/|x|_P`` with rational x: ``T pi X = X - (x^T P X) x / |x|_P^2`` needs no root.
    """
    source = random.Random(seed)

    def number() -> Any:
        return sp.Rational(source.randint(-9, 9), source.randint(1, 7))

    for _ in range(instances):
        d = source.choice((2, 3))
        root = [[number() + (5 if a == b else 0) for b in range(d)] for a in range(d)]
        spd = [[sum(root[a][k] * root[b][k] for k in range(d)) for b in range(d)] for a in range(d)]
        x, X, Y = ([number() + sp.Rational(1, 11) for _ in range(d)] for _ in range(3))

        def moved(along: list[Any], x: list[Any] = x, spd: list[list[Any]] = spd) -> list[Any]:
            part = inner(x, apply_matrix(spd, along)) / inner(x, apply_matrix(spd, x))
            return [b - part * a for a, b in zip(x, along, strict=True)]

        image, tangent = moved(X), moved(Y)
        residual = [a - b for a, b in zip(X, image, strict=True)]
        if inner(x, apply_matrix(spd, image)) != 0 or moved(tangent) != tangent:
            return fails(f"no projection onto the tangent space at P = {spd}, x = {x}")
        if inner(residual, apply_matrix(spd, tangent)) != 0:
            return fails(f"the residual is not orthogonal at P = {spd}, x = {x}")
    return holds(f"{instances} exact instances: image, tangent vectors and residual are as stated")


AB_L31 = register(
    Statement(
        id="AB-L3.1",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 3.1"),
        title="The differential of the projection is orthogonal",
        systems=("ellipsoid-flow",),
        conditions=(Symmetric(P), PositiveDefinite(P)),
        depends=("AB-E3", "AB-E9"),
        claims=(IMAGE, KEPT, ORTHOGONAL),
        derive=derive,
        proof=projection,
        property_tests=(projection_on_instances,),
    )
)
