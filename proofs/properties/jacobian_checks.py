"""Cases for the exact Jacobians and for where the maps are defined and invertible: the registered system against the formula.

Each case draws one instance and returns relative differences by name (:mod:`eigentoken.proofs.properties.checks`).  The
registered systems are differentiated by complex steps; the stated formulas are written out again here, token by token.
"""

from __future__ import annotations

from typing import Any

from eigentoken.proofs.properties.checks import above, gap
from eigentoken.proofs.properties.random_states import (
    Array,
    Found,
    Source,
    bipartite_heights,
    plain_heads,
    projector,
    random_layer,
    registered,
    shape,
    signs,
    softmax_rows,
    some_mask,
    some_step,
    symmetric,
    tangents,
    tokens,
)


def oja_blocks(x: Array, value: Array, alpha: float) -> Array:
    """PM-L2: ``(1/r_i)(I - yhat_i yhat_i^T)(delta_ij I + (alpha/n) V)``."""
    import numpy as np

    n, d = x.shape
    y = x + alpha * (value @ x.mean(axis=0))
    blocks = [
        [projector(y[i]) @ ((i == j) * np.eye(d) + alpha / n * value) / np.linalg.norm(y[i]) for j in range(n)]
        for i in range(n)
    ]
    return np.block(blocks)


def oja_jacobian(source: Source) -> Found:
    """PM-L2: complex steps through the registered map against the closed form; any V."""
    n, d = shape(source)
    x, value, alpha = tokens(source, n, d), source.normal(size=(d, d)), some_step(source)
    return {
        "jacobian": gap(registered("oja-map", V=value, alpha=alpha).jacobian(x), oja_blocks(x, value, alpha)),
    }


def push_derivative(x: Array, head: Any, mask: Array | None) -> Array:
    """PM-L10: ``F_h [a_il (I + (x_l - m_i) x_i^T M) + delta_il C_i M^T]`` with ``m_i = sum_j a_ij x_j``."""
    import numpy as np

    n, d = x.shape
    weights = softmax_rows(x, head["M"], mask)
    blocks = []
    for i in range(n):
        mean = weights[i] @ x
        spread = sum(weights[i, j] * np.outer(x[j] - mean, x[j] - mean) for j in range(n))
        blocks.append(
            [
                head["F"]
                @ (
                    weights[i, k] * (np.eye(d) + np.outer(x[k] - mean, x[i] @ head["M"]))
                    + (i == k) * spread @ head["M"].T
                )
                for k in range(n)
            ]
        )
    return np.block(blocks)


def attention_jacobian(source: Source) -> Found:
    """PM-L10: single-head and multi-head maps, any mask, against the closed form."""
    import numpy as np

    x, weights, alpha, mask = random_layer(source)
    n, d = x.shape
    heads = plain_heads(weights)
    found: Found = {}
    for name, used in (("attention-map", heads[:1]), ("multihead-map", heads)):
        given = {"V": used[0]["F"], "M": used[0]["M"]} if name == "attention-map" else {"heads": used}
        model = registered(name, mask, alpha=alpha, **given)
        y = x + alpha * model.influence(x)
        inner = np.eye(n * d) + alpha * sum(push_derivative(x, head, mask) for head in used)
        outer = np.zeros((n * d, n * d))
        for i in range(n):
            outer[i * d : (i + 1) * d, i * d : (i + 1) * d] = projector(y[i]) / np.linalg.norm(y[i])
        found[name] = gap(model.jacobian(x), outer @ inner)
    return found


def bipartite_jacobian(source: Source) -> Found:
    """PM-L12: at bipartite points, on tangent vectors, blocks ``(1/|m_i|) P (delta_il I + alpha a_il V)``."""
    import numpy as np

    p, q, d = int(source.integers(1, 4)), int(source.integers(1, 4)), int(source.integers(2, 5))
    values = source.uniform(-2, 2, size=d)
    value, vectors = symmetric(source, values)
    score, alpha, v = source.normal(size=(d, d)), some_step(source), vectors[:, 0]
    sigma = signs(p, q)
    x, n = np.outer(sigma, v), p + q
    s = float(v @ score @ v)
    first, second = bipartite_heights(p, q, s)
    lengths = [abs(1 + alpha * values[0] * (first if sigma[i] > 0 else second)) for i in range(n)]
    rows = np.exp(s * np.outer(sigma, sigma))
    rows /= rows.sum(axis=1, keepdims=True)
    blocks = [
        [projector(v) @ ((i == k) * np.eye(d) + alpha * rows[i, k] * value) / lengths[i] for k in range(n)]
        for i in range(n)
    ]
    basis = tangents(x)
    computed = registered("attention-map", V=value, M=score, alpha=alpha).jacobian(x)
    return {"tangent block": gap(computed @ basis, np.block(blocks) @ basis)}


