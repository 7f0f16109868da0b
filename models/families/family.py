"""What a family of models must say, and the register of families.

A new family is one new file in ``models/families`` with one class under ``@register``; nothing else changes.  Other
packages add one by an entry point in the group ``eigentoken.families`` that names a module or class to import.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import ClassVar, Literal, TypedDict, TypeVar, Unpack

from eigentoken.files.installed import package_folders
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import Embedding
from eigentoken.models.convention.errors import ModelError, brief, some
from eigentoken.models.convention.head_and_layer import (
    FeedForward,
    Layer,
    Mask,
    Positions,
    StoredMatrix,
    split_heads,
)
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Array, Rotary
from eigentoken.models.convention.rules import PLAIN, Rules
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.recognition import (
    nearest,
    no_self_attention,
    quantised,
    torch_encoder,
    unindexed,
    unmerged,
)

Shape = tuple[int, ...]
ENTRY_POINT = "eigentoken.families"


@dataclass(frozen=True, eq=False)
class Projections:
    """The stacked attention weights of a layer in our convention: W_Q, W_K, W_V (rows, d), W_O (d, rows), biases."""

    W_Q: Array
    W_K: Array
    W_V: Array
    W_O: Array
    output_stored: StoredMatrix
    stored_dtype: str
    b_Q: Array | None = None
    b_K: Array | None = None
    b_V: Array | None = None
    b_O: Array | None = None


class FurtherParts(TypedDict, total=False):
    """Parts of a :class:`Layer` that few families have."""

    added: bool
    parallel: bool
    attention_update_norm: Normalization | None
    feed_forward_update_norm: Normalization | None
    attention_gain: Array | None
    feed_forward_gain: Array | None
    not_read: str


class Family(ABC):
    """One family: how its configuration and its tensor names become layers.  Set the sizes in ``__init__``."""

    name: ClassVar[str]
    model_types: ClassVar[tuple[str, ...]]
    about: ClassVar[str]
    architectures: ClassVar[Mapping[str, str]] = {}
    """Beginnings of class names, for configurations without model_type: ``{"Bert": "bert"}``."""
    signature: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """A tensor that only this family has, and the prefixes under which it is stored: for configurations that name none."""
    takes_pixels: bool = False
    has_embedding: bool = True
    parts: ClassVar[tuple[str, ...]] = ()
    """The stacks of a model that has several (``encoder``, ``decoder``): ``MODEL#decoder`` names one, the first is meant."""

    n_layers: int
    n_heads: int
    n_kv_heads: int
    d: int
    d_head: int

    @abstractmethod
    def __init__(self, config: Config, weights: WeightReader) -> None:
        """Read the sizes from the configuration and find the prefix of the tensor names."""

    @property
    @abstractmethod
    def weights(self) -> WeightReader:
        """The reader under the prefix of this checkpoint."""

    @abstractmethod
    def shapes(self, index: int) -> Mapping[str, Shape]:
        """The tensors that layer ``index`` needs, with the shapes that the configuration implies."""

    @abstractmethod
    def layer(self, index: int) -> Layer:
        """Layer ``index``, its attention weights and norms read now."""

    @abstractmethod
    def feed_forward(self, index: int) -> FeedForward:
        """The feed-forward block of layer ``index``."""

    @abstractmethod
    def embedding(self) -> Embedding:
        """What turns the model's input into the first hidden states."""

    def final_norm(self) -> Normalization | None:
        """The normalization after the last layer, if there is one."""
        return None

    def block(self, index: int) -> str:
        """How the names of a layer's tensors begin, after the prefix of the checkpoint: ``h.0.``."""
        parts = zip(*(name.split(".")[:-1] for name in self.shapes(index)), strict=False)
        common = itertools.takewhile(lambda words: len(set(words)) == 1, parts)
        return "".join(f"{words[0]}." for words in common)

    def not_read(self, index: int) -> str:
        """What the feed-forward of a layer is where it is none that is read (a mixture of experts); nothing otherwise."""
        return ""

    def weights_of(self, index: int) -> int:
        """The first layer with the same stored weights."""
        return index

    def check_shapes(self) -> None:
        """Compare every needed tensor with the headers, before any weight is read."""
        for index in range(self.n_layers):
            if self.weights_of(index) == index:
                for name, shape in self.shapes(index).items():
                    self.weights.expect(name, shape)

    def build(
        self,
        index: int,
        projections: Projections,
        *,
        scale: float,
        mask: Mask,
        placement: Literal["pre", "post"],
        attention_norm: Normalization,
        feed_forward_norm: Normalization,
        positions: Positions,
        rotary: Rotary | None = None,
        rules: Rules = PLAIN,
        **more: Unpack[FurtherParts],
    ) -> Layer:
        """The layer object, stamped with what was not folded; ``more`` are further parts of :class:`Layer`."""
        p = projections
        heads = split_heads(
            p.W_Q,
            p.W_K,
            p.W_V,
            p.W_O,
            n_heads=self.n_heads,
            n_kv_heads=self.n_kv_heads,
            scale=scale,
            layer=index,
            stored_dtype=p.stored_dtype,
            b_Q=p.b_Q,
            b_K=p.b_K,
            b_V=p.b_V,
            rotary=rotary,
        )
        has_bias = [label for label, b in zip("QKVO", (p.b_Q, p.b_K, p.b_V, p.b_O), strict=True) if b is not None]
        norm = f"norm gain{'' if attention_norm.bias is None else ' and bias'} ({placement}-{attention_norm.kind})"
        kept = [norm] if attention_norm.kind != "none" else []
        kept += [f"score scale {scale:.6g}"]
        kept += [f"biases of {', '.join(has_bias)}"] if has_bias else []
        kept += ["rotary positions"] if rotary is not None else []
        kept += [f"{positions} positions"] if rules.terms is not None else []
        kept += [each for each in (rules.scores(), rules.weights(), rules.values()) if each]
        after = {"attention_update_norm": "norm of the update", "attention_gain": "gain of the update"}
        kept += [text for name, text in after.items() if more.get(name) is not None]
        last = "feed-forward" + (f" ({more['not_read']}, not read)" if more.get("not_read") else "")
        return Layer(
            index=index,
            heads=heads,
            mask=mask,
            placement=placement,
            attention_norm=attention_norm,
            feed_forward_norm=feed_forward_norm,
            positions=positions,
            read_feed_forward=_FeedForwardOf(self, index),
            output_bias=p.b_O,
            output_stored=p.output_stored,
            weights_of=self.weights_of(index),
            stored_dtype=p.stored_dtype,
            not_folded=(*kept, last),
            rules=rules,
            **more,
        )

    def dtypes(self, *names: str) -> str:
        """The stored dtype of the named tensors, or the several ones."""
        return ", ".join(sorted({self.weights.dtype(name) for name in names}))


