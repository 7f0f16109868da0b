"""Heads through their core, the pair (W, A), and conditions at all times of an interval."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import MatrixError
from eigentoken.numerics.certified.heads import batch_core_spectra, batch_inertia, certify_head_inertia
from eigentoken.numerics.certified.pairs import PAIR_CONDITIONS, certify_pair
from eigentoken.numerics.certified.probe import BackendRefused, Probe
from eigentoken.numerics.certified.time_bounds import certify_formula, certify_samples
from eigentoken.numerics.recheck import recheck

from ..tools.adversarial_matrices import SPECTRAL_FAMILIES, fraction_inertia

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
    assert {f.rung for f in found} == {"Cholesky of Z Z^T with 32 columns"}
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


def test_the_columns_that_are_left_out_still_count() -> None:
    """Rank and NaN beyond the first 4 d_h columns are seen, and the margin is below the smallest singular value."""
    rng = np.random.default_rng(5)
    query, key = (rng.integers(-3, 4, size=(3, 2, 30)).astype(np.float32) for _ in range(2))
    key[1, :, :8] = query[1, :, :8]  # the first columns have rank 2, all together rank 4
    key[2] = 2 * query[2]
    found = batch_inertia(query, key)
    assert [f.inertia for f in found] == [exact_inertia_of_head(q, k) for q, k in zip(query, key, strict=True)]
    assert found[0].rung == "Cholesky of Z Z^T with 8 columns" and found[1].rung == "Cholesky of Z Z^T"
    assert found[2].rung.startswith("exact")
    for h in (0, 1):
        assert 0 < found[h].margin < np.linalg.svd(np.vstack([query[h], key[h]]).astype(float))[1].min()
    query[0, 1, 29] = np.nan
    with pytest.raises(MatrixError, match="query has NaN"):
        batch_inertia(query, key)


@pytest.mark.parametrize("seed", range(6))
def test_core_discs_hold_exact_eigenvalues_with_their_counts(seed: int) -> None:
    """Integer factors whose core is similar to known blocks: every eigenvalue is inside, each component counts right."""
    rng = np.random.default_rng(seed)
    cases, outputs, values = [], [], []
    while len(cases) < 18:
        case = SPECTRAL_FAMILIES["similar" if len(cases) % 3 else "jordan"](rng)
        if case.matrix.shape[0] != 4:
            continue
        left, right = _split_of_identity(rng, 4, 9)
        cases.append(case)
        values.append(case.matrix @ left)  # V = C L, O = R with L R = I: the core V O is C
        outputs.append(right)
    values[7] *= 0.0
    found = batch_core_spectra(np.array(outputs), np.array(values))
    pairs = 0
    for h, spectrum in enumerate(found):
        if spectrum.discs is None:
            assert len(cases[h].eigenvalues) < 4, "a core with distinct eigenvalues was not decided"
            continue
        discs = spectrum.discs
        truth = [(0, 0, 4)] if h == 7 else cases[h].eigenvalues
        points = [complex(re, sign * im) for re, im, m in truth for sign in ((1, -1) if im else (1,)) for _ in range(m)]
        pairs += sum(point.imag != 0 for point in points)
        assert len(points) == 4
        for point in points:
            assert (np.abs(discs.centers - point) <= discs.radii).any(), (h, point)
        for index in range(4):
            inside = discs.component(index)
            near = [p for p in points if (np.abs(discs.centers[inside] - p) <= discs.radii[inside]).any()]
            assert len(near) == len(inside), (h, inside, near)
    assert pairs > 0 and sum(s.discs is not None for s in found) >= 9


def _split_of_identity(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Integer L (n x d) and R (d x n) with L R = I."""
    left, right = np.zeros((n, d)), np.zeros((d, n))
    left[:, :n], right[:n] = np.eye(n), np.eye(n)
    left[:, n:] = rng.integers(-2, 3, size=(n, d - n))
    right[n:] = rng.integers(-2, 3, size=(d - n, n))
    right[:n] -= left[:, n:] @ right[n:]
    return left, right


def test_growth_of_the_core_discs_covers_perturbations() -> None:
    """A disc grown by ``growth * rho`` holds the eigenvalues of every core within rho (tried with real directions)."""
    rng = np.random.default_rng(3)
    output, value = rng.standard_normal((4, 20, 6)), rng.standard_normal((4, 6, 20))
    for h, spectrum in enumerate(batch_core_spectra(output, value)):
        assert spectrum.discs is not None
        core = value[h] @ output[h]
        for _ in range(40):
            direction = rng.standard_normal((6, 6))
            rho = 10.0 ** rng.uniform(-8, -2)
            moved = np.linalg.eigvals(core + rho * direction / np.linalg.norm(direction, 2))
            grown = spectrum.discs.grown(rho * (1 + 1e-9))
            for point in moved:
                assert (np.abs(grown.centers - point) <= grown.radii + 1e-12).any()


def test_heads_of_every_stored_type() -> None:
    """Read-only, reversed, integer, eight-bit and float64 heads are exact; what is not a float matrix is refused."""
    rng = np.random.default_rng(8)
    whole = rng.integers(-2, 3, size=(2, 2, 8))
    other = rng.integers(-2, 3, size=(2, 2, 8))
    truth = [exact_inertia_of_head(q, k) for q, k in zip(whole, other, strict=True)]
    fixed = whole.astype(np.float32)
    fixed.setflags(write=False)
    kinds = [fixed, whole.astype(np.int8), whole, whole.astype(">f8"), whole[:, :, ::-1][:, :, ::-1].astype(float)]
    kinds += [torch.from_numpy(whole).to(kind) for kind in (torch.float8_e4m3fn, torch.bfloat16, torch.float16)]
    kinds += [whole.tolist(), np.asfortranarray(whole.astype(float))]
    for kind in kinds:
        assert [f.inertia for f in batch_inertia(kind, other)] == truth
    backwards = whole.astype(float)[:, :, ::-1]
    assert [f.inertia for f in batch_inertia(backwards, other[:, :, ::-1])] == truth
    beyond = whole.astype(np.int64)
    beyond[0, 0, 0] = 2**60 + 1
    for bad in (whole.astype(complex), whole.astype(np.longdouble), whole.astype(str), beyond, [[[1.0, 2.0], [3.0]]]):
        with pytest.raises(MatrixError):
            batch_inertia(bad, other)


def test_a_refused_backend_decides_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Probe("numpy", 3.0, 0.1, True)
    monkeypatch.setattr("eigentoken.numerics.certified.heads.probe_numpy", lambda: bad)
    with pytest.raises(BackendRefused, match="product error 3"):
        batch_inertia(np.ones((1, 2, 8)), np.ones((1, 2, 8)))
    with pytest.raises(BackendRefused, match="product error 3"):
        batch_core_spectra(np.ones((1, 8, 2)), np.ones((1, 2, 8)))


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
    for shape in ((1, 0, 8), (1, 2, 0)):
        with pytest.raises(MatrixError, match="empty"):
            batch_inertia(np.ones(shape), np.ones(shape))
        with pytest.raises(MatrixError, match="empty"):
            batch_core_spectra(np.ones(shape).transpose(0, 2, 1), np.ones(shape))
    assert batch_inertia(np.ones((0, 2, 8)), np.ones((0, 2, 8))) == []
    assert (
        batch_core_spectra(np.full((1, 8, 2), 1e200), 1e200 * good)[0].discs is None
    )  # overflows: no disc, no warning


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
