"""simulate: every system from its name, instances from files, repeatable seeds, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.numerics.dynamics.simulate import OPTIONS, simulate
from eigentoken.theory.systems import SYSTEMS

BIPARTITE = {
    "system": "attention-map",
    "V": [["1", "0"], ["0", "1/2"]],
    "M": [["ln(3)", 0], [0, "ln(3)"]],
    "alpha": "1/2",
    "tokens": [[1, 0.1], [-1, 0]],
}


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_every_system_runs_by_name(name: str) -> None:
    run = simulate(name, n=4, d=3, end=20, seed=2, samples=21)
    document = run.as_dict()
    assert document["schema"] == "eigentoken/simulation/1"
    json.dumps(document)
    assert run.states.shape[1:] == (1, 4, 3)
    assert len(run.times) == run.states.shape[0]
    assert run.chart().panels


def test_seeds_repeat_and_differ() -> None:
    first, again, other = (simulate("attention-flow", n=4, end=5, seed=s) for s in (1, 1, 2))
    assert torch.equal(first.states, again.states)
    assert not torch.equal(first.states[0], other.states[0])


def test_an_instance_file_and_its_certified_limit(tmp_path: Path) -> None:
    path = tmp_path / "bipartite.json"
    path.write_text(json.dumps(BIPARTITE))
    run = simulate(path, certify=True)
    document = run.as_dict()
    assert document["first"]["kind"] == "bipartite"
    assert document["equilibrium"]["exists"]["verdict"] == "holds"
    assert document["equilibrium"]["stable"]["verdict"] == "holds"
    saved = np.load(run.save(tmp_path / "run.npz"))
    assert saved["states"].shape[-2:] == (2, 2)
    assert saved["parameter_V"].tolist() == [[1.0, 0.0], [0.0, 0.5]]


def test_masks_change_the_run() -> None:
    full, causal = (simulate("attention-flow", n=4, end=2, seed=1, mask=mask) for mask in ("full", "causal"))
    assert not torch.allclose(full.states[-1], causal.states[-1])


def test_many_starts_are_counted_with_intervals() -> None:
    run = simulate("oja-map", n=3, d=3, instances=30, seed=1)
    counts = run.as_dict()["limits"]
    assert sum(entry["count"] for entry in counts.values()) == 30
    for entry in counts.values():
        low, high = entry["interval95"]
        assert low <= entry["count"] / 30 <= high


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("no-such-system", {}, "neither a system"),
        ("oja-map", {"tokens": 3}, "unknown option"),
        ("oja-map", {"end": -1}, "end must be positive"),
        ({**BIPARTITE, "V": [["x", 0], [0, 1]]}, {}, "V must hold numbers"),
        ({**BIPARTITE, "tokens": [[1, 0, 0]]}, {}, "dimension 2"),
        ({key: value for key, value in BIPARTITE.items() if key != "M"}, {}, "M is missing"),
        ({"system": "nothing"}, {}, "system must be one of"),
    ],
)
def test_refusals_name_the_argument(source: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(source, **options)


def test_options_are_described() -> None:
    assert all(option.meaning for option in OPTIONS)
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)
