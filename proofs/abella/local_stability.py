"""AB-T6.1, stability of ``(v, ..., v)`` where P depends on time: a Lyapunov function with a remainder that is uniform in time.

Negative multipliers alone say nothing for a system that depends on time.  Here the linear part does not depend on time, and
the remainder is at most ``C |eta|^2`` with one C for all times, since the entries of P(t) stay in a compact set.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from eigentoken.proofs.steps.textbook import ALMOST_EVERYWHERE_GRONWALL, BOOTSTRAP
from eigentoken.proofs.steps.textbook_flows import LYAPUNOV_EQUATION, TAYLOR_UNIFORM
from eigentoken.proofs.steps.textbook_maps import BLOCK_TRIANGULAR
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["STABLE", "local_stability_steps"]

FIELD, LINEAR, ROOM = "the field in the chart", "J", "the room inside the ball"
REMAINDER = f"near the point {FIELD} is {LINEAR} up to a constant times the squared distance, for all parameters"
SOLUTION = "J^T Q + Q J = -1 has a positive definite solution Q"
ENERGY = "the form of Q, inside the ball,"
DECAY = f"{ENERGY} at time t is at most exp(-c t) times {ENERGY} at the start"
STABLE = "the consensus on v is exponentially stable, uniformly in time"


def _linear_part() -> Iterator[Step]:
    """The linear part does not depend on time, its spectrum is negative, the remainder quadratic."""
    weight, lam, v, image, product = sp.symbols("alpha_ij lambda v Uv s", real=True)
    block, value = sp.symbols("mu nu", real=True)
    n, room = sp.symbols("n r_0", real=True)
    gap = sp.Symbol("g", real=True)
    yield Identity(
        name="weights drop out",
        says="In the chart $\\eta = (P_vy_1, \\dots, P_vy_{\\ell})$, $P_v = 1 - vv^{\\top}$, the weights enter the "
        "linear part at $(v, \\dots, v)$ only by their values $1/(i\\sqrt d)$: their variation multiplies $Uv - "
        "(v^{\\top}Uv)\\,v$, where $s = v^{\\top}Uv = \\lambda$ (coordinatewise). So the field vanishes there and its "
        "linear part $J$ is the same for every $P$: it does not depend on time.",
        left=weight * (image - product * v),
        right=sp.Integer(0),
        where={image: lam * v, product: lam},
        needs=("the field is measurable in time and Lipschitz in the state with an integrable bound",),
        establishes=(
            f"{FIELD} is a smooth function of the state and of parameters",
            f"{FIELD} vanishes at the point, with the linear part {LINEAR}, for all parameters",
            "J is block triangular",
        ),
    )
    yield Inequality(
        name="compact parameters",
        says="The parameters are the entries $g$ of $P(t)$, which stay in the compact interval $[-b, b]$, $|g| \\le "
        "\\lVert P\\rVert \\le b$ (here $b = r_0$).",
        hypotheses=(gap <= n, -gap <= n, n <= room),
        conclusion=sp.And(gap <= room, gap >= -room),
        needs=("P is measurable and bounded in time",),
        establishes=("the parameters stay in a compact set",),
    )
    yield Citation(
        name="uniform remainder",
        says="So with one constant $C$ for all times, for $|\\eta| \\le \\tfrac12$,",
        theorem=TAYLOR_UNIFORM,
        letters={"f": FIELD, "J": LINEAR},
        uses=("weights drop out", "compact parameters"),
        formula="|\\dot\\eta - J\\eta| \\le C\\,|\\eta|^2",
        establishes=(REMAINDER,),
    )
    yield Citation(
        name="blocks",
        says="Token $i$ sees tokens $j \\le i$ only: $J$ is block triangular, and",
        theorem=BLOCK_TRIANGULAR,
        letters={"A": LINEAR},
        uses=("weights drop out",),
        formula="\\operatorname{spec} J = \\bigcup_i\\operatorname{spec} J_{ii}",
        establishes=("the eigenvalues of J are those of its diagonal blocks",),
    )
    yield Inequality(
        name="negative spectrum",
        says="So each eigenvalue $\\nu$ of $J$ is a multiplier $\\mu$ of one token, which is negative.",
        hypotheses=(sp.Eq(value, block), block < 0),
        conclusion=value < 0,
        uses=("blocks", "local stability"),
        needs=(
            "the eigenvalues of J are those of its diagonal blocks",
            "the eigenvalues of the diagonal blocks of J are negative",
        ),
        establishes=("all eigenvalues of J have negative real parts",),
    )


def _quadratic_form() -> Iterator[Step]:
    """A form that decreases, by Lyapunov's equation."""
    n, q, constant, rate, form = sp.symbols("n q C c F", real=True)
    yield Citation(
        name="Lyapunov's equation",
        says="So there is a form that decreases along the linear flow of $J$.",
        theorem=LYAPUNOV_EQUATION,
        letters={"J": LINEAR},
        uses=("negative spectrum",),
        formula="J^{\\top}Q + QJ = -1, \\qquad Q \\succ 0",
        establishes=(SOLUTION,),
    )
    yield Inequality(
        name="slope of the form",
        says="Let $F = \\eta^{\\top}Q\\eta$, $n = |\\eta|$, $q = \\lVert Q\\rVert$. For almost every $t$, $\\dot F "
        "\\le -n^2 + 2qCn^3$; for $n \\le r_0 = \\min\\{\\tfrac12, 1/(4qC)\\}$ this is at most $-\\tfrac12n^2 \\le "
        "-cF$ with $c = 1/(2q)$, because $F \\le qn^2$.",
        hypotheses=(
            n >= 0,
            q > 0,
            constant > 0,
            4 * q * constant * n <= 1,
            form <= q * n**2,
            sp.Eq(rate, 1 / (2 * q)),
        ),
        conclusion=-(n**2) + 2 * q * constant * n**3 <= -rate * form,
        uses=("uniform remainder", "Lyapunov's equation"),
        needs=(REMAINDER, SOLUTION, "solutions exist, are unique and absolutely continuous"),
        establishes=(
            f"{ENERGY} is absolutely continuous, with a derivative of at most -c times {ENERGY} almost everywhere",
        ),
    )
    yield Citation(
        name="decay inside the ball",
        says="So, as long as $n \\le r_0$,",
        theorem=ALMOST_EVERYWHERE_GRONWALL,
        letters={"u": ENERGY, "k": "-c"},
        uses=("slope of the form",),
        formula="F(t) \\le e^{-ct}F(0)",
        establishes=(DECAY,),
    )


