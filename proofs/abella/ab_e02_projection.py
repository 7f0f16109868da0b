"""AB-E2, AB-E3: the projection to an ellipsoid and its differential.

``pi_W(x) = x / |x|_W`` and ``T_x pi_W X = |x|_W^{-1} (I - x x^T W / |x|_W^2) X``.  The projection is
that of the calculus, for symbolic d.
Reference: Abella-Silvestre-Tabuada, eqs. (2), (3).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.equations import (
    CONSERVED,
    DEFINITE,
    DIFFERENTIAL,
    NORM_OF_THE_STEP,
    NORMALISED,
    RAYS,
    TANGENT,
    conserved,
    definite,
    norm_of_the_step,
    normalised,
    rays,
)
from eigentoken.proofs.abella.equations import differential as differential_on_the_ellipsoid
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import as_numbers, numbers
from eigentoken.proofs.properties.flow_properties import differential_of_projection, on_the_ellipsoid
from eigentoken.proofs.steps.calculus_steps import tensor_step
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Expression,
    Letter,
    Norm,
    differentiate,
    direction,
    dot,
    factor,
    one,
    vector,
    zero,
)
from eigentoken.theory.calculus.derivative import expand_definitions, with_norms
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix
from eigentoken.theory.language.observables import dot as inner
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation, Identity

W = matrix("W")
LETTER = Letter("W")


def projection(metric: Letter) -> tuple[Expression, Assumptions]:
    """``pi_W(x) = x / |x|_W`` as the calculus normalises, written in x; and what it says of the norm: ``r^2 = x^T W x``."""
    algebra = CalculusAlgebra(Assumptions(symmetric=frozenset({metric.name})))
    projected = expand_definitions(algebra.normalise(vector("x", SLOT), metric), algebra.assumptions)
    norms = {name: ("x", word) for name, (_, word) in algebra.assumptions.norms.items()}
    return projected, Assumptions(symmetric=frozenset({metric.name}), norms=norms)


def differential(metric: Letter) -> Expression:
    """``T_x pi_W X``: the projection, differentiated along X."""
    projected, rules = projection(metric)
    return differentiate(projected, direction("x", "X"), rules)


def at_unit_norm(expression: Expression) -> Expression:
    """The expression at states on the ellipsoid, where r = 1."""
    return with_norms(expression, {("r", SLOT.kind): sp.Integer(1)})


def derive_projection() -> Derivation:
    """The projection has norm one, for every d, and scaling the vector scales its norm."""
    scale, form, square = sp.symbols("c Q q", positive=True)
    coordinate = sp.Symbol("x", real=True)
    projected, rules = projection(LETTER)
    return Derivation(
        (
            tensor_step(
                "on the ellipsoid",
                "Write $r_i = \\lvert x_i\\rvert_W$, so that $r_i^2 = x_i^{\\top}Wx_i > 0$, for a family of vectors $x_i$. "
                "Their projections lie on the ellipsoid.",
                derive=lambda: dot(projected, projected, (LETTER,)),
                claimed=one(),
                rules=rules,
                left="\\pi_W(x_i)^{\\top}W\\pi_W(x_i)",
                establishes=("the projection lies on the ellipsoid",),
            ),
            Identity(
                name="rays",
                says="The projection is constant on rays: with $q = x^{\\top}Wx$, $cx$ has the form $Q = c^2 q$ (read in "
                "each coordinate).",
                left=scale * coordinate / sp.sqrt(form),
                right=coordinate / sp.sqrt(square),
                where={form: scale**2 * square},
            ),
        )
    )


def derive_differential() -> Derivation:
    """The projection of the calculus, differentiated along X; at norm one; and its product with ``W x``."""
    _, rules = projection(LETTER)
    x, along, norm = vector("x", SLOT), vector("X", SLOT), Norm("r", (SLOT,))
    mixed = dot(x, along, (LETTER,))
    return Derivation(
        (
            tensor_step(
                "differential",
                "The derivative of $\\pi_W(x_i) = x_i/r_i$ along $X_i$, where $r_i^2 = x_i^{\\top}Wx_i$, for every $d$:",
                derive=lambda: differential(LETTER),
                claimed=along * factor(norm, -1) - mixed * factor(norm, -3) * x,
                rules=rules,
                left="T_{x_i}\\pi_W\\,X_i",
                establishes=("the differential of the projection",),
            ),
            tensor_step(
                "on the ellipsoid",
                "At points of the ellipsoid $r_i = 1$, which leaves:",
                derive=lambda: at_unit_norm(differential(LETTER)),
                claimed=along - mixed * x,
                rules=Assumptions(symmetric=rules.symmetric, unit={"x": (LETTER,)}),
                left="T_{x_i}\\pi_W\\,X_i",
                uses=("differential",),
            ),
            tensor_step(
                "tangency",
                "The image is tangent, at every $x$: its product with $Wx_i$ vanishes.",
                derive=lambda: dot(x, differential(LETTER), (LETTER,)),
                claimed=zero(),
                rules=rules,
                left="x_i^{\\top}W\\,T_{x_i}\\pi_W\\,X_i",
                uses=("differential",),
                establishes=("the image is tangent to the ellipsoid",),
            ),
        )
    )


def _example() -> tuple[Any, Any, Any]:
    rows = as_numbers(((1, 2, -1), (1, 0, 1)))
    metric = as_numbers(((1, 0, 0), (0, 2, 0), (0, 0, 3)))
    return rows[0], rows[1], metric


def projection_example() -> tuple[Any, ...]:
    """``pi_W(x)`` for x = (1, 2, -1), W = diag(1, 2, 3)."""
    point, _, metric = _example()
    return tuple(numbers().normalise((point,), metric)[0])


def differential_example() -> list[Any]:
    """``T_x pi_W X`` for X = (1, 0, 1), by the formula."""
    point, along, metric = _example()
    size = inner(point, apply_matrix(metric, point))
    mixed = inner(point, apply_matrix(metric, along))
    return [(b - mixed / size * a) / numbers().sqrt(size) for a, b in zip(point, along, strict=True)]


def proof(kernel: Kernel) -> Proved:
    """What the projection is, and that the layer divides by it: it stays on the ellipsoid."""
    return kernel.conjunction(*(each(kernel) for each in (definite, rays, normalised, norm_of_the_step, conserved)))


AB_E2 = register(
    Statement(
        id="AB-E2",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (2)"),
        title="Projection to an ellipsoid",
        systems=("ellipsoid-map",),
        conditions=(Symmetric(W), PositiveDefinite(W)),
        claims=(DEFINITE, RAYS, NORMALISED, NORM_OF_THE_STEP, CONSERVED),
        derive=derive_projection,
        proof=proof,
        vectors=(
            Vector(
                "x = (1, 2, -1), W = diag(1, 2, 3)",
                projection_example,
                ("0.288675134594813", "0.577350269189626", "-0.288675134594813"),
            ),
        ),
        property_tests=(on_the_ellipsoid,),
    )
)

AB_E3 = register(
    Statement(
        id="AB-E3",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (3), Remark 2.1"),
        title="Differential of the projection",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W)),
        claims=(DIFFERENTIAL, TANGENT),
        depends=("AB-E2",),
        derive=derive_differential,
        proof=differential_on_the_ellipsoid,
        vectors=(
            Vector(
                "x = (1, 2, -1), W = diag(1, 2, 3), X = (1, 0, 1)",
                differential_example,
                ("0.336787657027282", "0.096225044864938", "0.240562612162344"),
            ),
        ),
        property_tests=(differential_of_projection,),
    )
)
