"""Enumerated, found and connected equilibria."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pytest

from eigentoken.theory.classification.certified_zeros import certify_near
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.equilibria import equilibria, template
from eigentoken.theory.classification.float_algebra import FloatSystem
from eigentoken.theory.classification.instances import Instance, InstanceError
from eigentoken.theory.classification.jacobians import ball_setting, jacobian
from eigentoken.theory.systems.catalogue import SYSTEMS


def diagonal(*entries: Any) -> list[list[Any]]:
    return [[entry if i == j else 0 for j in range(len(entries))] for i, entry in enumerate(entries)]


def test_oja_enumeration_counts() -> None:
    """Simple spectrum: d 2^n signed states; modulo permutation and sign d (1 + floor(n/2)) for small steps."""
    for n in (1, 2, 3, 4):
        listed = equilibria("oja-map", n=n, V=diagonal(2, "1/2", -1), alpha="1/4")
        assert len(listed) == 3 * (1 + n // 2)
        assert all(each.equilibrium.is_holds for each in listed)
        stable = [each.name for each in listed if each.stable.is_holds]
        assert stable == ["consensus(k=1)"]


def test_positivity_removes_equilibria() -> None:
    """PM-L1 corrected: consensus at v_k needs 1 + alpha lambda_k > 0, bipartite alpha |lambda_k (p-q)/n| < 1."""
    listed = equilibria("oja-map", n=4, V=diagonal("1/2", -1), alpha="4")
    names = {each.name for each in listed}
    # delta = 1/2 for (3, 1): alpha |lambda delta| = 1 (k=1, undefined) and 2 (k=2); (2, 2) always is one
    assert names == {"consensus(k=1)", "bipartite(k=1, p=2, q=2)", "bipartite(k=2, p=2, q=2)"}


def test_irrational_eigenvectors_stay_exact() -> None:
    listed = equilibria("attention-flow", n=3, V=[[2, 1], [1, 1]], M=diagonal("ln(3)", "ln(3)"))
    assert [each.name for each in listed] == [
        "consensus(k=1)", "consensus(k=2)", "bipartite(k=1, p=2, q=1)", "bipartite(k=2, p=2, q=1)"
    ]  # fmt: skip
    for each in listed:
        assert each.exact is not None
        assert each.equilibrium.is_holds
        assert each.linearization in {"stable", "unstable"}


def test_cubic_eigenvalues_are_certified() -> None:
    V = [[2, 1, 0], [1, 1, 1], [0, 1, -1]]
    listed = equilibria("attention-flow", n=2, V=V, M=diagonal(1, 2, 1))
    assert [each.name for each in listed][:3] == ["consensus(k=1)", "consensus(k=2)", "consensus(k=3)"]
    values = sorted(np.linalg.eigvalsh(np.array(V, dtype=float)))[::-1]
    for each in listed:
        assert each.exact is None
        assert each.equilibrium.is_holds
        assert each.k is not None
        assert each.eigenvalue == pytest.approx(values[each.k - 1], abs=1e-12)
        assert (each.stable.is_holds) == (each.k == 1 and each.kind == "consensus") or each.kind == "bipartite"


def test_repeated_eigenvalues_are_families() -> None:
    listed = equilibria("oja-flow", n=2, V=diagonal(1, 1, 0))
    assert [each.family for each in listed if each.kind == "consensus"] == [1, 0]


def test_found_equilibria_are_equilibria() -> None:
    parameters = {"V": diagonal(1, "17/10"), "M": diagonal("-4*ln(5/3)", "(4/3)*ln(3)"), "alpha": "1/10"}
    listed = equilibria("attention-map", n=3, starts=60, seed=0, **parameters)
    found = [each for each in listed if each.origin == "found"]
    assert found
    floats = FloatSystem.of(listed[0].instance)
    for each in found:
        tokens = np.array(each.tokens)
        assert np.max(np.abs(floats.advance(tokens) - tokens)) < 1e-11
        assert each.kind in {"polygonal", "clustering"}
        assert each.equilibrium.is_holds or "numerical" in each.notes[0]
    identified = [each for each in found if each.exact is not None]
    assert identified, "the clustering of TV15 has coordinates in square roots of fractions"
    assert all(classify(each.instance).kind == "clustering" for each in identified)
    json.dumps([each.as_dict() for each in listed], allow_nan=False)


def test_krawczyk_rejects_what_is_no_equilibrium() -> None:
    base = template("attention-flow", {"V": diagonal(1, "1/2"), "M": diagonal(1, 1)}, 2)
    good = certify_near(base, [[1.0, 0.0], [1.0, 1e-9]])
    assert good is not None
    assert all(token[0].contains(1) for token in good.tokens)
    family = template("ellipsoid-flow", {"P": diagonal(1, 1)}, 2)
    assert certify_near(family, [[1.0, 0.0], [1.0, 0.0]]) is None
    flipping = template("oja-map", {"V": diagonal(1, -3), "alpha": 1}, 2)
    assert certify_near(flipping, [[0.0, 1.0], [0.0, 1.0]]) is None, "1 + alpha lambda < 0: a 2-cycle"


def test_template_errors() -> None:
    with pytest.raises(InstanceError, match="V must be square"):
        equilibria("oja-flow", n=2, V=[[1, 0]])
    with pytest.raises(ValueError, match="unknown system"):
        equilibria("oja", n=2, V=[[1]])
    with pytest.raises(ValueError, match="n must be a whole number, at least 1"):
        equilibria("oja-flow", n=0, V=[[1]])


def test_graph_of_oja() -> None:
    graph = equilibria("oja-map", n=3, V=diagonal(2, "1/2", -1), alpha="1/4").connections()
    assert isinstance(graph, networkx.DiGraph)
    assert graph.graph["evidence"] == "numerical"
    assert networkx.is_directed_acyclic_graph(graph), "W decreases along the map"
    sinks = [graph.nodes[node]["name"] for node in graph if graph.out_degree(node) == 0]
    assert sinks == ["consensus(k=1)"]
    names = {(graph.nodes[a]["name"], graph.nodes[b]["name"]) for a, b in graph.edges}
    assert ("consensus(k=3)", "consensus(k=2)") in names
    for _, _, data in graph.edges(data=True):
        assert data["evidence"] == "numerical"
        assert data["drop"] > 0


def test_graph_with_two_sinks() -> None:
    graph = equilibria("attention-flow", n=3, V=diagonal(1, "1/4"), M=diagonal(2, 2)).connections()
    sinks = {data["name"] for _, data in graph.nodes(data=True) if data["stable"] == "holds"}
    assert sinks == {"consensus(k=1)", "bipartite(k=1, p=2, q=1)"}
    assert all(graph.out_degree(node) == 0 for node, data in graph.nodes(data=True) if data["stable"] == "holds")


def conformance_instance(name: str) -> Instance:
    system = SYSTEMS[name]
    matrix, scores = [["1/2", "1/3"], ["-1/5", 1]], [["1/4", -1], ["1/2", "1/3"]]
    parameters: dict[str, Any] = {"alpha": "1/3"} if system.time.value == "map" else {}
    tokens = [["3/5", "4/5"], ["5/13", "-12/13"], ["-8/17", "15/17"]]
    if system.multihead:
        names = {"value": system.value or "", "score": system.score or ""}
        parameters["heads"] = [{names["value"]: matrix, names["score"]: scores}] * 2
    else:
        parameters |= {key: matrix for key in (system.value,) if key}
        parameters |= {key: scores for key in (system.score,) if key}
    if system.metric:
        parameters[system.metric] = diagonal(1, 1)
    return Instance.of(name, tokens, **parameters)


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_float_twin_agrees_with_the_loops(name: str) -> None:
    """The batched doubles, their complex-step Jacobian, and the ball jets are one system."""
    instance = conformance_instance(name)
    floats = FloatSystem.of(instance)
    setting = ball_setting(instance, 96)
    state = np.array([[float(entry.mid()) for entry in token] for token in setting.tokens])
    image = np.array([[float(entry.mid()) for entry in token] for token in setting.advance()])
    assert np.max(np.abs(floats.advance(state) - image)) < 1e-14
    assert np.max(np.abs(floats.advance(state[None].repeat(3, axis=0)) - image)) < 1e-14
    slopes = np.array([[float(entry.mid()) for entry in row] for row in jacobian(setting)])
    assert np.max(np.abs(floats.jacobian(state) - slopes)) < 1e-13


def test_causal_twin() -> None:
    instance = replace(conformance_instance("attention-map"), mask=((1, 0, 0), (1, 1, 0), (1, 1, 1)))
    floats = FloatSystem.of(instance)
    state = np.array([[3 / 5, 4 / 5], [5 / 13, -12 / 13], [-8 / 17, 15 / 17]])
    first = state[0] + np.array([[0.5, 1 / 3], [-0.2, 1]]) @ state[0] / 3
    assert floats.advance(state)[0] == pytest.approx(first / math.hypot(*first), abs=1e-15)


def test_every_way_to_name_the_system_gives_the_same_list(tmp_path) -> None:
    wanted = [each.name for each in equilibria("oja-map", n=3, V=diagonal(2, -1), alpha="1/4")]
    document = {"system": "oja-map", "V": diagonal(2, -1), "alpha": "1/4"}
    point = {**document, "tokens": [[1, 0]] * 3}
    (tmp_path / "point.json").write_text(json.dumps(point))
    for listed in (
        equilibria(SYSTEMS["oja-map"], n=3, V=np.diag([2, -1]), alpha="1/4"),
        equilibria(document, n=3),
        equilibria(point),
        equilibria(json.dumps(point)),
        equilibria(tmp_path / "point.json"),
        equilibria(str(tmp_path / "point.json")),
        equilibria(Instance.of("oja-map", [[1, 0]] * 3, V=diagonal(2, -1), alpha="1/4")),
    ):
        assert [each.name for each in listed] == wanted
        assert listed.complete
        assert len(repr(listed).splitlines()) <= 10
        assert listed.rows()[0]["stable"] == "holds"
        assert ">consensus</td>" in listed._repr_html_()
    assert len(repr(equilibria("oja-map", n=8, V=diagonal(2, 1, -1), alpha="1/4")).splitlines()) <= 10


def test_what_is_missing_or_given_twice_is_said() -> None:
    with pytest.raises(ValueError, match="n is missing"):
        equilibria("oja-map", V=[[1]], alpha=1)
    with pytest.raises(ValueError, match="V is missing"):
        equilibria("oja-map", n=2, alpha=1)
    with pytest.raises(ValueError, match="V is given twice"):
        equilibria({"system": "oja-flow", "V": [[1]]}, n=2, V=[[1]])
    with pytest.raises(ValueError, match="system is missing"):
        equilibria({"V": [[1]]}, n=2)
    masked = equilibria("oja-flow", n=11, V=diagonal(2, -1), mask="causal")
    assert not masked.complete
