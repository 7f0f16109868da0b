"""Decoders with LayerNorm: GPT-NeoX (Pythia), Falcon, BLOOM, OPT, Phi, StableLM, Cohere and others, one table each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from eigentoken.files.documents import Json
from eigentoken.models.convention.configuration import Config
from eigentoken.models.convention.embedding import TokenEmbedding
from eigentoken.models.convention.normalization import Normalization
from eigentoken.models.convention.rotary import Rotary
from eigentoken.models.convention.rules import Rules
from eigentoken.models.convention.score_terms import Alibi, alibi_slopes
from eigentoken.models.families.family import register
from eigentoken.models.families.tabled import ALL, Tabled, TensorNames

PLAIN = TensorNames(gate="")
FALCON = TensorNames(
    layer="h.{}.",
    fused="self_attention.query_key_value",
    o="self_attention.dense",
    gate="",
    up="mlp.dense_h_to_4h",
    down="mlp.dense_4h_to_h",
    final_norm="ln_f",
    token="word_embeddings",
)
OPT = TensorNames(
    layer="decoder.layers.{}.",
    o="self_attn.out_proj",
    attention_norm="self_attn_layer_norm",
    feed_forward_norm="final_layer_norm",
    gate="",
    up="fc1",
    down="fc2",
    final_norm="decoder.final_layer_norm",
    token="decoder.embed_tokens",
    position="decoder.embed_positions",
)


@register
class GptNeoX(Tabled):
    """Fused for each head; a quarter of each head turned; attention and feed-forward see the same state unless told."""

    name = "gpt_neox"
    model_types = ("gpt_neox",)
    architectures = {"GPTNeoX": "gpt_neox"}
    about = "GPT-NeoX, Pythia: pre-LayerNorm, parallel feed-forward, partial rotary positions, causal"
    turned = "half"
    share = 0.25
    cut = "heads"
    tables: tuple[TensorNames, ...] = (
        replace(
            PLAIN,
            fused="attention.query_key_value",
            o="attention.dense",
            up="mlp.dense_h_to_4h",
            down="mlp.dense_4h_to_h",
            final_norm="final_layer_norm",
            token="embed_in",
        ),
    )
    defaults: Mapping[str, Json] = {"hidden_act": "gelu", "use_parallel_residual": True, "attention_bias": True}

    def settings(self, config: Config) -> None:
        old = {"partial_rotary_factor": "rotary_pct", "rope_theta": "rotary_emb_base"}
        config.values |= {new: config.values[name] for new, name in old.items() if config.raw(name) is not None}
        self.parallel = config.flag("use_parallel_residual")
        self.biases = ALL if config.flag("attention_bias") else "ud"


@register
class Falcon(Tabled):
    """One key-value head or groups of them; parallel feed-forward; rotary positions or ALiBi."""

    name = "falcon"
    model_types = ("falcon",)
    architectures = {"Falcon": "falcon"}
    about = "pre-LayerNorm, parallel feed-forward, one or few key-value heads, rotary positions or ALiBi, causal"
    turned = "half"
    cut = "groups"
    defaults: Mapping[str, Json] = {"activation": "gelu", "multi_query": True, "parallel_attn": True}

    def settings(self, config: Config) -> None:
        grouped, parallel = config.flag("new_decoder_architecture"), config.flag("parallel_attn")
        self.parallel = parallel or grouped
        if not grouped:
            self.n_kv_heads = 1 if config.flag("multi_query") else self.n_heads
        self.biases = ALL if config.flag("bias") else ""
        two = config.integer("num_ln_in_parallel_attn", default=2 if grouped else 1)
        norms = ("ln_attn", "ln_mlp") if grouped and parallel and two == 2 else ("input_layernorm", "input_layernorm")
        if not parallel:
            norms = ("input_layernorm", "post_attention_layernorm")
        self.tables = (replace(FALCON, attention_norm=norms[0], feed_forward_norm=norms[1]),)
        config.refuse("apply_residual_connection_post_layernorm", (False,), "the residual would be the normed state")

    def rotary_at(self, index: int) -> Rotary | None:
        return None if self.config.flag("alibi") else super().rotary_at(index)

    def terms(self, index: int) -> Alibi | None:
        """Slopes rounded to bfloat16 and divided by sqrt(d_head), as the reference computes them."""
        if not self.config.flag("alibi"):
            return None
        rounded = (round_bfloat16(slope) for slope in alibi_slopes(self.n_heads))
        return Alibi(tuple(slope / super(Falcon, self).scale(index) for slope in rounded))


def round_bfloat16(value: float) -> float:
    """To the nearest number of 8 significant bits.

    >>> round_bfloat16(0.2973017787506803)
    0.296875
    """
    fraction, exponent = np.frexp(value)
    return float(np.ldexp(np.round(fraction * 256), exponent - 8))


@register
class Bloom(Tabled):
    """ALiBi; the embedding is normed; fused for each head."""

    name = "bloom"
    model_types = ("bloom",)
    architectures = {"Bloom": "bloom"}
    about = "pre-LayerNorm, ALiBi, causal"
    biases = ALL
    cut = "heads"
    tables: tuple[TensorNames, ...] = (replace(FALCON, embedding_norm="word_embeddings_layernorm"),)
    defaults: Mapping[str, Json] = {"n_layer": 2}

    def settings(self, config: Config) -> None:
        self.activation = "gelu_new"
        config.refuse("apply_residual_connection_post_layernorm", (False,), "the residual would be the normed state")

    def terms(self, index: int) -> Alibi:
        return Alibi(alibi_slopes(self.n_heads))


@register
class Mpt(Tabled):
    """ALiBi; LayerNorm without biases; fused [Q; K; V]."""

    name = "mpt"
    model_types = ("mpt",)
    architectures = {"Mpt": "mpt", "MPT": "mpt"}
    about = "pre-LayerNorm without biases, ALiBi, causal"
    norm_bias = False
    tables: tuple[TensorNames, ...] = (
        TensorNames(
            layer="blocks.{}.",
            fused="attn.Wqkv",
            o="attn.out_proj",
            attention_norm="norm_1",
            feed_forward_norm="norm_2",
            gate="",
            up="ffn.up_proj",
            down="ffn.down_proj",
            final_norm="norm_f",
            token="wte",
        ),
    )

    def settings(self, config: Config) -> None:
        attention = config.section("attn_config") or Config({}, config.where)
        self.clip = attention.number("clip_qkv") if attention.raw("clip_qkv") else None
        self.slopes = attention.number("alibi_bias_max", default=8.0)
        self.divided = attention.raw("softmax_scale")
        self.width = 4 * self.d
        attention.refuse("alibi", (True,), "learned positions of MPT are not read")
        attention.refuse("qk_ln", (False,), "norms of queries and keys of MPT are not read")
        attention.refuse("prefix_lm", (False,), "the mask would depend on the use of the model")

    def scale(self, index: int) -> float:
        return super().scale(index) if self.divided is None else 1.0 / float(self.divided)

    def terms(self, index: int) -> Alibi:
        return Alibi(alibi_slopes(self.n_heads, self.slopes))


@register
class Opt(Tabled):
    """Positions from row 2; the 350M model norms after the sublayers and projects its embedding."""

    name = "opt"
    model_types = ("opt",)
    architectures = {"OPT": "opt"}
    about = "pre-LayerNorm (350M: post), absolute positions, causal"
    first_position = 2
    has_positions = True
    tables: tuple[TensorNames, ...] = (OPT,)
    defaults: Mapping[str, Json] = {"activation_function": "relu", "do_layer_norm_before": True, "enable_bias": True}

    def settings(self, config: Config) -> None:
        self.pre = config.flag("do_layer_norm_before")
        self.biases = ALL if config.flag("enable_bias") else ""
        config.refuse("layer_norm_elementwise_affine", (True,), "norms without weights of OPT are not read")
        if not self.pre or config.flag("_remove_final_layer_norm"):
            self.tables = (replace(OPT, final_norm=""),)

    def embedding(self) -> TokenEmbedding:
        width = self.config.integer("word_embed_proj_dim", default=self.d)
        if width == self.d:
            found = super().embedding()
            assert isinstance(found, TokenEmbedding)
            return found
        w, rows = self.weights, self.config.integer("max_position_embeddings") + 2
        return TokenEmbedding(
            token=w.read("decoder.embed_tokens.weight", (self.config.integer("vocab_size"), width)),
            position=w.read("decoder.embed_positions.weight", (rows, self.d)),
            projection=w.read("decoder.project_in.weight", (self.d, width)),
            position_offset=2,
            project_first=True,
        )


@register
class BioGpt(Tabled):
    """BART's decoder alone, norms before the sublayers."""

    name = "biogpt"
    model_types = ("biogpt",)
    architectures = {"BioGpt": "biogpt"}
    about = "pre-LayerNorm, absolute positions, causal"
    biases = ALL
    first_position = 2
    has_positions = True
    tables: tuple[TensorNames, ...] = (
        replace(OPT, layer="layers.{}.", final_norm="layer_norm", token="embed_tokens", position="embed_positions"),
    )
    defaults: Mapping[str, Json] = {"scale_embedding": True, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}

    def settings(self, config: Config) -> None:
        self.multiplier = self.d**0.5 if config.flag("scale_embedding") else 1.0
        self.eps = 1e-5  # the class builds its norms with torch's default, whatever the configuration says


