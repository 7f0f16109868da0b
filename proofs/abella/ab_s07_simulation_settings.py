"""AB-S7: the settings of the paper's simulations, and which hypotheses they satisfy: decided exactly, on the printed numbers.

P of 7.1 satisfies the hypotheses of AB-T3.2 and AB-X0, U of 7.3 those of AB-T6.1 and not those of AB-X2.  The other settings give
no matrices, and the experiments with GPT-2 XL (Section 7.5) are claims of the paper; nothing here proves or reruns them.
Reference: Abella-Silvestre-Tabuada, Section 7.
"""

from __future__ import annotations

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
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Atom, Conjunction, Negation
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Symmetric
from eigentoken.theory.language.observables_attention import ellipsoid_potential
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.systems.catalogue import system

#: Section 7.1, model (8).
P_71 = (("0.9432", "0.0587", "-0.1813"), ("0.0587", "0.8450", "-0.1013"), ("-0.1813", "-0.1013", "0.5519"))
#: Section 7.3, model (21).
U_73 = (("-0.2590", "0.4965", "0.5609"), ("0.4965", "-0.7174", "-0.5003"), ("0.5609", "-0.5003", "-0.0247"))


def _exact(rows: Any) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([[sp.Rational(entry) for entry in row] for row in rows])


SCORE, VALUE = _exact(P_71), _exact(U_73)
#: Close to the top eigenvector of U: U minus half the form of it is negative definite, so that only one eigenvalue is positive.
SIDE = sp.ImmutableMatrix([sp.Rational(29, 50), sp.Rational(-1, 10), sp.Rational(81, 100)])


def _less(other: Any) -> sp.ImmutableMatrix:
    """``U - X``, with its entries."""
    return sp.ImmutableMatrix(VALUE - other)


_UNIT = sp.eye(3)
#: 7.1: P is symmetric and positive definite.
GRADIENT = (Atom(Symmetric(SCORE)), Atom(PositiveDefinite(SCORE)))
#: 7.3: U is symmetric, its form is negative on the plane orthogonal to a vector, and not below 2/5: one eigenvalue is positive.
CAUSAL = (
    Atom(Symmetric(VALUE)),
    Atom(NegativeDefinite(_less(SIDE * SIDE.T / 2))),
    Negation(Atom(NegativeDefinite(_less(_UNIT * sp.Rational(2, 5))))),
)
#: AB-X2 does not apply to 7.3: the form is below 1/2, and somewhere not above -1.
NOT_DOMINATED = (
    Atom(NegativeDefinite(_less(_UNIT / 2))),
    Negation(Atom(PositiveDefinite(_less(-_UNIT)))),
)


def proof(kernel: Kernel) -> Proved:
    """Leading minors in exact arithmetic."""
    claimed = (*GRADIENT, *CAUSAL, *NOT_DOMINATED)
    words = (each.part if isinstance(each, Negation) else each for each in claimed)
    return kernel.settled(kernel.conjunction(*map(kernel.exact_matrix, words)))


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
        covers=Covers(example="the printed matrices of Sections 7.1 and 7.3"),
        claims=tuple(Formula(Conjunction(each)) for each in (GRADIENT, CAUSAL, NOT_DOMINATED)),
        depends=("AB-T3.2", "AB-X0", "AB-T6.1", "AB-X2"),
        proof=proof,
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
