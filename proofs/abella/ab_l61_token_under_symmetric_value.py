"""AB-L6.1: one token under a symmetric value matrix: the first token of the causal flow follows Oja's flow.

It tends to the unit top eigenvector on whose side it starts.  The equilibria of smaller eigenvalues are unstable, but their
domain of attraction is not empty.  Reference: Abella-Silvestre-Tabuada, Lemma 6.1.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.first_token import ATTRACTS, OJA, attracted, oja
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import as_numbers, numbers, symmetric_eigenpairs
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.observables import dot
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Vector

U = matrix("U")
VALUE = ((2, 1, 0), (1, 0, 1), (0, 1, -1))


def proof(kernel: Kernel) -> Proved:
    """The first token sees itself alone; its height rises to one."""
    return kernel.conjunction(oja(kernel), attracted(kernel))


def nonempty_domain() -> Verdict:
    """U = diag(3, 2, 1), y_0 = (0, 1, 1)/sqrt 2: the first coordinate stays 0, the ratio of the others decays like e^{-s}."""
    b, c = sp.symbols("b c", positive=True)
    value = tuple(tuple(sp.Integer(3 - p if p == q else 0) for q in range(3)) for p in range(3))
    speed = velocity("oja-flow", {"V": value}, ((sp.Integer(0), b, c),))[0]
    ratio_rate = sp.simplify((speed[2] * b - c * speed[1]) / b**2 / (c / b))
    if speed[0] == 0 and ratio_rate == -1:
        return holds("y_1 = 0 is invariant and d/ds (y_3/y_2) = -(y_3/y_2) exactly, so (0, 1, 1)/sqrt(2) tends to e_2")
    return fails(f"the first coordinate moves by {speed[0]}, the ratio at the rate {ratio_rate}")


def closed_form_example() -> Any:
    """``y`` at s = 0.7 from (1, 1, 1)/sqrt 3."""
    scalars = numbers()
    values, vectors = symmetric_eigenpairs(as_numbers(VALUE))
    start = [scalars.one / scalars.sqrt(3 * scalars.one)] * 3
    moment = scalars.one * 7 / 10
    grown = [scalars.exp(moment * value) * dot(vector, start) for value, vector in zip(values, vectors, strict=True)]
    point = [sum(g * vector[a] for g, vector in zip(grown, vectors, strict=True)) for a in range(3)]
    return scalars.normalise((point,))[0]


def ratios_on_instances(instances: int, seed: int) -> Verdict:
    """``d/ds (y_k / y_1) = -(lambda - mu_k) (y_k / y_1)`` exactly, for random rational spectra and tokens."""
    source = random.Random(seed)
    for _ in range(instances):
        d = source.choice((2, 3, 4))
        spectrum = [sp.Rational(source.randint(-20, 20), source.randint(1, 6)) for _ in range(d)]
        value = tuple(tuple(spectrum[p] if p == q else sp.Integer(0) for q in range(d)) for p in range(d))
        token = [sp.Rational(source.randint(1, 9), 5), *(sp.Rational(source.randint(-9, 9), 5) for _ in range(d - 1))]
        speed = velocity("oja-flow", {"V": value}, (tuple(token),))[0]
        for k in range(1, d):
            slope = (speed[k] * token[0] - token[k] * speed[0]) / token[0] ** 2
            if slope != (spectrum[k] - spectrum[0]) * token[k] / token[0]:
                return fails(f"the ratio of coordinate {k + 1} moves wrongly for {spectrum}, {token}")
    return holds(f"{instances} exact instances")


AB_L61 = register(
    Statement(
        id="AB-L6.1",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 6.1"),
        title="One token under a symmetric value matrix",
        systems=("causal-flow",),
        conditions=(Symmetric(U), SimpleTop(U)),
        claims=(Formula(OJA), Formula(ATTRACTS)),
        depends=("AB-E15",),
        proof=proof,
        printed=Printed(
            text="(2) $y^* \\in L_{\\mu}(U) \\cap S^n$, $\\mu < \\lambda$, is unstable with empty domain of attraction.",
            wrong="Unstable, yes; the domain of attraction is not empty (it contains $y^*$ itself, and more). It is a "
            "null set.",
            counterexamples=(
                Counterexample(
                    name="diag(3, 2, 1)",
                    says="$U = \\operatorname{diag}(3, 2, 1)$, $y_0 = (0, 1, 1)/\\sqrt2 \\to e_2$.",
                    instance={
                        "system": "causal-flow",
                        "U": [["3", "0", "0"], ["0", "2", "0"], ["0", "0", "1"]],
                        "tokens": [["0", "sqrt(1/2)", "sqrt(1/2)"]],
                    },
                    check=nonempty_domain,
                ),
            ),
        ),
        property_tests=(ratios_on_instances,),
        vectors=(
            Vector(
                "eigenvalues of U",
                lambda: symmetric_eigenpairs(as_numbers(VALUE))[0],
                ("-1.699628148275318", "0.239123278256555", "2.460504870018763"),
            ),
            Vector(
                "y at s = 0.7 from (1, 1, 1)/sqrt 3",
                closed_form_example,
                ("0.844491739157210", "0.494837870180806", "0.204863819963786"),
            ),
        ),
    )
)