def _exponential_stability() -> Iterator[Step]:
    """The trajectory stays in the ball where it decreases, and decays."""
    n, q, low, form, start, first, room = sp.symbols("n q m F F_0 n_0 r_0", real=True)
    factor = sp.Symbol("E", real=True)
    yield Inequality(
        name="room",
        says="Let $m = \\lambda_{\\min}(Q)$ and let the start satisfy $qn_0^2 < mr_0^2$. As long as the room $r_0^2 - "
        "n^2$ is positive, $mn^2 \\le F \\le EF_0 \\le qn_0^2$ with $E = e^{-ct} \\le 1$: it is at least $r_0^2 - "
        "qn_0^2/m > 0$.",
        hypotheses=(
            low > 0,
            low * n**2 <= form,
            form <= factor * start,
            factor <= 1,
            start >= 0,
            start <= q * first**2,
            q * first**2 < low * room**2,
        ),
        conclusion=sp.And(room**2 - n**2 >= room**2 - q * first**2 / low, room**2 - q * first**2 / low > 0),
        uses=("decay inside the ball",),
        needs=(DECAY,),
        establishes=(
            f"{ROOM} is continuous in time and positive at the start",
            f"as long as {ROOM} is positive, it is at least a positive continuous function of time",
        ),
    )
    yield Citation(
        name="inside for ever",
        says="So the trajectory never leaves the ball.",
        theorem=BOOTSTRAP,
        letters={"q": ROOM},
        uses=("room",),
        formula="|\\eta(t)| < r_0 \\quad\\text{for all } t \\ge 0",
        establishes=(f"{ROOM} is positive at all times",),
    )
    yield Inequality(
        name="exponential stability",
        says="And then $mn^2 \\le F \\le EF_0 \\le Eqn_0^2$ at all times: $n^2 \\le (q/m)\\,e^{-ct}n_0^2$.",
        hypotheses=(low > 0, factor >= 0, low * n**2 <= form, form <= factor * start, start <= q * first**2),
        conclusion=n**2 <= q / low * factor * first**2,
        uses=("inside for ever", "decay inside the ball"),
        needs=(f"{ROOM} is positive at all times", DECAY),
        establishes=(STABLE,),
    )


def local_stability_steps() -> Iterator[Step]:
    """From the local spectrum, which is negative, to exponential stability."""
    yield from _linear_part()
    yield from _quadratic_form()
    yield from _exponential_stability()
