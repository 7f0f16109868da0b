"""Encoder-decoders, one stack at a time: T5, BART, mBART, Marian, Whisper.

``MODEL`` is the encoder, ``MODEL#decoder`` the decoder read by its self-attention, as a causal model that is given no encoder:
its cross-attention is left out, and the report says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import Embedding, TokenEmbedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.score_terms import OffsetBias
from eigentoken.models.families.family import part_of, register
from eigentoken.models.families.tabled import ALL, Tabled, TensorNames

BART = TensorNames(
    layer="{part}.layers.{{}}.",
    o="self_attn.out_proj",
    attention_norm="self_attn_layer_norm",
    feed_forward_norm="final_layer_norm",
    gate="",
    up="fc1",
    down="fc2",
    final_norm="{part}.layer_norm",
    position="{part}.embed_positions",
    embedding_norm="{part}.layernorm_embedding",
)


class TwoStacks(Tabled):
    """The encoder (full attention) or the decoder (causal)."""

    parts = ("encoder", "decoder")
    biases = ALL

    def settings(self, config: Config) -> None:
        self.part = part_of(config, self.parts)
        self.mask_kind = "full" if self.part == "encoder" else "causal"

    def filled(self, names: TensorNames) -> TensorNames:
        """The table with the name of the stack in it."""
        fields = ("layer", "final_norm", "position", "embedding_norm")
        return replace(names, **{name: getattr(names, name).format(part=self.part) for name in fields})

    def token_table(self, width: int) -> Any:
        """The embedding that both stacks share, or the stack's own."""
        w, rows = self.weights, self.config.integer("vocab_size")
        name = w.first([f"{self.part}.embed_tokens.weight", "shared.weight"])
        return w.read(name, (rows, width))


@register
class Bart(TwoStacks):
    """Post-LayerNorm; positions from row 2; mBART norms before the sublayers and after the last layer."""

    name = "bart"
    model_types = ("bart", "mbart", "marian", "whisper")
    architectures = {"Bart": "bart", "MBart": "mbart", "Marian": "marian", "Whisper": "whisper"}
    about = (
        "BART, mBART, Marian, Whisper, encoder or decoder: LayerNorm after (mBART, Whisper: before), absolute positions"
    )
    has_positions = True
    defaults: Mapping[str, Json] = {"activation_function": "gelu"}

    def __init__(self, config: Config, weights: Any) -> None:
        part = part_of(config, self.parts)
        sizes = {
            "num_hidden_layers": "layers",
            "num_attention_heads": "attention_heads",
            "intermediate_size": "ffn_dim",
        }
        own = {new: config.values[key] for new, old in sizes.items() if (key := f"{part}_{old}") in config.values}
        super().__init__(
            Config({**config.values, **own, "num_key_value_heads": None, "head_dim": None}, config.where), weights
        )

    def settings(self, config: Config) -> None:
        super().settings(config)
        self.pre = self.kind in ("mbart", "whisper")
        self.first_position = 2 if self.kind in ("bart", "mbart") else 0
        scaled = config.flag("scale_embedding") and self.kind != "whisper"  # whose reference does not use the entry
        self.multiplier = self.d**0.5 if scaled else 1.0
        self.biases = ALL.replace("k", "") if self.kind == "whisper" else ALL
        self.eps = 1e-5  # torch's default: the configuration has none
        bare = {"embedding_norm": ""} if self.kind in ("marian", "whisper") else {}
        last = {} if self.pre else {"final_norm": ""}
        self.tables = (self.filled(replace(BART, **bare, **last)),)
        self.has_embedding = not (self.kind == "whisper" and self.part == "encoder")

    def embedding(self) -> Embedding:
        if not self.has_embedding:
            raise ModelError(
                "Whisper's encoder reads sound through convolutions, which are not read here: pass hidden states (..., n, d)"
            )
        w, name = self.weights, f"{self.names.position}.weight"
        return TokenEmbedding(
            token=self.token_table(self.d),
            position=w.read(name, (w.shape(name)[0], self.d)),
            norm=self.norm(self.names.embedding_norm) if self.names.embedding_norm else None,
            position_offset=self.first_position,
            multiplier=self.multiplier,
        )


@register
class T5(TwoStacks):
    """Pre-RMSNorm, scores that are not divided, biases of offsets from the first layer in all layers."""

    name = "t5"
    model_types = ("t5", "mt5", "umt5")
    architectures = {"T5": "t5", "MT5": "mt5", "UMT5": "umt5"}
    about = "T5, encoder or decoder: pre-RMSNorm, biases of offsets in the scores, scores not divided"
    rms = True
    biases = ""
    defaults: Mapping[str, Json] = {
        "d_kv": 64,
        "layer_norm_epsilon": 1e-6,
        "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128,
    }

    def __init__(self, config: Config, weights: Any) -> None:
        decoder = part_of(config, self.parts) == "decoder" and config.raw("num_decoder_layers") is not None
        layers = config.raw("num_decoder_layers") if decoder else config.raw("num_layers")
        heads = {"head_dim": config.raw("d_kv") or 64, "num_hidden_layers": layers}
        super().__init__(Config({**config.values, **heads}, config.where), weights)

    def settings(self, config: Config) -> None:
        super().settings(config)
        usual = "relu" if self.kind == "t5" else "gated-gelu"
        shape = config.text("feed_forward_proj", default=usual)
        gated, _, act = shape.rpartition("-")
        if gated not in ("", "gated"):
            raise ModelError(f"{config.where}: feed_forward_proj={shape[:40]!r} is not supported")
        self.activation = config.text("dense_act_fn", default="gelu_new" if gated and act == "gelu" else act)
        if config.flag("is_gated_act", default=bool(gated)) != bool(gated):
            raise ModelError(f"{config.where}: is_gated_act contradicts feed_forward_proj={shape[:40]!r}")
        second = "1" if self.part == "encoder" else "2"
        inner = {"gate": "wi_0", "up": "wi_1"} if gated else {"gate": "", "up": "wi"}
        base = f"layer.{second}.DenseReluDense."
        self.tables = (
            TensorNames(
                layer=f"{self.part}.block.{{}}.",
                **{part: f"layer.0.SelfAttention.{part}" for part in "qkvo"},
                attention_norm="layer.0.layer_norm",
                feed_forward_norm=f"layer.{second}.layer_norm",
                **{part: f"{base}{name}" if name else "" for part, name in inner.items()},
                down=f"{base}wo",
                final_norm=f"{self.part}.final_layer_norm",
            ),
        )

    def scale(self, index: int) -> float:
        return 1.0

    def terms(self, index: int) -> OffsetBias:
        own = index if self.kind == "umt5" else 0
        name = f"{self.names.layer.format(own)}layer.0.SelfAttention.relative_attention_bias.weight"
        buckets = self.config.integer("relative_attention_num_buckets")
        farthest = self.config.integer("relative_attention_max_distance")
        return OffsetBias(self.weights.read(name, (buckets, self.n_heads)), self.part == "encoder", farthest)

    def embedding(self) -> Embedding:
        return TokenEmbedding(token=self.token_table(self.d))
