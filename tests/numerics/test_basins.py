"""Certified basins: simulated starts obey the stated rate, vectors, and forged documents that are refused."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eigentoken.files.documents import Json
from eigentoken.numerics.basins.regions import Basin, BasinRegion
from eigentoken.numerics.basins.search import basin_of_head, basin_of_instance, factor_digests
from eigentoken.numerics.recheck.basins.documents import recheck_basin
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.algebra import LoopAlgebra

E1, E1_3 = ["1", "0"], ["1", "0", "0"]
LN3 = [["ln(3)", "0", "0"], ["0", "ln(3)", "0"], ["0", "0", "ln(3)"]]
GENERAL = [["1", "2"], ["-1", "1/2"]]
CASES: dict[str, dict[str, Any]] = {
    "half-space": {
        "system": "attention-map",
        "tokens": [E1] * 3,
        "V": [["1", "0"], ["0", "-1/2"]],
        "M": GENERAL,
        "alpha": "2",
    },
    "ball": {
        "system": "attention-map",
        "tokens": [E1_3] * 2,
        "V": [["1", "0", "0"], ["0", "1/4", "0"], ["0", "0", "-5/4"]],
        "M": LN3,
        "alpha": "1/2",
    },
    "oja": {
        "system": "oja-map",
        "tokens": [["3/5", "4/5"]] * 2,
        "V": [["9/25", "12/25"], ["12/25", "16/25"]],
        "alpha": "1/2",
    },
    "flow": {
        "system": "attention-flow",
        "tokens": [E1] * 2,
        "V": [["1", "0"], ["0", "-2"]],
        "M": [["1", "0"], ["0", "1"]],
    },
    "oja-flow": {"system": "oja-flow", "tokens": [E1] * 3, "V": [["1", "0"], ["0", "1/2"]]},
    "causal": {
        "system": "attention-map",
        "mask": "causal",
        "tokens": [E1] * 2,
        "V": [["1", "0"], ["0", "1/2"]],
        "M": GENERAL,
        "alpha": "1/3",
    },
    "cone": {
        "system": "attention-map",
        "tokens": [E1] * 2,
        "V": [["2", "1"], ["0", "1"]],
        "M": GENERAL,
        "alpha": "1/2",
    },
    "bipartite": {
        "system": "attention-map",
        "tokens": [E1, ["-1", "0"]],
        "V": [["1", "0"], ["0", "1/4"]],
        "M": [["3", "0"], ["0", "0"]],
        "alpha": "1/2",
    },
    "euclidean": {
        "system": "token-flow",
        "tokens": [["0", "0"]],
        "B": [["-1", "1/2"], ["0", "-2"]],
        "W": [["1", "0"], ["0", "1"]],
    },
}
KINDS = {
    "half-space": ["half-space", "ball", "ellipsoid"],
    "ball": ["ball", "ellipsoid"],
    "oja": ["half-space", "ball", "ellipsoid"],
    "flow": ["ball", "ellipsoid"],
    "oja-flow": ["half-space", "ball", "ellipsoid"],
    "causal": ["half-space", "ellipsoid"],
    "cone": ["cone", "ellipsoid"],
    "bipartite": ["ellipsoid"],
    "euclidean": ["ellipsoid"],
}
FLOATS = LoopAlgebra(math.exp, math.sqrt)


@pytest.fixture(scope="module")
def basins() -> dict[str, Basin]:
    return {name: basin_of_instance(case) for name, case in CASES.items()}


def document(basin: Basin) -> dict[str, Json]:
    """As it is read from a file."""
    made: dict[str, Json] = json.loads(json.dumps(basin.as_dict()))
    return made


def answer(given: dict[str, Json], weights: dict[str, Any] | None = None) -> str:
    found = recheck_basin(given, weights, time.monotonic() + 60).found
    return "fails" if any(each.answer == "fails" for each in found) else "undecided" if found else "holds"


@pytest.mark.parametrize("name", CASES)
def test_every_region_is_confirmed_by_the_second_arithmetic(name: str, basins: dict[str, Basin]) -> None:
    assert [each.kind for each in basins[name].regions] == KINDS[name]
    shown = recheck_basin(document(basins[name]), None, time.monotonic() + 60)
    assert not shown.found and not shown.not_covered()


def test_the_radii_are_those_of_the_sheet() -> None:
    """R* of three systems (PM-X2): the stated radii are 9/10 of it, rounded down."""
    vectors = {
        "0.204577914124378": {
            "V": [["1", "0", "0"], ["0", "1/4", "0"], ["0", "0", "1/8"]],
            "M": LN3,
            "alpha": "1/2",
            "tokens": [E1_3] * 2,
        },
        "0.0520050394578336": {
            "V": [["1", "0"], ["0", "-2"]],
            "M": [["1", "0"], ["0", "1"]],
            "alpha": "3/2",
            "tokens": [E1] * 2,
        },
    }
    for printed, case in vectors.items():
        ball = next(
            each for each in basin_of_instance({"system": "attention-map", **case}).regions if each.kind == "ball"
        )
        share = float(ball.rates[-1].radius) / float(printed)
        assert 0.9 - 1e-5 < share <= 0.9


def _moved(instance: Instance, x: Any) -> list[list[float]]:
    numbers = {name: _floats(value) for name, value in instance.parameters.items() if value is not None}
    rows = instance.system.advance(FLOATS, numbers, tuple(map(tuple, x)), instance.mask)
    return [[float(a) for a in row] for row in rows]


def _floats(value: Any) -> Any:
    return tuple(_floats(each) for each in value) if isinstance(value, tuple) else float(value)


def _run(instance: Instance, x: Any, seconds: float, dt: float = 0.05) -> Any:
    """A flow for so long, by the classical method of order 4."""

    def speed(state: Any) -> Any:
        return np.array(_moved(instance, state.tolist()))

    for _ in range(round(seconds / dt)):
        a = speed(x)
        b = speed(x + dt / 2 * a)
        c = speed(x + dt / 2 * b)
        x = x + dt / 6 * (a + 2 * b + 2 * c + speed(x + dt * c))
    return x


def _start(region: BasinRegion, instance: Instance, radius: float, source: np.random.Generator) -> Any:
    """A random state at most so far away, on the sphere where the system is: by halving the way to the equilibrium."""
    rest = np.array([[float(a) for a in token] for token in instance.tokens])
    away, share = source.normal(size=rest.shape), 4.0
    while True:
        x = rest + share * away
        if instance.system.space == "sphere":
            x = x / np.linalg.norm(x, axis=1, keepdims=True)
        if region.distance(x) <= radius:
            return x
        share /= 2


@pytest.mark.parametrize("name", CASES)
def test_simulated_starts_within_a_region_obey_its_rate(name: str, basins: dict[str, Basin]) -> None:
    source = np.random.default_rng(7)
    instance = basins[name].instance
    assert instance is not None
    for region in basins[name].regions:
        for stated in region.rates:
            for _ in range(2):
                x = _start(region, instance, float(stated.radius), source)
                first = region.distance(x)
                assert 0 < first <= float(stated.radius)
                for step in range(1, 6):
                    if region.discrete:
                        x = np.array(_moved(instance, x.tolist()))
                        bound = float(stated.rate) ** step
                    else:
                        x = _run(instance, x, 0.25)
                        bound = math.exp(-float(stated.rate) * 0.25 * step)
                    assert region.distance(x) <= bound * first * (1 + 1e-5) + 1e-12


# -- forgeries ----------------------------------------------------------------------------------------------------------------

Forgery = Callable[[dict[str, Any]], None]


def _each_rate(change: Callable[[dict[str, str]], None]) -> Forgery:
    def forge(made: dict[str, Any]) -> None:
        for region in made["regions"]:
            change(region["rates"][-1])

    return forge


def _larger(rate: dict[str, str]) -> None:
    rate["radius"] = str(Fraction(rate["radius"]) * 100)


def _faster(rate: dict[str, str]) -> None:
    rate["rate"] = str(Fraction(rate["rate"]) / 4)


def _exponent(rate: dict[str, str]) -> None:
    rate["rate"] = str(Fraction(rate["rate"]) * 100)


def _set(*path: Any, to: Any) -> Forgery:
    def forge(made: dict[str, Any]) -> None:
        node = made
        for part in path[:-1]:
            node = node[part]
        node[path[-1]] = to

    return forge


def fresh(made: dict[str, Any]) -> dict[str, Any]:
    """With the hash of its instance made anew."""
    text = json.dumps(made["instance"], sort_keys=True, separators=(",", ":"))
    return {**made, "instance_sha256": hashlib.sha256(text.encode()).hexdigest()}


OTHER_V = [["1", "0"], ["0", "99/100"]]
FORGED: list[tuple[str, str, Forgery]] = [
    *((name, "radius", _each_rate(_larger)) for name in CASES),
    *((name, "rate", _each_rate(_faster)) for name in ("half-space", "ball", "oja", "causal", "cone", "bipartite")),
    *((name, "exponent", _each_rate(_exponent)) for name in ("flow", "oja-flow", "euclidean")),
    *(
        (name, "matrix", _set("instance", "V", to=OTHER_V))
        for name in ("half-space", "oja-flow", "causal", "bipartite")
    ),
    ("flow", "matrix", _set("instance", "V", to=[["1", "0"], ["0", "-4"]])),
    ("cone", "matrix", _set("instance", "V", to=[["2", "1"], ["0", "19/10"]])),
    ("ball", "scores", _set("instance", "M", to=[["9", "0", "0"], ["0", "9", "0"], ["0", "0", "9"]])),
    ("half-space", "step", _set("instance", "alpha", to="1/100")),
    (
        "oja-flow",
        "system",
        _set("instance", to={**CASES["oja-flow"], "system": "attention-flow", "M": [["9", "0"], ["0", "9"]]}),
    ),
    ("oja", "system", _set("instance", "system", to="oja-flow")),
    ("flow", "equilibrium", _set("instance", "tokens", to=[["0", "1"]] * 2)),
    ("half-space", "equilibrium", _set("instance", "tokens", to=[["0", "1"]] * 3)),
    ("half-space", "equilibrium", _set("instance", "tokens", to=[["1", "0"], ["-1", "0"], ["1", "0"]])),
    ("cone", "equilibrium", _set("instance", "tokens", to=[["-1", "0"], ["1", "0"]])),
    ("bipartite", "equilibrium", _set("instance", "tokens", to=[["1", "0"], ["1", "0"]])),
    ("bipartite", "no equilibrium", _set("instance", "tokens", to=[["3/5", "4/5"], ["1", "0"]])),
    ("half-space", "statement", _set("regions", 0, "statement", to="PM-X2")),
    ("half-space", "sentence", _set("regions", 0, "says", to="every start")),
    ("half-space", "unit", _set("regions", 0, "unit", to="exponent in time")),
    ("half-space", "leader", _set("regions", 0, "facts", "leader", to=["2", "3"])),
    ("ball", "others", _set("regions", 0, "facts", "others", to=["-1/2", "1/8"])),
    ("ball", "norm", _set("regions", 0, "facts", "scores", to="1")),
    ("cone", "reach", _set("regions", 0, "facts", "reach", to="1.4")),
    ("cone", "contraction", _set("regions", 0, "facts", "contraction", to="0.4")),
    ("cone", "form", _set("regions", 0, "facts", "form", to=[[0.01, 0.0], [0.0, 0.01]])),
    ("cone", "vector", _set("regions", 0, "facts", "left", to=[0.0, 1.0])),
    (
        "bipartite",
        "shape",
        _set(
            "regions", 0, "facts", "shape", to=[["1/10000000" if i == j else "0" for j in range(4)] for i in range(4)]
        ),
    ),
    ("bipartite", "centre", _set("regions", 0, "facts", "centre", to=[["1", "0"], ["-99/100", "0"]])),
]


@pytest.mark.parametrize(
    ("name", "what", "forge"), FORGED, ids=[f"{name}-{what}-{i}" for i, (name, what, _) in enumerate(FORGED)]
)
def test_a_forged_document_with_a_fresh_hash_is_refused(
    name: str, what: str, forge: Forgery, basins: dict[str, Basin]
) -> None:
    made = copy.deepcopy(document(basins[name]))
    forge(made)
    assert answer(fresh(made)) == "fails"


def test_every_region_of_a_forged_rate_is_named(basins: dict[str, Basin]) -> None:
    made = document(basins["half-space"])
    _each_rate(_faster)(made)
    found = recheck_basin(made, None, time.monotonic() + 60).found
    assert {each.where for each in found} == {f"regions[{index}]" for index in range(3)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokens": [["3/5", "4/5"], ["1", "0"], ["1", "0"]]}, "must be an equilibrium"),
        ({"tokens": [["0", "1"]] * 3}, "must be a stable equilibrium"),
    ],
)
def test_a_point_without_a_basin_is_an_error(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        basin_of_instance({**CASES["half-space"], "V": [["1", "0"], ["0", "1/2"]], **change})


# -- heads --------------------------------------------------------------------------------------------------------------------


def _head(seed: int, k: int = 4, d: int = 12) -> tuple[Any, Any]:
    """Factors of float32 whose core has one eigenvalue ahead."""
    source = np.random.default_rng(seed)
    O, V = source.normal(size=(d, k)), source.normal(size=(k, d))
    u, w = source.normal(size=k), source.normal(size=k)
    V = V + 3 * np.outer(w, (O @ w) / np.dot(O @ w, O @ w))
    return O.astype(np.float32), (V + 0 * u[:, None]).astype(np.float32)


def _subject(O: Any, V: Any) -> Any:
    return {
        "model": "none",
        "fingerprint": "none",
        "layer": 0,
        "head": 0,
        "fold": False,
        "alpha": "1/2",
        "inputs": factor_digests(O, V),
    }


@pytest.fixture(scope="module")
def heads() -> list[tuple[Any, Any, Basin]]:
    found = []
    for seed in range(12):
        O, V = _head(seed)
        basin = basin_of_head(O, V, _subject(O, V))
        if basin.regions:
            found.append((O, V, basin))
    assert len(found) >= 4
    return found


def test_the_cone_of_a_head_is_confirmed_and_any_attention_obeys_its_rate(heads: list[tuple[Any, Any, Basin]]) -> None:
    source = np.random.default_rng(3)
    for O, V, basin in heads:
        assert answer(document(basin), {"O": O, "V": V}) == "holds"
        region = basin.regions[0]
        F, unit = O.astype(float) @ V.astype(float), np.linalg.norm
        for stated in region.rates:
            x = source.normal(size=(5, len(F)))
            x = x / unit(x, axis=1, keepdims=True)
            x = x * np.where(np.isinf([region.distance(each[None]) for each in x]), -1.0, 1.0)[:, None]
            w = _limit(region, x, F)
            while region.distance(x) > float(stated.radius):
                x = x + 0.2 * w
                x = x / unit(x, axis=1, keepdims=True)
            first = region.distance(x)
            for step in range(1, 8):
                A = source.dirichlet(np.ones(5) * 0.5, size=5)
                x = x + 0.5 * A @ x @ F.T
                x = x / unit(x, axis=1, keepdims=True)
                assert region.distance(x) <= float(stated.rate) ** step * first * (1 + 1e-9) + 1e-12


def _limit(region: BasinRegion, x: Any, F: Any) -> Any:
    """The leading direction on the side of these tokens, by the power method."""
    w = x[0]
    for _ in range(2000):
        w = w + F @ w
        w = w / np.linalg.norm(w)
    assert region.distance(w[None]) < 1e-6
    return w


def test_a_forged_head_is_refused(heads: list[tuple[Any, Any, Basin]]) -> None:
    O, V, basin = heads[0]
    weights = {"O": O, "V": V}
    for forge in (_each_rate(_larger), _each_rate(_faster), _set("head", "alpha", to="1/1000")):
        made = document(basin)
        forge(made)
        assert answer(made, weights) == "fails"
    turned = {"O": -O, "V": V}
    made = document(basin)
    made["head"]["inputs"] = factor_digests(-O, V)
    assert answer(made, turned) == "fails"
    assert answer(document(basin), turned) == "fails"
    bent = V.copy()
    bent[0] *= 3
    made["head"]["inputs"] = factor_digests(O, bent)
    assert answer(made, {"O": O, "V": bent}) == "fails"


def test_a_head_without_a_leader_ahead_has_no_region() -> None:
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    O, V = np.vstack([np.eye(2), np.zeros((2, 2))]), np.hstack([turn, np.zeros((2, 2))])
    assert not basin_of_head(O, V, _subject(O, V)).regions
    assert not basin_of_head(-O, np.hstack([np.eye(2), np.zeros((2, 2))]), _subject(O, V)).regions
