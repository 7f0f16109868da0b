"""Re-check of what ``chance`` measures on tokens of heads: whole matrices, and draws by other formulas.

Values of a head are taken from Q, K and ``U = O V`` (d x d), positions by turns of whole rows as complex numbers.  The draws are
those of the stream of ``numpy.random.default_rng([seed, r, r, r_v, m, d])``: normal (N, rows, m), then for queries, keys, values
together and for outputs Bartlett's factors, normal (N, rows, t) and chi-squared (N, t).  They are made orthonormal by QR of the
turned rows in place of Cholesky, and a Jacobian is applied as it is differentiated, not by coefficients of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigentoken.documents.chance_document import TokenTest
from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.shown import Shown

__all__ = ["HeldOnTokens", "PlainHeads", "defined", "held_heads", "recheck_tokens", "widest"]

Floats = NDArray[np.float64]
NEAR = 1e-6
#: Scores of a batch.
BATCH = 4_000_000
#: Steps of the power iteration, and how few draws are too few for a test.
STEPS, FEWEST = 40, 10


@dataclass(frozen=True, eq=False)
class PlainHeads:
    """Heads of a layer whose scores are ``(Q x_i + b)^T R_(j-i) (K x_j + c) / scale``, and the tokens that they read."""

    heads: Sequence[Mapping[str, Json]]
    x: Floats
    allowed: NDArray[np.bool_]

    def values(self, head: int) -> dict[str, float]:
        """Contraction, spread and, without positions, the Jacobian of the weights as they are."""
        own = self.heads[head]
        Q, K, V, O = (np.asarray(own[name], dtype=np.float64) for name in "QKVO")
        before = self.x @ (O @ V).T
        values = before if own["v_bias"] is None else before + O @ np.asarray(own["v_bias"], dtype=np.float64)
        weights = self.weights(head, (self.x @ Q.T)[None], (self.x @ K.T)[None])[0]
        most = widest(weights @ values)
        found = {"contraction": most / widest(values), "spread": most / widest(self.x)}
        if own["turned"] is None:
            found["Jacobian"] = float(_stretch(own, (Q[None], K[None], V[None]), O.T[None], self.x, weights[None])[0])
        return found

    def weights(self, head: int, q: Floats, k: Floats) -> Floats:
        """Of the rows (N, n, r) of its queries and keys without biases."""
        own: Mapping[str, Any] = self.heads[head]
        q, k = (
            rows if own[name] is None else rows + np.asarray(own[name], dtype=np.float64)
            for rows, name in ((q, "q_bias"), (k, "k_bias"))
        )
        if own["turned"] is not None:
            q, k = _turned_rows(q, own["turned"]), _turned_rows(k, own["turned"])
        scores = np.einsum("nir,njr->nij", q, k) / float(own["scale"])
        e = np.exp(np.where(self.allowed, scores, -np.inf) - np.where(self.allowed, scores, -np.inf).max(-1)[..., None])
        return np.asarray(e / e.sum(-1)[..., None])

    def draws(self, head: int, many: int, seed: int, jacobians: int) -> dict[str, dict[str, Floats]]:
        """Contraction and spread under both nulls, and the Jacobian of the first draws."""
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
            turned = []
            for part, stored in zip(parts, (Q, K, V), strict=True):
                base, triangle = np.linalg.qr(part[:, :d].swapaxes(-1, -2))
                base = base * np.where(np.diagonal(triangle, axis1=-2, axis2=-1) < 0, -1.0, 1.0)[:, None, :]
                turned.append((base @ np.linalg.qr(stored.T)[1]).swapaxes(-1, -2))
            lower = np.linalg.qr(O)[1].T
            put = {
                "gaussian factors": ([size * part for size, part in zip(sizes, parts, strict=False)], sizes[3] * root),
                "random bases": (turned, np.broadcast_to(lower, (count, *lower.shape))),
            }
            for null, (matrices, out) in put.items():
                q, k, v = (along @ part[..., :m].swapaxes(-1, -2) for part in matrices)
                v = v if own["v_bias"] is None else v + np.asarray(own["v_bias"], dtype=np.float64)
                weights, values = self.weights(head, q, k), v @ out
                most, first = widest(weights @ values), widest(values)
                found[null].setdefault("contraction", []).append(most / first)
                found[null].setdefault("spread", []).append(most / widest(self.x))
                more = max(0, min(count, jacobians - start)) if own["turned"] is None else 0
                if more:
                    columns = matrices[0].shape[-1]
                    x = np.hstack([along, np.zeros((n, columns - m))])
                    put_in = tuple(part[:more] for part in matrices)
                    found[null].setdefault("Jacobian", []).append(_stretch(own, put_in, out[:more], x, weights[:more]))
        return {null: {name: np.concatenate(each) for name, each in of.items()} for null, of in found.items()}


def _stretch(own: Mapping[str, Any], rows: Sequence[Floats], out: Floats, x: Floats, weights: Floats) -> Floats:
    """The norm of the Jacobian by power iteration with its own formula and the transposed one, for a batch of heads.

    With ``ds = (dq k^T + q dk^T) / scale`` and ``da = a (ds - sum a ds)``: ``df = (a dv + da v) out``, every ``d.`` linear in dx.
    """
    Q, K, V = rows
    scale, turn = float(own["scale"]), (0, 2, 1)
    q, k, v = (x @ part.transpose(turn) for part in (Q, K, V))
    q = q if own["q_bias"] is None else q + np.asarray(own["q_bias"], dtype=np.float64)

    def centred(change: Floats) -> Floats:
        return np.asarray(weights * (change - (weights * change).sum(-1)[..., None]))

    start = np.random.default_rng(0).standard_normal(x.shape)
    dx = np.broadcast_to(start / np.sqrt((start**2).sum()), (len(Q), *x.shape))
    lengths = np.zeros(len(Q))
    for _ in range(STEPS):
        change = (dx @ Q.transpose(turn) @ k.transpose(turn) + q @ K @ dx.transpose(turn)) / scale
        df = (weights @ (dx @ V.transpose(turn)) + centred(change) @ v) @ out
        lengths = np.sqrt((df**2).sum((1, 2)))
        back = df @ out.transpose(turn)
        ds = centred(back @ v.transpose(turn)) / scale
        dx = weights.transpose(turn) @ back @ V + ds @ k @ Q + ds.transpose(turn) @ q @ K
        size = np.sqrt((dx**2).sum((1, 2)))
        dx = dx / np.where(size > 0, size, 1.0)[:, None, None]
    return lengths


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


def widest(rows: Floats) -> Any:
    """The largest distance between two rows, from the rows one by one."""
    most = np.zeros(rows.shape[:-2])
    for each in range(rows.shape[-2]):
        most = np.maximum(most, np.sqrt(((rows - rows[..., each : each + 1, :]) ** 2).sum(-1)).max(-1))
    return most if most.ndim else float(most)


@dataclass(frozen=True)
class HeldOnTokens:
    """One value on tokens against its draws: of how many, and the p-values that a value so near may have."""

    layer: int
    head: int | None
    quantity: str
    null: str
    value: float
    mean: float
    deviation: float
    draws: int
    p: tuple[float, float]

    @classmethod
    def again(cls, test: TokenTest) -> HeldOnTokens:
        """What the issuer's code makes of it now."""
        where = test["layer"], test["head"], test["quantity"], test["null"]
        return cls(*where, test["value"], test["mean"], test["deviation"], test["draws"], (test["p"], test["p"]))