@register
class Phi(Tabled):
    """One norm for both sublayers, which see the same state; half of each head turned."""

    name = "phi"
    model_types = ("phi",)
    architectures = {"Phi": "phi"}
    about = "Phi-1, Phi-2: pre-LayerNorm, parallel feed-forward, partial rotary positions, causal"
    turned = "half"
    share = 0.5
    parallel = True
    biases = ALL
    defaults: Mapping[str, Json] = {"hidden_act": "gelu_new"}
    names_of = replace(
        PLAIN,
        o="self_attn.dense",
        feed_forward_norm="input_layernorm",
        up="mlp.fc1",
        down="mlp.fc2",
        final_norm="final_layernorm",
    )

    def settings(self, config: Config) -> None:
        norms = {"query_norm": "self_attn.q_layernorm", "key_norm": "self_attn.k_layernorm"}
        own = replace(self.names_of, **(norms if config.flag("qk_layernorm") else {}))
        self.tables = (own, replace(own, fused="self_attn.qkv_proj"))  # fused in old GGUF files


@register
class StableLm(Tabled):
    """LayerNorm, a quarter of each head turned; StableLM 2 norms queries and keys, each head with gains of its own."""

    name = "stablelm"
    model_types = ("stablelm",)
    architectures = {"StableLm": "stablelm"}
    about = "pre-LayerNorm, partial rotary positions, gate, causal; StableLM 2: norms of queries and keys"
    turned = "half"
    share = 0.25
    defaults: Mapping[str, Json] = {"hidden_act": "silu", "num_key_value_heads": 32}

    def settings(self, config: Config) -> None:
        self.biases = "qkv" if config.flag("use_qkv_bias") else ""
        self.parallel = config.flag("use_parallel_residual")
        if self.parallel:
            self.tables = (replace(TensorNames(), feed_forward_norm="input_layernorm"),)

    def rules(self, index: int) -> Rules:
        if not self.config.flag("qk_layernorm"):
            return Rules()
        query, key = (head_norms(self, index, part, count) for part, count in self.counted())
        return Rules(query, key)

    def counted(self) -> list[tuple[str, int]]:
        return [("self_attn.q_layernorm.norms", self.n_heads), ("self_attn.k_layernorm.norms", self.n_kv_heads)]


