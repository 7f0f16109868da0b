"""LaTeX of systems, Jacobians, spectra and criteria: it compiles with amsmath alone, and says what was derived."""

from __future__ import annotations

import random
import re
import subprocess

import pytest
import sympy as sp

from eigentoken.theory.calculus.latex import expression_latex
from eigentoken.theory.linearization.at_points import spectrum
from eigentoken.theory.linearization.attention_polygons import uniform_polygon_spectrum
from eigentoken.theory.linearization.bipartite_stability import bipartite_criterion
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum, consensus_spectrum
from eigentoken.theory.linearization.criterion import criterion_latex, proof_latex
from eigentoken.theory.linearization.document import spectrum_document
from eigentoken.theory.linearization.linearize import jacobian_latex, linearize
from eigentoken.theory.linearization.masked_spectra import complete_part_spectrum, masked_bipartite_spectrum
from eigentoken.theory.linearization.masked_stability import masked_bipartite_criterion, masked_consensus_criterion
from eigentoken.theory.linearization.polygonal_spectra import (
    antipodal_spectrum,
    polygonal_derivative,
    polygonal_spectrum,
)
from eigentoken.theory.linearization.signed_spectra import signed_spectrum
from eigentoken.theory.linearization.spectrum import spectrum_latex
from eigentoken.theory.linearization.stability import consensus_criterion, nonsymmetric_criterion, two_cycle_criterion
from eigentoken.theory.printing.scalars import formula
from eigentoken.theory.printing.systems import system_latex
from eigentoken.theory.systems.catalogue import SYSTEMS, system

a, b, m = sp.symbols("alpha b_1 m_1", positive=True)
k, l = sp.Symbol("lambda_k", real=True), sp.Symbol("lambda_ell", real=True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (1 / m, r"\frac{1}{m_{1}}"),
        ((1 + a * l) / (1 + a * k), r"\frac{1 + \alpha \lambda_{\ell}}{1 + \alpha \lambda_{k}}"),
        (l - k, r"\lambda_{\ell} - \lambda_{k}"),
        (-a * l * (b - 1), r"\alpha \lambda_{\ell} \left(1 - b_{1}\right)"),
        (a * b * k + 1, r"1 + \alpha b_{1} \lambda_{k}"),
        (sp.Abs(k) < 2, r"\left|\lambda_{k}\right| < 2"),
        (sp.And(k > 0, l < k), r"\lambda_{k} > 0 \ \text{and}\ \lambda_{\ell} < \lambda_{k}"),
        ((a * l + 3) / (a * k - 3) * -1, r"\frac{3 + \alpha \lambda_{\ell}}{3 - \alpha \lambda_{k}}"),
        (sp.Symbol("lambda_k__2", real=True), r"\lambda_{k}^{(2)}"),
    ],
)
def test_formulas(expression, expected):
    assert formula(expression) == expected


