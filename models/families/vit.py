"""ViT (Dosovitskiy et al., 2021): pre-norm, full attention over image patches and a class token."""

from __future__ import annotations

import math

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import PatchEmbedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, StoredMatrix
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register

ON_DISK = {
    "layer": "encoder.layer.{}.",
    "q": "attention.attention.query",
    "k": "attention.attention.key",
    "v": "attention.attention.value",
    "o": "attention.output.dense",
    "up": "intermediate.dense",
    "down": "output.dense",
}
IN_MEMORY = {
    "layer": "layers.{}.",
    "q": "attention.q_proj",
    "k": "attention.k_proj",
    "v": "attention.v_proj",
    "o": "attention.o_proj",
    "up": "mlp.fc1",
    "down": "mlp.fc2",
}
"""transformers 5 renames the tensors when it loads them, and back when it saves."""


@register
class Vit(Family):
    """Pre-norm; query, key and value have biases unless ``qkv_bias`` is false."""

    name = "vit"
    model_types = ("vit",)
    architectures = {"ViT": "vit"}
    signature = {"encoder.layer.0.attention.attention.query.weight": ("", "vit.")}
    about = "pre-LayerNorm, absolute positions, full attention over image patches"
    takes_pixels = True

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.config = config
        self.d = config.integer("hidden_size")
        self.n_layers = config.layers("num_hidden_layers")
        self.n_heads = self.n_kv_heads = config.heads(self.d, "num_attention_heads")
        self.d_head = self.d // self.n_heads
        self.width = config.integer("intermediate_size")
        self.eps = config.number("layer_norm_eps", default=1e-12)
        self.activation = config.text("hidden_act", default="gelu")
        self.qkv_bias = config.flag("qkv_bias", default=True)
        anchors = [f"{names['layer'].format(0)}{names['q']}.weight" for names in (ON_DISK, IN_MEMORY)]
        in_memory = any(name.endswith(anchors[1]) for name in weights.store.infos)
        self.names = IN_MEMORY if in_memory else ON_DISK
        self._weights = weights.under(anchors[1] if in_memory else anchors[0])

    @property
    def weights(self) -> WeightReader:
        return self._weights

    def part(self, index: int, which: str) -> str:
        """The stored name of a part of a layer, without ``.weight``."""
        return self.names["layer"].format(index) + self.names[which]

    def shapes(self, index: int) -> dict[str, Shape]:
        d, m = self.d, self.width
        needed: dict[str, Shape] = {}
        for which, rows, columns in (("q", d, d), ("k", d, d), ("v", d, d), ("o", d, d), ("up", m, d), ("down", d, m)):
            name = self.part(index, which)
            needed[f"{name}.weight"] = (rows, columns)
            if self.qkv_bias or which not in "qkv":
                needed[f"{name}.bias"] = (rows,)
        return needed

    def layer(self, index: int) -> Layer:
        w, d = self.weights, self.d
        base = self.names["layer"].format(index)
        parts = [self.part(index, which) for which in "qkvo"]
        W_Q, W_K, W_V, W_O = (w.read(f"{part}.weight", (d, d)) for part in parts)
        b_Q, b_K, b_V = (w.read(f"{part}.bias", (d,)) if self.qkv_bias else None for part in parts[:3])
        b_O = w.read(f"{parts[3]}.bias", (d,))
        stored = StoredMatrix(f"{w.prefix}{parts[3]}.weight", transposed=False)
        dtype = self.dtypes(*(f"{part}.weight" for part in parts))
        return self.build(
            index,
            Projections(W_Q, W_K, W_V, W_O, stored, dtype, b_Q, b_K, b_V, b_O),
            scale=math.sqrt(self.d_head),
            mask=Mask("full"),
            placement="pre",
            attention_norm=w.norm(f"{base}layernorm_before", d, eps=self.eps),
            feed_forward_norm=w.norm(f"{base}layernorm_after", d, eps=self.eps),
            positions="absolute",
        )

    def feed_forward(self, index: int) -> FeedForward:
        w, up, down = self.weights, self.part(index, "up"), self.part(index, "down")
        return FeedForward(
            up=w.read(f"{up}.weight", (self.width, self.d)),
            down=w.read(f"{down}.weight", (self.d, self.width)),
            activation=self.activation,
            up_bias=w.read(f"{up}.bias", (self.width,)),
            down_bias=w.read(f"{down}.bias", (self.d,)),
            stored_dtype=self.dtypes(f"{up}.weight", f"{down}.weight"),
        )

    def embedding(self) -> PatchEmbedding:
        w, d = self.weights, self.d
        channels = self.config.integer("num_channels", default=3)
        (height, width), (p, q) = self.pair("image_size", 224), self.pair("patch_size", 16)
        tokens = (height // p) * (width // q) + 1
        return PatchEmbedding(
            kernel=w.read("embeddings.patch_embeddings.projection.weight", (d, channels, p, q)),
            class_token=w.read("embeddings.cls_token", (1, 1, d)).reshape(d),
            position=w.read("embeddings.position_embeddings", (1, tokens, d)).reshape(tokens, d),
            bias=w.read("embeddings.patch_embeddings.projection.bias", (d,)),
        )

    def final_norm(self) -> Normalization:
        return self.weights.norm("layernorm", self.d, eps=self.eps)

    def pair(self, key: str, default: int) -> tuple[int, int]:
        """A size given as one number or as (height, width)."""
        value = self.config.raw(key)
        if isinstance(value, list | tuple):
            if len(value) != 2 or not all(isinstance(v, int) and 0 < v < 1 << 20 for v in value):
                raise ModelError(f"{self.config.where}: {key} must be one or two positive whole numbers")
            return int(value[0]), int(value[1])
        size = self.config.integer(key, default=default)
        return size, size
