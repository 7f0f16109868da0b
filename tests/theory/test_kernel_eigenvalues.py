"""A claim about an eigenvalue that is no real number, or that is not there, is not accepted: arithmetic takes it for any real."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from eigentoken.theory.kernel import logic
from eigentoken.theory.kernel.arithmetic import arithmetic
from eigentoken.theory.kernel.kernel import accepted
from eigentoken.theory.kernel.propositions import Disjunction, ForAll, Implication, Negation, Proposition, proposition
from eigentoken.theory.kernel.words import index_range, modulus
from eigentoken.theory.language.conditions import SimpleTop, Symmetric
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import Eigenvalue, d, ell, matrix

V, W = matrix("V"), matrix("W")
SYMMETRIC, SIMPLE = proposition(Symmetric(V)), proposition(SimpleTop(V))
MULTIPLE = proposition(MultipleOf(V))
TWO = proposition(sp.Ge(d, 2, evaluate=False))


def square(index: Any, of: Any = V) -> Proposition:
    """``lambda_k(X)^2 >= 0``: false of a rotation of the plane, and said of nothing where d < k."""
    return proposition(sp.Ge(Eigenvalue(of, index) ** 2, 0, evaluate=False))


@pytest.mark.parametrize(
    ("index", "conditions", "good"),
    [
        (2, (), False),
        (2, (SYMMETRIC,), False),  # of a 1 x 1 matrix
        (2, (TWO,), False),  # of a rotation
        (2, (SYMMETRIC, TWO), True),
        (7, (SYMMETRIC, TWO), False),
        (1, (), False),
        (1, (SIMPLE,), True),
        (1, (MULTIPLE,), True),  # of the identity
        (2, (MULTIPLE,), False),
        (1, (proposition(MultipleOf(V, W)),), False),
        (2, (SIMPLE, TWO), False),
        (d, (SYMMETRIC,), True),
        (d + 1, (SYMMETRIC,), False),
        (d - 1, (SYMMETRIC, TWO), True),
        (
            2,
            (proposition(sp.Gt(Eigenvalue(V, 2), -3, evaluate=False)),),
            True,
        ),  # the condition says that it is a number
        (2, (proposition(sp.Gt(Eigenvalue(W, 2), -3, evaluate=False)),), False),
    ],
)
def test_an_eigenvalue_in_a_claim_is_one_that_there_is(
    index: Any, conditions: tuple[Proposition, ...], good: bool
) -> None:
    said = square(index)
    found = accepted(arithmetic([], said), conditions, (said,), None)
    assert found.is_holds is good
    assert good or "not known to exist" in found.reason


def test_what_stands_before_it_in_the_claim_counts_and_only_that() -> None:
    plain = arithmetic([], square(2))
    under = Implication(proposition(sp.And(sp.Ge(d, 2, evaluate=False), sp.true)), square(2))
    assert accepted(logic.tautology([plain], under), (SYMMETRIC,), (under,), None).is_holds
    assert accepted(logic.tautology([plain], under), (), (under,), None).is_fails
    either = Disjunction((Negation(SYMMETRIC), square(2)))  # no guard: it is one of two things that are said
    assert accepted(logic.tautology([plain], either), (TWO,), (either,), None).is_fails
    assumed = Implication(proposition(sp.Gt(Eigenvalue(V, 2), 1, evaluate=False)), square(2))
    assert accepted(logic.tautology([plain], assumed), (), (assumed,), None).is_holds


def test_a_bound_index_is_within_its_guard() -> None:
    for first, last, good in ((1, d, True), (2, d, True), (1, d + 1, False)):
        every = logic.generalise(ell, arithmetic([], square(ell)), index_range(ell, first, last))
        assert accepted(every, (SYMMETRIC,), (every.proposition,), None).is_holds is good
    outside = Implication(proposition(sp.Le(ell, d, evaluate=False)), ForAll(ell, proposition(sp.true), square(ell)))
    proved = logic.tautology([logic.generalise(ell, arithmetic([], square(ell)))], outside)
    assert accepted(
        proved, (SYMMETRIC,), (outside,), None
    ).is_fails  # what is known of ell is not said of the bound one
    parts = modulus(V)  # real parts and moduli are real numbers of any matrix
    assert accepted(parts, (), (parts.proposition,), None).is_holds
