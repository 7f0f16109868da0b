"""What a referee stumbled over, and what holds it now: letters, bounds, reasons, fractions; all statements in test_typeset."""

from __future__ import annotations

import re

import pytest
import sympy as sp
from sympy.core.symbol import Str

from eigentoken.proofs.typeset.abbreviations import SORTS, abbreviations, any_letters, clashing, notation, unbound
from eigentoken.proofs.typeset.ascii_formulas import with_mathematics
from eigentoken.proofs.typeset.book import named, preface, story
from eigentoken.proofs.typeset.document import Items, Paragraph, PrintedDocument, PrintedTable, of_statement
from eigentoken.proofs.typeset.kernel_steps import kernel_steps
from eigentoken.proofs.typeset.latex import to_latex
from eigentoken.proofs.typeset.letters_in_terms import with_letter
from eigentoken.proofs.typeset.notation_chapter import _formula_or_code
from eigentoken.proofs.typeset.obvious import follows_at_once, is_instance, same_equation
from eigentoken.proofs.typeset.summary import equation, in_words, named_above, systems_of, typed
from eigentoken.theory.calculus import Index, dot, factor, vector
from eigentoken.theory.calculus.atoms import Norm
from eigentoken.theory.calculus.latex import expression_latex
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.instances import VelocityIs, rows
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, ForAll, Proposition, for_every, proposition
from eigentoken.theory.kernel.tensors import Opposite, Rate, Slope, Tensor, VectorLetter
from eigentoken.theory.language.claims import SpectrumIs, Stable
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import Eigenvalue, ell, matrix
from eigentoken.theory.printing.plain_text import WIDE, broken, plain_text
from eigentoken.theory.printing.scalars import scalar_latex, width
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.systems.catalogue import system

x, y, z, t = sp.symbols("x y z t", real=True)
I, J = Index("token", "i"), Index("token", "j")


def says(letter: object, guard: Proposition, body: Proposition, binder: type = ForAll) -> str:
    return latex(binder(letter, guard, body))


# -- letters for long terms --------------------------------------------------------------------------------------------------


def test_a_letter_stands_in_multiples_of_its_term_and_in_halves_of_a_sum() -> None:
    product, total, letter = x / (y + 1), x**2 + x * y, sp.Symbol("s", real=True)
    for whole, term, shown in (
        (-product, product, -letter),
        (-1 - 3 * z * product, product, -1 - 3 * z * letter),
        (total / 2 + sp.sqrt(z) / 2, total, letter / 2 + sp.sqrt(z) / 2),
        (z - total, total, z - letter),
    ):
        found = with_letter(whole, term, letter)
        assert found == sp.expand_mul(shown) or found == shown
        assert found.xreplace({letter: term}) == whole
    for whole, term in (
        (x**2 + z, total),
        (x**2 / 2 + x * y / 3, total),
        (x / (y + 2), product),
        (2 * x**2 - x * y, total),
    ):
        assert with_letter(whole, term, letter) == whole


def test_one_term_has_one_letter_whatever_its_sign() -> None:
    long = (x + 2) * (y + 3) / ((x * y - 1) * (z + 7))
    told = [sp.Gt(each * long, z + each, evaluate=False) for each in (1, -1, 2, -3, 5, -7, 11)]
    assert len(abbreviations(told)) == 1


def test_an_eigenvalue_that_runs_over_ell_says_so_behind_a_letter() -> None:
    """``theta_{1,ell}`` hid the index: the class was printed as if it were one eigenvalue."""
    behind = sp.Symbol(r"\theta_{1,\ell}", real=True)
    for value in (Eigenvalue(matrix("V"), ell), behind / 2, sp.sqrt(behind)):
        claim = SpectrumIs(ConsensusAt(matrix("V"), 1), ((value, sp.Integer(1)), (1 / x, sp.Integer(2))))
        assert LATEX(claim).count(r"(\ell \neq 1)") == 1


