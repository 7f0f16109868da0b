"""Every method has its turn, time goes to what finds something, and no unit is longer than it may be."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from eigentoken.numerics.deadline import OutOfTime, limited
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.gathering import SearchFinding, Unit, UnitResult
from eigentoken.numerics.lab.schedule import EQUAL, FIRST_TURNS, LONG, SHARE, SMALLER, FixedOrder, Turns
from eigentoken.numerics.lab.search import methods, run_unit
from eigentoken.numerics.lab.targets import Target, targets
from eigentoken.theory.language.claims import AlmostEveryConverges, Stable, Unstable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, matrix, n

V = matrix("V")
CONDITIONS = [Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(n >= 2)]


def aims(claim: object) -> list[Target]:
    return targets(Conjecture("turns", "oja-map", CONDITIONS, [claim]))  # type: ignore[list-item]


def played(order: Turns, rounds: int, good: str, each: float = 0.4) -> dict[str, float]:
    """Seconds by method where only one of them finds something."""
    spent: dict[str, float] = {}
    found = SearchFinding(None, None, 1.0, good)  # type: ignore[arg-type]
    for _ in range(rounds):
        ((_, unit),) = order.take(1, 1e9)
        seen = (found,) if unit.method == good else ()
        seconds = min(each, unit.seconds or each)
        order.learn(unit, UnitResult(unit, 10, -1.0, seen, seconds=seconds))
        spent[unit.method] = spent.get(unit.method, 0.0) + seconds
    return spent


@pytest.mark.parametrize("claim", [Stable(ConsensusAt(V, 1)), AlmostEveryConverges(ConsensusAt(V, 1))])
def test_all_methods_have_their_first_turn_in_the_first_seconds(claim: object) -> None:
    goals = aims(claim)
    order, first = Turns(goals, 3), []
    while order.opening:
        first += order.take(2, 60.0)
    every = {(id(goal), method) for goal in goals for method, _ in methods(goal)}
    assert {(id(goal), unit.method) for goal, unit in first} == every
    assert sum(unit.seconds or 99 for _, unit in first) <= FIRST_TURNS + 1e-9
    assert len({unit.seed for _, unit in first}) == len(first)


def test_time_goes_to_what_finds_something_and_nothing_is_starved() -> None:
    order = Turns(aims(Stable(ConsensusAt(V, 1))), 0)
    spent = played(order, 400, "hypothesis")
    total = sum(spent.values())
    assert spent["hypothesis"] > 0.5 * total
    assert min(spent.values()) > 0.8 * EQUAL * total / len(spent)


def test_a_unit_that_is_cut_with_nothing_becomes_smaller_and_gets_longer() -> None:
    goals = aims(Stable(ConsensusAt(V, 1)))
    order = Turns(goals, 0)
    while order.opening:
        ((_, unit),) = order.take(1, 60.0)
        order.learn(unit, UnitResult(unit, 5, -1.0, seconds=0.01))
    sizes, allowances = {}, {}
    for _ in range(60):
        ((_, unit),) = order.take(1, 60.0)
        order.learn(unit, UnitResult(unit, 0, -1.0, seconds=unit.seconds or 0.0))
        assert unit.seconds is not None
        assert unit.seconds <= order.longest
        sizes.setdefault(unit.method, []).append(unit.size)
        allowances.setdefault(unit.method, []).append(unit.seconds)
    for method, (first, *seen) in sizes.items():
        long, *allowances[method] = allowances[method]
        assert (first, long) == (dict(methods(goals[0])[::-1])[method], order.longest)  # the second turn of each
        assert seen == sorted(seen, reverse=True), method
        assert allowances[method] == sorted(allowances[method])
    assert any(len(set(seen)) > 1 for seen in sizes.values())


def test_the_longest_unit_is_a_share_of_a_long_search() -> None:
    goals = aims(Stable(ConsensusAt(V, 1)))
    assert Turns(goals, 0, 1.0).longest == LONG
    assert Turns(goals, 0, 600.0).longest == SHARE * 600.0


def test_no_unit_is_given_more_than_the_time_that_is_left() -> None:
    order = Turns(aims(Stable(ConsensusAt(V, 1))), 0)
    assert all((unit.seconds or 99) <= 0.001 for _, unit in order.take(3, 0.001))
    assert order.take(1, -1.0)[0][1].seconds == 0.0


def test_a_search_with_a_limit_of_instances_goes_through_the_same_units() -> None:
    goals = aims(Stable(ConsensusAt(V, 1)))
    one, other = FixedOrder(goals, 5), FixedOrder(goals, 5)
    once = one.take(8, 60.0)
    again = [each for _ in range(4) for each in other.take(2, 1.0)]
    assert [unit for _, unit in once] == [unit for _, unit in again]
    assert all(unit.seconds is None for _, unit in once)


def test_a_unit_is_cut_after_its_seconds() -> None:
    (goal,) = aims(Stable(ConsensusAt(V, 1)))
    cut = run_unit(goal, Unit("batches", 1, 10**6, 0.0))
    assert cut.tried == 0
    whole = run_unit(goal, Unit("batches", 1, 48, 600.0))
    assert whole.tried >= 48
    assert replace(whole, seconds=0.0).unit.seconds == 600.0


def test_an_import_is_not_broken_off(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose import is broken off stays in the memory in part, and fails whoever asks for it later."""
    import importlib
    from pathlib import Path

    home = Path(str(tmp_path))
    (home / "slow_to_import.py").write_text("import time\nend = time.time() + 0.2\nwhile time.time() < end: pass\n")
    monkeypatch.syspath_prepend(str(home))
    with pytest.raises(OutOfTime), limited(time.time() + 0.05):
        module = importlib.import_module("slow_to_import")
        assert module.end < time.time()
        while True:
            pass
    import sys

    assert hasattr(sys.modules["slow_to_import"], "end")


