"""Models of TransformerLens in memory, by duck typing: the package is never imported.

A ``HookedTransformer`` (up to version 3) keeps its weights by head, ``blocks.0.attn.W_Q`` (heads, d, d_head), and says in ``cfg``
what it is.  A ``TransformerBridge`` (from version 3) wraps the modules of a ``transformers`` model, which it keeps as
``original_model``; between the names of the modules stand ``_original_component`` and parts of its own.  In its compatibility
mode it runs other weights than those: that is refused, never read past.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.tensors import TensorInfo, TensorStore
from eigentoken.models.formats.torch_pickle import numpy_copy

if TYPE_CHECKING:
    import torch

__all__ = ["HookedStore", "configuration_of", "is_bridge", "is_hooked", "runs_its_own_weights", "unwrapped_names"]

#: What ``cfg`` may say that is not read, with the value that says nothing.
NOT_READ = {
    "num_experts": None,
    "use_qk_norm": False,
    "post_embedding_ln": False,
    "use_NTK_by_parts_rope": False,
    "use_yarn_rope": False,
    "rotary_scaling_factor": 1.0,
    "rotary_base_local": None,
    "relative_attention_num_buckets": None,
}
NORMS = {"LN": "layer", "LNPre": "layer", "RMS": "rms", "RMSPre": "rms", None: "none"}
#: Part of a layer: the names of its weight and bias in TransformerLens.
PARTS = {
    "attn.q": ("attn.W_Q", "attn.b_Q"),
    "attn.k": ("attn.W_K", "attn.b_K"),
    "attn.v": ("attn.W_V", "attn.b_V"),
    "attn.o": ("attn.W_O", "attn.b_O"),
    "mlp.in": ("mlp.W_in", "mlp.b_in"),
    "mlp.gate": ("mlp.W_gate", ""),
    "mlp.out": ("mlp.W_out", "mlp.b_out"),
}
ORIGINAL = "_original_component"


def is_hooked(module: object) -> bool:
    """Has it the weights and the ``cfg`` of a HookedTransformer?"""
    cfg = getattr(module, "cfg", None)
    return all(
        hasattr(cfg, name) for name in ("n_layers", "d_model", "d_head", "n_heads", "normalization_type")
    ) and any(name.endswith("blocks.0.attn.W_Q") for name in getattr(module, "state_dict", dict)())


def is_bridge(module: object) -> bool:
    """Does it wrap the modules of a ``transformers`` model?"""
    return hasattr(getattr(module, "original_model", None), "state_dict") and hasattr(module, "cfg")


class HookedStore(TensorStore):
    """The tensors of a HookedTransformer under the names of the family, heads one below the other; made when they are read."""

    format = "in memory"

    def __init__(self, tensors: Mapping[str, torch.Tensor], config: Mapping[str, Json], where: str) -> None:
        self.where, self.files = where, ()
        self.tensors, self.config = dict(tensors), config
        named = ["embed.weight", "ln_final.weight", "ln_final.bias"] + (
            ["pos_embed.weight"] if config["positions"] else []
        )
        norms = ["ln1", "ln2", *(["ln1_post", "ln2_post"] if config["norms_after"] else [])]
        parts = [part for part in PARTS if part != "mlp.gate" or config["gated"]]
        for index in range(int(str(config["num_hidden_layers"]))):
            named += [f"blocks.{index}.{part}.{kind}" for part in (*parts, *norms) for kind in ("weight", "bias")]
        self.infos = {}
        for name in named:
            no_shift = name.startswith("blocks.") and ".ln" in name and config["norm"] == "rms"
            if name.endswith(".bias") and (
                no_shift or ".mlp.gate." in name or (config["gated"] and ".mlp.in." in name)
            ):
                continue
            if config["norm"] == "none" and ".ln" in f".{name}":
                continue
            found, dtype = self._found(name)
            self.infos[name] = TensorInfo(name, tuple(found.shape), dtype)

    def read(self, name: str) -> Array:
        """The tensor in our convention, copied."""
        found, _ = self._found(name)
        return found if isinstance(found, np.ndarray) else numpy_copy(found, f"{self.where}: the tensor {name}")

    def _found(self, name: str) -> tuple[Any, str]:
        """A tensor, or an array of what has none: an even gain, no bias, no feed-forward."""
        stem, _, kind = name.rpartition(".")
        block, part = (
            (".".join(stem.split(".")[:2]) + ".", ".".join(stem.split(".")[2:])) if "blocks." in stem else ("", stem)
        )
        d, heads = int(str(self.config["hidden_size"])), int(str(self.config["num_attention_heads"]))
        if part in PARTS:
            stored = PARTS[part][kind == "bias"]
            letter = stored.rpartition(".")[2]
            tensor = self.tensors.get(block + stored, self.tensors.get(f"{block}{stored.rpartition('.')[0]}._{letter}"))
            if tensor is not None and part == "mlp.out" and kind == "bias" and self.config["gated"]:
                # act(gate) * in + b_in, times W_out: the bias within is one of the output
                inner, out = (self.tensors[f"{block}mlp.{each}"].double() for each in ("b_in", "W_out"))
                return (tensor.double() + inner @ out).to(tensor.dtype), _dtype(tensor)
            if tensor is not None:
                return _by_rows(part, kind, tensor), _dtype(tensor)
            rows = d if part in ("attn.o", "mlp.out") else self._rows(part, heads)
            if kind == "bias" or part.startswith("mlp"):  # a model of attention alone, or without that bias
                columns = (1 if part == "mlp.out" else d,)
                return np.zeros((rows,) if kind == "bias" else (rows, *columns), dtype=np.float32), "float32"
            raise ModelError(f"{self.where}: the tensor {block}{stored} is missing")
        stored = {"embed": "embed.W_E", "pos_embed": "pos_embed.W_pos"}.get(
            part, f"{block}{part}.{'w' if kind == 'weight' else 'b'}"
        )
        tensor = self.tensors.get(stored)
        if tensor is not None:
            return tensor, _dtype(tensor)
        if part.endswith("embed"):
            raise ModelError(f"{self.where}: the tensor {stored} is missing")
        return (np.ones if kind == "weight" else np.zeros)(d, dtype=np.float32), "float32"

    def _rows(self, part: str, heads: int) -> int:
        sizes = {name: int(str(self.config[name])) for name in ("head_dim", "intermediate_size", "num_key_value_heads")}
        if part.startswith("mlp"):
            return sizes["intermediate_size"]
        return sizes["head_dim"] * (heads if part == "attn.q" else sizes["num_key_value_heads"])


def _by_rows(part: str, kind: str, tensor: torch.Tensor) -> torch.Tensor:
    """(heads, d, d_head) and (heads, d_head, d) as the rows and columns of one matrix, (in, out) as (out, in)."""
    if kind == "bias":
        return tensor.reshape(-1)
    if part == "attn.o":
        return tensor.reshape(-1, tensor.shape[-1]).T
    if part.startswith("attn"):
        return tensor.transpose(1, 2).reshape(-1, tensor.shape[1])
    return tensor.T


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def configuration_of(cfg: Any, where: str) -> dict[str, Json]:
    """The keys of the family from a HookedTransformer's ``cfg``; what is not read is refused by its name."""
    for name, nothing in NOT_READ.items():
        value = getattr(cfg, name, nothing)
        if value not in (nothing, None, False):
            raise ModelError(
                f"{where}: cfg.{name} = {str(value)[:40]} is not read here: load the model by its own name or folder"
            )
    norm, positions = getattr(cfg, "normalization_type", None), getattr(cfg, "positional_embedding_type", "standard")
    if norm not in NORMS or positions not in ("standard", "rotary"):
        raise ModelError(f"{where}: normalization {norm!r} with positions {positions!r} is not read here")
    alone = bool(getattr(cfg, "attn_only", False))
    act = str(getattr(cfg, "act_fn", None) or "relu")
    if not alone and act.startswith("solu"):
        raise ModelError(f"{where}: act_fn {act!r} is a softmax with a norm of its own, which is not read")
    local = bool(getattr(cfg, "use_local_attn", False))
    kinds = [
        "sliding_attention" if kind == "local" else "full_attention"
        for kind in (getattr(cfg, "attn_types", None) or [])
    ]
    head, scaled = int(cfg.d_head), bool(getattr(cfg, "use_attn_scale", True))
    given = float(getattr(cfg, "attn_scale", -1.0) or -1.0)
    return {
        "model_type": "hooked-transformer",
        "hidden_size": int(cfg.d_model),
        "num_hidden_layers": int(cfg.n_layers),
        "num_attention_heads": int(cfg.n_heads),
        "num_key_value_heads": int(getattr(cfg, "n_key_value_heads", None) or cfg.n_heads),
        "head_dim": head,
        "intermediate_size": 1 if alone else int(cfg.d_mlp),
        "vocab_size": int(cfg.d_vocab),
        "layer_norm_eps": float(getattr(cfg, "eps", 1e-5)),
        "hidden_act": "relu" if alone else act,
        "norm": NORMS[norm],
        "gated": bool(getattr(cfg, "gated_mlp", False)) and not alone,
        "norms_after": bool(getattr(cfg, "use_normalization_before_and_after", False)),
        "parallel": bool(getattr(cfg, "parallel_attn_mlp", False)),
        "causal": getattr(cfg, "attention_dir", "causal") == "causal",
        "positions": positions == "standard",
        "rotary_dims": int(getattr(cfg, "rotary_dim", None) or head) if positions == "rotary" else 0,
        "rope_theta": float(getattr(cfg, "rotary_base", 10000.0)),
        "neighbours": bool(getattr(cfg, "rotary_adjacent_pairs", False)),
        "cap": max(0.0, float(getattr(cfg, "attn_scores_soft_cap", -1.0))),
        "scale": (given if given > 0 else math.sqrt(head)) if scaled else 1.0,
        "scale_by_layer": bool(getattr(cfg, "scale_attn_by_inverse_layer_idx", False)),
        **({"sliding_window": int(cfg.window_size), "layer_types": kinds} if local else {}),
    }