def value_of(latex, table):
    """The number that a printed formula says, by an evaluator that shares nothing with the printer."""
    text = latex.replace(r"\left", "").replace(r"\right", "")
    for name, number in sorted(table.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(name, f" ({number!r}) ")
    text = re.sub(r"\\sqrt\{([^{}]*)\}", r" ((\1)**0.5) ", text)
    while r"\frac" in text:
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r" ((\1)/(\2)) ", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
    assert "\\" not in text, text
    text = re.sub(r"(?<=[\d)])\s+(?=[\d(])", "*", re.sub(r"\s+", " ", text))
    text = text.replace(")(", ")*(")
    return eval(text, {"__builtins__": {}})


def test_printed_formulas_have_the_value_of_the_expression():
    names = {a: r"\alpha", b: "b_{1}", m: "m_{1}", k: r"\lambda_{k}", l: r"\lambda_{\ell}"}
    draw = random.Random(4)

    def grow(depth):
        if depth == 0:
            return draw.choice([*names, sp.Integer(draw.randint(-3, 3)), sp.Rational(1, 2)])
        x, y = grow(depth - 1), grow(depth - 1)
        return draw.choice([x + y, x - y, x * y, x / (y**2 + 1), x**2, -x * (y - 1)])

    for _ in range(60):
        expression = sp.factor(grow(3)) if draw.random() < 0.5 else grow(3)
        numbers = {symbol: draw.randint(1, 9) / 4 for symbol in names}
        table = {names[symbol]: number for symbol, number in numbers.items()}
        printed = value_of(formula(expression), table)
        exact = float(expression.subs({symbol: sp.Rational(number) for symbol, number in numbers.items()}))
        assert printed == pytest.approx(exact, rel=1e-9, abs=1e-9), (expression, formula(expression))


def test_the_attention_jacobian_reads_like_the_paper():
    text = jacobian_latex(linearize(system("attention-map"), tangent=False))
    assert (
        r"\bigl(I-\hat y_i\hat y_i^\top \bigr)\Bigl(\delta_{il}I+\alpha \frac{\partial u_i}{\partial x_l}\Bigr)" in text
    )
    assert r"a_{il} V + a_{il} V x_{l} x_{i}^{\top} M" in text
    assert r"+ \sum_{j}  \delta_{il} a_{ij} V x_{j} x_{j}^{\top} M^{\top}" in text
    assert r"- a_{il} V \bar x_{i} x_{i}^{\top} M" in text
    assert r"- \delta_{il} V \bar x_{i} \bar x_{i}^{\top} M^{\top}" in text


def test_the_unit_extension_is_not_printed_as_the_homogeneous_one():
    with pytest.raises(ValueError, match="structured Jacobian"):
        jacobian_latex(linearize(system("oja-map"), tangent=False, extension="unit"))


BLOCKS = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
CYCLE = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def document():
    parts = []
    for each in SYSTEMS.values():
        parts += [
            system_latex(each),
            jacobian_latex(linearize(each, tangent=False)),
            spectrum_latex(consensus_spectrum(each)),
        ]
    spectra = (
        consensus_spectrum(system("attention-map"), mask="causal"),
        consensus_spectrum(system("oja-map"), extension="unit", fixed_point=False),
        bipartite_spectrum(system("attention-map")),
        bipartite_spectrum(system("multihead-flow"), heads=2),
        masked_bipartite_spectrum(system("attention-map")),
        polygonal_spectrum(system("oja-map")),
        antipodal_spectrum(system("attention-map")),
        masked_bipartite_spectrum(system("multihead-map"), "any", 2),
        masked_bipartite_spectrum(system("attention-flow"), "any"),
        complete_part_spectrum(system("attention-map")),
        signed_spectrum(system("attention-flow"), [1, -1, 1, -1], BLOCKS),
        signed_spectrum(system("oja-map"), [1, -1, 1], CYCLE),
        uniform_polygon_spectrum(system("attention-map")),
    )
    parts += [spectrum_latex(each) for each in spectra]
    parts.append(expression_latex(polygonal_derivative(system("oja-map"))[0]))
    body = "\n\n".join(f"\\[\n{part}\n\\]" for part in parts)
    criteria = (
        consensus_criterion(system("oja-map")),
        two_cycle_criterion(system("oja-map")),
        nonsymmetric_criterion(system("multihead-map")),
        bipartite_criterion(system("attention-map")),
        masked_consensus_criterion(system("attention-map")),
        masked_bipartite_criterion(system("attention-flow")),
    )
    body += "\n\n".join(criterion_latex(each) + proof_latex(each) for each in criteria)
    # amsmath alone
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    return f"{head}{body}\n\\end{{document}}\n"


def test_no_sympy_noise():
    text = document()
    assert "_root" not in text
    assert "Abs" not in text
    assert "slot" not in text
    assert "operatorname{and}" not in text


@pytest.mark.needs_latex
def test_it_compiles(tmp_path):
    (tmp_path / "all.tex").write_text(document())
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:]
    assert "undefined" not in done.stdout.lower()


def test_a_choice_inside_a_conjunction_is_bracketed_and_absolute_values_are_delimiters() -> None:
    from eigentoken.theory.language.conditions import AllOf, AnyOf, Relation
    from eigentoken.theory.language.readings import LATEX
    from eigentoken.theory.printing.plain_text import plain_text

    x, y = sp.symbols("x y", real=True)
    either = AnyOf((Relation(x > 1), Relation(y > 1)))
    assert plain_text(LATEX(AllOf((Relation(x > 0), either)))) == "x > 0 and ([x > 1] or [y > 1])"
    assert plain_text(LATEX(either)) == "[x > 1] or [y > 1]"
    product = LATEX(Relation(sp.Abs(x + 1) * sp.Abs(y) < 1))
    assert product.count(r"\left|") == product.count(r"\right|") == 2


@pytest.mark.parametrize("name", ["oja-map", "oja-flow", "attention-map", "attention-flow"])
def test_a_masked_system_is_printed_with_its_mask(name: str) -> None:
    """The entries of a mask are in the equation and in the Jacobian: as bounds of the sums, or in the weights."""
    plain, causal, named = (system_latex(system(name), mask) for mask in (None, "causal", "triangular"))
    assert r"\le i" not in plain and "m_{ij}" not in plain
    assert r"\sum_{j\le i}a_{ij}" in causal and (r"\frac1i" in causal or r"\sum_{l\le i}\exp" in causal)
    assert "m_{ij}" in named and r"\sum_{l}m_{il}" in named
    for mask in ("causal", "triangular"):
        shown = linearize(system(name), mask=mask, tangent=False).latex
        assert "a_{il}" in shown and mask not in shown and r"\frac{1}{n}" not in shown


def test_the_document_of_a_masked_spectrum_is_about_the_masked_system() -> None:
    found = spectrum("oja-map", mask="causal")
    text = spectrum_document(found, "oja-map", "causal")
    assert "causal mask" in text and r"a_{ij}&=\frac1i" in text and r"\tfrac1n" not in text
    assert spectrum_document(spectrum("oja-map"), "oja-map", "full") == spectrum_document(
        spectrum("oja-map"), "oja-map"
    )


