"""AB-E15 and AB-L5.1: the causal model, and one token attracted by a fixed one: the second by the first.

``dy/dt = abar(t) (y0 - (y^T y0) y)`` on the sphere: ``a = y^T y0`` solves ``a' = abar (1 - a^2)``, in closed form
``a = tanh(artanh a_0 + int abar)``.  Continuity of abar is not needed.  Reference: Abella-Silvestre-Tabuada, eq. (15), Lemma 5.1.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e04_attention_matrix_form import layer_data
from eigentoken.proofs.abella.equations import CAUSAL_VELOCITY
from eigentoken.proofs.abella.equations import velocity as equation_of_the_flow
from eigentoken.proofs.abella.second_token import ATTRACTED, RICCATI, STILL, proof
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import numbers
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.flow_properties import causal_structure
from eigentoken.proofs.properties.matrices import attention_that_ends
from eigentoken.proofs.steps.tensor_reductions import tokens_of_symbols, velocity
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.conditions import BoundedInTime, IsIdentity
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Computation, Derivation, Identity
from eigentoken.theory.systems.algebra import causal_mask
from eigentoken.theory.systems.catalogue import system

U = matrix("U")

a = sp.Symbol("a", real=True)
#: The function (17).
POTENTIAL = sp.Rational(2, 3) - a + a**3 / 3


def _triangular() -> Verdict:
    """Row i of the registered causal flow does not contain the coordinates of later tokens, three symbolic tokens."""
    tokens = tokens_of_symbols(3, 2)
    score = ((sp.Symbol("p", real=True), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    field = velocity("causal-flow", {"U": None, "P": score}, tokens)
    for i, row in enumerate(field):
        seen = set().union(*(entry.free_symbols for entry in row))
        later = {symbol for token in tokens[i + 1 :] for symbol in token}
        if seen & later:
            return fails(f"the field of token {i + 1} contains {seen & later}")
    if not set(tokens[0]) & set().union(*(entry.free_symbols for entry in field[1])):
        return fails("token 2 does not see token 1")
    return holds("three symbolic tokens: token i depends on tokens j <= i only")


def derive_model() -> Derivation:
    """Token 1 is fixed, token i sees tokens up to i."""
    y_1, weight, square = sp.symbols("y_1 alpha_11 N", real=True)
    return Derivation(
        (
            Identity(
                name="first token",
                says="Token 1 sees only itself: its field is $\\alpha_{11}(y_1 - N\\,y_1)$ with $N = y_1^{\\top}y_1 = "
                "1$.",
                left=weight * (y_1 - square * y_1),
                right=sp.Integer(0),
                where={square: sp.Integer(1)},
                establishes=("the first token is fixed",),
                assuming=(IsIdentity(U),),
            ),
            Computation(
                name="triangular",
                says="In the registered causal flow the field of token $i$ does not contain later tokens.",
                scope="3 tokens, d = 2",
                run=_triangular,
                formula="\\frac{\\partial \\dot y_i}{\\partial y_j} = 0 \\quad (j > i)",
            ),
        )
    )


def closed_form_example() -> list[Any]:
    """``a`` after unit integrated rate from 0.3, and ``V(0.3)``."""
    scalars = numbers()
    import mpmath

    first = scalars.one * 3 / 10
    return [mpmath.tanh(mpmath.atanh(first) + 1), sp.Rational(POTENTIAL.subs(a, sp.Rational(3, 10)))]


def causal_example() -> Any:
    """Row 2 of the causal field on the data of AB-E6."""
    tokens, heads, metric = layer_data()
    given = {"heads": heads, "W": metric}
    return system("ellipsoid-multihead-flow").advance(numbers(), given, tokens, causal_mask(3))[1]


def closed_form_on_instances(instances: int, seed: int) -> Verdict:
    """The addition theorem behind the closed form, exactly, on random rational values."""
    source = random.Random(seed)
    for _ in range(instances):
        first, shift = (sp.Rational(source.randint(-99, 99), 100) for _ in range(2))
        # tanh(u + v) = (a + b) / (1 + a b) with a = tanh u, b = tanh v; its slope in b at b = 0 is 1 - a^2
        b = sp.Symbol("b")
        after = (first + b) / (1 + first * b)
        if sp.diff(after, b).subs(b, 0) != 1 - first**2:
            return fails(f"the slope at a = {first} is wrong")
        if not -1 < after.subs(b, shift) < 1:
            return fails("the height leaves (-1, 1)")
    return holds(f"{instances} exact instances")


AB_E15 = register(
    Statement(
        id="AB-E15",
        kind=Kind.DEFINITION,
        source=Source(ABELLA, "eq. (15)"),
        title="The causal model",
        systems=("causal-flow",),
        claims=(CAUSAL_VELOCITY,),
        depends=("AB-E7",),
        derive=derive_model,
        proof=equation_of_the_flow,
        vectors=(
            Vector(
                "causal field, row 2, data of AB-E6",
                causal_example,
                ("-0.151090386673747", "0.094528604269742", "-0.073571766201174"),
            ),
        ),
        property_tests=(causal_structure,),
    )
)

AB_L51 = register(
    Statement(
        id="AB-L5.1",
        kind=Kind.LEMMA,
        source=Source(ABELLA, "Lemma 5.1"),
        title="One token attracted by a fixed one",
        systems=("causal-flow",),
        conditions=(IsIdentity(U), BoundedInTime("P")),
        claims=(Formula(STILL), Formula(RICCATI), Formula(ATTRACTED)),
        depends=("AB-E15",),
        proof=proof,
        printed=Printed(
            text="$\\bar\\alpha$ continuously differentiable, $\\bar\\alpha \\ge c > 0$.",
            wrong="True, but differentiability is unnecessary, and it is not available where the lemma is used: in "
            "Theorem 5.1 $P$ is only bounded, so $\\bar\\alpha(t) = \\alpha(t, y(t))$ is only measurable.",
            false=False,
        ),
        vectors=(
            Vector(
                "a after unit integrated rate; V(0.3)", closed_form_example, ("0.864153808773191", "0.375666666666667")
            ),
        ),
        property_tests=(closed_form_on_instances,),
        variants=(
            Variant(
                'BoundedInTime("P")',
                "with a finite integral of the weight the height stays below 1",
                FirstFailure(attention_that_ends),
            ),
        ),
    )
)
