"""CL-14: strong Renyi centres: a token that is far from all earlier ones hardly moves for a long time.

Reference: Karagodin-Polyanskiy-Rigollet, from a formalisation; the constants are explicit, the expected number is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.needed import first_token_moves
from eigentoken.proofs.clusters.sources import CAUSAL, recorded
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import on_circle, run, sphere
from eigentoken.theory.calculus import Index, MaskEntry, delta, dot, factor, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, proposition
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import IsIdentity, Relation
from eigentoken.theory.language.terms import d, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector

U = matrix("U")
_I, _J, _K = (Index("token", name) for name in "ijl")
_HERE, _THERE, _Z = vector("x", _I), vector("x", _J), VectorLetter("z")
_MOST = sp.Symbol("h", nonnegative=True)
_BEHIND = Tensor(dot(_HERE, _THERE - _HERE, product("P")))
_PULL = sp.exp(2 * _BEHIND) * (1 - Tensor(dot(_HERE, _THERE)) ** 2)
_EARLIER = Conjunction(
    (
        proposition(sp.Eq(Tensor(factor(MaskEntry("causal", _I, _J))), 1, evaluate=False)),
        proposition(sp.Eq(Tensor(delta(_I, _J)), 0, evaluate=False)),
    )
)
_WEAK = ForAll(_J, _EARLIER, proposition(sp.Le(_PULL, _MOST**2, evaluate=False)))
_SPEED = Rate(dot(vector(_Z.name), _HERE)) ** 2 * d
_COUNT = Tensor(factor(MaskEntry("causal", _I, _K)).summed(_K)) - 1
_LENGTH = Tensor(dot(vector(_Z.name), vector(_Z.name)))
#: Where ``e^{x_i^T P (x_j - x_i)} sin(x_i, x_j) <= h`` for every earlier token j: ``sqrt(d) |z^T dx_i/dt| <= (i - 1) h |z|``.
SLOW = ForAll(
    _I,
    TRUE,
    ForAll(_MOST, _WEAK, ForAll(_Z, TRUE, proposition(sp.Le(_SPEED, (_COUNT * _MOST) ** 2 * _LENGTH, evaluate=False)))),
)


def pull(angle: Any, beta: Any, numbers: Any = mpmath) -> Any:
    """``h(x) = e^{beta (cos x - 1)} sin x``: the most that a token at this distance can pull."""
    return numbers.exp(beta * (numbers.cos(angle) - 1)) * numbers.sin(angle)


def steepest(beta: Any, numbers: Any = mpmath) -> Any:
    """``x*``, where h is largest."""
    return numbers.acos((-1 + numbers.sqrt(1 + 4 * beta**2)) / (2 * beta))


def constants() -> list[Any]:
    """beta = 64, eta = 3/8, epsilon = 1/5, s = 3: x*, h(eta) and the largest T."""
    with mpmath.workdps(30):
        eta, epsilon = mpmath.mpf(3) / 8, mpmath.mpf(1) / 5
        return [steepest(mpmath.mpf(64)), pull(eta, 64), epsilon * eta / (3 * pull(eta, 64))]


def displacement(angles: tuple[float, ...], time: float = 5.8, beta: float = 64.0) -> float:
    """How far the last token of a causal flow on the circle moves."""

    def field(t: float, state: Any) -> Any:
        theta = state[0]
        speed = sphere(on_circle(theta), np.eye(2), beta * np.eye(2), causal=True)
        return np.array([speed[:, 1] * np.cos(theta) - speed[:, 0] * np.sin(theta)])

    (end,) = run(field, np.array([angles]), [time])
    return float(end[0, -1] - angles[-1])


def expected(count: int, share: Any) -> Any:
    """``(1 - (1 - p)^n) / p``."""
    return (1 - (1 - share) ** count) / share


def expectations() -> list[Any]:
    """n = 10, radius 1/2 and n = 100, radius 1/10 on the circle; n = 50, radius 1/2 on the sphere of dimension 2."""
    with mpmath.workdps(30):
        half, tenth = mpmath.mpf(1) / 2, mpmath.mpf(1) / 10
        return [
            expected(10, half / mpmath.pi),
            expected(100, tenth / mpmath.pi),
            expected(50, (1 - mpmath.cos(half)) / 2),
        ]


def ordinary_centre_moves() -> Verdict:
    """beta = 64, angles (0, 0.45, 0.75): token 3 is 0.75 > 0.525 from centre 1 but 0.3 from token 2; at the start already its
    speed towards token 2 exceeds ``epsilon eta / T``, the mean speed that the bound allows."""
    speed = sphere(on_circle([0, 0.45, 0.75]), np.eye(2), 64 * np.eye(2), causal=True)[2]
    allowed, size = 0.075 / 5.8, float(np.linalg.norm(speed))
    moved = displacement((0.0, 0.45, 0.75))
    if size > allowed and abs(moved) > 0.075:
        return holds(f"it moves by {moved:.4f} until t = 5.8, where 0.075 is allowed")
    return fails(f"speed {size}, displacement {moved}")


def slow_at_the_start(source: np.random.Generator) -> Mapping[str, float]:
    """All earlier tokens farther than eta: the speed is at most ``(s - 1) h(eta)``; and h is largest at x*."""
    beta, count = float(source.uniform(5, 200)), int(source.integers(2, 7))
    peak = float(steepest(beta, _Numpy))
    eta = float(source.uniform(peak, 2.5))
    angles = np.append(source.uniform(eta, 2 * np.pi - eta, size=count - 1), 0.0)
    speed = float(np.linalg.norm(sphere(on_circle(list(angles)), np.eye(2), beta * np.eye(2), causal=True)[-1]))
    other = float(source.uniform(0, np.pi))
    return {
        "speed": speed - (count - 1) * float(pull(eta, beta, np)),
        "largest": float(pull(other, beta, np) - pull(peak, beta, np)),
    }


class _Numpy:
    """The names of mpmath that :func:`steepest` uses."""

    acos, sqrt = staticmethod(np.arccos), staticmethod(np.sqrt)


def counted(source: np.random.Generator) -> Mapping[str, float]:
    """The expected number is the sum of the probabilities ``(1 - p)^(k - 1)`` that token k is a strong centre."""
    share, count = float(source.uniform(0.01, 0.5)), int(source.integers(1, 60))
    return {"sum of probabilities": gap(sum((1 - share) ** k for k in range(count)), expected(count, share))}


CL_14 = register(
    Statement(
        id="CL-14",
        kind=Kind.LEMMA,
        source=recorded(CAUSAL, "strong Renyi centres"),
        title="Strong Renyi centres move slowly; how many there are",
        systems=("causal-flow",),
        conditions=(IsIdentity(U), Relation(sp.Eq(d, 2))),
        claims=(Formula(SLOW),),
        text=r"Let $P = \beta I$, $\beta > 0$, with weights that sum to one, $h(x) = e^{\beta(\cos x - 1)}\sin x$, "
        r"largest at $x^*$ "
        r"with $\cos x^* = \frac{-1 + \sqrt{1 + 4\beta^2}}{2\beta}$. If token $s$ starts at a distance above $(1 + "
        r"2\varepsilon)\eta$ from all earlier tokens, $x^* < \eta < \pi$, then $|x_s(t) - x_s(0)| < \varepsilon\eta$ as long as "
        r"$s\,h(\eta)\,t < \varepsilon\eta$. Of $n$ independent uniform tokens on $S^{d-1}$ the expected number with no earlier "
        r"token within $\delta$ is $\frac{1 - (1-p)^n}p$, $p$ the share of a cap of angular radius $\delta$.",
        notes=(
            Remark(
                RemarkKind.OPEN,
                "Proved by a continuity argument on the circle, written out; no derivation of the kernel.",
            ),
        ),
        vectors=(
            Vector("x*, h(eta), T", constants, ("0.124836670053731", "0.004288193178417", "5.829961235382")),
            Vector("displacement from (0, 1.2, 0.65)", lambda: [displacement((0.0, 1.2, 0.65))], ("0.000234703767",)),
            Vector("an ordinary centre", lambda: [displacement((0.0, 0.45, 0.75))], ("-0.198495251312",)),
            Vector("expected numbers", expectations, ("5.173142766798662", "30.179217141963523", "15.643094742125181")),
        ),
        variants=(
            Variant(
                "IsIdentity(U)",
                "$U = \\operatorname{diag}(2, 1)$: the first token, which sees no earlier one, moves.",
                first_token_moves,
            ),
            Variant(
                "far from all earlier tokens",
                "An ordinary centre, far from earlier centres only, moves by $-0.198$ where $0.075$ is allowed.",
                ordinary_centre_moves,
            ),
        ),
        property_tests=(OnInstances(slow_at_the_start), OnInstances(counted)),
    )
)
