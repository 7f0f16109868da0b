"""No line of an author's own runs in floats while exact numbers are looked at, wherever it is written."""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict
from decimal import Decimal
from functools import cached_property, singledispatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.numerics.author_code.decided_numbers import decided
from eigentoken.numerics.author_code.watch import Watch, unwatched
from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.conjectures import load
from eigentoken.numerics.lab.predicate_instances import _all_decided, one_instance
from eigentoken.numerics.lab.predicates import predicate_verdict
from eigentoken.theory.classification.instances import Instance

#: Ten equal tokens: 1/10 added up ten times is below 1 in floats.
CASE = Case(
    Instance.of("attention-map", [[1, 0]] * 10, V=[[1, 0], [0, "1/2"]], M=[[1, 0], [0, 1]], alpha="1/3"),
)


def whole(n: int) -> bool:
    return sum([1 / n] * n) == 1


class Above:
    def inherited(self, n: int) -> bool:
        return sum([1 / n] * n) == 1


class Rule(Above):
    share = 0.5

    def __init__(self, n: int = 10) -> None:
        self.n = n
        self.calls = 0

    def method(self, n: int) -> bool:
        return self.inherited(n)

    @staticmethod
    def static(n: int) -> bool:
        return sum([1 / n] * n) == 1

    @classmethod
    def of_class(cls, n: int) -> bool:
        return sum([cls.share / n] * n) == cls.share

    @property
    def told(self) -> bool:
        return sum([1 / self.n] * self.n) == 1

    @cached_property
    def kept(self) -> bool:
        return sum([1 / self.n] * self.n) == 1

    def __contains__(self, n: int) -> bool:
        return sum([1 / n] * n) == 1

    def __call__(self, x: Any) -> bool:
        return self.method(x.n)

    def counted(self) -> bool:
        self.calls += 1
        return self.calls < 0


class Slotted:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 10

    def ask(self) -> bool:
        return sum([1 / self.n] * self.n) == 1


RULE, SLOTTED = Rule(), Slotted()
KEPT = defaultdict(lambda: whole)
EACH = np.vectorize(lambda n: sum([1 / n] * n) == 1)
SEEN: list[int] = []


@singledispatch
def dispatched(n: Any) -> bool:
    return sum([1 / n] * n) == 1


@contextlib.contextmanager
def inside(n: int) -> Any:
    yield sum([1 / n] * n) == 1


def by_manager(x: Any) -> bool:
    with inside(x.n) as answer:
        return bool(answer)


def super_method(x: Any) -> bool:
    class Below(Rule):
        def method(self, n: int) -> bool:
            return super().method(n)

    return Below().method(x.n)


MADE_EXACT = {
    "method of an object": lambda x: RULE.method(x.n),
    "new object": lambda x: Rule(x.n).method(x.n),
    "static method": lambda x: Rule.static(x.n),
    "class method": lambda x: RULE.of_class(x.n),
    "property": lambda x: RULE.told,
    "cached property": lambda x: RULE.kept,
    "operator of a class": lambda x: x.n in RULE,
    "slots": lambda x: SLOTTED.ask(),
    "object as a predicate": RULE,
    "bound method as a predicate": RULE.__call__,
}
REFUSED = {
    "default of a dictionary": lambda x: KEPT["any"](x.n),
    "vectorised": lambda x: bool(EACH(x.n)),
    "dispatched": lambda x: dispatched(x.n),
    "context manager": by_manager,
    "evaluated text": lambda x: eval("sum([1 / n] * n) == 1", {"n": x.n}),
    "evaluated here": lambda x: eval("sum([1 / x.n] * x.n) == 1"),
    "decimals": lambda x: Decimal(1) / 3 * 3 == 1,
}


@pytest.mark.parametrize("name", MADE_EXACT)
def test_classes_and_objects_of_the_author_are_exact(name: str) -> None:
    predicate: Any = MADE_EXACT[name]
    assert not predicate(one_instance(batch_of(CASE.instance, 1, 5), 0)), "in floats the sum is not 1"
    assert predicate_verdict(predicate, CASE).is_holds


@pytest.mark.parametrize("name", REFUSED)
def test_what_runs_as_it_stands_refutes_nothing(name: str) -> None:
    predicate: Any = REFUSED[name]
    assert not predicate(one_instance(batch_of(CASE.instance, 1, 5), 0))
    verdict = predicate_verdict(predicate, CASE)
    assert verdict.is_undecided
    assert "as it stands" in verdict.reason or "rounds" in verdict.reason


