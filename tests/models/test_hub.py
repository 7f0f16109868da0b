"""Hugging Face ids, with the hub played by a stand-in: which files are asked for, and what is said when it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from safetensors.numpy import save_file

from eigentoken.models import ModelError, load

from .spoiled import CONFIG, gpt2_tensors

hub = pytest.importorskip("huggingface_hub")


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A hub with one repository; ``asked`` lists the patterns of each download."""
    folder = tmp_path / "snapshot"
    folder.mkdir()
    save_file(gpt2_tensors(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    asked: list[Any] = []
    files = ["config.json", "model.safetensors", "pytorch_model.bin"]

    def download(
        name: str, *, revision: str | None = None, local_files_only: bool = False, allow_patterns: Any = None
    ) -> str:
        if local_files_only:
            raise FileNotFoundError(name)
        asked.append(allow_patterns if revision is None else [revision, *allow_patterns])
        return str(folder)

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    monkeypatch.setattr(hub, "snapshot_download", download)

    def info(name: str, *, revision: str | None, timeout: float) -> Any:
        assert timeout <= 10
        return SimpleNamespace(siblings=[SimpleNamespace(rfilename=file) for file in files])

    monkeypatch.setattr(hub, "model_info", info)
    return asked, files


def test_safetensors_are_preferred_and_code_is_never_asked_for(remote: Any) -> None:
    asked, files = remote
    assert load("someone/model").source == "someone/model"
    files.remove("model.safetensors")
    load("someone/model")
    assert "model.safetensors" in asked[0] and "pytorch_model.bin" not in asked[0]
    assert "pytorch_model.bin" in asked[1] and "model.safetensors" not in asked[1]
    assert all("config.json" in patterns and "*" not in patterns for patterns in asked)
    assert not any(pattern.endswith(".py") for patterns in asked for pattern in patterns)


def test_no_network_is_one_clear_line(remote: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def fails(name: str, **options: Any) -> Any:
        tries.append(name)
        raise ConnectionError("no route to host\nsecond line")

    monkeypatch.setattr(hub, "model_info", fails)
    with pytest.raises(ModelError, match=r"someone/model: .*ConnectionError.*check the name and the network") as caught:
        load("someone/model")
    assert "\n" not in str(caught.value)
    assert tries == ["someone/model"]


@pytest.mark.parametrize("name", ["nofile", "gpt2", "model.v2"])
def test_a_name_without_an_organisation_never_asks_the_network(name: str, remote: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(hub, "model_info", lambda *_, **__: pytest.fail("the network was asked"))
    with pytest.raises(ModelError, match=rf"{name}: no such file or folder.*(org|openai-community)/"):
        load(name)
    assert remote[0] == []


def test_a_cached_name_without_an_organisation_is_read(remote: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(hub, "snapshot_download", lambda name, **_: str(tmp_path / "snapshot"))
    assert load("gpt2").n_layers == 2


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelError, match=r"eigentoken\[hub\]"):
        load("someone/model")


def test_a_folder_of_that_name_comes_first(remote: Any, tmp_path: Path) -> None:
    asked, _ = remote
    (tmp_path / "someone").mkdir()
    (tmp_path / "snapshot").rename(tmp_path / "someone" / "model")
    assert load("someone/model").n_layers == 2 and asked == []


def test_a_revision_is_asked_for_and_kept_in_the_name(remote: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    asked, _ = remote
    for model in (load("someone/model", revision="step1000"), load("someone/model@step1000")):
        assert model.source == "someone/model@step1000"
        assert asked.pop()[0] == "step1000"
