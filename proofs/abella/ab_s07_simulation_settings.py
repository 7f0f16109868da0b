"""AB-S7: the settings of the paper's simulations, and which hypotheses they satisfy: decided exactly, on the printed numbers.

The experiments with GPT-2 XL (Section 7.5) are claims of the paper; nothing here proves or reruns them.
Reference: Abella-Silvestre-Tabuada, Section 7.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import (
    FLOATS,
    as_floats,
    as_numbers,
    det_tokens,
    numbers,
    symmetric_eigenpairs,
)
from eigentoken.proofs.properties.flow_properties import potential_decreases_for
from eigentoken.proofs.properties.trajectories import integrate
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Computation, Derivation
from eigentoken.theory.systems.catalogue import system

#: Section 7.1, model (8).
P_71 = (("0.9432", "0.0587", "-0.1813"), ("0.0587", "0.8450", "-0.1013"), ("-0.1813", "-0.1013", "0.5519"))
#: Section 7.3, model (21).
U_73 = (("-0.2590", "0.4965", "0.5609"), ("0.4965", "-0.7174", "-0.5003"), ("0.5609", "-0.5003", "-0.0247"))


def _exact(rows: Any) -> sp.Matrix:
    return sp.Matrix([[sp.Rational(entry) for entry in row] for row in rows])


def gradient_setting() -> Verdict:
    """P of 7.1 is symmetric and positive definite: leading minors in exact arithmetic."""
    exact = _exact(P_71)
    minors = [exact[:k, :k].det() for k in (1, 2, 3)]
    if exact == exact.T and all(minor > 0 for minor in minors):
        return holds(f"symmetric, and the leading minors are {', '.join(str(sp.N(m, 5)) for m in minors)} > 0 exactly")
    return fails("P of 7.1 is not symmetric positive definite")


def _sign_changes(values: list[Any]) -> int:
    kept = [value for value in values if value != 0]
    return sum((a > 0) != (b > 0) for a, b in pairwise(kept))


def causal_setting() -> Verdict:
    """U of 7.3 is symmetric with a simple positive top eigenvalue, by Descartes' rule on exact characteristic polynomials."""
    exact = _exact(U_73)
    x = sp.Symbol("x")
    polynomial = exact.charpoly(x).as_expr()
    positive = _sign_changes(sp.Poly(polynomial, x).all_coeffs())
    if exact == exact.T and positive == 1:
        return holds(
            "symmetric; its characteristic polynomial has one sign change, so exactly one eigenvalue is positive"
        )
    return fails("U of 7.3 does not have exactly one positive eigenvalue")


def dominance_fails() -> Verdict:
    """AB-X2 does not apply to 7.3: one eigenvalue is below -1 and none is above 1/2, by Descartes' rule on shifted matrices."""
    exact = _exact(U_73)
    x = sp.Symbol("x")
    shifted = sp.Poly((exact + sp.eye(3)).charpoly(x).as_expr().subs(x, -x), x)
    below = _sign_changes(shifted.all_coeffs())
    above = _sign_changes(sp.Poly((exact - sp.eye(3) / 2).charpoly(x).as_expr(), x).all_coeffs())
    if below == 1 and above == 0:
        return holds("one eigenvalue is below -1 and none above 1/2: the top one does not dominate in modulus")
    return fails("the exact count of eigenvalues is different")


def derive() -> Derivation:
    """Which theorem covers which experiment."""
    return Derivation(
        (
            Computation(
                name="7.1",
                says="The matrix $P$ of Section 7.1 satisfies the hypotheses of AB-T3.2 (and AB-X0 gives consensus for "
                "almost every start).",
                scope="the printed matrix",
                run=gradient_setting,
                formula="P = P^{\\top} \\succ 0",
            ),
            Computation(
                name="7.3",
                says="The matrix $U$ of Section 7.3 satisfies the hypotheses of AB-T6.1.",
                scope="the printed matrix",
                run=causal_setting,
                formula="U = U^{\\top}, \\qquad \\lambda_1 > 0 > \\lambda_2 \\ge \\lambda_3",
            ),
            Computation(
                name="7.3 is not dominated",
                says="AB-X2 does not apply to it.",
                scope="the printed matrix",
                run=dominance_fails,
                formula="\\lambda_3 < -1, \\qquad \\lambda_1 < \\tfrac12",
            ),
        )
    )


