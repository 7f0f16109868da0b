"""BD-D1, BD-D2, BD-D3, BD-H2: what one attention layer can do to the diversity of its tokens, and to one direction.

New here: own derivations.

``Pi = I - 1 1^T/n``; diversity ``|Pi X|_F``; tokens are rows of X.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.head_map import HULL, SPREAD, hull, spread
from eigentoken.proofs.bounds.heads import centred, diameter, norm, stochastic, variation
from eigentoken.proofs.bounds.skip_layer import (
    DIRECTION,
    DIVERSITY,
    DIVERSITY_FROM_NORMS,
    direction,
    diversity,
    diversity_from_norms,
)
from eigentoken.proofs.properties.checks import OnInstances, above, gap
from eigentoken.proofs.properties.exact_points import decimals
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)


def _pi(n: int) -> Any:
    return np.eye(n) - np.ones((n, n)) / n


def one_head_no_skip(source: np.random.Generator) -> Mapping[str, float]:
    """BD-D1: Frobenius and diameter, the largest ``|Pi A Pi|``."""
    n, d = int(source.integers(2, 7)), int(source.integers(1, 5))
    A, X, U = stochastic(source, n, bool(source.random() < 0.3)), source.normal(size=(n, d)), source.normal(size=(d, d))
    Y, size = A @ X @ U.T, norm(_pi(n) @ A @ _pi(n))
    apart = [
        above(variation(A[i], A[j]) * diameter(X @ U.T), np.linalg.norm(Y[i] - Y[j]))
        for i in range(n)
        for j in range(n)
    ]
    top = np.sqrt(n / 2) if n % 2 == 0 else np.sqrt((n * n - 1) / (2 * n))
    return {
        "commutes": gap(_pi(n) @ A, _pi(n) @ A @ _pi(n)),
        "frobenius": above(size * norm(U) * np.linalg.norm(centred(X)), np.linalg.norm(centred(Y))),
        "diameter": max(apart),
        "largest": above(top, size),
    }


def layer_with_skip(source: np.random.Generator) -> Mapping[str, float]:
    """BD-D2 (a), (b), (c) and BD-D3 on a layer of several heads with a skip of any weight, on all tokens and on some."""
    n, d, h = int(source.integers(2, 7)), int(source.integers(2, 6)), int(source.integers(1, 4))
    width = int(source.integers(1, d + 1))
    X, seen = source.normal(size=(n, d)), source.normal(size=(n, d))
    V, O = source.normal(size=(h, width, d)), source.normal(size=(h, d, width))
    A = [stochastic(source, n, bool(source.random() < 0.3)) for _ in range(h)]
    skip, constant = float(source.normal()), source.normal(size=d)
    rows = np.sort(source.choice(n, size=int(source.integers(1, n + 1)), replace=False))
    update = sum(A[k] @ seen @ V[k].T @ O[k].T for k in range(h))
    Y = skip * X + update + constant
    change = abs(np.linalg.norm(centred(Y[rows])) - abs(skip) * np.linalg.norm(centred(X[rows])))
    m, whole, stacked = len(rows), np.concatenate(list(O), axis=1), np.concatenate(list(V))
    left = [_pi(m) @ A[k][rows] for k in range(h)]
    sizes, spread_of = [norm(each @ _pi(n)) for each in left], np.linalg.norm(centred(seen))
    aware = norm(whole) * np.linalg.norm(np.concatenate([left[k] @ seen @ V[k].T for k in range(h)], axis=1))
    pooled = norm(whole) * norm(stacked) * max(sizes) * spread_of
    single = sum(norm(O[k] @ V[k]) * sizes[k] for k in range(h)) * spread_of
    reach = [np.linalg.norm(centred(seen) @ V[k].T, axis=1).max() for k in range(h)]
    agnostic = norm(whole) * np.sqrt(m * np.sum(np.square(reach)))
    return {
        "a": above(aware, change),
        "b": above(pooled, change),
        "c": above(single, change),
        "D3": above(agnostic, change),
        "a below b": above(pooled, aware),
        "a below D3": above(agnostic, aware),
    }


def one_direction(source: np.random.Generator) -> Mapping[str, float]:
    """BD-H2: the height of every token after the layer, whatever the weights."""
    n, d, h = int(source.integers(1, 6)), int(source.integers(1, 5)), int(source.integers(1, 4))
    X, seen, U = source.normal(size=(n, d)), source.normal(size=(n, d)), source.normal(size=(h, d, d))
    u, alpha = source.normal(size=d), float(source.uniform(0, 2))
    Y = X + alpha * sum(stochastic(source, n) @ seen @ U[k].T for k in range(h))
    heights = [seen @ U[k].T @ u for k in range(h)]
    low = X @ u + alpha * sum(each.min() for each in heights)
    high = X @ u + alpha * sum(each.max() for each in heights)
    return {"below": above(Y @ u, low), "above": above(high, Y @ u)}


def _larger_residual() -> list[Any]:
    """``|Pi X|_F``, ``|Pi Y|_F``, the diameters before and after, for CX-D1."""
    t = sp.Rational(1, 10)
    X = sp.Matrix([[1, t], [-1, -t], [0, t], [0, -t]])
    P, U = 10 * sp.log(9) * sp.Matrix([[0, 0], [1, 0]]), sp.diag(1, 0)
    scores = X * P * X.T
    A = sp.Matrix(4, 4, lambda i, j: sp.exp(scores[i, j]))
    A = sp.Matrix(4, 4, lambda i, j: sp.simplify(A[i, j] / sum(A[i, k] for k in range(4))))
    Y = (A * X * U.T).applyfunc(sp.simplify)
    pi = sp.eye(4) - sp.ones(4, 4) / 4
    spans = [max((M[i, :] - M[j, :]).norm() for i in range(4) for j in range(4)) for M in (X, Y)]
    return [(pi * X).norm(), (pi * Y).norm(), *spans]


def _residual_grows() -> Verdict:
    before, after, *_ = _larger_residual()
    return holds(f"{sp.N(before, 12)} becomes {after}") if after > before else fails(f"{after} <= {before}")


def _uneven_rows() -> Verdict:
    """Half of the rows e_1, half e_2: ``|Pi A Pi| = sqrt(n/2)`` above 1."""
    A = sp.Matrix([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]])
    pi = sp.eye(4) - sp.ones(4, 4) / 4
    M = pi * A * pi
    size = sp.sqrt(max((M.T * M).eigenvals()))
    return holds(f"|Pi A Pi| = {size}") if size > 1 else fails(str(size))


def _mean_of_the_keys() -> Verdict:
    """BD-D3 with the Frobenius spread over root n in place of the largest distance: all tokens may look at the far one."""
    values = np.array([0.0, 0.0, 0.0, 4.0])
    apart = values - values.mean()
    A = np.array([[0.0, 0, 0, 1]] * 2 + [[1.0, 0, 0, 0]] * 2)
    size, wrong = np.linalg.norm(A @ values - (A @ values).mean()), np.linalg.norm(apart)
    return holds(f"{size:.4f} > {wrong:.4f}") if size > wrong + 1e-9 else fails(f"{size} <= {wrong}")


BD_D1 = register(
    Statement(
        id="BD-D1",
        kind=Kind.LEMMA,
        source=Source(HERE, ""),
        title="Attention without a skip does not leave the hull of the values",
        systems=("token-flow",),
        claims=(Formula(HULL),),
        proof=hull,
        property_tests=(OnInstances(one_head_no_skip),),
        printed=Printed(
            text=r"With $\lVert U\rVert \le 1$ attention without a skip does not increase $\lVert\Pi X\rVert_F$.",
            wrong=r"It does not increase the diameter; the Frobenius residual can grow by $\lVert\Pi A\Pi\rVert$, which may be "
            r"$\sqrt{n/2}$.",
            kind=SourceKind.FORMALISED,
            counterexamples=(
                Counterexample(
                    "CX-D1",
                    r"$x_{1,2} = \pm(1, \frac1{10})$, $x_{3,4} = \pm(0, \frac1{10})$, $U = \mathrm{diag}(1, 0)$, $P = 10\ln 9\,"
                    r"e_2e_1^{\top}$: $\sqrt{2.04}$ becomes $\frac85$.",
                    {
                        "tokens": [["1", "1/10"], ["-1", "-1/10"], ["0", "1/10"], ["0", "-1/10"]],
                        "P": "10 ln(9) e_2 e_1^T",
                    },
                    _residual_grows,
                ),
            ),
        ),
        vectors=(
            Vector(
                "CX-D1: residual and diameter before and after",
                _larger_residual,
                ("1.428285685709", *decimals("8/5"), "2.00997512422", "1.6"),
            ),
        ),
        variants=(Variant("the diameter", r"in the Frobenius norm $|\Pi A \Pi|$ may be $\sqrt2$", _uneven_rows),),
    )
)

BD_D2 = register(
    Statement(
        id="BD-D2",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="Diversity across one attention layer with a skip, at given weights",
        systems=("token-flow",),
        claims=tuple(map(Formula, DIVERSITY)),
        proof=diversity,
        depends=("BD-D1",),
        property_tests=(OnInstances(layer_with_skip),),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$y_i = x_i + s\,B\bar x_i$ is the layer with a skip, $\bar x_i = \sum_j a_{ij}x_j$; the roots are $\lVert\Pi "
                r"Y\rVert_F$, $\lVert\Pi X\rVert_F$ and $\lVert\Pi AX\rVert_F$.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"Several heads, $Y = \lambda X + \sum_h A_hX_*U_h^{\top}$ up to equal rows, $X_*$ what attention reads: "
                r"$\bigl|\lVert\Pi Y\rVert_F - |\lambda|\lVert\Pi X\rVert_F\bigr| \le \kappa$ with any of (a) $\kappa = \lVert "
                r"O\rVert\,\lVert[\Pi A_1X_*V_1^{\top}, \dots, \Pi A_HX_*V_H^{\top}]\rVert_F$, (b) $\kappa = \lVert O\rVert"
                r"\lVert V\rVert\max_h\lVert\Pi A_h\Pi\rVert\,\lVert\Pi X_*\rVert_F$, (c) $\kappa = \sum_h\lVert U_h\rVert"
                r"\lVert\Pi A_h\Pi\rVert\,\lVert\Pi X_*\rVert_F$; also on any subset of the queries, with their rows of "
                r"$A_h$ and all columns. Seen on random layers.",
            ),
        ),
    )
)

BD_D2B = register(
    Statement(
        id="BD-D2b",
        kind=Kind.EXTENSION,
        source=Source(HERE, "BD-D2 from norms"),
        title="Diversity across one attention layer with a skip, from the norm of the centred weights",
        systems=("token-flow",),
        claims=tuple(map(Formula, DIVERSITY_FROM_NORMS)),
        proof=diversity_from_norms,
        depends=("BD-D2",),
        property_tests=(OnInstances(layer_with_skip),),
        variants=(Variant("the norm of the centred weights", r"1 in its place: it may be $\sqrt2$", _uneven_rows),),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"These are (b) and (c) of BD-D2 for one head, where they agree; for several heads they are seen on random "
                r"layers. `check` shows (a), which is never larger.",
            ),
        ),
    )
)

BD_D3 = register(
    Statement(
        id="BD-D3",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="Diversity of what a head puts out, whatever its attention weights",
        systems=("token-flow",),
        claims=(Formula(SPREAD),),
        proof=spread,
        depends=("BD-D1",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Several heads and any weights: $\bigl|\lVert\Pi Y\rVert_F - |\lambda|\lVert\Pi X\rVert_F\bigr| \le \lVert "
                r"O\rVert\bigl(n\sum_h\rho_h^2\bigr)^{1/2}$ with $\rho_h = \max_j|V_h(x_{*j} - \bar x_*)|$ ($m$ in the place of "
                r"$n$ on $m$ queries), in the letters of BD-D2. Where $|\lambda|\lVert\Pi X\rVert_F$ is larger, the layer cannot "
                r"collapse the tokens, whatever its scores, mask and positions. Seen on random layers.",
            ),
        ),
        property_tests=(OnInstances(layer_with_skip),),
        variants=(
            Variant("the largest distance of a value", "the residual of the values in its place", _mean_of_the_keys),
        ),
    )
)


BD_H2 = register(
    Statement(
        id="BD-H2",
        kind=Kind.LEMMA,
        source=Source(HERE, ""),
        title="One direction across one layer, whatever the attention weights",
        systems=("token-flow",),
        claims=(Formula(DIRECTION),),
        proof=direction,
        depends=("BD-D1",),
        property_tests=(OnInstances(one_direction),),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"A query $a$ and keys $k_j$ of any kind stand for any weights of a row; $v$ is the token that the skip adds.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"Several heads: the height lies between $u^{\top}x_i + \alpha\sum_h\min_j u^{\top}U_hx_j$ and "
                r"$u^{\top}x_i + \alpha\sum_h\max_j u^{\top}U_hx_j$. Seen on random layers.",
            ),
        ),
    )
)
