"""An interrupted recipe goes on where it stopped: killed in the middle, with the same numbers as a run left alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.numerics.experiments import registry
from eigentoken.numerics.experiments.abella_gpt2 import embedded, passes, plain_norm
from eigentoken.numerics.experiments.checkpoints import Checkpoint, Workbench
from eigentoken.numerics.experiments.registry import Context
from eigentoken.numerics.experiments.transformer import FreshWeights, GPT2Shape


class Interrupted(Exception):
    """What stands for the end of the process inside one process."""


def test_a_checkpoint_is_whole_or_absent(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "a" / "state.npz", every=0.0)
    assert kept.load() is None
    kept.save(lambda: {"x": np.arange(3), "k": 7})
    found = kept.load()
    assert found is not None
    assert found["x"].tolist() == [0, 1, 2]
    assert int(found["k"]) == 7
    with pytest.raises(Interrupted):
        kept.save(_interrupt)
    assert kept.load() is not None  # a save that dies leaves the state before it
    (tmp_path / "a" / "state.npz").write_bytes(b"PK\x03\x04 half a file")
    assert kept.load() is None
    nothing = Checkpoint(None)
    nothing.save(_interrupt)  # is never called
    assert nothing.load() is None


def _interrupt() -> dict[str, Any]:
    raise Interrupted


def test_saves_are_rare_and_parts_are_computed_once(tmp_path: Path) -> None:
    calls: list[int] = []
    rare = Checkpoint(tmp_path / "rare.npz", every=1e6)
    rare.save(_interrupt)
    work = Workbench(tmp_path / "work")
    for _ in range(2):
        part = work.part("one", lambda: {"value": [calls.append(1) or 2.5]})
        assert part["value"].tolist() == [2.5]
    assert len(calls) == 1
    work.clear()
    work.part("one", lambda: {"value": [calls.append(1) or 2.5]})
    assert len(calls) == 2


def renewed_passes(kept: Checkpoint, stop_at: int | None = None) -> tuple[np.ndarray, list[int]]:
    """Passes with weights drawn anew each time; may be interrupted before a pass."""
    generator = torch.Generator().manual_seed(3)
    shape = GPT2Shape(2, 2, 16)
    x, fresh = embedded(["a cat and a dog and a bird"], shape, generator), FreshWeights(shape, generator, True, 0.2)
    found = kept.load()
    seen = [] if found is None else [-1] * int(found["pass"])

    def run(y: torch.Tensor) -> torch.Tensor:
        if len(seen) == stop_at:
            raise Interrupted
        seen.append(len(seen))
        return fresh.run(y)

    done = passes(run, x, 12, plain_norm, generator=generator, stop=0.0, kept=kept)
    return done.gaps, [k for k in seen if k >= 0]


@pytest.mark.parametrize("stop_at", [0, 1, 5, 11])
def test_passes_resume_to_the_same_bits(tmp_path: Path, stop_at: int) -> None:
    alone, _ = renewed_passes(Checkpoint(None))
    with pytest.raises(Interrupted):
        renewed_passes(Checkpoint(tmp_path / "state.npz", every=0.0), stop_at)
    gaps, seen = renewed_passes(Checkpoint(tmp_path / "state.npz", every=0.0))
    assert seen == list(range(stop_at, 12))
    assert np.array_equal(gaps, alone)


CHILD = """
import sys
from eigentoken.figures import run_recipes
run_recipes([sys.argv[1]], scale="quick", folder=sys.argv[2], save_every=0.0)
"""


def killed_and_resumed(name: str, folder: Path, marks: int) -> bool:
    """Start a recipe, kill -9 it once ``marks`` partial results are there, resume it; False if it ended before."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    child = subprocess.Popen([sys.executable, "-c", CHILD, name, str(folder)], env=environment)
    try:
        while child.poll() is None:
            states = list((folder / "partial").glob("*/*.npz")) if (folder / "partial").exists() else []
            if _progress(states) >= marks:
                child.send_signal(signal.SIGKILL)
                child.wait()
                break
            time.sleep(0.02)
    finally:
        child.kill()
        child.wait()
    if (folder / "results.jsonl").exists():
        return False
    subprocess.run([sys.executable, "-c", CHILD, name, str(folder)], env=environment, check=True)
    return True


def _progress(states: list[Path]) -> int:
    """How many parts are done, or how many passes the last state has seen."""
    done = 0
    for path in states:
        found = Checkpoint(path).load()
        done += 0 if found is None else int(found["pass"]) if "pass" in found else 1
    return done


@pytest.mark.slow
@pytest.mark.parametrize(("name", "marks"), [("abella-5", 1), ("abella-7", 12), ("abella-8", 5)])
def test_kill_9_in_the_middle_changes_nothing(tmp_path: Path, name: str, marks: int) -> None:
    assert killed_and_resumed(name, tmp_path / "killed", marks), "the recipe ended before it could be killed"
    list(registry.run_set([name], Context(), tmp_path / "alone"))
    documents = [json.loads((tmp_path / kind / "results.jsonl").read_text()) for kind in ("killed", "alone")]
    for document in documents:
        document.pop("seconds")
        document.pop("sha256")  # of the whole line, the seconds too
    assert documents[0] == documents[1]
    arrays = [np.load(tmp_path / kind / f"{name}.npz") for kind in ("killed", "alone")]
    assert sorted(arrays[0].files) == sorted(arrays[1].files)
    assert all(np.array_equal(arrays[0][key], arrays[1][key]) for key in arrays[0].files)
    assert not any((tmp_path / "killed" / "partial").iterdir())  # nothing is left behind


def test_another_model_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [o.resumed for o in registry.run_set(["abella-2"], Context(), tmp_path)] == [False]
    assert [o.resumed for o in registry.run_set(["abella-2"], Context(), tmp_path)] == [True]
    assert [o.resumed for o in registry.run_set(["abella-2"], Context(models=("m",)), tmp_path)] == [False]
