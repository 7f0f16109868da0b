"""Correlation of tokens with the eigenvectors of the layer matrices: eqs. (4) to (7) of Li and Altafini."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from eigentoken.numerics.dynamics.observables import cosine_gap, mean_distance
from eigentoken.numerics.experiments.transformer import ATTENTION_ONLY, Block, Parts, block_of, run_block

__all__ = ["Directions", "LayerAlignment", "align", "blocks_of", "normal_tokens"]


@dataclass(frozen=True, eq=False)
class Directions:
    """The eigenvectors of a layer matrix F, by real part from the top; one entry for a complex pair.

    ``first`` and ``second`` are orthonormal bases (d, K): the eigenvector and zero for a real eigenvalue, of the span
    of real and imaginary part for a pair; ``kept`` are the K eigenvalues.
    """

    values: Tensor
    kept: Tensor
    first: Tensor
    second: Tensor

    @staticmethod
    def of(F: Tensor) -> Directions:
        values, vectors = torch.linalg.eig(F.double())
        order = torch.argsort(values.real, descending=True, stable=True)
        values, vectors = values[order], vectors[:, order]
        single = values.imag >= 0
        kept = vectors[:, single]
        first = torch.nn.functional.normalize(kept.real, dim=0)
        rest = kept.imag - first * (first * kept.imag).sum(0)
        length = torch.linalg.vector_norm(rest, dim=0)
        second = torch.where(length > 1e-12, rest / length.clamp_min(1e-300), torch.zeros_like(rest))
        return Directions(values, values[single], first, second)

    @property
    def principal_is_real(self) -> bool:
        return abs(float(self.values[0].imag)) < 1e-12

    @property
    def principal_plane(self) -> Tensor:
        """S of eqs. (6), (7): real and imaginary part of v_1, or v_1 and the next eigenvector."""
        if not self.principal_is_real:
            return torch.stack((self.first[:, 0], self.second[:, 0]), dim=1)
        return torch.stack((self.first[:, 0], self.first[:, 1]), dim=1)

    @property
    def map_plane(self) -> Tensor:
        """The same for the order that a map with step one follows, the largest ``|1 + lambda|`` (PM-N1)."""
        order = torch.argsort((1 + self.kept).abs(), descending=True)
        top = int(order[0])
        partner = self.second[:, top] if float(self.kept[top].imag) > 1e-12 else self.first[:, int(order[1])]
        return torch.stack((self.first[:, top], partner), dim=1)

    @property
    def gap(self) -> float:
        """Real part of the principal eigenvalue minus that of the next one (the next after the pair)."""
        following = 1 if self.principal_is_real else 2
        return float(self.values[0].real - self.values[following].real)

    def correlations(self, x: Tensor) -> Tensor:
        """``|corr|`` of each token (rows of x, any batch) with each eigendirection: shape (tokens, K)."""
        tokens = x.reshape(-1, x.shape[-1]).double()
        tokens = tokens / torch.linalg.vector_norm(tokens, dim=-1, keepdim=True)
        return ((tokens @ self.first).square() + (tokens @ self.second).square()).sqrt()


@dataclass(frozen=True)
class LayerAlignment:
    """What one layer does to the correlations: principal direction and mean over all directions."""

    layer: int
    rho: float
    rho_spread: float
    rho_mean: float
    increment: float
    increment_spread: float
    increment_mean: float
    probability: float
    probability_mean: float
    distance: float
    gap: float
    spectral_gap: float
    top_values: tuple[complex, ...]


def blocks_of(model: Any, dtype: Any = torch.float64) -> list[Block]:
    """The layers of a checkpoint; layers that share weights share their block."""
    made: dict[int, Block] = {}
    found = []
    for layer in model.layers():
        if layer.weights_of not in made:
            made[layer.weights_of] = block_of(layer, dtype)
        found.append(made[layer.weights_of])
    return found


def normal_tokens(prompts: int, tokens: int, d: int, seed: int) -> Tensor:
    """Tokens drawn from a normal distribution, as in appendix B, put on the unit sphere."""
    x = torch.randn(prompts, tokens, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)


def align(
    blocks: Sequence[Block], x: Tensor, parts: Parts = ATTENTION_ONLY, known: dict[int, Directions] | None = None
) -> Iterator[tuple[LayerAlignment, Tensor]]:
    """Run tokens through the layers; for each layer the alignment with its layer matrix, and the tokens after it.

    ``known`` keeps the eigenvectors of each block between calls with the same blocks.
    """
    kept = {} if known is None else known
    for index, block in enumerate(blocks):
        if id(block) not in kept:
            kept[id(block)] = Directions.of(block.layer_matrix())
        directions = kept[id(block)]
        after = run_block(block, x, parts)
        old, new = directions.correlations(x), directions.correlations(after)
        gain = new - old
        grows = (gain > 0).double()
        yield (
            LayerAlignment(
                index,
                float(new[:, 0].mean()),
                float(new[:, 0].std()),
                float(new.mean()),
                float(gain[:, 0].mean()),
                float(gain[:, 0].std()),
                float(gain.mean()),
                float(grows[:, 0].mean()),
                float(grows.mean()),
                float(mean_distance(after).mean()),
                float(cosine_gap(after).mean()),
                directions.gap,
                tuple(complex(value) for value in directions.values[:5]),
            ),
            after,
        )
        x = after
