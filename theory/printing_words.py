"""LaTeX of terms and scalar relations in the papers' letters, for amsmath alone."""

from __future__ import annotations

from typing import Any

from sympy.printing.latex import LatexPrinter

__all__ = ["matrix_latex", "scalar_latex"]

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

    def _print_Abs(self, expr: Any, exp: Any = None) -> str:
        text = rf"|{self._print(expr.args[0])}|"
        return text if exp is None else f"{text}^{{{exp}}}"


def scalar_latex(expression: Any) -> str:
    """LaTeX of a scalar expression or relation."""
    return str(PaperPrinter().doprint(expression))


def matrix_latex(term: Any) -> str:
    """LaTeX of a matrix term."""
    return str(PaperPrinter().doprint(term))
