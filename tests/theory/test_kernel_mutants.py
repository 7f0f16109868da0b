"""Statements that the kernel proves, changed in one place: each is refused, or is known to be true."""

from __future__ import annotations

from typing import Any

import pytest

from eigentoken.theory.kernel.propositions import proposition, same
from eigentoken.theory.language.verdicts import holds
from eigentoken.theory.statements import statement as statements_module
from eigentoken.theory.statements.registry import statement

from ..tools.kernel_mutants import STILL_TRUE, mutants, survivors

QUICK = ("PM-L3", "PM-L4", "PM-N4", "CT-1")


@pytest.mark.parametrize("name", QUICK)
def test_no_mutant_survives_that_is_not_true(name: str) -> None:
    count, alive = survivors(statement(name))
    assert count > 15
    assert all(each.reason() for each in alive)
    assert {each.name for each in alive} >= {each for each in STILL_TRUE if each.startswith(f"{name}:")}


def test_another_system_is_no_matter_where_the_kernel_needs_none() -> None:
    _, alive = survivors(statement("BD-N1"))
    assert {each.reason() for each in alive} == {"the kernel proves it for no system at all"}
    assert len(alive) > 5 and not any(each.name in STILL_TRUE for each in alive)
    (other,) = [each for each in mutants(statement("PM-L4")) if each.what == "for oja-flow"]
    assert other.refused() and not other.reason()


def test_a_mutant_says_something_else() -> None:
    original = statement("PM-N4")
    made = list(mutants(original))
    assert len({each.what for each in made}) == len(made) > 100
    for each in made:
        changed, claims = each.statement, map(proposition, original.claims)
        assert (changed.conditions, changed.systems) != (original.conditions, original.systems) or any(
            not same(proposition(one), other) for one, other in zip(changed.claims, claims, strict=False)
        )


def test_the_test_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a gate that lets everything through, a changed claim survives."""

    def lenient(*_: Any) -> Any:
        return holds("let it be so")

    monkeypatch.setattr(statements_module, "accepted", lenient)
    _, alive = survivors(statement("PM-N4"))
    assert {each.name for each in alive} - set(STILL_TRUE)
