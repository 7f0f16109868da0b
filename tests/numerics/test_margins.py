"""The certified margin of a leader (BD-E1, BD-E2): never below what the eigenvalues are, and found again by inertia."""

from __future__ import annotations

from fractions import Fraction
from time import monotonic

import mpmath as mp
import numpy as np
import pytest

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.margins import (
    certified_margin,
    inverse_step_above,
    margin_bounds,
    second_over_first_above,
)
from eigentoken.numerics.layers.skew_margin import skew_at_leader, symmetric_parts
from eigentoken.numerics.layers.token_bounds import ROOM
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.numerics.recheck.layers.margins import MARGINS, FoundMargin, factors_found, judged_margin, margin_found


def _layer(*heads: tuple[np.ndarray, np.ndarray]) -> LayerWeights:
    """Of heads with scores of their own."""
    d = len(heads[0][0])
    made = [
        {"Q": (k + 1) * np.eye(O.shape[1], d), "K": np.eye(O.shape[1], d), "V": V, "O": O, "scale": 1.0}
        for k, (O, V) in enumerate(heads)
    ]
    return LayerWeights.from_arrays(0, made)


def _with_margin(source: np.random.Generator, d: int, share: float) -> np.ndarray:
    """A matrix with ``2 kappa = share g`` and a leader on the right of 0, in units of any size."""
    S, K = source.normal(size=(d, d)), source.normal(size=(d, d))
    S, K = S + S.T, K - K.T
    values, vectors = np.linalg.eigh(S)
    size = share * (values[-1] - values[-2]) / 2 / np.linalg.norm(K @ vectors[:, -1])
    return np.asarray((S + K * size) * 2.0 ** float(source.integers(-60, 60)))


def _exactly(values: np.ndarray) -> tuple[mp.mpf, list[mp.mpc]]:
    with mp.workdps(40):
        found = sorted(mp.eig(mp.matrix(values.tolist()), left=False, right=False), key=lambda each: -mp.re(each))
        return mp.re(found[0]), found[1:]


@pytest.mark.parametrize("seed", range(24))
def test_the_bounds_hold_and_are_found_again(seed: int) -> None:
    source = np.random.default_rng(seed)
    d = int(source.integers(2, 9))
    values = _with_margin(source, d, float(source.choice([0.0, 0.5, 0.9, 0.999])))
    found = {each.statement: each for each in margin_bounds(_layer((np.eye(d), values)), ("BD-E1", "BD-E2"))}
    leader, others = _exactly(values)
    with mp.workdps(40):
        second = max(mp.mpf(0), *(mp.re(each) for each in others)) / leader
        step = max(mp.mpf(0), *((abs(each) ** 2 - leader**2) / (2 * (leader - mp.re(each))) for each in others))
        assert second <= found["BD-E1"].bound and step <= found["BD-E2"].bound
        assert abs(found["BD-E1"].measured - second) <= 1e-9 and abs(found["BD-E2"].measured - step) <= 1e-7 * leader
    for name, bound in found.items():
        again = margin_found(name, [(np.eye(d), values)])
        assert judged_margin(bound.bound, again)[0] == "holds"
        assert again is not None
        for forged in (bound.bound - again.slack, bound.bound + 2 * again.slack):  # 2^-18 of the size of the numbers
            assert judged_margin(forged, again)[0] == "fails"


def test_it_is_the_formula_of_the_statement() -> None:
    """TV-E1: the leader at least 3.87436854187, the others at most 1.12563145813."""
    values = np.array([[4.0, -0.5, 0.0], [0.5, 1.0, -1.0], [0.0, 1.0, 0.0]])
    (bound,) = margin_bounds(_layer((np.eye(3), values)), ("BD-E1",))
    low, high = 2.5 + np.sqrt(2), 2.5 - np.sqrt(2)  # g = 3, kappa = 1/2
    assert high / low <= bound.bound <= high / low * (1 + 4 * ROOM)
    margin = certified_margin(([4.0, 1.0], [4.0, 1.0]), (0.25, 0.25))
    assert margin is not None and margin[0] <= Fraction(low) and margin[0] + margin[1] == 5
    assert inverse_step_above(margin, 5.0) == pytest.approx((25 - low**2) / (4 * np.sqrt(2)), rel=1e-5)
    assert inverse_step_above(margin, float("inf")) == float("inf")


@pytest.mark.parametrize("kappa", [0.5, 0.51, 2.0])
def test_without_a_margin_there_is_no_bound(kappa: float) -> None:
    values = np.array([[1.0, -kappa], [kappa, 0.0]])
    found = margin_bounds(_layer((np.eye(2), values)), ("BD-E1", "BD-E2"))
    assert [each.statement for each in found] == ["BD-E1"]
    assert found[0].vacuous and found[0].as_dict()["bound"] is None and found[0].as_dict()["ratio"] is None
    assert margin_found("BD-E1", [(np.eye(2), values)]) is None
    assert judged_margin(0.9, None)[0] == "undecided"


