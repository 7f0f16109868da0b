"""PM-R3: every trajectory of the Oja map converges to one fixed point.  Reference: Li-Altafini, Remark 3."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_l1 import flipped
from eigentoken.proofs.power_method.symbols import V, alpha
from eigentoken.proofs.reductions import recalled, tensor
from eigentoken.proofs.textbook_maps import DESCENT_SEQUENCES
from eigentoken.theory.claims import Converges
from eigentoken.theory.conditions import Relation, Symmetric
from eigentoken.theory.points import SomeEquilibrium
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Printed, Source, Statement, Variant
from eigentoken.theory.steps import Citation, Derivation, Inequality
from eigentoken.theory.terms import SpectralNorm


def _gradient() -> tuple[object, object]:
    """The derivative of W along w, from its definition."""
    from eigentoken.theory.calculus import TOKENS, Assumptions, Index, differentiate, direction, dot, matrix, vector

    rules = Assumptions(symmetric=frozenset({"V"}))
    j = Index("token", "j")
    mean = vector("x", j).summed(j) / TOKENS
    return differentiate(dot(mean, mean, matrix("V")) * sp.Rational(-1, 2), direction("x", "w"), rules), rules


def _claimed_gradient() -> object:
    """``-(1/n) sum_i u^T w_i`` with u = V xbar."""
    from eigentoken.theory.calculus import TOKENS, Index, dot, matrix, vector

    i, j = Index("token", "i"), Index("token", "j")
    push = vector("x", j).applied(matrix("V")).summed(j) / TOKENS
    return dot(push, vector("w", i)).summed(i) * (-1 / TOKENS)


def derive() -> Derivation:
    """Descent, gradient bound, analyticity; then the theorem on descent sequences."""
    a, r, low, norm = sp.symbols("a r lambda_d^- N", real=True)
    tangential, step = sp.symbols("omega D", real=True)
    return Derivation(
        (
            recalled(
                "PM-L7",
                "the increment of W is bounded by the squared steps",
                "By PM-L7, $-\\Delta W \\geq \\frac{1}{2n}\\sum_i\\lVert\\Delta "
                "x_i\\rVert^2\\big(\\frac{1+r_i}{\\alpha} - \\lambda_d^-\\big)$.",
                r"\Delta W \leq -\frac{1}{2n}\sum_i\lVert\Delta x_i\rVert^2\Big(\frac{1+r_i}{\alpha} - "
                r"\lambda_d^-\Big)",
            ),
            Inequality(
                name="descent",
                says="If $\\alpha\\lambda_d^- < 1$ (in particular if $V \\succeq 0$) the weight is bounded below "
                "by a positive constant.",
                hypotheses=(r > 0, low >= 0, alpha * low < 1),
                conclusion=sp.And((1 + r) / alpha - low >= (1 - alpha * low) / alpha, (1 - alpha * low) / alpha > 0),
                uses=("from PM-L7",),
                establishes=("the cost decreases by at least a multiple of the squared step",),
            ),
            tensor(
                "gradient",
                "The derivative of $W$ along tangent vectors $w_i$: the Riemannian gradient is "
                "$\\operatorname{grad}_iW = -\\frac1nP_iu$.",
                _gradient,
                _claimed_gradient(),
                r"\mathrm{d}W(w) = -\frac1n\sum_iu^{\top}w_i",
            ),
            Inequality(
                name="gradient bound",
                says="With $\\omega = \\lVert P_iu\\rVert$ and $D = \\lVert\\Delta x_i\\rVert$, $D^2 = 2(r-a)/r$ "
                "and $\\alpha^2\\omega^2 = r^2 - a^2$ (PM-L7), "
                "$r \\leq 1 + \\alpha N$, $N = \\lVert V\\rVert$: the gradient is at most a multiple of the step.",
                hypotheses=(
                    r > 0,
                    a <= r,
                    a >= -r,
                    tangential >= 0,
                    step >= 0,
                    norm >= 0,
                    r <= 1 + alpha * norm,
                    sp.Eq(step**2, 2 * (r - a) / r),
                    sp.Eq(alpha**2 * tangential**2, r**2 - a**2),
                ),
                conclusion=alpha * tangential <= (1 + alpha * norm) * step,
                uses=("gradient",),
                establishes=("the gradient is at most a multiple of the step",),
            ),
            Citation(
                name="convergence",
                says="$W$ is a polynomial on a product of spheres. The orbit is assumed not to meet $y_i = 0$, "
                "which is "
                "automatic for $\\alpha\\lVert V\\rVert < 1$ (PM-DOM). A limit point with $\\Delta x_i \\to 0$ is "
                "a fixed point.",
                theorem=DESCENT_SEQUENCES,
                formula=r"x(\tau) \to x^*, \qquad f(x^*) = x^*",
                uses=("descent", "gradient bound"),
                establishes=("every orbit converges to a fixed point",),
            ),
        )
    )


PM_R3 = register(
    Statement(
        id="PM-R3",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "Remark 3"),
        title="Every trajectory of the Oja map converges",
        systems=("oja-map",),
        conditions=(Symmetric(V), Relation(alpha * SpectralNorm(V) < 1)),
        claims=(Converges(SomeEquilibrium()),),
        text=(
            r"If $V \succeq 0$ (any $\alpha$) or $\alpha|\lambda_d| < 1$, and the orbit never meets $y_i = 0$ "
            r"(automatic for "
            r"$\alpha\lVert V\rVert < 1$), every trajectory converges to a single fixed point."
        ),
        depends=("PM-L7", "PM-DOM"),
        facts=("the cost is real analytic on a compact analytic manifold",),
        derive=derive,
        printed=Printed(
            text=r"The trajectories are generically converging to an equilibrium point.",
            wrong=r"True in a stronger form: all of them converge, not only generically, and for a bound without "
            r"$\lambda_1$.",
            false=False,
        ),
        variants=(
            Variant(
                "alpha |lambda_d| < 1",
                "V = diag(1/2, -1), alpha = 41/10: consensus on v_2 is sent to its negative and back, for ever",
                flipped,
            ),
        ),
        notes="That the cost is real analytic (a polynomial on a product of spheres) and that the state space is compact is "
        "entered as a fact, not checked.",
    )
)