@pytest.mark.parametrize("name", ["PM-N3", "PM-L5"])
def test_a_spectrum_is_printed_once_and_as_roots(name: str) -> None:
    """Before, each spectrum stood there twice, with the equations that compare the two, and twenty more letters."""
    (found,) = kernel_steps(statements().get(name))
    spectra = [step for step in found.steps if "the spectrum at" in step.formula and r"\iff" not in step.formula]
    places = [step.formula.partition(r"\text{ is }")[0] for step in spectra]
    assert places and len(places) == len(set(places))
    assert all(step.formula.count(r"\ell \neq") == 2 for step in spectra)
    assert not [
        step.formula
        for step in found.steps
        if re.fullmatch(r"\\frac\{1\}\{[^=]*\} = \\frac\{1\}\{[^=]*\}", step.formula)
    ]
    letters = {
        letter for step in found.steps for letter in re.findall(r"\\theta_\{\d+", f"{step.formula} {step.where}")
    }
    assert len(letters) <= 20
    assert all(use < step.number for step in found.steps for use in step.uses)


# -- binders -------------------------------------------------------------------------------------------------------------------


def test_numbers_carry_their_bounds() -> None:
    body, after, until = proposition(x > 0), proposition(t >= 0), proposition(t <= z)
    eps, size = sp.Symbol("epsilon", positive=True), sp.Symbol("T", nonnegative=True)
    number = sp.Symbol("m", integer=True, nonnegative=True)
    assert says(t, after, body) == r"\text{for every } \text{real } t \geq 0\text{: } x > 0"
    assert (
        says(t, Conjunction((after, until)), body) == r"\text{for every } \text{real } 0 \leq t \leq z\text{: } x > 0"
    )
    assert says(eps, TRUE, body) == r"\text{for every } \epsilon > 0\text{: } x > 0"
    assert says(size, TRUE, body, Exists) == r"\text{there is } T \geq 0 \text{ such that } x > 0"
    assert says(number, TRUE, body, Exists) == r"\text{there is an } \text{integer } m \geq 0 \text{ such that } x > 0"
    assert (
        says(eps, proposition(eps < z), body) == r"\text{for every } \text{positive real } \epsilon < z\text{: } x > 0"
    )
    assert says(size, proposition(size >= 1), body) == r"\text{for every } \text{real } T \geq 1\text{: } x > 0"
    assert (
        says(eps, proposition(sp.Ge(eps, z)), body)
        == r"\text{for every } \text{positive real } \epsilon \geq z\text{: } x > 0"
    )


def test_what_is_no_bound_of_the_letter_stays_behind_with() -> None:
    body = proposition(x > 0)
    far = proposition(sp.Ge(t, t**2 - z, evaluate=False))
    assert r"\text{ with } t \geq t^{2}" in says(t, far, body)
    both = Conjunction((proposition(t >= 0), proposition(sp.Ne(t, z))))
    assert says(t, both, body) == r"\text{for every } \text{real } t \geq 0 \text{ with } t \neq z\text{: } x > 0"
    inner = ForAll(I, TRUE, body)
    assert says(t, proposition(t >= 0), inner) == (
        r"\text{for every } \text{real } t \geq 0\text{, } \text{token } i\text{: } x > 0"
    )
    assert r"\text{: } \text{for every } \text{token } i" in says(t, both, inner)


def test_a_matrix_for_each_head_is_a_family() -> None:
    said = " ".join(each.formula + each.says for each in kernel_steps(statements().get("PM-S3"))[0].steps)
    claims = " ".join(LATEX(each) for each in statements().get("PM-S3").claims)
    assert r"\text{family of matrices } G" in claims and r"\text{matrix } G" not in claims + said


# -- reasons -------------------------------------------------------------------------------------------------------------------


