"""A recalled fact is one of its own statement: of its system, under its conditions, in its letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.steps.tensor_reductions import EXACT
from eigentoken.proofs.typeset.document import of_statement
from eigentoken.proofs.typeset.markdown import to_markdown
from eigentoken.proofs.verify import verify
from eigentoken.theory.language.claims import Claim, Stable, When
from eigentoken.theory.language.conditions import (
    AllOf,
    AnyOf,
    BoundedInTime,
    Condition,
    InHemisphere,
    IsIdentity,
    NegativeDefinite,
    Nonsingular,
    PositiveDefinite,
    PositiveSemidefinite,
    Relation,
    SimpleTop,
    Symmetric,
)
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, alpha, d, k, matrix, n, p, q
from eigentoken.theory.statements import registry
from eigentoken.theory.statements.implied_conditions import implied, translated
from eigentoken.theory.statements.registry import Recalled, established, recalled, under
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation, Identity, Step
from eigentoken.theory.systems.catalogue import POSITIONAL, SPECIAL_CASES, SYSTEMS, special_case, system

x = sp.Symbol("x", real=True)
F, M, V, W, P = (matrix(name) for name in "FMVWP")
FACT = "V does something"
PROVED = Identity(name="square", says="", left=(x + 1) ** 2, right=x**2 + 2 * x + 1, establishes=(FACT,))
TOP = Relation(Eigenvalue(V, 1) > 0)


@pytest.fixture
def enter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Statement]]:
    """Statements that exist for one test."""
    book = registry.statements()
    monkeypatch.setattr(book, "_statements", dict(book._statements))
    monkeypatch.setattr(book, "_origins", dict(book._origins))
    established.cache_clear()

    def entered(name: str, *steps: Step, **more: Any) -> Statement:
        made = Statement(name, Kind.LEMMA, Source("here", ""), name, derive=lambda: Derivation(steps), **more)
        return book.register(made)

    yield entered
    established.cache_clear()


def word(statement: Statement) -> str:
    """The verdict on the recalled step, and its reason."""
    assert statement.derivation is not None
    outcomes = statement.derivation.check(statement.facts)
    (found,) = [each for each in outcomes if isinstance(each.step, Recalled)]
    return "holds" if found.verdict.is_holds else found.verdict.reason


def recall(enter: Callable[..., Statement], systems: Any, conditions: Any = (), **more: Any) -> str:
    """Recall FACT of X-1 in a statement with these systems and conditions."""
    return word(enter("X-2", recalled("X-1", FACT, "", **more), systems=systems, conditions=tuple(conditions)))


@pytest.mark.parametrize("ours", [name for name in (*SYSTEMS, *POSITIONAL) if name not in ("oja-map", "attention-map")])
def test_a_fact_of_another_system_is_refused(ours: str, enter: Callable[..., Statement]) -> None:
    """Only the system itself and what it contains: a larger one, a flow, a masked or Euclidean one are others."""
    enter("X-1", PROVED, systems=("attention-map",))
    assert "does not contain" in recall(enter, (ours,))


def test_a_fact_of_the_larger_system_holds_of_the_smaller_in_declared_letters(
    enter: Callable[..., Statement],
) -> None:
    enter("X-1", PROVED, systems=("attention-map",), conditions=(Symmetric(V),))
    given = (Symmetric(V),)
    assert recall(enter, ("attention-map",), given) == "holds"
    for letters in ({}, {"M": "V"}, {"V": "M"}, {"M": "0", "V": "M"}, {"M": "I"}):
        made = recalled("X-1", FACT, "", letters=letters)
        assert "the letters of X-1 are here M = 0" in word(
            enter(f"Y-{letters}", made, systems=("oja-map",), conditions=given)
        )
    made = recalled("X-1", FACT, "", letters={"M": "0"})
    assert word(enter("Y-right", made, systems=("oja-map",), conditions=given)) == "holds"


def test_every_system_of_ours_must_be_covered(enter: Callable[..., Statement]) -> None:
    enter("X-1", PROVED, systems=("oja-map",))
    assert recall(enter, ("oja-map",)) == "holds"
    both = enter("X-3", recalled("X-1", FACT, ""), systems=("oja-map", "attention-map"))
    assert "does not contain attention-map" in word(both)


def test_a_statement_about_numbers_holds_anywhere_and_the_converse_does_not(enter: Callable[..., Statement]) -> None:
    enter("X-1", PROVED, conditions=(TOP,))
    assert recall(enter, ("token-flow",), (TOP,)) == "holds"
    assert "needs" in word(enter("X-3", recalled("X-1", FACT, ""), systems=("token-flow",)))
    enter("X-4", PROVED, systems=("oja-map",))
    assert "no system" in word(enter("X-5", recalled("X-4", FACT, "")))


@pytest.mark.parametrize(
    ("theirs", "ours", "given"),
    [
        ((Symmetric(V),), (), False),
        ((Symmetric(V),), (Symmetric(M),), False),
        ((Symmetric(V),), (AllOf((TOP, Symmetric(V))),), True),
        ((Relation(n >= 2),), (), False),  # a size that is not covered
        ((Relation(n >= 3),), (Relation(n >= 2),), False),
        ((Relation(n >= 2),), (Relation(n >= 3),), True),
        ((Relation(alpha * SpectralNorm(V) < 1),), (Relation(alpha * SpectralNorm(V) < 2),), False),  # a weaker bound
        ((Relation(alpha * SpectralNorm(V) < 1),), (Relation(alpha * SpectralNorm(M) < 1),), False),
        ((Relation(alpha * SpectralNorm(V) < 1),), (Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2)),), True),
        ((Relation(alpha * sp.Abs(Eigenvalue(V, d)) <= 1),), (Relation(alpha * SpectralNorm(V) < 1),), True),
        ((Relation(alpha * SpectralNorm(V) < 1),), (Relation(alpha * sp.Abs(Eigenvalue(V, d)) < 1),), False),
        (
            (Relation(alpha * sp.Abs(Eigenvalue(V, k) * (p - q) / n) < 1),),
            (Symmetric(V), Relation(alpha * SpectralNorm(V) < sp.Rational(1, 2))),
            True,
        ),
    ],
)
def test_a_condition_that_is_not_given_is_refused(
    theirs: tuple[Condition, ...], ours: tuple[Condition, ...], given: bool, enter: Callable[..., Statement]
) -> None:
    enter("X-1", PROVED, systems=("oja-map",), conditions=theirs)
    assert (recall(enter, ("oja-map",), ours) == "holds") == given


def test_an_index_may_be_fixed_and_is_read_in_the_conditions(enter: Callable[..., Statement]) -> None:
    enter("X-1", PROVED, systems=("oja-map",), conditions=(Relation(1 + alpha * Eigenvalue(V, k) > 0),))
    assert "needs" in recall(enter, ("oja-map",), (TOP,))
    fixed = recalled("X-1", FACT, "", letters={"k": 1})
    assert word(enter("X-3", fixed, systems=("oja-map",), conditions=(TOP,))) == "holds"
    last = recalled("X-1", FACT, "", letters={"k": d})
    assert "needs" in word(enter("X-4", last, systems=("oja-map",), conditions=(TOP,)))


def test_letters_are_put_into_the_fact_all_at_once() -> None:
    made = recalled("X-1", "V and lambda_k of V_k, not Vk, under M", "", letters={"V": "M", "M": "V", "k": 1})
    assert made.establishes == ("M and lambda_1 of M_1, not Vk, under V",)


def test_what_is_assumed_must_be_said_by_the_claim(enter: Callable[..., Statement]) -> None:
    """A claim that rests on a recalled fact under a further condition is refused, unless it is a part under it."""
    enter("X-1", PROVED, systems=("oja-map",), conditions=(TOP, Relation(n >= 2)))
    step = recalled("X-1", FACT, "", assuming=(Relation(n >= 2),))
    place = ConsensusAt(V, 1)

    def concluded(name: str, claim: Claim, *steps: Step, by: str = "from X-1") -> bool:
        told = enter(name, *steps, systems=("oja-map",), conditions=(TOP,), claims=(claim,), claims_from=((by,),))
        lines = verify(told, instances=0, second=False).lines
        return all(line.good for line in lines)

    assert not concluded("Y-1", Stable(place), step)
    assert concluded("Y-2", When(Relation(n >= 3), Stable(place)), step)
    assert not concluded("Y-3", When(Relation(d >= 3), Stable(place)), step)
    later = Identity(name="later", says="", left=x, right=x, uses=("from X-1",))
    assert not concluded("Y-4", Stable(place), step, later, by="later")
    free = replace(later, discharges=(Relation(n >= 2),))
    assert concluded("Y-5", Stable(place), step, free, by="later")
    printed = to_markdown(of_statement(registry.statements().get("Y-5")))
    assert r"assuming $n \geq 2$" in printed
    assert "no longer assumed" in printed


def test_what_was_assumed_on_the_way_is_a_condition_of_the_fact(enter: Callable[..., Statement]) -> None:
    enter("X-1", replace(PROVED, assuming=(TOP,)), systems=("oja-map",))
    assert "needs" in recall(enter, ("oja-map",))
    assert word(enter("X-3", recalled("X-1", FACT, ""), systems=("oja-map",), conditions=(TOP,))) == "holds"


def test_a_step_may_be_about_another_system(enter: Callable[..., Statement]) -> None:
    """A causal fact of a chapter on full attention carries to the causal system, the others do not."""
    causal = replace(PROVED, name="causal", establishes=("a causal fact",), about=("causal-flow",))
    enter("X-1", PROVED, causal, systems=("ellipsoid-multihead-flow",), conditions=(Symmetric(W),))
    for fact, good in ((FACT, False), ("a causal fact", True)):
        told = enter(f"Y-{fact}", recalled("X-1", fact, "", letters={"W": "I"}), systems=("causal-flow",))
        assert (word(told) == "holds") == good
    at_home = enter("Y-3", recalled("X-1", "a causal fact", ""), systems=("ellipsoid-multihead-flow",))
    assert "does not contain" in word(at_home)
    wrong = Statement(
        "Y-4",
        Kind.LEMMA,
        Source("here", ""),
        "",
        systems=("ellipsoid-multihead-flow",),
        claims=(Stable(ConsensusAt(V, 1)),),
        claims_from=(("causal",),),
        derive=lambda: Derivation((causal,)),
    )
    assert dict(wrong.reached({"causal"}))["claim 1"].is_fails


def test_outside_a_statement_nothing_is_recalled() -> None:
    step = recalled("PM-L4", "stable iff the step is below the threshold", "")
    assert step.check(frozenset()).is_fails


@pytest.mark.parametrize(
    ("wanted", "ours", "systems", "given"),
    [
        (Nonsingular(matrix("B")), (Symmetric(W * matrix("B").inverse()),), (), True),
        (Nonsingular(matrix("B")), (Symmetric(W * matrix("B")),), (), False),
        (Nonsingular(V), (PositiveDefinite(V),), (), True),
        (Nonsingular(V), (PositiveSemidefinite(V),), (), False),
        (BoundedInTime("P"), (), ("ellipsoid-flow",), True),
        (BoundedInTime("P"), (), ("causal-flow",), False),
        (BoundedInTime("P"), (), (), False),
        (PositiveDefinite(sp.Identity(d)), (), (), True),
        (NegativeDefinite(sp.Identity(d)), (), (), False),
        (PositiveSemidefinite(V), (PositiveDefinite(V),), (), True),
        (PositiveDefinite(V), (PositiveSemidefinite(V),), (), False),
        (AnyOf((PositiveSemidefinite(V), TOP)), (TOP,), (), True),
        (AllOf((PositiveSemidefinite(V), TOP)), (TOP,), (), False),
        (TOP, (Symmetric(V), PositiveDefinite(V)), (), True),
        (TOP, (PositiveDefinite(V),), (), False),  # the top eigenvalue of sym V is another number
        (SimpleTop(V), (Relation(Eigenvalue(V, 1) > Eigenvalue(V, 2)),), (), False),
        (SimpleTop(V), (Symmetric(V), Relation(Eigenvalue(V, 1) > Eigenvalue(V, 2))), (), True),
        (Relation(Eigenvalue(V, 2) >= Eigenvalue(V, 3)), (), (), True),
        (Relation(Eigenvalue(V, 3) >= Eigenvalue(V, 2)), (), (), False),
        (Relation(Eigenvalue(V, k) <= Eigenvalue(M, 1)), (), (), False),
        (InHemisphere(), (InHemisphere(V),), (), False),
    ],
)
def test_what_our_conditions_give(
    wanted: Condition, ours: tuple[Condition, ...], systems: tuple[str, ...], given: bool
) -> None:
    assert implied(wanted, ours, systems) == given


def test_conditions_are_read_in_other_letters() -> None:
    told = AllOf((Symmetric(F), Relation(Eigenvalue(F, k) < SpectralNorm(M)), BoundedInTime("F")))
    wanted = AllOf((Symmetric(V), Relation(Eigenvalue(V, 1) < SpectralNorm(M)), BoundedInTime("V")))
    assert translated(told, {"F": V, "k": sp.Integer(1)}) == wanted


# --- the declared special cases are true -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", SPECIAL_CASES, ids=lambda case: f"{case.small} in {case.large}")
def test_a_special_case_moves_the_tokens_alike(case: Any) -> None:
    """Both systems on the same three tokens with symbolic matrices: equal by exact arithmetic."""
    small, large = system(case.small), system(case.large)
    letters = {name: sp.Matrix(2, 2, sp.symbols(f"{name.lower()}1:5", real=True)) for name in "VMUPW"}
    letters["P"] = sp.Matrix([[2, 1], [1, 3]]) if small.metric == "P" else letters["P"]

    def rows(value: sp.Matrix) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(value.row(i)) for i in range(2))

    values = {"0": sp.zeros(2), "I": sp.eye(2), **letters}
    own = {each.name: rows(letters[each.name]) for each in small.parameters if each.kind == "matrix"}
    head = {name: rows(values[value]) for name, value in case.values.items() if name in (large.value, large.score)}
    other: dict[str, Any] = {"heads": [head]} if large.multihead else head
    if large.metric:
        other = {**other, large.metric: rows(values[case.values[large.metric]])}
    step = {"alpha": sp.Rational(1, 3)}
    tokens = tuple(
        tuple(sp.Rational(entry) for entry in token) for token in (("3/5", "4/5"), (1, 0), ("-5/13", "12/13"))
    )
    mask = tuple(tuple(int(j <= i) for j in range(3)) for i in range(3)) if case.masked else None
    one = small.advance(EXACT, {**own, **step}, tokens, mask)
    two = large.advance(EXACT, {**other, **step}, tokens, mask)
    for left, right in zip(one, two, strict=True):
        assert all(sp.simplify(a - b) == 0 for a, b in zip(left, right, strict=True))


def test_special_cases_compose_and_do_not_turn_round() -> None:
    assert special_case("oja-flow", "multihead-flow") == {"F": "V", "M": "0"}
    assert special_case("multihead-map", "multihead-map") == {"F": "F", "M": "M"}
    for case in SPECIAL_CASES:
        assert special_case(case.large, case.small) is None
    assert special_case("causal-flow", "ellipsoid-multihead-flow", masked=True) == {"U": "U", "P": "P", "W": "I"}
    assert all(system(case.small).time is system(case.large).time for case in SPECIAL_CASES)
    assert all(case.masked == (system(case.small).mask != system(case.large).mask) for case in SPECIAL_CASES)


# --- the book ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "condition"),
    [("PM-T3", SimpleTop(V)), ("PM-R3", Relation(alpha * SpectralNorm(V) < 1))],
)
def test_dropping_a_condition_that_a_recalled_fact_needs_spoils_the_derivation(name: str, condition: Condition) -> None:
    told = registry.statements().get(name)
    without = replace(told, conditions=tuple(each for each in told.conditions if each != condition))
    assert len(without.conditions) == len(told.conditions) - 1
    assert without.derivation is not None
    refused = [each for each in without.derivation.check(told.facts) if isinstance(each.step, Recalled)]
    assert any(each.verdict.is_fails and "needs" in each.verdict.reason for each in refused)


def test_the_oja_statements_do_not_speak_of_attention() -> None:
    """What the audit found: consensus of attention, decided by a lemma about the Oja map."""
    told = registry.statements().get("PM-T3")
    made = recalled("PM-L4", "stable iff the step is below the threshold", "")
    wrong = replace(told, derive=lambda: Derivation((made,)))
    assert "does not contain attention-map" in word(wrong)


@pytest.mark.parametrize("told", registry.statements(), ids=lambda each: each.id)
def test_what_is_recalled_is_what_the_statement_depends_on(told: Statement) -> None:
    """The graph of the book, which has no circle, holds every recall: none can rest on itself."""
    steps = told.derivation.steps if told.derivation else ()
    assert {step.statement for step in steps if isinstance(step, Recalled)} <= set(told.depends)


def test_facts_that_are_recalled_without_a_condition_hold_for_all_matrices() -> None:
    """Every other fact names its hypotheses: those of its statement, or those that its steps assume."""
    recalls = [
        (step.statement, step.fact)
        for told in registry.statements()
        for step in (told.derivation.steps if told.derivation else ())
        if isinstance(step, Recalled)
    ]
    assert {name for name, fact in recalls if not under(name, fact)} == {"PM-CM"}
    assert under("PM-DOM", "the map is defined and analytic everywhere") == (Relation(alpha * SpectralNorm(V) < 1),)
    assert under("AB-E15", "the first token is fixed") == (IsIdentity(matrix("U")),)
