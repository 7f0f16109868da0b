"""AB-T5.1, null sets and stability: the starts without consensus at the first token have measure zero."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from eigentoken.proofs.steps.textbook import FUBINI
from eigentoken.proofs.steps.textbook_flows import EXPONENTIAL_DECAY, NO_ATOMS, NULL_UNION, OPEN_PREIMAGES
from eigentoken.theory.language.conditions import InHemisphere
from eigentoken.theory.statements.registry import recalled
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["measure_steps", "stability_steps"]

DECAY = (
    "the largest squared distance to w_1 at time t is at most exp(-2a t) times the largest squared distance to w_1 at "
    "the start"
)
COMPARABLE = "the projected distance is comparable with the distance"
NULL = "the set of starts without consensus at y_1 has measure zero"


def _null_sections() -> Iterator[Step]:
    """Sections of one point; and the hemisphere goes to consensus."""
    h, far, near, far_0, factor = sp.symbols("h x d x_0 E", real=True)
    yield Citation(
        name="null sections",
        says="Let $B_i$ be the starts for which $y_1, \\dots, y_{i-1}$ converge to $y_1$ and $y_i$ does not. For given "
        "$y_1, \\dots, y_{i-1}$ its section is empty or a point of $S^n$, $n \\ge 1$.",
        theorem=NO_ATOMS,
        letters={"B": "B_i"},
        uses=("uniqueness",),
        establishes=("every section of B_i has measure zero",),
    )
    yield recalled(
        "AB-X1",
        DECAY,
        "Where all heights are positive the distances to the first token, in the central projection $w_i = y_i/h_i$ "
        "along $v = y_1$, decay exponentially.",
        "\\max_i|w_i(t) - w_1|^2 \\le e^{-2at}\\max_i|w_i(0) - w_1|^2",
        name="decay in the hemisphere",
        letters={"W": "I"},
        assuming=(InHemisphere(),),
    )
    yield Identity(
        name="central projection",
        says="With $h = y_1^{\\top}y_i$: $w_1 = y_1$, and $|w_i - w_1|^2 = 1/h^2 - 2 + 1$ (products of $w_i$ and $w_1$ "
        "are $1/h^2$, $1$ and $1$), that is",
        left=1 / h**2 - 2 + 1,
        right=(1 - h**2) / h**2,
    )
    yield Inequality(
        name="consensus from the hemisphere",
        says="The squared distance $d = |y_i - y_1|^2 = 2(1 - h)$ is at most $x = |w_i - w_1|^2 \\le Ex_0$, where "
        "$x_0$ is the largest one at the start and $E = e^{-2at}$.",
        hypotheses=(
            h > 0,
            h <= 1,
            sp.Eq(far, (1 - h**2) / h**2),
            sp.Eq(near, 2 * (1 - h)),
            far <= factor * far_0,
        ),
        conclusion=sp.And(near >= 0, near <= factor * far_0),
        uses=("decay in the hemisphere", "central projection"),
        needs=(DECAY,),
        discharges=(InHemisphere(),),
        establishes=(
            "the squared distance to y_1, from the hemisphere, lies between zero and a decaying exponential of time",
        ),
    )
    yield Citation(
        name="all starts in the hemisphere",
        says="So a state with positive heights goes to consensus at $y_1$.",
        theorem=EXPONENTIAL_DECAY,
        letters={"q": "the squared distance to y_1, from the hemisphere,"},
        uses=("consensus from the hemisphere",),
        formula="|y_i(t) - y_1| \\to 0",
        establishes=("the squared distance to y_1, from the hemisphere, tends to zero",),
    )


def _null_set() -> Iterator[Step]:
    """The exceptional sets are Borel sets of measure zero."""
    a, reached, next_one = sp.symbols("a p c", real=True)
    yield Inequality(
        name="entrance",
        says="And a start that goes to consensus has, at some time $T$, heights within $\\tfrac12$ of one, which are "
        "positive. So the domain of attraction of the first $i$ tokens is the union over $T = 1, 2, \\dots$ of the "
        "preimages of the open set of positive heights under the time-$T$ maps, and $B_i$ is a difference of two such "
        "sets.",
        hypotheses=(a > 1 - sp.Rational(1, 2),),
        conclusion=a > 0,
        uses=("all starts in the hemisphere", "positive heights"),
        needs=(
            "the squared distance to y_1, from the hemisphere, tends to zero",
            "the sets G_T are preimages of an open set under time-T maps",
        ),
        establishes=("B_i is a difference of countable unions of preimages of open sets under time-T maps",),
    )
    yield Citation(
        name="measurable",
        says="So $B_i$ is a Borel set.",
        theorem=OPEN_PREIMAGES,
        letters={"B": "B_i"},
        uses=("entrance", "flow maps"),
        establishes=("B_i is measurable",),
    )
    yield Citation(
        name="measure zero",
        says="So each $B_i$ has measure zero.",
        theorem=FUBINI,
        letters={"B": "B_i"},
        uses=("null sections", "measurable"),
        formula="\\operatorname{meas} B_i = 0",
        establishes=("B_i has measure zero",),
    )
    yield Identity(
        name="the first token that fails",
        says="Let $p$ be one if the tokens before $i$ converge to $y_1$ and zero if not, and $c$ the same for token "
        "$i$. The difference of this product for $i$ and for $i + 1$ is one exactly on $B_i$; the sum of these "
        "differences over $i$ is one exactly where consensus fails: these starts are the union of the $B_i$, $i = 2, "
        "\\dots, \\ell$.",
        left=reached - reached * next_one,
        right=reached * (1 - next_one),
        establishes=("the set of starts without consensus at y_1 is a finite union of sets B_i",),
    )
    yield Citation(
        name="almost every start",
        says="So almost every start goes to consensus at $y_1$.",
        theorem=NULL_UNION,
        letters={"B": "B_i", "C": "the set of starts without consensus at y_1"},
        uses=("measure zero", "the first token that fails"),
        formula="\\operatorname{meas}\\{(y_1, \\dots, y_{\\ell}) : \\text{no consensus at } y_1\\} = 0",
        establishes=(NULL,),
    )


def measure_steps() -> Iterator[Step]:
    """The starts without consensus at the first token: a finite union of measurable sets with sections of one point."""
    yield from _null_sections()
    yield from _null_set()


def stability_steps() -> Iterator[Step]:
    """In the central projection along the first token the distances are comparable, and decay."""
    h, far, near, start, far_0, factor = sp.symbols("h x d d_0 x_0 E", real=True)
    yield Inequality(
        name="comparable distances",
        says="For $h \\ge \\tfrac12$ the squares $x = |w_i - w_1|^2$ and $d = |y_i - y_1|^2 = 2(1 - h)$ satisfy $d "
        "\\le x \\le 4d$.",
        hypotheses=(h >= sp.Rational(1, 2), h <= 1, sp.Eq(far, (1 - h**2) / h**2), sp.Eq(near, 2 * (1 - h))),
        conclusion=sp.And(near <= far, far <= 4 * near),
        uses=("central projection",),
        establishes=(COMPARABLE,),
    )
    yield Inequality(
        name="stability",
        says="So near the consensus set $d(t) \\le x(t) \\le E\\,x(0) \\le 4E\\,d(0)$ with a factor $E \\le 1$ that "
        "decays exponentially: the consensus set is asymptotically stable.",
        hypotheses=(near <= far, far <= factor * far_0, far_0 <= 4 * start, factor >= 0),
        conclusion=near <= 4 * factor * start,
        uses=("comparable distances", "decay in the hemisphere"),
        discharges=(InHemisphere(),),
        needs=(DECAY, COMPARABLE),
        establishes=("the consensus set is asymptotically stable",),
    )
