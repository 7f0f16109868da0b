"""AB-T5.1: causal consensus at the first token, for almost every start, and the domain claim that is false.

For l >= 3 the domain of attraction does not contain ``{y_j != -y_1}``: for each admissible y_1, ..., y_{i-1} there is exactly
one bad start of token i, and for i >= 3 it is not ``-y_1``.  Reference: Theorem 5.1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.deterministic_data import FLOATS, as_floats, det_matrix, scaled
from eigentoken.proofs.tensor_reductions import applied, velocity
from eigentoken.proofs.textbook import FUBINI, words
from eigentoken.proofs.trajectories import ball, enclose, integrate, precision
from eigentoken.theory.algebra import causal_mask
from eigentoken.theory.claims import AlmostEveryConverges
from eigentoken.theory.conditions import BoundedInTime, Relation
from eigentoken.theory.points import ConsensusSet
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.steps import Citation, Derivation, Identity, Inequality
from eigentoken.theory.systems import system
from eigentoken.theory.terms import d, matrix
from eigentoken.theory.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.words_flows import IsIdentity

U = matrix("U")


def derive() -> Derivation:
    """Heights against the first token, uniqueness and position of the bad start."""
    from eigentoken.proofs.calculus_steps import TOKEN_I, TOKEN_J, along_flow, field_of, tensor_step, token
    from eigentoken.theory.calculus import DIMENSION, Assumptions, Base, Letter, Mask, exponential, factor
    from eigentoken.theory.calculus import dot as inner
    from eigentoken.theory.calculus.atoms import Dot
    from eigentoken.theory.calculus.expressions import row_sum

    rules = Assumptions(unit={"y": ()})
    flow = field_of("causal-flow", {"U": None, "P": Letter("P")}, rules)
    pair = inner(token(TOKEN_I), token(TOKEN_J), (Letter("P"),))
    mask = Mask("c", TOKEN_I, TOKEN_J)
    masked = factor(mask) * exponential(pair) * factor(row_sum(pair, TOKEN_J, (mask,)), -1) / sp.sqrt(DIMENSION)

    def height(at: Any) -> Any:
        return factor(Dot(Base("v"), (), Base("y", (at,))))

    y_i, y_j = sp.symbols("y_i y_j", real=True)
    a, b, p, q, weight, c = sp.symbols("a atilde p q alpha_ij c", real=True)
    y, z, target = sp.symbols("y ytilde y_1", real=True)
    s_3, s_32, A_31, A_32 = sp.symbols("s_3 s_32 A_31 A_32", real=True)
    c_i, s_i, c_j, s_j = sp.symbols("c_i s_i c_j s_j", real=True)
    rate, error = sp.symbols("A epsilon", real=True)
    return Derivation(
        (
            tensor_step(
                "heights from the system",
                "For a fixed vector $v$ (it will be $y_1$, which does not move, AB-E15), along the registered causal "
                "flow with $U = I$ (mask "
                "$c_{ij} = 1$ for $j \\le i$), for every number of tokens and every dimension:",
                derive=lambda: along_flow(height(TOKEN_I), flow, rules),
                claimed=(masked * (height(TOKEN_J) - inner(token(TOKEN_I), token(TOKEN_J)) * height(TOKEN_I))).summed(
                    TOKEN_J
                ),
                rules=rules,
                left="\\tfrac{d}{dt}\\,v^{\\top}y_i",
            ),
            applied(
                "heights",
                "Token 1 is fixed (AB-E15). Let $a = y_1^{\\top}y_i$ and $e_j = y_j - y_1$, $p = e_j^{\\top}y_1$, $q "
                "= e_j^{\\top}y_i$. "
                "Apply $y_1^{\\top}$ to the summand $\\alpha_{ij}\\bigl(y_j - (y_i^{\\top}y_j)\\,y_i\\bigr)$, where "
                "$y_i^{\\top}y_j = a + q$: the "
                "main part and a part that vanishes with $e_j$.",
                weight * (y_j - (a + q) * y_i),
                {y_j: 1 + p, y_i: a},
                weight * (1 - a**2) + weight * (p - q * a),
                uses=("heights from the system",),
                establishes=("the heights solve a perturbed Riccati equation",),
            ),
            words(
                "dichotomy",
                "By induction $y_j \\to y_1$ for $j < i$. With $A = \\sum_{j<i}\\sum_{\\eta}\\alpha^{\\eta}_{ij} \\ge "
                "h(i-1)c_1 > 0$ (AB-L4.1), "
                "$\\dot a = A(1 - a^2) + o(1)$: once $|a| \\le 1 - \\epsilon$ the height grows at a rate bounded "
                "below, so $a \\to 1$ or "
                "$a \\to -1$.",
                ("the heights solve a perturbed Riccati equation", "AB-L4.1: the weights are bounded below"),
                "each token tends to the first one or to its antipode",
                uses=("heights",),
            ),
            Inequality(
                name="no return from the middle",
                says="Indeed where $a^2 \\le 1 - 2\\epsilon$ and the perturbation is below $A\\epsilon$ in modulus, "
                "$\\dot a \\ge A\\epsilon > 0$.",
                hypotheses=(rate > 0, error > 0, a**2 <= 1 - 2 * error, sp.Abs(p) <= rate * error),
                conclusion=rate * (1 - a**2) + p >= rate * error,
                uses=("heights",),
            ),
            applied(
                "two solutions near the antipode",
                "Let $y, \\tilde y$ (heights $a, \\tilde a$, product $c = y^{\\top}\\tilde y$) follow $g(y) = y_1 - "
                "(y^{\\top}y_1)\\,y$. Apply "
                "$(y - \\tilde y)^{\\top}$ to $g(y) - g(\\tilde y)$: it sends $y_1 \\mapsto a - \\tilde a$, $y "
                "\\mapsto 1 - c$, "
                "$\\tilde y \\mapsto c - 1$, and $|y - \\tilde y|^2 = 2(1 - c)$.",
                (target - a * y) - (target - b * z),
                {target: a - b, y: 1 - c, z: c - 1},
                -(a + b) / 2 * (2 * (1 - c)),
                establishes=("solutions near the antipode separate",),
            ),
            words(
                "uniqueness",
                "If both tend to $-y_1$ then $a, \\tilde a \\to -1$ and the factor $-(a + \\tilde a)/2$ tends to 1. "
                "The difference of the weights at "
                "$y$ and $\\tilde y$ is at most a constant times $|y - \\tilde y|$ ($P$ is bounded) and multiplies "
                "$y_j - (y^{\\top}y_j)y \\to 0$. So $\\tfrac{d}{dt}|y - \\tilde y|^2 \\ge 2\\bigl(h(i-1)c_1 - "
                "o(1)\\bigr)|y - \\tilde y|^2$ for late times: "
                "a bounded difference must be zero.",
                (
                    "solutions near the antipode separate",
                    "P is bounded in time",
                    "each token tends to the first one or to its antipode",
                ),
                "there is at most one bad start",
                uses=("two solutions near the antipode", "dichotomy"),
            ),
            words(
                "existence",
                "For every $T$ the time-$T$ map of token $i$ is a homeomorphism of $S^n$, so some start $y^{(T)}$ is "
                "at $-y_1$ at time $T$. "
                "The starts that tend to $y_1$ form an open set, and those near which a solution is inside the "
                "hemisphere of $y_1$ from "
                "some time on stay there (AB-X1); a limit point of $y^{(T)}$ as $T \\to \\infty$ is not among them.",
                (
                    "each token tends to the first one or to its antipode",
                    "AB-X1: exponential consensus from an open hemisphere",
                ),
                "there is at least one bad start",
                uses=("dichotomy",),
            ),
            Identity(
                name="motion on a great circle",
                says="Tokens 1, 2, 3 started on one great circle stay there. With $y_j = (c_j, s_j)$ and the unit "
                "tangent $(-s_i, c_i)$ at "
                "$y_i = (c_i, s_i)$, the angular speed that $y_j$ gives to $y_i$ is $\\sin(\\theta_j - \\theta_i)$.",
                left=(c_j - (c_i * c_j + s_i * s_j) * c_i) * (-s_i) + (s_j - (c_i * c_j + s_i * s_j) * s_i) * c_i,
                right=s_j * c_i - c_j * s_i,
            ),
            Inequality(
                name="position of the bad start",
                says="Let $\\theta_1 = 0$, $\\theta_2 \\in (0, \\pi)$, $\\theta_3 \\in (\\theta_2, \\pi]$: then $s_3 "
                "= \\sin\\theta_3 \\ge 0$ and "
                "$s_{32} = \\sin(\\theta_3 - \\theta_2) > 0$, so $\\dot\\theta_3 = -A_{31}s_3 - A_{32}s_{32} < 0$. "
                "The start $\\theta_3 = \\pi$, that "
                "is $y_3 = -y_1$, leaves and reaches $y_1$; so $y_3^* \\neq -y_1$.",
                hypotheses=(A_31 > 0, A_32 > 0, s_3 >= 0, s_32 > 0),
                conclusion=-A_31 * s_3 - A_32 * s_32 < 0,
                uses=("motion on a great circle", "uniqueness"),
            ),
            words(
                "sections",
                "For each admissible $(y_1, \\dots, y_{i-1})$ exactly one $y_i$ is bad, a set of measure zero in "
                "$S^n$, $n \\ge 1$; by induction "
                "over $i$ the bad set has null sections.",
                (
                    "there is at most one bad start",
                    "there is at least one bad start",
                    "the sphere has positive dimension",
                ),
                "almost every section has measure zero",
                uses=("uniqueness", "existence"),
            ),
            words(
                "measurable",
                "The domain of attraction is open: near the limit it contains a neighbourhood of the consensus set "
                "(AB-X1), and the "
                "time-$T$ maps are continuous.",
                ("AB-X1: exponential consensus from an open hemisphere",),
                "the set is measurable",
            ),
            Citation(
                name="measure zero",
                says="So the complement of the domain of attraction has measure zero.",
                theorem=FUBINI,
                uses=("sections", "measurable"),
                formula="\\operatorname{meas}\\{(y_1, \\dots, y_{\\ell}) : \\text{no consensus at } y_1\\} = 0",
            ),
            words(
                "stability",
                "Tokens close to a consensus lie in a small cap; in the central projection of AB-X1 their distance to "
                "$w_1$ does not grow and "
                "decays exponentially: the consensus set is asymptotically stable.",
                ("AB-X1: exponential consensus from an open hemisphere",),
                "the consensus set is asymptotically stable",
            ),
        )
    )


# -- the printed domain is wrong ---------------------------------------------------------------------------------------


def _planar_field(_: Any, x: Any) -> list[Any]:
    """Angles of tokens 2, 3 for P = 0, one head, token 1 at angle 0, d = 2."""
    from flint import arb

    return [-x[0].sin() / arb(8).sqrt(), -(x[1].sin() + (x[1] - x[0]).sin()) / arb(18).sqrt()]


def bad_start_between(low: str, high: str, time: int = 18, steps: int = 54) -> Verdict:
    """Some third angle in [low, high] has no consensus at token 1, although the whole interval avoids pi.

    From ``low`` the lifted angle is below pi at a time when 0 < theta_2 < pi: the tokens 0, theta_2, theta_3 lie in an open half
    circle and go to consensus with lifted limit 0 (AB-X1).  From ``high`` it is above pi + theta_2: then theta_3 - 2 pi, 0,
    theta_2 lie in an open half circle and the lifted limit is 2 pi.  Both sets of starts are open and disjoint; an
    interval is connected, so a start in between does neither.
    """
    from flint import arb

    with precision(50):
        second = arb.pi() / 2
        if not (ball(low) > arb.pi() and ball(high) < arb.pi() + second):
            return undecided("the interval does not avoid -y_1")
        below = enclose(_planar_field, [second, ball(low)], time, steps=steps, order=16, digits=50)
        above = enclose(_planar_field, [second, ball(high)], time, steps=steps, order=16, digits=50)
        first = bool(below[0] > 0 and below[0] < arb.pi() and below[1] < arb.pi() and below[1] > 0)
        last = bool(above[0] > 0 and above[0] < arb.pi() and above[1] > arb.pi() + above[0] and above[1] < 2 * arb.pi())
    if first and last:
        return holds(
            f"theta_2 = pi/2: from theta_3 = {low} the third token reaches the half circle of token 1 from one side, from {high} "
            "from the other (enclosures): some start in between, none of which is -y_1, does not reach consensus"
        )
    return undecided("the enclosures do not decide both sides")


def bad_angle(second: float) -> float:
    """The bad third angle for P = 0: backwards in time the bad trajectory attracts, with theta_2 in closed form (floats)."""
    import math

    late = 44.0
    slope = math.tan(second / 2)

    def other(t: float) -> float:
        return 2 * math.atan(slope * math.exp(-t / math.sqrt(8)))

    def field(t: float, x: Any) -> list[float]:
        return [(math.sin(x[0]) + math.sin(x[0] - other(late - t))) / math.sqrt(18)]

    return integrate(field, [math.pi + other(late) / 2], [late])[0][0]


def sphere_example() -> list[float]:
    """The bad third token on S^2 for P = 0.8 det_matrix(3), y_1 = e_1, y_2 = e_2, and its distance to -y_1."""
    import math

    score = as_floats(scaled(0.8, det_matrix(3)))

    def speeds(second: float, third: float) -> list[float]:
        points = [(math.cos(angle), math.sin(angle), 0.0) for angle in (0.0, second, third)]
        field = system("causal-flow").advance(FLOATS, {"U": None, "P": score}, tuple(points), causal_mask(3))
        return [field[i][1] * points[i][0] - field[i][0] * points[i][1] for i in (1, 2)]

    late = 44.0
    last = integrate(lambda _, x: [speeds(x[0], 0.0)[0]], [math.pi / 2], [late])[0][0]
    start = integrate(lambda _, x: [-each for each in speeds(x[0], x[1])], [last, math.pi + last / 2], [late])[0]
    point = (math.cos(start[1]), math.sin(start[1]))
    return [*point, math.hypot(point[0] + 1, point[1])]


def angles_example() -> list[Any]:
    """Angles at t = 10 from (0, pi/2, 2.5) by enclosure, and theta_2 in closed form."""
    from flint import arb

    with precision(50):
        end = enclose(_planar_field, [arb.pi() / 2, "5/2"], 10, steps=30, order=16, digits=50)
        return [*end, 2 * (-10 / arb(8).sqrt()).exp().atan()]


def unbounded_causal_freezes() -> Verdict:
    """P(t) = e^{2t} I, causal, two tokens at angle 1: the second token stays above angle 0.85 (see AB-X1)."""
    from flint import arb

    def field(t: Any, x: Any) -> list[Any]:
        return [-x[0].sin() / arb(2).sqrt() / (1 + ((2 * t).exp() * (1 - x[0].cos())).exp())]

    with precision(40):
        end = enclose(field, ["1"], 2, steps=160, order=14, digits=40)[0]
        floor = ball("0.85")
        rate = 1 - floor.cos()
        grown = ball(4).exp()
        tail = (-rate * grown).exp() / (2 * rate * grown)
        if end - tail > floor:
            return holds("the angle of the second token stays above 0.85 for all times")
    return undecided("the enclosure does not separate the angle from 0.85")


def discrete_sphere_stays() -> Verdict:
    """On S^0 = {1, -1} no token moves: the starts with different tokens, of positive measure, never reach consensus."""
    one = sp.Integer(1)
    speed = velocity("causal-flow", {"U": None, "P": ((one,),)}, ((one,), (-one,), (one,)))
    if all(entry == 0 for row in speed for entry in row):
        return holds("tokens 1, -1, 1 on S^0 have velocity zero exactly")
    return fails(f"the velocity is {speed}")


AB_T51 = register(
    Statement(
        id="AB-T5.1",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 5.1"),
        title="Causal consensus at the first token",
        systems=("causal-flow",),
        conditions=(IsIdentity(U), BoundedInTime("P"), Relation(d >= 2)),
        claims=(AlmostEveryConverges(ConsensusSet()),),
        text="Let $U = I$ and $\\sup_t\\lVert P_{\\eta}(t)\\rVert \\le b$, $n \\ge 1$. The consensus set is "
        "asymptotically stable, and almost every "
        "start converges to consensus at $y_1$. For $y_1, \\dots, y_{i-1}$ in the domain of attraction there is "
        "\\emph{exactly one} bad "
        "start $y_i^*$ of token $i$, whose trajectory tends to $-y_1$; $y_2^* = -y_1$, but $y_3^* \\neq -y_1$ whenever "
        "$y_2 \\notin \\{y_1, -y_1\\}$.",
        depends=("AB-E15", "AB-L4.1", "AB-L5.1", "AB-X1"),
        facts=(
            "P is bounded in time",
            "the sphere has positive dimension",
            "AB-L4.1: the weights are bounded below",
            "AB-X1: exponential consensus from an open hemisphere",
        ),
        derive=derive,
        printed=Printed(
            text="The domain of attraction contains $\\{(y_1, \\dots, y_{\\ell}) : y_j \\neq -y_1,\\ 2 \\le j \\le "
            "\\ell\\}$.",
            wrong="False for every $\\ell \\ge 3$ and $n \\ge 1$ (true for $\\ell = 2$). The printed estimate "
            "$\\dot V \\le -cV'(a)^2 + C|e|$ is not an input-to-state estimate on $(-1, 1]$, because $V'(-1) = 0$.",
            counterexamples=(
                Counterexample(
                    name="three tokens on the circle",
                    says="$S^1$, $P = 0$, angles $\\theta_1 = 0$, $\\theta_2 = \\tfrac{\\pi}{2}$: some $\\theta_3 "
                    "\\in [3.5994, 3.5995]$, which is not "
                    "$\\pi$, does not reach consensus ($\\theta_3^* = 3.599405655\\ldots$).",
                    instance={
                        "system": "causal-flow",
                        "P": [["0", "0"], ["0", "0"]],
                        "angles": ["0", "pi/2", ["3.5994", "3.5995"]],
                    },
                    check=lambda: bad_start_between("3.5994", "3.5995"),
                ),
            ),
        ),
        vectors=(
            Vector(
                "angles at t = 10 from (0, pi/2, 2.5), and theta_2 in closed form",
                angles_example,
                ("0.058269893251061", "0.12240531375280", "0.058269893251061"),
            ),
            Vector(
                "bad third angles for theta_2 = pi/2 and 1",
                lambda: [bad_angle(1.5707963267948966), bad_angle(1.0)],
                ("3.599405655007", "3.429582497847"),
            ),
            Vector(
                "bad third token on the sphere, P = 0.8 det_matrix(3), and its distance to -y_1",
                sphere_example,
                ("-0.961364", "-0.275279", "0.277977"),
            ),
        ),
        variants=(
            Variant(
                'BoundedInTime("P")',
                "With $P(t) = e^{2t}I$ on the circle the second token freezes away from the first.",
                unbounded_causal_freezes,
            ),
            Variant("Relation(d >= 2)", "On $S^0$ no token moves.", discrete_sphere_stays),
        ),
    )
)
