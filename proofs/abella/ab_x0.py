"""AB-X0 (extension): the case P != I is the case P = I, and consensus is reached from almost every start.

``z_i = P^{1/2} y_i`` maps (8) on the ellipsoid exactly onto (8) with P = I on the sphere.  For d >= 3 every critical point
that is not a consensus has a direction of negative second variation, found by averaging over a common push of all tokens.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.tensor_reductions import slope, velocity
from eigentoken.proofs.textbook import CENTRE_STABLE, CIRCLE_CONSENSUS, UNIFORM_MOMENTS
from eigentoken.proofs.textbook_flows import SMOOTH_FLOW
from eigentoken.proofs.textbook_maps import OSTROWSKI
from eigentoken.theory.claims import AlmostEveryConverges
from eigentoken.theory.conditions import PositiveDefinite, Relation, Symmetric
from eigentoken.theory.points import ConsensusSet
from eigentoken.theory.recall import recalled
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.terms import d, matrix
from eigentoken.theory.verdicts import Verdict, fails, holds

P = matrix("P")

c = sp.Symbol("c", real=True)
a_i, a_j, eps = sp.symbols("a_i a_j epsilon", real=True)

#: Inner product of the tokens i, j after pushing all tokens along a common v, with a_i = z_i^T v.
PUSHED = (c + eps * (a_i + a_j) + eps**2) / sp.sqrt((1 + 2 * eps * a_i + eps**2) * (1 + 2 * eps * a_j + eps**2))
#: The second derivative of that inner product at eps = 0.
CURVATURE = 2 * (1 - c) + (3 * c - 2) * (a_i**2 + a_j**2) + (2 * c - 4) * a_i * a_j
#: The second variation of a pair, divided by e^c, averaged over v.
AVERAGE = 2 * (1 - c) ** 2 * (1 + c) / d + 2 * (1 - c) * (1 - (2 + c) / d)


def second_variation() -> Any:
    """``e^{-c} d^2/d eps^2 e^{c(eps)}`` at 0, a polynomial in a_i, a_j."""
    first = sp.diff(PUSHED, eps).subs(eps, 0)
    second = sp.diff(PUSHED, eps, 2).subs(eps, 0)
    return sp.expand(first**2 + second)


def averaged(polynomial: Any) -> Any:
    """Replace the moments of ``a = z^T v`` for v uniform on the sphere: ``E a_i a_j = c/d``, ``E a_i^2 = 1/d``."""
    table = sp.Poly(polynomial, a_i, a_j)
    moments = {(0, 0): sp.Integer(1), (2, 0): 1 / d, (0, 2): 1 / d, (1, 1): c / d}
    unknown = [power for power in table.as_dict() if power not in moments and power not in {(1, 0), (0, 1)}]
    if unknown:
        raise ValueError(f"moments {unknown} are not second moments: only quadratic polynomials can be averaged here")
    return sum(value * moments.get(power, 0) for power, value in table.as_dict().items())


def derive() -> Derivation:
    """Conjugacy, second variation, its average, its sign, and the centre-stable manifold theorem."""
    from eigentoken.proofs.calculus_steps import tensor_step
    from eigentoken.theory.calculus import SLOT, Assumptions, Letter, vector

    score, root, back = Letter("P"), Letter("R"), Letter("S")
    # y = S z with S = R^{-1}, R = P^{1/2}: R S = 1 and S^T P S = 1 are the rules
    rules = Assumptions(
        symmetric=frozenset({"P", "R", "S"}), products={("R", "S"): (), ("P", "S"): (root,), ("S", "R"): ()}
    )

    def carried() -> Any:
        from eigentoken.theory.calculus import CalculusAlgebra
        from eigentoken.theory.systems import system

        state = vector("z", SLOT).applied((back,))
        field = system("ellipsoid-flow").advance(CalculusAlgebra(rules), {"P": score}, state)
        return field.applied((root,))

    g_a, H_ab, u_a, u_b, w_a, w_b = sp.symbols("g_a H_ab u_a u_b w_a w_b", real=True)
    x_a, x_b = u_a * eps + w_a * eps**2 / 2, u_b * eps + w_b * eps**2 / 2
    share, hessian, gamma, unstable, negative = sp.symbols("p H gamma k k_-", real=True)
    beta, shrink = sp.symbols("beta f", positive=True)
    return Derivation(
        (
            tensor_step(
                "conjugacy",
                "Put $z_i = R y_i$ with $R = P^{1/2}$. The registered field at $y = R^{-1}z$, multiplied by $R$, is "
                "the field of "
                "the sphere at $P = I$, weights included, because $y_i^{\\top}Py_j = z_i^{\\top}z_j$.",
                derive=carried,
                claimed=_sphere_field(),
                rules=rules,
                left="\\dot z_i",
                establishes=("the system is conjugate to the case P = I",),
            ),
            Identity(
                name="second variation of a pair",
                says="Push all tokens along a common unit vector $v$, $z_i(\\varepsilon) = \\pi(z_i + \\varepsilon "
                "v)$, and write "
                "$a_i = z_i^{\\top}v$, $c = z_i^{\\top}z_j$. Twice differentiated at $\\varepsilon = 0$, the pair "
                "contributes "
                "$e^{c}$ times",
                left=second_variation(),
                right=(1 - c) ** 2 * (a_i + a_j) ** 2 + CURVATURE,
            ),
            Citation(
                name="moments",
                says="Average over $v$ uniform on the sphere: $\\mathbb{E}\\,a_i^2 = 1/d$ and $\\mathbb{E}\\,a_ia_j = "
                "c/d$.",
                theorem=UNIFORM_MOMENTS,
                formula="\\mathbb{E}\\,vv^{\\top} = I/d",
            ),
            Identity(
                name="averaged second variation",
                says="The average of the second variation of a pair, divided by $e^{c}$.",
                left=averaged(second_variation()),
                right=AVERAGE,
                uses=("second variation of a pair", "moments"),
            ),
            Inequality(
                name="negative unless consensus",
                says="For $d \\ge 3$ and $-1 \\le c < 1$ every pair contributes positively to "
                "$\\tfrac{d^2}{d\\varepsilon^2}\\sum e^{c}$, "
                "so the averaged second variation of $V = -\\tfrac12\\sum e^{c_{ij}}$ is negative unless all tokens "
                "coincide.",
                hypotheses=(d >= 3, c >= -1, c < 1),
                conclusion=AVERAGE > 0,
                uses=("averaged second variation",),
                establishes=("the averaged second variation is negative off the consensus set",),
            ),
            slope(
                "variation along a curve",
                "In coordinates, along $x_a = u_a\\varepsilon + \\tfrac12w_a\\varepsilon^2$, a first derivative "
                "$g_a$ and a second one $H_{ab}$ of $V$ contribute as follows; at a critical point $g_a = 0$, and "
                "what is left is the Hessian of the velocity.",
                g_a * x_a + H_ab * x_a * x_b / 2,
                eps,
                g_a * w_a + H_ab * u_a * u_b,
                at=0,
                order=2,
            ),
            Inequality(
                name="Hessian",
                says="So at a critical point the second variation is the Hessian $H$ of the velocity. A negative "
                "mean $m$ of $H$ over all $v$ means that some value $H$ is negative: if all were nonnegative, so "
                "would be each summand $p H$ of the mean.",
                hypotheses=(share >= 0, hessian >= 0),
                conclusion=share * hessian >= 0,
                uses=("negative unless consensus", "variation along a curve"),
                needs=("the averaged second variation is negative off the consensus set",),
                establishes=(
                    "the second factor is symmetric",
                    "the Hessian has a negative direction off the consensus set",
                ),
            ),
            recalled(
                "AB-E9",
                "the metric is symmetric and positive definite",
                "The linearisation of the gradient flow is $-G^{-1}\\operatorname{Hess} V$ with the matrix $G$ of "
                "the metric.",
                "G = G^{\\top} \\succ 0",
                name="metric",
            ),
            Inequality(
                name="inverse metric",
                says="On an eigenvector of $G$ with eigenvalue $\\gamma > 0$ the inverse is $1/\\gamma > 0$.",
                hypotheses=(gamma > 0,),
                conclusion=1 / gamma > 0,
                uses=("metric",),
                establishes=("the first factor is positive definite",),
            ),
            Citation(
                name="unstable direction",
                says="So $G^{-1}(-\\operatorname{Hess} V)$ has as many positive eigenvalues as "
                "$-\\operatorname{Hess} V$: at least one.",
                theorem=OSTROWSKI,
                uses=("Hessian", "inverse metric"),
            ),
            Inequality(
                name="saddles",
                says="The number $k$ of positive eigenvalues of the linearisation is that of "
                "$-\\operatorname{Hess} V$, which is at least one off the consensus set.",
                hypotheses=(sp.Eq(unstable, negative), negative >= 1),
                conclusion=unstable >= 1,
                uses=("unstable direction",),
                needs=(
                    OSTROWSKI.conclusion,
                    "the Hessian has a negative direction off the consensus set",
                ),
                establishes=("every equilibrium outside a set has an unstable direction",),
            ),
            recalled(
                "AB-T3.2",
                "every trajectory converges to a single equilibrium",
                "Every trajectory has a single limit, an equilibrium.",
                "y(t) \\to y^*, \\qquad Y_P(y^*) = 0",
                name="limits",
            ),
            recalled("AB-E8", "the field is smooth", "The field is smooth", name="smooth field"),
            recalled(
                "AB-E8", "the state space is a compact manifold", "on a compact manifold.", name="compact manifold"
            ),
            Citation(
                name="diffeomorphism",
                says="So its flow is complete and consists of diffeomorphisms.",
                theorem=SMOOTH_FLOW,
                uses=("smooth field", "compact manifold"),
            ),
            Citation(
                name="almost every start, d at least 3",
                says="The consensus set is the set of the theorem.",
                theorem=CENTRE_STABLE,
                uses=("saddles", "limits", "diffeomorphism", "conjugacy"),
                formula="\\operatorname{meas}\\{y(0) : \\lim y(t) \\text{ is not a consensus}\\} = 0 \\qquad (d \\ge "
                "3)",
            ),
            Identity(
                name="inverse temperature one",
                says="On the circle, $d = 2$, the scores $\\beta z_i^{\\top}z_j$ of the conjugate system have $\\beta "
                "= 1$: with "
                "$P = \\beta I$ the tokens are $y_i = f z_i$, $f = 1/\\sqrt\\beta$, and $\\beta\\,y_i^{\\top}y_j = "
                "\\beta f^2 c$.",
                left=beta * shrink**2 * c,
                right=c,
                where={shrink: 1 / sp.sqrt(beta)},
                uses=("conjugacy",),
                establishes=("the inverse temperature is at most one",),
            ),
            Citation(
                name="almost every start, d = 2",
                says="For $d = 2$ the result is known and not proved again here.",
                theorem=CIRCLE_CONSENSUS,
                uses=("inverse temperature one",),
                formula="\\operatorname{meas}\\{y(0) : \\lim y(t) \\text{ is not a consensus}\\} = 0 \\qquad (d = 2)",
            ),
        )
    )


def _sphere_field() -> Any:
    """``(1/sqrt d) sum_j e^{z_i.z_j} (z_j - (z_i.z_j) z_i) / sum_k e^{z_i.z_k}``, written out."""
    from eigentoken.proofs.calculus_steps import TOKEN_J
    from eigentoken.theory.calculus import DIMENSION, SLOT, dot, exponential, factor, vector
    from eigentoken.theory.calculus.expressions import row_sum

    here, other = vector("z", SLOT), vector("z", TOKEN_J)
    pair = dot(here, other)
    weight = exponential(pair) * factor(row_sum(pair, TOKEN_J), -1) / sp.sqrt(DIMENSION)
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


def antipodal_pair_hessian() -> list[Any]:
    """The smallest Hessian eigenvalue of V at an antipodal pair on the circle: -2/e."""
    theta = sp.Symbol("theta", real=True)
    return [sp.diff(-sp.exp(sp.cos(theta)) - sp.E, theta, 2).subs(theta, sp.pi) * 2]


def _rational_sphere_point(source: random.Random, size: int) -> list[Any]:
    flat = [sp.Rational(source.randint(-9, 9), 10) for _ in range(size - 1)]
    square = sum(each * each for each in flat)
    return [*(2 * each / (1 + square) for each in flat), (1 - square) / (1 + square)]


def average_on_instances(instances: int, seed: int) -> Verdict:
    """The averaged formula, exactly, at random rational points of the sphere: the d axes average quadratics as v does."""
    source = random.Random(seed)
    value, formula = sp.Poly(second_variation(), a_i, a_j, c), sp.lambdify((c, d), AVERAGE)
    for _ in range(instances):
        size = source.choice((2, 3, 4))
        first, second = (_rational_sphere_point(source, size) for _ in range(2))
        pair = sum(x * y for x, y in zip(first, second, strict=True))
        mean = sum(value(first[k], second[k], pair) for k in range(size)) / size
        claimed = formula(pair, sp.Integer(size))
        if mean != claimed:
            return fails(f"the average is {mean}, the formula gives {claimed} at {first}, {second}")
        if size >= 3 and pair != 1 and not claimed > 0:
            return fails(f"the average {claimed} is not positive at {first}, {second}")
    return holds(f"{instances} exact instances agree, with the right sign for d >= 3")


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
        "temperature is "
        "always one. (ii) No equilibrium off the consensus set is asymptotically stable, and almost every start "
        "reaches "
        "consensus. The consensus \\emph{set} is asymptotically stable; its points are not, since they form a "
        "manifold. "
        "The case $W = I$, $P \\neq I$ is open here.",
        depends=("AB-T3.2", "AB-E8", "AB-E9"),
        facts=(
            "the vector is uniform on the unit sphere",
            "the tokens move on the circle",
        ),
        derive=derive,
        printed=Printed(
            text="For $P = I$ linearisation shows that only the consensus equilibria are asymptotically stable; for "
            "$P \\neq I$ this "
            "leads to conditions that cannot be easily ascertained.",
            wrong="The case $P \\neq I$ is conjugate to $P = I$. And a single consensus point is never asymptotically "
            "stable: the "
            "consensus set is.",
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
