"""Text encoders beside BERT: DistilBERT, ELECTRA, RoBERTa of fairseq, MPNet, DeBERTa, ModernBERT, Nomic BERT, ESM."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.errors import ModelError
from eigentoken.models.convention.head_and_layer import Mask
from eigentoken.models.convention.normalization import Normalization, no_norm
from eigentoken.models.convention.rotary import Array, Rotary
from eigentoken.models.convention.score_terms import Disentangled, OffsetBias
from eigentoken.models.convention.tensors import WeightReader
from eigentoken.models.families.family import register
from eigentoken.models.families.rotary_rules import refuse_one_for_all, rotary_of
from eigentoken.models.families.tabled import ALL, MaskKind, Tabled, TensorNames
from eigentoken.transformer_layer import linear

BERT = TensorNames(
    layer="encoder.layer.{}.",
    q="attention.self.query",
    k="attention.self.key",
    v="attention.self.value",
    o="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    feed_forward_norm="output.LayerNorm",
    gate="",
    up="intermediate.dense",
    down="output.dense",
    final_norm="",
    token="embeddings.word_embeddings",
    position="embeddings.position_embeddings",
    segment="embeddings.token_type_embeddings",
    embedding_norm="embeddings.LayerNorm",
)


class Encoder(Tabled):
    """Post-LayerNorm, biases everywhere, absolute positions, full attention."""

    pre = False
    mask_kind: MaskKind = "full"
    biases = ALL
    has_positions = True
    tables: tuple[TensorNames, ...] = (BERT,)
    defaults: Mapping[str, Json] = {"layer_norm_eps": 1e-12, "hidden_act": "gelu"}


@register
class DistilBert(Encoder):
    """BERT's layers under names of their own, without segments."""

    name = "distilbert"
    model_types = ("distilbert",)
    architectures = {"DistilBert": "distilbert"}
    signature = {"transformer.layer.0.attention.q_lin.weight": ("", "distilbert.")}
    about = "post-LayerNorm, absolute positions, full attention"
    tables: tuple[TensorNames, ...] = (
        replace(
            BERT,
            layer="transformer.layer.{}.",
            q="attention.q_lin",
            k="attention.k_lin",
            v="attention.v_lin",
            o="attention.out_lin",
            attention_norm="sa_layer_norm",
            feed_forward_norm="output_layer_norm",
            up="ffn.lin1",
            down="ffn.lin2",
            segment="",
        ),
    )
    defaults: Mapping[str, Json] = {"layer_norm_eps": 1e-12, "activation": "gelu"}


@register
class Electra(Encoder):
    """BERT's layers; the embedding may be narrower than the layers."""

    name = "electra"
    model_types = ("electra",)
    architectures = {"Electra": "electra"}
    about = "post-LayerNorm, absolute positions, full attention, projected embedding"
    defaults: Mapping[str, Json] = {
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "embedding_size": 128,
        "num_attention_heads": 4,
    }

    def settings(self, config: Config) -> None:
        self.mask_kind = "causal" if config.flag("is_decoder") else "full"
        config.refuse("add_cross_attention", (False,), "cross-attention is not one sequence's dynamics")

    def embedding(self) -> TokenEmbedding:
        w, e = self.weights, self.config.integer("embedding_size")
        sizes = {
            "word": self.config.integer("vocab_size"),
            "position": self.config.integer("max_position_embeddings"),
            "token_type": self.config.integer("type_vocab_size", default=2),
        }
        token, position, segment = (w.read(f"embeddings.{k}_embeddings.weight", (n, e)) for k, n in sizes.items())
        projected = e != self.d
        return TokenEmbedding(
            token=token,
            position=position,
            segment=segment,
            norm=w.norm("embeddings.LayerNorm", e, eps=self.eps),
            projection=w.read("embeddings_project.weight", (self.d, e)) if projected else None,
            projection_bias=w.read("embeddings_project.bias", (self.d,)) if projected else None,
        )


