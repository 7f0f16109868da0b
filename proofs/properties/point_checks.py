"""Cases for equilibria, their spectra, two-cycles, steering and the flows: the registered system against the statement.

Each case draws one instance and returns relative differences by name (:mod:`eigentoken.proofs.properties.checks`).
"""

from __future__ import annotations

import itertools
from typing import Any

from eigentoken.proofs.properties.checks import above, gap
from eigentoken.proofs.properties.random_states import (
    Array,
    Found,
    Source,
    away_from_zero,
    bipartite_heights,
    projector,
    radial,
    registered,
    rotation,
    shape,
    signs,
    softmax_rows,
    some_mask,
    some_step,
    spectrum_gap,
    symmetric,
    tangents,
    tokens,
)


def unit_extension(model: Any, x: Array) -> Array:
    """The map extended with ``|x_i| = 1`` put in: ``y_i / sqrt(1 + 2 alpha x_i^T u_i + alpha^2 |u_i|^2)``."""
    import numpy as np

    alpha, push = model.parameters["alpha"], model.influence(x)
    squares = 1 + 2 * alpha * (x * push).sum(axis=-1) + alpha**2 * (push * push).sum(axis=-1)
    return np.asarray((x + alpha * push) / np.sqrt(squares)[..., None])


def _extrinsic(model: Any, x: Array, stated: Any) -> Found:
    """Tangent vectors stay tangent; the radial block has n eigenvalues 0, or the stated ones."""
    import numpy as np

    directions, basis = radial(x), tangents(x)
    plain = model.jacobian(x)
    unit = model.jacobian(x, lambda moved: unit_extension(model, moved))
    return {
        "tangent to tangent": gap(directions.T @ unit @ basis, np.zeros((len(x), basis.shape[1]))),
        "same tangent block": gap(basis.T @ unit @ basis, basis.T @ plain @ basis),
        "homogeneous": spectrum_gap(directions.T @ plain @ directions, np.zeros(len(x))),
        "unit length put in": spectrum_gap(directions.T @ unit @ directions, stated),
    }


def extrinsic_at_consensus(source: Source) -> Found:
    """PM-R2: 0, or ``sgn(m)/m^2``, n times, ``m = 1 + alpha lambda_k`` of either sign; Oja and attention."""
    import numpy as np

    n, d = shape(source, 4, 4)
    values = away_from_zero(source, d)
    m = source.choice([-1.0, 1.0]) * source.uniform(0.4, 3)
    values[0] = np.copysign(values[0], m - 1)
    alpha = float((m - 1) / values[0])
    value, vectors = symmetric(source, values)
    x = np.tile(vectors[:, 0], (n, 1))
    found: Found = {}
    for name in ("oja-map", "attention-map"):
        model = registered(name, V=value, M=source.normal(size=(d, d)), alpha=alpha)
        seen = _extrinsic(model, x, [np.sign(m) / m**2] * n)
        found |= {f"{name}, {what}": size for what, size in seen.items()}
    return found


def extrinsic_at_bipartite(source: Source) -> Found:
    """PM-R8: 0 n times, or ``1/m_1^2`` p times and ``1/m_2^2`` q times, for m_1, m_2 > 0."""
    import numpy as np

    p, q, d = int(source.integers(1, 4)), int(source.integers(1, 4)), int(source.integers(2, 4))
    values = away_from_zero(source, d)
    value, vectors = symmetric(source, values)
    v, score = vectors[:, 0], source.normal(size=(d, d))
    first, second = bipartite_heights(p, q, float(v @ score @ v))
    alpha = source.uniform(0.05, 0.9) / abs(values[0])
    m1, m2 = 1 + alpha * values[0] * first, 1 + alpha * values[0] * second
    model = registered("attention-map", V=value, M=score, alpha=alpha)
    return _extrinsic(model, np.outer(signs(p, q), v), [1 / m1**2] * p + [1 / m2**2] * q)


def is_fixed(alpha: float, eigenvalue: float, sigma: Array) -> bool:
    """PM-L1: consensus is fixed iff ``1 + alpha lambda > 0``, a split with unequal sides iff ``alpha |lambda delta| < 1``."""
    delta = float(sigma.mean())
    return bool(1 + alpha * eigenvalue > 0 if abs(delta) == 1 else alpha * abs(eigenvalue * delta) < 1)