def test_a_sum_over_heads_is_not_said_to_run_over_tokens() -> None:
    (found,) = kernel_steps(statements().get("PM-S3"))
    summed = [step.how for step in found.steps if step.rule == "summed"]
    assert summed == ["summed over the heads"]
    (other,) = kernel_steps(statements().get("PH-T2"))
    assert {step.how for step in other.steps if step.rule == "summed"} == {"summed over the tokens"}


def test_a_step_is_not_given_itself_as_its_reason() -> None:
    one, other = sp.Eq(x, 2 * (y + z), evaluate=False), sp.Eq(x, 2 * z + 2 * y, evaluate=False)
    assert same_equation(proposition(one), proposition(other))
    assert not same_equation(proposition(one), proposition(sp.Eq(x, 2 * z - 2 * y, evaluate=False)))
    assert not same_equation(proposition(x > y), proposition(x >= y))
    for name in ("PM-S3", "PM-T2"):
        for step in kernel_steps(statements().get(name))[0].steps:
            assert not any(each.strip("$") == step.formula for each in step.since)


def test_what_an_assumption_says_of_one_token_is_no_step() -> None:
    of = {each: Tensor(dot(vector("x", each), vector("w"))) for each in (I, J)}
    assumed = ForAll(I, TRUE, proposition(sp.Eq(of[I], 0, evaluate=False)))
    assert is_instance(proposition(sp.Eq(of[J], 0, evaluate=False)), [assumed])
    assert not is_instance(proposition(sp.Eq(of[J], 1, evaluate=False)), [assumed])
    guarded = ForAll(I, proposition(x > 0), assumed.body)
    assert not is_instance(proposition(sp.Eq(of[J], 0, evaluate=False)), [guarded])


# -- letters are introduced --------------------------------------------------------------------------------------------------


def test_free_letters_are_introduced_and_parameters_are_not() -> None:
    told = statements().get("PM-S3")
    (found,) = kernel_steps(told)
    assert (
        "tokens $i$, heads $h$, vectors $a$, $u$, $w$, families of vectors $z$, families of matrices $G$"
        in found.notation
    )
    assert r"$\alpha$" not in found.notation and "$F$" not in found.notation
    number, arrow = sp.Symbol("c", positive=True), VectorLetter("c")
    square = Tensor(dot(vector("c"), vector("c")))
    said = [proposition(number > 1), ForAll(arrow, TRUE, proposition(sp.Ge(square, 0, evaluate=False)))]
    assert unbound(told, said) == {number}
    assert any_letters(told, said) == "A step holds for all positive numbers $c$ that meet what it assumes."
    assert any_letters(told, [TRUE]) == ""
    kinds = (sp.Symbol("a", nonnegative=True), sp.Symbol("b", integer=True), sp.Symbol("e", real=True), matrix("Z"), I)
    assert (
        len(
            re.findall(r"\$", any_letters(told, [proposition(sp.Eq(each, each, evaluate=False)) for each in kinds[:3]]))
        )
        == 6
    )
    assert len(SORTS) == len(set(SORTS))


def test_no_number_is_called_like_the_state_or_like_a_number_of_another_sign() -> None:
    """PM-N3 had a number x beside the tokens x_i, AB-X1 a positive a and another a."""
    state, plus = sp.Symbol("x", real=True), sp.Symbol("a", positive=True)
    table = clashing([proposition(state > 1), proposition(plus > 1), proposition(sp.Symbol("a", real=True) > 1)])
    assert table[state].name == "x'"
    assert {each.name for each in table.values()} == {"x'", "a'"}
    (found,) = kernel_steps(statements().get("PM-N3"))
    assert "$x'$" in found.notation and "$x$" not in found.notation


