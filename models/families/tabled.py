"""A family as a table: the names of its tensors, what its configuration says, and a few switches.

Most transformers differ in names, in how query, key and value are fused, in the kind and place of norms, in positions and in the
feed-forward.  :class:`Tabled` reads all of them from class attributes; a family of its own is a subclass with
:class:`TensorNames` and the switches that differ, and overrides a method only where a table is not enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import Embedding, TokenEmbedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, Positions, StoredMatrix
from eigentoken.models.convention.normalization import Normalization, no_norm
from eigentoken.models.convention.rotary import Array, Rotary
from eigentoken.models.convention.rules import Rules
from eigentoken.models.convention.score_terms import ScoreTerms
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape
from eigentoken.models.families.rotary_rules import rotary_of

Cut = Literal["stacked", "heads", "groups"]
"""How one tensor holds query, key and value: [Q; K; V]; for each head (q, k, v); for each key-value head (its q..., k, v)."""

MaskKind = Literal["causal", "full"]
Turned = Literal["no", "half", "interleaved"]
"""Which coordinates of a head are turned by positions: none, pairs (k, k + dims/2), pairs (2k, 2k + 1)."""

WIDTH = ("hidden_size", "n_embd", "d_model", "dim")
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
HEADS = ("num_attention_heads", "n_head", "num_heads", "n_heads", "attention_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads")
INNER = ("intermediate_size", "ffn_dim", "n_inner", "d_ff", "hidden_dim", "ffn_hidden_size")
EPS = ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps")
ACTIVATION = ("hidden_activation", "hidden_act", "activation_function", "activation")
"""The names that configurations have for one thing, the first that is there."""


@dataclass(frozen=True)
class TensorNames:
    """The names of a family's tensors, without ``.weight``; those of a layer stand behind ``layer``.  Empty: it has no such
    part.  A name that ends in ``_`` has no point: torch's ``in_proj_`` is ``in_proj_weight`` and ``in_proj_bias``."""

    layer: str = "layers.{}."
    q: str = "self_attn.q_proj"
    k: str = "self_attn.k_proj"
    v: str = "self_attn.v_proj"
    o: str = "self_attn.o_proj"
    fused: str = ""
    attention_norm: str = "input_layernorm"
    feed_forward_norm: str = "post_attention_layernorm"
    attention_update_norm: str = ""
    feed_forward_update_norm: str = ""
    query_norm: str = ""
    key_norm: str = ""
    attention_gain: str = ""
    feed_forward_gain: str = ""
    gate: str = "mlp.gate_proj"
    up: str = "mlp.up_proj"
    down: str = "mlp.down_proj"
    gate_up: str = ""
    final_norm: str = "norm"
    token: str = "embed_tokens"
    position: str = ""
    segment: str = ""
    embedding_norm: str = ""

    def anchor(self) -> str:
        """A tensor of layer 0 that tells the prefix of a checkpoint, and one table from another."""
        return tensor_of(f"{self.layer.format(0)}{self.fused or self.q}", "weight")


def tensor_of(name: str, kind: str) -> str:
    """``q_proj.weight``, but ``in_proj_weight``.

    >>> tensor_of("q_proj", "bias"), tensor_of("in_proj_", "bias")
    ('q_proj.bias', 'in_proj_bias')
    """
    return f"{name}{kind}" if name.endswith("_") else f"{name}.{kind}"


