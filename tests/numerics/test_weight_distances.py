"""Distances to conditions on values and scores: both ends against random weights that meet them, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.layers.head_distances import Role, head_distance
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.nearest import Letters, WeightDistance, layer_distance, nearest_of_letters
from eigentoken.numerics.layers.neighbours import matrices_near
from eigentoken.numerics.layers.symbol_values import HeadSymbolValues, LayerSymbolValues
from eigentoken.numerics.layers.wanted import Wanted, trace_is_met, wanted_of, ways
from eigentoken.numerics.layers.weights import HeadWeights
from eigentoken.theory.language.conditions import (
    AnyOf,
    Condition,
    IsIdentity,
    NegativeDefinite,
    NonPrincipalModulusBelow,
    Nonsingular,
    PositiveDefinite,
    PositiveSemidefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.proportion import IDENTITY, MultipleOf
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, Trace, d, matrix

V, M = matrix("V"), matrix("M")
SCALE = 2.0


def of_layer(conditions: list[Condition], value: np.ndarray, score: np.ndarray) -> WeightDistance:
    """The distance of V and M, the scores given divided by their scale."""
    matrices = {"V": Enclosure.from_floats(value), "M": Enclosure.from_floats(SCALE * score)}
    letters = Letters(("V",), "M", matrices, SCALE)
    environment = LayerSymbolValues("test", matrices, letters.scales)
    verdicts = {each: ON_WEIGHTS(each, environment) for each in conditions}
    return layer_distance(conditions, verdicts, letters, None, False)


def of_head(conditions: list[Condition], head: HeadWeights) -> WeightDistance:
    roles: dict[str, Role] = {"V": "value", "M": "score"}
    environment = HeadSymbolValues(head, roles)
    return head_distance({each: ON_WEIGHTS(each, environment) for each in conditions}, head, roles)


def drawn(seed: int, size: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((size, size)), rng.standard_normal((size, size))


def head_of(seed: int, size: int = 7, width: int = 3) -> HeadWeights:
    rng = np.random.default_rng(seed)
    Q, K, values = (rng.standard_normal((width, size)) for _ in range(3))
    return HeadWeights(Q, K, values, rng.standard_normal((size, width)), SCALE, "test")


def norm(X: np.ndarray) -> float:
    return float(np.linalg.norm(X, 2))


def smallest(X: np.ndarray) -> float:
    return float(np.linalg.eigvalsh((X + X.T) / 2)[0])


@pytest.mark.parametrize("seed", range(3))
def test_symmetry_definiteness_and_norms_are_exact(seed: int) -> None:
    value, score = drawn(seed)
    skew = norm(score - score.T) / 2
    exact = {
        (Symmetric(M),): skew,
        (PositiveDefinite(M),): -smallest(score),
        (NegativeDefinite(M),): -smallest(-score),
        (PositiveSemidefinite(V),): -smallest(value),
        (Relation(SpectralNorm(V) < 1),): norm(value) - 1,
        (Relation(3 * SpectralNorm(M) < 1),): norm(score) - 1 / 3,
        (IsIdentity(V),): norm(value - np.eye(6)),
        (Symmetric(V), Relation(SpectralNorm(M) < 2)): max(norm(value - value.T) / 2, norm(score) - 2),
        (AnyOf((PositiveDefinite(M), NegativeDefinite(M))),): min(-smallest(score), -smallest(-score)),
    }
    for conditions, wanted in exact.items():
        found = of_layer(list(conditions), value, score)
        assert found.interval is not None and found.nearby is not None, conditions
        low, high = found.interval
        assert low <= wanted * (1 + 1e-9) and wanted * (1 - 1e-9) <= high, conditions
        assert high - low <= 1e-4 * norm(value) + 1e-4 * norm(score), conditions
    both = of_layer([Symmetric(M), PositiveDefinite(M)], value, score).interval
    assert both is not None and both[0] >= max(skew, -smallest(score)) * (1 - 1e-9)
    assert both[1] <= math.hypot(skew, -smallest(score)) * (1 + 1e-4)  # sym(M) + t I, the skew part is normal


OPEN = [
    [SimpleTop(V), Relation(Eigenvalue(V, 1) > 0)],
    [NonPrincipalModulusBelow(V)],
    [Symmetric(V), NonPrincipalModulusBelow(V), Relation(SpectralNorm(V) < 1)],
    [Symmetric(M * V.I), NegativeDefinite(M * V.I), PositiveDefinite(M)],
    [Nonsingular(V), Symmetric(M * V.I)],
    [MultipleOf(M, V), Symmetric(V), Relation(Trace(M * V) > 0)],
    [MultipleOf(M), Relation(Eigenvalue(M, 1) >= 0)],
    [Relation(2 + Eigenvalue(V, 1) + Eigenvalue(V, d) > 0), Symmetric(V)],
]


def is_met(condition: Condition, value: np.ndarray, score: np.ndarray) -> bool:
    """The condition in floats, with a little room for what was made exactly and printed as floats."""
    values = np.linalg.eigvals(value)
    order = values[np.argsort(-values.real)]
    quotient = score @ np.linalg.inv(value)
    asked = (
        score if getattr(condition, "term", None) == M else value if getattr(condition, "term", None) == V else quotient
    )
    match condition:
        case Symmetric():
            return norm(asked - asked.T) <= 1e-8 * (norm(asked) + 1)
        case PositiveDefinite():
            return smallest(asked) > 0
        case NegativeDefinite():
            return smallest(-asked) > 0
        case SimpleTop():
            return bool(order[0].imag == 0 and order[0].real > order[1].real)
        case NonPrincipalModulusBelow():
            top = order[0]
            return bool(top.imag == 0 and all(abs(each) < top.real for each in order[1:]))
        case Nonsingular():
            return bool(np.linalg.cond(asked) < 1e12)
        case MultipleOf():
            to = np.eye(len(value)) if condition.of == IDENTITY else value
            return norm(score - (score * to).sum() / (to * to).sum() * to) <= 1e-8 * norm(score) + 1e-12
        case Relation():
            text = str(condition.relation)
            numbers = {
                "Eigenvalue(V, 1) > 0": order[0].real > 0,
                "SpectralNorm(V) < 1": norm(value) < 1,
                "Trace(M*V) > 0": np.trace(score @ value) > 0,
                "Eigenvalue(M, 1) >= 0": np.linalg.eigvals(score).real.max() >= -1e-12,
                "Eigenvalue(V, 1) + Eigenvalue(V, d) + 2 > 0": 2 + order[0].real + order[-1].real > 0,
            }
            return bool(numbers[text])
    raise AssertionError(condition)


@pytest.mark.parametrize("conditions", OPEN, ids=lambda each: " & ".join(type(part).__name__ for part in each))
def test_explicit_neighbours_meet_the_conditions_and_are_as_near_as_is_said(conditions: list[Condition]) -> None:
    """In floats of the test's own: what is at the upper end meets every condition, and is within it."""
    value, score = drawn(5)
    value = value - 0.4 * np.eye(6)
    found = of_layer(conditions, value, score)
    assert found.interval is not None and found.nearby is not None, found.says
    near = found.nearby
    new_value = value if near.value is None else near.value
    new_score = score if near.score is None else near.score / SCALE
    assert not all(is_met(each, value, score) for each in conditions)
    assert all(is_met(each, new_value, new_score) for each in conditions)
    away = max(norm(new_value - value), norm(new_score - score))
    assert found.interval[0] <= away * (1 + 1e-9) and away <= found.interval[1] * (1 + 1e-9)
    assert found.interval[1] <= norm(value) + norm(score) + 3


