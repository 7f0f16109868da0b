"""Statements of the field that the kernel proves: a claim that says a little more is refused, and what they need is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
import torch

from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.instances.sampling import sample
from eigentoken.proofs.bounds import ball
from eigentoken.proofs.bounds.layer_claims import BALL
from eigentoken.proofs.clusters import cl_16_leaders, residual_steps
from eigentoken.proofs.clusters.cl_09_equiangular import CL_9A
from eigentoken.proofs.clusters.equiangular_rate import rate
from eigentoken.proofs.new_results.ct_12_regions_of_flows import CT_12
from eigentoken.proofs.new_results.ph_x02_residual_map import PH_X2A
from eigentoken.proofs.properties.property import test_statement as looked_at
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Proposition, exchanged, inside, proposition
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.language.conditions import InHemisphere, IsIdentity, Symmetric
from eigentoken.theory.language.matrix_words import IsZero
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system


def changed(said: Proposition, old: sp.Expr, new: sp.Expr) -> Proposition:
    """A number in the relations of a formula replaced by another."""
    if hasattr(said, "word"):
        return exchanged(said, lambda term: term.subs(old, new))
    if hasattr(said, "body"):
        return replace(said, body=changed(said.body, old, new))
    return inside(said, lambda part: changed(part, old, new))


def test_the_ball_has_no_smaller_constant() -> None:
    """4 a^2 (1 - a) reaches 16/27 at a = 2/3: with 15/27 the step that bounds it is refused."""
    kernel = Kernel(None, ())
    assert ball.atom(kernel).hypotheses == ()
    a = sp.Symbol("a", real=True)
    known = [kernel.assume(a > 0), kernel.assume(a <= 1)]
    with pytest.raises(Refused):
        kernel.arithmetic(known, sp.Le(4 * a**2 * (1 - a), sp.Rational(15, 27), evaluate=False))
    told = statements().get("BD-L1")
    with pytest.raises(Refused):
        _ = replace(told, claims=(Formula(BALL[0]), Formula(BALL[0]))).proofs


def test_the_rate_of_the_cosine_needs_its_conditions() -> None:
    said = tuple(proposition(each) for each in CL_9A.claims)
    flow = system("attention-flow")
    whole = tuple(map(proposition, CL_9A.conditions))
    assert rate(Kernel(flow, whole), (said[0], said[1])).system == flow
    without = tuple(each for each in whole if each != proposition(IsIdentity(matrix("V"))))
    with pytest.raises(Refused):
        rate(Kernel(flow, without), (said[0], said[1]))
    twice = changed(said[0], sp.Integer(2), sp.Integer(3))
    assert twice != said[0]
    with pytest.raises(Refused):
        rate(Kernel(flow, whole), (twice, said[1]))


def test_a_leader_by_its_score_needs_a_definite_matrix() -> None:
    """Without ``b^T M b <= a^T M a``, and without ``M > 0``, nothing follows."""
    found = cl_16_leaders._largest(Kernel(None, ()))
    assert found.hypotheses == ()
    weak = replace(statements().get("CL-16"), claims=statements().get("CL-16").claims[:3])
    with pytest.raises(Refused):
        _ = weak.proofs


def test_heights_of_the_residual_map_grow_by_one_factor() -> None:
    kernel = Kernel(system("residual-map"), ())
    other = changed(residual_steps.STEPS[1], sp.Integer(1), sp.Rational(1, 2))
    assert other != residual_steps.STEPS[1]
    with pytest.raises(Refused):
        residual_steps._extreme(kernel, other, sp.Le)
    with pytest.raises(Refused):
        _ = replace(PH_X2A, systems=("attention-map",)).proofs


def test_the_half_space_of_the_right_eigenvector_needs_symmetry() -> None:
    for missing in (Symmetric, InHemisphere):
        fewer = tuple(each for each in CT_12.conditions if not isinstance(each, missing))
        with pytest.raises(Refused):
            _ = replace(CT_12, conditions=fewer).proofs


def test_a_sum_that_vanishes_is_constructed() -> None:
    """``B + W = 0`` and ``2 W - 3 B = 0``: the value matrix is solved for."""
    for term, factor in ((matrix("B") + matrix("W"), -1.0), (2 * matrix("W") - 3 * matrix("B"), 2 / 3)):
        drawn = sample(plan_for("token-flow", [IsZero(term)]), 20, 1)
        assert drawn.count >= 20
        for batch in drawn.batches:
            assert torch.allclose(batch.parameters["B"], factor * batch.parameters["W"])


def test_a_guard_about_a_line_is_met() -> None:
    """PM-X5's reduction is looked at on tokens at a unit vector and its negative; with the wrong sign it is seen to fail."""
    told = statements().get("PM-X5")
    first = told.claims[0]
    assert isinstance(first, Formula)
    seen = looked_at(replace(told, claims=(first,)), 40, 0)
    assert seen.violations == 0 and sum(count for _, count in seen.formulas) >= 20
    wrong = Formula(changed(first.said, sp.Symbol("alpha", positive=True), sp.Integer(0)))
    if wrong != first:
        assert looked_at(replace(told, claims=(wrong,)), 40, 0).violations


def test_the_mean_that_is_slaved_agrees_with_a_direct_step() -> None:
    """The push without cancellation, against the definition in many digits."""
    import mpmath

    from eigentoken.proofs.pham.late_mean import _speeds
    from eigentoken.proofs.pham.slow_decay import velocity_of_the_mean

    apart = np.array([0.07, -0.05, -0.02])
    with mpmath.workdps(40):
        exact = velocity_of_the_mean(0, [mpmath.mpf(1e-6), *(mpmath.mpf(float(each)) for each in apart[:-1])])
        apart[-1] = -float(apart[0] + apart[1])
        mean, moved = _speeds(1e-6, apart)
    assert mean == pytest.approx(float(exact[0]), rel=1e-9)
    assert list(moved[:-1]) == pytest.approx([float(each) for each in exact[1:]], rel=1e-12)
