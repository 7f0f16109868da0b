"""What checkpoints on the hub look like beside what transformers saves today: prefixes, buffers, old configurations."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from eigentoken.models import ModelError, load, run_tokens

from . import conftest as tiny
from .test_formats import llama_arrays, same, wide_llama, write_gguf


def variant(
    folder: Path,
    target: Path,
    rename: Callable[[str], str] = str,
    extra: dict[str, Any] | None = None,
    drop: tuple[str, ...] = (),
    **config: Any,
) -> Path:
    """A copy of a saved checkpoint with other names, further tensors, and a configuration without or with some keys."""
    target.mkdir(parents=True)
    tensors = {rename(name): array for name, array in load_file(folder / "model.safetensors").items()}
    save_file(tensors | (extra or {}), target / "model.safetensors", metadata={"format": "pt"})
    values = json.loads((folder / "config.json").read_text()) | config
    (target / "config.json").write_text(json.dumps({k: v for k, v in values.items() if k not in drop}))
    return target


def same_states(a: Path, b: Path, key: str) -> None:
    """The same states after every layer, bit for bit."""
    given = tiny.make_input(key)
    for x, y in zip(run_tokens(load(a), given), run_tokens(load(b), given), strict=True):
        assert np.array_equal(x.output, y.output)


PREFIXES = {
    "bert": ("bert.", "module.bert.", "_orig_mod.bert.", "0.auto_model."),
    "roberta": ("roberta.",),
    "albert": ("albert.", "model.albert."),
    "gpt2": ("transformer.", "model.transformer."),
    "gpt-neo": ("transformer.",),
    "llama": ("model.", "base_model.model.model."),
    "qwen2": ("model.",),
    "vit": ("vit.", "model.vit."),
}


@pytest.mark.parametrize("key", PREFIXES)
def test_heads_around_the_network_and_prefixes(key: str, saved: Any, tmp_path: Path) -> None:
    """Task heads store the network under a prefix, and tensors of their own beside it."""
    folder = saved(key)[1]
    head = {"cls.predictions.bias": np.zeros(31, np.float32), "lm_head.weight": np.ones((31, 16), np.float32)}
    head |= {"classifier.weight": np.ones((2, 16), np.float32), "pooler.dense.weight": np.ones((16, 16), np.float32)}
    for number, prefix in enumerate(PREFIXES[key]):
        made = variant(folder, tmp_path / str(number), lambda name, prefix=prefix: prefix + name, head)
        same(load(made), load(folder))
        same_states(made, folder, key)


def test_buffers_of_older_files_are_not_weights(saved: Any, tmp_path: Path) -> None:
    """attn.bias is the causal mask, masked_bias its fill value, position_ids and inv_freq are counters."""
    gpt2 = {
        "h.0.attn.bias": np.tri(24, dtype=np.uint8)[None, None],
        "h.0.attn.masked_bias": np.array(-np.inf, np.float32),
    }
    neo = {"h.0.attn.attention.bias": np.tri(24, dtype=bool)[None, None]}
    neo |= {"h.0.attn.attention.masked_bias": np.array(-1e9, np.float32)}
    bert = {"embeddings.position_ids": np.arange(24)[None]}
    llama = {"layers.0.self_attn.rotary_emb.inv_freq": np.ones(2, np.float32)}
    for key, extra in (("gpt2", gpt2), ("gpt-neo", neo), ("bert", bert), ("llama", llama)):
        folder = saved(key)[1]
        made = variant(folder, tmp_path / key, extra=extra)
        same_states(made, folder, key)


OLD = {
    "gpt2": (
        (
            "n_inner",
            "scale_attn_weights",
            "scale_attn_by_inverse_layer_idx",
            "add_cross_attention",
            "transformers_version",
        ),
        {"n_ctx": 24},
    ),
    "gpt-neo": (("attention_layers", "intermediate_size", "layer_norm_epsilon"), {}),
    "llama-biases": (("num_key_value_heads", "head_dim", "rope_parameters", "rope_scaling", "pretraining_tp"), {}),
    "bert": (("position_embedding_type", "is_decoder", "add_cross_attention", "layer_norm_eps", "type_vocab_size"), {}),
    "albert": (
        ("num_hidden_groups", "inner_group_num", "layer_norm_eps", "position_embedding_type"),
        {"net_structure_type": 0, "gap_size": 0},
    ),
    "vit": (("qkv_bias", "num_channels"), {}),
}


@pytest.mark.parametrize("key", OLD)
def test_configurations_that_leave_defaults_out(key: str, saved: Any, tmp_path: Path) -> None:
    folder = saved(key)[1]
    drop, more = OLD[key]
    made = variant(folder, tmp_path / "old", drop=drop, **more)
    same(load(made), load(folder))
    same_states(made, folder, key)


@pytest.mark.parametrize("key", ["bert", "albert", "gpt2", "gpt-neo", "vit"])
def test_a_configuration_that_names_no_family_is_recognised_by_its_tensors(
    key: str, saved: Any, tmp_path: Path
) -> None:
    """The BERT miniatures of 2020 have neither model_type nor architectures."""
    folder = saved(key)[1]
    made = variant(folder, tmp_path / "bare", drop=("model_type", "architectures"))
    assert load(made).family == load(folder).family
    same_states(made, folder, key)


def test_a_configuration_that_names_no_family_is_not_guessed_where_several_fit(saved: Any, tmp_path: Path) -> None:
    """q_proj under layers.0.self_attn is how llama, gemma, phi and many others are stored."""
    made = variant(saved("llama")[1], tmp_path / "bare", drop=("model_type", "architectures"))
    with pytest.raises(ModelError, match="no supported family"):
        load(made)
    made = variant(saved("roberta")[1], tmp_path / "r", lambda n: f"roberta.{n}", drop=("model_type", "architectures"))
    with pytest.raises(ModelError, match="no supported family"):
        load(made)


@pytest.mark.parametrize("kind", ["gemma4", "phi5", "qwen9", "xlnet", "longformer", "reformer", "bigbird"])
def test_neighbours_that_are_not_supported_are_named(kind: str, saved: Any, tmp_path: Path) -> None:
    made = variant(saved("llama")[1], tmp_path / kind, model_type=kind, architectures=[f"{kind}Model"])
    with pytest.raises(ModelError) as caught:
        load(made)
    assert kind in str(caught.value)
    assert "model types are read (`eigentoken models` lists them)" in str(caught.value)
    assert "layers.0" in str(caught.value)


def test_longrope_needs_a_factor_for_each_frequency(saved: Any, tmp_path: Path) -> None:
    scaling = {"rope_type": "longrope", "short_factor": [1.0, 2.0, 3.0], "original_max_position_embeddings": 8}
    made = variant(saved("llama")[1], tmp_path / "long", drop=("rope_parameters",), rope_scaling=scaling)
    with pytest.raises(ModelError, match="short_factor must have 2 positive finite entries"):
        load(made)


@pytest.mark.parametrize("rule", ["ntk", "proportional"])
def test_rotary_rules_that_change_the_scores_are_refused(rule: str, saved: Any, tmp_path: Path) -> None:
    scaling = {"rope_type": rule, "factor": 4.0, "original_max_position_embeddings": 8, "rope_theta": 10000.0}
    for name in ("rope_scaling", "rope_parameters"):
        drop = ("rope_parameters",) if name == "rope_scaling" else ()
        made = variant(saved("llama")[1], tmp_path / f"{rule}-{name}", drop=drop, **{name: scaling})
        with pytest.raises(ModelError, match=f"rope_type '{rule}' is not supported"):
            load(made)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("attention_factor", 0),
        ("attention_factor", 1e200),
        ("factor", -1),
        ("beta_fast", "x"),
        ("rope_theta", 1.0),
        ("original_max_position_embeddings", 0),
        ("truncate", 3),
        ("mscale", 1e308),
        ("partial_rotary_factor", 0.5),
    ],
)
def test_yarn_parameters_that_make_no_sense(key: str, value: Any, saved: Any, tmp_path: Path) -> None:
    rope = tiny.YARN | {"mscale_all_dim": 1.0, key: value}
    made = variant(saved("llama-yarn")[1], tmp_path / "bad", rope_parameters=rope)
    with pytest.raises(ModelError, match=r"rope|must be|partial_rotary"):
        load(made).layer(0)


def test_yarn_divides_the_scale_by_the_square_of_its_gain(saved: Any) -> None:
    """P(delta) = Q^T R K / scale keeps an orthogonal R; the factor of 1.25 on cosines and sines is in the scale."""
    layer = load(saved("qwen2-yarn-smooth")[1]).layer(0)
    assert layer.heads[0].scale == pytest.approx(2.0 / 1.25**2)
    rotation = layer.rotary.rotation(3.0)
    assert np.allclose(rotation @ rotation.T, np.eye(4))
    assert "yarn, factor 4, gain 1.25" in layer.rotary.describe()


def test_defaults_of_lengths_and_counts_are_those_of_transformers(saved: Any, tmp_path: Path) -> None:
    """A trained length that is not written is the model's; null groups of keys are one for each head."""
    yarn = {name: value for name, value in tiny.YARN.items() if name != "original_max_position_embeddings"}
    folder = saved("llama-yarn")[1]
    short = variant(folder, tmp_path / "a", rope_parameters=yarn, max_position_embeddings=12)
    same_states(short, folder, "llama-yarn")
    beside = variant(folder, tmp_path / "b", rope_parameters=yarn, original_max_position_embeddings=12)
    same_states(beside, folder, "llama-yarn")
    old = variant(folder, tmp_path / "c", rope_parameters={"rope_theta": 9.0}, rope_scaling=tiny.YARN)
    same_states(old, folder, "llama-yarn")
    whole = variant(saved("llama-biases")[1], tmp_path / "d", num_key_value_heads=None, model_type="mistral")
    assert load(whole).n_kv_heads == 4
    partial = variant(saved("llama")[1], tmp_path / "e", partial_rotary_factor=0.5)
    same_states(partial, saved("llama")[1], "llama")