@pytest.mark.parametrize("seed", range(2))
def test_no_weights_nearer_than_the_lower_end_meet_them(seed: int) -> None:
    """Random weights are moved towards the neighbour by less than the lower end: none of them meets all conditions."""
    value, score = drawn(seed + 20)
    rng = np.random.default_rng(seed)
    for conditions in ([Symmetric(M * V.I), PositiveDefinite(M)], [PositiveDefinite(M), Relation(SpectralNorm(V) < 1)]):
        found = of_layer(conditions, value, score)
        assert found.interval is not None and found.nearby is not None and found.interval[0] > 0
        to_value = value if found.nearby.value is None else found.nearby.value
        to_score = score if found.nearby.score is None else found.nearby.score / SCALE
        for _ in range(20):
            towards = [to_value - value, to_score - score]
            towards = [each + 0.3 * norm(each) * rng.standard_normal(each.shape) for each in towards]
            scale = 0.999 * found.interval[0] / max(1e-300, *(norm(each) for each in towards))
            moved = value + scale * towards[0], score + scale * towards[1]
            assert not all(is_met(each, *moved) for each in conditions)


def test_what_is_met_by_nothing_is_said() -> None:
    value, score = drawn(1)
    never = of_layer([Relation(d >= 7), Symmetric(V)], value, score)
    assert never.interval is not None and never.interval[1] == math.inf and "no weights of this width" in never.says
    unread = of_layer([IsIdentity(matrix("G")), Symmetric(V)], value, score)
    assert unread.interval is not None and unread.interval[1] == math.inf and "G is not bound" in unread.says
    held = of_layer([Symmetric(V)], value + value.T, score)
    assert held.interval == (0.0, 0.0) and held.nearby is None


