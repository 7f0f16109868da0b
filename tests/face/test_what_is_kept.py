"""What was found is kept for the same weights read in the same way: not for another configuration or stack."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import eigentoken as et
from eigentoken.checking import run
from eigentoken.files import installed
from eigentoken.models import load

SAVED = Path(__file__).resolve().parents[2] / "examples" / "byte_lm"
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers encode and three decode, of one width."""
    import torch

    torch.manual_seed(1)
    layers = {"encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    sizes = {"d_model": 8, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "vocab_size": 20, "max_position_embeddings": 20}
    model = transformers.BartModel(transformers.BartConfig(**layers, **sizes))
    for each in model.parameters():
        torch.nn.init.normal_(each, std=0.4)
    folder = tmp_path_factory.mktemp("bart") / "model"
    model.save_pretrained(folder)
    return folder


def checked(source: object, work: Path) -> Any:
    return et.check(str(source), statements="PM-N1", sequences=0, work=work)


def test_the_same_weights_with_other_heads_are_examined_again(tmp_path: Path) -> None:
    """Four heads or two, by the configuration alone: the results of one were once taken for the other."""
    for heads in (4, 2):
        folder = tmp_path / str(heads)
        folder.mkdir()
        shutil.copy(SAVED / "step03000.safetensors", folder / "model.safetensors")
        config = json.loads((SAVED / "config.json").read_text()) | {"n_head": heads}
        (folder / "config.json").write_text(json.dumps(config))
    assert [len(checked(tmp_path / str(heads), tmp_path / "work").heads) for heads in (4, 2, 4)] == [16, 8, 16]


def test_the_stacks_of_one_file_are_told_apart(bart: Path, tmp_path: Path) -> None:
    """Both have the same weights file, and so the same fingerprint."""
    for part in ("encoder", "decoder"):
        kept, own = checked(f"{bart}#{part}", tmp_path / "work"), checked(f"{bart}#{part}", tmp_path / part)
        assert [each["norm"] for each in kept.layers] == [each["norm"] for each in own.layers]


def test_a_checkpoint_that_is_written_over_is_read_again(tmp_path: Path) -> None:
    """A training that keeps one file: the second check in the same program is of the second step."""
    folder = tmp_path / "last"
    folder.mkdir()
    shutil.copy(SAVED / "config.json", folder)
    norms = []
    for step in ("step00000", "step03000"):
        shutil.copy(SAVED / f"{step}.safetensors", folder / "model.safetensors")
        norms.append(checked(folder, tmp_path / "work").layers[0]["norm"])
    assert norms[0][1] < norms[1][0]


def test_what_other_libraries_found_is_not_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another LAPACK gives other last digits: a report was once put together from both."""
    folder, work = SAVED / "step03000.safetensors", tmp_path / "work"
    told: list[str] = []

    def again() -> int:
        told.clear()
        run.code_digest.cache_clear()
        et.check(str(folder), statements="PM-N1", sequences=0, work=work, watch=lambda what, _: told.append(what))
        return told.count(run.KEPT)

    try:
        assert [again(), again()] == [0, 4]
        monkeypatch.setattr(installed, "version", lambda name: "0.1" if name == "scipy" else version(name))
        assert again() == 0
    finally:
        monkeypatch.undo()
        run.code_digest.cache_clear()


def test_a_copy_of_the_decoder_is_judged_as_the_decoder(bart: Path, tmp_path: Path) -> None:
    """Its configuration is that of the whole model; the encoder was once read in its place."""
    found = et.nearest(f"{bart}#decoder", "PM-N1", tmp_path / "near")
    assert [each["word"] for each in found.layers] == ["fails", "fails", "holds"]
    assert found.document["written"]["words"] == ["holds"] * 3
    assert et.recheck(found) == "holds"
    steered = et.steer(f"{bart}#decoder", "random", tmp_path / "steered")
    before, after = load(f"{bart}#decoder"), load(f"{tmp_path / 'steered'}#decoder")
    value = steered.document["leading_eigenvalue"]["re"]
    leaders = [complex(max(_eigenvalues(each.layer(-1).F), key=lambda z: z.real)) for each in (before, after)]
    assert abs(leaders[1] - value) < 1e-5 * abs(value) < abs(leaders[0] - value)
    assert et.recheck(steered) == "holds"


def _eigenvalues(F: Any) -> Any:
    import numpy as np

    return np.linalg.eigvals(F)
