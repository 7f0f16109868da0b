"""Re-check of points of residual attention with the norm in each place: equations of its own, forged documents refused."""

from __future__ import annotations

import copy
from typing import Any

import flint
import numpy as np
import pytest

import eigentoken as et
from eigentoken.numerics.recheck.points.point import PRECISION, Point, instance_digest
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
