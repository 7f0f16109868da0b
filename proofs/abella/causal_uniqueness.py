"""AB-T5.1, the uniqueness of the bad start: two solutions that both tend to the antipode of the first token
separate."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from eigentoken.proofs.steps.reductions import grouped
from eigentoken.proofs.steps.tensor_reductions import applied
from eigentoken.proofs.steps.textbook import ALMOST_EVERYWHERE_GRONWALL
from eigentoken.proofs.steps.textbook_flows import EXPONENTIAL_GROWTH, MEAN_VALUE
from eigentoken.theory.statements.steps import Citation, Inequality, Step

__all__ = ["uniqueness_steps"]

GROWN = "minus the squared distance at time t is at most exp(k c_1 t) times minus the squared distance at the start"


def _lipschitz_weights() -> Iterator[Step]:
    """How two solutions for the same earlier tokens separate; their weights differ by a Lipschitz bound."""
    a, b, c, y, z, target = sp.symbols("a atilde c y ytilde y_j", real=True)
    s, delta, spread = sp.symbols("s delta Delta", real=True)
    weight, mean = sp.symbols("w m", real=True)
    total = sp.Function("Z", positive=True)(s)
    size = sp.Symbol("Z", positive=True)
    share = sp.exp(s * delta) / total
    yield applied(
        "two solutions",
        "Let $y, \\tilde y$ be two solutions of token $i$ for the same earlier tokens, and $g_j(y) = y_j - "
        "(y^{\\top}y_j)\\,y$ with $a = y^{\\top}y_j$, $\\tilde a = \\tilde y^{\\top}y_j$, $c = y^{\\top}\\tilde y$. "
        "Apply $(y - \\tilde y)^{\\top}$ to $g_j(y) - g_j(\\tilde y)$: it sends $y_j \\mapsto a - \\tilde a$, $y "
        "\\mapsto 1 - c$, $\\tilde y \\mapsto c - 1$, and $|y - \\tilde y|^2 = 2(1 - c)$.",
        (target - a * y) - (target - b * z),
        {target: a - b, y: 1 - c, z: c - 1},
        -(a + b) / 2 * (2 * (1 - c)),
        by="(y - \\tilde y)^{\\top}",
    )
    yield grouped(
        "slope of a weight",
        "The weights differ too. On the line from $\\tilde y$ to $y$ a score moves at the rate $\\delta = (y - \\tilde "
        "y)^{\\top}Py_j$, and the normaliser by $Z' = Zm$ with the mean $m$ of these rates (written for the "
        "exponential of one score, up to a constant factor); the weight $w$ moves by $w(\\delta - m)$.",
        lambda: [sp.diff(share, s).subs(sp.Derivative(total, s), total * mean).subs(total, size)],
        [sp.exp(s * delta) / size * (delta - mean)],
        "\\frac{d}{ds}\\,\\frac{e^{s\\delta}}{Z} = <1>",
    )
    yield Inequality(
        name="bounded slope",
        says="$|\\delta|, |m| \\le \\Delta = b\\,|y - \\tilde y|$, since $\\lVert P\\rVert \\le b$, and $0 \\le w \\le "
        "1$: the slope is at most $2\\Delta$.",
        hypotheses=(
            weight >= 0,
            weight <= 1,
            delta >= -spread,
            delta <= spread,
            mean >= -spread,
            mean <= spread,
        ),
        conclusion=sp.And(weight * (delta - mean) <= 2 * spread, weight * (delta - mean) >= -2 * spread),
        uses=("slope of a weight",),
        needs=("P is measurable and bounded in time",),
        establishes=("the derivative of a weight along a line is bounded",),
    )
    yield Citation(
        name="Lipschitz weights",
        says="So the weights of $y$ and $\\tilde y$ differ by at most $K|y - \\tilde y|$.",
        theorem=MEAN_VALUE,
        letters={"f": "a weight along a line"},
        uses=("bounded slope",),
        establishes=("a weight along a line is Lipschitz",),
        formula="|\\alpha_{ij}(y) - \\alpha_{ij}(\\tilde y)| \\le K\\,|y - \\tilde y|",
    )


def _separation() -> Iterator[Step]:
    """Near the antipode the push is small, and the squared distance grows exponentially."""
    z, target = sp.symbols("ytilde y_j", real=True)
    mean, product, eps = sp.symbols("m p epsilon", real=True)
    alpha, change, lipschitz, length, root, error, floor = sp.symbols("alpha beta K g r x c_1", real=True)
    count, gap = sp.symbols("k D", real=True)
    yield applied(
        "length of the push",
        "With $p = \\tilde y^{\\top}y_j$, apply $y_j^{\\top}$ to $g_j(\\tilde y) = y_j - p\\,\\tilde y$, which is "
        "orthogonal to $\\tilde y$: $|g_j(\\tilde y)|^2 = 1 - p^2$.",
        target - product * z,
        {target: sp.Integer(1), z: product},
        1 - product**2,
        by="y_j^{\\top}",
    )
    yield Inequality(
        name="small push",
        says="If $\\tilde y \\to -y_1$ and $y_j \\to y_1$, then $p \\to -1$, and the push vanishes:",
        hypotheses=(product >= -1, product <= -1 + eps, eps <= 1),
        conclusion=1 - product**2 <= 2 * eps,
        uses=("length of the push",),
    )
    yield Inequality(
        name="separation",
        says="Let both tend to $-y_1$: at late times $m = -(a + \\tilde a)/2 \\ge \\tfrac34$, and $Kg \\le c_1/4$ for "
        "$g = |g_j(\\tilde y)|$. With $r = |y - \\tilde y|$, $\\alpha = \\alpha_{ij}(y) \\ge c_1$ and the difference "
        "$\\beta$ of the weights, $|\\beta| \\le Kr$, each summand of $\\tfrac12\\tfrac{d}{dt}r^2$ is $\\alpha mr^2 + "
        "x$ with $|x| \\le |\\beta|gr$:",
        hypotheses=(
            floor > 0,
            alpha >= floor,
            mean >= sp.Rational(3, 4),
            root >= 0,
            length >= 0,
            change >= 0,
            change <= lipschitz * root,
            lipschitz * length <= floor / 4,
            error >= -change * length * root,
        ),
        conclusion=alpha * mean * root**2 + error >= floor / 2 * root**2,
        uses=("two solutions", "Lipschitz weights", "small push", "weights"),
        needs=(
            "a weight along a line is Lipschitz",
            "each token tends to the first one or to its antipode",
        ),
    )
    yield Inequality(
        name="all summands",
        says="There are $k$ pairs of an earlier token and a head: if each of them gives at least $\\tfrac12c_1r^2$, "
        "that is, if their mean $x$ is at least that, the squared distance $D = r^2$ grows at the rate $\\dot D = "
        "2kx$ or more.",
        hypotheses=(count >= 1, error >= floor / 2 * gap),
        conclusion=-2 * count * error <= count * floor * (-gap),
        uses=("separation",),
        needs=("solutions exist, are unique and absolutely continuous",),
        establishes=(
            "minus the squared distance is absolutely continuous, with a derivative of at most k c_1 times minus the "
            "squared distance almost everywhere",
        ),
    )
    yield Citation(
        name="growth of the distance",
        says="So it grows exponentially from a late time $T$ on.",
        theorem=ALMOST_EVERYWHERE_GRONWALL,
        letters={"u": "minus the squared distance", "k": "k c_1"},
        uses=("all summands",),
        formula="-D(t) \\le -e^{kc_1(t - T)}D(T)",
        establishes=(GROWN,),
    )


def _one_solution() -> Iterator[Step]:
    """But it is bounded: the two solutions are one."""
    c = sp.Symbol("c", real=True)
    floor = sp.Symbol("c_1", real=True)
    count, gap, coordinate, others = sp.symbols("k D u R", real=True)
    yield Inequality(
        name="but it is bounded",
        says="The rate is positive, and $D = 2(1 - c)$ with $c \\ge -1$ is at most 4.",
        hypotheses=(count >= 1, floor > 0, c >= -1, sp.Eq(gap, 2 * (1 - c))),
        conclusion=sp.And(count * floor > 0, gap <= 4),
        uses=("growth of the distance",),
        needs=(GROWN,),
        establishes=(
            "from T on the squared distance is at least its value at T times a growing exponential",
            "the squared distance is bounded",
        ),
    )
    yield Citation(
        name="no distance",
        says="So $D(T)$ is not positive.",
        theorem=EXPONENTIAL_GROWTH,
        letters={"q": "the squared distance"},
        uses=("but it is bounded",),
        formula="D(T) \\le 0",
        establishes=("the squared distance is at most zero at time T",),
    )
    yield Inequality(
        name="uniqueness",
        says="A sum of squares that is not positive has no term: the two solutions agree at time $T$, and the time-$T$ "
        "map is one to one.",
        hypotheses=(coordinate**2 + others <= 0, others >= 0),
        conclusion=sp.Eq(coordinate, 0),
        uses=("no distance", "flow maps"),
        needs=(
            "the squared distance is at most zero at time T",
            "the time-T maps are homeomorphisms of the state space",
        ),
        establishes=("there is at most one bad start", "every section of B_i has at most one point"),
    )


def uniqueness_steps() -> Iterator[Step]:
    """Two solutions that both tend to the antipode separate exponentially, so they are one."""
    yield from _lipschitz_weights()
    yield from _separation()
    yield from _one_solution()
