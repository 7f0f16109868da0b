"""AB-L3.3 and AB-T3.2: every trajectory of the gradient case converges to a single equilibrium.

The printed Lojasiewicz inequality ``|V_P| <= lambda |grad V_P|`` is false at every equilibrium; the local form around the
limit value holds by analyticity and gives the conclusion.
Reference: Abella-Silvestre-Tabuada, Lemma 3.3, Theorem 3.2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e08_gradient_case import data
from eigentoken.proofs.abella.gradient import convergence
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import FLOATS, as_floats
from eigentoken.proofs.properties.flow_properties import potential_decreases
from eigentoken.proofs.properties.trajectories import integrate
from eigentoken.proofs.steps.calculus_steps import (
    TOKEN_I,
    TOKEN_J,
    analytic_step,
    attention_sum,
    field_of,
    pair_exponential,
    token,
)
from eigentoken.proofs.steps.tensor_reductions import EXACT, velocity
from eigentoken.proofs.steps.textbook import LASALLE, LOJASIEWICZ
from eigentoken.proofs.steps.textbook_flows import LIMIT_IS_EQUILIBRIUM
from eigentoken.theory.calculus import Assumptions, Letter, differentiate, direction, instance, vector
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.language.places import SomeEquilibrium
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.statements.registry import Recalled, recalled, register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.systems.catalogue import system

P = matrix("P")
CONDITIONS = (Symmetric(P), PositiveDefinite(P))
GRADIENT = "the system is minus the gradient of a function"
DECREASE = "the potential is continuously differentiable and does not increase along trajectories"
AT_REST = "the derivative of the potential vanishes only at equilibria"
INVARIANT_SET = "every trajectory tends to the largest invariant set where the derivative of the potential vanishes"
LIPSCHITZ = "the field is autonomous and locally Lipschitz"
BOUNDED = "the trajectories are bounded"


def _bounded() -> Recalled:
    return recalled(
        "AB-E8",
        BOUNDED,
        "The trajectories stay on the compact product of ellipsoids.",
        "y(t) \\in (\\mathcal{E}_P)^{\\ell}",
        name="compactness",
    )


def _lipschitz() -> Recalled:
    return recalled("AB-E8", LIPSCHITZ, "The field is real analytic and does not depend on time.", name="smoothness")


def derive_lasalle() -> Derivation:
    """LaSalle on a compact invariant set."""
    far, near, eps = sp.symbols("D d epsilon", real=True)
    return Derivation(
        (
            _bounded(),
            _lipschitz(),
            recalled(
                "AB-T3.1",
                DECREASE,
                "The potential does not increase",
                "\\dot V_P = -|Y_P|_g^2 \\le 0",
                name="decrease",
            ),
            recalled(
                "AB-T3.1",
                AT_REST,
                "and its derivative vanishes only at equilibria.",
                "|Y_P|_g = 0 \\implies Y_P = 0",
                name="rest",
            ),
            Citation(
                name="LaSalle",
                says="So every trajectory tends to the largest invariant set $M$ in $\\{\\dot V_P = 0\\}$.",
                theorem=LASALLE,
                letters={"V": "the potential"},
                uses=("compactness", "smoothness", "decrease"),
                formula="\\operatorname{dist}(y(t), M) \\to 0",
                establishes=(INVARIANT_SET,),
            ),
            Inequality(
                name="the set of equilibria",
                says="$M$ lies in the set of equilibria, whose distance $D$ to $y(t)$ is therefore at most the "
                "distance $d$ of $M$: it becomes smaller than any $\\epsilon$.",
                hypotheses=(far <= near, near < eps),
                conclusion=far < eps,
                uses=("LaSalle", "rest"),
                needs=(INVARIANT_SET, AT_REST),
                establishes=("every trajectory tends to the set of equilibria",),
            ),
        )
    )


def derive_convergence() -> Derivation:
    """Lojasiewicz for an analytic gradient flow on a compact manifold."""
    letter = Letter("P")
    rules = Assumptions(symmetric=frozenset({"P"}))
    field = field_of("ellipsoid-flow", {"P": letter}, rules)
    pair = pair_exponential(letter, TOKEN_I, TOKEN_J)
    potential = (pair * sp.Rational(-1, 2)).summed(TOKEN_I, TOKEN_J)
    product = inner(token(TOKEN_I), token(TOKEN_J), (letter,))
    theta, gap, rate, constant, slope = sp.symbols("theta v s C g", positive=True)
    return Derivation(
        (
            _bounded(),
            _lipschitz(),
            recalled("AB-T3.1", GRADIENT, "The flow is a gradient flow.", "\\dot y = -\\operatorname{grad}_g V_P"),
            analytic_step(
                "analytic potential",
                "The differential of $V_P$ along any $X$ is a finite sum of products of inner products and "
                "exponentials: $V_P$ is real analytic.",
                derive=lambda: differentiate(potential, direction("y", "X"), rules),
                claimed=-(pair * inner(vector("X", TOKEN_I), token(TOKEN_J), (letter,))).summed(TOKEN_I, TOKEN_J),
                rules=rules,
                left="dV_P(y)\\,X",
            ),
            analytic_step(
                "analytic metric",
                "The weights $Z_i$ of $g$ are $\\sqrt d$ times sums of exponentials, and $Z_i$ times the velocity of "
                "token $i$ has no denominator left: $g$ is a positive definite analytic form on the analytic manifold "
                "$(\\mathcal{E}_P)^{\\ell}$.",
                derive=lambda: attention_sum(letter, TOKEN_I) * instance(field, TOKEN_I),
                claimed=(pair * (token(TOKEN_J) - product * token(TOKEN_I))).summed(TOKEN_J),
                rules=rules,
                left="Z_i\\,\\dot y_i",
                uses=("analytic potential",),
                establishes=("the function and the metric are real analytic",),
            ),
            Identity(
                name="why the local form gives a finite length",
                says="Let $v = V_P(y) - V_P(y^*) > 0$ and $|{\\operatorname{grad} V_P}| = g$ along a trajectory, so "
                "that $\\dot v = -g^2$. Then $\\tfrac{d}{dt}\\, v^{1-\\theta}$ is $-(1-\\theta)\\,v^{-\\theta}g^2$, "
                "and with $v^{\\theta} \\le C g$ the speed $g$ is at most $-\\tfrac{C}{1-\\theta}\\tfrac{d}{dt} "
                "v^{1-\\theta}$, which is integrable.",
                left=sp.diff(sp.Function("v", positive=True)(slope) ** (1 - theta), slope)
                .subs(sp.Derivative(sp.Function("v", positive=True)(slope), slope), -(rate**2))
                .subs(sp.Function("v", positive=True)(slope), gap),
                right=-(1 - theta) * rate**2 / gap**theta,
            ),
            Inequality(
                name="speed",
                says="Indeed, with $p = v^{\\theta}$ and $p \\le C g$: $g \\le C g^2/p$.",
                hypotheses=(gap <= constant * rate,),
                conclusion=rate <= constant * rate**2 / gap,
                uses=("why the local form gives a finite length",),
            ),
            Citation(
                name="Lojasiewicz",
                says="Near each limit point the inequality $|V_P(y) - V_P(y^*)|^{\\theta} \\le "
                "C\\,|{\\operatorname{grad} V_P}|$ holds with some $\\theta \\in [\\tfrac12, 1)$, so the trajectory "
                "has finite length and one limit.",
                theorem=LOJASIEWICZ,
                uses=("compactness", "from AB-T3.1", "analytic metric", "speed"),
                formula="y(t) \\to y^*",
                establishes=("every trajectory converges to a single point",),
            ),
            Citation(
                name="the limit is an equilibrium",
                says="A limit set is invariant; a single point is invariant where the field vanishes.",
                theorem=LIMIT_IS_EQUILIBRIUM,
                uses=("Lojasiewicz", "smoothness"),
                formula="Y_P(y^*) = 0",
                establishes=("every trajectory converges to a single equilibrium",),
            ),
        )
    )


def printed_inequality_fails() -> Verdict:
    """At consensus of two tokens on the circle the gradient vanishes and the potential is -2e."""
    one, nil = sp.Integer(1), sp.Integer(0)
    unit = ((one, nil), (nil, one))
    tokens = ((one, nil), (one, nil))
    speed = [sp.simplify(entry) for row in velocity("ellipsoid-flow", {"P": unit}, tokens) for entry in row]
    value = ellipsoid_potential(EXACT, system("ellipsoid-flow"), {"P": unit}, tokens)
    if any(entry != 0 for entry in speed):
        return fails("consensus is not an equilibrium")
    if sign(value) == -1:
        return holds(f"P = I, both tokens at e_1: the gradient is zero and V_P = {value} < 0, so no lambda works")
    return fails("the potential is not negative there")


def limit_example() -> list[float]:
    """``V_P(y(10))`` from the data of AB-T3.1, and the limit -8e."""
    spd, tokens = data()
    matrix_p, flat = as_floats(spd), [float(entry) for token in tokens for entry in token]
    flow = system("ellipsoid-flow")

    def field(_: float, state: Any) -> list[float]:
        rows = tuple(tuple(state[3 * i : 3 * i + 3]) for i in range(4))
        rows = FLOATS.normalise(rows, matrix_p)
        return [entry for row in flow.advance(FLOATS, {"P": matrix_p}, rows) for entry in row]

    end = integrate(field, flat, [10.0])[0]
    rows = tuple(tuple(end[3 * i : 3 * i + 3]) for i in range(4))
    return [ellipsoid_potential(FLOATS, flow, {"P": matrix_p}, FLOATS.normalise(rows, matrix_p))]


AB_L33 = register(
    Statement(
        id="AB-L3.3",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 3.3"),
        title="Trajectories tend to the set of equilibria",
        systems=("ellipsoid-flow",),
        conditions=CONDITIONS,
        claims=(Converges(SomeEquilibrium()),),
        depends=("AB-T3.1", "AB-E8"),
        derive=derive_lasalle,
        proof=convergence,
        property_tests=(potential_decreases,),
    )
)

AB_T32 = register(
    Statement(
        id="AB-T3.2",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 3.2"),
        title="Convergence to a single equilibrium",
        systems=("ellipsoid-flow",),
        conditions=CONDITIONS,
        claims=(Converges(SomeEquilibrium()),),
        depends=("AB-L3.3", "AB-T3.1", "AB-E8"),
        derive=derive_convergence,
        proof=convergence,
        printed=Printed(
            text="The proof rests on $|V_P| \\le \\lambda\\,|{\\operatorname{grad} V_P}|$ for some $\\lambda > 0$.",
            wrong="This is false at every equilibrium, where the right side is zero and $V_P < 0$. What analyticity "
            "gives is the local form $|V_P(y) - V_P(y^*)|^{\\theta} \\le C\\,|{\\operatorname{grad} V_P(y)}|$ with "
            "$\\theta \\in [\\tfrac12, 1)$; the theorem is true.",
            counterexamples=(
                Counterexample(
                    name="consensus",
                    says="$P = I$, $\\ell = 2$, both tokens at $e_1$: the gradient vanishes and $V_P = -2e$.",
                    instance={
                        "system": "ellipsoid-flow",
                        "P": [["1", "0"], ["0", "1"]],
                        "tokens": [["1", "0"], ["1", "0"]],
                    },
                    check=printed_inequality_fails,
                ),
            ),
            false=False,
        ),
        vectors=(
            Vector("V_P(y(10)) from the data of AB-T3.1", limit_example, ("-21.553193064631",)),
            Vector("the limit -8e", lambda: [-8 * sp.E], ("-21.746254627672",)),
        ),
    )
)
