"""One layer in memory at a time: a 7B-shaped sharded checkpoint stays far below its size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import load

from .spoiled import CONFIG, gpt2_tensors

SEVEN_B = {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32}
SEVEN_B |= {"num_hidden_layers": 2, "vocab_size": 32000, "rms_norm_eps": 1e-5, "max_position_embeddings": 4096}

READ_ALL = """
import resource, sys
from eigentoken.models import load
model = load(sys.argv[1])
seen = 0
for layer in model.layers():
    seen += len(layer.heads)
    total = layer.heads[0].score_matrix(1).sum() + layer.heads[-1].U.sum() + layer.F.sum()
    total += layer.feed_forward.down[0, 0]
print(seen, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 'torch' in sys.modules)
"""


def write_bfloat16(path: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    """A safetensors file of random bfloat16 numbers of size 2^-8 to 2^-5, either sign (of full rank, unlike one block)."""
    rng = np.random.default_rng(0)
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        while at:
            bits = rng.integers(0, 1 << 16, 1 << 20, dtype=np.uint16)
            block = (bits & 0x807F | (119 + (bits >> 7 & 3)) << 7).astype("<u2").tobytes()
            at -= stream.write(block[:at])


def seven_b(folder: Path) -> None:
    """Two layers and the embedding of a 7B model in three shards, with the index that a full one would have."""
    d, m, vocabulary = 4096, 11008, 32000
    shards: dict[str, dict[str, tuple[int, ...]]] = {"model-0.safetensors": {}}
    shards["model-0.safetensors"] = {"model.embed_tokens.weight": (vocabulary, d), "model.norm.weight": (d,)}
    for i in range(2):
        base = f"model.layers.{i}."
        shapes: dict[str, tuple[int, ...]] = {f"{base}self_attn.{p}_proj.weight": (d, d) for p in "qkvo"}
        shapes |= {f"{base}{n}.weight": (d,) for n in ("input_layernorm", "post_attention_layernorm")}
        shapes |= {f"{base}mlp.gate_proj.weight": (m, d), f"{base}mlp.up_proj.weight": (m, d)}
        shards[f"model-{i + 1}.safetensors"] = shapes | {f"{base}mlp.down_proj.weight": (d, m)}
    for name, shapes in shards.items():
        write_bfloat16(folder / name, shapes)
    weight_map = {tensor: name for name, shapes in shards.items() for tensor in shapes}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    (folder / "config.json").write_text(json.dumps(SEVEN_B))


@pytest.mark.slow
def test_a_7b_shaped_checkpoint_needs_less_than_3_gb(tmp_path: Path) -> None:
    seven_b(tmp_path)
    done = subprocess.run([sys.executable, "-c", READ_ALL, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    heads, kilobytes, torch_loaded = done.stdout.split()
    assert int(heads) == 64 and torch_loaded == "False"
    print("peak memory", int(kilobytes) / 1e6, "GB")
    assert int(kilobytes) * 1024 < 3e9


class CountingStore:
    """Which tensors were read, in order."""

    def __init__(self, store: Any) -> None:
        self.store, self.reads = store, []

    def __call__(self, name: str) -> Any:
        self.reads.append(name)
        return type(self.store).read(self.store, name)


def test_layers_are_read_when_reached_and_not_before(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file(gpt2_tensors(), tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    model = load(tmp_path)
    counting = CountingStore(model.store)
    model.store.read = counting  # type: ignore[method-assign]
    layers = model.layers()
    assert counting.reads == []
    first = next(layers)
    assert counting.reads and all(name.startswith("h.0.") and "mlp" not in name for name in counting.reads)
    assert first.feed_forward is first.feed_forward
    assert counting.reads[-4:] == [f"h.0.mlp.{n}" for n in ("c_fc.weight", "c_proj.weight", "c_fc.bias", "c_proj.bias")]
    counting.reads.clear()
    next(layers)
    assert all(name.startswith("h.1.") for name in counting.reads)


def test_shared_weights_are_read_once() -> None:
    model = load("sample:rxnmapper")
    counting = CountingStore(model.store)
    model.store.read = counting  # type: ignore[method-assign]
    layers = list(model.layers())
    assert len(layers) == 12 and [layer.heads[0].layer for layer in layers] == list(range(12))
    assert len(counting.reads) == len(set(counting.reads)) == 12
    assert layers[0].heads[3].Q is layers[11].heads[3].Q


def test_hashes_are_those_of_the_files(tmp_path: Path) -> None:
    import hashlib

    model = load("sample:rxnmapper")
    (file,) = model.files
    assert file.sha256 == hashlib.sha256(file.path.read_bytes()).hexdigest()
    assert model.fingerprint() == hashlib.sha256(file.sha256.encode()).hexdigest()
