"""How often random starts end where: fractions with confidence intervals, and exponents of layer products."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Fraction95", "basin_fractions", "clopper_pearson", "layer_exponents", "random_tokens"]


@dataclass(frozen=True)
class Fraction95:
    """``count`` of ``total`` with a Clopper-Pearson interval [low, high] of the given confidence."""

    count: int
    total: int
    low: float
    high: float
    confidence: float = 0.95

    @property
    def value(self) -> float:
        return self.count / self.total

    def contains(self, probability: float) -> bool:
        return self.low <= probability <= self.high

    def __str__(self) -> str:
        return f"{self.count}/{self.total} = {self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


def clopper_pearson(count: int, total: int, confidence: float = 0.95) -> Fraction95:
    """The exact binomial interval: it covers the true probability at least ``confidence`` of the time.

    >>> print(clopper_pearson(0, 10))
    0/10 = 0.0000 [0.0000, 0.3085]
    """
    from scipy.special import betaincinv

    _check_counts(count, total, confidence)
    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, tail))
    high = 1.0 if count == total else float(betaincinv(count + 1, total - count, 1 - tail))
    return Fraction95(count, total, low, high, confidence)


def _check_counts(count: int, total: int, confidence: float) -> None:
    if not 0 <= count <= total or total < 1 or not 0 < confidence < 1:
        raise ValueError(
            f"need 0 <= count <= total, total >= 1, 0 < confidence < 1, got {count}, {total}, {confidence}"
        )


def random_tokens(
    instances: int,
    n: int,
    d: int,
    *,
    seed: int,
    distribution: str = "sphere",
    dtype: torch.dtype = torch.float64,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Starts of shape (instances, n, d): "sphere" (uniform), "normal", or "cube" (entries uniform on [-1/2, 1/2])."""
    generator = torch.Generator().manual_seed(seed)
    if distribution == "cube":
        x = torch.rand(instances, n, d, generator=generator, dtype=torch.float64) - 0.5
    elif distribution in {"sphere", "normal"}:
        x = torch.randn(instances, n, d, generator=generator, dtype=torch.float64)
    else:
        raise ValueError(f"distribution must be sphere, normal or cube, got {distribution!r}")
    if distribution == "sphere":
        x = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x.to(dtype=dtype, device=device)


def basin_fractions(
    run: Callable[[Tensor], Iterable[str]], starts: Tensor, *, chunk: int = 4096, confidence: float = 0.95
) -> Mapping[str, Fraction95]:
    """Runs ``starts`` (instances, n, d) in chunks through ``run``, which names each limit, and counts the names."""
    counts: dict[str, int] = {}
    for begin in range(0, len(starts), chunk):
        for name in run(starts[begin : begin + chunk]):
            counts[name] = counts.get(name, 0) + 1
    total = len(starts)
    if sum(counts.values()) != total:
        raise ValueError(f"run must name one limit a start: got {sum(counts.values())} names for {total} starts")
    return {name: clopper_pearson(count, total, confidence) for name, count in sorted(counts.items())}


def layer_exponents(matrices: Iterable[Tensor], count: int | None = None) -> tuple[Tensor, Tensor]:
    """Lyapunov exponents ``(1/T) log`` of the product ``F_T ... F_1`` by repeated QR, and their running values (T, k).

    The running values show whether anything has settled; for a constant matrix they tend to ``log |lambda_k|``.
    """
    frame: Tensor | None = None
    total: Tensor | None = None
    running: list[Tensor] = []
    for matrix in matrices:
        if frame is None:
            d = matrix.shape[-1]
            generator = torch.Generator().manual_seed(0)
            start = torch.randn(d, count or d, generator=generator, dtype=torch.float64).to(matrix)
            frame = torch.linalg.qr(start).Q
            total = torch.zeros(count or d, dtype=matrix.dtype, device=matrix.device)
        factors = torch.linalg.qr(matrix @ frame)
        frame = factors.Q
        assert total is not None
        total = total + torch.log(torch.diagonal(factors.R).abs())
        running.append(total / (len(running) + 1))
    if not running:
        raise ValueError("matrices must name at least one layer, got none")
    return running[-1], torch.stack(running)
