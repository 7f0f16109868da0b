"""The system of a layer: which heads act, decided exactly; what a statement's system contains; what several heads must share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.numerics.certified.dominant_pairs import shared_pair
from eigentoken.numerics.certified.exact_matrices import ExactMatrix
from eigentoken.numerics.layers.acting_heads import is_identity, product_is_zero
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS, Asks, asks
from eigentoken.numerics.layers.layer_readings import bind_head, read_layer
from eigentoken.numerics.layers.symbol_values import Answers
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.language.claims import InFull
from eigentoken.theory.language.conditions import (
    AllOf,
    AnyOf,
    BoundedInTime,
    Nonsingular,
    Not,
    PositiveDefinite,
    Relation,
    ShareDominantPair,
    Symmetric,
)
from eigentoken.theory.language.readings import CERTIFIED, GENERATED, OBSERVED
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, matrix, n
from eigentoken.theory.statements.layer_systems import ANY, Covers, LayerSystem, contains, idealisations
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Kind
from eigentoken.theory.systems.catalogue import OURS, POSITIONAL, system

ONE = LayerSystem(heads=1, acting=1)


def _head(value: Any, score: Any, scale: float = 1.0) -> dict[str, Any]:
    """Through two-wide factors where the matrices have two nonzero rows, else of full width."""
    value, score = (np.asarray(each, dtype=float) for each in (value, score))
    width = 2 if max(int(each.any(axis=1).sum()) for each in (value, score)) <= 2 else len(value)

    def factors(product: Any) -> tuple[Any, Any]:
        left, right = np.zeros((len(product), width)), np.zeros((width, len(product)))
        for place, row in enumerate([i for i in range(len(product)) if product[i].any()]):
            left[row, place], right[place] = 1.0, product[row]
        return left, right

    (O, V), (Q, K) = factors(value), factors(score)
    return {"Q": Q.T.copy(), "K": K, "V": V, "O": O, "scale": scale}


def _layer(*heads: tuple[Any, Any], **surroundings: Any) -> LayerWeights:
    return LayerWeights.from_arrays(0, [_head(*each) for each in heads], **surroundings)


def _diag(*entries: float) -> Any:
    return np.diag(np.array(entries, dtype=float))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({}, set()),
        ({"heads": 2, "acting": 2}, {"heads"}),
        ({"heads": 2}, set()),
        ({"acting": 0}, {"heads"}),
        ({"mask": "causal"}, {"mask"}),
        ({"mask": "local", "window": 4}, {"mask"}),
        ({"positions": "rotary"}, {"positions"}),
        ({"positions": "bias"}, {"positions"}),
        ({"added_positions": "absolute"}, set()),
        ({"key_value_heads": 1, "queries_are_keys": True}, set()),
        ({"heads": 3, "acting": 3, "mask": "causal", "positions": "rotary"}, {"heads", "mask", "positions"}),
    ],
)
def test_one_head_with_full_attention_contains_nothing_else(change: dict[str, Any], parts: set[str]) -> None:
    found = contains(system("attention-flow"), Covers(), replace(ONE, **change))
    assert {each.part for each in found.differences} == parts
    assert found.only_heads == (parts == {"heads"})
    for each in found.differences:
        assert each.statement
        assert each.layer
        assert each.statement != each.layer


def test_several_heads_contain_one_and_uniform_weights_only_themselves() -> None:
    for layer in (ONE, replace(ONE, heads=7, acting=7)):
        assert not contains(system("multihead-map"), Covers(), layer).differences
    oja = system("oja-map")
    assert {each.part for each in contains(oja, Covers(), ONE).differences} == {"scores"}
    assert not contains(oja, Covers(), replace(ONE, uniform=True)).differences
    gradient = system("ellipsoid-flow")
    assert {each.part for each in contains(gradient, Covers(), ONE).differences} == {"metric", "values"}
    assert not contains(gradient, Covers(), replace(ONE, score_is_identity=True, value_is_identity=True)).differences
    rotary = POSITIONAL["rotary-flow"]
    assert {each.part for each in contains(rotary, Covers(), ONE).differences} == {"positions"}
    assert not contains(rotary, Covers(), replace(ONE, positions="rotary")).differences


def test_what_a_derivation_covers_is_added_to_its_system_and_nothing_more() -> None:
    flow, causal = system("attention-flow"), replace(ONE, mask="causal")
    assert not contains(flow, Covers(masks=("causal",)), causal).differences
    assert contains(flow, Covers(masks=("causal",)), replace(causal, mask="local")).differences
    assert not contains(flow, Covers(masks=(ANY,)), replace(causal, mask="local")).differences
    assert contains(flow, Covers(masks=(ANY,)), replace(causal, positions="rotary")).differences
    several = replace(ONE, heads=2, acting=2)
    found = contains(flow, Covers(heads=(ShareDominantPair("V"),)), several)
    assert (found.differences, found.needs) == ((), (ShareDominantPair("V"),))
    assert contains(flow, Covers(heads=(ShareDominantPair("V"),)), ONE).needs == ()
    assert {each.part for each in contains(flow, Covers(replaced="another map"), ONE).differences} == {"map"}


def test_idealisations_are_those_of_the_system_and_the_layer() -> None:
    assert idealisations(system("attention-map"), ONE) == (
        *("normalisation", "centring", "gains", "biases", "feed-forward"),
    )
    assert "centring" not in idealisations(system("attention-map"), replace(ONE, norm="rmsnorm"))
    assert idealisations(system("attention-map"), replace(ONE, placement="pre"))[0] == "step of a map"
    assert idealisations(system("attention-flow"), replace(ONE, placement="pre"))[0] == "step"
    assert "centring" not in idealisations(system("token-flow"), ONE)  # in what the norm changes of the state
    assert idealisations(system("token-flow"), ONE)[:2] == ("step", "no normalisation")
    assert "weights over root d" in idealisations(system("causal-flow"), ONE)
    assert "gains" not in idealisations(system("attention-map"), replace(ONE, gains_folded=True))


def test_every_system_of_the_book_is_matched_with_every_layer() -> None:
    """Each statement is about some layer that can be stored, unless it says that it replaces a part or is an example."""
    layers = [
        replace(
            ONE,
            mask=mask,
            positions=positions,
            uniform=uniform,
            score_is_identity=same,
            value_is_identity=same,
            placement=placement,
        )
        for placement in ("pre", "post")
        for mask in ("full", "causal")
        for positions in ("none", "rotary")
        for uniform in (False, True)
        for same in (False, True)
    ]
    for statement in statements():
        if not statement.systems:  # of weights and tokens as they are, or of a map that is no system of the house
            assert statement.id.startswith("BD-") or statement.id == "CL-11"
            continue
        assert set(statement.systems) <= set(OURS)
        about = any(
            not contains(system(name), statement.covers, layer).differences
            for name in statement.systems
            for layer in layers
        )
        if statement.systems in {("peri-norm-flow",), ("hard-attention-map",)}:  # no layer of either kind is read
            assert not about
            continue
        assert about == (not statement.covers.replaced and not statement.covers.example), statement.id


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(2, 5))
def test_a_product_is_zero_only_where_it_is(seed: int, r: int, d: int) -> None:
    source = np.random.default_rng(seed)
    left, right = source.integers(-2, 3, (d, r)).astype(float), source.integers(-2, 3, (r, d)).astype(float)
    assert product_is_zero(left, right) == (not (left @ right).any())
    assert product_is_zero(np.hstack([left, left]), np.vstack([right, -right]))
    assert not product_is_zero(np.hstack([left, np.ones((d, 1))]), np.vstack([0 * right, np.full((1, d), 2.0**-1070)]))


def test_rounding_does_not_make_a_zero_or_an_identity() -> None:
    """``1 + 2^-60 - 1`` is zero in floats and not in exact arithmetic; a third times three is not one."""
    assert not product_is_zero(np.array([[1.0, 2.0**-60, -1.0]]), np.array([[1.0], [1.0], [1.0]]))
    assert is_identity(np.eye(2), np.eye(2))
    assert is_identity(2 * np.eye(2), 4 * np.eye(2), 8.0)
    assert not is_identity(3 * np.eye(2), np.eye(2) / 3)
    assert not is_identity(np.eye(3)[:, :2], np.eye(3)[:2])


def test_heads_that_act() -> None:
    value, score = _diag(3, 1, 0, 0), _diag(1, 2, 0, 0)
    assert _layer((value, score), (value, _diag(1, 2.5, 0, 0))).system.acting == 2
    assert _layer((value, score), (2 * value, score)).acting == ((0, 1),)
    assert _layer((value, score), (0 * value, 5 * score)).acting == ((0,),)
    assert _layer((value, score), (-value, score)).acting == ()
    assert _layer((value, score), (2.0**-1000 * value, 5 * score)).system.acting == 2
    turned = _layer((value, score), (2 * value, score), positions="rotary")
    assert turned.acting == ((0, 1),)  # the same arrays
    silent = _head(value, 0 * score) | {"Q": _head(value, score)["Q"]}  # K = 0
    assert LayerWeights.from_arrays(0, [silent], positions="rotary").system.uniform
    lively = silent | {"k_bias": np.array([1.0, 0.0])}  # turned by the position of the key
    assert not LayerWeights.from_arrays(0, [lively], positions="rotary").system.uniform
    assert LayerWeights.from_arrays(0, [lively]).system.uniform
    split = LayerWeights.from_arrays(
        0, [_head(value, score), _head(value, score) | {"Q": 2 * _head(value, score)["Q"]}]
    )
    halved = [
        _head(value, score),
        {**_head(value, score), "Q": 2 * _head(value, score)["Q"], "K": _head(value, score)["K"] / 2},
    ]
    assert split.system.acting == 2
    assert LayerWeights.from_arrays(0, halved).system.acting == 1  # the same Q^T K
    biased = [_head(value, score) | {"q_bias": np.array([1.0, 0.0])}, _head(_diag(0, 1, 0, 0), score)]
    assert LayerWeights.from_arrays(0, biased).system.acting == 2  # K^T b_Q is a score of the keys
    biased[0]["q_bias"] = None
    biased[0]["k_bias"] = np.array([1.0, 0.0])  # the same for all keys of a query: softmax does not see it
    assert LayerWeights.from_arrays(0, biased).system.acting == 1
    evenly = _head(value, 0 * score) | {"K": _head(value, score)["K"]}
    assert LayerWeights.from_arrays(0, [evenly]).system.uniform
    assert not LayerWeights.from_arrays(0, [evenly | {"q_bias": np.array([1.0, 0.0])}]).system.uniform
    uniform = _layer((value, 0 * score), (_diag(0, 0, 1, 1), 0 * score))
    assert uniform.system.uniform
    assert not _layer((value, score)).system.uniform


def test_the_scores_of_the_one_head_that_acts_are_read_and_not_the_sum() -> None:
    """A silent head with huge scores leaves PH-T3's W alone."""
    value, score = np.eye(4), _diag(1, 2, 3, 4)
    heads = [_head(value, score), _head(0 * value, -100 * np.eye(4))]
    found = read_layer(statements().get("PH-T3"), LayerWeights.from_arrays(0, heads), Answers())
    assert found.answer == "holds"
    assert read_layer(statements().get("PH-T3"), _layer((value, -score)), Answers()).answer == "fails"


