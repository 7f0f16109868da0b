"""Property tests of formulas: they hold on 200 instances, and each of them notices a spoiled formula or system."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from eigentoken.proofs.properties.checks import ALLOWANCE, OnInstances, above, gap, look
from eigentoken.proofs.properties.random_states import moments, softmax_rows, some_mask, spectrum_gap, tangents, tokens
from eigentoken.theory.classification.float_algebra import FloatAlgebra
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.registry import statements

#: The statements whose property tests are looked at here.
IDS = [
    *("PM-A1", "PM-C2", "PM-CM", "PM-DIFF", "PM-DOM", "PM-E1", "PM-E2", "PM-E3", "PM-E4", "PM-E5", "PM-E6", "PM-E7"),
    *("PM-E8", "PM-E9", "PM-E10", "PM-E21", "PM-L2", "PM-L10", "PM-L12", "PM-L15", "PM-N4'", "PM-P1", "PM-R1", "PM-R2"),
    *("PM-R4", "PM-R6", "PM-R7", "PM-R8", "PM-S1", "PM-S2", "PM-S3", "CT-7", "CT-8"),
]

#: Statement, module, function that is spoiled, what is replaced, by what.
SPOILED = [
    ("PM-E1", "map_checks", "printed_layer", "** 0.5", "** 1.0"),
    ("PM-E1", "map_checks", "printed_layer", "+= alpha", "-= alpha"),
    ("PM-E1", "map_checks", "printed_layer", 'head["Q"].T @ head["K"]', 'head["K"].T @ head["Q"]'),
    ("PM-E1", "map_checks", "printed_layer", "(x, score, mask)", "(x, score, None)"),
    ("PM-E2", "map_checks", "shared_weights", 'h=h: h["F"]', 'h=h: h["F"] * (1 + t - start)'),
    ("PM-E2", "map_checks", "shared_weights", "(start, start + 1)", "(start,)"),
    ("PM-E3", "map_checks", "printed_layer", 'head["U"] @ values', "values.sum()"),
    ("PM-E3", "map_checks", "unit", "np.sqrt(", "np.abs("),
    ("PM-E21", "map_checks", "printed_layer", "weights[i, j]", "weights[j, i]"),
    ("PM-E4", "map_checks", "mean_increment", "(factor - 1)", "(factor + 1)"),
    ("PM-E4", "map_checks", "mean_increment", "above(increment, 0.0)", "above(-increment, 0.0)"),
    ("PM-E4", "map_checks", "mean_increment", "sum(gains) / 4", "sum(gains)"),
    ("PM-E4", "map_checks", "_dominated", "-0.98, 0.98", "-2.0, 2.0"),
    ("PM-E5", "map_checks", "share_of_increments", "[0], first) > corr", "[0], first) < corr"),
    ("PM-E5", "map_checks", "share_of_increments", "sum(grown) / 4", "1 - sum(grown) / 4"),
    ("PM-E5", "map_checks", "_dominated", "-0.98, 0.98", "-2.0, 2.0"),
    ("PM-E6", "map_checks", "plane_correlation", "@ np.linalg.inv(plane.T @ plane) ", ""),
    ("PM-E6", "map_checks", "complex_plane", "[first.real, first.imag]", "[first.real, basis[:, 2]]"),
    ("PM-E7", "map_checks", "plane_correlation", "/ np.linalg.norm(x)", ""),
    ("PM-E7", "map_checks", "eigenvector_plane", "basis[:, :2]", "basis[:2].T"),
    ("PM-E8", "map_checks", "attention_map", "x[i] + alpha", "x[i] - alpha"),
    ("PM-E8", "map_checks", "attention_map", "softmax_rows(x, score, mask)", "softmax_rows(x, score.T, mask)"),
    ("PM-E9", "map_checks", "oja_map", "for j in range(n)) / n", "for j in range(n))"),
    ("PM-E9", "map_checks", "oja_map", "np.zeros((d, d))", "np.eye(d)"),
    ("PM-E10", "map_checks", "oja_influence", "value @ mean", "value.T @ mean"),
    ("PM-A1", "map_checks", "standing_assumption", "max(values[0], abs(values[-1]))", "values[0]"),
    ("PM-A1", "map_checks", "standing_assumption", "eigvalsh(value)[::-1]", "eigvalsh(value)"),
    ("PM-L2", "jacobian_checks", "oja_blocks", "alpha / n * value", "alpha * value"),
    ("PM-L2", "jacobian_checks", "oja_blocks", "+ alpha / n", "- alpha / n"),
    ("PM-L2", "jacobian_checks", "oja_blocks", " / np.linalg.norm(y[i])", ""),
    ("PM-L10", "jacobian_checks", "push_derivative", "spread @ head", "0 * spread @ head"),
    ("PM-L10", "jacobian_checks", "push_derivative", '@ head["M"].T', '@ head["M"]'),
    ("PM-L10", "jacobian_checks", "push_derivative", "x[k] - mean, x[i]", "x[k] + mean, x[i]"),
    (
        "PM-L10",
        "jacobian_checks",
        "attention_jacobian",
        "push_derivative(x, head, mask)",
        "push_derivative(x, head, None)",
    ),
    ("PM-L12", "jacobian_checks", "bipartite_jacobian", "alpha * rows[i, k]", "alpha * rows[k, i]"),
    ("PM-L12", "jacobian_checks", "bipartite_jacobian", "first if sigma", "second if sigma"),
    ("PM-CM", "jacobian_checks", "consensus_manifold", "alpha / n *", "alpha *"),
    ("PM-CM", "jacobian_checks", "consensus_manifold", "move @ p / r", "move @ p"),
    ("PM-CM", "jacobian_checks", "consensus_manifold", "np.tile(y / r, (n, 1))", "np.tile(z, (n, 1))"),
    ("PM-DOM", "jacobian_checks", "domain", "1 - alpha * norm", "1 - alpha * norm / 2"),
    ("PM-DOM", "jacobian_checks", "domain", "- push[0] / (top * height)", "+ push[0] / (top * height)"),
    ("PM-DOM", "jacobian_checks", "domain", "(q - p) / (p + q)", "(q + p) / (p + q)"),
    ("PM-DIFF", "jacobian_checks", "local_diffeomorphism", "** 0.25 * DIFFEOMORPHIC", "** 0.25 * 3"),
    ("PM-DIFF", "jacobian_checks", "local_diffeomorphism", "1 / np.sqrt(1 - reach**2)", "np.sqrt(1 - reach**2)"),
    ("PM-R2", "point_checks", "extrinsic_at_consensus", "np.sign(m) / m**2", "1 / m**2"),
    ("PM-R2", "point_checks", "extrinsic_at_consensus", "np.sign(m) / m**2", "1 / m"),
    ("PM-R2", "point_checks", "_extrinsic", "np.zeros(len(x)))", "np.ones(len(x)))"),
    ("PM-R8", "point_checks", "extrinsic_at_bipartite", "[1 / m1**2] * p", "[1 / m1] * p"),
    ("PM-R8", "point_checks", "extrinsic_at_bipartite", "* first, 1 +", "* second, 1 +"),
    ("PM-R8", "point_checks", "unit_extension", "1 + 2 * alpha", "1 + alpha"),
    ("PM-R1", "point_checks", "is_fixed", "1 + alpha * eigenvalue > 0 if abs(delta) == 1 else ", ""),
    ("PM-R1", "point_checks", "is_fixed", "eigenvalue * delta", "eigenvalue"),
    ("PM-R1", "point_checks", "signed_states", "d * 2**n", "2**n"),
    ("PM-R4", "point_checks", "step_bound", "drive < 2", "drive < 3"),
    ("PM-R4", "point_checks", "step_bound", "stable == (drive < 2)", "stable"),
    ("PM-R6", "point_checks", "common_token", "x + alpha * push", "x - alpha * push"),
    ("PM-R6", "point_checks", "common_token", "vectors[:, -1]", "vectors[-1]"),
    ("PM-R7", "point_checks", "odd", "-model.advance(x)", "model.advance(x)"),
    ("PM-P1", "point_checks", "kernel_condition", "values.max()", "1.01 * values.max()"),
    ("PM-P1", "point_checks", "kernel_condition", "(1 + alpha * c)", "(1 - alpha * c)"),
    ("PM-P1", "point_checks", "kernel_condition", "matrix - np.kron", "matrix + np.kron"),
    ("PM-N4'", "point_checks", "bipartite_cycles", "-abs(values[0])", "abs(values[0])"),
    ("PM-N4'", "point_checks", "sides_block", "(1 + mu * (1 + b1) / 2)", "(1 + mu * (1 - b1) / 2)"),
    ("PM-N4'", "point_checks", "bipartite_cycles", "lengths = (abs(", "lengths = (-abs("),
    ("PM-L15", "point_checks", "antipodal_matrices", "rho + other", "rho - other"),
    ("PM-L15", "point_checks", "antipodal_matrices", "@ complement + single", "@ complement"),
    ("PM-L15", "point_checks", "_antipodal", "score -= ", "score += "),
    ("CT-7", "point_checks", "antipodal_matrices", "complement.T @ score @ w,", "complement.T @ score.T @ w,"),
    ("CT-7", "point_checks", "antipodal_points_of_the_flow", "eigvals(each)", "eigvals(-each)"),
    ("CT-8", "point_checks", "energy", "/ (2 * c)", "/ 2"),
    ("CT-8", "point_checks", "energy_rate", "M=c * value", "M=value"),
    ("CT-8", "point_checks", "energy_rate", "totals @", "np.ones(n) @"),
    ("PM-C2", "point_checks", "rotating_consensus", "np.exp(-1j", "np.exp(1j"),
    ("PM-C2", "point_checks", "rotating_consensus", "np.angle(1 + alpha * pair)", "np.angle(pair)"),
    ("PM-C2", "point_checks", "rotating_consensus", "uniform(-0.6, 0.6,", "uniform(1.1, 1.6,"),
    ("PM-S1", "steering_checks", "large_root", "20 * b * 10", "b / 4 * 10"),
    ("PM-S1", "steering_checks", "large_root", "above(6 / 5", "above(1 / 50"),
    ("PM-S1", "steering_checks", "large_root", "(f2 - f1**2)", "(f2 + f1**2)"),
    ("PM-S1", "steering_checks", "large_root", "(w @ f @ w) * w", "0 * w"),
    ("PM-S1", "steering_checks", "root_of_mu", "eta / 2 - abs(ordered[1])", "2 * eta - abs(ordered[1])"),
    ("PM-S1", "steering_checks", "root_of_mu", "abs(ordered[2])", "abs(ordered[1])"),
    ("PM-S1", "steering_checks", "root_of_mu", "allowed = 2 *", "allowed = 0.001 *"),
    ("PM-S1", "steering_checks", "root_of_mu", "eta if slope > 0 else 0.0", "eta if slope < 0 else 0.0"),
    ("PM-S2", "steering_checks", "shifted_spectrum", "+= mu", "-= mu"),
    ("PM-S2", "steering_checks", "shifted_spectrum", "(1 - own @ other)", "(2 - own @ other)"),
    ("PM-S2", "steering_checks", "shifted_spectrum", "inverse[k], free", "free, inverse[k]"),
    ("PM-S3", "steering_checks", "steered_layer", "alpha * mu * np.outer", "mu * np.outer"),
    ("PM-S3", "steering_checks", "steered_layer", "(after[i] @ w) * mu * kappa[i]", "(after[i] @ w) * kappa[i]"),
    ("PM-E3", "map_checks", "multihead_map", ".advance(x)", ".influence(x)"),
    ("PM-E21", "map_checks", "multihead_map", ".advance(x)", ".influence(x)"),
    ("PM-E6", "map_checks", "plane_correlation", "/ np.linalg.norm(x)", ""),
    ("PM-DOM", "jacobian_checks", "domain", "alone - registered", "alone + registered"),
    ("PM-DIFF", "jacobian_checks", "local_diffeomorphism", "alpha, x = reach", "alpha, x = 3 * reach"),
    ("PM-DIFF", "jacobian_checks", "least_stretch", " - reach)", ")"),
    ("PM-R2", "point_checks", "unit_extension", "1 + 2 * alpha", "1 + alpha"),
    ("PM-R2", "point_checks", "unit_extension", "(push * push)", "(push + push * push)"),
    ("PM-A1", "map_checks", "generated_values", "np.asarray(value)", "np.asarray(value) * np.arange(len(value))"),
    ("PM-R8", "point_checks", "_extrinsic", "np.zeros(len(x)))", "np.ones(len(x)))"),
    ("PM-R1", "point_checks", "signed_states", "(1.0, -1.0)", "(1.0, 0.5)"),
    ("PM-R1", "point_checks", "signed_states", "consensus - 2 * d", "consensus - d"),
    ("PM-R6", "point_checks", "common_token", "push = value @ x", "push = score @ x"),
    ("PM-R6", "point_checks", "common_token", "tokens(source, 1, d)[0]", "vectors[:, 0]"),
    ("PM-N4'", "point_checks", "bipartite_cycles", "model.advance(model.advance(x)), x", "model.advance(x), x"),
    ("CT-7", "point_checks", "_antipodal", "score -= ", "score += "),
    ("PM-C2", "point_checks", "rotating_consensus", "basis[:, :2] @ start", "basis[:, 1:3] @ start"),
    ("PM-S3", "steering_checks", "tangent_bound", "(1 + alpha * push) /", "0.2 * (1 + alpha * push) /"),
]


def spoiled(module: str, function: str, old: str, new: str) -> ModuleType:
    """A copy of the module in which one function is changed."""
    original = import_module(f"eigentoken.proofs.properties.{module}")
    text = inspect.getsource(getattr(original, function))
    assert old in text, f"{function} does not contain {old!r}"
    source = inspect.getsource(original).replace(text, text.replace(old, new))
    copy = ModuleType(original.__name__)
    exec(compile(source, f"<spoiled {module}>", "exec"), copy.__dict__)
    return copy


def case_of(name: str) -> OnInstances:
    (test,) = statements().get(name).property_tests
    assert isinstance(test, OnInstances)
    return test


@pytest.mark.parametrize("name", IDS)
def test_no_violation_on_200_instances(name: str) -> None:
    tests = statements().get(name).property_tests
    assert len(tests) == 1
    verdict = tests[0](200, 1)
    assert verdict.is_holds, verdict.reason
    assert "200 random instances" in verdict.reason


@cache
def seen(name: str, module: str, function: str, old: str, new: str) -> tuple[Verdict, frozenset[str], frozenset[str]]:
    """The verdict with the spoiled function, the names of all checks, and of those that are violated somewhere."""
    copy = spoiled(module, function, old, new)
    names: set[str] = set()
    violated: set[str] = set()
    if name == "PM-A1":
        drawn = iter(copy.generated_values(100, 1))
        case = lambda _: copy.standing_assumption(next(drawn))  # noqa: E731
    else:
        case = getattr(copy, case_of(name).case.__name__)

    def watched(source: Any) -> Mapping[str, float]:
        found = {re.sub(r"token \d", "token i", what): size for what, size in case(source).items()}
        names.update(found)
        violated.update(what for what, size in found.items() if not size <= ALLOWANCE)
        return found

    with np.errstate(all="ignore"):
        verdict = look(watched, 100, 1)
    return verdict, frozenset(names), frozenset(violated)


def is_first(change: tuple[str, str, str, str, str]) -> bool:
    """The first two changes of each check."""
    return change in [each for each in SPOILED if each[:3] == change[:3]][:2]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(each, marks=[pytest.mark.slow] * (not is_first(each)), id=f"{each[0]}: {each[4] or each[3]}")
        for each in SPOILED
    ],
)
def test_a_spoiled_formula_is_noticed(change: tuple[str, str, str, str, str]) -> None:
    verdict, _, violated = seen(*change)
    assert verdict.is_fails, verdict.reason
    assert violated


@pytest.mark.parametrize("name", IDS)
def test_every_check_of_a_case_can_fail(name: str) -> None:
    """Each named check is violated by at least one of the spoiled formulas: none of them is decoration."""
    runs = [seen(*change) for change in SPOILED if change[0] == name]
    names = frozenset[str]().union(*(names for _, names, _ in runs))
    violated = frozenset[str]().union(*(violated for _, _, violated in runs))
    assert names == violated


def test_every_statement_has_a_spoiled_formula() -> None:
    assert {name for name, *_ in SPOILED} == set(IDS)


def test_the_spoiling_itself_changes_nothing_else() -> None:
    """The copy with nothing replaced agrees with the original: what makes the others fail is the replacement."""
    copy = spoiled("jacobian_checks", "oja_blocks", "alpha / n", "alpha / n")
    assert look(copy.oja_jacobian, 20, 1).is_holds


@pytest.mark.parametrize("name", [each for each in IDS if each.startswith("PM-E") and each not in {"PM-E6", "PM-E7"}])
def test_a_spoiled_system_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The push of every system with the opposite sign."""
    right = FloatAlgebra.apply

    def wrong(self: FloatAlgebra, matrix: Any, x: Any) -> Any:
        return -right(self, matrix, x)

    monkeypatch.setattr(FloatAlgebra, "apply", wrong)
    assert statements().get(name).property_tests[0](50, 1).is_fails


