"""What a referee would strike out: formulas in plain letters, lines that end with a parenthesis, letters for what is bound."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import sympy as sp

from eigentoken.proofs.typeset.abbreviations import abbreviations, shortened
from eigentoken.proofs.typeset.ascii_formulas import with_mathematics
from eigentoken.proofs.typeset.document import of_statement
from eigentoken.proofs.typeset.kernel_steps import kernel_steps
from eigentoken.proofs.typeset.latex import to_latex, words_apart
from eigentoken.theory.calculus import Index, MaskEntry, dot, factor, vector
from eigentoken.theory.kernel.formulas import Formula, latex
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, Exists, ForAll, proposition
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
        words = " ".join((*found.letters, *found.assumptions, *(each.says for each in found.steps)))
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