def test_an_old_and_a_new_way_to_write_the_same_rotary_rule(saved: Any, tmp_path: Path) -> None:
    folder = saved("llama-linear")[1]
    old = {"rope_theta": 100.0, "rope_scaling": {"type": "linear", "factor": 2.5}}
    same_states(variant(folder, tmp_path / "old", drop=("rope_parameters",), **old), folder, "llama-linear")


@pytest.mark.parametrize("layout", ["root", "subfolder"])
def test_folders_of_sentence_transformers(layout: str, saved: Any, tmp_path: Path) -> None:
    """modules.json names the folder of the network: the root today, 0_Transformer in older ones."""
    folder, made = saved("bert")[1], tmp_path / "model"
    inner = made if layout == "root" else made / "0_Transformer"
    shutil.copytree(folder, inner)
    (made / "1_Pooling").mkdir()
    (made / "1_Pooling" / "config.json").write_text("{}")
    kind = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "" if layout == "root" else "0_Transformer", "type": f"{kind}.Transformer"}
    ]
    (made / "modules.json").write_text(
        json.dumps([*modules, {"idx": 1, "path": "1_Pooling", "type": f"{kind}.Pooling"}])
    )
    same(load(made), load(folder))


@pytest.mark.parametrize("path", ["../elsewhere", "/etc", "a/b", "..", "missing"])
def test_module_paths_that_lead_outside_are_refused(path: str, saved: Any, tmp_path: Path) -> None:
    shutil.copytree(saved("bert")[1], tmp_path / "elsewhere")
    made = tmp_path / "model"
    made.mkdir()
    (made / "modules.json").write_text(json.dumps([{"path": path, "type": "sentence_transformers.models.Transformer"}]))
    with pytest.raises(ModelError, match=r"modules\.json"):
        load(made)


