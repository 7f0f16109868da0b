"""Cases for steering (PM-S1, S2, S3): the large root of a rank-one edit, shifted spectra, one steered layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sympy as sp

from eigentoken.files.documents import Json
from eigentoken.proofs.properties.checks import above, gap
from eigentoken.proofs.properties.random_states import (
    Found,
    Source,
    away_from_zero,
    projector,
    registered,
    rotation,
    softmax_rows,
    some_step,
    spectrum_gap,
    tokens,
)
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

if TYPE_CHECKING:
    import numpy as np

__all__ = ["large_root", "no_gap", "root_of_mu", "shifted_spectrum", "steered_layer", "steering", "tangent_bound"]

#: Steering towards e_1 with a z that is orthogonal to it: the spectrum does not change at all.
ORTHOGONAL: dict[str, Any] = {"F": [["1", "0"], ["0", "1/2"]], "w": ["1", "0"], "z": ["0", "1"], "mu": "40"}


def large_root(source: Any) -> Mapping[str, float]:
    """A random edit ``F + mu w z^T`` with ``mu >= 20 |F||z|``: the bounds of PM-S1 on root and eigenvector.

    Every entry is the excess over the bound, relative to the size of the terms: not positive where the bound holds.
    """
    import numpy as np

    size = int(source.integers(2, 7))
    f, w, z = source.normal(size=(size, size)), source.normal(size=size), source.normal(size=size)
    w /= np.linalg.norm(w)
    z /= z @ w
    norm = np.linalg.norm(f, 2)
    b = norm * np.linalg.norm(z)
    mu = 20 * b * 10 ** source.uniform(0, 1.5)
    values, vectors = np.linalg.eig(f + mu * np.outer(w, z))
    place = int(np.argmax(abs(values)))
    zeta, others = values[place], np.delete(values, place)
    f1, f2 = z @ f @ w, z @ f @ f @ w
    remainder = abs(zeta - (mu + f1 + (f2 - f1**2) / mu))
    vector = vectors[:, place].real
    along = vector @ w
    tangent = np.linalg.norm(vector - along * w) / abs(along)
    lead = np.linalg.norm(f @ w - (w @ f @ w) * w) / zeta.real
    allowed = 2 * norm**2 / (zeta.real * (zeta.real - 2 * norm))
    return {
        "the root is real": abs(zeta.imag) / mu,
        "the other eigenvalues are small": above(mu / 2, np.max(abs(others))),
        "the root is near mu": above(6 / 5, abs(zeta - mu) / b),
        "remainder": above(8, remainder * mu**2 / b**3),
        "angle": above(allowed, abs(tangent - lead)),
    }


def root_of_mu(source: Any) -> Mapping[str, float]:
    """A random edit with ``z^T w = 0`` and ``sqrt(mu |f_1|) >= 6 |z||F|^2/|f_1|``: two eigenvalues near the roots of mu f_1."""
    import numpy as np

    size = int(source.integers(2, 7))
    f, w, z = source.normal(size=(size, size)), source.normal(size=size), source.normal(size=size)
    w /= np.linalg.norm(w)
    z -= (z @ w) * w
    norm, length, slope = np.linalg.norm(f, 2), np.linalg.norm(z), z @ f @ w
    least = 6 * length * norm**2 / abs(slope)
    eta = least * 10 ** source.uniform(0, 1.5)
    values = np.linalg.eigvals(f + eta**2 / abs(slope) * np.outer(w, z))
    ordered = sorted(values, key=abs, reverse=True)
    root = eta * (1 if slope > 0 else 1j)
    allowed = 2 * length * norm**2 / abs(slope)
    return {
        "two are large": above(0, eta / 2 - abs(ordered[1])),
        "the others are small": above(eta / 2, abs(ordered[2])) if size > 2 else -1.0,
        "near the root": above(1, min(abs(each - root) for each in values) / allowed),
        "near minus the root": above(1, min(abs(each + root) for each in values) / allowed),
        "real": max(abs(each.imag) for each in ordered[:2]) / eta if slope > 0 else 0.0,
    }


def steering(source: np.random.Generator) -> Mapping[str, float]:
    """Both: z^T w = 1, and z^T w = 0."""
    return {**large_root(source), **root_of_mu(source)}


def no_gap(document: dict[str, Json] = ORTHOGONAL) -> Verdict:
    """With ``z^T w = 0`` no eigenvalue reaches mu/2, although ``mu >= 20 |F||z|``: by the exact characteristic polynomial."""
    f, w, z = (sp.Matrix(document[name]).applyfunc(sp.Rational) for name in ("F", "w", "z"))
    size, weight = f.shape[0], sp.Rational(document["mu"])
    frobenius = sum(entry**2 for entry in f) * (z.T * z)[0]
    if (w.T * w)[0] != 1 or (z.T * w)[0] != 0 or weight**2 < 400 * frobenius:
        return fails("not an instance: needs a unit w, z orthogonal to it, and mu >= 20 |F||z|")
    zeta = sp.Symbol("zeta")
    polynomial = (zeta * sp.eye(size) - f - weight * w * z.T).det(method="berkowitz")
    bound = sp.Poly(sp.expand(polynomial.subs(zeta, zeta * weight / 2) / (weight / 2) ** size), zeta)
    if sum(abs(each) for each in bound.all_coeffs()[1:]) >= 1:
        return undecided("the coefficients do not keep the eigenvalues below mu/2")
    return holds(
        f"mu = {weight}: the characteristic polynomial {sp.expand(polynomial)} has no root of modulus mu/2 or more"
    )


def shifted_spectrum(source: Source) -> Found:
    """PM-S2: with ``z^T w = 1`` and one of ``F w = lambda w``, ``z^T F = lambda z^T``: lambda becomes lambda + mu."""
    import numpy as np

    d = int(source.integers(2, 6))
    values = np.sort(away_from_zero(source, d))
    basis = rotation(source, d) @ np.diag(source.uniform(0.5, 2, size=d)) @ rotation(source, d)
    inverse = np.linalg.inv(basis)
    matrix, mu = basis @ np.diag(values) @ inverse, float(source.uniform(-4, 4))
    k = int(source.integers(d))
    free = source.normal(size=d)
    stated = values.copy()
    stated[k] += mu
    found: Found = {}
    for name, own, other in (("right", basis[:, k], free), ("left", inverse[k], free)):
        other = other + (1 - own @ other) * own / (own @ own)
        w, z = (own, other) if name == "right" else (other, own)
        found[name] = spectrum_gap(matrix + mu * np.outer(w, z), stated)
    return found


def tangent_bound(alpha: float, push: float, pull: float) -> float:
    """``(1 + alpha |u_i|) / (alpha |mu kappa_i| - 1 - alpha |u_i|)`` (PM-S3)."""
    return (1 + alpha * push) / (alpha * pull - 1 - alpha * push)


def steered_layer(source: Source) -> Found:
    """PM-S3: the edited layer through the register: ``y_i``, the angle to w, and the side; heads that attend differently."""
    import numpy as np

    n, count, size = int(source.integers(2, 6)), int(source.integers(1, 4)), int(source.integers(1, 3))
    d = max(2, count * size)
    size = d // count if d % count == 0 else d
    count = d // size
    x, alpha = tokens(source, n, d), some_step(source)
    stacked = rotation(source, d) @ np.diag(source.uniform(0.5, 2, size=d)) @ rotation(source, d)
    out, w, z = source.normal(size=(d, d)), tokens(source, 1, d)[0], source.normal(size=d)
    scores = [source.normal(size=(d, d)) for _ in range(count)]
    rows = [slice(h * size, (h + 1) * size) for h in range(count)]
    outputs = np.concatenate([softmax_rows(x, scores[h], None) @ x @ stacked[rows[h]].T for h in range(count)], axis=1)
    push, kappa = outputs @ out.T, outputs @ np.linalg.inv(stacked).T @ z
    reach = 1 + alpha * np.linalg.norm(push, axis=1)
    mu = float(source.choice([-1.0, 1.0]) * source.uniform(1.1, 5) * (reach / np.abs(alpha * kappa)).min())
    edited = out + mu * np.outer(w, z) @ np.linalg.inv(stacked)
    heads = [{"F": edited[:, rows[h]] @ stacked[rows[h]], "M": scores[h]} for h in range(count)]
    model = registered("multihead-map", heads=heads, alpha=alpha)
    stated = x + alpha * push + alpha * mu * np.outer(kappa, w)
    computed, after = x + alpha * model.influence(x), model.advance(x)
    found: Found = {"edited step": gap(computed, stated)}
    for i in range(n):
        if alpha * abs(mu * kappa[i]) <= 1.001 * reach[i]:
            continue
        bound = tangent_bound(alpha, float(np.linalg.norm(push[i])), abs(mu * kappa[i]))
        tangent = np.linalg.norm(projector(w) @ after[i]) / abs(after[i] @ w)
        found[f"angle of token {i}"] = above(-tangent, -bound)
        found[f"side of token {i}"] = 0.0 if (after[i] @ w) * mu * kappa[i] > 0 else 1.0
    return found
