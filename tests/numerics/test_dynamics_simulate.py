"""simulate: every system from its name, instances from files, repeatable seeds, and clear refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.numerics.dynamics import observables
from eigentoken.numerics.dynamics.charts import Curves, SpherePaths
from eigentoken.numerics.dynamics.simulate import OPTIONS, Simulation, simulate
from eigentoken.theory.systems.catalogue import SYSTEMS

from ..shares import others_slow

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
    assert document["schema"] == "eigentoken/simulation/2"
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


@pytest.mark.parametrize(("d", "instances"), [(3, 1), (3, 4), (4, 1), (2, 7)])
def test_tokens_on_the_circle_or_sphere_in_two_or_three_dimensions_and_curves_otherwise(d: int, instances: int) -> None:
    run = simulate("attention-flow", n=4, d=d, end=3, instances=instances, samples=11)
    panels = run.chart().panels
    assert [isinstance(panel, SpherePaths) for panel in panels] == [d in (2, 3)] + [False] * (len(panels) - 1)
    curves = [panel for panel in panels if isinstance(panel, Curves)]
    assert len(curves) == len(run.observed)
    expected = {1: [""], 4: ["start 1", "start 2", "start 3", "start 4"], 7: ["each start", *[""] * 6, "mean"]}
    assert all([curve.label for curve in panel.curves] == expected[instances] for panel in curves)
    assert np.allclose(np.asarray(curves[0].curves[0].y), np.asarray(next(iter(run.observed.values())))[:, 0])


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
        ("oja-map", {"tokens": 3}, "tokens must be a non-empty list of rows"),
        ("oja-map", {"sampels": 3}, "'sampels' is no parameter of oja-map and no option"),
        ("oja-map", {"end": -1}, "end must be a finite number above 0"),
        ({**BIPARTITE, "V": [["x", 0], [0, 1]]}, {}, "V must hold numbers"),
        ({**BIPARTITE, "tokens": [[1, 0, 0]]}, {}, "dimension 2"),
        ({key: value for key, value in BIPARTITE.items() if key != "M"}, {}, "M is missing"),
        ({"system": "nothing"}, {}, "unknown system"),
    ],
)
def test_refusals_name_the_argument(source: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(source, **options)


def test_options_are_described() -> None:
    assert all(option.meaning for option in OPTIONS)
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)


LIMITS = {
    "consensus": {"system": "oja-flow", "V": [[2, 0], [0, 1]], "tokens": [[0.6, 0.8], [0.8, 0.6]]},
    "bipartite": {**BIPARTITE, "tokens": [[0.99, 0.1], [-0.99, 0.1]]},
    "polygonal": {"system": "oja-flow", "V": [[-1, 0], [0, -1]], "tokens": [[1, 0], [-0.5, 0.8], [-0.4, -0.9]]},
    "2-cycle": {"system": "oja-map", "V": [["1/2", 0], [0, -1]], "alpha": "9/2", "tokens": [[0.1, 0.99], [0.05, 0.99]]},
    "diverging": {"system": "token-flow", "B": [[1, 0], [0, 1]], "W": [[1, 0], [0, 1]], "tokens": [[1, 0], [0.5, 1]]},
    "vanishing": {"system": "token-flow", "B": [[-1]], "W": [[1]], "tokens": [[1]]},
}
ROTATING = {
    "oja-flow": {"V": [[1, -2], [2, 1]]},
    "oja-map": {"V": [[1, -2], [2, 1]], "alpha": "3/10"},
    "attention-flow": {"V": [[1, -2], [2, 1]], "M": [[1, 0], [0, 1]]},
    "attention-map": {"V": [[1, -2], [2, 1]], "M": [[1, 0], [0, 1]], "alpha": "3/10"},
}


@pytest.mark.parametrize("kind", LIMITS)
def test_a_run_ends_in_the_limit_that_it_should(kind: str) -> None:
    run = simulate(LIMITS[kind], end=1000 if "alpha" in LIMITS[kind] else 60)
    assert run.as_dict()["first"]["kind"] == kind


@pytest.mark.parametrize("system", others_slow(ROTATING, lambda name: name != "attention-flow"))
def test_a_complex_principal_pair_keeps_rotating(system: str) -> None:
    """Case 2: consensus in the plane of the pair, and no rest; with an attracting plane in three dimensions, too."""
    run = simulate({"system": system, "tokens": [[0.6, 0.8], [1, 0], [0.8, -0.6]], **ROTATING[system]}, end=80)
    assert run.as_dict()["first"]["kind"] == "rotating pair"
    V = [[1, -2, 0], [2, 1, 0], [0, 0, -1]]
    eye = {"M": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]} if "M" in ROTATING[system] else {}
    tokens = [[0.6, 0.8, 0], [1, 0, 0], [0.8, -0.6, 0.1]]
    other = simulate({"system": system, "tokens": tokens, **ROTATING[system], "V": V, **eye}, end=120)
    assert other.as_dict()["first"]["kind"] == "rotating pair"


def test_clusters_that_differ_are_clustering() -> None:
    """Local attention that each token pays only to itself: every token keeps its own eigenvector."""
    document = {
        "system": "attention-flow",
        "V": [[1, 0], [0, 1]],
        "M": [[0, 0], [0, 0]],
        "mask": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    }
    run = simulate({**document, "tokens": [[1, 0], [0.6, 0.8], [0, 1]]}, end=5)
    assert run.as_dict()["first"] | {"motion": 0} == {"kind": "clustering", "clusters": 3, "opposite": 0, "motion": 0}


MASK = [[1, 0, 0], [1, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("oja-map", {"n": 3, "instances": 2, "alpha": 0.5, "end": 20}),
        ("attention-flow", {"n": 3, "mask": MASK, "end": 2}),
        ("ellipsoid-multihead-flow", {"n": 3, "heads": 3, "end": 2, "mask": "causal"}),
        ("causal-flow", {"n": 3, "end": 2, "certify": True}),
        (BIPARTITE, {}),
        (BIPARTITE | {"mask": "causal"}, {"end": 5}),
    ],
)
def test_a_data_file_is_read_back_as_the_run(source: Any, options: dict[str, Any], tmp_path: Path) -> None:
    run = simulate(source, **options)
    again = Simulation.load(run.save(tmp_path / "run"))
    assert again.as_dict() == run.as_dict()
    assert torch.equal(again.states, run.states)
    assert repr(again) == repr(run)
    for name, values in run.observed.items():
        assert np.array_equal(again.observed[name], values)
    arrays = np.load(tmp_path / "run.npz")
    assert all(re.fullmatch(r"run|times|states|(observable|parameter)_\w+", name) for name in arrays)
    assert json.loads(str(arrays["run"]))["schema"] == "eigentoken/simulation-data/1"


def test_single_precision_stays_single_in_the_file(tmp_path: Path) -> None:
    start = np.eye(3, dtype=np.float32)
    run = simulate("oja-flow", V=np.diag([3, 2, 1]).astype(np.float32), tokens=start, end=1)
    again = Simulation.load(run.save(tmp_path / "run.npz"))
    assert again.states.dtype is torch.float32
    assert again.as_dict() == run.as_dict()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"run": None}, "is not the data file of a simulation: it has no array run"),
        ({"states": None}, "has no array states"),
        ({"parameter_V": None}, "is not the data file of a run of oja-map: it has no parameter_V"),
        ({"run": np.array("{")}, "run"),
        (
            {"run": np.array('{"schema": "eigentoken/simulation-data/0"}')},
            "must have the schema eigentoken/simulation-data/1",
        ),
        ({"run": np.array('{"schema": "eigentoken/simulation-data/1"}')}, "must name a system and its settings"),
        ({"states": np.zeros((2, 2))}, "states must be"),
        ({"states": "nan"}, "states must be finite"),
        ({"times": "turned"}, "times increasing"),
        ({"times": np.zeros(1)}, "one for each of the times"),
    ],
)
def test_a_damaged_data_file_is_refused_in_one_line(changed: dict[str, Any], said: str, tmp_path: Path) -> None:
    arrays = dict(np.load(simulate("oja-map", n=3, end=4).save(tmp_path / "run.npz")))
    for name, value in changed.items():
        if value is None:
            del arrays[name]
        else:
            made = {"nan": lambda old: old * np.nan, "turned": lambda old: old[::-1]}
            arrays[name] = made[value](arrays[name]) if isinstance(value, str) else value
    np.savez(tmp_path / "run.npz", **arrays)
    with pytest.raises(ValueError, match=re.escape(said)) as problem:
        Simulation.load(tmp_path / "run.npz")
    assert "\n" not in str(problem.value)


def test_a_data_file_is_no_instance(tmp_path: Path) -> None:
    path = simulate("oja-map", n=3, end=4).save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match=r"Simulation\.load reads the data of a run"):
        simulate(path)


def test_distances_of_many_tokens_are_found_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(3, 9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    whole = observables.diameter(x), observables.mean_distance(x)
    for most in (1, 100):
        monkeypatch.setattr(observables, "MOST_DIFFERENCES", most)
        assert len(list(observables._distances(x))) > 1
        assert torch.allclose(observables.diameter(x), whole[0], rtol=1e-15, atol=0)
        assert torch.allclose(observables.mean_distance(x), whole[1], rtol=1e-14, atol=0)
