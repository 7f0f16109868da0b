"""A textbook theorem replaced by a stronger one is noticed: another page is printed, evidence is stale; it is contradicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from eigentoken.proofs.steps import theorems
from eigentoken.proofs.typeset.textbook_theorems import all_theorems
from eigentoken.theory.statements import registry
from eigentoken.theory.statements.registry import statements

from ..tools import theorem_mutants
from ..tools.theorem_mutants import contradicted, known, noticed, sound, stronger
from ..tools.theorem_reasons import FAILS, STILL_TRUE

BY_KEY = {each.key: each for each in all_theorems()}
#: Theorems that small worlds decide quickly.
QUICK = (
    *("norm-bound", "operator-norm", "Cauchy-Schwarz", "Cauchy-Schwarz-Euclidean", "Ostrowski-Schneider", "Rayleigh"),
    *("Rayleigh-above", "positive-stable", "Sylvester-inertia", "spectral-bounds", "exponential-decay", "monotone"),
    *("comparison-linear",),
)


@pytest.mark.parametrize("key", BY_KEY)
def test_a_stronger_theorem_is_printed_otherwise(key: str) -> None:
    made = list(stronger(BY_KEY[key]))
    assert made or key == "Wendel-recursion"
    assert [each.name for each in made if not noticed(each)] == []


@pytest.mark.parametrize("key", QUICK)
def test_a_stronger_theorem_is_contradicted_or_true(key: str) -> None:
    assert [each.name for each in stronger(BY_KEY[key]) if not known(each)] == []


@pytest.mark.parametrize("key", QUICK)
def test_no_small_world_contradicts_the_theorem(key: str) -> None:
    spoke, wrong = sound(BY_KEY[key], 200)
    assert spoke > 15 and wrong is None


def test_reasons_are_about_theorems_that_there_are() -> None:
    names = {each.name for theorem in BY_KEY.values() for each in stronger(theorem)}
    assert len(names) > 150
    assert {*STILL_TRUE, *FAILS} <= names
    assert not set(STILL_TRUE) & set(FAILS)


def test_the_true_ones_are_not_contradicted() -> None:
    true = [each for key in QUICK for each in stronger(BY_KEY[key]) if each.name in STILL_TRUE]
    assert {each.of.key for each in true} >= {"exponential-decay", "monotone"}
    assert all(contradicted(each.theorem, 200) is None for each in true)


def test_a_theorem_without_its_hypothesis_is_not_taken_for_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above can fail: a page that does not print hypotheses notices nothing."""
    monkeypatch.setattr(theorem_mutants, "entry", lambda theorem: [theorem.key])
    assert not any(map(noticed, stronger(BY_KEY["Rayleigh"])))
    monkeypatch.setattr(theorem_mutants, "worlds", lambda *_: iter(()))
    theorem_mutants._small.cache_clear()
    assert not any(map(known, stronger(BY_KEY["Rayleigh"])))
    theorem_mutants._small.cache_clear()


def test_the_file_of_a_theorem_is_in_the_digest_of_what_cites_it() -> None:
    found = statements().get("PH-T5")
    cited = {node.detail[0].key for whole in found.proofs.values() for node in whole.rests_on("textbook")}
    assert theorems.OSTROWSKI_SCHNEIDER.key in cited
    origin = Path(statements()._origins["PH-T5"]).resolve()
    assert Path(str(theorems.__file__)).resolve() in registry._imported(origin)
