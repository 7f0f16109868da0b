"""Bounds that the kernel proves: a sharper one is refused, a row does not capture the index of its query, the residual map."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

import eigentoken as et
from eigentoken.proofs.bounds import depth, shared_mass
from eigentoken.proofs.bounds.bd_r01_rank_collapse import BD_M1, BD_R2, BD_R4
from eigentoken.proofs.bounds.head_map import row
from eigentoken.proofs.steps.theorems import LARGEST_NUMBER, TANGENT_OF_TANH
from eigentoken.theory.calculus import Index, dot, vector
from eigentoken.theory.kernel.books import textbook
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.systems.algebra import NoClosedForm
from eigentoken.theory.systems.catalogue import system


def test_claims_that_are_changed_are_not_proved() -> None:
    rises = depth.DEPTH[2]
    with pytest.raises(Refused):
        _ = replace(BD_R2, claims=(*BD_R2.claims[:2], BD_R2.claims[1], *BD_R2.claims[3:])).proofs
    assert rises != depth.DEPTH[1]
    with pytest.raises(Refused):
        _ = replace(BD_M1, claims=(Formula(shared_mass.SINK[1]), Formula(shared_mass.SINK[1]))).proofs
    with pytest.raises(Refused):
        _ = replace(BD_R4, systems=("token-flow",)).proofs


def test_a_row_does_not_capture_the_index_of_its_query() -> None:
    with pytest.raises(ValueError, match="choose another index"):
        row(Index("token", "s"))


def test_the_two_theorems_ask_for_what_they_say() -> None:
    x = sp.Symbol("x", real=True)
    with pytest.raises(Refused, match="no premise"):
        textbook(TANGENT_OF_TANH, (), None, x=x)
    with pytest.raises(Refused, match="numbers are compared"):
        textbook(LARGEST_NUMBER, (), None, value=vector("x", Index("token", "i")))
    largest = textbook(LARGEST_NUMBER, (), None, value=dot(vector("z"), vector("z")))
    assert largest.hypotheses == ()


def test_the_residual_map_is_read_and_norms_before_it_are_not() -> None:
    """Its step is ``x_i + alpha u_i``; a norm before attention has an equation of its own."""
    found = et.linearize("residual-map")
    assert "alpha" in repr(found.step) or str(found.step).startswith("x_slot")
    assert system("residual-map").residual and not system("residual-map").standard
    assert not system("pre-norm-map").residual and not system("token-flow").residual
    with pytest.raises(NoClosedForm):
        et.linearize("pre-norm-map")
