"""A transformer layer in torch with its parts switched one by one: attention, biases, norms, feed-forward, positions.

This is the papers' layer between two extremes: the map of eq. (3) (attention, residual, l2 normalization) and the layer
as trained (affine layer norm, biases, feed-forward, absolute or rotary positions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

__all__ = [
    "ATTENTION_ONLY",
    "Block",
    "FreshWeights",
    "GPT2Shape",
    "LayerParts",
    "NormWeights",
    "attention_update",
    "block_of",
    "feed_forward_update",
    "random_blocks",
    "resample",
    "run_block",
]


@dataclass(frozen=True)
class LayerParts:
    """Which parts of a layer are on.

    ``norm``: "affine" (as trained), "plain" (gain 1, bias 0), "l2" (each token to length 1 after each half layer, the
    papers' model, no other norm) or "none".
    """

    feed_forward: bool = True
    biases: bool = True
    norm: str = "affine"

    def __post_init__(self) -> None:
        if self.norm not in {"affine", "plain", "l2", "none"}:
            raise ValueError(f"norm must be affine, plain, l2 or none, got {self.norm!r}")


#: The layer of Li and Altafini, eq. (3): attention, residual connection, l2 normalization, step size one.
ATTENTION_ONLY = LayerParts(feed_forward=False, biases=False, norm="l2")


@dataclass(frozen=True, eq=False)
class NormWeights:
    """Layer norm, or RMS norm when ``centred`` is false."""

    gain: Tensor
    bias: Tensor | None
    eps: float
    centred: bool = True

    def apply(self, x: Tensor, parts: LayerParts) -> Tensor:
        gain = self.gain if parts.norm == "affine" else None
        bias = self.bias if parts.norm == "affine" and parts.biases else None
        if self.centred:
            return functional.layer_norm(x, x.shape[-1:], gain, bias, self.eps)
        scaled = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
        return scaled if gain is None else scaled * gain


@dataclass(frozen=True, eq=False)
class Block:
    """One layer: fused ``qkv`` (3 H d_h, d), ``out`` (d, H d_h), norms, feed-forward; see :func:`run_block`."""

    heads: int
    qkv: Tensor
    out: Tensor
    scale: float
    causal: bool
    pre_norm: bool
    attention_norm: NormWeights
    feed_forward_norm: NormWeights
    qkv_bias: Tensor | None = None
    out_bias: Tensor | None = None
    up: Tensor | None = None
    down: Tensor | None = None
    gate: Tensor | None = None
    up_bias: Tensor | None = None
    down_bias: Tensor | None = None
    gate_bias: Tensor | None = None
    activation: str = "gelu_new"
    allowed: Callable[[int], Tensor] | None = None
    turn: Callable[[Tensor], Tensor] | None = None

    @property
    def d(self) -> int:
        return self.out.shape[0]

    def layer_matrix(self) -> Tensor:
        """``F = sum_h O_h V_h``, the layer matrix of Li and Altafini."""
        return self.out.double() @ self.qkv[2 * self.out.shape[1] :].double()


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_python": functional.gelu,
    "gelu_new": lambda y: functional.gelu(y, approximate="tanh"),
    "gelu_fast": lambda y: functional.gelu(y, approximate="tanh"),
    "gelu_pytorch_tanh": lambda y: functional.gelu(y, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
    "swish": functional.silu,
    "tanh": torch.tanh,
}


def attention_update(block: Block, x: Tensor, biases: bool = True) -> Tensor:
    """``sum_h O_h sum_j a^h_ij (V_h x_j + b_V) + b_O`` for tokens (..., n, d)."""
    mixed = functional.linear(x, block.qkv, block.qkv_bias if biases else None)
    mask = None if block.allowed is None else block.allowed(x.shape[-2])
    joined = _attended(mixed, block.heads, block.scale, block.causal, mask, block.turn)
    return functional.linear(joined, block.out, block.out_bias if biases else None)


def _attended(
    mixed: Tensor,
    heads: int,
    scale: float,
    causal: bool,
    mask: Tensor | None = None,
    turn: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """What the heads see, side by side: from queries, keys and values (..., n, 3 H d_h) to (..., n, H d_h)."""
    q, k, v = mixed.view(*mixed.shape[:-1], 3, heads, -1).movedim(-3, 0).transpose(-2, -3)
    if turn is not None:
        q, k = turn(q), turn(k)
    seen = functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=causal and mask is None, scale=1 / scale
    )
    return seen.transpose(-2, -3).flatten(-2)


def feed_forward_update(block: Block, x: Tensor, biases: bool = True) -> Tensor:
    """``down act(up x + b) + b``, with a gate where the family has one."""
    assert block.up is not None and block.down is not None
    act = _ACTIVATIONS[block.activation]
    inner = functional.linear(x, block.up, block.up_bias if biases else None)
    hidden = (
        act(inner)
        if block.gate is None
        else act(functional.linear(x, block.gate, block.gate_bias if biases else None)) * inner
    )
    return functional.linear(hidden, block.down, block.down_bias if biases else None)


def run_block(block: Block, x: Tensor, parts: LayerParts = LayerParts()) -> Tensor:  # noqa: B008
    """The tokens after one layer.

    With ``norm="l2"``: ``x <- (x + attention(x)) / |.|`` (and the same for the feed-forward if it is on); otherwise the
    layer's own placement of its norms.
    """
    with_feed_forward = parts.feed_forward and block.up is not None
    if parts.norm in {"l2", "none"}:
        x = _finish(x + attention_update(block, x, parts.biases), parts)
        return _finish(x + feed_forward_update(block, x, parts.biases), parts) if with_feed_forward else x
    if block.pre_norm:
        x = x + attention_update(block, block.attention_norm.apply(x, parts), parts.biases)
        if with_feed_forward:
            x = x + feed_forward_update(block, block.feed_forward_norm.apply(x, parts), parts.biases)
        return x
    x = block.attention_norm.apply(x + attention_update(block, x, parts.biases), parts)
    if with_feed_forward:
        x = block.feed_forward_norm.apply(x + feed_forward_update(block, x, parts.biases), parts)
    return x


def _finish(x: Tensor, parts: LayerParts) -> Tensor:
    return functional.normalize(x, dim=-1) if parts.norm == "l2" else x


@dataclass(frozen=True)
class GPT2Shape:
    """Sizes of a GPT-2 model; :meth:`named` knows the four published ones."""

    layers: int
    heads: int
    d: int
    vocabulary: int = 50257
    positions: int = 1024

    @staticmethod
    def named(name: str) -> GPT2Shape:
        """ "small", "medium", "large" or "xl"."""
        sizes = {"small": (12, 12, 768), "medium": (24, 16, 1024), "large": (36, 20, 1280), "xl": (48, 25, 1600)}
        if name not in sizes:
            raise ValueError(f"shape must be one of {', '.join(sizes)}, got {name!r}")
        return GPT2Shape(*sizes[name])


def random_blocks(
    shape: GPT2Shape,
    generator: torch.Generator,
    *,
    deviation: float = 0.02,
    feed_forward: bool = True,
    dtype: Any = torch.float32,
) -> list[Block]:
    """GPT-2 layers with weights N(0, deviation^2), biases zero, norms gain 1 and bias 0 (GPT-2's own start)."""
    d, inner = shape.d, 4 * shape.d
    blocks = []
    for _ in range(shape.layers):
        norm = NormWeights(torch.ones(d, dtype=dtype), torch.zeros(d, dtype=dtype), 1e-5)
        blocks.append(
            Block(
                heads=shape.heads,
                qkv=torch.empty(3 * d, d, dtype=dtype),
                out=torch.empty(d, d, dtype=dtype),
                scale=(d / shape.heads) ** 0.5,
                causal=True,
                pre_norm=True,
                attention_norm=norm,
                feed_forward_norm=norm,
                qkv_bias=torch.zeros(3 * d, dtype=dtype),
                out_bias=torch.zeros(d, dtype=dtype),
                up=torch.empty(inner, d, dtype=dtype) if feed_forward else None,
                down=torch.empty(d, inner, dtype=dtype) if feed_forward else None,
                up_bias=torch.zeros(inner, dtype=dtype) if feed_forward else None,
                down_bias=torch.zeros(d, dtype=dtype) if feed_forward else None,
            )
        )
    resample(blocks, generator, deviation)
    return blocks


def resample(blocks: Sequence[Block], generator: torch.Generator, deviation: float = 0.02) -> None:
    """Draw all weight matrices anew, in place."""
    for block in blocks:
        for weight in (block.qkv, block.out, block.up, block.down):
            if weight is not None:
                weight.normal_(0, deviation, generator=generator)


@dataclass(frozen=True, eq=False)
class FreshWeights:
    """GPT-2 layers whose weights N(0, deviation^2) are drawn anew for every pass, without drawing them all.

    A matrix W with independent entries N(0, s^2) that is used once, on n tokens ``x^T = Q R`` (Q with orthonormal
    columns), gives ``W x^T = (W Q) R``, and the entries of ``W Q`` are independent and N(0, s^2), too.  So the product
    has exactly the law of ``Z R`` with n random columns Z in place of d: for 26 tokens of GPT-2 XL sixty times fewer
    random numbers, and no product with a d x d matrix.  Biases are zero and norms plain, as in :func:`random_blocks`.
    """

    shape: GPT2Shape
    generator: torch.Generator
    feed_forward: bool = True
    deviation: float = 0.02

    def times(self, x: Tensor, rows: int) -> Tensor:
        """``W x_i`` for the tokens (..., n, d) and a fresh W with so many rows: (..., n, rows)."""
        tokens = x.reshape(-1, x.shape[-1])
        factor = torch.linalg.qr(tokens.mT, mode="r").R
        drawn = torch.randn(rows, len(factor), generator=self.generator, dtype=x.dtype)
        return (factor.mT @ drawn.mT).mul_(self.deviation).reshape(*x.shape[:-1], rows)

    def run(self, x: Tensor) -> Tensor:
        """The tokens after all layers."""
        d, heads = self.shape.d, self.shape.heads
        for _ in range(self.shape.layers):
            mixed = self.times(functional.layer_norm(x, (d,)), 3 * d)
            x = x + self.times(_attended(mixed, heads, (d / heads) ** 0.5, causal=True), d)
            if self.feed_forward:
                inner = _ACTIVATIONS["gelu_new"](self.times(functional.layer_norm(x, (d,)), 4 * d))
                x = x + self.times(inner, d)
        return x


def block_of(layer: Any, dtype: Any = torch.float32) -> Block:
    """A :class:`Block` with the weights of a layer of a checkpoint (``eigentoken.models``: Q, K, V, O of each head)."""

    def stack(names: Sequence[str]) -> Tensor:
        return torch.cat([torch.cat([_tensor(getattr(head, name), dtype) for head in layer.heads]) for name in names])

    head = layer.heads[0]
    inner = layer.feed_forward
    activation = str(inner.activation)
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation {activation!r} is not known here: expected one of {', '.join(_ACTIVATIONS)}")
    rotary = head.rotary
    return Block(
        heads=len(layer.heads),
        qkv=stack(("Q", "K", "V")),
        out=torch.cat([_tensor(h.O, dtype) for h in layer.heads], dim=1),
        scale=float(head.scale),
        causal=layer.mask.kind == "causal",
        pre_norm=layer.placement == "pre",
        attention_norm=_norm(layer.attention_norm, dtype),
        feed_forward_norm=_norm(layer.feed_forward_norm, dtype),
        qkv_bias=None if head.q_bias is None else stack(("q_bias", "k_bias", "v_bias")),
        out_bias=_optional(layer.output_bias, dtype),
        up=_tensor(inner.up, dtype),
        down=_tensor(inner.down, dtype),
        gate=_optional(inner.gate, dtype),
        up_bias=_optional(inner.up_bias, dtype),
        down_bias=_optional(inner.down_bias, dtype),
        gate_bias=_optional(inner.gate_bias, dtype),
        activation=activation,
        allowed=(lambda n: torch.from_numpy(layer.mask.allowed(n))) if layer.mask.kind == "local" else None,
        turn=None if rotary is None else _turn(rotary),
    )


def _turn(rotary: Any) -> Callable[[Tensor], Tensor]:
    import numpy as np

    first, second = (torch.from_numpy(np.ascontiguousarray(part)) for part in rotary.pairs())
    frequencies = torch.tensor(rotary.frequencies, dtype=torch.float64)

    def turn(y: Tensor) -> Tensor:
        angle = torch.arange(y.shape[-2], dtype=torch.float64).unsqueeze(-1) * frequencies
        cos, sin = angle.cos().to(y.dtype), angle.sin().to(y.dtype)
        turned = y.clone()
        turned[..., first] = y[..., first] * cos - y[..., second] * sin
        turned[..., second] = y[..., first] * sin + y[..., second] * cos
        return turned

    return turn


def _norm(norm: Any, dtype: Any) -> NormWeights:
    return NormWeights(
        _tensor(norm.gain, dtype), _optional(norm.bias, dtype), float(norm.eps), norm.kind == "layernorm"
    )


def _optional(value: Any, dtype: Any) -> Tensor | None:
    return None if value is None else _tensor(value, dtype)


def _tensor(value: Any, dtype: Any) -> Tensor:
    return torch.tensor(value).to(dtype)
