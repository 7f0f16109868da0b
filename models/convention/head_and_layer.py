"""Heads and layers in one stated convention, with the numbers exactly as stored.

Tokens are rows in code, ``(..., n, d)``, columns in formulas; every matrix acts on a column token from the left.
Head h has Q_h, K_h, V_h of shape (d_head, d) and O_h of shape (d, d_head), and

    score_ij = (Q_h x_i + b_Q)^T R_{j-i} (K_h x_j + b_K) / scale        (R = I without rotary positions)
    update_i = sum_h O_h sum_j softmax_j(score_ij) (V_h x_j + b_V) + b_O
    P_h = Q_h^T K_h / scale,   U_h = O_h V_h,   F = sum_h U_h,   S = sum_h Q_h^T K_h.

Nothing is folded unless the layer says so in ``folded``: not the norm's gain, not a bias, not the scale.
float16, float32 and float64 keep their dtype; bfloat16 and dequantised blocks have no numpy dtype and are given as
the float32 numbers of the same value, with ``stored_dtype`` naming what is in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from eigentoken.display import with_shapes
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Array, Rotary
from eigentoken.models.convention.rules import PLAIN, Rules
from eigentoken.transformer_layer import ACTIVATIONS, Block, feed_forward_update


@dataclass(frozen=True)
class Mask:
    """Which keys j a query i may see: ``full``; ``causal`` (j <= i); ``local`` (0 <= i - j < window); ``near``
    (|i - j| <= window)."""

    kind: Literal["full", "causal", "local", "near"]
    window: int | None = None

    def allowed(self, n: int) -> Array:
        """Boolean (n, n), row = query.

        >>> Mask("local", 2).allowed(3).astype(int)
        array([[1, 0, 0],
               [1, 1, 0],
               [0, 1, 1]])
        """
        if self.kind == "full":
            return np.ones((n, n), dtype=bool)
        offset = np.subtract.outer(np.arange(n), np.arange(n))
        if self.kind == "near":
            return np.abs(offset) <= (n if self.window is None else self.window)
        seen = offset >= 0
        return seen if self.kind == "causal" or self.window is None else seen & (offset < self.window)

    def describe(self) -> str:
        """One word, or one phrase, for reports."""
        words = {"local": f"local causal window of {self.window}", "near": f"full, to a distance of {self.window}"}
        return words.get(self.kind, self.kind)


@dataclass(frozen=True, eq=False, repr=False)
class FeedForward:
    """down act(up x + b_up) + b_down, or with a gate: down (act(gate x + b_gate) * (up x + b_up)) + b_down."""

    __repr__ = with_shapes

    up: Array
    down: Array
    activation: str
    gate: Array | None = None
    up_bias: Array | None = None
    down_bias: Array | None = None
    gate_bias: Array | None = None
    stored_dtype: str = "float32"

    def apply(self, x: Array, *, with_biases: bool = True) -> Array:
        """The feed-forward update of the rows of ``x``."""
        self.check_activation()
        return np.asarray(feed_forward_update(self, x, with_biases))

    def parts(self) -> dict[str, Any]:
        """The parts by the names that :class:`~eigentoken.transformer_layer.Block` has for them."""
        names = ("up", "down", "gate", "up_bias", "down_bias", "gate_bias", "activation")
        return {name: getattr(self, name) for name in names}

    def check_activation(self) -> None:
        """Refuse an activation that no formula here stands for."""
        if self.activation not in ACTIVATIONS:
            known = ", ".join(sorted(ACTIVATIONS))
            raise ModelError(f"activation {self.activation[:60]!r} is not known: expected one of {known}")


@dataclass(frozen=True, eq=False)
class Head:
    """One attention head: Q, K, V (d_head, d), O (d, d_head), biases, scale.  See the module for the equations.

    Values may be narrower than queries (multi-head latent attention): V (d_value, d), O (d, d_value).
    """

    index: int
    Q: Array
    K: Array
    V: Array
    O: Array
    scale: float
    q_bias: Array | None = None
    k_bias: Array | None = None
    v_bias: Array | None = None
    rotary: Rotary | None = None
    kv_index: int = 0
    layer: int = 0
    stored_dtype: str = "float32"
    folded: tuple[str, ...] = ()

    @property
    def d(self) -> int:
        """The width of a token."""
        return int(self.Q.shape[1])

    @property
    def d_head(self) -> int:
        """The width of a query."""
        return int(self.Q.shape[0])

    def score_matrix(self, delta: float = 0) -> Array:
        """P(delta) = Q^T R_delta K / scale, float64, delta = key position minus query position (P if no rotary).

        A float product for plots and forward passes; certified code builds its own enclosure from Q, K and scale.
        """
        Q, K = self.Q.astype(np.float64), self.K.astype(np.float64)
        if self.rotary is not None and delta != 0:
            K = self.rotary.rotation(delta) @ K
        return np.asarray(Q.T @ K / self.scale)

    def rotary_change(self, delta: float) -> Array:
        """Delta W = P(delta) - P(0) = Q^T (R_delta - I) K / scale; zero without rotary positions."""
        if self.rotary is None:
            return np.zeros((self.d, self.d))
        turn = self.rotary.rotation(delta) - np.eye(self.d_head)
        return np.asarray(self.Q.astype(np.float64).T @ turn @ self.K.astype(np.float64) / self.scale)

    @property
    def P(self) -> Array:
        """P = Q^T K / scale, float64 (d, d); with rotary positions, that of one position (``score_matrix`` for others).

        A rounded product: a certified answer about P is in the report of ``eigentoken.check``.
        """
        return self.score_matrix()

    @property
    def U(self) -> Array:
        """U = O V, float64 (d, d); a rounded product, see ``P``."""
        return np.asarray(self.O.astype(np.float64) @ self.V.astype(np.float64))

    def __repr__(self) -> str:
        return f"<Head: {self.describe()}>"

    def describe(self) -> str:
        """One line for reports."""
        group = f", key-value head {self.kv_index}" if self.kv_index != self.index else ""
        return f"layer {self.layer} head {self.index}{group}: d={self.d}, d_head={self.d_head}, scale={self.scale:g}"

    def _repr_html_(self) -> str:
        from eigentoken.models.convention.display import head_html

        return head_html(self)


#: Positions inside the scores, or added once before the layers.
Positions = Literal["absolute", "rotary", "none", "ALiBi", "relative", "disentangled"]


@dataclass(frozen=True)
class StoredMatrix:
    """Where a matrix of this convention is in the file: tensor name, and whether the file holds the transpose."""

    name: str
    transposed: bool


@dataclass(frozen=True, eq=False)
class Layer:
    """One attention layer with what surrounds it.  ``placement`` pre: x + attn(norm(x)); post: norm(x + attn(x)).

    ``weights_of`` is the first layer that has the same stored weights (ALBERT shares them), else ``index``.
    ``feed_forward`` is read from the file on first use; ``not_read`` says what it is where it is none that can be read.
    ``positions`` are those inside the scores, or ``absolute`` where there are only those added before the layers; ``added``:
    there are both.  ``rules``: what the scores are beside the bilinear form.  ``parallel``, update norms and gains as in
    :class:`~eigentoken.transformer_layer.Block`.
    """

    index: int
    heads: tuple[Head, ...]
    mask: Mask
    placement: Literal["pre", "post"]
    attention_norm: Normalization
    feed_forward_norm: Normalization
    positions: Positions
    read_feed_forward: Callable[[], FeedForward] = field(repr=False)
    output_bias: Array | None = None
    output_stored: StoredMatrix = StoredMatrix("", False)
    weights_of: int = 0
    stored_dtype: str = "float32"
    folded: tuple[str, ...] = ()
    not_folded: tuple[str, ...] = ()
    added: bool = False
    rules: Rules = PLAIN
    parallel: bool = False
    attention_update_norm: Normalization | None = None
    feed_forward_update_norm: Normalization | None = None
    attention_gain: Array | None = None
    feed_forward_gain: Array | None = None
    not_read: str = ""

    @cached_property
    def feed_forward(self) -> FeedForward:
        """The feed-forward block, read when asked for."""
        if self.not_read:
            raise ModelError(
                f"layer {self.index}: the feed-forward is {self.not_read}, which is not read: ask for the attention alone "
                "(with_feed_forward=False)"
            )
        return self.read_feed_forward()

    def update(self) -> str:
        """What happens to the attention's update before it is added, in words; nothing where it is added as it is."""
        said = ["a norm of the update"] if self.attention_update_norm is not None else []
        said += ["a gain of the update"] if self.attention_gain is not None else []
        return ", ".join(said)

    def beyond(self) -> tuple[str, ...]:
        """Every part in which the layer is no softmax attention of a bilinear form whose update is added as it is."""
        found = (self.rules.scores(), self.rules.weights(), self.rules.values(), self.update())
        inside = f"{self.positions} positions" if self.rules.terms is not None else ""
        return tuple(each for each in (*found, inside) if each)

    def __len__(self) -> int:
        """As many as there are heads."""
        return len(self.heads)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Head:
        """``layer[3]`` is ``layer.heads[3]``."""
        return self.heads[index]

    def __iter__(self) -> Iterator[Head]:
        return iter(self.heads)

    @property
    def n_heads(self) -> int:
        """The number of (query) heads."""
        return len(self.heads)

    @property
    def d(self) -> int:
        """The width of a token."""
        return self.heads[0].d

    @property
    def rotary(self) -> Rotary | None:
        """The rotary encoding of the heads, if any."""
        return self.heads[0].rotary

    def output_matrix(self) -> Array:
        """[O_1 ... O_H], shape (d, H d_head), values as stored."""
        return np.concatenate([head.O for head in self.heads], axis=1)

    def value_matrix(self) -> Array:
        """[V_1; ...; V_H], shape (H d_head, d), values as stored (a grouped value head appears once per query head)."""
        return np.concatenate([head.V for head in self.heads], axis=0)

    @property
    def F(self) -> Array:
        """F = sum_h O_h V_h, float64 (d, d); a rounded product, see ``Head.P``."""
        return np.asarray(self.output_matrix().astype(np.float64) @ self.value_matrix().astype(np.float64))

    @property
    def S(self) -> Array:
        """S = sum_h Q_h^T K_h, float64 (d, d), not divided by the scale; a rounded product, see ``Head.P``."""
        queries, keys = (np.concatenate([getattr(head, part) for head in self.heads]) for part in "QK")
        return np.asarray(queries.astype(np.float64).T @ keys.astype(np.float64))

    def block(self, feed_forward: bool = True) -> Block[Array]:
        """The layer as the forward pass reads it (:func:`eigentoken.transformer_layer.run_parts`): its heads stacked.

        ``feed_forward=False`` leaves the second half out, and unread.
        """

        def stacked(name: str) -> Array | None:
            found = [(getattr(head, f"{name}_bias"), len(getattr(head, name.upper()))) for head in self.heads]
            if all(bias is None for bias, _ in found):
                return None
            return np.concatenate([np.zeros(width) if bias is None else bias for bias, width in found])

        matrices = [np.concatenate([getattr(head, part) for head in self.heads]) for part in "QKV"]
        biases = [stacked(part) for part in "qkv"]
        joined = None
        if any(bias is not None for bias in biases):
            pairs = zip(biases, matrices, strict=True)
            joined = np.concatenate([np.zeros(len(rows)) if bias is None else bias for bias, rows in pairs])
        inner = self.feed_forward if feed_forward else None
        if inner is not None:
            inner.check_activation()
        rotary, latent = self.rotary, self.rules.latent
        after = [
            None if n is None else n.weights() for n in (self.attention_update_norm, self.feed_forward_update_norm)
        ]
        return Block(
            heads=len(self.heads),
            qkv=np.concatenate(matrices) if latent is None else latent.qkv,
            out=self.output_matrix(),
            scale=float(self.heads[0].scale),
            causal=self.mask.kind == "causal",
            pre_norm=self.placement == "pre",
            attention_norm=self.attention_norm.weights(),
            feed_forward_norm=self.feed_forward_norm.weights(),
            qkv_bias=joined,
            out_bias=self.output_bias,
            allowed=self.mask.allowed if self.mask.kind in ("local", "near") else None,
            turn=None if rotary is None else rotary.rotate,
            rules=self.rules.as_run(),
            latent=latent,
            parallel=self.parallel,
            attention_update_norm=after[0],
            feed_forward_update_norm=after[1],
            attention_gain=self.attention_gain,
            feed_forward_gain=self.feed_forward_gain,
            **({} if inner is None else inner.parts()),
        )

    def __repr__(self) -> str:
        return f"<Layer: {self.describe()}>"

    def stamp(self) -> str:
        """What was and was not folded into the matrices."""
        done = "; ".join(self.folded) if self.folded else "nothing"
        return f"stored as {self.stored_dtype}; folded: {done}; not folded: {'; '.join(self.not_folded)}"

    def fold_gains(self) -> Layer:
        """The layer with the pre-norm gain g multiplied into Q, K, V (Q diag(g)) and the norm's bias into theirs.

        Exact in float64 for float16, bfloat16 and float32 weights (24 + 24 bits); the biases are float64 sums.
        Only for pre-norm layers: a post-norm feeds the residual too.
        """
        if self.placement != "pre":
            raise ModelError(f"layer {self.index}: gains can be folded only when the norm comes before attention (pre)")
        if self.folded:
            raise ModelError(f"layer {self.index}: gains are folded already ({'; '.join(self.folded)})")
        if self.rules.latent is not None:
            raise ModelError(f"layer {self.index}: gains cannot be folded where heads read a normed latent")
        g = self.attention_norm.gain.astype(np.float64)
        beta = self.attention_norm.bias
        text = ("norm gain into Q, K, V" + (", norm bias into their biases" if beta is not None else ""),)

        def bias(W: Array, b: Array | None) -> Array | None:
            if beta is None:
                return b
            moved = W.astype(np.float64) @ beta.astype(np.float64)
            return moved if b is None else moved + b

        heads = tuple(
            replace(
                h,
                Q=h.Q * g,
                K=h.K * g,
                V=h.V * g,
                q_bias=bias(h.Q, h.q_bias),
                k_bias=bias(h.K, h.k_bias),
                v_bias=bias(h.V, h.v_bias),
                folded=text,
            )
            for h in self.heads
        )
        norm = replace(self.attention_norm, gain=np.ones_like(g), bias=None)
        kept = tuple(item for item in self.not_folded if not item.startswith("norm"))
        return replace(self, heads=heads, attention_norm=norm, folded=text, not_folded=kept)

    def describe(self) -> str:
        """One line for reports."""
        norm = (
            "no norm before" if self.attention_norm.kind == "none" else f"{self.placement}-{self.attention_norm.kind}"
        )
        norm += ", parallel feed-forward" if self.parallel else ""
        shared = f", weights of layer {self.weights_of}" if self.weights_of != self.index else ""
        where = self.rotary.describe() if self.rotary is not None else f"{self.positions} positions"
        beyond = "".join(f", {each}" for each in self.beyond() if not each.endswith("positions"))
        return f"layer {self.index}{shared}: {len(self.heads)} heads, d={self.d}, {self.mask.describe()}, {norm}, {where}{beyond}"

    def _repr_html_(self) -> str:
        from eigentoken.models.convention.display import layer_html

        return layer_html(self)


