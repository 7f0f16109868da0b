"""Property checks of steering (PM-S1): the large root of a rank-one edit, measured against the derived bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eigentoken.proofs.property_checks import above

__all__ = ["large_root"]


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
