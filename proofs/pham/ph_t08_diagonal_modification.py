"""PH-T8: a diagonal modification of the scores moves A in a direction that depends on the sign of V.

Reference: Pham-et-al, diagonal modification; derived here.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.ph_m_token_flow import B, W
from eigentoken.proofs.pham.shifted_scores import CLAIMS, proof
from eigentoken.proofs.properties.deterministic_data import FLOATS
from eigentoken.proofs.properties.flow_properties import modified_form
from eigentoken.proofs.properties.rotary_rings import a, claimed_speed, quarter_scores, r, radial_speed, states
from eigentoken.proofs.properties.trajectories import integrate
from eigentoken.proofs.steps.reductions import all_agree
from eigentoken.proofs.steps.tensor_reductions import slope
from eigentoken.theory.language.conditions import Nonsingular
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import sign
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, SourceKind, Statement, Vector
from eigentoken.theory.statements.steps import Computation, Derivation, Inequality, Reduction
from eigentoken.theory.systems.catalogue import system

shift = sp.Symbol("lambda", real=True)


def derive_diagonal() -> Derivation:
    """``A + lambda B^{-1}``: the direction depends on V."""
    lam, q, inverse_form, score_part, t = sp.symbols("lambda q b w t", real=True)
    moved = score_part + t * inverse_form
    return Derivation(
        (
            slope(
                "the form of A",
                "Adding $\\lambda I$ to the scores with $V$ fixed: $(W + \\lambda I)B^{-1} = A + \\lambda B^{-1}$. On "
                "a vector $z$, with $w = z^{\\top}Az$ and $b = z^{\\top}B^{-1}z$, the form is $w + tb$ at $\\lambda = "
                "t$, and its slope is",
                moved,
                t,
                inverse_form,
            ),
            Inequality(
                name="direction",
                says="So $\\operatorname{sym} A$ moves towards positive along $z$ exactly when "
                "$\\lambda\\,z^{\\top}\\operatorname{sym}(V^{-1})z > 0$: the right sign of $\\lambda$ depends on $V$.",
                hypotheses=(lam * inverse_form > 0,),
                conclusion=score_part + lam * inverse_form > score_part,
                uses=("the form of A",),
            ),
            Inequality(
                name="V = -I",
                says="For $V = -I$, $b = -q$ with $q = |z|^2 > 0$, and $\\lambda > 0$ makes $A$ more negative: it "
                "moves $A$ away from divergence.",
                hypotheses=(lam > 0, q > 0, sp.Eq(inverse_form, -q)),
                conclusion=score_part + lam * inverse_form < score_part,
                uses=("direction",),
            ),
            Reduction(
                name="the example of PH-T7",
                says="In the exact example of PH-T7 with $\\lambda I$ added to all scores the radius obeys, from the "
                "registered system,",
                scope="4 tokens, d = 2, every a and lambda",
                derive=lambda: radial_speed(shift),
                claimed=(claimed_speed(shift),) * 8,
                agrees=all_agree,
                entrywise=True,
                shows=lambda _: (
                    "\\dot r = r\\,\\frac{e^{-\\lambda r^2}\\cosh(cr^2) - e^{\\lambda r^2}\\cosh(r^2)}{e^{-\\lambda "
                    "r^2}\\cosh(cr^2) + e^{\\lambda r^2}\\cosh(r^2)}"
                ),
            ),
            Computation(
                name="turned into contraction",
                says="At $a = 2$, $r = 0.6$ the radius grows for $\\lambda = 0$ and shrinks for $\\lambda = 0.3$, "
                "$0.5$ and $1$.",
                scope="the given instance",
                run=positive_shift_contracts,
                formula="\\dot r|_{\\lambda = 0} > 0 > \\dot r|_{\\lambda = 0.3}",
                uses=("the example of PH-T7",),
            ),
        )
    )


def positive_shift_contracts() -> Verdict:
    """Certified signs of dr/dt at a = 2, r = 3/5 for lambda = 0, 0.3, 0.5, 1."""
    signs = []
    for value in ("0", "3/10", "1/2", "1"):
        speed = claimed_speed(sp.Rational(value)).subs({a: 2, r: sp.Rational(3, 5)})
        signs.append(sign(speed.rewrite(sp.exp)))
    if signs == [1, -1, -1, -1]:
        return holds(
            "the radius grows for lambda = 0 and shrinks for lambda = 3/10, 1/2, 1: positive lambda helps convergence "
            "here"
        )
    return fails(f"the signs are {signs}")


def shifted_example() -> list[float]:
    """``|x_1|(8) = r(8)`` for lambda = 0.3, 0.5, 1, 0, through the four-token system in floats."""
    flow = system("token-flow")
    results = []
    for value in (0.3, 0.5, 1.0, 0.0):
        given = {"B": ((-1.0, 0.0), (0.0, -1.0)), "W": None, "pair_score": quarter_scores(2.0, value)}

        def field(_: float, x: Any, given: Any = given) -> list[float]:
            rows = states(x[0], math.sqrt(2))
            if x[0] > 12:  # cosh overflows: the growth rate is 1 to all digits there
                return [x[0]]
            return [math.sqrt(2) * flow.advance(FLOATS, given, rows)[0][0]]

        results.append(integrate(field, [0.6], [8.0], tolerance=1e-10)[0][0])
    return results


PH_T8 = register(
    Statement(
        id="PH-T8",
        kind=Kind.THEOREM,
        source=Source(PHAM, "diagonal modification; derived here", SourceKind.SUMMARISED),
        title="The diagonal modification",
        systems=("token-flow",),
        conditions=(Nonsingular(B), Nonsingular(W)),
        claims=CLAIMS,
        proof=proof,
        depends=("PH-M", "PH-T7"),
        derive=derive_diagonal,
        printed=Printed(
            text="In the summary at hand: adding $\\lambda I$ with a negative scalar $\\lambda$ enforces divergence. "
            "In the published code: $+\\operatorname{softplus}(\\cdot) > 0$ is added.",
            wrong="The two disagree on the sign, and neither sign is right for every $V$.",
            kind=SourceKind.SUMMARISED,
            counterexamples=(
                Counterexample(
                    name="a positive shift contracts",
                    says="The example of PH-T7, $a = 2$, $r = 0.6$, $V = -I$: $\\lambda = 0.3, 0.5, 1$ turn growth "
                    "into contraction.",
                    instance={"a": "2", "r": "3/5", "lambda": ["3/10", "1/2", "1"], "V": [["-1", "0"], ["0", "-1"]]},
                    check=positive_shift_contracts,
                ),
            ),
        ),
        vectors=(Vector("|x_1|(8) for lambda = 0.3, 0.5, 1, 0", shifted_example, ("0.448", "0.336", "0.239", "75.9")),),
        property_tests=(modified_form,),
    )
)
