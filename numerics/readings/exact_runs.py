"""Claims about an exact instance (its weights and tokens are given numbers, or terms in letters), looked at in floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from eigentoken.numerics.dynamics.torch_algebra import TorchAlgebra, mask_tensor
from eigentoken.theory.kernel.instances import UnboundedFrom, VanishesFrom, VelocityIs
from eigentoken.theory.systems.system import System

__all__ = ["ROUNDING", "ExactRuns"]

#: Differences of this size, relative to the sides, are rounding.
ROUNDING = 1e-9
#: A trajectory along a ray is looked at where it starts (1), farther out and farther in.
SIZES = (0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class ExactRuns:
    """An exact instance with ``count`` values for each of its letters, all at once."""

    system: System
    claim: VelocityIs | UnboundedFrom | VanishesFrom
    values: Mapping[sp.Symbol, Tensor]
    count: int

    def violation(self) -> Tensor:
        """How far the claim is from holding; ``nan`` where numbers overflow, or nothing is seen."""
        if isinstance(self.claim, VelocityIs):
            found, said = self._velocity(1.0)[0], self._entries(self.claim.velocity)
            gap = (found - said).abs() - ROUNDING * (1 + found.abs() + said.abs())
            return gap.nan_to_num(torch.nan, torch.nan, torch.nan).flatten(1).amax(1)
        return self._end(isinstance(self.claim, UnboundedFrom))

    def _entries(self, rows: Any) -> Tensor:
        """A matrix, or a list of tokens, for each value of the letters."""
        letters = tuple(self.values)
        with np.errstate(all="ignore"):
            entries = _compiled(rows, letters)(*(each.numpy() for each in self.values.values()))
        found = [[np.broadcast_to(np.asarray(entry, dtype=float), (self.count,)) for entry in row] for row in entries]
        return torch.from_numpy(np.moveaxis(np.array(found), -1, 0).copy())

    def _velocity(self, size: float) -> tuple[Tensor, Tensor]:
        """The velocity at the tokens times a number, and these."""
        weights = {name.name: self._entries(value) for name, value in self.claim.weights}
        tokens = size * self._entries(self.claim.tokens)
        mask = mask_tensor(self.system.mask, tokens.shape[1])
        found: Tensor = self.system.advance(TorchAlgebra(), weights, tokens, mask)
        return found, tokens

    def _end(self, away: bool) -> Tensor:
        """Along a ray: outward from the tokens on, or inward up to them; of other starts nothing is seen."""
        speeds, on_ray = [], torch.ones(self.count, dtype=torch.bool)
        for size in SIZES:
            found, tokens = self._velocity(size)
            speed = (found * tokens).sum((1, 2)) / (tokens * tokens).sum((1, 2))
            beside = (found - speed[:, None, None] * tokens).abs() - ROUNDING * (1 + found.abs())
            on_ray &= (beside <= 0).flatten(1).all(1) & (speed.abs() >= ROUNDING)
            speeds.append(speed)
        outward = torch.stack(speeds[2:]).amin(0) > 0
        inward = torch.stack(speeds[:3]).amax(0) < 0
        ends = torch.where(outward == away, -1.0, 1.0).to(torch.float64)
        return torch.where(on_ray & (outward != inward), ends, torch.nan)


@lru_cache(maxsize=200)
def _compiled(rows: Any, letters: tuple[sp.Symbol, ...]) -> Callable[..., Any]:
    """Exact entries as a function of their letters, in floats."""
    found: Callable[..., Any] = sp.lambdify(letters, rows, modules="numpy")
    return found