@register
class FairseqRoberta(Encoder):
    """RoBERTa as fairseq stores it (a training checkpoint): BERT's layers without segments, positions from row 2."""

    name = "fairseq-roberta"
    model_types = ("fairseq-roberta",)
    about = "RoBERTa in a training checkpoint of fairseq: post-LayerNorm, absolute positions, full attention"
    first_position = 2
    tables: tuple[TensorNames, ...] = (
        TensorNames(
            layer="sentence_encoder.layers.{}.",
            o="self_attn.out_proj",
            attention_norm="self_attn_layer_norm",
            feed_forward_norm="final_layer_norm",
            gate="",
            up="fc1",
            down="fc2",
            final_norm="",
            token="sentence_encoder.embed_tokens",
            position="sentence_encoder.embed_positions",
            embedding_norm="sentence_encoder.emb_layer_norm",
        ),
    )
    defaults: Mapping[str, Json] = {"layer_norm_eps": 1e-5, "hidden_act": "gelu"}

    def found(self, weights: WeightReader) -> tuple[TensorNames, WeightReader]:
        """Later versions of fairseq call the norm of the embedding another name."""
        names, reader = super().found(weights)
        later = replace(names, embedding_norm="sentence_encoder.layernorm_embedding")
        return (later if reader.has(f"{later.embedding_norm}.weight") else names), reader


@register
class MpNet(Encoder):
    """BERT's layers with T5's biases of offsets, the same in all layers; positions from ``pad_token_id + 1``."""

    name = "mpnet"
    model_types = ("mpnet",)
    architectures = {"MPNet": "mpnet"}
    about = "post-LayerNorm, absolute positions and biases of offsets, full attention"
    tables: tuple[TensorNames, ...] = (
        replace(
            BERT,
            q="attention.attn.q",
            k="attention.attn.k",
            v="attention.attn.v",
            o="attention.attn.o",
            attention_norm="attention.LayerNorm",
            segment="",
        ),
    )
    defaults: Mapping[str, Json] = {"layer_norm_eps": 1e-12, "hidden_act": "gelu", "relative_attention_num_buckets": 32}

    def settings(self, config: Config) -> None:
        self.first_position = 2  # the reference's class fixes its padding index at 1, whatever the configuration says
        config.refuse("relative_attention_num_buckets", (32,), "the reference computes 32 buckets whatever is said")

    def terms(self, index: int) -> OffsetBias:
        table = self.weights.read("encoder.relative_attention_bias.weight", (32, self.n_heads))
        return OffsetBias(table, both_ways=True, farthest=128)


@register
class DebertaV2(Encoder):
    """Scores have terms of content and relative position, from the layer's own query and key maps or maps of their own."""

    name = "deberta-v2"
    model_types = ("deberta-v2",)
    architectures = {"DebertaV2": "deberta-v2"}
    about = "DeBERTa v2, v3: post-LayerNorm, terms of content and relative position in the scores, full attention"
    tables: tuple[TensorNames, ...] = (
        replace(BERT, q="attention.self.query_proj", k="attention.self.key_proj", v="attention.self.value_proj"),
    )
    defaults: Mapping[str, Json] = {
        "layer_norm_eps": 1e-7,
        "hidden_act": "gelu",
        "position_biased_input": True,
        "type_vocab_size": 0,
    }

    def settings(self, config: Config) -> None:
        kinds: Any = config.raw("pos_att_type") or []
        kinds = kinds.split("|") if isinstance(kinds, str) else kinds
        told = {str(each).strip() for each in kinds}
        if unknown := told - {"c2p", "p2c"}:
            raise ModelError(f"{config.where}: pos_att_type {sorted(unknown)} is not supported: expected c2p and p2c")
        self.uses = told if config.flag("relative_attention") else set()
        self.divided = 1 + len(told)
        self.has_positions = config.flag("position_biased_input")
        config.refuse("conv_kernel_size", (0,), "the first layer would have a convolution")
        config.refuse("talking_head", (False,), "heads would mix their scores")
        size = config.integer("embedding_size", default=self.d)
        if size != self.d:
            raise ModelError(f"{config.where}: embedding_size={size} beside hidden_size={self.d} is not supported")
        self.tables = (
            replace(
                type(self).tables[0],
                position=BERT.position if self.has_positions else "",
                segment=BERT.segment if config.raw("type_vocab_size") else "",
            ),
        )

    def scale(self, index: int) -> float:
        return math.sqrt(self.d_head * self.divided)

    def span(self) -> tuple[int, int, int]:
        """Half the number of relative positions, the number of buckets (0: none), and the farthest offset."""
        given = self.config.raw("max_relative_positions")
        rows = self.config.integer("max_position_embeddings")
        farthest = given if isinstance(given, int) and given > 0 else rows
        said = self.config.raw("position_buckets")
        buckets = said if isinstance(said, int) and said > 0 else 0
        if buckets and farthest - 1 <= buckets // 2:
            raise ModelError(
                f"{self.config.where}: position_buckets={buckets} needs max_relative_positions of at least {buckets // 2 + 2}, "
                f"got {farthest}"
            )
        return buckets or farthest, buckets, farthest

    def relative(self, span: int) -> Array:
        """The embedding of relative positions (2 span, d), normed where the model does that."""
        w = self.weights
        table = w.read("encoder.rel_embeddings.weight", (2 * span, self.d))
        if "layer_norm" in str(self.config.raw("norm_rel_ebd") or "").lower():
            return w.norm("encoder.LayerNorm", self.d, eps=self.eps).apply(table)
        return table

    def maps(self, index: int) -> dict[str, tuple[Array, Array | None]]:
        """What turns a relative position into a key (c2p) and into a query (p2c)."""
        if self.config.flag("share_att_key"):
            return {"c2p": self.matrix(index, "k"), "p2c": self.matrix(index, "q")}
        base, d = f"{self.names.layer.format(index)}attention.self.", self.d
        names = {"c2p": "pos_key_proj", "p2c": "pos_query_proj"}
        return {
            kind: (self.weights.read(f"{base}{name}.weight", (d, d)), self.weights.read(f"{base}{name}.bias", (d,)))
            for kind, name in names.items()
            if kind in self.uses
        }

    def terms(self, index: int) -> Disentangled | None:
        if not self.uses:
            return None
        span, buckets, farthest = self.span()
        table, maps = self.relative(span), self.maps(index)

        def rows(kind: str) -> Array | None:
            if kind not in self.uses:
                return None
            found = linear(table.astype(np.float32), *maps[kind])
            return np.asarray(found.reshape(-1, self.n_heads, self.d_head).swapaxes(0, 1))

        return Disentangled(rows("c2p"), rows("p2c"), self.scale(index), span, buckets, farthest)