class Tabled(Family):
    """A family read from its table; sizes, norms, positions and feed-forward by the switches below."""

    tables: tuple[TensorNames, ...] = (TensorNames(),)
    """Tried in order: names on disk, names in memory."""
    defaults: Mapping[str, Json] = {}
    """What a configuration means that leaves a key out: the defaults of the reference implementation."""
    rms: ClassVar[bool] = False
    one_plus: ClassVar[bool] = False
    norm_bias: bool = True
    pre: bool = True
    parallel: bool = False
    mask_kind: MaskKind = "causal"
    period: int = 0
    """Of layers with a window: every ``period``-th has none; 0: no layer has one, -1: all have it."""
    turned: ClassVar[Turned] = "no"
    share: ClassVar[float | None] = None
    biases: str = ""
    """Which of q, k, v, o, g (gate), u (up), d (down) have one."""
    cut: Cut = "stacked"
    conv1d: ClassVar[bool] = False
    """Matrices are stored transposed (in, out)."""
    first_position: int = 0
    has_positions: bool = False

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.config = config = Config({**self.defaults, **config.values}, config.where)
        self.kind = config.text("model_type", default=self.model_types[0])
        self.multiplier = 1.0
        self.cap: float | None = None
        self.clip: float | None = None
        self.d = config.integer(*WIDTH)
        self.n_layers = config.layers(*LAYERS)
        self.n_heads = config.integer(*HEADS)
        self.n_kv_heads = config.integer(*KV_HEADS, default=self.n_heads, maximum=self.n_heads)
        if config.raw("head_dim") is None:
            config.heads(self.d, *HEADS)
        self.d_head = config.integer("head_dim", default=self.d // self.n_heads)
        self.width = config.integer(*INNER, default=4 * self.d)
        self.eps = config.number(*EPS, default=1e-5)
        self.activation = config.text(*ACTIVATION, default="gelu")
        self.settings(config)
        if config.raw("eigentoken_cut") is not None:  # a converter has put the fused rows in order
            self.cut = "stacked"
        if self.n_heads % self.n_kv_heads:
            raise ModelError(
                f"{config.where}: num_key_value_heads must divide num_attention_heads={self.n_heads}, "
                f"got {self.n_kv_heads}"
            )
        self.names, self._weights = self.found(weights)
        self.check_biases()

    def settings(self, config: Config) -> None:
        """What else the configuration says; may replace every size and switch."""

    def found(self, weights: WeightReader) -> tuple[TensorNames, WeightReader]:
        """The table whose names the checkpoint has, and the reader under its prefix."""
        for names in self.tables[1:]:
            if any(name.endswith(names.anchor()) for name in weights.store.infos):
                return names, weights.under(names.anchor())
        return self.tables[0], weights.under(self.tables[0].anchor())

    @property
    def weights(self) -> WeightReader:
        return self._weights

    # where things are

    def at(self, index: int, part: str) -> str:
        """The name of a part of a layer, or nothing."""
        name = getattr(self.names, part)
        return f"{self.names.layer.format(index)}{name}" if name else ""

    def block(self, index: int) -> str:
        return self.names.layer.format(index)

    def projections(self) -> dict[str, tuple[str, Shape]]:
        """Attention and feed-forward matrices: letter to part and shape in our convention (rows, columns)."""
        d, q, kv = self.d, self.n_heads * self.d_head, self.n_kv_heads * self.d_head
        parts: dict[str, tuple[str, Shape]] = (
            {"q": ("fused", (q + 2 * kv, d))}
            if self.names.fused
            else {"q": ("q", (q, d)), "k": ("k", (kv, d)), "v": ("v", (kv, d))}
        )
        parts["o"] = ("o", (d, q))
        return parts | self.inner()

    def inner(self) -> dict[str, tuple[str, Shape]]:
        """The matrices of the feed-forward, as :meth:`projections` lists them."""
        d, m = self.d, self.width
        if self.names.gate_up:
            return {"u": ("gate_up", (2 * m, d)), "d": ("down", (d, m))}
        gate: dict[str, tuple[str, Shape]] = {"g": ("gate", (m, d))} if self.names.gate else {}
        return gate | {"u": ("up", (m, d)), "d": ("down", (d, m))}

    def shapes(self, index: int) -> dict[str, Shape]:
        needed: dict[str, Shape] = {}
        skipped = "gud" if self.not_read(index) else ""
        for letter, (part, shape) in self.projections().items():
            if letter not in skipped:
                name = self.at(index, part)
                needed[tensor_of(name, "weight")] = shape[::-1] if self.conv1d else shape
                if letter in self.biases:
                    needed[tensor_of(name, "bias")] = shape[:1]
        return needed

    def check_biases(self) -> None:
        """The table and the file must agree on the biases of layer 0: one that is left out makes another model."""
        skipped = "gud" if self.not_read(0) else ""
        for letter, (part, _) in self.projections().items():
            name = tensor_of(self.at(0, part), "bias")
            if letter not in self.biases and letter not in skipped and self.weights.has(name):
                raise ModelError(
                    f"{self.config.where}: the file has {self.weights.prefix}{name}, but the configuration ({self.kind}) says "
                    "that there is no such bias"
                )

    # reading

    def matrix(self, index: int, letter: str) -> tuple[Array, Array | None]:
        """A matrix in our convention, and its bias."""
        part, shape = self.projections()[letter]
        name = self.at(index, part)
        stored = self.weights.read(tensor_of(name, "weight"), shape[::-1] if self.conv1d else shape)
        bias = self.weights.read(tensor_of(name, "bias"), shape[:1]) if letter in self.biases else None
        return (stored.T if self.conv1d else stored), bias

    def qkv(self, index: int) -> list[tuple[Array, Array | None]]:
        """Query, key and value rows with their biases, taken apart where the file has them in one."""
        if not self.names.fused:
            return [self.matrix(index, letter) for letter in "qkv"]
        whole, bias = self.matrix(index, "q")
        rows = self.cuts()
        return [(whole[where], None if bias is None else bias[where]) for where in rows]

    def cuts(self) -> list[Any]:
        """The rows of query, key and value in the fused tensor."""
        e, H, G = self.d_head, self.n_heads, self.n_kv_heads
        if self.cut == "stacked":
            return [slice(0, H * e), slice(H * e, (H + G) * e), slice((H + G) * e, (H + 2 * G) * e)]
        return self.cuts_as(self.cut)

    def cuts_as(self, cut: str) -> list[NDArray[np.intp]]:
        """Where they are in a tensor that is cut in that way: one after the other, or together for each key-value head."""
        e, H, G = self.d_head, self.n_heads, self.n_kv_heads
        if cut == "stacked":
            return np.split(np.arange((H + 2 * G) * e), [H * e, (H + G) * e])
        each = H // G
        place = np.arange((H + 2 * G) * e).reshape(G, each + 2, e)
        return [place[:, :each].ravel(), place[:, each].ravel(), place[:, each + 1].ravel()]

    def norm(self, name: str, width: int | None = None) -> Normalization:
        """A norm of the family's kind; none where the table has no name for it."""
        width = self.d if width is None else width
        if not name:
            return no_norm(width)
        plain = self.config.flag("eigentoken_plain_gains")  # a converter has stored 1 + w
        return self.weights.norm(
            name, width, eps=self.eps, rms=self.rms, bias=self.norm_bias, one_plus=self.one_plus and not plain
        )

    def layer_norm(self, index: int, part: str) -> Normalization:
        """The norm before (or after) the attention, or the feed-forward."""
        return self.norm(self.at(index, part))

    def layer(self, index: int) -> Layer:
        (W_Q, b_Q), (W_K, b_K), (W_V, b_V) = self.qkv(index)
        W_O, b_O = self.matrix(index, "o")
        used = [
            tensor_of(self.at(index, part), "weight") for part, _ in (self.projections()[c] for c in self.letters())
        ]
        stored = StoredMatrix(self.weights.prefix + tensor_of(self.at(index, "o"), "weight"), transposed=self.conv1d)
        rotary, rules = self.rotary_at(index), self.rules(index)
        inside: Positions = "rotary" if rotary is not None else "none"
        if rules.terms is not None:
            inside = rules.terms.kind  # type: ignore[assignment]
        update = [self.norm(self.at(index, part)) if getattr(self.names, part) else None for part in UPDATE_NORMS]
        return self.build(
            index,
            Projections(W_Q, W_K, W_V, W_O, stored, self.dtypes(*used), b_Q, b_K, b_V, b_O),
            scale=self.scale(index) / self.gain_of(rotary) ** 2,
            mask=self.mask(index),
            placement="pre" if self.pre else "post",
            attention_norm=self.layer_norm(index, "attention_norm"),
            feed_forward_norm=self.layer_norm(index, "feed_forward_norm"),
            positions="absolute" if self.has_positions and inside == "none" else inside,
            rotary=rotary,
            rules=rules,
            added=self.has_positions and inside != "none",
            parallel=self.parallel,
            attention_update_norm=update[0],
            feed_forward_update_norm=update[1],
            attention_gain=self.update_gain(index, "attention_gain"),
            feed_forward_gain=self.update_gain(index, "feed_forward_gain"),
            not_read=self.not_read(index),
        )

    def gain_of(self, rotary: Rotary | None) -> float:
        """What turned coordinates are multiplied by; a score scale only where all are turned."""
        if rotary is not None and rotary.gain != 1.0 and rotary.dims < rotary.d_head:
            raise ModelError(
                f"{self.config.where}: the rotary rule ({rotary.rule}) multiplies {rotary.dims} of {rotary.d_head} coordinates "
                f"of a head by {rotary.gain:g} and the others not: that is no score scale, and is not supported"
            )
        return 1.0 if rotary is None else rotary.gain

    def letters(self) -> str:
        """The letters of the attention matrices that are stored."""
        return "qo" if self.names.fused else "qkvo"

    def update_gain(self, index: int, part: str) -> Array | None:
        """What multiplies an update before it is added (layer scale), where there is such a thing."""
        name = self.at(index, part)
        return self.weights.read(name, (self.d,)) if name else None

    def feed_forward(self, index: int) -> FeedForward:
        if what := self.not_read(index):
            raise ModelError(f"layer {index}: the feed-forward is {what}, which is not read")
        found = {letter: self.matrix(index, letter) for letter in self.inner()}
        (up, up_bias), (down, down_bias) = found["u"], found["d"]
        gate, gate_bias = found.get("g", (None, None))
        if self.names.gate_up:
            gate, up = up[: self.width], up[self.width :]
            if up_bias is not None:
                gate_bias, up_bias = up_bias[: self.width], up_bias[self.width :]
        names = [f"{self.at(index, part)}.weight" for part, _ in self.inner().values()]
        return FeedForward(
            up, down, self.activation, gate, up_bias, down_bias, gate_bias, stored_dtype=self.dtypes(*names)
        )

    # what the layer does

    def scale(self, index: int) -> float:
        """What scores are divided by."""
        return math.sqrt(self.d_head)

    def layer_kind(self, index: int) -> str:
        """``sliding_attention`` or ``full_attention``."""
        kinds = self.config.raw("layer_types")
        if isinstance(kinds, list) and len(kinds) == self.n_layers:
            return str(kinds[index])
        slides = self.period < 0 or (self.period > 0 and (index + 1) % self.period != 0)
        return "sliding_attention" if slides else "full_attention"

    def mask(self, index: int) -> Mask:
        """Full, causal, or causal with a window."""
        if self.mask_kind == "full":
            return Mask("full")
        slides = self.layer_kind(index) == "sliding_attention" and self.config.raw("sliding_window") is not None
        return Mask("local", self.config.integer("sliding_window")) if slides else Mask("causal")

    def rotary_at(self, index: int) -> Rotary | None:
        """The rotary positions of a layer."""
        if self.turned == "no":
            return None
        theta = self.config.number("rope_theta", default=10000.0)
        interleaved = self.turned == "interleaved"
        kind = self.layer_kind(index)
        return rotary_of(self.config, self.d_head, theta, kind=kind, share=self.share, interleaved=interleaved)

    def terms(self, index: int) -> ScoreTerms | None:
        """Positions that add to the scores."""
        return None

    def rules(self, index: int) -> Rules:
        """What the scores are beside the bilinear form."""
        query, key = (
            self.norm(self.at(index, part), self.d_head) if getattr(self.names, part) else None for part in QK
        )
        return Rules(query, key, clip=self.clip, cap=self.cap, terms=self.terms(index))

    def embedding(self) -> Embedding:
        names, w = self.names, self.weights
        vocabulary = self.config.integer("vocab_size")
        position = segment = None
        if names.position:
            position = w.read(f"{names.position}.weight", (w.shape(f"{names.position}.weight")[0], self.d))
        if names.segment and w.has(f"{names.segment}.weight"):
            segment = w.read(f"{names.segment}.weight", (self.config.integer("type_vocab_size", default=2), self.d))
        return TokenEmbedding(
            token=w.read(f"{names.token}.weight", (vocabulary, self.d)),
            position=position,
            segment=segment,
            norm=self.norm(names.embedding_norm) if names.embedding_norm else None,
            position_offset=self.first_position,
            multiplier=self.multiplier,
        )

    def final_norm(self) -> Normalization | None:
        return self.norm(self.names.final_norm) if self.names.final_norm else None


#: The biases of a family that has them everywhere (without a gate).
ALL = "qkvoud"
UPDATE_NORMS = ("attention_update_norm", "feed_forward_update_norm")
QK = ("query_norm", "key_norm")
