"""CL-8: consensus from a hemisphere, in which almost every start lies when there are at most d tokens.

It is AB-X1 on the sphere.  Reference: Geshkovski-et-al-perspective, from a formalisation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath
import numpy as np

from eigentoken.proofs.abella.ab_x01_exponential_consensus import AB_X1
from eigentoken.proofs.abella.hemisphere_examples import unbounded_freezes
from eigentoken.proofs.abella.spread import LOWEST_RISES, NESTED, SPREAD
from eigentoken.proofs.clusters.needed import negative_values_pull_apart
from eigentoken.proofs.clusters.sources import PERSPECTIVE, recorded
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.deterministic_data import det_tokens
from eigentoken.proofs.properties.token_fields import Array, precise, random_units, sphere
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.conditions import BoundedInTime, InHemisphere, IsIdentity, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector

U, W = matrix("U"), matrix("W")
CLAIMS = (Formula(LOWEST_RISES), Formula(NESTED), Formula(SPREAD))


def proof(kernel: Kernel) -> Proved:
    """Three claims of AB-X1: heights rise, hulls are nested, the spread shrinks exponentially."""
    known = kernel.recall(AB_X1)
    return kernel.conjunction(*(kernel.part(known, each.said) for each in CLAIMS))


def normal_of(x: Array) -> Array:
    """``w = X^+ 1 / |X^+ 1|``: all heights are equal where the tokens are independent."""
    solved = np.linalg.pinv(x) @ np.ones(len(x))
    return np.asarray(solved / np.linalg.norm(solved))


_PAIRS = [(i, j) for i in range(4) for j in range(i)]


def _diameter(cosines: Sequence[Any], heights: Sequence[Any]) -> Any:
    """The diameter of the central projections ``x_i / h_i`` of four tokens, from their cosines and heights."""
    squares = [
        1 / heights[i] ** 2 + 1 / heights[j] ** 2 - 2 * c / (heights[i] * heights[j])
        for c, (i, j) in zip(cosines, _PAIRS, strict=True)
    ]
    return mpmath.sqrt(max(squares))


def _of_cosines(t: Any, state: Sequence[Any]) -> list[Any]:
    """The speeds of the six cosines and the four heights of four tokens, beta = 1: a closed equation for ``V = I``."""
    cosines, heights = [[mpmath.mpf(1)] * 4 for _ in range(4)], state[6:]
    for c, (i, j) in zip(state[:6], _PAIRS, strict=True):
        cosines[i][j] = cosines[j][i] = c
    rows = [[mpmath.exp(c) for c in row] for row in cosines]
    weights = [[each / mpmath.fsum(row) for each in row] for row in rows]
    own = [mpmath.fdot(weights[i], cosines[i]) for i in range(4)]
    turned = [
        mpmath.fdot(weights[i], cosines[j]) + mpmath.fdot(weights[j], cosines[i]) - (own[i] + own[j]) * cosines[i][j]
        for i, j in _PAIRS
    ]
    return turned + [mpmath.fdot(weights[i], heights) - own[i] * heights[i] for i in range(4)]


def example() -> list[Any]:
    """beta = 1, normalised ``det_tokens(4, 5)``: height, rate, diameter at 0 and 5, lowest height at 5."""
    with mpmath.workdps(30):
        x = mpmath.matrix([[each / mpmath.norm(row) for each in row] for row in det_tokens(4, 5)])
        gram = x * x.T
        height = 1 / mpmath.sqrt(mpmath.fsum(mpmath.lu_solve(gram, mpmath.ones(4, 1))))
        start = [gram[i, j] for i, j in _PAIRS] + [height] * 4
        end = precise(_of_cosines, start, 5, 18)
        rate = 4 * height / (1 + 3 * mpmath.exp(2))
        return [height, rate, _diameter(start[:6], start[6:]), _diameter(end[:6], end[6:]), min(end[6:])]


def antipodal_pair_rests() -> Verdict:
    """``(w, -w)`` has no velocity, for any beta."""
    speeds = [np.abs(sphere(np.array([[1.0, 0], [-1, 0]]), np.eye(2), b * np.eye(2))).max() for b in (-2.0, 0.0, 3.0)]
    return holds("an antipodal pair rests") if max(speeds) == 0 else fails(f"speeds {speeds}")


def contraction(source: np.random.Generator) -> Mapping[str, float]:
    """Independent tokens have equal heights; the lowest height does not fall; the diameter shrinks at the rate stated."""
    n = int(source.integers(2, 5))
    d = int(source.integers(n, 6))
    x, w = random_units(source, n, d), None
    w = normal_of(x)
    heights = x @ w
    score = source.normal(size=(d, d))
    score /= np.linalg.norm(score, 2)
    speed = sphere(x, np.eye(d), score)
    rate = n * heights.min() / (1 + (n - 1) * np.exp(2.0))
    y = x / heights[:, None]
    moved = speed / heights[:, None] - y * (speed @ w / heights)[:, None]
    pairs = [(i, j) for i in range(n) for j in range(i)]
    far = max(pairs, key=lambda pair: float(np.linalg.norm(y[pair[0]] - y[pair[1]])))
    along = y[far[0]] - y[far[1]]
    size = float(along @ along)
    return {
        "equal heights": float(np.ptp(heights)),
        "a lowest height falls": float(-(speed @ w).min()) if n == 2 else 0.0,
        "the widest pair": float((moved[far[0]] - moved[far[1]]) @ along + rate * size) / max(1.0, size),
    }


CL_8 = register(
    Statement(
        id="CL-8",
        kind=Kind.THEOREM,
        source=recorded(PERSPECTIVE, "clustering from a hemisphere"),
        title="Consensus from a hemisphere with the identity as value matrix",
        systems=("ellipsoid-multihead-flow",),
        conditions=(
            IsIdentity(W),
            Symmetric(W),
            PositiveDefinite(W),
            IsIdentity(U),
            BoundedInTime("P"),
            InHemisphere(),
        ),
        claims=CLAIMS,
        proof=proof,
        depends=("AB-X1",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"If $n \le d$, almost every start lies in a hemisphere: for independent tokens $w = X^+\mathbf "
                r"1/|X^+\mathbf 1|$ "
                r"has equal heights. With weights that sum to one the central projections $y_i = x_i/w^{\top}x_i$ contract at "
                r"the rate $n\delta/(1 + (n - 1)e^{2b})$, $\delta$ the lowest height, $b$ the bound of the scores.",
            ),
        ),
        vectors=(
            Vector(
                "height, rate, diameters at t = 0 and 5, lowest height at 5",
                example,
                (
                    *("0.249480309101977", "0.043074804120368", "6.977236188811607"),
                    *("0.122687236711216", "0.676488862034515"),
                ),
            ),
        ),
        variants=(
            Variant(
                'BoundedInTime("P")',
                "$P(t) = e^{2t}I$ on the circle: the gap of two tokens freezes.",
                unbounded_freezes,
            ),
            Variant("IsIdentity(U)", "$U = -I$: two tokens at right angles part.", negative_values_pull_apart),
            Variant("InHemisphere()", "An antipodal pair rests.", antipodal_pair_rests),
        ),
        property_tests=(OnInstances(contraction),),
    )
)