def held_heads(layer: int, plain: PlainHeads, draws: int, jacobians: int, seed: int) -> Iterator[HeldOnTokens]:
    """The tests of the heads of a layer, in the order of a document."""
    for head in range(len(plain.heads)):
        values, drawn = plain.values(head), plain.draws(head, draws, seed, jacobians)
        for null, of in drawn.items():
            yield from (held for name in of for held in defined(layer, head, name, null, values[name], of[name]))


def defined(
    layer: int, head: int | None, quantity: str, null: str, value: float, draws: Floats
) -> Iterator[HeldOnTokens]:
    """One test, where the value and enough draws are defined."""
    kept = draws[np.isfinite(draws)]
    if math.isfinite(value) and len(kept) >= FEWEST:
        deviation = float(kept.std())
        p = [_p_value(value, kept, slip * NEAR * max(abs(value), deviation)) for slip in (-1, 1)]
        yield HeldOnTokens(layer, head, quantity, null, value, float(kept.mean()), deviation, len(kept), (p[0], p[1]))


def recheck_tokens(
    shown: Shown, stated: Mapping[str, Json], of: Mapping[str, Json], found: Sequence[HeldOnTokens]
) -> None:
    """``of``: what the document says of its tokens, as it must be; ``found``: every test of it, made again."""
    for name in ("tokens", "sha256", "ids", "draws", "layer_draws", "quantities", "not_taken"):
        shown.same(("tokens", name), of[name])
    if stated["source"] == of["source"] == "random tokens":  # the name of a file is not found again
        shown.cover(("tokens", "source"))
    tests = stated["tests"]
    if len(tests) != len(found):
        shown.fails(("tokens", "tests"), f"{len(tests)} tests are stated, {len(found)} are found")
        return
    if not tests:
        shown.cover(("tokens", "tests"))
    for place, (each, held) in enumerate(zip(tests, found, strict=True)):
        path = ("tokens", "tests", place)
        for name in ("layer", "head", "quantity", "null", "draws"):
            shown.same((*path, name), getattr(held, name))
        size, (least, most) = max(abs(held.value), abs(held.mean), held.deviation), held.p
        for name in ("value", "mean", "deviation"):
            number = getattr(held, name)
            shown.cover((*path, name))
            if not abs(each[name] - number) <= NEAR * size:
                shown.fails((*path, name), f"{each[name]!r} is stated, {number!r} is found")
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
