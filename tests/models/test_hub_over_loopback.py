"""The hub client against a hub over loopback, in a process of its own: revisions, refusals, no network, broken downloads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from .loopback_hub import Hub, serving
from .spoiled import CONFIG, gpt2_tensors
from .test_formats import llama_arrays, wide_llama, write_gguf

pytest.importorskip("huggingface_hub")
Run = Callable[..., "subprocess.CompletedProcess[str]"]
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def whole(times: float) -> dict[str, bytes]:
    """The files of a small GPT-2 whose tensors are multiplied."""
    tensors = {name: (times * each).astype(np.float32) for name, each in gpt2_tensors().items()}
    return {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": save(tensors), "README.md": b"words"}


def sharded() -> dict[str, bytes]:
    """The same model in two shards with their index."""
    tensors: dict[str, Any] = gpt2_tensors()
    names = list(tensors)
    where = {name: SHARDS[int(2 * k >= len(names))] for k, name in enumerate(names)}
    files = {shard: save({name: tensors[name] for name in names if where[name] == shard}) for shard in SHARDS}
    index = {"metadata": {}, "weight_map": where}
    return files | {
        "config.json": json.dumps(CONFIG).encode(),
        "model.safetensors.index.json": json.dumps(index).encode(),
    }


@pytest.fixture
def hub() -> Hub:
    """A hub with a model of three revisions, one in shards, one that has no weights, a private one and a gated one."""
    model = {"main": whole(1.0), "step0": whole(0.5), "step1000": whole(2.0)}
    bare = {"main": {"README.md": b"words", "config.json": b"{}"}}
    packed = {"main": {"small-q4.gguf": b"GGUF", "small-q8.gguf": b"GGUF"}}
    known = {"some/model": model, "some/shards": {"main": sharded()}, "some/words": bare, "some/packed": packed}
    return Hub(known, {"some/private": (401, "RepoNotFound"), "some/gated": (403, "GatedRepo")})


@pytest.fixture
def eigentoken(hub: Hub, tmp_path: Path) -> Iterator[Run]:
    """The command in a process whose hub is the stand-in, with an empty cache; ``-c`` runs Python there."""
    with serving(hub) as address:
        hidden = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN")
        given = {key: value for key, value in os.environ.items() if key not in hidden}
        given |= {
            "HF_ENDPOINT": address,
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "COLUMNS": "400",
        }

        def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, *(words if words[0] == "-c" else ("-m", "eigentoken", *words))]
            return subprocess.run(command, env=given | more, cwd=tmp_path, capture_output=True, text=True, timeout=300)

        yield run


QUICK = ("--statement", "PM-N1", "--json")


def test_each_revision_is_another_model(eigentoken: Run) -> None:
    done = eigentoken("check", "some/model", "--revisions", "step0,main,step1000", *QUICK)
    assert done.returncode == 0 and done.stderr == ""
    told = json.loads(done.stdout)
    norm = next(each for each in told["layers"][0]["numbers"] if each["quantity"] == "norm")
    assert norm["overall"] == "rises"
    low = [interval[0] for interval in norm["values"]]
    assert np.allclose([low[1] / low[0], low[2] / low[1]], 4.0)  # F is a product of two matrices that are doubled
    offline = eigentoken("check", "some/model", "--revision", "step0", *QUICK, HF_HUB_OFFLINE="1")
    assert offline.returncode == 0 and json.loads(offline.stdout)["model"]["source"] == "some/model@step0"


REFUSED = {
    "some/private": "no such repository on the hub, or a private one: check the name, log in if it is private",
    "some/absent": "no such repository on the hub, or a private one",
    "some/gated": "a gated repository of the hub: ask for access on its page, then log in",
    "some/model@step7": "the repository some/model of the hub has no branch, tag or commit 'step7'",
    "some/words": "has no weights that are read (README.md, config.json): expected model.safetensors",
    "some/packed": "has 2 GGUF files (small-q4.gguf, small-q8.gguf): download one of them and give its path",
}
LOADS = """
import sys
from eigentoken.models import ModelError, load
for name in sys.argv[1:]:
    try:
        load(name)
    except ModelError as error:
        print(error)
"""


def test_what_the_hub_refuses_is_one_line(eigentoken: Run) -> None:
    done = eigentoken("-c", LOADS, *REFUSED)
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == len(REFUSED)
    for line, (name, said) in zip(lines, REFUSED.items(), strict=True):
        assert line.startswith(f"{name}: ") and said in line
    done = eigentoken("check", "some/gated")
    assert done.returncode == 2 and done.stdout == "" and done.stderr == f"eigentoken: error: {lines[2]}\n"


def test_without_a_network(eigentoken: Run) -> None:
    done = eigentoken("-c", LOADS, "some/model", HF_HUB_OFFLINE="1")
    assert done.stdout.count("\n") == 1 and "HF_HUB_OFFLINE forbids the network" in done.stdout
    done = eigentoken("-c", LOADS, "some/model", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.stdout.count("\n") == 1 and "check the name and the network" in done.stdout


def test_a_repository_with_one_gguf_is_read(hub: Hub, eigentoken: Run, tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    pytest.importorskip("transformers")
    reference = wide_llama()
    write_gguf(tmp_path / "small.gguf", llama_arrays(reference), reference.config, "F32")
    hub.repositories["some/one"] = {
        "main": {"README.md": b"words", "small.gguf": (tmp_path / "small.gguf").read_bytes()}
    }
    shown = "import sys; from eigentoken.models import load; print(load(sys.argv[1]).describe())"
    done = eigentoken("-c", shown, "some/one")
    assert done.stdout.startswith("some/one: llama, ") and done.stderr == ""
    assert eigentoken("-c", shown, "some/one", HF_HUB_OFFLINE="1").stdout == done.stdout


def test_a_download_that_breaks_off_goes_on(hub: Hub, eigentoken: Run) -> None:
    """The second shard breaks off until the client gives up: no half is read, and the next run asks for that shard alone."""
    hub.breaks[SHARDS[1]] = 500
    done = eigentoken("-c", LOADS, "some/shards")
    assert "the next run goes on from there" in done.stdout
    done = eigentoken("-c", LOADS, "some/shards", HF_HUB_OFFLINE="1")
    assert "not in the Hugging Face cache" in done.stdout
    hub.breaks.clear()
    hub.asked.clear()
    done = eigentoken("check", "some/shards", *QUICK)
    assert done.returncode == 0, done.stderr
    downloads = [line.split("/")[-1] for line in hub.asked if line.startswith("GET") and "/resolve/" in line]
    assert downloads == [SHARDS[1]]
    whole = eigentoken("check", "some/model", *QUICK)
    layers = [json.loads(each.stdout)["layers"] for each in (done, whole)]
    assert layers[0] == layers[1]
