"""Every kind of certificate, every field: a change is noticed, by the digest, and without it by the facts."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.numerics.certified.certificates import save, schema
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.time_bounds import certify_formula, certify_samples
from eigentoken.numerics.dynamics.equilibria import certify_equilibrium
from eigentoken.numerics.dynamics.hemisphere import in_open_hemisphere
from eigentoken.numerics.dynamics.problem import Problem
from eigentoken.numerics.layers.head_findings import head_inertia
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.language.verdicts import Certificate, Verdict
from eigentoken.theory.systems.catalogue import system

RNG = np.random.default_rng(20)
GENERAL = RNG.standard_normal((4, 4)) + np.diag([4.0, 0.0, 0.0, 0.0])
DEFINITE = GENERAL @ GENERAL.T + np.eye(4)
WIDE = RNG.standard_normal((70, 70)) / 8 + 0.05
BENT = WIDE + WIDE.T
PAIR = np.array([[1.0, 3.0, 0.0], [-3.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
Q, _ = RNG.standard_normal((2, 2, 6))  # a head whose keys are its queries: dependent rows
FORMULA = [["2 + sin(t)", "1/4"], ["1/4", "1"]]
SAMPLES = [np.diag([2.0 + k / 8, 1.0]) for k in range(5)]
TOKENS = [["1", "0", "1/3"], ["0", "1", "0"], ["1/3", "-1/4", "1"]]


def resting(part: str) -> Verdict:
    numbers = {"V": [[1, 0], [0, 0.5]], "M": [[1.1, 0], [0, 1.1]], "alpha": 0.5}
    problem = Problem(
        system("attention-map"), {name: torch.tensor(value, dtype=torch.float64) for name, value in numbers.items()}
    )
    found = certify_equilibrium(problem, torch.tensor([[1, 1e-6], [-1, 1e-6]], dtype=torch.float64))
    return found.exists if part == "exists" else found.stable


def _made() -> dict[str, tuple[Any, Any]]:
    third = Fraction(1, 3)
    return {
        "signs": (lambda: certify("positive-definite", DEFINITE), DEFINITE),
        "inertia": (lambda: certify("inertia", GENERAL, expected=(2, 2, 0)), GENERAL),
        "singular": (lambda: certify("positive-semidefinite", np.ones((3, 3))), np.ones((3, 3))),
        "leader": (lambda: certify("dominant-real-part", GENERAL), GENERAL),
        "step": (lambda: certify("dominant-step", GENERAL, alpha=third), GENERAL),
        "pair": (lambda: certify("dominant-complex-pair", PAIR, by="modulus"), PAIR),
        "tie": (lambda: certify("dominant-modulus", np.array([[0.0, 1.0], [1.0, 0.0]])), np.array([[0.0, 1], [1, 0]])),
        "gap": (lambda: certify("spectral-gap", GENERAL), GENERAL),
        "eigenvector": (lambda: certify("principal-eigenvector", GENERAL), GENERAL),
        "equality": (lambda: certify("symmetric", GENERAL), GENERAL),
        "identity": (lambda: certify("identity", np.eye(3)), np.eye(3)),
        "distance": (lambda: certify("symmetric", GENERAL, within=9), GENERAL),
        "norm": (lambda: certify("norm-bound", GENERAL, bound=9), GENERAL),
        "interval": (lambda: certify("norm-bound", GENERAL, radius=third), GENERAL),
        "rank": (lambda: certify("rank", GENERAL, expected=4), GENERAL),
        "deficient": (lambda: certify("nonsingular", np.ones((3, 3))), np.ones((3, 3))),
        "discs": (lambda: certify("spectrum", GENERAL, radius=Fraction(1, 1000)), GENERAL),
        "core-inertia": (lambda: head_inertia(np.vstack([Q, Q]), "head"), {"head.first": Q, "head.second": Q}),
        "time-formula": (lambda: certify_formula("positive-definite", FORMULA, (0, 2)), FORMULA),
        "time-samples": (lambda: certify_samples("positive-definite", range(5), SAMPLES, "1/8", (0, 4)), SAMPLES),
        "hemisphere": (lambda: in_open_hemisphere(TOKENS), TOKENS),
        "no hemisphere": (lambda: in_open_hemisphere([[1, 0], [-1, 0]]), [[1, 0], [-1, 0]]),
        "equilibrium-krawczyk": (lambda: resting("exists"), None),
        "equilibrium-lyapunov": (lambda: resting("stable"), None),
        "stored leader": (lambda: certify("dominant-real-part", WIDE), WIDE),
        "stored signs": (lambda: certify("inertia", BENT), BENT),
        "stored direction": (lambda: certify("positive-definite", BENT - np.eye(70)), BENT - np.eye(70)),
        "stored discs": (lambda: certify("spectrum", WIDE), WIDE),
        "stored eigenvector": (lambda: certify("principal-eigenvector", WIDE), WIDE),
    }


MADE = _made()


@cache
def made(name: str) -> Certificate:
    verdict = MADE[name][0]()
    assert verdict.certificate is not None, (name, verdict.reason)
    return verdict.certificate


def test_every_kind_of_the_schema_is_here() -> None:
    kinds = set(schema()["properties"]["kind"]["enum"]) - {"classification"}  # spoiled field by field beside its issuer
    assert {made(name).kind for name in MADE} == kinds


def leaves(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(node, dict | list) and node:
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(child, (*path, key))
    else:
        yield path


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return float(np.nextafter(value, np.inf))
    if isinstance(value, str):
        return ("1" if value[:1] != "1" else "2") + value[1:]
    return [1] if value is None else None


def put(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    result = copy.deepcopy(document)
    node: Any = result
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return result


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


@pytest.mark.parametrize("name", MADE)
def test_the_certificate_itself_agrees(name: str) -> None:
    again = recheck(made(name), MADE[name][1])
    assert again.is_holds, again.reason


@pytest.mark.parametrize("name", MADE)
def test_every_field_is_under_the_digest(name: str) -> None:
    document = json.loads(json.dumps(made(name).as_document()))
    count = 0
    for path in leaves(document):
        assert recheck(put(document, path, other(at(document, path))), MADE[name][1]).is_fails, path
        count += 1
    assert count > 8
    for key in set(document) - {"digest"}:
        assert recheck({k: v for k, v in document.items() if k != key}, MADE[name][1]).is_fails, key


@pytest.mark.parametrize("name", [name for name in MADE if name.startswith("stored")])
def test_every_array_is_under_its_hash(name: str, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    certificate, matrix = made(name), MADE[name][1]
    assert certificate.arrays
    path = tmp_path / "c.json"
    save(certificate, path)
    assert recheck(path, matrix).is_holds
    whole = load_file(path.with_suffix(".safetensors"))
    for array in whole:
        spoiled = {key: values.copy() for key, values in whole.items()}
        spoiled[array].flat[-1] = np.nextafter(spoiled[array].flat[-1], np.inf)
        save_file(spoiled, path.with_suffix(".safetensors"))
        assert recheck(path, matrix).is_fails, array


@pytest.mark.parametrize("name", [name for name in MADE if MADE[name][1] is not None])
def test_other_inputs_are_noticed(name: str) -> None:
    inputs = copy.deepcopy(MADE[name][1])
    if isinstance(inputs, dict):
        inputs["head.second"][0, 0] = np.nextafter(inputs["head.second"][0, 0], np.inf)
    elif isinstance(inputs, np.ndarray):
        inputs[-1, -1] = np.nextafter(inputs[-1, -1], np.inf)
    elif isinstance(inputs[0], np.ndarray):
        inputs[2][0, 0] = np.nextafter(inputs[2][0, 0], np.inf)
    else:
        inputs[0][0] = "3"
    again = recheck(made(name), inputs)
    assert again.is_fails and "certified" in again.reason


def far(text: str) -> str:
    """A number of a certificate, moved far away (hexadecimal stays hexadecimal)."""
    if "0x" in text:
        return (abs(float.fromhex(text)) * 4 + 100).hex()
    return str(abs(Fraction(text)) * 4 + 100)


def lies() -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    """Changes that make a certificate false: (which, path, new value or a function of the old one)."""
    margins = ("signs", "inertia", "leader", "step", "pair", "gap", "equality", "distance", "norm", "rank")
    for name in (*margins, "stored leader", "stored signs", "stored direction", "time-formula", "time-samples"):
        yield name, ("data", "margin"), far
    for name in (
        *margins,
        "discs",
        "eigenvector",
        "interval",
        "deficient",
        "tie",
        "identity",
        "singular",
        "stored discs",
    ):
        yield name, ("data", "slack"), "1000"
    for name in ("leader", "step", "pair", "gap", "tie", "eigenvector", "stored leader", "stored eigenvector"):
        yield name, ("data", "facts", "beta"), far
        if name != "tie":  # both eigenvalues of a tie are beyond that, and tie
            yield name, ("data", "facts", "beta"), "-1000000"
        yield name, ("data", "facts", "size"), 3 if name != "pair" else 4
    for name, kind in (("leader", "simple-pair"), ("pair", "simple-real"), ("tie", "simple-real"), ("step", "tie")):
        yield name, ("data", "facts", "kind"), kind
    for name in ("signs", "inertia", "singular", "stored signs"):
        yield name, ("data", "facts", "negative"), lambda old: old + 1
        yield name, ("data", "facts", "zero"), lambda old: old + 1
        yield name, ("data", "facts", "beyond"), "0" if name != "singular" else "5"
    yield "inertia", ("data", "options", "expected"), [1, 3, 0]
    yield "step", ("data", "options", "alpha"), "-1/3"
    yield "step", ("data", "facts", "alpha"), "-1/3"
    yield "pair", ("data", "options", "by"), "real-part"
    yield "pair", ("data", "facts", "by"), "real-part"
    yield "distance", ("data", "options", "within"), "1/1000"
    yield "norm", ("data", "options", "bound"), "1/1000"
    yield "norm", ("data", "facts", "norm_at_most"), "1/1000"
    yield "interval", ("data", "facts", "norm_at_most"), "1/1000"
    yield "interval", ("data", "facts", "norm_above"), "1000"
    yield "interval", ("data", "facts", "low"), "1000"
    yield "interval", ("data", "facts", "high"), "1/1000"
    yield "gap", ("data", "facts", "gap", 0), far
    yield "gap", ("data", "facts", "gap", 1), (0.0).hex()
    yield (
        "gap",
        ("data", "facts", "gap"),
        lambda old: [(float.fromhex(old[0]) / 4).hex(), (float.fromhex(old[1]) / 2).hex()],
    )
    yield "equality", ("data", "facts", "equal"), True
    yield "equality", ("data", "facts", "distance_above"), "1000"
    yield "identity", ("data", "facts", "equal"), False
    yield "rank", ("data", "facts", "rank"), 3
    yield "rank", ("data", "options", "expected"), 3
    yield "deficient", ("data", "facts", "rank"), 2
    for k in range(3):
        yield "discs", ("data", "facts", "discs", 0, k), far if k < 2 else (0.0).hex()
    yield "discs", ("data", "facts", "discs"), lambda old: old[:-1]
    yield "discs", ("data", "facts", "discs"), lambda old: [*old[:-1], old[0]]
    yield "eigenvector", ("data", "facts", "sine"), (0.0).hex()
    yield "eigenvector", ("data", "facts", "vector", 0), far
    yield "stored eigenvector", ("data", "facts", "sine"), (0.0).hex()
    for place in ("positive", "negative", "zero"):
        yield "core-inertia", ("data", "facts", place), lambda old: old + 1
    for name in ("signs", "leader", "discs", "rank", "norm", "equality"):
        yield name, ("data", "shape"), [5, 5]
        yield name, ("data", "terms"), [[["matrix", False], ["other", False]]]
        yield name, ("data", "unit"), "Frobenius norm"
        yield name, ("kind",), "leader" if name != "leader" else "signs"
        yield name, ("condition",), "negative-definite"
        yield name, ("verdict",), lambda old: "fails" if old == "holds" else "holds"
    yield "time-formula", ("data", "interval"), ["0", "3"]
    yield "time-formula", ("data", "formula"), [["1", "1/4"], ["1/4", "0"]]
    yield "time-formula", ("data", "pieces"), lambda old: old[1:]
    yield "time-formula", ("data", "pieces", 0, "center", 0, 0), far
    yield "time-formula", ("data", "pieces", 0, "to"), "5"
    yield "time-formula", ("data", "pieces", 0, "certificate", "data", "slack"), "0"
    yield "time-formula", ("data", "pieces", 0, "certificate", "data", "facts", "beyond"), "100"
    yield "time-samples", ("data", "lipschitz"), "100"
    yield "time-samples", ("data", "interval"), ["0", "9"]
    yield "time-samples", ("data", "pieces", 1, "sample"), 3
    yield "time-samples", ("data", "times", 2), "99"
    yield "time-samples", ("data", "pieces", 1, "certificate", "data", "slack"), "0"
    yield "hemisphere", ("data", "vector", 0), "-1000"
    yield "hemisphere", ("data", "tokens", 0, 0), "-1000"
    yield "no hemisphere", ("data", "weights", 0), "2"
    for path in (("centre", 0), ("centre", 4)):
        yield "equilibrium-krawczyk", ("data", *path), "0.3"
        yield "equilibrium-lyapunov", ("data", "equilibrium", *path), "0.3"
    yield "equilibrium-krawczyk", ("data", "cycle"), True
    yield "equilibrium-krawczyk", ("data", "radius"), "1e-60"
    yield "equilibrium-krawczyk", ("data", "radius"), "0.5"
    yield "equilibrium-krawczyk", ("data", "parameters", "V", 0, 0), far
    yield "equilibrium-krawczyk", ("verdict",), "fails"
    yield "equilibrium-lyapunov", ("data", "form", 0, 0), -1.0
    yield "equilibrium-lyapunov", ("data", "form", 0, 1), 7.0
    yield "equilibrium-lyapunov", ("data", "kind"), "flow"
    yield "equilibrium-lyapunov", ("data", "equilibrium", "parameters", "V", 1, 1), (2.0).hex()


LIES = list(lies())


@pytest.mark.parametrize("number", range(len(LIES)), ids=[f"{k}-{lie[0]}-{lie[1][-1]}" for k, lie in enumerate(LIES)])
def test_a_lie_with_a_fresh_digest_is_not_confirmed(number: int) -> None:
    """An adversary who computes all hashes again: the facts must not be confirmed."""
    name, path, value = LIES[number]
    certificate = made(name)
    document = json.loads(json.dumps(certificate.as_dict()))
    old = at(document, path)
    new = value(old) if callable(value) else value
    assert new != old
    changed = put(document, path, new)
    text = json.dumps(changed, sort_keys=True, separators=(",", ":"))
    changed["digest"] = hashlib.sha256(text.encode()).hexdigest()
    carried = {"certificate": changed, "verdict": changed["verdict"], "array_values": certificate.arrays}
    if changed["data"].get("margin") is not None and "margin" in changed["data"]:
        carried["margin"] = float.fromhex(changed["data"]["margin"])
    again = recheck(carried, None if name == "time-formula" else MADE[name][1])
    assert not again.is_holds, again.reason


@pytest.mark.parametrize("name", ["stored leader", "stored discs", "stored eigenvector"])
def test_false_arrays_with_fresh_hashes_are_not_confirmed(name: str) -> None:
    certificate = made(name)
    for array, values in certificate.arrays.items():
        if array == "row":
            continue  # any row that makes P + r r^T definite will do
        for spoiled in (np.zeros_like(values), -values, values[:-1]):
            parts = (certificate.kind, certificate.condition, certificate.verdict, certificate.inputs, certificate.data)
            again = recheck(Certificate(*parts, {**certificate.arrays, array: spoiled}), MADE[name][1])
            same = array == "vector" and np.array_equal(spoiled, -values)  # the same line
            imaginary = array == "centers_im" and spoiled.shape == values.shape and not spoiled.all()
            assert again.is_holds if same else not again.is_holds or imaginary, (array, again.reason)


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ("inertia", "inertia"),
        ("rank", "rank"),
        ("spectral-gap", "gap"),
        ("principal-eigenvector", "sine_of_angle"),
        ("principal-eigenvector", "vector"),
        ("spectrum", "discs"),
        ("dominant-modulus", "kind"),
    ],
)
def test_numbers_beside_a_certificate_are_compared_with_it(condition: str, name: str) -> None:
    document = json.loads(json.dumps(certify(condition, GENERAL).as_dict()))
    assert recheck(document, GENERAL).is_holds
    path = next(leaves(document["details"][name]))
    changed = put(document, ("details", name, *path), other(at(document["details"], (name, *path))))
    again = recheck(changed, GENERAL)
    assert again.is_fails and name in again.reason


def shown(condition: str, matrix: np.ndarray, **options: Any) -> dict[str, Any]:
    """What ``certify --json`` prints."""
    verdict = certify(condition, matrix, **options).as_dict()
    document: dict[str, Any] = json.loads(
        json.dumps({"schema": "eigentoken/verdict/3", "condition": condition, "matrix": "m.npy", **verdict})
    )
    return document


@pytest.mark.parametrize("n", [3, 90])
def test_numbers_shown_beside_a_certificate_are_held_to_the_matrix(n: int) -> None:
    """The condition, the unit, and every interval and eigenvalue of a verdict document: a false one is refused."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n)) / n
    symmetric = a + a.T + np.diag(np.linspace(1.0, 4.0, n))
    general = symmetric + np.triu(np.ones((n, n)), 1) / n
    tried = 0
    for condition, matrix, options in (
        ("positive-definite", symmetric + 4 * np.eye(n), {}),
        ("inertia", symmetric, {"radius": "1/1000000"}),
        ("norm-bound", general, {"bound": 100}),
        ("symmetric", general, {}),
        ("identity", general, {"within": 100}),
        ("dominant-real-part", general + np.diag([9.0, *[0.0] * (n - 1)]), {}),
    ):
        document = shown(condition, matrix, **options)
        if document["verdict"] == "undecided":
            continue
        assert recheck(document, matrix).is_holds, condition
        for change in ({"condition": "negative-definite"}, {"unit": "Frobenius norm"}, {"margin": None}):
            if change != {"margin": None} or document["margin"]:
                assert recheck({**document, **change}, matrix).is_fails, (condition, change)
        for details in wrong_details(document["details"]):
            tried += 1
            assert recheck({**document, "details": details}, matrix).is_fails, (condition, details)
    assert tried >= 12