W, P, B, V = (matrix(letter) for letter in "WPBV")


@pytest.mark.parametrize(
    ("conditions", "name", "asked"),
    [
        ((), "token-flow", Asks.NOTHING),
        ((Relation(n >= 2), BoundedInTime("P")), "ellipsoid-multihead-flow", Asks.NOTHING),
        ((Symmetric(W), PositiveDefinite(W)), "ellipsoid-multihead-flow", Asks.NOTHING),  # the metric, not weights
        ((Symmetric(W),), "token-flow", Asks.MORE),  # there W is the score matrix
        ((Symmetric(P),), "ellipsoid-flow", Asks.MORE),
        ((Nonsingular(B),), "token-flow", Asks.INVERTIBLE),
        ((AllOf((Nonsingular(B), Relation(n >= 2))),), "token-flow", Asks.INVERTIBLE),
        ((AnyOf((Nonsingular(B), Symmetric(B))),), "token-flow", Asks.INVERTIBLE),
        ((Not(Nonsingular(B)),), "token-flow", Asks.MORE),
        ((Relation(Eigenvalue(V, 1) > 0),), "attention-map", Asks.MORE),
    ],
)
def test_what_conditions_ask(conditions: Any, name: str, asked: Asks) -> None:
    assert asks(conditions, system(name)) is asked


