"""Conditions on weights: certified against exact answers, near misses told apart, and no word without a reading."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.certified_attention import exact
from eigentoken.numerics.layers.findings import examine
from eigentoken.numerics.layers.head_findings import head_inertia
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.layer_readings import bind, read_layer
from eigentoken.numerics.layers.observe import observe_layer, principal_subspace, wilson_interval
from eigentoken.numerics.layers.quantities import (
    alpha_star,
    norm_of,
    real_parts,
    spectral_discs,
)
from eigentoken.numerics.layers.regimes import regime
from eigentoken.numerics.layers.steering import cosine_below, edit_output, token_guarantees
from eigentoken.numerics.layers.symbol_values import Answers, LayerSymbolValues
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, d, matrix
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system

V, W, B = matrix("V"), matrix("W"), matrix("B")


def _environment(**matrices) -> LayerSymbolValues:
    made = {name: Enclosure.from_floats(np.asarray(value, dtype=float), name=name) for name, value in matrices.items()}
    return LayerSymbolValues("test", made)


def _layer(value, score=None, scale: float = 1.0) -> LayerWeights:
    size = len(value)
    one = np.eye(size)
    return LayerWeights.from_arrays(
        0,
        [
            {
                "Q": one if score is None else np.asarray(score, float).T,
                "K": one,
                "V": np.asarray(value, float),
                "O": one,
                "scale": scale,
            }
        ],
    )


def test_every_condition_of_the_book_has_a_reading_on_weights() -> None:
    for statement in statements():
        assert statement.systems or not statement.conditions, f"{statement.id} names no system"
        for condition in (*statement.conditions, *(statement.covers.heads or ())):
            assert ON_WEIGHTS.find(type(condition)) is not None, (statement.id, condition)


def test_relations_are_decided_by_balls_and_ties_stay_undecided() -> None:
    environment = _environment(V=np.diag([2.0, 0.5, -1.0]))
    assert ON_WEIGHTS(Relation(Eigenvalue(V, 1) > 0), environment).is_holds
    assert ON_WEIGHTS(Relation(Eigenvalue(V, d) > 0), environment).is_fails
    assert ON_WEIGHTS(Relation(Eigenvalue(V, 1) + Eigenvalue(V, d) > 1), environment).is_undecided
    assert ON_WEIGHTS(Relation(alpha * SpectralNorm(V) < 3), environment).is_holds
    assert ON_WEIGHTS(Relation(alpha * SpectralNorm(V) < sp.sqrt(2)), environment).is_fails
    assert ON_WEIGHTS(Relation(sp.Symbol("n") >= 2), environment) is None


def test_an_inverse_is_never_formed() -> None:
    a, b = np.array([[-2.0, 0.5], [0.5, -1.0]]), np.array([[1.0, 2.0], [0.0, 1.0]])
    environment = _environment(W=a @ b, B=b)
    A = sp.MatMul(W, sp.Inverse(B))
    assert ON_WEIGHTS(Symmetric(A), environment).is_holds
    assert ON_WEIGHTS(NegativeDefinite(A), environment).is_holds
    assert ON_WEIGHTS(PositiveDefinite(A), environment).is_fails
    skewed = _environment(W=(a + np.array([[0, 1.0], [-1.0, 0]])) @ b, B=b)
    assert ON_WEIGHTS(Symmetric(A), skewed).is_fails
    assert ON_WEIGHTS(NegativeDefinite(A), skewed).is_holds
    singular = _environment(W=np.eye(2), B=np.diag([1.0, 0.0]))
    assert ON_WEIGHTS(Symmetric(A), singular).is_fails


@given(st.lists(st.integers(-6, 6), min_size=4, max_size=4), st.fractions(Fraction(1, 10), 5, max_denominator=20))
def test_alpha_star_decides_stability_at_consensus(entries: list[int], step: Fraction) -> None:
    """Below alpha* every other |1 + alpha lambda| is smaller than that of the leader; above, one is larger."""
    F = np.array(entries, dtype=float).reshape(2, 2)
    found = alpha_star(Enclosure.from_floats(F))
    values = np.linalg.eigvals(F)
    if found is None:
        return
    leader = values.real.max()
    other = values[np.argmin(np.abs(values - values.sum() + leader))]
    ratio = abs(1 + float(step) * other) / (1 + float(step) * leader)
    if float(step) < found[0]:
        assert ratio < 1 + 1e-9
    if float(step) > found[1]:
        assert ratio > 1 - 1e-9


@given(st.integers(1, 3), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_low_rank_inertia_is_the_inertia(r: int, more: int, seed: int) -> None:
    size = 2 * r + more
    factors = np.random.default_rng(seed).integers(-3, 4, size=(2 * r, size)).astype(float)
    product = factors[:r].T @ factors[r:]
    exact = sp.Matrix((product + product.T).astype(int))
    verdict = head_inertia(factors, "Z")
    if verdict.is_holds:
        polynomial = exact.charpoly().as_expr()
        symbol = exact.charpoly().gen
        roots = sp.Poly(polynomial, symbol)
        zero = next(k for k, c in enumerate(reversed(roots.all_coeffs())) if c != 0) if roots.degree() else 0
        positive = roots.count_roots(0, None) - (1 if zero else 0)
        multiplicities = sp.Poly(polynomial, symbol).sqf_list()[1]
        positive = sum(
            m * (factor.count_roots(0, None) - (1 if factor.eval(0) == 0 else 0)) for factor, m in multiplicities
        )
        assert verdict.details["inertia"] == [positive, size - positive - zero, zero]


def test_degenerate_heads_are_not_called_full() -> None:
    factors = np.array([[1.0, 0, 0, 0], [1.0, 0, 0, 0]])  # Q = K: sym is rank one and positive
    verdict = head_inertia(factors, "Z")
    assert verdict.is_holds
    assert verdict.details["inertia"] == [1, 0, 3]


def test_regimes_of_pham() -> None:
    a, b = np.diag([-1.0, -2.0]), np.array([[-1.0, -0.5], [0.25, -0.5]])
    assert np.linalg.eigvalsh((a @ b + (a @ b).T) / 2)[0] > 0
    answers = Answers()
    assert regime(_layer(b, a @ b), answers).name == "convergence"
    assert regime(_layer(-b, a @ b), Answers()).name == "divergence"
    mixed = np.diag([1.0, -2.0])
    value = np.linalg.solve(mixed, np.array([[1.0, 0.5], [-0.5, 1.0]]))
    found = regime(_layer(value, np.array([[1.0, 0.5], [-0.5, 1.0]])), Answers())
    assert found.name in {"intermediate", "undecided"}
    assert regime(_layer(np.eye(2), np.diag([1.0, -1.0])), Answers()).name == "none"


def test_findings_name_the_case_and_the_threshold() -> None:
    F = np.zeros((3, 3))
    F[0, 0], F[1:, 1:] = 1.0, [[0.9, -3.0], [3.0, 0.9]]
    found = examine(_layer(F))
    assert found.cases == {"real-part": "1", "modulus": "2", "step": "2"}
    assert found.alpha_star is not None
    assert found.alpha_star[0] <= 0.0227014755959 * (1 + 1e-11)
    assert found.alpha_star[1] >= 0.0227014755959 * (1 - 1e-11)
    low, high = norm_of(Enclosure.from_floats(F), 2.0)
    assert low <= np.linalg.norm(F, 2) / 2 <= high


@given(seed=st.integers(0, 10**6), n=st.integers(1, 9))
def test_ordered_real_parts_are_those_of_the_components_one_by_one(seed: int, n: int) -> None:
    """Discs apart, in clusters and in pairs: the quick way over all discs gives what the definition gives."""
    source = np.random.default_rng(seed)
    F = source.integers(-2, 3, (n, n)).astype(float) if seed % 2 else source.standard_normal((n, n))
    enclosure = Enclosure.from_floats(F, 0.2 * float(source.random()))
    found, discs = real_parts(enclosure), spectral_discs(enclosure)
    if found is None or discs is None:
        assert found is None
        assert discs is None
        return
    shapes, _ = discs
    members = [shapes.component(index) for index in range(n)]
    low = [np.nextafter((shapes.centers.real - shapes.radii)[each].min(), -np.inf) for each in members]
    high = [np.nextafter((shapes.centers.real + shapes.radii)[each].max(), np.inf) for each in members]
    assert found == (sorted(low, reverse=True), sorted(high, reverse=True))


def test_a_statement_applies_to_a_layer_that_satisfies_it() -> None:
    lemma = statements().get("PM-T3")
    good = read_layer(lemma, _layer(np.diag([3.0, 1.0, -2.0])), Answers())
    assert good.answer == "holds"
    assert good.system == "attention-map"
    assert good.about_tokens == ("n \\geq 2",)
    tied = read_layer(lemma, _layer(np.diag([3.0, 3.0, -2.0])), Answers())
    assert tied.answer == "fails"
    skew = np.diag([3.0, 1.0, -2.0])
    skew[0, 1] = 1e-300
    assert read_layer(lemma, _layer(skew), Answers()).answer == "fails"


def test_the_identity_plays_the_metric() -> None:
    environment = bind(system("ellipsoid-multihead-flow"), _layer(np.eye(3)), Answers())
    assert ON_WEIGHTS(PositiveDefinite(matrix("W")), environment).is_holds
    assert ON_WEIGHTS(SimpleTop(matrix("U")), environment).is_fails


def test_a_steered_layer_and_its_guarantees() -> None:
    source = np.random.default_rng(3)
    size, strength = 6, 50.0
    O, value = source.standard_normal((size, size)), source.standard_normal((size, size))
    w = source.standard_normal(size)
    edit = edit_output(O, value, w, strength)
    assert edit.output @ value == pytest.approx(O @ value + strength * np.outer(edit.direction, edit.left), abs=1e-9)
    x, mixed = source.standard_normal((40, size)), source.standard_normal((40, size))
    after = x + mixed @ edit.output.T
    guarantees = token_guarantees(x, exact(mixed), edit.output, edit)
    assert {str(found.verdict.answer) for found in guarantees} == {"holds", "fails"}
    for token, found in zip(after, guarantees, strict=True):
        along = abs(float(token @ edit.direction))
        across = float(np.linalg.norm(token - (token @ edit.direction) * edit.direction))
        if found.tangent_at_most is not None:
            assert across / along <= found.tangent_at_most * (1 + 1e-9)
    for bad, match in (
        ((O, value[:3], w, 1.0), "shapes"),
        ((O, value, w[:2], 1.0), "entries"),
        ((O, value, 0 * w, 1.0), "zero"),
    ):
        with pytest.raises(ValueError, match=match):
            edit_output(*bad)
    with pytest.raises(ValueError, match="orthogonal"):
        edit_output(O, np.eye(size), np.eye(size)[0], 1.0, np.eye(size)[1])


def test_steering_where_heads_share_their_values() -> None:
    """V with repeated rows has a kernel: z is the part of w that V sees, and F gains exactly mu w z^T."""
    source = np.random.default_rng(4)
    half = source.standard_normal((3, 6))
    value, O, w = np.vstack([half, half]), source.standard_normal((6, 6)), source.standard_normal(6)
    edit = edit_output(O, value, w, 30.0)
    assert edit.left @ edit.direction == pytest.approx(1.0)
    assert edit.output @ value == pytest.approx(O @ value + 30.0 * np.outer(edit.direction, edit.left), abs=1e-9)
    leading = np.linalg.eigvals(edit.output @ value)
    assert leading[np.argmax(leading.real)].real > 20.0
    kernel = np.linalg.svd(half)[2][-1]
    with pytest.raises(ValueError, match="orthogonal"):
        edit_output(O, value, kernel, 30.0)
    with pytest.raises(ValueError, match="row space"):
        edit_output(O, value, w, 30.0, kernel + w)


def test_the_certified_cosine_is_below_the_true_one() -> None:
    source = np.random.default_rng(6)
    O, value, w = source.standard_normal((5, 5)), source.standard_normal((5, 5)), source.standard_normal(5)
    edit = edit_output(O, value, w, 60.0)
    F = edit.output @ value
    found = certify("principal-eigenvector", F)
    values, vectors = np.linalg.eig(F)
    true = abs(float(np.real(vectors[:, np.argmax(values.real)]) @ edit.direction))
    bound = cosine_below(found, edit.direction)
    assert bound is not None
    assert true - 1e-6 < bound <= true + 1e-12
    assert (
        cosine_below(certify("principal-eigenvector", np.array([[0.0, -1.0], [1.0, 0.0]])), np.array([1.0, 0.0]))
        is None
    )


def test_observations_of_alignment() -> None:
    F = np.diag([1.0, 0.2, 0.1])
    before = np.random.default_rng(0).standard_normal((5, 7, 3))
    after = before @ (np.eye(3) + F).T
    seen = observe_layer(0, before, after, principal_subspace(F))
    assert seen.probability == 1.0
    assert seen.delta_rho_interval[0] > 0
    assert principal_subspace(np.array([[0.0, -1.0], [1.0, 0.0]])).shape == (2, 2)
    for name, (low, high) in (("mean_distance", (0, 2)), ("E", (0, 2)), ("correlation", (0, 1))):
        means, bands = getattr(seen, name), getattr(seen, f"{name}_intervals")
        assert all(low < below < mean < above < high for (below, above), mean in zip(bands, means, strict=True))
    alone = observe_layer(0, before[:1], after[:1], principal_subspace(F))
    assert (alone.E_intervals, alone.mean_distance_intervals, alone.correlation_intervals) == (None, None, None)
    assert alone.as_dict()["E_intervals"] is None
    low, high = wilson_interval(5, 10)
    assert 0.2 < low < 0.5 < high < 0.8


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=4))
def test_a_negative_leader_by_modulus_is_no_dominant_eigenvalue(entries: list[int]) -> None:
    """``diag(1, -9)`` has a real simple leader by modulus and lambda_1 = 1 > 0, and not lambda_1 > |lambda_2|."""
    from eigentoken.theory.language.conditions import NonPrincipalModulusBelow

    verdict = ON_WEIGHTS(NonPrincipalModulusBelow(V), _environment(V=np.diag(np.array(entries, dtype=float))))
    first, *others = sorted(entries, reverse=True)
    true = all(abs(each) < first for each in others)  # so first > 0 where there is another
    assert not (verdict.is_holds and not true)
    assert not (verdict.is_fails and true)
    if entries in ([1, -6], [3, 1]):
        assert not verdict.is_undecided