def test_no_token_is_called_like_the_weights() -> None:
    """AB-X2 had tokens a_0 and b_0 with the weight a_{a_0 b_0}."""
    token, other = Index("token", "a0"), Index("token", "k")
    product = Tensor(dot(vector("x", token), vector("x", other)))
    told = [proposition(sp.Gt(product, 0, evaluate=False))]
    assert clashing(told) == {}
    assert {old: new.name for old, new in clashing(told, weights=True).items()} == {token: "l"}
    assert clashing(told, told, weights=True) == {}  # the claims keep their letters
    derivations = kernel_steps(statements().get("AB-X2"))
    text = " ".join(f"{step.formula} {step.says}" for found in derivations for step in found.steps)
    assert "a_{i" in text or "a_{k" in text
    assert not re.search(r"a_\{a|_\{a_\{0\}\}|\\text\{token \} *a", text)


def test_a_document_says_what_its_system_is() -> None:
    for name in ("PM-S3", "CT-2", "CL-16", "PH-T7"):
        told = statements().get(name)
        first = of_statement(told).blocks[0]
        assert isinstance(first, Paragraph) and first.text == systems_of(told)
        shown = [equation(system(each)).replace(r", \quad ", "$, $") or in_words(system(each)) for each in told.systems]
        assert all(each in first.text for each in shown)
    assert r"r_i = |y_i|" in systems_of(statements().get("PM-T2"))
    assert r"\sum_{l \leq i}" in systems_of(statements().get("AB-T5.1"))
    assert "positions" not in in_words(system("pre-norm-flow"))  # it was said of every system without a formula
    assert systems_of(statements().get("BD-S2")) == ""


# -- formulas ------------------------------------------------------------------------------------------------------------------


def test_halves_are_one_fraction_and_letters_have_no_parentheses() -> None:
    assert scalar_latex(x / 2 - sp.sqrt(y) / 2) == r"\frac{x - \sqrt{y}}{2}"
    assert scalar_latex(z * (x / 2 + y / 2)) == r"z \frac{x + y}{2}"
    assert scalar_latex((x / 2 + y / 2) ** 2) == r"\left(\frac{x + y}{2}\right)^{2}"
    assert scalar_latex(x / 2 + y / 3) == r"\frac{x}{2} + \frac{y}{3}"
    assert scalar_latex(x / 2 + 1) == r"1 + \frac{x}{2}"
    size, product = factor(Norm("r", (I,))), dot(vector("x", I), vector("w"))
    assert Tensor(product * size**-3).plain_latex() == r"\frac{w^{\top} x_{i}}{r_{i}^{3}}"
    arrow = vector("x", I) * product * size**-1
    assert expression_latex(arrow, weights=True) == r"\frac{x_{i}^{\top} w}{r_{i}} x_{i}"


def test_no_parentheses_stand_around_all_that_is_in_a_root_or_alone() -> None:
    both = Tensor(dot(vector("x", I), vector("w")) + dot(vector("x", J), vector("w")))
    inside = r"w^{\top} x_{i} + w^{\top} x_{j}"
    assert (
        scalar_latex(sp.sqrt(both)) == rf"\sqrt{{{inside}}}" and scalar_latex(sp.Abs(both)) == rf"\left|{inside}\right|"
    )
    assert scalar_latex(sp.sqrt((1 + x) * (2 + y))) == r"\sqrt{\left(1 + x\right) \left(2 + y\right)}"
    (found,) = kernel_steps(statements().get("CL-15"))
    rows = [each for step in found.steps for each in (step.formula, *step.since) if r"\sum_{m}" in each]
    assert rows and any(each.lstrip("$").startswith(r"\sum_{m}") for each in rows)
    assert not [each for each in rows if each.lstrip("$").startswith(r"\Big(\sum_{m}") and r"\Big) >" in each]


def test_an_assumption_that_another_contains_is_not_said() -> None:
    assert follows_at_once(proposition(sp.Ge(x, 0, evaluate=False)), proposition(sp.Eq(x, 0, evaluate=False)))
    assert not follows_at_once(proposition(sp.Ge(x, y, evaluate=False)), proposition(sp.Eq(x, 0, evaluate=False)))
    (found,) = kernel_steps(statements().get("BD-J2"))
    assert all("$A > 0$ and $A \\geq 0$" not in step.says for step in found.steps)


