"""PM-R3: every trajectory of the Oja map converges to one fixed point.  Reference: Li-Altafini, Remark 3."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.lyapunov_rates import increments
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import flipped
from eigentoken.proofs.power_method.symbols import V, alpha
from eigentoken.proofs.steps.calculus_steps import analytic_step
from eigentoken.proofs.steps.map_theorems import DESCENT, SPEED, STEP, lengths
from eigentoken.proofs.steps.step_lengths import apart_from_zero, not_too_long
from eigentoken.proofs.steps.textbook_maps import DESCENT_SEQUENCES, LIMIT_IS_FIXED
from eigentoken.proofs.steps.theorems import CAUCHY_OF_FAMILIES
from eigentoken.theory.calculus import (
    TOKENS,
    Assumptions,
    Expression,
    Index,
    Norm,
    differentiate,
    direction,
    dot,
    factor,
    matrix,
    one,
    vector,
)
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.multipliers import DIRECTIONS, TANGENT
from eigentoken.theory.kernel.observables import expression_of
from eigentoken.theory.kernel.propositions import relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, Slope, Tensor, VectorLetter
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.places import SomeEquilibrium
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Printed, Source, Statement, Variant
from eigentoken.theory.statements.steps import Citation, Derivation, Inequality


def _gradient(rules: Any) -> Any:
    """The derivative of W along w, from its definition."""
    j = Index("token", "j")
    mean = vector("x", j).summed(j) / TOKENS
    return differentiate(dot(mean, mean, matrix("V")) * sp.Rational(-1, 2), direction("x", "w"), rules)


def _claimed_gradient() -> Any:
    """``-(1/n) sum_i u^T w_i`` with u = V xbar."""
    i, j = Index("token", "i"), Index("token", "j")
    push = vector("x", j).applied(matrix("V")).summed(j) / TOKENS
    return dot(push, vector("w", i)).summed(i) * (-1 / TOKENS)


def derive() -> Derivation:
    """Descent, gradient bound, analyticity; then the theorem on descent sequences, and continuity at the limit."""
    a, r, low, norm = sp.symbols("a r lambda_d^- N", real=True)
    tangential, step, c, floor = sp.symbols("omega D c rho", real=True)
    rules = Assumptions(symmetric=frozenset({"V"}))
    return Derivation(
        (
            recalled(
                "PM-L7",
                "the increment of W is bounded by the squared steps",
                "By PM-L7, $-\\Delta W \\geq \\frac{1}{2n}\\sum_i\\lVert\\Delta "
                "x_i\\rVert^2\\big(\\frac{1+r_i}{\\alpha} - \\lambda_d^-\\big)$.",
                r"\Delta W \leq -\frac{1}{2n}\sum_i\lVert\Delta x_i\rVert^2\Big(\frac{1+r_i}{\alpha} - \lambda_d^-\Big)",
            ),
            Inequality(
                name="descent",
                says="If $\\alpha\\lambda_d^- < 1$ (in particular if $V \\succeq 0$) the weight is bounded below by a "
                "positive constant.",
                hypotheses=(r > 0, low >= 0, alpha * low < 1),
                conclusion=sp.And((1 + r) / alpha - low >= (1 - alpha * low) / alpha, (1 - alpha * low) / alpha > 0),
                uses=("from PM-L7",),
                needs=("the increment of W is bounded by the squared steps",),
                establishes=("the cost decreases by at least a multiple of the squared step",),
            ),
            analytic_step(
                "gradient",
                "The derivative of $W$ along tangent vectors $w_i$ is a polynomial, so $W$ is real analytic on the "
                "product of spheres, a compact analytic manifold; and the Riemannian gradient is "
                "$\\operatorname{grad}_iW = -\\frac1nP_iu$.",
                derive=lambda: _gradient(rules),
                claimed=_claimed_gradient(),
                rules=rules,
                left=r"\mathrm{d}W(w)",
                establishes=("the cost is real analytic on a compact analytic manifold",),
            ),
            Inequality(
                name="gradient bound",
                says="With $\\omega = \\lVert P_iu\\rVert$ and $D = \\lVert\\Delta x_i\\rVert$, $D^2 = 2(r-a)/r$ and "
                "$\\alpha^2\\omega^2 = r^2 - a^2$ (PM-L7), $r \\leq 1 + \\alpha N$, $N = \\lVert V\\rVert$: the "
                "gradient is at most a multiple of the step.",
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
                says="So the orbit has a single limit.",
                theorem=DESCENT_SEQUENCES,
                formula=r"x(\tau) \to x^*",
                uses=("descent", "gradient", "gradient bound"),
                establishes=("every trajectory converges to a single point",),
            ),
            recalled(
                "PM-DOM",
                "the map is defined and analytic everywhere",
                "If $\\alpha\\lVert V\\rVert < 1$ the map is defined and analytic everywhere (PM-DOM).",
                r"r_i \geq 1 - \alpha\lVert V\rVert",
            ),
            Inequality(
                name="continuity",
                says="So $r_i \\geq 1 - c$ with $c = \\alpha\\lVert V\\rVert$ at the limit; for other steps $r_i \\geq "
                "\\rho > 0$ is assumed along the orbit, and holds at its limit. In both cases $y_i \\neq 0$ there, "
                "and the map is continuous.",
                hypotheses=(sp.Or(r >= 1 - c, r >= floor), c < 1, floor > 0),
                conclusion=r > 0,
                uses=("from PM-DOM",),
                needs=("the map is defined and analytic everywhere",),
                establishes=("the map is continuous at the limit",),
            ),
            Citation(
                name="the limit is fixed",
                says="So the limit is a fixed point.",
                theorem=LIMIT_IS_FIXED,
                formula=r"f(x^*) = \lim f(x(\tau)) = \lim x(\tau + 1) = x^*",
                uses=("convergence", "continuity"),
                establishes=("every orbit converges to a fixed point",),
            ),
        )
    )


_W = expression_of(oja_potential)
_NORM = SpectralNorm(V)
LEAST = (1 - alpha * _NORM) / (2 * alpha * TOKENS)
MOST = ((1 + alpha * _NORM) / (alpha * TOKENS)) ** 2
_I = Index("token", "i")
_X, _RAW = vector("x", _I), vector("y", _I)
_LENGTH = factor(Norm("r", (_I,)))


def falls(k: Kernel) -> Proved:
    """``W^+ - W <= -c sum_i |x_i^+ - x_i|^2`` with ``c = (1 - alpha |V|)/(2 n alpha)``, from the increments of PM-L7."""
    facts, _ = increments(k)
    norm = k.norm_of_symmetric(V)
    each = k.arithmetic(
        [k.positive(_LENGTH), k.square(STEP), k.product(_LENGTH, dot(STEP, STEP))],
        sp.Ge(Tensor(_LENGTH * dot(STEP, STEP)), 0),
    )
    heavy = k.summed(k.generalise(_I, each))
    wanted = sp.Le(relation_of(facts[0].proposition).lhs, -LEAST * Tensor(SPEED), evaluate=False)
    extreme = k.part(norm, norm.proposition.parts[0])
    known = [*facts, heavy, k.factors(one() * 0), extreme, k.given(alpha * _NORM < 1)]
    return k.arithmetic(known, wanted)


def slope(k: Kernel) -> Proved:
    """``(dW(w))^2 <= C sum_i |x_i^+ - x_i|^2 sum_i |w_i|^2`` for tangent w, ``C = ((1 + alpha |V|)/(n alpha))^2``."""
    w, radial = vector("w", _I), _RAW - _LENGTH * _X  # r_i (x_i^+ - x_i)
    tangent = k.assume(TANGENT)
    found = k.slope(_W)
    value = relation_of(found.proposition).rhs.expression
    along, off = dot(w, _RAW).summed(_I), dot(w, _X).summed(_I)
    weighed = (_LENGTH * dot(w, _X)).summed(_I)
    each = k.instantiate(tangent, _I)
    nothing = k.arithmetic(
        [each, k.product(_LENGTH, dot(w, _X))], sp.Eq(Tensor(_LENGTH * dot(w, _X)), 0, evaluate=False)
    )
    same = [
        found,
        k.reduction(value * (-alpha * TOKENS), along - off, k.given(Symmetric(V))),
        k.scaling(value, -alpha * TOKENS),
        k.total(along, -off),
        k.scaling(off, -1),
        k.summed(tangent),
        k.total(along, -weighed),
        k.scaling(weighed, -1),
        k.summed(k.generalise(_I, nothing)),
        k.factors(one() * 0),
    ]
    inside = dot(w, radial).summed(_I)
    product = k.arithmetic(same, sp.Eq(Tensor(inside), -alpha * TOKENS * Slope(_W), evaluate=False))
    cauchy = k.textbook(CAUCHY_OF_FAMILIES, y=w, z=radial)
    most = MOST * Tensor(SPEED) * Tensor(lengths())
    scaled = k.scaling(SPEED, (1 + alpha * _NORM) ** 2)
    known = [product, cauchy, _radial_steps(k, radial), scaled, k.square(w, _I), k.square(STEP, _I)]
    bound = k.arithmetic(known, sp.Le(Slope(_W) ** 2, most, evaluate=False))
    return k.generalise(DIRECTIONS, bound, TANGENT)


def _radial_steps(k: Kernel, radial: Expression) -> Proved:
    """``sum_i |r_i (x_i^+ - x_i)|^2 <= (1 + alpha |V|)^2 sum_i |x_i^+ - x_i|^2``."""
    square = _LENGTH * _LENGTH
    longest = k.instantiate(not_too_long(k, one() / TOKENS), _I)
    known = [
        k.reduction(dot(radial, radial), square * dot(STEP, STEP)),
        k.product(square, dot(STEP, STEP)),
        k.reduction(dot(_RAW, _RAW), square),
        longest,
        k.square(STEP),
    ]
    bound = sp.Le(Tensor(dot(radial, radial)), (1 + alpha * _NORM) ** 2 * Tensor(dot(STEP, STEP)), evaluate=False)
    return k.summed(k.generalise(_I, k.arithmetic(known, bound)))


def proof(k: Kernel) -> Proved:
    """Descent, gradient bound, a raw step that is not short; then the theorem on descent sequences."""
    state = VectorLetter(STATE)
    rho = (1 - alpha * _NORM) ** 2
    short = k.given(alpha * _NORM < 1)
    apart = k.modus_ponens(apart_from_zero(k, one() / TOKENS), short)
    return k.textbook(
        DESCENT,
        k.arithmetic([short], LEAST > 0),
        k.arithmetic([short], rho > 0),
        *(k.generalise(state, each) for each in (falls(k), slope(k), apart)),
        v=_W,
        c=LEAST,
        C=MOST,
        rho=rho,
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
        depends=("PM-L7", "PM-DOM"),
        derive=derive,
        proof=proof,
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
    )
)
