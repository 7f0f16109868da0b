"""PM-X4, CT-10: gradient scores ``M = cV``: every trajectory of the flow converges, and a map for which every step climbs.

``E = 1/(2c) sum_ij e^{c x_i^T V x_j}``.  For ``V`` positive semidefinite and ``c > 0`` the kernel ``e^{c x^T V y}`` is
positive definite,
so E is a squared norm in a feature space and grows along the map for every step size.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.new_results.needed import a_turn_never_ends, negative_scores_fall, other_scores_fall
from eigentoken.proofs.power_method.symbols import V
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import Array, attention, random_units, sphere, unit_rows
from eigentoken.theory.calculus import Index, dot, exponential, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.propositions import proposition
from eigentoken.theory.kernel.tensors import Rate
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import PositiveSemidefinite, Relation, Symmetric
from eigentoken.theory.language.places import SomeEquilibrium
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import Trace, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Argument, Derivation, Identity, Inequality


def energy(x: Array, value: Array, c: float) -> float:
    """``1/(2c) sum_ij e^{c x_i^T V x_j}``."""
    return float(np.exp(c * x @ value @ x.T).sum() / (2 * c))


def step_of(x: Array, value: Array, c: float, alpha: float) -> tuple[Array, Array]:
    """The next state and the lengths ``r_i``."""
    y = x + alpha * attention(x, c * value) @ x @ value.T
    return unit_rows(y), np.linalg.norm(y, axis=1)


def flow_climbs(source: np.random.Generator) -> Mapping[str, float]:
    """``dE/dt = sum Z_i |x_i'|^2``, for both signs of c and any signature of V."""
    n, d, c = (
        int(source.integers(1, 6)),
        int(source.integers(2, 5)),
        float(source.choice([-1, 1]) * source.uniform(0.2, 2)),
    )
    value = source.normal(size=(d, d))
    value, x = (value + value.T) / 2, random_units(source, n, d)
    kernel = np.exp(c * x @ value @ x.T)
    speed = sphere(x, value, c * value)
    rate = float(np.sum((kernel @ x @ value) * speed))
    return {"the rate": gap(rate, float(kernel.sum(axis=1) @ np.sum(speed**2, axis=1)))}


def map_climbs(source: np.random.Generator) -> Mapping[str, float]:
    """(b) for semidefinite V and any step, and (c) for small ones."""
    n, d, c = int(source.integers(1, 6)), int(source.integers(2, 5)), float(source.uniform(0.1, 2))
    root, x = source.normal(size=(d, d)), random_units(source, n, d)
    value, alpha = root @ root.T / d, float(10 ** source.uniform(-2, 2))
    after, sizes = step_of(x, value, c, alpha)
    totals = np.exp(c * x @ value @ x.T).sum(axis=1)
    bound = float((totals * (1 + sizes)) @ np.sum((after - x) ** 2, axis=1)) / (2 * alpha)
    scale = max(1.0, energy(after, value, c))
    found = {"any step": (bound - (energy(after, value, c) - energy(x, value, c))) / scale}
    other = source.normal(size=(d, d))
    other = (other + other.T) / 2
    norm, sign = float(np.linalg.norm(other, 2)), float(source.choice([-1, 1]) * c)
    small = float(source.uniform(0.1, 1)) / (norm * (1 + 2 * c * norm) * np.exp(2 * c * norm))
    after, sizes = step_of(x, other, sign, small)
    low = n / (2 * small) * np.exp(-c * norm) * float(sizes @ np.sum((after - x) ** 2, axis=1))
    found["small steps"] = low - (energy(after, other, sign) - energy(x, other, sign))
    return found


def steps() -> Derivation:
    """The length identity of a normalised step, and the tangent of the exponential."""
    length, cos = sp.symbols("r t", positive=True)
    slope, rise = sp.symbols("a b", real=True)
    return Derivation(
        (
            Identity(
                name="the push along the step",
                says="For $y = x + \\alpha u$, $r = |y|$, $x^+ = y/r$ and $t = x^{\\top}x^+$: $\\alpha u = rx^+ - x$, "
                "so $\\alpha "
                "u^{\\top}(x^+ - x) = (1 + r)(1 - t) = \\frac{1 + r}2|x^+ - x|^2$.",
                left=(length * 1 - length * cos) - (cos - 1),
                right=(1 + length) * (2 - 2 * cos) / 2,
            ),
            Inequality(
                name="a squared norm lies above its tangent",
                says="$|\\Phi^+|^2 - |\\Phi|^2 \\ge 2\\langle\\Phi, \\Phi^+ - \\Phi\\rangle$, by coordinates.",
                hypotheses=(),
                conclusion=rise**2 - slope**2 >= 2 * slope * (rise - slope),
                uses=("the push along the step",),
            ),
            Argument(
                name="the rest",
                says="The exponential kernel of a positive semidefinite form is positive definite (Schur), and $e^a - "
                "e^b \\ge e^b(a - b)$; for small steps the Hessian of $E$ is bounded on the tokens of norm at most 1.",
                uses=("a squared norm lies above its tangent",),
            ),
        )
    )


VALUE = np.diag([1.0, 0.5])
TOKENS = np.array([[3 / 5, 4 / 5], [5 / 13, -12 / 13]])