def test_a_bipartite_point_stands_on_one_line() -> None:
    said = broken(LATEX(Stable(BipartiteAt(matrix("V"), 1))) + r" \iff " + " + ".join(["a b c d"] * 9) + " > 0")
    assert said.split(r" \\ & ")[0].count("x_i") == 2


def test_a_wide_quotient_is_broken_and_not_shrunk() -> None:
    long = " + ".join(f"a_{{{k}}} b_{{{k}}} c_{{{k}}}" for k in range(20))
    shown = broken(rf"\frac{{{long}}}{{2 z}} = 0")
    assert r"\frac{1}{2 z} \bigl(" in shown
    lines = shown.removeprefix(r"\begin{aligned} & ").split(r" \\ & ")
    assert len(lines) > 2 and all(width(line) <= WIDE + 12 for line in lines)
    assert "".join(re.findall(r"a_\{\d+\}", shown)) == "".join(re.findall(r"a_\{\d+\}", long))
    both = broken(rf"\frac{{{long}}}{{{long}}}")
    assert r"\bigr)^{-1} \bigl(" in both
    pairs = (
        r"\bigl("
        + ", ".join(rf"(\frac{{{k} a + {k} b + c}}{{d + e}}, \frac{{a b c d}}{{e f}})" for k in range(9))
        + r"\bigr)"
    )
    assert all(width(line) <= WIDE for line in broken(f"x = {pairs}").split(r" \\ & "))


def test_small_parentheses_are_not_opened_at_the_end_of_a_line() -> None:
    squares = " + ".join(rf"\left(\xi_{{{k}}} - \xi_{{{k + 1}}}\right)^{{2}}" for k in range(14))
    for line in broken(rf"p \left({squares}\right) + q \left({squares}\right) \geq 0").split(r" \\ & ")[1:]:
        assert not re.match(r"\\quad \{\} - \\xi", line)


def test_words_with_ids_articles_and_possessives_stay_words() -> None:
    for words in ("as CL-1 and CT-3 say", "A layer of one head", "a head's score", "A Lipschitz bound (BD-L1)", "PH-M"):
        assert with_mathematics(words) == words
    assert with_mathematics("Closed forms at beta = 0 (BD-P5)") == r"Closed forms at $\beta = 0$ (BD-P5)"
    assert with_mathematics("at most tanh(osc/4)") == r"at most $\tanh(\operatorname{osc}/4)$"
    source = to_latex(of_statement(statements().get("BD-P5")))
    assert r"\title{Closed forms at $\beta = 0$ (BD-P5)}" in source


def test_formulas_of_docstrings_are_set_and_code_is_not() -> None:
    assert _formula_or_code(re.match("`(.*)`", "`R = (sum_i tan^2 angle(x_i, v))^(1/2)`")) == (
        r"$R = (\sum_i \tan^2 \angle(x_i, v))^{1/2}$"
    )
    assert typed("z_i^+ = y_i/|y_i|") == "z_i^{+} = y_i/|y_i|"
    for code in ("`None`", "`IsZero(sym(V))`", "`every`"):
        assert _formula_or_code(re.match("`(.*)`", code)) == code


def test_a_cell_that_is_wider_than_its_column_is_broken() -> None:
    wide = r"\text{it contracts at the rate } " + " + ".join(["a_{1} b_{1} c_{1}"] * 8)
    table = PrintedTable(("as printed", "what it says"), ((f"${wide}$", "words " * 12), ("$x$", "y")))
    source = to_latex(PrintedDocument("x", (table,)))
    assert r"\fitted[0.98]{\begin{aligned}[t]" in source and source.count(r" \\[3pt]") == 2


# -- the book -----------------------------------------------------------------------------------------------------------------


