"""``check --heads-only`` never forms d x d and says of heads what the whole check says; layers over the back end of the lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import eigentoken as et
from eigentoken.checking import run
from eigentoken.models import ModelError
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.numerics.pool import Lost, Pool

MODEL = "examples/byte_lm/step03000.safetensors"
IDS = ("PM-N1", "PH-T4c", "AB-X1c", "AB-X2c")


def tiny(folder: Path) -> str:
    """One layer of a GPT-2 with three heads, d = 12."""
    rng, d = np.random.default_rng(3), 12
    shapes = {"attn.c_attn.weight": (d, 3 * d), "attn.c_attn.bias": (3 * d,), "attn.c_proj.weight": (d, d)}
    shapes |= {"attn.c_proj.bias": (d,), "mlp.c_fc.weight": (d, d), "mlp.c_fc.bias": (d,), "mlp.c_proj.bias": (d,)}
    shapes |= {
        "mlp.c_proj.weight": (d, d),
        "ln_1.weight": (d,),
        "ln_1.bias": (d,),
        "ln_2.weight": (d,),
        "ln_2.bias": (d,),
    }
    named = {f"h.0.{name}": shape for name, shape in shapes.items()}
    named |= {"wte.weight": (9, d), "wpe.weight": (8, d), "ln_f.weight": (d,), "ln_f.bias": (d,)}
    folder.mkdir()
    save_file({k: rng.standard_normal(s).astype(np.float32) for k, s in named.items()}, folder / "model.safetensors")
    config = {
        "model_type": "gpt2",
        "n_embd": d,
        "n_layer": 1,
        "n_head": 3,
        "n_inner": d,
        "vocab_size": 9,
        "n_positions": 8,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


@pytest.fixture(scope="module")
def whole() -> Any:
    return et.check(MODEL, statements=IDS, sequences=0)


@pytest.fixture(scope="module")
def alone() -> Any:
    return et.check(MODEL, statements=IDS, heads_only=True)


def test_no_matrix_of_the_width_is_formed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[tuple[int, ...]] = []
    init = Enclosure.__init__

    def watched(self: Enclosure, *given: Any, **named: Any) -> None:
        init(self, *given, **named)
        made.append(self.center.shape)

    def refused(self: object) -> Any:
        raise AssertionError("a d x d matrix was asked for")

    monkeypatch.setattr(Enclosure, "__init__", watched)
    for owner in (HeadWeights, LayerWeights):
        for name in ("value", "score"):
            monkeypatch.setattr(owner, name, property(refused))
    et.check(MODEL, heads_only=True, work=tmp_path, statements=IDS)
    assert made and max(min(shape) for shape in made) == 32  # twice the width of a head, of 64


def test_what_is_said_of_heads_is_what_the_whole_check_says(whole: Any, alone: Any) -> None:
    assert json.dumps(alone.document["layers"][0]["heads"]) == json.dumps(whole.document["layers"][0]["heads"])
    counts = [next(each for each in report.statements if each["id"] == "PH-T4c") for report in (alone, whole)]
    assert counts[0]["as_one_head"]["heads"] == counts[1]["as_one_head"]["heads"]
    assert counts[0]["as_one_head"]["heads"]["met as if one head"] == 10


def test_what_is_asked_of_the_sums_is_undecided(whole: Any, alone: Any) -> None:
    assert whole.answer("PM-N1") == "fails" and alone.answer("PM-N1") == "undecided"
    layer = alone.layers[0]
    assert layer["norm"] is None and layer["cases"]["real-part"] == "?"
    assert "not formed" in layer["leaders"]["real-part"]["reason"]
    assert "heads_only" not in whole.document["options"]
    assert not alone.heads.to_frame().empty and alone.layers.to_frame()["norm_low"].isna().all()
    assert alone.plot() is not None


def test_it_is_confirmed_and_a_forged_norm_is_not(tmp_path: Path) -> None:
    path = et.check(tiny(tmp_path / "tiny"), heads_only=True, statements="PM-N1").save(tmp_path / "heads.json")
    assert et.recheck(path) == "holds"
    document = json.loads(path.read_text())
    document["layers"][0]["heads"][1]["value"]["norm"] = [0.1, 0.1]
    path.write_text(json.dumps(document))
    assert et.recheck(path) == "fails"
    del document["options"]["heads_only"]  # as if F had been formed and nothing found
    path.write_text(json.dumps(document))
    assert et.recheck(path) == "fails"


def test_tokens_beside_heads_only_are_refused() -> None:
    with pytest.raises(ValueError, match="heads_only examines weights alone"):
        et.check(MODEL, heads_only=True, prompts=["To be"])


def test_a_cluster_gives_the_same_report_and_resumes(whole: Any, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    options: dict[str, Any] = {"statements": IDS, "sequences": 0, "backend": "dask", "work": tmp_path}
    with distributed.LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        shared = et.check(MODEL, address=cluster.scheduler_address, **options)
    assert shared.document == whole.document
    (log,) = tmp_path.glob("*.jsonl")
    assert len(log.read_text().splitlines()) == 4


def test_a_worker_with_other_code_or_weights_is_refused() -> None:
    with pytest.raises(ModelError, match="other code"):
        run._record_of(MODEL, 0, IDS, run._Options(), None, "0", "0")
    with pytest.raises(ModelError, match="other weights"):
        run._record_of(MODEL, 0, IDS, run._Options(), None, run.code_digest(), "0")


def test_a_layer_that_kills_its_worker_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lost(self: Pool, function: Any, tasks: Any, named: Any, *, ordered: bool) -> Any:
        assert not ordered
        yield 1, Lost(f"a worker was lost (SIGKILL): {named(tasks[1])} was given up")

    monkeypatch.setattr(Pool, "map", lost)
    with pytest.raises(ModelError, match=r"layer 1 ended its worker each time \(.*SIGKILL.*the layers that are done"):
        et.check(MODEL, statements="PM-N1", sequences=0, jobs=2, work=tmp_path, fresh=True)


def test_a_cluster_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs the address"):
        et.check(MODEL, statements="PM-N1", sequences=0, backend="dask", work=tmp_path)
    with pytest.raises(ValueError, match="leave it out beside loky"):
        Pool(1, "loky", "tcp://127.0.0.1:1")
    with pytest.raises(ValueError, match="give a path or a hub id"):
        et.check(et.load(MODEL), sequences=0, backend="dask", address="tcp://127.0.0.1:1", work=tmp_path)
