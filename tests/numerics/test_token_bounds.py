"""Bounds at given tokens: each is at least the true value (exact or by a dense Jacobian), and one that is too small is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb

from eigentoken.numerics.layers.bound_scope import BOUNDED, differences
from eigentoken.numerics.layers.certified_attention import Balls, _exponentials, exact, scores_and_weights
from eigentoken.numerics.layers.head_jacobian import jacobian_bounds, jacobian_norms, norms_above
from eigentoken.numerics.layers.token_bounds import (
    ROOM,
    Bound,
    LayerAtTokens,
    NormAtTokens,
    bounds_of_layer,
    largest_oscillation,
)
from eigentoken.proofs.bounds.heads import HeadAtTokens, centred, diameter, norm
from eigentoken.theory.statements.layer_systems import LayerSystem


def drawn(seed: int, n: int = 6, d: int = 8, width: int = 4, count: int = 2) -> tuple[list[dict[str, Any]], Any]:
    source = np.random.default_rng(seed)
    heads = [
        {
            **{name: source.normal(size=(width, d)) * 0.5 for name in "QKV"},
            "O": source.normal(size=(d, width)),
            "scale": 2.0,
            "q_bias": source.normal(size=width),
            "k_bias": source.normal(size=width),
            "v_bias": None,
        }
        for _ in range(count)
    ]
    return heads, source.normal(size=(n, d))


def dense(head: dict[str, Any], x: Any, mask: Any) -> HeadAtTokens:
    """The same head with d x d matrices, in doubles."""
    P, U = head["Q"].T @ head["K"] / head["scale"], head["O"] @ head["V"]
    return HeadAtTokens(x, P, U, head["q_bias"] @ head["K"] / head["scale"], mask)


def blocks_by_the_triangle(whole: HeadAtTokens) -> Any:
    """``a_il (|U| + |U (x_l - m_i)| |q_i|)``, and ``|U C_i P^T|`` on the diagonal."""
    means, spreads = whole.moments()
    apart = np.linalg.norm((whole.x[None] - means[:, None]) @ whole.U.T, axis=-1)
    found = whole.weights * (norm(whole.U) + apart * np.linalg.norm(whole.q, axis=1)[:, None])
    return found + np.diag([norm(whole.U @ each @ whole.P.T) for each in spreads])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_jacobian_bound_lies_between_the_norm_and_the_bound_of_the_sheet(seed: int, causal: bool) -> None:
    heads, x = drawn(seed)
    mask = np.tril(np.ones((6, 6), dtype=bool)) if causal else np.ones((6, 6), dtype=bool)
    for head in heads:
        _, weights = scores_and_weights(head, exact(x), mask, None)
        whole = dense(head, x, mask)
        assert np.allclose(whole.weights, weights.center, atol=1e-12)
        size, (bound, by_blocks) = norm(whole.jacobian()), jacobian_bounds(head, exact(x), weights)
        assert size <= bound
        (measured,) = jacobian_norms([head], x, [weights.center])
        assert measured <= size * (1 + 1e-12) and measured >= 0.97 * size
        assert whole.row_operator_bounds()[0] * (1 - 1e-12) <= bound <= whole.row_operator_bounds()[1] * (1 + 1e-9)
        assert whole.block_norm_bound() <= by_blocks <= norm(blocks_by_the_triangle(whole)) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_a_layer_hold_for_what_the_layer_does(seed: int) -> None:
    heads, x = drawn(seed)
    for causal in (False, True):
        mask = np.tril(np.ones((6, 6), dtype=bool)) if causal else np.ones((6, 6), dtype=bool)
        outputs = [dense(head, x, mask) for head in heads]
        update = sum(each.output for each in outputs)
        asked = ("BD-D2", "BD-D2b", "BD-D3", "BD-J2", "BD-J3", "BD-L1", "BD-T3", "BD-D1", "BD-H2")
        asked += ("BD-M1" if causal else "BD-R1",)
        found = bounds_of_layer(LayerAtTokens(heads, x, x, update, mask), asked)
        assert {each.statement for each in found} == set(asked)
        for each in found:
            assert each.bound >= each.measured * (1 + ROOM / 2), each
        rows = [each for each in found if each.statement in {"BD-M1", "BD-R1"}]
        assert [each.head for each in rows] == [0, 1]
        for each, whole in zip(rows, outputs, strict=True):
            assert each.measured == pytest.approx(diameter(whole.output) / diameter(x @ whole.U.T))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("causal", [False, True])
def test_bounds_from_norms_are_those_of_the_sheet(seed: int, causal: bool) -> None:
    """BD-D2b, BD-L1 with a query bias and BD-T3 with biases of queries and keys, from dense matrices in doubles."""
    heads, x = drawn(seed)
    mask = np.tril(np.ones((6, 6), dtype=bool)) if causal else np.ones((6, 6), dtype=bool)
    outputs = [dense(head, x, mask) for head in heads]
    update = sum(each.output for each in outputs)
    found = bounds_of_layer(LayerAtTokens(heads, x, x, update, mask), ("BD-D2", "BD-D2b", "BD-L1", "BD-T3"))
    O, V = np.concatenate([each["O"] for each in heads], 1), np.concatenate([each["V"] for each in heads])
    kept = max(norm(centred(each.weights)) for each in outputs)
    sharp, coarse = (next(e for e in found if e.statement == name) for name in ("BD-D2", "BD-D2b"))
    assert coarse.bound == pytest.approx(norm(O) * norm(V) * kept, rel=3 * ROOM) and coarse.bound >= sharp.bound
    radius = float(np.linalg.norm(x, axis=1).max())
    for each in (e for e in found if e.statement == "BD-L1"):
        assert each.head is not None
        assert each.bound == pytest.approx(outputs[each.head].ball_bounds(radius)[0], rel=3 * ROOM)
    for each in (e for e in found if e.statement == "BD-T3"):
        assert each.head is not None
        head = heads[each.head]
        q, k = (
            np.linalg.norm(x @ head[name].T + head[bias], axis=1).max()
            for name, bias in (("Q", "q_bias"), ("K", "k_bias"))
        )
        assert each.bound == pytest.approx(1 / (1 + 5 * np.exp(-2 * q * k / head["scale"])), rel=3 * ROOM)
        assert each.measured == pytest.approx(outputs[each.head].weights[mask.all(1)].max())


def test_a_row_of_few_keys_is_bounded_by_how_many_it_sees() -> None:
    """BD-T3 under a window of three keys: the rows that see three, not all; scores of huge size bound nothing."""
    heads, x = drawn(2)
    place = np.arange(6)
    mask = (place[None] <= place[:, None]) & (place[None] > place[:, None] - 3)
    small = [{**head, "Q": head["Q"] * 0.01, "q_bias": head["q_bias"] * 0.01} for head in heads]
    for each in bounds_of_layer(LayerAtTokens(small, x, x, np.zeros_like(x), mask), ("BD-T3",)):
        assert 1 / 3 < each.measured < each.bound < 0.5 and not each.vacuous
    huge = [{**head, "Q": head["Q"] * 1e6} for head in heads]
    for each in bounds_of_layer(LayerAtTokens(huge, x, x, np.zeros_like(x), mask), ("BD-T3",)):
        assert each.bound == 1.0 and each.vacuous


def test_blocks_rows_and_directions_at_the_ends_of_what_a_layer_may_be() -> None:
    """BD-J3, BD-D1 and BD-H2: one token, equal tokens, no scores, no values, huge scores; hulls and sinks by hand."""
    heads, x = drawn(3)
    asked = ("BD-J2", "BD-J3", "BD-D1", "BD-H2")

    def found(given: Any, x: Any) -> list[Bound]:
        mask = np.ones((len(x), len(x)), dtype=bool)
        update = sum(dense(head, x, mask).output for head in given)
        return bounds_of_layer(LayerAtTokens(given, x, x, update, mask), asked)

    for each in found(heads, x[:1]):
        if each.statement == "BD-H2":
            assert each.vacuous and each.as_dict()["bound"] is None  # no width to compare with
        elif each.statement == "BD-D1":
            assert 0 <= each.bound < 1e-9  # one row
        else:  # both are |U| for one token
            size = norm(heads[each.head or 0]["O"] @ heads[each.head or 0]["V"])
            assert size <= each.bound <= size * (1 + 2 * ROOM)
    for each in found(heads, np.repeat(x[:1], 4, axis=0)):
        assert each.statement != "BD-D1" or each.bound < 1e-9
    even = [{**head, "Q": 0 * head["Q"], "q_bias": 0 * head["q_bias"]} for head in heads]
    assert all(each.bound < 1e-9 for each in found(even, x) if each.statement == "BD-D1")
    still = [{**head, "O": 0 * head["O"]} for head in heads]
    assert all(each.bound < 1e-100 for each in found(still, x) if each.statement in {"BD-J3", "BD-H2"})
    huge = [{**head, "Q": 1e9 * head["Q"]} for head in heads]
    for each in found(huge, x):
        assert each.vacuous or each.bound >= each.measured
        assert each.statement != "BD-D1" or (each.bound == 1.0 and each.vacuous)  # two rows that look at two tokens
    pair = np.array([[1.0, 0.0], [-1.0, 0.0]])
    unit = {
        "Q": np.eye(2),
        "K": np.eye(2),
        "V": np.eye(2),
        "O": np.eye(2),
        "scale": 1.0,
        "q_bias": None,
        "k_bias": None,
    }
    plain = np.ones((2, 2), dtype=bool)
    update = np.tanh(1.0) * pair
    # weights e/(e + 1/e) and the rest: the rows are tanh(1) apart
    (variation,) = bounds_of_layer(LayerAtTokens([unit], pair, pair, update, plain), ("BD-D1",))
    assert variation.bound == pytest.approx(np.tanh(1.0), rel=2 * ROOM) and variation.measured == pytest.approx(
        np.tanh(1.0)
    )


def test_any_weights_along_a_direction_stay_below_the_bound() -> None:
    """BD-H2 without the scores: rows that all look at one token stay below it, those at both ends reach it for one head."""
    heads, x = drawn(4, count=1)
    x = x + 1.0
    plain = np.ones((6, 6), dtype=bool)
    (bound,) = bounds_of_layer(LayerAtTokens(heads, x, x, np.zeros_like(x), plain), ("BD-H2",))
    heights = x @ (heads[0]["O"] @ heads[0]["V"]).T @ x.sum(axis=0)
    chosen = np.where(np.arange(6) < 3, heights.argmax(), heights.argmin())
    update = x[chosen] @ (heads[0]["O"] @ heads[0]["V"]).T
    (reached,) = bounds_of_layer(LayerAtTokens(heads, x, x, update, plain), ("BD-H2",))
    assert bound.measured == 0.0 and reached.bound == bound.bound
    assert reached.measured == pytest.approx(bound.bound, rel=2 * ROOM) and reached.measured <= bound.bound


def test_any_weights_stay_below_the_bound_for_any_weights() -> None:
    """BD-D3 is computed without the scores: rows that all look at one token, or at the two farthest, stay below it."""
    heads, x = drawn(1)
    mask = np.ones((6, 6), dtype=bool)
    (bound,) = bounds_of_layer(LayerAtTokens(heads, x, x, np.zeros_like(x), mask), ("BD-D3",))
    source, largest = np.random.default_rng(5), 0.0
    for _ in range(200):
        update = sum(x[source.integers(0, 6, size=6)] @ (head["O"] @ head["V"]).T for head in heads)
        largest = max(largest, float(np.linalg.norm(centred(update)) / np.linalg.norm(centred(x))))
    assert bound.measured == 0.0 and 0.4 * bound.bound < largest < bound.bound


def test_a_layer_that_is_no_bilinear_softmax_is_refused_by_the_part() -> None:
    """Norms of queries and keys, caps, sinks, terms of offsets, rotary positions: named, and no bound is given."""

    def parts(name: str, **other: Any) -> list[str]:
        return [each.part for each in differences(name, LayerSystem(1, 1, **other))]

    plain = {name: parts(name) for name in BOUNDED}
    assert plain == {name: ["mask"] if name == "BD-M1" else [] for name in BOUNDED}
    assert not parts("BD-M1", mask="causal") and not parts("BD-M1", mask="causal", positions="rotary")
    assert parts("BD-R1", mask="causal", positions="rotary") == ["mask", "positions"]
    assert parts("BD-J2", positions="rotary") == ["positions"] and not parts("BD-J2", mask="causal")
    assert parts("BD-J3", positions="rotary") == ["positions"] and not parts("BD-J3", mask="causal")
    assert not parts("BD-D1", mask="causal", positions="rotary") and not parts("BD-H2", scores="scores capped at 50")
    for name in ("BD-D1", "BD-D2", "BD-J2", "BD-J3", "BD-R1"):
        assert parts(name, scores="norms of queries and keys") == ["scores"]
        assert parts(name, positions="ALiBi") == ["positions"]
    assert parts("BD-M1", mask="causal", scores="scores capped at 50") == ["scores"]
    assert not parts("BD-D3", scores="scores capped at 50", positions="relative", mask="causal")
    for name in ("BD-D1", "BD-D2", "BD-D3", "BD-H2", "BD-J2", "BD-J3", "BD-R1"):
        assert "attention" in parts(name, weights="softmax with a sink, weights that sum to less than 1")
        assert "values" in parts(name, values="a norm inside the values")
    assert parts("BD-D3", update="a norm of the update") == ["normalisation"]
    assert not parts("BD-J2", update="a norm of the update")
    assert parts("BD-N1", norm="none") == ["normalisation"]
    assert not parts("BD-N1", weights="softmax with a sink", values="a norm inside the values")


def test_norms_of_balls_contain_every_matrix_in_them() -> None:
    source = np.random.default_rng(3)
    center, radius = source.normal(size=(20, 5, 3)), np.abs(source.normal(size=(20, 5, 3))) * 1e-3
    bounds = norms_above(center, np.linalg.norm(radius, axis=(1, 2)) * (1 + 1e-12))
    for _ in range(20):
        inside = center + radius * source.choice([-1.0, 1.0], size=center.shape)
        assert (np.linalg.norm(inside, 2, axis=(1, 2)) <= bounds).all()
    assert np.isinf(norms_above(np.full((2, 2, 2), np.nan), np.zeros(2))).all()


@pytest.mark.parametrize("shape", [(3, 4, 4), (2, 30, 3), (2, 3, 30)])
@pytest.mark.parametrize(
    "values",
    [
        (1.0,),
        (1.0, 1.0 - 1e-3),
        (1.0, 1.0 - 1e-9),
        (1.0, 1.0),
        (1.0, 0.999, 0.998),
        (1.0, 0.9999, 0.9995, 0.999),
        (0.0,),
    ],
)
def test_norms_are_close_from_above_however_the_singular_values_lie(
    shape: tuple[int, int, int], values: tuple[float, ...]
) -> None:
    """Close, equal and vanishing leaders, in sizes up to the ends of the floats; the exact norm is known."""
    source, (count, k, columns) = np.random.default_rng(8), shape
    small = min(k, columns)
    singular = np.array([*values, *np.linspace(0.1, 0.2, small)])[:small]
    singular *= 1.0 if values[0] else 0.0
    stack = []
    for _ in range(count):
        left, right = (np.linalg.qr(source.normal(size=(size, small)))[0] for size in (k, columns))
        stack.append(left * singular @ right.T)
    for size in (1.0, 2.0**500, 2.0**-500, 2.0**1000):
        found = norms_above(np.array(stack) * size, np.zeros(count))
        exact_norms = np.linalg.norm(np.array(stack), 2, axis=(1, 2))
        assert (found / size >= exact_norms * (1 - 1e-15)).all()
        assert (found <= exact_norms * size * (1 + 1e-7) + 1e-150).all()


def test_norms_of_an_exact_matrix_are_not_below_it() -> None:
    """diag(3, 4), and the matrix of ones whose norm is exactly its size."""
    assert 4.0 <= float(norms_above(np.diag([3.0, 4.0])[None], np.zeros(1))[0]) <= 4.0 * (1 + 1e-12)
    assert 16.0 <= float(norms_above(np.ones((1, 16, 16)), np.zeros(1))[0]) <= 16.0 * (1 + 1e-12)


def test_exponentials_are_within_their_promise_of_arb() -> None:
    source = np.random.default_rng(2)
    values = -np.concatenate(
        [source.uniform(0, 2, 500), source.uniform(0, 700, 500), np.arange(65) / 128, [0.0, 1e-300]]
    )
    for value, found in zip(values, _exponentials(values), strict=True):
        true = arb(float(value)).exp()
        assert abs(arb(float(found)) - true) <= true * arb(2.0**-50) + arb(2.0**-1022)
    assert list(_exponentials(np.array([[-np.inf, 0.0], [-900.0, -745.2]]))[0]) == [0.0, 1.0]
    assert np.isnan(_exponentials(np.array([np.nan]))).all()


def test_the_oscillation_of_wide_scores_is_not_below_that_of_their_middles() -> None:
    scores = Balls(np.array([[0.0, 1.0], [2.0, -1.0]]), np.full((2, 2), 0.25))
    assert largest_oscillation(scores) >= 4.0 + 4 * 0.25


def test_the_radius_after_a_norm_is_that_of_the_sheet() -> None:
    """TV-N1: LayerNorm with g = (3, 4) has R = 5; without centring 4 sqrt(2)."""
    out = np.zeros((1, 2))
    assert NormAtTokens(np.array([3.0, 4.0]), None, True, out).bound().bound == pytest.approx(5.0, rel=2 * ROOM)
    assert NormAtTokens(np.array([3.0, 4.0]), None, True, out).bound().bound >= 5.0
    assert NormAtTokens(np.array([3.0, 4.0]), None, False, out).bound().bound == pytest.approx(4 * 2**0.5, rel=2 * ROOM)
    assert NormAtTokens(np.array([3.0, 4.0]), np.array([1.0, 0.0]), False, out).bound().bound >= 4 * 2**0.5 + 1


def test_a_bound_says_when_it_says_nothing() -> None:
    assert Bound("BD-D2", None, 1.0, 0.3, 1.0).vacuous
    assert not Bound("BD-D2", None, 0.99, 0.3, 1.0).vacuous
    lost = Bound("BD-J2", 0, float("inf"), 2.0)
    assert lost.vacuous and lost.as_dict()["bound"] is None and lost.as_dict()["ratio"] is None
    assert Bound("BD-J2", 0, 4.0, 2.0).as_dict()["ratio"] == 2.0