def test_the_front_matter_has_no_walls_of_titles() -> None:
    listed = list(statements())
    texts = [each.text for each in (*preface(listed), *story(listed)) if isinstance(each, Paragraph)]
    texts += [item for each in (*preface(listed), *story(listed)) if isinstance(each, Items) for item in each.items]
    known = {told.called for told in listed}
    assert all(sum(called in text for called in known) <= 6 for text in texts)
    tested = [told for told in listed if told.proof is None and told.derive is None and told.kind != "conjecture"]
    told, titles = named("Only seen", tested)
    assert len(tested) > 6 and told.text == f"Only seen: the {len(tested)} statements of this list."
    assert titles in [*preface(listed)] and len(titles.items) == len(tested)
    few = list(named("Only seen", tested[:6]))
    assert len(few) == 1 and all(each.id in few[0].text for each in tested[:6])


def test_a_formula_behind_a_long_title_is_not_fitted_to_what_the_line_has_left() -> None:
    """A title in a list that ends in a formula was scaled to a part of the line below nothing, and filled the page."""
    title = with_mathematics(statements().get("PM-T2+").called)
    assert title.count("$") == 2
    source = to_latex(PrintedDocument("x", (Items((title,)),)))
    assert r"\item" in source and r"\fitted[" not in source.partition(r"\begin{document}")[2]


def test_what_the_story_names_stands_beside_its_title() -> None:
    (table,) = [each for each in story(statements()) if isinstance(each, PrintedTable)]
    shown = {name for _, name in table.rows}
    assert all(title for title, _ in table.rows) and len(shown) == len(table.rows) > 40
    paragraphs = [each.text for each in story(statements()) if isinstance(each, Paragraph)]
    assert {each.id for each in named_above(paragraphs)} == shown
    preamble = [each for each in preface(statements()) if isinstance(each, Paragraph)]
    assert not [each.text for each in preamble if re.search(r", [A-Z]{2}-\w+, [A-Z]{2}-", each.text)]  # no ids alone


@pytest.mark.parametrize(("name", "written"), [("AB-T5.1", False), ("BD-M1", False), ("CL-14", True)])
def test_the_letter_of_the_mask_is_explained_where_it_is_written(name: str, written: bool) -> None:
    """``c_ji = 0`` is printed as an order of tokens: then there is no letter for the mask."""
    told = statements().get(name)
    assert ("causal" in " ".join(map(LATEX, told.claims))) == written
    assert ("causal}_{ij}$ is $1$" in notation(told)) == written
    assert "tokens are numbered" in notation(told)


@pytest.mark.parametrize(
    ("name", "plain", "weighted"), [("PM-L7", True, False), ("CT-4", True, False), ("PM-L15", False, True)]
)
def test_the_mean_of_the_tokens_is_not_told_as_that_of_one_tokens_attention(
    name: str, plain: bool, weighted: bool
) -> None:
    said = notation(statements().get(name))
    assert (r"$\bar x$ is the mean of the tokens." in said) == plain
    assert ("with the attention weights of token $i$" in said) == weighted


# -- what a reading of twenty derivations found ------------------------------------------------------------------------------


def test_an_assumption_stands_with_its_label() -> None:
    long = " + ".join(f"x_{{{number}}}" for number in range(30))
    source = to_latex(PrintedDocument("x", (Paragraph(f"Assuming (A6) ${long} > 0$; (A7) ${long} < 9$: so."),)))
    shown = re.findall(r"\\\[(.*?)\\\]", source, re.DOTALL)
    assert [each[:17] for each in shown] == [r"\text{(A6)}\quad ", r"\text{(A7)}\quad "]
    assert not re.search(r"\(A\d\)\s*\n", source)
    short = to_latex(PrintedDocument("x", (Paragraph("Assuming (A1) $x > 0$: so."),)))
    assert "(A1) $x > 0$:" in short


