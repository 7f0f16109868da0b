"""AB-T5.1: causal consensus at the first token, for almost every start, and the domain claim that is false.

For l >= 3 the domain of attraction does not contain ``{y_j != -y_1}``: for each admissible y_1, ..., y_{i-1} there is exactly
one bad start of token i, and for i >= 3 it is not ``-y_1``.  Reference: Abella-Silvestre-Tabuada, Theorem 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from eigentoken.proofs.abella.causal_examples import (
    angles_example,
    bad_angle,
    bad_start_between,
    discrete_sphere_stays,
    sphere_example,
    unbounded_causal_freezes,
)
from eigentoken.proofs.abella.causal_measure import measure_steps, stability_steps
from eigentoken.proofs.abella.causal_position import position_steps
from eigentoken.proofs.abella.causal_uniqueness import uniqueness_steps
from eigentoken.proofs.abella.half_space import LOWEST, WHILE, kept_positive
from eigentoken.proofs.abella.heads_flow import attention_weight, height
from eigentoken.proofs.abella.riccati import NEAR_ONE, riccati_steps
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.steps.calculus_steps import (
    HEAD,
    TOKEN_I,
    TOKEN_J,
    along_flow,
    analytic_step,
    field_of,
    tensor_step,
    token,
)
from eigentoken.proofs.steps.tensor_reductions import applied
from eigentoken.proofs.steps.textbook import CARATHEODORY
from eigentoken.proofs.steps.textbook_flows import COMPACTNESS, FLOW_MAPS, OPEN_SETS
from eigentoken.theory.calculus import SLOT, Assumptions, Letter, zero
from eigentoken.theory.calculus import dot as inner
from eigentoken.theory.calculus import vector as vector_of
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import BoundedInTime, IsIdentity, Relation
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

U = matrix("U")


def derive() -> Derivation:
    """Heights against the first token, uniqueness and existence of the bad start, its position, and null sets."""
    return Derivation(
        (*_heights(), *uniqueness_steps(), *_existence(), *position_steps(), *measure_steps(), *stability_steps())
    )


def _flow_maps() -> Iterator[Step]:
    """The registered flow with heads on the sphere: heights, solutions, homeomorphisms."""
    rules = Assumptions(unit={"y": ()})
    several = Letter("P", False, (HEAD,))
    flow = field_of("ellipsoid-multihead-flow", {"heads": [{"U": None, "P": several}], "W": None}, rules, mask="c")

    here = vector_of("y", SLOT)
    yield tensor_step(
        "one head",
        "The registered causal flow with $U = I$ (mask $c_{ij} = 1$ for $j \\le i$). It has one head; below it is "
        "taken with any number of heads $P_{\\eta}$, as the masked flow of the registered system with heads, on the "
        "sphere.",
        derive=lambda: field_of("causal-flow", {"U": None, "P": Letter("P")}, rules),
        claimed=(
            attention_weight(Letter("P"), SLOT, mask="c") * (token(TOKEN_J) - inner(here, token(TOKEN_J)) * here)
        ).summed(TOKEN_J),
        rules=rules,
        left="\\dot y_i",
    )
    yield tensor_step(
        "heights from the system",
        "For a fixed vector $v$ (it will be $y_1$, which does not move, AB-E15), along this flow, for every number of "
        "tokens and heads and every dimension:",
        derive=lambda: along_flow(height(TOKEN_I), flow, rules),
        claimed=(
            attention_weight(several, mask="c")
            * (height(TOKEN_J) - inner(token(TOKEN_I), token(TOKEN_J)) * height(TOKEN_I))
        ).summed(TOKEN_J, HEAD),
        rules=rules,
        left="\\tfrac{d}{dt}\\,v^{\\top}y_i",
        uses=("one head",),
    )
    yield tensor_step(
        "sphere",
        "The tokens stay on the unit sphere, which is compact.",
        derive=lambda: along_flow(inner(token(TOKEN_I), token(TOKEN_I)), flow, rules),
        claimed=zero(),
        rules=rules,
        left="\\tfrac{d}{dt}\\,y_i^{\\top}y_i",
        establishes=("the state space is compact and invariant", "the sphere is compact"),
    )
    yield analytic_step(
        "Lipschitz field",
        "Written out, the field is analytic in the tokens (a causal normaliser contains the own term and has no zero), "
        "with derivatives that are bounded while $P$ is.",
        derive=lambda: flow,
        claimed=(
            attention_weight(several, SLOT, mask="c") * (token(TOKEN_J) - inner(here, token(TOKEN_J)) * here)
        ).summed(TOKEN_J, HEAD),
        rules=rules,
        left="\\dot y_i",
        needs=("P is measurable and bounded in time",),
        establishes=("the field is measurable in time and Lipschitz in the state with an integrable bound",),
    )
    yield Citation(
        name="measurable P",
        says="So there is one solution for each start, and its coordinates are absolutely continuous.",
        theorem=CARATHEODORY,
        uses=("Lipschitz field",),
        establishes=("solutions exist, are unique and absolutely continuous",),
    )
    yield Citation(
        name="flow maps",
        says="So the maps from the start to the state at time $T$ are homeomorphisms; those of the first $i$ tokens "
        "too, since token $i$ depends on tokens $j \\le i$ only.",
        theorem=FLOW_MAPS,
        uses=("sphere", "Lipschitz field"),
        establishes=("the time-T maps are homeomorphisms of the state space",),
    )


def _riccati() -> Iterator[Step]:
    """The height against the first token follows a perturbed Riccati equation, with limit 1 or -1."""
    y_i, y_j = sp.symbols("y_i y_j", real=True)
    a, p, q, weight, square, eps = sp.symbols("a p q alpha_ij N epsilon", real=True)
    low, high, rho_1, rho_2 = sp.symbols("l L rho_1 rho_2", real=True)
    yield recalled(
        "AB-E15", "the first token is fixed", "Token 1 does not move.", "y_1(t) = y_1(0)", name="the first token"
    )
    yield applied(
        "heights",
        "Let $a = y_1^{\\top}y_i$ and $e_j = y_j - y_1$, $p = e_j^{\\top}y_1$, $q = e_j^{\\top}y_i$. Apply "
        "$y_1^{\\top}$ to the summand $\\alpha_{ij}\\bigl(y_j - (y_i^{\\top}y_j)\\,y_i\\bigr)$, where $y_i^{\\top}y_j "
        "= a + q$: the main part and a part that vanishes with $e_j$.",
        weight * (y_j - (a + q) * y_i),
        {y_j: 1 + p, y_i: a},
        weight * (1 - a**2) + weight * (p - q * a),
        by="y_1^{\\top}",
        uses=("heights from the system", "the first token"),
    )
    yield Identity(
        name="own term",
        says="The summand $j = i$ vanishes, since $N = y_i^{\\top}y_i = 1$ (coordinatewise).",
        left=weight * (y_i - square * y_i),
        right=sp.Integer(0),
        where={square: sp.Integer(1)},
        uses=("sphere",),
    )
    yield Inequality(
        name="perturbation",
        says="Where the earlier tokens are within $\\epsilon$ of $y_1$, $|p|, |q| \\le \\epsilon$, and with a weight "
        "in $[0, 1]$ and $|a| \\le 1$ the second part is at most $2\\epsilon$ in modulus.",
        hypotheses=(
            weight >= 0,
            weight <= 1,
            a >= -1,
            a <= 1,
            p >= -eps,
            p <= eps,
            q >= -eps,
            q <= eps,
        ),
        conclusion=sp.And(weight * (p - q * a) <= 2 * eps, weight * (p - q * a) >= -2 * eps),
        uses=("heights", "own term"),
    )
    yield recalled(
        "AB-L4.1",
        "the weights are bounded below",
        "For bounded $P$ every weight with $j \\le i$ is at least $c_1 > 0$, so that $A = "
        "\\sum_{j<i}\\sum_{\\eta}\\alpha^{\\eta}_{ij} \\ge k = h(i-1)c_1$.",
        "\\alpha^{\\eta}_{ij} \\ge c_1",
        name="weights",
        letters={"W": "I"},
    )
    yield from riccati_steps("y_1^{\\top}y_i", uses=("perturbation", "weights"))
    yield Inequality(
        name="dichotomy",
        says="Let the earlier tokens converge to $y_1$, and let $l \\le L$ be the limits inferior and superior of the "
        "height. For every $\\eta$, either the height is above $-\\rho$ at some late time, and then $l \\ge \\rho$; "
        "or $L \\le -\\rho$. The same case holds for any two values $\\rho_1, \\rho_2 > 0$, so that the limit is $1$ "
        "or $-1$ as they tend to one.",
        hypotheses=(
            low <= high,
            rho_1 > 0,
            rho_2 > 0,
            sp.Or(low >= rho_1, high <= -rho_1),
            sp.Or(low >= rho_2, high <= -rho_2),
        ),
        conclusion=sp.Or(sp.And(low >= rho_1, low >= rho_2), sp.And(high <= -rho_1, high <= -rho_2)),
        uses=("radius",),
        needs=(NEAR_ONE,),
        establishes=("each token tends to the first one or to its antipode",),
    )


def _heights() -> Iterator[Step]:
    """The perturbed Riccati equation of a height, and its two possible limits."""
    yield from _flow_maps()
    yield from _riccati()


def _growing_sets() -> Iterator[Step]:
    """Starts in the hemisphere of the first token at time T form open, increasing sets."""
    weight, h_i, h_j, s = sp.symbols("alpha_ij h_i h_j s", real=True)
    before, after, room, other = sp.symbols("h h' delta b", real=True)
    yield Inequality(
        name="late heights of the earlier tokens",
        says="Let the tokens before $i$ converge to $y_1$. Then there is a time $T_0$ from which on $|y_j - y_1|^2 = "
        "2(1 - h_j) = \\delta \\le 1$ for all $j < i$, where $h_j = y_1^{\\top}y_j$: these heights are at least "
        "$\\tfrac12$. Only times $T \\in \\{T_0, T_0 + 1, \\dots\\}$ are used below.",
        hypotheses=(sp.Eq(room, 2 * (1 - h_j)), room <= 1),
        conclusion=h_j >= sp.Rational(1, 2),
        establishes=("from T_0 on the heights of the earlier tokens are at least 1/2",),
    )
    yield Inequality(
        name="lowest height",
        says="Let $h_j > 0$ for all $j \\le i$ at a time $T$. Counted from there, at the lowest token, while it is "
        "positive, every summand of the slope of $-h_i$ is at most zero ($s = y_i^{\\top}y_j \\le 1$).",
        hypotheses=(weight >= 0, h_i > 0, h_i <= h_j, s <= 1),
        conclusion=-weight * (h_j - s * h_i) <= 0,
        uses=("heights from the system",),
        needs=("solutions exist, are unique and absolutely continuous",),
        establishes=(LOWEST, f"for almost every time, where {WHILE} is attained the derivative is at most zero"),
    )
    yield from kept_positive(
        uses=("lowest height",),
        establishes=("minus the lowest height does not increase",),
        names=(
            "slope of the lowest height",
            "heights while positive",
            "no first zero",
            "positive for ever",
            "the hemisphere is kept",
        ),
    )
    yield Inequality(
        name="growing sets",
        says="Let $G_T$, $T \\ge T_0$, be the set of starts of token $i$ (for the given earlier tokens) for which its "
        "height $b$ is positive at time $T$; then all heights are, since the others are at least $\\tfrac12$. The "
        "lowest height $h > 0$ at time $T$ is followed by $h' \\ge h$ at a later time $T'$: $G_T \\subseteq G_{T'}$.",
        hypotheses=(-after <= -before, before > 0, other >= after),
        conclusion=other > 0,
        uses=("the hemisphere is kept", "late heights of the earlier tokens"),
        needs=(
            "minus the lowest height does not increase",
            "from T_0 on the heights of the earlier tokens are at least 1/2",
        ),
        establishes=("the sets G_T increase",),
    )
    yield Inequality(
        name="positive heights",
        says="The states with positive heights form an open set: $|y_1^{\\top}(y - y')| \\le |y - y'|$, so a height $h "
        "> \\delta$ stays positive when the state moves by at most $\\delta$. $G_T$ is its preimage under the "
        "time-$T$ map.",
        hypotheses=(before > room, after >= before - room),
        conclusion=after > 0,
        establishes=("the sets G_T are preimages of an open set under time-T maps",),
    )
    yield Citation(
        name="open sets",
        says="So each $G_T$ is open.",
        theorem=OPEN_SETS,
        letters={"sets": "the sets G_T"},
        uses=("positive heights", "flow maps"),
        establishes=("the sets G_T are open",),
    )


def _left_out() -> Iterator[Step]:
    """None of them is all of the sphere, so some start is in none of them."""
    target, limit = sp.symbols("y_1 l", real=True)
    other, image = sp.symbols("b f", real=True)
    start, found, again = sp.symbols("beta beta_1 f_1", real=True)
    yield Inequality(
        name="fibres",
        says="The time-$T$ map of tokens $1, \\dots, i$ sends $(\\beta, y)$ to $(\\Phi_T(\\beta), \\varphi_T(\\beta; "
        "y))$ with $\\beta = (y_1, \\dots, y_{i-1})$, since these do not see token $i$; both maps are homeomorphisms. "
        "The preimage $(\\beta_1, y)$ of $(\\Phi_T(\\beta), -y_1)$ has $f_1 = \\Phi_T(\\beta_1)$ equal to $f = "
        "\\Phi_T(\\beta)$, and $\\Phi_T$ is one to one: $\\beta_1 = \\beta$ (written for one coordinate, with an "
        "inverse $b$). So for the given earlier tokens some start $y$ of token $i$ is at $-y_1$ at time $T$.",
        hypotheses=(sp.Eq(start, other * image), sp.Eq(found, other * again), sp.Eq(again, image)),
        conclusion=sp.Eq(found, start),
        uses=("flow maps",),
        needs=("the time-T maps are homeomorphisms of the state space",),
        establishes=("for the given earlier tokens some start of token i is at -y_1 at time T",),
    )
    yield applied(
        "never everything",
        "Apply $y_1^{\\top}$: the height of this start at time $T$ is $-1$, which is not positive.",
        -target,
        {target: sp.Integer(1)},
        sp.Integer(-1),
        by="y_1^{\\top}",
        uses=("fibres",),
        needs=("for the given earlier tokens some start of token i is at -y_1 at time T",),
        establishes=("none of the sets G_T is all of the sphere",),
    )
    yield Citation(
        name="a start that is left out",
        says="So some start is in no $G_T$: its height is not positive at $T_0, T_0 + 1, \\dots$",
        theorem=COMPACTNESS,
        letters={"sets": "the sets G_T", "space": "the sphere"},
        uses=("growing sets", "open sets", "never everything", "sphere"),
        formula="\\bigcup_T G_T \\neq S^n",
        establishes=("the union of the sets G_T is not all of the sphere",),
    )
    yield Inequality(
        name="existence",
        says="The limit $l$ of its height is $1$ or $-1$, and $l \\le 0$: so it is $-1$, and the start is bad.",
        hypotheses=(sp.Or(sp.Eq(limit, 1), sp.Eq(limit, -1)), limit <= 0),
        conclusion=sp.Eq(limit, -1),
        uses=("a start that is left out", "dichotomy"),
        needs=(
            "the union of the sets G_T is not all of the sphere",
            "each token tends to the first one or to its antipode",
        ),
        establishes=("there is at least one bad start",),
    )


def _existence() -> Iterator[Step]:
    """Starts that are in the hemisphere of the first token at time T form open, increasing sets, none of them
    everything."""
    yield from _growing_sets()
    yield from _left_out()


AB_T51 = register(
    Statement(
        id="AB-T5.1",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 5.1"),
        title="Causal consensus at the first token",
        systems=("causal-flow",),
        covers=Covers(heads=()),
        conditions=(IsIdentity(U), BoundedInTime("P"), Relation(d >= 2)),
        claims=(AlmostEveryConverges(ConsensusSet()),),
        text="Let $U = I$, $P_{\\eta}$ measurable and $\\sup_t\\lVert P_{\\eta}(t)\\rVert \\le b$, $n \\ge 1$. The "
        "consensus set is asymptotically stable, and almost every start converges to consensus at $y_1$. For $y_1, "
        "\\dots, y_{i-1}$ in the domain of attraction there is \\emph{exactly one} bad start $y_i^*$ of token $i$, "
        "whose trajectory tends to $-y_1$; $y_2^* = -y_1$, but $y_3^* \\neq -y_1$ whenever $y_2 \\notin \\{y_1, "
        "-y_1\\}$.",
        depends=("AB-E15", "AB-L4.1", "AB-L5.1", "AB-X1"),
        facts=(
            "P is measurable and bounded in time",
            "the sphere has positive dimension",
        ),
        derive=derive,
        claims_from=(("almost every start",),),
        prose_from=("existence", "the second token", "position of the bad start", "stability"),
        printed=Printed(
            text="The domain of attraction contains $\\{(y_1, \\dots, y_{\\ell}) : y_j \\neq -y_1,\\ 2 \\le j \\le "
            "\\ell\\}$.",
            wrong="False for every $\\ell \\ge 3$ and $n \\ge 1$ (true for $\\ell = 2$). The printed estimate $\\dot V "
            "\\le -cV'(a)^2 + C|e|$ is not an input-to-state estimate on $(-1, 1]$, because $V'(-1) = 0$.",
            counterexamples=(
                Counterexample(
                    name="three tokens on the circle",
                    says="$S^1$, $P = 0$, angles $\\theta_1 = 0$, $\\theta_2 = \\tfrac{\\pi}{2}$: some $\\theta_3 \\in "
                    "[3.5994, 3.5995]$, which is not $\\pi$, does not reach consensus ($\\theta_3^* = "
                    "3.599405655\\ldots$).",
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
