"""Batches of one shape become one: what costs the same for many instances is done once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from eigentoken.numerics.instances.batches import Batch, Wave

__all__ = ["alike", "joined", "together"]


def joined(batches: Sequence[Batch]) -> list[Batch]:
    """The same instances in as few batches as their shapes allow: a trajectory costs the same for many at once.

    Batches of one system, shape, indices, mask and number of heads become one, in the order of their first members.
    """
    return [together(each) for each in alike(batches)]


def alike(batches: Sequence[Batch], most: int | None = None) -> list[list[Batch]]:
    """The batches that can become one, in the order of their first members, without empty ones.

    With ``most`` only until they have so many instances: what is done once is fastest on what a processor's cache holds.
    """
    groups: dict[Any, list[list[Batch]]] = {}
    for batch in batches:
        if batch.count:
            parts = groups.setdefault(_kind(batch), [])
            if not parts or (most is not None and sum(each.count for each in parts[-1]) + batch.count > most):
                parts.append([])
            parts[-1].append(batch)
    return [each for parts in groups.values() for each in parts]


def together(batches: Sequence[Batch]) -> Batch:
    """One batch of those that are alike."""
    return _together(batches) if len(batches) > 1 else batches[0]


def _kind(batch: Batch) -> Any:
    kinds = [(name, type(value).__name__) for name, value in batch.parameters.items() if name != "heads"]
    heads = [
        tuple((part, type(each).__name__) for part, each in head.items()) for head in batch.parameters.get("heads", ())
    ]
    return (
        batch.system.name,
        batch.n,
        batch.d,
        batch.k,
        batch.p,
        repr(batch.mask),
        tuple(kinds),
        tuple(heads),
        tuple(batch.extra),
    )


def _together(batches: Sequence[Batch]) -> Batch:
    first = batches[0]
    same = all(each.groups == first.groups for each in batches)
    return replace(
        first,
        parameters={name: _side_by_side([each.parameters[name] for each in batches]) for name in first.parameters},
        tokens=torch.cat([each.tokens for each in batches]),
        corner=first.corner if all(each.corner == first.corner for each in batches) else "several corners",
        groups=first.groups if same else None,
        extra={name: torch.cat([each.extra[name] for each in batches]) for name in first.extra},
        _memory={},
    )


def _side_by_side(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, list):
        return [
            {part: _side_by_side([value[h][part] for value in values]) for part in head} for h, head in enumerate(first)
        ]
    if isinstance(first, Wave):
        parts = (
            [value.cosine for value in values],
            [value.square for value in values],
            [value.omega for value in values],
        )
        return Wave(*(torch.cat(each) for each in parts))
    return None if first is None else torch.cat(list(values))
