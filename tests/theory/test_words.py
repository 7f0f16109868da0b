"""Verdicts, certificates, readings, terms, registry: the words themselves."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

from eigentoken.theory.language.conditions import AllOf, AnyOf, Not, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.readings import LATEX, SYMBOLIC, NoReading, Reading
from eigentoken.theory.language.terms import Eigenvalue, alpha, d, matrix, plain
from eigentoken.theory.language.verdicts import (
    Certificate,
    Verdict,
    VerdictAnswer,
    all_of,
    any_of,
    fails,
    holds,
    undecided,
)
from eigentoken.theory.statements.registry import Registry, UnknownStatement
from eigentoken.theory.statements.statement import Evidence, Kind, Printed, Source, SourceKind, Statement, Status

V = matrix("V")


def test_a_verdict_is_no_boolean_and_carries_a_sane_margin() -> None:
    with pytest.raises(TypeError, match="not true or false"):
        bool(holds("yes"))
    for margin in (float("nan"), -1.0):
        with pytest.raises(ValueError, match="margin"):
            holds("yes", margin=margin)
    assert holds("yes", margin=float("inf")).as_dict()["margin"] is None


def test_a_certificate_must_support_its_verdict() -> None:
    certificate = Certificate("kind", "condition", VerdictAnswer.HOLDS)
    assert holds("yes", certificate=certificate).certificate is certificate
    with pytest.raises(ValueError, match="supports holds"):
        fails("no", certificate=certificate)


def test_every_field_of_a_certificate_enters_its_digest() -> None:
    base = Certificate("kind", "condition", VerdictAnswer.HOLDS, {"x": "1"}, {"c": "2"}, {"R": np.eye(2)})
    changes = {
        "kind": "other",
        "condition": "other",
        "verdict": VerdictAnswer.FAILS,
        "inputs": {"x": "2"},
        "data": {"c": "3"},
        "arrays": {"R": np.eye(2) + np.spacing(1.0)},
    }
    digests = {dataclasses.replace(base, **{name: value}).digest() for name, value in changes.items()}
    assert len(digests) == len(changes)
    assert base.digest() not in digests


@pytest.mark.parametrize(
    ("words", "both", "either"),
    [
        ("hh", "holds", "holds"),
        ("hf", "fails", "holds"),
        ("hu", "undecided", "holds"),
        ("fu", "fails", "undecided"),
        ("ff", "fails", "fails"),
        ("uu", "undecided", "undecided"),
    ],
)
def test_three_valued_logic(words: str, both: str, either: str) -> None:
    make = {"h": holds, "f": fails, "u": undecided}
    parts = {str(index): make[letter]("because") for index, letter in enumerate(words)}
    assert all_of(parts).answer == both
    assert any_of(parts).answer == either


def test_a_margin_of_a_conjunction_is_claimed_only_in_one_unit() -> None:
    same = all_of({"a": holds("", margin=2.0, unit="u"), "b": holds("", margin=1.0, unit="u")})
    assert same.margin == 1.0
    assert all_of({"a": holds("", margin=2.0, unit="u"), "b": holds("", margin=1.0, unit="w")}).margin is None
    assert all_of({"a": holds("", margin=2.0, unit="u"), "b": holds("")}).margin is None


def test_dispatch_names_what_is_missing() -> None:
    reading: Reading[str] = Reading("smell", "how does it smell?")
    with pytest.raises(NoReading, match="Symmetric has no smell reading"):
        reading(Symmetric(V))

    @reading.register(Symmetric)
    def smell_symmetric(word: Symmetric) -> str:
        return "dry"

    assert reading(Symmetric(V)) == "dry"
    with pytest.raises(ValueError, match="already"):
        reading.register(Symmetric)(smell_symmetric)


def test_a_function_of_a_reading_has_a_name_of_its_own() -> None:
    reading: Reading[str] = Reading("smell", "how does it smell?")

    def _(word: Symmetric) -> str:
        return "dry"

    def __(word: Symmetric) -> str:
        return "dry"

    for nameless in (_, __, lambda word: "dry"):
        with pytest.raises(ValueError, match="smell reading needs a name"):
            reading.register(Symmetric)(nameless)
    assert reading.table == {}


def test_a_relation_that_sympy_decided_is_refused() -> None:
    with pytest.raises(ValueError, match="must say something"):
        Relation(alpha > 0)


def test_composed_conditions_read_composed() -> None:
    first, second = Relation(Eigenvalue(V, 1) > 0), Relation(Eigenvalue(V, d) > 0)
    both = SYMBOLIC(AllOf((first, second)))
    assert both == sp.And(Eigenvalue(V, 1) > 0, Eigenvalue(V, d) > 0)
    assert SYMBOLIC(Not(first)) == (Eigenvalue(V, 1) <= 0)
    assert r"\text{ or }" in LATEX(AnyOf((first, SimpleTop(V))))


def test_plain_symbols_are_one_to_one() -> None:
    relation, names = plain(Eigenvalue(V, 1) > Eigenvalue(matrix("M"), 1))
    assert len(names) == 2
    assert relation.free_symbols == set(names)


def _statement(name: str, **parts) -> Statement:
    return Statement(name, Kind.LEMMA, Source("paper", "1"), "title", **parts)


def test_the_registry_refuses_doubles_dangling_names_and_circles() -> None:
    registry = Registry()
    registry.register(_statement("A-1"))
    with pytest.raises(ValueError, match="taken"):
        registry.register(_statement("A-1"))
    registry.register(_statement("A-2", depends=("A-9",)))
    with pytest.raises(ValueError, match="not registered"):
        registry.graph()
    registry.register(_statement("A-9", depends=("A-2",)))
    with pytest.raises(ValueError, match="circle"):
        registry.graph()


def test_the_order_is_a_readers_whatever_was_imported_first() -> None:
    registry = Registry()
    for name in ("PM-L10", "PM-L2", "AB-T3.1", "PM-E1", "AB-T3.2"):
        registry.register(_statement(name))
    assert [each.id for each in registry] == ["AB-T3.1", "AB-T3.2", "PM-E1", "PM-L2", "PM-L10"]


def test_a_statement_asked_for_by_its_id_brings_no_chapter_it_does_not_use() -> None:
    """Importing the whole book costs over a second."""
    code = (
        "import sys; from eigentoken.theory.statements.registry import statements as s; s().get('ph-t5');"
        "alone = [each for each in sys.modules if each.startswith('eigentoken.proofs.bounds.')];"
        "print(alone, len(s()) > 100, len([e for e in sys.modules if e.startswith('eigentoken.proofs.bounds.')]) > 10)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "True", "True"]


def test_a_mistyped_id_gets_a_suggestion() -> None:
    registry = Registry()
    registry.register(_statement("PM-L4"))
    with pytest.raises(UnknownStatement, match=r"did you mean title \(PM-L4\)\?"):
        registry.get("PM-L44")
    assert registry.get("pm-l4").id == "PM-L4"


def test_the_ladder_never_climbs_by_itself() -> None:
    bare = _statement("A-1", conditions=(Symmetric(V),))
    assert bare.status(None) is Status.STATED
    assert bare.status(Evidence("x", checked=3, complete=False)) is Status.STATED
    assert bare.status(Evidence("x", tested=10**6, complete=True)) is Status.TESTED
    assert bare.status(Evidence("x", checked=1, complete=True)) is Status.STEPWISE
    assert bare.status(Evidence("x", proved=1, complete=True)) is Status.DERIVED
    assert bare.status(Evidence("x", checked=9, cited=9, argued=1, complete=True)) is Status.ARGUED
    assert bare.status(Evidence("x", argued=1, tested=10, complete=True)) is Status.ARGUED
    wrong = _statement("A-2", printed=Printed("text", "wrong"))
    assert wrong.status(Evidence("x", counterexamples=1, complete=True)) is Status.REFUTED
    assert wrong.status(Evidence("x", counterexamples=1, checked=2, complete=True)) is Status.CORRECTED
    assert wrong.status(Evidence("x", counterexamples=1, checked=2, argued=1, complete=True)) is Status.REFUTED
    assert wrong.status(Evidence("x", checked=2, complete=True)) is Status.STEPWISE


@pytest.mark.parametrize(
    ("kind", "false", "word"),
    [
        (SourceKind.READ, True, "false as printed"),
        (SourceKind.READ, False, "imprecise as printed"),
        (SourceKind.SUMMARISED, True, "summary imprecise"),
        (SourceKind.SUMMARISED, False, "summary imprecise"),
        (SourceKind.FORMALISED, True, "false as formalised here"),
        (SourceKind.FORMALISED, False, "imprecise as formalised here"),
    ],
)
def test_only_what_was_read_in_a_paper_is_refuted_or_corrected(kind: SourceKind, false: bool, word: str) -> None:
    told = _statement("A-3", printed=Printed("text", "wrong", false=false, kind=kind))
    assert told.printed is not None
    assert told.printed.finding == word
    assert told.printed.erratum == (kind is SourceKind.READ)
    speaks = kind is SourceKind.READ and false
    checked = told.status(Evidence("x", counterexamples=1, checked=2, complete=True))
    assert checked is (Status.CORRECTED if speaks else Status.STEPWISE)
    alone = told.status(Evidence("x", counterexamples=1, tested=1, complete=True))
    assert alone is (Status.REFUTED if speaks else Status.TESTED)


def test_verdict_words_are_checked() -> None:
    assert Verdict("holds", "text becomes a word").is_holds  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="maybe"):
        Verdict("maybe", "no such word")  # type: ignore[arg-type]