def signed_states(source: Source) -> Found:
    """PM-R1: ``d 2^n`` signed states, 2d of them consensus, paired by the sign; fixed under the conditions of PM-L1 only."""
    import numpy as np

    n, d = shape(source, 5, 4)
    values = away_from_zero(source, d)
    value, vectors = symmetric(source, values)
    alpha = some_step(source)
    patterns = [np.array(each) for each in itertools.product((1.0, -1.0), repeat=n)]
    states = np.array([np.outer(sigma, vectors[:, k]) for k in range(d) for sigma in patterns])
    after = registered("oja-map", V=value, alpha=alpha).advance(states)
    fixed = np.abs(after - states).max(axis=(1, 2)) < 1e-6
    stated = [is_fixed(alpha, float(values[k]), sigma) for k in range(d) for sigma in patterns]
    distinct = {tuple(np.round(each, 9).ravel() + 0.0) for each in states}
    consensus = sum(bool(np.ptp(each, axis=0).max() < 1e-9) for each in states)
    paired = all(tuple(np.round(-each, 9).ravel() + 0.0) in distinct for each in states)
    return {
        "states": float(abs(len(distinct) - d * 2**n)),
        "consensus": float(abs(consensus - 2 * d)),
        "pairs": 0.0 if paired else 1.0,
        "fixed": float(np.sum(fixed != np.array(stated))),
    }


def step_bound(source: Source) -> Found:
    """PM-R4: beyond ``alpha = 1/(2|V|)``, principal consensus is stable iff ``alpha (|lambda_d| - lambda_1) < 2``."""
    import numpy as np

    n, d = shape(source, 4, 4)
    top = source.uniform(0.2, 2)
    values = np.array([top, *source.uniform(-3, 0.95, size=d - 1) * top])
    value, vectors = symmetric(source, values)
    alpha = source.uniform(0.6, 8) / float(np.abs(values).max())
    drive = alpha * (abs(float(values.min())) - top)
    x = np.tile(vectors[:, 0], (n, 1))
    basis = tangents(x)
    block = basis.T @ registered("oja-map", V=value, alpha=alpha).jacobian(x) @ basis
    stable = bool(np.abs(np.linalg.eigvals(block)).max() < 1)
    return {"stable iff": 0.0 if stable == (drive < 2) or abs(drive - 2) < 1e-6 else 1.0}


def common_token(source: Source) -> Found:
    """PM-R6: at a common token the sine of the move is ``alpha |P V x| / r``: zero at eigenvectors of V only."""
    import numpy as np

    n, d = shape(source)
    value, vectors = symmetric(source, away_from_zero(source, d))
    score, alpha, mask = source.normal(size=(d, d)), some_step(source), some_mask(source, n)
    model = registered("attention-map", mask, V=value, M=score, alpha=alpha)
    found: Found = {}
    for name, x in (("random", tokens(source, 1, d)[0]), ("eigenvector", vectors[:, -1])):
        push = value @ x
        sine = alpha * np.linalg.norm(projector(x) @ push) / np.linalg.norm(x + alpha * push)
        moved = model.advance(np.tile(x, (n, 1))) @ projector(x)
        found[name] = gap(np.linalg.norm(moved, axis=1), [sine] * n)
        found[f"{name}, off the eigenvectors iff it moves"] = 0.0 if (sine < 1e-9) == (name == "eigenvector") else 1.0
    return found


def odd(source: Source) -> Found:
    """PM-R7: ``f(-x) = -f(x)`` for the three maps, with masks."""
    n, d = shape(source)
    x, alpha, mask = tokens(source, n, d), some_step(source), some_mask(source, n)
    heads = [{"F": source.normal(size=(d, d)), "M": source.normal(size=(d, d))} for _ in range(2)]
    models = {
        "oja-map": registered("oja-map", mask, V=heads[0]["F"], alpha=alpha),
        "attention-map": registered("attention-map", mask, V=heads[0]["F"], M=heads[0]["M"], alpha=alpha),
        "multihead-map": registered("multihead-map", mask, heads=heads, alpha=alpha),
    }
    return {name: gap(model.advance(-x), -model.advance(x)) for name, model in models.items()}


