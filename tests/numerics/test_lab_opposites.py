"""The opposite of a claim, decay at a rate, and what is refused: each decided on exact numbers by two arithmetics."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, ConjectureError, refute
from eigentoken.numerics.readings import load
from eigentoken.numerics.recheck.refutations.claim_truths import CLAIM_TRUTH
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Converges, Nonnegative, Stable, Unstable
from eigentoken.theory.language.conditions import Not, Symmetric
from eigentoken.theory.language.documents import decode, encode
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.observables_of_spread import smallest_product, squared_diameter
from eigentoken.theory.language.opposites_and_rates import Decays, Exists, Fails
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, ConsensusSet
from eigentoken.theory.language.readings import CERTIFIED, LATEX
from eigentoken.theory.language.terms import Eigenvalue, matrix

load()
V = matrix("V")


def _both(claim: Any, tokens: Any, system: str = "oja-flow", **given: Any) -> tuple[bool | None, bool | None]:
    case = Case(Instance.of(system, tokens, **given), 1, len(tokens))
    verdict = CERTIFIED(claim, case)
    second = CLAIM_TRUTH(claim, IndependentInstance(case.instance, 1, len(tokens)), {})
    return (None if verdict.is_undecided else verdict.is_holds), second


def test_the_opposite_is_decided_where_the_claim_is() -> None:
    place, good, bad = ConsensusAt(V, 1), [[2, 0], [0, 1]], [[-1, 0], [0, -2]]
    for claim in (Stable(place), Unstable(place)):
        for value in (good, bad):
            own, second = _both(claim, [[1, 0], [1, 0]], V=value)
            assert _both(Fails(claim), [[1, 0], [1, 0]], V=value) == (not own, not second)
    assert _both(Fails(Stable(place)), [[0, 1], [0, 1]], V=good)[0] is None, "another place: nothing is said"


@pytest.mark.parametrize(("rate", "truth"), [(1, False), ("1/2", True), (Eigenvalue(V, 1), False), (-3, True)])
def test_decay_is_judged_by_the_change_and_the_value(rate: Any, truth: bool) -> None:
    """Three orthogonal tokens with V = I: the squared diameter 2 changes by -4/3."""
    eye = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    claim = Decays(squared_diameter, sp.sympify(rate))
    assert _both(claim, eye, V=eye) == (truth, truth)
    assert decode(encode(claim)) == claim
    assert LATEX(claim)


def _half(scalars: Any, system: Any, parameters: Any, x: Any, mask: Any) -> Any:
    return x[0][0] * x[0][0] / (2 * scalars.one)


def test_an_observable_of_an_author_is_run_on_exact_numbers() -> None:
    own = Decays(Observable("half", "h", _half), sp.Rational(1, 2))
    case = Case(Instance.of("oja-map", [["3/5", "4/5"]], V=[[1, 0], [0, 0]], alpha=1))
    assert CERTIFIED(own, case).is_fails
    away = Case(Instance.of("oja-map", [["3/5", "4/5"]], V=[["-1/2", 0], [0, 0]], alpha=1))
    assert CERTIFIED(own, away).is_holds


def test_what_exists_is_found_by_its_opposite() -> None:
    never = Conjecture("never", "attention-flow", [Symmetric(V)], [Fails(Stable(BipartiteAt(V, 1)))], n=[2], d=[2])
    report = refute(never, instances=300, jobs=1)
    assert report.results[0].answer == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(report.as_dict()))


def test_what_no_instance_decides_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Exists: no instance refutes .* Fails\(claim\)"):
        Exists(Stable(ConsensusAt(V, 1)))
    with pytest.raises(TypeError, match="claim must be a claim that one state decides"):
        Fails(Converges(ConsensusSet()))
    with pytest.raises(TypeError, match=r"opposite of a claim say Fails\(claim\)"):
        Not(Stable(ConsensusAt(V, 1)))  # type: ignore[arg-type]
    with pytest.raises(ConjectureError, match="speaks of a set of states"):
        Conjecture("x", "oja-flow", [], [Fails(Unstable(ConsensusSet()))])
    assert Fails(Nonnegative(smallest_product))
