"""eigentoken.models: checkpoints on disk or hub, to heads and layers in one stated convention.

``load(source)`` gives a ``Model``; ``model.layers()`` gives ``Layer`` objects with their ``Head``s, one at a time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .convention import FeedForward, Head, Layer, Mask, Normalization
    from .errors import ModelError
    from .family import supported_families
    from .forward import LayerState, run_layer, run_tokens
    from .model import Model
    from .rotary import Rotary
    from .sources import load
    from .write import EditedCheckpoint, save_edited

_HOME = {
    "FeedForward": "convention",
    "Head": "convention",
    "Layer": "convention",
    "Mask": "convention",
    "Normalization": "convention",
    "ModelError": "errors",
    "supported_families": "family",
    "LayerState": "forward",
    "run_layer": "forward",
    "run_tokens": "forward",
    "Model": "model",
    "Rotary": "rotary",
    "load": "sources",
    "EditedCheckpoint": "write",
    "save_edited": "write",
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
    """Names are imported on first use, so that importing this room costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
