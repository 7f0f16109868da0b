"""GPT-2 (Radford et al., 2019): pre-norm, causal, with query, key and value fused in one Conv1D matrix."""

from __future__ import annotations

import math

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, StoredMatrix
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register


@register
class Gpt2(Family):
    """Conv1D stores (in, out), the transpose of our matrices; ``c_attn`` is [W_Q^T W_K^T W_V^T], shape (d, 3d)."""

    name = "gpt2"
    model_types = ("gpt2",)
    architectures = {"GPT2": "gpt2"}
    signature = {"h.0.attn.c_attn.weight": ("", "transformer.")}
    about = "pre-LayerNorm, fused Conv1D, absolute positions, causal"

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.config = config
        self.d = config.integer("n_embd", "hidden_size")
        self.n_layers = config.layers("n_layer", "num_hidden_layers")
        self.n_heads = self.n_kv_heads = config.heads(self.d, "n_head", "num_attention_heads")
        self.d_head = self.d // self.n_heads
        self.width = config.integer("n_inner", default=4 * self.d)
        self.eps = config.number("layer_norm_epsilon", default=1e-5)
        self.activation = config.text("activation_function", default="gelu_new")
        self.scaled = config.flag("scale_attn_weights", default=True)
        self.scaled_by_layer = config.flag("scale_attn_by_inverse_layer_idx")
        config.refuse("add_cross_attention", (False,), "cross-attention is not one sequence's dynamics")
        self._weights = weights.under("h.0.attn.c_attn.weight")

    @property
    def weights(self) -> WeightReader:
        return self._weights

    def shapes(self, index: int) -> dict[str, Shape]:
        base, d, m = f"h.{index}.", self.d, self.width
        needed: dict[str, Shape] = {f"{base}attn.c_attn.weight": (d, 3 * d), f"{base}attn.c_attn.bias": (3 * d,)}
        needed |= {f"{base}attn.c_proj.weight": (d, d), f"{base}attn.c_proj.bias": (d,)}
        needed |= {f"{base}mlp.c_fc.weight": (d, m), f"{base}mlp.c_fc.bias": (m,)}
        return needed | {f"{base}mlp.c_proj.weight": (m, d), f"{base}mlp.c_proj.bias": (d,)}

    def layer(self, index: int) -> Layer:
        base, w, d = f"h.{index}.", self.weights, self.d
        fused = w.read(f"{base}attn.c_attn.weight", (d, 3 * d)).T
        bias = w.read(f"{base}attn.c_attn.bias", (3 * d,))
        output = f"{base}attn.c_proj"
        projections = Projections(
            fused[:d],
            fused[d : 2 * d],
            fused[2 * d :],
            w.read(f"{output}.weight", (d, d)).T,
            StoredMatrix(f"{w.prefix}{output}.weight", transposed=True),
            self.dtypes(f"{base}attn.c_attn.weight", f"{output}.weight"),
            bias[:d],
            bias[d : 2 * d],
            bias[2 * d :],
            w.read(f"{output}.bias", (d,)),
        )
        scale = math.sqrt(self.d_head) if self.scaled else 1.0
        return self.build(
            index,
            projections,
            scale=scale * (index + 1) if self.scaled_by_layer else scale,
            mask=Mask("causal"),
            placement="pre",
            attention_norm=w.norm(f"{base}ln_1", d, eps=self.eps),
            feed_forward_norm=w.norm(f"{base}ln_2", d, eps=self.eps),
            positions="absolute",
        )

    def feed_forward(self, index: int) -> FeedForward:
        base, w, d, m = f"h.{index}.mlp.", self.weights, self.d, self.width
        return FeedForward(
            up=w.read(f"{base}c_fc.weight", (d, m)).T,
            down=w.read(f"{base}c_proj.weight", (m, d)).T,
            activation=self.activation,
            up_bias=w.read(f"{base}c_fc.bias", (m,)),
            down_bias=w.read(f"{base}c_proj.bias", (d,)),
            stored_dtype=self.dtypes(f"{base}c_fc.weight", f"{base}c_proj.weight"),
        )

    def embedding(self) -> TokenEmbedding:
        vocabulary = self.config.integer("vocab_size")
        positions = self.config.integer("n_positions", "max_position_embeddings", "n_ctx")
        return TokenEmbedding(
            token=self.weights.read("wte.weight", (vocabulary, self.d)),
            position=self.weights.read("wpe.weight", (positions, self.d)),
        )

    def final_norm(self) -> Normalization:
        return self.weights.norm("ln_f", self.d, eps=self.eps)
