"""A good small checkpoint to spoil, made without transformers, and what a refusal must look like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.models import ModelError, load

D, HEADS, WIDTH, VOCABULARY, LENGTH = 8, 2, 12, 13, 10
CONFIG = {
    "model_type": "gpt2",
    "n_embd": D,
    "n_head": HEADS,
    "n_layer": 2,
    "n_inner": WIDTH,
    "n_positions": LENGTH,
    "vocab_size": VOCABULARY,
}


def gpt2_tensors() -> dict[str, Any]:
    """A small GPT-2, without transformers."""
    rng = np.random.default_rng(2)

    def random(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    tensors = {"wte.weight": random(VOCABULARY, D), "wpe.weight": random(LENGTH, D)}
    for i in range(2):
        for name, rows, columns in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, WIDTH)):
            tensors |= {f"h.{i}.{name}.weight": random(rows, columns), f"h.{i}.{name}.bias": random(columns)}
        tensors |= {f"h.{i}.mlp.c_proj.weight": random(WIDTH, D), f"h.{i}.mlp.c_proj.bias": random(D)}
        for name in ("ln_1", "ln_2"):
            tensors |= {f"h.{i}.{name}.weight": random(D), f"h.{i}.{name}.bias": random(D)}
    return tensors | {"ln_f.weight": random(D), "ln_f.bias": random(D)}


def read_all(source: Any) -> None:
    """Load and read everything that a check would."""
    model = load(source)
    for layer in model.layers():
        assert np.isfinite(layer.feed_forward.up).all()
    model.embedding()
    model.final_norm()


def refused(source: Any, *words: str) -> str:
    """The message of the ModelError, which is one line and has the words."""
    with pytest.raises(ModelError) as caught:
        read_all(source)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 700
    for word in words:
        assert word in message, message
    return message


def header_of(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    n = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + n]), data[8 + n :]


def write_with_header(path: Path, header: dict[str, Any] | bytes, body: bytes) -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