def split_heads(
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array,
    *,
    n_heads: int,
    n_kv_heads: int,
    scale: float,
    layer: int,
    stored_dtype: str,
    b_Q: Array | None = None,
    b_K: Array | None = None,
    b_V: Array | None = None,
    rotary: Rotary | None = None,
) -> tuple[Head, ...]:
    """Views of the stacked projections: W_Q (H d_h, d), W_K (H_kv d_h, d), W_V (H_kv d_v, d), W_O (d, H d_v).

    Query head h uses key-value head h // (H / H_kv) (Ainslie et al., GQA, 2023).
    """
    group, wide = n_heads // n_kv_heads, W_O.shape[1] // n_heads

    def rows(W: Array, h: int) -> Array:
        size = W.shape[0] // (n_heads if W is W_Q else n_kv_heads)
        return W[h * size : (h + 1) * size]

    def cut(b: Array | None, h: int) -> Array | None:
        if b is None:
            return None
        size = b.shape[0] // (n_heads if b is b_Q else n_kv_heads)
        return b[h * size : (h + 1) * size]

    return tuple(
        Head(
            index=h,
            kv_index=h // group,
            layer=layer,
            Q=rows(W_Q, h),
            K=rows(W_K, h // group),
            V=rows(W_V, h // group),
            O=W_O[:, h * wide : (h + 1) * wide],
            q_bias=cut(b_Q, h),
            k_bias=cut(b_K, h // group),
            v_bias=cut(b_V, h // group),
            scale=scale,
            rotary=rotary,
            stored_dtype=stored_dtype,
        )
        for h in range(n_heads)
    )