def _exact(*matrices: Any) -> list[ExactMatrix]:
    return [ExactMatrix.from_floats(np.asarray(each, dtype=float)) for each in matrices]


def test_a_shared_pair_is_found_and_its_norm_is_certified() -> None:
    assert shared_pair(_exact(_diag(2, 1), _diag(1, -0.5))).is_holds
    shear = np.array([[2.0, 0, 0], [0, 0, 5], [0, 0, 0]])  # contracts in no multiple of the Euclidean norm
    assert "adapted" in shared_pair(_exact(shear, _diag(1, 0.1, 0.1))).reason
    turned = np.array([[2.0, 0, 0], [1, 0.5, 0], [0, 0, 0.25]])  # u = e1, v = (1, 2/3, 0)
    assert shared_pair(_exact(turned, 3 * turned)).is_holds
    assert shared_pair(_exact(turned, _diag(1, 0, 0))).is_undecided  # another v
    assert shared_pair(_exact(_diag(2, 1), _diag(1, 1))).is_undecided
    assert shared_pair(_exact(_diag(2, 1), _diag(-1, 0.5))).is_undecided
    assert shared_pair(_exact(np.array([[0.0, -1], [1, 0]]))).is_undecided


@given(st.integers(0, 2**32 - 1))
def test_a_shared_pair_is_never_claimed_where_the_flow_leaves_it(seed: int) -> None:
    """Whatever is said to hold: each head has the pair, positive, ahead of its other eigenvalues."""
    source = np.random.default_rng(seed)
    heads = [np.diag(source.integers(-3, 4, 3).astype(float)) for _ in range(2)]
    if shared_pair(_exact(*heads)).is_holds:
        first = int(np.argmax(np.diag(sum(heads))))
        for head in heads:
            rest = np.delete(np.abs(np.diag(head)), first)
            assert head[first, first] > rest.max()


