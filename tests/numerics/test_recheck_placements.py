"""Re-check of points of residual attention with the norm in each place: equations of its own, forged documents refused."""

from __future__ import annotations

import copy
import math
from typing import Any

import flint
import numpy as np
import pytest

import eigentoken as et
from eigentoken.numerics.recheck.points.point import PRECISION, Point, instance_digest
from eigentoken.numerics.recheck.refutations.interval_recheck import interval_jacobian, middle
from eigentoken.theory.classification.instances import read_instance
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.placements import PLACEMENTS

AXES, ZERO, OPPOSITE = [["1", "0"]] * 2, [["0", "0"]] * 2, [["1", "0"], ["-1", "0"]]
VALUE, SCORE, NONE = [["2", "0"], ["0", "1"]], [["1", "1"], ["0", "1/2"]], [["0", "0"], ["0", "0"]]
GAIN, SECOND = [["3/2", "0"], ["0", "1/2"]], [["2", "0"], ["0", "1/3"]]
#: A point of each system; peri-norm has no equilibrium, as its push has length one before the second gain.
POINTS: dict[str, dict[str, Any]] = {
    "post-norm-map": {"V": VALUE, "M": SCORE, "G": GAIN, "alpha": "1/2", "tokens": AXES},
    "post-norm-flow": {"V": VALUE, "M": SCORE, "G": GAIN, "tokens": AXES},
    "pre-norm-map": {"V": VALUE, "M": NONE, "G": GAIN, "alpha": "1/2", "tokens": OPPOSITE},
    "pre-norm-flow": {"V": VALUE, "M": NONE, "G": GAIN, "tokens": OPPOSITE},
    "peri-norm-map": {"V": VALUE, "M": SCORE, "G": GAIN, "H": SECOND, "alpha": "1/2", "tokens": AXES},
    "peri-norm-flow": {"V": VALUE, "M": SCORE, "G": GAIN, "H": SECOND, "tokens": AXES},
    "residual-map": {"B": VALUE, "W": SCORE, "alpha": "1/2", "tokens": ZERO},
}


def _document(name: str) -> dict[str, Any]:
    return copy.deepcopy(et.classify(name, **POINTS[name]).as_dict())


def test_every_placement_has_a_point() -> None:
    assert set(POINTS) == set(PLACEMENTS)


@pytest.mark.parametrize("name", POINTS)
def test_a_classification_is_confirmed(name: str) -> None:
    found = et.recheck(_document(name))
    assert found == "holds", found


def _other_matrix(document: dict[str, Any], key: str) -> None:
    """Another matrix under a hash that fits it: the point is another one."""
    document["instance"][key] = [["1", "1"], ["1/3", "2"]]
    _hashed(document)


def _hashed(document: dict[str, Any]) -> None:
    document["instance_sha256"] = instance_digest(document["instance"])
    for part in ("equilibrium", "stable"):
        certificate = document[part].get("certificate")
        if certificate:
            certificate["inputs"]["instance"] = document["instance_sha256"]


def _no_equilibrium(document: dict[str, Any]) -> None:
    was = document["equilibrium"]["verdict"]
    document["equilibrium"]["verdict"] = "fails" if was == "holds" else "holds"


def _other_class(document: dict[str, Any]) -> None:
    document["class"] = "clustering"


def _further_key(document: dict[str, Any]) -> None:
    document["instance"]["K"] = VALUE
    _hashed(document)


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("forge", [_no_equilibrium, _other_class, _further_key], ids=lambda each: each.__name__)
def test_a_forged_document_is_refused(name: str, forge: Any) -> None:
    document = _document(name)
    forge(document)
    assert et.recheck(document) != "holds"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("post-norm-map", "G"),
        ("post-norm-flow", "G"),
        ("peri-norm-flow", "H"),
        ("peri-norm-map", "G"),
        ("residual-map", "B"),
    ],
)
def test_another_gain_is_another_point(name: str, key: str) -> None:
    document = _document(name)
    _other_matrix(document, key)
    assert et.recheck(document) == "fails"


