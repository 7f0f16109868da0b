"""eigentoken.models: checkpoints on disk or hub, to heads and layers in one stated convention.

``load(source)`` gives a ``Model``; ``model.layers`` gives ``Layer`` objects with their ``Head``s, one at a time.

For: reading weights without executing anything and without guessing a convention.
Enters: checkpoints.  Leaves: heads with P and U, layers with F and S, in exact stored numbers.
Below it: files; the room knows neither theory nor numerics.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigentoken.models.convention.errors import ModelError
    from eigentoken.models.convention.head_and_layer import FeedForward, Head, Layer, Mask
    from eigentoken.models.convention.normalization import Normalization
    from eigentoken.models.convention.rotary import Rotary
    from eigentoken.models.families.family import supported_families
    from eigentoken.models.forward import run_layer, run_tokens
    from eigentoken.models.loading.model import Model
    from eigentoken.models.loading.sources import load
    from eigentoken.models.loading.write import EditedCheckpoint, save_edited
    from eigentoken.transformer_layer import LayerState

_HOME = {
    "FeedForward": "convention.head_and_layer",
    "Head": "convention.head_and_layer",
    "Layer": "convention.head_and_layer",
    "Mask": "convention.head_and_layer",
    "Normalization": "convention.normalization",
    "ModelError": "convention.errors",
    "supported_families": "families.family",
    "LayerState": ".transformer_layer",
    "run_layer": "forward",
    "run_tokens": "forward",
    "Model": "loading.model",
    "Rotary": "convention.rotary",
    "load": "loading.sources",
    "EditedCheckpoint": "loading.write",
    "save_edited": "loading.write",
}

__all__ = [
    "EditedCheckpoint",
    "FeedForward",
    "Head",
    "Layer",
    "LayerState",
    "Mask",
    "Model",
    "ModelError",
    "Normalization",
    "Rotary",
    "load",
    "run_layer",
    "run_tokens",
    "save_edited",
    "supported_families",
]


def __getattr__(name: str) -> Any:
    """TensorNames are imported on first use, so that importing this room costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