def test_several_heads_of_ab_x2() -> None:
    """Held only where the shared pair is shown; not about the layer where it is refuted; the certificate re-checks."""
    extension = statements().get("AB-X2c")
    scores = (_diag(1, 0, 0, 0), _diag(0, 1, 0, 0))
    shown = read_layer(extension, _layer((_diag(2, 1, 0, 0), scores[0]), (_diag(1, 0.5, 0, 0), scores[1])), Answers())
    assert shown.answer == "holds"
    assert len(shown.conditions) == 3
    weights = _layer((_diag(2, 1, 0, 0), scores[0]), (_diag(0, 0, 1, 0.5), scores[1]))
    apart = read_layer(extension, weights, Answers())
    assert apart.answer == "not about this model"
    assert [each.part for each in apart.differs] == ["heads"]
    assert apart.differs[0].layer == "2 heads that do not"
    (verdict,) = apart.conditions.values()
    assert "meet only in 0" in verdict.reason
    inner = verdict.details["full_rank"]
    assert recheck(inner, weights.inputs()).is_holds
    assert apart.as_one_head is not None
    assert apart.as_one_head.answer == "met as if one head"
    cancel = read_layer(
        extension, _layer((_diag(0, 10, 0, 0), scores[1]), (_diag(1, -9.5, 0, 0), 0 * scores[0])), Answers()
    )
    assert cancel.answer == "not about this model"
    assert "no dominant positive eigenvalue" in next(iter(cancel.conditions.values())).reason
    unknown = read_layer(extension, _layer((_diag(2, 1, 0, 0), scores[0]), (_diag(1, 1.5, 0, 0), scores[1])), Answers())
    assert unknown.answer == "undecided"


