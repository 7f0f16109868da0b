"""What the converter of GGUF did to the numbers of a model, undone in a copy, so that ``transformers`` reads the copy as it was.

The converter turns rotary pairs into neighbours, puts fused rows in the order [Q; K; V], and stores 1 + w for a gain w; the
reading is told so by entries of the configuration that are its own (``eigentoken_...``).  A copy in safetensors has the numbers
as the family stores them, and the entries that ``transformers`` knows.  ``g - 1`` is exact in the type of g from 1/2 on; where it
is not, it is written in float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.errors import ModelError, some
from eigentoken.models.convention.rotary import Array
from eigentoken.models.families.tabled import Tabled
from eigentoken.models.formats.renamed import RenamedStore
from eigentoken.models.loading.model import Model

__all__ = ["Change", "as_stored", "check_whole", "configuration_of_copy"]

Change = Callable[[str, Array], Array]


def as_stored(model: Model) -> Change:
    """The change of a tensor (by its name) that undoes what the converter did; the same array where nothing was done."""
    changes = [each for each in (_half_split(model), _fused(model), _gains(model)) if each is not None]

    def undo(name: str, array: Array) -> Array:
        for change in changes:
            array = change(name, array)
        return array

    return undo


def configuration_of_copy(model: Model) -> dict[str, Json]:
    """The configuration with entries that ``transformers`` knows in place of those of the reading."""
    private = ("eigentoken_rope_interleaved", "eigentoken_plain_gains", "eigentoken_cut", "eigentoken_part")
    config = {key: value for key, value in model.config.items() if key not in private}
    dims = config.get("eigentoken_rope_dims")
    latent = "kv_lora_rank" in config  # there the turned part has a width of its own
    if isinstance(dims, int) and (latent or 0 < dims <= model.d_head):
        del config["eigentoken_rope_dims"]
        if dims != model.d_head and not latent:
            config["partial_rotary_factor"] = dims / model.d_head
            config |= {"rotary_pct": dims / model.d_head} if config.get("model_type") == "gpt_neox" else {}
    if "head_dim" in config and isinstance(model.store, RenamedStore):
        del config["head_dim"]
        if config.get("model_type") not in WITHOUT_WIDTH and not latent:
            config["head_dim"] = model.d_head
    if config.get("model_type") == "t5" and "intermediate_size" in config:
        config["d_ff"] = config["intermediate_size"]
    return config


def check_whole(model: Model) -> None:
    """Refuse a copy that would lack tensors of the layers: experts, which are not read."""
    store = model.store
    if not isinstance(store, RenamedStore):
        return
    known = {each.name for each in store.names.values()} | {
        piece for made in store.made.values() for piece in made.pieces
    }
    lost = sorted(name for name in store.store.infos if "_exps" in name and name not in known)
    if lost:
        raise ModelError(
            f"{store.where}: a copy would lack the experts, which are not read ({some(lost, 2)}): "
            "convert the file to safetensors first, a copy of that keeps them"
        )


#: Types whose configuration has no entry for the width of a head: it is d / heads.
WITHOUT_WIDTH = ("falcon", "bloom", "mpt", "gpt2", "gpt_bigcode", "gpt_neox", "bert", "t5", "phi", "phi3", "modernbert")


def _half_split(model: Model) -> Change | None:
    """The row order that turns interleaved rotary pairs into transformers' half-split ones, or None."""
    if not model.config.get("eigentoken_rope_interleaved") or "kv_lora_rank" in model.config:
        return None  # DeepSeek's pairs are neighbours in transformers, too
    rotary = model.layer(0).rotary
    if rotary is None:
        return None
    pairs = np.arange(rotary.dims)
    order = np.concatenate([pairs[0::2], pairs[1::2], np.arange(rotary.dims, rotary.d_head)])

    def turn(name: str, array: Array) -> Array:
        if not any(f"self_attn.{part}_proj." in name for part in "qk"):
            return array
        blocks = array.reshape(-1, rotary.d_head, *array.shape[1:])
        return np.asarray(blocks[:, order].reshape(array.shape))

    return turn


def _fused(model: Model) -> Change | None:
    """Rows in the order [Q; K; V] put back where the family has them, a head or a group of heads at a time."""
    family = model.architecture
    if model.config.get("eigentoken_cut") is None or not isinstance(family, Tabled) or not family.names.fused:
        return None
    rows = np.concatenate(family.cuts_as(type(family).cut))
    ending = tuple(f"{family.names.fused}.{kind}" for kind in ("weight", "bias"))

    def put_back(name: str, array: Array) -> Array:
        if not name.endswith(ending):
            return array
        whole = np.empty_like(array)
        whole[rows] = array
        return whole

    return put_back


def _gains(model: Model) -> Change | None:
    """w for the 1 + w of a norm."""
    if not model.config.get("eigentoken_plain_gains"):
        return None

    def less_one(name: str, array: Array) -> Array:
        if not name.endswith("norm.weight"):
            return array
        exact = np.asarray(array, dtype=np.float64) - 1.0
        rounded = exact.astype(array.dtype)
        return rounded if np.array_equal(rounded.astype(np.float64), exact) else exact

    return less_one
