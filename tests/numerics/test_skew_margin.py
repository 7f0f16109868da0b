"""The skew part at the leader of the symmetric part: enclosed, refused where the leader is not apart, and read by BD-E1."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.layer_readings import read_layer
from eigentoken.numerics.layers.skew_margin import skew_at_leader, symmetric_parts
from eigentoken.numerics.layers.symbol_values import Answers, LayerSymbolValues, NotBound
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.terms import matrix, skew, sym
from eigentoken.theory.statements.registry import statements

F = matrix("F")


def _exact(values: np.ndarray) -> tuple[mp.mpf, list[mp.mpf]]:
    """``|K v|^2`` and the eigenvalues of the symmetric part, to 40 digits."""
    with mp.workdps(40):
        whole = mp.matrix(values.tolist())
        found, vectors = mp.eigsy((whole + whole.T) / 2)
        order = sorted(range(len(values)), key=lambda k: found[k], reverse=True)
        image = (whole - whole.T) / 2 * vectors[:, order[0]]
        return mp.fdot(image, image), [found[k] for k in order]


@pytest.mark.parametrize("seed", range(12))
def test_enclosures_hold_the_numbers_and_are_narrow(seed: int) -> None:
    source = np.random.default_rng(seed)
    size = int(source.integers(2, 9))
    values = source.normal(size=(size, size)) * 2.0 ** float(source.integers(-160, 160))
    found, parts = skew_at_leader(Enclosure.from_floats(values)), symmetric_parts(Enclosure.from_floats(values))
    square, listed = _exact(values)
    assert found is not None and parts is not None
    assert found[0] <= square <= found[1] and found[1] - found[0] <= 1e-9 * float(square)
    assert all(low <= each <= high for low, high, each in zip(*parts, listed, strict=True))


def test_everything_within_the_radius_is_covered() -> None:
    source = np.random.default_rng(3)
    values = np.diag([4.0, 1.0, 0.0]) + np.array([[0, -0.5, -0.25], [0.5, 0, -1], [0.25, 1, 0]])
    found = skew_at_leader(Enclosure.from_floats(values, radius=1e-3))
    assert found is not None
    for _ in range(20):
        moved = source.normal(size=(3, 3))
        square, _ = _exact(values + 1e-3 * moved / np.linalg.norm(moved, 2))
        assert found[0] <= square <= found[1]


def test_a_leader_that_is_not_apart_has_no_vector() -> None:
    assert skew_at_leader(Enclosure.from_floats(np.array([[1.0, -1.0], [1.0, 1.0]]))) is None
    assert skew_at_leader(Enclosure.from_floats(np.diag([1.0, 0.9]), radius=0.2)) is None
    assert skew_at_leader(Enclosure.from_floats(np.eye(1))) is None
    letters = LayerSymbolValues("test", {"F": Enclosure.from_floats(np.eye(2))})
    with pytest.raises(NotBound, match="not certainly apart"):
        letters.form_at_leader(skew(F).T * skew(F), sym(F))
    with pytest.raises(NotBound, match="not enclosed"):
        letters.form_at_leader(F, sym(F))


def _read(name: str, values: np.ndarray) -> str:
    one = np.eye(len(values))
    made = LayerWeights.from_arrays(0, [{"Q": one, "K": one, "V": values, "O": one, "scale": 1.0}])
    return str(read_layer(statements().get(name), made, Answers()).answer)


@pytest.mark.parametrize(("kappa", "answer"), [("0.499", "holds"), ("0.501", "fails")])
def test_the_margin_is_decided_on_weights(kappa: str, answer: str) -> None:
    """``F = [[1, -kappa], [kappa, 0]]`` has the gap 1: a real leader exactly for ``2 kappa < 1``."""
    values = np.array([[1.0, -float(kappa)], [float(kappa), 0.0]])
    assert _read("BD-E1", values) == answer
    real = bool(np.isreal(np.linalg.eigvals(values)).all())
    assert real == (answer == "holds")


def test_the_step_of_a_layer_is_compared_with_the_margin() -> None:
    """BD-E2 at the step 1: ``|F|^2 - mu^2 < 4 sigma``."""
    assert _read("BD-E2", np.diag([1.0, 0.5])) == "holds"
    assert _read("BD-E2", np.diag([1.0, -5.0])) == "fails"


def test_a_half_space_is_decided_on_weights() -> None:
    assert _read("BD-H1", np.array([[2.0, 1.0], [0.0, 1.0]])) == "holds"
    assert _read("BD-H1", np.diag([1.0, -2.0])) == "fails"
