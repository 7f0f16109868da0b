"""Image encoders beside ViT: DeiT, DINOv2, BEiT, I-JEPA, and the towers of CLIP and SigLIP, one table each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import Embedding, PatchEmbedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.rotary import Array
from eigentoken.models.convention.score_terms import GridBias
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import part_of, register
from eigentoken.models.families.tabled import ALL, MaskKind, Tabled, TensorNames

ON_DISK = TensorNames(
    layer="encoder.layer.{}.",
    q="attention.attention.query",
    k="attention.attention.key",
    v="attention.attention.value",
    o="attention.output.dense",
    attention_norm="layernorm_before",
    feed_forward_norm="layernorm_after",
    gate="",
    up="intermediate.dense",
    down="output.dense",
    final_norm="layernorm",
)
PROJECTIONS = {"q": "attention.q_proj", "k": "attention.k_proj", "v": "attention.v_proj", "o": "attention.o_proj"}
IN_MEMORY = replace(ON_DISK, layer="layers.{}.", **PROJECTIONS, up="mlp.fc1", down="mlp.fc2")
"""transformers 5 renames the tensors when it loads them, and back when it saves."""
DINO = replace(
    ON_DISK,
    attention_norm="norm1",
    feed_forward_norm="norm2",
    attention_gain="layer_scale1.lambda1",
    feed_forward_gain="layer_scale2.lambda1",
    up="mlp.fc1",
    down="mlp.fc2",
)


class Patches(Tabled):
    """Pre-LayerNorm, full attention over patches behind ``first`` tokens."""

    mask_kind: MaskKind = "full"
    has_positions = True
    takes_pixels = True
    first: tuple[str, ...] = ("cls_token",)
    tables: tuple[TensorNames, ...] = (ON_DISK, IN_MEMORY)
    defaults: Mapping[str, Json] = {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "qkv_bias": True}

    def settings(self, config: Config) -> None:
        self.biases = ALL if config.flag("qkv_bias") else "oud"

    def size(self, key: str, usual: int) -> tuple[int, int]:
        """A size given as one number or as (height, width)."""
        value = self.config.raw(key)
        if isinstance(value, list | tuple):
            if len(value) != 2 or not all(isinstance(v, int) and 0 < v < 1 << 20 for v in value):
                raise ModelError(f"{self.config.where}: {key} must be one or two positive whole numbers")
            return int(value[0]), int(value[1])
        both = self.config.integer(key, default=usual)
        return both, both

    def grid(self) -> tuple[int, int, int, int]:
        """Rows and columns of patches, and the height and width of one."""
        (height, width), (p, q) = self.size("image_size", 224), self.size("patch_size", 16)
        return height // p, width // q, p, q

    def embedding(self) -> Embedding:
        w, d = self.weights, self.d
        rows, columns, p, q = self.grid()
        channels = self.config.integer("num_channels", default=3)
        tokens = [w.read(f"embeddings.{name}", (1, 1, d)).reshape(d) for name in self.first]
        count = rows * columns + len(tokens)
        return PatchEmbedding(
            kernel=w.read("embeddings.patch_embeddings.projection.weight", (d, channels, p, q)),
            class_token=stacked(tokens),
            position=w.read("embeddings.position_embeddings", (1, count, d))[0] if self.has_positions else None,
            bias=w.read("embeddings.patch_embeddings.projection.bias", (d,)),
            registers=self.registers(),
        )

    def registers(self) -> Array | None:
        """Tokens between the class token and the patches."""
        return None


def stacked(rows: list[Array]) -> Array | None:
    """The rows as one array, None where there are none."""
    import numpy as np

    return np.stack(rows) if rows else None


@register
class DeiT(Patches):
    """ViT with a distillation token."""

    name = "deit"
    model_types = ("deit",)
    architectures = {"DeiT": "deit"}
    about = "ViT with a distillation token"
    first: tuple[str, ...] = ("cls_token", "distillation_token")


@register
class IJepa(Patches):
    """ViT without a class token."""

    name = "ijepa"
    model_types = ("ijepa",)
    architectures = {"IJepa": "ijepa"}
    about = "ViT without a class token"
    first: tuple[str, ...] = ()


@register
class Dinov2(Patches):
    """ViT with a gain for each coordinate of an update; with registers; large ones with a gate."""

    name = "dinov2"
    model_types = ("dinov2", "dinov2_with_registers")
    architectures = {"Dinov2": "dinov2", "Dinov2WithRegisters": "dinov2_with_registers"}
    about = "ViT with gains of the updates (and registers)"
    tables: tuple[TensorNames, ...] = (DINO, replace(DINO, **PROJECTIONS))
    defaults: Mapping[str, Json] = {"layer_norm_eps": 1e-6, "hidden_act": "gelu", "qkv_bias": True, "mlp_ratio": 4}

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.width = int(self.d * config.number("mlp_ratio"))
        if config.flag("use_swiglu_ffn"):
            self.width = (int(self.width * 2 / 3) + 7) // 8 * 8
            self.activation = "silu"
            self.biases += "g"
            disk = {"gate_up": "mlp.weights_in", "down": "mlp.weights_out"}
            memory = {"gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj"}
            self.tables = (replace(DINO, **disk), replace(DINO, **PROJECTIONS, **memory))

    def grid(self) -> tuple[int, int, int, int]:
        usual = 14 if self.kind == "dinov2" else 16
        (height, width), (p, q) = self.size("image_size", 224), self.size("patch_size", usual)
        return height // p, width // q, p, q

    def registers(self) -> Array | None:
        if self.kind == "dinov2":
            return None
        count = self.config.integer("num_register_tokens", default=4)
        return self.weights.read("embeddings.register_tokens", (1, count, self.d))[0]


BIASES = {ON_DISK: "attention.attention.relative_position_bias", IN_MEMORY: "relative_position_bias"}


@register
class Beit(Patches):
    """Learned biases of places in the grid instead of absolute positions, gains of the updates, no bias of the keys."""

    name = "beit"
    model_types = ("beit",)
    architectures = {"Beit": "beit"}
    about = "ViT with learned biases of relative places in the scores and gains of the updates"
    defaults: Mapping[str, Json] = {
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "layer_scale_init_value": 0.1,
        "use_mean_pooling": True,
    }

    def settings(self, config: Config) -> None:
        self.biases = "qvoud"
        self.has_positions = config.flag("use_absolute_position_embeddings")
        self.shared, self.own = (config.flag(f"use_{each}relative_position_bias") for each in ("shared_", ""))
        if self.shared and self.own:
            raise ModelError(f"{config.where}: shared and own relative biases together are not supported")
        gains = config.number("layer_scale_init_value") > 0
        norm = "" if config.flag("use_mean_pooling") else "layernorm"
        parts = {"attention_gain": "lambda_1", "feed_forward_gain": "lambda_2"} if gains else {}
        self.tables = tuple(replace(names, final_norm=norm, **parts) for names in (ON_DISK, IN_MEMORY))

    def terms(self, index: int) -> GridBias | None:
        if not (self.own or self.shared):
            return None
        rows, columns, _, _ = self.grid()
        w, base = self.weights, self.names.layer.format(index)
        table = "relative_position_bias_table"
        own = [f"{base}{name}.{table}" for name in BIASES.values()]
        shared = [f"{name}.{table}" for name in ("encoder.relative_position_bias", "shared_position_bias")]
        count = (2 * rows - 1) * (2 * columns - 1) + 3
        return GridBias(w.read(w.first(own if self.own else shared), (count, self.n_heads)), rows, columns)


TOWER = TensorNames(
    layer="encoder.layers.{}.",
    o="self_attn.out_proj",
    attention_norm="layer_norm1",
    feed_forward_norm="layer_norm2",
    gate="",
    up="mlp.fc1",
    down="mlp.fc2",
    final_norm="final_layer_norm",
    token="embeddings.token_embedding",
    position="embeddings.position_embedding",
)


@register
class Clip(Patches):
    """The towers of CLIP and SigLIP: text (CLIP's is causal) or vision; of a model with both, ``MODEL#vision`` names one."""

    name = "clip"
    parts = ("text", "vision")
    model_types = (
        "clip",
        "clip_text_model",
        "clip_vision_model",
        "siglip",
        "siglip_text_model",
        "siglip_vision_model",
    )
    architectures = {"CLIP": "clip", "CLIPText": "clip_text_model", "CLIPVision": "clip_vision_model"}
    architectures |= {"Siglip": "siglip", "SiglipText": "siglip_text_model", "SiglipVision": "siglip_vision_model"}
    about = (
        "CLIP and SigLIP towers, text or vision: pre-LayerNorm, absolute positions, full attention (CLIP text: causal)"
    )
    tables: tuple[TensorNames, ...] = (TOWER,)
    defaults: Mapping[str, Json] = {}

    def __init__(self, config: Config, weights: WeightReader) -> None:
        kind = config.text("model_type")
        self.tower = next((part for part in self.parts if f"_{part}_" in kind), "") or part_of(config, self.parts)
        inner = config.section(f"{self.tower}_config", f"{self.tower}_config_dict")
        own = dict(config.values if inner is None else inner.values)
        siglip = kind.startswith("siglip")
        usual = {
            "hidden_act": "gelu_pytorch_tanh" if siglip else "quick_gelu",
            "layer_norm_eps": 1e-6 if siglip else 1e-5,
        }
        sizes = {"hidden_size": 512 if not siglip and self.tower == "text" else 768, "num_hidden_layers": 12}
        sizes |= {"num_attention_heads": sizes["hidden_size"] // 64, "intermediate_size": 4 * sizes["hidden_size"]}
        sizes |= {"vocab_size": 32000 if siglip else 49408, "max_position_embeddings": 64 if siglip else 77}
        self.siglip = siglip
        super().__init__(Config({**usual, **sizes, **own, "model_type": kind}, config.where), weights)

    def settings(self, config: Config) -> None:
        self.biases = ALL
        self.takes_pixels = self.tower == "vision"
        self.mask_kind = "causal" if self.tower == "text" and not self.siglip else "full"
        if self.tower == "vision":
            self.tables = (replace(TOWER, final_norm="post_layernorm" if self.siglip else ""),)

    def found(self, weights: WeightReader) -> tuple[TensorNames, WeightReader]:
        names, prefix = self.tables[0], f"{self.tower}_model."
        anchor = names.anchor()
        named = any(name.endswith(prefix + anchor) for name in weights.store.infos)
        reader = weights.under(prefix + anchor) if named else weights.under(anchor)
        return names, WeightReader(weights.store, reader.prefix + prefix) if named else reader

    def embedding(self) -> Embedding:
        if self.tower == "text":
            return Tabled.embedding(self)
        w, d = self.weights, self.d
        (height, width), (p, q) = self.size("image_size", 224), self.size("patch_size", 16 if self.siglip else 32)
        count = (height // p) * (width // q) + (0 if self.siglip else 1)
        channels = self.config.integer("num_channels", default=3)
        return PatchEmbedding(
            kernel=w.read("embeddings.patch_embedding.weight", (d, channels, p, q)),
            class_token=None if self.siglip else w.read("embeddings.class_embedding", (d,)),
            position=w.read("embeddings.position_embedding.weight", (count, d)),
            bias=w.read("embeddings.patch_embedding.bias", (d,)) if self.siglip else None,
            norm=None if self.siglip else self.norm("pre_layrnorm"),
        )
