"""Heads on given tokens with error bounds, and PM-S3 of stored matrices: against 60 digits, never a false word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.numerics.layers.certified_attention import Balls, exact, mixed_values
from eigentoken.numerics.layers.rotary_scores import RotaryPairs
from eigentoken.numerics.layers.steering import Edit, edit_output, token_guarantees


def _heads(source: Any, count: int, width: int, d: int, size: float, biases: bool) -> list[dict[str, Any]]:
    def draw(*shape: int) -> Any:
        return (size * source.standard_normal(shape)).astype(np.float32)

    heads = []
    for _ in range(count):
        head: dict[str, Any] = {name: draw(width, d) for name in "QKV"} | {"scale": float(np.sqrt(width))}
        heads.append(head | ({f"{name}_bias": draw(width) for name in "qkv"} if biases else {}))
    return heads


def _reference(heads: list[dict[str, Any]], x: Any, allowed: Any, pairs: RotaryPairs | None) -> Any:
    """o_i by the definition, in mpmath."""
    rows = []
    tokens = mpmath.matrix(x.astype(float).tolist())
    n = len(x)

    def line(W: Any, b: Any) -> list[Any]:
        found = tokens * mpmath.matrix(W.astype(float).T.tolist())
        shift = np.zeros(len(W)) if b is None else b.astype(float)
        return [[found[i, j] + mpmath.mpf(float(shift[j])) for j in range(len(W))] for i in range(n)]

    def turn(row: list[Any], position: int) -> list[Any]:
        if pairs is None:
            return row
        out = list(row)
        for a, b, frequency in zip(pairs.first, pairs.second, pairs.frequencies, strict=True):
            angle = position * mpmath.mpf(frequency)
            out[a] = row[a] * mpmath.cos(angle) - row[b] * mpmath.sin(angle)
            out[b] = row[a] * mpmath.sin(angle) + row[b] * mpmath.cos(angle)
        return out

    for head in heads:
        q, k, v = (line(head[name], head.get(f"{name.lower()}_bias")) for name in "QKV")
        q, k = ([turn(row, position) for position, row in enumerate(each)] for each in (q, k))
        of_head = []
        for i in range(n):
            keys = [j for j in range(n) if allowed[i, j]]
            scores = [mpmath.fdot(q[i], k[j]) / mpmath.mpf(head["scale"]) for j in keys]
            sizes = [mpmath.exp(score - max(scores)) for score in scores]
            total = mpmath.fsum(sizes)
            mixed = [mpmath.fsum(s * v[j][c] for s, j in zip(sizes, keys, strict=True)) for c in range(len(head["V"]))]
            of_head.append([value / total for value in mixed])
        rows.append(of_head)
    return [[value for of_head in rows for value in of_head[i]] for i in range(n)]


@given(seed=st.integers(0, 10**6), rotary=st.booleans(), causal=st.booleans(), biases=st.booleans(), data=st.data())
def test_mixed_values_are_enclosed(seed: int, rotary: bool, causal: bool, biases: bool, data: st.DataObject) -> None:
    source = np.random.default_rng(seed)
    width, d, n = data.draw(st.sampled_from([2, 4])), data.draw(st.integers(2, 5)), data.draw(st.integers(1, 4))
    size = data.draw(st.sampled_from([1e-3, 1.0, 6.0]))
    heads = _heads(source, 2, width, d, size, biases)
    x = source.standard_normal((n, d)).astype(np.float32)
    allowed = np.tril(np.ones((n, n), dtype=bool)) if causal else np.ones((n, n), dtype=bool)
    half = width // 2
    pairs = RotaryPairs(range(half), range(half, width), [1.0, 0.01][:half]) if rotary else None
    found = mixed_values(heads, x, allowed, pairs)
    with mpmath.workdps(60):
        true = _reference(heads, x, allowed, pairs)
        for i in range(n):
            for c in range(2 * width):
                off = abs(true[i][c] - mpmath.mpf(float(found.center[i, c])))
                assert off <= mpmath.mpf(float(found.radius[i, c]))
    assert float(found.radius.max()) <= 1e-9 * (1.0 + float(np.abs(found.center).max()))


def test_scores_that_overflow_claim_nothing() -> None:
    head = {"Q": np.full((1, 1), 1e200), "K": np.full((1, 1), 1e200), "V": np.ones((1, 1)), "scale": 1.0}
    found = mixed_values([head], np.array([[1.0], [-1.0]]), np.ones((2, 2), dtype=bool))
    assert not np.isfinite(found.radius).all()
    edit = Edit(np.ones((1, 1)), np.ones(1), np.ones(1), np.ones(1), 1.0, 1.0)
    told = token_guarantees(np.ones((2, 1)), found, np.ones((1, 1)), edit)
    assert {str(each.verdict.answer) for each in told} == {"undecided"}
    assert all(each.tangent_at_most is None and each.cosine is None for each in told)


def _lengths(x: Any, o: Any, stored: Any, edit: Edit, bias: Any) -> tuple[Any, Any, Any]:
    """``|mu kappa w|``, ``|x| + |u|`` and the state after, in mpmath."""
    mu, w, row = mpmath.mpf(edit.strength), [mpmath.mpf(v) for v in edit.direction], [mpmath.mpf(v) for v in edit.row]
    mixed = [mpmath.mpf(float(v)) for v in o]
    kappa = mpmath.fdot(row, mixed)
    whole = [
        mpmath.fdot([mpmath.mpf(float(v)) for v in line], mixed) + float(b)
        for line, b in zip(stored, bias, strict=True)
    ]
    push = [a - mu * kappa * b for a, b in zip(whole, w, strict=True)]
    after = [mpmath.mpf(float(a)) + b for a, b in zip(x, whole, strict=True)]
    return abs(mu * kappa) * mpmath.norm(w), mpmath.norm([mpmath.mpf(float(v)) for v in x]) + mpmath.norm(push), after


@given(seed=st.integers(0, 10**6), strength=st.sampled_from([0.5, 3.0, 20.0, 400.0]), half=st.booleans())
def test_a_guarantee_is_true_of_the_stored_matrix(seed: int, strength: float, half: bool) -> None:
    """Words, tangent and cosine against 60 digits; the matrix is stored in float16 or float32, bias included."""
    source = np.random.default_rng(seed)
    size = 5
    O, value, w = source.standard_normal((3, size, size))
    edit = edit_output(O, value, w[0], strength)
    stored = edit.output.astype(np.float16 if half else np.float32)
    x, o, bias = source.standard_normal((6, size)), source.standard_normal((6, size)), source.standard_normal(size)
    with mpmath.workdps(60):
        for token, mixed, found in zip(x, o, token_guarantees(x, exact(o), stored, edit, bias), strict=True):
            pull, reach, after = _lengths(token, mixed, stored, edit, bias)
            assert str(found.verdict.answer) == ("holds" if pull > reach else "fails")
            assert found.verdict.margin <= abs(pull - reach)
            unit = [mpmath.mpf(v) / mpmath.norm(list(edit.direction)) for v in edit.direction]
            along = abs(mpmath.fdot(after, unit))
            low, high = found.cosine or (0.0, 0.0)
            assert low <= along / mpmath.norm(after) <= high
            if found.verdict.is_holds:
                across = mpmath.sqrt(mpmath.norm(after) ** 2 - along**2)
                assert across / along <= found.tangent_at_most


def test_at_equal_lengths_nothing_is_guaranteed() -> None:
    """``|mu kappa w| = |x| + |u|`` exactly: never holds; with a wide ball, undecided."""
    edit = Edit(np.zeros((2, 1)), np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0]), 4.0, 1.0)
    stored, x = np.array([[4.0], [1.0]]), np.array([[0.0, 3.0]])
    (tie,) = token_guarantees(x, exact([[1.0]]), stored, edit)
    assert not tie.verdict.is_holds
    assert tie.tangent_at_most is None
    (below,) = token_guarantees(x, exact([[1.0]]), stored, replace(edit, strength=3.0))
    assert below.verdict.is_fails
    (above,) = token_guarantees(x / 2, exact([[1.0]]), stored, edit)
    assert above.verdict.is_holds
    assert above.tangent_at_most == pytest.approx(2.5 / 1.5)
    (wide,) = token_guarantees(x / 2, Balls(np.ones((1, 1)), np.full((1, 1), 0.9)), stored, edit)
    assert wide.verdict.is_undecided