@pytest.mark.parametrize("name", [each for each in POINTS if "post" not in each])
def test_the_jacobian_is_that_of_the_equation(name: str) -> None:
    """In Euclidean space, at tokens in general position: the closed form of the re-check against differences of the equation."""
    about = system(name)
    held = {key: value for key, value in POINTS[name].items() if key != "tokens"}
    held |= {"M": SCORE} if "M" in held else {}
    tokens = [["1", "1/2"], ["-1/3", "2"]]
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        point = Point({"system": name, "tokens": tokens, **held})
        found = point.jacobian()
        closed = np.array([[float(found[r, c].mid()) for c in range(4)] for r in range(4)])
    finally:
        flint.ctx.prec = old
    floats = {key: _number(value) for key, value in held.items()}

    def field(x: Any) -> Any:
        loops = LoopAlgebra(np.exp, np.sqrt, 1.0)
        rows = tuple(tuple(each) for each in x.reshape(2, 2))
        return np.array(about.advance(loops, floats, rows, None), dtype=float).ravel()

    at = np.array([[_number(entry) for entry in token] for token in tokens]).ravel()
    step = 1e-6
    numeric = np.stack([(field(at + step * e) - field(at - step * e)) / (2 * step) for e in np.eye(4)], axis=1)
    assert np.allclose(numeric, closed, rtol=0, atol=1e-8)


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_number(each) for each in value)
    top, _, below = value.partition("/")
    return float(top) / float(below or 1)


def test_a_token_that_is_normalised_is_not_zero() -> None:
    document = _document("pre-norm-flow")
    document["instance"]["tokens"] = ZERO
    _hashed(document)
    assert et.recheck(document) != "holds"


STATE = [["3/5", "4/5"], ["5/13", "-12/13"], ["-8/17", "15/17"]]


@pytest.mark.parametrize("name", POINTS)
def test_the_jacobian_in_intervals_is_that_of_the_equation(name: str) -> None:
    """By differences of the system's own equation, off its equilibria."""
    instance = read_instance({"system": name, **POINTS[name], "tokens": STATE, "mask": "causal"})
    image, slopes = interval_jacobian(instance)
    numbers = LoopAlgebra(math.exp, math.sqrt, 1.0)
    given = {
        each: float(value) if each == "alpha" else [[float(entry) for entry in row] for row in value]
        for each, value in instance.parameters.items()
    }
    state = np.array([[float(entry) for entry in token] for token in instance.tokens])

    def moved(flat: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.array(system(name).advance(numbers, given, flat.reshape(3, 2).tolist(), instance.mask)).ravel()

    assert np.allclose(moved(state.ravel()), [middle(entry) for token in image for entry in token], atol=1e-12)
    for place in range(6):
        step = np.zeros(6)
        step[place] = 1e-5
        column = (moved(state.ravel() + step) - moved(state.ravel() - step)) / 2e-5
        assert np.allclose(column, [middle(row[place]) for row in slopes], atol=1e-8)


def test_a_basin_of_a_post_norm_layer_is_confirmed_and_a_better_rate_is_not() -> None:
    found = et.basin("post-norm-map", V=[["3", "1"], ["0", "1"]], M=SCORE, G=GAIN, alpha="1/2", tokens=AXES)
    assert [each.kind for each in found.regions] == ["ellipsoid"]
    assert et.recheck(found) == "holds"
    forged = copy.deepcopy(found.as_dict())
    for stated in forged["regions"][0]["rates"]:
        stated["rate"] = "0.05"
    assert et.recheck(forged) != "holds"
    other = copy.deepcopy(found.as_dict())
    _other_matrix_of_a_basin(other)
    assert et.recheck(other) != "holds"


def _other_matrix_of_a_basin(document: dict[str, Any]) -> None:
    document["instance"]["G"] = [["1", "0"], ["0", "4"]]
    document["instance_sha256"] = instance_digest(document["instance"])


def test_a_refutation_about_a_point_is_confirmed_and_another_gain_is_not() -> None:
    """Consensus at the first eigenvector of V is no equilibrium with a gain that does not share it."""
    V = matrix("V")
    claim = et.Conjecture(
        "rests", "post-norm-map", (Symmetric(V), SimpleTop(V)), (Stable(ConsensusAt(V, 1)),), n=1, d=2
    )
    found = et.refute(claim, seconds=20, instances=2000)
    assert found.results[0].counterexample is not None
    assert et.recheck(found) == "holds"
    forged = copy.deepcopy(found.as_dict())
    example = forged["results"][0]["counterexample"]
    example["instance"]["G"] = [["1", "0"], ["0", "1"]]
    example["instance_sha256"] = instance_digest(example["instance"])
    assert et.recheck(forged) != "holds"