def test_a_system_that_ignores_the_mask_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = FloatAlgebra.attention

    def wrong(self: FloatAlgebra, x: Any, score: Any, mask: Any, over_root_d: bool) -> Any:
        return right(self, x, score, None, over_root_d)

    monkeypatch.setattr(FloatAlgebra, "attention", wrong)
    for name in ("PM-E1", "PM-E3", "PM-E8", "PM-L10"):
        assert case_of(name)(50, 1).is_fails


def test_a_system_that_is_not_odd_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = FloatAlgebra.average
    monkeypatch.setattr(FloatAlgebra, "average", lambda self, weights, x: right(self, weights, x) + 0.1)
    assert case_of("PM-R7")(20, 1).is_fails


class TestLook:
    def test_no_instance_is_no_answer(self) -> None:
        assert look(lambda _: {"a": 0.0}, 0, 0).is_undecided

    def test_a_case_that_looks_at_nothing_is_no_answer(self) -> None:
        assert look(lambda _: {}, 5, 0).is_undecided

    @pytest.mark.parametrize("bad", [1e-7, float("nan"), float("inf")])
    def test_one_violation_is_enough_and_is_named(self, bad: float) -> None:
        count = iter(range(10))

        def case(_: Any) -> Mapping[str, float]:
            return {"angle": bad if next(count) == 7 else 0.0}

        verdict = look(case, 10, 3)
        assert verdict.is_fails
        assert "angle, instance 7 of seed 3" in verdict.reason

    def test_instances_depend_on_seed_and_index_only(self) -> None:
        seen: list[float] = []
        look(lambda source: {"a": -float(seen.append(source.uniform()) or 0)}, 3, 5)
        again: list[float] = []
        look(lambda source: {"a": -float(again.append(source.uniform()) or 0)}, 4, 5)
        assert again[:3] == seen
        assert len(set(again)) == 4


