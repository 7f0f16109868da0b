"""Transformer layers of torch tensors for the experiments: of a checkpoint, drawn at random, or drawn as they are used.

The forward pass itself is :mod:`eigentoken.transformer_layer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eigentoken.transformer_layer import Block, NormWeights, activation, attended, normalised

__all__ = ["FreshWeights", "GPT2Shape", "block_of", "random_blocks", "resample"]

#: GPT-2's own.
NORM_EPS = 1e-5


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
) -> list[Block[Tensor]]:
    """GPT-2 layers with weights N(0, deviation^2), biases zero, norms gain 1 and bias 0 (GPT-2's own start)."""
    d, inner = shape.d, 4 * shape.d
    blocks = []
    for _ in range(shape.layers):
        norm = NormWeights(torch.ones(d, dtype=dtype), torch.zeros(d, dtype=dtype), NORM_EPS)
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


def resample(blocks: Sequence[Block[Tensor]], generator: torch.Generator, deviation: float = 0.02) -> None:
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
            mixed = self.times(normalised(x, NORM_EPS, centred=True), 3 * d)
            _, _, joined = attended(mixed, heads, (d / heads) ** 0.5, np.tri(x.shape[-2], dtype=bool))
            x = x + self.times(joined, d)
            if self.feed_forward:
                inner = activation("gelu_new")(self.times(normalised(x, NORM_EPS, centred=True), 4 * d))
                x = x + self.times(inner, d)
        return x


def block_of(layer: Any, dtype: Any = torch.float32) -> Block[Tensor]:
    """The weights of a layer of a checkpoint (``eigentoken.models``) as torch tensors."""

    def moved(weights: Any) -> dict[str, Any]:
        arrays = {each.name: getattr(weights, each.name) for each in fields(weights)}
        return {name: torch.tensor(part).to(dtype) for name, part in arrays.items() if hasattr(part, "dtype")}

    block: Block[Any] = layer.block()
    parts = moved(block)
    for name in ("attention_norm", "feed_forward_norm"):
        norm = getattr(block, name)
        parts[name] = replace(norm, **moved(norm))
    return replace(block, **parts)