@pytest.mark.parametrize("name", REFUSED)
def test_the_watch_is_back_after_the_formulas_of_an_instance(name: str) -> None:
    predicate: Any = REFUSED[name]

    def asked(x: Any) -> bool:
        return x.attention().shape == x.advance().shape or predicate(x)

    assert predicate_verdict(asked, CASE).is_undecided


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_only_the_watch_rests_where_nothing_of_an_author_can_start(install: Any) -> None:
    seen: list[str] = []

    def tracer(frame: Any, *_: Any) -> None:
        seen.append(frame.f_code.co_name)

    before = sys.gettrace(), sys.getprofile()
    install(tracer)
    try:
        with Watch().running(), unwatched():
            whole(3)
            assert isinstance(getattr(sys.getprofile(), "__self__", None), Watch) is False
        assert tracer in (sys.gettrace(), sys.getprofile())
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    assert "whole" in seen


def test_numbers_that_are_not_ours_keep_the_watch_awake() -> None:
    one = decided(1)
    assert _all_decided((((one, one),), {"V": ((one,),), "heads": ({"M": None},)}))
    for other in (1.0, Rule(), [one], np.float64(1)):
        assert not _all_decided((((one, other),), {}))
        assert not _all_decided((((one,),), {"V": ((other,),)}))


def test_a_method_of_a_class_above_refutes_nothing() -> None:
    assert not predicate_verdict(super_method, CASE).is_fails


def _listed(x: Any) -> bool:
    SEEN.append(x.n)
    return len(SEEN) < 0


@pytest.mark.parametrize("predicate", [lambda x: RULE.counted(), _listed], ids=["object", "list"])
def test_what_is_kept_between_calls_refutes_nothing(predicate: Any) -> None:
    verdict = predicate_verdict(predicate, CASE)
    assert verdict.is_undecided
    assert "keeps state" in verdict.reason


def test_objects_still_refute_what_is_false() -> None:
    assert predicate_verdict(lambda x: RULE.share > x.n, CASE).is_fails
    assert predicate_verdict(lambda x: Rule(x.n).n < 9 and RULE.told, CASE).is_fails
    assert predicate_verdict(lambda x: not Rule.static(4), CASE).is_fails


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_the_tracer_of_another_goes_on(install: Any) -> None:
    """Coverage and debuggers stay where they are, and the watch is kept beside them."""

    def tracer(*_: Any) -> None:
        return None

    before = sys.gettrace(), sys.getprofile()
    install(tracer)
    try:
        assert predicate_verdict(REFUSED["vectorised"], CASE).is_undecided
        assert tracer in (sys.gettrace(), sys.getprofile())
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])


def test_a_predicate_that_changes_its_arrays_changes_only_its_own() -> None:
    batch = batch_of(CASE.instance, 1, 5)
    tokens, V = batch.tokens.clone(), batch.parameters["V"].clone()

    def changes(x: Any) -> bool:
        x.tokens *= 3
        x.V[...] = 0
        return bool((np.sum(x.tokens**2, axis=1) <= 9.5).all())

    assert changes(one_instance(batch, 0))
    assert (batch.tokens == tokens).all()
    assert (batch.parameters["V"] == V).all()
    (result,) = refute(Conjecture("changes", "oja-flow", holds_if=changes), seconds=2, instances=60, seed=0).results
    assert result.answer == "survived"


def test_helpers_of_another_file_are_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "beside_the_conjecture.py").write_text(
        "class Tool:\n    @staticmethod\n    def whole(n):\n        return sum([1 / n] * n) == 1\n\nTOOL = Tool()\n"
    )
    (tmp_path / "mine.py").write_text(
        "import beside_the_conjecture as beside\n"
        "from eigentoken.numerics.lab import Conjecture\n\n"
        "def ask(x):\n    return beside.TOOL.whole(x.n) and beside.Tool.whole(10)\n\n"
        "shares = Conjecture('shares', 'oja-flow', holds_if=ask)\n"
    )
    (found,) = load(tmp_path / "mine.py")
    assert callable(found.holds_if)
    assert predicate_verdict(found.holds_if, CASE).is_holds


TENTHS = np.linspace(0, 1, 11)
FEW = [t for t in TENTHS if t <= 0.3]
ENOUGH = sum([1 / 10] * 10) >= 1
SHARES = [sum([1 / n] * n) == 1 for n in range(1, 11)]
UPPER = [(i, j) for i in range(3) for j in range(3) if i < j]
LATER = not ENOUGH
BRANCH = 0
for _ in range(10):
    BRANCH += sum([1 / 10] * 10) >= 1


def test_what_the_file_found_by_comparing_is_found_again() -> None:
    """A constant that is the answer to a comparison of floats refutes nothing by their rounding."""
    assert (len(FEW), ENOUGH, all(SHARES), BRANCH) == (3, False, False, 0)
    words = [
        str(predicate_verdict(each, CASE).answer)
        for each in (
            lambda x: len(FEW) == 4,
            lambda x: ENOUGH,
            lambda x: all(SHARES),
            lambda x: BRANCH == 10,
            lambda x: len(UPPER) == 3,
            lambda x: len(UPPER) == 2,
            lambda x: not LATER,
        )
    ]
    assert words == ["undecided", "holds", "holds", "undecided", "holds", "fails", "holds"]
