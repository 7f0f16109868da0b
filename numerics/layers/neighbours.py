"""Matrices near a given one that may meet what is wanted, in floats: what they meet is certified elsewhere.

- symmetric: the eigenvalues of ``sym(X)`` are moved as little as the wish asks (clipped, raised, parted), the vectors stay;
- symmetric and definite: ``S + (r^2 + K^2)^(1/2)`` (Halmos 1972); definite: a multiple of I is added;
- below a norm: singular values are cut, or all is made smaller where a leader must stay;
- a real simple leader: the real Schur form has the leading pair as a block ``[[a, b], [c, a]]``, bc < 0; with the smaller of b
  and c gone the eigenvalue a is double and real, and a small shift of one diagonal entry parts the two; or the largest real
  eigenvalue is raised above all others along its eigenvectors, or all are raised together;
- a leader by modulus is raised above every modulus;
- a leader of ``sym(X)`` that the skew part does not move far (BD-E1, BD-E2: ``2 |K v| < gap``): the leader raised along
  ``v v^T``, or the skew part made smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.lapack import real_schur
from eigentoken.numerics.certified.rounding import Array
from eigentoken.numerics.layers.quantities import spectral_discs
from eigentoken.numerics.layers.wanted import Wanted

__all__ = [
    "Decompositions",
    "decomposed",
    "factor",
    "invertible_near",
    "lacking",
    "matrices_near",
    "moved_eigenvalues",
    "norm_about",
    "quotients_near",
]


#: Eigenvalues, left and right eigenvectors.
Eigenbasis = tuple[np.ndarray[Any, np.dtype[Any]], Array, Array]


class Decompositions:
    """A matrix X with its decompositions in floats, each found once, for all wishes and shares.

    ``axes``: eigenvalues and eigenvectors of sym(X), ``basis``: eigenvalues of X, left and right eigenvectors of the real ones,
    where they are known already.
    """

    def __init__(self, matrix: Array, axes: tuple[Array, Array] | None = None, basis: Eigenbasis | None = None) -> None:
        self.matrix, self._axes, self._basis = matrix, axes, basis

    @classmethod
    def of(cls, stored: Enclosure) -> Decompositions:
        """The center of an enclosure in the units of the input, with the eigenvectors that its spectra were found with."""
        symmetric, found = stored.symmetric_spectrum, spectral_discs(stored)
        axes = basis = None
        with np.errstate(all="ignore"):
            matrix = np.asarray(np.ldexp(stored.center, stored.exponent))
            if symmetric is not None:
                axes = np.ldexp(symmetric[0], stored.exponent), symmetric[2]
            if found is not None and found[0].vectors is not None and found[0].inverse is not None:
                discs, exponent = found
                values = np.ldexp(discs.centers.real, exponent) + 1j * np.ldexp(discs.centers.imag, exponent)
                basis = values, found[0].inverse.T, found[0].vectors
        return cls(matrix, axes, basis)

    @cached_property
    def size(self) -> float:
        return norm_about(self.matrix)

    @cached_property
    def symmetric(self) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of sym(X)."""
        return decomposed(self.matrix) if self._axes is None else self._axes

    @cached_property
    def eigen(self) -> Eigenbasis:
        """Eigenvalues, left and right eigenvectors (columns; of the real eigenvalues, whatever stands in the others)."""
        if self._basis is not None:
            return self._basis
        import scipy.linalg

        values, left, right = scipy.linalg.eig(self.matrix, left=True, right=True)
        return values, left, right

    @cached_property
    def schur(self) -> tuple[Array, Array] | None:
        """The real Schur form and its basis."""
        return real_schur(self.matrix)

    @cached_property
    def singular(self) -> tuple[Array, Array, Array]:
        left, sizes, right = np.linalg.svd(self.matrix)
        return left, sizes, right


def matrices_near(stored: Array | Decompositions, wanted: Wanted, share: float) -> list[Array]:
    """Candidates with room ``share`` of the norm in strict inequalities, the nearest first."""
    near = stored if isinstance(stored, Decompositions) else Decompositions(stored)
    X = near.matrix
    shift, identity = share * (near.size or 1.0), np.eye(len(X))
    if wanted.identity or wanted.zero:
        return [wanted.identity * identity]
    if wanted.double:
        return [max(shift, factor(X)) * identity]
    if wanted.symmetric:
        values, vectors = near.symmetric
        made = _halmos(X, wanted.sign, shift) if wanted == Wanted(symmetric=True, sign=wanted.sign) else []
        made += [
            _symmetric((vectors * moved[::-1]) @ vectors.T) for moved in moved_eigenvalues(values[::-1], wanted, shift)
        ]
    else:
        made = [_below(each, wanted, share) for each in _general(near, wanted, shift)]
    finite = [each for each in made if np.isfinite(each).all()]
    return sorted(finite, key=lambda each: norm_about(each - X)) if len(finite) > 1 else finite


