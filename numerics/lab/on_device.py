"""Batches of the search on another device: it says where to look, and what it finds is looked at again on the processor.

A device may add in another order, and find eigenvalues by other routines: nothing that it says is a finding.  Instances whose
violation is seen there, or nearly, are evaluated again here, in double precision; certificates are exact, as always.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from eigentoken.numerics.certified.devices import named
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.readings.device_trajectories import on
from eigentoken.theory.language import claims
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.readings import OBSERVED

__all__ = ["looked_at", "moved_to", "search_device"]

#: Smaller batches are not worth the way to the device.
LEAST = 64
#: What is this near to a violation on the device is evaluated again on the processor.
NEAR = 1e-6
#: Claims that are read in torch alone: no draws, no code of an author, no numpy.
MOVABLE = (
    claims.AlmostEveryConverges, claims.Converges, claims.Decreases, claims.Diverges, claims.Equilibrium, claims.Increases,
    claims.Nonnegative, claims.Stable, claims.TwoCycle, claims.Unstable, claims.Vanishes,
)  # fmt: skip


def search_device(name: str) -> str:
    """The torch device that is meant by ``cpu``, ``cuda``, ``cuda:1``, ``mps`` or ``auto``; the search needs double precision.

    >>> search_device("cpu")
    'cpu'
    """
    found = named(name)
    if found != "mps":
        return found
    if name == "auto":
        return "cpu"
    raise ValueError(
        f"device {name!r} has no double precision, in which the search looks: take cpu, or cuda where it is"
    )


def looked_at(claim: Claim, batch: Batch, device: str) -> Tensor:
    """The violations of a claim, on the device as far as it may be asked."""
    if device == "cpu" or batch.count < LEAST or not isinstance(claim, MOVABLE) or not _may_move(batch):
        found: Tensor = OBSERVED(claim, batch)
        return found
    with on(device):
        values: Tensor = OBSERVED(claim, moved_to(batch, device)).to("cpu", copy=True)
    again = (values > -NEAR).nonzero().flatten()
    if len(again):
        values[again] = OBSERVED(claim, batch.take(again))
    return values


def _may_move(batch: Batch) -> bool:
    """Are all parameters tensors that no gradient is asked of?"""
    groups = (batch.parameters, *batch.parameters.get("heads", ()))
    values = [value for group in groups for name, value in group.items() if name != "heads"]
    plain = all(isinstance(value, Tensor) and not value.requires_grad for value in values)
    return plain and not batch.tokens.requires_grad and batch.system.rotary is None


def moved_to(batch: Batch, device: str) -> Batch:
    """The same instances on the device."""

    def there(group: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: [there(head) for head in value] if name == "heads" else value.to(device)
            for name, value in group.items()
        }

    mask = batch.mask.to(device) if isinstance(batch.mask, Tensor) else batch.mask
    return replace(
        batch,
        parameters=there(batch.parameters),
        tokens=batch.tokens.to(device),
        extra=there(batch.extra),
        mask=mask,
        _memory={},
    )
