"""CL-9: equiangular tokens stay equiangular, and their common cosine obeys a scalar equation.

Reference: Geshkovski-et-al-perspective, from a formalisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.bounds.placement_claims import NEVER_FALLS, ROOM
from eigentoken.proofs.bounds.placement_claims import scalar_equation as scalar_equation_of
from eigentoken.proofs.clusters.equiangular_rate import rate
from eigentoken.proofs.clusters.sources import PERSPECTIVE, recorded
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import Array, random_units, sphere
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.kernel.propositions import proposition
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.places import Equiangular
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import Eigenvalue, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality

V, M = matrix("V"), matrix("M")


def slope(rho: Any, n: int, beta: Any, softmax: bool, exp: Any = mpmath.exp) -> Any:
    """``d rho/dt``: ``2 a (1 - rho)(1 + (n - 1) rho)`` with the weight a of another token."""
    other = exp(beta * rho)
    weight = other / (exp(beta) + (n - 1) * other) if softmax else other / n
    return 2 * weight * (1 - rho) * (1 + (n - 1) * rho)


def cosine(n: int, beta: Any, time: Any, softmax: bool = True) -> Any:
    """rho at a time from 0: the root of ``int_0^rho ds / slope(s) = t``."""
    with mpmath.workdps(25):

        def late(rho: Any) -> Any:
            return mpmath.quad(lambda s: 1 / slope(s, n, beta, softmax), mpmath.linspace(0, rho, 4)) - time

        return mpmath.findroot(late, (mpmath.mpf("0.05"), mpmath.mpf("0.9")), solver="anderson", tol=1e-40)


def hitting_times(n: int, beta: int, rho: Any) -> list[Any]:
    """The times from 0 to rho in closed form: USA, SA."""
    with mpmath.workdps(30):
        b, r, c = mpmath.mpf(beta), mpmath.mpf(rho), mpmath.mpf(1) / (n - 1)
        first = mpmath.ei(b) - mpmath.ei(b * (1 - r))
        second = mpmath.e1(b * c) - mpmath.e1(b * (r + c))
        plain = (mpmath.exp(-b) * first + mpmath.exp(b * c) * second) / 2
        logarithm = (n - 1) * mpmath.log((1 + (n - 1) * r) / (1 - r))
        return [plain, (first + mpmath.exp(b * (1 + c)) * second + logarithm) / (2 * n)]


def equiangular(n: int, d: int, rho: float) -> Array:
    """n unit vectors with all inner products rho, in dimension d >= n."""
    gram = np.full((n, n), rho) + (1 - rho) * np.eye(n)
    return np.hstack([np.linalg.cholesky(gram), np.zeros((n, d - n))])


def derive() -> Derivation:
    """The three kinds of tokens in the rate of ``x_i^T x_j``; two tokens; the order of the equilibria."""
    n, rho, own, other = sp.symbols("n rho e f", real=True)
    total = own + (n - 1) * other
    one_side = (own * 0 + other * (1 - rho**2) + (n - 2) * other * (rho - rho**2)) / total
    size, cos = sp.symbols("n c", real=True)
    return Derivation(
        (
            Identity(
                name="three kinds of tokens",
                says="With $e = e^{\\beta}$, $f = e^{\\beta\\rho}$: in $\\sum_ka_{ik}(x_k^{\\top}x_j - x_i^{\\top}x_k\\rho)$ "
                "token $i$ gives $0$, token $j$ gives $1 - \\rho^2$, each of the $n - 2$ others $\\rho - \\rho^2$.",
                left=2 * one_side,
                right=2 * other * (1 - rho) * (1 + (n - 1) * rho) / total,
            ),
            Inequality(
                name="between the simplex and consensus it rises",
                says="The slope is positive for $-\\frac1{n-1} < \\rho < 1$.",
                hypotheses=(size >= 2, (size - 1) * cos > -1, cos < 1),
                conclusion=(1 - cos) * (1 + (size - 1) * cos) > 0,
            ),
        )
    )


def scalar_equation(source: np.random.Generator) -> Mapping[str, float]:
    """All inner products move alike, with the slope stated, for both models and signs of beta."""
    n = int(source.integers(2, 6))
    d, beta = int(source.integers(n, 8)), float(source.uniform(-3, 3))
    rho = float(source.uniform(-0.95 / (n - 1), 0.95))
    turn = np.linalg.qr(source.normal(size=(d, d)))[0]
    x = equiangular(n, d, rho) @ turn
    found = {}
    for softmax in (True, False):
        speed = sphere(x, np.eye(d), beta * np.eye(d), softmax=softmax)
        moved = (speed @ x.T + x @ speed.T)[~np.eye(n, dtype=bool)]
        stated = slope(rho, n, beta, softmax, np.exp)
        found["SA" if softmax else "USA"] = gap(moved, np.full_like(moved, stated))
    near = 1e-6
    for softmax, rate_ in ((True, 2.0), (False, 2 * float(np.exp(beta)))):
        found["SA near 1" if softmax else "USA near 1"] = (
            abs(float(slope(1 - near, n, beta, softmax, np.exp)) / near / rate_ - 1) - 20 * near
        )
    return found


def two_tokens(source: np.random.Generator) -> Mapping[str, float]:
    """Any two tokens that are not antipodal approach each other, for every beta."""
    d, beta = int(source.integers(2, 6)), float(source.uniform(-5, 5))
    x = random_units(source, 2, d)
    speed = sphere(x, np.eye(d), beta * np.eye(d))
    moved, cos = float(speed[0] @ x[1] + speed[1] @ x[0]), float(x[0] @ x[1])
    return {"the equation": gap(moved, slope(cos, 2, beta, True, np.exp)), "they part": -moved}


def _pair_rate(value: int, own: tuple[int, int]) -> Any:
    """``(x_1^T x_2)'`` at two orthogonal tokens of the plane, ``V = v I`` and ``M = diag(a, b)``, exactly."""
    e = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    score = ((sp.Integer(own[0]), sp.Integer(0)), (sp.Integer(0), sp.Integer(own[1])))
    given = {"V": tuple(tuple(value * each for each in row) for row in e), "M": score}
    first, second = velocity("attention-flow", given, e)
    return sp.simplify(first[1] + second[0])


