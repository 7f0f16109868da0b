"""Wendel's recursion against exact counts, and the counts against signs of points in general position."""

from __future__ import annotations

from itertools import product

import pytest
import sympy as sp

from eigentoken.numerics.instances.hemisphere_shares import hemisphere_share
from eigentoken.proofs.abella.wendel import THRESHOLD
from eigentoken.proofs.steps.probability_theorems import COUNT, SIZE, WENDEL
from eigentoken.theory.kernel.propositions import (
    Equivalence,
    ForAll,
    Proposition,
    conjuncts,
    proposition,
    put,
    relation_of,
)
from eigentoken.theory.language.terms import HemisphereShare


def truth(said: Proposition, table: dict[sp.Symbol, int]) -> bool:
    """Of a proposition about the shares, at these numbers."""
    if isinstance(said, ForAll):
        return not truth(said.guard, table) or truth(said.body, table)
    if isinstance(said, Equivalence):
        return truth(said.left, table) == truth(said.right, table)
    parts = conjuncts(said)
    if len(parts) > 1:
        return all(truth(each, table) for each in parts)
    relation = relation_of(said).subs(table)
    shares = {each: hemisphere_share(*map(int, each.args)) for each in relation.atoms(HemisphereShare)}
    return bool(relation.xreplace(shares))


@pytest.mark.parametrize("points", range(1, 9))
def test_the_recursion_and_the_threshold_are_those_of_the_counts(points: int) -> None:
    _, counts = WENDEL.of()
    for dimension in range(1, 9):
        at = {COUNT: points, SIZE: dimension}
        assert all(truth(each, at) for each in counts.parts), at
        assert truth(THRESHOLD, at), at


def test_a_changed_recursion_is_noticed() -> None:
    """With ``m`` for ``m - 1`` it fails at three points of the plane."""
    _, counts = WENDEL.of()
    wrong = put(counts.parts[1].body.body, {})
    changed = wrong.word.relation.xreplace({HemisphereShare(COUNT, SIZE - 1): HemisphereShare(COUNT, SIZE)})
    assert not truth(proposition(changed), {COUNT: 2, SIZE: 2})


@pytest.mark.parametrize("points", [2, 3, 4, 5])
def test_of_the_signs_of_points_in_the_plane_as_many_as_counted_are_in_a_half_plane(points: int) -> None:
    """Points ``(1, k)``: a choice of signs is in an open half plane where some point has all others on its left."""
    listed = [(1, k) for k in range(points)]
    count = 0
    for signs in product((1, -1), repeat=points):
        signed = [(sign * x, sign * y) for sign, (x, y) in zip(signs, listed, strict=True)]
        count += any(all(p[0] * q[1] - p[1] * q[0] > 0 for q in signed if q != p) for p in signed)
    assert count == hemisphere_share(points, 2) * 2**points


def test_without_points_or_dimensions_it_is_zero() -> None:
    assert hemisphere_share(0, 3) == hemisphere_share(3, 0) == 0
