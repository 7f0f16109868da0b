"""AB-T6.1: causal consensus at the top eigenvector of a symmetric value matrix, and the boundary of its hypotheses.

The printed estimate needs the forward invariance of the hemisphere, which is proved first here.
Reference: Abella-Silvestre-Tabuada, Theorem 6.1.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_l61_token_under_symmetric_value import VALUE
from eigentoken.proofs.abella.half_space import LOWEST, half_space_steps
from eigentoken.proofs.abella.heads_flow import attention_weight, height
from eigentoken.proofs.abella.local_stability import local_stability_steps
from eigentoken.proofs.abella.riccati import NEAR_ONE, riccati_steps
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.deterministic_data import (
    FLOATS,
    as_floats,
    as_numbers,
    det_matrix,
    det_tokens,
    numbers,
    scaled,
    symmetric_eigenpairs,
)
from eigentoken.proofs.properties.trajectories import integrate
from eigentoken.proofs.steps.calculus_steps import (
    TOKEN_I,
    TOKEN_J,
    along_flow,
    analytic_step,
    field_of,
    tensor_step,
    token,
)
from eigentoken.proofs.steps.tensor_reductions import applied, velocity
from eigentoken.proofs.steps.textbook import CARATHEODORY, RAYLEIGH
from eigentoken.proofs.steps.textbook_flows import INDUCTION
from eigentoken.theory.calculus import SLOT, Assumptions, Letter, vector
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.language.claims import Converges, ForwardInvariant
from eigentoken.theory.language.conditions import BoundedInTime, InHemisphere, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.observables import dot
from eigentoken.theory.language.places import ConsensusAt, Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate, sign
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Printed, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step
from eigentoken.theory.systems.algebra import causal_mask
from eigentoken.theory.systems.catalogue import system

U = matrix("U")
lam, mu, root, index = sp.symbols("lambda mu r i", real=True)
MULTIPLIER = (mu / index - lam) / root
KEPT = "the hemisphere is forward invariant"


def _heights() -> tuple[Step, ...]:
    """One solution for each start; how the heights against v move, and that they stay positive."""
    value, score, here = Letter("U"), Letter("P"), vector("y", SLOT)
    rules = Assumptions(
        symmetric=frozenset({"U"}), unit={"y": ()}, eigen={("U", False, "v"): lam, ("U", True, "v"): lam}
    )
    field = field_of("causal-flow", {"U": value, "P": score}, rules)
    y_i, Uy_j = sp.symbols("y_i Uy_j", real=True)
    b_i, b_j, s, weight = sp.symbols("b_i b_j s alpha_ij", real=True)
    return (
        analytic_step(
            "Lipschitz field",
            "Written out, the field is analytic in the tokens (a causal normaliser contains the own term and has no "
            "zero), with derivatives that are bounded on the compact sphere while $P$ is; and it is measurable in "
            "time with $P$.",
            derive=lambda: field,
            claimed=(
                attention_weight(score, SLOT, mask="c")
                * (token(TOKEN_J).applied((value,)) - inner(here, token(TOKEN_J), (value,)) * here)
            ).summed(TOKEN_J),
            rules=rules,
            left="\\dot y_i",
            needs=("P is measurable and bounded in time",),
            establishes=("the field is measurable in time and Lipschitz in the state with an integrable bound",),
        ),
        Citation(
            name="measurable P",
            says="So there is one solution for each start, and its coordinates are absolutely continuous.",
            theorem=CARATHEODORY,
            uses=("Lipschitz field",),
            establishes=("solutions exist, are unique and absolutely continuous",),
        ),
        tensor_step(
            "heights from the system",
            "Let $b_i = v^{\\top}y_i$ with $Uv = \\lambda v$, $U$ symmetric. Along the registered causal flow (mask "
            "$c_{ij} = 1$ for $j \\le i$), for every number of tokens and every dimension:",
            derive=lambda: along_flow(height(TOKEN_I), field, rules),
            claimed=(
                attention_weight(score, mask="c")
                * (height(TOKEN_J) * lam - inner(token(TOKEN_I), token(TOKEN_J), (value,)) * height(TOKEN_I))
            ).summed(TOKEN_J),
            rules=rules,
            left="\\dot b_i",
            needs=("solutions exist, are unique and absolutely continuous",),
            establishes=(LOWEST,),
        ),
        applied(
            "heights",
            "Let $b_i = v^{\\top}y_i$, $Uv = \\lambda v$, $s = y_i^{\\top}Uy_j$. Apply $v^{\\top}$ to the summand of "
            "(21): $Uy_j \\mapsto \\lambda b_j$ by symmetry of $U$.",
            weight * (Uy_j - s * y_i),
            {Uy_j: lam * b_j, y_i: b_i},
            weight * (lam * b_j - s * b_i),
            by="v^{\\top}",
            uses=("heights from the system",),
            establishes=("the heights obey a scalar equation",),
        ),
        *half_space_steps("b_i", uses=("heights",), establishes=KEPT),
    )


def _lower_estimate() -> tuple[Step, ...]:
    """The height of a token whose predecessors are near v grows by a perturbed Riccati equation."""
    b_i, b_j, s, p, q, weight, own, rho, eps = sp.symbols("b_i b_j s p q alpha_ij alpha_ii rho epsilon", real=True)
    before = sp.Symbol("A", positive=True)
    return (
        Identity(
            name="perturbation form",
            says="Suppose $y_j = v + e_j$ with $e_j \\to 0$; put $p = v^{\\top}e_j$, $q = y_i^{\\top}Ue_j$. Then $b_j "
            "= 1 + p$ and $s = \\lambda b_i + q$, so the summand is a main part and a part that vanishes with $e_j$.",
            left=weight * (lam * b_j - s * b_i),
            right=weight * lam * (1 - b_i**2) + weight * (lam * p - q * b_i),
            where={b_j: 1 + p, s: lam * b_i + q},
            uses=("heights",),
        ),
        Citation(
            name="Rayleigh",
            says="With the top eigenvalue $\\lambda$, on the sphere:",
            theorem=RAYLEIGH,
            letters={"A": "U"},
            formula="y^{\\top}Uy \\le \\lambda",
            establishes=("the form of U lies between its extreme eigenvalues times the squared norm",),
        ),
        Inequality(
            name="lower estimate",
            says="With $A = \\sum_{j<i}\\alpha_{ij}$, the own term $\\alpha_{ii}(\\lambda - \\rho)\\,b_i$, $\\rho = "
            "y_i^{\\top}Uy_i \\le \\lambda$, and all perturbations together at most $\\epsilon$: $\\dot b_i \\ge "
            "\\lambda A(1 - b_i^2) - \\epsilon$.",
            hypotheses=(lam > 0, own >= 0, rho <= lam, b_i > 0, sp.Abs(p) <= eps),
            conclusion=before * lam * (1 - b_i**2) + own * (lam - rho) * b_i + p >= lam * before * (1 - b_i**2) - eps,
            uses=("perturbation form", "Rayleigh", "the half space is kept"),
            needs=("the form of U lies between its extreme eigenvalues times the squared norm", KEPT),
        ),
    )


def _induction() -> tuple[Step, ...]:
    """Token after token tends to v."""
    eps = sp.Symbol("epsilon", real=True)
    c_1, own_time, time, number, low, radius, eta, least = sp.symbols("c_1 s t N l rho eta k", real=True)
    return (
        recalled(
            "AB-L4.1",
            "the weights are bounded below",
            "For bounded $P$ every weight with $j \\le i$ is at least $c_1 > 0$.",
            "\\alpha_{ij} \\ge c_1",
            name="weights",
            letters={"W": "I"},
        ),
        recalled(
            "AB-L6.1",
            "v attracts exactly the open hemisphere around v",
            "Token 1 is alone: it follows Oja's flow in the time $s = \\int\\alpha_{11}$.",
            "y_1(t) \\to v",
            name="one token",
        ),
        Inequality(
            name="first token",
            says="Its own time tends to infinity: $s \\ge c_1t$ exceeds any $N$ once $t > N/c_1$. So token 1 converges "
            "to $v$.",
            hypotheses=(c_1 > 0, own_time >= c_1 * time, time > number / c_1),
            conclusion=own_time > number,
            uses=("weights", "one token"),
            needs=("the weights are bounded below", "v attracts exactly the open hemisphere around v"),
            establishes=("convergence to v for the first token",),
        ),
        *riccati_steps("b_i", uses=("lower estimate", "weights"), needs=(KEPT,)),
        Inequality(
            name="next token",
            says="Suppose tokens $1, \\dots, i - 1$ converge to $v$, so that for each $\\eta > 0$ the perturbation is "
            "below $\\eta$ at late times; here $k = \\lambda(i-1)c_1$. Since $b_i > 0 > -\\rho$, the limit inferior "
            "$l$ of $b_i$ is at least $\\rho$, hence above $1 - \\epsilon$ for $\\eta < k\\epsilon$, for every "
            "$\\epsilon > 0$; and $|y_i - v|^2 = 2(1 - b_i)$.",
            hypotheses=(low >= radius, 1 - radius <= eta / least, least > 0, eps > 0, eta < least * eps),
            conclusion=low > 1 - eps,
            uses=("radius", "the half space is kept"),
            needs=(NEAR_ONE, KEPT),
            establishes=("convergence to v for the next token if for all earlier ones",),
        ),
        Citation(
            name="cascade",
            says="So all tokens converge to $v$.",
            theorem=INDUCTION,
            letters={"claim": "convergence to v"},
            uses=("first token", "next token"),
            formula="y_i(t) \\to v \\quad\\text{for all } i",
            establishes=("convergence to v for all tokens",),
        ),
    )


def _local_spectrum() -> tuple[Step, ...]:
    """The spectrum at (v, ..., v) is negative, and the state exponentially stable."""
    v, w = sp.symbols("v w", real=True)
    eps = sp.Symbol("epsilon", real=True)
    first_tokens = (index - 1) * (lam * v - lam * (v + eps * w))
    own_term = lam * v + eps * mu * w - (lam + eps**2 * mu) * (v + eps * w)
    return (
        Identity(
            name="local spectrum",
            says="At $(v, \\dots, v)$ the weights are $1/(i\\,r)$, $r = \\sqrt d$, and their variation multiplies "
            "zero. Move token $i$ to $v + \\epsilon w$ with $Uw = \\mu w$, $w \\perp v$: the first $i - 1$ summands "
            "and the own one, differentiated at $\\epsilon = 0$, along $w$:",
            left=sp.expand(sp.diff(first_tokens + own_term, eps).subs(eps, 0)).coeff(w) / (index * root),
            right=MULTIPLIER,
            uses=("heights",),
        ),
        Inequality(
            name="local stability",
            says="For $\\lambda > 0$ and $\\mu < \\lambda$ all these multipliers are negative.",
            hypotheses=(lam > 0, mu < lam, index >= 1, root > 0),
            conclusion=MULTIPLIER < 0,
            uses=("local spectrum",),
            establishes=("the eigenvalues of the diagonal blocks of J are negative",),
        ),
        *local_stability_steps(),
    )


def _bipartite() -> tuple[Step, ...]:
    """The multiplier at (v, -v)."""
    v, w = sp.symbols("v w", real=True)
    eps = sp.Symbol("epsilon", real=True)
    near, far = sp.symbols("p_22 p_21", positive=True)
    score = sp.Symbol("s", real=True)
    other_term = lam * v - (-lam) * (-v + eps * w)
    own_bipartite = -lam * v + eps * mu * w - (lam + eps**2 * mu) * (-v + eps * w)
    return (
        Inequality(
            name="sign of the multiplier",
            says="In general a multiplier is negative exactly when $\\mu < i\\lambda$.",
            hypotheses=(index >= 1, root > 0),
            conclusion=sp.And(
                sp.Implies(MULTIPLIER < 0, mu < index * lam), sp.Implies(mu < index * lam, MULTIPLIER < 0)
            ),
            uses=("local spectrum",),
        ),
        Identity(
            name="bipartite multiplier",
            says="Outside the hemisphere: at $(v, -v)$ move token 2 to $-v + \\epsilon w$. Token 1 contributes with "
            "weight $p_{21}$, the own term with $p_{22}$; differentiated at $\\epsilon = 0$, along $w$:",
            left=sp.expand(sp.diff(far * other_term + near * own_bipartite, eps).subs(eps, 0)).coeff(w),
            right=far * lam - near * (lam - mu),
        ),
        Identity(
            name="bipartite weights",
            says="The weights are proportional to $e^{-s}$ and $e^{s}$, $s = v^{\\top}Pv$; divided by $e^{s}$ the "
            "multiplier is",
            left=(far * lam - near * (lam - mu)) / sp.exp(score),
            right=sp.exp(-2 * score) * lam - (lam - mu),
            where={far: sp.exp(-score), near: sp.exp(score)},
            uses=("bipartite multiplier",),
        ),
    )


def derive() -> Derivation:
    """Heights against v, invariance, induction over the tokens, and the local spectrum."""
    return Derivation(
        (
            *_heights(),
            *_lower_estimate(),
            *_induction(),
            *_local_spectrum(),
            *_bipartite(),
        )
    )


# -- the boundary of the hypotheses -----------------------------------------------------------------------------------


def negative_top_fails() -> Verdict:
    """U = diag(-1, -3/2): the multiplier of token 2 at (v, v) is positive, so (v, v) is unstable."""
    value = MULTIPLIER.subs({lam: -1, mu: sp.Rational(-3, 2), index: 2, root: sp.sqrt(2)})
    if sign(value) == 1:
        return holds(f"lambda = -1, mu = -3/2, token 2: multiplier {value} > 0, so (v, v) repels token 2")
    return fails("the multiplier is not positive")


def bipartite_multiplier() -> Any:
    """Multiplier of token 2 at (v, -v) for U = diag(1, 0), P = I on the circle, from the registered system."""
    eps = sp.Symbol("epsilon", real=True)
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    value = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(0)))
    tokens = ((sp.Integer(1), sp.Integer(0)), (-sp.cos(eps), sp.sin(eps)))
    speed = velocity("causal-flow", {"U": value, "P": unit}, tokens)[1]
    return sp.simplify(sp.diff(speed[1], eps).subs(eps, 0))


def outside_hemisphere_fails() -> Verdict:
    """With U = diag(1, 0), P = I the bipartite state (v, -v) attracts: tokens outside the hemisphere do not reach
    consensus."""
    value = bipartite_multiplier()
    first = MULTIPLIER.subs({lam: 1, mu: 0, index: 1, root: sp.sqrt(2)})
    if sign(value) == -1 and sign(first) == -1:
        return holds(f"both multipliers at (v, -v), {first} and {value}, are negative: it is exponentially stable")
    return fails("the bipartite state is not stable")


def nonsymmetric_fails() -> Verdict:
    """U = [[1, 5], [0, 1/2]], one token at (0.9, -0.3): v^T y_0 > 0 and the limit is -v."""
    s = sp.Symbol("s", real=True)
    value = sp.Matrix([[1, 5], [0, sp.Rational(1, 2)]])
    start = sp.Matrix([sp.Rational(9, 10), sp.Rational(-3, 10)])
    left = sp.Matrix([[1, 10]])
    if left * value != left or value * sp.Matrix([1, 0]) != sp.Matrix([1, 0]):
        return fails("the eigenvectors are wrong")
    weight = (left * start)[0]
    # e^{sU} y_0 = e^s (u.y_0) v + e^{s/2} (y_0 - (u.y_0) v), since u.v = 1
    rest = start - weight * sp.Matrix([1, 0])
    solution = sp.exp(s) * weight * sp.Matrix([1, 0]) + sp.exp(s / 2) * rest
    checks = (solution.diff(s) - value * solution).applyfunc(sp.expand) == sp.zeros(2, 1)
    if checks and solution.subs(s, 0) == start and weight < 0 < start[0]:
        return holds(
            f"u = (1, 10): u^T y_0 = {weight} < 0 < v^T y_0, and e^(sU) y_0 = e^s ({weight}) v + O(e^(s/2)) tends to -v"
        )
    return fails("the closed form does not check")


def _data() -> tuple[Any, Any, Any]:
    scalars = numbers()
    value = as_numbers(VALUE)
    top = symmetric_eigenpairs(value)[1][-1]
    if top[0] < 0:
        top = tuple(-entry for entry in top)
    tokens = scalars.normalise(det_tokens(3, 3))
    tokens = tuple(tuple(entry if dot(top, row) > 0 else -entry for entry in row) for row in tokens)
    return tokens, top, value


def start_example() -> list[Any]:
    """v and b(0)."""
    tokens, top, _ = _data()
    return [*top, *(dot(top, row) for row in tokens)]


def end_example() -> list[float]:
    """``1 - b(5)`` for P(t) = cos(t) det_matrix(3), from the tangential part so that no digits are lost."""
    tokens, top, value = _data()
    matrix_u, base, side = as_floats(value), as_floats(det_matrix(3)), [float(entry) for entry in top]
    flow = system("causal-flow")

    def field(t: float, state: Any) -> list[float]:
        rows = FLOATS.normalise(tuple(tuple(state[3 * i : 3 * i + 3]) for i in range(3)))
        given = {"U": matrix_u, "P": scaled(math.cos(t), base)}
        return [entry for row in flow.advance(FLOATS, given, rows, causal_mask(3)) for entry in row]

    end = integrate(field, [float(entry) for row in tokens for entry in row], [5.0])[0]
    rows = FLOATS.normalise(tuple(tuple(end[3 * i : 3 * i + 3]) for i in range(3)))
    gaps = []
    for row in rows:
        along = dot(side, row)
        across = sum((a - along * b) ** 2 for a, b in zip(row, side, strict=True))
        gaps.append(across / (1 + along))
    return gaps


def increase_example() -> list[Any]:
    """``d/dt (1 - b_2)`` for U = diag(1, 0.9), P = 0, angles (1.4, 0.8); the multipliers of the boundary cases."""
    value = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Rational(9, 10)))
    zero = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), sp.Integer(0)))
    angles = (sp.Rational(7, 5), sp.Rational(4, 5))
    tokens = tuple((sp.cos(angle), sp.sin(angle)) for angle in angles)
    speed = velocity("causal-flow", {"U": value, "P": zero}, tokens)
    cases = [
        -speed[1][0],
        MULTIPLIER.subs({lam: -1, mu: sp.Rational(-3, 2), index: 2, root: sp.sqrt(2)}),
        bipartite_multiplier(),
    ]
    return [evaluate(case).real for case in cases]


def zero_top_keeps_signs(instances: int, seed: int) -> Verdict:
    """For lambda = 0 the slope of b_i is a multiple of b_i: exactly, on random rational instances in the plane."""
    import random

    source = random.Random(seed)
    for _ in range(instances):
        value = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), -sp.Rational(source.randint(1, 30), 7)))
        zero = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), sp.Integer(0)))
        tokens = []
        for _ in range(3):
            t = sp.Rational(source.randint(-9, 9), 10)
            tokens.append(((1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)))
        tokens[1] = (sp.Integer(0), sp.Integer(1))
        speed = velocity("causal-flow", {"U": value, "P": zero}, tuple(tokens))
        if speed[1][0] != 0:
            return fails(f"a token at height 0 moves at {tokens}")
    return holds(f"{instances} exact instances: a token at height 0 keeps it")


AB_T61 = register(
    Statement(
        id="AB-T6.1",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 6.1"),
        title="Causal consensus at the top eigenvector",
        systems=("causal-flow",),
        conditions=(Symmetric(U), SimpleTop(U), Relation(Eigenvalue(U, 1) > 0), BoundedInTime("P"), InHemisphere(U)),
        claims=(ForwardInvariant(Hemisphere(U)), Converges(ConsensusAt(U, 1))),
        text="Then $y_i(t) \\to v$ for all $i$, and $(v, \\dots, v)$ is exponentially stable, uniformly in time; its "
        "local multipliers are $(\\mu/i - \\lambda)/\\sqrt d$ for token $i$ and $\\mu \\in \\Lambda \\setminus "
        "\\{\\lambda\\}$, whatever $P$ is.",
        depends=("AB-L6.1", "AB-L4.1", "AB-E15"),
        facts=("U is symmetric", "P is measurable and bounded in time"),
        derive=derive,
        claims_from=(("the half space is kept",), ("cascade",)),
        prose_from=("exponential stability", "sign of the multiplier", "bipartite weights"),
        printed=Printed(
            text="The proof uses $V_b = 1 - b$ as a strict ISS Lyapunov function on $b \\in (0, 1]$.",
            wrong="The theorem is true; the estimate needs the forward invariance of the hemisphere, which is not "
            "shown. $1 - b_i$ need not decrease for $i \\ge 2$.",
            false=False,
        ),
        vectors=(
            Vector(
                "v and b(0)",
                start_example,
                (
                    "0.901752646908814",
                    "0.415261485453819",
                    "0.120000260381534",
                    "0.035674718856022",
                    "0.385522757058251",
                    "0.47274551555858",
                ),
            ),
            Vector("1 - b(5)", end_example, ("8.67906192458E-4", "2.32241943E-6", "2.37862603E-6")),
            Vector(
                "slope of 1 - b_2; multipliers for lambda < 0 and at the bipartite state",
                increase_example,
                ("0.113117897642832", "0.176776695296637", "-0.538528392188366"),
            ),
        ),
        variants=(
            Variant(
                "Relation(Eigenvalue(U, 1) > 0)",
                "$U = \\operatorname{diag}(-1, -\\tfrac32)$: $(v, v)$ has a positive multiplier for token 2.",
                negative_top_fails,
            ),
            Variant(
                "InHemisphere(U)",
                "$U = \\operatorname{diag}(1, 0)$, $P = I$: the bipartite state $(v, -v)$ is exponentially stable; in "
                "general when $e^{-2v^{\\top}Pv}\\lambda < \\lambda - \\mu_2$.",
                outside_hemisphere_fails,
            ),
            Variant(
                "Symmetric(U)",
                "$U = \\begin{pmatrix}1&5\\\\0&\\tfrac12\\end{pmatrix}$, $y_0 \\propto (0.9, -0.3)$: the left "
                "eigenvector decides, and the limit is $-v$.",
                nonsymmetric_fails,
            ),
        ),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "Beyond the statement, and not proved here: $\\lambda = 0$ simple still works, since then $\\dot b_i "
                "\\propto b_i$; a multiple top eigenvalue works with $v = \\Pi_{\\lambda}y_1(0)/|\\Pi_{\\lambda}y_1(0)|$ and "
                "$v^{\\top}y_i(0) > 0$; several heads with symmetric $U_{\\eta}$, a common top eigenvector and "
                "$\\lambda_{\\eta} > 0$ simple work by the same proof.",
            ),
        ),
        property_tests=(zero_top_keeps_signs,),
    )
)
