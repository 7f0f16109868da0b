"""An inequality is true as it is printed: what the checker knows of the symbols stands before the formula, in every format."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import sympy as sp

from eigentoken.proofs.typeset.document import of_statement
from eigentoken.proofs.typeset.html import to_html_body
from eigentoken.proofs.typeset.latex import to_latex
from eigentoken.proofs.typeset.markdown import to_markdown
from eigentoken.proofs.typeset.summary import summary
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.proving.real_arithmetic import prove
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.steps import Identity, Inequality, Step


@cache
def inequalities() -> dict[tuple[str, str], Inequality]:
    """Every inequality of the book, derived here and not while the tests are collected."""
    return {
        (told.id, step.name): step
        for told in statements()
        for step in (told.derivation.steps if told.derivation else ())
        if isinstance(step, Inequality)
    }


def declared(step: Inequality) -> set[sp.Symbol]:
    """The symbols whose declaration says more than that they are real."""
    parts = [sp.sympify(each) for each in (*step.hypotheses, step.conclusion)]
    symbols = set().union(*(each.free_symbols for each in parts))
    return {each for each in symbols if each.is_nonzero or each.is_nonnegative or each.is_nonpositive}


def bare(expression: Any) -> Any:
    """The same with symbols of which only reality is known, and nothing decided on the way."""
    expression = sp.sympify(expression)
    if isinstance(expression, sp.Symbol):
        return sp.Symbol(expression.name, real=True)
    if not expression.args:
        return expression
    args = [bare(each) for each in expression.args]
    return expression.func(*args, evaluate=False) if expression.is_Relational else expression.func(*args)


def shows_its_signs(step: Inequality) -> bool:
    """Every declared sign is said before the colon, and nothing is said where nothing is declared."""
    printed = plain_text(step.display())
    said = {fact.lhs for fact in step.assumptions()}
    bounded = set().union(
        *(sp.sympify(each).free_symbols for each in step.hypotheses if sp.sympify(each).is_Relational), set()
    )
    if not declared(step) <= said | bounded or printed.startswith("for ") != bool(said):
        return False
    before = printed.partition(":")[0]
    return all(plain_text(sp.latex(symbol)) in before for symbol in said if not symbol.name.startswith("["))


def test_every_declared_sign_stands_before_the_formula() -> None:
    assert len(inequalities()) > 150
    assert [key for key, step in inequalities().items() if not shows_its_signs(step)] == []


def test_every_inequality_is_true_as_printed() -> None:
    """With real symbols only, what is printed before the arrow proves what is printed after it."""
    signed = {key: step for key, step in inequalities().items() if step.assumptions()}
    assert len(signed) > 50
    wrong = [
        key
        for key, step in signed.items()
        if not prove(
            tuple(bare(each) for each in (*step.assumptions(), *step.hypotheses)), bare(step.conclusion)
        ).is_holds
    ]
    assert wrong == []


def test_without_the_signs_the_printed_formula_was_false() -> None:
    (step,) = (step for (name, _), step in inequalities().items() if name == "AB-T3.2" and step.assumptions())
    assert plain_text(step.display()).startswith("for C, s, v > 0: ")
    assert prove(tuple(map(bare, step.hypotheses)), bare(step.conclusion)).is_fails


@pytest.mark.parametrize("name", ["AB-T3.2", "PM-L4", "PM-N3"])
def test_every_format_prints_the_signs(name: str) -> None:
    told = replace(statements().get(name), proof=None)
    document = of_statement(told)
    steps = [step for (owner, _), step in inequalities().items() if owner == name and step.assumptions()]
    assert steps
    shown = " ".join(line for _, lines in summary(told).sections() for line in lines)
    assert all(plain_text(step.display()) in shown for step in steps)
    for written in (to_latex(document), to_markdown(document), to_html_body(document)):
        assert written.count(r"\text{for }") >= len(steps)
    formulas = [each["formula"] for each in summary(told).as_dict()["steps"]]
    assert all(step.display() in formulas for step in steps)


def test_an_identity_prints_signs_only_where_a_root_reads_them() -> None:
    a, b = sp.symbols("a b", positive=True)
    root: Step = Identity(name="root", says="", left=sp.sqrt(a * b), right=sp.sqrt(a) * sp.sqrt(b))
    plain: Step = Identity(name="plain", says="", left=(a + b) ** 2, right=a**2 + 2 * a * b + b**2)
    assert plain_text(root.display()).startswith("for a, b > 0: ")
    assert not plain_text(plain.display()).startswith("for ")