_VECTOR = r"[abc]"
#: An inner product stands in parentheses beside other factors, and alone without.
_OPEN, _CLOSED = r"(?:\(|(?<![\w(]))", r"(?:\)|(?![\w)^]))"
_PRINTED = (
    (rf"\\left\|({_VECTOR}) - ({_VECTOR})\\right\|\^\{{2\}}", r"form(\1 - \2, one, \1 - \2)"),
    (rf"\(({_VECTOR}) - ({_VECTOR})\)\^\{{\\top\}} A \(\1 - \2\)", r"form(\1 - \2, A, \1 - \2)"),
    (rf"{_OPEN}({_VECTOR})\^\{{\\top\}} A\^\{{\\top\}} ({_VECTOR}){_CLOSED}", r"form(\2, A, \1)"),
    (rf"{_OPEN}({_VECTOR})\^\{{\\top\}} A ({_VECTOR}){_CLOSED}", r"form(\1, A, \2)"),
    (rf"{_OPEN}({_VECTOR})\^\{{\\top\}} ({_VECTOR}){_CLOSED}", r"form(\1, one, \2)"),
    (rf"\|({_VECTOR})\|\^\{{2\}}", r"form(\1, one, \1)"),
    (rf"\|({_VECTOR})\|\^\{{4\}}", r"form(\1, one, \1)**2"),
)


def _value_of_text(text: str, values: dict[str, object]) -> int:
    """What the printed sum of products is, read as a reader would."""
    for printed, meant in _PRINTED:
        text = re.sub(printed, meant, text)
    text = re.sub(r"\)\^\{(\d)\}", r")**\1", text)
    text = re.sub(r"(?<=[\d)]) (?=form)", " * ", text)
    return int(eval(text, {"__builtins__": {}}, values))


def test_a_square_of_a_difference_is_printed_as_one_and_means_the_same() -> None:
    """Random sums of products of inner products, among them whole squares and squares with a wrong or missing part."""
    import numpy as np

    from eigentoken.theory.calculus import dot, matrix, vector

    source = random.Random(3)
    numbers = np.random.default_rng(3)
    values = {name: numbers.integers(-9, 10, 3) for name in "abc"}
    values |= {"A": numbers.integers(-9, 10, (3, 3)), "one": np.eye(3, dtype=int)}
    meaning = {**values, "form": lambda left, middle, right: int(left @ middle @ right)}
    folded = 0
    for _ in range(150):
        total, expected = None, 0
        for _ in range(source.randint(1, 3)):
            one, two = source.sample("abc", 2)
            middle = source.choice(["one", "A"])
            scale = source.choice([-3, -1, 1, 2])
            other = source.choice([None, "ac"])
            pairs = [(one, one, 1), (two, two, 1), (one, two, -1), (two, one, -1)]
            if source.random() < 0.3:
                pairs.pop(source.randrange(4))
            if source.random() < 0.2:
                pairs[0] = (*pairs[0][:2], 2)
            for left, right, factor in pairs:
                letters = (matrix("A"),) if middle == "A" else ()
                term = dot(vector(left), vector(right).applied(*letters) if letters else vector(right)) * (
                    scale * factor
                )
                term = term * dot(vector(other[0]), vector(other[1])) if other else term
                total = term if total is None else total + term
                product = int(values[other[0]] @ values[other[1]]) if other else 1
                expected += scale * factor * int(values[left] @ values[middle] @ values[right]) * product
        text = expression_latex(total, weights=True)
        assert _value_of_text(text, meaning) == expected, text
        folded += " - " in text and ("\\right|^{2}" in text or ")^{\\top}" in text)
    assert folded > 50


def test_no_index_of_a_sum_is_called_like_a_vector_in_it() -> None:
    """The keys ``k_j`` of a row: a second sum ran over k, of ``k_k``."""
    from eigentoken.theory.language.readings import LATEX
    from eigentoken.theory.statements.registry import statement

    text = " ".join(map(LATEX, statement("BD-S1").claims))
    assert "k_{j}" in text and "k_{l}" in text
    assert "k_{k}" not in text


def test_sums_of_matrices_and_their_parts_by_name() -> None:
    """The symmetric and the skew part have names; any other sum of matrices is printed as it is."""
    from eigentoken.theory.language.terms import matrix, skew, sym
    from eigentoken.theory.printing.scalars import matrix_latex

    V, M = matrix("V"), matrix("M")
    assert matrix_latex(sym(V)) == r"\operatorname{sym}(V)"
    assert matrix_latex(skew(V)) == r"\operatorname{skew}(V)"
    assert matrix_latex(skew(V).T) == r"- \operatorname{skew}(V)"
    assert matrix_latex(V + M) == "M + V" and "operatorname" not in matrix_latex(V + V.T)
