"""Against chance: the statistics are what they say, the nulls are uniform, the correction is right, and trained heads differ."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import eigentoken as et
from eigentoken.models import load
from eigentoken.numerics.layers import chance, chance_draws, chance_statistics, chance_turned
from eigentoken.schemas import schema

from ..commands import here
from ..documents import validate

SAVED = Path(__file__).resolve().parents[2] / "examples" / "byte_lm"


def test_the_statistics_are_those_of_the_whole_matrix() -> None:
    """Through the factors, narrow and wide, as from the matrix itself."""
    source = np.random.default_rng(3)
    for width, d in ((3, 7), (7, 7), (9, 5), (3, 7), (6, 6), (4, 5)):
        left, right = source.standard_normal((2, width, d))
        M, rank = left.T @ right, min(width, d)
        found = chance_statistics.spectral_statistics(left, right)
        size = np.linalg.norm(M)
        assert found["trace"] == pytest.approx(np.trace(M) / (np.sqrt(rank) * size))
        assert found["asymmetry"] == pytest.approx(np.linalg.norm(M - M.T) / 2 / size)
        assert found["stable rank"] == pytest.approx(size**2 / np.linalg.norm(M, 2) ** 2 / rank)
        values = np.linalg.eigvals(M)
        top = values.real.max() if width >= d else np.sort(values.real[np.abs(values) > 1e-9])[-1]
        assert found["leader"] == pytest.approx(top / np.abs(values).max())
        signs = np.linalg.eigvalsh(M + M.T)
        if 2 * width > d:
            assert found["positive share"] == (signs > 0).mean()
        else:  # three of each sign and a zero, whatever the entries are
            assert "positive share" not in found and (np.abs(signs) > 1e-9).sum() == 6 == 2 * (signs > 1e-9).sum()
        size = np.linalg.norm(M, 2)
        assert found["top of sym"] == pytest.approx(max(signs) / 2 / size)
        assert found["bottom of sym"] == pytest.approx(min(signs) / 2 / size)
        assert found["norm"] == pytest.approx(width * size / np.linalg.norm(left) / np.linalg.norm(right))
        down = np.sort(values.real)[::-1]
        assert found["gap"] == pytest.approx((down[0] - down[1]) / size, abs=1e-9)
        led = [z for z in values if z.real == down[0]]
        if len(led) == 1 and down[0] > 0:  # else alpha* is not defined
            steps = [2 * (down[0] - z.real) / (abs(z) ** 2 - down[0] ** 2) for z in values if abs(z) > down[0] + 1e-9]
            x = min(steps, default=np.inf) * size
            assert found["alpha*"] == pytest.approx(x / (1 + x) if np.isfinite(x) else 1.0)
        else:
            assert "alpha*" not in found
        again = chance_statistics.spectral_statistics(5 * left, 0.01 * right)
        assert again == pytest.approx(found)
    assert chance_statistics.spectral_statistics(np.zeros((3, 7)), right[:3].repeat(2, 1)[:, :7]) == {}
    assert chance_statistics.spectral_statistics(np.full((3, 7), np.nan), np.ones((3, 7))) == {}


def test_the_frames_are_uniform() -> None:
    """Haar: the entries of B^T A have mean 0, also on the diagonal (a plain QR has not), and mean square 1/d."""
    null = chance_draws.draw_null(4, 10, 6000, 0)
    error = 5 / np.sqrt(6000 * 10)
    assert np.abs(null.frames.mean(axis=0)).max() < error
    assert np.abs((null.frames**2).mean(axis=0) * 10 - 1).max() < 5 * np.sqrt(2 / 6000)
    assert abs(null.gaussian["trace"].mean()) < 5 * null.gaussian["trace"].std() / np.sqrt(6000)
    same = chance_draws.draw_null(4, 10, 6000, 0, whole=True)
    assert np.array_equal(same.gaussian["trace"], null.gaussian["trace"])
    assert not np.array_equal(chance_draws.draw_null(4, 10, 50, 1).gaussian["trace"], null.gaussian["trace"][:50])


def test_p_values_and_their_correction() -> None:
    draws = np.arange(99, dtype=float)
    assert chance.p_values(1000.0, draws) == chance.p_values(-1.0, draws) == pytest.approx(2 / 100)
    assert chance.p_values(49.0, draws) == 1.0
    p = np.array([0.001, 0.2, 0.011, 0.9, 0.03])
    expected = [min(p[j] * 5 / (1 + np.count_nonzero(p < p[j])) for j in range(5) if p[j] >= p[i]) for i in range(5)]
    assert chance.benjamini_hochberg(p).tolist() == pytest.approx(expected)
    for wrong in ([0.0, 0.5], [1.5], [-0.1]):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            chance.benjamini_hochberg(np.array(wrong))


def test_random_heads_look_random_and_the_level_is_kept() -> None:
    """Of 300 Gaussian heads about a twentieth has p <= 0.05; a symmetric head, P = Q^T Q, has the smallest p there is."""
    null, source = chance_draws.draw_null(4, 12, 999, 0), np.random.default_rng(8)
    small = 0
    for _ in range(300):
        found = chance.held_against(*source.standard_normal((2, 4, 12)), null)
        assert {each.null for each in found} == {"gaussian factors", "random bases"}
        small += sum(each.p <= 0.05 for each in found if (each.statistic, each.null) == ("trace", "gaussian factors"))
    assert 2 <= small <= 30
    Q = source.standard_normal((4, 12))
    for each in chance.held_against(Q, Q, null):
        if each.statistic in ("trace", "asymmetry"):
            assert each.p == pytest.approx(2 / 1000) and abs(each.z) > 3


def test_gap_and_alpha_star_against_random_bases() -> None:
    """The draws of ``A diag(s) B^T`` have the gap and alpha* of the whole matrix; of scores neither is asked."""
    null, s = chance_draws.draw_null(3, 8, 60, 0), np.array([3.0, 2.0, 1.0])
    drawn = null.with_bases(s, 8)
    source = np.random.default_rng([0, 3, 8])
    left, right = source.standard_normal((2, 60, 3, 8))
    defined = 0
    for place in range(60):
        A, B = (np.linalg.qr(each[place].T) for each in (left, right))
        M = (A[0] * np.sign(np.diag(A[1]))) @ np.diag(s) @ (B[0] * np.sign(np.diag(B[1]))).T
        found = chance_statistics.spectral_statistics(
            np.diag(s) @ (A[0] * np.sign(np.diag(A[1]))).T, (B[0] * np.sign(np.diag(B[1]))).T
        )
        down = np.sort(np.linalg.eigvals(M).real)[::-1]
        assert drawn["gap"][place] == pytest.approx((down[0] - down[1]) / 3, abs=1e-6)
        defined += "alpha*" in found
        assert np.isnan(drawn["alpha*"][place]) == ("alpha*" not in found)
        if "alpha*" in found:
            assert drawn["alpha*"][place] == pytest.approx(found["alpha*"], abs=1e-6)
    assert 5 < defined < 55
    Q, K = source.standard_normal((2, 3, 8))
    names = {(each.statistic, each.null) for each in chance.held_against(Q, K, null)}
    assert {("gap", "random bases"), ("norm", "gaussian factors")} < names and ("norm", "random bases") not in names
    assert not {each.statistic for each in chance.held_against(Q, K, null, scores=True)} & {"gap", "alpha*"}


@pytest.mark.parametrize(("rows", "d"), [(2, 7), (3, 5), (4, 4), (6, 4)])
def test_what_depends_on_the_scale_and_the_ends_with_random_bases(rows: int, d: int) -> None:
    """Of the draws, made again as whole matrices; Gaussian draws of a scale have it, and the law of Gaussian factors."""
    null, source = chance_draws.draw_null(rows, d, 2000, 0), np.random.default_rng([0, rows, d])
    left, right = source.standard_normal((2, 2000, rows, d))
    s = np.linspace(2.0, 0.5, min(rows, d))
    drawn = null.with_bases(s, d)
    for place in range(5):
        A, B = (np.linalg.qr(each[place][:d].T) for each in (left, right))
        M = (A[0] * np.sign(np.diag(A[1]))) @ np.diag(s) @ (B[0] * np.sign(np.diag(B[1]))).T
        ends = np.linalg.eigvalsh(M + M.T)[[0, -1]] / 2 / s[0]
        assert (drawn["bottom of sym"][place], drawn["top of sym"][place]) == pytest.approx(tuple(ends), abs=1e-5)
        assert drawn["distance to I"][place] == pytest.approx(np.linalg.norm(M - np.eye(d), 2), rel=1e-5)
        assert drawn["growth"][place] == pytest.approx(np.abs(1 + np.linalg.eigvals(M)).max(), rel=1e-5)
    scale = 1.7
    sizes = np.linalg.norm(left, axis=(1, 2)) * np.linalg.norm(right, axis=(1, 2)) / rows
    M = left.swapaxes(1, 2) @ right * (scale / sizes)[:, None, None]
    growth, apart = np.abs(1 + np.linalg.eigvals(M)).max(axis=-1), np.linalg.norm(M - np.eye(d), 2, axis=(1, 2))
    found = null.of_scale(scale)
    assert found["growth"] == pytest.approx(growth)
    stats = pytest.importorskip("scipy.stats")
    assert stats.ks_2samp(found["distance to I"], apart).pvalue > 1e-3  # the same law, not the same draws
    assert stats.ks_2samp(null.of_scale(1.1 * scale)["distance to I"], apart).pvalue < 1e-3
    values = np.linalg.eigvals(left.swapaxes(1, 2) @ right if rows > d else right @ left.swapaxes(1, 2))
    values = values * (scale / sizes)[:, None]
    led = [abs(z[np.argmax(np.abs(1 + z))].imag) < 1e-12 * np.abs(z).max() for z in values]
    assert np.mean(null.led_by_growth(scale) == led) > 0.999


def test_random_weights_look_random_at_every_scale_and_a_planted_head_does_not() -> None:
    """Quantiles of Gaussian heads are uniform (Kolmogorov and Smirnov); a head near -2 I, or turned to be one, is far out."""
    stats = pytest.importorskip("scipy.stats")
    null, source = chance_draws.draw_null(6, 9, 1999, 0), np.random.default_rng(5)
    p: dict[tuple[str, str], list[float]] = {}
    for number in range(300):
        left, right = 10.0 ** (number % 3 - 1) * source.standard_normal((2, 6, 9))
        for each in chance.held_against(left, right, null):
            p.setdefault((each.statistic, each.null), []).append(each.p)
    asked = [(name, of) for name in ("distance to I", "growth") for of in ("gaussian factors", "random bases")]
    for key in [*asked, ("top of sym", "random bases"), ("bottom of sym", "random bases")]:
        assert len(p[key]) == 300 and stats.kstest(p[key], "uniform").pvalue > 1e-3, key
    left = source.standard_normal((6, 9))
    planted = {(each.statistic, each.null): each for each in chance.held_against(-left, left, null)}
    assert planted["bottom of sym", "random bases"].value == pytest.approx(-1)
    assert planted["bottom of sym", "random bases"].p == planted["distance to I", "random bases"].p == 2 / 2000
    assert planted["distance to I", "random bases"].z > 2
    scores = {each.statistic for each in chance.held_against(-left, left, null, scores=True)}
    assert "bottom of sym" in scores and not scores & {"distance to I", "growth"}


def test_what_rotary_positions_change() -> None:
    """As from the whole matrices; Gaussian heads are uniform, and one whose queries meet the slowest pair alone is far out."""
    from eigentoken.models.convention.rotary import standard_rotary

    stats = pytest.importorskip("scipy.stats")
    rotary, source = standard_rotary(theta=100.0, d_head=6), np.random.default_rng(2)
    turns = [rotary.rotation(offset) for offset in (1, 8, 64)]
    for rows_d in ((6, 9), (6, 4)):
        Q, K = source.standard_normal((2, *rows_d))
        found, norm = chance_turned.rotary_changes(Q, K, turns), np.linalg.norm(Q.T @ K, 2)
        for turn, value in zip(turns, found.values(), strict=True):
            assert value == pytest.approx(np.linalg.norm(Q.T @ (turn - np.eye(6)) @ K, 2) / norm)
    draws = chance_turned.draw_turned(6, 9, 1999, 0, turns)
    p: dict[str, list[float]] = {}
    for _ in range(300):
        for each in chance_turned.held_turned(*source.standard_normal((2, 6, 9)), turns, draws):
            p.setdefault(each.statistic, []).append(each.p)
    assert len(p) == 3 and all(stats.kstest(each, "uniform").pvalue > 1e-3 for each in p.values())
    Q, K = source.standard_normal((2, 6, 9))
    Q[[0, 1, 3, 4]] *= 1e-3  # the pairs are (0, 3), (1, 4), (2, 5): the last turns slowest
    first = chance_turned.held_turned(Q, K, turns, draws)[0]
    assert first.p == 2 / 2000 and first.z < -2
    assert chance_turned.held_turned(np.zeros((6, 9)), K, turns, draws) == []


def test_the_law_of_a_count_with_unlike_chances() -> None:
    """Beside the binomial one, and by hand."""
    null = np.zeros(998, dtype=bool)
    null[:300] = True
    assert chance.shares_p_value(9, [301 / 1000] * 20) == pytest.approx(chance.share_p_value(9, 20, null))
    assert chance.shares_p_value(2, [0.5, 0.1]) == pytest.approx(0.05)
    assert chance.shares_p_value(0, [0.5, 0.1]) == pytest.approx(0.5)


def test_leaders_by_both_orders_and_the_sums_of_heads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real part and modulus of -3, 2 and of a pair beside 1; S and F of a model with shared keys are those of its layer."""
    monkeypatch.setenv("EIGENTOKEN_CACHE", str(tmp_path))
    pair = np.array([[0.0, 2.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert chance_statistics.real_leaders(np.eye(3), np.diag([-3.0, 2.0, 1.0])) == (True, True, True)
    assert chance_statistics.real_leaders(np.eye(3), pair) == (True, False, False)
    assert chance_statistics.real_leaders(np.eye(3), np.diag([0.0, 0.0, -2.0]) + pair) == (False, False, False)
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = transformers.LlamaConfig(**sizes, intermediate_size=24, vocab_size=32)
    model = load(transformers.LlamaModel(config).eval())
    found = et.against_chance(model, draws=200, tokens=0)
    for part, whole in (
        ("scores", sum(head.Q.T @ head.K for head in model.layer(1).heads)),
        ("values", model.layer(1).F),
    ):
        stated, again = [
            each["value"]
            for each in found.tests
            if (each["layer"], each["head"], each["part"], each["statistic"]) == (1, None, part, "bottom of sym")
        ]
        M = np.asarray(whole, dtype=np.float64)
        assert stated == again  # against either null
        assert stated == pytest.approx(np.linalg.eigvalsh(M + M.T)[0] / 2 / np.linalg.norm(M, 2), rel=1e-5)
    assert [each["what"].partition(" ")[0] for each in found.document["shares"]] == ["heads"] * 3 + ["layers"] * 3
    assert [each["of"] for each in found.document["shares"]] == [8, 8, 8, 2, 2, 2]


def test_a_model_before_and_after_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights as they were drawn differ in no head; trained ones do, in most."""
    monkeypatch.setenv("EIGENTOKEN_CACHE", str(tmp_path))
    new, trained = (
        et.against_chance(str(SAVED / f"{name}.safetensors"), draws=999, tokens=0)
        for name in ("step00000", "step03000")
    )
    assert len(new.not_random("gaussian factors")) <= 1 and len(new.not_random("random bases")) <= 1
    assert len(trained.not_random("gaussian factors")) > 8
    document = {"schema": "eigentoken/chance/6", **json.loads(json.dumps(trained.as_dict()))}
    validate(document, schema("chance"))
    document["tests"][0]["q"] = 1.5
    with pytest.raises(jsonschema.ValidationError, match="maximum"):
        validate(document, schema("chance"))
    first = load(str(SAVED / "step03000.safetensors")).layer(0).heads[0]
    stated = next(each for each in trained.tests if (each["statistic"], each["part"]) == ("trace", "scores"))
    assert stated["value"] == pytest.approx(np.trace(first.P) / (4 * np.linalg.norm(first.P)), rel=1e-6)
    assert any(text.startswith("against random Gaussian factors") for text in trained.sentences())
    kept = sorted((tmp_path / "nulls").glob("*.npz"))
    assert len(kept) == 2  # a head and a layer, whatever the number of heads
    kept[0].write_bytes(b"damaged")
    assert et.against_chance(str(SAVED / "step03000.safetensors"), draws=999, tokens=0).as_dict() == trained.as_dict()


def test_what_is_too_wide_is_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reasons, against what a null of that shape really gives; nothing is left out up to the widths of GPT-2."""
    assert chance_draws.too_wide(768, 768, True) == chance_draws.too_wide(64, 768, False) == []
    source = np.random.default_rng(0)
    for module in (chance_draws, chance_statistics):
        monkeypatch.setattr(module, "WIDEST_SPECTRUM", 12)
        monkeypatch.setattr(module, "WIDEST_SYMMETRIC", 20)
    for width, d, whole in ((9, 30, False), (11, 12, False), (13, 15, True), (12, 12, True), (13, 30, True)):
        null = chance_draws.draw_null(width, d, 20, 0, whole=whole)
        held = chance.held_against(*source.standard_normal((2, width, d)), null)
        every = {each.statistic for each in held}
        names = " ".join(name for name, _ in chance_draws.too_wide(width, d, whole))
        for name, told in (("leader", "leader"), ("top of sym", "ends of sym"), ("distance to I", "distance to I")):
            assert (name in every) == (told not in names), (width, d, name)
        assert any(each.null == "random bases" for each in held) == ("random bases" not in names)
    assert "leader" in chance_draws.too_wide(13, 13, True)[0][0]


@pytest.mark.parametrize(("width", "d", "whole"), [(10, 15, False), (14, 15, True), (14, 14, True)])
def test_wide_matrices_get_fewer_draws_and_say_so(
    width: int, d: int, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same draws: the first of them, each as the whole matrix has it; a test says how many."""
    assert chance_draws.draws_of_bases(32, 384, False, 2000) == (2000, 2000, 2000)
    assert chance_draws.draws_of_bases(768, 768, True, 200) == (39, 39, 39)
    monkeypatch.setattr(chance_draws, "ALL_SPECTRA", (7, 8))
    monkeypatch.setattr(chance_draws, "ALL_SYMMETRIC", (12, 11))
    monkeypatch.setattr(chance_draws, "FRAMES", 390 * width**2)
    monkeypatch.setattr(chance_draws, "BATCH", 50 * width * d)
    null, source = chance_draws.draw_null(width, d, 400, 0, whole=whole), np.random.default_rng([0, width, d])
    held = chance.held_against(*np.random.default_rng(7).standard_normal((2, width, d)), null)
    draws = {(each.null, each.statistic): each.draws for each in held}
    every, symmetric, spectra = chance_draws.draws_of_bases(width, d, whole, 400)
    assert spectra < symmetric < every == 390 and draws["gaussian factors", "leader"] == 400
    assert draws["random bases", "trace"] == every and draws["random bases", "leader"] == spectra
    assert draws["random bases", "top of sym"] == draws["gaussian factors", "distance to I"] == symmetric
    left, right = source.standard_normal((2, 50, width, d))  # the first batch
    s = np.linspace(2.0, 0.5, width)
    drawn = null.with_bases(s, d)
    assert len(drawn["growth"]) == spectra and len(drawn["distance to I"]) == symmetric
    for place in (0, 49):
        A, B = (np.linalg.qr(each[place].T) for each in (left, right))
        M = (A[0] * np.sign(np.diag(A[1]))) @ np.diag(s) @ (B[0] * np.sign(np.diag(B[1]))).T
        values = np.linalg.eigvals(M)
        assert drawn["growth"][place] == pytest.approx(max(1.0, np.abs(1 + values).max()), rel=1e-4)
        assert drawn["distance to I"][place] == pytest.approx(np.linalg.norm(M - np.eye(d), 2), rel=1e-5)
        assert drawn["top of sym"][place] == pytest.approx(np.linalg.eigvalsh(M + M.T)[-1] / 4, rel=1e-5)


def test_wrong_input_is_refused(tmp_path: Path) -> None:
    path = str(SAVED / "step00000.safetensors")
    for options, says in (
        ({"draws": 5}, "draws must be"),
        ({"draws": True}, "draws must be"),
        ({"level": 1.0}, "level must"),
    ):
        with pytest.raises(ValueError, match=says):
            et.against_chance(path, **options)
    for arguments, says in (
        (["chance", tmp_path / "nowhere"], "no such file"),
        (["chance", path, "--draws", "3"], "draws"),
        (["chance", path, "-o", tmp_path / "c.txt"], ".json file"),
    ):
        ran = here(*arguments)
        assert ran.returncode == 2 and says in ran.stderr and len(ran.stderr.strip().splitlines()) == 1