def consensus_manifold(source: Source) -> Found:
    """PM-CM: at any common token, any heads: the power method, the Jacobian, the disagreements."""
    import numpy as np

    x, weights, alpha, _ = random_layer(source)
    n, d = x.shape
    z, heads = x[0], plain_heads(weights)
    total = sum(head["F"] for head in heads)
    y = z + alpha * total @ z
    r, p = np.linalg.norm(y), projector(y)
    model = registered("multihead-map", heads=heads, alpha=alpha)
    state = np.tile(z, (n, 1))
    jacobian = model.jacobian(state)
    move = source.normal(size=(n, d))
    move -= move.mean(axis=0)
    return {
        "power method": gap(model.advance(state), np.tile(y / r, (n, 1))),
        "jacobian": gap(jacobian, (np.kron(np.eye(n), p) + alpha / n * np.kron(np.ones((n, n)), p @ total)) / r),
        "disagreements": gap(jacobian @ move.ravel(), (move @ p / r).ravel()),
    }


def domain(source: Source) -> Found:
    """PM-DOM: ``r_i >= 1 - alpha |V|``; and the three degenerate points, where some y_i vanishes."""
    import numpy as np

    n, d = shape(source)
    values = source.uniform(-2, 2, size=d)
    value, vectors = symmetric(source, values)
    v, top = vectors[:, 0], float(values[0])
    score, mask = source.normal(size=(d, d)), some_mask(source, n)
    x, norm = tokens(source, n, d), float(np.abs(values).max())
    alpha = source.uniform(0, 1) / norm
    found: Found = {}
    for name, used in (("oja-map", None), ("attention-map", mask)):
        push = registered(name, used, V=value, M=score).influence(x)
        found[name] = above(np.linalg.norm(x + alpha * push, axis=1), 1 - alpha * norm)
    p, q = int(source.integers(1, 4)), int(source.integers(4, 6))
    state = np.outer(signs(p, q), v)
    height = bipartite_heights(p, q, float(v @ score @ v))[0]
    push = registered("attention-map", V=value, M=score).influence(state)
    found["bipartite, attention"] = float(np.linalg.norm(state[0] - push[0] / (top * height)))
    push = registered("oja-map", V=value).influence(state)
    share = abs(top) * (q - p) / (p + q)
    found["bipartite, Oja"] = float(np.linalg.norm(state + push / share, axis=1).min())
    alone = np.tile(v, (n, 1))
    found["consensus"] = float(np.linalg.norm(alone - registered("oja-map", V=value).influence(alone) / top))
    return found


#: The bound of PM-DIFF on ``alpha |V|``.
DIFFEOMORPHIC = 0.5**0.5


def least_stretch(reach: float) -> float:
    """``(sqrt(1 - rho^2) - rho)/(1 + rho)``, ``rho = alpha |V|``: the proof of PM-DIFF with a right-hand side.

    ``J dx = e`` gives ``dx_i = Pi_i (r_i e_i - alpha V mean(dx))`` with ``|Pi_i| <= (1 - rho^2)^{-1/2}`` and ``r_i <= 1 + rho``.
    """
    import numpy as np

    return float((np.sqrt(1 - reach**2) - reach) / (1 + reach))


def local_diffeomorphism(source: Source) -> Found:
    """PM-DIFF: below ``1/sqrt 2`` the derivative has the smallest singular value that the proof gives, and its orientation.

    ``J + sum_i yhat_i x_i^T`` has the determinant of the tangent block, which is 1 at alpha = 0 and never vanishes.
    """
    import numpy as np

    n, d = shape(source)
    value = source.normal(size=(d, d))
    reach = source.uniform(0.0, 1.0) ** 0.25 * DIFFEOMORPHIC
    alpha, x = reach / np.linalg.norm(value, 2), tokens(source, n, d)
    model = registered("oja-map", V=value, alpha=alpha)
    after, jacobian = model.advance(x), model.jacobian(x)
    block = tangents(after).T @ jacobian @ tangents(x)
    y = x + alpha * model.influence(x)
    oblique = [np.linalg.norm(np.eye(d) - np.outer(y[i], x[i]) / (x[i] @ y[i]), 2) for i in range(n)]
    return {
        "smallest singular value": above(np.linalg.svd(block)[1].min(), least_stretch(float(reach))),
        "orientation": 0.0 if np.linalg.det(jacobian + radial_map(after, x)) > 0 else 1.0,
        "projection": above(-np.array(oblique), -1 / np.sqrt(1 - reach**2)),
    }


def radial_map(after: Array, before: Array) -> Array:
    """The block diagonal matrix of ``yhat_i x_i^T``."""
    import numpy as np

    n, d = before.shape
    matrix = np.zeros((n * d, n * d))
    for i in range(n):
        matrix[i * d : (i + 1) * d, i * d : (i + 1) * d] = np.outer(after[i], before[i])
    return matrix
