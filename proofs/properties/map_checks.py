"""Cases for the definitions of the maps and what is measured along them: the registered system against the formula.

Each case draws one instance and returns relative differences by name (:mod:`eigentoken.proofs.properties.checks`).  The
registered systems are differentiated by complex steps; the stated formulas are written out again here, token by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eigentoken.proofs.properties.checks import above, gap
from eigentoken.proofs.properties.random_states import (
    Array,
    Found,
    Source,
    plain_heads,
    random_layer,
    registered,
    rotation,
    shape,
    softmax_rows,
    some_mask,
    some_step,
    symmetric,
    tokens,
)


def printed_layer(x: Array, heads: Sequence[Any], alpha: float, mask: Array | None) -> Array:
    """``x_i + alpha sum_h U_h sum_j a^h_ij V_h x_j``, scores ``x_i^T Q_h^T K_h x_j / sqrt(d_h)``."""
    moved = x.copy()
    for head in heads:
        score = head["Q"].T @ head["K"] / len(head["Q"]) ** 0.5
        weights = softmax_rows(x, score, mask)
        for i in range(len(x)):
            values = sum(weights[i, j] * (head["V"] @ x[j]) for j in range(len(x)))
            moved[i] += alpha * (head["U"] @ values)
    return moved


def unit(y: Array) -> Array:
    """Rows divided by their lengths."""
    import numpy as np

    return np.array([row / np.sqrt(sum(entry**2 for entry in row)) for row in y])


def layer(source: Source) -> Found:
    """PM-E1: the raw step of the multi-head map with alpha = 1, one to three heads, any mask."""
    x, heads, _, mask = random_layer(source)
    model = registered("multihead-map", mask, heads=plain_heads(heads), alpha=1.0)
    return {"layer": gap(x + model.influence(x), printed_layer(x, heads, 1.0, mask))}


def shared_weights(source: Source) -> Found:
    """PM-E2: with shared weights two layers, from any layer index on, are the same layer twice."""
    from eigentoken.theory.classification.float_algebra import FloatAlgebra
    from eigentoken.theory.systems.catalogue import system

    x, heads, alpha, mask = random_layer(source)
    start = int(source.integers(0, 50))
    plain = plain_heads(heads)
    fixed = [{"F": lambda t, h=h: h["F"], "M": lambda t, h=h: h["M"]} for h in plain]
    state = x
    for tau in (start, start + 1):
        state = system("multihead-map").advance(FloatAlgebra(), {"heads": fixed, "alpha": alpha}, state, mask, tau)
    twice = unit(printed_layer(unit(printed_layer(x, heads, alpha, mask)), heads, alpha, mask))
    return {"two layers": gap(state, twice)}


def multihead_map(source: Source) -> Found:
    """PM-E3 = PM-E21: the next state, one to three heads, any mask; it has unit length."""
    import numpy as np

    x, heads, alpha, mask = random_layer(source)
    after = registered("multihead-map", mask, heads=plain_heads(heads), alpha=alpha).advance(x)
    lengths = np.linalg.norm(after, axis=1)
    return {
        "next state": gap(after, unit(printed_layer(x, heads, alpha, mask))),
        "length": gap(lengths, np.ones(len(x))),
    }


def attention_map(source: Source) -> Found:
    """PM-E8: ``y_i = x_i + alpha sum_j a_ij V x_j``, normalised; any V and M, any mask."""
    import numpy as np

    n, d = shape(source)
    x, alpha, mask = tokens(source, n, d), some_step(source), some_mask(source, n)
    value, score = source.normal(size=(d, d)), source.normal(size=(d, d))
    weights = softmax_rows(x, score, mask)
    y = np.array([x[i] + alpha * sum(weights[i, j] * value @ x[j] for j in range(n)) for i in range(n)])
    return {"next state": gap(registered("attention-map", mask, V=value, M=score, alpha=alpha).advance(x), unit(y))}


def oja_map(source: Source) -> Found:
    """PM-E9: ``y_i = x_i + (alpha/n) sum_j V x_j``, normalised; and it is the attention map with M = 0."""
    import numpy as np

    n, d = shape(source)
    x, alpha, value = tokens(source, n, d), some_step(source), source.normal(size=(d, d))
    y = np.array([x[i] + alpha * sum(value @ x[j] for j in range(n)) / n for i in range(n)])
    silent = registered("attention-map", V=value, M=np.zeros((d, d)), alpha=alpha)
    return {
        "next state": gap(registered("oja-map", V=value, alpha=alpha).advance(x), unit(y)),
        "no scores": gap(silent.advance(x), unit(y)),
    }


def oja_influence(source: Source) -> Found:
    """PM-E10: the influence is V times the mean token, the same for all tokens."""
    n, d = shape(source)
    x, value = tokens(source, n, d), source.normal(size=(d, d))
    mean = sum(x[j] for j in range(n)) / n
    return {"influence": gap(registered("oja-map", V=value, alpha=1.0).influence(x), [value @ mean] * n)}


def correlation(x: Array, v: Array) -> float:
    """``|x^T v| / (|x| |v|)``."""
    import numpy as np

    return float(abs(x @ v) / np.sqrt((x @ x) * (v @ v)))


def measured_increments(before: Array, after: Array, v: Array) -> tuple[float, float]:
    """Delta rho and Pi as the library measures them."""
    import numpy as np
    import torch

    from eigentoken.numerics.dynamics.observables import alignment_increment, vector_correlation

    first, second, axis = (torch.from_numpy(np.ascontiguousarray(each)) for each in (before, after, v))
    mean, share = alignment_increment(vector_correlation(first, axis), vector_correlation(second, axis))
    return float(mean), float(share)


def _dominated(source: Source) -> tuple[Array, Array, float, float, list[dict[str, Array]]]:
    """Symmetric F with ``|1 + alpha lambda_l| < 1 + alpha lambda_1``, as a sum of two non-symmetric heads."""
    d, alpha = int(source.integers(2, 6)), some_step(source)
    top = source.uniform(0.2, 2)
    reach = 1 + alpha * top
    rest = (source.uniform(-0.98, 0.98, size=d - 1) * reach - 1) / alpha
    total, vectors = symmetric(source, [top, *rest])
    part = source.normal(size=(d, d))
    heads = [{"F": part, "M": source.normal(size=(d, d))}, {"F": total - part, "M": source.normal(size=(d, d))}]
    return total, vectors[:, 0], top, alpha, heads


def mean_increment(source: Source) -> Found:
    """PM-E4: at common tokens one step multiplies the correlation by ``(1 + alpha lambda_1)/|(I + alpha F)x| >= 1``."""
    import numpy as np

    total, first, top, alpha, heads = _dominated(source)
    x = tokens(source, 1, len(total)).repeat(3, axis=0)
    after = registered("multihead-map", heads=heads, alpha=alpha).advance(x)
    factor = (1 + alpha * top) / np.linalg.norm(x[0] + alpha * total @ x[0])
    increment = np.mean([correlation(after[i], first) - correlation(x[i], first) for i in range(3)])
    others = tokens(source, 4, len(total))
    moved = registered("multihead-map", heads=heads, alpha=alpha).advance(others)
    gains = [correlation(moved[i], first) - correlation(others[i], first) for i in range(4)]
    return {
        "the measure": gap(measured_increments(others, moved, first)[0], sum(gains) / 4),
        "increment": gap(increment, (factor - 1) * correlation(x[0], first)),
        "not negative": above(increment, 0.0),
    }


def share_of_increments(source: Source) -> Found:
    """PM-E5: with strict dominance every common token away from v_1 and its complement aligns further: share 1."""
    total, first, _, alpha, heads = _dominated(source)
    model = registered("multihead-map", heads=heads, alpha=alpha)
    aligned = []
    for _ in range(5):
        x = tokens(source, 1, len(total)).repeat(2, axis=0)
        aligned.append(correlation(model.advance(x)[0], first) > correlation(x[0], first))
    others = tokens(source, 4, len(total))
    moved = model.advance(others)
    grown = [correlation(moved[i], first) > correlation(others[i], first) for i in range(4)]
    return {
        "share": gap(sum(aligned) / len(aligned), 1.0),
        "the measure": gap(measured_increments(others, moved, first)[1], sum(grown) / 4),
    }


def plane_correlation(x: Array, plane: Array) -> float:
    """``|S (S^T S)^{-1} S^T x| / |x|``."""
    import numpy as np

    shadow = plane @ np.linalg.inv(plane.T @ plane) @ plane.T @ x
    return float(np.linalg.norm(shadow) / np.linalg.norm(x))


def _planes(source: Source, plane: Array, matrix: Array) -> Found:
    """The projector against an orthonormal basis; values in [0, 1]; the plane is invariant, so a state in it has 1."""
    import numpy as np
    import torch

    from eigentoken.numerics.dynamics.observables import subspace_correlation

    x = source.normal(size=len(matrix))
    measured = subspace_correlation(torch.from_numpy(x[None]), torch.from_numpy(np.ascontiguousarray(plane)))
    basis = np.linalg.qr(plane)[0]
    inside = matrix @ plane @ source.normal(size=2)
    value = plane_correlation(x, plane)
    return {
        "projection": gap(value, np.linalg.norm(basis.T @ x) / np.linalg.norm(x)),
        "the measure": gap(float(measured[0]), value),
        "at most 1": above(-value, -1.0),
        "invariant plane": gap(plane_correlation(inside, plane), 1.0),
    }


def complex_plane(source: Source) -> Found:
    """PM-E6: S = [Re v_1, Im v_1] for a complex pair of a non-normal F."""
    import numpy as np

    d = int(source.integers(3, 6))
    core = np.diag(source.uniform(-1, 0.5, size=d))
    turn = source.uniform(0.5, 2)
    core[:2, :2] = [[1.0, turn], [-turn, 1.0]]
    basis = rotation(source, d) @ np.diag(source.uniform(0.5, 2, size=d)) @ rotation(source, d)
    matrix = basis @ core @ np.linalg.inv(basis)
    values, vectors = np.linalg.eig(matrix)
    first = vectors[:, int(np.argmax(values.imag))]
    return _planes(source, np.stack([first.real, first.imag], axis=1), matrix)


def eigenvector_plane(source: Source) -> Found:
    """PM-E7: S = [v_1, v_2] for the two largest, nearly equal eigenvalues of a non-normal F."""
    import numpy as np

    d = int(source.integers(3, 6))
    core = np.diag([1.0, source.uniform(0.9, 0.999), *source.uniform(-1, 0.5, size=d - 2)])
    basis = rotation(source, d) @ np.diag(source.uniform(0.5, 2, size=d)) @ rotation(source, d)
    return _planes(source, basis[:, :2], basis @ core @ np.linalg.inv(basis))


def generated_values(instances: int, seed: int) -> list[Array]:
    """Value matrices that the generator of the book makes for Assumption 1, its corners included."""
    import numpy as np

    from eigentoken.numerics.instances.plans import plan_for
    from eigentoken.numerics.instances.sampling import sample
    from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1

    drawn = sample(plan_for("oja-map", ASSUMPTION_1), instances, seed)
    return [np.asarray(value) for batch in drawn.batches for value in batch.parameters["V"]][:instances]


def standing_assumption(value: Array) -> Found:
    """PM-A1 of one matrix, by its eigenvalues in doubles; and ``|V| = max(lambda_1, |lambda_d|)``."""
    import numpy as np

    values = np.linalg.eigvalsh(value)[::-1]
    size = float(np.abs(values).max())
    return {
        "symmetric": gap(value, value.T),
        "positive top": 0.0 if values[0] > 1e-9 * size else 1.0,
        "simple top": 0.0 if values[0] - values[1] > 1e-9 * size else 1.0,
        "nonsingular": 0.0 if float(np.abs(values).min()) > 1e-9 * size else 1.0,
        "norm": gap(np.linalg.norm(value, 2), max(values[0], abs(values[-1]))),
    }
