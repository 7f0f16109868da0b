"""Coq: what coqc accepts is written as proved, everything else is a comment, and a false lemma is never accepted."""

from __future__ import annotations

import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

from eigentoken.proofs.coq import accepts, export, lemmas_of
from eigentoken.proofs.coq.hints import FACTS_ONLY, HINTS
from eigentoken.proofs.coq.lemmas import lemma_of
from eigentoken.proofs.coq.run import PRELUDE, SHORT, compiled_prelude, proved
from eigentoken.proofs.coq.terms import Names, condition, term
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.steps import Identity, Inequality, Step

a, b = sp.symbols("a b", real=True)
p = sp.Symbol("p", positive=True)


def identity(left: sp.Expr, right: sp.Expr) -> Step:
    return Identity(name="it", says="", left=left, right=right)


def inequality(hypotheses: tuple[sp.Basic, ...], conclusion: sp.Basic) -> Step:
    return Inequality(name="it", says="", hypotheses=hypotheses, conclusion=conclusion)


def test_terms_are_faithful_and_names_are_apart() -> None:
    names = Names()
    assert term(a / (b - 1) + sp.Rational(1, 2), names) == "((1/2) + (a / (b + (-1))))"
    assert condition(sp.And(a > 0, sp.Abs(b) <= 1), names) in (
        r"(a > 0) /\ ((Rabs b) <= 1)",
        r"((Rabs b) <= 1) /\ (a > 0)",
    )
    other = Names()
    assert {other.of(sp.Symbol("m_+")), other.of(sp.Symbol("m_-")), other.of(sp.Symbol("N"))} == {
        "m_plus",
        "m_minus",
        "N_",
    }


def value_of(text: str, point: dict[str, Fraction]) -> Fraction:
    """The number that a Coq term without functions denotes, read by Python's own grammar."""
    text, point = (
        re.sub(r"\blambda\b", "lambda_", text),
        {re.sub(r"^lambda$", "lambda_", k): v for k, v in point.items()},
    )
    numbers = re.sub(r"(?<![\w.^ ])\b(\d+)\b|(?<=[(+*/ -])(?<!\^ )\b(\d+)\b", r"Fraction(\1\2)", text)
    return Fraction(eval(numbers.replace("^", "**"), {"Fraction": Fraction}, dict(point)))


def test_coq_terms_have_the_value_of_the_formula() -> None:
    """Every scalar expression of the book, at a rational point: what is proved in Coq is what the book says."""
    compared = 0
    for told in statements():
        for step in told.derivation.steps if told.derivation else ():
            sides: list[sp.Expr] = []
            if isinstance(step, Identity):
                sides = list(step.sides())
            elif isinstance(step, Inequality):
                relations = [
                    each for part in (*step.hypotheses, step.conclusion) for each in sp.sympify(part).atoms(sp.Rel)
                ]
                sides = [side for each in relations for side in (each.lhs, each.rhs)]
            for side in sides:
                if side.atoms(sp.exp, sp.Abs, sp.Max, sp.Min, sp.tanh, sp.cosh, sp.sinh, sp.sin, sp.cos) or any(
                    not each.exp.is_Integer for each in side.atoms(sp.Pow)
                ):
                    continue
                names = Names()
                text = term(side, names)
                if "(/ " in text:
                    continue
                symbols = sorted(side.free_symbols, key=str)
                exact = {symbol: sp.Rational(7 + 3 * index, 5 + 2 * index) for index, symbol in enumerate(symbols)}
                expected = side.xreplace(exact)
                if not expected.is_Rational:
                    continue
                point = {names.of(symbol): Fraction(int(v.p), int(v.q)) for symbol, v in exact.items()}
                assert value_of(text, point) == Fraction(int(expected.p), int(expected.q)), (told.id, step.name, text)
                compared += 1
    assert compared > 400


def test_a_function_without_form_is_said_so() -> None:
    lemma = lemma_of(identity(sp.gamma(a), sp.gamma(a) + 0 * b), "x")
    assert "gamma" in lemma.missing
    assert lemma.statement == ""