def negative_values_part() -> Verdict:
    """``V = -I``: two orthogonal tokens move apart."""
    found = _pair_rate(-1, (0, 0))
    return holds(f"the cosine falls at the rate {found}") if found < 0 else fails(f"the rate is {found}")


def uneven_scores() -> Verdict:
    """``M = diag(1, 0)``: the rate is ``1/(1 + e) + 1/2``, the equation with the larger eigenvalue gives ``2/(1 + e)``."""
    found, stated = _pair_rate(1, (1, 0)), 2 / (1 + sp.E)
    apart = evaluate(found - stated, 30).real
    return holds(f"the rate exceeds the stated one by {apart}") if apart > 0 else fails(f"the difference is {apart}")


_SPHERE = (IsIdentity(V), MultipleOf(M), *ROOM)
_RATE = (scalar_equation_of(Eigenvalue(M, 1)), NEVER_FALLS)

CL_9A = register(
    Statement(
        id="CL-9a",
        kind=Kind.LEMMA,
        source=recorded(PERSPECTIVE, "equiangular and orthogonal starts"),
        title="Equiangular tokens: the rate of their common cosine",
        systems=("attention-flow",),
        conditions=_SPHERE,
        claims=_RATE,
        proof=lambda k: rate(k, (proposition(_RATE[0]), proposition(_RATE[1]))),
        property_tests=(OnInstances(scalar_equation), OnInstances(two_tokens)),
        variants=(
            Variant("IsIdentity(V)", "$V = -I$: two orthogonal tokens move apart.", negative_values_part),
            Variant(
                "MultipleOf(M)",
                r"$M = \operatorname{diag}(1, 0)$, two orthogonal tokens: another rate than for either eigenvalue.",
                uneven_scores,
            ),
        ),
    )
)

CL_9 = register(
    Statement(
        id="CL-9",
        kind=Kind.THEOREM,
        source=recorded(PERSPECTIVE, "equiangular and orthogonal starts"),
        title="Equiangular tokens: an exact scalar equation",
        systems=("attention-flow",),
        conditions=_SPHERE,
        claims=(ForwardInvariant(Equiangular()), scalar_equation_of(Eigenvalue(M, 1))),
        claims_from=(("three kinds of tokens",), ("three kinds of tokens",)),
        text=r"Let $M = \beta I$ with any real $\beta$ and $x_i^{\top}x_j = \rho$ for all $i \neq j$ at the start, "
        r"$-\frac1{n-1} < "
        r"\rho < 1$. The tokens stay equiangular, $\dot\rho = \frac{2e^{\beta\rho}(1 - \rho)(1 + (n-1)\rho)}{e^{\beta} + "
        r"(n-1)e^{\beta\rho}}$, and $\rho$ increases to 1. In particular any two tokens that are not antipodal synchronise, for "
        r"every real $\beta$. With unnormalised weights $\dot\rho = \frac2ne^{\beta\rho}(1 - \rho)(1 + (n-1)\rho)$.",
        depends=("CL-9a",),
        derive=derive,
        prose_from=("three kinds of tokens", "between the simplex and consensus it rises"),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Of the scalar equations: the only other rest is the simplex $\rho = -\frac1{n-1}$, so no rate holds from every "
                r"start; near consensus $1 - \rho \sim Ce^{-2t}$ (softmax) and $Ce^{-2e^{\beta}t}$ (unnormalised); for $\beta = "
                r"0$ and $\rho(0) = 0$, $\rho = \frac{e^{2t} - 1}{e^{2t} + n - 1}$. Times from 0 in closed form (exponential "
                r"integrals) are the vectors.",
            ),
            Remark(
                RemarkKind.OPEN,
                "The second claim is proved by the kernel (CL-9a). That tokens which start equiangular stay so needs that "
                "solutions are unique, which no rule says: the steps are checked and put together by hand.",
            ),
        ),
        vectors=(
            Vector(
                "rho(1) from 0, n = 4: SA and USA with beta = 1, beta = 0",
                lambda: [cosine(4, 1, 1), cosine(4, 1, 1, False), (mpmath.e**2 - 1) / (mpmath.e**2 + 3)],
                ("0.479486782185420", "0.832087876468885", "0.614979458970125"),
            ),
            Vector(
                "SA: n = 8, beta = 4 at t = 2; n = 3, beta = -1 at t = 1",
                lambda: [cosine(8, 4, 2), cosine(3, -1, 1)],
                ("0.093652133991760", "0.757061725824429"),
            ),
            Vector(
                "times to rho = 0.9, n = 5, beta = 2: USA, SA",
                lambda: hitting_times(5, 2, "0.9"),
                ("0.825509682479215", "2.751404029405507"),
            ),
        ),
        property_tests=(OnInstances(scalar_equation), OnInstances(two_tokens)),
    )
)
