"""Property checks of steering (PM-S1): the large root of a rank-one edit, measured against the derived bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from eigentoken.proofs.properties.checks import above
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["large_root", "no_gap", "root_of_mu", "steering"]

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


def steering(source: Any) -> Mapping[str, float]:
    """Both: z^T w = 1, and z^T w = 0."""
    return {**large_root(source), **root_of_mu(source)}


def no_gap(document: dict[str, Any] = ORTHOGONAL) -> Verdict:
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
