"""What a referee finds on pages: broken formulas, pages half empty, letters that nothing introduces, numbers of two steps."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import sympy as sp

from eigentoken.output import compile_pdf
from eigentoken.proofs.questions import _parts
from eigentoken.proofs.typeset.abbreviations import clashing
from eigentoken.proofs.typeset.book import story
from eigentoken.proofs.typeset.document import Items, PrintedArgument, PrintedDocument, of_statement
from eigentoken.proofs.typeset.kernel_steps import kernel_steps
from eigentoken.proofs.typeset.latex import LINES, PREAMBLE, to_latex
from eigentoken.proofs.typeset.obvious import is_evident, same_sides
from eigentoken.proofs.typeset.summary import letters_of, needed
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, Negation, proposition
from eigentoken.theory.language.claims import Unstable
from eigentoken.theory.language.conditions import InHemisphere, NonPrincipalModulusBelow, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.printing.plain_text import WIDE, broken
from eigentoken.theory.printing.scalars import POINTS, width
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system

x, y = sp.symbols("x y", real=True)
#: Lines of many kinds: sums of exponentials, fractions in fractions, matrices, words.
LINES_FROM = ("PH-T1", "PH-T7", "AB-T3.1", "CT-3", "BD-R2")


def document(name: str) -> PrintedDocument:
    return of_statement(statements().get(name))


def lines_of(latex_text: str) -> list[str]:
    inside = latex_text.removeprefix(r"\begin{aligned} & ").removesuffix(r" \end{aligned}")
    return [each.removeprefix(r"\quad {}") for each in inside.split(r" \\ & ")]


@pytest.mark.needs_latex
def test_a_width_is_what_latex_makes_of_it(tmp_path: Path) -> None:
    """Between 0.88 and 1.25 times: so a line of the book fills the page, and none sticks out."""
    formulas = [
        step.formula for name in LINES_FROM for each in kernel_steps(statements().get(name)) for step in each.steps
    ]
    lines = [line for each in formulas if each for line in lines_of(broken(each))]
    boxes = (rf"\setbox0\hbox{{$\displaystyle {line}$}}\wlog{{W\the\wd0}}" for line in lines)
    (tmp_path / "m.tex").write_text(
        PREAMBLE + r"\begin{document}" + "\n".join(boxes) + r"\end{document}", encoding="utf-8"
    )
    subprocess.run(["pdflatex", "-interaction=batchmode", "m.tex"], cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "m.log").read_text(encoding="utf-8", errors="replace")
    true = [float(each) for each in re.findall(r"^W([\d.]+)pt", log, re.MULTILINE)]
    assert len(true) == len(lines) > 150
    ratios = [points / (POINTS * width(line)) for points, line in zip(true, lines, strict=True) if points > 100]
    assert min(ratios) > 0.88 and max(ratios) < 1.25, (min(ratios), max(ratios))


def test_a_sum_of_short_terms_fills_its_lines() -> None:
    """Characters of the plain text would make one line of each term."""
    term = r"2 \sum_{k}  (x_{i}^{\top} W x_{k}) e^{x_{i}^{\top} W x_{k}} \Big(\sum_{m} e^{x_{j}^{\top} W x_{m}}\Big)"
    whole = " + ".join([term] * 4) + r" \geq 0"
    lines = lines_of(broken(whole))
    assert len(lines) == 3 and max(map(width, lines)) <= WIDE
    assert lines[-1].rstrip().endswith(r"\geq 0") and lines[-1].count(r"\top") > 2  # the relation is not alone


def test_no_relation_ends_a_line_before_a_minus() -> None:
    piece = r"\frac{a_{1} + b_{1} + c_{1}}{d_{1}}"
    whole = " + ".join([piece] * 6) + r" \leq - \delta \left(" + " + ".join([piece] * 5) + r"\right)"
    assert not [line for line in lines_of(broken(whole)) if re.search(r"(\\leq|=|<|-|\+)\s*$", line)]


def test_parentheses_of_two_lines_are_as_high_as_a_fraction() -> None:
    piece = r"\frac{a_{1} + b_{1} + c_{1}}{d_{1}}"
    shown = broken("z = y \\left(" + " + ".join([piece] * 12) + r"\right)")
    assert r"\Bigl(" in shown and r"\bigl(" not in shown and shown.count(r"\Bigl(") == shown.count(r"\Bigr)")


def test_a_long_display_may_go_on_over_the_page() -> None:
    """Else it leaves half a page empty; its first line stays with the second, and its last with the one before."""
    text = to_latex(document("PM-L7"))
    long = text.split(r"\begin{align}")[1:]
    assert long
    for each in long:
        lines = each.split(r"\end{align}")[0].strip().splitlines()
        assert len(lines) > LINES
        assert [line.endswith(r"\\*") for line in lines[:-1]] == [
            k in (0, len(lines) - 2) for k in range(len(lines) - 1)
        ]
        assert r"\label" in lines[-1] and not any(r"\label" in line for line in lines[:-1])


@pytest.mark.needs_latex
@pytest.mark.needs_poppler
@pytest.mark.parametrize("name", ["CL-16"])
def test_no_line_ends_inside_a_formula(name: str, tmp_path: Path) -> None:
    compile_pdf(to_latex(document(name)), tmp_path / "paper.pdf")
    made = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "paper.pdf", "-"], capture_output=True, text=True, check=True
    )
    lines = [line.rstrip() for line in made.stdout.splitlines()]
    assert len(lines) > 100
    assert [line for line in lines if re.search(r"\b(Step|Under|assuming|if|since)\b.*[≻≺<>=≤≥−]$", line)] == []


@pytest.mark.parametrize("name", ["PM-N1", pytest.param("AB-X2", marks=pytest.mark.slow)])
def test_a_number_names_one_step_of_the_document(name: str) -> None:
    derivations = kernel_steps(statements().get(name))
    numbers = [step.number for each in derivations for step in each.steps[:-1]]
    assert len(derivations) == 2 and numbers == list(range(1, len(numbers) + 1))
    for each in derivations:
        own = {step.number for step in each.steps}
        assert all(own.issuperset(step.uses) for step in each.steps)
    labels = [block.label for block in document(name).blocks if isinstance(block, PrintedArgument)]
    assert len(labels) == len(set(labels)) == len(numbers)


def test_conditions_that_are_needed_are_no_code() -> None:
    told = [(each.id, *line) for each in statements() for line in needed(each)]
    assert len(told) > 80
    assert [line for line in told if re.search(r"`|Relation|\bTV|\bCX-|_\$|\$_", f"{line[1]} {line[2]}")] == []


def test_every_parameter_of_a_system_is_introduced() -> None:
    seen = 0
    for told in statements():
        said = letters_of(told, "")
        for made in map(system, told.systems):
            names = [f"{each.name}_h" for each in made.head_parameters] if made.multihead else []
            names += [each.name for each in made.parameters if each.kind == "matrix"]
            assert not [name for name in names if f"${name}$ is " not in said], (told.id, said)
            assert (r"\alpha > 0" in said) or not any(each.kind == "step" for each in made.parameters)
            seen += len(names)
    assert seen > 200


def test_numbers_that_are_called_like_parameters_have_another_letter() -> None:
    """n is the number of tokens, p and q those of two sides, and sums run over l: no number of a step is called so."""
    table = clashing([proposition(sp.Symbol(name, real=True) > 0) for name in ("n", "p", "q", "l", "r")])
    assert {str(old): new.name for old, new in table.items()} == {each: f"{each}'" for each in ("n", "p", "q", "l")}
    table = clashing([proposition(sp.Symbol(name, real=True) > 0) for name in ("e1", "e_2")], weights=True)
    assert not any(new.name.startswith("e") for new in table.values()) and len(table) == 2


def test_whatis_evident_is_no_step() -> None:
    rho = sp.Symbol("rho", positive=True)
    assert is_evident(proposition(sp.Le(0, rho**2, evaluate=False)))
    assert not is_evident(proposition(sp.Le(x, rho, evaluate=False)))
    assert same_sides(proposition(sp.Ge(x + y, y + x, evaluate=False)))
    assert not same_sides(proposition(sp.Ge(x, y, evaluate=False)))


def test_a_negation_and_several_letters_are_said_in_words() -> None:
    word = proposition(Unstable(ConsensusAt(matrix("V"), 1)))
    assert latex(Negation(word)).endswith(r"\text{ is not linearly unstable}")
    assert latex(Negation(proposition(x > y))).startswith(r"\text{not }")
    both = Exists(x, proposition(x > 1), Exists(y, TRUE, Conjunction((proposition(x < y), proposition(y < 3)))))
    assert latex(both).count(r"\text{there is ") == 1 and r"\text{ and " in latex(both)
    guarded = Exists(
        x, Conjunction((proposition(x > 1), proposition(sp.Ne(x, 3)))), Exists(y, TRUE, proposition(x < y))
    )
    assert latex(guarded).count(r"\text{there is ") == 2  # else "with" would be about both


def test_the_story_counts_what_its_sentences_say() -> None:
    """It said for a while that no statement asks for a gap: the word had got other names beside it."""
    words = {"A symmetric": (Symmetric,), "A gap": (SimpleTop, NonPrincipalModulusBelow), "A start in": (InHemisphere,)}
    (lines,) = (block.items for block in story(statements()) if isinstance(block, Items))
    for begins, kinds in words.items():
        asked = [
            told
            for told in statements()
            if any(isinstance(each, kinds) for top in told.conditions for each in _parts(top))
        ]
        (line,) = (each for each in lines if each.startswith(begins))
        assert len(asked) > 5 and f" {len(asked)} statements" in line