@pytest.mark.parametrize("text", ["{", "3", "[]", "[1]", '[{"path": 3, "type": "x.Transformer"}]', '{"a": 1}'])
def test_module_lists_that_make_no_sense(text: str, tmp_path: Path) -> None:
    (tmp_path / "modules.json").write_text(text)
    with pytest.raises(ModelError):
        load(tmp_path)


def test_quantised_checkpoints_say_so(saved: Any, tmp_path: Path) -> None:
    def packed(name: str) -> str:
        return name.replace("proj.weight", "proj.qweight")

    made = variant(
        saved("llama")[1], tmp_path / "gptq", packed, quantization_config={"quant_method": "gptq", "bits": 4}
    )
    with pytest.raises(ModelError, match=r"quantised checkpoint .*'gptq'.*dequantise"):
        load(made)
    odd = variant(saved("llama")[1], tmp_path / "odd", packed, quantization_config=3)
    with pytest.raises(ModelError, match="quantised"):
        load(odd)


def _q4_k_by_the_book(raw: bytes) -> list[float]:
    """Super-blocks of 256: float16 d and dmin, eight 6-bit scales and minima in 12 bytes, 128 bytes of nibbles."""
    values = []
    for start in range(0, len(raw), 144):
        block = raw[start : start + 144]
        d, dmin = np.frombuffer(block[:4], dtype="<f2").astype(np.float32)
        packed, quants = block[4:16], block[16:]
        scales, minima = [], []
        for j in range(8):
            if j < 4:
                scales.append(packed[j] & 63)
                minima.append(packed[j + 4] & 63)
            else:
                scales.append((packed[j + 4] & 15) | ((packed[j - 4] >> 6) << 4))
                minima.append((packed[j + 4] >> 4) | ((packed[j] >> 6) << 4))
        for pair in range(4):
            part = quants[32 * pair : 32 * pair + 32]
            for half, j in ((0, 2 * pair), (4, 2 * pair + 1)):
                step, low = d * np.float32(scales[j]), dmin * np.float32(minima[j])
                values += [step * np.float32((byte >> half) & 15) - low for byte in part]
    return values