def wrong_details(details: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each interval moved beside itself, to either side; the eigenvalue moved away."""
    ends = details.get("eigenvalues_of_symmetric_part", {})
    for name, (low, high) in ends.items():
        if low is not None:
            yield {**details, "eigenvalues_of_symmetric_part": {**ends, name: [abs(low) * 50 + 99, None]}}
        if high is not None:
            yield {**details, "eigenvalues_of_symmetric_part": {**ends, name: [None, -abs(high) * 50 - 99]}}
    for name in ("norm", "distance"):
        if isinstance(details.get(name), list):
            low, high = details[name]
            yield {**details, name: [high * 1.5, high * 2]}
            yield {**details, name: [low / 4, low / 2]}
    if "eigenvalue" in details:
        moved = {**details["eigenvalue"], "re": details["eigenvalue"]["re"] + 1e3}
        yield {**details, "eigenvalue": moved}
        yield {**details, "kind": "simple-pair"}


def test_true_numbers_with_slack_stand() -> None:
    """Exact ends: the zero matrix and the identity, with and without a radius, are confirmed as they are shown."""
    for matrix in (np.zeros((2, 2)), np.eye(3), -np.eye(2), np.diag([1.0, -1.0])):
        for condition in ("inertia", "positive-semidefinite", "norm-bound", "symmetric", "identity", "spectral-gap"):
            for radius in (0, "1/3"):
                document = shown(condition, matrix, radius=radius)
                if document["verdict"] != "undecided":
                    assert not recheck(document, matrix).is_fails, (condition, matrix, radius)
