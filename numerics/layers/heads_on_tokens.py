"""What a head does to given tokens, against what random attention weights of its shape do to the same tokens.

The tokens that the attention reads are kept, with masks, positions, biases and whatever else the layer does to scores; of each
head Q, K, V, O are drawn anew (:mod:`eigentoken.numerics.layers.redrawn`), and the same quantity is taken: measured in floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentoken.documents.chance_document import NullName
from eigentoken.numerics.layers.head_jacobian import jacobian_norms
from eigentoken.numerics.layers.redrawn import Floats, HeadDraws, draw_heads
from eigentoken.transformer_layer import Block, attended

__all__ = ["HEAD_QUANTITIES", "HeadsAtTokens", "diameters", "plain_scores", "read_by_attention"]

HEAD_QUANTITIES = {
    "contraction": "diameter of what the head puts out over that of its values: 1 where nothing is averaged away",
    "spread": "diameter of what the head puts out over that of the tokens that it reads",
    "Jacobian": "norm of the Jacobian of the head at these tokens (power iteration)",
}
#: Entries of the scores of a batch of draws.
BATCH = 4_000_000
#: Draws whose Jacobians are found together.
TOGETHER = 16


def read_by_attention(block: Block[Floats], x: Floats) -> Floats:
    """The tokens as the attention of the layer reads them: normed where the norm stands before it."""
    return block.attention_norm.apply(x) if block.pre_norm else x


@dataclass(frozen=True, eq=False)
class HeadsAtTokens:
    """The heads of one layer and the tokens ``x`` (n, d) that its attention reads."""

    block: Block[Floats]
    x: Floats

    @classmethod
    def of(cls, block: Block[Floats], state: Floats) -> HeadsAtTokens:
        """``state``: the tokens that enter the layer."""
        return cls(block, np.asarray(read_by_attention(block, np.asarray(state, dtype=np.float64)), dtype=np.float64))

    @property
    def widths(self) -> tuple[int, int, int]:
        """Of queries, keys and values of a head."""
        values = self.block.out.shape[1] // self.block.heads
        queries = (self.block.qkv.shape[0] - self.block.out.shape[1]) // 2 // self.block.heads
        return queries, queries, values

    def matrices(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Q, K, V (H, r, d) and O (H, d, r)."""
        heads, (queries, _, values), d = self.block.heads, self.widths, self.x.shape[1]
        whole = np.asarray(self.block.qkv, dtype=np.float64)
        edges = heads * queries, 2 * heads * queries
        parts = (whole[: edges[0]], whole[edges[0] : edges[1]], whole[edges[1] :])
        Q, K, V = (part.reshape(heads, -1, d) for part in parts)
        O = np.asarray(self.block.out, dtype=np.float64).reshape(d, heads, values).swapaxes(0, 1)
        return Q, K, V, O

    def mixed(self, q: Floats, k: Floats, v: Floats) -> Floats:
        """Rows (..., H, n, r) of all heads side by side (..., n, 2 H r + H r_v), with the biases of the layer."""
        flat = [part.swapaxes(-2, -3).reshape((*part.shape[:-3], part.shape[-2], -1)) for part in (q, k, v)]
        found = np.concatenate(flat, axis=-1)
        return found if self.block.qkv_bias is None else found + np.asarray(self.block.qkv_bias, dtype=np.float64)

    def attend(self, mixed: Floats) -> tuple[Floats, Floats, Floats]:
        """Weights, values and what heads put out before O, (..., H, n, .)."""
        block = self.block
        width, n = int(block.out.shape[1]), self.x.shape[0]
        _, weights, joined = attended(mixed, block.heads, block.scale, block.seen(n), block.turn, block.rules, width)
        values = mixed[..., mixed.shape[-1] - width :]
        if block.rules is not None and block.rules.clip is not None:
            values = np.clip(values, -block.rules.clip, block.rules.clip)
        return weights, self._by_head(values), self._by_head(joined)

    def _by_head(self, rows: Floats) -> Floats:
        return np.asarray(rows.reshape((*rows.shape[:-1], self.block.heads, -1)).swapaxes(-2, -3))

    def measured(self, jacobian: bool) -> dict[str, Floats]:
        """Of the weights as they are: a number a head."""
        Q, K, V, O = self.matrices()
        weights, values, put_out = self.attend(self.mixed(*(self.x @ part.swapaxes(-1, -2) for part in (Q, K, V))))
        roots = np.asarray(np.linalg.qr(O, mode="r"))
        found = self._diameters(values, put_out, roots)
        if jacobian:
            found["Jacobian"] = np.array(jacobian_norms(self._as_heads(Q, K, V, O), self.x, list(weights)))
        return found

    def _diameters(self, values: Floats, put_out: Floats, roots: Floats) -> dict[str, Floats]:
        before, after = (diameters(each @ roots.swapaxes(-1, -2)) for each in (values, put_out))
        with np.errstate(all="ignore"):
            return {"contraction": after / before, "spread": after / diameters(self.x)}

    def _as_heads(self, Q: Floats, K: Floats, V: Floats, O: Floats) -> list[dict[str, Any]]:
        bias = None if self.block.qkv_bias is None else np.asarray(self.block.qkv_bias, dtype=np.float64)
        width = self.widths[0]
        return [
            {
                "Q": Q[h],
                "K": K[h],
                "V": V[h],
                "O": O[h],
                "scale": self.block.scale,
                "q_bias": None if bias is None else bias[h * width : (h + 1) * width],
            }
            for h in range(len(Q))
        ]

    # -- the nulls -----------------------------------------------------------------------------------------------------------

    def against(
        self, draws: int, seed: int, jacobian: int, done: Callable[[], None] = lambda: None
    ) -> dict[NullName, dict[str, Floats]]:
        """Quantities (draws, H) under both nulls; of the Jacobian only the first ``jacobian`` draws, none if 0."""
        n, d = self.x.shape
        m, widths = min(n, d), self.widths
        source = np.random.default_rng([seed, *widths, m, d])
        along = self._coordinates()
        batch = max(1, min(draws, BATCH // (self.block.heads * n * n + 3 * sum(widths) ** 2)))
        found: dict[NullName, dict[str, list[Floats]]] = {"gaussian factors": {}, "random bases": {}}
        for made in range(0, draws, batch):
            count = min(batch, draws - made)
            drawn = draw_heads(source, count, widths, m, d, (widths[2], d))
            more = max(0, min(count, jacobian - made))
            for null, put in self._redrawn(drawn, drawn.parts()[0].shape[-1] if more else m):
                for name, values in self._of_draws(put, along, more).items():
                    found[null].setdefault(name, []).append(values)
            done()
        return {null: {name: np.concatenate(each) for name, each in of.items()} for null, of in found.items()}

    def _coordinates(self) -> Floats:
        """The tokens (n, m) in an orthonormal basis of their span."""
        return np.asarray(np.linalg.qr(self.x.T, mode="r")).T

    def _redrawn(self, drawn: HeadDraws, columns: int) -> Iterator[tuple[NullName, tuple[Floats, ...]]]:
        """For each null the first columns of the rows of Q, K, V (N, H, r, m + t), and a factor of O (N, H, k, r)."""
        *parts, O = self.matrices()
        d = self.x.shape[1]
        scales = [np.linalg.norm(part, axis=(1, 2)) / np.sqrt(part.shape[1] * d) for part in (*parts, O.swapaxes(1, 2))]
        drawn_rows = [part[:, None, :, :columns] for part in drawn.parts()]
        gaussian = [part * scale[:, None, None] for part, scale in zip(drawn_rows, scales, strict=False)]
        root = drawn.output.swapaxes(-1, -2)[:, None] * scales[3][:, None, None]
        yield "gaussian factors", (*gaussian, root)
        lower = [np.asarray(np.linalg.qr(part.swapaxes(1, 2), mode="r")).swapaxes(1, 2) for part in parts]
        frames = [frame[:, None, :, :columns] for frame in drawn.frames(d)]
        turned = [factor @ frame for factor, frame in zip(lower, frames, strict=True)]
        own = np.asarray(np.linalg.qr(O, mode="r"))
        yield "random bases", (*turned, np.broadcast_to(own, (len(drawn.rows), *own.shape)))

    def _of_draws(self, put: tuple[Floats, ...], along: Floats, jacobian: int) -> dict[str, Floats]:
        *rows, root = put
        m = along.shape[1]
        weights, values, put_out = self.attend(self.mixed(*(along @ each[..., :m].swapaxes(-1, -2) for each in rows)))
        found = self._diameters(values, put_out, root)
        if jacobian:
            whole = np.concatenate([along, np.zeros((len(along), rows[0].shape[-1] - m))], axis=-1)
            norms: list[float] = []
            for start in range(0, jacobian, TOGETHER):
                some = range(start, min(start + TOGETHER, jacobian))
                heads = [each for i in some for each in self._as_heads(rows[0][i], rows[1][i], rows[2][i], root[i])]
                norms += jacobian_norms(heads, whole, [each for i in some for each in weights[i]])
            found["Jacobian"] = np.array(norms).reshape(jacobian, -1)
        return found


def diameters(rows: Floats) -> Floats:
    """The largest distance between two of the rows (..., n, k)."""
    apart = rows - rows.mean(axis=-2, keepdims=True)
    squares = (apart * apart).sum(axis=-1)
    gram = apart @ apart.swapaxes(-1, -2)
    found = squares[..., :, None] + squares[..., None, :] - 2 * gram
    return np.asarray(np.sqrt(np.maximum(found.max(axis=(-1, -2)), 0.0)))


def plain_scores(block: Block[Floats]) -> bool:
    """Are scores the bilinear form of the tokens alone, whose Jacobian is the one that ``check`` measures?"""
    rules = block.rules
    plain = rules is None or (
        rules.query_norm is None
        and rules.key_norm is None
        and rules.clip is None
        and rules.terms is None
        and rules.cap is None
        and rules.sinks is None
    )
    return plain and block.turn is None and block.latent is None
