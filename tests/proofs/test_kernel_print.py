"""Derivations printed from the tree of a proof: every claim, what each step assumes, and nothing that no claim carries."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest
import sympy as sp

from eigentoken.proofs.typeset.abbreviations import clashing, relettered
from eigentoken.proofs.typeset.document import PrintedArgument, of_statement
from eigentoken.proofs.typeset.kernel_steps import _READ, HOW, LOGIC, kernel_steps
from eigentoken.proofs.typeset.latex import to_latex
from eigentoken.proofs.typeset.summary import Summary
from eigentoken.proofs.verify import verify
from eigentoken.theory.calculus import Index, dot, vector
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import FALSE, TRUE, ForAll, Implication, Negation, proposition
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.printing.scalars import scalar_latex
from eigentoken.theory.statements.registry import statement, statements


@pytest.fixture(scope="module")
def from_tree():
    return statement("PM-L4")


def test_steps_are_in_order_and_rest_on_earlier_ones(from_tree) -> None:
    (found,) = kernel_steps(from_tree)
    steps = found.steps
    assert found.systems == ("oja-map",)
    assert [each.number for each in steps] == list(range(1, len(steps) + 1))
    assert all(use < each.number for each in steps for use in each.uses)
    assert steps[-1].uses
    rules = {each.rule for each in steps[:-1]}
    assert {"spectrum", "linear_stability", "linear_instability", "arithmetic"} <= rules <= set(HOW) | set(LOGIC)


def test_a_step_says_what_it_assumes_beyond_the_conditions(from_tree) -> None:
    steps = kernel_steps(from_tree)[0].steps
    spectrum = next(each for each in steps if each.rule == "spectrum")
    assert spectrum.says == r"If $1 + \alpha \lambda_{1}(V) > 0$:"
    given = next(each for each in steps if r"1 + \alpha \lambda_{1}(V) > 0" in each.formula.split(r",\qquad "))
    assert given.rule == "arithmetic"  # lambda_1 > 0 is a condition, and is not said again


def test_the_document_has_the_steps_of_the_tree(from_tree) -> None:
    steps = kernel_steps(from_tree)[0].steps
    printed = [each for each in of_statement(from_tree).blocks if isinstance(each, PrintedArgument)]
    assert [each.formula for each in printed] == [each.formula for each in steps[:-1]]
    assert to_latex(of_statement(from_tree)).count(r"\step{") >= len(steps) - 1
    record = Summary(from_tree, "derived", None).as_dict()["steps"]
    assert [each["kind"] for each in record] == [each.rule for each in steps[:-1]]


def test_a_sentence_that_no_claim_carries_fails(from_tree) -> None:
    assert verify(from_tree, instances=0).good
    told = verify(replace(from_tree, text="It is also stable for every other step."), instances=0)
    assert not told.good
    assert any(line.name == "text" and "no claim carries" in line.reason for line in told.lines)


def test_no_statement_that_is_proved_says_more_than_its_claims() -> None:
    proved = [told for told in statements() if told.proof is not None]
    assert proved
    assert [told.id for told in proved if told.text or told.claims_from or told.prose_from] == []


def test_a_hand_route_beside_a_proof_is_not_printed(from_tree) -> None:
    assert from_tree.derivation is not None
    words = [step.says for step in from_tree.derivation.steps]
    shown = "\n".join(line for _, lines in Summary(from_tree, "derived", None).sections() for line in lines)
    assert words
    assert not [each for each in words if each in shown]


def test_systems_with_the_same_derivation_are_printed_once() -> None:
    told = statement("CT-2")
    assert [found.systems for found in kernel_steps(told)] == [("oja-flow", "attention-flow", "multihead-flow")]


def test_a_recalled_statement_is_named_and_not_unfolded() -> None:
    whole = statement("PM-L4")

    def proof(k: Kernel):
        return k.recall(whole)

    told = replace(whole, proof=proof)
    steps = kernel_steps(told)[0].steps
    assert [(each.rule, each.how) for each in steps[:-1]] == [
        ("recall", "proved in Stability of consensus for the Oja map (PM-L4)")
    ]


def test_a_letter_has_one_meaning_in_a_derivation() -> None:
    """A number and a vector of one name: the one of the claims keeps it, the other is printed with a prime, bound or not."""
    number, arrow = sp.Symbol("b", real=True), VectorLetter("b")
    square = Tensor(dot(vector("b"), vector("b")))
    claim = ForAll(arrow, TRUE, proposition(sp.Ge(square, 0, evaluate=False)))
    other = ForAll(number, TRUE, proposition(sp.Ge(number**2, 0, evaluate=False)))
    table = clashing([claim, other, proposition(number > 0)], [claim])
    assert {old: new.name for old, new in table.items()} == {number: "b'"}
    assert "b'" in latex(relettered(other, table)) and "b'" in latex(relettered(proposition(number > 0), table))
    assert relettered(claim, table) == claim
    assert clashing([claim], [claim]) == {}


@pytest.mark.parametrize("name", ["PM-C2", "PM-R2"])
def test_no_name_stands_for_two_sorts_in_print(name: str) -> None:
    told = statement(name)
    text = " ".join(step.formula + step.says for found in kernel_steps(told) for step in found.steps)
    assert "'" in text  # it would: the proofs use one name for a number and for a vector


def test_a_negation_is_said_as_one_and_a_sum_before_a_factor_is_in_brackets() -> None:
    x = proposition(sp.Symbol("t", real=True) > 0)
    assert latex(Implication(x, FALSE)) == latex(Negation(x))
    j = Index("token", "j")
    total = Tensor(dot(vector("x", j), vector("x", j)).summed(j))
    other = Tensor(dot(vector("z", j), vector("z", j)).summed(j))
    printed = scalar_latex(sp.Mul(total, other, evaluate=False))
    assert printed in (
        r"\left(\sum_{j}  |x_{j}|^{2}\right) \sum_{j}  |z_{j}|^{2}",
        r"\left(\sum_{j}  |z_{j}|^{2}\right) \sum_{j}  |x_{j}|^{2}",
    )
    assert scalar_latex(sp.Symbol("low")) == r"\mathrm{low}" and scalar_latex(sp.Symbol("beta")) == r"\beta"


def test_what_was_read_off_a_proof_is_kept_as_long_as_its_statement() -> None:
    told = statements().get("PM-E9")
    assert kernel_steps(told) is kernel_steps(told) != ()
    other = replace(told)
    assert kernel_steps(other) is not kernel_steps(told) and kernel_steps(other) == kernel_steps(told)
    key = id(other)
    assert key in _READ
    del other
    gc.collect()
    assert key not in _READ
