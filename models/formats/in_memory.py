"""Models in memory: a ``transformers`` model (its state dict and configuration), a ``torch.nn.Module``, or a wrapped one.

TransformerLens (:mod:`eigentoken.models.formats.hooked`) and nnsight are told by what they have; neither is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eigentoken.files.documents import Json
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorInfo, TensorStore
from eigentoken.models.formats.hooked import HookedStore, configuration_of, is_bridge, is_hooked, unwrapped_names
from eigentoken.models.formats.torch_pickle import numpy_copy

if TYPE_CHECKING:
    import torch


class MemoryStore(TensorStore):
    """The tensors of a state dict; each read is a copy, so later training does not change what was read."""

    format = "in memory"

    def __init__(self, tensors: Mapping[str, torch.Tensor], where: str) -> None:
        self.where = where
        self.tensors = dict(tensors)
        self.infos = {
            name: TensorInfo(name, tuple(t.shape), str(t.dtype).removeprefix("torch.")) for name, t in tensors.items()
        }
        self.files = ()

    def read(self, name: str) -> Array:
        """The tensor, copied."""
        return numpy_copy(self.tensors[name], f"{self.where}: the tensor {name}")


def open_module(module: object) -> tuple[TensorStore, dict[str, Json]]:
    """The tensors and the configuration of a module; plain torch encoders describe themselves."""
    import torch

    where = f"{type(module).__module__.split('.')[0]}.{type(module).__name__} in memory"
    if is_bridge(module):
        original: Any = module.original_model  # type: ignore[attr-defined]
        return MemoryStore(unwrapped_names(original.state_dict()), where), _configuration(original, where)
    for name in ("_module", "_model"):  # nnsight keeps the model that it wraps there
        inner = getattr(module, name, None)
        if not isinstance(module, torch.nn.Module) and isinstance(inner, torch.nn.Module):
            module = inner
    if not isinstance(module, torch.nn.Module):
        raise ModelError(
            f"source must be a path, sample:NAME, a Hugging Face id, a transformers model or a torch.nn.Module, "
            f"got {type(module).__name__}"
        )
    if is_hooked(module):
        described = configuration_of(module.cfg, where)
        return HookedStore(module.state_dict(), described, where), described
    return MemoryStore(module.state_dict(), where), _configuration(module, where)


def _configuration(module: torch.nn.Module, where: str) -> dict[str, Any]:
    config: Any = getattr(module, "config", None)
    if callable(getattr(config, "to_dict", None)):
        config = config.to_dict()
    if isinstance(config, Mapping):
        return dict(config)
    return _torch_encoder(module, where)


def _torch_encoder(module: torch.nn.Module, where: str) -> dict[str, Any]:
    """The configuration of a torch.nn.TransformerEncoder or TransformerEncoderLayer, read off the module."""
    import torch

    layers = list(module.layers) if isinstance(module, torch.nn.TransformerEncoder) else [module]
    first = layers[0] if layers else None
    if not isinstance(first, torch.nn.TransformerEncoderLayer):
        raise ModelError(
            f"{where}: no configuration: expected a module with .config (as transformers models have), a "
            "torch.nn.TransformerEncoder or TransformerEncoderLayer; or pass load(module, config={'model_type': ...})"
        )
    act = first.activation
    name = getattr(act, "__name__", type(act).__name__.lower())
    return {
        "model_type": "torch-encoder",
        "hidden_size": first.self_attn.embed_dim,
        "num_hidden_layers": len(layers),
        "num_attention_heads": first.self_attn.num_heads,
        "intermediate_size": first.linear1.out_features,
        "layer_norm_eps": first.norm1.eps,
        "norm_first": first.norm_first,
        "hidden_act": name,
        "stacked": isinstance(module, torch.nn.TransformerEncoder),
    }
