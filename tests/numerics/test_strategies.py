"""The public Hypothesis strategies keep their promises, and refuse what cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from eigentoken.numerics.instances import strategies
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.instances.rational import sphere_point
from eigentoken.numerics.instances.sampling import condition_violation
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.terms import Eigenvalue, matrix

QUICK = settings(max_examples=40, deadline=None, database=None, derandomize=True)
PLAN = plan_for("oja-map", [Symmetric(matrix("V")), SimpleTop(matrix("V")), Relation(Eigenvalue(matrix("V"), 1) > 0)])


@QUICK
@given(strategies.orthogonal_matrices(d=4, special=True))
def test_orthogonal(Q: Any) -> None:
    assert np.allclose(Q @ Q.T, np.eye(4), atol=1e-12)
    assert np.linalg.det(Q) == pytest.approx(1.0)


@QUICK
@given(strategies.symmetric_matrices(d=3, spectrum=[2.0, -1.0, 0.5]))
def test_symmetric_with_spectrum(S: Any) -> None:
    assert np.array_equal(S, S.T)
    assert np.allclose(np.linalg.eigvalsh(S), [-1.0, 0.5, 2.0])


@QUICK
@given(strategies.symmetric_matrices(d=4, top=1.0, top_gap=0.25))
def test_symmetric_with_a_gap(S: Any) -> None:
    values = np.linalg.eigvalsh(S)
    assert values[-1] == pytest.approx(1.0)
    assert values[-2] <= 0.75 + 1e-9


@QUICK
@given(strategies.spd_matrices(d=3, condition=50.0, scale=2.0))
def test_positive_definite(P: Any) -> None:
    values = np.linalg.eigvalsh(P)
    assert values[0] >= 2.0 / 50.0 * (1 - 1e-9)
    assert values[-1] == pytest.approx(2.0)


@QUICK
@given(strategies.commuting_families(d=3, count=3))
def test_commuting(family: Any) -> None:
    assert len(family) == 3
    for A in family:
        for B in family:
            assert np.allclose(A @ B, B @ A, atol=1e-9)


@QUICK
@given(strategies.low_rank_heads(d=5, rank=2, heads=2))
def test_low_rank(heads: Any) -> None:
    assert len(heads) == 2
    for head in heads:
        assert all(np.linalg.matrix_rank(head[name], tol=1e-9) <= 2 for name in ("F", "M"))


@QUICK
@given(strategies.hemisphere_tokens(n=4, d=3, normal=[1.0, 2.0, -1.0]))
def test_hemisphere(x: Any) -> None:
    assert np.allclose(np.linalg.norm(x, axis=1), 1.0)
    assert (x @ np.array([1.0, 2.0, -1.0]) > 0).all()


@QUICK
@given(strategies.hemisphere_tokens(n=4, d=2, outside=1))
def test_just_outside(x: Any) -> None:
    assert (x[:, 0] < 0).sum() == 1


@QUICK
@given(strategies.step_sizes(above=1.0, below=2.0), strategies.step_sizes(above=3.0), strategies.step_sizes(below=0.5))
def test_steps_are_on_their_side(inside: float, above: float, below: float) -> None:
    assert 1.0 < inside < 2.0
    assert above > 3.0
    assert 0.0 < below < 0.5


@QUICK
@given(strategies.masks(n=3), strategies.causal_masks(n=3))
def test_masks_let_every_token_see(mask: Any, causal: Any) -> None:
    assert (mask.sum(1) >= 1).all()
    assert np.array_equal(causal, np.tril(np.ones((3, 3))))


@settings(max_examples=25, deadline=None, database=None, derandomize=True)
@given(strategies.plan_instances(PLAN))
def test_instances_of_a_plan(batch: Any) -> None:
    assert batch.count == 1
    assert float(condition_violation(PLAN, batch)) < 0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: strategies.spd_matrices(d=3, condition=0.5), "condition must be"),
        (lambda: strategies.spd_matrices(d=0), "d must be"),
        (lambda: strategies.spd_matrices(d=2, scale=-1.0), "scale must be positive"),
        (lambda: strategies.symmetric_matrices(d=3, spectrum=[1.0]), "spectrum must have"),
        (lambda: strategies.symmetric_matrices(d=1, spectrum=[1.0], top=2.0), "not both"),
        (lambda: strategies.low_rank_heads(d=2, rank=3), "rank must be"),
        (lambda: strategies.hemisphere_tokens(n=2, d=3, normal=[0.0, 0.0, 0.0]), "normal must be"),
        (lambda: strategies.hemisphere_tokens(n=2, d=3, outside=5), "outside must be"),
        (lambda: strategies.step_sizes(above=2.0, below=1.0), "no step"),
    ],
)
def test_impossible_requests_are_refused(make: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_options_are_keywords() -> None:
    with pytest.raises(TypeError):
        strategies.spd_matrices(3)  # type: ignore[misc]


def test_rational_points_are_exact() -> None:
    point = sphere_point([0.3, -0.5, 0.8], 7)
    assert sum(a * a for a in point) == 1