def norm_about(X: Array, steps: int = 12) -> float:
    """The spectral norm in floats, from a few steps of the power method: for orders and shares, not for bounds."""
    x = np.cos(np.arange(1.0, X.shape[1] + 1.0))
    x /= np.linalg.norm(x)
    size = 0.0
    for _ in range(steps):
        y = X.T @ (X @ x)
        size = float(np.linalg.norm(y))
        if not size > 0:
            return 0.0
        x = y / size
    return math.sqrt(size)


def _halmos(X: Array, sign: int, shift: float) -> list[Array]:
    """The nearest symmetric definite matrix ``S + (r^2 + K^2)^(1/2)`` of X = S + K, with the least r that makes it one.

    (Halmos 1972; for the other sign, of -X.)
    """
    if not sign:
        return []
    S, K = sign * 0.5 * (X + X.T), 0.5 * (X - X.T)
    squares, axes = np.linalg.eigh(K.T @ K)

    def at(r: float) -> Array:
        return np.asarray(S + (axes * np.sqrt(np.maximum(r * r - squares, 0.0))) @ axes.T)

    low = math.sqrt(max(float(squares[-1]), 0.0))
    high = low + max(0.0, -float(np.linalg.eigvalsh(S)[0])) + 2 * shift
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.linalg.eigvalsh(at(middle))[0] > shift else (middle, high)
    return [sign * _symmetric(at(high))]