def head_norms(family: Tabled, index: int, part: str, count: int) -> Normalization:
    """Norms of queries or keys with gains for each head, (H, d_h), repeated for grouped heads."""
    base = f"{family.names.layer.format(index)}{part}"
    gains = [family.weights.read(f"{base}.{head}.weight", (family.d_head,)) for head in range(count)]
    return Normalization("layernorm", family.eps, np.repeat(np.stack(gains), family.n_heads // count, axis=0))


@register
class Cohere(Tabled):
    """LayerNorm without bias, one for both sublayers, which see the same state; neighbouring pairs turned."""

    name = "cohere"
    model_types = ("cohere", "cohere2")
    architectures = {"Cohere": "cohere", "Cohere2": "cohere2"}
    about = "Command R: pre-LayerNorm without bias, parallel gated feed-forward, interleaved rotary positions, causal"
    turned = "interleaved"
    norm_bias = False
    parallel = True
    tables: tuple[TensorNames, ...] = (replace(TensorNames(), feed_forward_norm="input_layernorm"),)
    defaults: Mapping[str, Json] = {"hidden_act": "silu"}

    def settings(self, config: Config) -> None:
        self.biases = "qkvo" if config.flag("attention_bias") else ""
        if self.kind == "cohere2":
            self.period = config.integer("sliding_window_pattern", default=4)
            config.values = {"sliding_window": 4096, "rope_theta": 10000.0} | config.values
            self.d_head = config.integer("head_dim", default=self.d // self.n_heads)
        else:
            config.values = {"rope_theta": 500000.0} | config.values

    def rotary_at(self, index: int) -> Rotary | None:
        """Layers of cohere2 without a window have no positions."""
        bare = self.kind == "cohere2" and self.layer_kind(index) != "sliding_attention"
        return None if bare else super().rotary_at(index)

    def rules(self, index: int) -> Rules:
        if not self.config.flag("use_qk_norm"):
            return Rules()
        found = []
        for part, heads in (("q_norm", self.n_heads), ("k_norm", self.n_kv_heads)):
            name = f"{self.names.layer.format(index)}self_attn.{part}.weight"
            gains = self.weights.read(name, (heads, self.d_head))
            found.append(Normalization("layernorm", self.eps, np.repeat(gains, self.n_heads // heads, axis=0)))
        return Rules(found[0], found[1])


@register
class Starcoder2(Tabled):
    """LayerNorm, biases by a flag, window in every layer."""

    name = "starcoder2"
    model_types = ("starcoder2",)
    architectures = {"Starcoder2": "starcoder2"}
    about = "pre-LayerNorm, rotary positions, grouped queries, causal (sliding window)"
    turned = "half"
    period = -1
    tables: tuple[TensorNames, ...] = (replace(PLAIN, up="mlp.c_fc", down="mlp.c_proj"),)
    defaults: Mapping[str, Json] = {"hidden_act": "gelu_pytorch_tanh", "num_key_value_heads": 2, "use_bias": True}

    def settings(self, config: Config) -> None:
        self.biases = ALL if config.flag("use_bias") else ""


@register
class Nemotron(Tabled):
    """LayerNorm with gains 1 + w, relu^2 without a gate, half of each head turned."""

    name = "nemotron"
    model_types = ("nemotron",)
    architectures = {"Nemotron": "nemotron"}
    about = "pre-LayerNorm with gains 1 + w, partial rotary positions, relu^2, causal"
    turned = "half"
    share = 0.5
    one_plus = True
    tables: tuple[TensorNames, ...] = (PLAIN,)
    defaults: Mapping[str, Json] = {"hidden_act": "relu2"}

    def settings(self, config: Config) -> None:
        self.biases = ("qkvo" if config.flag("attention_bias") else "") + ("ud" if config.flag("mlp_bias") else "")
