"""AB-X0 (extension): the case P != I is the case P = I, and consensus is reached from almost every start.

``z_i = P^{1/2} y_i`` maps (8) on the ellipsoid exactly onto (8) with P = I on the sphere.  For d >= 3 every critical point
that is not a consensus has a direction of negative second variation, found by averaging over a common push of all tokens; on the
circle a theorem of Criscitiello, Rebjock, McRae and Boumal on the critical points is cited.  The rest is one argument for all d.
Reference: Abella-Silvestre-Tabuada, end of Section 3.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.heads_flow import attention_weight
from eigentoken.proofs.abella.second_variation import (
    AVERAGE,
    CURVATURE,
    a_i,
    a_j,
    antipodal_pair_hessian,
    average_on_instances,
    averaged,
    c,
    eps,
    second_variation,
)
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.steps.calculus_steps import TOKEN_J, tensor_step
from eigentoken.proofs.steps.tensor_reductions import slope, velocity
from eigentoken.proofs.steps.textbook import (
    CENTRE_STABLE,
    CIRCLE_LANDSCAPE,
    LYAPUNOV,
    RAYLEIGH,
    SYMMETRIC_HESSIAN,
    UNIFORM_MOMENTS,
)
from eigentoken.proofs.steps.textbook_flows import SMOOTH_FLOW
from eigentoken.proofs.steps.textbook_maps import INERTIA_OF_PRODUCTS
from eigentoken.theory.calculus import (
    SLOT,
    Assumptions,
    CalculusAlgebra,
    Letter,
    dot,
    vector,
)
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import InHemisphere, PositiveDefinite, Relation, Symmetric
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    Statement,
    Vector,
)
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

P = matrix("P")


def _conjugacy() -> tuple[Step, ...]:
    """The flow with P is conjugate to the one with the identity."""
    score, root, back = Letter("P"), Letter("R"), Letter("S")
    rules = Assumptions(
        symmetric=frozenset({"P", "R", "S"}), products={("R", "S"): (), ("P", "S"): (root,), ("S", "R"): ()}
    )

    def carried() -> Any:
        from eigentoken.theory.systems.catalogue import system

        state = vector("z", SLOT).applied((back,))
        field = system("ellipsoid-flow").advance(CalculusAlgebra(rules), {"P": score}, state)
        return field.applied((root,))

    return (
        tensor_step(
            "conjugacy",
            "Put $z_i = R y_i$ with $R = P^{1/2}$. The registered field at $y = R^{-1}z$, multiplied by $R$, is the "
            "field of the sphere at $P = I$, weights included, because $y_i^{\\top}Py_j = z_i^{\\top}z_j$.",
            derive=carried,
            claimed=_sphere_field(),
            rules=rules,
            left="\\dot z_i",
            establishes=("the system is conjugate to the case P = I",),
        ),
    )


def _second_variation() -> tuple[Step, ...]:
    """The second variation of the potential, averaged over directions, is negative off consensus."""
    return (
        Identity(
            name="second variation of a pair",
            says="Push all tokens along a common unit vector $v$, $z_i(\\varepsilon) = \\pi(z_i + \\varepsilon v)$, "
            "and write $a_i = z_i^{\\top}v$, $c = z_i^{\\top}z_j$. Twice differentiated at $\\varepsilon = 0$, the "
            "pair contributes $e^{c}$ times",
            left=second_variation(),
            right=(1 - c) ** 2 * (a_i + a_j) ** 2 + CURVATURE,
        ),
        Citation(
            name="moments",
            says="Average over $v$ uniform on the sphere: $\\mathbb{E}\\,a_i^2 = 1/d$ and $\\mathbb{E}\\,a_ia_j = c/d$.",
            theorem=UNIFORM_MOMENTS,
            establishes=("the second moments of the direction are those of I/d",),
            formula="\\mathbb{E}\\,vv^{\\top} = I/d",
        ),
        Identity(
            name="averaged second variation",
            says="The average of the second variation of a pair, divided by $e^{c}$.",
            left=averaged(second_variation()),
            right=AVERAGE,
            uses=("second variation of a pair", "moments"),
            needs=("the second moments of the direction are those of I/d",),
        ),
        Inequality(
            name="negative unless consensus",
            says="For $d \\ge 3$ and $-1 \\le c < 1$ every pair contributes positively to "
            "$\\tfrac{d^2}{d\\varepsilon^2}\\sum e^{c}$, so the averaged second variation of $V = -\\tfrac12\\sum "
            "e^{c_{ij}}$ is negative unless all tokens coincide.",
            hypotheses=(d >= 3, c >= -1, c < 1),
            conclusion=AVERAGE > 0,
            uses=("averaged second variation",),
            establishes=("the averaged second variation is negative off the consensus set",),
        ),
    )


def _hessian() -> tuple[Step, ...]:
    """The Hessian along a curve, and where it is negative."""
    g_a, H_ab, u_a, u_b, w_a, w_b = sp.symbols("g_a H_ab u_a u_b w_a w_b", real=True)
    x_a, x_b = u_a * eps + w_a * eps**2 / 2, u_b * eps + w_b * eps**2 / 2
    smallest, one_value, others = sp.symbols("q x R", real=True)
    return (
        slope(
            "variation along a curve",
            "In coordinates, along $x_a = u_a\\varepsilon + \\tfrac12w_a\\varepsilon^2$, a first derivative $g_a$ and "
            "a second one $H_{ab}$ of $V$ contribute as follows; at a critical point $g_a = 0$, and what is left is "
            "the Hessian of the velocity.",
            g_a * x_a + H_ab * x_a * x_b / 2,
            eps,
            g_a * w_a + H_ab * u_a * u_b,
            at=0,
            order=2,
        ),
        recalled(
            "AB-T3.2",
            "the function and the metric are real analytic",
            "The potential is real analytic,",
            name="analytic",
        ),
        Citation(
            name="symmetric Hessian",
            says="so its Hessian $H$ at a critical point is symmetric.",
            theorem=SYMMETRIC_HESSIAN,
            uses=("analytic",),
            formula="H = H^{\\top}",
            establishes=("the Hessian is symmetric",),
        ),
        Inequality(
            name="Hessian",
            says="At a critical point the second variation along $v$ is a quadratic form $Q(v)$, the value of the "
            "Hessian at the velocity. Its mean over the sphere is the mean of the $d$ values at an orthonormal basis. "
            "Let $q$ be the smallest of these, $x$ one of them and $R \\ge (d-1)q$ the sum of the others: if the sum "
            "is negative, so is $q$.",
            hypotheses=(smallest <= one_value, others >= (d - 1) * smallest, one_value + others < 0),
            conclusion=smallest < 0,
            uses=("negative unless consensus", "variation along a curve", "moments"),
            needs=(
                "the averaged second variation is negative off the consensus set",
                "the second moments of the direction are those of I/d",
            ),
            establishes=("for d >= 3 the Hessian has a negative direction off the consensus set",),
        ),
    )


def _circle() -> tuple[Step, ...]:
    """The circle, where the average says nothing: Taylor coefficients that do not increase."""
    one_value = sp.Symbol("x", real=True)
    order, below = sp.symbols("k g", positive=True)
    coefficient, after = sp.symbols("c_k c_{k+1}", real=True)
    return (
        Identity(
            name="Taylor coefficients",
            says="On the circle, $d = 2$, the push by a common vector does not decide, and a theorem is cited. In the "
            "conjugate system the potential is $-\\tfrac12\\sum_{i,j}\\varphi(z_i^{\\top}z_j)$ with $\\varphi = "
            "\\exp$, whatever $P$ is; the Taylor coefficients of $\\varphi' = \\exp$ at $0$ are $c_k = 1/k!$, each "
            "$1/(k + 1)$ times the one before (with $g = k!$ and $(k + 1)! = (k + 1)\\,g$):",
            left=after,
            right=coefficient / (order + 1),
            where={after: 1 / ((order + 1) * below), coefficient: 1 / below},
            uses=("conjugacy",),
            establishes=(
                "the potential is minus a positive multiple of the sum of phi of the inner products of all pairs of "
                "unit vectors",
            ),
        ),
        Inequality(
            name="coefficients do not increase",
            says="They are positive and do not increase.",
            hypotheses=(order >= 0, one_value > 0),
            conclusion=sp.And(one_value / (order + 1) > 0, one_value / (order + 1) <= one_value),
            uses=("Taylor coefficients",),
            establishes=("the Taylor coefficients of the derivative of phi are positive and do not increase",),
        ),
        Citation(
            name="the circle",
            says="So on the circle, too, the potential has a direction of negative curvature at each critical point "
            "that is no consensus. This theorem is not proved again here.",
            theorem=CIRCLE_LANDSCAPE,
            letters={"V": "the potential"},
            uses=("coefficients do not increase",),
            establishes=(
                "on the circle every critical point of the potential that is no consensus has a direction of negative "
                "curvature",
            ),
        ),
    )


def _negative_eigenvalue() -> tuple[Step, ...]:
    """In every dimension the Hessian has a negative eigenvalue off consensus."""
    smallest, lowest, size = sp.symbols("q lambda N", real=True)
    return (
        Inequality(
            name="every dimension",
            says="For every $d \\ge 2$ one of the two applies: the Hessian has a negative direction at each critical "
            "point off the consensus set.",
            hypotheses=(d >= 2, sp.Or(d <= 2, d >= 3)),
            conclusion=sp.Or(sp.Eq(d, 2), d >= 3),
            uses=("Hessian", "the circle"),
            needs=(
                "for d >= 3 the Hessian has a negative direction off the consensus set",
                "on the circle every critical point of the potential that is no consensus has a direction of negative "
                "curvature",
            ),
            establishes=("the Hessian has a negative direction off the consensus set",),
        ),
        Citation(
            name="Rayleigh",
            says="The form of a symmetric matrix is at least its smallest eigenvalue times the squared norm.",
            theorem=RAYLEIGH,
            letters={"A": "the Hessian"},
            uses=("symmetric Hessian",),
            formula="u^{\\top}Hu \\ge \\lambda_{\\min}(H)\\,|u|^2",
            establishes=("the form of the Hessian lies between its extreme eigenvalues times the squared norm",),
        ),
        Inequality(
            name="negative eigenvalue",
            says="So with a direction $u$, $N = |u|^2 > 0$, in which the form $q$ is negative, the smallest eigenvalue "
            "$\\lambda$ of $H$ is negative.",
            hypotheses=(lowest * size <= smallest, smallest < 0, size > 0),
            conclusion=lowest < 0,
            uses=("every dimension", "Rayleigh"),
            needs=(
                "the Hessian has a negative direction off the consensus set",
                "the form of the Hessian lies between its extreme eigenvalues times the squared norm",
            ),
            establishes=("the Hessian has a negative eigenvalue off the consensus set",),
        ),
    )


def _unstable_direction() -> tuple[Step, ...]:
    """The linearisation in the metric of the flow has an unstable direction at every other equilibrium."""
    H_ab, u_a = sp.symbols("H_ab u_a", real=True)
    nu, unstable, S_0, S_1 = sp.symbols("nu mu S_0 S_1", real=True)
    weigh, unweigh = Letter("G"), Letter("S")
    inverse_rules = Assumptions(symmetric=frozenset({"G", "S"}), products={("S", "G"): ()})
    return (
        recalled(
            "AB-E9",
            "the metric is symmetric and positive definite",
            "The matrix $G$ of the metric is symmetric and positive definite.",
            "G = G^{\\top} \\succ 0",
            name="metric",
        ),
        tensor_step(
            "inverse metric",
            "For $x = Gz$ the form of the inverse $S = G^{-1}$ is that of $G$ at $z$: it is positive for $x \\neq 0$.",
            derive=lambda: dot(vector("z").applied((weigh,)), vector("z").applied((unweigh, weigh))),
            claimed=dot(vector("z"), vector("z"), (weigh,)),
            rules=inverse_rules,
            left="(Gz)^{\\top}S(Gz)",
            uses=("metric",),
            needs=("the metric is symmetric and positive definite",),
            establishes=("the inverse metric is positive definite",),
        ),
        slope(
            "linearisation",
            "The flow is $-S\\nabla V$. Along $\\varepsilon u$ from a critical point the gradient is $\\varepsilon Hu$ "
            "to first order, and $S$ moves to $S_0 + \\varepsilon S_1$, which does not matter (written for one "
            "entry): the linearisation is $-G^{-1}H$.",
            -(S_0 + eps * S_1) * H_ab * eps * u_a,
            eps,
            -S_0 * H_ab * u_a,
            at=0,
        ),
        Citation(
            name="unstable direction",
            says="So $G^{-1}H$ has as many negative eigenvalues as $H$.",
            theorem=INERTIA_OF_PRODUCTS,
            letters={"A": "the inverse metric", "B": "the Hessian"},
            uses=("symmetric Hessian", "inverse metric"),
            formula="\\#\\{\\lambda(G^{-1}H) < 0\\} = \\#\\{\\lambda(H) < 0\\}",
            establishes=("the inverse metric times the Hessian has as many negative eigenvalues as the Hessian",),
        ),
        Inequality(
            name="saddles",
            says="Off the consensus set this number is at least one; a negative eigenvalue $\\nu$ of $G^{-1}H$ is an "
            "eigenvalue $\\mu = -\\nu > 0$ of the linearisation.",
            hypotheses=(nu < 0, sp.Eq(unstable, -nu)),
            conclusion=unstable > 0,
            uses=("unstable direction", "negative eigenvalue", "linearisation"),
            needs=(
                "the inverse metric times the Hessian has as many negative eigenvalues as the Hessian",
                "the Hessian has a negative eigenvalue off the consensus set",
            ),
            establishes=("every equilibrium outside the consensus set has an unstable direction",),
        ),
    )


def _almost_every_start() -> tuple[Step, ...]:
    """Trajectories have limits, the flow is a diffeomorphism: almost every limit is a consensus."""
    return (
        recalled(
            "AB-T3.2",
            "every trajectory converges to a single equilibrium",
            "Every trajectory has a single limit, an equilibrium.",
            "y(t) \\to y^*, \\qquad Y_P(y^*) = 0",
            name="limits",
        ),
        recalled("AB-E8", "the field is smooth", "The field is smooth", name="smooth field"),
        recalled("AB-E8", "the state space is a compact manifold", "on a compact manifold.", name="compact manifold"),
        Citation(
            name="diffeomorphism",
            says="So its flow is complete and consists of diffeomorphisms.",
            theorem=SMOOTH_FLOW,
            uses=("smooth field", "compact manifold"),
            establishes=("the flow is a diffeomorphism",),
        ),
        Citation(
            name="almost every start",
            says="So almost every start goes to consensus.",
            theorem=CENTRE_STABLE,
            letters={"S": "the consensus set"},
            establishes=("almost every start has its limit in the consensus set",),
            uses=("saddles", "limits", "diffeomorphism", "conjugacy"),
            formula="\\operatorname{meas}\\{y(0) : \\lim y(t) \\text{ is not a consensus}\\} = 0",
        ),
    )


def _stable_set() -> tuple[Step, ...]:
    """The consensus set is asymptotically stable."""
    one_value, size = sp.symbols("x N", real=True)
    height = sp.Symbol("h", real=True)
    return (
        Inequality(
            name="smallest potential",
            says="The potential $-\\tfrac12\\sum_{i,j} e^{c_{ij}}$, $c_{ij} = z_i^{\\top}z_j \\le x = 1$, is smallest "
            "exactly where all $c_{ij}$ are one, on the compact consensus set.",
            hypotheses=(c <= one_value, sp.Eq(one_value, 1)),
            conclusion=sp.And(sp.exp(c) <= sp.exp(one_value), sp.Implies(c < one_value, sp.exp(c) < sp.exp(one_value))),
            uses=("conjugacy",),
            establishes=("the potential is smallest exactly on the consensus set, which is compact",),
        ),
        recalled(
            "AB-T3.1",
            "the potential is continuously differentiable and does not increase along trajectories",
            "It does not increase along trajectories.",
            "\\dot V_P \\le 0",
            name="decrease",
        ),
        Citation(
            name="stable set",
            says="So the consensus set is stable.",
            theorem=LYAPUNOV,
            letters={"V": "the potential", "S": "the consensus set"},
            uses=("smallest potential", "decrease"),
            establishes=("the consensus set is stable",),
        ),
        recalled(
            "AB-X1",
            "all tokens tend to one point",
            "From an open hemisphere all tokens tend to one point.",
            "y_i(t) \\to y^* \\quad\\text{for all } i",
            name="hemisphere",
            letters={"U": "I", "W": "P"},
            assuming=(InHemisphere(),),
        ),
        Inequality(
            name="asymptotically stable set",
            says="Tokens near consensus lie in one hemisphere: if $D = |z_i - z_1|^2 = 2(1 - h) \\le 1$, the height $h "
            "= z_1^{\\top}z_i$ is at least $\\tfrac12$. So the consensus set attracts a neighbourhood too.",
            hypotheses=(sp.Eq(size, 2 * (1 - height)), size <= 1),
            conclusion=height >= sp.Rational(1, 2),
            uses=("stable set", "hemisphere"),
            needs=("the consensus set is stable", "all tokens tend to one point"),
            discharges=(InHemisphere(),),
            establishes=("the consensus set is asymptotically stable",),
        ),
    )


def derive() -> Derivation:
    """Conjugacy, second variation, its average, its sign, and the centre-stable manifold theorem."""
    return Derivation(
        (
            *_conjugacy(),
            *_second_variation(),
            *_hessian(),
            *_circle(),
            *_negative_eigenvalue(),
            *_unstable_direction(),
            *_almost_every_start(),
            *_stable_set(),
        )
    )


def _sphere_field() -> Any:
    """``(1/sqrt d) sum_j e^{z_i.z_j} (z_j - (z_i.z_j) z_i) / sum_k e^{z_i.z_k}``, written out."""
    here, other = vector("z", SLOT), vector("z", TOKEN_J)
    pair = dot(here, other)
    weight = attention_weight(None, SLOT, state="z")
    return (weight * other).summed(TOKEN_J) - (weight * pair).summed(TOKEN_J) * here


def consensus_points_not_asymptotically_stable() -> Verdict:
    """A consensus point is not asymptotically stable: a rotated consensus nearby is again an equilibrium."""
    angle = sp.Symbol("phi", real=True)
    point = (sp.cos(angle), sp.sin(angle))
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    speed = [sp.simplify(entry) for row in velocity("ellipsoid-flow", {"P": unit}, (point, point)) for entry in row]
    if all(entry == 0 for entry in speed):
        return holds("P = I: the consensus at angle phi is an equilibrium for every phi, so none is isolated")
    return fails("a consensus is not an equilibrium")


AB_X0 = register(
    Statement(
        id="AB-X0",
        kind=Kind.EXTENSION,
        source=Source(ABELLA, "end of Section 3"),
        title="The gradient case for every P, and almost sure consensus",
        systems=("ellipsoid-flow",),
        conditions=(Symmetric(P), PositiveDefinite(P), Relation(d >= 2)),
        claims=(AlmostEveryConverges(ConsensusSet()),),
        text="(i) $z_i = P^{1/2}y_i$ maps (8) on $\\mathcal{E}_P$ exactly onto (8) with $P = I$ on the sphere; the "
        "temperature is always one. (ii) No equilibrium off the consensus set is asymptotically stable, and almost "
        "every start reaches consensus. The consensus \\emph{set} is asymptotically stable; its points are not, since "
        "they form a manifold. ($d \\ge 3$ by the average below; on the circle by a cited theorem on the critical "
        "points.)",
        notes=(Remark(RemarkKind.OPEN, "The case $W = I$, $P \\neq I$ is open here."),),
        depends=("AB-T3.1", "AB-T3.2", "AB-E8", "AB-E9", "AB-X1"),
        facts=("the direction is uniform on the unit sphere",),
        derive=derive,
        claims_from=(("almost every start",),),
        prose_from=("saddles", "asymptotically stable set"),
        printed=Printed(
            text="For $P = I$ linearisation shows that only the consensus equilibria are asymptotically stable; for $P "
            "\\neq I$ this leads to conditions that cannot be easily ascertained.",
            wrong="The case $P \\neq I$ is conjugate to $P = I$. And a single consensus point is never asymptotically "
            "stable: the consensus set is.",
            counterexamples=(
                Counterexample(
                    name="rotated consensus",
                    says="$P = I$, $\\ell = 2$: consensus at any angle is an equilibrium, so no consensus point is "
                    "isolated.",
                    instance={
                        "system": "ellipsoid-flow",
                        "P": [["1", "0"], ["0", "1"]],
                        "tokens": [["1", "0"], ["1", "0"]],
                    },
                    check=consensus_points_not_asymptotically_stable,
                ),
            ),
            false=False,
        ),
        vectors=(
            Vector("Hessian of V at the antipodal pair on the circle", antipodal_pair_hessian, ("-0.7357588823",)),
        ),
        property_tests=(average_on_instances,),
    )
)