def test_admitted_is_never_accepted() -> None:
    assert not accepts("Lemma x : True.\nAdmitted.\n")
    assert not accepts("Axiom x : False.\n")


TRUE_STEPS = [
    identity((a + b) ** 2 / (a + b), a + b),
    identity(sp.tanh(a), (sp.exp(2 * a) - 1) / (sp.exp(2 * a) + 1)),
    identity(p / sp.sqrt(p), sp.sqrt(p)),
    inequality((a > 0, b > 0), a / b + b / a >= 2),
    inequality((sp.Abs(a) < 1,), sp.And(a < 1, a > -1)),
    inequality((a > 1,), sp.Max(a, 1 / a) > 1),
]
FALSE_STEPS = [
    identity((a + b) ** 2, a**2 + b**2),
    inequality((a > 0,), a**2 > a),
    inequality((), sp.Abs(a) > 0),
    inequality((), 1 / a**2 > 0),
]


@pytest.mark.needs_coq
def test_true_lemmas_are_accepted_and_false_ones_are_not() -> None:
    assert not re.search("Admitted|Axiom|Parameter|admit", PRELUDE)
    with compiled_prelude() as library:  # coqc accepts it, or this is an error
        refused = [
            index for index, step in enumerate(TRUE_STEPS) if proved(lemma_of(step, "it"), library=library) is None
        ]
        assert len(refused) <= 1, refused
        for step in FALSE_STEPS:
            assert not accepts(f"{SHORT}\n{lemma_of(step, 'it').text()}", library=library)


@pytest.mark.needs_coq
def test_an_export_compiles_as_it_stands(tmp_path: Path) -> None:
    results = export([statements().get("PM-L4")], tmp_path)
    assert [each.id for each in results] == ["PM-L4"]
    for each in results:
        assert each.accepted
        text = each.path.read_text()
        assert "Admitted" not in text
        for name in each.accepted:
            assert f"Lemma {name} :" in text
        for name in (*each.refused, *each.missing):
            assert f"Lemma {name} :" not in text
            assert f"NOT PROVED HERE: {name}" in text
        assert subprocess.run(["coqc", "-q", each.path.name], cwd=tmp_path, capture_output=True).returncode == 0


def test_without_coqc_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ValueError, match="coqc is not installed"):
        export([statements().get("PM-L4")], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_scalar_step_has_a_lemma_or_a_reason() -> None:
    for told in [statements().get(name) for name in ("PM-L1", "PM-L4", "PM-L5", "AB-L4.1")]:
        scalar = [each for each in told.derivation.steps if isinstance(each, Identity | Inequality)]  # type: ignore[union-attr]
        made = lemmas_of(told)
        assert len(made) == len(scalar)
        assert len({each.name for each in made}) == len(made)
        assert all(bool(each.missing) != bool(each.statement) for each in made)


def test_every_hint_names_a_step_of_the_book() -> None:
    steps = {
        (told.id, step.name) for told in statements() for step in (told.derivation.steps if told.derivation else ())
    }
    assert set(HINTS) <= steps, set(HINTS) - steps
    assert set(HINTS) >= FACTS_ONLY


def test_an_equivalence_has_both_directions() -> None:
    assert condition(sp.Equivalent(a > 0, b > 0), Names()) == "(a > 0) <-> (b > 0)"


@pytest.mark.slow
@pytest.mark.needs_coq
def test_coq_accepts_most_of_the_book_and_every_file_compiles(tmp_path: Path) -> None:
    results = export(statements(), tmp_path)
    accepted = sum(len(each.accepted) for each in results)
    total = accepted + sum(len(each.refused) + len(each.missing) for each in results)
    for each in results:
        ran = subprocess.run(["coqc", "-q", each.path.name], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, (each.id, ran.stderr)
    left = [name for each in results for name in (*each.refused, *each.missing)]
    print(f"coqc accepted {accepted} of {total} lemmas; not accepted: {', '.join(left) or 'none'}")
    assert accepted >= 0.97 * total