def decomposed(X: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of sym(X)."""
    values, vectors = np.linalg.eigh(0.5 * (X + X.T))
    return values, vectors


def factor(X: Array) -> float:
    """The c of a multiple ``c I`` near X: the middle of the eigenvalues of sym(X)."""
    values = np.linalg.eigvalsh(0.5 * (X + X.T))
    return float(0.5 * (values[0] + values[-1]))


def _symmetric(X: Array) -> Array:
    return np.asarray(0.5 * (X + X.T))


def moved_eigenvalues(values: Array, wanted: Wanted, shift: float) -> Iterator[Array]:
    """Eigenvalues (from the top) of symmetric matrices that may meet the wish, each moved by little."""
    floors: list[float | None] = [None]
    if wanted.low_end:  # what is asked of the last eigenvalue is that it is not far below -1, or -2 below the first
        lacking = max(0.0, -2.0 - float(values[-1] + values[0]) + 2 * shift)
        floors = [None, float(values[-1]) + lacking / 2, -1.0 + shift]
    for floor in floors:
        w = np.array(values, dtype=np.float64)
        if floor is not None:
            w[0] += max(0.0, floor - float(values[-1]))
            w = np.maximum(w, floor)
        yield _ordered(w, wanted, shift)


def _ordered(w: Array, wanted: Wanted, shift: float) -> Array:
    if wanted.sign:
        w = np.maximum(w, shift) if wanted.sign > 0 else np.minimum(w, -shift)
    if wanted.nonsingular:
        w = np.where(np.abs(w) < shift, np.where(w < 0, -shift, shift), w)
    if wanted.least is not None:
        w[0] = max(float(w[0]), wanted.least + shift)
    if wanted.by_modulus and -w[-1] >= w[0] - shift:
        middle = 0.5 * float(w[0] - w[-1])
        w = np.maximum(w, -middle)
        w[0] = middle + shift
    limit = math.inf if wanted.below is None else wanted.below - min(shift, 1e-2 * wanted.below)
    w = np.clip(w, -limit, limit)
    if wanted.positive:
        w[0] = max(float(w[0]), shift)
    if wanted.by_modulus:
        w = np.maximum(w, shift / 2 - w[0])
    if wanted.leads and len(w) > 1:
        top = max(float(w[0]), min(float(w[1]) + shift, limit))
        w = np.minimum(w, top - shift)
        w[0] = top
    if wanted.distinct:
        for place in range(len(w) - 2, -1, -1):
            w[place] = max(w[place], w[place + 1] + shift)
    return np.asarray(w)


def _below(near: Decompositions, wanted: Wanted, share: float) -> Array:
    """With a norm below the bound: singular values cut, or all smaller where a leader is to stay one."""
    X = near.matrix
    if wanted.below is None:
        return X
    limit = wanted.below * (1 - share)
    left, sizes, right = near.singular
    if sizes[0] <= limit:
        return X
    if wanted.leads or wanted.by_modulus or wanted.positive or wanted.skew_small:
        return np.asarray(X * (limit / sizes[0]))
    return np.asarray((left * np.minimum(sizes, limit)) @ right)


def _general(near: Decompositions, wanted: Wanted, shift: float) -> Iterator[Decompositions]:
    stored, identity = near, np.eye(len(near.matrix))
    if wanted.sign:
        values = np.linalg.eigvalsh(0.5 * (near.matrix + near.matrix.T)) * wanted.sign
        near = Decompositions(near.matrix + wanted.sign * max(0.0, shift - float(values.min())) * identity)
    if wanted.nonsingular:
        left, sizes, right = near.singular
        near = near if sizes[-1] >= shift else Decompositions(np.asarray((left * np.maximum(sizes, shift)) @ right))
    yield near
    made: list[Array | None] = []
    if wanted.skew_small or wanted.by_modulus or wanted.leads or wanted.positive:
        values, vectors = stored.symmetric
        made += [(vectors * moved[::-1]) @ vectors.T for moved in moved_eigenvalues(values[::-1], wanted, shift)]
    if wanted.skew_small:
        made += _symmetric_part_leads(near.matrix, shift, *stored.symmetric)
    elif wanted.by_modulus:
        made += [_raised(near, shift, modulus=True)]
    elif wanted.leads or wanted.positive:
        top = float(near.eigen[0].real.max())
        made += [_pair_parted(near, shift), _raised(near, shift), near.matrix + max(0.0, shift - top) * identity]
    yield from (Decompositions(each) for each in made if each is not None)


def _pair_parted(near: Decompositions, shift: float) -> Array | None:
    """The leading complex pair made real and parted by ``shift``; ``None`` where a real eigenvalue leads."""
    if near.schur is None:
        return None
    T, Z = near.schur[0].copy(), near.schur[1]
    blocks = [place for place in range(len(T) - 1) if T[place + 1, place] != 0]
    if not blocks:
        return None
    real = [T[place, place] for place in range(len(T)) if place not in blocks and place - 1 not in blocks]
    first = max(blocks, key=lambda place: T[place, place])
    if real and max(real) >= T[first, first]:
        return None
    upper, lower = abs(T[first, first + 1]), abs(T[first + 1, first])
    gone = (first, first + 1) if upper < lower else (first + 1, first)
    T[gone] = 0.0
    T[first, first] += max(shift, shift - T[first, first])
    return np.asarray(Z @ T @ Z.T)


def _symmetric_part_leads(F: Array, shift: float, values: Array, vectors: Array) -> list[Array | None]:
    """Matrices whose symmetric part has a leader with ``2 |K v| < gap``, K the skew part: some raise the leader further."""
    S, K = 0.5 * (F + F.T), 0.5 * (F - F.T)
    v, gap = vectors[:, -1], float(values[-1] - values[-2]) if len(values) > 1 else math.inf
    turned = float(np.linalg.norm(K @ v))
    if not math.isfinite(gap):
        return []
    lacking = max(0.0, 2 * turned - gap)
    made: list[Array | None] = [max(float(values[-1]), shift) * np.outer(v, v)]
    if gap > shift:
        made.append(S + min(1.0, (gap - shift) / (2 * turned) if turned else 1.0) * K)
    return made + [F + (times * lacking + shift) * np.outer(v, v) for times in (1.0, 1.5, 2.0, 4.0, 8.0)]


def _raised(near: Decompositions, shift: float, modulus: bool = False) -> Array | None:
    """The largest real eigenvalue raised above every real part (or modulus) along its eigenvectors; ``None`` without one."""
    F, (values, left, right) = near.matrix, near.eigen
    real = np.flatnonzero(values.imag == 0)
    if not len(real):
        return None
    place = real[np.argmax(values[real].real)]
    v, w = right[:, place].real, left[:, place].real
    others = np.delete(np.abs(values) if modulus else values.real, place)
    wanted = max(0.0, float(others.max(initial=-math.inf))) + shift
    with np.errstate(all="ignore"):
        made = F + max(0.0, wanted - float(values[place].real)) * np.outer(v, w) / (w @ v)
    return made if np.isfinite(made).all() else None


def lacking(W: Array, sign: int) -> float:
    """How far sym(W) is from the definite matrices of that sign."""
    return -float(np.linalg.eigvalsh(sign * 0.5 * (W + W.T)).min())


def invertible_near(B: Array, sign: int, share: float) -> list[Array]:
    """B, and B shifted until all its eigenvalues are on the side that is asked for, by their real parts."""
    if not sign:
        return [B]
    size = norm_about(B) or 1.0
    lacking = share * size - float((sign * np.linalg.eigvals(B).real).min())
    return [
        B,
        *(B + sign * (lacking + more * size) * np.eye(len(B)) for more in (0.0, 0.1) if lacking + more * size > 0),
    ]


def quotients_near(W: Array, B: Array, wanted: Wanted, sign: int, share: float) -> list[Array]:
    """Candidates for X in ``W' = X B``."""
    try:
        inverse = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return []
    made = [
        *matrices_near(W @ inverse, wanted, share),
        *(inverse.T @ Z @ inverse for Z in matrices_near(B.T @ W, wanted, share)),
    ]
    small = share * (norm_about(W) or 1.0) / (norm_about(B) or 1.0)
    made.append((wanted.sign or 1) * small * np.eye(len(B)))
    if not sign:
        return made
    from scipy.linalg import solve_continuous_lyapunov

    try:
        along = solve_continuous_lyapunov(B.T, sign * np.eye(len(B)))
    except np.linalg.LinAlgError:
        return made
    along = 0.5 * (along + along.T)
    unit = along / (norm_about(along) or 1.0)
    return [
        *(X + times * max(0.0, lacking(X @ B, sign)) * 2 * along for X in made for times in (1 + 1e-3, 2.0)),
        small * unit,
        10 * small * unit,
    ]