def kernel_condition(source: Source) -> Found:
    """PM-P1: the move of a token is its part of ``(A x V - diag(c) x I) x``; with c_i = lambda_1 the matrix is singular.

    ``sin(x_i, x_i^+) = alpha |k_i| / r_i`` and ``x_i^T x_i^+ = (1 + alpha c_i)/r_i``: fixed iff k_i = 0 and c_i > -1/alpha.
    """
    import numpy as np

    n, d = shape(source, 5, 4)
    values = away_from_zero(source, d)
    value, vectors = symmetric(source, values)
    score, alpha = source.normal(size=(d, d)), some_step(source)
    model = registered("attention-map", V=value, M=score, alpha=alpha)
    split = np.outer(source.choice([-1.0, 1.0], size=n), vectors[:, 0])
    found: Found = {}
    for name, x in (("random", tokens(source, n, d)), ("on an eigenvector", split)):
        matrix = np.kron(softmax_rows(x, score, None), value)
        push = (matrix @ x.ravel()).reshape(n, d)
        c = (x * push).sum(axis=1)
        kernel = ((matrix - np.kron(np.diag(c), np.eye(d))) @ x.ravel()).reshape(n, d)
        r, after = np.linalg.norm(x + alpha * push, axis=1), model.advance(x)
        cosine = (x * after).sum(axis=1)
        found[f"{name}, sine"] = gap(
            np.linalg.norm(after - cosine[:, None] * x, axis=1), alpha * np.linalg.norm(kernel, axis=1) / r
        )
        found[f"{name}, cosine"] = gap(cosine, (1 + alpha * c) / r)
        shifted = matrix - values.max() * np.eye(n * d)
        found[f"{name}, singular"] = float(np.linalg.svd(shifted)[1].min())
        if name != "random":
            found["kernel at a signed eigenvector"] = gap(kernel, np.zeros((n, d)))
    return found


def sides_block(mu: float, heights: tuple[float, float], lengths: tuple[float, float]) -> Array:
    """PM-L14: the block of the two sides as wholes, for ``mu = alpha lambda_l``."""
    import numpy as np

    (b1, b2), (m1, m2) = heights, lengths
    upper = [(1 + mu * (1 + b1) / 2) / m1, mu * (1 - b1) / 2 / m1]
    lower = [mu * (1 - b2) / 2 / m2, (1 + mu * (1 + b2) / 2) / m2]
    return np.array([upper, lower])


def bipartite_cycles(source: Source) -> Found:
    """PM-N4': m_1, m_2 < 0: ``f(x) = -x``; the multipliers of PM-L14 with |m_i| (of f; of -f up to the sign)."""
    import numpy as np

    p, q, d = int(source.integers(1, 4)), int(source.integers(1, 4)), int(source.integers(2, 5))
    values = away_from_zero(source, d)
    values[0] = -abs(values[0])
    value, vectors = symmetric(source, values)
    v, score = vectors[:, 0], source.normal(size=(d, d))
    wanted = abs(np.log(p / q)) / 2 + source.uniform(0.3, 2)
    score += (wanted - v @ score @ v) * np.outer(v, v)
    heights = bipartite_heights(p, q, wanted)
    alpha = source.uniform(1.2, 4) / (abs(values[0]) * min(heights))
    lengths = (abs(1 + alpha * values[0] * heights[0]), abs(1 + alpha * values[0] * heights[1]))
    x = np.outer(signs(p, q), v)
    model = registered("attention-map", V=value, M=score, alpha=alpha)
    basis = tangents(x)
    stated: list[Any] = []
    for each in values[1:]:
        stated += [1 / lengths[0]] * (p - 1) + [1 / lengths[1]] * (q - 1)
        stated += list(np.linalg.eigvals(sides_block(alpha * each, heights, lengths)))
    return {
        "negative": gap(model.advance(x), -x),
        "two-cycle": gap(model.advance(model.advance(x)), x),
        "multipliers": spectrum_gap(basis.T @ model.jacobian(x) @ basis, stated),
    }


def antipodal_matrices(value: Array, score: Array, w: Array) -> tuple[Array, Array, Array]:
    """On the complement of w: ``omega rho^T``, ``V + omega rho^T``, ``omega (rho + rho')^T`` (PM-L15)."""
    import numpy as np

    complement = np.linalg.svd(w[None])[2][1:].T
    omega = complement.T @ value @ w
    rho, other = complement.T @ score @ w, complement.T @ score.T @ w
    single = np.outer(omega, rho)
    return single, complement.T @ value @ complement + single, np.outer(omega, rho + other)


def _antipodal(source: Source) -> tuple[Array, Array, Array, list[Array]]:
    import numpy as np

    half, d = int(source.integers(1, 4)), int(source.integers(2, 5))
    value, score = source.normal(size=(d, d)), source.normal(size=(d, d))
    value, w = (value + value.T) / 2, tokens(source, 1, d)[0]
    score -= (w @ score @ w) * np.outer(w, w)
    single, together, against = antipodal_matrices(value, score, w)
    return value, score, np.outer(signs(half, half), w), [single] * (2 * half - 2) + [together, against]


