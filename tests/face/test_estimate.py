"""``check --estimate``: costs from measured layers, planned for a model or for a shape; nothing is run."""

from __future__ import annotations

import json

import pytest

from eigentoken.checking.estimate import ModelShape, estimate, shape_of, worthwhile_jobs
from eigentoken.numerics.layers.costs import LayerCost, exponents, layer_cost
from eigentoken.pages import asset

from ..commands import here


def test_a_power_law_is_found_again() -> None:
    """Between and beyond the measured widths, where time is 2 d^3.5 and memory 1e8 + 40 d^2."""
    known = [LayerCost(d, 2 * d**3.5, 1e8 + 40 * d * d) for d in (64, 128, 512)]
    assert exponents(known) == pytest.approx([3.5, 3.5])
    for d in (64, 100, 300, 4096):
        found = layer_cost(d, known)
        assert found.seconds == pytest.approx(2 * d**3.5) and found.measured == (d == 64)
    assert layer_cost(4096, known).bytes == pytest.approx(1e8 + 40 * 4096**2)
    slow = [LayerCost(100, 1.0, 1e8), LayerCost(200, 2.0, 1e8)]  # overhead hides the decomposition: at least d^3 beyond
    assert layer_cost(400, slow).seconds == pytest.approx(16.0)
    for wrong in (([], 5), (known[:1], 5), (known, 0)):
        with pytest.raises(ValueError, match="two measured widths"):
            layer_cost(wrong[1], wrong[0])


def test_the_recorded_costs_grow_and_name_their_tool() -> None:
    kept = json.loads(asset("layer_costs.json"))
    assert kept["measured by"] == "benchmarks/layer_costs.py"
    widths = [each["d"] for each in kept["layers"]]
    assert widths == sorted(set(widths)) and len(widths) >= 3
    for name in ("seconds", "bytes"):
        values = [each[name] for each in kept["layers"]]
        assert values == sorted(values) and values[0] > 0


def test_a_model_and_a_shape_are_planned() -> None:
    shared = estimate("sample:rxnmapper", jobs=4)
    assert (shared.shape.layers, shared.shape.d, shared.together) == (1, 256, 1)  # twelve layers share their weights
    assert shared.sentences()[0] == "sample:rxnmapper: 1 layer with weights of its own, d = 256"
    large = estimate("shape:80x8192", jobs=8)
    assert large.together == 1 and not large.layer.measured
    assert large.seconds == pytest.approx(80 * large.layer.seconds)
    assert large.layer.seconds > estimate("shape:32x4096").layer.seconds * 7
    assert any("beyond the widest that was measured" in text for text in large.sentences())
    assert any("below the narrowest that was measured, d = 256" in text for text in estimate("shape:4x64").sentences())
    assert any("between measured widths up to 4096" in text for text in estimate("shape:4x3000").sentences())
    ran = here("check", "shape:80x8192", "--estimate")
    assert ran.returncode == 0 and "80 layers with weights of their own, d = 8192" in ran.stdout
    for arguments, says in (
        (["check", "shape:80", "--estimate"], "expected shape:LAYERSxD"),
        (["check", "shape:0x5", "--estimate"], "positive numbers"),
        (["check", "shape:80x8192"], "shape:80x8192 has no weights to check: --estimate says what they would cost"),
        (["check", "sample:rxnmapper", "--estimate", "--json"], "leave --json out"),
    ):
        refused = here(*arguments)
        assert refused.returncode == 2 and says in refused.stderr and len(refused.stderr.strip().splitlines()) == 1
    assert shape_of("shape:2x3").d == 3


def test_a_long_check_is_announced_and_a_short_one_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from eigentoken.checking.estimate import ModelShape
    from eigentoken.commands.weights import _announced, settings

    told = estimate(ModelShape("large", 32, 4096), jobs=4).in_advance()
    assert told is not None and "32 layers of d = 4096: about" in told and "GB" in told and "--estimate" in told
    assert estimate("sample:rxnmapper").in_advance() is None
    _announced(ModelShape("short", 4, 64), 1)
    assert capsys.readouterr().err == ""
    _announced(ModelShape("large", 32, 4096), 1)
    announced = capsys.readouterr()
    assert "32 layers of d = 4096: about" in announced.err and announced.out == ""
    monkeypatch.setattr(settings, "quiet", True)
    _announced(ModelShape("large", 32, 4096), 1)
    assert capsys.readouterr().err == ""


def test_processes_are_started_where_they_save_time() -> None:
    assert worthwhile_jobs(ModelShape("tiny", 12, 12), 8) == 1
    assert worthwhile_jobs(ModelShape("a core is enough", 100, 384), 1) == 1
    assert worthwhile_jobs(ModelShape("small", 12, 384), 2) == 2
