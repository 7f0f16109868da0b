"""Enclosures stay enclosures: two of them are compared by ball arithmetic, and one that meets another decides nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from flint import acb, arb

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings import certified_claims
from eigentoken.numerics.readings.certified_claims import _matching, classified
from eigentoken.numerics.readings.contraction_regions import Region
from eigentoken.theory.classification.classification import ExactEigenvalue
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.conditions import NonPrincipalModulusBelow, SimpleTop
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.readings import CERTIFIED
from eigentoken.theory.language.terms import SpectralRadiusOff, matrix

V = matrix("V")


def consensus(rows: Any = ((2, 0), (0, 1)), n: int = 1) -> Case:
    return Case(Instance.of("oja-flow", [["1", "0"]] * n, V=[list(row) for row in rows]))


@pytest.mark.parametrize(
    ("claimed", "word"),
    [
        (sp.Rational(2001, 2000), "undecided"),  # inside [0.999, 1.001]: was "fails", by its midpoint
        (1, "undecided"),
        (sp.Rational(1002, 1000), "fails"),
        (sp.Rational(1000001, 10**6) + sp.Rational(1, 10**3), "fails"),  # above the upper end by 1e-6
        (sp.sqrt(2), "fails"),
    ],
)
def test_a_claimed_eigenvalue_against_an_enclosure(monkeypatch: pytest.MonkeyPatch, claimed: Any, word: str) -> None:
    case = consensus()
    wide = ExactEigenvalue(None, 1.0 + 0j, 1, None, "[1.00 +/- 1.01e-3]", acb(arb(1, arb("0.001"))))
    made = replace(classified(case), spectrum=(wide,))
    monkeypatch.setattr(certified_claims, "classified", lambda _: made)
    assert str(CERTIFIED(SpectrumIs(ConsensusAt(V, 1), ((claimed, 1),)), case).answer) == word


def test_counting_refutes_where_no_single_value_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """1, 1 are claimed, one enclosure holds 1 and the other 2: every claimed value meets one, the list does not match."""
    case = consensus(n=2)
    entries = tuple(ExactEigenvalue(None, complex(x), 1, None, "", acb(arb(x, arb("1e-9")))) for x in (1, 2))
    made = replace(classified(case), spectrum=entries)
    monkeypatch.setattr(certified_claims, "classified", lambda _: made)
    assert CERTIFIED(SpectrumIs(ConsensusAt(V, 1), ((1, 2),)), case).is_fails
    assert CERTIFIED(SpectrumIs(ConsensusAt(V, 1), ((1, 1), (2, 1))), case).is_undecided
    assert len(_matching([[True, False], [True, False]])) == 1
    assert len(_matching([[True, True], [True, False]])) == 2


def test_every_entry_of_a_classification_carries_its_ball() -> None:
    tokens = [["1", "0"], ["1", "0"], ["-1", "0"]]
    for system, more in (("oja-map", {"alpha": "1/3"}), ("attention-flow", {"M": [[1, 2], [0, 1]]})):
        for rows in ([[2, 0], [0, 1]], [[2, 1], [0, "1/2"]]):
            found = classify(Instance.of(system, tokens, V=rows, **more))
            assert found.equilibrium.is_holds, found
            for entry in found.spectrum:
                assert abs(acb(entry.ball) - acb(entry.value)) < 1e-15
                if entry.exact is not None and entry.exact.is_Rational:
                    assert acb(entry.ball).overlaps(acb(arb(int(entry.exact.p)) / int(entry.exact.q)))


# --- eigenvalues closer than floats can tell ---------------------------------------------------------------------------

TINY = sp.Rational(1, 10**30)


def close(first: Any, second: Any) -> Case:
    """A rational matrix with irrational eigenvalues 2 +- sqrt(2) on one block, and two numbers beside it."""
    rows = [[0] * 4 for _ in range(4)]
    rows[0][:2], rows[1][:2] = [2, 1], [2, 2]
    rows[2][2], rows[3][3] = first, second
    return Case(Instance.of("oja-flow", [["1", "0", "0", "0"]], V=[[str(e) for e in row] for row in rows]))


def test_the_order_of_eigenvalues_is_not_that_of_floats() -> None:
    """5 and 5 + 1e-30 are one float: the second eigenvalue is still 5, the first is above it."""
    for case in (close(5, 5 + TINY), close(5 + TINY, 5)):
        top, second = (case.eigenvalue(V, index, 192) for index in (1, 2))
        assert top > 5
        assert second.contains(5)
        assert not second.contains(arb(5) + arb("1e-30"))


def test_a_top_that_floats_do_not_see_is_decided() -> None:
    for case in (close(5, 5 + TINY), close(5 + TINY, 5)):
        assert CERTIFIED(SimpleTop(V), case).is_holds
        assert CERTIFIED(NonPrincipalModulusBelow(V), case).is_holds
        assert case.ball(SpectralRadiusOff(V), 192).contains(5)
    for case in (close(-5 - TINY, 5), close(5, -5 - TINY)):
        assert CERTIFIED(SimpleTop(V), case).is_holds
        assert CERTIFIED(NonPrincipalModulusBelow(V), case).is_fails
    assert CERTIFIED(SimpleTop(V), close(5, 5)).answer != "holds"


def test_a_complex_pair_beside_a_real_top() -> None:
    """A real eigenvalue ahead of a complex pair by 1e-30, and behind it by as much."""
    for sign in (1, -1):
        rows = [["1", "-2", "0"], ["1", "1", "0"], ["0", "0", str(1 + sign * TINY)]]
        case = Case(Instance.of("oja-flow", [["1", "0", "0"]], V=rows))
        assert CERTIFIED(SimpleTop(V), case).is_holds is (sign == 1)
        assert CERTIFIED(SimpleTop(V), case).is_fails is (sign == -1)


def test_the_box_of_a_region_is_that_of_the_exact_inverse() -> None:
    """A shape whose inverse floats miss altogether: the box still holds the ellipsoid."""
    tiny = Fraction(1, 10**18)
    shape = ((Fraction(1), Fraction(1)), (Fraction(1), 1 + tiny))  # P^-1 = [[1 + 1/tiny, -1/tiny], [-1/tiny, 1/tiny]]
    region = Region(((Fraction(0),),), shape, Fraction(1, 3), Fraction(0), Fraction(0))
    for width, diagonal in zip(region.half_widths(), (1 + 1 / tiny, 1 / tiny), strict=True):
        assert Fraction(width) ** 2 >= Fraction(1, 9) * diagonal
        assert Fraction(width) ** 2 <= Fraction(1, 8) * diagonal