def unwrapped_names(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of the wrapped modules under their own names; what the wrappers add beside them is left out.

    >>> sorted(unwrapped_names({"h.0._original_component.w": 1, "h.0.ln1._original_component.w": 2, "lm": 3}))
    ['h.0.w', 'lm']
    """
    wrapped = {
        name[:place] for name in tensors for place in range(len(name)) if name.startswith(f".{ORIGINAL}.", place)
    }
    found = {}
    for name, tensor in tensors.items():
        parts = name.split(".")
        inside = [".".join(parts[:length]) for length in range(1, len(parts))]
        if all(parts[length] == ORIGINAL for length, path in enumerate(inside, 1) if path in wrapped):
            found[".".join(part for part in parts if part != ORIGINAL)] = tensor
    return found


def runs_its_own_weights(bridge: object, queries: Array, outputs: Array, layer: int) -> bool:
    """Are the queries and outputs that the bridge runs in a layer, ``W_Q`` and ``W_O`` by head, those of the model?"""
    try:
        mine = [numpy_copy(getattr(bridge, name)[layer], f"the bridge's {name}") for name in ("W_Q", "W_O")]
    except Exception:  # an architecture without these views: only its own word is left
        return not getattr(bridge, "compatibility_mode", False)
    rows = mine[0].swapaxes(-1, -2).reshape(queries.shape) if mine[0].size == queries.size else mine[0]
    columns = mine[1].reshape(-1, mine[1].shape[-1]).T
    return np.array_equal(rows, queries) and np.array_equal(columns, outputs)
