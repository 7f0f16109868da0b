"""ALBERT (Lan et al., 2020): BERT's layer with weights shared between layers, and a factorised embedding."""

from __future__ import annotations

import math

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, StoredMatrix
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register


@register
class Albert(Family):
    """Layer i applies group i // (layers / groups), all its inner layers in turn; post-norm, full attention.

    Our layer index counts applications: with ``inner_group_num`` inner layers, application i, inner j is i * inner + j.
    """

    name = "albert"
    model_types = ("albert",)
    architectures = {"Albert": "albert"}
    signature = {"encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight": ("", "albert.")}
    about = "shared weights, post-LayerNorm, absolute positions, full attention"

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.config = config
        self.d = config.integer("hidden_size")
        self.n_heads = self.n_kv_heads = config.heads(self.d, "num_attention_heads")
        self.d_head = self.d // self.n_heads
        self.inner = config.integer("inner_group_num", default=1, maximum=100)
        self.applications = config.layers("num_hidden_layers")
        self.groups = config.integer("num_hidden_groups", default=1, maximum=self.applications)
        self.n_layers = self.applications * self.inner
        self.first: dict[int, int] = {}
        for application in range(self.applications):
            self.first.setdefault(self.group(application * self.inner), application)
        self.width = config.integer("intermediate_size")
        self.d_embedding = config.integer("embedding_size", default=128)
        self.eps = config.number("layer_norm_eps", default=1e-12)
        self.activation = config.text("hidden_act", default="gelu_new")
        config.refuse("position_embedding_type", ("absolute",), "scores would have a relative position term")
        self._weights = weights.under("encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight")

    @property
    def weights(self) -> WeightReader:
        return self._weights

    def group(self, index: int) -> int:
        """The group of weights that application index // inner uses."""
        return int((index // self.inner) / (self.applications / self.groups))

    def weights_of(self, index: int) -> int:
        return self.first[self.group(index)] * self.inner + index % self.inner

    def base(self, index: int) -> str:
        """The name under which the weights of this layer are stored."""
        return f"encoder.albert_layer_groups.{self.group(index)}.albert_layers.{index % self.inner}."

    def shapes(self, index: int) -> dict[str, Shape]:
        base, d = self.base(index), self.d
        needed: dict[str, Shape] = {}
        for part in ("query", "key", "value", "dense"):
            needed |= {f"{base}attention.{part}.weight": (d, d), f"{base}attention.{part}.bias": (d,)}
        needed |= {f"{base}ffn.weight": (self.width, d), f"{base}ffn.bias": (self.width,)}
        return needed | {f"{base}ffn_output.weight": (d, self.width), f"{base}ffn_output.bias": (d,)}

    def layer(self, index: int) -> Layer:
        base, w, d = self.base(index), self.weights, self.d
        parts = {part: f"{base}attention.{part}" for part in ("query", "key", "value", "dense")}
        W = {part: w.read(f"{name}.weight", (d, d)) for part, name in parts.items()}
        b = {part: w.read(f"{name}.bias", (d,)) for part, name in parts.items()}
        projections = Projections(
            W["query"],
            W["key"],
            W["value"],
            W["dense"],
            StoredMatrix(f"{w.prefix}{parts['dense']}.weight", transposed=False),
            self.dtypes(*(f"{name}.weight" for name in parts.values())),
            b["query"],
            b["key"],
            b["value"],
            b["dense"],
        )
        return self.build(
            index,
            projections,
            scale=math.sqrt(self.d_head),
            mask=Mask("full"),
            placement="post",
            attention_norm=w.norm(f"{base}attention.LayerNorm", d, eps=self.eps),
            feed_forward_norm=w.norm(f"{base}full_layer_layer_norm", d, eps=self.eps),
            positions="absolute",
        )

    def feed_forward(self, index: int) -> FeedForward:
        base, w, d = self.base(index), self.weights, self.d
        return FeedForward(
            up=w.read(f"{base}ffn.weight", (self.width, d)),
            down=w.read(f"{base}ffn_output.weight", (d, self.width)),
            activation=self.activation,
            up_bias=w.read(f"{base}ffn.bias", (self.width,)),
            down_bias=w.read(f"{base}ffn_output.bias", (d,)),
            stored_dtype=self.dtypes(f"{base}ffn.weight", f"{base}ffn_output.weight"),
        )

    def embedding(self) -> TokenEmbedding:
        w, e = self.weights, self.d_embedding
        vocabulary = self.config.integer("vocab_size")
        positions = self.config.integer("max_position_embeddings")
        segments = self.config.integer("type_vocab_size", default=2)
        return TokenEmbedding(
            token=w.read("embeddings.word_embeddings.weight", (vocabulary, e)),
            position=w.read("embeddings.position_embeddings.weight", (positions, e)),
            segment=w.read("embeddings.token_type_embeddings.weight", (segments, e)),
            norm=w.norm("embeddings.LayerNorm", e, eps=self.eps),
            projection=w.read("encoder.embedding_hidden_mapping_in.weight", (self.d, e)),
            projection_bias=w.read("encoder.embedding_hidden_mapping_in.bias", (self.d,)),
        )
