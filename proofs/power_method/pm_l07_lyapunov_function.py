"""PM-L7: the Lyapunov function of the Oja map, with exact increments.

``W = -xbar^T V xbar / 2`` does not increase for every step if V >= 0, and for ``alpha <= 1/|lambda_d|`` otherwise.
Reference: Li-Altafini, Lemma 7 (there by truncation, for small steps).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.lyapunov_rates import FALL, RATE, fall, increments, plain_fall, rate
from eigentoken.proofs.power_method.pm_l02_oja_jacobian import TV14
from eigentoken.proofs.power_method.symbols import V, alpha, d, lam
from eigentoken.proofs.properties.exact_points import instance, observed
from eigentoken.proofs.steps.reductions import grouped, tensor
from eigentoken.proofs.steps.textbook import RAYLEIGH
from eigentoken.theory.calculus import TOKENS, Assumptions, Index, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.claims import Decreases
from eigentoken.theory.language.conditions import AnyOf, PositiveSemidefinite, Relation, Symmetric
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Printed, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

#: V is positive semidefinite, or the step is at most 1/|lambda_d|.
SHORT_OR_POSITIVE = AnyOf((PositiveSemidefinite(V), Relation(alpha * sp.Abs(lam(V, d)) <= 1)))

R = sp.Symbol("r", positive=True)
TAU = sp.Symbol("tau", real=True)
#: y = r (cos, sin) for any angle, the circle parametrised rationally; the token is (1, 0) and a = x^T y.
A = R * (1 - TAU**2) / (1 + TAU**2)
B = R * 2 * TAU / (1 + TAU**2)


def _moved_token() -> list[Any]:
    """The image of one token under an arbitrary push u, from the map."""
    from eigentoken.proofs.steps.token_groups import advance_groups

    push = [[(A - 1) / alpha, 0], [B / alpha, 0]]
    return list(advance_groups("oja-map", {"V": push, "alpha": alpha}, [(1, (1, 0))], (R,))[0])


def _increment() -> list[Any]:
    """``alpha u^T (x^+ - x)`` and ``|x^+ - x|^2``."""
    first, second = _moved_token()
    return [(A - 1) * (first - 1) + B * second, (first - 1) ** 2 + second**2]


def _difference() -> tuple[Any, Any]:
    """``W(xbar + e) - W(xbar)`` with the mean m and its increment e."""

    def potential(centre: Any) -> Any:
        return dot(centre, centre, matrix("V")) * sp.Rational(-1, 2)

    mean, step = vector("m"), vector("e")
    return potential(mean + step) - potential(mean), Assumptions(symmetric=frozenset({"V"}))


def _claimed_difference() -> Any:
    mean, step = vector("m"), vector("e")
    return dot(mean.applied(matrix("V")), step) * -1 - dot(step, step, matrix("V")) * sp.Rational(1, 2)


def _variance() -> tuple[Any, Any]:
    """``(1/n) sum_i |e_i|^2 - |(1/n) sum_i e_i|^2``."""
    i = Index("token", "i")
    mean = vector("e", i).summed(i) / TOKENS
    return dot(vector("e", i), vector("e", i)).summed(i) / TOKENS - dot(mean, mean), Assumptions()


def _claimed_variance() -> Any:
    """``(1/2n^2) sum_ij |e_i - e_j|^2``."""
    i, j = Index("token", "i"), Index("token", "j")
    apart = vector("e", i) - vector("e", j)
    return dot(apart, apart).summed(i, j) / (2 * TOKENS**2)


def _increment_of_w() -> tuple[Step, ...]:
    """The step of one token, and the increment of W, exactly."""
    low = sp.Symbol("lambda_d^-", real=True)
    form, least, square, squares, spread = sp.symbols("q lambda_d M S v", real=True)
    return (
        grouped(
            "one token",
            "Let $a_i = x_i^{\\top}y_i$, $r_i = \\lVert y_i\\rVert$; in the plane of $x_i$ and $y_i = r(\\cos\\theta, "
            "\\sin\\theta)$, $\\tau = \\tan\\frac\\theta2$, so that $a = r\\frac{1-\\tau^2}{1+\\tau^2}$: exactly,",
            _increment,
            ((R - A) * (1 + 1 / R), 2 * (R - A) / R),
            r"\alpha u^{\top}(x_i^+ - x_i) = (r_i - a_i)\Big(1 + \frac1{r_i}\Big), \qquad \lVert x_i^+ - x_i\rVert^2 = "
            r"\frac{2(r_i - a_i)}{r_i}",
            establishes=("the exact increments of one token",),
        ),
        tensor(
            "increment of W",
            "For symmetric $V$ and $u = V\\bar x$, with $m = \\bar x$, $e = \\Delta\\bar x$.",
            _difference,
            _claimed_difference(),
            r"\Delta W = -u^{\top}\Delta\bar x - \tfrac12\,\Delta\bar x^{\top}V\Delta\bar x",
        ),
        Citation(
            name="Rayleigh",
            says="For every $z$, here $z = \\Delta\\bar x$:",
            theorem=RAYLEIGH,
            letters={"A": "V"},
            formula=r"z^{\top}Vz \geq \lambda_d\lVert z\rVert^2",
            uses=("increment of W",),
            establishes=("the form of V lies between its extreme eigenvalues times the squared norm",),
        ),
        Inequality(
            name="lower bound",
            says="With $q = z^{\\top}Vz$, $M = \\lVert z\\rVert^2$ and $\\lambda_d^- = \\max(0, -\\lambda_d)$ the "
            "second term of $\\Delta W$ is at most $\\frac12\\lambda_d^-M$.",
            hypotheses=(form >= least * square, square >= 0, low >= -least),
            conclusion=-form / 2 <= low * square / 2,
            uses=("Rayleigh",),
            needs=("the form of V lies between its extreme eigenvalues times the squared norm",),
            establishes=("the second term of the increment is at most half of lambda_d^- times the squared mean step",),
        ),
        tensor(
            "variance of the steps",
            "With $e_i = \\Delta x_i$ the mean of the squared steps exceeds the squared mean step by a mean of squares.",
            _variance,
            _claimed_variance(),
            r"\frac1n\sum_i\lVert e_i\rVert^2 - \Big\lVert\frac1n\sum_ie_i\Big\rVert^2 = "
            r"\frac{1}{2n^2}\sum_{i,j}\lVert e_i - e_j\rVert^2",
        ),
        Inequality(
            name="mean",
            says="So $M = \\lVert\\Delta\\bar x\\rVert^2$ is at most the mean $S$ of the squared steps: their "
            "difference $v$ is not negative.",
            hypotheses=(sp.Eq(squares - square, spread), spread >= 0),
            conclusion=square <= squares,
            uses=("variance of the steps",),
            establishes=("the squared mean step is at most the mean of the squared steps",),
        ),
    )


def _decrease() -> tuple[Step, ...]:
    """W does not increase, and strictly decreases off fixed points; with which rate."""
    a, r, low = sp.symbols("a r lambda_d^-", real=True)
    token = (r > 0, a <= r, a >= -r)
    moved = 2 * (r - a) / r
    weight = (1 + r) / alpha - low
    c = sp.Symbol("c", real=True)
    return (
        Identity(
            name="collected",
            says="So $\\Delta W \\leq -\\frac1{2n}\\sum_i\\lVert\\Delta x_i\\rVert^2\\big(\\frac{1+r_i}{\\alpha} - "
            "\\lambda_d^-\\big)$: for each token",
            left=-(r - a) * (1 + 1 / r) / alpha + low * moved / 2,
            right=-moved / 2 * weight,
            uses=("one token", "lower bound", "mean"),
            needs=(
                "the exact increments of one token",
                "the second term of the increment is at most half of lambda_d^- times the squared mean step",
                "the squared mean step is at most the mean of the squared steps",
            ),
            establishes=("the increment of W is bounded by the squared steps",),
        ),
        Inequality(
            name="decrease",
            says="The weight is positive for every step if $\\lambda_d^- = 0$, and for $\\alpha\\lambda_d^- \\leq 1$ "
            "otherwise; $\\lambda_1$ plays no role.",
            hypotheses=(r > 0, low >= 0, alpha * low <= 1),
            conclusion=weight > 0,
            uses=("collected",),
            needs=("the increment of W is bounded by the squared steps",),
            establishes=("W does not increase",),
        ),
        Inequality(
            name="strict",
            says="A token that moves ($a < r$) makes the decrease strict.",
            hypotheses=(*token, a < r, low >= 0, alpha * low <= 1),
            conclusion=moved / 2 * weight > 0,
            uses=("decrease",),
            needs=("the increment of W is bounded by the squared steps",),
            establishes=("W decreases strictly along the map off its fixed points",),
        ),
        Inequality(
            name="rate",
            says="If $c = \\alpha\\lVert V\\rVert < 1$, then $1 - c \\leq r_i \\leq 1 + c$ and, since "
            "$\\alpha^2\\lVert P_iu\\rVert^2 = r_i^2 - a_i^2$, each token contributes at least "
            "$\\alpha(1+c)^{-2}\\lVert P_iu\\rVert^2$:",
            hypotheses=(*token, c >= 0, c < 1, r >= 1 - c, r <= 1 + c, alpha * low <= c, low >= 0),
            conclusion=moved / 2 * weight >= (r**2 - a**2) / (alpha * (1 + c) ** 2),
            uses=("collected",),
            needs=("the increment of W is bounded by the squared steps",),
            establishes=("W decreases by at least a multiple of the squared tangential pushes",),
            assuming=(Relation(alpha * SpectralNorm(V) < 1),),
        ),
        Inequality(
            name="the printed rate",
            says="This is better than the truncated rate of the paper: its inequality holds exactly.",
            hypotheses=(c >= 0,),
            conclusion=1 / (1 + c) ** 2 >= 1 - 2 * c,
            uses=("rate",),
        ),
    )


def derive() -> Derivation:
    """Two exact identities for one token; the increment of W; then real arithmetic."""
    return Derivation(
        (
            *_increment_of_w(),
            *_decrease(),
        )
    )


TV16 = instance(
    "oja-map",
    [["0", "1/sqrt(2)", "1/sqrt(2)"]],
    V=[["1", "0", "0"], ["0", "-20/21", "0"], ["0", "0", "-1"]],
    alpha="21/20",
)


def tv16() -> Sequence[Any]:
    """W before and after one step at alpha = 1.05 > 1/|lambda_d|."""
    return observed(oja_potential, TV16), observed(oja_potential, TV16, steps=1)


def increases() -> Verdict:
    """Beyond 1/|lambda_d| the function can increase."""
    before, after = tv16()
    return holds(f"W rises from {before.str(8)} to {after.str(8)}") if after > before else fails("W does not rise")


def tv14_numbers() -> Sequence[Any]:
    """W, W after one step, mean |P_i u|^2, the increment, and the two bounds, at TV14."""
    before, after = observed(oja_potential, TV14), observed(oja_potential, TV14, steps=1)
    step, norm = sp.Rational(1, 3), sp.Rational(7, 6)
    tokens = sp.Matrix([[sp.Rational(each) for each in token] for token in TV14["tokens"]])
    value = sp.Matrix([[sp.Rational(each) for each in row] for row in TV14["V"]])
    push = value * (tokens.row(0) + tokens.row(1)).T / 2
    squared = sum(push.dot(push) - (tokens.row(i).dot(push)) ** 2 for i in range(2)) / 2
    bounds = -step * squared / (1 + step * norm) ** 2, -step * (1 - 2 * step * norm) * squared
    return [before, after, sp.N(squared, 30), after - before, *(sp.N(each, 30) for each in bounds)]


def proof(kernel: Kernel) -> Proved:
    """``W^+ - W <= -(1/2 n alpha) sum_i r_i |x_i^+ - x_i|^2`` in both cases."""
    facts, weighted = increments(kernel)
    scale = 1 / (2 * alpha * TOKENS)
    wanted = sp.Le(relation_of(facts[0].proposition).lhs, -scale * Tensor(weighted), evaluate=False)
    positive, short = SHORT_OR_POSITIVE.parts
    least = kernel.unfold(kernel.assume(positive))
    falls = kernel.by_cases(
        kernel.given(SHORT_OR_POSITIVE),
        (positive, kernel.arithmetic([*facts, least], wanted)),
        (short, kernel.arithmetic([*facts, kernel.assume(short)], wanted)),
    )
    written = plain_fall(kernel, facts)
    return kernel.conjunction(
        kernel.dissipates(oja_potential, scale, falls, weighted=True), fall(kernel, written), rate(kernel, written)
    )


PM_L7 = register(
    Statement(
        id="PM-L7",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 7"),
        title="The Lyapunov function of the Oja map",
        systems=("oja-map",),
        conditions=(Symmetric(V), SHORT_OR_POSITIVE),
        claims=(Decreases(oja_potential, strict=True), Formula(FALL), Formula(RATE)),
        facts=("V is symmetric",),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=(
                r"For small $\alpha$ (second-order truncation) $\Delta W \leq -\alpha(1 - 2\alpha\lVert "
                r"V\rVert)\frac1n\sum_i\lVert P_iu\rVert^2$, so $W$ is nonincreasing; where it stops, $x$ is a "
                r"consensus or bipartite consensus point."
            ),
            wrong=(
                r"The inequality holds exactly, and the decrease for much larger steps. The last sentence omits the "
                r"polygonal points, which satisfy $P_iu = 0$ too."
            ),
            false=False,
        ),
        vectors=(
            Vector("TV16", tv16, ("0.48809523809523809524", "0.5")),
            Vector(
                "TV14, W and its bounds",
                tv14_numbers,
                (
                    "-0.105404339250493",
                    "-0.164979616751330",
                    "0.161597528875817",
                    "-0.0595752775008",
                    "-0.0279240529897413",
                    "-0.0119701873241346",
                ),
            ),
        ),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"As printed, $P_i = I - x_ix_i^{\top}$ and $u = V\bar x$.",
            ),
        ),
        variants=(Variant("alpha |lambda_d| <= 1", "TV16: alpha |lambda_d| = 21/20 and W increases", increases),),
    )
)
