"""What a counterexample looks like in the end: small numbers, also where a condition speaks of a product; masks; joined runs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import torch

from eigentoken.numerics.instances.exact import ExactDraft
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.instances.joining import joined
from eigentoken.numerics.instances.plans import plan_for
from eigentoken.numerics.instances.sampling import condition_violation, sample
from eigentoken.numerics.instances.structured import mirrored_states
from eigentoken.numerics.lab import Conjecture, ConjectureError, load, refute
from eigentoken.numerics.lab import predicates as free
from eigentoken.numerics.lab.rerun import Rerun
from eigentoken.numerics.lab.simplify import burden, simplify
from eigentoken.numerics.lab.targets import targets
from eigentoken.numerics.recheck.refutations.report import recheck_report
from eigentoken.theory.classification.instances import read_instance
from eigentoken.theory.language.claims import Converges, SpectrumIs, Stable
from eigentoken.theory.language.conditions import NegativeDefinite, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt, ConsensusSet
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, ell, matrix, n

V, W, B = matrix("V"), matrix("W"), matrix("B")
TOP = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0))
BLIND = Path("benchmarks/blind")


def blind(name: str) -> Conjecture:
    (found,) = [each for file in sorted(BLIND.glob("*.py")) for each in load(file) if each.name == name]
    return found


def heaviest(value: Any) -> int:
    """The largest numerator or denominator in a document of an instance."""
    if isinstance(value, list | tuple):
        return max((heaviest(each) for each in value), default=0)
    if isinstance(value, dict):
        return heaviest([each for key, each in value.items() if key not in ("system", "mask")])
    numbers = sp.sympify(value).atoms(sp.Rational)
    return max((max(abs(int(each.p)), int(each.q)) for each in numbers), default=0)


@pytest.mark.parametrize(
    ("name", "most"), [("PM-L9 rank m", 50), pytest.param("PH-C1 Euclidean distance", 10, marks=pytest.mark.slow)]
)
def test_counterexamples_end_with_small_numbers(name: str, most: int) -> None:
    (result,) = refute(blind(name), seconds=120, seed=0).results
    assert result.counterexample is not None
    assert heaviest(result.counterexample.case.instance.as_dict()) <= most


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "name",
    [
        "PH-T2 with B Hurwitz instead",
        "AB-T6.1 any sign",
        "AB-X2 without the modulus",
        "attention is doubly stochastic",
    ],
)
def test_hard_ones_are_refuted_from_any_seed(name: str, seed: int) -> None:
    document = json.loads(json.dumps(refute(blind(name), seconds=600, seed=seed).as_dict()))
    assert document["results"][0]["verdict"] == "refuted"
    assert all(verdict.is_holds for _, verdict in recheck_report(document, authors_code=Rerun()))


def draft_of(**changes: Any) -> ExactDraft:
    rows = {"V": ((Fraction(7, 3), Fraction(0)), (Fraction(0), Fraction(-5, 4)))}
    tokens = ((Fraction(20, 29), Fraction(21, 29)), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    given: dict[str, Any] = {"alpha": Fraction(17, 100), "tokens": tokens, "k": 1, "p": 3, **changes}
    return ExactDraft("oja-map", given.pop("matrices", rows), (), **given)


def test_numbers_become_simpler_only_while_the_test_passes() -> None:
    plan = plan_for("oja-map", [Symmetric(V)], n=(1, 2, 3), d=(2,))
    asked: list[ExactDraft] = []

    def tested(made: ExactDraft) -> bool:
        asked.append(made)
        return (
            made.matrices["V"][0][0] > 1
            and len(made.tokens) >= 2
            and made.alpha is not None
            and made.alpha < Fraction(1, 2)
        )

    start = draft_of()
    final = simplify(plan, start, tested)
    assert tested(final) and burden(final) < burden(start)
    assert final.matrices["V"] == ((Fraction(2), Fraction(0)), (Fraction(0), Fraction(0)))
    assert final.alpha == Fraction(1, 3) and len(final.tokens) == 2
    assert all(entry.denominator <= 5 for token in final.tokens for entry in token)
    assert simplify(plan, start, lambda _: False) == start
    assert asked


def test_products_keep_what_is_asked_of_them() -> None:
    """With ``A = W B^-1`` symmetric and negative definite, A and W become simple and B follows."""
    A = W * B.I
    plan = plan_for("token-flow", [Symmetric(A), NegativeDefinite(A)])
    left = sp.Matrix([[sp.Rational(3, 7), sp.Rational(1, 5)], [0, sp.Rational(11, 9)]])
    middle = sp.Matrix([[sp.Rational(-5, 3), sp.Rational(1, 7)], [sp.Rational(1, 7), sp.Rational(-9, 4)]])

    def rows(value: sp.Matrix) -> Any:
        return tuple(tuple(Fraction(int(e.p), int(e.q)) for e in value.row(i)) for i in range(2))

    start = ExactDraft(
        "token-flow", {"B": rows(middle.inv() * left), "W": rows(left)}, (), None, ((Fraction(1), Fraction(2)),), 1, 1
    )

    def tested(made: ExactDraft) -> bool:
        if sp.Matrix(made.matrices["B"]).det() == 0:
            return False
        asked = sp.Matrix(made.matrices["W"]) * sp.Matrix(made.matrices["B"]).inv()
        return bool(asked == asked.T and (-asked).is_positive_definite)

    final = simplify(plan, start, tested)
    assert tested(final)
    assert all(
        entry.denominator == 1 and abs(entry) <= 1 for rows in final.matrices.values() for row in rows for entry in row
    )


# --- masks -----------------------------------------------------------------------------------------------------------


def full_spectrum(mask: Any) -> Conjecture:
    """The spectrum at consensus under full attention, claimed under a mask."""
    classes = (
        ((1 + alpha * Eigenvalue(V, ell)) / (1 + alpha * Eigenvalue(V, 1)), 1),
        (1 / (1 + alpha * Eigenvalue(V, 1)), (n - 1) * (d - 1)),
    )
    return Conjecture("masked", "attention-map", TOP, SpectrumIs(ConsensusAt(V, 1), classes), mask=mask, d=[2])


@pytest.mark.parametrize("mask", ["causal", [[1, 0, 0], [1, 1, 0], [0, 1, 1]]])
def test_counterexamples_have_the_mask_of_the_conjecture(mask: Any) -> None:
    document = json.loads(json.dumps(refute(full_spectrum(mask), seconds=60, seed=1).as_dict()))
    found = document["results"][0]["counterexample"]
    assert found["instance"]["mask"] == mask
    assert all(verdict.is_holds for _, verdict in recheck_report(document))
    stated = document["results"][0]["conjecture"]
    assert stated["mask"] == mask
    other = full_spectrum(None)
    from eigentoken.numerics.lab.certify import conjecture_document

    document["results"][0]["conjecture"] = conjecture_document(other)
    assert any(verdict.is_fails and "mask" in verdict.reason for _, verdict in recheck_report(document))


def test_full_attention_is_no_mask_and_its_spectrum_survives() -> None:
    (result,) = refute(full_spectrum("full"), seconds=60, instances=2000, seed=1).results
    assert result.answer == "survived" and "mask" not in result.conjecture


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        ("upper", "mask must be"),
        ([[1, 0]], "mask must be"),
        ([[0, 0], [1, 1]], "attends to at least one"),
        (7, "mask must be"),
    ],
)
def test_bad_masks_are_told(mask: Any, says: str) -> None:
    with pytest.raises(ConjectureError, match=says):
        full_spectrum(mask)
    with pytest.raises(ConjectureError, match="the mask is for 2 tokens"):
        Conjecture("sizes", "attention-map", (), Stable(ConsensusAt(V, 1)), mask=[[1, 0], [1, 1]], n=[3])


# --- joined batches, many states -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "system", [pytest.param("attention-flow", marks=pytest.mark.slow), "multihead-map", "causal-flow"]
)
def test_joined_batches_hold_the_same_instances(system: str) -> None:
    drawn = sample(plan_for(system, n=(2, 3), d=(2,)), 60, 3)
    together = joined(drawn.batches)
    assert sum(each.count for each in together) == drawn.count
    assert len(together) < len(drawn.batches)
    kinds = [(each.n, each.d, len(each.parameters.get("heads", ()))) for each in together]
    assert len(set(kinds)) == len(kinds)
    first = next(each for each in drawn.batches if (each.n, each.d) == (together[0].n, together[0].d))
    assert torch.equal(together[0].tokens[: first.count], first.tokens)
    (target,) = targets(Conjecture("any", system, (), Converges(ConsensusSet()), n=[2, 3], d=[2]))
    alone = torch.cat([target.violation(each) for each in drawn.batches if _kind(each) == _kind(together[0])])
    assert torch.allclose(target.violation(together[0]), alone, atol=1e-8, equal_nan=True)


def _kind(batch: Any) -> tuple[int, int, int, int]:
    return batch.n, batch.d, batch.p, len(batch.parameters.get("heads", ()))


def test_mirrored_states_are_mirrored_and_keep_the_parameters() -> None:
    plan = plan_for("token-flow", n=(3,), d=(2,))
    batch = sample(plan, 5, 1).batches[0]
    many = mirrored_states(batch)
    added = many.tokens[batch.count :]
    assert torch.equal(many.tokens[: batch.count], batch.tokens)
    assert len(added) == batch.count * 24
    assert bool((added.sum(1) == 0).all()) and bool((added[:, -1] == 0).all())
    assert bool((condition_violation(plan, many) < 0).all())
    assert {tuple(map(tuple, each)) for each in many.named("B").tolist()[batch.count :]} == {
        tuple(map(tuple, each)) for each in batch.named("B").tolist()
    }


# --- code of the author ----------------------------------------------------------------------------------------------

OWN = """
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Decreases
from eigentoken.theory.language.conditions import Relation
from eigentoken.theory.language.observables import Observable, dot
from eigentoken.theory.language.terms import n