def eigenvalue_examples() -> list[Any]:
    """Eigenvalues of P (7.1) and U (7.3), and v."""
    values, vectors = symmetric_eigenpairs(as_numbers(U_73))
    top = vectors[-1] if vectors[-1][0] > 0 else tuple(-entry for entry in vectors[-1])
    return [*symmetric_eigenpairs(as_numbers(P_71))[0], *values, *top]


def rerun_example() -> list[float]:
    """``V_P`` at t = 0, 5, 20, 60 from ten deterministic tokens."""
    weights = as_floats(as_numbers(P_71))
    tokens = as_floats(numbers().normalise(det_tokens(10, 3), as_numbers(P_71)))
    flow = system("ellipsoid-flow")

    def rows_of(state: Any) -> Any:
        return FLOATS.normalise(tuple(tuple(state[3 * i : 3 * i + 3]) for i in range(10)), weights)

    def field(_: float, state: Any) -> list[float]:
        return [entry for row in flow.advance(FLOATS, {"P": weights}, rows_of(state)) for entry in row]

    flat = [entry for row in tokens for entry in row]
    states = [flat, *integrate(field, flat, [5.0, 20.0, 60.0], tolerance=1e-10)]
    return [ellipsoid_potential(FLOATS, flow, {"P": weights}, rows_of(state)) for state in states]


AB_S7 = register(
    Statement(
        id="AB-S7",
        kind=Kind.REMARK,
        source=Source(ABELLA, "Section 7"),
        title="Settings of the simulations",
        systems=("ellipsoid-flow", "ellipsoid-multihead-flow", "causal-flow"),
        text="7.1: model (8), ten tokens in $\\mathbb{R}^3$. 7.2: model (11) on $S^2$, two heads, $P_{\\eta}(t) = "
        "D_{\\eta}(t)P'_{\\eta}$, $D_1 = 2\\operatorname{diag}(\\cos 10\\pi t, \\sin 10\\pi t, \\cos 6\\pi t)$, $D_2 "
        "= 2\\operatorname{diag}(\\cos 6\\pi t, \\sin 6\\pi t, \\cos 4\\pi t)$, $v = e_1$, tokens in $H^+(v)$: "
        "AB-T4.1 applies, and (13) tends to a positive number. 7.3: model (21), $P = D_1(t)P'$: AB-T6.1 applies. 7.4: "
        "model (15), 50 tokens, $d = 500$, two heads: AB-T5.1 applies. 7.5: GPT-2 XL, tokens fed back; with periodic "
        "or untied value matrices none of the theorems applies, and the reported collapse is evidence only, a claim "
        "of the paper that is not reproduced here.",
        depends=("AB-T3.2", "AB-X0", "AB-T4.1", "AB-T5.1", "AB-T6.1", "AB-X2"),
        derive=derive,
        prose_from=("7.1", "7.3", "7.3 is not dominated"),
        property_tests=(potential_decreases_for(P_71),),
        vectors=(
            Vector(
                "eigenvalues of P (7.1), of U (7.3), and v",
                eigenvalue_examples,
                (
                    "0.46619951",
                    "0.81798494",
                    "1.05591555",
                    "-1.41849322",
                    "-0.02148221",
                    "0.43887543",
                    "0.57806169",
                    "-0.10207513",
                    "0.80958344",
                ),
            ),
            Vector(
                "V_P at t = 0, 5, 20, 60 in the setting of 7.1",
                rerun_example,
                ("-65.31344195", "-75.22985497", "-135.91036720", "-135.91409142"),
            ),
        ),
    )
)
