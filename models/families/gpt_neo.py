"""GPT-Neo (Black et al., 2021): pre-norm, causal, scores not scaled, global and local layers in turn."""

from __future__ import annotations

from typing import Any

from eigentoken.models.convention.configuration import MAX_LAYERS, Config
from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, StoredMatrix
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register


@register
class GptNeo(Family):
    """scale = 1.  A ``local`` layer sees keys 0 <= i - j < window_size; query, key and value have no bias."""

    name = "gpt_neo"
    model_types = ("gpt_neo",)
    architectures = {"GPTNeo": "gpt_neo"}
    signature = {"h.0.attn.attention.q_proj.weight": ("", "transformer.")}
    about = "pre-LayerNorm, no score scaling, alternating global and local causal windows, absolute positions"

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.config = config
        self.d = config.integer("hidden_size")
        self.n_layers = config.layers("num_layers", "num_hidden_layers")
        self.n_heads = self.n_kv_heads = config.heads(self.d, "num_heads", "num_attention_heads")
        self.d_head = self.d // self.n_heads
        self.width = config.integer("intermediate_size", default=4 * self.d)
        self.eps = config.number("layer_norm_epsilon", default=1e-5)
        self.activation = config.text("activation_function", default="gelu_new")
        self.kinds = attention_kinds(config, self.n_layers)
        self.window = config.integer("window_size", default=256)
        self._weights = weights.under("h.0.attn.attention.q_proj.weight")

    @property
    def weights(self) -> WeightReader:
        return self._weights

    def shapes(self, index: int) -> dict[str, Shape]:
        base, d, m = f"h.{index}.", self.d, self.width
        needed: dict[str, Shape] = {f"{base}attn.attention.{p}_proj.weight": (d, d) for p in ("q", "k", "v", "out")}
        needed |= {f"{base}attn.attention.out_proj.bias": (d,)}
        needed |= {f"{base}mlp.c_fc.weight": (m, d), f"{base}mlp.c_fc.bias": (m,)}
        return needed | {f"{base}mlp.c_proj.weight": (d, m), f"{base}mlp.c_proj.bias": (d,)}

    def layer(self, index: int) -> Layer:
        base, w, d = f"h.{index}.", self.weights, self.d
        parts = [f"{base}attn.attention.{p}_proj.weight" for p in ("q", "k", "v", "out")]
        W_Q, W_K, W_V, W_O = (w.read(part, (d, d)) for part in parts)
        stored = StoredMatrix(w.prefix + parts[3], transposed=False)
        b_O = w.read(f"{base}attn.attention.out_proj.bias", (d,))
        return self.build(
            index,
            Projections(W_Q, W_K, W_V, W_O, stored, self.dtypes(*parts), b_O=b_O),
            scale=1.0,
            mask=Mask("causal") if self.kinds[index] == "global" else Mask("local", self.window),
            placement="pre",
            attention_norm=w.norm(f"{base}ln_1", d, eps=self.eps),
            feed_forward_norm=w.norm(f"{base}ln_2", d, eps=self.eps),
            positions="absolute",
        )

    def feed_forward(self, index: int) -> FeedForward:
        base, w, d, m = f"h.{index}.mlp.", self.weights, self.d, self.width
        return FeedForward(
            up=w.read(f"{base}c_fc.weight", (m, d)),
            down=w.read(f"{base}c_proj.weight", (d, m)),
            activation=self.activation,
            up_bias=w.read(f"{base}c_fc.bias", (m,)),
            down_bias=w.read(f"{base}c_proj.bias", (d,)),
            stored_dtype=self.dtypes(f"{base}c_fc.weight", f"{base}c_proj.weight"),
        )

    def embedding(self) -> TokenEmbedding:
        vocabulary = self.config.integer("vocab_size")
        positions = self.config.integer("max_position_embeddings")
        return TokenEmbedding(
            token=self.weights.read("wte.weight", (vocabulary, self.d)),
            position=self.weights.read("wpe.weight", (positions, self.d)),
        )

    def final_norm(self) -> Normalization:
        return self.weights.norm("ln_f", self.d, eps=self.eps)


def attention_kinds(config: Config, n_layers: int) -> list[str]:
    """``global`` or ``local`` for each layer, from attention_layers or from attention_types [[kinds, repeats], ...]."""
    kinds: Any = config.raw("attention_layers")
    if kinds is None:
        kinds = []
        types = config.raw("attention_types")
        types = [[["global", "local"], n_layers // 2]] if types is None else types
        if not isinstance(types, list):
            raise ModelError(f"{config.where}: attention_types must be a list of [kinds, repeats]")
        for entry in types:
            if not (
                isinstance(entry, list)
                and len(entry) == 2
                and isinstance(entry[0], list)
                and isinstance(entry[1], int)
                and 0 <= entry[1] * max(1, len(entry[0])) <= MAX_LAYERS
            ):
                raise ModelError(f"{config.where}: attention_types must be a list of [kinds, repeats]")
            kinds += entry[0] * entry[1]
    if not isinstance(kinds, list) or len(kinds) != n_layers or any(k not in ("global", "local") for k in kinds):
        raise ModelError(f"{config.where}: attention_types must say global or local for each of {n_layers} layers")
    return kinds