def antipodal_points(source: Source) -> Found:
    """PM-L15: any symmetric V, any M with ``w^T M w = 0``: fixed, and the stated spectrum."""
    import numpy as np

    value, score, x, parts = _antipodal(source)
    alpha = some_step(source)
    model = registered("attention-map", V=value, M=score, alpha=alpha)
    basis = tangents(x)
    stated = np.concatenate([np.linalg.eigvals(np.eye(len(each)) + alpha * each) for each in parts])
    return {
        "fixed": gap(model.advance(x), x),
        "spectrum": spectrum_gap(basis.T @ model.jacobian(x) @ basis, stated),
    }


def antipodal_points_of_the_flow(source: Source) -> Found:
    """CT-7: the same for the flow, without the identity."""
    import numpy as np

    value, score, x, parts = _antipodal(source)
    model = registered("attention-flow", V=value, M=score)
    basis = tangents(x)
    stated = np.concatenate([np.linalg.eigvals(each) for each in parts])
    return {
        "equilibrium": gap(model.advance(x), np.zeros_like(x)),
        "spectrum": spectrum_gap(basis.T @ model.jacobian(x) @ basis, stated),
    }


def energy(x: Array, value: Array, c: float) -> Any:
    """``E = (1/2c) sum_ij e^{c x_i^T V x_j}`` (CT-8)."""
    import numpy as np

    return np.exp(c * x @ value @ x.T).sum() / (2 * c)


def energy_rate(source: Source) -> Found:
    """CT-8: along the flow with M = cV the energy grows at the rate ``sum_i Z_i |xdot_i|^2``, c of either sign."""
    import numpy as np

    n, d = shape(source)
    value, _ = symmetric(source, away_from_zero(source, d))
    c = float(source.choice([-1.0, 1.0]) * source.uniform(0.1, 2))
    x = tokens(source, n, d)
    speed = registered("attention-flow", V=value, M=c * value).advance(x)
    rate = float(np.imag(energy(x + 1e-30j * speed, value, c)) / 1e-30)
    totals = np.exp(c * x @ value @ x.T).sum(axis=1)
    return {"rate": gap(rate, totals @ (speed**2).sum(axis=1)), "not negative": above(rate, 0.0)}


def rotating_consensus(source: Source) -> Found:
    """PM-C2: in the coordinates of [Re v_1, Im v_1] consensus turns by ``arg(1 + alpha lambda_1)``; the circle attracts.

    The basis is oriented so that the turn is negative: ``F Re v_1 = a Re v_1 - b Im v_1``.
    """
    import numpy as np

    n, d, alpha = int(source.integers(2, 5)), int(source.integers(3, 5)), float(source.uniform(0.2, 1))
    size, angle = source.uniform(1.5, 3), source.uniform(0.2, 2.8)
    pair = (size * np.exp(1j * angle) - 1) / alpha
    others = (source.uniform(-0.6, 0.6, size=d - 2) * size - 1) / alpha
    core = np.diag([0.0, 0.0, *others])
    core[:2, :2] = [[pair.real, pair.imag], [-pair.imag, pair.real]]
    basis = rotation(source, d) @ np.diag(source.uniform(0.8, 1.25, size=d)) @ rotation(source, d)
    total = basis @ core @ np.linalg.inv(basis)
    part = source.normal(size=(d, d))
    heads = [{"F": part, "M": source.normal(size=(d, d))}, {"F": total - part, "M": source.normal(size=(d, d))}]
    model = registered("multihead-map", heads=heads, alpha=alpha)
    start = source.normal(size=2)
    z = basis[:, :2] @ start
    after = np.linalg.solve(basis, model.advance(np.tile(z / np.linalg.norm(z), (n, 1)))[0])
    turned = complex(*after[:2]) / complex(*start)
    x = np.tile(z / np.linalg.norm(z), (n, 1)) + 1e-5 * source.normal(size=(n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(80):
        x = model.advance(x)
    plane = np.linalg.qr(basis[:, :2])[0]
    apart = max(np.linalg.norm(x - x[0]), np.linalg.norm(x - x @ plane @ plane.T))
    return {
        "stays in the plane": gap(after[2:], np.zeros(d - 2)),
        "angle": gap(turned / abs(turned), np.exp(-1j * np.angle(1 + alpha * pair))),
        "attracts": above(-apart, -1e-7),
    }
