"""The same tiny model through every file format: same matrices, same forward pass."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import Model, ModelError, load, run_tokens

from . import conftest as tiny


def same(ours: Model, theirs: Model) -> None:
    """Every head of every layer, bit for bit."""
    assert ours.n_layers == theirs.n_layers
    for a, b in zip(ours.layers(), theirs.layers(), strict=True):
        for h, g in zip(a.heads, b.heads, strict=True):
            for name in ("Q", "K", "V", "O"):
                x, y = getattr(h, name), getattr(g, name)
                assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        assert np.array_equal(a.feed_forward.up, b.feed_forward.up)


def same_tokens(ours: Model, theirs: Model, tolerance: float = 1e-5) -> None:
    """The same states after every layer."""
    ids = np.arange(9)[None]
    for a, b in zip(run_tokens(ours, ids), run_tokens(theirs, ids), strict=True):
        assert np.abs(a.output - b.output).max() <= tolerance * max(1.0, float(np.abs(b.output).max()))


@pytest.mark.parametrize("key", ["albert", "gpt2", "llama"])
def test_sharded_safetensors_equal_one_file(key: str, saved: Any, tmp_path: Path) -> None:
    reference, folder = saved(key)
    reference.save_pretrained(tmp_path, max_shard_size="4KB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    sharded = load(tmp_path)
    assert len(sharded.files) > 1 and "shards" in sharded.format
    same(sharded, load(folder))


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("key", ["albert", "gpt2", "llama"])
def test_torch_files_equal_safetensors(key: str, legacy: bool, saved: Any, tmp_path: Path) -> None:
    import torch

    reference, folder = saved(key)
    shutil.copy(folder / "config.json", tmp_path)
    path = tmp_path / "pytorch_model.bin"
    torch.save(reference.state_dict(), path, _use_new_zipfile_serialization=not legacy)
    assert path.read_bytes()[:2] == (b"\x80\x02" if legacy else b"PK")
    same(load(tmp_path), load(folder))


def test_sharded_torch_files(saved: Any, tmp_path: Path) -> None:
    import torch

    reference, folder = saved("gpt2")
    shutil.copy(folder / "config.json", tmp_path)
    state = reference.state_dict()
    names = sorted(state)
    parts = {"pytorch_model-1.bin": names[:5], "pytorch_model-2.bin": names[5:]}
    for part, listed in parts.items():
        torch.save({n: state[n] for n in listed}, tmp_path / part)
    weight_map = {n: part for part, listed in parts.items() for n in listed}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": weight_map}))
    same(load(tmp_path), load(folder))


def test_npz_of_jax_in_bfloat16(saved: Any, tmp_path: Path) -> None:
    """ml_dtypes stores two bytes without a type; the values are those of the upper halves of float32."""
    from safetensors.numpy import load_file

    _, folder = saved("gpt2")
    arrays = {name: array for name, array in load_file(folder / "model.safetensors").items() if array.dtype.kind == "f"}
    upper = {name: (array.view(np.uint32) >> 16).astype(np.uint16) for name, array in arrays.items()}
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    np.savez(tmp_path / "model.npz", **{name: bits.view("V2") for name, bits in upper.items()})
    one, other = load(tmp_path).layer(0), load(folder).layer(0)
    assert one.stored_dtype == "bfloat16"
    whole = other.output_matrix().astype(np.float32)
    assert np.array_equal(one.output_matrix(), (whole.view(np.uint32) >> 16 << 16).view(np.float32))


def test_npz_with_the_familys_names(saved: Any, tmp_path: Path) -> None:
    reference, folder = saved("bert")
    arrays = {name: t.numpy() for name, t in reference.state_dict().items()}
    np.savez_compressed(tmp_path / "model.npz", **arrays)
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        load(tmp_path / "model.npz")
    shutil.copy(folder / "config.json", tmp_path)
    same(load(tmp_path), load(folder))
    text = (folder / "config.json").read_text()
    np.savez(tmp_path / "own.npz", __config__=np.array(text), **arrays)
    same(load(tmp_path / "own.npz"), load(folder))


def interleave(W: Any, heads: int) -> Any:
    """Rows of each head from half-split order (k, k + e/2) to neighbouring pairs (2k, 2k + 1)."""
    blocks = W.reshape(heads, 2, -1, *W.shape[1:])
    return np.ascontiguousarray(np.swapaxes(blocks, 1, 2)).reshape(W.shape)


def llama_arrays(reference: Any) -> dict[str, Any]:
    """float32 arrays of a tiny llama with the query and key rows of llama2.c and GGUF files."""
    config = reference.config
    made = {}
    for name, tensor in reference.state_dict().items():
        array = tensor.numpy()
        if "q_proj" in name:
            array = interleave(array, config.num_attention_heads)
        elif "k_proj" in name:
            array = interleave(array, config.num_key_value_heads)
        made[name] = array
    return made


def write_llama2c(path: Path, reference: Any, version: int, shared: bool = True) -> None:
    """A llama2.c file, written by the order in its documentation."""
    c, t = reference.config, llama_arrays(reference)
    sizes = [c.hidden_size, c.intermediate_size, c.num_hidden_layers, c.num_attention_heads, c.num_key_value_heads]
    n = range(c.num_hidden_layers)

    def stack(name: str) -> list[Any]:
        return [t[f"layers.{i}.{name}.weight"] for i in n]

    attention = [a for part in "qkvo" for a in stack(f"self_attn.{part}_proj")]
    mlp = stack("mlp.gate_proj") + stack("mlp.down_proj") + stack("mlp.up_proj")
    embedding, last = t["embed_tokens.weight"], t["norm.weight"]
    if version == 0:
        head = struct.pack("<7i", *sizes, c.vocab_size if shared else -c.vocab_size, tiny.LENGTH)
        table = np.zeros(2 * tiny.LENGTH * (c.hidden_size // c.num_attention_heads) // 2, dtype=np.float32)
        order = [
            embedding,
            *stack("input_layernorm"),
            *attention,
            *stack("post_attention_layernorm"),
            *mlp,
            last,
            table,
        ]
    else:
        head = struct.pack("<Ii7iB", 0x616B3432, version, *sizes, c.vocab_size, tiny.LENGTH, shared).ljust(256, b"\0")
        norms = [*stack("input_layernorm"), *stack("post_attention_layernorm")]
        order = [*norms, last, embedding, *attention, *mlp]
    order += [] if shared else [embedding]
    path.write_bytes(head + b"".join(np.ascontiguousarray(a, dtype="<f4").tobytes() for a in order))


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("shared", [True, False])
def test_llama2c_files(version: int, shared: bool, tmp_path: Path) -> None:
    import torch

    reference = tiny.make_reference("llama")
    reference.config.rms_norm_eps = 1e-5
    path, folder = tmp_path / "stories.bin", tmp_path / "hf"
    write_llama2c(path, reference, version, shared)
    reference.save_pretrained(folder)
    ours, theirs = load(path), load(folder)
    same_tokens(ours, theirs)
    head, other = ours.layer(1).heads[3], theirs.layer(1).heads[3]
    assert head.rotary is not None and head.rotary.interleaved and not other.rotary.interleaved  # type: ignore[union-attr]
    assert head.Q.tobytes() == interleave(np.ascontiguousarray(other.Q), 1).tobytes() != other.Q.tobytes()
    assert np.abs(head.score_matrix(2) - other.score_matrix(2)).max() < 1e-12
    data = path.read_bytes()
    for damaged in (data[:-4], data + b"\0\0\0\0", data[:20]):
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match=r"stories\.bin"):
            load(path)
    assert isinstance(reference, torch.nn.Module)


def write_gguf(path: Path, arrays: dict[str, Any], config: Any, kind: str, architecture: str = "llama") -> None:
    """A GGUF file made with the gguf package's own writer."""
    import gguf

    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_context_length(tiny.LENGTH)
    writer.add_token_list([f"t{i}" for i in range(5000)])
    from eigentoken.models.formats.gguf_names import LLAMA as BLOCK_NAMES
    from eigentoken.models.formats.gguf_names import OUTER as OUTER_NAMES

    for name, array in arrays.items():
        if name == "rope_freqs":
            writer.add_tensor("rope_freqs.weight", array)
        full = f"model.{name}"
        for old, new in (BLOCK_NAMES | OUTER_NAMES).items():
            stem, _, suffix = full.rpartition(".")
            if stem.endswith(new) and (new in BLOCK_NAMES.values() or stem == new):
                index = f"blk.{full.split('.')[2]}." if new in BLOCK_NAMES.values() else ""
                target = gguf.GGMLQuantizationType[kind if array.ndim == 2 else "F32"]
                writer.add_tensor(f"{index}{old}.{suffix}", gguf.quants.quantize(array, target), raw_dtype=target)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def wide_llama(kind: str = "Llama", **more: Any) -> Any:
    """A llama wide enough for blocks of 32."""
    import torch
    import transformers

    torch.manual_seed(4)
    options = tiny.GROUPED | {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2} | more
    config = getattr(transformers, f"{kind}Config")(**options)
    model = getattr(transformers, f"{kind}Model")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0"])
