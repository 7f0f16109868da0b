"""AB-T4.1: consensus from an open hemisphere, and what is wrong with the printed proof.

The conclusion is true, with an exponential rate and without uniform continuity (AB-X1).  The printed Lyapunov function is not
nonnegative when W != I, does not vanish on the consensus set, and its Dini derivative jumps.
Reference: Abella-Silvestre-Tabuada, Theorem 4.1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.abella.ab_x01_exponential_consensus import AB_X1
from eigentoken.proofs.abella.hemisphere_examples import antipodal_pair_stays, unbounded_freezes
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.proofs.steps.textbook import CAUCHY_SCHWARZ
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Converges, ForwardInvariant
from eigentoken.theory.language.conditions import BoundedInTime, InHemisphere, IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import ConsensusSet, Hemisphere
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate, sign
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Inequality

W, U = matrix("W"), matrix("U")


def derive() -> Derivation:
    """The corrected function, and the rest from AB-X1."""
    product, one, other, height, first = sp.symbols("p a b h h_0", real=True)
    return Derivation(
        (
            Citation(
                name="products",
                says="In the metric $W$:",
                theorem=CAUCHY_SCHWARZ,
                formula="|v^{\\top}Wy_i| \\le |v|_W\\,|y_i|_W",
                establishes=("inner products are bounded by the product of the norms",),
            ),
            Inequality(
                name="the function that is meant",
                says="So $p = v^{\\top}Wy_i$ with $a = |v|_W = 1$ and $b = |y_i|_W = 1$ lies in $[-1, 1]$, and $1 - p "
                "\\in [0, 2]$; with $W$ inside, (13) is nonnegative. Hemispheres $\\{v^{\\top}y > 0\\}$ and "
                "$\\{v^{\\top}Wy > 0\\}$ are the same family.",
                hypotheses=(product >= -one * other, product <= one * other, sp.Eq(one, 1), sp.Eq(other, 1)),
                conclusion=sp.And(1 - product >= 0, 1 - product <= 2),
                uses=("products",),
                needs=("inner products are bounded by the product of the norms",),
                establishes=("the function (13) with W inside is not negative",),
            ),
            recalled(
                "AB-X1",
                "minus the lowest height does not increase",
                "The lowest height $h = \\min_i v^{\\top}y_i$ does not decrease (and (13) does not increase).",
                "\\min_i v^{\\top}y_i(t) \\ge \\min_i v^{\\top}y_i(0)",
                name="lowest height",
            ),
            Inequality(
                name="invariance",
                says="So a positive lowest height $h_0$ at the start is followed by positive ones: the hemisphere is "
                "forward invariant.",
                hypotheses=(-height <= -first, first > 0),
                conclusion=height > 0,
                uses=("lowest height",),
                needs=("minus the lowest height does not increase",),
                establishes=("the hemisphere is forward invariant",),
            ),
            recalled(
                "AB-X1",
                "all tokens tend to one point",
                "In the central projection the tokens converge exponentially to one point, for bounded measurable $P$. "
                "The limit lies in the cone of the initial tokens, so in the hemisphere: the consensus set is "
                "attractive from $H^+(v)^{\\ell}$.",
                "y_i(t) \\to y^* \\quad\\text{for all } i",
                name="convergence",
                uses=("invariance",),
            ),
        )
    )


def proof(kernel: Kernel) -> Proved:
    """Two of the claims of AB-X1."""
    found = kernel.recall(AB_X1)
    return kernel.part(found, Conjunction(tuple(map(proposition, CLAIMS))))


CLAIMS = (ForwardInvariant(Hemisphere()), Converges(ConsensusSet()))
ANGLE = sp.Rational(3, 10)


def negative_function() -> Verdict:
    """W = diag(1/4, 1), v = (2, 0): all tokens on the ellipsoid, and (13) is negative."""
    metric = ((sp.Rational(1, 4), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    v = (sp.Integer(2), sp.Integer(0))
    tokens = tuple((2 * sp.cos(ANGLE), side * sp.sin(ANGLE)) for side in (1, -1))

    def form(x: Any) -> Any:
        return sp.simplify(sum(x[a] * metric[a][b] * x[b] for a in range(2) for b in range(2)))

    if any(form(x) != 1 for x in (v, *tokens)):
        return fails("a point is not on the ellipsoid")
    values = [1 - sum(a * b for a, b in zip(v, x, strict=True)) for x in tokens]
    if all(sign(value + 2) == -1 for value in values):
        return holds("both tokens lie in the hemisphere and on the ellipsoid, and max_i (1 - v^T y_i) < -2")
    return fails("the function is not below -2")


def jumping_derivative() -> Verdict:
    """On S^1 with P = 0, v = e_1: two lowest tokens with different slopes, so the Dini derivative is not continuous."""
    half, high = sp.Rational(1, 2), sp.sqrt(3) / 2
    tokens = ((half, high), (half, -high), (sp.Rational(3, 5), sp.Rational(4, 5)))
    zero = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), sp.Integer(0)))
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    speed = velocity("ellipsoid-multihead-flow", {"heads": [{"U": None, "P": zero}], "W": unit}, tokens)
    slopes = [speed[0][0], speed[1][0]]
    gap = slopes[1] - slopes[0]
    if sign(gap - sp.Rational(4, 25)) == 1 and sign(slopes[0]) == 1:
        return holds(
            "tokens 1 and 2 tie at height 1/2 and move with slopes that differ by more than 0.16: just before the tie "
            "one of them is alone at the minimum, just after it the other, and the derivative of the maximum jumps"
        )
    return fails("the slopes agree")


def jump_example() -> list[Any]:
    """Slopes of the two lowest tokens, their difference, and the value of (13) in the first example."""
    half, high = sp.Rational(1, 2), sp.sqrt(3) / 2
    tokens = ((half, high), (half, -high), (sp.Rational(3, 5), sp.Rational(4, 5)))
    zero = ((sp.Integer(0), sp.Integer(0)), (sp.Integer(0), sp.Integer(0)))
    unit = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    speed = velocity("ellipsoid-multihead-flow", {"heads": [{"U": None, "P": zero}], "W": unit}, tokens)
    values = [speed[0][0], speed[1][0], speed[1][0] - speed[0][0], 1 - 4 * sp.cos(ANGLE)]
    return [evaluate(value).real for value in values]


AB_T41 = register(
    Statement(
        id="AB-T4.1",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 4.1"),
        title="Consensus from an open hemisphere",
        systems=("ellipsoid-multihead-flow",),
        conditions=(Symmetric(W), PositiveDefinite(W), IsIdentity(U), BoundedInTime("P"), InHemisphere()),
        claims=CLAIMS,
        depends=("AB-X1",),
        facts=("the metric is symmetric and positive definite",),
        derive=derive,
        proof=proof,
        variants=(
            Variant("InHemisphere()", "An antipodal pair on the circle, $P = 0$, does not move.", antipodal_pair_stays),
            Variant('BoundedInTime("P")', "See AB-X1: with $P(t) = e^{2t}I$ the gap freezes.", unbounded_freezes),
        ),
        printed=Printed(
            text="With $P_{\\eta}$ bounded and uniformly continuous: the consensus set in $H^+(v)$ is attractive, by "
            "the strict Lyapunov function $V(y) = \\max_i (1 - v^{\\top}y_i)$ of (13), whose Dini derivative is "
            "uniformly continuous, and Barbalat's lemma.",
            wrong="The conclusion is true; the proof is not. (13) can be negative when $W \\neq I$; it does not vanish "
            "on the consensus set, so it is monotone but not positive definite there; and its Dini derivative is a "
            "minimum over an index set that jumps, so it need not be continuous, and Barbalat's lemma does not apply "
            "as written.",
            counterexamples=(
                Counterexample(
                    name="(13) is negative",
                    says="$W = \\operatorname{diag}(\\tfrac14, 1)$, $v = (2, 0)$, $y_{1,2} = (2\\cos 0.3, \\pm\\sin "
                    "0.3)$: all on $\\mathcal{E}_W$, and $V = 1 - 4\\cos 0.3 < 0$.",
                    instance={"W": [["1/4", "0"], ["0", "1"]], "v": ["2", "0"], "angle": "3/10"},
                    check=negative_function,
                ),
                Counterexample(
                    name="the Dini derivative jumps",
                    says="$S^1$, $P = 0$, $v = e_1$, $y = (\\tfrac12, \\tfrac{\\sqrt3}2), (\\tfrac12, "
                    "-\\tfrac{\\sqrt3}2), (\\tfrac35, \\tfrac45)$: the heights of tokens 1 and 2 tie at $\\tfrac12$ "
                    "and move with different slopes.",
                    instance={
                        "system": "ellipsoid-multihead-flow",
                        "heads": [{"P": [["0", "0"], ["0", "0"]]}],
                        "W": [["1", "0"], ["0", "1"]],
                        "tokens": [["1/2", "sqrt(3)/2"], ["1/2", "-sqrt(3)/2"], ["3/5", "4/5"]],
                    },
                    check=jumping_derivative,
                ),
            ),
            false=False,
        ),
        vectors=(
            Vector(
                "slopes, jump, and the negative value of (13)",
                jump_example,
                ("0.201193", "0.364492", "0.163299316185545", "-2.821345956502"),
            ),
        ),
    )
)
