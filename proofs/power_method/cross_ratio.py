"""Why two pairs of tokens do not collapse onto antipodal points: the cross-ratio of four tokens under the Oja map.

All tokens get the same push, so the map of the sphere ``x -> (x + alpha u)/|x + alpha u|`` changes the cross-ratio
``|a-b||c-d| / (|a-c||b-d|)`` only by factors ``1 - eps``, where ``eps`` is a multiple of ``(u^T(a-b))^2/|a-b|^2``.  Along an
orbit these are summable by PM-L7, so a cross-ratio that is not zero at the start does not tend to zero.  For the flow it
is constant (the field is conformal).  Used by PM-T2 for n >= 3; new here.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.power_method.symbols import alpha
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.proofs.steps.textbook_maps import INFINITE_PRODUCTS
from eigentoken.theory.calculus import (
    ALPHA,
    SLOT,
    TOKENS,
    Assumptions,
    CalculusAlgebra,
    Index,
    Letter,
    dot,
    matrix,
    vector,
)
from eigentoken.theory.calculus import instance as at
from eigentoken.theory.statements.registry import recalled
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["ONLY_EQUAL_TOKENS", "cross_ratio_steps"]

ONLY_EQUAL_TOKENS = "only starts with two equal tokens converge to a collinear polygonal point with n >= 4"


def _raw_steps() -> tuple[Any, Any, Any]:
    """``y_i``, ``y_j`` of the Oja map on unit tokens, and the assumptions."""
    from eigentoken.theory.systems.catalogue import system

    algebra = CalculusAlgebra(Assumptions(unit={"x": ()}))
    found = system("oja-map").raw_step(algebra, {"V": Letter("V"), "alpha": ALPHA}, vector("x", SLOT))
    return at(found, Index("token", "i")), at(found, Index("token", "j")), algebra.assumptions


def _difference() -> tuple[Any, Any]:
    one, two, rules = _raw_steps()
    return one - two, rules


def _lengths() -> tuple[Any, Any]:
    one, two, rules = _raw_steps()
    return dot(one, one) - dot(two, two), rules


def _tokens_apart() -> Any:
    return vector("x", Index("token", "i")) - vector("x", Index("token", "j"))


def _twice_the_height() -> Any:
    """``2 alpha u^T (x_i - x_j)`` with ``u = (1/n) sum_l V x_l``."""
    other = Index("token", "l")
    push = vector("x", other).applied(matrix("V")).summed(other) / TOKENS
    return dot(push, _tokens_apart()) * (2 * ALPHA)


def _one_step() -> tuple[Step, ...]:
    """What one step does to a distance and to a cross-ratio."""
    ra, rb, rc, rd, q = sp.symbols("r_a r_b r_c r_d q", real=True)
    dab, dcd, dac, dbd = sp.symbols("D_ab D_cd D_ac D_bd", real=True)
    eab, ecd, eac, ebd = sp.symbols("epsilon_ab epsilon_cd epsilon_ac epsilon_bd", real=True)
    product, size = sp.symbols("P U", real=True)
    loss = 4 * alpha**2 * q**2 / ((ra + rb) ** 2 * dab)
    before = dab * dcd / (dac * dbd)
    after = {
        sp.Symbol("D^{+}_{ab}", real=True): dab * (1 - eab) / (ra * rb),
        sp.Symbol("D^{+}_{cd}", real=True): dcd * (1 - ecd) / (rc * rd),
        sp.Symbol("D^{+}_{ac}", real=True): dac * (1 - eac) / (ra * rc),
        sp.Symbol("D^{+}_{bd}", real=True): dbd * (1 - ebd) / (rb * rd),
    }
    ab, cd, ac, bd = after
    return (
        tensor(
            "common push",
            "All tokens get the same push, for all $n$ and $d$: for two of them, $a = x_i$ and $b = x_j$,",
            _difference,
            _tokens_apart(),
            r"y_a - y_b = a - b",
        ),
        tensor(
            "lengths",
            "With $q = u^{\\top}(a - b)$, unit tokens and $r_a = \\lVert y_a\\rVert$,",
            _lengths,
            _twice_the_height(),
            r"r_a^2 - r_b^2 = 2\alpha q",
        ),
        Identity(
            name="chord",
            says="With $D_{ab} = \\lVert a - b\\rVert^2$ and $P = y_a^{\\top}y_b$, the squared distance after the step "
            "is",
            left=2 - 2 * product / (ra * rb),
            right=(dab - (ra - rb) ** 2) / (ra * rb),
            where={product: (ra**2 + rb**2 - dab) / 2},
            uses=("common push",),
        ),
        Identity(
            name="loss",
            says="This is $D_{ab}(1 - \\epsilon_{ab})/(r_ar_b)$ with the loss $\\epsilon_{ab} = 4\\alpha^2q^2/((r_a + "
            "r_b)^2D_{ab})$.",
            left=dab - (ra - rb) ** 2,
            right=dab * (1 - loss),
            where={q: (ra**2 - rb**2) / (2 * alpha)},
            uses=("lengths", "chord"),
        ),
        Inequality(
            name="losses",
            says="Let $U = \\lVert u\\rVert$, $\\alpha U < \\frac12$. Since $q^2 \\leq U^2D_{ab}$ and $r \\geq 1 - "
            "\\alpha U$, a loss lies in $[0, 1)$: different tokens stay different.",
            hypotheses=(
                dab > 0,
                size >= 0,
                alpha * size < sp.Rational(1, 2),
                q**2 <= size**2 * dab,
                ra >= 1 - alpha * size,
                rb >= 1 - alpha * size,
            ),
            conclusion=sp.And(loss >= 0, loss < 1),
            uses=("loss",),
            establishes=("each loss lies in [0, 1)",),
        ),
        Identity(
            name="cross-ratio",
            says="In the squared cross-ratio $\\chi = D_{ab}D_{cd}/(D_{ac}D_{bd})$ of four tokens the lengths cancel. "
            "With the squared distances $D^{+}$ after the step, it becomes",
            left=ab * cd / (ac * bd),
            right=before * (1 - eab) * (1 - ecd) / ((1 - eac) * (1 - ebd)),
            where=after,
            uses=("loss",),
        ),
        Inequality(
            name="hardly smaller",
            says="It loses at most the factors of its numerator.",
            hypotheses=(before >= 0, eab >= 0, eab < 1, ecd >= 0, ecd < 1, eac >= 0, eac < 1, ebd >= 0, ebd < 1),
            conclusion=before * (1 - eab) * (1 - ecd) / ((1 - eac) * (1 - ebd)) >= before * (1 - eab) * (1 - ecd),
            uses=("cross-ratio", "losses"),
        ),
    )


def _summable_losses() -> tuple[Step, ...]:
    """The losses of two tokens that come together are summable."""
    ra, rb, q, c, x, y = sp.symbols("r_a r_b q c X Y", real=True)
    ua, ub, pa, pb = sp.symbols("u_a u_b p_a p_b", real=True)
    start, end, rate, total, norm = sp.symbols("W_0 W_1 rho S N", real=True)
    last, grown = sp.symbols("W_2 g", real=True)
    return (
        Identity(
            name="tangential parts",
            says="Let $c = a^{\\top}b$, $u_a = u^{\\top}a$, $u_b = u^{\\top}b$, $X = a^{\\top}P_bu = u_a - cu_b$, $Y = "
            "b^{\\top}P_au = u_b - cu_a$.",
            left=x - y,
            right=(1 + c) * (ua - ub),
            where={x: ua - c * ub, y: ub - c * ua},
        ),
        Inequality(
            name="small losses",
            says="With $p_a = \\lVert P_au\\rVert^2$ Cauchy's inequality says $X^2 \\leq p_b(1 - c^2)$, $Y^2 \\leq "
            "p_a(1 - c^2)$; $D_{ab} = 2(1 - c)$. Once $a$ and $b$ are so near that $c \\geq 0$, the loss is at most "
            "$4\\alpha^2(p_a + p_b)$ ($r_a, r_b \\geq \\frac12$).",
            hypotheses=(
                c >= 0,
                c < 1,
                pa >= 0,
                pb >= 0,
                x**2 <= pb * (1 - c**2),
                y**2 <= pa * (1 - c**2),
                sp.Eq((1 + c) * q, x - y),
                ra >= sp.Rational(1, 2),
                rb >= sp.Rational(1, 2),
            ),
            conclusion=4 * alpha**2 * q**2 / ((ra + rb) ** 2 * 2 * (1 - c)) <= 4 * alpha**2 * (pa + pb),
            uses=("losses", "tangential parts"),
        ),
        recalled(
            "PM-L7",
            "W decreases by at least a multiple of the squared tangential pushes",
            "By PM-L7 each step decreases $W$ by at least $\\rho\\sum_i\\lVert P_iu\\rVert^2$, $\\rho = "
            "\\frac{\\alpha}{n(1 + \\alpha\\lVert V\\rVert)^2}$.",
            r"\Delta W \leq -\rho\sum_i\lVert P_iu\rVert^2",
        ),
        Inequality(
            name="one more step",
            says="By induction over the steps, $W_1 \\leq W_0 - \\rho S$ for the sum $S$ of the numbers "
            "$\\sum_i\\lVert P_iu\\rVert^2$ of the steps so far: it holds with $S = 0$ at the start, and one step "
            "more adds its number $g$.",
            hypotheses=(end <= start - rate * total, last <= end - rate * grown),
            conclusion=last <= start - rate * (total + grown),
            uses=("from PM-L7",),
            needs=("W decreases by at least a multiple of the squared tangential pushes",),
        ),
        Inequality(
            name="summable",
            says="Since $|W| \\leq \\frac12\\lVert V\\rVert = \\frac12N$, the sum $S$ over the first steps, however "
            "many, is bounded.",
            hypotheses=(
                rate > 0,
                norm >= 0,
                start <= norm / 2,
                end >= -norm / 2,
                end <= start - rate * total,
            ),
            conclusion=total <= norm / rate,
            uses=("one more step", "small losses"),
            establishes=("the losses are summable",),
        ),
    )


def _stays_apart() -> tuple[Step, ...]:
    """So the cross-ratio stays above a positive number, and two pairs cannot collapse."""
    dab, dcd, dac, dbd, eta, floor, chi = sp.symbols("D_ab D_cd D_ac D_bd eta kappa chi", real=True)
    first, factors = sp.symbols("chi_0 p", real=True)
    so_far, factor, after = sp.symbols("q f chi^{+}", real=True)
    return (
        Citation(
            name="product",
            says="So the infinite product of the factors is positive.",
            theorem=INFINITE_PRODUCTS,
            formula=r"\prod_{s \geq \tau_0}(1 - \epsilon_{ab}(s))(1 - \epsilon_{cd}(s)) > 0",
            uses=("losses", "summable"),
            establishes=("the product of the factors is positive",),
        ),
        Inequality(
            name="one more factor",
            says="By induction over the steps the cross-ratio is at least $\\chi_0$ times the product of the factors "
            "so far, $\\chi \\geq \\chi_0q$: with the factor $f = (1 - \\epsilon_{ab})(1 - \\epsilon_{cd})$ of the "
            "next step, $\\chi^{+} \\geq \\chi f$. The products fall to their limit $p \\leq q$.",
            hypotheses=(
                chi >= first * so_far,
                after >= chi * factor,
                first >= 0,
                factor >= 0,
                factors <= so_far * factor,
            ),
            conclusion=sp.And(after >= first * (so_far * factor), after >= first * factors),
            uses=("hardly smaller", "product"),
        ),
        Inequality(
            name="stays apart",
            says="Along an orbit on which $a, b \\to w$ and $c, d \\to -w$ the cross-ratio is therefore at least "
            "$\\chi_0p = \\kappa > 0$, with the infinite product $p$, if $\\chi_0 > 0$, that is, if $a \\neq b$ and "
            "$c \\neq d$ at the start.",
            hypotheses=(chi >= first * factors, first > 0, factors > 0, sp.Eq(floor, first * factors)),
            conclusion=sp.And(floor > 0, chi >= floor),
            uses=("one more factor",),
            needs=("the product of the factors is positive",),
            establishes=("the cross-ratio of different tokens stays above a positive number",),
        ),
        Inequality(
            name="collapse",
            says="But there $D_{ab}, D_{cd} \\leq \\eta$ for every $\\eta > 0$ at last, while $D_{ac}, D_{bd} \\to 4$: "
            "the cross-ratio is at most $\\eta^2 < \\kappa$, which is impossible.",
            hypotheses=(
                floor > 0,
                chi >= floor,
                sp.Eq(chi, dab * dcd / (dac * dbd)),
                dab >= 0,
                dcd >= 0,
                dab <= eta,
                dcd <= eta,
                dac >= 1,
                dbd >= 1,
                eta >= 0,
                eta**2 < floor,
            ),
            conclusion=sp.false,
            uses=("stays apart",),
            needs=("the cross-ratio of different tokens stays above a positive number",),
            establishes=(ONLY_EQUAL_TOKENS,),
        ),
    )


def _along_the_orbit() -> tuple[Step, ...]:
    """The losses of two tokens that come together are summable; so the cross-ratio does not tend to zero."""
    return (
        *_summable_losses(),
        *_stays_apart(),
    )


def cross_ratio_steps() -> tuple[Step, ...]:
    """No orbit with different tokens converges to a state with at least two tokens at each of two antipodal points."""
    return (*_one_step(), *_along_the_orbit())