def test_a_leader_on_the_left_has_no_bound() -> None:
    values = np.diag([-1.0, -3.0])
    (found,) = margin_bounds(_layer((np.eye(2), values)), ("BD-E1", "BD-E2"))
    assert found.vacuous and found.measured == 1.0 and margin_found("BD-E1", [(np.eye(2), values)]) is None
    assert second_over_first_above(None) == float("inf") and certified_margin(None, None) is None
    assert certified_margin(([1.0, 1.0], [1.0, 1.0]), (0.0, 0.0)) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_head_through_its_factors_is_as_its_matrix(seed: int) -> None:
    source = np.random.default_rng(seed)
    d, r = 12, int(source.integers(1, 4))
    V = source.normal(size=(r, d))
    O = V.T + 0.1 * source.normal(size=(d, r))
    other = (source.normal(size=(d, 2)), source.normal(size=(2, d)))
    first, second = (each for each in margin_bounds(_layer((O, V), other), ("BD-E1",)) if each.head is not None)
    whole = Enclosure.from_floats(O @ V, radius=1e-12)
    dense = second_over_first_above(certified_margin(symmetric_parts(whole), skew_at_leader(whole)))
    assert first.bound == pytest.approx(dense, rel=1e-6) or (first.vacuous and dense == float("inf"))
    real = np.sort(np.linalg.eigvals(O @ V).real)
    assert first.measured == pytest.approx(max(0.0, real[-2]) / real[-1], abs=1e-9) and first.measured <= first.bound
    again = margin_found("BD-E1", [(O, V)])
    assert (again is None) == first.vacuous and (again is None or judged_margin(first.bound, again)[0] == "holds")
    assert second.head == 1


def test_a_stated_bound_is_judged_from_both_sides() -> None:
    found = FoundMargin(0.5, 2.0**-18, 0.5 - 2.0**-21)
    assert judged_margin(0.5, found)[0] == "holds" and judged_margin(0.5 - 2.0**-22, found)[0] == "undecided"
    assert {judged_margin(each, found)[0] for each in (0.5 - 2.0**-20, 0.5 + 2.0**-17)} == {"fails"}
    assert judged_margin(None, found)[0] == "undecided" and margin_found("BD-D2", [(np.eye(2), np.eye(2))]) is None


@pytest.mark.parametrize("seed", range(12))
def test_the_factor_near_consensus_holds_and_is_found_again(seed: int) -> None:
    """BD-H1 near consensus: at least what one step of the map does to the distance there, with even weights."""
    source = np.random.default_rng(seed)
    d, r = 7, int(source.integers(1, 5))
    V = source.normal(size=(r, d))
    O = np.linalg.pinv(V) * float(source.uniform(0.2, 4)) + 0.2 * source.normal(size=(d, r))
    O += 3 * np.outer(source.normal(size=d), np.eye(r)[0]) * float(source.uniform(0, 1))
    other = (source.normal(size=(d, 2)), source.normal(size=(2, d)))
    layer = _layer((O, V), other)
    first = margin_bounds(layer, ("BD-H1",))[0]
    values = np.linalg.eigvals(O @ V)
    lead = int(np.argmax(values.real))
    sizes = np.abs(np.delete(values, lead))
    dominates = abs(values[lead].imag) < 1e-9 and values[lead].real > sizes.max()
    assert first.head == 0 and np.isfinite(first.bound) == dominates
    found = list(factors_found([(O, V)], monotonic() + 5))
    assert bool(found) == dominates
    if not dominates:
        return
    leader = float(values[lead].real)
    assert (1 + sizes.max()) / (1 + leader) <= first.bound <= (1 + sizes.max()) / (1 + leader) * (1 + 1e-5)
    assert first.measured <= first.bound < 1
    assert "holds" in {judged_margin(first.bound, each)[0] for each in found}
    too_low, too_high = (1 + sizes.max()) / (1 + leader) * (1 - 1e-8), first.bound * (1 + 2 * MARGINS["BD-H1"])
    assert {judged_margin(each, found[-1])[0] for each in (too_low, too_high)} == {"fails"}
    w = np.linalg.eig(O @ V)[1][:, lead].real

    def step(tokens: np.ndarray) -> np.ndarray:
        """One step of three tokens with even weights."""
        x = tokens.reshape(3, d)
        y = x + x.mean(0) @ V.T @ O.T
        return np.asarray((y / np.linalg.norm(y, axis=1, keepdims=True)).ravel())

    start, h = np.tile(w / np.linalg.norm(w), 3), 1e-5
    slopes = np.array([(step(start + h * each) - step(start - h * each)) / (2 * h) for each in np.eye(3 * d)])
    slowest = float(np.abs(np.linalg.eigvals(slopes)).max())
    assert slowest == pytest.approx(first.measured, rel=1e-6) and slowest <= first.bound * (1 + 1e-6)


def test_a_leader_by_real_part_alone_has_no_factor() -> None:
    """``diag(1, -2)``: the start on one side ends elsewhere, and nothing is said."""
    values = np.diag([1.0, -2.0])
    (found,) = margin_bounds(_layer((np.eye(2), values)), ("BD-H1",))
    assert found.head is None and found.vacuous and found.measured >= 0.5
    assert list(factors_found([(np.eye(2), values)], monotonic() + 5)) == []
    assert list(factors_found([(np.eye(2), np.array([[1.0, -1.0], [1.0, 1.0]]))], monotonic() + 5)) == []
    (good,) = margin_bounds(_layer((np.eye(2), np.array([[2.0, 1.0], [0.0, 1.0]]))), ("BD-H1",))
    assert good.bound == pytest.approx(2 / 3, rel=1e-5) and good.measured == pytest.approx(2 / 3)


@pytest.mark.parametrize("size", [1e-200, 1e-100, 1e150, 3e200])
def test_weights_of_any_size_give_finite_numbers(size: float) -> None:
    """Also products that no float holds: then nothing is stated of them."""
    heads = [(np.eye(3), size * np.diag([3.0, 1.0, 0.5])), (size * np.eye(3), np.diag([1.0, 2.0, 4.0]))]
    for made in (_layer(*heads), _layer((size * np.eye(3), size * np.diag([3.0, 1.0, 0.5])))):
        for each in margin_bounds(made, ("BD-E1", "BD-E2", "BD-H1")):
            assert np.isfinite(each.measured) and each.measured >= 0
            assert each.bound >= each.measured * (1 - 1e-12)
