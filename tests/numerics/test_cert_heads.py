"""Heads through their core, the pair (W, A), and conditions at all times of an interval."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from eigentoken.numerics.adversarial import fraction_inertia
from eigentoken.numerics.certify import certify
from eigentoken.numerics.enclosures import MatrixError
from eigentoken.numerics.heads import batch_core_spectra, batch_inertia, certify_head_inertia
from eigentoken.numerics.pairs import PAIR_CONDITIONS, certify_pair
from eigentoken.numerics.recheck import recheck
from eigentoken.numerics.time_bounds import certify_formula, certify_samples

DEVICES = ["cpu"] + [f"cuda:{k}" for k in range(torch.cuda.device_count())]


def exact_inertia_of_head(q: np.ndarray, k: np.ndarray) -> tuple[int, int, int]:
    d = q.shape[1]
    qf, kf = ([[Fraction(float(v)) for v in row] for row in m] for m in (q, k))
    w = [[sum(qf[h][i] * kf[h][j] for h in range(len(qf))) for j in range(d)] for i in range(d)]
    return fraction_inertia([[w[i][j] + w[j][i] for j in range(d)] for i in range(d)])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(12))
def test_inertia_of_heads_is_exact(seed: int, device: str) -> None:
    rng = np.random.default_rng(seed)
    d_h, d = int(rng.integers(1, 4)), int(rng.integers(2, 9))
    query = rng.integers(-2, 3, size=(11, d_h, d)).astype(np.float32)
    key = rng.integers(-2, 3, size=(11, d_h, d)).astype(np.float32)
    key[1] = query[1]
    key[2] = 0.0
    key[3] = -query[3]
    query[4, 0] = 0.0
    key[5] = np.nextafter(query[5], np.float32(9))
    found = batch_inertia(torch.from_numpy(query), torch.from_numpy(key), device=device)
    for h in range(11):
        assert found[h].inertia == exact_inertia_of_head(query[h], key[h]), (h, query[h], key[h])


def test_full_rank_heads_take_the_fast_rung_and_recheck() -> None:
    rng = np.random.default_rng(0)
    query, key = (rng.standard_normal((3, 8, 40)).astype(np.float16) for _ in range(2))
    found = batch_inertia(torch.from_numpy(query), torch.from_numpy(key))
    assert [f.inertia for f in found] == [(8, 8, 24)] * 3
    assert {f.rung for f in found} == {"Cholesky of Z Z^T"}
    verdict = certify_head_inertia(query[0], key[0])
    assert verdict.details["inertia"] == [8, 8, 24] and verdict.certificate is not None
    inputs = {"Q": query[0].astype(float), "K": key[0].astype(float)}
    assert recheck(verdict.certificate, inputs).is_holds
    changed = {**inputs, "K": inputs["K"] + np.eye(8, 40)}
    assert recheck(verdict.certificate, changed).is_fails
    degenerate = query[0].copy()
    degenerate[1] = degenerate[0]
    again = certify_head_inertia(degenerate, degenerate)
    assert again.certificate is not None and again.details["inertia"] == [7, 0, 33]
    assert recheck(again.certificate, {"Q": degenerate, "K": degenerate}).is_holds
    document = again.certificate.as_dict()
    document["data"]["facts"]["positive"], document["data"]["facts"]["zero"] = 8, 32
    assert recheck(document, {"Q": degenerate, "K": degenerate}).is_fails


@pytest.mark.parametrize("device", DEVICES)
def test_core_spectra_hold_the_nonzero_spectrum(device: str) -> None:
    rng = np.random.default_rng(1)
    output = rng.standard_normal((10, 12, 4)).astype(np.float32)
    value = rng.standard_normal((10, 4, 12)).astype(np.float32)
    value[3] = 0.0
    output[4, :, 1] = output[4, :, 0]
    found = batch_core_spectra(output, value, device=device)
    for h in range(10):
        discs = found[h].discs
        assert found[h].zeros == 8
        if discs is None:
            continue
        truth = np.linalg.eigvals(output[h].astype(float) @ value[h].astype(float))
        big = truth[np.abs(truth) > 1e-3]
        for value_ in big:
            assert (np.abs(discs.centers - value_) <= discs.radii + 1e-9).any()
    assert sum(f.discs is not None for f in found) >= 8


def test_heads_refuse_bad_input() -> None:
    good = np.ones((1, 2, 8))
    for bad in (np.full((1, 2, 8), np.nan), np.full((1, 2, 8), np.inf)):
        with pytest.raises(MatrixError, match="NaN"):
            batch_inertia(bad, good)
        with pytest.raises(MatrixError, match="NaN"):
            batch_core_spectra(np.ones((1, 8, 2)), bad)
    with pytest.raises(MatrixError, match="one shape"):
        batch_inertia(good, np.ones((1, 3, 8)))
    with pytest.raises(MatrixError, match="batch"):
        batch_inertia(np.ones((2, 8)), good)
    with pytest.raises(MatrixError, match="do not fit"):
        batch_core_spectra(np.ones((1, 8, 3)), good)


@pytest.mark.parametrize("seed", range(10))
def test_the_pair_agrees_with_the_inverse_formed_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    w = rng.integers(-3, 4, size=(n, n)).astype(float)
    b = rng.integers(-3, 4, size=(n, n)).astype(float)
    if round(np.linalg.det(b)) == 0:
        assert all(not certify_pair(c, w, b).is_holds for c in PAIR_CONDITIONS)
        return
    import sympy as sp

    a = sp.Matrix(w.astype(int).tolist()) * sp.Matrix(b.astype(int).tolist()).inv()
    rows = [[str(a[i, j]) for j in range(n)] for i in range(n)]
    for condition in PAIR_CONDITIONS:
        pair, direct = certify_pair(condition, w, b), certify(condition, rows)
        assert pair.word is direct.word, (condition, w, b)
        if condition == "inertia":
            assert pair.details["inertia"] == direct.details["inertia"]
        if pair.certificate is not None and len(pair.certificate.inputs) == 2:
            assert recheck(pair.certificate, {"W": w, "B": b}).is_holds


def test_the_pair_of_rotations() -> None:
    """PH-C2 with rational rotations: A_sym < 0 and W_sym > 0, A not symmetric."""
    w = [["3/5", "-4/5"], ["4/5", "3/5"]]
    b = [["7/25", "24/25"], ["-24/25", "7/25"]]
    assert certify_pair("symmetric", w, b).is_fails
    assert certify_pair("positive-definite", w, w).is_holds  # A = I
    assert certify_pair("symmetric", w, w).is_holds
    with pytest.raises(MatrixError, match="congruence"):
        certify_pair("rank", w, b)
    with pytest.raises(MatrixError, match="square"):
        certify_pair("symmetric", [[1, 2]], b)


def test_formulas_at_all_times() -> None:
    assert certify_formula("positive-definite", [["2 + sin(t)", "1/4"], ["1/4", "exp(-t)"]], (0, 2)).is_holds
    failing = certify_formula("positive-definite", [["1 - t", "0"], ["0", "1"]], (0, 2))
    assert failing.is_fails
    assert Fraction(failing.details["time"]) > 1
    touching = certify_formula("positive-definite", [["(t - 1/3)^2", "0"], ["0", "1"]], (0, 1), pieces=200)
    assert not touching.is_holds
    rotation = [["sin(t)", "cos(t)"], ["-cos(t)", "sin(t)"]]
    assert certify_formula("norm-bound", rotation, (0, 3), bound="1.05").is_holds
    assert certify_formula("norm-bound", rotation, (0, 3), bound="0.99").is_fails
    assert not certify_formula("positive-definite", [["1/t"]], (-1, 1), pieces=50).is_holds
    for bad in ("__import__('os')", "t.real", "x", "t if t else 1", "t**t", "1 +"):
        with pytest.raises(MatrixError):
            certify_formula("positive-definite", [[bad]], (0, 1))
    with pytest.raises(MatrixError, match="interval"):
        certify_formula("positive-definite", [["1"]], (1, 0))


def test_samples_with_a_lipschitz_constant() -> None:
    one = np.eye(2)
    assert certify_samples("positive-definite", [0, 1, 2], [one, 2 * one, one], 1, (0, 2)).is_holds
    assert certify_samples("positive-definite", [0, 1, 2], [one, 2 * one, one], 3, (0, 2)).is_undecided
    assert certify_samples("positive-definite", [0, 1, 2], [one, -one, one], 1, (0, 2)).is_fails
    # a failing sample outside the interval says nothing about it
    outside = certify_samples("positive-definite", [0, 5], [2 * one, -one], "1/10", (0, 1))
    assert outside.is_holds
    # the ends of the interval are covered from the nearest sample
    assert certify_samples("positive-definite", [1], [one], 1, (0, 1)).is_undecided
    with pytest.raises(MatrixError, match="increase"):
        certify_samples("positive-definite", [1, 0], [one, one], 1, (0, 1))
    with pytest.raises(MatrixError, match="one matrix"):
        certify_samples("positive-definite", [1, 0], [one], 1, (0, 1))
