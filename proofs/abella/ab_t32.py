"""AB-L3.3 and AB-T3.2: every trajectory of the gradient case converges to a single equilibrium.

The printed Lojasiewicz inequality ``|V_P| <= lambda |grad V_P|`` is false at every equilibrium; the local form around the
limit value holds by analyticity and gives the conclusion.  Reference: Lemma 3.3, Theorem 3.2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e8 import data
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.deterministic_data import FLOATS, as_floats
from eigentoken.proofs.flow_properties import potential_decreases
from eigentoken.proofs.tensor_reductions import velocity
from eigentoken.proofs.textbook import LASALLE, LOJASIEWICZ, words
from eigentoken.proofs.trajectories import integrate
from eigentoken.theory.ball_evaluation import sign
from eigentoken.theory.claims import Converges
from eigentoken.theory.conditions import PositiveDefinite, Symmetric
from eigentoken.theory.observables_attention import ellipsoid_potential
from eigentoken.theory.points import SomeEquilibrium
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Counterexample, Kind, Printed, Source, Statement, Vector
from eigentoken.theory.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.systems import system
from eigentoken.theory.terms import matrix
from eigentoken.theory.verdicts import Verdict, fails, holds

P = matrix("P")
CONDITIONS = (Symmetric(P), PositiveDefinite(P))
LASALLE_FACTS = (
    "the field is autonomous and locally Lipschitz",
    "AB-T3.1: the potential does not increase, and its derivative vanishes only at equilibria",
)
GRADIENT_FACTS = (
    "AB-T3.1: the system is minus the gradient of the potential",
    "P is constant and positive definite",
)


def _compactness() -> Inequality:
    form, least, square = sp.symbols("q lambda N", real=True)
    return Inequality(
        name="compactness",
        says="On $\\mathcal{E}_P$, $1 = q = y^{\\top}Py \\ge \\lambda N$ with $\\lambda = \\lambda_{\\min}(P) > 0$ and "
        "$N = |y|^2$, so the state space is bounded; it is closed and invariant (AB-E8).",
        hypotheses=(sp.Eq(form, 1), least > 0, form >= least * square),
        conclusion=square <= 1 / least,
        establishes=("the trajectories are bounded",),
    )


def derive_lasalle() -> Derivation:
    """LaSalle on a compact invariant set."""
    return Derivation(
        (
            _compactness(),
            words(
                "decrease",
                "This is AB-T3.1 for a polynomial-exponential, hence smooth, $V_P$.",
                ("AB-T3.1: the potential does not increase, and its derivative vanishes only at equilibria",),
                "a continuously differentiable function does not increase along trajectories",
            ),
            Citation(
                name="LaSalle",
                says="The derivative $-|Y_P|_g^2$ vanishes exactly where $Y_P = 0$, a set of equilibria and so "
                "invariant.",
                theorem=LASALLE,
                uses=("compactness", "decrease"),
                formula="\\operatorname{dist}\\bigl(y(t), \\{Y_P = 0\\}\\bigr) \\to 0",
            ),
        )
    )


def derive_convergence() -> Derivation:
    """Lojasiewicz for an analytic gradient flow on a compact manifold."""
    theta, gap, rate, constant, slope = sp.symbols("theta v s C g", positive=True)
    return Derivation(
        (
            _compactness(),
            words(
                "gradient",
                "AB-T3.1.",
                ("AB-T3.1: the system is minus the gradient of the potential",),
                "the system is minus the gradient of a function",
            ),
            words(
                "analytic",
                "$V_P$ and $Z_i$ are finite sums of exponentials of polynomials, the product of ellipsoids is an "
                "analytic "
                "submanifold, and $g$ is a positive definite analytic form.",
                ("P is constant and positive definite",),
                "the function and the metric are real analytic",
            ),
            Identity(
                name="why the local form gives a finite length",
                says="Let $v = V_P(y) - V_P(y^*) > 0$ and $|{\\operatorname{grad} V_P}| = g$ along a trajectory, so "
                "that "
                "$\\dot v = -g^2$. Then $\\tfrac{d}{dt}\\, v^{1-\\theta}$ is $-(1-\\theta)\\,v^{-\\theta}g^2$, and "
                "with "
                "$v^{\\theta} \\le C g$ the speed $g$ is at most $-\\tfrac{C}{1-\\theta}\\tfrac{d}{dt} "
                "v^{1-\\theta}$, which is "
                "integrable.",
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
                "C\\,|{\\operatorname{grad} V_P}|$ "
                "holds with some $\\theta \\in [\\tfrac12, 1)$, so the trajectory has finite length and one limit, "
                "which is an "
                "equilibrium by AB-L3.3.",
                theorem=LOJASIEWICZ,
                uses=("compactness", "gradient", "analytic", "speed"),
                formula="y(t) \\to y^*, \\qquad Y_P(y^*) = 0",
            ),
        )
    )


def printed_inequality_fails() -> Verdict:
    """At consensus of two tokens on the circle the gradient vanishes and the potential is -2e."""
    one, nil = sp.Integer(1), sp.Integer(0)
    unit = ((one, nil), (nil, one))
    tokens = ((one, nil), (one, nil))
    speed = [sp.simplify(entry) for row in velocity("ellipsoid-flow", {"P": unit}, tokens) for entry in row]
    from eigentoken.proofs.tensor_reductions import EXACT

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
        text="Every trajectory of (8) tends to $\\{y : \\operatorname{grad}_{g_P} V_P(y) = 0\\}$.",
        depends=("AB-T3.1", "AB-E8"),
        facts=LASALLE_FACTS,
        derive=derive_lasalle,
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
        depends=("AB-L3.3", "AB-T3.1"),
        facts=GRADIENT_FACTS,
        derive=derive_convergence,
        printed=Printed(
            text="The proof rests on $|V_P| \\le \\lambda\\,|{\\operatorname{grad} V_P}|$ for some $\\lambda > 0$.",
            wrong="This is false at every equilibrium, where the right side is zero and $V_P < 0$. What analyticity "
            "gives is the "
            "local form $|V_P(y) - V_P(y^*)|^{\\theta} \\le C\\,|{\\operatorname{grad} V_P(y)}|$ with $\\theta \\in "
            "[\\tfrac12, 1)$; "
            "the theorem is true.",
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
