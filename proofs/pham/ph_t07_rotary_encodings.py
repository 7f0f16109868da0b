"""PH-T7: rotary encoding can destroy convergence and does not force divergence.

``W_li = Q R_{l-i} K^T``.  Exactly solvable example: four tokens, quarter turns, ``Q = diag(a, 1/a) = K^{-1}``.
Reference: Pham-et-al, rotary positional encoding; derived here.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.ph_m_token_flow import A, B, W
from eigentoken.proofs.pham.rotary_instances import CLAIMS, proof
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.flow_properties import heights_between_extremes
from eigentoken.proofs.properties.matrices import rotary_without_divergence
from eigentoken.proofs.properties.rotary_rings import (
    SMALL,
    claimed_speed,
    consensus_still_decays,
    negative_c_grows,
    radial_speed,
    radius_example,
    radius_follows_the_modulus,
    rings_are_equilibria,
    rotary_destroys_convergence,
    rotary_example,
    shrinking_example,
    small_average,
)
from eigentoken.proofs.steps.calculus_steps import TOKEN_I, TOKEN_K, along_flow, tensor_step
from eigentoken.proofs.steps.reductions import all_agree
from eigentoken.proofs.steps.tensor_reductions import slope
from eigentoken.proofs.steps.textbook import LASALLE, LASALLE_BOUNDED
from eigentoken.proofs.steps.textbook_flows import UNBOUNDED_MONOTONE
from eigentoken.theory.calculus import SLOT, Assumptions, CalculusAlgebra, Letter, dot, exponential, factor, vector
from eigentoken.theory.calculus.expressions import row_sum
from eigentoken.theory.language.conditions import (
    InHemisphere,
    NegativeDefinite,
    Nonsingular,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.terms import Eigenvalue
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Citation, Computation, Derivation, Identity, Inequality, Reduction, Step
from eigentoken.theory.systems.catalogue import system


def _what_stays() -> tuple[Step, ...]:
    """(a) Half spaces, consensus states and the linearisation at zero are those without encodings."""
    eigenvalue = sp.Symbol("lambda", real=True)
    rules = Assumptions(eigen={("B", True, "u"): eigenvalue})
    pair_letter = lambda l, i: Letter("W", False, (l, i))  # noqa: E731
    field = system("token-flow").advance(
        CalculusAlgebra(rules), {"B": Letter("B"), "W": Letter("W"), "pair_score": pair_letter}, vector("x", SLOT)
    )

    def averaged(index: Any) -> Any:
        pair = dot(vector("x", index), vector("x", TOKEN_K), (Letter("W", False, (index, TOKEN_K)),))
        weight = exponential(pair) * factor(row_sum(pair, TOKEN_K), -1)
        return (weight * dot(vector("u"), vector("x", TOKEN_K))).summed(TOKEN_K) * eigenvalue

    mass, x = sp.symbols("P x", real=True)
    return (
        recalled(
            "PH-T4",
            "positive heights stay positive and diverge",
            "In the plain model positive heights along a left eigenvector of $B$ stay positive and diverge.",
            "u^{\\top}x_l(t) \\ge e^{\\lambda t}\\min_k u^{\\top}x_k(0)",
            name="(a) plain heights",
            about=("token-flow",),
            assuming=(SimpleTop(B), Relation(Eigenvalue(B, 1) > 0), InHemisphere(B, left=True)),
        ),
        tensor_step(
            "(a) half spaces",
            "With scores $x_l^{\\top}W_{li}x_i$ the heights along a left eigenvector of $B$ obey the equation of PH-T4 "
            "unchanged: its conclusion stays.",
            derive=lambda: along_flow(dot(vector("u"), vector("x", TOKEN_I)), field, rules, "x"),
            claimed=averaged(TOKEN_I),
            rules=rules,
            left="\\tfrac{d}{dt}\\,u^{\\top}x_i",
        ),
        Identity(
            name="(a) consensus states",
            says="At consensus the weights drop out, whatever they are ($P = \\sum_i p_{li} = 1$): $\\dot x = P\\,Bx$.",
            left=mass * x,
            right=x,
            where={mass: sp.Integer(1)},
        ),
        slope(
            "(a) linearisation at zero",
            "At $x_i = \\epsilon z_i$ all scores are $\\epsilon^2c_i$, whatever the matrices $W_{li}$ are: the softmax "
            "average of the $z_i$ (coordinatewise) has the plain mean as its first order, so $\\dot x_l = B\\bar x$ "
            "to first order, and the next term is cubic.",
            small_average(),
            SMALL,
            sum(sp.symbols("z_1 z_2 z_3", real=True)) / 3,
            at=0,
            scope="3 tokens",
        ),
        slope(
            "(a) no second order",
            "Its second derivative vanishes.",
            small_average(),
            SMALL,
            sp.Integer(0),
            at=0,
            order=2,
            scope="3 tokens",
            uses=("(a) linearisation at zero",),
        ),
    )


def _rings() -> tuple[Step, ...]:
    """(b) Rings of equilibria away from zero."""
    c_l, s_l, c_i, s_i, cosine, sine = sp.symbols("c_l s_l c_i s_i C S", real=True)
    common, count, total = sp.symbols("E L Z", positive=True)
    first, second, after, last, begin = sp.symbols("X Y X' u u_0", real=True)
    turn, power = sp.symbols("z w", real=True)
    return (
        Identity(
            name="(b) rings: equal scores",
            says="$D = 2$, $Q = K = I$, $B = -I$, $\\theta = 2\\pi/L$, $x_l = R(l\\theta)x_0$; take $x_0 = e_1$, so "
            "$x_l = (c_l, s_l)$. With $C = \\cos(l - i)\\theta$ and $S = \\sin(l - i)\\theta$ the rotated score of "
            "every pair is the same number (one):",
            left=c_l * (cosine * c_i - sine * s_i) + s_l * (sine * c_i + cosine * s_i),
            right=(c_l**2 + s_l**2) * (c_i**2 + s_i**2),
            where={cosine: c_l * c_i + s_l * s_i, sine: s_l * c_i - c_l * s_i},
            establishes=("all rotated scores on a ring are equal",),
        ),
        Identity(
            name="(b) rings: equal weights",
            says="So all exponentials of scores are the same number $E$, the normaliser is $Z = LE$, and the velocity "
            "is minus the mean token: every weight is",
            left=common / total,
            right=1 / count,
            where={total: count * common},
            uses=("(b) rings: equal scores",),
            needs=("all rotated scores on a ring are equal",),
            establishes=("the velocity of a ring is minus its mean token",),
        ),
        Identity(
            name="(b) rings: the sum of powers",
            says="Let $z$ be the turn by $\\theta$, $w = z^k$ and $s_k = 1 + z + \\dots + z^{k-1}$ (powers of one "
            "rotation commute, so that this identity of numbers is one of rotations). If $(z - 1)s_k = w - 1$, then "
            "also $(z - 1)(s_k + w) = zw - 1$: by induction $(z - 1)s_L = z^L - 1$ for every $L$.",
            left=(power - 1) + (turn - 1) * power,
            right=turn * power - 1,
            establishes=("(z - 1) times the sum of the powers is the last power minus 1",),
        ),
        Inequality(
            name="(b) rings: one turn",
            says="For $z = R(2\\pi/L)$ the last power $z^L = R(2\\pi)$ is the identity: applied to $x_0$, with the sum "
            "$X$ of the first coordinates before and $X'$ after a turn, $X' - X = u - u_0$ where $u = u_0$ (and for "
            "the second coordinates): a turn leaves the sum of the tokens as it is.",
            hypotheses=(sp.Eq(after - first, last - begin), sp.Eq(last, begin)),
            conclusion=sp.Eq(after, first),
            uses=("(b) rings: the sum of powers",),
            needs=("(z - 1) times the sum of the powers is the last power minus 1",),
            establishes=("a turn leaves the sum of a ring as it is",),
        ),
        Inequality(
            name="(b) rings of equilibria",
            says="The sum $(X, Y)$ of all tokens is therefore a fixed point of a rotation with $C \\neq 1$ ($L \\ge "
            "2$), which is zero: an equilibrium for every $x_0$, and PH-T2 fails although $A = -I$ and $W = I$.",
            hypotheses=(
                sp.Eq(cosine**2 + sine**2, 1),
                sp.Ne(cosine, 1),
                sp.Eq(cosine * first - sine * second, first),
                sp.Eq(sine * first + cosine * second, second),
            ),
            conclusion=sp.And(sp.Eq(first, 0), sp.Eq(second, 0)),
            uses=("(b) rings: equal weights", "(b) rings: one turn"),
            needs=("the velocity of a ring is minus its mean token", "a turn leaves the sum of a ring as it is"),
            establishes=("rings are equilibria",),
        ),
        Computation(
            name="(b) rings in the registered system",
            says="In the registered system with the rotated scores, in exact arithmetic, at $x_0 = (1, 0)$ and $(2, "
            "-1)$:",
            scope="L = 2, 3, 4, 6 tokens, d = 2",
            run=rings_are_equilibria,
            formula="\\dot x_l = 0 \\quad\\text{at } x_l = R(l\\theta)x_0",
            uses=("(b) rings of equilibria",),
        ),
    )


def _exact_example() -> tuple[Step, ...]:
    """(c) The exact example: the radius, its sign, and the three cases."""
    c, square = sp.symbols("c s", real=True)
    big, small = sp.symbols("X Y", positive=True)
    return (
        Reduction(
            name="(c) the exact example",
            says="$L = 4$, $\\theta = \\pi/2$, $Q = \\operatorname{diag}(a, a^{-1})$, $K = Q^{-1}$, so $W = I$, and $B "
            "= A = -I$. The states $x_l = (-1)^{l+1}\\tfrac{r}{\\sqrt2}(1, 1)$ are invariant under the registered "
            "flow with rotated scores: both coordinates of all four tokens give one equation for $r$ (smooth, since "
            "$\\cosh > 0$), with $c = \\tfrac12(a^2 - a^{-2})$.",
            scope="4 tokens, d = 2, every a",
            derive=radial_speed,
            claimed=(claimed_speed(),) * 8,
            agrees=all_agree,
            entrywise=True,
            shows=lambda _: (
                "\\dot r = r\\,\\frac{\\cosh(cr^2) - \\cosh(r^2)}{\\cosh(cr^2) + \\cosh(r^2)}, \\qquad c = "
                "\\tfrac12(a^2 - a^{-2})"
            ),
            establishes=("the field is autonomous and locally Lipschitz",),
        ),
        Identity(
            name="(c) sign",
            says="Let $s = r^2$, $X = e^{s}$ and $Y = e^{|c|s}$; $\\cosh cs = \\cosh|c|s$, so that only $|c|$ matters. "
            "Then $\\cosh cs - \\cosh s$ factors:",
            left=(small + 1 / small) / 2 - (big + 1 / big) / 2,
            right=(small - big) * (small * big - 1) / (2 * small * big),
            uses=("(c) the exact example",),
        ),
        Inequality(
            name="(c) three cases",
            says="For $r > 0$, $X > 1$ and $Y \\ge 1$: the difference is positive, zero or negative as $Y > X$, $Y = "
            "X$ or $Y < X$, that is, as $|c| > 1$, $|c| = 1$ or $|c| < 1$. For $|c| = 1$ every $r$ is an equilibrium.",
            hypotheses=(big > 1, small >= 1),
            conclusion=sp.And(
                sp.Implies(small > big, (small - big) * (small * big - 1) / (2 * small * big) > 0),
                sp.Implies(sp.Eq(small, big), sp.Eq((small - big) * (small * big - 1) / (2 * small * big), 0)),
                sp.Implies(small < big, (small - big) * (small * big - 1) / (2 * small * big) < 0),
            ),
            uses=("(c) sign",),
            establishes=("the sign of the rate is that of |c| - 1",),
        ),
        Inequality(
            name="(c) in terms of a",
            says="With $A = a^2$ and $c = \\tfrac12(A - 1/A)$: $|c| > 1$ exactly when $A^2 - 2A - 1 > 0$ or $A^2 + 2A "
            "- 1 < 0$, that is, $a^2 > 1 + \\sqrt2$ or $a^2 < \\sqrt2 - 1$.",
            hypotheses=(square > 0, sp.Eq(c, (square - 1 / square) / 2)),
            conclusion=sp.And(
                sp.Implies(sp.Or(c > 1, c < -1), sp.Or(square**2 - 2 * square - 1 > 0, square**2 + 2 * square - 1 < 0)),
                sp.Implies(sp.Or(square**2 - 2 * square - 1 > 0, square**2 + 2 * square - 1 < 0), sp.Or(c > 1, c < -1)),
            ),
        ),
    )


def _growing_radius() -> tuple[Step, ...]:
    """(c) For |c| > 1 the radius is unbounded."""
    big, small = sp.symbols("X Y", positive=True)
    last, begin = sp.symbols("u u_0", real=True)
    return (
        Inequality(
            name="(c) growth",
            says="So for $|c| > 1$ the radius grows at every $r > 0$, and its rate vanishes only at $r = 0$, below "
            "$r(0)$.",
            hypotheses=(small > big, big > 1),
            conclusion=(small - big) * (small * big - 1) / (2 * small * big) > 0,
            uses=("(c) three cases",),
            needs=("the sign of the rate is that of |c| - 1",),
            establishes=(
                "minus the radius is continuously differentiable and does not increase along trajectories",
                "the radius does not decrease",
                "the rate of the radius vanishes only at zero",
            ),
        ),
        Citation(
            name="(c) LaSalle",
            says="If the radius is bounded, it tends to the largest invariant set where its rate vanishes.",
            theorem=LASALLE_BOUNDED,
            letters={"V": "minus the radius"},
            uses=("(c) the exact example", "(c) growth"),
            establishes=(
                "every bounded trajectory tends to the largest invariant set where the derivative of minus the radius "
                "vanishes",
            ),
        ),
        Inequality(
            name="(c) unbounded",
            says="That set is $r = 0$; but the limit $r_* \\ge r_0 > 0$ of a radius that does not decrease is not "
            "zero. So the radius is unbounded from every $r(0) = r_0 > 0$.",
            hypotheses=(begin > 0, last >= begin),
            conclusion=sp.Ne(last, 0),
            uses=("(c) LaSalle",),
            needs=(
                "every bounded trajectory tends to the largest invariant set where the derivative of minus the radius "
                "vanishes",
                "the rate of the radius vanishes only at zero",
                "the radius does not decrease",
            ),
            establishes=("the radius is unbounded",),
        ),
        Citation(
            name="(c) divergence",
            says="So it tends to infinity.",
            theorem=UNBOUNDED_MONOTONE,
            letters={"f": "the radius"},
            uses=("(c) growth", "(c) unbounded"),
            formula="r(t) \\to \\infty \\qquad (|c| > 1)",
            establishes=("the radius tends to infinity",),
        ),
    )


def _shrinking_radius() -> tuple[Step, ...]:
    """(c) Only then: for |c| <= 1 it is not; the same tokens without rotation."""
    c, square = sp.symbols("c s", real=True)
    big, small = sp.symbols("X Y", positive=True)
    last, begin = sp.symbols("u u_0", real=True)
    return (
        Inequality(
            name="(c) shrinking",
            says="For $|c| < 1$ the radius falls at every $r > 0$: it stays between $0$ and $r(0)$, and its rate "
            "vanishes only at $r = 0$.",
            hypotheses=(small >= 1, small < big),
            conclusion=(small - big) * (small * big - 1) / (2 * small * big) < 0,
            uses=("(c) three cases",),
            needs=("the sign of the rate is that of |c| - 1",),
            establishes=(
                "the radius is continuously differentiable and does not increase along trajectories",
                "the trajectories are bounded",
                "for |c| < 1 the rate of the radius vanishes only at zero",
            ),
        ),
        Citation(
            name="(c) LaSalle for |c| < 1",
            says="So it tends to the largest invariant set where its rate vanishes:",
            theorem=LASALLE,
            letters={"V": "the radius"},
            uses=("(c) the exact example", "(c) shrinking"),
            formula="r(t) \\to 0 \\qquad (|c| < 1)",
            establishes=(
                "every trajectory tends to the largest invariant set where the derivative of the radius vanishes",
            ),
        ),
        Inequality(
            name="(c) only then",
            says="that is, to $r_* = 0$, the only zero of the rate. So for $|c| \\le 1$ no start diverges ($r$ "
            "shrinks, or stands still): some start of the family diverges if and only if every one does, if and only "
            "if $|c| > 1$.",
            hypotheses=(sp.Eq(last, 0), begin > 0),
            conclusion=last < begin,
            uses=("(c) LaSalle for |c| < 1", "(c) three cases", "(c) divergence"),
            needs=(
                "every trajectory tends to the largest invariant set where the derivative of the radius vanishes",
                "for |c| < 1 the rate of the radius vanishes only at zero",
                "the sign of the rate is that of |c| - 1",
                "the radius tends to infinity",
            ),
            establishes=("the radius diverges if and only if |c| > 1",),
        ),
        recalled(
            "PH-T2",
            "all tokens tend to zero",
            "Without rotation, $W = I$ and $A = -I$, all tokens tend to zero.",
            "x_l(t) \\to 0",
            name="(c) without rotation",
            about=("token-flow",),
            assuming=(Symmetric(A), NegativeDefinite(A), PositiveDefinite(W)),
        ),
        Inequality(
            name="(c) at a = 2",
            says="For $a = 2$, $c = \\tfrac12(4 - \\tfrac14) = 1.875$, and for $a = \\tfrac12$, $c = -1.875$: rotary "
            "encoding turns convergence into divergence.",
            hypotheses=(
                sp.Or(sp.Eq(square, 2), sp.Eq(square, sp.Rational(1, 2))),
                sp.Eq(c, (square**2 - 1 / square**2) / 2),
            ),
            conclusion=sp.Or(c > 1, c < -1),
            uses=("(c) divergence", "(c) without rotation"),
        ),
    )


def _not_forced() -> tuple[Step, ...]:
    """(d) Divergence is not forced."""
    return (
        Computation(
            name="(d) not forced",
            says="Consensus starts still move by $\\dot x = Bx$ and decay in the same diverging system: divergence is "
            "possible and not forced.",
            scope="4 tokens, d = 2, a = 2",
            run=consensus_still_decays,
            formula="\\dot x_l = -x \\quad\\text{at } x_1 = \\dots = x_4 = x",
            uses=("(a) consensus states", "(c) divergence"),
        ),
    )


def derive_rotary() -> Derivation:
    """What stays, what fails, and the exact example."""
    return Derivation(
        (
            *_what_stays(),
            *_rings(),
            *_exact_example(),
            *_growing_radius(),
            *_shrinking_radius(),
            *_not_forced(),
        )
    )


PH_T7 = register(
    Statement(
        id="PH-T7",
        kind=Kind.THEOREM,
        source=Source(PHAM, "rotary positional encoding; derived here", SourceKind.SUMMARISED),
        title="Rotary encodings",
        systems=("rotary-flow",),
        conditions=(Nonsingular(B),),
        claims=CLAIMS,
        proof=proof,
        depends=("PH-M", "PH-T2", "PH-T4"),
        derive=derive_rotary,
        printed=Printed(
            text="In the summary at hand: rotary encoding forces the system into a divergence regime.",
            wrong="It inhibits the sufficient condition for convergence, and can destroy convergence; it does not "
            "force divergence.",
            kind=SourceKind.SUMMARISED,
            counterexamples=(
                Counterexample(
                    name="consensus still decays",
                    says="$L = 4$, $\\theta = \\pi/2$, $Q = \\operatorname{diag}(2, \\tfrac12) = K^{-1}$, $B = -I$: "
                    "every consensus state decays like $e^{-t}$.",
                    instance={
                        "system": "token-flow",
                        "B": [["-1", "0"], ["0", "-1"]],
                        "Q": [["2", "0"], ["0", "1/2"]],
                        "K": [["1/2", "0"], ["0", "2"]],
                        "theta": "pi/2",
                        "tokens": [["1", "0"], ["1", "0"], ["1", "0"], ["1", "0"]],
                    },
                    check=consensus_still_decays,
                ),
                Counterexample(
                    name="and divergence is possible",
                    says="The same system at $x_l = (-1)^{l+1}\\tfrac{r}{\\sqrt2}(1, 1)$, $r = 0.6$, grows, although "
                    "PH-T2 holds without rotation.",
                    instance={"a": "2", "r": "3/5", "theta": "pi/2"},
                    check=rotary_destroys_convergence,
                ),
            ),
        ),
        vectors=(
            Vector(
                "W_21 and the velocity of token 1, a = 2, r = 0.6",
                rotary_example,
                ("0", "-4", "0.25", "0", "0.031531293916095", "0.031531293916095"),
            ),
            Vector(
                "r(3) from 0.6 for c = 1.875 and c = -1.875",
                lambda: [*radius_example("15/8"), *radius_example("-15/8")],
                ("0.916501983957", "0.916501983957"),
            ),
            Vector("r(1000) from 0.6 for c = 1/2", shrinking_example, ("0.190660312546",)),
            Vector(
                "its asymptote ((1 - c^2) t)^{-1/4}",
                lambda: [sp.Integer(750) ** -sp.Rational(1, 4)],
                ("0.191088558441",),
            ),
        ),
        property_tests=(heights_between_extremes, radius_follows_the_modulus),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$c = (a^2 - a^{-2})/2$ for $Q = K^{-1} = \operatorname{diag}(a, 1/a)$ and quarter turns $R$; $L$ is the "
                r"number of tokens and $\theta$ the angle of $R$.",
            ),
        ),
        variants=(
            Variant("|c| > 1", "the radius shrinks", FirstFailure(rotary_without_divergence)),
            Variant(
                "$|c|$ in the place of $c$",
                "$a = \\tfrac12$, $c = -1.875 < 1$, has the motion of $a = 2$, and diverges",
                negative_c_grows,
            ),
        ),
    )
)
