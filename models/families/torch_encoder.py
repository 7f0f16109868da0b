"""``torch.nn.TransformerEncoder`` and ``TransformerEncoderLayer``, in memory or in a file: fused in_proj (3d, d).

A file says neither the number of heads nor where the norms stand: a ``config.json`` with ``model_type`` ``torch-encoder`` does,
and the refusal without one (:func:`recognition.torch_encoder`) writes what of it can be seen in the names and shapes.
"""

from __future__ import annotations

import math
from typing import Literal, NoReturn

from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import FeedForward, Layer, Mask, StoredMatrix
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import Family, Projections, Shape, register

FIRST = "layers.0.self_attn.in_proj_weight"


@register
class TorchEncoder(Family):
    """No embedding and no positions of its own: run hidden states, not token ids.

    ``prefix`` of the configuration chooses one of several encoders in a file; one layer (``stacked`` false) that stands for
    several is run so often; ``causal`` says that its program gives it a causal mask.
    """

    name = "torch-encoder"
    model_types = ("torch-encoder",)
    has_embedding = False
    about = "torch.nn.TransformerEncoder, in memory or a file: LayerNorm before or after, no positions, full or causal attention"

    def __init__(self, config: Config, weights: WeightReader) -> None:
        self.d = config.integer("hidden_size")
        self.n_layers = config.layers("num_hidden_layers")
        self.n_heads = self.n_kv_heads = config.heads(self.d, "num_attention_heads")
        self.d_head = self.d // self.n_heads
        self.width = config.integer("intermediate_size")
        self.eps = config.number("layer_norm_eps", default=1e-5)
        self.activation = config.text("hidden_act", default="relu")
        self.placement: Literal["pre", "post"] = "pre" if config.flag("norm_first") else "post"
        self.mask = Mask("causal" if config.flag("causal") else "full")
        self.stacked = config.flag("stacked", default=any(name.endswith(FIRST) for name in weights.store.infos))
        chosen = config.raw("prefix")
        anchor = FIRST if self.stacked else FIRST.removeprefix("layers.0.")
        self._weights = weights.under(f"{chosen}{anchor}" if isinstance(chosen, str) else anchor)
        if isinstance(chosen, str):
            self._weights = WeightReader(weights.store, self._weights.prefix + chosen)

    @property
    def weights(self) -> WeightReader:
        return self._weights

    def weights_of(self, index: int) -> int:
        return index if self.stacked else 0

    def base(self, index: int) -> str:
        """``layers.0.`` and so on in a stack, nothing for a single layer."""
        return f"layers.{index}." if self.stacked else ""

    def shapes(self, index: int) -> dict[str, Shape]:
        base, d, m = self.base(index), self.d, self.width
        return {
            f"{base}self_attn.in_proj_weight": (3 * d, d),
            f"{base}self_attn.out_proj.weight": (d, d),
            f"{base}linear1.weight": (m, d),
            f"{base}linear2.weight": (d, m),
        }

    def layer(self, index: int) -> Layer:
        base, w, d = f"{self.base(index)}", self.weights, self.d
        fused = w.read(f"{base}self_attn.in_proj_weight", (3 * d, d))
        bias = w.optional(f"{base}self_attn.in_proj_bias", (3 * d,))
        b_Q, b_K, b_V = (None, None, None) if bias is None else (bias[:d], bias[d : 2 * d], bias[2 * d :])
        output = f"{base}self_attn.out_proj"
        projections = Projections(
            fused[:d],
            fused[d : 2 * d],
            fused[2 * d :],
            w.read(f"{output}.weight", (d, d)),
            StoredMatrix(f"{w.prefix}{output}.weight", transposed=False),
            self.dtypes(f"{base}self_attn.in_proj_weight", f"{output}.weight"),
            b_Q,
            b_K,
            b_V,
            w.optional(f"{output}.bias", (d,)),
        )
        return self.build(
            index,
            projections,
            scale=math.sqrt(self.d_head),
            mask=self.mask,
            placement=self.placement,
            attention_norm=w.norm(f"{base}norm1", d, eps=self.eps),
            feed_forward_norm=w.norm(f"{base}norm2", d, eps=self.eps),
            positions="none",
        )

    def feed_forward(self, index: int) -> FeedForward:
        base, w, d, m = self.base(index), self.weights, self.d, self.width
        return FeedForward(
            up=w.read(f"{base}linear1.weight", (m, d)),
            down=w.read(f"{base}linear2.weight", (d, m)),
            activation=self.activation,
            up_bias=w.optional(f"{base}linear1.bias", (m,)),
            down_bias=w.optional(f"{base}linear2.bias", (d,)),
            stored_dtype=self.dtypes(f"{base}linear1.weight", f"{base}linear2.weight"),
        )

    def embedding(self) -> NoReturn:
        raise ModelError("a torch encoder has no embedding: pass hidden states (..., n, d) instead of token ids")

    def final_norm(self) -> Normalization | None:
        return self.weights.norm("norm", self.d, eps=self.eps) if self.weights.has("norm.weight") else None