@dataclass(frozen=True)
class _FeedForwardOf:
    family: Family
    index: int

    def __call__(self) -> FeedForward:
        return self.family.feed_forward(self.index)


_FAMILIES: dict[str, type[Family]] = {}
F = TypeVar("F", bound=type[Family])


def register(family: F) -> F:
    """Class decorator: make a family known under each of its ``model_types``."""
    for model_type in family.model_types:
        _FAMILIES[model_type] = family
    return family


@lru_cache(maxsize=1)
def _plugins(folders: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """The entry points of the packages in these folders: reading what is installed takes longer than a configuration."""
    return tuple(entry_points(group=ENTRY_POINT))


def supported_families() -> dict[str, type[Family]]:
    """model_type to family: every file in ``models/families``, then installed packages with the entry point."""
    from eigentoken.models import families as folder

    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{module.name}")
    for plugin in _plugins(package_folders()):
        try:
            plugin.load()
        except Exception as error:
            raise ModelError(f"the plugin {plugin.name!r} ({ENTRY_POINT}) cannot be loaded ({brief(error)})") from error
    return dict(sorted(_FAMILIES.items()))


def _by_architecture(config: Config) -> str | None:
    """Old configurations have no model_type: ``BertForMaskedLM`` says bert."""
    named = config.raw("architectures")
    classes = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    begins = {begin: kind for family in _FAMILIES.values() for begin, kind in family.architectures.items()}
    for begin, kind in begins.items():
        if any(re.fullmatch(rf"{begin}(Model|For|LMHead|DoubleHeads).*", name) for name in classes):
            config.values["model_type"] = kind
            return kind
    return None


def _by_signature(config: Config, weights: WeightReader) -> str | None:
    """The oldest configurations name neither model_type nor architectures: a tensor's name decides, if one family has it."""
    if config.raw("architectures") is not None:
        return None
    fitting = {
        family.model_types[0]
        for family in _FAMILIES.values()
        for anchor, prefixes in family.signature.items()
        if any(prefix + anchor in weights.store.infos for prefix in prefixes)
    }
    if len(fitting) != 1:
        return None
    (kind,) = fitting
    config.values["model_type"] = kind
    return kind


def part_of(config: Config, parts: tuple[str, ...]) -> str:
    """Which stack of a model was asked for."""
    asked = config.raw("eigentoken_part")
    if asked is None:
        return parts[0]
    if asked not in parts:
        raise ModelError(f"{config.where}: no part {str(asked)[:40]!r}: expected {' or '.join(parts)}")
    return str(asked)


def family_of(config: Config, weights: WeightReader) -> Family:
    """The family that the configuration names, set up and checked against the headers."""
    known = supported_families()
    model_type = config.raw("model_type") or _by_architecture(config) or _by_signature(config, weights)
    if not isinstance(model_type, str) or model_type not in known:
        if what := no_self_attention(str(model_type)):
            raise ModelError(f"{config.where}: {what}")
        told = torch_encoder(weights.store.infos)
        raise ModelError(
            f"{config.where}: no supported family: found model_type={str(model_type)[:60]!r}, "
            f"architectures={str(config.raw('architectures'))[:80]}, tensors {some(sorted(weights.store.infos), 3)}; "
            f"{told or nearest(model_type, known)}; {len(known)} model types are read (`eigentoken models` lists them), and a "
            "table of names in thirty lines adds one: docs/families.md"
        )
    if what := unmerged(weights.store.infos):
        raise ModelError(f"{weights.store.where}: {what}")
    if config.raw("eigentoken_part") is not None and not known[model_type].parts:
        raise ModelError(f"{config.where}: a model of type {model_type} has one stack of layers: leave the part out")
    refuse_foreign_options(model_type, config)
    try:
        family = known[model_type](config, weights)
        family.check_shapes()
        stored_as_floats(family)
    except ModelError as error:
        shard = unindexed(Path(weights.store.where).name, _beside(weights.store.where))
        if shard is not None:
            raise ModelError(f"{weights.store.where}: {shard}") from None
        what = quantised(weights.store.infos)
        if what is not None:
            raise ModelError(f"{weights.store.where}: {what}") from None
        method = config.raw("quantization_config")
        if method is None:
            raise
        name = method.get("quant_method") if isinstance(method, Mapping) else method
        raise ModelError(
            f"{config.where}: a quantised checkpoint (quantization_config, method {str(name)[:40]!r}) is not read: "
            f"dequantise it or use GGUF ({brief(error, 300)})"
        ) from None
    return family


#: Options that change the attention, and the types that have them.  Elsewhere ``transformers`` passes over them in silence: a
#: model whose configuration asks for one was trained by other code, and would be read as another model.
CHANGES_ATTENTION: Mapping[str, tuple[str, ...]] = {
    "alibi": ("falcon", "bloom", "mpt"),
    "use_alibi": ("bloom", "mpt"),
    "attention_chunk_size": (),
    "attention_multiplier": ("granite",),
    "attn_logit_softcapping": ("gemma2", "gemma3_text"),
    "clip_qkv": ("olmo", "olmoe"),
    "no_rope_layers": ("smollm3",),
    "qk_layernorm": ("phi", "stablelm"),
    "qk_norm": (),
    "query_pre_attn_scalar": ("gemma2", "gemma3_text"),
    "use_qk_norm": ("cohere",),
}


def refuse_foreign_options(model_type: str, config: Config) -> None:
    """Refuse an option that changes the attention in a configuration of a type that does not have it."""
    for key, types in CHANGES_ATTENTION.items():
        if config.raw(key) and model_type not in types:
            whose = f"it is an option of {' and '.join(types)}" if types else "no type that is read has it"
            raise ModelError(
                f"{config.where}: {key}={str(config.raw(key))[:60]} changes the attention, and {model_type} does not have it "
                f"({whose}): take it out if the model was trained without"
            )


def stored_as_floats(family: Family) -> None:
    """Refuse integers where weights are needed, before any is read: with their scales left out they are other numbers."""
    infos = family.weights.store.infos
    for index in range(family.n_layers):
        for name in family.shapes(index):
            stored = infos[family.weights.prefix + name].dtype
            if stored.startswith(("int", "uint", "bool", "float8")):
                raise ModelError(
                    f"{family.weights.store.where}: the tensor {family.weights.prefix + name} is stored as {stored}: "
                    "expected floating point weights (dequantise the checkpoint first, or use GGUF)"
                )


def _beside(where: str) -> list[str]:
    """The names in the folder of a file; none where there is no such folder."""
    try:
        return [entry.name for entry in Path(where).parent.iterdir()]
    except OSError:
        return []