def test_the_methods_of_a_search_are_all_named_in_its_report() -> None:
    stated = Conjecture("stable below", "oja-flow", CONDITIONS[:3], [Stable(ConsensusAt(V, 1))], n=2, d=2)
    (result,) = refute(stated, seconds=2.5).results
    assert set(result.methods) == {method for method, _ in methods(targets(stated)[0])}
    assert result.answer in ("survived", "not tested")  # as fast as the machine is


def test_a_unit_that_was_cut_with_nothing_is_made_much_smaller() -> None:
    order = Turns(aims(Stable(ConsensusAt(V, 1))), 0)
    sizes: dict[str, list[int]] = {}
    for _ in range(12):
        ((_, unit),) = order.take(1, 1e9)
        sizes.setdefault(unit.method, []).append(unit.size)
        order.learn(unit, UnitResult(unit, 0, float("-inf"), seconds=unit.seconds or 1.0))
    assert all(second <= SMALLER * max(4, first // SMALLER) for first, second, *_ in sizes.values())
    assert all(later[-1] <= max(4, later[0] // SMALLER) for later in sizes.values() if len(later) > 2)


def test_slow_code_of_an_author_is_looked_at_in_small_portions() -> None:
    def slow(x: object) -> float:
        time.sleep(0.01)
        return 1.0

    (aim,) = targets(Conjecture("slow", "oja-map", (), holds_if=slow, n=[2], d=[2]))
    found = run_unit(aim, Unit("batches", 1, 400, 0.5))
    assert 5 < found.tried < 60


def test_a_place_that_counts_more_eigenvalues_than_there_are_has_no_states() -> None:
    """It was an internal error: the third eigenvector in the plane."""
    found = refute(Conjecture("third", "oja-map", [Symmetric(V)], [Unstable(ConsensusAt(V, 3))]), instances=300)
    assert found.results[0].answer == "refuted" and found.results[0].volume["d"][0] >= 3
    with pytest.raises(ValueError, match="no sizes satisfy"):
        refute(Conjecture("ninth", "oja-map", [Symmetric(V)], [Unstable(ConsensusAt(V, 9))], d=[3]), instances=10)
