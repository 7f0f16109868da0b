"""The peer of ``check`` in bench_check.py: the same quantities of every layer in plain numpy floats, nothing certified.

    python benchmarks/floats_of_model.py sample:minilm

Of each layer that has weights of its own: eigenvalues, symmetric spectrum and norm of ``F = sum O_h V_h`` and
``S = sum Q_h^T K_h`` (d x d); of each head eigenvalues of the cores ``V O`` and ``K Q^T``, symmetric spectra and norms of
``U_h`` and ``P_h`` through their factors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from eigentoken.models import load


def through_factors(left: Any, right: Any) -> tuple[Any, Any]:
    """Symmetric spectrum and norm of ``left @ right`` (d x d) without forming it."""
    _, r = np.linalg.qr(np.hstack([left, right.T]))
    k = left.shape[1]
    small = r[:, :k] @ r[:, k:].T
    return np.linalg.eigvalsh((small + small.T) / 2), np.linalg.norm(small, 2)


def quantities(layer: Any) -> list[Any]:
    heads = [[np.asarray(getattr(head, name), dtype=np.float64) for name in "QKVO"] for head in layer.heads]
    found: list[Any] = []
    for whole in (sum(o @ v for _, _, v, o in heads), sum(q.T @ k for q, k, _, _ in heads)):
        found += [np.linalg.eigvals(whole), np.linalg.eigvalsh((whole + whole.T) / 2), np.linalg.norm(whole, 2)]
    for q, k, v, o in heads:
        found += [np.linalg.eigvals(v @ o), np.linalg.eigvals(k @ q.T)]
        found += [*through_factors(o, v), *through_factors(q.T, k)]
    return found


def main() -> int:
    model = load(sys.argv[1])
    for index in sorted({model.architecture.weights_of(index) for index in range(model.n_layers)}):
        quantities(model.layer(index))
    return 0


if __name__ == "__main__":
    sys.exit(main())