def test_a_head_is_measured_by_factors_of_its_shapes() -> None:
    head = head_of(2)
    U, P = head.O @ head.V, head.Q.T @ head.K / SCALE
    for conditions in ([Nonsingular(V)], [PositiveDefinite(M)], [IsIdentity(V)], [Symmetric(M * V.I)]):
        found = of_head(conditions, head)
        assert found.interval is not None and found.interval[1] == math.inf
        assert "no weights of these shapes meet it" in found.says
    both = of_head([Symmetric(V), Symmetric(M)], head)
    assert both.of == "U and P" and both.interval is not None
    least = max(norm(U - U.T), norm(P - P.T)) / 2
    assert least * (1 - 1e-9) <= both.interval[0] + 1e-9 and least <= both.interval[1] <= norm(U) + norm(P)
    alone = of_head([Symmetric(M)], head).interval
    assert alone is not None and alone[0] <= norm(P - P.T) / 2 * (1 + 1e-9) <= alone[1] * (1 + 1e-6)
    zero = of_head([MultipleOf(M)], head)
    assert zero.interval is not None and zero.interval[1] == pytest.approx(norm(P), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_leader_of_a_head_is_made_in_its_core(seed: int) -> None:
    head = head_of(seed + 30)
    found = of_head([SimpleTop(V), Relation(Eigenvalue(V, 1) > 0)], head)
    values = np.linalg.eigvals(head.V @ head.O)
    top = values[np.argmax(values.real)]
    assert found.interval is not None
    assert (found.interval == (0.0, 0.0)) == bool(top.imag == 0 and top.real > 0)
    assert found.interval[1] <= norm(head.O @ head.V) * 1.5


def test_conditions_are_read_as_wishes() -> None:
    assert wanted_of([Relation(2 * SpectralNorm(V) < 3)], V) == Wanted(below=1.5)
    assert wanted_of([NegativeDefinite(V), Symmetric(V)], V) == Wanted(symmetric=True, sign=-1)
    assert wanted_of([Symmetric(M)], V) == Wanted() and not Wanted().anything
    parts = AnyOf((Symmetric(V), Nonsingular(V)))
    assert list(ways([parts, Symmetric(M)])) == [[Symmetric(V), Symmetric(M)], [Nonsingular(V), Symmetric(M)]]
    strict, weak = Relation(Trace(M * V) > 0), Relation(Trace(M * V) >= 0)
    assert trace_is_met(strict, M, V, True) and trace_is_met(weak, M, V, False)
    assert not trace_is_met(strict, M, V, False)  # the zero matrix has trace 0
    assert not trace_is_met(strict, M, IDENTITY, True)  # tr(c V) may have either sign
    assert not trace_is_met(Relation(Trace(M * V) < 0), M, V, True)


def test_a_candidate_that_misses_is_not_taken() -> None:
    """The search certifies: with no room at all the strict condition is not met by what it makes, and nothing is claimed."""
    value, _ = drawn(3)
    letters = Letters(("V",), None, {"V": Enclosure.from_floats(value)})
    assert nearest_of_letters([Relation(SpectralNorm(V) < 1)], letters, (0.0,)) is None
    near = nearest_of_letters([Relation(SpectralNorm(V) < 1)], letters, (1e-6,))
    assert near is not None and near.value is not None and norm(near.value) < 1
    (cut,) = matrices_near(value, Wanted(below=1.0), 1e-6)
    assert norm(cut) < 1 and norm(cut - value) == pytest.approx(norm(value) - 1, abs=1e-5)


def test_a_wide_matrix_is_no_farther_than_a_projection() -> None:
    """Beyond the width where neighbours are sought the upper end is |F|, where a multiple of a projection meets what is asked."""
    value, score = drawn(4)
    matrices = {"V": Enclosure.from_floats(value), "M": Enclosure.from_floats(score)}
    letters = Letters(("V",), "M", matrices)
    environment = LayerSymbolValues("test", matrices)

    def wide(*conditions: Condition) -> tuple[float, float]:
        verdicts = {each: ON_WEIGHTS(each, environment) for each in conditions}
        found = layer_distance(list(conditions), verdicts, letters, None, False, widest=5)
        assert found.interval is not None and "no neighbour is sought beyond d = 5" in found.says
        return found.interval

    low, high = wide(Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(SpectralNorm(V) < 1))
    assert low == pytest.approx(max(norm(value - value.T) / 2, norm(value) - 1)) and high == pytest.approx(
        norm(value), rel=1e-5
    )
    assert norm(value) <= high  # c e e^T is that far at most
    for other in (PositiveDefinite(V), Nonsingular(V), IsIdentity(V), MultipleOf(M, V), PositiveDefinite(M)):
        assert wide(Symmetric(V), other)[1] == math.inf, other