def gap(scalars, system, parameters, x, mask):
    away = [a - b for a, b in zip(x[0], x[1], strict=True)]
    return dot(away, away)


guess = Conjecture("gap", "attention-flow", [Relation(n >= 2)], Decreases(Observable("oja-potential", "g", gap)), d=[2])
"""


def test_own_observables_are_run_again_only_when_asked(tmp_path: Path) -> None:
    """Even with the name of a known one, an observable of the file is not taken for it."""
    file = tmp_path / "guess.py"
    file.write_text(OWN)
    document = json.loads(json.dumps(refute(file, seconds=60, seed=1).as_dict()))
    assert document["results"][0]["verdict"] == "refuted"
    plain = recheck_report(document)[-1][1]
    assert plain.is_undecided and "--run-predicates" in plain.reason
    assert all(verdict.is_holds for _, verdict in recheck_report(document, authors_code=Rerun()))
    file.write_text(OWN.replace("dot(away, away)", "-dot(away, away)"))
    changed = recheck_report(document, authors_code=Rerun())[-1][1]
    assert changed.is_undecided and "sha256" in changed.reason


def test_a_predicate_that_never_answers_on_exact_numbers_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free, "PATIENCE", 0.2)
    case = Case(read_instance({"system": "oja-flow", "V": [["1"]], "tokens": [["1"]]}), 1, 1)

    def endless(_: Any) -> bool:
        while True:
            pass

    verdict = free.predicate_verdict(endless, case)
    assert verdict.is_undecided and "0.2 s" in verdict.reason
