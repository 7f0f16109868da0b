"""AB-E2, AB-E3: the projection to an ellipsoid and its differential.

``pi_W(x) = x / |x|_W`` and ``T_x pi_W X = |x|_W^{-1} (I - x x^T W / |x|_W^2) X``.  Vectors are read coordinatewise
(:mod:`eigentoken.proofs.steps.tensor_reductions`), so the identities hold for every d.
Reference: Abella-Silvestre-Tabuada, eqs. (2), (3).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import as_numbers, numbers
from eigentoken.proofs.properties.flow_properties import differential_of_projection, on_the_ellipsoid
from eigentoken.proofs.steps.tensor_reductions import applied, slope
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables import apply_matrix, dot
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation, Identity

W = matrix("W")

x, X = sp.symbols("x X", real=True)
q, q_y = sp.symbols("q q_y", positive=True)
m, r = sp.symbols("m r", real=True)
step = sp.Symbol("s", real=True)
PROJECTED = X / sp.sqrt(q) - x * m / q ** sp.Rational(3, 2)


def derive_projection() -> Derivation:
    """``q = x^T W x`` is the only number that enters."""
    scale, factor, form = sp.symbols("c f Q", positive=True)
    return Derivation(
        (
            Identity(
                name="on the ellipsoid",
                says="Write $q = x^{\\top} W x > 0$. The form $x^{\\top} W x$ is quadratic, so that of $fx$ with $f = "
                "1/\\sqrt q$ is one.",
                left=factor**2 * q,
                right=sp.Integer(1),
                where={factor: 1 / sp.sqrt(q)},
                establishes=("the projection lies on the ellipsoid",),
            ),
            Identity(
                name="rays",
                says="The projection is constant on rays: $cx$ has the form $c^2 q$ (read in each coordinate).",
                left=scale * x / sp.sqrt(form),
                right=x / sp.sqrt(q),
                where={form: scale**2 * q},
            ),
        )
    )


def derive_differential() -> Derivation:
    """Differentiate along ``x + s X``: the form becomes ``q + 2 s m + s^2 r``."""
    curve = (x + step * X) / sp.sqrt(q + 2 * step * m + step**2 * r)
    return Derivation(
        (
            slope(
                "differential",
                "Along $x + sX$ the form is $q + 2sm + s^2 r$ with $q = x^{\\top}Wx$, $m = x^{\\top}WX$, $r = "
                "X^{\\top}WX$. The derivative at $s = 0$, in each coordinate:",
                curve,
                step,
                PROJECTED,
                at=0,
                establishes=("the differential of the projection",),
            ),
            Identity(
                name="on the ellipsoid",
                says="At a point $y$ of the ellipsoid $q = 1$, which leaves $X - (y^{\\top}WX)\\,y$.",
                left=PROJECTED,
                right=X - m * x,
                where={q: sp.Integer(1)},
                uses=("differential",),
            ),
            applied(
                "tangency",
                "The image is tangent: apply $x^{\\top}W$, which sends $X$ to $m$ and $x$ to $q$.",
                PROJECTED,
                {X: m, x: q},
                sp.Integer(0),
                by="(Wx)^{\\top}",
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
    size = dot(point, apply_matrix(metric, point))
    mixed = dot(point, apply_matrix(metric, along))
    values = sp.lambdify((x, X, q, m), PROJECTED, modules="mpmath")
    return [values(a, b, size, mixed) for a, b in zip(point, along, strict=True)]


AB_E2 = register(
    Statement(
        id="AB-E2",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (2)"),
        title="Projection to an ellipsoid",
        systems=("ellipsoid-map",),
        text="For $W$ symmetric positive definite and $x \\neq 0$ put $\\pi_W(x) = x/|x|_W$, $|x|_W = "
        "(x^{\\top}Wx)^{1/2}$. Then $\\pi_W(x)$ lies on $\\mathcal{E}_W = \\{y : y^{\\top}Wy = 1\\}$, and $\\pi_W(cx) "
        "= \\pi_W(x)$ for $c > 0$.",
        conditions=(Symmetric(W), PositiveDefinite(W)),
        derive=derive_projection,
        prose_from=("on the ellipsoid", "rays"),
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
        text="$T_x\\pi_W\\, X = |x|_W^{-1}\\bigl(I - x x^{\\top} W/|x|_W^2\\bigr)X$; for $y \\in \\mathcal{E}_W$ it is "
        "$X - (y^{\\top}WX)\\,y$, with values in $T_y\\mathcal{E}_W = \\{Y : y^{\\top}WY = 0\\}$.",
        conditions=(Symmetric(W), PositiveDefinite(W)),
        depends=("AB-E2",),
        derive=derive_differential,
        prose_from=("on the ellipsoid", "tangency"),
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