def _q6_k_by_the_book(raw: bytes) -> list[float]:
    """Super-blocks of 256: 128 bytes of low nibbles, 64 of high bits, sixteen int8 scales, float16 d: d s (q - 32)."""
    values = []
    for start in range(0, len(raw), 210):
        block = raw[start : start + 210]
        low, high, scales = block[:128], block[128:192], np.frombuffer(block[192:208], dtype=np.int8)
        d = np.frombuffer(block[208:], dtype="<f2").astype(np.float32)[0]
        made = np.zeros(256, dtype=np.float32)
        for half in range(2):
            for i in range(32):
                bits = high[32 * half + i]
                for quarter in range(4):
                    nibble = low[64 * half + 32 * (quarter % 2) + i]
                    q = ((nibble >> (4 * (quarter // 2))) & 15) | (((bits >> (2 * quarter)) & 3) << 4)
                    at = 128 * half + 32 * quarter + i
                    made[at] = (d * np.float32(scales[at // 16])) * np.float32(q - 32)
        values += made.tolist()
    return values


@pytest.mark.parametrize(("kind", "size", "book"), [("Q4_K", 144, _q4_k_by_the_book), ("Q6_K", 210, _q6_k_by_the_book)])
def test_k_quants_follow_the_published_layout(kind: str, size: int, book: Any, tmp_path: Path) -> None:
    """The gguf package writes no K-quants: their bytes are made here, and decoded once more by plain loops."""
    gguf = pytest.importorskip("gguf")
    rng = np.random.default_rng(0)
    d = 256
    writer = gguf.GGUFWriter(str(tmp_path / "m.gguf"), "llama")
    for add, value in (("block_count", 1), ("embedding_length", d), ("feed_forward_length", d), ("head_count", 4)):
        getattr(writer, f"add_{add}")(value)
    writer.add_layer_norm_rms_eps(1e-5)
    raws: dict[str, bytes] = {}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        blocks = rng.integers(0, 256, (d, size), dtype=np.uint8)
        steps = rng.uniform(0.01, 0.1, (d, 2)).astype("<f2").view(np.uint8)
        if kind == "Q4_K":
            blocks[:, :4] = steps
        else:
            blocks[:, 208:] = steps[:, :2]
        raws[name] = blocks.tobytes()
        writer.add_tensor(f"blk.0.{name}.weight", blocks, raw_dtype=gguf.GGMLQuantizationType[kind])
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(d, np.float32))
    writer.add_tensor("token_embd.weight", rng.standard_normal((9, d)).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    layer = load(tmp_path / "m.gguf").layer(0)
    assert layer.stored_dtype == kind
    for letter, name in (("Q", "attn_q"), ("K", "attn_k"), ("V", "attn_v")):
        ours = np.concatenate([getattr(head, letter) for head in layer.heads])
        expected = np.array(book(raws[name]), dtype=np.float32).reshape(d, d)
        assert np.array_equal(ours, expected)
    ours = np.concatenate([head.O for head in layer.heads], axis=1)
    assert np.array_equal(ours, np.array(book(raws["attn_output"]), dtype=np.float32).reshape(d, d))


def test_a_part_of_a_gguf_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gguf = pytest.importorskip("gguf")
    reference = wide_llama()
    original = gguf.GGUFWriter.add_block_count

    def add(self: Any, count: int) -> None:
        original(self, count)
        self.add_uint32("split.count", 3)

    monkeypatch.setattr(gguf.GGUFWriter, "add_block_count", add)
    write_gguf(tmp_path / "m.gguf", llama_arrays(reference), reference.config, "F32")
    with pytest.raises(ModelError, match="one of 3 parts"):
        load(tmp_path / "m.gguf")


def test_positions_of_roberta_begin_after_the_padding(saved: Any) -> None:
    embedding: Any = load(saved("roberta")[1]).embedding()
    assert embedding.position_offset == 2
    with pytest.raises(ModelError, match="positions"):
        embedding.embed(np.full(tiny.LENGTH + 1, 3))
