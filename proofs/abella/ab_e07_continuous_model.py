"""AB-E7: the continuous model, and why the layer is a first-order step of it.

``dy_i/dt = sum_h sum_j alpha^h_ij (U_h y_j - (y_i^T W U_h y_j) y_i)``.  Reference: Abella-Silvestre-Tabuada, eq. (7).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e04_attention_matrix_form import layer_data
from eigentoken.proofs.abella.equations import CONSERVED, VELOCITY, conserved, velocity
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import numbers
from eigentoken.proofs.properties.flow_properties import tangent_field
from eigentoken.proofs.steps.calculus_steps import HEAD, field_of, tensor_step
from eigentoken.proofs.steps.tensor_reductions import slope
from eigentoken.proofs.steps.textbook import TAYLOR
from eigentoken.theory.calculus import ALPHA, SLOT, Assumptions, CalculusAlgebra, Letter, dot, vector
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.systems.catalogue import system

W = matrix("W")


def derive() -> Derivation:
    """The tangent part of the push is the derivative of the layer in its step."""
    value, score, metric = Letter("U", False, (HEAD,)), Letter("P", False, (HEAD,)), Letter("W")
    rules = Assumptions(symmetric=frozenset({"W"}), unit={"y": (metric,)})
    given = {"heads": [{"U": value, "P": score}], "W": metric}

    def tangent_push() -> Any:
        here = vector("y", SLOT)
        raw = system("ellipsoid-map").raw_step(CalculusAlgebra(rules), {**given, "alpha": ALPHA}, here)
        push_of_map = (raw - here) / ALPHA
        return push_of_map - dot(here, push_of_map, (metric,)) * here

    y, u = sp.symbols("y u", real=True)
    tau, m, r, form, height = sp.symbols("tau m r N q_i", real=True)
    curve = (y + tau * u) / sp.sqrt(1 + 2 * tau * m + tau**2 * r)
    push = sp.Symbol("p", real=True)
    return Derivation(
        (
            slope(
                "first order in the step",
                "Put $V_{\\eta} \\to \\tau V_{\\eta}$ in (6): the token moves to $\\pi_W(y + \\tau u)$ with $u = \\sum "
                "\\alpha U y_j$. On the ellipsoid the form along the curve is $1 + 2\\tau m + \\tau^2 r$, $m = "
                "y^{\\top}Wu$; its derivative at $\\tau = 0$, in each coordinate, is the field of (7).",
                curve,
                tau,
                u - m * y,
                at=0,
                establishes=("value and first derivative of one step and the flow agree",),
            ),
            Inequality(
                name="smooth near zero",
                says="The form $1 + 2\\tau m + \\tau^2r = |y + \\tau u|_W^2$, where $m^2 \\le r = |u|_W^2$, has no "
                "zero while $\\tau^2r < 1$: its root is analytic there, so one step is analytic in $\\tau$; and so is "
                "a solution of the flow, whose field is analytic.",
                hypotheses=(r >= 0, m**2 <= r, tau**2 * r < 1),
                conclusion=1 + 2 * tau * m + tau**2 * r > 0,
                establishes=("one step and the flow are twice continuously differentiable",),
            ),
            tensor_step(
                "the two registered systems",
                "The push $u$ of the registered layer, $(y_i + \\tau u_i - y_i)/\\tau$ before normalisation, made "
                "tangent in this way, is the registered flow: for every number of tokens, heads, and every dimension.",
                derive=tangent_push,
                claimed=field_of("ellipsoid-multihead-flow", given, rules),
                rules=rules,
                left="u_i - (y_i^{\\top} W u_i)\\,y_i",
                uses=("first order in the step",),
            ),
            Citation(
                name="second order error",
                says="So one step differs from the flow by $O(\\tau^2)$.",
                theorem=TAYLOR,
                letters={"f": "one step", "g": "the flow"},
                formula="y_i^{+}(\\tau) = y_i(\\tau) + O(\\tau^2)",
                uses=("first order in the step", "smooth near zero"),
                establishes=("the difference of one step and the flow is of second order",),
            ),
            Identity(
                name="off the ellipsoid",
                says="Off the manifold the ambient field $v = p - q_i\\,y$, with $p^{\\top}Wy = q_i$ and $N = "
                "y^{\\top}Wy$, moves the form by $2y^{\\top}Wv$: where $q_i < 0$ the extension is radially unstable, "
                "so the field should be evaluated at $\\pi_W(y)$.",
                left=2 * (push - height * form),
                right=-2 * height * (form - 1),
                where={push: height},
            ),
        )
    )


def weights_example() -> Any:
    """``alpha^1_{1.}`` of the data of AB-E6."""
    tokens, heads, _ = layer_data()
    return numbers().attention(tokens, heads[0]["P"], None, True)[0]


def field_example() -> list[Any]:
    """``dy_1/dt`` and the Frobenius norm of the field."""
    tokens, heads, metric = layer_data()
    scalars = numbers()
    field = system("ellipsoid-multihead-flow").advance(scalars, {"heads": heads, "W": metric}, tokens)
    return [*field[0], scalars.sqrt(sum(entry * entry for row in field for entry in row))]


AB_E7 = register(
    Statement(
        id="AB-E7",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (7)"),
        title="The continuous model",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W)),
        claims=(VELOCITY, CONSERVED),
        depends=("AB-E3", "AB-E6"),
        derive=derive,
        proof=lambda kernel: kernel.conjunction(velocity(kernel), conserved(kernel)),
        vectors=(
            Vector(
                "weights of token 1, head 1",
                weights_example,
                ("0.185437155614816", "0.167008697598351", "0.224904415976459"),
            ),
            Vector(
                "field of token 1 and Frobenius norm",
                field_example,
                ("0.008717775690883", "0.026372257737099", "-0.007656874432666", "0.168364151335204"),
            ),
        ),
        property_tests=(tangent_field,),
    )
)
