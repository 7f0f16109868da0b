"""AB-E15 and AB-L5.1: the causal model, and one token attracted by a fixed one.

``dy/dt = abar(t) (y0 - (y^T y0) y)`` on the sphere: ``a = y^T y0`` solves ``a' = abar (1 - a^2)``.  Continuity of abar is not
needed.  Reference: Abella-Silvestre-Tabuada, eq. (15), Lemma 5.1.
"""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_e04_attention_matrix_form import layer_data
from eigentoken.proofs.abella.equations import CAUSAL_ROWS, CAUSAL_VELOCITY, causal_model
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import numbers
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.flow_properties import causal_structure
from eigentoken.proofs.properties.matrices import attention_that_ends
from eigentoken.proofs.steps.tensor_reductions import applied, functional, slope, tokens_of_symbols, velocity
from eigentoken.proofs.steps.textbook import CARATHEODORY
from eigentoken.proofs.steps.textbook_flows import EXPONENTIAL_LIMIT
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Computation, Derivation, Identity, Inequality, Step
from eigentoken.theory.systems.algebra import causal_mask
from eigentoken.theory.systems.catalogue import system

U = matrix("U")

y, target = sp.symbols("y y_0", real=True)
a, rate, s = sp.symbols("a alphabar s", real=True)
FIELD = rate * (target - a * y)
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


def _closed_form() -> tuple[Step, ...]:
    """A scalar Riccati equation with a closed form."""
    growth = functional(FIELD, {target: sp.Integer(1), y: a})
    height = sp.Symbol("z", real=True)
    return (
        applied(
            "scalar equation",
            "Let $a = y^{\\top}y_0$ (here $\\bar\\alpha$ is alphabar). Apply $y_0^{\\top}$ to the field: $y_0 \\mapsto "
            "1$, $y \\mapsto a$.",
            FIELD,
            {target: sp.Integer(1), y: a},
            rate * (1 - a**2),
            by="y_0^{\\top}",
            establishes=("the height solves a Riccati equation",),
        ),
        Identity(
            name="decrease",
            says="The function (17), $V(a) = \\tfrac23 - a + \\tfrac{a^3}{3}$, has $V'(a) = a^2 - 1$ and $\\dot V = "
            "-\\bar\\alpha\\,V'(a)^2$.",
            left=sp.diff(POTENTIAL, a) * growth,
            right=-rate * (a**2 - 1) ** 2,
            uses=("scalar equation",),
        ),
        Identity(
            name="factors of V",
            says="It is nonnegative on $[-1, 1]$ and vanishes only at $a = 1$:",
            left=POTENTIAL,
            right=(1 - a) ** 2 * (2 + a) / 3,
        ),
        Inequality(
            name="positive",
            says="since both factors are nonnegative there.",
            hypotheses=(a >= -1, a <= 1),
            conclusion=sp.And((1 - a) ** 2 * (2 + a) >= 0, sp.Implies(sp.Eq((1 - a) ** 2 * (2 + a), 0), sp.Eq(a, 1))),
            uses=("factors of V",),
        ),
        slope(
            "closed form",
            "In the time $s = \\int_0^t\\bar\\alpha$ the solution is $a = \\tanh(\\operatorname{artanh} a_0 + s)$ "
            "(with $u = \\operatorname{artanh} a_0$): both sides of $\\tfrac{da}{ds} = 1 - a^2$.",
            sp.tanh(sp.Symbol("u", real=True) + s),
            s,
            1 - sp.tanh(sp.Symbol("u", real=True) + s) ** 2,
            uses=("scalar equation",),
        ),
        Identity(
            name="tangent by exponentials",
            says="In exponentials, with $z = u + s$:",
            left=sp.tanh(height),
            right=(sp.exp(2 * height) - 1) / (sp.exp(2 * height) + 1),
            uses=("closed form",),
        ),
    )


def _limit() -> tuple[Step, ...]:
    """The distance to the fixed token tends to zero; the antipode."""
    grown = sp.Symbol("E", real=True)
    return (
        Citation(
            name="measurable rate",
            says="For measurable, locally integrable $\\bar\\alpha$ the substitution $s = \\int\\bar\\alpha$ is "
            "absolutely continuous; continuity of $\\bar\\alpha$ is not used.",
            theorem=CARATHEODORY,
            establishes=("solutions exist, are unique and absolutely continuous",),
        ),
        applied(
            "distance",
            "On the sphere $|y - y_0|^2 = 2(1 - a)$: apply $(y - y_0)^{\\top}$ to $y - y_0$, which sends $y$ to $1 - "
            "a$ and $y_0$ to $a - 1$.",
            y - target,
            {y: 1 - a, target: a - 1},
            2 * (1 - a),
            by="(y - y_0)^{\\top}",
        ),
        Inequality(
            name="gap",
            says="With $E = e^{2(u+s)}$ the solution is $a = \\frac{E-1}{E+1}$, and the squared distance $2(1 - a)$ "
            "lies between zero and $4/E = 4e^{-2u}e^{-2s}$.",
            hypotheses=(grown > 0, sp.Eq(a, (grown - 1) / (grown + 1))),
            conclusion=sp.And(2 * (1 - a) > 0, 2 * (1 - a) <= 4 / grown),
            uses=("tangent by exponentials", "distance", "measurable rate"),
            needs=("solutions exist, are unique and absolutely continuous",),
            establishes=("the squared distance to y_0 lies between zero and a decaying exponential of s",),
        ),
        Citation(
            name="limit",
            says="So $|y - y_0|^2 = 2(1 - a) \\to 0$ as $s \\to \\infty$, from every $a_0 > -1$.",
            theorem=EXPONENTIAL_LIMIT,
            letters={"q": "the squared distance to y_0"},
            uses=("gap",),
            formula="|y(t) - y_0|^2 \\to 0",
            establishes=("the squared distance to y_0 tends to zero",),
        ),
        Identity(
            name="the antipode",
            says="The one start that is left out, $y = -y_0$ with $a = -1$, is a fixed point (coordinatewise).",
            left=rate * (target - a * y),
            right=sp.Integer(0),
            where={a: sp.Integer(-1), y: -target},
            establishes=("the antipode is a fixed point",),
            assuming=(IsIdentity(U),),
        ),
    )


def derive_lemma() -> Derivation:
    """A scalar Riccati equation with a closed form."""
    return Derivation(
        (
            *_closed_form(),
            *_limit(),
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
        covers=Covers(heads=()),
        claims=(CAUSAL_VELOCITY, CAUSAL_ROWS),
        depends=("AB-E7",),
        derive=derive_model,
        proof=causal_model,
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
        text="Let $\\dot y = \\bar\\alpha(t)\\bigl(y_0 - (y^{\\top}y_0)\\,y\\bigr)$ on $S^n$ with $\\bar\\alpha$ "
        "measurable, locally integrable and $\\int_0^{\\infty}\\bar\\alpha = \\infty$ (for instance $\\bar\\alpha "
        "\\ge c > 0$). Then $a = y^{\\top}y_0$ is $\\tanh(\\operatorname{artanh} a(0) + \\int_0^t\\bar\\alpha)$, and "
        "$y_0$ attracts $S^n \\setminus \\{-y_0\\}$.",
        facts=(
            "the field is measurable in time and Lipschitz in the state with an integrable bound",
            "s tends to infinity",
        ),
        derive=derive_lemma,
        prose_from=("decrease", "positive", "limit", "the antipode"),
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
                "the integral diverges",
                "with a finite integral of the weight the height stays below 1",
                FirstFailure(attention_that_ends),
            ),
        ),
    )
)
