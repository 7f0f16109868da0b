"""``check`` tells what of the file it did not read, and of zero weights: in the terminal, the page and the document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

from eigentoken.checking.formats import to_html
from eigentoken.checking.report import Report
from eigentoken.cli import app
from eigentoken.rechecking.recheck import recheck_document

D = 8


def gpt2(folder: Path, layers: int, said: int, zero: tuple[int, ...] = (), **more: Any) -> Path:
    """A small GPT-2 whose configuration says another number of layers than the file has, some with zero values."""
    rng = np.random.default_rng(2)

    def random(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    tensors = {
        "wte.weight": random(13, D),
        "wpe.weight": random(10, D),
        "ln_f.weight": random(D),
        "ln_f.bias": random(D),
    }
    for i in range(layers):
        for name, rows, columns in (
            ("attn.c_attn", D, 3 * D),
            ("attn.c_proj", D, D),
            ("mlp.c_fc", D, 12),
            ("mlp.c_proj", 12, D),
        ):
            tensors |= {f"h.{i}.{name}.weight": random(rows, columns), f"h.{i}.{name}.bias": random(columns)}
        for name in ("ln_1", "ln_2"):
            tensors |= {f"h.{i}.{name}.weight": random(D), f"h.{i}.{name}.bias": random(D)}
        if i in zero:
            tensors[f"h.{i}.attn.c_attn.weight"][:, 2 * D :] = 0
    folder.mkdir(exist_ok=True)
    save_file(tensors | more, folder / "model.safetensors")
    config = {"model_type": "gpt2", "n_embd": D, "n_head": 2, "n_inner": 12, "n_positions": 10, "vocab_size": 13}
    (folder / "config.json").write_text(json.dumps({**config, "n_layer": said}))
    return folder


def checked(folder: Path) -> tuple[str, dict[str, Any]]:
    """What the terminal shows, and the document."""
    file = folder / "report.json"
    call = [
        "check",
        str(folder),
        "--sequences",
        "0",
        "--statement",
        "PM-L4",
        "--work",
        str(folder / "work"),
        "-o",
        str(file),
    ]
    ran = CliRunner().invoke(app, call)
    assert ran.exit_code == 0, ran.output
    return " ".join(ran.stdout.split()), json.loads(file.read_text())


def test_a_whole_model_has_no_warning(tmp_path: Path) -> None:
    shown, document = checked(gpt2(tmp_path / "m", 2, 2))
    assert document["warnings"] == []
    assert "warning" not in shown
    assert 'class="warning"' not in to_html(Report({k: v for k, v in document.items() if k != "schema"}))


@pytest.mark.parametrize(
    ("layers", "said", "zero", "words"),
    [
        (2, 1, (), "further layers (1): the configuration says 1"),
        (5, 2, (), "further layers (2-4): the configuration says 2"),
        (2, 2, (0, 1), "layers 0-1: every value weight is zero"),
        (2, 2, (1,), "layer 1: every value weight is zero"),
    ],
)
def test_what_was_not_read_is_told_everywhere(
    layers: int, said: int, zero: tuple[int, ...], words: str, tmp_path: Path
) -> None:
    folder = gpt2(tmp_path / "m", layers, said, zero)
    shown, document = checked(folder)
    assert len(document["warnings"]) == 1
    assert words in document["warnings"][0]
    assert f"warning: {document['warnings'][0]}" in shown
    assert words in to_html(Report({k: v for k, v in document.items() if k != "schema"}))
    file = folder / "report.json"
    assert recheck_document(file).verdict == "holds"
    for lie in ([], [*document["warnings"], "more"], ["all is well"]):
        file.write_text(json.dumps({**document, "warnings": lie}))
        assert recheck_document(file).verdict == "fails"


def test_a_tensor_that_the_family_does_not_know_is_told(tmp_path: Path) -> None:
    extra = {"h.0.attn.q_norm.weight": np.ones(D, np.float32), "h.0.attn.bias": np.ones((1, 1, 4, 4), np.float32)}
    _, document = checked(gpt2(tmp_path / "m", 2, 2, **extra))
    assert "1 of the tensors in the layers are not used: h.0.attn.q_norm.weight" in document["warnings"][0]


def test_zero_weights_fit_the_screen(tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "m", 2, 2)
    tensors = load_file(folder / "model.safetensors")
    save_file({name: 0 * array for name, array in tensors.items()}, folder / "model.safetensors")
    shown, document = checked(folder)
    assert document["warnings"][0].startswith("layers 0-1: every query, key, value and output weight is zero")
    row = shown.partition("regime")[2]
    assert "[-2e-153, 2e-153]" in row or " 0 " in row
    assert "not about this model" in row  # folded, not cut