def example() -> list[float]:
    """``V = M = diag(1, 1/2)``, alpha = 10: E before and after a step."""
    return [energy(TOKENS, VALUE, 1.0), energy(step_of(TOKENS, VALUE, 1.0, 10.0)[0], VALUE, 1.0)]


def falling_energy() -> list[float]:
    """``V = diag(1, -20/21, -1)``, c = 1, alpha = 21/20, both tokens ``(0, 1, 1)/sqrt 2``: E before and after a step."""
    value, tokens = np.diag([1.0, -20 / 21, -1.0]), np.full((2, 3), np.sqrt(0.5)) * [0, 1, 1]
    return [energy(tokens, value, 1.0), energy(step_of(tokens, value, 1.0, 21 / 20)[0], value, 1.0)]


def indefinite_values_fall() -> Verdict:
    """``V = diag(1, -20/21, -1)``, c = 1, alpha = 21/20, both tokens ``(0, 1, 1)/sqrt 2``: E falls, exactly."""
    value, x = sp.diag(1, -sp.Rational(20, 21), -1), sp.Matrix([0, 1, 1]) / sp.sqrt(2)
    y = x + sp.Rational(21, 20) * value * x
    after = y / y.norm()
    forms = [sp.simplify((each.T * value * each)[0]) for each in (x, after)]
    if forms == [-sp.Rational(41, 42), -1]:
        return holds("E falls from 2 exp(-41/42) to 2/e")
    return fails(f"forms {forms}")


M = matrix("M")
_I, _J = Index("token", "i"), Index("token", "j")
_ENERGY = exponential(dot(vector("x", _I), vector("x", _J), product("M"))).summed(_I).summed(_J)
#: ``sum_ij e^{x_i^T M x_j}``, which is ``2 c E``, does not fall in a step.
CLIMBS = proposition(sp.Ge(Rate(_ENERGY), 0, evaluate=False))

CT_10 = register(
    Statement(
        id="CT-10",
        kind=Kind.THEOREM,
        source=Source(HERE, "gradient scores"),
        title="Gradient scores: every trajectory of the attention flow converges",
        systems=("attention-flow",),
        conditions=(Symmetric(V), MultipleOf(M, V), Relation(sp.Ne(Trace(M * V), 0))),
        claims=(Converges(SomeEquilibrium()),),
        depends=("CT-8",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"By CT-8 (proved by the kernel) the energy grows at the rate $\sum_iZ_i|\dot x_i|^2$ with $Z_i$ "
                r"between positive "
                r"bounds; the rest is Lojasiewicz's theorem for analytic gradient-like flows, which is cited.",
            ),
        ),
        variants=(Variant("Symmetric(V)", "$V = M$ a quarter turn, one token: it turns for ever.", a_turn_never_ends),),
        property_tests=(OnInstances(flow_climbs),),
    )
)

PM_X4 = register(
    Statement(
        id="PM-X4",
        kind=Kind.THEOREM,
        source=Source(HERE, "gradient scores"),
        title="Gradient scores: the energy of the attention map grows for every step size",
        systems=("attention-map",),
        conditions=(Symmetric(V), PositiveSemidefinite(V), MultipleOf(M, V), Relation(Trace(M * V) > 0)),
        claims=(Formula(CLIMBS),),
        claims_from=(("the rest",),),
        text=r"If $M = cV$ with $c > 0$, then for every $\alpha > 0$ (where no $y_i$ vanishes) $E(x^+) - E(x) \ge "
        r"\frac1{2\alpha}\sum_iZ_i(1 + r_i)|x_i^+ - x_i|^2 \ge 0$, $E = \frac1{2c}\sum_{ij}e^{cx_i^{\top}Vx_j}$. "
        r"Without the sign of "
        r"$V$ and $c$: $E(x^+) - E(x) \ge \frac n{2\alpha}e^{-|c|S}\sum_ir_i|x_i^+ - x_i|^2$ as long as $\alpha S(1 + "
        r"2|c|S)e^{2|c|S} \le 1$, $S = \lVert V\rVert$.",
        depends=("CT-8", "PM-L7"),
        derive=steps,
        prose_from=("the rest",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "Every orbit then converges to a single point (descent sequences of analytic functions, cited). That the "
                "exponential kernel is positive definite is cited from Schur.",
            ),
        ),
        vectors=(
            Vector("E before and after a step with alpha = 10", example, ("2.745281232799", "4.593524904282")),
            Vector(
                "V = diag(1, -20/21, -1), alpha = 21/20: E before and after a step",
                falling_energy,
                ("0.753487164452", "0.735758882343"),
            ),
        ),
        variants=(
            Variant(
                "MultipleOf(M, V)",
                "$V = \\operatorname{diag}(1, \\frac1{10})$, $M = \\operatorname{diag}(-1, 20)$, one token: its score falls.",
                other_scores_fall,
            ),
            Variant(
                "Relation(Trace(M*V) > 0)",
                "$V = I$, $M = -I$, tokens $e_1, e_2$: the energy falls.",
                negative_scores_fall,
            ),
            Variant(
                "PositiveSemidefinite(V)",
                r"$V = \operatorname{diag}(1, -\frac{20}{21}, -1)$, $c = 1$, $\alpha = \frac{21}{20}$: $E$ falls from "
                r"$0.7535$ to "
                r"$0.7358$.",
                indefinite_values_fall,
            ),
        ),
        property_tests=(OnInstances(map_climbs),),
    )
)
