"""Each kind of step can say no: wrong steps are rejected, and what is only undecided is not called checked."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.theory.language.verdicts import fails, holds, undecided
from eigentoken.theory.proving.flint_identities import identity_by_flint, inequality_by_cvc5
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.statements.steps import (
    Argument,
    Citation,
    Computation,
    Derivation,
    Identity,
    Inequality,
    Reduction,
    Theorem,
)

a, b, s, t = sp.symbols("a b s t", real=True)
p, q = sp.symbols("p q", positive=True, integer=True)

TRUE_IDENTITIES = [
    ((a + b) ** 3, a**3 + 3 * a**2 * b + 3 * a * b**2 + b**3),
    ((sp.tanh(s + t) + sp.tanh(s - t)) / 2, sp.sinh(2 * s) / (2 * sp.cosh(s + t) * sp.cosh(s - t))),
    ((p * sp.exp(s) - q * sp.exp(-s)) / (p * sp.exp(s) + q * sp.exp(-s)), sp.tanh(s + sp.log(p / q) / 2)),
    (1 / (1 + a) + 1 / (1 - a), 2 / (1 - a**2)),
]


@pytest.mark.parametrize(("left", "right"), TRUE_IDENTITIES)
def test_true_identities_hold_twice(left: sp.Expr, right: sp.Expr) -> None:
    assert identity_verdict(left, right).is_holds
    assert identity_by_flint(left, right).is_holds


@pytest.mark.parametrize(("left", "right"), TRUE_IDENTITIES)
@pytest.mark.parametrize("spoil", [lambda e: -e, lambda e: 2 * e, lambda e: e + sp.Rational(1, 10**9), lambda e: e**2])
def test_spoiled_identities_fail(left: sp.Expr, right: sp.Expr, spoil) -> None:
    assert identity_verdict(left, spoil(right)).is_fails
    assert not identity_by_flint(left, spoil(right)).is_holds


x, y = sp.symbols("x y", positive=True)
#: what the sparse quotients see at once (the first four), and what only the whole normal form does
NESTED = [
    (1 / (1 + 1 / (1 + 1 / a)), (a + 1) / (2 * a + 1)),
    ((a + b) ** -3 * (a**2 - b**2), (a - b) / (a + b) ** 2),
    (1 / (2 * a - 2 * b) + 1 / (b - a), 1 / (2 * b - 2 * a)),
    (
        x ** sp.Rational(5, 6) / x ** sp.Rational(1, 3) / (1 + x ** sp.Rational(1, 6)),
        sp.sqrt(x) / (1 + x ** sp.Rational(1, 6)),
    ),
    (1 / (sp.sqrt(x) - sp.sqrt(y)), (sp.sqrt(x) + sp.sqrt(y)) / (x - y)),
    (1 / (sp.sqrt(x) + 1), (sp.sqrt(x) - 1) / (x - 1)),
]


@pytest.mark.parametrize(("left", "right"), NESTED)
def test_quotients_of_quotients_and_of_roots_are_compared(left: sp.Expr, right: sp.Expr) -> None:
    assert identity_verdict(left, right).is_holds
    for wrong in (-right, right + sp.Rational(1, 10**9), right * (1 + a - b)):
        assert identity_verdict(left, wrong).is_fails


def test_a_denominator_that_vanishes_identically_proves_nothing() -> None:
    nothing = sp.Add(a, b, evaluate=False) - sp.Add(b, a, evaluate=False) + (a + b) ** 2 - a**2 - 2 * a * b - b**2
    assert not identity_verdict(1 / nothing, 2 / nothing).is_holds
    assert not identity_verdict(0 * a + 1 / nothing, sp.Integer(0)).is_holds


def test_an_answer_is_kept_for_the_same_question_only() -> None:
    """Letters of one name with other assumptions, and a float beside the rational that it is not, are other questions."""
    for assumptions, same in (({"positive": True}, True), ({"real": True}, False)) * 2:
        x = sp.Symbol("x", **assumptions)
        assert identity_verdict(sp.sqrt(x**2), x).is_holds is same
        assert identity_verdict(x / 10, sp.Rational(1, 10) * x).is_holds
        assert identity_verdict(0.1 * x, sp.Rational(1, 10) * x).is_fails


def test_an_identity_that_needs_a_root_relation_is_never_called_false() -> None:
    x = sp.Symbol("x", positive=True)
    verdict = identity_verdict(sp.sqrt(x + 2 * sp.sqrt(x) + 1), sp.sqrt(x) + 1)
    assert not verdict.is_fails


def _inequality(conclusion: sp.Basic, *hypotheses: sp.Basic) -> Inequality:
    return Inequality(name="step", says="", hypotheses=hypotheses, conclusion=conclusion)


def test_inequalities_hold_twice_and_weak_is_not_strict() -> None:
    assert _inequality(a * b > 0, a > 0, b > 0).check(frozenset()).is_holds
    assert inequality_by_cvc5((a > 0, b > 0), a * b > 0).is_holds
    assert _inequality(a * b > 0, a >= 0, b > 0).check(frozenset()).is_fails
    assert _inequality(a**2 > 0).check(frozenset()).is_fails
    assert inequality_by_cvc5((), a**2 > 0).is_fails
    assert _inequality(a**2 >= 0).check(frozenset()).is_holds


def test_a_dropped_hypothesis_is_noticed() -> None:
    good = _inequality(1 / (1 + a) < 1, a > 0)
    assert good.check(frozenset()).is_holds
    assert not _inequality(1 / (1 + a) < 1).check(frozenset()).is_holds


def test_definitions_are_put_in_before_checking() -> None:
    m = sp.Symbol("m")
    step = Identity(name="m", says="", left=m - 1, right=a * b, where={m: 1 + a * b})
    assert step.check(frozenset()).is_holds
    wrong = Identity(name="m", says="", left=m - 1, right=a * b, where={m: 1 - a * b})
    assert wrong.check(frozenset()).is_fails
    assert r"\text{where }" in step.display()


LIMIT = "converges to the largest invariant set"
LASALLE = Theorem("lasalle", "LaSalle", ("bounded", "decreasing"), (LIMIT,), "Khalil", "@book{Khalil}")
#: A theorem on named objects: the conclusion is about what the letters stand for.
MEAN_VALUE = Theorem(
    "mvt",
    "MVT",
    ("the slope of {f} is at most {c}",),
    ("{f} is Lipschitz", "{f} is continuous"),
    "Rudin",
    "@book{Rudin}",
)


def _fact(name: str, fact: str, good: bool = True) -> Computation:
    return Computation(
        name=name, says="", run=lambda: holds("") if good else fails(""), formula="", establishes=(fact,)
    )


def test_a_citation_needs_every_hypothesis() -> None:
    cite = Citation(name="cite", says="", theorem=LASALLE, establishes=(LIMIT,))
    whole = Derivation((_fact("one", "bounded"), _fact("two", "decreasing"), cite)).check()
    assert [each.verdict.is_holds for each in whole] == [True, True, True]
    lacking = Derivation((_fact("one", "bounded"), cite)).check()
    assert lacking[-1].verdict.is_fails
    assert "decreasing" in lacking[-1].verdict.reason
    failed = Derivation((_fact("one", "bounded"), _fact("two", "decreasing", good=False), cite)).check()
    assert failed[-1].verdict.is_fails
    from_conditions = Derivation((_fact("one", "bounded"), cite)).check(conditions=("decreasing",))
    assert from_conditions[-1].verdict.is_holds


@pytest.mark.parametrize("lacking", [{"reference": ""}, {"bibtex": ""}])
def test_an_argument_of_ones_own_cannot_be_cited(lacking: dict[str, str]) -> None:
    """A theorem without a published reference is no theorem of a book, whatever its hypotheses are."""
    cite = Citation(name="cite", says="", theorem=replace(LASALLE, **lacking), establishes=(LIMIT,))
    facts = frozenset(LASALLE.hypotheses)
    assert cite.check(facts).is_fails
    assert "Argument" in cite.check(facts).reason
    assert Citation(name="cite", says="", theorem=LASALLE, establishes=(LIMIT,)).check(facts).is_holds


@pytest.mark.parametrize("taken", [(), ("all is well",), (LIMIT, "all is well"), (f"{LIMIT}, and more",)])
def test_a_citation_gives_the_conclusions_of_its_theorem_and_nothing_else(taken: tuple[str, ...]) -> None:
    cite = Citation(name="cite", says="", theorem=LASALLE, establishes=taken)
    assert cite.check(frozenset(LASALLE.hypotheses)).is_fails
    outcomes = Derivation((_fact("one", "bounded"), _fact("two", "decreasing"), cite, _needing(*taken))).check()
    assert not outcomes[-2].accepted
    assert not taken or not outcomes[-1].accepted, "what it wanted to establish is not established"


def _needing(*facts: str) -> Identity:
    return Identity(name="after", says="", left=a, right=a, needs=facts)


def test_a_swapped_conclusion_of_the_theorem_is_noticed() -> None:
    cite = Citation(name="cite", says="", theorem=LASALLE, establishes=(LIMIT,))
    swapped = replace(cite, theorem=replace(LASALLE, conclusions=("diverges",)))
    assert cite.check(frozenset(LASALLE.hypotheses)).is_holds
    assert swapped.check(frozenset(LASALLE.hypotheses)).is_fails


def test_the_letters_of_a_theorem_are_bound() -> None:
    """The same theorem for two functions: hypotheses and conclusions are those of the named one."""
    for function, other in (("sine", "cosine"), ("cosine", "sine")):
        bound = Citation(
            name="cite",
            says="",
            theorem=MEAN_VALUE,
            letters={"f": function, "c": "one"},
            establishes=(f"{function} is Lipschitz",),
        )
        assert bound.check(frozenset({f"the slope of {function} is at most one"})).is_holds
        assert bound.check(frozenset({f"the slope of {other} is at most one"})).is_fails
        assert replace(bound, establishes=(f"{other} is Lipschitz",)).check(frozenset(bound.needed)).is_fails
        assert replace(bound, establishes=("{f} is Lipschitz",)).check(frozenset(bound.needed)).is_fails


@pytest.mark.parametrize("letters", [{}, {"f": "sine"}, {"f": "sine", "c": "one", "d": "two"}])
def test_letters_that_are_missing_or_too_many_are_refused(letters: dict[str, str]) -> None:
    step = Citation(name="a", says="", theorem=MEAN_VALUE, letters=letters, establishes=("sine is Lipschitz",))
    assert step.check(frozenset({"the slope of sine is at most one"})).is_fails
    with pytest.raises(ValueError, match="letters of MVT must be"):
        MEAN_VALUE.of(**letters)


def _argument(name: str = "words", needs: tuple[str, ...] = (), uses: tuple[str, ...] = ()) -> Argument:
    return Argument(name=name, says="Clear.", needs=needs, uses=uses, establishes=("the claim",))


def test_an_argument_is_accepted_and_never_holds() -> None:
    derivation = Derivation((_fact("one", "bounded"), _argument(needs=("bounded",), uses=("one",))))
    outcome = derivation.check()[-1]
    assert outcome.verdict.is_undecided
    assert outcome.accepted
    assert derivation.argued == ("words",)
    assert Derivation((_fact("one", "bounded"),)).argued == ()


def test_an_argument_needs_its_facts_and_its_steps() -> None:
    lacking = Derivation((_argument(needs=("bounded",)),)).check()[-1]
    assert lacking.verdict.is_fails
    assert not lacking.accepted
    broken = Derivation((_fact("one", "bounded", good=False), _argument(uses=("one",)))).check()[-1]
    assert broken.verdict.is_undecided
    assert not broken.accepted, "an argument on a step that failed is not taken"


def test_any_step_can_need_a_fact() -> None:
    step = Identity(name="a", says="", left=a, right=a, needs=("bounded",), establishes=("more",))
    after = Identity(name="b", says="", left=a, right=a, needs=("more",))
    assert not any(each.accepted for each in Derivation((step, after)).check())
    assert all(each.accepted for each in Derivation((step, after)).check(conditions=("bounded",)))


def test_an_undecided_check_is_not_taken_for_an_argument() -> None:
    open_one = Computation(name="a", says="", run=lambda: undecided("?"), formula="", establishes=("claim",))
    outcomes = Derivation((open_one, Identity(name="b", says="", left=a, right=a, needs=("claim",)))).check()
    assert not any(each.accepted for each in outcomes)


def test_scalar_reductions_have_a_second_opinion() -> None:
    def reduction(derived: list[sp.Expr], claimed: tuple[sp.Expr, ...], entrywise: bool = True) -> Reduction:
        return Reduction(
            name="r",
            says="",
            derive=lambda: iter(derived) if entrywise else derived,
            claimed=claimed,
            agrees=lambda one, other: holds("blind"),
            shows=str,
            entrywise=entrywise,
        )

    good = reduction([(a + b) ** 2, sp.tanh(s)], (a**2 + 2 * a * b + b**2, sp.sinh(s) / sp.cosh(s)))
    wrong = reduction([(a + b) ** 2], (a**2 + b**2,))
    short = reduction([a, b], (a,))
    assert good.second_opinion().is_holds  # type: ignore[union-attr]
    assert wrong.second_opinion().is_fails  # type: ignore[union-attr]
    assert short.second_opinion().is_fails  # type: ignore[union-attr]
    assert reduction([a], (b,), entrywise=False).second_opinion() is None
    (outcome,) = Derivation((wrong,)).check(second=True)
    assert outcome.second is not None and outcome.second.is_fails, "a blind comparison is noticed by the second"


def test_a_citation_gives_its_conclusion_to_later_citations() -> None:
    second = Theorem("next", "Next", (LIMIT,), ("done",), "Rudin", "@book{Rudin}")
    steps = (_fact("one", "bounded"), _fact("two", "decreasing"))
    first = Citation(name="a", says="", theorem=LASALLE, establishes=(LIMIT,))
    chain = (*steps, first, Citation(name="b", says="", theorem=second, establishes=("done",)))
    assert all(each.verdict.is_holds for each in Derivation(chain).check())
    assert Derivation((*steps, chain[-1])).check()[-1].verdict.is_fails


def test_a_step_that_uses_a_failed_step_is_not_established() -> None:
    later = Identity(name="later", says="", left=a, right=a, uses=("bad",))
    bad = Identity(name="bad", says="", left=a, right=-a)
    outcomes = Derivation((bad, later)).check()
    assert outcomes[0].verdict.is_fails
    assert outcomes[1].verdict.is_undecided


def test_order_and_names_are_held() -> None:
    one = Identity(name="one", says="", left=a, right=a, uses=("two",))
    two = Identity(name="two", says="", left=a, right=a)
    with pytest.raises(ValueError, match="do not come before"):
        Derivation((one, two))
    with pytest.raises(ValueError, match="stands twice"):
        Derivation((two, two))


def test_a_reduction_compares_derived_with_claimed() -> None:
    def agrees(derived: int, claimed: int):
        return holds("equal") if derived == claimed else fails(f"derived {derived}, claimed {claimed}")

    good = Reduction(name="r", says="", derive=lambda: 3, claimed=3, agrees=agrees, shows=str)
    wrong = Reduction(name="r", says="", derive=lambda: 3, claimed=4, agrees=agrees, shows=str)
    assert good.check(frozenset()).is_holds
    assert wrong.check(frozenset()).is_fails