@register
class Deberta(DebertaV2):
    """The first DeBERTa: one tensor for each head's query, key and value, biases of query and value alone, no buckets."""

    name = "deberta"
    model_types = ("deberta",)
    architectures = {"Deberta": "deberta"}
    about = "DeBERTa: post-LayerNorm, terms of content and relative position in the scores, full attention"
    biases = "oud"
    cut = "heads"
    tables: tuple[TensorNames, ...] = (replace(BERT, fused="attention.self.in_proj"),)

    def qkv(self, index: int) -> list[tuple[Array, Array | None]]:
        (query, _), (key, _), (value, _) = super().qkv(index)
        base = f"{self.names.layer.format(index)}attention.self."
        b_Q, b_V = (self.weights.read(f"{base}{part}_bias", (self.d,)) for part in "qv")
        return [(query, b_Q), (key, None), (value, b_V)]

    def span(self) -> tuple[int, int, int]:
        farthest = super().span()[2]
        return farthest, 0, farthest

    def maps(self, index: int) -> dict[str, tuple[Array, Array | None]]:
        base, d, w = f"{self.names.layer.format(index)}attention.self.", self.d, self.weights
        found: dict[str, tuple[Array, Array | None]] = {}
        if "c2p" in self.uses:
            found["c2p"] = w.read(f"{base}pos_proj.weight", (d, d)), None
        if "p2c" in self.uses:
            found["p2c"] = w.read(f"{base}pos_q_proj.weight", (d, d)), w.read(f"{base}pos_q_proj.bias", (d,))
        return found