def test_measures_of_difference() -> None:
    assert gap([10.0, 20.0], [10.0, 22.0]) == pytest.approx(2 / 22)
    assert above([1.0, 3.0], 2.0) == pytest.approx(0.5)
    assert above([2.5, 3.0], 2.0) < 0
    with pytest.raises(ValueError, match="compare like with like"):
        gap([1.0], [1.0, 2.0])


def test_spectra_are_compared_with_multiplicities() -> None:
    matrix = np.diag([1.0, 1.0, 2.0])
    assert spectrum_gap(matrix, [2.0, 1.0, 1.0]) < 1e-12
    assert spectrum_gap(matrix, [2.0, 2.0, 1.0]) > 0.1
    assert moments(matrix).tolist() == [4.0, 6.0, 10.0]
    with pytest.raises(ValueError, match="count multiplicities"):
        spectrum_gap(matrix, [1.0, 2.0])


def test_random_states_are_what_they_say() -> None:
    source = np.random.default_rng(0)
    x = tokens(source, 4, 3)
    basis = tangents(x)
    assert np.allclose(np.linalg.norm(x, axis=1), 1)
    assert np.allclose(basis.T @ basis, np.eye(8))
    for i in range(4):
        assert np.allclose(x[i] @ basis[3 * i : 3 * i + 3], 0)
    kinds = {
        None if mask is None else bool(np.triu(mask, 1).any()) for mask in (some_mask(source, 4) for _ in range(60))
    }
    assert kinds == {None, False, True}
    weights = softmax_rows(x, source.normal(size=(3, 3)), np.tril(np.ones((4, 4))))
    assert np.allclose(weights.sum(axis=1), 1)
    assert np.allclose(np.triu(weights, 1), 0)
