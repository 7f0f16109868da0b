"""LaTeX of terms and scalar relations in the papers' letters, for amsmath alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import And, Implies, Or, Symbol, sympify
from sympy.functions.elementary.hyperbolic import HyperbolicFunction, sinh, tanh
from sympy.printing.latex import LatexPrinter

__all__ = ["matrix_latex", "scalar_latex", "spectrum_latex"]

LETTERS = {"ell": r"\ell"}


class PaperPrinter(LatexPrinter):  # type: ignore[misc]
    """sympy's printer with the papers' habits: transposes as ``\\top``, logarithms as ``\\ln``."""

    def __init__(self) -> None:
        super().__init__({"ln_notation": True, "fold_short_frac": False, "mul_symbol": None, "symbol_names": {}})

    def _print_Transpose(self, expr: Any) -> str:
        inner = self._print(expr.arg)
        return rf"{inner}^{{\top}}" if expr.arg.is_symbol else rf"\left({inner}\right)^{{\top}}"

    def _print_MatrixSymbol(self, expr: Any, style: str = "plain") -> str:
        return str(expr.name)

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        name = str(expr.name)
        if name.startswith("[") and name.endswith("]"):
            return name[1:-1]
        return LETTERS.get(name) or str(super()._print_Symbol(expr, style))

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        """Sums as papers write them: ``1 + alpha lambda`` and ``1 - c``, never a minus first where a plus is at hand."""
        terms = list(super()._as_ordered_terms(expr, order=order))
        leading = terms[-1] if len(terms) == 2 and terms[-1].is_positive and terms[-1].is_number else None
        if leading is None and terms[0].could_extract_minus_sign():
            leading = next((each for each in terms if not each.could_extract_minus_sign()), None)
        return terms if leading is None else [leading, *(each for each in terms if each is not leading)]

    def _print_And(self, e: Any) -> str:
        return self._joined(e, "and")

    def _print_Or(self, e: Any) -> str:
        return self._joined(e, "or")

    def _joined(self, expression: Any, word: str) -> str:
        inner = [
            rf"\left({self._print(each)}\right)" if each.func in (And, Or, Implies) else self._print(each)
            for each in sorted(expression.args, key=lambda each: each.sort_key())
        ]
        return rf" \ \text{{{word}}}\ ".join(inner)

    def _print_Implies(self, e: Any, altchar: Any = None) -> str:
        return rf"{self._print(e.args[0])} \Rightarrow {self._print(e.args[1])}"

    def _print_Abs(self, expr: Any, exp: Any = None) -> str:
        text = rf"\left|{self._print(expr.args[0])}\right|"  # a bare | next to another reads as one double bar
        return text if exp is None else f"{text}^{{{exp}}}"


def scalar_latex(expression: Any) -> str:
    """LaTeX of a scalar expression or relation."""
    return str(PaperPrinter().doprint(expression))


def matrix_latex(term: Any) -> str:
    """LaTeX of a matrix term."""
    return str(PaperPrinter().doprint(term))


def _turned(function: Any) -> bool:
    """``tanh(t - s)``, s a number of the matrices: sympy's order of ``-tanh(s - t)``, which the statements write."""
    from eigentoken.theory.language.terms import MatrixNumber

    terms = function.args[0].as_coefficients_dict()
    numbers = [value for term, value in terms.items() if isinstance(term, MatrixNumber)]
    return isinstance(function, tanh | sinh) and any(value < 0 for value in numbers)


def _as_written(function: Any) -> str:
    if not _turned(function):
        return scalar_latex(function)
    return rf"\{function.func.__name__}\left({scalar_latex(-function.args[0])}\right)"


def spectrum_latex(classes: Sequence[tuple[Any, Any]]) -> str:
    """Eigenvalues with multiplicities; hyperbolic functions that occur again and again get a letter, ``where b_1 = ...``.

    >>> from sympy import Symbol, tanh
    >>> x = Symbol("x")
    >>> print(spectrum_latex([(1 + tanh(x), 1), (1 / tanh(x), 3)])[:44])
    1 + b_{1},\\quad \\frac{1}{b_{1}}\\ [3\\text{ ti
    """
    values = [sympify(value) for value, _ in classes]
    repeated = [
        each
        for each in sorted(set().union(*(value.atoms(HyperbolicFunction) for value in values)), key=str)
        if sum(value.count(each) for value in values) > 1
    ]
    names = {each: Symbol(f"b_{index}", real=True) for index, each in enumerate(repeated, 1)}
    letters = {each: -name if _turned(each) else name for each, name in names.items()}
    rows = [
        f"{scalar_latex(value.xreplace(letters))}"
        + ("" if count == 1 else rf"\ [{scalar_latex(count)}\text{{ times}}]")
        for value, (_, count) in zip(values, classes, strict=True)
    ]
    text = r",\quad ".join(rows)
    if names:
        given = r",\quad ".join(f"{scalar_latex(name)} = {_as_written(each)}" for each, name in names.items())
        text += rf",\qquad \text{{where }} {given}"
    return text