def test_gguf_is_dequantised_as_specified(kind: str, tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    reference = wide_llama()
    arrays = llama_arrays(reference)
    path = tmp_path / "m.gguf"
    write_gguf(path, arrays, reference.config, kind)
    model = load(path)
    reader = {t.name: t for t in gguf.GGUFReader(str(path)).tensors}
    for layer in model.layers():
        stored = reader[f"blk.{layer.index}.attn_q.weight"]
        expected = gguf.quants.dequantize(stored.data, stored.tensor_type).reshape(64, 64)
        ours = np.concatenate([head.Q for head in layer.heads])
        assert ours.astype(np.float32).tobytes() == np.ascontiguousarray(expected, dtype=np.float32).tobytes()
        assert layer.stored_dtype == {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}.get(kind, kind)
    if kind == "F32":
        reference.save_pretrained(tmp_path / "hf")
        same_tokens(model, load(tmp_path / "hf"))


def q4_1_by_the_book(raw: bytes, shape: tuple[int, int]) -> Any:
    """Blocks of 32: float16 step d, minimum m, 16 bytes; entry i is the low nibble, i + 16 the high one: d q + m."""
    values = []
    for start in range(0, len(raw), 20):
        d, m = np.frombuffer(raw[start : start + 4], dtype="<f2").astype(np.float32)
        low = [d * np.float32(b & 15) + m for b in raw[start + 4 : start + 20]]
        high = [d * np.float32(b >> 4) + m for b in raw[start + 4 : start + 20]]
        values += low + high
    return np.array(values, dtype=np.float32).reshape(shape)


def test_gguf_q4_1_follows_the_published_layout(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    reference = wide_llama()
    write_gguf(tmp_path / "m.gguf", llama_arrays(reference), reference.config, "Q4_1")
    stored = next(t for t in gguf.GGUFReader(str(tmp_path / "m.gguf")).tensors if t.name == "blk.1.attn_v.weight")
    expected = q4_1_by_the_book(bytes(stored.data.tobytes()), (32, 64))
    layer = load(tmp_path / "m.gguf").layer(1)
    ours = np.concatenate([layer.heads[0].V, layer.heads[2].V])
    assert ours.tobytes() == expected.tobytes()


def test_truncated_and_padded_gguf(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    reference, path = wide_llama(), tmp_path / "m.gguf"
    write_gguf(path, llama_arrays(reference), reference.config, "F32")
    data = path.read_bytes()
    for damaged, word in ((data[:-64], "truncated"), (data + b"\0" * 64, "padded")):
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match=word):
            load(path)


def test_gguf_of_qwen2_has_half_split_pairs_and_biases(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    reference = wide_llama("Qwen2")
    arrays = {name: t.numpy() for name, t in reference.state_dict().items()}
    write_gguf(tmp_path / "m.gguf", arrays, reference.config, "F32", "qwen2")
    reference.save_pretrained(tmp_path / "hf")
    same(load(tmp_path / "m.gguf"), load(tmp_path / "hf"))
    same_tokens(load(tmp_path / "m.gguf"), load(tmp_path / "hf"))


def test_gguf_with_stored_rotary_divisors(tmp_path: Path) -> None:
    """LLaMA 3.1 in GGUF: a divisor for each frequency, here by the published rule, against transformers' own rule."""
    pytest.importorskip("gguf")
    rope = tiny.LLAMA3 | {"rope_theta": 10000.0, "original_max_position_embeddings": 64}
    reference = wide_llama(rope_parameters=rope)
    divisors = []
    for w in 10000.0 ** (-np.arange(0, 16, 2) / 16):
        wavelength, length = 2 * np.pi / w, rope["original_max_position_embeddings"]
        smooth = np.clip((length / wavelength - 1.0) / 3.0, 0, 1)
        divisors.append(1 / ((1 - smooth) / 8.0 + smooth))
    assert {1.0, 8.0} < set(divisors)
    arrays = llama_arrays(reference) | {"rope_freqs": np.array(divisors, dtype=np.float32)}
    write_gguf(tmp_path / "m.gguf", arrays, reference.config, "F32")
    reference.save_pretrained(tmp_path / "hf")
    same_tokens(load(tmp_path / "m.gguf"), load(tmp_path / "hf"))
    assert load(tmp_path / "m.gguf").layer(0).rotary.rule == "stored divisors"  # type: ignore[union-attr]


def test_gguf_of_another_architecture_lists_what_is_supported(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    reference = wide_llama()
    write_gguf(tmp_path / "m.gguf", llama_arrays(reference), reference.config, "F32", "grok")
    with pytest.raises(ModelError, match=r"grok.*supported in GGUF: llama, qwen2"):
        load(tmp_path / "m.gguf")
    write_gguf(tmp_path / "m.gguf", llama_arrays(reference), reference.config, "F32", "mamba")
    with pytest.raises(ModelError, match="mamba is a state-space model: its layers have no self-attention"):
        load(tmp_path / "m.gguf")


def test_a_model_in_memory_is_copied(saved: Any) -> None:
    import torch

    reference = tiny.make_reference("llama")
    model = load(reference)
    before = model.layer(0).heads[0].Q.copy()
    kept = model.layer(0).heads[0].Q
    with torch.no_grad():
        reference.layers[0].self_attn.q_proj.weight.mul_(2)
    assert (kept == before).all()
    assert model.files == () and len(model.fingerprint()) == 64


def test_modules_without_a_configuration_are_refused() -> None:
    import torch

    with pytest.raises(ModelError, match=r"no configuration"):
        load(torch.nn.Linear(2, 2))
    with pytest.raises(ModelError, match="source must be"):
        load(3)


def test_the_config_argument_replaces_the_file(saved: Any) -> None:
    _, folder = saved("gpt2")
    values = json.loads((folder / "config.json").read_text()) | {"n_head": 2}
    assert load(folder, config=values).n_heads == 2


def test_importing_the_room_is_light() -> None:
    import subprocess
    import sys

    code = (
        "import sys, eigentoken.models as m; m.load; m.ModelError; print('torch' in sys.modules, 'gguf' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_models_are_picklable_for_workers(saved: Any, tmp_path: Path) -> None:
    import pickle

    import torch

    reference, folder = saved("gpt2")
    shutil.copy(folder / "config.json", tmp_path)
    torch.save(reference.state_dict(), tmp_path / "pytorch_model.bin")
    for where in (folder, tmp_path):
        model = pickle.loads(pickle.dumps(load(where)))
        same(model, load(folder))
