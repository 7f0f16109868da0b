"""Statements whose proof is a value of the kernel: what it proves is what is claimed, and a changed claim is not proved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.proofs.power_method.pm_l04_consensus_stability import CLAIMS, PM_L4, STEP_BELOW
from eigentoken.theory.kernel import arithmetic as numbers
from eigentoken.theory.kernel import logic
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import accepted
from eigentoken.theory.kernel.propositions import TRUE, Exists, Proposition, children, proposition
from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.language.claims import Iff, SpectrumIs, Stable, Unstable, When
from eigentoken.theory.language.conditions import Condition, Relation, SimpleTop, Symmetric, UniformlyContinuous
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, HeadNorm, alpha, d, k, matrix
from eigentoken.theory.statements.layer_systems import ANY, Covers
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import system

V = matrix("V")


PROVED = [each for each in statements() if each.proof is not None]
#: Seconds, not minutes; ``verify`` and the slow tests prove them all.
QUICK = ("PM-L3", "PM-L4", "PM-T1", "PM-N4", "CT-2")


def holds(statement: Statement) -> None:
    masked = {f"{name}, {mask}" for name in statement.systems for mask in statement.covers.masks}
    assert set(statement.proofs) == ({*statement.systems, *masked} or {""})
    for proved in statement.proofs.values():
        assert not proved.argued
        assert proved.scope() == ()


#: Of the chapter on ellipsoids.
ABELLA = {f"AB-E{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 25)}
ABELLA |= {"AB-L3.1", "AB-L3.2", "AB-L3.3", "AB-L4.1", "AB-T3.1", "AB-T3.2", "AB-T4.1", "AB-X1", "AB-X1c", "AB-X2"}
#: Of the chapter on unnormalised tokens.
PHAM = {"PH-M", "PH-T1", "PH-T2", "PH-T3", "PH-T4", "PH-T5", "PH-T7", "PH-T8", "PH-T9", "PH-C1", "PH-C2", "PH-C4"}


def test_the_statements_of_the_kernel_are_these() -> None:
    """What was proved once stays proved; `docs/tables/statements.md` lists them all."""
    bipartite = {"PM-L5", "PM-L8", "PM-L13", "PM-L14", "PM-N3", "PM-R10", "CT-3", "CT-5", "CT-6"}
    equations = {"PM-A1", "PM-E1", "PM-E3", "PM-E8", "PM-E9", "PM-E10", "PM-E21"}
    known = {"PM-L1", "PM-L7", "PM-L11", "PM-T3", "CT-1", "CT-4", *QUICK, *bipartite, *equations, *ABELLA, *PHAM}
    assert known <= {each.id for each in PROVED}


@pytest.mark.whole_book
@pytest.mark.parametrize("name", ["AB-X1c", "AB-X2"])
def test_a_causal_mask_is_proved_and_not_only_promised(name: str) -> None:
    told = statements().get(name)
    (about,) = told.systems
    assert set(told.proofs) == {about, f"{about}, causal"}
    full, causal = (told.proofs[each] for each in (about, f"{about}, causal"))
    assert causal.system is not None and causal.system.mask == "causal"
    used = {each.rule for each in causal.tree()} - {each.rule for each in full.tree()}
    assert "causal_order" in used


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"covers": Covers(masks=("causal",))}, "no spectrum"),
        ({"covers": Covers(heads=())}, "name the systems"),
        ({"covers": Covers(positions=(ANY,))}, "name the systems"),
        ({"covers": Covers(masks=(ANY,))}, "name the systems"),
    ],
)
def test_what_a_statement_covers_is_proved_or_refused(changed: dict[str, Covers], why: str) -> None:
    """A mask that the proof does not reach, heads or positions that it does not name: nothing is covered by saying so."""
    with pytest.raises(Refused, match=why):
        _ = replace(PM_L4, **changed).proofs  # type: ignore[arg-type]


def test_a_claim_in_full_covers_no_mask() -> None:
    """The weights in the claims of AB-L4.1 are those of full attention: with a causal mask its bounds are false for j > i."""
    with pytest.raises(Refused, match="nothing of the mask"):
        _ = replace(statements().get("AB-L4.1"), covers=Covers(masks=("causal",))).proofs


def test_the_causal_mask_of_pm_n1_is_proved_for_each_system() -> None:
    proofs = statements().get("PM-N1").proofs
    assert {proved.system.mask for proved in proofs.values() if proved.system} == {"full", "causal"}
    assert len(proofs) == 6


@pytest.mark.parametrize("name", QUICK)
def test_the_kernel_proves_exactly_the_claims(name: str) -> None:
    holds(statements().get(name))


@pytest.mark.slow
@pytest.mark.parametrize("statement", [each for each in PROVED if each.id not in QUICK], ids=lambda each: each.id)
def test_the_kernel_proves_all_of_them(statement: Statement) -> None:
    holds(statement)


NOT_STRICT = Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) <= 2)
WRONG = {
    "the threshold is not strict": Iff(
        Stable(ConsensusAt(V, 1)), Relation(alpha * (sp.Abs(Eigenvalue(V, d)) - Eigenvalue(V, 1)) <= 2)
    ),
    "another place": Iff(Stable(ConsensusAt(V, 2)), STEP_BELOW),
    "the other word": Iff(Unstable(ConsensusAt(V, 1)), STEP_BELOW),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_changed_claim_is_not_what_is_proved(what: str) -> None:
    with pytest.raises(Refused, match="not what is claimed"):
        _ = replace(PM_L4, claims=(WRONG[what], CLAIMS[1])).proofs


def test_a_claim_without_its_guard_is_not_proved() -> None:
    bare = When(Relation(Eigenvalue(V, k) < Eigenvalue(V, 1)), Unstable(ConsensusAt(V, k)))
    with pytest.raises(Refused, match="not what is claimed"):
        _ = replace(PM_L4, claims=(CLAIMS[0], bare)).proofs


@pytest.mark.parametrize("dropped", [Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0)], ids=str)
def test_a_dropped_condition_is_missed(dropped: Condition) -> None:
    kept = tuple(each for each in PM_L4.conditions if each != dropped)
    assert len(kept) == len(PM_L4.conditions) - 1
    with pytest.raises(Refused, match="no condition"):
        _ = replace(PM_L4, conditions=kept).proofs


def test_another_system_is_another_statement() -> None:
    with pytest.raises(Refused):
        _ = replace(PM_L4, systems=("oja-flow",)).proofs


def test_what_is_recalled_is_the_registered_statement() -> None:
    """Under the id of another, a statement that says something else is refused; so is one that nobody registered."""
    strange = replace(PM_L4, claims=PM_L4.claims[:1], proof=lambda kernel: kernel.given(Symmetric(V)))
    object.__setattr__(strange, "proofs", {"oja-map": logic.assume(Symmetric(V), system("oja-map"))})
    for told, why in (
        (PM_L4, ""),
        (replace(PM_L4), "not what the kernel proved of it"),
        (replace(PM_L4, id="PM-L444"), "no such statement"),
        (strange, "not what the kernel proved of it"),
    ):
        recalls = replace(
            PM_L4,
            id="X",
            claims=tuple(told.claims) if told is not strange else (Formula(proposition(Symmetric(V))),),
            proof=lambda kernel, told=told: kernel.recall(told),
        )
        if not why:
            assert set(recalls.proofs) == {"oja-map"}
            continue
        with pytest.raises(Refused, match=why):
            _ = recalls.proofs


def test_a_number_that_depends_on_time_is_no_constant() -> None:
    """``there is b with |P| <= b``, by b = |P|: true at each time, and no bound for all of them."""
    norm, b = HeadNorm(matrix("P")), sp.Symbol("b", real=True)
    some = Exists(b, TRUE, proposition(norm <= b))
    itself = numbers.arithmetic([], sp.Le(norm, norm, evaluate=False))
    at_one_time = logic.witness(some, norm, itself)
    assert accepted(at_one_time, (), (some,), None).is_holds
    moving = (proposition(UniformlyContinuous("P")),)
    assert "depends on time" in accepted(at_one_time, moving, (some,), None).reason
    taken = logic.instantiate(logic.generalise(b, numbers.arithmetic([], sp.Le(b, b + 1))), norm)
    assert "depends on time" in accepted(taken, moving, (taken.proposition,), None).reason


def _stability_without_a_spectrum(name: str) -> list[str]:
    """Steps that speak of linear stability and rest on nothing, unless they are conditions or read a spectrum themselves."""
    reads = {"assume", "recall", "linear_stability", "linear_instability", "stability_of_any", "unstable", "tautology"}
    found = []
    for proved in statements().get(name).proofs.values():
        for step in proved.tree():
            earlier = [each for each in step.premises if _speaks(each.proposition)]
            concluded = step.proposition.right if step.rule == "discharge" else step.proposition  # its left is assumed
            if _speaks(concluded) and not earlier and step.rule not in reads:
                found.append(f"{name}: {step.rule}")
            if step.rule in {"linear_stability", "linear_instability"}:
                assert isinstance(step.premises[0].proposition.word, SpectrumIs), name
    return found


def _inside(said: Proposition) -> Iterator[Proposition]:
    for each in children(said):
        yield each
        yield from _inside(each)


def _speaks(said: Proposition) -> bool:
    return any(isinstance(getattr(each, "word", None), Stable | Unstable) for each in (said, *_inside(said)))


@pytest.mark.parametrize("name", ["PM-L4", "CT-2", "PM-N4"])
def test_the_multipliers_of_a_stability_argument_are_those_of_a_proved_spectrum(name: str) -> None:
    assert _stability_without_a_spectrum(name) == []


@pytest.mark.slow
def test_no_multiplier_of_the_book_is_typed_beside_its_spectrum() -> None:
    proved = [each.id for each in statements() if each.proof is not None]
    assert [each for name in proved for each in _stability_without_a_spectrum(name)] == []
