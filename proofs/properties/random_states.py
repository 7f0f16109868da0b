"""Random states, matrices and steps for property tests, and what is read off a Jacobian.  Doubles, small sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from eigentoken.theory.systems.catalogue import system

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from eigentoken.theory.classification.float_algebra import FloatSystem

__all__ = [
    "Array",
    "Found",
    "Source",
    "away_from_zero",
    "bipartite_heights",
    "moments",
    "plain_heads",
    "projector",
    "radial",
    "random_layer",
    "registered",
    "rotation",
    "shape",
    "signs",
    "softmax_rows",
    "some_mask",
    "some_step",
    "spectrum_gap",
    "symmetric",
    "tangents",
    "tokens",
    "weights_of_heads",
]

Array: TypeAlias = "NDArray[Any]"
Source: TypeAlias = "np.random.Generator"
#: what a case looks at, by name: how far it is from what the statement says
Found: TypeAlias = "dict[str, float]"


def shape(source: Source, most_tokens: int = 6, most_dimensions: int = 5) -> tuple[int, int]:
    """A number of tokens and a dimension, both at least 2."""
    return int(source.integers(2, most_tokens + 1)), int(source.integers(2, most_dimensions + 1))


def tokens(source: Source, n: int, d: int) -> Array:
    """n unit vectors as rows."""
    import numpy as np

    drawn = source.normal(size=(n, d))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def rotation(source: Source, d: int) -> Array:
    """An orthogonal matrix."""
    import numpy as np

    return np.asarray(np.linalg.qr(source.normal(size=(d, d)))[0])


def symmetric(source: Source, eigenvalues: Any) -> tuple[Array, Array]:
    """A symmetric matrix with these eigenvalues, and its eigenvectors as columns in the same order."""
    import numpy as np

    values = np.asarray(eigenvalues, dtype=float)
    vectors = rotation(source, len(values))
    return np.asarray((vectors * values) @ vectors.T), vectors


def some_step(source: Source) -> float:
    """A step size between 1/100 and 3, uniform in the logarithm."""
    import numpy as np

    return float(np.exp(source.uniform(np.log(0.01), np.log(3))))


def some_mask(source: Source, n: int) -> Array | None:
    """No mask, the causal one, or any 0/1 mask that lets every token see itself."""
    import numpy as np

    kind = source.integers(3)
    if kind == 0:
        return None
    return np.tril(np.ones((n, n))) if kind == 1 else np.maximum(np.eye(n), source.integers(0, 2, size=(n, n)))


def weights_of_heads(source: Source, d: int) -> list[dict[str, Array]]:
    """One to three heads with U_h (d x d_h), V_h, Q_h, K_h (d_h x d)."""
    import numpy as np

    heads = []
    for _ in range(int(source.integers(1, 4))):
        size = int(source.integers(1, d + 1))
        head = {name: source.normal(size=(size, d)) / np.sqrt(d) for name in "VQK"}
        heads.append({**head, "U": source.normal(size=(d, size)) / np.sqrt(d)})
    return heads


def plain_heads(heads: Sequence[Mapping[str, Array]]) -> list[dict[str, Array]]:
    """F_h = U_h V_h and M_h = Q_h^T K_h / sqrt(d_h), as the registered system wants them."""
    import numpy as np

    return [{"F": h["U"] @ h["V"], "M": h["Q"].T @ h["K"] / np.sqrt(len(h["Q"]))} for h in heads]


def registered(name: str, mask: Array | None = None, **parameters: Any) -> FloatSystem:
    """A system of the register with parameters in doubles."""
    from eigentoken.theory.classification.float_algebra import FloatSystem

    return FloatSystem(system(name), parameters, mask)


def softmax_rows(x: Array, score: Array, mask: Array | None) -> Array:
    """``a_ij = e^{x_i^T M x_j} / sum_l e^{x_i^T M x_l}`` over the tokens that i sees, entry by entry."""
    import numpy as np

    n = len(x)
    weights = np.zeros((n, n))
    for i in range(n):
        seen = [j for j in range(n) if mask is None or mask[i][j]]
        powers = {j: float(np.exp(x[i] @ score @ x[j])) for j in seen}
        for j in seen:
            weights[i, j] = powers[j] / sum(powers.values())
    return weights


def projector(w: Array) -> Array:
    """``I - w w^T / |w|^2``."""
    import numpy as np

    return np.asarray(np.eye(len(w)) - np.outer(w, w) / (w @ w))


def tangents(x: Array) -> Array:
    """An orthonormal basis of the tangent space of the product of spheres at x, as nd x n(d-1) columns."""
    import numpy as np

    n, d = x.shape
    basis = np.zeros((n * d, n * (d - 1)))
    for i in range(n):
        complement = np.linalg.svd(x[i][None])[2][1:].T
        basis[i * d : (i + 1) * d, i * (d - 1) : (i + 1) * (d - 1)] = complement
    return basis


def radial(x: Array) -> Array:
    """The radial directions of x, as nd x n columns."""
    import numpy as np

    n, d = x.shape
    basis = np.zeros((n * d, n))
    for i in range(n):
        basis[i * d : (i + 1) * d, i] = x[i]
    return basis


def moments(matrix: Array) -> Array:
    """``tr J^k``, k = 1, ..., size: they determine the spectrum with its multiplicities."""
    import numpy as np

    power, found = np.eye(len(matrix)), []
    for _ in range(len(matrix)):
        power = power @ matrix
        found.append(np.trace(power))
    return np.array(found)


def spectrum_gap(matrix: Array, eigenvalues: Any) -> float:
    """How far the spectrum of a matrix is from a list of numbers: the worst relative difference of the power sums."""
    import numpy as np

    stated = np.asarray(eigenvalues, dtype=complex)
    if len(stated) != len(matrix):
        raise ValueError(f"eigenvalues must be {len(matrix)} numbers, got {len(stated)}: count multiplicities")
    powers = np.arange(1, len(stated) + 1)[:, None]
    sums, sizes = (stated[None] ** powers).sum(axis=1), (np.abs(stated)[None] ** powers).sum(axis=1)
    return float(np.max(np.abs(moments(matrix) - sums) / np.maximum(1.0, sizes)))


def signs(p: int, q: int) -> Array:
    """p times +1, then q times -1."""
    import numpy as np

    return np.array([1.0] * p + [-1.0] * q)


def bipartite_heights(p: int, q: int, s: float) -> tuple[float, float]:
    """``b_1 = tanh(s + t)``, ``b_2 = tanh(s - t)``, ``t = ln(p/q)/2`` (PM-L9)."""
    import numpy as np

    t = np.log(p / q) / 2
    return float(np.tanh(s + t)), float(np.tanh(s - t))


def random_layer(source: Source) -> tuple[Array, list[dict[str, Array]], float, Array | None]:
    """Tokens, the weights of one to three heads, a step and a mask."""
    n, d = shape(source)
    return tokens(source, n, d), weights_of_heads(source, d), some_step(source), some_mask(source, n)


def away_from_zero(source: Source, count: int) -> Array:
    """Eigenvalues of both signs with modulus between 0.1 and 2."""
    import numpy as np

    return np.asarray(source.choice([-1.0, 1.0], size=count) * source.uniform(0.1, 2, size=count))
