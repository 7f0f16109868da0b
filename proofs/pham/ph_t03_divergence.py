"""PH-T3: the divergence regime, A symmetric positive definite: some token diverges; gaps may stay bounded.

Reference: Pham-et-al, divergence regime; derived here.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.energy import energy_steps, smooth_step
from eigentoken.proofs.pham.ph_m_token_flow import A, W
from eigentoken.proofs.pham.regimes import DIVERGENCE, diverges
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import equal_tokens_at_rest
from eigentoken.proofs.properties.trajectories import ball, enclose, integrate, precision
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.proofs.steps.textbook import COMPARISON, LASALLE_BOUNDED
from eigentoken.proofs.steps.textbook_flows import UNBOUNDED_MONOTONE
from eigentoken.theory.language.conditions import NotAllZero, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import n
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

SOLUTION = "(e_0 - Lambda/2kappa) exp(2kappa t) + Lambda/2kappa"
RATE = "2kappa u - Lambda"


def _growing_energy() -> tuple[Step, ...]:
    """(a) The energy grows without bound."""
    q, slope, start = sp.symbols("q g' e_0", real=True)
    least, square = sp.symbols("mu N", real=True)
    limit = sp.Symbol("e_*", real=True)
    return (
        *energy_steps(),
        smooth_step(),
        Inequality(
            name="(a) growth",
            says="With $A \\succ 0$ the energy that grows is $-\\mathcal{E} = \\tfrac12\\sum_l x_l^{\\top}Ax_l$, at a "
            "rate of at least $L\\,q$, $q = \\bar x^{\\top}W\\bar x \\ge 0$; as in PH-T2 the rate vanishes only if "
            "all tokens are 0.",
            hypotheses=(slope >= n * q, q >= 0),
            conclusion=slope >= 0,
            uses=("chain",),
            needs=("the energy rate is bounded by the mean token",),
            establishes=(
                "minus the energy is continuously differentiable and does not increase along trajectories",
                "the energy does not decrease",
            ),
        ),
        Citation(
            name="(a) LaSalle",
            says="If the trajectory is bounded, it tends to the largest invariant set where the rate vanishes.",
            theorem=LASALLE_BOUNDED,
            letters={"V": "minus the energy"},
            uses=("(a) growth", "Lipschitz field"),
            establishes=(
                "every bounded trajectory tends to the largest invariant set where the derivative of minus the energy "
                "vanishes",
            ),
        ),
        Inequality(
            name="(a) unbounded",
            says="That set is the origin, where the energy is $0$. But at the start it is $e_0 = \\tfrac12q \\ge "
            "\\tfrac12\\mu N > 0$ with $q = \\sum_l x_l^{\\top}Ax_l$, $\\mu = \\lambda_{\\min}(A) > 0$ and $N = "
            "\\sum_l|x_l|^2 > 0$, and it does not decrease: its limit $e_* \\ge e_0$ is not zero. So the trajectory "
            "is unbounded.",
            hypotheses=(least > 0, square > 0, q >= least * square, sp.Eq(start, q / 2), limit >= start),
            conclusion=sp.Ne(limit, 0),
            uses=("(a) LaSalle", "equality"),
            needs=(
                "every bounded trajectory tends to the largest invariant set where the derivative of minus the energy "
                "vanishes",
                "the energy rate vanishes only at the origin",
                "the energy does not decrease",
            ),
            establishes=("a trajectory with a token that is not zero is unbounded",),
        ),
    )


def _one_token_diverges() -> tuple[Step, ...]:
    """(a) So the norm of some token does."""
    energy = sp.Symbol("e", real=True)
    least, square, number = sp.symbols("mu N K", real=True)
    largest, count = sp.symbols("m L", real=True)
    return (
        Inequality(
            name="(a) unbounded energy",
            says="With the trajectory the energy is unbounded: $e \\ge \\tfrac12\\mu N$ exceeds any $K$ once $N > "
            "2K/\\mu$.",
            hypotheses=(least > 0, energy >= least * square / 2, square > 2 * number / least),
            conclusion=energy > number,
            uses=("(a) unbounded",),
            needs=("a trajectory with a token that is not zero is unbounded",),
            establishes=("the energy is unbounded",),
        ),
        Citation(
            name="(a) divergence",
            says="So $\\sum_l x_l^{\\top}Ax_l$ tends to infinity.",
            theorem=UNBOUNDED_MONOTONE,
            letters={"f": "the energy"},
            uses=("(a) growth", "(a) unbounded energy"),
            formula="\\sum_l x_l^{\\top}Ax_l \\to \\infty",
            establishes=("the energy tends to infinity",),
        ),
        Inequality(
            name="(a) one token",
            says="And so does the largest token: with $m = \\max_l|x_l|^2$ and the top eigenvalue $\\mu$ of $A$ the "
            "energy is at most $\\tfrac12\\mu Lm$.",
            hypotheses=(
                least > 0,
                count >= 1,
                energy <= least * count * largest / 2,
                energy > least * count * number / 2,
            ),
            conclusion=largest > number,
            uses=("(a) divergence",),
            needs=("the energy tends to infinity",),
            establishes=("at least one token diverges",),
        ),
    )


def _threshold() -> tuple[Step, ...]:
    """(c) A token beyond the threshold diverges at an exponential rate."""
    t = sp.Symbol("t", real=True)
    slope, own, kappa, energy, start, logarithm = sp.symbols("g' w kappa e e_0 Lambda", real=True)
    number = sp.Symbol("K", real=True)
    growth = sp.Symbol("E", real=True)
    total, part, rest = sp.symbols("Z z R", positive=True)
    log_total, log_part = sp.symbols("F w_l", real=True)
    solution = (start - logarithm / (2 * kappa)) * sp.exp(2 * kappa * t) + logarithm / (2 * kappa)
    return (
        Inequality(
            name="(c) one term of the sum",
            says="$F(x_l) = \\ln Z$ with $Z = z + R$, $z = e^{w_l}$ the own term, $w_l = x_l^{\\top}Wx_l$: so $F(x_l) "
            "\\ge w_l$.",
            hypotheses=(sp.Eq(total, part + rest), sp.Eq(sp.exp(log_total), total), sp.Eq(sp.exp(log_part), part)),
            conclusion=log_total >= log_part,
        ),
        Inequality(
            name="(c) rate of one token",
            says="For $e = \\tfrac12 x_l^{\\top}Ax_l$: $\\dot e = x_l^{\\top}\\nabla F(x_l) \\ge F(x_l) - F(0) \\ge w "
            "- \\Lambda$, $\\Lambda = \\ln L$, and $w = x_l^{\\top}Wx_l \\ge 2\\kappa e$ with $\\kappa = "
            "\\lambda_{\\min}(\\operatorname{sym} W, A)$.",
            hypotheses=(slope >= own - logarithm, own >= 2 * kappa * energy),
            conclusion=slope >= 2 * kappa * energy - logarithm,
            uses=("tangent from the end", "(c) one term of the sum"),
            needs=("the softmax average is at least log-mean-exp",),
            establishes=(f"the derivative of e is at least {RATE}",),
        ),
        Identity(
            name="(c) comparison equation",
            says="The solution of $\\dot e = 2\\kappa e - \\Lambda$, $e(0) = e_0$:",
            left=sp.diff(solution, t),
            right=2 * kappa * ((start - logarithm / (2 * kappa)) * sp.exp(2 * kappa * t) + logarithm / (2 * kappa))
            - logarithm,
            uses=("(c) rate of one token",),
            establishes=(f"{SOLUTION} solves the equation with the rate {RATE}",),
        ),
        Identity(
            name="(c) start",
            says="At $t = 0$ it is $e_0$.",
            left=(start - logarithm / (2 * kappa)) * growth + logarithm / (2 * kappa),
            right=start,
            where={growth: sp.Integer(1)},
            establishes=(f"e starts at or above {SOLUTION}",),
        ),
        Citation(
            name="(c) comparison",
            says="So the energy of the token stays above this solution.",
            theorem=COMPARISON,
            letters={"u": "e", "rate": RATE, "bound": SOLUTION},
            uses=("(c) rate of one token", "(c) comparison equation", "(c) start"),
            formula="e_l(t) \\ge \\Bigl(e_l(0) - \\frac{\\ln L}{2\\kappa}\\Bigr)e^{2\\kappa t} + \\frac{\\ln "
            "L}{2\\kappa}",
            establishes=(f"e stays at or above {SOLUTION}",),
        ),
        Inequality(
            name="(c) threshold",
            says="If $x_l(0)^{\\top}Ax_l(0) = 2e_0 > \\Lambda/\\kappa$, the factor of $E = e^{2\\kappa t}$ is "
            "positive, and the energy exceeds any $K$ once $E$ is large: the token diverges, at least like "
            "$e^{\\kappa t}$.",
            hypotheses=(
                kappa > 0,
                logarithm >= 0,
                2 * start > logarithm / kappa,
                energy >= (start - logarithm / (2 * kappa)) * growth + logarithm / (2 * kappa),
                (start - logarithm / (2 * kappa)) * growth > number,
            ),
            conclusion=sp.And(start - logarithm / (2 * kappa) > 0, energy > number),
            uses=("(c) comparison",),
            needs=(f"e stays at or above {SOLUTION}",),
            establishes=("a token above the threshold diverges",),
        ),
    )


def derive() -> Derivation:
    """(a) the energy grows, (c) a threshold for each token; (b), unbounded pair forms, is in PH-T1."""
    return Derivation(
        (
            *_growing_energy(),
            *_one_token_diverges(),
            *_threshold(),
        )
    )


_ONE = ((sp.Integer(1),),)


def middle_token_stays() -> Verdict:
    """L = 3, W = B = 1, tokens 1, 0, -1: token 2 stays at 0, exactly, for symmetric states (s, 0, -s)."""
    s = sp.Symbol("s", real=True)
    speed = velocity("token-flow", {"B": _ONE, "W": _ONE}, ((s,), (sp.Integer(0),), (-s,)))
    if speed[1][0] == 0 and sp.simplify(speed[0][0] + speed[2][0]) == 0:
        return holds("states (s, 0, -s) are invariant and their middle token has velocity 0 for every s")
    return fails(f"the middle token moves with {speed[1][0]}")


def negative_form_decays() -> Verdict:
    """A = -1, W = 1 (B = -1): consensus states on the line have velocity -x and tend to zero."""
    x = sp.Symbol("x", real=True)
    speed = velocity("token-flow", {"B": ((sp.Integer(-1),),), "W": _ONE}, ((x,), (x,)))
    if all(sp.simplify(row[0] + x) == 0 for row in speed):
        return holds("with A = -1 every consensus state has velocity -x exactly")
    return fails(f"the velocity is {speed}")


def negative_scores_decay() -> Verdict:
    """A = 1, W = B = -1: kappa = -1, x^2 > ln 2/kappa holds for every x, and consensus states have velocity -x."""
    x = sp.Symbol("x", real=True)
    minus = ((sp.Integer(-1),),)
    speed = velocity("token-flow", {"B": minus, "W": minus}, ((x,), (x,)))
    above = sp.Integer(1) > -sp.log(2)  # x = 1: x A x = 1 > ln L / kappa = -ln 2
    if bool(above) and all(sp.simplify(row[0] + x) == 0 for row in speed):
        return holds("A = 1, W = B = -1: kappa = -1, the consensus at 1 is above ln 2/kappa and has velocity -x")
    return fails(f"the velocity is {speed}")


def _pair_field(exp: Any) -> Any:
    """First token and gap of two tokens on the line, W = B = 1: ``x' = x + g - g/(1 + e^{xg})`` and the gap's own
    rate."""

    def field(_: Any, state: Any) -> list[Any]:
        first, gap = state
        low, high = 1 / (1 + exp(first * gap)), 1 / (1 + exp((first + gap) * gap))
        return [first + gap - gap * low, gap * (low - high)]

    return field


def gap_stays_bounded() -> Verdict:
    """Tokens 1, 2 with W = B = 1: the gap stays below 1.07 for all times.

    ``g' = (p_22 - p_12) g`` with ``p_22 - p_12 <= 1 - p_12 <= exp(-x_1 g)``, g >= 1 and ``x_1(t) >= x_1(T) e^{t-T}``:
    ``ln g(t) <= ln g(T) + exp(-x_1(T)) / x_1(T)``.
    """
    with precision(80):
        first, gap = enclose(_pair_field(lambda z: z.exp()), ["1", "1"], "7/4", steps=100, order=30, digits=80)
        bound = gap * ((-first).exp() / first).exp()
        if bool(gap > 1) and bool(bound < ball("1.07")):
            return holds(
                f"the gap never exceeds {bound.str(8, radius=False)}, while both tokens grow at least like e^t"
            )
    return undecided("the enclosure does not decide")


def pair_example() -> list[float]:
    """Tokens at t = 1 and the gap at t = 8."""
    field = _pair_field(lambda z: math.exp(min(z, 700.0)))  # past exponent 700 the weight is zero in floats
    early, late = integrate(field, [1.0, 1.0], [1.0, 8.0])
    return [early[0], early[0] + early[1], late[1]]


PH_T3 = register(
    Statement(
        id="PH-T3",
        kind=Kind.THEOREM,
        source=Source(PHAM, "divergence regime; derived here", SourceKind.SUMMARISED),
        title="Divergence",
        systems=("token-flow",),
        conditions=(Symmetric(A), PositiveDefinite(A), PositiveDefinite(W), NotAllZero()),
        claims=DIVERGENCE,
        proof=diverges,
        depends=("PH-M", "PH-T1", "PH-T2"),
        derive=derive,
        printed=Printed(
            text="In the summary at hand: tokens diverge to infinity and separate.",
            wrong="Only \\emph{some} token diverges in general, and pairwise distances may stay bounded.",
            kind=SourceKind.SUMMARISED,
            counterexamples=(
                Counterexample(
                    name="a token that stays",
                    says="$L = 3$, $W = B = 1$, tokens $1, 0, -1$: token 2 stays at 0 exactly.",
                    instance={"system": "token-flow", "W": [["1"]], "B": [["1"]], "tokens": [["1"], ["0"], ["-1"]]},
                    check=middle_token_stays,
                ),
                Counterexample(
                    name="a bounded gap",
                    says="$W = B = 1$, tokens $1, 2$: the gap tends to $1.0696\\ldots$ while the norms grow like $e^t$.",
                    instance={"system": "token-flow", "W": [["1"]], "B": [["1"]], "tokens": [["1"], ["2"]]},
                    check=gap_stays_bounded,
                ),
            ),
        ),
        variants=(
            Variant("PositiveDefinite(A)", "$A = -1$, $W = 1$: tokens tend to zero (PH-T2).", negative_form_decays),
            Variant(
                "kappa > 0 in (c)",
                "$A = 1$, $W = B = -1$, so $\\kappa = -1$: consensus states satisfy the inequality of (c) and decay.",
                negative_scores_decay,
            ),
            Variant(
                "not all tokens 0",
                "the origin is an equilibrium",
                FirstFailure(equal_tokens_at_rest),
            ),
        ),
        vectors=(
            Vector(
                "tokens {1, 2} at t = 1, their gap at t = 8",
                pair_example,
                ("4.277052270387", "5.345525517893", "1.069606802238"),
            ),
        ),
    )
)
