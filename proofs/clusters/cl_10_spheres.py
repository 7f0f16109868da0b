"""CL-10: spheres in dimension three and more: every other equilibrium is a strict saddle, also for some negative beta.

Reference: Criscitiello-et-al, Markdahl-Thunberg-Goncalves (abstracts); the negative range is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.needed import negative_values_pull_apart, stable_tetrahedron
from eigentoken.proofs.clusters.sources import SPHERES, abstract
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import random_units
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import IsIdentity, Relation
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import Eigenvalue, d, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Argument, Derivation, Identity, Inequality

V, M = matrix("V"), matrix("M")
COS, BETA, SIZE = sp.symbols("c beta m", real=True)
#: ``phi'(c)(d - 2 - c) + phi''(c)(1 - c^2)`` over ``e^{beta c}`` for ``phi' = e^{beta c}``.
BRACKET = SIZE - 2 - COS + BETA * (1 - COS**2)


def thresholds() -> list[Any]:
    """``beta_d`` for d = 4, 5, 6: the least of ``(d - 2 - c)/(1 - c^2)`` over ``-1 < c < 1``."""
    found = []
    for size in (4, 5, 6):
        ratio = (size - 2 - COS) / (1 - COS**2)
        places = [each for each in sp.solve(sp.numer(sp.together(sp.diff(ratio, COS))), COS) if abs(each) < 1]
        found.append(min(sp.simplify(ratio.subs(COS, each)) for each in places))
    return found


def derive() -> Derivation:
    """The two means over directions, and where the bracket is positive."""
    norm = sp.Symbol("N", positive=True)
    return Derivation(
        (
            Identity(
                name="mean of the second derivative of a cosine",
                says="For $x_i + \\varepsilon v$, normalised, with $a = x_i^{\\top}v$, $b = x_j^{\\top}v$, $\\overline{a^2} = "
                "\\overline{b^2} = \\frac1m$, $\\overline{ab} = \\frac cm$ ($m = d$): the coefficient of $\\varepsilon^2$ in "
                "$c_{ij}(\\varepsilon)$, twice, averaged.",
                left=2 * (1 - (2 / SIZE + 2 * COS / SIZE) + COS * (-1 + 3 / SIZE + COS / SIZE)),
                right=2 * (1 - COS) * (SIZE - 2 - COS) / SIZE,
            ),
            Identity(
                name="mean of the squared first derivative",
                says="$\\dot c = (1 - c)(a + b)$.",
                left=(1 - COS) ** 2 * (2 + 2 * COS) / SIZE,
                right=2 * (1 - COS) ** 2 * (1 + COS) / SIZE,
                uses=("mean of the second derivative of a cosine",),
            ),
            Inequality(
                name="positive for beta at least 0 and d at least 3",
                says="The bracket $\\phi'(c)(d - 2 - c) + \\phi''(c)(1 - c^2)$, over $e^{\\beta c}$.",
                hypotheses=(BETA >= 0, SIZE >= 3, COS < 1, COS >= -1),
                conclusion=BRACKET > 0,
                uses=("mean of the squared first derivative",),
            ),
            Inequality(
                name="positive for beta at least -1/2 in dimension three",
                says="At $\\beta = -\\frac12$ it is $\\frac12(1 - c)^2$.",
                hypotheses=(sp.Rational(-1, 2) <= BETA, COS < 1, COS >= -1),
                conclusion=BRACKET.subs(SIZE, 3) > 0,
            ),
            Inequality(
                name="positive above minus the threshold",
                says="With $N = \\sqrt{(d-2)^2 - 1}$ and $\\beta > -\\frac12(d - 2 + N)$.",
                hypotheses=(
                    sp.Eq(norm**2, (SIZE - 2) ** 2 - 1),
                    SIZE >= 4,
                    -(SIZE - 2 + norm) / 2 < BETA,
                    COS < 1,
                    COS >= -1,
                ),
                conclusion=BRACKET > 0,
            ),
            Argument(
                name="the rest",
                says="A critical point where the average is positive has a direction of positive second derivative; "
                "every trajectory converges (Lojasiewicz) and strict saddles attract a null set, as in AB-X0.",
                uses=(
                    "positive for beta at least 0 and d at least 3",
                    "positive for beta at least -1/2 in dimension three",
                    "positive above minus the threshold",
                ),
            ),
        )
    )


def average(source: np.random.Generator) -> Mapping[str, float]:
    """The averaged second variation: the expansion of each normalised token to second order, against the formula."""
    n, size, beta = int(source.integers(2, 6)), int(source.integers(2, 6)), float(source.uniform(-2, 2))
    x = random_units(source, n, size)
    c = x @ x.T
    first, second = np.exp(beta * c), beta * np.exp(beta * c)
    off = ~np.eye(n, dtype=bool)
    total = 0.0
    for v in np.eye(size):  # a quadratic form in v: its mean over the sphere is the mean over a basis
        a = x @ v
        slope = (1 - c) * (a[:, None] + a[None])
        root = -0.5 + 1.5 * a**2
        bend = 2 * (1 - (a[:, None] + a[None]) ** 2 + c * (root[:, None] + root[None] + a[:, None] * a[None]))
        total += float((second * slope**2 + first * bend)[off].sum()) / 2 / size
    stated = float(((1 - c) * (second * (1 - c**2) + first * (size - 2 - c)))[off].sum()) / size
    return {"averaged second variation": gap(total, stated)}


def bracket_changes_sign_on_the_circle() -> Verdict:
    """d = 2, beta = 1: the bracket is negative at some cosine and positive at another."""
    values = [BRACKET.subs({SIZE: 2, BETA: 1, COS: sp.Rational(each, 10)}) for each in (9, -5)]
    return holds(f"the bracket is {values[0]} at c = 9/10") if values[0] < 0 < values[1] else fails(f"{values}")


def antipodal_pair_rests() -> Verdict:
    """``V = I``, ``M = beta I``, tokens +-e_1 in three dimensions: at rest for every beta."""
    e = ((sp.Integer(1), 0, 0), (sp.Integer(-1), 0, 0))
    identity = tuple(tuple(sp.Integer(i == j) for j in range(3)) for i in range(3))
    scores = tuple(tuple(BETA * each for each in row) for row in identity)
    speed = velocity("attention-flow", {"V": identity, "M": scores}, e)
    rests = all(sp.simplify(each) == 0 for row in speed for each in row)
    return holds("both velocities vanish for every beta") if rests else fails(f"{speed}")


def two_islands_rest() -> Verdict:
    """``w_ij = 0`` between two groups, one at e_1, one at e_2: each is pushed along itself alone, for every interaction."""
    first, own = sp.Matrix([1, 0, 0]), sp.Symbol("p", positive=True)
    push = own * first
    tangent = push - first * (first.T * push)[0]
    return holds("no group moves, and they differ") if tangent == sp.zeros(3, 1) else fails(f"{tangent}")


CL_10 = register(
    Statement(
        id="CL-10",
        kind=Kind.EXTENSION,
        source=abstract(SPHERES, "synchronisation on spheres"),
        title="Spheres in dimension three and more: almost every start reaches consensus",
        systems=("attention-flow",),
        conditions=(IsIdentity(V), MultipleOf(M), Relation(d >= 3), Relation(Eigenvalue(M, 1) >= -sp.Rational(1, 2))),
        claims=(AlmostEveryConverges(ConsensusSet()),),
        claims_from=(("the rest",),),
        text=r"The same for $d \ge 4$ and $M = \beta I$ with $\beta > -\beta_d$, $\beta_d = \frac12\bigl(d - 2 + "
        r"\sqrt{(d-2)^2 - 1}\bigr)$. At every equilibrium other than consensus the energy has a direction of "
        r"positive second derivative, and almost every start converges to consensus. The second derivative of $E = "
        r"\frac12\sum_{i \neq j}w_{ij}\phi(c_{ij})$ along $x_i + \varepsilon v$, averaged over unit $v$, is $\frac1d\sum_{i \neq "
        r"j}w_{ij}(1 - c_{ij})[\phi''(c_{ij})(1 - c_{ij}^2) + \phi'(c_{ij})(d - 2 - c_{ij})]$.",
        depends=("CL-7", "AB-X0"),
        derive=derive,
        prose_from=("the rest",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "From a direction of positive curvature to almost every start: convergence of every trajectory (Lojasiewicz) and "
                "the null basins of strict saddles, as in AB-X0; checked here are the averages and the sign. Whether the "
                "thresholds are sharp is open. The same holds for any symmetric nonnegative weights w on a connected graph and "
                "any "
                "analytic interaction whose bracket is positive on [-1, 1): so for d at least 3 wherever it increases and is "
                "convex.",
            ),
        ),
        vectors=(
            Vector(
                "beta_4, beta_5, beta_6", thresholds, ("1.866025403784439", "2.914213562373095", "3.936491673103709")
            ),
        ),
        variants=(
            Variant("IsIdentity(V)", "$V = -I$: two tokens at right angles part.", negative_values_pull_apart),
            Variant(
                "Relation(Eigenvalue(M, 1) >= -1/2)",
                "$d = 3$, $M = -2I$: the regular tetrahedron attracts an open set.",
                stable_tetrahedron,
            ),
            Variant("almost every start", "An antipodal pair rests, for every $\\beta$ and $d$.", antipodal_pair_rests),
            Variant(
                "a connected graph",
                "Two groups with no weight between them, each at one point: they never meet.",
                two_islands_rest,
            ),
            Variant(
                "Relation(d >= 3)",
                "$d = 2$: the bracket changes sign, nothing follows.",
                bracket_changes_sign_on_the_circle,
            ),
        ),
        property_tests=(OnInstances(average),),
    )
)
