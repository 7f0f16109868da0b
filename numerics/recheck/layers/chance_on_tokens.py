"""Re-check of what ``chance`` measures on tokens: heads by whole matrices and with other draws' formulas, layers made again.

Values of a head are taken from Q, K and ``U = O V`` (d x d), positions by turns of whole rows as complex numbers.  The draws are
those of the stream of ``numpy.random.default_rng([seed, r, r, r_v, m, d])``: normal (N, rows, m), then for queries, keys, values
together and for outputs Bartlett's factors, normal (N, rows, t) and chi-squared (N, t).  They are made orthonormal by QR of the
turned rows in place of Cholesky.
A layer, and heads whose scores are no bilinear form, are compared with what the issuer's code makes of the weights now.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.shown import Shown

__all__ = ["PlainHeads", "recheck_tokens"]

Floats = NDArray[np.float64]
NEAR = 1e-6
#: Scores of a batch.
BATCH = 4_000_000
SECOND_QUANTITIES = ("contraction", "spread")


@dataclass(frozen=True, eq=False)
class PlainHeads:
    """Heads of a layer whose scores are ``(Q x_i + b)^T R_(j-i) (K x_j + c) / scale``, and the tokens that they read."""

    heads: Sequence[Mapping[str, Json]]
    x: Floats
    allowed: NDArray[np.bool_]

    def values(self, head: int) -> dict[str, float]:
        """Contraction and spread of the weights as they are."""
        own = self.heads[head]
        Q, K, V, O = (np.asarray(own[name], dtype=np.float64) for name in "QKVO")
        before = self.x @ (O @ V).T
        values = before if own["v_bias"] is None else before + O @ np.asarray(own["v_bias"], dtype=np.float64)
        weights = self._weights(own, (self.x @ Q.T)[None], (self.x @ K.T)[None])[0]
        most = _widest(weights @ values)
        return {"contraction": most / _widest(values), "spread": most / _widest(self.x)}

    def _weights(self, own: Mapping[str, Any], q: Floats, k: Floats) -> Floats:
        q, k = (
            rows if own[name] is None else rows + np.asarray(own[name], dtype=np.float64)
            for rows, name in ((q, "q_bias"), (k, "k_bias"))
        )
        if own["turned"] is not None:
            q, k = _turned_rows(q, own["turned"]), _turned_rows(k, own["turned"])
        scores = np.einsum("nir,njr->nij", q, k) / float(own["scale"])
        e = np.exp(np.where(self.allowed, scores, -np.inf) - np.where(self.allowed, scores, -np.inf).max(-1)[..., None])
        return np.asarray(e / e.sum(-1)[..., None])

    def draws(self, head: int, many: int, seed: int) -> dict[str, dict[str, Floats]]:
        """Contraction and spread under both nulls."""
        own, (n, d) = self.heads[head], self.x.shape
        Q, K, V, O = (np.asarray(own[name], dtype=np.float64) for name in "QKVO")
        m, edges = min(n, d), np.cumsum([0, len(Q), len(K), len(V)])
        along = np.linalg.qr(self.x.T)[1].T
        sizes = [math.sqrt(float((part**2).mean())) for part in (Q, K, V, O)]
        source = np.random.default_rng([seed, len(Q), len(K), len(V), m, d])
        batch = max(1, min(many, BATCH // (len(self.heads) * n * n + 3 * int(edges[3]) ** 2)))
        found: dict[str, dict[str, list[Floats]]] = {"gaussian factors": {}, "random bases": {}}
        for start in range(0, many, batch):
            count = min(batch, many - start)
            rows = source.standard_normal((count, int(edges[3]), m))
            if d > m:
                rows = np.concatenate([rows, _bartlett(source, count, int(edges[3]), d - m)], axis=-1)
            root = _bartlett(source, count, len(V), d)
            parts = [rows[:, first:last] for first, last in pairwise(edges)]
            gaussian = [
                along @ (size * part[..., :m]).swapaxes(-1, -2) for size, part in zip(sizes, parts, strict=False)
            ]
            put = {"gaussian factors": (gaussian, sizes[3] * root)}
            turned = []
            for part, stored in zip(parts, (Q, K, V), strict=True):
                base, triangle = np.linalg.qr(part[:, :d].swapaxes(-1, -2))
                base = base * np.where(np.diagonal(triangle, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[:, None, :]
                turned.append(along @ base[:, :m] @ np.linalg.qr(stored.T)[1])
            put["random bases"] = turned, np.broadcast_to(np.linalg.qr(O)[1].T, (count, *np.linalg.qr(O)[1].T.shape))
            for null, ((q, k, v), lower) in put.items():
                v = v if own["v_bias"] is None else v + np.asarray(own["v_bias"], dtype=np.float64)
                values = v @ lower
                most, first = _widest(self._weights(own, q, k) @ values), _widest(values)
                found[null].setdefault("contraction", []).append(most / first)
                found[null].setdefault("spread", []).append(most / _widest(self.x))
        return {null: {name: np.concatenate(each) for name, each in of.items()} for null, of in found.items()}


def _bartlett(source: np.random.Generator, count: int, rows: int, columns: int) -> Floats:
    """Lower triangular, normal below a diagonal of chi with columns, columns - 1, ... degrees."""
    width = min(rows, columns)
    normal = source.standard_normal((count, rows, width))
    chi = np.sqrt(source.chisquare(np.arange(columns, columns - width, -1), (count, width)))
    below = np.where(np.arange(rows)[:, None] > np.arange(width), normal, 0.0)
    return np.asarray(below + np.eye(rows, width) * chi[:, None, :])


def _turned_rows(rows: Floats, turned: tuple[Any, Any, Any]) -> Floats:
    """Row l turned by the angles ``l w``, as complex numbers."""
    first, second, frequencies = turned
    angles = np.outer(np.arange(rows.shape[-2]), np.asarray(frequencies, dtype=np.float64))
    pairs = (rows[..., first] + 1j * rows[..., second]) * np.exp(1j * angles)
    found = rows.copy()
    found[..., first], found[..., second] = pairs.real, pairs.imag
    return found


def _widest(rows: Floats) -> Any:
    """The largest distance between two rows, from the rows one by one."""
    most = np.zeros(rows.shape[:-2])
    for each in range(rows.shape[-2]):
        most = np.maximum(most, np.sqrt(((rows - rows[..., each : each + 1, :]) ** 2).sum(-1)).max(-1))
    return most if most.ndim else float(most)


def recheck_tokens(
    shown: Shown,
    stated: Mapping[str, Json],
    fresh: Mapping[str, Json],
    plain: Mapping[int, PlainHeads],
    seed: int,
) -> None:
    """``fresh``: what the issuer's code makes of the same tokens now; ``plain``: the layers that are found by other formulas."""
    for name in ("tokens", "sha256", "ids", "draws", "layer_draws", "quantities", "not_taken"):
        shown.same(("tokens", name), fresh[name])
    if stated["source"] == fresh["source"] == "random tokens":  # the name of a file is not found again
        shown.cover(("tokens", "source"))
    tests, again = stated["tests"], fresh["tests"]
    if len(tests) != len(again):
        shown.fails(("tokens", "tests"), f"{len(tests)} tests are stated, {len(again)} are found")
        return
    if not tests:
        shown.cover(("tokens", "tests"))
    drawn: dict[tuple[int, int], dict[str, dict[str, Floats]]] = {}
    for place, (each, other) in enumerate(zip(tests, again, strict=True)):
        path = ("tokens", "tests", place)
        for name in ("layer", "head", "quantity", "null"):
            shown.same((*path, name), other[name])
        value, mean, deviation = other["value"], other["mean"], other["deviation"]
        least = most = other["p"]
        if each["quantity"] in SECOND_QUANTITIES and other["layer"] in plain:
            heads, at = plain[other["layer"]], (other["layer"], other["head"])
            if at not in drawn:
                drawn.clear()
                drawn[at] = heads.draws(other["head"], fresh["draws"], seed)
            draws = drawn[at][other["null"]][other["quantity"]]
            value = heads.values(other["head"])[other["quantity"]]
            mean, deviation = float(draws.mean()), float(draws.std())
            least, most = (_p_value(value, draws, slip * NEAR * abs(value)) for slip in (-1, 1))
        size = max(abs(value), abs(mean), deviation)
        for name, found in (("value", value), ("mean", mean), ("deviation", deviation)):
            shown.cover((*path, name))
            if not abs(each[name] - found) <= NEAR * size:
                shown.fails((*path, name), f"{each[name]!r} is stated, {found!r} is found")
        z = (each["value"] - each["mean"]) / each["deviation"] if each["deviation"] > 0 else 0.0
        shown.cover((*path, "z"), (*path, "p"))
        if not math.isclose(each["z"], z, rel_tol=1e-9, abs_tol=1e-12):
            shown.fails((*path, "z"), f"{each['z']!r} is stated, the numbers beside it give {z!r}")
        if not least * (1 - 1e-9) <= each["p"] <= most * (1 + 1e-9):
            shown.fails((*path, "p"), f"{each['p']!r} is stated, the draws give {most!r}")


def _p_value(value: float, draws: Floats, slip: float) -> float:
    """Two-sided, of a value that may be off: the smallest for a negative slip, the largest for a positive one."""
    below, above = int((draws <= value + slip).sum()), int((draws >= value - slip).sum())
    return min(1.0, 2 * (1 + min(below, above)) / (len(draws) + 1))
