"""Correlation of tokens with the eigenvectors of the layer matrices: eqs. (4) to (7) of Li and Altafini."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, overload

import torch
from torch import Tensor

from eigentoken.numerics.certified.eigen import eig
from eigentoken.numerics.dynamics.observables import cosine_gap, mean_distance
from eigentoken.numerics.experiments.checkpoints import Workbench
from eigentoken.numerics.experiments.transformer import block_of
from eigentoken.transformer_layer import ATTENTION_ONLY, Block, LayerParts, run_block

__all__ = [
    "Directions",
    "LayerAlignment",
    "LayerBlocks",
    "align",
    "alignments",
    "blocks_of",
    "file_name",
    "normal_tokens",
]


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
        values, vectors = eig(F.double())
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
    """What one layer does to the correlations: principal direction and mean over all directions.

    ``rho_range`` and ``increment_range``: where the middle eight of ten tokens are.  ``probability_interval``: 95 % for the
    mean over prompts, whose tokens move together (normal approximation, inside [0, 1]).
    """

    layer: int
    rho: float
    rho_range: tuple[float, float]
    rho_mean: float
    increment: float
    increment_range: tuple[float, float]
    increment_mean: float
    probability: float
    probability_interval: tuple[float, float]
    probability_mean: float
    distance: float
    gap: float
    spectral_gap: float
    top_values: tuple[complex, ...]


#: Layers of a model are kept in memory up to this many bytes together, beyond it read again at each use.
KEEP_BYTES = 2 << 30


class LayerBlocks(Sequence[Block[Tensor]]):
    """The layers of a checkpoint as blocks; layers that share weights share their block.

    Small models are read once and kept; of a large one (GPT-2 XL in double precision is 12 GB) one layer at a time is
    in memory.
    """

    def __init__(self, model: Any, dtype: Any) -> None:
        self.model, self.dtype = model, dtype
        size = 12 * model.d * model.d * model.n_layers * torch.empty(0, dtype=dtype).element_size()
        self._kept: list[Block[Tensor]] | None = list(self._read()) if size <= KEEP_BYTES else None

    def _read(self) -> Iterator[Block[Tensor]]:
        last: tuple[int, Block[Tensor]] | None = None
        for layer in self.model.layers():
            if last is None or last[0] != layer.weights_of:
                last = (layer.weights_of, block_of(layer, self.dtype))
            yield last[1]

    def __len__(self) -> int:
        return int(self.model.n_layers)

    def __iter__(self) -> Iterator[Block[Tensor]]:
        return iter(self._kept) if self._kept is not None else self._read()

    @overload
    def __getitem__(self, index: int) -> Block[Tensor]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Block[Tensor]]: ...
    def __getitem__(self, index: int | slice) -> Block[Tensor] | list[Block[Tensor]]:
        if isinstance(index, slice):
            return list(islice(self, *index.indices(len(self))))
        position = range(len(self))[index]
        return next(islice(self, position, None))


def blocks_of(model: Any, dtype: Any = torch.float64) -> LayerBlocks:
    """The layers of a checkpoint as blocks."""
    return LayerBlocks(model, dtype)


def normal_tokens(prompts: int, tokens: int, d: int, seed: int) -> Tensor:
    """Tokens drawn from a normal distribution, as in appendix B, put on the unit sphere."""
    x = torch.randn(prompts, tokens, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)


def align(
    blocks: Iterable[Block[Tensor]],
    x: Tensor,
    parts: LayerParts = ATTENTION_ONLY,
    known: dict[int, Directions] | None = None,
) -> Iterator[tuple[LayerAlignment, Tensor]]:
    """Run tokens through the layers; for each layer the alignment with its layer matrix, and the tokens after it.

    ``known`` keeps the eigenvectors of each layer, by its number, between calls with the same blocks.
    """
    kept = {} if known is None else known
    previous: tuple[Block[Tensor], Directions] | None = None
    for index, block in enumerate(blocks):
        if index not in kept:
            shared = previous is not None and previous[0] is block
            kept[index] = previous[1] if previous is not None and shared else Directions.of(block.layer_matrix())
        directions = kept[index]
        previous = (block, directions)
        if known is None:
            kept.clear()
        after = run_block(block, x, parts)
        old, new = directions.correlations(x), directions.correlations(after)
        gain = new - old
        grows = (gain > 0).double()
        yield (
            LayerAlignment(
                index,
                float(new[:, 0].mean()),
                _middle(new[:, 0]),
                float(new.mean()),
                float(gain[:, 0].mean()),
                _middle(gain[:, 0]),
                float(gain.mean()),
                float(grows[:, 0].mean()),
                _interval(grows[:, 0].reshape(-1, x.shape[-2]).mean(1)),
                float(grows.mean()),
                float(mean_distance(after).mean()),
                float(cosine_gap(after).mean()),
                directions.gap,
                tuple(complex(value) for value in directions.values[:5]),
            ),
            after,
        )
        x = after


def _middle(values: Tensor) -> tuple[float, float]:
    """Where eight of ten values are."""
    low, high = torch.quantile(values, torch.tensor([0.1, 0.9], dtype=values.dtype)).tolist()
    return low, high


def _interval(prompts: Tensor) -> tuple[float, float]:
    """About 95 % for the mean of the prompts; nothing is known from one.

    >>> _interval(torch.tensor([0.0, 1.0])), _interval(torch.tensor([0.5]))
    ((0.0, 1.0), (0.0, 1.0))
    """
    if len(prompts) < 2:
        return 0.0, 1.0
    middle, reach = float(prompts.mean()), 1.96 * float(prompts.std()) / len(prompts) ** 0.5
    return max(0.0, middle - reach), min(1.0, middle + reach)


def alignments(
    work: Workbench,
    name: str,
    blocks: Iterable[Block[Tensor]],
    x: Tensor,
    parts: LayerParts = ATTENTION_ONLY,
    known: dict[int, Directions] | None = None,
) -> list[LayerAlignment]:
    """The alignments of all layers, computed once for a name of the workbench."""
    names = [each.name for each in fields(LayerAlignment)]

    def compute() -> dict[str, Any]:
        rows = [row for row, _ in align(blocks, x, parts, known)]
        return {each: [getattr(row, each) for row in rows] for each in names}

    found = work.part(name, compute)
    columns = [[tuple(row) if isinstance(row, list) else row for row in found[each].tolist()] for each in names]
    return [LayerAlignment(*row) for row in zip(*columns, strict=True)]


def file_name(model: Any) -> str:
    """The source of a model as the name of a file."""
    return re.sub(r"[^\w.-]+", "-", str(model.source)).strip("-.")