def test_what_is_asked_of_each_head_is_not_asked_of_their_sum() -> None:
    """A statement that covers several heads with U_h = I each: two of them add to 2 I; two halves do not satisfy it."""
    theorem = replace(statements().get("AB-T5.1"), covers=Covers(heads=()))
    scores = (_diag(1, 2, 3, 4), _diag(4, 3, 2, 1))
    whole = _layer((np.eye(4), scores[0]), (np.eye(4), scores[1]), mask="causal")
    assert read_layer(theorem, whole, Answers()).answer == "holds"
    halves = _layer((np.eye(4) / 2, scores[0]), (np.eye(4) / 2, scores[1]), mask="causal")
    assert read_layer(theorem, halves, Answers()).answer == "fails"
    assert read_layer(theorem, _layer((np.eye(4), scores[0])), Answers()).answer == "not about this model"


def test_the_word_of_several_heads_is_read_alike_on_instances() -> None:
    from eigentoken.numerics.instances.exact_values import Case
    from eigentoken.numerics.instances.plans import plan_for
    from eigentoken.numerics.instances.sampling import sample
    from eigentoken.numerics.readings import load
    from eigentoken.theory.classification.instances import Instance

    load()
    asked = ShareDominantPair("F")
    drawn = sample(GENERATED(asked, plan_for("multihead-flow", ())), 40, 3)
    for batch in drawn.batches:
        assert float(OBSERVED(asked, batch).max()) < 0

    def case(*values: Any) -> Case:
        heads = [{"F": [[str(e) for e in row] for row in value], "M": [["0", "0"], ["0", "0"]]} for value in values]
        return Case(Instance.of("multihead-flow", [["1", "0"], ["1", "0"]], heads=heads))

    assert CERTIFIED(asked, case([[2, 0], [0, 1]], [[1, 0], [0, 0]])).is_holds
    assert CERTIFIED(asked, case([[2, 0], [0, 1]], [[1, 0], [0, -3]])).is_fails
    assert CERTIFIED(asked, case([[2, 0], [0, 1]], [[1, 0], [1, 2]])).is_undecided


def _words(weights: LayerWeights, *names: str) -> list[str]:
    return [str(read_layer(statements().get(name), weights, Answers()).answer) for name in names]


def test_an_example_with_matrices_of_its_own_is_about_no_layer() -> None:
    """A = -I, W = I: all tokens tend to 0 (PH-T2). PH-C2, by which consensus tokens grow, is about two rotations."""
    weights = _layer((-np.eye(4), np.eye(4)))
    assert _words(weights, "PH-T2", "PH-C1", "PH-C2") == ["holds", *["not about this model"] * 2]
    for statement in statements():
        if statement.kind is Kind.COUNTEREXAMPLE and statement.conditions:  # it claims, or it is an example
            general = [each for each in statement.claims if not isinstance(each, InFull)]
            assert bool(general) == (not statement.covers.example), statement.id
            assert statement.covers.example in statement.covers.describe()


