"""AB-E8, AB-E9, AB-E10: the gradient case: single head, U = I, W = P; the metric g and the potential V.

``dy_i/dt = sum_j alpha_ij (y_j - (y_i^T P y_j) y_i)``, ``g_x(X, Y) = sum_i Z_i(x) X_i^T P Y_i``,
``V(x) = -1/2 sum_ij exp(x_i^T P x_j)``.  Reference: Abella-Silvestre-Tabuada, eqs. (8)-(10).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.gradient import (
    CONSERVED,
    DIFFERENTIAL,
    POSITIVE,
    SYMMETRIC,
    VELOCITY,
    differential,
    flow,
    metric,
)
from eigentoken.proofs.abella.heads_flow import attention_weight
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import det_spd, det_tokens, numbers
from eigentoken.proofs.properties.flow_properties import gradient_identity, metric_is_positive, tangent_field
from eigentoken.proofs.steps.calculus_steps import (
    TOKEN_I,
    TOKEN_J,
    along_flow,
    analytic_step,
    field_of,
    pair_exponential,
    tensor_step,
    token,
)
from eigentoken.proofs.steps.textbook_flows import LEVEL_SET
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    Letter,
    differentiate,
    direction,
    dot,
    one,
    vector,
    zero,
)
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Inequality, Step
from eigentoken.theory.systems.catalogue import system

P = matrix("P")
CONDITIONS = (Symmetric(P), PositiveDefinite(P))


def _special_case() -> tuple[Step, ...]:
    """Model (8) is model (7) with one head, U = I and W = P; it stays on the ellipsoid and is smooth."""
    letter = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}), unit={"y": (letter,)})
    field = field_of("ellipsoid-flow", {"P": letter}, rules)
    pair = dot(vector("y", SLOT), token(TOKEN_J), (letter,))
    written = (attention_weight(letter, SLOT) * (token(TOKEN_J) - pair * vector("y", SLOT))).summed(TOKEN_J)

    def general() -> Any:
        return field_of("ellipsoid-multihead-flow", {"heads": [{"U": None, "P": letter}], "W": letter}, rules)

    return (
        tensor_step(
            "special case",
            "Model (7) with $h = 1$, $U = I$ and $W = P$ is model (8).",
            derive=general,
            claimed=field,
            rules=rules,
            left="\\dot y_i",
        ),
        tensor_step(
            "stays on the ellipsoid",
            "The form $y_i^{\\top}Py_i$ is conserved.",
            derive=lambda: along_flow(dot(token(TOKEN_I), token(TOKEN_I), (letter,)), field, rules),
            claimed=zero(),
            rules=rules,
            left="\\tfrac{d}{dt}\\, y_i^{\\top} P y_i",
            establishes=("the ellipsoid is invariant",),
        ),
        analytic_step(
            "smooth field",
            "Written out, the field of the registered system is a sum of products of inner products and exponentials, "
            "divided by sums of exponentials, which have no zero: it is real analytic, and $P$ does not depend on "
            "time.",
            derive=lambda: field,
            claimed=written,
            rules=rules,
            left="\\dot y_i",
            establishes=("the field is smooth", "the field is autonomous and locally Lipschitz"),
        ),
    )


def _compact_manifold() -> tuple[Step, ...]:
    """The ellipsoid is a compact manifold."""
    letter = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}), unit={"y": (letter,)})
    form, least, square = sp.symbols("q lambda N", real=True)
    return (
        Inequality(
            name="bounded",
            says="On $\\mathcal{E}_P$, $1 = q = y^{\\top}Py \\ge \\lambda N$ with $\\lambda = \\lambda_{\\min}(P) > 0$ "
            "and $N = |y|^2$: the ellipsoid is bounded, and so are the trajectories, which do not leave it.",
            hypotheses=(sp.Eq(form, 1), least > 0, form >= least * square),
            conclusion=square <= 1 / least,
            uses=("stays on the ellipsoid",),
            needs=("the ellipsoid is invariant",),
            establishes=("the state space is a bounded level set of a smooth map", "the trajectories are bounded"),
        ),
        tensor_step(
            "regular value",
            "The differential of $y_i^{\\top}Py_i$, which depends on token $i$ only, does not vanish on "
            "$\\mathcal{E}_P$: in the direction $y_i$ it is",
            derive=lambda: differentiate(
                dot(token(TOKEN_I), token(TOKEN_I), (letter,)), {"y": lambda index: token(index)}, rules
            ),
            claimed=one() * 2,
            rules=rules,
            left="d(y_i^{\\top}Py_i)\\,y_i",
            establishes=("the differential of that map is onto along the state space",),
        ),
        Citation(
            name="manifold",
            says="So the product of the ellipsoids, a level set of the map with the $\\ell$ components "
            "$y_i^{\\top}Py_i$, is a compact manifold.",
            theorem=LEVEL_SET,
            letters={"S": "the state space"},
            uses=("bounded", "regular value"),
            establishes=("the state space is a compact manifold",),
        ),
    )


def derive_flow() -> Derivation:
    """Model (8) is model (7) with one head, U = I and W = P; it is smooth and stays on a compact manifold."""
    return Derivation(
        (
            *_special_case(),
            *_compact_manifold(),
        )
    )


def derive_metric() -> Derivation:
    """Each summand of g is a positive multiple of a positive definite form."""
    weight, form, root, exponential = sp.symbols("Z_i F_i r E_i", real=True)
    return Derivation(
        (
            Inequality(
                name="weights",
                says="$Z_i = r E_i$ with $r = \\sqrt d$ and $E_i = \\sum_k e^{x_i^{\\top}Px_k}$ is positive.",
                hypotheses=(root > 0, exponential > 0),
                conclusion=root * exponential > 0,
            ),
            Inequality(
                name="positive definite",
                says="With $F_i = X_i^{\\top}PX_i > 0$ for $X_i \\neq 0$ each summand of $g_x(X, X)$ is positive; "
                "symmetry of $g$ is symmetry of $P$.",
                hypotheses=(weight > 0, form > 0),
                conclusion=weight * form > 0,
                uses=("weights",),
                establishes=("the metric is symmetric and positive definite",),
            ),
        )
    )


def derive_potential() -> Derivation:
    """The potential is symmetric in the tokens, and its derivative is computed by the calculus (see AB-L3.2)."""
    letter = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}))
    potential = (pair_exponential(letter, TOKEN_I, TOKEN_J, "x") * sp.Rational(-1, 2)).summed(TOKEN_I, TOKEN_J)
    claimed = -(
        pair_exponential(letter, TOKEN_I, TOKEN_J, "x") * dot(vector("X", TOKEN_I), vector("x", TOKEN_J), (letter,))
    ).summed(TOKEN_I, TOKEN_J)
    return Derivation(
        (
            tensor_step(
                "differential",
                "The differential of $V$ along $X$; the two halves are equal because $P$ is symmetric.",
                derive=lambda: differentiate(potential, direction("x", "X"), rules),
                claimed=claimed,
                rules=rules,
                left="dV(x)\\,X",
            ),
        )
    )


def data() -> tuple[Any, Any]:
    """``P = det_spd(3)`` and four tokens on its ellipsoid: the data of AB-T3.1."""
    spd = det_spd(3)
    return spd, numbers().normalise(det_tokens(4, 3), spd)


def potential_example() -> list[Any]:
    """``V_P``."""
    spd, tokens = data()
    return [ellipsoid_potential(numbers(), system("ellipsoid-flow"), {"P": spd}, tokens)]


def field_example() -> Any:
    """``dy_1/dt``."""
    spd, tokens = data()
    return system("ellipsoid-flow").advance(numbers(), {"P": spd}, tokens)[0]


AB_E8 = register(
    Statement(
        id="AB-E8",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (8)"),
        title="The gradient case of the model",
        systems=("ellipsoid-flow",),
        conditions=CONDITIONS,
        claims=(VELOCITY, CONSERVED),
        depends=("AB-E7",),
        derive=derive_flow,
        proof=flow,
        vectors=(
            Vector(
                "field of token 1, P = det_spd(3)",
                field_example,
                ("0.114687339668491", "0.043193542577166", "-0.030095720402233"),
            ),
        ),
        property_tests=(tangent_field,),
    )
)

AB_E9 = register(
    Statement(
        id="AB-E9",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (9)"),
        title="The Riemannian metric",
        systems=("ellipsoid-flow",),
        conditions=CONDITIONS,
        claims=(SYMMETRIC, POSITIVE),
        derive=derive_metric,
        proof=metric,
        property_tests=(metric_is_positive,),
    )
)

AB_E10 = register(
    Statement(
        id="AB-E10",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (10)"),
        title="The potential",
        systems=("ellipsoid-flow",),
        conditions=CONDITIONS,
        claims=(DIFFERENTIAL,),
        derive=derive_potential,
        proof=differential,
        vectors=(Vector("V_P at the data of AB-T3.1", potential_example, ("-11.037455826366",)),),
        property_tests=(gradient_identity,),
    )
)
