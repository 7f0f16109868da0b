"""What is only argued in words is counted, printed and ranked as such, and cannot be passed on as more than that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.proofs.typeset.document import of_statement
from eigentoken.proofs.typeset.latex import to_latex
from eigentoken.proofs.typeset.markdown import to_markdown
from eigentoken.proofs.typeset.summary import Summary
from eigentoken.proofs.verify import Line, Verified, verify
from eigentoken.theory.statements import registry
from eigentoken.theory.statements.registry import Recalled, established, recalled
from eigentoken.theory.statements.statement import Kind, Source, Statement, Status
from eigentoken.theory.statements.steps import Argument, Citation, Derivation, Identity, Step, Theorem

x = sp.Symbol("x", real=True)
CHECKED = Identity(name="square", says="Expand.", left=(x + 1) ** 2, right=x**2 + 2 * x + 1, establishes=("a square",))
ARGUED = Argument(
    name="limit", says="Clear.", needs=("a square",), establishes=("the limit",), formula="x \\to 0", uses=("square",)
)
WRONG = Identity(name="square", says="Expand.", left=(x + 1) ** 2, right=x**2 + 1, establishes=("a square",))


@pytest.fixture
def enter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Statement]]:
    """Statements that exist for one test; what is remembered of their derivations is forgotten with them."""
    book = registry.statements()
    monkeypatch.setattr(book, "_statements", dict(book._statements))
    monkeypatch.setattr(book, "_origins", dict(book._origins))
    established.cache_clear()

    def entered(name: str, *steps: Step, depends: tuple[str, ...] = ()) -> Statement:
        source = Source("here", "")
        made = Statement(name, Kind.LEMMA, source, name, depends=depends, derive=lambda: Derivation(steps))
        return book.register(made)

    yield entered
    established.cache_clear()


def checked(statement: Statement) -> Verified:
    return verify(statement, instances=0, second=False)


def test_an_argued_step_takes_the_statement_off_the_rung_derived(enter: Callable[..., Statement]) -> None:
    whole, argued = checked(enter("X-1", CHECKED)), checked(enter("X-2", CHECKED, ARGUED))
    assert (whole.evidence().argued, whole.status()) == (0, Status.STEPWISE)
    assert argued.good
    assert (argued.evidence().checked, argued.evidence().cited, argued.evidence().argued) == (1, 0, 1)
    assert argued.status() is Status.ARGUED
    assert argued.as_dict()["status"] == "argued"
    assert argued.as_dict()["lines"][1]["word"] == "argued"


def test_it_is_said_in_print_and_on_the_screen(enter: Callable[..., Statement]) -> None:
    told = enter("X-1", CHECKED, ARGUED)
    evidence = checked(told).evidence()
    story = Summary(told, str(told.status(evidence)), evidence)
    screen = "\n".join(line for _, lines in story.sections() for line in lines)
    assert "argued in words, not machine-checked" in screen
    assert "1 argued in words" in story.evidence_sentence()
    assert [step["argued"] for step in story.as_dict()["steps"]] == [False, True]
    document = of_statement(told)
    for text in (to_latex(document), to_markdown(document)):
        assert "argued in words, not machine-checked" in text


def test_a_step_for_listed_sizes_says_so_in_the_status_and_in_print(enter: Callable[..., Statement]) -> None:
    told = enter("X-1", CHECKED, replace(CHECKED, name="again", scope="3 tokens, d = 2"))
    evidence = checked(told).evidence()
    assert evidence.scopes == ("3 tokens, d = 2",)
    story = Summary(told, str(told.status(evidence)), evidence)
    assert story.status_words() == "stepwise, some steps only for 3 tokens, d = 2"
    _, (first, *_) = next(iter(story.sections()))
    assert first.endswith("status: stepwise, some steps only for 3 tokens, d = 2")
    steps = dict(story.sections())["Derivation"]
    assert any(line.endswith("[checked: identity, only for 3 tokens, d = 2]") for line in steps)
    for text in (to_latex(of_statement(told)), to_markdown(of_statement(told))):
        assert text.count("only for 3 tokens, d = 2") == 1, "the step says it; the status too once a run is recorded"


def test_an_argument_on_a_failed_step_does_not_verify(enter: Callable[..., Statement]) -> None:
    result = checked(enter("X-1", WRONG, ARGUED))
    assert not result.good
    assert [line.good for line in result.lines] == [False, False]
    assert result.status() is Status.STATED


def test_a_line_cannot_call_itself_argued() -> None:
    assert not Line("identity", "a", "argued", "").good
    assert not Line("argument", "a", "undecided", "", argued=True).good
    assert Line("argument", "a", "argued", "", argued=True).good


def test_a_recalled_argument_is_argued_here_too(enter: Callable[..., Statement]) -> None:
    """Through one statement, or through two."""
    enter("X-1", CHECKED, ARGUED)
    enter("X-2", recalled("X-1", "the limit", "As there."), depends=("X-1",))
    last = enter("X-3", CHECKED, recalled("X-2", "the limit", "As there."), depends=("X-2",))
    result = checked(last)
    assert result.good
    assert result.evidence().argued == 1
    assert result.status() is Status.ARGUED
    assert "which argues a step in words" in to_markdown(of_statement(last))


def test_a_recalled_fact_of_checked_steps_is_stepwise(enter: Callable[..., Statement]) -> None:
    enter("X-1", CHECKED)
    result = checked(enter("X-2", recalled("X-1", "a square", "As there."), depends=("X-1",)))
    assert result.status() is Status.STEPWISE
    assert "proved in X-1" in to_markdown(of_statement(registry.statements().get("X-2")))


def test_a_recalled_fact_keeps_the_sizes_of_the_steps_behind_it(enter: Callable[..., Statement]) -> None:
    """Directly, through a step that uses a limited one, and through two statements; a fact beside it stays free."""
    small = replace(CHECKED, name="small", scope="2 tokens", establishes=("a small fact",))
    resting = replace(CHECKED, name="resting", needs=("a small fact",), establishes=("a resting fact",))
    enter("X-1", CHECKED, small, resting)
    enter("X-2", recalled("X-1", "a resting fact", ""), depends=("X-1",))
    for other, fact, scopes in (
        ("X-1", "a small fact", ("2 tokens",)),
        ("X-1", "a resting fact", ("2 tokens",)),
        ("X-2", "a resting fact", ("2 tokens",)),
        ("X-1", "a square", ()),
    ):
        told = enter(f"Y-{other}-{fact}", recalled(other, fact, ""), depends=(other,))
        assert checked(told).evidence().scopes == scopes, (other, fact)
        assert ("only for 2 tokens" in to_markdown(of_statement(told))) == bool(scopes)


def test_a_missing_or_false_recall_fails(enter: Callable[..., Statement]) -> None:
    """A fact under another name, and a fact of a derivation of which any step does not hold."""
    enter("X-1", CHECKED)
    bad = Identity(name="later", says="", left=x, right=-x)
    enter("X-2", CHECKED, bad)
    for other, fact in (("X-1", "the moon is green"), ("X-2", "a square")):
        result = checked(enter(f"Y-{other}", recalled(other, fact, "As there."), depends=(other,)))
        assert not result.good
        assert result.status() is Status.STATED


def test_a_recall_that_fails_takes_with_it_what_rests_on_it(enter: Callable[..., Statement]) -> None:
    enter("X-1", WRONG)
    theorem = Theorem("t", "a theorem", ("a square",), ("done",), "Rudin", "@book{Rudin}")
    steps = (recalled("X-1", "a square", ""), Citation(name="cite", says="", theorem=theorem, establishes=("done",)))
    assert [line.good for line in checked(enter("X-2", *steps, depends=("X-1",))).lines] == [False, False]


def test_a_recall_establishes_nothing_else() -> None:
    with pytest.raises(ValueError, match="can establish nothing else"):
        Recalled(name="a", says="", statement="AB-E8", fact="the field is smooth", establishes=("all is well",))


@pytest.mark.parametrize("fact", ["the field is smooth", "the trajectories are bounded"])
def test_a_spoiled_chapter_spoils_what_recalls_it(fact: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """AB-E8 with a wrong step no longer gives its facts, and AB-L3.3 and AB-T3.2, which recall them, no longer verify."""
    book = registry.statements()
    told = book.get("AB-E8")
    assert fact in established("AB-E8")
    steps = told.derivation.steps if told.derivation else ()
    spoiled = Derivation((*steps, Identity(name="wrong", says="", left=x, right=x + 1)))
    monkeypatch.setitem(told.__dict__, "derivation", spoiled)
    established.cache_clear()
    try:
        assert fact not in established("AB-E8")
        for name in ("AB-L3.3", "AB-T3.2"):
            assert not checked(book.get(name)).good
    finally:
        established.cache_clear()


#: Of the sheets on clusters and of new results: a step of each is an argument in words, and its rung says so.
IN_WORDS = {"AB-X5", "AB-X6", "CL-10", "CL-13", "CL-15", "CT-11", "CT-13", "PH-X1", "PM-T2+", "PM-X2", "PM-X4"}


def test_no_other_statement_rests_on_an_argument_and_every_theorem_is_published() -> None:
    for told in registry.statements():
        if told.derivation is not None:
            assert bool(told.derivation.argued) == (told.id in IN_WORDS), told.id
            for step in told.derivation.steps:
                if isinstance(step, Citation):
                    assert step.theorem.reference and step.theorem.bibtex, f"{told.id}: {step.name}"