def test_conditions_on_the_width_are_read_on_the_layer() -> None:
    """Two tokens 1 and -1 of R^1 stay where they are: the claims about almost every start need d >= 2."""
    line = {"Q": np.eye(1), "K": np.eye(1), "V": np.eye(1), "O": np.eye(1), "scale": 1.0}
    causal, full = LayerWeights.from_arrays(0, [line], mask="causal"), LayerWeights.from_arrays(0, [line])
    assert _words(causal, "AB-T5.1") == ["fails"]
    assert _words(full, "AB-X0", "CT-2", "CT-6") == ["fails"] * 3
    plane = _layer((np.eye(2), np.eye(2)))
    assert _words(plane, "AB-X0", "CT-2") == ["holds", "holds"]
    assert read_layer(statements().get("AB-X0"), plane, Answers()).about_tokens == ()
    assert read_layer(statements().get("CT-2"), plane, Answers()).about_tokens == ("n \\geq 2",)


def test_positions_that_each_head_has_of_its_own_keep_heads_apart() -> None:
    """ALiBi: two heads without scores have slopes of their own, and PH-T4 is about one head."""
    heads = (_diag(3, 1, 0, 0), _diag(0, 0, 0, 0)), (_diag(-2, 1, 0, 0), _diag(0, 0, 0, 0))
    assert _words(_layer(*heads), "PH-T4c") == ["holds"]
    assert _layer(*heads, positions="rotary").system.acting == 1
    alibi = _layer(*heads, positions="alibi")
    assert (alibi.system.acting, alibi.system.uniform) == (2, False)
    assert _words(alibi, "PH-T4c") == ["not about this model"]
    assert _words(_layer(heads[0], positions="alibi"), "PH-T4c") == ["holds"]
    assert _layer(heads[0], (0 * heads[0][0], heads[0][1]), positions="alibi").system.acting == 1


@pytest.mark.parametrize("width", [2, 4])
def test_eigenvalues_and_norms_of_scores_are_those_of_the_divided_matrix(width: int) -> None:
    """Q^T K = 4 e1 e1^T + ..., scale 8: lambda_1(M) = 1/2, whatever the condition compares it with."""
    score = _diag(4, 2, 0, 0) if width == 2 else _diag(4, 2, 1, 1)
    value = _diag(2, 1, 0, 0) if width == 2 else _diag(2, 1, 1, 1)
    letters = bind_head(
        system("attention-flow"), LayerWeights.from_arrays(0, [_head(value, score, 8.0)]).heads[0], Answers()
    )
    M, V = matrix("M"), matrix("V")
    for bound, word in ((3, "fails"), (5, "holds")):
        for side in (8 * Eigenvalue(M, 1), 8 * SpectralNorm(M), 2 * Eigenvalue(V, 1)):
            assert str(ON_WEIGHTS(Relation(side < bound), letters).answer) == word, side
    unit = bind_head(
        system("attention-flow"), LayerWeights.from_arrays(0, [_head(np.eye(2), np.eye(2), 2.0)]).heads[0], Answers()
    )
    assert unit.answer("identity", V).is_holds
    assert unit.answer("identity", M).is_fails  # M is I/2, stored as I
    assert unit.answer("positive-definite", V + M).is_holds  # 3 I / 2: stored times 2, V is multiplied by 2
    opposite = bind_head(
        system("attention-flow"),
        LayerWeights.from_arrays(0, [_head(np.eye(2), -1.5 * np.eye(2), 2.0)]).heads[0],
        Answers(),
    )
    assert opposite.answer("positive-definite", V + M).is_holds  # I - 3 I / 4, where the stored sum is negative
    assert opposite.answer("positive-definite", M + M + V).is_undecided  # 2 M is not a letter
    assert opposite.answer("negative-definite", V + M).is_fails
    assert unit.norm(M * M.T)[1] == pytest.approx(0.25, rel=1e-9)