@register
class ModernBert(Tabled):
    """Pre-LayerNorm (none before the first attention), windows to both sides in two of three layers, a fused gate."""

    name = "modernbert"
    model_types = ("modernbert",)
    architectures = {"ModernBert": "modernbert"}
    about = "pre-LayerNorm, rotary positions, full attention or windows to both sides, gate"
    mask_kind: MaskKind = "full"
    turned = "half"
    tables: tuple[TensorNames, ...] = (
        TensorNames(
            fused="attn.Wqkv",
            o="attn.Wo",
            attention_norm="attn_norm",
            feed_forward_norm="mlp_norm",
            gate_up="mlp.Wi",
            down="mlp.Wo",
            final_norm="final_norm",
            token="embeddings.tok_embeddings",
            embedding_norm="embeddings.norm",
        ),
    )
    defaults: Mapping[str, Json] = {"norm_eps": 1e-5, "hidden_activation": "gelu", "local_attention": 128}

    def settings(self, config: Config) -> None:
        refuse_one_for_all(config)
        config.values.pop("rope_theta", None)  # it has one for each kind of layer, under names of their own
        self.norm_bias = config.flag("norm_bias")
        self.biases = ("qo" if config.flag("attention_bias") else "") + ("ud" if config.flag("mlp_bias") else "")

    def layer_kind(self, index: int) -> str:
        if self.config.raw("layer_types") is not None:
            return super().layer_kind(index)
        every = self.config.integer("global_attn_every_n_layers", default=3)
        return "sliding_attention" if index % every else "full_attention"

    def mask(self, index: int) -> Mask:
        if self.layer_kind(index) == "full_attention":
            return Mask("full")
        return Mask("near", self.config.integer("local_attention") // 2)

    def rotary_at(self, index: int) -> Rotary:
        kind, config = self.layer_kind(index), self.config
        far = kind == "full_attention"
        key, usual = ("global_rope_theta", 160000.0) if far else ("local_rope_theta", 10000.0)
        return rotary_of(config, self.d_head, config.number(key, default=usual), kind=kind)

    def layer_norm(self, index: int, part: str) -> Normalization:
        first = part == "attention_norm" and index == 0
        return no_norm(self.d) if first else super().layer_norm(index, part)


NOMIC = TensorNames(
    layer="encoder.layers.{}.",
    fused="attn.Wqkv",
    o="attn.out_proj",
    attention_norm="norm1",
    feed_forward_norm="norm2",
    gate="mlp.fc12",
    up="mlp.fc11",
    down="mlp.fc2",
    final_norm="",
    token="embeddings.word_embeddings",
    segment="embeddings.token_type_embeddings",
    embedding_norm="emb_ln",
)


@register
class NomicBert(Tabled):
    """BERT with rotary positions and a gate; no biases but those of the norms."""

    name = "nomic_bert"
    model_types = ("nomic_bert",)
    architectures = {"NomicBert": "nomic_bert"}
    about = "post-LayerNorm, rotary positions, full attention, gate"
    pre = False
    mask_kind: MaskKind = "full"
    turned = "half"
    tables: tuple[TensorNames, ...] = (
        NOMIC,
        TensorNames(
            attention_norm="post_attention_layernorm",
            feed_forward_norm="post_mlp_layernorm",
            final_norm="",
            token=NOMIC.token,
            segment=NOMIC.segment,
            embedding_norm="embeddings.LayerNorm",
        ),
    )
    defaults: Mapping[str, Json] = {"layer_norm_eps": 1e-12, "hidden_act": "silu", "rope_theta": 1000.0, "head_dim": 64}


@register
class Esm(Encoder):
    """Pre-LayerNorm with BERT's names; rotary or absolute positions; embeddings scaled as if no token were masked."""

    name = "esm"
    model_types = ("esm",)
    architectures = {"Esm": "esm"}
    about = "ESM-1b, ESM-2 (proteins): pre-LayerNorm, rotary or absolute positions, full attention"
    pre = True
    tables: tuple[TensorNames, ...] = (
        replace(
            BERT,
            attention_norm="attention.LayerNorm",
            feed_forward_norm="LayerNorm",
            final_norm="encoder.emb_layer_norm_after",
            segment="",
            embedding_norm="",
        ),
    )

    def settings(self, config: Config) -> None:
        kind = config.text("position_embedding_type", default="absolute")
        config.refuse("position_embedding_type", ("absolute", "rotary"), "scores would have a relative position term")
        config.refuse("add_cross_attention", (False,), "cross-attention is not one sequence's dynamics")
        self.has_positions = kind == "absolute"
        self.first_position = config.integer("pad_token_id", default=1, minimum=0) + 1
        self.activation = "gelu"
        self.mask_kind = "causal" if config.flag("is_decoder") else "full"
        self.multiplier = 1.0 - 0.15 * 0.8 if config.flag("token_dropout") else 1.0
        self.tables = (
            replace(
                type(self).tables[0],
                position=BERT.position if self.has_positions else "",
                embedding_norm="embeddings.layer_norm" if config.raw("emb_layer_norm_before") else "",
            ),
        )

    def rotary_at(self, index: int) -> Rotary | None:
        return None if self.has_positions else rotary_of(self.config, self.d_head, 10000.0)
