"""What a referee would strike out: formulas in plain letters, lines that end with a parenthesis, letters for what is bound."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import sympy as sp

from eigentoken.proofs.typeset.abbreviations import abbreviations, shortened
from eigentoken.proofs.typeset.ascii_formulas import with_mathematics
from eigentoken.proofs.typeset.document import of_statement
from eigentoken.proofs.typeset.kernel_steps import kernel_steps, notation
from eigentoken.proofs.typeset.latex import to_latex, words_apart
from eigentoken.proofs.typeset.obvious import follows_at_once, is_square, rearranged
from eigentoken.theory.calculus import Index, MaskEntry, dot, factor, vector
from eigentoken.theory.kernel.formulas import Formula, latex
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, ForAll, Implication, proposition
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import Eigenvalue, d, matrix, n
from eigentoken.theory.printing.plain_text import broken
from eigentoken.theory.printing.scalars import fraction_levels, scalar_latex
from eigentoken.theory.statements.registry import statements

x, y, z = sp.symbols("x y z", real=True)
QUICK = ("PM-L4", "CT-1", "PM-R4", "PH-T8")
#: Greek names and signs that belong between dollar signs.
_TYPED = re.compile(r"\b(alpha|lambda|kappa|mu|nu|omega)\b|[a-z]_\w|\w\^\w|[<>]=|!=| = ")


def _formulas(name: str) -> Iterator[str]:
    for found in kernel_steps(statements().get(name)):
        words = " ".join((found.notation, *(f"{each.says} {each.where}" for each in found.steps)))
        yield from (each.formula for each in found.steps)
        yield from re.findall(r"\$([^$]*)\$", words)


def _bad_lines(name: str) -> list[str]:
    lines = (line for each in _formulas(name) for line in re.split(r"\\\\ &|\\end\{aligned\}", broken(each)))
    ends = re.compile(r"^(\\begin\{aligned\} &|\\quad \{\}|\s)*(:|\\text\{: \})|\\bigl\(\s*$")
    return [each for each in lines if ends.search(each)]


@pytest.mark.parametrize("name", QUICK)
def test_no_line_begins_with_a_colon_or_ends_with_a_parenthesis(name: str) -> None:
    assert sum(1 for _ in _formulas(name)) > 2
    assert _bad_lines(name) == []


@pytest.mark.slow
def test_no_line_of_the_book_is_stranded_and_no_step_is_a_truism() -> None:
    proved = [each.id for each in statements() if each.proof is not None]
    assert [name for name in proved if _bad_lines(name)] == []
    plain = re.compile(r"[\d.]+ (>|<|=|\\geq|\\leq) [\d.]+|\\text\{true\}")
    assert [(name, each) for name in proved for each in _formulas(name) if plain.fullmatch(each)] == []


def test_conditions_that_are_dropped_are_printed_as_mathematics() -> None:
    seen = 0
    for told in statements():
        for each in told.variants:
            words = re.sub(r"\$[^$]*\$", "", with_mathematics(each.says))
            assert not _TYPED.search(words), (told.id, words)
            seen += 1
    assert seen > 80


def test_words_that_are_no_formulas_stay_words() -> None:
    for words in ("a 2-cycle of PM-L6 (d), which I saw", "consensus tokens grow", "at most 3 of 4 tokens"):
        assert with_mathematics(words) == words
    assert with_mathematics("already $x = 1$, y = 2") == "already $x = 1$, y = 2"


def test_what_a_binder_binds_has_no_letter() -> None:
    """``for every x: theta = 0`` with x inside of theta would say nothing."""
    long = (x + 2) * (y + 3) / (x * y - 1)
    told = [sp.Eq(long + k, z, evaluate=False) for k in range(9)]
    assert len(abbreviations(told)) == 1
    assert abbreviations([ForAll(x, TRUE, proposition(each)) for each in told]) == {}
    claims = [Formula(ForAll(x, TRUE, proposition(each))) for each in told]
    assert [each.name for each in abbreviations(claims)] == [
        r"\theta_{1}(x)"
    ]  # in a claim it says of what it is a function


def test_letters_are_given_to_what_a_reader_would_give_them() -> None:
    """To functions of longer terms, also inside what has a letter; not to names, to inverses, to products of sizes."""
    first = Eigenvalue(matrix("V"), 1)
    height, size = sp.tanh(x + 2 * y), (d - 1) * (n - 1)
    long = (1 + height * first) * (2 + height * first) / ((3 - height) * (5 * first + x) ** 2)
    told = [sp.Gt(long + each * first, size + 1 / (7 + 3 * height * first), evaluate=False) for each in range(2, 20)]
    letters = abbreviations(told)
    assert height in letters.values()
    own = next(letter for letter, term in letters.items() if term == height)
    assert any(own in term.free_symbols for term in letters.values())
    for term in letters.values():
        assert term not in (first, size) and not (isinstance(term, sp.Pow) and term.exp.is_negative)
    again = shortened(long, letters)
    assert again != long
    for letter, term in reversed(letters.items()):  # with the letters written out nothing has changed
        again = again.xreplace({letter: term})
    assert again == long


def test_two_bounds_are_one_chain_and_a_mask_is_an_order() -> None:
    both = Conjunction((proposition(x > 0), proposition(y > 0), proposition(x <= z)))
    assert latex(both) == r"0 < x \leq z\text{ and }y > 0"
    assert latex(Conjunction((proposition(x > 0), proposition(y <= 1)))) == r"x > 0\text{ and }y \leq 1"
    i, j = Index("token", "i"), Index("token", "j")
    seen = Tensor(factor(MaskEntry("causal", i, j)))
    assert latex(proposition(sp.Eq(seen, 0, evaluate=False))) == "i < j"
    assert latex(proposition(sp.Eq(seen, 1, evaluate=False))) == r"j \leq i"
    other = Tensor(factor(MaskEntry("any", i, j)))
    assert "any" in latex(proposition(sp.Eq(other, 0, evaluate=False)))


def test_vectors_of_which_each_token_has_one_are_a_family() -> None:
    i = Index("token", "i")
    one, many = (Tensor(dot(vector("w", *at), vector("w", *at))) for at in ((), (i,)))
    for term, said in ((one, "there is a } \\text{vector } w"), (many, "there is a } \\text{family of vectors } w")):
        assert said in latex(Exists(VectorLetter("w"), TRUE, proposition(sp.Gt(term, 0, evaluate=False))))


def test_fractions_do_not_pile_up() -> None:
    deep = (x + (y + x / z) / z) / (2 * y)
    assert fraction_levels(scalar_latex(deep)) <= 2
    assert scalar_latex((1 + x / y) / z) == r"\frac{1 + \frac{x}{y}}{z}"


def test_words_in_a_formula_can_end_a_line() -> None:
    assert words_apart(r"\left|\text{a}\right| > 0\text{ and }x_{\text{b}} = 1") == (
        r"$\left|\text{a}\right| > 0$ and $x_{\text{b}} = 1$"
    )
    source = to_latex(of_statement(statements().get("CT-1")))
    assert r"$\text{for every" not in source.split(r"\parthead{Derivation", 1)[1]


def test_a_letter_is_defined_where_it_is_first_used_and_numbered_in_that_order() -> None:
    (found,) = kernel_steps(statements().get("PM-R10"))
    defined_by = [name for step in found.steps for name in step.defines]
    assert len(defined_by) == len(set(defined_by)) > 3
    numbers = [int(re.search(r"\d+", name).group()) for name in defined_by]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    known: set[str] = set()
    for step in found.steps:
        known |= set(step.defines)
        used = re.findall(r"\\theta_\{\d+(?:,\\ell)?\}", f"{step.formula} {step.says} {step.where}")
        assert set(used) <= known, step.number


@pytest.mark.parametrize("name", ["PM-T2", "PM-S1", "CL-5"])
def test_an_assumption_is_said_where_its_label_first_stands(name: str) -> None:
    (found,) = kernel_steps(statements().get(name))
    assumed: set[int] = set()
    for step in found.steps:
        new = {int(each) for each in re.findall(r"\(A(\d+)\) \$", step.says)}
        runs = re.findall(r"\(A(\d+)\) to \(A(\d+)\)", step.says)
        used = {int(each) for each in re.findall(r"\(A(\d+)\)(?! \$)", step.says)}
        used |= {each for first, end in runs for each in range(int(first), int(end) + 1)}
        assert not new & assumed and used <= assumed, (step.number, step.says)
        assumed |= new
    assert assumed == set(range(1, len(assumed) + 1)) and assumed


def test_what_only_puts_terms_in_another_order_is_no_step() -> None:
    i = Index("token", "i")
    one, other = (Tensor(dot(vector("x", i), vector(each, i))) for each in "wz")
    assert rearranged(proposition(sp.Eq(x * (one + other), x * other + x * one, evaluate=False)))
    assert rearranged(proposition(sp.Eq(Tensor(3 * dot(vector("x", i), vector("w", i))), 3 * one, evaluate=False)))
    for left, right in (((one + other) ** 2, one**2 + 2 * one * other + other**2), (one, other), (x * one, y * one)):
        assert not rearranged(proposition(sp.Eq(left, right, evaluate=False)))
    assert not rearranged(proposition(x > 0))


def test_what_follows_at_once_and_squares_are_no_steps() -> None:
    more = proposition(sp.Gt(x, y, evaluate=False))
    assert follows_at_once(proposition(sp.Ne(x, y, evaluate=False)), more)
    assert follows_at_once(proposition(sp.Ge(x, y, evaluate=False)), more)
    assert follows_at_once(proposition(sp.Le(y, x, evaluate=False)), more)
    assert not follows_at_once(proposition(sp.Le(x, y, evaluate=False)), more)
    assert not follows_at_once(proposition(sp.Ge(y, x, evaluate=False)), more)
    assert not follows_at_once(more, proposition(sp.Ge(x, y, evaluate=False)))
    square = Tensor(dot(vector("w"), vector("w")))
    assert is_square(proposition(sp.Ge(square, 0, evaluate=False)))
    assert not is_square(proposition(sp.Gt(square, 0, evaluate=False)))
    assert not is_square(proposition(sp.Ge(square - 1, 0, evaluate=False)))


def test_short_relations_from_the_same_steps_are_one_step() -> None:
    (found,) = kernel_steps(statements().get("PM-S1"))
    joined = [each for each in found.steps if r",\qquad " in each.formula]
    assert joined
    assert all(use < each.number for each in found.steps for use in each.uses)


def test_a_book_is_named_in_full_once() -> None:
    (found,) = kernel_steps(statements().get("CL-5"))
    cited = [each.how for each in found.steps if "Cauchy-Schwarz" in each.how]
    assert len(cited) > 3 and "chapter" in cited[0]
    assert set(cited[1:]) == {cited[1]} and "chapter" not in cited[1] and r"\cite{" in cited[1]


def test_letters_of_the_calculus_in_a_derivation_are_explained() -> None:
    for name in ("AB-T5.1", "AB-X1", "PH-T1"):
        told = statements().get(name)
        (found,) = kernel_steps(told)
        text = " ".join(each.formula for each in found.steps)
        said = notation(told) + found.notation
        assert (r"\bar x" in text) == (r"\bar x" in said), name
        assert bool(re.search(r"(?<![a-z])a(\^\{h\})?_\{[a-z]{2}\}", text)) <= ("is the weight" in said), name


def test_parentheses_are_for_what_needs_them() -> None:
    i, j = Index("token", "i"), Index("token", "j")
    product, other = (Tensor(dot(vector("x", i), vector(each, j))) for each in "xw")
    assert scalar_latex(product + other) == r"w_{j}^{\top} x_{i} + x_{i}^{\top} x_{j}"
    assert scalar_latex(x * product) == r"x (x_{i}^{\top} x_{j})"
    assert scalar_latex(product**2) == r"(x_{i}^{\top} x_{j})^{2}"
    assert scalar_latex(product / other) == r"\frac{x_{i}^{\top} x_{j}}{w_{j}^{\top} x_{i}}"
    double = Tensor((dot(vector("x", i), vector("x", j))).summed(i).summed(j) * 2)
    assert (
        r"\sum_{" not in scalar_latex(double) or r"\sum_{j, k}" in scalar_latex(double) or "|" in scalar_latex(double)
    )
    a, b, c, e = (proposition(each > 0) for each in (x, y, z, sp.Symbol("t", real=True)))
    assert latex(Implication(Conjunction((a, b)), Conjunction((c, e)))) == (
        r"\text{if } x > 0\text{ and }y > 0,\text{ then } z > 0\text{ and }t > 0"
    )
    assert latex(Conjunction((Implication(a, b), c))) == (
        r"\bigl(\text{if } x > 0,\text{ then } y > 0\bigr)\text{ and }z > 0"
    )
    assert latex(ForAll(x, TRUE, ForAll(VectorLetter("w"), TRUE, a))) == (
        r"\text{for every } \text{real } x\text{, } \text{vector } w\text{: } x > 0"
    )


def test_a_sum_fills_its_lines() -> None:
    terms = [rf"a_{{{number}}} b_{{{number}}} c_{{{number}}}" for number in range(12)]
    lines = broken(" - ".join((" + ".join(terms[:7]), *terms[7:])) + " = 0").split(r"\\ &")
    assert 1 < len(lines) < 4
    assert len(lines[0]) > 40


def test_a_minus_and_a_sum_before_a_quantity_stand_in_parentheses() -> None:
    """``- -v^T x`` and ``a + 1 sum_j ...`` were printed, which is no formula, and another one."""
    i = Index("token", "i")
    size = dot(vector("x", i), vector("x", i))
    low = Tensor(-dot(vector("v"), vector("x", i)))
    assert scalar_latex(sp.Mul(-1, x, low, evaluate=False)).count("(") >= 1
    assert "- -" not in scalar_latex(sp.Mul(-1, x, low, evaluate=False)).replace("  ", " ")
    shown = Tensor((size * (x + 1)).summed(i)).plain_latex()
    assert re.search(r"\(.*x.*\) *\\sum", shown) and "1" in shown
    assert Tensor((size * x).summed(i)).plain_latex().startswith(r"x \sum")


def test_nothing_is_said_to_be_true_and_equations_of_vectors_have_no_parentheses() -> None:
    index = Index("token", "k")
    there = Exists(index, proposition(x > 0), TRUE)
    assert latex(there) == r"\text{there is a } \text{token } k \text{ with } x > 0"
    z, v, u = (vector(each) for each in "zvu")
    same_vectors = ForAll(
        VectorLetter("z"), TRUE, proposition(sp.Eq(Tensor(dot(z, v)), Tensor(dot(z, u)), evaluate=False))
    )
    assert latex(Conjunction((same_vectors, proposition(x > 0)))) == r"v = u\text{ and }x > 0"