def test_brackets_are_as_high_as_what_stands_in_them() -> None:
    i = Index("token", "i")
    square = dot(vector("x", i), vector("x", i))
    assert latex(proposition(Rate(square) > 0)).startswith(r"\Delta\bigl[")
    for tall in (square.summed(i), dot(vector("a"), vector("x", i)) / sp.Symbol("n", integer=True, positive=True)):
        assert latex(proposition(Rate(tall) > 0)).startswith(r"\Delta\Bigl[")
        assert r"\mathrm{D}\Bigl[" in latex(proposition(Slope(tall) > 0))
        assert r"\Bigr](-x)" in latex(proposition(Opposite(tall) > 0))


def test_nothing_is_called_like_the_base_of_the_weights() -> None:
    e, c = VectorLetter("e"), sp.Symbol("c", real=True)
    said = ForAll(e, TRUE, proposition(Tensor(dot(vector("e"), vector("f"))) > c))
    found = clashing([said], weights=True)
    assert found == {e: VectorLetter("h")}
    assert clashing([said]) == {} and clashing([said], [said], weights=True) == {}
    tokens = {letter for letter in clashing([six_tokens()], weights=True).values() if isinstance(letter, Index)}
    assert tokens and all(letter.name not in ("a", "e") for letter in tokens)


def six_tokens() -> Proposition:
    """Six tokens that are called a, b, ..., with all names of the first choice taken."""
    names = ("a", "a0", "a1", "a2", "a3", "a4")
    terms = [Tensor(dot(vector("x", Index("token", name)), vector("z"))) for name in names]
    return proposition(sp.Add(*terms) > 0)


def test_a_left_side_goes_with_its_equation() -> None:
    four = r",\ ".join(rf"{name} = ({name}_1, {name}_2, {name}_3)" for name in "ABCD")
    state = r"\bigl((" + "), (".join(["1, 2, 3, 4"] * 5) + r")\bigr)"
    shown = broken(rf"{four},\ x = {state}")
    lines = shown.split(r" \\ & ")
    assert any(line.endswith(r",\ ") for line in lines) and any("}x = " in line.replace(" x", "x") for line in lines)
    assert not any(re.search(r"[a-zA-Z]\s*$", line) for line in lines[:-1])
    long = broken(rf"{'+'.join(['abcdefgh'] * 8)} = {'+'.join(['abcdefgh'] * 8)}")
    assert r" \\ & \quad {} = " in long or r"\quad {}=" in long.replace(" ", "").replace(r"\quad{}", r"\quad {}")


def test_a_velocity_is_minus_the_state() -> None:
    name = Str("B")
    turned = VelocityIs(((name, rows([[-1]])),), rows([[2]]), rows([[-2]]))
    assert LATEX(turned).endswith(r"\dot x = -x")
    assert LATEX(VelocityIs(((name, rows([[1]])),), rows([[2]]), rows([[2]]))).endswith(r"\dot x = x")
    assert LATEX(VelocityIs(((name, rows([[3]])),), rows([[2]]), rows([[6]]))).endswith(r"\dot x = 3\, x")
    assert LATEX(VelocityIs(((name, rows([[0]])),), rows([[2]]), rows([[0]]))).endswith(r"\dot x = 0")


@pytest.mark.parametrize(
    ("letters", "told"),
    [
        ("i", "for every token i: "),
        ("ij", "for all tokens i, j: "),
        ("ijk", "for all tokens i, j, k: "),
        ("vij", "for every vector v, all tokens i, j: "),
        ("ijv", "for all tokens i, j, every vector v: "),
        ("vwij", "for all vectors v, w, all tokens i, j: "),
        ("ivj", "for every token i, vector v, token j: "),
        ("ab", "for all real a, b: "),
    ],
)
def test_several_letters_of_one_sort_are_said_in_the_plural(letters: str, told: str) -> None:
    kinds = {**{each: Index("token", each) for each in "ijk"}, **{each: VectorLetter(each) for each in "vw"}}
    bound = [kinds.get(each, sp.Symbol(each, real=True)) for each in letters]
    said = proposition(sp.Gt(sp.Symbol("a", real=True), sp.Symbol("b", real=True)))
    assert plain_text(latex(for_every(said, *bound))) == f"{told}a > b"
