"""One head through its factors: certified against exact answers, dense matrices, ball arithmetic and a second arithmetic."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure, product
from eigentoken.numerics.certified.norms import CLOSE
from eigentoken.numerics.layers.findings import examine
from eigentoken.numerics.layers.head_findings import MatrixSizes, examine_head
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS, Asks, asks
from eigentoken.numerics.layers.layer_readings import bind, bind_head, read_head, read_layer
from eigentoken.numerics.layers.low_rank import LowRank, triangular
from eigentoken.numerics.layers.quantities import norm_of
from eigentoken.numerics.layers.regimes import head_regime
from eigentoken.numerics.layers.rotary_scores import RotaryPairs, rotary_change, turned_keys
from eigentoken.numerics.layers.symbol_values import Answers
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.layer_systems import contains
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Kind
from eigentoken.theory.systems.catalogue import system

NAMES = (
    "symmetric",
    "identity",
    "positive-definite",
    "negative-definite",
    "positive-semidefinite",
    "nonsingular",
    "dominant-real-part",
    "dominant-modulus",
)


def _low_rank(first: Any, second: Any) -> LowRank:
    a, b = (np.asarray(each, dtype=float) for each in (first, second))
    return LowRank(Enclosure.from_floats(a, name="A"), Enclosure.from_floats(b, name="B"))


def _head(Q: Any, K: Any, V: Any, O: Any, scale: float = 1.0) -> Any:
    arrays = {name: np.asarray(each, dtype=float) for name, each in zip("QKVO", (Q, K, V, O), strict=True)}
    return LayerWeights.from_arrays(0, [arrays | {"scale": scale}]).heads[0]


def _random_head(seed: int, d: int = 40, r: int = 4, scale: float = 2.0) -> Any:
    source = np.random.default_rng(seed)
    Q, K, V = (source.standard_normal((r, d)) for _ in range(3))
    return _head(Q, K, V, source.standard_normal((d, r)), scale)


@given(st.integers(1, 3), st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 2.0**-40, 2.0**60]))
def test_numbers_of_a_head_enclose_those_of_its_matrix(r: int, more: int, seed: int, unit: float) -> None:
    source = np.random.default_rng(seed)
    d = r + more
    a, b = source.integers(-4, 5, (d, r)) * unit, source.integers(-4, 5, (r, d)) * 1.0
    if not a.any() or not b.any():
        return
    found, M = _low_rank(a, b), a @ b  # exact: small integers times a power of two
    slop = 1e-9 * max(np.linalg.norm(M), unit)
    for (low, high), value in (
        (found.norm, np.linalg.norm(M, 2)),
        (found.to_symmetric, np.linalg.norm(M - M.T, 2) / 2),
        (found.to_identity, np.linalg.norm(M - np.eye(d), 2)),
    ):
        assert low - slop <= value <= high + slop
    w = np.linalg.eigvalsh((M + M.T) / 2)
    assert found.symmetric_extremes is not None
    for (low, high), value in zip(found.symmetric_extremes, (w[0], w[-1]), strict=True):
        assert low - slop <= value <= high + slop
    assert found.symmetric_extremes[0][1] <= 0 <= found.symmetric_extremes[1][0]
    parts = found.parts()
    if parts is not None:
        assert len(parts[0]) == d
        for low, high, value in zip(*parts, np.sort(np.linalg.eigvals(M).real)[::-1], strict=True):
            assert low - 1e-4 * slop * 1e9 <= value <= high + 1e-4 * slop * 1e9  # eigvals is what is loose here


@given(
    st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from(["random", "symmetric", "sparse"])
)
def test_verdicts_agree_with_exact_ones(r: int, more: int, seed: int, kind: str) -> None:
    """The dense path decides small integer matrices exactly: the factors must never say the opposite."""
    source = np.random.default_rng(seed)
    d = r + more
    b = source.integers(-3, 4, (r, d)) * (source.random((r, d)) < (0.4 if kind == "sparse" else 1.0))
    a = b.T if kind == "symmetric" else source.integers(-3, 4, (d, r))
    if not np.any(a) or not np.any(b):
        return
    found, whole = _low_rank(a, b), product(*(Enclosure.from_floats(each.astype(float)) for each in (a, b)))
    for name in NAMES:
        ours, exact = found.certify(name), certify(name, whole)
        assert ours.is_undecided or exact.is_undecided or ours.answer is exact.answer, (name, ours.reason, exact.reason)
        if name in ("symmetric", "identity", "positive-definite", "negative-definite", "nonsingular"):
            assert not ours.is_undecided, (name, ours.reason)
    rank = int(np.linalg.matrix_rank(a.astype(float) @ b.astype(float)))
    low, high = found.rank.details["rank"]
    assert low <= rank <= high
    assert not found.rank.is_holds or rank == r


def test_a_symmetric_head_of_rank_one() -> None:
    v = np.array([[1.0, 2.0, -1.0, 0.5, 3.0]])
    found = _low_rank(v.T, v)
    assert found.certify("symmetric").is_holds
    assert found.certify("positive-semidefinite").is_holds
    assert found.certify("positive-definite").is_fails
    assert found.certify("dominant-real-part").is_holds
    assert _low_rank(-v.T, v).certify("dominant-real-part").is_fails  # -|v|^2 and four zeros: 0 leads, fourfold
    assert _low_rank(-v.T, v).certify("positive-semidefinite").is_fails


def test_certificates_speak_of_the_whole_matrix_and_are_rechecked() -> None:
    source = np.random.default_rng(5)
    a, b = source.standard_normal((70, 30)), source.standard_normal((30, 70))
    found = _low_rank(a, b)
    assert found.compressed.shape == (60, 60)
    for name in ("symmetric", "positive-definite", "negative-definite", "positive-semidefinite"):
        verdict = found.certify(name)
        assert verdict.is_fails
        assert verdict.margin is not None
        assert verdict.margin > 0
        assert verdict.certificate is not None
        assert verdict.certificate.data["shape"] == [70, 70]
        assert recheck(verdict.certificate, {"A": a, "B": b}).is_holds
        other = b.copy()
        other[0, 0] += 1.0
        assert recheck(verdict.certificate, {"A": a, "B": other}).is_fails
        data = dict(verdict.certificate.data)
        data["facts"] = {
            key: ("1000" if key in ("beyond", "distance_above") else value) for key, value in data["facts"].items()
        }
        assert not recheck(replace(verdict.certificate, data=data), {"A": a, "B": b}).is_holds


def test_factors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="shapes"):
        _low_rank(np.ones((4, 2)), np.ones((3, 4)))
    assert _low_rank(np.ones((4, 1)), np.ones((1, 4))).certify("spectrum").is_undecided


def _layer_of(*heads: Any, **surroundings: Any) -> LayerWeights:
    arrays = [{"Q": h.Q, "K": h.K, "V": h.V, "O": h.O, "scale": h.scale} for h in heads]
    return LayerWeights.from_arrays(0, arrays, **surroundings)


def _conditions(statement: Any, weights: LayerWeights, answers: Answers) -> dict[str, Any]:
    """Every condition that is read on the layer, about it or as if it were one head."""
    found = read_layer(statement, weights, answers)
    return dict(found.conditions) | dict(found.as_one_head.conditions if found.as_one_head else {})


def test_every_statement_about_one_head_is_read_on_a_head() -> None:
    """Those whose only difference is the number of heads, claim something and ask more than an inverse; no others."""
    layer, answers = _layer_of(_random_head(0), _random_head(1)), Answers()
    read = 0
    for statement in statements():
        found = read_head(statement, layer, 0, answers)
        single = [
            each
            for name in statement.systems
            if not (each := contains(system(name), statement.covers, layer.alone(0).system)).differences
            and not each.system.multihead
        ]
        asked = single and asks(statement.conditions, single[0].system) is Asks.MORE
        assert (found is not None) == bool(asked and statement.kind is not Kind.DEFINITION), statement.id
        if found is None:
            continue
        read += 1
        assert 0 < len(found.conditions) <= len(statement.conditions)
        for verdict in found.conditions.values():
            assert "not bound" not in verdict.reason
            assert "no reading" not in verdict.reason
    assert read >= 20
    assert all(
        read_head(each, layer.alone(0), 0, Answers()) is None for each in statements()
    )  # read as the layer itself


def test_a_head_read_alone_is_a_layer_of_one_head() -> None:
    """Verdicts on a head of several and those of the layer with that one head never contradict each other."""
    compared = 0
    for seed in range(4):
        source = np.random.default_rng(seed)
        v = source.integers(-2, 3, (2, 6)).astype(float)
        layer = _layer_of(_head(v, source.integers(-2, 3, (2, 6)) * 1.0, v, v.T), _random_head(seed, d=6, r=2))
        answers = Answers()
        for statement in statements():
            alone = read_head(statement, layer, 0, answers)
            if alone is None:
                continue
            whole = read_layer(statement, layer.alone(0), Answers())
            for text, verdict in alone.conditions.items():
                other = whole.conditions.get(text)
                if other is not None and not verdict.is_undecided and not other.is_undecided:
                    assert verdict.answer is other.answer, (statement.id, text, verdict.reason, other.reason)
                    compared += 1
    assert compared > 100


def test_the_identity_of_every_head_is_not_that_of_the_sum() -> None:
    """AB-T4.1 asks U_h = I of each head: two halves of the identity do not satisfy it although F = I."""
    one = np.eye(4)
    halves = [
        {"Q": one[part], "K": one[part], "V": one[part], "O": one[:, part], "scale": 1.0}
        for part in (slice(0, 2), slice(2, 4))
    ]
    environment = bind(system("ellipsoid-multihead-flow"), LayerWeights.from_arrays(0, halves), Answers())
    verdict = ON_WEIGHTS(IsIdentity(matrix("U")), environment)
    assert verdict.is_fails
    assert verdict.margin == 1.0
    whole = [{"Q": part * one, "K": one, "V": one, "O": one, "scale": 1.0} for part in (1.0, 2.0)]
    environment = bind(system("ellipsoid-multihead-flow"), LayerWeights.from_arrays(0, whole), Answers())
    assert ON_WEIGHTS(IsIdentity(matrix("U")), environment).is_holds


def test_the_regime_of_a_head_is_that_of_the_range_of_its_output() -> None:
    a, b = np.diag([-1.0, -2.0]), np.array([[-1.0, -0.5], [0.25, -0.5]])
    d, r = 5, 2
    O = np.zeros((d, r))
    O[:r] = np.eye(r)
    V = np.hstack([b, np.ones((r, d - r))])
    Q, K = O.T, np.hstack([a @ b, np.full((r, d - r), 3.0)])
    found = head_regime(_head(Q, K, V, O))
    assert found.inside.name == "convergence"
    assert found.conserved == 3
    assert found.rank.is_holds
    assert "PH-C4" in found.reason
    assert found.as_dict()["on_whole_space"] == "none"
    assert head_regime(_head(Q, K, np.hstack([-b, np.ones((r, d - r))]), O)).inside.name == "divergence"
    lost = head_regime(_head(Q, K, V, 0 * O + 1.0))  # O of rank one: coordinates on its range are not unique
    assert lost.inside.name == "undecided"
    # what PH-C4 and the restriction say, seen in the flow itself
    x = np.random.default_rng(1).standard_normal((4, d))
    inside = np.random.default_rng(2).standard_normal((4, r)) @ O.T
    start, B, W = x.copy(), O @ V, Q.T @ K
    size = np.linalg.norm(inside[:, :r] * [1.0, np.sqrt(2)])
    for state in (x, inside):
        for _ in range(4000):
            weights = np.exp(state @ W @ state.T)
            state += 0.01 * (weights / weights.sum(1, keepdims=True)) @ state @ B.T
    assert np.linalg.norm(inside[:, :r] * [1.0, np.sqrt(2)]) < 0.5 * size  # in the norm of |A|
    assert np.array_equal(x[:, r:], start[:, r:])  # u = e_3, e_4, e_5 satisfy B^T u = 0
    assert not inside[:, r:].any()


def test_a_head_of_full_width_is_read_whole() -> None:
    head = _head(np.eye(3), np.eye(3), np.diag([3.0, 2.0, 1.0]), np.eye(3))
    found = examine_head(0, head)
    assert found.regime.inside.name == "divergence"
    assert found.regime.conserved == 0
    assert read_layer(statements().get("PM-T3"), _layer_of(head), Answers()).answer == "holds"
    assert found.value.to_positive_definite == (0.0, 0.0)
    low, high = found.value.to_negative_definite or (0.0, 0.0)
    assert low <= 3.0 <= high


def test_findings_of_heads_are_json_with_each_verdict_once() -> None:
    layer = _layer_of(_random_head(2), _random_head(3))
    found = examine(layer, statements=list(statements())).as_dict()["heads"][1]
    named = {name for each in found["hypotheses"] for name in each["conditions"].values()}
    assert named == set(found["verdicts"])
    asked = [re.sub(r"\(\w\)", "(M)", name) for name in found["verdicts"]]  # the same of another letter is the same
    texts = [
        (name, v["verdict"], v["reason"], v["margin"], v["unit"])
        for name, v in zip(asked, found["verdicts"].values(), strict=True)
    ]
    assert len(texts) == len(set(texts))
    for each in found["hypotheses"]:
        words = {found["verdicts"][name]["verdict"] for name in each["conditions"].values()}
        assert (each["word"] == "met as if one head") == (words == {"holds"})
        assert (each["word"] == "not met as if one head") == ("fails" in words)


def test_score_sizes_are_divided_by_the_scale() -> None:
    head = _random_head(4, scale=8.0)
    P = np.asarray(head.Q).T @ np.asarray(head.K) / 8.0
    sizes = examine_head(0, head).score
    assert sizes.norm[0] <= np.linalg.norm(P, 2) * (1 + 1e-9)
    assert sizes.norm[1] >= np.linalg.norm(P, 2) * (1 - 1e-9)
    assert sizes.to_positive_definite is not None
    assert sizes.to_positive_definite[0] == pytest.approx(-np.linalg.eigvalsh((P + P.T) / 2)[0], rel=1e-9)
    for low, high in (sizes.norm, sizes.to_symmetric, sizes.to_positive_definite):
        assert high - low < 5e-3 * high
    assert sizes.as_dict()["distance_to_identity"] is None
    assert (
        MatrixSizes.of(Enclosure.from_floats(np.diag([1.0, -2.0]))).as_dict()["distance_to_positive_definite"][1] >= 2.0
    )


@given(st.integers(0, 2**32 - 1), st.integers(-70, 70), st.booleans())
def test_turned_scores_are_enclosed(seed: int, delta: int, interleaved: bool) -> None:
    source = np.random.default_rng(seed)
    r, d = 4, 6
    head = _head(*(source.standard_normal((r, d)) for _ in range(3)), source.standard_normal((d, r)), 2.0)
    pairs = RotaryPairs([0, 2] if interleaved else [0, 1], [1, 3] if interleaved else [2, 3], [1.0, 10000.0**-0.5])
    with mpmath.workdps(40):
        R = mpmath.eye(r)
        for k, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
            angle = delta * mpmath.mpf(10000) ** (-mpmath.mpf(2 * k) / 4)  # the real power, not its float
            R[i, i] = R[j, j] = mpmath.cos(angle)
            R[i, j], R[j, i] = -mpmath.sin(angle), mpmath.sin(angle)
        exact = {
            name: mpmath.matrix(head.Q.tolist()).T * turn * mpmath.matrix(head.K.tolist()) / 2
            for name, turn in (("norm", R), ("change", R - mpmath.eye(r)))
        }
        norms = {name: float(max(mpmath.svd_r(M, compute_uv=False))) for name, M in exact.items()}
        keys = turned_keys(Enclosure.from_floats(head.K), pairs, delta)
        off = mpmath.matrix(keys.center.tolist()) - R * mpmath.matrix(head.K.tolist())
        assert mpmath.mnorm(off, "f") <= keys.radius
    (found,) = rotary_change(head, pairs, (delta,))
    for name, value in norms.items():
        low, high = getattr(found, name)
        assert low <= value * (1 + 1e-13) + 1e-300
        assert high >= value * (1 - 1e-13)
        assert high - low <= 0.05 * value + 1e-10
    assert found.relative is not None
    assert keys.radius < 1e-11


def test_no_turn_changes_nothing_and_a_zero_key_has_no_ratio() -> None:
    head = _random_head(6, d=12, r=4)
    pairs = RotaryPairs([0, 1], [2, 3], [1.0, 0.01])
    (found,) = rotary_change(head, pairs, (0,))
    assert found.change[1] < 1e-12
    silent = _head(np.asarray(head.Q), 0 * np.asarray(head.K), head.V, head.O)
    assert rotary_change(silent, pairs, (1,))[0].relative is None


def test_the_layer_reports_its_heads_and_the_distance_to_definite() -> None:
    source = np.random.default_rng(8)
    heads = [
        {"Q": source.standard_normal((2, 8)), "K": source.standard_normal((2, 8)), "V": source.standard_normal((2, 8))}
        | {"O": source.standard_normal((8, 2)), "scale": 1.5}
        for _ in range(4)
    ]
    weights = LayerWeights.from_arrays(0, heads)
    found = examine(weights, statements=list(statements()))
    assert [head.index for head in found.heads] == [0, 1, 2, 3]
    record = found.as_dict()
    S = sum(head["Q"].T @ head["K"] for head in heads) / 1.5
    low, high = record["score_distance_to_positive_definite"]
    assert low * (1 - 1e-9) <= -np.linalg.eigvalsh((S + S.T) / 2)[0] <= high * (1 + 1e-9)
    F = sum(head["O"] @ head["V"] for head in heads)
    basis = np.asarray(found.principal).T
    values, vectors = np.linalg.eig(F)
    leader = vectors[:, np.argmax(values.real)]
    for part in (leader.real, leader.imag):
        assert np.linalg.norm(part - basis @ (basis.T @ part)) < 1e-9


def test_relations_at_exact_ties_are_decided() -> None:
    """A head whose core has only negative real parts has lambda_1 = 0 exactly: ``lambda_1 > 0`` fails, ``>= 0`` holds."""
    from eigentoken.theory.language.conditions import Relation
    from eigentoken.theory.language.terms import Eigenvalue

    v = np.array([[1.0, 2.0, 0.0, 1.0]])
    head, V = _head(v, v, v, -v.T), matrix("V")
    letters = bind_head(system("oja-map"), head, Answers())
    assert ON_WEIGHTS(Relation(Eigenvalue(V, 1) > 0), letters).is_fails
    assert ON_WEIGHTS(Relation(Eigenvalue(V, 1) >= 0), letters).is_holds
    assert ON_WEIGHTS(Relation(sp.Eq(Eigenvalue(V, 2), 0, evaluate=False)), letters).is_holds
    assert ON_WEIGHTS(Relation(sp.Ne(Eigenvalue(V, 2), 0, evaluate=False)), letters).is_fails
    k = sp.Symbol("k", integer=True, positive=True)
    assert ON_WEIGHTS(Relation(Eigenvalue(V, k) <= 0), letters).is_holds  # alike for every k
    assert ON_WEIGHTS(Relation(Eigenvalue(V, k) < 0), letters) is None  # depends on k: asked of the state
    assert ON_WEIGHTS(Relation(Eigenvalue(V, k) * sp.Symbol("n") < 0), letters) is None


def test_shared_keys_and_values_bound_the_rank_of_the_layer() -> None:
    """Grouped queries: four heads on two key-value heads in R^12, rank 4; exact inertia and singularity from the groups."""
    source = np.random.default_rng(9)
    shared = [(source.standard_normal((2, 12)), source.standard_normal((2, 12))) for _ in range(2)]
    heads = [
        {"Q": source.standard_normal((2, 12)), "K": shared[h // 2][0], "V": shared[h // 2][1]}
        | {"O": source.standard_normal((12, 2)), "scale": 1.0}
        for h in range(4)
    ]
    weights = LayerWeights.from_arrays(0, heads)
    F = sum(head["O"] @ head["V"] for head in heads)
    S = sum(head["Q"].T @ head["K"] for head in heads)
    for role, M in (("value", F), ("score", S)):
        found = weights.grouped[role]
        assert (found.d, found.r) == (12, 4)
        assert np.abs(found.first.center @ found.second.center - M).max() < 1e-12
        verdict = found.inertia()
        assert verdict.is_holds
        w = np.linalg.eigvalsh((M + M.T) / 2)
        assert verdict.details["inertia"] == [int((w > 1e-9).sum()), int((w < -1e-9).sum()), int((abs(w) < 1e-9).sum())]
        low, high = verdict.details["eigenvalues_of_symmetric_part"]["smallest"]
        assert low <= w[0] + 1e-12
        assert high >= w[0] - 1e-12
    record = examine(weights, statements=list(statements())).as_dict()
    assert record["score_inertia"]["details"]["inertia"] == [4, 4, 4]
    singular = _conditions(statements().get("PH-T5"), weights, Answers())
    assert len(singular) == 3
    assert all(verdict.is_fails for verdict in singular.values())
    apart = [head | {"K": head["K"].copy(), "V": head["V"].copy()} for head in [*heads, *heads[:2]]]
    assert LayerWeights.from_arrays(0, apart).grouped == {}


def test_the_inertia_of_dependent_factors_is_left_open() -> None:
    v = np.array([[1.0, 2.0, 0.0, -1.0, 3.0, 0.5]])
    assert _low_rank(v.T, v).inertia().is_undecided
    assert _low_rank(np.ones((3, 2)), np.ones((2, 3))).inertia().is_undecided


@pytest.mark.parametrize("seed", range(4))
def test_wide_layers_are_told_nothing_else_by_their_shorter_ladder(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rungs that fit in memory: fewer answers perhaps, never another one, and certificates that re-check."""
    source = np.random.default_rng(seed)
    parts = [
        {name: source.standard_normal((3, 12)) for name in "QKV"} | {"O": source.standard_normal((12, 3)), "scale": 1.0}
        for _ in range(4)
    ]
    if seed == 3:  # symmetric and definite: the other branches of every rule
        one = np.diag(np.arange(1.0, 13.0))
        parts = [{"Q": one, "K": one, "V": one, "O": np.eye(12), "scale": 1.0}]
    full = LayerWeights.from_arrays(0, parts)
    before = {each.id: _conditions(each, full, Answers()) for each in statements()}
    monkeypatch.setattr("eigentoken.numerics.layers.weights.EXACT_LIMIT", 8)
    wide = LayerWeights.from_arrays(0, parts)
    assert wide.is_wide
    assert wide.value.exact is None
    answers = Answers()
    found = examine(wide, answers=answers)
    decided = 0
    for statement in statements():
        for text, verdict in _conditions(statement, wide, answers).items():
            other = before[statement.id][text]
            if not verdict.is_undecided and not other.is_undecided:
                assert verdict.answer is other.answer, (statement.id, text, verdict.reason, other.reason)
                decided += 1
    assert decided > 60
    inputs = wide.inputs()
    for verdict in [*found.leaders.values(), found.score_inertia, found.value_inertia]:
        if verdict.certificate is not None:
            assert not verdict.certificate.arrays
            assert recheck(verdict.certificate, inputs).is_holds
    exact = sum(np.asarray(part["Q"]).T @ np.asarray(part["K"]) for part in parts)
    w = np.linalg.eigvalsh((exact + exact.T) / 2)
    assert found.score_inertia.is_holds
    assert found.score_inertia.details["inertia"][:2] == [int((w > 0).sum()), int((w < 0).sum())]


@given(seed=st.integers(0, 10**6), d=st.integers(3, 12), data=st.data())
def test_norms_through_triangular_factors_enclose_those_of_the_product(seed: int, d: int, data: st.DataObject) -> None:
    """``|A X B^T|`` is within the interval of ``T_A X T_B^T``, also for dependent columns and extreme units."""
    r = data.draw(st.integers(1, d))
    source = np.random.default_rng(seed)
    a, b, x = source.standard_normal((d, r)), source.standard_normal((d, r)), source.standard_normal((r, r))
    if data.draw(st.booleans()):
        a[:, -1] = a[:, 0]
    a *= 2.0 ** data.draw(st.sampled_from([-300, 0, 250]))
    found = product(
        product(triangular(Enclosure.from_floats(a)), Enclosure.from_floats(x)),
        triangular(Enclosure.from_floats(b)).transpose,
    )
    with mpmath.workdps(60):
        exact = mpmath.matrix(a.tolist()) * mpmath.matrix(x.tolist()) * mpmath.matrix(b.T.tolist())
        norm = max(mpmath.svd_r(exact, compute_uv=False))
        low, high = norm_of(found)
        assert low <= norm <= high
        assert high <= low * CLOSE  # a wider interval is sharpened by an eigen-decomposition
