"""Models that put a language model behind a vision tower: one of the two stacks, read as the model that it is alone.

The configuration has a section for each (``text_config``, ``vision_config``) with a model type of its own, and the tensors stand
under ``language_model`` and ``vision_tower``.  ``MODEL`` is the language model on text alone, ``MODEL#vision`` the tower.  What
joins them (projector, tokens of images, their masks) is not read.  A section leaves out what is the default of its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.tensors import TensorStore
from eigentoken.models.families.family import supported_families
from eigentoken.models.formats.renamed import Original, RenamedStore

__all__ = ["STACKS", "StackStore", "one_stack"]

#: Model types whose language model attends on text as it does alone.
STACKS = ("gemma3", "llava", "llava_next", "mistral3")

_LARGE = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000}
#: What a section means that leaves an entry out: the defaults of ``transformers``.
USUAL: Mapping[str, Mapping[str, Any]] = {
    "llama": _LARGE | {"intermediate_size": 11008, "rms_norm_eps": 1e-6},
    "mistral": _LARGE
    | {"intermediate_size": 14336, "num_key_value_heads": 8, "sliding_window": 4096, "rms_norm_eps": 1e-6},
    "gemma3_text": {
        "hidden_size": 2304,
        "num_hidden_layers": 26,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "query_pre_attn_scalar": 256,
        "intermediate_size": 9216,
        "sliding_window": 4096,
        "vocab_size": 262208,
        "rope_theta": 1000000.0,
    },
}

_TEXT = re.compile(r"(?:model\.)?language_model\.(?:model\.)?(?P<rest>.+)|(?P<head>lm_head\..+)")
_VISION = re.compile(r"(?:model\.)?vision_tower\.(?:vision_model\.)?(?P<rest>.+)")


class StackStore(RenamedStore):
    """The tensors of one stack under the names that they have alone."""


def one_stack(config: Mapping[str, Any], store: TensorStore, where: str) -> tuple[dict[str, Any], TensorStore]:
    """Configuration and tensors of the stack that is asked for; both as they are where there is only one."""
    kind = config.get("model_type")
    if kind not in STACKS or isinstance(store, StackStore):
        return dict(config), store
    part = config.get("eigentoken_part") or "text"
    inner = config.get(f"{part}_config")
    if part not in ("text", "vision") or not isinstance(inner, Mapping):
        raise ModelError(f"{where}: {kind} has no part {str(part)[:40]!r}: expected text or vision")
    if inner.get("model_type") not in supported_families():
        raise ModelError(
            f"{where}: the {part} stack of this {kind} is of type {str(inner.get('model_type'))[:60]!r}, which is not read: "
            "`eigentoken models` lists what is"
        )
    names = _names(store.infos, part)
    if not names:
        raise ModelError(f"{where}: {kind} without tensors of its {part} stack (language_model, vision_tower)")
    tied = {"tie_word_embeddings": config["tie_word_embeddings"]} if "tie_word_embeddings" in config else {}
    usual = {name: value for name, value in USUAL.get(inner["model_type"], {}).items() if name not in inner}
    if "rope_parameters" in inner:
        usual.pop("rope_theta", None)
    return {**tied, **usual, **inner}, StackStore(store, names)


def _names(infos: Iterable[str], part: str) -> dict[str, Original]:
    found = {}
    for name in infos:
        match = (_TEXT if part == "text" else _VISION).fullmatch(name)
        if match is None:
            continue
        rest = match["rest"]
        if part == "vision":
            new = f"vision_model.{rest}"
        else:
            new = match["head"] or (rest if rest.startswith("lm_head.") else f"model.{rest}")
        found[new] = Original(name)
    return found
