"""BERT (Devlin et al., 2019) and its distillations of the same shape, such as MiniLM (Wang et al., 2020).

RoBERTa, XLM-RoBERTa and CamemBERT have the same layers; MiniLM students of those teachers carry their model type.  There
positions are counted from ``pad_token_id + 1``.
"""

from __future__ import annotations

import math

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, StoredMatrix
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register


@register
class Bert(Family):
    """Post-norm layers with biases everywhere; full attention, or causal when the configuration says decoder."""

    name = "bert"
    model_types = ("bert", "roberta", "xlm-roberta", "camembert")
    architectures = {"Bert": "bert", "Roberta": "roberta", "XLMRoberta": "xlm-roberta", "Camembert": "camembert"}
    signature = {"encoder.layer.0.attention.self.query.weight": ("", "bert.")}
    about = "BERT, MiniLM (and RoBERTa-shaped ones): post-LayerNorm, absolute positions, full attention"

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.config = config
        self.kind = config.text("model_type", default="bert")
        self.d = config.integer("hidden_size")
        self.n_layers = config.layers("num_hidden_layers")
        self.n_heads = self.n_kv_heads = config.heads(self.d, "num_attention_heads")
        self.d_head = self.d // self.n_heads
        self.width = config.integer("intermediate_size")
        self.eps = config.number("layer_norm_eps", default=1e-12)
        self.activation = config.text("hidden_act", default="gelu")
        self.first_position = 0 if self.kind == "bert" else config.integer("pad_token_id", default=1, minimum=0) + 1
        self.mask = Mask("causal" if config.flag("is_decoder") else "full")
        config.refuse("position_embedding_type", ("absolute",), "scores would have a relative position term")
        config.refuse("add_cross_attention", (False,), "cross-attention is not one sequence's dynamics")
        self._weights = weights.under("encoder.layer.0.attention.self.query.weight")

    @property
    def weights(self) -> WeightReader:
        return self._weights

    def shapes(self, index: int) -> dict[str, Shape]:
        base, d = f"encoder.layer.{index}.", self.d
        needed: dict[str, Shape] = {}
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            needed |= {f"{base}attention.{part}.weight": (d, d), f"{base}attention.{part}.bias": (d,)}
        needed |= {f"{base}intermediate.dense.weight": (self.width, d), f"{base}intermediate.dense.bias": (self.width,)}
        return needed | {f"{base}output.dense.weight": (d, self.width), f"{base}output.dense.bias": (d,)}

    def layer(self, index: int) -> Layer:
        base, w, d = f"encoder.layer.{index}.", self.weights, self.d
        parts = [f"{base}attention.{part}" for part in ("self.query", "self.key", "self.value", "output.dense")]
        W_Q, W_K, W_V, W_O = (w.read(f"{part}.weight", (d, d)) for part in parts)
        b_Q, b_K, b_V, b_O = (w.read(f"{part}.bias", (d,)) for part in parts)
        stored = StoredMatrix(f"{w.prefix}{parts[3]}.weight", transposed=False)
        dtype = self.dtypes(*(f"{part}.weight" for part in parts))
        return self.build(
            index,
            Projections(W_Q, W_K, W_V, W_O, stored, dtype, b_Q, b_K, b_V, b_O),
            scale=math.sqrt(self.d_head),
            mask=self.mask,
            placement="post",
            attention_norm=w.norm(f"{base}attention.output.LayerNorm", d, eps=self.eps),
            feed_forward_norm=w.norm(f"{base}output.LayerNorm", d, eps=self.eps),
            positions="absolute",
        )

    def feed_forward(self, index: int) -> FeedForward:
        base, w, d = f"encoder.layer.{index}.", self.weights, self.d
        return FeedForward(
            up=w.read(f"{base}intermediate.dense.weight", (self.width, d)),
            down=w.read(f"{base}output.dense.weight", (d, self.width)),
            activation=self.activation,
            up_bias=w.read(f"{base}intermediate.dense.bias", (self.width,)),
            down_bias=w.read(f"{base}output.dense.bias", (d,)),
            stored_dtype=self.dtypes(f"{base}intermediate.dense.weight", f"{base}output.dense.weight"),
        )

    def embedding(self) -> TokenEmbedding:
        w, d = self.weights, self.d
        vocabulary = self.config.integer("vocab_size")
        positions = self.config.integer("max_position_embeddings")
        segments = self.config.integer("type_vocab_size", default=2)
        kinds = "embeddings.token_type_embeddings.weight"
        return TokenEmbedding(
            token=w.read("embeddings.word_embeddings.weight", (vocabulary, d)),
            position=w.read("embeddings.position_embeddings.weight", (positions, d)),
            segment=w.read(kinds, (segments, d)) if w.has(kinds) else None,  # DistilBERT, in GGUF a BERT, has none
            norm=w.norm("embeddings.LayerNorm", d, eps=self.eps),
            position_offset=self.first_position,
        )
