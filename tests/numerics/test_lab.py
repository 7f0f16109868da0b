"""The conjecture lab: false conjectures are refuted by certified counterexamples, true ones survive, all is repeatable."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from eigentoken.numerics.lab import Conjecture, RefutationReport, refute
from eigentoken.numerics.lab.certify import certify_case
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.language.claims import (
    AlmostEveryConverges,
    AttentionRank,
    Converges,
    Decreases,
    Equilibrium,
    Iff,
    Stable,
    Unstable,
)
from eigentoken.theory.language.conditions import (
    InHemisphere,
    NegativeDefinite,
    Nonsingular,
    PositiveDefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.documents import WordDocumentError, decode, encode
from eigentoken.theory.language.observables import oja_potential
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, ConsensusSet, Polygonal, Zero
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, SpectralNorm, alpha, d, k, matrix, n, p, q

V, M, U, W, B, F = (matrix(name) for name in "VMUWBF")
A = W * B.I
A1 = (Symmetric(V), SimpleTop(V), Nonsingular(V), Relation(Eigenvalue(V, 1) > 0))
SMALL = Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))
TOP = (Symmetric(U), SimpleTop(U), Relation(Eigenvalue(U, 1) > 0))
THRESHOLD = Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) < 2)

FALSE = {
    "PM-L4 any step": Conjecture("PM-L4", "oja-map", (*A1, Relation(n >= 2)), Stable(ConsensusAt(V, 1))),
    "PM-L5 any split": Conjecture("PM-L5", "oja-map", (*A1, SMALL), Unstable(BipartiteAt(V, k))),
    "PM-L6": Conjecture("PM-L6", "oja-map", (*A1, SMALL), Unstable(Polygonal())),
    "PM-L7 any step": Conjecture("PM-L7", "oja-map", A1, Decreases(oja_potential)),
    "PM-L9 rank": Conjecture("PM-L9", "attention-map", (*A1, SMALL), AttentionRank(BipartiteAt(V, k), 2)),
    "PM-L15": Conjecture("PM-L15", "attention-map", (*A1, SMALL), Unstable(Polygonal())),
    "PM-R6": Conjecture("PM-R6", "attention-map", (*A1, SMALL), Equilibrium(ConsensusSet())),
    "PM-R10": Conjecture(
        "PM-R10", "attention-map", (*A1, SMALL, Relation(Eigenvalue(V, k) < 0)), Unstable(BipartiteAt(V, k))
    ),
    "PM-T2": Conjecture("PM-T2", "oja-map", (*A1, SMALL), AlmostEveryConverges(ConsensusAt(V, 1))),
    "PM-N1 real part": Conjecture(
        "PM-N1",
        "multihead-map",
        (SimpleTop(F), Relation(Eigenvalue(F, 1) > 0), Relation(n >= 2)),
        Stable(ConsensusAt(F, 1)),
    ),
    "PM-N4 any step": Conjecture("PM-N4", "oja-map", A1, AlmostEveryConverges(ConsensusAt(V, 1)), n=(3,)),
    "AB-L6.1": Conjecture("AB-L6.1", "causal-flow", (*TOP, Relation(sp.Eq(n, 1))), Converges(ConsensusAt(U, 1))),
    "AB-T6.1 anywhere": Conjecture("AB-T6.1", "causal-flow", TOP, AlmostEveryConverges(ConsensusAt(U, 1))),
    "PH-T2 not symmetric": Conjecture(
        "PH-T2", "token-flow", (NegativeDefinite(A), PositiveDefinite(W)), Converges(Zero())
    ),
}

TRUE = {
    "PM-L4": Conjecture("PM-L4", "oja-map", (*A1, Relation(n >= 2)), Iff(Stable(ConsensusAt(V, 1)), THRESHOLD)),
    "PM-L5 unequal": Conjecture("PM-L5", "oja-map", (*A1, SMALL, Relation(sp.Ne(p, q))), Unstable(BipartiteAt(V, k))),
    "PM-L7": Conjecture(
        "PM-L7", "oja-map", (Symmetric(V), Relation(alpha * sp.Abs(Eigenvalue(V, d)) <= 1)), Decreases(oja_potential)
    ),
    "PM-R10 corrected": Conjecture(
        "PM-R10",
        "attention-map",
        (*A1, SMALL, Relation(Eigenvalue(V, k) < 0), Relation(ScoreAtEigenvector(M, V, k) >= 0)),
        Unstable(BipartiteAt(V, k)),
    ),
    "PM-T2 positive": Conjecture(
        "PM-T2", "oja-map", (*A1, SMALL, Relation(Eigenvalue(V, 2) > 0)), AlmostEveryConverges(ConsensusAt(V, 1))
    ),
    "AB-T6.1": Conjecture("AB-T6.1", "causal-flow", (*TOP, InHemisphere(U)), Converges(ConsensusAt(U, 1))),
    "PH-T2": Conjecture(
        "PH-T2", "token-flow", (Symmetric(A), NegativeDefinite(A), PositiveDefinite(W)), Converges(Zero())
    ),
}

QUICK_TRUE = ("PM-L4", "PM-L5 unequal")
QUICK_FALSE = (
    "PM-L4 any step",
    "PM-L5 any split",
    "PM-L9 rank",
    "PM-L15",
    "PM-R10",
    "PM-T2",
)


def is_simple(document: Any) -> bool:
    """Numbers that a person can read: few and short digits."""
    if isinstance(document, str):
        return len(document) <= 9
    if isinstance(document, dict):
        return all(is_simple(value) for key, value in document.items() if key != "system")
    return all(is_simple(each) for each in document) if isinstance(document, list) else True


def checked(report: RefutationReport) -> dict[str, Any]:
    """The counterexample as JSON, with every certificate accepted by the second arithmetic."""
    document = json.loads(json.dumps(report.as_dict()))
    (result,) = document["results"]
    assert result["verdict"] == "refuted"
    assert result["status"] == "refuted"
    found: dict[str, Any] = result["counterexample"]
    assert all(line["verdict"] == "holds" for line in found["conditions"])
    assert found["claim"]["verdict"] == "fails"
    verdicts = recheck_report(document)
    assert len(verdicts) == len(found["conditions"]) + 1
    assert [(what, verdict.reason) for what, verdict in verdicts if not verdict.is_holds] == []
    return result


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *((each, 1) for each in QUICK_FALSE),
        *(pytest.param(each, 1, marks=pytest.mark.slow) for each in FALSE if each not in QUICK_FALSE),
    ],
)
def test_false_conjectures_are_refuted(name: str, seed: int) -> None:
    """Blind: no number of the sheets is given; the counterexample is small, simple and re-checked."""
    result = checked(refute(FALSE[name], seconds=120, seed=seed))
    found = result["counterexample"]
    assert found["n"] * found["d"] <= 6
    assert result["found_by"] in {"enumeration", "batches", "ascent", "hypothesis", "equilibria", "basins"}
    assert is_simple(found["instance"])


@pytest.mark.parametrize("name", QUICK_TRUE)
def test_true_conjectures_survive_a_short_search(name: str) -> None:
    report = refute(TRUE[name], seconds=60, instances=2600, seed=2)
    (result,) = report.results
    assert (result.answer, result.status) == ("survived", "tested")
    assert result.counterexample is None
    assert result.tried >= 2600 or result.stopped == "time"
    assert "no proof" in result.meaning
    assert {"repeated", "negative second"} <= set(result.corners)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUE)
def test_true_conjectures_survive(name: str) -> None:
    (result,) = refute(TRUE[name], seconds=120, seed=3, jobs=2).results
    assert result.answer == "survived"
    assert result.tried > 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", FALSE)
def test_false_conjectures_are_refuted_from_any_seed(name: str, seed: int) -> None:
    checked(refute(FALSE[name], seconds=120, seed=10 + seed, jobs=2))


def test_changed_numbers_are_refused() -> None:
    """A certificate with one number changed does not re-check, nor one that claims the opposite."""
    report = refute(FALSE["PM-R10"], seconds=60, seed=1)

    def answers(change: Callable[[dict[str, Any]], None]) -> set[str]:
        document = json.loads(json.dumps(report.as_dict()))
        change(document["results"][0]["counterexample"])
        return {str(verdict.answer) for _, verdict in recheck_report(document)}

    def certified(which: int, statement: object) -> Callable[[dict[str, Any]], None]:
        return lambda found: found["certificates"][which]["data"].update(statement=statement)

    assert answers(lambda found: None) == {"holds"}
    assert "fails" in answers(lambda found: found["instance"].update(alpha="7/8"))
    assert "fails" in answers(certified(-1, encode(Stable(BipartiteAt(V, k)))))
    assert "fails" in answers(certified(0, {"word": "__import__", "fields": {}}))


def test_same_seed_same_result() -> None:
    first, second = (refute(FALSE["PM-L15"], seconds=60, instances=20_000, seed=5).as_dict() for _ in range(2))
    for document in (first, second):
        document["results"][0].pop("seconds")
        document["results"][0].pop("meaning")
    assert first == second


def test_uncertified_violations_are_candidates() -> None:
    """A predicate that only floats can evaluate is never a refutation."""
    import numpy as np

    guess = Conjecture(
        "floats", "oja-map", (Symmetric(V),), holds_if=lambda x: float(np.linalg.norm(x.V, 2)) < 1.5, d=[2], n=[1]
    )
    (result,) = refute(guess, seconds=8, instances=300).results
    assert (result.answer, result.status) == ("candidate", "tested")
    assert result.counterexample is None
    assert result.candidate is not None
    assert "not a refutation" in result.meaning


def test_exact_predicates_refute() -> None:
    guess = Conjecture("trace", "oja-map", (Symmetric(V),), holds_if=lambda x: x.V.trace() < 4, d=[2], n=[1])
    (result,) = refute(guess, seconds=20, seed=1).results
    assert result.answer == "refuted"
    assert "exact numbers" in result.counterexample.verdict.reason


def test_dropping_conditions_finds_the_needed_ones() -> None:
    """PM-L5: that the split is unequal is needed; that V is invertible never was."""
    conditions = (Symmetric(V), Nonsingular(V), SMALL)
    conditions = (*conditions, SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
    guess = Conjecture(
        "split", "oja-map", (Relation(sp.Ne(p, q)), *conditions), Unstable(BipartiteAt(V, k)), d=[2], n=[2, 3]
    )
    (result,) = refute(guess, seconds=4, instances=300, seed=1, drop=True).results
    assert result.answer == "survived"
    needed = {line.condition: line.needed for line in result.dropped}
    assert needed[r"p \neq q"] is True
    assert needed[r"\det V \neq 0"] is False
    witness = next(line for line in result.dropped if line.needed)
    assert witness.counterexample is not None
    assert witness.counterexample.verdict.is_fails


def test_progress_is_told() -> None:
    seen = []
    refute(FALSE["PM-L4 any step"], seconds=20, seed=1, watch=seen.append)
    assert seen
    assert seen[-1].tried > 0
    assert "instances" in str(seen[-1])


@pytest.mark.parametrize("name", [*FALSE, *TRUE])
def test_words_survive_their_documents(name: str) -> None:
    guess = {**FALSE, **TRUE}[name]
    for word in (*guess.conditions, *guess.claims):
        assert decode(json.loads(json.dumps(encode(word)))) == word


@pytest.mark.parametrize(
    "document",
    [{"call": "eval", "args": []}, {"word": "object", "fields": {}}, {"symbol": "x"}, {}, 3, {"observable": "nothing"}],
)
def test_documents_make_only_words(document: Any) -> None:
    with pytest.raises(WordDocumentError):
        decode(document)


@pytest.mark.parametrize("method", ["enumeration", "batches", "ascent", "hypothesis"])
def test_methods_search_by_themselves(method: str) -> None:
    """Each method alone sees that bipartite points may be stable, and counts what it tried."""
    from eigentoken.numerics.lab.gathering import Unit
    from eigentoken.numerics.lab.search import run_unit
    from eigentoken.numerics.lab.targets import targets

    (target,) = targets(FALSE["PM-R10"])
    size = {"enumeration": 800, "batches": 800, "ascent": 60, "hypothesis": 60}[method]
    results = [run_unit(target, Unit(method, seed, size)) for seed in range(3)]
    assert all(result.tried > 0 for result in results)
    found = [finding for result in results for finding in result.findings]
    assert found or method == "hypothesis"
    assert all(finding.violation > 0 and finding.method == method for finding in found)


def test_what_one_finding_hands_to_the_next_changes_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smaller instances are the same for both findings: the certificates that they took are counted, not tried again."""
    from eigentoken.numerics.lab import shrink as module
    from eigentoken.numerics.lab.gathering import Unit
    from eigentoken.numerics.lab.search import run_unit
    from eigentoken.numerics.lab.targets import targets

    guess = Conjecture("floats", "oja-map", (Symmetric(V),), holds_if=lambda x: float(x.V.max()) < 1.5, d=[2], n=[1])
    (target,) = targets(guess)
    findings = run_unit(target, Unit("batches", 1, 60)).findings[:2]
    assert len(findings) == 2
    asked: list[Any] = []
    monkeypatch.setattr(module, "certify_case", lambda *each: (asked.append(each), certify_case(*each))[1])
    monkeypatch.setattr(module, "CERTIFICATES", 2000)  # enough for all of the smaller instances

    def outcomes(tried: module.Tried | None) -> tuple[list[Any], int]:
        asked.clear()
        found = [module.shrink(target, each, tried=tried) for each in findings]
        return [each and each.case for each in found], len(asked)

    (alone, most), (handed_on, fewer) = outcomes(None), outcomes(module.Tried())
    assert alone == handed_on == [None, None]
    assert fewer < most
    tried = module.Tried()
    assert module.shrink(target, findings[0], tried=tried) is None
    (taken,) = tried.in_vain.values()
    assert taken > 0
    monkeypatch.setattr(module, "CERTIFICATES", taken)  # none is left for the finding itself
    asked.clear()
    assert module.shrink(target, findings[1], tried=tried) is None
    assert asked == []


def test_ascent_climbs_and_keeps_the_conditions() -> None:
    from eigentoken.numerics.instances.sampling import condition_violation, sample
    from eigentoken.numerics.lab.ascent import climb
    from eigentoken.numerics.lab.targets import targets

    (target,) = targets(FALSE["PM-R10"])
    climbed = 0
    for batch in sample(target.plan, 40, 3, cells_at_most=6).batches:
        before = target.violation(batch)
        after, looked = climb(target, batch)
        assert looked >= batch.count
        assert float(condition_violation(target.plan, after).max()) < 0
        gain = target.violation(after) - before
        assert float(gain.nan_to_num().min()) >= -1e-9
        climbed += int((gain > 1e-6).sum())
    assert climbed > 0
