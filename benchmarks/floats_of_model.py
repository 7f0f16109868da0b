"""The peer of ``check`` in bench_check.py: the same quantities of every layer in plain numpy floats, nothing certified.

    python benchmarks/floats_of_model.py sample:minilm [--reported]

Of each layer that has weights of its own: eigenvalues, symmetric spectrum and norm of ``F = sum O_h V_h`` and
``S = sum Q_h^T K_h`` (d x d); of each head eigenvalues of the cores ``V O`` and ``K Q^T``, symmetric spectra and norms of
``U_h`` and ``P_h`` through their factors.

``--reported`` adds the other numbers of a report of ``check``, as one would find them with numpy alone:

* of a layer: the leading eigenvectors of F, how far F and S are from their transposes and F from the identity, whether they are
  singular, the symmetric spectrum of ``F^T S`` (that of ``S F^-1``, by congruence), the skew part at the leader of sym(F);
* of a head: the same distances through the factors, eigenvectors of the cores, the symmetric spectrum of the core of
  ``S F^-1`` (what rotary positions change of ``P_h``, and certified bounds at tokens, are left out: the peer has less to do);
* how far F is from what the statements ask (a simple real leader, symmetry, both, a small skew part): one candidate each,
  its spectrum, and the norm of the change;
* 8 sequences of 32 tokens through the layers, with what is measured of them, and at one sequence the Jacobians of all heads.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from eigentoken.models import load

SEQUENCES, TOKENS, SEED, STEPS = 8, 32, 0, 40


def through_factors(left: Any, right: Any) -> tuple[Any, Any, Any]:
    """Symmetric spectrum and norm of ``left @ right`` (d x d) without forming it, and its small core."""
    _, r = np.linalg.qr(np.hstack([left, right.T]))
    k = left.shape[1]
    small = r[:, :k] @ r[:, k:].T
    return np.linalg.eigvalsh((small + small.T) / 2), np.linalg.norm(small, 2), small


def factors(layer: Any) -> list[list[Any]]:
    return [[np.asarray(getattr(head, name), dtype=np.float64) for name in "QKVO"] for head in layer.heads]


def sums(heads: list[list[Any]]) -> tuple[Any, Any]:
    return sum(o @ v for _, _, v, o in heads), sum(q.T @ k for q, k, _, _ in heads)


def quantities(layer: Any) -> list[Any]:
    heads = factors(layer)
    found: list[Any] = []
    for whole in sums(heads):
        found += [np.linalg.eigvals(whole), np.linalg.eigvalsh((whole + whole.T) / 2), np.linalg.norm(whole, 2)]
    for q, k, v, o in heads:
        found += [np.linalg.eigvals(v @ o), np.linalg.eigvals(k @ q.T)]
        found += [*through_factors(o, v), *through_factors(q.T, k)]
    return found


def all_quantities(layer: Any) -> tuple[list[Any], Any]:
    """What ``check`` reports of the weights of one layer, and a basis of the leading eigenspace of F."""
    heads = factors(layer)
    F, S = sums(heads)
    values, vectors = np.linalg.eig(F)
    low, axes = np.linalg.eigh((F + F.T) / 2)
    skew = (F - F.T) / 2
    found: list[Any] = [values, low, np.linalg.norm(skew @ axes[:, -1])]
    found += [np.linalg.svd(F, compute_uv=False), np.linalg.norm(skew, 2), np.linalg.norm(F - np.eye(len(F)), 2)]
    found += [np.linalg.eigvals(S), np.linalg.eigvalsh((S + S.T) / 2), np.linalg.norm(S, 2), np.linalg.norm(S - S.T, 2)]
    product = F.T @ S
    found += [np.linalg.eigvalsh((product + product.T) / 2)]
    found += nearest(F, values, vectors, low, axes)
    for q, k, v, o in heads:
        found += [np.linalg.eig(v @ o), np.linalg.eig(k @ q.T)]
        for left, right in ((o, v), (q.T, k)):
            spectrum, size, small = through_factors(left, right)
            found += [spectrum, size, np.linalg.norm(small - small.T, 2), np.linalg.norm(small - np.eye(len(small)), 2)]
        core = (v @ q.T) @ (k @ o)
        found += [np.linalg.eigvalsh((core + core.T) / 2)]
    first = int(np.argmax(values.real))
    plane = vectors[:, [first]]
    return found, plane.real if values[first].imag == 0 else np.hstack([plane.real, plane.imag])


def nearest(F: Any, values: Any, vectors: Any, low: Any, axes: Any) -> list[Any]:
    """Neighbours of F: symmetric, symmetric with a leader, with a real leader, with a small skew part."""
    S, room = (F + F.T) / 2, 1e-6 * low[-1]
    raised = S + room * np.outer(axes[:, -1], axes[:, -1])
    top = int(np.argmax(np.where(values.imag == 0, values.real, -np.inf)))
    v, w = (
        vectors[:, top].real,
        np.linalg.inv(vectors)[top].real,
    )  # the largest real eigenvalue raised along its eigenvectors
    leading = F + np.outer(v, w) * (np.abs(values).max() - values[top].real + room)
    little = F + 2 * np.linalg.norm((F - S) @ axes[:, -1]) * np.outer(axes[:, -1], axes[:, -1])
    found = [np.linalg.eigvalsh(S), np.linalg.eigvalsh(raised), np.linalg.eigvals(leading)]
    found += [np.linalg.eigvalsh((little + little.T) / 2)]
    return found + [np.linalg.norm(each - F, 2) for each in (S, raised, leading, little)]


def tokens_through(model: Any, bases: dict[int, Any]) -> list[Any]:
    """The layers run on tokens, in floats throughout: what ``check`` measures there."""
    from eigentoken.checking.observe import layers_run, observe

    rows = {index: np.linalg.qr(basis)[0].T for index, basis in bases.items()}
    found: list[Any] = list(observe(model, SEQUENCES, TOKENS, SEED, rows))
    for layer, state in layers_run(model, 1, TOKENS, SEED):
        norm, x = layer.attention_norm, state.input[0]
        seen = norm.apply(x) if layer.placement == "pre" else x
        q, k, v, o = (np.array(each) for each in zip(*factors(layer), strict=True))
        q = q / np.array([head.scale for head in layer.heads])[:, None, None]
        scores = (seen @ turned(q)) @ turned(seen @ turned(k))
        scores = np.where(layer.mask.allowed(len(seen)), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        found += [jacobian_norms(seen.astype(np.float64), q, k, v, o, weights)]
    return found


def turned(stack: Any) -> Any:
    return np.swapaxes(stack, -1, -2)


def jacobian_norms(x: Any, q: Any, k: Any, v: Any, o: Any, a: Any) -> Any:
    """The norm of the Jacobian of each head at the tokens x with the weights a, by power iteration in the heads' coordinates."""
    rows = np.concatenate([v, q, k], axis=1)
    gram, squares, r = rows @ turned(rows), turned(o) @ o, v.shape[1]
    queries, keys, values = x @ turned(q), x @ turned(k), x @ turned(v)
    moved = np.random.default_rng(0).standard_normal(x.shape) @ turned(rows)
    c, s = q.shape[1], np.zeros(len(q))
    for _ in range(STEPS):
        change = a * (queries @ turned(moved[..., r + c :]) + moved[..., r : r + c] @ turned(keys))
        out = a @ moved[..., :r] + (change - a * change.sum(-1, keepdims=True)) @ values
        pulled = out @ squares
        s = (out * pulled).sum((1, 2))
        back = a * (pulled @ turned(values))
        back -= a * back.sum(-1, keepdims=True)
        there = np.concatenate([turned(a) @ pulled, back @ keys, turned(back) @ queries], axis=-1)
        moved = there @ gram
        moved /= np.sqrt((there * moved).sum((1, 2)))[:, None, None]
    return np.sqrt(s)


def main() -> int:
    model = load(sys.argv[1])
    bases: dict[int, Any] = {}
    for index in sorted({model.architecture.weights_of(index) for index in range(model.n_layers)}):
        if "--reported" in sys.argv:
            _, bases[index] = all_quantities(model.layer(index))
        else:
            quantities(model.layer(index))
    if bases:
        tokens_through(model, bases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
